"""What people take words of probability to mean.

The seventeen phrases and what 123 people took them to mean (percent: median and quartiles) are of
the survey of W. Fagen-Ulmschneider, "Perception of Probability Words", by which Yona et al.
(arXiv 2405.16908) checked their judge. The sentences are ours.
"""

from __future__ import annotations

from typing import NamedTuple

from sayso.judges.english.lexicon import lexicon_rows


class Hedge(NamedTuple):
    """A phrase, the quartiles and median of what people took it to mean, and our sentences."""

    phrase: str
    low: float
    median: float
    high: float
    sentences: tuple[str, ...]


def _hedge(row: str) -> Hedge:
    phrase, low, median, high, *sentences = row.split(" | ")
    return Hedge(phrase, float(low) / 100, float(median) / 100, float(high) / 100, tuple(sentences))


PHRASES = tuple(map(_hedge, lexicon_rows("survey")))
