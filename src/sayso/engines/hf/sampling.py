"""Choose tokens so that a draw depends on its own seed and distribution, not on its batch.

One uniform number for each (prompt, seed, sample, step) and the inverse cumulative distribution in
token-id order. What is recorded (log-probability, entropy and the rest) is of the raw distribution
at temperature 1, before any penalty, temperature or truncation.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sayso.engines.local.draws import Shaping

#: Tokens are summed in blocks of this size: a cumulative sum over whole vocabularies in float64
#: would cost more than the small models that it serves.
BLOCK = 64
#: Logits that are read at once, by device: a reading holds twice their memory.
READ = {"cpu": 1_000_000, "cuda": 32_000_000}
#: Logits that are sorted at once: sorting needs several times their memory.
SHAPED = 8_000_000


class NextTokens(NamedTuple):
    """The raw next-token distributions of N prefixes.

    ``relative`` are logits minus their maximum (N, V), ``weights`` their exponentials padded to
    whole blocks, ``edges`` the float64 cumulative block sums (N, blocks), ``log_total`` the log of
    the sum (N,), ``best`` the likeliest token (N,), ``sound`` False where logits are not numbers.
    """

    relative: Tensor
    weights: Tensor
    edges: Tensor
    log_total: Tensor
    best: Tensor
    sound: Tensor


def read_logits(logits: Tensor) -> NextTokens:
    """Read logits of shape (N, V) once; everything else is taken from the result.

    MPS has no float64, so its logits are read on the CPU.
    """
    scores = logits.float()
    if scores.device.type == "mps":
        scores = scores.cpu()
    peak, best = scores.max(-1)
    relative = scores - peak[:, None]
    weights = _padded(len(scores), scores.shape[1], scores)
    torch.exp(relative, out=weights[:, : scores.shape[1]])
    edges = _block_sums(weights)
    log_total = edges[:, -1].log()
    return NextTokens(relative, weights, edges, log_total, best, log_total.isfinite())


def _block_sums(weights: Tensor) -> Tensor:
    """Return cumulative block sums in float64."""
    rows, size = weights.shape
    return weights.view(rows, size // BLOCK, BLOCK).sum(-1).double().cumsum(-1)


def _padded(rows: int, vocabulary: int, like: Tensor) -> Tensor:
    """Return a buffer of whole blocks; the part behind the vocabulary weighs nothing."""
    size = -(-vocabulary // BLOCK) * BLOCK
    return (like.new_empty if size == vocabulary else like.new_zeros)((rows, size))


def at_once(logits: Tensor) -> int:
    """Return how many rows of logits (N, V) to read at once."""
    return max(1, READ.get(logits.device.type, READ["cpu"]) // logits.shape[1])


@torch.inference_mode()
def pick(
    logits: Tensor,
    node: NDArray[np.int64],
    settings: Shaping,
    uniform: NDArray[np.float64],
    seen: dict[int, list[int]],
    want: frozenset[str],
) -> tuple[list[int], list[bool], dict[str, list[object]]]:
    """Return R rows' tokens, whether their logits (N, V) are sound, and the wanted arrays."""
    reading = read_logits(logits)
    chosen = next_tokens(logits, reading, node, settings, uniform, seen)
    place = torch.from_numpy(node).to(chosen.device)
    arrays = record(reading, place, chosen, want)
    return (
        chosen.tolist(),
        reading.sound[place].tolist(),
        {name: values.tolist() for name, values in arrays.items()},
    )


