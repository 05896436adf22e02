"""Two runs side by side: the table of ``sayso compare A B``."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from sayso.records import Estimate
from sayso.report.numbers import COUNTS, PLAIN, SIGNED, parse_where, points, signed
from sayso.report.terminal import data, say
from sayso.report.words import FORMS, METRICS, MORE, reason

#: shares are compared in percentage points; these keep their own unit
_OWN_UNIT = (
    SIGNED
    | PLAIN
    | COUNTS
    | {
        "auroc_incorrect",
        "auroc_incorrect_within",
        "auroc",
        "auroc_within",
        "claims_per_answer",
        "trend",
        "skill",
        "log_odds_within",
    }
)


def render_compare(
    differences: Sequence[Estimate],
    console: Console,
    first: str = "A",
    second: str = "B",
    notes: Sequence[str] = (),
    told: Sequence[str] = (),
) -> None:
    """Print paired differences, second run minus first, with intervals; the runs are named.

    A difference whose interval leaves out 0 is marked with a star. Undefined or refused ones are
    dashes with the reason below. ``told`` (what was compared) and ``notes`` (warnings) are printed
    first. Holds for an empty list.
    """
    say(console, f"\nB minus A\n  A = {first}\n  B = {second}", "bold", block=True)
    for text in told:
        say(console, text, "dim")
    for note in notes:
        say(console, f"! {note}", "yellow")
    if not differences:
        say(console, "Nothing to compare: the two runs share no number.", "")
        return
    table = Table(box=SIMPLE_HEAD, padding=(0, 2, 0, 0), pad_edge=False, show_edge=False)
    table.add_column("", no_wrap=True)
    table.add_column(data("what it means", console, "dim"))
    table.add_column("where")
    table.add_column(data("difference", console), justify="right", no_wrap=True)
    table.add_column(data("95 % range", console), no_wrap=True)
    table.add_column("", no_wrap=True)
    reasons: dict[str, list[str]] = {}
    for found in differences:
        where = _where(found.where)
        if found.value is None:
            reasons.setdefault(reason(found), []).append(f"{found.name} ({where})")
        table.add_row(
            data(found.name if found.name in METRICS else "", console, "bold"),
            data(_meaning(found.name), console),
            data(where, console),
            data(difference(found.name, found.value), console, "bold"),
            data(_range(found), console),
            data("*" if _clear(found) else "", console, "bold cyan"),
        )
    console.print(table)
    if any(_clear(found) for found in differences):
        say(console, f"* the 95 % range leaves out 0{by_chance(differences)}", "dim")
    for why, names in reasons.items():
        say(console, f"no value for {', '.join(names)}: {why}", "dim")


def by_chance(differences: Sequence[Estimate]) -> str:
    """Return how many stars to expect where nothing differs, once that is one or more."""
    ranges = sum(found.low is not None for found in differences)
    expected = round(ranges / 20)
    if not expected:
        return ""
    return f"; of {ranges:,} ranges about {expected:,} would where nothing differs"


def difference(name: str, value: float | None) -> str:
    """Return a difference with its sign, shares in percentage points (pp)."""
    if value is None or name in _OWN_UNIT:
        return signed(value)
    return points(value)


def _clear(found: Estimate) -> bool:
    return found.low is not None and found.high is not None and not found.low <= 0 <= found.high


def _range(found: Estimate) -> str:
    if found.value is None or found.low is None or found.high is None:
        return ""
    ends = [difference(found.name, end).removesuffix(" pp") for end in (found.low, found.high)]
    return f"[{ends[0]}, {ends[1]}]"


def _meaning(name: str) -> str:
    if name in METRICS:
        return METRICS[name][0]
    return MORE[name][0] if name in MORE else name.replace("_", " ")


def _where(where: str) -> str:
    part = parse_where(where)
    said = [FORMS.get(part.form, part.form), part.prompt and "not asked for doubt", part.known]
    said.append(f"{part.key} {part.value}" if part.key else "")
    return ", ".join(text for text in said if text) or "all"
