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
import re
import shlex
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import NamedTuple

import msgspec

from sayso.engines import check_proxies
from sayso.engines.engine import Capabilities, Counts, read_options
from sayso.engines.ollama import (
    full_name,
    same_name,
    server_address,
    serves_here,
    stored_weights,
)
from sayso.engines.openai.batches import Batch, Files, key_of
from sayso.engines.openai.calls import (
    Answer,
    Asker,
    Call,
    Dispatcher,
    LoopThread,
    Session,
    Settled,
)
from sayso.engines.openai.endpoint import (
    Endpoint,
    EndpointOptions,
    explain,
    models_notice,
    named_by_url,
    named_provider,
    not_listed,
    retry_notice,
    safe_line,
    short_model_name,
    with_model,
)
from sayso.engines.openai.reply import Fault, decode_body, empty_record
from sayso.engines.openai.request import refusable_parts, request_body, unaskable
from sayso.engines.openai.wire import Wire
from sayso.engines.prices import LOCAL
from sayso.records import Generation, InputError, Request

Numbered = tuple[int, Request]
#: the longest wait for a list that is only read to warn
SOON = 5.0


class EndpointEngine:
    """An endpoint as an engine (see :class:`sayso.engines.engine.Engine`).

    ``price`` is what its tokens cost, ``None`` if unknown. ``whole`` says, while answers come, that
    all answers of the calls that were settled have been given out. ``given`` says when the newest
    answer was given: ``None``, just now.
    """

    whole = True
    given: float | None = None

    def __init__(
        self, endpoint: Endpoint, options: EndpointOptions, wire: Wire | None = None
    ) -> None:
        check_proxies()
        self.asker = Asker(endpoint, options, wire)
        self.thread = LoopThread()
        self.dispatcher = Dispatcher(self.thread.loop, self.asker)
        self.options = options
        self.price = self.asker.price
        self._unlisted: list[str] | None = None
        self.sessions: list[Session] = []
        self._identify()

    def _identify(self) -> None:
        """Take name, identity and signature from the model of the endpoint, not its address."""
        endpoint, version = self.asker.endpoint, self.options.model_version
        self.name = endpoint.name
        self.identity = f"api:{endpoint.model}@{version}" if version else f"api:{endpoint.model}"
        self.base = self.identity
        self.signature = short_model_name(endpoint.model, version)

    @property
    def address(self) -> str:
        """The address that is asked, without keys."""
        endpoint = self.asker.endpoint
        return safe_line(endpoint.url, endpoint.secrets)

    @property
    def counts(self) -> Counts:
        """What it has done so far."""
        return self.asker.counts

    @property
    def tell(self) -> Callable[[str], None]:
        """Who is told at once that no answers come, and how batches go."""
        return self.asker.tell

    @tell.setter
    def tell(self, tell: Callable[[str], None]) -> None:
        self.asker.tell = tell

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
            draws_vary=asker.draws.vary,
        )

    @property
    def notices(self) -> list[str]:
        """What the user should know, most important first."""
        asker = self.asker
        return [
            *([asker.draws.notice] if asker.draws.notice else []),
            *(self._unlisted or ()),
            *models_notice(asker.endpoint.model, asker.models_named),
            *asker.learned.notices,
            *([safe_line(asker.odd_wait, asker.endpoint.secrets)] if asker.odd_wait else []),
            *retry_notice(asker.again),
        ]

    @property
    def in_replies(self) -> list[str]:
        """The notices that the ``overrides`` of replies repeat."""
        return self.asker.learned.in_replies

    def unlisted(self) -> list[str]:
        """Return the caution on a model that the endpoint does not list.

        The list is read once, and an endpoint without a list is none the worse for it.
        """
        if self._unlisted is None:
            endpoint, self._unlisted = self.asker.endpoint, []
            if not endpoint.provider.official:
                listed = self.thread.wait(self.asker.wire.models(SOON), 2 * SOON)
                names = [] if isinstance(listed, Fault) else [name for name, _ in listed]
                if names and endpoint.model not in names:
                    self._unlisted = [not_listed(endpoint, names)]
        return self._unlisted

    def choose_model(self) -> None:
        """Take the only model that the endpoint lists. Raises InputError unless it lists one."""
        endpoint = self.asker.endpoint
        served = self.thread.wait(self.asker.models(), 60.0)
        if not isinstance(served, list):
            line = explain(endpoint, served)
            hint = "; to ask it without its list, name the model: URL#model"
            raise InputError(line if served.kind == "away" else line + hint)
        if len(served) != 1:
            shown = (safe_line(name, endpoint.secrets, 60) for name in sorted(served)[:8])
            names = ", ".join(f"{endpoint.url}#{name}" for name in shown)
            raise InputError(
                f"{endpoint.url} lists {len(served)} models: name one"
                + (f" ({names})" if served else ", as URL#model")
            )
        self.asker.endpoint = with_model(endpoint, served[0])
        self._identify()

    def complete(self, requests: Iterable[Request]) -> Iterator[Answer]:
        """Answer requests lazily, in order of completion, as many at once as the endpoint takes.

        Consecutive requests that differ only in ``sample`` share one call if the endpoint gives
        several choices. Ctrl-C drops at once what is in flight; after :meth:`hold`, requests that
        were taken and not sent stay without an answer.
        """
        session = Session(self.dispatcher)
        self.sessions.append(session)
        groups = _groups(enumerate(requests), self._most_choices)
        ready: deque[Settled] = deque()
        waiting = 0
        try:
            while True:
                room = 0 if session.held else self.dispatcher.wanted(session.open)
                if room:
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

    def ask_now(self, requests: Iterable[Request]) -> Iterator[Answer]:
        """Answer a few requests at once, also where others wait in files or for a cluster."""
        return EndpointEngine.complete(self, requests)

    def _most_choices(self) -> int:
        return self.asker.learned.choices

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
                ready.extend((i, empty_record(r, problem, finish=finish)) for i, r in group)
            else:
                calls.append(Call(session, [i for i, _ in group], [r for _, r in group]))
        if calls:
            session.submit(calls)

    def force(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], want: Sequence[str]
    ) -> Iterator[tuple[int, Generation]]:
        """Refuse: chat completions give no probabilities of given text."""
        raise InputError(
            f"{self.name} cannot read {', '.join(sorted(want))} of a given text: an endpoint only "
            "generates; use the same weights as hf:<folder> or gguf:<file>"
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


#: fewer calls than this are not worth a day's waiting: they are asked at once
FEWEST = 20


class BatchEngine(EndpointEngine):
    """An endpoint that is asked in batch files, for half the price, and answers within a day.

    The first call of each kind is asked at once, at the full price, so that what the endpoint
    refuses is known before a file is sent; so are few calls.
    """

    asks_ahead = True

    def _identify(self) -> None:
        super()._identify()
        self.files = Files(self.asker, self.identity)

    @property
    def notices(self) -> list[str]:
        """What the user should know."""
        came = f"{self.files.answered:,} answers came in batch files, at half the price"
        return [*super().notices, *self.files.gone, *([came] if self.files.answered else [])]

    @property
    def since(self) -> float:
        """Batches that were begun before are left alone."""
        return self.files.since

    @since.setter
    def since(self, since: float) -> None:
        self.files.since = since

    @property
    def given(self) -> float | None:  # type: ignore[override]
        """When the batch of the newest answer was begun."""
        return self.files.given

    def complete(self, requests: Iterable[Request]) -> Iterator[Answer]:
        """Answer all requests: those of batches that were sent before, the rest in new ones."""
        files, stop = self.files, self.files.office.stop
        stop.clear()
        files.given = None
        places: dict[str, list[int]] = {}
        wanted: dict[str, Request] = {}
        for index, request in enumerate(requests):
            key = key_of(request, self.identity)
            places.setdefault(key, []).append(index)
            wanted[key] = request
        with files.alone():
            new = _not_in(files.recalled(wanted), wanted)
        at_once = self._at_once(new)
        for place, reply in super().complete(at_once):
            key = key_of(at_once[place], self.identity)
            del wanted[key]
            yield from ((index, reply) for index in places[key])
        if stop.is_set():
            return
        while True:
            before = len(files.gone)
            with files.alone():  # another process may have sent some of them meanwhile
                batches = files.recalled(wanted)
                new = _not_in(batches, wanted)
                batches += files.send(_groups(enumerate(new), self._most_choices)) if new else []
            for replies in files.answers(batches, wanted):
                self.counts.requests += len(replies)
                for left, reply in zip(range(len(replies))[::-1], replies, strict=True):
                    self.whole = not left
                    key = key_of(reply.request, self.identity)
                    wanted.pop(key, None)
                    yield from ((index, reply) for index in places[key])
            if stop.is_set() or len(files.gone) == before:
                return

    def _at_once(self, requests: Sequence[Request]) -> Sequence[Request]:
        """Return what is not worth a file: a call of each new kind, or all where they are few."""
        groups = list(_groups(enumerate(requests), self._most_choices))
        if len(groups) < FEWEST:
            return requests
        kinds, at_once = set(self.asker.accepted), list[Request]()
        for group in groups:
            request, learned = group[0][1], self.asker.learned
            kind = None
            if unaskable(request, learned) is None and request.max_tokens > 0:
                body, _ = request_body(self.asker.endpoint.model, request, len(group), learned)
                kind = refusable_parts(body)
            if kind not in kinds:
                at_once += [request for _, request in group]
            kinds |= {kind} if kind else set()
        return at_once

    def hold(self) -> int:
        """Wait no longer: what was sent in files goes on, and is found again."""
        self.files.office.stop.set()
        return super().hold()

    def close(self) -> None:
        """Close connections, loop and thread; batches go on."""
        self.files.office.close()
        super().close()


#: what Ollama's documentation of its chat completions does not list, and they take no notice of
UNREAD = ("top_k", "min_p", "repetition_penalty", "repeat_penalty", "chat_template_kwargs")
UNREAD_BECAUSE = "Ollama ignores it at this address; docs/endpoints.md says how to set it"
#: digits of a digest, as many as `ollama list` shows
SHOWN = 12
#: models that are named where the one asked for is not there
MOST_MODELS = 6


class OllamaEngine(EndpointEngine):
    """A model of an Ollama server, under the digest that the server tells for its name."""

    digest = ""

    def __init__(self, endpoint: Endpoint, options: EndpointOptions) -> None:
        super().__init__(endpoint, options)
        self.asker.learned.dropped.update({(name, None): UNREAD_BECAUSE for name in UNREAD})
        self.asker.learned.choices = 1  # it gives one, whatever ``n`` is
        self._unlisted = []

    def _identify(self) -> None:
        """Take identity and signature from the model and its digest: what a tag means changes."""
        endpoint, version = self.asker.endpoint, self.options.model_version
        self.name = endpoint.name
        marks = "".join(f"@{mark}" for mark in (self.digest, version) if mark)
        self.identity = f"api:ollama:{endpoint.model}{marks}"
        self.base = self.identity
        mark = version or self.digest[:7] or None
        self.signature = f"ollama:{short_model_name(endpoint.model, mark)}"

    @property
    def alternative(self) -> str:
        """How to run the model without a server, which gives its own log-probabilities."""
        weights = stored_weights(self.asker.endpoint.model) if serves_here() else None
        name = shlex.quote(f"gguf:{weights}") if weights else "gguf:FILE"
        return f"{name} runs {'its' if weights else 'such'} weights here, with exact log-probs"

    def find_model(self) -> None:
        """Ask the server for its models. Raises InputError where this one is not among them."""
        endpoint = self.asker.endpoint
        root = endpoint.url.removesuffix("/v1")
        reply = self.thread.wait(self.asker.wire.get(f"{root}/api/tags"), 60.0)
        listed = reply if isinstance(reply, Fault) else _tags(reply)
        if isinstance(listed, Fault):
            raise InputError(_no_ollama(endpoint, root, listed))
        for name, row in listed.items():
            if same_name(name, endpoint.model):
                self.asker.endpoint = replace(endpoint, model=name)
                self.digest = row.digest
                if row.elsewhere and self.price == LOCAL:
                    self.price = self.asker.price = None
                return self._identify()
        has = f"{_shown(listed, endpoint.model)}: name one of these, or" if listed else "no model:"
        raise InputError(
            f"model {endpoint.name!r}: the Ollama server at {root} does not have "
            f"{endpoint.model!r}; it has {has} run "
            f"`ollama pull {endpoint.name.removeprefix('ollama:')}`"
        )


class _Listed(NamedTuple):
    """A model in an Ollama server's list: its digest, "" for none; whether another host runs it."""

    digest: str
    elsewhere: bool


def _tags(reply: bytes) -> dict[str, _Listed] | Fault:
    """Return the models of an Ollama server; one of its cloud has a ``remote_host``."""
    try:
        rows = decode_body(reply)["models"]
        found = [(row["name"], row.get("digest"), bool(row.get("remote_host"))) for row in rows]
    except (ValueError, TypeError, KeyError, AttributeError):
        return Fault("page", "no list of models")
    return {
        full_name(name): _Listed(
            digest.removeprefix("sha256:")[:SHOWN]
            if isinstance(digest, str) and re.fullmatch(r"(sha256:)?[0-9a-f]{12,64}", digest)
            else "",
            elsewhere,
        )
        for name, digest, elsewhere in found
        if isinstance(name, str) and full_name(name)
    }


def _shown(names: Iterable[str], wanted: str) -> str:
    """Return a few names, those first that may be meant."""
    names = sorted(names)
    family = wanted.partition(":")[0]
    likely = [name for name in names if name.partition(":")[0] == family]
    likely += get_close_matches(wanted, names, n=3)
    ordered = list(dict.fromkeys([*likely, *names]))
    more = f" and {len(ordered) - MOST_MODELS:,} more" if len(ordered) > MOST_MODELS else ""
    return ", ".join(safe_line(name, (), 60) for name in ordered[:MOST_MODELS]) + more


def _no_ollama(endpoint: Endpoint, root: str, fault: Fault) -> str:
    """Return the one line on a server that is not running, or is another one."""
    if fault.kind == "away":
        start = "start it" if serves_here() else "start it there"
        weights = stored_weights(endpoint.model) if serves_here() else None
        without = (
            f"; without a server, the same command runs its weights as "
            f"{shlex.quote(f'gguf:{weights}')}"
            if weights
            else ""
        )
        reason = safe_line(fault.reason, endpoint.secrets)
        return (
            f"model {endpoint.name!r}: no Ollama server answers at {root} ({reason}); {start} with "
            f"`ollama serve`, or set OLLAMA_HOST to its address{without}"
        )
    if fault.kind == "page" or fault.reason.startswith("status 404"):
        return (
            f"model {endpoint.name!r}: the server at {root} is not Ollama's: it has no list of "
            f"models at /api/tags; name another server by its URL, {root}/v1#NAME"
        )
    return explain(endpoint, fault)


def _not_in(batches: Sequence[Batch], wanted: Mapping[str, Request]) -> list[Request]:
    """Return the wanted requests that no batch holds."""
    held = {key for batch in batches for line in batch.lines for key in line.keys}
    return [request for key, request in wanted.items() if key not in held]


def _engine(endpoint: Endpoint, options: EndpointOptions) -> EndpointEngine:
    return (BatchEngine if options.batches else EndpointEngine)(endpoint, options)


def open_provider(name: str, **options: object) -> EndpointEngine:
    """Open ``PROVIDER:MODEL``; see :class:`~sayso.engines.openai.endpoint.EndpointOptions`."""
    checked = read_options(EndpointOptions, options, "an endpoint's options")
    return _engine(named_provider(name, checked.asked), checked)


def open_ollama(model: str, **options: object) -> OllamaEngine:
    """Open a model of the Ollama server on this machine, or of the one that OLLAMA_HOST names.

    See :class:`~sayso.engines.openai.endpoint.EndpointOptions`.
    """
    checked = read_options(EndpointOptions, options, "an endpoint's options")
    name = f"ollama:{model}"
    if not full_name(model):
        raise InputError(
            f"model {name!r:.200} is not called as Ollama calls models: expected ollama:NAME or "
            "ollama:NAME:TAG, as `ollama list` shows it"
        )
    if checked.batches:
        raise InputError(f"model {name!r}: Ollama takes no batch files; leave batch_files out")
    address = f"{server_address()}/v1"
    endpoint = replace(named_by_url(address, "OLLAMA_HOST"), name=name, model=full_name(model))
    engine = OllamaEngine(endpoint, checked)
    try:
        engine.find_model()
    except BaseException:
        engine.close()
        raise
    return engine


def open_endpoint(name: str, **options: object) -> EndpointEngine:
    """Open ``http(s)://host/v1[#model]``.

    See :class:`~sayso.engines.openai.endpoint.EndpointOptions`.
    """
    checked = read_options(EndpointOptions, options, "an endpoint's options")
    engine = _engine(named_by_url(name), checked)
    try:
        if not engine.asker.endpoint.model:
            engine.choose_model()
    except BaseException:
        engine.close()
        raise
    return engine
