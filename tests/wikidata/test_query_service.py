"""A query service instead of a dump: the same benchmark, politely, and on from any failure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sayso import cli
from sayso.records import InputError
from sayso.wikidata import sparql
from sayso.wikidata.sparql import BATCH, Service, Term, row_statement
from support.drip import dripping
from support.query_service import stub
from support.wikidata_world import DOMAINS, dump


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Waits are noted, not waited."""
    waits: list[float] = []
    monkeypatch.setattr("sayso.wikidata.sparql.time.sleep", waits.append)
    monkeypatch.delenv("SAYSO_CONTACT", raising=False)
    return waits


def service(address: str, folder: Path, waits: list[float] | None = None, **more: str) -> Service:
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds
        if waits is not None:
            waits.append(seconds)

    return Service(address, folder, sleep=sleep, clock=lambda: now[0], **more)


def build(folder: Path, address: str, *flags: str) -> int:
    (folder / "domains.yaml").write_text(DOMAINS)
    words = ["build", "--sparql", "--endpoint", address, "--domains", str(folder / "domains.yaml")]
    return cli.execute([*words, "--out", str(folder / "out"), "--no-review", *flags])


def test_the_service_gives_the_benchmark_that_the_dump_gives(tmp_path: Path) -> None:
    with stub() as seen:
        assert build(tmp_path, seen.address, "--contact", "me@example.org") == 0
        asked = len(seen.queries)
        agents = {headers["User-Agent"] for headers in seen.headers}
        assert agents.pop().startswith("sayso/")
        assert not agents
        assert "me@example.org" in seen.headers[0]["User-Agent"]
        assert seen.headers[0]["Accept"] == "application/sparql-results+json"
        first = (tmp_path / "out" / "questions.jsonl").read_bytes()
        assert build(tmp_path, seen.address) == 0
        assert len(seen.queries) == asked  # every reply was kept
    source = tmp_path / "dump.json"
    source.write_bytes(dump())
    words = ["build", str(source), "--domains", str(tmp_path / "domains.yaml"), "--no-review"]
    assert cli.execute([*words, "--out", str(tmp_path / "from-dump")]) == 0

    def parts(data: bytes) -> dict[str, object]:
        records = [json.loads(line) for line in data.splitlines()]
        return {
            record["entity"]: sorted(
                part["question"] + str(part["answer"]) for part in record["individual_qa"]
            )
            for record in records
        }

    assert parts(first) == parts((tmp_path / "from-dump" / "questions.jsonl").read_bytes())
    assert len(parts(first)) == 28


def test_requests_are_a_second_apart_and_wait_as_long_as_asked(tmp_path: Path) -> None:
    waits: list[float] = []

    def busy(number: int, query: str) -> tuple[int, dict[str, str], bytes] | None:
        return {
            1: (429, {"Retry-After": "17"}, b"slow down"),
            2: (503, {}, b""),
        }.get(number)

    with stub(busy) as seen:
        polite = service(seen.address, tmp_path, waits)
        polite.rows("SELECT ?class { wd:Q5 }")
        polite.rows("SELECT ?class { wd:Q11424 }")
        # nothing before the first; a second; as long as asked; the third failure in a row would
        # wait 2 s doubled once
        assert waits == [0.0, 1.0, 17.0, 4.0]
        assert polite.requests == 4


def test_a_reply_that_breaks_off_is_asked_again_and_not_kept(tmp_path: Path) -> None:
    def broken(number: int, query: str) -> tuple[int, dict[str, str], bytes] | None:
        if number == 0:
            return 200, {}, b'{"results": {"bindings": [{"item"'
        if number == 1:  # announced and not sent
            return 200, {"Content-Length": "5000", "Connection": "close"}, b'{"results":'
        return None

    with stub(broken) as seen:
        rows = service(seen.address, tmp_path).rows("SELECT ?class { wd:Q5 }")
        assert len(rows) == 14
        assert len(seen.queries) == 3
        assert len(list(tmp_path.glob("*.json"))) == 1


def test_what_is_too_much_at_once_is_asked_in_halves(tmp_path: Path) -> None:
    def small(number: int, query: str) -> tuple[int, dict[str, str], bytes] | None:
        return (500, {}, b"TimeoutException") if query.count("wd:Q") > 20 else None

    with stub(small) as seen:
        assert build(tmp_path, seen.address) == 0
        assert max(query.count("wd:Q") for query in seen.queries) <= BATCH
    assert len((tmp_path / "out" / "questions.jsonl").read_text().splitlines()) == 28


def test_stopped_at_any_request_it_goes_on_and_ends_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with stub() as seen:
        (tmp_path / "whole").mkdir()
        assert build(tmp_path / "whole", seen.address) == 0
        total = len(seen.queries)
    with stub() as seen:
        done: set[str] = set()

        def refuse_after(number: int, query: str) -> tuple[int, dict[str, str], bytes] | None:
            assert query not in done, "asked twice"
            if len(done) % 2 == 1 and query not in refused:
                refused.add(query)
                return 403, {}, b"banned for now"
            done.add(query)
            return None

        refused: set[str] = set()
        seen.fault = refuse_after
        (tmp_path / "parts").mkdir()
        for _ in range(total + 1):
            code = build(tmp_path / "parts", seen.address)
            if code == 0:
                break
            assert "answered 403 (banned for now)" in capsys.readouterr().err
        assert len(refused) > 1
        assert len(done) == total
    name = "questions.jsonl"
    whole, parts = (tmp_path / place / "out" / name for place in ("whole", "parts"))
    assert parts.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (
            (400, {}, b"Malformed query\x1b[31m: line 3"),
            "answered 400 (Malformed query[31m: line 3)",
        ),
        ((200, {}, b"<html>hello</html>"), "sent a page or XML, not JSON"),
        ((429, {"Retry-After": "86400"}, b""), "answered 429 and asks to wait 1,440 minutes"),
        ((502, {}, b""), "answered 502, 6 times"),
    ],
)
def test_what_the_service_refuses_is_one_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    fault: tuple[int, dict[str, str], bytes],
    told: str,
) -> None:
    with stub(lambda number, query: fault) as seen:
        assert build(tmp_path, seen.address) == 2
    error = capsys.readouterr().err.splitlines()
    assert told in error[-1]
    # who waits is told what for
    tries = 6 if fault[0] == 502 else 1
    assert [line for line in error if "asked again in" in line] == error[: tries - 1]
    assert len(error) == tries


