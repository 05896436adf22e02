"""Building an index: every kind of source, what is told, and updates that touch what changed."""

from __future__ import annotations

import bz2
import fcntl
import gzip
import json
import os
import signal
import sqlite3
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tantivy

from sayso import retrieval
from sayso.records import InputError
from sayso.retrieval import build, index, sources


def rows(number: int, start: int = 0) -> list[dict[str, object]]:
    """Make documents, each with a word of its own."""
    return [
        {"id": n, "title": f"Title {n}", "text": f"About w{n}x and word {n % 7}."}
        for n in range(start, start + number)
    ]


def lines(values: list[dict[str, object]]) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def everything(path: Path) -> list[tuple[str, str]]:
    """Return what an index holds, and check that each passage is found by a word of its own."""
    opened = index.open_tantivy(path)
    searcher = opened.searcher()
    whole, files = index.states_of(opened, path)
    assert whole is not None
    found = []
    for file in files:
        query = tantivy.Query.term_query(opened.schema, index.FILE, file.name, "basic")
        of_file = [msgspec.msgpack.decode(one) for one in index._kept(searcher, query)]
        assert len(of_file) == file.passages
        found += [(title, text) for title, text, *_ in of_file]
    with index.open_index(path) as reader:
        for title, text in found[:20]:
            assert (title, text) in [(p.title, p.text) for p in reader.search(text, 50)]
    return sorted(found)


def told(values: list[dict[str, object]]) -> list[tuple[str, str]]:
    return sorted((str(value["title"]), str(value["text"])) for value in values)


def written(folder: Path, name: str) -> Path:
    """Write the same ten documents in one of the formats."""
    path, values = folder / name, rows(10)
    if name.endswith(".jsonl"):
        path.write_bytes(lines(values))
    elif name.endswith(".gz"):
        path.write_bytes(gzip.compress(lines(values)))
    elif name.endswith(".bz2"):
        path.write_bytes(bz2.compress(lines(values)))
    elif name.endswith(".json"):
        path.write_text(json.dumps(values, indent=1))
    elif name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(values), path)
    elif name.endswith(".tsv"):
        body = [f"{row['id']}\t{row['text']}\t{row['title']}" for row in values]
        path.write_text("\n".join(["id\ttext\ttitle", *body]) + "\n")
    else:
        db = sqlite3.connect(path)
        db.execute("CREATE TABLE documents (title PRIMARY KEY, text)")
        db.executemany("INSERT INTO documents VALUES(:title, '<s>' || :text || '</s>')", values)
        db.commit()
        db.close()
    return path


@pytest.mark.parametrize(
    "name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.bz2", "a.json", "a.parquet", "a.tsv", "a.db"]
)
@pytest.mark.parametrize("number", [0, 2])
def test_every_kind_of_source_gives_the_same_passages(
    name: str, number: int, tmp_path: Path
) -> None:
    info = retrieval.build_index(written(tmp_path, name), tmp_path / "x.index", workers=number)
    assert (info.documents, info.passages, info.skipped, info.added) == (10, 10, 0, 10)
    assert everything(Path(info.path)) == told(rows(10))


def test_a_folder_of_texts_and_files(tmp_path: Path) -> None:
    folder = tmp_path / "source"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "Ada Lovelace.md").write_text("She wrote the first program.")
    (folder / "Bob.txt").write_bytes("\ufeffHe read it.".encode())
    (folder / "more.jsonl").write_bytes(lines(rows(2)))
    (folder / "picture.png").write_bytes(b"\x89PNG")
    (folder / ".hidden.txt").write_text("no")
    (folder / "empty.txt").write_text("")
    info = retrieval.build_index(folder, tmp_path / "x.index")
    assert (info.files, info.documents, info.ignored) == (4, 4, 2)
    assert everything(Path(info.path)) == [
        ("Ada Lovelace", "She wrote the first program."),
        ("Bob", "He read it."),
        *told(rows(2)),
    ]
    with retrieval.open_index(info.path) as index:
        assert index.search("program", title="ada lovelace")[0].source == "deep/Ada Lovelace.md"


