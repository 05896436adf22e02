"""UNCLE's numbers of several models on the same facts, over training seeds and entities.

What is known is what the base model's probes say; each model answers the same facts. A number is
the mean over seeds, and its interval counts entities and seeds (:mod:`sayso.metrics.joint`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from math import exp
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.judges.contradiction import contradicts
from sayso.judges.decisiveness import decisiveness
from sayso.metrics.arrays import Floats, codes, divide
from sayso.metrics.cmfg import skill, thin_bins
from sayso.metrics.compare_scores import holm
from sayso.metrics.intervals import (
    SPARSE_PARTS,
    UNMOVED,
    Interval,
    bootstrap,
    correlation,
    difference_interval,
    is_sparse,
    proportion_interval,
)
from sayso.metrics.joint import (
    EntityMetric,
    ResampleWeights,
    Spread,
    difference,
    draw,
    error_of,
    estimate,
    p_value,
    spread,
)
from sayso.metrics.uncle_known import cluster_cells, log_odds_interval
from sayso.metrics.uncle_rates import (
    CORRECT,
    INCORRECT,
    MISSING,
    UNCERTAIN,
    cell_index,
    rate_counts,
    rate_sizes,
)
from sayso.metrics.within_type import (
    log_odds_error,
    policy_by_rate,
)
from sayso.prompts import methods
from sayso.protocols.declared import (
    Counted,
    Declared,
    Rows,
    Weighted,
    joint_number,
    ones,
    share_of_rows,
)
from sayso.protocols.pool import cluster_names
from sayso.protocols.probes import draws_by_question
from sayso.protocols.protocol import Run, stored_answers
from sayso.protocols.uncle.measure import MATRIX, UNSPOKEN, WITHIN_TYPE, sure_wrong
from sayso.protocols.uncle.numbers import NUMBERS, RATES
from sayso.protocols.uncle.rows import (
    Context,
    Ints,
    View,
    labels_of_view,
    load_rows,
    question_pairs,
    view_of,
)
from sayso.protocols.uncle.settings import FORMS, Settings
from sayso.records import (
    Estimate,
    Generation,
    InputError,
    Question,
    Signature,
    Verdict,
    signature_of,
    slice_of,
)

# ---- what each method answered, joined fact by fact: the arrays that the numbers are made of

#: label code -> what it says of an answer
VALUES = {CORRECT: "correct", INCORRECT: "incorrect", UNCERTAIN: "uncertain"}


class MethodAnswers(NamedTuple):
    """One method's answers in one form; arrays have A entries, in the order of the frame.

    ``label`` codes as in ``Context.labels``; ``plain`` the same of the same model's answers to the
    plain prompt, which asks for no doubt; ``sure_wrong`` is 0, 1 or NaN (unread): committed and
    incorrect. ``logprob`` is that of the same model's plain answers. ``decisive`` is what the words
    say (0 where no value is said), ``agreeing`` of ``draws`` frozen draws agree with what is said.
    """

    label: Ints
    plain: Ints
    sure_wrong: Floats
    logprob: Floats
    decisive: Floats
    agreeing: Floats
    draws: Floats
    texts: list[str]

    def value(self, row: int) -> str:
        """Return how an answer was read: correct, incorrect or uncertain; empty where unread."""
        return VALUES.get(int(self.label[row]), "")


class SeedSide(NamedTuple):
    """One method with one seed. ``forced`` (A,) is 0, 1 or NaN."""

    answers: dict[str, MethodAnswers]
    forced: Floats


class Frame(NamedTuple):
    """What all methods share: aspects, their entities and types, and what is known.

    ``several`` marks facts to which the base model gave more than one committed answer.
    """

    pairs: list[tuple[str, str]]
    questions: list[Question]
    entity: NDArray[np.str_]
    type: NDArray[np.str_]
    known: Ints
    probes: dict[str, list[str]]
    plain: dict[str, str]
    several: NDArray[np.bool_]

    @property
    def rows(self) -> Rows:
        """The facts as what numbers are counted over."""
        return Rows(self.pairs, codes(self.entity), self.entity)

    @property
    def entities(self) -> int:
        """How many entities there are."""
        return len(np.unique(self.entity))


def frame_of_run(
    run: Run, settings: Settings, measured: Collection[str], several: Collection[str]
) -> Frame:
    """Return the aspects of the ``measured`` questions (ids), by the probes of the base run.

    ``several`` are questions to which it gave more than one committed answer.
    """
    context = load_rows(run, settings, guesses=False)
    place = {pair: row for row, pair in enumerate(_pairs(run))}
    held = [pair for pair in place if pair[0] in measured and pair[1] in measured]
    rows = np.array([place[pair] for pair in held], dtype=np.int64)
    by_id = {q.id: q for q in run.questions}
    shorts = [by_id[pair[1]] for pair in held]
    drawn = draws_by_question(run.folder.read("generations/probe", Generation), settings.probe.k)
    plain = {
        g.question: g.text.strip()
        for g in run.folder.read("generations/short", Generation)
        if not g.instructed and g.problem is None
    }
    clusters = cluster_names(run.questions)
    return Frame(
        held,
        shorts,
        np.array([clusters[q.id] for q in shorts], dtype=np.str_),
        context.aspects.type[rows],
        context.known["any"][rows],
        {q: [g.text.strip() for g in some] for q, some in drawn.items()},
        plain,
        np.array([q.id in several for q in shorts], dtype=np.bool_),
    )


def _pairs(run: Run) -> list[tuple[str, str]]:
    return [(q.id, part) for q in run.questions for part in q.parts]


def side_of_run(
    frame: Frame,
    run: Run,
    settings: Settings,
    forced: Mapping[str, bool],
    *,
    instructed: bool,
    method: str,
) -> SeedSide:
    """Return a method's side: a run's instructed or plain answers, or those of a further method.

    ``forced`` tells by question whether the forced answer is right. Raises InputError for a run
    that lacks some of the facts.
    """
    context = load_rows(run, settings, guesses=False)
    place = {pair: row for row, pair in enumerate(_pairs(run))}
    missing = [pair for pair in frame.pairs if pair not in place]
    if missing:
        raise InputError(f"lacks {len(missing)} of the {len(frame.pairs)} measured aspects")
    rows = np.array([place[pair] for pair in frame.pairs])
    answers = {}
    for form in FORMS:
        view, texts = _view(context, run, form, instructed, method)
        answers[str(form)] = _answers(frame, context, form, view, texts, rows)
    right = [forced.get(q.id) for q in frame.questions]
    return SeedSide(answers, np.array([np.nan if r is None else float(r) for r in right]))


def _view(
    context: Context, run: Run, form: str, instructed: bool, method: str
) -> tuple[View, dict[str, str]]:
    """Return the verdicts of a method's answers, and their texts by question."""
    if not method:
        generations = [g for g in stored_answers(run, form) if g.instructed is instructed]
        return context.aspects.views[form, instructed], _texts(generations)
    stage = "refined" if methods.METHODS[method].kind == "revision" else "methods"
    generations = [g for g in stored_answers(run, f"{stage}-{form}") if g.method == method]
    verdicts = run.folder.read(f"verdicts/{stage}-{form}", Verdict)
    return view_of(question_pairs(run), generations, verdicts, form), _texts(generations)


