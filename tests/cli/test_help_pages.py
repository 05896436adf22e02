"""Help: groups, examples that can be typed, --config, plain defaults, rare settings on demand."""

from __future__ import annotations

import shlex
from typing import Literal

import pytest

from sayso import cli
from sayso.protocols import PROTOCOLS

PAGES = [
    [],
    ["run"],
    *(["run", name] for name in PROTOCOLS),
    *([name] for name in ("measure", "report", "compare", "score", "factuality", "check")),
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
    "page", [*PAGES, ["label"], ["agreement"], ["guard", "fit"], ["study"]], ids=" ".join
)
def test_no_choice_is_empty(page: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A flag that was left out is no value that anybody could type."""
    text = " ".join(shown([*page, "--help"], capsys).split())
    assert "choices: ," not in text
    assert ", ," not in text


@pytest.mark.parametrize("page", PAGES[1:], ids=" ".join)
def test_defaults_are_as_they_would_be_typed(
    page: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    text = shown([*page, "--help-all"], capsys)
    for python in ("default: False", "default: True", 'default: ""', " STR", " INT", " FLOAT"):
        assert python not in text, python
    assert page[0] in ("data", "factuality") or "--config FILE" in text


def test_rare_settings_are_named_and_explained_on_demand(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    brief, whole = (shown(["run", "uncle", flag], capsys) for flag in ("--help", "--help-all"))
    assert len(brief.splitlines()) < len(whole.splitlines())
    assert "A model as judge (--help-all): --judge-batch, --judge-mode" in brief
    assert "what one call covers" not in brief
    assert "what one call covers" in whole
    for flag in ("--probe.k", "--methods", "--device", "--patience", "--name", "--dry-run"):
        assert f" {flag} " in brief, flag
    for flag in ("--judge-mode", "--probe.temperature", "--ci-seed", "--split", "--cache"):
        assert flag in brief, flag
        assert f"{flag} " in whole, flag


def test_help_of_measure_for_one_protocol(capsys: pytest.CaptureFixture[str]) -> None:
    every = shown(["measure", "--help"], capsys)
    for argv in (["measure", "--help", "uncle"], ["measure", "uncle", "--help"]):
        one = shown(argv, capsys)
        assert "--omit-long" in one
        assert "--rouge-threshold" not in one
        assert "Runs of selective" not in one
    for name in PROTOCOLS:
        assert f"Runs of {name}" in every


def test_sayso_alone_prints_what_people_do_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [line for line in shown([], capsys).splitlines() if line.startswith("  sayso ")]
    assert len(lines) == 5
    commands = set(cli.app)
    assert all(line.split()[1] in commands for line in lines)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_can_complete_every_command(shell: Literal["bash", "zsh", "fish"]) -> None:
    script = cli.app.generate_completion(shell=shell)
    for name in (*(c for c in cli.app if not c.startswith("-")), *PROTOCOLS, "--max-cost"):
        assert name in script, name
