"""An adapter that sayso trained: opened by name, by plain peft, and never probed by accident."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")

import sayso
from sayso.engines import open_model
from sayso.protocols.uncle.settings import Settings
from sayso.records import InputError, ask
from sayso.train.trainers import sft
from support.tiny_training import PRESET, PROMPT, rows


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained") / "sft"
    with open_engine("builtin") as engine:
        about = {"base_run": "runs/base", "recipe": "test", "base": engine.base}
    return sft("builtin", rows(24), PRESET, folder, about=about)


@contextlib.contextmanager
def open_engine(name: str) -> Iterator[Any]:
    """An engine that is closed at the end of a block."""
    engine = open_model(name, threads=1)
    try:
        yield engine
    finally:
        engine.close()


def logprobs(name: str) -> list[float]:
    with open_engine(name) as engine:
        ((_, found),) = engine.force([(ask(PROMPT), "blue")], ["logprobs"])
    return list(found.logprobs)


def test_an_adapter_is_opened_by_its_folder_and_knows_its_base(adapter: Path) -> None:
    with open_engine("builtin") as base, open_engine(f"hf:{adapter}") as trained:
        assert trained.base == base.identity == base.base
        assert trained.identity != base.identity
        assert trained.base_run == "runs/base"
    assert logprobs(f"hf:{adapter}") != pytest.approx(logprobs("builtin"), abs=1e-3)


def test_the_adapter_loads_in_plain_transformers_and_peft(adapter: Path) -> None:
    import torch
    from peft import AutoPeftModelForCausalLM
    from transformers import AutoTokenizer

    model = AutoPeftModelForCausalLM.from_pretrained(str(adapter), dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(str(adapter))
    chat = [{"role": "user", "content": PROMPT}]
    prompt = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    ids = tokenizer(prompt, return_tensors="pt", add_special_tokens=False).input_ids
    blue = tokenizer("blue", return_tensors="pt", add_special_tokens=False).input_ids
    with torch.no_grad():
        logits = model(torch.cat([ids, blue], 1)).logits.log_softmax(-1)
    read = logits[0, ids.shape[1] - 1 : -1].gather(-1, blue[0][:, None])[:, 0].tolist()
    assert read == pytest.approx(logprobs(f"hf:{adapter}")[: len(read)], abs=1e-4)


def test_a_trained_model_is_not_probed_by_accident(adapter: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"trained from runs/base.*--known-from runs/base"):
        sayso.run(
            "uncle",
            model=f"hf:{adapter}",
            limit=1,
            out=tmp_path / "run",
            cache=tmp_path,
            report=False,
        )
    assert not (tmp_path / "run").exists()


def test_frozen_probes_measure_it_beside_its_base(adapter: Path, tmp_path: Path) -> None:
    settings = {"limit": 2, "cache": tmp_path / "cache"}
    base = sayso.run("uncle", out=tmp_path / "base", **settings, report=False)
    frozen = Settings(known_from=str(tmp_path / "base"))
    trained = sayso.run(
        "uncle",
        model=f"hf:{adapter}",
        out=tmp_path / "trained",
        options=frozen,
        **settings,
        report=False,
    )
    assert trained.get("p_known", "form:short").value == base.get("p_known", "form:short").value
    assert not any("base model" in notice for notice in trained.manifest.notices)


def test_an_adapter_without_its_base_model_is_told_so(adapter: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(adapter, moved)
    (moved / "sayso.json").unlink()
    config = json.loads((moved / "adapter_config.json").read_text())
    config["base_model_name_or_path"] = "/no/such/model"
    (moved / "adapter_config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match="adapter of /no/such/model, which is not here"):
        open_model(f"hf:{moved}")
