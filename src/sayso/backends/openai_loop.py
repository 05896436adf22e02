"""The event loop in a thread of its own, and the calls that wait, run and come back there.

The caller's side is synchronous and works inside notebooks, which have a running loop already.
A retry waits without holding a place: other calls go on meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from sayso.backends.openai_pace import Pace
from sayso.records import Generation, InputError, Request

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
