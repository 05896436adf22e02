"""Errors, rankings and abstentions, corrected for the judge by people's labels of answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from sayso.metrics.arrays import Floats
from sayso.metrics.correction import corrected_metric, corrected_sums
from sayso.metrics.intervals import Range
from sayso.metrics.ranking import within_auroc
from sayso.protocols.labeled import CorrectedPlace, DrawnRows, PeopleLabels, drawn_rows
from sayso.protocols.protocol import Run
from sayso.protocols.selective.measure import ABSTENTIONS, CORE, judge_of, ranked_values
from sayso.protocols.selective.rows import (
    FormRows,
    ReadColumns,
    columns_as_read,
    load_rows,
    strata_of,
    types_of,
)
from sayso.protocols.selective.settings import Settings
from sayso.records import slice_of
from sayso.scores.p_ik import P_IK
from sayso.scores.text_only import TEXT_ONLY

#: scores whose rankings are corrected
RANKED = (*CORE, P_IK, TEXT_ONLY)
LIMITS: Mapping[str, Range | None] = {"abstention_gap": (-1.0, 1.0)}


def corrected(run: Run, labels: PeopleLabels, settings: Settings) -> Iterator[CorrectedPlace]:
    """Yield the error rate, AUROC of the main scores, and abstentions of each form.

    Scores that are learned stay as they were learned from the judge's verdicts.
    """
    judge = judge_of(run)
    for form, rows in load_rows(run, settings, judge).items():
        own = columns_as_read(run, form, settings, judge)
        said = columns_as_read(labels.read(run), form, settings, judge)
        drawn = drawn_rows(labels, form, own.places, said.read, rows.entity)
        if drawn is not None:
            yield from _shares(rows, own, said, drawn)
            yield from _rankings(rows, own, said, drawn)


def _shares(
    rows: FormRows, own: ReadColumns, said: ReadColumns, drawn: DrawnRows
) -> Iterator[CorrectedPlace]:
    none = rows.unanswerable if rows.unanswerable is not None else np.zeros(rows.size, bool)
    where = slice_of(form=rows.form, against=rows.judge)

    def columns(read: ReadColumns) -> Floats:
        withheld = [(read.withheld > 0) & among for among in (none, ~none)]
        held = [~np.isnan(read.withheld) & among for among in (none, ~none)]
        wrong = [read.wrong > 0, ~np.isnan(read.wrong)]
        return np.stack([*wrong, *withheld, *held], axis=1).astype(np.float64)

    of_all, of_labels = columns(own)[drawn.inside], columns(said)[drawn.at]
    shares = ("error_rate", *ABSTENTIONS)
    found = corrected_sums(_of_sums, of_all, of_labels, drawn.labeled, LIMITS, shares)
    for name, number in found.items():
        if name == "error_rate" or none.any():
            yield CorrectedPlace(name, where, number, rows.form)


def _of_sums(sums: Floats) -> dict[str, Any]:
    wrong, judged, none, some, of_none, of_some = np.moveaxis(sums, -1, 0)
    shares = none / of_none, some / of_some
    return {
        "error_rate": wrong / judged,
        **dict(zip(ABSTENTIONS, shares, strict=True)),
        "abstention_gap": shares[0] - shares[1],
    }


def _rankings(
    rows: FormRows, own: ReadColumns, said: ReadColumns, drawn: DrawnRows
) -> Iterator[CorrectedPlace]:
    types, at = types_of(rows), drawn.inside
    place = np.asarray(drawn.labeled.rows)
    for name in rows.scores:
        if name not in RANKED:
            continue
        where = slice_of(form=rows.form, against=rows.judge, score=name)
        score = ranked_values(rows, name)[at]
        kinds: dict[str, Any] = {"auroc": rows.folds.get(name)}
        if types is not None:
            kinds["auroc_within"] = strata_of(rows, name, types)
        for number, groups in kinds.items():
            group = np.zeros(len(at), np.int64) if groups is None else np.asarray(groups)[at]
            judge = score, own.wrong[at], group
            people = score[place], said.wrong[drawn.at], group[place]
            made = corrected_metric(number, within_auroc, judge, people, drawn.labeled)
            yield CorrectedPlace(number, where, made, rows.form)
