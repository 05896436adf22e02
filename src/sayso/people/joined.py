"""What several annotators say of one item: one verdict, and whether a majority gave it.

Every number that rests on people's labels takes the joined verdict: agreement, corrected numbers
and guards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

import msgspec

from sayso.people.labels import STATED, LabeledItem
from sayso.records import Verdict, content_id

#: what is read of a verdict; ``None`` where it says nothing of that
Reading = Callable[[Verdict], Hashable]


class JoinedVerdict(NamedTuple):
    """The joined verdict, and whether more than half of the annotators gave it."""

    verdict: Verdict
    majority: bool


def value_or_label(verdict: Verdict) -> Hashable:
    """Return what UNCLE makes of an answer, else the label."""
    return verdict.value or verdict.label


def cannot_tell(verdict: Verdict) -> bool:
    """Tell whether people say that an answer states a value, and not whether it is right."""
    return verdict.stance in STATED and verdict.content is None


def joined_verdict(
    item: LabeledItem, said: Mapping[str, Verdict], read: Reading = value_or_label
) -> JoinedVerdict:
    """Return what annotators, by name, say of one item: step by step what most of them say.

    It is the verdict of one of them. First it is counted whether the answer states its value,
    voices doubt or omits it; then, among those who agree on that, the stance, and then right and
    wrong, where whoever cannot tell does not count. Of equally many one counts by chance, the same
    each time: to leave the item out would leave out the hard ones.
    Of how sure a sentence sounds it is the mean, and a majority too.

    ``read`` is what a majority must say alike, of the annotators who say anything of it.
    """
    by_chance = sorted(said, key=lambda name: content_id([item, name]))
    left = [said[name] for name in by_chance]
    if item.kind == "sureness":
        numbers = [v.number for v in left if v.number is not None and 0 <= v.number <= 1]
        mean = sum(numbers) / len(numbers) if numbers else None
        return JoinedVerdict(msgspec.structs.replace(left[0], number=mean), majority=True)
    readings: list[Reading] = [said_doubt, *map(attrgetter, ("stance", "content", "label"))]
    for part in readings:
        left = _most(left, part)
    verdict = left[0]
    votes = [vote for one in said.values() if (vote := read(one)) is not None]
    return JoinedVerdict(verdict, 2 * votes.count(read(verdict)) > len(votes))


def _most(verdicts: Sequence[Verdict], read: Reading) -> list[Verdict]:
    """Return the verdicts that say what most say; the first of equally frequent things."""
    counts = Counter(said for one in verdicts if (said := read(one)) is not None)
    if not counts:
        return list(verdicts)
    most, _ = counts.most_common(1)[0]  # the first of these in the order of verdicts
    return [one for one in verdicts if read(one) == most]


def said_doubt(verdict: Verdict) -> str | None:
    """Return whether an answer states its value, omits it or voices doubt."""
    stance = verdict.stance
    return stance if stance in (None, "committed", "omitted") else "doubt"
