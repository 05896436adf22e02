"""Names of people, places, works and institutions: whether two names are of one thing.

``name_key`` undoes what writers choose freely: case, diacritics, hyphens, titles, Roman numerals,
ordinals in words. ``compare_names`` weighs what is left: numbers and generations first, then the
family name, given name and middle names of people, the words of everything else. A part of a name
alone ("Adams" for "John Adams") is "unsure": whoever calls knows whether a part is enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from sayso.judges.english.families import country_names, slip
from sayso.judges.english.lexicon import (
    first_of_group,
    lexicon_groups,
    lexicon_rows,
    lexicon_words,
)
from sayso.judges.english.tokens import CHANGERS, NUMERALS, STOP, Token, tokens
from sayso.judges.patterns import regex

Comparison = Literal["same", "different", "unsure"]

#: No name is longer; what is gets compared as "unsure" instead of word by word.
_LONGEST = 200
#: numerals of one letter; no person's name ends in an initial
_NUMERALS = NUMERALS | {"L": "50"}
_SMALL = lexicon_words("function words", "names")
_CREDENTIALS = lexicon_words("people", "names.credential")
GENERATIONS = {"junior": "jr", "fils": "jr", "younger": "jr", "senior": "sr", "pere": "sr"} | {
    "elder": "sr"
}
#: Nouns that say what kind of thing is named and may be left out.
_TRANSPARENT = lexicon_words("things", "names.clear")
#: Nouns and adjectives that make another thing of a name.
CLASSES = (lexicon_words("things", "names.class") | CHANGERS) - {"mount"}
_SCHOOLS = lexicon_words("things", "names.school")
#: Rivers, lakes and cities that are named like a state or a country.
_SHARED = lexicon_words("namesakes", "names.shared")
#: Places where "University of X" and "X University" are two institutions.
_TWO_UNIVERSITIES = lexicon_words("namesakes", "names.university") | {"new york"}
#: Different people, of whom one is known with a middle or later name that the other lacks.
_NAMESAKES = {frozenset(row.split("/")) for row in lexicon_rows("different people")}
_VARIANTS = first_of_group("name variants")
TITLES = lexicon_words("people", "names.title")
PARTICLES = lexicon_words("people", "names.particle")
#: The groups of given names that can be one person's, by name.
_GROUPS: dict[str, set[int]] = {}
for _i, _group in enumerate(lexicon_groups("nicknames")):
    for _name in _group:
        _GROUPS.setdefault(_name, set()).add(_i)


def same_given(a: str, b: str) -> bool:
    """Tell whether two given names can be one person's: equal, an initial, a short form."""
    if a == b or (len(a) == 1 and b.startswith(a)) or (len(b) == 1 and a.startswith(b)):
        return True
    if _GROUPS.get(a, set()) & _GROUPS.get(b, set()):
        return True
    short, long = sorted((a, b), key=len)
    return len(short) >= 3 and long.startswith(short)


def person_parts(items: Sequence[Token]) -> list[Token] | None:
    """Return the parts of a name of 2 to 5 capitalized words, without titles.

    ``None`` where the tokens do not look like a name (lower-case words, numbers, function words).
    """
    kept = list(items)
    while len(kept) > 1 and kept[0].text in TITLES:
        kept = kept[1:]
    if not 2 <= len(kept) <= 5 or items[0].text in CHANGERS:
        return None
    named = all((t.capital or t.text in PARTICLES) and not t.number for t in kept)
    return kept if named and kept[-1].capital and len(kept[-1].text) > 1 else None


def stands_alone(items: Sequence[Token], i: int) -> bool:
    """Tell whether a family name is said without a given name: "Pasteur", "Dr. Pasteur".

    A capitalized word right before or after it makes another name of it ("Ricky Wilson"), and so
    does "of" or a Roman numeral ("Bank of Japan", "Louis XVI").
    """
    k = i - 1
    while k >= 0 and items[k].text in PARTICLES:
        k -= 1
    before = items[k] if k >= 0 else None
    after = items[i + 1] if i + 1 < len(items) else None
    if after is not None and (after.text == "of" or (after.number and after.raw.isalpha())):
        return False
    if after is not None and after.capital and not after.number and after.text not in STOP:
        return False
    return before is None or not before.capital or before.text in TITLES or before.text in STOP


