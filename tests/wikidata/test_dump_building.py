"""From a dump to a benchmark: whatever the packing, whatever is wrong with it, killed anywhere."""

from __future__ import annotations

import bz2
import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from io import RawIOBase
from pathlib import Path

import msgspec
import pytest
import yaml

from sayso import cli
from sayso.datasets import load_dataset
from sayso.records import InputError
from sayso.wikidata import dump as scanning
from sayso.wikidata import unpack
from sayso.wikidata.dump import DumpProgress, DumpReading, read_dump
from sayso.wikidata.excerpt import Excerpt
from sayso.wikidata.plan import load_plan
from sayso.wikidata.templates import load_templates
from sayso.wikidata.unpack import LONGEST
from support.tables import tabled
from support.wikidata_world import DOMAINS, amount, dump, entities, entity, item, statement, when

FILES = ("questions.jsonl", "twins.jsonl", "aspects.yaml", "card.md", "found.msgpack")


def prepared(folder: Path, data: bytes | None = None, ending: str = ".json") -> Path:
    (folder / "domains.yaml").write_text(DOMAINS)
    packers = {".json": bytes, ".json.gz": gzip.compress, ".json.bz2": bz2.compress}
    source = folder / f"dump{ending}"
    source.write_bytes(packers[ending](dump() if data is None else data))
    return source


def built(folder: Path, source: Path, *flags: str, out: str = "out") -> dict[str, bytes]:
    domains = str(folder / "domains.yaml")
    words = ["build", str(source), "--domains", domains, "--out", str(folder / out)]
    assert cli.execute([*words, "--no-review", *flags]) == 0
    place = folder / out
    return {name: (place / name).read_bytes() for name in FILES if (place / name).exists()}


def rows(folder: Path, name: str = "questions.jsonl") -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "out" / name).read_text().splitlines()]


def excerpt_of(
    folder: Path,
    source: Path,
    seed: int = 0,
    *,
    progress: Callable[[DumpProgress], None] | None = None,
    work: str = "work",
) -> Excerpt:
    """Read a dump with a state on disk after every block where there is ``progress``."""
    plan = load_plan(folder / "domains.yaml")
    reading = DumpReading(interval=0.0, progress=progress) if progress else DumpReading()
    return read_dump(source, plan, folder / work, load_templates(), seed=seed, reading=reading)


def test_a_benchmark_comes_out_and_is_what_the_dump_says(tmp_path: Path) -> None:
    built(tmp_path, prepared(tmp_path))
    made = rows(tmp_path)
    assert {row["domain"] for row in made} == {"films", "people"}
    assert len(made) == 28  # fourteen of each, with subclasses of film two steps down
    one = next(row for row in made if row["entity"] == "The Amber Nettle")
    assert one["prompt"] == (
        "In a paragraph, introduce the film The Amber Nettle, including director, date of release "
        "and length."
    )
    asked = {part["question"]: part["answer"] for part in one["individual_qa"]}  # type: ignore[attr-defined]
    assert asked == {
        "Who directed The Amber Nettle?": [{"value": "Alda Amberson", "aliases": ["A. Amberson"]}],
        "When was The Amber Nettle released?": [
            {"value": "2012-03-05T00:00:00Z", "kind": "date", "precision": "day"}
        ],
        "How long does The Amber Nettle last?": [
            {"value": "80", "kind": "quantity", "unit": "minute"}
        ],
    }
    data = load_dataset(str(tmp_path / "out" / "questions.jsonl"))
    assert not any("not named" in note for note in data.notes)
    twins = rows(tmp_path, "twins.jsonl")
    assert {row["entity"] for row in twins}.isdisjoint(row["entity"] for row in made)
    assert all(row["twin_of"] in {one["entity"] for one in made} for row in twins)


def test_packings_parts_and_processes_give_the_same(tmp_path: Path) -> None:
    expected = built(tmp_path, prepared(tmp_path))
    lines = dump().splitlines(keepends=True)
    parts = tmp_path / "parts"
    parts.mkdir()
    for number in range(3):
        data = b"".join(lines[number::3])
        (parts / f"{number}.json.gz").write_bytes(gzip.compress(data))
    spaced = tmp_path / "spaced.json"
    spaced.write_bytes(dump(compact=False))
    sources = [prepared(tmp_path, ending=e) for e in (".json.gz", ".json.bz2")]
    for number, source in enumerate([*sources, spaced, parts]):
        flags = ["--workers", "2"] if source == parts else []
        got = built(tmp_path, source, *flags, out=f"out{number}")
        for name in ("questions.jsonl", "twins.jsonl", "aspects.yaml"):
            assert _plain(got[name], f"out{number}") == _plain(expected[name], "out"), source


