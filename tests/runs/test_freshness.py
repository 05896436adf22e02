"""How old cached answers are, who gave them, and asking everything anew."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

import sayso
from sayso.protocols import uncle
from sayso.protocols.settings import replace
from sayso.records import InputError, Request, ask, request_key
from sayso.runs import asking
from sayso.runs.asking import CachedEngine
from sayso.runs.dry_run import estimate_job
from sayso.runs.freshness import ages as freshness
from sayso.runs.freshness.ages import Ages, Period, ago, plain_address
from sayso.runs.job import Job, one_period
from sayso.runs.result import Result
from sayso.storage.cache import Cache, ReplyOrigin
from support.scripted import ScriptedEngine
from support.scripted_world import Mind, facts, records, write
from support.tables import tabled

WORLD = facts(4)  # 12 short questions, 4 long ones
KNOWING = Mind(WORLD, lambda f: 1.0)
DAY = 86_400.0
SMALL = replace(uncle.Settings(), {"resamples": 100, "probe.k": 3})


class Served(ScriptedEngine):
    """What answers behind an endpoint's name, at an address."""

    def __init__(self, script: Any = KNOWING, address: str = "http://a/v1", **more: Any) -> None:
        super().__init__(script, "m", **more)
        self.identity = self.base = "api:m"
        self.address = address


def job(folder: Path, engine: Any, name: str = "run", **more: Any) -> dict[str, Any]:
    data = str(write(folder / "q.jsonl", records(WORLD)))
    own = {"model": engine, "data": data, "out": folder / name, "cache": folder / "cache"}
    return {**own, "options": SMALL, **more}


def run(folder: Path, engine: Any, name: str = "run", **more: Any) -> Result:
    return sayso.run(report=False, **job(folder, engine, name, **more))


def given(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let answers from now on be given so many seconds ago."""
    now = time.time()
    monkeypatch.setattr(asking.time, "time", lambda: now - seconds)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "less than a minute"),
        (29, "less than a minute"),
        (60, "1 minute"),
        (3_000, "50 minutes"),
        (7_200, "2 hours"),
        (100_000, "28 hours"),
        (3 * DAY, "3 days"),
        (4_000 * DAY, "4000 days"),
    ],
)
def test_ages_in_plain_words(seconds: float, words: str) -> None:
    assert ago(seconds) == words


def test_a_line_says_how_old_answers_are_and_who_gave_them() -> None:
    now = time.time()
    ages = Ages()
    for _ in range(144):
        ages.add(ReplyOrigin(now - 3_600 * 5, "http://a/v1"))
    assert ages.line(144, "answers") == (
        "144 of 144 answers are from the cache, given 5 hours ago by http://a/v1"
    )
    ages.add(ReplyOrigin(now - 3 * DAY, "http://b/v1"))
    ages.add(ReplyOrigin(now - 60, "http://c/v1,http://d/v1"))
    ages.add(None)
    line = ages.line(200, "answers")
    day = freshness.date_of(now - 3 * DAY)
    assert line == (
        f"147 of 200 answers are from the cache, given between 3 days ({day}) and 1 minute ago by "
        "http://a/v1, http://b/v1 and 2 other addresses, 1 of them at an unknown time"
    )
    unknown, local = Ages(), Ages()
    unknown.add(None)
    local.add(ReplyOrigin(now))
    assert unknown.line(1, "answers") == (
        "1 of 1 answers is from the cache, given at an unknown time"
    )
    assert local.line(2, "answers").endswith("given less than a minute ago")
    assert ages.record()["answers"] == 147
    assert ages.record()["addresses"] == "http://a/v1, http://b/v1, http://c/v1, http://d/v1"
    assert Ages().record() == {}


@tabled
def test_addresses_are_shown_without_keys(address: str, shown: str) -> None:
    assert plain_address(address).startswith(shown)
    assert "secret" not in plain_address(address)
    assert plain_address(address).isprintable()


def test_a_run_says_how_old_its_answers_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not [n for n in run(tmp_path, Served()).manifest.notices if "cache" in n]
    manifest = run(tmp_path, Served(), "again").manifest
    (told,) = [n for n in manifest.notices if "from the cache" in n]
    total = manifest.tokens["requests"]
    assert told == (
        f"{total} of {total} answers are from the cache, given less than a minute ago by "
        "http://a/v1"
    )
    assert manifest.cached["answers"] == total
    assert manifest.cached["addresses"] == "http://a/v1"
    assert not [c for c in manifest.cautions if "cache" in c]
    # eight days later, at another address
    now = time.time()
    for module in (asking, freshness):
        monkeypatch.setattr(module.time, "time", lambda: now + 8 * DAY)
    cautions = run(tmp_path, Served(address="http://b/v1"), "later").manifest.cautions
    assert any(f"{total} of the answers" in c and "more than 7 days old" in c for c in cautions)
    assert any("given by http://a/v1; this run asks http://b/v1" in c for c in cautions)


def test_a_local_models_answers_grow_old_without_a_caution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its identity is a hash of its weights: it cannot be another one."""
    run(tmp_path, KNOWING.engine())
    now = time.time()
    for module in (asking, freshness):
        monkeypatch.setattr(module.time, "time", lambda: now + 90 * DAY)
    manifest = run(tmp_path, KNOWING.engine(), "later").manifest
    assert any("given 90 days ago" in n for n in manifest.notices)
    assert not [c for c in manifest.cautions if "cache" in c]


def keys_of(engine: Any, requests: list[Request]) -> list[bytes]:
    return [request_key(request, engine.identity) for request in requests]


def test_fresh_asks_everything_again_and_keeps_what_was_there(tmp_path: Path) -> None:
    first, second, third = Served(), Served(lambda r: "Oslo"), Served()
    run(tmp_path, first)
    run(tmp_path, second, "anew", fresh=True)
    assert len(second.requests) == len(first.requests)
    key = request_key(first.requests[0], first.identity)
    with Cache(tmp_path / "cache") as cache:
        assert cache.get_many([key])[key].text == "Oslo"  # the newest is used from now on
        assert [one.reply.text for one in cache.aside(key)] == [KNOWING(first.requests[0]).text]
    run(tmp_path, third, "after", stale_ok=True)
    assert len(third.requests) == 3  # whether the model is the same
    # a finished run that is repeated with --fresh is asked anew
    run(tmp_path, fourth := Served(), "anew", fresh=True)
    assert len(fourth.requests) == len(first.requests)


def test_a_fresh_run_that_was_stopped_pays_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path, first := Served())
    total = len(first.requests)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, stopped := Served(kill_after=20), "anew", fresh=True)
    assert len(stopped.requests) == 20
    opened = Job(**job(tmp_path, Served(), "anew", fresh=True))
    (asked,) = [s for s in estimate_job(opened).stages if s.name == "short"]
    assert asked.cached <= 20
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, again := Served(kill_after=30), "anew", fresh=True)
    run(tmp_path, last := Served(), "anew", fresh=True)
    checks = 2 * 3  # whether the model is the same, at both starts
    assert len(stopped.requests) + len(again.requests) + len(last.requests) == total + checks
    assert not list((tmp_path / "cache" / "fresh").iterdir())  # it is finished


