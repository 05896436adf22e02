"""Labels that come later than their answers: what is remembered of the last answers for them."""

from __future__ import annotations

import zlib
from collections import OrderedDict

import numpy as np

#: answers that are remembered
REMEMBERED = 20_000


class RecentAnswers:
    """The ids of the last :data:`REMEMBERED` answers, and whether each states a value.

    31 bits of a checksum stand for an id. Of two answers with the same id the later one counts.
    ``packed`` is what :attr:`packed` returned; raises ValueError for anything else.
    """

    def __init__(self, packed: bytes = b"") -> None:
        held = np.frombuffer(packed, dtype="<u4").tolist()
        self._states = OrderedDict((one >> 1, bool(one & 1)) for one in held)

    def add(self, id: object, states: bool) -> None:
        """Remember an answer; one without an id cannot be found again."""
        if id is None:
            return
        key = _key(id)
        self._states[key] = states
        self._states.move_to_end(key)
        if len(self._states) > REMEMBERED:
            self._states.popitem(last=False)

    def states(self, id: object) -> bool | None:
        """Tell whether the answer with an id states a value; ``None`` if it is not remembered."""
        return None if id is None else self._states.get(_key(id))

    @property
    def packed(self) -> bytes:
        """All of it in four bytes for each answer."""
        held = [key << 1 | states for key, states in self._states.items()]
        return np.array(held, dtype="<u4").tobytes()


def _key(id: object) -> int:
    return zlib.crc32(str(id).encode("utf-8", "surrogatepass")) >> 1
