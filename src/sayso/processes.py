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
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnContext, SpawnProcess
from threading import Thread
from typing import Any


class _Process(SpawnProcess):
    """A process that inherits neither the main script nor Ctrl-C."""

    def start(self) -> None:
        """Start it; meanwhile hide what it must not inherit."""
        main: dict[str, Any] = vars(sys.modules["__main__"])
        hidden = {name: value for name, value in main.items() if name in ("__spec__", "__file__")}
        threads = os.environ.get("OPENBLAS_NUM_THREADS")
        main.update(dict.fromkeys(hidden))
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
        if hasattr(signal, "pthread_sigmask"):  # a mask is inherited from the first instruction on
            resource_tracker.ensure_running()  # its own start would unblock SIGINT
            blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            super().start()
        finally:
            if hasattr(signal, "pthread_sigmask"):
                signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
            os.environ.pop("OPENBLAS_NUM_THREADS")
            if threads is not None:
                os.environ["OPENBLAS_NUM_THREADS"] = threads
            main.update(hidden)


class Processes(SpawnContext):
    """The start method of the pool."""

    Process = _Process


@contextmanager
def worker_pool(
    count: int, initializer: Callable[..., None] | None = None, initargs: tuple[Any, ...] = ()
) -> Iterator[ProcessPoolExecutor]:
    """Give a pool of ``count`` processes; on an error they end at once, in the middle of a task."""
    context = Processes()
    watched, held = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(count, context, _begin, (watched, initializer, initargs))
    with watched, held:
        try:
            yield pool
        except BaseException:
            held.close()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def _begin(
    watched: Connection, initializer: Callable[..., None] | None, initargs: tuple[Any, ...]
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_exit_with_parent, args=(watched,), daemon=True).start()
    if initializer is not None:
        initializer(*initargs)


def _exit_with_parent(watched: Connection) -> None:
    """Wait until the parent closes its end of the pipe, or is gone, and exit."""
    watched.poll(None)
    os._exit(1)
