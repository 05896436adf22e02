"""What other ways of hedging would have scored on the same facts.

Blind ones (never, always, as often at random) are exact expectations; the others hedge, within each
fact type, as many facts as the model did: those that its own log-probabilities, the length of its
answer, or chance would pick (VALIDITY 2).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sayso.metrics.rates import UNCERTAIN, Floats, cell_rates, count_cells
from sayso.metrics.reference import reference_policies
from sayso.metrics.within import policy_by_rate, policy_j
from sayso.protocols.aspects import KNOWN, UNKNOWN
from sayso.protocols.uncle_cautions import NO_SPANS
from sayso.protocols.uncle_context import HEADLINE, Context
from sayso.records import Estimate


def blind_policies(context: Context, form: str) -> list[Estimate]:
    """Return what never, always and randomly hedging would have scored (exact expectations)."""
    known = context.known["any"]
    cells = count_cells(known, context.labels(form))
    plain = count_cells(known, context.labels(form, False))
    found = []
    for policy, rates in reference_policies(cells, plain).items():
        for name in HEADLINE:
            made = Estimate(
                name=name,
                value=rates[name],
                n=int(cells.sum()),
                problem=None if rates[name] is not None else "undefined for this policy",
            )
            found.append(context.signed(made, f"form:{form};policy:{policy}", form))
    return found


def own_policies(context: Context, form: str) -> Iterator[tuple[str, list[Estimate]]]:
    """Yield the rates of hedging by own log-prob, type and length at each type's own rate.

    On the same aspects as the model: one whose answer carries no value, hence no score, ranks in
    the middle of its type.
    """
    a, known, label = context.aspects, context.known["any"], context.labels(form)
    plain = context.labels(form, False)
    view = a.views[form, False]
    scores = {"own_logprob": -view.logprob, "length": view.length, "type": np.zeros(a.size)}
    usable = (known >= 0) & (label >= 0) & (plain >= 0)
    hedged = np.where(usable, (label == UNCERTAIN).astype(np.float64), np.nan)
    for policy, score in scores.items():
        if not (usable & ~np.isnan(score)).any():
            score = np.full(a.size, np.nan)
        else:
            score = _filled(score, a.type)
        member = policy_by_rate(np.where(usable, score, np.nan), a.type, hedged)
        rows = ~np.isnan(member)
        cells = np.zeros(6)
        for column in range(3):
            weight = np.where(plain == column, 1 - member, 0.0) + (column == UNCERTAIN) * member
            for row, state in enumerate((KNOWN, UNKNOWN)):
                cells[3 * row + column] = weight[rows & (known == state)].sum()
        rates = cell_rates(cells)
        absent = "no score was recorded for these answers" if view.placed else NO_SPANS
        note = None if rows.any() else absent
        made = [
            Estimate(
                name,
                value=None if np.isnan(rates[name]) else float(rates[name]),
                n=int(rows.sum()),
                problem=note or ("undefined for this policy" if np.isnan(rates[name]) else None),
            )
            for name in HEADLINE
        ]
        value = policy_j(score, known, np.where(usable, label, -1), a.type)
        made.append(
            Estimate(
                "J_within",
                value=None if value is None else float(np.asarray(value)),
                n=int(rows.sum()),
                problem=None if value is not None else "no type has known and unknown aspects",
            )
        )
        yield policy, made


def _filled(score: Floats, types: NDArray[np.str_]) -> Floats:
    """Replace missing scores by the median of their type, or of all where a type has none."""
    filled = np.where(np.isnan(score), np.nanmedian(score), score)
    for kind in np.unique(types):
        rows = types == kind
        known = score[rows][~np.isnan(score[rows])]
        if len(known):
            filled[rows & np.isnan(score)] = np.median(known)
    return filled