def _plain(data: bytes, out: str) -> bytes:
    return data.replace(f"sayso build {out}\n".encode(), b"")


def test_strata_are_filled_in_turn_and_counted(tmp_path: Path) -> None:
    source = prepared(tmp_path)
    (tmp_path / "domains.yaml").write_text(
        "domains: {films: {classes: [Q11424], type: film, entities: 6, frequency: statements, "
        "strata: [10, 20, 30]}}"
    )
    built(tmp_path, source)
    # film n has 4 + 3 n statements: 0-1 below 10, 2-5 below 20, 6-8 below 30, 9-13 above
    card = json.loads((tmp_path / "out" / "card.json").read_text())
    assert card["strata"]["films"] == {
        "0-9 statements": [2, 2],
        "10-19 statements": [2, 4],
        "20-29 statements": [1, 3],
        "30+ statements": [1, 5],
    }


def test_the_frequency_of_an_entity_is_the_number_of_its_properties(tmp_path: Path) -> None:
    """Forty-three statements of five properties are five: more identifiers are no other fact."""
    source = prepared(tmp_path)
    (tmp_path / "domains.yaml").write_text(
        "domains: {films: {classes: [Q11424], type: film, strata: [4, 5, 6]}}"
    )
    built(tmp_path, source)
    card = json.loads((tmp_path / "out" / "card.json").read_text())
    assert card["strata"]["films"] == {
        "0-3 properties": [0, 0],
        "4 properties": [1, 1],  # the only film without an identifier
        "5 properties": [13, 13],
        "6+ properties": [0, 0],
    }
    made = rows(tmp_path)
    assert {(row["properties"], row["stratum"]) for row in made} == {
        (4, "4 properties"), (5, "5 properties"),
    }  # fmt: skip
    assert max(int(str(row["statements"])) for row in made) == 43


def test_a_property_is_kept_by_how_many_entities_have_it(tmp_path: Path) -> None:
    """``keep: 2`` keeps the two that most films have; the file shows count, share and golds."""
    films = [row for row in entities() if str(row["id"]).startswith("Q20")]
    for row in films[:5]:  # five films name no director, and two no length
        del row["claims"]["P57"]  # type: ignore[attr-defined]
    for row in films[:2]:
        del row["claims"]["P2047"]  # type: ignore[attr-defined]
    others = [row for row in entities() if not str(row["id"]).startswith("Q20")]
    source = prepared(tmp_path, dump([*others, *films]))
    plan = "domains: {films: {classes: [Q11424], type: film, keep: 2, least: 1}}"
    (tmp_path / "domains.yaml").write_text(plan)
    built(tmp_path, source)
    text = (tmp_path / "out" / "aspects.yaml").read_text()
    assert "  # N = 14\n" in text
    review = yaml.safe_load(text)["domains"]["films"]
    kept = {p: one for p, one in review.items() if one["keep"]}
    assert {p: (one["entities"], one["share"]) for p, one in kept.items()} == {
        "P577": (14, 1.0), "P2047": (12, 0.8571),
    }  # fmt: skip
    assert set(kept["P2047"]["examples"]) <= {f"{80 + n} minute" for n in range(14)}
    assert len(kept["P2047"]["examples"]) == 3
    assert (review["P57"]["entities"], review["P57"]["why"]) == (9, "2 are more frequent")
    asked = {p["property_id"] for row in rows(tmp_path) for p in row["individual_qa"]}  # type: ignore[attr-defined]
    assert asked == {"P577", "P2047"}


def test_a_deleted_line_of_the_review_is_told_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    built(tmp_path, prepared(tmp_path))
    out = tmp_path / "out"
    lines = (out / "aspects.yaml").read_text().splitlines(keepends=True)
    (out / "aspects.yaml").write_text("".join(line for line in lines if '"P57"' not in line))
    capsys.readouterr()
    assert cli.execute(["build", str(out)]) == 0
    err = capsys.readouterr().err
    assert "films: 1 proposed properties are no longer in" in err
    assert "(P57)" in err
    card = json.loads((out / "card.json").read_text())
    assert card["left"]["properties whose line was deleted from the review file"] == 1
    (out / "aspects.yaml").write_text("".join(lines))
    assert cli.execute(["build", str(out)]) == 0
    assert "no longer in" not in capsys.readouterr().err


