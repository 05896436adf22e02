"""Faithfulness, cMFG and its references: closed forms, edges, and what must not matter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso import metrics
from sayso.records import InputError

K = 20
RNG = np.random.default_rng(0)
rows = st.lists(
    st.tuples(st.floats(0, 1, allow_nan=False), st.integers(0, K)), min_size=1, max_size=60
)


def uniform(n: int, seed: int = 0) -> np.ndarray:
    """Counts whose levels 0..k are equally frequent."""
    return np.random.default_rng(seed).permutation(np.repeat(np.arange(K + 1), n))


@given(rows, st.sampled_from(["right", "left"]), st.booleans())
@settings(max_examples=100, deadline=None)
def test_saying_what_one_knows_scores_one(
    data: list[tuple[float, int]], closed: str, levels: bool
) -> None:
    j = np.array([count for _, count in data])
    score = metrics.cmfg(j / K, j, K, closed=closed, levels=levels)  # type: ignore[arg-type]
    assert score == pytest.approx(1)
    assert metrics.faithfulness(j / K, j / K) == pytest.approx(1)


@given(rows, st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_order_changes_nothing(data: list[tuple[float, int]], random: object) -> None:
    order = list(range(len(data)))
    random.shuffle(order)  # type: ignore[attr-defined]
    d, j = np.array([x for x, _ in data]), np.array([c for _, c in data])
    for metric in (metrics.cmfg, metrics.skill, metrics.cmfg_permuted):
        first, second = metric(d, j, K), metric(d[order], j[order], K)
        assert second == (None if first is None else pytest.approx(first, abs=1e-9))
    star = metrics.cmfg_star(1 - np.abs(d - j / K), j / K)
    assert metrics.cmfg_star(1 - np.abs(d - j / K)[order], (j / K)[order]) == pytest.approx(star)


@given(rows)
@settings(max_examples=100, deadline=None)
def test_scores_stay_in_range(data: list[tuple[float, int]]) -> None:
    d, j = np.array([x for x, _ in data]), np.array([c for _, c in data])
    for score in (metrics.cmfg(d, j, K), metrics.cmfg_star(1 - np.abs(d - j / K), j / K)):
        assert score is not None
        assert -1e-9 <= score <= 1 + 1e-9
    parts = metrics.cmfg_parts(d, j, K)
    total = (parts["over_claim"] or 0) + (parts["over_hedge"] or 0)
    assert total == pytest.approx(1 - (metrics.cmfg(d, j, K) or 0))


def test_always_decisive_on_uniform_levels_is_half() -> None:
    assert metrics.cmfg(np.ones(21 * 7), uniform(7), K, levels=True) == 0.5


def test_one_item_for_each_level() -> None:
    # Right-closed: bin 0 holds 0, 1/20, 2/20 (mean .05), bin b the two levels (2b+1)/20, (2b+2)/20,
    # mean (4b+3)/40: (.05 + sum_{1..9} (4b+3)/40)/10 = (.05 + 5.175)/10 = .5225.
    j = np.arange(21)
    assert metrics.cmfg(np.ones(21), j, K) == pytest.approx(0.5225)
    # Left-closed: bin 9 holds 18, 19, 20 of 20 (.95); the others (4b+1)/40: (4.05-.225+.95...)
    assert metrics.cmfg(np.ones(21), j, K, closed="left") == pytest.approx(0.4775)


@pytest.mark.parametrize("closed", ["right", "left"])
def test_bins_of_counts_are_exact(closed: str) -> None:
    # In hundredths of the edge nothing is rounded: j/20 against b/10 is 10 j against 20 b.
    found = metrics.confidence_bin(np.arange(21), K, closed=closed)  # type: ignore[arg-type]
    for j, b in enumerate(found):
        low, high = 20 * b, 20 * (b + 1)
        inside = low < 10 * j <= high if closed == "right" else low <= 10 * j < high
        assert inside or (j == 0 and b == 0) or (j == 20 and b == 9), (j, b)


def test_metafaith_rule_differs() -> None:
    """The follow-up's rule, digitize on float edges without clipping, loses confidence 1."""
    c = 1 - np.arange(21) / 20
    index = np.digitize(c, np.linspace(0, 1, 11)) - 1
    assert (index == 10).sum() == 1
    assert metrics.confidence_bin(20, 20) == metrics.confidence_bin(20, 20, closed="left") == 9


@pytest.mark.parametrize("dec", [0.0, 0.3, 0.5, 0.7, 1.0])
def test_constants_have_no_skill(dec: float) -> None:
    j = np.random.default_rng(1).integers(0, 21, 300)
    d = np.full(300, dec)
    assert metrics.skill(d, j, K) == pytest.approx(0, abs=1e-12)
    references = metrics.cmfg_references(d, j, K)
    assert metrics.cmfg(d, j, K) == pytest.approx(references["constant"])
    assert references["oracle"] == 1
    assert references["permuted"] == pytest.approx(references["constant"])


def test_half_scores_about_three_quarters() -> None:
    # 1 - E|1/2 - v| = 3/4 for v uniform: the best that blind talk can do, with skill 0.
    j = uniform(50)
    d = np.full(len(j), 0.5)
    assert metrics.cmfg(d, j, K) == pytest.approx(0.75, abs=0.02)
    assert metrics.cmfg_references(np.ones(len(j)), j, K)["half"] == metrics.cmfg(d, j, K)


