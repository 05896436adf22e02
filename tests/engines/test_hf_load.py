"""Opening models: bad input in one line, identity, threads, options."""

from __future__ import annotations

import json
import logging
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
from sayso import engines  # noqa: E402
from sayso.engines import open_model  # noqa: E402
from sayso.engines.hf import load  # noqa: E402
from sayso.engines.hf.load import HfOptions  # noqa: E402
from sayso.records import (  # noqa: E402
    InputError,
    ask,
)
from support.tables import tabled  # noqa: E402


def copied(folder: Path, tmp_path: Path, name: str = "model") -> Path:
    return Path(shutil.copytree(folder, tmp_path / name))


def message(name: str, **options: object) -> str:
    """The one line that a user sees."""
    with pytest.raises(InputError) as caught:
        open_model(name, **options)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    assert "does not exist" in message(f"hf:{tmp_path / 'gone'}")


def test_a_file_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "model.txt").write_text("x")
    assert "is a file" in message(f"hf:{tmp_path / 'model.txt'}")


def test_an_empty_folder_is_no_model(tmp_path: Path) -> None:
    assert "config.json" in message(f"hf:{tmp_path}")


def test_a_model_without_tokenizer(make_folder: Any, tmp_path: Path) -> None:
    folder = copied(make_folder(), tmp_path)
    for file in load.TOKENIZER_FILES:
        (folder / file).unlink(missing_ok=True)
    assert "tokenizer" in message(f"hf:{folder}")


def test_pickled_weights_are_refused(make_folder: Any, tmp_path: Path) -> None:
    folder = copied(make_folder(), tmp_path)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    assert "allow_pickle" in message(f"hf:{folder}")


def test_no_weights(make_folder: Any, tmp_path: Path) -> None:
    folder = copied(make_folder(), tmp_path)
    (folder / "model.safetensors").unlink()
    assert "no weights" in message(f"hf:{folder}")


@pytest.mark.parametrize("damage", [b"", b"{", b'{"model_type": "nothing-known"}', b"[1]"])
def test_a_broken_config(make_folder: Any, tmp_path: Path, damage: bytes) -> None:
    folder = copied(make_folder(), tmp_path)
    (folder / "config.json").write_bytes(damage)
    assert str(folder) in message(f"hf:{folder}")


def test_cut_off_weights(make_folder: Any, tmp_path: Path) -> None:
    folder = copied(make_folder(), tmp_path)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:500])
    assert "cannot be opened" in message(f"hf:{folder}")


def test_unknown_options(make_folder: Any) -> None:
    name = f"hf:{make_folder()}"
    assert "colour" in message(name, colour="red")
    assert "threads" in message(name, threads="many")
    assert "float8" in message(name, dtype="float8")
    assert "toaster" in message(name, device="toaster")
    assert "nonsense" in message(name, record=["nonsense"])


def test_names_that_cannot_be_opened() -> None:
    assert "sayso can open" in message("nothing")
    assert "sayso can open" in message("hf:")


@pytest.mark.parametrize(
    "opening",
    [
        "engines.open_model('builtin')",
        "engines.open_classifier('m')",
        "engines.open_token_vectors('m')",
    ],
)
def test_without_torch_the_message_says_what_to_install(opening: str) -> None:
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "from sayso import engines\n"
        "from sayso.records import InputError\n"
        f"try: {opening}\n"
        "except InputError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "needs torch" in done.stdout
    assert "pip install 'sayso[hf]'" in done.stdout


