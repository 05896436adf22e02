"""Faithfulness: cMFG and its skill, cMFG*, noise of k samples, linguistic calibration."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso import metrics
from sayso.metrics import Binning
from sayso.metrics.cmfg import THIN
from sayso.records import InputError

K = 20
#: the bins of values worked by hand
TEN = Binning(bins=10)
RNG = np.random.default_rng(0)
rows = st.lists(
    st.tuples(st.floats(0, 1, allow_nan=False), st.integers(0, K)), min_size=1, max_size=60
)


def uniform(n: int, seed: int = 0) -> np.ndarray:
    """Counts whose levels 0..k are equally frequent."""
    return np.random.default_rng(seed).permutation(np.repeat(np.arange(K + 1), n))


@given(rows, st.sampled_from(["right", "left"]), st.booleans())
def test_saying_what_one_knows_scores_one(
    data: list[tuple[float, int]], closed: str, levels: bool
) -> None:
    j = np.array([count for _, count in data])
    score = metrics.cmfg(j / K, j, K, Binning(closed=closed, levels=levels))  # type: ignore[arg-type]
    assert score == pytest.approx(1)
    assert metrics.faithfulness(j / K, j / K) == pytest.approx(1)


@given(rows, st.randoms(use_true_random=False))
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
def test_scores_stay_in_range(data: list[tuple[float, int]]) -> None:
    d, j = np.array([x for x, _ in data]), np.array([c for _, c in data])
    for score in (metrics.cmfg(d, j, K), metrics.cmfg_star(1 - np.abs(d - j / K), j / K)):
        assert score is not None
        assert -1e-9 <= score <= 1 + 1e-9
    parts = metrics.cmfg_parts(d, j, K)
    total = (parts["over_claim"] or 0) + (parts["over_hedge"] or 0)
    assert total == pytest.approx(1 - (metrics.cmfg(d, j, K) or 0))


def test_always_decisive_on_uniform_levels_is_half() -> None:
    assert metrics.cmfg(np.ones(21 * 7), uniform(7), K, Binning(levels=True)) == 0.5


def test_one_item_for_each_level() -> None:
    # Right-closed: bin 0 holds 0, 1/20, 2/20 (mean .05), bin b the two levels (2b+1)/20, (2b+2)/20,
    # mean (4b+3)/40: (.05 + sum_{1..9} (4b+3)/40)/10 = (.05 + 5.175)/10 = .5225.
    j = np.arange(21)
    assert metrics.cmfg(np.ones(21), j, K, TEN) == pytest.approx(0.5225)
    # Left-closed: bin 9 holds 18, 19, 20 of 20 (.95); the others (4b+1)/40: (4.05-.225+.95...)
    assert metrics.cmfg(np.ones(21), j, K, TEN._replace(closed="left")) == pytest.approx(0.4775)


@pytest.mark.parametrize("closed", ["right", "left"])
def test_bins_of_counts_are_exact(closed: str) -> None:
    # In hundredths of the edge nothing is rounded: j/20 against b/10 is 10 j against 20 b.
    found = metrics.confidence_bin(np.arange(21), K, 10, closed)  # type: ignore[arg-type]
    for j, b in enumerate(found):
        low, high = 20 * b, 20 * (b + 1)
        inside = low < 10 * j <= high if closed == "right" else low <= 10 * j < high
        assert inside or (j == 0 and b == 0) or (j == 20 and b == 9), (j, b)


def test_metafaith_rule_differs() -> None:
    """The follow-up's rule, digitize on float edges without clipping, loses confidence 1."""
    c = 1 - np.arange(21) / 20
    index = np.digitize(c, np.linspace(0, 1, 11)) - 1
    assert (index == 10).sum() == 1
    assert metrics.confidence_bin(20, 20, 10) == metrics.confidence_bin(20, 20, 10, "left") == 9


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
    assert metrics.cmfg(d, j, K, TEN) == pytest.approx(0.825)
    assert metrics.cmfg(d, j, K, TEN._replace(empty="zero")) == pytest.approx(0.165)
    use = np.arange(10) == 9
    assert metrics.cmfg(d, j, K, TEN, use=use) == pytest.approx(0.9)
    assert list(metrics.shared_bins([(d, j, K), (d[2:], j[2:], K)], TEN, least=2)) == list(use)
    held = [b for b in metrics.cmfg_bins(d, j, K, TEN) if b.n]
    assert [(b.low, b.high, b.n) for b in held] == [(0.4, 0.5, 2), (0.9, 1.0, 2)]
    assert [b.faithfulness for b in held] == pytest.approx([0.75, 0.9])


