"""The offline judge: stance and content of an answer in one go, by rules (VALIDITY 3).

Deterministic, English, no model and no network. Decisions that a reader should know:

* A hedged answer keeps its content; abstaining, refusing and asking back have content "none".
* An approximate value ("about 5,000") is committed; whether it agrees, the matcher says.
* An empty answer, or one that does not speak of the question, is "omitted": it voices no gap.
* "Unknown" is an abstention unless a gold says so itself.
* Other languages, failed and truncated generations are problems; none of them gets a default.

Short and long answers share which statements there are and who weakens them. Below the patterns of
``stance`` lies a net for sentences that speak of not knowing in other words: a sentence about the
speaker or a source that names the aspect, holds no value of its shape and has both a word of
knowing (or of rules) and a negative one withholds the aspect (:func:`unvoiced`). Where the aspect
has a value elsewhere, a sentence without one that only says how shaky something is weakens what it
names, or what stands before it (:func:`doubted`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from sayso.judges.judge import Item, credit_withholding, golds_to_compare
from sayso.judges.patterns import regex
from sayso.judges.rules.align import (
    Asked,
    Unit,
    asked,
    assign,
    covers,
    eliminate,
    known_by,
    room,
    spoken,
    told_apart,
    units,
    wanted_by,
)
from sayso.judges.rules.lexicon import GENERIC, stems, topics
from sayso.judges.rules.matching import Match, asserted, match, names, typed
from sayso.judges.rules.sentences import Span
from sayso.judges.rules.stance import (
    TALK,
    WHOLE,
    Gap,
    Reading,
    holds_new,
    names_with_markers,
    questions_itself,
    read,
    remarks,
    sends_away,
    shaky,
    speaks,
    speaks_of_rules,
    states_unknown,
    unsaid,
    withholds,
)
from sayso.judges.rules.text import is_english
from sayso.records import Content, Gold, Question, Stance, Verdict, golds_of

# ---- the net below the patterns

_MOST = 60
_POINTS = regex(
    r"\W*(?:(?:but|though|although|and|however),?\s+)?(?:(?:I|I'd|I'm|do|don't|please|just|only|"
    r"there|treat|take|handle|read|regard|consider|not|no|still|even)\b|(?:this|that|it|these|those|the)"
    r"\b(?!\s+(?-i:[A-Z])))",
    re.I,
)
_ELSEWHERE = regex(r"\bfor\s+(?:more|further)\b|\bwebsites?\b", re.I)
_PIECE = regex(r"[^,;()—]+")
#: Behind these another value begins, to which the remark belongs.
_JOINS = regex(
    r"\b(?:and|or|but|who|which|while|is|was|has|had|by|in|on|at|from|with|to|[a-z]{2,}ed)\b"
)
_DASH = regex(r"\s[-–]\s")


def unvoiced(
    reading: Reading, aspect: Asked, aspects: Sequence[Asked]
) -> tuple[Stance, Span] | None:
    """Return how, and where, an aspect without a value is withheld; ``None`` if nowhere."""
    wanted, known = wanted_by(aspects), known_by(aspects)
    for sentence in reading.sentences[:_MOST]:
        text = reading.text[sentence.start : sentence.end]
        stance = withholds(text, aspect.kind != "any") if speaks(text) else None
        if stance is None or not aspect.cues <= spoken(text, wanted, known):
            continue
        if aspect.kind != "any" and room(reading.text, *sentence, aspect, wanted):
            continue
        if covers(text, "", aspect, aspects) is not False:
            return stance, sentence
    return None


def doubted(reading: Reading, aspect: Asked, aspects: Sequence[Asked], value: Span) -> bool:
    """Whether a remark beside the value, or a sentence about it, says that it is shaky.

    "..., a year nobody should bank on", "Take that date with caution.", "The length is a figure I
    would double-check."
    """
    every = reading.sentences[:_MOST]
    home = next((i for i, s in enumerate(every) if s.start <= value.start < s.end), None)
    if home is None:
        return False
    if _remarked(reading, every[home], value, aspect):
        return True
    for i, sentence in enumerate(every):
        if i == home or reading.silent(*sentence) or _ELSEWHERE.search(reading.text, *sentence):
            continue
        text = reading.text[sentence.start : sentence.end]
        mine = i == home + 1 and remarks(text)
        if not (mine or (shaky(text) and (_POINTS.match(text) or speaks(text)))):
            continue
        if any(True for _ in names(reading.text, *sentence, known_by(aspects))):
            continue
        if any(room(reading.text, *sentence, a, frozenset()) for a in aspects if a.kind == "date"):
            continue
        if not mine and not questions_itself(text, aspect.known, aspect.cues):
            continue
        named = covers(text, "", aspect, aspects)
        others = any(covers(text, "", a, aspects) for a in aspects if a is not aspect)
        if named or (not others and i == home + 1):
            return True
    return False


def _remarked(reading: Reading, sentence: Span, value: Span, aspect: Asked) -> bool:
    """Whether the next piece of the value's own sentence only says how shaky it is."""
    words = reading.text[sentence.start : sentence.end]
    gaps = any(sentence.start <= g.start < sentence.end for g in reading.gaps)
    if gaps or (not shaky(words) and not remarks(words)):
        return False
    low = value.end - sentence.start
    for piece in _PIECE.finditer(_DASH.sub(" — ", words)):
        said = words[piece.start() : piece.end()]
        if piece.start() >= low and re.search(r"\w", said):
            close = not _JOINS.search(words, low, piece.start())
            empty = shaky(said) and questions_itself(said, aspect.known, aspect.cues)
            return close and (
                empty
                or (
                    remarks(said) and not any(True for _ in names(said, 0, len(said), aspect.known))
                )
            )
    return False


