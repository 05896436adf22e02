"""Labels of a user's own for the reader of stance: what is refused, and how."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from support.tables import tabled

TOOLS = Path(__file__).resolve().parents[2] / "tools" / "readers"
GOOD = {
    "form": "short",
    "text": "Beats me, mate.",
    "aspects": [{"question": "Who built it?", "golds": ["Ivo Marsh"], "stance": "abstained"}],
}


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.syspath_prepend(str(TOOLS))
    labels = importlib.import_module("labels")

    def rows(*lines: str) -> Any:
        path = tmp_path / "mine.jsonl"
        path.write_text("\n".join(lines), encoding="utf-8")
        monkeypatch.setenv("SAYSO_STANCE_LABELS", str(path))
        return labels._own_labels()

    return rows


def test_a_label_is_read(read: Any) -> None:
    (row,) = read(json.dumps(GOOD), "")
    assert (row.text, row.labels[0].stance, row.half) == ("Beats me, mate.", "abstained", "train")


@tabled
def test_what_is_refused(read: Any, line: str, said: str) -> None:
    with pytest.raises(SystemExit, match=said.replace(".", r"\.")):
        read(line)


def test_a_text_that_the_judge_will_not_read_is_told(
    read: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    read(json.dumps(GOOD | {"text": "Das weiß ich leider auch nicht so genau."}))
    assert "takes it for no English" in capsys.readouterr().out
