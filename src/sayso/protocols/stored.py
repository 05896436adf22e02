"""A finished run, read so that its rows can be joined again for a page."""

from __future__ import annotations

import typing
from typing import TypeVar

import msgspec

from sayso.options import as_dict, replace
from sayso.protocols.protocol import Run
from sayso.records import Question
from sayso.storage.run_folder import Manifest, RunFolder

Record = TypeVar("Record", bound=msgspec.Struct)
Chosen = TypeVar("Chosen")


class _StoredTables:
    """The part of a :class:`~sayso.protocols.protocol.Run` that joining rows needs."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self.questions = folder.read("questions", Question)

    def has(self, table: str) -> bool:
        return self._folder.has(table)

    def read(self, table: str, kind: type[Record]) -> list[Record]:
        return self._folder.read(table, kind) if self._folder.has(table) else []

    def states(self, name: str) -> None:
        """No hidden states: they are large, and no page shows them."""


def stored_run(folder: RunFolder) -> Run:
    """Return a finished run whose tables can be read; hidden states are left where they are."""
    return typing.cast(Run, _StoredTables(folder))


def settings_of_run(manifest: Manifest, defaults: Chosen) -> Chosen:
    """Return the settings of a finished run; those that it does not name are the defaults."""
    known = as_dict(defaults)
    kept = {name: value for name, value in manifest.settings.items() if name in known}
    return typing.cast(Chosen, replace(defaults, kept))
