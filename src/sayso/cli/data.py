"""``sayso data``: the question sets, the questions of one, and what is wrong with them; and
``sayso prompts``: a folder for prompts of your own."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import cyclopts
import msgspec
from cyclopts import Parameter

from sayso import datasets
from sayso.cli.commands import OPTIONS, help_examples, with_options
from sayso.cli.printing import print_json, print_note, safe_one_line
from sayso.datasets import CATALOGUE
from sayso.datasets.dataset import Dataset
from sayso.datasets.own_table import name_with_columns
from sayso.datasets.tables import read_rows
from sayso.datasets.uncle import published_records
from sayso.harmless import line
from sayso.judges.contradiction import contradicts
from sayso.judges.rules.judge import declines
from sayso.later import Later
from sayso.options import flag, like
from sayso.protocols import protocol_named
from sayso.protocols.prompt_folder import README, write_prompt_folder
from sayso.records import Generation, Gold, InputError, Question, Verdict
from sayso.storage.run_folder import RunFolder
from sayso.wikidata.quality import KINDS, card_near, findings

if TYPE_CHECKING:
    from sayso.inspect_ai_tools import logs as inspect_logs
    from sayso.runs import export as exporting
else:
    inspect_logs = Later("sayso.inspect_ai_tools.logs")
    exporting = Later("sayso.runs.export")

data_app = cyclopts.App(
    name="data",
    group_parameters=OPTIONS,
    help_epilogue=help_examples(
        "sayso data list", "sayso data show uncle", "sayso data check file:mine.jsonl"
    ),
)

#: findings of a kind that are printed
SHOWN = 5
#: questions that are shown
SHOWN_QUESTIONS = 3
#: characters of a text, and aliases of a gold, that are printed
TEXT, NAMES = 300, 6


@dataclasses.dataclass(frozen=True, kw_only=True)
class SetFlags:
    """How a question set is opened and printed."""

    columns: str = flag("", "your column names: question=q,gold=answer (for file:FILE)")
    split: str = flag("test", "split of the data set: test, dev or train")
    json: bool = flag(False, "print everything as JSON")


@dataclasses.dataclass(frozen=True, kw_only=True)
class DataCheckFlags(SetFlags):
    """The flags of ``sayso data check``."""

    runs: tuple[Path, ...] = flag(
        (),
        "uncle runs of unrelated models on this set; lists gold answers where the models agree on "
        "a different answer",
        many=True,
    )
    all: bool = flag(False, "print all findings, not just five per kind")


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShowFlags(SetFlags):
    """The flags of ``sayso data show``."""

    number: Annotated[int, msgspec.Meta(ge=1)] | None = flag(
        None,
        "number of questions to show; default: 3, or all with --as uncle",
        flag="--number -n",
    )
    layout: Literal["uncle"] | None = flag(
        None,
        "print the prompts for paragraphs as JSON in UNCLE's published format, with golds as plain "
        "strings",
        flag="--as",
    )
    domain: tuple[str, ...] = flag((), "only this domain; repeatable")


@dataclasses.dataclass(frozen=True, kw_only=True)
class ListFlags:
    """The flags of ``sayso data list``."""

    protocol: str = flag("", "only sets for this protocol, such as selective", flag="--for")
    json: bool = like(SetFlags, "json")


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExportFlags:
    """The flags of ``sayso export``."""

    method: str = flag(
        "",
        "answers of one way of asking, such as plain or instructed; default: all, in .eval those "
        "that the main numbers are of",
    )
    labels: Path | None = flag(
        None,
        "for .eval: a file of labels that sayso label RUN wrote; its labels become edits of the "
        "scores",
    )
    force: bool = flag(False, "overwrite a file that sayso export did not write")


@dataclasses.dataclass(frozen=True, kw_only=True)
class PromptsFlags:
    """The flags of ``sayso prompts new``."""

    protocol: str = flag("", "protocol whose prompts you want to replace", flag="--for")


@data_app.command(name="check")
@with_options
def check(
    data: Annotated[
        str, Parameter(help="the name of a set, or a file, as for --data of sayso run")
    ],
    /,
    *,
    flags: DataCheckFlags,
) -> None:
    """Find duplicates, revealed or disputed gold answers, ambiguous entities and empty strata."""
    data = name_with_columns(data, flags.columns)
    loaded = datasets.load_dataset(data, split=flags.split, limit=0)
    path = Path(data.partition(":")[2] if not os.path.exists(data) else data)
    rows = []
    if os.path.isfile(path) and path.suffix in (".jsonl", ".ndjson", ".json", ".parquet"):
        try:
            rows = [row for _, row in read_rows(path)]
        except InputError:  # a published set's own format: its loader has read it
            rows = []
    problems = findings(
        loaded.questions,
        rows,
        card_near(path) if rows else None,
        [_wrong(run) for run in flags.runs],
        (lambda question, a, b: contradicts(question, a, b) is False) if flags.runs else None,
        declines,
    )
    if flags.json:
        print_json(problems)
        return
    sizes = {"question": loaded.short, "prompt": loaded.long, "finding": problems}
    counted = (f"{len(many):,} {what}{'s' * (len(many) != 1)}" for what, many in sizes.items())
    print(f"{line(loaded.name)}: {', '.join(counted)}")
    counts = Counter(one.kind for one in problems)
    for kind, what in KINDS.items():
        print(f"{kind}: {counts[kind]:,} ({what})")
        own = [one for one in problems if one.kind == kind]
        for one in own if flags.all else own[:SHOWN]:
            print(f"   {line(' | '.join(one.about))}: {line(one.why)}")
    for text in loaded.notices:
        print_note(text)


def _wrong(run: Path) -> tuple[str, dict[str, str]]:
    """Return a run's base model and its short answers that were committed and judged wrong."""
    folder = RunFolder.open(run)
    manifest = folder.read_manifest()
    if not (folder.has("generations/short") and folder.has("verdicts/short")):
        raise InputError(f"{run}: has no short answers; expected a run of sayso run uncle")
    wrong = {v.target for v in folder.iter("verdicts/short", Verdict) if v.value == "incorrect"}
    answers = folder.iter("generations/short", Generation)
    base = manifest.model_base or manifest.model_identity or manifest.model
    return base, {one.question: one.text for one in answers if one.id in wrong}


