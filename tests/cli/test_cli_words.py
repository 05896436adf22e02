"""Wrong words on the command line are told with what they may have been meant for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sayso
from sayso.cli import execute
from sayso.records import InputError
from support.tables import tabled


@tabled
def test_words_too_many(argv: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(argv) == 2
    said = capsys.readouterr().err
    assert said.startswith("sayso: ")
    assert told in said


@tabled
def test_words_too_few(argv: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(argv) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert told in said


def test_a_model_folder_that_is_not_there(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sayso.engines.hf.load.hub_answers", lambda: False)
    assert execute(["run", "selective", "--model", "hf:nosuchfolder"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "there is no folder of this name" in said
    assert "as in hf:Qwen/Qwen3.5-4B" in said


@tabled
def test_a_name_is_told_with_those_that_there_are(
    argv: list[str],
    told: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert execute(argv) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert told in said
    assert not list(tmp_path.iterdir())


def test_a_file_in_the_place_of_a_folder(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f").touch()
    Path("p.txt").write_text("Ada Lovelace was born in London.")
    for argv in (
        ["run", "uncle", "--limit", "2", "--out", "f"],
        ["run", "uncle", "--limit", "2", "--out", "f/run"],
        ["run", "uncle", "--limit", "2", "--out", "run", "--set", "cache=f"],
        ["run", "uncle", "--limit", "2", "--out", "run", "--set", "cache=f/cache"],
        ["index", "p.txt", "--out", "f/index"],
        ["index", "p.txt", "--out", "f/folder/index"],
    ):
        assert execute(argv) == 2
        said = capsys.readouterr().err
        assert "a file has the name of a folder that is needed" in said.splitlines()[-1], argv
        assert "exists" not in said
        assert "Not a dir" not in said


def test_a_misspelt_protocol_is_told_in_python_too(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"protocol 'xyz': expected one of uncle, selective"):
        sayso.run("xyz", out=tmp_path / "run")


@tabled
def test_nothing_is_written_into_the_folder_of_git(
    argv: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(".git").mkdir()
    Path("link").symlink_to(".git")
    rows = {"a.jsonl": {"question": "Who?", "answer": "Ada", "gold": "Ada"}}
    rows["t.jsonl"] = {
        "topic": "Mira", "text": "Mira is a judge.",
        "claims": [{"text": "Mira is a judge.", "label": "S"}],
    }  # fmt: skip
    for name, row in rows.items():
        Path(name).write_text(json.dumps(row) + "\n")
    for out in (".git/hooks/x.jsonl", "link/runs/x.jsonl"):
        assert execute([*argv, "--out", out]) == 2
        error = capsys.readouterr().err
        assert "lies in the folder .git of a repository: choose another --out" in error
        assert "Traceback" not in error
    assert not list(Path(".git").iterdir())


def test_uncle_refuses_topics_before_it_reads_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for data in (f"topics:{tmp_path / 'names.txt'}", "longfact"):
        assert execute(["run", "uncle", "--data", data, "--out", str(tmp_path / "run")]) == 2
        said = capsys.readouterr().err
        assert f"and {data} has no questions with true answers; use `sayso run self_known`" in said
        assert not (tmp_path / "run").exists()


def test_measure_names_the_settings_of_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = sayso.run("uncle", limit=2, out=tmp_path / "run", cache=tmp_path / "cache")
    assert execute(["measure", str(run.path), "--set", "bins=3"]) == 2
    said = capsys.readouterr().err
    assert "setting 'bins' is unknown; known: probe.k, " in said
    assert "omit_long" in said
