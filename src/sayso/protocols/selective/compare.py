"""``sayso compare`` of two selective runs: does a score tell more of B's errors than of A's?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.metrics.abstention import abstention_gap, abstention_gap_within, bootstrap_abstention
from sayso.metrics.arrays import Floats
from sayso.metrics.intervals import bootstrap_difference, bootstrap_share
from sayso.metrics.joint import Number
from sayso.metrics.ranking import auroc, bootstrap_auroc, within_auroc
from sayso.protocols.pool import cluster_names
from sayso.protocols.protocol import (
    ComparedRun,
    Comparison,
    Numbers,
    Sides,
    check_opened,
    compare_parts,
)
from sayso.protocols.selective.measure import (
    CORE,
    abstention_columns,
    in_pairs,
    judge_of,
    metrics_of,
    passage_gaps,
    ranked_values,
    share_of_ones,
    signed_form,
)
from sayso.protocols.selective.numbers import NUMBERS
from sayso.protocols.selective.rows import OTHER_DATA, FormRows, load_rows, strata_of, types_of
from sayso.records import Estimate, Signature, slice_of
from sayso.scores.p_ik import P_IK, cross_fit_splits

#: settings that may differ without ``allow``: what is compared
FREE = ("model", "data", "ci")
Ints = NDArray[np.int64]


class _SelectiveSide(NamedTuple):
    """One run: its forms, the settings of each form's numbers, golds and entities by question."""

    forms: dict[str, FormRows]
    signatures: dict[str, Signature]
    golds: dict[str, Any]
    entities: dict[str, str]
    standardize: bool


def compare(
    runs: tuple[ComparedRun, ComparedRun], allow: Sequence[str], resamples: int, seed: int
) -> Comparison:
    """Return B - A of the error rate and of every score's AUROC on the common facts, and notes.

    Entities are resampled jointly. Raises InputError for runs that differ in more than the model.
    """
    sides = _open(runs[0]), _open(runs[1])

    def differ(form: str, notes: list[str]) -> Iterator[Estimate]:
        first, second = (side.forms[form] for side in sides)
        places = [{name: row for row, name in enumerate(rows.facts)} for rows in (first, second)]
        shared = [name for name in places[0] if name in places[1]]
        if not shared:
            return
        rows = tuple(np.array([p[name] for name in shared], dtype=np.int64) for p in places)
        total = max(first.size, second.size)
        if len(shared) < total:
            notes.append(
                f"{form}: {len(shared)} of {total} facts are in both runs; the others are left out"
            )
        yield from _differences((first, second), (rows[0], rows[1]), form, resamples, seed)

    names = runs[0].name, runs[1].name
    return Comparison(
        *compare_parts(
            names, sides, (FREE, allow), lambda form: slice_of(form=form), differ, "fact"
        )
    )


def numbers(sides: Sides, allow: Sequence[str]) -> tuple[list[list[Numbers]], list[str]]:
    """Return the error rate and each score's AUROC as functions of the weights of entities, notes.

    Raises InputError for runs on one data set that differ in more than the model.
    """
    opened = {side.name: _open(side) for row in sides for side in row if side is not None}
    notes = check_opened(sides, opened, FREE, allow)
    table = [[_numbers(opened[side.name]) if side else {} for side in row] for row in sides]
    for row, found in zip(sides, table, strict=True):
        for s, number in _learned_elsewhere([opened[side.name] if side else None for side in row]):
            found[s] |= number
    return table, notes


