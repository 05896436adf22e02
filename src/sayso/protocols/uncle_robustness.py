"""How far UNCLE's numbers hang on one greedy draw, and on one wording of the prompt.

One greedy answer hedges or not, however close the call; the *hedge propensity* of an aspect is the
share of m instructed draws that hedge. Beside each rate stands its mean over several wordings, and
how far these lie apart (VALIDITY 5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.agreement import kappa_of_table
from sayso.metrics.intervals import bootstrap, difference_interval, is_sparse
from sayso.metrics.rates import MISSING, UNCERTAIN, cell_rates, count_cells, divide, or_none
from sayso.metrics.shares import bootstrap_share
from sayso.protocols.aspects import KNOWN, UNKNOWN, pairs_of, view_of
from sayso.protocols.draws import ALIKE
from sayso.protocols.uncle import PROPENSITY_SAMPLE
from sayso.protocols.uncle_context import LEFT_OUT, Context, Ints, label_codes
from sayso.records import Estimate, Generation

Floats = NDArray[np.float64]
#: rates that are repeated for every wording
REWORDED = ("UUR", "over_hedge", "KCR", "J")


def robustness(context: Context) -> Iterator[Estimate]:
    """Yield the numbers of both checks, form by form; nothing for a check that is off."""
    for form in ("short", "long"):
        found: list[Estimate] = []
        if context.settings.propensity:
            found += _propensity(context, form)
        if context.settings.wordings > 1:
            found += _wordings(context, form)
        yield from (context.signed(estimate, f"form:{form}", form) for estimate in found)


def _labels(
    context: Context, stage: str, form: str, kind: Callable[[Generation], str], kinds: list[str]
) -> Ints:
    """Return the label codes (A, kinds) of a stage that answers each question once per kind."""
    pairs, verdicts = pairs_of(context.run), context.run.verdicts(stage)
    answers: dict[str, list[Generation]] = {name: [] for name in kinds}
    for generation in context.run.generations(stage):
        answers[kind(generation)].append(generation)
    views = [view_of(pairs, answers[name], verdicts, form) for name in kinds]
    return np.stack([label_codes(view, context.settings) for view in views], axis=1)


def _propensity(context: Context, form: str) -> Iterator[Estimate]:
    """Yield the mean share of hedging draws of known and unknown aspects, and test-retest.

    An aspect's share is of its readable draws; ``missing`` counts the unread ones, and all draws
    of aspects whose probe could not be read. The numerator is the sum of the shares.
    """
    s, entity, known = context.settings, context.aspects.entity, context.known["any"]
    samples = range(PROPENSITY_SAMPLE, PROPENSITY_SAMPLE + s.propensity)
    draws = _labels(
        context, f"propensity-{form}", form, lambda g: str(g.request.sample), [*map(str, samples)]
    )
    readable, unread = draws >= 0, draws == MISSING
    share = divide((draws == UNCERTAIN).sum(axis=1), readable.sum(axis=1))
    adrift = int((draws[known == MISSING] != LEFT_OUT).sum())
    parts = []
    for name, state in (("known", KNOWN), ("unknown", UNKNOWN)):
        rows = (known == state) & ~np.isnan(share)
        made = bootstrap_share(f"propensity_{name}", share, rows, entity, s.resamples, s.ci_seed)
        missing = int(unread[known == state].sum()) + adrift
        parts.append(msgspec.structs.replace(made, missing=missing))
    yield from parts
    missing = parts[0].missing + parts[1].missing - adrift
    yield msgspec.structs.replace(_difference(context, share, parts), missing=missing)
    yield msgspec.structs.replace(_retest(context, draws), missing=int(unread.sum()))


def _difference(context: Context, share: Floats, parts: list[Estimate]) -> Estimate:
    """Return mean propensity of unknown minus of known aspects: J without the rounding to 0 or 1.

    Its interval is combined from those of its parts where one is sparse, as J's is.
    """
    s, known = context.settings, context.known["any"]
    name, values = "propensity_difference", [part.value for part in parts]
    if values[0] is None or values[1] is None:
        return Estimate(name, problem="it takes both known and unknown aspects with draws read")
    rows = (known >= 0) & ~np.isnan(share)
    made = bootstrap(
        _contrast,
        share[rows],
        known[rows],
        clusters=context.aspects.entity[rows],
        n=s.resamples,
        seed=s.ci_seed,
        limits=(-1.0, 1.0),
        name=name,
    )
    if any(is_sparse(part.numerator or 0.0, part.denominator or 0.0) for part in parts):
        ends = (parts[1].low, parts[1].high), (parts[0].low, parts[0].high)
        low, high = difference_interval((values[1], values[0]), ends, 0.0)
        note = "sparse: interval combined from the exact intervals of its two parts"
        made = msgspec.structs.replace(made, low=low, high=high, problem=note)
    return made


def _contrast(
    share: ArrayLike, known: ArrayLike, weights: ArrayLike | None = None
) -> float | Floats | None:
    """Return the mean share where ``known`` is 0 minus that where it is 1; (B,) for weights."""
    values, state = np.asarray(share, dtype=np.float64), np.asarray(known)
    W = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=np.float64)
    means = [
        divide(W @ np.where(state == code, values, 0.0), W @ (state == code).astype(np.float64))
        for code in (UNKNOWN, KNOWN)
    ]
    found = means[0] - means[1]
    return or_none(found) if found.ndim == 0 else found


def _retest(context: Context, draws: Ints) -> Estimate:
    """Return Cohen's kappa of hedging or not between two draws of one aspect, all pairs pooled.

    1: every draw of an aspect decides alike; 0: draws of one aspect agree no more than draws of
    any two. ``n`` is the number of aspects with two readable draws.
    """
    s, entity = context.settings, context.aspects.entity
    name, hedged = "propensity_retest", (draws == UNCERTAIN).astype(np.int64)
    table = np.zeros((int(entity.max()) + 1 if len(entity) else 0, 4))
    for i, j in combinations(range(draws.shape[1]), 2):
        both = (draws[:, i] >= 0) & (draws[:, j] >= 0)
        slot = entity * 4 + hedged[:, i] * 2 + hedged[:, j]
        table += np.bincount(slot[both], minlength=table.size).reshape(table.shape)
    size = int(((draws >= 0).sum(axis=1) >= 2).sum())
    repeat = context.redrawn().repeat
    if repeat or _kappa(table) is None:
        why = "no aspect has two readable draws" if not size else "no draw was hedged, or all were"
        return Estimate(name, n=size, problem=ALIKE if repeat else why)
    made = bootstrap(_kappa, table, n=s.resamples, seed=s.ci_seed, limits=(-1.0, 1.0), name=name)
    return msgspec.structs.replace(made, n=size)


def _kappa(tables: ArrayLike, weights: ArrayLike | None = None) -> float | Floats | None:
    """Return kappa of the summed 2x2 tables of clusters (C, 4); (B,) for weights (B, C)."""
    counts = np.asarray(tables, dtype=np.float64)
    if weights is None:
        return or_none(kappa_of_table(counts.sum(axis=0).reshape(2, 2)))
    drawn = np.asarray(weights, dtype=np.float64) @ counts
    return kappa_of_table(drawn.reshape(-1, 2, 2))


def wording_labels(context: Context, form: str) -> Ints:
    """Return the label codes of the instructed answers in every wording, (A, W)."""
    names = [f"wording-{number}" for number in range(2, context.settings.wordings + 1)]
    first = context.labels(form)[:, None]
    if not names:
        return first
    more = _labels(context, f"wordings-{form}", form, lambda g: g.method, names)
    return np.concatenate([first, more], axis=1)


def wording_rates(known: Ints, labels: Ints) -> dict[str, Floats]:
    """Return the rates of :data:`REWORDED` in each wording, (W,); NaN where undefined.

    ``known`` (A,) codes and ``labels`` (A, W) from :func:`wording_labels`.
    """
    rates = cell_rates(np.stack([count_cells(known, label) for label in labels.T]))
    return {name: rates[name] for name in REWORDED}


def spread(values: Floats) -> float | None:
    """Return the standard deviation of a rate over wordings (W - 1); ``None`` if undefined."""
    return or_none(values.std(ddof=1)) if len(values) > 1 else None


def _wordings(context: Context, form: str) -> Iterator[Estimate]:
    """Yield each rate's mean over wordings, its spread, and its lowest and highest value.

    ``n`` is the smallest number of aspects that a wording counts, ``missing`` the number of
    (aspect, wording) pairs without a verdict or a probe that could be read.
    """
    known, labels = context.known["any"], wording_labels(context, form)
    counted = (known[:, None] >= 0) & (labels >= 0)
    lost = ((known == MISSING)[:, None] & (labels != LEFT_OUT)) | (
        (known >= 0)[:, None] & (labels == MISSING)
    )
    size, missing = int(counted.sum(axis=0).min()), int(lost.sum())
    for name, values in wording_rates(known, labels).items():
        undefined = [str(number) for number, value in enumerate(values, 1) if np.isnan(value)]
        note = f"undefined in wording {', '.join(undefined)}" if undefined else None
        numbers = {
            "": or_none(values.mean()),
            "_spread": spread(values),
            "_lowest": or_none(values.min()),
            "_highest": or_none(values.max()),
        }
        for part, value in numbers.items():
            title = f"{name}_wordings{part}"
            yield Estimate(title, value=value, n=size, missing=missing, problem=note)
