"""A whole run over an endpoint: its key is not seen, its repetitions are, its price is known."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest
from bad_server import BadServer, Body, Plan

from sayso import cli
from sayso.checks.model import check
from sayso.runs.freshness.same_model import MOST
from sayso.storage.run_folder import RunFolder
from support.scripted_world import facts, records, write

WORLD = facts(4)  # 12 facts, 4 paragraphs
KEY = "sk-test-0123456789abcdef"


def command(folder: Path, server: BadServer, *more: str) -> list[str]:
    data = str(write(folder / "q.jsonl", records(WORLD)))
    argv = ["run", "uncle", "--model", f"{server.url}#m", "--data", data, "--set", "resamples=100"]
    return [*argv, "--out", str(folder / "run"), "--set", f"cache={folder / 'cache'}", *more]


@pytest.mark.parametrize("judge", ["rules", "the same"])
def test_no_key_reaches_a_file_or_the_terminal(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    judge: str,
) -> None:
    monkeypatch.setenv("SAYSO_API_KEY", KEY)
    with BadServer(key=KEY, echo=True) as server:  # answers repeat all headers of the call
        reader = "rules" if judge == "rules" else f"{server.url}#m"
        code = cli.execute(command(tmp_path, server, "--judge", reader))
        assert code == (0 if judge == "rules" else 2)  # nobody can read what that judge says
        assert server.headers[-1]["authorization"] == f"Bearer {KEY}"
        monkeypatch.setenv("SAYSO_API_KEY", "sk-wrong-" + KEY)
        (tmp_path / "refused").mkdir()
        assert cli.execute(command(tmp_path / "refused", server)) == 2
    printed = "".join(capsys.readouterr())
    assert "refuses the key in SAYSO_API_KEY_127_0_0_1 or SAYSO_API_KEY" in printed
    assert KEY not in printed
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert {"manifest.json", "replies.sqlite", "short.parquet"} <= {file.name for file in files}
    for file in files:
        assert KEY.encode() not in file.read_bytes(), file


def test_an_endpoint_that_repeats_itself_is_told_while_it_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with BadServer(sampling=False) as server:
        assert cli.execute(command(tmp_path, server)) == 0
    out, err = capsys.readouterr()
    assert "draws of m at a temperature above 0 repeat the same text" in err
    assert "The draws never vary" in out
    manifest = RunFolder.open(tmp_path / "run").read_manifest()
    assert any("draws of every question are equal" in text for text in manifest.cautions)


def test_an_endpoints_draws_that_vary_are_not_called_equal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with BadServer() as server:
        assert cli.execute(command(tmp_path, server)) == 0
    assert "never vary" not in capsys.readouterr().out


def test_money_ends_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with BadServer(choices=1) as server:
        assert cli.execute(command(tmp_path, server, "--max-cost", "1")) == 2
        assert "the price of" in capsys.readouterr().err
        assert not server.answered
        dear = ("--price", "1000,1000")
        assert cli.execute(command(tmp_path, server, *dear, "--max-cost", "0.5")) == 2
        # what the server lists, the stage, and one line of why it ended
        listed, _, said = capsys.readouterr().err.splitlines()
        assert "lists only bad, not m" in listed
        assert "stopped at --max-cost 0.5" in said
        first = sum(server.answered.values())
        assert first > 0
        assert cli.execute(command(tmp_path, server, *dear)) == 0
        # 12 facts with 5 probes and 2 answers, 4 paragraphs with 2: nothing was asked twice, also
        # not to see whether the model is the same
        assert sum(server.answered.values()) == 12 * 7 + 4 * 2
        assert set(server.answered.values()) == {1}
    manifest = RunFolder.open(tmp_path / "run").read_manifest()
    assert manifest.dollars is not None
    assert manifest.dollars > 0.4
    assert manifest.tokens["cached"] == first


def spoiling(share: int, what: str) -> Plan:
    """Return a plan that spoils so many of eight requests, each time the same ones."""

    def plan(number: int, body: Body) -> str:
        asked = json.dumps([body["messages"], body.get("seed")])
        return what if zlib.crc32(asked.encode()) % 8 < share else "ok"

    return plan


def answered(folder: Path) -> str:
    """Return what is said of a run that lost most of its answers."""
    tokens = RunFolder.open(folder).read_manifest().tokens
    assert tokens["requests"] == 92
    assert 0 < tokens["requests"] - tokens["failed"] < 46
    return f"only {92 - tokens['failed']} of 92 requests were answered, fewer than half"


def test_a_run_that_lost_most_of_its_answers_ends_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with BadServer(spoiling(6, "filter-400"), choices=1) as server:
        assert cli.execute(command(tmp_path, server, "--json")) == 1
        out, err = capsys.readouterr()
        assert json.loads(out)  # the numbers are there all the same
        line = err.splitlines()[-1]
        assert line == (
            f"sayso: {answered(tmp_path / 'run')}: the numbers cover only the answers that came; "
            "run the same command to ask for the rest"
        )
        assert (tmp_path / "run" / "report.html").is_file()
        server.plan = lambda number, body: "ok"
        assert cli.execute(command(tmp_path, server)) == 0
        assert "fewer than half" not in capsys.readouterr().err


def test_more_than_half_of_the_answers_are_enough(tmp_path: Path) -> None:
    # one sample a fact: of five, one that is lost leaves open whether the fact is known
    with BadServer(spoiling(2, "filter-400"), choices=1) as server:
        assert cli.execute(command(tmp_path, server, "--set", "probe.k=1")) == 0


def test_answers_cut_off_in_a_thought_are_lost_from_the_cache_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A thought that the limit cut off is kept: the next run must not call it an answer."""
    thought = {"finish_reason": "length", "message": {"content": "<think>well"}}
    cut = f"choices={json.dumps(thought)}"
    with BadServer(spoiling(6, cut), choices=1) as server:
        assert cli.execute(command(tmp_path, server)) == 1
        first = answered(tmp_path / "run")
        number = server.number
        assert cli.execute(command(tmp_path, server)) == 1
        again = RunFolder.open(tmp_path / "run").read_manifest().tokens["asked_again"]
        assert server.number == number + again <= number + MOST
    assert answered(tmp_path / "run") == first
    assert capsys.readouterr().err.count(first) == 2