def test_levels_need_no_common_k() -> None:
    # 5 of 10 and 10 of 20 are one level.
    counts = [0.5, 0.5, 1], [5, 10, 20], [10, 20, 20]
    assert len(metrics.cmfg_bins(*counts, Binning(levels=True))) == 2
    # methods share bins, whatever else is asked for
    assert metrics.shared_bins([counts], Binning(levels=True), least=1).sum() == 2


def test_the_fields_of_the_binning_by_name() -> None:
    d, j = np.linspace(0, 1, 21), np.arange(21)
    binning = Binning(7, closed="left", empty="zero")
    assert metrics.cmfg(d, j, K, bins=7, closed="left", empty="zero") == metrics.cmfg(
        d, j, K, binning
    )
    assert metrics.cmfg(d, j, K, levels=True) == metrics.cmfg(d, j, K, Binning(levels=True))


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
        lambda: metrics.cmfg([0.5], [1], 20, Binning(empty="nothing")),  # type: ignore[arg-type]
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


# ---- cMFG*, sampling noise, Kendall, decisiveness as a probability


def test_star_by_hand() -> None:
    # Two bins of two rows: {.1, .2}, {.6, .8}; boundary (.2+.6)/2 = .4; widths .4 and .6.
    # Means .5 and .9: .4*.5 + .6*.9 = .74.
    f = [0.4, 0.6, 0.8, 1.0]
    assert metrics.cmfg_star(f, [0.1, 0.2, 0.6, 0.8], bins=2) == pytest.approx(0.74)


def test_star_with_a_boundary_inside_a_level() -> None:
    # .5 holds rows 2 and 3 of four; each bin gets half of that level, whose mean is .7, and the
    # boundary is .5 itself: .5 * (.4+.7)/2 + .5 * (.7+1)/2 = .7, whichever way the ties are listed.
    for order in ([0, 1, 2, 3], [0, 2, 1, 3], [3, 2, 1, 0]):
        f = np.array([0.4, 0.6, 0.8, 1.0])[order]
        c = np.array([0.1, 0.5, 0.5, 0.9])[order]
        assert metrics.cmfg_star(f, c, bins=2) == pytest.approx(0.7)


def test_star_of_blind_policies() -> None:
    rng = np.random.default_rng(0)
    v = rng.random(40_000)
    assert metrics.cmfg_star(v, v) == pytest.approx(0.5, abs=0.005)
    assert metrics.cmfg_star(1 - np.abs(0.5 - v), v) == pytest.approx(0.75, abs=0.005)
    # Whatever the distribution of confidence: the weights undo it.
    skewed = rng.beta(5, 2, 40_000)
    assert metrics.cmfg_star(skewed, skewed, bins=200) == pytest.approx(0.5, abs=0.03)


def test_star_weights_are_repetitions_and_none() -> None:
    rng = np.random.default_rng(1)
    f, c = rng.random(40), rng.integers(0, 21, 40) / 20
    W = rng.integers(0, 3, (8, 40)).astype(float)
    W[2] = 0
    found = metrics.cmfg_star(f, c, weights=W)
    assert isinstance(found, np.ndarray)
    for row, value in zip(W, found, strict=True):
        again = np.repeat(np.arange(40), row.astype(int))
        single = metrics.cmfg_star(f[again], c[again])
        assert (np.nan if single is None else single) == pytest.approx(value, nan_ok=True)
    assert metrics.cmfg_star([], []) is None


def test_star_error_is_the_spread_of_runs() -> None:
    rng = np.random.default_rng(2)
    scores, errors = [], []
    for _ in range(300):
        c = rng.random(400)
        f = np.clip(0.8 + rng.normal(0, 0.1, 400), 0, 1)
        scores.append(metrics.cmfg_star(f, c))
        errors.append(metrics.cmfg_star_error(f, c))
    assert np.mean(errors) == pytest.approx(np.std(scores), rel=0.15)
    assert metrics.cmfg_star_error([0.5] * 19, [0.5] * 19) is None


def test_noise_floor() -> None:
    # p = .5, k = 20: sum |x/20 - .5| C(20,x)/2^20 = C(20,10)/2^20 / 2 = .0881
    assert metrics.noise_floor([10], 20) == pytest.approx(184756 / 2**20 / 2)
    assert metrics.noise_floor([0, 20], 20) == 0
    assert metrics.noise_floor([1], 0) is None


