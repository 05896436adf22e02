"""A study shown: one sheet, in the terminal and on a page, and the files of its tables."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup
from rich.console import Console

from sayso.harmless import line
from sayso.metric import Headline
from sayso.protocols import PROTOCOLS
from sayso.protocols.protocol import LayoutRuns, PaperLayout, Unsuited
from sayso.records import InputError
from sayso.report.differences import NONE, by_form, in_one_phrase, others_sentence, rules_alone
from sayso.report.figures import Figure, figures_in
from sayso.report.notebook import shortened_line
from sayso.report.number_tables import INTERVALS, WRITERS, NumberTable, latex_text
from sayso.report.numbers import many
from sayso.report.opening import ChosenExamples, PageOpening, invented_model
from sayso.report.page import sheet_page, write_index
from sayso.report.sheet import Chart, Section, Sheet, render_sheet
from sayso.report.terminal import say
from sayso.runs.job import load_data
from sayso.storage.atomic import place_inside, replacing
from sayso.storage.run_folder import RunFolder
from sayso.studies.grid import Grid, GridCell
from sayso.studies.joined import FinishedRun, StudyNumbers
from sayso.studies.tables import RANKED, ProtocolTables, asked_of, meanings_of, overview

INDEX = "index.html"
#: folder of the tables, beside the page
TABLES = "tables"
#: runs of one model that a sentence tells of
MOST_TOLD = 3
#: the ranks that each of several models can have, the best and the worst; ``None``: no value
Ranks = Sequence[tuple[int, int] | None]
#: ends "What this does not show:"
NOT_SHOWN = "why models differ. Other bases know other things."
TERMS = (
    (
        "rank",
        "A range: “1–3” means that the model is tied with two others. Two models differ if the "
        "p-value of Student's t for their paired difference is below .05 after Holm's correction "
        "over all pairs of that number.",
    ),
    (
        "mean",
        "Every model answered the same questions, so questions are resampled jointly for all "
        "models, with all questions about an entity together. Data sets are resampled separately "
        "and weigh equally in a mean. A model that lacks a data set has no mean.",
    ),
)


def study_sheet(study: StudyNumbers, every: Sequence[ProtocolTables] | None = None) -> Sheet:
    """Return what is shown of a study. Raises InputError for runs that cannot be compared.

    ``every`` are the tables of its protocols, if they are there already. Several protocols stand
    in one table first, each with the number that carries its result.
    """
    every = every or [ProtocolTables(study, name) for name in study.protocols]
    first, *others = every
    own = _own_sheet(first.runs[0])
    sections = [
        Section("clear", "Which models differ clearly, and in what?", [t.clear for t in every]),
        Section(
            "spread", "Do other wordings and samples change the result?", [t.spread for t in every]
        ),
        Section(
            "all", "What are all numbers of each model?",
            [table for t in every for table in (*t.by_form, *t.scores)],
        ),
        Section(
            "data", "Does it differ between data sets?", [t.by_data for t in every if t.data[1:]]
        ),
    ]  # fmt: skip
    sheet = Sheet(
        own.question,
        _opening(study, every, own.opening.not_shown),
        chart=first.chart,
        main=_ranked(first),
        sections=sections,
        cautions=_cautions(study, every),
        terms=TERMS,
    )
    if not others:
        return sheet
    question = f"A study of {many(len(study.models), 'model')}, {asked_of(study, study.data)}"
    parts = (
        Section(
            t.protocol,
            t.plan.question,
            [_ranked(t)],
            [t.chart] if t.chart else (),
            () if study.models[1:] else _told(t.runs),
        )
        for t in every
    )
    main = overview(study, every)
    return sheet._replace(question=question, chart=None, main=main, sections=[*parts, *sections])


def _own_sheet(run: FinishedRun) -> Sheet:
    return PROTOCOLS[run.protocol].report.sheet(run.results.all, run.manifest)


def _ranked(tables: ProtocolTables) -> NumberTable:
    """Return the headline numbers of a protocol, as they are shown: each rank behind its number."""
    heads = ("rank" if head.startswith(RANKED) else head for head in tables.headline.columns)
    return tables.headline._replace(columns=tuple(heads))


def _opening(study: StudyNumbers, every: Sequence[ProtocolTables], limit: str) -> PageOpening:
    """Return how a study begins: what is unfinished, and who is best or what the one model does."""
    first = invented_model([run.manifest.model for run in study.runs])
    first += [
        f"{o.protocol}, {line(o.model, 60)}, {line(o.data, 60)}: {o.status} {line(o.reason, 300)}"
        for o in study.outcomes
        if o.status not in ("done", "kept")
    ]
    if study.models[1:]:
        return PageOpening(_sentence(study, every), NOT_SHOWN, first)
    told = _told(every[0].runs[:MOST_TOLD])
    left = len(study.runs) - len(told)
    return PageOpening(" ".join([*told, *[f"{left:,} more below."] * (left > 0)]), limit, first)


def _told(runs: Sequence[FinishedRun]) -> list[str]:
    """Return what runs of one model found, each with the name of its data if there are several."""
    of = [f"{line(run.data, 60)}: " if runs[1:] else "" for run in runs]
    return [name + _own_sheet(run).opening.sentence for name, run in zip(of, runs, strict=True)]


def _sentence(study: StudyNumbers, every: Sequence[ProtocolTables]) -> str:
    """Say which models are best in what; parts of headline numbers only of a single protocol."""
    found: dict[str, tuple[Headline, list[tuple[str, Ranks]]]] = {}
    named: set[int] = set()
    for tables in every:
        protocol = [tables.protocol] if every[1:] else []
        for headline, numbers in tables.told:
            if headline.part and every[1:]:
                continue
            forms = found.setdefault(headline.what, (headline, []))[1]
            for number in numbers:
                ranks = dict(zip(tables.models, number.ranking.ranks, strict=True))
                form = ", ".join(filter(None, [*protocol, tables.words.form(number.where)]))
                forms.append((form, [ranks.get(model) for model in study.models]))
                named.add(id(number))
    sentence = ranked_sentence(list(found.values()), study.models) or (
        f"These {len(study.models):,} models cannot be ranked: no headline number of two of them "
        "can be compared."
    )
    rest = [n for tables in every for n in tables.numbers if id(n) not in named]
    sentence += others_sentence([any(pair.clear for pair in n.ranking.pairs) for n in rest])
    people = [t.called(n[0].name) for t in every for n in t.ranked if n[0].corrected]
    if people:
        sentence += f" Labels of people correct {in_one_phrase(people)} for the judge's errors."
    return sentence


def ranked_sentence(
    found: Sequence[tuple[Headline, Sequence[tuple[str, Ranks]]]], models: Sequence[str]
) -> str:
    """Say who is best in each headline number, and in its parts where some models differ in them.

    Each number has its ranks by the form that they are of. Holds without any rank.
    """
    alike: list[str] = []
    best: dict[bool, list[str]] = {False: [], True: []}
    for headline, forms in found:
        leaders = [(_leaders(headline, ranks, models), form) for form, ranks in forms]
        for told, where in by_form(leaders):
            if told == NONE:
                alike += [] if headline.part else [f"{headline.what}{where}"]
            elif told:
                best[headline.part].append(f"{told}{where}")
    none = [f"no difference is visible in {in_one_phrase(alike)}"] if alike else []
    text = "; ".join([*best[False], *none, *best[True]])
    return f"Of {len(models):,} models, {text}." if text else ""


def _leaders(headline: Headline, ranks: Ranks, models: Sequence[str]) -> str:
    """Say who leads; :data:`NONE` where all may, nothing where fewer than two have the number."""
    held = [(line(model, 60), rank) for model, rank in zip(models, ranks, strict=True) if rank]
    leaders = [model for model, rank in held if rank[0] == 1]
    if len(held) < 2:
        return ""
    if len(leaders) == len(held):
        return NONE
    if len(leaders) == 1:
        return f"{leaders[0]} {headline.best}"
    some = in_one_phrase(leaders) if len(leaders) < 3 else f"{len(leaders)} models"
    return f"{some} share the lead in {headline.what}"


def _cautions(study: StudyNumbers, every: Sequence[ProtocolTables]) -> list[str]:
    """Return what must be known of a comparison, and how many of its runs have cautions."""
    notes = [n for t in every for n in (*study.notes(t.protocol), *t.within_spread())]
    runs = [run for tables in every for run in tables.runs]
    if not any(numbers[0].corrected for tables in every for numbers in tables.ranked):
        notes += rules_alone(_judges(runs))
    warned = [run for run in runs if run.manifest.cautions]
    if warned:
        notes.append(
            f"{len(warned):,} of {many(len(runs), 'run')} "
            f"{'has' if len(warned) == 1 else 'have'} cautions, such as ({_cell(warned[0])}): "
            f"{shortened_line(warned[0].manifest.cautions[0], 80)}"
        )
    return [shortened_line(note, 240) for note in dict.fromkeys(notes)]


def _judges(runs: Iterable[FinishedRun]) -> dict[str, str]:
    return {run.model: run.manifest.judge for run in runs}


def _cell(run: FinishedRun) -> str:
    return f"model {line(run.model, 60)}, data {line(run.data, 60)}, {run.protocol}"


def examples(tables: ProtocolTables) -> ChosenExamples:
    """Return the answers at the top of the page of a run: of the model that ranks first."""
    ranks = tables.main[0].ranking.ranks if tables.main else []
    first = min(((own, m) for m, own in enumerate(ranks) if own), default=(None, 0))[1]
    run = next(run for run in tables.runs if run.model == tables.models[first])
    stored = tables.plan.report.read_answers(
        RunFolder.open(run.path), run.manifest, run.results.all
    ).examples
    return stored._replace(rule=f"Answers of {_cell(run)}. {stored.rule}")


# ---- the layouts of the papers


def layouts() -> dict[str, tuple[str, PaperLayout]]:
    """Return the layouts of all protocols by name, with the protocol's."""
    return {one.name: (name, one) for name, plan in PROTOCOLS.items() for one in plan.layouts()}


