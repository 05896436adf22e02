"""A time limit for Python code that a model folder brings, such as its chat template."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

Value = TypeVar("Value")
#: seconds between two looks at what is running
LOOK = 0.5


class TooSlowError(Exception):
    """Code took longer than it may."""


class _Watch:
    """One thread that looks at what others are doing, as long as they are doing it."""

    def __init__(self) -> None:
        self._due: dict[int, float] = {}
        self._lock, self._busy = threading.Lock(), threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, seconds: float) -> None:
        with self._lock:
            self._due[threading.get_ident()] = time.monotonic() + seconds
            self._busy.set()
            if self._thread is None or not self._thread.is_alive():  # a fork has no threads
                self._thread = threading.Thread(target=self._look, daemon=True)
                self._thread.start()

    def end(self) -> None:
        with self._lock:
            self._due.pop(threading.get_ident(), None)

    def _look(self) -> None:
        while self._busy.wait():
            time.sleep(LOOK)
            with self._lock:
                for thread, due in list(self._due.items()):
                    if time.monotonic() > due:
                        del self._due[thread]
                        error: Any = ctypes.py_object(TooSlowError)
                        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), error)
                if not self._due:
                    self._busy.clear()


_WATCH = _Watch()


def in_time(seconds: float, do: Callable[[], Value]) -> Value:
    """Return what a function returns. Raises TooSlowError in its midst after so many seconds.

    Only Python code is stopped: a loop of a chat template, but not one call into C.
    """
    _WATCH.begin(seconds)
    try:
        return do()
    finally:
        _WATCH.end()
