"""Two sets of long texts on the same topics, subtracted: of two runs, or of two methods of one.

Texts are joined by what was asked; entities are resampled jointly on both sides. Claims are each
side's own, so shares of claims are differences of two ratios, not of matched claims.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.metrics.agreement import kappa
from sayso.metrics.arrays import divide
from sayso.metrics.calibration import conformal_filter
from sayso.metrics.factuality import (
    Average,
    cross_fit,
    curve_rows,
    equal_length,
    f1_at_k,
    judged,
    length_penalty,
    position_trend,
)
from sayso.metrics.factuality import precision as factuality_precision
from sayso.metrics.intervals import (
    bootstrap,
    bootstrap_difference,
    bootstrap_ratio,
    bootstrap_share,
    within,
)
from sayso.metrics.ranking import auroc
from sayso.protocols.protocol import Run
from sayso.protocols.self_known.rows import (
    LABELS,
    PEOPLE,
    STAGE,
    SUPPORT,
    Floats,
    Ints,
    Texts,
    checkers,
    load_texts,
)
from sayso.protocols.self_known.settings import CLAIM_SCORES, MAIN, MODES, Settings
from sayso.records import ClaimQuestion, Estimate, Slice, Verdict, signature_of, slice_of

# How many answers and claims count in a self_known run, and why the others do not.


def answered(texts: Texts) -> Iterator[Estimate]:
    """Yield how many answers there are and why some do not count."""
    asked = texts.answers - texts.failed
    yield Estimate(
        "response_rate",
        value=len(texts.kept) / asked if asked else None,
        numerator=float(len(texts.kept)),
        denominator=float(asked),
        n=asked,
        missing=texts.failed,
        problem=None if asked else "no answer came",
    )
    if texts.kept:
        bare = len(texts.kept) - len(set(texts.text.tolist()))
        yield Estimate(
            "answers_without_a_claim",
            value=bare / len(texts.kept),
            numerator=float(bare),
            denominator=float(len(texts.kept)),
            n=len(texts.kept),
        )
    lost = Counter(problem for problem in texts.problem if problem is not None)
    for problem, number in sorted(lost.items()):
        yield Estimate(
            "claims_without_label",
            slice_of(problem=problem),
            value=number / len(texts.claims),
            numerator=float(number),
            denominator=float(len(texts.claims)),
            n=len(texts.claims),
        )
    astray = int((texts.sentence < 0).sum())
    if astray:
        yield Estimate(
            "claims_without_sentence",
            value=astray / len(texts.claims),
            numerator=float(astray),
            denominator=float(len(texts.claims)),
            n=len(texts.claims),
            problem="left out of everything by position",
        )


def unread(run: Run, texts: Texts) -> Iterator[Estimate]:
    """Yield how many answers lack claims, by reason: whoever took them apart could not be read."""
    if not run.has(f"verdicts/{STAGE}-claims"):
        return
    mine, number = {g.id for g in texts.kept}, len(texts.kept)
    read = (v.problem for v in run.verdicts(f"{STAGE}-claims") if v.target in mine)
    for problem, lost in sorted(Counter(p for p in read if p is not None).items()):
        yield Estimate(
            "answers_without_claims",
            slice_of(problem=problem),
            value=lost / number,
            numerator=float(lost),
            denominator=float(number),
            n=number,
        )


# What must be read before any number of a self_known run.

#: shares from which a caution is given
UNCHECKED = 0.1
ACCEPTS = 0.95
FLIPS = 0.2
#: why claims have no label -> what can be done about it
ADVICE = {
    "unretrieved": "the knowledge source has nothing under their topics' titles",
    "unchecked": "nothing to check them against: see --knowledge",
}
#: of each way of asking: what is said where its number is out of bounds; "{}" are the numbers
BY_MODE = {
    "accept_rate": "the model accepts {} of its claims, so Self-Known and Self-Unknown only mirror "
    "that",
    "order_flips": "{} of the answers change with the order of the options; they are averaged over "
    "it",
    "not_understood": "for {} of the claims the model puts less than half of its probability on "
    "the options: it did not take this for a choice",
}


def cautions(estimates: Sequence[Estimate], draws_vary: bool | None = None) -> list[str]:
    """Return sentences about claims without a label, and a model that answers by position.

    The same of several ways of asking is one sentence.
    """
    found = []
    by_mode: dict[tuple[str, str], list[tuple[str, float]]] = defaultdict(list)
    for e in estimates:
        place = dict(e.where)
        method, why = place.get("method", ""), place.get("problem", "")
        if e.name == "claims_without_label" and (e.value or 0) >= UNCHECKED:
            reason = f"{why}: {ADVICE[why]}" if why in ADVICE else why
            found.append(
                f"{method}: {e.value:.0%} of the claims have no label ({reason}); the bounds of "
                "factuality say what they could change"
            )
        if e.name == "answers_without_claims" and (e.value or 0) >= UNCHECKED:
            found.append(
                f"{method}: of {e.value:.0%} of the answers some claims are missing ({why}); they "
                "are in no number"
            )
        if e.name == "answers_without_a_claim" and (e.value or 0) >= UNCHECKED:
            found.append(
                f"{method}: {e.value:.0%} of the texts claim nothing: refusals in words that no "
                "phrase of the filter has, or claims that could not be read. They count 0 claims "
                "and enter no factuality"
            )
        if e.name == "response_rate" and e.value is not None and e.value < 1 - UNCHECKED:
            found.append(
                f"{method}: {1 - e.value:.0%} of the texts do not answer, by the phrases of a "
                "refusal or by their labels; they are left out"
            )
        if e.name in BY_MODE and "part" not in place and e.value is not None:
            blind = not 1 - ACCEPTS < e.value < ACCEPTS
            if blind if e.name == "accept_rate" else e.value > FLIPS:
                by_mode[method, e.name].append((place.get("mode", ""), e.value))
    for (method, name), held in by_mode.items():
        modes = ", ".join(mode for mode, _ in held)
        each = [f"{value:.0%}" for _, value in held]
        shares = each[:1] if len(set(each)) == 1 else each
        found.append(f"{method} ({modes}): {BY_MODE[name].format(', '.join(shares))}")
    return found


# How factuality moves along a text: shares and counts by position, their trend, and a caveat.
#
# Tu et al., arXiv 2411.15993, section 3; PROTOCOLS 4.B. Sentence i of n lies at i/n in right-
# closed
# parts. Texts shorter than the number of parts never reach the first: ``factuality_long`` is
# the
# same curve over texts of that many sentences or more, so that the composition effect is seen.

#: column of Texts.counts -> what a mean of it is called
COUNTED = {0: "supported", 1: "unsupported", 2: "irrelevant"}


def curves(texts: Texts, settings: Settings) -> Iterator[Estimate]:
    """Yield shares and counts by part of the text, the trend inside texts, first minus last."""
    table = texts.counts()
    place = texts.places(settings.bins, settings.closed)
    cluster = texts.entity[texts.s_text]
    averages: tuple[Average, ...] = ("sentence", "generation", "micro")
    for average in averages:
        name = "factuality" if average == settings.average else f"factuality_by_{average}"
        yield from _curve(name, texts, table, place, settings, average)
    enough = texts.s_count >= settings.bins
    if not enough.all():
        at = np.where(enough, place, -1)
        yield from _curve("factuality_long", texts, table, at, settings, settings.average)
    some = table.sum(axis=1) > 0
    # a sentence of which no claim has a label says nothing of how many are unsupported
    labeled = table[:, :3].sum(axis=1) > 0
    for column, label in COUNTED.items():
        for part in range(settings.bins):
            here = labeled & (place == part)
            made = bootstrap_ratio(
                f"{label}_per_sentence",
                table[here, column],
                np.ones(int(here.sum())),
                cluster[here],
                n=settings.resamples,
                seed=settings.ci_seed,
                limits=(0.0, float("inf")),
            )
            yield _at(made, part, settings)
        share = divide(table[:, column], table[:, :3].sum(axis=1))
        for part in range(settings.bins):
            here = labeled & (place == part)
            made = bootstrap_ratio(
                f"{label}_share",
                share[here],
                np.ones(int(here.sum())),
                cluster[here],
                n=settings.resamples,
                seed=settings.ci_seed,
            )
            yield _at(made, part, settings)
    for part in range(settings.bins):
        here = place == part
        yield _at(
            Estimate("sentences", value=float(here.sum()), n=int((here & some).sum())),
            part,
            settings,
        )
    yield from _trend(texts, table, place, settings)


def _curve(
    name: str, texts: Texts, table: Floats, place: Ints, settings: Settings, average: Average
) -> Iterator[Estimate]:
    """Yield S/(S+NS) of each part of the text."""
    entity = texts.entity
    for part in range(settings.bins):
        here = place == part
        supported, unsupported = table[here, 0], table[here, 1]
        top, bottom, row = curve_rows(
            supported, supported + unsupported, texts.s_text[here], average
        )
        # rows are numbered by the texts that have a sentence here
        present = np.unique(texts.s_text[here])
        made = bootstrap_ratio(
            name,
            top,
            bottom,
            entity[present[row]] if len(row) else np.zeros(0),
            n=settings.resamples,
            seed=settings.ci_seed,
        )
        yield _at(msgspec.structs.replace(made, missing=int(table[here, 3].sum())), part, settings)


def _at(estimate: Estimate, part: int, settings: Settings) -> Estimate:
    return msgspec.structs.replace(estimate, where=part_slice(part, settings))


def part_slice(part: int, settings: Settings) -> Slice:
    """Return the slice of one part of the text, the first being 0: ``part:1/5``."""
    return slice_of(part=f"{part + 1}/{settings.bins}")


def _trend(texts: Texts, table: Floats, place: Ints, settings: Settings) -> Iterator[Estimate]:
    """Yield the slope inside texts with its p, and the last part minus the first."""
    share = divide(table[:, 0], table[:, 0] + table[:, 1])
    trend = position_trend(
        share, texts.position, texts.s_text, n=settings.resamples, seed=settings.ci_seed
    )
    size: dict[str, Any] = {"n": trend.sentences, "problem": trend.problem}
    yield Estimate("trend", value=trend.slope, low=trend.low, high=trend.high, **size)
    yield Estimate("trend_p", value=trend.p, **size)
    ends = [(place == part) & ~np.isnan(share) for part in (0, settings.bins - 1)]
    if not all(end.any() for end in ends):
        yield Estimate("last_minus_first", problem="no sentence with claims at one of the ends")
        return
    first, last = ends
    made = bootstrap_difference(
        _mean,
        (share[last],),
        (share[first],),
        clusters=texts.entity[texts.s_text[last]],
        second_clusters=texts.entity[texts.s_text[first]],
        n=settings.resamples,
        seed=settings.ci_seed,
        name="last_minus_first",
    )
    yield within(made)


def _mean(values: Floats, weights: Floats | None = None) -> Any:
    """Return the weighted mean of ``values`` (n,), weights (n,) or (B, n)."""
    w = np.ones(len(values)) if weights is None else np.asarray(weights)
    found = divide(w @ values, w.sum(axis=-1))
    return found if found.ndim else float(found)


# Does the model recognise its own claims? Self-Known, Self-Unknown, and what they say of F.
#
# Tu et al., arXiv 2411.15993, section 4; PROTOCOLS 4.B. Claims labeled irrelevant or not at all
# enter
# neither share. Equation 3 and the Rogan-Gladen inversion use SK and SU of *other* texts.

SUPPORTED, UNSUPPORTED = 0, 1
UNFITTED = "undefined: it takes several texts with supported and unsupported claims"
BLIND = "undefined: true and false claims are accepted alike, so the accept rate says nothing"
#: option probability below which a model did not take the question as one
LEAST_MASS = 0.5


class Self(NamedTuple):
    """What the model said of each claim of a method in one setting, (c,)."""

    mode: str
    answers: list[str | None]
    verdicts: list[Verdict | None]


def load_selves(run: Run, texts: Texts) -> list[Self]:
    """Return the model's judgement of its claims in each setting that was asked."""
    found = []
    for mode in MODES:
        if not run.has(f"verdicts/self-{mode}"):
            continue
        by_claim: Mapping[str, Verdict] = {v.target: v for v in run.verdicts(f"self-{mode}")}
        own = [by_claim.get(c.id) for c in texts.claims]
        found.append(Self(mode, [v.label if v else None for v in own], own))
    return found


