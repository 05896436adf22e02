"""Names that differ by little, and names of one thing in several shapes."""

from __future__ import annotations

import pytest

from sayso.judges.rules.names import compare_names, name_key
from support.effort import seconds


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("Henry the Eighth", ("henry", "8")),
        ("King Henry VIII", ("henry", "8")),
        ("J.S. Bach", ("j", "s", "bach")),
        ("CS Lewis", ("c", "s", "lewis")),
        ("Second World War", ("world", "war", "2")),
        ("São Paulo", ("sao", "paulo")),
        ("Kim Jong-un", ("kim", "jong", "un")),
        ("Robert Downey, Jr.", ("robert", "downey", "jr")),
        ("Symphony No. 9", ("symphony", "9")),
        ("", ()),
        ("—", ()),
    ],
)
def test_normal_form(written: str, key: tuple[str, ...]) -> None:
    assert name_key(written) == key


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("Henry the Eighth", "Henry VIII", "same"),
        ("Henry VIII", "Henry VII", "different"),
        ("Louis XIV of France", "Louis XIV", "same"),
        ("Elizabeth", "Elizabeth II", "unsure"),
        ("Rocky", "Rocky 2", "different"),
        ("Robert Downey Jr.", "Robert Downey Sr.", "different"),
        ("J. S. Bach", "Johann Sebastian Bach", "same"),
        ("Kim Jong-un", "Kim Jong-il", "different"),
        ("Kim Jong Un", "Kim Jong-un", "same"),
        ("Apollo XI", "Apollo 11", "same"),
        ("Apollo 11", "Apollo 13", "different"),
        ("John Adams", "John Quincy Adams", "different"),
        ("James James", "James Brown", "different"),
        ("Adams", "John Adams", "unsure"),
        ("University of Washington", "Washington University", "different"),
        ("University of Oxford", "Oxford University", "same"),
        ("Mexico City", "Mexico", "different"),
        ("Paul Smith", "Paula Smith", "different"),
        ("Jesse Bennett", "Jesse Bennet", "same"),
        ("Ann Lee", "Ann Leed", "different"),
        ("Sao Paulo", "São Paulo", "same"),
        ("Super Bowl L", "Super Bowl 50", "same"),
        ("Super Bowl L", "Super Bowl V", "different"),
        ("Indira Gandhi", "Indira Ghandi", "same"),
        ("Al Gore", "Albert Gore", "same"),
        ("Al Gore", "Tipper Gore", "different"),
        ("", "x", "unsure"),
    ],
)
def test_pairs(a: str, b: str, expected: str) -> None:
    assert compare_names(a, b) == expected
    assert compare_names(b, a) == expected


@pytest.mark.parametrize("piece", ["a", " ", "1", ".", "Aa ", "X", "Kim-"])
def test_long_names_cost_nothing(piece: str) -> None:
    assert seconds(lambda: compare_names(piece * 50_000, "Kim Jong-un"), enough=0.1) < 0.1
