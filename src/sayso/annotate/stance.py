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

from sayso.annotate.hedges import GENERIC, WHOLE
from sayso.annotate.marks import Found, find
from sayso.annotate.sentences import Span, clauses, plain, sentences


class Hedge(NamedTuple):
    """Words that weaken every claim whose value lies in ``low:high``."""

    start: int
    end: int
    low: int
    high: int


class Gap(NamedTuple):
    """A statement of ignorance, a refusal, or a caution ("please verify this", "I may be wrong").

    ``about`` is the text in which it may name aspects; ``low:high`` what it reaches when it names
    none (the whole answer when ``whole``). ``silent`` is the stretch that asserts nothing.
    """

    kind: Literal["ignorance", "refusal", "caution"]
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
_WHOLE = re.compile(rf"\b{WHOLE}\b", re.I)
_CAUTION = re.compile(
    r"\b(?:wrong|mistaken|misremember|confus|mixing|off$|correct\s+me|quote\s+me|hold\s+me|salt)",
    re.I,
)
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
    r"\b(?:if\s+you\s+(?:could|can)\s+(?:\w+\s+)?(?:clarify|specify|tell|provide|give))|\blet\s+me\s+know\s+which|\bwhat\s+do\s+you\s+mean",
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
            return reach(sentence.start, _run(text, parts, 0) if len(parts) > 1 else sentence.end)
        return reach(parts[i - 1].start, clause.end)
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
    if not before:
        return reach(clause.start, _run(text, parts, i) if i == 0 else clause.end)
    if not after or re.search(r"\bor,?\s*$", text[clause.start : mark.start]):
        return reach(clause.start, clause.end)
    if mark.kind == "adverb" and (
        _BESIDE.search(text, clause.start, mark.start) or _VERB_NEXT.match(text, mark.end)
    ):
        return reach(clause.start, clause.end)
    high = clause.end
    if text[clause.start : mark.start].rstrip().endswith(","):
        comma = re.compile(r",\s+(?=[a-z])").search(text, mark.end + 1, clause.end)
        high = comma.start() if comma else clause.end
    return reach(mark.start, high)


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
    inside = _parenthesis(text, sentence, mark.start, mark.end)
    if inside is not None and inside.start > sentence.start:
        low, high = inside
    about = text[low : mark.start] + " " + text[mark.end : high]
    kind: Literal["ignorance", "refusal", "caution"] = "ignorance"
    if mark.kind == "refusal":
        kind = "refusal"
    elif mark.kind == "disclaimer" or _CAUTION.search(text, mark.start, mark.end):
        kind = "caution"
    words = _bare(about)
    whether = _WHETHER.match(text, mark.end)
    silent = Span(low, mark.end if whether else high)
    everything = bool(_WHOLE.search(words)) or mark.kind == "disclaimer"
    reach = _reach(text, parts, i, last, before, inside)
    return Gap(kind, mark.start, mark.end, about, *reach[:2], everything or reach[2], silent)


def _reach(
    text: str, parts: tuple[Span, ...], i: int, last: int, before: Span | None, inside: Span | None
) -> tuple[int, int, bool]:
    """What a gap that names no aspect reaches: (low, high, whole answer)."""
    if inside is not None and inside.start > parts[0].start:
        return _phrase_before(text, parts[i].start, inside.start), inside.start, False
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
        asked = _ASKING.search(words)
        if asked or words.rstrip("\"')* ").endswith("?"):
            if asked and not _OFFER.search(words):
                asks.append(sentence)
                questions.append(sentence)
                continue
            if _OFFER.search(words) or _START_WH.match(words):
                questions.append(sentence)
                if not _OFFER.search(words) and (_TO_THE_USER.search(words) or len(spans) == 1):
                    asks.append(sentence)
                continue
            hedges.append(Hedge(sentence.end - 1, sentence.end, *sentence))
        elif _OFFER.search(words):
            questions.append(sentence)
            continue
        silent = True
        for mark in find(text, sentence, names):
            if mark.kind in ("doubt", "predicate", "refusal", "disclaimer"):
                gap = _gap(text, where, s, sentence, mark, said)
                if gap is not None:
                    gaps.append(gap)
            else:
                hedges.append(_hedge(text, sentence, where[s], mark))
        here = [g.silent for g in gaps if g.start >= sentence.start]
        silent = all(any(c.start >= g.start and c.end <= g.end for g in here) for c in where[s])
        if not silent:
            said = sentence
    return Reading(text, spans, where, tuple(hedges), tuple(gaps), tuple(questions), tuple(asks))
