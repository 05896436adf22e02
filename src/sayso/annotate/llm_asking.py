"""Sending parts to a judge model: which go into one call, what is asked a second time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import msgspec

from sayso.annotate.fence import LONGEST
from sayso.annotate.llm_labels import Labels, vocabulary
from sayso.annotate.llm_parse import read_reply, refuses, strip_thinking
from sayso.annotate.llm_prompts import (
    TOKENS_PER_CALL,
    TOKENS_PER_PART,
    Output,
    Part,
    Prompts,
    Sent,
    Step,
    compose,
)
from sayso.models import Engine
from sayso.records import Generation

Batch = Literal["item", "entity", "aspect"]

#: Short answers in one call, and the characters they may have together: one endless answer must
#: not push the others out of the judge's context.
MOST_PARTS = 12
MOST_CHARACTERS = 24_000
#: A reply that was cut off may be this many times as long when asked again.
LONGER = 4


class JudgeCounts(msgspec.Struct):
    """What a judge did so far.

    ``parts`` are (question, golds, answer) triples that were asked, ``shared`` verdicts that an
    equal triple gave, ``calls`` requests including ``retries``; ``retried`` parts were asked a
    second time. The next five count parts that stayed without a verdict, by problem. Tokens are
    those of all replies, whoever paid for them; ``dollars`` is ``None`` once one price is unknown.
    """

    calls: int = 0
    retries: int = 0
    parts: int = 0
    shared: int = 0
    retried: int = 0
    unread: int = 0
    mismatch: int = 0
    refused: int = 0
    truncated: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    dollars: float | None = 0.0

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens together."""
        return self.prompt_tokens + self.completion_tokens

    def spend(self, reply: Generation) -> None:
        """Add one reply."""
        self.calls += 1
        self.prompt_tokens += reply.usage.prompt_tokens
        self.completion_tokens += reply.usage.completion_tokens
        price = reply.usage.dollars
        failed = reply.problem not in (None, "truncated")
        if failed and price is None and not reply.usage.prompt_tokens:
            return  # nothing came back, nothing is known to have been paid
        if self.dollars is None or price is None:
            self.dollars = None
        else:
            self.dollars += price


class Outcome(NamedTuple):
    """What was read about one part: a label, or the problem; ``raw`` is the judge's own text."""

    label: str | None
    problem: str | None
    raw: str


class Setup(NamedTuple):
    """How a judge asks."""

    prompts: Prompts
    labels: Labels
    output: Output
    room: int
    template: tuple[tuple[str, str | int | float | bool], ...]

    def request(
        self, parts: Sequence[Part], step: Step, output: Output, retry: bool, longer: int = 1
    ) -> Sent:
        """Compose one call."""
        tokens = (TOKENS_PER_CALL + TOKENS_PER_PART * len(parts) + self.room) * longer
        sent = compose(self.prompts, self.labels, step, parts, output, retry=retry, tokens=tokens)
        if not self.template:
            return sent
        request = msgspec.structs.replace(sent.request, chat_template_kwargs=self.template)
        return sent._replace(request=request)


def calls_of(parts: Sequence[tuple[object, Part]], batch: Batch) -> list[list[Part]]:
    """Cut parts into calls; each comes with the key of what it may share a call with.

    ``None`` as key: with nothing. The order of calls is that of their first parts.
    """
    calls: list[list[Part]] = []
    open_calls: dict[object, list[Part]] = {}
    for key, part in parts:
        call = open_calls.get(key) if batch != "aspect" and key is not None else None
        if call is not None and (part.form == "long" or _fits(call, part)):
            call.append(part)
            continue
        call = [part]
        calls.append(call)
        if key is not None:
            open_calls[key] = call
    return calls


def _fits(call: Sequence[Part], part: Part) -> bool:
    size = sum(_size(p) for p in (*call, part))
    return len(call) < MOST_PARTS and size <= MOST_CHARACTERS


