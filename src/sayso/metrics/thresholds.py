"""From a continuous answer metric to right and wrong: which threshold, and what it does.

A threshold is a choice that moves every number after it. The sweep shows, at each, how far the
metric agrees with people and by how much it inflates the AUROC of a score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from sayso.metrics.agreement import kappa
from sayso.metrics.rates import Floats, divide, or_none
from sayso.metrics.roc import auroc
from sayso.records import InputError


class Threshold(msgspec.Struct, frozen=True):
    """An answer is correct when its value is above ``cut`` (``strict``) or at least ``cut``."""

    cut: float
    strict: bool = True

    def correct(self, values: ArrayLike) -> Floats:
        """Return 1 / 0 for values (n,); NaN stays NaN: a missing value is not wrong."""
        x = np.asarray(values, dtype=np.float64)
        passed = x > self.cut if self.strict else x >= self.cut
        return np.where(np.isnan(x), np.nan, passed.astype(np.float64))


#: Where a sweep looks by default.
SWEEP = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)

#: The thresholds of the papers (PROTOCOLS 3.B); values are fractions.
THRESHOLDS: dict[str, Threshold] = {
    "rouge_l": Threshold(0.5, strict=True),
    "squad_f1": Threshold(0.5, strict=False),
    "bert_score": Threshold(0.5, strict=True),
    "exact_match": Threshold(0.5),
    "squad_em": Threshold(0.5),
    "contains": Threshold(0.5),
}


class SweepRow(msgspec.Struct, frozen=True):
    """What one threshold does, on the rows where people gave a verdict.

    ``accepted`` share called correct; ``agreement`` with people and ``kappa``;
    ``false_negatives`` share of people's correct answers that are refused, ``false_positives``
    share of their incorrect ones that are accepted; for each score its ``auroc`` against the
    thresholded metric and its ``inflation`` = that less its AUROC against people.
    ``None`` = undefined.
    """

    threshold: float
    accepted: float | None
    agreement: float | None
    kappa: float | None
    false_negatives: float | None
    false_positives: float | None
    auroc: dict[str, float | None]
    inflation: dict[str, float | None]
    n: int


def threshold_sweep(
    values: ArrayLike,
    people: ArrayLike,
    scores: Mapping[str, ArrayLike] | None = None,
    thresholds: Sequence[float] = SWEEP,
    strict: bool = True,
) -> list[SweepRow]:
    """Return one row for each threshold of an answer metric.

    ``values`` (n,) of the metric, ``people`` (n,) 1 = correct by people, 0 = not, NaN = no
    verdict (left out); ``scores`` name -> (n,) uncertainty.
    """
    x, y = np.asarray(values, dtype=np.float64), np.asarray(people, dtype=np.float64)
    if x.shape != y.shape:
        raise InputError(f"{len(x)} values and {len(y)} verdicts of people: give one for each")
    use = ~(np.isnan(x) | np.isnan(y))
    columns = {k: np.asarray(v, dtype=np.float64)[use] for k, v in (scores or {}).items()}
    x, right = x[use], y[use] > 0
    real = {k: auroc(v, ~right) for k, v in columns.items()}
    rows = []
    for cut in thresholds:
        passed = Threshold(cut, strict).correct(x) > 0
        found = {k: auroc(v, ~passed) for k, v in columns.items()}
        same = kappa(passed, right) if len(x) else None
        rows.append(
            SweepRow(
                threshold=float(cut),
                accepted=or_none(divide(passed.sum(), len(x))),
                agreement=or_none(divide((passed == right).sum(), len(x))),
                kappa=None if same is None else float(np.asarray(same)),
                false_negatives=or_none(divide((~passed & right).sum(), right.sum())),
                false_positives=or_none(divide((passed & ~right).sum(), (~right).sum())),
                auroc=found,
                inflation={k: _less(found[k], real[k]) for k in columns},
                n=len(x),
            )
        )
    return rows


def _less(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first - second
