"""Parts of a dump: unpacked, cut into lines, entered again at any place."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.records import InputError
from sayso.wikidata import unpack
from sayso.wikidata.unpack import LinePlace, find_parts, read_dump_lines

zstandard = pytest.importorskip("zstandard")
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".zst": zstandard.compress,
}


def write(folder: Path, data: bytes, ending: str, streams: int = 1) -> Path:
    path = folder / f"dump.json{ending}"
    step = len(data) // streams + 1
    parts = [data[i : i + step] for i in range(0, max(len(data), 1), step)]
    path.write_bytes(b"".join(PACKERS[ending](part) for part in parts))
    return path


def everything(path: Path, start: LinePlace | None = None) -> list[tuple[int, bytes | str]]:
    (part,) = find_parts(path)
    found: list[tuple[int, bytes | str]] = []
    for lines in read_dump_lines(part, start):
        found += list(enumerate(lines.data(), lines.first))
        if lines.problem:
            found.append((lines.first, lines.problem))
    return found


def test_one_part_in_two_packings_is_refused(tmp_path: Path) -> None:
    for name in ("a.json.0.json", "a.json.1.json", "b.json.gz"):
        (tmp_path / name).write_bytes(b"")
    assert [part.name for part in find_parts(tmp_path)] == sorted(
        ["a.json.0.json", "a.json.1.json", "b.json.gz"]
    )
    (tmp_path / "b.json.bz2").write_bytes(b"")
    with pytest.raises(InputError, match=r"contains b.json.bz2 and b.json.gz; keep one"):
        find_parts(tmp_path)


@pytest.mark.parametrize("ending", PACKERS)
@pytest.mark.parametrize("streams", [1, 3])
@given(lines=st.lists(st.binary(max_size=40).filter(lambda b: b"\n" not in b), max_size=30))
@settings(max_examples=30, deadline=None)
def test_lines_are_those_of_the_text_from_every_place(
    tmp_path_factory: pytest.TempPathFactory, ending: str, streams: int, lines: list[bytes]
) -> None:
    folder = tmp_path_factory.mktemp("dump")
    text = b"\n".join(lines)
    path = write(folder, text, ending, streams)
    # the last line counts only if there is something in it
    split = text.split(b"\n")
    expected = [(n, d.strip().removesuffix(b",").rstrip()) for n, d in enumerate(split, 1)]
    if not split[-1]:
        expected.pop()
    patch = pytest.MonkeyPatch()
    for size, block in ((1 << 16, 1 << 20), (5, 7)):
        patch.setattr(unpack, "SIZE", size)
        patch.setattr(unpack, "BLOCK", block)
        assert everything(path) == expected
        (part,) = find_parts(path)
        for given_lines in read_dump_lines(part):
            after = given_lines.after
            rest = [pair for pair in expected if pair[0] >= after.line]
            assert everything(path, after) == rest, after
    patch.undo()


@pytest.mark.parametrize("ending", PACKERS)
def test_a_line_that_is_too_long_is_told_and_the_next_one_read(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpack, "LONGEST", 3_000_000)
    text = b"a\n" + b"x" * 3_500_000 + b"\nb\n" + b"y" * 3_000_000 + b"\n" + b"z" * 3_000_001
    found = everything(write(tmp_path, text, ending))
    assert [(n, d if isinstance(d, str) else d[:3]) for n, d in found] == [
        (1, b"a"),
        (2, "is 3,500,000 bytes long, above 3,000,000: not read"),
        (3, b"b"),
        (4, b"yyy"),
        (5, "is 3,000,001 bytes long, above 3,000,000: not read"),
    ]


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".zst"])
def test_an_archive_that_breaks_off_is_read_up_to_there(tmp_path: Path, ending: str) -> None:
    text = b"".join(b"line %d %d\n" % (n, n * 7919 % 10007) for n in range(50_000))
    path = write(tmp_path, text, ending, streams=4)
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 3 // 5])
    found = everything(path)
    number, told = found[-1]
    assert isinstance(told, str)
    assert "dump.json" in told
    assert "cannot be read from here on" in told
    assert 10_000 < number == len(found)
    assert [d for _, d in found[:-1]] == text.split(b"\n")[: number - 1]


def test_bytes_that_are_no_archive_are_told(tmp_path: Path) -> None:
    path = tmp_path / "dump.json.gz"
    path.write_bytes(b"not packed at all")
    ((number, told),) = everything(path)
    assert number == 1
    assert "cannot be read from here on" in str(told)


def test_parts_are_in_order_and_other_files_left_alone(tmp_path: Path) -> None:
    for name in ("b.json.gz", "a.json", "c.txt", ".d.json"):
        (tmp_path / name).write_bytes(b"")
    assert [part.name for part in find_parts(tmp_path)] == ["a.json", "b.json.gz"]


@pytest.mark.parametrize(
    ("name", "told"),
    [("nothing.json", "does not exist"), ("dump.csv", "ending in .json"), ("empty", "no file in")],
)
def test_what_is_no_dump_is_refused(tmp_path: Path, name: str, told: str) -> None:
    (tmp_path / "dump.csv").write_text("x")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=told):
        find_parts(tmp_path / name)
