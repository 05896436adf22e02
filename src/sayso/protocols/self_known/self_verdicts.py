"""Asking the model about its own claims, and keeping what it answers.

``asked/long`` holds question and answer of every claim. ``verdicts/self-<setting>`` holds one
verdict a claim: label yes, no or none, ``number`` P(yes), ``raw`` the answer in each order of the
options. Where the model's probabilities can be read, the options are weighed; else it replies.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sayso.engines.engine import Engine
from sayso.judges.claim_questions import GapQuestions, QuestionAnswer
from sayso.judges.self_judgement import (
    REPLY_TOKENS,
    SelfJudgement,
    from_probabilities,
    from_replies,
    orders,
    prompt,
    read_yes_no,
    spellings,
)
from sayso.protocols.protocol import MADE_UP, Ask, Run, rows_if_any
from sayso.protocols.self_known.claims import BY_DATA, QuestionMaker, topic_of
from sayso.protocols.self_known.rows import STAGE
from sayso.protocols.self_known.settings import Settings, modes_of
from sayso.protocols.settings import folder_setting
from sayso.records import (
    Claim,
    ClaimQuestion,
    Generation,
    Passage,
    Question,
    Request,
    Verdict,
    ask,
)


class OwnClaim(NamedTuple):
    """A claim that its model is asked about: what its text was asked, the claim as a question, and
    the passages that the model is shown."""

    claim: Claim
    question: Question
    pair: QuestionAnswer
    passages: tuple[Passage, ...] = ()


def make_questions(
    run: Run,
    claims: Sequence[Claim],
    question_of: Mapping[str, Question],
    maker: QuestionMaker,
    own: Mapping[str, QuestionAnswer],
) -> list[OwnClaim]:
    """Store a question for every claim, and who made it; return the claims with their questions.

    ``own`` are questions of the data by the claim's id; ``maker`` makes the others.
    """
    keys = {c.id: (topic_of(question_of[c.generation]), c.text) for c in claims if c.id not in own}
    pairs = maker.read(list(keys.values()))
    if run.rehearses in MADE_UP:  # a dry run has not seen the questions: the rules' are as long
        unread = [key for key, pair in pairs.items() if pair.problem == "failed"]
        pairs |= GapQuestions().read(unread)
    every = [
        OwnClaim(c, question_of[c.generation], own[c.id] if c.id in own else pairs[keys[c.id]])
        for c in claims
    ]
    rows = [
        ClaimQuestion(claim.id, BY_DATA if claim.id in own else maker.signature, *pair)
        for claim, _, pair, _ in every
    ]
    run.folder.write(f"asked/{STAGE}", rows, ClaimQuestion)
    return every


def judge_own(run: Run, claims: Sequence[OwnClaim], settings: Settings, seed: int) -> None:
    """Ask the model about every claim in every setting and order, and store what it answers."""
    requests = own_requests(claims, settings, seed)
    engine = run.tools("rules").engine
    if engine is not None and engine.capabilities.force:
        judged = by_probability(engine, requests)
    else:
        judged = _by_reply(run, requests, {c.claim.id: c.question for c in claims})
    for mode in modes_of(settings):
        by = f"self:{mode}@2"
        verdicts = []
        for claim, question, _, _ in claims:
            one = judged.get((claim.id, mode))
            if one is None:
                verdicts.append(Verdict(claim.id, question.id, by, problem="unasked"))
                continue
            raw = ",".join(name or "?" for name in one.by_order)
            raw = raw if one.mass is None else f"{raw}|{one.mass:.3f}"
            verdicts.append(
                Verdict(
                    claim.id,
                    question.id,
                    by,
                    label=one.label,
                    number=one.share,  # of a tie it is known all the same: one half
                    raw=raw,
                    problem=one.problem,
                )
            )
        run.folder.write(f"verdicts/self-{mode}", verdicts, Verdict)


class OwnRequest(NamedTuple):
    """One request about one claim: in a setting, with an order of its options."""

    claim: str
    mode: str
    order: tuple[str, ...]
    request: Request


def own_requests(claims: Sequence[OwnClaim], settings: Settings, seed: int) -> list[OwnRequest]:
    """Return every request about the claims; none for a question that could not be made.

    A user's prompt whose options have no place stands in the paper's order alone.
    """
    folder = folder_setting(settings.prompt_folder)
    requests = []
    for mode in modes_of(settings):
        for claim, question, pair, passages in claims:
            topic, texts = topic_of(question), [p.text for p in passages]
            before = set[str | None]()
            for order in orders(mode, settings.orders):
                text = prompt(mode, topic, claim.text, pair, order, folder, texts)
                if text is not None and text not in before:
                    before.add(text)
                    request = ask(text, temperature=0.0, max_tokens=REPLY_TOKENS, seed=seed)
                    requests.append(OwnRequest(claim.id, mode, order, request))
    return requests


def by_probability(
    engine: Engine, requests: Sequence[OwnRequest]
) -> dict[tuple[str, str], SelfJudgement]:
    """Read the probability of every option in each spelling; equal requests are read once."""
    items: dict[tuple[Request, str], None] = {}
    for one in requests:
        for spelled in spellings(one.mode, one.order).values():
            items.update(dict.fromkeys((one.request, text) for text in spelled))
    wanted = list(items)
    read: dict[tuple[Request, str], tuple[tuple[int, ...], float]] = {}
    for index, forced in engine.force(wanted, ["logprobs"]):
        if forced.problem is None and forced.logprobs:
            ids = tuple(forced.token_ids or (index,))
            read[wanted[index]] = ids, math.exp(sum(forced.logprobs))
    by_claim: dict[tuple[str, str], list[dict[str, float]]] = defaultdict(list)
    for one in requests:
        mass = {}
        for name, spelled in spellings(one.mode, one.order).items():
            own = [read[one.request, text] for text in spelled if (one.request, text) in read]
            if own:
                mass[name] = _disjoint(dict(own))
        # an option that could not be read has no probability, which is not one of 0
        by_claim[one.claim, one.mode].append(mass if len(mass) == len(one.order) else {})
    return {key: from_probabilities(orders) for key, orders in by_claim.items()}


def _disjoint(mass: Mapping[tuple[int, ...], float]) -> float:
    """Return the sum over tokenizations; one that goes on from another is part of that already."""
    return sum(p for ids, p in mass.items() if not any(ids[:n] in mass for n in range(1, len(ids))))


def _by_reply(
    run: Run, requests: Sequence[OwnRequest], question_of: Mapping[str, Question]
) -> dict[tuple[str, str], SelfJudgement]:
    """Let the model reply in words, where its probabilities cannot be read."""
    asks = [
        Ask(question_of[one.claim], one.request, f"self-{one.mode}", "self", f"{one.claim}:{at}")
        for at, one in enumerate(requests)
    ]
    tables = run.ask(asks)
    replies: dict[str, Generation] = {g.method: g for rows in tables.values() for g in rows}
    by_claim: dict[tuple[str, str], list[str | None]] = defaultdict(list)
    for at, one in enumerate(requests):
        reply = replies[f"{one.claim}:{at}"]
        option = read_yes_no(reply.text, one.order) if reply.problem is None else None
        by_claim[one.claim, one.mode].append(option)
    return {key: from_replies(options) for key, options in by_claim.items()}


def claims_asked(
    run: Run,
    claims: Sequence[Claim],
    question_of: Mapping[str, Question],
    checked: bool,
    settings: Settings,
) -> str:
    """Return in words how many claims there were and how much was asked about them."""
    distinct = len({(topic_of(question_of[c.generation]), c.text) for c in claims})
    rows = [row for row in rows_if_any(run, f"asked/{STAGE}", ClaimQuestion) if row.problem is None]
    number, own = len(rows), sum(row.by == BY_DATA for row in rows)
    per_claim = {mode: len(orders(mode, settings.orders)) for mode in modes_of(settings)}
    times = sum(n * (len(claims) if m == "direct" else number) for m, n in per_claim.items())
    text = f"{len(claims):,} claims ({distinct:,} distinct)"
    text += f", {distinct:,} checked against passages" if checked else ", checked against nothing"
    if per_claim:
        text += f"; {number:,} became questions"
        text += f" ({own:,} of them the data's own)" if own else ""
        text += f", and the model was asked {times:,} times about its claims"
    return text
