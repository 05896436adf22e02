"""How the answers of selective get their scores and their further grades.

Evidence is gathered once, and every score of it is kept. A short answer is compared with the draws
of its question. A fact inside a paragraph is the tokens of its aligned value, compared with the
draws of its own short question: nothing else is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from sayso.answers import BertGrader
from sayso.answers.blind import BlindGrade, BlindGrader
from sayso.answers.lexical import reference_texts
from sayso.engines.engine import Engine, reader_of
from sayso.judges.english.stated import stated_confidence
from sayso.judges.model.replies import PROBLEMS
from sayso.protocols.pool import (
    tokens_between,
)
from sayso.protocols.protocol import Run, rows_if_any
from sayso.protocols.selective.rows import (
    WORDS,
    array_of,
    metrics_table_of,
    target_of,
)
from sayso.protocols.selective.settings import (
    BERT,
    NO_SCORES,
    Settings,
    asks_of_draws,
    chosen_methods,
    further_metrics,
    names_between_commas,
    wants_probe,
)
from sayso.protocols.settings import folder_setting
from sayso.records import (
    Generation,
    Question,
    Score,
    Verdict,
    is_blank,
)
from sayso.scores import SCORES, Method, score_one
from sayso.scores.collect import (
    ALTERNATIVES,
    ELICITED,
    FORCED,
    EvidenceQuestioner,
    PromptExamples,
    ShownExample,
    Tools,
    choose_examples,
    evidence_lacking,
    hidden_blocks,
    needs_asking,
    needs_taking,
    present,
    provided,
    states_hash,
)
from sayso.scores.collect import collect_evidence as collect_evidence
from sayso.scores.evidence import ARRAYS, Case, answer_of, samples_of
from sayso.scores.p_ik import P_IK
from sayso.storage.run_folder import ArrayHead, Manifest


def words_scores(
    generations: Sequence[Generation],
    verdicts: Sequence[Verdict],
    by_id: Mapping[str, Question],
) -> Iterator[Score]:
    """Yield the model's words as a score: 1 where the instructed answer voices doubt, else 0."""
    read = {(v.target, v.asked): v for v in verdicts}
    instructed = {g.question: g for g in generations if g.instructed}
    for generation in generations:
        other = instructed.get(generation.question)
        if generation.instructed or other is None:
            continue
        for short in by_id[generation.question].parts or (generation.question,):
            verdict = read.get((other.id, short))
            if verdict is not None and verdict.value not in (None, "omitted"):
                target = target_of(generation, short)
                yield Score(target, WORDS, float(verdict.value == "uncertain"))


# ---- answer metrics that take a model


def open_further(settings: Settings, run: Run) -> None:
    """Open every further model, so that one that cannot be is told before anything is asked."""
    for kind, _, model in (name.partition(":") for name in further_metrics(settings)):
        if kind == BERT:
            BertGrader(model).check()
    for name in settings.further_models():
        run.engine(name)


def keep_metrics(stage: str, facts: Sequence[ScoredFact], run: Run, settings: Settings) -> None:
    """Grade the facts by the further answer metrics and store a value of each for every fact."""
    metrics = further_metrics(settings)
    if not metrics:
        return
    table = metrics_table_of(stage)
    before = rows_if_any(run, f"scores/{table}", Score)
    graded = {(s.target, s.method): s for s in before if s.value is not None}
    held = [f for f in facts if not is_blank(scored_text(f)) and f.question.golds]
    scores: list[Score] = []
    for name in metrics:
        known = [graded.get((fact.target, name)) for fact in held]
        if None not in known:
            scores += [score for score in known if score is not None]
            continue
        golds = [reference_texts(f.question.golds or ()) for f in held]
        texts = [scored_text(f) for f in held]
        kind, _, model = name.partition(":")
        if kind == BERT:
            grades = [BlindGrade(value) for value in BertGrader(model).grade(golds, texts)]
        else:
            folder = folder_setting(settings.prompt_folder)
            grades = BlindGrader(run.engine(model), folder).grade(golds, texts)
        scores += [Score(f.target, name, *g) for f, g in zip(held, grades, strict=True)]
        without = Counter(grade.problem for grade in grades if grade.correct is None)
        run.tell(
            [
                f"{stage}: {name} gave no verdict on {count:,} of {len(grades):,} answers "
                f"({PROBLEMS.get(problem or '', problem)})"
                for problem, count in without.most_common()
            ]
        )
    run.folder.write(f"scores/{table}", scores, Score)