def selves(run: Run, texts: Texts, settings: Settings) -> Iterator[Estimate]:
    """Yield SK, SU and what follows from them, by setting, and by part for the main setting."""
    every = load_selves(run, texts)
    place = np.full(len(texts.claims), -1)
    bins = texts.places(settings.bins, settings.closed)
    some = texts.sentence >= 0
    place[some] = bins[texts.sentence[some]]
    for one in every:
        where = slice_of(mode=one.mode)
        whole = np.ones(len(texts.claims), dtype=bool)
        for e in (*_shares(one, texts, whole, settings), *_predicted(one, texts, None, settings)):
            yield msgspec.structs.replace(e, where=where)
        for e in _of_orders(one):
            yield msgspec.structs.replace(e, where=where)
        for part in range(settings.bins if one.mode == MAIN else 0):
            here = place == part
            made = [*_shares(one, texts, here, settings), *_predicted(one, texts, here, settings)]
            for e in made:
                yield msgspec.structs.replace(e, where=where + part_slice(part, settings))
    yield from _flips(every, texts)


def _shares(
    one: Self, texts: Texts, here: NDArray[np.bool_], settings: Settings
) -> Iterator[Estimate]:
    """Yield SK, SU and the accept rate over the claims ``here``."""
    accepted, rejected = judged(one.answers, settings.noa)
    read = ~np.isnan(accepted)
    rated = here & (texts.label >= SUPPORTED) & (texts.label <= UNSUPPORTED)
    for name, hit, of in (
        ("SK", accepted, rated & (texts.label == SUPPORTED)),
        ("SU", rejected, rated & (texts.label == UNSUPPORTED)),
        ("accept_rate", accepted, rated),
    ):
        made = bootstrap_share(
            name,
            np.nan_to_num(hit),
            of & read,
            texts.cluster,
            n=settings.resamples,
            seed=settings.ci_seed,
        )
        missing = int((of & ~read).sum())
        top, bottom = (made.numerator or 0.0), (made.denominator or 0.0)
        whole = bottom + missing
        yield msgspec.structs.replace(
            made,
            missing=missing,
            bound_low=top / whole if whole else None,
            bound_high=(top + missing) / whole if whole else None,
        )


