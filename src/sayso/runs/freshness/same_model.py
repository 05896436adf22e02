"""Is the model behind an endpoint's name still the one that gave the answers in the cache?

Up to three greedy prompts whose answers are in the cache are asked again at the start of a run.
Servers need not repeat themselves: batches, other cards and new releases of their software change a
word here and there, and where two tokens are nearly equally likely, an answer. So replies are
compared by what they say (:mod:`sayso.judges.contradiction`) and how surely they say it (the rules
judge), never byte by byte.

Which prompts: an answer that a model is sure of stays the same when its weights are changed a
little, or its decoding; one between two nearly equal tokens changes by rounding. Between the two
are answers that are *steady* and still tell much: the first token led by a clear but small margin,
or most draws said the same and not all. They come first, errors before right answers, since another
model hardly makes the same mistake.

One steady answer that comes back different, or any two, mean another model. Where all three say the
same in other words, or with other probabilities, a run goes on with a caution.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from sayso.harmless import line
from sayso.judges.contradiction import relate
from sayso.judges.english.language import is_english
from sayso.judges.english.tokens import STOP, fold
from sayso.judges.judge import WITHHELD, Item
from sayso.judges.rules.judge import RulesJudge
from sayso.protocols.protocol import Ask
from sayso.records import Generation, InputError, Question, Request, Verdict, request_key
from sayso.runs.asking import CachedEngine, answer_without_thoughts

#: prompts that are asked again, and cached answers among which they are chosen
MOST, LOOKED_AT = 3, 150
#: a share of draws that says the same, and so many of them that all agreeing is no accident
AGREED, MANY = 0.8, 4
#: a lead of the likeliest token (probability) that rounding does not turn round, and the tokens of
#: an answer that are looked at
LEAD, TOKENS = 0.1, 24
#: by so much the log-probabilities of equal tokens differ on average, and never by rounding; the
#: fewest tokens for that
SHIFT, FEWEST = 0.05, 6
#: the first words of two replies of which a smaller share is common begin otherwise
OPENING, COMMON = 6, 0.5
#: characters of an answer that a message repeats
SHOWN = 60

#: how a reply relates to the one in the cache, from the least to the most
Kind = Literal[
    "same", "reworded", "failed", "other", "withheld", "hedged", "stated", "language", "cut"
]
WORDS: dict[Kind, str] = {
    "other": "another answer came",
    "withheld": "no answer came",
    "hedged": "a hedged answer came",
    "stated": "an answer came although there was none before",
    "language": "an answer in another language came",
    "cut": "the answer was cut off before its token limit",
}


class CachedPrompt(NamedTuple):
    """A prompt with the answer in the cache, its draws, and how much a difference would say.

    ``agreed``: many draws say the same. ``steady``: rounding does not change the answer.
    ``rank``: how little a difference would say.
    """

    question: Question
    request: Request
    kept: Generation
    draws: tuple[str, ...]
    verdict: Verdict
    agreed: bool
    steady: bool
    rank: float


class RepeatedPrompt(NamedTuple):
    """What came when a prompt was asked again."""

    probe: CachedPrompt
    reply: Generation
    kind: Kind


class SameModel(NamedTuple):
    """What is known of the model: cautions and notices for the manifest, and counts."""

    cautions: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    counts: Mapping[str, int] = {}


# ---- which prompts


def probes(asks: Sequence[Ask], model: CachedEngine, begun: float | None) -> list[CachedPrompt]:
    """Return the prompts to ask again, the most telling first; none where no answer is cached.

    ``asks`` are the requests of a run. With ``begun`` only answers count that were given before.
    """
    if not model.remote or model.cache is None:
        return []
    greedy: dict[bytes, Ask] = {}
    for ask in asks:
        if ask.request.greedy and not ask.question.parts:
            greedy.setdefault(request_key(ask.request, model.identity), ask)
    origins = model.cache.origins(greedy)
    early = sorted(
        key for key, o in origins.items() if begun is None or o is None or o.given < begun
    )
    replies = model.usable(early[:LOOKED_AT])
    chosen = {key: greedy[key] for key in replies if replies[key].reply.problem is None}
    drawn = _draws(asks, model, {(a.question.id, a.request.messages) for a in chosen.values()})
    found = [
        (
            ask,
            answer_without_thoughts(replies[key].reply),
            drawn.get((ask.question.id, ask.request.messages), ()),
        )
        for key, ask in chosen.items()
    ]
    ranked = sorted(_ranked(found), key=lambda probe: probe.rank)
    distinct: dict[str, CachedPrompt] = {}
    for probe in ranked:
        distinct.setdefault(probe.question.id, probe)
    return list(distinct.values())[:MOST]


def _draws(
    asks: Sequence[Ask], model: CachedEngine, prompts: Iterable[tuple[str, object]]
) -> dict[tuple[str, object], tuple[str, ...]]:
    """Return the cached draws of some prompts, by question and messages."""
    wanted = set(prompts)
    places: dict[bytes, tuple[str, object]] = {}
    for ask in asks:
        place = ask.question.id, ask.request.messages
        if not ask.request.greedy and place in wanted:
            places[request_key(ask.request, model.identity)] = place
    found: dict[tuple[str, object], tuple[str, ...]] = {}
    for key, stored in model.usable(places).items():
        reply = answer_without_thoughts(stored.reply)
        if reply.problem is None:
            found[places[key]] = (*found.get(places[key], ()), reply.text)
    return found


def _ranked(found: Sequence[tuple[Ask, Generation, tuple[str, ...]]]) -> list[CachedPrompt]:
    """Return prompts with their ranks, from 0."""
    verdicts = RulesJudge().grade([Item(kept, (ask.question,)) for ask, kept, _ in found])
    ranked = []
    for (ask, kept, draws), verdict in zip(found, verdicts, strict=True):
        same = [relate(ask.question.text, kept.text, draw) for draw in draws]
        agreed = len(draws) >= MANY and _mostly(same, "same") and "apart" not in same
        # by how much the likeliest token led where that was closest; None: unknown
        lead = min(kept.margins[:TOKENS] if kept.margins else (), default=None)
        steady = agreed or (lead is not None and lead >= LEAD)
        share = same.count("same") / len(draws) if draws else 1.0
        if lead is not None and lead >= LEAD:
            rank = lead
        elif _leads(ask.question.text, kept.text, draws):
            rank = 1 + share
        else:
            rank = 2 + share
        rank -= 0.05 * (verdict.content == "incorrect")
        rank += 0.5 * ask.instructed + 4 * (verdict.stance != "committed")
        ranked.append(
            CachedPrompt(ask.question, ask.request, kept, draws, verdict, agreed, steady, rank)
        )
    return ranked


def _leads(question: str, text: str, draws: Sequence[str]) -> bool:
    """Tell whether clearly more draws say what the answer says than say any other one thing."""
    same = [relate(question, text, draw) == "same" for draw in draws]
    others = [draw for draw, alike in zip(draws, same, strict=True) if not alike]
    largest = max(
        (sum(relate(question, a, b) == "same" for b in others) for a in others), default=0
    )
    return sum(same) - largest >= max(2, len(draws) / 5)


def _mostly(relations: Sequence[object], wanted: object) -> bool:
    return relations.count(wanted) >= AGREED * len(relations)


# ---- what came


def relation_of(probe: CachedPrompt, reply: Generation, verdict: Verdict) -> Kind:
    """Return how a reply relates to the answer in the cache; ``verdict`` is the rules' of it."""
    question, kept = probe.question.text, probe.kept
    if reply.problem is not None:
        return "failed"
    if _bare(reply.text) == _bare(kept.text):
        return "same"
    if _cut(reply) and not _cut(kept):
        return "cut"
    if is_english(kept.text) and not is_english(reply.text):
        return "language"
    before, now = probe.verdict.stance, verdict.stance
    if before == "committed" and now in WITHHELD:
        return "withheld"
    if before == "committed" and now == "hedged":
        return "hedged"
    if before in WITHHELD and now == "committed":
        return "stated"
    relation = relate(question, kept.text, reply.text)
    alike = [relate(question, draw, reply.text) == "same" for draw in probe.draws]
    # one of two texts may be misread: where the draws agree, they are read too
    if relation == "apart" and not (probe.agreed and _mostly(alike, True)):
        return "other"
    # only the kept answer has a value that can be compared
    alone = relation is None and relate(question, kept.text, kept.text) is not None
    if alone and _bare(kept.text) not in _bare(reply.text):
        return "withheld"
    a, b = _opening(question, kept.text), _opening(question, reply.text)
    return "same" if len(a & b) >= COMMON * len(a | b) else "reworded"


