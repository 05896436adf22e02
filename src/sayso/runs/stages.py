"""The stages of a run: answers of a model, verdicts of a judge, tables in a folder.

A run that is killed at any instant asks, when it is repeated with the same settings, only what is
missing: replies go to the cache as they come (:mod:`sayso.runs.asking`), and a table is written in
one piece or not at all. Answers and verdicts that never came are counted here.
"""

from __future__ import annotations

import contextlib
import datetime
import re
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from sayso.engines.engine import Engine
from sayso.engines.room import thought_tokens
from sayso.judges.judge import Item, Judge
from sayso.judges.rules.judge import RulesJudge
from sayso.progress import Progress
from sayso.protocols import PROTOCOLS
from sayso.protocols.probes import ALIKE, PROBES, BlindRules, count_draws
from sayso.protocols.protocol import Ask, Made, Rehearses
from sayso.records import (
    ROOMS,
    Generation,
    InputError,
    Passage,
    Question,
    Request,
    Signature,
    Verdict,
    content_id,
    is_blank,
)
from sayso.runs.asking import CachedEngine, CacheTally, asking_signature
from sayso.runs.judge import OpenJudge
from sayso.scores.collect import Tools
from sayso.storage.run_folder import Manifest, RunFolder
from sayso.version import __version__

if TYPE_CHECKING:
    from sayso.runs.tools import RunTools

#: finds what is on record for requests: those that have something, that, and what is lacking
Lookup = Callable[[Sequence[Ask]], tuple[list[Ask], list[Generation], list[str]]]


