"""Do UNCLE's training pairs hold what its appendix D.2 says? Counted on the built-in model.

    python benchmarks/models/uncle_pairs.py [--entities 60]

Asks the built-in model about so many entities that are for training, makes one pair of each
paragraph, and counts, by the verdicts that the run's judge gave the paragraph: wrong facts that the
chosen text drops or states, and right facts that the rejected text drops or states. A fact is
doubted if one of the sentences that sayso writes about its question stands in the text; it is
stated if its own sentence does. The offline judge then reads both texts afresh. Takes two minutes.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import sayso
from sayso.protocols import uncle as protocol
from sayso.protocols.settings import replace
from sayso.records import Question
from sayso.storage.run_folder import RunFolder
from sayso.train.draws import facts_in
from sayso.train.recipes.logu import uncle_pairs
from sayso.train.rows import Fact, Mention, TrainingRow, unsure


def doubts(question: Question) -> set[str]:
    """Return the sentences with which a fact may be doubted."""
    return {unsure(question, random.Random(seed)) for seed in range(200)}


def _stated(text: str, mention: Mention, paragraph: str) -> bool:
    own = paragraph[mention.start : mention.end].strip()
    return bool(own) and own in text


def count_pairs(facts: Sequence[Fact], rows: Sequence[TrainingRow]) -> Counter[str]:
    """Return how many facts of the paragraphs stand in the pairs as they should, and as not."""
    by_id = {f.question.id: f for f in facts}
    counted: Counter[str] = Counter(pairs=len(rows))
    for row in rows:
        paragraph = by_id[row.questions[0]].paragraphs[0]
        rejected = row.rejected or ""
        read = {}
        for side, text in (("chosen", row.chosen), ("rejected", rejected)):
            asked = [(m.question.text, m.question.golds or ()) for m in paragraph.mentions]
            read[side] = sayso.judge_rules_long(asked, text)
        for at, mention in enumerate(paragraph.mentions):
            if mention.stance != "committed" or mention.right is None:
                continue
            kind = "right" if mention.right else "wrong"
            counted[f"{kind} facts"] += 1
            sides = {"chosen": row.chosen, "rejected": rejected}
            doubted = "rejected" if mention.right else "chosen"
            for side, text in sides.items():
                in_doubt = any(sentence in text for sentence in doubts(mention.question))
                wrong_way = in_doubt != (side == doubted)
                if side == doubted:
                    wrong_way |= _stated(text, mention, paragraph.text)
                counted[f"{kind} facts not as they should be in {side}"] += wrong_way
                seen = read[side][at].stance
                hedged = seen in ("hedged", "abstained", "refused_by_policy")
                counted[f"{kind} facts that the judge reads otherwise in {side}"] += hedged != (
                    side == doubted
                )
    return counted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entities", type=int, default=60)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        options = replace(protocol.Settings(), {"probe.k": 1, "resamples": 100})
        sayso.run(
            split="train", limit=arguments.entities, out=Path(place) / "run", options=options,
            cache=Path(place) / "cache", report=False,
        )  # fmt: skip
        facts = facts_in(RunFolder.open(Path(place) / "run"))
    notes: list[str] = []
    rows = uncle_pairs(facts, notes=notes)
    print("\n".join(notes))
    for name, number in count_pairs(facts, rows).items():
        print(f"{number:6,} {name}")


if __name__ == "__main__":
    main()
