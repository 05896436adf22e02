"""Repeat the numbers of a study by independent code, from its tables, and compare them.

Formulas are those of the papers and of the pages in docs/; sayso computes nothing here, it only
runs the study and says at the end what it stored: values, ends of intervals, numerators and
denominators, a study's means and ranks, and cells of its tables and of papers' layouts. Resamples
are drawn again as the documentation has them, so intervals agree to the last digits. Every number
that is repeated is compared with the one of the same name and slice; the script ends with 1 if any
differs by more than 1e-6, is undefined on one side only, or is not stored, and if fewer than 95 of
100 stored numbers are repeated. NOT_REPEATED says which are not, and why.

    python benchmarks/metrics/recompute.py                  # a study of the built-in model
    python benchmarks/metrics/recompute.py --part uncle     # one protocol of it, and its tables
    python benchmarks/metrics/recompute.py --study FOLDER   # this study, or any folder of runs
"""

import argparse
import itertools
import json
import math
import os
import re
import string
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import optimize, special
from scipy.stats import rankdata

TOLERANCE = 1e-6
#: the share of stored numbers that must be repeated
LEAST = 0.95
STUDY = """\
out: {out}
limit: 12
models:
  - builtin
  - {{model: builtin, name: in bfloat16, dtype: bfloat16}}
data:
  - {{data: builtin, name: seed 0, seed: 0}}
  - {{data: builtin, name: seed 7, seed: 7}}
protocols:
{protocols}
"""
#: the protocols of the study, with few resamples: those that sayso draws are drawn again here
SETTINGS = {
    "uncle": '{methods: "unc_few,pair_few,self_refine", resamples: 200}',
    "faithfulness": "{resamples: 200}",
    "selective": "{resamples: 200}",
    "self_known": "{resamples: 200}",
}
#: what is not repeated, and why; it counts against the share
NOT_REPEATED = {
    "guess_rate; rates by known:corrected": "the judge compares draws with other entities' golds",
    "ambiguous": "the judge decides which golds contradict each other",
    "skill of a method that was not asked, AUROC of a score that has no value": "a place without a "
    "number, which only says why",
    "P(IK) learned on other data": "a matter of sayso's own solver and its folds",
}
Value = float | None
Key = tuple[str, tuple[tuple[str, str], ...]]
Array = np.ndarray[Any, Any]
FORMS = ("short", "long")
FIELDS = ("low", "high", "numerator", "denominator")
ALL = ("value", *FIELDS)


# ---- runs, and the numbers of a run


class Range(NamedTuple):
    """A number with its interval, and its counts; what is ``...`` is not repeated."""

    value: Value
    low: Any = ...
    high: Any = ...
    numerator: Any = ...
    denominator: Any = ...


class Numbers(dict[Key, Value]):
    """Numbers by name and slice: values, and under ``NAME low`` and so on the rest of each.

    ``measured`` are those that a study compares, as functions of how often clusters are drawn.
    """

    def __init__(self) -> None:
        super().__init__()
        self.measured: dict[Key, Measured] = {}

    def whole(self, number: Key) -> "Range | None":
        """Return a number with what is repeated of it."""
        if number not in self:
            return None
        name, where = number
        return Range(self[number], *(self.get((f"{name} {field}", where), ...) for field in FIELDS))

    def study(self, name: str, measured: "Measured", **where: str) -> None:
        """Take down a number that a study compares."""
        self.measured[key(name, {part: text for part, text in where.items() if text})] = measured

    def at(self, **where: str) -> Callable[..., None]:
        """Return a function that writes down numbers of one slice; an empty part of it is none."""
        parts = {part: text for part, text in where.items() if text}

        def write(**values: Value | Range) -> None:
            for name, value in values.items():
                whole = value if isinstance(value, Range) else Range(value)
                self[key(name, parts)] = whole.value
                for field, number in zip(FIELDS, whole[1:], strict=True):
                    if number is not ...:
                        self[key(f"{name} {field}", parts)] = number

        return write

    def counted(self) -> set[Key]:
        """Return what there is of a run's numbers: every value, and the fields that it has."""
        return {
            number
            for number, value in self.items()
            if value is not None or number[0].rpartition(" ")[2] not in FIELDS
        }


class Run:
    """A run folder: its settings and its tables."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings = json.loads((folder / "manifest.json").read_text())["settings"]
        self.questions = self.table("questions").set_index("id", drop=False)

    def table(self, name: str) -> pd.DataFrame:
        """Return a table; several stages of one kind are joined by ``+``."""
        kind, _, stages = name.rpartition("/")
        paths = [self.folder / kind / f"{stage}.parquet" for stage in stages.split("+")]
        tables = [pd.read_parquet(path) for path in paths if path.exists()]
        return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()

    def stored(self, protocol: str) -> Numbers:
        """Return the numbers that the run stored."""
        numbers = Numbers()
        for row in self.table(f"metrics/{protocol}").to_dict("records"):
            fields = [None if math.isnan(row[field]) else float(row[field]) for field in ALL]
            numbers.at(**dict(row["where"]))(**{row["name"]: Range(*fields)})
        return numbers

    def judged(self, stages: str) -> pd.DataFrame:
        """Return the verdicts that were read, with UNCLE's label, beside method and text."""
        answers = self.table(f"generations/{stages}")
        answers["sample"] = [request["sample"] for request in answers.request]
        answers = answers[["id", "method", "text", "sample"]]
        rows = self.table(f"verdicts/{stages}").merge(answers, left_on="target", right_on="id")
        rows["label"] = [label(*pair) for pair in zip(rows.stance, rows.content, strict=True)]
        columns = ["target", "asked", "stance", "content", "label", "method", "text", "sample"]
        return rows.loc[rows.problem.isna(), columns]

    def weights(self, clusters: int) -> Array:
        """Return how often each cluster stands in each resample, as the settings draw them."""
        return resamples(clusters, self.settings["resamples"], self.settings["ci_seed"])

    def clusters(self) -> pd.Series:
        """Return the cluster of each question by its id: all that share an entity or a pair."""
        own = self.questions
        named = pd.DataFrame(
            {
                "name": [
                    ("pair", q.pair) if q.pair else (q.domain, q.entity) if q.entity else ("", q.id)
                    for q in own[["id", "domain", "entity", "pair"]].itertuples()
                ],
                "entity": [q.entity or ("no entity", q.id) for q in own.itertuples()],
                "pair": [q.pair or ("no pair", q.id) for q in own.itertuples()],
            },
            index=own.id,
        )
        while True:
            before = named.name.copy()
            for tie in ("entity", "pair"):
                named["name"] = named.groupby(tie, sort=False).name.transform("min")
            if before.equals(named.name):
                return named.name

    def types(self, asked: Iterable[str]) -> pd.DataFrame:
        """Return domain and type of fact of each question."""
        questions = self.questions.reindex(asked)
        kinds = [aspect["property_id"] for aspect in questions.aspect]
        return questions[["domain"]].assign(type=questions.domain + "/" + kinds)


def key(name: str, where: dict[str, str]) -> Key:
    """Return name and slice of a number, whatever the order of the slice's parts."""
    return name, tuple(sorted(where.items()))


def label(stance: str, content: str) -> str:
    """Return UNCLE's label of a verdict: S, NS, UNC, or OMIT."""
    if stance == "omitted":
        return "OMIT"
    if stance == "committed":
        return "S" if content == "correct" else "NS"
    return "UNC"


# ---- what several protocols need


def share(part: float, whole: float) -> Value:
    """Return part / whole; None of nothing."""
    return float(part) / float(whole) if whole else None


def mean(values: Iterable[float]) -> Value:
    """Return the mean, of truths their share; None of nothing."""
    listed = [float(value) for value in values]
    return share(math.fsum(listed), len(listed))


def less(a: Value, b: Value) -> Value:
    """Return a - b, None where either is."""
    return None if a is None or b is None else a - b


def alike(draws: pd.DataFrame) -> Range:
    """Return the share of prompts drawn several times of which all draws are one text."""
    asked = [str(request["messages"]) for request in draws.request]
    groups = draws.assign(asked=asked).groupby(["question", "asked"])
    several = groups.text.size() > 1
    same = float((groups.text.nunique()[several] == 1).sum())
    whole = float(several.sum())
    return Range(share(same, whole), None, None, same, whole)


def ranks(values: Any) -> Array:
    """Return mid-ranks; what differs in the last digits of floats is a tie."""
    return pd.Series(values, dtype=float).round(12).rank(method="average").to_numpy()


def pearson(a: Any, b: Any) -> Value:
    """Return Pearson's correlation; None of fewer than three, or where one side does not vary."""
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if len(x) < 3 or np.ptp(x) < 1e-12 or np.ptp(y) < 1e-12:
        return None
    x, y = x - x.mean(), y - y.mean()
    return float((x @ y) / math.sqrt((x @ x) * (y @ y)))


def spearman(a: Any, b: Any) -> Value:
    """Return Spearman's correlation, ties at mid-ranks."""
    return pearson(ranks(a), ranks(b)) if len(a) else None


def auroc(score: Array, wrong: Any, group: Any = None) -> Value:
    """Return the share of pairs, wrong and right, where the wrong one scores higher; ties half."""
    bad = np.asarray(wrong, dtype=bool)
    high, low = score[bad][:, None], score[~bad][None, :]
    won = (high > low) + 0.5 * (high == low)
    if group is not None:
        kind = np.asarray(group)
        won = won[kind[bad][:, None] == kind[~bad][None, :]]
    return share(float(won.sum()), won.size)


def kappa(x: Array, y: Array) -> Value:
    """Return Cohen's kappa of two yes-or-no readings; None where they cannot but agree."""
    chance = x.mean() * y.mean() + (1 - x.mean()) * (1 - y.mean()) if len(x) else 1.0
    return None if chance == 1 else float(((x == y).mean() - chance) / (1 - chance))


# ---- intervals, as the documentation of the bootstrap has them

NONE: tuple[Value, Value] = (None, None)
Ends = tuple[Value, Value]


@lru_cache(maxsize=8)
def resamples(clusters: int, n: int, seed: int) -> Array:
    """Return (n, clusters) counts: as many clusters are drawn as there are, each equally likely."""
    drawn = (np.random.default_rng(seed).random((n, clusters)) * clusters).astype(int)
    return np.stack([np.bincount(row, minlength=clusters) for row in drawn]).astype(float)


def over(top: Any, bottom: Any) -> Array:
    """Return top / bottom, NaN where the bottom is 0."""
    a, b = np.broadcast_arrays(np.asarray(top, float), np.asarray(bottom, float))
    return np.divide(a, b, out=np.full(a.shape, np.nan), where=b != 0)


def spread(replicates: Array, clusters: int) -> Value:
    """Return the standard error: of C resampled clusters, sqrt(C / (C - 1)) of what they show."""
    values = replicates[~np.isnan(replicates)]
    if len(values) < 2 or clusters < 2:
        return None
    return float(values.std(ddof=1)) * math.sqrt(clusters / (clusters - 1))


def student(freedom: float) -> float:
    """Return the 97.5 % quantile of Student's t."""
    return float(special.stdtrit(freedom, 0.975))


def on_scale(
    value: float, error: float, freedom: float, limits: tuple[float, float] | None
) -> Ends:
    """Return value -+ t error on the logit or log scale of its range, or as it is without one."""
    width = student(freedom) * error
    if limits is None:
        return value - width, value + width
    low, high = limits
    if not low < value < high:
        return NONE
    if math.isinf(high):
        return low + (value - low) * math.exp(-width / (value - low)), low + (
            value - low
        ) * math.exp(width / (value - low))
    if math.isinf(low):
        room = high - value
        return high - room * math.exp(width / room), high - room * math.exp(-width / room)
    x = (value - low) / (high - low)
    step = width / (high - low) / (x * (1 - x))  # the delta method
    ends = special.expit(special.logit(x) + np.array([-step, step]))
    return low + (high - low) * float(ends[0]), low + (high - low) * float(ends[1])


def resampled(
    value: Value,
    replicates: Array,
    clusters: int,
    limits: tuple[float, float] | None = (0.0, 1.0),
    freedom: float | None = None,
    least: float = 0.0,
) -> Ends:
    """Return the interval of any number from its resamples; none where they do not move it."""
    error = spread(replicates, clusters)
    if value is None or error is None or max(error, least) <= 1e-12:
        return NONE
    degrees = clusters - 1.0 if freedom is None else min(clusters - 1.0, freedom)
    return on_scale(value, max(error, least), degrees, limits)


def with_one_more(
    value: Value,
    replicates: Array,
    clusters: int,
    limits: tuple[float, float],
    seen: float,
    more: tuple[float, float],
) -> Ends:
    """Return the interval of a ranking: that of its resamples, and with one more answer at random.

    ``more`` are the mean and the variance of where that answer would stand, ``seen`` how many
    independent ones there are.
    """
    error = spread(replicates, clusters)
    if value is None or error is None or error <= 1e-12:
        return NONE
    degrees, (mean, variance) = min(clusters - 1.0, seen), more
    low, high = on_scale(value, error, degrees, limits)
    moved = (seen * value + mean) / (seen + 1)
    wider = math.sqrt((seen * error) ** 2 + variance + (value - mean) ** 2) / (seen + 1)
    least, most = on_scale(moved, wider, degrees, limits)
    if low is None or high is None or least is None or most is None:
        return low, high
    return min(low, least), max(high, most)


def worth(sizes: Array) -> float:
    """Return how many equal clusters those of these sizes are worth (Kish 1965)."""
    return float(sizes.sum() ** 2 / (sizes**2).sum()) if sizes.any() else 0.0


def exact(successes: float, trials: float) -> Ends:
    """Return the interval of Clopper and Pearson."""
    if trials <= 0:
        return NONE
    low = special.betaincinv(successes, trials - successes + 1, 0.025) if successes > 0 else 0.0
    high = 1.0
    if successes < trials:
        high = special.betaincinv(successes + 1, trials - successes, 0.975)
    return float(low), float(high)


def few(successes: float, trials: float) -> bool:
    """Return whether a share is of so few that its interval is the exact one."""
    return trials < 10 or min(successes, trials - successes) < 5


def of_share(successes: float, trials: float, error: Value, sizes: Array) -> Ends:
    """Return the interval of a share of rows in clusters, ``sizes`` of its rows in each."""
    if not trials:
        return NONE
    p, clusters, moved = successes / trials, len(sizes), error is not None and error > 1e-12
    if not few(successes, trials):
        return on_scale(p, error or 0.0, clusters - 1, (0.0, 1.0)) if moved else NONE
    size = min(trials, worth(sizes))
    if error is not None and moved and 0 < p < 1 and trials > 1 and clusters > 1:
        shrunk = p * (1 - p) / error**2 * (student(trials - 1) / student(clusters - 1)) ** 2
        size = min(trials, shrunk)
    return exact(p * size, size)


def by_unit(values: Any, unit: Array, count: int) -> Array:
    """Return the sum of values in each cluster."""
    return np.bincount(unit, np.asarray(values, float), minlength=count)


def units(clusters: Any) -> tuple[Array, int]:
    """Return the number of each row's cluster, in sorted order, and how many there are."""
    names, unit = np.unique(np.asarray(clusters), return_inverse=True)
    return unit, len(names)


def shared(run: Run, hit: Any, of: Any, clusters: Any) -> Range:
    """Return the share of rows ``of`` that hit, its interval over all clusters, and its counts."""
    unit, count = units(clusters)
    held = np.asarray(of, bool)
    top = by_unit(np.where(held, np.asarray(hit, float), 0.0), unit, count)
    bottom = by_unit(held, unit, count)
    whole = float(top.sum()), float(bottom.sum())
    if not whole[1]:
        return Range(None, None, None, 0.0, 0.0)
    weights = run.weights(count)
    ends = of_share(*whole, spread(over(weights @ top, weights @ bottom), count), bottom)
    if np.count_nonzero(bottom) < 2:
        ends = NONE
    return Range(whole[0] / whole[1], *ends, *whole)


def ratio(
    run: Run, top: Any, bottom: Any, clusters: Any, limits: tuple[float, float] | None = (0.0, 1.0)
) -> Range:
    """Return the ratio of two sums with its interval; of a share the few that decide count."""
    a, b = np.asarray(top, float), np.asarray(bottom, float)
    if b.sum() <= 0:
        return Range(None, None, None, 0.0, 0.0)
    unit, count = units(clusters)
    above, below, weights = by_unit(a, unit, count), by_unit(b, unit, count), run.weights(count)
    value = float(a.sum() / b.sum())
    freedom = deciding(a, b, unit) if limits == (0.0, 1.0) else None
    ends = resampled(value, over(weights @ above, weights @ below), count, limits, freedom)
    return Range(value, *ends, float(a.sum()), float(b.sum()))


def averaged(
    run: Run, values: Any, clusters: Any, limits: tuple[float, float] | None = (0.0, 1.0)
) -> Range:
    """Return the mean of values with its interval."""
    return ratio(run, values, np.ones(len(values)), clusters, limits)


def deciding(top: Array, bottom: Array, unit: Array) -> float:
    """Return the degrees of freedom of a ratio, by the side of it that fewer clusters hold."""
    sides = (np.bincount(unit, np.maximum(side, 0)) for side in (top, bottom - top))
    return max(3.0, min(worth(side) for side in sides) - 1)


def linked(one: Array, two: Array) -> float:
    """Return the correlation of two numbers over resamples; 0 where one of them does not vary."""
    both = ~(np.isnan(one) | np.isnan(two))
    if both.sum() < 2 or one[both].std() == 0 or two[both].std() == 0:
        return 0.0
    return float(np.corrcoef(one[both], two[both])[0, 1])


def mover(
    parts: tuple[float, float], ends: tuple[Ends, Ends], r: float, limits: tuple[float, float]
) -> Ends:
    """Return the interval of a difference from those of its two sides (Zou and Donner 2008)."""
    (low1, high1), (low2, high2) = ends
    if low1 is None or high1 is None or low2 is None or high2 is None:
        return NONE
    d, r = parts[0] - parts[1], min(max(r, -1.0), 1.0)
    a, b, c, e = parts[0] - low1, high2 - parts[1], high1 - parts[0], parts[1] - low2
    low = d - math.sqrt(max(0.0, a * a - 2 * r * a * b + b * b))
    high = d + math.sqrt(max(0.0, c * c - 2 * r * c * e + e * e))
    if (high - low) ** 2 <= 1e-12 and limits[0] < d < limits[1]:
        return NONE
    return max(low, limits[0]), min(high, limits[1])


