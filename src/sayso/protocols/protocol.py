"""What a protocol is, and what it may do with a run.

A protocol is a value: its settings, what it asks, the numbers that it declares, and how they are
shown. Runs, comparisons, studies, labels, the report and the command line know nothing else of it.

How to add a protocol: make a package ``protocols/<name>/`` with the modules below, put one
:class:`Protocol` into its ``__init__``, and add that to ``PROTOCOLS`` in ``protocols/__init__.py``
and a command to ``cli/run.py``. Each module has one job and one entry:

    settings.py  ``Settings``, a frozen dataclass whose fields say what they change, their limits
                 and their help, and whose methods what they leave open and refuse
                 (:class:`sayso.protocols.settings.ProtocolSettings`)
    prompts.py   ``prompts(settings)``: the texts that a manifest keeps; ``prompt_uses``: those
                 that a user can replace
    run.py       ``steps(questions, settings, seed)``: the protocol from top to bottom, what is
                 asked, how it is judged and what is scored (:class:`Step`). A run and its dry run
                 are the same walk through them, and a run resumes after any interruption
    rows.py      joins stored tables, by ids, to the arrays that numbers are made of
    measure.py   ``numbers(run, settings, people, beside)``: every number, declared once, which are
                 estimated, compared (:mod:`sayso.protocols.comparing`), resampled together and
                 corrected by labels (:mod:`sayso.protocols.labeled`) alike; see
                 :mod:`sayso.protocols.declared`. ``estimates(run, settings)``: those of a run, and
                 what is no statistic of rows. ``cautions(estimates, draws_vary)``: what must be
                 read before any, and what two runs must share (uncle: in ``notes.py``)
    report.py    ``sheet``: all that page and terminal show of numbers; ``read_answers`` of a run,
                 ``part_label`` of slices in words (:class:`Report`)
    numbers.py   ``NUMBERS``: every number, with all that is said of it (:mod:`sayso.metric`)
    layouts.py   ``layouts()``: tables and figures of the paper, from the runs of a study

Shared by protocols: entities, wordings and items to judge in :mod:`sayso.protocols.pool`, draws and
what they say about knowledge in :mod:`sayso.protocols.probes`, signs that a model does not answer
at all in :mod:`sayso.protocols.coherence`.
"""

from __future__ import annotations

import dataclasses
import re
import typing
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import msgspec

from sayso.harmless import line
from sayso.metric import MetricTable
from sayso.records import (
    ROOMS,
    Estimate,
    Generation,
    InputError,
    Passage,
    Question,
    Request,
    Results,
    Signature,
    Slice,
    Verdict,
    signature_of,
)

if TYPE_CHECKING:
    from sayso.datasets.dataset import Dataset
    from sayso.engines.engine import Engine
    from sayso.judges.judge import Item, Judge
    from sayso.metrics.joint import JointNumber, Number
    from sayso.protocols.declared import Declared
    from sayso.report.number_tables import NumberTable
    from sayso.report.sheet import Sheet, StoredAnswers
    from sayso.scores.collect import Tools
    from sayso.storage.run_folder import Manifest, RunFolder


def setting_text(value: object) -> str:
    """Return a setting as people write it, on one line: one that was left out is "unset"."""
    return "unset" if value is None or value == "" else line(str(value), 300)


def unlike(
    names: Sequence[str],
    parts: tuple[Mapping[str, str], Mapping[str, str]],
    golds: Sequence[Mapping[str, object]],
    free: Sequence[str],
    allow: Sequence[str],
) -> tuple[list[str], list[str]]:
    """Return why two runs cannot be compared, and notes on differences that ``allow`` permits.

    ``parts`` are the parts of each run's signature, of which ``free`` may differ, ``golds`` each
    run's golds by question. Raises InputError for an ``allow`` that is no part.
    """
    first, second = parts
    either = list({**first, **second})
    unknown = [key for key in allow if key not in either]
    if unknown:
        raise InputError(f"allow {unknown[0]!r}: no such setting; known: {', '.join(either)}")
    differ = [key for key in either if first.get(key) != second.get(key)]
    refused = [key for key in differ if key not in (*free, *allow)]
    notes = [f"differs as allowed: {key}" for key in differ if key in allow]
    if "answer" in refused and _of_two_models(first, second):
        refused.remove("answer")
        notes.append(
            f"differs as allowed: answer ({first['answer']} and {second['answer']}), since each "
            "model has its own token limits; an answer that is cut off may lack a fact"
        )
    for key in [key for key in ROOMS if key in refused]:  # it follows from the thoughts
        refused.remove(key)
        rooms = " and ".join(setting_text(own.get(key)) for own in parts)
        notes.append(f"differs as allowed: {key} ({rooms}), the tokens that thoughts may take")
    reasons = []
    if refused:
        what = ", ".join(
            f"{k} ({setting_text(first.get(k))} and {setting_text(second.get(k))})" for k in refused
        )
        reasons.append(
            f"{names[0]} and {names[1]} differ in {what}, so a difference could not be attributed "
            "to the model alone. Repeat one with the other's settings, or pass "
            f"--allow {' --allow '.join(refused)}"
        )
    if any(golds[0][q] != golds[1][q] for q in golds[0].keys() & golds[1].keys()):
        reasons.append(f"{names[0]} and {names[1]} have different golds for the same question")
    return reasons, notes


