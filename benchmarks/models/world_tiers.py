"""Does the known share of ``world`` fall from tier to tier? Short answers only, no paragraphs.

    python benchmarks/models/world_tiers.py --model smollm2 [--limit ENTITIES] [--tokens N]
        [--out FILE]

Every fact is drawn five times at T=1 from its bare question, as ``sayso run uncle`` probes it. A
fact is known if the offline judge finds one draw right. Prints the known share of each tier and of
each domain and tier, with counts and 95 % intervals over entities; then the facts that tell: known
ones of tier 4, unknown ones of tier 1, and types of fact that are known as often in tier 4 as in
tier 1, which are guessed rather than known. Draws go into the cache: a stopped run goes on.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sayso.datasets import load_dataset
from sayso.engines import open_model
from sayso.judges.rules.judge import judge_rules
from sayso.metrics.intervals import bootstrap_share
from sayso.records import Estimate, Question, ask, tier_order
from sayso.runs.asking import CachedEngine
from sayso.storage.cache import Cache

DRAWS = 5


def drawn(
    engine: CachedEngine, questions: list[Question], tokens: int, report: int
) -> dict[str, list[str]]:
    """Return the texts of the five draws of each question, by question id."""
    asked = [
        (q.id, ask(q.text, max_tokens=tokens, sample=n)) for q in questions for n in range(DRAWS)
    ]
    texts: dict[str, list[str]] = defaultdict(list)
    for number, (place, reply) in enumerate(engine.complete([r for _, r in asked]), 1):
        if reply.problem:
            raise SystemExit(f"{asked[place][1].messages[0].content}: {reply.problem}")
        texts[asked[place][0]].append(reply.text)
        if number % report == 0:
            print(f"{number} of {len(asked)} draws", file=sys.stderr, flush=True)
    return texts


def right(question: Question, texts: list[str]) -> int:
    """Return how many draws are right."""
    golds = question.golds or ()
    return sum(judge_rules(question.text, golds, text).value == "correct" for text in texts)


def share(questions: list[Question], hits: dict[str, int]) -> Estimate:
    """Return the share of the facts that are known, resampling entities."""
    known = np.array([hits[q.id] > 0 for q in questions])
    return bootstrap_share("known", known, np.ones(len(known), bool), [q.entity for q in questions])


def row(label: str, questions: list[Question], hits: dict[str, int]) -> str:
    """Return one line of a table."""
    e = share(questions, hits)
    every = sum(hits[q.id] for q in questions) / (DRAWS * len(questions))
    value = "-" if e.value is None else f"{e.value:5.1%}"
    interval = "" if e.low is None or e.high is None else f"[{e.low:.1%}, {e.high:.1%}]"
    counts = f"{e.numerator or 0:.0f} of {e.denominator or 0:.0f}"
    return f"{label:32} {counts:>11}  {value}  {interval:16}  right draws {every:5.1%}"


def telling(
    questions: list[Question], hits: dict[str, int], texts: dict[str, list[str]]
) -> Iterator[str]:
    """Yield the facts and types that work against the order of the tiers."""
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for q in questions:
        kinds[q.type][f"{'known' if hits[q.id] else 'all'} {q.tier}"] += 1
    yield "\nTypes known as often in tier 4 as in tier 1:"
    for kind, count in sorted(kinds.items()):
        shares = []
        for tier in ("1", "4"):
            total = count[f"known {tier}"] + count[f"all {tier}"]
            shares.append(count[f"known {tier}"] / total if total else None)
        if None not in shares and shares[1] and shares[1] >= shares[0]:  # type: ignore[operator]
            yield f"  {kind}: {shares[0]:.0%} in tier 1, {shares[1]:.0%} in tier 4"
    for tier, known in (("4", True), ("1", False)):
        yield f"\n{'Known' if known else 'Unknown'} facts of tier {tier}:"
        for q in questions:
            if q.tier == tier and bool(hits[q.id]) == known:
                gold = (q.golds or ())[0].value
                said = " ".join(texts[q.id][0].split())[:60]
                yield f"  {hits[q.id]}/{DRAWS}  {q.text}  gold {gold}; first draw: {said}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    data = load_dataset("world", limit=args.limit)
    questions = [q for q in data.short if not q.pair]
    with contextlib.closing(Cache()) as cache:
        engine = CachedEngine(open_model(args.model), cache)
        texts = drawn(engine, questions, args.tokens, 100)
        name = engine.name
    hits = {q.id: right(q, texts[q.id]) for q in questions}
    lines = [f"{name}: {len(questions)} facts of world {data.hash}, {DRAWS} draws each, "
             f"{args.tokens} tokens at most", "", row("all", questions, hits)]  # fmt: skip
    tiers = sorted({q.tier for q in questions}, key=tier_order)
    lines += [row(f"tier {t}", [q for q in questions if q.tier == t], hits) for t in tiers]
    for domain in sorted({q.domain for q in questions}):
        lines.append("")
        for t in tiers:
            some = [q for q in questions if (q.domain, q.tier) == (domain, t)]
            lines += [row(f"{domain}, tier {t}", some, hits)] if some else []
    lines += telling(questions, hits, texts)
    print("\n".join(lines))
    if args.out:
        args.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
