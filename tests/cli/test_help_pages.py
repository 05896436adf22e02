"""Help: groups, examples that can be typed, --config, plain defaults, rare settings on demand."""

from __future__ import annotations

import re
import shlex
from typing import Literal

import pytest

from sayso import cli
from sayso.protocols import PROTOCOLS

PAGES = [
    [],
    ["run"],
    *(["run", name] for name in PROTOCOLS),
    *([name] for name in ("measure", "report", "compare", "score", "check")),
    *([name] for name in ("judge-check", "data", "build", "index", "train", "export", "watch")),
    ["assert"],
]


def shown(argv: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert cli.execute(argv) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES, ids=" ".join)
def test_every_page_ends_with_commands_that_can_be_typed(
    page: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    text = shown([*page, "--help"], capsys)
    _, _, below = text.partition("\nExamples:\n")
    examples = [shlex.split(line, comments=True) for line in below.splitlines() if line.strip()]
    assert examples
    for name, *words in examples:
        assert name == "sayso"
        assert words[: len(page)] == page
        if "--help" not in words and "--help-all" not in words and words[0] != "measure":
            cli.app.config = ()
            cli.app.parse_args(words, exit_on_error=False, print_error=False)


@pytest.mark.parametrize(
    "page",
    [*PAGES[1:], *(name.split() for name in ("label", "agreement", "guard fit", "study"))],
    ids=" ".join,
)
def test_choices_and_defaults_are_as_they_would_be_typed(
    page: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    text = " ".join(shown([*page, "--help-all"], capsys).replace("│", "").split())
    for python in ("default: False", "default: True", 'default: ""', " STR", " INT", " FLOAT"):
        assert python not in text, python
    for empty in ("choices: ,", ", ,", "()"):  # nobody could type it
        assert empty not in text, empty
    assert page == ["data"] or "--config FILE" in text


@pytest.mark.parametrize("page", [["run"], ["check"], ["score"], []], ids=" ".join)
def test_where_a_model_is_named_its_help_names_providers_and_inspect(
    page: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    text = " ".join(shown([*page, "--help"] if page else [], capsys).replace("│", "").split())
    assert "inspect:PROVIDER/NAME" in text
    if page != ["score"]:
        assert "anthropic:" in text


def test_sayso_alone_and_help_group_commands_by_what_people_do(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Old and rare commands work, and stand on no first screen."""
    alone, everything = shown([], capsys), shown(["--help"], capsys)
    assert len(alone.splitlines()) <= 20
    for group, names in GROUPS.items():
        assert group.lower() in alone.lower()
        inside = everything.partition(f"─ {group} ─")[2].partition("╰─")[0]
        listed = re.findall(r"^│ ([a-z-]+) ", inside, flags=re.MULTILINE)
        assert sorted(listed) == sorted(names), group
        assert all(re.search(rf"\b{name}\b", alone) for name in names)
    for name in ("index", "prompts", "factuality"):
        assert f"│ {name} " not in everything
        assert shown([name, "--help"], capsys)


GROUPS = {
    "Measure a model": ["run", "study", "compare", "measure", "report", "export"],
    "Answers you have": ["score"],
    "In production": ["assert", "guard", "watch"],
    "People": ["label", "agreement"],
    "Before you pay": ["check", "judge-check"],
    "Data": ["data", "build"],
    "Train": ["train"],
}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_can_complete_every_command(shell: Literal["bash", "zsh", "fish"]) -> None:
    script = cli.app.generate_completion(shell=shell)
    names = [name for group in GROUPS.values() for name in group]
    for name in (*names, *PROTOCOLS, "--max-cost"):
        assert name in script, name
