"""Count how well the offline readers read texts that were set aside, by kind of text.

    python tools/readers/accuracy.py          # writes judges/data/reader_accuracy.json
    python tools/readers/accuracy.py --check  # writes nothing; exit code 1 if the file differs

The page of a run cites these counts beside its numbers, for the texts nearest to its own: doubt and
declining (``labels``), right and wrong (QA-Eval, people), contradictions (QA-Eval and draws of
SmolLM2), decisiveness (people's ratings) and support of claims (people). Answers written at a
certainty that was asked for are not counted: free answers doubt in other words. Write the file anew
whenever the weights, the lexicon or the labels change; the counts name the weights that they are
of, and a page cites no others. No reader learned from these texts, except where a source says so;
texts of the half "folds" are read by weights that did not learn from their question (:mod:`folds`).
Needs ``SAYSO_TEST_DATA``. About a CPU minute.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec
import numpy as np
from folds import judge as judge_unlearned
from labels import Row, even_half, real_rows

from sayso import metrics
from sayso.judges.contradiction import contradicts
from sayso.judges.decisiveness import decisiveness
from sayso.judges.judge import WITHHELD
from sayso.judges.rules.accuracy import (
    FILE,
    ClaimReadings,
    ContentReadings,
    PairReadings,
    RatingReadings,
    ReaderAccuracy,
    Readings,
    TextSource,
    length_of,
    weights_hash,
)
from sayso.judges.rules.judge import judge_rules, judge_rules_long
from sayso.judges.support import RulesSupport
from sayso.records import Gold, Verdict
from stance import PACKAGE

# behind our own folder: both have a module "stance"
sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks" / "readers"))
import judge_rules as matcher
import verifier

GUIDE = "two language models that followed a guide, blind"
#: every source of :mod:`labels` whose texts are set aside
SOURCES = {
    "refunq": TextSource(
        "UnknownBench (ChatGPT, GPT-4, Claude, PaLM, Llama 2, Mistral, Vicuna)",
        "chat", told=False, labels=GUIDE, answerable=False,
    ),
    "evouna": TextSource("QA-Eval (GPT-3.5, ChatGPT, GPT-4, Bing)", "chat", False, GUIDE),
    "felm": TextSource("FELM (ChatGPT)", "chat", False, GUIDE),
    "factscore": TextSource("FActScore (ChatGPT, InstructGPT, PerplexityAI)", "chat", False, GUIDE),
    "smollm2": TextSource("SmolLM2-135M", "small", False, GUIDE),
    "qwen-0.5b": TextSource("Qwen2.5-Coder-0.5B", "small", True, GUIDE),
    "qwen-1.5b": TextSource("Qwen2.5-Coder-1.5B", "small", True, GUIDE),
    "assistants_2026": TextSource(
        "23 assistants of 2026 on recent events (knowledge-cutoff)", "assistant", False, GUIDE
    ),
    "evouna-right": TextSource("QA-Eval (GPT-3.5, ChatGPT, GPT-4, Bing)", "chat", False, "people"),
    "evouna-pairs": TextSource(
        "answers of two systems to one question of QA-Eval (GPT-3.5, ChatGPT, GPT-4, Bing)",
        "chat", False, "people, who called both right, or only one of them",
    ),
    "small-draws": TextSource(
        "draws of SmolLM2-135M and Qwen2.5-Coder", "small", False,
        "a language model that read both draws",
    ),
    "ratings": TextSource(
        "GPT-4o, Claude Sonnet 4, Gemini 2.5 Pro and Grok-3",
        "assistant", told=True, labels="the mean of people's ratings",
    ),
    "wikibio": TextSource(
        "lives of people by GPT-3, against the article of Wikipedia", "chat", False,
        "people's label of the sentence that makes the claim",
    ),
    "factscore-claims": TextSource(
        "FActScore (ChatGPT, InstructGPT, PerplexityAI), against what people found supported in "
        "the two other systems' texts; the rules were developed on these texts", "chat", False,
        "people",
    ),
}  # fmt: skip
ASSERTED = ("committed", "omitted")


def verdicts_of(row: Row, pairs: Sequence[tuple[str, Sequence[str | Gold]]]) -> list[Verdict]:
    """Return the verdict on a text for each of the (question, golds)."""
    if row.form == "long":
        return judge_rules_long(pairs, row.text)
    judge = judge_unlearned if row.half == "folds" else judge_rules
    return [judge(question, golds, row.text) for question, golds in pairs]


def read_stances(row: Row) -> list[tuple[str, str]]:
    """Return (labelled, read) stance of every aspect of a text that has a label."""
    pairs = [(label.question, list(label.golds) or ["?"]) for label in row.labels]
    verdicts = verdicts_of(row, pairs)
    return [
        (label.stance, verdict.stance)
        for label, verdict in zip(row.labels, verdicts, strict=True)
        if label.stance is not None and verdict.stance is not None
    ]


def readings(rows: Iterable[Row]) -> list[Readings]:
    """Return the counts of each source, form and length."""
    counts: dict[tuple[str, str, int], Counter[str]] = {}
    for row in rows:
        length = length_of(len(row.text.split())) if row.form == "short" else 0
        count = counts.setdefault((row.source, row.form, length), Counter())
        for labelled, read in read_stances(row):
            for name, other, group in (
                ("assertions", "doubts", ASSERTED),
                ("withheld", "stated", WITHHELD),
            ):
                kind = name if labelled in group else other
                count[kind] += 1
                count[f"{kind}_seen"] += (labelled in group) == (read in group)
    fields = [f for f in Readings.__struct_fields__ if f not in ("source", "form", "length")]
    return [
        msgspec.convert(
            {"source": source, "form": form, "length": length} | {f: count[f] for f in fields},
            Readings,
        )
        for (source, form, length), count in sorted(counts.items())
        if count
    ]


class Judged(NamedTuple):
    """An answer that a label calls right or wrong, with the verdict."""

    source: str
    form: str
    text: str
    right: bool
    verdict: Verdict


@cache
def evouna(folder: Path) -> Sequence[matcher.Row]:
    """Return chat models' answers with people's verdict, to questions that are set aside."""
    return tuple(
        row
        for row in matcher.rows(folder)
        if row.system != "fid" and matcher.set_aside(row.dataset, row.question)
    )


def judged_answers(folder: Path, rows: Iterable[Row]) -> Iterator[Judged]:
    """Yield answers that people, or the labels of stance, call right or wrong."""
    for row in evouna(folder):
        golds = [matcher.golds_of_field(row.golden)]
        verdict = judge_rules(row.question, golds, row.answer)
        yield Judged("evouna-right", "short", row.answer, row.right, verdict)
    for text in rows:
        if text.source == "evouna":  # people labeled all of these
            continue
        pairs = [(label.question, [Gold(gold) for gold in label.golds]) for label in text.labels]
        for label, verdict in zip(text.labels, verdicts_of(text, pairs), strict=True):
            if label.golds and label.content in ("correct", "incorrect"):
                right = label.content == "correct"
                yield Judged(text.source, text.form, text.text, right, verdict)


def contents(answers: Iterable[Judged]) -> list[ContentReadings]:
    """Return how often answers are taken for right, of those that are taken for answers."""
    counts: dict[tuple[str, str, int], Counter[str]] = defaultdict(Counter)
    for one in answers:
        if one.verdict.stance not in ("committed", "hedged"):
            continue
        length = length_of(len(one.text.split())) if one.form == "short" else 0
        kind = "right" if one.right else "wrong"
        counts[one.source, one.form, length][kind] += 1
        counts[one.source, one.form, length][f"{kind}_accepted"] += one.verdict.content == "correct"
    return [
        _row(ContentReadings, {"source": source, "form": form, "length": length} | dict(count))
        for (source, form, length), count in sorted(counts.items())
    ]


def compared_pairs(folder: Path) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield (source, question, answer, answer, label) of pairs of answers to one question."""
    answers: dict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for row in evouna(folder):
        # tools/readers/contradiction.py fits on answers to the other questions
        if not hashlib.sha256(row.question.encode()).digest()[0] % 2:
            answers[row.question][not row.right].append(row.answer)
    for question, (right, wrong) in answers.items():
        if right[1:]:
            yield "evouna-pairs", question, right[0], right[1], "not"
        # an answer that declines is called wrong as well, and contradicts nothing
        stated = [a for a in wrong if judge_rules(question, ["?"], a).stance not in WITHHELD]
        if right and stated:
            yield "evouna-pairs", question, right[0], stated[0], "contradict"
    draws = (
        Path(__file__).resolve().parents[2] / "benchmarks" / "data" / "contradiction_draws.jsonl"
    )
    for line in draws.open("rb"):
        row = json.loads(line)
        if not row["half"].endswith("dev") and row["label"] != "missing":
            yield "small-draws", row["question"], row["a"], row["b"], row["label"]


