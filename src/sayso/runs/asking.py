"""Requests through the cache: an engine around an engine, for the model and for the judge alike.

Equal requests are sent once, answers that are in the cache are not requested again, and every new
answer goes into the cache as it comes: a run that is killed and started again asks only what is
missing. How the model is to think, what its chat template gets and its system prompt are part of
every request to it.
"""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.engines.engine import EXPLAINED, Engine, EngineWrapper
from sayso.engines.prices import LOCAL, Price, reply_cost
from sayso.engines.room import FIRST, ThoughtRoom, can_grow
from sayso.options import AskingOptions, Scalar, as_typed
from sayso.progress import Progress
from sayso.prompts.thoughts import split_thoughts
from sayso.records import (
    Generation,
    InputError,
    Message,
    Request,
    Usage,
    content_id,
    request_key,
    room_of,
)
from sayso.runs.costs import Meter, add, dollars
from sayso.runs.freshness.ages import Ages, Period
from sayso.storage.cache import KEPT_PROBLEMS, Cache, ReplyOrigin, StoredReply, may_lack_text

Shape = Callable[[Request], Request]


#: what a reply must carry to be used from the cache; an engine that cannot give it is not asked to
WANTED = ("logprobs", "entropies")
#: cached answers from which the room for thoughts is learned before anything is asked
LOOKED_AT = 64


def innermost(engine: Engine) -> Engine:
    """Return the engine that others are around: the one that is asked in the end."""
    while hasattr(inner := getattr(engine, "engine", None), "complete"):
        engine = cast(Engine, inner)
    return engine


class CacheTally(msgspec.Struct):
    """What went through an :class:`CachedEngine`.

    ``asks`` were wanted, ``requests`` of them differ, ``cached`` were in the cache and ``asked``
    were not; ``failed`` got no answer, or one that was cut off in its thought. ``asked_again`` were
    in the cache and asked all the same (:meth:`CachedEngine.ask_again`); ``cut_off`` replies were
    asked for again with more room; ``room`` is the most that an answer had for its thought. The
    tokens are those of all answers, cached ones included.
    """

    asks: int = 0
    requests: int = 0
    cached: int = 0
    asked: int = 0
    failed: int = 0
    asked_again: int = 0
    cut_off: int = 0
    room: int = 0
    completed_arrays: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


