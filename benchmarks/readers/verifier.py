"""Does the offline checker of claims agree with people, and what would a model's checks cost?

    SAYSO_TEST_DATA=DATA python benchmarks/readers/verifier.py [--show N]

``DATA`` holds ``factscore/`` (MIT): people labeled the claims of three systems on the same topics.
There is no encyclopedia here, so the passage for a topic is made of the claims that people found
supported in the **two other systems'** texts, one line each. That can show how often the checker
calls a claim supported that people found wrong. It cannot show how many true claims it would find
with a real source: whatever the other two systems did not say has no evidence here, and most
misses are that. So ``recall`` is given twice: over all claims, and over those of which at least
``EVIDENT`` of the content words stand in one line of the passage (evidence is likely there).

Topics with fewer than five lines are left out. The second table has an encyclopedia's
prose: ``real/wikibio_gpt3.jsonl.gz``, lives of people by GPT-3 with people's label of every
sentence and the article. A claim (``claims-rules``) counts as its sentence, accurate or wrong
throughout; of sentences with a minor error nobody says which claim has it. Cost: judge tokens
(characters / 4) and requests for 100 claims of ``LlmSupport`` against FActScore's pattern, one
request a claim with five passages, counted at a scripted model on the same claims; passages there
are the topic's lines cut in pieces of about 1,000 characters, five to a claim.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from sayso.datasets.long_texts import GivenText, read_texts
from sayso.judges.claims import read_claims
from sayso.judges.english.tokens import content, tokens
from sayso.judges.model.numbered import load_numbered_prompts
from sayso.judges.support import LlmSupport, RulesSupport, Supported
from sayso.metrics.factuality import position_bin
from sayso.records import Passage, Request
from support.scripted import ScriptedEngine

SYSTEMS = ("InstructGPT", "ChatGPT", "PerplexityAI")
LEAST_LINES = 5
EVIDENT = 0.8
PIECE = 1_000
CHARACTERS_PER_TOKEN = 4
#: characters that the name before an article's first bracket has at most
LONGEST_NAME = 60


class Row(NamedTuple):
    """A claim with people's label, where it stands, and its evidence."""

    system: str
    topic: str
    claim: str
    supported: bool
    part: int
    claims: int
    factuality: float
    passages: tuple[Passage, ...]


def rows_of(folder: Path) -> list[Row]:
    """Return every claim that people called supported or not, with the others' lines."""
    texts: dict[str, dict[str, GivenText]] = {
        name: {t.topic: t for t in read_texts(folder / f"{name}.jsonl")} for name in SYSTEMS
    }
    found: list[Row] = []
    for name in SYSTEMS:
        for topic, text in texts[name].items():
            others = [texts[other].get(topic) for other in SYSTEMS if other != name]
            said = [c.text for t in others if t for c in t.claims or () if c.label == "S"]
            lines = [line if line.endswith(".") else f"{line}." for line in dict.fromkeys(said)]
            if len(lines) < LEAST_LINES:
                continue
            passages = pieces(topic, lines)
            rated = [c for c in text.claims or () if c.label in ("S", "NS")]
            right = sum(c.label == "S" for c in rated)
            number = len(text.sentences or ())
            for c in rated:
                part = position_bin(c.sentence, number) if c.sentence else -1
                found.append(
                    Row(name, topic, c.text, c.label == "S", part, len(rated),
                        right / len(rated), passages)
                )  # fmt: skip
    return found


def pieces(topic: str, lines: Sequence[str]) -> tuple[Passage, ...]:
    """Cut a topic's lines into passages of about ``PIECE`` characters."""
    found: list[list[str]] = [[]]
    for line in lines:
        if sum(map(len, found[-1])) + len(line) > PIECE and found[-1]:
            found.append([])
        found[-1].append(line)
    return tuple(Passage(f"{topic}#{n}", topic, " ".join(x)) for n, x in enumerate(found))


