"""A growing log: half lines, and going on after a stop, a rotation or a cut."""

from __future__ import annotations

import os
import shutil
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
    for number in (2, 1):
        if (old := place.with_name(f"log.jsonl.{number}")).exists():
            old.rename(place.with_name(f"log.jsonl.{number + 1}"))
    first = place.with_name("log.jsonl.1")
    place.rename(first)
    os.utime(first, (at, at))


def test_all_files_that_were_rotated_away_are_read(place: Path) -> None:
    for name in ("log.jsonl.0", "log.jsonl.json", "log.jsonl-state"):  # older, or no rotated log
        place.with_name(name).write_text("", encoding="utf-8")
        os.utime(place.with_name(name), (5, 5) if name.endswith("0") else None)
    log = GrowingLog(place)
    all_lines(log)
    kept = log.place()
    wanted = []
    for number, text in enumerate((b"three", b"four", b"five")):
        rotate(place, 1000 + number)
        place.write_bytes(text + b"\n")
        wanted.append(text)
        assert all_lines(GrowingLog(place, kept)) == wanted


@pytest.mark.parametrize("begun", ["", "half"])
@pytest.mark.parametrize("how", ["numbers", "dates", "copies", "last one alone"])
def test_nothing_is_lost_after_a_call_that_found_the_new_log_empty(
    place: Path, how: str, begun: str
) -> None:
    log = GrowingLog(place)
    all_lines(log)
    kept, at, wanted = log.place(), place.stat().st_mtime_ns // 10**9, []
    for number, text in enumerate(("three\n", "four\nfive\n", "", "six\n")):
        if how == "dates":
            first = place.rename(place.with_name(f"log.jsonl-2026-11-0{number + 1}"))
            os.utime(first, (at + 10 * number, at + 10 * number))
        else:
            rotate(place, at + 10 * number)
        if how == "copies":  # the program goes on in the file that is emptied
            copy = place.with_name("log.jsonl.1")
            shutil.copy2(copy, place.with_name("copy"))
            copy.rename(place)
            place.with_name("copy").rename(copy)
        if how == "last one alone":  # those before it are compressed
            place.with_name("log.jsonl.2").unlink(missing_ok=True)
        begun = begun and f"half of line {number}"
        place.write_text(begun, "utf-8")
        for more in (wanted, []):  # nothing comes twice
            now = GrowingLog(place, kept)
            assert all_lines(now) == more
            kept = now.place()
        add(place, text)
        wanted = [line.encode() for line in (begun + text).splitlines()]
    again = GrowingLog(place, kept)
    assert all_lines(again) == wanted
    again = GrowingLog(place, again.place())
    assert (all_lines(again), again.place().lines) == ([], 1)


def test_a_file_that_is_gone_is_told_also_after_an_empty_one(place: Path) -> None:
    log = GrowingLog(place)
    all_lines(log)
    rotate(place, 1000)
    place.touch()
    log = GrowingLog(place, log.place())
    all_lines(log)
    kept = log.place()
    add(place, "three\n")
    rotate(place, 2000)
    for name in ("log.jsonl.1", "log.jsonl.2"):
        place.with_name(name).rename(place.with_name(f"{name}.gz"))
    add(place, "four\n")
    with pytest.raises(InputError, match="does not have the lines that were read last"):
        GrowingLog(place, kept)


@pytest.mark.parametrize("new", ["", "a\n", "zzz\nzzzz\nand longer than before\n"])
def test_a_log_without_the_lines_that_were_read_is_refused(place: Path, new: str) -> None:
    log = GrowingLog(place)
    all_lines(log)
    kept = log.place()
    add(place, "three\n")
    old = place.read_text("utf-8")
    with place.open("r+", encoding="utf-8") as file:  # as copytruncate does
        file.truncate()
        file.write(new)
    with pytest.raises(InputError, match="does not have the lines that were read last"):
        GrowingLog(place, kept)
    place.with_name("log.jsonl.1").write_text(old, encoding="utf-8")  # its copy
    again = GrowingLog(place, kept)
    assert all_lines(again) == [b"three", *(line.encode() for line in new.splitlines())]


def test_a_reader_goes_on_where_it_was(place: Path) -> None:
    log = GrowingLog(place)
    all_lines(log)
    kept = log.place()
    add(place, "three\n")
    again = GrowingLog(place, kept)
    assert all_lines(again) == [b"three"]
    assert again.first == 3


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
