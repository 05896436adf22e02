"""Does the rules judge read stance as a guide says? 717 aspects it was made with, 346 it was not.

    python benchmarks/readers/stance.py [--half fresh|aside|open|all] [--show]

The texts were written for this purpose by three writers who did not know the rules, and labelled by
two readers each, blind, from ``data/STANCE_GUIDE.md``. All of them are language models following
one guide, so their agreement says that the guide decides the cases, not that people would agree as
often. Rules were written against the first two writers' sets (``data/stance.jsonl``: ``open``, and
``aside`` from ``rules@2`` on). Nobody who writes rules may read the third (``fresh``,
``data/stance_fresh.jsonl``): it says what the rules do on unseen texts, and ``--show`` leaves it
out. An aspect's label is what most of the three said; where they differ it is disputed, counted,
and kept.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from sayso.judges.rules.judge import judge_rules, judge_rules_long
from sayso.metrics.agreement import kappa
from sayso.records import Verdict

STANCES = ("committed", "hedged", "abstained", "refused_by_policy", "asked_back", "omitted")


class Case(NamedTuple):
    """One aspect: what people say and what the rules say."""

    text: str
    question: str
    half: str
    people: tuple[str, str]
    readers: tuple[str, str]
    disputed: bool
    verdict: Verdict


def cases(path: Path) -> list[Case]:
    """Judge every text and pair the verdicts with the labels."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        aspects = row["aspects"]
        if row["form"] == "short":
            (only,) = aspects
            verdicts = [judge_rules(only["question"], only["golds"], row["text"])]
        else:
            parts = [(a["question"], a["golds"]) for a in aspects]
            verdicts = judge_rules_long(parts, row["text"])
        for aspect, verdict in zip(aspects, verdicts, strict=True):
            labels = [tuple(x) for x in (aspect["writer"], *aspect["readers"])]
            found.append(
                Case(
                    row["text"],
                    aspect["question"],
                    row["half"],
                    (aspect["stance"], aspect["content"]),
                    (aspect["readers"][0][0], aspect["readers"][1][0]),
                    len(set(labels)) > 1,
                    verdict,
                )
            )
    return found


def report(rows: list[Case], title: str) -> None:
    """Print kappa, and precision and recall of each stance."""
    people = [r.people[0] for r in rows]
    rules = [r.verdict.stance or f"problem {r.verdict.problem}" for r in rows]
    right = sum(p == q for p, q in zip(people, rules, strict=True))
    between = kappa([r.readers[0] for r in rows], [r.readers[1] for r in rows])
    print(f"\n{title}: {len(rows)} aspects, {sum(r.disputed for r in rows)} disputed")
    print(f"  kappa of the two readers      {between:.3f}")
    print(
        f"  kappa of rules and people     {kappa(people, rules):.3f}, agree {right / len(rows):.3f}"
    )
    content = [r for r in rows if r.people[0] in ("committed", "hedged") and r.people[1] != "none"]
    same = sum(r.verdict.content == r.people[1] for r in content)
    print(f"  content agrees                {same}/{len(content)} = {same / len(content):.3f}")
    pairs = Counter(zip(people, rules, strict=True))
    for stance in STANCES:
        said, true = rules.count(stance), people.count(stance)
        hit = pairs[stance, stance]
        precision = f"{hit / said:.3f}" if said else "-"
        recall = f"{hit / true:.3f}" if true else "-"
        wrong = {q: n for (p, q), n in pairs.items() if p == stance and q != stance}
        print(
            f"  {stance:18} n={true:3}  precision {precision}  recall {recall}  taken for {wrong}"
        )


def main() -> None:
    """Print the halves that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=("fresh", "open", "aside", "all"), default="all")
    parser.add_argument("--show", action="store_true", help="print every disagreement")
    arguments = parser.parse_args()
    data = Path(__file__).parents[1] / "data"
    found = cases(data / "stance.jsonl")
    if arguments.half in ("fresh", "all"):
        report(cases(data / "stance_fresh.jsonl"), "fresh")
    if arguments.half == "fresh":
        return
    for half in ("open", "aside") if arguments.half == "all" else (arguments.half,):
        report([c for c in found if c.half == half], half)
    if arguments.half == "all":
        report(found, "open and aside")
    if arguments.show:
        for case in found:
            wrong = case.verdict.stance != case.people[0]
            if wrong and arguments.half in (case.half, "all"):
                print(f"\n{case.people[0]} read as {case.verdict.stance}: {case.question}")
                print(f"  {case.text}")


if __name__ == "__main__":
    main()