def pairs_read(pairs: Iterable[tuple[str, str, str, str, str]]) -> list[PairReadings]:
    """Return how pairs of answers are compared, by source."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for source, question, a, b, label in pairs:
        read, count = contradicts(question, a, b), counts[source]
        # a wrong answer of QA-Eval may be no answer
        if source != "evouna-pairs" or label == "not":
            count["comparable"] += 1
            count["dropped"] += read is None
        if read is not None:
            kind = "contradicting" if label == "contradict" else "agreeing"
            count[kind] += 1
            count["contradicting_seen" if label == "contradict" else "agreeing_contradicted"] += (
                read
            )
    return [_row(PairReadings, {"source": s} | dict(count)) for s, count in sorted(counts.items())]


def claims_read(folder: Path) -> list[ClaimReadings]:
    """Return how claims are checked against passages, by source."""
    lives, true = verifier.lives_of(folder / "real" / "wikibio_gpt3.jsonl.gz")
    rows = verifier.rows_of(folder / "factscore")
    items = {
        "factscore-claims": (
            [(row.topic, row.claim, verifier.five(row)) for row in rows],
            [row.supported for row in rows],
        ),
        "wikibio": (lives, true),
    }
    found = []
    for source, (claims, labels) in items.items():
        read = [one.label == "S" for one in RulesSupport().read(claims)]
        said, right = np.array(read), np.array(labels)
        found.append(
            ClaimReadings(
                source,
                int(right.sum()), int((said & right).sum()),
                int((~right).sum()), int((said & ~right).sum()),
            )
        )  # fmt: skip
    return found


def ratings_read(folder: Path) -> list[RatingReadings]:
    """Return how decisiveness compares with people's ratings, of answers that get a score."""
    path = folder / "linguistic_uncertainty" / "benchmark.csv"
    with path.open(encoding="utf-8-sig", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if not even_half(row["question"])]
    scores = [decisiveness(row["uncertainty_expression"]) for row in rows]
    held = [(row, score) for row, score in zip(rows, scores, strict=True) if score is not None]
    ours = np.array([score for _, score in held])
    people = np.array([float(row["annotation_mean"]) / 100 for row, _ in held])
    groups = [row["question"] for row, _ in held]
    rank = metrics.bootstrap(metrics.spearman, ours, people, clusters=groups, limits=None)
    if rank.value is None or rank.low is None or rank.high is None:
        sys.exit(f"no correlation with people's ratings: {rank.problem}")
    numbers = (
        rank.value,
        rank.low,
        rank.high,
        np.abs(ours - people).mean(),
        (ours - people).mean(),
    )
    shown = (round(float(number), 3) for number in numbers)
    return [RatingReadings("ratings", len(held), len(rows) - len(held), *shown)]