class OpenFolder(RunFolder):
    """The folder of a run that is under way: answers are read as they came.

    A table keeps less of them, and reading it takes as long as writing.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._answers: dict[str, list[Any]] = {}

    def write(self, table: str, records: Iterable[Any], type: type[Any]) -> int:
        """Write a table."""
        if type is Generation:
            records = self._answers[table] = list(records)
        return super().write(table, records, type)

    def read(self, table: str, type: type[Any]) -> list[Any]:
        """Return the records of a table."""
        held = self._answers.get(table)
        return super().read(table, type) if held is None else held


class FolderRun:
    """The :class:`sayso.protocols.Run` that the command line and ``sayso.run`` use.

    ``manifest`` is what the run is before it begins. Only a run that is under way has a ``model``
    and a ``judge``.
    """

    #: nothing: whatever is not known is asked
    rehearses: Rehearses | None = None

    def __init__(
        self,
        folder: RunFolder,
        questions: Sequence[Question],
        manifest: Manifest,
        *,
        model: Engine | None = None,
        judge: OpenJudge | None = None,
        tools: RunTools | None = None,
        notices: Sequence[str] = (),
    ) -> None:
        self.folder = folder
        self.questions = questions
        self.manifest = manifest
        self.parts = signature_parts(manifest)
        self._subject, self._judge = model, judge.judge if judge is not None else None
        self.judge_engine = judge.engine if judge is not None else None
        self._tools = tools
        #: finds the answers of a model on record, which is not asked
        self.recorded: Lookup | None = None
        self.progress: Progress = model.progress if isinstance(model, CachedEngine) else Progress()
        self.timings: dict[str, float] = {}
        self.notices: list[str] = [*notices]
        #: by signature of the judge
        self.verdict_counts: dict[str, VerdictCounts] = {}
        self._new = self._answered = False
        #: answers that show a thought, and all of them
        self._thoughts: Counter[bool] = Counter()
        self._made: dict[Hashable, object] = {}

    @property
    def judge(self) -> Judge:
        """Who judges the answers. Raises InputError for a stored run."""
        if self._judge is None:
            raise InputError("a stored run cannot ask its judge")
        return self._judge

    def ask(self, asks: Sequence[Ask]) -> dict[str, list[Generation]]:
        """Answer every ask and store ``generations/<stage>`` for each stage among them."""
        if not asks:
            return {}
        model = self.engine()
        stages = dict.fromkeys(a.stage for a in asks)
        if isinstance(model, CachedEngine):
            model.stage = "asking: " + "+".join(stages)
            asks = [ask._replace(request=model.shape(ask.request)) for ask in asks]
        with self.timed("generate"):
            if self.recorded is not None:
                asks, found, lacking = self.recorded(asks)
                self.tell(lacking)
                replies = dict(enumerate(found))
            else:
                replies = dict(model.complete(ask.request for ask in asks))
        with self.timed("store"):
            tables: dict[str, list[Generation]] = {stage: [] for stage in stages}
            for index, ask in enumerate(asks):
                reply = bind(ask, replies.pop(index), model.identity)
                tables.setdefault(ask.stage, []).append(reply)
            for stage, rows in tables.items():
                self.folder.write(f"generations/{stage}", rows, Generation)
                self._note_missing(stage, rows)
                self.notices += [f"{stage}: {said}" for said in mixed_sampling(rows)]
        answers = [row for rows in tables.values() for row in rows]
        self._thoughts[True] += sum(thought_tokens(g) > 0 for g in answers)
        self._thoughts[False] += len(answers)
        if not self._answered:
            check_answered(model.name, answers)
            self._answered = bool(answers)
        if count_draws(tables.get(PROBES, ())).repeat:
            self.notices.append(f"{PROBES}: {ALIKE}")
            if isinstance(model, CachedEngine):
                model.tell_repetition()
        return tables

    def _note_missing(self, stage: str, rows: Sequence[Generation]) -> None:
        """Note requests that failed and answers that were cut off."""
        problems = Counter(_kind(r.problem) for r in rows if r.problem is not None)
        for problem, number in sorted(problems.items()):
            why = why_missing(rows, problem)
            self.notices.append(f"{stage}: {number} of {len(rows)} requests {why}")
        cut = sum(r.finish == "length" and r.problem is None for r in rows)
        if cut:
            self.notices.append(
                f"{stage}: {cut} of {len(rows)} answers reached the token limit and were judged "
                "as they are"
            )
        if loops := sum(r.finish == "loop" for r in rows):
            self.notices.append(
                f"{stage}: {loops} of {len(rows)} answers only repeated themselves and were "
                "ended; the repeats are left out"
            )

    def grade(
        self, stage: str, items: Sequence[Item], judge: Judge, spans: Sequence[Item] | None = None
    ) -> list[Verdict]:
        """Judge answers and store ``verdicts/<stage>``, and where ``spans`` state values."""
        if self.judge_engine is not None:
            self.judge_engine.stage = f"judging: {stage}"
        self.progress.doing("judging the answers")
        blind, found = BlindRules(self.questions), None
        with self.timed("grade"):
            if spans is not None and isinstance(judge, RulesJudge):  # both read a text at once
                ids = {item.generation.id for item in spans}
                verdicts, found = judge.grade_beside(items, blind, ids)
            else:
                verdicts = judge.grade(items)
        self._keep_verdicts(stage, items, verdicts, judge)
        if found is not None:
            self._keep_verdicts(f"{stage}-spans", spans or (), found, blind)
        elif spans is not None:
            self.grade(f"{stage}-spans", spans, blind)
        return verdicts

    def _keep_verdicts(
        self, stage: str, items: Sequence[Item], verdicts: list[Verdict], judge: Judge
    ) -> None:
        self.verdict_counts.setdefault(judge.signature, VerdictCounts()).add(items, verdicts)
        with self.timed("store"):
            self.folder.write(f"verdicts/{stage}", verdicts, Verdict)

    def tell(self, sentences: Sequence[str]) -> None:
        """Add to the manifest's notices."""
        self.notices += [text for text in sentences if text not in self.notices]

    def tools(self, nli: str) -> Tools:
        """Return the tools that gather evidence; a stored run has none."""
        self.progress.doing("computing the scores")
        with self.timed("open_tools"):
            return self._tools.tools(nli) if self._tools is not None else Tools()

    def engine(self, name: str = "") -> Engine:
        """Return the subject, or a further model by name. Raises InputError for a stored run."""
        if name and self._tools is not None:
            return self._tools.model(name)
        if name or self._subject is None:
            raise InputError(f"a stored run cannot ask {name or 'its model'}")
        return self._subject

    def search(
        self, source: str, queries: Sequence[tuple[str, str]], k: int
    ) -> list[tuple[Passage, ...]]:
        """Return the ``k`` passages of a knowledge source for each (title, text)."""
        if self._tools is None:
            raise InputError("a stored run has no knowledge source to search")
        with self.timed("search"):
            return self._tools.sources.search(source, queries, k)

    def begin(self) -> None:
        """Write down what is asked, and what the run is before it begins."""
        self._new = not RunFolder.exists(self.folder.path)
        self.folder.write("questions", self.questions, Question)
        self.folder.write_manifest(self.manifest)

    def give_up(self) -> None:
        """Leave nothing behind of a start that failed before anything was answered."""
        tally = getattr(self._subject, "tally", CacheTally())
        answered = tally.cached or tally.asked > tally.failed
        if self._new and not answered and not self.folder.tables("generations"):
            for name in ("manifest.json", "questions.parquet"):
                (self.folder.path / name).unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # other files are in it: it stays
                self.folder.path.rmdir()

    def end(self) -> list[str]:
        """Ask nothing more: from now on the run is read as it is stored.

        Returns what must be read first where many verdicts are missing. Raises InputError where no
        verdict could be read.
        """
        judge = self.judge
        counts = self.verdict_counts.get(judge.signature, VerdictCounts())
        check_any_read(judge, counts, f"sayso judge-check {judge.name}")
        asked = zip(ROOMS, (self._subject, self.judge_engine), strict=True)
        rooms = {name: one.tally.room for name, one in asked if isinstance(one, CachedEngine)}
        self.parts = signature_parts(msgspec.structs.replace(self.manifest, tokens=rooms))
        self._subject = self._judge = None
        self.folder = RunFolder(self.folder.path)
        self._made.clear()
        return unread_run_cautions(counts)

    def unthinking(self) -> list[str]:
        """Return the caution of a run that asked for thoughts, where no answer shows one."""
        level = self.manifest.settings.get("thinking")
        if level in (None, "off") or self._thoughts[True] or not self._thoughts[False]:
            return []
        return [
            f"Thinking {level} was asked for, but none of {self._thoughts[False]:,} answers shows "
            "any: the model, or its server, may ignore it."
        ]

    def finish(self, **known: Any) -> Manifest:
        """Write and return the manifest of a run that is finished, with what is known by now."""
        self.manifest = msgspec.structs.replace(
            self.manifest,
            finished=now(),
            timings=self.timings,
            rows=self.folder.rows(),
            **known,
        )
        self.folder.write_manifest(self.manifest)
        return self.manifest

    def signature(self, **parts: str) -> Signature:
        """Return the settings behind a number: the given ones, then the run's own."""
        return tuple({**parts, **self.parts}.items())

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return what ``make`` returns, kept as long as this run."""
        if key not in self._made:
            self._made[key] = make()
        return cast(Made, self._made[key])

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
    """Give a reply its place in the run; an empty one has a problem, as it says nothing."""
    blank = reply.problem is None and is_blank(reply.text)
    return msgspec.structs.replace(
        reply,
        id=content_id([ask.question.id, ask.stage, ask.method, ask.request, identity]),
        request=ask.request,
        question=ask.question.id,
        stage=ask.stage,
        form=ask.form,
        method=ask.method,
        instructed=ask.instructed,
        problem="empty" if blank else reply.problem,
    )


def now() -> str:
    """Return the present time (UTC, to the second) as manifests write it."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def signature_parts(manifest: Manifest) -> dict[str, str]:
    """Return the run-wide parts of every signature; the model is what ``compare`` compares."""
    return {
        "data": f"{manifest.data}-{manifest.data_hash[:4]}",
        "model": manifest.model_signature,
        "judge": manifest.judge_signature,
        "prompts": manifest.prompts["signature"],
        **prompt_parts(manifest),
        **asking_signature(manifest.settings),
        **{name: str(manifest.tokens[name]) for name in ROOMS if manifest.tokens.get(name)},
        "seed": str(manifest.settings["seed"]),
        "v": __version__,  # of the sayso that measures, not of the one that asked
    }


