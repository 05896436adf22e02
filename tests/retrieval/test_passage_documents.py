"""What is read from rows: columns, UNCLE's records, tables, and what is wrong with the rest."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from sayso.retrieval.passages import key, plain_title
from sayso.retrieval.sources import ReadBlock, SourceBlock, read_block
from support.tables import tabled


def read(*rows: object, kind: str = "lines", **more: object) -> ReadBlock:
    lines = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
    return read_block(SourceBlock(kind, b"\n".join(lines), **more), 256)  # type: ignore[arg-type]


def texts(found: ReadBlock) -> list[tuple[str, list[str]]]:
    return [(document.title, document.passages) for document in found.documents]


@tabled
def test_columns(row: object, expected: list[object]) -> None:
    found = read(row)
    assert [list(one) for one in texts(found)] == [expected]
    assert not found.problems


@tabled
def test_a_wrong_row_is_told_by_its_line_and_stops_nothing(line: bytes, what: str) -> None:
    good = {"title": "a", "text": "b"}
    found = read(good, b"", line, good, first=7)
    assert len(found.documents) == 2
    ((number, told),) = found.problems
    assert number == 9
    assert told.startswith(what)


def test_depth_without_end_stops_nothing() -> None:
    found = read(b"[" * 100_000, {"title": "a", "text": "b"})
    assert len(found.documents) == 1
    assert found.problems[0][1].startswith("wrong JSON: maximum recursion depth exceeded")


def test_records_of_uncle_become_a_line_for_each_aspect() -> None:
    record = {
        "entity": "Ada Lovelace",
        "prompt": "…",
        "individual_qa": [
            {"question": "?", "answer": ["1815-12-10T00:00:00Z"], "label": "date of birth"},
            {"question": "?", "answer": ["-0044-01-01T00:00:00Z"], "label": "floruit"},
            {"question": "?", "answer": ["London", "Kent Ltd."], "description": "place"},
            {"question": "?", "answer": [{"value": "NY", "aliases": ["N.Y.", "New York"]}],
             "label": "home"},
            {"question": "?", "answer": [{"value": "1950-03-00T00:00:00Z", "precision": "month"}],
             "label": "began"},
            {"question": "?", "answer": [], "label": "nothing known"},
            {"question": "?", "answer": ["1815-12-10T00:00:00Z"], "label": "date of birth"},
        ],
    }  # fmt: skip
    assert texts(read(record)) == [
        (
            "Ada Lovelace",
            [
                "date of birth of Ada Lovelace: 10 December 1815.\n"
                "floruit of Ada Lovelace: 44 BC.\n"
                "place of Ada Lovelace: London; Kent Ltd.\n"
                "home of Ada Lovelace: NY (also N.Y.; New York).\n"
                "began of Ada Lovelace: March 1950."
            ],
        )
    ]


def test_a_table_with_tabs() -> None:
    columns = ("id", "text", "title")
    found = read(
        b'1\t"He said ""no""."\tAda\r', b"2\tonly two", kind="tsv", columns=columns, first=2
    )
    assert texts(found) == [("Ada", ['He said "no".'])]
    assert found.problems == [(3, "2 fields where the head has 3")]


def test_what_is_cleaned_is_counted() -> None:
    found = read(b'{"title": "a", "text": "x\\ud800 \\u0000y"}', {"title": "b", "text": "é"})
    assert [pieces for _, pieces in texts(found)] == [["x\ufffd  y"], ["é"]]
    assert found.cleaned == 1
    text = read_block(SourceBlock("text", b"caf\xe9 au lait", 1, "menu"), 256)
    assert texts(text) == [("menu", ["caf\ufffd au lait"])]
    assert text.cleaned == 1


@given(st.binary(max_size=200), st.sampled_from(["lines", "tsv", "text"]))
def test_any_bytes_are_read(data: bytes, kind: str) -> None:
    block = SourceBlock(kind, data, columns=("title", "text"))  # type: ignore[arg-type]
    for document in read_block(block, 16).documents:
        "".join([document.title, *document.passages]).encode()  # can be stored


def test_titles() -> None:
    assert plain_title("  Émile_Zola ") == "emile zola"
    assert key("Ajax (play)") == "ajax"
    assert key("(untitled)") == "(untitled)"
    assert plain_title("Ajax (play)") == "ajax (play)"