_Readings = TypeVar("_Readings", ContentReadings, PairReadings)


def _row(kind: type[_Readings], fields: dict[str, object]) -> _Readings:
    return msgspec.convert(dict.fromkeys(kind.__struct_fields__, 0) | fields, kind)


def measured() -> ReaderAccuracy:
    """Return the counts of the shipped readers on everything that is set aside."""
    folder = Path(os.environ["SAYSO_TEST_DATA"])
    rows = [row for row in real_rows() if row.half in ("aside", "folds")]
    unknown = {row.source for row in rows} - SOURCES.keys()
    if unknown:
        sys.exit(f"describe the source {min(unknown)!r} in SOURCES of {__file__}")
    return ReaderAccuracy(
        weights_hash(),
        SOURCES,
        tuple(readings(rows)),
        contents=tuple(contents(judged_answers(folder, rows))),
        pairs=tuple(pairs_read(compared_pairs(folder))),
        claims=tuple(claims_read(folder)),
        ratings=tuple(ratings_read(folder)),
    )


def encoded(accuracy: ReaderAccuracy) -> bytes:
    """Return the text of the file, one source or reading a line."""
    text = msgspec.json.encode(accuracy).replace(b'{"title"', b'\n{"title"')
    return text.replace(b'{"source"', b'\n{"source"') + b"\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    arguments = parser.parse_args()
    if "SAYSO_TEST_DATA" not in os.environ:
        sys.exit("set SAYSO_TEST_DATA to the folder of the public texts (docs/readers.md)")
    accuracy, place = measured(), PACKAGE / FILE
    for row in accuracy.readings:
        print(
            f"{row.source:11} {row.form:5} {row.length}  doubt {row.doubts_seen:5} of "
            f"{row.doubts:5}  assertion {row.assertions_seen:5} of {row.assertions:5}"
        )
    for answers in accuracy.contents:
        print(
            f"{answers.source:12} {answers.form:5} {answers.length}  right accepted "
            f"{answers.right_accepted:5} of {answers.right:5}  wrong accepted "
            f"{answers.wrong_accepted:5} of {answers.wrong:5}"
        )
    for one in (*accuracy.pairs, *accuracy.claims, *accuracy.ratings):
        print(one)
    if arguments.check:
        same = place.is_file() and place.read_bytes() == encoded(accuracy)
        print("as shipped" if same else f"{place} differs: write it anew")
        return 0 if same else 1
    place.write_bytes(encoded(accuracy))
    return 0


if __name__ == "__main__":
    sys.exit(main())
