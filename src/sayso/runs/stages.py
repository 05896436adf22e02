"""Answers and verdicts that never came: what is told before any number, and what is no result."""

from __future__ import annotations

import contextlib
import datetime
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.engines.engine import Engine
from sayso.judges.judge import Item, Judge
from sayso.protocols.probes import ALIKE, count_draws
from sayso.protocols.protocol import Ask, Row
from sayso.records import (
    Generation,
    InputError,
    Passage,
    Question,
    Score,
    Signature,
    Verdict,
    content_id,
)
from sayso.retrieval.build import opened
from sayso.retrieval.index import Index
from sayso.retrieval.sources import GOLDS
from sayso.runs.asking import Asker, Shape
from sayso.runs.asking import signed as thinking_signed
from sayso.scores.collect import Tools
from sayso.storage.atomic import replacing
from sayso.storage.run_folder import ArrayHead, Manifest, RunFolder
from sayso.version import __version__

#: more missing than this share of the verdicts is told before any number
MANY = 0.03
#: a judge that was asked so often and was never read is no judge
ENOUGH = 5
#: how a judge's counts call the verdicts that it did not give
PROBLEMS = ("unread", "mismatch", "refused", "truncated", "failed")

#: what to do about requests without an answer, by the beginning of their problem
ADVICE = {
    "context": "could not be asked: prompt and longest answer exceed the model's context; "
    "shorten them (--answer.short-tokens, --answer.long-tokens)",
    "truncated": "ended inside their thinking at the token limit and have no verdict; "
    "allow more (--thinking with a number of tokens) or none (--thinking off)",
}


@dataclass
class Seen:
    """How many ``verdicts`` one judge was to give on answers that came, and what is missing.

    ``unread`` of them could not be read; ``unanswered`` are those on requests without an answer,
    which are not among ``verdicts``.
    """

    verdicts: int = 0
    unread: int = 0
    unanswered: int = 0

    def add(self, items: Sequence[Item], verdicts: Sequence[Verdict]) -> None:
        """Count the verdicts on some answers."""
        lost = {item.generation.id for item in items if item.generation.problem is not None}
        for verdict in verdicts:
            if verdict.target in lost:
                self.unanswered += 1
            else:
                self.verdicts += 1
                self.unread += verdict.problem is not None


def why_missing(rows: Sequence[Generation], problem: str) -> str:
    """Return what happened to requests whose problem begins so, and what to do, for people."""
    first = next(r.problem for r in rows if r.problem and r.problem.startswith(problem))
    return ADVICE.get(problem, f"failed ({' '.join(first.split())[:200]}); run again")


def check_answered(name: str, rows: Sequence[Generation]) -> None:
    """Raise InputError where not one of the requests was answered: there is nothing to judge."""
    if not rows or any(r.problem is None for r in rows):
        return
    heads = Counter((r.problem or "").partition(":")[0] for r in rows)
    said = "; ".join(f"{n:,} {why_missing(rows, head)}" for head, n in heads.most_common())
    raise InputError(
        f"{name} answered none of {len(rows):,} requests: {said}. There are no numbers and no "
        "report; the same command asks again"
    )


def asked_and_missing(judge: Judge) -> tuple[int, dict[str, int]]:
    """Return how many verdicts a model was asked for, and by problem those that it did not give.

    (0, {}) for a judge that asks no model. For a cascade they are those of its model only.
    """
    counts = getattr(judge, "counts", None)
    missing = {p: int(getattr(counts, p, 0)) for p in PROBLEMS}
    return int(getattr(counts, "parts", 0)), {p: n for p, n in missing.items() if n}


def check_read(judge: Judge, seen: Seen, command: str) -> None:
    """Raise InputError where a judge's model was read not once, or no verdict is there at all.

    ``command`` is what checks this judge.
    """
    asked, missing = asked_and_missing(judge)
    lost = sum(missing.values())
    if asked >= ENOUGH and lost == asked:
        said = ", ".join(f"{problem} {number:,}" for problem, number in missing.items())
        what = f"could be read on none of the {asked:,} verdicts it was asked for ({said})"
    elif seen.verdicts and seen.unread == seen.verdicts:
        what = f"could be read on none of {seen.verdicts:,} verdicts"
    else:
        return
    again = "the same command goes on, and " if asked else ""
    raise InputError(
        f"the judge {judge.name} {what}: there are no numbers and no report. Every answer is kept: "
        f"{again}with another --judge the model is asked nothing again; `{command}` tells what "
        "this judge can read"
    )


