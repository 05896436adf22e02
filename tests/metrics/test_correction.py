"""Numbers corrected for the judge: by hand, by brute force, against formulas, in simulations."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sayso import metrics
from sayso.metrics import JudgedClasses, LabeledRows, ReadingErrors, correction
from sayso.metrics.intervals import student_interval
from sayso.metrics.uncle_rates import COMPOSED, SHARES
from sayso.records import Estimate, InputError


def share(sums: Any) -> dict[str, Any]:
    return {"share": sums[..., 0] / sums[..., 1]}


def with_ones(values: Any) -> np.ndarray:
    x = np.asarray(values, dtype=float)
    return np.stack([x, np.ones(len(x))], axis=1)


def world(seed: int, entities: int = 60, error: float = 0.1) -> dict[str, np.ndarray]:
    """Draw facts of entities, whether they are known, people's label and the judge's."""
    rng = np.random.default_rng(seed)
    entity = np.repeat(np.arange(entities), 5)
    n = len(entity)
    ability = rng.normal(0, 1, entities)[entity]
    known = (rng.random(n) < 1 / (1 + np.exp(-ability))).astype(int)
    label = np.where(
        rng.random(n) < 0.3 + 0.3 * (1 - known), 2, (rng.random(n) > 0.15 + 0.7 * known).astype(int)
    )
    read = np.where(rng.random(n) < error, rng.integers(0, 3, n), label)
    read = np.where((label == 2) & (rng.random(n) < error), 0, read)
    score = rng.normal(size=n) + (label == 1)
    return {"entity": entity, "known": known, "label": label, "read": read, "score": score}


def cells(known: np.ndarray, label: np.ndarray) -> np.ndarray:
    index = np.where(known == 1, 0, 3) + label
    return (index[:, None] == np.arange(6)).astype(float)


def rates(sums: Any) -> dict[str, Any]:
    found = metrics.cell_rates(sums)
    return {name: found[name] for name in ("FA", "UA", "UUR", "J")}


# ---- the mean


def test_mean_by_hand() -> None:
    people, judge, rest = [1, 0, 1, 1], [1, 0, 0, 1], [1, 1, 0, 1, 1, 0]
    # Cov = .5/3, Var of all ten verdicts = 2.4/9, power = (1/6) / ((1 + 4/6) (4/15)) = .375
    found = metrics.ppi_mean(people, judge, rest)
    assert found.power == pytest.approx(0.375)
    assert found.value == pytest.approx(0.75 - 0.375 * 0.5 + 0.375 * 4 / 6)  # .8125
    # people - power judge: .625, 0, 1, .625, of mean .5625 and squared deviations .5156...
    residual = np.array([0.625, 0, 1, 0.625])
    of_rest = 0.375**2 * (6 * (4 / 6) * (2 / 6) / 5) / 6
    assert found.error == pytest.approx(math.sqrt(residual.var(ddof=1) / 4 + of_rest))
    assert metrics.ppi_mean(people, judge, rest, 1.0).value == pytest.approx(0.25 + 4 / 6)
    assert metrics.ppi_mean(people, judge, rest, 0.0).value == 0.75


def test_mean_of_little() -> None:
    assert metrics.ppi_mean([], [], [1, 0]) == (None, None, None)
    assert metrics.ppi_mean([1.0, math.nan], [1, 0], [1, 0]).value is None
    one = metrics.ppi_mean([1], [1], [0, 1])
    assert (one.value, one.error) == (1.0, None)
    # a judge that says the same of all rows adds nothing
    same = metrics.ppi_mean([1, 0, 1], [1, 1, 1], [1, 1, 1, 1])
    assert (same.value, same.power) == (pytest.approx(2 / 3), 0.0)
    # one that says the contrary is not turned around
    assert metrics.ppi_mean([1, 0, 1, 0], [0, 1, 0, 1], [0, 1, 1, 1]).power == 0.0
    with pytest.raises(InputError, match="3 labels and 2 verdicts"):
        metrics.ppi_mean([1, 0, 1], [1, 0], [1])


def test_general_estimator_is_the_same_mean() -> None:
    rng = np.random.default_rng(1)
    f, y = rng.random(200), None
    y = np.clip(f[:40] + 0.2 * rng.normal(size=40), 0, 1)
    found = metrics.corrected_sums(share, with_ones(f), with_ones(y), LabeledRows(np.arange(40)))
    c = found["share"]
    assert c.power is not None
    # of all 200 rows 160 are not labeled: power counts them
    same = metrics.ppi_mean(y, f[:40], f[40:], c.power * 160 / 200)
    assert c.corrected.value == pytest.approx(same.value, abs=1e-12)
    best = metrics.ppi_mean(y, f[:40], f[40:])
    assert c.power * 160 / 200 == pytest.approx(best.power, abs=0.15)
    # both errors are those of the formula, the jackknife a little larger
    assert c.variance is not None
    assert same.error is not None
    assert 1.0 < math.sqrt(c.variance) / same.error < 1.1


# ---- functions of sums


def brute(data: dict[str, np.ndarray], at: np.ndarray, power: float, out: int | None) -> Any:
    """Return the rates by loops, without a cluster."""
    keep = [i for i in range(len(data["entity"])) if data["entity"][i] != out]
    held = [i for i in at if data["entity"][i] != out]
    judge, people = (cells(data["known"], data[name]) for name in ("read", "label"))
    every = sum(judge[i] for i in keep) / len(keep)
    mine = sum(people[i] for i in held) / len(held)
    theirs = sum(judge[i] for i in held) / len(held)
    return rates(mine + power * (every - theirs))


def test_sums_by_brute_force() -> None:
    data = world(3, entities=40)
    at = np.sort(np.random.default_rng(0).choice(200, 50, replace=False))
    judge, people = (cells(data["known"], data[name]) for name in ("read", "label"))
    found = metrics.corrected_sums(
        rates, judge, people[at], LabeledRows(at, clusters=data["entity"]), {"J": (-1.0, 1.0)}
    )
    for name, c in found.items():
        assert c.power is not None
        assert c.variance is not None
        whole = brute(data, at, c.power, None)[name]
        assert c.corrected.value == pytest.approx(whole)
        assert c.alone.value == pytest.approx(brute(data, at, 0.0, None)[name])
        without = [brute(data, at, c.power, e)[name] for e in range(40)]
        assert c.disagreements >= 2
        assert c.variance == pytest.approx(sum((v - whole) ** 2 for v in without))
        # no power near it has a smaller variance, to first order
        a = np.array([brute(data, at, 0.0, e)[name] for e in range(40)]) - c.alone.value
        b = np.array([brute(data, at, 1.0, e)[name] for e in range(40)])
        b = b - brute(data, at, 1.0, None)[name]
        spread = [float((((1 - p) * a + p * b) ** 2).sum()) for p in np.linspace(0, 1, 101)]
        assert c.power == pytest.approx(np.argmin(spread) / 100, abs=0.006)
        limits = (-1.0, 1.0) if name == "J" else (0.0, 1.0)
        ends = student_interval(whole, math.sqrt(c.variance), c.freedom, limits)
        assert (c.corrected.low, c.corrected.high) == pytest.approx(ends)
        assert c.gain == pytest.approx(c.alone_variance / c.variance)


def test_the_documented_formula_is_the_one_that_is_computed() -> None:
    """T is of the combined sums: a combination of values of T would be another number."""
    judge = np.array([[1.0, 1], [1, 1], [0, 1], [1, 1], [0, 0], [0, 0], [0, 1], [1, 1]])
    people = np.array([[1.0, 1], [0, 1], [0, 1], [1, 1], [0, 1], [0, 0]])
    at = np.arange(6)
    c = metrics.corrected_sums(share, judge, people, LabeledRows(at))["share"]
    assert c.power is not None
    assert c.power > 0.05
    labeled, every, read = people.mean(axis=0), judge.mean(axis=0), judge[at].mean(axis=0)
    wrong, judged = labeled + c.power * (every - read)
    assert c.corrected.value == pytest.approx(wrong / judged)
    of_values = 2 / 5 + c.power * (4 / 6 - 3 / 4)
    assert abs(of_values - wrong / judged) > 0.01
    formula = "T(people on labeled + power * (judge on all - judge on labeled))"
    assert formula in (correction.__doc__ or "")
    page = Path(__file__).parents[2] / "docs" / "people.md"
    assert f"`{formula}`" in page.read_text(encoding="utf-8")


def test_a_perfect_judge_is_believed_but_not_blindly() -> None:
    data = world(5, error=0.0)
    at = np.arange(0, 300, 5)
    judge = cells(data["known"], data["label"])
    data["read"] = data["label"]
    c = metrics.corrected_sums(rates, judge, judge[at], LabeledRows(at, clusters=data["entity"]))
    fa = c["FA"]
    assert (fa.power, fa.disagreements) == (pytest.approx(1.0), 0)
    assert fa.corrected.value == pytest.approx(fa.raw)
    # no error among 60 labels: the interval is wider than that of the run with a known judge
    alone = metrics.corrected_sums(
        rates, judge, judge, LabeledRows(np.arange(300), clusters=data["entity"])
    )["FA"]
    assert fa.variance is not None
    assert alone.variance is not None
    assert fa.variance > 1.2 * alone.variance


def test_all_rows_labeled_gives_what_people_say() -> None:
    data = world(6)
    judge, people = (cells(data["known"], data[name]) for name in ("read", "label"))
    every = LabeledRows(np.arange(300), clusters=data["entity"])
    for c in metrics.corrected_sums(rates, judge, people, every).values():
        assert c.corrected.value == pytest.approx(c.alone.value)
        assert c.gain == pytest.approx(1.0)
        assert c.gain < metrics.LEAST_GAIN


def test_undefined_and_too_little() -> None:
    data = world(7)
    judge, people = (cells(data["known"], data[name]) for name in ("read", "label"))
    none = metrics.corrected_sums(rates, judge, people[:0], LabeledRows([]))["FA"]
    assert none.corrected.value is None
    assert none.corrected.low is None
    assert none.corrected.problem
    assert none.raw is not None
    assert none.gain is None
    few = metrics.corrected_sums(
        rates, judge, people[:4], LabeledRows(np.arange(4), clusters=data["entity"])
    )["FA"]
    assert few.corrected.low is None
    assert "fewer than 5 labeled" in (few.corrected.problem or "")
    # nobody hedged, neither by people nor by the judge
    plain = cells(data["known"], np.zeros(300, int))
    ua = metrics.corrected_sums(rates, plain, plain[::5], LabeledRows(np.arange(0, 300, 5)))["UA"]
    assert (ua.corrected.value, ua.corrected.problem) == (None, "no fact was hedged")


@pytest.mark.parametrize("rows", [np.arange(0, 60, 2), np.arange(60)])
def test_no_number_is_made_of_rounding_errors(rows: np.ndarray) -> None:
    """People call all hedged; the judge commits as often on labeled rows as on all, by chance."""
    label = np.repeat([0, 1, 0, 1, 2, 2], [7, 13, 13, 7, 10, 10])
    known = np.tile([1, 1, 1, 0, 0, 0], 10)
    hedged = cells(known, np.full(60, 2))[rows]
    for read in (label, np.roll(label, 1), np.where(known == 1, 0, label)):
        labeled = LabeledRows(rows, clusters=np.arange(60) // 2)
        found = metrics.corrected_sums(rates, cells(known, read), hedged, labeled)["FA"]
        shares = [(read[at] != 2).mean() for at in (np.arange(60), rows)]
        if len(rows) == 60 or shares[0] == shares[1]:
            assert found.corrected.value is None
            assert found.alone.value is None


def test_a_difference_needs_enough_labels_of_both_its_parts() -> None:
    rng = np.random.default_rng(0)
    known = (np.arange(600) % 15 > 0).astype(int)
    label = np.where(rng.random(600) < 0.5, 2, 0)
    read = np.where(rng.random(600) < 0.1, 2 - label, label)
    for n, enough in ((60, False), (300, True)):
        at = np.arange(n)
        found = metrics.corrected_sums(
            metrics.cell_rates, cells(known, read), cells(known, label)[at], LabeledRows(at),
            {"J": (-1.0, 1.0), "lift_UA": None}, SHARES, COMPOSED,
        )  # fmt: skip
        J, UUR = found["J"], found["UUR"]
        assert J.corrected.value is not None
        for e in (J.corrected, J.alone, J.effect):
            assert e is not None
            assert (e.low is not None) == enough
            assert enough or "too few labels of unknown facts" in (e.problem or "")
        # of four unknown facts the labels have an exact interval, and the judge has no say
        assert (UUR.power == 0.0) == (not enough)
        assert found["over_hedge"].corrected.low is not None


def test_very_unequal_chances_are_computed() -> None:
    rng = np.random.default_rng(0)
    for spread in (1, 6, 8.9):
        chance = 10.0 ** -np.where(rng.random(30) < 0.9, 0.0, spread)
        label, read = rng.integers(0, 3, 30), rng.integers(0, 3, 80)
        found = metrics.corrected_sums(
            rates, cells(np.tile([0, 1], 40), read), cells(np.tile([0, 1], 15), label),
            LabeledRows(np.arange(30), chance), {"J": (-1.0, 1.0)}, SHARES,
        )  # fmt: skip
        assert all(c.corrected.low is None or c.corrected.low <= 1 for c in found.values())


def test_errors_that_one_stratum_shows_are_none_of_another() -> None:
    """A tenth of the rows shows eight errors, the rest none, or one: two are looked for."""
    strata = np.repeat(["sure", "unsure"], [540, 60])
    rows = np.concatenate([np.arange(30), np.arange(540, 570)])
    for names, sure, expected in ((strata, 0, 0.2), (strata, 1, 1.1), (None, 0, 2.0)):
        sample = correction.jackknife.jackknife_sample(600, LabeledRows(rows, strata=names))
        moved = np.isin(rows, [*range(540, 548), *range(sure)])
        assert sample.shown(moved) == pytest.approx(expected)


def test_what_came_wrong_is_said() -> None:
    judge = with_ones(np.zeros(10))
    with pytest.raises(InputError, match="each once"):
        metrics.corrected_sums(share, judge, judge[:2], LabeledRows([3, 3]))
    with pytest.raises(InputError, match="from 0 to 9"):
        metrics.corrected_sums(share, judge, judge[:2], LabeledRows([3, 10]))
    with pytest.raises(InputError, match="in \\(0, 1\\]"):
        metrics.corrected_sums(share, judge, judge[:2], LabeledRows([1, 2], [0.5, 0.0]))
    with pytest.raises(InputError, match="2 labels, sums"):
        metrics.corrected_sums(share, judge, judge[:3], LabeledRows([1, 2]))
    with pytest.raises(InputError, match="each of 10 rows"):
        metrics.corrected_sums(share, judge, judge[:2], LabeledRows([1, 2], clusters=[1, 2]))


# ---- designs


def test_weights_of_a_design_by_hand() -> None:
    # stratum a holds 8 rows, of which 2 are labeled, b 4 rows with 2: means 1/2 and 1 of people
    strata = np.array(["a"] * 8 + ["b"] * 4)
    rows, people = [0, 1, 8, 9], [1, 0, 1, 1]
    judge = np.zeros(12)
    c = metrics.corrected_sums(
        share, with_ones(judge), with_ones(people), LabeledRows(rows, strata=strata)
    )["share"]
    assert c.alone.value == pytest.approx((8 * 0.5 + 4 * 1) / 12)
    # chances 1/2 and 1/4 weigh 2 and 4
    c = metrics.corrected_sums(
        share, with_ones(judge), with_ones(people), LabeledRows(rows, [0.5, 0.5, 0.25, 0.25])
    )["share"]
    assert c.alone.value == pytest.approx((2 * 1 + 4 * 2) / 12)
    # a stratum with a single label tells nothing of its spread, and is joined to the next smallest
    c = metrics.corrected_sums(
        share, with_ones(judge), with_ones(people[:3]), LabeledRows(rows[:3], strata=strata)
    )["share"]
    assert c.alone.value == pytest.approx(2 / 3)


@pytest.mark.parametrize("design", ["stratified", "unequal"])
def test_a_design_is_weighted_back(design: str) -> None:
    """Draws that overrepresent hedges give biased labels and an unbiased number."""
    truth, plain, corrected = [], [], []
    for seed in range(80):
        data = world(seed, entities=200)
        rng = np.random.default_rng([seed, 1])
        hedged = data["read"] == 2
        people = (data["label"] == 2).astype(float)
        truth.append(people.mean())
        if design == "stratified":
            rows = np.concatenate(
                [rng.choice(np.flatnonzero(hedged == h), 40, replace=False) for h in (True, False)]
            )
            labeled = LabeledRows(rows, strata=hedged, clusters=data["entity"])
        else:
            chance = np.where(hedged, 0.12, 0.05)
            rows = np.flatnonzero(rng.random(1000) < chance)
            labeled = LabeledRows(rows, chance[rows], clusters=data["entity"])
        c = metrics.corrected_sums(share, with_ones(hedged), with_ones(people[rows]), labeled)[
            "share"
        ]
        plain.append(people[rows].mean())
        corrected.append([c.corrected.value, c.alone.value])
    error = np.array(corrected) - np.array(truth)[:, None]
    assert np.abs(error.mean(axis=0)).max() < 0.012
    assert np.mean(plain) - np.mean(truth) > 0.05


# ---- metrics of weighted rows


def test_a_metric_of_rows_agrees_with_sums() -> None:
    data = world(8)
    at = np.sort(np.random.default_rng(2).choice(300, 60, replace=False))
    labeled = LabeledRows(at, clusters=data["entity"])

    def ua(known: Any, label: Any, weights: Any = None) -> Any:
        return metrics.cell_rates(metrics.count_cells(known, label, weights))["UA"]

    one = metrics.corrected_metric(
        "UA", ua, (data["known"], data["read"]), (data["known"][at], data["label"][at]), labeled
    )
    judge, people = (cells(data["known"], data[name]) for name in ("read", "label"))
    other = metrics.corrected_sums(rates, judge, people[at], labeled)["UA"]
    for field in ("raw", "power", "gain", "variance", "freedom", "disagreements"):
        assert getattr(one, field) == pytest.approx(getattr(other, field)), field
    assert one.corrected.value == pytest.approx(other.corrected.value)
    assert one.corrected.low == pytest.approx(other.corrected.low)


def test_auroc_with_negative_weights_is_exact() -> None:
    """AUROC of signed weights is its polynomial of pairs, whichever function computes it."""
    rng = np.random.default_rng(4)
    score, wrong = rng.integers(0, 6, 30).astype(float), rng.integers(0, 2, 30).astype(float)
    weights = rng.normal(0.3, 1, (5, 30))
    found = metrics.auroc(score, wrong, weights)
    for w, value in zip(weights, np.asarray(found), strict=True):
        over = [
            w[i] * w[j] * ((score[i] > score[j]) + (score[i] == score[j]) / 2)
            for i in range(30) for j in range(30) if wrong[i] and not wrong[j]
        ]  # fmt: skip
        pairs = w[wrong == 1].sum() * w[wrong == 0].sum()
        assert value == pytest.approx(sum(over) / pairs)


@pytest.mark.parametrize("design", ["random", "stratified", "unequal"])
@pytest.mark.parametrize("kinds", [1, 3])
def test_pair_sums_give_the_plain_aurocs(design: str, kinds: int) -> None:
    """A metric that only calls AUROC is computed row by row, in each replicate."""
    data = world(21, entities=80)
    rng = np.random.default_rng(6)
    score = np.round(data["score"], 1)  # ties, and some answers without a score
    score[rng.random(400) < 0.05] = math.nan
    kind = data["entity"] % kinds
    # one entity alone has the right answers of a type: without it there is no pair
    judge = ((data["read"] == 1) | ((kind == 2) & (data["entity"] != 2))).astype(float)
    people = ((data["label"] == 1) | ((kind == 2) & (data["entity"] != 2))).astype(float)
    at = np.sort(rng.choice(400, 90, replace=False))
    labeled = LabeledRows(at, clusters=data["entity"])
    if design == "stratified":
        labeled = labeled._replace(strata=data["read"])
    if design == "unequal":
        labeled = labeled._replace(probability=rng.uniform(0.1, 0.9, 90))
    columns = [score, judge, kind], [score[at], people[at], kind[at]]
    plain: Any = lambda *c, weights: metrics.within_auroc(*c, weights=weights)  # noqa: E731
    one = metrics.corrected_metric("auroc", metrics.within_auroc, *columns, labeled)
    other = metrics.corrected_metric("auroc", plain, *columns, labeled)
    for field in ("raw", "power", "gain", "variance", "alone_variance", "freedom"):
        assert getattr(one, field) == pytest.approx(getattr(other, field), rel=1e-9), field
    for field in ("corrected", "alone", "effect"):
        for end in ("value", "low", "high"):
            found = getattr(getattr(one, field), end)
            assert found == pytest.approx(getattr(getattr(other, field), end), abs=1e-12)
    assert one.corrected.low is not None
    assert one.disagreements == other.disagreements > 2
    if kinds == 1:
        columns = [score, judge], [score[at], people[at]]
        same = metrics.corrected_metric("auroc", metrics.auroc, *columns, labeled)
        assert same.corrected.value == pytest.approx(one.corrected.value, abs=1e-12)
        assert same.variance == pytest.approx(one.variance, rel=1e-9)


def test_pair_sums_without_the_last_pair_are_undefined() -> None:
    """The one right answer's entity leaves: no pair is left, and not the rounding of one."""
    score = np.arange(30.0)
    wrong = np.ones(30)
    wrong[4] = 0.0
    at = np.arange(0, 30, 2)
    labeled = LabeledRows(at, np.random.default_rng(0).uniform(0.1, 0.9, 15))
    columns = [score, wrong], [score[at], wrong[at]]
    plain: Any = lambda *c, weights: metrics.auroc(*c, weights=weights)  # noqa: E731
    one = metrics.corrected_metric("auroc", metrics.auroc, *columns, labeled)
    other = metrics.corrected_metric("auroc", plain, *columns, labeled)
    assert one.corrected.value == pytest.approx(other.corrected.value, abs=1e-12)
    assert one.variance == pytest.approx(other.variance, rel=1e-9)
    assert one.freedom == pytest.approx(other.freedom, rel=1e-9)


