"""``sayso index``: passages of a knowledge source, and a look at what a search finds in them."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from sayso import retrieval
from sayso.cli.commands import with_options
from sayso.cli.printing import print_json, print_note, safe_one_line
from sayso.cli.progress import Bars
from sayso.options import flag
from sayso.records import InputError
from sayso.retrieval.index import is_index

#: problems of a source that are printed
SHOWN = 3


@dataclasses.dataclass(frozen=True, kw_only=True)
class IndexFlags:
    """The flags of ``sayso index``."""

    out: Path | None = flag(None, "index file; default: in your cache folder")
    workers: int | None = flag(
        None, "number of reader processes; default: depends on the input size"
    )
    tokens: int = flag(256, "largest number of words and punctuation marks in a passage")
    search: str | None = flag(None, "print the passages found for this text")
    title: str = flag("", "search only passages with this title")
    k: int = flag(5, "number of passages to print", flag="--k -k")
    json: bool = flag(False, "print everything as JSON instead of lines")


@with_options
def index(
    source: Annotated[
        str,
        Parameter(
            help="passages or documents to search: a .jsonl, .json, .parquet or .tsv file with "
            "columns title and text (also .gz and .bz2), FActScore's .db, records in UNCLE's "
            "format, a folder of these or of .txt and .md files, builtin; or an index"
        ),
    ],
    /,
    *,
    flags: IndexFlags,
) -> None:
    """Make or update the full-text index of a knowledge source, and search it.

    What has not changed since the last time is not read again; a command that was stopped goes on
    where it was.
    """
    if (flags.title or flags.k != IndexFlags().k) and flags.search is None:
        raise InputError("--title and -k apply only to a search: add --search TEXT")
    path = Path(source).expanduser()
    if source != "builtin" and is_index(path):
        if flags.out is not None or flags.search is None:
            raise InputError(f"{source} is an index: search it with --search TEXT, without --out")
    else:
        info = _build(source, flags)
        path = Path(info.path)
        if flags.search is None:
            if flags.json:
                print_json(info)
            else:
                print(safe_one_line(_summary(info)))
    if flags.search is not None:
        _search(path, flags.search, flags)


def _build(source: str, flags: IndexFlags) -> retrieval.IndexInfo:
    """Build an index, and note what was left out."""
    with Bars(idle=False) as bars:

        def move(done: float, total: float, passages: int) -> None:
            bars.count("MB of the source", int(done / 1e6), int(total / 1e6))

        info = retrieval.build_index(
            source, flags.out, workers=flags.workers, tokens=flags.tokens, progress=move
        )
    for problem in info.problems[:SHOWN]:
        print_note(f"left out: {problem}")
    if info.skipped > SHOWN:
        print_note(f"{info.skipped:,} rows were left out in total; --json names the first of them")
    if info.cleaned:
        print_note(
            f"{info.cleaned:,} documents contained control or broken characters and were cleaned"
        )
    if info.ignored:
        print_note(f"{info.ignored:,} files of other kinds were ignored")
    return info


def _summary(info: retrieval.IndexInfo) -> str:
    numbers = ((info.added, "added"), (info.removed, "removed"))
    changes = ", ".join(f"{number:,} {what}" for number, what in numbers if number)
    return (
        f"{info.documents:,} documents, {info.passages:,} passages, {info.skipped:,} rows skipped, "
        f"{info.bytes / 1e6:,.1f} MB ({changes or 'nothing changed'}, {info.seconds:.1f} s): "
        f"{info.path}"
    )


def _search(path: Path, text: str, flags: IndexFlags) -> None:
    with retrieval.open_index(path) as opened:
        passages = opened.search(text, flags.k, flags.title)
        if not passages and flags.title and not opened.has_title(flags.title):
            print_note(f"the source has no passage titled {flags.title!r}")
    if flags.json:
        print_json(passages)
        return
    for number, passage in enumerate(passages, 1):
        print(f"{number}  {safe_one_line(passage.title)}  [{passage.id}]")
        print(f"   {safe_one_line(passage.text)}")
    if not passages:
        print("nothing found")