def _texts(generations: Sequence[Generation]) -> dict[str, str]:
    return {g.question: g.text for g in generations}


def _answers(
    frame: Frame, context: Context, form: str, view: View, texts: dict[str, str], rows: Ints
) -> MethodAnswers:
    label = labels_of_view(view, context.settings)[rows]
    verdicts = [view.verdicts[row] for row in rows]
    answers = [texts.get(pair[form == "short"], "") for pair in frame.pairs]
    words = [
        _worded(frame, row, form, verdict, text)
        for row, (verdict, text) in enumerate(zip(verdicts, answers, strict=True))
    ]
    table = np.array(words, dtype=np.float64).reshape(len(words), 3)
    plain = context.aspects.views[form, False]
    return MethodAnswers(
        label,
        labels_of_view(plain, context.settings)[rows],
        sure_wrong(verdicts),
        plain.logprob[rows],
        table[:, 0],
        table[:, 1],
        table[:, 2],
        answers,
    )


def _worded(
    frame: Frame, row: int, form: str, verdict: Verdict | None, text: str
) -> tuple[float, float, float]:
    """Return (decisiveness, agreeing draws, comparable draws) of what is said about an aspect.

    Where it says that it does not know, nothing is claimed: 0, against the draws' agreement with
    the base model's own plain answer, which is what was withheld. Omitted: left out.
    """
    nothing = (np.nan, np.nan, np.nan)
    if verdict is None or verdict.stance is None or verdict.stance == "omitted":
        return nothing
    question = frame.questions[row]
    sentence, value = text, text
    if form == "long":
        if verdict.start is None or verdict.end is None:
            return nothing
        sentence = value = text[verdict.start : verdict.end]
    if verdict.answer_start is not None and verdict.answer_end is not None:
        value = text[verdict.answer_start : verdict.answer_end]
    claims = verdict.stance == "committed" or (
        verdict.stance == "hedged" and verdict.answer_start is not None
    )
    if not claims:
        level: float | None = 0.0
        value = frame.plain.get(question.id, "")
    else:
        level = _decisive(sentence.strip(), value.strip())
    if level is None or not value.strip():
        return nothing
    agreeing, counted = _agreement(question.text, value.strip(), tuple(frame.probes[question.id]))
    return (level, float(agreeing), float(counted)) if counted else nothing


