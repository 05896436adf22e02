"""The assertions of an answer share its weight: those that were read, and in every number."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from sayso.metrics.cmfg import faithfulness
from sayso.protocols.faithfulness import Settings
from sayso.protocols.faithfulness.measure import references, scores
from sayso.protocols.faithfulness.rows import Row, Rows, arrays_of
from sayso.protocols.settings import replace
from sayso.records import Question

#: (answer, decisiveness, agreeing of 10); NaN: too few draws could be compared.
#: a0 has two assertions, of which one counts: 1 - |1 - .2| = .2. a1: 1 - |.6 - .6| = 1.
#: a2 has two that count: 1 - (|1 - .8| + |.5 - .8|) / 2 = .75
GIVEN = [("a0", 1.0, 2.0), ("a0", 1.0, np.nan), ("a1", 0.6, 6.0), ("a2", 1.0, 8.0), ("a2", 0.5, 8)]


def made(given: list[tuple[str, float, float]]) -> Rows:
    asserted = Counter(answer for answer, *_ in given)
    some = [
        Row(
            d=d, j=j, k=10 if j == j else np.nan, punted=False, right=1.0,
            weight=1 / asserted[answer], part=-1, choice=0,
            question=Question(f"q{answer}", "s", "?", entity=answer), answer=answer,
            thought=float("nan"), thinks=False,
        )
        for answer, d, j in given
    ]  # fmt: skip
    entities = {("", answer): n for n, answer in enumerate(asserted)}
    return arrays_of("short", "vanilla", some, Counter(asked=3), entities)


def values(rows: Rows) -> dict[str, float | None]:
    settings = replace(Settings(), {"resamples": 50})
    return {
        e.name: e.value
        for e in [*scores(rows.scored(), settings), *references(rows.scored(), settings)]
    }


def test_an_assertion_that_was_not_read_does_not_make_its_answer_count_less() -> None:
    by_answer = [
        faithfulness(
            [d for a, d, _ in GIVEN if a == one], [j / 10 for a, _, j in GIVEN if a == one]
        )
        for one in ("a0", "a1", "a2")
    ]
    assert by_answer == pytest.approx([0.2, 1.0, 0.75])
    assert values(made(GIVEN))["mfg"] == pytest.approx((0.2 + 1 + 0.75) / 3)


def test_what_stands_beside_cmfg_has_the_same_weights() -> None:
    found = values(made(GIVEN))
    # the two parts of what is missing, and skill from the policy that it is read against
    assert found["over_claim"] + found["over_hedge"] == pytest.approx(1 - found["cmfg"])  # type: ignore[operator]
    blind = found["cmfg_permuted"]
    assert found["skill"] == pytest.approx((found["cmfg"] - blind) / (1 - blind))  # type: ignore[operator]
    # by levels .2, .6, .8: faithfulness .2, 1, .75
    assert found["cmfg_levels"] == pytest.approx((0.2 + 1 + 0.75) / 3)
    # decisiveness 1 (weight 1), .6 (1), 1 and .5 (1/2 each): the mean is 2.35 / 3
    mean = 2.35 / 3
    gaps = [abs(mean - c) for c in (0.2, 0.6, 0.8)]
    assert found["cmfg_constant"] == pytest.approx(1 - sum(gaps) / 3)


def test_nothing_scored_is_nothing() -> None:
    assert len(made([("a0", np.nan, np.nan)]).scored().d) == 0
