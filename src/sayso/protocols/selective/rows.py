"""P(IK): a probe on the hidden states of the answers, by cross-fitting (PROTOCOLS 3.B).

    P(incorrect | h) = 1 / (1 + exp(-(w h + b))),  L2, C = 1, on features of unit spread

Every answer is predicted by a probe that saw no answer about its entity. Answers are ranked against
those of the same fold only: between folds chance alone ranks them the wrong way around, since where
a fold (or a type in it) has many wrong answers the others have few, and that is what its probe
learned. Measured on states that say nothing: .36 over all pairs, .50 within folds.

Labels are *incorrect* by the run's judge, so the probe is fitted when numbers are made, from what
is stored: the states were read once, when the answers were. Nothing is repaired in silence: folds
that did not converge are counted, and what cannot be fitted says why.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.answers.lexical import contains, exact_match, rouge_l, squad_f1
from sayso.judges.judge import WITHHELD
from sayso.metrics.arrays import codes
from sayso.metrics.intervals import bootstrap_share
from sayso.metrics.length_audit import Threshold
from sayso.protocols.pool import entity_of
from sayso.protocols.probes import KNOWN, UNKNOWN, UNREADABLE, draws_by_question, probe_state
from sayso.protocols.protocol import Run
from sayso.protocols.selective.settings import UNKNOWN_TARGET, Settings, wants_probe
from sayso.records import Estimate, Generation, Gold, Question, Verdict, slice_of
from sayso.scores.collect import name_of
from sayso.scores.p_ik import P_IK, cross_fit_splits, folds_of, splits_of

#: the name under which the model's words stand: 1 where it hedged when told to, 0 where it did not
WORDS = "words"


def target_of(generation: Generation, asked: str) -> str:
    """Return the id of one scored fact: the answer, and in a paragraph the short question too."""
    return generation.id if generation.form == "short" else f"{generation.id}/{asked}"


# Answer metrics of words: which there are, and the texts that an answer is compared with.

#: answer metrics of words: name -> function of (references, answer)
LEXICAL = {
    "rouge_l": rouge_l,
    "squad_f1": squad_f1,
    "exact_match": exact_match,
    "contains": contains,
}
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_TIMESTAMP = re.compile(r"\+?(?P<year>\d{4,})-(?P<month>\d\d)-(?P<day>\d\d)T00:00:00Z")


def references(golds: Sequence[Gold]) -> list[str]:
    """Return the texts that an answer of words is compared with.

    A stored timestamp is no text that anybody says, so a date is written out; and all values
    together are one reference more, since a list may be given in one answer.
    """
    texts = [text for gold in golds for name in gold.names for text in _written(name)]
    values = [_written(gold.value)[0] for gold in golds]
    return [*texts, " and ".join(values)] if len(values) > 1 else texts


def _written(name: str) -> list[str]:
    found = _TIMESTAMP.fullmatch(name.strip())
    if found is None or not 1 <= int(found["month"]) <= 12:
        return [name]
    year, month, day = str(int(found["year"])), MONTHS[int(found["month"]) - 1], int(found["day"])
    full = [f"{day} {month} {year}", f"{month} {day}, {year}"]
    return [year, *full] if (found["month"], day) == ("01", 1) else full


# One row for each scored fact of a form, as arrays: what every number is made of.

Floats = NDArray[np.float64]


class Rows(NamedTuple):
    """One form of a run; arrays have n entries, NaN where something is missing.

    ``facts`` names each row by what was asked: (question, short question).
    ``scores`` by method; ``reasons`` why a method has no value at all. ``wrong`` by answer metric:
    1 incorrect, 0 correct; under ``"unknown"`` 1 where no draw of the question was right.
    ``values`` are the continuous metrics, ``words`` how many words the scored text has, ``judge``
    the name of the answer metric that the run's judge is. ``unread`` counts facts whose verdict
    could not be read, ``unplaced`` those in a paragraph that have no aligned value to score.
    ``drawn_unknown`` is 1 where no judged draw was right, whoever decides what is unknown;
    ``converged`` are, by learned score, the fits that converged and all of them, ``folds`` which
    answers one fit predicted: only those can be ranked (:func:`strata_of`). ``reference_words`` is
    how many words the first reference has. ``unanswerable`` are questions that nobody can answer,
    ``withheld`` answers that state no value.
    """

    form: str
    judge: str
    facts: list[tuple[str, str]]
    entity: NDArray[np.int64]
    type: NDArray[np.str_]
    scores: dict[str, Floats]
    reasons: dict[str, str]
    wrong: dict[str, Floats]
    values: dict[str, Floats]
    words: Floats
    unread: int
    unplaced: int
    dataset: NDArray[np.str_]
    drawn_unknown: Floats | None
    converged: dict[str, tuple[int, int]]
    folds: dict[str, NDArray[np.int64]]
    reference_words: Floats | None = None
    withheld: Floats | None = None
    unanswerable: NDArray[np.bool_] | None = None

    @property
    def size(self) -> int:
        """How many facts."""
        return len(self.entity)


def types_of(rows: Rows) -> NDArray[np.str_] | None:
    """Return the types of facts where there are several with more than one fact each, else none."""
    counts = Counter(rows.type.tolist())
    return rows.type if len(counts) > 1 and max(counts.values()) > 1 else None


def strata_of(
    rows: Rows, name: str, types: NDArray[np.str_] | None
) -> NDArray[np.str_] | NDArray[np.int64] | None:
    """Return within what a score is ranked: types, for a learned score folds too; none for all."""
    fold = rows.folds.get(name)
    if fold is None or types is None:
        return types if fold is None else fold
    return np.array([f"{f}/{t}" for f, t in zip(fold, types, strict=True)], dtype=np.str_)


OTHER_DATA = "p_ik_other_data"


def array_of(form: str, settings: Settings) -> str:
    """Return the name of the stored states of a form."""
    name = name_of(settings.p_ik.layer, settings.p_ik.position)
    return name if form == "short" else f"{name}-{form}"


#: from here on the probe says that the model does not know
HALF = 0.5
NOT_STORED = "needs hidden states, which this run did not read"


def with_probe(rows: Rows, targets: Sequence[str], run: Run, settings: Settings) -> Rows:
    """Return the rows of a form with the columns of P(IK), or why there is none."""
    if not wants_probe(settings) or P_IK in rows.reasons:
        return rows
    stored = run.states(array_of(rows.form, settings))
    if stored is None:
        return _without(rows, dict.fromkeys((P_IK, OTHER_DATA), NOT_STORED))
    ids, states = stored
    at = {target: n for n, target in enumerate(ids)}
    X = np.full((rows.size, states.shape[1]), np.nan)
    for row, target in enumerate(targets):
        if target in at:
            X[row] = states[at[target]]
    return fitted(rows, X, settings)


def fitted(rows: Rows, X: Floats, settings: Settings) -> Rows:
    """Return the rows with P(IK) of features X (n, d), NaN where there are none."""
    wrong = rows.wrong[rows.judge]
    held = np.isfinite(X).all(axis=1)
    use = held & ~np.isnan(wrong)
    folds = min(settings.p_ik.folds, len(np.unique(rows.entity[use])))
    if len(np.unique(wrong[use])) < 2:
        said = f"a probe needs right and wrong answers to learn from: {int(use.sum())} of one kind"
        return _without(rows, dict.fromkeys((P_IK, OTHER_DATA), said))
    if folds < 2:
        return _without(rows, dict.fromkeys((P_IK, OTHER_DATA), "all answers are about one entity"))
    rng = np.random.default_rng(settings.ci_seed)
    fold = folds_of(use, rows.entity, folds, rng)
    standardize = settings.p_ik.standardize
    value, probes = cross_fit_splits(X, wrong, splits_of(fold), standardize=standardize)
    found = {P_IK: value}
    names = np.unique(rows.dataset)
    if len(names) > 1:
        found[OTHER_DATA], more = cross_fit_splits(
            X, wrong, _other_data(rows), standardize=standardize
        )
        reasons = {} if more else {OTHER_DATA: "the other data sets have answers of one kind only"}
    else:
        said = f"needs several data sets in one run: this one has {names[0] or 'one'}"
        reasons, more = {OTHER_DATA: said}, []
    kept = {n: v for n, v in found.items() if n not in reasons}
    states = {P_IK: probes, OTHER_DATA: more}
    return rows._replace(
        scores={**rows.scores, **kept},
        reasons={**rows.reasons, **reasons},
        folds={P_IK: fold, OTHER_DATA: codes(rows.dataset)},
        converged={n: (sum(p.converged for p in states[n]), len(states[n])) for n in kept},
    )


def _other_data(rows: Rows) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """Yield for each data set the rows of the others, none about its own entities, and its rows."""
    for name in np.unique(rows.dataset):
        own = rows.dataset == name
        yield ~own & ~np.isin(rows.entity, rows.entity[own]), own


def _without(rows: Rows, reasons: Mapping[str, str]) -> Rows:
    return rows._replace(reasons={**rows.reasons, **reasons})


def known_by_probe(rows: Rows, short: Rows | None) -> Rows:
    """Return the rows with *unknown* decided by P(IK) of each fact's own short question."""
    by_question: dict[str, float] = {}
    if short is not None and P_IK in short.scores:
        asked = (question for _, question in short.facts)
        by_question = dict(zip(asked, short.scores[P_IK].tolist(), strict=True))
    p = np.array([by_question.get(question, np.nan) for _, question in rows.facts], dtype=float)
    unknown = np.where(np.isnan(p), np.nan, (p > HALF).astype(float))
    return rows._replace(wrong={**rows.wrong, UNKNOWN_TARGET: unknown})


