"""The fake engine does what tests need of it."""

from __future__ import annotations

import pytest

from sayso.engines.scripted import ScriptedEngine, word_starts
from sayso.records import Generation, Request, ask


def test_it_remembers_requests_in_order() -> None:
    engine = ScriptedEngine({"a": "1", "b": "2"})
    requests = [ask("b"), ask("a", sample=3)]
    assert [g.text for _, g in engine.complete(requests)] == ["2", "1"]
    assert engine.requests == requests
    assert engine.counts.requests == 2


def test_draws_are_indexed_by_sample() -> None:
    engine = ScriptedEngine({"a": ["x", "y", "z"]})
    found = [g.text for _, g in engine.complete(ask("a", sample=s) for s in range(4))]
    assert found == ["x", "y", "z", "x"]
    ((_, greedy),) = engine.complete([ask("a", sample=2, temperature=0)])
    assert greedy.text == "x"


def test_a_missing_script_is_a_problem() -> None:
    ((_, found),) = ScriptedEngine({}).complete([ask("a")])
    assert found.problem == "failed: nothing scripted for 'a'"


def test_a_whole_record_may_be_scripted() -> None:
    def script(request: Request) -> Generation:
        return Generation(request, problem="truncated", thinking="hm")

    ((_, found),) = ScriptedEngine(script).complete([ask("a")])
    assert (found.problem, found.thinking, found.request) == ("truncated", "hm", ask("a"))


def test_it_is_killed_after_n() -> None:
    engine = ScriptedEngine(lambda r: "x", kill_after=2)
    stream = engine.complete([ask(str(n)) for n in range(5)])
    assert [next(stream)[0], next(stream)[0]] == [0, 1]
    with pytest.raises(KeyboardInterrupt):
        next(stream)
    assert len(engine.requests) == 2


def test_it_may_answer_backwards() -> None:
    engine = ScriptedEngine(lambda r: "x", backwards=True)
    assert [index for index, _ in engine.complete([ask("a"), ask("b")])] == [1, 0]


def test_arrays_only_where_scripted() -> None:
    ((_, plain),) = ScriptedEngine(lambda r: "two words").complete([ask("a")])
    assert plain.logprobs is None
    ((_, full),) = ScriptedEngine(lambda r: "two words", logprob=-1.5).complete([ask("a")])
    assert (full.logprobs, full.entropies, full.offsets) == ((-1.5, -1.5), (1.5, 1.5), (0, 3))


def test_words() -> None:
    assert word_starts("") == []
    assert word_starts("one") == [0]
    assert word_starts("one  two\nthree ") == [0, 3, 8]
