"""What a question asks for, by its form."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from sayso.judges.english.lexicon import alternatives, lexicon_words
from sayso.judges.patterns import regex

Expected = Literal["date", "place", "number", "person", "any"]

_NUMBER = regex(
    rf"\bhow\s+(?:{alternatives(lexicon_words('measures', 'questions.how'))})\b|"
    rf"\b(?:{alternatives(lexicon_words('measures', 'questions.number'))}|box\s+office|"
    r"running\s+time|(?:orbital|incubation|rotation)\s+period)\b",
    re.IGNORECASE,
)
_DATE = regex(
    r"^\W*(?:\w+\s+){0,2}when\b|\b(?:what|which)\s+(?:\w+\s+)?"
    rf"(?:{alternatives(lexicon_words('measures', 'questions.date'))})\b|"
    r"\bdate\s+of\b|\b(?:birth|death|release|publication)\s+date\b|\binception\b|"
    r"\byear\s+of\b|\bsince\s+when\b",
    re.IGNORECASE,
)
_PLACE = regex(
    r"\bwhere\b|\b(?:what|which)\s+(?:\w+\s+)?"
    rf"(?:{alternatives(lexicon_words('measures', 'questions.place'))})\b|"
    r"\bplace\s+of\b|\bbirthplace\b|\bheadquarters?\s+location\b",
    re.IGNORECASE,
)
_PERSON = regex(r"\bwho(?:m|se)?\b", re.IGNORECASE)


_EXPECTED: dict[Expected, re.Pattern[str]] = {
    "date": _DATE, "place": _PLACE, "person": _PERSON, "number": _NUMBER,
}  # fmt: skip


@lru_cache(maxsize=8192)
def expected(question: str, hint: str = "") -> Expected:
    """Return the kind of answer that a question expects; ``hint`` is the aspect's description."""
    for text in (question[-2000:], hint[-2000:]):
        for kind, pattern in _EXPECTED.items():
            if pattern.search(text):
                return kind
    return "any"


#: a question whose answer is yes or no, or one of the things that it names
FIRST_VERB = r"^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b"
_WHETHER = regex(FIRST_VERB, re.IGNORECASE)


def asks_whether(question: str) -> bool:
    """Whether a question begins with its verb: "Is it red?", "Is it red or blue?"."""
    return _WHETHER.search(question) is not None


_NAMED = regex(
    r"\b(?:what|which)\s(?:(?:is|was)\s(?:the\s)?)?(?:name\sof\sthe\s)?(?:\w{2,12}est\s)?"
    rf"(?:{alternatives(lexicon_words('measures', 'questions.name'))})\b(?!['’])",
    re.IGNORECASE,
)


@lru_cache(maxsize=8192)
def asks_for_a_name(question: str) -> bool:
    """Whether a name answers, of something that is neither a person nor a town."""
    return _NAMED.search(question[-2000:]) is not None
