"""UNCLE's rates, corrected for the judge by people's labels of answers and aspects.

Known and unknown are what the run's probes say: people label answers, not probes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from sayso.metrics.arrays import Floats
from sayso.metrics.correction import corrected_sums
from sayso.metrics.intervals import Range
from sayso.metrics.uncle_known import RATE_LIMITS
from sayso.metrics.uncle_rates import CORRECT, MISSING, SHARES, cell_index, cell_rates
from sayso.protocols.labeled import CorrectedPlace, PeopleLabels, drawn_rows
from sayso.protocols.protocol import Run
from sayso.protocols.uncle.rows import RENAMED, Context, Ints, labels_of_view, load_rows
from sayso.protocols.uncle.settings import Settings
from sayso.records import slice_of

LIMITS: Mapping[str, Range | None] = dict(RATE_LIMITS)


def corrected(run: Run, labels: PeopleLabels, settings: Settings) -> Iterator[CorrectedPlace]:
    """Yield every rate and the accuracy of each form, with and without the instruction.

    None by the released script's counting of hedged probes, which has other denominators.
    """
    if settings.probe.unc == "dropped_official":
        return
    context = load_rows(run, settings, guesses=False)
    by_people = load_rows(labels.read(run), settings, guesses=False)
    for form in context.forms:
        for instructed in (True, False):
            where = slice_of(form=form) + (() if instructed else slice_of(prompt="plain"))
            yield from (
                CorrectedPlace(RENAMED.get(name, name), where, number, form)
                for name, number in _of_form(context, by_people, labels, form, instructed).items()
                if name != "p_known"
            )


def _of_form(
    context: Context, by_people: Context, labels: PeopleLabels, form: str, instructed: bool
) -> dict[str, Any]:
    view = context.aspects.views[form, instructed]
    read = labels_of_view(view, context.settings)
    said = labels_of_view(by_people.aspects.views[form, instructed], context.settings)
    places = [(v.target, v.asked) if v else None for v in view.verdicts]
    drawn = drawn_rows(labels, form, places, said != MISSING, context.aspects.entity)
    if drawn is None:
        return {}
    known = context.known["any"]
    judge, people = (_columns(known, label) for label in (read, said))
    of_all, of_labels = judge[drawn.inside], people[drawn.at]
    shares = (*SHARES, "accuracy")
    found = corrected_sums(_rates, of_all, of_labels, drawn.labeled, LIMITS, shares)
    return dict(found)


def _columns(known: Ints, label: Ints) -> Floats:
    """Return the cell of each row (n, 6), whether it is right, and whether it has a label."""
    cell = cell_index(known, label)[:, None] == np.arange(6)
    more = np.stack([label == CORRECT, label >= 0], axis=1)
    return np.concatenate([cell, more], axis=1).astype(np.float64)


def _rates(sums: Floats) -> dict[str, Floats]:
    rates = cell_rates(sums[..., :6])
    rates["accuracy"] = sums[..., 6] / sums[..., 7]
    return rates
