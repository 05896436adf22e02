"""Tables and figures of the paper on faithful words (arXiv 2405.16908), from a study's runs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from statistics import mean

from sayso.harmless import line
from sayso.judges.decisiveness import decisiveness
from sayso.judges.hedge_survey import PHRASES
from sayso.protocols.faithfulness.report import method_label
from sayso.protocols.faithfulness.rows import load_rows
from sayso.protocols.faithfulness.settings import Settings
from sayso.protocols.protocol import OURS, LayoutRuns, PaperLayout
from sayso.protocols.stored import settings_of_run, stored_run
from sayso.records import Estimate, Results
from sayso.report import charts
from sayso.report.number_tables import Entry, NumberTable
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
    found = [
        dict(e.where)["method"]
        for _, results, _ in shown.each()
        for e in results.each("skill", form="short")  # named with its reason where not asked
        if len(e.where) == 2
    ]
    return list(dict.fromkeys(found))


def _number(results: Results, name: str, method: str) -> Estimate:
    """Return a number of a method; one that is not there has the reason why it was not asked."""
    found = results.find(name, form="short", method=method)
    why = results.get("skill", form="short", method=method).problem
    return found or Estimate(name, problem=why or "not computed in this run")


def table1(shown: LayoutRuns) -> list[NumberTable]:
    """Return a table for each score: methods by models and data sets, short answers."""
    columns = [" · ".join(labels) for labels, _, _ in shown.each()]
    tables = []
    for name, title in SCORES.items():
        rows: list[tuple[tuple[str, ...], tuple[Entry, ...]]] = [
            (
                (method_label(method),),
                tuple(_number(r, name, method) for _, r, _ in shown.each()),
            )
            for method in _methods(shown)
        ]
        caption = f"{title}, short answers: methods by models."
        notes = (NOT_THEIRS,) if name == "mfg" else (OWN_BINS, NOT_THEIRS)
        tables.append(NumberTable("", caption, ("method",), tuple(columns), rows, notes))
    return tables


def figure2(shown: LayoutRuns) -> list[NumberTable]:
    """Return what people take words of probability to mean, and how the offline reader reads them.

    No run is needed: a judge's model is held against the same words by ``sayso judge-check``.
    """
    rows: list[tuple[tuple[str, ...], tuple[Entry, ...]]] = []
    points: list[charts.Row] = []
    kinds = "people: median and quartiles", "offline reader"
    for hedge in reversed(PHRASES):
        people = Estimate("people", (), hedge.median, hedge.low, hedge.high, n=123)
        read = [value for s in hedge.sentences if (value := decisiveness(s)) is not None]
        ours = Estimate("reader", (), mean(read) if read else None, n=len(read))
        rows.append(((hedge.phrase,), (people, ours)))
        points += [
            charts.chart_row(hedge.phrase, kind, e)
            for kind, e in zip(kinds, (people, ours), strict=True)
        ]

    def drawn(width: int) -> charts.Drawing | None:
        order = [phrase for (phrase,), _ in rows]
        return charts.forest_plot(points, order, width, "probability", [], kinds, 0.5)

    caption = (
        "What 123 people take each phrase to mean (median and quartiles), and the offline reader's "
        "value."
    )
    columns = "people [quartiles]", "offline reader"
    return [NumberTable("", caption, ("phrase",), columns, rows, chart=drawn)]


def figure1(shown: LayoutRuns) -> list[NumberTable]:
    """Return examples: confidence beside decisiveness, answer by answer, from far to close.

    Each run gives at most :data:`MOST_EXAMPLES` plain short answers, evenly spread over the
    distance between the two numbers.
    """
    tables = []
    for labels, _, manifest, folder in shown.each_with_folder():
        rows = _examples(RunFolder.open(folder), settings_of_run(manifest, Settings()))
        if rows:
            columns = "confidence", "decisiveness"
            caption = f"{' · '.join(labels)}: plain answers, confidence beside decisiveness."
            tables.append(NumberTable("", caption, ("question", "answer"), columns, rows))
    return tables


def _examples(
    folder: RunFolder, settings: Settings
) -> list[tuple[tuple[str, ...], tuple[Entry, ...]]]:
    run = stored_run(folder)
    plain = [r for r in load_rows(run, settings) if (r.form, r.method) == ("short", VANILLA)]
    texts = {g.id: g for g in run.generations("short")}
    asked = {q.id: q.text for q in run.questions}
    found = []
    for rows in plain:
        for n in range(len(rows.answers)):
            d, c = float(rows.d[n]), float(rows.c[n])
            if d == d and c == c and (answer := texts.get(rows.answers[n])) is not None:
                found.append((abs(d - c), asked[rows.question[n]], answer.text, c, d))
    found.sort(key=lambda one: (-one[0], one[1]))
    step = max(len(found) - 1, 1) / max(MOST_EXAMPLES - 1, 1)
    chosen = sorted({round(n * step) for n in range(min(MOST_EXAMPLES, len(found)))})
    return [
        (
            (line(question, 120), line(text, 200)),
            (Estimate("confidence", value=c, n=1), Estimate("decisiveness", value=d, n=1)),
        )
        for _, question, text, c, d in (found[n] for n in chosen)
    ]


def figure3(shown: LayoutRuns) -> list[NumberTable]:
    """Return mean accuracy, confidence and decisiveness of the plain answers, by model."""
    rows: list[tuple[tuple[str, ...], tuple[Entry, ...]]] = []
    points: list[charts.Row] = []
    kinds = {
        "accuracy": "accuracy", "confidence": "mean_confidence",
        "decisiveness": "mean_decisiveness",
    }  # fmt: skip
    for labels, results, _ in shown.each():
        numbers = {kind: _number(results, name, VANILLA) for kind, name in kinds.items()}
        rows.append((labels, tuple(numbers.values())))
        points += [charts.chart_row(" · ".join(labels), kind, e) for kind, e in numbers.items()]

    def drawn(width: int) -> charts.Drawing | None:
        order = list(dict.fromkeys(str(row["row"]) for row in points))
        return charts.forest_plot(points, order, width, "mean", [], tuple(kinds), 0.5)

    caption = f"Plain answers ({method_label(VANILLA)}), by model: means of three numbers."
    return [NumberTable("", caption, shown.heads, tuple(kinds), rows, chart=drawn)]


def words_of_methods(shown: LayoutRuns) -> list[NumberTable]:
    """Return mean decisiveness and mean confidence of each method, a table for each run."""
    tables = []
    for labels, results, _ in shown.each():
        rows: list[tuple[tuple[str, ...], tuple[Entry, ...]]] = []
        points: list[charts.Row] = []
        for method in _methods(shown):
            words, sure = (
                _number(results, f"mean_{n}", method) for n in ("decisiveness", "confidence")
            )
            rows.append(((method_label(method),), (words, sure)))
            points.append(charts.crossed_point(method_label(method), sure, words))
        caption = (
            f"{' · '.join(labels)}: mean decisiveness and mean confidence, one point for each "
            "method; on the line they are equal."
        )
        columns, drawn = ("decisiveness", "confidence"), partial(_words_by_confidence, points)
        tables.append(NumberTable("", caption, ("method",), columns, rows, chart=drawn))
    return tables


def _words_by_confidence(points: list[charts.Row], width: int) -> charts.Drawing | None:
    titles = "mean confidence of a method", "mean decisiveness of its words"
    return charts.crossed_points(points, width, titles)


def _bins(results: Results, method: str) -> Iterator[tuple[str, Estimate, Estimate]]:
    """Yield each bin of confidence with the mean confidence and decisiveness of its answers."""
    for e in results.each("bin_decisiveness", form="short", method=method):
        name = dict(e.where)["bin"]
        yield name, results.get("bin_confidence", form="short", method=method, bin=name), e


def by_confidence(shown: LayoutRuns) -> list[NumberTable]:
    """Return decisiveness by confidence, a table for each run: faithful words rise with it."""
    tables = []
    for labels, results, _ in shown.each():
        rows: list[tuple[tuple[str, ...], tuple[Entry, ...]]] = []
        points: list[charts.Row] = []
        for method in _methods(shown):
            for name, sure, words in _bins(results, method):
                if words.value is None:
                    continue
                count = f"{words.n:,}"
                rows.append(((method_label(method), name), (sure, words, count)))
                if sure.value is not None:
                    points.append(charts.point(method_label(method), sure.value, words))
        caption = (
            f"{' · '.join(labels)}: decisiveness by confidence; if wording is faithful, it rises "
            "with confidence."
        )
        columns = "confidence", "decisiveness", "answers"
        drawn = partial(_by_confidence, points)
        tables.append(NumberTable("", caption, ("method", "bin"), columns, rows, chart=drawn))
    return tables


def _by_confidence(points: list[charts.Row], width: int) -> charts.Drawing | None:
    titles = "confidence: share of draws that agree", "decisiveness of the words"
    return charts.series_chart(points, width, titles)


LAYOUTS = (
    PaperLayout(
        "faithfulness-table1", "cMFG, MFG and skill of each method and model",
        f"{PAPER}, Table 1", "runs of faithfulness", table1,
    ),
    PaperLayout(
        "faithfulness-figure2", "What people and the reader take hedges to mean",
        f"{PAPER}, Figure 2", "runs of faithfulness", figure2,
    ),
    PaperLayout(
        "faithfulness-figure1", "Examples: decisiveness beside confidence, answer by answer",
        f"{PAPER}, Figure 1", "runs of faithfulness", figure1,
    ),
    PaperLayout(
        "faithfulness-figure3", "Accuracy, confidence and decisiveness of plain answers, by model",
        f"{PAPER}, Figure 3", "runs of faithfulness", figure3,
    ),
    PaperLayout(
        "faithfulness-by-method", "Mean decisiveness against mean confidence, by method",
        f"{OURS}, after {PAPER}", "runs of faithfulness", words_of_methods,
    ),
    PaperLayout(
        "faithfulness-by-confidence", "Decisiveness by confidence", f"{OURS}, after {PAPER}",
        "runs of faithfulness", by_confidence,
    ),
)  # fmt: skip


def layouts() -> tuple[PaperLayout, ...]:
    """Return the tables and figures of the paper."""
    return LAYOUTS
