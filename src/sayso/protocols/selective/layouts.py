"""Tables and figures of the paper on length and scores (arXiv 2504.13677), from a study's runs."""

from __future__ import annotations

from collections.abc import Sequence

from sayso.metrics.joint import JointNumber
from sayso.protocols.protocol import LayoutRuns, PaperLayout
from sayso.protocols.selective.measure import ABSTENTIONS, REFERENCES
from sayso.protocols.selective.report import metric_label, score_label
from sayso.protocols.selective.rows import OTHER_DATA
from sayso.protocols.selective.settings import Settings
from sayso.records import Estimate, Question, part_of
from sayso.report import charts
from sayso.report.number_tables import Entry, NumberTable, rank_text

PAPER = "Santilli et al. 2024 (arXiv 2504.13677)"
Row = tuple[tuple[str, ...], tuple[Entry, ...]]


def _aurocs(shown: LayoutRuns, form: str = "short") -> dict[tuple[str, str], JointNumber]:
    """Return the AUROC of every (answer metric, score), pooled over types as in the paper."""
    return {
        (parts["against"], parts["score"]): number
        for number in shown.numbers()
        if number.name == "auroc" and (parts := dict(number.where)).get("form") == form
    }


def figure1(shown: LayoutRuns) -> list[NumberTable]:
    """Return the mean AUROC over data sets of every score, a table for each answer metric."""
    found = _aurocs(shown)
    tables = []
    for against in dict.fromkeys(metric for metric, _ in found):
        numbers = {score: n for (metric, score), n in found.items() if metric == against}
        values = {s: [e.value for e in n.means if e.value is not None] for s, n in numbers.items()}
        order = sorted(
            numbers, key=lambda s: -(sum(values[s]) / len(values[s]) if values[s] else 0)
        )
        rows: list[Row] = [((score_label(s),), tuple(numbers[s].means)) for s in order]
        over = f"mean over {len(shown.data)} data sets" if len(shown.data) > 1 else "one data set"
        caption = (
            f"AUROC of scores against {metric_label(against)}, short answers, {over}, with joint "
            "95 % intervals. The paper uses ROUGE-L and a judge. The chart shows the best scores "
            "and the baselines."
        )
        points = [
            charts.chart_row(score_label(score), model, mean)
            for score in _drawn(order)
            for model, mean in zip(shown.models, numbers[score].means, strict=True)
        ]
        chart = _bars(points, shown.models)
        tables.append(NumberTable("", caption, ("score",), tuple(shown.models), rows, chart=chart))
    return tables


#: scores that a chart shows however they do: what others are held against, and the learned ones
ALWAYS = ("p_true", "p_ik", OTHER_DATA, *REFERENCES)


def _drawn(order: list[str]) -> list[str]:
    """Return the scores of a chart, in order: the best, and those that are always there."""
    always = [score for score in order if score in ALWAYS]
    best = [score for score in order if score not in ALWAYS][: charts.MOST_ROWS - len(always)]
    return [score for score in order if score in best or score in always]


def _bars(points: list[charts.Row], models: list[str]) -> charts.Maker:
    order = list(dict.fromkeys(row["row"] for row in points))
    return lambda width: charts.forest_plot(points, order, width, "AUROC", [], models, 0.5)


def table1(shown: LayoutRuns) -> list[NumberTable]:
    """Return how often each answer metric agrees with the run's judge."""
    rows: list[Row] = []
    metrics: dict[str, None] = {}
    for _, results, _ in shown.each():
        for e in results.each("metric_agreement", form="short"):
            metrics.setdefault(dict(e.where)["metric"])
    for labels, results, _ in shown.each():
        judges = {dict(e.where)["against"] for e in results.each("error_rate", form="short")}
        judge = next((j for j in judges if j not in metrics), "rules")
        rows.append((
            (*labels, metric_label(judge)),
            tuple(
                results.find("metric_agreement", form="short", against=judge, metric=metric)
                or results.get("metric_agreement", form="short", against=metric, metric=judge)
                for metric in metrics
            ),
        ))  # fmt: skip
    caption = "Share of short answers on which an answer metric and the judge agree."
    columns = tuple(metric_label(metric) for metric in metrics)
    return [NumberTable("", caption, (*shown.heads, "judge"), columns, rows)]


def _by_fifth(shown: LayoutRuns, name: str, key: str, title: str, y: str) -> NumberTable:
    """Return a number by fifths of answer length, a row for each series."""
    rows: list[Row] = []
    points: list[charts.Row] = []
    there = {part_of(e.where, "fifth") for _, r, _ in shown.each() for e in r.each(name)}
    fifths = sorted(fifth for fifth in there if fifth)
    for labels, results, _ in shown.each():
        series: dict[str, dict[str, Estimate]] = {}
        for e in results.each(name, form="short"):
            parts = dict(e.where)
            if "fifth" in parts:
                what = " · ".join(parts[k] for k in key.split("+") if k in parts)
                series.setdefault(what, {})[parts["fifth"]] = e
        for what, by_fifth in series.items():
            shownas = metric_label(what) if key == "against" else what
            if key == "score+answers":
                score, _, answers = what.partition(" · ")
                shownas = f"{score_label(score)}, {answers}"
            rows.append(((*labels, shownas), tuple(by_fifth.get(n) for n in fifths)))
            points += [
                charts.point(" · ".join((*labels, shownas)), int(n), e) for n, e in by_fifth.items()
            ]

    def drawn(width: int) -> charts.Drawing | None:
        return charts.series_chart(points, width, ("fifth of the answers by length", y))

    columns = tuple(f"fifth {n}" for n in fifths)
    notes = []
    if empty := [str(n) for n in range(1, 6) if str(n) not in fifths]:
        notes.append(
            f"no answer in fifth {', '.join(empty)}: answers of equal length stay in one fifth"
        )
    heads = (*shown.heads, "series")
    return NumberTable("", title, heads, columns, rows, tuple(notes), chart=drawn)


