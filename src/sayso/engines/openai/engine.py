"""The engine for OpenAI and for every server that speaks its chat completions.

What an endpoint can do is learned from its answers: read ``capabilities`` and ``notices`` after
use. A request that fails for good is a record with its reason; only what would fail for every
request (nobody there, key refused, no such model, a web page) raises, in one line.
"""

from __future__ import annotations

import contextlib
import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import msgspec

from sayso.engines.engine import Capabilities, Counts
from sayso.engines.openai.calls import Answer, Asker, Call, Dispatcher, LoopThread, Session, Settled
from sayso.engines.openai.endpoint import (
    Endpoint,
    Options,
    asked_again,
    explain,
    named_by_url,
    named_openai,
    read_options,
    short_name,
    told,
)
from sayso.engines.openai.reply import unanswered
from sayso.engines.openai.request import unaskable
from sayso.engines.prices import Price, price_of
from sayso.records import Generation, InputError, Request

Numbered = tuple[int, Request]


class EndpointEngine:
    """An endpoint as an engine (see :class:`sayso.engines.engine.Engine`).

    ``price`` is what its tokens cost, ``None`` where nobody knows. ``pace`` may be slowed or sped
    up before use.
    """

    def __init__(self, endpoint: Endpoint, options: Options, price: Price | None) -> None:
        self.thread = LoopThread()
        self.asker = Asker(endpoint, options, price)
        self.dispatcher = Dispatcher(self.thread.loop, self.asker.pace, self.asker)
        self.asker.dispatcher = self.dispatcher
        self.options = options
        self.price = price
        self.name = endpoint.name
        self.sessions: list[Session] = []
        self._call_it(endpoint.model)

    def _call_it(self, model: str) -> None:
        """Take the name of the model that is asked."""
        version = self.options.model_version
        self.identity = f"api:{model}@{version}" if version else f"api:{model}"
        self.base = self.identity
        self.signature = short_name(model, version)

    @property
    def counts(self) -> Counts:
        """What was asked so far."""
        return self.asker.counts

    @property
    def capabilities(self) -> Capabilities:
        """What the endpoint was seen to do so far."""
        asker = self.asker
        learned = asker.learned
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
        """What the user should be told, most important first."""
        asker = self.asker
        found = [asker.draws.notice] if asker.draws.notice else []
        found += [
            f"{asker.endpoint.model!r} was asked, and the endpoint says that {other!r} answered"
            for other in list(asker.other_models)
        ]
        found += asker.learned.notices
        return found + asked_again(asker.again, asker.counts.retries)

    @property
    def in_replies(self) -> list[str]:
        """Those of the notices that the ``overrides`` of the replies tell as well."""
        return self.asker.learned.in_replies

    def choose_model(self) -> None:
        """Take the only model that the endpoint lists; raises InputError where there is no one."""
        endpoint = self.asker.endpoint
        served = self.thread.wait(self.asker.models(), 60.0)
        if not isinstance(served, list):
            line = explain(endpoint, served)
            hint = "" if served.kind in ("away", "late") else "; or name the model, as URL#model"
            raise InputError(line + hint)
        if len(served) != 1:
            shown = (told(name, endpoint.secrets, 60) for name in sorted(served)[:8])
            names = ", ".join(f"{endpoint.url}#{name}" for name in shown)
            raise InputError(
                f"{endpoint.url} lists {len(served)} models: say which one"
                + (f" ({names})" if served else ", as URL#model")
            )
        self.name = f"{endpoint.url}#{served[0]}"
        self.asker.endpoint = replace(endpoint, name=self.name, model=served[0])
        self._call_it(served[0])

    def complete(self, requests: Iterable[Request]) -> Iterator[Answer]:
        """Answer requests lazily, in order of completion, as many at once as the endpoint takes.

        Consecutive requests that differ only in ``sample`` share one call where the endpoint
        gives several choices. Ctrl-C closes what is on its way at once; after :meth:`hold`,
        requests that were taken and not sent stay without an answer.
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
                index, answer = ready.popleft()
                if answer is not None:
                    yield index, answer
        finally:
            self.sessions.remove(session)
            session.cancel()

    def hold(self) -> int:
        """Send nothing more of what is being asked; return how many answers are on their way.

        They still come, if they do so within two minutes. From any thread, or a signal's handler.
        """
        for session in list(self.sessions):
            session.hold()
        return self.dispatcher.on_their_way

    def _submit(
        self, session: Session, groups: Sequence[list[Numbered]], ready: deque[Settled]
    ) -> None:
        """Send groups of requests; those that need no asking are answered here."""
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
        """Refuse: chat completions give no probabilities of text that is handed in."""
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
    """Open a model of OpenAI by its name; see :class:`.openai_names.Options`."""
    checked = read_options(options)
    endpoint = named_openai(model)
    return EndpointEngine(endpoint, checked, price_of(endpoint.name, checked.price))


def open_endpoint(name: str, **options: object) -> EndpointEngine:
    """Open ``http(s)://host/v1[#model]``; see :class:`.openai_names.Options`."""
    checked = read_options(options)
    endpoint = named_by_url(name)
    engine = EndpointEngine(endpoint, checked, price_of(endpoint.name, checked.price))
    if not endpoint.model:
        try:
            engine.choose_model()
        except BaseException:
            engine.close()
            raise
    return engine
