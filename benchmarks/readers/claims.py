"""Does the offline reader of claims find what people found, sentence by sentence?

    python benchmarks/readers/claims.py [--data DATA] [--show N]

``DATA`` (default: the folder SAYSO_TEST_DATA) holds ``factscore/`` (MIT; people corrected the
atomic facts of three systems' lives of people) and ``factcheck_bench/`` (Apache-2.0; claims of
whole answers). Our claims are clauses, people's are facts; samples of ours were read (claims.md).

Sentences: the share of people's sentence ends that are ours, and of ours that are theirs. An end is
the place before the closing full stop and citations ("[1]").

Claims: content words are stemmed words without function words and without the topic's. One of
their claims is *covered* by one of ours where at least .8 of its content words stand in it, both
of the same sentence. Reported are

* ``one``: the share of theirs that one of ours covers;
* ``tight``: the same by one of ours with at most twice as many content words (a copy of the
  sentence covers everything and says nothing: see the row "whole sentences");
* ``union``: by all of ours of that sentence together: what was lost altogether;
* ``back``: the share of ours that one of theirs covers; ``back union``: that theirs together cover.

Their claims without any content word are left out. For Factcheck-Bench a claim has no sentence: it
is compared with the claims of the whole answer, which is easier.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from sayso.judges.claims import ClaimDraft, Claimed, read_claims
from sayso.judges.english.tokens import STOP, uninflected

SYSTEMS = ("InstructGPT", "ChatGPT", "PerplexityAI")
ENOUGH = 0.8
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_CITED = re.compile(r"(?:\s*\[\d+\]|[.\s])$")


def content(text: str, topic: str = "") -> frozenset[str]:
    """Return the stems of the content words of ``text``, without those of ``topic``."""
    left_out = {w.lower().removesuffix("'s") for w in _WORD.findall(topic)}
    words = (w.lower().removesuffix("'s") for w in _WORD.findall(text.replace("’", "'")))
    return frozenset(uninflected(w) for w in words if w not in STOP and w not in left_out)


def covers(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """Whether enough of ``theirs`` stands in ``ours``."""
    return len(theirs & ours) >= ENOUGH * len(theirs) - 1e-9


def end_of(text: str, end: int) -> int:
    """Return where a sentence ends before its full stop and citations."""
    while (closing := _CITED.search(text[max(0, end - 20) : end])) is not None:
        end -= len(closing.group())
    return end


def located(text: str, sentences: Iterable[str]) -> list[tuple[int, int]]:
    """Find people's sentences in the text, in order; citations were taken out of theirs."""
    found, at = [], 0
    for sentence in sentences:
        letters = [re.escape(c) for c in re.sub(r"\s+|\[\d+\]", "", sentence)]
        match = re.compile(r"(?:\s|\[\d+\])*".join(letters)).search(text, at)
        if match is not None:
            at = match.end()
        found.append(match.span() if match is not None else (-1, -1))
    return found


class Tally:
    """Counts over one set."""

    def __init__(self) -> None:
        self.sentences = self.theirs = self.ours = 0
        self.one = self.tight = self.union = self.back = self.back_union = self.words = 0
        self.with_words = 0

    def add(self, theirs: Sequence[frozenset[str]], ours: Sequence[frozenset[str]]) -> None:
        """Add one sentence."""
        theirs = [t for t in theirs if t]
        shown = [o for o in ours if o]
        together = frozenset().union(*ours)
        all_theirs = frozenset().union(*theirs)
        self.sentences += 1
        self.theirs += len(theirs)
        self.ours += len(ours)
        self.words += sum(map(len, ours))
        for claim in theirs:
            self.one += any(covers(o, claim) for o in ours)
            self.tight += any(covers(o, claim) and len(o) <= 2 * len(claim) for o in ours)
            self.union += covers(together, claim)
        for claim in shown:
            self.back += any(covers(t, claim) for t in theirs)
            self.back_union += covers(all_theirs, claim)
        self.with_words += len(shown)

    def line(self, name: str) -> str:
        """Return one row of the table."""
        shares = [self.one, self.tight, self.union]
        back = [self.back, self.back_union]
        return (
            f"| {name} | {self.theirs / self.sentences:.2f} | {self.ours / self.sentences:.2f} | "
            f"{self.words / max(1, self.ours):.1f} | "
            + " | ".join(f"{n / max(1, self.theirs):.3f}" for n in shares)
            + " | "
            + " | ".join(f"{n / max(1, self.with_words):.3f}" for n in back)
            + " |"
        )


