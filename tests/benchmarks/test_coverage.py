"""The cells that the coverage study names as hardest, in short form: few worlds, wide margins."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

STUDIES = Path(__file__).parents[2] / "benchmarks" / "metrics"
WORLDS = 60


@pytest.fixture(scope="module")
def coverage() -> Any:
    spec = importlib.util.spec_from_file_location("coverage_study", STUDIES / "coverage.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["coverage_study"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("part", ["rates", "rankings", "kappa"])
def test_hard_cells_hold(coverage: Any, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the repair .98 known at 10 entities held in 38 % (J of two runs) and 27 % (balanced).

    95 % of 60 worlds are 57; fewer than 50 would be a chance of 1 in 10,000.
    """
    monkeypatch.setattr(coverage, "SIZES", (10,))
    monkeypatch.setattr(coverage, "EXTREMES", (0.98,))
    tally = coverage.Tally()
    coverage.EXTREME_PARTS[part](tally, WORLDS, 100, 9)
    counted = 0
    for cell, by_size in tally.counts.items():
        _, printed, held, _ = by_size[10]
        if printed < 15:
            continue
        counted += 1
        assert held / printed >= 50 / 60, cell
    assert counted >= 2
