"""Regular expressions that are compiled on first use.

Judges hold some four hundred long patterns, of which an answer needs a few. Compiling them all
takes half a second, more than most commands need for everything else.
"""

from __future__ import annotations

import re
from typing import Any, cast

_METHODS = ("search", "match", "fullmatch", "findall", "finditer", "split", "sub", "subn")


class _Uncompiled:
    """A pattern; the first use of a method compiles it, later ones find the method as usual."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:  # called for what is not set yet
        if name not in _METHODS and name not in ("flags", "groups", "groupindex"):
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self._flags)
        self.__dict__.update((method, getattr(compiled, method)) for method in _METHODS)
        return getattr(compiled, name)


def regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return ``re.compile(pattern, flags)``, compiled when it is first used.

    A mistake in the pattern shows only then, so every pattern needs a test that uses it.
    """
    return cast("re.Pattern[str]", _Uncompiled(pattern, flags))
