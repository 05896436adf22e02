"""Clauses that speak of the question or of the speaker's means instead of answering.

"The question is incomplete", "please provide the title", "as an AI model, I do not have ...". They
assert nothing about the subject, so they carry neither decisiveness nor a value to compare.
"""

from __future__ import annotations

import re

_VERBS = (
    r"(?:have|access|possess|provide|answer|predict|determine|find|identify|confirm|verify|offer|"
    r"locate|give|browse|see|understand|assume|speculate|reveal)"
)
_ASKING = re.compile(
    rf"""
    (?<!answer\sto\s)\b(?:the|this|your|that)\s+(?:question|query|prompt|passage|request)\b
        (?!\s+(?:is|was)\s+(?:that|whether)\b)[^.]{{0,50}}?
        \b(?:is|are|was|does|do|seems?|appears?|contains?|refers?|lacks?|cannot|can't|could|asks?|has
        |provides?|may|might|mentions?)\b
    | \b(?:please|could\s+you|can\s+you|kindly)\s+(?:\w+\s+)?(?:provide|clarify|specify|give|check
        |let\s+me|rephrase|share)\b
    | \b(?:I|we)\s+(?:\w+\s+)?(?:do\s+not|don't|cannot|can\s+not|can't|could\s+not|couldn't|am\s+not
        \s+able\s+to|am\s+unable\s+to|have\s+not|haven't)\s+(?:\w+\s+)?{_VERBS}\b
        (?!\s+(?:any\s+)?doubts?\b)
    | \bmy\s+(?:\w+\s+)?(?:data|database|knowledge|training|information|responses?|capabilit\w+)\b
        [^.]{{0,40}}\b(?:limited|may\s+not|might\s+not|not\s+be|cut-?off|only)\b
    | \b(?:best|recommend\w*|suggest|advise)\s+(?:to\s+|that\s+you\s+|you\s+|for\s+you\s+to\s+)?
        (?:check|consult|verify|refer|visit|look|checking|consulting|visiting|looking|referring)
    | \byou\s+(?:can|may|could|might)\s+(?:\w+\s+)?(?:find|check|visit|refer|consult|look|want)\b
    | \b(?:not|n't)\s+(?:been\s+)?(?:mentioned|specified|provided|given|stated)\b(?=\W*$|\s+in\b
        |\s+who
        |\s+which|\s+what)
    | \b(?:impossible|not\s+possible|difficult|hard)\s+(?:for\s+me\s+)?to\s+(?:\w+\s+)?(?:answer
        |determine|know|provide|identify)\b
    | ^\W*(?:(?:I'm|I\s+am)\s+)?(?:very\s+)?sorry\b | ^\W*I\s+apologi[sz]e | ^\W*as\s+an\s+AI\b
        (?![^,]*,[^,]*\b(?:is|was|are|were)\b)
    | ^\W*without\s+(?:more|additional|further|any|knowing|this|that|a|the)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)


def speaks_of_asking(clause: str) -> bool:
    """Whether a clause is about the question, the speaker's means, or where to look instead."""
    return _ASKING.search(clause) is not None
