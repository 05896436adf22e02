"""Labeled answers with their scores, from a run or a file: what a guard is fitted on.

Scores of different kinds are never put into one sequence of limits: answers of several models,
prompts, forms or stages are refused in one line that names them. Answers that state nothing are
left out: they carry no claim that could be wrong. Answers whose verdict is missing count as wrong,
because verdicts may be missing more often for wrong answers.
"""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.datasets.answer_files import open_answer_file
from sayso.datasets.answer_rows import AnswerRow, person_verdict
from sayso.datasets.columns import check_column_map, places_of
from sayso.guard.choices import Selection
from sayso.guard.errors import answer_error, asked_about, states_value
from sayso.guard.guard import GIVEN, equal_blanks
from sayso.harmless import line
from sayso.judges.judge import NO_VALUE
from sayso.judges.rules.judge import SIGNATURE, judge_rules
from sayso.judges.rules.reading import STANCES
from sayso.metrics.arrays import Floats, codes
from sayso.people.corrected import UsedLabels, labels_of_run
from sayso.people.labels import LabelStore
from sayso.protocols import protocol_of
from sayso.protocols.declared import Place
from sayso.protocols.labeled import ReadByPeople, with_folder
from sayso.protocols.pool import cluster_names
from sayso.protocols.protocol import Run
from sayso.protocols.selective.measure import judge_of, ranked_values, signed_form
from sayso.protocols.selective.rows import WORDS, FormRows, load_rows
from sayso.protocols.selective.settings import NO_SCORES, Settings
from sayso.protocols.stored import stored_run
from sayso.records import Estimate, InputError, Verdict, signature_text
from sayso.runs.measure import entities_of, whole_run
from sayso.runs.tools import Toolbox, chosen_nli
from sayso.score_files.grade import Grade, check_recorded_verdict, graders, plural
from sayso.score_files.leaderboard import (
    LENGTH,
    REFERENCES,
    Board,
    RowTexts,
    column_names,
    leaderboard_of,
    numbers_of,
)
from sayso.score_files.score import score_rows
from sayso.score_files.write import PROBLEMS, QUESTION_NUMBER, FloatColumns, number_rows
from sayso.scores import SCORES, choose
from sayso.scores.p_ik import P_IK
from sayso.scores.text_only import TEXT_ONLY
from sayso.storage.cache import default_cache_folder
from sayso.storage.run_folder import RunFolder, has_labels_file

#: labeled rows that are read: the curve of more would not differ
MOST_ROWS = 200_000
#: columns that say of what kind an answer is
KINDS = (
    "model", "provider", "form", "stage", "method", "prompt_method", "temperature", "logprob_kind"
)  # fmt: skip
#: templates of prompts that are told apart; of more each answer seems to have its own
MOST_TEMPLATES, LEAST_RECURRING = 20, 2
#: kinds that a message names
SHOWN = 4
#: why an answer is left out: it states nothing, or nobody was to say whether it is wrong
LEFT_OUT = DECLINED, EMPTY, NOT_DRAWN, NO_GOLD = (
    "declined", "without an answer", "not labeled", "without a gold",
)  # fmt: skip
#: why a verdict is missing, where the judge does not say why
UNREAD = "unread"
NO_LABEL = "without a label; take them out of the file if nobody was to label them"
#: chances of being labeled that differ by less than this factor are equal
EQUAL = 1.0001


class LabeledAnswers(NamedTuple):
    """Rows (n,) with a verdict. ``scores`` by name, NaN without a value; ``wrong`` 1 or 0.

    ``text`` (n,) names the text that a row is a claim of, or the answer itself; ``group`` (n,) what
    is right or wrong together (an entity, a question). ``needs`` and ``meaning`` are for the guard.
    ``entities`` are those of a run that labeled its answers itself.
    """

    scores: dict[str, Floats]
    wrong: Floats
    text: NDArray[np.int64]
    group: NDArray[np.int64]
    of_texts: bool
    needs: dict[str, tuple[str, ...]]
    board: Board
    labeled_by: str
    data: str
    model: str
    signature: str
    meaning: str
    samples: tuple[int, int] | None
    notices: list[str]
    entities: int = 0
    blanks: Literal["kept", "left out"] = "kept"


