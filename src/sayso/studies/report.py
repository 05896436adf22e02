"""A study shown: a sheet for each protocol, in the terminal, in files, and on one page."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

import msgspec
from markupsafe import Markup
from rich.console import Console

from sayso.harmless import line
from sayso.metric import Headline
from sayso.protocols import PROTOCOLS
from sayso.protocols.protocol import LayoutRuns, PaperLayout, Unsuited
from sayso.records import Estimate, InputError
from sayso.report.differences import NONE, by_form, in_one_phrase, others_sentence, rules_alone
from sayso.report.figures import Figure, figures_in
from sayso.report.number_tables import INTERVALS, WRITERS, Entry, NumberTable, latex_text
from sayso.report.opening import NO_EXAMPLES, ChosenExamples, Example, PageOpening, invented
from sayso.report.page import sheet_page, write_index
from sayso.report.sheet import Chart, Section, Sheet, render_sheet
from sayso.report.terminal import say
from sayso.runs.job import load_data
from sayso.storage.atomic import place_inside, replacing
from sayso.storage.run_folder import RunFolder
from sayso.studies.grid import Grid, GridCell
from sayso.studies.joined import FinishedRun, StudyNumbers
from sayso.studies.tables import RANKED, ProtocolTables, asked_of, many, meanings_of

INDEX = "index.html"
#: folder of the tables, beside the page
TABLES = "tables"
#: data sets that a sentence tells of
MOST_TOLD = 3
#: cautions of a run on the page of a study; all stand on its own page
CAUTIONS = 3
#: the ranks that each of several models can have, the best and the worst; ``None``: no value
Ranks = Sequence[tuple[int, int] | None]
#: ends "What this does not show:"
NOT_SHOWN = (
    "why two models differ. Models with different bases also know different things: compare how "
    "much each knows, and how well it says so."
)
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


def study_sheets(
    study: StudyNumbers, every: Sequence[ProtocolTables] | None = None
) -> dict[str, Sheet]:
    """Return what is shown of each protocol. Raises InputError for runs that cannot be compared.

    What all of them say, the first one says. ``every`` are the tables, if they are there already.
    """
    sheets: dict[str, Sheet] = {}
    said: list[str] = []
    for tables in every or [ProtocolTables(study, name) for name in study.protocols]:
        sheet = _sheet(tables)
        if sheets:
            sheet = sheet._replace(opening=sheet.opening._replace(not_shown=""))
        sheet = sheet._replace(cautions=[text for text in sheet.cautions if text not in said])
        said += sheet.cautions
        sheets[tables.protocol] = sheet
    return sheets


def _sheet(tables: ProtocolTables) -> Sheet:
    name, (first, *_) = tables.protocol, tables.runs
    own = tables.plan.report.sheet(first.results.all, first.manifest)
    charts = tables.charts
    heads = ["rank" if head.startswith(RANKED) else head for head in tables.headline.columns]
    sections = [
        Section("clear", "Which models differ clearly, and in what?", [tables.clear]),
        Section("spread", "Do other wordings and samples change the result?", tables.spreads),
        Section("corrected", "What do labels of people say?", tables.corrected),
        Section(
            "all", "What are all numbers of each model?", [*tables.by_form, *tables.scores],
            charts[1:],
        ),
        Section(
            "data", "Does it differ between data sets?",
            [tables.by_data] if tables.data[1:] else (),
        ),
    ]  # fmt: skip
    return Sheet(
        own.question,
        _opening(tables, own.opening),
        chart=next(iter(charts), None),
        main=tables.headline._replace(columns=tuple(heads)),
        sections=[s._replace(id=f"{name}-{s.id}") for s in sections],
        cautions=_cautions(tables),
        terms=TERMS,
    )


def _opening(tables: ProtocolTables, own: PageOpening) -> PageOpening:
    """Return how a protocol begins: who is best in what, or what the one model does."""
    first = invented([run.manifest.model for run in tables.runs])
    if len(tables.models) == 1:
        return own._replace(sentence=_of_each_data_set(tables.runs), first=first, later=())
    ranks = [
        (headline, [(tables.words.form(n.where), n.ranking.ranks) for n in numbers])
        for headline, numbers in tables.told
    ]
    names = [line(model, 60) for model in tables.models]
    sentence = ranked_sentence(ranks, names) or (
        f"These {len(names):,} models cannot be ranked: no headline number of two of them can be "
        "compared."
    )
    named = [n for _, numbers in tables.told for n in numbers]
    rest = [n for n in tables.numbers if n not in named]
    sentence += others_sentence([any(pair.clear for pair in n.ranking.pairs) for n in rest])
    people = [tables.called(n[0].name) for n in tables.ranked if n[0].corrected]
    if people:
        sentence += f" Labels of people correct {' and '.join(people)} for the judge's errors."
    return PageOpening(sentence, NOT_SHOWN, first)


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
    held = [(model, rank) for model, rank in zip(models, ranks, strict=True) if rank]
    leaders = [model for model, rank in held if rank[0] == 1]
    if len(held) < 2:
        return ""
    if len(leaders) == len(held):
        return NONE
    if len(leaders) == 1:
        return f"{leaders[0]} {headline.best}"
    some = in_one_phrase(leaders) if len(leaders) < 3 else f"{len(leaders)} models"
    return f"{some} share the lead in {headline.what}"


def _of_each_data_set(runs: Sequence[FinishedRun]) -> str:
    """Return what one model does: its sentence, on each of several data sets."""
    told = [
        PROTOCOLS[run.protocol].report.sheet(run.results.all, run.manifest).opening.sentence
        for run in runs
    ]
    if len(runs) == 1:
        return told[0]
    parts = [f"{line(r.data, 60)}: {text}" for r, text in zip(runs, told, strict=True)]
    more = len(parts) - MOST_TOLD
    return " ".join([*parts[:MOST_TOLD], *[f"{more:,} more below."] * (more > 0)])


def _cautions(tables: ProtocolTables) -> list[str]:
    """Return what must be known of a comparison, and how many of its runs have cautions."""
    notes = [*tables.study.notes(tables.protocol), *tables.within_spread()]
    if not any(numbers[0].corrected for numbers in tables.ranked):
        notes += rules_alone(_judges(tables.runs))
    warned = [run for run in tables.runs if run.manifest.cautions]
    if warned:
        notes.append(
            f"{len(warned):,} of {many(len(tables.runs), 'run')} "
            f"{'has' if len(warned) == 1 else 'have'} cautions, such as ({_cell(warned[0])}): "
            f"{line(warned[0].manifest.cautions[0], 160)}"
        )
    return [line(note, 300) for note in notes]


def _judges(runs: Iterable[FinishedRun]) -> dict[str, str]:
    return {run.model: run.manifest.judge for run in runs}


def _cell(run: FinishedRun) -> str:
    return f"{line(run.model, 60)}, {line(run.data, 60)}"


def examples(tables: ProtocolTables) -> ChosenExamples:
    """Return a good answer of the model that ranks first, a bad one of the last, a typical one.

    By the last of the headline numbers that tells models apart, else in their order; the typical
    answer is of the model between them.
    """
    order = tables.models
    ranked = [numbers[0].ranking.ranks for numbers in tables.ranked]
    apart = [ranks for ranks in ranked if len(set(ranks) - {None}) > 1]
    if apart:
        ranks = dict(zip(order, apart[-1], strict=True))
        order = sorted(order, key=lambda model: ranks[model] or (len(order), len(order)))
    shown: list[Example] = []
    for place, model in ((0, order[0]), (1, order[-1]), (-1, order[len(order) // 2])):
        run = next(run for run in tables.runs if run.model == model)
        stored = tables.plan.report.read_answers(
            RunFolder.open(run.path), run.manifest, run.results.all
        )
        own = stored.examples.shown
        if len(own) > abs(place):
            name = f", from {line(model, 60)}" if order[1:] else ""
            name += f", on {line(run.data, 60)}" if tables.data[1:] else ""
            shown.append(own[place]._replace(what=f"{own[place].what}{name}"))
    rule = "Each example is chosen the same way as on its run's page."
    which = f"that {'rank' if apart else 'stand'} first, last and in between"
    many = f"Answers from the models {which}. {rule}"
    return ChosenExamples(shown, many if order[1:] else rule) if shown else NO_EXAMPLES


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
        questions = () if cell.texts is not None else load_data(cell.job).questions
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
    """Write tables in every format; large ones as CSV alone, with six digits of each number.

    ``intervals`` are those of LaTeX tables (:func:`sayso.report.number_tables.latex_text`).
    """
    for given in tables:
        large = len(given.rows) >= LARGE
        table = (
            given._replace(rows=[(k, tuple(map(_short, e))) for k, e in given.rows])
            if large
            else given
        )
        for suffix, text in WRITERS.items():
            place = folder / f"{table.name}.{suffix}"
            if large and suffix != "csv":
                place.unlink(missing_ok=True)  # of the same study when it was smaller
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            with replacing(place) as file:
                written = latex_text(table, intervals) if suffix == "tex" else text(table)
                file.write(written.encode("utf-8", "replace"))


def _short(entry: Entry) -> Entry:
    """Return an entry with six digits of its numbers."""
    if not isinstance(entry, Estimate):
        return entry
    numbers = {name: getattr(entry, name) for name in ("value", "low", "high")}
    return msgspec.structs.replace(
        entry, **{n: v if v is None else float(f"{v:.6g}") for n, v in numbers.items()}
    )


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
    sheets = study_sheets(study, every)
    written = [table for tables in every for table in tables.written]
    laid_out = {name: layout_tables(study, name) for name in named}
    out.mkdir(parents=True, exist_ok=True)
    place = write_index(out / INDEX, _page(study, sheets, laid_out, every, out))
    if place is None:
        raise InputError(f"{out / INDEX} is not a page of sayso: choose another --out")
    write_tables(
        [*written, *(t for tables in laid_out.values() for t in tables)], out / TABLES, intervals
    )
    return place


def study_figures(study: StudyNumbers, named: Sequence[str] = ()) -> list[Figure]:
    """Return every chart of a study's page; ``named`` are layouts."""
    laid_out = [_laid_out(name, layout_tables(study, name)) for name in named]
    own = [chart for sheet in study_sheets(study).values() for chart in sheet.charts]
    return figures_in([c.figure for c in (*own, *(c for s in laid_out for c in s.charts))])


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


