"""Does offline decisiveness rank wordings as people do?

    python benchmarks/readers/decisiveness.py [--data DATA] [--half train|aside|both] [--show]

1. The 17 phrases of the survey (123 people; ``tests/golden/hedge_survey.json``) in the carrier
   sentences of ``hedge_carriers.json``: means against the quartiles. The medians of the phrases are
   trained on, in other sentences.
2. The ordered pairs of ``decisive_pairs.json``, which are trained on, and ``parts``, which are not.
3. With ``--data`` (else SAYSO_TEST_DATA): Spearman and absolute error against people's ratings of
   866 answers (``linguistic_uncertainty/``); a text without a score counts as 0.
4. Spearman with people's certainty of scientific findings (``certainty_scicomm/``, MIT), against a
   count of hedge words. The split "train" is trained on. This is not what the reader is for: a
   finding that "may" hold is rated as a sentence, not as an answer.
5. Whether a score is missing where two blind readings of a real answer say that it offers no value
   (``stance_real.jsonl``).
6. Texts per CPU second.

The half "aside" is read when the reader is final: nothing is chosen by it.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import importlib.util
import json
import os
import re
import sys
from collections import Counter
from pathlib import Path
from statistics import mean
from time import process_time
from typing import Any

import numpy as np

from sayso import metrics
from sayso.judges.decisiveness import analyze, decisiveness

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
LABELS = ROOT / "tools" / "readers" / "labels.py"
_HEDGE = re.compile(
    r"\b(?:may|might|could|possibl[ey]|possibility|likely|perhaps|suggest(?:s|ed|ing)?|probably|"
    r"potential(?:ly)?|appears?|seems?|would|unclear|uncertain|maybe)\b",
    re.I,
)


def _golden(name: str) -> Any:
    return json.loads((GOLDEN / name).read_text(encoding="utf-8"))


def survey(show: bool) -> None:
    """Print how many phrases lie within the quartiles and Spearman with the medians."""
    rows, carriers = _golden("hedge_survey.json"), _golden("hedge_carriers.json")
    inside, means = 0, []
    for phrase, row in rows.items():
        scores = [decisiveness(text) for text in carriers[phrase]["carriers"]]
        value = 100 * mean(x for x in scores if x is not None)
        fits = row["q25"] <= value <= row["q75"]
        inside += fits
        means.append(value)
        if show or not fits:
            print(f"    {phrase:20} {value:5.1f}  [{row['q25']}, {row['median']}, {row['q75']}]")
    rank = metrics.spearman(means, [row["median"] for row in rows.values()])
    print(f"  {inside}/{len(rows)} within the quartiles, Spearman {rank:.3f}")


def pairs() -> None:
    """Print how many ordered pairs come out right, by kind."""
    data = _golden("decisive_pairs.json")
    right: dict[str, list[bool]] = {}
    for kind, surer, less in data["pairs"]:
        first, second = decisiveness(surer), decisiveness(less)
        good = first is not None and second is not None and first > second + 0.01
        right.setdefault(kind, []).append(good)
    for answer, surer, less in data["parts"]:
        first, second = decisiveness(answer, surer), decisiveness(answer, less)
        good = first is not None and second is not None and first > second + 0.01
        right.setdefault("parts", []).append(good)
    for kind, found in right.items():
        print(f"  {kind:10} {sum(found)}/{len(found)}")
    total = [x for found in right.values() for x in found]
    print(f"  {'all':10} {sum(total)}/{len(total)} = {np.mean(total):.3f}")


def ratings(data: Path, half: str) -> None:
    """Print how the scores agree with people's ratings, and how many texts a CPU second reads."""
    with (data / "linguistic_uncertainty/benchmark.csv").open(encoding="utf-8-sig") as lines:
        rows = [r for r in csv.DictReader(lines) if half in ("both", _half(r["question"]))]
    people = np.array([float(r["annotation_mean"]) / 100 for r in rows])
    analyze.cache_clear()
    decisiveness("It was Lyon.")
    start = process_time()
    scores = [decisiveness(r["uncertainty_expression"]) for r in rows]
    rate = len(rows) / (process_time() - start)
    ours = np.array([s or 0.0 for s in scores])
    groups = [r["question"] for r in rows]
    rank = metrics.bootstrap(metrics.spearman, ours, people, clusters=groups, limits=None)
    print(f"  {len(rows)} answers ({half}), {sum(s is None for s in scores)} without a score")
    print(f"  Spearman {rank.value:.3f} [{rank.low:.3f}, {rank.high:.3f}]")
    print(
        f"  mean absolute error {np.abs(ours - people).mean():.3f}; {rate:,.0f} texts a CPU second"
    )


def _half(question: str) -> str:
    return "aside" if int(hashlib.sha256(question.encode()).hexdigest(), 16) % 2 else "train"


def findings(folder: Path, half: str) -> None:
    """Print Spearman with people's certainty, and that of counting hedge words."""
    path = folder / "certainty_scicomm" / "sentence-level-certainty.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    if half != "both":
        rows = [r for r in rows if (r["split"] == "train") == (half == "train")]
    scores = [decisiveness(r["finding"]) for r in rows]
    people = [r["sentence-level-certainty"] for r in rows]
    ours = [np.nan if s is None else s for s in scores]
    count = [-len(_HEDGE.findall(r["finding"])) for r in rows]
    missing = sum(s is None for s in scores)
    for name, values in (("decisiveness", ours), ("hedges counted", count)):
        found = metrics.bootstrap(metrics.spearman, values, people, limits=None)
        print(f"  {name:15} Spearman {found.value:.3f} [{found.low:.3f}, {found.high:.3f}]")
    print(f"  {len(rows)} findings ({half}), {missing} without a score")


def nothing(data: Path, half: str) -> None:
    """Print how often a missing score and an answer without a value go together."""
    spec = importlib.util.spec_from_file_location("labels", LABELS)
    assert spec is not None
    assert spec.loader is not None
    labels = importlib.util.module_from_spec(spec)
    sys.modules["labels"] = labels
    sys.path.insert(0, str(LABELS.parent))
    spec.loader.exec_module(labels)
    counts: Counter[tuple[str, bool, bool]] = Counter()
    halves = ("train", "aside") if half == "both" else (half,)
    for row in labels.real_rows(data):
        stance = row.labels[0].stance
        mine = "aside" if row.half == "folds" else row.half  # only stance learns from "folds"
        if row.form == "short" and stance is not None and mine in halves:
            offers = stance in ("committed", "hedged")
            counts[row.source, offers, decisiveness(row.text) is not None] += 1
    for source in [*sorted({key[0] for key in counts}), "all"]:
        n = Counter[tuple[bool, bool]]()
        for (name, offers, read), k in counts.items():
            n[offers, read] += k if source in (name, "all") else 0
        scored, silent = n[True, True], n[False, False]
        print(
            f"  {source:10} with a value: {scored}/{scored + n[True, False]} scored; "
            f"without: {silent}/{silent + n[False, True]} not scored"
        )


def main() -> None:
    """Print the studies."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("SAYSO_TEST_DATA"))
    parser.add_argument("--half", choices=("train", "aside", "both"), default="train")
    parser.add_argument("--show", action="store_true", help="print every phrase")
    arguments = parser.parse_args()
    print("survey")
    survey(arguments.show)
    print("ordered pairs")
    pairs()
    if arguments.data:
        data = Path(arguments.data)
        for name, study in (("ratings", ratings), ("findings", findings), ("nothing", nothing)):
            print(name)
            study(data, arguments.half)


if __name__ == "__main__":
    main()
