"""One row for each scored fact of a form, as arrays: what every number is made of.

Joined by ids, never by order. A fact is a short answer, or a value inside a paragraph. P(IK), the
score that is learned from hidden states, gets its columns here (:func:`with_probe`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sayso.answers.lexical import contains, exact_match, reference_texts, rouge_l, squad_f1
from sayso.judges.judge import WITHHELD
from sayso.metrics.arrays import Floats
from sayso.metrics.length_audit import Threshold
from sayso.protocols.passages import AGAIN, AskedAgain, shown_passages
from sayso.protocols.pool import clusters_of
from sayso.protocols.probes import KNOWN, UNREADABLE, draws_by_question, probe_state
from sayso.protocols.protocol import Run, rows_if_any, stored_answers, verdicts_at
from sayso.protocols.selective.settings import (
    BERT,
    Settings,
    asked_forms,
    further_metrics,
    wants_probe,
)
from sayso.protocols.stored import settings_of_run, stored_run
from sayso.protocols.thoughts import thought_scores
from sayso.records import Estimate, Generation, Question, Score, Verdict, part_of
from sayso.scores.collect import hidden_name
from sayso.scores.p_ik import P_IK, cross_fit_splits, folds_of, splits_of
from sayso.scores.text_only import TEXT_ONLY, ngrams, text_only
from sayso.storage.run_folder import Manifest, RunFolder

#: the model's words as a score: 1 where it hedged when asked to voice doubt, 0 where it did not
WORDS = "words"
#: P(IK) that was learned on the other data sets of a study
OTHER_DATA = "p_ik_other_data"


class FormRows(NamedTuple):
    """One form of a run; arrays have n entries, NaN where something is missing.

    ``facts`` names each row by (question asked, short question), ``scores`` has a column for each
    method, ``reasons`` why a method has no value at all. ``wrong`` by answer metric: 1 incorrect,
    0 correct. ``values`` are the continuous metrics, ``words`` how many words the scored text has,
    ``judge`` the answer metric that the run's judge is. ``unread`` counts facts whose verdict could
    not be read. By learned score, ``notes`` say which fits did not converge, and ``folds`` which
    answers one fit predicted: only those can be ranked (:func:`strata_of`). ``reference_words`` is
    how many words the first reference has. ``unknown`` is 1 where no draw of the question was
    right. ``unanswerable`` are questions that nobody can answer, ``withheld``
    answers that state no value. ``told`` are the same of the answer of a model told to express
    uncertainty; ``None`` if it never was.
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
    notes: dict[str, str]
    folds: dict[str, NDArray[np.int64]]
    unknown: Floats | None = None
    reference_words: Floats | None = None
    withheld: Floats | None = None
    told: Floats | None = None
    unanswerable: NDArray[np.bool_] | None = None
    #: how widely known the subjects are, "" where nobody said
    tier: NDArray[np.str_] | None = None
    #: the judge's stance, "" where it has none
    stance: NDArray[np.str_] | None = None
    #: 1 right, -1 wrong, 0 withheld or nothing said, NaN where nobody can say
    outcome: Floats | None = None
    #: a part of the answer and nothing wrong, by a judge of four grades
    partly: NDArray[np.bool_] | None = None
    #: questions with an answer that nobody gives us
    ungraded: NDArray[np.bool_] | None = None
    #: answers to the same questions without their passage or with another one, by stage
    again: Mapping[str, AskedAgain] = MappingProxyType({})
    #: how surely the thought before an answer ends, NaN for none; ``None`` where nobody thought
    thought: Floats | None = None
    #: hidden states (n, d) that P(IK) learns from, NaN where an answer has none
    states: Floats | None = None

    @property
    def four_grades(self) -> bool:
        """Whether the judge tells a part of the answer from a wrong one, as AA-Omniscience does."""
        seen = self.partly is not None and self.partly.any()
        return bool(seen or "grades" in self.judge.split("+"))

    @property
    def size(self) -> int:
        """How many facts."""
        return len(self.entity)


