"""Relatives among models."""

from __future__ import annotations

from sayso.judges.judge import family
from support.tables import tabled


@tabled
def test_family(name: str, expected: str) -> None:
    assert family(name) == expected
    assert family(expected) == expected


def test_names_of_no_family_are_related_only_to_themselves() -> None:
    assert family("hf:/a/model") != family("hf:/b/model")
    assert family("hf:/a/model") == family("hf:/a/model/")
