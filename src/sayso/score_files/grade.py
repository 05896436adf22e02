"""Is an answer right? Every answer metric that a gold allows, as 1, 0, or nothing.

Content counts: a hedged answer with the right value is right. An answer that gives no value
(it abstains, asks back, refuses) is neither: it has no verdict, and is counted. One that a judge
could not read, or that is longer than it reads, has a problem instead.
"""

from __future__ import annotations

import logging
import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from sayso.answers import BertGrader
from sayso.answers.blind import BlindGrader
from sayso.answers.lexical import ANSWER_METRICS, rouge_l, rouge_tokens, with_days
from sayso.datasets.answer_rows import AnswerRow, is_empty, recorded
from sayso.datasets.columns import COLUMNS
from sayso.judges.judge import Item
from sayso.judges.model.replies import PROBLEMS
from sayso.judges.rules.judge import LONGEST, judge_rules
from sayso.metrics.length_audit import THRESHOLDS
from sayso.prompts.fence import LONGEST as LONGEST_SHOWN
from sayso.records import (
    Generation,
    Gold,
    InputError,
    Message,
    Question,
    Request,
    Verdict,
    is_blank,
)
from sayso.runs.costs import Meter
from sayso.runs.judge import JudgeOptions, open_judge
from sayso.runs.tools import FurtherModels
from sayso.scores.collect import LEAST, PromptExamples, ShownExample, choose_examples
from sayso.storage.cache import Cache

#: metrics that need nothing but the text
OFFLINE = ("rules", *ANSWER_METRICS)
#: what a column of verdicts holds
VERDICT = "1 or 0, true or false"


class Grade(NamedTuple):
    """What a metric says of one answer: ``correct`` 1, 0 or NaN.

    ``problem`` says why there is no verdict, as a judge's does.
    """

    correct: float
    problem: str | None = None


NONE = Grade(math.nan)
Grader = Callable[[Sequence[AnswerRow]], list[Grade]]


def graders(
    chosen: str, cache: Path, stack: ExitStack, price: str | None = None, meter: Meter | None = None
) -> dict[str, Grader]:
    """Return the chosen metric, then every other offline one.

    ``chosen`` may also be ``bert_score``, ``bert_score:MODEL``, ``llm:MODEL``, ``llm_blind:MODEL``
    (a model that sees golds and answer and says 1 or 0, as Santilli et al. ask), or ``file:NAME``
    (verdicts that came with the file: a column of 1 and 0, or what a log's own metric said). What
    is opened is closed by ``stack``. ``price`` and ``meter`` are for a model that costs money.
    """
    offline: dict[str, Grader] = {"rules": _each(_rules)}
    for name in ANSWER_METRICS:
        offline[name] = _each(_lexical(name))
    if chosen in offline:
        return {chosen: offline[chosen], **offline}
    kind, _, rest = chosen.partition(":")
    if kind == "file" and rest:
        grader: Grader = _each(_recorded(rest))
    elif kind == "bert_score":
        grader = _Bert(rest)
    elif kind == "llm_blind" and rest:
        kept = stack.enter_context(Cache(cache))
        models = FurtherModels(kept, meter, JudgeOptions(judge_price=price))
        stack.callback(models.close)
        asker = models.open(rest)
        stack.callback(_tell_others, asker)
        grader = _blind(BlindGrader(asker))
    elif kind == "llm" and rest:
        kept = stack.enter_context(Cache(cache))
        options = JudgeOptions(judge_price=price, judge_anyway=True)
        opened = open_judge(rest, options, cache=kept, meter=meter)
        stack.callback(opened.close)
        stack.callback(_tell_others, opened.engine)
        grader = _judge(opened.judge)
    else:
        raise InputError(
            f"--gold-metric {chosen!r}: expected one of {', '.join(OFFLINE)}, bert_score, "
            f"llm:MODEL, llm_blind:MODEL, or file:NAME for a column of verdicts ({VERDICT})"
        )
    return {chosen: grader, **offline}


def _tell_others(grader: object) -> None:
    """Tell which replies of a model that grades another address gave."""
    for caution in getattr(grader, "cautions", ()):
        logging.getLogger(__name__).warning("! %s", caution)  # printed, unless a program logs


