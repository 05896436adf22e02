"""docs/answers.md is true: its rows, commands and code run as printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sayso.datasets.columns import COLUMNS
from sayso.datasets.layouts import LAYOUTS
from support.pages import blocks, commands, walk

TEXT = (Path(__file__).parents[2] / "docs" / "answers.md").read_text(encoding="utf-8")


def test_commands_and_code_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (rows,) = blocks(TEXT, "json")
    Path("answers.jsonl").write_text(rows, encoding="utf-8")
    walk(commands(TEXT), capsys)
    (code,) = blocks(TEXT, "python")
    capsys.readouterr()
    exec(compile(code, "answers.md", "exec"), {})
    assert capsys.readouterr().out == "small 0.5\n"


def test_columns_and_files_are_all_there() -> None:
    for column in ("model", "question", "samples", "gold", "answerable", "entity", "human"):
        assert column in COLUMNS
        assert f"`{column}`" in TEXT
    for layout in LAYOUTS:
        assert re.split(r"\W", layout.name)[0] in TEXT, layout.name