def test_auroc_of_one_class_is_undefined() -> None:
    score, right = np.arange(50.0), np.zeros(50)
    rows = np.arange(0, 50, 2)
    c = metrics.corrected_metric(
        "auroc", metrics.auroc, (score, right), (score[rows], right[rows]), LabeledRows(rows)
    )
    assert c.corrected.value is None
    assert c.corrected.problem
    assert c.raw is None


def test_many_clusters_leave_in_groups_and_say_the_same() -> None:
    rng = np.random.default_rng(9)
    truth = (rng.random(3000) < 0.6).astype(float)
    judge = np.where(rng.random(3000) < 0.15, 1 - truth, truth)
    at = np.sort(rng.choice(3000, 100, replace=False))
    groups = metrics.corrected_sums(share, with_ones(judge), with_ones(truth[at]), LabeledRows(at))
    c = groups["share"]
    assert c.power is not None
    rest = np.delete(judge, at)
    exact = metrics.ppi_mean(truth[at], judge[at], rest, c.power * len(rest) / 3000)
    assert c.variance is not None
    assert exact.error is not None
    assert math.sqrt(c.variance) == pytest.approx(exact.error, rel=0.03)


# ---- the confusion matrix


def test_inversion_by_hand() -> None:
    # .9 * .6 + .2 * .4 = .62 of answers accepted, where .6 are right
    found = metrics.inverted_shares([0.62, 0.38], [[0.9, 0.1], [0.2, 0.8]])
    assert found == pytest.approx([0.6, 0.4])
    # fewer accepted than a judge accepts of wrong ones: nothing can be right
    assert metrics.inverted_shares([0.1, 0.9], [[0.9, 0.1], [0.2, 0.8]]) == pytest.approx([0, 1])
    # a judge that says the same of both classes, and a class without labels
    assert np.isnan(metrics.inverted_shares([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]])).all()
    assert np.isnan(metrics.inverted_shares([0.5, 0.5], [[math.nan] * 2, [0.5, 0.5]])).all()
    rows = metrics.inverted_shares([[62, 38], [48, 52]], [[0.9, 0.1], [0.2, 0.8]])
    assert rows == pytest.approx(np.array([[60, 40], [40, 60]]))


