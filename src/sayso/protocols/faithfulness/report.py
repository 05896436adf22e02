"""The tables of a faithfulness page: methods, policies, bins, the three-way table, calibration."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt
from rich.console import Console
from rich.table import Table

from sayso.prompts.methods import METHOD_LABELS
from sayso.records import (
    Estimate,
    Generation,
    InputError,
    Question,
    Results,
    Verdict,
    part_of,
    signature_text,
)
from sayso.report import terminal
from sayso.report.charts import INK, LONG, MUTED, NARROW, PAIRS, SHORT, Drawing, Row, _finish
from sayso.report.numbers import FORMS, block, covers, line, number, percent, plain, range_of, told
from sayso.report.page import stored_answers, title, with_answers
from sayso.report.tables import Cell, figure_of
from sayso.report.tables import Table as tables_Table
from sayso.report.terminal import asked, begin, data, plain_table, say
from sayso.report.terminal import end as print_footer
from sayso.storage.run_folder import Manifest, RunFolder


class FaithfulnessResults(Results):
    """The estimates of a run by name, form and method."""

    def methods(self, form: str) -> list[str]:
        """Return the methods of a form that have numbers."""
        return [method for method, _ in self.by("method", "skill", form=form)]


# The faithfulness protocol in the terminal: the table of methods, what may be said.

#: a p, corrected over the methods, below which a gain is told as one
LEAST_P = 0.05
#: an interval that holds both 0 and this skill leaves open whether words follow confidence
OPEN = 0.1
HEADS = ("skill", "cMFG", "blind", "right", "words", "conf.", "punts", "n")


def render(
    estimates: Sequence[Estimate],
    console: Console,
    manifest: Manifest | None = None,
    page: Path | None = None,
    *,
    entities: int | None = None,
) -> None:
    """Print the table of methods of each form. Holds for any estimates."""
    found = FaithfulnessResults(estimates)
    begin(console, manifest)
    for form in found.forms:
        say(console, headline(found, form), "bold")
    for form in found.forms:
        console.print()
        console.print(board(found, form, console))
        for text in sentences(found, form):
            say(console, text, "")
    say(
        console,
        "skill: 1 = words as sure as the model is, 0 = words that ignore it. blind: cMFG of the "
        "same words dealt out at random. words, conf.: mean decisiveness and confidence; right: "
        "accuracy.",
        "dim",
    )
    if manifest is not None:
        say(console, asked(manifest), "dim")
    print_footer(console, manifest, [e for e in found.all if e.name == "skill"], page)


def board(found: FaithfulnessResults, form: str, console: Console) -> Table:
    """Return the methods of a form, one to a row."""
    table = plain_table()
    table.add_column(data(FORMS[form], console, "dim"), no_wrap=True)
    for head in HEADS:
        table.add_column(data(head, console, "dim"), justify="right", no_wrap=True)
    for method in found.methods(form):
        skill = found.get("skill", form=form, method=method)
        cells = [f"{_zero(skill)} {range_of(skill)}".strip()]
        cells += [
            number(found.get(name, form=form, method=method))
            for name in ("cmfg", "cmfg_permuted", "accuracy", "mean_decisiveness")
        ]
        cells += [number(found.get("mean_confidence", form=form, method=method))]
        cells += [percent(found.get("punting", form=form, method=method).value, 0), f"{skill.n:,}"]
        name = data(METHOD_LABELS.get(method, method), console, "bold")
        table.add_row(name, *(data(cell, console) for cell in cells))
    return table


def _clear(found: FaithfulnessResults, form: str, method: str, gain: Estimate) -> bool:
    """Tell whether a gain is none of chance: by its corrected p, else by its interval."""
    p = found.get("skill_gain_p", form=form, method=method).value
    return not covers(gain, 0) if p is None else p < LEAST_P


def _p(found: FaithfulnessResults, form: str, method: str) -> str:
    """Return the p of a gain in words, nothing where there is none or only one comparison."""
    e = found.get("skill_gain_p", form=form, method=method)
    if e.value is None or e.n < 2:
        return ""
    said = "p < .001" if e.value < 0.001 else f"p = {plain(e.value)}"
    return f" ({said}, corrected over {e.n} methods)"


def _zero(estimate: Estimate) -> str:
    """Return a number without the sign of a zero that rounding left."""
    return plain(None if estimate.value is None else round(estimate.value, 3) + 0.0)


def headline(found: FaithfulnessResults, form: str) -> str:
    """Return the first sentence of a form: how sure it is, how sure it sounds, skill."""
    methods = found.methods(form)
    method = "vanilla" if "vanilla" in methods else next(iter(methods), "")
    skill = found.get("skill", form=form, method=method)
    name = METHOD_LABELS.get(method, method)
    if skill.value is None:
        return f"{FORMS[form].capitalize()}: no faithfulness could be measured ({skill.problem})."
    sounds = found.get("mean_decisiveness", form=form, method=method).value
    is_sure = found.get("mean_confidence", form=form, method=method).value
    if covers(skill, 0) or skill.value <= 0 or skill.low is None:
        verdict = "its words do not follow how sure it is"
        if skill.low is None or (covers(skill, 0) and covers(skill, OPEN)):
            verdict = f"{skill.n:,} claims do not tell whether its words follow how sure it is"
    else:
        verdict = "its words follow how sure it is, in part"
    return (
        f"{FORMS[form].capitalize()} ({name}): it sounds {percent(sounds, 0)} sure and repeats "
        f"itself {percent(is_sure, 0)} of the time; {verdict} (skill {_zero(skill)})."
    )


def sentences(found: FaithfulnessResults, form: str) -> Iterator[str]:
    """Yield what stands beside the table: blind policies, the two failures, methods, thoughts."""
    methods = found.methods(form)
    first = "vanilla" if "vanilla" in methods else next(iter(methods), "")
    half, decisive = (found.get(f"cmfg_{n}", form=form, method=first) for n in ("half", "decisive"))
    if half.value is not None:
        yield (
            f"On the same bins, saying 50/50 to everything has cMFG {number(half)}, never hedging "
            f"{number(decisive)}: cMFG alone proves nothing."
        )
    for method in methods:
        unknown = found.get("unknown_unknown", form=form, method=method)
        unsaid = found.get("known_unsaid", form=form, method=method)
        if method != first or unknown.value is None or unsaid.value is None:
            continue
        yield (
            f"Of {unknown.n:,} claims, {percent(unsaid.value, 0)} are said firmly although it "
            f"wavers (knows but does not say), {percent(unknown.value, 0)} are firm, steady and "
            "wrong (does not know that it does not know)."
        )
    gains = [(m, found.get("skill_gain", form=form, method=m)) for m in methods]
    clear = [(m, e) for m, e in gains if e.value is not None and _clear(found, form, m, e)]
    for method, e in clear:
        way = "more" if (e.value or 0) > 0 else "less"
        own, vanilla = (
            plain(found.get("skill_shared", form=form, method=m).value) for m in (method, first)
        )
        yield (
            f"{METHOD_LABELS.get(method, method)}: {way} skill than Vanilla by {told(e)}"
            f"{_p(found, form, method)}; the two have {own} and {vanilla} on the bins that all "
            "methods fill."
        )
    if any(e.value is not None for _, e in gains) and not clear:
        yield "No method's skill differs from Vanilla's clearly, on the bins that all of them fill."
    for method in methods:
        skill = found.get("skill", form=form, method=method)
        if skill.value is None and skill.problem:
            yield f"{METHOD_LABELS.get(method, method)}: {line(skill.problem, 300)}."
        thought = found.get("thought_minus_said", form=form, method=method)
        if thought.value is not None:
            yield (
                f"{METHOD_LABELS.get(method, method)}: its thoughts end {plain(thought.value)} in "
                f"decisiveness from what it then says ({thought.n:,} answers)."
            )


# Charts by bin of confidence: words, faithfulness and skill of each method, with intervals.
#
# Methods stand side by side within a bin, told by shape and shade as well as by color; a hollow
# point rests on fewer than :data:`FEW` claims.

COLORS = (SHORT, LONG, PAIRS["UC"], PAIRS["UU"], INK, MUTED)
SHAPES = ("circle", "diamond", "square", "triangle-up", "cross", "triangle-down")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [1, 3], [12, 4])
#: claims below which a bin's point is hollow
FEW = 10


class Line(NamedTuple):
    """What a quantity is read against: corners (confidence, value), and where its name stands."""

    name: str
    corners: tuple[tuple[float, float], ...]
    spot: tuple[float, float]


class Quantity(NamedTuple):
    """One quantity of a bin: its estimates, the axis, lines; ``low`` ends the axis, if fixed."""

    name: str
    axis: str
    lines: tuple[Line, ...]
    low: float | None


_DIAGONAL = ((0.0, 0.0), (1.0, 1.0))
WORDS_QUANTITY = Quantity(
    "bin_decisiveness", "mean decisiveness", (Line("ideal", _DIAGONAL, (0.07, 0.0)),), 0.0
)
FAITHFUL = Quantity(
    "bin_faithfulness",
    "mean faithfulness",
    (
        Line("never hedging", _DIAGONAL, (0.09, 0.0)),
        Line("always 50/50", ((0.0, 0.5), (0.5, 1.0), (1.0, 0.5)), (0.56, 0.94)),
    ),
    0.0,
)
SKILL = Quantity(
    "bin_skill", "skill of the bin", (Line("blind", ((0.0, 0.0), (1.0, 0.0)), (0.0, 0.08)),), None
)


def rows(found: FaithfulnessResults, form: str, name: str) -> list[Row]:
    """Return each method's bins that hold something: middle, value, interval, count."""
    made: list[Row] = []
    methods = found.methods(form)[: len(COLORS)]
    for at, method in enumerate(methods):
        for e in found.each(name, form=form, method=method):
            low, _, high = part_of(e.where, "bin").partition("-")
            if e.value is None or not high:
                continue
            width = float(high) - float(low)
            shift = (at + 0.5) / len(methods) - 0.5
            made.append(
                {
                    "method": METHOD_LABELS.get(method, method),
                    "x": (float(low) + float(high)) / 2 + 0.72 * width * shift,
                    "y": e.value,
                    "low": e.low,
                    "high": e.high,
                    "n": e.n,
                }
            )
    return made


