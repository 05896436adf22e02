"""Asking through the cache: an engine around an engine, for the model and for the judge alike.

Equal requests are asked once, answers that are in the cache are not asked again, and every new
answer goes into the cache as it comes: whoever is killed and starts again asks only what is
missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.cache import Cache
from sayso.models import Capabilities, Counts, Engine, reader_of
from sayso.pipeline.metering import Meter
from sayso.pipeline.overridden import Overridden
from sayso.pipeline.progress import Progress, Silent
from sayso.prices import Price, cost
from sayso.records import Generation, InputError, Request, request_key

#: what a reply must carry to be used from the cache; an engine that cannot give it is not asked to
WANTED = ("logprobs", "entropies")

__all__ = ["Asker", "Progress", "Silent", "Tally"]


class Tally(msgspec.Struct):
    """What went through an :class:`Asker`.

    ``asks`` were wanted, ``requests`` of them differ, ``cached`` were in the cache and ``asked``
    were not; ``failed`` got no answer. The tokens are those of all answers, cached ones included.
    """

    asks: int = 0
    requests: int = 0
    cached: int = 0
    asked: int = 0
    failed: int = 0
    completed_arrays: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


class Asker:
    """An :class:`~sayso.models.Engine` that asks another one what the cache does not hold.

    ``dollars`` is the price of all answers, whenever they were paid, ``None`` as soon as one
    without a known price is among them; ``paid`` is what was spent here and now. ``stage`` names
    what is being asked for whoever watches. ``price`` fills in the dollars that a reply lacks.
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
    ) -> None:
        self.engine = engine
        self.cache = cache
        self.who = who
        self.price = price
        self.meter = meter or Meter()
        self.progress = progress or Silent()
        self.stage = who
        self.tally = Tally()
        self.dollars: float | None = 0.0
        self.paid = 0.0
        self.remote = engine.identity.startswith("api:")
        self._told = False
        self._overridden = Overridden()

    @property
    def name(self) -> str:
        """The engine's name."""
        return self.engine.name

    @property
    def identity(self) -> str:
        """The engine's identity: the cache is keyed by it."""
        return self.engine.identity

    @property
    def base(self) -> str:
        """The engine's base model."""
        return self.engine.base

    @property
    def signature(self) -> str:
        """The engine's short name."""
        return self.engine.signature

    @property
    def capabilities(self) -> Capabilities:
        """What the engine can do, as far as it knows by now."""
        return self.engine.capabilities

    @property
    def counts(self) -> Counts:
        """What the engine did; nothing of it came from the cache."""
        return self.engine.counts

    @property
    def notices(self) -> list[str]:
        """What the engine has to say, how much was in the cache, and what was not as asked."""
        found = self._overridden.untold(self.engine)
        what = "answers" if self.who == "model" else f"answers of the {self.who}"
        if self.tally.cached:
            kept, total = self.tally.cached, self.tally.requests
            found.append(f"{kept:,} of {total:,} {what} were in the cache already")
        return found + self._overridden.lines(what)

    def complete(self, requests: Iterable[Request]) -> Iterator[tuple[int, Generation]]:
        """Answer requests, those from the cache first; see :meth:`Engine.complete`.

        Raises :class:`~sayso.pipeline.metering.BudgetSpent` when the money ends, and
        KeyboardInterrupt when ``progress.stopping`` was set: after the answers that were on their
        way. What was not sent is no failure, and is asked the next time.
        """
        wanted = list(requests)
        places: dict[bytes, list[int]] = {}
        for index, request in enumerate(wanted):
            places.setdefault(request_key(request, self.identity), []).append(index)
        distinct = {key: wanted[where[0]] for key, where in places.items()}
        replies = self.cache.get_many(distinct) if self.cache else {}
        self._complete_arrays(replies)
        todo = [(key, request) for key, request in distinct.items() if key not in replies]
        self.tally.asks += len(wanted)
        self.tally.requests += len(distinct)
        self.tally.cached += len(replies)
        stage = self.stage
        self.progress.start(stage, len(distinct), len(replies), remote=self.remote)
        outer, self.progress.hold = getattr(self.progress, "hold", None), self._hold
        try:
            for key in list(replies):
                reply = replies.pop(key)
                self.meter.keep(self._count(reply))
                yield from _bound(reply, wanted, places[key])
            for key, reply in self._ask(todo):
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
        """Read given continuations; nothing of it is cached."""
        return self.engine.force(items, want)

    def hidden(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], layer: int, position: str
    ) -> NDArray[np.float16]:
        """Read hidden states, where the engine's capability says so; nothing of it is cached."""
        return reader_of(self.engine).hidden(items, layer, position)

    def tell_repetition(self) -> None:
        """Tell at once, and once, that draws do not differ: nobody should wait for the report."""
        if not self._told:
            self._told = True
            self.progress.note(
                f"draws of {self.signature} at a temperature above 0 repeat the same text: every "
                "number that rests on several draws will say so"
            )

    def close(self) -> None:
        """Let the engine go."""
        self.engine.close()

    def _ask(self, todo: Sequence[tuple[bytes, Request]]) -> Iterator[tuple[bytes, Generation]]:
        """Ask in rounds: one, unless money is short and its means have to be learned first."""
        at, held = 0, False
        while at < len(todo):
            fed: list[tuple[bytes, str]] = []

            def feed(rest: int = at, fed: list[tuple[bytes, str]] = fed) -> Iterator[Request]:
                for key, request in todo[rest:]:
                    kind = self._kind(request)
                    if self.progress.stopping or not self.meter.take(kind):
                        return
                    fed.append((key, kind))
                    yield request

            open_: set[int] = set()
            seen = 0
            try:
                for index, reply in self.engine.complete(feed()):
                    open_.update(range(seen, len(fed)))
                    seen = len(fed)
                    if index not in open_:
                        continue  # an engine that answers twice is heard once
                    open_.discard(index)
                    key, kind = fed[index]
                    if self.cache:
                        self.cache.put(key, reply)
                    self._settle(kind, reply)
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
                self.tally.failed += 1
                yield fed[index][0], Generation(todo[at + index][1], problem="failed: no answer")
            at += len(fed)
            if not fed:
                raise self.meter.stop([self._kind(request) for _, request in todo[at:]])

    def _hold(self) -> int | None:
        """Have the engine send nothing more, if it can; return how many answers still come."""
        hold = getattr(self.engine, "hold", None)
        return int(hold()) if hold is not None else None

    def _settle(self, kind: str, reply: Generation) -> None:
        """Count one answer; with a limit on money, one without a price is the end of it."""
        paid = self._price(reply)
        self.meter.settle(kind, paid, failed=reply.problem is not None and not paid)
        self.tally.asked += 1
        self.tally.failed += reply.problem is not None
        if not self._told and self.capabilities.draws_vary is False:
            self.tell_repetition()
        if paid is None and self.meter.max_cost is not None:
            raise InputError(
                f"--max-cost {self.meter.max_cost:g} cannot be kept: {self.signature} answered "
                f"without a price; give --{'' if self.who == 'model' else 'judge-'}price IN,OUT, "
                "or leave the limit out where an endpoint does not tell its tokens"
            )

    def _kind(self, request: Request) -> str:
        return f"{self.who}/{request.max_tokens}"

    def _price(self, reply: Generation) -> float | None:
        return cost(reply, self.price)

    def _count(self, reply: Generation) -> float | None:
        self.tally.prompt_tokens += reply.usage.prompt_tokens
        self.tally.completion_tokens += reply.usage.completion_tokens
        self._overridden.see(reply)
        price = self._price(reply)
        known = self.dollars is not None and price is not None
        self.dollars = (self.dollars or 0.0) + (price or 0.0) if known else None
        return price

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


def _bound(
    reply: Generation, wanted: Sequence[Request], where: Sequence[int]
) -> Iterator[tuple[int, Generation]]:
    """Yield a reply for every place that wanted it, each with its own request."""
    for index in where:
        yield index, msgspec.structs.replace(reply, request=wanted[index])
