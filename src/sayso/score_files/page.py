"""What ``sayso score`` shows of one file of answers: the leaderboard, and who agrees.

What a file holds is data here: templates escape it, as on the page of a run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from sayso.datasets.answer_rows import AnswerRow
from sayso.harmless import line
from sayso.records import Estimate, InputError
from sayso.report.number_tables import NumberTable, grid
from sayso.report.numbers import percent, plain_number
from sayso.report.opening import (
    FEW_PAIRS,
    NO_EXAMPLES,
    ChosenExamples,
    PageOpening,
    best_named,
    errors_sentence,
    example,
)
from sayso.report.page import GENERATOR, sheet_page, write_index
from sayso.report.sheet import Chart, Section, Sheet, Tile, render_sheet
from sayso.report.terminal import say
from sayso.score_files.grade import plural
from sayso.score_files.leaderboard import (
    LENGTH,
    MOST_PEOPLE,
    NAMES,
    Board,
    Columns,
    Raters,
    auroc_chart,
    board_headline,
    board_score_label,
    board_warnings,
    rankable,
    ranked_table,
    scores_table,
    shown_entries,
)
from sayso.score_files.write import FloatColumns
from sayso.scores.text_only import TEXT_ONLY
from sayso.storage.outputs import check_output

#: answers below which graders are not compared
LEAST_COMPARED = 20
MOST_OTHERS = (
    "How often a grader says what the majority says, itself left out; ties are left out. Three or "
    f"more people form the majority (at most {MOST_PEOPLE}), else people and metrics do. Metrics "
    "that compare words make the same mistakes, so their majority is not ground truth."
)
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


def board_sheet(board: Board) -> Sheet:
    """Return all that is shown of a leaderboard."""
    shown = shown_entries(board)
    others = [entry for entry in board.entries if entry not in shown]
    main = ranked_table(board, shown)
    if others:
        more = f"{plural(len(others), 'other score')}: in the next table (--verbose prints it)."
        main = main._replace(notes=(more, *main.notes))
    graders = [grader_agreement_table(board)] if board.judged >= LEAST_COMPARED else []
    worth = scores_table(board, board.entries, "Each score for withholding answers", WORTH)
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
        [
            Section("others", "How do the other scores do?", [ranked_table(board, others)]),
            Section("worth", "What is a score worth where answers are withheld?", [worth]),
            Section("graders", "Do people and answer metrics agree?", graders),
        ],
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
    names = [board_score_label(entry.method) for entry in rankable(board)]
    judged = f"the {board.judged:,} judged answers"
    did = None if board.against.partition(":")[0] in ("rules", "llm") else ""
    best = _best(board)
    which = best_named(names, elsewhere=best is board.best)
    return errors_sentence(board.wrong, board.judged, judged, which, best, did)


def _best(board: Board) -> Estimate:
    """Return the AUROC of the best score, on other answers than it was chosen on if there is it."""
    if board.best is not None and board.best.value is not None:
        return board.best
    return next((entry.auroc for entry in rankable(board)), Estimate("auroc"))


def _tiles(board: Board) -> list[Tile]:
    """Return the share of errors, and how often the best score and the baselines find one."""
    found = {}
    if board.judged:
        found["judged answers that are not right"] = Estimate("", value=board.wrong / board.judged)
    if board.wrong * (board.judged - board.wrong) >= FEW_PAIRS:
        many = len(rankable(board))
        best = f"the best of {many} scores" if many > 1 else "the score"
        baselines = {NAMES[e.method]: e.auroc for e in board.entries if e.method in NAMES}
        areas = {best: _best(board), **baselines}
        found |= {f"AUROC of {name}": area for name, area in areas.items()}
    return [Tile(what, [("", e)]) for what, e in found.items() if e.value is not None]


WORTH: Columns = {
    "PRR": lambda e: e.prr,
    "accuracy at 80 %": lambda e: e.accuracy,
    "length": lambda e: plain_number(e.length),
    "answers": lambda e: f"{e.n:,}",
    "pairs": lambda e: f"{e.auroc.denominator or 0:,.0f}",
}


def grader_agreement_table(board: Board) -> NumberTable:
    """Return how often every two graders agree, and each with most of the others."""
    found = board.raters if board.raters is not None else Raters((), (), {})
    same = {(p.first, p.second): p.same for p in found.pairs}
    same |= {(b, a): share for (a, b), share in same.items()}
    names = {line(name, 40): name for name in dict.fromkeys(first for first, _ in same)}

    def cell(row: str, column: str) -> Estimate | str:
        if not column:
            return found.others.get(row, "")
        return "" if row == column else percent(same[row, column].value, 0)

    return grid(
        "Share of answers with the same verdict",
        dict(names.items()),
        {"most others": "", **names} if found.others else names,
        cell,
        labels=("grader",),
        meanings={"most others": MOST_OTHERS},
    )


# ---- the terminal


def render_board(board: Board, console: Console | None = None, *, verbose: bool = False) -> None:
    """Print the leaderboard, the rows of the baselines always; ``verbose``: every table.

    Holds for any board, also one without a single AUROC. ``console`` is standard output where none
    is given.
    """
    render_sheet(board_sheet(board), console or Console(), verbose=verbose)


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


# ---- the page


def check_page_is_ours(place: Path, *, force: bool) -> None:
    """Refuse to replace a page that is not ours, before anything is scored. Raises InputError."""
    if place.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--report {place}: expected a name ending in .html")
    check_output(place, mark=GENERATOR, command="sayso", force=force, name=f"--report {place}")


def examples(table: FloatColumns, board: Board | None, rows: Iterable[AnswerRow]) -> ChosenExamples:
    """Return an error that the best score finds, one that it misses, and the median answer.

    ``rows`` are those of the table, in its order; they are read as far as is needed.
    """
    if board is None or not (ranked := rankable(board)):
        return NO_EXAMPLES
    score = ranked[0].method
    values, right = table.column(score), table.column(f"correct:{board.against}")
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
        f"Chosen by the score {board_score_label(score)}: the least and the most certain wrong "
        "answer, and the answer of median score."
    )
    return ChosenExamples(shown, rule)


def write_file_page(
    place: Path,
    source: Path,
    board: Board | None,
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
    sheet = board_sheet(board)
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
    write_index(place, text, name=f"--report {place}", force=force)