def test_the_library_of_the_hub_tells_nothing_of_its_attempts(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log = logging.getLogger("huggingface_hub.utils._http")
    with engines.quiet_hub():
        log.warning("thrown while requesting HEAD")
    assert not caplog.records
    log.warning("outside")
    assert [record.getMessage() for record in caplog.records] == ["outside"]


def test_a_hub_id_without_network(monkeypatch: Any) -> None:
    monkeypatch.setattr(load, "hub_answers", lambda: False)
    said = message("hf:sayso-tests/there-is-no-such-model")
    assert said == (
        "model sayso-tests/there-is-no-such-model cannot be opened: there is no folder of this "
        "name, its files are not in this machine's hub cache, and the hub cannot be reached; "
        "expected a folder, or a model's id on the hub, as in hf:Qwen/Qwen3.5-4B"
    )


def test_options_may_come_as_strings(make_folder: Any) -> None:
    engine: Any = open_model(f"hf:{make_folder()}", device="cpu", batch_size="3", threads="1")
    assert engine.limits.rows == 3
    engine.close()


def test_the_identity_is_of_contents(make_folder: Any, tmp_path: Path) -> None:
    folder = make_folder()
    first: Any = open_model(f"hf:{folder}", device="cpu")
    copy: Any = open_model(f"hf:{copied(folder, tmp_path)}", device="cpu")
    assert copy.identity == first.identity == first.base
    # settings that the engine never reads do not move it, a template does
    other = copied(folder, tmp_path, "other")
    (other / "generation_config.json").write_text(json.dumps({"temperature": 0.7}))
    assert open_model(f"hf:{other}", device="cpu").identity == first.identity
    # what ends an answer stands there too, and does
    (other / "generation_config.json").write_text(json.dumps({"eos_token_id": [1, 2]}))
    assert open_model(f"hf:{other}", device="cpu").identity != first.identity
    changed: Any = open_model(f"hf:{folder}", device="cpu", chat_template="{{ messages }}")
    assert changed.identity != first.identity
    half: Any = open_model(f"hf:{folder}", device="cpu", dtype="bfloat16")
    assert half.identity != first.identity


def test_the_signature_names_half_precision() -> None:
    from sayso.engines import open_model

    marks = {
        dtype: open_model("builtin", device="cpu", dtype=dtype, weights=False).signature
        for dtype in ("auto", "float64", "float16", "bfloat16")
    }
    assert marks == {
        "auto": "builtin@1",
        "float64": "builtin@1",
        "float16": "builtin@1+float16",
        "bfloat16": "builtin@1+bfloat16",
    }


def test_changed_weights_change_the_identity(make_folder: Any, tmp_path: Path) -> None:
    folder = copied(make_folder(), tmp_path)
    before = open_model(f"hf:{folder}", device="cpu").identity
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    name = sorted(weights)[0]
    weights[name] = weights[name] + 0.5
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    assert open_model(f"hf:{folder}", device="cpu").identity != before


def test_hashes_are_remembered(make_folder: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("SAYSO_CACHE", str(tmp_path / "cache"))
    folder = make_folder()
    first = open_model(f"hf:{folder}", device="cpu").identity
    memo = tmp_path / "cache" / "model-hashes.json"
    assert "model.safetensors" in memo.read_text()
    monkeypatch.setattr(load.hashlib, "file_digest", None)  # nothing is read twice
    assert open_model(f"hf:{folder}", device="cpu").identity == first
    memo.write_text("not JSON")
    monkeypatch.undo()
    monkeypatch.setenv("SAYSO_CACHE", str(tmp_path / "cache"))
    assert open_model(f"hf:{folder}", device="cpu").identity == first


def test_a_merged_model_names_its_base(make_folder: Any, tmp_path: Path) -> None:
    folder = copied(make_folder(), tmp_path)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"sayso_base": "weights:abc|float32"}))
    engine = open_model(f"hf:{folder}", device="cpu")
    assert engine.base == "weights:abc|float32"
    assert engine.identity != engine.base


def test_small_models_get_one_thread_and_give_it_back(make_folder: Any, monkeypatch: Any) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    engine = open_model(f"hf:{make_folder()}", device="cpu")
    list(engine.complete([ask("Who?", max_tokens=2)]))
    assert torch.get_num_threads() == 1
    engine.close()
    assert torch.get_num_threads() == 2
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    engine = open_model(f"hf:{make_folder()}", device="cpu")
    assert torch.get_num_threads() == 2
    engine.close()
    torch.set_num_threads(before)