def check_recorded_verdict(chosen: str, rows: Sequence[AnswerRow]) -> None:
    """Refuse ``file:NAME`` where none of the first rows has such a verdict. Raises InputError."""
    kind, _, name = chosen.partition(":")
    if kind != "file" or not rows or any(recorded(row, name) is not None for row in rows):
        return
    held = [value for row in rows if (value := row.own.get(name)) is not None]
    if held:
        raise InputError(
            f"--gold-metric {chosen}: {name!r} contains {str(held[0])[:40]}: a verdict is {VERDICT}"
        )
    there = dict.fromkeys(held for row in rows for held in row.recorded)
    there |= dict.fromkeys(
        column
        for row in rows
        for column in row.own
        if column not in COLUMNS and recorded(row, column) is not None
    )
    if by_filter := [held for held in there if held.startswith(f"{name},")]:
        choice = " or ".join(f"--gold-metric file:{held}" for held in by_filter)
        raise InputError(f"--gold-metric {chosen}: the log has several filters; choose {choice}")
    raise InputError(
        f"--gold-metric {chosen}: the file contains no such verdict; "
        + (
            f"it has {', '.join(map(str, there))[:300]}"
            if there
            else f"it has none (a person's verdict is in 'human', others in columns of {VERDICT})"
        )
    )


def _recorded(name: str) -> Callable[[AnswerRow], Grade]:
    def grade(row: AnswerRow) -> Grade:
        value = recorded(row, name)
        if value is None:
            return (
                NONE if is_empty(row.own.get(name)) else Grade(math.nan, problem=f"not {VERDICT}")
            )
        return Grade(value)

    return grade


def _each(grade: Callable[[AnswerRow], Grade]) -> Grader:
    def grade_all(rows: Sequence[AnswerRow]) -> list[Grade]:
        return [grade(row) for row in rows]

    return grade_all


def _graded(row: AnswerRow) -> bool:
    return bool(row.gold) and not is_blank(row.answer or "")


def _rules(row: AnswerRow) -> Grade:
    if not _graded(row):
        return NONE
    return _of_verdict(judge_rules(row.question, row.gold or (), row.answer or ""))


def _of_verdict(verdict: Verdict) -> Grade:
    if verdict.problem is not None or verdict.content in (None, "none"):
        return Grade(math.nan, problem=verdict.problem)
    return Grade(float(verdict.content == "correct"))


def _lexical(name: str) -> Callable[[AnswerRow], Grade]:
    metric, threshold = ANSWER_METRICS[name], THRESHOLDS[name]

    def grade(row: AnswerRow) -> Grade:
        if not row.gold or row.answer is None:
            return NONE
        golds = with_days(row.gold)
        if name == "rouge_l" and not any(map(rouge_tokens, golds)):
            # the official tokenizer finds no word in other scripts, and so no right answer
            value = rouge_l(golds, row.answer, tokenizer="unicode")
        else:
            value = metric(golds, row.answer)
        return Grade(float(threshold.correct([value])[0]))

    return grade


class _Bert:
    """BERTScore by a model."""

    def __init__(self, model: str) -> None:
        self.grader = BertGrader(model)

    def __call__(self, rows: Sequence[AnswerRow]) -> list[Grade]:
        """Grade all answers that have a gold in one go."""
        held = {n: row for n, row in enumerate(rows) if _graded(row)}
        golds = [with_days(row.gold or ()) for row in held.values()]
        values = self.grader.grade(golds, [row.answer or "" for row in held.values()])
        grades = [NONE] * len(rows)
        for n, value in zip(held, values, strict=True):
            grades[n] = Grade(float(THRESHOLDS["bert_score"].correct([value])[0]))
        return grades


def _blind(grader: BlindGrader) -> Grader:
    def grade_all(rows: Sequence[AnswerRow]) -> list[Grade]:
        held = {n: row for n, row in enumerate(rows) if _graded(row)}
        answers = [row.answer or "" for row in held.values()]
        read = grader.grade([row.gold or () for row in held.values()], answers)
        grades = [NONE] * len(rows)
        for n, grade in zip(held, read, strict=True):
            correct = math.nan if grade.correct is None else grade.correct
            grades[n] = Grade(correct, problem=grade.problem)
        return grades

    return grade_all


def _judge(judge: Any) -> Grader:
    def grade_all(rows: Sequence[AnswerRow]) -> list[Grade]:
        grades = [NONE] * len(rows)
        places = []
        for n, row in enumerate(rows):
            if len(row.answer or "") > LONGEST_SHOWN and _graded(row):
                grades[n] = Grade(math.nan, problem="budget")
            elif _graded(row):
                places.append(n)
        items = [_item(rows[n], n) for n in places]
        for n, verdict in zip(places, judge.grade(items), strict=True):
            grades[n] = _of_verdict(verdict)
        return grades

    return grade_all


