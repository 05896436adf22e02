"""Faithfulness of words, corrected for the reader of wording by people's labels of sureness.

Confidence is what the comparisons of the run's draws say: it is not corrected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from sayso.metrics.cmfg import cmfg, cmfg_answers, mfg
from sayso.metrics.correction import LabeledRows, corrected_metric
from sayso.protocols.faithfulness.measure import binning_of, mean_over_choices
from sayso.protocols.faithfulness.rows import MethodRows, load_rows
from sayso.protocols.faithfulness.settings import Settings
from sayso.protocols.labeled import CorrectedPlace, PeopleLabels, drawn_rows
from sayso.protocols.protocol import Run
from sayso.records import slice_of

#: how the tables of verdicts on wording end
WORDING = "-decisive"


def corrected(run: Run, labels: PeopleLabels, settings: Settings) -> Iterator[CorrectedPlace]:
    """Yield cMFG, MFG and mean decisiveness of each method that people labeled.

    Of answers with several assertions, cMFG and MFG of answers count those as labeled of which
    people labeled every assertion.
    """
    pairs = zip(load_rows(run, settings), load_rows(labels.read(run), settings), strict=True)
    for rows, said in pairs:
        where = slice_of(form=rows.form, method=rows.method)
        by_people = said.take(rows.used)
        used = rows.scored(settings.pooled)
        by_people = by_people._replace(weight=used.weight)
        places = list(zip(used.targets, used.question, strict=True))
        for stage in labels.verdicts:
            if not stage.endswith(WORDING):
                continue
            drawn = drawn_rows(labels, stage, places, ~np.isnan(by_people.d), used.entity)
            if drawn is None:
                continue
            among = used.take(_mask(drawn.inside, len(used.d)))
            heard = by_people.take(_mask(drawn.inside, len(used.d)))
            for name, metric, columns in _of_assertions(settings):
                judge, people = columns(among), columns(heard)
                at = np.asarray(drawn.labeled.rows)
                made = corrected_metric(name, metric, judge, [c[at] for c in people], drawn.labeled)
                yield CorrectedPlace(name, where, made, stage)
            chances = labels.chances.get(stage, {})
            inside = [places[row] for row in drawn.inside.tolist()]
            of_rows = {int(n): chances.get(inside[n]) for n in np.asarray(drawn.labeled.rows)}
            yield from (
                CorrectedPlace(name, where, made, stage)
                for name, made in _of_answers(among, heard, of_rows, settings)
            )


def _mask(at: Any, size: int) -> Any:
    mask = np.zeros(size, dtype=bool)
    mask[at] = True
    return mask


def _of_assertions(
    settings: Settings,
) -> Iterator[tuple[str, Callable[..., Any], Callable[[MethodRows], tuple[Any, ...]]]]:
    binned = mean_over_choices(cmfg, binning=binning_of(settings))
    plain = mean_over_choices(mfg)
    yield "cmfg_aspects", binned, lambda r: r.counts
    yield "mfg_aspects", plain, lambda r: (1 - np.abs(r.d - r.c), r.weight, r.choice)
    yield "mean_decisiveness", plain, lambda r: (r.d, r.weight, r.choice)


def _of_answers(
    judge: MethodRows, people: MethodRows, chances: dict[int, float | None], settings: Settings
) -> Iterator[tuple[str, Any]]:
    """Yield cMFG and MFG of answers; ``chances`` has those of the labeled rows."""
    names, group = np.unique(np.array(judge.answers, dtype=np.str_), return_inverse=True)
    group = group.reshape(-1)
    labeled = np.bincount(group[list(chances)], minlength=len(names))
    whole = np.flatnonzero(labeled == np.bincount(group, minlength=len(names)))
    if not len(whole):
        return
    known = all(chance is not None for chance in chances.values())
    chance = np.ones(len(names))
    for row, value in chances.items():
        chance[group[row]] *= value or 1.0
    own, said = judge.by_answer(), people.by_answer()
    drawn = LabeledRows(whole, chance[whole] if known else None, clusters=own.entity)
    binned = mean_over_choices(cmfg_answers, binning=binning_of(settings))
    plain = mean_over_choices(mfg)
    for name, metric, columns in (
        ("cmfg", binned, (own.counts, said.counts)),
        ("mfg", plain, ((own.f, own.weight, own.choice), (said.f, said.weight, said.choice))),
    ):
        of_labels = [column[whole] for column in columns[1]]
        yield name, corrected_metric(name, metric, columns[0], of_labels, drawn)
