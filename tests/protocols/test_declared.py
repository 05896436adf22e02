"""Declared numbers by hand: shares, metrics of rows, two runs, several models, people's labels."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sayso.metrics import auroc
from sayso.metrics.intervals import SINGLE_CLUSTER, at_level
from sayso.metrics.ranking import bootstrap_auroc
from sayso.protocols.declared import (
    Counted,
    Declared,
    RowPlace,
    Rows,
    Sums,
    Use,
    Weighted,
    common_rows,
    differences,
    estimates_of,
    joint_number,
    ones,
    share_of_rows,
)
from sayso.protocols.labeled import PeopleLabels, corrected_places
from sayso.records import Estimate, Verdict

EVERYWHERE: frozenset[Use] = frozenset({"run", "pair", "study", "people"})
NAN = float("nan")
AUROC = Weighted(auroc, bootstrap_auroc)


def rows_of(keys: str, entities: str, **more: Any) -> Rows:
    """One letter a row: its key, and its entity."""
    names = np.array(list(entities), dtype=np.str_)
    return Rows(list(keys), np.unique(names, return_inverse=True)[1], names, **more)


def share(keys: str, entities: str, hits: str, **more: Any) -> Declared:
    """The share of "1" among the rows that are "1" or "0"; others do not count."""
    said = np.array(list(hits))
    column = ones(said == "1", (said == "1") | (said == "0"))
    of = Counted(rows_of(keys, entities, **more), share_of_rows("share"), [column])
    return Declared("share", (), of, uses=EVERYWHERE)


def ranked(keys: str, entities: str, score: Sequence[float], wrong: Sequence[float]) -> Declared:
    columns = [np.array(score, dtype=float), np.array(wrong, dtype=float)]
    return Declared("AUROC", (), Counted(rows_of(keys, entities), AUROC, columns), uses=EVERYWHERE)


def estimate(d: Declared) -> Estimate:
    (found,) = estimates_of([d], 500, 0)
    return found


def difference(first: Declared, second: Declared) -> Estimate:
    ((_, _, gap),) = differences([first], [second], 500, 0)
    return gap


# ---- a run


def test_a_share_counts_the_rows_that_say_something() -> None:
    found = estimate(share("abcdefgh", "ppqqrrss", "110?0110"))
    assert (found.value, found.numerator, found.denominator) == (4 / 7, 4, 7)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 4 / 7 < found.high


def test_missing_rows_and_bounds_are_those_that_are_declared() -> None:
    d = share("abcd", "ppqq", "110?")._replace(missing=1, bounds=(0.5, 0.75))
    found = estimate(d)
    assert (found.missing, found.bound_low, found.bound_high) == (1, 0.5, 0.75)


@pytest.mark.parametrize(("keys", "hits"), [("", ""), ("ab", "??")])
def test_nothing_that_counts_is_undefined(keys: str, hits: str) -> None:
    found = estimate(share(keys, "pq"[: len(keys)], hits))
    assert found.value is None
    assert found.problem


def test_one_entity_has_no_interval() -> None:
    found = estimate(share("abcd", "pppp", "1100"))
    assert (found.value, found.low, found.high) == (0.5, None, None)
    assert found.problem == SINGLE_CLUSTER


def test_tied_scores_rank_nothing_and_unscored_rows_are_left_out() -> None:
    tied = estimate(ranked("abcdef", "ppqqrr", [0.2] * 6, [0, 1, 0, 1, 0, 1]))
    assert tied.value == 0.5
    # c has no score; of a .1 right, b .9 wrong, d .5 right, e .4 wrong: 3 of 4 pairs in order
    some = estimate(ranked("abcde", "pqrst", [0.1, 0.9, NAN, 0.5, 0.4], [0, 1, 1, 0, 1]))
    assert some.value == 0.75
    alike = estimate(ranked("abc", "pqr", [0.1, 0.2, 0.3], [1, 1, 1]))
    assert alike.value is None


def test_numbers_of_one_thing_are_computed_once_and_only_those_of_a_run() -> None:
    calls = []

    def own(*columns: Any, clusters: Any, n: int, seed: int) -> Estimate:
        calls.append(n)
        return Estimate("x", value=1.0)

    of = Counted(rows_of("ab", "pq"), Weighted(auroc, own), [np.zeros(2)])
    numbers = [
        Declared("x", (), of),
        Declared("x", (("form", "short"),), of),
        Declared("x", (("form", "long"),), of, uses=frozenset({"pair"})),
    ]
    assert [e.where for e in estimates_of(numbers, 7, 0)] == [(), (("form", "short"),)]
    assert calls == [7]


# ---- two runs


def test_rows_are_paired_by_key_whatever_their_order() -> None:
    first, second = rows_of("abc", "ppq"), rows_of("cxa", "qqp")
    one, two = common_rows(first, second)
    assert (one.tolist(), two.tolist()) == ([0, 2], [2, 0])


def test_a_difference_is_of_paired_rows_that_count_in_both() -> None:
    first = share("abcdefgh", "ppqqrrss", "1100?101")
    second = share("hgfedcba", "ssrrqqpp", "11111?10")
    # h 1 1, g 0 1, f 1 1, d 0 1, b 1 1, a 1 0; c and e are missing in one of the two
    gap = difference(first, second)
    assert gap.value == pytest.approx(5 / 6 - 4 / 6)
    assert gap.missing == 2
    assert gap.n == 6
    assert gap.low is not None
    assert gap.high is not None
    assert gap.low < 1 / 6 < gap.high


def test_a_run_less_itself_is_zero() -> None:
    one = share("abcdef", "ppqqrr", "110010")
    assert (difference(one, one).value, difference(one, one).low) == (0, 0)


def test_a_difference_that_no_question_shows_has_the_interval_of_the_rule_of_three() -> None:
    keys, hits = [*range(100)], np.arange(100) % 4 == 0
    three, other = -math.log(0.025), lambda d: False

    def gap(d: Declared) -> Estimate:
        ((_, _, found),) = differences([d], [d], 500, 0, other)
        return found

    def declared(entity: NDArray[np.int64], metric: Sums | Weighted) -> Declared:
        rows = Rows(keys, entity, entity.astype(str))
        columns = [hits.astype(int)] if isinstance(metric, Sums) else [1.0 * hits, 1.0 * ~hits]
        return Declared("share", (), Counted(rows, metric, columns), uses=EVERYWHERE)

    share_, alone = share_of_rows("share"), np.arange(100)
    found = gap(declared(alone, share_))
    assert (found.value, found.low, found.high) == (0, -found.high, pytest.approx(three / 100))
    with at_level(0.9):
        assert gap(declared(alone, share_)).high == pytest.approx(-math.log(0.05) / 100)
    # ten answers about each of ten: an entity changes as a whole
    assert gap(declared(alone // 10, share_)).high == pytest.approx(three / 10)
    # only what both runs have counts
    few = declared(alone, share_)
    few = few._replace(of=dataclasses.replace(few.of, rows=few.of.rows.take(alone < 50)))
    few = few._replace(of=dataclasses.replace(few.of, columns=[few.of.columns[0][:50]]))
    ((_, _, found),) = differences([few], [declared(alone, share_)], 500, 0, other)
    assert found.high == pytest.approx(three / 50)
    # no function of sums: the reason in the place of an interval
    found = gap(declared(alone, AUROC))
    assert (found.value, found.low, found.high) == (0, None, None)
    assert "no question shows a difference" in str(found.problem)
    # the same answers are exact, unless a verdict is missing
    for missing in (0, 1):
        hits_, said = hits.astype(int), declared(alone, share_)
        hits_[:missing] = -1
        lost = said._replace(of=dataclasses.replace(said.of, columns=[hits_]))
        ((_, _, found),) = differences([lost], [said], 500, 0, lambda d: True)
        assert (found.low == 0) is (not missing)


def test_an_entity_without_a_counted_row_is_not_drawn() -> None:
    with_it = difference(share("abcdef", "ppqqrr", "1000??"), share("abcdef", "ppqqrr", "1110??"))
    without = difference(share("abcd", "ppqq", "1000"), share("abcd", "ppqq", "1110"))
    assert (with_it.low, with_it.high) == (without.low, without.high)
    assert (with_it.missing, without.missing) == (2, 0)


def test_runs_without_a_common_row_have_no_difference() -> None:
    assert not list(differences([share("ab", "pq", "10")], [share("cd", "pq", "10")], 100, 0))
    none = difference(share("ab", "pq", "?0"), share("ab", "pq", "1?"))
    assert (none.value, none.missing) == (None, 2)
    assert none.problem


def test_rows_that_are_not_paired_are_compared_by_what_they_are_about() -> None:
    """Claims of two answers to a question: all of both, entities of one name drawn together."""
    first = share("aab", "ppq", "100", paired=False)
    second = share("abbbc", "pqqqr", "10110", paired=False)
    gap = difference(first, second)
    assert gap.value == pytest.approx(3 / 4 - 1 / 3)  # c is in one run only
    assert gap.missing == 0


def test_a_difference_that_is_not_combined_is_symmetric() -> None:
    first, second = share("abcdef", "pqrstu", "100010"), share("abcdef", "pqrstu", "111010")
    plain = [
        d._replace(
            of=Counted(d.of.rows, share_of_rows("share")._replace(combined=False), d.of.columns)
        )
        for d in (first, second)
    ]
    gap = difference(plain[0], plain[1])
    assert gap.value is not None
    assert gap.low is not None
    assert gap.high is not None
    assert gap.high - gap.value == pytest.approx(gap.value - gap.low)
    exact = difference(first, second)  # of the exact intervals of two shares of few rows
    assert exact.low != gap.low


def test_a_metric_of_rows_differs_on_rows_that_are_scored_in_both() -> None:
    first = ranked("abcde", "pqrst", [0.1, 0.9, NAN, 0.5, 0.4], [0, 1, 1, 0, 1])
    second = ranked("abcde", "pqrst", [0.1, 0.9, 0.3, 0.2, 0.4], [0, 1, 1, 0, 1])
    gap = difference(first, second)
    assert (gap.value, gap.missing) == (0.25, 1)


# ---- several models


def test_a_joint_number_weighs_entities_that_have_a_row() -> None:
    number = joint_number(share("abcde", "rrpqs", "1001?"))
    assert list(number.entities) == ["p", "q", "r"]
    assert number.metric(*number.columns) == 0.5
    weights = np.array([[1.0, 1.0, 2.0], [0.0, 3.0, 1.0], [1.0, 0.0, 0.0]])
    drawn = number.metric(*number.columns, weights=weights)
    # p is 0, q is 1, r is 1 and 0
    np.testing.assert_allclose(drawn, [3 / 6, 4 / 5, 0])
    scores = joint_number(ranked("abc", "pqr", [0.1, NAN, 0.3], [0, 1, 1]))
    assert (list(scores.entities), scores.metric(*scores.columns)) == (["p", "r"], 1.0)


def test_kinds_are_summed_apart() -> None:
    """Mean over the two kinds of their shares: 1/2 and 1."""
    family = share_of_rows("share")._replace(
        of=lambda sums: {"share": (sums[..., 1] / sums.sum(axis=-1)).mean(axis=-1)}
    )
    of = Counted(
        rows_of("abc", "pqr"), family, [np.array([0, 1, 1])], kinds=np.array(["x", "x", "y"])
    )
    number = joint_number(Declared("share", (), of))
    assert number.metric(*number.columns) == 0.75


# ---- labels of people


def corrected(places: Sequence[RowPlace], judge: str, people: str, labeled: str) -> Any:
    rows = {"stage": "short", "places": places}
    keys, entities = "abcdef"[: len(judge)], "pqrstu"[: len(judge)]
    said = {(target, ""): Verdict(target, asked="", by="ann") for target in labeled}
    labels = PeopleLabels({"short": said}, {"short": dict.fromkeys(said, 0.5)}, {})
    first, second = (share(keys, entities, text, **rows) for text in (judge, people))
    return list(corrected_places([first], [second], labels))


def test_labels_of_all_rows_give_what_people_say() -> None:
    (found,) = corrected([(x, "") for x in "abcdef"], "110000", "111100", "abcdef")
    assert (found.name, found.stage) == ("share", "short")
    assert found.number.corrected.value == pytest.approx(4 / 6)
    assert found.number.labels == 6


def test_a_row_of_several_places_is_labeled_when_all_of_them_are() -> None:
    places: list[RowPlace] = [[("a", ""), ("b", "")], [("c", ""), ("d", "")], None]
    (found,) = corrected(places, "110", "100", "abcd")
    assert found.number.labels == 2
    (found,) = corrected(places, "110", "100", "abc")
    assert found.number.labels == 1
    assert not corrected(places, "110", "100", "a")


def test_nothing_is_corrected_of_rows_that_nobody_labeled() -> None:
    assert not corrected([None, None], "10", "10", "ab")


def test_the_same_metric_with_a_reason_in_the_place_of_a_value() -> None:
    def unranked(why: str, *columns: Any, **resampling: Any) -> Estimate:
        return Estimate("AUROC", problem=why)

    d = ranked("ab", "pq", [0.1, 0.2], [0, 1])
    metric = AUROC._replace(own=partial(unranked, "no log-probabilities"))
    found = estimate(d._replace(of=Counted(d.of.rows, metric, d.of.columns)))
    assert (found.value, found.problem) == (None, "no log-probabilities")