def check_layouts(names: Sequence[str]) -> None:
    """Refuse names that are no layouts. Raises InputError."""
    every = layouts()
    for name in names:
        if name not in every:
            raise InputError(f"layout {name!r} is unknown; expected {', '.join(every)}")


def check_possible(grid: Grid, names: Sequence[str]) -> None:
    """Refuse layouts that no cell of a study can fill, before anything is asked.

    Reads the questions where a layout depends on them. Raises InputError.
    """
    check_layouts(names)
    place_inside(grid.out, TABLES)
    for name in names:
        protocol, layout = layouts()[name]
        cells = [cell for cell in grid.cells if cell.protocol == protocol]
        if not cells:
            raise InputError(
                f"layout {name} shows runs of {protocol}, and this study has none: add {protocol} "
                "to its protocols"
            )
        if not any(_can_fill(layout, cell) for cell in cells):
            raise InputError(f"layout {name} needs {layout.needs}, which no run of this study has")


def _can_fill(layout: PaperLayout, cell: GridCell) -> bool:
    """Tell whether a cell can fill a layout, as far as is known before it runs."""
    if cell.lacking:
        return False
    try:
        questions = () if cell.job.texts is not None else load_data(cell.job).questions
    except Unsuited:
        return False
    except InputError:  # the run itself says what is wrong
        return True
    return layout.possible(cell.job.settings, questions)