def _decisive(sentence: str, value: str) -> float | None:
    """Return how decisively a sentence says a value: "born in possibly Lyon" doubts the place.

    Where the value's words are not found in it, that of the whole sentence.
    """
    level = None if value == sentence else decisiveness(sentence, value)
    return decisiveness(sentence) if level is None else level


@lru_cache(maxsize=200_000)
def _agreement(question: str, value: str, draws: tuple[str, ...]) -> tuple[int, int]:
    """Return how many draws agree with a value, of those that can be compared with it."""
    contradictions = [contradicts(question, value, draw) for draw in draws]
    return sum(f is False for f in contradictions), sum(f is not None for f in contradictions)


# ---- few hedges: exact intervals, and an odds ratio whose resamples say too little
#
# As ``sayso run uncle`` does it for one run (:mod:`sayso.metrics`), with counts that are means
# over training seeds.

#: the hedged share of the answers to the plain prompt
UNASKED = "unasked"
#: numbers that compare two shares
PARTS = {
    "J": ("UUR", "over_hedge"),
    "J_within": ("UUR_within", "over_hedge_within"),
    "log_odds_within": ("UUR_within", "over_hedge_within"),
}
#: why a change of the odds ratio is not tested
FEW_HEDGES = "no interval: too few known or unknown facts that were, or were not, hedged"


def exact(
    frame: Frame, spreads: Mapping[str, Spread], labels: Sequence[Ints], rate: Estimate
) -> Estimate:
    """Return a rate with its counts; where they are few, with an exact interval, J with its parts'.

    ``spreads`` are the numbers of one method and form by name, ``labels`` one array a seed.
    """
    counts = rate_counts(np.mean([_typed(frame, x).sum(axis=0) for x in labels], axis=0))
    own = "p_uncertain" if rate.name == UNASKED else rate.name
    if own in counts:
        top, bottom = counts[own]
        rate = msgspec.structs.replace(rate, numerator=top, denominator=bottom)
        if not bottom or not is_sparse(top, bottom):
            return rate
        sizes = rate_sizes(_by_entity(frame, labels))[own]
        low, high = _ends(spreads[rate.name], top, bottom, frame.entities, sizes)
        return msgspec.structs.replace(
            rate, low=low, high=high,
            problem=f"sparse: {top:.0f} of {bottom:.0f}, exact interval",
        )  # fmt: skip
    if rate.name not in PARTS or rate.value is None:
        return rate
    if rate.name != "J":
        counts = rate_counts(np.mean([_within(frame, x) for x in labels], axis=0))
    pairs = [counts[name] for name in PARTS["J"]]
    if not any(is_sparse(*pair) for pair in pairs):
        return rate
    parts = [spreads[name] for name in PARTS[rate.name]]
    by_entity = rate_sizes(_by_entity(frame, labels))
    ends = [
        _ends(part, part.value * bottom, bottom, frame.entities, by_entity[name])
        for part, name, (_, bottom) in zip(parts, PARTS["J"], pairs, strict=True)
    ]
    link = correlation(parts[0].replicates, parts[1].replicates)
    pair, both = (parts[0].value, parts[1].value), (ends[0], ends[1])
    if rate.name == "log_odds_within":
        low, high = log_odds_interval(rate.value, pair, both, min(link, 0.0))
    else:
        low, high = difference_interval(pair, both, link)
    problem = SPARSE_PARTS if low is not None else UNMOVED
    return msgspec.structs.replace(rate, low=low, high=high, problem=problem)