def scored_text(fact: ScoredFact) -> str:
    """Return the text that is scored."""
    return fact.generation.text[slice(*fact.span)].strip()


def tools_of(run: Run, settings: Settings) -> Tools:
    """Return the tools of a run, and those who are asked about its answers; none for no scores."""
    if settings.scores == NO_SCORES:
        return Tools()
    folder = folder_setting(settings.prompt_folder)
    of_sentences = asks_of_draws(settings)
    return run.tools(settings.nli)._replace(
        questioner=EvidenceQuestioner(run.engine(), folder, sentences=of_sentences)
        if settings.elicit
        else None,
        panel=tuple(
            EvidenceQuestioner(run.engine(name), folder)
            for name in names_between_commas(settings.panel)
        ),
    )


# ---- a scored fact as a case: its text, the tokens of its span, the draws it is compared with

Span = tuple[int, int]


class ScoredFact(NamedTuple):
    """A scored fact: its target, the answer that it stands in, its question, its characters."""

    target: str
    generation: Generation
    question: Question
    span: Span


def scored_facts(
    stage: str,
    generations: Sequence[Generation],
    spans: Sequence[Verdict],
    by_id: Mapping[str, Question],
) -> list[ScoredFact]:
    """Return the facts of the plain answers whose value is placed."""
    placed = {(v.target, v.asked): v for v in spans}
    facts = []
    for generation in (g for g in generations if not g.instructed):
        for short in by_id[generation.question].parts or (generation.question,):
            span = span_of(generation, placed.get((generation.id, short)), stage)
            if span is not None:
                facts.append(
                    ScoredFact(target_of(generation, short), generation, by_id[short], span)
                )
    return facts


def span_of(generation: Generation, verdict: Verdict | None, stage: str) -> Span | None:
    """Return the characters that are scored: the short answer, or the aligned value."""
    if stage == "short":
        return (0, len(generation.text)) if generation.problem is None else None
    if verdict is None or verdict.answer_start is None or verdict.answer_end is None:
        return None
    return verdict.answer_start, verdict.answer_end


def fact_case(fact: ScoredFact, draws: Sequence[Generation]) -> Case:
    """Return a case with all that was recorded when the fact was asked about."""
    _, generation, question, span = fact
    said = generation.text[slice(*span)].strip()
    text = None if is_blank(said) else said
    usable = [draw for draw in draws if draw.problem is None]
    case = Case(question.text, generation.request, text, [draw.text for draw in usable])
    answer = answer_of(generation)
    inside = tokens_of_span(generation, span)
    for name in ARRAYS:
        values = getattr(answer, name)
        if values is not None and text is not None:
            case.arrays[name] = tuple(values[i] for i in inside) if inside else values
    if generation.token_ids is not None and inside == list(range(len(generation.token_ids))):
        case.arrays["token_ids"] = generation.token_ids
    if generation.offsets is not None and inside and text is not None:
        begin = generation.text.index(text, span[0])
        case.arrays["offsets"] = tuple(max(0, generation.offsets[i] - begin) for i in inside)
    for arrays, draw in zip(case.draw_arrays, usable, strict=True):
        one = answer_of(draw)
        if draw.offsets is not None:
            arrays["offsets"] = draw.offsets
        arrays.update(
            {n: v for n in ("logprobs", "entropies") if (v := getattr(one, n)) is not None}
        )
    return case


def stated_in(fact: ScoredFact) -> float | None:
    """Return the confidence that an answer states, in a paragraph of the fact's value."""
    answer = fact.generation
    place = None if answer.form == "short" else fact.span[0]
    return stated_confidence(answer.text, fact.question.text, place)


def tokens_of_span(generation: Generation, span: Span) -> list[int]:
    """Return the positions of the tokens of a span; all of them if they cannot be placed."""
    if generation.offsets is None or span == (0, len(generation.text)):
        return list(range(len(generation.token_ids or generation.offsets or ())))
    return tokens_between(generation, *span)


# ---- scoring

