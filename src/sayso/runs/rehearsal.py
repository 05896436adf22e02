"""A run without a model: the walk of its steps against what the cache holds, and stand-ins.

A rehearsal is taken twice. In one, whatever is not known yet makes for few requests: answers are
short and draws of two kinds, the rules of a cascade are certain of most, no text has a claim that
its model rejects. In the other it makes for the most. Each counts what it would ask; what is in
the cache is taken as it is, so that a rehearsal of a finished run finds nothing left to ask.
Nothing is written, and no score or number is computed.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.engines.engine import Engine, EngineWrapper
from sayso.judges.cascade import CascadeJudge
from sayso.judges.judge import Item, Judge
from sayso.judges.meaning import LABELS, LlmClassifier, ModelMeaning, RulesMeaning
from sayso.judges.model.judge import LlmJudge
from sayso.judges.rules.judge import RulesJudge
from sayso.protocols.probes import BlindRules
from sayso.protocols.protocol import Ask, Step, walk
from sayso.records import NOT_ASKED, Generation, Passage, Request, Verdict, request_key
from sayso.retrieval.sources import GOLDS
from sayso.runs.asking import CachedEngine
from sayso.runs.job import OpenJob, path_of
from sayso.runs.judge import OpenJudge, model_judge
from sayso.runs.recorded import RecordedEngine, answers_of
from sayso.runs.stages import FolderRun
from sayso.runs.tools import READS, KnowledgeSources, RememberedReads
from sayso.scores.collect import Tools
from sayso.storage.cache import Cache
from sayso.storage.run_folder import ArrayHead, RunFolder

Extent = Literal["fewest", "most"]
#: requests by their keys, with their replies, where the cache holds one
Asked = dict[bytes, tuple[Request, Generation | None]]

#: the override of an answer that a rehearsal made up
MADE_UP = "made up"
#: at the least, one in so many: facts that a paragraph tells, questions of which the rules of a
#: cascade are not certain, and texts that decline
SOME = 3
#: sentences of a long text on a topic whose facts are not listed, and characters of one
SENTENCES = 8, 24
SENTENCE = 60
#: sources that are opened at once; what stands for a passage of another one
SMALL = (GOLDS, "builtin")
PASSAGE = "passage " * 62
#: the reply of a model that reads: nobody knows what it will say
UNKNOWN = Generation(Request(()), problem=NOT_ASKED)


class RehearsedEngine(EngineWrapper):
    """An engine that answers from its cache, or with what ``stand_in`` makes of a request."""

    def __init__(
        self,
        engine: CachedEngine,
        who: str,
        run: Rehearsal,
        stand_in: Callable[[Request], Generation] = lambda request: UNKNOWN,
    ) -> None:
        super().__init__(engine)
        self.shape, self.cache = engine.shape, engine.cache
        self._cached, self._who, self._run, self._stand_in = engine, who, run, stand_in
        run.engines[who] = engine

    def complete(self, requests: Iterable[Request]) -> Iterator[tuple[int, Generation]]:
        """Yield what the cache holds, and stand-ins."""
        wanted = [self._cached.shape(request) for request in requests]
        keys = [request_key(request, self.identity) for request in wanted]
        kept = self._cached.usable(keys)
        for index, (key, request) in enumerate(zip(keys, wanted, strict=True)):
            stored = kept.get(key)
            reply = None if stored is None else self._cached.spoken(stored.reply)
            self._run.note(self._who, key, request, reply)
            if reply is None:
                self._run.rehearses = self._run.extent
                reply = self._stand_in(request)
            yield index, msgspec.structs.replace(reply, request=request)

    def force(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], want: Sequence[str]
    ) -> Iterator[tuple[int, Generation]]:
        """Count what would be read, each once."""
        for index, (request, text) in enumerate(items):
            self._run.note("reads", (request, text if isinstance(text, str) else tuple(text)))
            yield index, msgspec.structs.replace(UNKNOWN, request=request)


class RehearsedJudge:
    """A judge that writes its requests: for real answers as it would, for others all or some.

    Its verdict on an answer that was made up is a committed one, right at the least. A judge
    that is neither rules nor a model behind :class:`LlmJudge` is not called at all.
    """

    def __init__(self, judge: Judge, extent: Extent, llm: LlmJudge | None = None) -> None:
        self.name, self.signature, self._judge = judge.name, judge.signature, judge
        self.needs_golds = getattr(judge, "needs_golds", True)
        self.engine = llm.engine if llm is not None else None
        self._most, self._llm = extent == "most", llm

    def grade(self, items: Sequence[Item]) -> list[Verdict]:
        """Return a verdict for each (item, question), in order."""
        real = [item for item in items if MADE_UP not in item.generation.overrides]
        read: list[Verdict] = []
        if isinstance(self._judge, RulesJudge | BlindRules):
            read = self._judge.grade(real)
        elif self._llm is not None and isinstance(self._judge, CascadeJudge):
            read = CascadeJudge(self._judge.rules, self._llm).grade(real)
            self._llm.grade(self._unsure([i for i in items if MADE_UP in i.generation.overrides]))
        elif self._llm is not None:
            read = self._llm.grade(items)
        known = {(v.target, v.asked): v for v in read if v.problem is None}
        pairs = [(item, question.id) for item in items for question in item.questions]
        return [
            known.get((item.generation.id, asked)) or self._made_up(number, item, asked)
            for number, (item, asked) in enumerate(pairs)
        ]

    def _unsure(self, items: Sequence[Item]) -> list[Item]:
        """Return what the rules of a cascade leave to the model: all, or every third question."""
        asked = list(dict.fromkeys(q.id for item in items for q in item.questions))
        left = set(asked[:: 1 if self._most else SOME])
        some = [i._replace(questions=tuple(q for q in i.questions if q.id in left)) for i in items]
        return [item for item in some if item.questions]

    def _made_up(self, number: int, item: Item, asked: str) -> Verdict:
        by = item.generation.id, asked, self.signature
        if len(item.questions) > 1 and not self._most and number % SOME:
            return Verdict(*by, "omitted", "none")
        span = 0, min(len(item.generation.text), SENTENCE)
        return Verdict(
            *by, "committed", "incorrect" if self._most else "correct", None, None, *span, *span
        )


class RehearsedClassifier:
    """Counts the pairs whose relation would be computed or asked for: all equal, or none."""

    labels: tuple[str, ...] = LABELS
    identity = "rehearsal"

    def __init__(self, run: Rehearsal, llm: LlmClassifier | None = None) -> None:
        self._run, self._llm = run, llm

    def classify(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return (pairs, 3): what a model said before, else entailment, or contradiction."""
        if self._llm is None:
            for pair in pairs:
                self._run.note("nli", pair)
            rows = np.full((len(pairs), len(LABELS)), np.nan)
        else:
            rows = self._llm.classify(pairs)
        unknown = "entailment" if self._run.extent == "fewest" else "contradiction"
        rows[np.isnan(rows[:, 0])] = [float(name == unknown) for name in LABELS]
        return rows


