"""The table of a teaching: every method's numbers, and what each gains on the instruction alone.

Names of numbers: FA UA UUR KCR EA J over_hedge (UNCLE); J_within, odds_ratio_within (Mantel-
Haenszel, mean of the logarithm over seeds); policy_J and policy_UUR, what hedging by the model's
own log-probabilities would have given at its own hedge rate of each type, and
``unspoken_knowledge`` = policy_J - J_within on the same rows; ``forced`` (base-known facts of which
the most probable of the base model's own answers is right; ``forced_several``: of those to which it
gave several); ``skill`` (words against the frozen draws, 0 = blind);
``wrong_and_sure`` (committed and wrong, of all facts); ``unasked`` (facts answered with a hedge to
the plain prompt: ``p_uncertain`` where nobody asks for doubt).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp

import msgspec
import numpy as np

from sayso.metrics.cells import cluster_cells
from sayso.metrics.faithful_bins import skill
from sayso.metrics.hierarchy import (
    Draws,
    Metric,
    Spread,
    difference,
    draw,
    estimate,
    p_value,
    ratio,
    spread,
)
from sayso.metrics.pairing import holm
from sayso.metrics.rates import MISSING, UNCERTAIN, Floats, cell_rates
from sayso.metrics.roc import codes
from sayso.metrics.within import policy_by_rate, policy_j, unspoken_knowledge, within_rates
from sayso.pipeline.teaching_sides import FORMS, Answers, Frame, Side
from sayso.pipeline.teaching_sparse import UNASKED, exact, least_error
from sayso.records import Estimate
from sayso.taught import Cell, Change, Method

RATES = ("FA", "UA", "UUR", "KCR", "EA", "J", "over_hedge", "p_uncertain")
#: parts of J within type, for its interval alone
UNSHOWN = ("UUR_within", "over_hedge_within")
#: certain or uncertain in short and in long form (UNCLE, 7.1): UC is uncertain in short form only
ALIGNED = ("align_CC", "align_CU", "align_UC", "align_UU")
#: what methods are tested for, against the instruction: one family of tests (Holm)
TESTED = (
    "UUR", "KCR", "EA", "J", "J_within", "log_odds_within", "unspoken_knowledge", "forced",
    "skill", "wrong_and_sure",
)  # fmt: skip
#: the range that an interval may not leave; None: none
_RANGE: dict[str, tuple[float, float] | None] = {
    "J": (-1.0, 1.0), "J_within": (-1.0, 1.0), "policy_J": (-1.0, 1.0),
    "unspoken_knowledge": None, "skill": None, "log_odds_within": None,
}  # fmt: skip


class Measured(msgspec.Struct, frozen=True):
    """A method with the spread of each number by (form, name)."""

    method: Method
    spreads: Mapping[tuple[str, str], Spread]


def table(
    frame: Frame,
    methods: Sequence[Method],
    sides: Mapping[str, Sequence[Side]],
    *,
    against: str,
    signature: str,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[list[Cell], list[Change]]:
    """Return the cells of every method and the changes against one of them, Holm-corrected.

    ``sides`` has one side a seed. Trained methods are also compared with the one before them.
    """
    draws = draw(frame.entities, resamples, seed)
    found = [Measured(m, _spreads(frame, sides[m.name], draws)) for m in methods]
    cells = [
        _cell(frame, one, sides[one.method.name], form, name, signature)
        for one in found
        for form, name in one.spreads
        if name not in UNSHOWN
    ]
    return cells, _changes(frame, found, against, signature)


def _spreads(frame: Frame, sides: Sequence[Side], draws: Draws) -> dict[tuple[str, str], Spread]:
    found: dict[tuple[str, str], Spread] = {}
    for form in FORMS:
        metrics: dict[str, list[Metric]] = {}
        for side in sides:
            for name, metric in _metrics(frame, side, side.answers[form], form).items():
                metrics.setdefault(name, []).append(metric)
        for name, own in metrics.items():
            found[form, name] = spread(own, draws)
        least = least_error(frame, [side.answers[form].label for side in sides])
        odds = found[form, "log_odds_within"]
        found[form, "log_odds_within"] = odds._replace(least=least)
    rows = codes(frame.entity)
    for name in ALIGNED:
        own = [_share(rows, _alike(side, name)) for side in sides]
        found["both", name] = spread(own, draws)
    return found


def _alike(side: Side, name: str) -> Floats:
    """Return 1 where short and long form are certain (C) or uncertain (U) as ``name`` ends."""
    labels = [side.answers[form].label for form in FORMS]
    fits = [
        (label == UNCERTAIN) == (letter == "U")
        for label, letter in zip(labels, name[-2:], strict=True)
    ]
    both = (labels[0] >= 0) & (labels[1] >= 0)
    return np.where(both, (fits[0] & fits[1]).astype(np.float64), np.nan)


def _metrics(frame: Frame, side: Side, a: Answers, form: str) -> dict[str, Metric]:
    """Return every number of one side as a function of entity weights."""
    made: dict[str, Metric] = {}
    flat = cluster_cells(frame.known, a.label, frame.entity)
    for name in RATES:
        made[name] = _of_rates(flat, name)
    made[UNASKED] = _of_rates(cluster_cells(frame.known, a.plain, frame.entity), "p_uncertain")
    typed = cluster_cells(frame.known, a.label, frame.entity, frame.type)
    for name in ("J_within", "log_odds_within", *UNSHOWN):
        made[name] = _of_types(typed, name)
    rows = codes(frame.entity)
    score = -a.logprob
    if not np.isnan(score).all():
        made["policy_J"] = _of_rows(rows, policy_j, score, frame.known, a.label, frame.type)
        made["unspoken_knowledge"] = _of_rows(
            rows, unspoken_knowledge, score, frame.known, a.label, frame.type
        )
        made["policy_UUR"] = _policy_uur(frame, score, a.label)
    made["skill"] = _of_rows(rows, skill, a.decisive, a.agreeing, a.draws)
    made["wrong_and_sure"] = _share(rows, a.sure_wrong)
    if form == "short":
        known = np.where(frame.known == 1, side.forced, np.nan)
        made["forced"] = _share(rows, known)
        made["forced_several"] = _share(rows, np.where(frame.several, known, np.nan))
    return made


def _of_rates(cells: Floats, name: str) -> Metric:
    def made(weights: Floats | None) -> Floats | float:
        W = np.ones((1, len(cells))) if weights is None else weights
        found = np.asarray(cell_rates(W @ cells)[name], dtype=np.float64)
        return float(found[0]) if weights is None else found

    return made


def _of_types(cells: Floats, name: str) -> Metric:
    wide = cells.reshape(len(cells), -1)

    def made(weights: Floats | None) -> Floats | float:
        W = np.ones((1, len(cells))) if weights is None else weights
        found = within_rates((W @ wide).reshape(len(W), *cells.shape[1:]))[name]
        return float(found[0]) if weights is None else found

    return made


def _of_rows(unit: np.ndarray, metric: object, *arrays: object) -> Metric:
    def made(weights: Floats | None) -> Floats | float:
        if weights is None:
            value = metric(*arrays)  # type: ignore[operator]
            return float("nan") if value is None else float(value)
        found = metric(*arrays, weights=weights[:, unit])  # type: ignore[operator]
        nothing = np.full(len(weights), np.nan)
        return nothing if found is None else np.asarray(found, dtype=np.float64)

    return made


def _share(unit: np.ndarray, values: Floats) -> Metric:
    """Return the share of 1 among values that are not NaN."""
    held = ~np.isnan(values)
    count = int(unit.max()) + 1 if len(unit) else 0
    top = np.bincount(unit[held], values[held], minlength=count).astype(np.float64)
    return ratio(top, np.bincount(unit[held], minlength=count).astype(np.float64))


def _policy_uur(frame: Frame, score: Floats, label: np.ndarray) -> Metric:
    """Return the UUR of hedging by ``score`` as often as the words do, within each type.

    Facts without a score are hedged or not as the words have it, so that UUR and this count the
    same facts.
    """
    counted = (frame.known >= 0) & (label >= 0)
    words = np.where(counted, (label == UNCERTAIN).astype(np.float64), np.nan)
    scored = np.where(np.isnan(score), np.nan, words)
    unit = codes(frame.entity)
    use = counted & (frame.known == 0)

    def made(weights: Floats | None) -> Floats | float:
        W = np.ones((1, len(score))) if weights is None else weights[:, unit]
        member = policy_by_rate(score, frame.type, scored, W)[:, use]
        member = np.where(np.isnan(member), words[use], member)
        total = W[:, use].sum(axis=1)
        top = (member * W[:, use]).sum(axis=1)
        found = np.where(total > 0, top / np.where(total > 0, total, 1.0), np.nan)
        return float(found[0]) if weights is None else found

    return made


def _cell(
    frame: Frame, one: Measured, sides: Sequence[Side], form: str, name: str, signature: str
) -> Cell:
    found = one.spreads[form, name]
    forms = FORMS if form == "both" else (form,)
    labels = [[_labels(side.answers[f], name) for f in forms] for side in sides]
    known = [frame.known] if form != "both" else []
    usable = [np.all([np.asarray(x) >= 0 for x in (*known, *own)], axis=0) for own in labels]
    n = round(float(np.mean([u.sum() for u in usable])))
    made = estimate(name, found, frame.entities, n, _RANGE.get(name, (0.0, 1.0)))
    by_seed = found.by_seed
    if form != "both":
        own = {n: spread for (f, n), spread in one.spreads.items() if f == form}
        made = exact(frame, own, [one_form for (one_form,) in labels], made)
    if name == "log_odds_within":
        made, by_seed = _odds(made), tuple(None if v is None else exp(v) for v in by_seed)
    missing = max(
        int(np.any([x == MISSING for x in (*known, *own)], axis=0).sum()) for own in labels
    )
    where = f"form:{form};method:{one.method.name}"
    title = made.name
    made = msgspec.structs.replace(
        made, where=where, missing=missing, signature=f"{title}|form:{form}|{signature}"
    )
    return Cell(one.method.name, form, made, by_seed)


def _labels(answers: Answers, name: str) -> np.ndarray:
    return answers.plain if name == UNASKED else answers.label


def _odds(log: Estimate) -> Estimate:
    """Return an odds ratio in place of its logarithm."""
    value, low, high = (None if x is None else exp(x) for x in (log.value, log.low, log.high))
    return msgspec.structs.replace(log, name="odds_ratio_within", value=value, low=low, high=high)


def _changes(frame: Frame, found: Sequence[Measured], against: str, signature: str) -> list[Change]:
    by_name = {one.method.name: one for one in found}
    pairs = [(one, by_name[against]) for one in found if one.method.name != against]
    trained = [one for one in found if one.method.kind == "trained"]
    pairs += list(zip(trained[1:], trained[:-1], strict=True))
    made: list[Change] = []
    for one, other in pairs:
        for form, name in one.spreads:
            if name not in TESTED or (form, name) not in other.spreads:
                continue
            gap = difference(one.spreads[form, name], other.spreads[form, name])
            where = f"form:{form};method:{one.method.name};minus:{other.method.name}"
            told = estimate(name, gap, frame.entities, len(frame.pairs))
            told = msgspec.structs.replace(
                told, where=where, signature=f"difference of {name}|form:{form}|{signature}"
            )
            p = p_value(gap, frame.entities)
            made.append(Change(one.method.name, other.method.name, form, told, p))
    corrected = holm([one.p for one in made])
    return [msgspec.structs.replace(one, p_holm=p) for one, p in zip(made, corrected, strict=True)]


__all__ = ["RATES", "TESTED", "table"]
