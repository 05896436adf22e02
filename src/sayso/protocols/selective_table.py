"""The join of a selective run: one row for each scored fact of a form.

Joined by ids, never by order. A row is a short answer, or the pair (paragraph, short question).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sayso.annotate.lexical import contains, exact_match, rouge_l, squad_f1
from sayso.metrics.thresholds import Threshold
from sayso.protocols import Run
from sayso.protocols.aspects import KNOWN, UNKNOWN, UNREADABLE, draws_by_question, probe_state
from sayso.protocols.selective_evidence import WORDS, target_of
from sayso.protocols.selective_probe import known_by_probe, with_probe
from sayso.protocols.selective_settings import UNKNOWN_TARGET, Settings
from sayso.records import Generation, Gold, Question, Verdict

Floats = NDArray[np.float64]
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
    answers one fit predicted: only those can be ranked (:func:`strata_of`).
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

    @property
    def size(self) -> int:
        """How many facts."""
        return len(self.entity)


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
        if form == "short":
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
    words = np.full(len(facts), np.nan)
    for row, fact in enumerate(facts):
        known = state.get(fact.question.id, UNREADABLE)
        if known in (KNOWN, UNKNOWN) or known == 2:  # a hedged probe is not a right one
            unknown[row] = float(known != KNOWN)
        for by, verdict in fact.verdicts.items():
            wrong[by][row] = _wrong(verdict, settings)
        if fact.text is None or not fact.question.golds:
            continue
        words[row] = len(fact.text.split())
        names = references(fact.question.golds)
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
    entities = {e: i for i, e in enumerate(dict.fromkeys(_entity(f.question) for f in facts))}
    unread = sum(judge not in f.verdicts or f.verdicts[judge].value is None for f in facts)
    return Rows(
        form=form,
        judge=judge,
        facts=[(f.asked, f.question.id) for f in facts],
        entity=np.array([entities[_entity(f.question)] for f in facts], dtype=np.int64),
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
    )


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


def _entity(question: Question) -> tuple[str, str]:
    """Return what is resampled: the entity, or the question where there is none."""
    return (question.domain, question.entity) if question.entity else ("", question.id)


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