def _of_two_models(first: Mapping[str, str], second: Mapping[str, str]) -> bool:
    """Return True for two models whose answers differ only in how long they may be."""
    models, answers = ([own.get(key, "") for own in (first, second)] for key in ("model", "answer"))
    bare = [re.sub(r"/\d+(?=/|$)", "", answer) for answer in answers]
    return models[0] != models[1] and bare[0] == bare[1]


def signed_difference(
    estimate: Estimate, where: Slice, theirs: Signature, ours: Signature
) -> Estimate:
    """Return B - A with its slice; its signature is B's settings, and last what A had instead."""
    other = ",".join(f"{key}:{value}" for key, value in theirs if (key, value) not in ours)
    signature = signature_of(
        f"difference of {estimate.name}", (*ours, ("minus", other or "the same"))
    )
    return msgspec.structs.replace(estimate, where=where + estimate.where, signature=signature)


#: all answers so far are known, or made up so that the fewest or the most requests follow
Rehearses = Literal["known", "fewest", "most"]
#: what a dry run is once an answer was made up
MADE_UP: tuple[Rehearses, ...] = ("fewest", "most")
Made = TypeVar("Made")
Row = TypeVar("Row", bound=msgspec.Struct)
#: how a caution begins that says that the questions do not suit the model: too hard, too easy
MISFIT = "The questions are too "
#: how a caution begins that counts refusals by policy among the hedges
REFUSED = "A refusal by policy says nothing about knowledge. "


class Unsuited(InputError):  # noqa: N818 - says what the data is, as InputError does
    """The data lacks what a protocol asks about."""


class Ask(NamedTuple):
    """One request with the question it serves and the place its answer takes in the run."""

    question: Question
    request: Request
    stage: str
    form: str
    method: str = "plain"
    instructed: bool = False


def recording_of(ask: Ask) -> tuple[str, int] | None:
    """Return which recording of its question answers a request: ("answer", 0) or ("sample", n).

    Plain answers and draws are what a file of answers may hold; ``None`` for anything else.
    """
    if ask.instructed or ask.method != "plain":
        return None
    if ask.stage == ask.form:
        return "answer", 0
    return ("sample", ask.request.sample) if ask.stage == "draws" else None