def pairs(wrong: Any, clusters: Any, group: Any = None) -> tuple[Array, Array]:
    """Return which wrong and right rows are of one group, (wrong, right), and which are wrong."""
    bad = np.asarray(wrong, bool)
    kind = np.zeros(len(bad)) if group is None else units(group)[0]
    return (kind[bad][:, None] == kind[~bad][None, :]).astype(float), bad


def between(table: Array, bad: Array, unit: Array, count: int) -> Array:
    """Return a table of wrong against right rows summed to clusters, (C, C)."""
    rows, columns = np.eye(count)[unit[bad]], np.eye(count)[unit[~bad]]
    return rows.T @ table @ columns


def auroc_range(run: Run, score: Any, wrong: Any, clusters: Any, group: Any = None) -> Range:
    """Return the AUROC (of pairs of one group) with its interval and its pairs in order and all."""
    same, bad = pairs(wrong, clusters, group)
    x = np.asarray(score, float)
    high, low = x[bad][:, None], x[~bad][None, :]
    won = ((high > low) + 0.5 * (high == low)) * same
    total = float(same.sum())
    if not total:
        return Range(None, None, None, None, 0.0)
    unit, count = units(clusters)
    value, weights = float(won.sum()) / total, run.weights(count)
    ordered, every = (between(table, bad, unit, count) for table in (won, same))
    drawn = over(((weights @ ordered) * weights).sum(1), ((weights @ every) * weights).sum(1))
    size = min(worth(every.sum(axis=axis)) for axis in (0, 1))
    ends = with_one_more(value, drawn, count, (0.0, 1.0), size, (0.5, 1 / 12))
    if not 0 < value < 1 and spread(drawn, count) is not None:
        ends = exact(value * size, size)
    if x.min() == x.max() or (ends[0] is not None and ends[1] - ends[0] >= 0.99):
        ends = NONE
    return Range(value, *ends, float(won.sum()), total)


# ---- UNCLE: is a fact known, and what was said of it

CELLS = ("kc", "ki", "ku", "uc", "ui", "uu")
#: numerator and denominator of each rate that is one ratio, in cells
RATIOS = {
    "FA": ("kc uc", "kc ki uc ui"),
    "UA": ("uu", "ku uu"),
    "UUR": ("uu", "uc ui uu"),
    "KCR": ("kc", "kc ki ku"),
    "EA": ("kc uu", "kc ki ku uc ui uu"),
    "p_known": ("kc ki ku", "kc ki ku uc ui uu"),
    "p_uncertain": ("ku uu", "kc ki ku uc ui uu"),
    "over_hedge": ("ku", "kc ki ku"),
}
RATES = ("FA", "UA", "UUR", "KCR", "EA", "J", "over_hedge")
HEADLINE = ("FA", "UA", "UUR", "KCR", "EA", "J")
STANCES = {
    "UUR_hedged": "hedged",
    "UUR_abstained": "abstained",
    "UUR_refused": "refused_by_policy",
    "UUR_asked_back": "asked_back",
}


def uncle(run: Run) -> Numbers:
    """Return the numbers of `sayso run uncle`."""
    found = Numbers()
    probes = run.judged("probe")
    right = (probes.label == "S").groupby(probes.asked)
    facts = pd.DataFrame({"hits": right.sum(), "draws": right.size(), "known": right.any()})
    facts = facts.join(run.types(facts.index)).loc[facts_in_order(run, facts.index)]
    clusters = run.clusters().reindex(facts.index)
    facts["unit"] = pd.factorize(clusters)[0]
    facts["cluster"] = ["\t".join(name) for name in clusters]
    found.at()(draws_alike=alike(run.table("generations/probe")))
    said = {}
    for form in FORMS:
        rows = run.judged(f"{form}+methods-{form}+refined-{form}").set_index("asked")
        for method, own in rows.groupby("method"):
            said[form, str(method)] = facts.join(own[["stance", "content", "label"]])
    several = len({method for _, method in said}) > 2
    for form, method in said:
        own, where = said[form, method], {"form": form, "method": method}
        rates = uncle_rates(run, own)
        if method in ("plain", "instructed"):
            where = {"form": form, "prompt": "plain" if method == "plain" else ""}
            found.at(**where)(**rates, **_stances(run, own))
            found.at(**where)(**{f"cell_{c}": float(n) for c, n in _cells(own).sum().items()})
        else:
            told = {name: rates[name] for name in (*RATES, "p_uncertain")}
            found.at(**where)(**told, **within_type(run, own))
        if several:
            wrong = (own.stance == "committed") & (own.content == "incorrect")
            found.at(**where)(wrong_and_sure=shared(run, wrong, own.known.notna(), own.unit))
        if method == "instructed":
            _uncle_measured(found, form, own)
    for form in FORMS:
        if (form, "plain") in said:
            _uncle_slices(found, run, form, said)
            _own_policies(found, run, form, said)
    for method in {method for form, method in said if form == "long"} - {"plain"}:
        both = said["short", method].assign(long=said["long", method].label)
        name = "" if method == "instructed" else method
        found.at(method=name)(**alignment(run, both, both.known.notna()))
        found.at(method=name, given="known")(**alignment(run, both, both.known))
        found.at(method=name, given="unknown")(**alignment(run, both, ~both.known))
    return found


def _uncle_measured(found: Numbers, form: str, rows: pd.DataFrame) -> None:
    """Take down the rates that a study compares."""
    named = rows.assign(unit=rows.cluster)
    table, within = _cells(named), _by_type(named)
    for name in (*RATES, "p_known"):
        found.study(
            name,
            Measured(
                [str(unit) for unit in table.index],
                lambda w, name=name: _rates_of(w @ table.to_numpy())[name],
            ),
            form=form,
        )
    flat, shape = within.reshape(len(within), -1), within.shape[1:]
    names = sorted(set(rows.cluster))
    found.study(
        "J_within",
        Measured(names, lambda w: _within((w @ flat).reshape(-1, *shape))["j"]),
        form=form,
    )


def facts_in_order(run: Run, known: pd.Index) -> list[str]:
    """Return the facts in the order of the paragraphs, then those that stand in none."""
    inside = [part for parts in run.questions.parts for part in parts]
    rest = [q.id for q in run.questions.itertuples() if not len(q.parts) and len(q.golds)]
    return [fact for fact in dict.fromkeys([*inside, *rest]) if fact in known]


def _cells(rows: pd.DataFrame) -> pd.DataFrame:
    """Return how many facts of each cluster are in each cell, every cluster a row."""
    kind = np.where(rows.known, "k", "u").astype(object)
    told = rows.label.map({"S": "c", "NS": "i", "OMIT": "i", "UNC": "u"}).to_numpy()
    table = pd.crosstab(rows.unit, kind + told)
    return table.reindex(columns=list(CELLS), fill_value=0).astype(float)


def _rates_of(table: Array) -> dict[str, Array]:
    """Return every rate of cells (..., 6)."""
    cell = dict(zip(CELLS, np.moveaxis(table, -1, 0), strict=True))
    rates = {
        name: over(*(sum(cell[c] for c in part.split()) for part in pair))
        for name, pair in RATIOS.items()
    }
    rates["J"] = rates["UUR"] - rates["over_hedge"]
    rates["balanced_EA"] = (rates["KCR"] + rates["UUR"]) / 2
    rates["lift_UA"] = over(rates["UA"], 1 - rates["p_known"])
    return rates


def uncle_rates(run: Run, rows: pd.DataFrame) -> dict[str, Range]:
    """Return UNCLE's rates of known or unknown, and correct, incorrect or uncertain."""
    table = _cells(rows)
    drawn = _rates_of(run.weights(len(table)) @ table.to_numpy())
    return _with_intervals(table, drawn)


def _with_intervals(table: pd.DataFrame, drawn: dict[str, Array]) -> dict[str, Range]:
    count, whole = len(table), _rates_of(table.to_numpy().sum(axis=0))
    found: dict[str, Range] = {}
    for name, (top, bottom) in RATIOS.items():
        value = defined(whole[name])
        a, b = (table[part.split()].sum(axis=1).to_numpy() for part in (top, bottom))
        counts = float(a.sum()), float(b.sum())
        ends = of_share(*counts, spread(drawn[name], count), b)
        found[name] = Range(value, *ends, *counts)
    for name, (one, two) in {
        "J": ("UUR", "over_hedge"),
        "balanced_EA": ("KCR", "UUR"),
        "lift_UA": ("UA", "p_known"),
    }.items():
        value = defined(whole[name])
        limits = {"J": (-1.0, 1.0), "lift_UA": (0.0, math.inf)}.get(name, (0.0, 1.0))
        ends = resampled(value, drawn[name], count, limits)
        first, second = found[one], found[two]
        if value is not None and any(few(x.numerator, x.denominator) for x in (first, second)):
            ends = _of_two_shares(name, first, second, linked(drawn[one], drawn[two]))
        found[name] = Range(value, *ends, None, None)
    return found


def defined(value: Any) -> Value:
    """Return a number, None where it is NaN."""
    return None if value is None or not np.isfinite(value) else float(value)


def _of_two_shares(name: str, one: Range, two: Range, r: float) -> Ends:
    """Return the interval of a difference, a mean or a ratio of two shares of which one is rare."""
    p, q, ends = one.value or 0.0, two.value or 0.0, (one.low, one.high)
    if name == "J":
        return mover((p, q), (ends, (two.low, two.high)), r, (-1.0, 1.0))
    if two.low is None or two.high is None or one.low is None or one.high is None:
        return NONE
    if name == "balanced_EA":  # p + q is p - (-q)
        low, high = mover((p, -q), (ends, (-two.high, -two.low)), -r, (0.0, 2.0))
        return NONE if low is None or high is None else (low / 2, high / 2)
    rest, low2, high2 = 1 - q, 1 - two.high, 1 - two.low  # UA over the share of unknown facts
    if low2 <= 0:
        return NONE
    if p <= 0:
        return 0.0, one.high / low2
    logs = (
        (math.log(max(one.low, 1e-300)), math.log(one.high)),
        (math.log(low2), math.log(high2)),
    )
    low, high = mover((math.log(p), math.log(rest)), logs, -r, (-math.inf, math.inf))
    if low is None or high is None:
        return NONE
    return (0.0 if one.low <= 0 else math.exp(low)), math.exp(high)


def _stances(run: Run, rows: pd.DataFrame) -> dict[str, Range]:
    every, hedged = rows.known.notna(), rows.label == "UNC"

    def part(hit: Any, of: Any) -> Range:
        return shared(run, hit, of, rows.unit)

    return {
        "accuracy": part(rows.label == "S", every),
        "omission": part(rows.label == "OMIT", every),
        "hedged_and_correct": part(rows.content == "correct", hedged),
        **{name: part(rows.stance == stance, ~rows.known) for name, stance in STANCES.items()},
    }


# ---- within type


def _by_type(rows: pd.DataFrame) -> Array:
    """Return how many facts are known, hedged and known, unknown, hedged and unknown: (C, T, 4)."""
    hedged, known = rows.label == "UNC", rows.known.astype(bool)
    parts = pd.DataFrame(
        {"k": known, "hk": known & hedged, "u": ~known, "hu": ~known & hedged}
    ).astype(float)
    unit, count = units(rows.unit)
    kind, kinds = units(rows.type)
    table = np.zeros((count, kinds, 4))
    np.add.at(table, (unit, kind), parts.to_numpy())
    return table


def _within(table: Array) -> dict[str, Array]:
    """Return J within type with its two parts, and Mantel-Haenszel's log odds: of (..., T, 4)."""
    k, hk, u, hu = np.moveaxis(table, -1, 0)
    n = k + u
    both = (k > 0) & (u > 0)

    def total(values: Array) -> Array:
        return np.where(both, over(values, n), 0.0).sum(axis=-1)

    weight = total(k * u)
    one, two = over(total(k * hu), weight), over(total(u * hk), weight)
    odds = over(total(hu * (k - hk)), total(hk * (u - hu)))
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(odds > 0, np.log(odds), np.nan)
    return {"uur": one, "over": two, "j": one - two, "logs": logs}


def _parts_within(whole: dict[str, Array], drawn: dict[str, Array], held: Array) -> Any:
    """Return both parts of J within type, and their intervals as shares; ``held`` is (C, 4)."""
    pair, ends = [], []
    for name, column in (("uur", 2), ("over", 0)):
        p, sizes = float(whole[name]), held[:, column]
        error = spread(drawn[name], len(held))
        ends.append(of_share(p * sizes.sum(), float(sizes.sum()), error, sizes))
        pair.append(p)
    return tuple(pair), tuple(ends)


def _rare(held: Array) -> bool:
    k, hk, u, hu = held.sum(axis=0)
    return few(hk, k) or few(hu, u)


def within_type(run: Run, rows: pd.DataFrame) -> dict[str, Range]:
    """Return J within type (weights n_known n_unknown / n) and Mantel-Haenszel's odds ratio."""
    table = _by_type(rows)
    count, total = len(table), table.sum(axis=0)
    mixed = (total[:, 0] > 0) & (total[:, 2] > 0)
    held = table[:, mixed].sum(axis=1)
    flat = run.weights(count) @ table.reshape(count, -1)
    drawn, whole = _within(flat.reshape(-1, *table.shape[1:])), _within(total)
    value, logs = defined(whole["j"]), defined(whole["logs"])
    ends = resampled(value, drawn["j"], count, (-1.0, 1.0))
    least = _log_odds_error(total[mixed])
    odds = resampled(logs, drawn["logs"], count, None, least=least)
    if _rare(held):
        link = linked(drawn["uur"], drawn["over"])
        pair, sides = _parts_within(whole, drawn, held)
        if value is not None:
            ends = mover(pair, sides, link, (-1.0, 1.0))
        if logs is not None:
            odds = _odds_from_shares(logs, pair, sides, min(link, 0.0))
    low, high = (None if end is None else math.exp(end) for end in odds)
    ratio_within = Range(None if logs is None else math.exp(logs), low, high, None, None)
    return {"J_within": Range(value, *ends, None, None), "odds_ratio_within": ratio_within}


def _log_odds_error(total: Array) -> float:
    """Return Robins, Breslow and Greenland's standard error of the log odds ratio."""
    if not len(total):
        return 0.0
    k, hk, u, hu = total.T
    a, b, c, d = hu, u - hu, hk, k - hk
    n = k + u
    p, q, r, s = (a + d) / n, (b + c) / n, a * d / n, b * c / n
    top, bottom = r.sum(), s.sum()
    if not top or not bottom:
        return 0.0
    middle = (p * s + q * r).sum() / (2 * top * bottom)
    return math.sqrt((p * r).sum() / (2 * top**2) + middle + (q * s).sum() / (2 * bottom**2))


def _odds_from_shares(logs: float, pair: Any, sides: Any, r: float) -> Ends:
    shares = [*pair, *sides[0], *sides[1]]
    if any(x is None or not 0 < x < 1 for x in shares):
        return NONE
    one, two, low1, high1, low2, high2 = (math.log(x / (1 - x)) for x in shares)
    infinite = (-math.inf, math.inf)
    low, high = mover((one, two), ((low1, high1), (low2, high2)), r, infinite)
    if low is None or high is None:
        return NONE
    return logs + low - (one - two), logs + high - (one - two)


# ---- what the instruction does, slices, policies


def _uncle_slices(
    found: Numbers, run: Run, form: str, said: dict[tuple[str, str], pd.DataFrame]
) -> None:
    """Write down what the instruction does, domains, types, the surely known, and policies."""
    told, plain = said[form, "instructed"], said[form, "plain"]
    # a fact that is hedged without the instruction has no plain answer that is right or wrong
    committed, known = plain.label != "UNC", told.known
    hedged, wrong = told.label == "UNC", committed & (plain.label != "S")
    found.at(form=form)(
        hedge_precision=shared(run, wrong, hedged & committed, told.unit),
        instruction_cost=_cost(run, plain, told),
        **within_type(run, told),
    )
    short = said["short", "plain"]
    sure = (short.label == "S") & (short.hits == short.draws)
    never = (short.label != "S") & (short.hits == 0)
    strict = told.assign(known=sure)
    slices: list[tuple[dict[str, str], pd.DataFrame, pd.Series]] = [
        ({"known": "strict"}, strict, sure | never)
    ]
    for part in ("domain", "type"):
        slices += [
            ({part: str(value)}, own, own.known.notna()) for value, own in told.groupby(part)
        ]
    for where, own, of in slices:
        rates = uncle_rates_of(run, own, of)
        found.at(form=form, **where)(**{name: rates[name] for name in (*RATES, "p_known")})
    # policies that are blind: what they tell is as often right as the plain answers are
    p, h = mean(known), mean(hedged)
    right, lucky = (mean((plain.label == "S")[committed & of]) for of in (known, ~known))
    if p is None or h is None or right is None or lucky is None:
        return
    for policy, rate in (("never", 0.0), ("always", 1.0), ("random", h)):
        found.at(form=form, policy=policy)(
            FA=p * right + (1 - p) * lucky if rate < 1 else None,
            UA=1 - p if rate else None,
            UUR=rate,
            KCR=(1 - rate) * right,
            EA=p * (1 - rate) * right + (1 - p) * rate,
            J=Range(0.0, 0.0, 0.0, None, None),
        )


def uncle_rates_of(run: Run, rows: pd.DataFrame, of: pd.Series) -> dict[str, Range]:
    """Return the rates of some facts, with the clusters of all of them."""
    table = _cells(rows[of]).reindex(sorted(set(rows.unit)), fill_value=0.0)
    return _with_intervals(table, _rates_of(run.weights(len(table)) @ table.to_numpy()))


