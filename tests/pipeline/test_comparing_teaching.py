"""``sayso compare`` of two teachings: paired, by the last stage, and refused where it is unfair."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import sayso
from sayso.cli import main
from sayso.pipeline.comparing_teaching import beside, differences
from sayso.pipeline.teaching import Lesson, teach
from sayso.protocols.uncle_settings import Settings
from sayso.records import InputError
from sayso.taught import read_teaching, write_teaching

FEW = {"sft.rows": 16, "sft.epochs": 1.0, "sft.batch": 8}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """A base run and two teachings of it, one with a rate at which it forgets everything."""
    pytest.importorskip("trl")
    place = tmp_path_factory.mktemp("beside")
    sayso.run(
        "uncle", split="dev", limit=5, out=place / "base", cache=place / "cache",
        options=Settings(resamples=100),
    )  # fmt: skip

    def taught(name: str, **more: Any) -> Path:
        lesson = Lesson(
            stages="sft", train_limit=10, resamples=100, making={"paragraphs": 0},
            training=FEW | more,
        )  # fmt: skip
        return teach(place / "base", place / name, lesson=lesson, cache=place / "cache")[0]

    return place / "base", taught("a"), taught("b", **{"sft.rate": 0.05})


def test_what_one_teaching_gains_is_the_gap_of_the_two_tables(folders) -> None:
    _, a, b = folders
    found, notes = differences(a, b, resamples=200)
    one, two = (read_teaching(place) for place in (a, b))
    held = {(e.where, e.name): e for e in found}
    for form in ("short", "long"):
        for name in ("KCR", "wrong_and_sure", "EA"):
            gap = two.get("sft", form, name).value - one.get("sft", form, name).value
            assert held[f"form:{form}", name].value == pytest.approx(gap)
    forced = two.get("sft", "short", "forced").value - one.get("sft", "short", "forced").value
    assert held["form:short", "forced"].value == pytest.approx(forced)
    assert any("training.sft.rate (0.0" in note and "0.05)" in note for note in notes)
    assert any("one seed" in note for note in notes)


def test_a_teaching_against_itself_differs_in_nothing(folders) -> None:
    _, a, _ = folders
    _, changes = beside({"one": a, "again": a}, resamples=200)
    assert {c.difference.value for c in changes} <= {0.0, None}
    assert all(c.p_holm in (1.0, None) for c in changes)


def test_the_difference_is_paired_by_entity(folders) -> None:
    _, a, b = folders
    cells, changes = beside({"A": a, "B": b}, resamples=500)
    alone = [c.estimate for c in cells if c.form == "short" and c.estimate.name == "KCR"]
    gap = next(c for c in changes if c.form == "short" and c.difference.name == "KCR").difference
    if None in (gap.low, *(e.low for e in alone)):
        pytest.skip("a number at the end of its range has no interval")
    widths = [e.high - e.low for e in alone]
    assert gap.high - gap.low < np.hypot(*widths) * 1.3


def test_what_cannot_be_compared_is_refused_in_one_line(folders, tmp_path, capsys) -> None:
    base, a, b = folders
    with pytest.raises(InputError, match="is a teaching and the other folder is not"):
        sayso.compare(a, base)
    copy = tmp_path / "copy"
    shutil.copytree(b, copy)
    told = read_teaching(copy)
    write_teaching(copy, msgspec.structs.replace(told, finished=None))
    with pytest.raises(InputError, match="not finished"):
        differences(a, copy)
    write_teaching(copy, msgspec.structs.replace(told, model_identity="other"))
    with pytest.raises(InputError, match="differ in their model identity"):
        differences(a, copy)
    other = {**told.settings, "measured": "0000"}
    write_teaching(copy, msgspec.structs.replace(told, settings=other))
    with pytest.raises(InputError, match="differ in their measured entities"):
        differences(a, copy)
    write_teaching(copy, msgspec.structs.replace(told, methods=told.methods[:2]))
    with pytest.raises(InputError, match="no taught model"):
        differences(a, copy)
    write_teaching(copy, told)
    (copy / "forced" / "sft-0.json").write_text("{")
    with pytest.raises(InputError, match="delete it"):
        differences(a, copy)
    with pytest.raises(SystemExit) as stopped:
        main(["compare", str(a), str(base)])
    assert stopped.value.code == 2
    assert "Traceback" not in capsys.readouterr().err


def test_the_command_prints_the_differences(folders, capsys) -> None:
    _, a, b = folders
    with pytest.raises(SystemExit) as stopped:
        main(["compare", str(a), str(b), "--resamples", "200"])
    assert not stopped.value.code
    printed = capsys.readouterr().out
    assert "told wrongly" in printed
    assert "Holm" in printed