def figure2(shown: LayoutRuns) -> list[NumberTable]:
    """Return the mean rank of scores by answer length."""
    title = "Mean rank of a score (0 to 1) by fifths of answer length, for right and wrong answers."
    return [_by_fifth(shown, "score_rank", "score+answers", title, "mean rank of the score")]


def figure3(shown: LayoutRuns) -> list[NumberTable]:
    """Return what answer metrics give to right answers, and whom they refuse, by length."""
    first = "Value of an answer metric for right answers, by fifths of their length."
    second = "Right answers that an answer metric rejects, by fifths of their length."
    return [
        _by_fifth(shown, "metric_of_right", "against", first, "value of the metric"),
        _by_fifth(shown, "false_negatives_fifth", "against", second, "share rejected"),
    ]


#: where a layout stands that no paper has
OURS = "sayso's own, with metrics from arXiv 2509.04664 and arXiv 2511.13029"
ABSTENTION = (
    ("abstention_gap", "abstention gap (G)"),
    ("abstains_unanswerable", "unanswerable declined"),
    ("abstains_answerable", "answerable declined"),
    ("abstention_gap_within", "G within type"),
    ("right_minus_wrong", "right minus wrong"),
    ("utility 0.75", "utility at .75"),
    ("utility 0.9", "utility at .9"),
    ("passage_gap", "G of passages taken away"),
)


def abstention(shown: LayoutRuns) -> list[NumberTable]:
    """Return who abstains where there is no answer: G, its parts, what answers are worth."""
    numbers: dict[str, JointNumber] = {}
    for number in shown.numbers():
        parts = dict(number.where)
        if parts.get("form") == "short" and "counting" not in parts:
            numbers.setdefault(f"{number.name} {parts.get('target', '')}".strip(), number)
    found = [(numbers[key], head) for key, head in ABSTENTION if key in numbers]
    if not any(number.name.endswith("_gap") for number, _ in found):
        return []
    first = found[0][0]
    rows: list[Row] = []
    for m, model in enumerate(shown.models):
        entries: tuple[Entry, ...] = (
            rank_text(first.ranking.ranks[m]),
            *(n.means[m] for n, _ in found),
        )
        rows.append(((model,), entries))
    order = sorted(rows, key=lambda row: -_value(row[1][1]))
    over = f"mean over {len(shown.data)} data sets, " if len(shown.data) > 1 else ""
    caption = (
        f"How models decline (short answers, {over}joint 95 % intervals, ranks with ties). The "
        "abstention gap (G) is the share of unanswerable questions declined minus the share of "
        "answerable ones declined."
    )
    columns = ("rank", *(head for _, head in found))
    return [NumberTable("", caption, ("model",), columns, order)]


def _value(entry: Entry) -> float:
    return entry.value if isinstance(entry, Estimate) and entry.value is not None else -2.0


def _both_kinds(settings: Settings, questions: Sequence[Question]) -> bool:
    """Tell whether some questions can be answered and others cannot."""
    short = [q for q in questions if not q.parts]
    kinds = {q.answerable is not False for q in short if q.golds or q.answerable is not None}
    return len(kinds) == 2


LAYOUTS = (
    PaperLayout(
        "board", "Many systems on one page: both parts of G, thinking, dates and costs",
        OURS, "answerable and unanswerable questions", abstention,
        ("abstention_gap", *ABSTENTIONS), _both_kinds,
    ),
    PaperLayout(
        "selective-abstention", "Which models decline what cannot be answered: G and utility",
        OURS,
        "answerable and unanswerable questions, or passages taken away", abstention,
        possible=lambda settings, questions: (
            _both_kinds(settings, questions)
            or (settings.without_passage and any(q.context for q in questions))
        ),
    ),
    PaperLayout(
        "selective-figure1", "Mean AUROC of every score over data sets",
        f"{PAPER}, Figure 1", "runs of selective", figure1,
    ),
    PaperLayout(
        "selective-table1", "Agreement of answer metrics with the judge", f"{PAPER}, Table 1",
        "runs of selective", table1,
    ),
    PaperLayout(
        "selective-figure2", "Scores by answer length", f"{PAPER}, Figure 2",
        "runs of selective", figure2,
    ),
    PaperLayout(
        "selective-figure3", "Answer metrics and rejected right answers by answer length",
        f"{PAPER}, Figures 3 to 5", "runs of selective", figure3,
    ),
)  # fmt: skip
