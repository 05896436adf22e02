"""Where a run goes and what it is called: checked before a model is opened, identifying nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sayso
from sayso import cli, report
from sayso.protocols import uncle
from sayso.records import Generation, InputError
from sayso.runs import costs
from sayso.storage.run_folder import RunFolder
from support.scripted import ScriptedEngine
from support.scripted_world import Mind, facts, records, write
from support.tables import tabled

WORLD = facts(4)
MIND = Mind(WORLD, lambda f: 0.7)


def opened_anyway(*args: object, **options: object) -> None:
    raise AssertionError("a model is opened")


def run(folder: Path, **more: Any) -> Any:
    return sayso.run(
        report=False,
        cache=folder / "cache",
        options=uncle.Settings(resamples=100),
        **{
            "data": str(write(folder / "q.jsonl", records(WORLD))),
            "model": MIND.engine("base"),
            "out": folder / "run",
            **more,
        },
    )


def test_a_folder_with_other_questions_is_told_before_a_model_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path)
    monkeypatch.setattr(costs, "open_model", opened_anyway)
    with pytest.raises(
        InputError,
        match=r"contains a run of uncle \(.*\) with --limit .*, not 2; repeat",
    ):
        run(tmp_path, model="builtin", limit=2)


@tabled
def test_out_is_checked_before_a_model_is_opened(
    out: str,
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("mine")
    run(tmp_path, out=tmp_path / "other")
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr(costs, "open_model", opened_anyway)
    assert cli.execute(["run", "selective", "--limit", "2", "--out", str(tmp_path / out)]) == 2
    assert told in capsys.readouterr().err
    assert sorted(tmp_path.rglob("*")) == before


def test_a_setting_that_differs_is_told_before_a_model_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path)
    monkeypatch.setattr(costs, "open_model", opened_anyway)
    with pytest.raises(InputError, match=r"\(model .*\) with probe\.k 5, not 3; choose another"):
        run(tmp_path, model="builtin", settings={"probe.k": 3})


def test_the_same_data_under_another_name_are_told(tmp_path: Path) -> None:
    rows = "question,gold\nWho wrote Emma?,Jane Austen\n"
    old, new = tmp_path / "prod.csv", tmp_path / "px.csv"
    old.write_text(rows, encoding="utf-8")
    new.write_text(rows, encoding="utf-8")
    model = ScriptedEngine(lambda request: Generation(request, "Jane Austen"), "base")
    given: dict[str, Any] = {"out": tmp_path / "run", "cache": tmp_path / "cache", "report": False}
    sayso.run("selective", model=model, data=f"file:{old}", **given)
    with pytest.raises(InputError) as told:
        sayso.run("selective", model="builtin", data=f"file:{new}", **given)
    assert "contains a run of selective (model base, data prod): its data have" in str(told.value)
    assert "the same content under another name (prod, not px); use the old name" in str(told.value)


def test_prompt_texts_that_differ_come_after_what_a_run_is_known_by(tmp_path: Path) -> None:
    run(tmp_path)
    manifest = tmp_path / "run" / "manifest.json"
    kept = json.loads(manifest.read_text())
    kept["prompts"]["signature"] = "shared-00000000"
    manifest.write_text(json.dumps(kept))
    told = r"run of uncle \(model \S+, data q\) with prompt_texts shared-00000000, not shared-"
    with pytest.raises(InputError, match=told):
        run(tmp_path)


def test_a_good_place_leaves_no_trace_of_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object, **options: object) -> None:
        raise InputError("no model")

    monkeypatch.setattr(costs, "open_model", refuse)
    with pytest.raises(InputError, match="no model"):
        run(tmp_path, model="builtin", out=tmp_path / "a" / "b" / "run")
    assert not (tmp_path / "a").exists()


def test_a_name_is_shown_and_identifies_nothing(tmp_path: Path) -> None:
    first = run(tmp_path)
    second = run(tmp_path, name="My <model>", out=tmp_path / "named")
    assert [e.signature for e in second.estimates] == [e.signature for e in first.estimates]
    assert second.manifest.model_signature == first.manifest.model_signature
    assert second.manifest.tokens["asked"] == 0  # all of it was in the cache
    assert "model My <model>, " in repr(second)
    page = report.write(second.path).read_text(encoding="utf-8")
    assert "My &lt;model&gt;" in page
    assert "My <model>" not in page
    third = run(tmp_path, name="Other")  # the same folder goes on under another name
    assert third.manifest.shown_model == "Other"
    assert RunFolder.open(tmp_path / "run").read_manifest().shown_model == "Other"
    with pytest.raises(InputError, match="name: expected one line of at most 60"):
        run(tmp_path, name="a\x1b[31m")


@tabled
def test_flags_of_the_other_kind_of_model(
    argv: str, told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    assert cli.execute(["run", "uncle", "--limit", "1", *argv.split()]) == 2
    said = capsys.readouterr().err.splitlines()
    (line,) = (one for one in said if not one.startswith("sayso: starting"))  # a busy machine
    assert told in line


def test_options_reach_the_models_that_take_them(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: dict[str, dict[str, object]] = {}

    def open_model(name: str, **options: object) -> None:
        opened[name] = options
        if name.startswith("hf:judge"):
            raise InputError("enough")
        return MIND.engine("base")  # type: ignore[return-value]

    monkeypatch.setattr(costs, "open_model", open_model)
    argv = (
        "run uncle --limit 1 --device cpu --set dtype=float16 --set batch_size=4 --set revision=v1"
    )
    assert cli.execute([*argv.split(), "--model", "hf:a/b", "--judge", "hf:judge"]) == 2
    assert opened["hf:a/b"] == {
        "device": "cpu", "dtype": "float16", "batch_size": 4, "revision": "v1",
    }  # fmt: skip
    assert opened["hf:judge"] == {"device": "cpu"}
    loops = "run uncle --limit 1 --set end_loops=true --model hf:a/c --judge hf:judge"
    assert cli.execute(loops.split()) == 2
    assert (opened["hf:a/c"], opened["hf:judge"]) == ({"end_loops": True}, {})
    argv = "run uncle --limit 1 --set patience=9 --set timeout=8 --model openai:a --judge hf:judge2"
    assert cli.execute(argv.split()) == 2
    assert opened["openai:a"] == {"patience": 9.0, "timeout": 8.0}
    assert cli.execute([*argv.split(), "--dry-run"]) == 2
    assert opened["hf:judge2"] == {"weights": False}
    assert opened["openai:a"] == {"patience": 9.0, "timeout": 8.0, "asked": False}


def test_score_opens_its_model_as_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text('{"question": "Who wrote Emma?", "answer": "Jane Austen"}\n')
    opened: dict[str, dict[str, object]] = {}

    def open_model(name: str, **options: object) -> None:
        opened[name] = options
        raise InputError("enough")

    monkeypatch.setattr(costs, "open_model", open_model)
    local = "--device cpu --set dtype=float16 --set batch_size=4 --set revision=v1"
    assert cli.execute(["score", "a.jsonl", "--model", "hf:a/b", *local.split()]) == 2
    assert opened["hf:a/b"] == {
        "device": "cpu", "dtype": "float16", "batch_size": 4, "revision": "v1",
    }  # fmt: skip
    remote = "--ask --set patience=9 --set timeout=8 --set concurrency=2"
    assert cli.execute(["score", "a.jsonl", "--model", "openai:a", *remote.split()]) == 2
    assert opened["openai:a"] == {"patience": 9.0, "timeout": 8.0, "concurrency": 2}
    capsys.readouterr()
    assert cli.execute(["score", "a.jsonl", "--device", "cpu"]) == 2
    assert "device is for the model that gave the answers: pass --model too" in (
        capsys.readouterr().err
    )


def test_check_opens_its_model_as_it_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: dict[str, dict[str, object]] = {}

    def open_model(name: str, **options: object) -> None:
        opened[name] = options
        raise InputError("enough")

    monkeypatch.setattr("sayso.checks.model.open_model", open_model)
    assert (
        cli.execute(
            ["check", "hf:a/b", "--device", "cpu", "--set", "dtype=float16", "--set", "patience=3"]
        )
        == 2
    )
    assert opened["hf:a/b"] == {"device": "cpu", "dtype": "float16"}
    assert cli.execute(["check", "openai:a", "--set", "patience=3", "--device", "cpu"]) == 2
    assert opened["openai:a"] == {"patience": 3.0}
    capsys.readouterr()
    assert cli.execute(["check", "openai:a", "--set", "dtype=float16"]) == 2
    assert "dtype 'float16' is for models in this process" in capsys.readouterr().err
