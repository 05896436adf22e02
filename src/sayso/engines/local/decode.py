"""The decoding loop: many requests at once, each token chosen by its own request's rules.

Requests with one prompt share its prefill, and draws share a row for as long as they agree
(:class:`PrefixCache`). Different prompts may share the reading of a beginning: that is the memory's
affair. Rows leave when they end; where the architecture allows it, waiting prompts take their
places. Nothing that is chosen depends on who else is in the batch, but for the last digits of sums,
which another number of rows may round differently.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sayso.engines.local.draws import Shaping, uniforms
from sayso.engines.local.text import Rendered
from sayso.records import Request

Slots = NDArray[np.int64]
#: Columns reserved in addition to those expected, so that most steps write in place.
AHEAD = 16
#: A row is expected to grow by this much when places are given out. Of the tokens that it may have
#: at most, room is kept for this share: small models go on until they are stopped.
EXPECTED, SHARE = 32, 0.5
#: What rows may fill of the places once some of them had to be restarted.
ROOM = 0.8
#: The share of all rows that must enter together while others go on: prefilling a few is slow, and
#: they take as many columns as the longest of the others.
REFILL_SHARE = 0.25
#: Ghosts, rows that no request continues, are computed along up to this share of all rows.
GHOST_SHARE = 0.05
#: A loop is a block of tokens that stands at least so often in a row and over at least so many
#: tokens: a refrain comes twice, and a row of a table or of dashes is shorter.
COPIES, LOOPED = 3, 24


class BatchLimits(NamedTuple):
    """How much is computed at once: rows, and token places in the cache.

    Prompts are admitted while their answers would stay within ``most`` if they grew half as long as
    they may, and are expected to stay within ``first``, or within ``slots`` where they join others
    in progress; rows whose answers grow longer still are restarted only above ``most``, since that
    repeats work.
    """

    rows: int
    slots: int
    most: int
    first: int

    def halved(self) -> BatchLimits:
        """Return half of it, at least one row."""
        return BatchLimits(*(max(1, size // 2) for size in self))


class PrefixCache(Protocol):
    """What the decoding loop needs of a model's memory.

    ``refills``: prompts may join slots in progress. ``equal_lengths``: prompts of one batch must be
    equally long.
    """

    refills: bool
    equal_lengths: bool

    @property
    def lengths(self) -> Slots:
        """Return the tokens in each slot."""

    def prefill(self, prompts: Sequence[Sequence[int]], rows: int, until: int) -> Any:
        """Add a slot for each prompt behind the others; return their next logits (P, V).

        ``rows`` is how many slots there may be in all once draws have parted, ``until`` how many
        tokens the longest of them is expected to reach.
        """

    def step(self, tokens: Slots) -> Any:
        """Append one token to each slot; return the next logits (S, V)."""

    def rearrange(self, to: Slots, source: Slots, size: int) -> None:
        """Copy slots ``source`` over slots ``to``, then keep the first ``size``."""

    def forget(self, slots: Slots) -> None:
        """Stop counting slots that nobody continues, so that they never outgrow the context."""


class Sampling(Protocol):
    """How next-token distributions of one kind of array are read."""

    def at_once(self, logits: Any) -> int:
        """Return how many rows of logits (N, V) to read at once."""

    def pick(
        self,
        logits: Any,
        node: Slots,
        settings: Shaping,
        uniform: NDArray[np.float64],
        seen: dict[int, list[int]],
        want: frozenset[str],
    ) -> tuple[list[int], list[bool], dict[str, list[object]]]:
        """Return R rows' tokens, whether their logits (N, V) are sound, and the wanted arrays.

        Row r continues the prefix ``node[r]``. ``seen`` lists the tokens so far of each row that
        has a repetition penalty.
        """


class DecodeJob(NamedTuple):
    """One request on its way: its number in the call, and its prompt."""

    number: int
    request: Request
    prompt: Rendered


class Raw(NamedTuple):
    """What was generated for a job, the end-of-text token left out. ``finish`` is "stop",
    "stop_string", "length", "loop" or "failed"; ``computed`` counts the end-of-text token,
    ``repeated`` the tokens at the end that only repeat a loop's block."""

    job: DecodeJob
    ids: list[int]
    arrays: dict[str, list[object]]
    finish: str
    computed: int
    repeated: int = 0


