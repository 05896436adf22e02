"""A training in the terminal and as a page: the verdict, tables by method, charts, sweeps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from sayso.harmless import block, line
from sayso.protocols.uncle import UNCLE
from sayso.records import Estimate, signature_text
from sayso.report.answers import LABELS
from sayso.report.charts import (
    NARROW,
    PAIR_NAMES,
    PAIRS,
    Drawing,
    alignment_bars,
    chart_row,
    curve_chart,
    forest_plot,
    point,
    series_chart,
)
from sayso.report.figures import Figure, figure_of, figures_in
from sayso.report.numbers import DASH, MINUS, compact_number, is_bare, reach
from sayso.report.numbers import FORMS as FORM_NAMES
from sayso.report.opening import INVENTED, ChosenExamples, PageOpening, example
from sayso.report.page import page as filled
from sayso.report.tables import Table as PageTable
from sayso.report.tables import TableCell
from sayso.report.terminal import plain_table, safe_text, say
from sayso.train.result import FORMS, Curve, Sample, Training, read_training, write_page
from sayso.train.verdict import CLEAR, training_sentence

#: columns of a terminal below which the further numbers are two tables
WIDE = 96


def number_columns(*names: str) -> tuple[tuple[str, str, bool], ...]:
    """Return columns of a table: the number, its head, and whether it is in percent."""
    metrics = [UNCLE.metrics[name] for name in names]
    return tuple((m.name, m.column, m.notation == "percent") for m in metrics)


PAPER = number_columns("FA", "UA", "UUR", "KCR", "EA", "J")
BEYOND = number_columns(
    *("J_within", "odds_ratio_within", "unspoken_knowledge", "forced", "skill"),
    *("wrong_and_sure", "unasked"),
)
#: numbers that one form alone has
ONE_FORM = {"forced": "short"}
#: what the columns are
ABOUT = {head: UNCLE.metrics[name].defined for name, head, _ in (*PAPER, *BEYOND)}
#: numbers that are shown and not tested, by their heads
UNTESTED = ("FA", "UA", "unasked")
#: number -> the one that is tested in its place
TESTED = {"odds_ratio_within": "log_odds_within"}
#: what marks a number that rests on little
WEAK = "~"


def form_columns(
    form: str, heads: Sequence[tuple[str, str, bool]]
) -> tuple[tuple[str, str, bool], ...]:
    """Return the columns that a form has."""
    return tuple(head for head in heads if ONE_FORM.get(head[0], form) == form)


def printed_number(estimate: Estimate, percent: bool) -> str:
    """Return a number as the table prints it, as its interval is; a dash where it is undefined."""
    if estimate.value is None or is_bare(estimate):
        return DASH
    return f"{abs(100 * estimate.value):.1f}" if percent else compact_number(estimate.value)


def marked_number(training: Training, method: str, form: str, name: str, percent: bool) -> str:
    """Return a method's number, with "*" for a clear change and "~" where it rests on little."""
    estimate = training.get(method, form, name)
    text = printed_number(estimate, percent)
    if estimate.value is None:
        return text
    change = training.change(method, "instruction", form, TESTED.get(name, name))
    clear = change is not None and change.p_holm is not None and change.p_holm < CLEAR
    return f"{text}{'*' * clear}{weak(estimate)}"


def weak(estimate: Estimate) -> str:
    """Return "~" for a number with few cases, without an interval, or undefined in resamples."""
    return WEAK if estimate.value is not None and estimate.problem else ""


def unfinished(training: Training) -> str:
    """Return that a training is not finished, and how to go on; empty for a finished one."""
    if training.finished:
        return ""
    command = line(training.command, 2_000)
    with_it = f"`{command}`" if command else "the same call"
    return f"This training is not finished: {with_it} continues it."


