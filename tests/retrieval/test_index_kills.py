"""SIGKILL at any commit of a build: what was committed stays, and the next build goes on."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sayso import retrieval
from sayso.records import InputError
from sayso.retrieval import index

#: for each line, a list of source, folder of the index, call and processes, builds in a child
#: process that kills itself before that call (0: never); answers with the exit code and the
#: numbers that were printed: calls, added documents
BUILDER = """
import json, os, signal, sys
from sayso import retrieval
from sayso.retrieval import build, index, sources
build.BATCH, sources.SIZE = 20, 1000

def run(source, place, stop, workers, out):
    left = [stop]
    def step(frame, event, function):
        if event == "c_call" and function.__name__ in ("commit", "rename", "add_document"):
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.setprofile(step)
    info = retrieval.build_index(source, place, workers=workers)
    sys.setprofile(None)
    os.write(out, json.dumps([stop - left[0], info.added]).encode())

for line in sys.stdin:
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            run(*json.loads(line), write)
        finally:
            sys.stderr.flush()
            os._exit(sys.exc_info()[0] is not None)
    os.close(write)
    with open(read) as file:
        numbers = json.loads(file.read() or "[]")
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(json.dumps([status, numbers]), flush=True)
"""

Build = Callable[..., tuple[int, list[int]]]


@pytest.fixture(scope="module")
def build() -> Iterator[Build]:
    """Run builds in forks of one process, which has imported the package once."""
    with subprocess.Popen(
        [sys.executable, "-c", BUILDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        sent, answers = server.stdin, server.stdout

        def run(source: Path, place: Path, stop: int, number: int = 0) -> tuple[int, list[int]]:
            sent.write(json.dumps([str(source), str(place), stop, number]) + "\n")
            sent.flush()
            code, numbers = json.loads(answers.readline())
            assert code in (0, -signal.SIGKILL)
            return code, numbers

        yield run
        sent.close()


def lines(count: int, start: int = 0) -> str:
    values = [
        {"title": f"Title {n}", "text": f"About w{n}x and word {n % 7}. " * 3}
        for n in range(start, start + count)
    ]
    return "".join(json.dumps(value) + "\n" for value in values)


def documents(path: Path) -> int:
    """Return how many documents are committed, as the next builder sees it."""
    if not index.is_index(path):
        return 0
    _, files = index.states_of(index.open_tantivy(path), path)
    return sum(file.documents for file in files)


def searched(place: Path) -> list[list[str]]:
    with retrieval.open_index(place) as index:
        queries = [("", f"w{n}x word") for n in range(0, 200, 9)] + [("title 3", "about")]
        return [[p.id for p in found] for found in index.search_many(queries, 7)]


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1])
def test_a_first_build_that_is_killed_goes_on(build: Build, number: int, tmp_path: Path) -> None:
    source, whole = tmp_path / "a.jsonl", tmp_path / "whole.index"
    source.write_text(lines(200))
    _, (calls, added) = build(source, whole, 0, number)
    assert added == 200
    wanted = searched(whole)
    stops = range(3, calls, max(1, calls // 8))
    kept = []
    for stop in stops:
        place = tmp_path / f"{stop}.index"
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


@pytest.mark.slow
def test_an_update_that_is_killed_goes_on(build: Build, tmp_path: Path) -> None:
    folder, first = tmp_path / "source", tmp_path / "first.index"
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
    original = tmp_path / "original.index"
    shutil.copytree(first, original)
    after()
    _, (calls, added) = build(folder, first, 0)
    assert added == 95
    wanted = searched(first)
    half = 0
    for stop in range(3, calls, max(1, calls // 12)):
        place = tmp_path / f"{stop}.index"
        shutil.copytree(original, place)
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


@pytest.mark.slow
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
        [sys.executable, "-c", script, str(source), str(tmp_path / "x.index")],
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
