"""A run: answers from the cache or the model, verdicts from a judge, tables in a folder.

Killed at any instant, the next run with the same settings asks only what is missing: replies go
to the cache as they come, and a table is written in one piece or not at all.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from sayso.annotate import Item, Judge
from sayso.cache import Cache
from sayso.models import Engine
from sayso.protocols import Ask
from sayso.records import Generation, InputError, Question, Verdict, content_id, request_key
from sayso.store import RunFolder

#: what a reply must carry to be used from the cache; an engine that cannot give it is not asked to
WANTED = ("logprobs", "entropies")


class Progress(Protocol):
    """Where a run tells how far it is; the command line draws it."""

    def start(self, stage: str, total: int, done: int) -> None:
        """A stage begins: ``done`` of ``total`` came from the cache."""

    def advance(self, stage: str) -> None:
        """One more request was answered."""


class Silent:
    """Progress that nobody watches."""

    def start(self, stage: str, total: int, done: int) -> None:
        """Say nothing."""

    def advance(self, stage: str) -> None:
        """Say nothing."""


class FolderRun:
    """The :class:`sayso.protocols.Run` that the command line and ``sayso.run`` use."""

    def __init__(
        self,
        folder: RunFolder,
        questions: Sequence[Question],
        *,
        cache: Cache | None,
        parts: dict[str, str],
        progress: Progress | None = None,
    ) -> None:
        self.folder = folder
        self.questions = questions
        self.cache = cache
        self.parts = parts
        self.progress = progress or Silent()
        self.tokens = dict.fromkeys(
            ("asks", "requests", "cached", "asked", "failed", "completed_arrays"), 0
        )
        self.timings: dict[str, float] = {}
        self.notices: list[str] = []

    def stage(self, asks: Sequence[Ask], model: Engine) -> dict[str, list[Generation]]:
        """Answer every ask and store ``generations/<stage>`` for each stage among them."""
        with self.timed("generate"):
            replies = self._replies(asks, model)
        with self.timed("store"):
            tables: dict[str, list[Generation]] = {}
            for ask, reply in zip(asks, replies, strict=True):
                tables.setdefault(ask.stage, []).append(_bind(ask, reply, model.identity))
            for stage, rows in tables.items():
                self.folder.write(f"generations/{stage}", rows, Generation)
                self._tell(stage, rows)
        return tables

    def _tell(self, stage: str, rows: Sequence[Generation]) -> None:
        """Note what a reader of the numbers must know: requests that failed, answers cut off."""
        told = {
            "context": "could not be asked: prompt and longest answer exceed the model's context; "
            "shorten them (--answer.short-tokens, --answer.long-tokens)",
            "truncated": "ended inside their thinking at the token limit and have no verdict",
        }
        problems = Counter(r.problem.partition(":")[0] for r in rows if r.problem is not None)
        for problem, number in sorted(problems.items()):
            first = next(r.problem for r in rows if r.problem and r.problem.startswith(problem))
            why = told.get(problem, f"failed ({' '.join(first.split())[:200]}); run again")
            self.notices.append(f"{stage}: {number} of {len(rows)} requests {why}")
        cut = sum(r.finish == "length" and r.problem is None for r in rows)
        if cut:
            self.notices.append(
                f"{stage}: {cut} of {len(rows)} answers reached the token limit and were judged "
                "as they stand"
            )

    def grade(self, stage: str, items: Sequence[Item], judge: Judge) -> list[Verdict]:
        """Judge answers and store ``verdicts/<stage>``."""
        with self.timed("grade"):
            verdicts = judge.grade(items)
        with self.timed("store"):
            self.folder.write(f"verdicts/{stage}", verdicts, Verdict)
        return verdicts

    def generations(self, stage: str) -> list[Generation]:
        """Read a stored stage."""
        return self.folder.read(f"generations/{stage}", Generation)

    def verdicts(self, stage: str) -> list[Verdict]:
        """Read stored verdicts."""
        return self.folder.read(f"verdicts/{stage}", Verdict)

    def freeze(self, stage: str, base: str) -> None:
        """Copy a stage from another run, whose answers to these questions decide for this one."""
        source = RunFolder.open(Path(base))
        wanted = {q.id for q in self.questions}
        answers = [
            g for g in source.read(f"generations/{stage}", Generation) if g.question in wanted
        ]
        asked = {g.question for g in answers}
        missing = [q for q in self.questions if not q.parts and q.id not in asked]
        if missing:
            raise InputError(
                f"known_from {base}: it has no {stage} answers for {len(missing)} of the "
                f"questions, first {missing[0].text!r}; run it on the same data, limit and seed"
            )
        kept = {g.id for g in answers}
        verdicts = [v for v in source.read(f"verdicts/{stage}", Verdict) if v.target in kept]
        self.folder.write(f"generations/{stage}", answers, Generation)
        self.folder.write(f"verdicts/{stage}", verdicts, Verdict)

    def signature(self, **parts: str) -> str:
        """Return ``key:value`` parts joined by ``|``; the run's own parts come first."""
        return "|".join(f"{key}:{value}" for key, value in {**parts, **self.parts}.items())

    @contextlib.contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """Add the CPU and wall seconds of a block to the run's timings."""
        cpu, wall = time.process_time(), time.perf_counter()
        try:
            yield
        finally:
            for unit, spent in (
                ("cpu", time.process_time() - cpu),
                ("wall", time.perf_counter() - wall),
            ):
                key = f"{what}_{unit}_s"
                self.timings[key] = round(self.timings.get(key, 0.0) + spent, 3)

    def _replies(self, asks: Sequence[Ask], model: Engine) -> list[Generation]:
        """Return a reply for each ask: equal requests share one, cached ones are not asked."""
        keys = [request_key(a.request, model.identity) for a in asks]
        distinct = dict(zip(keys, (a.request for a in asks), strict=True))
        replies = self.cache.get_many(distinct) if self.cache else {}
        self._complete_arrays(replies, model)
        todo = [key for key in distinct if key not in replies]
        self.tokens["asks"] += len(asks)
        self.tokens["requests"] += len(distinct)
        self.tokens["cached"] += len(replies)
        self.tokens["asked"] += len(todo)
        if len(todo) < len(distinct):
            kept = len(distinct) - len(todo)
            self.notices.append(f"{kept:,} of {len(distinct):,} answers were in the cache already")
        stages = "+".join(dict.fromkeys(a.stage for a in asks))
        self.progress.start(stages, len(distinct), len(replies))
        try:
            for index, reply in model.complete(distinct[key] for key in todo):
                replies[todo[index]] = reply
                if reply.problem is not None:
                    self.tokens["failed"] += 1
                if self.cache:
                    self.cache.put(todo[index], reply)
                self.progress.advance(stages)
        finally:
            if self.cache:
                self.cache.commit()
        return [replies[key] for key in keys]

    def _complete_arrays(self, replies: dict[bytes, Generation], model: Engine) -> None:
        """Fill in arrays that a cached reply lacks by reading its own tokens once more."""
        can = model.capabilities
        wanted = [w for w in WANTED if getattr(can, w)]
        lacking = [
            key
            for key, reply in replies.items()
            if reply.problem is None and any(getattr(reply, w) is None for w in wanted)
        ]
        if not lacking or not can.force:
            return
        items = [(replies[k].request, replies[k].token_ids or replies[k].text) for k in lacking]
        for index, forced in model.force(items, wanted):
            key = lacking[index]
            if forced.problem is not None:  # what the reply does carry stays
                continue
            arrays = {
                w: getattr(forced, w) for w in ("token_ids", "offsets", "logprob_kind", *wanted)
            }
            replies[key] = msgspec.structs.replace(replies[key], **arrays)
            self.tokens["completed_arrays"] += 1
            if self.cache:
                self.cache.put(key, replies[key])


def _bind(ask: Ask, reply: Generation, identity: str) -> Generation:
    """Give a reply its place in the run."""
    return msgspec.structs.replace(
        reply,
        id=content_id([ask.question.id, ask.stage, ask.method, ask.request, identity]),
        request=ask.request,
        question=ask.question.id,
        stage=ask.stage,
        form=ask.form,
        method=ask.method,
        instructed=ask.instructed,
    )