def counted(training: Training, form: str) -> str:
    """Return how many known and unknown facts there are, and what was hedged where that is little.

    Empty where the table holds no counts.
    """
    sizes: dict[str, list[Estimate]] = {}
    few = []
    for method in training.methods:
        own = [training.get(method.name, form, name) for name in ("over_hedge", "UUR")]
        for estimate in own:
            if estimate.denominator is not None:
                sizes.setdefault(estimate.name, []).append(estimate)
        hedged = [
            f"{_count(estimate.numerator)} {kind}"
            for estimate, kind in zip(own, ("known", "unknown"), strict=True)
            if estimate.numerator is not None
        ]
        if hedged and any(estimate.numerator is not None and estimate.problem for estimate in own):
            few.append(f"{line(method.title, 60)} {' and '.join(hedged)}")
    if len(sizes) < 2:
        return ""
    known, unknown = (_range(sizes[name]) for name in ("over_hedge", "UUR"))
    text = f"{known} known and {unknown} unknown facts."
    return f"{text} Few were hedged: {'; '.join(few)}." if few else text


def _range(estimates: Sequence[Estimate]) -> str:
    """Return a number of facts; two where methods differ, as answers were unreadable."""
    sizes = sorted(estimate.denominator or 0.0 for estimate in estimates)
    ends = dict.fromkeys(_count(size) for size in (sizes[0], sizes[-1]))
    return " to ".join(ends)


def _count(value: float) -> str:
    """Return a count; of several seeds the mean."""
    return f"{value:,.1f}".removesuffix(".0")


#: ends "What this does not show:"
NOT_SHOWN = (
    "what this recipe does to another model, or to questions of another kind. What counts as known "
    "was decided by the base model's own draws"
)


def opening(training: Training) -> PageOpening:
    """Return what the page and the table of a training begin with."""
    first = [text] if (text := unfinished(training)) else []
    limit = INVENTED if training.model.startswith("builtin") else NOT_SHOWN
    return PageOpening(training_sentence(training), f"{limit}.", first)


#: what an answer after training is an example of: known or not, and its verdict before and after
GOOD = (
    ("It learned to admit a gap", False, ("incorrect", "correct"), "uncertain"),
    ("It admits a gap, as before", False, ("uncertain",), "uncertain"),
)
BAD = (
    ("It now hedges a fact that it knew", True, ("correct",), "uncertain"),
    ("It still states something false", False, ("incorrect",), "incorrect"),
)


def examples(training: Training) -> ChosenExamples:
    """Return a good and a bad answer after training, and one of the commonest kind."""
    every = [s for s in training.samples if s.form == "short"] or list(training.samples)
    chosen: list[tuple[str, Sample]] = []
    for group in (GOOD, BAD):
        found = (
            (what, next((s for s in every if _fits(s, known, before, after)), None))
            for what, known, before, after in group
        )
        chosen += [(what, sample) for what, sample in found if sample is not None][:1]
    kind = _commonest(training)
    typical = next(
        (s for s in every if (s.known, s.after_value) == kind and s not in [c for _, c in chosen]),
        None,
    )
    if typical is not None:
        chosen.append(("A typical answer", typical))
    rule = (
        "Each is the first of its kind among the facts below. Typical: from the most common kind "
        "after training."
    )
    shown = [
        example(
            what,
            sample.question,
            "; ".join(sample.golds),
            sample.after,
            kind=sample.after_value if sample.after_value in LABELS else "",
            note=f"Before training: “{sample.before}”",
        )
        for what, sample in chosen
    ]
    return ChosenExamples(shown, rule)


def _fits(sample: Sample, known: bool, before: Sequence[str], after: str) -> bool:
    return sample.known is known and sample.before_value in before and sample.after_value == after


def _commonest(training: Training) -> tuple[bool, str] | None:
    """Return whether most facts are known, and what becomes of them; ``None`` without counts."""
    trained = [m for m in training.methods if m.kind == "trained"]
    if not trained:
        return None
    right, hedged, unsure = (
        training.get(trained[-1].name, "short", name) for name in ("KCR", "over_hedge", "UUR")
    )
    counts = {
        (True, "correct"): right.numerator,
        (True, "uncertain"): hedged.numerator,
        (False, "uncertain"): unsure.numerator,
        (False, "incorrect"): (unsure.denominator or 0) - (unsure.numerator or 0),
    }
    if any(count is None for count in counts.values()):
        return None
    return max(counts, key=lambda kind: counts[kind] or 0)