def test_what_is_bad_is_named_with_its_line_and_the_rest_is_built(tmp_path: Path) -> None:
    expected = built(tmp_path, prepared(tmp_path))
    good = dump().splitlines()
    film = entity("Q7001", "", item("P31", "Q11424"))
    odd = entity("Q7002", "Odd", item("P31", "Q11424"), statement("P9", "smell", "x"))
    bad: list[tuple[bytes, str]] = [
        (good[20][:-40], "is cut off"),
        (b'{"id":"Q5\xff","claims":{}},', "is not UTF-8 at its byte 10"),
        (b"what is this", "is not a JSON object"),
        (json.dumps(film).encode(), "Q7001 has no label in 'en'"),
        (json.dumps(odd).encode(), "statement of P9 has the unknown datatype 'smell'"),
        (b'{"x":"' + b"x" * LONGEST + b'"}', f"is {LONGEST + 8:,} bytes long"),
        (b'{"id":"Q5","claims":{"P31":"P31"}}', "cannot be read: "),
    ]
    text = b"\n".join([*good[:5], *(line for line, _ in bad), *good[5:]])
    got = built(tmp_path, prepared(tmp_path, text), out="bad")
    named = [json.loads(line) for line in (tmp_path / "bad" / "problems.jsonl").open()]
    assert [(row["part"], row["line"]) for row in named] == [("dump.json", n) for n in range(6, 13)]
    for row, (_, told) in zip(named, bad, strict=True):
        assert row["what"].startswith(told), row
    wrong = json.loads((tmp_path / "bad" / "card.json").read_text())["wrong"]
    assert sum(wrong.values()) == 7
    assert wrong["unknown datatype"] == 1
    assert got["questions.jsonl"] == expected["questions.jsonl"]


def test_an_archive_that_breaks_off_is_built_up_to_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = prepared(tmp_path, ending=".json.gz")
    source.write_bytes(source.read_bytes()[:-200])
    built(tmp_path, source)
    assert "files of which the rest is missing: 1" in capsys.readouterr().err
    assert "dump.json.gz line" in (tmp_path / "out" / "card.md").read_text()
    assert 5 < len(rows(tmp_path)) < 28


@pytest.mark.parametrize("stops", [1, 4, 9, 17])
def test_stopped_anywhere_it_goes_on_and_ends_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stops: int
) -> None:
    monkeypatch.setattr(unpack, "BLOCK", 1000)
    monkeypatch.setattr(unpack, "SIZE", 100)
    source = prepared(tmp_path, ending=".json.bz2")
    expected = excerpt_of(tmp_path, source)
    count = 0

    def stop(*_: object) -> None:
        nonlocal count
        count += 1
        if count % stops == 0:
            raise KeyboardInterrupt

    for _ in range(200):
        try:
            excerpt = excerpt_of(tmp_path, source, progress=stop, work="again")
            break
        except KeyboardInterrupt:
            # rows that were written after the last state are lost, and half of one may be there
            for side in (tmp_path / "again").rglob("*.side"):
                with side.open("ab") as file:
                    file.write(b"half a row")
    else:
        pytest.fail("never came to an end")
    assert count > 10
    assert msgspec.msgpack.encode(excerpt) == msgspec.msgpack.encode(expected)


@pytest.mark.slow
def test_a_killed_command_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    parts.mkdir()
    padding = [entity(f"Q{90_000 + n}", f"x{n}", item("P31", "Q7")) for n in range(20_000)]
    lines = dump(entities() + padding).splitlines(keepends=True)
    for number in range(4):
        (parts / f"{number}.json.gz").write_bytes(gzip.compress(b"".join(lines[number::4])))
    prepared(tmp_path)
    expected = built(tmp_path, parts)
    words = [sys.executable, "-m", "sayso", "build", str(parts), "--domains", "domains.yaml"]
    words += ["--out", "killed/out", "--no-review", "--workers", "2"]
    draw = random.Random(5)
    (tmp_path / "killed").mkdir()
    for wait in (draw.uniform(0.3, 2.0) for _ in range(4)):
        child = subprocess.Popen(
            words, cwd=tmp_path, env=dict(os.environ), stderr=subprocess.DEVNULL
        )
        time.sleep(wait)
        child.send_signal(signal.SIGKILL)
        child.wait()
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for name, data in expected.items():
        assert (tmp_path / "killed" / "out" / name).read_bytes() == data, name


def test_a_second_command_on_the_same_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = prepared(tmp_path)
    monkeypatch.setattr(scanning, "WAITS", 0.1)

    def second(*_: object) -> None:
        with pytest.raises(InputError, match="another sayso build"):
            excerpt_of(tmp_path, source)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        excerpt_of(tmp_path, source, progress=second)
    assert excerpt_of(tmp_path, source).counts["members"] == 28