Stopper = Callable[[DecodeJob, Sequence[int]], bool]


class Loop:
    """Notices that the newest tokens of an answer are one block again and again."""

    __slots__ = ("needed", "newest", "same")

    def __init__(self, max_tokens: int) -> None:
        sizes = np.arange(1, max_tokens // COPIES + 1)
        self.needed = np.maximum((COPIES - 1) * sizes, LOOPED - sizes)
        self.newest = np.full(len(sizes), -1)
        # for each size of a block, how many tokens in a row equal those one block earlier
        self.same = np.zeros(len(sizes), dtype=np.int64)

    def add(self, token: int) -> int:
        """Return how many of the newest tokens repeat the block before them; 0: no loop."""
        self.same = np.where(self.newest == token, self.same + 1, 0)
        self.newest[1:] = self.newest[:-1]
        self.newest[:1] = token
        loops = np.flatnonzero(self.same >= self.needed)
        return int(self.same[loops[0]]) if len(loops) else 0


class DecodeLane:
    """One request in progress: its settings, its uniforms and its history."""

    __slots__ = ("arrays", "ids", "job", "loop", "repeated", "slot", "uniforms")

    def __init__(self, job: DecodeJob, end_loops: bool) -> None:
        self.job = job
        self.loop = Loop(job.request.max_tokens) if end_loops else None
        self.repeated = 0
        self.slot = -1
        self.ids: list[int] = []
        self.arrays: dict[str, list[object]] = {}
        self.uniforms = np.zeros(0)

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
    """Runs jobs to their end."""

    def __init__(
        self,
        cache: PrefixCache,
        sampling: Sampling,
        limits: BatchLimits,
        ends: frozenset[int],
        stopper: Stopper,
        record: frozenset[str],
        end_loops: bool = False,
    ) -> None:
        self.cache = cache
        self.sampling = sampling
        self.limits = limits
        self.ends = ends
        self.stopper = stopper
        self.record = record
        self.end_loops = end_loops
        self.lanes: list[DecodeLane] = []
        self.tokens: Slots = np.zeros(0, dtype=np.int64)

    def run(self, jobs: Iterable[DecodeJob]) -> Iterator[Raw]:
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

    def _admit(self, waiting: deque[DecodeJob]) -> list[DecodeLane]:
        """Return the waiting jobs that find room now: whole prompts where possible."""
        live = len(self.lanes)
        free = self.limits.rows - live
        refills = self.cache.refills
        if not waiting or free <= 0:
            return []
        if live and (not refills or free < REFILL_SHARE * self.limits.rows):
            return []
        new: list[DecodeLane] = []
        width = grown = int(self.cache.lengths.max()) if live else 0
        while waiting and len(new) < free:
            job = waiting[0]
            size = len(job.prompt.ids)
            if new and self.cache.equal_lengths and size != len(new[0].job.prompt.ids):
                break
            longest = job.request.max_tokens
            width = max(width, size + min(longest, EXPECTED) + AHEAD)
            grown = max(grown, size + max(min(longest, EXPECTED), int(SHARE * longest)) + AHEAD)
            rows = live + len(new) + 1
            places = self.limits.slots if live else self.limits.first
            if rows > 1 and (rows * width > places or rows * grown > self.limits.most):
                break
            new.append(DecodeLane(waiting.popleft(), self.end_loops))
        if live and waiting and len(new) < REFILL_SHARE * self.limits.rows:
            waiting.extendleft(lane.job for lane in reversed(new))
            return []
        return new

    def _expected(self) -> int:
        """Return how many tokens the longest lane is expected to reach."""
        ends = [max(EXPECTED, len(lane.ids) + 1) for lane in self.lanes]
        return max(
            len(lane.job.prompt.ids) + min(lane.job.request.max_tokens, end)
            for lane, end in zip(self.lanes, ends, strict=True)
        )

    def _evict(self) -> list[DecodeJob]:
        """Return the youngest rows to the queue when the answers outgrow memory.

        Their draws come again, the same, when there is room.
        """
        live = len(self.lanes)
        width = int(self.cache.lengths.max()) + 1
        if live < 2 or len(self.cache.lengths) * width <= self.limits.most:
            return []
        order = sorted(self.lanes, key=lambda lane: -len(lane.ids))
        keep = max(1, min(live - 1, int(ROOM * self.limits.most / width)))
        back = [lane.job for lane in order[keep:]]
        kept = {id(lane) for lane in order[:keep]}
        self.lanes = [lane for lane in self.lanes if id(lane) in kept]
        self._tidy(0.0)
        return back

    def _advance(self, logits: Any, base: int, lanes: Sequence[DecodeLane]) -> list[Raw]:
        """Choose and record the next token of each lane, and settle which lane has which slot."""
        node = np.array([lane.slot - base for lane in lanes], dtype=np.int64)
        tokens, sound, arrays = self._choose(logits, node, lanes)
        done: list[Raw] = []
        live: list[DecodeLane] = []
        newest: list[int] = []
        for row, lane in enumerate(lanes):
            token = tokens[row]
            finish = "" if sound[row] else "failed"
            if not finish and token in self.ends:
                finish = "stop"
            elif not finish:
                lane.ids.append(token)
                for name, values in arrays.items():
                    lane.arrays.setdefault(name, []).append(values[row])
                finish = self._ended(lane)
            if finish:
                computed = len(lane.ids) + (finish == "stop")
                done.append(Raw(lane.job, lane.ids, lane.arrays, finish, computed, lane.repeated))
                lane.slot = -1
            else:
                live.append(lane)
                newest.append(token)
        self.lanes = [lane for lane in self.lanes if lane.slot >= 0]
        self._branch(live, np.array(newest, dtype=np.int64))
        self._tidy(GHOST_SHARE)
        return done

    def _choose(
        self, logits: Any, node: Slots, lanes: Sequence[DecodeLane]
    ) -> tuple[list[int], list[bool], dict[str, list[object]]]:
        """Return each lane's next token, whether its distribution is sound, and the arrays.

        Distributions are read some at a time, since a reading holds twice the logits' memory.
        """
        requests = [lane.job.request for lane in lanes]
        settings = Shaping(
            temperature=np.array([r.temperature for r in requests], dtype=np.float64),
            top_p=np.array([r.top_p for r in requests], dtype=np.float64),
            top_k=np.array([r.top_k for r in requests], dtype=np.int64),
            min_p=np.array([r.min_p for r in requests], dtype=np.float64),
            penalty=np.array([r.repetition_penalty for r in requests], dtype=np.float64),
        )
        uniform = np.array([lane.uniform() for lane in lanes])
        tokens, sound = [0] * len(lanes), [False] * len(lanes)
        arrays: dict[str, list[object]] = {}
        step = self.sampling.at_once(logits)
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
            chosen, good, columns = self.sampling.pick(
                logits[at : at + step], mine, settings.take(rows), uniform[rows], seen, self.record
            )
            for n, row in enumerate(rows.tolist()):
                tokens[row], sound[row] = chosen[n], good[n]
            for name, values in columns.items():
                whole = arrays.setdefault(name, [None] * len(lanes))
                for row, value in zip(rows.tolist(), values, strict=True):
                    whole[row] = value
        return tokens, sound, arrays

    def _ended(self, lane: DecodeLane) -> str:
        """Return why a lane ends after its newest token, or nothing."""
        request = lane.job.request
        if (request.stop or lane.job.prompt.stop) and self.stopper(lane.job, lane.ids):
            return "stop_string"
        if lane.loop is not None:
            lane.repeated = lane.loop.add(lane.ids[-1])
            if lane.repeated:
                return "loop"
        return "length" if len(lane.ids) >= request.max_tokens else ""

    def _branch(self, lanes: Sequence[DecodeLane], tokens: Slots) -> None:
        """Give a slot to each distinct continuation of the lanes.

        The first child of a slot stays in it; the others are copied into ghosts' slots, or
        behind all.
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
