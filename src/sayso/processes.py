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

import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnContext, SpawnProcess
from threading import Thread, current_thread, main_thread
from typing import Any


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
def worker_pool(count: int) -> Iterator[ProcessPoolExecutor]:
    """Give a pool of ``count`` processes; on an error they end at once, in the middle of a task."""
    context = Processes()
    watched, held = context.Pipe(duplex=False)
    pool = _Pool(count, context, _begin, (watched,))
    with watched, held:
        try:
            yield pool
        except BaseException:
            for process in context.started:  # also one that the pool has not heard of yet
                if process.pid:
                    process.kill()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def _begin(watched: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_exit_with_parent, args=(watched,), daemon=True).start()


def _exit_with_parent(watched: Connection) -> None:
    """Wait until the parent closes its end of the pipe, or is gone, and exit."""
    watched.poll(None)
    os._exit(1)
