"""Statements become golds: ranks, dates with precision, quantities with unit, what changes."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.judges.english.dates import gold_dates
from sayso.judges.rules.judge import judge_rules
from sayso.records import Gold
from sayso.wikidata.entities import Entity, EntityStatement, began, holds_since, is_fresh
from sayso.wikidata.excerpt import Excerpt, Stratum, ticket
from sayso.wikidata.plan import Domain, DomainPlan
from sayso.wikidata.questions import invented
from sayso.wikidata.templates import load_templates
from sayso.wikidata.values import answer, date_gold, exact_number, gregorian
from support.tables import tabled

TABLE = load_templates()
NAMES = {
    "Q1": Entity("Q1", {"en": "New York", "de": "Neu York"}, aliases={"en": ("NYC", "ny", "🗽")}),
    "Q2": Entity("Q2", {"en": "Oslo"}),
    "Q3": Entity("Q3", {"de": "Namenlos"}),
    "Q9": Entity("Q9", {"en": "square mile"}),
}


def found(day: str = "2024-04-01") -> Excerpt:
    return Excerpt(
        source="x",
        plan=DomainPlan({"d": Domain(("Q5",))}, ("en", "de")),
        seed=0,
        entities={},
        population={},
        properties={},
        kinds={},
        names=NAMES,
        namesakes={},
        day=day,
        day_from="--as-of",
    )


def item(value: str, **more: object) -> EntityStatement:
    return EntityStatement(str(more.pop("property", "P1")), "wikibase-item", value, **more)  # type: ignore[arg-type]


def told(*statements: EntityStatement) -> tuple[str, ...]:
    entity = Entity("Q7", {"en": "x"}, statements=statements)
    return tuple(g.value for g in answer(entity, statements[0].property, found(), TABLE).golds)


def test_ranks_decide() -> None:
    assert told(item("Q1"), item("Q2")) == ("New York", "Oslo")
    assert told(item("Q1"), item("Q2", rank="preferred")) == ("Oslo",)
    assert told(item("Q1", rank="deprecated"), item("Q2")) == ("Oslo",)
    entity = Entity("Q7", statements=(item("Q1", rank="deprecated"),))
    assert answer(entity, "P1", found(), TABLE).why == "deprecated"


def test_unknown_and_none_are_no_golds() -> None:
    def why(*statements: EntityStatement) -> object:
        return answer(Entity("Q7", statements=statements), "P1", found(), TABLE)

    assert why(item("", snak="somevalue")).why == "unknown value"  # type: ignore[attr-defined]
    assert why(item("", snak="novalue")).why == "no value"  # type: ignore[attr-defined]
    assert why(item("Q3")).why == "no label"  # type: ignore[attr-defined]
    both = why(item("Q1"), item("", snak="somevalue"))
    assert both.missing == 1  # type: ignore[attr-defined]
    assert why(item("Q1"), item("Q3")).missing == 1  # type: ignore[attr-defined]
    assert why(item("Q1"), item("Q2")).missing == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("alias", "stays"),
    [("IT", False), ("AT", False), ("US", True), ("NYC", True), ("can", False), ("東京", True)],
)
def test_aliases_that_are_words_are_dropped(alias: str, stays: bool) -> None:
    names = {**NAMES, "Q4": Entity("Q4", {"en": "Somewhere"}, aliases={"en": (alias,)})}
    import msgspec

    world = msgspec.structs.replace(found(), names=names)
    (gold,) = answer(Entity("Q7", statements=(item("Q4"),)), "P1", world, TABLE).golds
    assert (alias in gold.aliases) == stays


def test_aliases_of_all_languages_without_flags_and_codes() -> None:
    entity = Entity("Q7", statements=(item("Q1"),))
    (gold,) = answer(entity, "P1", found(), TABLE).golds
    assert gold == Gold("New York", aliases=("NYC", "Neu York"))


def test_what_changes_holds_on_the_day() -> None:
    boss = [
        item("Q1", property="P169", start="+2010-01-01T", end="+2020-01-01T"),
        item("Q2", property="P169", start="+2020-01-01T"),
    ]
    entity = Entity("Q7", statements=tuple(boss))
    got = answer(entity, "P169", found(), TABLE)
    assert ([g.value for g in got.golds], got.day, got.missing) == (["Oslo"], "2024-04-01", 0)
    past = answer(Entity("Q7", statements=(boss[0],)), "P169", found(), TABLE)
    assert past.why == "ended"
    # an end that lies after the day has not come yet
    later = msgspec_replace(boss[0], end="+2030-01-01T00:00:00Z")
    assert answer(Entity("Q7", statements=(later,)), "P169", found(), TABLE).golds


def msgspec_replace(one: EntityStatement, **changes: str) -> EntityStatement:
    import msgspec

    return msgspec.structs.replace(one, **changes)


def test_an_earlier_day_has_the_values_of_then() -> None:
    boss = [
        item("Q1", property="P169", start="+2000-01-01T", end="+2015-01-01T"),
        item("Q2", property="P169", start="+2015-01-01T"),
    ]
    people = [
        EntityStatement("P1082", "quantity", "+120", at="+2008-00-00T00:00:00Z"),
        EntityStatement("P1082", "quantity", "+150", at="+2019-00-00T00:00:00Z"),
    ]
    entity = Entity("Q7", statements=tuple(boss + people))
    for day, name, number in (("2010-05-01", "New York", "120"), ("2020-01-01", "Oslo", "150")):
        assert [g.value for g in answer(entity, "P169", found(day), TABLE).golds] == [name]
        assert [g.value for g in answer(entity, "P1082", found(day), TABLE).golds] == [number]
    # the preferred ones are those of today
    import msgspec

    ranked = [
        msgspec.structs.replace(s, rank="preferred" if n % 2 else "normal")
        for n, s in enumerate(boss + people)
    ]
    today = Entity("Q7", statements=tuple(ranked))
    for day, name, number in (("2010-05-01", "New York", "120"), ("2020-01-01", "Oslo", "150")):
        assert [g.value for g in answer(today, "P169", found(day), TABLE).golds] == [name]
        assert [g.value for g in answer(today, "P1082", found(day), TABLE).golds] == [number]
    # a day that nobody gave is the latest change that was read, and says nothing against them
    derived = msgspec.structs.replace(found("2010-05-01"), day_from="the latest change")
    assert answer(today, "P1082", derived, TABLE).golds[0].value == "150"
    # nothing of before 1990: the first one after it, and the question says its day
    assert answer(entity, "P1082", found("1990-01-01"), TABLE).day == "2008"
    assert answer(entity, "P169", found("1990-01-01"), TABLE).why == "ended"


def test_what_has_ended_counts_where_it_is_asked_for_at_any_time() -> None:
    # P36 capital: "What is the capital", P26 spouse: "Who is or was the spouse"
    old, new = {"end": "+1990-10-03T"}, {"start": "+1990-10-03T"}
    assert told(item("Q1", property="P36", **old), item("Q2", property="P36", **new)) == ("Oslo",)
    assert told(item("Q1", property="P36", **old)) == ("New York",)  # of a state that is no more
    both = told(item("Q1", property="P26", **old), item("Q2", property="P26", **new))
    assert both == ("New York", "Oslo")
    # an end at an unknown time is an end
    gone = item("Q1", property="P36", end="?")
    assert told(gone, item("Q2", property="P36")) == ("Oslo",)


def test_the_dead_hold_no_office_today() -> None:
    died = EntityStatement("P570", "time", "+1999-01-01T00:00:00Z", precision=11)
    home = item("Q1", property="P551")
    assert answer(Entity("Q7", statements=(home,)), "P551", found(), TABLE).golds
    assert answer(Entity("Q7", statements=(home, died)), "P551", found(), TABLE).why == "ended"
    dated = EntityStatement("P1082", "quantity", "+9", at="+1990-00-00T")
    assert answer(Entity("Q7", statements=(dated, died)), "P1082", found(), TABLE).golds


def test_a_dated_quantity_is_the_latest_and_says_when() -> None:
    rows = [
        EntityStatement("P1082", "quantity", "+120", at="+1990-00-00T00:00:00Z"),
        EntityStatement("P1082", "quantity", "+150", at="+2015-07-00T00:00:00Z", unit="Q9"),
    ]
    got = answer(Entity("Q7", statements=tuple(rows)), "P1082", found(), TABLE)
    assert got.golds == (Gold("150", kind="quantity", unit="square mile"),)
    assert got.day == "2015-07"
    assert got.start == "+2015-07-00T00:00:00Z"


@tabled
def test_dates_keep_their_precision_and_the_judge_reads_them(
    time: str, precision: int, value: str, said: str
) -> None:
    gold = date_gold(EntityStatement("P1", "time", f"{time}T00:00:00Z", precision=precision))
    assert gold is not None
    assert gold.value == value
    assert gold_dates(gold.value, gold.precision, gold.kind)
    assert judge_rules("When did it happen?", [gold], f"It happened {said}.").value == "correct"
    assert judge_rules("When did it happen?", [gold], "It happened in 1777.").value == "incorrect"


def test_what_is_coarser_than_a_century_is_no_gold() -> None:
    for precision in range(7):
        assert date_gold(EntityStatement("P1", "time", "-5000-00-00T", precision=precision)) is None
    assert date_gold(EntityStatement("P1", "time", "nonsense", precision=9)) is None
    assert date_gold(EntityStatement("P1", "time", "+0000-00-00T", precision=9)) is None


def test_a_julian_day_has_the_gregorian_one_beside_it() -> None:
    # the October Revolution: 25 October 1917 in the Julian calendar, 7 November in the Gregorian
    one = EntityStatement("P1", "time", "+1917-10-25T00:00:00Z", precision=11, calendar="Q1985786")
    assert date_gold(one) == Gold("1917-10-25T00:00:00Z", ("1917-11-07T00:00:00Z",), "date", "day")
    assert gregorian(1582, 10, 5) == (1582, 10, 15)  # the day after 4 October 1582


@given(st.dates(date(1600, 1, 1), date(2100, 1, 1)))
def test_julian_days_lie_ten_to_thirteen_days_off(day: date) -> None:
    if (day.month, day.day) == (2, 29):
        return
    later = date(*gregorian(day.year, day.month, day.day))
    assert 10 <= (later - day).days <= 13


@pytest.mark.parametrize(
    ("amount", "plain"),
    [("+0020.50", "20.5"), ("+100", "100"), ("-3.0", "-3"), ("+0", "0"), ("1E+3", "1000")],
)
def test_numbers_are_plain(amount: str, plain: str) -> None:
    assert exact_number(amount) == plain


@pytest.mark.parametrize("amount", ["", "many", "NaN", "Infinity", "1e999"])
def test_what_is_no_number_is_none(amount: str) -> None:
    assert exact_number(amount) is None


def test_two_births_are_disputed_and_a_coarser_one_is_not() -> None:
    def births(*dates: tuple[str, int]) -> bool:
        rows = [EntityStatement("P569", "time", f"+{d}T00:00:00Z", precision=p) for d, p in dates]
        return answer(Entity("Q7", statements=tuple(rows)), "P569", found(), TABLE).disputed

    assert births(("1950-01-02", 11), ("1951-01-02", 11))
    assert births(("1950-01-02", 11), ("1950-01-03", 11))
    assert not births(("1950-01-02", 11), ("1950-00-00", 9))
    assert not births(("1950-01-02", 11))
    assert births(("0995-00-00", 9), ("0997-00-00", 9))
    assert births(("1950-03-00", 10), ("1951-00-00", 9))


def test_a_fact_is_fresh_only_when_everything_says_so() -> None:
    old, new = item("Q1", start="+2010-01-01T"), item("Q2", start="+2024-01-01T")
    assert holds_since([old, new]).startswith("+2010")
    assert holds_since([new, item("Q2")]) == ""
    born = EntityStatement("P569", "time", "+2024-02-01T00:00:00Z", precision=11)
    assert is_fresh(holds_since([new]), Entity("Q7"), "2023-12-31")
    assert not is_fresh(holds_since([old]), Entity("Q7"), "2023-12-31")
    assert not is_fresh("", Entity("Q7"), "2023-12-31")
    # the twentieth century is written as its last year and began in 1901
    century = EntityStatement("P569", "time", "+2000-01-01T00:00:00Z", precision=7)
    assert holds_since([century]).startswith("+1901")
    assert not is_fresh(holds_since([century]), Entity("Q7", statements=(century,)), "1999-12-31")
    assert holds_since([item("Q1", start="?")]) == ""
    young = Entity("Q7", statements=(born,))
    assert began(young).startswith("+2024-02-01")
    assert is_fresh("", young, "2023-12-31")


@given(st.lists(st.integers(1, 500), unique=True, max_size=60), st.randoms(use_true_random=False))
def test_a_sample_does_not_depend_on_the_order(numbers: list[int], draw: object) -> None:
    def kept(order: list[int]) -> list[str]:
        stratum = Stratum(10)
        for number in [*order, *order]:  # twice: the second time changes nothing
            stratum.put(ticket(3, f"Q{number}"), f"Q{number}", b"")
        return [id for _, id, _ in stratum.rows()]

    shuffled = list(numbers)
    draw.shuffle(shuffled)  # type: ignore[attr-defined]
    by_ticket = sorted((f"Q{n}" for n in numbers), key=lambda id: ticket(3, id))
    assert kept(numbers) == kept(shuffled) == by_ticket[:10]


def test_an_invented_name_is_new_and_shaped_like_the_old_one() -> None:
    pool = ["Alda Amberson", "Benno Birchson", "Clio Cedarson", "Dorit Duneson"]
    known = {name.casefold() for name in pool}
    made = {invented(pool, name, 0, known) for name in pool}
    assert None not in made
    for name in made:
        assert name is not None
        assert len(name.split()) == 2
        assert name.istitle()
        assert name.casefold() not in known
    assert invented(["X"], "X", 0, known) is None
