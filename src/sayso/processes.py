"""Worker processes that end with the process that started them.

A pool of :mod:`concurrent.futures` with the spawn start method, and what that lacks:

* Its workers outlive a parent that is killed (https://github.com/python/cpython/issues/111873), and
  a running task cannot be stopped. Here every worker watches a pipe that only the parent holds
  open, and exits as soon as it closes.
* Spawning runs the main script again, which then needs ``if __name__ == "__main__"``. Tasks here
  are functions of this package, so workers do not load the script.
* Ctrl-C reaches all processes of a terminal. Only the parent handles it here.
* OpenBLAS would start a thread for every core in every worker.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from itertools import chain, islice
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnContext, SpawnProcess
from threading import Thread, current_thread, main_thread
from typing import Any, TypeVar

from sayso.records import InputError

#: blocks up to which starting processes costs more than it saves
FEW = 4

#: objects that stay, after which Python looks for cycles among them
MADE = 50_000

Block = TypeVar("Block")
Result = TypeVar("Result")


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def blocks_in_processes(
    function: Callable[[Block], Result], blocks: Iterable[Block], jobs: int, few: int = FEW
) -> Iterator[Result]:
    """Yield the function's result on each block, in order, worked out by ``jobs`` processes.

    ``function``, blocks and results are pickled: the function once for each process, which keeps
    its copy, so that what an object remembers from block to block is its process's own. Twice as
    many blocks as processes are read ahead. With one job, or ``few`` blocks or fewer, this process
    does it all. Errors of the function are raised here; raises InputError where a process died.
    """
    source = iter(blocks)
    first = list(islice(source, few + 1)) if jobs > 1 else []
    source = chain(first, source)
    if len(first) <= few:
        with seldom_collected():
            yield from map(function, source)
        return
    try:
        with worker_pool(jobs, function) as pool:
            waiting: deque[Future[Result]] = deque()
            for block in source:
                waiting.append(pool.submit(_call, block))
                if len(waiting) > 2 * jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
    except BrokenProcessPool:
        raise InputError(
            "a worker process ended by itself (out of memory?): run again, with fewer of them "
            "(--set jobs=N)"
        ) from None


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Look for cycles of objects once for ``MADE`` new ones; readers make many, hardly in cycles.

    Python's 700 take a seventh of the time of reading.
    """
    before = gc.get_threshold()
    _collect_seldom()
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _collect_seldom() -> None:
    made, *others = gc.get_threshold()
    gc.set_threshold(max(made, MADE) if made else 0, *others)  # 0: never, as somebody chose


class _Process(SpawnProcess):
    """A process that inherits neither the main script nor Ctrl-C."""

    def start(self) -> None:
        """Start it; meanwhile hide what it must not inherit."""
        main: dict[str, Any] = vars(sys.modules["__main__"])
        hidden = {name: value for name, value in main.items() if name in ("__spec__", "__file__")}
        threads = os.environ.get("OPENBLAS_NUM_THREADS")
        with _interrupts_later():
            main.update(dict.fromkeys(hidden))
            os.environ["OPENBLAS_NUM_THREADS"] = "1"
            try:
                super().start()
            finally:
                os.environ.pop("OPENBLAS_NUM_THREADS")
                if threads is not None:
                    os.environ["OPENBLAS_NUM_THREADS"] = threads
                main.update(hidden)


@contextmanager
def _interrupts_later() -> Iterator[None]:
    """Hold Ctrl-C back: a process that is half started could not be ended.

    The new process inherits the blocked signal, from its first instruction on. A signal that
    another thread receives is noted.
    """
    handler, noted = signal.getsignal(signal.SIGINT), []
    ours = callable(handler) and current_thread() is main_thread()
    if ours:
        signal.signal(signal.SIGINT, lambda *event: noted.append(event))
    if hasattr(signal, "pthread_sigmask"):
        resource_tracker.ensure_running()  # its own start would unblock SIGINT
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        if ours:
            signal.signal(signal.SIGINT, handler)
            if noted and callable(handler):
                handler(*noted[0])


class Processes(SpawnContext):
    """The start method of the pool; ``started`` are its processes, for their end."""

    def __init__(self) -> None:
        super().__init__()
        self.started: list[_Process] = []

    def Process(self, *args: Any, **kwargs: Any) -> _Process:  # type: ignore[override]  # noqa: N802
        process = _Process(*args, **kwargs)
        self.started.append(process)
        return process


class _Pool(ProcessPoolExecutor):
    """A pool that notices the death of a worker that was started last."""

    def submit(self, *args: Any, **kwargs: Any) -> Any:
        """Submit a task, and wake the thread that watches workers: a new one has just started.

        The executor wakes it before it starts the worker, whose death would stay unnoticed until
        another task is done.
        """
        future = super().submit(*args, **kwargs)
        with self._shutdown_lock:
            if self._executor_manager_thread_wakeup is not None:
                self._executor_manager_thread_wakeup.wakeup()
        return future


@contextmanager
def worker_pool(
    count: int, function: Callable[[Any], Any] | None = None
) -> Iterator[ProcessPoolExecutor]:
    """Give a pool of ``count`` processes; on an error they end at once, in the middle of a task.

    Each process keeps ``function``, for :func:`blocks_in_processes`.
    """
    context = Processes()
    watched, held = context.Pipe(duplex=False)
    pool = _Pool(count, context, _begin, (watched, function))
    with watched, held:
        try:
            yield pool
        except BaseException:
            for process in context.started:  # also one that the pool has not heard of yet
                if process.pid:
                    process.kill()
            with suppress(RuntimeError):  # Ctrl-C came before the pool's own thread began
                pool.shutdown(cancel_futures=True)
            raise
        pool.shutdown(cancel_futures=True)


#: what a worker does with its blocks
_function: Callable[[Any], Any] | None = None


def _begin(watched: Connection, function: Callable[[Any], Any] | None) -> None:
    global _function
    _function = function
    _collect_seldom()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_exit_with_parent, args=(watched,), daemon=True).start()


def _call(block: Any) -> Any:
    assert _function is not None
    return _function(block)


def _exit_with_parent(watched: Connection) -> None:
    """Wait until the parent closes its end of the pipe, or is gone, and exit."""
    watched.poll(None)
    os._exit(1)


def wait_passively() -> None:
    """Let threads of OpenMP sleep while they wait, unless the user says how they are to wait.

    By default they spin, so that on a busy machine two threads take many times the processor time
    of one. OpenMP reads the variable when it is loaded: this comes before the first import of
    torch.
    """
    if "torch" not in sys.modules:
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
