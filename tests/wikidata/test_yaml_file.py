"""What a person writes in YAML is read, or refused with the line that is wrong."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.records import InputError
from sayso.wikidata.plan import parse_yaml_as, read_yaml_as
from support.tables import tabled


class Row(msgspec.Struct, forbid_unknown_fields=True):
    keep: bool
    names: tuple[str, ...] = ()


class Table(msgspec.Struct, forbid_unknown_fields=True):
    domains: dict[str, dict[str, Row]]
    languages: tuple[str, ...] = ()


def error(text: str) -> str:
    with pytest.raises(InputError) as caught:
        parse_yaml_as(text, "f.yaml", Table, "expected a table")
    told = str(caught.value)
    assert "\n" not in told
    return told


@tabled
def test_the_line_is_told(text: str, told: str) -> None:
    assert told in error(text)


def test_what_is_right_is_read_with_its_lines(tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_text("\ufeffdomains:\n  a:\n    P1: {keep: true}\n", encoding="utf-8")
    table, lines = read_yaml_as(file, Table, "")
    assert table == Table({"a": {"P1": Row(True)}})
    assert lines.at("domains", "a", "P1", "question") == f"{file} line 3"
    assert lines.at("other") == f"{file} line 1"


def test_a_file_that_cannot_be_read_is_said_to_be_so(tmp_path: Path) -> None:
    for name, told in (("none", "does not exist"), (".", "is a folder"), ("bad", "not UTF-8")):
        (tmp_path / "bad").write_bytes(b"a: \xff")
        with pytest.raises(InputError, match=told):
            read_yaml_as(tmp_path / name, Table, "")


@given(st.text(alphabet="ab:{}[]-&*!#'\" \n\t0", max_size=60))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    try:
        parse_yaml_as(text, "f.yaml", Table, "expected a table")
    except InputError:
        error(text)
