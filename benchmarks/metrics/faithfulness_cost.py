"""What does a run of `sayso run faithfulness` cost, and how much of it has UNCLE paid already?

    python benchmarks/metrics/faithfulness_cost.py [--limit N] [--folder FOLDER]

Runs UNCLE, selective and faithfulness on the built-in model over one empty cache, as ``sayso run``
does, then faithfulness once more with each method alone, and prints requests, those from the cache,
requests that two protocols share, comparisons (pairs of texts that the offline reader was asked
about; a judge's model gets up to 12 in a call), and CPU seconds by step.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import sayso
from sayso import datasets
from sayso.judges.rules.judge import RulesJudge
from sayso.protocols import PROTOCOLS
from sayso.protocols.settings import replace
from sayso.records import Generation, Verdict, request_key
from sayso.runs.measure import load_run
from sayso.runs.result import Result

METHODS = ("vanilla", "uncle", "granularity", "uncertainty", "metacognitive", "uncertainty_plus")

#: texts about one question that a model reads in one call
IN_CALL = 12


def run(name: str, folder: Path, limit: int, cache: Path, place: str = "", **fields: str) -> Result:
    """Run one protocol on the built-in model."""
    part = PROTOCOLS[name]
    options = replace(part.Settings(), dict(fields)) if fields else part.Settings()
    out = folder / (place or name)
    return sayso.run(name, limit=limit, out=out, cache=cache, options=options)


def told(result: Result) -> tuple[int, int, float]:
    """Return requests, those from the cache, and CPU seconds of generating."""
    tokens, timings = result.manifest.tokens, result.manifest.timings
    return tokens["requests"], tokens["cached"], timings["generate_cpu_s"]


def comparisons(result: Result) -> Counter[str]:
    """Return how many (claim, draw) there are by the letter they got, and distinct pairs."""
    job, _, _ = load_run(result.path)
    found: Counter[str] = Counter()
    texts = {
        (g.question, g.request.sample): g.text
        for g in job.folder.read("generations/draws", Generation)
    }
    pairs = set()
    for stage in ("short", "methods-short", "demos-short", "long", "methods-long"):
        if not job.folder.has(f"verdicts/{stage}-contradict"):
            continue
        claims = {
            (v.target, v.asked): v.raw or ""
            for v in job.folder.read(f"verdicts/{stage}-decisive", Verdict)
        }
        for v in job.folder.read(f"verdicts/{stage}-contradict", Verdict):
            for sample, letter in enumerate(v.raw or ""):
                found[letter] += 1
                if letter not in "px":
                    text = texts[v.asked, sample]
                    pairs.add((v.asked, claims[v.target, v.asked], text))
    found["distinct"] = len(pairs)
    found["unequal"] = sum(a.strip().casefold() != b.strip().casefold() for _, a, b in pairs)
    calls: Counter[tuple[str, str]] = Counter()
    for question, claim, text in pairs:
        calls[question, claim] += claim.strip().casefold() != text.strip().casefold()
    found["calls"] = sum(-(-n // IN_CALL) for n in calls.values())
    return found


def wording_calls(result: Result) -> int:
    """Return the calls of a model that reads wording: the draws of a question, then its answers."""
    job, _, _ = load_run(result.path)
    short = [
        s for s in ("short", "methods-short", "demos-short") if job.folder.has(f"generations/{s}")
    ]
    found = 0
    for stages in (["draws"], *([s] for s in short)):
        texts: dict[str, set[str]] = defaultdict(set)
        for stage in stages:
            for g in job.folder.read(f"generations/{stage}", Generation):
                texts[g.question].add(g.text)
        found += sum(-(-len(some) // IN_CALL) for some in texts.values())
    return found


def shared(limit: int) -> None:
    """Print how many requests of faithfulness are those of another protocol."""
    found = datasets.load_dataset("builtin", limit=limit)
    ours = PROTOCOLS["faithfulness"].requests(
        found.questions, PROTOCOLS["faithfulness"].Settings(), 0
    )
    keys = {request_key(ask.request, "m") for ask in ours}
    print(f"\n{len(ours):,} requests of faithfulness, of which other protocols ask too:")
    for name in ("uncle", "selective"):
        part = PROTOCOLS[name]
        theirs = part.requests(found.questions, part.Settings(), 0)
        other = {request_key(ask.request, "m") for ask in theirs}
        print(f"  {name}: {len(keys & other):,} of its {len(other):,}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    folder = arguments.folder or Path(tempfile.mkdtemp())
    cache, limit = folder / "cache", arguments.limit
    print(f"{limit} entities, judge {RulesJudge.signature}")
    print("\n| protocol | requests | from the cache | asked | CPU s of the model |")
    print("|---|---|---|---|---|")
    results = {n: run(n, folder, limit, cache) for n in ("uncle", "selective", "faithfulness")}
    for name, result in results.items():
        total, cached, cpu = told(result)
        print(f"| {name} | {total:,} | {cached:,} | {total - cached:,} | {cpu:.0f} |")
    whole = results["faithfulness"]
    print("\nfaithfulness, CPU seconds:", end="")
    for key, seconds in whole.manifest.timings.items():
        if key.endswith("_cpu_s"):
            print(f" {key.removesuffix('_cpu_s')} {seconds:.1f}", end="")
    found = comparisons(whole)
    letters = ", ".join(f"{letter} {found[letter]:,}" for letter in "ecnp?x")
    print(f"\ncomparisons of a claim with a draw: {letters}")
    print(
        f"distinct: {found['distinct']:,}, with unequal texts {found['unequal']:,}; a model that "
        f"compares gets {found['calls']:,} calls of up to {IN_CALL}, one that reads the wording of "
        f"draws and short answers up to {wording_calls(whole):,}"
    )
    shared(limit)
    print("\n| only this method, after UNCLE | requests | asked |")
    print("|---|---|---|")
    base = folder / "cache-of-uncle"
    run("uncle", folder, limit, base, "again")
    plain = told(run("faithfulness", folder, limit, base, "of-vanilla", methods="vanilla"))
    print(f"| vanilla | {plain[0]:,} | {plain[0] - plain[1]:,} |")
    for name in METHODS[1:]:
        both = told(run("faithfulness", folder, limit, base, f"of-{name}", methods=name))
        print(f"| {name}, after vanilla | {both[0]:,} | {both[0] - both[1]:,} |")


if __name__ == "__main__":
    main()
