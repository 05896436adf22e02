"""How well does a small model judge, with the full prompts and with the brief ones?

    SAYSO_TEST_DATA=<folder> python benchmarks/judges/small_judge.py MODEL [--form long]
        [--half train] [--each 8] [--prompts brief,full] [--first 30]

Rows are labeled texts of ``benchmarks/data/stance_real.jsonl`` with golds, on whose stance and
content two blind readers agree: short answers of QA-Eval's chat models and of SmolLM2, paragraphs
of SmolLM2. At most ``--each`` of one source, stance and content are taken, in the order of a hash:
so rare kinds are among them, and shares are not those of a run. The wording of the brief prompts
was chosen on the half ``train``; figures are of ``aside``, which no reader was trained on.

A verdict agrees if it is the label's: correct, incorrect, uncertain or omitted, as UNCLE counts.
``left`` are the verdicts that the rules of ``rules+MODEL`` leave to the model.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools" / "readers"))

from labels import Label, Row, real_rows

from sayso.checks.judge import make_item
from sayso.judges.cascade import left_to_model
from sayso.judges.judge import Item
from sayso.judges.model.judge import LlmJudge
from sayso.judges.reliability import HumanLabel, SetResult, model_or_rules, result
from sayso.judges.rules.judge import RulesJudge
from sayso.records import Verdict
from sayso.runs.judge import JudgeOptions, open_judge

SOURCES = ("evouna", "smollm2")


def chosen(form: str, half: str, each: int) -> list[tuple[Row, Label]]:
    """Return the rows with their label, rare kinds and frequent ones alike."""
    taken: Counter[tuple[str, str | None, str | None]] = Counter()
    found = []
    for row in sorted(real_rows(), key=lambda r: hashlib.sha256(r.id.encode()).hexdigest()):
        if (row.form, row.half) != (form, half) or row.source not in SOURCES:
            continue
        for label in row.labels:
            kind = row.source, label.stance, label.content
            if label.stance and label.content and label.golds and taken[kind] < each:
                taken[kind] += 1
                found.append((row, label))
    return found


def line(name: str, got: SetResult) -> None:
    """Print agreement, the stance apart, and what could not be read."""
    agreed, stance = got.agreed, got.stance_agreed
    said = f"{name:14} agreed {agreed.count:4} of {agreed.of:4}"
    if agreed.low is not None and agreed.high is not None:
        said += f" [{agreed.low:.2f}, {agreed.high:.2f}]"
    print(f"{said}  stance {stance.count:4} of {stance.of:4}  unread {got.unread:3}", flush=True)
    if got.errors is not None:
        parts = ((n, getattr(got.errors, n)) for n in ("found", "invented", "right"))
        print(" " * 15 + "  ".join(f"{n} {s.count} of {s.of}" for n, s in parts), flush=True)


def judged(model: str, prompts: str, items: list[Item], labels: list[HumanLabel]) -> list[Verdict]:
    """Grade with one set of prompts; print what it took."""
    began = time.monotonic()
    seat = open_judge(model, JudgeOptions(judge_prompt=prompts, judge_anyway=True))  # type: ignore[arg-type]
    assert isinstance(seat.judge, LlmJudge)
    verdicts = seat.judge.grade(items)
    counts, seconds = seat.judge.counts, time.monotonic() - began
    seat.close()
    line(prompts, result(prompts, verdicts, labels, ["all"] * len(labels)))
    per = max(1, counts.parts)
    print(
        f"{'':15}calls {counts.calls / per:.2f}, prompt tokens {counts.prompt_tokens / per:.0f}, "
        f"reply tokens {counts.completion_tokens / per:.1f} a verdict; {seconds / per:.1f} s; "
        f"asked again {counts.retried}",
        flush=True,
    )
    return verdicts


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--form", default="short", choices=("short", "long"))
    parser.add_argument("--half", default="aside", choices=("aside", "train"))
    parser.add_argument("--each", type=int, default=8)
    parser.add_argument("--prompts", default="brief")
    parser.add_argument("--first", type=int, default=0, help="only so many rows, spread evenly")
    parser.add_argument("--show", action="store_true", help="print every verdict")
    options = parser.parse_args()
    rows = chosen(options.form, options.half, options.each)
    if options.first:
        rows = [rows[n * len(rows) // options.first] for n in range(options.first)]
    items = [
        make_item([(label.question, label.golds)], row.text, row.form, row.entity)
        for row, label in rows
    ]
    labels = [HumanLabel(label.stance, label.content) for _, label in rows]  # type: ignore[arg-type]
    print(f"{len(rows)} verdicts, {options.form}, half {options.half}", flush=True)
    rules = RulesJudge(1).grade(items)
    asked = left_to_model(items, rules)
    line("rules", result("rules", rules, labels, ["all"] * len(labels)))
    for prompts in options.prompts.split(","):
        verdicts = judged(options.model, prompts, items, labels)
        left = model_or_rules(verdicts, rules, labels, asked)
        print(
            f"{'':15}left {left.asked} of {left.aspects}: model {left.model.count}, rules "
            f"{left.rules.count} of {left.model.of} (only the model {left.gained}, only the rules "
            f"{left.lost})",
            flush=True,
        )
        if options.show:
            for (row, label), verdict in zip(rows, verdicts, strict=True):
                raw = " / ".join((verdict.raw or "").split())
                print(f"  {row.id} {label.stance} {label.content}: {verdict.value} {raw[:80]}")


if __name__ == "__main__":
    main()
