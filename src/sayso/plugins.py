"""What other packages bring under a name: models, judges, scores and data sets (docs/python.md).

A package names a function of its own in a group of entry points, such as ``sayso.judges``. It is
imported when its name is opened, not before; a name of ours stays ours.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from sayso.harmless import line
from sayso.records import InputError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class Plugin(NamedTuple):
    """What a package brings, and the text behind the colon of the name that it was asked for by."""

    title: str
    point: EntryPoint
    text: str

    def load(self) -> Any:
        """Import what the entry point names. Raises InputError if that fails."""
        return self._tried("cannot be imported", self.point.load)

    def open(self, **options: object) -> Any:
        """Return what the plug-in's function makes of the text. Raises InputError if it fails."""
        function = self.load()
        return self._tried("failed", lambda: function(self.text, **options))

    def _tried(self, what: str, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except InputError:
            raise
        except (Exception, SystemExit) as error:  # a module may call its own main
            why = f"{type(error).__name__}: {line(str(error), 200)}"
            raise InputError(f"{self.title} {what}: {why}") from error


def find_plugin(group: str, name: str, ours: Collection[str]) -> Plugin | None:
    """Return what a package brings under ``NAME`` or ``NAME:TEXT``, not imported yet, or ``None``.

    ``None`` also for a name of ours. Raises InputError where two packages bring one name.
    """
    kind, _, text = name.partition(":")
    points = _installed(group, tuple(sys.path)).get(kind, {})
    titles = [f"plug-in {kind!r} of package {package}" for package in sorted(points)]
    if not points or kind in ours:
        for title in titles:
            _tell(f"{title} is not used: sayso has {kind!r} itself")
        return None
    if len(points) > 1:
        raise InputError(f"there is a {' and a '.join(titles)}: uninstall one of the packages")
    return Plugin(titles[0], next(iter(points.values())), text)


def plugin_names(group: str) -> str:
    """Return "; plug-ins: NAME (PACKAGE), …", the end of a message; "" where there are none."""
    every = sorted(_installed(group, tuple(sys.path)).items())
    names = [f"{name} ({package})" for name, points in every for package in points]
    return f"; plug-ins: {', '.join(names)}" * bool(names)


@lru_cache(maxsize=16)
def _installed(group: str, path: tuple[str, ...]) -> dict[str, dict[str, EntryPoint]]:
    """Return the entry points of a group by name and package, as far as ``path`` has them."""
    from importlib.metadata import entry_points  # no help takes the time to load it

    found: dict[str, dict[str, EntryPoint]] = {}
    for point in entry_points(group=f"sayso.{group}"):
        package = line(point.dist.name, 60) if point.dist else "?"
        found.setdefault(line(point.name, 60), {})[package] = point
    return found


@lru_cache(maxsize=16)
def _tell(text: str) -> None:
    logging.getLogger(__name__).warning("note: %s", text)  # printed, unless a program logs
