"""docs/people.md is true: its commands run in their order, and its tables name what there is."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import get_args

import pytest

from sayso import cli
from sayso.people.labels import COLUMNS, CONTENTS, KINDS, STANCES, LabelStore
from sayso.people.sampling import DesignName
from support.label_pages import label_page
from support.pages import blocks, commands

PAGE = (Path(__file__).parents[2] / "docs" / "people.md").read_text(encoding="utf-8")
pytest.importorskip("uvicorn", reason="the extra label is not installed")


def test_the_commands_of_the_page_run_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    typed = [words for words in commands(PAGE) if words[0] != "pip"]
    run = Path("runs/first")
    shown = blocks(PAGE, "console")[1]
    for words in typed:
        if words[1] in ("run", "agreement", "measure", "report"):
            assert cli.execute(words[1:]) == 0, words
            continue
        assert words[1] == "label"
        if any(flag in words for flag in ("--sheet", "--export", "--import")):
            if "--import" in words:
                _fill_in(Path(words[-1]))
            assert cli.execute(words[1:]) == 0
            continue
        with label_page(run, *words[3:], "--port", "0") as page:
            code, said = page.end()
        assert code == 0
        if shown:  # the first time, what it prints stands on the page
            note, said_of_it, last = shown.splitlines()[1:4]
            assert said.startswith(note)
            assert said_of_it.startswith(
                "Label short answers of runs/first as Ada on this page: http"
            )
            assert "Ctrl+C ends; the same command resumes." in last
            shown = ""
    with LabelStore.open(run) as store:
        assert {one.annotator for one in store.labels()} == {"Cy"}
        assert len(store.labels()) == 60
        assert store.annotators() == ["Ada", "Bo", "Cy"]
    exported = Path("labels.jsonl").read_text(encoding="utf-8")
    assert len(exported.splitlines()) == 60
    capsys.readouterr()


def _fill_in(sheet: Path) -> None:
    """Fill in a sheet as the page says."""
    with sheet.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    # "the last five columns"
    assert list(rows[0])[-5:] == ["kind", "stage", "target", "asked", "shown"]
    for row in rows:
        row |= {"stance": "committed", "content": "correct"}
    with sheet.open("w", encoding="utf-8", newline="") as lines:
        table = csv.DictWriter(lines, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def test_its_tables_name_every_kind_design_and_column() -> None:
    first = set(re.findall(r"^\| `(\w+)`", PAGE, flags=re.MULTILINE))
    assert first >= {*KINDS, *get_args(DesignName)}
    values = PAGE.partition("| column | values |")[2].partition("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", values)) == {
        "stance", "content", *STANCES["aspect"], *CONTENTS,
    }  # fmt: skip
    columns = PAGE.partition("| column | meaning |")[2].partition("\n\n")[0]
    named = [
        name for cell in re.findall(r"^\| ([^|]+) \|", columns, re.M) for name in cell.split(", ")
    ]
    assert [name.strip("`") for name in named if name.startswith("`")] == list(COLUMNS)