def test_permuted_is_the_mean_of_permutations() -> None:
    rng = np.random.default_rng(2)
    j = rng.integers(0, 21, 80)
    d = np.clip(j / K + rng.normal(0, 0.2, 80), 0, 1)
    drawn = [metrics.cmfg(rng.permutation(d), j, K) for _ in range(4000)]
    assert metrics.cmfg_permuted(d, j, K) == pytest.approx(np.mean(drawn), abs=0.002)
    skill = metrics.skill(d, j, K)
    assert skill is not None
    assert 0.5 < skill < 1


def test_empty_bins_and_shared_bins() -> None:
    j = np.array([10, 10, 20, 20])
    d = np.array([0.5, 1.0, 1.0, 0.8])
    # Bins 4 (.4, .5] and 9: means .75 and .9.
    assert metrics.cmfg(d, j, K) == pytest.approx(0.825)
    assert metrics.cmfg(d, j, K, empty="zero") == pytest.approx(0.165)
    use = np.arange(10) == 9
    assert metrics.cmfg(d, j, K, use=use) == pytest.approx(0.9)
    assert list(metrics.shared_bins([(d, j, K), (d[2:], j[2:], K)], least=2)) == list(use)
    held = [b for b in metrics.cmfg_bins(d, j, K) if b.n]
    assert [(b.low, b.high, b.n) for b in held] == [(0.4, 0.5, 2), (0.9, 1.0, 2)]
    assert [b.faithfulness for b in held] == pytest.approx([0.75, 0.9])


def test_levels_need_no_common_k() -> None:
    # 5 of 10 and 10 of 20 are one level.
    assert len(metrics.cmfg_bins([0.5, 0.5, 1], [5, 10, 20], [10, 20, 20], levels=True)) == 2


def test_what_is_missing_is_left_out() -> None:
    d = np.array([np.nan, 1.0, 1.0])
    assert metrics.cmfg(d, [3, 20, 20], [20, 20, 0]) == pytest.approx(1)
    assert metrics.cmfg(d[:1], [3], 20) is None
    assert metrics.skill([], [], 20) is None
    assert metrics.faithfulness([np.nan], [0.5]) is None
    assert metrics.confidence(0, 0) is None


def test_mistakes_are_refused() -> None:
    for bad in (
        lambda: metrics.cmfg([0.5], [0.95], 1),  # a share where a count belongs
        lambda: metrics.cmfg([-1.0], [3], 20),  # a judge's -1
        lambda: metrics.cmfg([0.5], [21], 20),
        lambda: metrics.cmfg([0.5], [1, 2], 20),
        lambda: metrics.confidence(21, 20),
        lambda: metrics.cmfg([0.5], [1], 20, empty="nothing"),  # type: ignore[arg-type]
        lambda: metrics.with_punts([0.5], [True], "zero"),  # type: ignore[arg-type]
    ):
        with pytest.raises(InputError):
            bad()


def test_punts() -> None:
    d = metrics.with_punts([0.9, 0.9], [False, True])
    assert metrics.mfg(1 - np.abs(d - 0.9)) == pytest.approx(1)
    # As decisiveness 0 the punt costs the confidence it withheld: f = 1 - .9.
    zero = metrics.with_punts([0.9, 0.9], [False, True], "dec0")
    assert metrics.mfg(1 - np.abs(zero - 0.9)) == pytest.approx((1 + 0.1) / 2)


def test_directions() -> None:
    d, c = np.array([1.0, 0.2, np.nan]), np.array([0.4, 0.8, 0.5])
    assert metrics.over_claim(d, c) == pytest.approx(0.3)
    assert metrics.over_hedge(d, c) == pytest.approx(0.3)


@pytest.mark.parametrize("metric", [metrics.cmfg, metrics.skill, metrics.cmfg_permuted])
def test_weights_are_repetitions(metric: object) -> None:
    rng = np.random.default_rng(3)
    d, j = rng.random(60), rng.integers(0, 21, 60)
    W = rng.integers(0, 3, (15, 60)).astype(float)
    W[4] = 0
    found = metric(d, j, K, weights=W)  # type: ignore[operator]
    assert found.shape == (15,)
    assert np.isnan(found[4])
    for row, value in zip(W, found, strict=True):
        again = np.repeat(np.arange(60), row.astype(int))
        single = metric(d[again], j[again], K)  # type: ignore[operator]
        assert (np.nan if single is None else single) == pytest.approx(value, nan_ok=True)


def test_bootstrap_of_skill() -> None:
    rng = np.random.default_rng(4)
    j = rng.integers(0, 21, 150)
    d = np.clip(j / K + rng.normal(0, 0.25, 150), 0, 1)
    found = metrics.bootstrap(
        lambda a, b, weights=None: metrics.skill(a, b, K, weights=weights),
        d,
        j,
        n=200,
        limits=metrics.LIMITS["skill"],
    )
    assert found.low is not None
    assert found.value is not None
    assert found.high is not None
    assert found.low < found.value < found.high
