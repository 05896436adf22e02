"""Do contradictions among samples tell right answers from wrong ones? SAC3 and UQ-NLG.

    python benchmarks/readers/contradiction.py [DATA] [--half dev|aside|both|HALF] [--show]

First, two labelled sets that need no ``DATA``. ``data/contradiction_draws.jsonl``: pairs of draws
of SmolLM2-135M-Instruct at T=1 (``sampling`` says how), labelled by a language model that read both
before the rules were written: contradict, not, or missing (one of them gives no answer to the
question); halves by a hash of the question. The rules were changed once more with both halves in
view, so a third part, "fresh", was drawn and labelled after that (80 of its 110 pairs are missing);
it was read again after each of five later changes, none of which it chose. Three more parts pair
answers of SmolLM2 and Qwen2.5-Coder (0.5B, 1.5B) at T=0 and T=1 to one question, kept where two
blind readings agree, half of the questions aside: "models-dev" (trained on), "models-aside" (totals
read three times), and "models-fresh" (the 1.5B alone, read after the code). ``data/names.jsonl``:
two names contradict unless they are of one thing. ``--show`` prints what is read otherwise.

Then, how many of 1,500 answers of chat models that people called right (EVOUNA, in ``DATA``) are
read as answers, and how many as answers to another question. The reader was fitted on answers to
other questions than these.

``DATA`` (else SAYSO_TEST_DATA) holds ``sac3/`` and ``uqnlg/`` as published (Apache-2.0, MIT).
Consistency is 1 - the mean of ``sayso.contradicts`` over an answer's samples; samples that say
nothing comparable drop out, an answer without any comparable sample has none and is ranked last
(``all``) or left out (``answered``). Against it: the share of samples that are the same text after
normalization (exact match) and the mean overlap of words (F1). AUROC for right against wrong
answers, intervals and paired differences from 2,000 resamples of questions. Rules were written on
a seeded half (dev).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sayso import answers, metrics
from sayso.judges.contradiction import contradicts, read_short_answer
from sayso.judges.rules.judge import judge_rules


class Row(NamedTuple):
    """One answer with its samples and whether it is right."""

    question: str
    answer: str
    samples: list[str]
    right: bool


def sac3(folder: Path) -> list[Row]:
    """Every answer with the ten answers to the same question (``self_evaluations``)."""
    rows = []
    for name in ("hotpotQA", "nq_open"):
        path = folder / "sac3" / f"{name}_250_eval_labeled-SC.jsonl"
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            answer = row["generated_answer"]
            text = answer[0] if isinstance(answer, list) else answer
            rows.append(
                Row(row["question"], text, row["self_evaluations"], str(row["label"]) == "True")
            )
    return rows


def uqnlg(folder: Path) -> list[Row]:
    """The first of twenty samples as the answer, judged by the rules judge; 19 samples."""
    rows = []
    path = folder / "uqnlg" / "triviaqa_20_samples.jsonl"
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        gold = row["answer"]
        golds = gold if isinstance(gold, list) else [gold]
        answer = row["samples"][0]
        verdict = judge_rules(row["question"], golds, answer)
        if verdict.value is not None:
            rows.append(
                Row(row["question"], answer, row["samples"][1:], verdict.value == "correct")
            )
    return rows


def halves(rows: list[Row], half: str) -> list[Row]:
    """Split by a seeded shuffle: even places are dev, odd ones were read once."""
    order = list(range(len(rows)))
    random.Random(5).shuffle(order)
    kept = order if half == "both" else order[0::2] if half == "dev" else order[1::2]
    return [rows[i] for i in kept]


def mean_of(rows: list[Row], agree: Callable[[Row, str], float | None]) -> list[float]:
    """The mean agreement of each row's samples; NaN where none is comparable."""
    found = []
    for row in rows:
        values = [v for v in (agree(row, s) for s in row.samples) if v is not None]
        found.append(float(np.mean(values)) if values else float("nan"))
    return found


def by_contradiction(row: Row, sample: str) -> float | None:
    """1 where the sample does not contradict the answer."""
    verdict = contradicts(row.question, row.answer, sample)
    return None if verdict is None else 1.0 - verdict