def _predicted(
    one: Self, texts: Texts, here: NDArray[np.bool_] | None, settings: Settings
) -> Iterator[Estimate]:
    """Yield factuality as labels say it, and as the two formulas predict it from other texts."""
    accepted, rejected = judged(one.answers, settings.noa)
    rated = (texts.label == SUPPORTED) | (texts.label == UNSUPPORTED)
    chosen = None if here is None else here[rated]
    fitted = cross_fit(
        accepted[rated],
        rejected[rated],
        texts.label[rated] == SUPPORTED,
        texts.cluster[rated],
        chosen,
        settings.folds,
        settings.ci_seed,
    )
    for name, value in (
        ("labeled_factuality", fitted.factuality),
        ("equation3", fitted.equation3),
        ("rogan_gladen", fitted.rogan_gladen),
        ("overconfidence", fitted.gap),
    ):
        blind = BLIND if name == "rogan_gladen" and fitted.equation3 is not None else UNFITTED
        problem = None if value is not None else blind
        yield Estimate(name, value=value, n=fitted.claims, problem=problem)


def _of_orders(one: Self) -> Iterator[Estimate]:
    """Yield how often the order of the options changed the answer, and what was not understood."""
    several, changed, low, weighed = 0, 0, 0, 0
    for verdict in one.verdicts:
        if verdict is None or not verdict.raw:
            continue
        names, _, mass = verdict.raw.partition("|")
        said = [name for name in names.split(",") if name != "?"]
        if len(said) > 1:
            several += 1
            changed += len(set(said)) > 1
        if mass:
            weighed += 1
            low += float(mass) < LEAST_MASS
    yield _selves_share("order_flips", changed, several)
    if weighed:
        yield _selves_share("not_understood", low, weighed)


def _selves_share(name: str, top: int, bottom: int) -> Estimate:
    value = top / bottom if bottom else None
    problem = None if bottom else "undefined: nothing to count"
    return Estimate(
        name, value=value, numerator=float(top), denominator=float(bottom), n=bottom,
        problem=problem,
    )  # fmt: skip