class CachedEngine(EngineWrapper):
    """An :class:`~sayso.engines.engine.Engine` that asks another one what the cache does not hold.

    ``dollars`` is the price of all answers, whenever they were paid, ``None`` as soon as one
    without a known price is among them; ``paid`` is what was spent here and now. ``stage`` names
    what is being asked for whoever watches. ``price`` fills in the dollars that a reply lacks. With
    a ``period`` what was given before it is asked anew. ``shape`` (:func:`request_shaper`) is
    applied to every request, whether it is answered or only read.
    """

    def __init__(
        self,
        engine: Engine,
        cache: Cache | None = None,
        *,
        who: str = "model",
        price: Price | None = None,
        meter: Meter | None = None,
        progress: Progress | None = None,
        period: Period | None = None,
    ) -> None:
        super().__init__(engine)
        self.shape: Shape = request_shaper(AskingOptions())
        self.cache = cache
        self.period = period
        self.ages = Ages()
        self.who = who
        self.price = price
        self.meter = meter or Meter()
        self.progress = progress or Progress()
        self.stage = who
        self.tally = CacheTally()
        self.room = ThoughtRoom(innermost(engine))
        #: what :meth:`ask_ahead` has asked: ``None`` for what the cache holds since, else a failure
        self._ahead: dict[bytes, Generation | None] = {}
        self.dollars: float | None = 0.0
        self.paid = 0.0
        self.remote = engine.identity.startswith("api:")
        if hasattr(engine, "tell"):
            engine.tell = self.progress.note
        if period is not None and hasattr(engine, "since"):
            engine.since = period.since
        self._repetition_noted = False
        self._overrides = OverrideCounts()

    @property
    def notices(self) -> list[str]:
        """What the engine has to say, how old cached answers are, and what was not as asked."""
        notices = self._overrides.other_notices(self.engine)
        what = "answers" if self.who == "model" else f"answers of the {self.who}"
        if self.ages.number:
            notices.append(self.ages.line(self.tally.requests, what))
        return notices + self._overrides.lines(what)

    @property
    def address(self) -> str:
        """The address that an endpoint's requests go to; "" for another engine."""
        return str(getattr(innermost(self.engine), "address", ""))

    @property
    def cautions(self) -> list[str]:
        """What must be read first of an endpoint's answers that are old, or another address's."""
        return self.ages.cautions(self.address, self.who) if self.remote else []

    def usable(self, keys: Iterable[bytes]) -> dict[bytes, StoredReply]:
        """Return the replies of the cache that may be used, with their origins."""
        stored = self.cache.get_stored(keys) if self.cache else {}
        since = self.period.since if self.period else None
        return {
            key: one
            for key, one in stored.items()
            if not (one.before(since) or (self.remote and may_lack_text(one.reply)))
        }

    def missing(self, requests: Iterable[Request]) -> list[Request]:
        """Return those that the cache lacks, each once; tell how many it has."""
        wanted = {request_key(request, self.identity): request for request in requests}
        held = self.cache.origins(wanted) if self.cache else {}
        if self.period is not None:
            since = self.period.since
            held = {key: o for key, o in held.items() if o is not None and o.given >= since}
        some = self.usable(islice(held, LOOKED_AT))
        for key, one in some.items():
            self.room.learn(answer_without_thoughts(one.reply), wanted[key])
        if held:
            ages = Ages()
            for origin in held.values():
                ages.add(origin)
            self.progress.note(ages.line(len(wanted), "answers", "in"))
        return [request for key, request in wanted.items() if key not in held]

    def ask_ahead(self, missing: Sequence[Request]) -> None:
        """Ask in one piece what will be asked in stages, which then find it in the cache.

        For an engine that takes long to begin. Each answer counts in the stage that wants it.
        """
        if self.cache is None or not missing:
            return
        tally, dollars = msgspec.structs.replace(self.tally), self.dollars
        overrides, self._overrides = self._overrides, OverrideCounts()
        stage, self.stage = self.stage, "asking: all stages"
        try:
            for index, reply in self.complete(missing):
                failed = reply.problem is not None and reply.problem not in KEPT_PROBLEMS
                key = request_key(missing[index], self.identity)
                self._ahead[key] = reply if failed else None
        finally:
            self.tally, self.dollars = tally, dollars
            self._overrides, self.stage = overrides, stage

    def complete(self, requests: Iterable[Request]) -> Iterator[tuple[int, Generation]]:
        """Answer requests, those from the cache first; see :meth:`Engine.complete`.

        Raises :class:`~sayso.runs.costs.BudgetSpent` when the money ends, and
        KeyboardInterrupt when ``progress.stopping`` was set: after the answers that were on their
        way. What was not sent is no failure, and is asked the next time.
        """
        wanted = [self.shape(request) for request in requests]
        places: dict[bytes, list[int]] = {}
        for index, request in enumerate(wanted):
            places.setdefault(request_key(request, self.identity), []).append(index)
        distinct = {key: wanted[where[0]] for key, where in places.items()}
        stored = self.usable(distinct)
        replies = {
            key: msgspec.structs.replace(one.reply, request=distinct[key])
            for key, one in stored.items()
        }
        for key, kept in [*replies.items()]:
            said = answer_without_thoughts(kept)
            self.room.learn(said, distinct[key])
            if can_grow(said, distinct[key]):
                del replies[key]
        self._complete_arrays(replies)
        failed = {k: reply for k in distinct if (reply := self._ahead.get(k)) is not None}
        replies |= failed
        fresh = self._ahead.keys() & replies.keys()
        for key in fresh:  # it counts as asked once
            del self._ahead[key]
        todo = [(key, request) for key, request in distinct.items() if key not in replies]
        self.tally.asks += len(wanted)
        self.tally.requests += len(distinct)
        self.tally.cached += len(replies) - len(fresh)
        self.tally.asked += len(fresh)
        stage, here = self.stage, len(fresh)
        self.progress.start(stage, len(distinct) - here, len(replies) - here, remote=self.remote)
        outer, self.progress.hold = getattr(self.progress, "hold", None), self._hold
        try:
            for key in list(replies):
                reply = self.spoken(replies.pop(key))
                paid = self._count(reply)
                if key not in fresh:
                    self.meter.keep(paid)
                    self.ages.add(stored[key].origin)
                yield from _bound(reply, wanted, places[key])
            for key, raw in self._ask(todo):
                reply = self.spoken(raw)
                self.paid += self._count(reply) or 0.0
                self.progress.advance(stage, reply, self._price(reply))
                yield from _bound(reply, wanted, places[key])
        finally:
            self.progress.end(stage)
            self.progress.hold = outer
            if self.cache:
                self.cache.commit()

    def force(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], want: Sequence[str]
    ) -> Iterator[tuple[int, Generation]]:
        """Read given continuations behind shaped requests; nothing of it is cached."""
        return super().force([(self.shape(request), text) for request, text in items], want)

    def hidden(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], layer: int, position: str
    ) -> NDArray[np.float16]:
        """Read hidden states behind shaped requests; nothing of it is cached."""
        return super().hidden([(self.shape(r), text) for r, text in items], layer, position)

    def spoken(self, reply: Generation) -> Generation:
        """Return an answer without a thought that its engine left in it.

        The cache keeps what came. Replies of a judge are read by whoever asked.
        """
        return reply if self.who != "model" else answer_without_thoughts(reply)

    def tell_repetition(self) -> None:
        """Tell at once, and once, that draws do not differ: nobody should wait for the report."""
        if not self._repetition_noted:
            self._repetition_noted = True
            self.progress.note(
                f"draws of {self.signature} at a temperature above 0 repeat the same text; numbers "
                "computed from several draws will carry a caution"
            )

    def _ask(self, todo: Sequence[tuple[bytes, Request]]) -> Iterator[tuple[bytes, Generation]]:
        """Ask in rounds: one, unless money is short and its means have to be learned first.

        Draws that came in one call go into the cache together: an endpoint gives others where only
        some of them are asked for again.
        """
        todo, at, held = self._first(todo), 0, False
        while at < len(todo):
            fed: list[tuple[bytes, str, int]] = []
            again: list[tuple[bytes, Request]] = []
            open_: set[int] = set()
            seen = 0
            replies: dict[bytes, Generation] = {}
            try:
                for index, reply in self.engine.complete(self._feed(todo[at:], fed)):
                    open_.update(range(seen, len(fed)))
                    seen = len(fed)
                    if index not in open_:
                        continue  # an engine that answers twice is heard once
                    open_.discard(index)
                    key, kind, room = fed[index]
                    request = todo[at + index][1]
                    replies[key] = reply = self.room.marked(checked_reply(reply, self.name), room)
                    if getattr(self.engine, "whole", True):
                        self._keep(replies)
                        replies.clear()
                    self._settle(kind, reply)
                    if self._learn(key, reply, request):
                        again.append((key, request))
                    else:
                        yield key, reply
                    if self.progress.stopping and not held:
                        held = True
                        self._hold()
            finally:
                open_.update(range(seen, len(fed)))
                for index in open_:
                    self.meter.give_up(fed[index][1], 1)
            if self.progress.stopping:
                raise KeyboardInterrupt
            for index in sorted(open_):
                self.tally.asked += 1
                yield fed[index][0], Generation(todo[at + index][1], problem="failed: no answer")
            at += len(fed)
            todo[at:at] = again
            if not fed:
                raise self.meter.stop([self._kind(request) for _, request in todo[at:]])

    def _first(self, todo: Sequence[tuple[bytes, Request]]) -> list[tuple[bytes, Request]]:
        """Return requests with those before all that tell the room for thoughts: greedy ones."""
        telling = [one for one in todo if one[1].greedy and self.room.lacking(one[1])][:FIRST]
        return [*telling, *(one for one in todo if one not in telling)]

    def _learn(self, key: bytes, reply: Generation, request: Request) -> bool:
        """Learn the room for thoughts from a reply; tell whether it is asked for again with more.

        What that one cost counts here, since it is no answer.
        """
        said = answer_without_thoughts(reply)
        self.room.learn(said, request)
        total = self.tally.requests - self.tally.cached
        if not self.room.asks_again(key, said, request, total):
            return False
        self.tally.asked -= 1
        self.tally.cut_off += 1
        self.tally.prompt_tokens += reply.usage.prompt_tokens
        self.tally.completion_tokens += reply.usage.completion_tokens
        paid = self._price(reply)
        self.paid += paid or 0.0
        self.dollars = add(self.dollars, paid)
        return True

    def _feed(
        self, todo: Sequence[tuple[bytes, Request]], fed: list[tuple[bytes, str, int]]
    ) -> Iterator[Request]:
        """Yield what the meter allows and nobody stops; ``fed`` gets the key, the kind and the room
        of each. While first answers tell the room, no others are sent."""
        early: Counter[int] = Counter()
        for key, request in todo:
            if self.room.waits(request, early):
                return
            kind, sent = self._kind(request), self.room.raised(request)
            if self.progress.stopping or not self.meter.take(kind, self._most(sent)):
                return
            if told := self.room.line(request):
                self.progress.note(told)
            early[request.max_tokens] += 1
            fed.append((key, kind, sent.max_tokens - request.max_tokens))
            yield sent

    def _keep(self, replies: Mapping[bytes, Generation]) -> None:
        """Put new replies into the cache, with when and where they were given."""
        if self.period is not None:
            self.period.begin()
        if self.cache is not None:
            since = self.period.since if self.period else None
            self.cache.put_together(replies, self._origin(), since)

    def _origin(self) -> ReplyOrigin:
        """Return when and by which address the newest reply was given."""
        given = getattr(self.engine, "given", None)
        return ReplyOrigin(time.time() if given is None else given, self.address)

    def ask_again(self, requests: Sequence[Request]) -> list[Generation]:
        """Ask what the cache holds once more, one by one, and return the replies.

        They are paid for and kept beside those that stay in use. Raises what :meth:`complete` does.
        """
        engine = innermost(self.engine)
        ask: Callable[[Iterable[Request]], Iterator[tuple[int, Generation]]]
        ask = getattr(engine, "ask_now", engine.complete)
        found: list[Generation] = []
        stage = "asking cached prompts again"
        self.progress.start(stage, len(requests), 0, remote=self.remote)
        try:
            for request in requests:
                if self.progress.stopping:
                    raise KeyboardInterrupt
                kind = self._kind(request)
                if not self.meter.take(kind, self._most(request)):
                    raise self.meter.stop([kind])
                raw = self._one(ask, self.room.raised(request), kind)
                paid = self._price(raw)
                self.meter.settle(kind, paid, failed=raw.problem is not None and not paid)
                self.tally.asked_again += 1
                self.paid += paid or 0.0
                self.dollars = add(self.dollars, paid)
                if self.cache is not None:
                    origin = ReplyOrigin(time.time(), self._origin().address)
                    self.cache.set_aside(request_key(request, self.identity), raw, origin)
                self.progress.advance(stage, raw, paid)
                found.append(self.spoken(raw))
        finally:
            self.progress.end(stage)
        return found

    def _one(
        self,
        ask: Callable[[Iterable[Request]], Iterator[tuple[int, Generation]]],
        request: Request,
        kind: str,
    ) -> Generation:
        """Return the reply to a request whose price is reserved; free that where none comes."""
        try:
            for _, reply in ask([request]):
                return reply
        except BaseException:
            self.meter.give_up(kind, 1)
            raise
        return Generation(request, problem="failed: no answer")

    def _hold(self) -> int | None:
        """Have the engine send nothing more, if it can; return how many answers still come."""
        hold = getattr(self.engine, "hold", None)
        return int(hold()) if hold is not None else None

    def _settle(self, kind: str, reply: Generation) -> None:
        """Count one answer; with a limit on money, one without a price is the end of it."""
        paid = self._price(reply)
        self.meter.settle(kind, paid, failed=reply.problem is not None and not paid)
        self.tally.asked += 1
        if not self._repetition_noted and self.capabilities.draws_vary is False:
            self.tell_repetition()
        if paid is None and self.meter.max_cost is not None:
            price = "price" if self.who == "model" else "judge_price"
            raise InputError(
                f"--max-cost {self.meter.max_cost:g} cannot be enforced: the price of answers of "
                f"{self.signature} is unknown; pass "
                f"{as_typed(price, 'IN,OUT')}, or leave the limit out "
                "if the endpoint does not report tokens"
            )

    def _most(self, request: Request) -> float | None:
        """Return what a request can cost at most, where all are sent before any is answered."""
        if self.price is None or not getattr(self.engine, "asks_ahead", False):
            return None
        # the engine's own price is the full one, which calls outside batch files cost
        price: Price = getattr(self.engine, "price", None) or self.price
        texts = [m.content for m in request.messages]
        texts += [request.prefill] if request.prefill is not None else []
        # a token has a byte at least; templates add some
        prompt = sum(len(text.encode("utf-8", "replace")) + 16 for text in texts)
        prompt += len((request.response_format or "").encode("utf-8", "replace"))
        return price.of(Usage(prompt, request.max_tokens))

    def _kind(self, request: Request) -> str:
        return f"{self.who}/{request.max_tokens}"

    def _price(self, reply: Generation) -> float | None:
        return reply_cost(reply, self.price)

    def _count(self, reply: Generation) -> float | None:
        self.tally.prompt_tokens += reply.usage.prompt_tokens
        self.tally.completion_tokens += reply.usage.completion_tokens
        self.tally.failed += reply.problem is not None
        self.tally.room = max(self.tally.room, room_of(reply))
        self._overrides.add(reply)
        paid = self._price(reply)
        self.dollars = add(self.dollars, paid)
        return paid

    def _complete_arrays(self, replies: dict[bytes, Generation]) -> None:
        """Fill in arrays that a cached reply lacks by reading its own tokens once more."""
        can = self.capabilities
        wanted = [w for w in WANTED if getattr(can, w)]
        lacking = [
            key
            for key, reply in replies.items()
            if reply.problem is None and any(getattr(reply, w) is None for w in wanted)
        ]
        if not lacking or not can.force:
            return
        items = [(replies[k].request, replies[k].token_ids or replies[k].text) for k in lacking]
        for index, forced in self.engine.force(items, wanted):
            key = lacking[index]
            if forced.problem is not None:  # what the reply does carry stays
                continue
            arrays = {
                w: getattr(forced, w) for w in ("token_ids", "offsets", "logprob_kind", *wanted)
            }
            replies[key] = msgspec.structs.replace(replies[key], **arrays)
            self.tally.completed_arrays += 1
            if self.cache:
                self.cache.put(key, replies[key])