#: stated a part of the answer and nothing wrong, which only a judge of four grades tells
PARTLY = "partly"
#: what an answer can do: state a right or a wrong value, hedge one that is right, wrong or neither,
#: decline, state no value, state one that no gold can judge, or lack a verdict
FATES = (
    "right", "wrong", "hedged_right", "hedged_wrong", "hedged_other", "declined", "nothing",
    "ungraded", "unread", PARTLY,
)  # fmt: skip


def fates_of(rows: FormRows) -> NDArray[np.str_]:
    """Return what each answer did (n,), one of :data:`FATES`."""
    assert rows.stance is not None
    assert rows.outcome is not None
    fates = np.array(
        [_fate(s, o) for s, o in zip(rows.stance.tolist(), rows.outcome.tolist(), strict=True)],
        dtype=np.str_,
    )
    return fates if rows.partly is None else np.where(rows.partly, PARTLY, fates)


def _fate(stance: str, worth: float) -> str:
    """Return what an answer of a stance and an outcome did."""
    if stance in WITHHELD:
        return "declined"
    if stance in ("", "omitted"):
        return "nothing" if stance else "unread"
    if stance == "hedged":
        return {1.0: "hedged_right", -1.0: "hedged_wrong"}.get(worth, "hedged_other")
    return {1.0: "right", -1.0: "wrong", 0.0: "nothing"}.get(worth, "ungraded")


def types_of(rows: FormRows) -> NDArray[np.str_] | None:
    """Return the types of facts where there are several with more than one fact each, else none."""
    counts = Counter(rows.type.tolist())
    return rows.type if len(counts) > 1 and max(counts.values()) > 1 else None


def strata_of(
    rows: FormRows, name: str, types: NDArray[np.str_] | None
) -> NDArray[np.str_] | NDArray[np.int64] | None:
    """Return the strata a score is ranked in: types, and a learned score's folds; or ``None``."""
    fold = rows.folds.get(name)
    if fold is None or types is None:
        return types if fold is None else fold
    return np.array([f"{f}/{t}" for f, t in zip(fold, types, strict=True)], dtype=np.str_)


def target_of(generation: Generation, short: str) -> str:
    """Return the id of one scored fact: the answer, and in a paragraph the short question too."""
    return generation.id if generation.form == "short" else f"{generation.id}/{short}"


# ---- joining the stored tables


def rows_of_folder(
    folder: RunFolder, manifest: Manifest, estimates: Iterable[Estimate]
) -> tuple[dict[str, FormRows], Settings]:
    """Return the rows of a finished run by form, and its settings."""
    chosen = settings_of_run(manifest, Settings())
    judges = (part_of(e.where, "against") for e in estimates if e.name == "error_rate")
    return load_rows(stored_run(folder), chosen, next(judges, "rules")), chosen


class _FactRow(NamedTuple):
    """A scored fact: what was asked, the text that states it, and its verdict by answer metric."""

    target: str
    asked_in: str
    question: Question
    text: str | None
    verdicts: dict[str, Verdict]


def load_rows(run: Run, settings: Settings, judge: str) -> dict[str, FormRows]:
    """Return the rows of each form that the run asked for. ``judge`` names its answer metric."""
    by_id = {q.id: q for q in run.questions}
    state = _known(run, settings) if settings.known_k and settings.draws.k else {}
    forms: dict[str, FormRows] = {}
    for form in asked_forms(run.questions, settings):
        answers = [g for g in stored_answers(run, form) if not g.instructed]
        if not answers:
            continue
        facts = list(_facts(run, form, answers, by_id, judge))
        rows = _rows(run, form, facts, settings, judge, state)
        rows = with_probe(rows, [fact.target for fact in facts], run, settings)
        rows = with_text_only(rows, facts, settings)
        # length and the text alone first, the model's words last
        names = sorted(
            rows.scores,
            key=lambda n: (n == WORDS, n != TEXT_ONLY and not n.startswith("length_")),
        )
        forms[form] = rows._replace(scores={name: rows.scores[name] for name in names})
    return forms


