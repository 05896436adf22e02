"""What ``sayso score`` shows: the leaderboard, scatters and audits of one file of answers.

What a file holds is data here: templates escape it, as on the page of a run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from sayso.datasets.answer_rows import AnswerRow
from sayso.harmless import line
from sayso.metrics.length_audit import THRESHOLDS, LengthAudit
from sayso.metrics.ranking import FEWEST
from sayso.records import Estimate, InputError
from sayso.report.figures import Figure, figures_in
from sayso.report.number_tables import NumberTable, grid
from sayso.report.numbers import percent, plain_number
from sayso.report.opening import (
    FEW_PAIRS,
    NO_EXAMPLES,
    ChosenExamples,
    PageOpening,
    errors_sentence,
    example,
)
from sayso.report.page import GENERATOR, sheet_page, write_index
from sayso.report.scatter import cloud, scatter_plot
from sayso.report.sheet import Chart, Section, Sheet, Tile, render_sheet
from sayso.report.terminal import say
from sayso.score_files.grade import plural
from sayso.score_files.leaderboard import (
    LENGTH,
    NAMES,
    REFERENCES,
    Board,
    Column,
    JudgeAudit,
    LeaderboardEntry,
    auroc_chart,
    board_headline,
    board_score_label,
    board_warnings,
    is_candidate,
    ranked_table,
    shown_entries,
    table_of,
)
from sayso.score_files.write import FloatColumns
from sayso.scores.text_only import TEXT_ONLY

#: best scores of the first table
SHOWN = 8
#: answers below which graders are not compared
LEAST_COMPARED = 20
#: scores that are drawn against length, where they are there, and how many of them
DRAWN, MOST_DRAWN = ("sequence_probability", "semantic_entropy", "perplexity"), 2
RIGHT_OR_WRONG = ("right", "not right")
TAKEN = ("accepted", "rejected")
NOT_SHOWN = (
    "how a score does on other questions. The errors here are those that this judge, or these "
    "people, find."
)
TERMS = (
    (
        "wrong, not right",
        "A wrong answer states something false. People, and metrics that compare words, also judge "
        "answers that decline: these count as not right.",
    ),
    (NAMES[LENGTH], "The number of words, as a score."),
    (NAMES[TEXT_ONLY], "N-grams of question and answer, learned from other questions."),
)


# ---- the sheet


def board_sheet(board: Board, charts: Sequence[Chart] = (), *, whole: bool = True) -> Sheet:
    """Return all that is shown of a leaderboard; without ``whole`` what a terminal begins with.

    ``charts`` are scatters by length.
    """
    shown = shown_entries(board, SHOWN)
    others = [entry for entry in board.entries if entry not in shown]
    main = ranked_table(board, shown)
    if others:
        more = f"{plural(len(others), 'other score')}: in the next table (--verbose prints it)."
        main = main._replace(notes=(more, *main.notes))
    return Sheet(
        "Which uncertainty score detects the errors?",
        PageOpening(board_sentence(board), NOT_SHOWN),
        _tiles(board),
        Chart(
            "auroc",
            partial(auroc_chart, board),
            "AUROC of scores.",
            "AUROC with 95 % intervals. The line is chance. Two baselines are always shown: plain "
            "length, and the words of question and answer alone.",
        ),
        main,
        _sections(board, others, charts) if whole else (),
        board_warnings(board),
        terms=TERMS,
        method="Santilli et al., arXiv 2504.13677. The docstring of each score names its source.",
    )


def board_sentence(board: Board) -> str:
    """Say in one sentence how many answers are wrong, and whether a score can point to them.

    By people, and by metrics that compare words, answers that decline are not right either.
    """
    if not board.judged:
        return "No answer has a verdict."
    ranked = [e for e in board.entries if e.method not in REFERENCES and e.auroc.value is not None]
    names = [board_score_label(entry.method) for entry in ranked]
    judged = f"the {board.judged:,} judged answers"
    did = None if board.against.partition(":")[0] in ("rules", "llm") else ""
    return errors_sentence(board.wrong, board.judged, judged, names, _best(board), did)


def _best(board: Board) -> Estimate:
    """Return the AUROC of the best score, on other answers than it was chosen on if there is it."""
    if board.best is not None and board.best.value is not None:
        return board.best
    return next((e.auroc for e in board.entries if is_candidate(e)), Estimate("auroc"))


def _tiles(board: Board) -> list[Tile]:
    """Return the share of errors, and how often the best score and the baselines find one."""
    found: dict[str, float | None] = {}
    if not board.problem and board.wrong * (board.judged - board.wrong) >= FEW_PAIRS:
        many = sum(map(is_candidate, board.entries))
        found[f"the best of {many} scores" if many > 1 else "the score"] = _best(board).value
        found |= {NAMES[e.method]: e.auroc.value for e in board.entries if e.method in NAMES}
    tiles = {f"AUROC of {name}": Estimate("auroc", value=value) for name, value in found.items()}
    if board.judged:
        share = Estimate("", value=board.wrong / board.judged)
        tiles = {"judged answers that are not right": share, **tiles}
    return [Tile(what, [("", e)]) for what, e in tiles.items() if e.value is not None]


WORTH: dict[str, Column[LeaderboardEntry]] = {
    "PRR": (lambda e: e.prr, "What withholding by this score gains: 1 = oracle, 0 = chance."),
    "accuracy at 80 %": (lambda e: e.accuracy, "If the most certain 80 % are answered."),
    "length": (lambda e: plain_number(e.length), "Rank correlation with the number of words."),
    "ECE": (
        lambda e: (
            "" if e.ece is None else f"{plain_number(e.ece)} ({plain_number(e.ece_debiased)})"
        ),
        "Calibration error of a score that is a probability (less what chance adds).",
    ),
    "answers": (lambda e: f"{e.n:,}", ""),
    "pairs": (lambda e: f"{e.auroc.denominator or 0:,.0f}", "Of a right and a wrong answer."),
}
AUDITED: dict[str, Column[LengthAudit]] = {
    "by the metric": (lambda a: a.against_metric, ""),
    "by the truth": (lambda a: a.against_truth, ""),
    "difference": (lambda a: a.difference, ""),
    "from length": (lambda a: a.from_length, "From longer right answers that the metric rejects."),
    "unexplained": (lambda a: a.unexplained, ""),
    "plain length": (lambda a: a.length, "By the metric."),
}
REFUSED: dict[str, Column[JudgeAudit]] = {
    "of all": (lambda j: j.false_negatives.overall, ""),
    "of the shortest": (lambda j: _fifths(j)[0], "Of the shortest fifth of the right answers."),
    "of the longest": (lambda j: _fifths(j)[-1], "Of the longest fifth."),
    "rise": (lambda j: j.false_negatives.slope, "From one fifth to the next longer one."),
    "length would get": (
        lambda j: plain_number(j.inflation),
        "AUROC of plain length by this metric if length were unrelated to correctness.",
    ),
}


def _fifths(judge: JudgeAudit) -> list[Estimate]:
    held = [part for part in judge.false_negatives.bins if part.value is not None]
    return held or [judge.false_negatives.overall]


def _sections(
    board: Board, others: Sequence[LeaderboardEntry], charts: Sequence[Chart]
) -> list[Section]:
    """Return the tables behind the leaderboard, each under the question that it answers."""
    held = () if board.problem else board.entries
    judges = [j for j in board.judges if round((j.p or 0) * j.n) >= FEWEST]
    if board.judged < LEAST_COMPARED or all(judge.q == 1.0 for judge in judges):
        judges = []
    truth = line(board.truth, 40)
    worth = table_of(
        "Each score for withholding answers",
        {NAMES.get(entry.method, entry.method): entry for entry in held},
        WORTH,
    )
    audits = table_of(
        f"AUROC by a metric and by the truth ({truth}), on the same answers",
        _audits(board),
        AUDITED,
        labels=("score", "metric"),
    )
    refused = table_of(
        f"Right answers that a metric rejects (truth: {truth})",
        {line(judge.name, 40): judge for judge in judges},
        REFUSED,
        labels=("metric",),
    )
    more = ranked_table(board, others)._replace(notes=())
    return [
        Section("others", "How do the other scores do?", [more]),
        Section("worth", "What is a score worth where answers are withheld?", [worth]),
        Section(
            "length", "Is it the score, or the length of the answers?", [audits, refused], charts
        ),
        _graders(board),
    ]


def _audits(board: Board) -> dict[tuple[str, str], LengthAudit]:
    """Return the audits that found something, of metrics with the same verdicts one."""
    groups: dict[tuple[str, bytes], tuple[list[str], LengthAudit]] = {}
    for method, by in board.audits.items():
        for grader, audit in by.items():
            if audit.differs:
                names, _ = groups.setdefault((method, audit.verdicts), ([], audit))
                names.append(line(grader, 40))
    return {(m, ", ".join(names)): audit for (m, _), (names, audit) in groups.items()}


def _graders(board: Board) -> Section:
    """Return how far graders agree, or in a sentence why there is no table of it."""
    table, text = grader_agreement_table(board), ""
    if board.judged < LEAST_COMPARED:
        text = f"{plural(board.judged, 'answer')} are too few (at least {LEAST_COMPARED})."
    elif board.raters is not None and {p.same.value for p in board.raters.pairs} == {1.0}:
        text = f"All {len(table.rows)} graders give every answer the same verdict."
    title = "Do people and answer metrics agree?"
    return Section("graders", title, [] if text else [table], text=[text] if text else ())


def grader_agreement_table(board: Board) -> NumberTable:
    """Return how often every two graders agree, and each with most of the others."""
    pairs = board.raters.pairs if board.raters is not None else ()
    others = board.raters.others if board.raters is not None else {}
    panel = board.raters.panel if board.raters is not None else ()
    of = "people" if all(name.startswith("person ") for name in panel) else "graders"
    same = {(p.first, p.second): p.same for p in pairs}
    same |= {(b, a): share for (a, b), share in same.items()}
    names = {line(name, 40): name for name in dict.fromkeys(first for first, _ in same)}

    def cell(row: str, column: str) -> Estimate | str:
        if not column:
            return others.get(row, "")
        return "" if row == column else percent(same[row, column].value, 0)

    note = (
        f"How often a grader says what the majority of the {len(panel)} {of} says, itself left "
        "out; ties are left out. Metrics that compare words make the same mistakes, so their "
        "majority is not ground truth."
    )
    return grid(
        "Share of answers with the same verdict",
        dict(names.items()),
        {"most others": "", **names} if others else names,
        cell,
        labels=("grader",),
        meanings={"most others": note},
    )


# ---- the terminal


def render_board(board: Board, console: Console | None = None, *, verbose: bool = False) -> None:
    """Print the leaderboard, the rows of the baselines always; ``verbose``: every table.

    Holds for any board, also one without a single AUROC. ``console`` is standard output where none
    is given.
    """
    render_sheet(board_sheet(board, whole=verbose), console or Console(), verbose=verbose)


def render_scores(
    console: Console,
    rows: int,
    values: Mapping[str, int],
    missing: Mapping[str, str],
    *,
    verbose: bool = False,
) -> None:
    """Print how many scores there are; ``verbose``: which, on how many rows, and why not others."""
    text = f"{plural(len(values), 'score')} of {plural(rows, 'row')}"
    if missing and not verbose:
        most, count = Counter(missing.values()).most_common(1)[0]
        of = f" for {count} of them" if count < len(missing) else ""
        text += f"; {len(missing)} not computed ({line(most, 120)}{of}): --verbose lists them"
    say(console, text, "bold")
    for text in score_sentences(rows, values, missing) if verbose else ():
        say(console, text, "")


def score_sentences(rows: int, values: Mapping[str, int], missing: Mapping[str, str]) -> list[str]:
    """Return which scores there are on how many rows, and for which reasons others are not."""
    by: dict[str, list[str]] = {}
    for method, n in sorted(values.items(), key=lambda one: -one[1]):
        by.setdefault("on all rows" if n == rows else f"on {plural(n, 'row')}", []).append(method)
    for method, reason in missing.items():
        by.setdefault(f"not computed ({line(reason, 120)})", []).append(method)
    return [f"{what}: {', '.join(line(name, 60) for name in names)}" for what, names in by.items()]


# ---- charts


def scatters(table: FloatColumns, board: Board) -> Iterator[Chart]:
    """Yield scores by length, and what metrics give to right answers.

    Figures 2 and 3a of Santilli et al., and the like with BERTScore where it was computed.
    """
    right, words = table.column(f"correct:{board.against}"), table.column("words")
    held = [e.method for e in board.entries if e.method not in REFERENCES]
    for name in ([n for n in DRAWN if n in held] or held)[:MOST_DRAWN]:
        points = cloud(words, table.column(name), 1 - right, RIGHT_OR_WRONG)
        titles = ("words of the answer", board_score_label(name))
        make = partial(scatter_plot, points, RIGHT_OR_WRONG, titles=titles)
        about = f"{titles[1]} by number of words, for answers that are right and not right."
        yield Chart(f"{name} by words", make, about, f"{about} {points.thinned}")
    bert = [name for name in table.names if name.startswith("value:bert_score")]
    metrics = {"rouge_l": "ROUGE-L"} | {n.removeprefix("value:"): "BERTScore" for n in bert}
    for by, metric in metrics.items():
        if by == board.against or f"value:{by}" not in table:
            continue
        of_right = np.where(right > 0, table.column(f"value:{by}"), np.nan)
        points = cloud(words, of_right, 1 - table.column(f"correct:{by}"), TAKEN)
        titles = ("words of the answer", f"{metric} of right answers")
        limit = THRESHOLDS[by.partition(":")[0]].cut
        make = partial(scatter_plot, points, TAKEN, titles=titles, limit=limit)
        about = (
            f"{metric} by number of words, for the answers that are right (judge: "
            f"{line(board.against, 40)}). The metric rejects answers on or below the line."
        )
        yield Chart(titles[1], make, about, f"{about} {points.thinned}")


def page_figures(board: Board | None, drawn: Sequence[Chart]) -> list[Figure]:
    """Return every chart of the page by a name of its own."""
    charts = board_sheet(board, whole=False).charts if board is not None else []
    return figures_in([chart.figure for chart in (*charts, *drawn)])


# ---- the page

FOREIGN = "{}: is not a page of sayso; choose another --report, or pass --force"


def check_page_is_ours(place: Path, *, force: bool) -> None:
    """Refuse to replace a page that is not ours, before anything is scored. Raises InputError."""
    if place.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--report {place}: expected a name ending in .html")
    if not place.parent.is_dir():
        raise InputError(f"--report {place}: there is no folder {place.parent}")
    if force or not place.exists():
        return
    if place.is_dir() or GENERATOR not in place.read_text(encoding="utf-8", errors="replace"):
        raise InputError(FOREIGN.format(place))


def examples(table: FloatColumns, board: Board | None, rows: Iterable[AnswerRow]) -> ChosenExamples:
    """Return an error that the best score finds, one that it misses, and the median answer.

    ``rows`` are those of the table, in its order; they are read as far as is needed.
    """
    ranked = [e.method for e in board.entries if e.method not in REFERENCES] if board else []
    if board is None or board.problem or not ranked:
        return NO_EXAMPLES
    values, right = table.column(ranked[0]), table.column(f"correct:{board.against}")
    held = np.flatnonzero(~np.isnan(values) & ~np.isnan(right)).tolist()
    errors = [at for at in held if not right[at]]
    order = sorted(held, key=lambda at: (values[at], at))
    chosen = {
        max(errors, key=lambda at: (values[at], -at)): "An error that the score finds",
        min(errors, key=lambda at: (values[at], at)): "An error that the score misses",
    }
    chosen.setdefault(order[(len(order) - 1) // 2], "The answer of median score")
    place = {at: rank for rank, at in enumerate(order, start=1)}
    texts = {at: row for at, row in enumerate(islice(rows, max(chosen) + 1)) if at in chosen}
    shown = [
        example(
            what,
            texts[at].question,
            "; ".join(texts[at].gold or ()),
            texts[at].answer or "",
            kind="correct" if right[at] else "incorrect",
            note=f"In order of certainty, it is number {place[at]:,} of {len(order):,} answers.",
        )
        for at, what in chosen.items()
    ]
    rule = (
        f"Chosen by the score {board_score_label(ranked[0])}: the least and the most certain wrong "
        "answer, and the answer of median score."
    )
    return ChosenExamples(shown, rule)


def write_file_page(
    place: Path,
    source: Path,
    board: Board | None,
    drawn: Sequence[Chart],
    about: Mapping[str, Any],
    shown: ChosenExamples,
    *,
    force: bool,
) -> None:
    """Write the page, which begins with ``shown``, examples of the answers.

    ``about`` has ``rows``, ``values`` and ``missing`` scores, ``notices`` and ``signature``. Raises
    InputError where there is nothing to compare, or where another page stands.
    """
    if board is None:
        raise InputError("--report: no answer has a gold or a person's verdict: nothing to compare")
    sheet = board_sheet(board, drawn)
    told = score_sentences(about["rows"], about["values"], about["missing"])
    scores = Section("scores", "Which scores are there, and why not others?", text=told)
    file = line(source.name, 100)
    made = {"verdicts": board_headline(board), "tools": line(about["signature"], 1_500)}
    text = sheet_page(
        sheet._replace(sections=[*sheet.sections, scores]),
        made=[("Verdicts and scores", [(name, value) for name, value in made.items() if value])],
        notices=about["notices"],
        about=[("file", file)],
        examples=shown,
    )
    if force:
        place.unlink(missing_ok=True)
    if write_index(place, text) is None:
        raise InputError(FOREIGN.format(place))