def in_group(known: Any) -> Any:
    """Unknown facts are group 1 in the order of UNCLE's cells, known ones group 0."""
    return 1 - np.asarray(known)


def test_inverted_rates_undo_the_judge() -> None:
    data = world(11, entities=1000)
    at = np.arange(0, 5000, 10)
    labeled = LabeledRows(at, clusters=data["entity"])
    group = in_group(data["known"])
    found = metrics.inverted_sums(
        metrics.cell_rates,
        JudgedClasses(data["read"], 3, group, groups=2),
        data["label"][at],
        labeled,
    )
    truth = metrics.cell_rates(cells(data["known"], data["label"]).sum(axis=0))
    for name in ("FA", "UUR", "J", "EA"):
        c = found[name]
        assert c.corrected.value == pytest.approx(float(truth[name]), abs=0.05), name
        assert c.corrected.low is not None
        assert c.corrected.low < float(truth[name]) < c.corrected.high
        assert c.alone.value is not None
    assert abs(found["J"].raw - float(truth["J"])) > 0.02
    # a class that nobody labeled
    none = metrics.inverted_sums(
        metrics.cell_rates,
        JudgedClasses(data["read"], 3, group, groups=2),
        np.zeros(60, int),
        LabeledRows(np.arange(60)),
    )
    assert none["J"].corrected.value is None
    assert "a class has no labels" in none["J"].corrected.problem


