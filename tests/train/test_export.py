"""Rows as files: they load with `datasets`, as what the trainers of others expect."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.records import InputError
from sayso.train.config import PAPER
from sayso.train.export import INFO, PLAN, SCRIPT, STYLES, export, write_configuration
from sayso.train.rows import TrainingRow
from support.tiny_training import PRESET
from support.tiny_training import rows as tiny_rows

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


def test_llama_factory_finds_each_column_that_its_index_names(tmp_path: Path) -> None:
    done = export([PAIR, SINGLE], tmp_path / "rows", "llama-factory")
    assert [f.name for f in done.files] == ["sayso_sft.json", "sayso_dpo.json", INFO]
    info = json.loads((tmp_path / "rows" / INFO).read_text(encoding="utf-8"))
    assert info["sayso_dpo"]["ranking"] is True
    assert "ranking" not in info["sayso_sft"]
    for about in info.values():
        (row,) = loaded(tmp_path / "rows" / about["file_name"], tmp_path / "cache")
        assert set(about["columns"].values()) == set(row)
    (pair,) = loaded(tmp_path / "rows" / "sayso_dpo.json", tmp_path / "cache")
    assert pair == {
        "instruction": "Where was Ann born?",
        "input": "",
        "chosen": "I am not sure.",
        "rejected": "Lyon",
    }


def test_an_earlier_export_leaves_no_rows_behind(tmp_path: Path) -> None:
    export([PAIR, SINGLE], tmp_path, "trl")
    done = export([PAIR], tmp_path, "trl")
    assert [f.name for f in done.files] == ["sayso_dpo.jsonl"]
    assert not (tmp_path / "sayso_sft.jsonl").exists()


def test_the_configuration_of_llama_factory_is_table_6_of_uncle(tmp_path: Path) -> None:
    write_configuration(tmp_path, "llama-factory", PAPER, ("sft", "dpo"), "some/model", 3)
    sft, dpo = (
        yaml.safe_load((tmp_path / f"sayso_{stage}.yaml").read_text()) for stage in ("sft", "dpo")
    )
    for own, batch, rate in ((sft, 32, 5e-5), (dpo, 64, 1e-5)):
        assert own["per_device_train_batch_size"] * own["gradient_accumulation_steps"] == batch
        assert own["learning_rate"] == rate  # as a number: YAML reads 5e-05 as a word
        assert (own["num_train_epochs"], own["cutoff_len"], own["warmup_ratio"]) == (3, 1024, 0.1)
        betas = (own["adam_beta1"], own["adam_beta2"], own["adam_epsilon"])
        assert betas == (0.9, 0.98, 1e-8)
        assert (own["lora_rank"], own["lora_alpha"], own["lora_dropout"]) == (8, 16, 0.05)
        assert (own["lora_target"], own["seed"]) == ("q_proj,v_proj", 3)
        assert own["model_name_or_path"] == "some/model"
    # DPO goes on from SFT, and is held to it
    assert dpo["adapter_name_or_path"] == dpo["ref_model_adapters"] == sft["output_dir"]


def test_the_script_of_trl_trains_both_stages_on_the_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("trl")
    from sayso.train.trainers import model_folder

    export([*tiny_rows(4), *tiny_rows(4, rejected=True)], tmp_path, "trl")
    model = model_folder("builtin")
    write_configuration(tmp_path, "trl", PAPER, ("sft", "dpo"), model, 0)
    plan = json.loads((tmp_path / PLAN).read_text())
    assert plan["lora"] | {"task_type": ""} == {
        "r": 8, "lora_alpha": 16, "lora_dropout": 0.05, "target_modules": ["q_proj", "v_proj"],
        "task_type": "",
    }  # fmt: skip
    assert (plan["sft"]["max_length"], plan["sft"]["warmup_steps"]) == (1024, 0.1)
    assert (plan["dpo"]["beta"], plan["dpo"]["learning_rate"]) == (0.1, 1e-5)
    write_configuration(tmp_path, "trl", PRESET, ("sft", "dpo"), model, 0)
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    runpy.run_path(str(tmp_path / SCRIPT), run_name="__main__")
    for stage in ("sft", "dpo"):
        about = json.loads((tmp_path / stage / "adapter_config.json").read_text())
        assert (about["base_model_name_or_path"], about["r"]) == (model, PRESET.r)


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