def _known(run: Run, settings: Settings) -> dict[str, int]:
    """Return what the first draws say about each short question."""
    verdicts = {v.target: v for v in run.folder.read("verdicts/draws", Verdict)}
    k = min(settings.known_k, settings.draws.k)
    draws = draws_by_question(run.folder.read("generations/draws", Generation), k)
    return {
        question: probe_state([verdicts[g.id].value if g.id in verdicts else None for g in some], k)
        for question, some in draws.items()
    }


def _facts(
    run: Run,
    form: str,
    answers: list[Generation],
    by_id: Mapping[str, Question],
    judge: str,
) -> Iterator[_FactRow]:
    read = {judge: verdicts_at(run, form)}
    if judge != "rules":
        read["rules"] = verdicts_at(run, f"{form}-rules")
    spans = verdicts_at(run, "long-spans") if form == "long" else {}
    for g in answers:
        for short in by_id[g.question].parts or (g.question,):
            verdicts = {by: rows[g.id, short] for by, rows in read.items() if (g.id, short) in rows}
            text: str | None = g.text if g.problem is None else None
            if form == "long":
                span = spans.get((g.id, short))
                placed = span is not None and span.answer_start is not None
                text = g.text[span.answer_start : span.answer_end] if span and placed else None
            yield _FactRow(target_of(g, short), g.question, by_id[short], text, verdicts)


def rows_as_read(
    rows: FormRows, people: Run, settings: Settings
) -> tuple[FormRows, list[tuple[str, str]], NDArray[np.bool_]]:
    """Return the rows by other verdicts, the places of these, and where there is one."""
    by_id = {q.id: q for q in people.questions}
    answers = [g for g in stored_answers(people, rows.form) if not g.instructed]
    facts = list(_facts(people, rows.form, answers, by_id, rows.judge))
    places = [(g.id, short) for g in answers for short in by_id[g.question].parts or (g.question,)]
    own = [fact.verdicts.get(rows.judge) for fact in facts]
    labeled = _without_golds(facts, rows.judge)
    wrong = _judged(facts, settings, rows.judge, labeled=labeled)[rows.judge]
    withheld = np.array([_withheld(f.question, v) for f, v in zip(facts, own, strict=True)])
    read = np.array([v is not None and v.value is not None for v in own], dtype=np.bool_)
    return rows._replace(wrong={rows.judge: wrong}, withheld=withheld), places, read


def _rows(
    run: Run,
    form: str,
    facts: list[_FactRow],
    settings: Settings,
    judge: str,
    state: Mapping[str, int],
) -> FormRows:
    scores, reasons = _columns(rows_if_any(run, f"scores/{form}", Score), facts)
    values, words, reference_words = _word_metrics(facts)
    labeled = _without_golds(facts, judge)
    wrong = _judged(facts, settings, judge, labeled=labeled)
    values |= _graded(run, form, facts, settings)
    wrong |= {name: 1 - cut_of(name, settings).correct(of) for name, of in values.items()}
    unknown = _unknown(facts, state) if state else None
    lacking = any(ungraded(f.question) for f in facts) and not labeled
    if lacking and not any(f.question.golds for f in facts):
        # what is left are the questions without an answer: no picture of the errors
        wrong = {name: np.full(len(facts), np.nan) for name in wrong}
        unknown = None if unknown is None else np.full(len(facts), np.nan)
    # in sorted order, so that no number depends on the order of the questions
    clusters = clusters_of(run.questions)
    entities = {e: i for i, e in enumerate(sorted({clusters[f.question.id] for f in facts}))}
    ends = thought_scores(run, form)
    return FormRows(
        form=form,
        judge=judge,
        facts=[(f.asked_in, f.question.id) for f in facts],
        entity=np.array([entities[clusters[f.question.id]] for f in facts], dtype=np.int64),
        type=np.array([f.question.type for f in facts], dtype=np.str_),
        scores=scores,
        reasons=reasons,
        wrong=wrong,
        values=values,
        words=words,
        unread=sum(not _stance(f.verdicts.get(judge)) for f in facts),
        notes={},
        folds={},
        unknown=unknown,
        reference_words=reference_words,
        withheld=np.array([_withheld(f.question, f.verdicts.get(judge)) for f in facts]),
        told=_told(run, form, facts),
        unanswerable=np.array([f.question.answerable is False for f in facts], dtype=np.bool_),
        tier=np.array([f.question.tier for f in facts], dtype=np.str_),
        stance=np.array([_stance(f.verdicts.get(judge)) for f in facts], dtype=np.str_),
        outcome=np.array([_outcome(f, judge, labeled=labeled) for f in facts], dtype=np.float64),
        partly=np.array(
            [(v := f.verdicts.get(judge)) is not None and v.content == "partial" for f in facts]
        ),
        ungraded=np.array([ungraded(f.question) and not labeled for f in facts], dtype=np.bool_),
        again=_asked_again(run, facts) if form == "short" else {},
        thought=np.array([ends.get(f.target, np.nan) for f in facts]) if ends else None,
    )


