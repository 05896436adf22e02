"""A sweep in the terminal and as a page: one line for each value and form."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from sayso.report.numbers import reach
from sayso.report.teaching import cell
from sayso.report.teaching_page import page
from sayso.report.terminal import data, plain_table, say
from sayso.taught import Teaching, write_page

#: (number, head, in percent)
COLUMNS = (
    ("J", "J", False), ("UUR", "UUR", True), ("KCR", "KCR", True),
    ("unspoken_knowledge", "unspoken", False), ("skill", "skill", False),
    ("wrong_and_sure", "wrong, sure", True),
)  # fmt: skip
FORMS = ("short", "long")


def render(taught: Teaching, console: Console, place: Path | None = None) -> None:
    """Print the last stage's numbers of every value, with 95 % intervals."""
    setting = taught.sweep[0].setting if taught.sweep else "setting"
    last = taught.methods[-1].title if taught.methods else ""
    for form in FORMS:
        table = plain_table()
        table.add_column(data(f"{form} form, {setting}", console, "bold"), no_wrap=True)
        for _, head, _ in COLUMNS:
            table.add_column(data(head, console, "dim"), justify="right")
        for point in taught.sweep:
            own = [(point.numbers[f"{form} {name}"], percent) for name, _, percent in COLUMNS]
            cells = (data(cell(found, percent), console) for found, percent in own)
            table.add_row(data(f"{point.value:g}", console), *cells)
            ranges = (data(reach(found, percent), console, "dim") for found, percent in own)
            table.add_row("", *ranges)
        console.print()
        console.print(table)
    seeds = "1 seed" if len(taught.seeds) == 1 else f"{len(taught.seeds)} seeds"
    say(
        console,
        f"{last} of each value; 95 % intervals over {seeds} and "
        f"{taught.entities.get('measured')} entities. The best of many values looks better than "
        "it is: choose on entities that are measured no more.",
        "dim",
    )
    if place is not None:
        say(console, f"page: {place}", "dim")


def write(folder: str | Path, taught: Teaching) -> Path:
    """Write the page of a sweep, with UUR against KCR of each value; return its path."""
    return write_page(folder, page(taught))
