"""What runs in the event loop's thread: calls wait, are sent, come back, and teach the engine.

The caller's side (:mod:`sayso.engines.openai.engine`) is synchronous and works inside notebooks,
which have a running loop already. A :class:`Session` hands every :class:`Call` to the
:class:`Dispatcher`, which starts it when the endpoint's :class:`CallPace` allows; the
:class:`Asker` sends it through the :class:`~sayso.engines.openai.wire.Wire` and settles it, or says
when to repeat it. A call that waits to be repeated holds no place: others go on meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import random
import threading
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Sequence
from contextvars import copy_context
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import msgspec

from sayso.engines.engine import Counts
from sayso.engines.openai.endpoint import Endpoint, EndpointOptions, explain, fault_words, safe_line
from sayso.engines.openai.reply import (
    Fault,
    Reply,
    broken_inside,
    choice_records,
    empty_record,
    stated_context,
)
from sayso.engines.openai.request import (
    Learned,
    only,
    refusable,
    refusable_parts,
    refused_names,
    request_body,
    without,
)
from sayso.engines.openai.wire import Wire
from sayso.engines.prices import price_of
from sayso.records import ENDPOINT, Generation, InputError, Request

T = TypeVar("T")
#: a request's index with its generation
Answer = tuple[int, Generation]
#: the same, or ``None`` for a request that is given back: it was not sent, or not to the end
Settled = tuple[int, Generation | None]
#: seconds to wait for a reply before looking whether Ctrl-C was pressed
BREATH = 0.5
#: seconds to wait for answers in flight once nothing more is sent
GRACE = 120.0

# ---- the thread, and the calls that it runs


class LoopThread:
    """An event loop that runs in a daemon thread until it is closed."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._run, name="sayso-endpoint", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()

    @property
    def alive(self) -> bool:
        """``False`` once it is closed."""
        return self.thread.is_alive() and not self.loop.is_closed()

    def wait(self, work: Coroutine[Any, Any, T], seconds: float) -> T:
        """Run a coroutine there and return its result."""
        future = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return future.result(seconds)
        finally:
            future.cancel()

    def close(self) -> None:
        """End the loop and its thread."""
        with contextlib.suppress(RuntimeError):  # closed already
            self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(timeout=5.0)


class Call:
    """One call: a request, or several that differ only in the draw and share it.

    ``tries`` counts broken attempts, ``busy`` refusals for too many requests, ``learning`` refused
    parameters. ``first`` is when it was first sent, ``started`` when it was last.
    """

    __slots__ = (
        *("busy", "first", "indices", "learning", "requests", "session", "started", "tries"),
    )

    def __init__(
        self, session: Session, indices: Sequence[int], requests: Sequence[Request]
    ) -> None:
        self.session = session
        self.indices = list(indices)
        self.requests = list(requests)
        self.tries = 0
        self.busy = 0
        self.learning = 0
        self.first: float | None = None
        self.started = 0.0