def _withheld(question: Question, verdict: Verdict | None) -> float:
    """Return whether an answer names no value; NaN where nobody says if there is one."""
    if question.answerable is None and not question.golds:
        return float("nan")
    return withheld_values(verdict)


def _told(run: Run, form: str, facts: Sequence[_FactRow]) -> Floats | None:
    """Return which facts the model withheld when it was told to express uncertainty."""
    answers = {
        g.question: g.id for g in run.folder.read(f"generations/{form}", Generation) if g.instructed
    }
    if not answers:
        return None
    read = verdicts_at(run, form)
    verdicts = [read.get((answers.get(f.asked_in, ""), f.question.id)) for f in facts]
    return np.array([_withheld(f.question, v) for f, v in zip(facts, verdicts, strict=True)])


def _outcome(fact: _FactRow, judge: str, *, labeled: bool) -> float:
    """Return what an answer is worth; NaN where no gold could say what another would have been."""
    if ungraded(fact.question) and not labeled:
        return float("nan")
    return outcome(fact.verdicts.get(judge))


def _without_golds(facts: list[_FactRow], judge: str) -> bool:
    """Tell whether the judge says what is right without a gold, as people do."""
    return any(
        judge in f.verdicts and f.verdicts[judge].content in ("correct", "incorrect")
        for f in facts
        if ungraded(f.question)
    )


def _judged(
    facts: list[_FactRow], settings: Settings, judge: str, *, labeled: bool
) -> dict[str, Floats]:
    """Return 1 for a wrong answer by the judge and by the rules, NaN where nobody can say."""
    wrong = {name: np.full(len(facts), np.nan) for name in (judge, "rules")}
    for row, fact in enumerate(facts):
        for by, verdict in fact.verdicts.items():
            if not ungraded(fact.question) or (labeled and by == judge):
                wrong[by][row] = _wrong(verdict, settings)
    return wrong


def _columns(
    stored: Iterable[Score], facts: list[_FactRow]
) -> tuple[dict[str, Floats], dict[str, str]]:
    """Return stored values by method, NaN for nothing, and why a method has no value at all."""
    place = {fact.target: row for row, fact in enumerate(facts)}
    scores: dict[str, Floats] = {}
    reasons: dict[str, str] = {}
    for score in stored:
        if not score.target:
            reasons[score.method] = score.problem or "no value"
            continue
        column = scores.setdefault(score.method, np.full(len(facts), np.nan))
        if score.value is not None and score.target in place:
            column[place[score.target]] = score.value
    return scores, reasons


def metrics_table_of(form: str) -> str:
    """Return the table of the values of answer metrics that take a model."""
    return f"{form}-metrics"


def _graded(run: Run, form: str, facts: list[_FactRow], settings: Settings) -> dict[str, Floats]:
    """Return what each answer metric that takes a model says of the facts, NaN for nothing."""
    names, table = further_metrics(settings), metrics_table_of(form)
    stored = rows_if_any(run, f"scores/{table}", Score) if names else ()
    found, none = _columns(stored, facts)[0], np.full(len(facts), np.nan)
    return {name: found.get(name, none) for name in names}