def _flips(every: list[Self], texts: Texts) -> Iterator[Estimate]:
    """Yield how many claims, by class, are accepted until "none of the above" is offered."""
    by_mode = {one.mode: one.answers for one in every}
    if "qa" not in by_mode or MAIN not in by_mode:
        return
    for label, name in ((SUPPORTED, "supported"), (UNSUPPORTED, "unsupported")):
        rows = np.flatnonzero(texts.label == label).tolist()
        before = [by_mode["qa"][row] for row in rows]
        after = [by_mode[MAIN][row] for row in rows]
        both = sum(a is not None and b is not None for a, b in zip(before, after, strict=True))
        gone = sum(a == "yes" and b in ("no", "none") for a, b in zip(before, after, strict=True))
        made = _selves_share("none_flips", gone, both)
        yield msgspec.structs.replace(
            made, where=slice_of(**{"class": name}), missing=len(rows) - both
        )


#: differences without a smallest and largest value
OPEN_ENDED = ("claims_per_answer", "trend")


class Rows(NamedTuple):
    """The texts of one side that both have; ``name`` (t,) their entity, ``kept`` (t,)."""

    texts: Texts
    kept: NDArray[np.bool_]
    name: NDArray[np.str_]
    selves: list[Self]


def common(one: Texts, two: Texts, selves: tuple[list[Self], list[Self]]) -> tuple[Rows, Rows]:
    """Return the texts of two sides on the prompts that both answered."""
    both = {g.question for g in one.kept} & {g.question for g in two.kept}
    rows = []
    for texts, own in zip((one, two), selves, strict=True):
        kept = np.array([g.question in both for g in texts.kept], dtype=bool)
        rows.append(Rows(texts, kept, np.array(texts.names, dtype=np.str_), own))
    return rows[0], rows[1]


def differences(
    pair: tuple[Rows, Rows], settings: Settings, resamples: int, seed: int
) -> Iterator[Estimate]:
    """Yield second minus first: factuality, length, the curve, its trend, SK, SU, accept rate."""

    def gap(
        name: str, columns: Callable[[Rows], Columns], metric: Any, where: Slice = ()
    ) -> Estimate:
        sides = [columns(rows) for rows in pair]
        if not all(len(side.name) for side in sides):
            return Estimate(name, where, problem="nothing to count on one side")
        made = bootstrap_difference(
            metric,
            sides[1].values,
            sides[0].values,
            clusters=sides[1].name,
            second_clusters=sides[0].name,
            n=resamples,
            seed=seed,
            name=name,
        )
        made = made if name in OPEN_ENDED else within(made)
        return msgspec.structs.replace(made, where=where)

    rated = [rows.kept & (rows.texts.per_answer()[:, :2].sum(axis=1) > 0) for rows in pair]
    both = set.intersection(*(_asked(rows, of) for rows, of in zip(pair, rated, strict=True)))
    yield gap("factscore", lambda r: _scores(r, both), _ratio)
    yield gap("factuality_micro", _claims, _ratio)
    yield gap("claims_per_answer", _sizes, _ratio)
    for part in range(settings.bins):
        where = part_slice(part, settings)
        yield gap("factuality", lambda r, p=part: _part(r, settings, p), _ratio, where)  # type: ignore[misc]
    yield gap("trend", _slopes, _ratio)
    modes = [{one.mode for one in rows.selves} for rows in pair]
    for mode in (m for m in dict.fromkeys(s.mode for s in pair[0].selves) if m in modes[1]):
        for name, code in (("SK", SUPPORTED), ("SU", UNSUPPORTED), ("accept_rate", None)):
            yield gap(
                name,
                lambda r, m=mode, n=name, c=code: _known(r, settings, m, n, c),  # type: ignore[misc]
                _ratio,
                slice_of(mode=mode),
            )


class Columns(NamedTuple):
    """Numerators and denominators (n,) of a ratio of sums, and the entity of each row."""

    values: tuple[Floats, Floats]
    name: NDArray[np.str_]


def _ratio(top: Floats, bottom: Floats, weights: Floats | None = None) -> Any:
    """Return sum(top) / sum(bottom), weights (n,) or (B, n)."""
    w = np.ones(len(top)) if weights is None else np.asarray(weights)
    found = divide(w @ top, w @ bottom)
    return found if np.ndim(found) else float(found)


def _asked(rows: Rows, of: NDArray[np.bool_]) -> set[str]:
    return {g.question for g, some in zip(rows.texts.kept, of, strict=True) if some}


def _scores(rows: Rows, both: set[str]) -> Columns:
    """Return the precision of the texts on prompts whose claims are rated on both sides."""
    s, ns = rows.texts.per_answer().T[:2]
    some = np.array([g.question in both for g in rows.texts.kept], dtype=bool)
    return Columns((divide(s[some], (s + ns)[some]), np.ones(int(some.sum()))), rows.name[some])


def _claims(rows: Rows) -> Columns:
    s, ns = rows.texts.per_answer()[rows.kept].T[:2]
    return Columns((s, s + ns), rows.name[rows.kept])


def _sizes(rows: Rows) -> Columns:
    size = rows.texts.per_answer()[rows.kept].sum(axis=1)
    return Columns((size, np.ones(len(size))), rows.name[rows.kept])


def _sentences(rows: Rows) -> tuple[Floats, NDArray[np.bool_]]:
    """Return S/(S+NS) of every sentence (m,), and which of them count."""
    s, ns = rows.texts.counts().T[:2]
    return divide(s, s + ns), rows.kept[rows.texts.s_text] & (s + ns > 0)