def prompt_parts(manifest: Manifest) -> dict[str, str]:
    """Return what stands in signatures of a run's prompts, besides the one hash of all of them."""
    plans = [PROTOCOLS[name] for name in manifest.protocols if name in PROTOCOLS]
    names = [name for plan in plans for name in plan.Settings().FREE]
    return {name: manifest.prompts[name] for name in names if name in manifest.prompts}


# ---- missing answers and verdicts

#: how the override of a setting ends that an endpoint was not sent
NOT_SENT, PROVIDERS = ": not sent", ": provider default"
#: a larger share of missing verdicts makes a caution
MANY = 0.03
#: so many verdicts, none of them read, and a judge is refused
ENOUGH = 5
#: names of missing verdicts in a judge's counts
PROBLEMS = ("unread", "mismatch", "refused", "truncated", "failed")
#: what to do about requests without an answer, by the beginning of their problem
ADVICE = {
    "context": "could not be asked: prompt and longest answer exceed the model's context; "
    "shorten them (answer.short_tokens, answer.long_tokens)",
    "empty": "came back empty and have no verdict",
    "truncated": "reached the token limit while still thinking and have no verdict; allow more "
    "(--thinking with a number of tokens) or none (--thinking off)",
    "failed: content filter": "were stopped by the server's content filter, and would be again: "
    "turn the filter off, or take another model",
    "failed: the model called a tool": "ended in a call of a tool, and would again: serve the "
    "model without tools, or forbid calls in its system prompt",
}
#: how an endpoint's calls say that none of their tries was answered in time
TOO_SLOW = re.compile(
    r"no answer in (?P<seconds>[\d.e+]+) s\b(?: with (?P<calls>[\d,]+) calls at once)?"
)


