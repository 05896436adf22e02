"""A growing log: half lines, and going on after a stop, a rotation or a cut."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sayso.guard import growing
from sayso.guard.growing import GrowingLog
from sayso.records import InputError


def add(place: Path, text: str) -> None:
    with place.open("a", encoding="utf-8") as file:
        file.write(text)


def all_lines(log: GrowingLog) -> list[bytes | None]:
    found = []
    while lines := log.lines():
        found += lines
    return found


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_text("one\ntwo\n", encoding="utf-8")
    return path


def test_a_line_counts_when_its_end_is_there(place: Path) -> None:
    add(place, "thr")
    log = GrowingLog(place)
    assert all_lines(log) == [b"one", b"two"]
    assert log.ended
    assert log.rest == b"thr"
    kept = log.place()
    assert kept.offset == 8
    add(place, "ee\nfour\n")
    assert log.lines() == []  # the call has ended
    again = GrowingLog(place, kept)
    assert all_lines(again) == [b"three", b"four"]
    assert (again.first, again.place().lines, again.place().offset) == (3, 4, 19)


def rotate(place: Path, at: int) -> None:
    """Rename as logrotate does, and set when each file was written last."""
    first, second = place.with_name("log.jsonl.1"), place.with_name("log.jsonl.2")
    if first.exists():
        first.rename(second)
    place.rename(first)
    os.utime(first, (at, at))


def test_a_file_that_was_rotated_away_unread_is_named(place: Path) -> None:
    for name in ("log.jsonl.0", "log.jsonl.json", "log.jsonl-state"):  # older, or no rotated log
        place.with_name(name).write_text("", encoding="utf-8")
        os.utime(place.with_name(name), (5, 5) if name.endswith("0") else None)
    log = GrowingLog(place)
    all_lines(log)
    kept = log.place()
    rotate(place, 1000)
    place.write_text("three\n", encoding="utf-8")
    again = GrowingLog(place, kept)  # one rotation: nothing is lost
    assert all_lines(again) == [b"three"]
    assert not again.notices
    rotate(place, 2000)
    place.write_text("four\n", encoding="utf-8")
    again = GrowingLog(place, kept)
    assert all_lines(again) == [b"four"]
    (told,) = again.notices
    assert "log.jsonl.1 was not read" in told


@pytest.mark.parametrize("new", ["a\n", "zzz\nzzzz\nand longer than before\n"])
def test_a_file_that_is_cut_is_read_from_its_beginning(place: Path, new: str) -> None:
    log = GrowingLog(place)
    all_lines(log)
    kept = log.place()
    with place.open("r+", encoding="utf-8") as file:  # as copytruncate does
        file.truncate()
        file.write(new)
    again = GrowingLog(place, kept)
    assert all_lines(again) == [line.encode() for line in new.splitlines()]
    assert "beginning" in again.notices[0]


def test_a_reader_goes_on_where_it_was(place: Path) -> None:
    log = GrowingLog(place)
    all_lines(log)
    kept = log.place()
    add(place, "three\n")
    again = GrowingLog(place, kept)
    assert all_lines(again) == [b"three"]
    assert again.first == 3
    assert not again.notices


def test_a_reader_finds_the_file_that_was_rotated_in_between(place: Path) -> None:
    log = GrowingLog(place)
    all_lines(log)
    kept = log.place()
    add(place, "three\nfo")
    place.rename(place.with_name("log.jsonl.1"))
    place.write_text("five\n", encoding="utf-8")
    again = GrowingLog(place, kept)
    assert again.lines() == [b"three"]
    middle = again.place()  # a stop before the new file is read
    assert all_lines(again) == [b"fo", b"five"]  # nobody will end the line
    assert all_lines(GrowingLog(place, middle)) == [b"fo", b"five"]
    assert again.first == 1


def test_a_reader_says_that_the_file_is_another_one(place: Path) -> None:
    log = GrowingLog(place)
    all_lines(log)
    kept = log.place()
    place.unlink()
    place.write_text("four\nfive\nsix\n", encoding="utf-8")
    again = GrowingLog(place, kept)
    assert all_lines(again) == [b"four", b"five", b"six"]
    assert "beginning" in again.notices[0]


def test_a_huge_line_is_not_held(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing, "LONGEST_LINE", 1000)
    monkeypatch.setattr(growing, "PIECE", 300)
    add(place, "x" * 5000)
    log = GrowingLog(place)
    assert all_lines(log) == [b"one", b"two"]
    assert len(log.rest) <= 1300
    add(place, "x\nthree\n")
    again = GrowingLog(place, log.place())
    assert all_lines(again) == [None, b"three"]
    assert again.place().offset == place.stat().st_size
    assert again.place().lines == 4


def test_what_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl.gz").write_bytes(b"")
    for name, words in (
        ("none.jsonl", "does not exist"),
        ("", "is a folder"),
        ("log.jsonl.gz", "compressed"),
    ):
        with pytest.raises(InputError, match=words):
            GrowingLog(tmp_path / name)
