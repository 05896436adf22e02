"""What each method answered, joined fact by fact: the arrays that the table is made of."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sayso import methods as prompting
from sayso.annotate.contradict import contradicts
from sayso.annotate.decisive import decisiveness
from sayso.metrics.rates import Floats
from sayso.pipeline.folder_run import FolderRun
from sayso.pipeline.running import load_run
from sayso.pipeline.teaching_measure import Forced, choices
from sayso.protocols.aspects import View, draws_by_question, pairs_of, view_of
from sayso.protocols.uncle_beside import sure_wrong
from sayso.protocols.uncle_context import Context, label_codes, load
from sayso.records import Generation, InputError, Question, Verdict

FORMS = ("short", "long")
Ints = NDArray[np.int64]
Pair = tuple[str, str]


class Answers(NamedTuple):
    """One method's answers in one form; arrays have A entries, in the order of the frame.

    ``label`` codes as in ``Context.labels``; ``plain`` the same of the same model's answers to the
    plain prompt, which asks for no doubt; ``sure_wrong`` is 0, 1 or NaN (unread): committed and
    incorrect. ``logprob`` is that of the same model's plain answers. ``decisive`` is what the words
    say (0 where no value is said), ``agreeing`` of ``draws`` frozen draws agree with what is said.
    """

    label: Ints
    plain: Ints
    sure_wrong: Floats
    logprob: Floats
    decisive: Floats
    agreeing: Floats
    draws: Floats
    texts: list[str]


class Side(NamedTuple):
    """One method with one seed. ``forced`` (A,) is 0, 1 or NaN."""

    answers: dict[str, Answers]
    forced: Floats


class Frame(NamedTuple):
    """What all methods share: aspects, their entities and types, and what is known.

    ``several`` marks facts to which the base model gave more than one committed answer.
    """

    pairs: list[Pair]
    questions: list[Question]
    entity: NDArray[np.str_]
    type: NDArray[np.str_]
    known: Ints
    probes: dict[str, list[str]]
    said: dict[str, str]
    several: NDArray[np.bool_]

    @property
    def entities(self) -> int:
        """How many entities there are."""
        return len(np.unique(self.entity))


def frame_of(base: str | Path, measured: Sequence[Question]) -> Frame:
    """Return the aspects of ``measured`` with what the base run's probes say of them."""
    job, _, chosen = load_run(base)
    context = load(job, chosen, guesses=False)
    place = {pair: row for row, pair in enumerate(_pairs(job))}
    wanted = {q.id for q in measured}
    held = [pair for pair in place if pair[0] in wanted and pair[1] in wanted]
    if not held:
        raise InputError(f"{base} has no aspect of what is measured")
    rows = np.array([place[pair] for pair in held])
    by_id = {q.id: q for q in job.questions}
    shorts = [by_id[pair[1]] for pair in held]
    drawn = draws_by_question(job.generations("probe"), chosen.probe.k)
    plain = {
        g.question: g.text.strip()
        for g in job.generations("short")
        if not g.instructed and g.problem is None
    }
    many = {one.question for one in choices(base, shorts) if len(one.texts) > 1}
    return Frame(
        held,
        shorts,
        np.array([f"{q.domain}/{q.entity}" for q in shorts], dtype=np.str_),
        context.aspects.type[rows],
        context.known["any"][rows],
        {q: [g.text.strip() for g in some] for q, some in drawn.items()},
        plain,
        np.array([q.id in many for q in shorts], dtype=np.bool_),
    )


def _pairs(job: FolderRun) -> list[Pair]:
    return [(q.id, part) for q in job.questions for part in q.parts]


