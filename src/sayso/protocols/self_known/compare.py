"""``sayso compare`` of two self_known runs: is B more factual, where in the text, and does it know?

Texts are joined by what was asked; entities are resampled jointly in both runs. Claims are each
run's own, so shares of claims are differences of two ratios, not of matched claims.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sayso.metrics.joint import Number
from sayso.protocols.protocol import (
    ComparedRun,
    Comparison,
    Numbers,
    Sides,
    check_opened,
    compare_parts,
)
from sayso.protocols.self_known.measure import (
    OwnAnswers,
    common,
    differences_of_methods,
    own_answers,
    ratio_of_sums,
    signed_method,
    studied,
)
from sayso.protocols.self_known.numbers import NUMBERS
from sayso.protocols.self_known.rows import LongAnswers, load_long_answers
from sayso.protocols.self_known.settings import Settings
from sayso.records import Estimate, InputError, Signature, slice_of

#: settings that may differ without being asked: the thing compared, and what it does not rest on
FREE = ("model", "data", "ci", "draws", "folds", "remedy", "retrieval")


class _SelfKnownSide(NamedTuple):
    """One run: by method its texts, what the model said about their claims, and signatures."""

    texts: dict[str, LongAnswers]
    own: dict[str, list[OwnAnswers]]
    signatures: dict[str, Signature]
    golds: dict[str, Any]
    settings: Settings


def compare(
    runs: tuple[ComparedRun, ComparedRun], allow: Sequence[str], resamples: int, seed: int
) -> Comparison:
    """Return B - A of factuality, its curve and trend, SK and SU for each common method, notes.

    Only prompts that both runs answered count. Raises InputError for runs that differ in more than
    the model.
    """
    a, b = (side.name for side in runs)
    sides = _open(runs[0]), _open(runs[1])

    def differ(method: str, notes: list[str]) -> Iterator[Estimate]:
        own = sides[0].own[method], sides[1].own[method]
        pair = common(sides[0].texts[method], sides[1].texts[method], own)
        shared = [int(side.kept.sum()) for side in pair]
        total = len({g.question for side in pair for g in side.texts.kept})
        if not all(shared):
            return
        if max(shared) < total:
            notes.append(f"{method}: {min(shared)} of {total} prompts are answered in both runs")
        yield from differences_of_methods(pair, sides[0].settings, resamples, seed)

    if not sides[0].texts.keys() & sides[1].texts.keys():
        raise InputError(
            f"{a} and {b} have no method in common ({', '.join(sides[0].texts)}; "
            f"{', '.join(sides[1].texts)}). To compare models of files, give all files to one "
            "`sayso run self_known --answers FILES`"
        )
    return Comparison(
        *compare_parts(
            (a, b), sides, (FREE, allow), lambda method: slice_of(method=method), differ, "text"
        )
    )


def numbers(sides: Sides, allow: Sequence[str]) -> tuple[list[list[Numbers]], list[str]]:
    """Return factuality, SK and SU of each run as functions of the weights of its topics, notes.

    Raises InputError for runs on one data set that differ in more than the model.
    """
    opened = {side.name: _open(side) for row in sides for side in row if side is not None}
    notes = check_opened(sides, opened, FREE, allow)
    return [[_numbers(opened[side.name]) if side else {} for side in row] for row in sides], notes


def _numbers(side: _SelfKnownSide) -> Numbers:
    found: Numbers = {}
    for method, texts in side.texts.items():
        for name, where, columns in studied(texts, side.own[method], side.settings):
            declared = NUMBERS[name]
            found[name, slice_of(method=method) + where] = Number(
                ratio_of_sums,
                columns.values,
                columns.name.tolist(),
                declared.limits,
                declared.higher,
            )
    return found


def _open(side: ComparedRun) -> _SelfKnownSide:
    run, settings = side.run, side.settings
    texts = {t.method: t for t in load_long_answers(run)}
    own = {method: own_answers(run, t) for method, t in texts.items()}
    signatures = {m: signed_method(run, settings, Estimate("x"), m).signature[1:] for m in texts}
    return _SelfKnownSide(texts, own, signatures, {q.id: q.golds for q in run.questions}, settings)
