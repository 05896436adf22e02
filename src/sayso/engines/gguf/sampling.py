"""Read next-token distributions in numpy: what :mod:`sayso.engines.hf.sampling` does in torch.

The same uniform number chooses the same token of the same distribution, and what is recorded is of
the raw distribution at temperature 1.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sayso.engines.local.draws import Shaping
from sayso.engines.local.records import Arrays

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
#: Logits that are read at once: a reading holds twice their memory.
READ = 1_000_000
#: Tokens are summed in blocks of this size: only the block of a draw is looked at token by token.
BLOCK = 64


class Distributions(NamedTuple):
    """The raw next-token distributions of N prefixes.

    ``relative`` are logits minus their maximum (N, V), ``weights`` their exponentials, ``total``
    their sums (N,), ``best`` the likeliest token (N,), ``sound`` False where logits are no numbers.
    """

    relative: Floats
    weights: Floats
    total: Doubles
    best: NDArray[np.int64]
    sound: NDArray[np.bool_]


def at_once(logits: Floats) -> int:
    """Return how many rows of logits (N, V) to read at once."""
    return max(1, READ // int(logits.shape[1]))


def read_logits(logits: Floats) -> Distributions:
    """Read logits of shape (N, V) once; everything else is taken from the result."""
    best = logits.argmax(1)
    relative = logits - np.take_along_axis(logits, best[:, None], 1)
    with np.errstate(invalid="ignore"):
        weights = np.exp(relative)
        total = weights.sum(1, dtype=np.float64)
    return Distributions(relative, weights, total, best, np.isfinite(total) & (total > 0))


def pick(
    logits: Floats,
    node: NDArray[np.int64],
    settings: Shaping,
    uniform: Doubles,
    seen: dict[int, list[int]],
    want: frozenset[str],
) -> tuple[list[int], list[bool], dict[str, list[object]]]:
    """Return R rows' tokens, whether their logits (N, V) are sound, and the wanted arrays."""
    reading = read_logits(logits)
    tokens = reading.best[node]
    plain = settings.plain
    drawn = np.flatnonzero(plain & (settings.temperature > 0) & reading.sound[node])
    edges: dict[int, Doubles] = {}
    for row in drawn.tolist():  # draws of one prefix share its cumulative weights
        place = int(node[row])
        if place not in edges:
            edges[place] = block_edges(reading.weights[place])
        tokens[row] = invert(reading.weights[place], edges[place], float(uniform[row]))
    for row in np.flatnonzero(~plain & reading.sound[node]).tolist():
        scores = logits[node[row]].astype(np.float32)
        if row in seen:
            penalize(scores, seen[row], float(settings.penalty[row]))
        if settings.temperature[row] == 0:
            tokens[row] = scores.argmax()
        else:
            weights = shape_weights(scores, settings, row)
            tokens[row] = invert(weights, block_edges(weights), float(uniform[row]))
    return tokens.tolist(), reading.sound[node].tolist(), record(reading, node, tokens, want)


def block_edges(weights: Floats) -> Doubles:
    """Return the cumulative sums of weights (V,) at the ends of blocks."""
    return np.cumsum(np.add.reduceat(weights, np.arange(0, len(weights), BLOCK), dtype=np.float64))


def invert(weights: Floats, edges: Doubles, uniform: float) -> int:
    """Return the first token whose cumulative weight exceeds uniform * total, in token-id order.

    A token of weight zero is never returned, whatever rounding does at the upper end.
    """
    target = uniform * edges[-1]
    block = _above(edges, target)
    before = edges[block - 1] if block else 0.0
    inside = np.cumsum(weights[block * BLOCK : (block + 1) * BLOCK], dtype=np.float64)
    return block * BLOCK + _above(inside, target - before)


def _above(sums: Doubles, target: float) -> int:
    """Return the first of the ascending sums above the target, at most the first of the largest."""
    last = int(np.searchsorted(sums, sums[-1], side="left"))
    return min(int(np.searchsorted(sums, target, side="right")), last)


