"""A paragraph as stretches: sentences that say one or more things, each right, wrong or unsure.

What lies between stretches (headings, sentences about nothing that was asked) stays as it is. A
sentence that holds something right and something wrong is taken apart into claims that stand
alone, so that the right ones can stay.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeVar

from sayso.annotate.claims import claims as split_claims
from sayso.annotate.claims_sentences import parts as sentences_of
from sayso.records import Question
from sayso.train.pairs import Paragraph, Told

Label = Literal["S", "NS", "UNC"]
What = TypeVar("What")
#: what labels a committed aspect: right, wrong, or unread (None)
Judge = Callable[[Told], bool | None]


class Piece(NamedTuple):
    """One thing that a stretch says. ``text`` stands alone; "" where the stretch says only this."""

    label: Label
    question: Question | None = None
    text: str = ""


class Stretch(NamedTuple):
    """Characters ``start:end`` of a paragraph and what they say, in order."""

    start: int
    end: int
    pieces: tuple[Piece, ...]

    @property
    def labels(self) -> set[Label]:
        """The labels of its pieces."""
        return {piece.label for piece in self.pieces}


def by_aspects(paragraph: Paragraph, judge: Judge, topic: str) -> list[Stretch] | None:
    """Return the stretches of a paragraph by its aspects; None where one could not be read.

    Also None where one is told nobody knows where, and where right and wrong stand in one sentence
    that the rules cannot take apart.
    """
    placed: list[tuple[int, int, Told, Label]] = []
    bounds = _bounds(paragraph.text)
    for told in paragraph.told:
        if told.stance is None:
            return None
        if told.start is None or told.end is None:
            if told.stance == "committed":
                return None
            continue
        if told.stance == "omitted":
            continue
        start, end = _whole(told.start, told.end, bounds)
        if told.stance != "committed":
            placed.append((start, end, told, "UNC"))
            continue
        right = judge(told)
        if right is None:
            return None
        placed.append((start, end, told, "S" if right else "NS"))
    found = []
    for start, end, some in _joined(placed):
        labels = {label for _, _, _, label in some}
        stands: dict[str, str] = {}
        if len(some) > 1:
            alone = _alone(paragraph.text, start, end, [t for _, _, t, _ in some], topic)
            if alone is None and "NS" in labels and len(labels) > 1:
                return None
            stands = alone or {}
        found.append(
            Stretch(
                start,
                end,
                tuple(
                    Piece(label, told.question, stands.get(told.question.id, ""))
                    for _, _, told, label in some
                ),
            )
        )
    return found


def by_claims(paragraph: Paragraph) -> list[Stretch] | None:
    """Return the stretches of a paragraph by its checked claims; None where one was not read.

    Irrelevant claims (IR) are kept with what is right around them.
    """
    labels: Mapping[str, Label] = {"S": "S", "NS": "NS", "IR": "S", "UNC": "UNC"}
    if not paragraph.claims or any(c.label not in labels for c in paragraph.claims):
        return None
    bounds = _bounds(paragraph.text)
    placed = [
        (*_whole(c.start, c.end, bounds), _closed(c.text), labels[c.label])
        for c in paragraph.claims
        if c.label is not None
    ]
    return [
        Stretch(start, end, tuple(Piece(label, None, text) for _, _, text, label in some))
        for start, end, some in _joined(placed)
    ]


def _bounds(text: str) -> list[tuple[int, int]]:
    return [(part.start, part.end) for part in sentences_of(text)]


def _whole(start: int, end: int, bounds: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return a span widened to the sentences that it touches: half of one cannot be re-worded."""
    touched = [(low, high) for low, high in bounds if low < end and start < high]
    return min([start, *(low for low, _ in touched)]), max([end, *(high for _, high in touched)])


def _closed(claim: str) -> str:
    """Return a claim as a sentence."""
    text = claim.strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _joined(
    placed: Sequence[tuple[int, int, What, Label]],
) -> list[tuple[int, int, list[tuple[int, int, What, Label]]]]:
    """Return overlapping spans as one, in the order of the text."""
    found: list[tuple[int, int, list[tuple[int, int, What, Label]]]] = []
    for one in sorted(placed, key=lambda p: (p[0], p[1])):
        if found and one[0] < found[-1][1]:
            start, end, some = found[-1]
            found[-1] = (start, max(end, one[1]), [*some, one])
        else:
            found.append((one[0], one[1], [one]))
    return found


def _alone(
    text: str, start: int, end: int, told: Sequence[Told], topic: str
) -> dict[str, str] | None:
    """Return a claim that stands alone for each aspect of a sentence; None where there is none.

    A claim serves if it holds the aspect's value and no other aspect's.
    """
    drafts = [draft.text for draft in split_claims(text[start:end], topic)]
    held: dict[str, list[str]] = defaultdict(list)
    for one in told:
        others = [t.value for t in told if t is not one and t.value]
        if not one.value:
            return None
        for draft in drafts:
            if one.value in draft and not any(other in draft for other in others):
                held[one.question.id].append(_closed(draft))
    if any(one.question.id not in held for one in told):
        return None
    return {question: min(some, key=len) for question, some in held.items()}
