"""``sayso compare`` of two faithfulness runs: do B's words follow its confidence more than A's?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sayso.metrics.cmfg import cmfg, cmfg_answers, mfg, skill
from sayso.metrics.intervals import bootstrap_difference
from sayso.metrics.joint import Number
from sayso.prompts.methods import METHOD_LABELS
from sayso.protocols.faithfulness.measure import (
    IN_BINS,
    OF_ANSWERS,
    bins_in_common,
    bins_of_equal_width,
    mean_over_choices,
    reader_signers,
    signed_slice,
)
from sayso.protocols.faithfulness.numbers import NUMBERS
from sayso.protocols.faithfulness.rows import AnswerRows, MethodRows, load_rows
from sayso.protocols.faithfulness.settings import Settings
from sayso.protocols.protocol import (
    ComparedRun,
    Comparison,
    Numbers,
    Sides,
    check_opened,
    compare_parts,
)
from sayso.records import Estimate, InputError, Signature, slice_of
from sayso.report.numbers import FORMS

#: settings that may differ without being asked: the thing compared, and what it does not rest on
FREE = ("model", "data", "ci", "methods", "demos")


class _FaithfulnessSide(NamedTuple):
    """One run: rows by form and method, the signatures of their numbers, golds by question."""

    rows: dict[tuple[str, str], MethodRows]
    signatures: dict[tuple[str, str], Signature]
    golds: dict[str, Any]
    settings: Settings


def compare(
    runs: tuple[ComparedRun, ComparedRun], allow: Sequence[str], resamples: int, seed: int
) -> Comparison:
    """Return B - A of skill, cMFG, MFG, words, confidence and accuracy for common methods, notes.

    Only questions that both asked count; bins are those that both fill; entities are resampled
    jointly. Raises InputError for runs that differ in more than the model.
    """
    a, b = (side.name for side in runs)
    sides = _open(runs[0]), _open(runs[1])
    settings = sides[0].settings
    shared: list[tuple[tuple[str, str], _SharedBins]] = []

    def differ(key: tuple[str, str], notes: list[str]) -> Iterator[Estimate]:
        first, second = (side.rows[key] for side in sides)
        both = set(first.question) & set(second.question)
        total = len(set(first.question) | set(second.question))
        if len(both) < total:
            notes.append(f"{' '.join(key)}: {len(both)} of {total} questions are in both runs")
        if both:
            first, second = (
                r.take(np.array([q in both for q in r.question], dtype=bool))
                for r in (first, second)
            )
            bins = _shared([r.scored(settings.pooled) for r in (first, second)], settings)
            shared.append((key, bins))
            yield from _differences((first, second), settings, bins, resamples, seed)

    if not sides[0].rows.keys() & sides[1].rows.keys():
        methods = (", ".join(sorted({m for _, m in side.rows})) or "none" for side in sides)
        raise InputError(
            f"{a} and {b} have no method in common ({'; '.join(methods)}). To compare methods, use "
            "one run with --methods all"
        )
    differences, notes = compare_parts(
        (a, b), sides, (FREE, allow), lambda key: slice_of(form=key[0], method=key[1]), differ,
        "question",
    )  # fmt: skip
    return Comparison(differences, notes, (_bins_told(shared, settings, "both runs have"),))


def _bins_told(
    shared: Sequence[tuple[tuple[str, str], _SharedBins]], settings: Settings, runs: str
) -> str:
    """Say on how many bins of confidence skill and cMFG of ``runs`` are compared.

    ``shared`` are forms and methods with their bins, once for each data set. Skill and cMFG by fact
    have the bins with enough claims, cMFG those with enough answers.
    """
    by_key: dict[tuple[str, str], list[_SharedBins]] = {}
    for key, bins in shared:
        by_key.setdefault(key, []).append(bins)
    texts = []
    for (form, method), every in by_key.items():
        claims = _span([int(bins.claims.sum()) for bins in every])
        answers = _span([int(bins.answers.sum()) for bins in every])
        number = claims if claims == answers else f"{claims} by claims and {answers} by answers"
        texts.append(f"{number} ({FORMS[form]}, {METHOD_LABELS.get(method, method)})")
    return (
        f"Scores are compared in the bins of confidence in which {runs} at least "
        f"{settings.shared_least} claims (skill, cMFG by fact) or answers (cMFG). Of "
        f"{settings.bins} bins these are {', '.join(texts)}."
    )


def _span(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{low} to {high}"


class _SharedBins(NamedTuple):
    """The bins of confidence that every run fills: with claims, and with whole answers (cMFG)."""

    claims: NDArray[np.bool_]
    answers: NDArray[np.bool_]

    def of(self, name: str) -> NDArray[np.bool_]:
        """Return the bins in which a number is compared."""
        return self.answers if name in OF_ANSWERS else self.claims


def _shared(used: Sequence[MethodRows], settings: Settings) -> _SharedBins:
    return _SharedBins(
        bins_in_common(used, settings),
        bins_in_common([rows.by_answer() for rows in used], settings),
    )


def numbers(sides: Sides, allow: Sequence[str]) -> tuple[list[list[Numbers]], list[str]]:
    """Return the scores of each run as functions of the weights of its entities, and notes.

    cMFG and skill are of the bins that every run on a data set fills (they would otherwise compare
    different ranges of confidence). Raises InputError for runs that differ in more than the model.
    """
    opened = {side.name: _open(side) for row in sides for side in row if side is not None}
    notes = check_opened(sides, opened, FREE, allow)
    table: list[list[Numbers]] = [[{} for _ in row] for row in sides]
    shared: list[tuple[tuple[str, str], _SharedBins]] = []
    for s, column in enumerate(zip(*sides, strict=True)):
        there = {m: opened[side.name] for m, side in enumerate(column) if side is not None}
        for key in dict.fromkeys(key for side in there.values() for key in side.rows):
            of = {m: side for m, side in there.items() if key in side.rows}
            settings = next(iter(of.values())).settings
            used = {m: side.rows[key].scored(settings.pooled) for m, side in of.items()}
            bins = _shared(list(used.values()), settings)
            shared.append((key, bins))
            for m, rows in used.items():
                every = of[m].rows[key]  # a punt has no confidence, and is wrong
                judged = every.take(~np.isnan(every.right))
                table[m][s] |= _numbers(key, rows, judged, settings, bins)
    if shared:
        notes.append(_bins_told(shared, settings, "all models have"))
    return table, notes


def _numbers(
    key: tuple[str, str],
    used: MethodRows,
    judged: MethodRows,
    settings: Settings,
    bins: _SharedBins,
) -> Numbers:
    where = slice_of(form=key[0], method=key[1])
    found: Numbers = {}
    for name, (metric, columns) in _metrics(settings, bins).items():
        rows = _rows_of(name, used, judged)
        if len(rows.entity):
            declared = NUMBERS[name]
            found[name, where] = Number(
                metric, columns(rows), rows.name.tolist(), declared.limits, declared.higher
            )
    return found


def _open(side: ComparedRun) -> _FaithfulnessSide:
    run, settings = side.run, side.settings
    rows = load_rows(run, settings)
    by = reader_signers(run, rows)
    signatures = {}
    for r in rows:
        where = slice_of(form=r.form, method=r.method)
        example = signed_slice(run, settings, Estimate("x"), where, r.form, by)
        signatures[r.form, r.method] = example.signature[1:]
    golds = {q.id: q.golds for q in run.questions}
    return _FaithfulnessSide({(r.form, r.method): r for r in rows}, signatures, golds, settings)


def _metrics(
    settings: Settings, bins: _SharedBins
) -> dict[str, tuple[Callable[..., Any], Callable[[Any], tuple[Any, ...]]]]:
    """Return each number's metric, and the columns of rows that it takes (:func:`_rows_of`)."""
    keywords = {"binning": bins_of_equal_width(settings), "use": bins.claims}
    of_answers = keywords | {"use": bins.answers}
    return {
        "skill": (mean_over_choices(skill, **keywords), lambda r: r.counts),
        "cmfg": (mean_over_choices(cmfg_answers, **of_answers), lambda r: r.counts),
        "mfg": (mean_over_choices(mfg), lambda r: (r.f, r.weight, r.choice)),
        "cmfg_aspects": (mean_over_choices(cmfg, **keywords), lambda r: r.counts),
        "mfg_aspects": (mean_over_choices(mfg), lambda r: (1 - abs(r.d - r.c), r.weight, r.choice)),
        "mean_decisiveness": (mean_over_choices(mfg), lambda r: (r.d, r.weight, r.choice)),
        "mean_confidence": (mean_over_choices(mfg), lambda r: (r.c, r.weight, r.choice)),
        "accuracy": (mean_over_choices(mfg), lambda r: (r.right, r.weight, r.choice)),
    }


