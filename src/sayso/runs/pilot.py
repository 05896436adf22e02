"""A pilot: some entities of a run are asked before it, and the price follows from what they cost.

Its requests are the run's own and stay in the cache: the run pays nothing twice. What the rest
costs is a ratio estimate (Cochran, Sampling Techniques, 1977, section 6): dollars of an entity to
its requests that need no answer. Thoughts have heavy tails, so the interval is one of the log, with
the larger of two spreads (of the residuals, of the logs) and, as for the mean of a log-normal, with
the error of its variance.
"""

from __future__ import annotations

import math
import random
import tempfile
from collections import Counter
from collections.abc import Sequence, Set
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from sayso.engines.prices import LOCAL
from sayso.metrics.intervals import student_quantile
from sayso.progress import Progress, Silent
from sayso.protocols.pool import Cluster, clusters_of
from sayso.protocols.protocol import Step, walk
from sayso.records import InputError, Question
from sayso.runs.dry_run import SAMPLED, PilotPrice, Range, RunEstimate, estimate_job
from sayso.runs.job import Job, OpenJob, one_period
from sayso.runs.rehearsal import rehearse
from sayso.runs.run import check_folders, open_job, run_of

#: in theory, how often the price is in its range: less holds, as a pilot grows until it is narrow
LEVEL = 0.98
#: a range is wide whose most is more than so many times its least: the pilot is doubled, up to so
#: many times and to half of the run
WIDE, GROWTH = 2.0, 8
#: entities of the smallest pilot
FEWEST = 3


def price_job(
    job: Job,
    pilot: int = 0,
    seen: set[bytes] | None = None,
    progress: Progress | None = None,
    later: Sequence[Path] = (),
) -> RunEstimate:
    """Return :func:`estimate_job`, after a pilot of so many entities; 0: nothing is asked.

    Where nothing is paid for, or the run is too small, a note says why no pilot was asked.
    """
    found = _ask_pilot(job, pilot, {*(seen or ())}, progress, later) if pilot else ""
    plan = estimate_job(job, seen, progress, later)
    if isinstance(found, PilotPrice):
        return msgspec.structs.replace(plan, pilot=found, dollars=Range(found.low, found.high))
    notes = (*plan.notes, f"no pilot was asked: {found}") if found else plan.notes
    return msgspec.structs.replace(plan, notes=notes)


def _ask_pilot(
    given: Job, number: int, seen: Set[bytes], progress: Progress | None, later: Sequence[Path]
) -> PilotPrice | str:
    """Ask some entities of a run, more while the range is wide; or return why that cannot be."""
    if given.batch_files:
        raise InputError("a pilot is asked at once: leave batch_files out, or pilot")
    # what --fresh asks anew here is fresh for the run
    with one_period([given], asks=False) as (job,), open_job(job, progress) as opened:
        check_folders(opened, later)
        asked = [*([opened.model] if job.model and not job.recorded else [])]
        asked += [opened.judge.engine] if opened.judge.engine is not None else []
        if any(engine.price is None for engine in asked):
            return "the price of its tokens is unknown"
        pilot = _Pilot(opened)
        most = len(pilot.entities) // 2
        if all(engine.price == LOCAL for engine in asked) or most < FEWEST or job.texts is not None:
            return f"nothing is paid for, or {len(pilot.entities)} entities are too few"
        n, left = min(max(number, FEWEST), most), pilot.left(most, seen)
        while True:
            pilot.walk(n)
            found = pilot.price(left)
            if found.high <= WIDE * found.low or n == most or 2 * n > GROWTH * number:
                return found
            n = min(2 * n, most)


class _Cost(NamedTuple):
    """What an entity asks before any answer is there, and its dollars: of others, of the model."""

    first: int
    others: float
    model: float