# ---- comparing two names


@lru_cache(maxsize=16384)
def name_key(text: str) -> tuple[str, ...]:
    """Return a name in its normal form: the same for ways of writing that never matter.

    No case, diacritics, articles, titles before a name, or credentials after it; "VIII", "the
    Eighth" and "8" are one number, initials are single letters, a rank before a noun follows it
    ("Second World War" as "world war 2"), and generations are "jr" and "sr".
    """
    items = [
        t
        for t in tokens(text[:_LONGEST])
        if t.text not in _SMALL or (len(t.raw) == 1 and t.raw.isupper())
    ]
    while len(items) > 1 and items[0].text in TITLES and items[0].text != "saint":
        del items[0]
    while len(items) > 1 and items[-1].text in _CREDENTIALS:
        del items[-1]
    key: list[str] = []
    for i, t in enumerate(items):
        after = items[i + 1] if i + 1 < len(items) else None
        if t.raw in ("l", "ll", "lll") and i and after is None:
            key.append(str(len(t.raw)))  # capitals that were read as letters
        elif (
            t.raw in _NUMERALS
            and i
            and len(items[i - 1].text) > 1
            and (after is None or text[t.end : t.end + 4] == " of ")  # "Charles I of England"
        ):
            key.append(_NUMERALS[t.raw])
        elif t.text in ("no", "number", "nr") and after is not None and after.number:
            continue
        elif i == 0 and after and t.raw.isupper() and 2 <= len(t.raw) <= 3 and t.text.isalpha():
            key.extend([t.text] if after.raw.isupper() else t.text)
        elif key and key[-1] + t.text in _VARIANTS:
            key[-1] += t.text  # "Tse-tung"
        else:
            key.append(GENERATIONS.get(t.text, t.text) if i else t.text)
    if len(key) > 1 and items[0].number and not items[0].raw.isdigit():
        key = [*key[1:], key[0]]
    return tuple(key)


@lru_cache(maxsize=16384)
def compare_names(a: str, b: str) -> Comparison:
    """Tell whether two names are of the same thing, of different ones, or neither for sure.

    "unsure" is a part of a name beside the whole ("Adams", "John Adams"), a ruler without a
    number, and what is no name at all. Symmetric; never raises.
    """
    x, y = name_key(a), name_key(b)
    if not x or not y or max(len(a), len(b)) > _LONGEST:
        return "unsure"
    if x == y or "".join(x) == "".join(y):
        return "same"
    if b.strip() in country_names(a) or _abbreviates(a, b) or _abbreviates(b, a):
        return "same"
    generations = [{"jr", "sr"} & set(key) for key in (x, y)]
    if all(generations) and generations[0] != generations[1]:
        return "different"
    numbers = [sorted(w for w in key if w[0].isdigit()) for key in (x, y)]
    if all(numbers) and numbers[0] != numbers[1]:
        return "different"
    one, two = ([w for w in key if w.isalpha() and w not in ("jr", "sr")] for key in (x, y))
    if frozenset((" ".join(one), " ".join(two))) in _NAMESAKES:
        return "different"
    verdict = _words(one, two)
    if any(numbers) and verdict != "different":
        if all(numbers):
            letters = sorted(w for w in one if len(w) == 1) == sorted(w for w in two if len(w) == 1)
            return "same" if letters or verdict == "same" else "different"
        ruler = verdict == "same" and _ruler(a, b, numbers[0] or numbers[1])
        return "unsure" if ruler else "different"
    if "sr" in generations[0] ^ generations[1] and verdict == "same":
        return "unsure"
    return verdict


def _ruler(a: str, b: str, numbers: Sequence[str]) -> bool:
    """Tell whether a number that one name lacks may be a ruler's: "Elizabeth" for "Elizabeth II".

    Of things, the number is the name: "Rocky" is not "Rocky 2", but the first may go without.
    """
    if numbers == ["1"]:
        return True
    for name in (a, b):
        items = tokens(name)
        roman = [i for i, t in enumerate(items) if t.number and t.raw.isalpha() and t.raw.isupper()]
        if items[0].text in TITLES or (roman and (roman[0] == 1 or roman[0] < len(items) - 1)):
            return True
    return False