def evident(row: Row) -> bool:
    """Whether one line of the evidence holds most of a claim's content words."""
    wanted = {t.stem for t in content(tokens(row.claim))} - {t.stem for t in tokens(row.topic)}
    lines = (line for p in row.passages for line in re.split(r"(?<=\.) ", p.text))
    return bool(wanted) and any(
        len(wanted & {t.stem for t in tokens(line)}) >= EVIDENT * len(wanted) for line in lines
    )


def show(name: str, rows: Sequence[Row], read: Sequence[Supported], there: Sequence[bool]) -> None:
    """Print one line of the table."""
    said = np.array([r.label == "S" for r in read])
    true = np.array([r.supported for r in rows])
    near = np.array(there)
    if not len(rows):
        return
    tp = int((said & true).sum())
    cells = {
        "claims": f"{len(rows):,}",
        "people": f"{true.mean():.3f}",
        "precision": share(tp, int(said.sum())),
        "false_support": share(int((said & ~true).sum()), int((~true).sum())),
        "recall": share(tp, int(true.sum())),
        "recall_evident": share(int((said & true & near).sum()), int((true & near).sum())),
    }
    print("| " + " | ".join([name, *cells.values()]) + " |")


def share(top: int, bottom: int) -> str:
    """Return a share, or that there is none."""
    return f"{top / bottom:.3f}" if bottom else "-"


def slices(rows: Sequence[Row]) -> Iterable[tuple[str, list[int]]]:
    """Yield names and rows: systems, fifths, thirds of claim count and of factuality."""
    every = range(len(rows))
    yield "all", list(every)
    for system in SYSTEMS:
        yield system, [n for n in every if rows[n].system == system]
    for part in range(5):
        yield f"fifth {part + 1}", [n for n in every if rows[n].part == part]
    for name, values in (
        ("claims", [r.claims for r in rows]),
        ("factuality", [r.factuality for r in rows]),
    ):
        low, high = np.quantile(values, [1 / 3, 2 / 3])
        yield f"{name} up to {low:.3g}", [n for n in every if values[n] <= low]
        yield f"{name} between", [n for n in every if low < values[n] <= high]
        yield f"{name} above {high:.3g}", [n for n in every if values[n] > high]


def lives_of(file: Path) -> tuple[list[tuple[str, str, tuple[Passage, ...]]], list[bool]]:
    """Return claims of sentences that people labeled, with the article, and which are accurate."""
    items: list[tuple[str, str, tuple[Passage, ...]]] = []
    true: list[bool] = []
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            article = row["wiki_bio_text"]
            name = article.partition(" (")[0].strip()
            topic = name if len(name) < LONGEST_NAME else " ".join(article.split()[:2])
            told = [sentence.strip() for sentence in row["gpt3_sentences"]]
            drafts = read_claims(topic, " ".join(told)).drafts
            start = 0
            for sentence, label in zip(told, row["annotation"], strict=True):
                end = start + len(sentence)
                own = [d.text for d in drafts if start <= d.start < end]
                start = end + 1
                if label != "minor_inaccurate":
                    items += [(topic, claim, (Passage("p", topic, article),)) for claim in own]
                    true += [label == "accurate"] * len(own)
    return items, true


def lives(file: Path) -> None:
    """Print how claims of sentences that people labeled are read against an article's prose."""
    items, true = lives_of(file)
    topics = len({topic for topic, _, _ in items})
    said = np.array([read.label == "S" for read in RulesSupport().read(items)])
    right = np.array(true)
    both = int((said & right).sum())
    print(f"\nAgainst articles: {topics} topics")
    print("| claims | accurate | agreement | precision | false support | recall |")
    print("|---|---|---|---|---|---|")
    print(
        f"| {len(items):,} | {right.mean():.3f} | {(said == right).mean():.3f} | "
        f"{share(both, int(said.sum()))} | {share(int((said & ~right).sum()), int((~right).sum()))}"
        f" | {share(both, int(right.sum()))} |"
    )


