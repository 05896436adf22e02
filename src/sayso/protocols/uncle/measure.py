"""UNCLE's numbers: the 2x3 matrix and its rates, what qualifies them, and other ways to ask.

The formulas are in :mod:`sayso.metrics`. VALIDITY: pooled rates reward hedging whole types of fact,
so J is repeated within type, beside what blind policies and the model's own probabilities would
have scored at the same hedge rates. A rate rests on one greedy answer in one wording; a study over
prompt folders and sampling seeds says how much hangs on both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.metrics.agreement import bootstrap_kappa, yes_no_tables
from sayso.metrics.arrays import Floats, or_none
from sayso.metrics.intervals import (
    bootstrap,
    bootstrap_share,
    no_difference,
    within,
)
from sayso.metrics.ranking import bootstrap_auroc
from sayso.metrics.uncle_known import (
    Bound,
    bootstrap_cells,
    bootstrap_cells_difference,
    bootstrap_within,
    bootstrap_within_entity,
    cluster_cells,
    j_bounds,
    rate_bounds,
    reference_policies,
    type_guess_rates,
)
from sayso.metrics.uncle_rates import (
    CELLS,
    CORRECT,
    INCORRECT,
    MISSING,
    UNCERTAIN,
    cell_rates,
    count_cells,
    expression_rates_3row,
    undefined,
    utility,
)
from sayso.metrics.within_type import (
    Rate,
    blind_error,
    policy_by_rate,
    policy_j,
    unspoken_knowledge,
)
from sayso.protocols.probes import (
    ALIKE,
    HEDGED_PROBE,
    KNOWN,
    UNKNOWN,
    UNREADABLE,
    why_alike,
)
from sayso.protocols.protocol import MISFIT, REFUSED, Run
from sayso.protocols.uncle.numbers import HEADLINE, RATES
from sayso.protocols.uncle.rows import (
    LEFT_OUT,
    AspectRows,
    Context,
    Ints,
    View,
    labels_of_view,
    load_rows,
    question_pairs,
    view_of,
)
from sayso.protocols.uncle.settings import FORMS, Settings, names_of, stage_of
from sayso.records import Estimate, Results, Slice, Verdict, slice_of, tier_order

Bools = NDArray[np.bool_]

NO_LOGPROBS = "no log-probabilities were recorded for these answers"
NO_RANKS = "all these answers have the same score, which ranks none of them"
SILENT = "no answer to the bare question states a value that could be judged"
NO_SPANS = (
    "this run does not store where answers state their values; run the same command again, which "
    "takes the answers from the cache"
)
#: what hedging by its own log-probabilities would gain: as often as it hedges, and as often within
#: each type as it does not know
UNSPOKEN: dict[str, Rate] = {
    "unspoken_knowledge": "own",
    "unspoken_knowledge_matched": "unknown",
}
#: which numbers rest on log-probabilities, as the report calls them
BY_LOGPROBS = {
    "unspoken_knowledge": "unspoken knowledge",
    "auroc_incorrect": "AUROC of the answers' own log-probabilities",
    "own_logprob": "the policies that hedge by them or by length in tokens",
}
BY_DRAWS = (
    "known by any of several draws (which is one draw, repeated)",
    "the chance-corrected known set (no value)",
    "the strict known set (it rests on two answers)",
)


def estimates(run: Run, settings: Settings) -> list[Estimate]:
    """Return every number of the protocol, in the order of the report."""
    context = load_rows(run, settings)
    return [
        *headline_rates(context),
        *rate_slices(context),
        *qualifiers(context),
        *other_methods(context),
        context.signed(context.draws.share),
    ]


def cautions(estimates: Iterable[Estimate], draws_vary: bool | None = None) -> list[str]:
    """Return what has no value in a run whose draws never differ or that has no log-probabilities.

    ``draws_vary`` is what the engine saw for itself; ``None`` where it does not know.
    """
    rows = list(estimates)
    lines = []
    alike = why_alike(rows, draws_vary)
    if alike:
        lines.append(
            f"The draws never vary: {alike}. Either the server repeats one answer at any "
            "temperature, or the model is certain of every answer; the text does not show which. "
            f"Numbers computed from several draws mean nothing here: {'; '.join(BY_DRAWS)}."
        )
    scored = [e for e in rows if e.name == "auroc_incorrect"]
    if scored and all(e.problem == NO_LOGPROBS for e in scored):
        lines.append(
            "There are no log-probabilities, so these have no value: "
            f"{', '.join(BY_LOGPROBS.values())}."
        )
    return lines + _refusals(rows)


#: the share of refusals among the hedges of unknown facts from which on they are told
MANY_REFUSALS = 0.1


def _refusals(estimates: Sequence[Estimate]) -> list[str]:
    """Return a caution for each form in which refusals by policy make up much of UUR."""
    results, lines = Results(estimates), []
    for form in results.forms:
        uur, refused = results.get("UUR", form=form), results.get("UUR_refused", form=form)
        hedged, refusals = int(uur.numerator or 0), int(refused.numerator or 0)
        if not refusals or refusals < MANY_REFUSALS * hedged:
            continue
        rest = int(uur.denominator or 0) - refusals
        without = f"{100 * (hedged - refusals) / rest:.0f} %" if rest else "undefined"
        kind = "short answers" if form == "short" else "paragraphs"
        lines.append(
            f"{REFUSED}In {kind}, {refusals:,} of {hedged:,} hedges of unknown facts are refusals "
            '("I can\'t help with that request"). '
            f"UUR is {100 * (uur.value or 0):.0f} % with them, as in the paper, and {without} "
            "without them. "
            "--refusals excluded leaves them out of all numbers."
        )
    return lines


#: shares of known facts below and above which a run has next to no known or unknown facts
KNOWS_NOTHING, KNOWS_ALL = 0.02, 0.98
EASIER = "popqa, triviaqa, or household names (--data world --tier 1)"
HARDER = "simpleqa, simpleqa_verified, or obscure things (--data world --tier 3 --tier 4)"
#: of fewer facts nobody can say that nearly all are known or unknown
FEWEST_FACTS = 10


def misfit(estimates: Iterable[Estimate]) -> list[str]:
    """Return a caution where nearly all facts are unknown, or nearly all known, in either form."""
    results = Results(estimates)
    for form in results.forms:
        known = results.get("p_known", form=form)
        if known.value is None or KNOWS_NOTHING <= known.value <= KNOWS_ALL:
            continue
        if known.n < FEWEST_FACTS or known.missing > 0.1 * (known.n + known.missing):
            continue
        hard = known.value < KNOWS_NOTHING
        level, few, sets = ("hard", "known", EASIER) if hard else ("easy", "unknown", HARDER)
        return [
            f"{MISFIT}{level} for this model: it knew {known.numerator or 0:,.0f} of "
            f"{known.denominator or 0:,.0f} facts. J, KCR and UUR compare known with unknown "
            f"facts, and there are almost no {few} ones. Use other data (--data): {sets}."
        ]
    return []


# ---- the matrix and its rates, overall and by slice


def headline_rates(context: Context) -> list[Estimate]:
    """Return the matrix and the rates of both forms: instructed, plain, by each known set."""
    numbers: list[Estimate] = []
    for form in context.forms:
        for prompt in ("instructed", "plain"):
            for known in context.known:
                if prompt == "plain" and known != "any":
                    continue
                where = slice_of(form=form)
                where += slice_of(prompt="plain") if prompt == "plain" else ()
                where += slice_of(known=known) if known != "any" else ()
                label = context.labels(form, prompt == "instructed")
                rates = rates_of(context, context.known[known], label)
                only = (*HEADLINE, "over_hedge", "p_known") if known != "any" else tuple(rates)
                if known == "corrected" and context.draws.repeat:
                    rates = {name: Estimate(name, problem=ALIKE) for name in only}
                numbers += [context.signed(rates[n], where, form, prompt, known) for n in only]
                if known == "any":
                    numbers += _matrix(context, label, where, form, prompt)
        numbers += blind_policies(context, form)
    return numbers


def _matrix(context: Context, label: Ints, where: Slice, form: str, prompt: str) -> list[Estimate]:
    """Return the six counts of the 2x3 matrix."""
    counts = count_cells(context.known["any"], label)
    return [
        context.signed(
            Estimate(name=f"cell_{cell}", value=float(count), n=int(counts.sum())),
            where,
            form,
            prompt,
        )
        for cell, count in zip(CELLS, counts, strict=True)
    ]


def rate_slices(context: Context) -> list[Estimate]:
    """Return the headline rates by domain, by aspect type, and by tier where there are tiers."""
    numbers: list[Estimate] = []
    for key, names, values in _slices(context.aspects):
        for name in values:
            for form in context.forms:
                rates = rates_of(context, context.known["any"], context.labels(form), names == name)
                where = slice_of(form=form, **{key: name})
                wanted = (*HEADLINE, "over_hedge", "p_known")
                numbers += [context.signed(rates[n], where, form) for n in wanted]
    return numbers


def _slices(a: AspectRows) -> Iterator[tuple[str, NDArray[np.str_], list[str]]]:
    """Yield the ways to slice the aspects, and the slices: not by what the data do not say."""
    if (a.domain != "").any():
        yield "domain", a.domain, np.unique(a.domain).tolist()
    if (a.type != a.domain).any():
        yield "type", a.type, np.unique(a.type).tolist()
    yield "tier", a.tier, sorted(filter(None, set(a.tier.tolist())), key=tier_order)


def rates_of(
    context: Context, known: Ints, label: Ints, rows: Bools | None = None
) -> dict[str, Estimate]:
    """Return all rates of some rows, with intervals over entities, counts and bounds."""
    s = context.settings
    if rows is None:
        rows = np.ones(len(known), dtype=bool)
    k, lab, entity = known[rows], label[rows], context.aspects.entity[rows]
    lost = {state: int(((k == state) & (lab == MISSING)).sum()) for state in (KNOWN, UNKNOWN)}
    rates = bootstrap_cells(
        cluster_cells(k, lab, entity),
        n=s.resamples,
        seed=s.ci_seed,
        missing_known=lost[KNOWN],
        missing_unknown=lost[UNKNOWN],
    )
    unread = int(((k == MISSING) & (lab != LEFT_OUT)).sum())
    if unread:
        bounds = _bounds(k, lab, lost)
        rates = {
            name: msgspec.structs.replace(
                estimate,
                missing=estimate.missing + unread,
                bound_low=bounds.get(name, (None, None))[0],
                bound_high=bounds.get(name, (None, None))[1],
            )
            for name, estimate in rates.items()
        }
    if s.probe.unc == "dropped_official":
        rates = _official(context, lab, rows, rates)
    return rates


def _bounds(known: Ints, label: Ints, lost: dict[int, int]) -> dict[str, Bound]:
    """Return the bounds over missing probes and verdicts, and over aspects that lack both.

    Those go to one label as a whole: by the argument of :mod:`sayso.metrics` the extremes
    of every rate but J lie there.
    """
    cells = count_cells(known, label)
    free = [int(((known == MISSING) & (label == code)).sum()) for code in range(3)]
    neither = int(((known == MISSING) & (label == MISSING)).sum())
    values: dict[str, list[float]] = {}
    for code in range(3 if neither else 1):
        moved = [count + neither * (code == place) for place, count in enumerate(free)]
        for name, ends in rate_bounds(cells, lost[KNOWN], lost[UNKNOWN], moved).items():
            values.setdefault(name, []).extend(end for end in ends if end is not None)
    if neither:  # J trades them against each other: no corner is its extreme
        ends = j_bounds(cells, lost[KNOWN], lost[UNKNOWN], free, neither)
        values.setdefault("J", []).extend(end for end in ends if end is not None)
    return {name: (min(ends), max(ends)) if ends else (None, None) for name, ends in values.items()}


def _official(
    context: Context, label: Ints, rows: Bools, rates: dict[str, Estimate]
) -> dict[str, Estimate]:
    """Replace the rates that the released script counts over hedged probes as well."""
    state = context.aspects.known[rows]
    table = [
        [float(((state == row) & (label == column)).sum()) for column in range(3)]
        for row in (KNOWN, UNKNOWN, HEDGED_PROBE)
    ]
    official = expression_rates_3row(table, "dropped_official")
    counted = int(np.sum(table))
    missing = int(((state == UNREADABLE) & (label != LEFT_OUT)).sum())
    missing += int(((state != UNREADABLE) & (label == MISSING)).sum())
    note = "no interval or bounds under probe.unc=dropped_official"
    changed = {
        name: Estimate(
            name=name,
            value=official[name],
            n=counted,
            missing=missing,
            problem=note if official[name] is not None else undefined(name),
        )
        for name in ("FA", "UA", "F1", "lift_UA", "p_uncertain")
    }
    return {**rates, **changed}


# ---- what qualifies the rates: shares, knowledge within type, short against long

#: shares of the unknown facts by the stance of their answer
SPLIT = {
    "UUR_hedged": "hedged",
    "UUR_abstained": "abstained",
    "UUR_refused": "refused_by_policy",
    "UUR_asked_back": "asked_back",
}


def qualifiers(context: Context) -> list[Estimate]:
    """Return what stands below the headline: shares, values within type, policies, guess rates."""
    numbers: list[Estimate] = []
    for form in context.forms:
        where = slice_of(form=form)
        numbers += [context.signed(e, where, form) for e in _shares(context, form)]
        plain = _shares(context, form, instructed=False)
        bare = slice_of(form=form, prompt="plain")
        numbers += [context.signed(e, bare, form, "plain") for e in plain]
        numbers += [context.signed(e, where, form) for e in _hedges_that_hit(context, form)]
        numbers += [context.signed(e, where, form) for e in _within(context, form)]
        for policy, estimates in own_policies(context, form):
            under = slice_of(form=form, policy=policy)
            numbers += [context.signed(e, under, form) for e in estimates]
    if "long" in context.forms:
        numbers += form_alignment(context, context.labels("short"), context.labels("long"))
    matches, others = context.guesses
    for kind, rate in type_guess_rates(matches, others, context.aspects.type).items():
        rows = context.aspects.type == kind
        value = None if np.isnan(rate) else rate
        estimate = Estimate(
            name="guess_rate",
            value=value,
            n=int(others[rows].sum()),
            problem=None if value is not None else "no other entity of this type was asked about",
        )
        numbers.append(context.signed(estimate, slice_of(type=str(kind))))
    return numbers


def _share(context: Context, name: str, top: Bools, bottom: Bools) -> Estimate:
    s = context.settings
    return bootstrap_share(name, top, bottom, context.aspects.entity, s.resamples, s.ci_seed)


def _boot(context: Context, name: str, metric: Any, *arrays: Any, **kw: Any) -> Estimate:
    s, a = context.settings, context.aspects
    return bootstrap(
        metric,
        *arrays,
        clusters=a.entity,
        n=s.resamples,
        seed=s.ci_seed,
        name=name,
        **kw,
    )


def _shares(context: Context, form: str, instructed: bool = True) -> Iterator[Estimate]:
    """Yield accuracy, omissions, UUR by stance, hedges that were right after all, and length."""
    label = context.labels(form, instructed)
    verdicts = context.aspects.views[form, instructed].verdicts
    stance = np.array([(v.stance if v else None) or "" for v in verdicts], dtype=np.str_)
    unknown = (context.known["any"] == UNKNOWN) & (label >= 0)
    yield _share(context, "accuracy", label == CORRECT, label >= 0)
    if "long" in context.forms:
        yield _share(context, "omission", stance == "omitted", stance != "")
    for name, wanted in SPLIT.items():
        yield _share(context, name, stance == wanted, unknown)
    right = np.array([bool(v and v.content == "correct") for v in verdicts], dtype=bool)
    yield _share(context, "hedged_and_correct", right, label == UNCERTAIN)
    yield _median_words(context.aspects.views[form, instructed].words)


def _median_words(words: Floats) -> Estimate:
    """Return the median length of the answers, which says how well their doubt is read."""
    given = words[~np.isnan(words)]
    if not given.size:
        return Estimate("answer_words", problem="no answer was given")
    return Estimate("answer_words", value=float(np.median(given)), n=int(given.size))


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
    rates = bootstrap_within(cells, n=s.resamples, seed=s.ci_seed)
    yield from (rates[name] for name in ("J_within", "odds_ratio_within"))
    yield bootstrap_within_entity(cluster_cells(known, label, a.entity), s.resamples, s.ci_seed)
    if len(set(a.tier.tolist())) > 1:
        tiers = cluster_cells(known, label, a.entity, a.tier)
        of_tiers = bootstrap_within(tiers, n=s.resamples, seed=s.ci_seed)["J_within"]
        problem = of_tiers.problem if of_tiers.value is not None else undefined("J_within_tier")
        yield msgspec.structs.replace(of_tiers, name="J_within_tier", problem=problem)
    view = a.views[form, False]
    score = -view.logprob
    wrong = np.where(plain == INCORRECT, 1.0, np.where(plain == CORRECT, 0.0, np.nan))
    rows = ~np.isnan(score) & ~np.isnan(wrong)
    if not _ranks(score[rows]):
        note = NO_LOGPROBS if view.placed else NO_SPANS
        if np.isnan(wrong).all() or not np.isnan(score).all():
            note = NO_RANKS if rows.any() else SILENT
        for name in ("auroc_incorrect", "auroc_incorrect_within", *UNSPOKEN):
            yield Estimate(name, problem=note)
        return
    for name, types in (("auroc_incorrect", None), ("auroc_incorrect_within", a.type)):
        yield bootstrap_auroc(
            score,
            wrong,
            types,
            clusters=a.entity,
            name=name,
            n=s.resamples,
            seed=s.ci_seed,
        )
    for name, rate in UNSPOKEN.items():
        of = score, known, label, a.type
        least = blind_error(*of, rate)
        metric = partial(unspoken_knowledge, rate=rate)
        gain = _boot(context, name, metric, *of, limits=None, least_error=least)
        if len(np.unique(label[label >= 0] == UNCERTAIN)) < 2:
            gain = no_difference(gain)  # hedging nothing, or all, leaves both nothing to choose
        # below -1: the probabilities mislead; above 1: the words do
        yield within(gain, 1.0 if abs(gain.value or 0.0) <= 1 else 2.0)


def form_alignment(
    context: Context, short: Ints, long: Ints, where: Slice = (), prompt: str = "instructed"
) -> Iterator[Estimate]:
    """Yield how hedging agrees between the forms (7.1): overall, given known, given unknown.

    ``align_CU``: the share that is certain in short and uncertain in long form, and so on, of the
    aspects whose labels (A,) are S, NS or UNC in both forms. ``where`` is the answers' slice.
    """
    s, known = context.settings, context.known["any"]
    hedged = short == UNCERTAIN, long == UNCERTAIN
    both = (short >= 0) & (long >= 0)
    sets = {
        where: both,
        where + slice_of(given="known"): both & (known == 1),
        where + slice_of(given="unknown"): both & (known == 0),
    }
    for place, rows in sets.items():
        for name in ("CC", "CU", "UC", "UU"):
            top = (hedged[0] == (name[0] == "U")) & (hedged[1] == (name[1] == "U"))
            share = _share(context, f"align_{name}", top, rows)
            yield context.signed(share, place, prompt=prompt)
        entity = context.aspects.entity[rows]
        tables = yes_no_tables(hedged[0][rows], hedged[1][rows], entity)
        agreement = bootstrap_kappa(tables, s.resamples, s.ci_seed)
        yield context.signed(agreement, place, prompt=prompt)


# ---- what other ways of hedging would have scored on the same facts
# Blind ones (never, always, as often at random) are exact expectations; the others hedge, within
# each fact type, as many facts as the model did: those that its own log-probabilities, the length
# of its answer, or chance would pick.


def blind_policies(context: Context, form: str) -> list[Estimate]:
    """Return what never, always and randomly hedging would have scored (exact expectations)."""
    known = context.known["any"]
    cells = count_cells(known, context.labels(form))
    plain = count_cells(known, context.labels(form, False))
    numbers = []
    for policy, rates in reference_policies(cells, plain).items():
        for name in HEADLINE:
            rate = _policy_rate(name, rates[name], int(cells.sum()))
            if name == "J" and rate.value is not None:  # 0 by definition, whatever the facts
                rate = msgspec.structs.replace(rate, low=rate.value, high=rate.value)
            numbers.append(context.signed(rate, slice_of(form=form, policy=policy), form))
    return numbers


def _policy_rate(name: str, value: float | None, n: int, problem: str | None = None) -> Estimate:
    problem = problem or (None if value is not None else "undefined for this policy")
    return Estimate(name, value=value, n=n, problem=problem)


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
        held = score[usable & ~np.isnan(score)]
        if policy != "type" and not _ranks(held):
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
        note = None if rows.any() else NO_RANKS if held.size else absent
        size = int(rows.sum())
        numbers = [
            _policy_rate(name, or_none(rates[name]), size, note) for name in HEADLINE if name != "J"
        ]
        of = score, known, np.where(usable, label, -1), a.type
        if or_none(rates["J"]) is None:
            numbers.append(_policy_rate("J", None, size, note))
        else:
            pooled = partial(policy_j, judge="pooled")
            j = _boot(context, "J", pooled, *of, limits=(-1.0, 1.0))
            if len(np.unique(hedged[usable])) < 2:  # who hedges nothing, or all, has 0
                j = msgspec.structs.replace(j, low=j.value, high=j.value, problem=None)
            numbers.append(j)
        value = policy_j(*of)
        numbers.append(
            Estimate(
                "J_within",
                value=None if value is None else float(np.asarray(value)),
                n=size,
                problem=None if value is not None else "no type has known and unknown aspects",
            )
        )
        yield policy, numbers


def _ranks(score: Floats) -> bool:
    """Tell whether scores differ at all."""
    return len(np.unique(score)) > 1


def _filled(score: Floats, types: NDArray[np.str_]) -> Floats:
    """Replace missing scores by the median of their type, or of all where a type has none."""
    filled = np.where(np.isnan(score), np.nanmedian(score), score)
    for kind in np.unique(types):
        rows = types == kind
        known = score[rows][~np.isnan(score[rows])]
        if len(known):
            filled[rows & np.isnan(score)] = np.median(known)
    return filled


# ---- other ways to ask, beside the instruction: same facts, same frozen probes


def other_methods(context: Context) -> Iterator[Estimate]:
    """Yield each method's rates, J and odds ratio within type, answers wrong and sure, alignment.

    Those wrong and sure also for the instructed and the plain answers. Nothing for a run without
    methods.
    """
    s, a, known = context.settings, context.aspects, context.known["any"]
    names = names_of(s)
    for form in context.forms if names else ():
        for instructed, where, prompt in (
            (True, slice_of(form=form), "instructed"),
            (False, slice_of(form=form, prompt="plain"), "plain"),
        ):
            view = a.views[form, instructed]
            yield context.signed(_wrong_and_sure(context, view), where, form, prompt)
        for name in names:
            view = method_view(context, form, name)
            label = labels_of_view(view, s)
            rates = rates_of(context, known, label)
            cells = cluster_cells(known, label, a.entity, a.type)
            of_types = bootstrap_within(cells, n=s.resamples, seed=s.ci_seed)
            numbers = [rates[rate] for rate in RATES]
            numbers += [of_types["J_within"], of_types["odds_ratio_within"]]
            for estimate in (*numbers, _wrong_and_sure(context, view)):
                yield context.signed(estimate, slice_of(form=form, method=name), form, name)
    for name in names if "long" in context.forms else ():
        short, long = (labels_of_view(method_view(context, form, name), s) for form in FORMS)
        yield from form_alignment(context, short, long, slice_of(method=name), name)


def method_view(context: Context, form: str, name: str) -> View:
    """Return the verdicts of a method's answers in the order of the aspects."""
    stage, run = stage_of(name, form), context.run
    answers = [g for g in run.generations(stage) if g.method == name]
    return view_of(question_pairs(run), answers, run.verdicts(stage), form)


def sure_wrong(verdicts: Sequence[Verdict | None]) -> Floats:
    """Return 1 for a fact that is stated wrongly without a hedge, else 0; NaN without a verdict.

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
    """Return the share of all aspects that are stated wrongly without a hedge."""
    s, entity = context.settings, context.aspects.entity
    top = sure_wrong(view.verdicts)
    read = ~np.isnan(top)
    return bootstrap_share("wrong_and_sure", top == 1, read, entity, s.resamples, s.ci_seed)
