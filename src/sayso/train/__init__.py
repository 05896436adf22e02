"""Training: from a run's records to rows, from rows to a model, and the proof that it learned.

``fit`` does what ``sayso train`` does:
``sayso.train.fit("runs/base", lesson=sayso.train.Lesson(recipe="mix"))``.
"""

from __future__ import annotations

from importlib import import_module

#: public name -> where it lives
_PUBLIC = {"fit": "sayso.train.training:teach", "Lesson": "sayso.train.config:Lesson"}


def __getattr__(name: str) -> object:
    """Load a public name on first use."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'sayso.train' has no attribute {name!r}")
    module, _, attribute = _PUBLIC[name].partition(":")
    return getattr(import_module(module), attribute)
