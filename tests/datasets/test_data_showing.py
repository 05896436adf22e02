"""``sayso data list`` and ``show``: what is printed, and nothing that a terminal would obey."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sayso import cli, datasets
from support.tables import tabled


def test_every_set_is_listed_with_what_it_suits(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["data", "list"]) == 0
    out = capsys.readouterr().out
    for name in {*datasets.LOADERS, *datasets.FORMATS}:
        assert any(line.startswith(f"{name} ") for line in out.splitlines()), name
    assert "hub truthfulqa/truthful_qa" in out
    assert cli.execute(["data", "list", "--for", "self_known", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert "longfact" in found
    assert "squad" not in found
    assert found["longfact"]["license"] == "CC BY 4.0"
    assert cli.execute(["data", "list", "--for", "nothing"]) == 2
    assert "--for 'nothing': expected one of faithfulness" in capsys.readouterr().err


def test_the_first_questions_are_shown_with_golds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"question": "Wh\x1b[31mo\u202e?", "gold": ["A\x07nn", "Bob"], "entity": "X\n<b>"},
        {"question": "Where?", "gold": {"value": "Rome", "aliases": [f"R{n}" for n in range(9)]}},
        {"question": "Why?", "answerable": False, "context": "[bold]C[/bold]"},
        {"question": "When?"},
    ]
    place = tmp_path / "t.jsonl"
    place.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert cli.execute(["data", "show", f"file:{place}", "-n", "4"]) == 0
    out, err = capsys.readouterr()
    assert all(c.isprintable() or c == "\n" for c in out)
    assert "Wh␛[31mo\ufffd?" in out
    assert "gold: A␇nn" in out
    assert "gold: Rome; also R0 | R1 | R2 | R3 | R4 | R5 | 3 more" in out
    assert "cannot be answered: abstaining is right" in out
    assert "context: [bold]C[/bold]" in out
    assert "  no gold" in out
    assert "note: 4 rows read" in err
    assert cli.execute(["data", "show", f"file:{place}", "-n", "1", "--json"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    shown = json.loads(out)
    assert shown["questions"] == 4
    assert [q["text"] for q in shown["shown"]] == ["Wh\x1b[31mo\u202e?"]


def test_paragraphs_and_domains(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["data", "show", "builtin", "-n", "1"]) == 0
    out = capsys.readouterr().out
    assert "prompts for paragraphs" in out
    assert "facts, each of which is also asked alone" in out


@tabled
def test_mistakes_are_one_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.execute(["data", "show", *words]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_a_table_of_ones_own_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "t.csv"
    rows = ["q,a", "Who wrote Emma?,Austen", "who wrote EMMA ?,Austen", "Is Rome in Italy?,Italy"]
    place.write_text("\n".join(rows), encoding="utf-8")
    words = ["data", "check", str(place), "--columns", "question=q,gold=a"]
    assert cli.execute([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert sorted(one["kind"] for one in found) == ["duplicate", "gold in question"]
    assert cli.execute(words) == 0
    assert "t: 3 questions" in capsys.readouterr().out
    assert cli.execute(["data", "check", str(place), "--columns", "question=x"]) == 2
    err = capsys.readouterr().err
    assert "question=x names a missing column" in err
    assert err.count("\n") == 1
