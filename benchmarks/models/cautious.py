"""Does cautious decoding make long answers more factual? Beside plain decoding and ``revise``.

    python benchmarks/models/cautious.py [--model builtin] [--limit 60] [--tokens 160]
    python benchmarks/models/cautious.py --model smollm2 --facts --tier 1 --limit 40 --tokens 128 \
        --mode direct

Rows: plain texts; texts rewritten without the claims that the model rejects (``revised``, left out
with ``--no-revise``); cautious texts with draws and a stop (4 candidates, .5), with draws alone
(4, 0) and with the stop alone (1, .5). Right and wrong are counted over all topics, so that silence
costs. The difference from plain is precision at equal recall, on topics with both texts, with a
95 % interval over topics; last the share that is right by fifth of the text.

Counted are claims that the source supports or not. ``world`` holds only a few facts about each
topic, so ``--facts`` counts the facts that the prompt asks for instead, stated rightly or wrongly;
their place is that of the sentence that states them.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np

import sayso
from sayso.metrics.factuality import position_bin, unsupported_before
from sayso.metrics.intervals import bootstrap_difference
from sayso.protocols.self_known.measure import ratio_of_sums
from sayso.protocols.self_known.rows import STAGE, claim_verdicts
from sayso.protocols.stored import stored_run
from sayso.records import Claim, Generation, Sentence, Verdict
from sayso.report.numbers import number, with_interval
from sayso.runs.result import Result
from sayso.storage.run_folder import RunFolder

#: candidates, and how sure the model must be of one
WAYS = ((4, 0.5), (4, 0.0), (1, 0.5))
FIFTHS = 5


class Said(NamedTuple):
    """What one text says rightly (S) and wrongly (NS), in its order, and in which fifth."""

    labels: list[str]
    fifths: list[int]


def said(folder: RunFolder, facts: bool) -> dict[str, dict[str, Said]]:
    """Return what each method's text says, by method and question; silent texts are left out."""
    texts = {g.id: g for g in folder.read(f"generations/{STAGE}", Generation) if g.text.strip()}
    sentences: dict[str, list[Sentence]] = defaultdict(list)
    for s in folder.read(f"sentences/{STAGE}", Sentence):
        sentences[s.generation].append(s)
    rows: dict[str, list[tuple[int, str]]] = {key: [] for key in texts}
    if facts:
        codes = {"correct": "S", "incorrect": "NS"}
        for v in folder.read(f"verdicts/{STAGE}-aspects", Verdict):
            if v.value in codes and v.start is not None and v.target in rows:
                rows[v.target].append((v.start, codes[v.value]))
    else:
        verdicts = claim_verdicts(stored_run(folder))
        for c in folder.read(f"claims/{STAGE}", Claim):
            label = verdicts[c.id].label if c.id in verdicts else None
            if label in ("S", "NS") and c.generation in rows:
                rows[c.generation].append((c.start, label))
    every: dict[str, dict[str, Said]] = defaultdict(dict)
    for key, g in texts.items():
        spans = sentences[key]
        order = sorted(rows[key], key=lambda row: row[0])
        numbers = [max(1, sum(s.start <= at for s in spans)) for at, _ in order]
        fifths = [position_bin(n, max(n, len(spans)), FIFTHS) for n in numbers]
        every[g.method][g.question] = Said([label for _, label in order], fifths)
    return every


def row(every: dict[str, dict[str, Said]], method: str, name: str, topics: int) -> list[str]:
    """Return the cells of one method."""
    own, plain = every[method], every["plain"]
    labels = [label for text in own.values() for label in text.labels]
    right, wrong = labels.count("S"), labels.count("NS")
    cells = [name, f"{len(own)} of {topics}", f"{right / topics:.2f}", f"{wrong / topics:.2f}"]
    cells.append(f"{right / (right + wrong):.2f}" if labels else "–")
    cells.append("–" if method == "plain" else _difference(own, plain))
    places = [
        [label for text in own.values() for label, f in zip(*text, strict=True) if f == fifth]
        for fifth in range(FIFTHS)
    ]
    shares = [f"{p.count('S') / len(p):.2f} ({len(p)})" if p else "–" for p in places]
    return [*cells, " ".join(shares)]


def _difference(own: dict[str, Said], plain: dict[str, Said]) -> str:
    """Return precision at equal recall of a method, of plain, and the difference."""
    both = [q for q in plain if q in own]
    texts = [[side[q].labels for q in both] for side in (own, plain)]
    pairs = zip(*texts, strict=True)
    wanted = [min(one.count("S"), two.count("S")) for one, two in pairs]
    if not sum(wanted):
        return "nothing right on both sides"
    m = np.array(wanted, dtype=np.float64)
    sides = [(m, m + np.array(unsupported_before(side, wanted))) for side in texts]
    names = np.array(both)
    gap = bootstrap_difference(
        ratio_of_sums, *sides, clusters=names, second_clusters=names, n=2000, seed=0, name="gap"
    )
    shares = " and ".join(f"{ratio_of_sums(*side):.2f}" for side in sides)
    return f"{shares} at {sum(wanted)}: {with_interval(gap)}"


def run(given: argparse.Namespace, folder: Path, way: tuple[int, float]) -> Result:
    """Write the texts one way; only the first also has them revised."""
    candidates, sure = way
    revise = way == WAYS[0] and given.revise
    settings: dict[str, object] = {
        "answer.decoding": "cautious",
        "answer.candidates": candidates,
        "answer.sure": sure,
        "answer.long_tokens": given.tokens,
        "modes": given.mode if revise else "none",
        "remedy": "revise" if revise else "off",
    }
    out = folder / f"{given.model}-{candidates}-{sure:g}{'-revise' * revise}"
    return sayso.run(
        "self_known", model=given.model, out=out, limit=given.limit, settings=settings,
        report=False, cache=str(folder / "cache"), tiers=[given.tier] if given.tier else [],
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="builtin")
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("--tier", default="")
    parser.add_argument("--tokens", type=int, default=160)
    parser.add_argument("--mode", default="qa_none", help="how claims are asked about for revise")
    parser.add_argument("--facts", action="store_true")
    parser.add_argument("--no-revise", dest="revise", action="store_false")
    parser.add_argument("--folder", help="keeps runs and cache (default: a temporary folder)")
    given = parser.parse_args()
    what = "facts" if given.facts else "claims"
    head = ["method", "texts", f"right {what} a topic", "wrong", "right, pooled"]
    head += ["at equal recall, beside plain", "right by fifth (n)"]
    rows = [head, ["---"] * len(head)]
    notices: list[str] = []
    with tempfile.TemporaryDirectory() as temporary:
        for way in WAYS:
            result = run(given, Path(given.folder or temporary), way)
            every = said(RunFolder.open(Path(result.path)), given.facts)
            topics = int(result.get("response_rate", "method:plain").denominator or 0)
            if way == WAYS[0]:
                rows.append(row(every, "plain", "plain", topics))
            if "revised" in every:
                rows.append(row(every, "revised", "revised", topics))
            rows.append(row(every, "cautious", f"cautious: {way[0]}, {way[1]:g}", topics))
            if not given.facts:
                shown = number(result.get("precision_at_recall", "method:cautious"))
                notices.append(f"precision_at_recall of the run: {shown}")
            notices += [n for n in result.manifest.notices if n.startswith("cautious: ")]
    print("\n".join([*(f"| {' | '.join(cells)} |" for cells in rows), "", *notices]))


if __name__ == "__main__":
    main()
