"""J of abstaining, and answers paid for by confidence: by hand, on the edge, and for blind ones."""

from __future__ import annotations

import numpy as np
import pytest

from sayso import metrics
from sayso.metrics import (
    abstention_gap,
    abstention_gap_within,
    bootstrap_abstention,
    confidence_target_utility,
)
from sayso.records import InputError

NAN = float("nan")


def test_j_by_hand() -> None:
    # of three questions without an answer it abstains on two, of four with one on one
    abstained = [1, 1, 0, 1, 0, 0, 0]
    unanswerable = [1, 1, 1, 0, 0, 0, 0]
    assert abstention_gap(abstained, unanswerable) == pytest.approx(2 / 3 - 1 / 4)
    # a question drawn twice counts twice: 3/4 - 1/4
    assert abstention_gap(abstained, unanswerable, [2, 1, 1, 1, 1, 1, 1]) == pytest.approx(1 / 2)
    # an answer without a verdict is left out: 2/2 - 1/4
    assert abstention_gap([1, 1, NAN, 1, 0, 0, 0], unanswerable) == pytest.approx(3 / 4)


def test_answers_are_cells_of_the_matrix_of_known_and_unknown_facts() -> None:
    # questions with an answer are known, those without unknown; to abstain is to be uncertain
    cells = metrics.abstention_cells([0, 1, 0, 1, np.nan], [False, False, True, True, True])
    assert cells.tolist() == [0, 2, 3, 5, -1]
    rates = metrics.cell_rates(np.bincount(cells[:4], minlength=6))
    assert rates["J"] == metrics.abstention_gap([0, 1, 0, 1], [False, False, True, True]) == 0


def test_j_needs_both_kinds_of_questions() -> None:
    assert abstention_gap([1, 0], [1, 1]) is None
    assert abstention_gap([1, 0], [0, 0]) is None
    assert abstention_gap([], []) is None
    assert abstention_gap([NAN, 1], [0, 1]) is None
    rows = abstention_gap([1, 0], [1, 0], [[1, 1], [1, 0]])
    assert np.array_equal(np.asarray(rows), [1.0, NAN], equal_nan=True)


def test_j_within_type_by_hand() -> None:
    # type a: 1/1 - 0/1 = 1; type b: 1/2 - 1/2 = 0; type c has no pair and is left out
    abstained = [1, 0, 1, 0, 1, 0, 1]
    unanswerable = [1, 0, 1, 1, 0, 0, 1]
    types = ["a", "a", "b", "b", "b", "b", "c"]
    within = abstention_gap_within(abstained, unanswerable, types)
    # weights 1 * 1 / 2 and 2 * 2 / 4: (1 * 1/2 + 0 * 1) / (3/2)
    assert within == pytest.approx(1 / 3)
    # who knows only that type a has no answers is blind within it
    only_type = abstention_gap_within([1, 1, 0, 0], [1, 0, 0, 1], ["a", "a", "b", "b"])
    assert only_type == pytest.approx(0)


def test_j_does_not_move_with_the_share_of_questions_without_an_answer() -> None:
    abstained, unanswerable = [1, 0, 1, 0, 0], [1, 1, 0, 0, 0]
    more = [[1, 1, 1, 1, 1], [10, 10, 1, 1, 1]]
    one, many = np.asarray(abstention_gap(abstained, unanswerable, more))
    assert one == pytest.approx(many)


def test_utility_by_hand() -> None:
    # three right, one wrong, one abstained: (3 - 1)/5, (3 - 3)/5, (3 - 9)/5
    outcome = [1, 1, 1, -1, 0]
    found = [confidence_target_utility(outcome, t) for t in metrics.CONFIDENCE_TARGETS]
    assert found == pytest.approx([2 / 5, 0, -6 / 5])
    # a target of 0 forgives everything: accuracy
    assert confidence_target_utility(outcome, 0) == pytest.approx(3 / 5)
    assert confidence_target_utility([0, 0], 0.9) == 0.0
    assert confidence_target_utility([], 0.5) is None
    weighted = np.asarray(confidence_target_utility(outcome, 0.75, [[1, 1, 1, 0, 1], [0] * 5]))
    assert weighted[0] == pytest.approx(3 / 4)
    assert np.isnan(weighted[1])
    with pytest.raises(InputError, match="confidence target 1"):
        confidence_target_utility(outcome, 1.0)


def test_answering_pays_exactly_above_the_target() -> None:
    for target in metrics.CONFIDENCE_TARGETS:
        share = round(1000 * target)
        even = [1] * share + [-1] * (1000 - share)
        assert confidence_target_utility(even, target) == pytest.approx(0)
        assert float(confidence_target_utility([*even, 1], target) or 0) > 0
        assert float(confidence_target_utility([*even, -1], target) or 0) < 0


def test_the_interval_is_over_documents_and_counts_what_has_no_verdict() -> None:
    rng = np.random.default_rng(0)
    document = np.repeat(np.arange(40), 8)
    unanswerable = np.tile([1, 0, 0, 0], 80).astype(bool)
    mood = rng.random(40)[document]  # a document is easy or hard as a whole
    abstained = (rng.random(320) < np.where(unanswerable, 0.3 + 0.6 * mood, 0.3 * mood)) + 0.0
    whole = bootstrap_abstention(abstained, unanswerable, document, n=500)
    alone = bootstrap_abstention(abstained, unanswerable, np.arange(320), n=500)
    assert whole.value == alone.value == pytest.approx(abstention_gap(abstained, unanswerable))
    assert whole.low is not None
    assert whole.value is not None
    assert whole.high is not None
    assert -1 < whole.low < whole.value < whole.high < 1
    lost = abstained.copy()
    lost[:4] = NAN  # one without an answer, three with one
    found = bootstrap_abstention(lost, unanswerable, document, n=100)
    assert found.missing == 4
    assert found.bound_low is not None
    assert found.value is not None
    assert found.bound_low < found.value
    # few abstentions: exact intervals of the parts, combined
    few = bootstrap_abstention(
        [1, 1, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0], ["a", "b", "c", "a", "b", "c"], n=100
    )
    assert "sparse" in (few.problem or "")
    assert few.low is not None
    assert few.low < 2 / 3


@pytest.mark.parametrize("rate", [0.0, 0.2, 0.7, 1.0])
def test_blind_abstaining_has_no_j(rate: float) -> None:
    rng = np.random.default_rng(1)
    unanswerable = rng.random(2000) < 0.2
    abstained = (rng.random(2000) < rate) + 0.0
    found = bootstrap_abstention(abstained, unanswerable, np.arange(2000) // 5, n=500)
    assert found.value == pytest.approx(0, abs=0.06)
    assert found.low is None or found.low <= 0 <= (found.high or 0)
