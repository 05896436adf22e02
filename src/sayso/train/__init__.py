"""Training: from a run's records to rows, from rows to a model, and the proof that it learned.

``fit`` does what ``sayso train`` does:
``sayso.train.fit("runs/base", config=sayso.train.TrainConfig(recipe="mix"))``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: public name -> where it lives
_PUBLIC = {"TrainConfig": "sayso.train.config:TrainConfig"}


def fit(*given: Any, **named: Any) -> Any:
    """Train the model of a run: see :func:`sayso.train.training.fit`."""
    return import_module("sayso.train.training").fit(*given, **named)


def __getattr__(name: str) -> object:
    """Load a public name on first use."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'sayso.train' has no attribute {name!r}")
    module, _, attribute = _PUBLIC[name].partition(":")
    return getattr(import_module(module), attribute)
