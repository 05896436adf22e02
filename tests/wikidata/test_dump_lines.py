"""What is found in the bytes of a dump before anything is parsed, and by whole passes over it."""

from __future__ import annotations

import io
import json
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.wikidata import unpack
from sayso.wikidata.entities import parse_entity, superclasses
from sayso.wikidata.passes import (
    EDGE,
    Classes,
    DumpPass,
    Members,
    PassTask,
    by_line,
    item_number,
    own_id,
    places,
    pointing,
    statements,
    text_fault,
)
from sayso.wikidata.plan import Domain, DomainPlan
from sayso.wikidata.unpack import LinePlace, WholeLines, find_parts, read_dump_lines
from support.wikidata_world import amount, entity, item, when

#: item 4242 near "P31" in several ways, and what is none
PIECES = (
    b'"P31"', b'"P279"', b'"P3', b'P31"', b'"', b"\n", b"\r\n", b",", b" ", b"}", b"x" * 600,
    b'"id":"Q4242"', b'"numeric-id":4242', b'"P31":"P31"P31"', b"{", b"[",
)  # fmt: skip


def plainly(text: bytes, name: bytes) -> list[int]:
    return [at for at in range(len(text)) if text[at : at + len(name)] == name]


def all_of(text: bytes) -> WholeLines:
    """A text as one block of lines, none of them cleaned."""
    spans, at = [], 0
    for line in text.split(b"\n"):
        spans.append((at, at + len(line)))
        at += len(line) + 1
    return WholeLines(1, text, spans, LinePlace())


@given(st.lists(st.sampled_from(PIECES) | st.binary(max_size=9), max_size=25).map(b"".join))
def test_places_are_those_of_a_plain_search(text: bytes) -> None:
    lines = all_of(text)
    for property in (b"P31", b"P279", b"P12345"):
        expected = plainly(text, b'"' + property + b'"')
        assert places(text, property) == expected
        assert by_line(expected, lines.spans) == {
            n: found
            for n, (start, end) in enumerate(lines.spans)
            if (found := [at for at in expected if start <= at < end])
        }


def test_places_outside_of_lines_belong_to_none() -> None:
    # a line taken out, one of which the beginning was cleaned away, and the rest of a block
    assert by_line([1, 5, 8, 14, 30], [(4, 7), (9, 9), (12, 20)]) == {0: [5], 2: [14]}
    assert by_line([3], []) == {}


@given(st.lists(st.sampled_from(PIECES), max_size=25).map(b"".join))
def test_a_line_is_read_alike_alone_and_among_others(text: bytes) -> None:
    lines = all_of(text)
    alone = [
        number
        for number, line in enumerate(lines.data())
        if pointing(line, [(0, len(line))], b"P31", {4242})
    ]
    assert pointing(text, lines.spans, b"P31", {4242}) == alone


def test_every_order_of_fields_is_read_as_json_reads_it(excerpt: list[bytes]) -> None:
    """No class is missed, and superclasses are those of a plain reading, whoever wrote the line."""
    seen = 0
    for line in excerpt:
        row = json.loads(line)
        claims = dict(reversed(row["claims"].items()))
        id_last = {**{k: v for k, v in row.items() if k != "id"}, "id": row["id"]}
        for data in (
            line,
            json.dumps(row, separators=(",", ":")).encode(),
            json.dumps({**row, "claims": claims}, separators=(" , ", " :\t")).encode(),
            json.dumps(dict(reversed(row.items()))).encode(),
            json.dumps(id_last, separators=(",", ":")).encode(),
        ):
            classes = {
                item_number(one["mainsnak"]["datavalue"]["value"]["id"])
                for one in row["claims"].get("P31", [])
                if one["mainsnak"]["snaktype"] == "value" and one["rank"] != "deprecated"
            }
            for one in classes:
                assert one is not None
                assert pointing(data, [(0, len(data))], b"P31", {one}) == [0]
            assert own_id(data) in (None, row["id"].encode())
            assert edges_of(Classes(), all_of(data)) == [
                (item_number(row["id"]), item_number(one["mainsnak"]["datavalue"]["value"]["id"]))
                for one in row["claims"].get("P279", [])
                if one["mainsnak"]["snaktype"] == "value" and one["rank"] != "deprecated"
                if row["id"][0] == "Q"
            ]
            seen += len(classes)
    assert seen > 3000


def edges_of(stage: DumpPass, lines: WholeLines) -> list[tuple[int, int]]:
    side = io.BytesIO()
    assert list(stage.feed(lines, side)) == []
    return [(int(a), int(b)) for a, b in np.frombuffer(side.getvalue(), EDGE)]


def test_an_entity_is_named_by_its_own_id_alone() -> None:
    assert own_id(b'{"type":"item","id":"Q42","labels":{}}') == b"Q42"
    assert own_id(b'{ "pageid" : 5, "title": "P\xc3\xa4", "id" :"Q42"}') == b"Q42"
    assert own_id(b'{"claims":{"P31":[{"mainsnak":{"datavalue":{"value":{"id":"Q5"}}}}]}}') is None
    assert own_id(b'{"title":"a \\"b","id":"Q42"}') is None  # it could be anything: read it
    assert own_id(b'x{"id":"Q1"}{"id":"Q2"}', 12) == b"Q2"
    assert own_id(b'{"type":"item","id":"Q42"', 0, 20) is None


@given(
    pieces=st.lists(
        st.text(max_size=9).map(str.encode)
        | st.binary(max_size=4)
        | st.sampled_from([b"\x80" * 9, "\N{GRINNING FACE}".encode(), b"\xe2\x82", b"x" * 7])
    ),
    piece=st.integers(1, 9),
)
def test_what_is_no_utf8_is_told_with_its_byte(pieces: list[bytes], piece: int) -> None:
    data = b"".join(pieces)
    try:
        data.decode()
        expected = None
    except UnicodeDecodeError as error:
        expected = f"is not UTF-8 at its byte {error.start + 1}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sayso.wikidata.passes.PIECE", piece)
        assert text_fault(data) == expected


