"""From the statements of one property to golds: all true values, as of a day where they change.

* Deprecated statements are never true. Where some are preferred, only these are taken.
* A property that changes (a list in the table, or a quantity that is dated) has the values that
  hold on the source's day: begun, not ended, and of several dated ones the latest.
* Of other properties, values that have ended are left out where others still hold, except where the
  question asks for any time (a list in the table).
* "Unknown value" and "no value" are no golds; beside real values they make the list incomplete.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Literal, NamedTuple

from sayso.records import Gold
from sayso.wikidata.entities import TIME, Entity, EntityStatement, holds_since, sortable
from sayso.wikidata.excerpt import AS_OF, Excerpt
from sayso.wikidata.templates import MONTHS_EN, Templates

#: a time's precision in Wikidata's numbers -> ours; coarser ones are not asked for
PRECISIONS = {7: "century", 8: "decade", 9: "year", 10: "month", 11: "day"}
JULIAN = "Q1985786"
MOST_ALIASES = 20
#: date of death, of dissolution, end
ENDS = ("P570", "P576", "P582")
#: aliases of two letters that people write; of the others many are words ("IT" is Italy)
SHORT = frozenset(("US", "UK", "EU", "UN", "LA", "NY"))
Why = Literal[
    "deprecated", "unknown value", "no value", "no label", "no date", "no number", "ended"
]


class AspectGolds(NamedTuple):
    """The golds of one aspect, or why there are none.

    ``day`` is set where the values hold as of a day, ``start`` is the earliest day that a value is
    known to hold from ("" unknown), ``missing`` how many values are no golds: unknown, or without
    a label.
    """

    golds: tuple[Gold, ...] = ()
    why: Why | None = None
    day: str = ""
    start: str = ""
    missing: int = 0
    disputed: bool = False

    @property
    def askable(self) -> bool:
        """Whether most values are golds: else most right answers would be judged wrong."""
        return len(self.golds) > self.missing


def answer(entity: Entity, property: str, excerpt: Excerpt, templates: Templates) -> AspectGolds:
    """Return the golds of a property of an entity."""
    every = [s for s in entity.statements if s.property == property]
    valid = [s for s in every if s.rank != "deprecated"]
    if not valid:
        return AspectGolds(why="deprecated")
    best = [s for s in valid if s.rank == "preferred"] or valid
    real = [s for s in best if s.snak == "value"]
    if not real:
        return AspectGolds(why="unknown value" if best[0].snak == "somevalue" else "no value")
    holding, day = _holding(entity, valid, real, excerpt, templates)
    if not holding:
        return AspectGolds(why="ended")
    golds: list[Gold] = []
    reasons: list[Why] = []
    for one in holding:
        gold = _gold(one, excerpt, templates)
        if isinstance(gold, Gold):
            if gold not in golds:
                golds.append(gold)
        else:
            reasons.append(gold)
    if not golds:
        return AspectGolds(why=reasons[0])
    return AspectGolds(
        tuple(golds),
        day=day,
        start=holds_since(holding),
        missing=len(reasons) + len(best) - len(real),
        disputed=property in templates.once and _differ(golds),
    )


def _holding(
    entity: Entity,
    valid: Sequence[EntityStatement],
    best: Sequence[EntityStatement],
    excerpt: Excerpt,
    templates: Templates,
) -> tuple[Sequence[EntityStatement], str]:
    """Return the values to ask for, of the best-ranked or else of all, and as of when."""
    property, day = best[0].property, excerpt.day
    if property not in templates.changing and not any(s.kind == "quantity" and s.at for s in best):
        lasting = [s for s in best if property in templates.ever or not _ended(s, day)]
        return lasting or best, ""
    now, as_of = _current(best, day)
    # the preferred ones are those of today, and --as-of may name an earlier day
    if excerpt.day_from == AS_OF and (not now or _later(now[0].at, day)):
        others, then = _current([s for s in valid if s.snak == "value"], day)
        if others and not _later(others[0].at, day):
            now, as_of = others, then
    if now and not now[0].at and _is_over(entity):
        return [], ""
    return now, as_of


def _current(statements: Sequence[EntityStatement], day: str) -> tuple[list[EntityStatement], str]:
    """Return what holds on a day, and the day that the question names.

    Of dated values the last before the day, or the first after it: the question names its date.
    """
    dated = sorted((s for s in statements if s.at), key=lambda s: sortable(s.at))
    if dated:
        past = [s for s in dated if not _later(s.at, day)]
        at = (past[-1] if past else dated[0]).at
        return [s for s in statements if s.at == at], _day_of(at)
    return [s for s in statements if not _ended(s, day) and not _later(s.start, day)], day


def _ended(one: EntityStatement, day: str) -> bool:
    """Tell whether a value holds no more on a day; without a day, whether it ever ended."""
    return bool(one.end) and (not day or sortable(one.end) <= sortable(day))


def _later(time: str, day: str) -> bool:
    """Tell whether a time lies after a day; an unknown time does not."""
    return bool(time and day) and sortable(time) > sortable(day)


def _is_over(entity: Entity) -> bool:
    """Tell whether an entity is dead or dissolved: nothing about it holds any more."""
    return any(
        s.property in ENDS and s.rank != "deprecated" and s.snak != "novalue"
        for s in entity.statements
    )


def _gold(one: EntityStatement, excerpt: Excerpt, templates: Templates) -> Gold | Why:
    if one.kind == "wikibase-item":
        return _item_gold(one.value, excerpt)
    if one.kind == "time":
        return date_gold(one) or "no date"
    if one.kind == "quantity":
        amount = exact_number(one.value)
        if amount is None:
            return "no number"
        unit = excerpt.label(one.unit) or templates.units.get(one.unit, "") if one.unit else ""
        if one.unit and not unit:
            return "no label"
        return Gold(amount, kind="quantity", unit=unit or None)
    text = " ".join(one.value.split())
    return Gold(text) if text else "no label"


def _item_gold(id: str, excerpt: Excerpt) -> Gold | Why:
    """Return an item by its label, with its aliases and its labels in the other languages.

    An item with a label only in another language is no gold: nobody would answer with that.
    """
    label = excerpt.label(id)
    if not label:
        return "no label"
    named = excerpt.names[id]
    others: list[str] = []
    for language in excerpt.plan.languages:
        others += [named.labels.get(language, ""), *named.aliases.get(language, ())]
    clean = dict.fromkeys(" ".join(other.split()) for other in others)
    fit = [alias for alias in clean if alias != label and _is_name(alias)]
    return Gold(label, aliases=tuple(fit)[:MOST_ALIASES])


def _is_name(alias: str) -> bool:
    """Tell whether an alias can name something in a text: no flag, no code such as "can"."""
    letters = sum(c.isalnum() for c in alias)
    if letters < 3 and alias.isascii():
        return alias in SHORT
    return letters > 1 and not (letters < 4 and alias.islower())


def date_gold(one: EntityStatement) -> Gold | None:
    """Return a time as a gold of its precision; ``None`` where it is coarser than a century.

    A day is a timestamp, as in UNCLE; what is coarser is put in words, so that no reader takes
    the month and day that fill the field for known. A Julian day has the Gregorian one beside it.
    """
    parts = TIME.match(one.value)
    precision = PRECISIONS.get(one.precision)
    if parts is None or precision is None:
        return None
    sign, year, month, day = parts[1], int(parts[2]), int(parts[3]), int(parts[4])
    if not year:
        return None
    before = sign == "-"
    if precision == "day" and not (0 < month < 13 and 0 < day < 32):
        precision = "month" if 0 < month < 13 else "year"
    if precision == "month" and not 0 < month < 13:
        precision = "year"
    era = " BC" if before else ""
    if precision == "day":
        value = f"{'-' if before else ''}{year:04}-{month:02}-{day:02}T00:00:00Z"
        julian = one.calendar == JULIAN and not before
        other = gregorian(year, month, day) if julian else None
        aliases = (f"{other[0]:04}-{other[1]:02}-{other[2]:02}T00:00:00Z",) if other else ()
        return Gold(value, aliases=aliases, kind="date", precision="day")
    if precision == "month":
        return Gold(f"{MONTHS_EN[month - 1]} {year}{era}", kind="date", precision="month")
    if precision == "year":
        return Gold(f"{year}{era}", kind="date", precision="year")
    if precision == "decade":
        return Gold(f"{year // 10 * 10}s{era}", kind="date", precision="decade")
    number = (year - 1) // 100 + 1
    return Gold(f"{_ordinal(number)} {precision}{era}", kind="date", precision=precision)


def gregorian(year: int, month: int, day: int) -> tuple[int, int, int]:
    """Return the Gregorian date of a Julian one (Meeus, Astronomical Algorithms, chapter 7)."""
    shift = (14 - month) // 12
    y, m = year + 4800 - shift, month + 12 * shift - 3
    number = day + (153 * m + 2) // 5 + 365 * y + y // 4 - 32083
    a = number + 32044
    b = (4 * a + 3) // 146097
    c = a - 146097 * b // 4
    d = (4 * c + 3) // 1461
    e = c - 1461 * d // 4
    m = (5 * e + 2) // 153
    return 100 * b + d - 4800 + m // 10, m + 3 - 12 * (m // 10), e - (153 * m + 2) // 5 + 1


def exact_number(amount: str) -> str | None:
    """Return +0020.50 as 20.5; ``None`` for what is no number."""
    try:
        number = Decimal(amount)
    except InvalidOperation:
        return None
    if not number.is_finite() or abs(number.adjusted()) > 60:
        return None
    text = format(number, "f")
    return (text.rstrip("0").rstrip(".") if "." in text else text).removeprefix("+") or "0"


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10)
    return f"{number}{ending or 'th'}"


def _day_of(time: str) -> str:
    year, month, day = sortable(time)
    return "-".join([str(year), *(f"{part:02}" for part in (month, day) if part)])


def _differ(golds: Sequence[Gold]) -> bool:
    """Tell whether several values of a fact that is true once cannot all be true.

    A date beside a coarser one is the same fact as long as they begin alike.
    """
    if len(golds) < 2:
        return False
    if all(gold.kind == "date" for gold in golds):
        years = {date_year(g) for g in golds if g.precision in ("year", "month", "day")}
        return len(years) > 1 or len({g.value for g in golds if g.precision == "day"}) > 1
    return True


def date_year(gold: Gold) -> tuple[int, bool]:
    """Return the year of a date that has one, and whether it lies before Christ."""
    number = re.search(r"\d+(?!.*\d)" if gold.precision == "month" else r"\d+", gold.value)
    before = gold.value.startswith("-") or gold.value.endswith("BC")
    return int(number[0]) if number else 0, before
