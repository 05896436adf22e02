"""Corrected means, functions of sums, and metrics of weighted rows.

The method and its reasons: :mod:`sayso.metrics.correction`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.arrays import Floats, codes, count_codes, divide, or_none
from sayso.metrics.correction.jackknife import (
    Corrected,
    JackknifeNumbers,
    JackknifeSample,
    LabeledRows,
    OfSums,
    Replicates,
    computed,
    jackknife_sample,
    jackknifed_numbers,
)
from sayso.metrics.correction.pairs import PairRows, PairSums, pair_sums
from sayso.metrics.intervals import BLOCK, Range, Statistic
from sayso.metrics.ranking import auroc, within_auroc
from sayso.records import InputError

__all__ = ["corrected_metric", "corrected_sums", "ppi_mean"]

#: Rows of weights that a metric gets at once at least, however many rows there are: what it does to
#: the rows before it weighs them, such as sorting, it does for every block.
LEAST_BLOCK = 16

# ---- the mean


class PpiMean(NamedTuple):
    """A mean by PPI++, its standard error, and the power that was used."""

    value: float | None
    error: float | None
    power: float | None


def ppi_mean(
    people: ArrayLike, judge: ArrayLike, rest: ArrayLike, power: float | None = None
) -> PpiMean:
    """Return the PPI++ mean of labels ``people`` (n,), with verdicts on them and on ``rest`` (N,).

    theta = mean(people - power judge) + power mean(rest) (Equation 2 of arXiv 2311.01453), with
    power = Cov(people, judge) / ((1 + n/N) Var(all verdicts)), cut to 0..1 (Example 6.1), and
    error^2 = Var(people - power judge) / n + power^2 Var(rest) / N; all with ddof 1. The influence
    function is that of the module. Rows stand alone: :func:`corrected_sums` knows clusters and
    designs. ``None`` without labels, with a single one no error; NaN anywhere gives ``None``. A
    judge that says the same of all rows has power 0.
    """
    y, f, F = (np.asarray(x, dtype=np.float64).reshape(-1) for x in (people, judge, rest))
    n, N = len(y), len(F)
    if len(f) != n:
        raise InputError(f"ppi_mean: {n} labels and {len(f)} verdicts on them; expected as many")
    if not n or np.isnan(y.sum() + f.sum() + F.sum()):
        return PpiMean(None, None, None)
    if not N:
        return PpiMean(float(y.mean()), or_none(_mean_variance(y)) if n > 1 else None, 0.0)
    if power is None:
        spread = float(np.concatenate([f, F]).var(ddof=1)) if n > 1 else 0.0
        link = float(np.cov(y, f, ddof=1)[0, 1]) if spread > 0 else 0.0
        power = min(max(link / ((1 + n / N) * spread), 0.0), 1.0) if spread > 0 else 0.0
    value = float((y - power * f).mean() + power * F.mean())
    if n < 2:
        return PpiMean(value, None, power)
    error = math.sqrt(_mean_variance(y - power * f) ** 2 + (power * _mean_variance(F)) ** 2)
    return PpiMean(value, error, power)


def _mean_variance(x: Floats) -> float:
    """Return the standard error of the mean of x (m,); 0 of a single value."""
    return float(x.std(ddof=1) / math.sqrt(len(x))) if len(x) > 1 else 0.0


# ---- numbers that are functions of sums


def corrected_sums(
    numbers: OfSums,
    judge: ArrayLike,
    people: ArrayLike,
    labeled: LabeledRows,
    limits: Mapping[str, Range | None] | None = None,
    shares: Collection[str] = (),
    composed: Mapping[str, Mapping[str, str]] = {},
) -> dict[str, Corrected]:
    """Return numbers that are functions of sums over rows, corrected for the judge.

    ``judge`` (N, K) holds what each row adds to the sums by the judge's verdict, ``people`` (n, K)
    what the labeled rows add by people's; ``numbers`` maps sums (..., K) to numbers (...) by name,
    whatever the scale of the sums, NaN where undefined. UNCLE's rates, shares, MFG and SK are such.
    ``limits`` is the range of each number (default 0..1; None: none), ``shares`` names those of
    which a label says 1, 0 or nothing, and which are the mean of these, ``composed`` the shares
    that a number is made of, with what each is a share of. The estimator and its interval are
    those of the module. A row without a verdict of the judge adds zeros; rows without
    a person's label are not labeled. Values off the range are cut. No labels: undefined.
    """
    F, Y = np.asarray(judge, dtype=np.float64), np.asarray(people, dtype=np.float64)
    sample = jackknife_sample(len(F), labeled)
    _same_rows(F, Y, sample)
    every = sample.without(F).sum(axis=1)
    size = sample.without(np.ones((len(F), 1))).sum(axis=1)
    every = every / np.where(size > 0, size, 1.0)
    scale = sample.scales()[..., None]
    weighted = sample.weight[:, None]
    own = (scale * sample.without(weighted * Y, of_labels=True)).sum(axis=1)
    judged = (scale * sample.without(weighted * F[sample.rows], of_labels=True)).sum(axis=1)

    def evaluate(power: float) -> Replicates:
        return computed(numbers, own + power * (every - judged))

    one = weighted * scale[0][sample.layer[sample.rows]]
    whole = (own + every - judged)[:1]
    swapped = np.concatenate([whole, whole - one * (Y - F[sample.rows])])
    raw = {name: float(v) for name, v in computed(numbers, every[0]).items()}
    kept = sample.without(sample.shares()[:, None] * Y, of_labels=True).sum(axis=1)
    made = JackknifeNumbers(
        evaluate,
        evaluate(0.0),
        computed(numbers, swapped),
        raw,
        weighted=computed(numbers, kept) if sample.weighs() else None,
        judged=computed(numbers, every),
        shares={k: said for k, said in computed(numbers, Y).items() if k in shares},
        composed=composed,
    )
    return jackknifed_numbers(made, sample, limits or {})


def _same_rows(judge: Floats, people: Floats, sample: JackknifeSample) -> None:
    if judge.ndim != 2 or people.shape != (len(sample.rows), judge.shape[1]):
        raise InputError(
            f"corrected sums: the judge's have shape {judge.shape}, people's {people.shape}; "
            f"expected (rows, sums) and ({len(sample.rows)} labels, sums)"
        )


# ---- numbers of weighted rows


def corrected_metric(
    name: str,
    metric: Statistic,
    judge: Sequence[ArrayLike],
    people: Sequence[ArrayLike],
    labeled: LabeledRows,
    limits: Range | None = (0.0, 1.0),
    **keywords: Any,
) -> Corrected:
    """Return a metric of weighted rows, corrected for the judge.

    ``judge`` are the metric's columns (N,) with the judge's verdicts, ``people`` the same columns
    (n,) of the labeled rows with people's. ``metric(*columns, weights=(B, N + n), **keywords)``
    must be defined for negative weights, as one made of sums or of pairs is (AUROC, cMFG); of a
    metric that counts rows (``COUNTED``) it is not. Estimator and interval: the module. Undefined
    where the metric is. The replicates of an AUROC come from sums over pairs, made once.
    """
    columns = [
        np.concatenate([np.asarray(a), np.asarray(b)]) for a, b in zip(judge, people, strict=True)
    ]
    size = len(np.asarray(judge[0]))
    sample = jackknife_sample(size, labeled)
    if any(len(column) != size + len(sample.rows) for column in columns):
        raise InputError(
            f"{name}: expected columns of {size} rows and of {len(sample.rows)} labels"
        )
    rows = _MetricRows(metric, columns, keywords, sample)
    scale = sample.scales()
    raw = np.concatenate([np.ones(size), np.zeros(len(sample.rows))])
    fixed = np.repeat(scale[:1], len(scale), axis=0)
    replicates: _MetricRows | _PairedRows = rows
    if metric in (auroc, within_auroc) and not keywords:
        replicates = _paired_rows(columns, sample)
    made = JackknifeNumbers(
        lambda power: {name: replicates.replicates(power, scale)},
        {name: replicates.replicates(0.0, scale)},
        {name: rows.swapped(_differing(columns, sample), scale)},
        {name: float(rows.value(raw[None])[0])},
        weighted={name: replicates.replicates(0.0, fixed)} if sample.weighs() else None,
        judged={name: replicates.judged()},
    )
    return jackknifed_numbers(made, sample, {name: limits})[name]


class _MetricRows(NamedTuple):
    """A metric of the judge's rows and, after these, of people's; B blocks of their weights."""

    metric: Statistic
    columns: Sequence[NDArray[Any]]
    keywords: Mapping[str, Any]
    sample: JackknifeSample

    def weights(self, first: int, last: int, power: float, scale: Floats) -> Floats:
        """Return the signed weights (b, N + n) of some replicates; ``scale`` (1+G, H)."""
        kept = self.sample.kept(first, last).astype(np.float64)
        rows = self.sample.rows
        own = scale[first:last, self.sample.layer[rows]] * self.sample.weight * kept[:, rows]
        weights = np.concatenate([power * divide(kept, kept.sum(axis=1)[:, None]), own], axis=1)
        weights[:, rows] -= power * own
        return weights

    def value(self, weights: Floats) -> Floats:
        """Return the metric (b,) of weights (b, N + n)."""
        found = self.metric(*self.columns, weights=weights, **self.keywords)
        return np.asarray(found, dtype=np.float64)

    def replicates(self, power: float, scale: Floats) -> Floats:
        """Return the metric of all rows, and without each group, (1+G,)."""
        ends = self._blocks(1 + self.sample.groups)
        return np.concatenate([self.value(self.weights(*at, power, scale)) for at in ends])

    def judged(self) -> Floats:
        """Return the metric by the judge alone, of all rows and without each group, (1+G,)."""
        parts = []
        for ends in self._blocks(1 + self.sample.groups):
            kept = self.sample.kept(*ends).astype(np.float64)
            none = np.zeros((len(kept), len(self.sample.rows)))
            parts.append(self.value(np.concatenate([kept, none], axis=1)))
        return np.concatenate(parts)

    def swapped(self, labels: NDArray[np.int64], scale: Floats) -> Floats:
        """Return the metric with power 1, then with each label given back: ``labels`` move it."""
        whole = self.weights(0, 1, 1.0, scale)
        found = np.repeat(self.value(whole), 1 + len(self.sample.rows))
        for first, last in self._blocks(len(labels)):
            back = labels[first:last]
            weights = np.repeat(whole, len(back), axis=0)
            at = np.arange(len(back))
            weights[at, self.sample.rows[back]] += whole[0, self.sample.size + back]
            weights[at, self.sample.size + back] = 0.0
            found[1 + back] = self.value(weights)
        return found

    def _blocks(self, count: int) -> Iterator[tuple[int, int]]:
        """Yield stretches of ``count`` rows of weights; what a metric sorts, it sorts for each."""
        step = max(LEAST_BLOCK, BLOCK // len(self.columns[0]))
        for at in range(0, count, step):
            yield at, min(count, at + step)


class _PairedRows(NamedTuple):
    """The replicates of an AUROC, as those of :class:`_MetricRows`, from sums over pairs."""

    sums: PairSums
    sample: JackknifeSample

    def replicates(self, power: float, scale: Floats) -> Floats:
        """Return the AUROC of all rows, and without each group, (1+G,)."""
        size = self.sample.without(np.ones((self.sample.size, 1))).sum(axis=(1, 2))
        every = power * divide(1.0, size)
        return self.sums.auroc(np.concatenate([every[:, None], scale, -power * scale], axis=1))

    def judged(self) -> Floats:
        """Return the AUROC by the judge alone, of all rows and without each group, (1+G,)."""
        factors = np.zeros((1 + self.sample.groups, self.sums.all.shape[1]))
        factors[:, 0] = 1.0
        return self.sums.auroc(factors)


def _paired_rows(columns: Sequence[NDArray[Any]], sample: JackknifeSample) -> _PairedRows:
    """Return rows of ``columns`` (score, wrong, and perhaps type): the judge's, then people's."""
    size, rows = sample.size, sample.rows
    # the judge on all rows, people on labels, the judge on labels
    place = np.concatenate([np.arange(size + len(rows)), rows])
    score, wrong = (np.asarray(c, dtype=np.float64)[place] for c in columns[:2])
    kind = codes(columns[2])[place] if len(columns) > 2 else np.zeros(len(place), np.int64)
    layer, strata = sample.layer[rows], count_codes(sample.layer)
    part = np.concatenate([np.zeros(size, np.int64), 1 + layer, 1 + strata + layer])
    weight = np.concatenate([np.ones(size), sample.weight, sample.weight])
    group = np.concatenate([sample.group, sample.group[rows], sample.group[rows]])
    made = PairRows(score, wrong, kind, weight, part, group)
    return _PairedRows(pair_sums(made, sample.groups, 1 + 2 * strata), sample)


def _differing(columns: Sequence[NDArray[Any]], sample: JackknifeSample) -> NDArray[np.int64]:
    """Return the labels (m,) that differ from the judge's verdict in some column."""
    size = sample.size
    differ = np.zeros(len(sample.rows), dtype=bool)
    for column in columns:
        differ |= column[sample.rows] != column[size:]
    return np.flatnonzero(differ)
