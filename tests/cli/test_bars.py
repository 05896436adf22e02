"""Progress as a person sees it, and what Ctrl-C does: once, and twice."""

from __future__ import annotations

import io
import os
import signal
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from sayso import cli
from sayso.cli import flags
from sayso.cli.progress import Bars, _Stage, pace, span
from sayso.options import OPTIONS, option_names
from sayso.records import Generation, Request, Usage, ask
from sayso.runs import costs as jobs
from sayso.runs.freshness.same_model import MOST
from support.scripted import ScriptedEngine
from support.scripted_world import Mind, facts, records, write
from support.tables import tabled

WORLD = facts(4)
MIND = Mind(WORLD, lambda f: 0.7)


def terminal() -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=200, color_system=None)


def seen(console: Console) -> str:
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def answer(dollars: float | None) -> Generation:
    return Generation(ask("x"), usage=Usage(30, 12, dollars=dollars))


@pytest.mark.parametrize(("paid", "said"), [(0.25, "$0.500"), (None, ""), (0.0, "")])
def test_tokens_and_cost_are_shown_where_they_are_known(paid: float | None, said: str) -> None:
    console = terminal()
    with Bars(console) as bars:
        bars.start("asking: probe", 10, 3)
        for _ in range(2):
            bars.advance("asking: probe", answer(paid), paid)
        bars.end("asking: probe")
        bars._bars.refresh()
        text = seen(console)
    assert "asking: probe" in text
    assert "5/10" in text
    assert "84 tokens" in text
    assert ("$" in text) == bool(said)
    assert said in text


def test_one_line_a_stage_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with Bars(Console(file=io.StringIO())) as bars:
        bars.start("what it can do", 1, 0)  # one question alone is no stage
        bars.start("asking: probe", 1000, 3)
        bars.advance("asking: probe", answer(0.1), 0.1)
        bars.note("look \x1b[31mhere")
        bars.end("asking: probe")
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "sayso: asking: probe: 1,000 requests, 3 from the cache\nsayso: look [31mhere\n"


@tabled
def test_the_pace_is_that_since_the_stage_began(
    answered: int, left: int, seconds: float, told: str
) -> None:
    assert pace(answered, left, seconds) == told


def test_a_slow_beginning_is_left_behind() -> None:
    assert pace(30, 70, 60.0, since=(30.0, 5)) == "50.0/min, about 84 s left"
    assert pace(5, 5, 60.0, since=(30.0, 5)) == "5.0/min, about 60 s left"  # none since then
    stage = _Stage("asking", 100, 0, began=10.0)
    for second in range(41, 61):  # nothing for half a minute (a model is opened), then one a second
        stage.advance(10.0 + second)
    assert stage.pace(70.0) == "40.0/min, about 2 min left"  # 20 in the last half minute
    for second in range(61, 91):
        stage.advance(10.0 + second)
    assert stage.pace(100.0) == "1.0/s, about 50 s left"
    assert len(stage.marks) <= 50


def test_there_is_no_estimate_while_nothing_arrives() -> None:
    stage = _Stage("asking", 60, 0, began=0.0)
    for second in range(1, 59):
        stage.advance(float(second))
    assert stage.pace(61.0).endswith("/min, about 2 s left")
    assert stage.pace(70.0).endswith("/min, no answer for 12 s")
    stage.advance(75.0)
    assert stage.pace(76.0).endswith(" s left")
    assert stage.pace(160.0).endswith("/min, no answer for 85 s")
    stage = _Stage("asking", 118, 0, began=0.0)
    for second in range(1, 21):  # then its server is gone
        stage.advance(float(second))
    assert stage.pace(24.0).endswith(" left")
    for later in (30.0, 60.0, 600.0):
        assert stage.pace(later).endswith(f"no answer for {span(later - 20)}")


def test_bursts_do_not_make_the_estimate_swing() -> None:
    """Batches of 8 take 4 s each: 2/s, told right after a batch and right before the next."""
    stage = _Stage("asking", 400, 0, began=0.0)
    for batch in range(1, 26):
        for _ in range(8):
            stage.advance(4.0 * batch)
        if batch >= 5:
            for later in (0.1, 3.9):
                told = float(stage.pace(4.0 * batch + later).split("/")[0].replace(",", ""))
                assert 1.4 <= told <= 2.5


