"""Do the scores of faithfulness give what algebra says, and how far off are they with few answers?

    python benchmarks/metrics/faithfulness_forms.py [--seed N] [--repeats N]

Models of which everything is known: each answer has a chance p that a draw agrees, the draws count
X ~ Bin(k, p), and decisiveness is a rule of its own. With p uniform the closed forms of cMFG are:
always d: 1 - (d^2 + (1-d)^2) / 2; 0 or 1 at random: 1/2; uniform and blind: 2/3; d = p: 1. Tables
in Markdown:

1. the closed forms, against bins closed on either side, levels, and cMFG*, at k = 1000 and k = 20;
2. bias and spread by the number of answers n, of cMFG, skill, cMFG*, and both less the noise of k
   draws;
3. what ties at k + 1 levels do to cMFG*, by k, where p is uniform and where it heaps at 0 and 1.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sayso import metrics
from sayso.metrics.cmfg import Binning, cmfg_corrected, noise_floor, skill_corrected

Floats = NDArray[np.float64]
Rule = Callable[[Floats, np.random.Generator], Floats]

#: name -> (decisiveness of each answer, cMFG in closed form where p is uniform)
POLICIES: dict[str, tuple[Rule, float]] = {
    "always decisive": (lambda p, g: np.ones(len(p)), 1 / 2),
    "always one half": (lambda p, g: np.full(len(p), 0.5), 3 / 4),
    "always .8": (lambda p, g: np.full(len(p), 0.8), 1 - (0.64 + 0.04) / 2),
    "0 or 1 at random": (lambda p, g: (g.random(len(p)) < 0.6).astype(float), 1 / 2),
    "uniform, blind": (lambda p, g: g.random(len(p)), 2 / 3),
    "faithful (d = p)": (lambda p, g: p, 1.0),
    "half faithful": (lambda p, g: np.where(g.random(len(p)) < 0.5, p, g.random(len(p))), 5 / 6),
}


def world(n: int, k: int, g: np.random.Generator, heaped: bool = False) -> tuple[Floats, Floats]:
    """Return p and the agreeing draws of n answers; ``heaped``: p ~ Beta(.4, .4)."""
    p = g.beta(0.4, 0.4, n) if heaped else g.random(n)
    return p, g.binomial(k, p).astype(float)


def closed_forms(g: np.random.Generator, n: int = 400_000) -> None:
    """Print every policy's cMFG beside its closed form."""
    print(
        "| policy | closed form | k = 1000 | k = 20, right | left | levels | cMFG* | skill "
        "| less noise |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name, (rule, form) in POLICIES.items():
        cells = [f"{form:.4f}"]
        for k in (1000, 20):
            p, j = world(n, k, g)
            d = rule(p, g)
            cells.append(f"{metrics.cmfg(d, j, k):.4f}")
            if k == 20:
                cells.append(f"{metrics.cmfg(d, j, k, Binning(closed='left')):.4f}")
                cells.append(f"{metrics.cmfg(d, j, k, Binning(levels=True)):.4f}")
                cells.append(f"{metrics.cmfg_star(1 - np.abs(d - j / k), j / k):.4f}")
                cells.append(f"{metrics.skill(d, j, k):.4f}")
                cells.append(f"{skill_corrected(d, j, k):.4f}")
        print(f"| {name} | {' | '.join(cells)} |")
    print(f"\nn = {n:,}; the noise of 20 draws alone is {noise_floor(np.arange(21), 20):.4f}")


def by_n(g: np.random.Generator, repeats: int, k: int = 20) -> None:
    """Print mean and spread by n; what infinitely many answers and draws give is the truth."""
    print(
        "| policy | truth | n | cMFG | sd | cMFG* | sd | less noise | sd | skill | sd "
        "| skill less noise | sd |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    for name in (
        "always decisive",
        "always one half",
        "uniform, blind",
        "half faithful",
        "faithful (d = p)",
    ):
        rule, form = POLICIES[name]
        for n in (50, 100, 200, 500, 2000):
            rows = []
            for _ in range(repeats):
                p, j = world(n, k, g)
                d = rule(p, g)
                rows.append([
                    metrics.cmfg(d, j, k), metrics.cmfg_star(1 - np.abs(d - j / k), j / k),
                    cmfg_corrected(d, j, k), metrics.skill(d, j, k), skill_corrected(d, j, k),
                ])  # fmt: skip
            found = np.array(rows, dtype=float)
            cells = [
                x
                for mean, sd in zip(found.mean(axis=0), found.std(axis=0), strict=True)
                for x in (f"{mean:.3f}", f"{sd:.3f}")
            ]
            print(f"| {name} | {form:.3f} | {n} | {' | '.join(cells)} |")


def ties(g: np.random.Generator, repeats: int, n: int = 500) -> None:
    """Print cMFG* by the number of draws: fewer levels, more ties, boundaries inside levels."""
    print("| confidence | policy | truth | k = 5 | 10 | 20 | 50 | 1000 |")
    print("|---|---|---|---|---|---|---|---|")
    for heaped in (False, True):
        for name in ("always decisive", "always one half", "faithful (d = p)"):
            rule, form = POLICIES[name]
            cells = []
            for k in (5, 10, 20, 50, 1000):
                found = []
                for _ in range(repeats):
                    p, j = world(n, k, g, heaped)
                    c = j / k
                    found.append(metrics.cmfg_star(1 - np.abs(rule(p, g) - c), c))
                cells.append(f"{np.mean(found):.3f}")
            where = "heaped at 0 and 1" if heaped else "uniform"
            print(f"| {where} | {name} | {form:.3f} | {' | '.join(cells)} |")


def main() -> None:
    """Print the three tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=400)
    arguments = parser.parse_args()
    g = np.random.default_rng(arguments.seed)
    closed_forms(g)
    print()
    by_n(g, arguments.repeats)
    print()
    ties(g, arguments.repeats)


if __name__ == "__main__":
    main()
