"""A training as a sheet: the sentence, numbers by method, charts, sweeps, facts before/after."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup
from rich.console import Console

from sayso.harmless import block, line
from sayso.protocols.uncle import UNCLE
from sayso.records import Estimate
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
from sayso.report.figures import Figure, figures_in
from sayso.report.number_tables import NumberTable, grid
from sayso.report.numbers import DASH, MINUS, compact_number
from sayso.report.numbers import FORMS as FORM_NAMES
from sayso.report.opening import ChosenExamples, PageOpening, example, invented
from sayso.report.page import environment, sheet_page
from sayso.report.sheet import Chart, Section, Sheet, Tile, render_sheet
from sayso.train.result import (
    NOT_MEASURED,
    Curve,
    MeasuredMethod,
    MethodNumber,
    Sample,
    Training,
    read_training,
    write_page,
)
from sayso.train.verdict import CLEAR, training_sentence

PAPER = ("FA", "UA", "UUR", "KCR", "EA", "J")
BEYOND = (
    "J_within",
    "odds_ratio_within",
    "unspoken_knowledge",
    "forced",
    "skill",
    "wrong_and_sure",
    "unasked",
)
#: what a sweep shows beside the columns of UNCLE
SWEPT = ("J_within", "unspoken_knowledge", "skill", "wrong_and_sure")
#: number -> the head of its column
HEADS = {name: UNCLE.metrics[name].column for name in (*PAPER, *BEYOND)}
#: the head of a column -> what it is
ABOUT = {HEADS[name]: UNCLE.metrics[name].defined for name in HEADS}
#: number -> the one that is tested in its place
TESTED = {"odds_ratio_within": "log_odds_within"}


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
    first = [*invented([training.model]), *([text] if (text := unfinished(training)) else [])]
    sentence = training_sentence(training)
    return PageOpening(sentence, f"{NOT_SHOWN}.", first, examples=examples(training))


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


# ---- tables

STAGES = {"sft": "Supervised fine-tuning", "dpo": "Preference optimization"}


def numbers_table(training: Training, form: str, names: Sequence[str], caption: str) -> NumberTable:
    """Return methods by numbers of a form."""
    notes = [counted(training, form)] if names is PAPER and counted(training, form) else []

    def found(method: MeasuredMethod, name: str) -> Estimate | str | None:
        held = training.get(method.name, form, name)
        return held if held.n or held.value is not None or held.problem != NOT_MEASURED else None

    return grid(
        f"{FORM_NAMES[form].capitalize()}: {caption}",
        {line(method.title, 60): method for method in training.methods},
        {HEADS[name]: name for name in names},
        found,
        labels=("method",),
        meanings=ABOUT,
        notes=notes,
    )


def changes(training: Training) -> NumberTable:
    """Return every difference of trained methods that stays clear, and J's in any case."""
    titles = {method.name: line(method.title, 60) for method in training.methods}
    trained = {method.name for method in training.methods if method.kind == "trained"}
    heads = {TESTED.get(name, name): head for name, head in HEADS.items()}
    rows = {
        (
            f"{titles[one.method]} minus {titles.get(one.against, line(one.against, 60))}",
            f"{heads.get(one.difference.name, line(one.difference.name, 40))}, "
            f"{FORM_NAMES.get(one.form, one.form)}",
        ): one
        for one in training.changes
        if one.method in trained
        and (one.difference.name == "J" or (one.p_holm is not None and one.p_holm < CLEAR))
    }
    columns = {
        "difference": lambda one: _signed(one.difference),
        "p": lambda one: _p(one.p),
        "p, Holm": lambda one: _p(one.p_holm),
    }
    note = (
        f"Of {len(training.changes)} tests: those of J, and those with a corrected p below "
        f"{CLEAR} (Holm, over all methods and numbers). Shares are between 0 and 1; odds ratios "
        "are logarithms."
    )
    return grid(
        "Paired differences with 95 % intervals",
        rows,
        columns,
        lambda one, of: of(one),
        labels=("", "number"),
        notes=[note],
    )


def by_seed(training: Training) -> NumberTable:
    """Return J of each training beside that of all; without rows where there is one seed."""
    held = {(c.method, c.form): c for c in training.cells if c.estimate.name == "J"}
    seeds = next((m.seeds for m in training.methods if len(m.seeds) > 1), ())
    rows = {
        (line(method.title, 60), words): held[method.name, form]
        for method in training.methods
        for form, words in FORM_NAMES.items()
        if len(method.seeds) > 1
        and (method.name, form) in held
        and len(held[method.name, form].by_seed) == len(seeds)
    }

    def found(one: MethodNumber, seed: int | None) -> Estimate | str | None:
        if seed is None:
            return one.estimate
        value = one.by_seed[seed]
        return DASH if value is None else compact_number(value)

    columns: dict[str, int | None] = {"all seeds": None}
    columns |= {f"seed {seed}": place for place, seed in enumerate(seeds)}
    return grid("J of each seed", rows, columns, found, labels=("method", "form"))


