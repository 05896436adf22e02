"""What a self_known run asks and checks: long texts, their claims, and the model's word on them.

Texts are asked plainly, with passages before the prompt (method "retrieval"), revised, or decoded
cautiously.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from sayso.engines.engine import Engine
from sayso.judges.judge import Judge, engine_of
from sayso.judges.self_judgement import orders
from sayso.prompts import load_prompt, prompt_hash
from sayso.prompts.fence import visible_text
from sayso.protocols.protocol import Ask, Run
from sayso.protocols.self_known.cautious import SENTENCE_TOKENS, cautious_texts
from sayso.protocols.self_known.claims import (
    Checker,
    QuestionMaker,
    Splitter,
    check_claims,
    checker_of,
    drawn_topics,
    judge_aspects,
    keep_responsive,
    maker_of,
    own_questions,
    read_wording,
    score_claims,
    splitter_of,
    take_apart,
    topic_of,
)
from sayso.protocols.self_known.rows import STAGE
from sayso.protocols.self_known.self_verdicts import claims_asked, judge_own, make_questions
from sayso.protocols.self_known.settings import (
    MAIN,
    STEPS,
    Settings,
    asks_model,
    further_models,
    modes_of,
)
from sayso.protocols.settings import folder_setting, tokens_for
from sayso.records import Claim, Generation, InputError, Passage, Question, ask, content_id
from sayso.retrieval.sources import GOLDS

THIN = (
    "knowledge golds: the data's own answers contain few facts per topic, and a claim about "
    "anything else counts as not supported. Interpret differences between values, not their levels"
)
UNSENT = "self_open.txt is not sent: the data have prompts of their own; --ask open sends it"
BARE = "no knowledge source: claims have no label; name one with --knowledge"


class _Work(NamedTuple):
    """What every step of a run needs: the run, who is asked, who reads, and how."""

    run: Run
    model: Engine
    judge: Judge
    splitter: Splitter
    checker: Checker
    maker: QuestionMaker
    by_id: Mapping[str, Question]
    settings: Settings
    seed: int


def collect(
    questions: Sequence[Question],
    model: Engine,
    judge: Judge,
    run: Run,
    settings: Settings,
    seed: int = 0,
) -> None:
    """Write texts, take them apart, check every claim, then ask the model about its claims."""
    by_id = {q.id: q for q in questions}
    source = claim_source(questions, settings)
    run.tell([THIN] if source == GOLDS else [] if source else [BARE])
    if _has_open(settings) and not any(_is_open(q, settings) for q in text_questions(questions)):
        run.tell([UNSENT])
    if source:  # one that cannot be opened is refused before anything is asked
        run.search(source, (), settings.passages)
    splitter = splitter_of(settings, judge, run.engine)
    maker = maker_of(settings, judge, run.engine)
    checker = checker_of(settings, judge, run.engine, run.tools)
    work = _Work(run, model, judge, splitter, checker, maker, by_id, settings, seed)
    shown = (
        passages_for(run, text_questions(questions), source, settings) if settings.retrieval else {}
    )
    asks = text_requests(questions, settings, seed, shown)
    answers = run.stage(asks, model)
    texts = answers[STAGE]
    drawn = drawn_topics(texts, settings.keep_answered, seed)
    run.tell(told_of_drawn(texts, drawn, settings.keep_answered))
    if settings.answer.decoding == "cautious":
        plain = [one for one in asks if one.stage == STAGE and one.method == "plain"]
        plain = [one for one in plain if drawn is None or one.question.id in drawn]
        written, notices = cautious_texts(plain, model, settings.answer)
        run.tell(notices)
        texts = [*texts, *written]
        run.put(f"generations/{STAGE}", texts, Generation)
    if settings.remedy == "revise":
        texts = revised_texts(work, texts, drawn)
    kept = keep_responsive(run, texts, drawn)
    question_of = {g.id: by_id[g.question] for g in kept}
    claims = take_apart(run, kept, by_id, splitter)
    if source:
        check_claims(run, claims, question_of, checker, source, settings.passages)
    _judge_own(work, kept, claims, shown if settings.open_book else {})
    by_answer = {g.id: g for g in kept}
    read_wording(run, claims, by_answer)
    draws = answers.get(f"{STAGE}-draws", [])
    score_claims(run, claims, by_answer, question_of, draws, checker, settings)
    run.tell([f"self_known: {claims_asked(run, claims, question_of, bool(source), settings)}"])
    run.tell([n for reader in (splitter, checker, maker) for n in getattr(reader, "notices", ())])


def _judge_own(
    work: _Work,
    kept: Sequence[Generation],
    claims: Sequence[Claim],
    shown: Mapping[str, tuple[Passage, ...]],
) -> None:
    """Ask the model about each claim; of texts with passages it sees those in ``shown`` again."""
    judge_aspects(work.run, kept, work.by_id, work.judge)
    answers = {g.id: g for g in kept}
    question_of = {g.id: work.by_id[g.question] for g in kept}
    given = own_questions(work.run, claims, answers, work.by_id)
    own = make_questions(work.run, claims, question_of, work.maker, given)
    own = [
        one._replace(passages=shown.get(one.question.id, ()))
        if answers[one.claim.generation].method == "retrieval"
        else one
        for one in own
    ]
    judge_own(work.run, work.model, own, work.settings, work.seed)


def told_of_drawn(
    texts: Sequence[Generation], drawn: frozenset[str] | None, most: int
) -> list[str]:
    """Return how many plain texts were asked for, answer and were drawn; nothing where all are."""
    if drawn is None:
        return []
    plain = [g for g in texts if g.method == "plain"]
    answer = len(drawn_topics(plain, len(plain), 0) or ())
    fewer = "" if len(drawn) == most else f", fewer than the {most:,} of keep_answered"
    return [
        f"self_known: of {len(plain):,} texts asked for, {answer:,} answer; {len(drawn):,} of "
        f"these were drawn{fewer}, and every number but the share that answers is of them"
    ]


# ---- requests and prompts

#: the draw that a text at T > 0 is: none of the draws in which its claims are looked for
ANSWER_SAMPLE = 3000
#: characters of one passage that are shown
LONGEST_PASSAGE = 4000


def requests(questions: Sequence[Question], settings: Settings, seed: int) -> list[Ask]:
    """Return what is asked before anything is known: the texts and their draws."""
    return text_requests(questions, settings, seed, {})


def is_judged(ask: Ask, settings: Settings) -> bool:
    """Tell whether an answer goes to the judge: texts on facts with gold answers do."""
    return ask.stage == STAGE and bool(ask.question.parts)


def unpriced(questions: Sequence[Question], settings: Settings, judge: Judge) -> list[str]:
    """Return what a dry run does not price: how many claims texts have is not known before."""
    per_claim = sum(len(orders(mode, settings.orders)) for mode in modes_of(settings))
    notes = []
    if settings.keep_answered:
        notes.append(
            f"keep_answered: claims of at most {settings.keep_answered:,} of the "
            f"{len(text_questions(questions)):,} texts are checked and asked about"
        )
    if per_claim:
        notes.append(
            f"not in the table: {per_claim} requests to the model about each claim in its texts "
            f"(modes {settings.modes}). If its probabilities can be read, it only scores the "
            "letters of the options"
        )
    judged = engine_of(judge) is not None
    by_model = [name for name in STEPS if asks_model(getattr(settings, name), judged)]
    if by_model:
        others = "".join(f", {name}" for name in further_models(settings))
        notes.append(
            f"not in the table: the calls to a model{others} for {', '.join(by_model)} (one per "
            "12 sentences or claims)"
        )
    if settings.answer.decoding == "cautious":
        notes.append(
            f"not in the table: {settings.answer.candidates} requests for every sentence of the "
            "cautious texts, each for the text so far and at most "
            f"{SENTENCE_TOKENS} tokens"
        )
    if settings.remedy == "revise":
        notes.append("not in the table: one more request for every text with a rejected claim")
    return notes


def _own_prompts(settings: Settings) -> dict[str, str]:
    """Return the prompts of this protocol: each with "", or the flag that it needs."""
    modes = modes_of(settings)
    return {
        "self_direct": "" if "direct" in modes else "--set modes=direct",
        "self_qa": "" if {"qa", "qa_none"} & {*modes} else "--set modes=qa",
        "self_open": "--set ask=open" if settings.ask == "item" else "",
        "self_retrieval": "" if settings.retrieval else "--set retrieval=true",
        "self_revise": "" if settings.remedy == "revise" else "--set remedy=revise",
    }


def instructions(settings: Settings) -> dict[str, str]:
    """Return the prompts in use by name."""
    names = [name for name, flag in _own_prompts(settings).items() if not flag]
    return {name: load_prompt(name, folder_setting(settings.prompt_folder)) for name in names}


def prompt_uses(settings: Settings, by_model: bool) -> dict[str, str]:
    """Return the files that a prompt folder can hold: each with "", or the flag that it needs."""
    uses = _own_prompts(settings)
    asked_back = not uses["self_qa"]
    for prompt, name in (("claims",) * 2, ("support",) * 2, ("claim_question", "questions")):
        asked = asks_model(getattr(settings, name), by_model)
        flag = "" if asked else f"--judge MODEL --{name} judge"
        if prompt == "claim_question" and not asked_back:
            flag = "--set modes=qa"
        uses |= {prompt: flag, f"{prompt}_reply": flag}
    return uses


def prompts_signature(settings: Settings) -> str:
    """Return a short name of the texts in use."""
    texts = instructions(settings)
    return prompt_hash(" / ".join(f"{name}:{text}" for name, text in texts.items()))


def prompts(settings: Settings) -> dict[str, str]:
    """Return what a manifest keeps of the prompts: every text by name, and their signature."""
    return {
        "signature": prompts_signature(settings),
        **{f"self_known_{name}": text for name, text in instructions(settings).items()},
    }


def text_questions(questions: Sequence[Question]) -> list[Question]:
    """Return the questions that texts are written for: those of paragraphs, if there are any."""
    long = [q for q in questions if q.parts]
    return long or list(questions)


def claim_source(questions: Sequence[Question], settings: Settings) -> str:
    """Return what claims are checked against; empty where there is nothing."""
    if settings.knowledge != "auto":
        return "" if settings.knowledge == "none" else settings.knowledge
    if all(q.dataset == "builtin" for q in questions):
        return "builtin"
    return GOLDS if any(q.golds for q in questions if not q.parts) else ""


def topic_prompt(question: Question, settings: Settings) -> str:
    """Return what is asked for: the data's own prompt, or its subject alone.

    A user's ``self_open`` replaces the prompts of topics and biographies, which want no fact.
    """
    if _is_open(question, settings):
        template = load_prompt("self_open", folder_setting(settings.prompt_folder))
        return template.replace("{topic}", topic_of(question) or question.text)
    return f"{question.context}\n\n{question.text}" if question.context else question.text


def _has_open(settings: Settings) -> bool:
    """Return whether the prompt of topics is a user's."""
    folder = folder_setting(settings.prompt_folder)
    return folder is not None and (folder / "self_open.txt").exists()


