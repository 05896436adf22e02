"""Bounds over aspects that lack probe, verdict or both, against every assignment there is."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso import metrics
from sayso.metrics.uncle_known import bounds_of_codes
from sayso.protocols.uncle.numbers import HEADLINE

#: (known 1, unknown 0, missing -1) x (correct 0, incorrect 1, uncertain 2, missing -1)
ROWS = list(product((1, 0, -1), (0, 1, 2, -1)))


def brute(rows: list[tuple[int, int]]) -> dict[str, tuple[float | None, float | None]]:
    """Return the extremes of every rate over all assignments of what is missing."""
    found: dict[str, list[float]] = {name: [] for name in HEADLINE}
    ways = [
        list(product((1, 0) if known < 0 else (known,), range(3) if label < 0 else (label,)))
        for known, label in rows
    ]
    for chosen in product(*ways):
        cells = [0] * 6
        for known, label in chosen:
            cells[3 * (1 - known) + label] += 1
        rates = metrics.expression_rates(*cells)
        for name in HEADLINE:
            if rates[name] is not None:
                found[name].append(rates[name])
    return {k: (min(v), max(v)) if v else (None, None) for k, v in found.items()}


@given(
    st.lists(st.sampled_from([r for r in ROWS if min(r) >= 0]), max_size=8),
    st.lists(st.sampled_from([r for r in ROWS if min(r) < 0]), max_size=5),
)
def test_bounds_are_those_of_every_assignment(
    read: list[tuple[int, int]], unread: list[tuple[int, int]]
) -> None:
    rows = [*read, *unread]
    known, label = (np.array([r[n] for r in rows], dtype=np.int64) for n in (0, 1))
    found, expected = bounds_of_codes(known, label), brute(rows)
    for name in HEADLINE:
        assert found[name] == pytest.approx(expected[name]), name


def test_where_nothing_can_be_read_j_could_be_anything() -> None:
    rows = np.full(12, -1, dtype=np.int64)
    assert bounds_of_codes(rows, rows)["J"] == (-1.0, 1.0)
