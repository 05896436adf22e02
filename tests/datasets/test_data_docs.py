"""docs/data.md is true: its table is the catalogue, its commands run, its columns are all."""

from __future__ import annotations

from pathlib import Path

import pytest

from sayso.datasets import markdown
from sayso.datasets.columns import columns_markdown
from support.pages import blocks, commands, walk

DOCUMENT = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")


def test_the_table_of_sets_is_the_catalogue() -> None:
    _, _, rest = DOCUMENT.partition("kept equal by a test -->\n")
    table, _, _ = rest.partition("\n\n<!-- end of sets -->")
    assert table.splitlines() == list(markdown())


def test_the_table_of_columns_is_that_of_the_code() -> None:
    _, _, rest = DOCUMENT.partition(
        "<!-- columns: kept equal to sayso.datasets.columns by a test -->\n"
    )
    table, _, _ = rest.partition("\n\n<!-- end of columns -->")
    assert table.splitlines() == list(columns_markdown())


def test_the_commands_run_as_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (table,) = blocks(DOCUMENT, "csv")
    Path("quiz.csv").write_text(table, encoding="utf-8")
    assert len(commands(DOCUMENT)) == 3
    walk(commands(DOCUMENT), capsys)
    assert any(Path("runs").iterdir())