def facts_of(annotation: dict[str, Any]) -> list[str]:
    """Return the atomic facts of a sentence."""
    return [f["text"] for f in annotation.get("human-atomic-facts") or []]


def of_sentence(claimed: Claimed, span: tuple[int, int]) -> list[ClaimDraft]:
    """Return our claims whose sentence lies mostly in ``span``."""
    kept = []
    for draft in claimed.drafts:
        low, high = claimed.sentences[draft.sentence - 1]
        if min(high, span[1]) - max(low, span[0]) > (high - low) / 2:
            kept.append(draft)
    return kept


def factscore(file: Path, show: int) -> tuple[Tally, Tally, tuple[int, int, int]]:
    """Compare one system's texts: claims, whole sentences as claims, sentence ends."""
    ours, whole = Tally(), Tally()
    hits = people = mine = 0
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if not row["annotations"]:
            continue
        topic, text = row["topic"], row["output"]
        claimed = read_claims(topic, text)
        spans = located(text, (a["text"] for a in row["annotations"]))
        theirs_ends = {end_of(text, e) for _, e in spans if e >= 0}
        our_ends = {end_of(text, s.end) for s in claimed.sentences}
        hits += len(theirs_ends & our_ends)
        people += len(theirs_ends)
        mine += len(our_ends)
        for annotation, span in zip(row["annotations"], spans, strict=True):
            facts = facts_of(annotation)
            if not facts:
                continue
            drafts = of_sentence(claimed, span)
            theirs = [content(f, topic) for f in facts]
            found = [content(d.text, topic) for d in drafts]
            ours.add(theirs, found)
            whole.add(theirs, [content(annotation["text"], topic)])
            missed = [
                f for f, t in zip(facts, theirs, strict=True)
                if t and not any(covers(o, t) for o in found)
            ]  # fmt: skip
            if show > 0 and missed:
                show -= 1
                print(annotation["text"], *(f"   MISSED {f}" for f in missed), sep="\n")
                print(*(f"     ours {d.text}" for d in drafts), sep="\n")
    return ours, whole, (people, hits, mine)


def factcheck(file: Path) -> tuple[Tally, Tally]:
    """Compare whole answers."""
    ours, whole = Tally(), Tally()
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if not row["claims"]:
            continue
        claimed = read_claims("", row["response"])
        theirs = [content(c) for c in row["claims"]]
        ours.add(theirs, [content(d.text) for d in claimed.drafts])
        whole.add(theirs, [content(row["response"][s.start : s.end]) for s in claimed.sentences])
    return ours, whole


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description="Claims by rules against people's.")
    given = os.environ.get("SAYSO_TEST_DATA")
    parser.add_argument("--data", type=Path, default=given and Path(given), required=not given)
    parser.add_argument("--show", type=int, default=0, help="missed claims of InstructGPT to print")
    settings = parser.parse_args()
    start = time.process_time()
    results = {
        name: factscore(settings.data / "factscore" / f"{name}.jsonl",
                        settings.show if name == "InstructGPT" else 0)
        for name in SYSTEMS
    }  # fmt: skip
    print("| sentence ends | people | of them ours | ours | of them people's |")
    print("|---|---|---|---|---|")
    for name, (_, _, (people, hits, mine)) in results.items():
        print(f"| {name} | {people} | {hits / people:.3f} | {mine} | {hits / mine:.3f} |")
    print(
        "\n| claims | theirs a sentence | ours | content words in one of ours | one | tight "
        "| union | back | back union |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name, (ours, whole, _) in results.items():
        print(ours.line(name))
        print(whole.line(f"{name}, whole sentences"))
    ours, whole = factcheck(settings.data / "factcheck_bench" / "Factbench_claims.jsonl")
    print(ours.line("Factcheck-Bench (by answer)"))
    print(whole.line("Factcheck-Bench, whole sentences"))
    print(f"\n{time.process_time() - start:.1f} CPU s")


if __name__ == "__main__":
    main()
