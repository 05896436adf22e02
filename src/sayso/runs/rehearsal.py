"""A run without a model: the walk of its steps against what the cache holds, and stand-ins.

A rehearsal is taken twice. In one, whatever is not known yet makes for few requests: answers are
short and draws of two kinds, the rules of a cascade are certain of most, no text has a claim that
its model rejects. In the other it makes for the most. What both would ask is counted by
:class:`Book`; what is in the cache is taken as it is, so that a rehearsal of a finished run finds
nothing left to ask. Nothing is written, and no score or number is computed.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, Literal, NamedTuple, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.engines.engine import Capabilities, EngineWrapper
from sayso.judges.cascade import CascadeJudge
from sayso.judges.judge import Item, Judge
from sayso.judges.meaning import LABELS, LlmClassifier, Meaning, ModelMeaning, RulesMeaning
from sayso.judges.model.judge import LlmJudge
from sayso.judges.rules.judge import RulesJudge
from sayso.protocols.probes import BlindRules
from sayso.protocols.protocol import Ask, Step, walk
from sayso.records import (
    NOT_ASKED,
    Generation,
    Passage,
    Question,
    Request,
    Verdict,
    content_hash,
    request_key,
)
from sayso.retrieval.sources import GOLDS
from sayso.runs.asking import CachedEngine
from sayso.runs.job import Job
from sayso.runs.judge import OpenJudge, holds_to_schema, model_judge
from sayso.runs.recorded import RecordedEngine, answers_of
from sayso.runs.stages import FolderRun
from sayso.runs.tools import (
    READS,
    FurtherModels,
    KnowledgeSources,
    RememberedClassifier,
    RememberedReads,
)
from sayso.scores.collect import Tools
from sayso.storage.cache import Cache
from sayso.storage.run_folder import ArrayHead, Manifest, RunFolder

Extent = Literal["fewest", "most"]

#: the override of an answer that a rehearsal made up
MADE_UP = "made up"
#: of paragraphs: one fact in so many is found at the least
FOUND = 3
#: sentences of a long text on a topic whose facts are not listed, and characters of one
SENTENCES = {"fewest": 8, "most": 24}
SENTENCE = 60
#: of the shortest texts, one in so many declines
DECLINES = 4
#: sources that are opened at once
SMALL = (GOLDS, "builtin")
#: the rules leave at least one answer in so many to the model behind them
UNSURE = 3
#: characters of a passage that is not looked up
PASSAGE = 500


class Book:
    """What one rehearsal asks: requests by who is asked and in which stage, in order.

    ``reads`` counts texts that a model only reads, and pairs that a classifier compares. A request
    counts where it stands first; those in ``seen`` (of jobs before this one) do not.
    """

    def __init__(self, extent: Extent, seen: Iterable[bytes] = ()) -> None:
        self.extent = extent
        self.made_up = False
        self.step = "claims"  # what texts that are there are read for
        self.stages: dict[tuple[str, str], dict[bytes, Request]] = {}
        self.kept: dict[bytes, Generation] = {}
        #: what was asked of the subject for a question
        self.asks: list[Ask] = []
        self.reads: Counter[tuple[str, str]] = Counter()
        self.engines: dict[str, CachedEngine] = {}
        self._seen = set(seen)
        self._read: set[Hashable] = set()

    @property
    def asked(self) -> int:
        """How many requests are written down."""
        return len(self._seen)

    def note_read(self, who: str, key: Hashable) -> None:
        """Count what is read, or compared, once."""
        if key not in self._read:
            self._read.add(key)
            self.reads[who, self.step] += 1

    def note(
        self, who: str, stage: str, key: bytes, request: Request, kept: Generation | None
    ) -> None:
        """Write down a request, and its reply where the cache holds one."""
        if key in self._seen:
            return
        self._seen.add(key)
        name = stage.removeprefix("judging: ")
        self.stages.setdefault((who, name), {})[key] = request
        if kept is not None:
            self.kept[key] = kept


class RehearsedEngine(EngineWrapper):
    """An engine that answers from its cache, or with what ``stand_in`` makes of a request."""

    def __init__(
        self,
        engine: CachedEngine,
        who: str,
        book: Book,
        stand_in: Callable[[Request, Ask | None, int], Generation] | None = None,
    ) -> None:
        super().__init__(engine)
        self.who, self.book, self.stage, self.shape = who, book, "", engine.shape
        #: what a request is for, by its key
        self.asks: dict[bytes, Ask] = {}
        self._cached, self._stand_in = engine, stand_in
        book.engines[who] = engine

    @property
    def capabilities(self) -> Capabilities:
        """What the engine can do; the form of a judge's replies as the cache knows it."""
        can = super().capabilities
        schema = can.json_schema or bool(holds_to_schema(self._cached, learn=False))
        return msgspec.structs.replace(can, json_schema=schema)

    def complete(self, requests: Iterable[Request]) -> Iterator[tuple[int, Generation]]:
        """Yield what the cache holds, and stand-ins."""
        wanted = [self._cached.shape(request) for request in requests]
        keys = [request_key(request, self.identity) for request in wanted]
        kept = self._cached.usable(keys)
        for index, (key, request) in enumerate(zip(keys, wanted, strict=True)):
            stored, ask = kept.get(key), self.asks.get(key)
            reply = None if stored is None else self._cached.spoken(stored.reply)
            stage = self.stage or self.book.step
            self.book.note(self.who, ask.stage if ask else stage, key, request, reply)
            if reply is None:
                self.book.made_up = True
                reply = not_asked(request)
                if self._stand_in is not None:
                    reply = self._stand_in(request, ask, self.book.asked)
            yield index, msgspec.structs.replace(reply, request=request)

    def force(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], want: Sequence[str]
    ) -> Iterator[tuple[int, Generation]]:
        """Count what would be read, each once."""
        for request, text in items:
            given = text if isinstance(text, str) else list(text)
            key = content_hash([self.identity, request, given])
            self.book.note_read("reads", key)
        yield from ((index, not_asked(request)) for index, (request, _) in enumerate(items))

    def close(self) -> None:
        """Leave the engine to whoever opened it."""


