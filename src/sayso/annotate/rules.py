"""The offline judge: stance and content of an answer in one go, by rules (VALIDITY 3).

Deterministic, English, no model and no network. Decisions that a reader should know:

* A hedged answer keeps its content; abstaining, refusing and asking back have content "none".
* An approximate value ("about 5,000") is committed; whether it agrees is the matcher's business.
* An empty answer, or one that says nothing about the question, is "omitted": it voices no gap.
* "Unknown" is an abstention unless a gold says so itself.
* Another language than English is problem "language", a failed generation "failed", one cut off
  inside its thinking "truncated"; none of them gets a default.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from sayso.annotate import Item
from sayso.annotate.align import Asked, Unit, asked, assign, covers, units
from sayso.annotate.cues import stems
from sayso.annotate.hedges import GENERIC
from sayso.annotate.language import is_english
from sayso.annotate.marks import names_with_markers
from sayso.annotate.matching import Match, match
from sayso.annotate.sentences import Span
from sayso.annotate.stance import Gap, Reading, read
from sayso.annotate.values import asserted, typed
from sayso.records import Content, Gold, Question, Stance, Verdict, golds_of

NAME = "rules"
SIGNATURE = "rules@1"
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
#: No word is this long; such a run is noise that would only cost time.
_ENDLESS = re.compile(r"\S{200,}")
_ABOUT_ITSELF = re.compile(
    r"^\W*(?:(?:but|so|however|unfortunately),?\s+)?(?:I\b|my\b|as\s+an\s+AI|we\b|it\s+is\s+(?:important|worth|best)|please\b|for\s+(?:more|the\s+most|accurate|further)|"
    r"sorry|apologies|you\s+(?:can|could|may|might|should)|feel\s+free|if\s+you|is\s+there|thank)",
    re.I,
)


def judge_rules(question: str, golds: Sequence[str | Gold], answer: str) -> Verdict:
    """Judge a short answer to one question; offline, deterministic.

    Each gold is a true value; any one suffices. ``target`` and ``asked`` are left empty. An empty
    answer is omitted; running text in another language has problem "language". Never raises on any
    text.
    """
    return _short(asked(question, golds_of(golds)), answer)


def judge_rules_long(
    parts: Sequence[tuple[str, Sequence[str | Gold]]], paragraph: str
) -> list[Verdict]:
    """Judge a paragraph for each (question, golds) of ``parts``, in their order.

    An aspect of which nothing is said is omitted. Otherwise as :func:`judge_rules`.
    """
    return _long([asked(question, golds_of(golds)) for question, golds in parts], paragraph)


class RulesJudge:
    """The rules as a :class:`~sayso.annotate.Judge`."""

    name = NAME
    signature = SIGNATURE

    def grade(self, items: Sequence[Item]) -> list[Verdict]:
        """Return one verdict for each (item, question), in order; see ``judge_rules``."""
        return [verdict for item in items for verdict in _grade(item)]


def _grade(item: Item) -> list[Verdict]:
    generation = item.generation
    problem = generation.problem
    if problem is not None:
        problem = "truncated" if problem == "truncated" else "failed"
        found = [_missing(problem) for _ in item.questions]
    elif generation.form == "long" or len(item.questions) != 1:
        found = _long([_asked(q) for q in item.questions], generation.text)
    else:
        found = [_short(_asked(item.questions[0]), generation.text)]
    return [
        _replace(verdict, generation.id, q.id)
        for verdict, q in zip(found, item.questions, strict=True)
    ]


def _replace(verdict: Verdict, target: str, question: str) -> Verdict:
    return Verdict(
        target=target,
        asked=question,
        by=verdict.by,
        stance=verdict.stance,
        content=verdict.content,
        start=verdict.start,
        end=verdict.end,
        answer_start=verdict.answer_start,
        answer_end=verdict.answer_end,
        problem=verdict.problem,
    )


def _asked(question: Question) -> Asked:
    aspect = question.aspect
    hint = f"{aspect.description} {aspect.label}" if aspect else ""
    return asked(question.text, question.golds or (), hint.strip(), question.entity)


def _missing(problem: str) -> Verdict:
    return Verdict(target="", asked="", by=SIGNATURE, problem=problem)


def _verdict(
    stance: Stance, content: Content = "none", where: Span | None = None, value: Span | None = None
) -> Verdict:
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


def _marker_names(aspects: Sequence[Asked]) -> tuple[str, ...]:
    """Titles and golds that contain a marker word, as they may be written in the answer."""
    names = [n for a in aspects for gold in a.golds for n in gold.names]
    names += [run for a in aspects for run in _TITLE.findall(a.question)]
    return names_with_markers(tuple(dict.fromkeys(names)))


_TITLE = re.compile(r"(?:[A-Z][\w'’-]*)(?:\s+(?:of|the|and|in|a|to|for|[A-Z][\w'’-]*))*")


def _voiced(text: str, start: int, end: int) -> bool:
    """Whether the stretch says more than that one does not know."""
    return any(w.lower() not in GENERIC for w in _WORD.findall(text[start:end]))


def _said(reading: Reading) -> list[Unit]:
    """The units that assert something about the world, not about the speaker."""
    talk = bool(reading.gaps or reading.asks)
    return [
        u
        for u in units(reading)
        if _voiced(reading.text, u.start, u.end)
        and not (
            talk
            and _ABOUT_ITSELF.match(reading.text[u.start : u.end])
            and not reading.hedged(u.start, u.end)
        )
    ]


def _withheld(reading: Reading) -> Verdict:
    """The verdict on an answer that gives none."""
    where = reading.asks[0] if reading.asks else None
    ignorant = [g for g in reading.gaps if g.kind in ("ignorance", "rest")]
    if where is not None and not any(g.whole or True for g in ignorant if not _which(reading, g)):
        return _verdict("asked_back", where=where)
    if ignorant:
        return _verdict("abstained", where=_sentence(reading, ignorant[0].start))
    if reading.gaps:
        return _verdict("refused_by_policy", where=_sentence(reading, reading.gaps[0].start))
    return _verdict("asked_back" if where else "omitted", where=where)


def _which(reading: Reading, gap: Gap) -> bool:
    """Whether the speaker only does not know what is asked."""
    return bool(_REFERENT.search(gap.about))


_REFERENT = re.compile(r"\b(?:which\b|who\s+you|what\s+you|you\s+(?:are|mean|'re)|you're)", re.I)


def _sentence(reading: Reading, at: int) -> Span:
    return next((s for s in reading.sentences if s.start <= at < s.end), Span(at, at))


def _covers(reading: Reading, gap: Gap, aspect: Asked, aspects: Sequence[Asked]) -> bool | None:
    named = covers(gap.about, reading.text[gap.low : gap.high], aspect, aspects)
    if named is False and (gap.kind == "refusal" or (gap.kind == "caution" and gap.whole)):
        others = any(covers(gap.about, "", a, aspects) for a in aspects)
        return False if others else None
    return named


def _weakened(reading: Reading, aspects: Sequence[Asked], aspect: Asked, value: Span) -> bool:
    if reading.hedged(*value):
        return True
    for gap in reading.gaps:
        if gap.kind in ("refusal", "rest"):
            continue
        named = _covers(reading, gap, aspect, aspects)
        if named or (
            named is None and (gap.whole or (gap.low < value.end and value.start < gap.high))
        ):
            return True
    return False


def _place(aspect: Asked, found: Match, text: str, low: int, high: int) -> Span | None:
    """The span of the value in the text; ``found`` was matched on ``text[low:high]``."""
    if found.start is not None and found.end is not None:
        span = Span(low + found.start, low + found.end)
        if found.content == "correct" or aspect.kind in ("date", "number"):
            return span
    return asserted(text, low, high, aspect.kind, aspect.known, aspect.cues)


@lru_cache(maxsize=65536)
def _short(aspect: Asked, answer: str) -> Verdict:
    if not answer.strip():
        return _verdict("omitted")
    if not is_english(answer):
        return _missing("language")
    reading = read(answer, _marker_names([aspect]))
    text = reading.text
    said = _said(reading)
    blank = bytearray(len(text))
    for unit in said:
        blank[unit.start : unit.end] = b"\x01" * (unit.end - unit.start)
    rest = "".join(c if keep else " " for c, keep in zip(text, blank, strict=True))
    rest = _ENDLESS.sub(lambda run: " " * len(run.group()), rest)
    if not said:
        return _withheld(reading) if reading.gaps or reading.asks else _plain(aspect, reading)
    found = match(aspect.question, aspect.golds, rest)
    if found.content != "correct":
        found = _bare_match(aspect, reading, rest) or found
    unit = _speaking(aspect, reading, said, found)
    if (reading.gaps or reading.asks) and found.content != "correct" and unit is None:
        return _withheld(reading)
    unit = unit or said[0]
    value = _place(aspect, found, rest, 0, len(rest))
    if value is None and len(said) == 1 and len(_WORD.findall(rest)) <= 6:
        value = _trimmed(text, unit.start, unit.end)
    where = value or Span(unit.start, unit.end)
    stance: Stance = "hedged" if _weakened(reading, [aspect], aspect, where) else "committed"
    if not aspect.golds:
        return _missing("unread")
    return _verdict(stance, found.content, _sentence(reading, where.start), value)


def _bare_match(aspect: Asked, reading: Reading, rest: str) -> Match | None:
    """Match the bare value of "I think it's Miyazaki": what the marker and empty words leave."""
    if not reading.hedges:
        return None
    kept = list(rest)
    for hedge in reading.hedges:
        kept[hedge.start : hedge.end] = " " * (hedge.end - hedge.start)
    words = [w for w in _WORD.finditer("".join(kept)) if w.group().lower() not in GENERIC]
    if not words or len(words) > 4:
        return None
    low, high = words[0].start(), words[-1].end()
    found = match(aspect.question, aspect.golds, rest[low:high])
    if found.content != "correct" or found.start is None or found.end is None:
        return None
    return Match("correct", low + found.start, low + found.end, found.why)


def _plain(aspect: Asked, reading: Reading) -> Verdict:
    """An answer of generic words only: "Yes", "The same"."""
    text = reading.text
    found = match(aspect.question, aspect.golds, text)
    value = _place(aspect, found, text, 0, len(text)) or _trimmed(text, 0, len(text))
    where = value or Span(0, len(text))
    stance: Stance = "hedged" if reading.hedged(*where) else "committed"
    return _verdict(stance, found.content, where, value)


def _trimmed(text: str, start: int, end: int) -> Span | None:
    words = list(_WORD.finditer(text, start, end))
    return Span(words[0].start(), words[-1].end()) if words else None


def _says_kind(text: str, unit: Unit, aspect: Asked) -> bool:
    """Whether a unit has a value of the expected kind; names are unseen in text without capitals."""
    if aspect.kind == "any":
        return True
    if aspect.kind in ("place", "person") and text[unit.start : unit.end].islower():
        return True
    return any(True for _ in typed(text, unit.start, unit.end, aspect.kind, aspect.known))


def _speaking(aspect: Asked, reading: Reading, said: Sequence[Unit], found: Match) -> Unit | None:
    """The unit that answers the question, ``None`` where none seems to.

    Asked only of answers that also withhold something: then a statement counts as an answer when
    it has the gold, or a value of the expected kind and either a cue word, a hedge, or no company.
    """
    named = any(_covers(reading, g, aspect, [aspect]) for g in reading.gaps)
    best: Unit | None = None
    for unit in said:
        if (
            found.start is not None
            and found.content == "correct"
            and unit.start <= found.start < unit.end
        ):
            return unit
        has_kind = _says_kind(reading.text, unit, aspect)
        cue = bool(aspect.cues & unit.stems)
        short = len(_WORD.findall(reading.text[unit.start : unit.end])) <= 4
        hedged = reading.hedged(unit.start, unit.end)
        if (
            has_kind
            and (cue or hedged or short or (not named and aspect.kind != "any"))
            and best is None
        ):
            best = unit
    return best


def _general(reading: Reading, gap: Gap) -> bool:
    """Whether a statement that names no aspect withholds those that are not spoken of."""
    return gap.kind == "rest" or (gap.kind != "caution" and _alone(reading, gap))


def _alone(reading: Reading, gap: Gap) -> bool:
    """Whether nothing is asserted in the gap's own sentence."""
    where = _sentence(reading, gap.start)
    return not any(where.start <= u.start < where.end for u in _said(reading))