def next_tokens(
    logits: Tensor,
    reading: NextTokens,
    node: NDArray[np.int64],
    settings: Shaping,
    uniform: NDArray[np.float64],
    seen: dict[int, list[int]],
) -> Tensor:
    """Return the next token of R rows, shape (R,); row r continues the prefix ``node[r]``.

    ``seen`` lists the tokens so far of each row that has a repetition penalty.
    """
    device = reading.best.device
    place = torch.from_numpy(node).to(device)
    tokens = reading.best[place]
    plain = settings.plain
    free = np.flatnonzero(plain & (settings.temperature > 0))
    if len(free):
        rows = torch.from_numpy(free).to(device)
        draws = torch.from_numpy(uniform[free]).to(device)
        tokens[rows] = invert(reading.weights, reading.edges, place[rows], draws)
    shaped = np.flatnonzero(~plain)
    step = max(1, SHAPED // logits.shape[1])
    for at in range(0, len(shaped), step):
        rest = shaped[at : at + step]
        rows = torch.from_numpy(rest).to(device)
        scores = logits[place[rows].to(logits.device)].float().to(device)
        for position, row in enumerate(rest.tolist()):
            if row in seen:
                penalize(scores, position, seen[row], float(settings.penalty[row]))
        weights = _padded(len(rest), scores.shape[1], scores)
        weights[:, : scores.shape[1]] = shape_weights(scores, settings.take(rest))
        every = torch.arange(len(rest), device=device)
        draws = torch.from_numpy(uniform[rest]).to(device)
        picked = invert(weights, _block_sums(weights), every, draws)
        cold = torch.from_numpy(settings.temperature[rest] == 0).to(device)
        tokens[rows] = torch.where(cold, scores.argmax(-1), picked)
    return tokens


def invert(weights: Tensor, edges: Tensor, node: Tensor, uniform: Tensor) -> Tensor:
    """Return the first token whose cumulative weight exceeds uniform * total, in token-id order.

    A token of weight zero is never returned, whatever rounding does at the upper end.
    """
    steps = edges[node]
    target = uniform * steps[:, -1]
    block = torch.searchsorted(steps, target[:, None], right=True)[:, 0]
    block = torch.minimum(block, (steps < steps[:, -1:]).sum(-1))
    before = torch.where(block > 0, steps.gather(1, (block - 1).clamp(min=0)[:, None])[:, 0], 0.0)
    inside = weights.view(len(weights), -1, BLOCK)[node, block].double().cumsum(-1)
    place = torch.searchsorted(inside, (target - before)[:, None], right=True)[:, 0]
    return block * BLOCK + torch.minimum(place, (inside < inside[:, -1:]).sum(-1))


def shape_weights(scores: Tensor, settings: Shaping) -> Tensor:
    """Return unnormalized weights (R, V) after temperature, top-k, top-p and min-p, in this order.

    Each truncation works on what the one before left, renormalized: top-k keeps the k likeliest,
    top-p the smallest set of likeliest tokens that reaches p, min-p tokens of at least min_p times
    the likeliest one. Equal weights rank by token id. Greedy rows are left at temperature 1.
    """
    device = scores.device
    cold = settings.temperature == 0
    # a temperature that float32 cannot hold, or a logit by it, leaves the likeliest tokens
    heat = np.maximum(np.where(cold, 1.0, settings.temperature), np.finfo(np.float32).tiny)
    temperature = torch.from_numpy(heat).to(device)
    weights = ((scores - scores.amax(-1, keepdim=True)) / temperature[:, None].float()).exp()
    vocabulary = weights.shape[1]
    top_k = np.where(settings.top_k > 0, settings.top_k, vocabulary)
    if (top_k < vocabulary).any() or (settings.top_p < 1).any():
        ranked, order = weights.sort(dim=-1, descending=True, stable=True)
        rank = torch.arange(vocabulary, device=device)
        ranked = ranked * (rank < torch.from_numpy(top_k).to(device)[:, None])
        mass = ranked.double().cumsum(-1)
        limit = torch.from_numpy(settings.top_p).to(device)[:, None] * mass[:, -1:]
        below = (mass - ranked.double()) < limit
        below[torch.from_numpy(settings.top_p >= 1).to(device)] = True
        below[:, 0] = True
        weights = torch.zeros_like(weights).scatter_(1, order, ranked * below)
    floor = torch.from_numpy(settings.min_p).to(device)[:, None].float()
    return weights * (weights >= floor)


def penalize(scores: Tensor, row: int, seen: list[int], penalty: float) -> None:
    """Divide positive and multiply negative logits of seen tokens, in place (CTRL, Keskar 2019)."""
    index = torch.tensor(sorted(set(seen)), device=scores.device)
    values = scores[row, index]
    scores[row, index] = torch.where(values > 0, values / penalty, values * penalty)


def record(
    reading: NextTokens, node: Tensor, tokens: Tensor, want: frozenset[str]
) -> dict[str, Tensor]:
    """Return the wanted arrays of R rows that chose ``tokens`` from the distributions ``node``.

    * ``logprobs``: log p of the token; ``entropies``: exact entropy in nats.
    * ``margins``: p(1st) - p(2nd) of the likeliest two tokens.
    * ``self_certainty``: -(1/V) sum_v log(V p_v), the divergence of uniform from p
      (Kang et al. 2025, arXiv 2502.18581).
    * ``renyi``: Renyi divergence of order 1/2 of p from uniform, -2 log sum_v sqrt(p_v / V)
      (Darrin et al. 2023, arXiv 2212.09171).
    * ``alternatives``: log-probabilities of the ten likeliest tokens (R, 10), with
      ``alternative_tokens``.
    """
    arrays: dict[str, Tensor] = {}
    vocabulary = reading.relative.shape[1]
    if "logprobs" in want:
        arrays["logprobs"] = reading.relative[node, tokens].double() - reading.log_total[node]
    if "entropies" in want:
        arrays["entropies"] = entropies(reading)[node]
    if want & {"margins", "alternatives"}:
        top, ranked = reading.relative.topk(min(10, vocabulary))
        likely = top.double() - reading.log_total[:, None]
        if "alternatives" in want:
            arrays["alternatives"] = likely[node]
            arrays["alternative_tokens"] = ranked[node]
        if "margins" in want:
            two = likely.exp()
            margins = two[:, 0] - two[:, 1] if vocabulary > 1 else two[:, 0]
            arrays["margins"] = margins[node]
    if "self_certainty" in want:
        mean = reading.relative.double().mean(-1)
        arrays["self_certainty"] = (reading.log_total - mean - math.log(vocabulary))[node]
    if "renyi" in want:
        roots = (reading.relative / 2).exp().sum(-1).double().log() - reading.log_total / 2
        arrays["renyi"] = (math.log(vocabulary) - 2 * roots).clamp(min=0)[node]
    return arrays


def entropies(reading: NextTokens) -> Tensor:
    """Return H = log Z - sum_v w_v x_v / Z in nats, shape (N,), x relative logits, w = exp x.

    The products are summed, not multiplied as matrices: over 150,000 tokens that loses four digits.
    """
    weights = reading.weights[:, : reading.relative.shape[1]]
    mean = (weights * reading.relative).sum(-1).double()
    result = reading.log_total - mean / reading.edges[:, -1]
    odd = result.isnan() & reading.sound
    if odd.any():  # a masked token: 0 * -inf
        safe = reading.relative[odd].clamp(min=-1e4)
        mean = (weights[odd] * safe).sum(-1).double()
        result[odd] = reading.log_total[odd] - mean / reading.edges[odd, -1]
    return result.clamp(min=0)
