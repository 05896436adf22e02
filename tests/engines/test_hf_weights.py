"""Weights that are missing, too many, misshapen or pickled: nothing random is measured unsaid."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
peft = pytest.importorskip("peft")
import transformers  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402

from sayso.checks.model import check  # noqa: E402
from sayso.engines import open_classifier, open_model, open_token_vectors  # noqa: E402
from sayso.engines.hf.weights import weight_files  # noqa: E402
from sayso.records import InputError  # noqa: E402
from sayso.train.trainers import open_base_model  # noqa: E402
from support.nli_models import make_nli  # noqa: E402

Tensors = dict[str, Any]
Change = Callable[[Tensors], Tensors]


def changed(folder: Path, out: Path, change: Change, **config: object) -> Path:
    """Copy a model or an adapter, with other weights and other settings."""
    copy = Path(shutil.copytree(folder, out))
    adapter = (copy / "adapter_config.json").is_file()
    weights = copy / ("adapter_model.safetensors" if adapter else "model.safetensors")
    save_file(change(load_file(weights)), weights, metadata={"format": "pt"})
    path = copy / ("adapter_config.json" if adapter else "config.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | config))
    return copy


def message(name: str, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        open_model(name, **{"device": "cpu", **options})
    text = str(caught.value)
    assert "\n" not in text
    return text


def without(part: str) -> Change:
    return lambda tensors: {key: value for key, value in tensors.items() if part not in key}


def renamed(before: str, after: str) -> Change:
    return lambda tensors: {key.replace(before, after): value for key, value in tensors.items()}


BIAS = "model.layers.0.self_attn.q_proj.bias"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (without("layers.1."), "9 missing (model.layers.1.input_layernorm.weight, "),
        (renamed("mlp", "ffn"), "6 missing (model.layers.0.mlp.down_proj.weight, "),
        (renamed("mlp", "ffn"), "6 unexpected (model.layers.0.ffn.down_proj.weight, "),
        (without("lm_head"), "1 missing (lm_head.weight)"),
        (lambda tensors: {**tensors, BIAS: torch.ones(32)}, f"1 unexpected ({BIAS})"),
        (
            lambda tensors: {**tensors, "model.norm.weight": torch.ones(5)},
            "1 of another shape (model.norm.weight: [5] in the file, [32] expected)",
        ),
        (lambda tensors: {"a\nb\x1b": torch.ones(1)}, "1 unexpected (a b)"),
    ],
)
def test_weights_that_do_not_fit_are_refused(
    make_folder: Any, tmp_path: Path, change: Change, told: str
) -> None:
    folder = changed(make_folder(), tmp_path / "model", change)
    assert f"{folder} cannot be opened: its weights do not fit its configuration: " in (
        said := message(f"hf:{folder}")
    )
    assert told in said
    with pytest.raises(InputError, match="do not fit its configuration"):
        check(f"hf:{folder}", {"device": "cpu"})
    with pytest.raises(InputError, match="do not fit its configuration"):
        open_base_model(str(folder))


def test_what_is_known_to_be_absent_or_too_many_is_accepted(
    make_folder: Any, tmp_path: Path
) -> None:
    """Tied heads are saved once; old files hold positions and masks; a prefix may be left out."""
    tied = transformers.AutoModelForCausalLM.from_pretrained(make_folder())
    tied.config.tie_word_embeddings = True
    tied.tie_weights()
    tied.save_pretrained(tmp_path / "saved")
    assert "lm_head.weight" not in load_file(tmp_path / "saved" / "model.safetensors")
    folder = changed(make_folder(), tmp_path / "tied", without("lm_head"), tie_word_embeddings=True)
    open_model(f"hf:{folder}", device="cpu").close()

    old = {"model.layers.0.self_attn.rotary_emb.inv_freq": torch.ones(4)}
    folder = changed(make_folder(), tmp_path / "old", lambda tensors: {**tensors, **old})
    open_model(f"hf:{folder}", device="cpu").close()
    masks = {"transformer.h.0.attn.bias": torch.ones(1, 1, 256, 256)}
    masks["transformer.h.0.attn.masked_bias"] = torch.tensor(-1e4)
    folder = changed(make_folder("gpt2"), tmp_path / "gpt2", lambda tensors: {**tensors, **masks})
    open_model(f"hf:{folder}", device="cpu").close()
    folder = changed(make_folder("gpt2"), tmp_path / "bare", renamed("transformer.", ""))
    open_model(f"hf:{folder}", device="cpu").close()


@pytest.fixture(scope="module")
def adapter(make_folder: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An adapter of the tiny Llama that changes what it says."""
    out = tmp_path_factory.mktemp("adapter") / "adapter"
    base = transformers.AutoModelForCausalLM.from_pretrained(make_folder())
    config = peft.LoraConfig(r=4, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
    adapted = peft.get_peft_model(base, config)
    with torch.no_grad():
        for name, weight in adapted.named_parameters():
            if "lora_B" in name:
                weight.normal_()
    adapted.save_pretrained(out)
    for file in make_folder().glob("token*"):
        shutil.copy(file, out)
    return out


@pytest.mark.parametrize(
    ("change", "config", "told"),
    [
        (renamed("self_attn", "attention"), {}, "8 missing (model.layers.0.self_attn.q_proj."),
        (renamed("self_attn", "attention"), {}, "8 unexpected (model.layers.0.attention.q_proj."),
        (renamed("lora_", "lola_"), {}, "8 unexpected (model.layers.0.self_attn.q_proj.lola_A"),
        (without("layers.1."), {}, "4 missing (model.layers.1.self_attn.q_proj.lora_A"),
        (dict, {"target_modules": ["q_proj"]}, "4 unexpected (model.layers.0.self_attn.v_proj"),
        (dict, {"target_modules": ["zzz"]}, "zzz"),
        (dict, {"init_lora_weights": "pissa_niter_1000000000"}, "changes the base model's weights"),
        (dict, {"init_lora_weights": "olora"}, "has init_lora_weights 'olora', which changes the"),
        (dict, {"r": 8}, "size mismatch for base_model.model.model.layers.0.self_attn.q_proj"),
    ],
)
def test_an_adapter_that_does_not_fit_is_refused(
    adapter: Path, tmp_path: Path, change: Change, config: dict[str, object], told: str
) -> None:
    folder = changed(adapter, tmp_path / "adapter", change, **config)
    said = message(f"hf:{folder}")
    assert said.startswith(f"model {folder} cannot be opened: ")
    assert told in said


def test_an_adapter_of_an_adapter_is_put_on_top_of_it(adapter: Path, tmp_path: Path) -> None:
    upper = changed(adapter, tmp_path / "upper", dict, base_model_name_or_path=str(adapter))
    once, twice = (open_model(f"hf:{folder}", device="cpu") for folder in (adapter, upper))
    name = "model.layers.0.self_attn.q_proj.weight"
    base = load_file(Path(json.loads((adapter / "adapter_config.json").read_text())[
        "base_model_name_or_path"]) / "model.safetensors")[name]  # fmt: skip
    moved, twofold = (
        engine.runner.model.state_dict()[name] - base  # type: ignore[attr-defined]
        for engine in (once, twice)
    )
    assert moved.abs().max() > 0.01
    torch.testing.assert_close(twofold, 2 * moved, atol=1e-4, rtol=1e-4)
    assert len({once.identity, twice.identity}) == 2
    empty = open_model(f"hf:{upper}", device="cpu", weights=False)
    assert empty.identity == twice.identity
    itself = changed(adapter, tmp_path / "itself", dict)
    config = itself / "adapter_config.json"
    values = json.loads(config.read_text()) | {"base_model_name_or_path": str(itself)}
    config.write_text(json.dumps(values))
    assert f"{itself} is an adapter of itself" in message(f"hf:{itself}")


def test_encoders_may_lack_a_pooler_and_nothing_else(tmp_path: Path) -> None:
    whole = make_nli(tmp_path / "whole", ("contradiction", "neutral", "entailment"))
    open_classifier(str(whole), "cpu")
    cut = changed(whole, tmp_path / "cut", without("layer.1."))
    with pytest.raises(InputError, match=r"missing \(bert.encoder.layer.1"):
        open_classifier(str(cut), "cpu")
    with pytest.raises(InputError, match=r"missing \(encoder.layer.1"):
        open_token_vectors(str(cut))
    # its head reads the pooler; token vectors do not
    bare = changed(whole, tmp_path / "bare", without("pooler"))
    with pytest.raises(InputError, match=r"missing \(bert.pooler"):
        open_classifier(str(bare), "cpu")
    open_token_vectors(str(bare))
    open_token_vectors(str(whole))  # with the head of another task
    headless = changed(whole, tmp_path / "headless", without("classifier"))
    with pytest.raises(InputError, match="has no trained classifier"):
        open_classifier(str(headless), "cpu")


# ---- files that would be loaded


class Harm:
    """What a pickle may do: it writes a file when it is loaded."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> Any:
        return (Path.touch, (self.place,))


def pickled(folder: Path, name: str, mark: Path) -> None:
    torch.save({"model.norm.weight": Harm(mark)}, folder / name)


def index(folder: Path, *files: str) -> None:
    weights = {f"tensor{number}": file for number, file in enumerate(files)}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weights}))


def test_a_pickle_behind_a_decoy_is_refused_by_its_name(
    make_folder: Any, adapter: Path, tmp_path: Path
) -> None:
    mark = tmp_path / "ran"
    folder = Path(shutil.copytree(make_folder(), tmp_path / "model"))
    (folder / "model.safetensors").rename(folder / "decoy.safetensors")
    pickled(folder, "weights.bin", mark)
    index(folder, "decoy.safetensors", "weights.bin")
    for weights in (True, False):  # a dry run says so, too
        said = message(f"hf:{folder}", weights=weights)
        assert "would load 'weights.bin' (named by 'model.safetensors.index.json')" in said
        assert "allow_pickle=true" in said
    (folder / "model.safetensors.index.json").unlink()
    config = json.loads((folder / "config.json").read_text())
    pickled(folder, "adapter_model.bin", mark)
    (folder / "config.json").write_text(
        json.dumps(config | {"transformers_weights": "adapter_model.bin"})
    )
    assert "would load 'adapter_model.bin'" in message(f"hf:{folder}")

    upper = Path(shutil.copytree(adapter, tmp_path / "upper"))
    (upper / "adapter_model.safetensors").rename(upper / "decoy.safetensors")
    pickled(upper, "adapter_model.bin", mark)
    assert "would load 'adapter_model.bin'" in message(f"hf:{upper}")

    # the base of an adapter is looked at like a model of its own
    top = changed(adapter, tmp_path / "top", dict, base_model_name_or_path=str(folder))
    assert f"{folder} would load 'adapter_model.bin'" in message(f"hf:{top}")
    assert not mark.exists()


def test_weights_that_lie_elsewhere_or_are_gone(make_folder: Any, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(make_folder(), tmp_path / "model"))
    (folder / "model.safetensors").rename(tmp_path / "model.safetensors")
    index(folder, "../model.safetensors")
    assert "would load '../model.safetensors'" in message(f"hf:{folder}")
    index(folder, "model-1-of-2.safetensors", "model-2-of-2.safetensors")
    shutil.copy(tmp_path / "model.safetensors", folder / "model-1-of-2.safetensors")
    said = message(f"hf:{folder}")
    assert "lacks 1 of 2 weight files" in said
    assert "'model-2-of-2.safetensors'" in said
    (folder / "model.safetensors.index.json").write_text("{}")
    assert "has no weight_map" in message(f"hf:{folder}")


def test_the_files_that_are_loaded(make_folder: Any, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(make_folder(), tmp_path / "model"))
    assert [file.name for file in weight_files(folder, pickles=False)] == ["model.safetensors"]
    (folder / "pytorch_model.bin").write_bytes(b"never opened")
    assert [file.name for file in weight_files(folder, pickles=False)] == ["model.safetensors"]
    (folder / "model.safetensors").rename(folder / "part.safetensors")
    index(folder, "part.safetensors", "part.safetensors")
    assert [file.name for file in weight_files(folder, pickles=False)] == ["part.safetensors"]
