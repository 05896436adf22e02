"""``--json`` on a terminal: what a model wrote is escaped, and the JSON stays the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso import cli
from sayso.harmless import plain_json
from sayso.records import Estimate, slice_of
from sayso.report.numbers import json_text


def test_json_holds_no_character_that_moves_a_cursor() -> None:
    hostile = {"a": "\x1b[2J \x9b31m \u202e \x7f \U000e0041 Zoë\n"}
    shown = plain_json(json.dumps(hostile, ensure_ascii=False, indent=1))
    assert shown.replace("\n", "").isprintable()
    assert "Zoë" in shown
    assert json.loads(shown) == hostile


@given(st.dictionaries(st.text(), st.text()))
def test_any_text_is_printable_and_reads_back(value: dict[str, str]) -> None:
    shown = plain_json(json.dumps(value, ensure_ascii=False, indent=1))
    assert all(line.isprintable() for line in shown.split("\n"))
    assert json.loads(shown) == value


def test_numbers_of_a_run_are_printed_the_same_way() -> None:
    # names of groups come from questions, which come from files
    shown = json_text([Estimate("J", slice_of(domain="\x9b2J\u202e"), 0.5)])
    assert shown.replace("\n", "").isprintable()
    assert json.loads(shown) == [{"name": "J", "where": {"domain": "\x9b2J\u202e"}, "value": 0.5}]


def test_names_of_columns_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "evil\x9b2J.jsonl"
    place.write_text('{"question": "q", "answer": "a"}\n', encoding="utf-8")
    assert cli.execute(["score", str(place), "--nli", "rules", "--json"]) == 0
    out, _ = capsys.readouterr()
    assert out.replace("\n", "").isprintable()
    assert json.loads(out)["path"].endswith("evil\x9b2J.scored.jsonl")
