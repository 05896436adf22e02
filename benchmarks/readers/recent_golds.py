"""How often does the offline judge accept wrong answers on recent events? Dates and sentences.

    SAYSO_TEST_DATA=<folder> python benchmarks/readers/recent_golds.py [--show]

2,796 free answers of 23 assistants of 2026 (apoorvumang/knowledge-cutoff, CC BY 4.0) with the
verdicts of a strong judge that knew the truth; what it calls abstained counts as wrong. *Date*
golds: the first date with a year in the expected answer, compared alone. *Sentence* golds: an
expected answer that names something and then says more of it ("A, who replaced B"), compared as it
is. Questions are split by a hash; errors may be read in the *open* half alone (`--show` prints
them). Two numbers a line: the matcher alone, and the judge, which first asks whether the answer
gives a value at all.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import re
from collections import Counter
from pathlib import Path

from sayso.judges.english.dates import find_dates
from sayso.judges.rules.judge import judge_rules
from sayso.judges.rules.matching import match
from sayso.records import Gold

SEED = "sayso-recent-1"
#: expected answers that open so tell what happened and name nothing
_TELLS = re.compile(r"(?:he|she|it|his|her|its|no|yes)\b", re.IGNORECASE)


def half_of(question: str) -> str:
    """Return "open" or "aside", by a hash of the question."""
    odd = hashlib.sha256(f"{SEED}|{question}".encode()).digest()[0] % 2
    return "aside" if odd else "open"


def date_gold(expected: str) -> str | None:
    """Return the first date with a year in an expected answer."""
    return next((expected[d.start : d.end] for d in find_dates(expected) if d.year), None)


def sentence_gold(expected: str) -> str | None:
    """Return an expected answer that names something and says more of it."""
    return None if _TELLS.match(expected) or "," not in expected else expected


def main() -> None:
    """Print the counts of both halves."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--show", action="store_true", help="print the errors of the open half")
    show = parser.parse_args().show
    path = Path(os.environ["SAYSO_TEST_DATA"]) / "real" / "assistants_2026.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    for title, gold_of in (("date", date_gold), ("sentence", sentence_gold)):
        counts = Counter[tuple[str, ...]]()
        for row in rows:
            gold = gold_of(row["expected"])
            if gold is None:
                continue
            right, half = row["judge"] == "correct", half_of(row["question"])
            label = "right" if right else "wrong"
            found = match(row["question"], [Gold(gold)], row["answer"])
            verdict = judge_rules(row["question"], [gold], row["answer"])
            contents = {"match": found.content, "judge": verdict.content}
            for reader, content in contents.items():
                counts[reader, half, label, "all"] += 1
                counts[reader, half, label, "accepted"] += content == "correct"
            if show and half == "open" and right != (found.content == "correct"):
                at = "" if found.start is None else row["answer"][found.start : found.end]
                print(f"{title} {label} {verdict.content} {found.why} [{at}] gold: {gold}")
                print(f"    {row['model']}: {row['question']}\n    {row['answer']!r}")
        for reader in ("match", "judge"):
            for halves in (("open",), ("aside",), ("open", "aside")):
                w, a, r, k = (
                    sum(counts[reader, half, label, what] for half in halves)
                    for label in ("wrong", "right")
                    for what in ("all", "accepted")
                )
                print(
                    f"{title:8} {reader} {'+'.join(halves):10} wrong accepted {a} of {w}"
                    f" ({a / max(1, w):.1%}), right lost {r - k} of {r} ({(r - k) / max(1, r):.1%})"
                )


if __name__ == "__main__":
    main()
