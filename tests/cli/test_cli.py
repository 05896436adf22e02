"""The command line as a person meets it: results on stdout, mistakes in one line, exit code 2."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import sayso
import sayso.protocols.uncle
from sayso import cli, report
from sayso import records as records_module
from sayso.protocols import PROTOCOLS, uncle
from support.scripted_world import Mind, chance, facts, records, write

WORLD = facts(8)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small finished run."""
    folder = tmp_path_factory.mktemp("run")
    mind = Mind(WORLD, lambda f: 0.9 * (chance(f.question) < 0.6), hedges=lambda f, i: i)
    data = write(folder / "q.jsonl", records(WORLD))
    sayso.run(model=mind.engine(), data=str(data), out=folder / "run", cache=folder / "cache")
    return folder / "run"


def refused(argv: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command that must be refused; return its one line."""
    assert cli.execute(argv) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1, err
    assert "Traceback" not in err
    assert err.startswith("sayso: ")
    return err


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["run", "uncle", "--model", "nonsense"], "'nonsense' is not a name sayso can open"),
        (["run", "uncle", "--model", "hf:/no/such/folder"], "/no/such/folder"),
        (["run", "uncle", "--model", "openai:caf\udce9", "--dry-run"], "caf\\udce9' is not UTF-8"),
        (["run", "uncle", "--judge", "me"], "judge 'me'"),
        (
            ["run", "uncle", "--data", "nonsense"],
            "data 'nonsense': expected one of builtin, world, world-50, uncle",
        ),
        (["run", "uncle", "--data", "missing.jsonl"], "missing.jsonl"),
        (["run", "uncle", "--limit", "-3"], "limit -3"),
        (["run", "uncle", "--limit", "many"], "many"),
        (["run", "uncle", "--limit", "1.5"], "limit is '1.5'; expected a whole number"),
        (["run", "uncle", "--set", "probe.k=2.5"], "probe.k is '2.5'; expected a whole number"),
        (["run", "uncle", "--thinking", "maybe"], "thinking 'maybe': expected on, off"),
        (["study", "--models", "builtin", "--thinking", "off,low"], "thinking: [off, low]"),
        (["run", "uncle", "--set", "chat_template_kwargs={"], "not JSON"),
        (["run", "uncle", "--max-cost", "0"], "max_cost is 0; expected"),
        (["run", "uncle", "--max-cost", "nan"], "max_cost is nan; expected"),
        (["run", "uncle", "--price", "1,2"], "price '1,2' is for endpoints, and the model"),
        (["run", "uncle", "--model", "openai:x", "--price", "dear"], "price 'dear' is not a price"),
        (["run", "uncle", "--set", "model_version=may"], "model_version 'may' is for endpoints"),
        (["run", "uncle", "--set", "concurrency=4"], "concurrency is for endpoints"),
        (["run", "uncle", "--set", "timeout=-1"], "timeout is -1; expected"),
        (["run", "uncle", "--set", "judge_batch=all"], "all"),
        (["run", "uncle", "--set", "judge_price=1,2"], "judge 'rules' is not a model"),
        (["run", "uncle", "--model", "openai:x", "--max-cost", "1"], "price of 'openai:x' is unk"),
        (["run", "uncle", "--seed", "-1"], "seed is -1; expected 0 to"),
        (["run", "uncle", "--data", "x" * 300], "expected one of builtin"),
        (["measure", "x" * 300], "File name too long"),
        (["run", "uncle", "--set", "split=all of it"], "split 'all of it'"),
        (["run", "uncle", "--no-such-flag"], "--no-such-flag"),
        (["run", "uncle", "--set", "probe.unc=maybe"], "maybe"),
        (["run", "uncle", "--set", "probe.k=0"], "probe.k"),
        (["run", "uncle", "--set", "resamples=1"], "resamples"),
        (["run", "uncle", "--known-from", "nowhere"], "nowhere"),
        (["run", "uncle", "--prompt-folder", "nowhere"], "nowhere: no such folder"),
        (["run", "unclear"], "unclear"),
        (["measure", "nowhere"], "nowhere does not exist"),
        (["report", "nowhere"], "nowhere does not exist"),
        (["compare", "nowhere", "nowhere"], "nowhere does not exist"),
        (["run", "uncle", "--config", "missing.yaml"], "--config missing.yaml"),
    ],
)
def test_a_mistake_is_one_line(
    argv: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert said in refused(argv, capsys)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b"\n\n", "empty"),
        (b'{"entity": "Ada"', "mine.jsonl line 1"),
        (b'{"a": 1}\n{"b": \n', "mine.jsonl line 1"),
        (b"[1, 2]\n", "mine.jsonl line 1"),
        (b'{"entity": "\xff"}\n', "mine.jsonl line 1"),
        (b'{"entity": "Ada", "prompt": 1, "individual_qa": []}', "mine.jsonl line 1"),
    ],
)
def test_a_bad_file_is_one_line_with_its_place(
    content: bytes,
    said: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.jsonl").write_bytes(content)
    assert said in refused(["run", "uncle", "--data", "mine.jsonl"], capsys)
    assert not Path("runs").exists()  # nothing was begun


def test_a_folder_that_is_no_model(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no model")
    assert str(tmp_path) in refused(["run", "uncle", "--model", f"hf:{tmp_path}"], capsys)


def test_measure_repeats_the_run_and_takes_its_settings(
    finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (finished / "metrics" / "uncle.parquet").read_bytes()
    assert cli.execute(["measure", str(finished), "--json"]) == 0
    same = json.loads(capsys.readouterr().out)
    assert (finished / "metrics" / "uncle.parquet").read_bytes() == before
    assert cli.execute(["measure", str(finished), "--json", "--set", "probe.k=2"]) == 0
    fewer = json.loads(capsys.readouterr().out)
    assert {e["signature"] for e in same}.isdisjoint({e["signature"] for e in fewer})
    assert cli.execute(["measure", str(finished), "--set", "omit_long=separate", "--verbose"]) == 0
    printed = capsys.readouterr().out
    assert "omit:separate" in printed
    assert "printed only" in printed
    assert (finished / "metrics" / "uncle.parquet").read_bytes() == before


def test_measure_takes_the_runs_settings_wherever_its_name_stands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mind = Mind(WORLD, lambda f: 1.0)
    sayso.run(
        model=mind.engine(),
        data=str(write(tmp_path / "q.jsonl", records(WORLD))),
        out=tmp_path / "run",
        cache=tmp_path / "cache",
        options=uncle.Settings(resamples=123),
    )
    for argv in ([str(tmp_path / "run"), "--json"], ["--json", str(tmp_path / "run")]):
        assert cli.execute(["measure", *argv]) == 0
        signatures = {e["signature"] for e in json.loads(capsys.readouterr().out)}
        assert all("ci:entity-123" in signature for signature in signatures)


def test_help_of_measure_shows_what_it_takes(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["measure", "--help"]) == 0
    shown = capsys.readouterr().out
    for flag in (
        "probe.k",
        "probe.unc",
        "omit_long",
        "refusals",
        "ci_seed",
        "resamples",
    ):
        assert flag in shown
    for flag in ("probe.temperature", "answer.", "known_from", "prompts", "methods"):
        assert flag not in shown


def test_a_dry_run_prints_and_leaves_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.execute(["run", "uncle", "--limit", "2", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "total: local, no price" in out
    assert not Path("runs").exists()
    assert cli.execute(["run", "--limit", "2", "--dry-run", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    stages = {name: [stage["name"] for stage in one["stages"]] for name, one in plan.items()}
    assert list(stages) == list(PROTOCOLS)
    assert stages["uncle"] == ["probe", "short", "long"]
    assert stages["selective"] == ["short", "draws", "long"]
    assert all(one["dollars"] == [0, 0] for one in plan.values())


def test_measure_refuses_what_would_need_new_answers(
    finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for flag in (
        ["--set", "probe.k=9"],
        ["--set", "probe.temperature=0.5"],
        ["--set", "prompts=paper"],
    ):
        assert "changes what is asked" in refused(["measure", str(finished), *flag], capsys)


def test_report_and_compare_print_their_result(
    finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.execute(["report", str(finished)]) == 0
    assert capsys.readouterr().out.strip().endswith("report.html")
    assert cli.execute(["compare", str(finished), str(finished), "--set", "resamples=200"]) == 0
    assert "B minus A [95 % interval, sampling error only]" in capsys.readouterr().out


def test_no_page_of_an_older_report_stays(finished: Path) -> None:
    stale = finished / "answers" / "answers-009.html"
    stale.parent.mkdir(exist_ok=True)
    stale.write_text("old")
    report.write(finished)
    assert not stale.exists()


def test_a_run_folder_of_another_version(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = json.loads((finished / "manifest.json").read_text())
    (tmp_path / "manifest.json").write_text(json.dumps({**manifest, "format": 99}))
    assert "99" in refused(["measure", str(tmp_path)], capsys)
    (tmp_path / "manifest.json").write_text("{")
    refused(["measure", str(tmp_path)], capsys)
    for key in ("settings", "prompts"):
        (tmp_path / "manifest.json").write_text(json.dumps({**manifest, key: {}}))
        assert "incomplete" in refused(["measure", str(tmp_path)], capsys)


def test_an_unfinished_run_says_how_to_go_on(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = json.loads((finished / "manifest.json").read_text())
    (tmp_path / "manifest.json").write_text(json.dumps({**manifest, "finished": None}))
    assert "repeat its command" in refused(["measure", str(tmp_path)], capsys)


def test_other_settings_do_not_mix_into_a_run_folder(tmp_path: Path) -> None:
    data = str(write(tmp_path / "q.jsonl", records(WORLD)))
    mind = Mind(WORLD, lambda f: 1.0)
    common = {"data": data, "out": tmp_path / "run", "cache": tmp_path / "cache"}
    sayso.run(model=mind.engine(), **common)
    with pytest.raises(records_module.InputError, match="seed 0, not 1"):
        sayso.run(model=mind.engine(), seed=1, **common)
    with pytest.raises(records_module.InputError, match="with model"):
        sayso.run(model=mind.engine("other"), **common)


def test_a_corrupt_cache_is_mended_and_said(tmp_path: Path) -> None:
    data = str(write(tmp_path / "q.jsonl", records(WORLD)))
    mind = Mind(WORLD, lambda f: 1.0)
    common = {"data": data, "cache": tmp_path / "cache"}
    first = sayso.run(model=mind.engine(), out=tmp_path / "one", **common)
    file = tmp_path / "cache" / "replies.sqlite"
    content = bytearray(file.read_bytes())
    content[: len(content) // 2] = os.urandom(len(content) // 2)
    file.write_bytes(content)
    engine = mind.engine()
    second = sayso.run(model=engine, out=tmp_path / "two", **common)
    assert [e.value for e in first.estimates] == [e.value for e in second.estimates]
    assert any("damaged" in notice for notice in second.manifest.notices)
    assert engine.requests  # what was lost was asked again


def test_hostile_input_reaches_the_terminal_without_its_control_characters(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    line = refused(["run", "uncle", "--data", "\x1b[31mred\u202e\x07.jsonl"], capsys)
    assert not set("\x1b\x07\u202e") & set(line)


def test_interrupting_says_that_it_goes_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.commands, "without_old_flags", interrupt)
    assert cli.execute(["run"]) == 130
    assert "run the same command to resume" in capsys.readouterr().err