#: the override of an answer in whose text the engine left a thought
LEFT_IN = "reasoning inside the answer's text was removed, together with its token probabilities"


def answer_without_thoughts(reply: Generation) -> Generation:
    """Return an answer with the thoughts of its text apart.

    One that ends in a thought was cut off there, whatever stands before it: that is no whole answer
    and has problem "truncated".
    """
    split = split_thoughts(reply.text)
    if not split.thoughts:
        return reply
    text = split.text.strip()
    known = [reply.thinking] if reply.thinking else []
    return msgspec.structs.replace(
        reply,
        text=text,
        thinking="\n\n".join([*known, *split.thoughts]),
        overrides=(*reply.overrides, LEFT_IN),
        problem=reply.problem or (None if split.closed else "truncated"),
        **dict.fromkeys(_OF_TOKENS),
    )


#: what an answer has for each token of its text
_OF_TOKENS = (
    *("token_ids", "offsets", "logprobs", "entropies", "margins", "self_certainty", "renyi"),
    *("alternatives", "logprob_kind"),
)


def checked_reply(reply: object, name: str) -> Generation:
    """Return what an engine, maybe a user's, gave as an answer. Raises InputError if it is none."""
    if isinstance(reply, Generation) and isinstance(reply.text, str):
        arrays = [getattr(reply, array) for array in _OF_TOKENS[:4]]
        if len({len(values) for values in arrays if values is not None}) < 2:
            return reply
    raise InputError(
        f"the engine {name} gave a {type(reply).__name__} without a text, or whose "
        f"{', '.join(_OF_TOKENS[:4])} are not of as many tokens; {EXPLAINED}"
    )