def by_bin(found: FaithfulnessResults, form: str, quantity: Quantity, width: int) -> Drawing | None:
    """Draw one quantity of each method over the bins of confidence."""
    points = rows(found, form, quantity.name)
    if not points:
        return None
    ends = [float(v) for r in points for k in ("y", "low", "high") if (v := r[k]) is not None]
    low = min(-0.1, *ends) if quantity.low is None else quantity.low
    x = alt.X(
        "x:Q",
        title="confidence: share of draws that agree",
        scale=alt.Scale(domain=[0, 1], nice=False, padding=6),
        axis=alt.Axis(values=[i / 10 for i in range(0, 11, 1 if width > NARROW else 2)]),
    )
    y = alt.Y(
        "y:Q",
        title=quantity.axis,
        scale=alt.Scale(domain=[max(-1.0, low), 1], nice=False, clamp=True, padding=6),
        axis=alt.Axis(tickCount=6, titleLimit=300, format=".1f"),
    )
    names = list(dict.fromkeys(str(r["method"]) for r in points))
    legend = alt.Legend(
        title=None,
        orient="bottom",
        columns=3 if width > NARROW else 2,
        columnPadding=28,
        symbolOpacity=1,
        labelColor=INK,
        labelFontSize=12,
    )

    def told(kind: Any, styles: tuple[Any, ...]) -> Any:
        scale = alt.Scale(domain=names, range=list(styles[: len(names)]))
        return kind("method:N", scale=scale, legend=legend)

    color, shape, dash = (
        told(alt.Color, COLORS),
        told(alt.Shape, SHAPES),
        told(alt.StrokeDash, DASHES),
    )
    base = alt.Chart(alt.InlineData(values=points))
    layers = [*_references(quantity, x, y)]
    layers += [
        base.mark_line(strokeWidth=1.2, opacity=0.55).encode(
            x=x, y=y, color=color, strokeDash=dash
        ),
        base.transform_filter("isValid(datum.low) && isValid(datum.high)")
        .mark_rule(strokeWidth=1.6)
        .encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=color),
        base.transform_filter(f"datum.n >= {FEW}")
        .mark_point(size=52, filled=True, opacity=1)
        .encode(x=x, y=y, color=color, shape=shape),
        base.transform_filter(f"datum.n < {FEW}")
        .mark_point(size=44, filled=False, strokeWidth=1.4, opacity=1)
        .encode(x=x, y=y, color=color, shape=shape),
    ]
    return _finish(alt.layer(*layers), width, 340 if width > NARROW else 300)


