"""Arrays of a run folder are whole and their ids' own, whenever a writer was killed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sayso.records import InputError
from sayso.storage.run_folder import ArrayHead, Manifest, RunFolder

NAME = "hidden--1-last_answer"


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    made = RunFolder.create(tmp_path / "r")
    made.write_manifest(Manifest())
    return made


def rows(n: int, d: int = 3, first: float = 0.0) -> np.ndarray:
    return (first + np.arange(n * d).reshape(n, d)).astype(np.float16)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(cuts=st.lists(st.integers(0, 5), max_size=6), d=st.integers(1, 5))
def test_what_was_written_in_blocks_is_read_as_one(
    folder: RunFolder, cuts: list[int], d: int
) -> None:
    whole = rows(sum(cuts), d)
    head = ArrayHead(f"{cuts} {d}", tuple(f"id{i}" for i in range(len(whole))))
    ends = np.cumsum([0, *cuts])
    folder.write_array(NAME, head, (whole[a:b] for a, b in pairwise(ends)))
    found = folder.read_array(NAME)
    assert found is not None
    assert found[0] == head
    assert found[1].dtype == np.float16
    assert np.array_equal(found[1].reshape(whole.shape), whole)
    folder.write_array(NAME, head, iter([whole + 1]))  # of the same source: not made again
    assert np.array_equal(found[1], np.load(folder.path / "arrays" / f"{NAME}.npy"))


def test_it_is_mapped_not_read(folder: RunFolder) -> None:
    folder.write_array(NAME, ArrayHead("s", ("a", "b")), [rows(2)])
    found = folder.read_array(NAME)
    assert found is not None
    assert isinstance(found[1], np.memmap)
    plain = np.load(folder.path / "arrays" / f"{NAME}.npy")  # anybody can open it
    assert plain.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert RunFolder.create(folder.path).array_head(NAME) == found[0]


def test_nothing_is_there_before_it_is_written(folder: RunFolder) -> None:
    assert folder.array_head(NAME) is None
    assert folder.read_array(NAME) is None


@pytest.mark.parametrize("when", [0, 1])
def test_a_writer_that_is_killed_leaves_no_ids_of_other_rows(folder: RunFolder, when: int) -> None:
    folder.write_array(NAME, ArrayHead("old", ("a", "b")), [rows(2)])

    def dying() -> Iterator[np.ndarray]:
        if when:
            yield rows(1, first=9)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        folder.write_array(NAME, ArrayHead("new", ("c", "d")), dying())
    assert folder.read_array(NAME) is None
    assert not list((folder.path / "arrays").glob("*.tmp-*"))


def test_rows_and_ids_must_fit(folder: RunFolder) -> None:
    for blocks in ([rows(1)], [rows(2), rows(1)], [rows(1), rows(1, d=4)]):
        with pytest.raises(InputError, match="rows"):
            folder.write_array(NAME, ArrayHead("s", ("a", "b")), blocks)
        assert folder.array_head(NAME) is None


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        (f"{NAME}.npy", b"", "damaged"),
        (f"{NAME}.npy", b"\x93NUMPY\x01\x00", "damaged"),
        (f"{NAME}.npy", None, "no float16 rows"),
        (f"{NAME}.ids.json", b"{", "damaged"),
        (f"{NAME}.ids.json", b'{"source": "s", "ids": ["a"]}', "2 rows for 1 ids"),
    ],
)
def test_damaged_files_are_said_in_one_line(
    folder: RunFolder, name: str, data: bytes | None, said: str
) -> None:
    folder.write_array(NAME, ArrayHead("s", ("a", "b")), [rows(2)])
    place = folder.path / "arrays" / name
    if data is None:
        np.save(place, np.zeros((2, 3)))
    else:
        place.write_bytes(data)
    with pytest.raises(InputError, match=said) as error:
        folder.read_array(NAME)
    assert "\n" not in str(error.value)


def test_an_array_of_objects_is_never_unpickled(folder: RunFolder) -> None:
    folder.write_array(NAME, ArrayHead("s", ("a", "b")), [rows(2)])
    bad = np.array([{"a": 1}, {"b": 2}], dtype=object)
    np.save(folder.path / "arrays" / f"{NAME}.npy", bad, allow_pickle=True)
    with pytest.raises(InputError, match="damaged"):
        folder.read_array(NAME)


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", "A", "a\0"])
def test_hostile_names_are_refused(folder: RunFolder, name: str) -> None:
    with pytest.raises(InputError, match="is not an array"):
        folder.read_array(name)