def _bound(
    reply: Generation, wanted: Sequence[Request], where: Sequence[int]
) -> Iterator[tuple[int, Generation]]:
    """Yield a reply for every place that wanted it, each with its own request."""
    for index in where:
        yield index, msgspec.structs.replace(reply, request=wanted[index])


def bill(model: CachedEngine, judge: CachedEngine | None) -> list[str]:
    """Return one line with what answers and verdicts cost; none where nothing could cost.

    An engine that answered nothing is left out: failed requests have no price.
    """
    parts = {"answers": model, "verdicts": judge}
    paid = {what: a for what, a in parts.items() if a is not None and _may_cost(a)}
    if not any(a.remote or a.dollars != 0 for a in paid.values()):
        return []
    prices = ", ".join(f"{what} {dollars(a.dollars)}" for what, a in paid.items())
    flags = {"answers": as_typed("price", "IN,OUT"), "verdicts": as_typed("judge_price", "IN,OUT")}
    if unknown := [flags[what] for what, a in paid.items() if a.dollars is None]:
        sets = "sets" if len(unknown) == 1 else "set"
        return [f"price: {prices}; {' and '.join(unknown)} {sets} token prices"]
    return [f"price: {prices}; {dollars(sum(a.paid for a in paid.values()))} of it paid now"]


