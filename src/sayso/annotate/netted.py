"""The net below the gaps: sentences that name an aspect, say no value and speak of not knowing.

``patterns`` and ``withheld`` know how ignorance is usually worded. Whatever else a sentence is
like: where it is about the speaker or a source, names the aspect, holds no value of its shape and
has both a word of knowing (or of rules) and a negative one, it withholds the aspect.
"""

from __future__ import annotations

from collections.abc import Sequence

from sayso.annotate.directed import spoken
from sayso.annotate.naming import Asked, covers, known_by, wanted_by
from sayso.annotate.sentences import Span
from sayso.annotate.shapes import room
from sayso.annotate.stance import Reading
from sayso.annotate.talk import withholds
from sayso.annotate.withheld import speaks
from sayso.records import Stance

_MOST = 60


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