class MemoryFolder(RunFolder):
    """The tables of a rehearsal, which go nowhere; states that the run would keep are counted."""

    def __init__(self, path: Path, run: Rehearsal) -> None:
        super().__init__(path)
        self._run = run
        self._tables: dict[str, list[Any]] = {}

    def write(self, table: str, records: Iterable[Any], type: type) -> int:
        """Keep a table."""
        self._tables[table] = list(records)
        return len(self._tables[table])

    def read(self, table: str, type: type) -> list[Any]:
        """Return a table."""
        return self._tables[table]

    def has(self, table: str) -> bool:
        """Tell whether a table was kept."""
        return table in self._tables

    def write_array(self, name: str, head: ArrayHead, blocks: object) -> None:
        """Count the states that the run would keep, but those that its folder has."""
        held = self.array_head(name)
        if self._run.rehearses != "known" or held is None or not {*head.ids} <= {*held.ids}:
            for id in head.ids:
                self._run.note("states", (name, id))


class Rehearsal(FolderRun):
    """A run that only counts what it would ask, by who is asked and in which stage, in order.

    ``reads`` counts texts that a model only reads, states of theirs that it keeps, and pairs that a
    classifier compares. What is asked or read counts where it stands first; what is in ``seen`` (of
    jobs before this one) does not. ``lengths`` are the characters of answers, fewest and most, by
    their token limit. ``opened`` closes what is opened on the way.
    """

    def __init__(
        self,
        of: OpenJob,
        extent: Extent,
        lengths: Callable[[int], tuple[float, float]],
        seen: Iterable[bytes],
        opened: contextlib.ExitStack,
    ) -> None:
        self.extent, self.rehearses = extent, "known"
        self.stage = ""
        self.stages: dict[tuple[str, str], Asked] = {}
        #: what requests to the subject are for, by their keys
        self.asks: dict[bytes, Ask] = {}
        self.reads: Counter[tuple[str, str]] = Counter()
        self.engines: dict[str, CachedEngine] = {}
        self._seen: set[Hashable] = set(seen)
        self._of, self._lengths, self._opened = of, lengths, opened
        #: the place of each question that a text was made up for
        self._texts: dict[str, int] = {}
        subject, llm, manifest = None, None, of.manifest
        if of.job.model:
            subject = RehearsedEngine(of.model, "model", self, self._answer)
        if of.judge.engine is not None:
            options = dataclasses.replace(of.job.judge_options, judge_anyway=True)
            llm = model_judge(RehearsedEngine(of.judge.engine, "judge", self), options, subject)
        super().__init__(
            MemoryFolder(path_of(of.job, manifest), self),
            of.data.questions,
            manifest,
            model=subject,
            judge=OpenJudge(RehearsedJudge(of.judge.judge, extent, llm)),
        )
        self._sources = KnowledgeSources(of.data.questions, of.job.cache_folder)
        opened.callback(self._sources.close)
        if isinstance(of.job.model, RecordedEngine):
            self.recorded = partial(answers_of, of.job.model, of.job.plan)

    def note(
        self, who: str, key: Any, request: Request | None = None, kept: Generation | None = None
    ) -> None:
        """Count a request, with its reply where the cache holds one, or what is only read."""
        if key in self._seen:
            return
        self._seen.add(key)
        if request is None:
            self.reads[who, self.stage] += 1
        else:
            stage = self.asks[key].stage if key in self.asks else self.stage
            self.stages.setdefault((who, stage), {})[key] = request, kept

    def ask(self, asks: Sequence[Ask]) -> dict[str, list[Generation]]:
        """Answer from the cache, or with stand-ins."""
        model = cast(RehearsedEngine, self.engine())
        keys = [request_key(model.shape(ask.request), model.identity) for ask in asks]
        self.asks |= zip(keys, asks, strict=True)
        return super().ask(asks)

    def grade(
        self, stage: str, items: Sequence[Item], judge: Judge, spans: Sequence[Item] | None = None
    ) -> list[Verdict]:
        """Write what a judge asks; rules read the answers that are there."""
        if isinstance(judge, RulesJudge | BlindRules):
            judge = RehearsedJudge(judge, self.extent)
        before, self.stage = self.stage, stage
        verdicts = super().grade(stage, items, judge, spans)
        self.stage = before
        return verdicts

    def _answer(self, request: Request) -> Generation:
        """Make an answer up: as short as they come and like the others, or long and its own.

        Paragraphs are about their own question, and of the shortest some decline.
        """
        ask = self.asks.get(request_key(request, self.engine().identity))
        most, number = self.extent == "most", len(self._seen)
        length = round(self._lengths(request.max_tokens)[most])
        # the fewest: draws differ a little, in the first and all others
        sentences, own, declines = 1, number if most else min(request.sample, 1), False
        if ask is not None and ask.form == "long":
            facts = len(ask.question.parts)
            sentences = ((max(1, facts // 2), 2 * facts) if facts else SENTENCES)[most]
            place = self._texts.setdefault(ask.question.id, len(self._texts))
            own, declines = number if most else place, not most and place % SOME == 0
        words = " word" * max(1, length // sentences // 5)
        text = " ".join(f"Part {own} {n}{words}." for n in range(sentences))
        text = "I do not have any information about that." if declines else text
        tokens = text.split(" ")
        return Generation(
            request,
            text=text,
            overrides=(MADE_UP,),
            token_ids=tuple(range(len(tokens))),
            offsets=tuple(accumulate((len(token) + 1 for token in tokens[:-1]), initial=0)),
            logprobs=(-0.1,) * len(tokens),
        )

    def engine(self, name: str = "") -> Engine:
        """Return the subject or a further model, which answers from the cache."""
        if not name:
            return super().engine()
        return RehearsedEngine(self._of.tools.model(name), name, self)

    def tools(self, nli: str) -> Tools:
        """Return what gathers evidence: reads are counted, and pairs whose meaning is compared."""
        engine = None
        if self.recorded is None and self._subject is not None:
            file = self._of.job.cache_folder / READS
            cache = self._opened.enter_context(Cache(file)) if file.exists() else None
            engine = RememberedReads(self._subject, cache)
        if nli == "rules":
            return Tools(engine, RulesMeaning())
        model = nli.removeprefix("llm:")
        llm = LlmClassifier(self.engine(model)) if model != nli else None
        return Tools(engine, ModelMeaning(RehearsedClassifier(self, llm), nli))

    def search(
        self, source: str, queries: Sequence[tuple[str, str]], k: int
    ) -> list[tuple[Passage, ...]]:
        """Return passages: of a small source, or once all texts are known, those that it has.

        Else they have the usual size: a large source is not opened, which may take an hour.
        """
        if not queries:
            return []
        if source in SMALL or (self.asks and self.rehearses == "known"):
            return self._sources.search(source, queries, k)
        self.rehearses = self.extent
        return [tuple(Passage(f"{n}", title, PASSAGE) for n in range(k)) for title, _ in queries]


def rehearse(
    of: OpenJob,
    lengths: Callable[[int], tuple[float, float]],
    seen: Iterable[bytes],
    steps: Sequence[Step],
) -> tuple[Rehearsal, Rehearsal]:
    """Rehearse steps at the least and at the most; ``seen`` requests are left out."""
    with contextlib.ExitStack() as opened:
        fewest = Rehearsal(of, "fewest", lengths, seen, opened)
        most = Rehearsal(of, "most", lengths, seen, opened)
        for run in (fewest, most):
            walk(steps, run, partial(setattr, run, "stage"))
    return fewest, most