def _word_metrics(facts: list[_FactRow]) -> tuple[dict[str, Floats], Floats, Floats]:
    """Return the answer metrics of words, and the words of each answer and its first reference."""
    values = {name: np.full(len(facts), np.nan) for name in LEXICAL}
    words, reference_words = np.full(len(facts), np.nan), np.full(len(facts), np.nan)
    for row, fact in enumerate(facts):
        if fact.text is None:
            continue
        words[row] = len(fact.text.split())
        if not fact.question.golds:
            continue
        texts = reference_texts(fact.question.golds)
        reference_words[row] = len(texts[0].split())
        for name, metric in LEXICAL.items():
            values[name][row] = metric(texts, fact.text)
    return values, words, reference_words


def _unknown(facts: list[_FactRow], state: Mapping[str, int]) -> Floats:
    """Return 1 where no draw was right, 0 where one was; what nobody can answer is neither."""
    unknown = np.full(len(facts), np.nan)
    for row, fact in enumerate(facts):
        known = state.get(fact.question.id, UNREADABLE) if fact.question.golds else UNREADABLE
        if known != UNREADABLE:
            unknown[row] = float(known != KNOWN)  # a hedged probe is not a right one
    return unknown


def _wrong(verdict: Verdict, settings: Settings) -> float:
    """Return 1 for incorrect, 0 for correct, NaN for no verdict; content counts, not stance."""
    if verdict.value is None or verdict.value == "omitted":
        return float("nan")
    if verdict.content == "correct":
        return 0.0
    if verdict.content in ("incorrect", "partial") or settings.abstained == "incorrect":
        return 1.0
    return float("nan")


def ungraded(question: Question) -> bool:
    """Tell whether nobody gives us the answer to a short question that may have one."""
    return question.answerable is not False and not question.golds and not question.parts


def _stance(verdict: Verdict | None) -> str:
    """Return the stance of a verdict, "" where it could not be read."""
    return "" if verdict is None else (verdict.stance or "")


def outcome(verdict: Verdict | None) -> float:
    """Return 1 for a right value, -1 for a wrong one, 0 for none or a part, NaN: nobody can say."""
    if verdict is None or verdict.stance is None:
        return float("nan")
    if verdict.stance in WITHHELD or verdict.content == "none":
        return 0.0
    worth = {"correct": 1.0, "incorrect": -1.0, "partial": 0.0, None: float("nan")}
    return worth[verdict.content]


def _asked_again(run: Run, facts: Sequence[_FactRow]) -> dict[str, AskedAgain]:
    """Return how the questions were answered without their passage, and with another one."""
    found = {}
    for stage in AGAIN:
        if not run.folder.has(f"verdicts/{stage}"):
            continue
        shown = shown_passages(run.questions, stage)
        said = {g.question: g.text for g in run.folder.read(f"generations/{stage}", Generation)}
        read = {v.asked: v for v in run.folder.read(f"verdicts/{stage}", Verdict)}
        rows = [_answer_again(f.question, read.get(f.question.id), said, shown) for f in facts]
        columns = np.array(rows, dtype=np.float64).reshape(len(facts), 3)
        asked = np.array([f.question.id in said for f in facts], dtype=np.bool_)
        found[stage] = AskedAgain(asked, *columns.T)
    return found


def _answer_again(
    question: Question, verdict: Verdict | None, said: Mapping[str, str], shown: Mapping[str, str]
) -> tuple[float, float, float]:
    """Return withheld, outcome and found of one answer."""
    found = 0.0
    if verdict is not None and verdict.answer_start is not None:
        value = said.get(question.id, "")[verdict.answer_start : verdict.answer_end]
        found = contains([value], shown.get(question.id, "")) if value.strip() else 0.0
    worth = float("nan") if ungraded(question) else outcome(verdict)
    return withheld_values(verdict), worth, found


def withheld_values(verdict: Verdict | None) -> float:
    """Return 1 where an answer states no value, 0 where it does, NaN without a verdict."""
    if verdict is None or verdict.stance is None:
        return float("nan")
    return float(verdict.stance in WITHHELD)


# ---- answer metrics of words, and from which value on an answer is right

#: name -> function of (references, answer)
LEXICAL = {
    "rouge_l": rouge_l,
    "squad_f1": squad_f1,
    "exact_match": exact_match,
    "contains": contains,
}