def _size(part: Part) -> int:
    golds = sum(len(name) for gold in part.golds for name in gold.names)
    return sum(min(LONGEST, n) for n in (len(part.question), golds, len(part.text)))


def ask_all(
    engine: Engine, setup: Setup, step: Step, calls: Sequence[Sequence[Part]], counts: JudgeCounts
) -> dict[Part, Outcome]:
    """Ask every call, and what is missing once more. Every part has an outcome."""
    found: dict[Part, Outcome] = {}
    again: list[Sent] = []
    first = [setup.request(parts, step, setup.output, retry=False) for parts in calls]
    for sent, reply in _replies(engine, first, counts):
        outcomes = _read(sent, reply, setup.labels)
        found.update(zip(sent.parts, outcomes, strict=True))
        again += _second_try(setup, sent, reply, outcomes)
    counts.retried += sum(len(sent.parts) for sent in again)
    counts.retries += len(again)
    for sent, reply in _replies(engine, again, counts):
        for part, outcome in zip(sent.parts, _read(sent, reply, setup.labels), strict=True):
            raw = f"{found[part].raw}\n\n[asked again]\n{outcome.raw}"
            found[part] = outcome if outcome.label is not None else outcome._replace(raw=raw)
    return found


def _replies(
    engine: Engine, sent: Sequence[Sent], counts: JudgeCounts
) -> Iterator[tuple[Sent, Generation]]:
    """Send requests and return them with their replies, in the order in which they were sent."""
    replies: list[Generation | None] = [None] * len(sent)
    if sent:
        for index, reply in engine.complete(s.request for s in sent):
            replies[index] = reply
            counts.spend(reply)
    for one, found in zip(sent, replies, strict=True):
        yield one, found or Generation(one.request, problem="failed: the engine gave no reply")


def _read(sent: Sent, reply: Generation, labels: Labels) -> list[Outcome]:
    """Read one reply: an outcome for each part of its call."""
    count = len(sent.parts)
    if reply.problem is not None:
        return [Outcome(None, _problem(reply.problem), reply.problem)] * count
    text, closed = strip_thinking(reply.text)
    words = vocabulary(labels, sent.step, sent.parts[0].form)
    questions = [part.question for part in sent.parts]
    cut = not closed or reply.finish == "length"
    read = read_reply(text, sent.output, sent.code, questions, words, cut=cut)
    declined = not read.labels and refuses(text.strip())
    outcomes = []
    for number in range(count):
        label = read.labels.get(number)
        if label is not None:
            outcomes.append(Outcome(label, None, read.raw[number]))
            continue
        problem = "truncated" if cut else "refused" if declined else read.problems[number]
        outcomes.append(Outcome(None, problem, reply.text))
    return outcomes


def _problem(reason: str) -> str:
    """The problem of a verdict whose judge could not be asked."""
    if reason == "truncated":
        return "truncated"
    return "refused" if "content filter" in reason or reason.startswith("refused") else "failed"


def _second_try(
    setup: Setup, sent: Sent, reply: Generation, outcomes: Sequence[Outcome]
) -> list[Sent]:
    """The calls that ask once more for what is missing in a reply."""
    pairs = zip(sent.parts, outcomes, strict=True)
    missing = [part for part, outcome in pairs if outcome.label is None]
    if not missing:
        return []
    cut = reply.problem == "truncated" or any(o.problem == "truncated" for o in outcomes)
    if reply.problem is not None and not cut and len(sent.parts) == 1:
        return []  # the engine tried as often as it makes sense; greedily the same would come
    # Schema or not, this judge did not write JSON: the second try is in the other form.
    lost = sent.output == "json" and len(missing) == len(sent.parts) and not cut
    output: Output = "blocks" if lost else sent.output
    alone = cut or reply.problem is not None or any(o.problem == "refused" for o in outcomes)
    groups = [[part] for part in missing] if alone else [missing]
    longer = LONGER if cut else 1
    return [setup.request(g, sent.step, output, retry=True, longer=longer) for g in groups]
