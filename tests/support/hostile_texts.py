"""Texts of up to 50,000 characters that try to make a reader slow. Seeded: the same in every run.

What an answer of a model can be when it goes wrong, or when somebody wants it to: runs of one
character, things that open and never close, one phrase over and over, one line without an end.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

LONGEST = 50_000
#: lengths that are drawn, and how often
LENGTHS = (1_000, 4_000, 16_000, LONGEST)
OFTEN = (1, 1, 2, 4)


class Hostile(NamedTuple):
    """One text, and what it is made of."""

    kind: str
    text: str


_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_MARKS = ".,;:!?-–—_*#|/\\'\"“”‘’()[]{}<>%$€&+=~^`@…·•"
_SCRIPTS = (
    *("абвгдежзик", "αβγδεζηθικ", "中文字符测试", "日本語テスト", "한국어시험", "العربية", "हिन्दी"),
    *("ไทยภาษา", "עברית", "ქართული", "éèêüöß"),
)
_HIDDEN = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u202e\u202c\u2066\u0301\u0308\ufe0f\u034f"
_NAMES = "Mira Toll|Ada Bo|J. R. R. Holm|Jean de la Cour|O'Neil|Li-Mei Wu|van der Berg|Dr. A. Roe"
_HEDGES = (
    "I think|maybe|perhaps|probably|it is possible that|I am not sure, but|I believe that|"
    "it is said that|as far as I know|I could be wrong, but|reportedly|not|never|I do not know|"
    "it might be|possibly|I cannot say whether|who knows if|allegedly|according to some"
)
_SENTENCES = (
    "She was born in Ripley.|He died on 3 May 1999.|It is 5'11\" tall.|No. 5 won.|Is it so?|"
    "The U.S. He left.|Born in 1950, she sang.|While he knew, she did not.|They won [1][2].|"
    "I think so (?).|A. B. C. went.|It has 3 million people, and 4.|Paris, Rome, and Oslo."
)
_DATES = "3 May 1999|May 3, 1999|1999-05-03|03/04/1999|the 1990s|19th century|1946-1990|300 BC"
_NUMBERS = "5|1,000|3.14|2 million|5'11\"|40 %|$5|12 km|3 to 4|two hundred and fifty|1e9|10^6|21st"
_CHAINS = "and |or |, |; |of the |that |, who |, which |but |in the |to |is |was |the |by |not "
_OPENERS = '(|[|{|"|“|\'|<|<think>|```|**|__|$|(a |[1|{"a": |<b>|((|“‘'
_LINES = (
    "- item|* **Name:** value|1. Paris|## Heading|| a | b ||---|> quoted|Label: value|\tindented|"
    "|Early life:|http://a.example/b?c=d|```python|$S k1234$|### 1 k1234 Where?|a: b: c|[1] [2]"
)
_JSON = '{"code": "k1234", "verdicts": [|{"number": 1, "begins": "a b c", |[[|{"a":|"\\u0041",|]},'


def _pick(rng: random.Random, choices: str) -> str:
    return rng.choice(choices.split("|"))


def _run(rng: random.Random) -> str:
    return rng.choice([*_LETTERS, *_LETTERS.upper(), *"0123456789", *_MARKS, *" \t\n\r", *"中éя"])


def _pair(rng: random.Random) -> str:
    return _run(rng) + _run(rng)


def _script(rng: random.Random) -> str:
    return "".join(rng.choices(rng.choice(_SCRIPTS), k=rng.randint(1, 40)))


def _long_word(rng: random.Random) -> str:
    return "".join(rng.choices(_LETTERS, k=rng.choice((30, 300, 3_000)))) + rng.choice(" -'.")


#: kind -> what makes its next piece; a piece is drawn once and repeated, or drawn anew each time
_PIECES: dict[str, Callable[[random.Random], str]] = {
    "run": _run,
    "pair": _pair,
    "marks": lambda rng: "".join(rng.choices(_MARKS, k=rng.randint(1, 6))),
    "spaces": lambda rng: "".join(rng.choices(" \t\n\u00a0", k=rng.randint(1, 6))),
    "script": _script,
    "hidden": lambda rng: rng.choice(_LETTERS) + "".join(rng.choices(_HIDDEN, k=3)),
    "long word": _long_word,
    "hedge": lambda rng: _pick(rng, _HEDGES) + rng.choice((" ", ", ", ". ")),
    "date": lambda rng: _pick(rng, _DATES) + rng.choice((" ", ", ", ". ", " to ", "-")),
    "number": lambda rng: _pick(rng, _NUMBERS) + rng.choice((" ", ", ", ". ", " to ", "-", "")),
    "name": lambda rng: _pick(rng, _NAMES) + rng.choice((" ", ", ", ". ", " and ", "\n")),
    "sentence": lambda rng: _pick(rng, _SENTENCES) + rng.choice((" ", "", "\n")),
    "chain": lambda rng: "".join(rng.choices(_CHAINS.split("|"), k=2)) + rng.choice(("", "x ")),
    "opener": lambda rng: _pick(rng, _OPENERS) + rng.choice(("", " ", "a")),
    "line": lambda rng: _pick(rng, _LINES) + "\n",
    "json": lambda rng: _pick(rng, _JSON) + rng.choice(("", " ", "\n")),
    "brackets": lambda rng: rng.choice(("()", "[]", "{}", "(a)", "“”", '""', "(1)", "[1]", "(?).")),
    "initials": lambda rng: f"{rng.choice(_LETTERS).upper()}." + rng.choice(("", " ")),
    "thought": lambda rng: rng.choice(("<think>", "</think>", "<think>a</think>", "\n<think>\n")),
}


def _repeated(rng: random.Random, size: int) -> Hostile:
    kind = rng.choice([*_PIECES])
    piece = _PIECES[kind](rng)
    return Hostile(kind, piece * (size // len(piece) + 1))


def _drawn(rng: random.Random, size: int) -> Hostile:
    kind = rng.choice([*_PIECES])
    pieces: list[str] = []
    while size > 0:
        pieces.append(_PIECES[kind](rng))
        size -= len(pieces[-1])
    return Hostile(f"{kind}, drawn", "".join(pieces))


def _mixed(rng: random.Random, size: int) -> Hostile:
    kinds = rng.sample([*_PIECES], 3)
    pieces: list[str] = []
    while size > 0:
        pieces.append(_PIECES[rng.choice(kinds)](rng) * rng.choice((1, 1, 20)))
        size -= len(pieces[-1])
    return Hostile(" + ".join(kinds), "".join(pieces))


def _nested(rng: random.Random, size: int) -> Hostile:
    opening, closing = rng.choice(("()", "[]", "{}", "“”", "<>", "«»"))
    inner = rng.choice(("", "a", "a ", "May 1999 "))
    half = size // (2 + len(inner))
    return Hostile("nested", (opening + inner) * half + closing * half)


def _framed(rng: random.Random, size: int) -> Hostile:
    """A run in the middle of plain words, where a pattern has begun to match."""
    kind, run = _repeated(rng, size)
    before, after = _pick(rng, _SENTENCES), _pick(rng, _SENTENCES)
    cut = rng.randint(1, len(before))
    return Hostile(f"{kind}, framed", f"{before[:cut]}{run[: max(1, size - 60)]}{after}")


_MAKERS = (_repeated, _repeated, _drawn, _mixed, _framed, _framed, _nested)


def hostile_texts(count: int, first: int = 0, seed: int = 0) -> Iterator[Hostile]:
    """Yield so many texts from number ``first`` on; a number always gives the same text."""
    for number in range(first, first + count):
        rng = random.Random(f"{seed} {number}")
        size = rng.choices(LENGTHS, OFTEN)[0]
        kind, text = rng.choice(_MAKERS)(rng, size)
        yield Hostile(kind, text[:size])
