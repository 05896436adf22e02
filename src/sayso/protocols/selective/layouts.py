"""Tables and figures of the paper on length and scores (arXiv 2504.13677), from a study's runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from sayso.metrics.arrays import Floats
from sayso.metrics.length_audit import length_bins
from sayso.protocols.declared import estimates_of
from sayso.protocols.protocol import LayoutRuns, PaperLayout
from sayso.protocols.selective.board import DECLINING, abstention, board, short_numbers
from sayso.protocols.selective.measure import REFERENCES, ScoredAnswers, rejected
from sayso.protocols.selective.numbers import metric_label, score_label
from sayso.protocols.selective.report import agreement_table
from sayso.protocols.selective.rows import OTHER_DATA, FormRows, cut_of, rows_of_folder
from sayso.protocols.selective.settings import BERT, Settings
from sayso.protocols.stored import stored_run
from sayso.records import Estimate, Question, Verdict, part_of
from sayso.report import charts
from sayso.report.number_tables import Entry, NumberTable, grid
from sayso.report.numbers import capital
from sayso.report.scatter import cloud, scatter_plot
from sayso.scores import SCORES
from sayso.scores.p_ik import P_IK
from sayso.scores.text_only import TEXT_ONLY
from sayso.storage.run_folder import RunFolder

RIGHT_OR_WRONG = ("right answers", "wrong answers")
PAPER = "Santilli et al. 2024 (arXiv 2504.13677)"
#: how the name of a judge begins that passes on people's verdicts
BY_PEOPLE = "people+"


#: scores that a chart shows however they do: what others are held against, and trained ones
ALWAYS = ("p_true", "p_ik", OTHER_DATA, *REFERENCES)


def figure1(shown: LayoutRuns) -> list[NumberTable]:
    """Return the mean AUROC over data sets of every score, a table for each answer metric."""
    found = {
        (part_of(n.where, "against"), part_of(n.where, "score")): n.means
        for n in short_numbers(shown)
        if n.name == "auroc"
    }
    over = f"mean over {len(shown.data)} data sets" if len(shown.data) > 1 else "one data set"
    tables = []
    for against in dict.fromkeys(metric for metric, _ in found):
        means = {score: some for (metric, score), some in found.items() if metric == against}
        values = {s: [e.value for e in some if e.value is not None] for s, some in means.items()}
        order = sorted(means, key=lambda s: -sum(values[s]) / max(1, len(values[s])))
        table = grid(
            f"AUROC of scores against {metric_label(against)}, short answers, {over}, with joint "
            "95 % intervals (sampling error only). The paper uses ROUGE-L and a judge. The chart "
            "shows the best scores and the baselines, and marks scores of several samples and "
            "trained ones.",
            {(score_label(score), _made_from(score)): means[score] for score in order},
            {model: place for place, model in enumerate(shown.models)},
            lambda some, place: some[place],
            labels=("score", "made from"),
            written="plain",
        )
        best = [score for score in order if score not in ALWAYS]
        drawn = {*ALWAYS, *best[: charts.MOST_ROWS - len(order) + len(best)]}
        rows = [row for score, row in zip(order, table.rows, strict=True) if score in drawn]
        bars = partial(charts.rows_plot, rows, shown.models, title="AUROC")
        tables.append(table._replace(chart=bars))
    return tables


def _made_from(score: str) -> str:
    """Return what a score takes, as the paper's figure tells scores apart."""
    if score in (P_IK, OTHER_DATA, TEXT_ONLY):
        return "training"
    method = SCORES.get(score)
    return "samples" if method and "draws" in method.needs else "the answer"


def table1(shown: LayoutRuns) -> list[NumberTable]:
    """Return how often answer metrics agree with each other and with the run's judge, a matrix.

    The judge of a file with people's verdicts is people.
    """
    tables = []
    for labels, results, _ in shown.each():
        rates = results.each("error_rate", form="short")
        judge = next((part_of(e.where, "against") for e in rates), "")
        caption = (
            f"{' · '.join(labels)}: share of short answers on which two answer metrics agree. "
            f"{_judge_note(judge)}"
        )
        who = "people" if judge.startswith(BY_PEOPLE) else ""
        tables.append(agreement_table(results, "short", judge, caption, who))
    return [table for table in tables if table.rows]


