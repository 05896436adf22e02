"""Choose tokens so that a draw depends on its own seed only, never on its neighbors in a batch.

One uniform number for each (prompt, seed, sample, step) and the inverse cumulative distribution in
token-id order. What is recorded (log-probability, entropy and the rest) is of the raw distribution
at temperature 1, before any penalty, temperature or truncation.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sayso.engines.hf.kv_cache import AHEAD, PrefixCache
from sayso.engines.hf.load import Limits
from sayso.engines.hf.text import Rendered
from sayso.records import Request

MASK64 = (1 << 64) - 1
#: Tokens are summed in blocks of this size: a cumulative sum over whole vocabularies in float64
#: would cost more than the small models that it serves.
BLOCK = 64
#: Logits that are read at once, by device: a reading holds twice their memory.
READ = {"cpu": 1_000_000, "cuda": 32_000_000}
#: Logits that are sorted at once: sorting needs several times their memory.
SHAPED = 8_000_000


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
        return Shaping(
            self.temperature[rows],
            self.top_p[rows],
            self.top_k[rows],
            self.min_p[rows],
            self.penalty[rows],
        )

    @property
    def plain(self) -> NDArray[np.bool_]:
        """True for rows that choose from the raw distribution: greedy, or T=1 with all else off."""
        free = (self.top_p >= 1) & (self.top_k <= 0) & (self.min_p <= 0)
        at_rest = (self.temperature == 0) | ((self.temperature == 1) & free)
        plain: NDArray[np.bool_] = at_rest & (self.penalty == 1)
        return plain


class Reading(NamedTuple):
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


def _blocks(weights: Tensor) -> Tensor:
    """Return cumulative block sums in float64."""
    rows, size = weights.shape
    return weights.view(rows, size // BLOCK, BLOCK).sum(-1).double().cumsum(-1)


def _padded(rows: int, vocabulary: int, like: Tensor) -> Tensor:
    """Return a buffer of whole blocks; the part behind the vocabulary weighs nothing."""
    size = -(-vocabulary // BLOCK) * BLOCK
    if size == vocabulary:
        return like.new_empty((rows, size))
    return like.new_zeros((rows, size))


def read(logits: Tensor) -> Reading:
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
    edges = _blocks(weights)
    log_total = edges[:, -1].log()
    return Reading(relative, weights, edges, log_total, best, log_total.isfinite())


def entropies(reading: Reading) -> Tensor:
    """Return H = log Z - sum_v w_v x_v / Z in nats, shape (N,), x relative logits, w = exp x."""
    vocabulary = reading.relative.shape[1]
    weights = reading.weights[:, None, :vocabulary]
    mean = torch.bmm(weights, reading.relative[:, :, None])[:, 0, 0].double()
    result = reading.log_total - mean / reading.edges[:, -1]
    odd = result.isnan() & reading.sound
    if odd.any():  # a masked token: 0 * -inf
        safe = reading.relative[odd].clamp(min=-1e4)
        mean = (weights[odd, 0] * safe).sum(-1).double()
        result[odd] = reading.log_total[odd] - mean / reading.edges[odd, -1]
    return result.clamp(min=0)


def logprobs(reading: Reading, node: Tensor, tokens: Tensor) -> Tensor:
    """Return raw log-probabilities of ``tokens`` (R,) under the distributions ``node`` (R,)."""
    return reading.relative[node, tokens].double() - reading.log_total[node]


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


def shape(scores: Tensor, settings: Shaping) -> Tensor:
    """Return unnormalized weights (R, V) after temperature, top-k, top-p and min-p, in this order.

    Each truncation works on what the one before left, renormalized: top-k keeps the k likeliest,
    top-p the smallest set of likeliest tokens that reaches p, min-p tokens of at least min_p times
    the likeliest one. Equal weights rank by token id. Greedy rows are left at temperature 1.
    """
    device = scores.device
    cold = settings.temperature == 0
    temperature = torch.from_numpy(np.where(cold, 1.0, settings.temperature)).to(device)
    scaled = scores / temperature[:, None].float()
    weights = (scaled - scaled.amax(-1, keepdim=True)).exp()
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


def choose(
    logits: Tensor,
    reading: Reading,
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
        weights[:, : scores.shape[1]] = shape(scores, settings.take(rest))
        every = torch.arange(len(rest), device=device)
        draws = torch.from_numpy(uniform[rest]).to(device)
        picked = invert(weights, _blocks(weights), every, draws)
        cold = torch.from_numpy(settings.temperature[rest] == 0).to(device)
        tokens[rows] = torch.where(cold, scores.argmax(-1), picked)
    return tokens


def at_once(logits: Tensor) -> int:
    """Return how many rows of logits (N, V) to read at once."""
    return max(1, READ.get(logits.device.type, READ["cpu"]) // logits.shape[1])


def pick(
    logits: Tensor,
    node: NDArray[np.int64],
    settings: Shaping,
    uniform: NDArray[np.float64],
    seen: dict[int, list[int]],
    want: frozenset[str],
) -> tuple[list[int], list[bool], dict[str, list[object]]]:
    """Return R rows' tokens, whether their logits (N, V) are sound, and the wanted arrays."""
    reading = read(logits)
    chosen = choose(logits, reading, node, settings, uniform, seen)
    place = torch.from_numpy(node).to(chosen.device)
    found = record(reading, place, chosen, want)
    return (
        chosen.tolist(),
        reading.sound[place].tolist(),
        {name: values.tolist() for name, values in found.items()},
    )


