"""Models that think behind an endpoint: answered at once, few requests paid twice."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from bad_server import BadServer, Body

from sayso import cli
from sayso.engines import open_model
from sayso.engines.room import MOST
from sayso.records import Generation, Request, ask, request_key, room_of, signature_text
from sayso.runs.asking import CachedEngine
from sayso.runs.measure import load_run
from sayso.storage.cache import Cache
from sayso.storage.run_folder import RunFolder
from support.scripted_world import facts, records, write

WORLD = facts(7)  # 21 facts, 7 paragraphs


def command(folder: Path, server: BadServer, *more: str) -> list[str]:
    data = str(write(folder / "q.jsonl", records(WORLD)))
    argv = ["run", "uncle", "--model", f"{server.url}#m", "--data", data, "--set", "resamples=100"]
    argv += ["--set", "probe.k=1", "--set", f"cache={folder / 'cache'}"]
    return [*argv, "--out", str(folder / "run"), *more]


def thinking(tokens: Callable[[Body], int] | int, **switches: object) -> BadServer:
    of = tokens if callable(tokens) else lambda body: tokens
    given = {"thought": "field", "context": 40_000, "thinks": of, **switches}
    return BadServer(**given)


def heavy_tailed(body: Body) -> int:
    """Lognormal lengths of median 700 and sigma .8: one in a hundred takes 4,500 and more."""
    asked = json.dumps([body["messages"], body["draw"]])
    drawn = np.random.default_rng(int(hashlib.sha256(asked.encode()).hexdigest()[:8], 16))
    return round(700 * math.exp(0.8 * drawn.standard_normal()))


def answers(folder: Path) -> list[Generation]:
    run = RunFolder.open(folder)
    return [g for t in run.tables("generations") for g in run.read(t, Generation)]


def paid_twice(server: BadServer) -> int:
    return sum(number > 1 for number in server.answered.values())


@pytest.mark.parametrize(
    ("length", "thought"),
    [(200, "field"), (600, "inline"), (3000, "field"), (heavy_tailed, "field")],
)
def test_a_reasoning_model_is_answered_at_once(
    tmp_path: Path,
    length: Callable[[Body], int] | int,
    thought: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with thinking(length, thought=thought, choices=1) as server:
        assert cli.execute(command(tmp_path, server)) == 0
        requests = len(server.answered)
        assert requests == 21 * 3 + 7 * 2
        assert paid_twice(server) <= 0.1 * requests
        assert sum(server.answered.values()) - requests <= 0.1 * requests
        stored = answers(tmp_path / "run")
        assert [g.problem for g in stored] == [None] * requests
        assert all(g.finish == "stop" for g in stored)  # and no answer lost its own end
        assert all(b["max_tokens"] in (256, 1024) for b in server.bodies[:1])
        sent = server.number
        assert cli.execute(command(tmp_path, server)) == 0  # nothing but the check of the model
        tokens = RunFolder.open(tmp_path / "run").read_manifest().tokens
        assert server.number == sent + tokens["asked_again"]
        assert tokens["asked"] == tokens["cut_off"] == 0
    err = capsys.readouterr().err
    assert err.count("the model thinks") in (1, 2)  # told when it is settled, and when it grows
    run, _ = load_run(tmp_path / "run")[:2]
    room = max(map(room_of, stored))
    assert f"|room:{room}|" in signature_text(run.signature(a="b"))
    assert 256 + room <= max(b["max_tokens"] for b in server.bodies) <= 1024 + MOST


def ask_all(folder: Path, server: BadServer, requests: list[Request]) -> list[Generation]:
    """Ask through the cache in ``folder``, as a judge, with an engine that knows nothing yet."""
    with Cache(folder) as cache:
        engine = CachedEngine(open_model(f"{server.url}#m"), cache, who="judge")
        replies = dict(engine.complete(requests))
        engine.close()
    return [replies[index] for index in range(len(requests))]


ASKED = [ask(f"Who wrote book {n}?", max_tokens=256, temperature=0) for n in range(40)]


def test_a_level_of_thinking_that_nothing_shows_is_told(tmp_path: Path) -> None:
    for folder, thinks in ((tmp_path / "no", None), (tmp_path / "yes", lambda body: 200)):
        folder.mkdir()
        with thinking(0, thinks=thinks, thought="field" if thinks else "") as server:
            cli.execute(command(folder, server, "--thinking", "low"))
        told = " ".join(RunFolder.open(folder / "run").read_manifest().cautions)
        assert ("Thinking low was asked for, but none" in told) == (thinks is None)


def test_a_run_that_goes_on_begins_with_its_room(tmp_path: Path) -> None:
    with thinking(3000) as server:
        first = ask_all(tmp_path, server, ASKED[:6])
        before = len(server.bodies)
        every = ask_all(tmp_path, server, ASKED)
        assert every[:6] == first
        rooms = {b["max_tokens"] - 256 for b in server.bodies[before:]}
        assert rooms == {max(map(room_of, first))} == {8192}
        assert [g.problem for g in every] == [None] * 40
        assert len(server.bodies) == before + 34


def test_answers_that_an_earlier_version_lost_are_asked_again(tmp_path: Path) -> None:
    with thinking(600) as server:
        engine = open_model(f"{server.url}#m")
        lost = Generation(ASKED[0], thinking="hm", problem="truncated", finish="length")
        with Cache(tmp_path) as cache:
            for request in ASKED:
                cache.put(request_key(request, engine.identity), lost)
        engine.close()
        assert [g.problem for g in ask_all(tmp_path, server, ASKED)] == [None] * 40
        assert len(server.bodies) <= 44


def test_a_context_bounds_the_room_and_nothing_is_paid_for_again(tmp_path: Path) -> None:
    with thinking(3000, context=4096) as server:
        assert {g.problem for g in ask_all(tmp_path, server, ASKED)} == {"truncated"}
        paid = sum(server.answered.values())
        assert paid <= 44
        assert {g.problem for g in ask_all(tmp_path, server, ASKED)} == {"truncated"}
        assert sum(server.answered.values()) == paid
        server.thinks = lambda body: 1000  # of these a context holds the thoughts
        more = [ask(f"Who built house {n}?", max_tokens=256, temperature=0) for n in range(20)]
        assert {g.problem for g in ask_all(tmp_path, server, more)} == {None}


def test_room_that_the_user_fixed_is_never_raised(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with thinking(3000, choices=1) as server:
        assert cli.execute(command(tmp_path, server, "--thinking", "700")) == 2
        assert {b["max_tokens"] for b in server.bodies} == {256 + 700, 1024 + 700}
        assert paid_twice(server) == 0
    err = capsys.readouterr().err
    assert "--thinking with a number" in err
    assert "the model thinks" not in err