def shift(findings: Sequence[RepeatedPrompt]) -> float | None:
    """Return by how much the log-probabilities of equal tokens differ on average, by size.

    Tokens count up to the first one that differs. ``None`` where too few are known of both.
    """
    differences: list[float] = []
    for finding in findings:
        old, new = finding.probe.kept, finding.reply
        if not (old.offsets and new.offsets and old.logprobs and new.logprobs):
            continue
        ends = (*old.offsets[1:], len(old.text)), (*new.offsets[1:], len(new.text))
        for a, b, p, q in zip(*ends, old.logprobs[:TOKENS], new.logprobs, strict=False):
            if a != b or old.text[:a] != new.text[:b]:
                break
            differences.append(abs(p - q))
    return sum(differences) / len(differences) if len(differences) >= FEWEST else None


def _cut(reply: Generation) -> bool:
    """Tell whether an answer ended at a token limit that is not the request's."""
    spent = reply.usage.completion_tokens
    return reply.finish == "length" and 0 < spent < reply.request.max_tokens


_WORD = re.compile(r"[^\W_]+")
#: words that answers begin with and that say nothing
_FRAME = {
    "answer", "answers", "correct", "question", "sure", "certainly", "course", "okay", "ok", "yes",
    "well", "would",
}  # fmt: skip


