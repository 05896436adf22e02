"""Sentences that speak to the user: questions back, offers of help, a guess put as a question."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

_INVERTED = re.compile(
    r"(?:^|[:,;—-])\W*(?:is|are|was|were|do|does|did|has|have|should|shall)\b", re.I
)
_PICK = re.compile(r"\bor\b|\byou\b|\bwhich\b", re.I)
_TO_THE_USER = re.compile(r"\b(?:you|your|clarify|specify)\b", re.I)
_OFFER = re.compile(
    r"\b(?:would\s+you\s+like|do\s+you\s+(?:want|need)|can\s+I\s+(?:help|assist)|"
    r"anything\s+else|how\s+(?:can|may)\s+I|"
    r"may\s+I\s+help|shall\s+I|should\s+I|want\s+me\s+to|like\s+me\s+to|what\s+else|"
    r"let\s+me\s+know\s+if\s+you\s+(?:have|need))",
    re.I,
)
_ASKING = re.compile(
    r"\b(?:could|can|would|will)\s+you\s+(?:please\s+|kindly\s+)?(?:clarify|specify|tell|give|"
    r"provide|say|be\s+more|share|elaborate|confirm|let|explain|narrow|rephrase|add)|"
    r"\bplease\s+(?:\w+\s+)?(?:clarify|specify|tell\s+me|let\s+me\s+know\s+(?:which|what|who)|"
    r"rephrase|elaborate|provide\s+(?:\w+\s+){0,3}(?:context|details?|information|"
    r"clarification|name)|give\s+(?:me\s+)?(?:\w+\s+){0,2}(?:context|details?|information))|"
    r"\b(?:do|did)\s+you\s+mean|\bare\s+you\s+(?:asking|referring|looking|talking|thinking|"
    r"interested|speaking|inquiring)|"
    r"\bwhich\s+(?:\S+\s+){0,6}?(?:do|did|are|would)\s+you\b|"
    r"\bwho\s+(?:or\s+what\s+)?are\s+you\b|\bI(?:'d|"
    r"\s+would)?\s+need\s+(?:\w+\s+){0,2}(?:context|details|information|clarification)|"
    r"\b(?:if\s+you\s+(?:could|can)\s+(?:\w+\s+)?(?:clarify|specify|tell|provide|give))|"
    r"\blet\s+me\s+know\s+which|\bwhat\s+do\s+you\s+mean|"
    r"\b(?:tell|let)\s+me\s+(?:know\s+)?(?:first\s+)?(?:which|what|who|whether|more|where|"
    r"a\s+(?:bit|little))|\bneed\s+(?:to\s+know|you\s+to|more|(?:a\s+)?(?:bit|little)\s+more|"
    r"some\s+more|further)\b|"
    r"\bdepends\s+on\s+(?:which|what|who)|\b(?:which|what|who)\b[^.?!]{0,60}\byou(?:\s+are|"
    r"'re|\s+mean|\s+have\s+in\s+mind|\s+want|\s+refer|\s+had\s+in\s+mind)|"
    r"\bplease\s+(?:give|provide|state|name|add|indicate|send|supply)\b|\bhave\s+in\s+mind\b",
    re.I,
)
_START_WH = re.compile(
    r"\W*(?:and\s+|but\s+|sorry,?\s+|hmm,?\s+)?(?:which|who|what|where|when|how|whose|"
    r"do\s+you|did\s+you|are\s+you|is\s+this|could\s+you|can\s+you)\b",
    re.I,
)


class Addressed(NamedTuple):
    """How a sentence speaks to the user.

    "ask" asks for what is needed to answer, "offer" offers more help, "question" only repeats what
    was asked, "guess" is an answer with a question mark. ``at`` is where an "ask" shows.
    """

    how: Literal["ask", "offer", "question", "guess"]
    at: int


def addressed(sentence: str, alone: bool) -> Addressed | None:
    """Return how the sentence speaks to the user, ``None`` if it does not.

    ``alone`` says that the answer has no other sentence: then any open question asks back.
    """
    if _OFFER.search(sentence):
        return Addressed("offer", 0)
    asked = _ASKING.search(sentence)
    if asked:
        return Addressed("ask", asked.start())
    if not is_question(sentence):
        return None
    if _START_WH.match(sentence) or (_INVERTED.search(sentence) and _PICK.search(sentence)):
        back = alone or _TO_THE_USER.search(sentence) or _PICK.search(sentence)
        return Addressed("ask" if back else "question", 0)
    return Addressed("guess", 0)


def is_question(sentence: str) -> bool:
    """Whether the sentence ends with a question mark, quotes and brackets apart."""
    return sentence.rstrip("\"') ").endswith("?")