def _part(rows: Rows, settings: Settings, part: int) -> Columns:
    """Return the sentences of one part of the text, by the run's own average."""
    share, some = _sentences(rows)
    here = some & (rows.texts.places(settings.bins, settings.closed) == part)
    names = rows.name[rows.texts.s_text]
    if settings.average == "sentence":
        return Columns((share[here], np.ones(int(here.sum()))), names[here])
    s, ns = rows.texts.counts().T[:2]
    if settings.average == "micro":
        return Columns((s[here], (s + ns)[here]), names[here])
    present, unit = np.unique(rows.texts.s_text[here], return_inverse=True)
    means = divide(np.bincount(unit, weights=share[here]), np.bincount(unit))
    return Columns((means, np.ones(len(means))), rows.name[present])


def _slopes(rows: Rows) -> Columns:
    """Return each text's sums, whose ratio is the slope inside texts (metrics.position)."""
    share, some = _sentences(rows)
    text = rows.texts.s_text[some]
    x, y = rows.texts.position[some], share[some]
    count = len(rows.texts.kept)
    size = np.maximum(np.bincount(text, minlength=count), 1)
    x = x - (np.bincount(text, weights=x, minlength=count) / size)[text]
    y = y - (np.bincount(text, weights=y, minlength=count) / size)[text]
    several = np.bincount(text, minlength=count) > 1
    across = np.bincount(text, weights=x * y, minlength=count)[several]
    spread = np.bincount(text, weights=x * x, minlength=count)[several]
    return Columns((across.astype(np.float64), spread.astype(np.float64)), rows.name[several])


def _known(rows: Rows, settings: Settings, mode: str, name: str, code: int | None) -> Columns:
    texts = rows.texts
    (one,) = [s for s in rows.selves if s.mode == mode]
    accepted, rejected = judged(one.answers, settings.noa)
    hit = rejected if name == "SU" else accepted
    rated = (texts.label == SUPPORTED) | (texts.label == UNSUPPORTED)
    of = rated if code is None else texts.label == code
    of = of & ~np.isnan(hit) & rows.kept[texts.text]
    return Columns((hit[of], np.ones(int(of.sum()))), rows.name[texts.text][of])


# What passages before the prompt, or a revision, change: the same topics, plain subtracted.

#: methods that are texts of the same model on the same topics, made in another way
AGAINST_PLAIN = ("retrieval", "revised")
SUFFIX = "_minus_plain"


def gains(run: Run, every: Sequence[Texts], settings: Settings) -> Iterator[tuple[Texts, Estimate]]:
    """Yield (texts, difference) of each number of such a method minus plain's.

    Topics that both answered, resampled together: ``factscore_minus_plain``, and so on.
    """
    named = {texts.method: texts for texts in every}
    plain = named.get("plain")
    if plain is None:
        return
    for method in AGAINST_PLAIN:
        texts = named.get(method)
        if texts is None:
            continue
        selves = load_selves(run, plain), load_selves(run, texts)
        pair = common(plain, texts, selves)
        for e in differences(pair, settings, settings.resamples, settings.ci_seed):
            yield texts, msgspec.structs.replace(e, name=f"{e.name}{SUFFIX}")


# What dropping rejected claims would do to a text, and which of the wanted facts it tells.
#
# The paper proposes to use the model's own judgement and stops there (arXiv 2411.15993, section
# 6).
# Dropping claims raises precision for a price in facts told, so both are given.


def aspects_of(run: Run, texts: Texts) -> list[tuple[int, Verdict]]:
    """Return the verdict on every wanted fact with the row of its answer."""
    if not run.has(f"verdicts/{STAGE}-aspects"):
        return []
    row = {g.id: n for n, g in enumerate(texts.kept)}
    return [(row[v.target], v) for v in run.verdicts(f"{STAGE}-aspects") if v.target in row]


def told_aspects(run: Run, texts: Texts, settings: Settings) -> Iterator[Estimate]:
    """Yield recall of the wanted facts, and how many are hedged or not told at all."""
    found = aspects_of(run, texts)
    if not found:
        return
    rows = np.array([row for row, _ in found])
    values = [v.value for _, v in found]
    read = np.array([value is not None for value in values])
    hits = {
        "recall": np.array([v == "correct" for v in values]),
        "aspects_hedged": np.array([v == "uncertain" for v in values]),
        "aspects_omitted": np.array([v == "omitted" for v in values]),
    }
    if settings.ask == "open":  # nobody named them, so what is told comes by itself
        hits["aspects_unasked"] = np.array([v not in (None, "omitted") for v in values])
    for name, hit in hits.items():
        yield _share(name, hit, read, texts.entity[rows], settings)
    about = {q.id: q.type for q in run.questions}
    kinds = np.array([about[v.asked] for _, v in found])
    for kind in dict.fromkeys(kinds.tolist()) if settings.ask == "open" else ():
        here = kinds == kind
        for name in ("aspects_unasked", "aspects_hedged"):
            made = _share(name, hits[name][here], read[here], texts.entity[rows[here]], settings)
            yield msgspec.structs.replace(made, where=slice_of(type=kind))


def _share(
    name: str,
    hit: NDArray[np.bool_],
    of: NDArray[np.bool_],
    clusters: NDArray[np.int64],
    settings: Settings,
) -> Estimate:
    made = bootstrap_share(name, hit, of, clusters, n=settings.resamples, seed=settings.ci_seed)
    return msgspec.structs.replace(made, missing=int((~of).sum()))