def _ends(spread: Spread, top: float, bottom: float, entities: int, sizes: Floats) -> Interval:
    error = error_of(spread, entities)
    return proportion_interval(
        float(top), float(bottom), error[0] if error else None, entities, sizes=sizes
    )


def _by_entity(frame: Frame, labels: Sequence[Ints]) -> Floats:
    """Return the matrix of every entity (E, 6), the mean over seeds."""
    tables = [cluster_cells(frame.known, x, frame.entity, None) for x in labels]
    return np.asarray(np.mean(tables, axis=0), dtype=np.float64)


def _typed(frame: Frame, label: Ints) -> Floats:
    """Return the matrix of every type (T, 6)."""
    cells = cluster_cells(frame.known, label, frame.entity, frame.type)
    return np.asarray(cells.sum(axis=0), dtype=np.float64)


def _within(frame: Frame, label: Ints) -> Floats:
    """Return the matrix (6,) of the types that have known and unknown facts."""
    table = _typed(frame, label)
    both = (table[:, :3].sum(axis=1) > 0) & (table[:, 3:].sum(axis=1) > 0)
    return np.asarray(table[both].sum(axis=0), dtype=np.float64)


def _few_hedges(frame: Frame, labels: Sequence[Ints]) -> bool:
    """Tell whether few known or unknown facts are hedged, or are not, in the mean over seeds."""
    both = np.mean([_within(frame, label) for label in labels], axis=0)
    return is_sparse(both[5], both[3:].sum()) or is_sparse(both[2], both[:3].sum())


def least_error(frame: Frame, labels: Sequence[Ints]) -> float:
    """Return the least standard error of the mean log odds ratio over seeds; 0 where undefined.

    That of independent facts (Robins, Breslow and Greenland 1986). Seeds answer the same facts:
    where hedges are few, the mean over seeds has no less an error than each of them.
    """
    each = [log_odds_error(_typed(frame, label)) for label in labels]
    errors = np.array([error for error in each if error is not None])
    if not len(errors):
        return 0.0
    if _few_hedges(frame, labels):
        return float(errors.mean())
    return float(np.sqrt((errors**2).mean() / len(errors)))


#: parts of J within type, for its interval alone
UNSHOWN = ("UUR_within", "over_hedge_within")
#: what changes are tested: one family of tests (Holm)
TESTED = (
    "UUR", "KCR", "EA", "J", "J_within", "log_odds_within", "unspoken_knowledge", "forced",
    "skill", "wrong_and_sure",
)  # fmt: skip
#: certain or uncertain in short and in long form (UNCLE, 7.1): UC is uncertain in short form only
ALIGNED = ("align_CC", "align_CU", "align_UC", "align_UU")

Spreads = Mapping[tuple[str, str], Spread]


#: method, form, a number of it, and its value of each seed
SeedNumber = tuple[str, str, Estimate, tuple[float | None, ...]]
#: two methods, form, how far a number of the first is above the second's, p, and p after Holm
SeedChange = tuple[str, str, str, Estimate, float | None, float | None]


def compare_methods(
    frame: Frame,
    sides: Mapping[str, Sequence[SeedSide]],
    pairs: Sequence[tuple[str, str]],
    signature: Signature,
    resamples: int,
    seed: int,
) -> tuple[list[SeedNumber], list[SeedChange]]:
    """Return the numbers of every method, and the tested changes of ``pairs`` of them.

    ``sides`` has one side a seed. Nothing is tested where a side has no interval.
    """
    draws = draw(frame.entities, resamples, seed)
    spreads = {method: _spreads(frame, own, draws) for method, own in sides.items()}
    withheld = {method: _untested(frame, own) for method, own in sides.items()}
    changes = []
    for pair in pairs:
        first, second = (spreads[method] for method in pair)
        for place in first:
            if place[1] in TESTED and place in second:
                number, p = _change(frame, (first, second), pair, place, signature)
                if why := next((w for m in pair if (w := withheld[m].get(place))), None):
                    number = msgspec.structs.replace(number, low=None, high=None, problem=why)
                    p = None
                changes.append((*pair, place[0], number, p))
    corrected = holm([p for *_, p in changes])
    return [
        number
        for method, own in sides.items()
        for number in _numbers(frame, own, spreads[method], method, signature)
    ], [(*change, p) for change, p in zip(changes, corrected, strict=True)]


