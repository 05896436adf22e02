"""Answers and verdicts that never came: told first, and no result at all where none came."""

from __future__ import annotations

import html
import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import sayso
from sayso import cli, report
from sayso.judges.cascade import CascadeJudge
from sayso.judges.model.judge import LlmJudge
from sayso.judges.rules.judge import RulesJudge
from sayso.protocols import uncle
from sayso.records import Generation, InputError, Message, Request
from sayso.runs import costs as jobs
from sayso.runs.stages import VerdictCounts, unread_run_cautions, why_missing
from sayso.storage.run_folder import RunFolder
from support.judge_world import Shown, judge_engine, truthful
from support.scripted import ScriptedEngine
from support.scripted_world import Mind, chance, facts, records, write

WORLD = facts(4)  # 12 short questions, 4 paragraphs: 60 probes, 24 short and 8 long answers
MIND = Mind(WORLD, lambda f: 0.9 * (chance(f.question) < 0.6))


def run(folder: Path, judge: Any = "rules", model: Any = None, **arguments: Any) -> Any:
    return sayso.run(
        model=model or MIND.engine("base"),
        judge=judge,
        data=str(write(folder / "q.jsonl", records(WORLD))),
        out=folder / "runs" / "run",
        cache=folder / "cache",
        options=uncle.Settings(resamples=100),
        **arguments,
    )


def mumbling() -> ScriptedEngine:
    """A judge none of whose replies can be read."""
    return ScriptedEngine(lambda request: "Let me think about that.", "mumbler")


def cascade(engine: ScriptedEngine) -> CascadeJudge:
    return CascadeJudge(RulesJudge(), LlmJudge(engine, anyway=True))


def printed(result: Any) -> str:
    out = io.StringIO()
    console = Console(file=out, width=100)
    report.render_run(result.estimates, console, result.manifest)
    return " ".join(out.getvalue().split())


@pytest.mark.parametrize("rules_first", [False, True])
def test_a_judge_that_reads_nothing_has_no_numbers(tmp_path: Path, rules_first: bool) -> None:
    engine = mumbling()
    judge = cascade(engine) if rules_first else engine
    with pytest.raises(InputError, match="gave no readable verdict in") as told:
        run(tmp_path, judge, judge_anyway=True)
    assert "sayso judge-check" in str(told.value)
    assert "run the same command to resume" in str(told.value)
    folder = RunFolder.open(tmp_path / "runs" / "run")
    assert folder.tables("verdicts")
    assert folder.tables("generations")  # everything is stored
    assert not folder.tables("metrics")
    assert folder.read_manifest().finished is None
    with pytest.raises(InputError, match="is not finished"):
        sayso.measure(folder.path)
    subject = MIND.engine("base")
    run_again = sayso.run(
        model=subject,
        judge="rules",
        data=str(tmp_path / "q.jsonl"),
        out=tmp_path / "other",
        cache=tmp_path / "cache",
        options=uncle.Settings(resamples=100),
    )
    assert run_again.manifest.finished
    assert not subject.requests  # the model is asked nothing again


def test_the_cascade_tells_what_was_asked_and_what_was_read() -> None:
    judge = cascade(mumbling())
    from sayso.checks.judge import plain_items

    items = plain_items()  # wrong, hedged and wrong, ignorant: the rules are certain of the last
    judge.grade(items)
    (said,) = [n for n in judge.notices if "was asked for" in n]
    assert "asked for 2 of 3 verdicts and gave 0 that could be read" in said


def test_many_missing_verdicts_are_told_before_any_number(tmp_path: Path) -> None:
    def half(seen: Shown, number: int) -> str:
        return "hm" if chance(seen.text(number)) < 0.2 else truthful(seen, number)

    result = run(tmp_path, judge_engine(half))
    (first,) = (c for c in result.manifest.cautions if "of the judge's " in c)
    assert first.endswith("The rest is not a random sample: read the bounds.")
    text = printed(result)
    assert text.index(first) < text.index("facts it knew")
    known = result.get("p_known", "form:short")
    assert known.missing
    bounds = " facts in short answers have no verdict; whatever it would be, it hedged "
    assert text.index(bounds) < text.index("facts it knew")
    page = html.unescape(report.write(result.path).read_text())
    assert first in page
    assert page.index(first) < page.index("facts it knew", page.index("<main>"))
    assert "lowest, highest" in page  # the bounds of each number


def test_a_few_missing_verdicts_are_not_told_first() -> None:
    # 3 of 100 is not more than 3 %; 4 of 100 is; what was never answered is told apart
    assert unread_run_cautions(VerdictCounts(100, 3, 0)) == []
    (said,) = unread_run_cautions(VerdictCounts(100, 4, 0))
    assert said.startswith("4 of the judge's 100 verdicts could not be read")
    (said,) = unread_run_cautions(VerdictCounts(96, 0, 4))
    assert said.startswith("4 of 100 verdicts are missing because these answers are empty, or")
    assert unread_run_cautions(VerdictCounts(0, 0, 0)) == []
    # where all are missing there is no rest
    (said,) = unread_run_cautions(VerdictCounts(0, 0, 70))
    assert said.startswith("70 of 70 verdicts are missing")
    assert "rest" not in said


