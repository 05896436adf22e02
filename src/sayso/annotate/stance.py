"""How surely is something said? Markers of doubt get a reach; an aspect's stance follows from it.

Reaches (English). A belief ("I think", "it is said that") at the head of a clause reaches the
clauses joined to it by "and" or a relative pronoun, up to "but", "although" or a semicolon; in the
middle or at the end only its own clause. A modal reaches its clause. An adverb beside the verb
reaches its clause, further right only what follows it. A marker alone in parentheses reaches the
phrase before it. A statement of ignorance reaches the aspects its words name ("I am not sure
when"); where it names none, the rest of its sentence, or alone the sentence before it, and at the
beginning of an answer everything. A disclaimer about the information as a whole ("please verify
these details", "I'm not sure about any of this") reaches everything in the answer wherever it
stands; a closing offer of more help is no marker.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from sayso.annotate.hedges import GENERIC, REST, WHOLE
from sayso.annotate.marks import Found, find
from sayso.annotate.sentences import Span, clauses, plain, sentences


class Hedge(NamedTuple):
    """Words that weaken every claim whose value lies in ``low:high``."""

    start: int
    end: int
    low: int
    high: int


GapKind = Literal["ignorance", "refusal", "caution", "rest"]


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


class Reading(NamedTuple):
    """A text with its sentences, clauses and everything in it that weakens or withholds."""

    text: str
    sentences: tuple[Span, ...]
    clauses: tuple[tuple[Span, ...], ...]
    hedges: tuple[Hedge, ...]
    gaps: tuple[Gap, ...]
    questions: tuple[Span, ...]
    asks: tuple[Span, ...]

    def hedged(self, start: int, end: int) -> bool:
        """Whether a hedge reaches the characters ``start:end``."""
        return any(h.low < end and start < h.high for h in self.hedges)

    def silent(self, start: int, end: int) -> bool:
        """Whether ``start:end`` lies where nothing is asserted."""
        return any(s.start <= start and end <= s.end for s in self.silences())

    def silences(self) -> list[Span]:
        """The stretches that assert nothing: ignorance, refusals, questions back."""
        return [g.silent for g in self.gaps] + list(self.questions)


_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_CONTRAST = re.compile(
    r"(?:but|although|though|even\s+though|albeit|however|yet|whereas|while)\b", re.I
)
_RELATIVE = re.compile(r"(?:who|whom|whose|which|where|when)\b", re.I)
_LINK = re.compile(
    r"[\s,;:.!?()\"*—–-]*(?:(?:and|but|or|so|although|though|even\s+though|that|which|who|where|when|"
    r"however|then|also|well|while|because|since|yet|oh|hmm|ok)\b[\s,]*)*",
    re.I,
)
_BESIDE = re.compile(
    r"\b(?:is|was|are|were|am|be|been|being|has|had|have|will|would|did|does|do|can|could|most|very|'s|'d)\s*$",
    re.I,
)
_VERB_NEXT = re.compile(
    r"\s*(?:is|was|are|were|has|had|have|will|would|did|does|became|wrote|won|led|made|went|began|"
    r"[a-z]{2,}ed|born|lies|orbits|causes|comes|came|dates?|refers?|means?|stands?|took|takes|spent|"
    r"works|lives|plays|held|got|met|sang|ran|grew|fell)\b"
)
_WHETHER = re.compile(
    r"[\s,]*(?:about\s+|of\s+|on\s+)?(?:if|whether|that)\s+(?=[a-z]+\s+\w+|[A-Z])(?!this|is\b)"
)
_WH_PART = re.compile(r"[\s,]*(?:(?:and|or|nor)\s+)?(?:who|when|where|what|how|which)\b", re.I)
_PREPOSITION = re.compile(r"\b(?:in|on|at|by|from|of|to|for|with|as|is|was|and)\s+(?=\S)", re.I)
_WHOLE = re.compile(rf"\b{WHOLE}\b", re.I | re.X)
_REST = re.compile(rf"\b{REST}\b", re.I | re.X)
_CAUTION = re.compile(
    r"\b(?:wrong|mistaken|misremember|confus|mixing|off$|correct\s+me|quote\s+me|hold\s+me|salt)",
    re.I,
)
_DEMONSTRATIVE = re.compile(
    r"\W*(?:(?:or|but|although|though|and)\s+)?(?:(?:so|that|this|it|these|those|which)\b|at\s+least\b)",
    re.I,
)
_NAMES = re.compile(r"(?<=\s)[A-Z]\w+(?<!AI)|\d")
_SUBORDINATE = re.compile(
    r"\b(?:which|that|who|where|when|and|but|because|as|although|though|so|or),?\s*$", re.I
)
_COMMA = re.compile(r",\s+(?=[a-z])")
_KIND_FIRST = re.compile(
    r"(?:dates?|years?|places?|name|number|identity|authorship|origins?)\b", re.I
)
_FAR = 200
_NEW_SUBJECT = re.compile(r"(?:he|she|it|they|i|we)\b", re.I)
_PARENTHETICAL = re.compile(
    r"\s*(?:(?:as|so|or|if|unless|from|to|at\s+least|like|though|although|but|by|what|the|some|most|very|in|and|according)\s+){0,3}",
    re.I,
)
_TOPIC = re.compile(
    r"\W*(?:(?:but|and|however),?\s+)?(?:as\s+(?:to|for)|regarding|concerning|about|on|with\s+(?:regard|respect)|when\s+it\s+comes|in\s+terms|who|what|when|where|how|which|whether)\b",
    re.I,
)
_MACHINE = re.compile(
    r"\bas\s+an?\s+(?:AI|(?:large\s+)?language\s+model|assistant|chatbot|artificial|virtual)\b|\bI(?:'m|\s+am)\s+(?:just\s+|only\s+)?an?\s+(?:AI|(?:large\s+)?language\s+model)\b",
    re.I,
)
_ACCESS = re.compile(
    r"\b(?:access|retrieve|browse|real-time|live|look\s+up|internet|databases?|opinions?|feelings)\b",
    re.I,
)
_ALTERNATIVES = re.compile(
    r"\b(?:whether|if)\b|\d\w*,?\s+or\s+(?:\w+\s+)?\d|[A-Z]\w+\s+or\s+(?:\w+\s+)?[A-Z]"
)
_ANYTHING = re.compile(r"")
_RELATIVE_FULL = re.compile(r"(?:which|who)\b", re.I)
_INVERTED = re.compile(
    r"(?:^|[:,;—-])\W*(?:is|are|was|were|do|does|did|has|have|should|shall)\b", re.I
)
_PICK = re.compile(r"\bor\b|\byou\b|\bwhich\b", re.I)
_TO_THE_USER = re.compile(r"\b(?:you|your|clarify|specify)\b", re.I)
_OFFER = re.compile(
    r"\b(?:would\s+you\s+like|do\s+you\s+(?:want|need)|can\s+I\s+(?:help|assist)|anything\s+else|how\s+(?:can|may)\s+I|"
    r"may\s+I\s+help|shall\s+I|should\s+I|want\s+me\s+to|like\s+me\s+to|what\s+else|let\s+me\s+know\s+if\s+you\s+(?:have|need))",
    re.I,
)
_ASKING = re.compile(
    r"\b(?:could|can|would|will)\s+you\s+(?:please\s+|kindly\s+)?(?:clarify|specify|tell|give|provide|say|be\s+more|share|elaborate|confirm|let|explain|narrow|rephrase|add)|"
    r"\bplease\s+(?:\w+\s+)?(?:clarify|specify|tell\s+me|let\s+me\s+know\s+(?:which|what|who)|rephrase|elaborate|provide\s+(?:\w+\s+){0,3}(?:context|details?|information|clarification|name)|give\s+(?:me\s+)?(?:\w+\s+){0,2}(?:context|details?|information))|"
    r"\b(?:do|did)\s+you\s+mean|\bare\s+you\s+(?:asking|referring|looking|talking|thinking|interested|speaking|inquiring)|"
    r"\bwhich\s+(?:\S+\s+){0,6}?(?:do|did|are|would)\s+you\b|\bwho\s+(?:or\s+what\s+)?are\s+you\b|\bI(?:'d|\s+would)?\s+need\s+(?:\w+\s+){0,2}(?:context|details|information|clarification)|"
    r"\b(?:if\s+you\s+(?:could|can)\s+(?:\w+\s+)?(?:clarify|specify|tell|provide|give))|\blet\s+me\s+know\s+which|\bwhat\s+do\s+you\s+mean|"
    r"\b(?:tell|let)\s+me\s+(?:know\s+)?(?:first\s+)?(?:which|what|who|whether|more|where|a\s+(?:bit|little))|\bneed\s+(?:to\s+know|you\s+to|more|(?:a\s+)?(?:bit|little)\s+more|some\s+more|further)\b|"
    r"\bdepends\s+on\s+(?:which|what|who)|\b(?:which|what|who)\b[^.?!]{0,60}\byou(?:\s+are|'re|\s+mean|\s+have\s+in\s+mind|\s+want|\s+refer|\s+had\s+in\s+mind)|"
    r"\bplease\s+(?:give|provide|state|name|add|indicate|send|supply)\b|\bhave\s+in\s+mind\b",
    re.I,
)
_START_WH = re.compile(
    r"\W*(?:and\s+|but\s+|sorry,?\s+|hmm,?\s+)?(?:which|who|what|where|when|how|whose|do\s+you|did\s+you|are\s+you|is\s+this|could\s+you|can\s+you)\b",
    re.I,
)


def _bare(text: str) -> str:
    """Strip connectors and punctuation from both ends."""
    link = _LINK.match(text)
    return text[link.end() if link else 0 :].strip(" ,;:.!?()\"'*—–-")


def _parenthesis(text: str, sentence: Span, start: int, end: int) -> Span | None:
    """The innermost parentheses of the sentence around ``start:end``, with the brackets."""
    low = text.rfind("(", sentence.start, start + 1)
    if low < 0 or text.find(")", low, start) >= 0:
        return None
    high = text.find(")", max(start, end - 1), sentence.end)
    return Span(low, sentence.end if high < 0 else high + 1)


def _empty(words: str) -> bool:
    """Whether only generic words are left."""
    return all(w.lower() in GENERIC for w in _WORD.findall(words))


def _phrase_before(text: str, low: int, at: int) -> int:
    """Where the last phrase before ``at`` begins: after a comma, or at a preposition."""
    start = max(low, text.rfind(", ", low, at) + 2 if text.rfind(", ", low, at) >= 0 else low)
    for hit in _PREPOSITION.finditer(text, start, at):
        if _bare(text[hit.end() : at]):
            start = hit.start()
    return start


def _run(text: str, parts: tuple[Span, ...], i: int) -> int:
    """The end of the clauses that follow clause ``i`` without a contrast."""
    if _RELATIVE.match(text, parts[i].start) and i:
        return parts[i].end
    for previous, part in zip(parts[i:], parts[i + 1 :], strict=False):
        between = text[previous.end : part.start]
        if (
            ";" in between
            or _NEW_SUBJECT.match(text, part.start)
            or _NEW_SUBJECT.match(text, part.start)
            or "—" in between
            or " - " in between
            or _CONTRAST.match(text, part.start)
        ):
            return previous.end
    return parts[-1].end


def _hedge(text: str, sentence: Span, parts: tuple[Span, ...], mark: Found) -> Hedge:
    i = max(k for k, part in enumerate(parts) if k == 0 or part.start <= mark.start)
    clause = parts[i]

    def reach(low: int, high: int) -> Hedge:
        return Hedge(mark.start, mark.end, low, high)

    inside = _parenthesis(text, sentence, mark.start, mark.end)
    if inside is not None and inside.start > sentence.start:
        rest = text[inside.start : mark.start] + " " + text[mark.end : inside.end]
        if _empty(rest):
            return reach(_phrase_before(text, clause.start, inside.start), inside.end)
        return reach(inside.start, inside.end)
    if (
        i
        and _DEMONSTRATIVE.match(text, clause.start)
        and not _NAMES.search(text, clause.start, clause.end)
    ):
        return reach(parts[i - 1].start, clause.end)
    lead = _SUBORDINATE.search(text, clause.start, mark.start)
    if (
        lead
        and lead.end() == mark.start
        and i + 1 < len(parts)
        and _empty(text[mark.end : clause.end])
    ):
        return reach(
            clause.start if not _bare(text[clause.start : lead.start()]) else mark.start,
            parts[i + 1].end,
        )
    before = _bare(text[clause.start : mark.start])
    after = _bare(text[mark.end : clause.end])
    if mark.kind == "choice":
        return reach(
            clause.start
            if text[mark.start : mark.end].lower().startswith("either")
            else mark.start,
            clause.end,
        )
    if _empty(after) and _empty(before):
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
        aside = text[sentence.start : clause.start].rstrip().endswith(",") and not _VERB_NEXT.match(
            text, mark.end
        )
        comma = _COMMA.search(text, mark.end + 1, clause.end) if aside else None
        return reach(clause.start, comma.start() if comma else clause.end)
    if not after or re.search(r"\bor,?\s*$", text[clause.start : mark.start]):
        return reach(clause.start, clause.end)
    if mark.kind == "adverb" and (
        _BESIDE.search(text, clause.start, mark.start) or _VERB_NEXT.match(text, mark.end)
    ):
        return reach(clause.start, clause.end)
    high = clause.end
    if text[clause.start : mark.start].rstrip().endswith(","):
        comma = _COMMA.search(text, mark.end + 1, clause.end)
        high = comma.start() if comma else clause.end
    return reach(mark.start, high)


def _between_commas(text: str, clause: Span, mark: Found) -> bool:
    """Whether the marker stands in a stretch set off by commas inside its clause."""
    comma = text.rfind(",", clause.start, mark.start)
    if comma < 0 or not _PARENTHETICAL.fullmatch(text, comma + 1, mark.start):
        return False
    end = text.find(",", mark.end - 1, clause.end)
    return 0 <= end - mark.end < 40 and mark.kind in ("matrix", "doubt") or end == mark.end


def _gap(
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
    if _WH_PART.match(text, mark.end) or _WH_PART.search(text, mark.end, clause.end):
        while last + 1 < len(parts) and _WH_PART.match(text, parts[last + 1].start):
            last += 1
            high = parts[last].end
    if _RELATIVE_FULL.match(text, clause.start) and "," in text[mark.end : high]:
        high = text.index(",", mark.end)
    inside = _parenthesis(text, sentence, mark.start, mark.end)
    if inside is not None and inside.start > sentence.start:
        low, high = inside
        if _NAMES.search(text, low, mark.start):
            low = max(low, text.rfind(",", low, mark.start) + 1)
    left = text[low : mark.start]
    if re.search(r"\bwhose\s+[\w\s']{1,30}$", left, re.I) and not left.lower().startswith("whose"):
        return None
    about = left[-_FAR:] + " " + text[mark.end : min(high, mark.end + _FAR)]
    if _KIND_FIRST.match(text, mark.start, mark.end):
        about += " " + text[mark.start : mark.end]
    if i and _empty(about) and _TOPIC.match(text, parts[i - 1].start):
        low = parts[i - 1].start
        about = text[low : parts[i - 1].end] + " " + about
    kind: GapKind = "ignorance"
    if mark.kind == "refusal" or (
        _MACHINE.search(text, sentence.start, sentence.end) and _ACCESS.search(text, *sentence)
    ):
        kind = "refusal"
    elif mark.kind == "disclaimer" or _CAUTION.search(text, mark.start, mark.end):
        kind = "caution"
    words = _bare(about)
    whether = _WHETHER.match(text, mark.end)
    if mark.kind == "predicate" and _ALTERNATIVES.search(about):
        silent_end = mark.start if whether is None else mark.end
        low, high = (low, high) if whether else (mark.start, mark.end)
        whether = whether or _ANYTHING.match(text, silent_end)
    silent = Span(low, mark.end if whether else high)
    everything = bool(_WHOLE.search(words))
    if kind == "caution":
        everything = everything or bool(_WHOLE.search(text, mark.start, mark.end))
    if kind == "ignorance" and _REST.search(text, mark.start, high):
        kind = "rest"
    reach = _reach(text, parts, i, last, before, inside)
    return Gap(kind, mark.start, mark.end, about, *reach[:2], everything or reach[2], silent)


def _reach(
    text: str, parts: tuple[Span, ...], i: int, last: int, before: Span | None, inside: Span | None
) -> tuple[int, int, bool]:
    """What a gap that names no aspect reaches: (low, high, whole answer)."""
    if inside is not None and inside.start > parts[0].start:
        return _phrase_before(text, parts[i].start, inside.start), inside.start, False
    if _RELATIVE_FULL.match(text, parts[i].start):
        return parts[0].start, parts[-1].end, False
    left = _bare(text[parts[0].start : parts[i].start])
    if i and not _empty(left):
        low = parts[0].start
        for previous, part in zip(parts[:i], parts[1:i], strict=False):
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


def _alone(gap: Gap, reach: Span, first: bool) -> Gap:
    """A gap whose sentence asserts nothing: about the sentence before, at the beginning about all."""
    return gap._replace(low=reach.start, high=reach.end, whole=gap.whole or first)


@lru_cache(maxsize=2048)
def read(text: str, names: tuple[str, ...] = ()) -> Reading:
    """Find everything in ``text`` that weakens or withholds, with its reach.

    ``names`` are titles and golds in which a marker word is not a marker ("Maybe Happy Ending").
    Never raises; linear in the length of the text.
    """
    text = plain(text)
    spans = sentences(text)
    where = tuple(tuple(clauses(text, s)) or (s,) for s in spans)
    hedges: list[Hedge] = []
    gaps: list[Gap] = []
    questions: list[Span] = []
    asks: list[Span] = []
    said: Span | None = None
    for s, sentence in enumerate(spans):
        words = text[sentence.start : sentence.end]
        asked = None if _OFFER.search(words) else _ASKING.search(words)
        mark = words.rstrip("\"') ").endswith("?")
        if _OFFER.search(words):
            questions.append(sentence)
            continue
        if asked:
            asks.append(sentence)
            at = sentence.start + asked.start()
            questions.append(sentence if mark else [c for c in where[s] if c.start <= at][-1])
        elif mark and (_START_WH.match(words) or (_INVERTED.search(words) and _PICK.search(words))):
            questions.append(sentence)
            if _TO_THE_USER.search(words) or _PICK.search(words) or len(spans) == 1:
                asks.append(sentence)
        elif mark:
            hedges.append(Hedge(sentence.end - 1, sentence.end, *sentence))
        if mark and questions and questions[-1] == sentence:
            continue
        silent = True
        for found in find(text, sentence, names):
            if found.kind in ("doubt", "predicate", "refusal", "disclaimer"):
                gap = _gap(text, where, s, sentence, found, said)
                if gap is not None:
                    gaps.append(gap)
            else:
                hedges.append(_hedge(text, sentence, where[s], found))
        here = [g.silent for g in gaps if g.start >= sentence.start]
        silent = all(any(c.start >= g.start and c.end <= g.end for g in here) for c in where[s])
        if not silent:
            said = sentence
        elif here:
            reach = (sentence, True) if said is None else (said, False)
            gaps[-len(here) :] = [_alone(g, *reach) for g in gaps[-len(here) :]]
    return Reading(text, spans, where, tuple(hedges), tuple(gaps), tuple(questions), tuple(asks))