#: reads two parts in two processes; no guard of ``__main__``
TWO_PROCESSES = """
import signal, sys
from pathlib import Path
from sayso.wikidata.dump import DumpReading, run_stage
from sayso.wikidata.passes import PassTask
from sayso.wikidata.plan import load_plan
from sayso.wikidata.unpack import DumpPart
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background shell ignores it
parts = [DumpPart(name, Path(name), 0, 0) for name in sys.argv[2:]]
run_stage(PassTask("classes", load_plan(None)), parts, Path(sys.argv[1]), DumpReading(workers=2))
"""


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_the_command_that_started_them(tmp_path: Path, stop: int) -> None:
    """A worker in the middle of a part does not read on."""
    pipes = [tmp_path / "0.json", tmp_path / "1.json"]
    for pipe in pipes:
        os.mkfifo(pipe)
    child = subprocess.Popen(
        [sys.executable, "-c", TWO_PROCESSES, str(tmp_path / "work"), *map(str, pipes)],
        stderr=subprocess.DEVNULL,
    )
    # opened when both workers have begun to read
    with pipes[0].open("wb", buffering=0) as first, pipes[1].open("wb", buffering=0) as second:
        child.send_signal(stop)
        child.wait(timeout=60)
        assert unread(first)
        assert unread(second)


