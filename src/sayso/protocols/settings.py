"""Settings as data: one frozen dataclass is the command line, the YAML keys and the signature.

Each field says whether it changes what is asked (``collect_field``) or only how answers are counted
(``measure_field``): ``sayso measure`` refuses a changed ``collect_field``. Its type says which
values it may have: a ``Literal``, or a number between the limits of its ``msgspec.Meta``.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_type_hints

from msgspec import Meta

from sayso.engines.named import LIMITS, AnswerLimits
from sayso.prompts import WORDINGS
from sayso.records import InputError

Value = str | int | float | bool | None

#: limits that settings of several protocols have
Temperature = Annotated[float, Meta(ge=0, le=10)]
Tokens = Annotated[int, Meta(ge=1, le=1_000_000)] | None
Share = Annotated[float, Meta(ge=0, le=1)]
Resamples = Annotated[int, Meta(ge=100, le=1_000_000)]
Seed = Annotated[int, Meta(ge=0, le=2**63)]


def collect_field(default: Any, help: str) -> Any:
    """Declare a field that changes what is asked of the model."""
    return dataclasses.field(default=default, metadata={"stage": "collect", "help": help})


def measure_field(default: Any, help: str) -> Any:
    """Declare a field that changes only how stored answers are counted."""
    return dataclasses.field(default=default, metadata={"stage": "measure", "help": help})


def most_tokens(name: Literal["short_tokens", "long_tokens"], what: str) -> Any:
    """Declare the field for the most tokens of an answer; ``None`` is what suits the model."""
    own = ", ".join(f"{getattr(limits, name)} for {model}" for model, limits in LIMITS.items())
    return collect_field(
        None, f"token limit of {what}; default: {getattr(AnswerLimits(), name)}, {own}"
    )


def with_limits(settings: Any, limits: AnswerLimits) -> Any:
    """Return settings in which the longest answers, where nobody set them, are those of a model."""
    known = as_dict(settings)
    names = {f"answer.{name}": getattr(limits, name) for name in ("short_tokens", "long_tokens")}
    unset = {name: value for name, value in names.items() if known.get(name, 0) is None}
    return replace(settings, unset) if unset else settings


def tokens_for(answer: Any, form: str) -> int:
    """Return the most tokens of an answer of a form, "short" or "long", as settings have it."""
    name = f"{form}_tokens"
    value = getattr(answer, name)
    return int(getattr(AnswerLimits(), name) if value is None else value)


def folder_setting(name: str) -> Path | None:
    """Return the folder that a setting names, as a path or as one that ships; else ``None``."""
    return WORDINGS.get(name) or (Path(name) if name else None)


def flatten(
    settings: Any, prefix: str = ""
) -> Iterator[tuple[str, Value, Literal["collect", "measure"]]]:
    """Yield (dotted name, value, stage) of every field, nested dataclasses included."""
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        if dataclasses.is_dataclass(value):
            yield from flatten(value, f"{prefix}{field.name}.")
        else:
            yield f"{prefix}{field.name}", value, field.metadata["stage"]


def as_dict(settings: Any) -> dict[str, Value]:
    """Return the flat dotted form that a manifest stores."""
    return {name: value for name, value, _ in flatten(settings)}


def change(settings: Any, changes: Mapping[str, object]) -> Any:
    """Return settings with some changed by the names of the command line and of --config.

    Names are dotted, ``{"probe.k": 3}``, or in groups, ``{"probe": {"k": 3}}``; hyphens stand for
    underscores. Raises InputError for an unknown name, with those that may be meant, for a name
    that is given twice, and for a value of another type.
    """
    known = list(as_dict(settings))
    flat: dict[str, Any] = {}
    for name, value in _spelled_out(changes, known):
        if name not in known:
            meant = _meant(name, known)
            told = f"did you mean {meant}?" if meant else f"known: {', '.join(known)}"
            raise InputError(f"setting {name!r} is unknown; {told}")
        if name in flat:
            raise InputError(f"setting {name} is given twice; leave one out")
        flat[name] = os.fspath(value) if isinstance(value, os.PathLike) else value
    try:
        return replace(settings, flat)
    except TypeError as error:
        raise InputError(str(error)) from None


def _spelled_out(
    changes: Mapping[str, object], known: Sequence[str], prefix: str = ""
) -> Iterator[tuple[str, object]]:
    """Yield (dotted name, value) of changes that may stand in groups."""
    for key, value in changes.items():
        if not isinstance(key, str):
            raise InputError(f"setting {key!r}: expected a name, such as {known[0]!r}")
        name = f"{prefix}{key.replace('-', '_')}"
        if isinstance(value, Mapping):
            yield from _spelled_out(value, known, f"{name}.")
        else:
            yield name, value


def _meant(name: str, known: Sequence[str]) -> str:
    """Return the names that an unknown one may stand for, as the end of a question; or nothing."""
    group, _, last = name.rpartition(".")
    inside = [n for n in known if group and n.startswith(f"{group}.")]
    ends = {n: n.rpartition(".")[2] for n in inside or known}
    near = get_close_matches(last, list(ends.values()), n=1)
    meant = (
        [n for n in known if n.startswith(f"{name}.") or n.rpartition(".")[2] == last]
        or [n for n, end in ends.items() if end in near]
        or inside
        or get_close_matches(name, known, n=1)
    )
    return " or ".join(filter(None, (", ".join(meant[:-1]), *meant[-1:])))


def replace(settings: Any, changes: dict[str, Value]) -> Any:
    """Return settings with dotted fields changed, e.g. ``{"probe.k": 3}``.

    Raises KeyError for a name that is no field, TypeError for a value of another type.
    """
    names = as_dict(settings)
    for name in changes:
        if name not in names:
            raise KeyError(name)
    return _replace(settings, changes, "")


def _replace(settings: Any, changes: dict[str, Value], prefix: str) -> Any:
    hints = get_type_hints(type(settings))
    new: dict[str, Any] = {}
    for field in dataclasses.fields(settings):
        name, old = f"{prefix}{field.name}", getattr(settings, field.name)
        if dataclasses.is_dataclass(old):
            new[field.name] = _replace(old, changes, f"{name}.")
        elif name in changes:
            new[field.name] = _typed(name, old, changes[name], get_args(hints[field.name]))
    return dataclasses.replace(settings, **new)


def _typed(name: str, old: Value, new: Value, kinds: Sequence[Any]) -> Value:
    """Return a new value of a field; ``kinds`` are the types of an optional one, None's too."""
    if type(None) in kinds:
        if type(new) not in kinds:
            raise TypeError(f"{name} is {new!r}; expected {kinds[0].__name__}")
        return new
    if isinstance(old, float) and isinstance(new, int) and not isinstance(new, bool):
        return float(new)
    if type(new) is not type(old):
        raise TypeError(f"{name} is {new!r}; expected {type(old).__name__}")
    return new


class Probing(NamedTuple):
    """Which draws of a short question say whether it is known: the first ``k`` of a stage.

    It is known if ``at_least`` of them are right. ``hedged`` is whether it is known where fewer are
    and at least half of the draws hedged; ``None``: neither.
    """

    stage: str = ""
    k: int = 0
    hedged: bool | None = False
    at_least: int = 1