def cautions(seen: Seen) -> list[str]:
    """Return what must be read before any number where more than a few verdicts are missing."""
    found = []
    if seen.unread > MANY * seen.verdicts:
        found.append(
            f"The judge could not be read on {seen.unread:,} of {seen.verdicts:,} verdicts; what "
            "is left is selected: read the bounds."
        )
    total = seen.verdicts + seen.unanswered
    if seen.unanswered > MANY * total:
        found.append(
            f"{seen.unanswered:,} of {total:,} verdicts are missing because the model gave no "
            "answer; what is left is selected: read the bounds."
        )
    return found


# A run: answers of a model, verdicts of a judge, tables in a folder.
#
# Killed at any instant, the next run with the same settings asks only what is missing: replies
# go
# to the cache as they come (:mod:`sayso.runs.asking`), and a table is written in one piece
# or
# not at all.

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

    def signature(self, **parts: str) -> Signature:
        """Return the settings behind a number: the given ones, then the run's own."""
        return tuple({**parts, **self.parts}.items())

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


# Opening knowledge sources for a run, each once, and searching them.


class Knowing:
    """The sources of a run by name; an index is built in the cache folder where there is none."""

    def __init__(self, questions: Sequence[Question], cache: Path) -> None:
        self._questions, self._cache = questions, cache
        self._open: dict[str, Index] = {}
        self._stack = contextlib.ExitStack()
        #: what each source held when it was opened: a signature has its name alone
        self.notices: list[str] = []

    def search(
        self, source: str, queries: Sequence[tuple[str, str]], k: int
    ) -> list[tuple[Passage, ...]]:
        """Return the ``k`` best passages for each (title, text); none where it has no such title.

        A source without titles is searched whole.
        """
        if source not in self._open:
            name = str(self._golds()) if source == GOLDS else source
            index = self._stack.enter_context(opened(name, self._cache))
            self._open[source], info = index, index.info
            held = f"{info.documents:,} documents, {info.passages:,} passages"
            left = f", {info.skipped:,} rows left out" if info.skipped else ""
            self.notices.append(f"knowledge {source}: {held}{left}")
        return [tuple(found) for found in self._open[source].search_many(queries, k)]

    def _golds(self) -> Path:
        """Write the gold answers of the run's questions as a source: a document an entity."""
        facts: dict[str, list[str]] = {}
        for q in self._questions:
            if q.golds and not q.parts:
                names = dict.fromkeys(name for gold in q.golds for name in gold.names)
                # each on one line: lines are facts
                values = "; ".join(" ".join(name.split()) for name in names)
                about = q.aspect.description if q.aspect is not None else q.text
                facts.setdefault(q.entity or q.text, []).append(
                    f"{' '.join(about.split())}: {values}."
                )
        if not facts:
            raise InputError("knowledge golds: the data has no gold answers; name a source")
        rows = [{"title": title, "text": "\n".join(lines)} for title, lines in facts.items()]
        body = b"".join(msgspec.json.encode(row) + b"\n" for row in rows)
        place = self._cache / "knowledge" / f"golds-{content_id(rows)}.jsonl"
        if not place.exists():
            with replacing(place) as file:
                file.write(body)
        return place

    def close(self) -> None:
        """Let go of the indexes."""
        self._stack.close()


def now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def signature_parts(manifest: Manifest) -> dict[str, str]:
    """Return the run-wide parts of every signature; the model is what ``compare`` compares."""
    return {
        "data": f"{manifest.data}-{manifest.data_hash[:4]}",
        "model": manifest.model_signature,
        "judge": manifest.judge_signature,
        "prompts": manifest.prompts["signature"],
        **_wordings(manifest),
        **thinking_signed(manifest.settings),
        "seed": str(manifest.settings["seed"]),
        "v": __version__,  # of the sayso that measures, not of the one that asked
    }


def _wordings(manifest: Manifest) -> dict[str, str]:
    """Return hashes of the further wordings and methods of a run; none where it has none."""
    names = ("wordings", "probe_wordings", "methods")
    return {name: manifest.prompts[name] for name in names if name in manifest.prompts}