def _judge_note(judge: str) -> str:
    """Return who said which answers are right, as a sentence."""
    if judge.startswith(BY_PEOPLE):
        return "People said which answers are right."
    return f"The judge ({metric_label(judge)}) said which answers are right, and no person."


def _rejected(
    shown: LayoutRuns, only: str, right: Mapping[tuple[str, ...], _RightAnswers]
) -> NumberTable:
    """Return the share of right answers that metrics called ``only…`` reject, by fifths of length.

    ``right`` are the right answers by labels of the run: the chart is drawn over their words.
    """
    rows: dict[tuple[str, ...], dict[str, Estimate]] = {}
    points: list[charts.Row] = []
    for labels, own in right.items():
        for e in own.rejected:
            against, fifth = part_of(e.where, "against"), part_of(e.where, "fifth")
            if against.startswith(only):
                heads = (*labels, metric_label(against))
                rows.setdefault(heads, {})[fifth] = e
                points.append(charts.point(" · ".join(heads), own.words[int(fifth) - 1], e))
    who = " ".join(dict.fromkeys(one.who for one in right.values()))
    titles = "words of the answer, mean of each fifth", "share rejected"
    table = grid(
        f"(b) Right answers that the metric rejects, by fifths of their length. {who}",
        rows,
        {f"fifth {n}": n for n in "12345"},
        lambda some, n: some.get(n),
        labels=(*shown.heads, "series"),
        written="plain",
        notes=["Answers of equal length stay in one fifth."],
    )
    return table._replace(chart=partial(charts.series_chart, points, titles=titles))


class _RightAnswers(NamedTuple):
    """Who calls answers right, their mean words and the shares rejected, by fifths of length."""

    who: str
    words: list[float]
    rejected: list[Estimate]


BY_ALL = "Right is an answer that all people who judged it call right."
BY_ONE = "One verdict stands for all people (in the paper, several): right is what {} says."


def _right_answers(rows: FormRows, chosen: Settings, folder: RunFolder) -> _RightAnswers:
    """Return what all people call right, or where not several judged each, what the judge does."""
    who = BY_ONE.format(f"the judge ({metric_label(rows.judge)})")
    if rows.judge.startswith(BY_PEOPLE):
        who = BY_ONE.format("the person, or most people,")
        votes = {v.asked: v.raw or "" for v in folder.iter("verdicts/short-people", Verdict)}
        cast = [votes.get(question, "").replace("?", "") for _, question in rows.facts]
        wrong = rows.wrong[rows.judge].copy()
        judged = np.flatnonzero(~np.isnan(wrong))
        if all(len(cast[at]) > 1 for at in judged):
            who = BY_ALL
            wrong[judged] = ["0" in cast[at] for at in judged]
            rows = rows._replace(wrong={**rows.wrong, rows.judge: wrong})
    own = ScoredAnswers(stored_run(folder), chosen, rows, signature=())
    shares = (d for d in rejected(own) if d.name == "false_negatives_fifth")
    held = rows.words[(rows.wrong[rows.judge] == 0) & ~np.isnan(rows.words)]
    fifth = length_bins(held, 5)
    words = [float(held[fifth == n].mean()) if n in fifth else float("nan") for n in range(5)]
    return _RightAnswers(who, words, list(estimates_of(shares, chosen.resamples, chosen.ci_seed)))


def _answers(shown: LayoutRuns) -> Iterator[tuple[tuple[str, ...], FormRows, Settings, RunFolder]]:
    """Yield labels, short answers, settings and folder of every run."""
    for labels, results, manifest, path in shown.each_with_folder():
        folder = RunFolder.open(path)
        forms, chosen = rows_of_folder(folder, manifest, results.all)
        if "short" in forms:
            yield labels, forms["short"], chosen, folder