def test_a_study_or_a_run_of_all_protocols_that_lost_most_answers_ends_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = str(write(tmp_path / "q.jsonl", records(WORLD)))
    monkeypatch.setenv("SAYSO_CACHE", str(tmp_path / "cache"))
    with BadServer(spoiling(6, "filter-400"), choices=1) as server:
        name = f"{server.url}#m"
        study = ["study", "--models", name, "--data", data, "--protocols", "uncle"]
        argv = [*study, "--out", str(tmp_path / "study"), "--set", "resamples=100"]
        for _ in range(2):  # a finished cell stays as it is
            assert cli.execute(argv) == 1
            line = capsys.readouterr().err.splitlines()[-1]
            (folder,) = (tmp_path / "study").glob("*/*/uncle")
            assert answered(folder) in line
            assert f"{folder} and run the same command" in line
        argv = ["run", "--model", name, "--data", data]
        assert cli.execute([*argv, "--out", str(tmp_path / "all")]) == 1
        assert capsys.readouterr().err.splitlines()[-1].count("fewer than half") == 1


def test_a_check_that_lost_most_answers_ends_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    with BadServer(lambda number, body: "ok" if number == 1 else "filter-400") as server:
        assert cli.execute(["check", f"{server.url}#bad"]) == 1
    assert "fewer than half" in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.slow