def diagnostics(rows: Rows, settings: Settings) -> Iterator[Estimate]:
    """Yield how many folds converged, and how far P(IK) and the draws agree on what is known."""
    where = slice_of(layer=str(settings.p_ik.layer), position=settings.p_ik.position)
    for name, (converged, folds) in rows.converged.items():
        short = folds - converged
        yield Estimate(
            "probe_converged",
            where + slice_of(score=name),
            converged / folds,
            numerator=converged,
            denominator=folds,
            n=folds,
            problem=f"{short} of {folds} fits did not converge" if short else None,
        )
    if P_IK in rows.scores and rows.drawn_unknown is not None:
        p = rows.scores[P_IK]
        held = ~(np.isnan(p) | np.isnan(rows.drawn_unknown))
        same = (p > HALF) == (rows.drawn_unknown > 0)
        found = bootstrap_share(
            "known_agreement", same, held, rows.entity, settings.resamples, settings.ci_seed
        )
        yield msgspec.structs.replace(found, where=where + slice_of(score=P_IK))


# Who abstains where: on questions that nobody can answer, and on those that can be answered.
#
#     abstains_unanswerable = answers that withhold a value / questions without an answer
#     abstains_answerable   = the same over questions with golds: doubt where there was an
#     answer
#
# Only for data that says which questions are which (``Question.answerable``), and only by the
# run's
# judge: abstaining, refusing and asking back withhold, a hedged value does not. An empty answer
# and
# one that speaks of something else are no abstention; a missing verdict is left out and
# counted.

