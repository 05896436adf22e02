"""Where in a clause does the value stand that is asserted? By the kind of answer expected.

Used to place wrong values (right ones are placed by the gold match) and to see whether a clause
says anything of the expected kind at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sayso.annotate.cues import Expected, stem
from sayso.annotate.sentences import AUXILIARY, PAST, Span

_MONTH = (
    r"(?:Jan(?:uary|\.)?|Feb(?:ruary|\.)?|Mar(?:ch|\.)?|Apr(?:il|\.)?|May|June?|July?|"
    r"Aug(?:ust|\.)?|"
    r"Sept?(?:ember|\.)?|Oct(?:ober|\.)?|Nov(?:ember|\.)?|Dec(?:ember|\.)?)"
)
_YEAR = r"(?:1\d{3}|20\d{2})"
_DATE = re.compile(
    rf"\b(?:\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?:,?\s+\d{{3,4}})?|"
    rf"{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s+\d{{3,4}})?|{_MONTH}\s+(?:of\s+)?\d{{3,4}}|"
    rf"{_YEAR}-\d{{2}}(?:-\d{{2}})?|\d{{1,2}}/\d{{1,2}}/\d{{2,4}}|"
    rf"{_YEAR}s?|\d{{1,4}}\s*(?:BCE|BC|AD|CE)|\d{{1,2}}(?:st|nd|rd|th)\s+century|"
    rf"{_MONTH}\b)(?!\d)|(?<!\w)'\d{{2}}\b"
)
_NUMBER_WORD = (
    r"(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|"
    r"fourteen|fifteen|"
    r"sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|"
    r"hundred|thousand|million|billion|dozen|half|once|twice|thrice|single)"
)
_NUMBER = re.compile(
    rf"[$€£]?\b\d[\d,.]*(?:\s*(?:-|–|to)\s*\d[\d,.]*)?(?:\s*(?:%|percent|hundred|thousand|"
    rf"million|billion|"
    rf"(?:light[- ]years?|years?|days?|hours?|minutes?|weeks?|months?|km|miles?|meters?|"
    rf"metres?|people|employees|kg)\b))*|"
    rf"\b{_NUMBER_WORD}(?:[\s-]+(?:and\s+)?{_NUMBER_WORD})*\b",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"\w+")
_CAPITAL = r"(?:[^\W\d_a-zà-ÿ][\w'’.&-]*|\d+)"
_NAME = re.compile(
    rf"(?:\b[Tt]he\s+)?[^\W\d_a-zà-ÿ][\w'’&-]*(?:\.(?=\s?[^\W\d_a-z]))?(?:(?:\s+|"
    rf",\s+(?=[^\W\d_a-z]))(?:(?:of|the|and|de|van|von|der|la|le|du|di|da|(?:for|"
    rf"in)(?=\s+[^\W\d]))\s+){{0,2}}{_CAPITAL})*"
)
_SOMEWHERE = re.compile(
    r"\b(?:in|at|near|on|aboard|outside)\s+((?:an?|the)\s+(?!year|age|early|late|same|end|"
    r"\d)[a-z-]+(?:\s+[a-z-]+)?)"
)
_AFTER_PREPOSITION = re.compile(
    r"\b(?:in|at|near|from|by|was|is|to|be)\s+((?!a\b|an\b|the\b|born\b)[^\W\d]{3,}(?:\s[^\W\d]+)?)"
)
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_COPULA = re.compile(
    r"\b(?:is|was|are|were|be|been|as|by|became|include[sd]?|including|called|named|won|received|"
    r"studied|causes?|wrote|makes?|produces?|of|in|at|for|to|from|with|on|includes|within|into)\b|:",
    re.IGNORECASE,
)
_NOT_A_NAME_WORDS = """i i'm he she it they his her its their the a an this that these in on at
    by from as if there
    we you who when where what which although though but and or so however while after before
    some according my sources reports records unfortunately sorry perhaps maybe possibly probably
    yes
    ai no born date place year answer please both either later also additionally
    moreover furthermore during since until unknown reportedly apparently allegedly presumably
    not to for
    jan feb mar apr jun jul aug sep sept oct nov dec
    january february march april may june july august september october november december most many
    several with of one another hmm hm oh ah uh um ugh well let let's hi hello hey sure thanks
    ok okay yeah actually definitely certainly officials critics experts scientists historians
    scholars researchers astronomers teacher student q a b
    """
_NOT_A_NAME = frozenset(_NOT_A_NAME_WORDS.split())


def typed(text: str, start: int, end: int, kind: Expected, known: frozenset[str]) -> Iterator[Span]:
    """Yield the values of a kind in ``text[start:end]``: dates, numbers, or capitalized names.

    ``known`` are lower-case words of the question and the entity, which are no values. For the
    kind "any" nothing can be recognized by form, so nothing is yielded.
    """
    if kind == "date":
        for hit in _DATE.finditer(text, start, end):
            yield Span(*hit.span())
    elif kind == "number":
        for hit in _NUMBER.finditer(text, start, end):
            token = _TOKEN.match(text, hit.start())
            if token and token.end() > hit.end() and token.group().lower() in known:
                continue
            if hit.group().lower() == "one" or _IN_YEAR.search(
                text, max(0, hit.start() - 8), hit.end()
            ):
                continue
            yield Span(hit.start(), hit.end() - (text[hit.end() - 1] in ".,"))
    elif kind in ("place", "person"):
        # "In Derby" is nobody, "by Ann Bo" is nowhere.
        strange = _IN if kind == "person" else _BY
        for name in names(text, start, end, known):
            if not strange.search(text, max(0, name.start - 12), name.start):
                yield name
        pattern = _SOMEWHERE if kind == "place" else None
        if text[max(0, start - 300) : end + 300].islower():
            pattern = _AFTER_PREPOSITION
        for hit in pattern.finditer(text, start, end) if pattern else ():
            yield Span(*hit.span(1))


def names(text: str, start: int, end: int, known: frozenset[str]) -> Iterator[Span]:
    """Yield runs of capitalized words that are neither ``known`` nor sentence openers."""
    for hit in _NAME.finditer(text, start, end):
        words = list(_WORD.finditer(hit.group()))
        if len(words) > 1 and _opens(text, hit.start(), hit.start() + words[0].end(), start):
            words.pop(0)
        while len(words) > 1 and (
            words[0].group()[0].isdigit() or words[0].group().lower() in _NOT_A_NAME
        ):
            words.pop(0)
        while words and words[0].group().lower().split("'")[0] in _NOT_A_NAME | known | {"the"}:
            words.pop(0)
        while words and words[-1].group().lower().removesuffix("'s") in _NOT_A_NAME | known | {
            "and",
            "of",
            "the",
        }:
            words.pop()
        if len(words) == 1 and _opens(text, hit.start() + words[0].start(), hit.end(), start):
            continue
        if words and not words[0].group()[0].isdigit():
            yield Span(hit.start() + words[0].start(), hit.start() + words[-1].end())


def _opens(text: str, at: int, end: int, low: int) -> bool:
    """Whether one capitalized word is only the first word of its sentence, and no name."""
    if text[low:at].strip(" \"'(") and text[:at].rstrip(" \"'(")[-1:] not in ".!?:":
        return False
    word = text[at:end].strip(" .,;:!?")
    if _ORDINARY.fullmatch(word) or (word.endswith("s'")):
        return True
    follows = _NEXT_WORD.match(text, end)
    if follows is None:
        return False
    if word.endswith("s") and not _SINGULAR.fullmatch(follows.group(1)):
        return True
    # "Amateur astronomers", "Public health": a name alone is followed by its verb.
    return not _AFTER_NAME.match(text, follows.start(1))


_IN_YEAR = re.compile(r"\b(?:in|since|until|from|by|of|early|late|year)\s+(?:1\d{3}|20\d{2})$")
_IN = re.compile(r"\b(?:in|at|near|into|within)\s+(?:the\s+)?$", re.IGNORECASE)
_BY = re.compile(r"\b(?:by|with|named)\s+$", re.IGNORECASE)
#: Words that open sentences, and plural nouns ("Audiences left") before no singular verb.
_ORDINARY = re.compile(
    r"\w+(?:ly|ing|[^aeiou]ed)|Found|Born|Within|Much|Few|Many|Little|Some|All|Both|Among|Behind|"
    r"Between|Measured|Either|Neither|Credit|Work|Early|Light|Amid|Under|Over|Across|Inside|Look|"
    r"Only|Just|Then|Now|Today|Here|Despite|Because|Since|Though|Named|Made|Set|Best|First|Last|"
    r"Music|Drug|Doctor|Treatment|Paper|Salt|Film|Word|Talk|Rumou?r|Each|Every|Other|Another|"
    r"Like|Once|Owing|Thanks|Due|Nobody|Nothing|Anyone|Someone|Critics|Life|Time|Management|Apart"
)
_NEXT_WORD = re.compile(r"\s+([a-z]+)")
_AFTER_NAME = re.compile(
    rf"(?:{AUXILIARY}|{PAST}|(?:and|or|in|at|on|of|from|who|which|with|by|as|also|gets?|lends?|"
    rf"gave|lent|met|won|made|took|then|soon|later|first|once|never|now|both|to|for|\w+ly|"
    rf"treats|hosts|houses|names|heads|directs|composes|sees|finds|leads)\b)"
)
_SINGULAR = re.compile(r"is|was|has|saw|became|gave|lent|\w+s|and|or|in|et")


def asserted(
    text: str, start: int, end: int, kind: Expected, known: frozenset[str], cues: frozenset[str]
) -> Span | None:
    """Return the value that ``text[start:end]`` most likely asserts, or ``None``.

    First a value of the expected kind, nearest after a cue word; else, where the kind says
    nothing, a name or the words after the last verb or preposition.
    """
    verb = _TRANSITIVE.search(text, start, end)
    spans = list(typed(text, start, end, kind, known))
    after = start
    for word in _WORD.finditer(text, start, end):
        if stem(word.group().lower()) in cues:
            after = word.end()
            break
    if spans:
        return min(spans, key=lambda s: (s.start < after, abs(s.start - after)))
    if kind != "any":
        return None
    if verb and stem(verb.group(1).lower()) in cues:
        words = list(_WORD.finditer(text, verb.end(), end))
        if words:
            edge = _PHRASE_EDGE.search(text, words[0].end(), end)
            return Span(words[0].start(), edge.start() if edge else words[-1].end())
    found = [s for s in names(text, start, end, known) if s.start >= after]
    if found:
        return found[0]
    hits = list(_COPULA.finditer(text, after if after < end else start, end))
    if not hits:
        return None
    low = hits[0].end()
    words = list(_WORD.finditer(text, low, end))
    while words and words[0].group().lower() in {
        "a",
        "an",
        "the",
        "probably",
        "likely",
        "possibly",
    }:
        words.pop(0)
    if not words:
        return None
    edge = _PHRASE_EDGE.search(text, words[0].end(), end)
    high = edge.start() if edge else words[-1].end()
    return Span(words[0].start(), high)


#: A verb whose object is the value.
_TRANSITIVE = re.compile(r"\b(made|makes|manufactures|produces|sells|builds)\s+(?=[a-z])")
#: Where plain words cannot go on as a value.
_PHRASE_EDGE = re.compile(
    r"[,;]?\s+(?:and\s+(?:shows?|leads?|has|is|was|it|its|later|then|takes|can)\b|after\b|ever\b|"
    r"(?:while|although|though|but|because|which|who|where)\b)"
)
