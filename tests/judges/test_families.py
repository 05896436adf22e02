"""What words have in common: roots, peoples, families, likeness; and what a question asks for."""

from __future__ import annotations

from sayso.judges.english.families import (
    slip,
)
from sayso.judges.english.questions import Expected, expected
from support.tables import tabled


@tabled
def test_a_typing_slip(a: str, b: str, one: bool) -> None:
    assert slip(a, b) == slip(b, a) == one


@tabled
def test_what_a_question_expects(question: str, kind: Expected) -> None:
    assert expected(question) == kind
