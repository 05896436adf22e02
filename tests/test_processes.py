"""Worker processes end with their parent and on an error; Ctrl-C is not theirs."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from sayso.processes import MADE, blocks_in_processes, cores, seldom_collected, worker_pool
from sayso.records import InputError

#: starts two workers, prints their ids and then does what is put in; no guard of ``__main__``
SCRIPT = """
import os, signal, sys, time
from sayso.processes import worker_pool
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background shell ignores it
print("begins", flush=True)
with worker_pool(2) as pool:
    tasks = [pool.submit(os.getpid) for _ in range(2)]
    print(*{{task.result() for task in tasks}}, flush=True)
    {then}
"""
SLEEP = "tasks = [pool.submit(time.sleep, 60) for _ in range(4)]"
BUSY = f"{SLEEP}; tasks[0].result()"


def started(folder: Path, then: str) -> tuple[subprocess.Popen[str], list[int]]:
    """Run the script as a file, in a session of its own, and return it with its workers' ids."""
    script = folder / "script.py"
    script.write_text(SCRIPT.format(then=then))
    parent = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert parent.stdout is not None
    assert parent.stdout.readline() == "begins\n"
    return parent, [int(word) for word in parent.stdout.readline().split()]


def output(parent: subprocess.Popen[str]) -> tuple[str, str]:
    """Return the rest of its output; ``communicate`` would lose what is buffered."""
    assert parent.stdout is not None
    assert parent.stderr is not None
    with parent.stdout, parent.stderr:
        texts = parent.stdout.read(), parent.stderr.read()
    parent.wait(timeout=30)
    return texts


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def ended(pids: list[int]) -> bool:
    deadline = time.monotonic() + 30
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return bool(pids) and not any(map(alive, pids))


@pytest.mark.parametrize("then", [BUSY, "time.sleep(60)"], ids=["busy", "idle"])
def test_workers_end_with_a_parent_that_is_killed(tmp_path: Path, then: str) -> None:
    parent, pids = started(tmp_path, then)
    time.sleep(0.2)
    parent.kill()
    parent.wait()
    assert ended(pids)
    output(parent)


def test_an_error_ends_workers_in_the_middle_of_a_task(tmp_path: Path) -> None:
    parent, pids = started(tmp_path, f"{SLEEP}; time.sleep(0.2); raise ValueError")
    _, messages = output(parent)
    assert messages.splitlines()[-1] == "ValueError"
    assert ended(pids)


def test_a_script_needs_no_guard_and_runs_once(tmp_path: Path) -> None:
    parent, pids = started(tmp_path, "print(__file__, __spec__)")
    assert output(parent) == (f"{tmp_path / 'script.py'} None\n", "")
    assert parent.returncode == 0
    assert ended(pids)


@pytest.mark.slow
@pytest.mark.parametrize("wait", [0.0, 0.05, 0.15, 0.4])
def test_ctrl_c_is_the_parents(tmp_path: Path, wait: float) -> None:
    """It reaches every process of the terminal, also those that are just starting."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(then=BUSY).replace("range(2)", "range(0)"))
    parent = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert parent.stdout is not None
    assert parent.stdout.readline() == "begins\n"
    time.sleep(wait)
    os.killpg(parent.pid, signal.SIGINT)
    _, messages = output(parent)
    assert messages.count("Traceback") == 1
    assert messages.splitlines()[-1] == "KeyboardInterrupt"


def test_ctrl_c_before_the_pools_own_thread_began_is_no_other_error() -> None:
    def interrupted() -> None:
        with worker_pool(1) as pool:
            pool._executor_manager_thread = threading.Thread()  # type: ignore[attr-defined]
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()


def test_a_worker_that_dies_breaks_the_pool_and_ends_the_others() -> None:
    def kill_one() -> None:
        with worker_pool(2) as pool:
            tasks = [pool.submit(time.sleep, 60) for _ in range(2)]
            first, _ = multiprocessing.active_children()
            os.kill(first.pid or 0, signal.SIGKILL)
            tasks[0].result()

    with pytest.raises(BrokenProcessPool):
        kill_one()
    assert not multiprocessing.active_children()


def test_numbers_of_threads_and_the_environment_are_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "7")
    with worker_pool(1) as pool:
        assert pool.submit(os.getenv, "OPENBLAS_NUM_THREADS").result() == "1"
    assert os.environ["OPENBLAS_NUM_THREADS"] == "7"


# ---- blocks: eval stands for any function, as it can be pickled

#: where a block is worked out
WHERE = "__import__('os').getpid()"


@pytest.mark.parametrize("jobs", [1, 2])
def test_results_of_blocks_come_in_order(jobs: int) -> None:
    blocks = [f"__import__('time').sleep({(9 - n) / 500}) or {n}" for n in range(10)]
    assert list(blocks_in_processes(eval, blocks, jobs)) == list(range(10))
    assert not multiprocessing.active_children()


def test_few_blocks_and_one_job_take_no_processes() -> None:
    assert {*blocks_in_processes(eval, [WHERE] * 4, 2)} == {os.getpid()}
    assert {*blocks_in_processes(eval, [WHERE] * 9, 1)} == {os.getpid()}
    assert {*blocks_in_processes(eval, [WHERE] * 9, 2, few=9)} == {os.getpid()}
    assert list(blocks_in_processes(eval, [], 2)) == []
    where = Counter(blocks_in_processes(eval, [WHERE] * 9, 2))
    assert os.getpid() not in where
    assert len(where) <= 2


def test_blocks_are_read_ahead_by_twice_the_jobs_and_no_further() -> None:
    read = 0

    def endless() -> Iterator[str]:
        nonlocal read
        while True:
            read += 1
            yield "1"

    results = blocks_in_processes(eval, endless(), 2)
    for taken in range(1, 9):
        assert next(results) == 1
        assert read <= taken + 5
    results.close()  # type: ignore[attr-defined]  # it is a generator
    assert not multiprocessing.active_children()


def test_an_error_in_a_block_is_raised_behind_the_results_before_it() -> None:
    results = blocks_in_processes(eval, ["1", "2", "1 / 0", *["4"] * 5], 2)
    assert [next(results), next(results)] == [1, 2]
    with pytest.raises(ZeroDivisionError):
        next(results)
    assert not multiprocessing.active_children()


def test_a_worker_that_dies_over_a_block_is_one_clear_line() -> None:
    blocks = ["1", *["__import__('os')._exit(9)"] * 5]
    with pytest.raises(InputError, match=r"worker process ended by itself .*--set jobs"):
        list(blocks_in_processes(eval, blocks, 2))
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("jobs", [1, 2])
def test_cycles_are_looked_for_seldom_while_blocks_are_read(jobs: int) -> None:
    before = gc.get_threshold()
    made = [*blocks_in_processes(eval, ["__import__('gc').get_threshold()[0]"] * 6, jobs)]
    assert made == [MADE] * 6
    assert gc.get_threshold() == before


@pytest.mark.parametrize(("chosen", "then"), [(0, 0), (700, MADE), (2 * MADE, 2 * MADE)])
def test_a_choice_not_to_look_for_cycles_stands(chosen: int, then: int) -> None:
    before = gc.get_threshold()
    gc.set_threshold(chosen, 9, 8)
    try:
        with seldom_collected():
            assert gc.get_threshold() == (then, 9, 8)
        assert gc.get_threshold() == (chosen, 9, 8)
    finally:
        gc.set_threshold(*before)


def test_cores_are_those_that_this_process_may_use() -> None:
    assert 1 <= cores() <= (os.cpu_count() or 1)
