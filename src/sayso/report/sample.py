"""Which answers stand on the page itself, and which in the pages beside it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from sayso.report.answers import Card

#: at most so many answers on the page and on each page of answers
INLINE_ANSWERS = 300
#: at most so many bytes of cards on one page: the page stays under 1.5 MB
INLINE_BYTES = 900_000


def choose(
    cards: Sequence[Card], size: Callable[[Card], int], seed: int
) -> tuple[list[Card], list[Card]]:
    """Split cards into (on the page, beside it), both in their own order.

    All fit when they hold at most 300 answers. Otherwise a seeded draw, stratified by form,
    verdict, known and domain: the kinds take turns, rarest first, each giving its next card, so
    that a kind that occurs at all is seen. Rare kinds are therefore over-represented.
    """
    if sum(c.answers for c in cards) <= INLINE_ANSWERS and sum(map(size, cards)) <= INLINE_BYTES:
        return list(cards), []
    kinds: dict[tuple[str, ...], list[int]] = {}
    order = list(range(len(cards)))
    random.Random(seed).shuffle(order)
    for place in order:
        for kind in cards[place].strata or {("", "", "", "")}:
            kinds.setdefault(kind, []).append(place)
    taken: set[int] = set()
    answers = used = 0
    turns = [iter(kinds[kind]) for kind in sorted(kinds, key=lambda k: (len(kinds[k]), k))]
    while turns:
        still = []
        for turn in turns:
            found = next((place for place in turn if place not in taken), None)
            if found is None:
                continue
            still.append(turn)
            card = cards[found]
            if answers + card.answers > INLINE_ANSWERS or used + size(card) > INLINE_BYTES:
                continue
            taken.add(found)
            answers += card.answers
            used += size(card)
        turns = still
    inline = [card for place, card in enumerate(cards) if place in taken]
    return inline, [card for place, card in enumerate(cards) if place not in taken]


def paginate(cards: Sequence[Card], size: Callable[[Card], int]) -> list[list[Card]]:
    """Cut the rest into pages of at most 300 answers and 900 kB; a card is never split."""
    pages: list[list[Card]] = []
    answers = used = 0
    for card in cards:
        full = answers + card.answers > INLINE_ANSWERS or used + size(card) > INLINE_BYTES
        if not pages or full:
            pages.append([])
            answers = used = 0
        pages[-1].append(card)
        answers += card.answers
        used += size(card)
    return pages
