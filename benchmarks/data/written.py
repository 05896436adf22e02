"""How a gold of the invented world's data file may be written in running English text.

Golds are ISO dates, bare numbers and names; nobody writes sentences that way, so a judge has to
read many forms of one value.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

# fmt: off
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)
ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
# fmt: on


def written(
    golds: Sequence[str], spec: Mapping[str, Any], rng: random.Random, subset: bool = False
) -> str:
    """One way to write the value; `subset` allows a single member of several true ones."""
    kind = spec["kind"]
    if kind in ("date", "year"):
        return _date(golds[0], kind, rng)
    if kind == "number":
        return _number(int(golds[0]), spec.get("unit", ""), rng)
    if kind == "list":
        members = list(golds)
        rng.shuffle(members)
        if subset and rng.random() < 0.3:
            members = members[:1]
        return rng.choice([" and ", " as well as "]).join(members)
    return rng.choice(golds)


def _date(iso: str, kind: str, rng: random.Random) -> str:
    year, month, day = (int(x) for x in iso[:10].split("-"))
    if kind == "year":
        return rng.choice([str(year), str(year), f"the year {year}"])
    name = MONTHS[month - 1]
    ending = "th" if 10 < day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    forms = [
        f"{day} {name} {year}", f"{name} {day}, {year}", f"{name} {day}{ending}, {year}",
        f"the {day}{ending} of {name} {year}", f"{day}{ending} {name} {year}",
        f"{name[:3]} {day}, {year}", f"{day} {name[:3]} {year}",
    ]  # fmt: skip
    return rng.choice(forms)


def _number(number: int, unit: str, rng: random.Random) -> str:
    digits = f"{number:,}" if rng.random() < 0.7 else str(number)
    if number < 100 and rng.random() < 0.1:
        digits = _spelled(number)
    elif rng.random() < 0.15:
        digits = f"{rng.choice(['about', 'around', 'some', 'roughly'])} {digits}"
    if unit == "km":
        unit = rng.choice(["km", "kilometers", "kilometres"])
    return f"{digits} {unit}".strip()


def _spelled(number: int) -> str:
    if number < 20:
        return ONES[number]
    tens, ones = TENS[number // 10 - 2], number % 10
    return f"{tens}-{ONES[ones]}" if ones else tens
