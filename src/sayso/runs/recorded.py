"""Answers on record as a model: a run of it asks nobody.

Each request of a protocol is answered by what stands in a file
(:mod:`sayso.datasets.recorded`): the answer to the question, or one of its samples. What is not on
record is left out of the run and counted. People's verdicts are a judge of their own, who is never
mixed with another.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sayso.datasets.answer_rows import AnswerRow
from sayso.datasets.columns import check_column_map
from sayso.datasets.dataset import Dataset
from sayso.datasets.recorded import RecordedAnswers, RecordedModel, read_recorded
from sayso.engines.engine import Capabilities, Counts
from sayso.engines.prices import LOCAL
from sayso.harmless import line
from sayso.judges.judge import WITHHELD, Item
from sayso.judges.rules.judge import RulesJudge
from sayso.options import LogprobKind, Value, as_dict, replace
from sayso.protocols.protocol import (
    Ask,
    Protocol,
    Unsuited,
    recording_of,
    rows_if_any,
    stored_answers,
)
from sayso.records import Generation, InputError, Request, Score, Verdict, content_id
from sayso.runs.stages import FolderRun
from sayso.scores import SCORES, score_one
from sayso.scores.collect import row_confidence
from sayso.scores.evidence import Samples

#: the judge that people's verdicts are, and who gave them
PEOPLE = "people"
#: the score that a stated confidence is, and the evidence that it takes
STATED, ONE_STEP = "verbalized", "one_step"
ASKS_NOBODY = "with answers from files no model is asked"
#: settings that ask for more than an answer and its draws, and what they are in a run that cannot
ASKING: dict[str, Value] = {
    "words": False,
    "elicit": False,
    "p_true.examples": 0,
    "methods": "vanilla",
    "prompts": "shared",
}
#: settings that are numbers of draws, which cannot be more than there are
DRAWS = ("draws.k", "probe.k", "known_k")


class Unasked:
    """A model that is not asked: whatever it said is on record."""

    name = identity = base = signature = ""
    #: nothing is asked, so nothing is paid
    price = LOCAL
    notices: Sequence[str] = ()
    capabilities = Capabilities()

    def __init__(self) -> None:
        self.counts = Counts()

    def complete(self, requests: Iterable[Request]) -> Iterator[tuple[int, Generation]]:
        """Answer nothing: what is on record is found by its question, not by a prompt."""
        for index, request in enumerate(requests):
            yield index, Generation(request, problem=f"failed: {ASKS_NOBODY}")

    def force(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], want: Sequence[str]
    ) -> Iterator[tuple[int, Generation]]:
        """Raise InputError: nobody is there to read a text."""
        raise InputError(ASKS_NOBODY)

    def close(self) -> None:
        """Nothing is open."""


class RecordedEngine(Unasked):
    """A model that is on record. ``data`` are all questions of the files.

    ``draws`` are the most that any model there has of a question: runs that are compared share
    their settings.
    """

    def __init__(self, data: Dataset, model: RecordedModel, draws: int) -> None:
        super().__init__()
        self.data, self.model, self.draws = data, model, draws
        self.name = line(model.name, 200).strip() or "unnamed"
        self.identity = model.identity
        self.base = self.identity
        self.signature = f"{self.name}@{self.identity[-4:]}"
        self.notices = list(model.notices)
        self.labels = {q: r.human for q, r in model.rows.items() if r.human is not None}
        answered = any(row.logprobs is not None for row in model.rows.values())
        self.capabilities = Capabilities(logprobs=answered, seed=True)

    def said(self, plan: Protocol, ask: Ask) -> Generation | None:
        """Return what is on record for a request; ``None`` where there is nothing."""
        place = recording_of(ask)
        row = self.model.rows.get(ask.question.id)
        if place is None or row is None:
            return None
        kind, number = place
        if kind == "answer":
            return None if row.answer is None else _generation(ask, row)
        return _sample(ask, row, number) if number < len(row.samples) else None


def _generation(ask: Ask, row: AnswerRow) -> Generation:
    return Generation(
        ask.request,
        text=row.answer or "",
        finish=row.finish or "stop",
        offsets=row.offsets,
        logprobs=row.logprobs,
        entropies=row.entropies,
        logprob_kind="model" if row.logprobs or row.entropies else None,
    )


def _sample(ask: Ask, row: AnswerRow, number: int) -> Generation:
    logprobs = row.sample_logprobs[number] if row.sample_logprobs is not None else None
    entropies = row.sample_entropies[number] if row.sample_entropies is not None else None
    return Generation(
        ask.request,
        text=row.samples[number],
        finish="stop",
        logprobs=logprobs,
        entropies=entropies,
        logprob_kind="model" if logprobs or entropies else None,
    )


def slug(title: str) -> str:
    """Return a title as the name of a folder; one that had to change is told apart by a hash."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", title).strip("-.")[-60:].strip("-.")
    return plain if plain == title else f"{plain or 'x'}-{content_id([title])[:6]}"