def cut_of(metric: str, settings: Settings) -> Threshold:
    """Return where a run cuts an answer metric that has values."""
    if metric.startswith(BERT):
        return Threshold(settings.bert_threshold)
    cuts = {
        "rouge_l": Threshold(settings.rouge_threshold),
        "squad_f1": Threshold(settings.f1_threshold, strict=False),
    }
    return cuts.get(metric, Threshold(0.5))


# ---- P(IK): a probe on the hidden states of the answers, by cross-fitting
#
#     P(incorrect | h) = 1 / (1 + exp(-(w h + b))),  L2, C = 1, on features of unit spread
#
# Every answer is predicted by a probe that saw no answer about its entity. Answers are ranked
# against those of the same fold only: between folds chance alone ranks them the wrong way around,
# since where a fold (or a type in it) has many wrong answers the others have few, and that is what
# its probe learned. Measured on states that say nothing: .36 over all pairs, .50 within folds.
#
# Labels are *incorrect* by the run's judge, so the probe is fitted when numbers are made, from what
# is stored: the states were read once, when the answers were. Folds that did not converge are
# counted, and what cannot be fitted says why.

NOT_STORED = "needs hidden states, which this run did not read"


def array_of(form: str, settings: Settings) -> str:
    """Return the name of the stored states of a form."""
    name = hidden_name(settings.p_ik.layer, settings.p_ik.position)
    return name if form == "short" else f"{name}-{form}"


def with_probe(rows: FormRows, targets: Sequence[str], run: Run, settings: Settings) -> FormRows:
    """Return the rows of a form with the columns of P(IK), or why there is none."""
    if not wants_probe(settings) or P_IK in rows.reasons:
        return rows
    stored = run.folder.read_array(array_of(rows.form, settings))
    if stored is None:
        return _without(rows, P_IK, NOT_STORED)
    head, states = stored
    place = {target: n for n, target in enumerate(head.ids)}
    X = np.full((rows.size, states.shape[1]), np.nan)
    for row, target in enumerate(targets):
        if target in place:
            X[row] = states[place[target]]
    return fit_probe(rows, X, settings)._replace(states=X)


def fit_probe(rows: FormRows, X: Floats, settings: Settings) -> FormRows:
    """Return the rows with P(IK) of features X (n, d), NaN where there are none."""
    wrong = rows.wrong[rows.judge]
    use = np.isfinite(X).all(axis=1) & ~np.isnan(wrong)
    folds = min(settings.p_ik.folds, len(np.unique(rows.entity[use])))
    if len(np.unique(wrong[use])) < 2:
        reason = f"a probe needs right and wrong answers to learn from; all {use.sum()} are alike"
        return _without(rows, P_IK, reason)
    if folds < 2:
        return _without(rows, P_IK, "all answers are about one entity")
    rng = np.random.default_rng(settings.ci_seed)
    fold = folds_of(use, rows.entity, folds, rng)
    standardize = settings.p_ik.standardize
    value, probes = cross_fit_splits(X, wrong, splits_of(fold), standardize=standardize)
    failed = sum(not probe.converged for probe in probes)
    note = {P_IK: f"{failed} of {len(probes)} fits did not converge"} if failed else {}
    return rows._replace(
        scores={**rows.scores, P_IK: value},
        folds={**rows.folds, P_IK: fold},
        notes={**rows.notes, **note},
    )


def with_text_only(rows: FormRows, facts: Sequence[_FactRow], settings: Settings) -> FormRows:
    """Return the rows with the text-only baseline, or why there is none."""
    ngrams_of = [ngrams(fact.question.text, fact.text or "") for fact in facts]
    wrong = np.where([fact.text is None for fact in facts], np.nan, rows.wrong[rows.judge])
    found = text_only(ngrams_of, wrong, rows.entity, seed=settings.ci_seed)
    if isinstance(found, str):
        return _without(rows, TEXT_ONLY, found)
    return rows._replace(
        scores={**rows.scores, TEXT_ONLY: found.value},
        folds={**rows.folds, TEXT_ONLY: found.fold},
    )


def _without(rows: FormRows, score: str, reason: str) -> FormRows:
    return rows._replace(reasons={**rows.reasons, score: reason})