def costs(rows: Sequence[Row]) -> None:
    """Print requests and tokens for 100 claims of both patterns."""

    def reply(request: Request) -> str:
        text = request.messages[-1].content
        code = re.search(r'"code": "(k\w+)"', text)
        claims = re.findall(r"^(\d+) claim\| (.*)$", text, re.M)
        said = [
            {"number": int(n), "begins": " ".join(c.split()[:5]), "verdict": "not supported",
             "passage": ""}
            for n, c in claims
        ]  # fmt: skip
        return json.dumps({"code": code[1] if code else "", "verdicts": said})

    items = list(dict.fromkeys((r.topic, r.claim, five(r)) for r in rows))
    ours = ScriptedEngine(reply)
    LlmSupport(ours).read(items)
    one = ScriptedEngine(reply)
    for item in items:
        LlmSupport(one).read([item])
    # FActScore's: the passages and the claim, "True or False?", and one word back
    pattern = [
        sum(len(p.title) + len(p.text) for p in passages) + len(claim) + 120
        for _, claim, passages in items
    ]
    hundred = 100 / len(items)
    task = len(load_numbered_prompts(LlmSupport.task, None).task)
    print(f"\n{len(items):,} distinct claims; our instructions are {task:,} characters a call")
    print("| for 100 claims | requests | prompt tokens | completion tokens |")
    print("|---|---|---|---|")
    for name, engine in (("claims together", ours), ("one claim a call, our prompt", one)):
        prompt = sum(len(m.content) for r in engine.requests for m in r.messages)
        back = sum(len(reply(r)) for r in engine.requests)
        print(
            f"| {name} | {len(engine.requests) * hundred:.1f} | "
            f"{prompt / CHARACTERS_PER_TOKEN * hundred:,.0f} | "
            f"{back / CHARACTERS_PER_TOKEN * hundred:,.0f} |"
        )
    print(
        f"| FActScore's pattern | 100.0 | {sum(pattern) / CHARACTERS_PER_TOKEN * hundred:,.0f} "
        "| 100 |"
    )


def five(row: Row) -> tuple[Passage, ...]:
    """Return the five passages that share most words with a claim, as a search would."""
    wanted = {t.stem for t in tokens(row.claim)}
    ranked = sorted(row.passages, key=lambda p: -len(wanted & {t.stem for t in tokens(p.text)}))
    return tuple(ranked[:5])


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("SAYSO_TEST_DATA"))
    parser.add_argument("--show", type=int, default=0, help="examples of both kinds of error")
    given = parser.parse_args()
    if given.data is None:
        parser.error("say --data, or set SAYSO_TEST_DATA: the folder that holds factscore/")
    rows = rows_of(given.data / "factscore")
    start = time.process_time()
    read = RulesSupport().read([(r.topic, r.claim, r.passages) for r in rows])
    spent = time.process_time() - start
    there = [evident(r) for r in rows]
    print(f"{len(rows):,} claims in {spent:.1f} CPU seconds; {RulesSupport.signature}\n")
    print("| | claims | people: S/(S+NS) | precision | false support | recall | where evident |")
    print("|---|---|---|---|---|---|---|")
    for name, chosen in slices(rows):
        show(name, *([part[n] for n in chosen] for part in (rows, read, there)))  # type: ignore[arg-type]
    lives(given.data / "real" / "wikibio_gpt3.jsonl.gz")
    costs(rows)
    generator = random.Random(1)
    for name, wanted in (("supported, people say not", True), ("missed where evident", False)):
        wrong = [
            n for n, r in enumerate(rows)
            if (read[n].label == "S") == wanted and r.supported != wanted and (wanted or there[n])
        ]  # fmt: skip
        for n in generator.sample(wrong, min(given.show, len(wrong))):
            print(f"{name}: {rows[n].topic}: {rows[n].claim}")


if __name__ == "__main__":
    main()