@given(
    order=st.permutations(["snaktype", "property", "hash", "datavalue", "datatype"]),
    outer=st.permutations(["mainsnak", "type", "id", "rank"]),
    old=st.booleans(),
    space=st.sampled_from(["", " ", "  "]),
)
def test_the_filter_finds_a_class_in_any_order_of_fields(
    order: list[str], outer: list[str], old: bool, space: str
) -> None:
    made = {}
    for property, id in (("P31", "Q4242"), ("P279", "Q99")):
        one = item(property, id)
        snak: dict[str, Any] = one["mainsnak"]  # type: ignore[assignment]
        if old:  # dumps of before 2017 have numbers only
            del snak["datavalue"]["value"]["id"]
        one["mainsnak"] = {name: snak[name] for name in order}
        made[property] = {name: one[name] for name in outer}
    row = entity("Q1", "x", when("P569", "1950-01-01"), *made.values(), when("P570", "1990-01-01"))
    row["claims"]["P31"].append(item("P31", "Q77"))  # type: ignore[index]
    data = json.dumps(row, separators=("," + space, ":" + space)).encode()
    assert pointing(data, [(0, len(data))], b"P31", {4242}) == [0]
    assert pointing(data, [(0, len(data))], b"P31", {77}) == [0]
    assert parse_entity(data).items("P31") == ["Q4242", "Q77"]
    assert edges_of(Classes(), all_of(data)) == [(1, 99)]


def test_where_no_item_stands_near_the_line_is_read() -> None:
    far = (
        b'{"claims":{"P31":' + b" " * 600 + b'[{"mainsnak":{"datavalue":{"value":{"id":"Q5"}}}}]}}'
    )
    assert pointing(far, [(0, len(far))], b"P31", {5}) == [0]
    assert pointing(far.replace(b" ", b""), [(0, len(far) - 600)], b"P31", {6}) == []
    assert pointing(b'{"P31":[]}', [(0, 10)], b"P31", {5}) == [0]
    assert pointing(b'{"P32":"Q5"}', [(0, 12)], b"P31", {5}) == []


def test_only_what_stands_in_claims_is_a_superclass() -> None:
    """Statements that come twice, in a text, or in a cut line are not taken from there."""
    row = entity(
        "Q1", "x", item("P279", "Q2"), item("P279", "Q3", "deprecated"), amount("P1", "+1")
    )
    row["sitelinks"] = {}
    line = json.dumps(row, separators=(",", ":")).encode()
    at = line.index(b'"P279":[')
    found = statements(line, at, len(line))
    assert found is not None
    assert [one["mainsnak"]["datavalue"]["value"]["id"] for one in json.loads(found)] == [
        "Q2",
        "Q3",
    ]
    assert edges_of(Classes(), all_of(line)) == [(1, 2)]
    other = {"forms": [{"claims": {"P279": [item("P279", "Q9")], "P5": [item("P5", "Q1")]}}]}
    twice = json.dumps({"id": "Q1", **other, **row}, separators=(",", ":")).encode()
    assert (
        edges_of(Classes(), all_of(twice)) == [(1, 2)] == [(1, int(superclasses(twice)[1][0][1:]))]
    )
    told = json.dumps({**row, "labels": {"en": {"value": found.decode()}}}).encode()
    assert edges_of(Classes(), all_of(told)) == [(1, 2)]
    side = io.BytesIO()
    (problem,) = Classes().feed(all_of(line[:-5]), side)
    assert problem[1].startswith("cannot be read")
    assert side.getvalue() == b""


@given(
    lines=st.lists(
        st.sampled_from(
            [
                json.dumps(entity("Q1", "a", item("P31", "Q5"), item("P279", "Q8"))).encode()
                + b",",
                json.dumps(entity("Q2", "b", item("P31", "Q6")), separators=(",", ":")).encode(),
                json.dumps(entity("Q3", "c" * 300, item("P31", "Q5"))).encode() + b" , ",
                *(b"[", b"]", b"", b"  ", b'{"id":"Q4","claims":{"P31', b'{"P31"}', b"{", b"},"),
                b'{"id":"Q5","x":"\xff","claims":{"P31":[],"P279":5}}',
            ]
        ),
        max_size=12,
    ),
    size=st.integers(1, 3000),
    block=st.integers(1, 3000),
    ending=st.sampled_from(["", ".gz", ".zst"]),
)
def test_any_size_of_blocks_finds_the_same(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[bytes],
    size: int,
    block: int,
    ending: str,
) -> None:
    zstandard = pytest.importorskip("zstandard")
    import gzip

    folder = tmp_path_factory.mktemp("blocks")
    packer = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}[ending]
    path = folder / f"dump.json{ending}"
    path.write_bytes(packer(b"\n".join(lines)))
    (part,) = find_parts(path)
    (folder / "ids").write_text("5")
    plan = DomainPlan({"people": Domain(("Q5",))})
    task = PassTask("members", plan, 0, {"people": str(folder / "ids")})

    def found() -> list[object]:
        every: list[object] = []
        for stage in (Classes(), Members(task)):
            side = io.BytesIO()
            told = [one for some in read_dump_lines(part) for one in stage.feed(some, side)]
            every += [sorted(told), side.getvalue(), msgspec.msgpack.decode(stage.save())]
        return every

    expected = found()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unpack, "SIZE", size)
        patch.setattr(unpack, "BLOCK", block)
        assert found() == expected
