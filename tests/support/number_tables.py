"""The tables of docs/numbers.md: every number of every protocol, as the protocols declare them.

``python -m support.number_tables`` (in ``tests/``) writes them into the page.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from sayso.metric import Metric, Notation
from sayso.protocols import PROTOCOLS
from sayso.report.numbers import capital

PAGE = Path(__file__).parents[2] / "docs" / "numbers.md"
HEAD = ("name", "in words", "what it is", "value")
WRITTEN: dict[Notation, str] = {
    "percent": "percent",
    "signed": "signed",
    "gap": "signed, with interval",
    "plain": "decimal",
    "count": "count",
    "fraction": "fraction",
}
BETTER = {True: ["higher"], False: ["lower"], None: []}
#: the ends of a scale that a notation implies; a row names only others
ENDS: dict[Notation, str] = {
    "percent": "0 to 1",
    "signed": "-1 to 1",
    "gap": "-1 to 1",
    "plain": "from 0",
    "count": "from 0",
    "fraction": "0 to 1",
}


def markers(protocol: str) -> tuple[str, str]:
    """Return the lines of the page before and after the table of a protocol."""
    return f"<!-- numbers of {protocol}: kept equal by a test -->\n", "\n<!-- end of numbers -->"


def table(protocol: str) -> Iterator[str]:
    """Yield the lines of the table of a protocol's numbers."""
    yield f"| {' | '.join(HEAD)} |"
    yield f"|{'---|' * len(HEAD)}"
    for metric in PROTOCOLS[protocol].metrics.values():
        yield f"| {' | '.join((name(metric), metric.label, described(metric), value(metric)))} |"


def name(metric: Metric) -> str:
    """Return the name of a number, with its symbol if that is another."""
    named = f"`{metric.name}`"
    return named if metric.symbol in ("", metric.name) else f"{named} ({metric.symbol})"


def described(metric: Metric) -> str:
    """Return what a number is, and where it was defined, if not by sayso."""
    text = meaning(metric)
    return f"{text} Source: {metric.source}." if metric.source else text


def value(metric: Metric) -> str:
    """Return how a value is written, which end is better, and an unusual scale."""
    scale = ends(metric.limits)
    unusual = [] if scale == ENDS[metric.notation] else [f"scale: {scale}"]
    return ", ".join((WRITTEN[metric.notation], *BETTER[metric.higher], *unusual))


def meaning(metric: Metric) -> str:
    """Return what a number is, in sentences: its meaning, else its definition; "" if neither."""
    if metric.meaning:
        return metric.meaning
    return f"{capital(metric.definition)}." if metric.definition else ""


def ends(limits: tuple[float, float] | None) -> str:
    """Return the ends of a scale: "0 to 1", "from 0", "to 1", or "none"."""
    if limits is None:
        return "none"
    low, high = limits
    if math.isinf(high):
        return f"from {low:g}"
    if math.isinf(low):
        return f"to {high:g}"
    return f"{low:g} to {high:g}"


def shown(page: str, protocol: str) -> list[str]:
    """Return the lines of a protocol's table as the page has them."""
    first, last = markers(protocol)
    _, _, rest = page.partition(first)
    return rest.partition(last)[0].splitlines()


def renewed(page: str) -> str:
    """Return the page with the tables of today."""
    for protocol in PROTOCOLS:
        first, last = markers(protocol)
        before, found, rest = page.partition(first)
        if not found:
            raise ValueError(f"the page has no table of {protocol}")
        _, _, after = rest.partition(last)
        page = before + first + "\n".join(table(protocol)) + "\n" + last + after
    return page


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
