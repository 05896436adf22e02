"""What a model must be able to do for sayso, and how to open one by name.

``complete`` asks for text, ``force`` reads the probabilities of text that is given. Everything
that owns a socket or a graphics card lives in ``backends``; here are only the shapes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, runtime_checkable

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.records import Generation, InputError, Request


class Capabilities(msgspec.Struct, frozen=True):
    """What an engine can give. ``context`` is in tokens; ``None`` where nobody knows.

    ``n`` is several choices in one call, ``seed`` whether draws can be repeated, ``json_schema``
    whether replies are held to a schema, ``thinking`` whether thoughts were seen apart from the
    answer, ``chat_template`` whether the model has one. ``draws_vary`` is ``False`` where draws at
    T>0 were seen to repeat, ``True`` once two differed. ``hidden``: it is a :class:`HiddenReader`.
    An endpoint learns all of this on the way: read it after use.
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
    thinking: bool = False
    chat_template: bool | None = None
    draws_vary: bool | None = None


#: Where in a text a hidden state is taken: the last token of the prompt; the token that predicts
#: the last one of the answer (for an answer of one token the last of the prompt); the last one of
#: the answer.
POSITIONS = ("last_prompt", "second_last_answer", "last_answer")


class Counts(msgspec.Struct):
    """What an engine did so far. ``slots`` are token positions computed, padding included.

    ``retries`` are calls to an endpoint that were asked again, ``failed`` requests that stayed
    without an answer, ``cached_tokens`` prompt tokens that the endpoint did not compute anew.
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
    """A model that answers.

    ``identity`` is what the cache is keyed by: a hash of weights, tokenizer and template, or the
    hub revision, dtype and adapter; for an endpoint its name. ``base`` is the identity of the
    model that an adapter was trained from (else its own identity). ``signature`` is a short
    readable form.
    """

    @property
    def name(self) -> str:
        """The name it was opened by."""

    @property
    def identity(self) -> str:
        """What the cache is keyed by."""

    @property
    def base(self) -> str:
        """The identity of the base model."""

    @property
    def signature(self) -> str:
        """A short readable form."""

    @property
    def capabilities(self) -> Capabilities:
        """What it can do, as far as it knows by now."""

    @property
    def counts(self) -> Counts:
        """What it did so far."""

    def complete(self, requests: Iterable[Request]) -> Iterator[tuple[int, Generation]]:
        """Answer requests lazily, in order of completion, with the index of each.

        A request that cannot be answered yields a Generation with ``problem``; it never raises.
        """

    def force(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], want: Sequence[str]
    ) -> Iterator[tuple[int, Generation]]:
        """Read given continuations (text or token ids) in one teacher-forced pass each.

        ``want`` names arrays of :class:`Generation`; they cover the continuation only.
        """

    def close(self) -> None:
        """Let go of memory and sockets."""


@runtime_checkable
class HiddenReader(Protocol):
    """What an engine with the capability ``hidden`` has besides: the states of given text.

    Vectors are no part of a :class:`Generation`: they go neither into the cache nor into tables,
    but straight into an array.
    """

    def hidden(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], layer: int, position: str
    ) -> NDArray[np.float16]:
        """Return the state (items, dimensions) of each continuation at a layer and position.

        ``items`` are as in :meth:`Engine.force`. ``layer`` is what goes into that block, 0 =
        embeddings; the number of blocks, or -1, is what the head reads. ``position`` is one of
        :data:`POSITIONS`. A row is NaN where a text cannot be read or has no such position; an
        unknown layer or position raises :class:`~sayso.records.InputError`, also without items: so
        it is refused before anything is asked.
        """


@runtime_checkable
class StateWatcher(Protocol):
    """A :class:`HiddenReader` that can take states from the passes of :meth:`Engine.force`."""

    def watch(self, layer: int, position: str) -> None:
        """From now on keep the states at this place of all that is forced.

        The next ``hidden`` at the same place takes those of its items from there, instead of
        reading them again, and lets the others go. They equal those of a pass of their own up to
        the rounding of float16.
        """


def reader_of(engine: Engine) -> HiddenReader:
    """Return an engine as one that reads hidden states; one that cannot raises InputError."""
    if engine.capabilities.hidden and isinstance(engine, HiddenReader):
        return engine
    raise InputError(
        f"{engine.name} does not show hidden states: that takes a model in this process (hf:NAME)"
    )


class Classifier(Protocol):
    """A natural-language-inference model: (premise, hypothesis) pairs to class probabilities."""

    identity: str
    labels: tuple[str, ...]

    def classify(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return probabilities of shape (pairs, labels)."""


class Embedder(Protocol):
    """Texts to vectors."""

    identity: str

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return vectors of shape (texts, dimensions)."""
