"""docs/data.md is true: its table is the catalogue, its commands run, its columns are all."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from sayso import cli
from sayso.datasets import markdown, own_table

DOCUMENT = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", DOCUMENT, flags=re.DOTALL)


def test_the_table_of_sets_is_the_catalogue() -> None:
    _, _, rest = DOCUMENT.partition("kept equal by a test -->\n")
    table, _, _ = rest.partition("\n\n<!-- end of sets -->")
    assert table.splitlines() == list(markdown())


def test_every_column_is_explained() -> None:
    for name, what in own_table.COLUMNS.items():
        assert f"| `{name}` | {what} |" in DOCUMENT


def test_the_commands_run_as_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (table,) = blocks("csv")
    Path("quiz.csv").write_text(table, encoding="utf-8")
    lines = [line[2:] for block in blocks("console") for line in block.splitlines()]
    assert len(lines) == 3
    for line in lines:
        words = shlex.split(line)
        assert words[0] == "sayso"
        assert cli.execute(words[1:]) == 0, (line, capsys.readouterr().err)
        assert capsys.readouterr().out, line
    assert any(Path("runs").iterdir())
