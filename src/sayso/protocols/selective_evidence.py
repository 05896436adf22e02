"""From stored answers to scores: evidence is gathered once, and every score of it is kept.

A short answer is compared with the draws of its question. A fact inside a paragraph is the tokens
of its aligned value, compared with the draws of its own short question: nothing else is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from sayso.annotate.collect import Case, Tools, collect, lacking, provided
from sayso.annotate.collect_forced import FORCED
from sayso.protocols import Run
from sayso.protocols.selective_probe import read_states
from sayso.protocols.selective_settings import Settings, chosen_methods
from sayso.records import Generation, Question, Score, Verdict
from sayso.scores import SCORES, Answer, Method, Samples, answer_of, score_one

#: questions that evidence is gathered for at a time
BLOCK = 256
#: the name under which the model's words stand: 1 where it hedged when told to, 0 where it did not
WORDS = "words"
ARRAYS = ("logprobs", "entropies", "margins", "self_certainty", "renyi", "unconditional")
OF_ANSWERS = (*FORCED, "unconditional", "ptrue")
NOT_IN_PARAGRAPHS = "a further pass over each answer: done for short answers only"
#: evidence that only another question to the model gives
STATED = ("support", "said_true", "stated", "judged")
ASKED_THEN = "the model has to be asked something more, which this run does not"


def scores_of(
    stage: str,
    generations: Sequence[Generation],
    verdicts: Sequence[Verdict],
    spans: Sequence[Verdict],
    answers: Mapping[str, Sequence[Generation]],
    by_id: Mapping[str, Question],
    run: Run,
    settings: Settings,
) -> list[Score]:
    """Return every score of one form's answers, and why a score cannot be computed at all.

    The target of a score is :func:`target_of` its answer; one without a target speaks for all.
    """
    draws: dict[str, list[Generation]] = {}
    for draw in sorted(answers.get("draws", ()), key=lambda g: g.request.sample):
        draws.setdefault(draw.question, []).append(draw)
    read = {(v.target, v.asked): v for v in verdicts}
    placed = {(v.target, v.asked): v for v in spans}
    plain = [g for g in generations if not g.instructed]
    told = {g.question: g for g in generations if g.instructed}
    found: list[Score] = []
    work: list[tuple[str, Generation, Question, tuple[int, int]]] = []
    for generation in plain:
        question = by_id[generation.question]
        for asked in question.parts or (question.id,):
            target = target_of(generation, asked)
            other = told.get(generation.question)
            hedge = read.get((other.id, asked)) if other is not None else None
            found += words(target, hedge)
            span = span_of(generation, placed.get((generation.id, asked)), stage)
            if span is not None:
                work.append((target, generation, by_id[asked], span))
    methods = {name: SCORES[name] for name in chosen_methods(settings)}
    tools = run.tools(settings.nli)
    can = evidence_at_hand(stage, plain, draws, tools)
    wanted = {need for method in methods.values() for need in method.needs} & can
    for name, method in methods.items():
        reason = why_not(stage, method, can, tools)
        if reason is not None:
            found.append(Score("", name, None, reason))
    usable = {name: m for name, m in methods.items() if can.issuperset(m.needs)}
    scored: dict[str, list[Score]] = {name: [] for name in usable}
    for first in range(0, len(work), BLOCK):
        part = work[first : first + BLOCK]
        cases = [case_of(g, asked, span, draws.get(asked.id, [])) for _, g, asked, span in part]
        collect(cases, [need for need in wanted if need not in skipped(stage)], tools)
        for (target, _, _, _), case in zip(part, cases, strict=True):
            for name, score in score_one(samples_of(target, case), usable).items():
                scored[name].append(score)
    for name, scores in scored.items():
        some = any(score.value is not None for score in scores)
        found += scores if some else [no_value(name, scores, tools)]
    return [*found, *read_states(stage, plain, tools.engine, run, settings)]


def no_value(name: str, scores: Sequence[Score], tools: Tools) -> Score:
    """Return the commonest reason of a score that no answer has, once for all of them."""
    reasons = Counter(s.problem for s in scores)
    reason = max(reasons, key=lambda r: reasons[r], default=None) or "no answer could be scored"
    if "contra was recorded" in reason:  # told by its need, the way that other tools are
        reason = lacking("nli:sentences", tools)
    return Score("", name, None, reason)


def target_of(generation: Generation, asked: str) -> str:
    """Return the id of one scored fact: the answer, and in a paragraph the short question too."""
    return generation.id if generation.form == "short" else f"{generation.id}/{asked}"


def words(target: str, verdict: Verdict | None) -> list[Score]:
    """Return the model's words as a score: 1 where the answer told to voice doubt did."""
    if verdict is None or verdict.value in (None, "omitted"):
        return []
    return [Score(target, WORDS, float(verdict.value == "uncertain"))]


