"""The event loop in a thread of its own, and the calls that wait, run and come back there.

The caller's side is synchronous and works inside notebooks, which have a running loop already.
A retry waits without holding a place: other calls go on meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import re
import ssl
import threading
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

import httpx2
import msgspec
import openai
from openai import Omit

from sayso.engines.engine import Counts
from sayso.engines.openai.endpoint import Endpoint, Options, explain, outline, told
from sayso.engines.openai.reply import (
    ENDPOINT,
    Fault,
    Reply,
    context_told,
    read_failure,
    read_reply,
    records,
    unanswered,
)
from sayso.engines.openai.request import Learned, build
from sayso.engines.prices import Price
from sayso.records import Generation, InputError, Request

if TYPE_CHECKING:
    from openai._types import RequestOptions

# Do draws at T>0 differ? An endpoint that repeats itself makes five equal probes in silence.

#: so many prompts must have repeated themselves before it is said
ENOUGH = 8
#: and no more than so many are remembered while nothing is decided
MOST = 512


class DrawWatch:
    """Compares draws of the same prompt as they come, until two differ."""

    def __init__(self) -> None:
        self.first: dict[int, tuple[tuple[int, int], int]] = {}
        self.repeated: set[int] = set()
        self.differ = False

    def see(self, request: Request, text: str) -> None:
        """Remember a draw and compare it with an earlier one of the same prompt."""
        if self.differ or request.greedy:
            return
        prompt = hash(msgspec.structs.replace(request, seed=0, sample=0))
        draw, said = (request.seed, request.sample), hash(text)
        known = self.first.get(prompt)
        if known is None:
            if len(self.first) < MOST:
                self.first[prompt] = draw, said
        elif known[0] != draw:
            if known[1] == said:
                self.repeated.add(prompt)
            else:
                self.differ = True
                self.first.clear()

    @property
    def vary(self) -> bool | None:
        """``True`` once two draws differed, ``False`` when enough prompts only repeat."""
        if self.differ:
            return True
        return False if len(self.repeated) >= ENOUGH else None

    @property
    def notice(self) -> str | None:
        """One sentence for the user where draws repeat."""
        if self.vary is not False:
            return None
        return (
            f"draws at temperature above 0 repeat: for each of {len(self.repeated)} prompts all "
            "draws are the same text, so the endpoint does not seem to sample, and repeated draws "
            "are no independent evidence ('sayso check' tests it with an open question)"
        )


# How many calls may be in flight, and when to pause: learned from what the endpoint answers.
#
# Additive increase, multiplicative decrease: every answer allows a little more (twice as much
# per
# round at first), every "too many requests" halves it, once per round. A pause that the
# endpoint
# asks for holds for all calls, so that one refusal is not repeated by 255 others.

LONGEST_BACKOFF = 30.0


class Pace:
    """The shared state of all calls to one endpoint. Times are the event loop's.

    ``limit`` is how many calls may be in flight now, at most ``most``. ``base`` is the first
    back-off in seconds; each further one doubles, with jitter, up to 30.
    """

    def __init__(self, most: int, base: float = 0.5) -> None:
        self.most = most
        self.base = base
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
        """An answer came: allow more, if what is allowed was used."""
        self.busy_rounds = 0
        self.outages = 0
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
        """The endpoint said "too many requests": fewer calls, and a pause for all of them."""
        if self.cut(started, now):
            self.busy_rounds += 1
            if wait is None:
                wait = self.backoff(self.busy_rounds)
        if wait is not None:
            self.paused_until = max(self.paused_until, now + wait)

    def away(self, started: float, now: float) -> None:
        """Nobody listens: one pause for all, longer each round."""
        if started >= self.cut_at and now >= self.paused_until:
            self.cut_at = now
            self.outages += 1
            self.paused_until = now + self.backoff(self.outages)


T = TypeVar("T")
Answer = tuple[int, Generation]
#: the same, or ``None`` for a request that was given back: it was not sent, or not to the end
Settled = tuple[int, Generation | None]
#: how long to wait for a reply before looking whether Ctrl-C was pressed, in seconds
BREATH = 0.5
#: how long answers that are on their way are awaited once nothing more is sent, in seconds
GRACE = 120.0


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
        """``False`` once it was closed."""
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

    ``tries`` counts what broke, ``busy`` refusals for too many requests, ``learning`` refused
    parameters; ``bare`` holds the first refusal when the call is asked without any extras.
    """

    __slots__ = ("bare", "busy", "indices", "learning", "requests", "session", "started", "tries")

    def __init__(
        self, session: Session, indices: Sequence[int], requests: Sequence[Request]
    ) -> None:
        self.session = session
        self.indices = list(indices)
        self.requests = list(requests)
        self.tries = 0
        self.busy = 0
        self.learning = 0
        self.bare: str | None = None
        self.started = 0.0


