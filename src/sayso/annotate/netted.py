"""The net below the patterns: sentences that speak of not knowing in words no pattern has.

``patterns`` and ``withheld`` know how ignorance is usually worded. Whatever else a sentence is
like: where it is about the speaker or a source, names the aspect, holds no value of its shape and
has both a word of knowing (or of rules) and a negative one, it withholds the aspect
(:func:`unvoiced`). Where the aspect has a value elsewhere, a sentence without one that only says
how shaky something is weakens what it names, or what stands before it (:func:`doubted`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sayso.annotate.directed import spoken
from sayso.annotate.naming import Asked, covers, known_by, wanted_by
from sayso.annotate.sentences import Span
from sayso.annotate.shapes import room
from sayso.annotate.stance import Reading
from sayso.annotate.talk import withholds
from sayso.annotate.values import names
from sayso.annotate.withheld import questions_itself, remarks, shaky, speaks
from sayso.records import Stance

_MOST = 60
_POINTS = re.compile(
    r"\W*(?:(?:but|though|although|and|however),?\s+)?(?:(?:I|I'd|I'm|do|don't|please|just|only|"
    r"there|treat|take|handle|read|regard|consider|not|no|still|even)\b|(?:this|that|it|these|those|the)"
    r"\b(?!\s+(?-i:[A-Z])))",
    re.I,
)
_ELSEWHERE = re.compile(r"\bfor\s+(?:more|further)\b|\bwebsites?\b", re.I)
_PIECE = re.compile(r"[^,;()—]+")
#: Behind these another value begins, to which the remark belongs.
_JOINS = re.compile(
    r"\b(?:and|or|but|who|which|while|is|was|has|had|by|in|on|at|from|with|to|[a-z]{2,}ed)\b"
)
_DASH = re.compile(r"\s[-–]\s")


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
