"""Which items people label, and with which probability.

A design puts all items of a kind into an order, and people get them in that order. Items are in
strata by what the judge read; within a stratum the order is random, and strata take turns in
proportion to their shares. The first m items are then a stratified random sample: an item of a
stratum with N items, of which the first m hold m_h, is among them with probability m_h / N. So
labels may stop anywhere, several people may go on, and more may be drawn later.

Every stratum has a positive share, and so every item a positive probability: labels drawn only
where two judges disagree, or where one is unsure, would say nothing of the others.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal, get_args

from sayso.people.items import RunItem
from sayso.people.labels import MOST_PLACES, LabelDesign, LabelStratum, Placed
from sayso.records import InputError, content_id

DesignName = Literal["stratified", "random", "certainty"]
DESIGNS: tuple[DesignName, ...] = get_args(DesignName)
#: the part of a draw that strata share alike, whatever their sizes; the rest goes by size
EQUAL = 0.5
#: labels that a stratum gets at least; strata that would get fewer are joined
LEAST = 2
#: items that are put into chance order together: who labels cannot tell a stratum by its turn
WINDOW = 10
#: upper ends of the strata by certainty, and the weight of an item that the judge is sure of
CERTAINTIES, SURE_WEIGHT = (0.6, 0.8, 0.95), 0.05


def draw_design(
    items: Sequence[RunItem], name: str, n: int, shared: int, seed: int, method: str = ""
) -> tuple[LabelDesign, list[Placed]]:
    """Return a design over all items of one kind and table, and their order.

    ``n`` items are meant to be labeled: strata too small for that are joined. Raises InputError.
    """
    if name not in DESIGNS:
        raise InputError(f"--design {name!r:.40}: expected one of {', '.join(DESIGNS)}")
    if n < 1 or shared < 0:
        raise InputError(f"--n {n} --shared {shared}: expected at least 1 item, and 0 shared")
    strata = _strata(items, name, n)
    shares = _shares(strata, name)
    order = [
        Placed(one.item, stratum)
        for stratum, one in _order(strata, shares, min(n, len(items)), seed)
    ]
    population = population_of(items)
    kind, stage = items[0].item.kind, items[0].item.stage
    design = LabelDesign(
        content_id(["labels", kind, stage, method, name, seed, population, n]),
        kind,
        name,
        seed,
        shared,
        len(items),
        population,
        tuple(LabelStratum(one, len(strata[one]), shares[one]) for one in strata),
        datetime.now(UTC).isoformat(timespec="microseconds"),
        stage,
        method,
    )
    return design, order[:MOST_PLACES]


def population_of(items: Sequence[RunItem]) -> str:
    """Return a hash of the items and of what the judge read of them."""
    return content_id(sorted([*one.item, one.reading] for one in items))


def _strata(items: Sequence[RunItem], name: str, n: int) -> dict[str, list[RunItem]]:
    """Return the items by stratum, small strata joined so that each gets labels."""
    strata: dict[str, list[RunItem]] = {}
    for one in sorted(items, key=lambda one: one.item):
        stratum = {"random": "all", "certainty": _certainty(one)}.get(name, one.reading)
        strata.setdefault(stratum, []).append(one)
    if name == "certainty" and set(strata) == {_certainty(items[0]._replace(certainty=None))}:
        raise InputError(
            "--design certainty: the judge of this run says of no such item how certain it is; "
            "use --design stratified"
        )
    most = max(1, int(n * EQUAL) // LEAST)
    while len(strata) > most:
        first, second = sorted(strata, key=lambda stratum: (len(strata[stratum]), stratum))[:2]
        strata[f"{first} or {second}"] = [*strata.pop(first), *strata.pop(second)]
    return dict(sorted(strata.items()))


def _certainty(one: RunItem) -> str:
    if one.certainty is None:
        return "certainty unknown"
    below = next((end for end in CERTAINTIES if one.certainty < end), None)
    return f"certainty from {CERTAINTIES[-1]:g}" if below is None else f"certainty below {below:g}"


def _shares(strata: Mapping[str, Sequence[RunItem]], name: str) -> dict[str, float]:
    """Return the share of each stratum in a draw: they add up to 1 and none is 0."""
    weight = {
        stratum: float(sum(_weight(one) if name == "certainty" else 1 for one in some))
        for stratum, some in strata.items()
    }
    total = sum(weight.values())
    return {
        stratum: EQUAL / len(strata) + (1 - EQUAL) * weight[stratum] / total for stratum in strata
    }


def _weight(one: RunItem) -> float:
    """Return the weight of an item where the judge's certainty counts: unknown is in between."""
    sure = 0.5 if one.certainty is None else min(1.0, max(0.0, one.certainty))
    return SURE_WEIGHT + 1 - sure


def _order(
    strata: Mapping[str, Sequence[RunItem]], shares: Mapping[str, float], n: int, seed: int
) -> Iterator[tuple[str, RunItem]]:
    """Yield (stratum, item) in the order of a design.

    Each turn goes to the stratum that is furthest behind its share. Turns are shuffled in windows,
    which end where ``n`` items are full, so that this number of each stratum is fixed.
    """
    rng = random.Random(f"{seed}")
    left = {stratum: list(some) for stratum, some in strata.items()}
    for queue in left.values():
        rng.shuffle(queue)
    turns = _turns({stratum: len(some) for stratum, some in strata.items()}, shares)
    first = True
    while turns:
        whole = n if first else len(turns)
        window = -(-whole // max(1, whole // WINDOW))
        head, turns = turns[:whole], turns[whole:]
        first = False
        for start in range(0, len(head), window):
            together = head[start : start + window]
            rng.shuffle(together)
            for stratum in together:
                yield stratum, left[stratum].pop()


def _turns(sizes: Mapping[str, int], shares: Mapping[str, float]) -> list[str]:
    """Return whose turn it is, until every stratum is used up."""
    left, credit = dict(sizes), dict.fromkeys(sizes, 0.0)
    turns = []
    while left:
        total = sum(shares[stratum] for stratum in left)
        for stratum in left:
            credit[stratum] += shares[stratum] / total
        stratum = max(left, key=lambda one: credit[one])
        credit[stratum] -= 1
        turns.append(stratum)
        left[stratum] -= 1
        if not left[stratum]:
            del left[stratum]
        if len(turns) >= MOST_PLACES:
            break
    return turns
