"""The engine for OpenAI and for every server that speaks its chat completions.

This is the caller's side; what runs in the event loop's thread is in
:mod:`sayso.engines.openai.calls`. What an endpoint can do is learned from its answers: read
``capabilities`` and ``notices`` after use. A request that fails for good is a record with its
problem; only what would fail for every request (nothing listens, key refused, no such model, a web
page) raises, in one line.
"""

from __future__ import annotations

import contextlib
import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import msgspec

from sayso.engines.engine import Capabilities, Counts, read_options
from sayso.engines.openai.calls import Answer, Asker, Call, Dispatcher, LoopThread, Session, Settled
from sayso.engines.openai.endpoint import (
    Endpoint,
    Options,
    explain,
    named_by_url,
    named_openai,
    retry_notice,
    safe_line,
    short_name,
)
from sayso.engines.openai.reply import unanswered
from sayso.engines.openai.request import unaskable
from sayso.engines.prices import Price, price_of
from sayso.records import Generation, InputError, Request

Numbered = tuple[int, Request]


class EndpointEngine:
    """An endpoint as an engine (see :class:`sayso.engines.engine.Engine`).

    ``price`` is what its tokens cost, ``None`` if unknown. ``whole`` says, while answers come, that
    all answers of the calls that were settled have been given out.
    """

    whole = True

    def __init__(self, endpoint: Endpoint, options: Options, price: Price | None) -> None:
        self.thread = LoopThread()
        self.asker = Asker(endpoint, options, price)
        self.dispatcher = Dispatcher(self.thread.loop, self.asker.pace, self.asker)
        self.asker.dispatcher = self.dispatcher
        self.options = options
        self.price = price
        self.name = endpoint.name
        self.sessions: list[Session] = []
        self._identify(endpoint.model)

    def _identify(self, model: str) -> None:
        """Take identity and signature from the name of the model."""
        version = self.options.model_version
        self.identity = f"api:{model}@{version}" if version else f"api:{model}"
        self.base = self.identity
        self.signature = short_name(model, version)

    @property
    def counts(self) -> Counts:
        """What it has done so far."""
        return self.asker.counts

    @property
    def capabilities(self) -> Capabilities:
        """What the endpoint has shown so far that it can do."""
        asker, learned = self.asker, self.asker.learned
        return Capabilities(
            logprobs=asker.logprobs,
            context=asker.context,
            n=learned.gives_n and learned.choices > 1,
            seed=False if learned.drops("seed") else None,
            json_schema=learned.json_schema,
            thinking=asker.thinking,
            draws_vary=asker.draws.vary,
        )

    @property
    def notices(self) -> list[str]:
        """What the user should know, most important first."""
        asker = self.asker
        return [
            *([asker.draws.notice] if asker.draws.notice else []),
            *(
                f"requests name {asker.endpoint.model!r}, but the endpoint says that {other!r} "
                "answers"
                for other in list(asker.other_models)
            ),
            *asker.learned.notices,
            *([safe_line(asker.odd_wait, asker.endpoint.secrets)] if asker.odd_wait else []),
            *retry_notice(asker.again, asker.counts.retries),
        ]

    @property
    def in_replies(self) -> list[str]:
        """The notices that the ``overrides`` of replies repeat."""
        return self.asker.learned.in_replies

    def choose_model(self) -> None:
        """Take the only model that the endpoint lists. Raises InputError unless it lists one."""
        endpoint = self.asker.endpoint
        served = self.thread.wait(self.asker.models(), 60.0)
        if not isinstance(served, list):
            line = explain(endpoint, served)
            hint = "" if served.kind == "away" else "; or name the model, as URL#model"
            raise InputError(line + hint)
        if len(served) != 1:
            shown = (safe_line(name, endpoint.secrets, 60) for name in sorted(served)[:8])
            names = ", ".join(f"{endpoint.url}#{name}" for name in shown)
            raise InputError(
                f"{endpoint.url} lists {len(served)} models: say which one"
                + (f" ({names})" if served else ", as URL#model")
            )
        self.name = f"{endpoint.url}#{served[0]}"
        self.asker.endpoint = replace(endpoint, name=self.name, model=served[0])
        self._identify(served[0])

    def complete(self, requests: Iterable[Request]) -> Iterator[Answer]:
        """Answer requests lazily, in order of completion, as many at once as the endpoint takes.

        Consecutive requests that differ only in ``sample`` share one call if the endpoint gives
        several choices. Ctrl-C drops at once what is in flight; after :meth:`hold`, requests that
        were taken and not sent stay without an answer.
        """
        session = Session(self.dispatcher)
        self.sessions.append(session)
        groups = _groups(enumerate(requests), lambda: self.asker.learned.choices)
        ready: deque[Settled] = deque()
        waiting = 0
        try:
            while True:
                if not session.held and session.open <= self.asker.pace.limit + 4:
                    # the loop's thread may have cut the limit since the line above
                    room = max(0, self.asker.pace.window - session.open)
                    taken = list(itertools.islice(groups, room))
                    self._submit(session, taken, ready)
                    waiting += sum(map(len, taken))
                if not ready:
                    if not waiting:
                        return
                    ready.extend(session.take())
                waiting -= 1
                index, generation = ready.popleft()
                self.whole = not ready
                if generation is not None:
                    yield index, generation
        finally:
            self.sessions.remove(session)
            session.cancel()

    def hold(self) -> int:
        """Send no further requests; return how many answers are in flight.

        Those still come, if they do so within two minutes. From any thread, or a signal's handler.
        """
        for session in list(self.sessions):
            session.hold()
        return self.dispatcher.in_flight

    def _submit(
        self, session: Session, groups: Sequence[list[Numbered]], ready: deque[Settled]
    ) -> None:
        """Send groups of requests; those that need no call are answered here."""
        calls = []
        for group in groups:
            self.counts.requests += len(group)
            request = group[0][1]
            problem = unaskable(request, self.asker.learned)
            if problem is not None or request.max_tokens < 1:
                self.counts.failed += len(group) if problem else 0
                finish = None if problem else "length"
                ready.extend((i, unanswered(r, problem, finish=finish)) for i, r in group)
            else:
                calls.append(Call(session, [i for i, _ in group], [r for _, r in group]))
        if calls:
            session.submit(calls)

    def force(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], want: Sequence[str]
    ) -> Iterator[tuple[int, Generation]]:
        """Refuse: chat completions give no probabilities of given text."""
        raise InputError(
            f"{self.name} cannot read {', '.join(sorted(want))} of given text: an endpoint only "
            "answers; use the same weights as hf:<folder>"
        )

    def close(self) -> None:
        """Close connections, loop and thread."""
        if self.thread.alive:
            with contextlib.suppress(TimeoutError):  # what does not end now ends with the process
                self.thread.wait(self._shut(), 5.0)
            self.thread.close()

    async def _shut(self) -> None:
        await self.dispatcher.stop()
        await self.asker.wire.close()