#: what layouts of papers say where labels of people correct numbers of these runs
OF_THE_JUDGE = (
    "All numbers are the judge's, as in papers. The study's tables have those that labels of "
    "people correct."
)


def layout_tables(study: StudyNumbers, name: str) -> list[NumberTable]:
    """Return the tables of a layout. Raises InputError for one that is unknown or has no runs."""
    check_layouts([name])
    protocol, layout = layouts()[name]
    if protocol not in study.protocols:
        raise InputError(
            f"layout {name} shows runs of {protocol}, and none of them is finished here"
        )
    models, data = study.of(protocol)
    runs = {(run.model, run.data): run for run in study.runs if run.protocol == protocol}
    shown = LayoutRuns(
        models,
        data,
        {place: run.results for place, run in runs.items()},
        {place: run.manifest for place, run in runs.items()},
        lambda: study.judged(protocol),
        {place: run.path for place, run in runs.items()},
        {name: about.label for name, about in study.systems.items() if about.label},
    )
    plan = PROTOCOLS[protocol]
    tables = layout.make(shown)
    if not any(table.rows for table in tables):
        raise InputError(f"layout {name} needs {layout.needs}, which these runs do not have")
    corrected = any(n.corrected for n in study.numbers(protocol))
    notes = (OF_THE_JUDGE,) if corrected else rules_alone(_judges(runs.values()))
    return [
        table._replace(
            name=name if len(tables) == 1 else f"{name}-{number}",
            source=f"Layout: {layout.reference}.",
            notes=(*table.notes, *notes),
            meanings=meanings_of(plan.metrics, table.short or table.columns),
        )
        for number, table in enumerate(tables, 1)
    ]


# ---- files and the page


#: rows from which a table is written as CSV alone: pairs of 80 models are tens of megabytes else
LARGE = 5_000


def write_tables(
    tables: Sequence[NumberTable], folder: Path, intervals: str = INTERVALS[0]
) -> None:
    """Write tables in every format; large ones as CSV alone.

    ``intervals`` are those of LaTeX tables (:func:`sayso.report.number_tables.latex_text`).
    """
    for table in tables:
        large = len(table.rows) >= LARGE
        for suffix, text in WRITERS.items():
            place = place_inside(folder, f"{table.name}.{suffix}")
            if large and suffix != "csv":
                place.unlink(missing_ok=True)  # of the same study when it was smaller
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            with replacing(place) as file:
                written = latex_text(table, intervals) if suffix == "tex" else text(table)
                file.write(written.encode("utf-8", "replace"))