def labeled_answers(source: Path, chosen: Selection) -> LabeledAnswers:
    """Return the labeled answers of a run folder or a file. Raises InputError."""
    if chosen.score in (P_IK, TEXT_ONLY):
        raise InputError(
            f"--score {chosen.score} is learned from these labels and cannot be computed in a "
            "call: name another score"
        )
    if source.is_dir():
        return _of_run(source, chosen)
    if not source.exists():
        raise InputError(f"{source} does not exist: expected a run folder or a file of answers")
    return _of_file(source, chosen)


def candidates(labeled: LabeledAnswers) -> list[str]:
    """Return the scores that a guard may be fitted on: not what scores are read against."""
    return [
        name
        for name, column in labeled.scores.items()
        if name not in (*REFERENCES, WORDS) and np.isfinite(column).any()
    ]


# ---- a run of selective


def _of_run(path: Path, chosen: Selection) -> LabeledAnswers:
    for name in ("columns", "golds", "where", "texts", "nli"):
        if getattr(chosen, name):
            raise InputError(f"--{name} is for a file of answers, and {path} is a run")
    work, manifest, settings = whole_run(path)
    if not isinstance(settings, Settings) or settings.scores == NO_SCORES:
        purpose = " --for declining" if isinstance(settings, Settings) else ""
        raise InputError(
            f"{path} is a run of {protocol_of(manifest).name}{purpose}, which computes no scores; "
            "`sayso run selective` with the same model and data takes its answers from the cache"
        )
    judge = judge_of(work)
    notices: list[str] = []
    read: Run = stored_run(RunFolder.open(path))
    forms = load_rows(read, settings, judge)
    form: str = chosen.form or next(iter(forms), "short")
    if form not in forms:
        raise InputError(f"{path} has no {form} answers: it has {', '.join(forms) or 'none'}")
    people = _people_of(path, form, chosen, notices)
    if people is not None:
        said = _with_unlabeled(path, people, notices)
        read = with_folder(read, ReadByPeopleAlone(read.folder, said))
        forms |= load_rows(read, settings, judge)
    rows = forms[form]
    if not chosen.form and len(forms) > 1:
        notices.append(
            f"{form} answers only: their scores are of another kind than those of facts in "
            "paragraphs (--form long)"
        )
    withheld = np.zeros(rows.size) if rows.withheld is None else rows.withheld
    wrong = np.where(withheld > 0, np.nan, rows.wrong[judge])
    names = [name for name in rows.scores if name != WORDS and name not in rows.folds]
    if TEXT_ONLY in rows.scores:
        names.append(TEXT_ONLY)
    columns = {name: ranked_values(rows, name) for name in names}
    _check_has(chosen.score, rows, columns)
    asked = codes(np.array([asked for asked, _ in rows.facts], dtype=np.str_))
    board = _board_of_run(rows, columns, wrong, chosen.seed)
    signed = signed_form(work, settings, form, Estimate("guard"))
    return _kept(
        LabeledAnswers(
            {LENGTH: rows.words, **columns},
            wrong,
            asked if form == "long" else np.arange(rows.size),
            rows.entity,
            form == "long",
            {name: SCORES[name].needs for name in names if name in SCORES},
            board,
            work.parts["judge"] if people is None else f"people ({', '.join(people.annotators)})",
            f"{manifest.data}, {form} answers",
            manifest.shown_model,
            signature_text(signed.signature),
            chosen_nli() if settings.nli == "auto" else settings.nli,
            (settings.draws.k, settings.draws.k),
            notices,
            entities_of(read.questions) if people is None else 0,
            "left out",
        ),
        _why_unjudged(rows, people is not None),
    )


def _check_has(score: str, rows: FormRows, columns: Iterable[str]) -> None:
    """Refuse a score that a run lacks, and say why. Raises InputError."""
    if why := rows.reasons.get(score):
        raise InputError(
            f"--score {score}: this run has none ({why}). Where an endpoint's log-probabilities "
            "are not known to be the model's own, fit on a file with token_logprobs that your own "
            f"program logged, or name one of {', '.join(columns)}"
        )


def _why_unjudged(rows: FormRows, by_people: bool) -> NDArray[np.str_]:
    """Return why answers have no verdict, for those that have none."""
    assert rows.withheld is not None
    assert rows.stance is not None
    assert rows.ungraded is not None
    reasons = {
        EMPTY: np.isnan(rows.words) | (rows.stance == "omitted"),
        DECLINED: rows.withheld > 0,
        NO_GOLD: rows.ungraded,
        NOT_DRAWN: by_people & (rows.stance == ""),
    }
    return np.select([*reasons.values()], [*reasons], UNREAD)


