"""Bins of confidence with intervals and skill: values worked out by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from sayso.protocols.faithfulness.measure import bins
from sayso.protocols.faithfulness.rows import Rows
from sayso.protocols.faithfulness.settings import Settings
from sayso.protocols.settings import replace
from sayso.records import Estimate, slice_text


def rows(d: list[float], j: list[int], k: int = 10) -> Rows:
    n = len(d)
    return Rows(
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


def found(held: Rows, **fields: object) -> dict[tuple[str, str], Estimate]:
    chosen = replace(Settings(), {"resamples": 200, **fields})  # type: ignore[dict-item]
    return {(e.name, slice_text(e.where)): e for e in bins(held, chosen)}


def test_a_bin_has_faithfulness_words_and_skill_against_words_dealt_at_random() -> None:
    # confidence 1, 1, .2, .2; words 1, .8, .4, .2
    held = found(rows([1.0, 0.8, 0.4, 0.2], [10, 10, 2, 2]))
    top, low = "bin:0.9-1", "bin:0.1-0.2"
    # |1-1| and |.8-1|: mean .1
    assert held["bin_faithfulness", top].value == pytest.approx(0.9)
    assert held["bin_decisiveness", top].value == pytest.approx(0.9)
    assert held["bin_faithfulness", low].value == pytest.approx(0.9)  # |.4-.2|, 0
    # all four words against confidence 1: (0 + .2 + .6 + .8) / 4 = .4, so blind .6
    assert held["bin_skill", top].value == pytest.approx((0.9 - 0.6) / (1 - 0.6))
    # against .2: (.8 + .6 + .2 + 0) / 4 = .4
    assert held["bin_skill", low].value == pytest.approx(0.75)
    assert held["bin_skill", top].n == 2


def test_words_that_ignore_confidence_have_no_skill_in_any_bin() -> None:
    held = found(rows([0.9] * 40, [0, 3, 7, 10] * 10))
    skills = [e for (name, _), e in held.items() if name == "bin_skill"]
    assert len(skills) == 4
    assert all(e.value == pytest.approx(0.0) for e in skills)
    assert all(e.low == pytest.approx(0.0) and e.high == pytest.approx(0.0) for e in skills)


def test_intervals_hold_the_value_and_empty_bins_say_so() -> None:
    rng = np.random.default_rng(0)
    held = found(rows(list(rng.random(200)), list(rng.integers(0, 6, 200))))
    for e in held.values():
        if e.n == 0:
            assert e.value is None
            assert e.problem == "empty"
        else:
            assert e.low <= e.value <= e.high
    assert held["bin_faithfulness", "bin:0.9-1"].n == 0


def test_levels_have_no_intervals_and_no_skill() -> None:
    held = found(rows([1.0, 0.5], [10, 5]), levels=True)
    assert held["bin_faithfulness", "bin:0.5-0.5"].value == 1.0
    assert held["bin_faithfulness", "bin:0.5-0.5"].low is None
    assert not [name for name, _ in held if name == "bin_skill"]
