"""Sweeps of xi and theta, and recipes beside each other, on the built-in model (UNCLE, Figure 4).

    python benchmarks/teaching_sweep.py --out sweep xi --seeds 1
    python benchmarks/teaching_sweep.py --out sweep theta
    python benchmarks/teaching_sweep.py --out sweep recipes --seeds 5 --split test

Every point is a whole teaching: rows, SFT, DPO, measuring with the base run's frozen probes. On one
idle core of a laptop a point takes 3 to 5 minutes a seed: xi (nine points) about 40 minutes, theta
(five) 20, recipes (four, of which RL is the slowest) 25, times the seeds. It resumes: points that
are done are read, not made again. Draws come from one cache. Settings are chosen on ``dev`` (the
default); ``--split test`` is for the end.

Prints a table with 95 % intervals over seeds and entities and writes ``sweep.json`` and, for xi and
theta, ``report.html`` with the trade-off. Recipes are also subtracted from the first, paired
by entity, with Holm's correction over all differences."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

import sayso
from sayso.pipeline.comparing_teaching import beside
from sayso.pipeline.teaching import Lesson, teach
from sayso.protocols.uncle_settings import Settings
from sayso.report.teaching import cell, reach
from sayso.report.teaching_page import page
from sayso.taught import SweepPoint, Teaching, read_teaching, write_page

XI = tuple(n / 10 for n in range(1, 10))
THETA = (0.1, 0.3, 0.5, 0.7, 1.0)
#: name -> what makes the rows; "paper" and "known" are styles of the mix
RECIPES: dict[str, dict[str, Any]] = {
    "mix": {"recipe": "mix"},
    "mix, paper": {"recipe": "mix", "making": {"style": "paper"}},
    "calibrated": {"recipe": "calibrated"},
    "rl": {"recipe": "rl"},
}
#: what recipes are compared in
COMPARED = ("J", "KCR", "unspoken_knowledge", "skill", "wrong_and_sure")
SHOWN = ("J", "J_within", "UUR", "KCR", "unspoken_knowledge", "forced", "skill", "wrong_and_sure")
PERCENT = ("UUR", "KCR", "forced", "wrong_and_sure")
FORMS = ("short", "long")


def points(kind: str) -> dict[str, tuple[float, dict[str, Any]]]:
    """Return the points of a sweep by name: the value on its axis, and the lesson's settings.

    In a sweep of xi every point must have as many rows, which is checked: ``sft.rows`` and
    ``dpo.rows`` are low enough for the smallest and the largest xi.
    """
    if kind == "xi":
        same = {"sft.rows": 600, "dpo.rows": 600}
        return {f"xi-{v:g}": (v, {"making": {"xi": v}, "training": same}) for v in XI}
    if kind == "theta":
        return {f"theta-{v:g}": (v, {"making": {"theta": v}}) for v in THETA}
    return {name.replace(", ", "-"): (n, own) for n, (name, own) in enumerate(RECIPES.items())}


def numbers(taught: Teaching) -> dict[str, sayso.records.Estimate]:
    """Return the numbers of the last stage by "form name"."""
    last = taught.methods[-1].name
    return {f"{form} {name}": taught.get(last, form, name) for form in FORMS for name in SHOWN}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("sweep", choices=["xi", "theta", "recipes"])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--split", choices=["dev", "test"], default="dev")
    parser.add_argument(
        "--limit", type=int, default=0, help="entities measured; 0: all of the split"
    )
    parser.add_argument("--train-limit", type=int, help="most entities taught")
    parser.add_argument("--rows", type=int, help="most rows for SFT and for DPO")
    parser.add_argument("--only", help="points to make, separated by commas (xi-0.1,xi-0.9)")
    parser.add_argument("--resamples", type=int, default=2000)
    given = parser.parse_args()
    out: Path = given.out
    cache = out / "cache"
    base = out / f"base-{given.split}"
    sayso.run(
        "uncle", split=given.split, limit=given.limit, out=base, cache=cache,
        options=Settings(resamples=given.resamples),
    )  # fmt: skip
    wanted = points(given.sweep)
    only = given.only.split(",") if given.only else list(wanted)
    unknown = [name for name in only if name not in wanted]
    if unknown:
        sys.exit(f"no point {unknown[0]!r}: expected some of {', '.join(wanted)}")
    found: list[SweepPoint] = []
    sizes: dict[int, str] = {}
    taught: Teaching | None = None
    for name in only:
        value, own = wanted[name]
        training = dict(own.get("training", {}))
        if given.rows:
            training |= {"sft.rows": given.rows, "dpo.rows": given.rows}
        lesson = Lesson(
            recipe=own.get("recipe", "mix"), seeds=given.seeds, train_limit=given.train_limit,
            resamples=given.resamples, making=own.get("making", {}), training=training,
        )  # fmt: skip
        folder = out / f"{given.split}-{given.sweep}" / name
        begun = time.perf_counter()
        done = (folder / "teaching.json").is_file() and read_teaching(folder).finished is not None
        if not done:
            print(f"{name}: teaching", file=sys.stderr)
            teach(base, folder, lesson=lesson, cache=cache, command=" ".join(sys.argv))
        taught = read_teaching(folder)
        if tuple(taught.seeds) != tuple(range(given.seeds)):
            sys.exit(f"{folder} holds seeds {taught.seeds}: choose another --out")
        rows = sum(n for kind, n in taught.rows.items() if not kind.endswith(" plain"))
        sizes.setdefault(rows, name)
        if given.sweep == "xi" and len(sizes) > 1:
            sys.exit(f"points differ in their rows: {sizes}; lower --rows")
        found.append(SweepPoint(given.sweep, value, numbers(taught)))
        show(name, found[-1], taught, time.perf_counter() - begun)
    place = out / f"{given.split}-{given.sweep}" / "sweep.json"
    place.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1))
    print(place)
    if given.sweep == "recipes" and len(only) > 1:
        differences({name: place.parent / name for name in only}, given.resamples)
    if given.sweep != "recipes" and taught is not None:
        swept = msgspec.structs.replace(taught, sweep=tuple(found))
        print(write_page(place.parent, page(swept)))


def show(name: str, point: SweepPoint, taught: Teaching, seconds: float) -> None:
    """Print one point: a line for each form."""
    for form in FORMS:
        parts = []
        for number in SHOWN:
            estimate = point.numbers[f"{form} {number}"]
            percent = number in PERCENT
            parts.append(f"{number} {cell(estimate, percent)} {reach(estimate, percent)}".strip())
        print(f"{name:12} {form:5} {' | '.join(parts)}", flush=True)
    print(f"{name:12} {sum(taught.timings.values()) / 2:.0f} s, now {seconds:.0f}", flush=True)


def differences(folders: dict[str, Path], resamples: int) -> None:
    """Print what each recipe's last stage gains on the first recipe's, with corrected p."""
    _, changes = beside(dict(folders), resamples)
    for one in changes:
        found = one.difference
        if found.name in COMPARED and found.value is not None:
            percent = found.name in PERCENT
            p = "-" if one.p_holm is None else f"{one.p_holm:.3f}"
            print(
                f"{one.method} - {one.against} {one.form:5} {found.name:18} "
                f"{cell(found, percent)} [{reach(found, percent)}] p {p}"
            )


if __name__ == "__main__":
    main()
