"""A change of the code's structure moves no number: what was frozen before it stays.

A change that means to move numbers writes the frozen ones anew (``support/frozen.py``).
"""

from __future__ import annotations

from pathlib import Path

import pytest

import sayso
from support import frozen

pytest.importorskip("torch")
pytest.importorskip("transformers")

FROZEN = Path(__file__).parent / "golden" / "frozen"


def held(name: str, lines: list[str]) -> None:
    before = (FROZEN / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    moved = frozen.differences(before, lines)
    assert not moved, f"{name}: {len(moved)} lines moved, first " + "; ".join(moved[:5])


@pytest.mark.parametrize("protocol", frozen.PROTOCOLS)
def test_a_run_gives_the_frozen_numbers_tables_and_page(protocol: str, tmp_path: Path) -> None:
    for kind, lines in frozen.run(protocol, tmp_path / protocol).items():
        assert lines
        held(f"{protocol}.{kind}", lines)


def test_scores_and_differences_are_the_frozen_ones(tmp_path: Path) -> None:
    for seed, name in enumerate(("selective", "other")):
        sayso.run("selective", limit=frozen.ENTITIES, seed=seed, out=tmp_path / name)
    held("score", frozen.scored(tmp_path / "selective", tmp_path))
    held("selective.compared", frozen.compared(tmp_path / "selective", tmp_path / "other"))


def test_training_rows_are_the_frozen_ones(tmp_path: Path) -> None:
    sayso.run("uncle", limit=frozen.ENTITIES, out=tmp_path / "uncle")
    for recipe in ("mix", "calibrated"):
        held(f"train.{recipe}", frozen.exported(tmp_path / "uncle", tmp_path / recipe, recipe))


def test_a_moved_number_is_seen() -> None:
    line = "J\tform:long\t0.25\t0.1"
    assert not frozen.differences([line], ["J\tform:long\t0.25000000001\t0.1"])
    assert frozen.differences([line], ["J\tform:long\t0.2501\t0.1"])
    assert frozen.differences([line], ["J\tform:short\t0.25\t0.1"])
    assert frozen.differences([line], [])
    new = "FA\tform:long\t0.5"
    assert frozen.differences([line, line], [line, new, line]) == [f"after line 1: new {new!r}"]
    assert frozen.differences([line, new, line], [line, line]) == [
        f"line 2: frozen {new!r}, now gone"
    ]
    noisy = "J\tform:long\t0.25000000001\t0.1"
    assert frozen.updated([line, line], [noisy, new, noisy]) == [line, new, line]
