"""``sayso index``: passages of a knowledge source, and a look at what a search finds in them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from sayso import retrieval
from sayso.records import InputError
from sayso.report.numbers import plain_json
from sayso.retrieval.index import is_index

SHOWN = 3


def index(
    source: Annotated[
        str,
        Parameter(
            help="passages or documents to search: a .jsonl, .json, .parquet or .tsv file with "
            "columns title and text (.gz and .bz2 too), FActScore's .db, records in UNCLE's "
            "format, a folder of these or of .txt and .md files, builtin; or an index"
        ),
    ],
    /,
    *,
    out: Annotated[
        Path | None, Parameter(help="file of the index; left out: one in your cache folder")
    ] = None,
    workers: Annotated[
        int | None,
        Parameter(help="processes that read beside the one that writes; left out: by size"),
    ] = None,
    tokens: Annotated[
        int, Parameter(help="words and marks of punctuation that a passage has at most")
    ] = 256,
    search: Annotated[str | None, Parameter(help="print the passages that this text finds")] = None,
    title: Annotated[str, Parameter(help="search only what the source has under this title")] = "",
    k: Annotated[int, Parameter(name=["-k", "--k"], help="passages to print")] = 5,
    json: Annotated[
        bool, Parameter(help="print everything as JSON instead of lines", negative="")
    ] = False,
) -> None:
    """Make or update the full-text index of a knowledge source, and search it.

    What has not changed since the last time is not read again; a command that was stopped goes on
    where it was.
    """
    if (title or k != 5) and search is None:
        raise InputError("--title and -k choose what a search prints: give --search TEXT too")
    path = Path(source).expanduser()
    if source != "builtin" and is_index(path):
        if out is not None or search is None:
            raise InputError(f"{source} is an index: search it with --search TEXT, without --out")
        place = path
    else:
        info = _built(source, out, workers, tokens)
        place = Path(info.path)
        if search is None:
            if json:
                _print_json(info)
            else:
                print(_plain(_summary(info)))
    if search is None:
        return
    with retrieval.open_index(place) as found:
        passages = found.search(search, k, title)
        if not passages and title and not found.has_title(title):
            _note(f"the source has nothing under the title {title!r}")
    if json:
        _print_json(passages)
        return
    for number, passage in enumerate(passages, 1):
        print(f"{number}  {_plain(passage.title)}  [{passage.id}]")
        print(f"   {_plain(passage.text)}")
    if not passages:
        print("nothing found")


def _built(source: str, out: Path | None, workers: int | None, tokens: int) -> retrieval.IndexInfo:
    """Build with a bar on standard error where that is a terminal, else with one line."""
    console = Console(stderr=True)
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[passages]}", style="dim"),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    ) as bars:
        task = bars.add_task("index", total=None, passages="")

        def move(done: float, total: float, passages: int) -> None:
            told = f"{passages:,} passages"
            bars.update(task, completed=int(done), total=int(total), passages=told)

        info = retrieval.build_index(source, out, workers=workers, tokens=tokens, progress=move)
    for problem in info.problems[:SHOWN]:
        _note(f"left out: {problem}")
    if info.skipped > SHOWN:
        _note(f"{info.skipped:,} rows were left out in all; --json names the first of them")
    if info.cleaned:
        _note(f"{info.cleaned:,} documents held control characters or broken ones, now cleaned")
    if info.ignored:
        _note(f"{info.ignored:,} files of other kinds were left alone")
    return info


def _summary(info: retrieval.IndexInfo) -> str:
    changed = [
        f"{number:,} {what}" for number, what in ((info.added, "added"), (info.removed, "removed"))
        if number
    ]  # fmt: skip
    told = f"{', '.join(changed) or 'nothing changed'}, {info.seconds:.1f} s"
    return (
        f"{info.documents:,} documents, {info.passages:,} passages, {info.skipped:,} rows skipped, "
        f"{info.bytes / 1e6:,.1f} MB ({told}): {info.path}"
    )


def _print_json(value: object) -> None:

    print(plain_json(msgspec.json.format(msgspec.json.encode(value)).decode()))


def _note(text: str) -> None:
    print("note:", _plain(text), file=sys.stderr)


def _plain(text: str) -> str:
    """Return one line without anything that a terminal would obey."""
    return "".join(c for c in " ".join(text.split()) if c.isprintable())
