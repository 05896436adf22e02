"""``sayso.leaderboard``: which score of these rows tells wrong answers from right ones?

The leaderboard with intervals, always with the row of plain length, and how far people and answer
metrics agree: :mod:`sayso.score_files.page` shows both. Besides, for ``--json`` and Python, the
length audit against the answer metric and against the best truth there is on the same rows.
"""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso import metrics
from sayso.datasets.answer_rows import AnswerRow, answer_rows
from sayso.harmless import line
from sayso.later import Later
from sayso.metrics.agreement import Pairing, against_others, agreement_matrix
from sayso.metrics.compare_scores import ScoreDifference
from sayso.metrics.intervals import MANY
from sayso.metrics.length_audit import FalseNegatives, LengthAudit
from sayso.metrics.ranking import EQUAL, too_few
from sayso.records import Estimate, InputError
from sayso.report.notebook import Plotted, data_frame, short_repr
from sayso.report.numbers import capital, covers, plain_number, with_interval
from sayso.score_files.grade import (
    LEFT_OUT,
    Grade,
    Unjudged,
    check_recorded_verdict,
    graders,
    why_left_out,
)
from sayso.score_files.write import QUESTION_NUMBER, FloatColumns, number_rows, question_number
from sayso.scores import SCORES
from sayso.scores.p_ik import fold_ranks
from sayso.scores.text_only import TEXT_ONLY, Ids, ngrams, text_only
from sayso.storage.cache import default_cache_folder

if TYPE_CHECKING:
    from sayso.report import charts, figures, number_tables
else:  # charts take time to load
    charts = Later("sayso.report.charts")
    figures = Later("sayso.report.figures")
    number_tables = Later("sayso.report.number_tables")