def _page(
    study: StudyNumbers,
    shown: Mapping[str, Sheet],
    laid_out: Mapping[str, Sequence[NumberTable]],
    tables: Sequence[ProtocolTables],
    out: Path,
) -> str:
    first, *others = shown.values()
    sections = [*first.sections]
    if others:
        sections = [s for name, sheet in shown.items() for s in _among_others(name, sheet, first)]
        question = f"A study of {many(len(study.models), 'model')}, {asked_of(study, study.data)}"
        first = first._replace(question=question, chart=None, main=None)
    cautions = [text for one in shown.values() for text in one.cautions]
    layouts_shown = [_laid_out(name, tables, cautions) for name, tables in laid_out.items()]
    unfinished = [
        f"{o.protocol}, {line(o.model, 60)}, {line(o.data, 60)}: {o.status} {line(o.reason, 300)}"
        for o in study.outcomes
        if o.status not in ("done", "kept")
    ]
    sheet = first._replace(
        opening=first.opening._replace(first=[*first.opening.first, *unfinished]),
        sections=[
            *sections,
            *layouts_shown,
            _runs(study, [t for own in tables for t in own.written], out),
        ],
        cautions=cautions,
    )
    names = {"models": study.models, "data": study.data}
    made = {"resamples": f"{study.resamples:,}", "may differ in": ", ".join(study.allow)}
    return sheet_page(
        sheet,
        made=[("Study", [(name, line(text, 200)) for name, text in made.items() if text])],
        wide=True,
        about=[(what, line(", ".join(own), 300)) for what, own in names.items()],
        examples=examples(tables[0]),
    )