def test_members_have_one_of_the_values_that_are_asked_for(tmp_path: Path) -> None:
    plan = "domains: {films: {classes: [Q11424], type: film, where: {P57: [Q1003, Q1005]}}}"
    made = []
    with stub() as seen:
        (tmp_path / "domains.yaml").write_text(plan)
        (tmp_path / "dump.json").write_bytes(dump())
        for source in (["--sparql", "--endpoint", seen.address], [str(tmp_path / "dump.json")]):
            out = tmp_path / str(len(made))
            words = ["build", *source, "--domains", str(tmp_path / "domains.yaml"), "--no-review"]
            assert cli.execute([*words, "--out", str(out)]) == 0
            lines = (out / "questions.jsonl").read_text().splitlines()
            made.append({json.loads(line)["id"] for line in lines})
    assert made == [{"Q2003", "Q2005"}] * 2


def test_a_service_without_an_entity_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = json.dumps({"results": {"bindings": [{"foo": {"type": "bnode", "value": "x"}}]}})
    with stub(lambda number, query: (200, {}, rows.encode())) as seen:
        assert build(tmp_path, seen.address) == 2
    told = capsys.readouterr().err
    assert "films: instance of Q11424 (and subclasses); people" in told
    assert "2 problems; are the classes right, and is it Wikidata?" in told
    assert "delete scan/replies" in told


def test_rows_that_mean_nothing_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def odd(number: int, query: str) -> tuple[int, dict[str, str], bytes] | None:
        if number > 2:  # the members of one domain, their properties and statements
            return None
        bindings = [*seen.world.answer(query), {"foo": {"type": "bnode", "value": "x"}}]
        return 200, {}, json.dumps({"results": {"bindings": bindings}}).encode()

    with stub(odd) as seen:
        assert build(tmp_path, seen.address) == 0
    told = capsys.readouterr().err
    assert "left out: rows of members that cannot be read: 1" in told
    assert "left out: counts of properties that cannot be read: 1" in told
    assert "left out: statements that cannot be read: 1" in told
    assert "problems.jsonl" not in told  # they have no file and line
    card = json.loads((tmp_path / "out" / "card.json").read_text())
    assert sum(card["wrong"].values()) == 3


def test_nobody_there_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with stub() as seen:
        address = seen.address
    assert build(tmp_path, address) == 2
    assert "cannot be reached" in capsys.readouterr().err


@pytest.mark.parametrize(
    "address", ["ftp://x/sparql", "file:///etc/passwd", "http://", "http://me:pw@h/"]
)
def test_only_plain_addresses_are_asked(tmp_path: Path, address: str) -> None:
    with pytest.raises(InputError, match="expected the address"):
        Service(address, tmp_path)


def test_a_contact_cannot_add_headers(tmp_path: Path) -> None:
    agent = Service("http://h/", tmp_path, contact="me\r\nX-Evil: 1").agent
    assert "\r" not in agent
    assert "\n" not in agent


def test_rows_are_read_as_statements() -> None:
    base = {
        "property": Term("http://www.wikidata.org/entity/P569", "uri"),
        "type": Term("http://wikiba.se/ontology#Time", "uri"),
        "rank": Term("http://wikiba.se/ontology#PreferredRank", "uri"),
    }
    found = row_statement({**base, "value": Term("1952-03-11T00:00:00Z"), "precision": Term("11")})
    assert found is not None
    assert (found.value, found.rank, found.precision) == ("+1952-03-11T00:00:00Z", "preferred", 11)
    # 44 BC is the year -43 of XSD 1.1, which counts a year 0; that year is 1 BC
    for told, meant in (("-0043", "-0044"), ("0000", "-0001")):
        found = row_statement({**base, "value": Term(f"{told}-03-15T00:00:00Z")})
        assert found is not None
        assert found.value == f"{meant}-03-15T00:00:00Z"
    unknown = row_statement({**base, "value": Term("t123", "bnode")})
    assert unknown is not None
    assert unknown.snak == "somevalue"
    year = {**base, "value": Term("1"), "at": Term("2016-01-01T00:00:00Z")}
    found = row_statement({**year, "at_precision": Term("9"), "end": Term("t5", "bnode")})
    assert found is not None
    assert (found.at, found.end) == ("+2016-00-00T00:00:00Z", "?")
    none = row_statement(base)
    assert none is not None
    assert none.snak == "novalue"
    assert row_statement({**base, "type": Term("http://wikiba.se/ontology#Smell", "uri")}) is None


def test_a_reply_that_never_ends_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sparql, "PATIENCE", 0.3)
    told: list[str] = []
    with (
        dripping() as address,
        sparql.Service(f"{address}/sparql", tmp_path, sleep=lambda s: None, tell=told.append) as it,
        pytest.raises(InputError, match=r"cannot be reached \(only \d+ bytes of a reply in 0 s\)"),
    ):
        it.rows("SELECT ?x WHERE {}")
    assert told