def open_answers(
    files: str | Path | Sequence[str | Path],
    columns: str | Mapping[str, str] = "",
    logprobs: LogprobKind | None = None,
) -> list[RecordedEngine]:
    """Return the models that answered in some files of answers, each to be run as it is.

    ``sayso.run("selective", model=model)`` then asks nobody. ``columns`` names yours,
    ``"question=q,gold=answer"``; ``logprobs`` says what the files' log-probabilities are ("none"
    leaves them out). docs/answers.md says what is read. Raises InputError.
    """
    listed = [files] if isinstance(files, str | Path) else list(files)
    named = check_column_map(columns)
    read: RecordedAnswers = read_recorded(listed, named, logprobs)
    draws = max(model.draws for model in read.models)
    return [RecordedEngine(read.data, model, draws) for model in read.models]


def recorded_settings(chosen: Any, engine: RecordedEngine, judge: object) -> Any:
    """Return a protocol's settings as far as a record allows: what asks for more is off.

    Raises InputError for such a setting that somebody turned on.
    """
    flat, plain = as_dict(chosen), as_dict(type(chosen)())
    changes: dict[str, Value] = {}
    for name, value in ASKING.items():
        if name not in flat or flat[name] in (value, ""):
            continue
        if flat[name] != plain[name]:
            raise InputError(f"{name} is {flat[name]}: it would ask the model, but {ASKS_NOBODY}")
        changes[name] = value
    for name in DRAWS:
        number = flat.get(name)
        if isinstance(number, int) and number > engine.draws:
            changes[name] = engine.draws
        if name == "known_k" and judge == PEOPLE:
            changes[name] = 0  # people judged answers, not draws
    return replace(chosen, {**flat, **changes}) if changes else chosen


def check_record(plan: Protocol, engine: RecordedEngine, judge: object) -> None:
    """Refuse a protocol, or a judge, for which the record lacks something. Raises InputError."""
    if "texts" in plan.needs:
        raise Unsuited(
            f"{plan.name} reads long texts and the claims in them: sayso run {plan.name} "
            "--answers FILE"
        )
    if "instruction" in plan.needs:
        raise Unsuited(
            f"{plan.name} asks every question several times, with and without a request to "
            "express uncertainty, and files of answers do not have that; use `sayso run selective`"
        )
    if "draws" in plan.needs and not engine.model.draws:
        raise Unsuited(
            f"{plan.name} compares an answer with further draws of its question, and "
            f"{engine.name} has none: add a column samples"
        )
    if judge == PEOPLE and not engine.labels:
        raise InputError(
            f"judge {PEOPLE}: no answer of {engine.name} has a person's verdict (column human)"
        )


def answers_of(
    engine: RecordedEngine, plan: Protocol, asks: Sequence[Ask]
) -> tuple[list[Ask], list[Generation], list[str]]:
    """Return the requests that are on record, their answers, and what is not there."""
    kept: list[Ask] = []
    replies: list[Generation] = []
    wanted: Counter[str] = Counter()
    absent: Counter[str] = Counter()
    for ask in asks:
        what = ask.stage if ask.method == "plain" else f"{ask.stage}, {ask.method}"
        wanted[what] += 1
        reply = engine.said(plan, ask)
        if reply is None:
            absent[what] += 1
        else:
            kept.append(ask)
            replies.append(reply)
    missing = [
        f"{what}: {number:,} of {wanted[what]:,} are not in the files and are left out"
        for what, number in absent.items()
    ]
    return kept, replies, missing


