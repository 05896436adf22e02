"""The bar on how far a reader follows a job: calls that change module where the job is held."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "structure" / "way_of_a_job.py"
spec = importlib.util.spec_from_file_location("way_of_a_job", SCRIPT)
assert spec is not None
assert spec.loader is not None
way = importlib.util.module_from_spec(spec)
sys.modules["way_of_a_job"] = way
spec.loader.exec_module(way)

MOST = 25


@pytest.mark.slow
def test_a_job_is_followed_in_few_calls() -> None:
    before = sys.getprofile()
    try:
        calls = way.way_of_a_job()
    finally:
        sys.setprofile(before)
    own = way.Job.__module__.removeprefix("sayso.")
    counted, modules = way.counted([call for call in calls if call.caller != own])
    assert any(call.function.endswith("open_judge") for call in counted)  # it does look
    assert len(counted) <= MOST, [f"{c.by} -> {c.module}:{c.function}" for c in counted]
    assert len(modules) <= MOST // 2 + 1
