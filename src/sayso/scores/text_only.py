"""What the words alone give away: the text-only baseline of every leaderboard. A learned reference.

    s(x) = sum over the n-grams j of x of log(((a_j + 1) / (A + V)) / ((b_j + 1) / (B + V)))

Naive Bayes on which 1- and 2-grams of words stand in question and answer (Wang and Manning 2012):
a_j of the wrong answers and b_j of the right ones hold n-gram j, A and B are their sums over the V
n-grams of both; n-grams of neither say nothing. Range -inf..inf, higher = more like a wrong answer.
It sees neither model nor gold, so a score of uncertainty that does not beat it may have learned
which questions are hard, or how wrong answers are worded (arXiv 2605.17028 compares with such a
baseline, of embeddings). Answers are predicted from other groups, and ranked within their fold only
(:mod:`sayso.scores.p_ik`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.arrays import Floats
from sayso.scores.p_ik import folds_of, splits_of, too_few_to_learn

#: the row's name
TEXT_ONLY = "text_only"
#: places of n-grams, by a hash of theirs
PLACES = 2**18
#: words of one text that count
LONGEST = 2000
_WORD = re.compile(r"\w+|[^\w\s]")
Ids = NDArray[np.uint32]


class TextOnly(NamedTuple):
    """The baseline's value (n,) of each row, NaN without one, and the fold (n,) it is ranked in."""

    value: Floats
    fold: NDArray[np.int64]


def ngrams(question: str, answer: str) -> Ids:
    """Return which 1- and 2-grams of words stand in a question and in its answer, by their hash."""
    found: set[str] = set()
    for kind, text in (("q", question), ("a", answer)):
        words = ["^", *_WORD.findall(text.casefold())[:LONGEST], "$"]
        found.update(f"{kind} {word}" for word in words)
        found.update(f"{kind} {a} {b}" for a, b in pairwise(words))
    places = {crc32(one.encode("utf-8", "surrogatepass")) % PLACES for one in found}
    return np.asarray(sorted(places), dtype=np.uint32)


def text_only(
    rows: Sequence[Ids], incorrect: ArrayLike, groups: ArrayLike, folds: int = 5, seed: int = 0
) -> TextOnly | str:
    """Return the baseline of rows of n-grams, or why there is none.

    ``incorrect`` (n,) 1 = wrong, 0 = right, NaN = not known: such rows have no value. ``groups``
    (n,), entities or questions, are never cut: a row is predicted from rows of other groups.
    """
    wrong = np.asarray(incorrect, dtype=np.float64)
    use = ~np.isnan(wrong)
    if few := too_few_to_learn(int(use.sum()), int(np.nansum(wrong))):
        return few
    named = np.asarray(groups)
    folds = min(folds, len(np.unique(named[use])))
    if folds < 2:
        return "learns from other questions: all judged answers are to one"
    fold = folds_of(use, named, folds, np.random.default_rng(seed))
    value: Floats = np.full(len(wrong), np.nan)
    for learned, predicted in splits_of(fold):
        if len(np.unique(wrong[learned])) < 2:
            continue
        kinds = (np.flatnonzero(learned & (wrong == kind)).tolist() for kind in (1, 0))
        odds = log_odds(*(_counted(rows[n] for n in some) for some in kinds))
        for n in np.flatnonzero(predicted).tolist():
            value[n] = round(float(odds[rows[n]].sum()), 9)  # the order of a sum is no evidence
    if np.isnan(value[use]).all():
        return "the questions outside each fold have answers of one kind only"
    return TextOnly(value, fold)


def _counted(rows: Iterable[Ids]) -> Floats:
    """Return how many rows hold each n-gram (places,)."""
    counts = np.zeros(PLACES)
    for ids in rows:
        counts[ids] += 1
    return counts


def log_odds(wrong: Floats, right: Floats) -> Floats:
    """Return the log-odds (places,) of each n-gram from the counts of both kinds."""
    known = (wrong + right) > 0
    size = known.sum()
    ratio = np.log((wrong + 1) / (wrong.sum() + size)) - np.log((right + 1) / (right.sum() + size))
    return np.asarray(np.where(known, ratio, 0.0))
