"""Self-known and self-unknown from top to bottom: long texts, their claims, whether a source
supports each, and whether the model does.

Texts are asked plainly, with passages before the prompt (method "retrieval"), revised, or decoded
cautiously.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from sayso.protocols.protocol import Ask, Run, Step, nothing_more, rows_if_any, stored_answers
from sayso.protocols.self_known.asks import (
    UNSENT,
    claim_source,
    lacks_open,
    revision_request,
    text_questions,
    text_requests,
)
from sayso.protocols.self_known.cautious import cautious_texts
from sayso.protocols.self_known.claims import (
    ClaimReaders,
    check_claims,
    drawn_topics,
    judge_aspects,
    keep_responsive,
    open_claim_readers,
    own_questions,
    read_wording,
    score_claims,
    take_apart,
    told_of_drawn,
)
from sayso.protocols.self_known.rows import RESPONSIVE, STAGE
from sayso.protocols.self_known.self_verdicts import claims_asked, judge_own, make_questions
from sayso.protocols.self_known.settings import MAIN, Settings, modes_of
from sayso.records import Claim, Generation, InputError, Passage, Question, Verdict, content_id
from sayso.retrieval.sources import GOLDS

THIN = (
    "knowledge golds: the data's own answers contain few facts per topic, and a claim about "
    "anything else counts as not supported. Interpret differences between values, not their levels"
)
BARE = "no knowledge source: claims have no label; name one with --knowledge"


def steps(questions: Sequence[Question], settings: Settings, seed: int) -> list[Step]:
    """Return the protocol: write texts, take them apart, check every claim, then ask the model."""

    def ask_with_passages(run: Run) -> None:
        run.ask(text_requests(run.questions, settings, seed, passages_shown(settings, run)))

    asks = [] if settings.retrieval else text_requests(questions, settings, seed, {})
    return [
        Step("readers", partial(open_readers, settings)),
        Step("texts", ask_with_passages if settings.retrieval else nothing_more, asks),
        Step("cautious texts", partial(write_cautiously, settings, seed)),
        Step("revised texts", partial(revise, settings, seed)),
        Step("claims", partial(find_claims, settings, seed)),
        Step("support", partial(look_up, settings)),
        Step("own judgement", partial(ask_back, settings, seed)),
        Step("scores", partial(score, settings)),
    ]


# ---- who reads, and the texts


def open_readers(settings: Settings, run: Run) -> ClaimReaders:
    """Return who reads; a source or a model that cannot be opened is refused before asking."""

    def opened() -> ClaimReaders:
        source = claim_source(run.questions, settings)
        run.tell([UNSENT] if lacks_open(run.questions, settings) else [])
        run.tell([THIN] if source == GOLDS else [] if source else [BARE])
        return open_claim_readers(settings, run, source)

    return run.once("readers of self_known", opened)


def passages_shown(settings: Settings, run: Run) -> dict[str, tuple[Passage, ...]]:
    """Return the passages that each text may be written with, by the question's id."""

    def found() -> dict[str, tuple[Passage, ...]]:
        source = open_readers(settings, run).source
        if not source:
            raise InputError("retrieval needs passages: name a knowledge source with --knowledge")
        questions = text_questions(run.questions)
        results = run.search(
            source, [(q.entity or "", q.text) for q in questions], settings.passages
        )
        bare = sum(not passages for passages in results)
        if bare:
            run.tell([f"retrieval: for {bare} of {len(results)} topics the source has no passage"])
        return {q.id: passages for q, passages in zip(questions, results, strict=True)}

    return run.once("passages shown with texts", found)


def write_cautiously(settings: Settings, seed: int, run: Run) -> None:
    """Draw the texts whose claims are read; write each once more, sentence by sentence."""
    texts = run.folder.read(f"generations/{STAGE}", Generation)
    drawn = drawn_topics(texts, settings.keep_answered, seed)
    run.tell(told_of_drawn(texts, drawn, settings.keep_answered))
    if settings.answer.decoding == "cautious":
        asks = text_requests(run.questions, settings, seed, {})
        plain = [one for one in asks if one.stage == STAGE and one.method == "plain"]
        plain = [one for one in plain if drawn is None or one.question.id in drawn]
        written, notices = cautious_texts(plain, run.engine(), settings.answer)
        run.tell(notices)
        run.folder.write(f"generations/{STAGE}", [*texts, *written], Generation)


