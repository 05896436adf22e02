"""How much of a chance an adjective says, and the tone of words that are less than hedges."""

from __future__ import annotations

from collections.abc import Iterable

from sayso.annotate.decisive_words import left_out
from sayso.annotate.normalize import word_list

# How much of a chance: log odds of "a ... chance".
_AMOUNTS = """
-4.6: no zero nil
-3.2: tiny minuscule infinitesimal negligible miniscule
-2.1: slim small low little remote minimal outside poor faint scant minor
-1.9: slight limited few bare
-0.4: some modest any
0.0: even equal balanced
0.2: fair moderate medium real distinct
0.4: reasonable decent realistic
0.9: good sizable sizeable solid fighting healthy
1.2: big large substantial strong considerable significant
1.5: great high excellent outstanding
1.9: every
2.6: overwhelming
"""


# What is less than a hedge: the tone of a plain statement, in log odds.
_TONE: dict[str, float] = {
    **dict.fromkeys(
        word_list(
            "about roughly approximately around nearly almost circa estimated often usually"
            " typically generally sometimes commonly tend tends tended can would should potential"
            " frequently primarily mostly largely partly relatively most likely prospective aims"
        ),
        -0.35,
    ),
    **dict.fromkeys(["some", "many", "several", "various", "certain"], -0.15),
    **dict.fromkeys(
        word_list("no not never none always all every only significant significantly"),
        0.2,
    ),
}


def tone(words: Iterable[str]) -> float:
    """Return what softening words ("about", "often") and absolute ones ("never") add, -0.9..0.4."""
    gone = left_out()
    total = sum(_TONE.get(word, 0.0) for word in words if word not in gone)
    return max(-0.9, min(0.4, total))


def _amounts() -> dict[str, float]:
    level, found = 0.0, {}
    for word in _AMOUNTS.split():
        if word.endswith(":"):
            level = float(word[:-1])
        else:
            found[word] = level
    return found


AMOUNTS: dict[str, float] = _amounts()


def amount(word: str) -> float | None:
    """Return the level of an amount ("good", "slim") of chance."""
    return None if word in left_out() else AMOUNTS.get(word)