def _with_unlabeled(
    path: Path, used: UsedLabels, notices: list[str]
) -> Mapping[str, Mapping[Place, Verdict]]:
    """Return people's verdicts by stage; answers that they skipped or passed over are wrong."""
    verdicts = {stage: dict(said) for stage, said in used.people.verdicts.items()}
    labeled = sum(map(len, verdicts.values()))
    with LabelStore.read(path) as store:
        for label in (*store.labels(), *store.passed_over()):
            by_design = label.stage in verdicts and used.stages[label.stage].drawn
            if label.skipped and label.stage in verdicts and (label.stratum or not by_design):
                verdicts[label.stage].setdefault(
                    (label.item.target, label.item.asked),
                    msgspec.structs.replace(
                        label.verdict, stance="committed", content="incorrect", problem=None
                    ),
                )
    if skipped := sum(map(len, verdicts.values())) - labeled:
        notices.append(
            f"{plural(skipped, 'answer')} that people skipped or passed over count as wrong"
        )
    return verdicts


class ReadByPeopleAlone(ReadByPeople):
    """The folder of a run in which an answer without a label has no verdict, in labeled stages."""

    def as_read(self, stage: str, stored: list[Any]) -> list[Any]:
        """Return people's verdicts where there are any, else the stored ones."""
        said = self._verdicts.get(stage)
        if said is None:
            return stored
        return [
            said.get((one.target, one.asked))
            or Verdict(one.target, one.asked, one.by, problem=NOT_DRAWN)
            for one in stored
        ]


def _people_of(path: Path, form: str, chosen: Selection, notices: list[str]) -> UsedLabels | None:
    """Return people's labels of a form of answers, ``None`` for the judge's verdicts.

    Exact tests take a random sample: labels that were drawn with unequal chances are told in
    ``notices`` and left out. Raises InputError where labels of people are asked for and are none.
    """
    stages = (form, f"{form}-aspects")
    used = labels_of_run(path) if has_labels_file(path) else None
    mine = [] if used is None else [stage for stage in stages if stage in used.stages]
    if used is None or not mine or chosen.labeled_by == "judge":
        if chosen.labeled_by == "people":
            raise InputError(
                f"--labeled-by people: nobody labeled {form} answers of {path} yet: sayso label "
                f"{path}, or leave the flag out for the judge's verdicts"
            )
        return None
    if unlike := next(filter(None, (used.stages[stage].unlike for stage in mine)), ""):
        raise InputError(
            f"{path}: {unlike}. Until then a guard is of the judge's verdicts: --labeled-by judge"
        )
    chances = [chance for stage in mine for chance in used.people.chances[stage].values()]
    known = all(used.people.strata[stage] is not None for stage in mine)
    drawn = known and all(used.stages[stage].drawn for stage in mine)
    if drawn and max(chances) <= EQUAL * min(chances):
        if undrawn := sum(used.stages[stage].undrawn for stage in mine):
            notices.append(f"{plural(undrawn, 'label')} that no design drew left out")
        return used.of(mine)
    why = f"{path}: people's labels were not drawn at random alone (sayso label --design random)"
    if chosen.labeled_by == "people":
        raise InputError(f"--labeled-by people: {why}: a guard cannot rest on them")
    notices.append(f"{why}, so the guard is of the judge's verdicts")
    return None


def _board_of_run(rows: FormRows, columns: Mapping[str, Floats], wrong: Floats, seed: int) -> Board:
    """Return the table of scores that ``sayso score`` prints, of the facts of a run."""
    table = {
        **columns,
        "words": rows.words,
        QUESTION_NUMBER: rows.entity.astype(np.float64),
        f"correct:{rows.judge}": 1 - wrong,
        "correct:people": np.full(rows.size, np.nan),
    }
    with FloatColumns([]) as held:
        held.add(np.zeros((rows.size, 0)))
        for name, column in table.items():
            held.put(name, column)
        board = leaderboard_of(held, [*columns], [], rows.judge, seed)
    return msgspec.structs.replace(board, no_text_only=rows.reasons.get(TEXT_ONLY, ""))


# ---- a file