#: the mandatory row
LENGTH = "length_words"
#: what scores are read against: never the best score
REFERENCES = (LENGTH, TEXT_ONLY)
#: best scores in the first table and in the chart
FEW_SCORES = 8
#: the share of questions answered at which accuracy is printed
COVERAGE = 0.8
#: a difference from plain length is clear below this p
SIGNIFICANT = 0.05


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
    length alone is then expected to score (``inflation``).
    """

    name: str
    n: int
    agreement: float | None
    false_negatives: FalseNegatives
    p: float | None
    q: float | None
    inflation: float | None


class Raters(msgspec.Struct, frozen=True):
    """People and answer metrics as graders of the same answers.

    ``pairs`` every two of them; ``others`` how often each says what the majority of ``panel`` says,
    itself left out of it (:func:`sayso.metrics.against_others`).
    """

    pairs: tuple[Pairing, ...]
    panel: tuple[str, ...]
    others: dict[str, Estimate]


class Board(Plotted, msgspec.Struct, frozen=True):
    """The leaderboard of a file. ``against`` is whose verdict decides, ``truth`` the best truth.

    ``left_out`` counts rows without a verdict, ``left_out_by`` by what they are; ``resamples``
    those of AUROC (the other intervals take at most 500): of ``questions`` where some have several
    answers, else (``None``) of answers. ``best`` is the AUROC of the best score, chosen on other
    questions than it is measured on. ``problem`` says why scores are not ranked, ``raters`` how far
    people and metrics agree, ``unread`` what metrics could not read, ``no_text_only`` why there is
    no text-only baseline. ``audits`` by score and metric, ``judges`` are metrics against the truth.
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
        and what the page shows. All numbers: :meth:`to_pandas`.
        """
        return [_shown_numbers(entry) for entry in self.entries]

    def to_pandas(self) -> Any:
        """Return every number of the leaderboard as a ``pandas.DataFrame``, a row for each score.

        Raises InputError where pandas is not installed.
        """
        frame = data_frame(
            [_shown_numbers(entry) | _further_numbers(entry) for entry in self.entries]
        )
        numbers = [name for name in frame.columns if name not in ("score", "problem")]
        return frame.astype(dict.fromkeys(numbers, "float64"))

    def _figures(self) -> list[figures.Figure]:
        return auroc_figures(self)

    def __repr__(self) -> str:
        told = self.problem or "no scores"
        if ranked := rankable(self):
            best = ranked[0]
            told = f"the best score {line(best.method, 60)}: AUROC {with_interval(best.auroc)}"
        return short_repr("Board", (board_headline(self), told))

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the leaderboard, what was compared, what weakens it."""
        notes = [board_headline(self), *board_warnings(self)]
        shown: str = ranked_table(self, self.entries)._replace(notes=tuple(notes))._repr_html_()
        return shown


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
    where no person did. ``sayso.score_files.page.render_board`` prints it. Raises
    :class:`~sayso.records.InputError` for rows without verdicts or without any of the scores.
    """
    read = list(answer_rows(rows, columns))
    names = [methods] if isinstance(methods, str) else list(methods or ())
    there = {name for row in read for name in row.own}
    absent = [name for name in names if name not in there and name != LENGTH]
    names = names or [name for name in SCORES if name in there]
    if absent or not names:
        what = f"no row has {absent[0]!r}" if absent else "no row has a score of sayso"
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
    with FloatColumns(column_names(names, judges)) as table:
        numbers = []
        for n, row in enumerate(read):
            values = {name: _number_of(row.own.get(name), name, n) for name in names}
            held = {name: value for name, value in values.items() if value is not None}
            numbers.append(numbers_of(row, held, by_row[n], names))
        table.add(number_rows(table.names, numbers))
        decides = "people" if any(row.human is not None for row in read) else gold_metric
        unread, texts = unjudged.sentences(judges), RowTexts(read)
        made = leaderboard_of(table, names, [*judges], decides, seed, unread, texts)
    if not made.judged:
        raise InputError(
            "leaderboard: no row could be judged; expected 'gold' (a true value, or a list) or "
            "'human' (a person's verdict) with the answers"
        )
    return made


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
    graded = [f"{what}:{name}" for name in judges for what in ("correct", "left")]
    kept = [name for name in methods if name != LENGTH]
    people = ("correct:people", "left:people", *VOTES)
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
    numbers |= dict(zip(VOTES, row.votes, strict=False))
    for name, grade in grades.items():
        numbers[f"correct:{name}"] = grade.correct
        if math.isnan(grade.correct):
            numbers[f"left:{name}"] = float(why_left_out(row, name, grade))
    return numbers


class RowTexts:
    """The n-grams of the rows of a leaderboard, which the text-only baseline learns from."""

    def __init__(self, rows: Iterable[AnswerRow] = ()) -> None:
        self._rows: list[Ids] = []
        for row in rows:
            self.add(row)

    def add(self, row: AnswerRow) -> None:
        """Read a row; of more than :data:`PAIRED` no more are kept."""
        if len(self._rows) <= PAIRED:
            self._rows.append(ngrams(row.question, row.answer or ""))

    def put_into(self, table: FloatColumns, decides: str, seed: int) -> str:
        """Give a table the baseline, ranked within folds; return why there is none, or nothing."""
        table.put(TEXT_ONLY, np.full(table.rows, np.nan))
        if len(self._rows) > PAIRED:
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
#: rows up to which scores are compared with each other
PAIRED = 20_000
#: best scores whose length is audited
AUDITED = 3
#: scores that are probabilities of being wrong: what the model, or a judge, says of the answer
SAID = ("ptrue", "said_true", "stated", "judged")
PROBABILITIES = [name for name, score in SCORES.items() if score.needs[0].startswith(SAID)]


def resamples_for(rows: int) -> int:
    """Return how many resamples an interval over so many rows takes."""
    return max(LEAST, min(MOST, WORK // max(rows, 1)))


def leaderboard_of(
    columns: FloatColumns,
    methods: Sequence[str],
    graders: Sequence[str],
    against: str,
    seed: int = 0,
    unread: Sequence[str] = (),
    texts: RowTexts | None = None,
) -> Board:
    """Return the leaderboard and the audits of a table of scores and verdicts.

    ``columns`` holds each method, ``correct:<grader>``, ``words``, ``correct:people``, and
    ``probability:<method>`` where ranks stand for a method. ``against`` is the grader that decides,
    or "people"; the first of ``graders`` is the one that was asked for. The text-only baseline,
    which ``columns`` gains, learns from ``texts``.
    Answers to one question are right or wrong together, so that questions are resampled, not
    answers.
    """
    no_text_only = ""
    if texts is not None:
        no_text_only = texts.put_into(columns, against, seed)
        methods = [*methods, TEXT_ONLY]
    truth = "rules" if against != "people" and "rules" in graders else against
    right = columns.column(f"correct:{against}")
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
        against=against,
        truth=truth,
        rows=columns.rows,
        judged=int(judged.sum()),
        wrong=int(np.nansum(wrong)),
        left_out=int((~judged).sum()),
        left_out_by=_left_out(columns, against, judged),
        resamples=n,
        entries=tuple(entries),
        audits={} if problem else _audits(entries, data, graders, truth),
        judges=tuple(_judge(name, truth, data) for name in graders if name != truth),
        problem=problem,
        best=None if problem else _best(entries, data),
        raters=raters(columns, graders, unit, n, seed),
        questions=None if unit is None else len(np.unique(unit[judged])),
        unread=tuple(unread),
        no_text_only=no_text_only,
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
    scores = {e.method: data.columns.column(e.method) for e in entries if is_candidate(e)}
    if len(scores) < 2 or len(data.wrong) > PAIRED:
        return None
    clusters, n, seed = data.unit, data.n, data.seed
    return metrics.cross_fitted_best(scores, data.wrong, clusters=clusters, n=n, seed=seed)


def is_candidate(entry: LeaderboardEntry) -> bool:
    """Tell whether a score could be the best: what scores are read against stands outside."""
    return (
        entry.method not in REFERENCES
        and entry.auroc.value is not None
        and entry.auroc.problem != EQUAL
    )


def rankable(result: Board) -> list[LeaderboardEntry]:
    """Return the scores that could be the best, the best first."""
    return [entry for entry in result.entries if is_candidate(entry)]


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
    entries: Sequence[LeaderboardEntry], data: _Data, graders: Sequence[str], truth: str
) -> dict[str, dict[str, LengthAudit]]:
    """Audit the best scores against the metric asked for, and ROUGE-L where it is there."""
    columns, _, words, unit, n, seed = data
    named = [e.method for e in entries if is_candidate(e)]
    audited = [m for at, m in enumerate(named) if at < AUDITED or m == "sequence_probability"]
    chosen = [g for g in dict.fromkeys([*graders[:1], "rouge_l"]) if g in graders] or [truth]
    wrong = {grader: 1 - columns.column(f"correct:{grader}") for grader in (truth, *chosen)}
    return {
        method: {
            grader: metrics.length_audit(
                columns.column(method),
                wrong[grader],
                words,
                None if grader == truth else wrong[truth],
                clusters=unit,
                n=n,
                seed=seed,
            )
            for grader in chosen
        }
        for method in audited
    }


def _judge(name: str, truth: str, data: _Data) -> JudgeAudit:
    """Compare one answer metric with the truth: what it refuses, by length."""
    columns, _, words, unit, n, seed = data
    given, best = columns.column(f"correct:{name}"), columns.column(f"correct:{truth}")
    both = ~(np.isnan(given) | np.isnan(best))
    right = both & (best > 0)
    refused = 1 - given[right]
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

#: people of one row whose votes are compared; a list of votes has a place for each of them
MOST_PEOPLE = 10
VOTES = tuple(f"vote:{person}" for person in range(1, MOST_PEOPLE + 1))
#: resamples of an interval
RATER_RESAMPLES = 500
#: those who have a majority without one of them
LEAST_RATERS = 3


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

    def held(names: Mapping[str, str]) -> dict[str, Floats]:
        """Return the verdicts of those who gave any; ``names`` are columns by who they are."""
        found = {who: columns.column(name) for who, name in names.items() if name in columns}
        return {who: votes for who, votes in found.items() if not np.isnan(votes).all()}

    voters = held({name.replace("vote:", "person "): name for name in VOTES})
    people = voters if len(voters) > 1 else held({"people": "correct:people"})
    verdicts = people | held({name: f"correct:{name}" for name in graders})
    if len(verdicts) < 2:
        return None
    times = min(n, RATER_RESAMPLES)
    panel = tuple(voters) if len(voters) >= LEAST_RATERS else tuple(verdicts)
    return Raters(
        pairs=agreement_matrix(verdicts, unit, n=times, seed=seed),
        panel=panel,
        others=against_others(verdicts, panel, unit, n=times, seed=seed)
        if len(panel) >= LEAST_RATERS
        else {},
    )


# ---- in words, and as a table

#: what rows of the leaderboard are called that are no scores
NAMES = {LENGTH: "plain length (words)", TEXT_ONLY: "the words alone"}
#: scores that are in every table: plain length, and those that a reader looks for first
ALWAYS = (*REFERENCES, "sequence_probability", "perplexity", "semantic_entropy", "p_true")
#: what a column of a table says of a score
Columns = Mapping[str, Callable[[LeaderboardEntry], "Estimate | str | None"]]


def board_headline(result: Board) -> str:
    """Return how many answers were judged by whom, and how many are right."""
    return (
        f"{result.judged:,} of {result.rows:,} answers judged by {line(result.against, 60)}: "
        f"{result.judged - result.wrong:,} right, {result.wrong:,} not right"
    )


def board_warnings(result: Board) -> list[str]:
    """Return what a reader must know before quoting a row."""
    texts = [result.problem] if result.problem and result.judged else []
    if result.left_out:
        by = result.left_out_by or {"without a verdict": result.left_out}
        left = ", ".join(f"{count:,} {what}" for what, count in by.items())
        texts.append(f"left out: {left} (of {result.rows:,} answers)")
    length = next((e for e in result.entries if e.method == LENGTH and not result.problem), None)
    if length is not None and length.auroc.low is not None and not covers(length.auroc, 0.5):
        texts.append(
            f"plain length alone has AUROC {with_interval(length.auroc)}, which inflates any score "
            "that grows with length: read the column 'at equal length'"
        )
    if result.rows > PAIRED:
        texts.append(f"with more than {PAIRED:,} rows, scores are not compared with plain length")
    partial = [e.method for e in result.entries if e.missing]
    if partial:
        most = max(result.entries, key=lambda e: e.missing)
        scores = "1 score is" if len(partial) == 1 else f"{len(partial)} scores are"
        texts.append(
            f"{scores} missing on some rows (most: {line(most.method, 40)} on {most.missing:,}), "
            "so not all numbers are of the same rows"
        )
    if result.no_text_only:
        why = line(result.no_text_only, 200)
        texts.append(f"the baseline of the words alone is missing: {why}")
    return [*result.unread, *map(capital, texts)]


def shown_entries(result: Board, shown: int = FEW_SCORES) -> list[LeaderboardEntry]:
    """Return the best scores, and wherever they stand the baselines and the best-known scores."""
    return [e for n, e in enumerate(result.entries) if n < shown or e.method in ALWAYS]


def _than_length(entry: LeaderboardEntry) -> str:
    """Return in a word whether a score is better than plain length; nothing where none is known."""
    versus = entry.versus_length
    if versus is None or versus.p_holm is None:
        return ""
    if versus.p_holm >= SIGNIFICANT:
        return "not clear"
    return "better" if (versus.difference.value or 0) > 0 else "worse"


RANKED: Columns = {
    "AUROC": lambda e: e.auroc,
    "at equal length": lambda e: plain_number(e.fixed),
    "than length": _than_length,
}
MEANINGS = {
    "AUROC": "How often a wrong answer has a higher score than a right one; .5 is chance.",
    "at equal length": "AUROC among answers of similar length.",
    "than length": "Whether the AUROC is clearly another than that of plain length on the same "
    "answers (p < .05, Holm over the table).",
    "PRR": "What withholding by this score gains: 1 = oracle, 0 = chance.",
    "accuracy at 80 %": "If the most certain 80 % are answered.",
    "length": "Rank correlation with the number of words.",
    "pairs": "Of a right and a wrong answer.",
}


def scores_table(
    result: Board, entries: Sequence[LeaderboardEntry], caption: str, columns: Columns
) -> number_tables.NumberTable:
    """Return columns of the leaderboard; no row where nothing can be ranked."""
    unit = f"{result.judged:,} answers"
    if result.questions is not None:
        unit = f"{result.questions:,} questions with all their answers"
    return number_tables.grid(
        caption,
        {} if result.problem else {NAMES.get(e.method, e.method): e for e in entries},
        columns,
        lambda entry, column: column(entry),
        labels=("score",),
        written="plain",
        meanings=MEANINGS,
        notes=[f"95 % intervals over {unit}."],
    )


def ranked_table(result: Board, entries: Sequence[LeaderboardEntry]) -> number_tables.NumberTable:
    """Return the AUROC of scores, beside that of plain length."""
    caption = (
        f"How well each score tells wrong answers from right ones (by {line(result.against, 60)})"
    )
    return scores_table(result, entries, caption, RANKED)


def auroc_chart(result: Board, width: int) -> charts.Drawing | None:
    """Return the AUROC of the scores of the first table with intervals.

    ``None`` where no score can be ranked.
    """
    shown = [] if result.problem else shown_entries(result)
    rows = [charts.chart_row(board_score_label(e.method), "AUROC", e.auroc) for e in shown]
    order = [row["row"] for row in rows]
    return charts.forest_plot(rows, order, width, "AUROC for a wrong answer", [], ["AUROC"], 0.5)


def auroc_figures(result: Board) -> list[figures.Figure]:
    """Return that chart as a figure, or none."""
    figure = figures.figure_of("auroc", partial(auroc_chart, result), "AUROC of scores.")
    return [figure] if figure is not None else []


def board_score_label(name: str) -> str:
    """Return what a score is called in sentences."""
    return NAMES.get(name, line(name.replace("_", " "), 60))


def _shown_numbers(e: LeaderboardEntry) -> dict[str, object]:
    """Return the numbers of a score to read first."""
    return {
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


def _further_numbers(e: LeaderboardEntry) -> dict[str, object]:
    """Return the other numbers of a score."""
    versus = e.versus_length
    ends = {"prr": e.prr, "aurac": e.aurac, "accuracy": e.accuracy}
    return {
        "aurac": e.aurac.value,
        "auprc": e.auprc,
        **{f"{name}_low": one.low for name, one in ends.items()},
        **{f"{name}_high": one.high for name, one in ends.items()},
        "versus_length": versus.difference.value if versus is not None else None,
        "versus_length_p": versus.p_holm if versus is not None else None,
        "ece": e.ece,
        "ece_debiased": e.ece_debiased,
        "brier": e.brier,
    }
