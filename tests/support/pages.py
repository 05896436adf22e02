"""The commands and the code of a page of the documentation, for tests that it is true."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

import pytest

from sayso import cli


def blocks(page: str, language: str) -> list[str]:
    """Return the fenced blocks of a language."""
    return re.findall(rf"```{language}\n(.*?)```", page, flags=re.DOTALL)


def fenced(page: str) -> list[tuple[str, str]]:
    """Return the language and the text of every fenced block."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)


def commands(page: str) -> list[list[str]]:
    """Return the words of every command of a page."""
    lines = [line for block in blocks(page, "console") for line in block.splitlines()]
    return [shlex.split(line[1:], comments=True) for line in lines if line.startswith("$")]


#: commands whose intervals take most of their time: no page shows what a walk prints
RESAMPLING = ("run", "measure", "compare", "study")


def walk(typed: Iterable[list[str]], capsys: pytest.CaptureFixture[str]) -> None:
    """Run commands of sayso in their order: each succeeds and prints something."""
    for words in typed:
        assert words[0] == "sayso", words
        resampling = words[1] in RESAMPLING and not words[2].startswith("-")  # not all protocols
        few = ["--set", "resamples=100"] if resampling else []
        assert cli.execute([*words[1:], *few]) == 0, (words, capsys.readouterr().err)
        assert capsys.readouterr().out, words
