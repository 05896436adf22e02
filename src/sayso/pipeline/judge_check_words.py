"""Does whoever reads wording read it as people do? Hedges in sentences, and pairs of answers.

The seventeen phrases and what 123 people took them to mean (percent: median and quartiles) are of
the survey of W. Fagen-Ulmschneider, "Perception of Probability Words", by which Yona et al. (arXiv
2405.16908) checked their judge. Sentences and pairs are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sayso.metrics.ranks import spearman
from sayso.pipeline.judge_check_records import Phrase, WordsCheck, share
from sayso.protocols.faithfulness_reading import pair_reader, wording_reader

QUESTION = "What is known about it?"


class Said(NamedTuple):
    """A phrase, the quartiles and median of what people took it to mean, and our sentences."""

    phrase: str
    low: float
    median: float
    high: float
    sentences: tuple[str, ...]


def _said(phrase: str, low: float, median: float, high: float, *sentences: str) -> Said:
    return Said(phrase, low / 100, median / 100, high / 100, sentences)


PHRASES = (
    _said("almost certain", 90, 95, 98, "It is almost certain that the mill burned down in 1790.",
          "She is almost certain to have been born in Vell."),
    _said("highly likely", 80, 90, 95, "It is highly likely that he studied in Orm.",
          "The fort was highly likely built by the Duke of Sarn."),
    _said("very good chance", 75, 80, 90, "There is a very good chance that Lena Falk sang it.",
          "There's a very good chance that the lake lies in Tarn County."),
    _said("we believe", 65, 75, 85, "We believe that the comet was first seen from Brek.",
          "We believe the bridge opened in 1931."),
    _said("likely", 65, 70, 75, "The actor was likely born in Derran.",
          "It is likely that the company was founded in 1904."),
    _said("probable", 60, 70, 75, "It is probable that the film was shot in Kell.",
          "The probable author is Mira Toll."),
    _said("probably", 60, 70, 75, "The river probably rises near Hald.",
          "It was probably Jan Oster who composed it."),
    _said("better than even", 55, 60, 60,
          "The odds are better than even that the ship sank in March.",
          "There is a better than even chance that he lived in Vell."),
    _said("about even", 50, 50, 50, "The chances are about even that the tower is in Orm.",
          "It is about even whether she won the prize in 1988."),
    _said("probably not", 15, 25, 30, "The painting is probably not by Anna Roos.",
          "He was probably not born in Sarn."),
    _said("we doubt", 10, 20, 30, "We doubt that the castle was built before 1400.",
          "We doubt that Pell is the capital."),
    _said("unlikely", 10, 20, 30, "It is unlikely that the novel appeared in 1920.",
          "The singer is unlikely to have grown up in Brek."),
    _said("improbable", 5, 10, 22.5, "It is improbable that the mine closed in 1950.",
          "It seems improbable that the star has a companion."),
    _said("little chance", 5, 10, 15, "There is little chance that the drug was found in Orm.",
          "There's little chance that the treaty was signed in Hald."),
    _said("chances are slight", 10, 10, 20,
          "The chances are slight that the king died in battle.",
          "Chances are slight that the airline flew to Kell."),
    _said("highly unlikely", 5, 5, 10, "It is highly unlikely that the island is inhabited.",
          "He is highly unlikely to have met Lena Falk."),
    _said("almost no chance", 1, 2, 5, "There is almost no chance that the tomb is in Vell.",
          "There's almost no chance that the letter is from 1650."),
)  # fmt: skip


class Claim(NamedTuple):
    """A claim that answers a question, and samples with whether each contradicts it."""

    question: str
    claim: str
    samples: tuple[tuple[str, bool], ...]


CLAIMS = (
    Claim("When did the bridge open?", "It opened in 1931.",
          (("On 4 May 1931.", False), ("In the 1930s.", False), ("It opened in 1913.", True),
           ("I think it was in the 19th century.", True), ("In 1931, if I remember.", False))),
    Claim("Where was Mira Toll born?", "She was born in Vell, Sarn.",
          (("In Vell.", False), ("In Sarn.", False), ("Orm", True),
           ("Mira Toll was probably born in Kell.", True))),
    Claim("Who wrote The Salt Road?", "Jan Oster wrote it.",
          (("J. Oster", False), ("The novel is by Lena Falk.", True), ("Oster", False),
           ("It was written by Jan Oster and published in 1950.", False))),
    Claim("How many people live in Brek?", "About 12,000 people live there.",
          (("12 thousand", False), ("Roughly 45,000.", True), ("Some 3 million people.", True),
           ("12,000", False))),
    Claim("Is Tarn an island?", "Yes, it is an island.",
          (("Yes.", False), ("No, it is not.", True), ("Tarn is an island in the north.", False),
           ("No.", True))),
    Claim("What did Ada Veld do for a living?", "She was a painter.",
          (("Ada Veld was a Sarnian painter.", False), ("A chemist.", True),
           ("She worked as a lawyer.", True), ("painter and printmaker", False))),
)  # fmt: skip


def check_words(judge: Any) -> WordsCheck:
    """Read every sentence and every pair as a faithfulness run with this judge would.

    By the judge's model if it has one, else by the rules. What could not be read is counted and in
    no mean.
    """
    wording = wording_reader("auto", judge, None)
    pairs = [(QUESTION, s) for said in PHRASES for s in said.sentences]
    read = wording.read(pairs)
    rows = []
    for said in PHRASES:
        scores = [_score(read[QUESTION, s]) for s in said.sentences]
        held = [x for x in scores if x is not None]
        mean = float(np.mean(held)) if held else None
        rows.append(Phrase(said.phrase, said.low, said.median, said.high, mean, len(held)))
    means = [row.mean for row in rows if row.mean is not None]
    medians = [row.median for row in rows if row.mean is not None]
    rank = spearman(means, medians) if len(means) > 2 else None
    inside = sum(row.mean is not None and row.inside for row in rows)
    agreed, told, missing = _pairs(judge)
    return WordsCheck(
        by=wording.signature,
        phrases=tuple(rows),
        inside=share(inside, len(means)),
        rank=None if rank is None else float(np.asarray(rank)),
        unread=len(pairs) - sum(row.sentences for row in rows),
        pairs=share(agreed, told),
        pairs_unread=missing,
    )


def _score(said: Any) -> float | None:
    """Return the score of a sentence's one claim; several are averaged, none is no score."""
    scores: Sequence[float] = [score for _, score in said.assertions]
    return float(np.mean(scores)) if scores else None


def _pairs(judge: Any) -> tuple[int, int, int]:
    """Return how many pairs were told rightly, how many were told at all, and how many were not."""
    reader = pair_reader("auto", judge, None, None)
    wanted = {(c.question, c.claim, s): yes for c in CLAIMS for s, yes in c.samples}
    read = reader.read(list(wanted))
    told = {triple: letter for triple, letter in read.items() if letter != "?"}
    agreed = sum((letter == "c") == wanted[triple] for triple, letter in told.items())
    return agreed, len(told), len(wanted) - len(told)
