"""A run: answers of a model, verdicts of a judge, tables in a folder.

Killed at any instant, the next run with the same settings asks only what is missing: replies go
to the cache as they come (:mod:`sayso.pipeline.asking`), and a table is written in one piece or
not at all.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.annotate import Item, Judge
from sayso.annotate.collect import Tools
from sayso.arrays import ArrayHead
from sayso.models import Engine
from sayso.pipeline.asking import Asker
from sayso.pipeline.thinking import Shape
from sayso.pipeline.unread import Seen, check_answered, why_missing
from sayso.protocols import Ask, Row
from sayso.protocols.draws import ALIKE, count_draws
from sayso.records import (
    Generation,
    InputError,
    Passage,
    Question,
    Score,
    Verdict,
    content_id,
)
from sayso.store import RunFolder

Search = Callable[[str, Sequence[tuple[str, str]], int], list[tuple[Passage, ...]]]


class FolderRun:
    """The :class:`sayso.protocols.Run` that the command line and ``sayso.run`` use."""

    def __init__(
        self,
        folder: RunFolder,
        questions: Sequence[Question],
        *,
        parts: dict[str, str],
        shape: Shape | None = None,
        judge_asker: Asker | None = None,
        tools: Callable[[str], Tools] | None = None,
        search: Search | None = None,
    ) -> None:
        self.folder = folder
        self.questions = questions
        self.parts = parts
        self.shape = shape
        self.judge_asker = judge_asker
        self._tools = tools
        self._search = search
        self.timings: dict[str, float] = {}
        self.notices: list[str] = []
        self.seen: dict[str, Seen] = {}
        self._answered = False

    def stage(self, asks: Sequence[Ask], model: Engine) -> dict[str, list[Generation]]:
        """Answer every ask and store ``generations/<stage>`` for each stage among them."""
        if self.shape is not None:
            asks = [ask._replace(request=self.shape(ask.request)) for ask in asks]
        if isinstance(model, Asker):
            model.stage = "asking: " + "+".join(dict.fromkeys(a.stage for a in asks))
        with self.timed("generate"):
            replies = dict(model.complete(ask.request for ask in asks))
        with self.timed("store"):
            tables: dict[str, list[Generation]] = {}
            for index, ask in enumerate(asks):
                reply = bind(ask, replies.pop(index), model.identity)
                tables.setdefault(ask.stage, []).append(reply)
            for stage, rows in tables.items():
                self.folder.write(f"generations/{stage}", rows, Generation)
                self._tell(stage, rows)
        answers = [row for rows in tables.values() for row in rows]
        if not self._answered:
            check_answered(model.name, answers)
            self._answered = bool(answers)
        if count_draws(tables.get("probe", ())).repeat:
            self.notices.append(f"probe: {ALIKE}")
            if isinstance(model, Asker):
                model.tell_repetition()
        return tables

    def _tell(self, stage: str, rows: Sequence[Generation]) -> None:
        """Note what a reader of the numbers must know: requests that failed, answers cut off."""
        problems = Counter(r.problem.partition(":")[0] for r in rows if r.problem is not None)
        for problem, number in sorted(problems.items()):
            why = why_missing(rows, problem)
            self.notices.append(f"{stage}: {number} of {len(rows)} requests {why}")
        cut = sum(r.finish == "length" and r.problem is None for r in rows)
        if cut:
            self.notices.append(
                f"{stage}: {cut} of {len(rows)} answers reached the token limit and were judged "
                "as they stand"
            )

    def grade(self, stage: str, items: Sequence[Item], judge: Judge) -> list[Verdict]:
        """Judge answers and store ``verdicts/<stage>``."""
        if self.judge_asker is not None:
            self.judge_asker.stage = f"judging: {stage}"
        with self.timed("grade"):
            verdicts = judge.grade(items)
        self.seen.setdefault(judge.signature, Seen()).add(items, verdicts)
        with self.timed("store"):
            self.folder.write(f"verdicts/{stage}", verdicts, Verdict)
        return verdicts

    def tell(self, sentences: Sequence[str]) -> None:
        """Add to the manifest's notices."""
        self.notices += [one for one in sentences if one not in self.notices]

    def generations(self, stage: str) -> list[Generation]:
        """Read a stored stage."""
        return self.folder.read(f"generations/{stage}", Generation)

    def verdicts(self, stage: str) -> list[Verdict]:
        """Read stored verdicts."""
        return self.folder.read(f"verdicts/{stage}", Verdict)

    def tools(self, nli: str) -> Tools:
        """Return who can gather evidence; a stored run has nobody to ask."""
        with self.timed("open_tools"):
            return self._tools(nli) if self._tools is not None else Tools()

    def keep(self, stage: str, scores: Sequence[Score]) -> None:
        """Store ``scores/<stage>``."""
        with self.timed("store"):
            self.folder.write(f"scores/{stage}", scores, Score)

    def scores(self, stage: str) -> list[Score]:
        """Read stored scores."""
        return self.folder.read(f"scores/{stage}", Score)

    def keep_states(
        self, name: str, ids: Sequence[str], source: str, blocks: Iterable[NDArray[np.float16]]
    ) -> None:
        """Store ``arrays/<name>.npy``, unless it was made of the same texts already."""
        held = self.folder.array_head(name)
        if held is None or held.source != source:
            with self.timed("hidden"):
                self.folder.write_array(name, ArrayHead(source, tuple(ids)), blocks)

    def states(self, name: str) -> tuple[Sequence[str], NDArray[np.float16]] | None:
        """Read ``arrays/<name>.npy`` as a memory map."""
        found = self.folder.read_array(name)
        return (found[0].ids, found[1]) if found is not None else None

    def put(self, table: str, rows: Sequence[Row], kind: type[Row]) -> None:
        """Store a table of other records, such as ``claims/long``."""
        with self.timed("store"):
            self.folder.write(table, rows, kind)

    def table(self, table: str, kind: type[Row]) -> list[Row]:
        """Read a table of other records; empty where there is none."""
        return self.folder.read(table, kind) if self.folder.has(table) else []

    def search(
        self, source: str, queries: Sequence[tuple[str, str]], k: int
    ) -> list[tuple[Passage, ...]]:
        """Return the ``k`` passages of a knowledge source for each (title, text)."""
        if self._search is None:
            raise InputError("a stored run has no knowledge source to search")
        with self.timed("search"):
            return self._search(source, queries, k)

    def has(self, table: str) -> bool:
        """Tell whether a table, such as ``generations/short``, is stored."""
        return self.folder.has(table)

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

    def timed(self, what: str) -> AbstractContextManager[None]:
        """Add the CPU and wall seconds of a block to the run's timings."""
        return timed(self.timings, what)


@contextlib.contextmanager
def timed(timings: dict[str, float], what: str) -> Iterator[None]:
    """Add the CPU and wall seconds of a block to ``timings``, under the step's name."""
    cpu, wall = time.process_time(), time.perf_counter()
    try:
        yield
    finally:
        for unit, spent in (
            ("cpu", time.process_time() - cpu),
            ("wall", time.perf_counter() - wall),
        ):
            key = f"{what}_{unit}_s"
            timings[key] = round(timings.get(key, 0.0) + spent, 3)


def bind(ask: Ask, reply: Generation, identity: str) -> Generation:
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