def _is_open(question: Question, settings: Settings) -> bool:
    """Return whether a text is asked for by its topic alone."""
    if settings.ask != "auto" or not question.text.strip():
        return settings.ask != "item"
    bare = not (question.parts or question.golds) and bool(topic_of(question))
    return bare and _has_open(settings)


def text_requests(
    questions: Sequence[Question],
    settings: Settings,
    seed: int,
    shown: Mapping[str, Sequence[Passage]],
) -> list[Ask]:
    """Return the request for every text, its draws, and the text with passages ``shown``."""
    heat, tokens = settings.answer.temperature, tokens_for(settings.answer, "long")
    own = ANSWER_SAMPLE if heat > 0 else 0
    texts = text_questions(questions)
    asks = []
    for q in texts:
        text = topic_prompt(q, settings)
        given = {"max_tokens": tokens, "seed": seed}
        plain = ask(text, temperature=heat, sample=own, **given)
        asks.append(Ask(q, plain, STAGE, STAGE))
        for sample in range(settings.draws.k):
            drawn = ask(text, temperature=settings.draws.temperature, sample=sample, **given)
            asks.append(Ask(q, drawn, f"{STAGE}-draws", STAGE))
        if settings.retrieval:
            passages = "\n\n".join(
                visible_text(p.text, LONGEST_PASSAGE).strip() for p in shown.get(q.id, ())
            )
            template = load_prompt("self_retrieval", folder_setting(settings.prompt_folder))
            before, _, after = template.partition("{passages}")
            filled = before + (passages or "(none)") + after.replace("{prompt}", text)
            request = ask(filled, temperature=heat, sample=own, **given)
            asks.append(Ask(q, request, STAGE, STAGE, "retrieval"))
    return asks


