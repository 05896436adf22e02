"""Settings: the limits of a field stand on it, and one check says which setting is out of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, get_type_hints

import pytest

from sayso.options import check_values, fields_of
from sayso.protocols import PROTOCOLS, settings
from sayso.records import InputError


def limits(kind: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (dotted name, limits or None) of every number among the fields of a dataclass."""
    hints = get_type_hints(kind, include_extras=True)
    for field in dataclasses.fields(kind):
        hint = hints[field.name]
        if dataclasses.is_dataclass(hint):
            yield from limits(hint, f"{prefix}{field.name}.")
        elif getattr(hint, "__origin__", hint) in (int, float):
            yield f"{prefix}{field.name}", getattr(hint, "__metadata__", (None,))[0]


NUMBERS = [
    (protocol, name, meta)
    for protocol, plan in PROTOCOLS.items()
    for name, meta in limits(plan.Settings)
]


@pytest.mark.parametrize(("protocol", "name", "meta"), NUMBERS)
def test_every_number_has_limits_and_is_refused_beyond_them(
    protocol: str, name: str, meta: Any
) -> None:
    plan = PROTOCOLS[protocol]
    default = settings.as_dict(plan.Settings())[name]
    kind = type(default)
    assert meta.ge <= default <= meta.le
    for value in (kind(meta.ge), kind(meta.le)):
        check_values(settings.replace(plan.Settings(), {name: value}))
    for value in (kind(meta.ge - 1), kind(meta.le + 2), float("nan")):
        if value == value or kind is float:
            with pytest.raises(InputError, match=f"^{name} is .*; expected {meta.ge} to "):
                settings.replace(plan.Settings(), {name: value}).check()


@pytest.mark.parametrize(
    ("protocol", "number"),
    [("uncle", 9), ("selective", 17), ("faithfulness", 20), ("self_known", 13)],
)
def test_a_new_setting_leaves_the_names_of_run_folders(protocol: str, number: int) -> None:
    fields = fields_of(PROTOCOLS[protocol].Settings)
    named = [f.name for f in fields if f.about["stage"] == "collect" and not f.about["off"]]
    assert len(named) == number, "a setting whose default asks nothing new is declared off=True"


def test_a_word_that_is_no_choice_is_refused_by_its_dotted_name() -> None:
    with pytest.raises(InputError, match=r"p_ik\.position is 'first'; expected one of last_prompt"):
        settings.replace(PROTOCOLS["selective"].Settings(), {"p_ik.position": "first"})
