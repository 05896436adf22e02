"""A training as a sheet: the sentence, numbers by method, charts, sweeps, facts before/after."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean

import msgspec
from markupsafe import Markup
from rich.console import Console

from sayso.harmless import block, line
from sayso.metric import FORMS as FORM_NAMES
from sayso.protocols.uncle import UNCLE
from sayso.protocols.uncle.report import TILES, alignment_section, alignment_table
from sayso.records import Estimate
from sayso.report.answers import LABELS
from sayso.report.charts import NARROW, Drawing, chart_row, forest_plot, point, series_chart
from sayso.report.figures import Figure, figures_in
from sayso.report.number_tables import Entry, NumberTable, grid
from sayso.report.numbers import p_text, plain_number
from sayso.report.opening import ChosenExamples, PageOpening, example, invented_model
from sayso.report.page import environment, sheet_page
from sayso.report.sheet import Chart, Section, Sheet, Tile, render_sheet
from sayso.train.result import (
    NOT_MEASURED,
    Change,
    Curve,
    MeasuredMethod,
    MethodNumber,
    Sample,
    Training,
    read_training,
    write_page,
)
from sayso.train.verdict import CLEAR, training_sentence

PAPER = (*UNCLE.metrics.section("rates"),)
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


def unfinished(training: Training) -> str:
    """Return that a training is not finished, and how to go on; empty for a finished one."""
    if training.finished:
        return ""
    command = line(training.command, 2_000)
    with_it = f"`{command}`" if command else "the same call"
    return f"This training is not finished: {with_it} continues it."


#: ends "What this does not show:"
NOT_SHOWN = (
    "what this recipe does to another model, or to questions of another kind. What counts as known "
    "was decided by the base model's own draws"
)


def opening(training: Training) -> PageOpening:
    """Return what the page and the table of a training begin with."""
    first = [*invented_model([training.model]), *([text] if (text := unfinished(training)) else [])]
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
    """Return a good and a bad answer after training, short ones if there are any."""
    every = [s for s in training.samples if s.form == "short"] or training.samples
    chosen: list[tuple[str, Sample]] = []
    for group in (GOOD, BAD):
        found = (
            (what, s)
            for what, known, before, after in group
            for s in every
            if (s.known, s.after_value) == (known, after) and s.before_value in before
        )
        chosen += [*found][:1]
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
    return ChosenExamples(shown, "Each is the first of its kind among the facts below.")


# ---- charts


def forest(training: Training, width: int) -> Drawing | None:
    """Draw J of every method and form with its interval."""
    labels = {m.name: line(m.title, 40 if width > NARROW else 20) for m in training.methods}
    rows = [
        chart_row(label, shown, training.get(method, form, "J"))
        for method, label in labels.items()
        for form, shown in FORM_NAMES.items()
    ]
    return forest_plot(rows, list(labels.values()), width, "J (0 = blind hedging)", [])


#: what UNCLE's Figure 4 shows over xi
ALONG = ("FA", "UA", "EA")


def along(training: Training, form: str, width: int) -> Drawing | None:
    """Draw FA, UA and EA over the values of a sweep in one form (UNCLE, Figure 4)."""
    points = [
        point(name, one.value, estimate)
        for one in sorted(training.sweep, key=lambda p: p.value)
        for name in ALONG
        if (estimate := one.numbers.get(f"{form} {name}")) is not None
    ]
    return series_chart(points, width, ("xi", "share"))


# ---- tables

STAGES = {"sft": "Supervised fine-tuning", "dpo": "Preference optimization"}


def _methods(training: Training) -> dict[str, MeasuredMethod]:
    return {line(method.title, 60): method for method in training.methods}


def _measured(training: Training, method: MeasuredMethod, form: str, name: str) -> Entry:
    found = training.get(method.name, form, name)
    return found if found.problem != NOT_MEASURED else None


def numbers_table(training: Training, form: str, names: Sequence[str], caption: str) -> NumberTable:
    """Return methods by numbers of a form."""
    return grid(
        f"{FORM_NAMES[form].capitalize()}: {caption}",
        _methods(training),
        {HEADS[name]: name for name in names},
        lambda method, name: _measured(training, method, form, name),
        labels=("method",),
        meanings=ABOUT,
    )


def changes(training: Training) -> NumberTable:
    """Return every difference of trained methods that stays clear, and J's in any case."""
    titles = {method.name: title for title, method in _methods(training).items()}
    trained = {method.name for method in training.methods if method.kind == "trained"}
    rows = {
        (
            f"{titles[one.method]} minus {titles.get(one.against, line(one.against, 60))}",
            f"{UNCLE.metrics.named(one.difference.name).column}, "
            f"{FORM_NAMES.get(one.form, one.form)}",
        ): one
        for one in training.changes
        if one.method in trained
        and (one.difference.name == "J" or (one.p_holm is not None and one.p_holm < CLEAR))
    }
    columns: dict[str, Callable[[Change], Entry]] = {
        "difference": lambda one: one.difference,
        "p": lambda one: p_text(one.p),
        "p, Holm": lambda one: p_text(one.p_holm),
    }
    note = (
        f"Of {len(training.changes)} tests: those of J, and those with a corrected p below "
        f"{CLEAR} (Holm, over all methods and numbers)."
    )
    return grid(
        "Paired differences with 95 % intervals",
        rows,
        columns,
        lambda one, of: of(one),
        labels=("", "number"),
        written="difference",
        notes=[note],
    )


