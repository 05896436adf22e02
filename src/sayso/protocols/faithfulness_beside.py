"""What stands beside the scores of a faithfulness run: policies, bins, calibration."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import numpy as np

from sayso.metrics.calibration import brier
from sayso.metrics.faithful import with_punts
from sayso.metrics.faithful_bins import cmfg, cmfg_bins, cmfg_parts, cmfg_references, skill
from sayso.metrics.faithful_more import (
    cmfg_corrected,
    cmfg_star,
    cmfg_star_error,
    kendall,
    linguistic_calibration,
    noise_floor,
)
from sayso.metrics.intervals import bootstrap
from sayso.protocols.faithfulness_rows import Floats, Rows
from sayso.protocols.faithfulness_settings import Settings
from sayso.records import Estimate

NOTHING = "no answer has both decisiveness and confidence"


def weighted(metric: Callable[..., Any], **keywords: Any) -> Callable[..., Any]:
    """Return a metric in which the assertions of an answer share its weight (last array)."""

    def made(*arrays: Floats, weights: Floats | None = None) -> Any:
        *rest, own = arrays
        return metric(*rest, weights=own if weights is None else weights * own, **keywords)

    return made


def options(settings: Settings) -> dict[str, Any]:
    """Return the keywords of cMFG that settings choose."""
    return {
        "bins": settings.bins,
        "closed": settings.closed,
        "levels": settings.levels,
    }


def references(used: Rows, settings: Settings) -> Iterator[Estimate]:
    """Yield what stands beside cMFG: blind policies and the oracle on the same bins, and more."""
    kept = options(settings)
    n = len(used.d)
    given = used.d, used.j, used.k
    for name, value in cmfg_references(*given, empty=settings.empty, **kept).items():
        yield Estimate(f"cmfg_{name}", value=value, n=n, problem=None if n else NOTHING)
    for name, value in cmfg_parts(*given, **kept).items():
        yield Estimate(name, value=value, n=n)
    yield Estimate("cmfg_corrected", value=cmfg_corrected(*given, **kept), n=n)
    every = {"levels": True}
    yield Estimate("cmfg_levels", value=plain(cmfg(*given, **every)), n=n)  # type: ignore[arg-type]
    left = cmfg(*given, bins=settings.bins, closed="left")
    yield Estimate("cmfg_left", value=plain(left), n=n)
    faithful = 1 - np.abs(used.d - used.c)
    star = plain(cmfg_star(faithful, used.c, settings.bins))
    error = cmfg_star_error(faithful, used.c, settings.bins)
    spread = 1.96 * error if star is not None and error is not None else None
    yield Estimate(
        "cmfg_star",
        value=star,
        low=None if spread is None or star is None else star - spread,
        high=None if spread is None or star is None else star + spread,
        n=n,
    )
    tau = plain(kendall(used.d, used.c)) if n <= 3000 else None
    yield Estimate(
        "kendall", value=tau, n=n, problem="not computed above 3,000 rows" if n > 3000 else None
    )
    yield Estimate("noise_floor", value=noise_floor(used.j, used.k) if n else None, n=n)


def punts_as_zero(rows: Rows, settings: Settings) -> Iterator[Estimate]:
    """Yield skill and cMFG with a punt counted as decisiveness 0 against what was withheld."""
    d = with_punts(rows.d, rows.punted, "dec0")
    use = ~np.isnan(d) & ~np.isnan(rows.c)
    kept = options(settings) | {"empty": settings.empty}
    own = rows.weight[use]
    for name, metric in (("skill_dec0", skill), ("cmfg_dec0", cmfg)):
        value = metric(d[use], rows.j[use], rows.k[use], weights=own, **kept) if use.any() else None
        yield Estimate(name, value=plain(value), n=int(use.sum()))


def calibration(rows: Rows, settings: Settings) -> Iterator[Estimate]:
    """Yield decisiveness read as the probability of being right, claim by claim."""
    use = ~np.isnan(rows.d) & ~np.isnan(rows.right)
    d, right = rows.d[use], rows.right[use]
    found = linguistic_calibration(d, right)
    for name in ("reliability", "resolution", "uncertainty", "ece", "auroc"):
        yield Estimate(f"words_{name}", value=getattr(found, name), n=found.n)
    if not use.any():
        yield Estimate("words_brier", problem="no claim has both a score and a verdict")
        return
    made = bootstrap(
        brier, d, right, clusters=rows.entity[use], n=settings.resamples, seed=settings.ci_seed,
        name="words_brier",
    )  # fmt: skip
    yield msgspec.structs.replace(made, where="all")


def bins(used: Rows, settings: Settings) -> Iterator[Estimate]:
    """Yield what each bin of confidence holds: faithfulness, decisiveness, count."""
    for found in cmfg_bins(used.d, used.j, used.k, **options(settings)):
        place = f"bin:{found.low:.3g}-{found.high:.3g}"
        why = None if found.n else "empty"
        yield Estimate("bin_faithfulness", place, found.faithfulness, n=found.n, problem=why)
        yield Estimate("bin_decisiveness", place, found.decisiveness, n=found.n, problem=why)
        yield Estimate("bin_confidence", place, found.confidence, n=found.n, problem=why)


def plain(value: Any) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)
