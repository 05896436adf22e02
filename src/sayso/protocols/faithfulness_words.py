"""Pictures of single answers: the three-way table, positions, thoughts, points, the worst ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sayso.protocols.faithfulness_rows import PARTS, Rows
from sayso.records import Estimate

#: answers of a method whose words and confidence are furthest apart, to be read
WORST = 8
#: decisiveness is drawn in steps
STEPS = 20


def decomposition(used: Rows, high: float) -> Iterator[Estimate]:
    """Yield the shares of confidence x decisiveness x right, and the two failures by name.

    Confident, decisive and wrong: it does not know that it does not know. Not confident and yet
    decisive: it knows (that it wavers) but does not say. Both as shares of the claims with all
    three; ``high`` and more is confident, and decisive.
    """
    held = used.take(~np.isnan(used.right))
    n = len(held.d)
    why = None if n else "no claim has decisiveness, confidence and a verdict"
    sure, firm, right = held.c >= high - 1e-12, held.d >= high - 1e-12, held.right == 1
    for c, confident in (("high", sure), ("low", ~sure)):
        for d, decisive in (("high", firm), ("low", ~firm)):
            for r, correct in (("yes", right), ("no", ~right)):
                number = float((confident & decisive & correct).sum())
                yield Estimate(
                    "three_way",
                    f"confidence:{c};decisiveness:{d};right:{r}",
                    number / n if n else None,
                    numerator=number,
                    denominator=n,
                    n=n,
                    problem=why,
                )
    failures = (("unknown_unknown", sure & firm & ~right), ("known_unsaid", ~sure & firm))
    for name, which in failures:
        number = float(which.sum())
        yield Estimate(
            name,
            value=number / n if n else None,
            numerator=number,
            denominator=n,
            n=n,
            problem=why,
        )


def by_part(used: Rows) -> list[tuple[int, NDArray[np.bool_]]]:
    """Return (part, rows) of each fifth of the paragraphs that holds a claim."""
    found = [(part, used.part == part) for part in range(PARTS)]
    return [(part, rows) for part, rows in found if rows.any()]


def thoughts(rows: Rows) -> Iterator[Estimate]:
    """Yield *thought but unsaid*: how much less sure the thought's last assertion was than the
    answer; nothing where nothing was thought."""
    both = ~np.isnan(rows.thought) & ~np.isnan(rows.d)
    if not both.any():
        return
    gap = rows.thought[both] - rows.d[both]
    yield Estimate("thought_minus_said", value=float(gap.mean()), n=int(both.sum()))
    unsaid = float((gap < -0.1).sum())
    yield Estimate(
        "thought_unsaid",
        value=unsaid / int(both.sum()),
        numerator=unsaid,
        denominator=float(both.sum()),
        n=int(both.sum()),
    )


def points(used: Rows) -> Iterator[Estimate]:
    """Yield how many claims have each confidence and (in steps of .05) decisiveness."""
    held = Counter(
        (round(float(c), 3), round(float(d) * STEPS) / STEPS)
        for c, d in zip(used.c, used.d, strict=True)
    )
    for (c, d), number in sorted(held.items()):
        yield Estimate("point", f"confidence:{c:g};decisiveness:{d:g}", float(number), n=number)


def unfaithful(used: Rows) -> Iterator[Estimate]:
    """Yield the claims whose words and confidence are furthest apart: decisiveness - confidence."""
    gap = used.d - used.c
    order = sorted(range(len(gap)), key=lambda i: (-abs(gap[i]), used.answers[i], used.question[i]))
    for i in order[:WORST]:
        yield Estimate(
            "gap",
            f"answer:{used.answers[i]};question:{used.question[i]}",
            float(gap[i]),
            numerator=float(used.j[i]),
            denominator=float(used.k[i]),
            n=int(used.k[i]),
        )
