"""docs/deploying.md is true: its commands run in order, and its files are as it says."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
import yaml

from sayso import cli
from sayso.assertions.grammar import parse_assertion
from sayso.assertions.pytest_plugin import KEYS
from support.pages import blocks, commands

DOCS = Path(__file__).parent.parent / "docs"
GATE = (DOCS / "deploying.md").read_text(encoding="utf-8")
GATE = GATE[GATE.index("## A gate") : GATE.index("## A guard")]


def test_the_commands_of_the_gate_run_in_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ends = []
    for words in commands(GATE):
        assert words[0] == "sayso", words
        ends.append((words[1], cli.execute(words[1:])))
        assert capsys.readouterr().out, words
    # the built-in model never hedges: nobody can say yet that its J is .2, or it is not
    assert ends[:2] == [("run", 0), ("assert", 0)]
    assert ends[2][1] in (1, 3)
    assert ends[3:] == [("run", 0), ("compare", 0)]
    assert Path("verdicts.xml").is_file()
    assert Path("verdicts.md").is_file()


def test_the_files_of_the_gate_say_what_can_be_asserted() -> None:
    (settings,) = blocks(GATE, "yaml")
    for text in yaml.safe_load(settings)["assertions"]:
        parse_assertion(text)
    (ini,) = blocks(GATE, "ini")
    lines = [line for line in ini.splitlines() if line.startswith("    ")]
    assert [parse_assertion(line).comparing for line in lines] == ["value", "value", "not worse by"]
    keys = {line.partition(" =")[0] for line in ini.splitlines() if " =" in line and line[0] != " "}
    assert keys <= set(KEYS)
    (code,) = blocks(GATE, "python")
    compile(code, "docs", "exec")


def test_the_workflow_can_be_typed_and_asserts() -> None:
    workflow = yaml.safe_load((DOCS / "ci" / "gate.yml").read_text(encoding="utf-8"))
    steps = workflow["jobs"]["gate"]["steps"]
    typed = [s["run"] for s in steps if s.get("run", "").startswith("sayso ")]
    assert typed
    for text in typed:
        cli.app.config = ()
        cli.app.parse_args(shlex.split(text)[1:], exit_on_error=False, print_error=False)
    wanted = next(s["with"]["assertions"] for s in steps if "assertions" in s.get("with", {}))
    assert [parse_assertion(line).name for line in wanted.splitlines()] == ["J", "KCR", "missing"]