def test_requests_that_a_slow_server_lost_say_what_helps() -> None:
    request = Request((Message("user", "Q?"),))

    def told(*problems: str) -> str:
        return why_missing([Generation(request, problem=p) for p in problems], "failed")

    late = [f"failed: no answer in 600 s with {n} calls at once (patience: 600 s)" for n in (9, 32)]
    assert told(*late) == (
        "failed because the server was too slow for 32 calls at once (no answer in 600 s); pass "
        "--set concurrency=2, or a longer timeout and patience, and run again"
    )
    # one call alone cannot be fewer
    alone = told("failed: no answer in 5 s (9 times)")
    assert "concurrency" not in alone
    assert "pass a longer timeout" in alone
    other = "failed: status 500 (patience: 600 s)"
    assert told(other, other, late[0]) == f"failed ({other}); run again"


def test_a_model_that_answers_nothing_has_no_numbers(tmp_path: Path) -> None:
    broken = ScriptedEngine(lambda r: Generation(r, problem="failed: status 500"), "broken")
    judge = judge_engine(truthful)
    with pytest.raises(InputError, match="broken answered none of 92 requests") as told:
        run(tmp_path, judge, broken)
    assert "92 failed (failed: status 500); run again" in str(told.value)
    assert not judge.requests  # nothing is judged that is not there
    folder = RunFolder.open(tmp_path / "runs" / "run")
    assert folder.tables("generations")
    assert not folder.tables("metrics")
    assert not (folder.path / "report.html").exists()
    healed = MIND.engine("broken")
    assert run(tmp_path, judge, healed).manifest.finished  # run the same command to resume


class Locked(ScriptedEngine):
    """An endpoint that refuses the key."""

    def complete(self, requests: Any) -> Any:
        next(iter(requests))
        raise InputError("401: the key is refused")
        yield


def test_a_start_that_fails_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="401"):
        run(tmp_path, "rules", Locked(MIND, "locked"))
    assert not (tmp_path / "runs").exists()
    # a folder that was there stays, and so does what is in it
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "mine.txt").write_text("x")
    with pytest.raises(InputError, match="401"):
        run(tmp_path, "rules", Locked(MIND, "locked"))
    assert [p.name for p in (tmp_path / "runs").iterdir()] == ["mine.txt"]


def test_a_failed_start_in_a_folder_that_has_a_run_takes_nothing(tmp_path: Path) -> None:
    run(tmp_path)
    before = sorted(p.name for p in (tmp_path / "runs" / "run").rglob("*"))
    (tmp_path / "cache" / "replies.sqlite").unlink()
    with pytest.raises(InputError, match="401"):
        run(tmp_path, "rules", Locked(MIND, "base"))
    assert sorted(p.name for p in (tmp_path / "runs" / "run").rglob("*")) == before


def test_the_command_ends_with_2_and_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:

    broken = ScriptedEngine(lambda r: Generation(r, problem="failed: status 500"), "broken")
    monkeypatch.setattr(jobs, "open_model", lambda name, **options: broken)
    data = write(tmp_path / "q.jsonl", records(WORLD))
    argv = ["run", "uncle", "--model", "openai:broken", "--data", str(data)]
    argv += ["--out", str(tmp_path / "run"), "--set", f"cache={tmp_path / 'cache'}"]
    assert cli.execute(argv) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1].startswith("sayso: broken answered none of 92 requests")
    assert not (tmp_path / "run" / "report.html").exists()


def test_another_choice_of_questions_is_named_by_its_flag(tmp_path: Path) -> None:
    given: dict[str, Any] = {
        "model": MIND.engine("base"),
        "data": str(write(tmp_path / "q.jsonl", records(WORLD))),
        "out": tmp_path / "run",
        "cache": tmp_path / "cache",
        "options": uncle.Settings(resamples=100),
    }
    told = sayso.run(**given, limit=1).manifest.notices
    assert any(n.startswith("1 entity: 3 short questions, 1 paragraph") for n in told)
    with pytest.raises(
        InputError,
        match=r"contains a run of uncle .* with --limit 1, not unset; repeat",
    ):
        sayso.run(**given)


@pytest.mark.parametrize(
    ("problem", "says"),
    [
        ("failed: content filter", "were stopped by the server's content filter"),
        ("failed: the model called a tool instead of answering", "ended in a call of a tool"),
    ],
)
def test_a_cause_that_would_come_again_is_named(tmp_path: Path, problem: str, says: str) -> None:
    """Asking again cannot help; beside another failure it can."""
    broken = ScriptedEngine(lambda r: Generation(r, problem=problem), "broken")
    with pytest.raises(InputError, match=says) as told:
        run(tmp_path, judge_engine(truthful), broken)
    assert "to ask again" not in str(told.value)
    mixed = ScriptedEngine(
        lambda r: Generation(r, problem=problem if r.greedy else "failed: status 500"), "mixed"
    )
    (tmp_path / "mixed").mkdir()
    with pytest.raises(InputError, match=says) as told:
        run(tmp_path / "mixed", judge_engine(truthful), mixed)
    assert "failed (failed: status 500); run again" in str(told.value)
    assert "to ask again" in str(told.value)
