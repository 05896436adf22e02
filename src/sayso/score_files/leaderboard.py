"""``sayso.leaderboard``: which score of these rows tells wrong answers from right ones?

The leaderboard with intervals, always with the row of plain length; the length audit
against the answer metric and against the best truth there is on the same rows; how far people and
answer metrics agree; and how all this is printed.
"""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sayso import metrics
from sayso.datasets.answer_rows import AnswerRow, answer_rows
from sayso.harmless import line
from sayso.later import Later
from sayso.metrics.agreement import Pairing, against_others, agreement_matrix
from sayso.metrics.compare_scores import ScoreDifference
from sayso.metrics.intervals import GROUPS, MANY
from sayso.metrics.length_audit import FalseNegatives, LengthAudit
from sayso.metrics.ranking import EQUAL, FEW, FEWEST, too_few
from sayso.records import Estimate, InputError
from sayso.report.notebook import AnswerTable, Plotted, data_frame, html_table, short_repr
from sayso.report.opening import errors_sentence
from sayso.report.terminal import FoldedTable
from sayso.score_files.grade import (
    LEFT_OUT,
    Grade,
    Unjudged,
    check_recorded_verdict,
    graders,
    plural,
    why_left_out,
)
from sayso.score_files.write import QUESTION_NUMBER, FloatColumns, number_rows, question_number
from sayso.scores import SCORES
from sayso.scores.p_ik import fold_ranks
from sayso.scores.text_only import TEXT_ONLY, Ids, ngrams, text_only
from sayso.storage.cache import default_cache_folder

if TYPE_CHECKING:
    from sayso.report import charts, figures
else:
    charts, figures = Later("sayso.report.charts"), Later("sayso.report.figures")

#: the mandatory row
LENGTH = "length_words"
#: what scores are read against: never the best score
REFERENCES = (LENGTH, TEXT_ONLY)
#: columns of the printed table
HEADS = ("score", "AUROC", "pairs", "fixed", "length", "PRR", "acc")
#: rows of the chart
MOST_BARS = 16
#: the share of questions answered at which accuracy is printed.
COVERAGE = 0.8


class LeaderboardEntry(msgspec.Struct, frozen=True):
    """One score on the leaderboard.

    ``n`` rows with a score and a verdict, ``missing`` rows with a verdict and no score (they are
    in none of the numbers). ``length`` is the rank correlation of the score with the number of
    words, ``fixed`` the AUROC among answers of like length, ``versus_length`` the AUROC less that
    of length on the same rows.
    """

    method: str
    n: int
    missing: int
    auroc: Estimate
    prr: Estimate
    aurac: Estimate
    accuracy: Estimate
    auprc: float | None
    length: float | None
    fixed: float | None
    versus_length: ScoreDifference | None = None
    ece: float | None = None
    ece_debiased: float | None = None
    brier: float | None = None


class JudgeAudit(msgspec.Struct, frozen=True):
    """One answer metric against the best truth: how often it refuses right answers, by length.

    ``p`` the share of truly right answers, ``q`` the share of them that it accepts, and what
    length alone is then expected to score (``inflation``). ``closed`` says by how much.
    """

    name: str
    n: int
    agreement: float | None
    false_negatives: FalseNegatives
    p: float | None
    q: float | None
    inflation: float | None


class Raters(msgspec.Struct, frozen=True, omit_defaults=True):
    """People and answer metrics as graders of the same answers.

    ``pairs`` every two of them; ``others`` how often each says what the majority of ``panel`` says,
    itself left out of it (:func:`sayso.metrics.against_others`). ``more`` people than
    :data:`MOST_PEOPLE` judged a row: their votes count in "people" only.
    """

    pairs: tuple[Pairing, ...]
    panel: tuple[str, ...]
    others: dict[str, Estimate]
    more: int = 0