def test_one_ctrl_c_sends_nothing_more_and_counts_nothing_as_failed(tmp_path: Path) -> None:
    """Behind twenty answers each takes five seconds: four are on their way when it is pressed.

    By then it is known that a call gives one choice: before, a call may be for several answers.
    """

    def plan(number: int, body: Body) -> str:
        server.delay = 5.0 if number > 20 else 0.0
        return "ok"

    with BadServer(plan, choices=1) as server:
        process = subprocess.Popen(
            [sys.executable, "-m", "sayso", *command(tmp_path, server, "--set", "concurrency=4")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        until = time.monotonic() + 120
        while server.number < 24:
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "stopping: waiting for 4 requests already sent" in err
        assert err.count("run the same command to resume") == 1
        assert server.number == 24
        server.plan, server.delay = lambda number, body: "ok", 0.0
        assert cli.execute(command(tmp_path, server)) == 0
        # 12 facts with 5 probes and 2 answers, 4 paragraphs with 2: nothing was asked twice but
        # for what is asked again to see whether the model is the same
        again = RunFolder.open(tmp_path / "run").read_manifest().tokens["asked_again"]
        assert again <= MOST
        assert server.number == 12 * 7 + 4 * 2 + again
        assert sum(number > 1 for number in server.answered.values()) == again


def test_what_was_not_sent_stays_in_the_notices_of_a_repeated_run(tmp_path: Path) -> None:
    with BadServer(refuses=("top_k", "min_p"), logprobs=True) as server:
        told = []
        for _ in range(2):
            shutil.rmtree(tmp_path / "run", ignore_errors=True)
            assert cli.execute(command(tmp_path, server)) == 0
            manifest = RunFolder.open(tmp_path / "run").read_manifest()
            told.append([text for text in manifest.notices if "top_k" in text])
            page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
            assert "92 of 92 answers: min_p: not sent; top_k: not sent" in page
        assert server.number < 92 * 2  # the second run is from the cache
    # 12 facts with 5 probes and 2 answers, 4 paragraphs with 2
    assert told == [["92 of 92 answers: min_p: not sent; top_k: not sent"]] * 2


def test_draws_of_one_prompt_that_were_sampled_in_two_ways_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Behind one address are two servers, and the second does not take min_p."""

    def plan(number: int, body: dict[str, object]) -> str:
        return "refused" if number > 22 and "min_p" in body and body["temperature"] else "ok"

    class Two(BadServer):
        def bad(self, what: str, body: dict[str, object]) -> tuple[object, ...]:
            if what != "refused":
                return super().bad(what, body)
            said = b'{"error": {"message": "Unrecognized request argument supplied: min_p"}}'
            return 0, 400, {}, said, ""

    said = (
        "prompts were not all sampled with the same settings (min_p: not sent, for some of them "
        "only)"
    )
    with Two(plan, choices=2, limit=1) as server:
        assert cli.execute(command(tmp_path, server, "--set", "concurrency=1")) == 0
    notices = RunFolder.open(tmp_path / "run").read_manifest().notices
    assert any(said in text for text in notices)
    (tmp_path / "alike").mkdir()
    with BadServer(refuses=("min_p",)) as server:
        assert cli.execute(command(tmp_path / "alike", server)) == 0
    notices = RunFolder.open(tmp_path / "alike" / "run").read_manifest().notices
    assert not any("sampled alike" in text for text in notices)
    assert any("min_p: not sent" in text for text in notices)


def test_a_model_that_reasons_and_takes_neither_temperature_nor_logprobs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As OpenAI's o-series and GPT-5: refusals with 400, that of log-probabilities with 403."""
    extras = ("top_k", "min_p", "repetition_penalty", "repeat_penalty")
    switches = {"refuses": ("logprobs", "max_tokens", "temperature=0", *extras), "thought": "field"}
    with BadServer(**switches) as server:
        judge = ("--judge", f"{server.url}#j", "--set", "judge_anyway=true")
        assert cli.execute(command(tmp_path, server, *judge)) == 2  # read by nobody, asked all
        said = " ".join(capsys.readouterr().err.split())
        body = server.bodies[-1]
        found = check(f"{server.url}#m")
    assert "key" not in said
    assert "could not be read" in said or "verdict" in said
    assert not {"logprobs", "max_tokens", "temperature", *extras} & body.keys()
    assert body["max_completion_tokens"] > 0
    assert found.failed == 0
    assert found.get("log-probs").answer == "no"


LISTED = "lists only local-smol, not local-smoll; it may answer under any name"


def test_a_model_that_its_server_does_not_list_is_told_at_the_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with BadServer(models=["local-smol"]) as server:
        argv = command(tmp_path, server)
        wrong = [word.replace("#m", "#local-smoll") for word in argv]
        right = [word.replace("#m", "#local-smol").replace("/run", "/right") for word in argv]
        assert cli.execute([*wrong, "--dry-run"]) == 0
        assert f"! the server at {server.url} {LISTED}" in capsys.readouterr().out
        assert server.number == 0  # a list is no completion
        assert cli.execute(wrong) == 0
        err = capsys.readouterr().err
        assert 0 <= err.index(LISTED) < err.index("short")  # before the first stage
        assert any(LISTED in n for n in RunFolder.open(tmp_path / "run").read_manifest().notices)
        assert cli.execute([*right, "--dry-run"]) == 0
        assert "lists" not in capsys.readouterr().out
        server.models = ["local-smol", "local-large"]
        assert cli.execute([*wrong, "--dry-run"]) == 0
        told = " ".join(capsys.readouterr().out.split())
        assert "lists 2 models, not local-smoll (did you mean local-smol?); it may" in told
        server.models = []
        assert cli.execute([*wrong, "--dry-run"]) == 0
        assert "lists" not in capsys.readouterr().out
    assert cli.execute([*wrong, "--dry-run"]) == 0  # nobody listens any more
    assert "lists" not in capsys.readouterr().out