def span_of(generation: Generation, verdict: Verdict | None, stage: str) -> tuple[int, int] | None:
    """Return the characters that are scored: the short answer, or the aligned value."""
    if stage == "short":
        return (0, len(generation.text)) if generation.problem is None else None
    if verdict is None or verdict.answer_start is None or verdict.answer_end is None:
        return None
    return verdict.answer_start, verdict.answer_end


def skipped(stage: str) -> tuple[str, ...]:
    """Return the kinds of evidence that a form does without: they would need further passes."""
    return OF_ANSWERS if stage == "long" else ()


def evidence_at_hand(
    stage: str,
    answers: Sequence[Generation],
    draws: Mapping[str, Sequence[Generation]],
    tools: Tools,
) -> frozenset[str]:
    """Return the kinds of evidence that were recorded or that the tools can find."""
    found = {"answer", *provided(tools)} - set(skipped(stage))
    said = [a for g in answers if (a := answer_of(g)).problem is None and a.text]
    found |= {name for name in ARRAYS if any(getattr(a, name) is not None for a in said)}
    drawn = [answer_of(g) for some in draws.values() for g in some]
    if not drawn:
        return frozenset(n for n in found if "draws" not in n and not _compares(n))
    found.add("draws")
    for name in ("logprobs", "entropies"):
        if any(getattr(a, name) is not None for a in drawn):
            found.add(f"draws.{name}")
    return frozenset(found)


def _compares(need: str) -> bool:
    return need.partition(":")[0] in ("clusters", "nli", "similarity")


def why_not(stage: str, method: Method, can: frozenset[str], tools: Tools) -> str | None:
    """Return why a score cannot be computed in this run; ``None`` where it can."""
    absent = [need for need in method.needs if need not in can]
    if not absent:
        return None
    if "draws" in absent:
        return "needs several draws of the question"
    if stage == "long" and absent[0] in provided(tools):
        return NOT_IN_PARAGRAPHS
    if absent[0].partition(":")[0] in STATED:
        return ASKED_THEN
    return lacking(absent[0], tools)


def case_of(
    generation: Generation, asked: Question, span: tuple[int, int], draws: Sequence[Generation]
) -> Case:
    """Return a case with all that was recorded when it was asked."""
    said = generation.text[span[0] : span[1]].strip() or None
    usable = [draw for draw in draws if draw.problem is None]
    case = Case(asked.text, generation.request, said, [draw.text for draw in usable])
    answer = answer_of(generation)
    inside = tokens_in(generation, span)
    for name in ARRAYS:
        values = getattr(answer, name)
        if values is not None and said is not None:
            case.arrays[name] = tuple(values[i] for i in inside) if inside else values
    if generation.token_ids is not None and inside == list(range(len(generation.token_ids))):
        case.arrays["token_ids"] = generation.token_ids
    for kept, draw in zip(case.draw_arrays, usable, strict=True):
        one = answer_of(draw)
        kept.update({n: v for n in ("logprobs", "entropies") if (v := getattr(one, n)) is not None})
    return case


def tokens_in(generation: Generation, span: tuple[int, int]) -> list[int]:
    """Return the positions of the tokens that overlap the characters of a span."""
    offsets = generation.offsets
    if offsets is None or span == (0, len(generation.text)):
        return list(range(len(generation.token_ids or offsets or ())))
    ends = (*offsets[1:], len(generation.text))
    return [
        i
        for i, (start, end) in enumerate(zip(offsets, ends, strict=True))
        if start < span[1] and end > span[0]
    ]


def samples_of(target: str, case: Case) -> Samples:
    """Return the evidence of a case as scores see it."""
    answer = Answer(case.answer or "", **{n: case.arrays.get(n) for n in ARRAYS})
    if case.answer is None:
        answer = msgspec.structs.replace(answer, problem="empty")
    drawn = tuple(
        Answer(text, logprobs=kept.get("logprobs"), entropies=kept.get("entropies"))
        for text, kept in zip(case.draws, case.draw_arrays, strict=True)
    )
    return Samples(target=target, answer=answer, draws=drawn, **case.evidence)