def by_seed(training: Training) -> NumberTable:
    """Return J of each training beside that of all; without rows where there is one seed."""
    seeds = next((m.seeds for m in training.methods if m.seeds[1:]), ())
    titles = {m.name: title for title, m in _methods(training).items() if m.seeds[1:]}
    rows = {
        (titles[one.method], FORM_NAMES.get(one.form, one.form)): one
        for one in training.cells
        if one.estimate.name == "J" and one.method in titles and len(one.by_seed) == len(seeds)
    }
    columns: dict[str, Callable[[MethodNumber], Entry]] = {"all seeds": lambda one: one.estimate}
    columns |= {f"seed {seed}": partial(_of_seed, place) for place, seed in enumerate(seeds)}
    labels = ("method", "form")
    return grid("J of each seed", rows, columns, lambda one, of: of(one), labels=labels)


def _of_seed(place: int, one: MethodNumber) -> Entry:
    return plain_number(one.by_seed[place])


def course(training: Training) -> NumberTable:
    """Return the loss of each stage and seed before its first step, and what was measured last."""
    names = dict.fromkeys(n for c in training.curves for p in c.points for n in p.values)

    def last(curve: Curve, name: str) -> Entry:
        values = [p.values[name] for p in curve.points if name in p.values]
        return f"{fmean(values[-(len(values) // 10 or 1) :]):.3g}" if values else None

    columns: dict[str, Callable[[Curve], Entry]] = {
        "steps": lambda curve: f"{max((p.step for p in curve.points), default=0):,}",
        "loss before": lambda c: None if c.first_loss is None else f"{c.first_loss:.3g}",
    }
    columns |= {
        f"{line(name, 40)} at the end": partial(last, name=name)
        for name in sorted(names, key=lambda name: (name != "loss", name))
        if name != "rate"
    }
    return grid(
        "Each stage and seed",
        {
            (STAGES.get(curve.stage, line(curve.stage, 40)), f"seed {curve.seed}"): curve
            for curve in training.curves
        },
        columns,
        lambda curve, of: of(curve),
        labels=("", ""),
        notes=["At the end: the mean over the last tenth of the logged values."],
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
    stages = {curve.stage for curve in training.curves}
    rows = {name: f"{number:,}" for name, number in training.rows.items()}
    made: dict[str, Mapping[str, object]] = {
        "Training": _facts(training),
        "Training rows of the first seed": {
            name: rows[name] for name in rows if not stages or name.partition(" ")[0] in stages
        },
        "Settings": training.settings,
        "Seconds": {
            name.removesuffix("_s").replace("_", " "): f"{value:.1f}"
            for name, value in training.timings.items()
        },
    }
    told = [
        f"{STAGES.get(curve.stage, curve.stage)}, seed {curve.seed}: {notice}"
        for curve in training.curves
        for notice in curve.notices
    ]
    return sheet_page(
        sheet(training),
        made=[
            (group, [(line(name, 80), line(str(value), 300)) for name, value in facts.items()])
            for group, facts in made.items()
            if facts
        ],
        notices=[*training.notes, *told],
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
    seeds = "1 seed" if len(training.seeds) == 1 else f"{len(training.seeds)} seeds"
    j = Chart(
        "J by method",
        partial(forest, training),
        "J by method; the tables have the numbers.",
        "J, with 95 % intervals (sampling error only) over "
        f"{seeds} and {training.entities.get('measured', 0)} entities.",
    )
    return Sheet(
        f"Did {model} learn to say what it does not know?",
        opening(training),
        _tiles(training),
        _along(training, "short") if swept else j,
        main,
        [Section("forms", "And in paragraphs?", others), *_sections(training)],
        named=[("training", Estimate("", signature=training.signature))],
        terms=TERMS,
        method=METHOD,
    )


def _sections(training: Training) -> list[Section]:
    """Return the tables behind the rates."""
    verdict = [line(text, 600) for text in training.verdict]
    beyond = [numbers_table(training, form, BEYOND, "beyond the paper") for form in FORM_NAMES]
    aligned = alignment_table(
        "Short answers against paragraphs, shares of facts",
        _methods(training),
        lambda method, name: _measured(training, method, "both", name),
        labels=("method",),
    )
    return [
        Section(
            "changes", "Which changes are more than chance?", [changes(training)], text=verdict
        ),
        Section("beyond", "What do those rates leave out?", beyond),
        alignment_section(aligned),
        Section("seeds", "Do seeds agree?", [by_seed(training)]),
        Section(
            "sweep",
            "How do rates move along xi?",
            charts=[_along(training, "long")] if training.sweep else (),
        ),
        Section("training", "How did the training go?", [course(training)]),
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
    return [
        Tile(words, [(when, training.get(method, "short", name)) for when, method in of.items()])
        for name, words in TILES.items()
    ]


def _samples(training: Training) -> Markup:
    """Return the facts before and after, to be opened one by one."""
    if not training.samples:
        return Markup()
    samples = [
        {
            **{
                name: block(value[:MOST_TEXT])
                for name, value in msgspec.structs.asdict(sample).items()
                if isinstance(value, str)
            },
            "golds": line("; ".join(sample.golds), 300),
            "known": "known" if sample.known else "unknown",
        }
        for sample in training.samples
    ]
    template = environment(__package__).get_template("samples.html.j2")
    return Markup(template.render(samples=samples))


def _facts(training: Training) -> dict[str, str]:
    facts = {
        "base run": training.base_run,
        "base model": training.model_identity,
        "data": training.data,
        "judge": training.judge,
        "entities trained on": str(training.entities.get("trained", "")),
        "entities measured": str(training.entities.get("measured", "")),
        "sayso": training.sayso,
        "finished": training.finished or "not yet",
    }
    return {name: value for name, value in facts.items() if value}


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
