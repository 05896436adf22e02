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
    r"\b(?:are|were)\s+we\s+(?:\w+\s+)?(?:talking|speaking|thinking|after|discussing)\b|"
    r"\bnot\s+(?:enough|much)\s+to\s+go\s+on\b|"
    r"\b(?:could|can|would|will|cud|wud)\s+(?:you|u|ya)\s+(?:please\s+|pls\s+|plz\s+|just\s+)*(?:say|tell|"
    r"clarify|specify|explain|repeat|rephrase|narrow)|"
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
    r"\bhelp\s+me\s+out\b|\btell\s+me\s+(?:the|your)\s+\w+\s+and\b|\b(?:some|or\s+(?:some|"
    r"an?))\s*other\s+\w+\?|"
    r"\b(?:in|of|from|at|by|for)\s+(?:which|what)(?:\s+\w+){0,2},?(?:\s+\w+)?\?|"
    r"^\W*(?:\w+\s+){1,4}who\?|^\W*(?:which|wich)\s+\w+(?:\s+\w+)?\?|"
    r"\b(?:does\s*n't|does\s+not|didn't|did\s+not)\s+(?:name|say|specify|mention|tell)\b|"
    r"(?<!of\s)\b(?:which|wich|what)\s+(?:one|1)s?\b(?!\s+(?:is|was|of\s+(?:the\s+)?(?:two|"
    r"three)\s+is)\b)|"
    r"(?:^|[:,—-]\s*|\b(?:but|and|so)\s+)(?:which|wich)\s+[A-Z][^?.]{0,50}\?|"
    r"\bmore\s+(?:context|details?|information|info|specifics)(?:,?\s+please|\s+(?:is|are)\s+"
    r"(?:needed|required|necessary)|\s+would\s+(?:help|be))|"
    r"^\W*(?:well,?\s+)?(?:that\s+|it\s+)?depends\b|"
    r"\b(?:do|did|are|what|who|which)\s+(?:\w+\s+){0,2}u\b(?:\s+(?:mean|talking|asking|"
    r"referring))?|"
    r"\b(?:would|could)\s+you\s+mind\s+(?:clarify|tell|specify|rephras|explain|giv|shar|say)ing|"
    r"\bwhat\s+exactly\s+(?:do|are|would)\s+you|\b(?:is|are)\s+(?:too\s+)?ambiguous\b|"
    r"\bambiguous\s+(?:question|name|query)|\bany\s+(?:\w+\s+)?(?:details|context|hints?|clues?)"
    r"(?=[^.]*\?)|\b(?:say|tell\s+me|specify|indicate)\s+(?:more|which)\b|\bnot\s+following\b|"
    r"\b(?:say|tell|explain)\s+(?:\w+\s+){0,2}(?:more\s+)?about\s+(?:who|what|which)\b|"
    r"\bin\s+which\s+sense|\bclarification\b|\bonce\s+(?:I\s+know|you\s+tell)\s+|"
    r"\bplease\s+(?:give|provide|state|name|add|indicate|send|supply)\b|\bhave\s+in\s+mind\b",
    re.I,
)
_TURN = re.compile(
    r"\W*(?:[A-Z]|user|assistant|interviewer|teacher|student|question|answer)\s?:\s+", re.I
)
_WHICH_OFFER = re.compile(r"\W*(?:which|what|who)\b(?!\s+else)", re.I)
#: Questions that state ignorance, which no one is to answer.
_RHETORICAL = re.compile(
    r"\W*(?:(?:well|honestly|but|and),?\s+)?(?:who\s+(?:really\s+)?knows|"
    r"how\s+(?:should|would|could)\s+(?:I|anyone)\s+know|"
    r"who\s+(?:can|could)\s+(?:say|tell)|who\s+am\s+I\s+to)\b",
    re.I,
)
#: "The book or the film?": alternatives that are no names.
_ALTERNATIVES = re.compile(
    r"\W*(?:(?:well|hmm|sorry|uh|ok|okay|is\s+(?:this|that|it)\s+about|"
    r"about),?\s+)*(?:(?-i:[A-Z])[\w'-]*,?\s+){0,3}the\s+(?-i:[a-z])[^?.!]{0,40}"
    r"\bor\s+(?:(?-i:[A-Z])[\w'-]*\s+)?(?:the\s+)?"
    r"(?:(?-i:[a-z])[\w'-]*\s?){1,4}\??\W*$",
    re.I,
)
#: "Hepatitis A, B or C?", "Do you want the city's or the county's?": a choice put to the user.
_KINDS = re.compile(r"\W*[A-Z]\w+\s+[A-Z](?:\s*,\s*[A-Z]\b)*,?\s+or\s+[A-Z]\W*\?")
_WISH = re.compile(
    r"\bdo\s+you\s+(?:want|need)\s+(?:the|an?|to\s+know)\b[^.?!]{1,80}\bor\b[^.?!]{1,60}\?", re.I
)
_START_WH = re.compile(
    r"\W*(?:(?:and|but|so|well|ok|okay|now|sorry|hmm),?\s+)?(?:(?:in|at|of|for|on|from|by)\s+(?=which|what|whose))?"
    r"(?:which|who|what|where|when|how|whose|"
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
    speaker = _TURN.match(sentence)
    if speaker:
        found = addressed(sentence[speaker.end() :], alone)
        return found and Addressed(found.how, found.at + speaker.end())
    if _RHETORICAL.match(sentence):
        return None
    if _KINDS.match(sentence) or _WISH.search(sentence):
        return Addressed("ask", 0)
    if _OFFER.search(sentence) and not _WHICH_OFFER.match(sentence):
        return Addressed("offer", 0)
    asked = _ASKING.search(sentence)
    if asked:
        return Addressed("ask", asked.start())
    if _ALTERNATIVES.match(sentence) and (alone or is_question(sentence)):
        return Addressed("ask", 0)
    if not is_question(sentence):
        return None
    if _START_WH.match(sentence) or (_INVERTED.search(sentence) and _PICK.search(sentence)):
        back = alone or _TO_THE_USER.search(sentence) or _PICK.search(sentence)
        return Addressed("ask" if back else "question", 0)
    return Addressed("guess", 0)


def is_question(sentence: str) -> bool:
    """Whether the sentence ends with a question mark, quotes and brackets apart."""
    return sentence.rstrip("\"') ").endswith("?")