def _may_cost(asker: CachedEngine) -> bool:
    tally = asker.tally
    return asker.price != LOCAL and (tally.cached + tally.asked > tally.failed or asker.paid > 0)


class OverrideCounts:
    """Counts the ``overrides`` of answers: settings that an engine did not follow.

    An engine reports them of the answers that it gave itself; those of the cache carry them along.
    Requests without an answer do not count.
    """

    MOST = 16  # different overrides that are reported

    def __init__(self) -> None:
        self._answers = 0
        self._counts: Counter[str] = Counter()

    def add(self, reply: Generation) -> None:
        """Count one answer."""
        if reply.problem is None:
            self._answers += 1
            self._counts.update(set(reply.overrides))

    def other_notices(self, engine: Engine) -> list[str]:
        """Return the engine's notices without those that :meth:`lines` repeats."""
        notices = [str(notice) for notice in getattr(engine, "notices", ())]
        if not self._counts:
            return notices
        known = getattr(engine, "in_replies", ())
        return [n for n in notices if n not in known and not n.startswith(tuple(self._counts))]

    def lines(self, what: str) -> list[str]:
        """Return one line for all overrides of equally many answers; ``what`` names answers."""
        alike: dict[int, list[str]] = {}
        for override, number in sorted(self._counts.items(), key=lambda item: -item[1])[
            : self.MOST
        ]:
            alike.setdefault(number, []).append(override)
        return [
            f"{number:,} of {self._answers:,} {what}: {'; '.join(sorted(texts))}"
            for number, texts in alike.items()
        ]


