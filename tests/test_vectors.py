"""Known answers recomputed from the papers' tables and notebooks, through the public names.

`tests/golden/vectors.json` says the source of each. The five rates of `uncle_*` are percentages as
printed; all else are fractions; `tol` is in the vector's own unit.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sayso import metrics

Vector = dict[str, Any]
VECTORS: list[Vector] = json.loads(
    (Path(__file__).parent / "golden" / "vectors.json").read_text(encoding="utf-8")
)["vectors"]
PERCENT = ("FA", "UA", "UUR", "KCR", "EA")
CELLS = ("kc", "ki", "ku", "uc", "ui", "uu")


def vectors(*kinds: str) -> list[Any]:
    chosen = [pytest.param(v, id=v["id"]) for v in VECTORS if v["kind"] in kinds]
    assert chosen, f"no vector of kind {kinds}"
    return chosen


def check_rates(vector: Vector, rates: dict[str, float | None], unit: float) -> None:
    for name, expected in vector["expected"].items():
        value = rates[name]
        if expected is None:
            assert value is None, name
            continue
        assert value is not None, name
        scale = unit if name in PERCENT else 1.0
        assert value * scale == pytest.approx(expected, rel=0, abs=vector["tol"]), name


@pytest.mark.parametrize("vector", vectors("uncle_roundtrip", "uncle_algebra"))
def test_rates_of_fractions(vector: Vector) -> None:
    cells = vector["input"]["cells_fraction"]
    check_rates(vector, metrics.expression_rates(**cells), 100)


@pytest.mark.parametrize("vector", vectors("uncle_roundtrip", "uncle_algebra"))
def test_cells_from_the_printed_row(vector: Vector) -> None:
    row = {name: vector["expected"][name] / 100 for name in PERCENT}
    solved = metrics.solve_cells(**row)
    for name, expected in vector["input"]["cells_fraction"].items():
        assert solved[name] == pytest.approx(expected, rel=0, abs=1e-9), name


@pytest.mark.parametrize("vector", vectors("uncle_counts"))
def test_rates_of_counts(vector: Vector) -> None:
    check_rates(vector, metrics.expression_rates(**vector["input"]), 100)


@pytest.mark.parametrize("vector", vectors("confusion3x3"))
def test_three_rows(vector: Vector) -> None:
    # The vector's "paper" is our "unknown": a hedged probe answer is not correct.
    rule = {"paper": "unknown"}.get(vector["input"]["rule"], vector["input"]["rule"])
    check_rates(vector, metrics.expression_rates_3row(vector["input"]["matrix"], rule), 1)


@pytest.mark.parametrize("vector", vectors("alignment2x2"))
def test_alignment(vector: Vector) -> None:
    found = metrics.alignment(vector["input"]["matrix"])
    # The other keys describe data outside the matrix.
    names = {
        "normalised",
        "retained",
        "micro_short_retained",
        "micro_long_retained",
        "cohen_kappa",
    } & set(vector["expected"])
    assert len(names) == 5
    for name in names:
        expected = vector["expected"][name]
        value = found[name]
        if name == "normalised":
            flat = [x for row in value for x in row]
            assert flat == pytest.approx([x for row in expected for x in row], abs=vector["tol"])
        else:
            assert value == pytest.approx(expected, rel=0, abs=vector["tol"]), name


@pytest.mark.parametrize("vector", vectors("auroc"))
def test_auroc(vector: Vector) -> None:
    value = metrics.auroc(vector["input"]["s"], vector["input"]["y"])
    expected = vector["expected"]["auroc"]
    if expected is None:
        assert value is None
    else:
        assert value == pytest.approx(expected, rel=0, abs=vector["tol"])


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("uncle.T4.Llama3-8B/Long-DPO.short", 0.343),
        ("uncle.T4.Llama3-8B/Long-DPO.long", 0.235),
        ("uncle.T4.Llama3-8B/Mix-DPO.long", 0.175),
        ("uncle.T4.Llama3-8B/Unc-Few.long", 0.081),
        ("uncle.T4.Mistral-7B/Long-DPO.long", 0.194),
    ],
)
def test_j_of_printed_rows(row: str, expected: float) -> None:
    printed = next(v for v in VECTORS if v["id"] == row)["expected"]
    solved = metrics.solve_cells(**{name: printed[name] / 100 for name in PERCENT})
    cells = {name: value for name, value in solved.items() if value is not None}
    assert metrics.expression_rates(**cells)["J"] == pytest.approx(expected, abs=0.001)
