"""Three verdicts on values that are compared with limits, each decided on an interval.

An assertion *holds* where the end of the interval that is nearer to its limit lies on the right
side, and *does not* where the whole interval lies on the wrong one. Each is a one-sided test, so
that an assertion whose true value is at its limit is called either way at most 5 % of the time.
Between the two the run *cannot say yet*.

Several assertions share one error a (:data:`NOMINAL`), by Holm's steps (1979) for each of the two
mistakes apart: with m assertions every one is first tested at a / m; when r of them hold, the
others are tested for holding at a / (m - r), until no more of them do, and likewise for those that
do not. So the chance that any assertion at all is wrongly said to hold is at most a, and the chance
that any is wrongly said not to hold as well, however the numbers hang together. Bonferroni would
stay at a / m, and ask for more questions. Intervals are made anew at each level, every number by
its own method: an exact interval stays exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple

import msgspec

from sayso.assertions.needed import Settling, needed_entities
from sayso.records import Estimate, part_of

Outcome = Literal["holds", "does not", "cannot say yet", "error"]
Operator = Literal[">=", "<=", ">", "<"]
HOLDS: Outcome = "holds"
DOES_NOT: Outcome = "does not"
CANNOT_SAY: Outcome = "cannot say yet"
#: nothing is decided, because of a user's mistake or because sayso failed
ERROR: Outcome = "error"
#: the chance of a wrong "holds", and of a wrong "does not", over all assertions together
MISTAKEN = 0.05
#: the nominal error of the intervals that keep it, on either side: that of the 95 % intervals of
#: pages. Those of Student's t are symmetric on their scale and the numbers are not, so that one
#: side misses up to 1.7 times as often as its level says (``benchmarks/metrics/assertions.py``)
NOMINAL = 0.025


class AssertedNumber(NamedTuple):
    """A number that is compared with a limit: ``value op limit``.

    ``by_nature`` is why the number has no sampling error and is decided on its value, "" where it
    has one. ``scale`` are the ends of its scale, ``entities`` how many were resampled.
    """

    op: Operator
    limit: float
    by_nature: str = ""
    scale: tuple[float, float] | None = None
    entities: int = 0


class Decided(NamedTuple):
    """What was decided of one claim, at which one-sided error, on which estimate, and why.

    ``needed`` is the number of entities that would settle it with a chance of 80 %, if the true
    value is the observed one; ``None`` where more of them would not help.
    """

    outcome: Outcome
    error: float
    estimate: Estimate
    reason: str = ""
    needed: int | None = None


#: gives the estimates of all claims, in their order, with intervals of this one-sided error
Measured = Callable[[float], Sequence[Estimate]]
#: gives the standard error of a claim's number, by its place; ``None`` where it is not known
Spreads = Callable[[int], "float | None"]


def decide(
    claims: Sequence[AssertedNumber],
    measured: Measured,
    error: float = NOMINAL,
    spreads: Spreads = lambda place: None,
) -> list[Decided]:
    """Return what is decided of each claim; see the module for how they share ``error``.

    ``spreads`` say how many entities would settle those that are not.
    """
    levels: dict[float, Sequence[Estimate]] = {}

    def at(share: float) -> Sequence[Estimate]:
        if share not in levels:
            levels[share] = measured(share)
        return levels[share]

    tested = [i for i, claim in enumerate(claims) if not claim.by_nature]
    reached = holm_outcomes(claims, tested, at, error)
    first = error / max(len(tested), 1)
    found = []
    for i, claim in enumerate(claims):
        if claim.by_nature:
            found.append(_on_value(claim, at(first)[i]))
        elif i in reached:
            outcome, share = reached[i]
            found.append(Decided(outcome, share, at(share)[i]))
        else:
            side = HOLDS if meets(claim, at(first)[i].value) else DOES_NOT
            share = error / (len(tested) - sum(o == side for o, _ in reached.values()))
            found.append(_undecided(claim, share, at(share)[i], partial(spreads, i)))
    return found


def holm_outcomes(
    claims: Sequence[AssertedNumber], tested: Sequence[int], at: Measured, error: float = NOMINAL
) -> Mapping[int, tuple[Outcome, float]]:
    """Return the outcome of each claim that is decided, by its place, and at which error."""
    reached: dict[int, tuple[Outcome, float]] = {}
    before = -1
    while before < len(reached) < len(tested):
        before = len(reached)
        for side in (HOLDS, DOES_NOT):
            done = sum(outcome == side for outcome, _ in reached.values())
            if len(reached) == len(tested):
                break
            share = error / (len(tested) - done)
            estimates = at(share)
            for i in tested:
                if i not in reached and outcome_of(claims[i], estimates[i]) == side:
                    reached[i] = side, share
    return reached


def meets(claim: AssertedNumber, value: float | None) -> bool:
    """Tell whether a value is on the right side of the limit."""
    if value is None:
        return False
    return {
        ">=": value >= claim.limit,
        ">": value > claim.limit,
        "<=": value <= claim.limit,
        "<": value < claim.limit,
    }[claim.op]


def outcome_of(claim: AssertedNumber, estimate: Estimate) -> Outcome:
    """Return the verdict on a claim by an interval, whatever unread verdicts would have said.

    The interval is moved as far as they could move the value: a verdict must be the same for every
    reading of them.
    """
    low, high = _widest(estimate)
    return _on_interval(claim, low, high)


def _on_interval(claim: AssertedNumber, low: float | None, high: float | None) -> Outcome:
    if low is None or high is None or low == high:  # no resample moved it: that is no evidence
        return CANNOT_SAY
    ends = (meets(claim, low), meets(claim, high))
    if all(ends):
        return HOLDS
    return CANNOT_SAY if any(ends) else DOES_NOT


def _widest(e: Estimate) -> tuple[float | None, float | None]:
    """Return the ends of an interval, moved by what unread verdicts could move the value."""
    if e.low is None or e.high is None or e.value is None or not e.missing:
        return e.low, e.high
    if e.bound_low is None and e.bound_high is None:  # nobody knows how far
        return None, None
    down = 0.0 if e.bound_low is None else max(0.0, e.value - e.bound_low)
    up = 0.0 if e.bound_high is None else max(0.0, e.bound_high - e.value)
    return e.low - down, e.high + up


def _on_value(claim: AssertedNumber, estimate: Estimate) -> Decided:
    """Decide a number that has no sampling error on its value, as far as verdicts were read."""
    value = estimate.value
    if value is None:
        return Decided(CANNOT_SAY, 0.0, estimate, estimate.problem or "it has no value")
    ends = _widest(msgspec.structs.replace(estimate, low=value, high=value))
    if len(met := {None if end is None else meets(claim, end) for end in ends}) > 1 or None in met:
        return Decided(CANNOT_SAY, 0.0, estimate, _unread(estimate))
    return Decided(HOLDS if True in met else DOES_NOT, 0.0, estimate, claim.by_nature)


def _undecided(
    claim: AssertedNumber, share: float, estimate: Estimate, spread: Callable[[], float | None]
) -> Decided:
    """Say why a claim is not decided, and what would decide it."""
    value = estimate.value
    if value is None or estimate.low is None or estimate.high is None:
        why = estimate.problem or ("no value" if value is None else "sayso has no interval for it")
        return Decided(CANNOT_SAY, share, estimate, why)
    low, high = _widest(msgspec.structs.replace(estimate, low=value, high=value))
    if low is None or high is None:
        reason = f"{_unread(estimate)}, and sayso does not know how far they could move the value"
        return Decided(CANNOT_SAY, share, estimate, reason)
    if estimate.low == estimate.high:
        why = "no resample moves it: there is no interval; more questions may give it one"
        return Decided(CANNOT_SAY, share, estimate, why)
    clear = _on_interval(claim, estimate.low, estimate.high) != CANNOT_SAY
    if clear or (low < high and low <= claim.limit <= high):
        reason = f"{_unread(estimate)}, and could move the value to {_ends(estimate)}"
        return Decided(CANNOT_SAY, share, estimate, reason)
    # unread verdicts take their part of the distance, however many entities there are
    limit = claim.limit + (value - low if claim.limit < low else value - high)
    plan = Settling(limit, share, claim.scale, claim.entities, spread())
    needed = needed_entities(estimate, plan)
    return Decided(CANNOT_SAY, share, estimate, "the interval contains the limit", needed)


def _unread(e: Estimate) -> str:
    by_people = part_of(e.signature, "corrected")
    what = "have no verdict of people" if by_people else "could not be read"
    return f"{e.missing:,} {'answer' if by_people else 'verdict'}{'s' * (e.missing != 1)} {what}"


def _ends(e: Estimate) -> str:
    low, high = (e.value if end is None else end for end in (e.bound_low, e.bound_high))
    return f"between {low:.3g} and {high:.3g}"
