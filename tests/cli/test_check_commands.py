"""The two commands as typed: what they print, and with which exit code."""

from __future__ import annotations

import json
from pathlib import Path

import cyclopts
import pytest

from sayso import cli
from sayso.cli import check
from sayso.records import InputError
from support.tables import tabled

app = cyclopts.App()
app.command(check.check, name="check")
app.command(check.judge_check, name="judge-check")


def call(*words: str) -> None:
    app(list(words), exit_on_error=False, print_error=False, result_action="return_value")


def test_check_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    call("check", "builtin")
    out = " ".join(capsys.readouterr().out.split())
    assert "draws from all tokens" in out
    assert "It supports every result of sayso." in out
    assert "price none (local)" in out


def test_check_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    call("check", "builtin", "--json")
    printed = capsys.readouterr()
    assert "440 draws" in printed.err.splitlines()[0]
    found = json.loads(printed.out)
    assert {f["what"]: f["answer"] for f in found["findings"]}["greedy repeats"] == "yes"
    assert found["requests"] == 442


@tabled
def test_mistakes_are_one_line(words: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        call(*words)
    assert "\n" not in str(caught.value)


def test_judge_check_asks_in_batch_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, object] = {}

    def open_priced(name: str, *positional: object, **options: object) -> tuple[object, object]:
        given.update(options)
        raise InputError("enough")

    monkeypatch.setattr("sayso.runs.judge.open_priced", open_priced)
    for judge in ("openai:x", "rules+http://h/v1#m"):
        with pytest.raises(InputError, match="enough"):
            call("judge-check", judge, "--set", "batch_files=true", "--set", f"cache={tmp_path}")
        assert given["batches"] == str(tmp_path / "batches")
    with pytest.raises(InputError, match="enough"):
        call("judge-check", "openai:x", "--set", f"cache={tmp_path}")
    assert given["batches"] is None


def test_judge_check_prints_a_table_and_where_it_is_kept(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    call("judge-check", "rules", "--set", f"cache={tmp_path}")
    out = capsys.readouterr().out
    (kept,) = (tmp_path / "judge-checks").iterdir()
    assert str(kept) in out
    assert "injections: 0 of 12 changed its verdict" in out
    assert "it asks no model" in out
    call("judge-check", "rules", "--set", f"cache={tmp_path / 'other'}", "--limit", "5", "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["partial"] is True
    assert found["dollars_per_100"] == 0.0
    assert not (tmp_path / "other").exists()


def test_judge_check_of_a_small_model(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The built-in model is no judge: it is told so, and nothing breaks."""
    argv = ["judge-check", "builtin", "--set", f"cache={tmp_path}", "--limit", "3"]
    assert cli.execute(argv) == 2
    out, err = capsys.readouterr()
    assert out == ""
    said = err.splitlines()[-1]
    assert "builtin cannot be used as a judge: none of its replies could be read" in said
    assert not (tmp_path / "judge-checks").exists()
