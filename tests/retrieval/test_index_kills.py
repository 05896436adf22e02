"""SIGKILL at any statement of a build: what was committed stays, and the next build goes on."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sayso import retrieval
from sayso.records import InputError
from sayso.retrieval import index

#: builds argv[1] into argv[2] and kills itself before statement argv[3]; prints their number
SCRIPT = """
import os, signal, sys
from sayso import retrieval
from sayso.retrieval import build, index, sources
build.BATCH, build.SLICE, sources.SIZE, build.SEGMENTS = 20, 7, 1000, 2
left, real = [int(sys.argv[3])], index.open_writer
def writer(path):
    db = real(path)
    def step(statement):
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    db.set_trace_callback(step)
    return db
index.open_writer = writer
info = retrieval.build_index(sys.argv[1], sys.argv[2], workers=int(sys.argv[4]))
print(int(sys.argv[3]) - left[0], info.added)
"""


def lines(count: int, start: int = 0) -> str:
    values = [
        {"title": f"Title {n}", "text": f"About w{n}x and word {n % 7}. " * 3}
        for n in range(start, start + count)
    ]
    return "".join(json.dumps(value) + "\n" for value in values)


def build(source: Path, place: Path, stop: int, number: int = 0) -> tuple[int, list[int]]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(source), str(place), str(stop), str(number)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode, [int(word) for word in done.stdout.split()]


def documents(path: Path) -> int:
    """Return how many documents are committed, as the next builder sees it."""
    db = sqlite3.connect(path)
    try:
        if not db.execute("PRAGMA user_version").fetchone()[0]:
            return 0
        return int(db.execute("SELECT count(*) FROM documents").fetchone()[0])
    finally:
        db.close()


def searched(place: Path) -> list[list[str]]:
    with retrieval.open_index(place) as index:
        queries = [("", f"w{n}x word") for n in range(0, 200, 9)] + [("title 3", "about")]
        return [[p.id for p in found] for found in index.search_many(queries, 7)]


@pytest.mark.parametrize("number", [0, 1])
def test_a_first_build_that_is_killed_goes_on(number: int, tmp_path: Path) -> None:
    source, whole = tmp_path / "a.jsonl", tmp_path / "whole.sqlite"
    source.write_text(lines(200))
    _, (statements, added) = build(source, whole, 0, number)
    statements = -statements if statements < 0 else statements
    assert added == 200
    wanted = searched(whole)
    stops = range(3, statements, max(1, statements // 8))
    kept = []
    for stop in stops:
        place = tmp_path / f"{stop}.sqlite"
        code, _ = build(source, place, stop, number)
        assert code == -signal.SIGKILL
        assert not place.exists()
        with pytest.raises(InputError, match="half built: run `sayso index SOURCE` again"):
            index.open_index(place)
        kept.append(documents(index.unfinished_path(place)))
        code, (_, added) = build(source, place, 0, number)
        assert (code, added) == (0, 200 - kept[-1])
        assert searched(place) == wanted
    assert kept == sorted(kept)  # a later kill never keeps less
    assert 0 < kept[len(kept) // 2] < 200


def test_an_update_that_is_killed_goes_on(tmp_path: Path) -> None:
    folder, first = tmp_path / "source", tmp_path / "first.sqlite"
    folder.mkdir()

    def before() -> None:
        (folder / "a.jsonl").write_text(lines(60))
        (folder / "b.jsonl").write_text(lines(60, 100))

    def after() -> None:
        (folder / "a.jsonl").write_text(lines(30) + lines(40, 300))
        (folder / "b.jsonl").unlink()
        (folder / "c.jsonl").write_text(lines(25, 500))

    before()
    build(folder, first, 0)
    original = first.read_bytes()
    after()
    _, (statements, added) = build(folder, first, 0)
    statements = abs(statements)
    assert added == 65
    wanted = searched(first)
    half = 0
    for stop in range(3, statements, max(1, statements // 12)):
        place = tmp_path / f"{stop}.sqlite"
        place.write_bytes(original)
        assert build(folder, place, stop)[0] == -signal.SIGKILL
        try:
            index.open_index(place).close()
        except InputError as error:
            assert "half built" in str(error)  # noqa: PT017
            half += 1
        assert build(folder, place, 0)[0] == 0
        assert documents(place) == 95
        assert searched(place) == wanted
    assert half


def test_a_killed_build_leaves_no_worker_behind(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text(lines(50))
    script = (
        "import multiprocessing, sys, time\nfrom sayso import retrieval\n"
        "def wait(*_):\n"
        "    print(*[p.pid for p in multiprocessing.active_children()], flush=True)\n"
        "    time.sleep(60)\n"
        "retrieval.build_index(*sys.argv[1:], workers=2, progress=wait)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script, str(source), str(tmp_path / "x.sqlite")],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    pids = [int(word) for word in parent.stdout.readline().split()]
    assert pids
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 30
    while any(_alive(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(_alive(pid) for pid in pids)
    parent.stdout.close()


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
