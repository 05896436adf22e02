"""sayso in Inspect (https://inspect.aisi.org.uk): scorers, metrics, tasks, models and logs.

The extra ``sayso[inspect]`` installs ``inspect-ai``, which finds this package by its entry point
and calls what is in it ``sayso/…``:

    inspect eval sayso/selective --model openai/gpt-5.4-mini
    inspect score LOG --scorer sayso/stance
    sayso export RUN answers.eval

docs/inspect.md shows all of it. Nothing else in sayso loads this package.
"""

from __future__ import annotations

from importlib.util import find_spec

from sayso.records import InputError

if find_spec("inspect_ai") is None:
    raise InputError(
        'Inspect is not installed, which sayso.inspect_ai_tools needs: pip install "sayso[inspect]"'
    )

from sayso.inspect_ai_tools.logs import ExportedLog, export_log
from sayso.inspect_ai_tools.metrics import (
    abstention_rate,
    answerability_j,
    answered_accuracy,
    right_minus_wrong,
    uncle_rates,
)
from sayso.inspect_ai_tools.models import SaysoAPI
from sayso.inspect_ai_tools.scorers import answered, stance
from sayso.inspect_ai_tools.tasks import plain_draws, selective, uncle

__all__ = [
    "ExportedLog",
    "SaysoAPI",
    "abstention_rate",
    "answerability_j",
    "answered",
    "answered_accuracy",
    "export_log",
    "plain_draws",
    "right_minus_wrong",
    "selective",
    "stance",
    "uncle",
    "uncle_rates",
]
