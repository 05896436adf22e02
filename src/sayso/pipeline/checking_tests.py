"""The statistics of ``sayso check``: plain functions of what was drawn.

How a silent truncation is found with nothing but the log-probability of each drawn token: the
tokens that some draws showed have a known mass m in the reported distribution; a *further* draw is
another token with probability 1 - m, if the endpoint draws from what it reports. Under top_k,
top_p or min_p further draws keep falling on the tokens already seen. The number of further draws
that are new is a sum of independent coins with known probabilities, so its lower tail is exact.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

#: A drawn token and its log-probability; ``None`` where one of them is not known.
Drawn = tuple[str, float] | None

#: log-probabilities of one token that differ by more than this are of two tokens spelled alike
SAME_TOKEN = 0.3
#: numerical noise of log-probabilities between batches, in half precision
NOISE = 0.1


class Tail(NamedTuple):
    """What further draws did.

    ``mass`` is the reported probability of the tokens seen before (mean over prompts), ``shown``
    their number, ``new`` of ``draws`` further draws were none of them where ``expected`` should
    have been; ``p`` is the exact probability of so few.
    """

    shown: int
    mass: float
    draws: int
    new: int
    expected: float
    p: float

    @property
    def smallest(self) -> float:
        """The smallest cut (share of probability) that would more often than not have shown here.

        Under a cut c a further draw is new with probability (q - c) / (1 - c) instead of q; it
        shows where the number that is then usual has p < .01. What was not seen yet hides it.
        """
        if not self.draws:
            return 1.0
        q = self.expected / self.draws
        for percent in range(1, 100):
            cut = percent / 100
            usual = math.floor(self.draws * max(0.0, q - cut) / (1 - cut))
            if lower_tail(usual, [q] * self.draws) < 0.01:
                return cut
        return 1.0


def lower_tail(observed: int, chances: Sequence[float]) -> float:
    """Return P(X <= observed) of the sum X of independent coins with these probabilities, exactly.

    One probability for all is the binomial distribution.
    """
    below = [1.0] + [0.0] * observed
    for chance in chances:
        for number in range(observed, 0, -1):
            below[number] = below[number] * (1 - chance) + below[number - 1] * chance
        below[0] *= 1 - chance
    return min(1.0, math.fsum(below))


def masses(draws: Sequence[Drawn]) -> dict[str, float]:
    """Return the reported probability of each token that was drawn.

    A spelling with clearly different log-probabilities is two tokens and left out.
    """
    found: dict[str, list[float]] = defaultdict(list)
    for draw in draws:
        if draw is not None:
            found[draw[0]].append(draw[1])
    return {
        token: math.exp(math.fsum(values) / len(values))
        for token, values in found.items()
        if max(values) - min(values) <= SAME_TOKEN
    }


def tail(before: Mapping[str, Sequence[Drawn]], after: Mapping[str, Sequence[Drawn]]) -> Tail:
    """Compare further draws with the distribution that earlier draws reported, by prompt."""
    chances: list[float] = []
    new, shown, kept = 0, 0, []
    for prompt, draws in after.items():
        seen = masses(before.get(prompt, ()))
        mass = min(1.0, math.fsum(seen.values()))
        chances += [1 - mass] * len(draws)
        new += sum(draw is None or draw[0] not in seen for draw in draws)
        shown += len(seen)
        kept.append(mass)
    mean = math.fsum(kept) / len(kept) if kept else 1.0
    return Tail(shown, mean, len(chances), new, math.fsum(chances), lower_tail(new, chances))


class Tempering(NamedTuple):
    """Whether reported log-probabilities move with the temperature; ``None`` = cannot be told.

    ``moved`` is their mean change from T=1 to T=.5, ``would_move`` what tempering would do to
    them; ``tokens`` were seen at both.
    """

    moves: bool | None
    moved: float
    would_move: float
    tokens: int


def tempering(
    warm: Mapping[str, Sequence[Drawn]], cold: Mapping[str, Sequence[Drawn]]
) -> Tempering:
    """Compare log-probabilities of the same first tokens drawn at T=1 and at T=.5.

    A tempered one would be 2 l - log sum_v p_v^2. The sum over tokens that were never drawn is
    not known; they are rare, and squares of rare tokens are small.
    """
    moved, would = [], []
    for prompt, draws in cold.items():
        known = masses(warm.get(prompt, ()))
        log_sum = math.log(max(math.fsum(p * p for p in known.values()), 1e-300))
        for token, p in masses(draws).items():
            if token in known:
                here = math.log(known[token])
                moved.append(abs(math.log(p) - here))
                would.append(abs(here - log_sum))
    if not moved:
        return Tempering(None, 0.0, 0.0, 0)
    change, expected = (math.fsum(values) / len(values) for values in (moved, would))
    if expected < 2 * NOISE:
        return Tempering(None, change, expected, len(moved))
    return Tempering(change > max(NOISE, expected / 3), change, expected, len(moved))


def greedy_change(warm: Mapping[str, Sequence[Drawn]], greedy: Mapping[str, Drawn]) -> float | None:
    """Return the largest change of a first token's log-probability from T=1 to T=0.

    ``None`` where no greedy token was ever drawn.
    """
    changes = []
    for prompt, draw in greedy.items():
        known = masses(warm.get(prompt, ()))
        if draw is not None and draw[0] in known:
            changes.append(abs(draw[1] - math.log(known[draw[0]])))
    return max(changes, default=None)
