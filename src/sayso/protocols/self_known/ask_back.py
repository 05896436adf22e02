"""Asking the model of its own claims, and keeping what it says.

``asked/long``: question and answer of every claim. ``verdicts/self-<setting>``: one verdict a
claim, label yes, no or none, ``number`` P(yes), ``raw`` the answer in each order of the options.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from sayso.engines.engine import Engine
from sayso.judges.claim_questions import QuestionAnswer
from sayso.judges.decisiveness import decisiveness
from sayso.judges.self_judgement import (
    REPLY_TOKENS,
    Judged,
    from_probabilities,
    from_replies,
    orders,
    prompt,
    read_reply,
    spellings,
)
from sayso.protocols.protocol import Ask, Run
from sayso.protocols.self_known.claims import BY_DATA, Checker, Maker, topic_of
from sayso.protocols.self_known.rows import STAGE
from sayso.protocols.self_known.settings import MAIN, Settings, modes_of
from sayso.records import (
    Claim,
    ClaimQuestion,
    Generation,
    Passage,
    Question,
    Request,
    Score,
    Sentence,
    Verdict,
    ask,
)
from sayso.scores.claim import frequency, refused, span_max_nll, span_nll
from sayso.scores.evidence import NoEvidence

# What a model's probabilities say of its own claims, where they can be read.


class Asked(NamedTuple):
    """One way of asking of one claim: a setting and an order of its options."""

    claim: str
    mode: str
    order: tuple[str, ...]
    request: Request


def by_probability(reader: Engine, every: Sequence[Asked]) -> dict[tuple[str, str], Judged]:
    """Read the probability of every option in each spelling; equal requests are read once."""
    items: dict[tuple[Request, str], None] = {}
    for one in every:
        for spelled in spellings(one.mode, one.order).values():
            items.update(dict.fromkeys((one.request, text) for text in spelled))
    wanted = list(items)
    read: dict[tuple[Request, str], tuple[tuple[int, ...], float]] = {}
    for index, found in reader.force(wanted, ["logprobs"]):
        if found.problem is None and found.logprobs:
            ids = tuple(found.token_ids or (index,))
            read[wanted[index]] = ids, math.exp(sum(found.logprobs))
    by_claim: dict[tuple[str, str], list[dict[str, float]]] = defaultdict(list)
    for one in every:
        said = {}
        for name, spelled in spellings(one.mode, one.order).items():
            own = [read[one.request, text] for text in spelled if (one.request, text) in read]
            if own:
                said[name] = _disjoint(dict(own))
        # an option that could not be read has no probability, which is not one of 0
        by_claim[one.claim, one.mode].append(said if len(said) == len(one.order) else {})
    return {key: from_probabilities(found) for key, found in by_claim.items()}


def _disjoint(mass: Mapping[tuple[int, ...], float]) -> float:
    """Return the sum over tokenizations; one that goes on from another is part of that already."""
    return sum(p for ids, p in mass.items() if not any(ids[:n] in mass for n in range(1, len(ids))))


def make_questions(
    run: Run,
    claims: Sequence[Claim],
    asked: Mapping[str, Question],
    maker: Maker,
    own: Mapping[str, QuestionAnswer] | None = None,
) -> dict[str, QuestionAnswer]:
    """Store a question for every claim, and return it by the claim's id.

    ``own`` are questions of the data by the claim's id; ``maker`` makes the others. Who made a
    question is stored with it.
    """
    given = own or {}
    keys = {c.id: (topic_of(asked[c.generation]), c.text) for c in claims if c.id not in given}
    made = maker.read(list(keys.values()))
    found = {c.id: given[c.id] if c.id in given else made[keys[c.id]] for c in claims}
    rows = [ClaimQuestion(c, BY_DATA if c in given else maker.signature, *found[c]) for c in found]
    run.put(f"asked/{STAGE}", rows, ClaimQuestion)
    return found


def ways(
    claims: Sequence[Claim],
    asked: Mapping[str, Question],
    made: Mapping[str, QuestionAnswer],
    settings: Settings,
    seed: int,
    shown: Mapping[str, Sequence[Passage]],
) -> list[Asked]:
    """Return every request about the claims; none for a question that could not be made."""
    folder = Path(settings.prompt_folder) if settings.prompt_folder else None
    found = []
    for mode in modes_of(settings):
        for claim in claims:
            topic = topic_of(asked[claim.generation])
            passages = [p.text for p in shown.get(claim.generation, ())]
            for order in orders(mode, settings.orders):
                text = prompt(mode, topic, claim.text, made.get(claim.id), order, folder, passages)
                if text is not None:
                    request = ask(text, temperature=0.0, max_tokens=REPLY_TOKENS, seed=seed)
                    found.append(Asked(claim.id, mode, order, request))
    return found


def judge_own(
    run: Run,
    model: Engine,
    claims: Sequence[Claim],
    asked: Mapping[str, Question],
    made: Mapping[str, QuestionAnswer],
    settings: Settings,
    seed: int,
    shown: Mapping[str, Sequence[Passage]],
) -> None:
    """Ask the model of every claim in every setting and order, and store what it says."""
    every = ways(claims, asked, made, settings, seed, shown)
    reader = run.tools("rules").engine
    if reader is not None and reader.capabilities.force:
        # what is not asked through a stage gets the run's template arguments here
        kwargs = next((g.request.chat_template_kwargs for g in run.generations(STAGE)), ())
        judged = by_probability(reader, [_shaped(way, kwargs) for way in every])
    else:
        judged = _by_reply(run, model, every, asked, claims)
    for mode in modes_of(settings):
        by = f"self:{mode}@2"
        verdicts = []
        for claim in claims:
            question = asked[claim.generation].id
            one = judged.get((claim.id, mode))
            if one is None:
                problem = "unasked"
                verdicts.append(Verdict(claim.id, question, by, problem=problem))
                continue
            raw = ",".join(name or "?" for name in one.by_order)
            raw = raw if one.mass is None else f"{raw}|{one.mass:.3f}"
            # of a tie the share is known all the same: one half
            said = Verdict(claim.id, question, by, label=one.label, number=one.share, raw=raw)
            verdicts.append(msgspec.structs.replace(said, problem=one.problem))
        run.put(f"verdicts/self-{mode}", verdicts, Verdict)


def _shaped(way: Asked, kwargs: tuple[tuple[str, str | int | float | bool], ...]) -> Asked:
    """Return a way of asking with the arguments of the chat template that texts were asked with."""
    if not kwargs:
        return way
    return way._replace(request=msgspec.structs.replace(way.request, chat_template_kwargs=kwargs))


def _by_reply(
    run: Run,
    model: Engine,
    every: Sequence[Asked],
    asked: Mapping[str, Question],
    claims: Sequence[Claim],
) -> dict[tuple[str, str], Judged]:
    """Let the model reply in words, where its probabilities cannot be read."""
    question = {c.id: asked[c.generation] for c in claims}
    asks = [
        Ask(question[one.claim], one.request, f"self-{one.mode}", "self", f"{one.claim}:{number}")
        for number, one in enumerate(every)
    ]
    tables = run.stage(asks, model) if asks else {}
    replies = {g.method: g for rows in tables.values() for g in rows}
    by_claim: dict[tuple[str, str], list[str | None]] = defaultdict(list)
    for number, one in enumerate(every):
        reply = replies[f"{one.claim}:{number}"]
        said = read_reply(reply.text, one.order) if reply.problem is None else None
        by_claim[one.claim, one.mode].append(said)
    return {key: from_replies(found) for key, found in by_claim.items()}


def counted(
    run: Run, claims: Sequence[Claim], asked: Mapping[str, Question], checked: bool, s: Settings
) -> str:
    """Return in words how many claims there were and how much was asked about them."""
    distinct = len({(topic_of(asked[c.generation]), c.text) for c in claims})
    rows = [row for row in run.table(f"asked/{STAGE}", ClaimQuestion) if row.problem is None]
    made, own = len(rows), sum(row.by == BY_DATA for row in rows)
    ways_of = {mode: len(orders(mode, s.orders)) for mode in modes_of(s)}
    put = sum(n * (len(claims) if mode == "direct" else made) for mode, n in ways_of.items())
    told = f"{len(claims):,} claims ({distinct:,} distinct)"
    told += f", {distinct:,} checked against passages" if checked else ", checked against nothing"
    if ways_of:
        told += f"; {made:,} became questions"
        told += f" ({own:,} of them the data's own)" if own else ""
        told += f", and the model was asked {put:,} times of its claims"
    return told


# Uncertainty of every claim, kept once: ``scores/claims``, and ``verdicts/long-decisive``.

BY_WORDING = "rules@1"


def read_wording(run: Run, claims: Sequence[Claim], answers: Mapping[str, Generation]) -> None:
    """Store how surely each claim is told: the decisiveness of the clause it stands in."""
    verdicts = []
    for c in claims:
        g = answers[c.generation]
        score = decisiveness(g.text[c.start : c.end]) if c.end > c.start else None
        problem = None if score is not None else "unread"
        label = "assertion" if score is not None else None
        verdicts.append(
            Verdict(c.id, g.question, BY_WORDING, label=label, number=score, problem=problem)
        )
    run.put(f"verdicts/{STAGE}-decisive", verdicts, Verdict)


def score_claims(
    run: Run,
    claims: Sequence[Claim],
    answers: Mapping[str, Generation],
    asked: Mapping[str, Question],
    draws: Sequence[Generation],
    checker: Checker,
    settings: Settings,
) -> None:
    """Store every score of every claim, or why it has none."""
    said: dict[str, dict[str, float | None]] = {}
    for mode in modes_of(settings):
        said[mode] = {v.target: v.number for v in run.verdicts(f"self-{mode}")}
    sure = {v.target: v.number for v in run.verdicts(f"{STAGE}-decisive")}
    held = _held(claims, asked, draws, checker) if draws else {}
    count = Counter(s.generation for s in run.table(f"sentences/{STAGE}", Sentence))
    found: list[Score] = []
    for c in claims:
        g = answers[c.generation]
        span = (g.logprobs, g.offsets, c.start, c.end)
        sentences = count[c.generation]
        ways: dict[str, Callable[[], float]] = {
            "span_nll": lambda span=span: span_nll(*span),  # type: ignore[misc]
            "span_max_nll": lambda span=span: span_max_nll(*span),  # type: ignore[misc]
            "p_true": lambda c=c: refused(said.get("direct", {}).get(c.id)),  # type: ignore[misc]
            "p_qa_none": lambda c=c: refused(said.get(MAIN, {}).get(c.id)),  # type: ignore[misc]
            "frequency": lambda c=c: frequency(held.get(c.id, ())),  # type: ignore[misc]
            "wording": lambda c=c: refused(sure.get(c.id)),  # type: ignore[misc]
            "position": lambda c=c, n=sentences: c.sentence / n if n else 0.0,  # type: ignore[misc]
            "length": lambda c=c: float(len(c.text.split())),  # type: ignore[misc]
        }
        for name, way in ways.items():
            try:
                found.append(Score(c.id, name, way()))
            except NoEvidence as reason:
                found.append(Score(c.id, name, problem=str(reason)))
    run.keep("claims", found)


def _held(
    claims: Sequence[Claim],
    asked: Mapping[str, Question],
    draws: Sequence[Generation],
    checker: Checker,
) -> dict[str, list[bool | None]]:
    """Return for each claim whether each draw of its topic holds it; equal pairs are read once."""
    by_question: dict[str, list[Generation]] = defaultdict(list)
    for g in draws:
        if g.problem is None and g.text.strip():
            by_question[g.question].append(g)
    items: dict[tuple[str, str, tuple[Passage, ...]], None] = {}
    places: list[tuple[str, tuple[str, str, tuple[Passage, ...]]]] = []
    for c in claims:
        question = asked[c.generation]
        for g in by_question[question.id]:
            topic = topic_of(question)
            passages: tuple[Passage, ...] = (Passage(g.id, topic, g.text),)
            item = (topic, c.text, passages)
            items.setdefault(item)
            places.append((c.id, item))
    read = dict(zip(items, checker.read(list(items), apart=True), strict=True))
    held: dict[str, list[bool | None]] = defaultdict(list)
    for claim, item in places:
        one = read[item]
        held[claim].append(None if one.problem else one.label == "S")
    return held
