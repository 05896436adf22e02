"""A model whose files are not on this machine: planned with, refused where it would answer."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

from sayso import cli
from sayso.engines import open_model
from sayso.engines.absent import AbsentModel
from sayso.engines.engine import Capabilities
from sayso.engines.hf import load
from sayso.engines.named import NotHere
from sayso.protocols.selective.settings import Settings
from sayso.records import InputError
from sayso.runs.costs import open_priced
from sayso.runs.dry_run import RunEstimate, estimate_job
from sayso.runs.job import Job
from sayso.studies.grid import read_grid
from sayso.studies.run import price_grid, run_grid
from support.scripted_world import Mind, facts, records, write

WORLD = facts(6)
GONE = "hf:sayso-tests/there-is-no-such-model"
IN_VLLM = GONE.replace("hf:", "vllm:")


@pytest.fixture(autouse=True)
def _without_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "hub_answers", lambda: False)


def answering(monkeypatch: pytest.MonkeyPatch, kind: type[Exception], status: int) -> None:
    """Let the hub be there, and refuse every file with an error of its library."""
    import httpx

    def refuse(*given: object, **named: object) -> None:
        response = httpx.Response(status, request=httpx.Request("GET", "https://huggingface.co/x"))
        raise kind("Access is restricted.\nYou must be authenticated.", response=response)  # type: ignore[call-arg]

    monkeypatch.setattr(load, "hub_answers", lambda: True)
    for name in ("hf_hub_download", "snapshot_download"):
        monkeypatch.setattr(f"transformers.utils.hub.{name}", refuse)


def plan(folder: Path, model: str, **more: Any) -> RunEstimate:
    data = str(write(folder / "q.jsonl", records(WORLD)))
    more = {"options": Settings(), "protocol": "selective", **more}
    return estimate_job(Job(model=model, data=data, cache=folder / "cache", **more))


@pytest.mark.parametrize("model", [GONE, IN_VLLM])
def test_it_is_planned_as_a_model_of_its_kind_is(
    model: str, tmp_path: Path, make_folder: Any
) -> None:
    there = plan(tmp_path, f"{model.partition(':')[0]}:{make_folder()}")
    gone = plan(tmp_path, model)
    assert [s.requests for s in gone.stages] == [s.requests for s in there.stages]
    assert gone.dollars == there.dollars
    (caution,) = [text for text in gone.cautions if model in text]
    assert "cache" in caution
    assert "estimated" in caution
    assert not there.cautions
    assert not (tmp_path / "runs").exists()


def test_its_capabilities_are_those_of_its_kind(make_folder: Any) -> None:
    for kind in ("hf", "vllm"):
        there = open_model(f"{kind}:{make_folder()}", weights=False)
        can = {**{n: getattr(there.capabilities, n) for n in Capabilities.__struct_fields__}}
        there.close()
        gone, _ = open_priced(f"{kind}:{GONE[3:]}", weights=False)
        assert isinstance(gone, AbsentModel)
        assert gone.capabilities == Capabilities(**{**can, "context": None})


def test_texts_are_planned_without_the_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claim = {"text": "Ada was born in 1815.", "label": "SUPPORTED"}
    row = {"entity": "Ada", "text": "Ada was born in 1815.", "claims": [claim]}
    (tmp_path / "texts.jsonl").write_text(json.dumps(row) + "\n")
    argv = ["run", "self_known", "--answers", str(tmp_path / "texts.jsonl"), "--model", GONE]
    assert cli.execute([*argv, "--dry-run", "--set", f"cache={tmp_path}"]) == 0
    assert f"planned without {GONE}" in capsys.readouterr().out


def test_a_judge_that_is_not_here_is_planned_too(tmp_path: Path) -> None:
    found = plan(tmp_path, "builtin", judge=GONE)
    assert any(s.who == "judge" and s.requests.high for s in found.stages)
    assert any(GONE in text for text in found.cautions)


def test_a_folder_that_is_not_there_is_a_mistake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in (f"hf:{tmp_path}/gone", "hf:./gone", "vllm:~/gone"):
        assert cli.execute(["run", "selective", "--model", name, "--dry-run"]) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert "gone does not exist" in said


def test_the_run_itself_needs_the_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.execute(["run", "selective", "--model", GONE, "--limit", "5"]) == 2
    assert "hub cache" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_a_study_is_planned_and_not_begun(tmp_path: Path) -> None:
    data = str(write(tmp_path / "q.jsonl", records(WORLD)))
    given = {"out": str(tmp_path / "s"), "cache": str(tmp_path / "cache"), "models": [GONE],
             "data": [data], "protocols": ["selective"]}  # fmt: skip
    price = price_grid(read_grid(given))
    (cell,) = price.plans.values()
    assert cell.stages == plan(tmp_path, GONE).stages
    with pytest.raises(InputError, match="hub cache"):
        run_grid(read_grid(given))
    assert not (tmp_path / "s").exists()


def test_a_finished_run_of_a_study_needs_no_model_to_plan_the_rest(tmp_path: Path) -> None:
    data = str(write(tmp_path / "q.jsonl", records(WORLD)))
    given = {"out": str(tmp_path / "s"), "cache": str(tmp_path / "cache"), "data": [data],
             "protocols": [{"uncle": {"probe": {"k": 2}, "resamples": 100}}]}  # fmt: skip
    engine = Mind(WORLD, lambda fact: 0.7).engine("one")
    run_grid(read_grid({**given, "models": [{"model": engine, "name": "one"}]}))
    there = {"model": GONE, "name": "one"}
    price = price_grid(read_grid({**given, "models": [there, IN_VLLM]}))
    assert (price.finished, len(price.plans)) == (1, 1)


def test_without_the_libraries_it_is_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("sayso.engines.vllm", "sayso.engines.hf.engine", "sayso.engines.hf.load", "vllm"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    (caution,) = plan(tmp_path, IN_VLLM).cautions
    assert "torch" in caution


def test_a_gated_model_is_one_line_that_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, GatedRepoError, 403)
    with pytest.raises(NotHere) as caught:
        open_model("hf:meta-llama/Llama-3.1-8B")
    said = str(caught.value)
    assert "\n" not in said
    assert "meta-llama/Llama-3.1-8B is gated" in said
    assert "https://huggingface.co/meta-llama/Llama-3.1-8B," in said
    assert "HF_TOKEN" in said
    (caution,) = plan(tmp_path, "hf:meta-llama/Llama-3.1-8B").cautions
    assert "gated" in caution


def test_a_name_that_the_hub_does_not_know_is_a_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, RepositoryNotFoundError, 404)
    with pytest.raises(InputError, match="valid model identifier") as caught:
        plan(tmp_path, GONE)
    assert not isinstance(caught.value, NotHere)