def write_study(
    study: StudyNumbers, out: Path, named: Sequence[str] = (), intervals: str = INTERVALS[0]
) -> Path:
    """Write the page of a study and its tables into ``out``; return the page.

    ``named`` are layouts that stand on the page too, ``intervals`` those of LaTeX tables. Raises
    InputError where somebody else's page or tables stand there.
    """
    if place_inside(out, TABLES).exists() and not (out / INDEX).exists():
        raise InputError(f"{out / TABLES} exists without a page: choose another --out")
    every = [ProtocolTables(study, name) for name in study.protocols]
    laid_out = {name: layout_tables(study, name) for name in named}
    written = [table for tables in every for table in tables.written]
    sheet = study_sheet(study, every)
    sections = [_laid_out(name, tables, sheet.cautions) for name, tables in laid_out.items()]
    sheet = sheet._replace(sections=[*sheet.sections, *sections, _runs(study, written, out)])
    out.mkdir(parents=True, exist_ok=True)
    names = {"models": study.models, "data": study.data}
    made = {"resamples": f"{study.resamples:,}", "may differ in": ", ".join(study.allow)}
    page = sheet_page(
        sheet,
        made=[("Study", [(name, line(text, 200)) for name, text in made.items() if text])],
        wide=True,
        about=[(what, line(", ".join(own), 300)) for what, own in names.items()],
        examples=examples(every[0]),
    )
    place = write_index(place_inside(out, INDEX), page)
    write_tables(
        [*written, *(t for own in laid_out.values() for t in own)], out / TABLES, intervals
    )
    return place


def study_figures(study: StudyNumbers, named: Sequence[str] = ()) -> list[Figure]:
    """Return every chart of a study's page; ``named`` are layouts."""
    laid_out = [_laid_out(name, layout_tables(study, name)) for name in named]
    drawn = [*study_sheet(study).charts, *(chart for own in laid_out for chart in own.charts)]
    return figures_in(chart.figure for chart in drawn)


def allowed_layouts(study: StudyNumbers) -> list[str]:
    """Return the layouts that the runs of a study allow."""
    found = []
    for name in layouts():
        with contextlib.suppress(InputError):
            layout_tables(study, name)
            found.append(name)
    return found


def every_table(study: StudyNumbers) -> list[NumberTable]:
    """Return the tables of a study by their names, those of all layouts that it allows too."""
    own = [t for name in study.protocols for t in ProtocolTables(study, name).written]
    return own + [t for name in allowed_layouts(study) for t in layout_tables(study, name)]


def _laid_out(name: str, tables: Sequence[NumberTable], said: Sequence[str] = ()) -> Section:
    """Return the tables of a layout with their charts and files.

    Notes that are among ``said`` stand elsewhere on the page.
    """
    drawn = [
        Chart(table.name, table.chart, *[line(table.title, 300)] * 2)
        for table in tables
        if table.chart is not None and table.rows
    ]
    shown = [t._replace(notes=tuple(note for note in t.notes if note not in said)) for t in tables]
    return Section(name, layouts()[name][1].title, shown, drawn, html=_files(tables))


def _runs(study: StudyNumbers, written: Sequence[NumberTable], out: Path) -> Section:
    """Return links to the pages of all runs, and to the files of tables."""
    entries = []
    for run in study.runs:
        name = _cell(run)
        if (page := run.path / "report.html").is_file():
            link = quote(os.path.relpath(page, out).replace(os.sep, "/"))
            name = Markup('<a href="{}">{}</a>').format(link, name)
        entries.append(Markup("<li>{}</li>").format(name))
    listed = Markup("<ul>{}</ul>").format(Markup().join(entries))
    return Section("runs", "The runs, and the files of all tables", html=listed + _files(written))


def _files(tables: Sequence[NumberTable]) -> Markup:
    places = [f"{TABLES}/{table.name}.csv" for table in tables]
    links = [Markup('<a href="{}">{}</a>').format(place, place) for place in places]
    text = Markup('<p class="note">Files: {} (also .md, .tex, .json)</p>')
    return text.format(Markup(", ").join(links))


# ---- the terminal


def render_study(study: StudyNumbers, console: Console, *, verbose: bool = False) -> None:
    """Print who is best in what, and the headline numbers by model; with ``verbose`` all tables."""
    sheet = study_sheet(study)
    say(console, sheet.question, "bold cyan")
    render_sheet(sheet, console, verbose=verbose)


def warn(study: StudyNumbers, names: Sequence[str], console: Console) -> None:
    """Print what must be known of the runs behind layouts."""
    protocols = dict.fromkeys(layouts()[name][0] for name in names)
    for text in _cautions(study, [ProtocolTables(study, name) for name in protocols]):
        say(console, f"! {text}", "yellow")
