"""``sayso index``: what it prints, and its mistakes in one line with exit code 2."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sayso import cli
from support.tables import tabled


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "a.jsonl"
    rows = [
        {"title": "Ada \x1b[31m", "text": "She wrote\nthe first \u202eprogram."},
        {"text": "x y"},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + "broken\n")
    return path


def test_it_says_what_was_built(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["index", str(source), "--out", str(source.parent / "i.index")]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("2 documents, 2 passages, 1 rows skipped, ")
    assert "left out: a.jsonl line 3: wrong JSON: Expecting value, column 1" in printed.err
    assert "1 documents contained control or broken characters" in printed.err
    assert cli.execute(["index", str(source), "--out", str(source.parent / "i.index")]) == 0
    assert "(nothing changed, 0.0 s)" in capsys.readouterr().out


def test_json_is_everything(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["index", str(source), "--json", "--workers", "1", "--tokens", "64"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["documents"], told["tokens"], told["skipped"]) == (2, 64, 1)
    assert Path(told["path"]).parent.name == "knowledge"


def test_a_search_prints_nothing_that_a_terminal_obeys(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.execute(["index", str(source), "--search", "the program", "-k", "1"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[1] == "   She wrote the first program."
    assert all(c.isprintable() or c == "\n" for c in out)
    assert cli.execute(["index", str(source), "--search", "program", "--json"]) == 0
    out = capsys.readouterr().out
    assert all(c.isprintable() or c == "\n" for c in out)
    assert json.loads(out)[0]["text"] == "She wrote\nthe first \u202eprogram."


def test_an_index_can_be_searched_without_its_source(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = str(source.parent / "i.index")
    assert cli.execute(["index", str(source), "--out", place]) == 0
    source.unlink()
    capsys.readouterr()
    assert cli.execute(["index", place, "--search", "wrote", "--title", "Nobody"]) == 0
    printed = capsys.readouterr()
    assert printed.out == "nothing found\n"
    assert "no passage titled 'Nobody'" in printed.err
    assert cli.execute(["index", place, "--search", "wrote"]) == 0


@tabled
def test_mistakes(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["index", *words]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert len(error.splitlines()) == 1