def test_an_index_inside_its_source_is_no_part_of_it(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One.")
    for _ in range(2):
        info = retrieval.build_index(tmp_path, tmp_path / "x.index")
        assert (info.files, info.documents) == (1, 1)
    assert (info.seconds, info.ignored) == (0, 2)  # the index, its lock


def test_the_built_in_world() -> None:
    with retrieval.opened("builtin") as index:
        assert index.info.documents == 800
        (first,) = index.search("born on 26 February 1933", 1)
        assert first.title == "Brondemy Ilduna"
        assert first.text.startswith("date of birth of Brondemy Ilduna: 26 February 1933.\n")


@pytest.mark.parametrize("number", [0, 1])
def test_wrong_rows_are_counted_and_named(number: int, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(rows(2)) + b"{broken\n\n" + lines(rows(1, 2)) + b'{"title": "x"}')
    info = retrieval.build_index(path, tmp_path / "x.index", workers=number)
    assert (info.documents, info.skipped) == (3, 2)
    assert info.problems == (
        "a.jsonl line 3: wrong JSON: Expecting property name enclosed in double quotes, column 2",
        "a.jsonl line 6: no column text, contents, content, passage or body",
    )
    assert retrieval.build_index(path, tmp_path / "x.index").problems == info.problems


def test_a_file_that_breaks_off_is_read_up_to_there(tmp_path: Path) -> None:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(lines(rows(20_000)))[:-2000])
    (folder / "b.json").write_text('[{"title": "t", "text": "u"}, {"title": ')
    (folder / "c.parquet").write_bytes(b"PAR1 and nothing more")
    (folder / "d.tsv").write_text("one\ttwo\n1\t2\n")
    (folder / "e.db").write_bytes(b"no database")
    info = retrieval.build_index(folder, tmp_path / "x.index")
    assert 5000 < info.documents < 20_000
    assert info.skipped == 5
    assert [problem.split(" ")[0] for problem in info.problems] == sorted(
        f"{name}" for name in ("a.jsonl.gz", "b.json", "c.parquet", "d.tsv", "e.db")
    )
    assert all("cannot be read from here on" in problem for problem in info.problems)


def test_a_file_in_utf_16_is_named_and_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "a.txt").write_bytes("Bonn is a city.\n".encode("utf-16-le"))
    (folder / "b.jsonl").write_bytes(lines(rows(1)).decode().encode("utf-32"))
    (folder / "c.txt").write_text("Paris is a city.\n")
    info = retrieval.build_index(folder, tmp_path / "x.index")
    assert info.documents == 1
    first, second = info.problems
    assert first.startswith("a.txt line 1")
    assert "UTF-16, not UTF-8" in first
    assert second.startswith("b.jsonl line 1")
    assert "UTF-32, not UTF-8" in second


def test_a_line_without_end_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "LONGEST", 1000)
    monkeypatch.setattr(sources, "SIZE", 100)
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(rows(3)) + b"x" * 5000 + b"\n" + lines(rows(3, 3)))
    info = retrieval.build_index(path, tmp_path / "x.index")
    assert (info.documents, info.skipped) == (6, 1)
    assert info.problems[0].startswith("a.jsonl line 4: a line above")


def test_blocks_keep_their_line_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "SIZE", 200)
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(rows(50)) + b"broken\n" + lines(rows(50, 50)))
    info = retrieval.build_index(path, tmp_path / "x.index", workers=2)
    assert info.documents == 100
    assert info.problems[0].startswith("a.jsonl line 51: wrong JSON")


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet", "a.json", "a.jsonl.gz"])
def test_a_changed_file_is_read_again(name: str, tmp_path: Path) -> None:
    path, place = written(tmp_path, name), tmp_path / "x.index"
    retrieval.build_index(path, place)
    again = retrieval.build_index(path, place)
    assert (again.added, again.removed, again.seconds) == (0, 0, 0)
    values = [*rows(10)[2:], {"title": "Title 3", "text": "Once more."}, rows(1)[0]]
    values[0] = {"title": "Title 2", "text": "Changed."}
    data = {
        "a.jsonl": lines(values),
        "a.jsonl.gz": gzip.compress(lines(values)),
        "a.json": json.dumps(values).encode(),
    }.get(name)
    if data is not None:
        path.write_bytes(data)
    else:
        pq.write_table(pa.Table.from_pylist(values), path)
    info = retrieval.build_index(path, place)
    assert (info.documents, info.added, info.removed) == (10, 10, 10)
    assert everything(place) == told(values)
    clean = retrieval.build_index(path, tmp_path / "y.index")
    for query in ("about word 3", "changed", "w7x"):
        with index.open_index(place) as one, index.open_index(clean.path) as two:
            assert one.search(query, 20) == two.search(query, 20)


