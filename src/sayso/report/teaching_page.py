"""The page of a teaching: verdict, table by method, alignment, curves, facts before and after."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from sayso.records import Estimate
from sayso.report import svg
from sayso.report import teaching_charts as charts
from sayso.report.charts import NARROW, PAIRS, WIDE, Drawing
from sayso.report.clean import block, line
from sayso.report.figures import Figure
from sayso.report.html import _page
from sayso.report.numbers import reach
from sayso.report.tabulate import Cell, Table
from sayso.report.teaching import ABOUT, BEYOND, CLEAR, PAPER, cell, heads_of, marked
from sayso.report.words import FORMS
from sayso.taught import Sample, Teaching, read_teaching, write_page

STAGES = {"sft": "Supervised fine-tuning", "dpo": "Preference optimization", "rl": "RL"}
#: characters of an answer that a page shows
MOST_TEXT = 2_000
MEANING = {
    "CC": "certain in both forms",
    "CU": "certain alone, uncertain in the paragraph",
    "UC": "uncertain alone, certain in the paragraph",
    "UU": "uncertain in both",
}
TESTED = {"odds_ratio_within": "log_odds_within"}


class Shown(NamedTuple):
    """One fact before and after, ready to be escaped."""

    form: str
    entity: str
    question: str
    golds: str
    known: str
    before: str
    after: str
    before_value: str
    after_value: str


def write(folder: str | Path) -> Path:
    """Write ``report.html`` of a teaching; return its path. Raises InputError."""
    return write_page(folder, page(read_teaching(folder)))


def page(taught: Teaching) -> str:
    """Return the page as text. Holds for any numbers and any texts."""
    return _page("teaching.html.j2", context(taught))


def context(taught: Teaching) -> dict[str, Any]:
    """Return what the template needs."""
    stages = list(dict.fromkeys(curve.stage for curve in taught.curves))
    return {
        "title": line(taught.model, 120) or "a model",
        "verdict": [line(text, 600) for text in taught.verdict],
        "tables": [
            board(taught, form, heads_of(form, heads), caption)
            for form in FORMS
            for heads, caption in (
                (PAPER, f"{FORMS[form].capitalize()}, in UNCLE's layout"),
                (BEYOND, f"{FORMS[form].capitalize()}: what those rates leave out"),
            )
        ],
        "changes": changes(taught),
        "charts": _forests(taught),
        "alignment": _both(
            partial(charts.alignment, taught),
            "Shares of facts by certainty in short and long form, a bar each method.",
        ),
        "aligned": alignment(taught),
        "meaning": MEANING,
        "pairs": list(PAIRS),
        "curves": _curves(taught, stages),
        "sweeps": _sweeps(taught),
        "samples": [_shown(sample) for sample in taught.samples],
        "rows": rows(taught),
        "settings": [(line(k, 80), line(str(v), 300)) for k, v in taught.settings.items()],
        "facts": _facts(taught),
        "notes": [line(note, 500) for note in taught.notes],
        "command": line(taught.command, 2_000),
        "signature": line(taught.signature, 1_500),
        "definitions": ABOUT,
        "builtin": taught.model == "builtin",
        "clear": CLEAR,
    }


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
            row.append(Cell(text if text == "-" else text + star, reach(estimate, percent)))
        rows_.append(row)
    percents = ", ".join(head for _, head, percent in heads if percent)
    notes = [
        f"{percents} in percent. Small: 95 % intervals over training seeds and entities. "
        f"* differs from the instruction alone (p < {CLEAR}, Holm over all methods and numbers)."
    ]
    notes += _problems(taught, form, heads)
    return Table(caption, ["", *(head for _, head, _ in heads)], rows_, notes)


def _problems(taught: Teaching, form: str, heads: tuple[tuple[str, str, bool], ...]) -> list[str]:
    """Return why numbers are missing, one line a reason."""
    found: dict[str, list[str]] = {}
    for method in taught.methods:
        for name, head, _ in heads:
            estimate = taught.get(method.name, form, name)
            if estimate.value is None:
                reason = estimate.problem or "undefined"
                found.setdefault(reason, []).append(f"{head} of {method.title}")
    return [
        line(f"-: {', '.join(which[:4])}{' and more' if len(which) > 4 else ''}: {reason}.", 400)
        for reason, which in found.items()
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
                Cell(FORMS.get(one.form, one.form)),
                Cell(e.name),
                Cell("-" if e.value is None else f"{e.value:+.3f}", _between(e)),
                Cell(_p(one.p)),
                Cell(_p(one.p_holm)),
            ]
        )
    head = ["", "form", "number", "difference", "p", "p, Holm"]
    note = f"Of {len(taught.changes)} tests, J's and those with a corrected p below {CLEAR}."
    return Table("What teaching changed", head, rows_, [note])


def _between(e: Estimate) -> str:
    return "" if e.low is None or e.high is None else f"{e.low:+.3f}..{e.high:+.3f}"


def _p(value: float | None) -> str:
    if value is None:
        return "-"
    return "< .001" if value < 0.001 else f"{value:.3f}"


def alignment(taught: Teaching) -> Table:
    """Return the numbers of the alignment bars."""
    rows_ = []
    for method in taught.methods:
        own = [taught.get(method.name, "both", f"align_{pair}") for pair in PAIRS]
        if any(e.value is not None for e in own):
            cells = [Cell(cell(e, True), reach(e, True)) for e in own]
            rows_.append([Cell(line(method.title, 60), head=True), *cells])
    return Table("Short against long form, % of facts", ["", *PAIRS], rows_, [])


def rows(taught: Teaching) -> Table:
    """Return how many training rows there are of each kind."""
    found = []
    for name, number in taught.rows.items():
        stage, form, kind = (*name.split(" ", 2), "", "")[:3]
        found.append(
            [Cell(stage, head=True), Cell(form), Cell(line(kind, 60)), Cell(f"{number:,}")]
        )
    return Table("Training rows of the first seed", ["stage", "form", "kind", "rows"], found, [])


def _facts(taught: Teaching) -> list[tuple[str, str]]:
    told = {
        "base run": taught.base_run,
        "base model": taught.model_identity,
        "data": taught.data,
        "judge": taught.judge,
        "entities taught": str(taught.entities.get("taught", "")),
        "entities measured": str(taught.entities.get("measured", "")),
        "sayso": taught.sayso,
        "finished": taught.finished or "not yet",
        **{name: f"{value:g}" for name, value in taught.timings.items()},
    }
    return [(name, line(value, 300)) for name, value in told.items() if value]


def _shown(sample: Sample) -> Shown:
    return Shown(
        sample.form,
        line(sample.entity, 200),
        line(sample.question, 500),
        line("; ".join(sample.golds), 300),
        "known" if sample.known else "unknown",
        block(sample.before[:MOST_TEXT]),
        block(sample.after[:MOST_TEXT]),
        sample.before_value,
        sample.after_value,
    )


def _forests(taught: Teaching) -> list[tuple[str, Figure, str]]:
    drawn = []
    for name, title, caption in (
        ("J", "J (0 = blind hedging)", "Bars are 95 % intervals over seeds and entities."),
        (
            "wrong_and_sure",
            "told wrongly without a hedge",
            "What a reader is misled by: share of all facts. Lower is better.",
        ),
    ):
        figure = _both(
            partial(charts.forest, taught, name, title), f"{title} by method; numbers below."
        )
        if figure is not None:
            drawn.append((title, figure, caption))
    return drawn


def _curves(taught: Teaching, stages: list[str]) -> list[tuple[str, Figure]]:
    drawn = []
    for stage in stages:
        for quantity in charts.quantities(taught.curves, stage):
            title = f"{STAGES.get(stage, line(stage, 40))}: {line(quantity, 40)}"
            figure = _both(
                partial(charts.course, taught, stage, quantity), f"{title} by optimizer step."
            )
            if figure is not None:
                drawn.append((title, figure))
    return drawn


def _sweeps(taught: Teaching) -> list[tuple[str, Figure]]:
    drawn = []
    for setting in dict.fromkeys(point.setting for point in taught.sweep):
        figure = _both(
            partial(charts.tradeoff, taught, setting), f"UUR against KCR along {setting}."
        )
        if figure is not None:
            drawn.append((line(setting, 40), figure))
    return drawn


def _both(make: Callable[[int], Drawing | None], label: str) -> Figure | None:
    wide, narrow = make(WIDE), make(NARROW)
    if wide is None or narrow is None:
        return None
    return Figure(svg.draw(wide, label, "wide"), svg.draw(narrow, label, "narrow"))
