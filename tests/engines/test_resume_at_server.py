"""A run against an endpoint, killed at any instant, asks only what was not answered: counted by
the server, in the whole command."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from bad_server import BadServer

from sayso.records import Generation, Verdict
from sayso.runs.freshness.same_model import MOST
from sayso.storage.cache import Cache
from sayso.storage.run_folder import RunFolder

#: enough calls that a kill finds some answered and some not
LIMIT = "6"


def command(server: BadServer, folder: Path, *more: str) -> list[str]:
    return [
        sys.executable, "-m", "sayso", "run", "uncle", "--model", f"{server.url}#bad",
        "--limit", LIMIT, "--set", "resamples=100",
        "--out", str(folder / "run"), "--set", f"cache={folder / 'cache'}", *more,
    ]  # fmt: skip


def committed(folder: Path) -> int:
    """Replies that the cache acknowledged."""
    path = folder / "cache" / "replies.sqlite"
    if not path.exists():
        return 0
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=30)) as database:
            return int(database.execute("select count(*) from replies").fetchone()[0])
    except sqlite3.OperationalError:  # the table is being made
        return 0


def finish(server: BadServer, folder: Path) -> None:
    done = subprocess.run(
        command(server, folder), capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_kill_and_resume_counted_at_the_server(tmp_path: Path) -> None:
    with BadServer(choices=1) as server:  # one answer a call, so that calls count requests
        whole = tmp_path / "whole"
        whole.mkdir()
        finish(server, whole)
        once = sum(server.answered.values())
        # several aspects may share their words, but no request is asked twice
        assert once == len(server.answered) == committed(whole)

    # slow enough that some answers are committed before the last one comes
    with BadServer(choices=1, delay=0.6) as server:
        killed = tmp_path / "killed"
        killed.mkdir()
        for wanted in (once // 4, once // 2):
            process = subprocess.Popen(command(server, killed), stderr=subprocess.PIPE)
            while committed(killed) < wanted:
                assert process.poll() is None, process.communicate()
                time.sleep(0.01)
            process.kill()
            process.communicate()
        with Cache(whole / "cache") as all_of_it, Cache(killed / "cache") as some_of_it:
            kept = len(all_of_it.keys() & some_of_it.keys())
        before = sum(server.answered.values())
        # among those that were committed may be the old ones of the prompts that were asked again
        assert once // 2 - MOST <= kept <= before
        finish(server, killed)
        # the last start asked what was not committed, each once, and nothing else but whether the
        # model is the same
        again = RunFolder.open(killed / "run").read_manifest().tokens["asked_again"]
        assert 0 < again <= MOST
        assert sum(server.answered.values()) - before == once - kept + again
        assert len(server.answered) == once
    tables = [
        sorted(RunFolder.open(folder / "run").read("verdicts/probe", Verdict), key=repr)
        for folder in (whole, killed)
    ]
    assert tables[0] == tables[1]


@pytest.mark.slow
def test_a_server_that_stalls_loses_nothing_that_it_answered(tmp_path: Path) -> None:
    with BadServer(lambda number, body: "ok" if number <= 20 else "hang", choices=1) as server:
        process = subprocess.Popen(command(server, tmp_path, "--set", "concurrency=4"))
        until = time.monotonic() + 120
        # the default: within half a second, although no further reply comes
        while committed(tmp_path) < 20:
            assert time.monotonic() < until
            assert process.poll() is None
            time.sleep(0.05)
        process.kill()
        process.wait()


@pytest.mark.slow
@pytest.mark.parametrize("choices", [64, 2])
def test_draws_of_a_run_killed_with_calls_in_flight_are_those_of_one_left_alone(
    tmp_path: Path, choices: int
) -> None:
    """The server's draws depend on the seed of a call and on the place in it."""
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for folder in (whole, killed):
        folder.mkdir()
    with BadServer(choices=choices) as server:
        finish(server, whole)
    with BadServer(choices=choices, delay=0.05) as server:
        for kill in range(3):
            process = subprocess.Popen(command(server, killed, "--set", "concurrency=6"))
            target = server.number + 10 + 7 * kill
            while server.number < target:
                assert process.poll() is None
                time.sleep(0.002)
            time.sleep(0.2 * kill)
            while kill == 2 and not committed(killed) and process.poll() is None:
                time.sleep(0.02)  # a busy machine commits late
            process.kill()
            process.wait()
        assert committed(killed)
        finish(server, killed)
    for table in ("probe", "short", "long"):
        one, two = (
            sorted(
                (repr(g.request.messages), g.request.sample, g.text)
                for g in RunFolder.open(folder / "run").iter(f"generations/{table}", Generation)
            )
            for folder in (whole, killed)
        )
        assert one == two


def test_a_second_run_on_a_folder_says_who_is_writing_there(tmp_path: Path) -> None:
    with BadServer(delay=0.3) as server:
        first = subprocess.Popen(command(server, tmp_path, "--set", "concurrency=2"))
        while not (tmp_path / "run" / "manifest.json").exists():
            assert first.poll() is None
            time.sleep(0.01)
        second = subprocess.run(
            command(server, tmp_path), capture_output=True, text=True, check=False, timeout=120
        )
        assert second.returncode == 2
        line = " ".join(second.stderr.split())
        assert f"process {first.pid} on " in line, line
        assert "is writing here; let it finish, or choose another --out" in line
        assert "Traceback" not in second.stderr
        assert first.poll() is None
        server.delay = 0
        assert first.wait(300) == 0
    folder = RunFolder.open(tmp_path / "run")
    assert folder.read_manifest().finished
    assert not (tmp_path / "run" / ".writer").exists()
