"""A run against an endpoint, killed at any instant, asks only what was not answered: counted by
the server, in the whole command."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from bad_server import BadServer

from sayso.records import Verdict
from sayso.storage.run_folder import RunFolder

#: enough calls that a kill finds some answered and some not
LIMIT = "6"


def command(server: BadServer, folder: Path) -> list[str]:
    return [
        sys.executable, "-m", "sayso", "run", "uncle", "--model", f"{server.url}#bad",
        "--limit", LIMIT, "--out", str(folder / "run"), "--cache", str(folder / "cache"),
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
        kept = committed(killed)
        before = sum(server.answered.values())
        assert once // 2 <= kept <= before
        finish(server, killed)
        # the last start asked what was not committed, each once, and nothing else
        assert sum(server.answered.values()) - before == once - kept
        assert len(server.answered) == once
    tables = [
        sorted(RunFolder.open(folder / "run").read("verdicts/probe", Verdict), key=repr)
        for folder in (whole, killed)
    ]
    assert tables[0] == tables[1]