def _spreads(
    frame: Frame, sides: Sequence[SeedSide], draws: ResampleWeights
) -> dict[tuple[str, str], Spread]:
    spreads: dict[tuple[str, str], Spread] = {}
    for form in FORMS:
        metrics: dict[str, list[EntityMetric]] = {}
        for side in sides:
            for name, d in _declared(frame, side, side.answers[form], form).items():
                metrics.setdefault(name, []).append(_of_all_entities(d, frame))
        for name, own in metrics.items():
            spreads[form, name] = spread(own, draws)
        least = least_error(frame, [side.answers[form].label for side in sides])
        odds = spreads[form, "log_odds_within"]
        spreads[form, "log_odds_within"] = odds._replace(least=least)
    for name in ALIGNED:
        shares = [_share(frame, name, _alike(side, name)) for side in sides]
        spreads["both", name] = spread([_of_all_entities(d, frame) for d in shares], draws)
    return spreads


def _alike(side: SeedSide, name: str) -> Floats:
    """Return 1 where short and long form are certain (C) or uncertain (U) as ``name`` ends."""
    labels = [side.answers[form].label for form in FORMS]
    fits = [
        (label == UNCERTAIN) == (letter == "U")
        for label, letter in zip(labels, name[-2:], strict=True)
    ]
    both = (labels[0] >= 0) & (labels[1] >= 0)
    return np.where(both, (fits[0] & fits[1]).astype(np.float64), np.nan)


def _declared(frame: Frame, side: SeedSide, a: MethodAnswers, form: str) -> dict[str, Declared]:
    """Return every number of one side, by what a training calls it."""
    rows, known = frame.rows, frame.known
    cell = cell_index(known, a.label)
    own, plain = Counted(rows, MATRIX, [cell]), Counted(rows, MATRIX, [cell_index(known, a.plain)])
    within = Counted(rows, WITHIN_TYPE, [cell], kinds=frame.type)
    found = {name: Declared(name, (), own) for name in RATES}
    found[UNASKED] = Declared("p_uncertain", (), plain)
    found |= {
        name: Declared(name, (), within) for name in ("J_within", "log_odds_within", *UNSHOWN)
    }
    score = -a.logprob
    if not np.isnan(score).all():
        columns = score, known, a.label, frame.type
        gain = Counted(rows, UNSPOKEN, columns)
        found["unspoken_knowledge"] = Declared("unspoken_knowledge", (), gain)
        # a fact without a score counts too
        policy = Counted(rows, POLICY_UUR, [np.nan_to_num(score), ~np.isnan(score), *columns[1:]])
        found["policy_UUR"] = Declared("policy_UUR", (), policy)
    worded = Counted(rows, SKILL, [a.decisive, a.agreeing, a.draws])
    found["skill"] = Declared("skill", (), worded)
    found["wrong_and_sure"] = _share(frame, "wrong_and_sure", a.sure_wrong)
    if form == "short":
        right = np.where(known == 1, side.forced, np.nan)
        found["forced"] = _share(frame, "forced", right)
        several = np.where(frame.several, right, np.nan)
        found["forced_several"] = _share(frame, "forced_several", several)
    return found


def _share(frame: Frame, name: str, values: Floats) -> Declared:
    """Return the share of 1 among values (A,) that are not NaN."""
    of = Counted(frame.rows, share_of_rows(name), [ones(values == 1, ~np.isnan(values))])
    return Declared(name, (), of)


def _of_all_entities(d: Declared, frame: Frame) -> EntityMetric:
    """Return a number as a metric of the weights of all entities, those without a row too."""
    number = joint_number(d)
    place = np.searchsorted(np.unique(frame.entity), np.asarray(number.entities, dtype=np.str_))

    def metric(weights: Floats | None) -> Floats | float:
        if weights is None:
            value = number.metric(*number.columns)
            return float("nan") if value is None else float(value)
        values = number.metric(*number.columns, weights=weights[:, place])
        nothing = np.full(len(weights), np.nan)
        return nothing if values is None else np.asarray(values, dtype=np.float64)

    return metric


