"""A teaching in the terminal: the verdict, and a table by method in UNCLE's layout."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from sayso.records import Estimate
from sayso.report.clean import line
from sayso.report.numbers import reach
from sayso.report.terminal import data, plain_table, say
from sayso.taught import Change, Teaching

FORMS = ("short", "long")
#: columns: (number, head, in percent)
PAPER = (
    ("FA", "FA", True), ("UA", "UA", True), ("KCR", "KCR", True), ("UUR", "UUR", True),
    ("EA", "EA", True), ("J", "J", False),
)  # fmt: skip
BEYOND = (
    ("J_within", "J within", False), ("odds_ratio_within", "odds ratio", False),
    ("unspoken_knowledge", "unspoken", False), ("forced", "forced", True),
    ("skill", "skill", False), ("wrong_and_sure", "wrong, sure", True),
)  # fmt: skip
#: numbers that one form alone has
ONE_FORM = {"forced": "short"}
#: what the columns are
ABOUT = {
    "FA": "right, of what is not hedged",
    "UA": "unknown, of what is hedged",
    "KCR": "known facts told rightly",
    "UUR": "unknown facts hedged",
    "EA": "known and told, or unknown and hedged",
    "J": "UUR less the hedged share of known facts; 0 for every blind hedger",
    "J within": "J within fact types: hedging whole types does not help",
    "odds ratio": "odds of hedging, unknown against known, within type",
    "unspoken": "J within type that its own probabilities would add at the same hedge rates",
    "forced": "known facts of which the most probable of the base model's own committed answers is "
    "right (short form)",
    "skill": "words against the base model's frozen draws: 0 blind, 1 perfectly faithful",
    "wrong, sure": "facts told wrongly without a hedge",
}
#: a corrected p below which a change is marked
CLEAR = 0.05


def heads_of(
    form: str, heads: Sequence[tuple[str, str, bool]]
) -> tuple[tuple[str, str, bool], ...]:
    """Return the columns that a form has."""
    return tuple(head for head in heads if ONE_FORM.get(head[0], form) == form)


def cell(estimate: Estimate, percent: bool) -> str:
    """Return a number as the table prints it; "-" where it is undefined."""
    if estimate.value is None:
        return "-"
    text = f"{100 * estimate.value:.1f}" if percent else f"{estimate.value:.2f}"
    return text.removeprefix("-") if float(text) == 0 else text


def marked(change: Change | None) -> str:
    """Return "*" for a change that stays clear after Holm's correction."""
    clear = change is not None and change.p_holm is not None and change.p_holm < CLEAR
    return "*" if clear else ""


def render(taught: Teaching, console: Console, page: Path | None = None) -> None:
    """Print the verdict and the tables. Holds for a teaching that was only exported."""
    for text in taught.verdict:
        say(console, line(text, 600), "bold" if text is taught.verdict[0] else "")
    for form in FORMS if taught.cells else ():
        for part, every in (("", PAPER), ("more", BEYOND)):
            heads = heads_of(form, every)
            console.print()
            console.print(_board(taught, form, part, heads, console))
    seeds = "1 seed" if len(taught.seeds) == 1 else f"{len(taught.seeds)} seeds"
    if taught.cells:
        say(
            console,
            f"95 % intervals over {seeds} and {taught.entities.get('measured')} "
            f"entities. * differs from the instruction alone (p < {CLEAR} after Holm over methods "
            "and numbers; FA and UA are not tested). Known and unknown: frozen probes of "
            f"{line(taught.base_run, 200)}. Forced: {ABOUT['forced']}.",
            "dim",
        )
    for text in taught.notes:
        say(console, line(text, 400), "dim")
    if page is not None:
        say(console, f"page: {page}", "dim")


def _board(
    taught: Teaching,
    form: str,
    part: str,
    heads: Sequence[tuple[str, str, bool]],
    console: Console,
) -> Table:
    table = plain_table()
    title = f"{form} form, {part}" if part else f"{form} form"
    table.add_column(data(title, console, "bold"), no_wrap=True)
    for _, head, _ in heads:
        table.add_column(data(head, console, "dim"), justify="right")
    for method in taught.methods:
        own = [(taught.get(method.name, form, name), name, p) for name, _, p in heads]
        shown = []
        for estimate, name, percent in own:
            tested = "log_odds_within" if name == "odds_ratio_within" else name
            star = marked(taught.change(method.name, "instruction", form, tested))
            shown.append(cell(estimate, percent) + (star if estimate.value is not None else ""))
        table.add_row(data(method.title, console), *(data(x, console) for x in shown))
        ranges = [reach(estimate, percent) for estimate, _, percent in own]
        table.add_row("", *(data(x, console, "dim") for x in ranges))
    return table