def _abbreviates(short: str, name: str) -> bool:
    """Tell whether a word in capitals is the initials of a name: "MIT", "JFK"."""
    letters = short.strip().replace(".", "")
    if not (2 <= len(letters) <= 6 and letters.isupper() and letters.isalpha()):
        return False
    words = [t for t in tokens(name[:_LONGEST]) if len(t.text) and not t.number]
    if len(words) < 2:
        return False
    firsts = "".join(t.text[0] for t in words)
    capitals = "".join(t.text[0] for t in words if t.capital)
    return letters.casefold() in (firsts, capitals)


#: a letter that other alphabets are written with or without: Gandhi, Ghandi, Gandi
_BREATH = regex(r"(?<=[bdgkt])h")


def _alike(a: str, b: str) -> bool:
    """One word of a name, up to a typing slip inside it and known ways to write it."""
    if a == b or _VARIANTS.get(a, a) == _VARIANTS.get(b, b):
        return True
    if min(len(a), len(b)) > 4 and _BREATH.sub("", a) == _BREATH.sub("", b):
        return True
    short, long = sorted((a, b), key=len)
    if long.startswith(short):
        return len(short) > 3 and long == short + short[-1]  # "Bennet", but not "Paula"
    return slip(a, b)


def _words(x: Sequence[str], y: Sequence[str]) -> Comparison:
    """Compare the words of two names, without their numbers."""
    if not x or not y:
        return "same" if list(x) == list(y) else "different"
    # "Al" is a given name where it comes first, and no particle
    x, y = (
        [w for i, w in enumerate(key) if w not in PARTICLES or (w == "al" and i == 0)] or [*key]
        for key in (x, y)
    )
    kinds = CLASSES | _TRANSPARENT
    if sorted(x) == sorted(y):
        place = " ".join(w for w in x if w != "university")
        apart = x != y and "university" in x and place in _TWO_UNIVERSITIES
        return "different" if apart else "same"
    if min(len(x), len(y)) > 1 and not (kinds & set(x) or kinds & set(y)):
        return _person(x, y)
    left = [w for w in x if not any(_alike(w, v) for v in y)]
    right = [w for w in y if not any(_alike(w, v) for v in x)]
    if left and right:
        return "different"
    if not left and not right:
        return "same" if len(x) == len(y) else "different"
    rest, whole = (left, y) if left else (right, x)
    if set(rest) <= _TRANSPARENT:
        return "different" if set(whole) & _SHARED and "river" in rest else "same"
    if set(rest) <= _SCHOOLS or (list(rest) == ["city"] and len(whole) > 1):
        return "unsure"  # Harvard or Harvard University; New York City
    return "different" if kinds & set(rest) else "unsure"


def _person(x: Sequence[str], y: Sequence[str]) -> Comparison:
    """Compare two names of at least two words as people's: family, given and middle names."""
    short, long = sorted((x, y), key=len)
    if not _alike(x[-1], y[-1]):
        # "Miguel de Cervantes Saavedra", "Hillary Rodham Clinton" go by less.
        start = all(map(_alike, short, long)) and len(short) < len(long)
        return "same" if start else "different"
    later = iter(long[1:])
    if len(short) == 2 < len(long) and all(any(_alike(w, v) for v in later) for w in short):
        return "same"  # who goes by the middle name: "(Thomas) Woodrow Wilson"
    if not _given(x[0], y[0]):
        return "different"
    middle = list(zip(x[1:-1], y[1:-1], strict=False))
    return "same" if all(_given(a, b) for a, b in middle[:1]) else "different"


#: What makes a woman's name of a man's: "Paul" is not short for "Paula".
_FEMININE = lexicon_words("endings", "names")


def _given(a: str, b: str) -> bool:
    if _alike(a, b):
        return True
    short, long = sorted((a, b), key=len)
    if len(short) > 1 and long.startswith(short) and long[len(short) :] in _FEMININE:
        return False
    return short + "e" != "louise" and same_given(a, b)
