"""How often ``sayso check`` accuses a sound endpoint of truncation, and what it misses.

    python benchmarks/judges/checks.py [--endpoints 200]

Simulated endpoints give the log-probability of every drawn token and draw from a truncated
distribution. Three shapes: 60 tokens with weights 1 / (n + 2) (flat), (n + 1)^-1.5 (like most first
words), and .5^n (peaked). Then the judge check of ``rules``, and of a model judge that knows our
labels and flips 5 % of them.
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from sayso.checks.judge import judge_check, our_set
from sayso.checks.model import WHOLE, check
from sayso.judges.reliability import SetResult
from support.judge_world import Shown, judge_engine
from support.urn import Urn

SHAPES = {
    "flat": [1 / (n + 2) for n in range(60)],
    "usual": [(n + 1) ** -1.5 for n in range(60)],
    "peaked": [0.5**n for n in range(60)],
}
CUTS: tuple[dict[str, Any], ...] = (
    {}, {"top_k": 50}, {"top_k": 20}, {"top_k": 5}, {"top_p": 0.95}, {"top_p": 0.9},
    {"top_p": 0.8}, {"min_p": 0.1},
)  # fmt: skip


class Salted(Urn):
    """An urn whose draws depend on a salt as well, so that each endpoint is another one."""

    salt = 0

    def answer(self, request: Any, batched: bool) -> Any:
        import msgspec

        found = super().answer(msgspec.structs.replace(request, seed=self.salt), batched)
        return msgspec.structs.replace(found, request=request)


def truncation(endpoints: int) -> None:
    """Print the share of endpoints called truncated, by shape and cut."""
    print(f"called truncated, of {endpoints} endpoints; in brackets the probability cut off")
    print(f"{'':16}" + "".join(f"{name:>18}" for name in SHAPES))
    for cut in CUTS:
        cells = []
        for weights in SHAPES.values():
            engine = Salted(weights=weights, **cut)
            kept = sum(p for p, q in zip(engine.true, engine.drawn_from(1.0), strict=True) if q)
            said = 0
            for salt in range(endpoints):
                engine = Salted(weights=weights, **cut)
                engine.salt = 1000 + salt
                said += check(engine).get(WHOLE).answer == "no"
            cells.append(f"{said / endpoints:7.1%} ({max(0.0, 1 - kept):5.1%})")
        name = ", ".join(f"{k}={v}" for k, v in cut.items()) or "sound"
        print(f"{name:16}" + "".join(f"{cell:>18}" for cell in cells), flush=True)


def judges() -> None:
    """Print what judge-check says of `rules` and of judges that flip some of our labels."""
    with TemporaryDirectory() as folder:
        _told("rules", judge_check("rules", cache=folder).ours)
        for flips in (0.0, 0.05, 0.15):
            found = judge_check(judge_engine(knowing(flips)), cache=folder)
            _told(f"knows our labels, flips {flips:.0%}", found.ours)
            calls = f"{found.calls} calls, {found.tokens_per_100:,.0f} tokens per 100 verdicts"
            print(f"{'':32} {calls} (words, not tokens)")


def _told(name: str, ours: SetResult) -> None:
    agreed = ours.agreed
    low, high = agreed.low or 0.0, agreed.high or 0.0
    print(
        f"{name:32} {agreed.count} of {agreed.of} [{low:.3f}, {high:.3f}], stance "
        f"{ours.stance_agreed.count} of {ours.stance_agreed.of}, kappa {ours.kappa:.3f}"
    )


def knowing(flips: float) -> Any:
    """A model that knows our labels and reads its prompt; it flips a share of its verdicts."""
    known = {
        (q.text, row.item.generation.text[:20]): label
        for row in our_set()[0]
        for q, label in zip(row.item.questions, row.labels, strict=True)
    }
    rng = random.Random(1)

    def decide(seen: Shown, number: int) -> str:
        label = known.get((seen.question(number), seen.text(number)[:20]))
        stance, content = (label.stance, label.content) if label else ("abstained", "none")
        if rng.random() < flips:
            committed = stance == "committed"
            stance, content = ("abstained", "none") if committed else ("committed", "incorrect")
        short = {"refused_by_policy": "refused", "asked_back": "asked-back"}.get(stance, stance)
        return next(name for name in seen.labels if name in (f"{short}-{content}", short))

    return decide


def main() -> None:
    """Print both studies."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--endpoints", type=int, default=200)
    chosen = parser.parse_args()
    judges()
    print()
    truncation(chosen.endpoints)


if __name__ == "__main__":
    main()
