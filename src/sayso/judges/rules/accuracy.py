"""How well the offline reader sees doubt: its counts on labelled texts, and those nearest to a run.

``judges/data/stance_accuracy.json`` holds the counts, by source, form and length of the texts.
``python tools/readers/accuracy.py`` writes it anew for the weights that are shipped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Literal, NamedTuple

import msgspec

from sayso.judges.english.lexicon import judge_data
from sayso.judges.judge import family
from sayso.judges.reliability import CountedShare, share
from sayso.records import content_id

FILE = "stance_accuracy.json"
#: what a reading of stance depends on, besides code
READ_WITH = ("alignment.npz", "spoken.npz", "stance.npz", "vectors.npz", "lexicon.txt")
Form = Literal["short", "long"]
#: who wrote a text: a model of less than 4 billion parameters, a chat model of 2022 and 2023, an
#: assistant of 2024 and later
Writer = Literal["small", "chat", "assistant"]
WRITERS: dict[Writer, str] = {
    "small": "small models",
    "chat": "chat models of 2022-2023",
    "assistant": "assistants of 2025",
}
#: the most words of a short answer of each length; longer ones are of the last length
LENGTHS = (8, 20, 50)
#: so many texts that voice doubt, and so many that assert, say how well a kind of text is read
LEAST = 10


class TextSource(msgspec.Struct, frozen=True):
    """Where labelled texts are from: who wrote them, whether told to voice doubt, who labelled."""

    title: str
    writer: Writer
    told: bool
    labels: str


class Readings(msgspec.Struct, frozen=True):
    """How texts of a source, a form and a length were read.

    ``length`` counts the limits of :data:`LENGTHS` that a short answer exceeds; 0 for paragraphs.
    Of ``doubts`` (labelled hedged, abstained, refused or asked back) ``doubts_seen`` were read as
    one of these, of ``assertions`` (committed, omitted) ``assertions_seen`` as one of those. Of
    ``withheld`` (doubts that give no value) ``withheld_seen`` were read as such, of ``stated`` (the
    rest) ``stated_seen``.
    """

    source: str
    form: Form
    length: int
    doubts: int
    doubts_seen: int
    assertions: int
    assertions_seen: int
    withheld: int
    withheld_seen: int
    stated: int
    stated_seen: int


class StanceAccuracy(msgspec.Struct, frozen=True):
    """The file: of which weights, sources by name, and the counts."""

    weights: str
    sources: dict[str, TextSource]
    readings: tuple[Readings, ...]


class NearestTexts(NamedTuple):
    """How well doubt is read in the labelled texts that are nearest to a run's.

    ``found``: of texts with doubt, those read so; ``invented``: of others, those read as doubt;
    ``withheld_found`` and ``withheld_invented`` the same of answers without a value. ``texts`` says
    whose texts these are, ``why`` why they are the nearest, ``labels`` who labelled them; all are
    parts of a sentence. ``told``: some were told to voice doubt.
    """

    found: CountedShare
    invented: CountedShare
    withheld_found: CountedShare
    withheld_invented: CountedShare
    texts: str
    why: str
    labels: str
    told: bool


def weights_hash() -> str:
    """Return the hash of everything that the reader of stance loads."""
    return content_id([judge_data(name).hex() for name in READ_WITH])


@cache
def stance_accuracy() -> StanceAccuracy | None:
    """Return the shipped counts; ``None`` if they were taken with other weights than these."""
    counts = msgspec.json.decode(judge_data(FILE), type=StanceAccuracy)
    return counts if counts.weights == weights_hash() else None


def length_of(words: float) -> int:
    """Return which length a short answer of so many words has."""
    return sum(words > most for most in LENGTHS)


def length_name(length: int) -> str:
    """Return a length of short answers in words."""
    if length == 0:
        return f"at most {LENGTHS[0]} words"
    if length == len(LENGTHS):
        return f"more than {LENGTHS[-1]} words"
    return f"{LENGTHS[length - 1] + 1} to {LENGTHS[length]} words"


#: "7b", "0.5B", "135M", "8x7b" in a model's name
_SIZE = re.compile(r"(?<![a-z0-9.])(?:(\d+)x)?(\d+(?:\.\d+)?)([bm])(?![a-z0-9])")
_SMALL = 4.0
_OLD = re.compile(r"gpt-?3|davinci|claude-(?:1|2|instant)|palm-?2|llama-?2|vicuna|alpaca|gpt-4-0\d")
#: families whose models without a size in their name are large
_LARGE = frozenset(("gpt", "claude", "gemini", "grok", "deepseek", "kimi", "glm", "command"))


def kind_of_writer(model: str) -> Writer | None:
    """Return which kind of model a name is of; ``None`` if the name does not say."""
    name = model.lower()
    size = _SIZE.search(name)
    if name.startswith("smollm2"):
        return "small"
    if size is not None:
        billions = int(size[1] or 1) * float(size[2]) / (1 if size[3] == "b" else 1000)
        if billions < _SMALL:
            return "small"
        return "chat" if _OLD.search(name) else "assistant"
    if _OLD.search(name):
        return "chat"
    return "assistant" if family(name) in _LARGE else None


def nearest_texts(
    counts: StanceAccuracy, form: Form, words: float | None, writer: Writer | None
) -> NearestTexts | None:
    """Return how doubt is read in the texts nearest to answers of ``words`` words by a writer.

    Texts of the same form, the same kind of writer and the same length, if there are
    :data:`LEAST` with doubt and as many without; else the writer's of any length, else of that
    length by any writer, else all of that form. ``None`` if there are too few of them as well.
    """
    length = length_of(words) if form == "short" and words is not None else None
    same_form = [row for row in counts.readings if row.form == form]
    steps: list[tuple[Writer | None, int | None]] = [
        (writer, length), (writer, None), (None, length), (None, None),
    ]  # fmt: skip
    for one, size in dict.fromkeys(steps):
        rows = [
            row
            for row in same_form
            if (one is None or counts.sources[row.source].writer == one)
            and (size is None or row.length == size)
        ]
        if min(sum(row.doubts for row in rows), sum(row.assertions for row in rows)) >= LEAST:
            return _pooled(counts, rows, _why(form, writer, length, one, size))
    return None


def _why(
    form: Form, writer: Writer | None, length: int | None, one: Writer | None, size: int | None
) -> str:
    """Return in words how near the chosen texts are, as a part of a sentence."""
    what = "short answers" if form == "short" else "paragraphs"
    text = f"{what} by {WRITERS[one] if one else 'models of all kinds'}"
    if size is not None:
        text += f", {length_name(size)}"
    lacking = [f"by {WRITERS[writer]}"] if writer and one is None else []
    if length is not None and size is None:
        lacking.append(f"of {length_name(length)}")
    return f"{text}; too few are {' and '.join(lacking)}" if lacking else text


def _pooled(counts: StanceAccuracy, rows: Sequence[Readings], why: str) -> NearestTexts:
    def total(name: str) -> int:
        return sum(getattr(row, name) for row in rows)

    sources = [counts.sources[name] for name in dict.fromkeys(row.source for row in rows)]
    return NearestTexts(
        found=share(total("doubts_seen"), total("doubts")),
        invented=share(total("assertions") - total("assertions_seen"), total("assertions")),
        withheld_found=share(total("withheld_seen"), total("withheld")),
        withheld_invented=share(total("stated") - total("stated_seen"), total("stated")),
        texts="; ".join(dict.fromkeys(source.title for source in sources)),
        why=why,
        labels="; ".join(dict.fromkeys(source.labels for source in sources)),
        told=any(source.told for source in sources),
    )
