"""The tables of the page: rows of written numbers, each dash with its reason below."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from sayso.records import Estimate
from sayso.report.clean import line
from sayso.report.numbers import GUESSABLE, Numbers, bounds, counts, interval, percent, show
from sayso.report.robustness import ROBUST
from sayso.report.words import FORMS, METRICS, MORE, STANCES, reason

#: rows of slices that a page shows; the table of the run has them all
MOST_ROWS = 300
KNOWN = {
    "": "any draw right (headline)",
    "corrected": "more right draws than guessing explains",
    "strict": "all draws and the plain answer right, or none",
}
#: where space is short
NARROW_FORMS = {"short": "short", "long": "paragraph"}
COMPARED = {
    "this model": {},
    "not asked to voice doubt": {"prompt": "plain"},
    "never hedging": {"policy": "never"},
    "always hedging": {"policy": "always"},
    "hedging as often, at random": {"policy": "random"},
    "hedging as often, by fact type": {"policy": "type"},
    "hedging as often, by answer length": {"policy": "length"},
    "hedging as often, by its own log-probabilities": {"policy": "own_logprob"},
}


class Cell(NamedTuple):
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
    rows: list[list[Cell]]
    notes: list[str]
    style: str = ""


def _tight(text: str) -> str:
    """Keep an interval on one line."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


class Notes:
    """Collects why numbers are missing, one line for each reason."""

    def __init__(self) -> None:
        self._reasons: dict[str, list[str]] = {}

    def cell(self, estimate: Estimate, label: str, detail: bool = True) -> Cell:
        if estimate.value is None:
            self._reasons.setdefault(reason(estimate), []).append(label)
            return Cell(show(estimate))
        parts = [interval(estimate), counts(estimate)] if detail else []
        return Cell(show(estimate), " ".join(_tight(part) for part in parts if part))

    def lines(self) -> list[str]:
        return [
            f"{show(Estimate(''))} {', '.join(labels[:12])}{' …' if len(labels) > 12 else ''}: "
            f"{line(why, 300)}"
            for why, labels in self._reasons.items()
        ]


def metrics(numbers: Numbers) -> Table:
    """The six headline metrics by form."""
    rows = {name: (f"{name} – {meaning}", text) for name, (meaning, text, _) in METRICS.items()}
    return _by_form(numbers, "Value, 95 % interval, count", rows)


def more(numbers: Numbers) -> Table:
    """The numbers that the paper does not have."""
    return _by_form(numbers, "Value, 95 % interval, count", MORE, computed=True)


def robustness(numbers: Numbers) -> Table:
    """Further draws and other wordings of the prompt; empty for runs without them."""
    caption = "Asked again and in other words: value, 95 % interval, count"
    return _by_form(numbers, caption, ROBUST, computed=True)


def stances(numbers: Numbers) -> Table:
    """How the unknown facts were hedged: the parts of UUR."""
    rows = {name: (text, "") for name, text in STANCES.items()}
    return _by_form(numbers, "How doubt was voiced, of the unknown facts", rows, computed=True)


def _by_form(
    numbers: Numbers, caption: str, rows: dict[str, tuple[str, str]], computed: bool = False
) -> Table:
    notes = Notes()
    found = []
    for name, (label, text) in rows.items():
        if computed and not any(numbers.has(name, form) for form in numbers.forms):
            continue
        cells = [notes.cell(numbers.get(name, f), f"{name} ({FORMS[f]})") for f in numbers.forms]
        found.append([Cell(label, text, head=True), *cells])
    head = ["", *(FORMS[form] for form in numbers.forms)]
    return Table(caption, head, found if numbers.forms else [], notes.lines(), "stack")


def compared(numbers: Numbers, form: str) -> Table:
    """This model beside policies that do not look at the fact, on the same facts."""
    return _grid(
        f"The same facts under other policies, {FORMS[form]}",
        {label: partial(numbers.get, form=form, **part) for label, part in COMPARED.items()},
        list(METRICS),
    )


def known_variants(numbers: Numbers, form: str) -> Table:
    """The headline under other definitions of known; they leave out different facts."""
    variants = {k: v for k, v in KNOWN.items() if numbers.has("J", form, known=k)}
    if len(variants) < 2:
        return Table("", [], [], [])
    lines = {label: partial(numbers.get, form=form, known=k) for k, label in variants.items()}
    caption = f"Other ways to decide what it knows, {FORMS[form]}"
    return _grid(caption, lines, list(METRICS), facts=True)


def _grid(
    caption: str,
    lines: Mapping[str, Callable[..., Estimate]],
    names: Sequence[str],
    facts: bool = False,
) -> Table:
    """One line for each way of counting; ``facts`` adds how many facts each counts."""
    rows: list[list[Cell]] = []
    for label, find in lines.items():
        found = [find(name) for name in names]
        if rows and all(e.value is None for e in found):
            continue
        style = "" if rows else "own"
        count = [Cell(f"{max(e.n for e in found):,}", style=style)] if facts else []
        cells = [Cell(show(e), style=style) for e in found]
        rows.append([Cell(label, head=True, style=style), *count, *cells])
    return Table(caption, ["", *(["facts"] if facts else []), *names], rows, [])


