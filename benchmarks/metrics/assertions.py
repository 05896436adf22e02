"""How often does ``sayso assert`` decide wrongly, and do as many entities as it asks for settle it?

    python benchmarks/metrics/assertions.py              # the table of benchmarks/README.md, seed 0

Worlds are those of ``coverage.py``: 20, 76 and 400 entities with 4 to 8 aspects each, and J, FA,
UUR and the AUROC of a score; besides, the mean over entities of a number in 0..1 (as factuality and
faithfulness have), and a rare share (1.5 % of the facts, in runs within an entity).

*Wrong*: every limit is the number's true value, that of 100,000 entities. An assertion that it is
at least that is decided: "holds" and "does not" are both wrong then, and each may come up
at most 5 % of the time. "any of 3" asserts J, FA and UUR together, which share the 5 %.

*Settles*: a run that cannot say yet asks for a number of entities. So many, and .5 to 1.7 times as
many, are drawn from the entities of that run, with replacement: a world in which the true value is
the observed one. Then the assertion is decided again. The number at which 80 % of the runs are
settled is interpolated; the ratio is what was asked for over that. Limits lie between the value and
the end of its interval, at .35 to .85 of the way, so that 1.3 to 12 times as many are asked for.
Besides the numbers above: J of a model that never hedges, whose parts are shares of 0, and the
difference of J of two models of which the second is another one on half of the entities.

A share of 1,000 worlds has a standard error of 0.7 points at 5 %, one of 300 of 2.3 points at
80 %, and so a ratio of about .06.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np

from coverage import ENTITIES, HEDGING, Floats, simulate, values
from sayso import metrics
from sayso.assertions.decide import (
    CANNOT_SAY,
    DOES_NOT,
    HOLDS,
    NOMINAL,
    AssertedNumber,
    decide,
    holm_outcomes,
)
from sayso.metrics.intervals import at_level, bootstrap_ratio, bootstrap_share, standard_error
from sayso.metrics.uncle_known import bootstrap_cells_difference
from sayso.records import Estimate

#: resamples of one interval: fewer than a run takes, which widens no interval on average
RESAMPLES = 500
RARE = 0.015
TOGETHER = ("J", "FA", "UUR")
#: runs that ask for more than so many times as many entities are not followed
MOST = 20
#: of how many as were asked for runs are simulated, beside all
FACTORS = (0.5, 0.65, 0.8, 0.9, 1.0, 1.05, 1.1, 1.3, 1.7)
NEVER, DIFFERENCE = "J, no hedges", "difference of J"


class Kind:
    """Numbers that are made of one table: how its entities are drawn, and what is computed."""

    def __init__(
        self,
        names: Sequence[str],
        draw: Callable[[int, float, np.random.Generator], list[Floats]],
        compute: Callable[[list[Floats], int], Mapping[str, Estimate]],
    ) -> None:
        self.names, self.draw, self.compute = names, draw, compute
        self._table: list[Floats] = []
        self._seed = 0  # each table has resamples of its own
        self._at: dict[float, Mapping[str, Estimate]] = {}

    def at(self, table: list[Floats], error: float) -> Mapping[str, Estimate]:
        """Return all numbers of a table with intervals of a one-sided error; made once for each."""
        if self._table is not table:
            self._table, self._at = table, {}
            self._seed += 1
        if error not in self._at:
            with at_level(1 - 2 * error):
                self._at[error] = self.compute(table, self._seed)
        return self._at[error]

    def outcomes(
        self, names: Sequence[str], limits: Sequence[float], table: list[Floats]
    ) -> set[str]:
        """Return the verdicts on some numbers together, each said to be at least a limit."""
        claims = [AssertedNumber(">=", limit) for limit in limits]
        every = range(len(names))
        found = holm_outcomes(claims, every, lambda e: [self.at(table, e)[n] for n in names])
        return {outcome for outcome, _ in found.values()}

    def decide(self, names: Sequence[str], limits: Sequence[float], table: list[Floats]):
        """Return what is decided of some numbers together, each said to be at least a limit."""
        claims = [
            AssertedNumber(">=", limit, scale=scale_of(name), entities=len(table))
            for name, limit in zip(names, limits, strict=True)
        ]
        return decide(
            claims,
            lambda error: [self.at(table, error)[name] for name in names],
            spreads=lambda place: spread_of(names[place], table),
        )


def scale_of(name: str) -> tuple[float, float] | None:
    if name == DIFFERENCE:
        return None
    return (-1.0, 1.0) if name.startswith("J") else (0.0, 1.0)


def spread_of(name: str, table: list[Floats]) -> float | None:
    """Return the standard error of a number over resamples of entities."""
    rng, n = np.random.default_rng(0), len(table)
    found = [value_of(name, [table[row] for row in rng.integers(0, n, n)]) for _ in range(200)]
    return standard_error(np.array([np.nan if v is None else v for v in found]), n)


def value_of(name: str, table: list[Floats]) -> float | None:
    if name == "AUROC":
        return metrics.auroc(*np.concatenate(table).T)
    if name in ("mean", "rare share"):
        return float(np.mean(table))
    total = np.sum(table, axis=0)
    if name == DIFFERENCE:
        return float(metrics.cell_rates(total[:6])["J"] - metrics.cell_rates(total[6:])["J"])
    return float(metrics.cell_rates(total)["J" if name == NEVER else name])


# ---- the tables: a list with what each entity has


def draw_cells(entities: int, hedging: float, rng: np.random.Generator) -> list[Floats]:
    return list(simulate(entities, hedging, rng).cells.sum(axis=1))


def rates(table: list[Floats], seed: int) -> Mapping[str, Estimate]:
    return metrics.bootstrap_cells(np.array(table), n=RESAMPLES, seed=seed)


def draw_scores(entities: int, hedging: float, rng: np.random.Generator) -> list[Floats]:
    world = simulate(entities, hedging, rng)
    rows = np.stack([world.score, world.incorrect], axis=1)
    return np.split(rows, np.cumsum(np.bincount(world.entity))[:-1])


def ranking(table: list[Floats], seed: int) -> Mapping[str, Estimate]:
    score, wrong = np.concatenate(table).T
    entity = np.repeat(np.arange(len(table)), [len(rows) for rows in table])
    found = metrics.bootstrap_auroc(score, wrong, clusters=entity, n=RESAMPLES, seed=seed)
    return {"AUROC": found}


def draw_means(entities: int, hedging: float, rng: np.random.Generator) -> list[Floats]:
    level = rng.beta(3, 2, entities)
    return list(rng.beta(8 * level, 8 * (1 - level)))


def mean(table: list[Floats], seed: int) -> Mapping[str, Estimate]:
    size = len(table)
    ones, entity = np.ones(size), np.arange(size)
    return {"mean": bootstrap_ratio("mean", table, ones, entity, RESAMPLES, seed)}


def draw_rare(entities: int, hedging: float, rng: np.random.Generator) -> list[Floats]:
    prone = rng.random(entities) < 4 * RARE
    return list(rng.random((entities, 6)) < np.where(prone, 0.25, 0.0)[:, None])


def rare(table: list[Floats], seed: int) -> Mapping[str, Estimate]:
    hit = np.concatenate(table)
    facts = np.repeat(np.arange(len(table)), 6)
    every = np.ones(len(facts), dtype=bool)
    return {"rare share": bootstrap_share("rare share", hit, every, facts, RESAMPLES, seed)}


def draw_pair(entities: int, hedging: float, rng: np.random.Generator) -> list[Floats]:
    first = simulate(entities, hedging, rng).cells.sum(axis=1)
    other = simulate(entities, hedging + 0.8, rng).cells.sum(axis=1)
    second = np.where(rng.random((entities, 1)) < 0.5, other, first)
    return list(np.concatenate([second, first], axis=1))


def difference(table: list[Floats], seed: int) -> Mapping[str, Estimate]:
    both = np.array(table)
    found = bootstrap_cells_difference(both[:, :6], both[:, 6:], n=RESAMPLES, seed=seed)
    return {DIFFERENCE: found["J"]}


CELLS = Kind(TOGETHER, draw_cells, rates)
SILENT = Kind(
    (NEVER,),
    lambda entities, _, rng: draw_cells(entities, -40.0, rng),
    lambda table, seed: {NEVER: rates(table, seed)["J"]},
)
PAIR = Kind((DIFFERENCE,), draw_pair, difference)
#: what does not depend on how often the model hedges
OTHERS = (
    Kind(("AUROC",), draw_scores, ranking),
    Kind(("mean",), draw_means, mean),
    Kind(("rare share",), draw_rare, rare),
)
MIDDLE = "12 %"


def studied() -> Iterator[tuple[str, Kind]]:
    """Yield what is studied: the rates by how often is hedged, then the others."""
    yield from ((label, CELLS) for label in HEDGING)
    yield from ((MIDDLE, kind) for kind in OTHERS)


@lru_cache
def truth_of(label: str) -> dict[str, float]:
    """Return the true values: those of 100,000 entities."""
    rng = np.random.default_rng([7, list(HEDGING).index(label)])
    many = simulate(100_000, HEDGING[label], rng)
    whole = values(many.cells.sum(axis=0))
    auroc = metrics.auroc(many.score, many.incorrect) if label == MIDDLE else 0.0
    found = {name: float(whole[name]) for name in TOGETHER}
    return {**found, "AUROC": float(auroc or 0.0), "mean": 0.6, "rare share": RARE}


def study_wrong(trials: int, seed: int, sizes: Sequence[int], only: str) -> None:
    """Print how often each verdict is wrong at the boundary."""
    print("wrong at the boundary, in %: holds / does not")
    for number, (label, kind) in enumerate(studied()):
        if only not in ("", label, *kind.names):
            continue
        rng, truth = np.random.default_rng([seed, number]), truth_of(label)
        heads = [*kind.names, "any of 3"] if kind is CELLS else list(kind.names)
        title = f"hedged {label}" if kind is CELLS else ""
        print(f"{title:>14} entities" + "".join(f"{head:>15}" for head in heads))
        for entities in sizes:
            counts = {head: [0, 0] for head in heads}
            for _ in range(trials):
                table = kind.draw(entities, HEDGING[label], rng)
                for head in heads:
                    names = kind.names if head == "any of 3" else (head,)
                    done = kind.outcomes(names, [truth[name] for name in names], table)
                    for side, outcome in enumerate((HOLDS, DOES_NOT)):
                        counts[head][side] += outcome in done
            cells = [f"{100 * a / trials:.1f} / {100 * b / trials:.1f}" for a, b in counts.values()]
            print(f"{'':14} {entities:>8}" + "".join(f"{cell:>15}" for cell in cells), flush=True)


def study_settles(trials: int, seed: int, sizes: Sequence[int], only: str) -> None:
    """Print what share of runs of as many entities as were asked for is settled, and the ratio."""
    print("| number | entities | asked for, median | settled | asked / needed for 80 % |")
    print("|---" * 5 + "|")
    more = [(MIDDLE, SILENT), ("3 %", PAIR), (MIDDLE, PAIR)]
    for number, (label, kind) in enumerate([*studied(), *more]):
        rng = np.random.default_rng([seed, 100 + number])
        for name in kind.names:
            if only not in ("", label, name):
                continue
            hedged = f", {label} hedged" if kind in (CELLS, PAIR) else ""
            for entities in sizes:
                cells = _settled(name, kind, entities, label, trials, rng)
                print(f"| {name}{hedged} | {entities} | {cells} |", flush=True)


def _settled(
    name: str, kind: Kind, entities: int, label: str, trials: int, rng: np.random.Generator
) -> str:
    settled, times = np.zeros(len(FACTORS)), []
    while len(times) < trials:
        table = kind.draw(entities, HEDGING[label], rng)
        e = kind.at(table, NOMINAL)[name]
        if e.value is None or e.low is None or e.high is None:
            continue
        up = rng.random() < 0.5
        limit = e.value + rng.uniform(0.35, 0.85) * ((e.low if up else e.high) - e.value)
        if limit == e.value:  # a share of 0 or 1
            continue
        (one,) = kind.decide([name], [limit], table)
        if one.outcome != CANNOT_SAY or one.needed is None or one.needed > MOST * entities:
            continue
        times.append(one.needed / entities)
        for place, factor in enumerate(FACTORS):
            drawn = rng.integers(0, entities, round(factor * one.needed))
            found = kind.outcomes([name], [limit], [table[row] for row in drawn])
            settled[place] += (HOLDS if up else DOES_NOT) in found
    shares = settled / len(times)
    enough = np.exp(np.interp(0.8, np.maximum.accumulate(shares), np.log(FACTORS)))
    here = f"{100 * shares[FACTORS.index(1.0)]:.0f} %"
    return f"x {np.median(times):.1f} | {here} | {1 / enough:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--settle-trials", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", choices=("wrong", "settles"))
    parser.add_argument("--only", default="", help="how often is hedged (12 %%), or a number")
    parser.add_argument("--entities", type=int, nargs="+", default=ENTITIES)
    given = parser.parse_args()
    start = time.process_time()
    if given.part != "settles":
        study_wrong(given.trials, given.seed, given.entities, given.only)
    if given.part != "wrong":
        study_settles(given.settle_trials, given.seed, given.entities, given.only)
    print(f"{time.process_time() - start:.0f} CPU s", file=sys.stderr)


if __name__ == "__main__":
    main()