def side_of(
    frame: Frame, run: str | Path, forced: Forced, *, instructed: bool = True, method: str = ""
) -> Side:
    """Return a method's side: a run's instructed or plain answers, or those of a further method."""
    job, _, chosen = load_run(run)
    context = load(job, chosen, guesses=False)
    place = {pair: row for row, pair in enumerate(_pairs(job))}
    missing = [pair for pair in frame.pairs if pair not in place]
    if missing:
        raise InputError(f"{run} lacks {len(missing)} of the {len(frame.pairs)} measured aspects")
    rows = np.array([place[pair] for pair in frame.pairs])
    answers = {}
    for form in FORMS:
        view, said = _view(context, job, form, instructed, method)
        answers[form] = _answers(frame, context, form, view, said, rows)
    right = [forced.get(q.id) for q in frame.questions]
    return Side(answers, np.array([np.nan if r is None else float(r) for r in right]))


def _view(
    context: Context, job: FolderRun, form: str, instructed: bool, method: str
) -> tuple[View, dict[str, str]]:
    """Return the verdicts of a method's answers, and their texts by question."""
    if not method:
        said = [g for g in job.generations(form) if g.instructed is instructed]
        return context.aspects.views[form, instructed], _texts(said)
    stage = "refined" if prompting.METHODS[method].kind == "revision" else "methods"
    said = [g for g in job.generations(f"{stage}-{form}") if g.method == method]
    return view_of(pairs_of(job), said, job.verdicts(f"{stage}-{form}"), form), _texts(said)


def _texts(said: Sequence[Generation]) -> dict[str, str]:
    return {g.question: g.text for g in said}


def _answers(
    frame: Frame,
    context: Context,
    form: str,
    view: View,
    texts: dict[str, str],
    rows: Ints,
) -> Answers:
    label = label_codes(view, context.settings)[rows]
    verdicts = [view.verdicts[row] for row in rows]
    said = [texts.get(pair[form == "short"], "") for pair in frame.pairs]
    words = [
        _worded(frame, row, form, verdict, text)
        for row, (verdict, text) in enumerate(zip(verdicts, said, strict=True))
    ]
    table = np.array(words, dtype=np.float64).reshape(len(words), 3)
    plain = context.aspects.views[form, False]
    return Answers(
        label,
        label_codes(plain, context.settings)[rows],
        sure_wrong(verdicts),
        plain.logprob[rows],
        table[:, 0],
        table[:, 1],
        table[:, 2],
        said,
    )


def _worded(
    frame: Frame, row: int, form: str, verdict: Verdict | None, text: str
) -> tuple[float, float, float]:
    """Return (decisiveness, agreeing draws, comparable draws) of what is said about an aspect.

    Where it says that it does not know, nothing is claimed: 0, against the draws' agreement with
    the base model's own plain answer, which is what was withheld. Omitted: left out.
    """
    nothing = (np.nan, np.nan, np.nan)
    if verdict is None or verdict.stance is None or verdict.stance == "omitted":
        return nothing
    question = frame.questions[row]
    sentence, value = text, text
    if form == "long":
        if verdict.start is None or verdict.end is None:
            return nothing
        sentence = value = text[verdict.start : verdict.end]
    if verdict.answer_start is not None and verdict.answer_end is not None:
        value = text[verdict.answer_start : verdict.answer_end]
    claims = verdict.stance == "committed" or (
        verdict.stance == "hedged" and verdict.answer_start is not None
    )
    if not claims:
        level: float | None = 0.0
        value = frame.said.get(question.id, "")
    else:
        level = _decisive(sentence.strip(), value.strip())
    if level is None or not value.strip():
        return nothing
    agreeing, counted = _agreement(question.text, value.strip(), tuple(frame.probes[question.id]))
    return (level, float(agreeing), float(counted)) if counted else nothing


def _decisive(sentence: str, value: str) -> float | None:
    """Return how decisively a sentence says a value: "born in possibly Lyon" doubts the place.

    Where the value's words are not found in it, that of the whole sentence.
    """
    level = None if value == sentence else decisiveness(sentence, value)
    return decisiveness(sentence) if level is None else level


@lru_cache(maxsize=200_000)
def _agreement(question: str, value: str, draws: tuple[str, ...]) -> tuple[int, int]:
    """Return how many draws agree with a value, of those that can be compared with it."""
    found = [contradicts(question, value, draw) for draw in draws]
    return sum(f is False for f in found), sum(f is not None for f in found)
