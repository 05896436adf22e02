"""The tables of the page: rows of written numbers, each dash with its reason below."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sayso.harmless import line
from sayso.records import Estimate, signature_text
from sayso.report.numbers import (
    interval,
    is_bare,
    ratio_counts,
    shown_value,
    tight,
    why_undefined,
)


def signatures(named: Iterable[tuple[str, Estimate]]) -> list[tuple[str, str]]:
    """Return (name, signature) of estimates that have a signature."""
    return [(name, line(signature_text(e.signature), 1_500)) for name, e in named if e.signature]


class TableCell(NamedTuple):
    """One cell: the text, and a smaller second line.

    ``level`` 0-9 shades it, ``style`` is a class of the style sheet, ``rows`` how many it spans.
    """

    text: str
    detail: str = ""
    head: bool = False
    level: int = -1
    style: str = ""
    rows: int = 1


class Table(NamedTuple):
    """A table of the page; without rows it is left out."""

    caption: str
    head: list[str]
    rows: list[list[TableCell]]
    notes: list[str]
    style: str = ""


class Notes:
    """Collects why numbers are missing, one line for each reason."""

    def __init__(self) -> None:
        self._reasons: dict[str, list[str]] = {}

    def cell(self, estimate: Estimate, label: str, detail: bool = True) -> TableCell:
        if estimate.value is None or is_bare(estimate):
            self._reasons.setdefault(why_undefined(estimate), []).append(label)
            return TableCell(shown_value(estimate))
        parts = [interval(estimate), ratio_counts(estimate)] if detail else []
        return TableCell(shown_value(estimate), " ".join(tight(part) for part in parts if part))

    def lines(self) -> list[str]:
        dash = shown_value(Estimate(""))
        return [
            f"No value ({dash}) for {_joined(labels[:12])}{' …' if len(labels) > 12 else ''}: "
            f"{line(why, 300)}"
            for why, labels in self._reasons.items()
        ]


def _joined(labels: Sequence[str]) -> str:
    """Return labels as a list, with the parts of one number in one pair of parentheses."""
    parts: dict[str, list[str]] = {}
    for label in labels:
        name, _, rest = label.removesuffix(")").partition(" (")
        parts.setdefault(name if rest and label.endswith(")") else label, []).append(rest)
    return ", ".join(
        f"{name} ({'; '.join(rests)})" if all(rests) else name for name, rests in parts.items()
    )