def remedied(run: Run, texts: Texts, settings: Settings) -> Iterator[Estimate]:
    """Yield factuality, claims left and recall if every claim that the model rejects is dropped."""
    aspects = aspects_of(run, texts)
    for one in load_selves(run, texts):
        _, rejected = judged(one.answers, settings.noa)
        kept = rejected != 1  # what could not be read is not rejected
        rated = (texts.label == SUPPORTED) | (texts.label == UNSUPPORTED)
        where = slice_of(mode=one.mode)
        unread = int((rated & np.isnan(rejected)).sum())
        share = _share("dropped_claims_kept", kept, rated, texts.cluster, settings)
        yield msgspec.structs.replace(share, where=where, missing=unread)
        score = _factscore(texts, rated & kept, settings)
        score = msgspec.structs.replace(score, name="dropped_factscore", missing=unread)
        yield msgspec.structs.replace(score, where=where)
        if aspects:
            rows = np.array([row for row, _ in aspects])
            read = np.array([v.value is not None for _, v in aspects])
            left = np.array([_still_told(texts, kept, row, v) for row, v in aspects])
            yield msgspec.structs.replace(
                _share("dropped_recall", left, read, texts.entity[rows], settings), where=where
            )


def _factscore(texts: Texts, use: NDArray[np.bool_], settings: Settings) -> Estimate:
    count = len(texts.kept)
    s, ns = (
        np.bincount(texts.text[use & (texts.label == code)], minlength=count).astype(np.float64)
        for code in (SUPPORTED, UNSUPPORTED)
    )
    shares = [factuality_precision(a, b) for a, b in zip(s, ns, strict=True)]
    some = np.array([share is not None for share in shares], dtype=bool)
    value: Floats = np.array([share for share in shares if share is not None], dtype=np.float64)
    return bootstrap_ratio(
        "factscore",
        value,
        np.ones(len(value)),
        texts.entity[some],
        n=settings.resamples,
        seed=settings.ci_seed,
    )


def _still_told(texts: Texts, kept: NDArray[np.bool_], row: int, verdict: Verdict) -> bool:
    """Whether a fact told rightly stands in a claim that is kept."""
    if verdict.value != "correct" or verdict.start is None or verdict.end is None:
        return False
    here = np.flatnonzero((texts.text == row) & kept)
    return any(
        texts.claims[n].start < verdict.end and texts.claims[n].end > verdict.start
        for n in here.tolist()
    )


# Which score of a claim finds the unsupported ones, and what filtering by it would leave.


def uncertainty(run: Run, texts: Texts, settings: Settings) -> Iterator[Estimate]:
    """Yield AUROC per claim of every score, and the share of claims that filtering keeps."""
    if not run.has("scores/claims"):
        return
    values: dict[str, dict[str, float]] = defaultdict(dict)
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    mine = {c.id for c in texts.claims}
    for s in run.scores("claims"):
        if s.target in mine and s.value is not None:
            values[s.method][s.target] = s.value
        elif s.target in mine:
            reasons[s.method][s.problem or "no value"] += 1
    rated = (texts.label == SUPPORTED) | (texts.label == UNSUPPORTED)
    for name in CLAIM_SCORES:
        has = np.array([c.id in values[name] for c in texts.claims], dtype=bool)
        use = rated & has
        u = np.array([values[name].get(c.id, np.nan) for c in texts.claims])[use]
        wrong = texts.label[use] == UNSUPPORTED
        lost = int((rated & ~has).sum())
        where = slice_of(score=name)
        if not len(u):
            why = reasons[name].most_common(1)[0][0] if reasons[name] else "no claim has a label"
            yield Estimate("auroc", where, missing=lost, problem=why)
            continue
        made = bootstrap(
            auroc,
            u,
            wrong.astype(np.float64),
            clusters=texts.cluster[use],
            n=settings.resamples,
            seed=settings.ci_seed,
            name="auroc",
        )
        yield msgspec.structs.replace(made, where=where, missing=lost)
        kept = conformal_filter(
            u, wrong, texts.text[use], settings.alpha, settings.folds, settings.ci_seed
        )
        for label, value in (
            ("kept_claims", kept.kept),
            ("kept_supported", kept.kept_right),
            ("texts_right", kept.texts_right),
            ("texts_right_unfiltered", kept.before),
        ):
            problem = None if value is not None else "undefined: it takes two texts"
            yield Estimate(label, where, value=value, n=kept.texts, problem=problem)


def wording(run: Run, texts: Texts, settings: Settings) -> Iterator[Estimate]:
    """Yield the mean decisiveness of the claims in each part of the text."""
    if not run.has(f"verdicts/{STAGE}-decisive"):
        return
    sure = {v.target: v.number for v in run.verdicts(f"{STAGE}-decisive")}
    score = np.array([_number(sure.get(c.id)) for c in texts.claims], dtype=np.float64)
    place = texts.places(settings.bins, settings.closed)
    for part in range(settings.bins):
        here = (texts.sentence >= 0) & ~np.isnan(score)
        here[here] = place[texts.sentence[here]] == part
        made = bootstrap_ratio(
            "decisiveness",
            score[here],
            np.ones(int(here.sum())),
            texts.cluster[here],
            n=settings.resamples,
            seed=settings.ci_seed,
        )
        yield _at(made, part, settings)


def _number(value: float | None) -> float:
    return np.nan if value is None else value


# A checker of claims against people, where both labeled the same claims.
#
# Agreement alone hides a checker that is too strict at the end of a text, or with long texts,
# and so
# makes the curve it is used for. Hence also its factuality minus people's, by part of the text,
# by
# how many claims an answer has, and by how factual people found it.

THIRDS = ("low", "middle", "high")