class Board(Plotted, msgspec.Struct, frozen=True):
    """The leaderboard of a file. ``against`` is whose verdict decides, ``truth`` the best truth.

    ``left_out`` counts rows without a verdict, ``left_out_by`` by what they are; ``resamples``
    those of AUROC (the other intervals take at most 500): of ``questions`` where some have several
    answers, else (``None``) of answers.
    ``audits`` by score and metric. ``best`` is
    the AUROC of the best score, chosen on other questions than it is measured on. ``problem`` says
    why scores are not ranked, ``raters`` how far people and metrics agree, ``unread`` what metrics
    could not read, ``no_text_only`` why there is no text-only baseline.
    """

    against: str
    truth: str
    rows: int
    judged: int
    wrong: int
    left_out: int
    resamples: int
    entries: tuple[LeaderboardEntry, ...]
    audits: dict[str, dict[str, LengthAudit]]
    judges: tuple[JudgeAudit, ...]
    problem: str | None = None
    raters: Raters | None = None
    questions: int | None = None
    unread: tuple[str, ...] = ()
    best: Estimate | None = None
    left_out_by: dict[str, int] = {}
    no_text_only: str = ""

    def table(self) -> list[dict[str, object]]:
        """Return the leaderboard, a dict for each score, the best first.

        ``auroc`` with ``low`` and ``high`` (its 95 % interval) and the ``pairs`` that it rests on,
        and what the printed table shows. All numbers: :meth:`to_pandas`.
        """
        return [
            {
                "score": e.method,
                "auroc": e.auroc.value,
                "low": e.auroc.low,
                "high": e.auroc.high,
                "pairs": e.auroc.denominator,
                "fixed": e.fixed,
                "length": e.length,
                "prr": e.prr.value,
                "accuracy": e.accuracy.value,
                "n": e.n,
                "missing": e.missing,
                "problem": e.auroc.problem,
            }
            for e in self.entries
        ]

    def to_pandas(self) -> Any:
        """Return every number of the leaderboard as a ``pandas.DataFrame``, a row for each score.

        Raises InputError where pandas is not installed.
        """
        frame = data_frame(
            [
                {**row, **_more_numbers(entry)}
                for row, entry in zip(self.table(), self.entries, strict=True)
            ]
        )
        numbers = [name for name in frame.columns if name not in ("score", "problem")]
        return frame.astype(dict.fromkeys(numbers, "float64"))

    @property
    def answers(self) -> AnswerTable[Any]:
        """None: raises InputError, because a leaderboard is made of answers that you have."""
        raise InputError(
            "a leaderboard keeps no answers: they are the rows, or the file, that it was made of"
        )

    def _figures(self) -> list[figures.Figure]:
        figure = leaderboard_figure(self)
        return [figure] if figure is not None else []

    def __repr__(self) -> str:
        best = next((e for e in self.entries if _is_candidate(e)), None)
        if self.problem is not None or best is None:
            first = self.problem or "no scores"
        else:
            scores = plural(sum(e.method != TEXT_ONLY for e in self.entries), "score")
            first = f"{scores}, the best {line(best.method, 60)}: AUROC {_number(best.auroc)}"
        return short_repr("Board", (board_headline(self), first))

    def _repr_html_(self) -> str:
        """Return what a notebook shows: what was compared, what weakens it, the leaderboard."""
        return html_table(
            board_headline(self),
            HEADS,
            [] if self.problem else [_cells(entry) for entry in self.entries],
            cautions=[*([self.problem] if self.problem else ()), *board_warnings(self)],
            nothing="no ranking",
        )


def leaderboard_figure(board: Board) -> figures.Figure | None:
    """Return the AUROC of the best scores and of what they are read against, with intervals.

    ``None`` where no score can be ranked.
    """
    if board.problem:
        return None
    shown = [e for n, e in enumerate(board.entries) if n < MOST_BARS or e.method in REFERENCES]
    rows = [charts.chart_row(board_score_label(e.method), "AUROC", e.auroc) for e in shown]
    return figures.figure_of("auroc", partial(charts.auroc_rows, rows), "AUROC of scores.")


def leaderboard(
    rows: Iterable[Mapping[str, object]],
    methods: Iterable[str] | None = None,
    *,
    gold_metric: str = "rules",
    columns: Mapping[str, str] | None = None,
    cache: str | Path | None = None,
    seed: int = 0,
) -> Board:
    """Return the leaderboard and the length audit of rows that have scores, as ``score`` gives.

    A row is as in :func:`~sayso.score_files.score.score`, with ``gold`` or ``human``, and a column
    for each score; higher = less certain. ``methods`` are the columns to compare, scores of your
    own too; left out: those that are scores of ours (a stored P(IK) is ranked within its folds
    only, by ``sayso score``). Plain length is always there. ``gold_metric`` decides who is right
    where no person did. ``sayso.score_files.leaderboard.render_board`` prints it. Raises
    :class:`~sayso.records.InputError` for rows without verdicts or without any of the scores.
    """
    read = list(answer_rows(rows, columns))
    names = [methods] if isinstance(methods, str) else list(methods or ())
    there = {name for row in read for name in row.own}
    absent = [name for name in names if name not in there and name != LENGTH]
    names = names or [name for name in SCORES if name in there]
    if absent or not names:
        what = f"no row has {absent[0]!r}" if absent else "no row has a score"
        raise InputError(f"leaderboard: {what}; sayso.score(rows) adds a column for each")
    with contextlib.ExitStack() as stack:
        folder = Path(cache) if cache is not None else default_cache_folder()
        judges = graders(gold_metric, folder, stack)
        check_recorded_verdict(gold_metric, read)
        graded = {name: judge(read) for name, judge in judges.items()}
    by_row = [{name: grades[n] for name, grades in graded.items()} for n in range(len(read))]
    unjudged = Unjudged()
    for grades in by_row:
        unjudged.add(grades)
    people = any(row.human is not None for row in read)
    judged = any(not math.isnan(g.correct) for grades in by_row for g in grades.values())
    if not people and not judged:
        raise InputError(
            "leaderboard: no row could be judged; expected 'gold' (a true value, or a list) or "
            "'human' (a person's verdict) with the answers"
        )
    with FloatColumns(column_names(names, judges)) as table:
        numbers = []
        for n, row in enumerate(read):
            values = {name: _number_of(row.own.get(name), name, n) for name in names}
            held = {name: value for name, value in values.items() if value is not None}
            numbers.append(numbers_of(row, held, by_row[n], names))
        table.add(number_rows(table.names, numbers))
        used, unread = list(judges) if judged else [], unjudged.sentences(judges)
        texts = RowTexts()
        for row in read:
            texts.add(row)
        decides = "people" if people else gold_metric
        why = texts.put_into(table, decides, seed)
        made = leaderboard_of(table, [*names, TEXT_ONLY], used, gold_metric, people, seed, unread)
        return msgspec.structs.replace(made, no_text_only=why)


