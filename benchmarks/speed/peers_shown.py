"""How ``peers.py`` prints what both sides did, each measurement beside its bar."""

from __future__ import annotations

from typing import Any

import numpy as np

#: our score, the peer's, and what turns ours into theirs where only the scale differs
SAME = {
    "sequence_probability": ("MaximumSequenceProbability", None),
    "perplexity": ("Perplexity", np.log),
    "mean_token_entropy": ("MeanTokenEntropy", None),
    "naive_entropy_sum": ("MonteCarloSequenceEntropy", None),
    "naive_entropy": ("MonteCarloNormalizedSequenceEntropy", None),
    "semantic_entropy_mc_sum": ("SemanticEntropy", None),
    "semantic_entropy_mc_sum_unique": ("SemanticEntropyUnique", None),
    "discrete_semantic_entropy": ("SemanticEntropyEmpirical", None),
    "num_sets": ("NumSemSets", None),
    "eigv_entailment": ("EigValLaplacian_NLI_score_entail", None),
    "degree_entailment": ("DegMat_NLI_score_entail", None),
    "eccentricity_entailment": ("Eccentricity_NLI_score_entail", None),
    "lexical_similarity": ("LexicalSimilarity_rougeL", lambda x: x - 1),
}


def line(name: str, theirs: float, mine: float, wanted: float) -> None:
    """Print one measurement against its bar."""
    share = mine / theirs
    held = "holds" if share <= wanted else "MISSED"
    print(f"  {name:<44}{theirs:>12,.1f}{mine:>12,.1f}{share:>9.3f}  <= {wanted:<6.3g} {held}")


def print_generation(peer: dict[str, Any], mine: dict[str, Any]) -> None:
    """Print what a user sees of both sides, memory and seconds, and then what explains it."""
    print(f"\n  {'':<44}{'lm-polygraph':>12}{'sayso':>12}{'share':>9}")
    print("  what a user sees")
    line("peak memory of the process, MB", peer["memory"]["peak"], mine["memory"]["peak"], 0.5)
    line("CPU seconds, one thread", peer["cpu"]["all"], mine["cpu"]["all"], 0.42)
    print("  what explains it")
    line("LM forward calls", peer["lm"]["calls"], mine["lm"]["calls"], 1 / 8)
    line("sayso's token slots (left: real tokens)", mine["real"], mine["lm"]["slots"], 1.15)
    loaded = [side["memory"]["loaded"] for side in (peer, mine)]
    print(f"  {'memory loaded before any request, MB':<44}{loaded[0]:>12,.1f}{loaded[1]:>12,.1f}")
    print(f"  token slots {peer['lm']['slots']:,} and {mine['lm']['slots']:,}")
    print(f"  NLI, random draws, whole tables: {peer['nli']} and {mine['nli']}")
    for name, side in (("lm-polygraph", peer), ("sayso", mine)):
        print(f"  {name}: " + ", ".join(f"{k} {v:.1f} s" for k, v in side["cpu"].items()))
        most = {k: round(v) for k, v in side["memory"]["by"].items()}
        print(f"    most memory so far, MB: loaded {side['memory']['loaded']:.0f}, then {most}")
    print(f"  scores of ours without a value: {mine['without a value']}")


def print_equality(peer: dict[str, Any], mine: dict[str, Any], found: dict[str, Any]) -> None:
    """Print how far our scores of the peer's draws are from the peer's scores."""
    print("\n  the peer's own draws, scored by both: largest difference, questions equal to 1e-6")
    for name, (theirs, scale) in SAME.items():
        values = np.asarray(found["scores"][name], dtype=np.float64)
        values = scale(values) if scale else values
        gap = np.abs(values - np.asarray(peer["scores"][theirs], dtype=np.float64))
        print(f"  {name:<32} {theirs:<38} {gap.max():9.2e}  {int((gap < 1e-6).sum())}/{len(gap)}")
    for name, gap in found["gaps"].items():
        print(f"  {name}: largest difference {gap:.1e}")
    low, high = found["own"]
    print(f"  the peer's P(a draw entails itself): {low:.3f} to {high:.3f}; here 1")
    same = sum(a == b for a, b in zip(peer["kept"]["greedy_tokens"], mine["greedy"], strict=True))
    print(f"  equal greedy answers: {same} of {len(mine['greedy'])}; draws with an end: "
          f"{found['ended']}")  # fmt: skip


def print_meanings(peer: dict[str, Any], mine: dict[str, Any], questions: int) -> None:
    """Print pairs and calls on real samples, and whether the clusters are equal."""
    what = f"real samples, {questions} questions"
    print(f"\n  {what:<44}{'lm-polygraph':>12}{'sayso':>12}")
    for name, one in mine.items():
        line(f"NLI pairs, {name}", peer["nli"]["rows"], one["nli"]["rows"], 0.4)
        line(f"NLI calls, {name}", peer["nli"]["calls"], one["nli"]["calls"], 1 / 5)
    one = mine["clusters"]
    gap = np.abs(np.asarray(one["entropies"]) - np.asarray(peer["entropies"])).max()
    equal = sum(a == b for a, b in zip(one["ids"], peer["ids"], strict=True))
    sets = sum(a == b for a, b in zip(one["sets"], peer["sets"], strict=True))
    print(
        f"  equal clusters {equal} of {questions}; discrete semantic entropy differs by at most "
        f"{gap:.1e}; equal numbers of sets {sets}"
    )
