"""docs/data.md is true: its table is the catalogue, its commands run, its columns are all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from sayso.datasets import CATALOGUE
from sayso.datasets.columns import COLUMNS
from support.pages import blocks, commands, walk

DOCUMENT = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")
#: readers of a table, and how the docs head their columns
READERS = {
    "data": "`--data file:`",
    "answers": "`--answers`",
    "score": "`sayso score`",
    "labelled": "`--labeled`",
}


def rows(*rows: Sequence[str]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in rows]


def test_the_table_of_sets_is_the_catalogue() -> None:
    _, _, rest = DOCUMENT.partition("kept equal by a test -->\n")
    table, _, _ = rest.partition("\n\n<!-- end of sets -->")
    sets = [
        (
            f"`{name}`",
            f"{entry.what} ({entry.notes})" if entry.notes else entry.what,
            entry.size,
            entry.license,
            "; ".join(filter(None, (entry.hub, entry.file, entry.source))) or "in sayso",
        )
        for name, entry in CATALOGUE.items()
    ]
    head, rule, *found = table.splitlines()
    assert head == "| name | content | size | license | where it is |"
    assert rule == f"|{'---|' * 5}"
    assert found == rows(*sets)


def test_the_table_of_columns_is_that_of_the_code() -> None:
    _, _, rest = DOCUMENT.partition(
        "<!-- columns: kept equal to sayso.datasets.columns by a test -->\n"
    )
    table, _, _ = rest.partition("\n\n<!-- end of columns -->")
    columns = [
        (
            f"`{ours}`",
            ", ".join(f"`{name}`" for name in column.also),
            column.holds,
            *("●" if reader in column.readers else "" for reader in READERS),
        )
        for ours, column in COLUMNS.items()
    ]
    head, rule, *found = table.splitlines()
    assert [head] == rows(("column", "other names", "content", *READERS.values()))
    assert rule == f"|---|---|---|{':-:|' * 4}"
    assert found == rows(*columns)


def test_the_commands_run_as_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (table,) = blocks(DOCUMENT, "csv")
    Path("quiz.csv").write_text(table, encoding="utf-8")
    assert len(commands(DOCUMENT)) == 3
    walk(commands(DOCUMENT), capsys)
    assert any(Path("runs").iterdir())
