"""Is the model behind an endpoint's name still the one that gave the answers in the cache?

Three greedy prompts whose answers are in the cache are asked again at the start of a run. Servers
need not repeat themselves: batches, other cards and new releases of their software change a word
here and there, and where two tokens are nearly equally likely, an answer. So what replies say is
compared (:mod:`sayso.judges.contradiction`), never byte by byte, and prompts come first whose
answer rounding does not turn round. What the same address was paid for a moment ago, by a pilot or
before a stop, is not paid again.

Two replies that say something else mean another model. One of them, or log-probabilities that
moved under the same words, are a caution. Other words for the same are nothing.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sayso.harmless import line
from sayso.judges.contradiction import relate
from sayso.protocols.protocol import Ask
from sayso.records import Generation, InputError, Question, Request, request_key
from sayso.runs.asking import CachedEngine, answer_without_thoughts
from sayso.runs.freshness.ages import plain_address

#: prompts that are asked again, and cached answers among which they are chosen
MOST, LOOKED_AT = 3, 150
#: seconds in which nobody exchanges a model that is paid for
RECENT = 3_600
#: replies that say something else of which a run goes on no more
TOO_MANY = 2
#: a lead of the likeliest token (probability) that rounding does not turn round, and the tokens of
#: an answer that are looked at
LEAD, TOKENS = 0.1, 24
#: by so much the log-probabilities of equal tokens differ on average, and never by rounding; the
#: fewest tokens for that
SHIFT, FEWEST = 0.1, 6
#: characters of an answer that a message repeats
SHOWN = 60


class CachedPrompt(NamedTuple):
    """A prompt with the answer in the cache."""

    question: Question
    request: Request
    kept: Generation


class RepeatedPrompt(NamedTuple):
    """What came when a prompt was asked again; ``differs``: it says something else."""

    probe: CachedPrompt
    reply: Generation
    differs: bool


class SameModel(NamedTuple):
    """What is known of the model: cautions and notices for the manifest, and counts."""

    cautions: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    counts: Mapping[str, int] = {}


# ---- which prompts


def probes(asks: Sequence[Ask], model: CachedEngine, begun: float | None) -> list[CachedPrompt]:
    """Return the prompts to ask again, the most telling first; none where no answer is cached.

    ``asks`` are the requests of a run. With ``begun``, when a command of several runs began, only
    answers count that were given before; of those that were paid for, older ones and another
    address's. Raises InputError where another address gave some since: then two of its models have
    one name.
    """
    if not model.remote or model.cache is None:
        return []
    greedy: dict[bytes, Ask] = {}
    for ask in asks:
        if ask.request.greedy and not ask.question.parts:
            greedy.setdefault(request_key(ask.request, model.identity), ask)
    origins = model.cache.origins(greedy)
    since = [o for o in origins.values() if o and begun is not None and o.given >= begun]
    if other := next((o.address for o in since if o.address not in ("", model.address)), ""):
        raise InputError(
            f"{model.name}: {plain_address(other)} answers under the same name in this command, "
            "and answers of one name are shared: give one of the models a model_version"
        )
    paid = model.price is not None and bool(model.price.input or model.price.output)
    recent = time.time() - RECENT * paid
    early = sorted(
        key
        for key, o in origins.items()
        if o is None
        or ((begun is None or o.given < begun) and (o.given < recent or o.address != model.address))
    )
    replies = model.usable(early[:LOOKED_AT])
    ranked = sorted(
        (_rank(greedy[key], kept := answer_without_thoughts(stored.reply)), key, kept)
        for key, stored in replies.items()
        if stored.reply.problem is None
    )
    distinct: dict[str, CachedPrompt] = {}
    for _, key, kept in ranked:
        question = greedy[key].question
        distinct.setdefault(question.id, CachedPrompt(question, greedy[key].request, kept))
    return list(distinct.values())[:MOST]


def _rank(ask: Ask, kept: Generation) -> tuple[bool, bool, float]:
    """Return how little a difference would say.

    An answer with a value that can be compared says most, then one that was not asked to doubt,
    then one whose closest token led by a small margin, which other weights turn round and rounding
    does not.
    """
    lead = min(kept.margins[:TOKENS] if kept.margins else (), default=1.0)
    return not _has_value(ask.question, kept), ask.instructed, lead if lead >= LEAD else 2.0


# ---- what came


def _has_value(question: Question, reply: Generation) -> bool:
    return relate(question.text, reply.text, reply.text) is not None


def says_something_else(probe: CachedPrompt, reply: Generation) -> bool:
    """Tell whether a reply has another value than the answer in the cache, or one of them none."""
    kept, question = probe.kept, probe.question
    if _words(kept.text) in _words(reply.text):
        return False
    relation = relate(question.text, kept.text, reply.text)
    if relation is None:
        return _has_value(question, kept) != _has_value(question, reply)
    return relation == "apart"


def _words(text: str) -> str:
    words = " ".join(re.findall(r"[^\W_]+", text.casefold()))
    return f" {words} "


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
    answered = [
        RepeatedPrompt(probe, reply, says_something_else(probe, reply))
        for probe, reply in zip(chosen, replies, strict=True)
        if reply.problem is None
    ]
    counts = {"asked again": len(replies), "different": sum(one.differs for one in answered)}
    if not answered:
        return SameModel((_unchecked(str(replies[0].problem)),), (), counts)
    return _conclude(answered, model, stale_ok)._replace(counts=counts)


def _conclude(answered: Sequence[RepeatedPrompt], model: CachedEngine, stale_ok: bool) -> SameModel:
    """Return a caution or a notice. Raises InputError where another model answers."""
    different = [one for one in answered if one.differs]
    told = f"{len(different)} of {len(answered)} cached answers, asked again, came back different"
    told += f" ({_example(different[0])})" if different else ""
    if len(different) >= TOO_MANY and not stale_ok:
        raise InputError(
            f"the model behind {model.name} has changed: {told}. Nothing was overwritten. Use "
            "--set model_version=NAME to keep the two models apart, --fresh to ask everything "
            "again, or --set stale_ok=true to use the cached answers all the same"
        )
    if len(different) >= TOO_MANY:
        mixed = "Answers of both models are mixed here (--set stale_ok=true)."
        return SameModel((f"The model behind this name has changed: {told}. {mixed}",))
    again = "--fresh asks everything again."
    if different:
        return SameModel((f"{told}; the model may have changed. {again}",))
    moved = shift(answered)
    if moved is not None and moved > SHIFT:
        caution = (
            "The model behind this name may have changed: cached answers, asked again, say the "
            f"same, and the log-probs of their tokens differ by {moved:.2f} on average. {again}"
        )
        return SameModel((caution,))
    number = f"{len(answered)} cached answer{'s' * (len(answered) != 1)}"
    same = f"{number}, asked again, came back with the same meaning{_other_system(answered)}"
    return SameModel((), (same,))


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
    return f"{question!r}: {old!r} is in the cache, and another answer came: {new!r}"


def _unchecked(why: str) -> str:
    return (
        "sayso could not check whether the model behind this name is still the one that gave the "
        f"cached answers: {line(why, 200)}"
    )
