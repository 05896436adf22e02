"""Withholding by general builds: silent sources, and doubt about a text as a whole.

``patterns`` knows how speakers word their own ignorance; here the subject is what they read ("the
records do not say when"), or everything they said ("none of this is verified").
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

from sayso.annotate import hedges as h
from sayso.annotate.cues import stem
from sayso.annotate.patterns import NEG, compiled
from sayso.annotate.sentences import Span
from sayso.annotate.syntax import evaluates

_TELL = r"""(?:say|tell|mention|reveal|state|specify|give|name|record|indicate|list|report|show
    |cover|contain|include|explain|identify|supply|provide|note|address|touch\s+on|go\s+into|help)"""
_TELLS = r"""(?:say|tell|mention|reveal|state|specifie|give|name|record|indicate|list|report|show
    |cover|contain|include|explain|identifie|supplie|provide|note|addresse|help)s?"""
#: What a speaker reads from.
_TEXT = rf"""(?:{h.SOURCES}|material|notes?|literature|archives?|files?|data|information|pages?
    |what\s+I\s+(?:have|know|read|found|remember)|memory|knowledge|works?\s+I)"""
SILENT = compiled(
    rf"""
      (?:do|does|did|can|could|will|would)\s*{NEG}\s+(?:\w+\s+)?{_TELL}\b
    | (?:is|are|was|were|stays?|remains?|kept|keeps?)\s+(?:\w+\s+)?silent\s+(?:on|about|as\s+to
        |regarding)\b
    | makes?\s+no\s+mention\s+of\b | leaves?\s+(?:out|open|unsaid|unanswered)\b
    | (?:has|have)\s+nothing\s+(?:to\s+say\s+)?(?:on|about)\b
    """
)
#: The same where nothing at all is the subject: "nothing I have read gives her birth date".
NOTHING = compiled(
    rf"""(?:nothing|none\s+of|no\s+{h.SOURCES}|neither\s+of)(?=\s)(?:\s+[\w']+){{1,7}}?\s+{_TELLS}\b
    """
)
#: The speaker's own empty search.
EMPTY = compiled(
    r"""
      (?:came|come|coming|drew|draw|end(?:ed)?)\s+(?:up\s+)?(?:empty(?:-handed)?|blank
        |with\s+nothing)\b(?:\s+on)?
    | (?:seen|read|found|heard|learned|got|saw|know|have)\s+nothing\s+(?:on|about|of|regarding)\b
    | in\s+no\s+position\s+to\s+(?:say|tell|name|state|give|judge)\b
    | (?:must|have\s+to|need\s+to|will|'ll|shall)\s+(?:have\s+to\s+)?pass\s+on\b
    | (?:mere\s+|pure\s+|sheer\s+)?guesswork\s+to\s+(?:say|tell|name|state|give)\b
    | (?:a|is|remains?)\s+(?:complete\s+)?(?:blank|mystery|closed\s+book)\s+to\s+me\b
    """
)
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_FROM = re.compile(rf"\b{_TEXT}\b", re.IGNORECASE | re.VERBOSE)
_I = re.compile(r"\b(?:I|I'm|I've|me|my|we|our)\b")


def reads(before: str) -> bool:
    """Whether the words before "does not say" are about a text that the speaker reads from."""
    return bool(_FROM.search(before) or _I.search(before))


def speaks(sentence: str) -> bool:
    """Whether a sentence is about the speaker or a source."""
    return bool(_I.search(sentence) or _FROM.search(sentence))


_EVERYTHING = re.compile(
    r"\bthroughout\b|\b(?:everything|all|none|nothing|any|whatever|parts?|much|most|some)\s+(?:of\s+)?(?:(?:this|"
    r"that|these|those|it|them|what|which|I|the\s+(?:following|above|below|rest|foregoing)|below|"
    r"above|here|written|stated|said|follows|comes|my)\b|that\s+follows)|\bwhat\s+(?:follows|comes|"
    r"I\s+(?:say|write|state|give|said|wrote|gave))\b|\beverything\b|\b(?:the|all)\s+(?:following|"
    r"above|below|foregoing)\b|\b(?:these|those|the|my|all)\s+(?:\w+\s+)?(?:statements|lines|"
    r"sentences|notes|details|facts|claims|points|answers?|data|particulars|information)\b|"
    r"\b(?:this|the)\s+(?:whole\s+|entire\s+|above\s+)?(?:text|paragraph|answer|summary|account|"
    r"sketch|description|information|entry|profile|portrait)\b",
    re.I,
)
_SHAKY = re.compile(
    r"\b(?:loosely|limb|limited|iffy|rusty|wobbly|foggy|murky|fuzzy|muddled|half-\w+|misremember\w*|conflat\w+|"
    r"mixing|confus\w+|hesita\w+|reluctan\w+|re-?check|double-?check|suspect|bet|stake|bank|"
    r"guess\w*|memory|recollection|caution|cautiously|salt|unverified|unconfirmed|unchecked|"
    r"uncertain|unsure|doubtful|doubts?|off|wrong|mistaken|errors?|mistakes?|inaccura\w+|"
    r"tentative\w*|provisional\w*|hazy|vague\w*|shaky|unreliable|speculative|speculation|"
    r"hearsay|check(?:ing)?|verify|verification|verifying|confirmation|reservations?|outdated|"
    r"incomplete)\b|"
    r"\b(?:not|no|none|nothing|never|cannot|hardly|without|[a-z]+n't|nor)\b(?:\W+\w+){0,8}?\W+"
    r"(?:certain|certainty|sure|checked|verified|confirmed|confident|confidence|vouch|guaranteed?|"
    r"established|reliable|fact|facts|definite|sourced|trust|trusted|correct|right|accurate|"
    r"rely|swear)\b",
    re.I,
)
_PASSED = re.compile(
    r"\b(?:well\s+(?:documented|established|known)|no\s+doubts?|without\s+(?:a\s+|any\s+)?doubts?|"
    r"beyond\s+doubt|(?:been|was|were|have|has)\s+(?:double-?\s?)?(?:checked|verified))\b",
    re.I,
)
_FILL = re.compile(
    r"\b(?:haven't|hasn't|hadn't|room|error|there|bear|keep|aware|warned|warning|word|loosely|roughly|recalled|limb|out|situation|state|position|hazy|dim|poor|patchy|throughout|working|work|relying|iffy|rusty|wobbly|foggy|murky|fuzzy|muddled|half-\w+|"
    r"misremember\w*|conflat\w+|mixing|mix|up|two|confus\w+|hesita\w+|reluctan\w+|re-?check|"
    r"suspect|bet|stake|bank|figures?|dates?|years?|places?|names?|ones?|numbers?|spelling|"
    r"anyone|nobody|someone|shouldn't|wouldn't|hold|quote|part|bit|little|less|than|very|solid|"
    r"firm|sound|safe|hard|last|first|though|admittedly|mind|must|need|needs|warrants?|deserves?|"
    r"second|look|too|much|weight|put|on|myself|me|own|go|going|house|feel|remain|remains|follows?|following|below|text|paragraph|statements?|lines?|sentences?|sketch|"
    r"description|portrait|profile|handle|regard|treat|consider|take|read|use|nothing|guesses|"
    r"guesswork|written|writing|write|wrote|vague|vaguely|dimly|faint|shaky|piece|together|"
    r"cautious\w*|"
    r"recollect\w*|recall|recalled|errors?|contain|contains|unchecked|checked|vouch|rely|relied|"
    r"accuracy|double|hedged|provisional\w*|tentative\w*|outdated|incomplete|unconfirmed|"
    r"reservations?|swear|trust|established|merely|memories|salt|grain|pinch|notes?|foregoing|"
    r"gave|stated|based|solely|only|any|mistakes?|sourced|definite|official|independent\w*|"
    r"verification|confirmation|before|relying|using)\b",
    re.I,
)


def shaky(text: str) -> bool:
    """Whether a stretch has a word of doubt that nothing takes back."""
    return bool(_SHAKY.search(text)) and not (
        _PASSED.search(text) and not re.search(r"\b(?:not|n't|none|nothing|never)\b", text, re.I)
    )


_ME = re.compile(r"\b(?:I|me|my|mine|myself)\b")
_FIRM = re.compile(
    r"\b(?:sure|certain\w*|confident|confirm\w*|positive|know|knew|clear|convinced|promise|assure|guarantee|"
    r"definite\w*|doubt|checked|verified|hope|help\w*|happy|glad|let|please|you|your|mention\w*|"
    r"add|note|sorry|thanks?|love|like|enjoy\w*|recommend|more|else|other|further|share|tell|"
    r"must|find|found|looked|saw|visited|met|own|everything|all|provide|discuss|answer|said|listed|gave|above|below)\b",
    re.I,
)


def remarks(text: str) -> bool:
    """Whether a short stretch is the speaker's own remark and vouches for nothing.

    Nobody comments on a value in the first person without either vouching for it or doubting it:
    "I'm going out on a limb there".
    """
    return (
        bool(_ME.search(text))
        and len(text) < 90
        and not _FIRM.search(text)
        and not re.search(r"\d", text)
    )


def questions_itself(text: str, known: AbstractSet[str], cues: AbstractSet[str]) -> bool:
    """Whether a stretch says nothing but how far something is to be relied on.

    ``known`` are the lower-case words of the question, ``cues`` the stems that name the aspect;
    both add nothing.
    """
    rest = map(str.lower, _WORD.findall(_FILL.sub(" ", text)))
    words = [w for w in rest if w.removesuffix("'s") not in known and stem(w) not in cues]
    return evaluates(" ".join(words))


def disclaimer(text: str, sentence: Span) -> Span | None:
    """Return the stretch of a sentence that disclaims the text as a whole, if there is one."""
    if not _EVERYTHING.search(text, *sentence):
        return None
    if _disclaims(text[sentence.start : sentence.end]):
        return sentence
    for piece in _PIECE.finditer(text, *sentence):
        if _disclaims(piece.group()):
            return Span(*piece.span())
    return None


_PIECE = re.compile(r"[^,;:()—]+")


def _disclaims(words: str) -> bool:
    """Whether a stretch says nothing but that the text as a whole is not to be relied on."""
    if not _EVERYTHING.search(words) or not _SHAKY.search(words):
        return False
    if _PASSED.search(words) and not re.search(r"\b(?:not|n't|none|nothing|never)\b", words, re.I):
        return False
    return evaluates(_FILL.sub(" ", words))
