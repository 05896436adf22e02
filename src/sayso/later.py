"""Modules that are loaded when one of their functions is called: ``--help`` loads few of them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


class Later:
    """A module whose functions load it when they are called; type checkers see the module itself:

    .. code-block:: python

        if TYPE_CHECKING:
            from sayso.cli import running
        else:
            running = Later("sayso.cli.running")
    """

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