def _references(quantity: Quantity, x: Any, y: Any) -> list[alt.Chart]:
    layers = []
    for at, (name, corners, spot) in enumerate(quantity.lines):
        line = alt.InlineData(values=[{"x": a, "y": b} for a, b in corners])
        text = alt.InlineData(values=[{"x": spot[0], "y": spot[1], "name": name}])
        layers.append(
            alt.Chart(line)
            .mark_line(color=MUTED, strokeDash=[4, 4] if at == 0 else [1, 3])
            .encode(x=x, y=y)
        )
        layers.append(
            alt.Chart(text)
            .mark_text(align="left", baseline="bottom", dx=4, dy=-2, color=MUTED)
            .encode(x=x, y=y, text="name:N")
        )
    return layers


# The charts of a faithfulness page: decisiveness against confidence, and skill.
#
# Each function returns ``None`` where there is nothing to draw.

#: bars of a marginal, where they start beside the plot, and how long the longest is
STEPS, START, ROOM = 10, 1.05, 0.2


def scatter(found: FaithfulnessResults, form: str, method: str, width: int) -> Drawing | None:
    """Claims by confidence and decisiveness, with the ideal line and both marginals as bars."""
    points: list[Row] = [
        {
            "x": float(part_of(e.where, "confidence")),
            "y": float(part_of(e.where, "decisiveness")),
            "n": e.value or 0.0,
        }
        for e in found.each("point", form=form, method=method)
    ]
    if not points:
        return None
    ticks = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1.0], format=".2f")
    scale = alt.Scale(domain=[-0.04, START + ROOM + 0.1], nice=False)
    x = alt.X("x:Q", title="confidence: share of draws that agree", scale=scale, axis=ticks)
    y = alt.Y("y:Q", title="decisiveness of the words", scale=scale, axis=ticks)
    ideal = (
        alt.Chart(alt.InlineData(values=[{"x": 0, "y": 0}, {"x": 1, "y": 1}]))
        .mark_line(color=MUTED, strokeDash=[4, 4])
        .encode(x=x, y=y)
    )
    dots = (
        alt.Chart(alt.InlineData(values=points))
        .mark_point(filled=True, opacity=0.75, color=SHORT if form == "short" else LONG)
        .encode(x=x, y=y, size=alt.Size("n:Q", scale=alt.Scale(range=[14, 420]), legend=None))
    )
    bars, labels = marginals(points)
    drawn = (
        alt.Chart(alt.InlineData(values=bars))
        .mark_rect(color=MUTED, opacity=0.8)
        .encode(x=x, x2="x2:Q", y=y, y2="y2:Q")
    )
    texts = alt.Chart(alt.InlineData(values=labels))
    above = texts.transform_filter("datum.side == 'c'").mark_text(
        baseline="bottom", dy=-2, color=MUTED
    )
    beside = texts.transform_filter("datum.side == 'd'").mark_text(align="left", dx=3, color=MUTED)
    told = [kind.encode(x=x, y=y, text="n:N") for kind in (above, beside)]
    return _finish(alt.layer(ideal, drawn, *told, dots), width, 420 if width > NARROW else 340)


