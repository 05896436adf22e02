"""Modules that are loaded when one of their functions is called: ``--help`` loads few of them."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import SimpleNamespace
from typing import Any


@contextmanager
def later(importing: str) -> Iterator[None]:
    """Import modules, but load each when one of its functions is called.

    ``importing`` is the module whose imports they are:

    .. code-block:: python

        with later(__name__):
            from sayso.cli import running
    """
    load = builtins.__import__

    def named(
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        if globals is None or globals.get("__name__") != importing or not fromlist:
            return load(name, globals, locals, fromlist or (), level)  # of another thread
        return SimpleNamespace(**{module: _Module(f"{name}.{module}") for module in fromlist})

    builtins.__import__ = named
    try:
        yield
    finally:
        builtins.__import__ = load


class _Module:
    """A module whose functions load it when they are called."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return a function that calls the one of this name."""
        if name.startswith("__"):
            raise AttributeError(name)

        def called(*given: Any, **named: Any) -> Any:
            return getattr(import_module(self._module), name)(*given, **named)

        called.__qualname__ = called.__name__ = name
        return called
