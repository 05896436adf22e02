"""Rows as files: they load with `datasets`, as what the trainers of others expect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.records import InputError
from sayso.train.export import INFO, STYLES, export
from sayso.train.rows import TrainingRow

PAIR = TrainingRow(
    "Where was Ann born?", "I am not sure.", "Lyon", "short", "Ann", ("q1",), "idk-unknown"
)
SINGLE = TrainingRow(
    "Tell of Ann.", "She was\nborn «there».", None, "long", "Ann", ("q2",), "logu-refined"
)


def loaded(file: Path, cache: Path) -> list[dict[str, Any]]:
    datasets = pytest.importorskip("datasets")
    made = datasets.load_dataset("json", data_files=str(file), split="train", cache_dir=str(cache))
    return list(made)


def test_trl_rows_load_as_conversations(tmp_path: Path) -> None:
    done = export([PAIR, SINGLE], tmp_path / "rows", "trl")
    assert done.rows == {"sayso_sft.jsonl": 1, "sayso_dpo.jsonl": 1}
    (pair,) = loaded(tmp_path / "rows" / "sayso_dpo.jsonl", tmp_path / "cache")
    assert pair == {
        "prompt": [{"role": "user", "content": "Where was Ann born?"}],
        "chosen": [{"role": "assistant", "content": "I am not sure."}],
        "rejected": [{"role": "assistant", "content": "Lyon"}],
    }
    (single,) = loaded(tmp_path / "rows" / "sayso_sft.jsonl", tmp_path / "cache")
    assert single == {
        "prompt": [{"role": "user", "content": "Tell of Ann."}],
        "completion": [{"role": "assistant", "content": "She was\nborn «there»."}],
    }


def test_trl_itself_takes_them_for_conversational_preferences(tmp_path: Path) -> None:
    data_utils = pytest.importorskip("trl.data_utils")
    export([PAIR, SINGLE], tmp_path, "trl")
    for name in ("sft", "dpo"):
        line = (tmp_path / f"sayso_{name}.jsonl").read_text(encoding="utf-8").splitlines()[0]
        assert data_utils.is_conversational(json.loads(line))


@pytest.mark.parametrize("style", ["llama-factory", "llama-factory-sharegpt"])
def test_llama_factory_finds_each_column_that_its_index_names(tmp_path: Path, style: Any) -> None:
    done = export([PAIR, SINGLE], tmp_path / "rows", style)
    assert [f.name for f in done.files] == ["sayso_sft.json", "sayso_dpo.json", INFO]
    info = json.loads((tmp_path / "rows" / INFO).read_text(encoding="utf-8"))
    assert info["sayso_dpo"]["ranking"] is True
    assert "ranking" not in info["sayso_sft"]
    for about in info.values():
        (row,) = loaded(tmp_path / "rows" / about["file_name"], tmp_path / "cache")
        assert set(about["columns"].values()) == set(row)
    (pair,) = loaded(tmp_path / "rows" / "sayso_dpo.json", tmp_path / "cache")
    if style == "llama-factory":
        assert pair == {
            "instruction": "Where was Ann born?",
            "input": "",
            "chosen": "I am not sure.",
            "rejected": "Lyon",
        }
    else:
        assert pair == {
            "conversations": [{"from": "human", "value": "Where was Ann born?"}],
            "chosen": {"from": "gpt", "value": "I am not sure."},
            "rejected": {"from": "gpt", "value": "Lyon"},
        }
        # the sides of other trainers' templates: human turns stand at odd places
        (single,) = loaded(tmp_path / "rows" / "sayso_sft.json", tmp_path / "cache")
        assert [turn["from"] for turn in single["conversations"]] == ["human", "gpt"]


def test_an_earlier_export_leaves_no_rows_behind(tmp_path: Path) -> None:
    export([PAIR, SINGLE], tmp_path, "trl")
    done = export([PAIR], tmp_path, "trl")
    assert [f.name for f in done.files] == ["sayso_dpo.jsonl"]
    assert not (tmp_path / "sayso_sft.jsonl").exists()


@pytest.mark.parametrize(
    ("rows", "style", "words"),
    [
        ([], "trl", "no rows"),
        ([PAIR], "axolotl", "expected one of trl, llama-factory"),
        ([TrainingRow("p", " ", None, "short", "e", (), "k")], "trl", "empty side"),
        ([TrainingRow("p", "c", "", "short", "e", (), "k")], "llama-factory", "empty side"),
        ([TrainingRow("p", "c", " \n", "short", "e", (), "k")], "trl", "empty side"),
    ],
)
def test_what_cannot_be_written_is_refused(
    tmp_path: Path, rows: list[TrainingRow], style: Any, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        export(rows, tmp_path, style)
    assert not list(tmp_path.iterdir())


TEXT = st.text(min_size=1, max_size=40).filter(lambda t: t.strip())


@settings(max_examples=60, deadline=None)
@given(prompt=TEXT, chosen=TEXT, rejected=TEXT, style=st.sampled_from(sorted(STYLES)))
def test_any_text_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, prompt: str, chosen: str, rejected: str, style: Any
) -> None:
    folder = tmp_path_factory.mktemp("rows")
    export([TrainingRow(prompt, chosen, rejected, "short", "e", ("q",), "k")], folder, style)
    suffix = "jsonl" if style == "trl" else "json"
    text = (folder / f"sayso_dpo.{suffix}").read_text(encoding="utf-8")
    made = json.loads(text)
    held = json.dumps(made, ensure_ascii=False)
    for part in (prompt, chosen, rejected):
        assert json.dumps(part, ensure_ascii=False) in held
