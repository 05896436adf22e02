"""Runs of earlier versions are read under today's names."""

from __future__ import annotations

import dataclasses

import pytest

from sayso.protocols.selective import Settings
from sayso.protocols.settings import replace
from sayso.storage.renamed import under_todays_settings


@pytest.mark.parametrize(("before", "now"), [(True, "without"), (False, "given")])
def test_asking_again_without_the_passage_has_a_new_name(before: bool, now: str) -> None:
    stored = {"without_passage": before, "words": False}
    settings = replace(Settings(), under_todays_settings(stored))
    assert settings == dataclasses.replace(Settings(), context=now, words=False)
    assert stored == {"without_passage": before, "words": False}


def test_settings_of_today_stay() -> None:
    assert under_todays_settings({"context": "twins"}) == {"context": "twins"}