@data_app.command(name="list")
@with_options
def list_sets(*, flags: ListFlags) -> None:
    """List the question sets with content, size, license, suitable protocols and hub id."""
    known = sorted({name for entry in CATALOGUE.values() for name in entry.suits})
    if flags.protocol and flags.protocol not in known:
        raise InputError(f"--for {flags.protocol!r}: expected one of {', '.join(known)}")
    sets = {n: e for n, e in CATALOGUE.items() if not flags.protocol or flags.protocol in e.suits}
    if flags.json:
        print_json({name: msgspec.structs.asdict(entry) for name, entry in sets.items()})
        return
    width = max(map(len, sets))
    for name, entry in sets.items():
        print(f"{name:{width}}  {entry.what}")
        place = f"hub {entry.hub}" if entry.hub else "not on a hub"
        facts = [entry.size, entry.license, f"for {', '.join(entry.suits)}", place]
        print(f"{'':{width}}  {'; '.join(facts)}")
        if entry.file:
            print(f"{'':{width}}  {name}:FILE reads {entry.file}")
        if entry.notes:
            print(f"{'':{width}}  {entry.notes}")


@data_app.command(name="show")
@with_options
def show(
    data: Annotated[
        str, Parameter(help="the name of a set, or a file, as for --data of sayso run")
    ],
    /,
    *,
    flags: ShowFlags,
) -> None:
    """Show the first questions of a set with their gold answers, as a run would ask them."""
    name = name_with_columns(data, flags.columns)
    loaded = datasets.load_dataset(name, split=flags.split, domains=flags.domain, limit=0)
    if flags.layout is not None:
        _print_published(loaded, flags.number)
        return
    number = flags.number or SHOWN_QUESTIONS
    chosen = (
        [*loaded.long[:number], *loaded.short[:number]] if loaded.long else loaded.short[:number]
    )
    if flags.json:
        print_json(
            {
                "name": loaded.name,
                "hash": loaded.hash,
                "questions": len(loaded.short),
                "prompts": len(loaded.long),
                "notes": loaded.notices,
                "shown": chosen,
            }
        )
        return
    _print_questions(loaded, chosen)


def _print_questions(loaded: Dataset, chosen: Sequence[Question]) -> None:
    short, long = len(loaded.short), len(loaded.long)
    prompts = f", {long:,} prompts for paragraphs" if long else ""
    print(
        f"{line(loaded.name)}: {short:,} question{'s' * (short != 1)}{prompts}, hash {loaded.hash}"
    )
    for question in chosen:
        _print(question)
    for text in loaded.notices:
        print_note(text)


