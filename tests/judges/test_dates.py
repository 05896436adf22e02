"""Dates as far as they are said: reading, golds, agreement."""

from __future__ import annotations

from sayso.judges.english.dates import _READERS, agree, find_dates, gold_dates
from support.hostile_texts import hostile_texts
from support.tables import rows_of, tabled


@tabled
def test_reads(text: str, expected: list[int | None]) -> None:
    (found,) = find_dates(text)
    assert [found.year, found.last, found.month, found.day] == expected


@tabled
def test_reads_no_date(text: str) -> None:
    assert find_dates(text) == ()


def test_an_ambiguous_order_is_read_both_ways() -> None:
    months = {(d.month, d.day) for d in find_dates("03/04/1946")}
    assert months == {(3, 4), (4, 3)}
    assert {(d.month, d.day) for d in find_dates("13/04/1946")} == {(4, 13)}


def test_golds_are_dates_and_nothing_else() -> None:
    assert gold_dates("in 1946")
    assert gold_dates("c. 1946")[0].kind == "period"
    assert not gold_dates("1946 World Cup")
    assert not gold_dates("Oslo")
    assert len(gold_dates("1966 and 1967")) == 2


def test_precision_of_a_gold() -> None:
    (year,) = gold_dates("1946-08-15T00:00:00Z", "year")
    assert (year.month, year.day) == (None, None)
    (month,) = gold_dates("1946-08-15T00:00:00Z", "month")
    assert (month.month, month.day) == (8, None)
    (decade,) = gold_dates("1946-01-01T00:00:00Z", "decade")
    assert (decade.year, decade.last) == (1940, 1949)
    (century,) = gold_dates("1946-01-01T00:00:00Z", "century")
    assert (century.year, century.last) == (1901, 2000)
    # January 1st means the year unless the source says that it means the day.
    assert gold_dates("1946-01-01T00:00:00Z")[0].day is None
    assert gold_dates("1946-01-01T00:00:00Z", "day")[0].day == 1


@tabled
def test_agreement(gold: str, said: str, expected: bool) -> None:
    assert agree(find_dates(gold)[0], find_dates(said)[0]) is expected


def test_no_date_is_missed_by_the_look_for_what_it_needs() -> None:
    texts = [row["text"] for row in rows_of(test_reads)] + [
        *("5 May", "third of May 1946", "nineteen forty-six", "twenty ten", "eleven hundred"),
        *("in 476", "1/2/1946", "c. 300 b. c.", "5 C.E.", "A.D.79", "the 5th c. BC"),
        *("MAY 5, 1946", "thirteenth  centuries", "1946 and 1950", "twelve hundred and fifty"),
    ]
    texts += [one.text[:2000] for one in hostile_texts(150, 0)]
    met = set()
    for needed, pattern, reader in _READERS:
        for text in texts:
            if pattern.search(text):
                met.add(pattern)
                assert needed.search(text.casefold()), (reader, text[:80])
    assert len(met) == len({pattern for _, pattern, _ in _READERS})