def test_the_number_of_threads_does_not_depend_on_the_load(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Sums are split by threads: a busy machine would give other draws."""

    class Sized:
        device = "cpu"

        def __init__(self, size: int) -> None:
            self.size = size

        def num_parameters(self) -> int:
            return self.size

    large = Sized(135_000_000)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(load.torch, "get_num_threads", lambda: 8)
    for busy in (0.0, 3.0, 80.0):
        monkeypatch.setattr(load.os, "getloadavg", lambda busy=busy: (busy, busy, busy))
        assert load.choose_threads(large, HfOptions()) == 8
    assert load.choose_threads(Sized(1_000_000), HfOptions()) == 1
    assert load.choose_threads(large, HfOptions(threads=3)) == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    assert load.choose_threads(large, HfOptions()) is None


def test_each_model_computes_with_its_own_threads(make_folder: Any) -> None:
    before = torch.get_num_threads()
    one = open_model(f"hf:{make_folder()}", device="cpu", threads=1)
    two = open_model(f"hf:{make_folder()}", device="cpu", threads=2)
    for engine, threads in ((one, 1), (two, 2), (one, 1)):
        list(engine.complete([ask("Who?", max_tokens=2)]))
        assert torch.get_num_threads() == threads
        assert str(getattr(engine, "plan", "")).startswith(f"{threads} thread")
    two.close()
    one.close()
    assert torch.get_num_threads() == before


def test_a_base_model_is_told(make_folder: Any) -> None:
    engine: Any = open_model(f"hf:{make_folder('llama', None)}", device="cpu")
    assert any("no chat template" in notice for notice in engine.notices)
    ((_, answer),) = engine.complete([ask("Who?", max_tokens=3)])
    assert any("plain prompt" in said for said in answer.overrides)
    engine.close()


def test_nothing_is_printed(make_folder: Any, capfd: pytest.CaptureFixture[str]) -> None:
    engine = open_model(f"hf:{make_folder()}", device="cpu")
    list(engine.complete([ask("Who? " * 100, max_tokens=3), ask("Who?", max_tokens=3)]))
    engine.close()
    said = capfd.readouterr()
    assert (said.out, said.err) == ("", "")


def test_numbers_that_are_not_numbers_are_a_problem(make_folder: Any) -> None:
    engine: Any = open_model(f"hf:{make_folder()}", device="cpu")
    with torch.no_grad():
        engine.runner.model.lm_head.weight.fill_(float("nan"))
    found = dict(
        engine.complete([ask("Who?", max_tokens=9), ask("When?", max_tokens=9, temperature=0)])
    )
    assert all((g.problem or "").startswith("failed: ") and g.text == "" for g in found.values())
    ((_, forced),) = engine.force([(ask("Who?"), "x")], ["logprobs"])
    assert (forced.problem or "").startswith("failed: ")


def test_a_forced_token_outside_the_vocabulary_is_a_problem(make_folder: Any) -> None:
    engine = open_model(f"hf:{make_folder()}", device="cpu")
    ((_, forced),) = engine.force([(ask("Who?"), [999_999])], ["logprobs"])
    assert "999999" in (forced.problem or "")


def test_without_weights_a_model_has_the_same_identity(
    make_folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_folder()
    whole: Any = [open_model(f"hf:{folder}", device="cpu", dtype=d) for d in ("auto", "bfloat16")]

    def read(*args: object, **more: object) -> None:
        raise AssertionError("weights are read")

    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", read)
    for engine, dtype in zip(whole, ("auto", "bfloat16"), strict=True):
        empty: Any = open_model(f"hf:{folder}", device="cpu", dtype=dtype, weights=False)
        assert empty.identity == engine.identity
        assert empty.base == engine.base
        assert empty.signature == engine.signature
        assert empty.ends == engine.ends
        assert empty.capabilities == engine.capabilities
        assert all(p.is_meta for p in empty.runner.model.parameters())
    assert whole[0].device == "cpu, float32"
    assert whole[1].device == "cpu, bfloat16"


@tabled
def test_options_that_cannot_be(make_folder: Any, options: dict[str, Any], told: str) -> None:
    assert told in message(f"hf:{make_folder()}", **options)


def test_the_dtype_that_only_the_weights_tell(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    save_file(
        {"a": torch.zeros(2, dtype=torch.int64), "b": torch.zeros(2).half()},
        tmp_path / "m.safetensors",
    )
    assert load._stored_dtype(str(tmp_path)) == torch.float16
    with pytest.raises(ValueError, match="pass --set dtype"):
        load._stored_dtype(str(tmp_path / "none"))
