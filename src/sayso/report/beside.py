"""Other ways to ask for doubt, beside the instruction: one table a form, terminal and page."""

from __future__ import annotations

from collections.abc import Iterator

from sayso.records import Estimate
from sayso.report.clean import line
from sayso.report.faithfulness_found import METHODS
from sayso.report.numbers import Numbers
from sayso.report.tabulate import Cell, Notes, Table
from sayso.report.words import FORMS

#: columns: (number, head, in percent)
COLUMNS = (
    ("UUR", "UUR", True), ("KCR", "KCR", True), ("J", "J", False), ("J_within", "J within", False),
    ("odds_ratio_within", "odds ratio", False), ("wrong_and_sure", "wrong, sure", True),
)  # fmt: skip
INSTRUCTION = "the instruction"
ABOUT = (
    "Same facts, same probes. J within: inside types of fact. Odds ratio: of a hedge, unknown "
    "against known, within type. Wrong, sure: of all facts, those told wrongly without a hedge."
)


def rows(numbers: Numbers, form: str) -> Iterator[tuple[str, list[Estimate]]]:
    """Yield each way to ask with its numbers, the instruction first; nothing where it is alone."""
    names = [name for name, _ in numbers.slices("J", form, "method")]
    if names:
        yield INSTRUCTION, [numbers.get(name, form) for name, _, _ in COLUMNS]
    for method in names:
        title = METHODS.get(method, line(method, 40))
        yield title, [numbers.get(name, form, method=method) for name, _, _ in COLUMNS]


def board(numbers: Numbers, form: str) -> Table:
    """Return the table of a form for the page; without rows for a run of the instruction alone."""
    notes = Notes()
    found = []
    for title, estimates in rows(numbers, form):
        cells = [notes.cell(e, f"{e.name} ({title})") for e in estimates]
        found.append([Cell(title, head=True), *cells])
    caption = f"Other ways to ask for doubt, {FORMS[form]}"
    return Table(caption, ["", *(head for _, head, _ in COLUMNS)], found, [ABOUT, *notes.lines()])