def test_labels_of_other_rows_teach_the_errors_alone() -> None:
    def share(sums: Any) -> dict[str, Any]:
        return {"right": sums[..., 0] / (sums[..., 0] + sums[..., 1])}

    # of rows elsewhere the judge accepts 9 of 10 right ones and 2 of 10 wrong ones
    elsewhere = [0] * 9 + [1] + [0] * 2 + [1] * 8
    people = [0] * 10 + [1] * 10
    # here it accepts 62 of 100: .9 t + .2 (1 - t) = .62 gives t = .6
    here = [0] * 62 + [1] * 38
    of = [True] * 100 + [False] * 20
    labeled = LabeledRows(np.arange(100, 120))

    def inverted(read: Any, classes: int) -> Any:
        judge = JudgedClasses(read, classes, of=of)
        return metrics.inverted_sums(share, judge, people, labeled)["right"]

    found = inverted(here + elsewhere, 2)
    assert found.raw == pytest.approx(0.62)
    assert found.corrected.value == pytest.approx(0.6)
    assert found.corrected.low < 0.6 < found.corrected.high
    assert (found.labels, found.rows, found.disagreements) == (20, 100, 3)
    assert found.alone.value is None
    assert found.alone.problem == "undefined: the labels are of another run"
    assert found.gain is None
    assert found.effect.value == pytest.approx(0.02)
    # without any error among the labels: an interval all the same, of what they do not show
    sure = inverted([0] * 62 + [1] * 38 + people, 2)
    assert sure.corrected.value == pytest.approx(0.62)
    assert sure.corrected.high - sure.corrected.low > 0.15
    # a class that neither judge nor people name changes nothing
    third = inverted(here + elsewhere, 3)
    assert third.corrected == found.corrected
    # the judge names it here, and no label says what such rows are
    new = [2, *here[1:], *elsewhere]
    lost = inverted(new, 3)
    assert lost.corrected.value is None