def _learned_elsewhere(row: Sequence[_SelectiveSide | None]) -> Iterator[tuple[int, Numbers]]:
    """Yield, for each data set of one model, the AUROC of P(IK) that was fitted on the others.

    Nothing about an entity that the data set asks about is learned from. Only what was stored is
    used; a data set without hidden states, or with answers of one kind only, takes no part.
    """
    for form in ("short", "long"):
        there = {
            s: (side, side.forms[form])
            for s, side in enumerate(row)
            if side is not None and form in side.forms and side.forms[form].states is not None
        }
        widths = {s: rows.states.shape[1] for s, (_, rows) in there.items()}  # type: ignore[union-attr]
        if len(there) < 2 or len(set(widths.values())) > 1:
            continue
        X = np.concatenate([rows.states for _, rows in there.values()])
        wrong = np.concatenate([rows.wrong[rows.judge] for _, rows in there.values()])
        names = [
            np.array([side.entities[q] for _, q in rows.facts]) for side, rows in there.values()
        ]
        entity = np.concatenate(names)
        own = np.repeat(list(there), [rows.size for _, rows in there.values()])
        splits = [(~(own == s) & ~np.isin(entity, entity[own == s]), own == s) for s in there]
        side, first = next(iter(there.values()))
        value, fits = cross_fit_splits(X, wrong, splits, standardize=side.standardize)
        for s, (_, rows) in there.items() if fits else ():
            score, answers = value[own == s], rows.wrong[rows.judge]
            use = ~(np.isnan(score) | np.isnan(answers))
            if in_pairs(answers[use], None):
                where = slice_of(form=form, against=first.judge, score=OTHER_DATA)
                columns = score[use], answers[use]
                yield s, {("auroc", where): Number(auroc, columns, entity[own == s][use].tolist())}


def _numbers(side: _SelectiveSide) -> Numbers:
    found: Numbers = {}
    for form, rows in side.forms.items():
        names = np.array([side.entities[short] for _, short in rows.facts], dtype=str)
        wrong = rows.wrong[rows.judge]
        judged = ~np.isnan(wrong)
        if judged.any():
            found["error_rate", slice_of(form=form, against=rows.judge)] = Number(
                share_of_ones, (wrong[judged],), names[judged].tolist(), higher=False
            )
        found |= _abstention(rows, form, names)
        types = types_of(rows)
        for by, score in product(metrics_of(rows), rows.scores):
            if by == rows.judge or score in (*CORE, P_IK):
                where = slice_of(form=form, against=by, score=score)
                for kind, number in _aurocs(rows, score, rows.wrong[by], types, names):
                    found[kind, where] = number
    return found


def _abstention(rows: FormRows, form: str, names: NDArray[np.str_]) -> Numbers:
    """Return what is measured of abstaining, as functions of the weights of entities."""
    found: Numbers = {}
    for name, where, metric, columns in abstention_columns(rows):
        held = ~np.isnan(columns[0])
        if held.any():
            found[name, slice_of(form=form) + where] = Number(
                metric,
                tuple(column[held] for column in columns),
                names[held].tolist(),
                limits=NUMBERS[name].limits,
                higher=NUMBERS[name].higher,
            )
    index = dict(zip(rows.entity.tolist(), names.tolist(), strict=True))
    place = slice_of(form=form, against=rows.judge)
    for name, (abstained, changed, entity) in passage_gaps(rows):
        if len(entity):
            clusters = [index[number] for number in entity.tolist()]
            found[name, place] = Number(abstention_gap, (abstained, changed), clusters, (-1.0, 1.0))
    return found


def _aurocs(
    rows: FormRows, score: str, wrong: Floats, types: Any, names: NDArray[np.str_]
) -> Iterator[tuple[str, Number]]:
    """Yield the AUROC of a score and that within types, as the run's leaderboard has them."""
    values = ranked_values(rows, score)
    use = ~(np.isnan(values) | np.isnan(wrong))
    kinds = [("auroc", rows.folds.get(score)), ("auroc_within", strata_of(rows, score, types))]
    for kind, strata in kinds:
        held = None if strata is None else strata[use]
        if kind == "auroc_within" and types is None:
            continue
        if not in_pairs(wrong[use], held):  # too few to rank, in the run as here
            continue
        columns = (values[use], wrong[use], *(() if held is None else (held,)))
        yield kind, Number(auroc if held is None else within_auroc, columns, names[use].tolist())