def _signed(e: Estimate) -> str:
    if e.value is None or (e.name == "J" and e.low is None):
        return DASH
    ends = "" if e.low is None or e.high is None else f" [{e.low:+.3f}, {e.high:+.3f}]"
    return f"{e.value:+.3f}{ends}".replace("-", MINUS)


def _p(value: float | None) -> str:
    if value is None:
        return DASH
    return "< .001" if value < 0.001 else f"{value:.3f}"


def aligned_methods(training: Training) -> NumberTable:
    """Return how far short answers and paragraphs hedge the same facts."""
    return grid(
        "Short answers against paragraphs, shares of facts",
        {line(method.title, 60): method for method in training.methods},
        {words: f"align_{pair}" for pair, words in PAIR_NAMES.items()},
        lambda method, name: _measured(training.get(method.name, "both", name)),
        labels=("method",),
    )


def _measured(e: Estimate) -> Estimate | None:
    return e if e.value is not None else None


def rows_table(training: Training) -> NumberTable:
    """Return how many rows of each kind were trained on, in the order of the stages."""
    trained = {curve.stage for curve in training.curves}
    rows = {}
    for name, number in sorted(training.rows.items(), key=lambda one: not one[0].startswith("sft")):
        stage, form, kind = (*name.split(" ", 2), "", "")[:3]
        if stage in trained or not trained:
            rows[f"{STAGES.get(stage, line(stage, 40))}, {form}", line(kind, 60)] = number
    return grid(
        "Training rows of the first seed",
        rows,
        {"rows": None},
        lambda number, _: f"{number:,}",
        labels=("", "kind"),
    )


def sweep_table(training: Training, form: str) -> NumberTable:
    """Return what every value of a sweep gave in a form."""
    note = (
        "The best of many values looks better than it is: choose on entities that you do not "
        "measure again."
    )
    return grid(
        f"{FORM_NAMES[form].capitalize()}, by xi",
        {f"{one.value:g}": one for one in training.sweep},
        {HEADS[name]: name for name in (*PAPER, *SWEPT)},
        lambda one, name: one.numbers.get(f"{form} {name}"),
        labels=("xi",),
        meanings=ABOUT,
        notes=[note],
    )


# ---- the sheet of a training

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


def write_training_page(folder: str | Path, training: Training | None = None) -> Path:
    """Write ``report.html`` of a training, read from its folder; return its path.

    Raises InputError.
    """
    return write_page(folder, training_page(training or read_training(folder)))


def training_figures(folder: str | Path) -> list[Figure]:
    """Return every chart of a training's page. Raises InputError."""
    return figures_in([chart.figure for chart in sheet(read_training(folder)).charts])


def training_page(training: Training) -> str:
    """Return the page as text. Holds for any numbers and any texts."""
    settings = [(line(k, 80), line(str(v), 300)) for k, v in training.settings.items()]
    return sheet_page(
        sheet(training),
        made=[("Training", _facts(training)), ("Settings", settings)],
        notices=training.notes,
        command=training.command,
        examples=opening(training).examples,
    )


def render_training(training: Training, console: Console, page: Path | None = None) -> None:
    """Print the sheet. Holds for one that was only exported."""
    render_sheet(sheet(training), console, None, page)


def sheet(training: Training) -> Sheet:
    """Return all that is shown of a training, or of a sweep."""
    model = line(training.model, 120) or "a model"
    swept = bool(training.sweep)
    first = sweep_table if swept else partial(numbers_table, names=PAPER, caption="UNCLE's rates")
    main, *others = (first(training, form) for form in FORM_NAMES)
    charts = _forests(training)
    return Sheet(
        f"Did {model} learn to say what it does not know?",
        opening(training),
        _tiles(training),
        _along(training, "short") if swept else charts[0],
        main,
        [Section("forms", "And in paragraphs?", others), *_sections(training, charts[1:])],
        named=[("training", Estimate("", signature=training.signature))],
        terms=TERMS,
        method=METHOD,
    )


def _forests(training: Training) -> list[Chart]:
    """Return the charts of J, and of what is stated wrong, by method."""
    seeds = "1 seed" if len(training.seeds) == 1 else f"{len(training.seeds)} seeds"
    over = f"{seeds} and {training.entities.get('measured', 0)} entities"
    of = {
        "J": ("J", "0 = blind hedging"),
        "wrong_and_sure": ("Stated wrong, without a hedge", "share of all facts"),
    }
    return [
        Chart(
            f"{title} by method",
            partial(forest, training, name, axis),
            f"{title} by method; the tables have the numbers.",
            f"{title}, with 95 % intervals (sampling error only) over {over}.",
        )
        for name, (title, axis) in of.items()
    ]


