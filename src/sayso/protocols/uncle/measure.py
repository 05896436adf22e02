"""UNCLE's numbers: the 2x3 matrix and its rates, what qualifies them, and other ways to ask.

The formulas are in :mod:`sayso.metrics`. VALIDITY: pooled rates reward hedging whole types of fact,
so J is repeated within type, beside what blind policies and the model's own probabilities would
have scored at the same hedge rates. A rate rests on one greedy answer in one wording; a study over
prompt folders and sampling seeds says how much hangs on both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.metrics.agreement import bootstrap_kappa, kappa_of_table
from sayso.metrics.arrays import Floats, divide, or_none
from sayso.metrics.intervals import bootstrap, no_difference, within
from sayso.metrics.ranking import auroc, bootstrap_auroc, within_auroc
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
    SHARES,
    UNCERTAIN,
    cell_index,
    cell_rates,
    count_cells,
    expression_rates_3row,
    undefined,
    utility,
)
from sayso.metrics.uncle_rates import RATES as ALL_RATES
from sayso.metrics.within_type import (
    Rate,
    blind_error,
    j_within,
    policy_by_rate,
    policy_j,
    unspoken_knowledge,
    within_rates,
)
from sayso.protocols.declared import (
    RUN,
    Counted,
    Declared,
    Rows,
    Sums,
    Use,
    Weighted,
    estimates_of,
    ones,
    share_of_rows,
)
from sayso.protocols.pool import cluster_names
from sayso.protocols.probes import (
    ALIKE,
    HEDGED_PROBE,
    KNOWN,
    UNKNOWN,
    UNREADABLE,
    why_alike,
)
from sayso.protocols.protocol import MISFIT, REFUSED, Beside, ComparedRun, Run
from sayso.protocols.uncle.numbers import COMPARED, HEADLINE, NUMBERS, RATES
from sayso.protocols.uncle.rows import (
    LEFT_OUT,
    RENAMED,
    Context,
    Ints,
    View,
    compared_rows,
    labels_of_view,
    load_rows,
    probes_hash,
    question_pairs,
    share_paragraphs,
    view_of,
)
from sayso.protocols.uncle.settings import FORMS, Settings, names_of, stage_of
from sayso.records import (
    Estimate,
    Results,
    Signature,
    Slice,
    Verdict,
    part_of,
    slice_of,
    tier_order,
)

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


def numbers(
    run: Run, settings: Settings, people: Run | None = None, beside: Beside | None = None
) -> list[Declared]:
    """Return the numbers of a run, declared: of it alone, as people read it, or beside others.

    Guess rates, and what rests on them, are only of a run alone.
    """
    if people is not None:
        return list(_headline(_FactRows(load_rows(run, settings, guesses=False, answers=people))))
    if beside is None:
        return _of_a_run(load_rows(run, settings))
    higher = None if _borrowed(beside.models)[0] else NUMBERS["p_known"].higher
    apart = not all(share_paragraphs(run, one.run) for one in beside.models)
    facts = _FactRows(compared_rows(run, settings), apart=apart, higher=higher)
    return [*_headline(facts), *_compared(facts)]


def estimates(run: Run, settings: Settings) -> list[Estimate]:
    """Return the estimate of every number of a run, then what is no statistic of facts."""
    context = load_rows(run, settings)
    declared = estimates_of(_of_a_run(context), settings.resamples, settings.ci_seed)
    others = median_words, blind_policies, own_policies, guesses
    more = [e for of in others for e in of(context)]
    return [*declared, *more, context.signed(context.draws.share)]


def _of_a_run(context: Context) -> list[Declared]:
    """Return all numbers that a run has by itself."""
    facts = _FactRows(context)
    numbers = [
        *_headline(facts),
        *_by_known_set(facts),
        *_slices(facts),
        *_compared(facts),
        *_qualifiers(facts),
    ]
    if "long" in context.forms:
        numbers += _alignments(facts, context.labels("short"), context.labels("long"))
    return [*numbers, *_methods(facts)]


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


#: rates of slices, and by other rules of what is known
SLICED = (*HEADLINE, "over_hedge", "p_known")
#: every rate, as estimates are called, and the counts of the matrix
NAMES = tuple(RENAMED.get(name, name) for name in ALL_RATES)
COUNTS = tuple(f"cell_{cell}" for cell in CELLS)

# ---- families of numbers: functions of the sums of facts by cell, by pair of cells, and by label


def _of_cells(cells: Floats) -> dict[str, Floats]:
    """Return every rate, and the counts, of matrices (..., 6)."""
    counts = {f"cell_{cell}": cells[..., place] for place, cell in enumerate(CELLS)}
    return {RENAMED.get(name, name): rate for name, rate in cell_rates(cells).items()} | counts


def _rates(cells: Floats, n: int, seed: int) -> dict[str, Estimate]:
    """Return every rate with its interval, and the counts, of matrices by entity (C, 6)."""
    total = cells.sum(axis=0)
    rates = bootstrap_cells(cells, n=n, seed=seed)
    counts = {
        f"cell_{cell}": Estimate(f"cell_{cell}", value=float(count), n=int(total.sum()))
        for cell, count in zip(CELLS, total, strict=True)
    }
    return {RENAMED.get(name, name): rate for name, rate in rates.items()} | counts


def _of_types(cells: Floats) -> dict[str, Floats]:
    """Return J and the odds ratio within type of matrices by type (..., T, 6)."""
    rates = within_rates(cells)
    return {
        "J_within": rates["J_within"],
        "odds_ratio_within": np.exp(rates["log_odds_within"]),
    }


def _within_types(cells: Floats, n: int, seed: int) -> dict[str, Estimate]:
    return bootstrap_within(cells, n=n, seed=seed)


def _within_tiers(cells: Floats, n: int, seed: int) -> dict[str, Estimate]:
    j = bootstrap_within(cells, n=n, seed=seed)["J_within"]
    name = "J_within_tier"
    return {name: j if j.value is not None else msgspec.structs.replace(j, problem=undefined(name))}


def _within_entities(
    known: Ints, label: Ints, entity: Ints, clusters: Ints, n: int, seed: int
) -> Estimate:
    return bootstrap_within_entity(cluster_cells(known, label, clusters), n, seed)


def _of_tiers(cells: Floats) -> dict[str, Floats]:
    return {"J_within_tier": within_rates(cells)["J_within"]}


def _of_instruction(cells: Floats) -> dict[str, Floats]:
    """Return what the instruction costs, of matrices (..., 12): without it, and with it."""
    plain, told = cells[..., :6], cells[..., 6:]
    right, wrong = ((plain - told)[..., [place, place + 3]].sum(axis=-1) for place in (0, 1))
    return {
        "instruction_cost": cell_rates(plain)["KCR"] - cell_rates(told)["KCR"],
        "break_even_cost": divide(right, np.maximum(wrong, 0.0)),
    }


def _instruction(cells: Floats, n: int, seed: int) -> dict[str, Estimate]:
    plain, told = cells[:, :6], cells[:, 6:]
    total = told.sum(axis=0)
    pays = utility(total, 1.0, never=plain.sum(axis=0))["break_even"]
    note = None if pays is not None else "hedging does not reduce the number of wrong answers"
    return {
        "instruction_cost": bootstrap_cells_difference(plain, told, n, seed)["KCR"],
        "break_even_cost": Estimate(
            "break_even_cost", value=pays, n=int(total.sum()), problem=note
        ),
    }


def _of_tables(tables: Floats) -> dict[str, Floats]:
    return {"kappa": kappa_of_table(tables.reshape(*tables.shape[:-1], 2, 2))}


def _kappa(tables: Floats, n: int, seed: int) -> dict[str, Estimate]:
    return {"kappa": bootstrap_kappa(tables, n, seed)}


def _of_script(tables: Floats) -> dict[str, Floats]:
    """Return the rates that the released script counts over hedged probes, of tables (..., 9)."""
    every = [_script_rates(table) for table in tables.reshape(-1, 9)]
    return {
        name: np.array([one[name] for one in every], np.float64).reshape(tables.shape[:-1])
        for name in OF_SCRIPT
    }


def _script_rates(table: Floats) -> dict[str, float | None]:
    rates = expression_rates_3row(table.reshape(3, 3), "dropped_official")
    return {RENAMED.get(name, name): rate for name, rate in rates.items()}


def _script(tables: Floats, n: int, seed: int) -> dict[str, Estimate]:
    total = tables.sum(axis=0)
    rates, size = _script_rates(total), int(total.sum())
    note = "no interval or bounds under probe.unc=dropped_official"
    return {
        name: Estimate(
            name, value=rates[name], n=size,
            problem=undefined(name) if rates[name] is None else note,
        )
        for name in OF_SCRIPT
    }  # fmt: skip


def _of_equal_draws(cells: Floats, n: int, seed: int) -> dict[str, Estimate]:
    return {name: Estimate(name, problem=ALIKE) for name in SLICED}


def _of_prompt(form: str, instructed: bool) -> tuple[Slice, str]:
    """Return the slice of the answers with or without the instruction, and their prompt."""
    if instructed:
        return slice_of(form=form), "instructed"
    return slice_of(form=form, prompt="plain"), "plain"


#: rates that the released script counts over hedged probes as well
OF_SCRIPT = ("FA", "UA", "F1_uncertain", "lift_UA", "p_uncertain")
MATRIX = Sums(_of_cells, 6, _rates, shares=SHARES)
SCRIPT = Sums(_of_script, 9, _script)
#: chance-corrected knowledge has no value where draws are one draw, repeated
EQUAL_DRAWS = MATRIX._replace(own=_of_equal_draws)
WITHIN_TYPE = Sums(_of_types, 6, _within_types)
WITHIN_TIER = Sums(_of_tiers, 6, _within_tiers)
WITHIN_ENTITY = Weighted(j_within, _within_entities)
INSTRUCTION = Sums(_of_instruction, 12, _instruction)
KAPPA = Sums(_of_tables, 4, _kappa)


# ---- facts, and what is declared of them


class _FactRows:
    """The facts of a run as rows, and the settings behind numbers of them.

    Two runs are joined by paragraph and fact, or, ``apart``, by the facts alone. ``higher`` is
    whether it is better to know more: not where that is another model's knowledge.
    """

    def __init__(
        self, context: Context, *, apart: bool = False, higher: bool | None = True
    ) -> None:
        self.context, self.apart, self.higher = context, apart, higher
        self.aspects, self.known = context.aspects, context.known["any"]
        self.pairs = question_pairs(context.run)
        clusters = cluster_names(context.run.questions)
        self.names = np.array([clusters[q.id] for q in self.aspects.questions], dtype=np.str_)
        self.signatures: dict[tuple[str, str, str], Signature] = {}
        views = self.aspects.views
        self.rows = {place: self.rows_of(place[0], view) for place, view in views.items()}

    def rows_of(self, form: str, view: View) -> Rows:
        """Return the facts with the verdicts of one view."""
        apart = self.apart and form == "short"
        return Rows(
            [("" if apart or long is None else long.id, short.id) for long, short in self.pairs],
            self.aspects.entity,
            self.names,
            form,
            [(v.target, v.asked) if v else None for v in view.verdicts],
            labels_of_view(view, self.context.settings) != MISSING,
        )

    def number(
        self,
        name: str,
        where: Slice,
        of: Counted,
        asked: tuple[str, str] = ("instructed", "any"),
        uses: frozenset[Use] = RUN,
    ) -> Declared:
        """Return a number of facts; ``asked`` is the prompt, and the rule of what is known."""
        place = part_of(where, "form"), *asked
        if place not in self.signatures:
            self.signatures[place] = self.context.signature(*place)
        metric = NUMBERS[name]
        higher = self.higher if name == "p_known" else metric.higher
        return Declared(name, where, of, self.signatures[place], uses, metric.limits, higher)

    def declared_share(
        self, name: str, where: Slice, top: Bools, bottom: Bools, prompt: str = "instructed"
    ) -> Declared:
        """Return a share of facts that is of the run alone."""
        of = Counted(next(iter(self.rows.values())), share_of_rows(name), [ones(top, bottom)])
        return self.number(name, where, of, (prompt, "any"))


class _Cells(NamedTuple):
    """Some facts by cell: what their rates are made of, with bounds over what is missing."""

    of: Counted
    missing: int
    bounds: dict[str, Bound]
    #: the same for the rates of the released script, if they are wanted
    of_script: tuple[Counted, int] | None


def _cells(
    facts: _FactRows, rows: Rows, known: Ints, label: Ints, use: Bools | None = None
) -> _Cells:
    """Return the facts of ``rows`` that are in ``use`` by cell."""
    state = facts.aspects.known
    if use is not None:
        rows, known, label, state = rows.take(use), known[use], label[use], state[use]
    lost = {k: int(((known == k) & (label == MISSING)).sum()) for k in (KNOWN, UNKNOWN)}
    unread = int(((known == MISSING) & (label != LEFT_OUT)).sum())
    if unread:
        bounds = _bounds(known, label, lost)
    else:
        bounds = rate_bounds(count_cells(known, label), lost[KNOWN], lost[UNKNOWN])
    of_script = None
    if facts.context.settings.probe.unc == "dropped_official":
        row = np.select([state == one for one in (KNOWN, UNKNOWN, HEDGED_PROBE)], range(3), -1)
        column = np.where((row < 0) | (label < 0), -1, 3 * row + label)
        gone = (state == UNREADABLE) & (label != LEFT_OUT)
        gone |= (state != UNREADABLE) & (label == MISSING)
        of_script = Counted(rows, SCRIPT, [column]), int(gone.sum())
    return _Cells(
        Counted(rows, MATRIX, [cell_index(known, label)], (known == MISSING) | (label == MISSING)),
        lost[KNOWN] + lost[UNKNOWN] + unread,
        {RENAMED.get(name, name): ends for name, ends in bounds.items()},
        of_script,
    )


def _rates_of(
    facts: _FactRows,
    cells: _Cells,
    names: Iterable[str],
    where: Slice,
    asked: tuple[str, str] = ("instructed", "any"),
    uses: Callable[[str], frozenset[Use]] = lambda name: RUN,
) -> Iterator[Declared]:
    """Yield rates of facts by cell."""
    for name in names:
        used = uses(name)
        if cells.of_script is not None and name in OF_SCRIPT:
            of, missing = cells.of_script
            used -= RUN
            yield facts.number(name, where, of, asked)._replace(missing=missing)
        yield facts.number(name, where, cells.of, asked, used)._replace(
            missing=cells.missing, bounds=cells.bounds.get(name, (None, None))
        )


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


# ---- rates of both forms, told to express uncertainty or not, and what else is compared


def _headline(facts: _FactRows) -> Iterator[Declared]:
    """Yield the rates of both forms, the counts of the matrix, and accuracy."""
    official = facts.context.settings.probe.unc == "dropped_official"
    people: frozenset[Use] = RUN if official else RUN | {"people"}

    def uses(name: str, instructed: bool) -> frozenset[Use]:
        pair: frozenset[Use] = frozenset({"pair"} if name in COMPARED else ())
        study: frozenset[Use] = frozenset({"study"} if name in NUMBERS.studied else ())
        used = people if name != "p_known" else RUN
        return used | pair | study if instructed else used

    for form, instructed in product(facts.context.forms, (True, False)):
        rows, label = facts.rows[form, instructed], facts.context.labels(form, instructed)
        where, prompt = _of_prompt(form, instructed)
        cells = _cells(facts, rows, facts.known, label)
        yield from _rates_of(
            facts, cells, NAMES, where, (prompt, "any"), partial(uses, instructed=instructed)
        )
        for name in COUNTS:
            yield facts.number(name, where, cells.of, (prompt, "any"))
        right = Counted(rows, share_of_rows("accuracy"), [ones(label == CORRECT, label >= 0)])
        yield facts.number("accuracy", where, right, (prompt, "any"), people)


def _compared(facts: _FactRows) -> Iterator[Declared]:
    """Yield J within type, and rates on the facts that both of two runs know, or do not know."""
    pair: frozenset[Use] = frozenset({"pair"})
    for form in facts.context.forms:
        where, rows = slice_of(form=form), facts.rows[form, True]
        known, label = facts.known, facts.context.labels(form)
        cell, lost = cell_index(known, label), (known == MISSING) | (label == MISSING)
        for given, state, names in (
            ("known", KNOWN, ("KCR", "over_hedge")),
            ("unknown", UNKNOWN, ("UUR",)),
        ):
            of = Counted(rows, MATRIX, [np.where(known == state, cell, -1)], lost)
            for name in names:
                yield facts.number(name, where + slice_of(given=given), of, uses=pair)
        within = Counted(rows, WITHIN_TYPE, [cell], lost, kinds=facts.aspects.type)
        yield facts.number("J_within", where, within, uses=RUN | {"pair", "study"})
        yield facts.number("odds_ratio_within", where, within)


def _by_known_set(facts: _FactRows) -> Iterator[Declared]:
    """Yield the headline rates by other rules of what is known."""
    context = facts.context
    for form, (rule, known) in product(context.forms, context.known.items()):
        if rule == "any":
            continue
        where = slice_of(form=form, known=rule)
        cells = _cells(facts, facts.rows[form, True], known, context.labels(form))
        if rule == "corrected" and context.draws.repeat:
            alike = Counted(cells.of.rows, EQUAL_DRAWS, cells.of.columns)
            cells = _Cells(alike, 0, {}, None)
        yield from _rates_of(facts, cells, SLICED, where, ("instructed", rule))


def _slices(facts: _FactRows) -> Iterator[Declared]:
    """Yield the headline rates by domain, by type of fact, and by tier where there are tiers.

    Not by what the data do not say.
    """
    a = facts.aspects
    columns = {"domain": a.domain, "type": a.type, "tier": a.tier}
    if not (a.domain != "").any():
        del columns["domain"]
    if not (a.type != a.domain).any():
        del columns["type"]
    for key, column in columns.items():
        values = np.unique(column).tolist()
        if key == "tier":
            values = sorted(filter(None, values), key=tier_order)
        for value, form in product(values, facts.context.forms):
            label, use = facts.context.labels(form), column == value
            cells = _cells(facts, facts.rows[form, True], facts.known, label, use)
            yield from _rates_of(facts, cells, SLICED, slice_of(form=form, **{key: value}))


# ---- what qualifies the rates: shares, knowledge within type, short against long

#: shares of the unknown facts by the stance of their answer
SPLIT = {
    "UUR_hedged": "hedged",
    "UUR_abstained": "abstained",
    "UUR_refused": "refused_by_policy",
    "UUR_asked_back": "asked_back",
}


def _qualifiers(facts: _FactRows) -> Iterator[Declared]:
    """Yield omissions, UUR by stance, hedges that were right after all, and values within groups.

    Hedge precision and recall are on wrong answers without the instruction.
    """
    context, a = facts.context, facts.aspects
    for form, instructed in product(context.forms, (True, False)):
        where, prompt = _of_prompt(form, instructed)
        label, verdicts = context.labels(form, instructed), a.views[form, instructed].verdicts
        stance = np.array([(v.stance if v else None) or "" for v in verdicts], dtype=np.str_)
        unknown = (facts.known == UNKNOWN) & (label >= 0)
        right = np.array([bool(v and v.content == "correct") for v in verdicts], dtype=bool)
        of_share = partial(facts.declared_share, where=where, prompt=prompt)
        if "long" in context.forms:
            yield of_share("omission", top=stance == "omitted", bottom=stance != "")
        for name, wanted in SPLIT.items():
            yield of_share(name, top=stance == wanted, bottom=unknown)
        yield of_share("hedged_and_correct", top=right, bottom=label == UNCERTAIN)
    for form in context.forms:
        yield from _instructed(facts, form)
        yield from _within_groups(facts, form)
        yield from _by_logprobs(facts, form)


def _instructed(facts: _FactRows, form: str) -> Iterator[Declared]:
    """Yield what the instruction to express uncertainty changes."""
    where = slice_of(form=form)
    label, plain = facts.context.labels(form), facts.context.labels(form, False)
    committed = (plain == CORRECT) | (plain == INCORRECT)
    hedged, wrong = label == UNCERTAIN, plain == INCORRECT
    yield facts.declared_share("hedge_precision", where, wrong, hedged & committed)
    yield facts.declared_share("hedge_recall", where, hedged, wrong & (label >= 0))
    both = np.where((label >= 0) & (plain >= 0), facts.known, -1)
    told = cell_index(both, label)
    columns = cell_index(both, plain), np.where(told < 0, -1, told + 6)
    of = Counted(facts.rows[form, True], INSTRUCTION, columns)
    yield facts.number("instruction_cost", where, of)
    yield facts.number("break_even_cost", where, of)


def _within_groups(facts: _FactRows, form: str) -> Iterator[Declared]:
    """Yield J within entity, and within tier where there are several."""
    a, where, rows = facts.aspects, slice_of(form=form), facts.rows[form, True]
    known, label = facts.known, facts.context.labels(form)
    of = Counted(rows, WITHIN_ENTITY, [known, label, a.entity])
    yield facts.number("J_within_entity", where, of)
    if len(set(a.tier.tolist())) > 1:
        of = Counted(rows, WITHIN_TIER, [cell_index(known, label)], kinds=a.tier)
        yield facts.number("J_within_tier", where, of)


def _by_logprobs(facts: _FactRows, form: str) -> Iterator[Declared]:
    """Yield how well the own log-probabilities rank answers, and what hedging by them gains."""
    a, view = facts.aspects, facts.aspects.views[form, False]
    where, rows = slice_of(form=form), facts.rows[form, True]
    label, plain = facts.context.labels(form), facts.context.labels(form, False)
    score = -view.logprob
    wrong = np.where(plain == INCORRECT, 1.0, np.where(plain == CORRECT, 0.0, np.nan))
    ranked = score, wrong
    found: dict[str, tuple[Weighted, tuple[NDArray[Any], ...]]] = {
        "auroc_incorrect": (Weighted(auroc, bootstrap_auroc), ranked),
        "auroc_incorrect_within": (Weighted(within_auroc, bootstrap_auroc), (*ranked, a.type)),
    }
    for name, rate in UNSPOKEN.items():
        metric = Weighted(partial(unspoken_knowledge, rate=rate), partial(_gain, rate))
        found[name] = metric, (score, facts.known, label, a.type)
    both = ~np.isnan(score) & ~np.isnan(wrong)
    why = ""
    if not _ranks(score[both]):
        why = NO_LOGPROBS if view.placed else NO_SPANS
        if np.isnan(wrong).all() or not np.isnan(score).all():
            why = NO_RANKS if both.any() else SILENT
    for name, (metric, columns) in found.items():
        if why:
            metric = metric._replace(own=partial(_unranked, name, why))
        yield facts.number(name, where, Counted(rows, metric, columns))


def _unranked(name: str, why: str, *columns: NDArray[Any], **resampling: Any) -> Estimate:
    """Return that answers cannot be ranked, and why."""
    return Estimate(name, problem=why)


def _gain(
    rate: Rate, score: Floats, known: Ints, label: Ints, types: NDArray[np.str_], **resampling: Any
) -> Estimate:
    """Return what J within type gains by hedging by a score, with its interval."""
    of = score, known, label, types
    gain = bootstrap(
        partial(unspoken_knowledge, rate=rate), *of, limits=None, name="unspoken_knowledge",
        least_error=blind_error(*of, rate), **resampling,
    )  # fmt: skip
    if len(np.unique(label[label >= 0] == UNCERTAIN)) < 2:
        gain = no_difference(gain)  # hedging nothing, or all, leaves both nothing to choose
    # below -1: the probabilities mislead; above 1: the words do
    return within(gain, 1.0 if abs(gain.value or 0.0) <= 1 else 2.0)


def _alignments(
    facts: _FactRows, short: Ints, long: Ints, where: Slice = (), prompt: str = "instructed"
) -> Iterator[Declared]:
    """Yield how hedging agrees between the forms (7.1): overall, given known, given unknown.

    ``align_CU``: the share that is certain in short and uncertain in long form, and so on, of the
    aspects whose labels (A,) are S, NS or UNC in both forms. ``where`` is the answers' slice.
    """
    hedged = short == UNCERTAIN, long == UNCERTAIN
    both = (short >= 0) & (long >= 0)
    sets = {
        where: both,
        where + slice_of(given="known"): both & (facts.known == KNOWN),
        where + slice_of(given="unknown"): both & (facts.known == UNKNOWN),
    }
    rows = facts.rows["short", True]
    for place, use in sets.items():
        for pair in ("CC", "CU", "UC", "UU"):
            top = (hedged[0] == (pair[0] == "U")) & (hedged[1] == (pair[1] == "U"))
            yield facts.declared_share(f"align_{pair}", place, top, use, prompt)
        table = (2 * hedged[0] + hedged[1])[use]
        of = Counted(rows.take(use), KAPPA, [table])
        yield facts.number("kappa", place, of, (prompt, "any"))


def _methods(facts: _FactRows) -> Iterator[Declared]:
    """Yield each prompting method's rates, J within type, answers wrong and sure, alignment.

    Those wrong and sure also for the instructed and the plain answers. Nothing for a run without
    methods.
    """
    context, s = facts.context, facts.context.settings
    names = names_of(s)
    labels: dict[tuple[str, str], Ints] = {}
    for form in context.forms if names else ():
        plain = slice_of(form=form, prompt="plain")
        yield _wrong_and_sure(facts, facts.aspects.views[form, True], slice_of(form=form))
        yield _wrong_and_sure(facts, facts.aspects.views[form, False], plain, "plain")
        for name in names:
            view = method_view(context, form, name)
            where, asked = slice_of(form=form, method=name), (name, "any")
            label = labels[name, form] = labels_of_view(view, s)
            rows = facts.rows_of(form, view)
            yield from _rates_of(
                facts, _cells(facts, rows, facts.known, label), RATES, where, asked
            )
            cell = cell_index(facts.known, label)
            within = Counted(rows, WITHIN_TYPE, [cell], kinds=facts.aspects.type)
            yield facts.number("J_within", where, within, asked)
            yield facts.number("odds_ratio_within", where, within, asked)
            yield _wrong_and_sure(facts, view, where, name)
    for name in names if "long" in context.forms else ():
        short, long = (labels[name, form] for form in FORMS)
        yield from _alignments(facts, short, long, slice_of(method=name), name)


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


def _wrong_and_sure(
    facts: _FactRows, view: View, where: Slice, prompt: str = "instructed"
) -> Declared:
    """Return the share of all aspects that are stated wrongly without a hedge."""
    top = sure_wrong(view.verdicts)
    return facts.declared_share("wrong_and_sure", where, top == 1, ~np.isnan(top), prompt)


# ---- what is no statistic of facts


def median_words(context: Context) -> Iterator[Estimate]:
    """Yield the median length of the answers, which says how well their doubt is read."""
    for form, instructed in product(context.forms, (True, False)):
        where, prompt = _of_prompt(form, instructed)
        words = context.aspects.views[form, instructed].words
        given = words[~np.isnan(words)]
        median = float(np.median(given)) if given.size else None
        problem = None if given.size else "no answer was given"
        number = Estimate("answer_words", value=median, n=int(given.size), problem=problem)
        yield context.signed(number, where, form, prompt)


def guesses(context: Context) -> Iterator[Estimate]:
    """Yield how often a guess is right, by type of fact."""
    matches, others = context.guesses
    for kind, rate in type_guess_rates(matches, others, context.aspects.type).items():
        rows = context.aspects.type == kind
        value = None if np.isnan(rate) else rate
        problem = None if value is not None else "no other entity of this type was asked about"
        estimate = Estimate("guess_rate", value=value, n=int(others[rows].sum()), problem=problem)
        yield context.signed(estimate, slice_of(type=str(kind)))


# ---- what other ways of hedging would have scored on the same facts
# Blind ones (never, always, as often at random) are exact expectations; the others hedge, within
# each fact type, as many facts as the model did: those that its own log-probabilities, the length
# of its answer, or chance would pick.


def blind_policies(context: Context) -> Iterator[Estimate]:
    """Yield what never, always and randomly hedging would have scored (exact expectations)."""
    known = context.known["any"]
    for form in context.forms:
        cells = count_cells(known, context.labels(form))
        plain = count_cells(known, context.labels(form, False))
        for policy, rates in reference_policies(cells, plain).items():
            for name in HEADLINE:
                rate = _policy_rate(name, rates[name], int(cells.sum()))
                if name == "J" and rate.value is not None:  # 0 by definition, whatever the facts
                    rate = msgspec.structs.replace(rate, low=rate.value, high=rate.value)
                yield context.signed(rate, slice_of(form=form, policy=policy), form)


def _policy_rate(name: str, value: float | None, n: int, problem: str | None = None) -> Estimate:
    problem = problem or (None if value is not None else "undefined for this policy")
    return Estimate(name, value=value, n=n, problem=problem)


def own_policies(context: Context) -> Iterator[Estimate]:
    """Yield what hedging by own log-prob, type and length would have scored in each form."""
    for form in context.forms:
        for policy, estimates in _own_policies(context, form):
            where = slice_of(form=form, policy=policy)
            yield from (context.signed(e, where, form) for e in estimates)


def _own_policies(context: Context, form: str) -> Iterator[tuple[str, list[Estimate]]]:
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
            s = context.settings
            j = bootstrap(
                pooled, *of, clusters=a.entity, n=s.resamples, seed=s.ci_seed,
                limits=(-1.0, 1.0), name="J",
            )  # fmt: skip
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


# ---- what runs that are compared must share


def check_probes(a: ComparedRun, b: ComparedRun) -> tuple[list[str], list[str]]:
    """Return why two runs cannot be compared, and what a reader must know: whose probes decide.

    Runs of one base model must share its probes, on the facts that both asked about.
    """
    sides = compared_rows(a.run, a.settings), compared_rows(b.run, b.settings)
    apart = not share_paragraphs(a.run, b.run)
    places: list[dict[tuple[str, str], int]] = [{}, {}]
    for place, side in zip(places, sides, strict=True):
        for row, (long, short) in enumerate(question_pairs(side.run)):
            place.setdefault(("" if apart or long is None else long.id, short.id), row)
    shared = [pair for pair in places[0] if pair in places[1]]
    rows = [np.array([place[pair] for pair in shared], dtype=np.int64) for place in places]
    probes = [probes_hash(side.aspects, own) for side, own in zip(sides, rows, strict=True)]
    if a.manifest.model_base == b.manifest.model_base:
        if probes[0] == probes[1]:
            return [], []
        return [
            f"{a.name} and {b.name} share a base model but were probed separately: a model that "
            f"hedges its probes looks ignorant. Run the second with --known-from {a.name}"
        ], []
    if any(side.probes != "self" for side in sides):
        return [], [
            "These are two base models, and one was measured with another run's probes (see "
            "known_from in the signature). The difference is not due to the models alone."
        ]
    shares = [_share_known(side.known["any"][own]) for side, own in zip(sides, rows, strict=True)]
    return [], [
        f"These are two base models, each with its own probes: the first knows {shares[0]}, the "
        f"second {shares[1]}. Read J first, and the rows on facts that both models know or neither "
        "knows."
    ]


def _share_known(known: Ints) -> str:
    """Return the known share of the facts whose probe was read, in percent."""
    read = known[known >= 0]
    if not len(read):
        return "nothing that could be read"
    return f"{read.mean():.0%} of the facts".replace("%", " %")


def study_notes(columns: Sequence[Sequence[ComparedRun]]) -> list[str]:
    """Return, for each data set, who is judged by the facts that another model knows."""
    return list(dict.fromkeys(note for runs in columns if (note := _borrowed(runs)[1])))


def _borrowed(runs: Sequence[ComparedRun]) -> tuple[bool, str]:
    """Return whether all runs know the same facts by construction, and whose knowledge it is."""
    probes = {one.name: _probes(one) for one in runs}
    own = {probes[one.name]: _short(one) for one in runs if not _borrows(one)}
    borrowers: dict[str, list[str]] = {}
    for one in filter(_borrows, runs):
        base = own.get(probes[one.name], one.manifest.model_base or "their base model")
        borrowers.setdefault(base, []).append(_short(one))
    parts = [
        f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} judged by the facts that "
        f"{base} knows, so they know the same share by construction"
        for base, names in borrowers.items()
    ]
    return bool(borrowers) and len(set(probes.values())) == 1, "; ".join(parts)


def _probes(one: ComparedRun) -> str:
    """Return what tells apart the draws that decide what is known."""
    return probes_hash(compared_rows(one.run, one.settings).aspects)


def _borrows(one: ComparedRun) -> bool:
    """Tell whether another model's probes decide: not those of the same model, asked otherwise."""
    same = one.manifest.model_identity.startswith(one.manifest.model_base or "\0")
    return one.settings.known_from != "self" and not same


def _short(one: ComparedRun) -> str:
    """Return the name of a run's model without its version."""
    return one.manifest.shown_model.partition("@")[0]
