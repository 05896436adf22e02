"""Does the promise of a guard hold, how often can one be made, and against what alternatives?

    SAYSO_TEST_DATA=FOLDER python benchmarks/guard/guarantee.py [--draws 2000]

Labels are drawn with replacement from a pool of real answers, a limit is certified on each draw,
and its risk is that on the whole pool, which is the population that the labels were drawn from.
Pools: UnknownBench (stated confidences of three models; wrong is what the rules judge so, and any
value stated for a question without an answer; declined answers are left out) and claims of three
sets of GPT-4's texts with people's labels, where a unit is a text. Beside sayso's starting points:
the strictest limit as the start, one start at ten errors' worth of answers, and Holm's correction
over all limits. ``hostile`` draws from simulated populations in which the risk does not rise with
the score, where the choice of the first limit by counts is not covered by the theory.

    python benchmarks/guard/guarantee.py --worlds [--draws 4000]

draws entities from simulated worlds and asks whether the promise holds of *answers*: entities
differ in size, answers about one are wrong together, larger entities more often, verdicts are
missing more often for wrong answers, scores are tied, or the best of six scores is chosen. Beside
sayso: one answer of each entity, with missing verdicts left out, as before.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from sayso import metrics
from sayso.guard.fit import LabeledUnits, cross_fitted_limit
from sayso.judges.judge import NO_VALUE
from sayso.judges.rules.judge import judge_rules
from sayso.metrics.guarantee import StartingPoint, certify_limit, starting_points

DELTA = 0.05
#: draws of each cell on which the rule that is measured is compared with sayso's own function
COMPARED = 20
Floats = NDArray[np.float64]
Starts = Sequence[StartingPoint]


class Pool(NamedTuple):
    """Units (n,): the score at which each is answered, and at which it turns wrong."""

    name: str
    enters: Floats
    spoils: Floats
    alphas: tuple[float, ...]
    sizes: tuple[int, ...]

    def limits(self) -> Floats:
        """Return the limits (m,) of the whole pool."""
        both = np.concatenate([self.enters, self.spoils])
        return np.unique(both[np.isfinite(both)])

    def counted(self, draws: NDArray[np.int64], at: Floats) -> NDArray[np.int64]:
        """Return how often units were drawn (B, n) whose score ``at`` is at most each limit."""
        order = np.argsort(at, kind="stable")
        upto = np.searchsorted(at[order], self.limits(), side="right")
        sums = np.cumsum(draws[:, order], axis=1)
        return np.concatenate([np.zeros((len(draws), 1), np.int64), sums], axis=1)[:, upto]


def verdicts_of(folder: Path, kept: Path | None) -> list[dict[str, Any]]:
    """Return the judged answers of the three models; ``kept`` holds those of an earlier time."""
    if kept is not None and kept.exists():
        return [json.loads(text) for text in kept.read_text(encoding="utf-8").splitlines()]
    place = folder / "real" / "unknownbench_refunq.jsonl.gz"
    found = []
    with gzip.open(place, "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            if row["model"] in ("chatgpt", "claude", "palm"):
                golds = row["golds"] if row["answerable"] else NO_VALUE
                content = judge_rules(row["question"], golds, row["answer"] or "").content
                found.append(
                    {name: row.get(name) for name in ("model", "answerable", "stated_confidence")}
                    | {"content": content}
                )
    if kept is not None:
        kept.write_text("".join(json.dumps(row) + "\n" for row in found), encoding="utf-8")
    return found


def unknownbench(folder: Path, kept: Path | None) -> Iterator[Pool]:
    """Yield answers of three models with stated confidence: to all questions, and to real ones."""
    by_model: dict[str, list[tuple[float, bool, bool]]] = {}
    for row in verdicts_of(folder, kept):
        stated = row["stated_confidence"]
        if row["content"] in ("correct", "incorrect"):
            doubt = math.inf if stated is None else 1 - stated / 100
            wrong = row["content"] == "incorrect"
            by_model.setdefault(row["model"], []).append((doubt, wrong, row["answerable"]))
    for model, rows in by_model.items():
        for only, alphas in ((False, (0.4, 0.5, 0.6)), (True, (0.3, 0.4, 0.5))):
            some = [(doubt, wrong) for doubt, wrong, real in rows if real or not only]
            enters = np.array([doubt for doubt, _ in some])
            spoils = np.where([wrong for _, wrong in some], enters, np.inf)
            name = f"UnknownBench, {model}{', answerable questions' * only}"
            yield Pool(name, enters, spoils, alphas, (100, 300, 1000, 2000))


def claims(folder: Path) -> Pool:
    """Return texts of claims with people's labels; the score is frequency and stated confidence."""
    enters, spoils = [], []
    for name in ("nq", "factscore", "MATH"):
        place = folder / "conformal_factuality" / f"{name}_subclaims_with_scores.jsonl"
        for row in map(json.loads, place.read_text(encoding="utf-8").splitlines()):
            doubt = [-claim["frequency+gpt-score"] for claim in row["claims"]]
            false = [claim["annotation"] != "Y" for claim in row["claims"]]
            enters.append(min(doubt))
            spoils.append(min((d for d, f in zip(doubt, false, strict=True) if f), default=np.inf))
    return Pool(
        "claims, unit = text", np.array(enters), np.array(spoils), (0.05, 0.1, 0.2, 0.3),
        (40, 76, 150, 300),
    )  # fmt: skip


