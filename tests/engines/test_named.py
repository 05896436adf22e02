"""Models with a name of their own: what a trained one comes from, and how long answers may be."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

import sayso
from sayso.engines import named
from sayso.engines.local.files import file_hashes
from sayso.engines.named import AnswerLimits, base_name, is_builtin, limits_of, shipped_folder
from sayso.protocols.uncle.settings import Settings
from sayso.records import InputError
from sayso.runs.dry_run import estimate_job
from sayso.runs.job import Job


def folder(place: Path, card: str = "", config: str = "") -> str:
    """The name of a model folder with a card, or with an adapter's config."""
    place.mkdir()
    if card:
        (place / "sayso.json").write_text(json.dumps({"base_name": card}))
    if config:
        written = {"base_model_name_or_path": config}
        (place / "adapter_config.json").write_text(json.dumps(written))
    return f"hf:{place}"


def test_the_base_of_a_trained_model_is_the_first_one(tmp_path: Path) -> None:
    once = folder(tmp_path / "once", card="smollm2")
    twice = folder(tmp_path / "twice", card=once)
    assert [base_name(name) for name in (once, twice)] == ["smollm2"] * 2
    assert base_name("builtin-trained") == "builtin"
    for name in ("builtin", "smollm2", "hf:", "hf:no/such", "hf:~nobody/x", "openai:x", ""):
        assert base_name(name) == ""


def test_an_adapter_without_a_card_names_its_base_in_its_config(tmp_path: Path) -> None:
    assert base_name(folder(tmp_path / "a", config="Qwen/Qwen3-4B")) == "Qwen/Qwen3-4B"
    of_ours = folder(tmp_path / "b", config=str(shipped_folder("builtin")))
    assert base_name(of_ours) == "builtin"
    assert is_builtin(of_ours)
    assert is_builtin(f"hf:{shipped_folder('builtin')}")
    assert base_name(f"hf:{shipped_folder('builtin')}") == ""  # it is the model itself
    assert not is_builtin(folder(tmp_path / "c"))


def test_cards_that_name_each_other_end(tmp_path: Path) -> None:
    first = folder(tmp_path / "first", card=f"hf:{tmp_path / 'second'}")
    second = folder(tmp_path / "second", card=first)
    assert (base_name(first), base_name(second)) == (second, first)
    own = folder(tmp_path / "own", card=f"hf:{tmp_path / 'own'}")
    assert base_name(own) == ""


def test_limits_belong_to_the_name_and_to_models_trained_from_it(tmp_path: Path) -> None:
    trained = folder(tmp_path / "trained", card="smollm2")
    assert limits_of("smollm2") == limits_of(trained) == AnswerLimits(128, 256, end_loops=True)
    assert limits_of("builtin") == limits_of("hf:a/b") == limits_of(None) == AnswerLimits(256, 1024)


@pytest.fixture
def own_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that belong to the name of a model that is here."""
    monkeypatch.setattr(named, "LIMITS", {"builtin": AnswerLimits(9, 20, end_loops=True)})


@pytest.mark.usefixtures("own_limits")
def test_run_study_and_dry_run_ask_the_same(tmp_path: Path) -> None:
    common = {"limit": 1, "cache": tmp_path / "cache"}
    first = sayso.run("uncle", out=tmp_path / "run", **common, report=False)
    kept = first.manifest
    assert (kept.settings["answer.short_tokens"], kept.settings["answer.long_tokens"]) == (9, 20)
    assert kept.model_signature == "builtin@1+end_loops"
    assert "T0/9/20" in dict(first.get("J", "form:short").signature)["answer"]
    plan = estimate_job(Job(protocol="uncle", **common))
    assert sum(stage.cached for stage in plan.stages) == kept.tokens["requests"]
    study = {"models": ["builtin"], "protocols": ["uncle"], "out": tmp_path / "study", **common}
    (again,) = sayso.study(study).runs
    assert again.manifest.tokens["cached"] == again.manifest.tokens["requests"]
    assert again.manifest.settings == kept.settings


@pytest.mark.usefixtures("own_limits")
def test_flags_win_over_the_limits_of_a_name(tmp_path: Path) -> None:
    result = sayso.run(
        "uncle", limit=1, cache=tmp_path, out=tmp_path / "run", end_loops=False,
        settings={"answer.short_tokens": 256}, report=False,
    )  # fmt: skip
    kept = result.manifest
    assert (kept.settings["answer.short_tokens"], kept.settings["answer.long_tokens"]) == (256, 20)
    assert kept.model_signature == "builtin@1"


def test_a_limit_that_is_no_number_is_refused() -> None:
    for wrong in ("many", 1.5, True):
        with pytest.raises(InputError, match=r"answer.short_tokens is .*; expected a whole number"):
            sayso.run("uncle", settings={"answer.short_tokens": wrong}, report=False)
    with pytest.raises(InputError, match=r"answer.short_tokens is 0; expected 1 to 1000000"):
        sayso.run("uncle", settings={"answer.short_tokens": 0}, report=False)
    assert Settings().answer.short_tokens is None


def test_a_file_of_the_same_size_and_time_is_hashed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Archives may set the modification time of every file to one."""
    monkeypatch.setenv("SAYSO_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "model.safetensors"
    found = []
    for content in (b"one", b"two"):
        file.write_bytes(content)
        os.utime(file, ns=(1, 1))
        found += [file_hashes([file])[file.name], file_hashes([file])[file.name]]
    assert found == [hashlib.sha256(c).hexdigest() for c in (b"one", b"one", b"two", b"two")]