def passages_for(
    run: Run, questions: Sequence[Question], source: str, settings: Settings
) -> dict[str, tuple[Passage, ...]]:
    """Return the passages that each text may be written with, by the question's id."""
    if not source:
        raise InputError("retrieval needs passages: name a knowledge source with --knowledge")
    queries = [(q.entity or "", q.text) for q in questions]
    results = run.search(source, queries, settings.passages)
    bare = sum(not passages for passages in results)
    if bare:
        run.tell([f"retrieval: for {bare} of {len(results)} topics the source has no passage"])
    return {q.id: passages for q, passages in zip(questions, results, strict=True)}


# ---- the remedy: texts without the claims that their model rejects


def revised_texts(
    work: _Work, texts: Sequence[Generation], drawn: frozenset[str] | None
) -> list[Generation]:
    """Have each text (of the questions ``drawn``) rewritten without the claims the model rejects.

    Returns the texts and, as method "revised", one more for each that answers: a text without a
    rejected claim stays as it is and is not asked for again. So both methods have the same topics.
    """
    run, settings = work.run, work.settings
    kept = keep_responsive(run, [g for g in texts if g.method == "plain"], drawn)
    claims = take_apart(run, kept, work.by_id, work.splitter)
    _judge_own(work, kept, claims, {})
    mode = MAIN if MAIN in modes_of(settings) else modes_of(settings)[-1]
    answer = {v.target: v.label for v in run.verdicts(f"self-{mode}")}
    rejected: dict[str, list[Claim]] = {}
    for c in claims:
        if answer.get(c.id) in ("no", "none"):
            rejected.setdefault(c.generation, []).append(c)
    asks, same = [], []
    for g in kept:
        if g.id in rejected:
            asks.append(_revision(g, rejected[g.id], work))
        else:
            key = content_id([g.id, "revised"])
            same.append(msgspec.structs.replace(g, id=key, method="revised"))
    new = run.stage(asks, work.model).get(f"{STAGE}-revised", []) if asks else []
    every = [*texts, *new, *same]
    run.put(f"generations/{STAGE}", every, Generation)
    return every


def _revision(g: Generation, rejected: Sequence[Claim], work: _Work) -> Ask:
    question, settings = work.by_id[g.question], work.settings
    pieces = {
        "{prompt}": topic_prompt(question, settings),
        "{text}": visible_text(g.text),
        "{claims}": "\n".join(f"- {' '.join(visible_text(c.text).split())}" for c in rejected),
    }
    text = load_prompt("self_revise", folder_setting(settings.prompt_folder))
    for name, piece in pieces.items():
        text = text.replace(name, piece.replace("{", "("))
    tokens = tokens_for(settings.answer, "long")
    request = ask(text, temperature=0.0, max_tokens=tokens, seed=work.seed, sample=0)
    return Ask(question, request, f"{STAGE}-revised", STAGE, "revised")
