"""How well the offline readers read: their counts on labeled texts, and those nearest to a run.

``judges/data/reader_accuracy.json`` holds the counts: doubt and declining, right and wrong answers,
wording against people's ratings, pairs of answers that contradict each other, and claims.
``python tools/readers/accuracy.py`` writes it anew for the weights that are shipped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Literal, NamedTuple, TypeVar

import msgspec

from sayso.judges.english.lexicon import judge_data
from sayso.judges.judge import family
from sayso.judges.reliability import CountedShare, share
from sayso.records import content_id

FILE = "reader_accuracy.json"
#: what a reading depends on, besides code
READ_WITH = (
    *("alignment.npz", "spoken.npz", "stance.npz", "vectors.npz", "lexicon.txt"),
    "decisiveness_weights.json",
)
Form = Literal["short", "long"]
#: who wrote a text: a model of less than 4 billion parameters, a chat model of 2022 and 2023, an
#: assistant of 2024 and later
Writer = Literal["small", "chat", "assistant"]
WRITERS: dict[Writer, str] = {
    "small": "small models",
    "chat": "chat models of 2022-2023",
    "assistant": "assistants of 2026",
}
#: the most words of a short answer of each length; longer ones are of the last length
LENGTHS = (8, 20, 50)
#: so many texts that voice doubt, and so many that assert, say how well a kind of text is read; so
#: many right and wrong answers, and pairs that contradict each other and that agree
LEAST = 60


class TextSource(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where labeled texts are from: who wrote them, whether told to voice doubt, who labeled."""

    title: str
    writer: Writer
    told: bool
    labels: str
    #: where questions have no answer, doubt is easier to see
    answerable: bool = True


class Readings(msgspec.Struct, frozen=True):
    """How texts of a source, a form and a length were read.

    ``length`` counts the limits of :data:`LENGTHS` that a short answer exceeds; 0 for paragraphs.
    Of ``doubts`` (labeled hedged, abstained, refused or asked back) ``doubts_seen`` were read as
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


class ContentReadings(msgspec.Struct, frozen=True):
    """How often answers of a source, a form and a length were taken for right.

    Of answers that the judge took for answers: of those labeled ``right`` it accepted
    ``right_accepted``, of those labeled ``wrong`` ``wrong_accepted``.
    """

    source: str
    form: Form
    length: int
    right: int
    right_accepted: int
    wrong: int
    wrong_accepted: int


class PairReadings(msgspec.Struct, frozen=True):
    """How pairs of answers to one question were compared.

    Of the pairs that were compared: of those labeled ``contradicting``, ``contradicting_seen``
    were read so, and ``agreeing_contradicted`` of those labeled ``agreeing``. Of ``comparable``
    pairs, in which both are labeled as answers, ``dropped`` were not compared.
    """

    source: str
    contradicting: int
    contradicting_seen: int
    agreeing: int
    agreeing_contradicted: int
    comparable: int
    dropped: int


class ClaimReadings(msgspec.Struct, frozen=True):
    """How claims were checked against passages: ``supported`` of those labeled true and false."""

    source: str
    true: int
    true_supported: int
    false: int
    false_supported: int


class RatingReadings(msgspec.Struct, frozen=True):
    """How the decisiveness of a source's answers compares with people's mean ratings, 0 to 1.

    Of ``scored`` answers: Spearman's correlation with its interval, the mean ``error`` without its
    sign, and ``above``, the mean of score minus rating. ``unscored`` answers got no score.
    """

    source: str
    scored: int
    unscored: int
    spearman: float
    low: float
    high: float
    error: float
    above: float


class ReaderAccuracy(msgspec.Struct, frozen=True):
    """The file: of which weights, sources by name, and the counts of each thing that is read."""

    weights: str
    sources: dict[str, TextSource]
    readings: tuple[Readings, ...]
    contents: tuple[ContentReadings, ...] = ()
    pairs: tuple[PairReadings, ...] = ()
    claims: tuple[ClaimReadings, ...] = ()
    ratings: tuple[RatingReadings, ...] = ()


class NearestTexts(NamedTuple):
    """How well doubt is read in the labeled texts that are nearest to a run's.

    ``found``: of texts with doubt, those read so; ``invented``: of others, those read as doubt;
    ``withheld_found`` and ``withheld_invented`` the same of answers without a value. ``texts`` says
    whose texts these are, ``why`` why they are the nearest, ``labels`` who labeled them; all are
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


class NearestContents(NamedTuple):
    """How well right and wrong are told in the labeled answers that are nearest to a run's.

    ``right`` and ``wrong``: of answers labeled so, those taken for right. ``texts``, ``why`` and
    ``labels`` as in NearestTexts.
    """

    right: CountedShare
    wrong: CountedShare
    texts: str
    why: str
    labels: str


class NearestPairs(NamedTuple):
    """How pairs of the nearest labeled answers were compared; see :class:`PairReadings`."""

    found: CountedShare
    invented: CountedShare
    dropped: CountedShare
    texts: str
    why: str
    labels: str


def weights_hash() -> str:
    """Return the hash of everything that the offline readers load."""
    return content_id([judge_data(name).hex() for name in READ_WITH])


