"""What a model must be able to do for sayso: the protocols that every engine follows.

``complete`` requests text, ``force`` reads the probabilities of given text. Whatever owns a socket
or a graphics card is in ``engines.openai`` and ``engines.hf``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar, runtime_checkable

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.records import Generation, InputError, Request

#: what servers call the end of an answer, in small letters
FINISHES = {
    "stop": "stop", "eos": "stop", "eos_token": "stop", "end_turn": "stop", "stop_sequence": "stop",
    "complete": "stop", "length": "length", "max_tokens": "length", "model_length": "length",
    "max_output_tokens": "length", "content_filter": "filter", "safety": "filter",
    "recitation": "filter", "blocklist": "filter", "prohibited_content": "filter", "spii": "filter",
    "error": "error",
}  # fmt: skip


class Capabilities(msgspec.Struct, frozen=True):
    """What an engine can give. ``None`` means unknown.

    ``hidden``: it is a :class:`HiddenReader`. ``context`` is in tokens. ``n``: several choices in
    one call. ``seed``: draws can be repeated. ``json_schema``: replies are held to a schema.
    ``draws_vary``: ``False`` if draws at T>0 only repeat, ``True`` once two differ. What an
    endpoint can do is learned from its replies: read it after use.
    """

    logprobs: bool = False
    entropies: bool = False
    alternatives: bool = False
    hidden: bool = False
    force: bool = False
    context: int | None = None
    n: bool = False
    seed: bool | None = None
    json_schema: bool = False
    draws_vary: bool | None = None


class Counts(msgspec.Struct):
    """What an engine has done so far.

    ``slots`` are token positions computed, padding included; ``retries`` calls to an endpoint that
    were repeated; ``failed`` requests without an answer; ``cached_tokens`` prompt tokens that the
    endpoint took from its cache.
    """

    requests: int = 0
    forwards: int = 0
    slots: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    forced_tokens: int = 0
    out_of_memory: int = 0
    retries: int = 0
    failed: int = 0
    cached_tokens: int = 0


class Engine(Protocol):
    """A model that answers."""

    @property
    def name(self) -> str:
        """The name that it was opened by."""

    @property
    def identity(self) -> str:
        """The key of the cache: a hash of weights, tokenizer and template, or the hub revision,
        dtype and adapter; the name of an endpoint's model."""

    @property
    def base(self) -> str:
        """The identity of the model that an adapter was trained from, else its own."""

    @property
    def signature(self) -> str:
        """A short readable form of the identity."""

    @property
    def capabilities(self) -> Capabilities:
        """What it can do, as far as is known."""

    @property
    def counts(self) -> Counts:
        """What it has done so far."""

    def complete(self, requests: Iterable[Request]) -> Iterator[tuple[int, Generation]]:
        """Yield the index and the generation of each request, lazily, in order of completion.

        A request that cannot be answered yields a Generation with ``problem``; nothing is raised.
        """

    def force(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], want: Sequence[str]
    ) -> Iterator[tuple[int, Generation]]:
        """Read given continuations (text or token ids) in one teacher-forced pass each.

        ``want`` names arrays of :class:`Generation`; they cover the continuation only.
        """

    def close(self) -> None:
        """Release memory and sockets."""


#: Where in a text a hidden state is read: at the last token of the prompt; at the token that
#: predicts the answer's last one (the prompt's last if the answer has one token); at the answer's
#: last token.
POSITIONS = ("last_prompt", "second_last_answer", "last_answer")


@runtime_checkable
class HiddenReader(Protocol):
    """An engine that also reads the hidden states of given text.

    Vectors are not part of a :class:`Generation`: they go straight into an array, neither into the
    cache nor into tables.
    """

    def hidden(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], layer: int, position: str
    ) -> NDArray[np.float16]:
        """Return the state (items, dimensions) of each continuation at a layer and position.

        ``items`` are as in :meth:`Engine.force`. ``layer`` is the input of that block, 0 =
        embeddings; the number of blocks, or -1, is the input of the head. ``position`` is one of
        :data:`POSITIONS`. A row is NaN if a text cannot be read or has no such position. An unknown
        layer or position raises :class:`~sayso.records.InputError`, even without items, so that it
        is refused before anything is requested.
        """


@runtime_checkable
class StateWatcher(Protocol):
    """A :class:`HiddenReader` that can keep states from the passes of :meth:`Engine.force`."""

    def watch(self, layer: int, position: str) -> None:
        """From now on keep the states at this layer and position of every forced text.

        The next ``hidden`` there takes its items' states from those instead of reading the texts
        again, and drops the rest. They equal the states of a separate pass up to the rounding of
        float16.
        """


