"""What short and long answers have in common: which statements there are, and who weakens them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sayso.annotate.align import Unit, units
from sayso.annotate.gaps import Gap
from sayso.annotate.hedges import GENERIC
from sayso.annotate.marks import names_with_markers
from sayso.annotate.matching import Match
from sayso.annotate.naming import Asked, covers
from sayso.annotate.netted import doubted
from sayso.annotate.sentences import Span
from sayso.annotate.stance import Reading
from sayso.annotate.syntax import WHOLE
from sayso.annotate.talk import TALK, sends_away
from sayso.annotate.values import asserted
from sayso.records import Content, Stance, Verdict

SIGNATURE = "rules@3"
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_ABOUT_ITSELF = re.compile(
    r"^\W*(?:(?:but|so|however|unfortunately),?\s+)?(?:I\b(?!(?:'m|'ve|\s+\w+)?"
    r"(?:\s+[\w-]+){0,4}?\s+(?:certain|sure|positive|confident|convinced|know|confirm|"
    r"confidence|doubt|remember|recall|certainty|assure|fact)\b(?:\s+(?:that\b|you\b|(?-i:[A-Z])|"
    r"(?:he|she|it|they|the|its|his|her)\s)))|my\b|as\s+an\s+AI|we\b|"
    r"it\s+is\s+(?:important|worth|best)|please\b|for\s+(?:more|the\s+most|accurate|further)|"
    r"sorry|apologies|you\s+(?:can|could|may|might|should)|feel\s+free|if\s+you|is\s+there|"
    r"thank|there\s+(?:are|were|is|seem\s+to\s+be)\s+(?:\w+\s+){0,2}?(?:several|many|multiple|"
    r"two|"
    r"three|numerous|various|more\s+than\s+one|a\s+few|different|a\s+number|lots?)\b|"
    r"(?:several|many|multiple|two|three|a\s+few|various|numerous|"
    r"more\s+than\s+one)\s+(?:[\w'-]+\s+){0,3}?(?:share|have|go\s+by|are\s+(?:named|called)|"
    r"with\s+(?:that|this)|named|called)\b|(?:your|the|this|that)\s+(?:question|query|name(?!\s+of\b)|"
    r"request)\b)",
    re.I,
)


def missing(problem: str) -> Verdict:
    """A verdict without a value."""
    return Verdict(target="", asked="", by=SIGNATURE, problem=problem)


def make_verdict(
    stance: Stance, content: Content = "none", where: Span | None = None, value: Span | None = None
) -> Verdict:
    """A verdict that was read; ``where`` is the sentence, ``value`` the value inside it."""
    return Verdict(
        target="",
        asked="",
        by=SIGNATURE,
        stance=stance,
        content=content,
        start=where.start if where else None,
        end=where.end if where else None,
        answer_start=value.start if value else None,
        answer_end=value.end if value else None,
    )


def marker_names(aspects: Sequence[Asked]) -> tuple[str, ...]:
    """Titles and golds that contain a marker word, as they may be written in the answer."""
    names = [n for a in aspects for gold in a.golds for n in gold.names]
    names += [run for a in aspects for run in _TITLE.findall(a.question)]
    return names_with_markers(tuple(dict.fromkeys(names)))


#: Beside a question back, what is said of the question itself, or how many go by the name.
_YOURS = re.compile(
    r"\b(?:your|the|this|that)\s+(?:\w+\s+of\s+your\s+)?(?:question|message|query|request)\b|"
    r"^\W*(?:(?:because|since|as|but)\s+)?there(?:'?s|\s+(?:is|are|were|have\s+been))\s+"
    r"(?:\w+\s+)?(?:loads|lots|many|several|tons|plenty|two|three|a\s+few|quite\s+a|dozens|"
    r"more\s+than|numerous|multiple|various)\b",
    re.I,
)
_TITLE = re.compile(r"(?:[A-Z][\w'’-]*)(?:\s+(?:of|the|and|in|a|to|for|[A-Z][\w'’-]*))*")


def voiced(text: str, start: int, end: int) -> bool:
    """Whether the stretch says more than that one does not know."""
    return any(w.lower() not in GENERIC for w in _WORD.findall(text[start:end]))


def statements(reading: Reading) -> list[Unit]:
    """The units that assert something about the world, not about the speaker."""
    talk = bool(reading.gaps or reading.asks)
    return [
        u
        for u in units(reading)
        if voiced(reading.text, u.start, u.end)
        and not (
            talk
            and (
                (
                    _ABOUT_ITSELF.match(reading.text[u.start : u.end])
                    and not reading.hedged(u.start, u.end)
                )
                or sends_away(reading.text[u.start : u.end])
                or (reading.asks and _YOURS.search(reading.text, u.start, u.end))
            )
        )
    ]


def withheld(reading: Reading) -> Verdict:
    """The verdict on an answer that gives none."""
    where = reading.asks[0] if reading.asks else None
    ignorant = [g for g in reading.gaps if g.kind in ("ignorance", "rest")]
    if where is not None and all(_which(g) for g in ignorant):
        return make_verdict("asked_back", where=where)
    if ignorant:
        return make_verdict("abstained", where=sentence_at(reading, ignorant[0].start))
    refusals = [g for g in reading.gaps if g.kind == "refusal"]
    if refusals or (reading.gaps and where is None):
        first = (refusals or list(reading.gaps))[0]
        return make_verdict(
            "refused_by_policy" if refusals else "abstained",
            where=sentence_at(reading, first.start),
        )
    return make_verdict("asked_back" if where else "omitted", where=where)


def _which(gap: Gap) -> bool:
    """Whether the speaker only does not know what is asked."""
    return bool(_REFERENT.search(gap.about))


_REFERENT = re.compile(r"\b(?:which\b|who\s+you|what\s+you|you\s+(?:are|mean|'re)|you're)", re.I)


def sentence_at(reading: Reading, at: int) -> Span:
    """The sentence around a position."""
    return next((s for s in reading.sentences if s.start <= at < s.end), Span(at, at))


def names_aspect(
    reading: Reading, gap: Gap, aspect: Asked, aspects: Sequence[Asked]
) -> bool | None:
    """Whether the gap names the aspect; ``None`` when it names none (see ``align.covers``)."""
    named = covers(gap.about, reading.text[gap.low : gap.high], aspect, aspects)
    everything = gap.whole and WHOLE.search(gap.about)
    if gap.kind == "refusal" and named is False and _about_one(gap.about):
        return False
    if named is False and (gap.kind in ("refusal", "caution") or everything):
        others = any(covers(gap.about, "", a, aspects) for a in aspects)
        return False if others else None
    return named


_OF_HERS = re.compile(r"\b(?:his|her|its)\s+([a-z]+)\b(?:\s+([a-z]+)\b)?")


def _about_one(about: str) -> bool:
    """Whether a refusal is about one thing that nobody asked for: "comment on her health"."""
    found = _OF_HERS.search(about)
    words = [w for w in (found.groups() if found else ()) if w]
    return bool(words) and not any(w in GENERIC or w in TALK for w in words)


def weakened(reading: Reading, aspects: Sequence[Asked], aspect: Asked, value: Span) -> bool:
    """Whether a hedge reaches the value, or a statement of doubt is about it."""
    if reading.hedged(*value):
        return True
    for gap in reading.gaps:
        if gap.kind in ("refusal", "rest", "scant"):
            continue
        named = names_aspect(reading, gap, aspect, aspects)
        if named is False and gap.kind == "ignorance" and _again(reading, gap, value):
            return True
        if named or (
            named is None and (gap.whole or (gap.low < value.end and value.start < gap.high))
        ):
            return True
    return doubted(reading, aspect, aspects, value)


def _again(reading: Reading, gap: Gap, value: Span) -> bool:
    """Whether a later statement of doubt says the value itself again: "not sure of Ripley"."""
    said = reading.text[value.start : value.end].strip()
    return (
        value.end <= sentence_at(reading, gap.start).start
        and 2 < len(said) < 60
        and not said[0].islower()
        and re.search(rf"\b{re.escape(said)}\b", gap.about) is not None
    )


def place_value(aspect: Asked, found: Match, text: str, low: int, high: int) -> Span | None:
    """The span of the value in the text; ``found`` was matched on ``text[low:high]``."""
    if found.start is not None and found.end is not None:
        span = Span(low + found.start, low + found.end)
        if found.content == "correct" or aspect.kind in ("date", "number"):
            return span
    return asserted(text, low, high, aspect.kind, aspect.known, aspect.cues)