@dataclass
class VerdictCounts:
    """How many ``verdicts`` one judge owes on the answers that came, and how many are missing.

    ``unread`` of them could not be read, ``foreign`` of these for their language; ``unanswered``
    are those on requests without an answer, which are not among ``verdicts``.
    """

    verdicts: int = 0
    unread: int = 0
    unanswered: int = 0
    foreign: int = 0

    def add(self, items: Sequence[Item], verdicts: Sequence[Verdict]) -> None:
        """Count the verdicts on some answers."""
        lost = {item.generation.id for item in items if item.generation.problem is not None}
        for verdict in verdicts:
            if verdict.target in lost:
                self.unanswered += 1
            else:
                self.verdicts += 1
                self.unread += verdict.problem is not None
                self.foreign += verdict.problem == "language"


def mixed_sampling(rows: Sequence[Generation]) -> list[str]:
    """Say whether draws of one prompt were sampled in more than one way.

    A server that refuses an option now and then, or another one that goes on from the cache,
    leaves some draws to its own defaults.
    """
    ways: dict[tuple[str | None, str, Request], set[tuple[str, ...]]] = {}
    for row in rows:
        if row.problem is None and not row.request.greedy:
            prompt = msgspec.structs.replace(row.request, seed=0, sample=0)
            unsent = tuple(o for o in row.overrides if o.endswith((NOT_SENT, PROVIDERS)))
            ways.setdefault((row.question, row.method, prompt), set()).add(unsent)
    mixed = [found for found in ways.values() if len(found) > 1]
    if not mixed:
        return []
    named = {override for found in mixed for way in found for override in way}
    always = {o for o in named if all(o in way for found in mixed for way in found)}
    return [
        f"the draws of {len(mixed):,} of {len(ways):,} prompts were not all sampled with the same "
        f"settings ({'; '.join(sorted(named - always))}, for some of them only); change "
        "model_version to repeat all of them"
    ]


def _kind(problem: str) -> str:
    """Return what a problem is called: what advice is known for, else what stands first in it."""
    return next((p for p in ADVICE if problem.startswith(p)), problem.partition(":")[0])


