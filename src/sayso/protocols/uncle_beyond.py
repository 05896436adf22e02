"""What qualifies UNCLE's rates: knowledge within type, hedges that hit, short against long.

VALIDITY: pooled rates reward hedging whole aspect types. So J is repeated within type, beside
what the model's own probabilities would have allowed at the same hedge rates.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sayso.metrics.agreement import kappa
from sayso.metrics.cells import bootstrap_cells_difference, bootstrap_within, cluster_cells
from sayso.metrics.chance import type_guess_rates
from sayso.metrics.intervals import bootstrap
from sayso.metrics.rates import CORRECT, INCORRECT, UNCERTAIN, count_cells, utility
from sayso.metrics.roc import within_auroc
from sayso.metrics.shares import bootstrap_share
from sayso.metrics.within import j_within, unspoken_knowledge
from sayso.protocols.aspects import UNKNOWN
from sayso.protocols.uncle_cautions import NO_LOGPROBS, NO_SPANS
from sayso.protocols.uncle_context import Context
from sayso.protocols.uncle_policies import own_policies
from sayso.records import Estimate

Bools = NDArray[np.bool_]
SPLIT = {
    "UUR_hedged": "hedged",
    "UUR_abstained": "abstained",
    "UUR_refused": "refused_by_policy",
    "UUR_asked_back": "asked_back",
}


def beyond(context: Context) -> list[Estimate]:
    """Return everything that stands below the headline."""
    found: list[Estimate] = []
    for form in ("short", "long"):
        place = f"form:{form}"
        found += [context.signed(e, place, form) for e in _shares(context, form)]
        plain = _shares(context, form, instructed=False)
        found += [context.signed(e, f"{place};prompt:plain", form, "plain") for e in plain]
        found += [context.signed(e, place, form) for e in _hedges_that_hit(context, form)]
        found += [context.signed(e, place, form) for e in _within(context, form)]
        for policy, estimates in own_policies(context, form):
            found += [context.signed(e, f"{place};policy:{policy}", form) for e in estimates]
    found += _alignment(context)
    matches, others = context.guesses
    for kind, rate in type_guess_rates(matches, others, context.aspects.type).items():
        rows = context.aspects.type == kind
        value = None if np.isnan(rate) else rate
        made = Estimate(
            name="guess_rate",
            value=value,
            n=int(others[rows].sum()),
            problem=None if value is not None else "no other entity of this type was asked about",
        )
        found.append(context.signed(made, f"type:{kind}"))
    return found


def _share(context: Context, name: str, top: Bools, bottom: Bools) -> Estimate:
    s = context.settings
    return bootstrap_share(name, top, bottom, context.aspects.entity, s.resamples, s.ci_seed)


def _boot(context: Context, name: str, metric: Any, *arrays: Any, **kw: Any) -> Estimate:
    s, a = context.settings, context.aspects
    crossed = a.type if s.ci == "entity-by-type" else None
    return bootstrap(
        metric,
        *arrays,
        clusters=a.entity,
        crossed=crossed,
        n=s.resamples,
        seed=s.ci_seed,
        name=name,
        **kw,
    )


def _stances(context: Context, form: str, instructed: bool = True) -> NDArray[np.str_]:
    verdicts = context.aspects.views[form, instructed].verdicts
    return np.array([(v.stance if v else None) or "" for v in verdicts], dtype=np.str_)


def _shares(context: Context, form: str, instructed: bool = True) -> Iterator[Estimate]:
    """Yield accuracy, omissions, UUR by stance, and hedges that were right after all."""
    label, stance = context.labels(form, instructed), _stances(context, form, instructed)
    unknown = (context.known["any"] == UNKNOWN) & (label >= 0)
    yield _share(context, "accuracy", label == CORRECT, label >= 0)
    yield _share(context, "omission", stance == "omitted", stance != "")
    for name, wanted in SPLIT.items():
        yield _share(context, name, stance == wanted, unknown)
    verdicts = context.aspects.views[form, instructed].verdicts
    right = np.array([bool(v and v.content == "correct") for v in verdicts], dtype=bool)
    yield _share(context, "hedged_and_correct", right, label == UNCERTAIN)


def _hedges_that_hit(context: Context, form: str) -> Iterator[Estimate]:
    """Yield hedge precision and recall on wrong un-instructed answers; the instruction's cost."""
    s = context.settings
    label, plain = context.labels(form), context.labels(form, False)
    committed = (plain == CORRECT) | (plain == INCORRECT)
    hedged, wrong = label == UNCERTAIN, plain == INCORRECT
    yield _share(context, "hedge_precision", wrong, hedged & committed)
    yield _share(context, "hedge_recall", hedged, wrong & (label >= 0))
    both = np.where((label >= 0) & (plain >= 0), context.known["any"], -1)
    first, second = (cluster_cells(both, x, context.aspects.entity) for x in (plain, label))
    cost = bootstrap_cells_difference(first, second, s.resamples, s.ci_seed)["KCR"]
    yield Estimate(
        "instruction_cost", value=cost.value, low=cost.low, high=cost.high, n=cost.n,
        problem=cost.problem,
    )  # fmt: skip
    pays = utility(count_cells(both, label), 1.0, never=count_cells(both, plain))["break_even"]
    note = None if pays is not None else "hedging does not reduce the number of wrong answers"
    yield Estimate("break_even_cost", value=pays, n=int((both >= 0).sum()), problem=note)


