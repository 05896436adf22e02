"""One table of all answers of a run, for every protocol: ``answers.parquet``.

A short answer is a row, and so is every aspect of a long text; joined by ids, never by order. It
holds what was stored, before any counting rule of a protocol, so that it can be read and filtered
without the other tables.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from sayso.judges.decisiveness import hedge_words
from sayso.protocols.endpoint_values import endpoint_values, texts_of_tokens
from sayso.protocols.pool import tokens_between
from sayso.protocols.probes import HEDGED_PROBE, KNOWN, UNKNOWN, draws_by_question, probe_state
from sayso.protocols.settings import Probing
from sayso.records import ENDPOINT, Generation, Gold, InputError, Question, Verdict
from sayso.report.notebook import AnswerTable
from sayso.storage.run_folder import RunFolder

TABLE = "answers"
#: why a row has no verdict, where its answer has no problem
NOT_JUDGED = "not judged"


class AnswerRecord(msgspec.Struct, frozen=True):
    """One short answer, or one aspect of a long text, with what was asked and what was read.

    ``sentence`` is the part of a long text that speaks of the aspect, ``stated`` the words that
    were compared with the golds. ``golds`` are all texts that are right. ``label`` is the verdict
    in one word (:attr:`sayso.records.Verdict.value`). ``known``: one of the judged ``draws`` of the
    question is right; ``draws_right`` of them are. ``draw_labels`` belong to ``draws``.
    """

    id: str
    question_id: str
    entity: str
    domain: str
    tier: str
    pair: str
    aspect: str
    question: str
    golds: tuple[str, ...] | None
    form: str
    stage: str
    method: str
    answer: str | None
    sentence: str | None
    stated: str | None
    stance: str | None
    content: str | None
    label: str | None
    known: bool | None
    draws_right: int | None
    draws: tuple[str | None, ...] | None
    draw_labels: tuple[str | None, ...] | None
    hedge_words: tuple[str, ...] | None
    logprob: float | None
    problem: str | None


class TokenRecord(AnswerRecord, frozen=True):
    """An answer with what is known of the tokens of a short one, and of its draws.

    The columns are those that ``sayso score`` reads. ``logprob_kind`` says whose log-probabilities
    they are, "endpoint_tempered" where an endpoint puts the temperature of the answer into them.
    """

    logprob_kind: str | None
    tokens: tuple[str, ...] | None
    token_logprobs: tuple[float, ...] | None
    token_entropies: tuple[float, ...] | None
    token_margins: tuple[float, ...] | None
    sample_tokens: tuple[tuple[str, ...] | None, ...] | None
    sample_token_logprobs: tuple[tuple[float, ...] | None, ...] | None
    sample_token_entropies: tuple[tuple[float, ...] | None, ...] | None


class RunAnswer(AnswerRecord, frozen=True):
    """An answer of one of several runs.

    ``run`` is "A" or "B" in a comparison, the folder of the run in a study; ``model`` and ``data``
    are what tables call them.
    """

    run: str
    protocol: str
    model: str
    data: str


class AnswersOf(NamedTuple):
    """The folder of a run, and the fields of a :class:`RunAnswer` that say which run it is."""

    path: Path
    run: str
    protocol: str
    model: str
    data: str


#: fields that a notebook shows of an answer, and of which run it is
SHOWN = (
    "form", "method", "question", "golds", "answer", "sentence", "stance", "content", "known"
)  # fmt: skip
SHOWN_RUN = ("run", "model", "data")


def answers_of_run(path: Path, what: str) -> AnswerTable[AnswerRecord]:
    """Return the stored answers of a run. Raises InputError for a run without a table of them."""
    _check_stored(path)
    return AnswerTable(what, AnswerRecord, SHOWN, partial(_stored, path))


def answers_of_runs(runs: Sequence[AnswersOf], what: str) -> AnswerTable[RunAnswer]:
    """Return the stored answers of several runs, one run after the other. Raises InputError."""
    for run in runs:
        _check_stored(run.path)

    def read() -> Iterator[RunAnswer]:
        for run in runs:
            for record in _stored(run.path):
                named = {**run._asdict(), **msgspec.structs.asdict(record)}
                yield RunAnswer(**{name: named[name] for name in RunAnswer.__struct_fields__})

    return AnswerTable(what, RunAnswer, (*SHOWN_RUN, *SHOWN), read)


def _stored(path: Path) -> Iterator[AnswerRecord]:
    return RunFolder.open(path).iter(TABLE, AnswerRecord)


def _check_stored(path: Path) -> None:
    if not RunFolder.open(path).has(TABLE):
        raise InputError(f"{path} has no table of its answers: `sayso measure {path}` writes it")


def write_answers(folder: RunFolder, questions: Sequence[Question], probing: Probing) -> None:
    """Write the table into a run folder."""
    folder.write(TABLE, answer_records(folder, questions, probing), AnswerRecord)


def answer_records(
    folder: RunFolder, questions: Sequence[Question], probing: Probing
) -> Iterator[AnswerRecord]:
    """Yield the rows of every judged stage in the order of its answers, short answers first."""
    by_id = {question.id: question for question in questions}
    drawn = _drawn(folder, by_id, probing)
    stages = [table.partition("/")[2] for table in folder.tables("generations")]
    for stage in sorted(stages, key=lambda stage: ("long" in stage, stage)):
        if stage == probing.stage or not folder.has(f"verdicts/{stage}"):
            continue
        read = _Read(
            *(_verdicts(folder, f"{stage}{suffix}") for suffix in ("", "-aspects", "-spans"))
        )
        for g in folder.iter(f"generations/{stage}", Generation):
            asked = by_id[g.question]
            for part in asked.parts or (asked.id,):
                yield _record(g, stage, by_id[part], read, drawn.get(part, NOT_DRAWN))


def token_records(
    folder: RunFolder, questions: Sequence[Question], probing: Probing
) -> Iterator[TokenRecord]:
    """Yield the same rows with the values of tokens; those behind a thought are left out."""
    stages = [table.partition("/")[2] for table in folder.tables("generations")]
    short = [stage for stage in stages if "long" not in stage and stage != probing.stage]
    answers = {g.id: g for s in short for g in folder.iter(f"generations/{s}", Generation)}
    has_draws = bool(probing.stage) and probing.stage in stages
    stored = folder.read(f"generations/{probing.stage}", Generation) if has_draws else []
    draws = draws_by_question(stored)
    values = endpoint_values([*answers.values()], draws)
    for row in answer_records(folder, questions, probing):
        g = answers.get(row.id)
        known = g is not None and g.problem is None and g.logprob_kind in ("model", ENDPOINT)
        own = g if known else None
        kind = own.logprob_kind if own else None
        tempered = kind == ENDPOINT and values.kind == "processed"
        some = draws.get(row.question_id, ()) if row.draws is not None else ()
        named = [d if d.logprob_kind in ("model", ENDPOINT) else None for d in some]
        yield TokenRecord(
            **msgspec.structs.asdict(row),
            logprob_kind=f"{kind}_tempered" if tempered else kind,
            tokens=texts_of_tokens(own) if own else None,
            token_logprobs=own.logprobs if own else None,
            token_entropies=own.entropies if own else None,
            token_margins=own.margins if own else None,
            sample_tokens=tuple(texts_of_tokens(d) if d else None for d in named) or None,
            sample_token_logprobs=tuple(d.logprobs if d else None for d in named) or None,
            sample_token_entropies=tuple(d.entropies if d else None for d in named) or None,
        )


class _Read(NamedTuple):
    """Verdicts of a stage by (answer, question): its own, those of aspects, those on places."""

    own: Mapping[tuple[str, str], Verdict]
    aspects: Mapping[tuple[str, str], Verdict]
    spans: Mapping[tuple[str, str], Verdict]


def _verdicts(folder: RunFolder, stage: str) -> dict[tuple[str, str], Verdict]:
    if not folder.has(f"verdicts/{stage}"):
        return {}
    return {(v.target, v.asked): v for v in folder.iter(f"verdicts/{stage}", Verdict)}


def _record(
    g: Generation, stage: str, question: Question, read: _Read, drawn: _Drawn
) -> AnswerRecord:
    key = (g.id, question.id)
    # of a text without aspects there is at most a verdict on the whole
    verdict = read.own.get(key) or read.aspects.get(key) or read.own.get((g.id, g.question))
    aspect = question.aspect
    answer = None if g.problem is not None and not g.text else g.text
    sentence = stated = None
    if verdict is not None:
        stated = _part(g.text, verdict.answer_start, verdict.answer_end)
        sentence = _part(g.text, verdict.start, verdict.end) if g.form == "long" else None
    spoken = sentence if g.form == "long" else answer
    problem = g.problem
    if problem is None:
        problem = NOT_JUDGED if verdict is None else verdict.problem
    return AnswerRecord(
        id=g.id,
        question_id=question.id,
        entity=question.entity,
        domain=question.domain,
        tier=question.tier,
        pair=question.pair,
        aspect=(aspect.description or aspect.label or aspect.property_id) if aspect else "",
        question=question.text,
        golds=_golds(question.golds),
        form=g.form,
        stage=stage,
        method=g.method,
        answer=answer,
        sentence=sentence,
        stated=stated,
        stance=verdict.stance if verdict else None,
        content=verdict.content if verdict else None,
        label=(verdict.value or verdict.label) if verdict else None,
        **drawn._asdict(),
        hedge_words=hedge_words(spoken) if spoken is not None else None,
        logprob=_logprob(g, read.spans.get(key)),
        problem=problem,
    )


def _part(text: str, start: int | None, end: int | None) -> str | None:
    """Return a stretch of a text; ``None`` where nobody placed one."""
    if start is None or end is None or not 0 <= start < end <= len(text):
        return None
    return text[start:end]


def _golds(golds: Sequence[Gold] | None) -> tuple[str, ...] | None:
    """Return every text that is right: values with their unit, and aliases."""
    if golds is None:
        return None
    units = {gold: f" {gold.unit}" if gold.unit else "" for gold in golds}
    return tuple(text for g in golds for text in (f"{g.value}{units[g]}", *g.aliases))


def _logprob(g: Generation, span: Verdict | None) -> float | None:
    """Return the mean log-probability (nats per token) of a short answer, or of a placed value.

    In a long text only places count that were read without a look at the truth: a judge that holds
    the gold cuts right values out more closely than wrong ones.
    """
    if not g.logprobs or g.problem is not None:
        return None
    values = g.logprobs
    if g.form == "long":
        if span is None or span.answer_start is None or span.answer_end is None:
            return None
        if not g.offsets or len(g.offsets) != len(g.logprobs):
            return None
        places = tokens_between(g, span.answer_start, span.answer_end)
        values = tuple(g.logprobs[place] for place in places)
    if not values or not all(map(math.isfinite, values)):
        return None
    return math.fsum(values) / len(values)


# ---- draws, and what they say about knowledge


class _Drawn(NamedTuple):
    """The columns about the draws of one question."""

    known: bool | None
    draws_right: int | None
    draws: tuple[str | None, ...] | None
    draw_labels: tuple[str | None, ...] | None


NOT_DRAWN = _Drawn(None, None, None, None)


class DrawNumber(msgspec.Struct, frozen=True):
    """Which draw of its question a stored one is."""

    sample: int = 0


class StoredDraw(msgspec.Struct, frozen=True):
    """What is read of a stored draw: its arrays are most of the table."""

    id: str
    question: str
    text: str
    request: DrawNumber
    method: str = ""
    problem: str | None = None


def _drawn(folder: RunFolder, by_id: Mapping[str, Question], probing: Probing) -> dict[str, _Drawn]:
    """Return the columns about draws by question; none where the run drew nothing."""
    table = f"generations/{probing.stage}"
    if not probing.stage or not folder.has(table):
        return {}
    draws: dict[str, list[StoredDraw]] = {}
    for draw in sorted(folder.iter(table, StoredDraw), key=lambda draw: draw.request.sample):
        draws.setdefault(draw.question, []).append(draw)
    verdicts = {target: v for (target, _), v in _verdicts(folder, probing.stage).items()}
    return {
        name: _columns(some, by_id[name], verdicts, probing)
        for name, some in draws.items()
        if name in by_id
    }


def _columns(
    draws: Sequence[StoredDraw],
    question: Question,
    verdicts: Mapping[str, Verdict],
    probing: Probing,
) -> _Drawn:
    labels = tuple(verdicts[d.id].value if d.id in verdicts else None for d in draws)
    first = [v for d, v in zip(draws, labels, strict=True) if d.request.sample < probing.k]
    texts = tuple(None if d.problem is not None and not d.text else d.text for d in draws)
    if not verdicts:
        return _Drawn(None, None, texts, None)
    known = right = None
    if first and question.golds:
        state = probe_state(first, probing.k, probing.at_least)
        known = {KNOWN: True, UNKNOWN: False, HEDGED_PROBE: probing.hedged}.get(state)
        right = first.count("correct")
    return _Drawn(known, right, texts, labels)
