"""How much doubt does the offline reader see, and does that depend on the value it stands beside?

    python benchmarks/readers/doubt.py

Two questions about short answers: of what share that voice doubt does ``rules`` read doubt (hedged
or withheld), and of what share that assert does it read an assertion?

* real answers that were set aside, by source (``tools/readers/labels.py``)
* answers of 2025's assistants in words of a level that was asked for, on the half of the questions
  that decisiveness was not learned from
* made answers (``tools/readers/cue_texts.py``): every cue with every kind of value. The difference
  between kinds says how far kinds of fact can be compared.

Needs ``SAYSO_TEST_DATA`` for the first two. One CPU minute.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools" / "readers"))

from cue_texts import PLACES, VALUES, made_texts
from labels import Row, assistant_rows, real_rows

from sayso.judges.rules.judge import judge_rules

ASSERTED = ("committed", "omitted")


def seen(rows: Iterable[tuple[str, str, Sequence[str], str]]) -> str:
    """Return a line: doubt seen and assertions seen of (stance, question, golds, text)."""
    counts: dict[tuple[bool, bool], int] = defaultdict(int)
    for stance, question, golds, text in rows:
        read = judge_rules(question, list(golds) or ["?"], text).stance
        counts[stance in ASSERTED, read in ASSERTED] += 1
    shares = []
    for asserted, name in ((False, "doubt"), (True, "assertion")):
        total = counts[asserted, True] + counts[asserted, False]
        share = counts[asserted, asserted] / total if total else float("nan")
        shares.append(f"{name} seen {share:.3f} of {total:5,}")
    return "   ".join(shares)


def labeled(rows: Iterable[Row]) -> list[tuple[str, str, Sequence[str], str]]:
    """Return the short answers whose stance is labeled."""
    return [
        (label.stance, label.question, label.golds, row.text)
        for row in rows
        for label in row.labels[:1]
        if row.form == "short" and label.stance
    ]


def main() -> None:
    real = [row for row in real_rows() if row.half == "aside"]
    for source in sorted({row.source for row in real if row.form == "short"}):
        print(f"{source:24} {seen(labeled(row for row in real if row.source == source))}")
    chat = labeled(row for row in real if row.source != "smollm2")
    print(f"{'chat models, all':24} {seen(chat)}")
    print(f"{'assistants of 2025':24} {seen(labeled(assistant_rows('aside')))}")
    made = list(made_texts(seed=99))
    for name, groups in (("kind", VALUES), ("place", (*PLACES, "predicate"))):
        for group in groups:
            some = [m for m in made if getattr(m, name) == group]
            rows = [(m.stance, m.question, (m.gold,), m.text) for m in some]
            print(f"made, {name} {group:12}  {seen(rows)}")


if __name__ == "__main__":
    main()
