"""Do two quantities mean the same amount? Rounding, conversion, ranges."""

from __future__ import annotations

from sayso.annotate.quantities import Quantity
from sayso.annotate.units import alike, unit

#: how far apart two amounts in one unit, and in different ones, may be, as a share of the larger
MOST_ROUNDED, MOST_CONVERTED = 0.031, 0.015


def _close(a: float, b: float, room: float) -> bool:
    return a == b or (abs(a - b) < min(room, MOST_ROUNDED * max(abs(a), abs(b))) and a * b > 0)


def same_amount(gold: Quantity, said: Quantity) -> bool:
    """Tell whether two quantities agree, within the rounding that the coarser one was written with.

    Rounding may be at most three percent. A side without a unit agrees with any unit. Units of one
    dimension are converted; the coarser side may then be off by half a step of its last digit (a
    half, for a whole number), because people round what they convert, and by at most 1.5 percent.
    Units of two dimensions contradict. A range agrees with a gold at its ends, with a gold inside
    it when its ends differ by no more than half, and with an equal range.
    """
    if gold.high is not None or said.high is not None:
        return _same_range(gold, said)
    differ = gold.unit and said.unit and gold.unit != said.unit
    if differ and _converted(gold, said):
        return True
    one = not differ or alike(gold.unit, said.unit)
    return one and _close(gold.value, said.value, max(gold.slack, said.slack))


def _converted(gold: Quantity, said: Quantity) -> bool:
    one, two = unit(gold.unit), unit(said.unit)
    if one.dimension != two.dimension:
        return False
    a, b = gold.value * one.factor + one.offset, said.value * two.factor + two.offset
    most = MOST_CONVERTED * max(abs(a), abs(b))
    if one.dimension == "temperature":  # 0 degrees are not nothing
        most = max(most, 0.6)
    room = max((gold.slack or 0.5) * one.factor, (said.slack or 0.5) * two.factor)
    return abs(a - b) <= min(room, most) + 1e-9 * max(abs(a), abs(b), 1e-12)


def _in_unit(q: Quantity, name: str) -> Quantity | None:
    """Return a quantity in another unit of its dimension, ``None`` for a unit of another one."""
    one, two = unit(q.unit), unit(name)
    if one.dimension != two.dimension:
        return None

    def turned(value: float) -> float:
        return (value * one.factor + one.offset - two.offset) / two.factor

    high = None if q.high is None else turned(q.high)
    slack = (q.slack or 0.5) * one.factor / two.factor
    return q._replace(value=turned(q.value), unit=name, slack=slack, high=high)


def _same_range(gold: Quantity, said: Quantity) -> bool:
    point: Quantity | None
    point, wide = (said, gold) if said.high is None else (gold, said)
    if point.unit and wide.unit and not alike(point.unit, wide.unit):
        point = _in_unit(point, wide.unit)
    if point is None or wide.high is None:
        return False
    if point.high is not None:
        room = max(point.slack, wide.slack)
        return _close(point.value, wide.value, room) and _close(point.high, wide.high, room)
    if point.value in (wide.value, wide.high):
        return True
    return wide.value <= point.value <= wide.high <= 1.5 * wide.value