def _rows_of(name: str, used: MethodRows, judged: MethodRows) -> MethodRows | AnswerRows:
    """Return the rows that a number is counted over."""
    if name == "accuracy":
        return judged
    return used.by_answer() if name in OF_ANSWERS else used


def _differences(
    pair: tuple[MethodRows, MethodRows],
    settings: Settings,
    bins: _SharedBins,
    resamples: int,
    seed: int,
) -> Iterator[Estimate]:
    one, two = pair
    used = one.scored(settings.pooled), two.scored(settings.pooled)
    judged = one.take(~np.isnan(one.right)), two.take(~np.isnan(two.right))
    for name, (metric, columns) in _metrics(settings, bins).items():
        if name in IN_BINS and not bins.of(name).any():
            what = "answers" if name in OF_ANSWERS else "claims"
            why = f"no bin of confidence has {settings.shared_least} {what} in both runs"
            yield Estimate(name, n=len(used[1].d), problem=why)
            continue
        rows = _rows_of(name, used[0], judged[0]), _rows_of(name, used[1], judged[1])
        yield _difference(name, metric, columns, rows, resamples, seed)


def _difference(
    name: str,
    metric: Callable[..., Any],
    columns: Callable[[Any], tuple[Any, ...]],
    pair: tuple[MethodRows | AnswerRows, MethodRows | AnswerRows],
    resamples: int,
    seed: int,
) -> Estimate:
    """Return B - A; entities are joined by name, not by their number in a run."""
    if not all(len(r.entity) for r in pair):
        return Estimate(name, problem="no usable answer in one of the runs")
    return bootstrap_difference(
        metric,
        columns(pair[1]),
        columns(pair[0]),
        clusters=pair[1].name,
        second_clusters=pair[0].name,
        n=resamples,
        seed=seed,
        name=name,
    )
