"""Words put before the values of a paragraph: where they stand, and both sides of a row."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from sayso.train.pairs import Fact, Told
from sayso.train.pairs_words import unsure

_ARTICLE = re.compile(r"\b(?:the|an?) $")


class Edit(NamedTuple):
    """Characters ``start:end`` of a paragraph and what stands there on either side.

    ``word`` hedges one of the sides, the rejected one of a ``known`` fact; "" in sentences that
    are replaced as a whole.
    """

    start: int
    end: int
    chosen: str
    rejected: str
    word: str = ""
    known: bool = False


def leveled(edits: Sequence[Edit], against: float, generator: random.Random) -> list[Edit]:
    """Return edits with about ``against`` hedges on the rejected side to one on the chosen.

    The other known facts stay plain on both sides.
    """
    sure = [edit for edit in edits if edit.known]
    doubt = [edit for edit in edits if not edit.known]
    number = min(len(sure), int(against * len(doubt) + generator.random()))
    kept = {sure.index(edit) for edit in generator.sample(sure, number)}
    plain = [
        edit if n in kept else edit._replace(rejected=edit.chosen) for n, edit in enumerate(sure)
    ]
    return sorted([*doubt, *plain]) if doubt else []


def before_article_of(text: str, edit: Edit) -> Edit:
    """Return an edit that takes in the article before it, with the hedge in front of both."""
    found = _ARTICLE.search(text, max(0, edit.start - 5), edit.start)
    if found is None or not edit.word:
        return edit
    value = edit.chosen if edit.known else edit.rejected
    hedged, plain = f"{edit.word} {found[0]}{value}", f"{found[0]}{value}"
    chosen, rejected = (plain, hedged) if edit.known else (hedged, plain)
    return edit._replace(start=found.start(), chosen=chosen, rejected=rejected)


def place_of(text: str, told: Told, fact: Fact) -> tuple[int, int] | None:
    """Return where the value stands; None where its sentence does not hold it.

    What was found there without a look at the truth may hold a word too many; a short answer of
    the model's own that stands inside it ends where the value does.
    """
    if told.start is None or told.end is None or not told.value:
        return None
    at = text.find(told.value, told.start, told.end)
    if at < 0:
        return None
    own = {d.strip() for d in (fact.greedy, *fact.draws)}
    inside = [d for d in own if len(d) > 2 and re.search(rf"(?<!\w){re.escape(d)}$", told.value)]
    value = max(inside, key=len, default=told.value)
    return at + len(told.value) - len(value), at + len(told.value)


def hedged(place: tuple[int, int], value: str, word: str, known: bool) -> Edit:
    """Return the edit that says a value plain or behind a word of doubt, as ``known`` decides."""
    start, end = place
    doubted = f"{word} {value}" if start else f"{word[:1].upper()}{word[1:]} {value}"
    sides = (value, doubted) if known else (doubted, value)
    return Edit(start, end, *sides, word, known)


def withheld(text: str, told: Told, generator: random.Random) -> Edit | None:
    """Return the edit that says instead of a sentence that its aspect is not known."""
    if told.start is None or told.end is None:
        return None
    plain = text[told.start : told.end]
    return Edit(told.start, told.end, unsure(told.question, generator), plain)


def apart(edits: Sequence[Edit]) -> list[Edit] | None:
    """Return edits in the order of the text; None where there is none or two overlap."""
    found = sorted(edits)
    overlap = any(a.end > b.start for a, b in pairwise(found))
    return None if overlap or not found else found


def edited(text: str, edits: Sequence[Edit]) -> tuple[str, str]:
    """Return a paragraph with the chosen and with the rejected side of its edits."""
    chosen, rejected, at = list[str](), list[str](), 0
    for edit in edits:
        between = text[at : edit.start]
        chosen += [between, edit.chosen]
        rejected += [between, edit.rejected]
        at = edit.end
    return "".join([*chosen, text[at:]]).strip(), "".join([*rejected, text[at:]]).strip()