class Session:
    """One ``complete``: what it asked and what came back.

    ``submit``, ``take``, ``hold`` and ``cancel`` are for the caller's thread, ``deliver``,
    ``give_back`` and ``fail`` for the loop's.
    """

    def __init__(self, dispatcher: Dispatcher) -> None:
        self.dispatcher = dispatcher
        self.results: SimpleQueue[list[Settled] | BaseException] = SimpleQueue()
        self.outbox: list[Settled] = []
        self.cancelled = False
        self.held = False
        self.sent = 0
        self.ended = 0

    @property
    def open(self) -> int:
        """Calls on their way."""
        return self.sent - self.ended

    def submit(self, calls: Sequence[Call]) -> None:
        """Hand calls to the loop."""
        self.sent += len(calls)
        self.dispatcher.loop.call_soon_threadsafe(self.dispatcher.add, calls)

    def take(self) -> list[Settled]:
        """Wait for answers; raises what ended the session (:meth:`fail`)."""
        while True:
            try:
                found = self.results.get(timeout=BREATH)
            except Empty:
                if self.dispatcher.loop.is_closed():
                    raise InputError("the model was closed while it was being asked") from None
                continue
            if isinstance(found, BaseException):
                raise found
            return found

    def hold(self) -> None:
        """Send nothing more; what waits is given back, also what waits to be asked again."""
        self.held = True
        with contextlib.suppress(RuntimeError):  # the loop is closed: nothing waits
            self.dispatcher.loop.call_soon_threadsafe(self.dispatcher.hold, self)

    def cancel(self) -> None:
        """Let go of everything that is still on its way; never waits."""
        self.cancelled = True
        with contextlib.suppress(RuntimeError):  # the loop is closed: nothing is on its way
            self.dispatcher.loop.call_soon_threadsafe(self.dispatcher.drop, self)

    def give_back(self, call: Call) -> None:
        """Tell the caller that a call is not sent (any more)."""
        self.ended += 1
        for index in call.indices:
            self.deliver(index, None)

    def deliver(self, index: int, answer: Generation | None) -> None:
        """Bring one answer to the caller; answers of one turn of the loop travel together."""
        if not self.outbox:
            self.dispatcher.loop.call_soon(self._flush)
        self.outbox.append((index, answer))

    def _flush(self) -> None:
        self.results.put(self.outbox)
        self.outbox = []

    def fail(self, error: BaseException) -> None:
        """End the whole session: an InputError that would meet every request, or a bug."""
        if not self.cancelled:
            self.results.put(error)


#: Asks once and settles the call, or returns after how many seconds to ask it again.
Ask = Callable[[Call], Awaitable[float | None]]