def table(name: str, rows: list[Row]) -> None:
    """Print AUROCs with intervals and the paired differences."""
    scores = {
        "contradiction": np.array(mean_of(rows, by_contradiction)),
        "exact match": np.array(mean_of(rows, lambda r, s: float(answers.squad_em([r.answer], s)))),
        "word overlap": np.array(mean_of(rows, lambda r, s: answers.squad_f1([r.answer], s))),
    }
    wrong = np.array([not r.right for r in rows], dtype=float)
    answered = ~np.isnan(scores["contradiction"])
    for title, use in (("all", np.ones(len(rows), dtype=bool)), ("answered", answered)):
        print(f"\n{name}, {title}: {use.sum()} answers, {int((1 - wrong[use]).sum())} right")
        risk = {k: 1 - np.nan_to_num(v[use], nan=-0.05) for k, v in scores.items()}
        for key, values in risk.items():
            found = metrics.bootstrap(metrics.auroc, values, wrong[use])
            print(f"  {key:14} AUROC {found.value:.3f} [{found.low:.3f}, {found.high:.3f}]")
        for gap in metrics.paired_differences(risk, wrong[use], metrics.auroc):
            if gap.first == "contradiction":
                d = gap.difference
                print(f"  - {gap.second:12} {d.value:+.3f} [{d.low:+.3f}, {d.high:+.3f}]")


HERE = Path(__file__).parents[1] / "data"
HALVES = ("dev", "aside", "both", "fresh", "models-dev", "models-aside", "models-fresh")
LETTERS = {True: "contradict", False: "not", None: "missing"}
FRAMES = (("Who or what is meant?", "{}"), ("What is its name?", "It is {}."))


def draws(half: str, show: bool) -> None:
    """Print the agreement with the labels of draws, and each kind of disagreement."""
    rows = [json.loads(line) for line in (HERE / "contradiction_draws.jsonl").open("rb")]
    rows = [row for row in rows if row["half"] in (("dev", "aside") if half == "both" else (half,))]
    pairs = Counter[tuple[str, str]]()
    for row in rows:
        read = LETTERS[contradicts(row["question"], row["a"], row["b"])]
        pairs[row["label"], read] += 1
        if show and read != row["label"]:
            print(f"  {row['label']} read as {read}: {row}")
    right = sum(n for (label, read), n in pairs.items() if label == read)
    print(f"draws ({half}): {right}/{len(rows)} = {right / len(rows):.3f} as labelled")
    valued = sum(n for (label, _), n in pairs.items() if label != "missing")
    dropped = sum(n for (label, read), n in pairs.items() if label != "missing" == read)
    print(f"  dropped though comparable: {dropped}/{valued} = {dropped / max(1, valued):.3f}")
    for (label, read), n in pairs.most_common():
        print(f"  {n:4} {label:10} read as {read}")


def names(show: bool) -> None:
    """Print how many pairs of names are told apart, or kept together, alone and in a sentence."""
    rows = [json.loads(line) for line in (HERE / "names.jsonl").open("rb")]
    for question, frame in FRAMES:
        wrong = [
            row
            for row in rows
            if (contradicts(question, frame.format(row["a"]), row["b"]) is True) is row["same"]
        ]
        right = len(rows) - len(wrong)
        print(f"names as {frame!r}: {right}/{len(rows)} = {right / len(rows):.3f}")
        for row in wrong if show else ():
            print(f"  {row}")


def answered(folder: Path) -> None:
    """Print the shares of right answers, and of answers to other questions, read as answers."""
    pairs = []
    for name in ("NQ", "TQ"):
        for line in (folder / "evouna" / f"{name}.jsonl").open("rb"):
            row = json.loads(line)
            # tools/readers/contradiction.py fits on answers to the other questions
            if not row.get("improper") and not (
                hashlib.sha256(row["question"].encode()).digest()[0] % 2
            ):
                pairs.extend(
                    (row["question"], row[f"answer_{model}"])
                    for model in ("fid", "gpt35", "chatgpt", "gpt4", "newbing")
                    if row.get(f"judge_{model}") is True
                )
    random.Random(3).shuffle(pairs)
    pairs = pairs[:1501]
    own = [read_short_answer(*pair) is not None for pair in pairs[:1500]]
    others = [
        read_short_answer(question, answer) is not None
        for (question, _), (_, answer) in pairwise(pairs)
        if len(answer) > 60
    ]
    print(f"right answers read: {np.mean(own):.3f} of {len(own)}; ", end="")
    print(f"answers to another question read: {np.mean(others):.3f} of {len(others)}")


def main() -> None:
    """Print all data sets."""
    parser = argparse.ArgumentParser(description=__doc__)
    given = os.environ.get("SAYSO_TEST_DATA")
    parser.add_argument("data", type=Path, nargs="?" if given else None, default=given)
    parser.add_argument("--half", choices=HALVES, default="both")
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    draws(arguments.half, arguments.show)
    names(arguments.show)
    if arguments.half not in ("dev", "aside", "both"):
        return
    data = Path(arguments.data)
    answered(data)
    for name, rows in (("sac3", sac3(data)), ("uqnlg", uqnlg(data))):
        table(f"{name} ({arguments.half})", halves(rows, arguments.half))


if __name__ == "__main__":
    main()