def hostile() -> Iterator[Pool]:
    """Yield simulated populations whose risk falls, or jumps, as the limit rises.

    The error rates are risks that their own limits have, so that many limits break the promise by
    little.
    """
    rng = np.random.default_rng(7)
    u = rng.random(400)
    shapes = {
        "risk falls": 0.3 - 0.25 * u,
        "flat risk": np.full(len(u), 0.1),
        "a spike of risk": np.where((u > 0.15) & (u < 0.25), 0.5, 0.07),
        "strictest answers all wrong": np.where(u < 0.03, 1.0, 0.09),
    }
    for name, risk in shapes.items():
        for groups in (0, 8):
            score = np.floor(u * groups) if groups else u
            spoils = np.where(rng.random(len(u)) < risk, score, np.inf)
            title = f"simulated: {name}{f', {groups} groups' if groups else ''}"
            pool = Pool(title, score, spoils, (), (150, 400, 1000))
            every = np.ones((1, len(u)), np.int64)
            answers, wrong = (pool.counted(every, at)[0] for at in (score, spoils))
            risks = (wrong / answers)[answers >= len(u) / 10]
            alphas = {round(float(q), 4) for q in np.quantile(risks, (0.1, 0.5, 0.9))}
            yield pool._replace(alphas=tuple(sorted(alphas)))


