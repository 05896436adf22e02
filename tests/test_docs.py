"""The README and the tour are true: commands run as printed, code works, every command is there."""

from __future__ import annotations

import contextlib
import gzip
import os
import re
import shlex
import subprocess
import sys
from importlib import resources
from pathlib import Path

import cyclopts
import pytest

from sayso import cli
from support.pages import blocks, commands, fenced, walk
from support.wikidata_world import dump

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
README = (ROOT / "README.md").read_text(encoding="utf-8")
TOUR = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
#: the hub cannot be reached from a test, so the same command runs on a folder
HUB = "hf:Qwen/Qwen3.5-4B"


def test_the_commands_of_the_tour_run_in_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (record,) = blocks(TOUR, "json")
    Path("mine.jsonl").write_text(record, encoding="utf-8")
    (domains,) = blocks(TOUR, "yaml")
    Path("domains.yaml").write_text(domains, encoding="utf-8")
    Path("dump.json.gz").write_bytes(gzip.compress(dump()))
    folder = resources.files("sayso").joinpath("builtin", "model")
    typed = [
        [f"hf:{folder}" if word == HUB else word for word in words]
        for words in commands(TOUR)
        if words[0] != "pip"
    ]
    walk(typed, capsys)
    wanted = (
        "run check judge-check run run measure build build run run train run measure run compare "
        "assert study report export"
    )
    assert [words[1] for words in typed] == wanted.split()


@pytest.mark.parametrize(
    ("number", "last"),
    [(0, "Brontë 0.6931"), (1, "0.69"), (2, "uncertain")],
    ids=["score", "faithfulness", "run"],
)
def test_the_python_of_the_tour_runs(number: int, last: str, tmp_path: Path) -> None:
    found = blocks(TOUR, "python")
    assert len(found) == 3
    done = subprocess.run(
        [sys.executable, "-c", found[number]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith(last)


def test_the_python_of_the_readme_prints_what_it_shows(tmp_path: Path) -> None:
    (code,), (shown,) = blocks(README, "python"), blocks(README, "text")
    assert len(code.splitlines()) == 6
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    (result, numbers), (shown_result, shown_numbers) = done.stdout.splitlines(), shown.splitlines()
    assert result == shown_result
    assert list(map(float, numbers.split())) == pytest.approx(
        list(map(float, shown_numbers.split()))
    )


def typed_on(page: str) -> list[str]:
    """Return the commands of sayso in blocks, in indented lines and within sentences."""
    block_lines = [line for _, body in fenced(page) for line in body.splitlines()]
    lines = (block_lines, re.findall(r"^ {4}(.*)$", page, flags=re.MULTILINE))
    whole = [line.removeprefix("$ ") for some in lines for line in some]
    whole = [line for line in whole if line.startswith("sayso ")]
    return [*whole, *(text for text in re.findall(r"`(sayso [^`]+)`", page) if "…" not in text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_commands_of_a_page_can_be_typed(page: Path) -> None:
    typed = typed_on(page.read_text(encoding="utf-8"))
    assert page != ROOT / "README.md" or len(typed) >= 10
    for text in typed:
        _, *words = shlex.split(text, comments=True)
        words = ["--help" if word == "--help-all" else word for word in words]
        cli.app.config = ()
        with contextlib.suppress(cyclopts.MissingArgumentError):  # a sentence names a command
            cli.app.parse_args(words, exit_on_error=False, print_error=False)


def test_the_tour_names_every_command_and_the_readme_the_makefile_targets() -> None:
    for command in cli.app:
        if not command.startswith("-"):
            assert f"sayso {command}" in TOUR, command
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"make (\w+)", README):
        assert f"\n{target}:" in makefile, target


def test_links_of_the_documents_lead_somewhere() -> None:
    for document in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text(encoding="utf-8")):
            if not target.startswith("https://"):
                assert (document.parent / target).exists(), f"{document.name}: {target}"