def _among_others(protocol: str, sheet: Sheet, first: Sheet) -> list[Section]:
    """Return the sections of a protocol beside others, the first of them open."""
    tables = [sheet.main] if sheet.main is not None else []
    drawn = [sheet.chart] if sheet.chart is not None else []
    text = [] if sheet is first else [sheet.opening.sentence]
    rest = [s._replace(title=f"{s.title} ({protocol})") for s in sheet.sections]
    return [Section(protocol, sheet.question, tables, drawn, text, open=True), *rest]


TOO_MANY = "There are too many curves for a chart; one is drawn for up to six."


def _laid_out(name: str, tables: Sequence[NumberTable], said: Sequence[str] = ()) -> Section:
    """Return the tables of a layout with their charts and files; too many curves are left out.

    Notes that are among ``said`` stand elsewhere on the page.
    """
    shown, drawn = [], []
    for table in tables:
        notes = [note for note in table.notes if note not in said]
        if table.chart is not None and table.rows:
            caption = line(table.title, 300)
            chart = Chart(table.name, table.chart, caption, caption)
            lost = chart.figure is None
            drawn += [] if lost else [chart]
            notes += [TOO_MANY] if lost else []
        shown.append(table._replace(notes=tuple(notes)))
    return Section(name, layouts()[name][1].title, shown, drawn, html=_files(tables))


def _runs(study: StudyNumbers, written: Sequence[NumberTable], out: Path) -> Section:
    """Return links to the pages of all runs, with their cautions, and to the files of tables."""
    entries = []
    for run in study.runs:
        name = f"{_cell(run)} ({run.protocol})"
        if (page := run.path / "report.html").is_file():
            link = quote(os.path.relpath(page, out).replace(os.sep, "/"))
            name = Markup('<a href="{}">{}</a>').format(link, name)
        cautions = [Markup("<li>{}</li>").format(line(text, 300))
                    for text in run.manifest.cautions[:CAUTIONS]]  # fmt: skip
        below = Markup("<ul>{}</ul>").format(Markup().join(cautions)) if cautions else ""
        entries.append(Markup("<li>{}{}</li>").format(name, below))
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
    for name, sheet in study_sheets(study).items():
        console.print()
        say(console, f"{sheet.question} ({name})", "bold cyan")
        render_sheet(sheet, console, verbose=verbose)


def warn(study: StudyNumbers, names: Sequence[str], console: Console) -> None:
    """Print what must be known of the runs behind layouts."""
    for protocol in dict.fromkeys(layouts()[name][0] for name in names):
        for text in _cautions(ProtocolTables(study, protocol)):
            say(console, f"! {text}", "yellow")
