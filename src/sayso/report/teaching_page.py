"""The page of a teaching: verdict, table by method, alignment, curves, facts before and after."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from sayso.report import svg
from sayso.report import teaching_charts as charts
from sayso.report.charts import NARROW, PAIRS, WIDE, Drawing
from sayso.report.clean import block, line
from sayso.report.figures import Figure
from sayso.report.html import _page
from sayso.report.teaching import ABOUT, BEYOND, CLEAR, PAPER, heads_of, unfinished
from sayso.report.teaching_tables import STAGES, alignment, board, by_seed, changes, rows
from sayso.report.words import FORMS
from sayso.taught import Sample, Teaching, read_teaching, write_page

#: characters of an answer that a page shows
MOST_TEXT = 2_000
MEANING = {
    "CC": "certain in both forms",
    "CU": "certain alone, uncertain in the paragraph",
    "UC": "uncertain alone, certain in the paragraph",
    "UU": "uncertain in both",
}
ABOUT_CURVES = {
    "reward accuracy": "Share of pairs whose chosen answer gained more than the rejected one.",
    "reward margin": "How much more: beta times the difference of the log-ratios.",
    "mean reward": "Of the answers that were drawn at this step.",
    "KL": "How far it has moved from where it began, in nats per token.",
}


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
        "unfinished": unfinished(taught),
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
        "by_seed": by_seed(taught),
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
        "told": _told(taught),
        "settings": [(line(k, 80), line(str(v), 300)) for k, v in taught.settings.items()],
        "facts": _facts(taught),
        "notes": [line(note, 500) for note in taught.notes],
        "command": line(taught.command, 2_000),
        "signature": line(taught.signature, 1_500),
        "definitions": ABOUT,
        "builtin": taught.model == "builtin",
        "clear": CLEAR,
    }


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
        **{_timing(name): f"{value:g}" for name, value in taught.timings.items()},
    }
    return [(name, line(value, 300)) for name, value in told.items() if value]


def _timing(name: str) -> str:
    """Return "draws, CPU seconds" for draws_cpu_s."""
    step, _, unit = name.removesuffix("_s").rpartition("_")
    return f"{step}, {'CPU seconds' if unit == 'cpu' else 'seconds'}"


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
    for name, title, axis, caption in (
        (
            "J",
            "J",
            "0 = blind hedging",
            "Bars are 95 % intervals over seeds and entities.",
        ),
        (
            "wrong_and_sure",
            "Told wrongly without a hedge",
            "share of all facts",
            "What a reader is misled by. Lower is better.",
        ),
    ):
        figure = _both(
            partial(charts.forest, taught, name, axis), f"{title} by method; numbers below."
        )
        if figure is not None:
            drawn.append((title, figure, caption))
    return drawn


def _told(taught: Teaching) -> list[str]:
    """Return what the trainings had to say, such as that memory ran out."""
    return [
        line(f"{STAGES.get(curve.stage, curve.stage)}, seed {curve.seed}: {notice}", 400)
        for curve in taught.curves
        for notice in curve.notices
    ]


def _curves(taught: Teaching, stages: list[str]) -> list[tuple[str, Figure, str]]:
    drawn = []
    for stage in stages:
        for quantity in charts.quantities(taught.curves, stage):
            title = f"{STAGES.get(stage, line(stage, 40))}: {line(quantity, 40)}"
            figure = _both(
                partial(charts.course, taught, stage, quantity), f"{title} by optimizer step."
            )
            if figure is not None:
                drawn.append((title, figure, _of_curve(taught, stage, quantity)))
    return drawn


def _of_curve(taught: Teaching, stage: str, quantity: str) -> str:
    """Return what a curve's points are."""
    every = charts.together(taught, stage, quantity)
    text = "" if every == 1 else f"Each point is the mean of {every} that were logged. "
    if quantity == "loss" and any(
        c.first_loss is not None for c in taught.curves if c.stage == stage
    ):
        text += "Step 0 is the first batch before any step. "
    if quantity == "loss" and stage == "rl":
        text += "It is near 0 by its making and says little: read the reward. "
    return text + ABOUT_CURVES.get(quantity, "")


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