NAMES = ("abstains_unanswerable", "abstains_answerable")


def withheld(verdict: Verdict | None) -> float:
    """Return 1 where an answer states no value, 0 where it does, NaN without a verdict."""
    if verdict is None or verdict.stance is None:
        return float("nan")
    return float(verdict.stance in WITHHELD)


def abstentions(rows: Rows, settings: Settings) -> Iterator[Estimate]:
    """Yield both shares; nothing for data all of whose questions can be answered."""
    if rows.withheld is None or rows.unanswerable is None or not rows.unanswerable.any():
        return
    read = ~np.isnan(rows.withheld)
    for name, among in zip(NAMES, (rows.unanswerable, ~rows.unanswerable), strict=True):
        found = bootstrap_share(
            name,
            rows.withheld > 0,
            read & among,
            rows.entity,
            settings.resamples,
            settings.ci_seed,
        )
        missing = int((among & ~read).sum())
        if missing and found.numerator is not None:
            total = float(among.sum())
            low, high = found.numerator / total, (found.numerator + missing) / total
            found = msgspec.structs.replace(found, bound_low=low, bound_high=high)
        yield msgspec.structs.replace(found, where=slice_of(against=rows.judge), missing=missing)


def told(estimates: Iterable[Estimate]) -> list[str]:
    """Return what a reader must know of a run on such data, in a sentence for each form."""
    found = list(estimates)
    lines = []
    for where in dict.fromkeys(e.where for e in found if e.name == NAMES[0]):
        shares = {e.name: e for e in found if e.where == where and e.name in NAMES}
        parts = [_part(shares[name]) for name in NAMES if name in shares]
        lines.append(
            "Some questions cannot be answered, and whoever abstains there is right: the model "
            f"abstains on {' of these, on '.join(parts)}{' of the others' if parts[1:] else ''}."
        )
    return lines


