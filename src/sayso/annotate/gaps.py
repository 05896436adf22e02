"""What does a statement of ignorance, a refusal or a caution reach, and what is left unsaid?"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Literal, NamedTuple

from sayso.annotate.marks import Found
from sayso.annotate.reach import phrase_start
from sayso.annotate.sentences import Span
from sayso.annotate.syntax import (
    ACCESS,
    ALTERNATIVES,
    ANYTHING,
    CAUTION,
    FAR,
    KIND_FIRST,
    MACHINE,
    NAMES,
    RELATIVE,
    RELATIVE_FULL,
    REST,
    TOPIC,
    VERB,
    WH_PART,
    WH_WORD,
    WHETHER,
    WHOLE,
    bare,
    empty,
    parenthesis,
)
from sayso.annotate.talk import holds_new

GapKind = Literal["ignorance", "refusal", "caution", "rest", "scant"]


class Gap(NamedTuple):
    """A statement of ignorance, a refusal, or a caution ("please verify this", "I may be wrong").

    ``about`` is the text in which it may name aspects; ``low:high`` what it reaches when it names
    none (the whole answer when ``whole``). ``silent`` is the stretch that asserts nothing.
    """

    kind: GapKind
    start: int
    end: int
    about: str
    low: int
    high: int
    whole: bool
    silent: Span


def withhold(
    text: str,
    where: tuple[tuple[Span, ...], ...],
    s: int,
    sentence: Span,
    mark: Found,
    before: Span | None,
) -> Gap | None:
    """Resolve a statement of ignorance or a refusal in sentence ``s``."""
    parts = where[s]
    i = max(k for k, part in enumerate(parts) if k == 0 or part.start <= mark.start)
    clause = parts[i]
    low, high = clause
    last = i
    if WH_PART.match(text, mark.end) or WH_PART.search(text, mark.end, clause.end):
        while last + 1 < len(parts) and WH_PART.match(text, parts[last + 1].start):
            last += 1
            high = parts[last].end
    if RELATIVE_FULL.match(text, clause.start) and "," in text[mark.end : high]:
        high = text.index(",", mark.end)
    inside = parenthesis(text, sentence, mark.start, mark.end)
    if inside is not None and inside.start > sentence.start:
        low, high = inside
        if NAMES.search(text, low, mark.start):
            low = max(low, text.rfind(",", low, mark.start) + 1)
    if i and re.match(r"\W*unlike\b", text[parts[i - 1].start : parts[i - 1].end], re.I):
        return None
    left = text[low : mark.start]
    if re.search(r"\bwhose\s+[\w\s']{1,30}$", left, re.I) and not left.lower().startswith("whose"):
        return None
    if i and RELATIVE.match(left) and text[sentence.start : low].rstrip().endswith(","):
        left = left.partition(" ")[2]
    quiet = _quiet(text, low, mark, high)
    if quiet.start > low and ":" not in left and _VALUE_FIRST.match(left):
        left = text[quiet.start : mark.start]
    about = left[-FAR:] + " " + text[mark.end : min(quiet.end, mark.end + FAR)]
    if KIND_FIRST.match(text, mark.start, mark.end):
        about += " " + text[mark.start : mark.end]
    first = i
    while (
        first
        and inside is None
        and (empty(WH_WORD.sub(" ", about)) or not holds_new(about, frozenset(), frozenset()))
        and _is_topic(text, parts[first - 1])
    ):
        first -= 1
        low = parts[first].start
        about = text[low : parts[first].end] + ", " + about
    if _IT_HOLDS.match(text, mark.end):
        about = ""
    kind: GapKind = "ignorance"
    if mark.kind == "refusal" or (
        MACHINE.search(text, sentence.start, sentence.end) and ACCESS.search(text, *sentence)
    ):
        kind = "refusal"
    elif mark.kind == "disclaimer" or CAUTION.search(text, mark.start, mark.end):
        kind = "caution"
    words = bare(about)
    whether = WHETHER.match(text, mark.end)
    if mark.kind == "predicate" and ALTERNATIVES.search(about):
        silent_end = mark.start if whether is None else mark.end
        low, high = (low, high) if whether else (mark.start, mark.end)
        whether = whether or ANYTHING.match(text, silent_end)
    silent = _quiet(text, low, mark, mark.end if whether else high)
    everything = bool(WHOLE.search(words))
    if kind == "caution":
        everything = everything or bool(WHOLE.search(text, *sentence))
    if kind == "ignorance" and REST.search(_ELSE.sub(" ", text[mark.start : high])):
        kind = "rest"
    elif kind == "ignorance" and _SCANT.search(text, mark.start, high):
        kind = "scant"
    reach = _reach(text, parts, i, last, before, inside)
    return Gap(kind, mark.start, mark.end, about, *reach[:2], everything or reach[2], silent)


#: A value, not a topic: "Ripley, not certain though".
_VALUE_FIRST = re.compile(
    r"\W*(?!(?:the|her|his|its|their|my|as|about|for|on|where|when|who|what|which|how|this|that|"
    r"regarding|sorry|well|honestly|unfortunately|i|it|she|he|they)\b)(?:(?-i:[A-Z\d])|[a-z]+\W*$)",
    re.I,
)


#: Doubt about a clause as a whole: "though I'm not positive that it is the usual drug".
_ELSE = re.compile(r"\b(?:some|any)(?:one|body|where)\s+else\b", re.I)
_IT_HOLDS = re.compile(
    r"[\s,]*(?:of\s+|about\s+)?(?:if|whether|that)\s+(?:it|this|that)(?:'s|\s+is|\s+was|"
    r"\s+are)\b",
    re.I,
)


#: Too little is known of the whole subject: that takes nothing back of what is then said.
_SCANT = re.compile(
    r"\b(?:much|a\s+lot|a\s+great\s+deal|many\s+details|little|limited|a\s+complete\s+\w+)\s*"
    r"(?:(?:of\s+)?(?:information|data|material)\s*)?(?:(?:is|has\s+been|was|seems)\s+(?:\w+\s+)?)?"
    r"(?:(?:known|recorded|written|documented)\s*)?(?:\b(?:on|about|regarding|concerning|"
    r"of)\s+(?:the\s+|this\s+)?"
    r"(?:[A-Z]|him\b|her\b|it\b|them\b|this\b|that\b)|[.,;]|$)"
)


_ENDS = re.compile(
    r"(?:\s+(?:to\s+it|on\s+it|about\s+it|of\s+it|of\s+that|to\s+that|any\s*more|now|though|"
    r"tho|sorry|really|here|lol|tbh|honestly|on\s+this\s+one|about\s+this\s+one|about\s+that|"
    r"about\s+this|on\s+that|exactly|either|at\s+all|"
    r"yet|personally|right\s+now))*\s*(?:,|\.\.+|-|—|:|…)\s*(?!(?:to\s+be|sorry|when|where|who|"
    r"what|which|how|"
    r"whether|if|about|on|of|as|I'm\s+afraid|unfortunately|though|but|and|or|nor|so)\b)(?=\w)"
    r"|(?:\s+(?:sorry|lol|tho|tbh))*\s+(?=(?:maybe|perhaps|possibly|probably|prob|prolly|mayb)\b)",
    re.I,
)


#: "Not sure about the period, 4 to 10 days perhaps", "who runs it (Ann Bo, possibly)".
_VALUE_AFTER = re.compile(
    r",\s+(?=(?:an?\s+|the\s+|about\s+|around\s+)?[^,;.]{1,40}?\s(?:perhaps|maybe|possibly|"
    r"probably|I'd\s+say|I\s+(?:think|guess|believe|suppose))\b)|"
    r"\s\((?=[^()]{0,60}(?:[A-Z]\w|\d)[^()]{0,60}(?:perhaps|maybe|possibly|probably|\?|"
    r"I\s+(?:think|guess|believe)|guess))|"
    r"\s\((?=(?:perhaps|maybe|possibly|probably|I\s+(?:think|guess))\b)",
)
_SPEAKER = re.compile(
    r"(?:(?:but|though|although|and|so)\s+)?(?:(?:I|we|i'?m|im)(?:'m|\s+am|'ve|\s+have|\s+do|"
    r"\s+can|\s+could)?"
    r"(?:\s+\w+ly)?\s*|(?:lol|tbh|but|though|um|uh)\s*)$",
    re.I,
)


_NOUN_BEFORE = re.compile(
    r"(?:\b(?:in|at|from|on|by|with|for|to)\s+)?\b(?:an?|some)\s+(?!question|detail|thing|fact|"
    r"matter|point|mystery|topic|subject|piece|date\b|year\b)(?:\w+\s+){1,2}(?:that\s+|"
    r"which\s+|whose\s+\w+\s+)?(?:I|we)?"
    r"(?:\s+(?:am|have|do))?\s*$",
    re.I,
)


def _is_topic(text: str, part: Span) -> bool:
    """Whether a clause only names what the next one is about: "3. Her religion: ..."."""
    if TOPIC.match(text, part.start):
        return True
    return ":" in text[part.start : part.end + 2] and not VERB.search(text, *part)


def _quiet(text: str, low: int, mark: Found, high: int) -> Span:
    """What of ``low:high`` asserts nothing: a value before or after a comma still counts."""
    if mark.kind == "disclaimer":
        comma = text.rfind(",", low, mark.start)
        return Span(comma if comma > low else low, high)
    if mark.kind in ("doubt", "predicate"):
        after = _ENDS.match(text, mark.end, high)
        if after:
            high = after.end()
        value = _VALUE_AFTER.search(text, mark.end, high)
        if value:
            high = min(high, value.start())
        noun = _NOUN_BEFORE.search(text, low, mark.start) if mark.kind == "doubt" else None
        left = _SPEAKER.sub("", text[low : mark.start]).rstrip(" ")
        casual = text[low:high].islower() and bool(re.search(r"\b(?:lol|tbh|tho)$", left))
        if noun:
            low = noun.start()
        elif (left.endswith((",", "...", ":", "-")) or casual) and not TOPIC.match(left):
            low += len(left)
    return Span(low, high)


def _reach(
    text: str, parts: tuple[Span, ...], i: int, last: int, before: Span | None, inside: Span | None
) -> tuple[int, int, bool]:
    """What a gap that names no aspect reaches: (low, high, whole answer)."""
    if inside is not None and inside.start > parts[0].start:
        holder = max(k for k, part in enumerate(parts) if k == 0 or part.start < inside.start)
        return phrase_start(text, parts[holder].start, inside.start), inside.start, False
    if RELATIVE_FULL.match(text, parts[i].start):
        return parts[0].start, parts[-1].end, False
    left = bare(text[parts[0].start : parts[i].start])
    if i and not empty(left):
        low = parts[0].start
        for previous, part in pairwise(parts[:i]):
            if ";" in text[previous.end : part.start]:
                low = part.start
        return low, parts[i].start, False
    if last + 1 < len(parts):
        return parts[last + 1].start, parts[-1].end, before is None and _colon(text, parts, last)
    if before is None:
        return parts[0].start, parts[-1].end, True
    return before.start, before.end, False


def _colon(text: str, parts: tuple[Span, ...], last: int) -> bool:
    return ":" in text[parts[last].end - 1 : parts[last + 1].start]


def alone(gap: Gap, reach: Span, first: bool) -> Gap:
    """A gap whose sentence asserts nothing: about the one before, at the beginning about all."""
    return gap._replace(low=reach.start, high=reach.end, whole=gap.whole or first)