def verifier(run: Run, texts: Texts, settings: Settings) -> Iterator[Estimate]:
    """Yield agreement, kappa, and the checker's bias, over claims that both labeled S or NS."""
    if not (run.has(f"verdicts/{PEOPLE}") and run.has(f"verdicts/{SUPPORT}")):
        return
    people = {v.target: v.label for v in run.verdicts(PEOPLE)}
    checked = {v.target: v for v in run.verdicts(SUPPORT)}
    ours = [checked.get(c.id) for c in texts.claims]
    said = np.array([_code(v.label if v else None) for v in ours], dtype=np.float64)
    true = np.array([_code(people.get(c.id)) for c in texts.claims], dtype=np.float64)
    both = ~np.isnan(said) & ~np.isnan(true)
    given = {"n": settings.resamples, "seed": settings.ci_seed}
    lost = int((~np.isnan(true) & np.isnan(said)).sum())
    made = bootstrap_share("verifier_agreement", said == true, both, texts.cluster, **given)
    yield msgspec.structs.replace(made, missing=lost)
    if both.any():
        yield bootstrap(
            kappa,
            said[both].astype(int),
            true[both].astype(int),
            clusters=texts.cluster[both],
            limits=(-1.0, 1.0),
            name="verifier_kappa",
            **given,
        )
    for name, hit, of in (
        ("verifier_precision", true == 1, both & (said == 1)),
        ("verifier_recall", said == 1, both & (true == 1)),
        ("verifier_false_support", said == 1, both & (true == 0)),
    ):
        yield bootstrap_share(name, hit, of, texts.cluster, **given)
    for where, here in _slices(texts, true, both, settings):
        rows = both & here
        shift = bootstrap_ratio(
            "verifier_bias",
            (said - true)[rows],
            np.ones(int(rows.sum())),
            texts.cluster[rows],
            limits=None,
            **given,
        )
        yield msgspec.structs.replace(within(shift), where=where)


def _code(label: str | None) -> float:
    return {"S": 1.0, "NS": 0.0}.get(label or "", np.nan)


def _slices(
    texts: Texts, true: Floats, both: NDArray[np.bool_], settings: Settings
) -> Iterator[tuple[Slice, NDArray[np.bool_]]]:
    """Yield all claims, each part of the text, thirds of claim count and of people's factuality."""
    yield (), np.ones(len(true), dtype=bool)
    place = texts.places(settings.bins, settings.closed)
    at = np.where(texts.sentence >= 0, place[texts.sentence] if len(place) else -1, -1)
    for part in range(settings.bins):
        yield part_slice(part, settings), at == part
    size = np.bincount(texts.text[both], minlength=len(texts.kept)).astype(np.float64)
    right = np.bincount(texts.text[both], weights=true[both], minlength=len(texts.kept))
    for name, value in (("claims", size), ("factuality", divide(right, size))):
        present = np.unique(texts.text[both])
        if len(present) < len(THIRDS):
            continue
        rank = np.full(len(texts.kept), -1)
        order = present[np.argsort(value[present], kind="stable")]
        rank[order] = np.arange(len(order)) * len(THIRDS) // len(order)
        for third, label in enumerate(THIRDS):
            yield slice_of(**{name: label}), rank[texts.text] == third


# Every number of a self_known run: pure, from what is stored (PROTOCOLS 4.B, VALIDITY 5).

Given = dict[str, Any]
#: a domain with fewer answers than this gets no number of its own
LEAST_ANSWERS = 5
#: who says of an answer whether it answers, where people took it apart
PEOPLE_SAID = "people"


def estimates(run: Run, settings: Settings) -> list[Estimate]:
    """Return every estimate of a run, signed."""
    found: list[Estimate] = []
    every = load_texts(run)
    wanted, readers = settings.k or wanted_facts(every), readers_of(run)
    for texts in every:
        made = [
            *answered(texts),
            *unread(run, texts),
            *precision(texts, settings, wanted),
            *told_aspects(run, texts, settings),
            *curves(texts, settings),
            *wording(run, texts, settings),
            *selves(run, texts, settings),
            *remedied(run, texts, settings),
            *uncertainty(run, texts, settings),
            *verifier(run, texts, settings),
        ]
        found += [signed(run, settings, e, texts.method, readers) for e in made]
    for texts, e in (*same_length(every, settings), *gains(run, every, settings)):
        found.append(signed(run, settings, e, texts.method, readers))
    return found


def wanted_facts(every: Sequence[Texts]) -> int:
    """Return K of F1@K: the median of the supported claims over the answers of *all* methods.

    One K for all, since a method that says less would else be asked for less.
    """
    sizes = [s for texts in every for s, ns in texts.per_answer()[:, :2] if s + ns > 0]
    return max(1, int(np.median(sizes))) if sizes else 1


def readers_of(run: Run) -> dict[str, str]:
    """Return who labeled the claims, took texts apart and made questions, as signatures have it."""
    read = run.verdicts(f"{STAGE}-claims") if run.has(f"verdicts/{STAGE}-claims") else []
    texts = {v.by for v in read}
    told = run.verdicts(STAGE) if run.has(f"verdicts/{STAGE}") else []
    texts |= {v.by for v in told if v.by == PEOPLE_SAID}
    asked = f"asked/{STAGE}"
    made = {row.by for row in run.table(asked, ClaimQuestion)} if run.has(asked) else set()
    return {
        "support": checkers(run),
        "claims": "+".join(sorted(texts)) or "nobody",
        "questions": "+".join(sorted(made)) or "nobody",
    }