class _Pilot:
    """The walks of an open run about some of its entities, which stand in an order by chance."""

    def __init__(self, opened: OpenJob) -> None:
        self.opened, self.paid, self.costs = opened, 0.0, list[_Cost]()
        self.clusters = clusters_of(opened.data.questions)
        self.entities = sorted({*self.clusters.values()})
        random.Random(opened.job.seed).shuffle(self.entities)
        self.steps = opened.job.steps(opened.data.questions)
        asks = (ask for step in self.steps for ask in step.asks)
        self.firsts = Counter(self.clusters[ask.question.id] for ask in asks)

    def about(self, entities: Sequence[Cluster]) -> tuple[list[Question], list[Step]]:
        """Return the questions about some entities, and the run's steps with no other asks."""
        questions = [q for q in self.opened.data.questions if self.clusters[q.id] in entities]
        ids = {q.id for q in questions}
        steps = [s._replace(asks=[a for a in s.asks if a.question.id in ids]) for s in self.steps]
        return questions, steps

    def left(self, place: int, seen: Set[bytes]) -> tuple[float, float]:
        """Return the share of requests that is still to pay for: of others, and of the model.

        Of the entities from ``place`` on, of which some are rehearsed.
        """
        questions, steps = self.about(self.entities[place : place + SAMPLED])
        run = rehearse(self.opened.about(questions), lambda limit: (1, 1), (), steps)[1]
        requests, todo = Counter[bool](), Counter[bool]()
        for (who, _), replies in run.stages.items():
            requests[who == "model"] += len(replies)
            new = (reply is None and key not in seen for key, (_, reply) in replies.items())
            todo[who == "model"] += sum(new)
        return todo[False] / max(1, requests[False]), todo[True] / max(1, requests[True])

    def walk(self, n: int) -> None:
        """Ask about the first entities at once; what each costs, a walk through the cache tells."""
        model, judge = self.opened.model, self.opened.judge.engine
        new = self.entities[len(self.costs) : n]
        before, progress = model.meter.spent, model.progress
        self._walk(new)
        self.paid += model.meter.spent - before
        for engine in (model, judge):
            if engine is not None:
                engine.progress = Silent()
        for entity in new:
            spent, of_model = self._spent()
            self._walk([entity])
            more, more_model = (
                b - a for a, b in zip((spent, of_model), self._spent(), strict=True)
            )
            first = self.firsts[entity] if self.firsts else 1
            self.costs.append(_Cost(first, more - more_model, more_model))
        for engine in (model, judge):
            if engine is not None:
                engine.progress = progress

    def _spent(self) -> tuple[float, float]:
        """Return the dollars of all answers so far, and of the model's. Raises InputError."""
        model = self.opened.model
        if model.meter.kept is None or model.dollars is None:
            raise InputError("the price of an answer is unknown: it came without a count of tokens")
        return model.meter.spent + model.meter.kept, model.dollars

    def _walk(self, entities: Sequence[Cluster]) -> None:
        questions, steps = self.about(entities)
        with tempfile.TemporaryDirectory() as folder:
            opened = self.opened.about(questions)
            run = run_of(opened, opened.manifest, Path(folder) / "pilot")
            run.begin()
            walk(steps, run)

    def price(self, left: tuple[float, float]) -> PilotPrice:
        """Return what the entities that were not asked cost, by those that were."""
        n, total = len(self.costs), len(self.entities)
        table = np.array(self.costs)
        first, cost = table[:, 0], table[:, 1:] @ np.array(left)
        rest = sum(self.firsts[e] for e in self.entities[n:]) if self.firsts else total - n
        if not cost.any():
            return PilotPrice(n, total, self.paid, 0.0, 0.0, 0.0)
        ratio = cost.sum() / first.sum()
        apart = math.sqrt(((cost - ratio * first) ** 2).sum() / (n - 1)) / cost.mean()
        logs = np.log((cost / first)[cost > 0])
        spread = max(apart, float(logs.std(ddof=1)) if len(logs) > 1 else 0.0)

        def half(size: int) -> float:
            error = spread**2 * (1 / size + 1 / (total - size)) + spread**4 / 2 / (size - 1)
            return student_quantile((1 + LEVEL) / 2, size - 1) * math.sqrt(error)

        price, wide = float(ratio) * rest, half(n)
        more = next((k - n for k in range(n, total) if half(k) <= wide / 2), total - n)
        low, high = price * math.exp(-wide), price * math.exp(wide)
        return PilotPrice(n, total, self.paid, price, low, high, more)