@pytest.mark.parametrize("offset", [0.0, 0.15, 0.3])
def test_correction_gives_what_many_samples_would(offset: float) -> None:
    rng = np.random.default_rng(5)
    p = rng.uniform(0, 1, 30_000)
    side = np.where(p > 0.5, -1, 1)
    d = p + side * offset
    few, many = rng.binomial(K, p), rng.binomial(4000, p)
    best = metrics.cmfg(d, many, 4000)
    plain, corrected = metrics.cmfg(d, few, K), metrics.cmfg_corrected(d, few, K)
    assert best is not None
    assert plain is not None
    assert corrected is not None
    # The plain score misses .066 where the model is faithful, the corrected one .017.
    assert abs(corrected - best) < max(0.012, 0.35 * abs(plain - best)), (plain, corrected, best)


def test_corrected_skill_by_hand() -> None:
    # Two answers at c = 2/4, d = 0 and 1: gaps -.5 and .5, mean 0, variance .25, each of size .5.
    # Noise c(1-c)/(k-1) = .0833; E|N(0, .25)| = .3989, E|N(0, .1667)| = .3257: .0732 were added.
    # Dealt out, the gaps are the same, so blind is the same and skill is 0.
    assert metrics.cmfg_corrected([0, 1], [2, 2], 4) == pytest.approx(0.5 + 0.0732, abs=1e-4)
    assert metrics.cmfg_corrected([0, 1], [2, 2], 4) == pytest.approx(1 - _less(0.25 / 3))
    assert metrics.skill_corrected([0, 1], [2, 2], 4) == pytest.approx(0)


def _less(noise: float) -> float:
    """.5 less what noise of this variance adds to gaps of mean 0 and variance .25."""
    return 0.5 - math.sqrt(2 / math.pi) * (math.sqrt(0.25) - math.sqrt(0.25 - noise))


def test_corrected_skill_of_known_models() -> None:
    rng = np.random.default_rng(8)
    p = rng.uniform(0, 1, 4000)
    j = rng.binomial(K, p)
    faithful, plain = metrics.skill_corrected(p, j, K), metrics.skill(p, j, K)
    assert plain == pytest.approx(0.79, abs=0.02)  # the noise of 20 draws alone
    assert faithful == pytest.approx(0.93, abs=0.03)
    half = np.where(rng.random(4000) < 0.5, p, rng.random(4000))
    truth = metrics.skill(half, rng.binomial(100_000, p), 100_000)
    plain, corrected = metrics.skill(half, j, K), metrics.skill_corrected(half, j, K)
    assert truth is not None
    assert plain is not None
    assert corrected is not None
    assert abs(corrected - truth) < abs(plain - truth)
    for constant in (0.0, 0.5, 0.8, 1.0):  # a constant has no skill, corrected or not
        assert metrics.skill_corrected(np.full(4000, constant), j, K) == pytest.approx(0, abs=1e-9)
    assert metrics.skill_corrected(rng.random(4000), j, K) == pytest.approx(0, abs=0.03)
    assert metrics.skill_corrected([], [], K) is None


def test_kendall_by_pairs() -> None:
    rng = np.random.default_rng(6)
    x, y = rng.integers(0, 5, 30), rng.integers(0, 4, 30)
    signs = [(np.sign(x[a] - x[b]), np.sign(y[a] - y[b])) for a, b in combinations(range(30), 2)]
    top = sum(s * t for s, t in signs)
    spread = np.sqrt(sum(s != 0 for s, _ in signs) * sum(t != 0 for _, t in signs))
    assert metrics.kendall(x, y) == pytest.approx(top / spread)
    assert metrics.kendall([1, 1], [1, 2]) is None
    assert metrics.kendall([1, 2, 3, np.nan], [1, 2, 3, 0]) == pytest.approx(1)
    W = rng.integers(0, 3, (4, 30)).astype(float)
    found = metrics.kendall(x, y, W)
    assert isinstance(found, np.ndarray)
    for row, value in zip(W, found, strict=True):
        again = np.repeat(np.arange(30), row.astype(int))
        assert metrics.kendall(x[again], y[again]) == pytest.approx(value)


def test_words_as_probabilities() -> None:
    # "70 % sure" ten times, seven right: reliability 0, Brier .21 = .7 * .3, one level: no AUROC.
    found = metrics.linguistic_calibration(np.full(10, 0.7), [1] * 7 + [0] * 3)
    assert found.n == 10
    assert found.brier == pytest.approx(0.21)
    assert found.reliability == pytest.approx(0, abs=1e-12)
    assert found.auroc == 0.5
    told = metrics.linguistic_calibration([0.9, 0.8, 0.2, np.nan], [1, 1, 0, 1])
    assert told.n == 3
    assert told.auroc == 1
    assert metrics.linguistic_calibration([], []).brier is None


