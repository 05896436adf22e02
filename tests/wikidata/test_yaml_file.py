"""What a person writes in YAML is read, or refused with the line that is wrong."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.records import InputError
from sayso.wikidata.plan import parse_yaml_as, read_yaml_as


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


A = "domains:\n  a:\n    P1: {keep: true}\n"
ALIASES = "a: &a [x]\n" + "".join(
    f"{c}: &{c} [{', '.join(['*' + p] * 9)}]\n" for p, c in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "domains:\n  a: {P1: {keep: true}}\n  a: {}\n",
            "line 3: 'a' appears twice (first in line 2)",
        ),
        (
            A + "    P2: {keep: 5}\n",
            "line 4: domains: a: P2: keep: Expected `bool`, got `int`; expected a table",
        ),
        (
            A + "    P2: {kepp: 5}\n",
            "line 4: domains: a: P2: Object contains unknown field `kepp`",
        ),
        (
            A + "    P2: {keep: true, names: [x,\n      5]}\n",
            "line 5: domains: a: P2: names: 1: Expected `str`, got `int`",
        ),
        (
            "domains: {}\nlanguages: [true]\n",
            "line 2: languages: 0: Expected `str`, got `bool` (true and false are no texts",
        ),
        ("domains: {a: [\n", "line 2: is not YAML (expected the node content, but found '<stream"),
        ("", "f.yaml: Expected `object`, got `null`; expected a table"),
        ("domains: {}\nlanguages: [en]\nleast: 010\n", "f.yaml line 3: '010' is no number"),
        ("domains: {a: !!timestamp 2019-13-45}\n", "f.yaml line 1: is not YAML (could not"),
        ("domains: {}\nlanguages: !!int [1]\n", "f.yaml line 2: is not YAML (expected a scalar"),
        ("domains: {}\n? [a]\n: 1\n", "f.yaml line 2: the key is not the name of a setting"),
        ("domains: {}\nlanguages: [-.5]\n", "languages: 0: Expected `str`, got `float`"),
        ("domains: {a: \x01}\n", "f.yaml line 1: contains the character #x0001"),
        ("domains: &x\n  a: *x\n", "line 1: &x is an anchor"),
        (ALIASES, "line 1: &a is an anchor"),  # would be 9 ** 8 values
    ],
)
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
