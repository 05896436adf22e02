"""Tables and figures of the paper on faithful words (arXiv 2405.16908), from a study's runs."""

from __future__ import annotations

from functools import partial
from statistics import mean

from sayso.harmless import line
from sayso.judges.decisiveness import decisiveness
from sayso.judges.hedge_survey import PHRASES
from sayso.protocols.faithfulness.gaps import measured_claims
from sayso.protocols.faithfulness.report import part_label
from sayso.protocols.protocol import OURS, LayoutRuns, PaperLayout
from sayso.records import Estimate, Results, part_of
from sayso.report import charts
from sayso.report.number_tables import NumberTable, grid
from sayso.storage.run_folder import RunFolder

PAPER = "Yona et al. 2024 (arXiv 2405.16908)"
#: scores of the paper, and ours beside them: cMFG of constant words is .5 to .75
SCORES = {"cmfg": "cMFG", "mfg": "MFG", "skill": "skill (0: words ignore confidence)"}

#: why the table does not rank models by cMFG or skill
OWN_BINS = (
    "cMFG and skill are means over the bins of confidence that each run fills, so a small run may "
    "score higher. The study's own tables use the bins that all models fill."
)
#: plain answers, and how many examples a run gives
VANILLA, MOST_EXAMPLES = "vanilla", 6
NOT_THEIRS = "The metacognitive prompt and UNCLE's instruction are not in the paper."


def _methods(shown: LayoutRuns) -> list[str]:
    """Return the methods of short answers, in the order of the runs."""
    skills = (e for _, results, _ in shown.each() for e in results.each("skill", form="short"))
    return list(dict.fromkeys(dict(e.where)["method"] for e in skills if len(e.where) == 2))


def _number(name: str, method: str, results: Results) -> Estimate:
    """Return a number of a method; one that is not there has the reason why it was not asked."""
    found = results.find(name, form="short", method=method)
    why = results.get("skill", form="short", method=method).problem
    return found or Estimate(name, problem=why or "not computed in this run")


def table1(shown: LayoutRuns) -> list[NumberTable]:
    """Return a table for each score: methods by models and data sets, short answers."""
    rows = {part_label("method", method): method for method in _methods(shown)}
    tables = []
    for name, title in SCORES.items():
        columns = {" · ".join(labels): results for labels, results, _ in shown.each()}
        notes = (NOT_THEIRS,) if name == "mfg" else (OWN_BINS, NOT_THEIRS)
        caption = f"{title}, short answers: methods by models."
        find = partial(_number, name)
        table = grid(caption, rows, columns, find, labels=("method",), notes=notes)
        tables.append(table._replace(written="plain"))
    return tables


def figure2(shown: LayoutRuns) -> list[NumberTable]:
    """Return what people take words of probability to mean, and how the offline reader reads them.

    No run is needed: a judge's model is held against the same words by ``sayso judge-check``.
    """
    rows: dict[str | tuple[str, ...], tuple[Estimate, Estimate]] = {}
    for hedge in reversed(PHRASES):
        read = [value for s in hedge.sentences if (value := decisiveness(s)) is not None]
        rows[hedge.phrase] = (
            Estimate("people", (), hedge.median, hedge.low, hedge.high, n=123),
            Estimate("reader", (), mean(read) if read else None, n=len(read)),
        )
    table = grid(
        "What 123 people take each phrase to mean (median and quartiles), and the offline reader's "
        "value.", rows, {"people [quartiles]": 0, "offline reader": 1}, lambda row, at: row[at],
        labels=("phrase",), written="plain",
    )  # fmt: skip
    kinds = ("people: median and quartiles", "offline reader")
    drawn = partial(charts.rows_plot, table.rows, kinds, title="probability")
    return [table._replace(chart=drawn)]


def figure1(shown: LayoutRuns) -> list[NumberTable]:
    """Return examples: confidence beside decisiveness, answer by answer, from far to close.

    Each run gives at most :data:`MOST_EXAMPLES` plain short answers, evenly spread over the
    distance between the two numbers.
    """
    tables = []
    for labels, _, manifest, folder in shown.each_with_folder():
        found = measured_claims(RunFolder.open(folder), manifest, "short", VANILLA)
        found.sort(key=lambda one: (-abs(one.gap), one.question.text))
        step = max(len(found) - 1, 1) / max(MOST_EXAMPLES - 1, 1)
        places = sorted({round(n * step) for n in range(min(MOST_EXAMPLES, len(found)))})
        names = "confidence", "decisiveness"
        rows = [
            (
                (line(found[at].question.text, 120), line(found[at].answer.text, 200)),
                tuple(Estimate(name, value=getattr(found[at], name), n=1) for name in names),
            )
            for at in places
        ]
        if rows:
            caption = f"{' · '.join(labels)}: plain answers, confidence beside decisiveness."
            tables.append(NumberTable("", caption, ("question", "answer"), names, rows))
    return tables


