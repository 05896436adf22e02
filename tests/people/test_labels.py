"""Labels of people: what they may say, the store that only grows, and files of them."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import msgspec
import pytest

import sayso
from sayso.cli import execute
from sayso.people.corrected import current_corrected
from sayso.people.labels import (
    CODES,
    COLUMNS,
    KINDS,
    SAID,
    TABLES,
    LabelDesign,
    LabeledItem,
    LabelStore,
    LabelStoreError,
    LabelStratum,
    PersonLabel,
    Placed,
    check_annotator,
    label_row,
    merge_labels,
    pair_of,
    read_labels,
    verdict_of_person,
    write_rows,
)
from sayso.protocols.labeled import pair_target
from sayso.records import InputError, Verdict
from sayso.storage.run_folder import CORRECTED, LABELS, has_labels_file
from support.label_runs import answers_run, as_judge, label_run
from support.tables import tabled


def symlink(place: Path) -> None:
    place.symlink_to("nowhere")


def item(number: int, kind: str = "answer", stage: str = "short") -> LabeledItem:
    return LabeledItem(kind, stage, f"g{number}", f"q{number}")  # type: ignore[arg-type]


def label(
    number: int, stance: str = "hedged", annotator: str = "Ada", **more: object
) -> PersonLabel:
    one = item(number)
    said = {"stance": stance, "content": "correct" if stance == "committed" else ""}
    verdict = verdict_of_person(one, annotator, said)
    return PersonLabel(verdict, one.kind, one.stage, time="2026-01-01T00:00:00+00:00", **more)


def design(sizes: dict[str, int], shared: int = 0) -> tuple[LabelDesign, list[Placed]]:
    total = sum(sizes.values())
    strata = tuple(LabelStratum(name, size, size / total) for name, size in sizes.items())
    places = [name for name, size in sizes.items() for _ in range(size)]
    drawn = LabelDesign("d1", "answer", "stratified", 0, shared, total, "hash", strata)
    return drawn, [Placed(item(number), name) for number, name in enumerate(places)]


# ---- what a label may say


def test_a_label_is_a_verdict_on_the_same_target_as_the_judges() -> None:
    given = verdict_of_person(item(1), " Ada  L. ", {"stance": "committed", "content": "incorrect"})
    assert given == Verdict("g1", "q1", "person:Ada L.", stance="committed", content="incorrect")
    assert given.value == "incorrect"
    # without a gold nobody can say what is right: no value, rather than a wrong one
    assert verdict_of_person(item(1), "Ada", {"stance": "committed"}).value is None
    assert verdict_of_person(item(1), "Ada", {"stance": "abstained"}).value == "uncertain"
    claim = item(1, "claim", "long-support")
    assert verdict_of_person(claim, "Ada", {"label": "not supported"}).label == "NS"
    sure = verdict_of_person(item(1, "sureness"), "Ada", {"number": "0.7"})
    assert (sure.label, sure.number) == ("assertion", 0.7)
    skipped = verdict_of_person(item(1), "Ada", {"skipped": "unreadable"})
    assert skipped == Verdict("g1", "q1", "person:Ada", problem="skipped")


@tabled
def test_a_label_that_says_nothing_known_is_refused(
    kind: str, said: dict[str, object], expected: str
) -> None:
    with pytest.raises(InputError, match=r"expected|empty") as error:
        verdict_of_person(item(1, kind), "Ada", said)
    assert expected in str(error.value)


@pytest.mark.parametrize("name", ["", " ", "a:b", "x" * 81, "<b>", "../up", "-Ada", "a\u202eb"])
def test_no_names_of_annotators(name: str) -> None:
    with pytest.raises(InputError, match="expected a name"):
        check_annotator(name)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("प्रिया", "प्\u200dरिया"),
        ("نرگس\u200cخانم", "نرگسخانم"),
        ("Nguyễn Thị", "NGUYE\u0302\u0303N THI\u0323"),
        ("வேல்", "வேல்"),
        ("'t Hooft", "\u2019T HOOFT"),
        ("Zoë", "ZOE\u0308"),
        ("İpek Işık", "IPEK ışık"),
        ("Straße", "STRASSE"),
        ("שרה ז״ל", "שרה ז״ל"),
        ("King, Jr. (2)", "king, jr. (2)"),
    ],
)
def test_any_name_that_people_have_is_one_person_however_it_is_typed(name: str, other: str) -> None:
    known = check_annotator(name)
    assert check_annotator(known) == known
    assert check_annotator(other, [known]) == known
    assert check_annotator("  Zoë  O'Brien-Žižka ") == "Zoë O'Brien-Žižka"
    assert check_annotator("Ada", ["Adam"]) == "Ada"


def test_a_pair_names_an_assertion_and_a_sample() -> None:
    assert pair_of(pair_target("g1#0", 12)) == ("g1#0", 12)
    with pytest.raises(InputError, match="names no pair"):
        pair_of("g1#0")


# ---- the store


def test_the_last_label_counts_and_every_event_is_stored_once(tmp_path: Path) -> None:
    with LabelStore.open(tmp_path) as store:
        assert store.add(label(1), "first")
        assert not store.add(label(1, "committed"), "first")  # sent twice: a double click
        assert store.add(label(1, "committed"), "second")
        assert store.add(label(1, "abstained", "Bo"), "third")
        assert [(one.annotator, one.verdict.stance) for one in store.labels()] == [
            ("Ada", "committed"),
            ("Bo", "abstained"),
        ]
        assert store.withdraw(item(1), "Ada", "fourth")
        assert not store.withdraw(item(1), "Ada", "fourth")
        assert [one.annotator for one in store.labels()] == ["Bo"]
        assert store.labels("claim") == store.labels(annotator="Ada") == []
        assert store.annotators() == ["Ada", "Bo"]
    with sqlite3.connect(tmp_path / LABELS) as db:
        assert db.execute("SELECT count(*) FROM events").fetchone() == (4,)


def test_probabilities_are_of_the_items_that_were_labeled_so_far(tmp_path: Path) -> None:
    drawn, places = design({"sure": 10, "unsure": 4})
    with LabelStore.open(tmp_path) as store:
        store.put_design(drawn, places)
        store.put_design(drawn, [])  # there already
        assert store.places("d1") == places
        assert store.designs("answer") == [drawn]
        assert store.designs("claim") == []
        for number in (0, 1, 10):
            store.add(label(number, design="d1"))
        store.add(label(0, "committed", "Bo", design="d1"))  # the same item by another person
        skip = verdict_of_person(item(2), "Ada", {"skipped": "?"})
        store.add(PersonLabel(skip, "answer", "short", design="d1", skipped="?"))
        store.add(label(99, stratum="elsewhere", probability=0.5, design="of another run"))
        told = {one.verdict.target + one.annotator: one for one in store.labels()}
    assert told["g0Ada"].probability == told["g0Bo"].probability == told["g1Ada"].probability == 0.2
    assert (told["g10Ada"].stratum, told["g10Ada"].probability) == ("unsure", 0.25)
    assert (told["g2Ada"].stratum, told["g2Ada"].probability) == ("sure", None)
    assert (told["g99Ada"].stratum, told["g99Ada"].probability) == ("elsewhere", 0.5)


def test_items_that_were_passed_over_are_counted(tmp_path: Path) -> None:
    drawn, places = design({"a": 6, "b": 6}, shared=2)
    with LabelStore.open(tmp_path) as store:
        store.put_design(drawn, places)
        store.assign(drawn, "Ada", 6)
        store.assign(drawn, "Bo", 6)
        assert [*map(len, store.left_out("short"))] == [0, 0]
        # Ada leaves out 0, 1 and 4, and skips 3; she stops at 5
        for number in (2, 5):
            store.add(label(number, design="d1"))
        skipped = msgspec.structs.replace(
            label(3, design="d1"), skipped="hard", verdict=Verdict("g3", "q3", "person:Ada")
        )
        store.add(skipped)
        assert [*map(len, store.left_out("short"))] == [1, 3]
        # what Bo labels of it is labeled, and he stops at the first of his own items
        store.add(label(0, annotator="Bo", design="d1"))
        store.add(label(1, annotator="Bo", design="d1"))
        assert [*map(len, store.left_out("short"))] == [1, 1]
        assert [*map(len, store.left_out("long"))] == [0, 0]


def test_everybody_gets_the_shared_items_and_others_of_their_own(tmp_path: Path) -> None:
    drawn, places = design({"a": 20}, shared=3)
    with LabelStore.open(tmp_path) as store:
        store.put_design(drawn, places)
        assert store.assign(drawn, "Ada", 8) == [0, 1, 2, 3, 4, 5, 6, 7]
        assert store.assign(drawn, "Bo", 6) == [0, 1, 2, 8, 9, 10]
        assert store.assign(drawn, "Ada", 8) == store.assigned("d1", "Ada")  # the same again
        assert store.assign(drawn, "Ada", 10)[-2:] == [11, 12]
        assert store.assign(drawn, "Cy", 10) == [0, 1, 2, *range(13, 20)]
        # more shared items later: who has not got them gets them
        more = msgspec.structs.replace(drawn, shared=5)
        assert store.assign(more, "Bo", 8) == [0, 1, 2, 3, 4, 8, 9, 10]


def test_places_that_nobody_labeled_go_to_who_lacks_some(tmp_path: Path) -> None:
    drawn, places = design({"a": 20}, shared=2)
    with LabelStore.open(tmp_path) as store:
        store.put_design(drawn, places)
        assert store.assign(drawn, "Adda", 8) == list(range(8))  # mistyped
        assert store.assign(drawn, "Ada", 8) == [0, 1, *range(8, 14)]
        for place in (8, 13):
            store.add(label(place))
        assert store.assign(drawn, "Bo", 8) == [0, 1, *range(14, 20)]  # the free ones are enough
        assert store.assign(drawn, "Bo", 11) == [0, 1, 2, 3, 4, *range(14, 20)]
        # then those that Ada comes to last, and never one that has a label
        assert store.assign(drawn, "Bo", 16) == [0, 1, *range(2, 8), 11, 12, *range(14, 20)]
        assert store.assign(drawn, "Bo", 99) == [p for p in range(20) if p not in (8, 13)]
        # what others had they keep: nobody loses an item that they look at
        assert store.assigned("d1", "Ada") == [0, 1, *range(8, 14)]
        assert store.assigned("d1", "Adda") == list(range(8))
        assert store.holders("d1")[9] == {"Ada", "Bo"}


def test_many_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    drawn, places = design({"a": 200})
    with LabelStore.open(tmp_path) as store:
        store.put_design(drawn, places)
    mine: dict[str, list[int]] = {}

    def work(annotator: str) -> None:
        with LabelStore.open(tmp_path) as own:
            mine[annotator] = own.assign(drawn, annotator, 30)
            for number in mine[annotator]:
                own.add(label(number, annotator=annotator), f"{annotator}{number}")
                own.add(label(number, annotator=annotator), f"{annotator}{number}")

    threads = [threading.Thread(target=work, args=(name,)) for name in ("Ada", "Bo", "Cy")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(place for some in mine.values() for place in some) == list(range(90))
    with LabelStore.open(tmp_path) as store:
        assert len(store.labels()) == 90


# ---- somebody else's folder


def test_links_and_files_of_others_are_refused(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    run = tmp_path / "run"
    run.mkdir()
    (run / LABELS).symlink_to(victim)
    with pytest.raises(InputError, match="symbolic link"):
        LabelStore.open(run)
    (run / LABELS).unlink()
    (run / f"{LABELS}-wal").symlink_to(victim)
    with pytest.raises(InputError, match="symbolic link"):
        LabelStore.open(run)
    (run / f"{LABELS}-wal").unlink()
    (run / LABELS).write_bytes(b"no database at all, however long it may be" * 40)
    with pytest.raises(InputError, match="damaged"):
        LabelStore.open(run)
    assert victim.read_text() == "mine"


def test_a_trigger_or_another_table_is_refused(tmp_path: Path) -> None:
    LabelStore.open(tmp_path).close()
    with sqlite3.connect(tmp_path / LABELS) as db:
        db.execute("CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM events; END")
    with pytest.raises(InputError, match="not a file of labels that sayso wrote"):
        LabelStore.open(tmp_path)


@pytest.mark.parametrize("name", sorted(TABLES))
def test_a_trigger_may_not_hide_behind_the_name_of_a_table(tmp_path: Path, name: str) -> None:
    drawn, places = design({"a": 3})
    with LabelStore.open(tmp_path) as store:
        store.put_design(drawn, places)
    with sqlite3.connect(tmp_path / LABELS) as db:
        db.execute(f"CREATE TRIGGER {name} AFTER INSERT ON assigned BEGIN DELETE FROM designs; END")
    for way in (LabelStore.open, LabelStore.read):
        with pytest.raises(InputError, match="not a file of labels that sayso wrote"):
            way(tmp_path)


@pytest.mark.parametrize("writable", [True, False])
def test_labels_are_read_where_nothing_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writable: bool
) -> None:
    drawn, places = design({"a": 3})
    with LabelStore.open(tmp_path) as store:
        store.put_design(drawn, places)
        store.add(label(1, design="d1"))
    before = (tmp_path / LABELS).read_bytes()
    monkeypatch.setattr(os, "access", lambda place, mode: writable)
    with LabelStore.read(tmp_path) as store:
        assert [one.probability for one in store.labels()] == [pytest.approx(1 / 3)]
        assert store.designs() == [drawn]
        beside = sorted(one.name for one in tmp_path.iterdir())
        assert writable or beside == [LABELS]  # a file beside it could not be made
        with pytest.raises(LabelStoreError, match="cannot read or write"):
            store.add(label(2))
    assert (tmp_path / LABELS).read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == [LABELS]
    # what a page stored is in the file itself, so in a copy of it, also of a file with a log
    with contextlib.closing(sqlite3.connect(tmp_path / LABELS)) as db:
        db.execute("PRAGMA journal_mode=WAL")
    with LabelStore.open(tmp_path) as page:
        page.add(label(2))
        (tmp_path / "copy").mkdir()
        shutil.copy(tmp_path / LABELS, tmp_path / "copy")
        for run in (tmp_path, tmp_path / "copy"):
            with LabelStore.read(run) as store:
                assert len(store.labels()) == 2


@pytest.mark.parametrize("make", [Path.touch, Path.mkdir, os.mkfifo, symlink])
@pytest.mark.parametrize("command", ["label", "agreement", "measure", "report", "assert", "study"])
def test_what_is_no_file_of_labels_is_not_taken_for_none(
    tmp_path: Path, command: str, make: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    run = answers_run(tmp_path / "run", 20)
    sayso.measure(run)
    make(run / LABELS)
    more = {"assert": ["FA[short] <= .9"], "label": ["--export", "a.csv"]}
    if command == "study":
        with pytest.raises(InputError, match=LABELS):
            current_corrected(run)
        return
    assert execute([command, str(run), *more.get(command, [])]) == 2
    told = capsys.readouterr().err
    assert LABELS in told
    assert "Traceback" not in told
    if make is Path.touch:  # of a server that was killed as it began
        LabelStore.open(run).close()
        assert has_labels_file(run)


def test_a_disk_that_fails_does_not_make_labels_damaged(tmp_path: Path) -> None:
    """The advice on a damaged file, to move it away, would cost the labels."""
    with LabelStore.open(tmp_path) as store:
        store.add(label(1))
        journal = tmp_path / f"{LABELS}-journal"
        journal.mkdir()
        with pytest.raises(LabelStoreError, match="cannot read or write") as error:
            store.add(label(2))
        assert "move it away" not in str(error.value)
        journal.rmdir()
        assert store.add(label(2))


def test_a_full_disk_is_one_line_and_the_store_goes_on(tmp_path: Path) -> None:
    with LabelStore.open(tmp_path) as store:
        pages = store._db.execute("PRAGMA page_count").fetchone()[0]
        store._db.execute(f"PRAGMA max_page_count={pages}")
        with pytest.raises(LabelStoreError, match=r"cannot read or write .* full"):
            store.add_all([label(number, design="x" * 400) for number in range(500)])
        assert store.labels() == []
        store._db.execute(f"PRAGMA max_page_count={pages + 100}")
        assert store.add(label(1))


@pytest.mark.parametrize(
    "stored",
    [b"[" * 5000, b"{}", b"\xff\xfe", b'{"verdict":1}', 7, b'{"kind":"other"}'],
    ids=repr,
)
def test_a_label_that_is_none_is_one_line(tmp_path: Path, stored: object) -> None:
    with LabelStore.open(tmp_path) as store:
        store.add(label(1))
    with sqlite3.connect(tmp_path / LABELS) as db:
        db.execute("UPDATE events SET label=?", (stored,))
    with LabelStore.open(tmp_path) as store, pytest.raises(InputError, match="damaged"):
        store.labels()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE places SET target=x'07'",
        "UPDATE places SET stratum=x'00ff'",
        "UPDATE places SET kind='other'",
    ],
)
def test_a_place_that_names_no_item_is_one_line(tmp_path: Path, change: str) -> None:
    drawn, places = design({"a": 3})
    with LabelStore.open(tmp_path) as store:
        store.put_design(drawn, places)
    with sqlite3.connect(tmp_path / LABELS) as db:
        db.execute(change)
    with LabelStore.open(tmp_path) as store:
        for ask in (lambda: store.places("d1"), store.labels):
            with pytest.raises(InputError, match="damaged"):
                ask()


def test_places_that_do_not_exist_are_nobodys(tmp_path: Path) -> None:
    drawn, places = design({"a": 3})
    with LabelStore.open(tmp_path) as store:
        store.put_design(drawn, places)
        store.assign(drawn, "Ada", 2)
    with sqlite3.connect(tmp_path / LABELS) as db:
        db.executemany("INSERT INTO assigned VALUES ('d1','Ada',?)", [(-4,), (10**9,), ("x",)])
    with LabelStore.open(tmp_path) as store:
        assert store.assigned("d1", "Ada") == [0, 1]
        assert store.assign(drawn, "Ada", 3) == [0, 1, 2]


def test_a_file_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    LabelStore.open(tmp_path).close()
    with sqlite3.connect(tmp_path / LABELS) as db:
        db.execute("PRAGMA user_version=9")
    with pytest.raises(InputError, match="newer sayso"):
        LabelStore.open(tmp_path)


# ---- files


def every_kind() -> list[PersonLabel]:
    said = {
        "answer": {"stance": "committed", "content": "correct"},
        "aspect": {"stance": "omitted"},
        "claim": {"label": "IR"},
        "pair": {"label": "c"},
        "sureness": {"number": 0.35},
    }
    labels = []
    for number, kind in enumerate(KINDS):
        one = item(number, kind)
        verdict = verdict_of_person(one, "Ada", said[kind])
        labels.append(
            PersonLabel(
                verdict, kind, one.stage, "known, right", 0.25, "d1", 4.5,
                time="2026-01-01T00:00:00+00:00",
            )
        )  # fmt: skip
    skip = verdict_of_person(item(9), "Ada", {"skipped": "=1+1"})
    return [*labels, PersonLabel(skip, "answer", "short", skipped="=1+1", time=labels[0].time)]


@pytest.mark.parametrize("ending", ["jsonl", "csv", "tsv"])
def test_labels_come_back_from_a_file_as_they_were(tmp_path: Path, ending: str) -> None:
    place = tmp_path / f"labels.{ending}"
    labels = every_kind()
    assert write_rows(map(label_row, labels), COLUMNS, place, flag="--export") == 6
    read = read_labels(place)
    assert (read.labels, read.empty) == (labels, [])
    # no file that holds anything is replaced without a word
    with pytest.raises(InputError, match="exists and may hold labels"):
        write_rows([], COLUMNS, place, flag="--export")
    write_rows(map(label_row, labels), COLUMNS, place, flag="--export", force=True)
    place.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="was not written by sayso label"):
        write_rows([], COLUMNS, place, flag="--export")


def test_a_cell_of_a_file_runs_in_no_spreadsheet(tmp_path: Path) -> None:
    place = tmp_path / "labels.csv"
    write_rows(map(label_row, every_kind()), COLUMNS, place, flag="--export")
    with place.open(newline="") as lines:
        assert [row["skipped"] for row in csv.DictReader(lines)][-1] == "'=1+1"


def test_importing_twice_adds_nothing_and_the_later_label_counts(tmp_path: Path) -> None:
    drawn, places = design({"a": 20})
    with LabelStore.open(tmp_path) as store:
        store.put_design(drawn, places)
        store.assign(drawn, "Ada", 3)
        first = [label(1), label(19)]
        assert merge_labels(store, first) == (2, 0)
        assert merge_labels(store, first) == (0, 0)
        # drawn for Ada, or named by herself: only the first has a known probability
        assert [one.probability for one in store.labels()] == [0.05, None]
        later = msgspec.structs.replace(label(1, "abstained"), time="2026-02-01T00:00:00+00:00")
        assert merge_labels(store, [later]) == (1, 0)
        assert merge_labels(store, [label(1)]) == (0, 1)
        assert store.labels()[-1].verdict.stance == "abstained"


def test_the_order_of_imports_moves_no_probability(tmp_path: Path) -> None:
    """A later export has larger probabilities, also of labels that an earlier one had."""

    def drawn(n: int, chance: float | None, stratum: str = "a") -> PersonLabel:
        design = "d" if chance else ""
        draw = {"stratum": stratum if chance else "", "probability": chance, "design": design}
        return msgspec.structs.replace(label(n), **draw)

    early = [drawn(1, 0.25), drawn(2, 0.5, "b")]
    late = [drawn(1, 0.5), drawn(3, 0.5), drawn(2, 0.5, "b")]
    sheet = [drawn(2, None)]  # which does not say how its items were drawn
    chances = {}
    for turn, files in enumerate(permutations([early, late, sheet, late])):
        (tmp_path / f"{turn}").mkdir()
        with LabelStore.open(tmp_path / f"{turn}") as store:
            for file in files:
                merge_labels(store, file)
            chances[turn] = {one.item: (one.stratum, one.probability) for one in store.labels()}
    assert [*chances.values()] == [
        {item(1): ("a", 0.5), item(3): ("a", 0.5), item(2): ("b", 0.5)}
    ] * len(chances)


def test_a_label_that_was_taken_back_can_be_imported_again(tmp_path: Path) -> None:
    with LabelStore.open(tmp_path) as store:
        for turn in range(3):
            assert merge_labels(store, [label(1)]) == (1, 0)
            assert merge_labels(store, [label(1)]) == (0, 0)
            assert store.labels() == [label(1)]
            assert store.withdraw(item(1), "Ada", f"undo {turn}")
            assert store.labels() == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"kind": "tweet"}, "line 2: kind is 'tweet': expected one of answer"),
        ({"target": ""}, "line 2: it names no item"),
        ({"asked": "x" * 401}, "line 2: it names no item"),
        ({"stance": "maybe"}, "line 2: stance is 'maybe'"),
        ({"skipped": "a note"}, "line 2: it has stance, but skipped is 'a note'"),
        ({"probability": "2"}, "line 2: probability is '2'"),
        ({"probability": "1e-300"}, "line 2: probability is '1e-300'"),
        ({"time": "noon"}, "line 2: time is 'noon'"),
        ({"time": "0001-01-01T00:00:00+14:00"}, "line 2: time is '0001-01-01"),
        ({"time": "9999-12-31T23:59:59-12:00"}, "line 2: time is '9999-12-31"),
        ({"time": "9998-01-01T00:00:00Z"}, "expected a time that has passed"),
        ({"annotator": ""}, "line 2: it names no annotator"),
        ({"annotator": "a:b"}, "line 2: annotator 'a:b'"),
    ],
)
def test_a_wrong_row_is_one_line(tmp_path: Path, change: dict[str, str], expected: str) -> None:
    row = {name: "" if v is None else str(v) for name, v in label_row(label(1)).items()}
    place = tmp_path / "labels.csv"
    with place.open("w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        table.writerow(row | change)
    with pytest.raises(InputError) as error:
        read_labels(place)
    assert expected in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_without_a_label_is_refused(tmp_path: Path) -> None:
    """Nobody filled it in, its columns are called otherwise, or its name has another ending."""
    row = {name: "" if v is None else str(v) for name, v in label_row(label(1)).items()}
    bare = row | dict.fromkeys(SAID, "")
    renamed = {{"stance": "how", "content": "right"}.get(k, k): v for k, v in row.items()}
    for name, cells, told in (
        ("sheet.csv", bare, "none of its 2 rows has a label"),
        ("renamed.csv", renamed, "annotator | kind | stage | target | asked | how | right |"),
        ("commas.tsv", row, "it has annotator,kind,stage,target,asked,stance,"),
    ):
        place = tmp_path / name
        lines = [list(cells), *[list(cells.values())] * 2]
        place.write_text("".join(",".join(one) + "\n" for one in lines))
        with pytest.raises(InputError) as error:
            read_labels(place)
        message = str(error.value)
        assert told in message
        assert "expected stance, content, label, number or skipped" in message
        assert "\n" not in message


def test_rows_without_a_label_are_counted_and_two_labels_refused(tmp_path: Path) -> None:
    place = tmp_path / "labels.jsonl"
    rows = [label_row(label(1)), label_row(label(2)) | {"stance": None, "content": ""}]
    place.write_text("".join(json.dumps(row) + "\n" for row in rows))
    read = read_labels(place)
    assert (len(read.labels), read.empty) == (1, [2])
    rows.append(label_row(label(1, "abstained")))
    # that one person is written in two ways does not make two of them
    for name in ("Ada", "ADA", "\u0410da"):
        rows[2]["annotator"] = name
        place.write_text("".join(json.dumps(row) + "\n" for row in rows))
        with pytest.raises(InputError, match="line 3: the same item has another label"):
            read_labels(place)
    rows[2]["annotator"] = "Bo"
    place.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert [one.annotator for one in read_labels(place, known=["BO"]).labels] == ["Ada", "BO"]


@pytest.mark.parametrize(
    "make", [Path.mkdir, os.mkfifo, lambda place: place.symlink_to("/dev/zero")]
)
def test_only_files_are_imported(tmp_path: Path, make: Callable[[Path], None]) -> None:
    """A pipe would be waited for, and a device read without end."""
    make(place := tmp_path / "labels.csv")
    with pytest.raises(InputError, match="expected a file of labels"):
        read_labels(place)


def test_codes_have_words() -> None:
    assert all(len(set(words.values())) == len(words) for words in CODES.values())


def test_a_label_whose_old_numbers_cannot_be_deleted_is_not_stored(tmp_path: Path) -> None:
    """Else the error would tell of a label that is there, and the old numbers would stay."""
    run = answers_run(tmp_path / "run", 20)
    label_run(run, "A", as_judge, n=10)
    (run / f"{CORRECTED}.parquet").mkdir()
    with LabelStore.open(run) as store:
        one, before = store.labels()[0], store.names("A")
        design = store.designs()[0]
        store.assign(design, "B", 2)  # no label: nothing to delete
        with pytest.raises(InputError):
            store.add(msgspec.structs.replace(one, seconds=99.0))
        assert store.names("A") == before
