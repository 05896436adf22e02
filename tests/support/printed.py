"""Commands whose output stands in the documentation: what a page shows, and what they print today.

``python -m support.printed`` (in ``tests/``) writes the output of today into the pages, and names
those that are shortened, which must be mended by hand. With ``--runs STUDY RUN`` it first keeps the
runs of the tutorial anew, from a study's and a run's folder that its two commands made.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from difflib import ndiff
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

import sayso
from sayso import cli
from sayso.checks.model import check, render_check
from sayso.cli.running import show
from support.pages import fenced
from support.urn import Urn

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "tests" / "golden" / "tutorial"
#: a line in place of lines that a page leaves out
CUT = "[...]"
#: what differs from run to run and from machine to machine: seconds, and the cache folder
VARIES = (
    (re.compile(r"\b[\d,]+(?:\.\d+)? s$"), "… s"),
    (re.compile(r"\S+(?=/judge-checks/)"), "…"),
)


class Block(NamedTuple):
    """Output that a page shows, of a command or, without one, of what the text around it names."""

    page: str
    command: str
    text: str


def place_of(page: str) -> Path:
    """Return the file of a page: the README, or one of docs/."""
    return ROOT / page if page == "README.md" else ROOT / "docs" / page


def shown(page: str) -> list[Block]:
    """Return every block of output on a page of the documentation."""
    found = []
    for language, body in fenced(place_of(page).read_text(encoding="utf-8")):
        first, _, rest = body.partition("\n")
        if language == "console" and any(not line.startswith("$ ") for line in rest.splitlines()):
            found.append(Block(page, first.removeprefix("$ "), rest))
        elif not language:
            found.append(Block(page, "", body))
    return found


def plain(text: str) -> list[str]:
    """Return the lines of an output, with a mark in place of what varies."""
    lines = [line.rstrip() for line in text.strip("\n").replace("\xa0", " ").splitlines()]
    for pattern, mark in VARIES:
        lines = [pattern.sub(mark, line) for line in lines]
    return lines


def holds(block: str, output: str) -> bool:
    """Return whether an output is what a block shows; a shortened block skips at least a line."""
    parts = ("(?:.*\n)+?" if line == CUT else re.escape(f"{line}\n") for line in plain(block))
    return re.fullmatch("".join(parts), _joined(output)) is not None


def changes(block: str, output: str) -> str:
    """Return in which lines an output differs from a block."""
    return "".join(ndiff(_joined(block).splitlines(True), _joined(output).splitlines(True)))


def _joined(text: str) -> str:
    return "".join(f"{line}\n" for line in plain(text))


# ---- what prints it


def _typed(command: str, folder: Path) -> str:
    """Run a command of sayso; return what it prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert cli.execute(shlex.split(command)[1:]) == 0, command
    return out.getvalue()


def _study(command: str, folder: Path) -> str:
    """Run the study of the tutorial, whose cells are finished: their runs are kept here."""
    shutil.copytree(KEPT / "studies", folder / "studies")
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        text = _typed(command, folder)
    assert "2 of 2 cells were finished already" in said.getvalue(), "the kept runs are not of today"
    return text


def _run(command: str, folder: Path) -> str:
    """Measure the tutorial's run anew and print it as ``sayso run`` does; no model is needed."""
    path = Path(shlex.split(command)[-1])
    shutil.copytree(KEPT / path, path)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        show(sayso.measure(path), json=False, page=path / "report.html")
    return out.getvalue()


def _scored(command: str, folder: Path) -> str:
    """Score the answers that the documentation brings."""
    file = Path(shlex.split(command)[-1])
    (folder / file).parent.mkdir(parents=True)
    shutil.copy(ROOT / file, folder / file)
    return _typed(command, folder)


def _repeating(command: str, folder: Path) -> str:
    """Check a server that repeats the same text at T=1 and sends no log-probabilities.

    The page names ``transformers serve``, which the extra ``serving`` installs and the suite cannot
    count on; an engine with the same two faults gets the same findings.
    """
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        render_check(check(Urn(repeats=True, logprobs=None)), Console())
    return out.getvalue()


class Held(NamedTuple):
    """How a block is made anew, and in how many columns."""

    make: Callable[[str, Path], str]
    columns: int = 80


#: every block of the pages that are held, by page and command
HELD = {
    (
        "tutorial.md",
        "sayso study --models builtin builtin-trained --protocols uncle",
    ): Held(_study),
    (
        "tutorial.md",
        "sayso run uncle --model smollm2 --data world-50 --out runs/first",
    ): Held(_run),
    (
        "README.md",
        "sayso run uncle --model openai:gpt-5.4-mini --price 0.75,4.5 --limit 5 --dry-run",
    ): Held(_typed),
    (
        "README.md",
        "sayso run uncle --model smollm2 --data world-50 --out runs/first",
    ): Held(_run),
    ("README.md", "sayso score docs/smollm2_answers.jsonl"): Held(_scored),
    ("checking.md", "sayso check builtin"): Held(_typed, 100),
    ("checking.md", ""): Held(_repeating, 100),
    ("checking.md", "sayso judge-check rules"): Held(_typed),
}
PAGES = tuple(dict.fromkeys(page for page, _ in HELD))


def printed(page: str, command: str) -> str:
    """Return what is printed today where a page shows a command."""
    held = HELD[page, command]
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.chdir(name)
        patch.setenv("COLUMNS", str(held.columns))
        patch.setenv("SAYSO_CACHE", str(Path(name) / "cache"))
        return held.make(command, Path(name))


# ---- writing it anew

#: columns of generations without which a study prints the same; a run needs all but the first
HEAVY = ("entropies", "logprobs", "token_ids", "offsets")


def keep(source: Path, place: Path, heavy: tuple[str, ...] = HEAVY) -> None:
    """Keep the tables of runs that numbers are made of, without pages and without ``heavy``."""
    shutil.rmtree(place, ignore_errors=True)
    for file in sorted(source.rglob("*")):
        if file.name == "manifest.json" or (file.suffix == ".parquet" and file.stem != "answers"):
            target = place / file.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            if file.suffix == ".json":
                shutil.copy(file, target)
                continue
            table = pq.read_table(file)
            for name in heavy if file.parent.name == "generations" else ():
                at, field = table.column_names.index(name), table.schema.field(name)
                table = table.set_column(at, field, pa.nulls(len(table), field.type))
            pq.write_table(table, target, compression="zstd", compression_level=19)


def main(words: list[str]) -> None:
    """Write what is printed today into the pages."""
    if words[:1] == ["--runs"]:
        study, run = (Path(word) for word in words[1:])
        keep(study, KEPT / "studies" / study.name)
        keep(run, KEPT / "runs" / run.name, HEAVY[:1])
    for page in PAGES:
        place = place_of(page)
        for block in shown(page):
            made = printed(page, block.command).replace("\xa0", " ")
            made = "\n".join(line.rstrip() for line in made.splitlines())
            made = made.strip("\n") + "\n"
            if holds(block.text, made):
                continue
            if CUT in block.text.splitlines():
                print(f"{page}, {block.command}: shortened; mend it by hand:\n{made}")
                continue
            text = place.read_text(encoding="utf-8")
            place.write_text(text.replace(block.text, made, 1), encoding="utf-8")
            print(f"{page}, {block.command}: written anew")


if __name__ == "__main__":
    main(sys.argv[1:])