class Dispatcher:
    """Starts calls as the pace allows. Everything but the constructor runs in the loop's thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, pace: Pace, ask: Ask) -> None:
        self.loop = loop
        self.pace = pace
        self.ask = ask
        self.waiting: deque[Call] = deque()
        self.running: dict[asyncio.Task[None], Call] = {}
        self.later: dict[Call, asyncio.TimerHandle] = {}
        self.timer: asyncio.TimerHandle | None = None

    def add(self, calls: Sequence[Call]) -> None:
        """Queue calls and start what may start."""
        self.waiting.extend(calls)
        self._give_back()
        self.pump()

    @property
    def on_their_way(self) -> int:
        """Answers that are being waited for on the wire, for whom they may be."""
        return sum(len(call.requests) for call in list(self.running.values()))

    def hold(self, session: Session) -> None:
        """Give back what a session has waiting, and after a while what is still on its way."""
        for call in [call for call in self.later if call.session is session]:
            self.later.pop(call).cancel()
            session.give_back(call)
        self._give_back()
        self.loop.call_later(GRACE, self._abandon, session)

    def _give_back(self) -> None:
        """Give back the waiting calls of sessions that send nothing more."""
        if any(call.session.held for call in self.waiting):
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

    def split(self, call: Call, kept: int) -> None:
        """Make calls of their own of all but the first ``kept`` requests of a call."""
        rest = list(zip(call.indices[kept:], call.requests[kept:], strict=True))
        del call.indices[kept:], call.requests[kept:]
        call.session.ended -= len(rest)
        for index, request in reversed(rest):
            self.waiting.appendleft(Call(call.session, [index], [request]))

    def pump(self) -> None:
        """Start waiting calls."""
        while self.waiting and len(self.running) < max(1, int(self.pace.limit)):
            pause = self.pace.paused_until - self.loop.time()
            if pause > 0:
                if self.timer is None:
                    self.timer = self.loop.call_later(pause, self._wake)
                return
            call = self.waiting.popleft()
            if call.session.held:
                call.session.give_back(call)
            elif not call.session.cancelled:
                task = self.loop.create_task(self._run(call))
                self.running[task] = call
                task.add_done_callback(self._ended)

    def _wake(self) -> None:
        self.timer = None
        self.pump()

    async def _run(self, call: Call) -> None:
        """Ask once; come back later where asked to."""
        delay = await self.ask(call)
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
        session = self.running.pop(task).session
        error = None if task.cancelled() else task.exception()
        if error is not None:
            session.fail(error)
        self._give_back()  # also where no place is free, or all are pausing
        self.pump()

    def _again(self, call: Call) -> None:
        self.later.pop(call, None)
        if not call.session.cancelled:
            self.waiting.append(call)
            self.pump()

    def drop(self, session: Session) -> None:
        """Forget the calls of a session and close their connections."""
        self.waiting = deque(c for c in self.waiting if c.session is not session)
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


# What goes over the wire: one exchange with an endpoint, and nothing that survives it.

#: Calls that share one pool of connections. A pool looks at each of its connections whenever a call
#: comes or goes: at 256 in one pool that was half of all CPU time.
LANE = 16
#: how JSON may write characters that need no escape: some servers write "\\/"
ESCAPED = re.compile(rb"\\(?:/|u00[2-7])")
#: the longest wait for a connection and for a list of models, in seconds
CONNECT, LIST = 10.0, 30.0


class Lane:
    """One client with its own connections. It retries nothing and follows no redirect: both are
    decided elsewhere, and a key goes to no other host."""

    def __init__(self, endpoint: Endpoint, timeout: float, trust: ssl.SSLContext) -> None:
        http = openai.DefaultAsyncHttpxClient(
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=LANE),
            timeout=httpx2.Timeout(timeout, connect=min(timeout, CONNECT)),
            follow_redirects=False,
            verify=trust,
        )
        self.client = openai.AsyncOpenAI(
            api_key=endpoint.key or "none", base_url=endpoint.url, http_client=http, max_retries=0
        )
        self.busy = 0


class Wire:
    """All connections to one endpoint, in lanes that are opened as they are needed."""

    def __init__(self, endpoint: Endpoint, options: Options) -> None:
        self.endpoint = endpoint
        self.timeout = options.timeout
        self.secret = endpoint.key.encode()
        self.trust = httpx2.create_ssl_context()
        self.lanes = [Lane(endpoint, self.timeout, self.trust)]
        headers = headers_for(endpoint, self.lanes[0].client)
        self.options: RequestOptions = {"headers": headers} if headers else {}

    def _lane(self) -> Lane:
        """Return the first lane with room."""
        for lane in self.lanes:
            if lane.busy < LANE:
                return lane
        self.lanes.append(Lane(self.endpoint, self.timeout, self.trust))
        return self.lanes[-1]

    async def ask(self, body: dict[str, object]) -> Reply | Fault:
        """Send one call and read what comes back."""
        content = encode(body)
        found = await self._guarded(
            lambda client: client.post(
                "/chat/completions",
                cast_to=httpx2.Response,
                content=content,
                options=self.options,
            ),
            self.timeout,
        )
        return found if isinstance(found, Fault) else read_reply(found)

    async def models(self) -> list[tuple[str, int | None]] | Fault:
        """Return the names of the models that the endpoint lists, with their context lengths."""
        found = await self._guarded(
            lambda client: client.get("/models", cast_to=httpx2.Response, options=self.options),
            min(self.timeout, LIST),
        )
        if isinstance(found, Fault):
            return found
        try:
            rows = [r for r in msgspec.json.decode(found)["data"] if isinstance(r["id"], str)]
        except (msgspec.DecodeError, UnicodeDecodeError, TypeError, KeyError, RecursionError):
            return Fault("page", "no list of models")
        lengths = (row.get("max_model_len") for row in rows)
        return [
            (row["id"], length if isinstance(length, int) else None)
            for row, length in zip(rows, lengths, strict=True)
        ]

    async def _guarded(
        self, send: Callable[[openai.AsyncOpenAI], Awaitable[httpx2.Response]], seconds: float
    ) -> bytes | Fault:
        """Return the body of a reply with status 200, our key taken out of it, or a fault."""
        lane = self._lane()
        lane.busy += 1
        try:
            async with asyncio.timeout(seconds):
                response = await send(lane.client)
        except (TimeoutError, openai.APITimeoutError) as error:
            if isinstance(error.__cause__, httpx2.ConnectTimeout):
                return Fault("away", "no connection in time")
            return Fault("late", f"no answer in {seconds:g} s")
        except openai.APIStatusError as error:
            return read_failure(
                error.status_code, error.response.headers, self._clean(error.response.content)
            )
        except openai.APIConnectionError as error:
            cause = error.__cause__
            if isinstance(cause, httpx2.ConnectError):
                return Fault("away", str(cause) or "no connection")
            return Fault("again", f"connection broke: {type(cause).__name__}")
        finally:
            lane.busy -= 1
        return self._clean(response.content)

    def _clean(self, content: bytes) -> bytes:
        """Take our key out of what a server repeats, before anybody reads it."""
        if not self.secret:
            return content
        if self.secret not in content and ESCAPED.search(content):
            try:  # written anew, every character that a key may have stands for itself
                plain = msgspec.json.encode(msgspec.json.decode(content))
            except (msgspec.DecodeError, UnicodeError, RecursionError):
                plain = content
            content = plain if self.secret in plain else content
        return content.replace(self.secret, b"[key]")

    async def close(self) -> None:
        """Close all connections."""
        for lane in self.lanes:
            await lane.client.close()


def headers_for(endpoint: Endpoint, client: openai.AsyncOpenAI) -> dict[str, str | Omit]:
    """Return headers for every call. What the environment holds for OpenAI stays with OpenAI."""
    if endpoint.official:
        return {}
    plain = ("accept", "content-type", "user-agent")
    found: dict[str, str | Omit] = {
        name: Omit()
        for name in client.default_headers
        if name.lower() not in plain and "stainless" not in name.lower()
    }
    found["Authorization"] = f"Bearer {endpoint.key}" if endpoint.key else Omit()
    return found


def encode(body: object) -> bytes:
    """Return JSON; half characters, which no encoding holds, are replaced."""
    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError:
        text = json.dumps(body, ensure_ascii=False)
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


# What becomes of one call to an endpoint.
#
# Every call ends in exactly one of three ways: its answers are delivered, a record that says
# why
# there is none is delivered, or the whole session ends with one line that would hold for every
# request.

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
