"""What a run tells about its requests, and whose probes it may borrow."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

import sayso
from sayso.protocols import uncle
from sayso.protocols.settings import replace
from sayso.records import Generation, InputError, Request
from sayso.runs.result import Result
from sayso.storage.cache import Cache
from support.scripted import ScriptedEngine
from support.scripted_world import Mind, chance, facts, records, write

WORLD = facts(4)  # 12 short questions, 4 long ones
MIND = Mind(WORLD, lambda f: 0.9 * (chance(f.question) < 0.6))


def run(folder: Path, name: str, engine: Any = None, golds: str = "", **fields: Any) -> Result:
    """Run the small world with some settings."""
    (folder / (golds or "true")).mkdir(exist_ok=True)
    rows = records(WORLD, (lambda f: golds) if golds else (lambda f: f.value))
    return sayso.run(
        report=False,
        model=engine or MIND.engine("base"),
        data=str(write(folder / (golds or "true") / "q.jsonl", rows)),
        out=folder / name,
        cache=folder / "cache",
        options=replace(uncle.Settings(), {"resamples": 100, **fields}),
    )


def test_requests_that_do_not_fit_are_counted_and_told(tmp_path: Path) -> None:
    engine = ScriptedEngine(MIND, "small", logprob=-0.5, context=300)
    told = run(tmp_path, "run", engine).manifest.notices
    assert any(n.startswith("long: 8 of 8 requests could not be asked") for n in told)
    assert not any(n.startswith("short:") for n in told)


def test_failures_are_told_again_as_long_as_they_last(tmp_path: Path) -> None:
    def broken(request: Request) -> Any:
        text = request.messages[0].content
        failed = Generation(request, problem="failed: no reply")
        return failed if text.startswith("Write") else MIND(request)

    for _ in range(2):
        engine = ScriptedEngine(broken, "broken", logprob=-0.5)
        told = run(tmp_path, "run", engine).manifest.notices
        assert any("8 of 8 requests failed (failed: no reply)" in n for n in told)
    assert len(engine.requests) == 8  # only what failed is asked again


def test_answers_cut_off_are_told_also_when_they_come_from_the_cache(tmp_path: Path) -> None:
    for _ in range(2):
        engine = ScriptedEngine(lambda request: "one two three", "wordy", logprob=-0.5)
        told = run(tmp_path, "run", engine, **{"answer.long_tokens": 2}).manifest.notices
        assert any(n.startswith("long: 8 of 8 answers reached the token limit") for n in told)
    assert not engine.requests


@pytest.mark.parametrize(
    ("base", "said"),
    [
        ({"probe.k": 3}, "it has 3 draws at T=1.0, not 5 at T=1"),
        ({"probe.temperature": 0.3}, "it has 5 draws at T=0.3, not 5 at T=1"),
        ({"golds": "nothing"}, "judged against other golds for 12 of the questions"),
    ],
)
def test_probes_drawn_or_judged_otherwise_are_not_borrowed(
    tmp_path: Path, base: dict[str, Any], said: str
) -> None:
    first = run(tmp_path, "base", **base)
    with pytest.raises(InputError, match=said):
        run(tmp_path, "run", MIND.engine("taught"), known_from=str(first.path))
    assert not (tmp_path / "run").exists()  # nothing was begun


def test_fewer_draws_may_be_borrowed_and_a_strange_base_is_told(tmp_path: Path) -> None:
    first = run(tmp_path, "base")
    fields = {"known_from": str(first.path), "probe.k": 3}
    told = run(tmp_path, "run", MIND.engine("other"), **fields).manifest.cautions
    assert told[0].startswith("What counts as known was decided by the draws of base")
    taught = ScriptedEngine(MIND, "taught", logprob=-0.5, base="scripted:base")
    told = run(tmp_path, "kin", taught, known_from=str(first.path)).manifest.notices
    assert not any("what is known" in n for n in told)


class Forgetful(ScriptedEngine):
    """An engine whose teacher-forced pass fails."""

    def force(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], want: Sequence[str]
    ) -> Iterator[tuple[int, Generation]]:
        for index, (request, _) in enumerate(items):
            yield index, Generation(request, problem="context")


def test_a_failed_pass_takes_nothing_from_a_reply(tmp_path: Path) -> None:
    """Replies with log-probs but no entropies keep the former when the latter cannot be had."""

    def half(request: Request) -> Generation:
        return msgspec.structs.replace(MIND(request), entropies=None)

    first = run(tmp_path, "one", ScriptedEngine(half, "half", logprob=-0.5))
    second = run(tmp_path, "two", Forgetful(half, "half", logprob=-0.5))
    for name in ("auroc_incorrect_within", "unspoken_knowledge"):
        values = [
            {e.where: e.value for e in r.estimates if e.name == name} for r in (first, second)
        ]
        assert values[0] == values[1]


def test_a_cache_of_a_newer_sayso_is_told_before_a_model_loads(tmp_path: Path) -> None:
    with Cache(tmp_path) as cache:
        place = cache.path
    with contextlib.closing(sqlite3.connect(place)) as db:
        db.execute("PRAGMA user_version = 99")
    broken = tmp_path / "weights"
    broken.mkdir()
    (broken / "config.json").write_text("{")  # what loading it would end in
    with pytest.raises(InputError, match="newer sayso"):
        sayso.run(model=f"hf:{broken}", cache=tmp_path, out=tmp_path / "out", limit=1)
    assert not (tmp_path / "out").exists()