def matrix(numbers: Numbers, form: str) -> Table:
    """The 2x3 matrix of what was known by what was said, shaded by the share of its row."""
    rows = []
    for label, row in (("known", "k"), ("unknown", "u")):
        cells = [numbers.get(f"cell_{row}{column}", form).value for column in "ciu"]
        total = sum(cell or 0 for cell in cells)
        if any(cell is None for cell in cells):
            return Table("", [], [], [])
        shares = [(cell or 0) / total if total else None for cell in cells]
        rows.append(
            [Cell(label, f"{total:.0f} facts", head=True)]
            + [
                Cell(
                    f"{cell or 0:.0f}",
                    percent(share) if total else "",
                    level=round(9 * (share or 0)),
                    style="good" if row + column in ("kc", "uu") else "",
                )
                for cell, share, column in zip(cells, shares, "ciu", strict=True)
            ]
        )
    return Table(
        f"{FORMS[form].capitalize()}: facts, and their share of the row",
        ["", "told right", "told wrong", "hedged"],
        rows,
        [],
    )


def slices(numbers: Numbers, key: str, names: dict[str, str]) -> Table:
    """Headline numbers of every domain or fact type, by form; guess rates where there are any."""
    notes = Notes()
    rows = []
    shown = ("J", "UUR", "over_hedge", "p_known", "FA")
    guesses = dict(numbers.slices("guess_rate", "", key))
    values = list(dict.fromkeys(v for f in numbers.forms for v, _ in numbers.slices("J", f, key)))
    for value in values[:MOST_ROWS]:
        label = line(names.get(value, value), 80)
        for place, form in enumerate(numbers.forms):
            found = [numbers.get(name, form, **{key: value}) for name in shown]
            facts = next((e.n for e in found if e.n), 0)
            cells = [
                notes.cell(e, f"{e.name} ({label}, {FORMS[form]})", e.name in ("UUR", "J"))
                for e in found
            ]
            row = [Cell(NARROW_FORMS[form], style="left"), Cell(f"{facts:,}"), *cells]
            if place == 0:
                row.insert(0, Cell(label, head=True, rows=len(numbers.forms)))
            if guesses and place == 0:
                row.append(_guess(guesses.get(value), len(numbers.forms)))
            rows.append(row)
    head = ["", "", "facts", "J", "UUR", "known, yet hedged", "known", "FA"]
    head += ["guess rate"] if guesses else []
    left = len(values) - MOST_ROWS
    more_rows = [f"{left} more stand in the run's table metrics."] if left > 0 else []
    name = {"domain": "domain", "type": "type of fact"}[key]
    return Table(f"Every {name}", head, rows, [*more_rows, *notes.lines()[:20]])


def _guess(rate: Estimate | None, rows: int) -> Cell:
    if rate is None or rate.value is None:
        return Cell(show(Estimate("")), rows=rows)
    high = rate.value > GUESSABLE
    return Cell(show(rate), "⚑ easily guessed" if high else "", rows=rows)


def alignment(numbers: Numbers) -> Table:
    """Which facts were stated or hedged in which form, for all, known and unknown facts."""
    notes = Notes()
    rows = []
    for label, part in (
        ("all", {}),
        ("known", {"given": "known"}),
        ("unknown", {"given": "unknown"}),
    ):
        # kappa alone is computed for the known and for the unknown facts
        pairs = [f"align_{pair}" for pair in ("CC", "CU", "UC", "UU")]
        found = [numbers.get(name, **part) for name in (*pairs, "kappa")]
        if any(e.value is not None for e in found):
            cells = [
                notes.cell(e, f"{e.name} ({label})") if e.signature or e.n else Cell("")
                for e in found
            ]
            rows.append([Cell(f"{label} facts", head=True), *cells])
    head = [
        "",
        "stated in both",
        "stated short, hedged long",
        "hedged short, stated long",
        "hedged in both",
        "kappa",
    ]
    return Table("Short against long", head, rows, notes.lines())


def missing(numbers: Numbers) -> Table:
    """Verdicts nobody could read, and how far the metrics could move whatever they were."""
    rows = []
    for form in numbers.forms:
        for name in METRICS:
            found = numbers.get(name, form)
            if found.missing:
                rows.append(
                    [
                        Cell(f"{name}, {FORMS[form]}", head=True),
                        Cell(f"{found.missing:,}"),
                        Cell(show(found)),
                        Cell(bounds(found) or show(Estimate(""))),
                    ]
                )
    return Table(
        "Metrics with missing verdicts", ["", "missing", "as printed", "lowest, highest"], rows, []
    )
