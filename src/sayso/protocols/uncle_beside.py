"""The numbers of other ways to ask, beside the instruction's: same facts, same frozen probes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sayso.metrics.cells import bootstrap_within, cluster_cells
from sayso.metrics.rates import Floats
from sayso.metrics.shares import bootstrap_share
from sayso.protocols.aspects import View, pairs_of, view_of
from sayso.protocols.uncle_context import HEADLINE, Context, label_codes
from sayso.protocols.uncle_methods import FORMS, stage_of
from sayso.protocols.uncle_numbers import rates_of
from sayso.protocols.uncle_settings import names_of
from sayso.records import Estimate, Verdict

#: rates of each method and form
RATES = (*HEADLINE, "over_hedge", "p_uncertain")


def beside(context: Context) -> Iterator[Estimate]:
    """Yield each method's rates, J and odds ratio within type, and answers wrong and sure.

    The last also for the instructed and the plain answers. Nothing for a run without methods.
    """
    s, a, known = context.settings, context.aspects, context.known["any"]
    names = names_of(s)
    for form in FORMS if names else ():
        for instructed, where, prompt in (
            (True, f"form:{form}", "instructed"),
            (False, f"form:{form};prompt:plain", "plain"),
        ):
            view = a.views[form, instructed]
            yield context.signed(_wrong_and_sure(context, view), where, form, prompt)
        for name in names:
            view = method_view(context, form, name)
            label = label_codes(view, s)
            rates = rates_of(context, known, label)
            cells = cluster_cells(known, label, a.entity, a.type)
            within = bootstrap_within(cells, n=s.resamples, seed=s.ci_seed)
            found = [rates[rate] for rate in RATES]
            found += [within["J_within"], within["odds_ratio_within"]]
            for estimate in (*found, _wrong_and_sure(context, view)):
                yield context.signed(estimate, f"form:{form};method:{name}", form, name)


def method_view(context: Context, form: str, name: str) -> View:
    """Return the verdicts of a method's answers in the order of the aspects."""
    stage, run = stage_of(name, form), context.run
    said = [g for g in run.generations(stage) if g.method == name]
    return view_of(pairs_of(run), said, run.verdicts(stage), form)


def sure_wrong(verdicts: Sequence[Verdict | None]) -> Floats:
    """Return 1 for what is told wrongly and without a hedge, else 0; NaN where nobody could read.

    A fact that a paragraph leaves out misleads nobody: 0, though UNCLE counts it as wrong.
    """
    return np.array(
        [
            float(v.stance == "committed" and v.content == "incorrect")
            if v is not None and v.value is not None
            else np.nan
            for v in verdicts
        ],
        dtype=np.float64,
    )


def _wrong_and_sure(context: Context, view: View) -> Estimate:
    """Return the share of all aspects that are told wrongly and without a hedge."""
    s, entity = context.settings, context.aspects.entity
    top = sure_wrong(view.verdicts)
    read = ~np.isnan(top)
    return bootstrap_share("wrong_and_sure", top == 1, read, entity, s.resamples, s.ci_seed)