class Session:
    """One ``complete``: its calls and their results.

    ``submit``, ``take``, ``hold`` and ``cancel`` are for the caller's thread, ``deliver``,
    ``give_back`` and ``fail`` for the loop's.
    """

    def __init__(self, dispatcher: Dispatcher) -> None:
        self.dispatcher = dispatcher
        self.context = copy_context()
        self.results: SimpleQueue[list[Settled] | BaseException] = SimpleQueue()
        self.outbox: list[Settled] = []
        self.cancelled = False
        self.held = False
        self.sent = 0
        self.ended = 0

    @property
    def open(self) -> int:
        """Calls that have not ended."""
        return self.sent - self.ended

    def submit(self, calls: Sequence[Call]) -> None:
        """Hand calls to the loop."""
        self.sent += len(calls)
        self.dispatcher.loop.call_soon_threadsafe(self.dispatcher.add, calls)

    def take(self) -> list[Settled]:
        """Wait for results; raises what ended the session (:meth:`fail`)."""
        while True:
            try:
                result = self.results.get(timeout=BREATH)
            except Empty:
                if self.dispatcher.loop.is_closed():
                    raise InputError("the model was closed before all answers came") from None
                continue
            if isinstance(result, BaseException):
                raise result
            return result

    def hold(self) -> None:
        """Send nothing more; calls that wait, also to be repeated, are given back."""
        self.held = True
        with contextlib.suppress(RuntimeError):  # the loop is closed: nothing waits
            self.dispatcher.loop.call_soon_threadsafe(self.dispatcher.hold, self)

    def cancel(self) -> None:
        """Drop every call that has not ended; never waits."""
        self.cancelled = True
        with contextlib.suppress(RuntimeError):  # the loop is closed: nothing is in flight
            self.dispatcher.loop.call_soon_threadsafe(self.dispatcher.drop, self)

    def give_back(self, call: Call) -> None:
        """Tell the caller that a call is not sent, or no longer."""
        self.ended += 1
        for index in call.indices:
            self.deliver(index, None)

    def deliver(self, index: int, generation: Generation | None) -> None:
        """Bring one result to the caller; those of one turn of the loop travel together."""
        if not self.outbox:
            self.dispatcher.loop.call_soon(self._flush)
        self.outbox.append((index, generation))

    def _flush(self) -> None:
        self.results.put(self.outbox)
        self.outbox = []

    def fail(self, error: BaseException) -> None:
        """End the whole session: an InputError that every request would meet, or a bug.

        Its calls that are still in flight say nothing about the next session.
        """
        if not self.cancelled:
            self.cancelled = True
            self.results.put(error)