#: questions that evidence is gathered for at a time
BLOCK = 256
#: evidence that takes another pass over the answer
OF_ANSWERS = (*FORCED, "unconditional", ALTERNATIVES)
NOT_IN_PARAGRAPHS = (
    "computed for short answers only, because paragraphs would have to be read again"
)
#: evidence that an answer states, or that only another question gives, which no setting asks
STATED = ("stated:one_step", "stated:top_k")
ASKED_THEN = "needs further questions to the model, which this run does not ask"
#: evidence that is asked for about short answers
ASKED = (*ELICITED, "support", "judged")
NOT_NAMED = (
    "needs one question per sentence and draw: pass --set elicit=true, and name this score in "
    "scores"
)
NOT_ASKED = "needs questions to the model about each answer: pass --set elicit=true"
ASKED_OF_SHORT = "is asked of short answers only"


def scores_of(
    stage: str,
    facts: Sequence[ScoredFact],
    generations: Sequence[Generation],
    draws: Mapping[str, Sequence[Generation]],
    settings: Settings,
    tools: Tools,
    *,
    rehearses: bool = False,
) -> list[Score]:
    """Return every score of one form's facts, and why a score cannot be computed at all.

    A score without a target speaks for all facts. ``draws`` are by question. A dry run
    (``rehearses``) gathers what models are asked for, and computes no score.
    """
    plain = [g for g in generations if not g.instructed]
    methods = chosen_methods(settings)
    stated = {fact.target: value for fact in facts if (value := stated_in(fact)) is not None}
    at_hand = evidence_at_hand(stage, plain, draws, tools).union(STATED[:1] if stated else ())
    reasons = {name: why_not(stage, method, at_hand, tools) for name, method in methods.items()}
    scores = [Score("", name, None, reason) for name, reason in reasons.items() if reason]
    usable = {name: m for name, m in methods.items() if at_hand.issuperset(m.needs)}
    wanted = {need for method in methods.values() for need in method.needs} & at_hand
    needs = [need for need in wanted if need not in skipped(stage)]
    if rehearses:
        asked = needs_asking(tools)
        needs, usable = [need for need in needs if need in asked], {}
    scored: dict[str, list[Score]] = {name: [] for name in usable}
    for first in range(0, len(facts), BLOCK):
        block = facts[first : first + BLOCK]
        cases = [fact_case(fact, draws.get(fact.question.id, [])) for fact in block]
        collect_evidence(cases, needs, tools)
        for fact, case in zip(block, cases, strict=True):
            case.evidence.setdefault("stated", {})["one_step"] = stated.get(fact.target)
            there = present(case)
            lacks = {
                name: ", ".join(need for need in method.needs if need not in there)
                for name, method in usable.items()
                if name not in SCORES and not there.issuperset(method.needs)
            }
            can = {name: method for name, method in usable.items() if name not in lacks}
            found = score_one(samples_of(fact.target, case, case.answer or ""), can)
            for name, column in scored.items():
                why = f"this answer is without {lacks.get(name)}"
                column.append(found.get(name) or Score(fact.target, name, None, why))
    for name, column in scored.items():
        some = any(score.value is not None for score in column)
        scores += column if some else [no_value(name, column)]
    return scores


def no_value(name: str, scores: Sequence[Score]) -> Score:
    """Return the commonest reason of a score that no answer has, once for all of them."""
    reasons = Counter(s.problem for s in scores)
    reason = max(reasons, key=lambda r: reasons[r], default=None) or "no answer could be scored"
    return Score("", name, None, reason)


def skipped(stage: str) -> tuple[str, ...]:
    """Return the kinds of evidence that a form does without: they would need further passes."""
    return (*OF_ANSWERS, *ASKED) if stage == "long" else ()


def evidence_at_hand(
    stage: str,
    answers: Sequence[Generation],
    draws: Mapping[str, Sequence[Generation]],
    tools: Tools,
) -> frozenset[str]:
    """Return the kinds of evidence that were recorded or that the tools can provide."""
    kinds = {"answer", *provided(tools)} - set(skipped(stage))
    readable = [a for g in answers if (a := answer_of(g)).problem is None and a.text]
    kinds |= {name for name in ARRAYS if any(getattr(a, name) is not None for a in readable)}
    if "logprobs" not in kinds:  # a server that tells none of its tokens is not asked for them
        kinds -= needs_taking("options")
    drawn = [answer_of(g) for some in draws.values() for g in some]
    if not drawn:
        compared = ("clusters", "nli", "similarity")
        return frozenset(
            n for n in kinds if "draws" not in n and n.partition(":")[0] not in compared
        )
    kinds.add("draws")
    for name in ("logprobs", "entropies"):
        if any(getattr(a, name) is not None for a in drawn):
            kinds.add(f"draws.{name}")
    return frozenset(kinds)