def _number_of(value: object, name: str, place: int) -> float | None:
    """Return a score of a row; what is missing or not finite is none."""
    if value is None:
        return None
    try:
        number = float(value)  # type: ignore[arg-type]  # whatever a data frame holds
    except (TypeError, ValueError):
        raise InputError(
            f"leaderboard: {name} of row {place + 1} is {str(value)[:40]!r}; expected a number"
        ) from None
    return number if math.isfinite(number) else None


def column_names(methods: Iterable[str], judges: Iterable[str]) -> list[str]:
    """Return the columns of a table of these scores and answer metrics."""
    graded = [f"{what}:{name}" for name in judges for what in ("correct", "value", "left")]
    kept = [name for name in methods if name != LENGTH]
    people = ("correct:people", "left:people", VOTE_COUNT, *VOTES)
    return [*dict.fromkeys(["words", QUESTION_NUMBER, *people, *kept, *graded])]


def numbers_of(
    row: AnswerRow, values: Mapping[str, float], grades: Mapping[str, Grade], methods: Sequence[str]
) -> dict[str, float]:
    """Return a row of the table: scores, verdicts or why there is none, words, whose question."""
    numbers = {m: values[m] for m in methods if m in values and m != LENGTH}
    numbers[QUESTION_NUMBER] = question_number(row)
    if row.answer is not None:
        numbers["words"] = float(len(row.answer.split()))
    if row.human is not None:
        numbers["correct:people"] = row.human
    else:
        numbers["left:people"] = float(LEFT_OUT.index("without a person's verdict"))
    numbers |= {VOTE_COUNT: float(len(row.votes)), **votes_of(row)}
    for name, grade in grades.items():
        numbers[f"correct:{name}"] = grade.correct
        numbers[f"value:{name}"] = grade.value
        if math.isnan(grade.correct):
            numbers[f"left:{name}"] = float(why_left_out(row, name, grade))
    return numbers


class RowTexts:
    """The n-grams of the rows of a leaderboard, which the text-only baseline learns from."""

    def __init__(self) -> None:
        self._rows: list[Ids] = []
        self._many = False

    def add(self, row: AnswerRow) -> None:
        """Read a row; of more than :data:`PAIRED` none is kept."""
        if self._many or len(self._rows) >= PAIRED:
            self._many, self._rows = True, []
        else:
            self._rows.append(ngrams(row.question, row.answer or ""))

    def put_into(self, table: FloatColumns, decides: str, seed: int) -> str:
        """Give a table the baseline, ranked within folds; return why there is none, or nothing."""
        table.put(TEXT_ONLY, np.full(table.rows, np.nan))
        if self._many:
            return f"not learned from more than {PAIRED:,} rows"
        wrong = 1 - table.column(f"correct:{decides}")
        found = text_only(self._rows, wrong, table.column(QUESTION_NUMBER), seed=seed)
        if isinstance(found, str):
            return found
        table.put(TEXT_ONLY, fold_ranks(found.value, found.fold))
        return ""


# ---- numbers

Floats = NDArray[np.float64]
#: resamples x rows of one interval: fewer resamples on long files, never below the least
WORK, MOST, LEAST = 4_000_000, 2000, 200
#: resamples of the metrics other than AUROC
OTHERS = 500
#: scores that are audited in full, and the row count up to which pairs are compared.
AUDITED, PAIRED = 3, 20_000
#: scores that are probabilities of being wrong
PROBABILITIES = (
    "p_true", "p_true_few", "p_true_raw", "p_true_sampled", "verbalized", "verbalized_two_step",
    "verbalized_two_step_reasoned", "verbalized_top_k", "judge_panel",
)  # fmt: skip


