"""What a draw is made from: its own uniform numbers, and the settings that it is drawn with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MASK64 = (1 << 64) - 1


def uniforms(
    prompt_key: int, seed: int, sample: int, first: int, count: int
) -> NDArray[np.float64]:
    """Return the uniforms in [0, 1) of steps ``first .. first + count`` of one draw.

    Philox-4x64-10 (Salmon et al. 2011) with key (prompt_key, seed) and counter (step // 4, sample);
    the four words of a block serve four steps. ``first`` is a multiple of 4.
    """
    counter = np.array([first // 4, sample & MASK64, 0, 0], dtype=np.uint64)
    key = np.array([prompt_key & MASK64, seed & MASK64], dtype=np.uint64)
    raw = np.random.Philox(counter=counter, key=key).random_raw(count)
    return (raw >> np.uint64(11)).astype(np.float64) * 2.0**-53


class Shaping(NamedTuple):
    """Sampling settings of R rows, each an array of shape (R,)."""

    temperature: NDArray[np.float64]
    top_p: NDArray[np.float64]
    top_k: NDArray[np.int64]
    min_p: NDArray[np.float64]
    penalty: NDArray[np.float64]

    def take(self, rows: NDArray[np.int64]) -> Shaping:
        """Return the settings of some rows."""
        return Shaping._make(values[rows] for values in self)

    @property
    def plain(self) -> NDArray[np.bool_]:
        """True for rows that choose from the raw distribution: greedy, or T=1 with all else off."""
        free = (self.top_p >= 1) & (self.top_k <= 0) & (self.min_p <= 0)
        plain: NDArray[np.bool_] = (self.penalty == 1) & (
            (self.temperature == 0) | ((self.temperature == 1) & free)
        )
        return plain