def unread(pipe: RawIOBase) -> bool:
    """Tell whether nobody reads a pipe any more, or soon does no more."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            pipe.write(b"\n")
        except BrokenPipeError:
            return True
        time.sleep(0.02)
    return False


def test_a_worker_that_dies_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = tmp_path / "parts"
    parts.mkdir()
    prepared(tmp_path)
    for number in range(2):
        (parts / f"{number}.json").write_bytes(dump())
    monkeypatch.setattr(scanning, "_scanned", killed)
    with pytest.raises(InputError, match="a process that read it ended"):
        read_dump(
            parts,
            load_plan(tmp_path / "domains.yaml"),
            tmp_path / "work",
            load_templates(),
            reading=DumpReading(workers=2),
        )


def killed(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_another_plan_reuses_the_pass_over_classes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = prepared(tmp_path)
    excerpt_of(tmp_path, source)
    done: list[str] = []
    original = scanning.open_stage
    monkeypatch.setattr(
        scanning, "open_stage", lambda task: done.append(task.stage) or original(task)
    )
    excerpt_of(tmp_path, source)
    assert done == []
    excerpt_of(tmp_path, source, seed=1)
    assert "classes" not in done
    assert "members" in done


def test_what_changes_is_asked_as_of_a_day_and_fresh_facts_stand_apart(tmp_path: Path) -> None:
    rows_in = [
        entity(
            "Q1",
            "Kelpworks",
            item("P31", "Q4830453"),
            item("P169", "Q10", start="2010-01-01", end="2020-01-01"),
            item("P169", "Q11", start="2024-02-01"),
            amount("P1128", "+50", at="2015-06-00"),
            amount("P1128", "+70", at="2018-00-00"),
            when("P571", "1990-00-00", precision=9),
            when("P571", "1890-00-00", precision=9, rank="deprecated"),
            item("P112", "Q10"),
            item("P112", "Q11"),
            statement("P112", "wikibase-item", "somevalue"),
            item("P127", "Q10"),
            item("P127", "Q404"),  # nobody knows what that is called
            statement("P452", "wikibase-item", "novalue"),
        ),
        entity("Q10", "Ada Old"),
        entity("Q11", "Bo New"),
    ]
    prepared(tmp_path)
    source = tmp_path / "wikidata-20240401-all.json"
    source.write_bytes(dump(rows_in))
    (tmp_path / "domains.yaml").write_text(
        "domains: {companies: {classes: [Q4830453], type: company}}"
    )
    built(tmp_path, source, "--fresh-after", "2023-12-31")
    (main,) = rows(tmp_path)
    parts = {p["property_id"]: p for p in main["individual_qa"]}  # type: ignore[attr-defined]
    assert parts["P1128"]["question"] == "As of 2018, how many people worked for Kelpworks?"
    assert parts["P1128"]["answer"] == [{"value": "70", "kind": "quantity"}]
    assert parts["P571"]["answer"] == [{"value": "1990", "kind": "date", "precision": "year"}]
    assert parts["P571"]["question"] == "When was Kelpworks founded?"
    assert parts["P112"]["partial"] is True
    assert set(parts) == {"P1128", "P571", "P112"}
    (fresh,) = rows(tmp_path, "fresh.jsonl")
    (part,) = fresh["individual_qa"]  # type: ignore[misc]
    assert part["question"] == (
        "As of April 2024, who was the chief executive officer of Kelpworks?"
    )
    assert part["answer"] == [{"value": "Bo New"}]
    assert "chief executive (as of April 2024)" in str(fresh["prompt"])
    card = (tmp_path / "out" / "card.md").read_text()
    assert "2024-04-01 (from the name of the dump)" in card
    review = yaml.safe_load((tmp_path / "out" / "aspects.yaml").read_text())
    assert review["domains"]["companies"]["P452"]["why"] == "no value in the sample can be read"


def test_namesakes_get_their_description_or_are_left_out(tmp_path: Path) -> None:
    people = [
        entity(f"Q{n}", "Jo Moor", item("P31", "Q5"), when("P569", f"19{n}-01-02"),
               when("P570", f"20{n}-01-02"), description=told)
        for n, told in ((10, "painter from Dale"), (11, "rower"), (12, ""))
    ]  # fmt: skip
    source = prepared(tmp_path, dump(people))
    built(tmp_path, source)
    assert {row["entity"] for row in rows(tmp_path)} == {
        "Jo Moor (painter from Dale)",
        "Jo Moor (rower)",
    }
    card = json.loads((tmp_path / "out" / "card.json").read_text())
    assert card["left"]["entities whose name is ambiguous"] == 1


def test_the_person_decides_what_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = prepared(tmp_path)
    out = tmp_path / "out"
    words = ["build", str(source), "--domains", str(tmp_path / "domains.yaml"), "--out", str(out)]
    assert cli.execute(words) == 0
    assert "review it" in capsys.readouterr().out
    assert not (out / "questions.jsonl").exists()
    review = yaml.safe_load((out / "aspects.yaml").read_text())
    assert review["domains"]["films"]["P345"]["why"] == "an identifier"
    review["domains"]["films"]["P577"]["keep"] = False
    review["domains"]["films"]["P57"].update(description="maker", question="Who made {entity}?")
    review["reviewed"] = True
    (out / "aspects.yaml").write_text(yaml.safe_dump(review, sort_keys=False))
    assert cli.execute(words) == 0  # again from the source: the person's file stays
    assert "kept as it was" in capsys.readouterr().out
    assert cli.execute(["build", str(out)]) == 0
    told = capsys.readouterr()
    assert "nobody has reviewed" not in told.err
    films = [row for row in rows(tmp_path) if row["domain"] == "films"]
    asked = {p["property_id"] for row in films for p in row["individual_qa"]}  # type: ignore[attr-defined]
    assert asked == {"P57", "P2047"}
    assert "including maker and length" in str(films[0]["prompt"])
    assert "Who made " in films[0]["individual_qa"][0]["question"]  # type: ignore[index]


@tabled
def test_a_wrong_review_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: str, told: str
) -> None:
    built(tmp_path, prepared(tmp_path))
    (tmp_path / "out" / "aspects.yaml").write_text(
        "domains: {}\n" * ("domains" not in change) + change
    )
    assert cli.execute(["build", str(tmp_path / "out")]) == 2
    assert told in capsys.readouterr().err


def test_a_domain_that_the_review_does_not_know_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = prepared(tmp_path)
    (tmp_path / "domains.yaml").write_text("domains: {films: {classes: [Q11424], type: film}}")
    built(tmp_path, source)
    words = ["build", str(source), "--out", str(tmp_path / "out"), "--domains"]
    (tmp_path / "domains.yaml").write_text(DOMAINS)
    assert cli.execute([*words, str(tmp_path / "domains.yaml")]) == 2
    assert "says nothing about the domain 'people'" in capsys.readouterr().err


def test_other_peoples_folders_are_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = prepared(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "questions.jsonl").write_text("mine")
    words = ["build", str(source), "--domains", str(tmp_path / "domains.yaml"), "--no-review"]
    assert cli.execute([*words, "--out", str(tmp_path / "mine")]) == 2
    assert "it contains 'questions.jsonl'" in capsys.readouterr().err
    assert (tmp_path / "mine" / "questions.jsonl").read_text() == "mine"


@tabled
def test_a_wrong_plan_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], plan: str, told: str
) -> None:
    source = prepared(tmp_path)
    (tmp_path / "domains.yaml").write_text(plan)
    assert cli.execute(["build", str(source), "--domains", str(tmp_path / "domains.yaml")]) == 2
    assert told in capsys.readouterr().err