def signed(
    run: Run,
    settings: Settings,
    estimate: Estimate,
    method: str,
    readers: Mapping[str, str] | None = None,
) -> Estimate:
    """Return an estimate of a method with every setting that made it."""
    s = settings
    readers = readers_of(run) if readers is None else readers
    signature = run.signature(
        method=method,
        **readers,
        asked_by=f"{s.claims}/{s.support}/{s.nli if s.support == 'nli' else '-'}",
        knowledge=f"{s.knowledge}-top{s.passages}",
        answer=f"{s.ask}-T{s.answer.temperature:g}/{s.answer.long_tokens}",
        position=f"{s.bins}-{s.closed}-{s.average}",
        self_asked=f"{s.modes}/{s.orders}/{s.questions}/{'open' if s.open_book else 'closed'}",
        noa=s.noa,
        gamma=f"{s.gamma:g}",
        k=str(s.k),
        folds=str(s.folds),
        alpha=f"{s.alpha:g}",
        remedy=s.remedy,
        draws=f"{s.draws.k}@T{s.draws.temperature:g}",
        retrieval=str(s.retrieval),
        ci=f"entity-{s.resamples}-s{s.ci_seed}",
        texts=(s.prompt_folder and "own") or "shipped",
    )
    return msgspec.structs.replace(
        estimate,
        where=slice_of(method=method) + estimate.where,
        signature=signature_of(estimate.name, signature),
    )


def precision(texts: Texts, settings: Settings, k: int) -> Iterator[Estimate]:
    """Yield FActScore, its parts, and what must stand beside it, over answers; ``k`` of F1@K."""
    table = texts.per_answer()
    s, ns, ir, lost = table.T
    rated = s + ns
    some = rated > 0
    share = np.divide(s, rated, out=np.zeros_like(s), where=some)
    penalty = np.array([length_penalty(int(n), settings.gamma) or 0.0 for n in rated])
    given: Given = {"clusters": texts.entity, "n": settings.resamples, "seed": settings.ci_seed}
    counts: Given = {**given, "limits": (0.0, np.inf)}
    score = bootstrap_ratio("factscore", share[some], some[some], **_of(given, some))
    yield msgspec.structs.replace(
        score,
        missing=int(lost.sum()),
        bound_low=_bound(s, rated + lost),
        bound_high=_bound(s + lost, rated + lost),
    )
    paid = (share * penalty)[some]
    yield bootstrap_ratio("factscore_penalized", paid, some[some], **_of(given, some))
    yield bootstrap_ratio("factuality_micro", s, rated, **given)
    f1 = np.array([f1_at_k(a, b, k) or 0.0 for a, b in zip(s, ns, strict=True)])
    made = bootstrap_ratio("f1_at_k", f1[some], some[some], **_of(given, some))
    yield msgspec.structs.replace(made, where=slice_of(k=str(k)))
    yield bootstrap_ratio("irrelevant_share", ir, rated + ir, **given)
    ones = np.ones(len(table))
    yield bootstrap_ratio("claims_per_answer", table.sum(axis=1), ones, **counts)
    per_text = np.bincount(texts.s_text, minlength=len(ones)).astype(np.float64)
    yield bootstrap_ratio("sentences_per_answer", per_text, ones, **counts)
    yield bootstrap_ratio("claims_per_sentence", table.sum(axis=1), per_text, **counts)
    for domain in dict.fromkeys(texts.domain.tolist()):
        own = some & (texts.domain == domain)
        if domain and own.sum() >= LEAST_ANSWERS and not own[some].all():
            made = bootstrap_ratio("factscore", share[own], some[own], **_of(given, own))
            yield msgspec.structs.replace(made, where=slice_of(domain=domain))
            made = bootstrap_ratio("factuality_micro", s[own], rated[own], **_of(given, own))
            yield msgspec.structs.replace(made, where=slice_of(domain=domain))


def _of(given: Given, rows: NDArray[np.bool_]) -> Given:
    return {**given, "clusters": np.asarray(given["clusters"])[rows]}


def _bound(top: Floats, bottom: Floats) -> float | None:
    """Return the mean over answers of a share with every unlabeled claim put on one side."""
    some = bottom > 0
    return float((top[some] / bottom[some]).mean()) if some.any() else None


def same_length(every: list[Texts], settings: Settings) -> Iterator[tuple[Texts, Estimate]]:
    """Yield each method's precision over the first rated claims of its answers, as many for all.

    The number is the median of the shortest method, so that a method gains nothing by brevity.
    """
    ordered = {texts.method: _labels(texts) for texts in every}
    lengths = [
        float(np.median(sizes))
        for labels in ordered.values()
        if (sizes := [sum(x in ("S", "NS") for x in one) for one in labels if one])
    ]
    first = int(min(lengths)) if lengths else 0
    for texts in every if first else ():
        s, _ = equal_length(ordered[texts.method], first)
        long = np.array(
            [sum(x in ("S", "NS") for x in one) >= first for one in ordered[texts.method]]
        )
        made = bootstrap_share(
            "precision_at_length",
            np.array(s) / first,
            np.ones(len(s), dtype=bool),
            texts.entity[long],
            n=settings.resamples,
            seed=settings.ci_seed,
        )
        yield texts, msgspec.structs.replace(made, where=slice_of(first=str(first)))


def _labels(texts: Texts) -> list[list[str]]:
    """Return the labels of each answer's claims in order of the text."""
    found: list[list[str]] = [[] for _ in texts.kept]
    number = np.where(texts.sentence >= 0, texts.sentence, len(texts.s_text))
    for row in np.lexsort((np.arange(len(number)), number)).tolist():
        code = int(texts.label[row])
        found[int(texts.text[row])].append(LABELS[code] if code >= 0 else "")
    return found