class Dispatcher:
    """Starts calls at the endpoint. Everything but the constructor runs in the loop's thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, asker: Asker) -> None:
        self.loop = loop
        self.asker = asker
        asker.dispatcher = self
        self.waiting: deque[Call] = deque()
        self.running: dict[asyncio.Task[None], Call] = {}
        self.later: dict[Call, asyncio.TimerHandle] = {}
        self.timer: asyncio.TimerHandle | None = None

    @property
    def pace(self) -> CallPace:
        """How many calls may be in flight, and when to pause."""
        return self.asker.pace

    @property
    def busy(self) -> bool:
        """Whether any call has not ended."""
        return bool(self.waiting or self.running or self.later)

    @property
    def in_flight(self) -> int:
        """Requests of all sessions that are on the wire."""
        return sum(len(call.requests) for call in list(self.running.values()))

    def wanted(self, taken: int) -> int:
        """How many more calls to take where so many have not ended; 0 while there are enough."""
        return 0 if taken > self.pace.limit + 4 else max(0, self.pace.window - taken)

    def add(self, calls: Sequence[Call]) -> None:
        """Queue calls and start what may start."""
        self.waiting.extend(calls)
        self._give_back()
        self.pump()

    def pump(self) -> None:
        """Start waiting calls while there is room for them."""
        now = self.loop.time()
        while self.waiting and self._has_room(now):
            call = self.waiting.popleft()
            if call.session.held:
                call.session.give_back(call)
            elif not call.session.cancelled:
                task = self.loop.create_task(self._run(call), context=call.session.context)
                self.running[task] = call
                task.add_done_callback(self._ended)
        self._wake_later(now)

    def _has_room(self, now: float) -> bool:
        # while answers may be on their way, nothing is given up
        if self.pace.paused_until > now and (self.running or not self.pace.hopeless(now)):
            return False
        return len(self.running) < max(1, int(self.pace.limit))

    def _wake_later(self, now: float) -> None:
        """Start what still waits at the end of the pause."""
        end = self.pace.paused_until
        if end <= now or not self.waiting:
            return
        if self.timer is not None and self.timer.when() > end:
            self.timer.cancel()
            self.timer = None
        if self.timer is None:
            self.timer = self.loop.call_at(end, self._wake)

    def _wake(self) -> None:
        self.timer = None
        self.pump()

    async def _run(self, call: Call) -> None:
        """Send a call once, and queue it again if it is to be repeated."""
        delay = await self.asker(call)
        if delay is None:
            call.session.ended += 1
        elif delay <= 0:
            self.waiting.appendleft(call)
        elif call.session.held:
            call.session.give_back(call)
        else:
            self.later[call] = self.loop.call_later(delay, self._again, call)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """Free a place, also that of a task that was canceled before it ever ran.

        A call that ended in an exception has no answer: nobody may wait for one.
        """
        call = self.running.pop(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            call.session.fail(error)
        self._give_back()  # also if no place is free, or all are pausing
        self.pump()

    def _again(self, call: Call) -> None:
        self.later.pop(call, None)
        if not call.session.cancelled:
            self.waiting.append(call)
            self.pump()

    def split(self, call: Call, kept: int, most: int) -> None:
        """Make calls of at most ``most`` requests of all but the first ``kept`` of a call.

        A run that goes on where another was killed asks for the same draws in the same calls.
        """
        rest = [
            Call(call.session, call.indices[at : at + most], call.requests[at : at + most])
            for at in range(kept, len(call.requests), most)
        ]
        del call.indices[kept:], call.requests[kept:]
        call.session.ended -= len(rest)
        self.waiting.extendleft(reversed(rest))

    def hold(self, session: Session) -> None:
        """Give back a session's waiting calls, and after a while those in flight."""
        for call in [call for call in self.later if call.session is session]:
            self.later.pop(call).cancel()
            session.give_back(call)
        self._give_back()
        self.loop.call_later(GRACE, self._abandon, session)

    def _give_back(self) -> None:
        """Give back the waiting calls of sessions that send nothing more."""
        if not any(call.session.held for call in self.waiting):
            return
        waiting, self.waiting = self.waiting, deque()
        for call in waiting:
            if call.session.held:
                call.session.give_back(call)
            else:
                self.waiting.append(call)

    def _abandon(self, session: Session) -> None:
        for task, call in list(self.running.items()):
            if call.session is session and task.cancel():
                session.give_back(call)

    def drop(self, session: Session) -> None:
        """Forget the calls of a session and close their connections."""
        self.waiting = deque(call for call in self.waiting if call.session is not session)
        for task, call in list(self.running.items()):
            if call.session is session:
                task.cancel()
        self.pump()

    async def stop(self) -> None:
        """Forget everything and wait until no call runs."""
        self.waiting.clear()
        running = list(self.running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


# ---- how many calls may be in flight, and when to pause

LONGEST_BACKOFF = 30.0


class CallPace:
    """The shared state of all calls to one endpoint. Times are the event loop's.

    Additive increase, multiplicative decrease: every answer allows a little more (at first twice as
    much per round), every "too many requests" halves it, once per round. A pause that the endpoint
    requests holds for all calls, so that 255 others do not repeat one refusal.

    ``limit`` is how many calls may be in flight now, at most ``most``. ``base`` is the first
    back-off in seconds; each further one doubles, with jitter, up to 30. ``silent_since`` is when
    it first failed since its last answer, ``patience`` how many seconds from then on everyone may
    be put off.
    """

    def __init__(self, most: int, base: float = 0.5) -> None:
        self.most = most
        self.base = base
        self.patience = math.inf
        self.silent_since: float | None = None
        self.limit = float(min(most, 32))
        self.doubling = True
        self.paused_until = 0.0
        self.cut_at = float("-inf")
        self.busy_rounds = 0
        self.outages = 0
        self.random = random.Random()

    @property
    def window(self) -> int:
        """How many calls to hold ready: those in flight, and half as many again."""
        return int(self.limit * 1.5) + 8

    def backoff(self, tries: int) -> float:
        """Return the seconds to wait before try ``tries`` + 1: exponential, with jitter."""
        longest = min(self.base * 2.0 ** min(tries - 1, 30), LONGEST_BACKOFF)
        return longest * self.random.uniform(0.5, 1.0)

    def answered(self, running: int) -> None:
        """An answer came: allow more, if all that is allowed is in use."""
        self.busy_rounds = 0
        self.outages = 0
        self.silent_since = None
        if running + 1 >= self.limit:
            step = 1.0 if self.doubling else 1.0 / self.limit
            self.limit = min(self.limit + step, float(self.most))

    def cut(self, started: float, now: float) -> bool:
        """Halve the limit, once for all calls that started before the last cut."""
        if started < self.cut_at:
            return False
        self.cut_at = now
        self.doubling = False
        self.limit = max(1.0, self.limit / 2.0)
        return True

    def busy(self, started: float, now: float, wait: float | None) -> None:
        """The endpoint says "too many requests": fewer calls, and a pause for all of them."""
        if self.cut(started, now):
            self.busy_rounds += 1
            if wait is None:
                wait = self.backoff(self.busy_rounds)
        if wait is not None:
            self.paused_until = max(self.paused_until, now + wait)

    def away(self, started: float, now: float) -> None:
        """Nothing listens: one pause for all, longer each round."""
        if started >= self.cut_at and now >= self.paused_until:
            self.cut_at = now
            self.outages += 1
            self.paused_until = now + self.backoff(self.outages)

    def hopeless(self, now: float) -> bool:
        """Whether this pause ends later than patience, counted from the first refusal since the
        last answer."""
        if self.silent_since is None or now >= self.paused_until:
            return False
        return self.paused_until - self.silent_since > self.patience


# ---- what becomes of a call

#: prompts that must repeat themselves before the user is warned
ENOUGH = 8
#: prompts remembered while nothing is decided
MOST = 512


class DrawWatch:
    """Compares draws at T>0 of the same prompt until two differ.

    An endpoint that repeats itself would silently turn five probes into one.
    """

    def __init__(self) -> None:
        self.first: dict[int, tuple[tuple[int, int], int]] = {}
        self.repeated: set[int] = set()
        self.differ = False

    def see(self, request: Request, text: str) -> None:
        """Remember a draw that says something, and compare it with an earlier one of its prompt."""
        if self.differ or request.greedy or not text.strip():
            return
        prompt = hash(msgspec.structs.replace(request, seed=0, sample=0))
        draw, text_hash = (request.seed, request.sample), hash(text)
        first = self.first.get(prompt)
        if first is None:
            if len(self.first) < MOST:
                self.first[prompt] = draw, text_hash
        elif first[0] != draw:
            if first[1] == text_hash:
                self.repeated.add(prompt)
            else:
                self.differ = True
                self.first.clear()

    @property
    def vary(self) -> bool | None:
        """``True`` once two draws differ, ``False`` when enough prompts only repeat."""
        if self.differ:
            return True
        return False if len(self.repeated) >= ENOUGH else None

    @property
    def notice(self) -> str | None:
        """One sentence for the user if draws repeat."""
        if self.vary is not False:
            return None
        return (
            f"draws at temperature above 0 repeat: for each of {len(self.repeated)} prompts all "
            "draws are the same text, so the endpoint does not seem to sample, and repeated draws "
            "are not independent evidence ('sayso check' tests it with an open question)"
        )


#: how often one call may learn of another refused parameter
MOST_LESSONS = 16
#: before the first answer: rounds in which nothing listens, and web pages for one call
FIRST_ROUNDS = 3
#: before the first answer: requests refused for good, after which no other is tried
MOST_REFUSALS = 8
#: how often a kind of call is tried with one option at a time, and how often each of these calls
MOST_TRIALS, TRIES = 2, 3
#: seconds after which it is told that the endpoint gives no answer
TELL_AFTER = 8.0
#: seconds that nothing may listen, and that other faults may last, where none are given
NOBODY, PATIENCE = 60.0, 600.0
#: names of other models that are reported
MOST_NAMES = 4


class Asker:
    """Sends calls to the endpoint, and learns from the replies; lives in the loop's thread.

    Every call ends in exactly one of three ways: its answers are delivered; records are delivered
    that say why there is no answer; or the whole session ends with one line that would hold for
    every request.
    """

    dispatcher: Dispatcher

    def __init__(
        self, endpoint: Endpoint, options: EndpointOptions, wire: Wire | None = None
    ) -> None:
        self.endpoint = endpoint
        self.options = options
        self.price = price_of(endpoint.name, options.price)
        self.counts = Counts()
        self.draws = DrawWatch()
        self.learned = Learned(endpoint.provider)
        self.pace = CallPace(options.concurrency)
        self.tell: Callable[[str], None] = lambda text: None
        self.wire = wire or Wire(endpoint, options)
        self.isolating = asyncio.Lock()
        self.again: Counter[str] = Counter()
        self.odd_wait = ""
        #: answers by the name of the model that gave them, as replies have it
        self.models_named: Counter[str] = Counter()
        self.context: int | None = None
        self.logprobs = False
        self.implicit_thought = False
        self.answered = 0
        self.refusals = 0
        self.accepted: set[frozenset[tuple[str, object]]] = set()
        self.isolated: Counter[frozenset[tuple[str, object]]] = Counter()
        self.put_off = ""

    # ---- one call

    async def __call__(self, call: Call) -> float | None:
        """Send once; ``None`` if the call is settled, else the seconds until it is repeated."""
        call.started = self.dispatcher.loop.time()
        if self.pace.hopeless(call.started):
            unsent = f"{self.put_off}: not sent, all calls are to wait"
            self._give_up(call, f"{unsent} (patience: {self.pace.patience:g} s)")
            return None
        call.first = call.started if call.first is None else call.first
        choices = min(len(call.requests), self.learned.choices)
        if choices < len(call.requests):
            self.dispatcher.split(call, choices, choices)
        body: dict[str, object] = {}
        try:
            request = call.requests[0]
            body, overrides = request_body(self.endpoint.model, request, choices, self.learned)
            reply = await self.wire.ask(body)
            fault = self._accept(call, reply, overrides) if isinstance(reply, Reply) else reply
        except Exception as error:  # one strange reply must never lose the other requests
            fault = Fault("failed", f"unexpected {type(error).__name__}: {error}")
        if fault is None:
            self.accepted.add(refusable_parts(body))
            return None
        outcome = await self._decide(call, fault, body)
        if call.session.cancelled:
            return None
        if isinstance(outcome, float):
            self.counts.retries += 1
            if fault.kind != "refused":
                self.again[fault_words(fault)] += 1
            return outcome
        if isinstance(outcome, BaseException):
            call.session.fail(outcome)
        else:
            self._give_up(call, outcome)
        return None

    def _give_up(self, call: Call, problem: str) -> None:
        """Deliver records that say why there is no answer."""
        for index, request in zip(call.indices, call.requests, strict=True):
            self.counts.failed += 1
            call.session.deliver(index, empty_record(request, problem))

    def _patience(self, fault: Fault) -> float:
        """Return how many seconds a fault may last."""
        return self.options.patience or (NOBODY if fault.kind == "away" else PATIENCE)

    def _wait_out(self, fault: Fault, now: float) -> None:
        """Note a fault that may pass, and tell of it where no answer comes meanwhile."""
        self.put_off, self.pace.patience = self.problem(fault), self._patience(fault)
        if self.pace.silent_since is None:
            self.pace.silent_since = now
            self.dispatcher.loop.call_later(TELL_AFTER, self._tell_silence, now, TELL_AFTER)

    def _tell_silence(self, since: float, seconds: float) -> None:
        """Tell what keeps answers away, again each time it has lasted twice as long."""
        if self.pace.silent_since != since or not self.dispatcher.busy:
            return
        self.tell(
            f"{self.endpoint.url}: no answer for {seconds:.0f} s "
            f"({self.put_off.removeprefix('failed: ')}); gives up after {self.pace.patience:g} s; "
            "answers are kept"
        )
        self.dispatcher.loop.call_later(seconds, self._tell_silence, since, 2 * seconds)

    def _accept(self, call: Call, reply: Reply, overrides: tuple[str, ...]) -> Fault | None:
        """Deliver the answers of a reply; missing ones are requested in calls of their own."""
        if any(choice.finish == "error" for choice in reply.choices):
            return Fault("again", "the endpoint broke off the answer")
        returned = min(len(reply.choices), len(call.requests))
        reply = reply._replace(choices=reply.choices[:returned])
        generations = choice_records(
            call.requests,
            reply,
            overrides,
            self.price,
            implicit_thought=self.implicit_thought,
        )
        self.learned.see_choices(len(call.requests), returned)
        if returned < len(call.requests):
            self.dispatcher.split(call, returned, max(1, self.learned.choices))
        self.learn_model(reply)
        for index, generation in zip(call.indices, generations, strict=True):
            self.learn(generation, overrides)
            call.session.deliver(index, generation)
        self.answered += returned
        self.pace.answered(len(self.dispatcher.running))
        return None

    def learn_model(self, reply: Reply) -> None:
        """Learn from a reply which model answers and how it thinks."""
        if reply.model is not None:
            name = safe_line(reply.model, self.endpoint.secrets, 60)
            if name in self.models_named or len(self.models_named) < MOST_NAMES:
                self.models_named[name] += len(reply.choices)
        self.implicit_thought = self.implicit_thought or any(c.implicit for c in reply.choices)

    def learn(self, generation: Generation, overrides: tuple[str, ...]) -> None:
        """Count a generation and learn what it shows of the endpoint."""
        sent = not any(override.startswith("response_format") for override in overrides)
        if generation.request.response_format is not None and generation.finish == "stop" and sent:
            said = generation.overrides[len(overrides) :]
            self.learned.see_schema(not any(s.startswith("response_format") for s in said))
        if generation.problem is None:
            self.draws.see(generation.request, generation.text)
        elif generation.problem.startswith("failed"):
            self.counts.failed += 1
        self.logprobs = self.logprobs or generation.logprob_kind == ENDPOINT
        self.counts.prompt_tokens += generation.usage.prompt_tokens
        self.counts.completion_tokens += generation.usage.completion_tokens
        self.counts.cached_tokens += generation.usage.cached_tokens

    async def _decide(
        self, call: Call, fault: Fault, body: dict[str, object]
    ) -> float | str | BaseException:
        """Return what follows a fault: a delay, a record's problem, or an error for all."""
        if fault.error is not None:
            return fault.error
        if fault.kind == "first" and refused_names(fault.reason, body):
            fault = fault._replace(kind="refused")  # an option, whatever the status
        if fault.kind == "refused" and (self.answered or not fault.page):
            return await self._refused(call, fault, body)
        first = fault.kind in ("first", "unable") and not self.answered
        if fault.kind == "everyone" or first:
            return await self._end(fault)
        if fault.kind in ("context", "filter", "failed", "unable"):
            return self.problem(fault)
        outcome = await self._try_again(call, fault)
        if call.tries == TRIES and broken_inside(fault) and isinstance(outcome, float):
            # some servers break on an option that they do not know
            outcome = 0.0 if await self._isolate(call, fault, body) is None else outcome
        return await self._in_time(call, fault, outcome) if isinstance(outcome, float) else outcome

    async def _in_time(self, call: Call, fault: Fault, delay: float) -> float | str | InputError:
        """Return the delay of a call that is repeated in time; else give it up."""
        now = self.dispatcher.loop.time()
        due = max(now + delay, self.pace.paused_until)
        first = now if call.first is None else call.first
        if fault.kind == "away" and self.pace.silent_since is not None:
            first = max(first, self.pace.silent_since)  # it was heard until then
        if due - first <= self._patience(fault):
            return delay
        if fault.kind == "away" and not self.answered:
            return await self._end(fault)
        return f"{self.problem(fault)} (patience: {self._patience(fault):g} s)"

    async def _try_again(self, call: Call, fault: Fault) -> float | str | InputError:
        """Slow down, pause or back off; give up after enough of it."""
        now = self.dispatcher.loop.time()
        pace, retries = self.pace, self.options.retries
        self.odd_wait = self.odd_wait or fault.odd
        self._wait_out(fault, now)
        if fault.page and fault.wait is None and not self.answered:
            call.tries += 1
            late = call.tries >= FIRST_ROUNDS
            return await self._end(fault) if late else pace.backoff(call.tries)
        if fault.kind == "busy":
            pace.busy(call.started, now, fault.wait)
            call.busy += 1
            return self.problem(fault) if call.busy > 5 * retries else pace.backoff(1)
        if fault.kind == "away":
            pace.away(call.started, now)
            if not self.answered and pace.outages >= min(FIRST_ROUNDS, retries + 1):
                return await self._end(fault)
            # as long as patience lasts; at once where the pause is over
            return 0.0 if pace.paused_until <= now else pace.backoff(1)
        if fault.kind == "late":
            pace.cut(call.started, now)
        call.tries += 1
        if call.tries > retries:
            return f"{self.problem(fault)} ({call.tries} times)"
        return pace.backoff(call.tries)

    async def _refused(
        self, call: Call, fault: Fault, body: dict[str, object]
    ) -> float | str | InputError:
        """Learn what is refused and repeat without it, else give up."""
        call.learning += 1
        reason = safe_line(fault.reason, self.endpoint.secrets, 1000)
        if call.learning <= MOST_LESSONS:
            if self.learned.refuse(reason, body):
                return 0.0
            refusal = await self._isolate(call, fault, body)
            if refusal is None:
                return 0.0
            fault = refusal
        reason = safe_line(fault.reason, self.endpoint.secrets)
        self.refusals += 1
        if not self.answered:
            served = await self.models()
            unknown = isinstance(served, list) and served and self.endpoint.model not in served
            if unknown or self.refusals >= MOST_REFUSALS:
                return await self._end(fault)
        return f"failed: {reason}"

    async def _isolate(self, call: Call, fault: Fault, body: dict[str, object]) -> Fault | None:
        """Ask for short answers with one option each, and drop what is refused alone.

        One call at a time, so that all others are repeated under one regime. ``None`` if the call
        is to be repeated: something was learned, meanwhile or here, or nothing is refused any more.
        Else why it is refused, also without its options.
        """
        kind = refusable_parts(body)
        reason = safe_line(fault.reason, self.endpoint.secrets, 1000)
        async with self.isolating:
            choices = min(len(call.requests), self.learned.choices)
            now, _ = request_body(self.endpoint.model, call.requests[0], choices, self.learned)
            if now != body:
                return None
            named = refused_names(reason, body)
            # an endpoint that takes such calls refuses what this one says
            if (kind in self.accepted and not named) or self.isolated[kind] >= MOST_TRIALS:
                return fault
            self.isolated[kind] += 1
            for suspects in (named, refusable(body)):
                refusal = await self._trial(without(body, suspects)) if suspects else fault
                if refusal is None:
                    learned = await self._drop_refused(body, suspects, reason)
                    return None if learned else fault
                fault = refusal if refusal.kind == "refused" else fault
        return fault

    async def _drop_refused(
        self, body: dict[str, object], suspects: Sequence[str], reason: str
    ) -> bool:
        """Drop each suspect that is refused alone; all of them if they are refused only together.

        ``True`` if the call is to be repeated.
        """
        alone = [(name, await self._trial(only(body, suspects, name))) for name in suspects]
        refused = [name for name, fault in alone if fault is not None and fault.kind == "refused"]
        if not refused:
            together = await self._trial(without(body, ()))
            if together is None or together.kind != "refused":
                return together is None
            refused = list(suspects)
        for name in refused:
            self.learned.drop(name, body, reason)
        return True

    async def _trial(self, body: dict[str, object]) -> Fault | None:
        """Return ``None`` if a body is answered, a fault of kind "refused" if it is refused, and
        another one where that cannot be told."""
        faults: list[Fault] = []
        while len(faults) < TRIES:
            self.counts.retries += 1
            reply = await self.wire.ask(body)
            if isinstance(reply, Reply):
                self.counts.prompt_tokens += reply.prompt_tokens or 0
                self.counts.completion_tokens += reply.completion_tokens or 0
                return None
            if reply.kind == "refused":
                return reply
            faults.append(reply)
            await asyncio.sleep(reply.wait or self.pace.backoff(len(faults)))
        always = all(map(broken_inside, faults))
        return faults[-1]._replace(kind="refused" if always else faults[-1].kind)

    async def _end(self, fault: Fault) -> InputError:
        """Return the line that ends the session: no other request would fare better."""
        asked = fault.kind in ("first", "unable", "refused")
        listed = await self.models() if asked else None
        return InputError(
            explain(self.endpoint, fault, listed if isinstance(listed, list) else None)
        )

    def problem(self, fault: Fault) -> str:
        """Return the problem of a request that ends with a fault."""
        if fault.kind == "context":
            self.context = stated_context(fault.reason) or self.context
            return "context"
        if fault.kind == "filter":
            return "failed: content filter"
        running = len(self.dispatcher.running)
        at_once = f" with {running:,} calls at once" if fault.kind == "late" and running > 1 else ""
        return f"failed: {safe_line(fault.reason, self.endpoint.secrets)}{at_once}"

    async def models(self) -> list[str] | Fault:
        """Return the names of the models that the endpoint lists; learn a context from them."""
        listed = await self.wire.models()
        if isinstance(listed, Fault):
            return listed
        for name, length in listed:
            if length is not None and (name == self.endpoint.model or len(listed) == 1):
                self.context = min(length, self.context or length)
        return [name for name, _ in listed]