def test_what_came_from_the_cache_is_in_no_rate(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("sayso.cli.progress.time.monotonic", lambda: now[0])
    bars = Bars(Console(file=io.StringIO()))
    bars.start("asking: probe", 2_630, 2_130)
    stage = bars._stage
    assert stage is not None
    now[0] = 30.0
    assert stage.text(now[0]) == "asking: probe: 2,130 of 2,630, no answer yet after 30 s"
    for _ in range(10):  # a batch that comes at once, after half a minute of work
        bars.advance("asking: probe", answer(None), None)
    now[0] = 60.0
    assert stage.text(now[0]) == "asking: probe: 2,140 of 2,630, 10.0/min"
    for _ in range(15):
        bars.advance("asking: probe", answer(None), None)
    # fifteen in the last half minute
    assert stage.text(now[0]) == "asking: probe: 2,155 of 2,630, 30.0/min, about 16 min left"
    assert capsys.readouterr().err == "sayso: asking: probe: 2,630 requests, 2,130 from the cache\n"


def test_a_bar_tells_the_pace_of_the_answers_since_it_began() -> None:
    console = terminal()
    with Bars(console) as bars:
        bars.start("asking: probe", 1_000, 900)
        bars._bars.refresh()
        assert "/s" not in seen(console)
        assert bars._task is not None
        assert bars._stage is not None
        bars._stage.began -= 10.0
        for _ in range(40):
            bars.advance("asking: probe", answer(None), None)
        bars._bars.refresh()
    assert "940/1000 8.0/s, about 8 s left" in seen(console)


def test_without_a_terminal_a_line_comes_regularly(capsys: pytest.CaptureFixture[str]) -> None:
    with Bars(Console(file=io.StringIO()), every=0.05) as bars:
        bars.start("asking: probe", 10, 0)
        bars.advance("asking: probe", answer(None), None)
        time.sleep(0.2)
        bars.end("asking: probe")
        time.sleep(0.2)
    quiet = capsys.readouterr().err
    lines = quiet.splitlines()
    assert lines[0] == "sayso: asking: probe: 10 requests"
    assert sum("asking: probe: 1 of 10, " in line for line in lines) >= 2
    assert lines[-1] == "sayso: working on the answers, 0 s so far"
    time.sleep(0.15)
    assert capsys.readouterr().err == ""
    with Bars(Console(file=io.StringIO()), every=0.05, idle=False):
        time.sleep(0.2)
    assert capsys.readouterr().err == ""


def test_what_is_done_before_the_first_reply_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with Bars(Console(file=io.StringIO()), every=0.05) as bars:
        for what in ("loading the model", "reading the cache"):
            bars.doing(what)
            time.sleep(0.2)
        bars.start("asking: probe", 10, 0)
        bars.end("asking: probe")
        bars.doing("computing the numbers")
        time.sleep(0.2)
    lines = [line.partition(",")[0] for line in capsys.readouterr().err.splitlines()]
    assert list(dict.fromkeys(lines)) == [
        "sayso: loading the model",
        "sayso: reading the cache",
        "sayso: asking: probe: 10 requests",
        "sayso: computing the numbers",
    ]
    console = terminal()
    with Bars(console) as bars:
        bars.doing("loading the model")
        bars._bars.refresh()
        assert "loading the model" in seen(console)
        assert "0/?" not in seen(console)
        bars.start("asking: probe", 10, 0)
        assert [task.description for task in bars._bars.tasks] == ["asking: probe"]


def test_one_question_has_no_bar() -> None:
    console = terminal()
    with Bars(console) as bars:
        bars.start("judge", 1, 0)
        bars.advance("judge", answer(0.1), 0.1)
        bars.end("judge")
        bars._bars.refresh()
    assert "judge" not in seen(console)


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_stops_at_once_where_nothing_is_paid_for() -> None:
    bars = Bars(terminal())
    with bars:
        bars.start("asking: probe", 10, 0, remote=False)
        with pytest.raises(KeyboardInterrupt):
            interrupt()
    assert not bars.stopping


def test_the_first_ctrl_c_waits_and_the_second_does_not() -> None:
    console = terminal()
    before = signal.getsignal(signal.SIGINT)
    with Bars(console) as bars:
        bars.start("asking: probe", 10, 0, remote=True)
        interrupt()
        assert bars.stopping
        assert seen(console).count("waiting for the requests") == 1
        with pytest.raises(KeyboardInterrupt):
            interrupt()
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (12, "waiting for 12 requests already sent (they are paid for)"),
        (1, "waiting for 1 request already sent (it is paid for)"),
        (0, "no request is in flight"),
    ],
)
def test_the_first_ctrl_c_holds_whoever_asks_and_says_what_comes(number: int, said: str) -> None:
    console = terminal()
    held: list[int] = []

    def hold() -> int:
        held.append(number)
        return number

    with Bars(console) as bars:
        bars.start("asking: probe", 100, 0, remote=True)
        bars.hold = hold
        interrupt()
        assert held == [number]
        assert f"stopping: {said}" in seen(console)
        bars.end("asking: probe")
        assert bars.hold is None  # the next stage is asked by another


