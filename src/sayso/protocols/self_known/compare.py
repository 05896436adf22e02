"""``sayso compare`` of two self_known runs: is B more factual, where in the text, and does it know?

Texts are joined by what was asked; entities are resampled jointly in both runs. Claims are each
run's own, so shares of claims are differences of two ratios, not of matched claims.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.protocols.protocol import Comparison, Side, check_alike, difference_signature
from sayso.protocols.self_known.measure import Self, load_selves, signed
from sayso.protocols.self_known.measure import common as topics_in_common
from sayso.protocols.self_known.measure import differences as paired_differences
from sayso.protocols.self_known.rows import Texts, load_texts
from sayso.protocols.self_known.settings import Settings
from sayso.records import Estimate, InputError, Signature, slice_of

#: settings that may differ without being asked: the thing compared, and what it does not rest on
FREE = ("model", "data", "ci", "draws", "alpha", "folds", "remedy", "retrieval")
Floats = NDArray[np.float64]


class _Side(NamedTuple):
    """One run: texts and what the model said of their claims by method, marks, golds, settings."""

    texts: dict[str, Texts]
    selves: dict[str, list[Self]]
    marks: dict[str, Signature]
    golds: dict[str, Any]
    settings: Settings


def compare(runs: tuple[Side, Side], allow: Sequence[str], resamples: int, seed: int) -> Comparison:
    """Return B - A of factuality, its curve and trend, SK and SU for each common method, notes.

    Only prompts that both runs answered count. Raises InputError for runs that differ in more than
    the model.
    """
    a, b = (side.name for side in runs)
    sides = _open(runs[0]), _open(runs[1])
    if not all(side.marks for side in sides):
        raise InputError(f"{a} and {b}: one of them has no answers to compare")
    parts = [_parts(side) for side in sides]
    notes = check_alike((a, b), (parts[0], parts[1]), (sides[0].golds, sides[1].golds), FREE, allow)
    found: list[Estimate] = []
    for method, first in sides[0].texts.items():
        if method not in sides[1].texts:
            notes.append(f"{method}: only in one of the runs")
            continue
        pair = topics_in_common(
            first, sides[1].texts[method], (sides[0].selves[method], sides[1].selves[method])
        )
        number = [int(rows.kept.sum()) for rows in pair]
        total = len({g.question for rows in pair for g in rows.texts.kept})
        if not all(number):
            continue
        if max(number) < total:
            notes.append(f"{method}: {min(number)} of {total} prompts are answered in both runs")
        made = paired_differences(pair, sides[0].settings, resamples, seed)
        found += [_signed(sides, method, estimate) for estimate in made]
    if not sides[0].texts.keys() & sides[1].texts.keys():
        raise InputError(
            f"{a} and {b} have no method in common ({', '.join(sides[0].texts)}; "
            f"{', '.join(sides[1].texts)}); systems in files of sayso factuality are compared "
            "inside one run"
        )
    if not found:
        raise InputError(f"{a} and {b} have no text in common; compare runs on the same data")
    return Comparison(found, notes, protocol="self_known")


def _open(side: Side) -> _Side:
    job, chosen = side.run, side.settings
    texts = {t.method: t for t in load_texts(job)}
    selves = {method: load_selves(job, t) for method, t in texts.items()}
    marks = {method: signed(job, chosen, Estimate("x"), method).signature[1:] for method in texts}
    return _Side(texts, selves, marks, {q.id: q.golds for q in job.questions}, chosen)


def _parts(side: _Side) -> dict[str, str]:
    mark = dict(next(iter(side.marks.values())))
    return {key: value for key, value in mark.items() if key != "method"}


def _signed(sides: tuple[_Side, _Side], method: str, estimate: Estimate) -> Estimate:
    """Return a difference with its place; its signature names B's settings and what A's were."""
    theirs, ours = (side.marks[method] for side in sides)
    signature = difference_signature(estimate.name, ours, theirs)
    where = slice_of(method=method) + estimate.where
    return msgspec.structs.replace(estimate, where=where, signature=signature)