def shape_weights(scores: Floats, settings: Shaping, row: int) -> Floats:
    """Return unnormalized weights (V,) after temperature, top-k, top-p and min-p, in this order.

    Each truncation works on what the one before left, renormalized. Equal weights rank by token id.
    """
    heat = max(np.float32(settings.temperature[row]), np.finfo(np.float32).tiny)
    with np.errstate(over="ignore"):
        weights = np.exp((scores - scores.max()) / heat)
    top_k, top_p = int(settings.top_k[row]), float(settings.top_p[row])
    if 0 < top_k < len(weights) or top_p < 1:
        order = np.argsort(-weights, kind="stable")
        ranked = weights[order].astype(np.float64)
        if top_k > 0:
            ranked[top_k:] = 0
        kept = ranked > 0
        if top_p < 1:
            kept &= np.cumsum(ranked) - ranked < top_p * ranked.sum()
            kept[0] = True
        cut = np.ones(len(weights), dtype=np.bool_)
        cut[order[kept]] = False
        weights[cut] = 0
    weights[weights < settings.min_p[row]] = 0
    return np.asarray(weights, dtype=np.float32)


def penalize(scores: Floats, seen: list[int], penalty: float) -> None:
    """Divide positive and multiply negative logits of seen tokens, in place (CTRL, Keskar 2019)."""
    index = np.unique(seen)
    values = scores[index]
    scores[index] = np.where(values > 0, values / penalty, values * penalty)


def record(
    reading: Distributions,
    node: NDArray[np.int64],
    tokens: NDArray[np.int64],
    want: frozenset[str],
) -> Arrays:
    """Return the wanted arrays of R rows that chose ``tokens`` from the distributions ``node``.

    Their definitions are those of :func:`sayso.engines.hf.sampling.record`.
    """
    vocabulary = reading.relative.shape[1]
    arrays: dict[str, Any] = {}
    with np.errstate(invalid="ignore", divide="ignore"):
        log_total = np.log(reading.total)
        if "logprobs" in want:
            arrays["logprobs"] = reading.relative[node, tokens] - log_total[node]
        if "entropies" in want:
            arrays["entropies"] = entropies(reading, log_total)[node]
        if want & {"margins", "alternatives"}:
            count = min(10, vocabulary)
            ranked = np.argpartition(-reading.relative, count - 1, axis=1)[:, :count]
            top = np.take_along_axis(reading.relative, ranked, 1)
            order = np.lexsort((ranked, -top), axis=1)
            ranked = np.take_along_axis(ranked, order, 1)
            top = np.take_along_axis(top, order, 1)
            likely = top.astype(np.float64) - log_total[:, None]
            if "alternatives" in want:
                arrays["alternatives"] = likely[node]
                arrays["alternative_tokens"] = ranked[node]
            if "margins" in want:
                two = np.exp(likely)
                arrays["margins"] = (two[:, 0] - two[:, 1] if vocabulary > 1 else two[:, 0])[node]
        if "self_certainty" in want:
            mean = reading.relative.mean(1, dtype=np.float64)
            arrays["self_certainty"] = (log_total - mean - math.log(vocabulary))[node]
        if "renyi" in want:
            roots = np.log(np.exp(reading.relative / 2).sum(1, dtype=np.float64)) - log_total / 2
            arrays["renyi"] = np.maximum(math.log(vocabulary) - 2 * roots, 0)[node]
    return {name: values.tolist() for name, values in arrays.items()}


def entropies(reading: Distributions, log_total: Doubles) -> Doubles:
    """Return H = log Z - sum_v w_v x_v / Z in nats, shape (N,), x relative logits, w = exp x."""
    products = reading.weights * reading.relative
    products[reading.weights == 0] = 0  # a masked token: 0 * -inf
    result: Doubles = log_total - products.sum(1, dtype=np.float64) / reading.total
    return np.maximum(result, 0)
