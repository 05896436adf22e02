"""The conformance set *who reads silence?*: 150 answers, and whether each answers its question.

``silence.md`` describes the file. ``benchmarks/readers/silence.py`` reads it with several readers.
"""

from __future__ import annotations

from importlib import resources
from typing import Literal

import msgspec

from sayso.records import Stance

Expected = Literal["answers", "does not answer", "refuses", "asks back", "says nothing"]
#: what the labels of the set are called in a verdict; a hedged answer is ``hedged``
STANCE_OF: dict[Expected, Stance] = {
    "answers": "committed",
    "does not answer": "abstained",
    "refuses": "refused_by_policy",
    "asks back": "asked_back",
    "says nothing": "omitted",
}


class SilenceRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One answer of the set, with its label; ``kind`` is the field ``class`` of the file."""

    id: str
    question: str
    gold: str | None
    answer: str
    kind: str = msgspec.field(name="class")
    expected: Expected
    hedged: bool
    source: str
    why: str
    manner: str | None = None

    @property
    def stance(self) -> Stance:
        """The label in the words of a verdict."""
        return "hedged" if self.hedged else STANCE_OF[self.expected]


def silence_rows() -> list[SilenceRow]:
    """Return the rows of the shipped set, in the order of the file."""
    raw = (resources.files("sayso") / "checks" / "silence.jsonl").read_bytes()
    return [msgspec.json.decode(line, type=SilenceRow) for line in raw.split(b"\n") if line]