def why_not(stage: str, method: Method, at_hand: frozenset[str], tools: Tools) -> str | None:
    """Return why a score cannot be computed in this run; ``None`` where it can."""
    absent = [need for need in method.needs if need not in at_hand]
    if not absent:
        return None
    if "draws" in absent:
        return "needs several draws of the question"
    if stage == "long" and absent[0] in provided(tools):
        return ASKED_OF_SHORT if absent[0] in ASKED else NOT_IN_PARAGRAPHS
    if absent[0] in STATED:
        return ASKED_THEN
    if absent[0] == "support":
        return NOT_NAMED
    if absent[0] in ELICITED:
        return NOT_ASKED
    return evidence_lacking(absent[0], tools)


# ---- the hidden states that P(IK) reads: of a short answer, or of a value inside a paragraph
# A value is read where it stands, behind the prompt and the paragraph up to it: the state at the
# token that predicts its last one (``second_last_answer``), at its last (``last_answer``), or at
# the token before it (``last_prompt``: what the model knew before it began the value; a value that
# opens the paragraph has none).

NO_ENGINE = "needs hidden states, which this model's engine does not return"


def check_state_place(
    settings: Settings, model: Engine, manifest: Manifest, questions: Sequence[Question]
) -> tuple[str, ...]:
    """Refuse a layer or a position that the model does not have, or a score that cannot be loaded.

    Raises InputError.
    """
    chosen_methods(settings)
    if wants_probe(settings) and model.capabilities.hidden:
        reader_of(model).hidden([], settings.p_ik.layer, settings.p_ik.position)
    return ()


def read_states(
    form: str, facts: Sequence[ScoredFact], run: Run, settings: Settings, engine: Engine | None
) -> list[Score]:
    """Store the states of the scored facts of a form; return why there is no P(IK), if so."""
    if not wants_probe(settings):
        return []
    if engine is None or not engine.capabilities.hidden:
        return [Score("", P_IK, None, NO_ENGINE)]
    layer, position = settings.p_ik.layer, settings.p_ik.position
    texts = [fact.generation for fact in facts]
    if form != "short":
        texts = [until(f.generation, f.span, f.target, position) for f in facts]
        position = "last_answer" if position == "last_prompt" else position
    source = states_hash(texts, engine, layer, position)
    blocks = hidden_blocks(texts, engine, layer, position)
    head = ArrayHead(source, tuple(fact.target for fact in facts))
    run.folder.write_array(array_of(form, settings), head, blocks)
    return []


def until(generation: Generation, span: Span, target: str, position: str) -> Generation:
    """Return a paragraph that ends with a value; for ``last_prompt`` one that ends before it."""
    before = position == "last_prompt"
    ids, inside = generation.token_ids, tokens_of_span(generation, span)
    if ids is not None and generation.offsets is not None and inside:
        ids = ids[: inside[0] if before else inside[-1] + 1]
    else:  # tokens that cannot be placed: the text is read anew
        ids = None
    text = generation.text[: span[0] if before else span[1]]
    if ids == ():  # no token stands before the value: an empty text has no state
        text = ""
    return msgspec.structs.replace(generation, id=target, text=text, token_ids=ids)


def shown_of(
    answers: Sequence[Generation],
    drawn: Sequence[Generation],
    verdicts: Sequence[Verdict],
    by_id: Mapping[str, Question],
    settings: Settings,
    seed: int,
) -> PromptExamples:
    """Return the examples: answers to questions set apart that the judge called right or wrong.

    An answer without a verdict, or that names no value, is no example.
    """
    draws: dict[str, list[str]] = {}
    for draw in sorted(drawn, key=lambda g: g.request.sample):
        if draw.problem is None:
            draws.setdefault(draw.question, []).append(draw.text)
    read = {v.target: v.content for v in verdicts if v.problem is None}
    pool = [
        ShownExample(by_id[g.question].text, tuple(draws.get(g.question, ())), g.text,
              read[g.id] == "correct")
        for g in answers
        if g.problem is None and read.get(g.id) in ("correct", "incorrect")
    ]  # fmt: skip
    if not answers:
        return PromptExamples(
            problem="needs questions set aside as examples, and the run has too few"
        )
    return choose_examples(pool, settings.p_true.examples, seed)