def _item(row: AnswerRow, number: int) -> Item:
    golds = tuple(Gold(text) for text in row.gold or ())
    question = Question(f"q{number}", "file", row.question, golds, context=row.context)
    request = Request(messages=(Message("user", row.question),))
    answer = Generation(
        request, id=f"g{number}", question=question.id, form="short", text=row.answer or ""
    )
    return Item(answer, (question,))


# ---- answers without a verdict


def why_unjudged(metric: str, problem: str) -> str:
    """Return in words why a metric has no verdict on an answer."""
    longest = LONGEST if metric == "rules" else LONGEST_SHOWN
    words = {
        **PROBLEMS,
        "budget": f"longer than the {longest:,} characters that it reads",
        "language": "not in English; --gold-metric llm:MODEL reads other languages",
    }
    return f"{problem}: {words[problem]}" if problem in words else problem


#: what answers without a verdict are
LEFT_OUT = (
    "giving no value", "without a gold", "missing", "empty", "unread",
    "without a verdict in that column", "without a person's verdict",
)  # fmt: skip


def why_left_out(row: AnswerRow, metric: str, grade: Grade) -> int:
    """Return which of :data:`LEFT_OUT` an answer is that a metric gives no verdict on."""
    if grade.problem is not None:
        why = "unread"
    elif metric.startswith("file:"):
        why = "without a verdict in that column"
    elif row.answer is None or is_blank(row.answer):
        why = "missing" if row.answer is None else "empty"
    else:
        why = "giving no value" if row.gold else "without a gold"
    return LEFT_OUT.index(why)


class Unjudged:
    """Counts the answers that metrics could not read, by metric and problem."""

    def __init__(self) -> None:
        self.problems: dict[str, Counter[str]] = {}

    def add(self, grades: Mapping[str, Grade]) -> None:
        """Count one answer."""
        for metric, grade in grades.items():
            if grade.problem is not None:
                self.problems.setdefault(metric, Counter())[grade.problem] += 1

    def sentences(self, judges: Mapping[str, Grader]) -> list[str]:
        """Return a sentence for each metric that did not read all."""
        texts = []
        for metric, counts in self.problems.items():
            why = "; ".join(
                f"{n:,} {why_unjudged(metric, problem)}" for problem, n in counts.most_common()
            )
            texts.append(f"{metric} has no verdict on {plural(counts.total(), 'answer')} ({why})")
        texts += [
            f"{metric} compared {plural(judge.grader.cut, 'text')} by their beginning only, "
            f"because they are longer than {judge.grader.model} can read"
            for metric, judge in judges.items()
            if isinstance(judge, _Bert) and judge.grader.cut
        ]
        return texts


def plural(count: int, name: str) -> str:
    """Return "1 score" or "2 scores"."""
    return f"{count:,} {name}{'' if count == 1 else 's'}"


# ---- labeled examples for P(True), which then does not score them

#: rows drawn for each example: several may answer one question, or have no verdict
SPARE = 3
#: at most one row in so many is an example
SHARE = 5


def graded_examples(
    rows: Iterable[AnswerRow], grade: Grader, count: int, seed: int
) -> PromptExamples:
    """Return up to ``count`` examples of the rows with a gold or a person's verdict.

    Rows are drawn evenly from the whole file by ``seed``, with few in memory at a time; where no
    person said, ``grade`` decides. One row of a question, and a fifth of the labeled rows at most.
    """
    rng = random.Random(f"rows {seed}")
    held: list[AnswerRow] = []
    labeled = 0
    for row in rows:
        if is_blank(row.answer or "") or not (row.gold or row.human is not None):
            continue
        labeled += 1
        if len(held) < SPARE * count:
            held.append(row)
        elif (place := rng.randrange(labeled)) < len(held):
            held[place] = row
    count = min(count, labeled // SHARE)
    if count < LEAST:
        return PromptExamples(
            problem=f"takes its examples from rows with gold or human, at most one row in {SHARE}: "
            f"needs {LEAST * SHARE} such rows, got {labeled:,}"
        )
    pool: dict[str, ShownExample] = {}
    for row, graded in zip(held, grade(held), strict=True):
        right = row.human if row.human is not None else graded.correct
        question = " ".join(row.question.split()).casefold()
        if right in (0.0, 1.0) and question not in pool:
            pool[question] = ShownExample(row.question, row.samples, row.answer or "", right == 1.0)
    return choose_examples([*pool.values()], count, seed)