def revise(settings: Settings, seed: int, run: Run) -> None:
    """Have each plain text rewritten without the claims that its model rejects.

    Each text that answers gets one more, of method "revised": a text without a rejected claim stays
    as it is and is not asked for again. So both methods have the same topics.
    """
    if settings.remedy != "revise":
        return
    by_id, texts = {q.id: q for q in run.questions}, stored_answers(run, STAGE)
    drawn = drawn_topics(texts, settings.keep_answered, seed)
    kept = keep_responsive(run, [g for g in texts if g.method == "plain"], drawn)
    claims = take_apart(run, kept, by_id, open_readers(settings, run).splitter)
    judge_claims(settings, seed, run, kept, claims)
    mode = MAIN if MAIN in modes_of(settings) else modes_of(settings)[-1]
    answer = {v.target: v.label for v in run.folder.read(f"verdicts/self-{mode}", Verdict)}
    rejected: dict[str, list[Claim]] = {}
    for c in claims:
        if answer.get(c.id) in ("no", "none") or run.rehearses == "most":
            rejected.setdefault(c.generation, []).append(c)
    asks, same = list[Ask](), list[Generation]()
    for g in kept:
        if g.id in rejected:
            question = by_id[g.question]
            asks.append(revision_request(g, rejected[g.id], question, settings, seed))
        else:
            key = content_id([g.id, "revised"])
            same.append(msgspec.structs.replace(g, id=key, method="revised"))
    new = run.ask(asks).get(f"{STAGE}-revised", [])
    run.folder.write(f"generations/{STAGE}", [*texts, *new, *same], Generation)


# ---- claims: support, the model's own word, scores


def find_claims(settings: Settings, seed: int, run: Run) -> None:
    """Take the texts that answer apart."""
    texts = run.folder.read(f"generations/{STAGE}", Generation)
    kept = keep_responsive(run, texts, drawn_topics(texts, settings.keep_answered, seed))
    take_apart(run, kept, {q.id: q for q in run.questions}, open_readers(settings, run).splitter)


class Claims(NamedTuple):
    """The claims of a run, the texts that they stand in by id, and what each text was asked."""

    claims: list[Claim]
    texts: dict[str, Generation]
    question_of: dict[str, Question]


def claims_of(run: Run) -> Claims:
    """Return the claims of the texts that answer."""
    label = {v.target: v.label for v in run.folder.read(f"verdicts/{STAGE}", Verdict)}
    every = run.folder.read(f"generations/{STAGE}", Generation)
    texts = {g.id: g for g in every if label.get(g.id) == RESPONSIVE}
    by_id = {q.id: q for q in run.questions}
    question_of = {id: by_id[g.question] for id, g in texts.items()}
    return Claims(rows_if_any(run, f"claims/{STAGE}", Claim), texts, question_of)


def look_up(settings: Settings, run: Run) -> None:
    """Look every claim up in the source, if there is one."""
    readers, found = open_readers(settings, run), claims_of(run)
    if readers.source:
        check_claims(run, found.claims, found.question_of, readers, settings.passages)


def ask_back(settings: Settings, seed: int, run: Run) -> None:
    """Ask the model about its claims; of texts with passages it may see these again."""
    found = claims_of(run)
    judge_claims(settings, seed, run, list(found.texts.values()), found.claims)


def judge_claims(
    settings: Settings, seed: int, run: Run, kept: Sequence[Generation], claims: Sequence[Claim]
) -> None:
    """Make a question of each claim of these texts, and ask the model about it."""
    by_id = {q.id: q for q in run.questions}
    judge_aspects(run, kept, by_id, run.judge)
    answers = {g.id: g for g in kept}
    question_of = {g.id: by_id[g.question] for g in kept}
    given = own_questions(run, claims, answers, by_id)
    own = make_questions(run, claims, question_of, open_readers(settings, run).maker, given)
    shown = passages_shown(settings, run) if settings.open_book else {}
    own = [
        one._replace(passages=shown.get(one.question.id, ()))
        if answers[one.claim.generation].method == "retrieval"
        else one
        for one in own
    ]
    judge_own(run, own, settings, seed)


def score(settings: Settings, run: Run) -> None:
    """Read how surely each claim is worded, and store every score of it."""
    readers, (claims, texts, question_of) = open_readers(settings, run), claims_of(run)
    read_wording(run, claims, texts)
    draws = stored_answers(run, f"{STAGE}-draws")
    score_claims(run, claims, texts, question_of, draws, readers.checker, settings)
    asked = claims_asked(run, claims, question_of, bool(readers.source), settings)
    run.tell([f"self_known: {asked}", *readers.notices])
