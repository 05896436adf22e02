"""Why a number does not exist, in words: what its ratio would have been divided by."""

from __future__ import annotations

#: name of a metric -> what is missing on rows where it is undefined
EMPTY = {
    "FA": "every fact was hedged",
    "UA": "no fact was hedged",
    "UUR": "no fact is unknown",
    "KCR": "no fact is known",
    "over_hedge": "no fact is known",
    "J": "it takes both known and unknown facts",
    "J_within": "it takes a type of fact with known and unknown ones",
    "odds_ratio_within": "no type has hedged and unhedged, known and unknown facts",
    "log_odds_within": "no type has hedged and unhedged, known and unknown facts",
    "balanced_EA": "it takes both known and unknown facts",
    "lift_UA": "no fact was hedged",
    "F1_uncertain": "no fact was hedged and none is unknown",
    "hedge_precision": "no fact was hedged",
    "hedge_recall": "nothing was wrong without the instruction",
    "hedged_and_correct": "no fact was hedged",
    "unknown_but_correct": "no fact is unknown",
    "kappa": "one of the forms never hedged, or always did",
}


def undefined(name: str) -> str:
    """Return why a metric of this name has no value on rows where it was computed."""
    return EMPTY.get(name, "undefined on these rows")
