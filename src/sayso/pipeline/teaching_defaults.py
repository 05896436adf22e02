"""What settings of a teaching are where nobody says them, preset by preset, as help says it."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter

from sayso.pipeline.teaching_rows import MAKINGS
from sayso.train.presets import PRESETS


def of_rows(name: str, none: str = "") -> str:
    """Return the defaults of a setting of rows, such as "(10)"; ``none`` stands for ``None``."""
    return _told({preset: getattr(made, name) for preset, made in MAKINGS.items()}, none)


def of_preset(name: str) -> str:
    """Return the defaults of a setting of trainings, dotted: "(paper: 5e-05; builtin: 0.002)"."""
    return _told({each.name: attrgetter(name)(each) for each in PRESETS.values()}, "")


def _told(values: Mapping[str, object], none: str) -> str:
    shown = {name: _plain(value, none) for name, value in values.items()}
    if len(set(shown.values())) == 1:
        return f"({next(iter(shown.values()))})"
    return f"({'; '.join(f'{name}: {value}' for name, value in shown.items())})"


def _plain(value: object, none: str) -> str:
    if value is None:
        return none
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
