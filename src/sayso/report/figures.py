"""The drawn charts of the page, each wide and narrow, with words for who cannot see them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from markupsafe import Markup

from sayso.report import charts, svg
from sayso.report.numbers import Numbers, interval, show
from sayso.report.words import FORMS, METRICS


class Figure(NamedTuple):
    """Two drawings of one chart; the style sheet shows the one that fits."""

    wide: Markup
    narrow: Markup


def figures(numbers: Numbers, names: dict[str, str]) -> dict[str, Figure | None]:
    """Return the charts by name; ``None`` where there is nothing to draw."""
    return {
        "metrics": _both(lambda width: charts.metrics(numbers, width), _describe(numbers)),
        "domains": _both(
            lambda width: charts.domains(numbers, width),
            "J by domain with 95 % intervals; the values stand in the table that follows.",
        ),
        "types": _both(
            lambda width: charts.types(numbers, names, width),
            "J by type of fact with 95 % intervals; the values stand in the table that follows.",
        ),
        "alignment": _both(
            lambda width: charts.alignment(numbers, width),
            "Shares of facts stated or hedged in short answers and in paragraphs; the values stand "
            "in the table that follows.",
        ),
    }


def _both(make: Callable[[int], charts.Drawing | None], label: str) -> Figure | None:
    wide, narrow = make(charts.WIDE), make(charts.NARROW)
    if wide is None or narrow is None:
        return None
    return Figure(svg.draw(wide, label, "wide"), svg.draw(narrow, label, "narrow"))


def _describe(numbers: Numbers) -> str:
    said = [
        f"{name} {FORMS[form]} {show(found)} {interval(found)}"
        for name in METRICS
        for form in numbers.forms
        if (found := numbers.get(name, form)).value is not None
    ]
    return f"Metrics with 95 % intervals: {'; '.join(said)}."
