"""Training: from a run's records to rows, from rows to a model, and the proof that it learned.

``fit`` does what ``sayso train`` does:
``sayso.train.fit("runs/base", config=sayso.train.TrainConfig(recipe="mix"))``.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

#: public name -> where it lives
_PUBLIC = {"TrainConfig": "sayso.train.config:TrainConfig"}
#: keywords of ``fit`` by the names that they had; these and ``Lesson`` go in the next release
_OLD = {"lesson": "config", "style": "export"}


def fit(*given: Any, **named: Any) -> Any:
    """Train the model of a run: see :func:`sayso.train.training.fit`."""
    current = {_OLD.get(name, name): value for name, value in named.items()}
    return import_module("sayso.train.training").fit(*given, **current)


def Lesson(  # noqa: N802 - its name until 0.2
    *,
    making: Mapping[str, Any] | None = None,
    training: Mapping[str, Any] | None = None,
    **flags: Any,
) -> Any:
    """Return the ``TrainConfig`` of arguments by their old names; goes in the next release."""
    extra = {f"rows.{name}": value for name, value in (making or {}).items()}
    extra |= {f"training.{name}": value for name, value in (training or {}).items()}
    config = import_module("sayso.train.config")
    return config.TrainConfig(**flags, extra={k: v for k, v in extra.items() if v is not None})


def __getattr__(name: str) -> object:
    """Load a public name on first use."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'sayso.train' has no attribute {name!r}")
    module, _, attribute = _PUBLIC[name].partition(":")
    return getattr(import_module(module), attribute)