def _cost(run: Run, plain: pd.DataFrame, told: pd.DataFrame) -> Range:
    """Return KCR without the instruction less KCR with it, paired, from the intervals of both."""
    tables = [_cells(rows) for rows in (plain, told)]
    weights = run.weights(len(tables[0]))
    drawn = [_rates_of(weights @ table.to_numpy()) for table in tables]
    one, two = (_with_intervals(*pair)["KCR"] for pair in zip(tables, drawn, strict=True))
    value = less(one.value, two.value)
    if value is None:
        return Range(None, None, None, None, None)
    if tables[0].equals(tables[1]):
        return Range(0.0, 0.0, 0.0, None, None)
    pair = one.value or 0.0, two.value or 0.0
    link = linked(drawn[0]["KCR"], drawn[1]["KCR"])
    ends = mover(pair, ((one.low, one.high), (two.low, two.high)), link, (-1.0, 1.0))
    if (tables[0] + tables[1]).sum(axis=1).astype(bool).sum() < 2:
        ends = NONE
    return Range(value, *ends, None, None)


def alignment(run: Run, both: pd.DataFrame, of: pd.Series) -> dict[str, Range]:
    """Return shares of certain and uncertain, in short and in long form."""
    short, long = (both.label == "UNC").to_numpy(), (both.long == "UNC").to_numpy()
    cells = {"CC": ~short & ~long, "CU": ~short & long, "UC": short & ~long, "UU": short & long}
    return {f"align_{n}": shared(run, cell, of, both.unit) for n, cell in cells.items()}


# ---- hedging by the answers' own log-probabilities, their length, or by type alone


def stated(run: Run, form: str, facts: pd.DataFrame) -> pd.DataFrame:
    """Return the mean log-probability of each plain answer's value, and its length in tokens."""
    answers = run.table(f"generations/{form}")
    answers = answers[answers.method == "plain"].set_index("id")
    places = run.table(f"verdicts/{form}-spans")
    places = places[places.target.isin(answers.index)].set_index("asked")
    rows = []
    for fact in facts.index:
        values: list[float] = []
        if fact in places.index and places.stance[fact] in ("committed", "hedged"):
            place, answer = places.loc[fact], answers.loc[places.target[fact]]
            start, end = place.answer_start, place.answer_end
            if form == "short" and place.stance == "committed":
                start, end = 0, len(answer.text)
            if answer.logprobs is not None and not pd.isna(start):
                values = [
                    value
                    for value, (a, b) in zip(answer.logprobs, offsets(answer), strict=True)
                    if a < end and b > start
                ]
        rows.append((np.mean(values) if values else np.nan, len(values) or np.nan))
    return pd.DataFrame(rows, index=facts.index, columns=["logprob", "length"])


def offsets(answer: Any) -> list[tuple[int, int]]:
    """Return where each token of an answer starts and ends."""
    starts = [int(start) for start in answer.offsets]
    return list(zip(starts, [*starts[1:], len(answer.text)], strict=True))


def _policy_cells(weights: Array, score: Array, rows: pd.DataFrame, places: Array) -> Array:
    """Return (B, T, 4) as `_by_type` has them, of hedging the highest scores of each type.

    As many of a type as ``places`` (n,) marks there; those that tie at the cut share the rest.
    """
    known = rows.known.to_numpy(bool)
    tables = []
    for _, at in sorted(rows.reset_index().groupby("type").indices.items()):
        w, x, k = weights[:, at], score[at], known[at]
        left = w @ places[at]
        hedged = np.zeros_like(w)
        for value in sorted(set(x), reverse=True):
            tied = x == value
            mass = w[:, tied].sum(axis=1)
            part = np.clip(np.nan_to_num(over(left, mass)), 0.0, 1.0)
            hedged[:, tied] = part[:, None] * w[:, tied]
            left = left - mass
        columns = (w[:, k], hedged[:, k], w[:, ~k], hedged[:, ~k])
        tables.append(np.stack([column.sum(axis=1) for column in columns], axis=-1))
    return np.stack(tables, axis=1)


def _own_policies(
    found: Numbers, run: Run, form: str, said: dict[tuple[str, str], pd.DataFrame]
) -> None:
    """Write down hedging by log-probability, length and type, and what that tells of errors."""
    told, plain = said[form, "instructed"], said[form, "plain"]
    have = stated(run, form, told)
    hedges = (told.label == "UNC").to_numpy(float)
    unit, count = units(told.unit)
    weights = run.weights(count)[:, unit]
    once = np.ones((1, len(told)))
    label = np.where(plain.label == "S", "c", np.where(plain.label == "UNC", "u", "i"))
    for policy, column in (("own_logprob", -have.logprob), ("length", have.length), ("type", None)):
        score = pd.Series(0.0, told.index) if column is None else column
        if score.isna().all():
            continue
        medians = score.groupby(told.type).transform("median").fillna(score.median())
        score = score.fillna(medians).to_numpy()
        table, drawn = (_policy_cells(w, score, told, hedges) for w in (once, weights))
        member = _hedged_rows(score, told, hedges)
        cells = {}
        for state, of in (("k", told.known.to_numpy(bool)), ("u", ~told.known.to_numpy(bool))):
            cells[f"{state}u"] = member[of].sum() + (1 - member)[of & (label == "u")].sum()
            for what in ("c", "i"):
                cells[f"{state}{what}"] = (1 - member)[of & (label == what)].sum()
        rates = _rates_of(np.array([cells[cell] for cell in CELLS]))
        pooled, all_drawn = (_within(t.sum(axis=1, keepdims=True))["j"] for t in (table, drawn))
        j = defined(pooled[0])
        ends = resampled(j, all_drawn, count, (-1.0, 1.0))
        if len(set(hedges)) < 2:
            ends = (j, j)
        values = {name: defined(rates[name]) for name in HEADLINE if name != "J"}
        found.at(form=form, policy=policy)(
            **values,
            J=Range(j, *ends, None, None) if defined(rates["J"]) is not None else None,
        )
    wrong = np.where(plain.label == "UNC", np.nan, (plain.label != "S").to_numpy(float))
    use = have.logprob.notna().to_numpy() & ~np.isnan(wrong)
    if not use.any():
        return
    of, bad, score = told[use], wrong[use] == 1, -have.logprob.to_numpy()
    found.at(form=form)(
        auroc_incorrect_within=auroc_range(run, score[use], bad, of.unit, of.type),
    )
    scored = have.logprob.notna().to_numpy()
    rows, w, x = told[scored].reset_index(drop=True), weights[:, scored], score[scored]
    own = hedges[scored]
    words = [_words_cells(v, rows, own) for v in (once[:, scored], w)]
    policies = [_policy_cells(v, x, rows, own) for v in (once[:, scored], w)]
    gains = [_within(p)["j"] - _within(s)["j"] for p, s in zip(policies, words, strict=True)]
    value = defined(gains[0][0])
    ends = resampled(value, gains[1], count, None, least=_blind_error(policies[0][0]))
    if len(set(hedges)) < 2 and value == 0 and ends == NONE:
        ends = (0.0, 0.0)
    if ends[0] is not None and abs(value or 0.0) <= 1:
        ends = max(ends[0], -1.0), min(ends[1], 1.0)
    found.at(form=form)(unspoken_knowledge=Range(value, *ends, None, None))


def _hedged_rows(score: Array, rows: pd.DataFrame, places: Array) -> Array:
    """Return how much of each fact a policy hedges."""
    member = np.zeros(len(rows))
    for at in rows.reset_index().groupby("type").indices.values():
        left = places[at].sum()
        for value in sorted(set(score[at]), reverse=True):
            tied = at[score[at] == value]
            member[tied] = min(max(left / len(tied), 0.0), 1.0)
            left -= len(tied)
    return member


def _words_cells(weights: Array, rows: pd.DataFrame, hedged: Array) -> Array:
    """Return (B, T, 4) as `_by_type` has them, of the words themselves."""
    known = rows.known.to_numpy(float)
    columns = np.stack([known, known * hedged, 1 - known, (1 - known) * hedged], axis=1)
    kinds = sorted(rows.reset_index().groupby("type").indices.items())
    return np.stack([weights[:, at] @ columns[at] for _, at in kinds], axis=1)


def _blind_error(table: Array) -> float:
    """Return the standard error of J within type of hedges drawn blindly in each type."""
    k, hk, u, hu = table[(table[:, 0] > 0) & (table[:, 2] > 0)].T
    n, h = k + u, hk + hu
    if not len(n):
        return 0.0
    weight = k * u / n
    variance = h * (n - h) / (k * u * (n - 1))  # hypergeometric
    return math.sqrt((weight**2 * variance).sum()) / float(weight.sum())


# ---- faithfulness: decisiveness against confidence

NAMES = {"plain": "vanilla", "instructed": "uncle"}
#: over several choices of examples these are of all answers, and all else is a mean of the choices
POOLED = {"accuracy", "punting", "asked", "unknown_unknown", "known_unsaid"}


def faithfulness(run: Run) -> Numbers:
    """Return the numbers of `sayso run faithfulness`."""
    found = Numbers()
    methods: dict[str, dict[str, pd.DataFrame]] = {}
    for form in FORMS:
        rows = _claims(run, form)
        plain = rows[rows.method == "vanilla"].set_index("asked")
        for method, own in rows.groupby("method"):
            pooled = _one_method(own, plain)
            parts = list(own.groupby("choice"))
            each = [_one_method(part, plain) for _, part in parts]
            for (name, where), value in pooled.items():
                values = [v for one in each if (v := one.get((name, where))) is not None]
                value = value if name in POOLED else mean(values)
                found.at(form=form, method=str(method), **dict(where))(**{name: value})
            methods.setdefault(form, {})[str(method)] = own
            for where, values in _ranges(run, own):
                found.at(form=form, method=str(method), **where)(**values)
            used = own[own.use].assign(faith=1 - np.abs(own.number - own.conf))
            read = own[own.said != "omitted"].assign(right=own.right.astype(float))
            for name, rows_of, column in (
                ("mfg", by_answer(used), "faith"),
                ("mean_decisiveness", used, "number"),
                ("mean_confidence", used, "conf"),
                ("accuracy", read, "right"),
            ):
                if len(rows_of):
                    one = measured_claims(rows_of, mean_of(column))
                    found.study(name, one, form=form, method=str(method))
        _gains(found, run, form, methods.get(form, {}))
    found.at()(draws_alike=alike(run.table("generations/draws")))
    return found


#: what a claim's numbers are over resampled weights (B, n): of rows and weights
Measure = Callable[[pd.DataFrame, Array], Array]


def over_bins(weights: Array, values: Array, place: Array) -> Array:
    """Return the mean over occupied bins of the weighted mean in a bin, (B,)."""
    if not len(place):
        return np.full(len(weights), np.nan)
    member = np.eye(int(place.max()) + 1)[place]
    means = over((weights * values) @ member, weights @ member)
    filled = (~np.isnan(means)).sum(axis=1)
    return over(np.nansum(means, axis=1), filled)


def cmfg_of(rows: pd.DataFrame, weights: Array, common: Any = None) -> Array:
    """Return cMFG of resamples, on all bins or on common ones."""
    place = bins(rows)
    here = np.ones(len(rows), bool) if common is None else np.isin(place, list(common))
    faithful = 1 - np.abs(rows.number - rows.conf).to_numpy(float)
    return over_bins(weights[:, here], faithful[here], place[here])


def skill_of(rows: pd.DataFrame, weights: Array, common: Any = None) -> Array:
    """Return skill of resamples: what cMFG gains on decisiveness dealt at random, in its room."""
    place, dec = bins(rows), rows.number.to_numpy(float)
    here = np.ones(len(rows), bool) if common is None else np.isin(place, list(common))
    levels, level = np.unique(rows.conf.to_numpy(float), return_inverse=True)
    gap = over(weights @ np.abs(dec[:, None] - levels), weights.sum(axis=1)[:, None])
    blind = over_bins(weights[:, here], (1 - gap)[:, level[here]], place[here])
    room = np.where(1 - blind > 1e-12, 1 - blind, 0.0)
    return over(cmfg_of(rows, weights, common) - blind, room)


def mean_of(column: str) -> Measure:
    """Return the weighted mean of a column."""

    def measure(rows: pd.DataFrame, weights: Array) -> Array:
        values = rows[column].to_numpy(float)
        return over(weights @ values, weights.sum(axis=1))

    return measure


def weighted_ranks(values: Array, weights: Array) -> Array:
    """Return the share of the weight below each value and half of that at it, (B, n)."""
    levels, level = np.unique(values, return_inverse=True)
    mass = weights @ np.eye(len(levels))[level]
    return over(np.cumsum(mass, axis=1) - mass / 2, mass.sum(axis=1)[:, None])[:, level]


def weighted_spearman(x: Array, y: Array, weights: Array) -> Array:
    """Return Spearman's correlation of each resample."""
    share = over(weights, weights.sum(axis=1)[:, None])
    p, q = weighted_ranks(x, weights) - 0.5, weighted_ranks(y, weights) - 0.5
    below = (share * p * p).sum(axis=1) * (share * q * q).sum(axis=1)
    return over((share * p * q).sum(axis=1), np.where(below > 1e-24, np.sqrt(below), 0.0))


def spearman_of(rows: pd.DataFrame, weights: Array) -> Array:
    """Return Spearman's correlation of decisiveness and confidence."""
    return weighted_spearman(rows.number.to_numpy(float), rows.conf.to_numpy(float), weights)


def over_choices(measure: Measure, rows: pd.DataFrame, weights: Array) -> Array:
    """Return the mean of a measure over the choices of examples in which it is defined."""
    choice = rows.choice.to_numpy()
    names = sorted(set(choice))
    each = [measure(rows[choice == c], weights[:, choice == c]) for c in names]
    table = np.array(each).reshape(len(names), len(weights))
    return over(np.nansum(table, axis=0), (~np.isnan(table)).sum(axis=0))


def claims_range(
    run: Run,
    measure: Measure,
    rows: pd.DataFrame,
    limits: tuple[float, float] | None = (0.0, 1.0),
    freedom: float | None = None,
) -> Range:
    """Return a measure of claims with its interval over entities."""
    if not len(rows):
        return Range(None, None, None, None, None)
    unit, count = units(rows.unit)
    weights = run.weights(count)[:, unit]
    value = defined(over_choices(measure, rows, np.ones((1, len(rows))))[0])
    drawn = over_choices(measure, rows, weights)
    return Range(value, *resampled(value, drawn, count, limits, freedom), None, None)