def _of_file(path: Path, chosen: Selection) -> LabeledAnswers:
    if chosen.form:
        raise InputError("--form is for a run; of a file take --where form=short")
    if chosen.labeled_by:
        raise InputError(
            "--labeled-by is for a run; in a file people's verdicts in 'human' count where there "
            "are any"
        )
    metric, where = chosen.gold_metric, _pairs(chosen.where)
    named = check_column_map(chosen.columns)
    with contextlib.ExitStack() as stack:
        folder = chosen.cache or default_cache_folder()
        judges = {metric: graders(metric, folder, stack)[metric]}
        known = [name for name in (chosen.score, chosen.texts, *where) if name]
        verdicts = [metric.removeprefix("file:")] if metric.startswith("file:") else []
        opened = open_answer_file(path, named, golds=chosen.golds, known=[*known, *verdicts])
        rows = _read_rows(opened.rows, where, metric, path)
        tools = Toolbox(nli=chosen.nli, cache=folder)
        stack.enter_context(contextlib.closing(tools))
        values, needs, stored = _values(rows, chosen, tools)
        for name, column in values.items():
            column[[equal_blanks(row.samples, needs[name]) > 0 for row in rows]] = np.nan
        people = any(row.human is not None for row in rows)
        if people:
            # NaN where the answer declines, as there is nothing to guard
            said = [_said_right(row, row.human) for row in rows]
            why = [_unlabeled(row, named) for row in rows]
        else:
            graded = judges[metric](rows)
            said = _by_metric(rows, graded, metric)
            why = [_ungraded(*pair, metric) for pair in zip(rows, graded, strict=True)]
        correct = np.array(said, dtype=np.float64)
        decides = "people" if people else metric
        table = stack.enter_context(FloatColumns(column_names([*values], judges)))
        board = _board_of_file(table, rows, values, correct, decides, chosen.seed)
        columns = {**values, TEXT_ONLY: table.column(TEXT_ONLY)}
    words = [math.nan if row.answer is None else len(row.answer.split()) for row in rows]
    counts = [len(row.samples) for row in rows]
    meaning = "" if stored else tools.nli
    asked = [asked_about(row) for row in rows]
    clusters = cluster_names({q.id: q for q in asked}.values())
    return _kept(
        LabeledAnswers(
            {LENGTH: np.array(words, dtype=np.float64), **columns},
            1 - correct,
            _texts(path, rows, chosen.texts),
            codes(np.array([clusters[q.id] for q in asked], dtype=np.str_)),
            bool(chosen.texts),
            needs,
            board,
            "people" if people else SIGNATURE if metric == "rules" else metric,
            f"{path.name}{_said(where)}",
            next((row.model for row in rows if row.model), ""),
            f"labels:{decides}|{tools.signature}".rstrip("|"),
            meaning,
            (min(counts), max(counts)) if max(counts) else None,
            [*opened.notices, *tools.notices],
        ),
        why,
    )


def _read_rows(
    found: Iterable[AnswerRow], where: Mapping[str, str], metric: str, path: Path
) -> list[AnswerRow]:
    """Return the rows of a file that are chosen. Raises InputError where they cannot be used."""
    rows = list(islice(_where(found, where, path), MOST_ROWS + 1))
    if not rows:
        raise InputError(f"{path}: no row is an answer{_said(where)}; check the file and --where")
    if len(rows) > MOST_ROWS:
        raise InputError(
            f"{path} has more than {MOST_ROWS:,} rows: a guard needs fewer labels, so draw some at "
            "random"
        )
    _check_kinds(path, rows)
    check_recorded_verdict(metric, rows)
    return rows


def _board_of_file(
    table: FloatColumns,
    rows: Sequence[AnswerRow],
    values: Mapping[str, Floats],
    correct: Floats,
    decides: str,
    seed: int,
) -> Board:
    """Return the table that ``sayso score`` prints; ``table`` gains the words alone."""
    names = [*values]
    numbers = [
        numbers_of(row, {name: values[name][n] for name in names}, {}, names)
        for n, row in enumerate(rows)
    ]
    table.add(number_rows(table.names, numbers))
    table.put(f"correct:{decides}", correct)
    return leaderboard_of(table, names, [], decides, seed, texts=RowTexts(rows))