def _open(side: ComparedRun) -> _SelectiveSide:
    run, settings = side.run, side.settings
    forms = load_rows(run, settings, judge_of(run))
    signatures = {
        form: signed_form(run, settings, form, Estimate("x")).signature[1:] for form in forms
    }
    golds = {q.id: q.golds for q in run.questions}
    entities = cluster_names(run.questions)
    return _SelectiveSide(forms, signatures, golds, entities, settings.p_ik.standardize)


def _differences(
    pair: tuple[FormRows, FormRows], rows: tuple[Ints, Ints], form: str, resamples: int, seed: int
) -> Iterator[Estimate]:
    one, two = pair
    wrong = one.wrong[one.judge][rows[0]], two.wrong[two.judge][rows[1]]
    entity, types = one.entity[rows[0]], types_of(one)
    both = ~(np.isnan(wrong[0]) | np.isnan(wrong[1]))

    def gap(name: str, metric: Any, data: Sequence[Sequence[Any]], use: NDArray[np.bool_]) -> Any:
        first, second = ([np.asarray(column)[use] for column in side] for side in data[::-1])
        own = [
            _own_interval(metric, columns, entity[use], resamples, seed)
            for columns in (first, second)
        ]
        difference = bootstrap_difference(
            metric,
            first,
            second,
            clusters=entity[use],
            n=resamples,
            seed=seed,
            name=name,
            sides=None if own[0] is None or own[1] is None else (own[0], own[1]),
            limits=NUMBERS[name].limits,
        )
        return msgspec.structs.replace(difference, missing=int((~use).sum()))

    if both.any():
        yield gap("error_rate", share_of_ones, ((wrong[0],), (wrong[1],)), both)
    theirs = {(name, where): columns for name, where, _, columns in abstention_columns(two)}
    for name, where, metric, columns in abstention_columns(one):
        if (name, where) not in theirs:
            continue
        sides = (
            tuple(column[rows[0]] for column in columns),
            tuple(column[rows[1]] for column in theirs[name, where]),
        )
        use = ~np.isnan(sides[0][0] + sides[1][0])
        if use.any():
            difference = gap(name, metric, sides, use)
            yield msgspec.structs.replace(difference, where=where)
    for name, first in one.scores.items():
        if name not in two.scores:
            continue
        scores = first[rows[0]], two.scores[name][rows[1]]
        use = both & ~(np.isnan(scores[0]) | np.isnan(scores[1]))
        data = ((scores[0], wrong[0]), (scores[1], wrong[1]))
        if not all(0 < float(w[use].sum()) < use.sum() for w in wrong):
            continue
        area: Any = auroc
        kind = "auroc"
        # one's own folds for a learned score: only answers of one fit can be ranked
        strata = strata_of(one, name, types), strata_of(two, name, types_of(two))
        if strata[0] is not None and strata[1] is not None:
            area, kind = within_auroc, "auroc" if types is None else "auroc_within"
            held = strata[0][rows[0]], strata[1][rows[1]]
            data = ((*data[0], held[0]), (*data[1], held[1]))  # type: ignore[assignment]
        difference = gap(kind, area, data, use)
        yield msgspec.structs.replace(difference, where=slice_of(score=name))


def _own_interval(
    metric: Any, columns: Sequence[Any], entity: Ints, resamples: int, seed: int
) -> Estimate | None:
    """Return a number of one run with the interval that its page shows; ``None`` for right minus
    wrong.
    """
    again: dict[str, Any] = {"clusters": entity, "n": resamples, "seed": seed}
    if metric is share_of_ones:
        return bootstrap_share("share", columns[0], np.ones(len(entity)), **again)
    if metric in (abstention_gap, abstention_gap_within):
        types = columns[2] if len(columns) > 2 else None
        return bootstrap_abstention(columns[0], columns[1], types=types, **again)
    if metric in (auroc, within_auroc):
        return bootstrap_auroc(*columns, **again)
    return None
