"""Count how well the offline reader sees doubt in texts that were set aside, by kind of text.

    python tools/readers/accuracy.py          # writes judges/data/stance_accuracy.json
    python tools/readers/accuracy.py --check  # writes nothing; exit code 1 if the file differs

The page of a run cites these counts beside its numbers, for the texts nearest to its own. Write the
file anew whenever the weights, the lexicon or the labels change; the counts name the weights that
they are of, and a page cites no others. Only texts whose labels nobody learned from are read.
Needs ``SAYSO_TEST_DATA``. Ten CPU seconds.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterable

import msgspec
from labels import Row, assistant_rows, real_rows

from sayso.judges.judge import WITHHELD
from sayso.judges.rules.accuracy import (
    FILE,
    Readings,
    StanceAccuracy,
    TextSource,
    length_of,
    weights_hash,
)
from sayso.judges.rules.judge import judge_rules, judge_rules_long
from stance import PACKAGE

GUIDE = "two language models that followed a guide, blind"
#: every source of :mod:`labels` whose texts are set aside
SOURCES = {
    "refunq": TextSource(
        "UnknownBench (ChatGPT, GPT-4, Claude, PaLM, Llama 2, Mistral, Vicuna)",
        "chat", told=False, labels=GUIDE,
    ),
    "evouna": TextSource("QA-Eval (GPT-3.5, ChatGPT, GPT-4, Bing)", "chat", False, GUIDE),
    "felm": TextSource("FELM (ChatGPT)", "chat", False, GUIDE),
    "factscore": TextSource("FActScore (ChatGPT, InstructGPT, PerplexityAI)", "chat", False, GUIDE),
    "smollm2": TextSource("SmolLM2-135M", "small", False, GUIDE),
    "qwen-0.5b": TextSource("Qwen2.5-Coder-0.5B", "small", True, GUIDE),
    "qwen-1.5b": TextSource("Qwen2.5-Coder-1.5B", "small", True, GUIDE),
    "assistants": TextSource(
        "GPT-4o, Claude Sonnet 4, Gemini 2.5 Pro and Grok-3",
        "assistant", told=True, labels="the level of certainty that the model was asked for",
    ),
}  # fmt: skip
ASSERTED = ("committed", "omitted")


def read_stances(row: Row) -> list[tuple[str, str]]:
    """Return (labelled, read) stance of every aspect of a text that has a label."""
    pairs = [(label.question, list(label.golds) or ["?"]) for label in row.labels]
    if row.form == "short":
        verdicts = [judge_rules(question, golds, row.text) for question, golds in pairs]
    else:
        verdicts = judge_rules_long(pairs, row.text)
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


def measured() -> StanceAccuracy:
    """Return the counts of the shipped reader on everything that is set aside."""
    rows = [row for row in (*real_rows(), *assistant_rows("aside")) if row.half == "aside"]
    unknown = {row.source for row in rows} - SOURCES.keys()
    if unknown:
        sys.exit(f"describe the source {min(unknown)!r} in SOURCES of {__file__}")
    return StanceAccuracy(weights_hash(), SOURCES, tuple(readings(rows)))


def encoded(accuracy: StanceAccuracy) -> bytes:
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
    if arguments.check:
        same = place.is_file() and place.read_bytes() == encoded(accuracy)
        print("as shipped" if same else f"{place} differs: write it anew")
        return 0 if same else 1
    place.write_bytes(encoded(accuracy))
    return 0


if __name__ == "__main__":
    sys.exit(main())
