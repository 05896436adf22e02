"""The tables that ``sayso check`` and ``sayso judge-check`` end with, in 80 columns or more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from sayso.report.terminal import data, say

COLORS = {"yes": "green", "no": "yellow", "cannot tell": "dim"}


def render_check(
    model: str,
    rows: Sequence[tuple[str, str, str, str]],
    left_out: Sequence[tuple[str, str]],
    notes: Sequence[str],
    bill: str,
    console: Console,
) -> None:
    """Print what a model can do: rows of (what, answer, what was seen, what follows).

    ``left_out`` are (result, why). All texts may come from an endpoint: no markup in them.
    """
    say(console, f"what {model} can do", "bold")
    table = _table(console, "", "", "what was seen", "what follows")
    for what, answer, seen, follows in rows:
        style = COLORS.get(answer, "")
        cells = (data(what, console), data(answer, console, style))
        table.add_row(*cells, data(seen, console), data(follows, console))
    console.print(table)
    reasons: dict[str, list[str]] = {}
    for result, why in left_out:
        reasons.setdefault(why, []).append(result)
    for why, results in reasons.items():
        say(console, f"! {why}, which leaves out: {'; '.join(results)}", "yellow")
    if not left_out:
        say(console, "Every result of sayso can be had with it.", "")
    for note in notes:
        say(console, f"! {note}", "yellow")
    say(console, bill, "dim")


class JudgeTables(NamedTuple):
    """A check of a judge as text: head lines, tables of (title, columns, rows), closing lines.

    ``bad`` lines are warnings.
    """

    head: Sequence[str]
    tables: Sequence[tuple[str, Sequence[str], Sequence[Sequence[str]]]]
    bad: Sequence[str]
    tail: Sequence[str]


def render_judge(found: JudgeTables, kept: str | None, console: Console) -> None:
    """Print a check of a judge; ``kept`` is the file that later reports cite."""
    for place, text in enumerate(found.head):
        say(console, text, "" if place else "bold")
    for title, columns, rows in found.tables:
        console.print()
        table = _table(console, title, *columns)
        for row in rows:
            table.add_row(*(data(cell, console) for cell in row))
        console.print(table)
    console.print()
    for text in found.bad:
        say(console, f"! {text}", "yellow")
    for text in found.tail:
        say(console, text, "")
    if kept is None:
        say(console, "not kept: --limit left answers out, and reports cite whole checks only", "")
    else:
        say(console, f"kept, and cited by every later report of this judge: {kept}", "", True)


def _table(console: Console, *columns: str) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for column in columns:
        # a long name is folded: cut, two folders of one name would look alike
        table.add_column(data(column, console, "dim"), overflow="fold")
    return table