def test_a_number_that_no_label_bears_on_is_undefined() -> None:
    """The share of hedged facts that are unknown, where nobody labeled a hedged answer."""

    def shares(sums: Any) -> dict[str, Any]:
        return {"UA": sums[..., 1] / sums[..., 0], "right": sums[..., 2] / sums[..., 3]}

    hedged, N = np.arange(200) % 4 == 0, 200
    unknown, right = np.arange(N) % 3 == 0, np.arange(N) % 5 > 1
    judge = np.stack([hedged, hedged & unknown, right & ~hedged, ~hedged], axis=1).astype(float)
    at = np.flatnonzero(~hedged)[:60]
    found = metrics.corrected_sums(shares, judge, judge[at], LabeledRows(at))
    assert found["right"].corrected.low is not None
    assert found["UA"].raw == pytest.approx(judge[:, 1].sum() / judge[:, 0].sum())
    assert found["UA"].corrected.value is None
    assert found["UA"].corrected.problem == "undefined: no label counts for it"
    assert found["UA"].gain is None


def test_labels_that_leave_everything_open_give_no_number() -> None:
    def share(sums: Any) -> dict[str, Any]:
        return {"right": sums[..., 0] / (sums[..., 0] + sums[..., 1])}

    # elsewhere the judge hardly tells right from wrong: 7 of 12 and 6 of 12 accepted
    elsewhere, people = [0] * 7 + [1] * 5 + [0] * 6 + [1] * 6, [0] * 12 + [1] * 12
    of = [True] * 50 + [False] * 24
    judge = JudgedClasses([0] * 26 + [1] * 24 + elsewhere, 2, of=of)
    found = metrics.inverted_sums(share, judge, people, LabeledRows(np.arange(50, 74)))["right"]
    assert found.corrected.value is None
    assert found.corrected.problem == "undefined: these labels leave nearly every value possible"
    assert found.effect is None


