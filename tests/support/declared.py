"""A watch that a number is shown only as its protocol declares it, never by its name alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from sayso.metric import Metric, MetricTable, Notation
from sayso.protocols import PROTOCOLS
from sayso.report import numbers

SRC = Path(__file__).parents[2] / "src" / "sayso" / "protocols"
#: functions of a protocol's measure.py whose first argument is the name of a number
NAMING = {
    "Estimate", "_count_share", "_interval", "_mean", "_share", "bootstrap_ratio",
    "bootstrap_share", "gap", "interval", "number", "of_share", "per", "ratio", "declared_share",
}  # fmt: skip


class _Notations(dict[str, Notation]):
    """Notations by name; a name that no protocol declares is an error. "" is that of a dash."""

    def get(self, name: str, default: Notation = "percent") -> Notation:  # type: ignore[override]
        return self[name] if name else default


def only_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make it an error to ask for the words or the notation of an undeclared number."""

    def named(table: MetricTable, name: str) -> Metric:
        return table[name]

    declared = _Notations(
        {m.name: m.notation for plan in PROTOCOLS.values() for m in plan.metrics.values()}
    )
    monkeypatch.setattr(MetricTable, "named", named)
    monkeypatch.setattr(numbers, "NOTATIONS", declared)


def written_names(protocol: str) -> Iterator[str]:
    """Yield the names of numbers that stand as text in a protocol's ``measure.py``."""
    path = SRC / protocol / "measure.py"
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else node.func
        name = called.id if isinstance(called, ast.Name) else called
        texts = [k.value for k in node.keywords if k.arg == "name"]
        texts += node.args[:1] if name in NAMING else []
        yield from (
            text.value
            for text in texts
            if isinstance(text, ast.Constant) and isinstance(text.value, str)
        )