def _groups(numbered: Iterable[Numbered], most: Callable[[], int]) -> Iterator[list[Numbered]]:
    """Join consecutive requests that differ only in the draw, as many as a call may hold."""
    group: list[Numbered] = []
    shared: Request | None = None
    for index, request in numbered:
        plain = msgspec.structs.replace(request, sample=0)
        if group and not request.greedy and plain == shared and len(group) < most():
            group.append((index, request))
            continue
        if group:
            yield group
        group, shared = [(index, request)], plain
    if group:
        yield group


def open_openai(model: str, **options: object) -> EndpointEngine:
    """Open a model of OpenAI; see :class:`~sayso.engines.openai.endpoint.Options`."""
    checked = read_options(Options, options, "an endpoint's options")
    endpoint = named_openai(model, checked.asked)
    return EndpointEngine(endpoint, checked, price_of(endpoint.name, checked.price))


def open_endpoint(name: str, **options: object) -> EndpointEngine:
    """Open ``http(s)://host/v1[#model]``; see :class:`~sayso.engines.openai.endpoint.Options`."""
    checked = read_options(Options, options, "an endpoint's options")
    endpoint = named_by_url(name)
    engine = EndpointEngine(endpoint, checked, price_of(endpoint.name, checked.price))
    if not endpoint.model:
        try:
            engine.choose_model()
        except BaseException:
            engine.close()
            raise
    return engine