# ---- thinking, arguments of the chat template, and the system prompt

#: the settings of a run that go into every request, besides those of its protocol
REQUEST_SETTINGS = ("thinking", "chat_template_kwargs", "system")
EFFORTS = ("low", "medium", "high")
#: a larger number of tokens to think is taken for a typing error
MOST_TOKENS = 1_000_000


def thinking_kwargs(thinking: str) -> tuple[dict[str, Scalar], int]:
    """Return the template's arguments, and by how many tokens an answer may be longer.

    ``thinking`` is "" (none: the model's default), "on", "off", an effort of
    :data:`EFFORTS`, or a number of tokens. Raises InputError.
    """
    if not thinking:
        return {}, 0
    if thinking in ("on", "off"):
        return {"enable_thinking": thinking == "on"}, 0
    if thinking in EFFORTS:
        return {"reasoning_effort": thinking}, 0
    if thinking.isascii() and thinking.isdigit() and 1 <= int(thinking) <= MOST_TOKENS:
        return {"enable_thinking": True, "thinking_budget": int(thinking)}, int(thinking)
    raise InputError(
        f"thinking {thinking!r}: expected on, off, {', '.join(EFFORTS)}, or a number of tokens "
        f"from 1 to {MOST_TOKENS:,}; several, as a list in a study's YAML: thinking: [off, low]"
    )