def _pairs(where: str | Mapping[str, str]) -> Mapping[str, str]:
    """Return NAME=VALUE,NAME=VALUE as a mapping. Raises InputError."""
    if not isinstance(where, str):
        return where
    pairs: dict[str, str] = {}
    for part in filter(None, map(str.strip, where.split(","))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not name or not equals:
            raise InputError(f"--where {part!r}: expected NAME=VALUE")
        if name in pairs:
            raise InputError(f"--where names {name} twice")
        pairs[name] = value
    return pairs


def _said(where: Mapping[str, str]) -> str:
    return "".join(f", {name}={value}" for name, value in where.items())


def _where(rows: Iterable[AnswerRow], where: Mapping[str, str], path: Path) -> Iterator[AnswerRow]:
    """Yield the rows whose columns have these values."""
    seen: dict[str, Counter[str]] = {name: Counter() for name in where}
    for row in rows:
        held = {name: str(row.own.get(name)) for name in where}
        for name, value in held.items():
            if len(seen[name]) < MOST_TEMPLATES:
                seen[name][value] += 1
        if held == dict(where):
            yield row
    for name, value in where.items():
        if {*seen[name]} == {"None"}:
            raise InputError(f"{path}: --where {name}={value}: no row has a column {name!r}")
        if seen[name] and value not in seen[name] and len(seen[name]) < MOST_TEMPLATES:
            raise InputError(f"{path}: --where {name}={value}: its column has {_some(seen[name])}")


def _some(counts: Mapping[str, int]) -> str:
    names = [line(str(name), 40) for name in counts]
    return ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if names[SHOWN:] else "")


def _check_kinds(path: Path, rows: Sequence[AnswerRow]) -> None:
    """Refuse answers of different kinds, whose scores cannot share a limit. Raises InputError."""
    for name in KINDS:
        held = (row.model if name == "model" else row.own.get(name) for row in rows)
        values = Counter(str(one) for one in held if one not in (None, "") and one == one)
        if len(values) > 1:
            first = next(iter(values))
            raise InputError(
                f"{path}: answers of different kinds: column {name} has {_some(values)}; a limit "
                f"holds for one of them: --where {name}={line(first, 40)}"
            )
    templates = Counter(
        row.prompt.replace(row.question, "…").strip()
        for row in rows
        if row.prompt is not None and row.question
    )
    if 1 < len(templates) <= MOST_TEMPLATES and min(templates.values()) >= LEAST_RECURRING:
        raise InputError(
            f"{path}: answers to {len(templates)} different prompts ({_some(templates)}); a limit "
            "holds for one of them: select with --where COLUMN=VALUE"
        )


def _values(
    rows: Sequence[AnswerRow], chosen: Selection, tools: Toolbox
) -> tuple[dict[str, Floats], dict[str, tuple[str, ...]], bool]:
    """Return scores by name, what each needs, and whether the file brought them along."""
    own = chosen.score if chosen.score and chosen.score not in SCORES else ""
    if own:
        column = np.array([_number(row.own.get(own)) for row in rows])
        if np.isnan(column).all():
            choose([own])  # says which scores there are, unless it is a column
            raise InputError(
                f"--score {own}: no row has a number in this column; sayso score FILE --methods "
                f"{own} adds it"
            )
        return {own: column}, {own: (GIVEN,)}, True
    wanted = {
        name: method
        for name, method in choose([chosen.score] if chosen.score else None).items()
        if name != LENGTH  # it is always there
    }
    if PROBLEMS in rows[0].own:
        there = {
            name: np.array([_number(row.own.get(name)) for row in rows])
            for name in wanted
            if any(name in row.own for row in rows)
        }
        columns = {name: c for name, c in there.items() if np.isfinite(c).any()}
        if columns:
            return columns, {name: wanted[name].needs for name in columns}, True
    found = {name: np.full(len(rows), np.nan) for name in wanted}
    reasons: Counter[str] = Counter()
    for place, scored in enumerate(score_rows(rows, wanted, tools)):
        for name, value in scored.values.items():
            found[name][place] = value
        reasons.update([scored.reasons[chosen.score]] if chosen.score in scored.reasons else [])
    columns = {name: column for name, column in found.items() if np.isfinite(column).any()}
    if chosen.score in wanted and chosen.score not in columns:
        raise InputError(
            f"--score {chosen.score}: {reasons.most_common(1)[0][0]}; sayso guard fit asks no "
            "model: compute the score with sayso score and fit on the file that it writes"
        )
    return columns, {name: wanted[name].needs for name in columns}, False