def _print_published(loaded: Dataset, number: int | None) -> None:
    """Print prompts in UNCLE's published format, and what that format cannot hold."""
    if not loaded.long:
        raise InputError(
            f"{loaded.name} has no prompts for paragraphs, and UNCLE's format has a record for "
            "each; rows of a table get a prompt if they name an entity"
        )
    records, left = published_records([*loaded.short, *loaded.long[:number]])
    print_json(records)
    if left:
        print_note(f"{left:,} questions left out: UNCLE's format needs a gold and a description")
    for text in loaded.notices:
        print_note(text)


def _print(question: Question) -> None:
    print(f"\n{line(question.text, TEXT)}")
    about = [("entity", question.entity), ("domain", question.domain), ("tier", question.tier)]
    if question.aspect is not None:
        about.append(("fact", question.aspect.description))
    print("  " + "; ".join(f"{what} {line(text, TEXT)}" for what, text in about if text))
    if question.context:
        print(f"  context: {line(question.context, TEXT)}")
    if question.parts:
        print(f"  asks for {len(question.parts)} facts, each of which is also asked alone")
    elif question.answerable is False:
        print("  cannot be answered: abstaining is right")
    elif not question.golds:
        print("  no gold")
    for gold in question.golds or ():
        print(f"  gold: {_gold(gold)}")


def _gold(gold: Gold) -> str:
    kind = [word for word in (gold.kind, gold.precision, gold.unit) if word and word != "text"]
    also = [line(name, TEXT) for name in gold.aliases[:NAMES]]
    rest = len(gold.aliases) - len(also)
    if rest > 0:
        also.append(f"{rest:,} more")
    kinds = f" ({line(', '.join(kind), TEXT)})" if kind else ""
    return f"{line(gold.value, TEXT)}{kinds}" + (f"; also {' | '.join(also)}" if also else "")


@with_options
def export(
    run: Annotated[Path, Parameter(help="a run folder")],
    out: Annotated[
        Path,
        Parameter(
            help="output file: .csv, .tsv, .xlsx, .jsonl or .parquet; .eval: a log of Inspect"
        ),
    ],
    /,
    *,
    flags: ExportFlags,
) -> None:
    """Write a run's answers as a table with a row for each short answer and aspect of a text.

    With what was asked, the golds, what the judge read, and the draws that say what is known. A
    name that ends in .eval is a log of Inspect with the short answers: samples, scores, metrics.
    """
    if out.suffix.lower() == ".eval":
        log = inspect_logs.export_log(
            run, out, method=flags.method, labels=flags.labels, force=flags.force
        )
        if log.left_out:
            others = ", ".join(f"{number:,} {name}" for name, number in log.left_out.items())
            print_note(f"a log has one short answer to each question; not in it: {others}")
        edits = f", {log.labels:,} with labels of people" if log.labels else ""
        print(safe_one_line(f"{log.samples:,} samples{edits} written to {log.path}"))
        return
    if flags.labels:
        raise InputError(f"{out}: --labels is for a log (.eval)")
    done = exporting.export(run, out, method=flags.method, force=flags.force)
    if done.cut:
        cells = "1 cell was" if done.cut == 1 else f"{done.cut:,} cells were"
        print_note(
            f"{cells} cut: an .xlsx cell holds at most 32,767 characters; .csv, .jsonl and "
            ".parquet have no limit"
        )
    print(safe_one_line(f"{done.rows:,} rows written to {done.path}"))


prompts_app = cyclopts.App(
    name="prompts",
    group_parameters=OPTIONS,
)


@prompts_app.command(
    name="new",
    help_epilogue=help_examples("sayso prompts new mine --for uncle"),
)
@with_options
def new_prompts(
    folder: Annotated[Path, Parameter(help="folder to create; it must not exist, or be empty")],
    /,
    *,
    flags: PromptsFlags,
) -> None:
    """Write a folder with every prompt that a protocol can send, and explain how to replace it.

    A run with --prompt-folder FOLDER sends the same as a run without it until you rename a file.
    """
    if not flags.protocol:
        raise InputError("prompts new: expected --for, as in: sayso prompts new mine --for uncle")
    number = write_prompt_folder(folder, protocol_named(flags.protocol))
    print(safe_one_line(f"{folder}: {number} prompts, and {README} that explains them"))