def template_kwargs(given: str | Mapping[str, Scalar] | None) -> dict[str, Scalar]:
    """Return the user's own arguments of the chat template, from a mapping or its JSON.

    Raises InputError for what is no JSON object of texts, numbers and true or false.
    """
    if not given:
        return {}
    what = f"chat_template_kwargs {str(given)[:80]!r}"
    expected = 'expected a JSON object such as {"enable_thinking": false}'
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{what}: not JSON ({error}); {expected}") from None
    if not isinstance(given, Mapping):
        raise InputError(f"{what}: {expected}")
    for name, value in given.items():
        plain = isinstance(value, str | int | float | bool)
        infinite = isinstance(value, float) and not math.isfinite(value)
        if not isinstance(name, str) or not plain or infinite:
            raise InputError(
                f"{what}: {name!r} is {value!r}; {expected}, with texts, numbers, true or false"
            )
    return dict(given)


def request_shaper(asking: AskingOptions) -> Shape:
    """Return the function that puts thinking, template arguments and a system prompt in a request.

    A number of tokens to think is added to the longest answer. A request that has them already
    stays as it is. Raises InputError.
    """
    thinking, system = asking.thinking, str(asking.system)
    wanted, longer = thinking_kwargs(thinking)
    own = template_kwargs(asking.chat_template_kwargs)
    both = sorted(wanted.keys() & own.keys())
    if both:
        raise InputError(
            f"thinking {thinking!r} sets {both[0]}, and chat_template_kwargs does too; "
            "leave one of them out"
        )
    arguments = {**wanted, **own}
    first = (Message("system", system),) if system else ()

    def shaped(request: Request) -> Request:
        if request.messages[: len(first)] != first:
            request = msgspec.structs.replace(request, messages=first + request.messages)
        merged = {**dict(request.chat_template_kwargs), **arguments}
        if merged == dict(request.chat_template_kwargs):
            return request
        return msgspec.structs.replace(
            request,
            chat_template_kwargs=tuple(sorted(merged.items())),
            max_tokens=request.max_tokens + longer,
        )

    return shaped


def asking_settings(asking: AskingOptions) -> dict[str, str]:
    """Return all three as a manifest keeps them; what was not given is left out."""
    own = template_kwargs(asking.chat_template_kwargs)
    kept = {
        "thinking": asking.thinking,
        "chat_template_kwargs": json.dumps(own, sort_keys=True, ensure_ascii=False) if own else "",
        "system": str(asking.system),
    }
    return {name: text for name, text in kept.items() if text}


def asking_signature(settings: Mapping[str, object]) -> dict[str, str]:
    """Return what all three add to every signature, from a manifest's settings."""
    parts = {}
    if thinking := settings.get("thinking"):
        parts["thinking"] = str(thinking)
    for part, name in (("template", "chat_template_kwargs"), ("system", "system")):
        if text := settings.get(name):
            parts[part] = content_id(text)[:8]
    return parts
