"""Metrics: numpy in, numbers out. No I/O, no models; every generator is seeded by the caller.

A rate is 0..1 and undefined is ``None``. Every metric that ``bootstrap`` resamples takes
``weights=None``: (n,), or (B, n) and then returns (B,) with NaN where undefined. What a module
offers here stands in its ``__all__``.
"""

# ruff: noqa: F403

from __future__ import annotations

from sayso.metrics.abstention import *
from sayso.metrics.agreement import *
from sayso.metrics.alarms import *
from sayso.metrics.calibration import *
from sayso.metrics.cmfg import *
from sayso.metrics.compare_scores import *
from sayso.metrics.correction import *
from sayso.metrics.factuality import *
from sayso.metrics.guarantee import *
from sayso.metrics.intervals import *
from sayso.metrics.length_audit import *
from sayso.metrics.ranking import *
from sayso.metrics.uncle_known import *
from sayso.metrics.uncle_rates import *
from sayso.metrics.within_type import *

#: The range of a metric for ``bootstrap(limits=...)`` where it is not 0..1 (None: symmetric).
LIMITS: dict[str, tuple[float, float] | None] = {
    "prr": (float("-inf"), 1.0),
    "ece_debiased": None,
    "skill": None,
    "kendall": None,
}

#: Metrics whose value depends on how many rows there are, so that weights are counts of rows:
#: doubling every weight is not the same as doubling none.
COUNTED = ("aurac", "aurc", "prr", "ece_debiased", "krippendorff_alpha")