class Paid(ScriptedEngine):
    """An endpoint that takes four requests at a time; somebody presses Ctrl-C at the tenth."""

    def __init__(self, presses: int) -> None:
        super().__init__(MIND, "far", logprob=-0.5)
        self.identity = "api:far"
        self.presses = presses
        self.answered = 0

    def complete(self, requests: Iterable[Request]) -> Iterator[tuple[int, Generation]]:
        feed, taken, done = iter(requests), [], 0
        while True:
            while len(taken) - done < 4 and (request := next(feed, None)) is not None:
                taken.append(request)
                self.requests.append(request)
            if done == len(taken):
                return
            if self.answered == 10:
                for _ in range(self.presses):
                    interrupt()
            self.answered += 1
            yield done, self._answer(taken[done])
            done += 1


def run(folder: Path, monkeypatch: pytest.MonkeyPatch, engine: ScriptedEngine) -> int:
    monkeypatch.setattr(jobs, "open_model", lambda name, **options: engine)
    data = write(folder / "q.jsonl", records(WORLD))
    argv = ["run", "uncle", "--model", "openai:far", "--data", str(data), "--set", "resamples=100"]
    return cli.execute([*argv, "--out", str(folder / "run"), "--set", f"cache={folder / 'cache'}"])


def test_what_was_asked_for_is_kept_after_one_ctrl_c(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = Paid(presses=1)
    assert run(tmp_path, monkeypatch, first) == 130
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("stopping: waiting") == 1
    assert err.count("sayso: stopped; run the same command to resume") == 1
    assert "Traceback" not in err
    assert first.answered == len(first.requests) == 14  # ten, and the four on their way
    second = Paid(presses=0)
    assert run(tmp_path, monkeypatch, second) == 0
    # but for what is asked again to see whether the model is the same
    again = {repr(r) for r in first.requests} & {repr(r) for r in second.requests[MOST:]}
    assert not again


def test_two_ctrl_c_stop_at_once_and_lose_no_answer_that_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = Paid(presses=2)
    assert run(tmp_path, monkeypatch, first) == 130
    assert "Traceback" not in capsys.readouterr().err
    assert first.answered == 10
    second = Paid(presses=0)
    assert run(tmp_path, monkeypatch, second) == 0
    came, lost = first.requests[:10], first.requests[10:]
    assert len(lost) == 4  # those that were on their way
    asked = [repr(r) for r in second.requests]
    assert all(repr(r) in asked for r in lost)
    # but for what is asked again to see whether the model is the same
    assert sum(repr(r) in asked for r in came) <= MOST


def test_what_a_run_alone_declares_reaches_its_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """What several commands share is one field for all of them: tests/test_options.py."""
    found: list[Any] = []
    monkeypatch.setattr(
        "sayso.cli.running._price", lambda jobs, *a, **k: found.extend(jobs.values())
    )
    argv = "run uncle --dry-run --model openai:x --judge rules+openai:y --name small --out place "
    argv += "--data file:x.csv --columns question=q --set domains=a --set domains=b"
    assert cli.execute(argv.split()) == 0
    (made,) = found
    wanted = {
        "model": "openai:x", "judge": "rules+openai:y", "name": "small", "out": Path("place"),
        "data": "file:x.csv#question=q", "domains": ("a", "b"),
    }  # fmt: skip
    assert {name: getattr(made, name) for name in wanted} == wanted
    of_run = set(option_names(flags.RunFlags)) - set(option_names(*OPTIONS))
    shown = option_names(flags.ShownFlags, flags.FigureFlags)
    elsewhere = {*shown, "dry_run", "pilot", "columns", "answers", "logprobs"}  # no field of a job
    assert of_run - elsewhere == wanted.keys() - {"domains"}