def _spread(
    labels: tuple[str, ...],
    rows: FormRows,
    columns: Mapping[str, Floats],
    titles: tuple[str, str],
    limit: float | None = None,
) -> NumberTable:
    """Return the means of two numbers of right and of wrong answers, and a point for each answer.

    The first of the ``columns`` (n,) counts words. Who says what is right is the run's judge.
    """
    wrong = rows.wrong[rows.judge]

    def found(kind: int, column: str) -> Entry:
        if column not in columns:
            return f"{int((wrong == kind).sum()):,}"
        some = columns[column][(wrong == kind) & ~np.isnan(columns[column])]
        if not len(some):
            return Estimate(column, problem="no such answer")
        return Estimate(column, value=float(some.mean()), n=len(some))

    x, y = columns.values()
    points = cloud(x, y, wrong, RIGHT_OR_WRONG)
    caption = (
        f"{' · '.join(labels)}: {titles[1]} by {titles[0]}, one point for each short answer, "
        f"colored by verdict. {_judge_note(rows.judge)} {capital(points.thinned)}"
    )
    kinds = {name: kind for kind, name in enumerate(RIGHT_OR_WRONG)}
    heads = {head: head for head in ("answers", *columns)}
    table = grid(caption, kinds, heads, found, labels=("answers that are",), written="plain")
    return table._replace(
        chart=lambda width: scatter_plot(points, RIGHT_OR_WRONG, width, titles, limit)
    )


def figure2(shown: LayoutRuns) -> list[NumberTable]:
    """Return points: words of the reference against words of the answer, by verdict."""
    titles = "words of the reference answer", "words of the model's answer"
    return [
        _spread(
            labels,
            rows,
            {
                "words of the reference, mean": rows.reference_words,
                "words of the answer, mean": rows.words,
            },
            titles,
        )
        for labels, rows, *_ in _answers(shown)
        if rows.reference_words is not None
    ]


def rejected_by_length(metric: str, shown: LayoutRuns) -> list[NumberTable]:
    """Return (a) points: an answer metric against words, and (b) whom it rejects, by length.

    ``metric`` is the beginning of its name. A false negative is an answer that all people, or the
    run's judge, call right and the metric wrong.
    """
    tables = []
    right: dict[tuple[str, ...], _RightAnswers] = {}
    for labels, rows, chosen, folder in _answers(shown):
        right[labels] = _right_answers(rows, chosen, folder)
        for by, values in rows.values.items():
            if by.startswith(metric):
                title = metric_label(by)
                columns = {"words, mean": rows.words, f"{title}, mean": values}
                titles, limit = ("words of the answer", title), cut_of(by, chosen).cut
                table = _spread(labels, rows, columns, titles, limit)
                tables.append(table._replace(caption=f"(a) {table.caption}"))
    tables.append(_rejected(shown, metric, right))
    return [table for table in tables if table.rows]


def _both_kinds(settings: Settings, questions: Sequence[Question]) -> bool:
    """Tell whether some questions can be answered and others cannot."""
    short = [q for q in questions if not q.parts]
    kinds = {q.answerable is not False for q in short if q.golds or q.answerable is not None}
    return len(kinds) == 2


LAYOUTS = (
    PaperLayout(
        "board",
        "What many systems invent against what they miss, with both parts of G",
        DECLINING,
        "answerable and unanswerable questions",
        board,
        _both_kinds,
    ),
    PaperLayout(
        "selective-abstention",
        "Which models decline what cannot be answered: G and its parts",
        DECLINING,
        "answerable and unanswerable questions, or passages taken away or exchanged",
        abstention,
        possible=lambda settings, questions: (
            _both_kinds(settings, questions)
            or (settings.context != "given" and any(q.context for q in questions))
        ),
    ),
    PaperLayout(
        "selective-figure1",
        "Mean AUROC of every score over data sets",
        f"{PAPER}, Figure 1",
        "runs of selective",
        figure1,
    ),
    PaperLayout(
        "selective-table1",
        "Agreement of people or a judge and answer metrics with each other",
        f"{PAPER}, Table 1",
        "runs of selective",
        table1,
    ),
    PaperLayout(
        "selective-figure2",
        "Words of the reference and of the answer, by verdict",
        f"{PAPER}, Figure 2",
        "short answers with references",
        figure2,
    ),
    *(
        PaperLayout(
            f"selective-figure{number}",
            f"{title} and the right answers it rejects, by length",
            f"{PAPER}, Figure {number}",
            needs,
            partial(rejected_by_length, metric),
            possible=lambda settings, questions: any(q.golds for q in questions),
        )
        for number, metric, title, needs in (
            (3, "rouge_l", "ROUGE-L", "short answers with references"),
            (4, "squad_f1", "SQuAD F1", "short answers with references"),
            (5, BERT, "BERTScore", "runs of selective that computed BERTScore"),
        )
    ),
)


def layouts() -> tuple[PaperLayout, ...]:
    """Return the tables and figures of the paper."""
    return LAYOUTS
