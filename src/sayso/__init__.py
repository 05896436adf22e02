"""sayso: does a language model know what it knows, and does it say so?

``sayso.run``, ``sayso.measure`` and ``sayso.compare`` are what the command line calls,
``sayso.report.write`` writes a run's page; ``sayso.metrics`` holds every formula,
``sayso.judge_rules`` the offline judge. A mistake that a user can mend is a ``sayso.InputError``.
docs/python.md shows all of it, and an engine of your own. Names load on use, so that ``import
sayso`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from sayso.version import __version__

if TYPE_CHECKING:
    from sayso import answers as answers
    from sayso import metrics as metrics
    from sayso import records as records
    from sayso import report as report
    from sayso import scores as scores
    from sayso.assertions.check import check_assertions as check_assertions
    from sayso.checks.judge import judge_check as judge_check
    from sayso.checks.model import check as check
    from sayso.engines import open_model as open_model
    from sayso.guard.guard import Guard as Guard
    from sayso.judges.claims import claims as claims
    from sayso.judges.contradiction import contradicts as contradicts
    from sayso.judges.decisiveness import decisiveness as decisiveness
    from sayso.judges.rules.judge import judge_rules as judge_rules
    from sayso.judges.rules.judge import judge_rules_long as judge_rules_long
    from sayso.people.agreement import agreement as agreement
    from sayso.people.corrected import correct as correct
    from sayso.records import InputError as InputError
    from sayso.runs.compare import compare as compare
    from sayso.runs.export import export as export
    from sayso.runs.measure import measure as measure
    from sayso.runs.recorded import open_answers as open_answers
    from sayso.runs.run import factuality as factuality
    from sayso.runs.run import run as run
    from sayso.score_files.leaderboard import leaderboard as leaderboard
    from sayso.score_files.score import score as score
    from sayso.studies import study as study

#: public name -> where it lives ("module:attribute", or a module)
_PUBLIC = {
    "run": "sayso.runs.run:run",
    "measure": "sayso.runs.measure:measure",
    "compare": "sayso.runs.compare:compare",
    "check": "sayso.checks.model:check",
    "check_assertions": "sayso.assertions.check:check_assertions",
    "agreement": "sayso.people.agreement:agreement",
    "correct": "sayso.people.corrected:correct",
    "export": "sayso.runs.export:export",
    "factuality": "sayso.runs.run:factuality",
    "judge_check": "sayso.checks.judge:judge_check",
    "judge_rules": "sayso.judges.rules.judge:judge_rules",
    "judge_rules_long": "sayso.judges.rules.judge:judge_rules_long",
    "decisiveness": "sayso.judges.decisiveness:decisiveness",
    "claims": "sayso.judges.claims:claims",
    "contradicts": "sayso.judges.contradiction:contradicts",
    "open_answers": "sayso.runs.recorded:open_answers",
    "open_model": "sayso.engines:open_model",
    "score": "sayso.score_files.score:score",
    "study": "sayso.studies:study",
    "Guard": "sayso.guard.guard:Guard",
    "leaderboard": "sayso.score_files.leaderboard:leaderboard",
    "InputError": "sayso.records:InputError",
    "answers": "sayso.answers",
    "scores": "sayso.scores",
    "metrics": "sayso.metrics",
    "records": "sayso.records",
    "report": "sayso.report",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> object:
    """Load a public name on first use."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'sayso' has no attribute {name!r}")
    module, _, attribute = _PUBLIC[name].partition(":")
    loaded = import_module(module)
    return getattr(loaded, attribute) if attribute else loaded


def __dir__() -> list[str]:
    return __all__
