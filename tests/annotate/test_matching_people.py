"""The matcher against people's labels on the open half of EVOUNA: the bar holds."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "judge_rules.py"


@pytest.mark.data
def test_agrees_with_people(test_data: Path) -> None:
    spec = importlib.util.spec_from_file_location("judge_rules_benchmark", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    bench = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = bench
    spec.loader.exec_module(bench)
    rows = [r for r in bench.rows(test_data) if not bench.set_aside(r.dataset, r.question)]
    cells = bench.measure(rows)[0]["all", "all"]
    assert sum(cells) > 6000
    assert cells.agreement >= 0.92
    assert cells.accepted_wrong <= 0.05
