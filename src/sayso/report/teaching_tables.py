"""The tables of a teaching's page: methods by numbers, what changed, seeds, alignment, rows."""

from __future__ import annotations

from sayso.records import Estimate
from sayso.report.charts import PAIRS
from sayso.report.clean import line
from sayso.report.numbers import DASH, MINUS, compact, reach
from sayso.report.tabulate import Cell, Table
from sayso.report.teaching import BEYOND, CLEAR, PAPER, UNTESTED, WEAK, cell, counted, marked, weak
from sayso.report.words import FORMS
from sayso.taught import Teaching

STAGES = {"sft": "Supervised fine-tuning", "dpo": "Preference optimization", "rl": "RL"}
TESTED = {"odds_ratio_within": "log_odds_within"}
#: number -> what the tables call it
HEADS = {TESTED.get(name, name): head for name, head, _ in (*PAPER, *BEYOND)}


def board(
    taught: Teaching, form: str, heads: tuple[tuple[str, str, bool], ...], caption: str
) -> Table:
    """Return a table of methods by numbers, each with its interval."""
    rows_ = []
    for method in taught.methods:
        row = [Cell(line(method.title, 60), head=True)]
        for name, _, percent in heads:
            estimate = taught.get(method.name, form, name)
            tested = TESTED.get(name, name)
            star = marked(taught.change(method.name, "instruction", form, tested))
            text = cell(estimate, percent)
            if estimate.value is not None:
                text += star + weak(estimate)
            row.append(Cell(text, _tight(estimate, percent)))
        rows_.append(row)
    percents = "; ".join(head for _, head, percent in heads if percent)
    untested = [head for _, head, _ in heads if head in UNTESTED]
    are = "are" if len(untested) > 1 else "is"
    notes = [
        f"In percent: {percents}. Small: 95 % intervals over training seeds and entities. * "
        f"differs from the instruction alone (p < {CLEAR}, Holm over all methods and numbers"
        + (f"; {' and '.join(untested)} {are} not tested)." if untested else ").")
    ]
    if heads[0] == PAPER[0] and counted(taught, form):
        notes.append(counted(taught, form))
    notes += _problems(taught, form, heads)
    return Table(caption, ["", *(head for _, head, _ in heads)], rows_, notes)


def _problems(taught: Teaching, form: str, heads: tuple[tuple[str, str, bool], ...]) -> list[str]:
    """Return why numbers are missing or rest on a part, one line a reason."""
    found: dict[str, list[str]] = {}
    for method in taught.methods:
        for name, head, _ in heads:
            estimate = taught.get(method.name, form, name)
            if estimate.value is not None and not estimate.problem:
                continue
            reason, which = estimate.problem or "undefined", f"{head} of {method.title}"
            if reason.startswith("sparse: "):
                count, _, way = reason.removeprefix("sparse: ").rpartition("exact interval")
                reason = (
                    "few cases: exact interval"
                    if not way
                    else f"few cases: {count}exact interval{way}"
                )
                which += f" ({count.rstrip(', ')})" if not way else ""
            sign = DASH if estimate.value is None else WEAK
            found.setdefault(f"{sign} {reason}", []).append(which)
    return [
        line(f"{sign} {', '.join(which)}: {reason}.", 800)
        for (sign, _, reason), which in (
            (key.partition(" "), which) for key, which in found.items()
        )
    ]


def changes(taught: Teaching) -> Table:
    """Return every difference of trained methods that stays clear, and J's in any case."""
    titles = {method.name: method.title for method in taught.methods}
    trained = {method.name for method in taught.methods if method.kind == "trained"}
    rows_ = []
    for one in taught.changes:
        clear = one.p_holm is not None and one.p_holm < CLEAR
        if one.method not in trained or not (clear or one.difference.name == "J"):
            continue
        e = one.difference
        rows_.append(
            [
                Cell(
                    f"{titles[one.method]} minus {titles.get(one.against, one.against)}", head=True
                ),
                Cell(
                    f"{HEADS.get(e.name, line(e.name, 40))}, {FORMS.get(one.form, one.form)}",
                    style="left",
                ),
                Cell(_signed(e.value), _between(e)),
                Cell(_p(one.p)),
                Cell(_p(one.p_holm)),
            ]
        )
    head = ["", "number", "difference", "p", "p, Holm"]
    note = (
        f"Of {len(taught.changes)} tests, J's and those with a corrected p below {CLEAR}. Shares "
        "are numbers between 0 and 1, odds ratios logarithms."
    )
    return Table("What teaching changed", head, rows_, [note], "texts")


def by_seed(taught: Teaching) -> Table:
    """Return J of each training; without rows where there is one seed."""
    rows_ = []
    trained = [method for method in taught.methods if len(method.seeds) > 1]
    held = {(c.method, c.form): c.by_seed for c in taught.cells if c.estimate.name == "J"}
    for method in trained:
        for form in FORMS:
            values = held.get((method.name, form), ())
            if len(values) == len(method.seeds):
                cells = [Cell(DASH if v is None else compact(v)) for v in values]
                head = Cell(f"{line(method.title, 60)}, {FORMS[form]}", head=True)
                rows_.append([head, *cells])
    seeds = trained[0].seeds if trained else ()
    return Table("J of each seed", ["", *(f"seed {seed}" for seed in seeds)], rows_, [])


def _tight(estimate: Estimate, percent: bool) -> str:
    """Return an interval that stays on one line."""
    return reach(estimate, percent).replace(" ", "\N{NO-BREAK SPACE}")


def _between(e: Estimate) -> str:
    if e.low is None or e.high is None:
        return ""
    return f"[{_signed(e.low)},\N{NO-BREAK SPACE}{_signed(e.high)}]"


def _signed(value: float | None) -> str:
    return DASH if value is None else f"{value:+.3f}".replace("-", MINUS)


def _p(value: float | None) -> str:
    if value is None:
        return DASH
    return "< .001" if value < 0.001 else f"{value:.3f}"


def alignment(taught: Teaching) -> Table:
    """Return the numbers of the alignment bars."""
    rows_ = []
    for method in taught.methods:
        own = [taught.get(method.name, "both", f"align_{pair}") for pair in PAIRS]
        if any(e.value is not None for e in own):
            cells = [Cell(cell(e, True), _tight(e, True)) for e in own]
            rows_.append([Cell(line(method.title, 60), head=True), *cells])
    return Table("Short against long form, % of facts", ["", *PAIRS], rows_, [])


def rows(taught: Teaching) -> Table:
    """Return how many rows of each kind were trained on, in the order of the stages."""
    trained = {curve.stage for curve in taught.curves}
    found = []
    for name, number in sorted(taught.rows.items(), key=lambda one: not one[0].startswith("sft")):
        stage, form, kind = (*name.split(" ", 2), "", "")[:3]
        if stage in trained or not trained:
            head = Cell(f"{STAGES.get(stage, stage)}, {form}", head=True)
            found.append([head, Cell(line(kind, 60), style="left"), Cell(f"{number:,}")])
    return Table("Training rows of the first seed", ["", "kind", "rows"], found, [], "texts")