def test_a_judge_that_agrees_with_labels_all_alike_keeps_its_number() -> None:
    """Sixty labels of which none hedges are no reason to take the judge's 9 % for 0 %."""

    def share(sums: Any) -> dict[str, Any]:
        return {"UUR": sums[..., 0] / sums[..., 1], "F1": 2 * sums[..., 0] / (sums[..., 0] + 90)}

    hedged = np.zeros(600)
    hedged[:54] = 1.0
    judge = np.stack([hedged, np.ones(600)], axis=1)
    at = np.arange(100, 160)
    found = metrics.corrected_sums(share, judge, judge[at], LabeledRows(at), shares=("UUR",))
    one = found["UUR"]
    assert one.power == 1.0
    assert one.corrected.value == pytest.approx(0.09)
    assert one.corrected.low < 0.09 < one.corrected.high
    assert one.freedom > 0
    assert one.alone.value == 0.0
    assert (one.alone.low, one.alone.high) == (0.0, pytest.approx(1 - 0.025 ** (1 / 60), abs=1e-3))
    # a number that nobody named as a share has no exact interval
    assert found["F1"].alone.low is None
    # labels that hedge never, where the judge says that some do: those have all the weight
    wrong = judge.copy()
    wrong[at[:30], 0] = 1.0
    told = metrics.corrected_sums(share, wrong, judge[at], LabeledRows(at), shares=("UUR",))["UUR"]
    assert told.disagreements == 30
    assert told.corrected.value < 0.09
    assert told.freedom > 0


def test_a_group_that_does_not_occur() -> None:
    def rates(sums: Any) -> dict[str, Any]:
        first, second = sums[..., 0] / sums[..., :2].sum(-1), sums[..., 2] / sums[..., 2:].sum(-1)
        return {"first": first, "second": second}

    of = [True] * 40 + [False] * 20
    read, people = [0, 1] * 30, [0, 1] * 10
    judge = JudgedClasses(read, 2, np.zeros(60, int), of, 2)
    found = metrics.inverted_sums(rates, judge, people, LabeledRows(np.arange(40, 60)))
    assert found["first"].corrected.value == pytest.approx(0.5)
    assert found["second"].corrected.value is None