def one_start(units: int, alpha: float) -> Starts:
    """Return one start at ten errors' worth of answers, at most half of the units."""
    worth = min(math.ceil(10 / alpha - 1e-9), (units + 1) // 2)
    return (StartingPoint(max(metrics.zero_error_answers(alpha, DELTA), worth), DELTA),)


STARTS: dict[str, Callable[[int, float], Starts]] = {
    "sayso": lambda n, alpha: starting_points(n, alpha, DELTA),
    "strictest": lambda n, alpha: (StartingPoint(1, DELTA),),
    "one start": one_start,
}
RULES = (*STARTS, "Holm")


def in_sequence(p: Floats, answered: NDArray[np.int64], starts: Starts) -> NDArray[np.int64]:
    """Return the place (B,) of the loosest limit that passes, -1 for none; p-values are (B, m).

    What :func:`sayso.metrics.certify_limit` does, for all draws at once.
    """
    draws, limits = p.shape
    begun = np.zeros((draws, limits))
    for start in starts:
        reached = answered >= start.answers
        place = np.where(reached.any(axis=1), reached.argmax(axis=1), -1)
        rows = np.flatnonzero(place >= 0)
        begun[rows, place[rows]] += start.delta
    carried, last = np.zeros(draws), np.full(draws, -1)
    for place in range(limits):
        here = begun[:, place] + carried
        passes = (here > 0) & (p[:, place] <= here)
        carried = np.where(passes, here, 0.0)
        last[passes] = place
    return last


def by_holm(p: Floats, changed: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the place (B,) of the loosest limit that Holm's correction lets pass, -1 for none.

    Limits at which nothing changes since the one before are no hypotheses of their own.
    """
    tested = np.where(changed, p, np.inf)
    order = np.argsort(tested, axis=1, kind="stable")
    sorted_p = np.take_along_axis(tested, order, axis=1)
    left = changed.sum(axis=1)[:, None] - np.arange(p.shape[1])[None, :]
    holds = (sorted_p <= DELTA / np.maximum(left, 1)) & (left > 0)
    passed = np.cumprod(holds, axis=1).astype(bool)
    places = np.where(passed, order, -1)
    return places.max(axis=1)


def compare(pool: Pool, draws: NDArray[np.int64], found: NDArray[np.int64], alpha: float) -> None:
    """Hold the measured rule against sayso's own functions on some draws."""
    for count, place in zip(draws[:COMPARED], found[:COMPARED], strict=True):
        units = np.repeat(np.arange(len(count)), count)
        rows = np.arange(len(units))
        score = np.concatenate([pool.enters[units], pool.spoils[units]])
        wrong = np.concatenate([np.zeros(len(units)), np.ones(len(units))])
        held = np.isfinite(score) | (wrong == 0)  # a unit that is never answered counts
        levels = metrics.risk_levels(score[held], wrong[held], np.concatenate([rows, rows])[held])
        certified = certify_limit(levels, alpha, DELTA)
        ours = None if place < 0 else pool.limits()[place]
        at = -1 if ours is None else np.searchsorted(levels.limit, ours, side="right") - 1
        assert (certified.limit is None) == (ours is None), (pool.name, alpha)
        assert ours is None or levels.answered[at] == certified.answered, (pool.name, alpha)


def study(pool: Pool, draws: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each number of labels and error rate: certified, broken, share answered."""
    n, limits = len(pool.enters), pool.limits()
    every = np.ones((1, n), np.int64)
    answers = pool.counted(every, pool.enters)[0]
    risk = pool.counted(every, pool.spoils)[0] / np.maximum(answers, 1)
    for size in pool.sizes:
        drawn = np.random.default_rng((seed, size)).multinomial(size, np.full(n, 1 / n), draws)
        answered, wrong = (pool.counted(drawn, at) for at in (pool.enters, pool.spoils))
        moved = [np.diff(part, axis=1, prepend=0) != 0 for part in (answered, wrong)]
        for alpha in pool.alphas:
            p = np.where(answered > 0, binom.cdf(wrong, answered, alpha), 1.0)
            found = {
                name: in_sequence(p, answered, starts(size, alpha))
                for name, starts in STARTS.items()
            }
            compare(pool, drawn, found["sayso"], alpha)
            found["Holm"] = by_holm(p, moved[0] | moved[1])
            row: dict[str, Any] = {"pool": pool.name, "labels": size, "alpha": alpha}
            for name, places in found.items():
                held = places[places >= 0]
                row[name] = len(held) / draws
                row[f"{name} broken"] = float((risk[held] > alpha + 1e-12).sum() / draws)
                row[f"{name} answers"] = float(answers[held].sum() / n / draws)
            yield row
    assert len(limits) == len(risk)


class World(NamedTuple):
    """Entities: how many answers they have, and what is wrong with these answers."""

    name: str
    sizes: Callable[[np.random.Generator], NDArray[np.int64]]
    wronger: bool = False
    missing: bool = False
    levels: int = 30
    scores: int = 1


def one_each(rng: np.random.Generator) -> NDArray[np.int64]:
    """Return entities of one answer."""
    return np.ones(ENTITIES, np.int64)


def four_each(rng: np.random.Generator) -> NDArray[np.int64]:
    """Return entities of four answers."""
    return np.full(ENTITIES, 4)


def ten_or_one(rng: np.random.Generator) -> NDArray[np.int64]:
    """Return entities of which a tenth has ten answers, the others one."""
    return np.where(rng.random(ENTITIES) < 0.1, 10, 1)


def geometric(rng: np.random.Generator) -> NDArray[np.int64]:
    """Return entities of two answers on average."""
    return rng.geometric(0.5, ENTITIES)


def heavy(rng: np.random.Generator) -> NDArray[np.int64]:
    """Return entities of one answer, a few, and rarely up to forty."""
    return np.minimum(rng.random(ENTITIES) ** -0.5, 40).astype(np.int64)


WORLDS = (
    World("one answer each", one_each),
    World("four answers each", four_each),
    World("one or ten, larger wronger", ten_or_one, wronger=True),
    World("geometric, larger wronger", geometric, wronger=True),
    World("heavy tail, larger wronger", heavy, wronger=True),
    World("geometric, equally wrong", geometric),
    World("one each, missing verdicts", one_each, missing=True),
    World("one each, six scores", one_each, scores=6, levels=10),
    World("geometric, wronger, ties", geometric, wronger=True, levels=4),
    World("geometric, wronger, missing", geometric, wronger=True, missing=True),
    World("geometric, wronger, six scores", geometric, wronger=True, scores=6, levels=10),
    World("all of these", ten_or_one, wronger=True, missing=True, scores=6, levels=4),
)
#: entities of a world, and those of one draw of labels
ENTITIES, DRAWN = 20_000, 600
#: error rate that is promised, and by shape of the risk the error rate of all answers
PROMISED, SHAPES = 0.05, {"flat": 0.0508, "rising": 0.08}


class Population(NamedTuple):
    """Answers (A,), entity after entity from ``starts``; ``scores`` are whole numbers.

    ``risk`` is the probability that an answer is wrong: an entity's answers share it in part.
    """

    sizes: NDArray[np.int64]
    starts: NDArray[np.int64]
    scores: dict[str, Floats]
    risk: Floats


def population(world: World, shape: str, rng: np.random.Generator) -> Population:
    """Return the answers of a world; their error rate is that of the shape.

    Half of the entities have twice the risk that the others have, times their size if the larger
    ones are wronger.
    """
    sizes = world.sizes(rng)
    entity = np.repeat(np.arange(ENTITIES), sizes)
    scores = {
        f"s{n}": np.floor(rng.random(len(entity)) * world.levels) for n in range(world.scores)
    }
    doubt = (scores["s0"] + 0.5) / world.levels
    odds = rng.integers(1, 3, ENTITIES)[entity] * (doubt**2 if shape == "rising" else 1.0)
    odds = odds * (sizes[entity] if world.wronger else 1)
    low, high = 0.0, 1e3
    for _ in range(60):
        middle = (low + high) / 2
        enough = np.minimum(1, middle * odds).mean() >= SHAPES[shape]
        low, high = (low, middle) if enough else (middle, high)
    return Population(sizes, np.cumsum(sizes) - sizes, scores, np.minimum(1, high * odds))


def errors(
    world: World, risk: Floats, cluster: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which answers are wrong, and of which the verdict is missing.

    Half of the answers about an entity are wrong by one throw: they are wrong together.
    """
    alone, together = rng.random(len(risk)), rng.random(DRAWN)[cluster]
    wrong = np.where(rng.random(len(risk)) < 0.5, alone, together) < risk
    lost = np.where(wrong, 0.4, 0.05) if world.missing else np.zeros(len(risk))
    return wrong, rng.random(len(risk)) < lost


def one_of_each(cluster: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return one unit of each cluster, as before."""
    order = rng.permutation(len(cluster))
    return order[np.unique(cluster[order], return_index=True)[1]]


def fitted(
    people: Population, rows: NDArray[np.int64], wrong: Floats, of: NDArray[np.int64], seed: int
) -> Any:
    """Return the score and the limit that sayso certifies on some answers ``of`` these entities."""
    columns = {name: column[rows] for name, column in people.scores.items()}
    units = LabeledUnits(columns, wrong, np.arange(len(rows)), of)
    if len(columns) > 1:
        return cross_fitted_limit(units, [*columns], PROMISED, DELTA, seed)
    return "s0", certify_limit(units.levels("s0"), PROMISED, DELTA)


def world_rows(world: World, shape: str, draws: int, seed: int) -> dict[str, Any]:
    """Return how often the promise is broken, and what share is answered, before and now."""
    people = population(world, shape, np.random.default_rng(seed))
    answered = {
        name: [score <= level for level in range(world.levels)]
        for name, score in people.scores.items()
    }
    counts = {rule: np.zeros(3) for rule in ("before", "sayso")}
    for draw in range(draws):
        rng = np.random.default_rng((seed, draw))
        chosen = rng.integers(0, ENTITIES, DRAWN)
        size = people.sizes[chosen]
        cluster = np.repeat(np.arange(DRAWN), size)
        rows = np.repeat(people.starts[chosen] - np.cumsum(size) + size, size)
        rows = rows + np.arange(len(rows))
        wrong, unread = errors(world, people.risk[rows], cluster, rng)
        for rule, count in counts.items():
            kept = np.arange(len(rows))
            if rule == "before":
                kept = np.flatnonzero(~unread)
                kept = kept[one_of_each(cluster[kept], rng)]
            labels = (wrong | unread)[kept].astype(float)
            name, certified = fitted(people, rows[kept], labels, cluster[kept], draw)
            if certified.limit is not None:
                given = answered[name][int(certified.limit)]
                count += 1, people.risk[given].mean() > PROMISED, given.mean()
    row: dict[str, Any] = {"world": world.name, "shape": shape}
    for rule, count in counts.items():
        for what, number in zip(("certified", "broken", "answers"), count, strict=True):
            row[f"{rule} {what}"] = number / draws
    return row


def worlds(draws: int, seed: int) -> list[dict[str, Any]]:
    """Print and return a row for each world and shape of the risk."""
    rows = []
    print(f"{'world':<32} {'risk':<7} | promise broken % before, now | answered % before, now")
    for world in WORLDS:
        for shape in SHAPES:
            row = world_rows(world, shape, draws, seed)
            cells = [
                f"{100 * row[f'{rule} {what}']:6.2f}"
                for what in ("broken", "answers")
                for rule in ("before", "sayso")
            ]
            print(f"{world.name:<32} {shape:<7} |", *cells, flush=True)
            rows.append(row)
    for rule in ("before", "sayso"):
        worst = max(rows, key=lambda row: row[f"{rule} broken"])
        print(f"{rule}: broken in at most {100 * worst[f'{rule} broken']:.2f} % of draws "
              f"({worst['world']}, {worst['shape']})")  # fmt: skip
    return rows


def main() -> None:
    """Print the tables, and the worst of each column."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--worlds", action="store_true", help="does it hold of answers?")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="also write the rows as JSON lines")
    parser.add_argument("--verdicts", type=Path, help="file in which judged answers are kept")
    chosen = parser.parse_args()
    start = time.process_time()
    rows = worlds(chosen.draws, chosen.seed) if chosen.worlds else real(chosen)
    if chosen.out:
        chosen.out.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    print(f"{time.process_time() - start:.0f} CPU seconds")


def real(chosen: argparse.Namespace) -> list[dict[str, Any]]:
    """Print and return a row for each pool, number of labels and error rate."""
    folder, rows = Path(os.environ["SAYSO_TEST_DATA"]), []
    head = f"{'pool':<46} {'labels':>6} {'alpha':>5} | certified % (promise broken %, answered %)"
    print(head, *(f"{name:>18}" for name in RULES))
    for pool in (*unknownbench(folder, chosen.verdicts), claims(folder), *hostile()):
        wrong = np.isfinite(pool.spoils).mean()
        print(f"{pool.name}: {len(pool.enters):,} units, {wrong:.3f} of them wrong")
        for row in study(pool, chosen.draws, chosen.seed):
            rows.append(row)
            cells = [
                f"{100 * row[name]:5.1f} ({100 * row[f'{name} broken']:3.1f}, "
                f"{100 * row[f'{name} answers']:4.1f})"
                for name in RULES
            ]
            print(f"{'':<46} {row['labels']:>6} {row['alpha']:>5} |", *cells, flush=True)
    for name in RULES:
        real = [row for row in rows if not row["pool"].startswith("simulated")]
        broken = max(rows, key=lambda row: row[f"{name} broken"])
        less = [row for row in real if row[name] < row["Holm"]]
        worst = max(row["Holm"] - row[name] for row in real)
        print(
            f"{name}: promise broken in at most {100 * broken[f'{name} broken']:.2f} % of draws "
            f"({broken['pool']}, {broken['labels']} labels, alpha {broken['alpha']}); of real "
            f"answers in {100 * max(row[f'{name} broken'] for row in real):.2f} %, and certified "
            f"in {100 * np.mean([row[name] for row in real]):.1f} % on average; fewer than Holm in "
            f"{len(less)} of {len(real)} cells, by at most {100 * worst:.1f} points"
        )
    return rows


if __name__ == "__main__":
    main()