def _long(aspects: list[Asked], paragraph: str) -> list[Verdict]:
    if not paragraph.strip():
        return [_verdict("omitted") for _ in aspects]
    if not is_english(paragraph):
        return [_missing("language") for _ in aspects]
    reading = read(paragraph, _marker_names(aspects))
    chosen = assign(reading, aspects)
    return [
        _aspect(reading, aspects, aspect, unit)
        for aspect, unit in zip(aspects, chosen, strict=True)
    ]


def _aspect(
    reading: Reading, aspects: Sequence[Asked], aspect: Asked, unit: Unit | None
) -> Verdict:
    text = reading.text
    naming: list[Gap] = []
    general: list[Gap] = []
    for gap in reading.gaps:
        named = _covers(reading, gap, aspect, aspects)
        if named:
            naming.append(gap)
        elif (
            named is None
            and gap.kind == "ignorance"
            and not gap.whole
            and aspect.cues & stems(text[gap.low : gap.high])
        ):
            naming.append(gap)
        elif named is None and (gap.whole or gap.kind == "rest") and _general(reading, gap):
            general.append(gap)
    if unit is not None:
        found = match(aspect.question, aspect.golds, text[unit.start : unit.end])
        value = _place(aspect, found, text, unit.start, unit.end)
        full = aspect.cues <= unit.stems or found.content == "correct"
        if not naming or full or reading.hedged(unit.start, unit.end):
            where = value or Span(unit.start, unit.end)
            stance: Stance = "hedged" if _weakened(reading, aspects, aspect, where) else "committed"
            if not aspect.golds:
                return _missing("unread")
            content: Content = "incorrect" if found.content == "none" else found.content
            return _verdict(stance, content, reading.sentences[unit.sentence], value)
    gaps = naming or general
    ignorant = [g for g in gaps if g.kind in ("ignorance", "rest")]
    if ignorant:
        return _verdict("abstained", where=_sentence(reading, ignorant[0].start))
    if gaps:
        return _verdict("refused_by_policy", where=_sentence(reading, gaps[0].start))
    if reading.asks and not _said(reading):
        return _verdict("asked_back", where=reading.asks[0])
    return _verdict("omitted")