def policy_uur(
    score: Floats,
    placed: NDArray[np.bool_],
    known: Ints,
    label: Ints,
    types: NDArray[np.str_],
    weights: Floats | None = None,
) -> Floats | float:
    """Return the UUR of hedging by ``score`` as often as the words do, within each type.

    Facts without a score, which are not ``placed``, are hedged or not as the words have it, so that
    UUR and this count the same facts. ``weights`` (B, A) give (B,); NaN where no fact is unknown.
    """
    counted = (known >= 0) & (label >= 0)
    words = np.where(counted, (label == UNCERTAIN).astype(np.float64), np.nan)
    scored = np.where(placed, words, np.nan)
    use = counted & (known == 0)
    W = np.ones((1, len(score))) if weights is None else weights
    member = policy_by_rate(score, types, scored, W)[:, use]
    member = np.where(np.isnan(member), words[use], member)
    rates = divide((member * W[:, use]).sum(axis=1), W[:, use].sum(axis=1))
    return float(rates[0]) if weights is None else rates


POLICY_UUR = Weighted(policy_uur, partial(bootstrap, policy_uur))
SKILL = Weighted(skill, partial(bootstrap, skill))


def _numbers(
    frame: Frame, sides: Sequence[SeedSide], spreads: Spreads, method: str, signature: Signature
) -> Iterator[SeedNumber]:
    for form, name in spreads:
        if name not in UNSHOWN:
            number, by_seed = _number(frame, sides, spreads, form, name)
            number = msgspec.structs.replace(
                number,
                where=slice_of(form=form, method=method),
                signature=signature_of(number.name, (("form", form), *signature)),
            )
            yield method, form, number, by_seed


def _number(
    frame: Frame, sides: Sequence[SeedSide], spreads: Spreads, form: str, name: str
) -> tuple[Estimate, tuple[float | None, ...]]:
    spread = spreads[form, name]
    forms = FORMS if form == "both" else (form,)
    answers = [[side.answers[f] for f in forms] for side in sides]
    labels = [[a.plain if name == UNASKED else a.label for a in own] for own in answers]
    known = [frame.known] if form != "both" else []
    usable = [np.all([np.asarray(x) >= 0 for x in (*known, *own)], axis=0) for own in labels]
    n = round(float(np.mean([u.sum() for u in usable])))
    number = estimate(name, spread, frame.entities, n, NUMBERS.named(name).limits)
    by_seed = spread.by_seed
    if form != "both":
        by_name = {n: spread for (f, n), spread in spreads.items() if f == form}
        number = exact(frame, by_name, [one_form for (one_form,) in labels], number)
    if name == "skill" and (thin := _thin(sides, form)):
        number = msgspec.structs.replace(number, low=None, high=None, problem=thin)
    if name == "log_odds_within":
        logs = (number.value, number.low, number.high, *by_seed)
        value, low, high, *seeds = (None if log is None else exp(log) for log in logs)
        by_seed = tuple(seeds)
        number = msgspec.structs.replace(
            number, name="odds_ratio_within", value=value, low=low, high=high
        )
    missing = max(
        int(np.any([x == MISSING for x in (*known, *own)], axis=0).sum()) for own in labels
    )
    return msgspec.structs.replace(number, missing=missing), by_seed


def _thin(sides: Sequence[SeedSide], form: str) -> str:
    """Return that bins of confidence are too thin for the interval of skill; empty otherwise."""
    seen = [side.answers[form] for side in sides]
    notes = (thin_bins(a.decisive, a.agreeing, a.draws) for a in seen)
    return next(filter(None, notes), None) or ""


def _untested(frame: Frame, sides: Sequence[SeedSide]) -> dict[tuple[str, str], str]:
    """Return why changes of a method's numbers are not tested, by (form, name)."""
    found = {}
    for form in FORMS:
        if thin := _thin(sides, form):
            found[str(form), "skill"] = thin
        if _few_hedges(frame, [side.answers[form].label for side in sides]):
            found[str(form), "log_odds_within"] = FEW_HEDGES
    return found


def _change(
    frame: Frame,
    spreads: tuple[Spreads, Spreads],
    methods: tuple[str, str],
    place: tuple[str, str],
    signature: Signature,
) -> tuple[Estimate, float | None]:
    """Return how far a number of one method is above another's, and p; ``place`` is its key."""
    form, name = place
    gap = difference(spreads[0][place], spreads[1][place])
    number = estimate(name, gap, frame.entities, len(frame.pairs))
    changed = msgspec.structs.replace(
        number,
        where=slice_of(form=form, method=methods[0], minus=methods[1]),
        signature=signature_of(f"difference of {name}", (("form", form), *signature)),
    )
    return changed, p_value(gap, frame.entities)