def not_asked(request: Request) -> Generation:
    """Return the reply of a model that reads: nobody knows what it will say."""
    return Generation(request, problem=NOT_ASKED)


class RehearsedReads(RememberedReads):
    """Reads texts from what is remembered, and has the others counted."""

    def force(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], want: Sequence[str]
    ) -> Iterator[tuple[int, Generation]]:
        """Yield what was read before; nothing is remembered anew."""
        kept = self.kept(items, want)
        yield from kept.items()
        todo = [index for index in range(len(items)) if index not in kept]
        for place, read in self.engine.force([items[index] for index in todo], want):
            yield todo[place], read


class RehearsedJudge:
    """A judge that writes its requests: for real answers as it would, for others all or none.

    Its verdict on an answer that was made up is a committed one, right and wrong in turn.
    """

    def __init__(self, judge: Judge, book: Book, llm: LlmJudge | None = None) -> None:
        self.name, self.signature, self._judge = judge.name, judge.signature, judge
        self.needs_golds = getattr(judge, "needs_golds", True)
        self.engine = llm.engine if llm is not None else None
        self._book, self._llm = book, llm

    def grade(self, items: Sequence[Item]) -> list[Verdict]:
        """Return a verdict for each (item, question), in order."""
        real = [item for item in items if MADE_UP not in item.generation.overrides]
        made_up = [item for item in items if MADE_UP in item.generation.overrides]
        read: list[Verdict] = []
        if self._llm is None:
            if isinstance(self._judge, RulesJudge | BlindRules):
                read = self._judge.grade(real)
        elif isinstance(self._judge, CascadeJudge):
            most = self._book.extent == "most"
            read = CascadeJudge(self._judge.rules, self._llm).grade(real)
            self._llm.grade(made_up if most else made_up[: -(-len(made_up) // UNSURE)])
        else:
            read = self._llm.grade(items)
        known = {(v.target, v.asked): v for v in read if v.problem is None}
        pairs = [(item, question.id) for item in items for question in item.questions]
        return [
            known.get((item.generation.id, asked)) or self._made_up(number, item, asked)
            for number, (item, asked) in enumerate(pairs)
        ]

    def _made_up(self, number: int, item: Item, asked: str) -> Verdict:
        found = len(item.questions) == 1 or self._book.extent == "most" or number % FOUND == 0
        end = min(len(item.generation.text), SENTENCE)
        return Verdict(
            item.generation.id,
            asked,
            self.signature,
            stance="committed" if found else "omitted",
            content=("correct" if number % 2 else "incorrect") if found else "none",
            start=0 if found else None,
            end=end if found else None,
            answer_start=0 if found else None,
            answer_end=end if found else None,
        )


class RehearsedClassifier:
    """Counts the pairs whose relation would be computed or asked for: all equal, or none."""

    def __init__(self, book: Book, llm: LlmClassifier | None = None) -> None:
        self.labels: tuple[str, ...] = LABELS
        self.identity = "rehearsal"
        self._book, self._llm = book, llm

    def classify(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return (pairs, 3): what a model said before, else entailment, or contradiction."""
        if self._llm is None:
            for pair in pairs:
                self._book.note_read("nli", pair)
            rows = np.full((len(pairs), len(LABELS)), np.nan)
        else:
            rows = self._llm.classify(pairs)
        unknown = "entailment" if self._book.extent == "fewest" else "contradiction"
        rows[np.isnan(rows[:, 0])] = [float(name == unknown) for name in LABELS]
        return rows


class MemoryFolder:
    """The tables of a rehearsal, which go nowhere."""

    def __init__(self, book: Book) -> None:
        self._tables: dict[str, list[Any]] = {}
        self._book = book

    def write(self, table: str, rows: Iterable[Any], kind: type) -> None:
        """Keep a table."""
        self._tables[table] = list(rows)

    def read(self, table: str, kind: type) -> list[Any]:
        """Return a table."""
        return self._tables[table]

    def has(self, table: str) -> bool:
        """Tell whether there is a table."""
        return table in self._tables

    def array_head(self, name: str) -> None:
        """Return nothing: hidden states are not read."""

    def write_array(self, name: str, head: ArrayHead, blocks: object) -> None:
        """Count the texts whose hidden states would be read."""
        self._book.reads["reads", "hidden states"] += len(head.ids)


class Rehearsed(NamedTuple):
    """What is rehearsed: a job, its questions, and who is open: nobody can be asked."""

    job: Job
    manifest: Manifest
    questions: Sequence[Question]
    model: CachedEngine | None
    judge: OpenJudge
    further: FurtherModels


class Rehearsal(FolderRun):
    """A run that only counts what it would ask, in ``book``.

    ``lengths`` are the characters of answers, fewest and most, by their token limit.
    """

    rehearses = True

    def __init__(
        self, of: Rehearsed, book: Book, lengths: Callable[[int], tuple[float, float]]
    ) -> None:
        self.book, self._lengths, self._cache_folder = book, lengths, of.job.cache_folder
        #: the place of each question that a text was made up for
        self._texts: dict[str, int] = {}
        self._subject = None
        if of.model is not None:
            self._subject = RehearsedEngine(of.model, "model", book, self._answer)
        llm = None
        if of.judge.engine is not None:
            options = dataclasses.replace(of.job.judge_options, judge_anyway=True)
            engine = RehearsedEngine(of.judge.engine, "judge", book)
            llm = model_judge(engine, options, self._subject)
        super().__init__(
            cast(RunFolder, MemoryFolder(book)),
            of.questions,
            of.manifest,
            model=self._subject,
            judge=OpenJudge(
                RehearsedJudge(of.judge.judge, book, llm),
                cast(CachedEngine, llm.engine) if llm is not None else None,
            ),
            tools=self._open_tools,
            search=self._find,
        )
        self._open = contextlib.ExitStack()
        self._sources = KnowledgeSources(of.questions, of.job.cache_folder)
        self._open.callback(self._sources.close)
        self.models = lambda name: RehearsedEngine(of.further.open(name), name, book)
        if isinstance(of.job.model, RecordedEngine):
            self.recorded = partial(answers_of, of.job.model, of.job.plan)

    @property
    def made_up(self) -> Extent | None:
        """Which way an answer was made up that is not known yet; ``None`` while none was."""
        return self.book.extent if self.book.made_up else None

    def walk(self, steps: Sequence[Step]) -> None:
        """Take each step."""
        walk(steps, self, self._begin)

    def _begin(self, stage: str) -> None:
        self.book.step = stage
        if self.judge_engine is not None:
            self.judge_engine.stage = ""

    def ask(self, asks: Sequence[Ask]) -> dict[str, list[Generation]]:
        """Answer from the cache, or with stand-ins."""
        self.book.asks += asks
        if (one := self._subject) is not None:
            one.asks |= {request_key(one.shape(a.request), one.identity): a for a in asks}
        return super().ask(asks)

    def grade(self, stage: str, items: Sequence[Item], judge: Judge) -> list[Verdict]:
        """Write what a judge asks; rules read the answers that are there."""
        if isinstance(judge, RulesJudge | BlindRules):
            judge = RehearsedJudge(judge, self.book)
        return super().grade(stage, items, judge)

    def close(self) -> None:
        """Close what was opened for the rehearsal."""
        self._open.close()

    def _answer(self, request: Request, ask: Ask | None, number: int) -> Generation:
        """Make an answer up: as short as they come and like the others, or long and its own.

        Paragraphs are about their own question, and of the shortest some decline.
        """
        most = self.book.extent == "most"
        length = round(self._lengths(request.max_tokens)[most])
        # the fewest: draws differ a little, in the first and all others
        sentences, own, declines = 1, f"{number if most else min(request.sample, 1)} ", False
        if ask is not None and ask.form == "long":
            facts = len(ask.question.parts)
            sentences = SENTENCES[self.book.extent]
            if facts:
                sentences = 2 * facts if most else max(1, facts // 2)
            place = self._texts.setdefault(ask.question.id, len(self._texts))
            own, declines = own if most else f"{place} ", not most and place % DECLINES == 0
        words = " word" * max(1, length // sentences // 5)
        text = " ".join(f"Part {own}{n}{words}." for n in range(sentences))
        text = "I do not have any information about that." if declines else text
        tokens = text.split(" ")
        offsets = tuple(accumulate((len(token) + 1 for token in tokens[:-1]), initial=0))
        values = (-0.1,) * len(tokens)
        can = self.model.capabilities
        return Generation(
            request,
            text=text,
            overrides=(MADE_UP,),
            token_ids=tuple(range(len(tokens))) if can.logprobs else None,
            offsets=offsets if can.logprobs else None,
            logprobs=values if can.logprobs else None,
            entropies=values if can.entropies else None,
        )

    def _open_tools(self, nli: str) -> Tools:
        """Return what gathers evidence: reads are counted, and pairs whose meaning is compared."""
        engine = None
        if self.recorded is None and self._subject is not None:
            file = self._cache_folder / READS
            cache = self._open.enter_context(Cache(file)) if file.exists() else None
            engine = RehearsedReads(self._subject, cache)
        meaning: Meaning = RulesMeaning()
        if nli != "rules":
            llm = None
            if nli.startswith("llm:") and self.models is not None:
                llm = LlmClassifier(self.models(nli.removeprefix("llm:")))
            classifier = RememberedClassifier(RehearsedClassifier(self.book, llm))
            meaning = ModelMeaning(classifier, nli)
        return Tools(engine, meaning)

    def _find(
        self, source: str, queries: Sequence[tuple[str, str]], k: int
    ) -> list[tuple[Passage, ...]]:
        """Return passages: of a small source, or once all texts are known, those that it has.

        Else they have the usual size: a large source is not opened, which may take an hour.
        """
        known = not self.book.made_up and self._subject is not None and self._subject.asks
        if queries and (known or source in SMALL):
            return self._sources.search(source, queries, k)
        self.book.made_up |= bool(queries)
        text = "passage " * (PASSAGE // 8)
        return [tuple(Passage(f"{n}", title, text) for n in range(k)) for title, _ in queries]


def rehearse(
    of: Rehearsed,
    lengths: Callable[[int], tuple[float, float]],
    seen: Iterable[bytes],
    act: Callable[[Rehearsal], object],
) -> tuple[Book, Book]:
    """Return what ``act`` asks at the least and at the most; ``seen`` requests are left out."""
    books = Book("fewest", seen), Book("most", seen)
    for book in books:
        with contextlib.closing(Rehearsal(of, book, lengths)) as run:
            act(run)
    return books