def _part(share: Estimate) -> str:
    if share.value is None:
        return "none (0 of 0)"
    return f"{share.value:.0%} ({share.numerator:.0f} of {share.denominator:.0f})"


# The join of a selective run: one row for each scored fact of a form.
#
# Joined by ids, never by order. A row is a short answer, or the pair (paragraph, short
# question).


class _Fact(NamedTuple):
    target: str
    asked: str
    question: Question
    text: str | None
    verdicts: dict[str, Verdict]


def load_rows(run: Run, settings: Settings, judge: str) -> dict[str, Rows]:
    """Return the rows of each form that the run asked for. ``judge`` names its answer metric."""
    by_id = {q.id: q for q in run.questions}
    generations = {
        form: [g for g in _read(run, form) if not g.instructed] for form in ("short", "long")
    }
    state = _known(run, settings) if settings.known_k and settings.draws.k else {}
    found: dict[str, Rows] = {}
    for form, answers in generations.items():
        if not answers:
            continue
        facts = list(_facts(run, form, answers, by_id, judge))
        rows = _rows(run, form, facts, settings, judge, state)
        rows = with_probe(rows, [fact.target for fact in facts], run, settings)
        if settings.known_by == "probe":
            rows = known_by_probe(rows, rows if form == "short" else found.get("short"))
        found[form] = rows._replace(scores=_ordered(rows.scores))
    return found


def _read(run: Run, stage: str) -> list[Generation]:
    asked = {bool(q.parts) for q in run.questions}
    if (stage == "long") not in asked:
        return []
    return run.generations(stage)


def _facts(
    run: Run,
    form: str,
    answers: list[Generation],
    by_id: Mapping[str, Question],
    judge: str,
) -> Iterator[_Fact]:
    read: dict[str, dict[tuple[str, str], Verdict]] = {judge: {}}
    read[judge] = {(v.target, v.asked): v for v in run.verdicts(form)}
    if judge != "rules":
        read["rules"] = {(v.target, v.asked): v for v in run.verdicts(f"{form}-rules")}
    spans = {(v.target, v.asked): v for v in run.verdicts("long-spans")} if form == "long" else {}
    for g in answers:
        for asked in by_id[g.question].parts or (g.question,):
            verdicts = {
                by: found[g.id, asked] for by, found in read.items() if (g.id, asked) in found
            }
            text: str | None = g.text if g.problem is None else None
            if form == "long":
                spot = spans.get((g.id, asked))
                placed = spot is not None and spot.answer_start is not None
                text = g.text[spot.answer_start : spot.answer_end] if spot and placed else None
            yield _Fact(target_of(g, asked), g.question, by_id[asked], text, verdicts)


