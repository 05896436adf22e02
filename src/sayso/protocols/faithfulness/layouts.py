"""Tables and figures of the paper on faithful words (arXiv 2405.16908), from a study's runs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from statistics import mean

from sayso.judges.decisiveness import decisiveness
from sayso.judges.hedge_survey import PHRASES
from sayso.protocols.faithfulness.report import method_label
from sayso.protocols.protocol import LayoutRuns, PaperLayout
from sayso.records import Estimate, Results
from sayso.report import charts
from sayso.report.number_tables import Entry, NumberTable

PAPER = "Yona et al. 2024 (arXiv 2405.16908)"
#: scores of the paper, and ours beside them: cMFG of constant words is .5 to .75
SCORES = {"cmfg": "cMFG", "mfg": "MFG", "skill": "skill (0: words ignore confidence)"}

#: why the table does not rank models by cMFG or skill
OWN_BINS = (
    "cMFG and skill are means over the bins of confidence that each run fills, so a small run may "
    "score higher. The study's own tables use the bins that all models fill."
)
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


def figure3(shown: LayoutRuns) -> list[NumberTable]:
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


def figure4(shown: LayoutRuns) -> list[NumberTable]:
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
        "faithfulness-figure3", "Mean decisiveness against mean confidence, by method",
        f"{PAPER}, Figure 3", "runs of faithfulness", figure3,
    ),
    PaperLayout(
        "faithfulness-figure4", "Decisiveness by confidence", f"{PAPER}, Figure 4",
        "runs of faithfulness", figure4,
    ),
)  # fmt: skip