class Run(typing.Protocol):
    """What a protocol may do with a run: ask, grade, read back."""

    @property
    def questions(self) -> Sequence[Question]:
        """All questions of the run, short and long."""

    @property
    def folder(self) -> RunFolder:
        """The tables of the run, such as ``verdicts/short``, and the states that it keeps."""

    @property
    def judge(self) -> Judge:
        """Who judges its answers. A stored run has none."""

    @property
    def rehearses(self) -> Rehearses | None:
        """What is asked of a dry run, in which nothing is computed that asks nobody; else ``None``.

        Once an answer was made up, whoever needs more than an answer to go on (a claim, a rejected
        claim) takes the fewest of them or the most that there can be.
        """

    def ask(self, asks: Sequence[Ask]) -> dict[str, list[Generation]]:
        """Answer every ask (what is in the cache is not asked again) and store one table per stage.

        All independent requests belong into one call, so that an engine can batch them.
        """

    def grade(
        self, stage: str, items: Sequence[Item], judge: Judge, spans: Sequence[Item] | None = None
    ) -> list[Verdict]:
        """Judge answers and store the verdicts of this stage.

        Where ``spans``, some of these answers, state values is stored as stage ``<stage>-spans``.
        """

    def tell(self, sentences: Sequence[str]) -> None:
        """Keep, in the manifest, what a reader of the numbers must know of how they were made."""

    def tools(self, nli: str) -> Tools:
        """Return who can gather evidence on answers: the model itself, who compares meanings."""

    def engine(self, name: str = "") -> Engine:
        """Return the subject, or a further model by name, behind the run's cache and budget.

        A stored run has none.
        """

    def search(
        self, source: str, queries: Sequence[tuple[str, str]], k: int
    ) -> list[tuple[Passage, ...]]:
        """Return the ``k`` passages of a knowledge source for each (title, text)."""

    def signature(self, **parts: str) -> Signature:
        """Return the settings behind a number: the given ones and the run's own."""

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return what ``make`` returns, made once for a finished run that several numbers share."""


def nothing_more(run: Run) -> None:
    """Leave a step with what it asks."""


class Step(NamedTuple):
    """One step of a protocol: what it asks the subject, and what it does once that is answered.

    ``asks`` need no earlier answer; all such requests stand in one step, so that an engine can
    batch them. ``do`` reads tables, grades, and asks through the run whatever depends on answers.
    """

    stage: str
    do: Callable[[Run], object] = nothing_more
    asks: Sequence[Ask] = ()


def first_asks(steps: Sequence[Step]) -> list[Ask]:
    """Return what steps ask the subject before any answer is there."""
    return [ask for step in steps for ask in step.asks]


def walk(
    steps: Sequence[Step], run: Run, begin: Callable[[str], object] = lambda stage: None
) -> None:
    """Take each step of a run, which ``begin`` is told of. What is in the cache is not asked."""
    for step in steps:
        begin(step.stage)
        if step.asks:
            run.ask(step.asks)
        step.do(run)


def rows_if_any(run: Run, table: str, kind: type[Row]) -> list[Row]:
    """Return a table, without rows where the run has no such table."""
    return run.folder.read(table, kind) if run.folder.has(table) else []


def stored_answers(run: Run, stage: str) -> list[Generation]:
    """Return the answers of a stage, none where the run has no such stage."""
    return rows_if_any(run, f"generations/{stage}", Generation)


def stored_verdicts(run: Run, stage: str) -> list[Verdict]:
    """Return the verdicts of a stage, none where the run has no such stage."""
    return rows_if_any(run, f"verdicts/{stage}", Verdict)


def verdicts_at(run: Run, stage: str) -> dict[tuple[str, str], Verdict]:
    """Return the verdicts of a stage by answer, or claim, and question."""
    return {(v.target, v.asked): v for v in run.folder.read(f"verdicts/{stage}", Verdict)}


if TYPE_CHECKING:
    #: numbers of one run that can be computed again on resampled entities, by name and slice
    Numbers = dict[tuple[str, Slice], Number]
else:
    Numbers = dict


class ComparedRun(NamedTuple):
    """A run that is compared with others: its name, what it stored, and its settings."""

    name: str
    run: Run
    manifest: Manifest
    settings: Any


class Beside(NamedTuple):
    """The runs that a run is compared with, itself among them.

    ``models`` are those of every model on its data, ``data`` those of its model on all data.
    """

    models: Sequence[ComparedRun] = ()
    data: Sequence[ComparedRun] = ()


#: runs of several models (rows) on several data sets (columns); ``None``: there is none
Sides = Sequence[Sequence["ComparedRun | None"]]


def run_pairs(sides: Sides) -> Iterator[tuple[ComparedRun, ComparedRun]]:
    """Yield the pairs of runs on each data set that must be alike.

    Each run is held against the first, and against those of its own base model: they must share
    its probes.
    """
    for column in zip(*sides, strict=True):
        there = [side for side in column if side is not None]
        for one, other in combinations(there, 2):
            if one is there[0] or one.manifest.model_base == other.manifest.model_base:
                yield one, other


class Comparison(NamedTuple):
    """Differences, B minus A, and what a reader must know about them.

    ``notes`` are warnings. ``protocol`` is whose numbers they are, ``names`` what A and B are.
    """

    estimates: list[Estimate]
    notes: list[str]
    protocol: str = ""
    names: tuple[str, str] = ("A", "B")


class LayoutRuns(NamedTuple):
    """What a layout may show: finished runs of one protocol, by (model, data).

    ``numbers`` computes what is resampled for all of them together, when it is called. ``folders``
    are those of the runs, for layouts that show answers; ``labels`` short names of models.
    """

    models: list[str]
    data: list[str]
    results: Mapping[tuple[str, str], Results]
    manifests: Mapping[tuple[str, str], Manifest]
    numbers: Callable[[], list[JointNumber]]
    folders: Mapping[tuple[str, str], Path]
    labels: Mapping[str, str] = {}

    @property
    def heads(self) -> tuple[str, ...]:
        """The heads of the labels of a row: the data only where there are several sets."""
        return ("model", "data") if len(self.data) > 1 else ("model",)

    def each(self) -> Iterator[tuple[tuple[str, ...], Results, Manifest]]:
        """Yield labels, numbers and manifest of every run, model by model."""
        for labels, results, manifest, _ in self.each_with_folder():
            yield labels, results, manifest

    def each_with_folder(self) -> Iterator[tuple[tuple[str, ...], Results, Manifest, Path]]:
        """Yield the same and the folder of every run."""
        for place in product(self.models, self.data):
            if place in self.results:
                labels = place[: len(self.heads)]
                yield labels, self.results[place], self.manifests[place], self.folders[place]


#: how the reference of a layout begins that no paper has
OURS = "ours"


class PaperLayout(NamedTuple):
    """A table or figure of a paper, or of ours: its name, what it shows, and where it stands.

    One of a paper is called by its number there, and ``reference`` ends in it; the reference of one
    that no paper has begins with :data:`OURS`. ``make`` returns its tables, without rows where the
    runs lack what it ``needs``. ``possible`` tells from a run's settings and questions, before it
    begins, whether it can have rows.
    """

    name: str
    title: str
    reference: str
    needs: str
    make: Callable[[LayoutRuns], list[NumberTable]]
    possible: Callable[[Any, Sequence[Question]], bool] = lambda settings, questions: True


class Report(typing.Protocol):
    """How a protocol's numbers are shown: the module ``report`` of its package."""

    def part_label(self, key: str, value: str) -> str:
        """Return a part of a slice in words: "short answers", "P(True)"."""

    def sheet(
        self,
        estimates: Sequence[Estimate],
        manifest: Manifest | None = None,
        run: RunFolder | None = None,
    ) -> Sheet:
        """Return all that is shown of numbers. Holds for any estimates, also for none.

        The sentence claims no more than the intervals allow. ``run`` is the folder, if there is
        one.
        """

    def read_answers(
        self, folder: RunFolder, manifest: Manifest, estimates: Sequence[Estimate]
    ) -> StoredAnswers:
        """Return a run's answers to be read on its page, and examples chosen by a stated rule."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Protocol:
    """One published protocol.

    ``name`` is its package and command, ``question`` what it answers: the command's help;
    ``metrics`` declares its numbers. The module docstring says what the functions do.
    ``needs`` says what it cannot do without: "golds", of answers on record "draws" or "texts", or
    "instruction": answers to one of its own, which answers on record are not. ``asked`` returns the
    questions of a data set that it asks, with further ones that it makes of them.
    """

    name: str
    question: str
    Settings: type
    metrics: MetricTable = dataclasses.field(hash=False)
    prompts: Callable[[Any], dict[str, str]]
    #: the prompts that a user can replace, by settings and whether a model judges: each with "", or
    #: with the flag that it needs; those of the judge aside
    prompt_uses: Callable[[Any, bool], dict[str, str]]
    #: what is asked and done, from the questions, the settings and the seed of requests
    steps: Callable[[Sequence[Question], Any, int], list[Step]]
    measure: Callable[[Run, Any], list[Estimate]]
    cautions: Callable[[Sequence[Estimate], bool | None], list[str]]
    #: declares its numbers: those of a run by itself; the columns as people read it, whose numbers
    #: labels correct; or (never both) those that it shares with runs beside it
    numbers: Callable[[Run, Any, Run | None, Beside | None], list[Declared]]
    #: how its numbers are shown; tables and figures of its paper
    report: Report
    layouts: Callable[[], Sequence[PaperLayout]]
    #: what else two runs must share: why they cannot be compared, and what a reader must know
    check_pair: Callable[[ComparedRun, ComparedRun], tuple[Sequence[str], Sequence[str]]] = (
        lambda a, b: ((), ())
    )
    #: what a reader must know of runs of several models, by data set
    study_notes: Callable[[Sequence[Sequence[ComparedRun]]], list[str]] = lambda columns: []
    asked: Callable[[Dataset, Any], Dataset] = lambda data, settings: data
    needs: frozenset[str] = frozenset()
    #: refuses a model that cannot do what the settings want, and other runs that they build on, for
    #: a run that has not begun; returns what a reader must know of them
    check_opened: Callable[[Any, Engine, Manifest, Sequence[Question]], tuple[str, ...]] = (
        lambda settings, model, manifest, questions: ()
    )

    @property
    def main_method(self) -> str:
        """The method of the answers that its main numbers are of."""
        return "instructed" if "instruction" in self.needs else "plain"