def figure3(shown: LayoutRuns) -> list[NumberTable]:
    """Return mean accuracy, confidence and decisiveness of the plain answers, by model."""
    means = ("accuracy", "mean_confidence", "mean_decisiveness")
    kinds = {name.removeprefix("mean_"): name for name in means}
    rows: dict[str | tuple[str, ...], Results] = {of: results for of, results, _ in shown.each()}
    caption = f"Plain answers ({part_label('method', VANILLA)}), by model: means of three numbers."
    table = grid(
        caption, rows, kinds, lambda results, name: _number(name, VANILLA, results),
        labels=shown.heads, written="plain",
    )  # fmt: skip
    return [table._replace(chart=partial(charts.rows_plot, table.rows, [*kinds], title="mean"))]


def by_method(shown: LayoutRuns) -> list[NumberTable]:
    """Return mean decisiveness and mean confidence of each method, a table for each run."""
    rows = {part_label("method", method): method for method in _methods(shown)}
    means = {name: f"mean_{name}" for name in ("decisiveness", "confidence")}
    tables = []
    for labels, results, _ in shown.each():
        found = {
            name: {method: _number(key, method, results) for method in rows.values()}
            for name, key in means.items()
        }
        caption = (
            f"{' · '.join(labels)}: mean decisiveness and mean confidence, one point for each "
            "method; on the line they are equal."
        )
        table = grid(
            caption, rows, found, lambda method, of: of[method],
            labels=("method",), written="plain",
        )  # fmt: skip
        tables.append(_over_confidence(table, "mean confidence", "mean decisiveness", lines=False))
    return tables


def by_confidence(shown: LayoutRuns) -> list[NumberTable]:
    """Return decisiveness by confidence, a table for each run: faithful words rise with it."""
    tables = []
    for labels, results, _ in shown.each():
        rows = {
            (part_label("method", method), part_of(d.where, "bin")): (
                results.get("bin_confidence", **dict(d.where)), d, f"{d.n:,}",
            )
            for method in _methods(shown)
            for d in results.each("bin_decisiveness", form="short", method=method)
            if d.value is not None
        }  # fmt: skip
        caption = (
            f"{' · '.join(labels)}: decisiveness by confidence; if wording is faithful, it rises "
            "with confidence."
        )
        columns = {"confidence": 0, "decisiveness": 1, "answers": 2}
        table = grid(
            caption, rows, columns, lambda row, at: row[at],
            labels=("method", "bin"), written="plain",
        )  # fmt: skip
        tables.append(_over_confidence(table, "confidence", "decisiveness"))
    return tables


def _over_confidence(table: NumberTable, x: str, y: str, *, lines: bool = True) -> NumberTable:
    """Return a table with decisiveness over confidence as its chart."""
    sure, words = (table.columns.index(name) for name in ("confidence", "decisiveness"))
    points = [
        charts.point(labels[0], c.value, d)
        for labels, entries in table.rows
        for c, d in [(entries[sure], entries[words])]
        if isinstance(c, Estimate) and isinstance(d, Estimate) and c.value is not None
    ]
    drawn = partial(charts.series_chart, points, titles=(x, y), lines=lines, diagonal=True)
    return table._replace(chart=drawn)


OURS_AFTER = f"{OURS}, after {PAPER}"
#: name, what it shows, where it stands, and how it is made
LAYOUTS = (
    ("table1", "cMFG, MFG and skill of each method and model", f"{PAPER}, Table 1", table1),
    ("figure2", "What people and the reader take hedges to mean", f"{PAPER}, Figure 2", figure2),
    ("figure1", "Examples: decisiveness beside confidence, answer by answer",
     f"{PAPER}, Figure 1", figure1),
    ("figure3", "Accuracy, confidence and decisiveness of plain answers, by model",
     f"{PAPER}, Figure 3", figure3),
    ("by-method", "Mean decisiveness against mean confidence, by method", OURS_AFTER, by_method),
    ("by-confidence", "Decisiveness by confidence", OURS_AFTER, by_confidence),
)  # fmt: skip


def layouts() -> tuple[PaperLayout, ...]:
    """Return the tables and figures of the paper."""
    return tuple(
        PaperLayout(f"faithfulness-{name}", title, reference, "runs of faithfulness", make)
        for name, title, reference, make in LAYOUTS
    )
