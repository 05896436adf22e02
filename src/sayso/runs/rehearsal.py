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
from itertools import accumulate, count
from typing import Any, Literal, NamedTuple, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.engines.engine import EngineWrapper
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
from sayso.runs.job import Job, path_of
from sayso.runs.judge import OpenJudge, model_judge
from sayso.runs.recorded import RecordedEngine, answers_of
from sayso.runs.stages import FolderRun
from sayso.runs.tools import (
    READS,
    FurtherModels,
    KnowledgeSources,
    RememberedReads,
)
from sayso.scores.collect import Tools
from sayso.storage.cache import Cache
from sayso.storage.run_folder import Manifest, RunFolder

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

    ``reads`` counts texts that a model only reads, states of theirs that it keeps, and pairs that a
    classifier compares. What is asked or read counts where it stands first; what is in ``seen`` (of
    jobs before this one) does not.
    """

    def __init__(self, extent: Extent, seen: Iterable[bytes] = ()) -> None:
        self.extent = extent
        self.made_up = False
        self.stage = "claims"  # what texts that are there are read for
        self.stages: dict[tuple[str, str], dict[bytes, Request]] = {}
        self.kept: dict[bytes, Generation] = {}
        #: what requests to the subject are for, by their keys
        self.asks: dict[bytes, Ask] = {}
        self.reads: Counter[tuple[str, str]] = Counter()
        self.engines: dict[str, CachedEngine] = {}
        self._seen: set[Hashable] = set(seen)

    def new(self, key: Hashable) -> bool:
        """Tell whether this stands here first."""
        new = key not in self._seen
        self._seen.add(key)
        return new

    def note_read(self, who: str, key: Hashable) -> None:
        """Count what is read, kept or compared, once."""
        if self.new((who, key)):
            self.reads[who, self.stage] += 1

    def note(
        self, who: str, stage: str, key: bytes, request: Request, kept: Generation | None
    ) -> None:
        """Write down a request, and its reply where the cache holds one."""
        if self.new(key):
            self.stages.setdefault((who, stage), {})[key] = request
            if kept is not None:
                self.kept[key] = kept


def not_asked(request: Request) -> Generation:
    """Return the reply of a model that reads: nobody knows what it will say."""
    return Generation(request, problem=NOT_ASKED)


class RehearsedEngine(EngineWrapper):
    """An engine that answers from its cache, or with what ``stand_in`` makes of a request."""

    def __init__(
        self,
        engine: CachedEngine,
        who: str,
        book: Book,
        stand_in: Callable[[Request], Generation] = not_asked,
    ) -> None:
        super().__init__(engine)
        self.who, self.book, self.shape, self.cache = who, book, engine.shape, engine.cache
        self._cached, self._stand_in = engine, stand_in
        book.engines[who] = engine

    def complete(self, requests: Iterable[Request]) -> Iterator[tuple[int, Generation]]:
        """Yield what the cache holds, and stand-ins."""
        wanted = [self._cached.shape(request) for request in requests]
        keys = [request_key(request, self.identity) for request in wanted]
        kept = self._cached.usable(keys)
        for index, (key, request) in enumerate(zip(keys, wanted, strict=True)):
            stored, ask = kept.get(key), self.book.asks.get(key)
            reply = None if stored is None else self._cached.spoken(stored.reply)
            stage = ask.stage if ask is not None else self.book.stage
            self.book.note(self.who, stage, key, request, reply)
            if reply is None:
                self.book.made_up = True
                reply = self._stand_in(request)
            yield index, msgspec.structs.replace(reply, request=request)

    def force(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], want: Sequence[str]
    ) -> Iterator[tuple[int, Generation]]:
        """Count what would be read, each once."""
        for index, (request, text) in enumerate(items):
            given = text if isinstance(text, str) else list(text)
            self.book.note_read("reads", content_hash([self.identity, request, given]))
            yield index, not_asked(request)

    def close(self) -> None:
        """Leave the engine to whoever opened it."""


class RehearsedJudge:
    """A judge that writes its requests: for real answers as it would, for others all or some.

    Its verdict on an answer that was made up is a committed one, right and wrong in turn. A judge
    that is neither rules nor a model behind :class:`LlmJudge` is not called at all.
    """

    def __init__(self, judge: Judge, book: Book, llm: LlmJudge | None = None) -> None:
        self.name, self.signature, self._judge = judge.name, judge.signature, judge
        self.needs_golds = getattr(judge, "needs_golds", True)
        self.engine = llm.engine if llm is not None else None
        self._book, self._llm = book, llm

    def grade(self, items: Sequence[Item]) -> list[Verdict]:
        """Return a verdict for each (item, question), in order."""
        real = [item for item in items if MADE_UP not in item.generation.overrides]
        read: list[Verdict] = []
        if self._llm is None:
            if isinstance(self._judge, RulesJudge | BlindRules):
                read = self._judge.grade(real)
        elif isinstance(self._judge, CascadeJudge):
            read = CascadeJudge(self._judge.rules, self._llm).grade(real)
            self._llm.grade(self._unsure([i for i in items if MADE_UP in i.generation.overrides]))
        else:
            read = self._llm.grade(items)
        known = {(v.target, v.asked): v for v in read if v.problem is None}
        pairs = [(item, question.id) for item in items for question in item.questions]
        return [
            known.get((item.generation.id, asked)) or self._made_up(number, item, asked)
            for number, (item, asked) in enumerate(pairs)
        ]

    def _unsure(self, items: Sequence[Item]) -> list[Item]:
        """Return what the rules of a cascade leave to the model: all, or every third question."""
        every = 1 if self._book.extent == "most" else UNSURE
        asked = list(dict.fromkeys(q.id for item in items for q in item.questions))
        left = set(asked[::every])
        some = [i._replace(questions=tuple(q for q in i.questions if q.id in left)) for i in items]
        return [item for item in some if item.questions]

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

    def __init__(self) -> None:
        self._tables: dict[str, list[Any]] = {}

    def write(self, table: str, rows: Iterable[Any], kind: type) -> None:
        """Keep a table."""
        self._tables[table] = list(rows)

    def read(self, table: str, kind: type) -> list[Any]:
        """Return a table."""
        return self._tables[table]

    def has(self, table: str) -> bool:
        """Tell whether there is a table."""
        return table in self._tables


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
        #: the folder of the run, which may have begun
        self._begun = path_of(of.job, of.manifest)
        self._numbers = count(1)
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
            cast(RunFolder, MemoryFolder()),
            of.questions,
            of.manifest,
            model=self._subject,
            judge=OpenJudge(RehearsedJudge(of.judge.judge, book, llm)),
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
        walk(steps, self, partial(setattr, self.book, "stage"))

    def ask(self, asks: Sequence[Ask]) -> dict[str, list[Generation]]:
        """Answer from the cache, or with stand-ins."""
        if (one := self._subject) is not None:
            keys = [request_key(one.shape(ask.request), one.identity) for ask in asks]
            self.book.asks |= zip(keys, asks, strict=True)
        return super().ask(asks)

    def grade(self, stage: str, items: Sequence[Item], judge: Judge) -> list[Verdict]:
        """Write what a judge asks; rules read the answers that are there."""
        if isinstance(judge, RulesJudge | BlindRules):
            judge = RehearsedJudge(judge, self.book)
        before, self.book.stage = self.book.stage, stage
        verdicts = super().grade(stage, items, judge)
        self.book.stage = before
        return verdicts

    def keep_states(self, name: str, ids: Sequence[str], source: str, blocks: object) -> None:
        """Count the states that the run would keep, but those that its folder has."""
        held = RunFolder(self._begun).array_head(name)
        if self.book.made_up or held is None or not set(ids) <= {*held.ids}:
            for id in ids:
                self.book.note_read("states", (name, id))

    def close(self) -> None:
        """Close what was opened for the rehearsal."""
        self._open.close()

    def _answer(self, request: Request) -> Generation:
        """Make an answer up: as short as they come and like the others, or long and its own.

        Paragraphs are about their own question, and of the shortest some decline.
        """
        ask = self.book.asks.get(request_key(request, self.model.identity))
        most, number = self.book.extent == "most", next(self._numbers)
        length = round(self._lengths(request.max_tokens)[most])
        # the fewest: draws differ a little, in the first and all others
        sentences, own, declines = 1, number if most else min(request.sample, 1), False
        if ask is not None and ask.form == "long":
            facts = len(ask.question.parts)
            sentences = SENTENCES[self.book.extent]
            if facts:
                sentences = 2 * facts if most else max(1, facts // 2)
            place = self._texts.setdefault(ask.question.id, len(self._texts))
            own, declines = number if most else place, not most and place % DECLINES == 0
        words = " word" * max(1, length // sentences // 5)
        text = " ".join(f"Part {own} {n}{words}." for n in range(sentences))
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
            engine = RememberedReads(self._subject, cache)
        meaning: Meaning = RulesMeaning()
        if nli != "rules":
            llm = None
            if nli.startswith("llm:") and self.models is not None:
                llm = LlmClassifier(self.models(nli.removeprefix("llm:")))
            meaning = ModelMeaning(RehearsedClassifier(self.book, llm), nli)
        return Tools(engine, meaning)

    def _find(
        self, source: str, queries: Sequence[tuple[str, str]], k: int
    ) -> list[tuple[Passage, ...]]:
        """Return passages: of a small source, or once all texts are known, those that it has.

        Else they have the usual size: a large source is not opened, which may take an hour.
        """
        known = not self.book.made_up and self.book.asks
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
