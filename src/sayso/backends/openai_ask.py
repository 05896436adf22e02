"""What becomes of one call to an endpoint.

Every call ends in exactly one of three ways: its answers are delivered, a record that says why
there is none is delivered, or the whole session ends with one line that would hold for every
request.
"""

from __future__ import annotations

from collections import Counter

from sayso.backends.openai_body import Learned, build
from sayso.backends.openai_draws import DrawWatch
from sayso.backends.openai_errors import Fault, context_told
from sayso.backends.openai_loop import Call, Dispatcher
from sayso.backends.openai_names import Endpoint, Options, told
from sayso.backends.openai_pace import Pace
from sayso.backends.openai_records import ENDPOINT, records, unanswered
from sayso.backends.openai_reply import Reply
from sayso.backends.openai_wire import Wire
from sayso.backends.openai_words import explain, outline
from sayso.models import Counts
from sayso.prices import Price
from sayso.records import Generation, InputError

#: how often one call may find another parameter refused
MOST_LESSONS = 16
#: rounds without anybody listening, and web pages for one call, before the first answer
PATIENCE = 3
#: requests refused for good before the first answer, after which no other is tried
MOST_REFUSALS = 8
#: names of other models that are told
MOST_NAMES = 4


class Asker:
    """Asks calls on behalf of one engine; lives in the loop's thread."""

    def __init__(self, endpoint: Endpoint, options: Options, price: Price | None) -> None:
        self.endpoint = endpoint
        self.options = options
        self.price = price
        self.counts = Counts()
        self.learned = Learned(endpoint.official)
        self.pace = Pace(options.concurrency)
        self.draws = DrawWatch()
        self.wire = Wire(endpoint, options)
        self.answered = 0
        self.refusals = 0
        self.again: Counter[str] = Counter()
        self.other_models: dict[str, None] = {}
        self.context: int | None = None
        self.logprobs = False
        self.thinking = False
        self.implicit_thought = False
        self.dispatcher: Dispatcher

    async def __call__(self, call: Call) -> float | None:
        """Ask once; ``None`` when the call is settled, else the seconds until it is asked again."""
        choices = min(len(call.requests), self.learned.choices)
        if choices < len(call.requests):
            self.dispatcher.split(call, choices)
        bare = call.bare is not None
        body: dict[str, object] = {}
        call.started = self.dispatcher.loop.time()
        try:
            body, said = build(self.endpoint.model, call.requests[0], choices, self.learned, bare)
            reply = await self.wire.ask(body)
            fault = self._accept(call, reply, said) if isinstance(reply, Reply) else reply
        except Exception as error:  # one strange reply must never lose the other requests
            fault = Fault("failed", f"unexpected {type(error).__name__}: {error}")
        if fault is None:
            return None
        after = await self._decide(call, fault, body)
        if isinstance(after, float):
            self.counts.retries += 1
            return after
        if isinstance(after, InputError):
            call.session.fail(after)
        else:
            self._give_up(call, after)
        return None

    def _accept(self, call: Call, reply: Reply, said: tuple[str, ...]) -> Fault | None:
        """Deliver the answers of a reply; missing ones are asked singly."""
        if any(choice.finish == "error" for choice in reply.choices):
            return Fault("again", "the endpoint broke off the answer")
        got = min(len(reply.choices), len(call.requests))
        reply = reply._replace(choices=reply.choices[:got])
        found = records(
            call.requests, reply, said, self.price, implicit_thought=self.implicit_thought
        )
        self.learned.saw_choices(len(call.requests), got)
        if got < len(call.requests):
            self.dispatcher.split(call, got)
        self._prove(call)
        self._look(reply)
        for index, answer in zip(call.indices, found, strict=True):
            self._learn(answer, said)
            call.session.deliver(index, answer)
        self.answered += got
        self.pace.answered(len(self.dispatcher.running))
        return None

    def _learn(self, answer: Generation, said: tuple[str, ...]) -> None:
        """Count an answer and see what it shows of the endpoint."""
        if answer.request.response_format is not None and answer.finish == "stop":
            if answer.overrides != said:
                self.learned.saw_schema(False)
            elif not any(what.startswith("response_format") for what in said):
                self.learned.saw_schema(True)
        if answer.problem is None:
            self.draws.see(answer.request, answer.text)
        elif answer.problem.startswith("failed"):
            self.counts.failed += 1
        self.logprobs = self.logprobs or answer.logprob_kind == ENDPOINT
        self.counts.prompt_tokens += answer.usage.prompt_tokens
        self.counts.completion_tokens += answer.usage.completion_tokens
        self.counts.cached_tokens += answer.usage.cached_tokens

    def _prove(self, call: Call) -> None:
        """A reply came: what was sent is taken; without extras, they were the trouble."""
        if call.bare is not None and not self.learned.proven:
            self.learned.drop_extras(call.bare)
        self.learned.proven = True

    def _look(self, reply: Reply) -> None:
        """Learn from a reply who answered and how it thinks."""
        asked, model = self.endpoint.model, reply.model
        if model is not None and model != asked and len(self.other_models) < MOST_NAMES:
            short, other = asked.rpartition("/")[2], model.rpartition("/")[2]
            if not (other.startswith(short) or short.startswith(other)):
                self.other_models[told(model, self.endpoint.secrets, 60)] = None
        self.thinking = self.thinking or any(c.thinking is not None for c in reply.choices)
        self.implicit_thought = self.implicit_thought or any(c.implicit for c in reply.choices)

    async def _decide(
        self, call: Call, fault: Fault, body: dict[str, object]
    ) -> float | str | InputError:
        """Return what follows a fault: a delay, the problem of a record, or everybody's error."""
        if fault.kind == "refused" and (self.answered or not fault.page):
            return await self._refused(call, fault, body)
        if fault.kind == "context":
            self.context = context_told(fault.reason) or self.context
            return "context"
        if fault.kind == "filter":
            return "failed: content filter"
        first = fault.kind in ("first", "unable") and not self.answered
        if fault.kind == "everyone" or first:
            return await self._everyone(fault)
        if fault.kind in ("failed", "unable"):
            return self._problem(fault)
        return await self._try_again(call, fault)

    async def _try_again(self, call: Call, fault: Fault) -> float | str | InputError:
        """Slow down, pause or back off; give up when that was done often enough."""
        now = self.dispatcher.loop.time()
        pace, retries = self.pace, self.options.retries
        self.again[outline(fault)] += 1
        if fault.page and fault.wait is None and not self.answered:
            call.tries += 1
            late = call.tries >= PATIENCE
            return await self._everyone(fault) if late else pace.backoff(call.tries)
        if fault.kind == "busy":
            pace.busy(call.started, now, fault.wait)
            call.busy += 1
            return self._problem(fault) if call.busy > 5 * retries else pace.backoff(1)
        if fault.kind == "away":
            pace.away(call.started, now)
            if not self.answered and pace.outages >= min(PATIENCE, retries + 1):
                return await self._everyone(fault)
            return self._problem(fault) if pace.outages > retries else pace.backoff(1)
        if fault.kind == "late":
            pace.cut(call.started, now)
        call.tries += 1
        if call.tries > retries:
            return f"{self._problem(fault)} ({call.tries} times)"
        return pace.backoff(call.tries)

    async def _refused(
        self, call: Call, fault: Fault, body: dict[str, object]
    ) -> float | str | InputError:
        """Learn what is refused and ask without it, else without any extras, else give up."""
        call.learning += 1
        if call.learning <= MOST_LESSONS and self.learned.refuse(self._told(fault, 1000), body):
            return 0.0
        if call.bare is None and not self.learned.proven:
            call.bare = self._told(fault)
            return 0.0
        self.refusals += 1
        if not self.answered:
            served = await self.models()
            unknown = isinstance(served, list) and served and self.endpoint.model not in served
            if unknown or self.refusals >= MOST_REFUSALS:
                return await self._everyone(fault)
        return f"failed: {call.bare or self._told(fault)}"

    async def _everyone(self, fault: Fault) -> InputError:
        """Return the line that ends the session: no other request would fare better."""
        listed = await self.models() if fault.kind in ("first", "unable", "refused") else None
        return InputError(
            explain(self.endpoint, fault, listed if isinstance(listed, list) else None)
        )

    def _told(self, fault: Fault, limit: int = 200) -> str:
        return told(fault.reason, self.endpoint.secrets, limit)

    def _problem(self, fault: Fault) -> str:
        return f"failed: {self._told(fault)}"

    def _give_up(self, call: Call, problem: str) -> None:
        """Deliver records that say why there is no answer."""
        for index, request in zip(call.indices, call.requests, strict=True):
            self.counts.failed += 1
            call.session.deliver(index, unanswered(request, problem))

    async def models(self) -> list[str] | Fault:
        """Return the names of the models that the endpoint lists; learn a context from them."""
        listed = await self.wire.models()
        if isinstance(listed, Fault):
            return listed
        for name, length in listed:
            if length is not None and (name == self.endpoint.model or len(listed) == 1):
                self.context = length
        return [name for name, _ in listed]