def why_missing(rows: Sequence[Generation], problem: str) -> str:
    """Return what happened to requests whose problem begins so, and what to do about it."""
    found = [r.problem for r in rows if r.problem and _kind(r.problem) == problem]
    slow = [match for text in found if (match := TOO_SLOW.search(text))]
    if 2 * len(slow) >= len(found) and slow:
        calls = max(int((match["calls"] or "1").replace(",", "")) for match in slow)
        many, fewer = "", ""
        if calls > 2:
            many, fewer = f" for {calls:,} calls at once", "--set concurrency=2, or "
        return (
            f"failed because the server was too slow{many} (no answer in {slow[0]['seconds']} s); "
            f"pass {fewer}a longer timeout and patience, and run again"
        )
    return ADVICE.get(problem, f"failed ({' '.join(found[0].split())[:200]}); run again")


def check_answered(name: str, rows: Sequence[Generation]) -> None:
    """Raise InputError if none of the requests was answered: there is nothing to judge.

    An empty answer is an answer: the page says that it says nothing.
    """
    if not rows or any(r.problem in (None, "empty") for r in rows):
        return
    heads = Counter(_kind(r.problem or "") for r in rows)
    problems = "; ".join(f"{n:,} {why_missing(rows, head)}" for head, n in heads.most_common())
    again = "" if heads.keys() <= ADVICE.keys() else "; run the same command to ask again"
    asked = [r for r in rows if any(message.role == "system" for message in r.request.messages)]
    if any("system" in (r.problem or "").casefold() for r in asked):
        again = "; if it takes no system prompt, leave --system out"
    raise InputError(
        f"{name} answered none of {len(rows):,} requests: {problems}. There are no numbers and no "
        f"report{again}"
    )


def requested_and_missing(judge: Judge) -> tuple[int, dict[str, int]]:
    """Return how many verdicts a model was to give, and by problem those that it did not give.

    (0, {}) for a judge that asks no model. For a cascade they are those of its model only.
    """
    counts = getattr(judge, "counts", None)
    missing = {p: int(getattr(counts, p, 0)) for p in PROBLEMS}
    return int(getattr(counts, "parts", 0)), {p: n for p, n in missing.items() if n}


def check_any_read(judge: Judge, counts: VerdictCounts, command: str) -> None:
    """Raise InputError if no verdict of a judge, or of the model behind it, could be read.

    ``command`` is what checks this judge.
    """
    requested, missing = requested_and_missing(judge)
    lost = sum(missing.values())
    if requested >= ENOUGH and lost == requested:
        problems = ", ".join(f"{problem} {number:,}" for problem, number in missing.items())
        what = f"gave no readable verdict in {requested:,} requests ({problems})"
    elif counts.verdicts and counts.unread == counts.verdicts:
        what = f"gave {counts.verdicts:,} verdicts, none of them readable"
        what += f" ({counts.foreign:,}: not in English)" if counts.foreign else ""
    else:
        return
    again = "run the same command to resume; " if requested else ""
    raise InputError(
        f"the judge {judge.name} {what}: there are no numbers and no report. Every answer is kept: "
        f"{again}with another --judge the model is asked nothing again; `{command}` tests this "
        "judge"
    )


def unread_run_cautions(counts: VerdictCounts) -> list[str]:
    """Return the cautions of a run where more than a few verdicts are missing."""
    cautions, total = [], counts.verdicts + counts.unanswered
    if counts.unread > MANY * counts.verdicts:
        cautions.append(
            f"{counts.unread:,} of the judge's {counts.verdicts:,} verdicts could not be read."
        )
    if counts.unanswered > MANY * total:
        cautions.append(
            f"{counts.unanswered:,} of {total:,} verdicts are missing because these answers are "
            "empty, or the requests for them failed."
        )
    rest = " The rest is not a random sample: read the bounds."
    if counts.unread + counts.unanswered < total:
        return [f"{caution}{rest}" for caution in cautions]
    return cautions