def test_the_order_of_rows_moves_neither_cmfg_star_nor_its_error() -> None:
    rng = np.random.default_rng(2)
    c, f = rng.integers(0, 6, 120) / 5, rng.random(120)  # six levels over ten bins
    order = rng.permutation(120)
    for metric in (metrics.cmfg_star, metrics.cmfg_star_error):
        assert metric(f[order], c[order]) == pytest.approx(metric(f, c), rel=1e-12)


def test_weights_of_claims_are_repetitions() -> None:
    """A claim of weight 3 is that claim three times, in every score less the noise of draws."""
    rng = np.random.default_rng(5)
    n = 60
    c = rng.integers(0, K + 1, n)
    d = np.clip(c / K + rng.normal(0, 0.2, n), 0, 1)
    w = rng.integers(0, 4, n)
    again = np.repeat(np.arange(n), w)
    for score in (metrics.cmfg_corrected, metrics.skill_corrected):
        for levels in (False, True):
            binning = Binning(levels=levels)
            found = score(d, c, K, binning, weights=w)
            assert found == pytest.approx(score(d[again], c[again], K, binning))
            assert score(d, c, K, weights=np.full(n, 2.0)) == pytest.approx(score(d, c, K))
        assert score(d, c, K, weights=np.zeros(n)) is None
    assert metrics.noise_floor(c, K, w) == pytest.approx(metrics.noise_floor(c[again], K))
    # p = 1/2 of k = 1: |1/2 - X| is no count; agreeing 0 or k never deviates, 1 of 2 by
    # 1/4 * 1/2 + 1/2 * 0 + 1/4 * 1/2 = 1/4; weighted 3 to 1: 3/16
    assert metrics.noise_floor([1, 0], 2, [3, 1]) == pytest.approx(3 / 16)
    assert metrics.noise_floor([1, 0], 2, [0, 0]) is None


def test_weights_of_another_shape_are_refused() -> None:
    with pytest.raises(InputError):
        metrics.noise_floor([1, 0], 2, [1, 1, 1])
    with pytest.raises(InputError):
        metrics.cmfg_corrected([1.0, 0.5], [2, 1], 2, weights=np.ones((3, 2)))


def test_thin_bins_by_hand() -> None:
    # 5 answers at each of .1, .2, ... 1 but 3 at .4
    agreeing = np.repeat(np.arange(1, 11), 5)
    assert metrics.thin_bins(np.full(50, 0.5), agreeing, 10) is None
    some = np.delete(agreeing, [15, 16])
    assert metrics.thin_bins(np.full(48, 0.5), some, 10) == (f"{THIN}: 1 of 10; 0.3-0.4 has 3")
    only = metrics.thin_bins(np.full(9, 0.5), np.full(9, 10), 10)
    assert only is not None
    assert only.endswith("9 of 10, all empty")
    # by levels, those that nobody attained count: 0 of 10 is one
    levels = metrics.thin_bins(np.full(50, 0.5), agreeing, 10, metrics.Binning(levels=True))
    assert levels is not None
    assert levels.endswith("1 of 11, all empty")
    assert metrics.thin_bins([], [], 10) is None


def test_bins_that_no_count_reaches_do_not_count() -> None:
    """Of five samples there are six levels: four of ten bins stay empty whatever is asked."""
    agreeing = np.repeat(np.arange(6), 5)
    words = np.full(30, 0.5)
    assert metrics.thin_bins(words, agreeing, 5) is None
    assert metrics.filling(words, agreeing, 5) == (6, 6, 5, 0.0, 0.1)
    # the same levels out of 10 leave four bins empty that others could fill
    assert metrics.filling(words, 2 * agreeing, 10) == (6, 10, 5, 0.0, 0.1)
    assert metrics.thin_bins(words, 2 * agreeing, 10) == f"{THIN}: 4 of 10, all empty"


def test_filling_names_the_thinnest_bin() -> None:
    agreeing = np.repeat(np.arange(1, 11), 5)[2:]  # 3 at .1
    held = metrics.filling(np.full(48, 0.5), agreeing, 10)
    assert held == (10, 10, 3, 0.0, 0.1)
    shared = np.arange(10) > 0
    assert metrics.filling(np.full(48, 0.5), agreeing, 10, use=shared) == (9, 9, 5, 0.1, 0.2)
    assert metrics.thin_bins(np.full(48, 0.5), agreeing, 10, use=shared) is None
    assert metrics.filling([], [], 10) is None