def lacking_for_scores(engine: RecordedEngine) -> list[str]:
    """Return what a record lacks for scores, each once."""
    rows = engine.model.rows.values()
    notes = []
    if not engine.model.draws:
        notes.append(
            "no draws (column samples): consistency, semantic entropy and other scores that "
            "compare several answers to a question were not computed, nor was the share of known "
            "facts"
        )
    if not any(row.logprobs is not None for row in rows):
        notes.append(
            "no log-probabilities (column token_logprobs): sequence probability, perplexity and "
            "other scores that need them were not computed"
        )
    if all(row_confidence(row) is None for row in rows):
        notes.append(
            "no stated confidence (column stated_confidence): verbalized confidence was "
            "not computed"
        )
    return notes


def keep_beside(run: FolderRun, engine: RecordedEngine, judge: object) -> None:
    """Store what else is on record of the answers: stated confidence, and people's verdicts."""
    for form in ("short", "long"):
        if not run.folder.has(f"generations/{form}"):
            continue
        rows = [(g, engine.model.rows[g.question]) for g in stored_answers(run, form)]
        if run.folder.has(f"scores/{form}"):
            _keep_stated(run, form, rows)
        people = [
            Verdict(
                g.id,
                g.question,
                PEOPLE,
                label="S" if row.human else "NS",
                raw="".join("?" if math.isnan(vote) else f"{vote:.0f}" for vote in row.votes)
                or None,  # a sign for each person: 1 right, 0 wrong, ? none
            )
            for g, row in rows
            if row.human is not None
        ]
        if people:
            run.folder.write(f"verdicts/{form}-{PEOPLE}", people, Verdict)
            if judge != PEOPLE:
                run.tell(
                    [
                        f"{len(people):,} of {len(rows):,} answers have human verdicts, which are "
                        f"not used here; pass --judge {PEOPLE} to use them"
                    ]
                )


def _keep_stated(run: FolderRun, form: str, rows: Sequence[tuple[Generation, AnswerRow]]) -> None:
    """Store the score that stated confidences are, where the run computes it."""
    scores = rows_if_any(run, f"scores/{form}", Score)
    some = [(g, row.stated) for g, row in rows if row.stated is not None]
    if not some or all(s.method != STATED for s in scores):
        return
    method = {STATED: SCORES[STATED]}
    stated: list[Score] = []
    for g, value in some:
        samples = Samples(target=g.id, answer=None, stated={ONE_STEP: value})
        stated += score_one(samples, method).values()
    known = {"", *(score.target for score in stated)}
    kept = [s for s in scores if s.method != STATED or s.target not in known]
    run.folder.write(f"scores/{form}", [*kept, *stated], Score)


class PeopleJudge:
    """People's verdicts as a judge: they say right or wrong, the rules how it is worded.

    What nobody judged, draws too, is without a verdict.
    """

    name = PEOPLE
    #: people judged what they were shown: no gold is compared
    needs_golds = False

    def __init__(self, labels: Mapping[str, float]) -> None:
        self._labels, self._rules = labels, RulesJudge()
        self.signature = f"{PEOPLE}+{self._rules.signature}"

    def grade(self, items: Sequence[Item]) -> list[Verdict]:
        """Return people's verdict on each answer, the rules' stance beside it."""
        read = iter(self._rules.grade(items))
        return [self._verdict(item, next(read)) for item in items for _ in item.questions]

    def _verdict(self, item: Item, worded: Verdict) -> Verdict:
        label = self._labels.get(item.generation.question)
        whole = len(item.questions) == 1 and item.generation.stage == item.generation.form
        if label is None or not whole:
            return Verdict(worded.target, worded.asked, PEOPLE, problem="unlabeled")
        stance = worded.stance or "committed"
        withheld = stance in (*WITHHELD, "omitted")
        content = "correct" if label else "none" if withheld else "incorrect"
        return msgspec.structs.replace(
            worded, by=PEOPLE, stance=stance, content=content, problem=None
        )
