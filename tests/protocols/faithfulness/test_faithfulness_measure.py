"""Numbers of rows made by hand: bins of confidence, choices of demonstrations, weights."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

import msgspec
import numpy as np
import pytest

from sayso.judges.decisiveness import decisiveness, plain_decisiveness
from sayso.metrics.cmfg import answer_confidence, cmfg, confidence_bin, faithfulness, skill
from sayso.metrics.intervals import UNMOVED, bootstrap
from sayso.protocols.declared import Declared, estimates_of
from sayso.protocols.faithfulness.measure import (
    FEW_IN_BIN,
    NOT_OFFLINE,
    AskedMethod,
    answer_shares,
    bin_means,
    declared_of,
    gains,
    mean_over_choices,
    references,
    scores,
)
from sayso.protocols.faithfulness.rows import AssertionRow, MethodRows, row_arrays
from sayso.protocols.faithfulness.settings import Settings
from sayso.protocols.settings import replace
from sayso.records import Estimate, Question, slice_text


def binned_rows(d: list[float], j: list[int], k: int = 10) -> MethodRows:
    n = len(d)
    return MethodRows(
        form="short",
        method="vanilla",
        d=np.array(d),
        j=np.array(j, dtype=float),
        k=np.full(n, float(k)),
        punted=np.zeros(n, dtype=bool),
        right=np.ones(n),
        weight=np.ones(n),
        part=np.full(n, -1),
        choice=np.zeros(n, dtype=np.int64),
        entity=np.arange(n),
        name=np.array([str(i) for i in range(n)]),
        domain=np.array([""] * n),
        question=[str(i) for i in range(n)],
        answers=[str(i) for i in range(n)],
        thought=np.full(n, np.nan),
        thinks=np.zeros(n, dtype=bool),
        lost=Counter(),
    )


OFFLINE = (("dec", "rules@1"),)


def method_of(rows: MethodRows, **fields: object) -> AskedMethod:
    chosen = replace(Settings(), {"resamples": 100, **fields})  # type: ignore[dict-item]
    return AskedMethod(rows, chosen, OFFLINE)


def made(numbers: Iterable[Declared], n: int = 100) -> list[Estimate]:
    """Return estimates without the slice of their method."""
    found = estimates_of(numbers, n, 0)
    return [msgspec.structs.replace(e, where=e.where[2:]) for e in found]


def scored(rows: MethodRows) -> dict[str, Estimate]:
    """Return the scores of all rows, and what they are read against."""
    one = method_of(rows)
    return {e.name: e for e in [*made(scores(one, one.used)), *references(one)]}


def bin_estimates(held: MethodRows) -> dict[tuple[str, str], Estimate]:
    return {(e.name, slice_text(e.where)): e for e in made(bin_means(method_of(held)), 200)}


def test_a_bin_has_the_means_of_its_words_and_its_confidence() -> None:
    # confidence 1, 1, .2, .2; words 1, .8, .4, .2
    held = bin_estimates(binned_rows([1.0, 0.8, 0.4, 0.2], [10, 10, 2, 2]))
    top, low = "bin:0.9-1", "bin:0.1-0.2"
    assert held["bin_decisiveness", top].value == pytest.approx(0.9)
    assert held["bin_decisiveness", low].value == pytest.approx(0.3)
    assert held["bin_confidence", top].value == pytest.approx(1)
    assert held["bin_confidence", low].value == pytest.approx(0.2)
    assert held["bin_decisiveness", top].n == 2


def test_intervals_hold_the_value_and_empty_bins_say_so() -> None:
    rng = np.random.default_rng(0)
    held = bin_estimates(binned_rows(list(rng.random(200)), list(rng.integers(0, 6, 200))))
    for e in held.values():
        if e.n == 0:
            assert e.value is None
            assert e.problem == "empty"
        elif e.low is None:  # claims of one bin have one confidence here
            assert (e.name, e.problem) == ("bin_confidence", UNMOVED)
        else:
            assert e.low <= e.value <= e.high
    assert held["bin_decisiveness", "bin:0.9-1"].n == 0


def test_few_claims_and_lone_entities_have_no_interval_in_a_bin() -> None:
    # 4, 5 and 6 claims at confidence .1, .5 and 1; the six of the last are of one entity
    j = [1] * 4 + [5] * 5 + [10] * 6
    rows = binned_rows(list(np.linspace(0.1, 0.9, 15)), j)
    held = bin_estimates(rows._replace(entity=np.minimum(np.arange(15), 9)))
    for name in ("bin_decisiveness", "bin_confidence"):
        for place in ("bin:0-0.1", "bin:0.9-1"):
            few = held[name, place]
            assert few.value is not None
            assert (few.low, few.problem) == (None, FEW_IN_BIN)
    enough = held["bin_decisiveness", "bin:0.4-0.5"]
    assert enough.low is not None
    assert (enough.low, enough.high) != (0, 1)


def test_no_interval_leaves_its_scale_or_fills_it() -> None:
    rng = np.random.default_rng(2)
    for n in (12, 20, 24, 60):
        rows = binned_rows(list(rng.random(n)), list(rng.integers(0, 11, n)))
        for e in (*scored(rows).values(), *bin_estimates(rows).values()):
            if e.low is None or e.high is None:
                continue
            assert e.high <= 1, e
            assert e.low >= 0 or "skill" in e.name or e.name == "spearman", e
            assert "skill" in e.name or e.high - e.low < 1.98, e


def test_intervals_resample_entities_not_answers() -> None:
    """Four answers about an entity that say the same tell no more than one."""
    rng = np.random.default_rng(1)
    d, j, right = rng.random(60), rng.integers(0, 11, 60), rng.integers(0, 2, 60) * 1.0
    once = binned_rows(list(d), list(j))._replace(right=right)
    four = binned_rows(list(np.repeat(d, 4)), list(np.repeat(j, 4)))._replace(
        right=np.repeat(right, 4), entity=np.repeat(np.arange(60), 4)
    )
    sides = [
        made([*scores(one, one.used), *bin_means(one), *answer_shares(one)], 200)
        for one in map(method_of, (once, four))
    ]
    spread = [(a, b) for a, b in zip(*sides, strict=True) if a.low is not None and a.low < a.high]
    assert len(spread) > 10
    for a, b in spread:
        assert (b.low, b.high) == pytest.approx((a.low, a.high)), a.name


#: (choice, decisiveness, agreeing of 10)
#: choice 1: always decisive: bin 0 has f = 0, the last f = 1: cMFG 1/2
#: choice 2: never, all at confidence 0: f = 1 in its one bin: cMFG 1
#: averaged 3/4; one pool would say bin 0: (0 + 1 + 1) / 3, the last: 1, together 5/6
CHOICES = [(1, 1.0, 0), (1, 1.0, 10), (1, 1.0, 10), (2, 0.0, 0), (2, 0.0, 0)]
CHOICE_COLUMNS = tuple(np.array(x, dtype=float) for x in zip(*CHOICES, strict=True))


def choice_rows(
    given: list[tuple[int, float, int]], method: str = "uncertainty_plus"
) -> MethodRows:
    some = [
        AssertionRow(
            d=d, j=j, k=10, punted=False, right=1.0, weight=1.0, part=-1, choice=choice,
            question=Question(f"q{n}", "s", "?", entity=f"e{n}"), answer=f"a{n}",
            thought=float("nan"), thinks=False,
        )
        for n, (choice, d, j) in enumerate(given)
    ]  # fmt: skip
    clusters = {f"q{n}": ("", f"e{n}") for n in range(len(given))}
    return row_arrays("short", method, some, Counter(asked=len(given)), clusters)


def test_the_average_of_choices_by_hand() -> None:
    choice, d, j = CHOICE_COLUMNS
    one = np.ones(5)
    assert mean_over_choices(cmfg)(d, j, one * 10, one, choice) == pytest.approx(3 / 4)
    assert cmfg(d, j, 10) == pytest.approx(5 / 6)
    assert mean_over_choices(cmfg)(d, j, one * 10, one, 0 * one) == pytest.approx(
        5 / 6
    )  # no choices
    # resampled: weights (B, n); without any answer of choice 2 the score is that of choice 1
    weights = np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [0, 0, 0, 0, 0]], dtype=float)
    found = mean_over_choices(cmfg)(d, j, one * 10, one, choice, weights=weights)
    assert found[:2] == pytest.approx([3 / 4, 1 / 2])
    assert np.isnan(found[2])
    assert mean_over_choices(cmfg)(*(np.empty(0) for _ in range(5))) is None


def test_estimates_are_averaged_and_each_choice_is_shown() -> None:
    found = scored(choice_rows(CHOICES))
    assert found["cmfg"].value == pytest.approx(3 / 4)
    # f is 0, 1, 1 and 1, 1: mean of 2/3 and 1, not 4/5
    assert found["mfg"].value == pytest.approx(5 / 6)
    assert found["mean_decisiveness"].value == pytest.approx(1 / 2)
    # always decisive: (0 + 1) / 2 for the first, 0 for the second
    assert found["cmfg_decisive"].value == pytest.approx(1 / 4)
    assert found["cmfg_oracle"].value == pytest.approx(1)
    assert found["cmfg_decisive"].n == 5
    every = made(declared_of(method_of(choice_rows(CHOICES))))
    shown = {(e.name, slice_text(e.where)): e.value for e in every}
    assert shown["cmfg", "choice:1"] == pytest.approx(1 / 2)
    assert shown["cmfg", "choice:2"] == pytest.approx(1)


def test_how_many_bins_are_filled_stands_beside_cmfg() -> None:
    """Three answers at .2 and six at .9: they weigh the same, and eight bins are empty."""
    held = scored(binned_rows([0.5] * 9, [2] * 3 + [9] * 6))["filled_bins"]
    assert (held.value, held.denominator, held.n) == (2, 10, 9)
    # of two choices of demonstrations the one with the thinnest bin decides
    several = choice_rows([(1, 1.0, j) for j in (2, 5, 10) * 3] + [(2, 1.0, 10), (2, 1.0, 1)])
    assert scored(several)["filled_bins"].value == 2
    assert "filled_bins" not in scored(binned_rows([], []))


def test_shared_bins_need_enough_answers_of_every_choice() -> None:
    """Ten answers of the method in a bin, five for each choice: no bin to compare on."""
    plain = choice_rows([(0, 1.0, 10)] * 20, "vanilla")

    def of(rows: MethodRows) -> dict[str, float | None]:
        one = method_of(rows)
        return {e.name: e.value for at, e in gains([method_of(plain), one]) if at is one}

    few = choice_rows([(1, 1.0, 10)] * 5 + [(2, 1.0, 10)] * 5)
    assert of(few) == {"shared_bins": 0}
    enough = choice_rows([(1, 1.0, 10)] * 10 + [(2, 1.0, 10)] * 10)
    assert of(enough)["shared_bins"] == 1
    assert "skill_gain" in of(enough)


def test_an_interval_covers_the_average() -> None:
    generator = np.random.default_rng(0)
    c = generator.random(300)
    j = np.round(c * 20)
    d = np.clip(c + generator.normal(0, 0.3, 300), 0, 1)
    choice = np.repeat([1.0, 2.0, 3.0], 100)
    entity = np.tile(np.arange(100), 3)
    arrays = d, j, np.full(300, 20.0), np.ones(300), choice
    found = bootstrap(mean_over_choices(skill), *arrays, clusters=entity, limits=None, n=300)
    mean = np.mean([skill(d[choice == n], j[choice == n], 20) for n in (1, 2, 3)])  # type: ignore[arg-type]
    assert found.value == pytest.approx(mean)
    assert found.low is not None
    assert found.low < mean < (found.high or 0)


def test_gains_of_several_methods_are_corrected_together() -> None:
    """Holm over the methods of a form: the smallest p times how many gains were tested."""
    rng = np.random.default_rng(3)

    def method(name: str, spread: float) -> AskedMethod:
        j = np.tile(np.arange(11), 20)
        said = np.clip(j / 10 + rng.normal(0, spread, len(j)), 0, 1)
        rows = choice_rows([(0, float(d), int(n)) for d, n in zip(said, j, strict=True)], name)
        return method_of(rows, resamples=200)

    here = [method("vanilla", 9.0), method("uncertainty", 0.1), method("granularity", 9.0)]
    by: dict[str, dict[str, Estimate]] = defaultdict(dict)
    for one, e in gains(here):
        by[one.rows.method][e.name] = e
    assert "skill_gain_p" not in by["vanilla"]
    sure, none = by["uncertainty"]["skill_gain_p"], by["granularity"]["skill_gain_p"]
    assert sure.n == none.n == 2
    assert sure.value is not None
    assert sure.numerator is not None
    assert none.numerator is not None
    assert sure.value == pytest.approx(min(1, 2 * sure.numerator))
    assert sure.value < 1e-6
    assert none.value == pytest.approx(max(sure.value, none.numerator))
    # the p is that of the interval: 0 lies outside just where p < .05
    for name in ("uncertainty", "granularity"):
        gain, p = by[name]["skill_gain"], by[name]["skill_gain_p"].numerator
        assert gain.low is not None
        assert gain.high is not None
        assert p is not None
        assert (p < 0.05) == (gain.low > 0 or gain.high < 0)


def test_pooled_assertions_count_once_each() -> None:
    """Fact q0 has three claims with f = 1, q1 one with f = 0: 1/2 by fact, 3/4 pooled."""
    rows = choice_rows([(0, 1.0, 10), (0, 1.0, 10), (0, 1.0, 10), (0, 0.0, 10)])
    rows = rows._replace(answers=["a0", "a0", "a0", "a1"], question=["q0", "q0", "q0", "q1"])

    def of(pooled: bool) -> float | None:
        one = method_of(rows, pooled=pooled)
        (found,) = made(scores(one, one.used, ["cmfg_aspects"]))
        return found.value

    assert of(False) == pytest.approx(1 / 2)
    assert of(True) == pytest.approx(3 / 4)


#: (answer, decisiveness, agreeing of 10); NaN: too few draws could be compared.
#: a0 has two assertions, of which one counts: 1 - |1 - .2| = .2. a1: 1 - |.6 - .6| = 1.
#: a2 has two that count: 1 - (|1 - .8| + |.5 - .8|) / 2 = .75
ASSERTIONS = [
    ("a0", 1.0, 2.0),
    ("a0", 1.0, np.nan),
    ("a1", 0.6, 6.0),
    ("a2", 1.0, 8.0),
    ("a2", 0.5, 8),
]


def weighted_rows(given: list[tuple[str, float, float]]) -> MethodRows:
    asserted = Counter(answer for answer, *_ in given)
    some = [
        AssertionRow(
            d=d, j=j, k=10 if j == j else np.nan, punted=False, right=1.0,
            weight=1 / asserted[answer], part=-1, choice=0,
            question=Question(f"q{answer}", "s", "?", entity=answer), answer=answer,
            thought=float("nan"), thinks=False,
        )
        for answer, d, j in given
    ]  # fmt: skip
    clusters = {f"q{answer}": ("", answer) for answer in asserted}
    return row_arrays("short", "vanilla", some, Counter(asked=3), clusters)


def values_of(rows: MethodRows) -> dict[str, float | None]:
    return {name: e.value for name, e in scored(rows).items()}


def test_an_assertion_that_was_not_read_does_not_make_its_answer_count_less() -> None:
    by_answer = [
        faithfulness(
            [d for a, d, _ in ASSERTIONS if a == one],
            [j / 10 for a, _, j in ASSERTIONS if a == one],
        )
        for one in ("a0", "a1", "a2")
    ]
    assert by_answer == pytest.approx([0.2, 1.0, 0.75])
    assert values_of(weighted_rows(ASSERTIONS))["mfg"] == pytest.approx((0.2 + 1 + 0.75) / 3)


def test_what_stands_beside_cmfg_has_the_same_weights() -> None:
    found = values_of(weighted_rows(ASSERTIONS))
    # the two parts of what is missing, and skill from the policy that it is read against
    assert found["over_claim"] + found["over_hedge"] == pytest.approx(1 - found["cmfg"])  # type: ignore[operator]
    blind = found["cmfg_permuted"]
    assert found["skill"] == pytest.approx((found["cmfg"] - blind) / (1 - blind))  # type: ignore[operator]
    # always half sure, at confidence .2, .6 and .8
    assert found["cmfg_half"] == pytest.approx(1 - (0.3 + 0.1 + 0.3) / 3)


def test_nothing_scored_is_nothing() -> None:
    assert len(weighted_rows([("a0", np.nan, np.nan)]).scored().d) == 0


def test_a_paragraph_has_one_vote_in_the_papers_numbers_and_a_fact_one_in_ours() -> None:
    """Three paragraphs of 3, 1 and 2 facts, by hand.

    a: gaps .5, 0, .3, so f = 1 - .8/3, mean confidence 2/3; b: f = 1 at .2; c: gaps .3, .2, so
    f = .75 at .65. MFG is their mean. a and c share the bin (.6, .7], b has its own. By fact the
    bins of .5, 1, .2, .6 and .7 hold .6, 1, 1, .7 and .8.
    """
    words = [(0, 1.0, 5), (0, 1.0, 10), (0, 0.8, 5), (0, 0.2, 2), (0, 0.9, 6), (0, 0.5, 7)]
    rows = choice_rows(words)._replace(
        answers=["a", "a", "a", "b", "c", "c"], question=[f"q{i}" for i in range(6)]
    )
    found = scored(rows)
    a, b, c = 1 - 0.8 / 3, 1.0, 0.75
    assert found["mfg"].value == pytest.approx((a + b + c) / 3)
    assert found["cmfg"].value == pytest.approx(((a + c) / 2 + b) / 2)
    assert (found["mfg"].n, found["cmfg"].n) == (3, 3)
    assert found["cmfg_aspects"].value == pytest.approx((0.6 + 1 + 1 + 0.7 + 0.8) / 5)
    assert found["cmfg_aspects"].n == 6


def test_the_mean_confidence_of_an_answer_is_binned_exactly() -> None:
    """1/20 and 3/20 are 1/10, the closed edge of the first bin; as floats they may be above it."""
    assert answer_confidence([1, 3], [20, 20]) == (4, 40)
    assert answer_confidence([2, 5, 7], [20, 10, 10]) == (26, 60)
    assert answer_confidence([5], [10]) == (5, 10)  # 5 of 10 reach eleven values, 1 of 2 three
    assert int(confidence_bin(*answer_confidence([1, 3], [20, 20]))) == 0
    assert int(confidence_bin(*answer_confidence([1, 3], [20, 20]), closed="left")) == 1


def test_plain_statements_read_as_certain_move_cmfg_and_nothing_else() -> None:
    """A plain statement at confidence 1 has f = .975, and 1 if it is certain; a hedge stays."""
    plain = decisiveness("It is Lyon.")
    assert plain == plain_decisiveness() == 0.975
    rows = choice_rows([(0, 0.975, 10), (0, 0.6, 5)])
    found = values_of(rows)
    assert found["cmfg_plain"] == pytest.approx((1 + 0.9) / 2)
    by_model = AskedMethod(rows, Settings(), (("dec", "model"),))
    read = {e.name: e for e in references(by_model)}
    assert read["cmfg_plain"].value is None
    assert read["cmfg_plain"].problem == NOT_OFFLINE
    assert read["cmfg_half"].value == found["cmfg_half"]
