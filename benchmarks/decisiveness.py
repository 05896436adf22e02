"""Does offline decisiveness rank wordings as people do?

    python benchmarks/decisiveness.py [--data DATA] [--half dev|aside|both] [--show]

1. The 17 phrases of the survey (123 people; ``tests/golden/hedge_survey.json``) in the carrier
   sentences of ``hedge_carriers.json``: means against the quartiles, as they are, with the
   phrase's word of likelihood left out of every list, and with all of its content words left out.
2. The ordered pairs of ``decisive_pairs.json``, written before the rules.
3. With ``--data`` (else SAYSO_TEST_DATA), the folder that holds ``certainty_scicomm/`` (MIT):
   Spearman with people's certainty of scientific findings, against a count of hedge words. The
   split "train" is dev: rules were written with it in view; of the others only totals are looked
   at. This is not what the rules are for: a finding that "may" hold is rated as a sentence, not as
   an answer.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from sayso import metrics
from sayso.judges.decisiveness import decisiveness, without

GOLDEN = Path(__file__).parent.parent / "tests" / "golden"
_HEDGE = re.compile(
    r"\b(?:may|might|could|possibl[ey]|possibility|likely|perhaps|suggest(?:s|ed|ing)?|probably|"
    r"potential(?:ly)?|appears?|seems?|would|unclear|uncertain|maybe)\b",
    re.I,
)


def _golden(name: str) -> Any:
    return json.loads((GOLDEN / name).read_text(encoding="utf-8"))


def survey(leave_out: str | None, show: bool) -> None:
    """Print how many phrases lie within the quartiles and Spearman with the medians."""
    rows, carriers = _golden("hedge_survey.json"), _golden("hedge_carriers.json")
    inside, means = 0, []
    for phrase, row in rows.items():
        with without(*(carriers[phrase][leave_out] if leave_out else ())):
            found = [decisiveness(text) for text in carriers[phrase]["carriers"]]
        value = 100 * mean(x for x in found if x is not None)
        fits = row["q25"] - 1e-7 <= value <= row["q75"] + 1e-7
        inside += fits
        means.append(value)
        if show or (leave_out is None and not fits):
            print(f"    {phrase:20} {value:5.1f}  [{row['q25']}, {row['median']}, {row['q75']}]")
    rank = metrics.spearman(means, [row["median"] for row in rows.values()])
    name = {None: "as they are", "head": "head left out", "words": "all words left out"}[leave_out]
    print(f"  {name:20} {inside}/{len(rows)} within the quartiles, Spearman {rank:.3f}")


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


def findings(folder: Path, half: str) -> None:
    """Print Spearman with people's certainty, and that of counting hedge words."""
    path = folder / "certainty_scicomm" / "sentence-level-certainty.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    if half != "both":
        rows = [r for r in rows if (r["split"] == "train") == (half == "dev")]
    scores = [decisiveness(r["finding"]) for r in rows]
    people = [r["sentence-level-certainty"] for r in rows]
    ours = [np.nan if s is None else s for s in scores]
    count = [-len(_HEDGE.findall(r["finding"])) for r in rows]
    missing = sum(s is None for s in scores)
    for name, values in (("decisiveness", ours), ("hedges counted", count)):
        found = metrics.bootstrap(metrics.spearman, values, people, limits=None)
        print(f"  {name:15} Spearman {found.value:.3f} [{found.low:.3f}, {found.high:.3f}]")
    print(f"  {len(rows)} findings ({half}), {missing} without a score")


def main() -> None:
    """Print the three studies."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("SAYSO_TEST_DATA"))
    parser.add_argument("--half", choices=("dev", "aside", "both"), default="both")
    parser.add_argument("--show", action="store_true", help="print every phrase")
    arguments = parser.parse_args()
    print("survey")
    for leave_out in (None, "head", "words"):
        survey(leave_out, arguments.show)
    print("ordered pairs")
    pairs()
    if arguments.data:
        print("findings")
        findings(Path(arguments.data), arguments.half)


if __name__ == "__main__":
    main()
