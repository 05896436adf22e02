"""Factuality along a long text, and whether the model recognises its own claims.

Tu et al., "Knowledge Boundary and Factuality of Long-Form Generation", arXiv 2411.15993. A text is
cut into sentences and claims; each claim is supported (S), not supported (NS) or irrelevant (IR):

    factuality of a part of the text = S / (S + NS) of the sentences with i/n in (lo, hi]
    SK = share of supported claims that the model judges correct                    (section 4)
    SU = share of unsupported claims that it judges not correct
    F  = (1 - SU) / (2 - SU - SK)                                             (Equation 3)

In the shared pool the text is UNCLE's T=0 paragraph. The model judges its claims without the
source, alone and as question and answer; Equation 3 is fitted on other texts than it predicts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from sayso.engines.engine import Engine
from sayso.judges.judge import Judge
from sayso.prompts import load_prompt, prompt_hash
from sayso.prompts.fence import clean
from sayso.protocols.protocol import Ask, Run
from sayso.protocols.self_known.ask_back import (
    counted,
    judge_own,
    make_questions,
    read_wording,
    score_claims,
)
from sayso.protocols.self_known.claims import (
    Maker,
    Splitter,
    check_claims,
    checker_of,
    keep_responsive,
    maker_of,
    own_questions,
    read_aspects,
    splitter_of,
    take_apart,
    topic_of,
)
from sayso.protocols.self_known.rows import STAGE
from sayso.protocols.self_known.settings import MAIN, Settings, modes_of
from sayso.records import Claim, Generation, InputError, Passage, Question, ask, content_id
from sayso.retrieval.sources import GOLDS

# The long texts of the protocol: asked plainly, with passages before the prompt, or revised.

#: the draw that a text at T > 0 is: none of the draws in which its claims are looked for
ANSWER_SAMPLE = 3000
#: characters of one passage that are shown
LONGEST_PASSAGE = 4000


def measured(questions: Sequence[Question]) -> list[Question]:
    """Return the questions that texts are written for: those of paragraphs, if there are any."""
    long = [q for q in questions if q.parts]
    return long or list(questions)


def source_of(questions: Sequence[Question], settings: Settings) -> str:
    """Return what claims are checked against; empty where there is nothing."""
    if settings.knowledge != "auto":
        return "" if settings.knowledge == "none" else settings.knowledge
    if all(q.dataset == "builtin" for q in questions):
        return "builtin"
    return GOLDS if any(q.golds for q in questions if not q.parts) else ""


def prompt_of(question: Question, settings: Settings) -> str:
    """Return what is asked for: the data's own prompt, or its subject alone."""
    if settings.ask == "open" or (settings.ask == "auto" and not question.text.strip()):
        folder = Path(settings.prompt_folder) if settings.prompt_folder else None
        return load_prompt("self_open", folder).replace("{topic}", topic_of(question))
    return f"{question.context}\n\n{question.text}" if question.context else question.text


def texts_asked(
    questions: Sequence[Question],
    settings: Settings,
    seed: int,
    shown: Mapping[str, Sequence[Passage]],
) -> list[Ask]:
    """Return the request for every text, its draws, and the text with passages ``shown``."""
    folder = Path(settings.prompt_folder) if settings.prompt_folder else None
    heat, tokens = settings.answer.temperature, settings.answer.long_tokens
    own = ANSWER_SAMPLE if heat > 0 else 0
    asks = []
    for q in measured(questions):
        text = prompt_of(q, settings)
        given = {"max_tokens": tokens, "seed": seed}
        plain = ask(text, temperature=heat, sample=own, **given)
        asks.append(Ask(q, plain, STAGE, STAGE))
        for sample in range(settings.draws.k):
            drawn = ask(text, temperature=settings.draws.temperature, sample=sample, **given)
            asks.append(Ask(q, drawn, f"{STAGE}-draws", STAGE))
        if settings.retrieval:
            passages = "\n\n".join(
                clean(p.text, LONGEST_PASSAGE).strip() for p in shown.get(q.id, ())
            )
            template = load_prompt("self_retrieval", folder)
            before, _, after = template.partition("{passages}")
            filled = before + (passages or "(none)") + after.replace("{prompt}", text)
            request = ask(filled, temperature=heat, sample=own, **given)
            asks.append(Ask(q, request, STAGE, STAGE, "retrieval"))
    return asks


def found_for(
    run: Run, questions: Sequence[Question], source: str, settings: Settings
) -> dict[str, tuple[Passage, ...]]:
    """Return the passages that each text may be written with, by the question's id."""
    if not source:
        raise InputError("retrieval needs passages: name a knowledge source with --knowledge")
    queries = [(q.entity or "", q.text) for q in questions]
    found = run.search(source, queries, settings.passages)
    bare = sum(not passages for passages in found)
    if bare:
        run.tell([f"retrieval: for {bare} of {len(found)} topics the source has no passage"])
    return {q.id: passages for q, passages in zip(questions, found, strict=True)}


