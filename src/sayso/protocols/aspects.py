"""The join of UNCLE's stages: one row per aspect, that is per (long question, part).

Joined by ids, never by order. A short question that two prompts share appears in two rows: it was
asked once and is counted once per pair, in both forms.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sayso.protocols import Run
from sayso.records import Generation, Question, Verdict

KNOWN, UNKNOWN, UNREADABLE, HEDGED_PROBE = 1, 0, -1, 2

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class View(NamedTuple):
    """The verdicts of one form, with or without the instruction; arrays have A entries.

    ``verdicts`` holds None where the answer itself is missing from the run. ``logprob`` is the
    mean log-probability in nats per token of the short answer, or of the value's span in a
    paragraph or a hedge; ``length`` counts tokens of the same stretch. Both are NaN where no value
    was placed. ``placed`` tells whether values were looked for: answers without the instruction
    are, in runs that store where (``verdicts/<form>-spans``, by :mod:`sayso.protocols.spans`).
    """

    verdicts: list[Verdict | None]
    logprob: Floats
    length: Floats
    placed: bool = False


class Aspects(NamedTuple):
    """A rows. ``hits`` of ``drawn`` readable probe draws were correct."""

    questions: list[Question]
    entity: Ints
    domain: NDArray[np.str_]
    type: NDArray[np.str_]
    known: Ints
    hits: Ints
    drawn: Ints
    views: dict[tuple[str, bool], View]

    @property
    def size(self) -> int:
        """A, the number of aspects."""
        return len(self.questions)


def probe_state(values: Sequence[str | None], k: int) -> int:
    """Tell what the probes of one question say: known if any readable one is correct.

    Unknown only if all ``k`` are readable and none is correct; then ``HEDGED_PROBE`` if at least
    half of them hedged (the rule ``probe.unc`` decides what that means). Else unreadable.
    """
    if "correct" in values:
        return KNOWN
    if len(values) < k or None in values:
        return UNREADABLE
    hedged = sum(v == "uncertain" for v in values)
    return HEDGED_PROBE if 2 * hedged >= len(values) else UNKNOWN


def draws_by_question(
    generations: Iterable[Generation], k: int | None = None
) -> dict[str, list[Generation]]:
    """Return the first ``k`` draws of each question, in order of their sample index."""
    draws: dict[str, list[Generation]] = defaultdict(list)
    for generation in sorted(generations, key=lambda g: g.request.sample):
        if k is None or generation.request.sample < k:
            draws[generation.question].append(generation)
    return draws


def load_aspects(run: Run, k: int, wordings: int = 1) -> Aspects:
    """Join a run's questions, probes, answers and verdicts.

    ``k`` draws of each of ``wordings`` plain questions decide what is known.
    """
    pairs = pairs_of(run)
    shorts = [short for _, short in pairs]
    probe_verdicts = {v.target: v for v in run.verdicts("probe")}
    draws = draws_by_question(run.generations("probe"), k)
    values = {
        question: [probe_verdicts[g.id].value if g.id in probe_verdicts else None for g in drawn]
        for question, drawn in draws.items()
    }
    state = {s.id: probe_state(values.get(s.id, []), k * wordings) for s in shorts}
    entities = {e: i for i, e in enumerate(dict.fromkeys((q.domain, q.entity) for q in shorts))}
    views: dict[tuple[str, bool], View] = {}
    for form in ("short", "long"):
        answers = run.generations(form)
        verdicts = run.verdicts(form)
        table = f"{form}-spans"
        spans = run.verdicts(table) if run.has(f"verdicts/{table}") else None
        for instructed in (False, True):
            said = [g for g in answers if g.instructed is instructed]
            views[form, instructed] = view_of(
                pairs, said, verdicts, form, None if instructed else spans
            )
    return Aspects(
        questions=shorts,
        entity=np.array([entities[s.domain, s.entity] for s in shorts], dtype=np.int64),
        domain=np.array([s.domain for s in shorts], dtype=np.str_),
        type=np.array([s.type for s in shorts], dtype=np.str_),
        known=np.array([state[s.id] for s in shorts], dtype=np.int64),
        hits=np.array([values.get(s.id, []).count("correct") for s in shorts], dtype=np.int64),
        drawn=np.array(
            [len(v) - v.count(None) for v in (values.get(s.id, []) for s in shorts)],
            dtype=np.int64,
        ),
        views=views,
    )


def pairs_of(run: Run) -> list[tuple[Question, Question]]:
    """Return (long question, short question) of every aspect: the rows of every view."""
    by_id = {q.id: q for q in run.questions}
    return [(q, by_id[p]) for q in run.questions for p in q.parts]


def view_of(
    pairs: Sequence[tuple[Question, Question]],
    answers: Iterable[Generation],
    verdicts: Iterable[Verdict],
    form: str,
    spans: Iterable[Verdict] | None = None,
) -> View:
    """Return the view of one answer to each question of a form, with its verdicts.

    ``spans`` are verdicts without a look at the truth, which say what log-probs are taken of.
    """
    said = {g.question: g for g in answers}
    read = {(v.target, v.asked): v for v in verdicts}
    asked = [(said.get(long.id if form == "long" else s.id), s) for long, s in pairs]
    verdicts_of = [read.get((g.id, s.id)) if g else None for g, s in asked]
    if spans is None:
        nothing = np.full(len(asked), np.nan)
        return View(verdicts_of, nothing, nothing.copy())
    place = {(v.target, v.asked): v for v in spans}
    return View(verdicts_of, *_said(asked, place, whole=form == "short"), placed=True)


def _said(
    asked: Sequence[tuple[Generation | None, Question]],
    spans: dict[tuple[str, str], Verdict],
    *,
    whole: bool,
) -> tuple[Floats, Floats]:
    """Return the mean log-prob per token and the number of tokens of what each answer states."""
    logprob, length = np.full(len(asked), np.nan), np.full(len(asked), np.nan)
    for row, (generation, short) in enumerate(asked):
        verdict = spans.get((generation.id, short.id)) if generation else None
        if generation is None or verdict is None or verdict.stance not in ("committed", "hedged"):
            continue
        if whole and verdict.stance == "committed":
            span = (0, len(generation.text))
        elif verdict.answer_start is not None and verdict.answer_end is not None:
            span = (verdict.answer_start, verdict.answer_end)
        else:
            continue
        taken = _tokens_in(generation, *span)
        if taken:
            logprob[row], length[row] = float(np.mean(taken)), len(taken)
    return logprob, length


def _tokens_in(generation: Generation, start: int, end: int) -> list[float]:
    """Return the log-probs of the tokens that overlap characters start:end."""
    if not generation.logprobs or not generation.offsets:
        return []
    ends = (*generation.offsets[1:], len(generation.text))
    return [
        logprob
        for logprob, first, last in zip(generation.logprobs, generation.offsets, ends, strict=True)
        if first < end and last > start
    ]
