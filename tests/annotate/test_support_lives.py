"""When somebody lived, read from the brackets with which encyclopedias open."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.judges.support import RulesSupport, lives
from sayso.records import Passage

OPENING = "Mira Ann Toll, Lady Bask (4 May 1901 – 2 June 1970), was a poet. She lived in Orm."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (OPENING, ("born 4 May 1901", "died 2 June 1970")),
        ("Mira Toll (born May 5, 1970) is a poet.", ("born May 5, 1970",)),
        ("Mira Toll (b. 1970) is a poet.", ("born 1970",)),
        ("Mira Toll (1901–1970) was a poet.", ("born 1901", "died 1970")),
        ("Mira Toll (1901-1970) was a poet.", ("born 1901", "died 1970")),
        ("Mira Toll (c. 1901 – 1970) was a poet.", ("born 1901", "died 1970")),
        (
            "Mira Toll (née Bask; May 4, 1901 – June 2, 1970) was a poet.",
            ("born May 4, 1901", "died June 2, 1970"),
        ),
        ("The film (1990) was made in Orm.", None),
        ("Mira Toll (born in Orm) was a poet.", None),
        ("A fair (1 May – 3 June 1900) in Orm.", None),  # no year of its own
        ("Mira Toll was a poet. Her son Orm (1930–1980) was not.", None),  # a later sentence
        ("", None),
    ],
)
def test_lives_by_hand(text: str, expected: tuple[str, ...] | None) -> None:
    assert [life.told for life in lives(text)] == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("claim", "label"),
    [
        ("Mira Toll was born on 4 May 1901", "S"),
        ("Mira Toll was born in 1901", "S"),
        ("Mira Toll died on June 2, 1970", "S"),
        ("Mira Toll was born on 2 June 1970", "NS"),  # that is when she died
        ("Mira Toll died in 1901", "NS"),
        ("Mira Toll was born in 1902", "NS"),
        ("Mira Toll was born in Orm in 1901", "NS"),  # nothing says where
        ("Mira Toll was not born in 1901", "NS"),
    ],
)
def test_brackets_bear_out_birth_and_death(claim: str, label: str) -> None:
    (found,) = RulesSupport().read([("Mira Toll", claim, (Passage("p", "Mira Toll", OPENING),))])
    assert found.label == label


def test_brackets_of_another_name_say_nothing_of_the_topic() -> None:
    other = Passage("p", "Mira Toll", "Jane Bask (4 May 1901 – 2 June 1970) knew the poet well.")
    (found,) = RulesSupport().read([("Mira Toll", "Mira Toll was born in 1901", (other,))])
    assert found.label == "NS"


@given(st.text(max_size=80))
def test_any_text_can_be_read(text: str) -> None:
    for life in lives(f"X ({text}) was"):
        assert all(line.startswith(("born ", "died ")) for line in life.told)
