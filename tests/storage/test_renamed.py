"""Runs of earlier versions are read under today's names."""

from __future__ import annotations

import dataclasses

import pytest

from sayso.protocols.selective import Settings
from sayso.protocols.settings import as_dict, replace
from sayso.protocols.uncle import Settings as UncleSettings
from sayso.records import InputError
from sayso.storage import renamed
from sayso.storage.renamed import GONE, Gone, gone_and_asked, under_todays_settings
from support.tables import tabled

TODAY = as_dict(Settings())


@pytest.mark.parametrize(("before", "now"), [(True, "without"), (False, "given")])
def test_asking_again_without_the_passage_has_a_new_name(before: bool, now: str) -> None:
    stored = {"without_passage": before, "words": False}
    settings = replace(Settings(), under_todays_settings(stored, TODAY))
    assert settings == dataclasses.replace(Settings(), context=now, words=False)
    assert stored == {"without_passage": before, "words": False}


def test_settings_of_today_stay() -> None:
    assert under_todays_settings({"context": "twins"}, TODAY) == {"context": "twins"}


@pytest.fixture
def gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two settings are gone; another protocol still has one of that name."""
    settings = {"depth": Gone(3, "run again without it"), "words": Gone(False, "leave it out")}
    monkeypatch.setattr(renamed, "GONE", settings)


@pytest.mark.usefixtures("gone")
def test_a_setting_that_is_gone_is_ignored_where_it_changed_nothing() -> None:
    stored = {"depth": 3, "words": True}
    assert under_todays_settings(stored, TODAY) == {"words": True}
    assert stored == {"depth": 3, "words": True}


@pytest.mark.usefixtures("gone")
def test_another_value_of_a_setting_that_is_gone_is_told_in_one_line() -> None:
    with pytest.raises(InputError, match=r"depth=4.*run again without it") as told:
        under_todays_settings({"depth": 4}, TODAY)
    assert "\n" not in str(told.value)
    with pytest.raises(InputError, match="words=True"):
        under_todays_settings({"words": True}, ("context",))


@tabled
def test_settings_of_uncle_that_are_gone(name: str, default: object, other: object) -> None:
    uncle = as_dict(UncleSettings())
    assert name not in uncle
    assert under_todays_settings({**uncle, name: default}, uncle) == uncle
    flag = f"--{name.replace('_', '-')}"
    with pytest.raises(InputError, match=f"{name}={other}.*again without {flag}"):
        under_todays_settings({**uncle, name: other}, uncle)


def test_what_a_run_asked_that_is_gone_is_part_of_what_it_asks() -> None:
    """Else a new run would take over the folder of another one."""
    defaults = {name: gone.default for name, gone in GONE.items()}
    assert gone_and_asked(defaults) == {}
    assert gone_and_asked({}) == {}
    assert gone_and_asked({**defaults, "probe.slick": 4, "alpha": 0.2}) == {"probe.slick": 4}