def by_answer(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the answers of claims, each with one vote (Definition 1) and its mean confidence.

    The confidence is the exact fraction agree / k: it is binned.
    """
    answers = []
    for _, own in rows.groupby("target", sort=True):
        common = math.lcm(*(int(k) for k in own.k))
        whole = common * len(own)
        agree = sum(int(j) * (common // int(k)) for j, k in zip(own.agree, own.k, strict=True))
        first = own.iloc[0]
        answers.append(
            {
                "faith": float((1 - (own.number - own.conf).abs()).mean()),
                "agree": agree,
                "k": whole,
                "conf": agree / whole,
                **{name: first[name] for name in ("unit", "cluster", "choice")},
            }
        )
    return pd.DataFrame(answers)


def cmfg_answers(rows: pd.DataFrame, weights: Array, common: Any = None) -> Array:
    """Return cMFG of answers, of resamples, on all bins or on common ones."""
    place = bins(rows)
    here = np.ones(len(rows), bool) if common is None else np.isin(place, list(common))
    return over_bins(weights[:, here], rows.faith.to_numpy(float)[here], place[here])


def filling(rows: pd.DataFrame) -> list[tuple[int, int]]:
    """Return (claims, bin) of every bin that a count of draws can fall into."""
    reached = {max(-(-10 * j // int(k)) - 1, 0) for k in set(rows.k) for j in range(int(k) + 1)}
    count = Counter(bins(rows).tolist())
    return [(count[b], b) for b in sorted(reached)]


def _scores(run: Run, used: pd.DataFrame, names: Sequence[str]) -> dict[str, Range]:
    """Return the scores of a method with their intervals."""
    found, answers = {}, by_answer(used)
    for name in names:
        one: Range
        if name in ("skill", "cmfg", "cmfg_aspects"):
            limits = None if name == "skill" else (0.0, 1.0)
            measures = {"skill": skill_of, "cmfg": cmfg_answers, "cmfg_aspects": cmfg_of}
            rows = answers if name == "cmfg" else used
            one = claims_range(run, measures[name], rows, limits)
            if name == "skill" and one.high is not None:
                one = one._replace(high=min(one.high, 1.0))
            if any(n < 5 for _, own in rows.groupby("choice") for n, _ in filling(own)):
                one = one._replace(low=None, high=None)
        elif name == "spearman":
            one = claims_range(run, spearman_of, used, (-1.0, 1.0))
        else:
            column = {"mean_decisiveness": "number", "mean_confidence": "conf"}.get(name, "faith")
            rows = answers if name == "mfg" else used
            values = rows[column].to_numpy(float)
            freedom = deciding(values, np.ones(len(rows)), units(rows.unit)[0])
            one = claims_range(run, mean_of(column), rows, (0.0, 1.0), freedom)
        found[name] = one
    return found


SLICED = ("skill", "cmfg", "mfg", "cmfg_aspects", "mean_decisiveness")
#: what the offline reader gives to a statement without a word of certainty
PLAIN = 0.975


def _ranges(run: Run, rows: pd.DataFrame) -> Iterable[tuple[dict[str, str], dict[str, Range]]]:
    """Yield slices of a method with the numbers that have intervals or counts."""
    rows = rows.assign(faith=1 - np.abs(rows.number - rows.conf))
    own, given = rows[rows.use], rows[rows.said != "omitted"]
    if len(own):
        yield {}, _scores(run, own, (*SLICED, "mean_confidence", "spearman"))
    domains = sorted(set(own.domain))
    places = [("domain", d, own.domain == d) for d in domains if len(domains) > 1]
    places += [("position", p, own.position == p) for p in sorted(set(own.position.dropna()))]
    places += [("choice", c, own.choice == c) for c in sorted(set(own.choice)) if c]
    for part, value, here in places:
        yield {part: str(value)}, _scores(run, own[here.fillna(False)], SLICED)
    read = given.assign(right=given.right.astype(float), punt=(given.said == "punt").astype(float))
    for name, column in (("accuracy", "right"), ("punting", "punt")):
        values = read.drop(columns="choice").assign(choice="")
        one = claims_range(run, mean_of(column), values)
        counts = float(values[column].sum()), float(len(values))
        yield {}, {name: one._replace(numerator=counts[0], denominator=counts[1])}
    yield from _counted(run, rows, own)
    yield from _bins(run, own)


def _counted(run: Run, rows: pd.DataFrame, own: pd.DataFrame) -> Any:
    """Yield what is counted: claims left out, filled bins, and what goes wrong."""
    n = len(own)
    lost = Counter(rows.reason[rows.reason != ""])
    for reason, number in lost.items():
        yield {"reason": reason}, {"left_out": Range(float(number))}
    held = [(min(f for f in filling(part) if f[0]), part) for _, part in own.groupby("choice")]
    if held:
        _, part = min(held, key=lambda one: (one[0][0], sum(f[0] > 0 for f in filling(one[1]))))
        full = [f[0] > 0 for f in filling(part)]
        count = float(sum(full))
        yield {}, {"filled_bins": Range(count, None, None, count, float(len(full)))}
    high, sure, right = own.conf >= 0.75, own.number >= 0.75, own.right.astype(bool)
    for name, which in (
        ("unknown_unknown", high & sure & ~right),
        ("known_unsaid", ~high & sure),
    ):
        one = claims_range(run, mean_of("hit"), own.assign(hit=which.astype(float), choice=""))
        counts = (float(which.sum()), float(n)) if n else (None, None)
        yield {}, {name: one._replace(numerator=counts[0], denominator=counts[1])}


def _bins(run: Run, own: pd.DataFrame) -> Iterable[tuple[dict[str, str], dict[str, Range]]]:
    """Yield what each bin of confidence holds."""
    place = bins(own) if len(own) else np.zeros(0)
    for b in range(10):
        here = own[place == b]
        found = {}
        for name, column in (("bin_decisiveness", "number"), ("bin_confidence", "conf")):
            one = claims_range(run, mean_of(column), here)
            wide = one.low is not None and one.high is not None and one.high - one.low >= 0.99
            if here.unit.nunique() < 5 or wide:
                one = one._replace(low=None, high=None)
            found[name] = one
        yield {"bin": f"{b / 10:.3g}-{(b + 1) / 10:.3g}"}, found


def _gains(found: Numbers, run: Run, form: str, methods: dict[str, pd.DataFrame]) -> None:
    """Write down scores on the bins that all methods fill, gains on the plain answers, their p."""
    used = {name: rows[rows.use] for name, rows in methods.items()}
    parts = [own for rows in used.values() for _, own in rows.groupby("choice")]
    counts = [Counter(bins(own).tolist()) for own in parts]
    common = {b for b in range(10) if counts and all(count[b] >= 10 for count in counts)}
    single: dict[str, Value] = {}
    for name, own in used.items() if len(used) > 1 else ():
        n, at = float(len(common)), found.at(form=form, method=name)
        at(shared_bins=Range(n, None, None, n, 10.0))
        if not common:
            continue
        one, base = (_on_common(run, skill_of, common, of, own, used["vanilla"]) for of in (0, 1))
        at(skill_shared=defined(one[0][0]))
        if name == "vanilla":
            continue
        value, (unit_count, drawn) = one[0][0] - base[0][0], (one[2], one[1] - base[1])
        ends = resampled(defined(value), drawn, unit_count, None)
        at(skill_gain=Range(defined(value), *ends, None, None))
        single[name] = None
        if ends[0] is not None and ends[1] is not None:
            error = (ends[1] - ends[0]) / 2 / student(unit_count - 1)
            single[name] = float(2 * special.stdtr(unit_count - 1, -abs(value) / error))
    ordered = sorted((p, name) for name, p in single.items() if p is not None)
    corrected: dict[str, float] = {}
    for rank, (p, name) in enumerate(ordered):
        worst = max(corrected.values(), default=0.0)
        corrected[name] = max(worst, min(1.0, p * (len(ordered) - rank)))
    for name, own_p in single.items():
        p_value = Range(corrected.get(name), None, None, own_p, None)
        found.at(form=form, method=name)(skill_gain_p=p_value)


def _on_common(
    run: Run, measure: Any, common: set[int], of: int, own: pd.DataFrame, base: pd.DataFrame
) -> tuple[Array, Array, int]:
    """Return a score of one of two sides on common bins, and of resamples of both together."""
    names = np.unique(np.concatenate([own.unit, base.unit]))
    rows = (own, base)[of]
    unit = np.searchsorted(names, rows.unit)
    weights = run.weights(len(names))[:, unit]

    def inside(rows: pd.DataFrame, weights: Array) -> Array:
        return measure(rows, weights, common)

    once = over_choices(inside, rows, np.ones((1, len(rows))))
    return once, over_choices(inside, rows, weights), len(names)


def corrected(rows: pd.DataFrame) -> Value:
    """Return cMFG less what the noise of the draws adds to the gaps."""
    dec, conf, k = (rows[c].to_numpy(float) for c in ("number", "conf", "k"))
    place, noise = bins(rows), np.where(k > 1, conf * (1 - conf) / np.maximum(k - 1, 1), 0.0)
    of_bins = []
    for b in sorted(set(place)):
        gap = dec[place == b] - conf[place == b]
        of_bins.append(
            _less_noise(np.abs(gap).mean(), gap.mean(), gap.var(), noise[place == b].mean())
        )
    return float(1 - np.mean(of_bins)) if of_bins else None


def _less_noise(size: float, centre: float, variance: float, extra: float) -> float:
    def folded(v: float) -> float:
        """Return E|X| of a normal X."""
        if v <= 0:
            return abs(centre)
        s = math.sqrt(v)
        tail = centre * math.erf(centre / (s * math.sqrt(2)))
        return s * math.sqrt(2 / math.pi) * math.exp(-((centre / s) ** 2) / 2) + tail

    return max(0.0, size - folded(variance) + folded(variance - min(extra, variance)))


def _claims(run: Run, form: str) -> pd.DataFrame:
    """Return a row for each answer and fact: decisiveness, agreeing of the counted draws, right."""
    stages = (form, f"methods-{form}", f"demos-{form}")
    rows = run.judged("+".join(stages))
    names = rows.method.str.extract(r"^(.*?)(?:-(\d+))?$")
    rows["method"] = [NAMES.get(name, name) for name in names[0]]
    rows["choice"] = names[1].fillna("")
    told = run.table("verdicts/" + "+".join(f"{stage}-decisive" for stage in stages))
    drawn = run.table("verdicts/" + "+".join(f"{stage}-contradict" for stage in stages))
    told["said"] = told["label"]
    told["letters"] = drawn.set_index(["target", "asked"]).raw.reindex(
        pd.MultiIndex.from_frame(told[["target", "asked"]])
    ).to_numpy()  # fmt: skip
    told["target"] = told.target.str.split("#").str[0]
    told["unread"] = told.problem
    columns = ["target", "asked", "said", "number", "start", "letters", "unread"]
    rows = rows.merge(told[columns], on=["target", "asked"])
    # c contradicts and n does not; what asserts nothing or cannot be compared is no draw
    letters = rows.letters.fillna("").str[: run.settings["draws.k"]]
    rows["agree"] = letters.str.count("n")
    rows["k"] = rows.agree + letters.str.count("c")
    rows["conf"] = rows.agree / rows.k.where(rows.k > 0)
    least = min(run.settings["least"], run.settings["draws.k"])
    rows["use"] = (rows.said == "assertion") & (rows.k >= least)
    rows["reason"] = np.select(
        [
            rows.said == "omitted",
            rows.unread.notna(),
            rows.use | (rows.said != "assertion"),
            letters.str.contains("?", regex=False),
        ],
        ["omitted", "wording " + rows.unread.fillna(""), "", "pairs unread"],
        "few draws",
    )
    order = dict(zip(run.questions.id, pd.factorize(run.clusters())[0], strict=True))
    rows["unit"] = [order[question] for question in rows.asked]
    named = run.clusters()
    rows["cluster"] = ["\t".join(named[question]) for question in rows.asked]
    rows["right"] = rows.content == "correct"
    rows["domain"] = run.questions.domain.reindex(rows.asked).to_numpy()
    rows["position"] = (5 * rows.start // rows.text.str.len() + 1).astype("Int64")
    return rows


def bins(rows: pd.DataFrame) -> Array:
    """Return the bin of confidence, 0 to 9, by whole counts."""
    pairs = [(int(j), int(k)) for j, k in zip(rows.agree, rows.k, strict=True)]
    return np.array([max(-(-10 * j // k) - 1, 0) for j, k in pairs], dtype=int)


def by_bin(values: Array, place: Array) -> Value:
    """Return the mean over occupied bins of the mean in a bin."""
    return mean(pd.Series(values).groupby(place).mean()) if len(values) else None


def dealt(dec: Array, conf: Array) -> Array:
    """Return how faithful each confidence is on average, with decisiveness dealt at random."""
    return np.array([1 - np.abs(dec - c).mean() for c in conf])


def faithful_scores(rows: pd.DataFrame, common: set[int] | None = None) -> dict[str, Value]:
    """Return skill, cMFG by fact and mean decisiveness, on some bins or on all."""
    dec, conf, place = rows.number.to_numpy(float), rows.conf.to_numpy(float), bins(rows)
    use = np.ones(len(rows), dtype=bool) if common is None else np.isin(place, sorted(common))
    faithful = 1 - np.abs(dec - conf)
    value, blind = (by_bin(of[use], place[use]) for of in (faithful, dealt(dec, conf)))
    gain = less(value, blind)
    return {
        "skill": None if gain is None or blind in (None, 1) else gain / (1 - blind),
        "cmfg_aspects": value,
        "mean_decisiveness": mean(dec),
    }


def _one_method(rows: pd.DataFrame, plain: pd.DataFrame) -> Numbers:
    """Return the numbers of one way to ask, in one form."""
    found = Numbers()
    own, given = rows[rows.use], rows[rows.said != "omitted"]
    dec, conf, place = own.number.to_numpy(float), own.conf.to_numpy(float), bins(own)
    high, sure, right = conf >= 0.75, dec >= 0.75, own.right.to_numpy(bool)
    blind = dealt(dec, conf)
    found.at()(
        **faithful_scores(own),
        mean_confidence=mean(conf),
        spearman=spearman(dec, conf),
        accuracy=mean(given.right),
        punting=mean(given.said == "punt"),
        asked=float(len(rows)),
        cmfg_decisive=by_bin(conf, place),
        cmfg_half=by_bin(1 - np.abs(0.5 - conf), place),
        cmfg_oracle=1.0 if len(dec) else None,
        cmfg_permuted=by_bin(blind, place),
        over_claim=by_bin(np.maximum(dec - conf, 0), place),
        over_hedge=by_bin(np.maximum(conf - dec, 0), place),
        unknown_unknown=mean(high & sure & ~right),
        known_unsaid=mean(~high & sure),
        cmfg_plain=by_bin(1 - np.abs(np.where(np.isclose(dec, PLAIN), 1.0, dec) - conf), place),
        cmfg_corrected=corrected(own),
    )
    for b in range(10):
        here = place == b
        at = found.at(bin=f"{b / 10:g}-{(b + 1) / 10:g}")
        at(bin_decisiveness=mean(dec[here]), bin_confidence=mean(conf[here]))
    # a punt is decisiveness 0, against the confidence of the plain answer
    punts = plain[plain.use].reindex(rows.asked[rows.said == "punt"]).dropna(subset=["conf"])
    values = faithful_scores(pd.concat([own, punts.assign(number=0.0)])[own.columns.drop("asked")])
    found.at()(cmfg_dec0=values["cmfg_aspects"])
    return found


# ---- selective: which score finds the errors

MONTHS = "January February March April May June July August September October November December"
DATE = re.compile(r"([+-]?\d{4,})-(\d\d)-(\d\d)T00:00:00Z")
METRICS = ("rules", "rouge_l", "squad_f1", "exact_match", "contains")


def selective(run: Run) -> Numbers:
    """Return the numbers of `sayso run selective`."""
    found = Numbers()
    draws = run.judged("draws")
    draws = draws[draws["sample"] < run.settings["known_k"]]
    known = (draws.label == "S").groupby(draws.asked).any()
    found.at(form="short")(draws_alike=alike(run.table("generations/draws")))
    for form in FORMS:
        rows = _answers(run, form)
        if not len(rows):
            continue
        wrong = {name: np.where(rows.placed, ~rows[name].astype(bool), np.nan) for name in METRICS}
        unknown = 1.0 - known.reindex(rows.asked).to_numpy(float)
        found.at(form=form)(facts=float(len(rows)))
        at = found.at(form=form, against="unknown")
        at(share_unknown=shared(run, unknown == 1, ~np.isnan(unknown), rows.unit))
        read = rows.placed.to_numpy(bool)
        hits = wrong["rules"][read] == 1
        one = measured_ratio(hits, np.ones(len(hits)), rows.cluster[read])
        found.study("error_rate", one, form=form, against="rules")
        scores = _stored_scores(run, form, rows)
        folds = _learned(run, form, rows, wrong["rules"], scores)
        _ranked(found, form, run, rows, wrong, scores, folds)
        _metrics_compared(found, form, run, rows, wrong)
        _by_length(found, form, run, rows, wrong, scores)
        _audits(found, form, run, rows, wrong, scores)
        _best(found, form, run, rows, wrong["rules"], scores, folds)
    return found


def _stored_scores(run: Run, form: str, rows: pd.DataFrame) -> dict[str, Array]:
    """Return every stored score of the facts, NaN where it has no value."""
    table = run.table(f"scores/{form}")
    return {
        str(score): own.set_index("target").value.reindex(rows.key).to_numpy(float)
        for score, own in table[table.target != ""].groupby("method")
    }


def _learned(
    run: Run, form: str, rows: pd.DataFrame, wrong: Array, scores: dict[str, Array]
) -> dict[str, Array]:
    """Learn P(IK) and the text-only baseline anew, as ranks in their folds; return the folds."""
    folds = {}
    use = ~np.isnan(wrong)
    if use.sum() >= 20 and 5 <= wrong[use].sum() <= use.sum() - 5:
        fold = _folds(run, rows.unit.to_numpy(), use, 5)
        ngrams = [_ngrams(q, a) for q, a in zip(rows.question, rows.value, strict=True)]
        scores["text_only"] = _in_folds(_naive_bayes(ngrams, wrong, fold), fold)
        folds["text_only"] = fold
    layer, position = run.settings["p_ik.layer"], run.settings["p_ik.position"]
    name = f"hidden-{layer}-{position}" + ("" if form == "short" else f"-{form}")
    path = run.folder / "arrays" / f"{name}.npy"
    if path.exists():
        ids = json.loads(path.with_suffix("").with_name(f"{name}.ids.json").read_text())
        states = pd.DataFrame(np.load(path).astype(float), index=ids["ids"])
        x = states.reindex(rows.key).to_numpy()
        use &= np.isfinite(x).all(axis=1)
        if len(set(wrong[use])) > 1:
            fold = _folds(run, rows.unit.to_numpy(), use, run.settings["p_ik.folds"])
            probed = _probed(x, wrong, fold, run.settings["p_ik.standardize"])
            scores["p_ik"] = _in_folds(probed, fold)
            folds["p_ik"] = fold
    return folds


def _folds(run: Run, unit: Array, use: Array, most: int) -> Array:
    """Return the fold of each row that takes part, -1 of others: entities are never cut."""
    own, count = units(unit[use])
    dealt = np.random.default_rng(run.settings["ci_seed"]).permutation(count) % min(most, count)
    fold = np.full(len(unit), -1)
    fold[use] = dealt[own]
    return fold


def _in_folds(values: Array, fold: Array) -> Array:
    """Return the rank of each value in its fold."""
    out = np.full(len(values), np.nan)
    for k in set(fold.tolist()):
        here = (fold == k) & ~np.isnan(values)
        out[here] = (rankdata(values[here]) - 0.5) / max(here.sum(), 1)
    return out


def _ngrams(question: str, answer: str) -> set[int]:
    """Return the 1- and 2-grams of words of a question and its answer, by their hash."""
    found = set()
    for kind, text in (("q", question), ("a", answer)):
        words = ["^", *re.findall(r"\w+|[^\w\s]", text.casefold())[:2000], "$"]
        found |= {f"{kind} {word}" for word in words}
        found |= {f"{kind} {a} {b}" for a, b in itertools.pairwise(words)}
    return {zlib.crc32(one.encode("utf-8", "surrogatepass")) % 2**18 for one in found}


def _naive_bayes(ngrams: list[set[int]], wrong: Array, fold: Array) -> Array:
    """Return the log-odds of a wrong answer by its n-grams, learned outside of each fold."""
    out = np.full(len(wrong), np.nan)
    for k in sorted(set(fold[fold >= 0])):
        counts = {}
        for kind in (1, 0):
            learn = np.flatnonzero((fold >= 0) & (fold != k) & (wrong == kind))
            counts[kind] = Counter(gram for i in learn for gram in ngrams[i])
        vocabulary = set(counts[0]) | set(counts[1])
        if not all(counts.values()):
            continue
        total = {kind: own.total() + len(vocabulary) for kind, own in counts.items()}
        for i in np.flatnonzero(fold == k):
            seen = ngrams[i] & vocabulary
            logs = (
                math.log((counts[1][g] + 1) / total[1]) - math.log((counts[0][g] + 1) / total[0])
                for g in seen
            )
            out[i] = round(math.fsum(logs), 9)
    return out


def _probed(x: Array, wrong: Array, fold: Array, standardize: bool) -> Array:
    """Return P(incorrect) by ridge logistic regression (C = 1) learned outside of each fold."""
    out = np.full(len(wrong), np.nan)
    for k in sorted(set(fold[fold >= 0])):
        learn, own = (fold >= 0) & (fold != k), fold == k
        y = wrong[learn]
        if len(set(y)) < 2:
            continue
        centre, scale = (x[learn].mean(0), x[learn].std(0)) if standardize else (0.0, 1.0)
        scale = np.where(scale > 1e-12 * np.maximum(1, np.abs(centre)), scale, 1.0)
        z, new = (x[learn] - centre) / scale, (x[own] - centre) / scale
        _, _, basis = np.linalg.svd(z, full_matrices=False)  # the weights lie in the rows' span
        z, new = (np.hstack([m @ basis.T, np.ones((len(m), 1))]) for m in (z, new))
        ridge = np.append(np.ones(z.shape[1] - 1), 0.0)

        def loss(w: Array, z: Array = z, y: Array = y, ridge: Array = ridge) -> Any:
            p = special.expit(z @ w)
            value = ridge @ (w * w) / 2 + np.logaddexp(0, (1 - 2 * y) * (z @ w)).sum()
            return value, ridge * w + z.T @ (p - y)

        def curve(w: Array, z: Array = z, y: Array = y, ridge: Array = ridge) -> Array:
            p = special.expit(z @ w)
            return (z * (p * (1 - p))[:, None]).T @ z + np.diag(ridge)

        start = np.append(np.zeros(z.shape[1] - 1), special.logit(y.mean()))
        fit = optimize.minimize(
            loss, start, jac=True, hess=curve, method="trust-exact", options={"gtol": 1e-9}
        )
        out[own] = special.expit(new @ fit.x)
    return out


def _answers(run: Run, form: str) -> pd.DataFrame:
    """Return the plain answers to each fact, with what every answer metric says of them."""
    rows = run.judged(form)
    rows = rows[rows.method == "plain"].reset_index(drop=True)
    rows["value"], rows["key"], rows["placed"] = rows.text, rows.target, True
    if form == "long":
        spans = run.table("verdicts/long-spans").set_index(["target", "asked"])
        spans = spans.loc[list(zip(rows.target, rows.asked, strict=True))]
        ends = zip(rows.text, spans.answer_start, spans.answer_end, strict=True)
        rows["value"] = ["" if pd.isna(a) else text[int(a) : int(b)] for text, a, b in ends]
        rows["key"] = rows.target + "/" + rows.asked
        rows["placed"] = spans.answer_start.notna().to_numpy()
    rows["type"] = run.types(rows.asked).type.to_numpy()
    rows["rules"] = rows.content == "correct"
    limits = run.settings["rouge_threshold"], run.settings["f1_threshold"]
    accepts: dict[str, Callable[[str, str], bool]] = {
        "rouge_l": lambda gold, text: rouge_l(gold, text) > limits[0],
        "squad_f1": lambda gold, text: squad_f1(gold, text) >= limits[1],
        "exact_match": lambda gold, text: folded(gold) == folded(text),
        "contains": contains,
    }
    names = run.clusters()[rows.asked].tolist()
    order = {name: i for i, name in enumerate(sorted(set(names)))}
    rows["unit"] = [order[name] for name in names]
    rows["cluster"] = ["\t".join(name) for name in names]
    rows["question"] = run.questions.text[rows.asked].to_numpy()
    golds = [references(run.questions.golds[asked]) for asked in rows.asked]
    rows["words"] = [len(text.split()) for text in rows.value]
    rows["reference_words"] = [len(own[0].split()) for own in golds]
    for name, value in (("rouge_l", rouge_l), ("squad_f1", squad_f1)):
        rows[f"{name} value"] = [
            max(value(gold, text) for gold in own)
            for text, own in zip(rows.value, golds, strict=True)
        ]
    absent = ["words", "reference_words", "rouge_l value", "squad_f1 value"]
    rows[absent] = rows[absent].astype(float).where(rows.placed, np.nan)
    for name, accept in accepts.items():
        rows[name] = [
            content != "none" and any(accept(gold, text) for gold in own)
            for content, text, own in zip(rows.content, rows.value, golds, strict=True)
        ]
    return rows


def references(golds: Sequence[dict[str, Any]]) -> list[str]:
    """Return what an answer is compared with: values, aliases, and all values in a row."""
    texts = [text for g in golds for name in (g["value"], *g["aliases"]) for text in written(name)]
    return texts + [" and ".join(written(g["value"])[0] for g in golds)] * (len(golds) > 1)


def written(name: str) -> list[str]:
    """Return a timestamp as people write it; January 1st may mean the year alone."""
    date = DATE.fullmatch(name)
    if not date:
        return [name]
    year, month, day = str(int(date[1])), MONTHS.split()[int(date[2]) - 1], int(date[3])
    full = [f"{day} {month} {year}", f"{month} {day}, {year}"]
    return [year, *full] if (date[2], day) == ("01", 1) else full


def words_of(text: str) -> list[str]:
    """Return the words of a text: letters and digits, in lower case."""
    return re.findall(r"[^\W_]+", text.lower())


def folded(text: str) -> str:
    """Return a text whatever its case and spacing."""
    return " ".join(text.casefold().split())


def contains(gold: str, text: str) -> bool:
    """Return whether the words of the gold stand in the answer, side by side."""
    a, b = words_of(gold), words_of(text)
    return bool(a) and any(b[i : i + len(a)] == a for i in range(len(b)))


def rouge_l(gold: str, text: str) -> float:
    """Return ROUGE-L F1: the longest common subsequence of words."""
    a, b = words_of(gold), words_of(text)
    row = [0] * (len(b) + 1)
    for x in a:
        last = row
        row = [0]
        for j, y in enumerate(b):
            row.append(last[j] + 1 if x == y else max(last[j + 1], row[j]))
    return 2 * row[-1] / (len(a) + len(b)) if row[-1] else 0.0


def squad_f1(gold: str, text: str) -> float:
    """Return SQuAD's F1 over bags of words without articles and punctuation; of empty ones 1."""
    bags = []
    for one in (gold, text):
        kept = "".join(c for c in one.lower() if c not in string.punctuation)
        bags.append(Counter(word for word in kept.split() if word not in ("a", "an", "the")))
    a, b = bags
    return 2 * (a & b).total() / (a.total() + b.total()) if a or b else 1.0


def _ranked(
    found: Numbers,
    form: str,
    run: Run,
    rows: pd.DataFrame,
    wrong: dict[str, Array],
    scores: dict[str, Array],
    folds: dict[str, Array],
) -> None:
    """Write down what every score tells against every metric."""
    stored = run.stored("selective")
    for score, all_values in scores.items():
        fold = folds.get(score)
        for against, all_wrong in wrong.items():
            where = {"form": form, "against": against, "score": score}
            names = [name for name in ("auroc", "auroc_within") if key(name, where) in stored]
            if not names:
                continue  # against other metrics than the judge only some scores are ranked
            use = ~(np.isnan(all_values) | np.isnan(all_wrong))
            values, bad, unit = all_values[use], all_wrong[use] == 1, rows.unit[use]
            at = found.at(**where)
            if not use.any():
                if not (~np.isnan(all_values)).any():
                    at(auroc=None)
                continue
            own_fold = None if fold is None else fold[use]
            if "auroc" in names:
                at(auroc=auroc_range(run, values, bad, unit, own_fold))
                if _rankable(
                    values, bad.astype(float), np.zeros(len(bad)) if fold is None else own_fold
                ):
                    one = measured_pairs(values, bad, rows.cluster[use], own_fold)
                    found.study("auroc", one, **where)
            if "auroc_within" in names:
                kind = rows.type[use].to_numpy(object)
                if fold is not None:
                    kind = [f"{f}/{t}" for f, t in zip(fold[use], kind, strict=True)]
                at(auroc_within=auroc_range(run, values, bad, unit, kind))
                if _rankable(values, bad.astype(float), np.asarray(kind)):
                    one = measured_pairs(values, bad, rows.cluster[use], kind)
                    found.study("auroc_within", one, **where)
            if key("prr", where) in stored:
                at(prr=prr_range(run, values, bad, unit), aurac=aurac(values, bad))
    for name, where in stored:
        if name == "risk" and ("form", form) in where:
            values = scores[dict(where)["score"]]
            use = ~(np.isnan(values) | np.isnan(wrong["rules"]))
            coverage, n = float(dict(where)["coverage"]), float(use.sum())
            risk = risk_at(values[use], wrong["rules"][use], coverage)
            at = found.at(**dict(where))
            at(risk=Range(risk, None, None, risk * coverage * n, coverage * n))
    for reason in run.table(f"scores/{form}").query("target == ''").method:
        found.at(form=form, against="rules", score=reason)(auroc=None)
    hedged = scores["words"]
    use = ~(np.isnan(hedged) | np.isnan(wrong["rules"]))
    found.at(form=form, against="rules", score="words")(
        coverage_of_words=shared(run, use & (hedged == 0), use, rows.unit),
        risk_of_words=shared(run, wrong["rules"] == 1, use & (hedged == 0), rows.unit),
    )


def prr_range(run: Run, score: Array, wrong: Array, clusters: Any) -> Range:
    """Return PRR with its interval; none that is too wide."""
    value = prr(score, wrong)
    if value is None:
        return Range(None, None, None, None, None)
    unit, count = units(clusters)
    same, bad = pairs(wrong, clusters)
    every = between(same, bad, unit, count)
    size = min(worth(every.sum(axis=axis)) for axis in (0, 1))
    drawn = _prr_draws(score, wrong, run.weights(count)[:, unit])
    ends = with_one_more(value, drawn, count, (-math.inf, 1.0), size, (0.0, 1.0))
    if ends[0] is None or ends[1] - ends[0] > 3:
        ends = NONE
    return Range(value, *ends, None, None)


def _prr_draws(score: Array, wrong: Array, weights: Array) -> Array:
    """Return PRR of each resample, its answers written out as often as they are drawn."""
    levels, level = np.unique(score, return_inverse=True)
    member = np.eye(len(levels))[level]
    mass, lost = weights @ member, (weights * wrong) @ member
    rate = np.nan_to_num(over(lost, mass))
    out = np.full(len(weights), np.nan)
    for i, counts in enumerate(mass.astype(int)):
        n, bad = int(counts.sum()), float(lost[i].sum())
        place = np.arange(1, n + 1)
        area = float((np.cumsum(np.repeat(rate[i], counts)) / place).mean())
        best = float((np.maximum(place - (n - bad), 0) / place).mean())
        if bad / n - best > 1e-12:
            out[i] = (bad / n - area) / (bad / n - best)
    return out


def fifth_of(values: Array, count: int = 5) -> Array:
    """Return the quantile of each length, equal ones in one; -1 for NaN."""
    out = np.full(len(values), -1)
    use = ~np.isnan(values)
    if use.any():
        edges = np.quantile(values[use], np.arange(1, count) / count)
        out[use] = (values[use][:, None] > edges).sum(axis=1)
    return out


def _by_length(
    found: Numbers,
    form: str,
    run: Run,
    rows: pd.DataFrame,
    wrong: dict[str, Array],
    scores: dict[str, Array],
) -> None:
    """Write down what metrics refuse, and scores and references, by fifths of length."""
    words, unit = rows.words.to_numpy(float), rows.unit.to_numpy()
    right = (wrong["rules"] == 0) & ~np.isnan(words)
    place = fifth_of(words[right])
    for name in METRICS[1:] if right.any() else ():
        refused, at = wrong[name][right], found.at(form=form, against=name)
        every = np.ones(len(refused), bool)
        at(
            false_negatives=shared(run, refused == 1, every, unit[right]),
        )
        for k in range(5) if name in ("rouge_l", "squad_f1") else ():
            here, own = place == k, words[right][place == k]
            reach = f"{own.min():g}-{own.max():g}" if len(own) else "none"
            part = found.at(form=form, against=name, fifth=str(k + 1), length=reach)
            part(false_negatives_fifth=shared(run, refused == 1, here, unit[right]))


class Areas:
    """AUROCs of scores and of resamples of all entities, each worked out once."""

    def __init__(self, run: Run, clusters: Any) -> None:
        self.unit, self.count = units(clusters)
        self.weights = run.weights(self.count)
        self.kept: dict[Any, tuple[Value, Array]] = {}

    def of(self, name: str, score: Array, wrong: Array, group: Any = None) -> tuple[Value, Array]:
        """Return the AUROC on the rows where both are, and its replicates."""
        use = ~(np.isnan(score) | np.isnan(wrong))
        at = (name, wrong.tobytes(), use.tobytes())
        if at not in self.kept or group is not None:
            kind = None if group is None else group[use]
            same, bad = pairs(wrong[use] == 1, self.unit[use], kind)
            x = score[use]
            high, low = x[bad][:, None], x[~bad][None, :]
            won = ((high > low) + 0.5 * (high == low)) * same
            a, b = (between(t, bad, self.unit[use], self.count) for t in (won, same))
            w = self.weights
            drawn = over(((w @ a) * w).sum(axis=1), ((w @ b) * w).sum(axis=1))
            self.kept[at] = share(float(won.sum()), float(same.sum())), drawn
        return self.kept[at]


def _audits(
    found: Numbers,
    form: str,
    run: Run,
    rows: pd.DataFrame,
    wrong: dict[str, Array],
    scores: dict[str, Array],
) -> None:
    """Write down the length audit of the main scores against ROUGE-L, the judge as the truth."""
    stored, words = run.stored("selective"), rows.words.to_numpy(float)
    for name in scores:
        where = {"form": form, "against": "rouge_l", "score": name}
        if key("audit_against_metric", where) not in stored:
            continue
        whole = scores[name] + wrong["rouge_l"] + wrong["rules"] + words
        use = ~np.isnan(whole)
        u, x, unit = scores[name][use], words[use], rows.unit.to_numpy()[use]
        m, t = wrong["rouge_l"][use], wrong["rules"][use]
        number, count = units(unit)
        weights, areas, bin_of = run.weights(count)[:, number], Areas(run, unit), fifth_of(x, 10)
        once = np.ones((1, len(u)))

        def plain(value: Any, drawn: Array, limits: Any, count: int = count) -> Range:
            one = defined(value)
            return Range(one, *resampled(one, drawn, count, limits), None, None)

        metric, truth = areas.of("u", u, m), areas.of("u", u, t)
        evened = [_evened(u, m, t, bin_of, w) for w in (once, weights)]
        found.at(**where)(
            audit_against_metric=auroc_range(run, u, m == 1, unit),
            audit_against_truth=auroc_range(run, u, t == 1, unit),
            audit_difference=plain(metric[0] - truth[0], metric[1] - truth[1], None),
            audit_from_length=plain(metric[0] - evened[0][0], metric[1] - evened[1], None),
            audit_unexplained=plain(evened[0][0] - truth[0], evened[1] - truth[1], None),
        )


def _soft(score: Array, as_wrong: Array, as_right: Array) -> Array:
    """Return the AUROC of rows that are wrong and right by weights (B, n)."""
    levels, level = np.unique(score, return_inverse=True)
    member = np.eye(len(levels))[level]
    bad, good = as_wrong @ member, as_right @ member
    below = np.cumsum(good, axis=1) - good / 2
    return over((bad * below).sum(axis=1), bad.sum(axis=1) * good.sum(axis=1))


def _evened(u: Array, m: Array, t: Array, bin_of: Array, weights: Array) -> Array:
    """Return the AUROC with the metric's refusals of right answers spread evenly over length."""
    right = t == 0
    overall = over(weights[:, right] @ m[right], weights[:, right].sum(axis=1))[:, None]
    as_wrong = weights * m
    as_right = weights * (1 - m)
    for k in set(bin_of[right].tolist()):
        here = right & (bin_of == k)
        w = weights[:, here]
        rate = over(w @ m[here], w.sum(axis=1))[:, None]
        mixed = (rate > 0) & (rate < 1)
        up, down = over(overall, rate), over(1 - overall, 1 - rate)
        bad = np.where(mixed, m[here] * up, overall)
        good = np.where(mixed, (1 - m[here]) * down, 1 - overall)
        as_wrong[:, here], as_right[:, here] = (w * np.nan_to_num(v) for v in (bad, good))
    return _soft(u, as_wrong, as_right)


def _best(
    found: Numbers,
    form: str,
    run: Run,
    rows: pd.DataFrame,
    wrong: Array,
    scores: dict[str, Array],
    folds: dict[str, Array],
) -> None:
    """Write down the AUROC of the best score, chosen on other entities than it is measured on."""
    stored = run.stored("selective")
    ranked = [
        name
        for name in _in_stored_order(run, form, "auroc")
        if name in scores and name not in ("length_words", "text_only", "words")
    ]
    several = Counter(rows.type)
    typed = len(several) > 1 and max(several.values()) > 1
    for by_type in (True, False) if typed else (False,):
        kinds = {}
        for name in ranked:
            kind = rows.type.to_numpy(object) if by_type else np.zeros(len(rows), object)
            if name in folds:
                kind = np.array([f"{f}/{t}" for f, t in zip(folds[name], kind, strict=True)])
            kinds[name] = kind
        held = [name for name in ranked if _rankable(scores[name], wrong, kinds[name])]
        if len(held) < 2:
            continue
        one = _cross_fitted(run, rows, wrong, {n: scores[n] for n in held}, kinds)
        if key("auroc_best", {"form": form, "against": "rules"}) in stored:
            found.at(form=form, against="rules")(auroc_best=one)
        return


def _in_stored_order(run: Run, form: str, name: str) -> list[str]:
    """Return the scores in the order of the leaderboard."""
    rows = run.table("metrics/selective")
    places = [dict(where) for where in rows["where"][rows.name == name]]
    return [at["score"] for at in places if at["form"] == form and at.get("against") == "rules"]


def _rankable(score: Array, wrong: Array, kind: Array) -> bool:
    """Tell whether five answers of each kind stand in a pair of one group."""
    use = ~(np.isnan(score) | np.isnan(wrong))
    same, _ = pairs(wrong[use] == 1, kind[use], kind[use])
    return min((same.sum(axis=1) > 0).sum(), (same.sum(axis=0) > 0).sum()) >= 5


def _cross_fitted(
    run: Run, rows: pd.DataFrame, wrong: Array, scores: dict[str, Array], kinds: dict[str, Array]
) -> Range:
    unit, count = units(rows.unit)
    folds = min(10, count)
    fold = np.random.default_rng(run.settings["ci_seed"]).permutation(count) % folds
    weights = np.concatenate([np.ones((1, count)), run.weights(count)[:200]])
    member = np.eye(folds)[fold]
    tables = []
    for name, score in scores.items():
        use = ~(np.isnan(score) | np.isnan(wrong))
        same, bad = pairs(wrong[use] == 1, unit[use], kinds[name][use])
        x = score[use]
        high, low = x[bad][:, None], x[~bad][None, :]
        won = ((high > low) + 0.5 * (high == low)) * same
        own = [between(t, bad, unit[use], count) for t in (won, same)]
        tables.append(
            [[member.T @ (w[:, None] * t * w[None, :]) @ member for w in weights] for t in own]
        )
    table = np.array(tables)  # (scores, won and all, resamples, folds, folds)
    values, chosen_first = [], None
    for b in range(len(weights)):
        won, same = table[:, 0, b], table[:, 1, b]
        in_order = every = 0.0
        chosen = np.full((folds, folds), -1)
        for i, j in np.ndindex(folds, folds):
            out = np.ones((folds, folds), bool)
            out[[i, j], :] = False
            out[:, [i, j]] = False
            a, n = won[:, out].sum(axis=1), same[:, out].sum(axis=1)
            if not n.any():
                continue
            best = int(np.argmax(np.where(n > 0, np.round(over(a, n), 12), -1.0)))
            chosen[i, j] = best
            in_order, every = in_order + won[best, i, j], every + same[best, i, j]
        values.append(in_order / every if every else np.nan)
        chosen_first = chosen if chosen_first is None else chosen_first
    value = defined(values[0])
    if value is None:
        return Range(None, None, None, None, None)
    used = np.unique(chosen_first[chosen_first >= 0])
    most = max(used.tolist(), key=lambda place: int((chosen_first == place).sum()))
    some = np.any([~np.isnan(score) for score in scores.values()], axis=0)
    held = some & ~np.isnan(wrong)
    kind = kinds[list(scores)[most]]
    all_pairs, bad = pairs(wrong[held] == 1, unit[held], kind[held])
    clustered = between(all_pairs, bad, unit[held], count)
    size = min(worth(clustered.sum(axis=axis)) for axis in (0, 1))
    ends = with_one_more(value, np.array(values[1:]), count, (0.0, 1.0), size, (0.5, 1 / 12))
    i, j = np.indices(chosen_first.shape)
    total = table[chosen_first, 1, 0, i, j][chosen_first >= 0].sum()
    if not 0 < value < 1:
        ends = exact(value * size, size)
    return Range(value, *ends, round(2 * value * total) / 2, float(total))


def accuracies(score: Array, wrong: Array) -> Array:
    """Return the accuracy of the m surest answers for each m, in a tie that of any order."""
    table = pd.DataFrame({"score": score, "right": 1.0 - wrong}).sort_values("score")
    expected = table.groupby("score").right.transform("mean").to_numpy()
    return np.asarray(np.cumsum(expected) / np.arange(1, len(table) + 1))


def risk_at(score: Array, wrong: Array, coverage: float) -> float:
    """Return the share of wrong answers among the surest, the last one counted in part."""
    m, n = coverage * len(score), np.arange(len(score) + 1)
    right = np.concatenate([[0.0], accuracies(score, wrong) * n[1:]])
    return 1 - float(np.interp(m, n, right)) / m


def aurac(score: Array, wrong: Array) -> float:
    """Return the area under accuracy against the share answered, a tenth to all, normalized."""
    shares = np.linspace(0.1, 1, 20)
    accuracy = np.array([1 - wrong[score <= np.quantile(score, q)].mean() for q in shares])
    return float(((accuracy[1:] + accuracy[:-1]) / 2 * np.diff(shares)).sum() / 0.9)


def prr(score: Array, wrong: Array) -> Value:
    """Return what the score gains on rejecting by lot, as a share of what an oracle gains."""
    area, best = accuracies(score, wrong).mean(), accuracies(wrong.astype(float), wrong).mean()
    by_lot = 1 - wrong.mean()
    return share(area - by_lot, best - by_lot)


def _metrics_compared(
    found: Numbers, form: str, run: Run, rows: pd.DataFrame, wrong: dict[str, Array]
) -> None:
    """Write down error rates, and how metrics agree."""
    placed = rows.placed.to_numpy(bool)
    for i, first in enumerate(METRICS):
        at, a = found.at(form=form, against=first), wrong[first]
        for second in METRICS[i + 1 :]:
            b = wrong[second]
            pair = found.at(form=form, against=first, metric=second)
            pair(metric_agreement=shared(run, a == b, placed, rows.unit))
        at(error_rate=shared(run, a == 1, placed, rows.unit))


# ---- self-known: claims along a text


def self_known(run: Run) -> Numbers:
    """Return the numbers of `sayso run self_known`, also of texts that exist."""
    found = Numbers()
    count, modes = run.settings["bins"], ("direct", "qa", "qa_none")
    all_claims, all_sentences, texts = _long_texts(run)
    sides: dict[str, Side] = {}
    for name in dict.fromkeys(texts.method):
        method, own = str(name), texts[texts.method == name]
        claims = all_claims[all_claims.generation.isin(own.index)]
        sentences = all_sentences[all_sentences.generation.isin(own.index)]
        side = Side(run, method, own, claims, sentences)
        sides[method] = side
    lengths = [side.median_rated for side in sides.values() if side.median_rated is not None]
    sizes = np.concatenate([side.counts.S[side.rated > 0] for side in sides.values()] or [[]])
    k = run.settings["k"] or (max(1, int(np.median(sizes))) if len(sizes) else 1)
    for method, side in sides.items():
        _whole_texts(found, side, k, int(min(lengths, default=0)))
        _curves(found, side, count)
        _wanted_facts(found, side)
        _filters(found, side)
        for mode in modes:
            if mode in side.claims:
                _asked(found, side, mode)
        _none_flips(found, side, count)
        _against_people(found, side, count)
        if method in REWRITTEN and "plain" in sides:
            _less_plain(found, sides["plain"], side)
    return found


#: texts of one model on the same topics, written in another way than plainly
REWRITTEN = ("retrieval", "revised", "cautious")


class Side:
    """The texts of one method, with their claims and sentences, and how its numbers are written."""

    def __init__(
        self,
        run: Run,
        method: str,
        texts: pd.DataFrame,
        claims: pd.DataFrame,
        sentences: pd.DataFrame,
    ) -> None:
        self.run, self.method, self.texts, self.sentences = run, method, texts, sentences
        self.claims = claims = claims.reset_index(drop=True)
        self.answered = texts[texts.answered]
        self.topics = self.answered.topic.nunique()
        counts = pd.crosstab(claims.generation, claims.label)
        self.counts = counts.reindex(self.answered.index, fill_value=0).reindex(
            columns=["S", "NS", "IR"], fill_value=0
        )
        self.claimed = claims.groupby("generation").size().reindex(counts_of(self), fill_value=0)
        self.rated = self.counts.S + self.counts.NS
        some = self.claimed > 0
        self.median_rated = float(np.median(self.rated[some])) if some.any() else None

    def write(self, found: Numbers, **where: str) -> Callable[..., None]:
        """Return a function that writes numbers; an interval that leaves all open is none."""
        at = found.at(method=self.method, **where)

        def put(**values: Value | Range) -> None:
            for name, value in values.items():
                if isinstance(value, Range):
                    bare = bool(where.get("part")) and self.topics < 10
                    value = unbounded(name, value) if not bare else value
                    if bare and value.low is not ...:
                        value = value._replace(low=None, high=None)
                at(**{name: value})

        return put


def counts_of(side: Side) -> pd.Index:
    """Return the texts of a method that answer."""
    return side.answered.index


def unbounded(name: str, one: Range) -> Range:
    """Return a number without an interval as wide as its scale."""
    if one.value is None or one.low in (None, ...) or one.high in (None, ...):
        return one
    if name.endswith(("_per_sentence", "_per_answer")):
        wide = one.high > 10 * one.value
    else:
        least = -1 if one.low < 0 else 0
        wide = one.low < least + 0.005 and one.high > 0.995
    return one._replace(low=None, high=None) if wide else one


def parts_of(rows: pd.DataFrame, count: int) -> list[tuple[str, Array]]:
    """Return the whole text and its parts: what each is called, and which rows are in it."""
    parts = [(f"{b + 1}/{count}", (rows.part == b).to_numpy()) for b in range(count)]
    return [("", np.ones(len(rows), dtype=bool)), *parts]


def _long_texts(run: Run) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the claims and sentences of texts that answer, and all texts."""
    texts = run.table("generations/long").set_index("id")
    state = run.table("verdicts/long").drop_duplicates("target").set_index("target").label
    texts["answered"] = state.reindex(texts.index).eq("answered")
    texts["topic"] = ["\t".join(name) for name in run.clusters()[texts.question]]
    texts["domain"] = run.questions.domain[texts.question].to_numpy()
    texts["row"] = np.arange(len(texts))
    sentences = run.table("sentences/long")
    sentences = sentences[sentences.generation.isin(texts.index[texts.answered])]
    sentences = sentences.assign(row=texts.row[sentences.generation].to_numpy())
    sentences = sentences.sort_values(["row", "number"])
    n = sentences.groupby("generation").number.transform("size")
    # sentence i of n is in the part (lo, hi] that holds i/n
    part = (run.settings["bins"] * sentences.number + n - 1) // n - 1
    if run.settings["closed"] == "left":
        part = np.minimum(run.settings["bins"] - 1, run.settings["bins"] * sentences.number // n)
    sentences = sentences.assign(part=part, place=sentences.number / n, sentence=sentences.number)
    sentences["topic"] = texts.topic[sentences.generation].to_numpy()
    sentences = sentences[["generation", "sentence", "part", "place", "topic"]]
    claims = run.table("claims/long")
    claims = claims[claims.generation.isin(texts.index[texts.answered])]
    labels = run.table("verdicts/long-people+long-support")  # people's come first
    labels["none"] = labels.label.isna()
    labels = labels.sort_values("none", kind="stable") if len(labels) else labels
    claims["label"] = labels.drop_duplicates("target").set_index("target").label.reindex(
        claims.id
    ).to_numpy()  # fmt: skip
    for mode in ("direct", "qa", "qa_none"):
        told = run.table(f"verdicts/self-{mode}")
        if len(told):
            told = told.set_index("target").reindex(claims.id)
            claims[mode], claims[f"{mode}_raw"] = told.label.to_numpy(), told.raw.to_numpy()
    places = sentences[["generation", "sentence", "part", "place"]]
    claims = claims.assign(
        order=np.arange(len(claims)), row=texts.row[claims.generation].to_numpy()
    )
    claims = claims.merge(places, on=["generation", "sentence"], how="left")
    claims = claims.sort_values(["row", "order"]).reset_index(drop=True)
    claims["topic"] = texts.topic.reindex(claims.generation).to_numpy()
    counts = pd.crosstab([claims.generation, claims.sentence], claims.label)
    counts = counts.reindex(columns=["S", "NS", "IR"], fill_value=0)
    return claims, sentences.join(counts, on=["generation", "sentence"]), texts


def counted_share(top: float, bottom: float) -> Range:
    """Return a share of counts that has no interval."""
    return Range(share(top, bottom), None, None, float(top), float(bottom))


def _whole_texts(found: Numbers, side: Side, k: int, first: int) -> None:
    """Write down what is said of whole texts."""
    run, counts, rated, texts = side.run, side.counts, side.rated, side.answered
    answers = side.texts[side.texts.problem.isna()]
    put, topic = side.write(found), texts.topic
    put(response_rate=counted_share(len(texts), len(answers)))
    blank = float((answers.text.str.strip() == "").sum())
    if blank:
        empty = counted_share(blank, len(answers))
        side.write(found, problem="empty")(answers_without_claims=empty)
    if not len(texts):
        return
    bare = counted_share((side.claimed == 0).sum(), len(texts))
    side.write(found, problem="no claim")(answers_without_claims=bare)
    some = (rated > 0).to_numpy()
    s, n = counts.S[some].to_numpy(float), rated[some].to_numpy(float)
    gamma, gain = run.settings["gamma"], np.minimum(1.0, s / k)
    shorter = np.where(n < gamma, np.exp(1 - gamma / n), 1.0)
    f1 = np.where(s > 0, over(2 * (s / n) * gain, s / n + gain), 0.0)
    claimed, ones = side.claimed.to_numpy(float), np.ones(len(texts))
    count = (0.0, math.inf)
    put(
        factscore=averaged(run, s / n, topic[some]),
        factscore_penalized=averaged(run, s / n * shorter, topic[some]),
        factuality_micro=ratio(run, counts.S, rated, topic),
        irrelevant_share=ratio(run, counts.IR, rated + counts.IR, topic),
        claims_per_answer=ratio(run, claimed, ones, topic, count),
    )
    found.study(
        "factscore", measured_ratio(s / n, np.ones(len(n)), topic[some]), method=side.method
    )
    found.study("claims_per_answer", measured_ratio(claimed, ones, topic), method=side.method)
    side.write(found, k=str(k))(f1_at_k=averaged(run, f1, topic[some]))
    for domain in dict.fromkeys(texts.domain):
        own = some & (texts.domain == domain).to_numpy()
        if domain and own.sum() >= 5 and not own[some].all():
            precise = (counts.S / rated)[own]
            side.write(found, domain=domain)(factscore=averaged(run, precise, topic[own]))
    if first:
        ordered = side.claims[side.claims.label.isin(["S", "NS"])]
        ordered = ordered.assign(at=ordered.sentence.where(ordered.part.notna(), np.inf))
        ordered = ordered.sort_values(["row", "at"], kind="stable")
        heads = (ordered.label == "S").groupby(ordered.generation).head(first)
        hits = heads.groupby(ordered.generation[heads.index]).sum().reindex(texts.index)
        long = (rated >= first).to_numpy()
        values = hits[long].to_numpy(float) / first
        one = shared(run, values, np.ones(len(values), bool), topic[long])
        side.write(found, first=str(first))(precision_at_length=one)


def _wanted_facts(found: Numbers, side: Side) -> None:
    """Write down how many of the wanted facts come."""
    run = side.run
    aspects = run.table("verdicts/long-aspects")
    own = aspects[aspects.target.isin(side.answered.index)] if len(aspects) else aspects
    if not len(own):
        return
    read = own.problem.isna().to_numpy()
    labels = np.array([label(*pair) for pair in zip(own.stance, own.content, strict=True)])
    topic = side.texts.topic[own.target]
    side.write(found)(recall=shared(run, labels == "S", read, topic))


def _filters(found: Numbers, side: Side) -> None:
    """Write down which score finds the unsupported claims, and what a filter by it leaves."""
    run, rated = side.run, side.claims[side.claims.label.isin(["S", "NS"])]
    table = run.table("scores/claims")
    for score, own in table.groupby("method") if len(table) else ():
        values = own.set_index("target").value.reindex(rated.id).to_numpy(float)
        for part, here in parts_of(rated, run.settings["bins"]):
            use = ~np.isnan(values) & here
            put = side.write(found, score=str(score), part=part)
            if not use.any():
                if not part:
                    put(auroc=None)
                continue
            u, wrong = values[use], (rated.label[use] == "NS").to_numpy()
            put(auroc=auroc_range(run, u, wrong, rated.topic[use]))


def _curves(found: Numbers, side: Side, count: int) -> None:
    """Write down factuality and counts by part of the text."""
    run, sentences = side.run, side.sentences
    have = sentences.dropna(subset=["S"])  # those that claim something
    rated = have.S + have.NS
    have = have.assign(rated=rated, all=rated + have.IR, factual=have.S / rated.where(rated > 0))
    sure = run.table("verdicts/long-decisive")
    if len(sure):
        number = sure.drop_duplicates("target").set_index("target").number
        number = side.claims.id.map(number)
    usual = run.settings["average"]
    for b, (part, here) in enumerate(parts_of(have, count)[1:]):
        own, put = have[here], side.write(found, part=part)
        some = own.dropna(subset=["factual"])
        means = some.groupby("generation", sort=False).agg(
            factual=("factual", "mean"), topic=("topic", "first")
        )
        curve = {
            "sentence": averaged(run, some.factual, some.topic),
            "generation": averaged(run, means.factual, means.topic),
            "micro": ratio(run, some.S, some.rated, some.topic),
        }
        put(factuality=curve[usual])
        claiming = own[own["all"] > 0]
        for name, of in (("supported", "S"), ("unsupported", "NS"), ("irrelevant", "IR")):
            per = averaged(run, claiming[of], claiming.topic, (0.0, math.inf))
            put(**{f"{name}_per_sentence": per})
            put(**{f"{name}_share": averaged(run, claiming[of] / claiming["all"], claiming.topic)})
        if len(sure):
            told = number.notna() & (side.claims.part == b)
            put(decisiveness=averaged(run, number[told].astype(float), side.claims.topic[told]))
    _trend(found, side, have.dropna(subset=["factual"]))


def _trend(found: Numbers, side: Side, have: pd.DataFrame) -> None:
    """Write down the slope inside texts."""
    run, put = side.run, side.write(found)
    several = have[have.groupby("generation").generation.transform("size") > 1]
    if len(several):
        columns = several[["place", "factual"]].astype(float)
        inside = columns - columns.groupby(several.generation).transform("mean")
        x, y = inside.place.to_numpy(), inside.factual.to_numpy()
        unit, topics = units(several.topic)
        across, below = by_unit(x * y, unit, topics), by_unit(x * x, unit, topics)
        weights, slope = run.weights(topics), share(float(across.sum()), float(below.sum()))
        ends = resampled(slope, over(weights @ across, weights @ below), topics, None)
        put(trend=Range(slope, *(ends if topics >= 10 else NONE), None, None))


def difference(
    run: Run, top: Any, bottom: Any, clusters: Any, top2: Any, bottom2: Any, clusters2: Any
) -> Range:
    """Return a ratio of sums less another with the interval of resamples of both together."""
    names, sides = np.unique(np.concatenate([clusters, clusters2])), []
    weights = run.weights(len(names))
    for a, b, own in ((top, bottom, clusters), (top2, bottom2, clusters2)):
        values = np.asarray(a, float)
        of = np.ones(len(values)) if b is None else np.asarray(b, float)
        unit = np.searchsorted(names, np.asarray(own))
        sums = [by_unit(v, unit, len(names)) for v in (values, of)]
        whole = defined(over(values.sum(), of.sum()))
        sides.append((whole, over(weights @ sums[0], weights @ sums[1])))
    value = less(sides[0][0], sides[1][0])
    ends = resampled(value, sides[0][1] - sides[1][1], len(names), None)
    same = len(top) == len(top2) and np.array_equal(np.asarray(top), np.asarray(top2))
    if value == 0 and ends == NONE and same and len(names) > 1:
        ends = (0.0, 0.0)
    return Range(value, *ends, None, None)


def cut(one: Range) -> Range:
    """Return a difference of shares with its interval inside -1 to 1."""
    if one.low is None or one.high is None:
        return one
    return one._replace(low=max(one.low, -1.0), high=min(one.high, 1.0))


def differing(one: Range) -> Range:
    """Return a difference from plain texts, without an interval where no topic differs."""
    return one._replace(low=None, high=None) if one.low == one.high else one


def equation3(sk: Value, su: Value) -> Value:
    """Return F = (1 - SU) / (2 - SU - SK)."""
    return None if sk is None or su is None else share(1 - su, 2 - su - sk)


def rogan_gladen(rate: Value, sk: Value, su: Value) -> Value:
    """Return F = (r + SU - 1) / (SK + SU - 1), r the accept rate."""
    if rate is None or sk is None or su is None or abs(sk + su - 1) < 1e-9:
        return None
    return (rate + su - 1) / (sk + su - 1)


def accepted(told: pd.Series, noa: str) -> Array:
    """Return 1 where a claim is accepted, NaN where that does not count."""
    return told.map({"yes": 1.0, "no": 0.0, "none": np.nan if noa == "missing" else 0.0}).to_numpy(
        float
    )


def rejected(told: pd.Series, noa: str) -> Array:
    """Return 1 where a claim is rejected, NaN where that does not count."""
    none = {"incorrect": 1.0, "b_only": 0.0, "missing": np.nan}[noa]
    return told.map({"yes": 0.0, "no": 1.0, "none": none}).to_numpy(float)


def read_claims(run: Run, side: Side, mode: str) -> pd.DataFrame:
    """Return the rated claims of a method with what the model said of each."""
    rated, noa = side.claims[side.claims.label.isin(["S", "NS"])], run.settings["noa"]
    return rated.assign(yes=accepted(rated[mode], noa), no=rejected(rated[mode], noa))


def _asked(found: Numbers, side: Side, mode: str) -> None:
    """Write down what the model says of its own claims in one setting, whole and by part."""
    run, claims, settings = side.run, side.claims, side.run.settings
    rated = read_claims(run, side, mode)
    topic, names = pd.factorize(rated.topic, sort=True)
    order = np.random.default_rng(settings["ci_seed"]).permutation(len(names))
    fold = order[topic] % min(settings["folds"], len(names)) if len(names) else topic
    rated = rated.assign(fold=fold)
    yes, no = (f(claims[mode], settings["noa"]) for f in (accepted, rejected))
    sides = {
        "SK": (yes, claims.label == "S"),
        "SU": (no, claims.label == "NS"),
        "accept_rate": (yes, claims.label.isin(["S", "NS"])),
    }
    for part, here in parts_of(claims, settings["bins"]):
        values = of_claims(rated[here[rated.index]])
        put = side.write(found, mode=mode, part=part)
        for name, (hit, of) in sides.items():
            use = here & of.to_numpy() & ~np.isnan(hit)
            put(**{name: shared(run, np.nan_to_num(hit), use, claims.topic)})
            if not part and use.any():
                one = measured_ratio(hit[use], np.ones(use.sum()), claims.topic[use])
                found.study(name, one, method=side.method, mode=mode)
            values.pop(name)
        values["equation3_in_sample"] = _third(run, rated, here[rated.index])
        put(**values, **from_others(rated, here[rated.index]))
    if len(rated):
        few_topics = side.topics < 10
        _correlated(
            lambda **where: side.write(found, **where), run, rated, settings["bins"], rated.topic,
            mode=mode, bare=few_topics,
        )  # fmt: skip
    raw = claims[f"{mode}_raw"].dropna().str.partition("|")
    replies = [[r for r in one.split(",") if r != "?"] for one in raw[0]]
    several = [one for one in replies if len(one) > 1]
    masses = [float(mass) for mass in raw[2] if mass]
    put = side.write(found, mode=mode)
    put(order_flips=counted_share(sum(len(set(one)) > 1 for one in several), len(several)))
    if masses:
        put(not_understood=counted_share(sum(mass < 0.5 for mass in masses), len(masses)))


def _places(rated: pd.DataFrame, clusters: Any, count: int) -> Array:
    """Return supported, accepted, unsupported and rejected claims: (clusters, places, 4)."""
    unit, size = units(clusters)
    table = np.zeros((size, count, 4))
    read = rated.yes.notna() & rated.part.notna()
    true, place = (rated.label == "S").to_numpy(), rated.part.fillna(0).to_numpy(int)
    columns = (true, true & (rated.yes == 1), ~true, ~true & (rated.no == 1))
    for i, column in enumerate(columns):
        at = (read & column).to_numpy(bool)
        np.add.at(table, (unit[at], place[at], i), 1.0)
    return table


def _curve_of(table: Array) -> dict[str, Array]:
    """Return labels, SK, SU and Equation 3 of counts (..., 4)."""
    s, yes, ns, no = np.moveaxis(table, -1, 0)
    sk, su = over(yes, s), over(no, ns)
    third = over(1 - su, 2 - su - sk)
    return {"factual": over(s, s + ns), "SK": sk, "SU": su, "equation3_in_sample": third}


def _third(run: Run, rated: pd.DataFrame, here: Array) -> Range:
    """Return Equation 3 of the very claims, with the interval over topics."""
    placed = rated.assign(part=np.where(here, 0.0, np.nan))
    table = _places(placed, rated.topic, 1)[:, 0] if len(rated) else np.zeros((0, 4))
    if not table.any():
        return Range(None, None, None, None, None)
    value = defined(_curve_of(table.sum(axis=0))["equation3_in_sample"])
    drawn = _curve_of(run.weights(len(table)) @ table)["equation3_in_sample"]
    return Range(value, *resampled(value, drawn, len(table)), None, None)


def _correlated(
    at: Callable[..., Callable[..., None]],
    run: Run,
    rated: pd.DataFrame,
    count: int,
    clusters: Any,
    bare: bool | None = None,
    **where: str,
) -> None:
    """Write down how factuality goes with SK, SU and Equation 3, from one place to the next."""
    table = _places(rated, clusters, count)
    drawn = _curve_of(np.tensordot(run.weights(len(table)), table, axes=1))
    whole = _curve_of(table.sum(axis=0))
    few_topics = len(table) < 10 if bare is None else bare
    for name in ("SK", "SU", "equation3_in_sample"):
        put = at(**where, **{"with": name})
        for how, of in (("factuality_pearson", pearson), ("factuality_spearman", spearman)):

            def measure(x: Array, y: Array, of: Any = of) -> float:
                both = ~(np.isnan(x) | np.isnan(y))
                value = of(x[both], y[both])
                return np.nan if value is None else float(np.clip(value, -1, 1))

            value = defined(measure(whole["factual"], whole[name]))
            pairs_of_curves = zip(drawn["factual"], drawn[name], strict=True)
            replicates = np.array([measure(x, y) for x, y in pairs_of_curves])
            ends = NONE if few_topics else resampled(value, replicates, len(table), (-1.0, 1.0))
            put(**{how: Range(value, *ends, None, None)})


def of_claims(rows: pd.DataFrame) -> dict[str, Any]:
    """Return SK, SU, accept rate, labels, and Equation 3 from these very claims."""
    told = rows.dropna(subset=["yes"])
    sk, su = mean(told.yes[told.label == "S"]), mean(told.no[told.label == "NS"])
    rate, truth = mean(told.yes), mean(told.label == "S")
    return {
        "SK": sk,
        "SU": su,
        "accept_rate": rate,
        "labeled_factuality": truth,
        "overconfidence": less(rate, truth),
        "equation3_in_sample": equation3(sk, su),
    }


def from_others(rated: pd.DataFrame, here: Array) -> dict[str, Value]:
    """Return what SK and SU of other topics say of these claims: a mean over folds by claims."""
    sizes, third, gladen = [], [], []
    for fold in sorted(set(rated.fold)):
        inside = (rated.fold == fold).to_numpy()
        own, other = rated[inside & here].dropna(subset=["yes"]), of_claims(rated[~inside])
        sk, su = other["SK"], other["SU"]
        if len(own) and sk is not None and su is not None:
            sizes.append(len(own))
            third.append(equation3(sk, su))
            gladen.append(rogan_gladen(mean(own.yes), sk, su))
    weighted = (
        None if None in of or not of else float(np.average(np.array(of, float), weights=sizes))
        for of in (third, gladen)
    )
    return dict(zip(("equation3", "rogan_gladen"), weighted, strict=True))


def _none_flips(found: Numbers, side: Side, count: int) -> None:
    """Write down how many claims are accepted until "none of the above" is offered."""
    claims = side.claims
    if not {"qa", "qa_none"} <= set(claims):
        return
    read = claims.qa.notna() & claims.qa_none.notna()
    flipped = (claims.qa == "yes") & claims.qa_none.isin(["no", "none"])
    for kind, of in (("supported", "S"), ("unsupported", "NS")):
        for part, here in parts_of(claims, count):
            use = read & (claims.label == of) & here
            one = shared(side.run, flipped, use, claims.topic)
            one = one if part else one._replace(low=None, high=None)
            side.write(found, part=part, **{"class": kind})(none_flips=one)


def _against_people(found: Numbers, side: Side, count: int) -> None:
    """Write down how the checker of claims agrees with people, where both labeled them."""
    run, claims = side.run, side.claims
    tables = [run.table(f"verdicts/{name}") for name in ("long-support", "long-people")]
    if not all(map(len, tables)):
        return
    checked, true = (
        claims.id.map(t.drop_duplicates("target").set_index("target").label)
        .map({"S": 1.0, "NS": 0.0})
        .to_numpy(float)
        for t in tables
    )
    both = ~np.isnan(checked) & ~np.isnan(true)
    put, topic = side.write(found), claims.topic.to_numpy()
    put(verifier_agreement=shared(run, checked == true, both, topic))

    for part, here in parts_of(claims, count):
        use = both & here
        one = averaged(run, (checked - true)[use], topic[use], None)
        side.write(found, part=part)(verifier_bias=cut(one))


def _at_equal_recall(found: Numbers, plain: Side, side: Side, asked: set[str]) -> None:
    """Write down precision with as many supported claims of each topic, and what is gained."""
    run, labels = side.run, []
    for one in (plain, side):
        ordered = one.claims.assign(at=one.claims.sentence.where(one.claims.part.notna(), np.inf))
        ordered = ordered.sort_values(["row", "at"], kind="stable")
        by_text = ordered.groupby("generation").label.agg(list)
        texts = one.answered[one.answered.question.isin(asked)]
        labels.append({q: by_text.get(text, []) for text, q in texts.question.items()})
    wanted = {q: min(own[q].count("S") for own in labels) for q in labels[1]}
    sides = []
    for one, own in zip((plain, side), labels, strict=True):
        topics = dict(zip(one.answered.question, one.answered.topic, strict=True))
        m, wrong = [], []
        for q, told in own.items():
            before = list(itertools.accumulate(told, lambda n, x: n + (x == "S"), initial=0))
            cut_at = before.index(wanted[q])
            m.append(float(wanted[q]))
            wrong.append(float(told[:cut_at].count("NS")))
        of = np.array(m) + np.array(wrong)
        sides.append((np.array(m), of, np.array([topics[q] for q in own])))
    put = side.write(found)
    if not sum(wanted.values()):
        put(precision_at_recall=None, precision_at_recall_minus_plain=None)
        return
    side.write(found, of="plain")(precision_at_recall=ratio(run, *sides[0]))
    put(precision_at_recall=ratio(run, *sides[1]))
    put(precision_at_recall_minus_plain=differing(cut(difference(run, *sides[1], *sides[0]))))


def _less_plain(found: Numbers, plain: Side, side: Side) -> None:
    """Write down what texts written in another way have more than the plain ones."""
    run = side.run
    asked = set(plain.answered.question) & set(side.answered.question)
    rated = [set(s.answered.question[(s.rated > 0).to_numpy()]) for s in (plain, side)]
    columns = []
    for s in (side, plain):
        use = s.answered.question.isin(rated[0] & rated[1]).to_numpy()
        columns += [(s.counts.S / s.rated)[use], None, s.answered.topic[use]]
    gap = None
    if len(columns[2]) and len(columns[5]):
        gap = differing(cut(difference(run, *columns)))
    side.write(found)(factscore_minus_plain=gap)
    _at_equal_recall(found, plain, side, asked)


# ---- a study: numbers by model, their means over the data sets, and what models differ in

PROTOCOLS: dict[str, Callable[[Run], Numbers]] = {
    "uncle": uncle,
    "faithfulness": faithfulness,
    "selective": selective,
    "self_known": self_known,
}
NO_SLICE = {"meaning", "value", "low", "high", "n", "problem", "rank_best", "rank_worst", "name"}
#: numbers of which less is better; all others rank the other way round, or not at all
LESS = {"over_hedge", "error_rate"}
#: what a study draws again: so many resamples, of this seed, unless it is told otherwise
RESAMPLES, SEED = 1000, 0
#: the scale of a number that is no share
SCALES: dict[str, tuple[float, float] | None] = {
    "J": (-1.0, 1.0),
    "J_within": (-1.0, 1.0),
    "skill": None,
    "claims_per_answer": (0.0, math.inf),
}


class Measured(NamedTuple):
    """A number of a run as a function of how often each of its clusters is drawn, (B, C)."""

    names: list[str]
    measure: Callable[[Array], Array]


class Together(NamedTuple):
    """A number of all models on all data sets, drawn together."""

    values: Array
    drawn: Array
    names: list[list[str]]
    units: int
    strata: int


def drawn_together(table: list[list[Measured | None]]) -> Together:
    """Return a number's values (M, S) and resamples (M, S, B); shared clusters are drawn once."""
    models, sets = len(table), len(table[0])
    values, drawn = np.full((models, sets), np.nan), np.full((models, sets, RESAMPLES), np.nan)
    names = [sorted({n for row in table if row[s] for n in row[s].names}) for s in range(sets)]
    groups: list[list[int]] = []
    for s in range(sets):
        touching = [g for g in groups if any(set(names[s]) & set(names[i]) for i in g)]
        groups = [g for g in groups if g not in touching]
        groups.append(sorted([s, *(i for g in touching for i in g)]))
    units_of_all = 0
    for group in groups:
        every = sorted({n for s in group for n in names[s]})
        units_of_all += len(every)
        if not every:
            continue
        rng = np.random.default_rng([SEED, group[0]])
        chosen = (rng.random((RESAMPLES, len(every))) * len(every)).astype(int)
        weights = np.stack([np.bincount(row, minlength=len(every)) for row in chosen]).astype(float)
        place = {name: i for i, name in enumerate(every)}
        for s, m in itertools.product(group, range(models)):
            if (one := table[m][s]) is not None:
                own = [place[name] for name in one.names]
                drawn[m, s] = one.measure(weights[:, own])
                values[m, s] = one.measure(np.ones((1, len(own))))[0]
    return Together(values, drawn, names, units_of_all, len(groups))


def _joint_interval(value: Value, drawn: Array, units: int, strata: int, limits: Any) -> Ends:
    """Return the interval of a mean over data sets, of which ``strata`` groups are drawn apart."""
    kept = drawn[~np.isnan(drawn)]
    if value is None or len(kept) < 2 or units <= strata:
        return NONE
    error = float(kept.std(ddof=1)) * math.sqrt(units / (units - strata))
    return on_scale(value, error, units - strata, limits) if error > 1e-12 else NONE


class Pair(NamedTuple):
    """The difference of two models with its p, alone and after Holm's correction."""

    gap: Range
    p: Value
    corrected: Value = None


def _pairs(whole: Together, cells: list[list[Range]], limits: Any) -> dict[tuple[int, int], Pair]:
    """Return the difference of every two models, tested on resamples of both together."""
    models, sets = whole.values.shape
    floors = np.zeros(models)
    for m in range(models):
        ends, own = [], []
        for s in range(sets):
            kept = whole.drawn[m, s][~np.isnan(whole.drawn[m, s])]
            count, cell, flat = len(whole.names[s]), cells[m][s], 0.0
            still = len(kept) > 0 and np.ptp(kept) <= 1e-12
            if still and limits is not None and not math.isinf(limits[1]):
                flat = (limits[1] - limits[0]) * (1 - 0.025 ** (1 / count)) / 1.96
            ends.append(flat**2)
            extra = 0.0
            if cell.low not in (None, ...) and cell.high is not None and count > 1:
                told = (cell.high - cell.low) / 2 / student(count - 1)
                seen = float(kept.std()) if len(kept) else 0.0
                extra = told**2 - seen**2 if told > 1.25 * seen else 0.0
            own.append(extra)
        floors[m] = max(math.sqrt(sum(ends)), math.sqrt(sum(own))) / sets
    means, draws = whole.values.mean(axis=1), whole.drawn.mean(axis=1)
    freedom = whole.units - whole.strata
    found: dict[tuple[int, int], Pair] = {}
    for a, b in itertools.combinations(range(models), 2):
        value = defined(means[b] - means[a])
        kept = (draws[b] - draws[a])[~np.isnan(draws[b] - draws[a])]
        found[a, b] = Pair(Range(value, None, None), None)
        if value is None or len(kept) < 2 or freedom < 1:
            continue
        error = float(kept.std(ddof=1)) * math.sqrt(whole.units / freedom)
        if not np.array_equal(whole.drawn[a], whole.drawn[b], equal_nan=True):
            error = math.hypot(error, floors[a], floors[b])
        if error <= 1e-12:
            found[a, b] = Pair(Range(value, 0.0, 0.0), 1.0) if value == 0 else found[a, b]
            continue
        half = student(freedom) * error
        p = float(2 * special.stdtr(freedom, -abs(value) / error))
        found[a, b] = Pair(Range(value, value - half, value + half), p)
    worst = 0.0
    tested = sorted((pair.p, at) for at, pair in found.items() if pair.p is not None)
    for rank, (p, at) in enumerate(tested):
        worst = max(worst, min(1.0, p * (len(tested) - rank)))
        found[at] = found[at]._replace(corrected=worst)
    return found


def _ranks(name: str, means: list[Value], pairs: dict[tuple[int, int], Pair]) -> list[Ends]:
    """Return the best and the worst rank that each model can have."""
    there = [m for m, value in enumerate(means) if value is not None]
    if len(there) < 2:
        return [NONE for _ in means]
    better, worse = Counter[int](), Counter[int]()
    for (a, b), pair in pairs.items():
        if pair.corrected is not None and pair.corrected < 0.05 and pair.gap.value is not None:
            up = (pair.gap.value > 0) != (name in LESS)
            better[a if up else b] += 1
            worse[b if up else a] += 1
    ranks = [(1.0 + better[m], float(len(there) - worse[m])) for m in range(len(means))]
    return [ranks[m] if m in there else NONE for m in range(len(means))]


class Study:
    """A study's numbers, repeated: cells, means, ranks and pairs by protocol, name and slice."""

    def __init__(self, folder: Path, cells: list[dict[str, str]], mine: dict[str, Numbers]) -> None:
        self.folder, self.mine = folder, mine
        self.joint = {cell["path"]: mine[cell["path"]].measured for cell in cells}
        self.paths = {(c["protocol"], c["model"], c["data"]): c["path"] for c in cells}
        self.shared = _on_bins_of_all_models(folder, cells, self.joint)
        self.kept: dict[Any, Any] = {}

    def of(self, protocol: str, axis: int) -> list[str]:
        """Return the models (1) or data sets (2) that a protocol has runs of."""
        return list(dict.fromkeys(at[axis] for at in self.paths if at[0] == protocol))

    def number(self, protocol: str, number: Key) -> Any:
        """Return cells (M, S), means (M,), ranks (M,) and pairs of a number."""
        at = (protocol, number)
        if at in self.kept:
            return self.kept[at]
        models, data = self.of(protocol, 1), self.of(protocol, 2)
        paths = [[self.paths.get((protocol, m, d), "") for d in data] for m in models]
        table = [[self.joint.get(path, {}).get(number) for path in row] for row in paths]
        if not any(one for row in table for one in row):
            self.kept[at] = None
            return None
        whole, limits = drawn_together(table), SCALES.get(number[0], (0.0, 1.0))
        cells = []
        for m, row in enumerate(paths):
            cells.append([])
            for s, path in enumerate(row):
                own = self.mine[path].whole(number) if path else None
                value = defined(whole.values[m, s])
                if value is None or own is None:
                    own = Range(None, None, None)
                elif own.value is None or abs(own.value - value) >= 1e-9:
                    count = len(whole.names[s])
                    ends = _joint_interval(value, whole.drawn[m, s], count, 1, limits)
                    own = Range(value, *ends)
                cells[-1].append(own)
        means = []
        for m in range(len(models)):
            value = defined(whole.values[m].mean())
            drawn = whole.drawn[m].mean(axis=0)
            ends = _joint_interval(value, drawn, whole.units, whole.strata, limits)
            means.append(cells[m][0] if len(data) == 1 else Range(value, *ends))
        pairs = _pairs(whole, cells, limits)
        ranks = _ranks(number[0], [mean.value for mean in means], pairs)
        self.kept[at] = cells, means, ranks, pairs
        return self.kept[at]

    def repeated(self, rows: list[dict[str, Any]]) -> tuple[Numbers, Numbers]:
        """Return the numbers of a study's table as repeated here, and as they are printed."""
        repeated, stored = Numbers(), Numbers()
        for row in rows:
            where = {part: text for part, text in row.items() if part not in NO_SLICE}
            protocol, model, data = (where.pop(part) for part in ("protocol", "model", "data"))
            slice_of_row = {**where, "protocol": protocol, "model": model, "data": data}
            fields = {"": row["value"], " low": row["low"], " high": row["high"]}
            if row["rank_best"] is not None:
                fields |= {
                    " rank_best low": row["rank_best"],
                    " rank_worst high": row["rank_worst"],
                }
            stored.at(**slice_of_row)(**{row["name"] + f: v for f, v in fields.items()})
            found = self.number(protocol, key(row["name"], where))
            if found is None:
                continue
            cells, means, ranks, _ = found
            m = self.of(protocol, 1).index(model)
            one = means[m] if data == "mean" else cells[m][self.of(protocol, 2).index(data)]
            own = {"": one.value, " low": one.low, " high": one.high}
            if row["rank_best"] is not None:
                own |= {" rank_best low": ranks[m][0], " rank_worst high": ranks[m][1]}
            repeated.at(**slice_of_row)(**{row["name"] + f: v for f, v in own.items()})
        return repeated, stored


def _on_bins_of_all_models(
    folder: Path, cells: list[dict[str, str]], joint: dict[str, dict[Key, Measured]]
) -> None:
    """Take cMFG and skill of every run on the bins that all models on its data fill."""
    own = [cell for cell in cells if cell["protocol"] == "faithfulness"]
    for data in {cell["data"] for cell in own}:
        paths = [cell["path"] for cell in own if cell["data"] == data]
        runs = {path: Run(folder / path) for path in paths}
        for form in FORMS:
            claims = {path: _claims(run, form) for path, run in runs.items()}
            for method in set.union(*(set(rows.method) for rows in claims.values())):
                sides = {path: rows[rows.method == method] for path, rows in claims.items()}
                used = {path: _faithful(rows[rows.use]) for path, rows in sides.items()}
                answers = {path: by_answer(rows) for path, rows in used.items()}
                for name, of, measure in (
                    ("skill", used, skill_of),
                    ("cmfg_aspects", used, cmfg_of),
                    ("cmfg", answers, cmfg_answers),
                ):
                    common = _in_all(of.values())
                    at = key(name, {"form": form, "method": str(method)})
                    for path, rows in of.items():
                        if len(rows):
                            joint[path][at] = measured_claims(rows, on_bins(measure, common))


def _faithful(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(faith=1 - np.abs(rows.number - rows.conf))


def _in_all(sides: Iterable[pd.DataFrame]) -> set[int]:
    """Return the bins in which every side has ten rows, in each choice of examples."""
    groups = [own for rows in sides if len(rows) for _, own in rows.groupby("choice")]
    counts = [Counter(bins(own).tolist()) for own in groups]
    return {b for b in range(10) if counts and all(count[b] >= 10 for count in counts)}


def on_bins(measure: Any, common: set[int]) -> Measure:
    """Return a measure of claims in some bins of confidence."""
    return lambda rows, weights: measure(rows, weights, common)


def measured_claims(rows: pd.DataFrame, measure: Measure) -> Measured:
    """Return a measure of claims as a function of how often each cluster is drawn."""
    names, unit = np.unique(rows.cluster.to_numpy(str), return_inverse=True)
    return Measured(names.tolist(), lambda w: over_choices(measure, rows, w[:, unit]))


def measured_ratio(top: Any, bottom: Any, clusters: Any) -> Measured:
    """Return a ratio of sums as a function of how often each cluster is drawn."""
    names, unit = np.unique(np.asarray(clusters, str), return_inverse=True)
    sums = [by_unit(x, unit, len(names)) for x in (top, bottom)]
    return Measured(names.tolist(), lambda w: over(w @ sums[0], w @ sums[1]))


def measured_pairs(score: Array, wrong: Any, clusters: Any, group: Any = None) -> Measured:
    """Return an AUROC as a function of how often each cluster is drawn."""
    names, unit = np.unique(np.asarray(clusters, str), return_inverse=True)
    same, bad = pairs(wrong, unit, group)
    high, low = score[bad][:, None], score[~bad][None, :]
    won = ((high > low) + 0.5 * (high == low)) * same
    a, b = (between(table, bad, unit, len(names)) for table in (won, same))
    return Measured(
        names.tolist(), lambda w: over(((w @ a) * w).sum(axis=1), ((w @ b) * w).sum(axis=1))
    )


# ---- tables of a study's page and layouts of papers

TABLE_FIELDS = ("value", "low", "high")


def of_tables(whole: Study, tables: Iterable[Any]) -> tuple[int, int, list[str]]:
    """Return how many numbers in tables are repeated, how many there are, and what differs.

    A cell is a number of a name, of the model and the data set that its row or column names: it is
    repeated where a number of these, repeated here, has its value and its interval.
    """
    n = total = 0
    lines: list[str] = []
    pools: dict[str, dict[str, list[tuple[str, str, dict[str, str], Range]]]] = {}
    for table in tables:
        table_name = table.name
        protocol = protocol_of(table_name)
        if protocol not in pools and protocol in PROTOCOLS:
            pools[protocol] = _pool(whole, protocol)
        for labels, entries in table.rows:
            for column, entry in zip(table.columns, entries, strict=True):
                if isinstance(entry, str) or entry is None or entry.value is None:
                    continue
                fields = [field for field in TABLE_FIELDS if getattr(entry, field) is not None]
                total += len(fields)
                words = " · ".join((*labels, column, *re.split("[/-]", table_name))).split(" · ")
                near = _candidates(pools.get(protocol, {}), entry, words)
                if not near or any(UNREPEATED_SCORE in word for word in words):
                    MISSED[f"{table_name}: {entry.name}"] += len(fields)
                    continue
                if any(_equal(entry, one) for one in near):
                    n += len(fields)
                else:
                    place = " | ".join((*labels, column))
                    own = [one.value for one in near[:3]]
                    lines.append(
                        f"{table_name}: {place}: {entry.name} {entry.value}, repeated {own}"
                    )
    return n, total, lines


#: what tables call the one score that is learned across data sets, which is not learned again here
UNREPEATED_SCORE = "P(IK), learned on other data"
#: numbers of tables that nothing here has the name of
MISSED: Counter[str] = Counter()


def _equal(entry: Any, one: Range) -> bool:
    """Tell whether a printed number is one repeated here, with its interval if it has one."""
    for field in TABLE_FIELDS:
        printed, own = getattr(entry, field), getattr(one, field)
        if printed is None:
            continue
        if own is None or own is ... or abs(printed - own) > TOLERANCE:
            return False
    return True


def _pool(whole: Study, protocol: str) -> dict[str, list[tuple[str, str, dict[str, str], Range]]]:
    """Return every repeated number by its name, with its model, data set and slice."""
    pool: dict[str, list[tuple[str, str, dict[str, str], Range]]] = {}
    for (of, model, data), path in whole.paths.items():
        if of != protocol:
            continue
        numbers = whole.mine[path]
        for name, where in numbers:
            if name.rpartition(" ")[2] not in FIELDS:
                one = numbers.whole((name, where))
                pool.setdefault(name, []).append((model, data, dict(where), one))
    every = {number for path in whole.joint for number in whole.joint[path]}
    models, sets = whole.of(protocol, 1), whole.of(protocol, 2)
    for number in every:
        found = whole.number(protocol, number)
        if found is None:
            continue
        name, where = number[0], dict(number[1])
        cells, means, _, gaps = found
        for m, model in enumerate(models):
            pool.setdefault(name, []).append((model, "mean", where, means[m]))
            rows = zip(sets, cells[m], strict=True)
            pool[name] += [(model, data, where, one) for data, one in rows]
        for (a, b), pair in gaps.items():
            both = f"{models[a]} and {models[b]}"
            pool[name].append((both, "difference", where, pair.gap))
            for p in (pair.p, pair.corrected):
                pool[name].append((both, "p", where, Range(p, None, None)))
    return pool


def _candidates(pool: Any, entry: Any, words: Sequence[str]) -> list[Range]:
    """Return the repeated numbers that a cell may show, by its name, slice, model and data set."""
    where, named = dict(entry.where), list(words)
    told = {"short": "short", "long": "long", "short answers": "short", "paragraphs": "long"}
    forms = {told[word] for word in named if word in told}
    if len(forms) == 1 and "method" not in where:
        where.setdefault("form", *forms)
    near = [
        (model, data, one)
        for model, data, own, one in pool.get(entry.name, ())
        if all(own.get(part) == text for part, text in where.items())
    ]
    for axis in (0, 1):
        there = {one[axis] for one in near} & set(named)
        if len(there) == 1:
            near = [one for one in near if one[axis] in there or one[1] in ("difference", "p")]
    return [one for *_, one in near]


# ---- the command


def compare(mine: Numbers, stored: Numbers) -> tuple[float, list[str]]:
    """Return the largest difference, and a line for each number that differs."""
    largest, lines = 0.0, []
    for number, value in mine.items():
        other = stored.get(number)
        one_sided = (value is None) != (other is None) or number not in stored
        gap = math.inf if one_sided else abs((value or 0.0) - (other or 0.0))
        largest = max(largest, gap)
        if gap > TOLERANCE:
            where = " ".join(f"{part}:{text}" for part, text in number[1])
            is_now = other if number in stored else "nothing"
            lines.append(f"{number[0]} {where}: repeated {value}, stored {is_now}")
    return largest, lines


def runs_of(folder: Path) -> list[dict[str, str]]:
    """Return the finished runs of a study, or those in a folder."""
    if (folder / "study.json").exists():
        cells = json.loads((folder / "study.json").read_text())["cells"]
        return [cell for cell in cells if cell["status"] in ("done", "kept")]
    return [
        {"path": str(path.parent.parent.relative_to(folder)), "protocol": path.stem, "data": ""}
        for path in sorted(folder.rglob("metrics/*.parquet"))
        if path.stem in PROTOCOLS
    ]


def what(number: Key) -> str:
    """Return what a number is called, with the parts of its slice."""
    return f"{number[0]} ({', '.join(part for part, _ in number[1]) or 'the run'})"


def protocol_of(table: str) -> str:
    """Return the protocol of a study's table by its name."""
    first = re.split("[/-]", table)[0]
    return "self_known" if first.startswith("self") else first


def repeat(folder: Path, show: int = 0, part: str = "") -> bool:
    """Repeat the numbers of every run of a folder, and of a study; print whether they are equal.

    With ``part`` only those of one protocol are repeated, and counted.
    """
    cells = [cell for cell in runs_of(folder) if part in ("", cell["protocol"])]
    mine: dict[str, Numbers] = {}
    every, missing = Counter[str](), Counter[str]()

    def tell(title: str, n: int, of: int, largest: float, lines: list[str]) -> None:
        every.update(n=n, of=of, differences=len(lines))
        print(f"{title:<16}{n:>9,}{of:>9,}{largest:>13.1e}{len(lines):>13,}")
        print("".join(f"    {line}\n" for line in lines), end="")

    print(f"{'':<16}{'repeated':>9}{'stored':>9}{'largest gap':>13}{'differences':>13}")
    for protocol, repeated_from in PROTOCOLS.items():
        n, of, largest, lines = 0, 0, 0.0, []
        for path in (cell["path"] for cell in cells if cell["protocol"] == protocol):
            run = Run(folder / path)
            mine[path], stored = repeated_from(run), run.stored(protocol)
            gap, some = compare(mine[path], stored)
            there = stored.counted()
            missing.update(f"{protocol}: {what(number)}" for number in there - mine[path].keys())
            n, of = n + len(there & mine[path].keys()), of + len(there)
            largest = max(largest, gap)
            lines += [f"{path}: {line}" for line in some]
        if of:
            tell(protocol, n, of, largest, lines)
    if (folder / "study.json").exists():
        import sayso
        from sayso.studies.report import every_table

        study, whole = sayso.study(folder), Study(folder, cells, mine)
        rows = [row for row in study.table() if part in ("", row["protocol"])]
        here, there = whole.repeated(rows)
        both = there.counted() & here.keys()
        missing.update(f"study: {what(number)}" for number in there.counted() - here.keys())
        tell("study's numbers", len(both), len(there.counted()), *compare(here, there))
        tables = [t for t in every_table(study) if part in ("", protocol_of(t.name))]
        n, of, lines = of_tables(whole, tables)
        tell("tables, layouts", n, of, 0.0, lines)
        missing.update(MISSED)
    if show:
        print("not repeated:")
        print("".join(f"{n:>9,}  {name}\n" for name, n in missing.most_common(show)), end="")
        print("why:")
        print("".join(f"    {name}: {why}\n" for name, why in NOT_REPEATED.items()), end="")
    share_of = every["n"] / every["of"] if every["of"] else 0.0
    print(f"repeated {every['n']:,} of {every['of']:,} stored numbers ({share_of:.1%}), ", end="")
    print(f"differences: {every['differences']:,}")
    return share_of >= LEAST and not every["differences"]


def main() -> int:
    """Repeat a study's numbers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument(
        "--study", type=Path, help="a study, or a folder of runs; default: make one"
    )
    parser.add_argument("--missing", type=int, default=0, help="list so many kinds not repeated")
    parser.add_argument("--part", choices=list(PROTOCOLS), default="", help="one protocol alone")
    args = parser.parse_args()
    folder, show, part = args.study, args.missing, args.part
    if folder is not None:
        if not any(part in ("", cell["protocol"]) for cell in runs_of(folder)):
            parser.error(f"{folder}: no finished run {f'of {part} ' if part else ''}in it")
        return 0 if repeat(folder, show, part) else 1
    with tempfile.TemporaryDirectory() as temporary:
        os.environ.setdefault("SAYSO_CACHE", f"{temporary}/cache")
        folder, file = Path(temporary) / "study", Path(temporary) / "study.yaml"
        wanted = [f"  - {name}: {of}" for name, of in SETTINGS.items() if part in ("", name)]
        file.write_text(STUDY.format(out=folder, protocols="\n".join(wanted)))
        command = [str(Path(sys.executable).with_name("sayso")), "study", str(file)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return 0 if repeat(folder, show, part) else 1


if __name__ == "__main__":
    sys.exit(main())