def record(
    reading: Reading, node: Tensor, tokens: Tensor, want: frozenset[str]
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
    found: dict[str, Tensor] = {}
    vocabulary = reading.relative.shape[1]
    if "logprobs" in want:
        found["logprobs"] = logprobs(reading, node, tokens)
    if "entropies" in want:
        found["entropies"] = entropies(reading)[node]
    if want & {"margins", "alternatives"}:
        top, ranked = reading.relative.topk(min(10, vocabulary))
        likely = top.double() - reading.log_total[:, None]
        if "alternatives" in want:
            found["alternatives"] = likely[node]
            found["alternative_tokens"] = ranked[node]
        if "margins" in want:
            two = likely.exp()
            margins = two[:, 0] - two[:, 1] if vocabulary > 1 else two[:, 0]
            found["margins"] = margins[node]
    if "self_certainty" in want:
        mean = reading.relative.double().mean(-1)
        found["self_certainty"] = (reading.log_total - mean - math.log(vocabulary))[node]
    if "renyi" in want:
        roots = (reading.relative / 2).exp().sum(-1).double().log() - reading.log_total / 2
        found["renyi"] = (math.log(vocabulary) - 2 * roots).clamp(min=0)[node]
    return found


# The decoding loop: many requests at once, each token chosen by its own request's rules.
#
# Requests with one prompt share its prefill, and draws share a row for as long as they agree
# (``hf_cache``). Rows leave when they end; where the architecture allows it, waiting prompts
# take
# their places. Nothing that is chosen depends on who else is in the batch.

Ints = NDArray[np.int64]
#: A row is expected to grow by this much when places are given out; more is found out on the way.
EXPECTED = 32
#: Places that must be free before waiting prompts are let in: prefilling few at a time is slow.
REFILL_SHARE = 0.25
#: Rows that nobody continues may be computed along until they are this share of all.
GHOST_SHARE = 0.2


class Job(NamedTuple):
    """One request on its way: its number in the call, and its prompt."""

    number: int
    request: Request
    prompt: Rendered


class Raw(NamedTuple):
    """What was generated for a job, the end-of-text token left out. ``finish`` is "stop",
    "stop_string", "length" or "failed"; ``computed`` counts the end-of-text token."""

    job: Job
    ids: list[int]
    arrays: dict[str, list[object]]
    finish: str
    computed: int


Stopper = Callable[[Job, Sequence[int]], bool]


class Lane:
    """One request in progress: its settings, its uniforms and its history."""

    __slots__ = ("arrays", "ids", "job", "slot", "uniforms")

    def __init__(self, job: Job) -> None:
        self.job = job
        self.slot = -1
        self.ids: list[int] = []
        self.arrays: dict[str, list[object]] = {}
        self.uniforms: NDArray[np.float64] = np.zeros(0)

    def uniform(self) -> float:
        """Return the uniform of the next step."""
        step = len(self.ids)
        if self.job.request.greedy:
            return 0.0
        if step % 64 == 0:
            r = self.job.request
            self.uniforms = uniforms(self.job.prompt.key, r.seed, r.sample, step, 64)
        return float(self.uniforms[step % 64])


class Decoder:
    """Runs jobs to their end. ``evicted`` counts rows that were begun again for lack of room."""

    def __init__(
        self,
        cache: PrefixCache,
        limits: Limits,
        ends: frozenset[int],
        stopper: Stopper,
        record: frozenset[str],
    ) -> None:
        self.cache = cache
        self.limits = limits
        self.ends = ends
        self.stopper = stopper
        self.record = record
        self.lanes: list[Lane] = []
        self.tokens: Ints = np.zeros(0, dtype=np.int64)
        self.evicted = 0

    def run(self, jobs: Iterable[Job]) -> Iterator[Raw]:
        """Yield each job's result as it ends. Jobs with one prompt should stand together."""
        waiting = deque(jobs)
        while waiting or self.lanes:
            new = self._admit(waiting)
            if new:
                if self.lanes:
                    self._tidy(0.0)
                prompts: dict[tuple[int, ...], int] = {}
                base = len(self.cache.lengths)
                for lane in new:
                    lane.slot = base + prompts.setdefault(lane.job.prompt.ids, len(prompts))
                self.lanes.extend(new)
                logits = self.cache.prefill(list(prompts), len(self.lanes), self._expected())
                self.tokens = np.concatenate([self.tokens, np.zeros(len(prompts), np.int64)])
                yield from self._advance(logits, base, new)
            else:
                waiting.extendleft(reversed(self._evict()))
                yield from self._advance(self.cache.step(self.tokens), 0, self.lanes)

    def _admit(self, waiting: deque[Job]) -> list[Lane]:
        """Return the waiting jobs that find room now: whole prompts where possible."""
        live = len(self.lanes)
        free = self.limits.rows - live
        refills = self.cache.refills
        if not waiting or free <= 0:
            return []
        if live and (not refills or free < REFILL_SHARE * self.limits.rows):
            return []
        new: list[Lane] = []
        width = int(self.cache.lengths.max()) if live else 0
        while waiting and len(new) < free:
            job = waiting[0]
            size = len(job.prompt.ids)
            if new and self.cache.equal_lengths and size != len(new[0].job.prompt.ids):
                break
            width = max(width, size + min(job.request.max_tokens, EXPECTED) + AHEAD)
            if (new or live) and (live + len(new) + 1) * width > self.limits.slots:
                break
            new.append(Lane(waiting.popleft()))
        return new

    def _expected(self) -> int:
        """Return how many tokens the longest lane is expected to reach."""
        ends = [max(EXPECTED, len(lane.ids) + 1) for lane in self.lanes]
        return max(
            len(lane.job.prompt.ids) + min(lane.job.request.max_tokens, end)
            for lane, end in zip(self.lanes, ends, strict=True)
        )

    def _evict(self) -> list[Job]:
        """Send the youngest rows back when the answers grow over the budget.

        They are drawn again, the same, when there is room.
        """
        live = len(self.lanes)
        width = int(self.cache.lengths.max()) + 1
        if live < 2 or len(self.cache.lengths) * width <= self.limits.most:
            return []
        order = sorted(self.lanes, key=lambda lane: -len(lane.ids))
        keep = max(1, live // 2)
        back = [lane.job for lane in order[keep:]]
        kept = {id(lane) for lane in order[:keep]}
        self.lanes = [lane for lane in self.lanes if id(lane) in kept]
        self.evicted += len(back)
        self._tidy(0.0)
        return back

    @torch.inference_mode()
    def _advance(self, logits: torch.Tensor, base: int, lanes: Sequence[Lane]) -> list[Raw]:
        """Choose the next token of each lane, record it, and settle who goes on in which slot."""
        node = np.array([lane.slot - base for lane in lanes], dtype=np.int64)
        tokens, sound, found = self._choose(logits, node, lanes)
        done: list[Raw] = []
        goes_on: list[Lane] = []
        onward: list[int] = []
        for row, lane in enumerate(lanes):
            token = tokens[row]
            finish = "" if sound[row] else "failed"
            if not finish and token in self.ends:
                finish = "stop"
            elif not finish:
                lane.ids.append(token)
                for name, values in found.items():
                    lane.arrays.setdefault(name, []).append(values[row])
                finish = self._ended(lane)
            if finish:
                computed = len(lane.ids) + (finish == "stop")
                done.append(Raw(lane.job, lane.ids, lane.arrays, finish, computed))
                lane.slot = -1
            else:
                goes_on.append(lane)
                onward.append(token)
        self.lanes = [lane for lane in self.lanes if lane.slot >= 0]
        self._branch(goes_on, np.array(onward, dtype=np.int64), base, base + len(logits))
        self._tidy(GHOST_SHARE)
        return done

    def _choose(
        self, logits: torch.Tensor, node: Ints, lanes: Sequence[Lane]
    ) -> tuple[list[int], list[bool], dict[str, list[object]]]:
        """Return each lane's next token, whether its distribution is sound, and what to record.

        Distributions are read some at a time, since a reading holds twice the logits' memory.
        """
        requests = [lane.job.request for lane in lanes]
        settings = Shaping(
            np.array([r.temperature for r in requests], dtype=np.float64),
            np.array([r.top_p for r in requests], dtype=np.float64),
            np.array([r.top_k for r in requests], dtype=np.int64),
            np.array([r.min_p for r in requests], dtype=np.float64),
            np.array([r.repetition_penalty for r in requests], dtype=np.float64),
        )
        uniform = np.array([lane.uniform() for lane in lanes])
        tokens, sound = [0] * len(lanes), [False] * len(lanes)
        found: dict[str, list[object]] = {}
        step = at_once(logits)
        for at in range(0, len(logits), step):
            rows = np.flatnonzero((node >= at) & (node < at + step))
            if not len(rows):
                continue
            mine = node[rows] - at
            seen = {
                n: [*lanes[row].job.prompt.ids, *lanes[row].ids]
                for n, row in enumerate(rows.tolist())
                if requests[row].repetition_penalty != 1
            }
            chosen, good, columns = pick(
                logits[at : at + step], mine, settings.take(rows), uniform[rows], seen, self.record
            )
            for n, row in enumerate(rows.tolist()):
                tokens[row], sound[row] = chosen[n], good[n]
            for name, values in columns.items():
                whole = found.setdefault(name, [None] * len(lanes))
                for row, value in zip(rows.tolist(), values, strict=True):
                    whole[row] = value
        return tokens, sound, found

    def _ended(self, lane: Lane) -> str:
        """Return why a lane ends after its newest token, or nothing."""
        request = lane.job.request
        if (request.stop or lane.job.prompt.stop) and self.stopper(lane.job, lane.ids):
            return "stop_string"
        return "length" if len(lane.ids) >= request.max_tokens else ""

    def _branch(self, lanes: Sequence[Lane], tokens: Ints, first: int, last: int) -> None:
        """Give a slot to each distinct continuation of the slots ``first:last``.

        The first child of a slot stays in it; the others are copied into slots that nobody
        continues, or behind all.
        """
        if not lanes:
            return
        parents = np.array([lane.slot for lane in lanes], dtype=np.int64)
        span = int(tokens.max()) + 1
        children, inverse = np.unique(parents * span + tokens, return_inverse=True)
        parent, token = children // span, children % span
        stays = np.ones(len(children), dtype=np.bool_)
        stays[1:] = parent[1:] != parent[:-1]
        slots = parent.copy()
        moving = np.flatnonzero(~stays)
        size = len(self.cache.lengths)
        if len(moving):
            taken = np.zeros(size, dtype=np.bool_)
            taken[parent] = True
            taken[[lane.slot for lane in self.lanes]] = True
            free = np.flatnonzero(~taken)[: len(moving)]
            behind = np.arange(size, size + len(moving) - len(free))
            slots[moving] = np.concatenate([free, behind])
            size += len(behind)
            self.cache.rearrange(slots[moving], parent[moving], size)
        grown = np.zeros(size, dtype=np.int64)
        grown[: len(self.tokens)] = self.tokens
        grown[slots] = token
        self.tokens = grown
        for lane, child in zip(lanes, inverse.tolist(), strict=True):
            lane.slot = int(slots[child])

    def _tidy(self, share: float) -> None:
        """Move the last slots into ghosts' places once ghosts are more than ``share`` of all."""
        size = len(self.cache.lengths)
        live = np.unique(np.array([lane.slot for lane in self.lanes], dtype=np.int64))
        ghosts = np.setdiff1d(np.arange(size), live, assume_unique=True)
        if not len(ghosts):
            return
        if len(ghosts) <= share * size:
            self.cache.forget(ghosts)
            return
        to = ghosts[ghosts < len(live)]
        source = live[live >= len(live)]
        self.cache.rearrange(to, source, len(live))
        self.tokens[to] = self.tokens[source]
        self.tokens = self.tokens[: len(live)]
        moved = dict(zip(source.tolist(), to.tolist(), strict=True))
        for lane in self.lanes:
            lane.slot = moved.get(lane.slot, lane.slot)