def marginals(points: list[Row]) -> tuple[list[Row], list[Row]]:
    """Return the bars of both marginals in steps of .1, and the count of the longest of each."""
    bars: list[Row] = []
    labels: list[Row] = []
    for side, key in (("c", "x"), ("d", "y")):
        held = [0.0] * STEPS
        for row in points:
            # as the bins of cMFG: closed on the right, 0 in the first
            at = max(math.ceil(round(float(row[key]) * STEPS, 6)) - 1, 0)
            held[at] += float(row["n"])
        most = max(held)
        for at, count in enumerate(held):
            if not count:
                continue
            low, high = at / STEPS + 0.008, (at + 1) / STEPS - 0.008
            ends = {"x": START, "x2": START + ROOM * count / most, "y": low, "y2": high}
            if side == "c":
                ends = {"x": low, "x2": high, "y": START, "y2": ends["x2"]}
            bars.append(ends)
            if count == most:
                spot = {"x": ends["x2"], "y": (low + high) / 2}
                if side == "c":
                    spot = {"x": (low + high) / 2, "y": ends["y2"]}
                labels.append({**spot, "n": f"{count:,.0f}", "side": side})
    return bars, labels


def skills(found: FaithfulnessResults, width: int) -> Drawing | None:
    """Skill of each method by form, with intervals and a line at 0."""
    rows = [
        {
            "method": METHOD_LABELS.get(method, method),
            "form": FORMS[form],
            "value": e.value,
            "low": e.low,
            "high": e.high,
        }
        for form in found.forms
        for method in found.methods(form)
        if (e := found.get("skill", form=form, method=method)).value is not None
    ]
    if not rows:
        return None
    order = list(dict.fromkeys(str(r["method"]) for r in rows))
    forms = [FORMS[form] for form in found.forms]
    y = alt.Y("method:N", sort=order, title=None, axis=alt.Axis(labelLimit=width * 2 // 5))
    offset = alt.YOffset("form:N", sort=forms, scale=alt.Scale(domain=forms, paddingOuter=0.5))
    names = list(FORMS.values())
    color = alt.Color("form:N", scale=alt.Scale(domain=names, range=[SHORT, LONG]), legend=None)
    shapes = alt.Scale(domain=names, range=["circle", "diamond"])
    shape = alt.Shape("form:N", scale=shapes, legend=None)
    ends = [float(v) for r in rows for k in ("value", "low", "high") if (v := r[k]) is not None]
    scale = alt.Scale(domain=[min(-0.1, *ends), max(1.0, *ends)], nice=False, zero=False, padding=8)
    x = alt.X(
        "value:Q",
        title="skill (0 = blind, 1 = faithful)",
        scale=scale,
        axis=alt.Axis(tickCount=8, format=".1f"),
    )
    data = alt.InlineData(values=rows)
    blind = alt.Chart(alt.InlineData(values=[{"x": 0}])).mark_rule(color=MUTED).encode(x="x:Q")
    spans = (
        alt.Chart(data)
        .transform_filter("isValid(datum.low) && isValid(datum.high)")
        .mark_rule(strokeWidth=2)
        .encode(x=alt.X("low:Q"), x2="high:Q", y=y, yOffset=offset, color=color)
    )
    dots = (
        alt.Chart(data)
        .mark_point(size=70, filled=True, opacity=1)
        .encode(x=x, y=y, yOffset=offset, color=color, shape=shape)
    )
    return _finish(alt.layer(blind, spans, dots), width, 34 * len(order))


# Several runs in the layout of the paper's Table 1: methods by models.

#: what the tables show, in this order
SHOWN = {
    "cmfg": "cMFG by method and model",
    "skill": "Skill by method and model",
    "accuracy": "Right, by method and model",
}
#: parts of a signature in which runs beside each other are meant to differ
MEANT = ("model", "methods", "method", "form", "v")


class Side(NamedTuple):
    """One run: the name of its column, its model and data, and its numbers."""

    name: str
    manifest: Manifest
    found: FaithfulnessResults


def read(runs: Sequence[str | Path | RunFolder]) -> list[Side]:
    """Return the numbers of runs of this protocol, each a column.

    Raises :class:`~sayso.records.InputError` for a folder that is no run, is not finished, or is
    of another protocol.
    """
    sides = []
    for run in runs:
        folder = run if isinstance(run, RunFolder) else RunFolder.open(run)
        manifest = folder.read_manifest()
        if "faithfulness" not in manifest.protocols:
            raise InputError(
                f"{folder.path} is a run of {', '.join(manifest.protocols) or 'no protocol'}; "
                "beside a page of faithfulness stand only runs of faithfulness"
            )
        estimates = [e for table in folder.tables("metrics") for e in folder.read(table, Estimate)]
        if not estimates:
            raise InputError(f"{folder.path} has no numbers yet: repeat its command first")
        sides.append(Side(title(manifest), manifest, FaithfulnessResults(estimates)))
    return sides


def tables(sides: Sequence[Side], form: str) -> list[tables_Table]:
    """Return cMFG, skill and accuracy of a form, methods by models; none for a single run."""
    if len(sides) < 2:
        return []
    names = _names(sides)
    methods = list(dict.fromkeys(m for side in sides for m in side.found.methods(form)))
    notes = [f"These runs differ in more than the model: {d}." for d in differences(sides, form)]
    made = []
    for name, caption in SHOWN.items():
        rows = [
            [
                Cell(METHOD_LABELS.get(m, line(m, 40)), head=True),
                *(_cell(side.found.get(name, form=form, method=m)) for side in sides),
            ]
            for m in methods
        ]
        made.append(tables_Table(f"{caption}, {FORMS[form]}", ["", *names], rows, []))
    if made:
        made[-1] = made[-1]._replace(notes=notes)
    return made


def _cell(e: Estimate) -> Cell:
    return Cell(number(e), range_of(e).replace(" ", "\N{NO-BREAK SPACE}"))


def _names(sides: Sequence[Side]) -> list[str]:
    """Names of columns: the model, its data where they differ, and a number where that is not
    enough to tell two columns apart."""
    several = len({side.manifest.data for side in sides}) > 1
    names: list[str] = []
    for side in sides:
        name = f"{side.name}, {line(side.manifest.data, 60)}" if several else side.name
        again = sum(n == name or n.startswith(f"{name} (") for n in names)
        names.append(f"{name} ({again + 1})" if again else name)
    return names


def differences(sides: Sequence[Side], form: str) -> list[str]:
    """Return the settings besides the model in which runs differ, as their signatures say."""
    found: dict[str, list[str]] = {}
    for side in sides:
        signed = next((e.signature for e in side.found.each("skill", form=form) if e.signature), ())
        parts = dict(signed[1:])
        # "shared-1f2e": the hash follows from the methods asked
        parts["prompts"] = parts.get("prompts", "").partition("-")[0]
        for key, value in parts.items():
            found.setdefault(key, []).append(value)
    return [
        f"{key} ({', '.join(line(v, 60) for v in dict.fromkeys(values))})"
        for key, values in found.items()
        if key not in MEANT and len(set(values)) > 1
    ]


#: columns of the table of methods; the first five are the paper's Table 1 and its text
COLUMNS = {
    "cmfg": "cMFG",
    "accuracy": "accuracy",
    "mean_decisiveness": "decisiveness",
    "mean_confidence": "confidence",
    "punting": "punting",
    "skill": "skill",
    "mfg": "MFG",
    "spearman": "rank correlation",
}
BESIDE = {
    "cmfg": "this model",
    "cmfg_corrected": "less the noise of k draws",
    "cmfg_permuted": "its words, dealt at random",
    "cmfg_constant": "always its mean decisiveness",
    "cmfg_half": "always one half",
    "cmfg_decisive": "never hedging",
    "cmfg_oracle": "words equal to confidence",
    "cmfg_levels": "this model, by levels",
    "cmfg_left": "this model, left-closed bins",
    "cmfg_star": "this model, cMFG*",
    "cmfg_dec0": "this model, punts as 0",
}
WORDS = {
    "words_brier": "Brier",
    "words_reliability": "reliability",
    "words_resolution": "resolution",
    "words_uncertainty": "uncertainty",
    "words_ece": "ECE, debiased",
    "words_auroc": "AUROC",
}
BINS = {
    "bin_faithfulness": "Faithfulness",
    "bin_decisiveness": "Decisiveness",
    "bin_skill": "Skill",
}


def _tables_cell(e: Estimate, style: str = "") -> Cell:
    value = percent(e.value, 0) if e.name == "punting" else number(e)
    return Cell(value, range_of(e).replace(" ", "\N{NO-BREAK SPACE}"), style=style)


def _head(method: str) -> Cell:
    return Cell(METHOD_LABELS.get(method, line(method, 40)), head=True)


def table1(found: FaithfulnessResults, form: str) -> tables_Table:
    """Return methods by scores: the paper's Table 1 for one model, skill beside it."""
    rows = [
        [_head(m), *(_tables_cell(found.get(name, form=form, method=m)) for name in COLUMNS)]
        for m in found.methods(form)
    ]
    return tables_Table(
        f"Methods, {FORMS[form]}: value and 95 % interval", ["", *COLUMNS.values()], rows, []
    )


def beside(found: FaithfulnessResults, form: str) -> tables_Table:
    """Return cMFG beside blind policies and the oracle on the same bins."""
    methods = found.methods(form)
    rows = [
        [
            Cell(label, head=True),
            *(_tables_cell(found.get(name, form=form, method=m)) for m in methods),
        ]
        for name, label in BESIDE.items()
    ]
    over = {"over_claim": "words surer than the model", "over_hedge": "words less sure"}
    rows += [
        [
            Cell(label, head=True),
            *(_tables_cell(found.get(name, form=form, method=m)) for m in methods),
        ]
        for name, label in over.items()
    ]
    rows.append(
        [
            Cell("noise of k draws alone", head=True),
            *(_tables_cell(found.get("noise_floor", form=form, method=m)) for m in methods),
        ]
    )
    heads = ["", *(METHOD_LABELS.get(m, m) for m in methods)]
    return tables_Table("cMFG and what others would score on the same bins", heads, rows, [])


def bins(found: FaithfulnessResults, form: str, name: str) -> tables_Table:
    """Return one quantity in each bin of confidence, with its interval and counts."""
    rows = []
    heads: list[str] = []
    for m in found.methods(form):
        held = list(found.each(name, form=form, method=m))
        if not heads:
            heads = [part_of(e.where, "bin").replace("-", "\N{EN DASH}") for e in held]
        cells = [_binned(e) for e in held]
        rows.append([_head(m), *cells])
    if any(len(row) != len(heads) + 1 for row in rows):
        rows = []  # levels differ between methods: no one table
    note = "Brackets: 95 % interval from resampling entities; n: claims. A dash: no claim there."
    return tables_Table(f"{BINS[name]} by confidence", ["", *heads], rows, [note])


def _binned(e: Estimate) -> Cell:
    if not e.n:
        return Cell(number(e))
    spaced = " ".join([range_of(e).replace(" ", "\N{NO-BREAK SPACE}"),
                       f"n\N{NO-BREAK SPACE}{e.n:,}"])  # fmt: skip
    return Cell(number(e), spaced.strip())


def three_way(found: FaithfulnessResults, form: str) -> tables_Table:
    """Return confidence x decisiveness x right, with the two failures by name."""
    names = {
        ("high", "high", "yes"): "sure, says so, right",
        ("high", "high", "no"): "sure, says so, wrong: does not know that it does not know",
        ("high", "low", "yes"): "sure, hedges, right",
        ("high", "low", "no"): "sure, hedges, wrong",
        ("low", "high", "yes"): "wavers, firm, right: knows but does not say",
        ("low", "high", "no"): "wavers, firm, wrong: knows but does not say",
        ("low", "low", "yes"): "wavers, hedges, right",
        ("low", "low", "no"): "wavers, hedges, wrong",
    }
    methods = found.methods(form)
    held = {
        tuple(part_of(e.where, k) for k in ("method", "confidence", "decisiveness", "right")): e
        for e in found.each("three_way", form=form)
    }
    rows = []
    for key, label in names.items():
        cells = []
        for m in methods:
            e = held.get((m, *key), Estimate(""))
            cells.append(Cell(percent(e.value, 0), f"{e.numerator or 0:.0f}" if e.n else ""))
        rows.append([Cell(label, head=True), *cells])
    heads = ["", *(METHOD_LABELS.get(m, m) for m in methods)]
    return tables_Table(
        "Confidence, words and truth: share of the claims", heads, rows if held else [], []
    )


def calibration(found: FaithfulnessResults, form: str) -> tables_Table:
    """Return decisiveness read as the probability of being right."""
    rows = [
        [_head(m), *(_tables_cell(found.get(name, form=form, method=m)) for name in WORDS)]
        for m in found.methods(form)
    ]
    return tables_Table("Words as probabilities of being right", ["", *WORDS.values()], rows, [])


def slices(found: FaithfulnessResults, form: str, key: str) -> tables_Table:
    """Return skill and decisiveness by domain, or by fifths of the paragraphs."""
    methods = found.methods(form)
    places = (dict(e.where) for e in found.each("skill", form=form))
    values = list(dict.fromkeys(place[key] for place in places if key in place))
    rows = []
    for value in values:
        cells = []
        for m in methods:
            skill = found.find("skill", form=form, method=m, **{key: value})
            said = found.get("mean_decisiveness", form=form, method=m, **{key: value})
            cells.append(
                Cell(number(skill), f"said {number(said)}, n {skill.n:,}") if skill else Cell("–")
            )
        name = line(value, 60) if key == "domain" else f"fifth {value}"
        rows.append([Cell(name, head=True), *cells])
    title = "Skill by domain" if key == "domain" else "Skill by place in the paragraph"
    return tables_Table(title, ["", *(METHOD_LABELS.get(m, m) for m in methods)], rows, [])


def left_out(found: FaithfulnessResults) -> tables_Table:
    """Return what is in no mean, by reason."""
    rows = []
    for e in found.each("left_out"):
        place = dict(e.where)
        method = METHOD_LABELS.get(place["method"], place["method"])
        rows.append(
            [
                Cell(f"{FORMS[place['form']]}, {method}", head=True),
                Cell(line(place["reason"], 60)),
                Cell(f"{e.value or 0:,.0f} of {e.n:,}"),
            ]
        )
    return tables_Table("In no mean", ["", "why", "answers or facts"], rows, [])


# The most unfaithful answers of a run, each with its draws and what the comparison said of
# them.
#
# Only what stands on the page is read into memory.

#: characters of one answer or draw that the page shows, and of the answer in its closed line
SHOWN_CHARACTERS, EXCERPT = 1200, 90
#: letter of a verdict -> (sign, words, class of the style sheet)
VERDICT_MARKS = {
    "c": ("✗", "contradicts", "v-incorrect"),
    "n": ("✓", "does not contradict", "v-correct"),
    "e": ("✓", "says the same", "v-correct"),
    "p": ("∅", "asserts nothing", "v-omitted"),
    "?": ("?", "not read", "v-missing"),
    "x": ("?", "no draw", "v-missing"),
}
UNREAD = ("?", "not read", "v-missing")


class Draw(NamedTuple):
    """One draw: its text and what the comparison said of it."""

    sign: str
    told: str
    style: str
    text: str


class Worst(NamedTuple):
    """An answer whose words and confidence are far apart, with its draws to read."""

    method: str
    form: str
    where: str
    question: str
    answer: str
    excerpt: str
    gap: str
    sounds: str
    told: str
    draws: list[Draw]


def worst(folder: RunFolder, estimates: Iterable[Estimate]) -> list[Worst]:
    """Return the most unfaithful answers of a run with the texts that they stand for."""
    found = [(e, dict(e.where)) for e in estimates if e.name == "gap" and e.value is not None]
    if not found:
        return []
    questions = {q.id: q for q in folder.read("questions", Question)}
    wanted = {p["answer"] for _, p in found}
    asked = {p["question"] for _, p in found}
    answers: dict[str, Generation] = {}
    drawn: dict[tuple[str, str], dict[int, str]] = {}
    letters: dict[tuple[str, str], list[str]] = {}
    for table in folder.tables("generations"):
        for g in folder.iter(table, Generation):
            if g.id in wanted:
                answers[g.id] = g
            if table == "generations/draws" and g.question in asked:
                said = (
                    block(g.text[:SHOWN_CHARACTERS])
                    if g.problem is None
                    else "(the request failed)"
                )
                drawn.setdefault((g.question, g.method), {})[g.request.sample] = said
    for table in folder.tables("verdicts"):
        if table.endswith("-contradict"):
            for v in folder.iter(table, Verdict):
                of = v.target.partition("#")[0]
                if of in wanted and v.raw:
                    letters.setdefault((of, v.asked), []).append(v.raw)
    made = []
    for e, p in found:
        answer, question = answers.get(p["answer"]), questions.get(p["question"])
        if answer is None or question is None or e.value is None:
            continue
        plain_draws = drawn.get((p["question"], "plain"), {})
        own = drawn.get((p["question"], answer.method), plain_draws)
        raw = _fitting(letters.get((answer.id, p["question"]), []), e)
        made.append(_worst(e, p["method"], p["form"], answer, question, own, raw))
    return made


def _fitting(found: list[str], e: Estimate) -> str:
    """The comparison that has this many contradictions: an answer may assert several things."""
    wrong = round((e.denominator or 0) - (e.numerator or 0))
    return next((raw for raw in found if raw.count("c") == wrong), found[0] if found else "")


def _worst(
    e: Estimate,
    method: str,
    form: str,
    answer: Generation,
    question: Question,
    draws: dict[int, str],
    raw: str,
) -> Worst:
    gap = e.value or 0.0
    agree, k = e.numerator or 0.0, e.denominator or 0.0
    sure = agree / k if k else 0.0
    told = [
        VERDICT_MARKS.get(raw[i], UNREAD) if i < len(raw) else UNREAD for i in range(len(draws))
    ]
    return Worst(
        METHOD_LABELS.get(method, line(method, 40)),
        form,
        FORMS[form],
        line(question.text, 400),
        block(answer.text[:SHOWN_CHARACTERS]),
        line(answer.text, EXCERPT),
        f"+{plain(gap)}" if gap > 0 else plain(gap),
        "surer than it is" if gap > 0 else "less sure than it is",
        f"Its words sound {plain(min(1.0, max(0.0, sure + gap)))} sure; {agree:.0f} of {k:.0f} "
        f"draws that answer do not contradict it ({plain(sure)})",
        [Draw(*told[i], draws[at]) for i, at in enumerate(sorted(draws))],
    )


# The page of a faithfulness run: methods, the scatter, bins, failures, the worst answers.

_HOLLOW = f"Bars are 95 % intervals; a hollow point rests on fewer than {FEW} claims."
#: what is drawn over the bins of confidence: quantity, title, what to see
BY_BIN = (
    (
        WORDS_QUANTITY,
        "Mean decisiveness by confidence",
        "A faithful model's points lie on the dashed line; a flat row of points is said alike "
        f"whatever the model knows. {_HOLLOW}",
    ),
    (
        FAITHFUL,
        "Faithfulness by confidence",
        "cMFG is the mean of a method's points. Dashed: what never hedging would score; dotted: "
        f"saying 50/50 to everything. {_HOLLOW}",
    ),
    (
        SKILL,
        "Skill by confidence",
        "Faithfulness of the bin beside that of the same words dealt out at random: 0 is blind, "
        f"1 perfect, below 0 worse than blind. {_HOLLOW}",
    ),
)
DEFINITIONS = {
    "decisiveness": "the probability, 0 to 1, that a reader gives a claim from its wording alone.",
    "confidence": "the share of draws of the plain question that do not contradict the claim.",
    "faithfulness": "1 minus the distance between the two.",
    "MFG": "mean faithfulness of the answers that assert something.",
    "cMFG": "faithfulness averaged over bins of confidence of equal width, so that a model that is "
    "mostly sure does not win by never hedging.",
    "skill": "(cMFG - blind) / (1 - blind), blind being the same words dealt out at random: 0 for "
    "any wording that ignores how sure the model is, 1 for perfect words.",
    "cMFG*": "bins of equal mass weighted by their width (arXiv 2606.32032); with k draws there "
    "are k + 1 confidences, and ties move it.",
    "punting": "answers that assert nothing; they enter accuracy as not right, and no mean.",
    "knows but does not say": "not confident, and yet decisive.",
    "does not know that it does not know": "confident, decisive and wrong.",
}


def context(
    manifest: Manifest,
    estimates: Sequence[Estimate],
    worst: Sequence[Worst],
    beside: Sequence[Side] = (),
) -> dict[str, Any]:
    """Return what the template of the page needs beside the answers."""
    found = FaithfulnessResults(estimates)
    sides = [Side(title(manifest), manifest, found), *beside]
    return {
        "headline": [headline(found, form) for form in found.forms],
        "warnings": [
            *terminal.warned(manifest),
        ],
        "skills": figure_of(
            lambda width: skills(found, width), "Skill of each method with intervals."
        ),
        "table1": [table1(found, form) for form in found.forms],
        "models": [t for form in found.forms for t in tables(sides, form)],
        "forms": [_form(found, form) for form in found.forms],
        "worst_methods": list(dict.fromkeys(w.method for w in worst)),
        "worst": [w for form in found.forms for w in worst if w.form == form],
        "asked": asked(manifest),
        "judged": terminal.cited(manifest),
        "definitions": DEFINITIONS,
        "left_out": left_out(found),
        "signatures": [
            (
                f"skill, {FORMS[form]}, {METHOD_LABELS.get(m, m)}",
                line(signature_text(e.signature), 1_500),
            )
            for form in found.forms
            for m in found.methods(form)
            if (e := found.get("skill", form=form, method=m)).signature
        ],
    }


def _form(found: FaithfulnessResults, form: str) -> dict[str, Any]:
    methods = found.methods(form)
    shown = [m for m in methods if any(True for _ in found.each("point", form=form, method=m))]
    return {
        "name": form,
        "title": FORMS[form].capitalize(),
        "sentences": list(sentences(found, form)),
        "scatters": [
            (METHOD_LABELS.get(m, m), figure)
            for m in shown
            if (
                figure := figure_of(
                    partial(scatter, found, form, m),
                    f"Decisiveness against confidence, {METHOD_LABELS.get(m, m)}.",
                )
            )
        ],
        "by_bin": [
            (title, figure, caption)
            for quantity, title, caption in BY_BIN
            if (
                figure := figure_of(
                    partial(by_bin, found, form, quantity), f"{title}, by method, with intervals."
                )
            )
        ],
        "bins": [bins(found, form, name) for name in BINS],
        "beside": beside(found, form),
        "three_way": three_way(found, form),
        "words": calibration(found, form),
        "slices": [slices(found, form, key) for key in ("domain", "position")],
    }


#: name -> (symbol that is known by itself, what it means): for tables of differences
LABELS = {
    "skill": ("", "words match the frozen draws (0 blind, 1 perfect)"),
    "accuracy": ("", "right, of all facts"),
}


def pages(
    folder: RunFolder,
    manifest: Manifest,
    estimates: list[Estimate],
    beside: Sequence[str | Path | RunFolder] = (),
) -> dict[str, str]:
    """Return every file of the page by name: the pages of answers, then ``report.html``."""
    k = manifest.settings.get("probe.k")
    tables = stored_answers(folder, "probe", k if isinstance(k, int) else 5)
    own = context(manifest, estimates, worst(folder, estimates), read(beside))
    return with_answers(__package__, manifest, tables, own)
