"""The second computation of a run's numbers: it repeats them, and finds a number that is wrong."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pandas as pd
import pytest

import sayso

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "metrics" / "recompute.py"
spec = importlib.util.spec_from_file_location("recompute", SCRIPT)
assert spec is not None
assert spec.loader is not None
recompute = importlib.util.module_from_spec(spec)
sys.modules["recompute"] = recompute
spec.loader.exec_module(recompute)


FEW = {"resamples": 100}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with small runs of two protocols, on the built-in model."""
    folder = tmp_path_factory.mktemp("runs")
    for protocol in ("self_known", "uncle"):
        sayso.run(protocol, limit=3, out=folder / protocol, report=False, settings=FEW)
    return folder


def test_numbers_and_intervals_of_a_run_are_repeated(runs: Path, capsys: object) -> None:
    """At least .95 of what is stored, intervals and counts among it, and without a difference."""
    run = recompute.Run(runs / "self_known")
    mine, stored = recompute.self_known(run), run.stored("self_known")
    _, lines = recompute.compare(mine, stored)
    assert not lines
    there = stored.counted()
    assert len(there & mine.keys()) >= 0.95 * len(there)
    assert any(name.endswith(" low") for name, _ in there & mine.keys())
    assert any(name.endswith(" denominator") for name, _ in there & mine.keys())


@pytest.mark.parametrize(
    ("protocol", "name", "field"),
    [("uncle", "UUR", "value"), ("uncle", "J", "high"), ("self_known", "recall", "low"),
     ("self_known", "SK", "numerator")],
)  # fmt: skip
def test_a_wrong_number_is_found(
    runs: Path, capsys: pytest.CaptureFixture[str], protocol: str, name: str, field: str
) -> None:
    """One stored number is changed by a thousandth: the script names it and fails."""
    path = runs / protocol / "metrics" / f"{protocol}.parquet"
    whole = path.read_bytes()
    table = pd.read_parquet(path)
    row = table.index[(table.name == name) & table[field].notna()][0]
    table.loc[row, field] += 0.001
    table.to_parquet(path)
    try:
        assert not recompute.repeat(runs / protocol)
    finally:
        path.write_bytes(whole)
    said = capsys.readouterr().out
    assert "differences: 1\n" in said
    assert f"{name} {field}" in said if field != "value" else f"{name} form:" in said


def test_less_than_most_of_the_numbers_is_a_failure(
    runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A number that nobody repeats counts against the share, and is listed."""
    of_run = recompute.self_known

    def without_curves(run: object) -> object:
        mine = of_run(run)
        for number in [number for number in mine if dict(number[1]).get("part")]:
            del mine[number]
        return mine

    assert recompute.repeat(runs / "self_known")
    monkeypatch.setitem(recompute.PROTOCOLS, "self_known", without_curves)
    assert not recompute.repeat(runs / "self_known", show=500)
    said = capsys.readouterr().out
    assert "differences: 0\n" in said
    assert "self_known: factuality (" in said