def _bare(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _opening(question: str, text: str) -> set[str]:
    """Return the first words of an answer that are neither the question's nor mere frame."""
    asked = {fold(word) for word in _WORD.findall(question)}
    words = (fold(word) for word in _WORD.findall(text[:2000]))
    own = [word for word in words if word not in asked and word not in STOP and word not in _FRAME]
    return set(own[:OPENING])


# ---- what follows


def check_same_model(
    asks: Sequence[Ask], model: CachedEngine, *, begun: float | None, needed: bool, stale_ok: bool
) -> SameModel:
    """Ask a few cached prompts again, and say what that means for the answers in the cache.

    ``needed``: answers are missing, so the endpoint must be there. Raises InputError where another
    model answers, unless ``stale_ok``.
    """
    chosen = probes(asks, model, begun)
    if not chosen:
        return SameModel()
    try:
        replies = model.ask_again([probe.request for probe in chosen])
    except InputError as error:
        if needed:
            raise
        return SameModel((_unchecked(str(error)),))
    verdicts = RulesJudge().grade(
        [Item(reply, (probe.question,)) for probe, reply in zip(chosen, replies, strict=True)]
    )
    findings = [
        RepeatedPrompt(probe, reply, relation_of(probe, reply, verdict))
        for probe, reply, verdict in zip(chosen, replies, verdicts, strict=True)
    ]
    return _conclude(findings, model, stale_ok)


def _conclude(findings: Sequence[RepeatedPrompt], model: CachedEngine, stale_ok: bool) -> SameModel:
    """Return what the findings mean. Raises InputError where they mean another model."""
    answered = [one for one in findings if one.kind != "failed"]
    different = [one for one in answered if one.kind in WORDS]
    counts = {"asked again": len(findings), "different": len(different)}
    if not answered:
        return SameModel((_unchecked(str(findings[0].reply.problem)),), counts=counts)
    asked = f"{len(different)} of {len(answered)} cached answers, asked again, came back different"
    firm = [one for one in different if one.probe.steady or one.kind == "cut"]
    if len(different) >= 2 or firm:
        shown = _example((firm or different)[0])
        if not stale_ok:
            raise InputError(
                f"the model behind {model.name} has changed: {asked} ({shown}). Nothing was "
                "overwritten. Use --model-version NAME to keep the two models apart, --fresh to "
                "ask everything again, or --stale-ok to use the cached answers all the same"
            )
        return SameModel(
            (
                f"The model behind this name has changed: {asked} ({shown}). Answers of both "
                "models are mixed here (--stale-ok).",
            ),
            counts=counts,
        )
    if different:
        caution = f"{asked} ({_example(different[0])}). Its draws do not agree either, so the "
        return SameModel(
            (f"{caution}model may be the same. --fresh asks everything again.",), (), counts
        )
    if len(answered) == MOST and all(one.kind == "reworded" for one in answered):
        one = answered[0]
        return SameModel(
            (
                f"The model behind this name may have changed: all {MOST} cached answers that "
                "were asked again came back in other words with the same meaning "
                f"({_example(one)}). --fresh asks "
                "everything again.",
            ),
            (),
            counts,
        )
    told = (
        f"{len(answered)} cached answer{'s' * (len(answered) != 1)}, asked again, came back with "
    )
    return SameModel((), (f"{told}the same meaning{_other_system(answered)}",), counts)


def _other_system(findings: Sequence[RepeatedPrompt]) -> str:
    """Return what to add where the endpoint calls its system otherwise than before."""
    pairs = [(one.probe.kept.fingerprint, one.reply.fingerprint) for one in findings]
    if not all(old and new and old != new for old, new in pairs):
        return ""
    old, new = (line(str(name), SHOWN) for name in pairs[0])
    return f"; the endpoint calls its system {new} now and called it {old} then"


def _example(finding: RepeatedPrompt) -> str:
    """Return the question with both answers, on one line."""
    question, old, new = (
        line(text, SHOWN)
        for text in (finding.probe.question.text, finding.probe.kept.text, finding.reply.text)
    )
    what = WORDS.get(finding.kind, "another wording came")
    return f"{question!r}: {old!r} is in the cache, and {what}: {new!r}"


def _unchecked(why: str) -> str:
    return (
        "sayso could not check whether the model behind this name is still the one that gave the "
        f"cached answers: {line(why, 200)}"
    )
