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

from sayso.metrics.arrays import Floats, or_none
from sayso.metrics.intervals import bootstrap, no_difference, within
from sayso.metrics.ranking import bootstrap_auroc, within_auroc
from sayso.metrics.uncle_known import (
    Bound,
    bootstrap_cells,
    bootstrap_cells_difference,
    bootstrap_within,
    bounds_of_codes,
    reference_policies,
    type_guess_rates,
)
from sayso.metrics.uncle_rates import (
    CELLS,
    COMPOSED,
    CORRECT,
    INCORRECT,
    MISSING,
    SHARES,
    UNCERTAIN,
    cell_index,
    cell_rates,
    count_cells,
    expression_rates_3row,
    label_codes,
    undefined,
)
from sayso.metrics.uncle_rates import RATES as ALL_RATES
from sayso.metrics.within_type import (
    blind_error,
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
    STOPPED,
    UNKNOWN,
    UNREADABLE,
)
from sayso.protocols.protocol import Beside, Run
from sayso.protocols.thoughts import doubt_shares, thought_scores
from sayso.protocols.uncle.notes import borrowed
from sayso.protocols.uncle.numbers import COMPARED, HEADLINE, NUMBERS, RATES
from sayso.protocols.uncle.rows import (
    LEFT_OUT,
    NO_LOGPROBS,
    Context,
    Ints,
    View,
    compared_rows,
    labels_of_view,
    load_rows,
    question_pairs,
    share_paragraphs,
    view_of,
)
from sayso.protocols.uncle.settings import FORMS, Settings, names_of, stage_of
from sayso.records import (
    Estimate,
    Generation,
    Signature,
    Slice,
    Value,
    Verdict,
    part_of,
    slice_of,
    tier_order,
)

Bools = NDArray[np.bool_]

