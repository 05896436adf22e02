"""A model whose files are not on this machine: it can be planned with, and answers nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sayso.engines.engine import Capabilities, Counts, Engine
from sayso.engines.named import NotHere
from sayso.records import Generation, Request


class AbsentModel:
    """Has the capabilities of a model's kind, and an identity under which no answer is kept.

    ``reason`` is why the model could not be opened.
    """

    def __init__(self, name: str, reason: NotHere) -> None:
        self.name = self.signature = name
        self.identity = self.base = f"absent|{name}"
        self.reason = reason
        self.counts = Counts()
        in_vllm = name.startswith("vllm:")
        self.capabilities = Capabilities(
            logprobs=True,
            entropies=True,
            alternatives=True,
            hidden=True,
            force=True,
            n=in_vllm,
            seed=True if in_vllm else None,
        )

    def unlisted(self) -> list[str]:
        """Return the caution on a plan that is made without the model."""
        return [
            f"planned without {self.name}, whose answers in the cache, if there are any, are not "
            f"counted, and whose tokens are estimated from texts: {self.reason}"
        ]

    def complete(self, requests: Iterable[Request]) -> Iterator[tuple[int, Generation]]:
        """Raise why the model is not there."""
        raise self.reason

    def force(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], want: Sequence[str]
    ) -> Iterator[tuple[int, Generation]]:
        """Raise why the model is not there."""
        raise self.reason

    def hidden(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], layer: int, position: str
    ) -> NDArray[np.float16]:
        """Return no state; which layers there are is not known."""
        if items:
            raise self.reason
        return np.empty((0, 0), dtype=np.float16)

    def close(self) -> None:
        """Nothing is open."""


def check_here(engine: Engine | None) -> None:
    """Refuse a model, or what is around it, whose files are not here. Raises NotHere."""
    while engine is not None and not isinstance(engine, AbsentModel):
        engine = getattr(engine, "engine", None)
    if engine is not None:
        raise engine.reason
