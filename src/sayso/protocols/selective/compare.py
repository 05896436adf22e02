"""``sayso compare`` of two selective runs: does a score tell more of B's errors than of A's?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.metrics.arrays import Floats, divide, or_none
from sayso.metrics.intervals import bootstrap_difference
from sayso.metrics.ranking import auroc, within_auroc
from sayso.protocols.protocol import Comparison, Side, check_alike, signed_difference
from sayso.protocols.selective.measure import judge_of, signed
from sayso.protocols.selective.rows import Rows, load_rows, strata_of, types_of
from sayso.records import Estimate, InputError, Signature, slice_of

#: settings that may differ without ``allow``: what is compared
FREE = ("model", "data", "ci")
Ints = NDArray[np.int64]


class _Side(NamedTuple):
    """One run: its forms, and the settings of each form's numbers."""

    forms: dict[str, Rows]
    signatures: dict[str, Signature]
    golds: dict[str, Any]


def compare(runs: tuple[Side, Side], allow: Sequence[str], resamples: int, seed: int) -> Comparison:
    """Return B - A of the error rate and of every score's AUROC on the common facts, and notes.

    Entities are resampled jointly. Raises InputError for runs that differ in more than the model.
    """
    a, b = (side.name for side in runs)
    sides = _open(runs[0]), _open(runs[1])
    signatures = [side.signatures for side in sides]
    golds = sides[0].golds, sides[1].golds
    notes = check_alike((a, b), signatures, golds, FREE, allow)
    differences: list[Estimate] = []
    for form in sides[0].forms:
        if form not in sides[1].forms:
            continue
        first, second = (side.forms[form] for side in sides)
        places = [{name: row for row, name in enumerate(rows.facts)} for rows in (first, second)]
        shared = [name for name in places[0] if name in places[1]]
        if not shared:
            continue
        rows = tuple(np.array([p[name] for name in shared], dtype=np.int64) for p in places)
        total = max(first.size, second.size)
        if len(shared) < total:
            notes.append(
                f"{form}: {len(shared)} of {total} facts are in both runs; the rest is left out"
            )
        paired = _differences((first, second), (rows[0], rows[1]), form, resamples, seed)
        where, settings = slice_of(form=form), [side.signatures[form] for side in sides]
        differences += [signed_difference(e, where, *settings) for e in paired]
    if not differences:
        raise InputError(f"{a} and {b} have no fact in common; compare runs on the same data")
    return Comparison(differences, notes)


def _open(side: Side) -> _Side:
    run, settings = side.run, side.settings
    forms = load_rows(run, settings, judge_of(run))
    signatures = {form: signed(run, settings, form, Estimate("x")).signature[1:] for form in forms}
    return _Side(forms, signatures, {q.id: q.golds for q in run.questions})


def _differences(
    pair: tuple[Rows, Rows], rows: tuple[Ints, Ints], form: str, resamples: int, seed: int
) -> Iterator[Estimate]:
    one, two = pair
    wrong = one.wrong[one.judge][rows[0]], two.wrong[two.judge][rows[1]]
    entity, types = one.entity[rows[0]], types_of(one)
    both = ~(np.isnan(wrong[0]) | np.isnan(wrong[1]))

    def gap(name: str, metric: Any, data: Sequence[Sequence[Any]], use: NDArray[np.bool_]) -> Any:
        difference = bootstrap_difference(
            metric,
            [np.asarray(column)[use] for column in data[1]],
            [np.asarray(column)[use] for column in data[0]],
            clusters=entity[use],
            n=resamples,
            seed=seed,
            name=name,
        )
        return msgspec.structs.replace(difference, missing=int((~use).sum()))

    if both.any():
        yield gap("error_rate", _mean, ((wrong[0],), (wrong[1],)), both)
    for name, first in one.scores.items():
        if name not in two.scores:
            continue
        scores = first[rows[0]], two.scores[name][rows[1]]
        use = both & ~(np.isnan(scores[0]) | np.isnan(scores[1]))
        data = ((scores[0], wrong[0]), (scores[1], wrong[1]))
        if not all(0 < float(w[use].sum()) < use.sum() for w in wrong):
            continue
        metric: Any = auroc
        kind = "auroc"
        # one's own folds for a learned score: only answers of one fit can be ranked
        strata = strata_of(one, name, types), strata_of(two, name, types_of(two))
        if strata[0] is not None and strata[1] is not None:
            metric, kind = within_auroc, "auroc" if types is None else "auroc_within"
            held = strata[0][rows[0]], strata[1][rows[1]]
            data = ((*data[0], held[0]), (*data[1], held[1]))  # type: ignore[assignment]
        difference = gap(kind, metric, data, use)
        yield msgspec.structs.replace(difference, where=slice_of(score=name))


def _mean(values: Floats, weights: Any = None) -> float | Floats | None:
    """Return the share of 1 among values (n,), by rows of weights where they are given."""
    W = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=np.float64)
    share = divide(W @ values, W.sum(axis=-1))
    return or_none(share) if W.ndim == 1 else np.asarray(share)
