"""Words for numbers, and the names of months."""

from __future__ import annotations

from sayso.judges.english.lexicon import lexicon_rows

UNITS, ORDINALS, TENS, _MONTHS = (
    tuple(row.partition(": ")[2].split()) for row in lexicon_rows("numbers")
)
NUMBER_WORDS: dict[str, int] = {
    **{w: i for i, w in enumerate(UNITS)},
    **{w: i for i, w in enumerate(ORDINALS)},
    **{w: 10 * (i + 2) for i, w in enumerate(TENS)},
    **{w[:-1] + "ieth": 10 * (i + 2) for i, w in enumerate(TENS)},
}
#: into how many parts a fraction divides
PARTS = {"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "tenth": 10}
MONTH_NAMES = frozenset(_MONTHS)
MONTHS: dict[str, int] = {
    **{m: i + 1 for i, m in enumerate(_MONTHS)},
    **{m[:3]: i + 1 for i, m in enumerate(_MONTHS)},
    "sept": 9,
}
