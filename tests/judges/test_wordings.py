"""The wordings of benchmarks/data are still read as expected: the study, in the suite."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "readers" / "wordings.py"


@pytest.fixture(scope="module")
def study() -> ModuleType:
    """The study as a module."""
    spec = importlib.util.spec_from_file_location("wordings_study", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_every_file_reaches_its_threshold(study: ModuleType) -> None:
    for name, least in study.LEAST.items():
        wrong = [(row["class"], row["text"], row.get("expected")) for row in study.misread(name)]
        total = len(study.rows(name))
        assert total - len(wrong) >= least * total, wrong


def test_no_wording_is_lost(study: ModuleType) -> None:
    assert {name: len(study.rows(name)) for name in study.LEAST} == {
        "short": 1123,
        "paragraphs": 392,
        "matching": 400,
        "contradiction": 76,
        "decisiveness": 67,
    }


def test_a_row_that_is_misread_fails_the_study(
    study: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {"class": "made up", "question": "Where?", "gold": ["Ripley"], "text": "Ripley."}
    monkeypatch.setattr(study, "LEAST", {"short": 1.0})
    monkeypatch.setattr(study, "rows", lambda name: [{**row, "expected": "hedged"}])
    assert study.main(show=False) == 1
    assert "0/1    made up" in capsys.readouterr().out
    monkeypatch.setattr(study, "rows", lambda name: [{**row, "expected": "committed correct"}])
    assert study.main(show=False) == 0
