"""The ranking of two scores turns around with the answer metric: a simulation.

    python benchmarks/findings/selective_flip.py [--answers 100000] [--studies 200]
        [--figure FILE.svg]

Answers of N words, N = max(2, round(lognormal(1.75, .6))), are right with probability .75 whatever
their length, and hold their two-word reference if they are right. Each has one surprise a token,
lognormal(0, .3), for wrong answers exp(.286) times that: a real signal, of AUROC .75. Perplexity is
that surprise, the sequence probability's -log p is N times it. ROUGE-L of a right answer is
4/(2 + N), of a wrong one 0. Nothing else is in the model: whatever a table of AUROCs says beyond
the column "truth" is made by the answer metric.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sayso.metrics.compare_scores import paired_differences, rank_flips
from sayso.metrics.length_audit import length_inflation
from sayso.metrics.ranking import auroc

P_RIGHT, REFERENCE_WORDS, SPREAD, SIGNAL = 0.75, 2, 0.3, 0.286
THRESHOLDS = tuple(round(0.05 * i, 2) for i in range(1, 14))
SCORES = ("sequence_probability", "perplexity", "length", "random")
Floats = NDArray[np.float64]


class Sample(NamedTuple):
    """n answers: the scores by name, truly wrong or not, and the ROUGE-L of each."""

    scores: dict[str, Floats]
    wrong: NDArray[np.bool_]
    rouge: Floats


def draw(n: int, rng: np.random.Generator, signal: float = SIGNAL) -> Sample:
    """Return n simulated answers."""
    words = np.maximum(2, np.round(rng.lognormal(1.75, 0.6, n)))
    right = rng.random(n) < P_RIGHT
    rate = rng.lognormal(0, SPREAD, n) * np.exp(signal * ~right)
    scores = {
        "sequence_probability": words * rate,
        "perplexity": np.exp(rate),
        "length": words,
        "random": rng.random(n),
    }
    m = REFERENCE_WORDS
    return Sample(scores, ~right, np.where(right, 2 * m / (m + words), 0.0))


def by_metric(sample: Sample, rng: np.random.Generator) -> dict[str, dict[str, float]]:
    """Return answer metric -> score -> AUROC."""
    flipped = sample.wrong ^ (rng.random(len(sample.wrong)) < 0.05)
    metrics = {"truth": sample.wrong, "a judge that errs in 5 %": flipped}
    metrics |= {f"ROUGE-L > {cut:g}": sample.rouge <= cut for cut in (0.3, 0.5)}
    return {
        by: {name: float(auroc(score, wrong) or 0.5) for name, score in sample.scores.items()}
        for by, wrong in metrics.items()
    }


def curve(sample: Sample) -> list[tuple[float, str, float]]:
    """Return (threshold, score, AUROC against ROUGE-L at that threshold)."""
    return [
        (cut, name, float(auroc(sample.scores[name], sample.rouge <= cut) or 0.5))
        for cut in THRESHOLDS
        for name in ("sequence_probability", "perplexity", "length")
    ]


def small_studies(studies: int, n: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return how often a study of n answers shows the turn, and how often clear of chance."""
    turned = clear = 0
    for _ in range(studies):
        sample = draw(n, rng)
        scores = {k: sample.scores[k] for k in ("sequence_probability", "perplexity")}
        found = rank_flips(
            {
                "truth": paired_differences(scores, sample.wrong, n=300),
                "rouge_l": paired_differences(scores, sample.rouge <= 0.5, n=300),
            }
        )
        turned += bool(found)
        clear += any(flip.clear for flip in found)
    return turned / studies, clear / studies


def figure(points: list[tuple[float, str, float]], truth: dict[str, float], place: Path) -> None:
    """Write the figure: AUROC against ROUGE-L by its threshold, and the truth as dashed lines."""
    import altair as alt
    import vl_convert

    colors = {"sequence_probability": "#0072b2", "perplexity": "#d55e00", "length": "#666666"}
    rows = [{"threshold": t, "score": s, "AUROC": a} for t, s, a in points]
    real = [{"score": s, "AUROC": truth[s], "x": 0.66} for s in colors]
    palette = alt.Color(
        "score:N",
        scale=alt.Scale(domain=list(colors), range=list(colors.values())),
        legend=alt.Legend(title=None, orient="bottom"),
    )
    y = alt.Y("AUROC:Q", scale=alt.Scale(domain=[0.4, 1.0]), title="AUROC")
    lines = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(point=True, strokeWidth=2)
        .encode(
            x=alt.X("threshold:Q", title="an answer is right if its ROUGE-L is above"),
            y=y,
            color=palette,
        )
    )
    dashes = (
        alt.Chart(alt.InlineData(values=real))
        .mark_rule(strokeDash=[5, 4], strokeWidth=1.5)
        .encode(y=y, color=palette)
    )
    chart = (
        alt.layer(dashes, lines)
        .properties(width=560, height=320, background="white")
        .properties(title="Solid: against ROUGE-L. Dashed: the same scores against the truth.")
    )
    place.write_text(vl_convert.vegalite_to_svg(chart.to_dict()), encoding="utf-8")


def main() -> None:
    """Print the tables and write the figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=100_000)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--figure", type=Path)
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    sample = draw(given.answers, rng)
    found = by_metric(sample, rng)
    print("| AUROC against | " + " | ".join(SCORES) + " |")
    print("|---" * (len(SCORES) + 1) + "|")
    for by, values in found.items():
        print(f"| {by} | " + " | ".join(f"{values[name]:.3f}" for name in SCORES) + " |")
    without = by_metric(draw(given.answers, rng, signal=0.0), rng)
    print("\nWithout any signal (nothing tells right from wrong):\n")
    print("| AUROC against | " + " | ".join(SCORES) + " |")
    print("|---" * (len(SCORES) + 1) + "|")
    for by, values in without.items():
        print(f"| {by} | " + " | ".join(f"{values[name]:.3f}" for name in SCORES) + " |")
    right = ~sample.wrong
    q = float((sample.rouge[right] > 0.5).mean())
    closed = length_inflation(float(right.mean()), q)["auroc_rouge_of_length"]
    print(
        f"\np = {right.mean():.3f}, q = {q:.3f}: a score that is length exactly between accepted "
        f"and refused answers has {closed:.3f} (closed form)"
    )
    for n in (100, 400):
        turned, clear = small_studies(given.studies, n, rng)
        print(
            f"studies of {n} answers: the ranking turns in {turned:.0%}, clear of chance under "
            f"both metrics in {clear:.0%}"
        )
    if given.figure:
        figure(curve(sample), found["truth"], given.figure)


if __name__ == "__main__":
    main()