def _within(context: Context, form: str) -> Iterator[Estimate]:
    """Yield J and the odds ratio within type, AUROC of the own log-prob, unspoken knowledge."""
    s, a = context.settings, context.aspects
    known, label, plain = context.known["any"], context.labels(form), context.labels(form, False)
    cells = cluster_cells(known, label, a.entity, a.type)
    if s.ci == "entity-by-type":
        yield _boot(context, "J_within", j_within, known, label, a.type, limits=(-1.0, 1.0))
    else:
        within = bootstrap_within(cells, n=s.resamples, seed=s.ci_seed)
        yield from (within[name] for name in ("J_within", "odds_ratio_within"))
    view = a.views[form, False]
    score = -view.logprob
    wrong = np.where(plain == INCORRECT, 1.0, np.where(plain == CORRECT, 0.0, np.nan))
    rows = ~np.isnan(score) & ~np.isnan(wrong)
    if not rows.any():
        silent = "no answer to the bare question states a value that could be judged"
        note = silent if np.isnan(wrong).all() else NO_LOGPROBS if view.placed else NO_SPANS
        yield Estimate("auroc_incorrect", problem=note)
        yield Estimate("auroc_incorrect_within", problem=note)
        yield Estimate("unspoken_knowledge", problem=note)
        return
    yield _boot(context, "auroc_incorrect", within_auroc, score, wrong, types=None)
    yield _boot(context, "auroc_incorrect_within", within_auroc, score, wrong, types=a.type)
    yield _boot(
        context, "unspoken_knowledge", unspoken_knowledge, score, known, label, a.type, limits=None
    )


def _alignment(context: Context) -> Iterator[Estimate]:
    """Yield how hedging agrees between the forms (7.1): overall, given known, given unknown.

    ``align_CU``: the share that is certain in short and uncertain in long form, and so on.
    """
    s, known = context.settings, context.known["any"]
    short, long = context.labels("short"), context.labels("long")
    hedged = short == UNCERTAIN, long == UNCERTAIN
    both = (short >= 0) & (long >= 0)
    sets = {"all": both, "given:known": both & (known == 1), "given:unknown": both & (known == 0)}
    for where, rows in sets.items():
        for name in ("CC", "CU", "UC", "UU"):
            top = (hedged[0] == (name[0] == "U")) & (hedged[1] == (name[1] == "U"))
            yield context.signed(_share(context, f"align_{name}", top, rows), where)
        made = bootstrap(
            kappa,
            hedged[0][rows],
            hedged[1][rows],
            clusters=context.aspects.entity[rows],
            n=s.resamples,
            seed=s.ci_seed,
            limits=(-1.0, 1.0),
            name="kappa",
        )
        yield context.signed(made, where)
