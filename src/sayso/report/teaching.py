"""A teaching in the terminal: the verdict, and a table by method in UNCLE's layout."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from sayso.records import Estimate
from sayso.report.clean import line
from sayso.report.numbers import DASH, compact, reach
from sayso.report.terminal import data, plain_table, say
from sayso.taught import Change, Teaching

FORMS = ("short", "long")
#: columns of a terminal below which the further numbers are two tables
WIDE = 96
#: columns: (number, head, in percent)
PAPER = (
    ("FA", "FA", True), ("UA", "UA", True), ("UUR", "UUR", True), ("KCR", "KCR", True),
    ("EA", "EA", True), ("J", "J", False),
)  # fmt: skip
BEYOND = (
    ("J_within", "J within", False), ("odds_ratio_within", "odds ratio", False),
    ("unspoken_knowledge", "unspoken", False), ("forced", "forced", True),
    ("skill", "skill", False), ("wrong_and_sure", "wrong, sure", True),
    ("unasked", "unasked", True),
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
    "unasked": "facts hedged where nobody asks for doubt, by the same model: the plain prompt",
}
#: numbers that are shown and not tested, by their heads
UNTESTED = ("FA", "UA", "unasked")
#: a corrected p below which a change is marked
CLEAR = 0.05
#: what marks a number that rests on little
WEAK = "~"


def heads_of(
    form: str, heads: Sequence[tuple[str, str, bool]]
) -> tuple[tuple[str, str, bool], ...]:
    """Return the columns that a form has."""
    return tuple(head for head in heads if ONE_FORM.get(head[0], form) == form)


def cell(estimate: Estimate, percent: bool) -> str:
    """Return a number as the table prints it, as its interval is; a dash where it is undefined."""
    if estimate.value is None:
        return DASH
    return f"{abs(100 * estimate.value):.1f}" if percent else compact(estimate.value)


def marked(change: Change | None) -> str:
    """Return "*" for a change that stays clear after Holm's correction."""
    clear = change is not None and change.p_holm is not None and change.p_holm < CLEAR
    return "*" if clear else ""


def weak(estimate: Estimate) -> str:
    """Return "~" for a number with few cases, without an interval, or undefined in resamples."""
    return WEAK if estimate.value is not None and estimate.problem else ""


def unfinished(taught: Teaching) -> str:
    """Return that a teaching is not finished, and how to go on; empty for a finished one."""
    if taught.finished:
        return ""
    command = line(taught.command, 2_000)
    with_it = f"`{command}`" if command else "the same call"
    return f"This teaching is not finished: {with_it} goes on with it."


def counted(taught: Teaching, form: str) -> str:
    """Return how many known and unknown facts there are, and what was hedged where that is little.

    Empty where the table holds no counts.
    """
    found: dict[str, list[Estimate]] = {}
    few = []
    for method in taught.methods:
        own = [taught.get(method.name, form, name) for name in ("over_hedge", "UUR")]
        for estimate in own:
            if estimate.denominator is not None:
                found.setdefault(estimate.name, []).append(estimate)
        told = [
            f"{_count(estimate.numerator)} {kind}"
            for estimate, kind in zip(own, ("known", "unknown"), strict=True)
            if estimate.numerator is not None
        ]
        if told and any(estimate.numerator is not None and estimate.problem for estimate in own):
            few.append(f"{line(method.title, 60)} {' and '.join(told)}")
    if len(found) < 2:
        return ""
    known, unknown = (_range(found[name]) for name in ("over_hedge", "UUR"))
    text = f"{known} known and {unknown} unknown facts."
    return f"{text} Hedged, where few: {'; '.join(few)}." if few else text


def _range(found: Sequence[Estimate]) -> str:
    """Return a number of facts; two where methods differ, as answers were unreadable."""
    sizes = sorted(estimate.denominator or 0.0 for estimate in found)
    ends = dict.fromkeys(_count(size) for size in (sizes[0], sizes[-1]))
    return " to ".join(ends)


def _count(value: float) -> str:
    """Return a count; of several seeds the mean."""
    return f"{value:,.1f}".removesuffix(".0")


def render(taught: Teaching, console: Console, page: Path | None = None) -> None:
    """Print the verdict and the tables. Holds for a teaching that was only exported."""
    if unfinished(taught):
        say(console, unfinished(taught), "bold yellow")
    for text in taught.verdict:
        say(console, line(text, 600), "bold" if text is taught.verdict[0] else "")
    for form in FORMS if taught.cells else ():
        for part, every in (("", PAPER), ("more", BEYOND)):
            heads = heads_of(form, every)
            half = len(heads) if not part or console.width >= WIDE else -(-len(heads) // 2)
            for at in range(0, len(heads), half):
                console.print()
                console.print(_board(taught, form, part, heads[at : at + half], console))
            if not part and counted(taught, form):
                say(console, counted(taught, form), "dim")
    seeds = "1 seed" if len(taught.seeds) == 1 else f"{len(taught.seeds)} seeds"
    if taught.cells:
        say(
            console,
            f"95 % intervals over {seeds} and {taught.entities.get('measured')} "
            f"entities. * differs from the instruction alone (p < {CLEAR} after Holm over methods "
            f"and numbers; {_untested()} are not tested). Known and unknown: frozen probes of "
            f"{line(taught.base_run, 200)}. Forced: {ABOUT['forced']}. Unasked: "
            f"{ABOUT['unasked']}.",
            "dim",
        )
        if any(weak(one.estimate) for one in taught.cells):
            few = "few cases or undefined in some resamples: see the page"
            say(console, f"{WEAK} {few}", "dim")
    for text in taught.notes:
        say(console, line(text, 400), "dim")
    if page is not None:
        say(console, f"page: {page}", "dim")


def _untested() -> str:
    return f"{', '.join(UNTESTED[:-1])} and {UNTESTED[-1]}"


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
            mark = star + weak(estimate) if estimate.value is not None else ""
            shown.append(cell(estimate, percent) + mark)
        table.add_row(data(method.title, console), *(data(x, console) for x in shown))
        ranges = [reach(estimate, percent) for estimate, _, percent in own]
        table.add_row("", *(data(x, console, "dim") for x in ranges))
    return table
