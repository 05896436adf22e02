"""Hidden states of stored answers: what a probe such as P(IK) learns from.

One pass over prompt and answer, up to the wanted position, in blocks; nothing is generated. A
thought that stood between prompt and answer is not read again: the state is that of the answer
directly behind its prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sayso.models import POSITIONS, Engine, reader_of
from sayso.records import Generation, content_id

__all__ = ["POSITIONS", "hidden_blocks", "name_of", "source_of"]

#: answers read in one call: enough to batch by length, few enough to keep in memory
BLOCK = 1024


def name_of(layer: int, position: str) -> str:
    """Return the name of the array, ``hidden-<layer>-<position>``."""
    return f"hidden-{layer}-{position}"


def source_of(answers: Sequence[Generation], engine: Engine, layer: int, position: str) -> str:
    """Return a hash of all that the states depend on: equal, they need not be read again."""
    texts = [[g.id, list(g.token_ids) if g.token_ids else g.text] for g in answers]
    return content_id(["hidden", engine.identity, layer, position, texts])


def hidden_blocks(
    answers: Sequence[Generation], engine: Engine, layer: int, position: str
) -> Iterator[NDArray[np.float16]]:
    """Yield the states (m, d) of answers in their order, a block at a time.

    A row is NaN where an answer cannot be read or is empty. Raises
    :class:`~sayso.records.InputError` for an engine without hidden states, or another layer.
    """
    reader = reader_of(engine)
    for first in range(0, len(answers), BLOCK):
        block = answers[first : first + BLOCK]
        yield reader.hidden([(g.request, g.token_ids or g.text) for g in block], layer, position)
