"""The little English syntax that reaches need: patterns of clause openings, and phrase edges."""

from __future__ import annotations

import re

from sayso.annotate.hedges import GENERIC
from sayso.annotate.hedges import REST as _REST_WORDS
from sayso.annotate.hedges import WHOLE as _WHOLE_WORDS
from sayso.annotate.sentences import Span

WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
CONTRAST = re.compile(
    r"(?:but|although|though|even\s+though|albeit|however|yet|whereas|while)\b", re.I
)
RELATIVE = re.compile(r"(?:who|whom|whose|which|where|when)\b", re.I)
LINK = re.compile(
    r"[\s,;:.!?()\"*—–-]*(?:(?:and|but|or|so|although|though|even\s+though|that|which|who|"
    r"where|when|"
    r"however|then|also|well|while|because|since|yet|oh|hmm|ok)\b[\s,]*)*",
    re.I,
)
BESIDE = re.compile(
    r"\b(?:is|was|are|were|am|be|been|being|has|had|have|will|would|did|does|do|can|could|"
    r"most|very|'s|'d)\s*$",
    re.I,
)
VERB_NEXT = re.compile(
    r"\s*(?:is|was|are|were|has|had|have|will|would|did|does|became|wrote|won|led|made|went|began|"
    r"[a-z]{2,}ed|born|lies|orbits|causes|comes|came|dates?|refers?|means?|stands?|took|takes|"
    r"spent|"
    r"works|lives|plays|held|got|met|sang|ran|grew|fell)\b"
)
WHETHER = re.compile(
    r"[\s,]*(?:about\s+|of\s+|on\s+)?(?:if|whether|that)\s+(?=[a-z]+\s+\w+|[A-Z])(?!this|is\b)"
)
WH_PART = re.compile(r"[\s,]*(?:(?:and|or|nor)\s+)?(?:who|when|where|what|how|which)\b", re.I)
WH_WORD = re.compile(r"\b(?:who|when|where|what|how|which)\b", re.I)
PREPOSITION = re.compile(r"\b(?:in|on|at|by|from|of|to|for|with|as|is|was|and)\s+(?=\S)", re.I)
WHOLE = re.compile(rf"\b{_WHOLE_WORDS}\b", re.I | re.X)
REST = re.compile(rf"\b{_REST_WORDS}\b", re.I | re.X)
CAUTION = re.compile(
    r"\b(?:wrong|mistaken|misremember|confus|mixing|off$|correct\s+me|quote\s+me|hold\s+me|salt)",
    re.I,
)
DEMONSTRATIVE = re.compile(
    r"\W*(?:(?:or|but|although|though|and)\s+)?(?:(?:so|that|this|it|these|those|which)\b|"
    r"at\s+least\b)",
    re.I,
)
NAMES = re.compile(r"(?<=\s)[A-Z]\w+(?<!AI)|\d")
SUBORDINATE = re.compile(
    r"\b(?:which|that|who|where|when|and|but|because|as|although|though|so|or),?\s*$", re.I
)
COMMA = re.compile(r",\s+(?=[a-z])")
KIND_FIRST = re.compile(
    r"(?:dates?|years?|places?|name|number|identity|authorship|origins?)\b", re.I
)
THAT = re.compile(r"(?<=\w)\s(?:that|who|which)\s+$", re.I)
VERB = re.compile(r"\b(?:is|was|are|were|has|had|born|[a-z]{2,}ed)\b")
FAR = 200
NEW_SUBJECT = re.compile(r"(?:he|she|it|they|i|we)\b", re.I)
PARENTHETICAL = re.compile(
    r"\s*(?:(?:as|so|or|if|unless|from|to|at\s+least|like|though|although|but|by|what|the|"
    r"some|most|very|in|and|according)\s+){0,3}",
    re.I,
)
TOPIC = re.compile(
    r"\W*(?:\d{1,2}[.)]\s*)?(?:(?:but|and|however),?\s+)?(?:as\s+(?:to|for)|regarding|"
    r"concerning|about|on|"
    r"(?:by|of|from|to|for|in|at|with)\s+(?:whom?|what|which|whose)|how|why|"
    r"with\s+(?:regard|respect)|when\s+it\s+comes|in\s+terms|who|what|when|where|how|which|"
    r"whether)\b",
    re.I,
)
MACHINE = re.compile(
    r"\bas\s+an?\s+(?:AI|(?:large\s+)?language\s+model|assistant|chatbot|artificial|"
    r"virtual)\b|\bI(?:'m|\s+am)\s+(?:just\s+|only\s+)?an?\s+(?:AI|"
    r"(?:large\s+)?language\s+model)\b",
    re.I,
)
ACCESS = re.compile(
    r"\b(?:access|retrieve|browse|real-time|live|look\s+up|internet|databases?|opinions?|"
    r"feelings)\b",
    re.I,
)
ALTERNATIVES = re.compile(
    r"\b(?:whether|if)\b|\d\w*,?\s+or\s+(?:\w+\s+)?\d|[A-Z]\w+\s+or\s+(?:\w+\s+)?[A-Z]"
)
ANYTHING = re.compile(r"")
RELATIVE_FULL = re.compile(r"(?:which|who)\b", re.I)


def bare(text: str) -> str:
    """Strip connectors and punctuation from both ends."""
    link = LINK.match(text)
    return text[link.end() if link else 0 :].strip(" ,;:.!?()\"'*—–-")


def parenthesis(text: str, sentence: Span, start: int, end: int) -> Span | None:
    """The innermost parentheses of the sentence around ``start:end``, with the brackets."""
    low = text.rfind("(", sentence.start, start + 1)
    if low < 0 or text.find(")", low, start) >= 0:
        return None
    high = text.find(")", max(start, end - 1), sentence.end)
    return Span(low, sentence.end if high < 0 else high + 1)


def empty(words: str) -> bool:
    """Whether only generic words are left."""
    return all(w.lower() in GENERIC for w in WORD.findall(words))


#: Words that only judge what was said.
_VERDICT_WORDS = """100 above actually ago now long been while studied reflection hmm accounts
    accurate advisable against another appear appeared appears as
assume be
    been being believe believed best bet biographers care case caution certainty change
    changed checked checking claimed confidence confirmed confirming contested could date
    debated different disputed doubt doubted earlier entirely entry evidence experts fair
    false far feels figure figures first fully guess hearsay high historians house
    impression inaccurate it's item just last later least legend level life like likely
    looks low make many medium memory mistaken moderate money moon most mostly name need
    needs not number numbers off official one online only open others outdated partly
    percent place plausible please possible previous probable purely questioned rather
    rating read recalled recollection records reliable remembered reported rumor rumour said
    scholars score second seem seemed seems slightly so some somewhat somewhere sound sounds
    source sources speculation stake still suppose swear tentative tentatively that's think
    third thought told treat true two understanding unlikely unreliable verified verifying
    website well what's word worth would year years"""
_VERDICTS = frozenset(_VERDICT_WORDS.split())


def evaluates(words: str) -> bool:
    """Whether words only judge what was said: "which may not be accurate"."""
    return all(w in GENERIC or w in _VERDICTS for w in map(str.lower, WORD.findall(words)))


def phrase_before(text: str, low: int, at: int) -> int:
    """Where the last phrase before ``at`` begins: after a comma, or at a preposition."""
    start = max(low, text.rfind(", ", low, at) + 2 if text.rfind(", ", low, at) >= 0 else low)
    for hit in PREPOSITION.finditer(text, start, at):
        if bare(text[hit.end() : at]):
            start = hit.start()
    return start