def test_a_document_that_is_there_twice_is_found_once(tmp_path: Path) -> None:
    path, place = tmp_path / "a.jsonl", tmp_path / "x.index"
    path.write_bytes(lines(rows(3) + rows(3)))
    assert retrieval.build_index(path, place).documents == 6
    with retrieval.open_index(place) as index:
        assert [passage.title for passage in index.search("w1x")] == ["Title 1"]


def test_files_that_vanish_appear_or_change(tmp_path: Path) -> None:
    folder, place = tmp_path / "source", tmp_path / "x.index"
    folder.mkdir()
    for name, start in (("a", 0), ("b", 10), ("c", 20)):
        (folder / f"{name}.jsonl").write_bytes(lines(rows(5, start)))
    retrieval.build_index(folder, place)
    (folder / "a.jsonl").unlink()
    (folder / "b.jsonl").write_bytes(b"wrong\n" + lines(rows(4, 10)))
    (folder / "d.txt").write_text("New.")
    info = retrieval.build_index(folder, place)
    assert (info.files, info.added, info.removed, info.skipped) == (3, 5, 10, 1)
    values = [*rows(4, 10), *rows(5, 20), {"title": "d", "text": "New."}]
    assert everything(place) == told(values)
    (folder / "b.jsonl").write_bytes(lines(rows(5, 10)))
    assert retrieval.build_index(folder, place).skipped == 0


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda path: None, "does not exist"),
        (lambda path: path.mkdir(), "no file in it ends in"),
        (lambda path: path.with_suffix(".doc").write_text("x"), "does not exist"),
        (lambda path: path.write_text("x"), "expected a file ending in .jsonl"),
    ],
)
def test_sources_that_cannot_be(made, words: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "source"
    made(path)
    with pytest.raises(InputError, match=words):
        retrieval.build_index(path, tmp_path / "x.index")
    assert not (tmp_path / "x.index").exists()


def test_a_source_without_a_passage_is_refused_with_its_first_mistake(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("{}\n[]\n")
    with pytest.raises(InputError, match=r"no passage in it \(first of 2 rows: a.jsonl line 1: no"):
        retrieval.build_index(path, tmp_path / "x.index")
    path.write_bytes(lines(rows(1)))  # mended, the same command works
    assert retrieval.build_index(path, tmp_path / "x.index").documents == 1


def test_an_empty_source_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("")
    with pytest.raises(InputError, match=r"no passage in it$"):
        retrieval.build_index(path, tmp_path / "x.index")


@pytest.mark.parametrize("column", ["topic", "entity", "name"])
@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_what_a_row_is_about_is_its_title(tmp_path: Path, column: str, kind: str) -> None:
    path = tmp_path / f"a.{kind}"
    row = {column: "Mira Toll", "text": "She was born in Orm."}
    if kind == "jsonl":
        path.write_text(json.dumps(row) + "\n")
    else:
        pq.write_table(pa.Table.from_pylist([row]), path)
    retrieval.build_index(path, tmp_path / "x.index")
    with retrieval.open_index(tmp_path / "x.index") as index:
        assert [p.text for p in index.search("born", title="mira toll")] == [row["text"]]


def test_an_index_of_another_kind_is_refused_in_one_line(tmp_path: Path) -> None:
    path, place = written(tmp_path, "a.jsonl"), tmp_path / "x.index"
    other = tmp_path / "other.jsonl"
    other.write_bytes(lines(rows(1)))
    retrieval.build_index(path, place)
    with pytest.raises(InputError, match="belongs to another source"):
        retrieval.build_index(other, place)
    with pytest.raises(InputError, match="built with --tokens 256: use the same"):
        retrieval.build_index(path, place, tokens=64)
    mine = tmp_path / "mine.txt"
    mine.write_bytes(b"not mine, keep it")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "meta.json").write_text("{}")
    for other in (mine, tmp_path / "folder"):
        with pytest.raises(InputError, match="is not an index of sayso"):
            retrieval.build_index(path, other)
        with pytest.raises(InputError, match="is not an index of sayso"):
            index.open_index(other)
    assert mine.read_bytes() == b"not mine, keep it"
    with pytest.raises(InputError, match="does not exist; make it with"):
        index.open_index(tmp_path / "nothing.index")


def test_an_index_of_another_version_is_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, place, old = written(tmp_path, "a.jsonl"), tmp_path / "x.index", tmp_path / "old.sqlite"
    db = sqlite3.connect(old)  # as version 0.2 marks its file
    db.execute(f"PRAGMA application_id={0x73617969}")
    db.execute("CREATE TABLE meta (name, value)")
    db.close()
    for action in (retrieval.opened, index.open_index, lambda p: retrieval.build_index(path, p)):
        with pytest.raises(InputError, match=r"is of sayso 0.2: delete it and run `sayso index"):
            action(old)
    with monkeypatch.context() as patch:
        patch.setattr(build, "IndexState", lambda *of: index.IndexState(*of, version=99))
        retrieval.build_index(path, place)
    for action in (index.open_index, lambda p: retrieval.build_index(path, p)):
        with pytest.raises(InputError, match="has format 99, this sayso reads 2: delete it"):
            action(place)


@pytest.mark.parametrize("name", ["*.term", "*.store"])
def test_a_damaged_index_is_told_in_one_line(name: str, tmp_path: Path) -> None:
    path, place = written(tmp_path, "a.jsonl"), tmp_path / "x.index"
    retrieval.build_index(path, place)
    (file,) = place.glob(name)
    data = file.read_bytes()
    file.write_bytes(data[:200] + b"\xff" * (len(data) - 200))
    with pytest.raises(InputError, match=r"damaged or not an index .*: delete it"):
        index.open_index(place)


def test_an_index_with_other_bytes_inside_is_told_in_one_line(tmp_path: Path) -> None:
    path, place = written(tmp_path, "a.jsonl"), tmp_path / "x.index"
    retrieval.build_index(path, place)
    for file in place.glob("*.store"):
        data = file.read_bytes()
        file.write_bytes(data[:20] + b"\x94" * 40 + data[60:])
    with pytest.raises(InputError, match=r"damaged or not an index .*: delete it"):
        index.open_index(place).search("about word")


@pytest.mark.parametrize("inside", ["mine.txt", ""])
def test_a_folder_of_somebody_else_is_not_taken_for_a_build_that_goes_on(
    inside: str, tmp_path: Path
) -> None:
    path, place = written(tmp_path, "a.jsonl"), tmp_path / "x.index"
    part = index.unfinished_path(place)
    if inside:
        part.mkdir()
        (part / inside).write_text("x")
    else:
        part.write_text("x")
    with pytest.raises(InputError, match=r"part exists and is not an index of sayso"):
        retrieval.build_index(path, place)
    assert not place.exists()


def test_two_builders_do_not_fight(tmp_path: Path) -> None:
    path, place = written(tmp_path, "a.jsonl"), tmp_path / "x.index"
    with (tmp_path / "x.index.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="another process is building"):
            retrieval.build_index(path, place)
    retrieval.build_index(path, place)
    with (tmp_path / "x.index.lock").open("w") as lock:  # nothing to do needs no lock
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert retrieval.build_index(path, place).documents == 10


def killed(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_dies_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "read_block", killed)
    with pytest.raises(InputError, match="a process that reads the source died"):
        retrieval.build_index(written(tmp_path, "a.jsonl"), tmp_path / "x.index", workers=2)


def test_opened_builds_where_needed_and_takes_an_index(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl")
    with retrieval.opened(path, tmp_path / "cache") as index:
        assert index.path.parent == tmp_path / "cache" / "knowledge"
        assert index.info.documents == 10
    path.write_bytes(lines(rows(11)))
    with retrieval.opened(path, tmp_path / "cache") as index:
        assert index.info.documents == 11
        with retrieval.opened(index.path) as same:
            assert same.info == index.info


def test_names_that_are_no_text(tmp_path: Path) -> None:
    folder = tmp_path / "source"
    folder.mkdir()
    try:
        Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.txt")).write_text("Here.")
    except OSError:
        pytest.skip("the file system takes no such names")
    info = retrieval.build_index(folder, tmp_path / "x.index")
    with retrieval.open_index(info.path) as index:
        (passage,) = index.search("here")
    assert (passage.title, passage.source) == (r"caf\xe9", r"caf\xe9.txt")
