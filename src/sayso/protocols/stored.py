"""A finished run, read so that its rows can be joined again for a page."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from sayso.options import as_dict, replace
from sayso.protocols.protocol import Run
from sayso.records import Question
from sayso.storage.run_folder import Manifest, RunFolder

Record = TypeVar("Record", bound=msgspec.Struct)
Chosen = TypeVar("Chosen")


class ShownFolder(RunFolder):
    """The tables of a finished run, of which some may be missing.

    Hidden states are left where they are: they are large, and no page shows them.
    """

    def read(self, table: str, type: type[Record]) -> list[Record]:
        """Return the records of a table; none where there is no such table."""
        return super().read(table, type) if self.has(table) else []

    def read_array(self, name: str) -> None:
        """Return no hidden states."""


@dataclass
class StoredRun:
    """The part of a :class:`~sayso.protocols.protocol.Run` that joining rows needs."""

    folder: RunFolder
    questions: Sequence[Question]


def stored_run(folder: RunFolder) -> Run:
    """Return a finished run whose tables can be read."""
    shown = ShownFolder(folder.path)
    return typing.cast(Run, StoredRun(shown, shown.read("questions", Question)))


def settings_of_run(manifest: Manifest, defaults: Chosen) -> Chosen:
    """Return the settings of a finished run; those that it does not name are the defaults."""
    known = as_dict(defaults)
    kept = {name: value for name, value in manifest.settings.items() if name in known}
    return typing.cast(Chosen, replace(defaults, kept))
