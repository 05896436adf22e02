"""Recipes of `sayso train` beside each other on the built-in model: numbers and paired differences.

    python benchmarks/models/training_recipes.py --out recipes --seeds 3 --split test

Every recipe is a whole training: rows, SFT, DPO, measuring with the base run's frozen probes;
about four CPU minutes a seed. It resumes. Settings are chosen on ``dev`` (the default); ``--split
test`` is for the end. The first recipe is subtracted from the others, paired by entity, with
Holm's correction over all differences. (Sweeps: ``sayso train BASE --sweep xi``.)
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import sayso
from sayso.protocols.uncle.settings import Settings
from sayso.records import Estimate
from sayso.report.numbers import reach
from sayso.train.compare import side_by_side
from sayso.train.config import TrainConfig
from sayso.train.report import printed_number
from sayso.train.training import fit

#: name -> what makes the rows
RECIPES: dict[str, dict[str, Any]] = {
    "mix": {"recipe": "mix"},
    "mix-paper": {"recipe": "mix", "style": "paper", "pairs": "logu"},
    "calibrated": {"recipe": "calibrated"},
}
SHOWN = ("J", "odds_ratio_within", "KCR", "skill", "unspoken_knowledge", "wrong_and_sure")
PERCENT = ("KCR", "wrong_and_sure")


def main() -> None:
    """Train with every recipe, then print the table and the differences."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--split", choices=["dev", "test"], default="dev")
    parser.add_argument("--limit", type=int, default=0, help="entities measured; 0: all")
    parser.add_argument("--train-limit", type=int, help="most entities trained on")
    parser.add_argument("--stages", choices=["sft", "dpo"], default="dpo")
    parser.add_argument("--only", help=f"some of {','.join(RECIPES)}, the first is subtracted")
    given = parser.parse_args()
    names = given.only.split(",") if given.only else list(RECIPES)
    unknown = [name for name in names if name not in RECIPES]
    if unknown:
        sys.exit(f"no recipe {unknown[0]!r}: expected some of {', '.join(RECIPES)}")
    base, cache = given.out / f"base-{given.split}", given.out / "cache"
    sayso.run(
        "uncle", split=given.split, limit=given.limit, out=base, cache=cache, options=Settings()
    )
    folders: dict[str, str | Path] = {}
    for name in names:
        config = TrainConfig(
            seeds=given.seeds, stages=given.stages, train_limit=given.train_limit, **RECIPES[name]
        )
        folders[name] = given.out / f"{given.split}-{name}"
        fit(base, folders[name], config=config, cache=cache, say=print)
    cells, changes = side_by_side(folders)
    for made in cells:
        if made.estimate.name in SHOWN:
            print(made.form, made.method, made.estimate.name, _told(made.estimate))
    for one in changes:
        if one.difference.name in SHOWN:
            p = "-" if one.p_holm is None else f"{one.p_holm:.3g}"
            told = _told(one.difference)
            print(f"{one.form} {one.method} - {one.against} {one.difference.name} {told} p {p}")


def _told(found: Estimate) -> str:
    percent = found.name in PERCENT
    return f"{printed_number(found, percent)} [{reach(found, percent)}]"


if __name__ == "__main__":
    main()