def test_ranges_by_hand() -> None:
    # 100 known facts of which 20 are hedged, 100 unknown of which 50 are; nothing else is misread
    true = np.array([70, 10, 20, 20, 30, 50], dtype=float)
    exact = ReadingErrors((1, 1, 1), (0, 0, 0), (1, 1, 1), (0, 0, 0))
    assert metrics.rate_ranges(true, exact)["J"] == pytest.approx((0.3, 0.3))
    # of committed answers a tenth is read as hedged: 28 and 55 are
    read = np.array([63, 9, 28, 18, 27, 55], dtype=float)
    known = exact._replace(hedges_invented=(0.1, 0.1, 0.1))
    for name, value in (("J", 0.3), ("UUR", 0.5), ("FA", 90 / 130)):
        assert metrics.rate_ranges(read, known)[name] == pytest.approx((value, value))
    # where it is 0 to .1, J is least with .1 of known ... and 0 of unknown: UUR .55 - .2 / ...
    wide = metrics.rate_ranges(read, exact._replace(hedges_invented=(0.05, 0.0, 0.1)))["J"]
    assert wide == pytest.approx((0.5 - 0.28, 0.55 - 0.2))
    # a judge that may be no better than chance leaves everything open
    assert metrics.rate_ranges(read, exact._replace(hedges_found=(0.5, 0.1, 1)))["J"] is not None
    blind = exact._replace(hedges_found=(0.5, 0.1, 1), hedges_invented=(0.1, 0.0, 0.2))
    assert metrics.rate_ranges(read, blind)["J"] is None
    with pytest.raises(InputError, match="6 numbers"):
        metrics.rate_ranges([1, 2], exact)
    # no unknown fact: UUR and J are undefined, FA is not
    some = metrics.rate_ranges([5, 5, 5, 0, 0, 0], exact)
    assert some["J"] is None
    assert some["FA"] == pytest.approx((0.5, 0.5))


# ---- how many labels


def test_labels_for_width() -> None:
    data = world(12, entities=600)
    at = np.sort(np.random.default_rng(3).choice(3000, 80, replace=False))
    judge, people = (cells(data["known"], data[name]) for name in ("read", "label"))
    c = metrics.corrected_sums(
        rates, judge, people[at], LabeledRows(at, clusters=data["entity"]), {"J": (-1.0, 1.0)}
    )["J"]
    assert c.corrected.low is not None
    assert c.corrected.high is not None
    now = (c.corrected.high - c.corrected.low) / 2
    plan = metrics.labels_for_width(c, now)
    # the width that 80 labels give needs about 80 labels, and more without the judge
    assert plan.corrected is not None
    assert plan.alone is not None
    assert plan.corrected == pytest.approx(80, rel=0.25)
    assert plan.alone > 1.5 * plan.corrected
    half = metrics.labels_for_width(c, now / 2)
    assert half.corrected is not None
    assert half.corrected > 3 * plan.corrected
    assert metrics.labels_for_width(c, 1e-4) == (None, None)
    with pytest.raises(InputError, match="half_width"):
        metrics.labels_for_width(c, 0)


@pytest.mark.parametrize(
    ("half", "rows", "wanted"),
    [
        (0.10, 1000, (160, 320)),  # twice as wide as wanted: four times the labels
        (0.10, 200, (160, None)),  # without the judge more than all rows
        (0.10, 100, (None, None)),
        (0.04, 1000, (26, 52)),  # 40 labels are enough: (0.04 / 0.05)^2 of them
    ],
)
def test_labels_for_width_from_the_interval_that_labels_gave(
    half: float, rows: int, wanted: tuple[int | None, int | None]
) -> None:
    # the variances are so small that they promise far fewer labels than the interval shows
    e = Estimate("x", value=0.5, low=0.5 - half, high=0.5 + half, n=40)
    c = metrics.Corrected(e, e, 0.5, 1.0, 2.0, 40, rows, 3, variance=1e-6, alone_variance=2e-6)
    assert metrics.labels_for_width(c, 0.05) == wanted


# ---- do the intervals hold?


def test_intervals_hold_and_raw_ones_do_not() -> None:
    hits: dict[str, list[float]] = {}
    raw = []
    big = world(99, entities=40_000, error=0.2)
    truth = rates(cells(big["known"], big["label"]).sum(axis=0))
    for seed in range(100):
        data = world(seed, entities=120, error=0.2)
        at = np.sort(np.random.default_rng([seed, 5]).choice(600, 60, replace=False))
        judge, people = (cells(data["known"], data[name]) for name in ("read", "label"))
        found = metrics.corrected_sums(
            rates, judge, people[at], LabeledRows(at, clusters=data["entity"]), {"J": (-1.0, 1.0)}
        )
        for name, c in found.items():
            if c.corrected.low is not None and c.corrected.high is not None:
                held = c.corrected.low <= truth[name] <= c.corrected.high
                hits.setdefault(name, []).append(held)
        if seed % 4:
            continue
        ends = metrics.bootstrap_cells(
            metrics.cluster_cells(data["known"], data["read"], data["entity"]), n=200
        )["J"]
        assert ends.low is not None
        assert ends.high is not None
        raw.append(ends.low <= truth["J"] <= ends.high)
    for name, held in hits.items():
        assert len(held) > 90, name
        assert np.mean(held) > 0.90, name
    assert np.mean(raw) < 0.8


