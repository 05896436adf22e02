"""One id, one answer, one label: what is remembered of the last answers.

A line that repeats an id counts once, a label that comes later finds its answer, and of several
labels the last one counts.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict

import msgspec
import numpy as np

#: answers that are remembered
REMEMBERED = 20_000
#: how an answer is packed; of ``held``, 1 is that it states a value, 2 a right and 4 a wrong one
PACKED = np.dtype([("key", "<u8"), ("at", "<u4"), ("part", "u1"), ("held", "u1")])


class RememberedAnswer(msgspec.Struct):
    """An answer: at which number it or its label counts, its part, its error if it has a label."""

    at: int
    part: int
    states: bool
    error: int | None = None


class RecentAnswers:
    """The last :data:`REMEMBERED` answers by id, in the order in which they or their labels came.

    64 bits of a hash stand for an id. ``packed`` is what :attr:`packed` returned; raises
    ValueError for anything else. ``settled`` are labels of forgotten answers, which stay as they
    are.
    """

    def __init__(self, packed: bytes = b"") -> None:
        self.settled: list[tuple[int, int]] = []
        self._answers: OrderedDict[int, RememberedAnswer] = OrderedDict()
        for key, at, part, held in np.frombuffer(packed, dtype=PACKED).tolist():
            error = held >> 2 if held >> 1 else None
            self._answers[key] = RememberedAnswer(at, part, bool(held & 1), error)

    def get(self, id: object) -> RememberedAnswer | None:
        """Return the answer with an id; ``None`` if it is not remembered."""
        return None if id is None else self._answers.get(_key(id))

    def add(self, id: object, answer: RememberedAnswer) -> None:
        """Remember an answer, or as the latest one again."""
        self._answers[_key(id)] = answer
        self._answers.move_to_end(_key(id))
        if len(self._answers) > REMEMBERED:
            _, oldest = self._answers.popitem(last=False)
            if oldest.error is not None:
                self.settled.append((oldest.error, oldest.part))

    def labels(self) -> list[tuple[int, int]]:
        """Return error and part of labeled answers, in the order of their first labels."""
        return [(a.error, a.part) for a in self._answers.values() if a.error is not None]

    @property
    def packed(self) -> bytes:
        """All of it in 14 bytes for each answer."""
        held = [
            (key, one.at, one.part, one.states | (0 if one.error is None else 2 << one.error))
            for key, one in self._answers.items()
        ]
        return np.array(held, dtype=PACKED).tobytes()


def _key(id: object) -> int:
    whole = isinstance(id, float) and id.is_integer()  # a table writes 1 as 1.0
    text = (f"{id:.0f}" if whole else str(id)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")