def _sections(training: Training, charts: Sequence[Chart]) -> list[Section]:
    """Return the tables behind the rates; ``charts`` stand beside what those leave out."""
    stages = list(dict.fromkeys(curve.stage for curve in training.curves))
    alike = Chart(
        "short-against-long",
        partial(alignment_figure, training),
        "Shares of facts by certainty in short and long form, a bar each method.",
        "Shares of facts in percent, from left to right in the order of the legend.",
    )
    verdict = [line(text, 600) for text in training.verdict]
    beyond = [numbers_table(training, form, BEYOND, "beyond the paper") for form in FORM_NAMES]
    swept = [_along(training, form) for form in FORM_NAMES] if training.sweep else []
    return [
        Section(
            "changes", "Which changes are more than chance?", [changes(training)], text=verdict
        ),
        Section("beyond", "What do those rates leave out?", beyond, charts),
        Section(
            "alignment",
            "Does it hedge the same facts in short answers and paragraphs?",
            [aligned_methods(training)],
            [alike],
        ),
        Section("seeds", "Do seeds agree?", [by_seed(training)]),
        Section("sweep", "How do rates move along xi?", charts=swept),
        Section(
            "training",
            "How did the training go?",
            [rows_table(training)],
            _curves(training, stages),
            _told(training),
        ),
        Section("answers", "Facts before and after", html=_samples(training)),
    ]


TERMS = (
    (
        "known",
        "The base model's probes decide what is known. A trained model is never probed: it would "
        "hedge its probes and look ignorant, so its hedging would seem excellent.",
    ),
    (
        "UUR and KCR",
        "They trade off against each other. J is 0 for blind hedging. J within type is also 0 for "
        "a model that hedges whole types of facts.",
    ),
)
METHOD = "UNCLE, arXiv 2505.16922; Idk, arXiv 2401.13275; LoGU, arXiv 2410.14309."


def _tiles(training: Training) -> list[Tile]:
    """Return what the last trained method hedges in short answers, and the instruction alone."""
    trained = [method for method in training.methods if method.kind == "trained"]
    if not trained:
        return []
    of = {"trained": trained[-1].name, "before": "instruction"}
    parts = {
        "UUR": "unknown facts that it hedged",
        "over_hedge": "known facts that it hedged",
        "J": "J: 0 = blind hedging, 1 = perfect",
    }
    return [
        Tile(words, [(when, training.get(method, "short", name)) for when, method in of.items()])
        for name, words in parts.items()
    ]


def _samples(training: Training) -> Markup:
    """Return the facts before and after, to be opened one by one."""
    if not training.samples:
        return Markup()
    template = environment(__package__).get_template("samples.html.j2")
    return Markup(template.render(samples=[_shown(sample) for sample in training.samples]))


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


def _told(training: Training) -> list[str]:
    """Return what the trainings had to say, such as that memory ran out."""
    return [
        line(f"{STAGES.get(curve.stage, curve.stage)}, seed {curve.seed}: {notice}", 400)
        for curve in training.curves
        for notice in curve.notices
    ]


def _curves(training: Training, stages: Sequence[str]) -> list[Chart]:
    charts = []
    for stage in stages:
        for quantity in quantities(training.curves, stage):
            title = f"{STAGES.get(stage, line(stage, 40))}: {line(quantity, 40)}"
            drawn = partial(course, training, stage, quantity)
            below = f"{title}. {_of_curve(training, stage, quantity)}".strip()
            charts.append(Chart(f"{stage} {quantity}", drawn, f"{title} by step.", below))
    return charts


def _of_curve(training: Training, stage: str, quantity: str) -> str:
    """Return what a curve's points are."""
    every = together(training, stage, quantity)
    text = "" if every == 1 else f"Each point is the mean of {every} logged values. "
    if quantity == "loss" and any(
        c.first_loss is not None for c in training.curves if c.stage == stage
    ):
        text += "Step 0 is the first batch before any step. "
    return text + ABOUT_CURVES.get(quantity, "")


def _along(training: Training, form: str) -> Chart:
    """Return FA, UA and EA along the values of a sweep, after UNCLE's Figure 4."""
    title = f"FA, UA and EA along xi, {FORM_NAMES[form]}"
    about = "; ".join(f"{short}: {ABOUT[short]}" for short in ALONG)
    return Chart(
        f"rates along xi {form}",
        partial(along, training, form),
        f"{title}.",
        f"{title}, with 95 % intervals (sampling error only). {about}. After UNCLE's Figure 4.",
    )