def members(contract: type) -> tuple[str, ...]:
    """Return the names of what a protocol asks for, in their order."""
    names = (*getattr(contract, "__annotations__", ()), *vars(contract))
    return tuple(name for name in names if not name.startswith("_"))


#: what an :class:`Engine` has, by name
MEMBERS = members(Engine)
#: where an engine of one's own is explained
EXPLAINED = "docs/python.md has an example"


def check_contract(given: object, contract: type, what: str) -> None:
    """Refuse an object without all that a protocol asks for. Raises InputError."""
    lacking = [name for name in members(contract) if not hasattr(given, name)]
    if lacking:
        raise InputError(f"{what} {type(given).__name__} lacks {', '.join(lacking)}; {EXPLAINED}")


def check_engine(given: object, what: str = "model", *, named: bool = True) -> None:
    """Refuse what is neither a name nor an engine; unless ``named``, a name too. InputError."""
    if isinstance(given, str) and named:
        return
    kind = given if isinstance(given, type) else type(given)
    if isinstance(given, type):
        raise InputError(
            f"{what} is the class {kind.__name__} itself: pass an engine, such as "
            f"{kind.__name__}(); {EXPLAINED}"
        )
    if named and not any(hasattr(given, name) for name in MEMBERS):
        own = "a judge, with name, signature, grade, or " if what == "judge" else ""
        name = "'rules'" if what == "judge" else "'builtin'"
        raise InputError(
            f"{what} is of type {kind.__name__}; expected a name, such as {name}, {own or 'or '}an "
            f"engine, with {', '.join(MEMBERS)}; {EXPLAINED}"
        )
    check_contract(given, Engine, what)
    if not isinstance(getattr(given, "capabilities"), Capabilities):  # noqa: B009 - of any object
        raise InputError(
            f"{what} {kind.__name__}: its capabilities are not a "
            "sayso.engines.engine.Capabilities; "
            f"{EXPLAINED}"
        )


def reader_of(engine: Engine) -> HiddenReader:
    """Return the engine as a reader of hidden states. Raises InputError if it is not one."""
    if engine.capabilities.hidden and isinstance(engine, HiddenReader):
        return engine
    raise InputError(
        f"{engine.name} does not return hidden states: that needs a model in this process (hf:NAME)"
    )


class EngineWrapper:
    """An engine around another one, which does all that a subclass leaves to it."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

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

    def complete(self, requests: Iterable[Request]) -> Iterator[tuple[int, Generation]]:
        """Answer requests."""
        return self.engine.complete(requests)

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

    def close(self) -> None:
        """Close the engine."""
        self.engine.close()


@runtime_checkable
class TokenWriter(Protocol):
    """An engine that can write token ids as text."""

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of token ids."""


def writer_of(engine: Engine) -> TokenWriter | None:
    """Return an engine, or the one that it wraps, that writes tokens; ``None`` if none does."""
    inner: object = engine
    while hasattr(inner, "engine"):
        inner = inner.engine
    return inner if isinstance(inner, TokenWriter) else None


class Classifier(Protocol):
    """A natural-language-inference model: (premise, hypothesis) pairs to class probabilities."""

    identity: str
    labels: tuple[str, ...]

    def classify(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return probabilities of shape (pairs, labels)."""


Options = TypeVar("Options", bound=msgspec.Struct)


def read_options(kind: type[Options], values: Mapping[str, object], what: str) -> Options:
    """Check the options of a model, which may be texts of a command line. Raises InputError."""
    given = {name: value for name, value in values.items() if value is not None}
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        reason = str(error).replace("`$.", "`")
        known = ", ".join(kind.__struct_fields__)
        raise InputError(f"model option: {reason}; {what} are {known}") from None


def cut_at_stop(text: str, stops: Iterable[str]) -> tuple[str, bool]:
    """Return a text up to its first stop string, and whether it has one."""
    places = [place for stop in stops if stop and (place := text.find(stop)) >= 0]
    return (text[: min(places)], True) if places else (text, False)


def entropy_floor(shown: Sequence[float], own: float | None) -> float:
    """Return what an entropy is at least, in nats, from the log-probabilities of likely tokens.

    With shown probabilities p and the rest r = 1 - sum p, the entropy is at least
    -sum p ln p - r ln min(r, least p): no token of the rest is likelier than one that is shown.
    That holds of the likeliest, not of the token that was taken (``own``): vLLM always shows it.
    """
    mass = [math.exp(value) for value in shown]
    rest = max(0.0, 1.0 - math.fsum(mass))
    known = math.fsum(p * value for p, value in zip(mass, shown, strict=True) if p > 0)
    most = min([rest, *(p for p, value in zip(mass, shown, strict=True) if value != own)])
    return max(0.0, -known - (rest * math.log(most) if most > 0 else 0.0))
