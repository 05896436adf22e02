"""How far does a marker reach? The rules are stated in ``stance``."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from sayso.annotate.marks import Found
from sayso.annotate.sentences import PRESENT, Span
from sayso.annotate.syntax import (
    BESIDE,
    COMMA,
    CONTRAST,
    DEMONSTRATIVE,
    NAMES,
    NEW_SUBJECT,
    PARENTHETICAL,
    PREPOSITION,
    RELATIVE,
    SUBORDINATE,
    THAT,
    VERB,
    VERB_NEXT,
    WORD,
    bare,
    empty,
    evaluates,
    parenthesis,
)


class Hedge(NamedTuple):
    """Words that weaken every claim whose value lies in ``low:high``."""

    start: int
    end: int
    low: int
    high: int


def _run(text: str, parts: tuple[Span, ...], i: int) -> int:
    """The end of the clauses that follow clause ``i`` without a contrast."""
    if RELATIVE.match(text, parts[i].start) and i:
        return parts[i].end
    for previous, part in pairwise(parts[i:]):
        between = text[previous.end : part.start]
        if (
            ";" in between
            or NEW_SUBJECT.match(text, part.start)
            or "—" in between
            or " - " in between
            or CONTRAST.match(text, part.start)
        ):
            return previous.end
    return parts[-1].end


def weaken(text: str, sentence: Span, parts: tuple[Span, ...], mark: Found) -> Hedge:
    i = max(k for k, part in enumerate(parts) if k == 0 or part.start <= mark.start)
    clause = parts[i]

    def reach(low: int, high: int) -> Hedge:
        return Hedge(mark.start, mark.end, low, high)

    inside = parenthesis(text, sentence, mark.start, mark.end)
    if inside is not None and inside.start > sentence.start:
        rest = text[inside.start : mark.start] + " " + text[mark.end : inside.end]
        ahead = _AHEAD.search(text, clause.start, inside.start) or _ONWARD.match(text, inside.end)
        if empty(rest) and ahead:
            return reach(inside.start, clause.end)
        if empty(rest):
            return reach(phrase_start(text, clause.start, inside.start), inside.end)
        return reach(inside.start, inside.end)
    if (
        i
        and (DEMONSTRATIVE.match(text, clause.start) or mark.kind == "matrix")
        and not NAMES.search(text, clause.start, clause.end)
        and evaluates(text[clause.start : mark.start] + " " + text[mark.end : clause.end])
    ):
        return reach(parts[i - 1].start, clause.end)
    if i and _OR_ELSE.match(text, clause.start) and mark.kind in ("modal", "adverb", "choice"):
        return reach(parts[i - 1].start, clause.end)
    relative = THAT.search(text, clause.start, mark.start)
    if (
        relative
        and relative.end() == mark.start
        and mark.kind in ("modal", "adverb", "matrix")
        and bare(text[clause.start : relative.start()])
    ):
        return reach(relative.start(), clause.end)
    lead = SUBORDINATE.search(text, clause.start, mark.start)
    if (
        lead
        and lead.end() == mark.start
        and i + 1 < len(parts)
        and empty(text[mark.end : clause.end])
    ):
        return reach(
            clause.start if not bare(text[clause.start : lead.start()]) else mark.start,
            parts[i + 1].end,
        )
    before = bare(text[clause.start : mark.start])
    after = bare(text[mark.end : clause.end])
    if mark.kind == "choice":
        return reach(mark.start, phrase_end(text, mark.start, clause.end, joined=True))
    if empty(after) and empty(before):
        if i == 0:
            return reach(sentence.start, _run(text, parts, 1) if len(parts) > 1 else sentence.end)
        return reach(parts[i - 1].start, clause.end)
    if before and _between_commas(text, clause, mark):
        return reach(clause.start, clause.end)
    if mark.kind == "matrix":
        if not after or (
            before
            and re.match(r"[\s]*,", text[mark.end :])
            and "," in text[mark.start - 2 : mark.start]
        ):
            return reach(clause.start, clause.end)
        return reach(clause.start, _run(text, parts, i))
    if mark.kind == "modal":
        return reach(clause.start, clause.end)
    if not before and i == 0:
        return reach(clause.start, _run(text, parts, i))
    if not before:
        aside = text[sentence.start : clause.start].rstrip().endswith(",") and not VERB_NEXT.match(
            text, mark.end
        )
        comma = COMMA.search(text, mark.end + 1, clause.end) if aside else None
        if (
            aside
            and i == 1
            and not PREPOSITION.match(text, mark.end + 1)
            and _bare_value(text, parts[0])
        ):
            return reach(parts[0].start, clause.end)
        return reach(clause.start, comma.start() if comma else clause.end)
    other = re.search(r",?\s*\bor,?\s*$", text[clause.start : mark.start])
    if other and after:
        at = clause.start + other.start()
        return reach(phrase_start(text, clause.start, at), phrase_end(text, mark.end, clause.end))
    if not after:
        return reach(clause.start, clause.end)
    if mark.kind == "adverb" and (
        BESIDE.search(text, clause.start, mark.start) or VERB_NEXT.match(text, mark.end)
    ):
        return reach(_after_inserted(text, clause.start, mark.start), clause.end)
    high = clause.end
    if text[clause.start : mark.start].rstrip().endswith(","):
        comma = COMMA.search(text, mark.end + 1, clause.end)
        high = comma.start() if comma else clause.end
    elif mark.kind == "adverb" and not _OWNED.search(text, clause.start, mark.start):
        high = phrase_end(text, mark.end, clause.end)
    return reach(mark.start, high)


def _after_inserted(text: str, low: int, at: int) -> int:
    """Where the part of a clause begins that "was probably" reaches: ", born in 1950, | was"."""
    inserted = _INSERTED.search(text, low, at)
    return inserted.end() if inserted else low


_INSERTED = re.compile(
    r",\s+(?:born|[a-z]{2,}ed|built|written|made|known|led)\b[^;()]{3,120},(?=\s+\w+\s)", re.I
)


def phrase_end(text: str, at: int, high: int, joined: bool = False) -> int:
    """Where the phrase that begins at ``at`` ends: before the next verb, preposition or comma.

    With ``joined``, not before an "or" has been passed: "either in Ripley or in Derby".
    """
    floor = at
    if joined:
        second = _OR.search(text, at, high)
        floor = second.end() if second else at
    for edge in _EDGE.finditer(text, floor, high):
        if WORD.search(text, floor, edge.start()):
            return edge.start()
    return high


def phrase_start(text: str, low: int, at: int) -> int:
    """Where the phrase that ends at ``at`` begins; "Ann Roe and Jon Kemp" is one phrase."""
    start = low
    for edge in _EDGE.finditer(text, low, at):
        if bare(text[edge.start() : at]):
            start = edge.start()
    return start


def _bare_value(text: str, part: Span) -> bool:
    """Whether a clause is a value without a verb: "Around a dozen, maybe 12"."""
    return (
        len(WORD.findall(text, *part)) <= 4
        and not VERB.search(text, *part)
        and not PREPOSITION.match(text.lower(), part.start)
        and not NEW_SUBJECT.match(text, part.start)
    )


def _between_commas(text: str, clause: Span, mark: Found) -> bool:
    """Whether the marker stands in a stretch set off by commas inside its clause."""
    comma = text.rfind(",", clause.start, mark.start)
    if comma < 0 or not PARENTHETICAL.fullmatch(text, comma + 1, mark.start):
        return False
    end = text.find(",", mark.end - 1, clause.end)
    return (0 <= end - mark.end < 40 and mark.kind in ("matrix", "doubt")) or end == mark.end


#: "Her likely birthplace is ..." says how likely the whole statement is.
_OWNED = re.compile(r"\b(?:the|her|his|its|their)\s*$", re.I)
#: "..., or it may have been Clara Hahn": the first alternative is as open as the second.
_OR_ELSE = re.compile(
    r"\W*or\s+(?:(?:he|she|it|they|that|this)\s+)?(?:may|might|could|perhaps|maybe)\b", re.I
)
_OR = re.compile(r"\bor\s+(?:(?:maybe|perhaps|possibly|in|on|at|by|from)\s+)*", re.I)
#: Where a noun phrase cannot go on.
_EDGE = re.compile(
    rf"\sand\s+(?={PRESENT})|"
    r",(?!\s+(?:\d{4}\b|and\b|or\b))\s|\s(?:in|on|at|by|for|from|with|since|ever|after|before|"
    r"while|who|which|that|until|to|is|was|are|were|has|had|have|became|found|led|made|took|"
    r"play|plays|brought|gave|lent|met|won|held|wrote|began|sits|lies|belongs|stands|as(?!\s+"
    r"well\b)(?<!well as)|and\s+(?=later|then|its|his|her|their|also|was|is|it|he|she|has|had|"
    r"[a-z]+ed\b)|[a-z]{2,}ed)\b"
)
#: What stands before a parenthesis that qualifies the words after it: "was (possibly) Ann".
_AHEAD = re.compile(
    r"\b(?:is|was|are|were|be|been|by|in|at|on|of|to|from|for|the|an?|and|or|with|as)\s*$", re.I
)
_ONWARD = re.compile(r"\s+(?:in|on|at|by|from|of|to|as|an?|the)\s", re.I)