def test_what_the_judge_did_is_a_paired_difference() -> None:
    """All rows labeled: raw minus corrected is the mean of f - y, with the error of that mean."""
    rng = np.random.default_rng(3)
    people = (rng.random(200) < 0.5).astype(float)
    judge = np.where((people == 0) & (rng.random(200) < 0.3), 1.0, people)
    one = np.ones(200)

    def share(sums: Any) -> dict[str, Any]:
        return {"share": sums[..., 0] / sums[..., 1]}

    rows = LabeledRows(np.arange(200))
    columns = (np.stack([judge, one], axis=1), np.stack([people, one], axis=1))
    effect = metrics.corrected_sums(share, *columns, rows)["share"].effect
    gap = judge - people
    assert effect is not None
    assert effect.value == pytest.approx(gap.mean())
    assert effect.low is not None
    assert effect.high is not None
    half = (effect.high - effect.low) / 2
    assert half == pytest.approx(1.96 * gap.std(ddof=1) / np.sqrt(200), rel=0.06)
    assert effect.low > 0  # the corrected interval alone would not say so

    def weighted_mean(x: Any, weights: Any) -> Any:
        return (weights * x).sum(axis=1) / weights.sum(axis=1)

    same = metrics.corrected_metric("m", weighted_mean, [judge], [people], rows).effect
    assert same is not None
    assert same.value == pytest.approx(effect.value)
    assert same.low == pytest.approx(effect.low)


def shared(judge: Any, people: Any, labeled: LabeledRows) -> Any:
    return metrics.corrected_sums(share, judge, people, labeled, shares=("share",))["share"]


def test_labels_that_are_all_alike_bound_a_share() -> None:
    """All 60 of 60 labels right: the exact bound .025^(1/60), also for the corrected number."""
    judge = with_ones(np.r_[np.ones(250), np.zeros(50)])
    rows = LabeledRows(np.arange(0, 300, 5))
    found = shared(judge, np.ones((60, 2)), rows)
    assert found.power == 0.0
    for made in (found.alone, found.corrected):
        assert made.value == pytest.approx(1.0)
        assert made.low == pytest.approx(0.025 ** (1 / 60))
        assert (made.high, made.problem) == (1.0, None)
    # of entities whose labels move together, as many count as there are entities
    pairs = rows._replace(clusters=np.arange(300) // 10)
    clustered = shared(judge, np.ones((60, 2)), pairs).alone
    assert clustered.low == pytest.approx(0.025 ** (1 / 30))
    # labels that weigh 1 and 9 count as Kish's number of equal ones
    chance = np.where(np.arange(60) < 30, 0.9, 0.1)
    weighed = rows._replace(probability=chance)
    made = shared(judge, np.ones((60, 2)), weighed).alone
    assert made.low == pytest.approx(0.025 ** (1 / (300**2 / (30 * 1 + 30 * 81))))


def test_a_stratified_share_of_one_has_the_same_interval_twice() -> None:
    """Strata of the judge's verdicts say all that it says: corrected is what the labels give."""
    judge = np.r_[np.ones(250), np.zeros(50)]
    labeled = LabeledRows(np.r_[np.arange(30), np.arange(250, 280)], strata=judge)
    found = shared(with_ones(judge), np.ones((60, 2)), labeled)
    assert found.corrected.low is not None
    assert 0.8 < found.corrected.low < 0.025 ** (1 / 60)
    assert (found.corrected.low, found.corrected.high) == (found.alone.low, found.alone.high)


def test_one_of_sixty_labels_is_no_wide_interval() -> None:
    judge, people = np.ones(300), np.ones(60)
    people[7] = 0.0
    rows = LabeledRows(np.arange(0, 300, 5))
    alone = shared(with_ones(judge), with_ones(people), rows).alone
    # Clopper and Pearson: .9106 and .9996 for 59 of 60; the jackknife's own n is 59
    assert (alone.low, alone.high) == pytest.approx((0.9106, 0.9996), abs=0.003)


def test_only_shares_are_taken_for_shares() -> None:
    """A difference of shares, and a share of which no label counts, keep what they have."""
    data = world(13)
    data["label"] = np.where(data["known"] == 1, 0, 1)  # all known right, all unknown wrong
    at = np.arange(0, 300, 5)
    judge, people = (cells(data["known"], data[name]) for name in ("read", "label"))

    def some(sums: Any) -> dict[str, Any]:
        found = metrics.cell_rates(sums)
        return {name: found[name] for name in ("UUR", "KCR", "J", "UA")}

    found = metrics.corrected_sums(
        some,
        judge,
        people[at],
        LabeledRows(at, clusters=data["entity"]),
        {"J": (-1.0, 1.0)},
        SHARES,
    )
    assert (found["UUR"].alone.value, found["UUR"].alone.low) == (0.0, 0.0)
    assert found["UUR"].alone.high is not None
    assert 0.05 < found["UUR"].alone.high < 0.25
    assert found["J"].alone.low is None
    assert "all labels that count for it are alike" in (found["J"].alone.problem or "")
    assert found["UA"].alone.value is None
    # fewer than five entities count
    few = shared(judge[:, :2], np.ones((4, 2)), LabeledRows(at[:4], clusters=data["entity"])).alone
    assert few.low is None
