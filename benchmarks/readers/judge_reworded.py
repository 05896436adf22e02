"""Does the offline judge read facts of the invented world in wordings the world itself never used?

    python benchmarks/readers/judge_reworded.py [--questions FILE] [--n 1000] [--seed 1] [--show 0]

The texts are made from the truth (`data/reworded.py`), so no person's labels are needed. Prints the
share read right of UNCLE's labels, of stance and of content, and the confusion of stances. The
number is fair only as long as no rule is written from the disagreements that `--show` prints; from
`rules@2` on that is no longer so for `reworded.json` and `reworded_aside.json`; nobody who writes
rules may read `reworded_fresh.json`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import sayso
from data import reworded
from data.reworded import Sample, Truth, paragraphs, short_answers
from sayso.judges.rules.judge import judge_rules, judge_rules_long
from sayso.records import LABELS, Verdict

QUESTIONS = Path(sayso.__file__).parent / "builtin" / "data" / "questions.jsonl"
FIELDS = ("stance", "content", "label")


def main() -> None:
    """Print both forms' tables."""
    options = argparse.ArgumentParser(description="Measure the rules judge on reworded texts.")
    options.add_argument("--questions", type=Path, default=QUESTIONS)
    options.add_argument("--n", type=int, default=1000, help="texts of each form")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--wordings", type=Path, default=reworded.WORDINGS)
    options.add_argument("--show", type=int, default=0, help="disagreements to print of each form")
    chosen = options.parse_args()
    reworded.WORDINGS = chosen.wordings
    lines = chosen.questions.read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line) for line in lines if line.strip()]
    measure("paragraphs", paragraphs(questions, chosen.seed, chosen.n), _long, chosen.show)
    measure("short answers", short_answers(questions, chosen.seed, chosen.n), _short, chosen.show)


def _long(sample: Sample) -> list[Verdict]:
    return judge_rules_long([(t.question, t.golds) for t in sample.truths], sample.text)


def _short(sample: Sample) -> list[Verdict]:
    (truth,) = sample.truths
    return [judge_rules(truth.question, truth.golds, sample.text)]


def measure(
    title: str,
    samples: Sequence[Sample],
    judge: Callable[[Sample], list[Verdict]],
    show: int = 0,
) -> None:
    """Judge the samples and print accuracy, confusion, and up to `show` disagreements."""
    rows: list[tuple[Sample, Truth, dict[str, str], dict[str, str]]] = []
    for sample in samples:
        for truth, verdict in zip(sample.truths, judge(sample), strict=True):
            made = Verdict("", "", "truth", stance=truth.stance, content=truth.content)
            rows.append((sample, truth, read(made), read(verdict)))
    print(f"\n== {title}: {len(samples)} texts, {len(rows)} aspects")
    for field in FIELDS:
        print(f"{field:8} read right {_share([(t[field], v[field]) for _, _, t, v in rows])}")
    stated = [(t["content"], v["content"]) for _, _, t, v in rows if t["stance"] == "committed"]
    print(f"content  of committed statements only {_share(stated)}")
    for domain in sorted({s.domain for s in samples}):
        inside = [(t["label"], v["label"]) for s, _, t, v in rows if s.domain == domain]
        print(f"label    {domain} {_share(inside)}")
    for field in FIELDS:
        confusion(field, Counter((t[field], v[field]) for _, _, t, v in rows))
    for sample, truth, true, found in [r for r in rows if r[2] != r[3]][:show]:
        print(f"\n{truth.question} {list(truth.golds)}\n  true {true}\n  read {found}")
        print(f"  {sample.text}")


def read(verdict: Verdict) -> dict[str, str]:
    """The three readings of a verdict; an unread one counts as its own class, never as right."""
    if verdict.stance is None or verdict.value is None:
        return dict.fromkeys(FIELDS, "unread")
    label = LABELS[verdict.value]
    return {"stance": verdict.stance, "content": str(verdict.content), "label": label}


def confusion(field: str, counts: Counter[tuple[str, str]]) -> None:
    """Print true classes as rows and read classes as columns, with recall and precision."""
    trues = sorted({t for t, _ in counts})
    reads = sorted({t for pair in counts for t in pair})
    print(f"\n{field}: rows true, columns read")
    print(" " * 12 + "".join(f"{r[:10]:>11}" for r in reads) + f"{'recall':>11}{'precision':>11}")
    for true in trues:
        row = [counts[true, r] for r in reads]
        column = sum(counts[t, true] for t in trues)
        cells: list[Any] = [*row, _ratio(counts[true, true], sum(row))]
        cells.append(_ratio(counts[true, true], column))
        print(f"{true[:11]:12}" + "".join(f"{c:>11}" for c in cells))


def _share(pairs: Sequence[tuple[str, str]]) -> str:
    right = sum(a == b for a, b in pairs)
    return f"{_ratio(right, len(pairs))} ({right}/{len(pairs)})"


def _ratio(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "undefined"


if __name__ == "__main__":
    main()