@cache
def reader_accuracy() -> ReaderAccuracy | None:
    """Return the shipped counts; ``None`` if they were taken with other weights than these."""
    counts = msgspec.json.decode(judge_data(FILE), type=ReaderAccuracy)
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


_Counted = TypeVar("_Counted", Readings, ContentReadings)


def nearest_texts(
    counts: ReaderAccuracy,
    form: Form,
    words: float | None,
    writer: Writer | None,
    unanswerable: bool = False,
) -> NearestTexts | None:
    """Return how doubt is read in the texts nearest to answers of ``words`` words by a writer.

    Texts of the same form and length by the same kind of writer, by any if that is not known.
    ``None``, which is "not known", if fewer than :data:`LEAST` voice doubt, or do not. Texts on
    questions without an answer count if some of the run's are ``unanswerable``.
    """
    of = counts.sources
    rows = [r for r in counts.readings if writer in (None, of[r.source].writer)]
    rows = [r for r in rows if unanswerable or of[r.source].answerable]
    near = _nearest(counts, rows, ("doubts", "assertions"), form, words, writer)
    if near is None:
        return None
    rows, why = near
    return NearestTexts(
        found=_share(rows, "doubts_seen", "doubts"),
        invented=_rest(rows, "assertions_seen", "assertions"),
        withheld_found=_share(rows, "withheld_seen", "withheld"),
        withheld_invented=_rest(rows, "stated_seen", "stated"),
        texts=_titles(counts, rows),
        why=why,
        labels=_labels(counts, rows),
        told=any(counts.sources[row.source].told for row in rows),
    )


def nearest_contents(
    counts: ReaderAccuracy, form: Form, words: float | None, writer: Writer | None
) -> NearestContents | None:
    """Return how right and wrong are told in the answers nearest to those of a run.

    Of the same form, length and kind of writer; of any if fewer than :data:`LEAST` of either.
    """
    near = _nearest(counts, counts.contents, ("right", "wrong"), form, words, writer)
    if near is None:
        return None
    rows, why = near
    return NearestContents(
        right=_share(rows, "right_accepted", "right"),
        wrong=_share(rows, "wrong_accepted", "wrong"),
        texts=_titles(counts, rows),
        why=why,
        labels=_labels(counts, rows),
    )


def nearest_pairs(counts: ReaderAccuracy, writer: Writer | None) -> NearestPairs | None:
    """Return how pairs of a kind of writer's answers are compared.

    Of all kinds if fewer than :data:`LEAST` of the writer's contradict or agree.
    """
    for one in dict.fromkeys((writer, None)):
        rows = [r for r in counts.pairs if one is None or counts.sources[r.source].writer == one]
        if min(sum(r.contradicting for r in rows), sum(r.agreeing for r in rows)) >= LEAST:
            return NearestPairs(
                found=_share(rows, "contradicting_seen", "contradicting"),
                invented=_share(rows, "agreeing_contradicted", "agreeing"),
                dropped=_share(rows, "dropped", "comparable"),
                texts=_titles(counts, rows),
                why=_why("short", writer, one, None),
                labels=_labels(counts, rows),
            )
    return None


def _nearest(
    counts: ReaderAccuracy,
    every: Sequence[_Counted],
    both: tuple[str, str],
    form: Form,
    words: float | None,
    writer: Writer | None,
) -> tuple[list[_Counted], str] | None:
    """Return the rows of the nearest texts with enough of ``both`` labels, and why they are."""
    length = length_of(words) if form == "short" and words is not None else None
    alike = [row for row in every if row.form == form and length in (None, row.length)]
    for one in dict.fromkeys((writer, None)):
        rows = [row for row in alike if one is None or counts.sources[row.source].writer == one]
        if min(_total(rows, name) for name in both) >= LEAST:
            return rows, _why(form, writer, one, length)
    return None


def _why(form: Form, writer: Writer | None, one: Writer | None, length: int | None) -> str:
    """Return in words how near the chosen texts are, as a part of a sentence."""
    what = "short answers" if form == "short" else "paragraphs"
    text = f"{what} by {WRITERS[one] if one else 'models of all kinds'}"
    if length is not None:
        text += f", {length_name(length)}"
    return f"{text}; too few are by {WRITERS[writer]}" if writer and one is None else text


_Rows = Sequence[Readings] | Sequence[ContentReadings] | Sequence[PairReadings]


def _total(rows: _Rows, name: str) -> int:
    return sum(getattr(row, name) for row in rows)


def _share(rows: _Rows, part: str, whole: str) -> CountedShare:
    return share(_total(rows, part), _total(rows, whole))


def _rest(rows: _Rows, part: str, whole: str) -> CountedShare:
    return share(_total(rows, whole) - _total(rows, part), _total(rows, whole))


def _titles(counts: ReaderAccuracy, rows: _Rows) -> str:
    return "; ".join(dict.fromkeys(counts.sources[row.source].title for row in rows))


def _labels(counts: ReaderAccuracy, rows: _Rows) -> str:
    return "; ".join(dict.fromkeys(counts.sources[row.source].labels for row in rows))