def revised(
    run: Run,
    model: Engine,
    texts: Sequence[Generation],
    by_id: Mapping[str, Question],
    settings: Settings,
    seed: int,
    splitter: Splitter,
    maker: Maker,
    judge: Judge,
) -> list[Generation]:
    """Have each text rewritten without the claims that the model itself rejects.

    Returns the texts and, as method "revised", one more for each that answers: a text without a
    rejected claim stays as it is and is not asked for again. So both methods have the same topics.
    """
    folder = Path(settings.prompt_folder) if settings.prompt_folder else None
    plain = [g for g in texts if g.method == "plain"]
    kept = keep_responsive(run, plain)
    asked = {g.id: by_id[g.question] for g in kept}
    claims = take_apart(run, kept, by_id, splitter)
    read_aspects(run, kept, by_id, judge)
    own = own_questions(run, claims, {g.id: g for g in kept}, by_id)
    made = make_questions(run, claims, asked, maker, own)
    judge_own(run, model, claims, asked, made, settings, seed, {})
    mode = MAIN if MAIN in modes_of(settings) else modes_of(settings)[-1]
    said = {v.target: v.label for v in run.verdicts(f"self-{mode}")}
    template = load_prompt("self_revise", folder)
    rejected: dict[str, list[Claim]] = {}
    for c in claims:
        if said.get(c.id) in ("no", "none"):
            rejected.setdefault(c.generation, []).append(c)
    asks, same = [], []
    for g in kept:
        doubted = rejected.get(g.id)
        if not doubted:
            key = content_id([g.id, "revised"])
            same.append(msgspec.structs.replace(g, id=key, method="revised"))
            continue
        listed = "\n".join(f"- {' '.join(clean(c.text).split())}" for c in doubted)
        pieces = {
            "{prompt}": prompt_of(asked[g.id], settings),
            "{text}": clean(g.text),
            "{claims}": listed,
        }
        text = template
        for name, piece in pieces.items():
            text = text.replace(name, piece.replace("{", "("))
        request = ask(
            text, temperature=0.0, max_tokens=settings.answer.long_tokens, seed=seed, sample=0
        )
        asks.append(Ask(asked[g.id], request, f"{STAGE}-revised", STAGE, "revised"))
    new = run.stage(asks, model).get(f"{STAGE}-revised", []) if asks else []
    every = [*texts, *new, *same]
    run.put(f"generations/{STAGE}", every, Generation)
    return every


THIN = (
    "knowledge golds: the data's own answers hold few facts a topic, and a claim about anything "
    "else counts as not supported; read differences, not levels"
)
BARE = "no knowledge source: claims have no label; name one with --knowledge"


def instructions(settings: Settings) -> dict[str, str]:
    """Return the prompts in use by name."""
    folder = Path(settings.prompt_folder) if settings.prompt_folder else None
    names = ["self_direct", "self_qa", "self_open"]
    names += ["self_retrieval"] * settings.retrieval + ["self_revise"] * (settings.remedy != "off")
    return {name: load_prompt(name, folder) for name in names}


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


def requests(questions: Sequence[Question], settings: Settings, seed: int) -> list[Ask]:
    """Return what is asked before anything is known: the texts and their draws."""
    return texts_asked(questions, settings, seed, {})


def is_judged(ask: Ask, settings: Settings) -> bool:
    """Tell whether an answer goes to the judge: texts on facts with gold answers do."""
    return ask.stage == STAGE and bool(ask.question.parts)


def collect(
    questions: Sequence[Question],
    model: Engine,
    judge: Judge,
    run: Run,
    settings: Settings,
    seed: int = 0,
) -> None:
    """Write texts, take them apart, check every claim, then ask the model of its claims."""
    by_id = {q.id: q for q in questions}
    source = source_of(questions, settings)
    run.tell([THIN] if source == GOLDS else [] if source else [BARE])
    if source:  # one that cannot be opened is told before anything is asked
        run.search(source, (), settings.passages)
    splitter, maker = splitter_of(settings, judge), maker_of(settings, judge)
    checker = checker_of(settings, judge, run.tools)
    shown = found_for(run, measured(questions), source, settings) if settings.retrieval else {}
    answers = run.stage(texts_asked(questions, settings, seed, shown), model)
    texts = answers[STAGE]
    if settings.remedy == "revise":
        texts = revised(run, model, texts, by_id, settings, seed, splitter, maker, judge)
    kept = keep_responsive(run, texts)
    asked = {g.id: by_id[g.question] for g in kept}
    claims = take_apart(run, kept, by_id, splitter)
    if source:
        check_claims(run, claims, asked, checker, source, settings.passages)
    by_answer = {g.id: g for g in kept}
    read_aspects(run, kept, by_id, judge)
    own = own_questions(run, claims, by_answer, by_id)
    made = make_questions(run, claims, asked, maker, own)
    open_book = {
        g.id: shown.get(g.question, ())
        for g in kept
        if settings.open_book and g.method == "retrieval"
    }
    judge_own(run, model, claims, asked, made, settings, seed, open_book)
    read_wording(run, claims, by_answer)
    draws = answers.get(f"{STAGE}-draws", [])
    score_claims(run, claims, by_answer, asked, draws, checker, settings)
    run.tell([f"self_known: {counted(run, claims, asked, bool(source), settings)}"])
    run.tell([n for reader in (splitter, checker, maker) for n in getattr(reader, "notices", ())])