def _known(run: Run, settings: Settings) -> dict[str, int]:
    """Return what the first draws say about each short question (PROTOCOLS 1.A, step 1)."""
    verdicts = {v.target: v for v in run.verdicts("draws")}
    k = min(settings.known_k, settings.draws.k)
    draws = draws_by_question(run.generations("draws"), k)
    return {
        question: probe_state([verdicts[g.id].value if g.id in verdicts else None for g in some], k)
        for question, some in draws.items()
    }


def _rows(
    run: Run,
    form: str,
    facts: list[_Fact],
    settings: Settings,
    judge: str,
    state: Mapping[str, int],
) -> Rows:
    place = {fact.target: row for row, fact in enumerate(facts)}
    scores: dict[str, Floats] = {}
    reasons: dict[str, str] = {}
    for score in run.scores(form):
        if not score.target:
            reasons[score.method] = score.problem or "no value"
            continue
        column = scores.setdefault(score.method, np.full(len(facts), np.nan))
        if score.value is not None and score.target in place:
            column[place[score.target]] = score.value
    values = {name: np.full(len(facts), np.nan) for name in LEXICAL}
    wrong = {name: np.full(len(facts), np.nan) for name in (judge, "rules", *LEXICAL)}
    unknown = np.full(len(facts), np.nan)
    words, reference = np.full(len(facts), np.nan), np.full(len(facts), np.nan)
    for row, fact in enumerate(facts):
        # what nobody can answer is neither known nor unknown
        known = state.get(fact.question.id, UNREADABLE) if fact.question.golds else UNREADABLE
        if known in (KNOWN, UNKNOWN) or known == 2:  # a hedged probe is not a right one
            unknown[row] = float(known != KNOWN)
        for by, verdict in fact.verdicts.items():
            wrong[by][row] = _wrong(verdict, settings)
        if fact.text is None or not fact.question.golds:
            continue
        words[row] = len(fact.text.split())
        names = references(fact.question.golds)
        reference[row] = len(names[0].split())
        for name, metric in LEXICAL.items():
            values[name][row] = metric(names, fact.text)
    cuts = {
        "rouge_l": Threshold(settings.rouge_threshold),
        "squad_f1": Threshold(settings.f1_threshold, strict=False),
    }
    for name, column in values.items():
        wrong[name] = 1 - cuts.get(name, Threshold(0.5)).correct(column)
    if state:
        wrong[UNKNOWN_TARGET] = unknown
    entities = {e: i for i, e in enumerate(dict.fromkeys(entity_of(f.question) for f in facts))}
    unread = sum(judge not in f.verdicts or f.verdicts[judge].value is None for f in facts)
    return Rows(
        form=form,
        judge=judge,
        facts=[(f.asked, f.question.id) for f in facts],
        entity=np.array([entities[entity_of(f.question)] for f in facts], dtype=np.int64),
        type=np.array([f.question.type for f in facts], dtype=np.str_),
        scores=scores,
        reasons=reasons,
        wrong=wrong,
        values=values,
        words=words,
        unread=unread,
        unplaced=sum(f.text is None for f in facts) if form == "long" else 0,
        dataset=np.array([f.question.dataset for f in facts], dtype=np.str_),
        drawn_unknown=unknown if state else None,
        converged={},
        folds={},
        reference_words=reference,
        withheld=np.array([withheld(f.verdicts.get(judge)) for f in facts], dtype=np.float64),
        unanswerable=np.array([f.question.answerable is False for f in facts], dtype=np.bool_),
    )


def _wrong(verdict: Verdict, settings: Settings) -> float:
    """Return 1 for incorrect, 0 for correct, NaN for no verdict; content counts, not stance."""
    if verdict.value is None or verdict.value == "omitted":
        return float("nan")
    if verdict.content == "correct":
        return 0.0
    if verdict.content == "incorrect" or settings.abstained == "incorrect":
        return 1.0
    return float("nan")


def _ordered(scores: dict[str, Floats]) -> dict[str, Floats]:
    """Length first, the model's words last."""
    names = sorted(scores, key=lambda n: (n == WORDS, not n.startswith("length_")))
    return {name: scores[name] for name in names}