NO_RANKS = "all these answers have the same score, which ranks none of them"
SILENT = "no answer to the bare question states a value that could be judged"
NO_SPANS = (
    "this run does not store where answers state their values; run the same command again, which "
    "takes the answers from the cache"
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
    higher = None if borrowed(beside.models)[0] else NUMBERS["p_known"].higher
    apart = not all(share_paragraphs(run, one.run) for one in beside.models)
    facts = _FactRows(compared_rows(run, settings), apart=apart, higher=higher)
    return [*_headline(facts, (True,)), *_compared(facts)]


def rates_of_verdicts(facts: Rows, known: Ints, values: Iterable[Value | None]) -> list[Declared]:
    """Return the headline rates of facts that are of no run.

    ``known`` (n,) is 1, 0 or -1 (nobody can tell), ``values`` (n,) are the verdicts on the answers.
    """
    of = Counted(facts, MATRIX, [cell_index(known, label_codes(values))])
    return [Declared(name, (), of, limits=NUMBERS[name].limits) for name in HEADLINE]


def estimates(run: Run, settings: Settings) -> list[Estimate]:
    """Return the estimate of every number of a run, then what is no statistic of facts."""
    context = load_rows(run, settings)
    declared = estimates_of(_of_a_run(context), settings.resamples, settings.ci_seed)
    others = median_words, blind_policies, own_policies, guesses
    more = [e for of in others for e in of(context)]
    alike = context.draws.share
    if settings.stops and not context.draws.repeat:  # those of known facts are not counted
        alike = Estimate(alike.name, problem=STOPPED)
    return [*declared, *more, context.signed(alike)]


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


#: rates of slices, and by other rules of what is known
SLICED = (*HEADLINE, "over_hedge", "p_known")
#: every rate, and the counts of the matrix
NAMES = tuple(name for name in ALL_RATES if name in NUMBERS)
COUNTS = tuple(f"cell_{cell}" for cell in CELLS)

# ---- families of numbers: functions of the sums of facts by cell, by pair of cells, and by label


def _of_cells(cells: Floats) -> dict[str, Floats]:
    """Return every rate, and the counts, of matrices (..., 6)."""
    counts = {f"cell_{cell}": cells[..., place] for place, cell in enumerate(CELLS)}
    return cell_rates(cells) | counts


def _rates(cells: Floats, n: int, seed: int) -> dict[str, Estimate]:
    """Return every rate with its interval, and the counts, of matrices by entity (C, 6)."""
    total = cells.sum(axis=0)
    counts = {
        name: Estimate(name, value=float(count), n=int(total.sum()))
        for name, count in zip(COUNTS, total, strict=True)
    }
    return bootstrap_cells(cells, n=n, seed=seed) | counts


def _of_types(cells: Floats) -> dict[str, Floats]:
    """Return J, its two parts and the odds ratio within type of matrices by type (..., T, 6)."""
    rates = within_rates(cells)
    return rates | {"odds_ratio_within": np.exp(rates["log_odds_within"])}


def _of_instruction(cells: Floats) -> dict[str, Floats]:
    """Return what the instruction costs, of matrices (..., 12): without it, and with it."""
    plain, told = cell_rates(cells[..., :6]), cell_rates(cells[..., 6:])
    return {"instruction_cost": plain["KCR"] - told["KCR"]}


def _instruction(cells: Floats, n: int, seed: int) -> dict[str, Estimate]:
    gaps = bootstrap_cells_difference(cells[:, :6], cells[:, 6:], n, seed)
    return {"instruction_cost": gaps["KCR"]}


def _of_script(tables: Floats) -> dict[str, Floats]:
    """Return the rates that the released script counts over hedged probes, of tables (..., 9)."""
    every = [_script_rates(table) for table in tables.reshape(-1, 9)]
    return {
        name: np.array([one[name] for one in every], np.float64).reshape(tables.shape[:-1])
        for name in OF_SCRIPT
    }


def _script_rates(table: Floats) -> dict[str, float | None]:
    return expression_rates_3row(table.reshape(3, 3), "dropped_official")


def _script(tables: Floats, n: int, seed: int) -> dict[str, Estimate]:
    """Return these rates of tables by entity (C, 9), without intervals."""
    total = tables.sum(axis=0)
    note = "no interval or bounds under probe.unc=dropped_official"
    found = {}
    for name, value in _script_rates(total).items():
        why = note if value is not None else undefined(name)
        found[name] = Estimate(name, value=value, n=int(total.sum()), problem=why)
    return found


def _of_few_draws(why: str, cells: Floats, n: int, seed: int) -> dict[str, Estimate]:
    return {name: Estimate(name, problem=why) for name in SLICED}


def _of_prompt(form: str, instructed: bool) -> tuple[Slice, str]:
    """Return the slice of the answers with or without the instruction, and their prompt."""
    if instructed:
        return slice_of(form=form), "instructed"
    return slice_of(form=form, prompt="plain"), "plain"


#: rates that the released script counts over hedged probes as well
OF_SCRIPT = ("FA", "UA", "lift_UA", "p_uncertain")
MATRIX = Sums(_of_cells, 6, _rates, shares=SHARES, composed=COMPOSED)
SCRIPT = Sums(_of_script, 9, _script)
WITHIN_TYPE = Sums(_of_types, 6, bootstrap_within)
INSTRUCTION = Sums(_of_instruction, 12, _instruction)


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
        self.thoughts = thought_scores(context.run, "short")

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
    lost = (known == MISSING) | (label == MISSING)
    asked = (known != LEFT_OUT) & (label != LEFT_OUT)
    of_script = None
    if facts.context.settings.probe.unc == "dropped_official":
        row = np.select([state == one for one in (KNOWN, UNKNOWN, HEDGED_PROBE)], range(3), -1)
        column = np.where((row < 0) | (label < 0), -1, 3 * row + label)
        gone = ((state == UNREADABLE) & (label != LEFT_OUT)) | (
            (state != UNREADABLE) & (label == MISSING)
        )
        of_script = Counted(rows, SCRIPT, [column]), int(gone.sum())
    return _Cells(
        Counted(rows, MATRIX, [cell_index(known, label)], lost),
        int((lost & asked).sum()),
        bounds_of_codes(known, label),
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


# ---- rates of both forms, told to express uncertainty or not, and what else is compared


def _headline(facts: _FactRows, prompts: Sequence[bool] = (True, False)) -> Iterator[Declared]:
    """Yield the rates of both forms, the counts of the matrix, and accuracy.

    ``prompts``: with the instruction, and without it.
    """
    script = facts.context.settings.probe.unc == "dropped_official"

    def uses(name: str, *, instructed: bool) -> frozenset[Use]:
        there: dict[Use, bool] = {
            "people": name != "p_known" and not script,
            "pair": instructed and name in COMPARED,
            "study": instructed and name in NUMBERS.studied,
        }
        return RUN | {use for use, wanted in there.items() if wanted}

    for form, instructed in product(facts.context.forms, prompts):
        rows, label = facts.rows[form, instructed], facts.context.labels(form, instructed)
        where, prompt = _of_prompt(form, instructed)
        cells = _cells(facts, rows, facts.known, label)
        used = partial(uses, instructed=instructed)
        yield from _rates_of(facts, cells, NAMES, where, (prompt, "any"), used)
        for name in COUNTS:
            yield facts.number(name, where, cells.of, (prompt, "any"))
        right = Counted(rows, share_of_rows("accuracy"), [ones(label == CORRECT, label >= 0)])
        yield facts.number("accuracy", where, right, (prompt, "any"), used("accuracy"))


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
        why = ALIKE if rule == "corrected" and context.draws.repeat else ""
        if context.settings.stops and rule != "paper":
            why = STOPPED
        if why:  # they rest on how many draws are right
            few = MATRIX._replace(own=partial(_of_few_draws, why))
            cells = _Cells(Counted(cells.of.rows, few, cells.of.columns), 0, {}, None)
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
    """Yield omissions, UUR by stance, hedges that were right after all, and what hedges gain."""
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
        if form == "short":
            yield from _thoughts(facts, instructed, stance)
    for form in context.forms:
        yield from _instructed(facts, form)
        yield from _by_logprobs(facts, form)


def _thoughts(facts: _FactRows, instructed: bool, stance: NDArray[np.str_]) -> Iterator[Declared]:
    """Yield doubts of thoughts, and how many of them an answer withholds: of all facts, of known
    and of unknown ones. Nothing where nothing was thought."""
    scores, verdicts = facts.thoughts, facts.aspects.views["short", instructed].verdicts
    where, prompt = _of_prompt("short", instructed)
    thought = np.array([scores.get(v.target if v else "", np.nan) for v in verdicts])
    for name, (top, bottom) in doubt_shares(thought, stance).items() if scores else ():
        yield facts.declared_share(name, where, top, bottom, prompt)
        for given, state in (("known", KNOWN), ("unknown", UNKNOWN)):
            some = bottom & (facts.known == state)
            yield facts.declared_share(name, where + slice_of(given=given), top, some, prompt)


def _instructed(facts: _FactRows, form: str) -> Iterator[Declared]:
    """Yield what the instruction to express uncertainty changes.

    Hedge precision: of the hedged facts, those whose answer without the instruction was wrong.
    """
    where = slice_of(form=form)
    label, plain = facts.context.labels(form), facts.context.labels(form, False)
    committed = (plain == CORRECT) | (plain == INCORRECT)
    hedged = (label == UNCERTAIN) & committed
    yield facts.declared_share("hedge_precision", where, plain == INCORRECT, hedged)
    both = np.where((label >= 0) & (plain >= 0), facts.known, -1)
    told = cell_index(both, label)
    columns = cell_index(both, plain), np.where(told < 0, -1, told + 6)
    of = Counted(facts.rows[form, True], INSTRUCTION, columns)
    yield facts.number("instruction_cost", where, of)


def _by_logprobs(facts: _FactRows, form: str) -> Iterator[Declared]:
    """Yield how well the own log-probabilities rank answers, and what hedging by them gains."""
    view, types = facts.aspects.views[form, False], facts.aspects.type
    label, plain = facts.context.labels(form), facts.context.labels(form, False)
    score = -view.logprob
    wrong = np.where(plain == INCORRECT, 1.0, np.where(plain == CORRECT, 0.0, np.nan))
    both = ~np.isnan(score) & ~np.isnan(wrong)
    why = ""
    if not _ranks(score[both]):
        why = NO_LOGPROBS if view.placed else NO_SPANS
        if np.isnan(wrong).all() or not np.isnan(score).all():
            why = NO_RANKS if both.any() else SILENT
    for name, metric, columns in (
        ("auroc_incorrect_within", AUROC_WITHIN, (score, wrong, types)),
        ("unspoken_knowledge", UNSPOKEN, (score, facts.known, label, types)),
    ):
        if why:
            metric = metric.without_value(name, why)
        of = Counted(facts.rows[form, True], metric, columns)
        yield facts.number(name, slice_of(form=form), of)


def _gain(
    score: Floats, known: Ints, label: Ints, types: NDArray[np.str_], **resampling: Any
) -> Estimate:
    """Return what J within type gains by hedging by a score, with its interval."""
    of = score, known, label, types
    gain = bootstrap(
        unspoken_knowledge, *of, limits=None, name="unspoken_knowledge",
        least_error=blind_error(*of), **resampling,
    )  # fmt: skip
    if len(np.unique(label[label >= 0] == UNCERTAIN)) < 2:
        gain = no_difference(gain)  # hedging nothing, or all, leaves both nothing to choose
    # below -1: the probabilities mislead; above 1: the words do
    return within(gain, 1.0 if abs(gain.value or 0.0) <= 1 else 2.0)


AUROC_WITHIN = Weighted(within_auroc, bootstrap_auroc)
UNSPOKEN = Weighted(unspoken_knowledge, _gain)


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
    for place, use in sets.items():
        for pair in ("CC", "CU", "UC", "UU"):
            top = (hedged[0] == (pair[0] == "U")) & (hedged[1] == (pair[1] == "U"))
            yield facts.declared_share(f"align_{pair}", place, top, use, prompt)


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
    answers = [g for g in run.folder.read(f"generations/{stage}", Generation) if g.method == name]
    verdicts = run.folder.read(f"verdicts/{stage}", Verdict)
    return view_of(question_pairs(run), answers, verdicts, form)


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
        absent = "no other entity of this type was asked about"
        problem = None if value is not None else STOPPED if context.settings.stops else absent
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
