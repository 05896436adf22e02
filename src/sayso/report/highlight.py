"""An answer cut into pieces that carry verdicts, ready to be marked on a page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from sayso.records import Value, Verdict
from sayso.report.clean import block

#: longer answers are cut on the page (never in the tables of the run)
SHOWN_CHARACTERS = 6_000

#: verdict -> (sign, word): told by sign and word, never by colour alone
LABELS: dict[str, tuple[str, str]] = {
    "correct": ("✓", "right"),
    "incorrect": ("✗", "wrong"),
    "uncertain": ("~", "hedged"),
    "omitted": ("∅", "not mentioned"),
    "missing": ("?", "unread"),
}
STANCES = {
    "committed": "committed",
    "hedged": "hedged",
    "abstained": "said it does not know",
    "refused_by_policy": "refused by policy",
    "asked_back": "asked back",
    "omitted": "not mentioned",
}


class Piece(NamedTuple):
    """A stretch of text under one set of verdicts. ``kind`` is a verdict, "mixed" or empty.

    ``value`` marks the words that were compared with the truth; ``tags`` are the numbers (with
    their verdicts) of the facts whose sentence ends here.
    """

    text: str
    kind: str = ""
    value: bool = False
    tags: tuple[tuple[int, str], ...] = ()


def kind_of(verdict: Verdict | None) -> str:
    """Return the verdict's name on the page: one of :data:`LABELS`."""
    value: Value | None = verdict.value if verdict else None
    return value or "missing"


def pieces(text: str, verdicts: Sequence[Verdict | None]) -> tuple[list[Piece], int]:
    """Cut ``text`` at every border of an aligned sentence or value; also return what was left out.

    ``verdicts`` belong to facts 1, 2, ...; spans that do not lie within the text are ignored. The
    pieces' texts, before cleaning, join to the shown part of the answer.
    """
    shown = min(len(text), SHOWN_CHARACTERS)
    spans: list[tuple[int, int, int, str]] = []
    values: list[tuple[int, int]] = []
    for number, verdict in enumerate(verdicts, start=1):
        if verdict is None or verdict.start is None or verdict.end is None:
            continue
        if 0 <= verdict.start < verdict.end <= len(text):
            start, end = min(verdict.start, shown), min(verdict.end, shown)
            spans.append((start, end, number, kind_of(verdict)))
        first, last = verdict.answer_start, verdict.answer_end
        if first is not None and last is not None and 0 <= first < last <= len(text):
            values.append((min(first, shown), min(last, shown)))
    borders = sorted(
        {0, shown, *(b for s in spans for b in s[:2]), *(b for v in values for b in v)}
    )
    found = []
    for start, end in pairwise(borders):
        over = [span for span in spans if span[0] <= start and end <= span[1]]
        kinds = {span[3] for span in over}
        found.append(
            Piece(
                block(text[start:end]),
                kinds.pop() if len(kinds) == 1 else "mixed" if kinds else "",
                any(first <= start and end <= last for first, last in values),
                tuple((span[2], span[3]) for span in over if span[1] == end),
            )
        )
    return found, len(text) - shown