def resamples_for(rows: int) -> int:
    """Return how many resamples an interval over so many rows takes."""
    return max(LEAST, min(MOST, WORK // max(rows, 1)))


def leaderboard_of(
    columns: FloatColumns,
    methods: Sequence[str],
    graders: Sequence[str],
    against: str,
    people: bool,
    seed: int = 0,
    unread: Sequence[str] = (),
) -> Board:
    """Return the leaderboard and the audit of a table of scores and verdicts.

    ``columns`` holds each method, ``correct:<grader>``, ``value:<grader>`` where it has one,
    ``words``, ``correct:people``, and ``probability:<method>`` where ranks stand for a method.
    ``against`` is the grader that decides where no person did. Answers to one question are right
    or wrong together, so that questions are resampled, not answers.
    """
    decides = "people" if people else against
    truth = "people" if people else "rules" if "rules" in graders else against
    right = columns.column(f"correct:{decides}")
    words = columns.column("words")
    judged = ~np.isnan(right)
    n = resamples_for(int(judged.sum()))
    wrong = np.where(judged, 1 - right, np.nan)
    unit = _questions(columns, judged)
    data = _Data(columns, wrong, words, unit, n, seed)
    entries = []
    for name in dict.fromkeys([LENGTH, *methods]):
        score = words if name == LENGTH else columns.column(name)
        if (~np.isnan(score) & judged).any():
            chance = columns.column(p) if (p := f"probability:{name}") in columns else None
            entries.append(_entry(name, score, data, chance))
    entries.sort(key=lambda e: -(e.auroc.value if e.auroc.value is not None else -1.0))
    entries = _compared(entries, data)
    held = wrong[~np.isnan(wrong)]
    problem = too_few(int(held.sum()), int((1 - held).sum()))
    return Board(
        against=decides,
        truth=truth,
        rows=columns.rows,
        judged=int(judged.sum()),
        wrong=int(np.nansum(wrong)),
        left_out=int((~judged).sum()),
        left_out_by=_left_out(columns, decides, judged),
        resamples=n,
        entries=tuple(entries),
        audits={} if problem else _audits(entries, data, graders, against, truth),
        judges=tuple(_judge(name, truth, data) for name in graders if name != truth),
        problem=problem,
        best=None if problem else _best(entries, data),
        raters=raters(columns, graders, unit, n, seed),
        questions=None if unit is None else len(np.unique(unit[judged])),
        unread=tuple(unread),
    )


class _Data(NamedTuple):
    """A table of scores and verdicts, and how intervals over it are resampled.

    ``wrong`` and ``words`` (rows,); ``unit`` (rows,) names what is resampled ``n`` times, ``None``
    = rows.
    """

    columns: FloatColumns
    wrong: Floats
    words: Floats
    unit: Floats | None
    n: int
    seed: int


def _questions(columns: FloatColumns, judged: NDArray[np.bool_]) -> Floats | None:
    """Return the question (rows,) of each answer; ``None`` where every answer stands alone.

    So it does where all answers are to one question: their spread is all there is to resample.
    """
    if QUESTION_NUMBER not in columns:
        return None
    unit = columns.column(QUESTION_NUMBER)
    return unit if 1 < len(np.unique(unit[judged])) < int(judged.sum()) else None


def _left_out(columns: FloatColumns, decides: str, judged: NDArray[np.bool_]) -> dict[str, int]:
    """Count the answers without a verdict by what they are, the most first."""
    if f"left:{decides}" not in columns:
        return {}
    why = columns.column(f"left:{decides}")[~judged]
    counted = Counter(LEFT_OUT[int(place)] for place in why[~np.isnan(why)])
    return dict(counted.most_common())


def _best(entries: Sequence[LeaderboardEntry], data: _Data) -> Estimate | None:
    """Return the AUROC of the best score, chosen where it is not measured; ``None`` for one."""
    scores = {e.method: data.columns.column(e.method) for e in entries if _is_candidate(e)}
    if len(scores) < 2 or len(data.wrong) > PAIRED:
        return None
    clusters, n, seed = data.unit, data.n, data.seed
    return metrics.cross_fitted_best(scores, data.wrong, clusters=clusters, n=n, seed=seed)


def _is_candidate(entry: LeaderboardEntry) -> bool:
    """Tell whether a score could be the best: what scores are read against stands outside."""
    return (
        entry.method not in REFERENCES
        and entry.auroc.value is not None
        and entry.auroc.problem != EQUAL
    )


def _entry(name: str, score: Floats, data: _Data, chance: Floats | None = None) -> LeaderboardEntry:
    """Return one row; ``chance`` is the probability where the score is a rank (P(IK))."""
    _, wrong, words, unit, n, seed = data
    use = ~(np.isnan(score) | np.isnan(wrong))
    u, y, x = score[use], wrong[use], words[use]
    clusters = None if unit is None else unit[use]
    ranked, outcome = u, y
    drawn: NDArray[Any] | None = clusters
    if len(u) >= MANY:  # every metric sorts by score, in every part: what is sorted takes no time
        order = np.argsort(u, kind="stable")
        ranked, outcome = u[order], y[order]
        drawn = order if clusters is None else clusters[order]

    worth = metrics.bootstrap_ranking(ranked, outcome, drawn, n, OTHERS, seed, COVERAGE)
    probable = name in PROBABILITIES or chance is not None
    p = u if chance is None else chance[use]
    return LeaderboardEntry(
        method=name,
        n=int(use.sum()),
        missing=int((np.isnan(score) & ~np.isnan(wrong)).sum()),
        **worth._asdict(),
        auprc=_finite(metrics.auprc(ranked, outcome)),
        length=_finite(metrics.spearman(u, x)),
        fixed=_finite(metrics.strata_auroc(u, y, x)),
        ece=_finite(metrics.ece(1 - p, 1 - y)) if probable else None,
        ece_debiased=_finite(metrics.ece_debiased(1 - p, 1 - y)) if probable else None,
        brier=_finite(metrics.brier(1 - p, 1 - y)) if probable else None,
    )


def _finite(value: Any) -> float | None:
    return None if value is None or not math.isfinite(float(value)) else float(value)


def _compared(entries: list[LeaderboardEntry], data: _Data) -> list[LeaderboardEntry]:
    """Compare each score with plain length on the same rows, corrected over the table (Holm)."""
    columns, wrong, words, unit, n, seed = data
    names = [e.method for e in entries if e.method != LENGTH and e.auroc.value is not None]
    if not names or len(wrong) > PAIRED:
        return entries
    scores = {name: columns.column(name) for name in names} | {LENGTH: words}
    differences = metrics.paired_differences(
        scores, wrong, pairs=[(name, LENGTH) for name in names], clusters=unit, n=n, seed=seed
    )
    by_name = {difference.first: difference for difference in differences}
    return [msgspec.structs.replace(e, versus_length=by_name.get(e.method)) for e in entries]


def _audits(
    entries: Sequence[LeaderboardEntry],
    data: _Data,
    graders: Sequence[str],
    against: str,
    truth: str,
) -> dict[str, dict[str, LengthAudit]]:
    """Audit the best scores in full, against the chosen metric and ROUGE-L where it is."""
    columns = data.columns
    named = [e.method for e in entries if _is_candidate(e)]
    audited = dict.fromkeys([*named[:AUDITED], *("sequence_probability",)])
    chosen = [g for g in dict.fromkeys([against, "rouge_l"]) if g in graders]
    best = 1 - columns.column(f"correct:{truth}")
    audits: dict[str, dict[str, LengthAudit]] = {}
    for method in audited:
        if method not in named:
            continue
        score = columns.column(method)
        for grader in chosen or [truth]:
            metric = 1 - columns.column(f"correct:{grader}")
            better = best if grader != truth else None
            both = metric if better is None else metric + better
            if not (~np.isnan(score) & ~np.isnan(both)).any():
                continue
            audits.setdefault(method, {})[grader] = metrics.length_audit(
                score, metric, data.words, better, clusters=data.unit, n=data.n, seed=data.seed
            )
    return audits


def _judge(name: str, truth: str, data: _Data) -> JudgeAudit:
    """Compare one answer metric with the truth: what it refuses, by length."""
    columns, _, words, unit, n, seed = data
    given, best = columns.column(f"correct:{name}"), columns.column(f"correct:{truth}")
    both = ~(np.isnan(given) | np.isnan(best))
    right = both & (best > 0)
    refused = np.where(right, 1 - given, np.nan)[right]
    p = float(best[both].mean()) if both.any() else None
    q = float(1 - refused.mean()) if len(refused) else None
    closed = metrics.length_inflation(p, q) if p is not None and q is not None else {}
    return JudgeAudit(
        name=name,
        n=int(both.sum()),
        agreement=float((given[both] == best[both]).mean()) if both.any() else None,
        false_negatives=metrics.false_negatives(
            refused, words[right], clusters=None if unit is None else unit[right], n=n, seed=seed
        ),
        p=p,
        q=q,
        inflation=closed.get("auroc_rouge_of_length"),
    )


# ---- agreement of people and answer metrics

#: people of one row whose votes are kept apart; a list of votes has a place for each of them
MOST_PEOPLE = 10
VOTE_COUNT = "vote:count"
VOTES = tuple(f"vote:{person}" for person in range(1, MOST_PEOPLE + 1))
#: resamples of an interval
RATER_RESAMPLES = 500
#: those who have a majority without one of them
LEAST_RATERS = 3


def votes_of(row: AnswerRow) -> dict[str, float]:
    """Return the votes of a row by person; a vote that could not be read is NaN."""
    return dict(zip(VOTES, row.votes, strict=False))


def raters(
    columns: FloatColumns,
    graders: Sequence[str],
    unit: NDArray[np.float64] | None,
    n: int,
    seed: int = 0,
) -> Raters | None:
    """Return the agreement of all who gave verdicts; ``None`` where fewer than two did.

    Several people stand one by one, and three or more of them are the panel that the others are
    compared with; else everybody is. ``unit`` (rows,) names what is resampled, ``None`` = rows.
    """
    voters = {
        name.replace("vote:", "person "): columns.column(name) for name in VOTES if name in columns
    }
    voters = {name: votes for name, votes in voters.items() if not np.isnan(votes).all()}
    people = {"people": columns.column("correct:people")}
    by_metric = {name: columns.column(f"correct:{name}") for name in graders}
    verdicts = {**(voters if len(voters) > 1 else people), **by_metric}
    verdicts = {name: votes for name, votes in verdicts.items() if not np.isnan(votes).all()}
    if len(verdicts) < 2:
        return None
    times = min(n, RATER_RESAMPLES)
    most = columns.column(VOTE_COUNT).max() if VOTE_COUNT in columns else 0
    panel = tuple(voters) if len(voters) >= LEAST_RATERS else tuple(verdicts)
    return Raters(
        pairs=agreement_matrix(verdicts, unit, n=times, seed=seed),
        panel=panel,
        others=against_others(verdicts, panel, unit, n=times, seed=seed)
        if len(panel) >= LEAST_RATERS
        else {},
        more=max(0, int(most) - MOST_PEOPLE),
    )


# ---- terminal

#: rows of the table unless all are wanted
SHOWN = 15
#: audits that are printed unless all are wanted
MOST_SENTENCES = 3
#: answers below which graders are not compared in tables
LEAST_COMPARED = 20
#: scores that are in every table: plain length, and those that a reader looks for first.
ALWAYS = (*REFERENCES, "sequence_probability", "perplexity", "semantic_entropy", "p_true")


def render_board(
    result: Board, console: Console | None = None, shown: int = SHOWN, *, verbose: bool = False
) -> None:
    """Print the leaderboard, the row of plain length always, and the length audit.

    Holds for any board, also one without a single AUROC. ``console`` is standard output where none
    is given; ``verbose`` prints the audits in which length changes nothing too.
    """
    console = console or Console()
    console.print()
    _say(console, board_sentence(result), "bold")
    _say(console, board_headline(result), "")
    if result.problem is not None:
        _say(console, f"! {result.problem}", "yellow")
    if result.entries and result.problem is None:
        console.print(board_table(result, shown))
        hidden = len(result.entries) - len(_chosen(result, shown))
        if hidden:
            _say(console, f"{plural(hidden, 'more row')} with --json", "dim")
        _say(console, board_explained(result), "dim")
        if result.no_text_only:
            _say(
                console,
                f"the baseline of the words alone is missing: {line(result.no_text_only, 200)}",
                "dim",
            )
        if result.best is not None and result.best.value is not None:
            many = sum(_is_candidate(entry) for entry in result.entries)
            which = f"The best of {many} scores, chosen on other answers"
            _say(console, f"{which}: AUROC {_number(result.best)}", "")
    for text in board_warnings(result):
        _say(console, f"! {text}", "yellow")
    for text in (*calibration_sentences(result), *audit_sentences(result, verbose=verbose)):
        _say(console, text, "")
    if result.problem is None:
        _render_graders(result, console)
    _say(console, f"What this does not show: {NOT_SHOWN}", "dim")


def calibration_sentences(result: Board) -> list[str]:
    """Return how well the scores that are probabilities hold, in one sentence; or none."""
    probable = [e for e in result.entries if e.ece is not None and e.n >= FEWEST]
    if not probable:
        return []
    parts = [
        f"{line(NAMES.get(e.method, e.method), 40)} {_plain(e.ece)} (debiased "
        f"{_plain(e.ece_debiased)})"
        for e in probable
    ]
    return [
        f"Calibration error (ECE) of scores that are probabilities: {', '.join(parts)}. With few "
        "answers chance raises the plain value; the debiased value has that taken off."
    ]


def audit_sentences(result: Board, *, verbose: bool = False) -> list[str]:
    """Return what the audits found, the best scores first; ``verbose``: all that they say.

    An audit without a better truth repeats the table, and one in which metric and truth give one
    AUROC found nothing.
    """
    named = [
        (m, line(grader, 40), a) for m, by in result.audits.items() for grader, a in by.items()
    ]
    groups: dict[tuple[str, bytes], list[tuple[str, LengthAudit]]] = {}
    for method, grader, audit in named:
        if verbose or audit.differs:  # metrics with the same verdicts say it once
            groups.setdefault((method, audit.verdicts), []).append((grader, audit))
    shown = [*groups.items()][: None if verbose else MOST_SENTENCES]
    texts = [
        f"{method} against {', '.join(grader for grader, _ in some)}: {some[0][1].sentence()}"
        for (method, _), some in shown
    ]
    more = len(groups) - len(shown)
    return texts if more <= 0 else [*texts, f"{plural(more, 'more audit')} with --verbose"]


def _render_graders(result: Board, console: Console) -> None:
    """Print how graders compare, or in a sentence why there is no table of it."""
    agreement = result.raters if result.raters is not None and result.raters.pairs else None
    if agreement is None and not result.judges:
        return
    console.print()
    if result.judged < LEAST_COMPARED:
        _say(
            console,
            f"{plural(result.judged, 'answer')} are too few to compare answer metrics (at least "
            f"{LEAST_COMPARED})",
            "dim",
        )
        return
    _render_refused(result, console)
    if agreement is None:
        return
    same = {pair.same.value for pair in agreement.pairs}
    if same == {1.0}:
        graders = {name for p in agreement.pairs for name in (p.first, p.second)}
        _say(console, f"All {len(graders)} graders give every answer the same verdict.", "")
        return
    _say(console, "Agreement: share of answers with the same verdict, %", "bold")
    console.print(_raters(agreement))
    _say(console, _others(agreement), "dim")


def _render_refused(result: Board, console: Console) -> None:
    """Print what each metric refuses by length, where there are right answers enough to say it."""
    judges = [judge for judge in result.judges if round((judge.p or 0) * judge.n) >= FEWEST]
    if not judges:
        return
    if all(judge.q == 1.0 for judge in judges):
        _say(console, f"No metric rejects a right answer (truth: {line(result.truth, 40)}).", "")
        return
    _say(
        console,
        f"Right answers that a metric rejects, by length (truth: {line(result.truth, 40)})",
        "bold",
    )
    console.print(_judges(judges))
    _say(console, REFUSED, "dim")
    console.print()


WORDS_ALONE = (
    " the words alone: a baseline of n-grams of question and answer, trained on other questions."
)
EXPLAINED = (
    "AUROC: how often a wrong answer scores higher than a right one (.5 = chance), with the number "
    "of pairs. fixed: AUROC among answers of similar length. length: rank correlation with the "
    "number of words. PRR: 1 = oracle, 0 = chance. acc: accuracy when the most certain {coverage} "
    "are answered. *: the AUROC differs from that of length on the same rows (p < .05, Holm over "
    "the table). 95 % intervals, {n:,} resamples"
)
REFUSED = (
    "q: share of right answers that the metric accepts; Q1-Q5: share that it rejects, from the "
    "shortest fifth of the right answers to the longest; slope: rise per fifth; expects: the AUROC "
    "that length alone would get against the metric if length were unrelated to correctness."
)


#: graders that are columns of the matrix; of more the last column alone is printed
MOST_RATERS = 10


def board_explained(result: Board) -> str:
    """Return how to read the table."""
    text = EXPLAINED.format(coverage=f"{COVERAGE:.0%}", n=result.resamples)
    if any(entry.method == TEXT_ONLY for entry in result.entries):
        text = text.replace(" 95 % intervals", f"{WORDS_ALONE} 95 % intervals")
    if (result.questions or result.judged) >= MANY:
        drawn = f"{result.resamples:,} resamples"
        text = text.replace(
            drawn, f"from {GROUPS} random groups where a score has {MANY:,} questions, else {drawn}"
        )
    if result.questions is None:
        return f"{text}."
    return f"{text} of {result.questions:,} questions, each with all its answers."


#: ends "What this does not show:"
NOT_SHOWN = (
    "how a score does on other questions. The errors here are those that this judge, or these "
    "people, find."
)


def board_sentence(board: Board) -> str:
    """Say in one sentence how many answers are wrong, and whether a score can point to them."""
    ranked = [e for e in board.entries if e.method not in REFERENCES and e.auroc.value is not None]
    best = board.best
    if best is None or best.value is None:
        best = ranked[0].auroc if ranked else Estimate("auroc")
    names = [board_score_label(entry.method) for entry in ranked]
    judged = f"the {board.judged:,} judged answers"
    return errors_sentence(board.wrong, board.judged, judged, names, best)


def board_score_label(name: str) -> str:
    """Return what a score is called in sentences."""
    return NAMES.get(name, line(name.replace("_", " "), 60))


def board_headline(result: Board) -> str:
    """Return what was compared with what."""
    whose = "people" if result.against == "people" else line(result.against, 60)
    text = f"{result.judged:,} of {result.rows:,} answers judged by {whose}: {result.wrong:,} wrong"
    if result.left_out_by:
        by = ", ".join(f"{count:,} {what}" for what, count in result.left_out_by.items())
        return f"{text}; left out: {by}"
    if result.left_out:
        text += f"; {result.left_out:,} without a verdict are left out"
    return text


def board_warnings(result: Board) -> list[str]:
    """Return what a reader must know before quoting a row."""
    texts = [*result.unread]
    if result.raters is not None and result.raters.more:
        texts.append(
            f"up to {MOST_PEOPLE + result.raters.more} people judged each row: the first "
            f"{MOST_PEOPLE} are compared one by one, and all count in 'people'"
        )
    rare, kind = min((result.wrong, "wrong"), (result.judged - result.wrong, "right"))
    if FEWEST <= rare < FEW:
        texts.append(
            f"only {plural(rare, f'{kind} answer')}: with so few, the ranking of scores may "
            "change with more answers"
        )
    rows = {entry.method: entry for entry in result.entries}
    length = None if result.problem else rows.get(LENGTH)
    if length is not None and not _covers(length.auroc, 0.5):
        texts.append(
            f"plain length alone has AUROC {_number(length.auroc)}, which inflates any score that "
            "grows with length: read the column 'fixed'"
        )
    if result.rows > PAIRED:
        texts.append(
            f"with more than {PAIRED:,} rows, scores are not compared with plain length: no *"
        )
    partial = [e.method for e in result.entries if e.missing]
    if partial:
        most = max(result.entries, key=lambda e: e.missing)
        scores = "1 score misses" if len(partial) == 1 else f"{len(partial)} scores miss"
        texts.append(
            f"{scores} on some rows (most: {line(most.method, 40)} on {most.missing:,}), so its "
            "number is based on other rows than the rest"
        )
    return texts


#: what rows of the printed table are called that are no scores
NAMES = {LENGTH: "plain length (words)", TEXT_ONLY: "the words alone"}


def _chosen(result: Board, shown: int) -> list[LeaderboardEntry]:
    """The best scores, and wherever they stand plain length and the scores everybody knows."""
    return [e for n, e in enumerate(result.entries) if n < shown or e.method in ALWAYS]


def _covers(estimate: Estimate, value: float) -> bool:
    """Whether an interval holds a value; one that is not known does."""
    if estimate.low is None or estimate.high is None:
        return True
    return estimate.low <= value <= estimate.high


def board_table(result: Board, shown: int) -> Table:
    """Return the leaderboard: the best scores, and always plain length and the words alone."""
    table = empty_table(*HEADS)
    for entry in _chosen(result, shown):
        style = "italic" if entry.method in REFERENCES else ""
        name, *cells = _cells(entry)
        table.add_row(Text(line(name, 27), style), *cells)
    return table


def _cells(entry: LeaderboardEntry) -> tuple[str, ...]:
    """Return a row of the leaderboard; ``*`` marks an AUROC that differs from that of length."""
    p = entry.versus_length.p_holm if entry.versus_length is not None else None
    return (
        NAMES.get(entry.method, entry.method),
        _number(entry.auroc) + ("*" if p is not None and p < 0.05 else " "),
        _count(entry.auroc.denominator or 0),
        _plain(entry.fixed),
        _plain(entry.length, signed=True),
        _point(entry.prr),
        _point(entry.accuracy),
    )


def _more_numbers(entry: LeaderboardEntry) -> dict[str, object]:
    """Return the numbers of a score that its row of the leaderboard does not have."""
    estimates = {"prr": entry.prr, "aurac": entry.aurac, "accuracy": entry.accuracy}
    versus = entry.versus_length
    return {
        "aurac": entry.aurac.value,
        "auprc": entry.auprc,
        **{f"{name}_low": e.low for name, e in estimates.items()},
        **{f"{name}_high": e.high for name, e in estimates.items()},
        "versus_length": versus.difference.value if versus is not None else None,
        "versus_length_p": versus.p_holm if versus is not None else None,
        "ece": entry.ece,
        "ece_debiased": entry.ece_debiased,
        "brier": entry.brier,
    }


def _count(pairs: float) -> str:
    return f"{pairs:,.0f}" if pairs < 1e6 else f"{pairs / 1e6:,.0f}M"


def empty_table(first: str, *columns: str) -> Table:
    """Return a table with the names of rows on the left and numbers on the right."""
    table = FoldedTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=0)
    table.add_column(first, no_wrap=True)
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _judges(judges: Sequence[JudgeAudit]) -> Table:
    table = empty_table("metric", "agrees", "q", "Q1", "Q2", "Q3", "Q4", "Q5", "slope", "expects")
    for judge in judges:
        refused = judge.false_negatives
        table.add_row(
            Text(line(judge.name, 32)),
            _plain(judge.agreement),
            _plain(judge.q),
            *(_point(part) for part in refused.bins),
            _number(refused.slope, signed=True),
            _plain(judge.inflation),
        )
    return table


def _raters(agreement: Raters) -> Table:
    """Every two graders, and how often each says what the majority of the others says."""
    names = list(dict.fromkeys(name for p in agreement.pairs for name in (p.first, p.second)))
    same = {(p.first, p.second): p.same for p in agreement.pairs}
    columns = names if len(names) <= MOST_RATERS else []
    heads = [str(place) for place, _ in enumerate(columns, 1)]
    table = empty_table("", *heads, "most others")
    for place, name in enumerate(names, 1):
        cells = [
            "" if name == other else _share(same.get((name, other)) or same[other, name])
            for other in columns
        ]
        others = agreement.others.get(name)
        last = "-" if others is None else _share(others)
        if others is not None and others.low is not None and others.high is not None:
            last += f" [{100 * others.low:.0f}, {100 * others.high:.0f}]"
        table.add_row(Text(f"{place} {line(name, 22)}"), *(f" {cell}" for cell in cells), last)
    return table


def _share(estimate: Estimate) -> str:
    return "-" if estimate.value is None else f"{100 * estimate.value:.0f}"


def _others(agreement: Raters) -> str:
    if not agreement.others:
        return "most others needs verdicts by three graders."
    whose = "people" if all(name.startswith("person ") for name in agreement.panel) else "graders"
    text = (
        f"most others: how often it agrees with the majority of the {len(agreement.panel)} "
        f"{whose}, itself left out (for a metric, each person is left out in turn); ties are left "
        "out."
    )
    if whose == "graders":
        text += (
            " Word-overlap metrics make the same mistakes, so their majority is not ground truth."
        )
    return text


def _number(estimate: Estimate, signed: bool = False) -> str:
    if estimate.value is None:
        return "-"
    value = _short(estimate.value, 3, signed)
    if estimate.low is None or estimate.high is None:
        return value
    return f"{value} [{_short(estimate.low, 3, signed)}, {_short(estimate.high, 3, signed)}]"


def _point(estimate: Estimate) -> str:
    return _plain(estimate.value)


def _plain(value: float | None, signed: bool = False) -> str:
    return "-" if value is None else _short(value, 2, signed)


def _short(value: float, digits: int, signed: bool) -> str:
    """A fraction without its leading zero."""
    text = f"{value:{'+' if signed else ''}.{digits}f}"
    return text.replace("0.", ".", 1) if text.lstrip("+-")[0] == "0" else text


def render_scores(
    console: Console,
    rows: int,
    values: Mapping[str, int],
    missing: Mapping[str, str],
    *,
    verbose: bool = False,
) -> None:
    """Print which scores there are, on how many rows, and, ``verbose``, why others are not there.

    Otherwise one line says how many are not.
    """
    full = [m for m, n in values.items() if n == rows]
    _say(console, f"{plural(len(values), 'score')} of {plural(rows, 'row')}", "bold")
    if full:
        _say(console, f"on all rows: {', '.join(full)}", "")
    some: dict[int, list[str]] = {}
    for method, n in values.items():
        if n < rows:
            some.setdefault(n, []).append(method)
    for n in sorted(some, reverse=True):
        _say(console, f"on {plural(n, 'row')}: {', '.join(some[n])}", "")
    by: dict[str, list[str]] = {}
    for method, reason in missing.items():
        by.setdefault(reason, []).append(method)
    if by and not verbose:
        most = max(by, key=lambda reason: len(by[reason]))
        others = "" if len(by) == 1 else f" for {len(by[most])} of them"
        _say(
            console,
            f"{plural(len(missing), 'score')} not computed ({line(most, 120)}{others}): --verbose "
            "lists them all",
            "dim",
        )
        return
    for reason, methods in by.items():
        _say(console, f"not computed ({line(reason, 120)}): {', '.join(methods)}", "dim")


def _say(console: Console, text: str, style: str) -> None:
    console.print(Text(line(text), style), soft_wrap=True)