def render_training(training: Training, console: Console, page: Path | None = None) -> None:
    """Print the sentence, the verdict and the tables. Holds for one that was only exported."""
    begins = opening(training)
    for text in begins.first:
        say(console, text, "bold yellow")
    say(console, begins.sentence, "bold")
    for text in training.verdict:
        say(console, line(text, 600), "")
    for form in FORMS if training.cells else ():
        for part, every in (("", PAPER), ("more", BEYOND)):
            heads = form_columns(form, every)
            half = len(heads) if not part or console.width >= WIDE else -(-len(heads) // 2)
            for at in range(0, len(heads), half):
                console.print()
                console.print(_board(training, form, part, heads[at : at + half], console))
            if not part and counted(training, form):
                say(console, counted(training, form), "dim")
    seeds = "1 seed" if len(training.seeds) == 1 else f"{len(training.seeds)} seeds"
    if training.cells:
        say(
            console,
            f"95 % intervals (sampling error only) over {seeds} and "
            f"{training.entities.get('measured')} entities. * differs from the "
            f"instruction alone (p < {CLEAR} after Holm's correction over methods "
            f"and numbers; {', '.join(UNTESTED[:-1])} and {UNTESTED[-1]} are not tested). "
            "Known and unknown come from the frozen probes of "
            f"{line(training.base_run, 200)}. Forced: {ABOUT['forced']}. Unasked: "
            f"{ABOUT['unasked']}.",
            "dim",
        )
        if any(weak(one.estimate) for one in training.cells):
            few = "few cases, or no value in some resamples: see the page"
            say(console, f"{WEAK} {few}", "dim")
    for text in training.notes:
        say(console, line(text, 400), "dim")
    say(console, f"What this does not show: {begins.not_shown}", "dim")
    if page is not None:
        say(console, f"page: {page}", "dim")


def _headed_table(title: str, heads: Sequence[tuple[str, str, bool]], console: Console) -> Table:
    """Return an empty table with a title over its first column, and the heads of the others."""
    table = plain_table()
    table.add_column(safe_text(title, console, "bold"), no_wrap=True)
    for _, head, _ in heads:
        table.add_column(safe_text(head, console, "dim"), justify="right")
    return table


def _board(
    training: Training,
    form: str,
    part: str,
    heads: Sequence[tuple[str, str, bool]],
    console: Console,
) -> Table:
    table = _headed_table(f"{form} form, {part}" if part else f"{form} form", heads, console)
    for method in training.methods:
        shown = [marked_number(training, method.name, form, name, p) for name, _, p in heads]
        table.add_row(safe_text(method.title, console), *(safe_text(x, console) for x in shown))
        ranges = [reach(training.get(method.name, form, name), p) for name, _, p in heads]
        table.add_row("", *(safe_text(x, console, "dim") for x in ranges))
    return table


# ---- the charts of a training: losses, J by method, alignment (Figure 3), sweeps
#
# Each function returns ``None`` where there is nothing to draw.

#: points of one drawn curve: more cannot be told apart
MOST_POINTS = 60
#: what a curve may hold that is not drawn
UNDRAWN = ("rate",)


def quantities(curves: tuple[Curve, ...], stage: str) -> list[str]:
    """Return what was measured along the trainings of a stage, the loss first."""
    names = {name for c in curves if c.stage == stage for p in c.points for name in p.values}
    return sorted(names - set(UNDRAWN), key=lambda name: (name != "loss", name))


def together(training: Training, stage: str, quantity: str) -> int:
    """Return how many points of a curve are drawn as one, their mean."""
    counts = [
        sum(quantity in p.values for p in curve.points)
        for curve in training.curves
        if curve.stage == stage
    ]
    return max(1, -(-max(counts, default=0) // MOST_POINTS))


def course(training: Training, stage: str, quantity: str, width: int) -> Drawing | None:
    """Draw one quantity along the steps of a stage, a line each seed."""
    lines = {}
    every = together(training, stage, quantity)
    for curve in training.curves:
        if curve.stage == stage:
            points = [(p.step, p.values[quantity]) for p in curve.points if quantity in p.values]
            parts = [points[at : at + every] for at in range(0, len(points), every)]
            if quantity == "loss" and curve.first_loss is not None:
                parts = [[(0, curve.first_loss)], *parts]
            lines[f"seed {curve.seed}"] = [
                (sum(step for step, _ in part) / len(part), sum(y for _, y in part) / len(part))
                for part in parts
            ]
    return curve_chart(lines, width, ("optimizer step", line(quantity, 40)))


def forest(training: Training, name: str, title: str, width: int) -> Drawing | None:
    """Draw one number of every method and form with its interval."""
    labels = {m.name: line(m.title, 40 if width > NARROW else 20) for m in training.methods}
    rows = [
        chart_row(label, shown, training.get(method, form, name))
        for method, label in labels.items()
        for form, shown in FORM_NAMES.items()
    ]
    return forest_plot(rows, list(labels.values()), width, title, [])


def alignment_figure(training: Training, width: int) -> Drawing | None:
    """Draw how far short and long form hedge alike, a bar each method (UNCLE, Figure 3)."""
    shares = {
        line(method.title, 40 if width > NARROW else 20): [
            training.get(method.name, "both", f"align_{pair}").value for pair in PAIRS
        ]
        for method in training.methods
    }
    return alignment_bars(shares, width)


#: what UNCLE's Figure 4 shows over xi
ALONG = ("FA", "UA", "EA")


def along(training: Training, form: str, width: int) -> Drawing | None:
    """Draw FA, UA and EA over the values of a sweep in one form (UNCLE, Figure 4)."""
    found = [
        (name, one.value, one.numbers.get(f"{form} {name}"))
        for one in sorted(training.sweep, key=lambda p: p.value)
        for name in ALONG
    ]
    points = [
        point(name, at, estimate)
        for name, at, estimate in found
        if estimate is not None and estimate.value is not None
    ]
    names = [name for name in ALONG if sum(row["series"] == name for row in points) > 1]
    points = [row for row in points if row["series"] in names]
    return series_chart(points, width, ("xi", "share"))


# ---- the tables of a training's page: methods by numbers, what changed, seeds, alignment, rows

STAGES = {"sft": "Supervised fine-tuning", "dpo": "Preference optimization"}
#: number -> what the tables call it
HEADS = {TESTED.get(name, name): head for name, head, _ in (*PAPER, *BEYOND)}


def numbers_table(
    training: Training, form: str, heads: tuple[tuple[str, str, bool], ...], caption: str
) -> PageTable:
    """Return a table of methods by numbers, each with its interval."""
    rows_ = []
    for method in training.methods:
        row = [TableCell(line(method.title, 60), head=True)]
        for name, _, percent in heads:
            text = marked_number(training, method.name, form, name, percent)
            row.append(TableCell(text, _tight(training.get(method.name, form, name), percent)))
        rows_.append(row)
    percents = "; ".join(head for _, head, percent in heads if percent)
    untested = [head for _, head, _ in heads if head in UNTESTED]
    are = "are" if len(untested) > 1 else "is"
    notes = [
        f"In percent: {percents}. Small print: 95 % intervals (sampling error only) over "
        f"training seeds and entities. * differs from the instruction alone (p < {CLEAR}, "
        "Holm over all methods and numbers"
        + (f"; {' and '.join(untested)} {are} not tested)." if untested else ").")
    ]
    if heads[0] == PAPER[0] and counted(training, form):
        notes.append(counted(training, form))
    notes += _problems(training, form, heads)
    return PageTable(caption, ["", *(head for _, head, _ in heads)], rows_, notes)


def _problems(training: Training, form: str, heads: tuple[tuple[str, str, bool], ...]) -> list[str]:
    """Return why numbers are missing or rest on a part, one line a reason."""
    reasons: dict[str, list[str]] = {}
    for method in training.methods:
        for name, head, _ in heads:
            estimate = training.get(method.name, form, name)
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
            reasons.setdefault(f"{sign} {reason}", []).append(which)
    return [
        line(f"{sign} {', '.join(which)}: {reason}.", 800)
        for (sign, _, reason), which in (
            (key.partition(" "), which) for key, which in reasons.items()
        )
    ]


def changes(training: Training) -> PageTable:
    """Return every difference of trained methods that stays clear, and J's in any case."""
    titles = {method.name: method.title for method in training.methods}
    trained = {method.name for method in training.methods if method.kind == "trained"}
    rows_ = []
    for one in training.changes:
        clear = one.p_holm is not None and one.p_holm < CLEAR
        if one.method not in trained or not (clear or one.difference.name == "J"):
            continue
        e = one.difference
        rows_.append(
            [
                TableCell(
                    f"{titles[one.method]} minus {titles.get(one.against, one.against)}", head=True
                ),
                TableCell(
                    f"{HEADS.get(e.name, line(e.name, 40))}, {FORM_NAMES.get(one.form, one.form)}",
                    style="left",
                ),
                TableCell(_signed(e.value), _between(e)),
                TableCell(_p(one.p)),
                TableCell(_p(one.p_holm)),
            ]
        )
    head = ["", "number", "difference", "p", "p, Holm"]
    note = (
        f"Of {len(training.changes)} tests: those of J, and those with a corrected p below "
        f"{CLEAR}. Shares are between 0 and 1; odds ratios are logarithms."
    )
    return PageTable("What training changed", head, rows_, [note], "texts")


def by_seed(training: Training) -> PageTable:
    """Return J of each training beside that of all; without rows where there is one seed."""
    rows_ = []
    trained = [method for method in training.methods if len(method.seeds) > 1]
    held = {(c.method, c.form): c for c in training.cells if c.estimate.name == "J"}
    for method in trained:
        for form in FORM_NAMES:
            found = held.get((method.name, form))
            if found is None or is_bare(found.estimate):
                continue
            values = found.by_seed
            if len(values) == len(method.seeds):
                cells = [TableCell(DASH if v is None else compact_number(v)) for v in values]
                cells.insert(
                    0,
                    TableCell(printed_number(found.estimate, False), _tight(found.estimate, False)),
                )
                head = TableCell(f"{line(method.title, 60)}, {FORM_NAMES[form]}", head=True)
                rows_.append([head, *cells])
    seeds = trained[0].seeds if trained else ()
    return PageTable("J of each seed", ["", "all seeds", *(f"seed {s}" for s in seeds)], rows_, [])


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


def alignment_bars_table(training: Training) -> PageTable:
    """Return the numbers of the alignment bars."""
    rows_ = []
    for method in training.methods:
        own = [training.get(method.name, "both", f"align_{pair}") for pair in PAIRS]
        if any(e.value is not None for e in own):
            cells = [TableCell(printed_number(e, True), _tight(e, True)) for e in own]
            rows_.append([TableCell(line(method.title, 60), head=True), *cells])
    heads = list(PAIR_NAMES.values())
    return PageTable("Short answers against paragraphs, % of facts", ["", *heads], rows_, [])


def rows(training: Training) -> PageTable:
    """Return how many rows of each kind were trained on, in the order of the stages."""
    trained = {curve.stage for curve in training.curves}
    rows_ = []
    for name, number in sorted(training.rows.items(), key=lambda one: not one[0].startswith("sft")):
        stage, form, kind = (*name.split(" ", 2), "", "")[:3]
        if stage in trained or not trained:
            head = TableCell(f"{STAGES.get(stage, stage)}, {form}", head=True)
            rows_.append([head, TableCell(line(kind, 60), style="left"), TableCell(f"{number:,}")])
    return PageTable("Training rows of the first seed", ["", "kind", "rows"], rows_, [], "texts")


# ---- the page of a training: verdict, table by method, alignment, curves, facts before and after

#: characters of an answer that a page shows
MOST_TEXT = 2_000
ABOUT_CURVES = {
    "reward accuracy": (
        "Share of pairs in which the chosen answer gained more than the rejected one."
    ),
    "reward margin": (
        "How much more the chosen answer gained: beta times the difference of the log-ratios."
    ),
}


class FactChange(NamedTuple):
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


def write_training_page(folder: str | Path) -> Path:
    """Write ``report.html`` of a training; return its path. Raises InputError."""
    return write_page(folder, training_page(read_training(folder)))


def training_figures(folder: str | Path) -> list[Figure]:
    """Return every chart of a training's page. Raises InputError."""
    return figures_in(context(read_training(folder)))


def training_page(training: Training) -> str:
    """Return the page as text. Holds for any numbers and any texts."""
    return filled("page.html.j2", context(training), __package__)


def context(training: Training) -> dict[str, Any]:
    """Return what the template needs."""
    stages = list(dict.fromkeys(curve.stage for curve in training.curves))
    return {
        "title": line(training.model, 120) or "a model",
        "opening": opening(training)._replace(examples=examples(training)),
        "verdict": [line(text, 600) for text in training.verdict],
        "tables": [
            numbers_table(training, form, form_columns(form, heads), caption)
            for form in FORM_NAMES
            for heads, caption in (
                (PAPER, f"{FORM_NAMES[form].capitalize()}, in UNCLE's layout"),
                (BEYOND, f"{FORM_NAMES[form].capitalize()}: what those rates leave out"),
            )
        ],
        "changes": changes(training),
        "by_seed": by_seed(training),
        "charts": _forests(training),
        "alignment": figure_of(
            "short-against-long",
            partial(alignment_figure, training),
            "Shares of facts by certainty in short and long form, a bar each method.",
        ),
        "aligned": alignment_bars_table(training),
        "curves": _curves(training, stages),
        "sweeps": _sweeps(training),
        "swept": sweep_tables(training),
        "samples": [_shown(sample) for sample in training.samples],
        "rows": rows(training),
        "told": _told(training),
        "settings": [(line(k, 80), line(str(v), 300)) for k, v in training.settings.items()],
        "facts": _facts(training),
        "notes": [line(note, 500) for note in training.notes],
        "command": line(training.command, 2_000),
        "signature": line(signature_text(training.signature), 1_500),
        "definitions": ABOUT,
        "clear": CLEAR,
    }


def _facts(training: Training) -> list[tuple[str, str]]:
    facts = {
        "base run": training.base_run,
        "base model": training.model_identity,
        "data": training.data,
        "judge": training.judge,
        "entities trained on": str(training.entities.get("trained", "")),
        "entities measured": str(training.entities.get("measured", "")),
        "sayso": training.sayso,
        "finished": training.finished or "not yet",
        **{_timing(name): f"{value:g}" for name, value in training.timings.items()},
    }
    return [(name, line(value, 300)) for name, value in facts.items() if value]


def _timing(name: str) -> str:
    """Return "draws, CPU seconds" for draws_cpu_s."""
    step, _, unit = name.removesuffix("_s").rpartition("_")
    return f"{step}, {'CPU seconds' if unit == 'cpu' else 'seconds'}"


def _shown(sample: Sample) -> FactChange:
    return FactChange(
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


def _forests(training: Training) -> list[tuple[str, Figure, str]]:
    drawn = []
    for name, title, axis, caption in (
        (
            "J",
            "J",
            "0 = blind hedging",
            "Bars are 95 % intervals (sampling error only) over seeds and entities.",
        ),
        (
            "wrong_and_sure",
            "Stated wrong, without a hedge",
            "share of all facts",
            "These facts mislead a reader. Lower is better.",
        ),
    ):
        figure = figure_of(
            f"{title} by method",
            partial(forest, training, name, axis),
            f"{title} by method; numbers below.",
        )
        if figure is not None:
            drawn.append((title, figure, caption))
    return drawn


def _told(training: Training) -> list[str]:
    """Return what the trainings had to say, such as that memory ran out."""
    return [
        line(f"{STAGES.get(curve.stage, curve.stage)}, seed {curve.seed}: {notice}", 400)
        for curve in training.curves
        for notice in curve.notices
    ]


def _curves(training: Training, stages: list[str]) -> list[tuple[str, Figure, str]]:
    drawn = []
    for stage in stages:
        for quantity in quantities(training.curves, stage):
            title = f"{STAGES.get(stage, line(stage, 40))}: {line(quantity, 40)}"
            figure = figure_of(
                f"{stage} {quantity}",
                partial(course, training, stage, quantity),
                f"{title} by optimizer step.",
            )
            if figure is not None:
                drawn.append((title, figure, _of_curve(training, stage, quantity)))
    return drawn


def _of_curve(training: Training, stage: str, quantity: str) -> str:
    """Return what a curve's points are."""
    every = together(training, stage, quantity)
    text = "" if every == 1 else f"Each point is the mean of {every} logged values. "
    if quantity == "loss" and any(
        c.first_loss is not None for c in training.curves if c.stage == stage
    ):
        text += "Step 0 is the first batch before any step. "
    return text + ABOUT_CURVES.get(quantity, "")


def _sweeps(training: Training) -> list[tuple[str, Figure, str]]:
    drawn = []
    for form, words in FORM_NAMES.items():
        title = f"FA, UA and EA along xi, {words}"
        figure = figure_of(f"rates along xi {form}", partial(along, training, form), f"{title}.")
        caption = (
            "Bars are 95 % intervals (sampling error only) over seeds and entities. "
            + "; ".join(f"{short}: {ABOUT[short]}" for short in ALONG)
        )
        if figure is not None:
            drawn.append((title, figure, f"{caption}. After UNCLE's Figure 4."))
    return drawn


def sweep_tables(training: Training) -> list[PageTable]:
    """Return what every value of a sweep gave, a table a form."""
    if not training.sweep:
        return []
    tables = []
    heads = (*PAPER, *SWEPT)
    percents = "; ".join(head for _, head, percent in heads if percent)
    note = (
        f"In percent: {percents}. Small print: 95 % intervals (sampling error only) over "
        "seeds and entities."
    )
    for form, words in FORM_NAMES.items():
        rows_ = []
        for one in training.sweep:
            own = [one.numbers.get(f"{form} {name}", Estimate(name)) for name, *_ in heads]
            if any(e.value is not None for e in own):
                cells = [
                    TableCell(printed_number(e, percent), _tight(e, percent))
                    for e, (_, _, percent) in zip(own, heads, strict=True)
                ]
                rows_.append([TableCell(f"{one.value:g}", head=True), *cells])
        columns = ["xi", *(head for _, head, _ in heads)]
        tables.append(PageTable(f"{words.capitalize()}, by xi", columns, rows_, [note]))
    return tables


# ---- a sweep in the terminal and as a page: one line for each value and form

#: beside the columns of UNCLE: (number, head, in percent)
SWEPT = number_columns("J_within", "unspoken_knowledge", "skill", "wrong_and_sure")


def render_sweep(training: Training, console: Console, place: Path | None = None) -> None:
    """Print the last stage's numbers of every value, with 95 % intervals."""
    last = training.methods[-1].title if training.methods else ""
    for form in FORMS:
        for part, heads in (("", PAPER), (", more", SWEPT)):
            table = _headed_table(f"{form} form, xi{part}", heads, console)
            for one in training.sweep:
                own = [(one.numbers[f"{form} {name}"], percent) for name, _, percent in heads]
                cells = (
                    safe_text(printed_number(estimate, percent), console)
                    for estimate, percent in own
                )
                table.add_row(safe_text(f"{one.value:g}", console), *cells)
                ranges = (safe_text(reach(e, percent), console, "dim") for e, percent in own)
                table.add_row("", *ranges)
            console.print()
            console.print(table)
    seeds = "1 seed" if len(training.seeds) == 1 else f"{len(training.seeds)} seeds"
    say(
        console,
        f"{last} for each value; 95 % intervals (sampling error only) over {seeds} and "
        f"{training.entities.get('measured')} entities. The best of many values looks better than "
        "it is: choose on entities that you do not measure again.",
        "dim",
    )
    if place is not None:
        say(console, f"page: {place}", "dim")


def write_sweep_page(folder: str | Path, training: Training) -> Path:
    """Write the page of a sweep, with FA, UA and EA along its values; return its path."""
    return write_page(folder, training_page(training))
