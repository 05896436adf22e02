"""The page of ``sayso score --report``: leaderboard, scatters and audits of one file of answers.

What a file holds is data here: templates escape it, as on the page of a run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sayso.datasets.answer_rows import AnswerRow
from sayso.harmless import line
from sayso.metrics.length_audit import THRESHOLDS
from sayso.records import Estimate, InputError
from sayso.report.figures import Figure, figures_in
from sayso.report.numbers import (
    interval,
    number,
    percent,
    plain_number,
    range_of,
    tight,
    with_interval,
)
from sayso.report.opening import NO_EXAMPLES, ChosenExamples, PageOpening, example
from sayso.report.page import GENERATOR, page, write_index
from sayso.report.scatter import Scattered, cloud, figure
from sayso.report.tables import Table, TableCell
from sayso.score_files.leaderboard import (
    COVERAGE,
    NAMES,
    NOT_SHOWN,
    REFERENCES,
    Board,
    JudgeAudit,
    LeaderboardEntry,
    Raters,
    audit_sentences,
    board_explained,
    board_headline,
    board_score_label,
    board_sentence,
    board_warnings,
    calibration_sentences,
    leaderboard_figure,
)
from sayso.score_files.write import FloatColumns

#: scores that are drawn against length, where they are there, and how many of them
DRAWN, MOST_DRAWN = ("sequence_probability", "semantic_entropy", "perplexity"), 2
RIGHT_OR_WRONG = ("right answers", "wrong answers")
TAKEN = ("accepted", "rejected")
WORDS = "words of the answer"


class FileScatter(NamedTuple):
    """A scatter of the page and what stands below it."""

    figure: Figure
    caption: str


def scatters(table: FloatColumns, board: Board) -> list[FileScatter]:
    """Return scores by length, and what metrics give to right answers.

    Figures 2 and 3a of Santilli et al., and the like with BERTScore where it was computed.
    """
    return list(_scatters(table, board))


def _scatters(table: FloatColumns, board: Board) -> Iterator[FileScatter]:
    right = table.column(f"correct:{board.against}")
    words = table.column("words")
    held = [e.method for e in board.entries if e.method not in REFERENCES]
    for name in ([n for n in DRAWN if n in held] or held)[:MOST_DRAWN]:
        points = cloud(words, table.column(name), 1 - right, RIGHT_OR_WRONG)
        about = f"{board_score_label(name)} by number of words, for right and for wrong answers."
        of = Scattered(f"{name} by words", (WORDS, board_score_label(name)), about)
        drawn = figure(points, RIGHT_OR_WRONG, of)
        if drawn is not None:
            yield FileScatter(drawn, f"{about} {points.thinned}")
    for by, metric in (("rouge_l", "ROUGE-L"), *(_bert(table) or ())):
        if by == board.against or f"value:{by}" not in table:
            continue
        limit = THRESHOLDS[by.partition(":")[0]].cut
        of_right = np.where(right > 0, table.column(f"value:{by}"), np.nan)
        points = cloud(words, of_right, 1 - table.column(f"correct:{by}"), TAKEN)
        about = (
            f"{metric} by number of words, for the answers that are right (judge: "
            f"{line(board.against, 40)}). The metric rejects answers on or below the line."
        )
        titles = (WORDS, f"{metric} of right answers")
        drawn = figure(points, TAKEN, Scattered(titles[1], titles, about, limit))
        if drawn is not None:
            yield FileScatter(drawn, f"{about} {points.thinned}")


def _bert(table: FloatColumns) -> list[tuple[str, str]]:
    return [
        (name.removeprefix("value:"), "BERTScore")
        for name in table.names
        if name.startswith("value:bert_score")
    ]


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
    chosen.setdefault(order[(len(order) - 1) // 2], "A typical answer")
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
    drawn: Sequence[FileScatter],
    about: Mapping[str, Any],
    shown: ChosenExamples,
    *,
    force: bool,
) -> None:
    """Write the page. ``about`` has ``notices``, ``missing`` scores by reason, ``signature``.

    It begins with ``shown``, examples of the answers.

    Raises InputError where there is nothing to compare, or where another page stands.
    """
    if board is None:
        raise InputError("--report: no answer has a gold or a person's verdict: nothing to compare")
    context = {
        "title": line(source.name, 100),
        "opening": PageOpening(board_sentence(board), NOT_SHOWN, examples=shown),
        "headline": board_headline(board),
        "problem": board.problem,
        "warnings": [text[:1].upper() + text[1:] for text in board_warnings(board)],
        "best": _best(board),
        "bars": leaderboard_figure(board),
        "board": file_board_table(board),
        "scatters": drawn,
        "audits": [*calibration_sentences(board), *audit_sentences(board, verbose=True)],
        "refused": refused_table(board.judges),
        "agreement": grader_agreement_table(board.raters),
        "missing": missing_values_table(about["missing"]),
        "notices": [line(text, 500) for text in about["notices"]],
        "signature": line(about["signature"], 1_500),
    }
    if force:
        place.unlink(missing_ok=True)
    if write_index(place, page("page.html.j2", context, __package__)) is None:
        raise InputError(FOREIGN.format(place))


def _best(board: Board) -> str:
    if board.best is None or board.best.value is None:
        return ""
    return (
        "If the best score is chosen on one part of the answers and measured on the rest, its "
        "AUROC is "
        f"{with_interval(board.best)}."
    )


def page_figures(board: Board | None, drawn: Sequence[FileScatter]) -> list[Figure]:
    """Return every chart of the page by a name of its own."""
    return figures_in([leaderboard_figure(board) if board is not None else None, list(drawn)])


def file_board_table(board: Board) -> Table:
    """Return the leaderboard, the best score first; what scores are read against is marked."""
    rows = [] if board.problem else [_row(entry) for entry in board.entries]
    head = ["", "AUROC", "pairs", "fixed", "length", "PRR", f"acc at {COVERAGE:.0%}", "answers"]
    caption = f"Scores against {line(board.against, 60)}: value and 95 % interval"
    return Table(caption, head, rows, [board_explained(board)])


def _row(entry: LeaderboardEntry) -> list[TableCell]:
    style = "own" if entry.method in REFERENCES else ""
    p = entry.versus_length.p_holm if entry.versus_length is not None else None
    star = "*" if p is not None and p < 0.05 else ""
    name = NAMES.get(entry.method, entry.method)
    pairs = entry.auroc.denominator
    return [
        TableCell(name, "" if name == entry.method else entry.method, head=True, style=style),
        TableCell(number(entry.auroc) + star, tight(range_of(entry.auroc)), style=style),
        TableCell(f"{pairs:,.0f}" if pairs else "–", style=style),
        TableCell(plain_number(entry.fixed), style=style),
        TableCell(plain_number(entry.length), style=style),
        TableCell(number(entry.prr), tight(range_of(entry.prr)), style=style),
        TableCell(number(entry.accuracy), tight(range_of(entry.accuracy)), style=style),
        TableCell(f"{entry.n:,}", style=style),
    ]


def refused_table(judges: Sequence[JudgeAudit]) -> Table:
    """Return what share of the right answers each metric refuses, by fifths of their length."""
    rows = []
    for judge in judges:
        refused = judge.false_negatives
        cells = [TableCell(percent(part.value, 0)) for part in (refused.overall, *refused.bins)]
        slope = TableCell(number(refused.slope), tight(range_of(refused.slope)))
        cells += [slope, TableCell(plain_number(judge.inflation))]
        rows.append([TableCell(line(judge.name, 40), head=True), *cells])
    head = ["", "all", "shortest", "2nd", "3rd", "4th", "longest", "slope", "length alone"]
    note = (
        "slope: rise per fifth of the right answers. length alone: the AUROC that plain length "
        "would get against this metric if length were unrelated to correctness."
    )
    return Table("Right answers that a metric rejects", head, rows, [note])


def grader_agreement_table(raters: Raters | None) -> Table:
    """Return how often every two graders agree, and each with most of the others."""
    if raters is None or not raters.pairs:
        return Table("", [], [], [])
    names = list(dict.fromkeys(name for p in raters.pairs for name in (p.first, p.second)))
    same = {(p.first, p.second): p.same for p in raters.pairs}
    rows = []
    for name in names:
        cells = [
            TableCell("–")
            if name == other
            else TableCell(percent((same.get((name, other)) or same[other, name]).value, 0))
            for other in names
        ]
        others = raters.others.get(name, Estimate(""))
        cells.append(TableCell(percent(others.value, 0), tight(interval(others))))
        rows.append([TableCell(line(name, 40), head=True), *cells])
    head = ["", *(line(name, 40) for name in names), "most others"]
    note = "Word-overlap metrics make the same mistakes, so their majority is not ground truth."
    return Table("Same verdict on an answer", head, rows, [note])


def missing_values_table(missing: Mapping[str, str]) -> Table:
    """Return the scores without a value, with the reason."""
    rows = [
        [TableCell(line(name, 60), head=True), TableCell(line(why, 200))]
        for name, why in missing.items()
    ]
    return Table("Scores that could not be computed", ["", "why"], rows, [])