def test_a_fresh_run_that_was_left_alone_for_a_week_begins_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    period = Period(tmp_path, "a command")
    assert not period.goes_on
    period.begin()
    assert Period(tmp_path, "a command").since == period.since
    assert Period(tmp_path, "a command").goes_on
    assert not Period(tmp_path, "another command").goes_on
    now = time.time()
    monkeypatch.setattr(freshness.time, "time", lambda: now + 8 * DAY)
    assert not Period(tmp_path, "a command").goes_on


def test_a_start_that_failed_leaves_no_period(tmp_path: Path) -> None:
    def broken(request: Request) -> Any:
        raise InputError("nothing answers")

    with pytest.raises(InputError, match="nothing answers"):
        run(tmp_path, Served(broken), fresh=True)
    assert not (tmp_path / "cache" / "fresh").exists()


def test_what_one_command_asks_for_several_runs_is_asked_once(tmp_path: Path) -> None:
    engine = Served()
    run(tmp_path, Served())
    jobs = [Job(**job(tmp_path, engine, name, fresh=True)) for name in ("one", "two")]
    with one_period(jobs) as own:
        for each in own:
            sayso.runs.run.execute_job(each)
    assert len(engine.requests) == len(set(keys_of(engine, engine.requests)))


def test_two_addresses_of_one_name_share_no_answers_in_one_command(tmp_path: Path) -> None:
    other = Served(lambda request: "Rome", address="http://b/v1")
    jobs = [Job(**job(tmp_path, e, f"at-{e.address[7]}")) for e in (Served(), other)]
    with one_period(jobs) as (first, second):
        sayso.runs.run.execute_job(first)
        with pytest.raises(InputError, match="http://a/v1 answers under the same name"):
            sayso.runs.run.execute_job(second)
    assert other.requests == []


def brief_reply(request: Request) -> str:
    text = request.messages[-1].content
    return "different" if "different" in text else "sure" if "unsure" in text else "yes"


def test_replies_of_another_address_of_the_judge_are_told(tmp_path: Path) -> None:
    def judge(address: str) -> Served:
        judge = Served(brief_reply, address=address)
        judge.identity = judge.base = "api:judge"
        return judge

    settings = {"judge_prompt": "brief"}
    run(tmp_path, KNOWING.engine(), judge=judge("http://a/v1"), **settings)
    found = run(tmp_path, KNOWING.engine(), "later", judge=judge("http://b/v1"), **settings)
    told = [c for c in found.manifest.cautions if "of the answers of the judge" in c]
    assert len(told) == 1
    assert "given by http://a/v1; this run asks http://b/v1" in told[0]


def test_an_old_cache_is_asked_anew_too(tmp_path: Path) -> None:
    engine = Served(lambda request: "new")
    question = ask("Who?", temperature=0)
    (key,) = keys_of(engine, [question])
    with Cache(tmp_path) as cache:
        cache.put(key, next(ScriptedEngine(lambda r: "old").complete([question]))[1])
    with Cache(tmp_path) as cache:
        old = CachedEngine(engine, cache)
        assert [g.text for _, g in old.complete([question])] == ["old"]
        assert old.notices == ["1 of 1 answers is from the cache, given at an unknown time"]
        new = CachedEngine(engine, cache, period=Period(tmp_path, "x"))
        assert new.missing([question]) == [question]
        assert [g.text for _, g in new.complete([question])] == ["new"]
        assert [one.reply.text for one in cache.aside(key)] == ["old"]
        assert new.missing([question]) == []


@pytest.mark.parametrize("name", ["fresh", "stale_ok"])
def test_flags_that_mean_nothing_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="expected true or false"):
        run(tmp_path, Served(), **{name: "yes"})
    if name == "stale_ok":
        with pytest.raises(InputError, match="stale_ok is for endpoints"):
            run(tmp_path, KNOWING.engine(), stale_ok=True)
