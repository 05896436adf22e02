"""What words have in common: roots, peoples, families, likeness; and what a question asks for."""

from __future__ import annotations

from sayso.judges.english.families import (
    country_names,
    families,
    family_stem,
    keys,
    meanings,
    root,
    slip,
    vectors_of,
    word_group,
)
from sayso.judges.english.questions import Expected, asks_for_a_name, expected
from sayso.judges.english.tokens import uninflected
from support.tables import tabled


def test_long_words_share_a_root_and_short_ones_do_not() -> None:
    assert root("hieroglyphics") == root("hieroglyph") == "hieroglyph"
    assert root("organize") != root("organ")
    assert root("x" * 41) == "x" * 41


def test_a_people_and_its_country_are_looked_up_together() -> None:
    def shared(a: str, b: str) -> bool:
        return bool({*keys(a, uninflected(a))} & {*keys(b, uninflected(b))})

    assert shared("poland", "polish")
    assert shared("actor", "actress")
    assert not shared("poland", "dutch")
    assert "U.K." in country_names("the United Kingdom")
    assert country_names("Ripley") == ()


@tabled
def test_a_typing_slip(a: str, b: str, one: bool) -> None:
    assert slip(a, b) == slip(b, a) == one


def test_families_tell_the_same_aspect() -> None:
    assert family_stem("birthplace") == family_stem("born") == "birth"
    assert "birth" in families()["birthplace"]
    assert set(meanings("wrote")) & set(meanings("author"))
    assert meanings("zebra") == (family_stem("zebras"),)


def test_words_of_like_meaning() -> None:
    assert word_group("zzyqx") == "zzyqx"
    near, far = (
        float(a @ b) for a, b in (vectors_of(["film", "movie"]), vectors_of(["film", "liver"]))
    )
    assert near > far


@tabled
def test_what_a_question_expects(question: str, kind: Expected) -> None:
    assert expected(question) == kind


def test_a_description_tells_where_the_question_does_not() -> None:
    assert expected("What of her?", "place of birth") == "place"
    assert expected("Who was it?", "place of birth") == "person"


def test_a_question_for_a_name() -> None:
    assert asks_for_a_name("What is the highest mountain of Orm?")
    assert asks_for_a_name("Which river flows there?")
    assert not asks_for_a_name("What is the river's length?")
    assert not asks_for_a_name("Who was it?")