SIGNATURE = "rules@4"
_ABOUT_ITSELF = regex(
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
_YOURS = regex(
    r"\b(?:your|the|this|that)\s+(?:\w+\s+of\s+your\s+)?(?:question|message|query|request)\b|"
    r"^\W*(?:(?:because|since|as|but)\s+)?there(?:'?s|\s+(?:is|are|were|have\s+been))\s+"
    r"(?:\w+\s+)?(?:loads|lots|many|several|tons|plenty|two|three|a\s+few|quite\s+a|dozens|"
    r"more\s+than|numerous|multiple|various)\b",
    re.I,
)
_TITLE = regex(r"(?:[A-Z][\w'’-]*)(?:\s+(?:of|the|and|in|a|to|for|[A-Z][\w'’-]*))*")


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


_REFERENT = regex(r"\b(?:which\b|who\s+you|what\s+you|you\s+(?:are|mean|'re)|you're)", re.I)


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


_OF_HERS = regex(r"\b(?:his|her|its)\s+([a-z]+)\b(?:\s+([a-z]+)\b)?")


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


# ---- a short answer: which statement answers, and what one without a value is


def offers(aspect: Asked, said: list[Unit], reading: Reading, text: str) -> list[Unit]:
    """The statements that could hold a value: in each a word that is no talk and new."""
    new = [u for u in said if holds_new(text[u.start : u.end], aspect.known, aspect.cues)]
    refused = any(g.kind == "refusal" for g in reading.gaps)
    return [
        u
        for u in new
        if not (refused and speaks_of_rules(text[u.start : u.end]))
        and not sends_away(text[u.start : u.end])
    ]


def conceded(reading: Reading, said: Sequence[Unit], where: Span) -> Span:
    """The clause that holds after a concession: "She may have studied law, but she is a cook"."""
    if reading.hedged(*where):
        for unit in said:
            opens = _BUT.match(reading.text, unit.start)
            if unit.start > where.start and opens and not reading.hedged(unit.start, unit.end):
                return Span(unit.start, unit.end)
    return where


_BUT = regex(
    r"but\s+(?:in\s+fact,?\s+|actually,?\s+)?(?:he|she|it|they)\s+(?:is|was|are|were)\b", re.I
)


def valueless(aspect: Asked, reading: Reading) -> Verdict:
    """An answer of the question's words and talk alone."""
    found = plain_answer(aspect, reading)
    if found.content == "correct":
        return found
    if states_unknown(reading.text) and not reading.gaps:
        return msgspec.structs.replace(found, content="incorrect")
    stance = unsaid(reading.text)
    return found if stance is None else make_verdict(stance, where=reading.sentences[0])


def names_gold(aspect: Asked, reading: Reading, answer: str) -> bool:
    """Whether what looks like a refusal holds the answer: nobody refuses by giving it."""
    refusals = bool(reading.gaps) and all(gap.kind == "refusal" for gap in reading.gaps)
    return refusals and match(aspect.question, aspect.golds, answer).content == "correct"


def kept_back(aspect: Asked, reading: Reading) -> Verdict | None:
    """The verdict on an answer about the speaker in which nothing of the expected kind is said."""
    text = reading.text
    if aspect.kind == "any" or text.islower() or not _ME.search(text):
        return None
    if any(True for _ in typed(text, 0, len(text), aspect.kind, aspect.known)):
        return None
    stance = withholds(text, blank=True)
    return make_verdict(stance, where=reading.sentences[0]) if stance else None


_ME = regex(r"\b(?:I|I'm|I'd|me|my)\b")


def bare_match(aspect: Asked, reading: Reading, rest: str) -> Match | None:
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


def plain_answer(aspect: Asked, reading: Reading) -> Verdict:
    """An answer of generic words only: "Yes", "The same"."""
    text = reading.text
    found = match(aspect.question, aspect.golds, text)
    value = place_value(aspect, found, text, 0, len(text)) or trimmed(text, 0, len(text))
    where = value or Span(0, len(text))
    stance: Stance = "hedged" if reading.hedged(*where) else "committed"
    return make_verdict(stance, found.content, where, value)


def trimmed(text: str, start: int, end: int) -> Span | None:
    words = list(_WORD.finditer(text, start, end))
    return Span(words[0].start(), words[-1].end()) if words else None


def says_kind(text: str, unit: Unit, aspect: Asked) -> bool:
    """Whether a unit has a value of the expected kind; text without capitals hides names."""
    if aspect.kind == "any":
        return True
    if aspect.kind in ("place", "person") and text[unit.start : unit.end].islower():
        return True
    return any(True for _ in typed(text, unit.start, unit.end, aspect.kind, aspect.known))


def speaking(aspect: Asked, reading: Reading, said: Sequence[Unit], found: Match) -> Unit | None:
    """The unit that answers the question, ``None`` where none seems to.

    Asked only of answers that also withhold something: then a statement counts as an answer when
    it has the gold, or a value of the expected kind and either a cue word, a hedge, or no company.
    """
    named = any(names_aspect(reading, g, aspect, [aspect]) for g in reading.gaps)
    best: Unit | None = None
    for unit in said:
        if (
            found.start is not None
            and found.content == "correct"
            and unit.start <= found.start < unit.end
        ):
            return unit
        has_kind = says_kind(reading.text, unit, aspect)
        cue = bool(aspect.cues & topics(reading.text[unit.start : unit.end], aspect.cues))
        short = len(_WORD.findall(reading.text[unit.start : unit.end])) <= 4
        hedged = reading.hedged(unit.start, unit.end)
        if (
            has_kind
            and (cue or hedged or short or (not named and aspect.kind != "any"))
            and best is None
        ):
            best = unit
    return best


# ---- the judge

NAME = "rules"
_WORD = regex(r"[^\W_]+(?:['’-][^\W_]+)*")
#: No word is this long; such a run is noise that would only cost time.
_ENDLESS = regex(r"\S{200,}")


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
    """The rules as a :class:`~sayso.judges.judge.Judge`."""

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
        found = [missing(problem) for _ in item.questions]
    elif generation.form == "long" or len(item.questions) != 1:
        found = _long([_asked(q) for q in item.questions], generation.text)
    else:
        found = [_short(_asked(item.questions[0]), generation.text)]
    return [
        msgspec.structs.replace(credit_withholding(q, verdict), target=generation.id, asked=q.id)
        for verdict, q in zip(found, item.questions, strict=True)
    ]


def _asked(question: Question) -> Asked:
    aspect = question.aspect
    hint = f"{aspect.description} {aspect.label}" if aspect else ""
    return asked(question.text, golds_to_compare(question), hint.strip(), question.entity)


@lru_cache(maxsize=65536)
def _short(aspect: Asked, answer: str) -> Verdict:
    if not answer.strip():
        return make_verdict("omitted")
    if _foreign(answer, [aspect]):
        return missing("language")
    reading = read(answer, marker_names([aspect]))
    text = reading.text
    said = offers(aspect, statements(reading), reading, text)
    blank = bytearray(len(text))
    for part in said:
        blank[part.start : part.end] = b"\x01" * (part.end - part.start)
    if not (reading.gaps or reading.questions):
        blank = bytearray(b"\x01" * len(text))
    # The answer as it was written: "M*A*S*H" is not what is left without its stars.
    rest = "".join(c if keep else " " for c, keep in zip(answer, blank, strict=True))
    rest = _ENDLESS.sub(lambda run: " " * len(run.group()), rest)
    if not said and names_gold(aspect, reading, answer):
        return plain_answer(aspect, reading)
    if not said:
        return withheld(reading) if reading.gaps or reading.asks else valueless(aspect, reading)
    found = match(aspect.question, aspect.golds, rest)
    if found.content != "correct":
        found = bare_match(aspect, reading, rest) or found
    unit = speaking(aspect, reading, said, found)
    if (reading.gaps or reading.asks) and found.content != "correct" and unit is None:
        return withheld(reading)
    spoken = unit or said[0]
    value = place_value(aspect, found, rest, 0, len(rest))
    if value is None and len(said) == 1 and len(_WORD.findall(rest)) <= 6:
        value = trimmed(text, spoken.start, spoken.end)
    where = value or Span(spoken.start, spoken.end)
    if found.content != "correct":
        where = conceded(reading, said, where)
    stance: Stance = "hedged" if weakened(reading, [aspect], aspect, where) else "committed"
    kept = None if found.content == "correct" or reading.hedges else kept_back(aspect, reading)
    if kept is not None:
        return kept
    if not aspect.golds:
        return missing("unread")
    if found.content == "none" and stance == "committed":
        return make_verdict("omitted")
    return make_verdict(stance, found.content, sentence_at(reading, where.start), value)


def _foreign(text: str, aspects: Sequence[Asked]) -> bool:
    """Whether a text is in another language than English; golds and questions have none."""
    if is_english(text):
        return False
    neutral = {
        w.lower() for a in aspects for g in a.golds for n in g.names for w in _WORD.findall(n)
    }
    neutral.update(w for a in aspects for w in a.known)
    return not is_english(
        " ".join(w for w in text.split() if w.strip(".,;").lower() not in neutral)
    )


def _general(reading: Reading, gap: Gap) -> bool:
    """Whether a statement that names no aspect withholds those that are not spoken of."""
    if gap.kind in ("caution", "scant"):
        return False
    if gap.kind == "ignorance" and WHOLE.search(gap.about) and statements(reading):
        return False
    return gap.kind == "rest" or _alone(reading, gap)


def _alone(reading: Reading, gap: Gap) -> bool:
    """Whether nothing is asserted in the gap's own sentence."""
    where = sentence_at(reading, gap.start)
    return not any(where.start <= u.start < where.end for u in statements(reading))


def _long(aspects: list[Asked], paragraph: str) -> list[Verdict]:
    if not paragraph.strip():
        return [make_verdict("omitted") for _ in aspects]
    if _foreign(paragraph, aspects):
        return [missing("language") for _ in aspects]
    aspects = told_apart(aspects)
    reading = read(paragraph, marker_names(aspects))
    told = {(u.start, u.end) for u in statements(reading)}
    chosen = [
        u if u is not None and (u.start, u.end) in told else None for u in assign(reading, aspects)
    ]
    chosen = _by_elimination(reading, aspects, chosen, told)
    return [
        _aspect(
            reading, paragraph, aspects, aspect, unit, unit is not None and chosen.count(unit) > 1
        )
        for aspect, unit in zip(aspects, chosen, strict=True)
    ]


def _by_elimination(
    reading: Reading,
    aspects: Sequence[Asked],
    chosen: Sequence[Unit | None],
    told: set[tuple[int, int]],
) -> list[Unit | None]:
    """Let aspects that nothing names take clauses that name none of the others."""
    silent = [
        any(names_aspect(reading, gap, aspect, aspects) for gap in reading.gaps)
        for aspect in aspects
    ]
    wanted = wanted_by([a for a, unit in zip(aspects, chosen, strict=True) if unit is not None])
    taken = [(u.start, u.end) for u in chosen if u is not None]
    free = [
        u
        for u in units(reading)
        if (u.start, u.end) in told
        and (u.start, u.end) not in taken
        and not spoken(reading.text[u.start : u.end], wanted, known_by(aspects)) & wanted
    ]
    if not free:
        return list(chosen)
    pending = [a for a, unit in enumerate(chosen) if unit is None and not silent[a]]
    return eliminate(reading, aspects, chosen, free, pending)


def _has_own_value(reading: Reading, unit: Unit, aspect: Asked, naming: Sequence[Gap]) -> bool:
    """Whether a unit says something of an aspect of which ignorance is stated elsewhere."""
    words = reading.text[unit.start : unit.end]
    if not holds_new(words, aspect.known, aspect.cues):
        return False
    near = any(abs(g.silent.start - unit.end) < 6 for g in naming)
    return not near or says_kind(reading.text, unit, aspect)


def _aspect(
    reading: Reading,
    paragraph: str,
    aspects: Sequence[Asked],
    aspect: Asked,
    unit: Unit | None,
    shared: bool,
) -> Verdict:
    text = reading.text
    naming, general = list[Gap](), list[Gap]()
    for gap in reading.gaps:
        named = names_aspect(reading, gap, aspect, aspects)
        if named or (
            named is None
            and gap.kind == "ignorance"
            and not gap.whole
            and aspect.cues & stems(text[gap.low : gap.high])
        ):
            naming.append(gap)
        elif named is None and (gap.whole or gap.kind == "rest") and _general(reading, gap):
            general.append(gap)
    if unit is not None and naming and not _has_own_value(reading, unit, aspect, naming):
        unit = None
    if unit is not None:
        found = match(aspect.question, aspect.golds, paragraph[unit.start : unit.end])
        elsewhere = naming and all(
            g.silent.end <= unit.start - 2 or unit.end + 2 < g.silent.start for g in naming
        )
        if elsewhere and shared and found.content != "correct":
            # The clause speaks of another aspect; of this one ignorance is stated.
            return make_verdict("abstained", where=sentence_at(reading, naming[0].start))
        value = place_value(aspect, found, text, unit.start, unit.end)
        full = aspect.cues <= unit.stems or found.content == "correct"
        if not naming or full or reading.hedged(unit.start, unit.end):
            where = value or Span(unit.start, unit.end)
            stance: Stance = "hedged" if weakened(reading, aspects, aspect, where) else "committed"
            if not aspect.golds:
                return missing("unread")
            content: Content = "incorrect" if found.content == "none" else found.content
            return make_verdict(stance, content, reading.sentences[unit.sentence], value)
    gaps = naming or general
    ignorant = [g for g in gaps if g.kind in ("ignorance", "rest")]
    if ignorant:
        return make_verdict("abstained", where=sentence_at(reading, ignorant[0].start))
    if gaps:
        refused = any(g.kind == "refusal" for g in gaps)
        kind: Stance = "refused_by_policy" if refused else "abstained"
        return make_verdict(kind, where=sentence_at(reading, gaps[0].start))
    if reading.asks and not statements(reading):
        return make_verdict("asked_back", where=reading.asks[0])
    caught = unvoiced(reading, aspect, aspects)
    return make_verdict(caught[0], where=caught[1]) if caught else make_verdict("omitted")