def _number(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
    return number if math.isfinite(number) else math.nan


def _by_metric(rows: Sequence[AnswerRow], graded: Sequence[Grade], metric: str) -> list[float]:
    """Return a metric's verdicts; NaN where the answer declines."""
    return [
        # the rules gave no verdict where they read that the answer declines
        one.correct
        if metric == "rules" and not _is_unanswerable(row)
        else _said_right(row, None if math.isnan(one.correct) else one.correct)
        for row, one in zip(rows, graded, strict=True)
    ]


def _said_right(row: AnswerRow, right: float | None) -> float:
    """Return 1 for a right answer, 0 for a wrong one, NaN where there is nothing to judge."""
    unanswerable = _is_unanswerable(row)
    if right is None and not unanswerable:
        return math.nan
    error = answer_error(_stance(row), right, unanswerable=unanswerable)
    return math.nan if error is None else 1.0 - error


def _is_unanswerable(row: AnswerRow) -> bool:
    return row.answerable is False and not row.gold and row.answer is not None


def _stance(row: AnswerRow) -> str | None:
    """Return the stance of an answer: the row's own, as in a log, else that of the rules."""
    own = row.own.get("stance")
    if own in STANCES or row.answer is None:
        return own if own in STANCES else None
    return judge_rules(row.question, NO_VALUE, row.answer).stance


def _texts(path: Path, rows: Sequence[AnswerRow], column: str) -> NDArray[np.int64]:
    """Return which text each row is a claim of; without a column each row is its own."""
    if not column:
        return np.arange(len(rows))
    missing = sum(row.own.get(column) in (None, "") for row in rows)
    if missing:
        raise InputError(
            f"{path}: --texts {column}: {plural(missing, 'row')} of {len(rows):,} without a value; "
            "expected the column that names the text of each claim"
        )
    return codes(np.array([str(row.own[column]) for row in rows], dtype=np.str_))


# ---- rows with a verdict


def _unlabeled(row: AnswerRow, columns: Mapping[str, str]) -> str:
    """Return why an answer has no verdict of people."""
    if not states_value(_stance(row)):
        return DECLINED
    problems: list[str] = []
    name = places_of(row.own, columns).get("human", "human")
    person_verdict(row.own.get(name), problems, name)
    return problems[0] if problems else NO_LABEL


def _ungraded(row: AnswerRow, grade: Grade, metric: str) -> str:
    """Return why an answer has no verdict of a metric."""
    if not states_value(_stance(row)):
        return DECLINED
    no_gold = not row.gold and not metric.startswith("file:")
    return grade.problem or (NO_GOLD if no_gold else UNREAD)


def _kept(labeled: LabeledAnswers, why: Sequence[str] | NDArray[np.str_]) -> LabeledAnswers:
    """Return the rows that count: those with a verdict, and as wrong those whose is missing.

    ``why`` (n,) is the reason for which a row has none. Raises InputError where no row has one.
    """
    judged, reason = ~np.isnan(labeled.wrong), np.asarray(why)
    if not judged.any():
        raise InputError(
            f"{labeled.data}: no answer is labeled right or wrong; expected golds, or people's "
            "verdicts in a column 'human' (--golds FILE, --columns human=YOURS)"
        )
    left_out = ~judged & np.isin(reason, LEFT_OUT)
    by = Counter(np.where(left_out, reason, "without a verdict")[~judged].tolist())
    notices = list(labeled.notices)
    for rows, what in (
        (left_out, "left out: the promise is about answers that state something"),
        (~judged & ~left_out, "count as wrong"),
    ):
        if rows.any():
            counts = Counter(reason[rows].tolist())
            reasons = [f"{n:,} {line(one, 120)}" for one, n in counts.most_common(SHOWN)]
            if len(counts) > SHOWN:
                reasons.append("others")
            count = plural(counts.total(), "answer")
            notices.append(f"{count} without a verdict ({'; '.join(reasons)}) {what}")
    held = ~left_out
    return labeled._replace(
        scores={name: column[held] for name, column in labeled.scores.items()},
        wrong=np.where(judged, labeled.wrong, 1.0)[held],
        text=codes(labeled.text[held]),
        group=codes(labeled.group[held]),
        board=msgspec.structs.replace(labeled.board, left_out_by=dict(by.most_common())),
        notices=notices,
        samples=labeled.samples if labeled.samples and labeled.samples[1] else None,
    )
