"""What the endpoint engine sends, reads and learns, against a server that we control."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from bad_server import BadServer

from sayso.engines import open_model
from sayso.engines.openai.endpoint import short_model_name
from sayso.engines.openai.engine import EndpointEngine
from sayso.engines.providers import PROVIDERS
from sayso.records import Generation, InputError, Request, ask
from sayso.runs.costs import is_endpoint


@contextlib.contextmanager
def opened(plan: Any = None, switches: Any = None, **options: Any) -> Iterator[Any]:
    """A server and an engine that asks it, quick to try again."""
    with BadServer(plan, **(switches or {})) as server:
        engine = open_model(f"{server.url}#bad", **options)
        assert isinstance(engine, EndpointEngine)
        engine.asker.pace.base = 0.005
        try:
            yield server, engine
        finally:
            engine.close()


def answers(engine: EndpointEngine, *requests: Request) -> list[Generation]:
    found = dict(engine.complete(requests))
    assert sorted(found) == list(range(len(requests)))
    return [found[place] for place in range(len(requests))]


def test_sampling_is_stated_completely() -> None:
    with opened() as (server, engine):
        answers(engine, ask("Who?", temperature=0.7, seed=3, sample=2, stop=["\n"]))
        body = server.bodies[0]
        seed = body.pop("seed")
        assert 0 <= seed < 2**31
        assert body == {
            "model": "bad",
            "messages": [{"role": "user", "content": "Who?"}],
            "temperature": 0.7,
            "top_p": 1.0,
            "max_tokens": 256,
            "stop": ["\n"],
            "logprobs": True,
            "top_logprobs": 10,
            "top_k": -1,
            "min_p": 0.0,
            "repetition_penalty": 1.0,
            "repeat_penalty": 1.0,
        }


def test_the_name_of_an_endpoint_is_not_its_address() -> None:
    with opened(model_version="2026-01") as (server, engine):
        assert engine.identity == engine.base == "api:bad@2026-01"
        assert engine.signature == "bad@2026-01"
        assert str(server.port) not in engine.identity
    with BadServer(models=["org/only-one"]) as server:
        engine = open_model(server.url)
        assert engine.identity == "api:org/only-one"
        assert engine.signature == "only-one"
        # as if it had been opened by its whole name: a judge's family is read from it
        assert engine.name == f"{server.url}#org/only-one"
        assert engine.capabilities.context == 4096
        engine.close()


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("/a/checkpoint", "a/checkpoint"),
        ("/b/checkpoint", "b/checkpoint"),
        ("/runs/b/checkpoint/", "b/checkpoint"),
        ("./b/checkpoint", "b/checkpoint"),
        ("../checkpoint", "checkpoint"),
        ("/checkpoint", "checkpoint"),
        ("/", "/"),
        ("org/name", "name"),
        ("gpt-4o", "gpt-4o"),
        # of what is too long, the end tells checkpoints apart
        ("/" + "x" * 60 + "/step-100", "x" * 41 + "/step-100"),
    ],
)
def test_the_short_name_of_a_folder_has_two_parts(model: str, said: str) -> None:
    assert short_model_name(model, None) == said


def test_draws_of_one_prompt_share_a_call_and_extend_each_other() -> None:
    with opened() as (server, engine):
        five = answers(engine, *[ask("Who?", sample=n) for n in range(5)])
        assert [body.get("n") for body in server.bodies] == [5]
        more = answers(engine, *[ask("Who?", sample=n) for n in range(5, 20)])
        assert [body.get("n") for body in server.bodies] == [5, 15]
        assert len({g.text for g in five + more}) == 20
        assert engine.capabilities.n
        assert engine.capabilities.draws_vary is True
        # the prompt is billed once: 1 word each, on the first of the call
        assert [g.usage.prompt_tokens for g in five] == [1, 0, 0, 0, 0]
        assert sum(g.usage.completion_tokens for g in five) == 5 * 34


def test_greedy_requests_do_not_share_a_call_and_send_no_seed() -> None:
    with opened() as (server, engine):
        answers(engine, *[ask("Who?", temperature=0, sample=n) for n in range(3)])
        assert [body.get("n") for body in server.bodies] == [None] * 3
        assert not any("seed" in body for body in server.bodies)


def test_fewer_choices_than_asked_are_asked_singly_and_learned() -> None:
    with opened(switches={"choices": 1}) as (server, engine):
        found = answers(engine, *[ask("Who?", sample=n) for n in range(5)])
        assert len({g.text for g in found}) == 5
        assert [body.get("n") for body in server.bodies] == [5, None, None, None, None]
        assert len({body["seed"] for body in server.bodies}) == 5
        assert not engine.capabilities.n
        answers(engine, *[ask("When?", sample=n) for n in range(3)])
        assert [body.get("n") for body in server.bodies[5:]] == [None] * 3


def test_a_cap_on_choices_is_learned() -> None:
    with opened(switches={"choices": 4}) as (server, engine):
        answers(engine, *[ask("Who?", sample=n) for n in range(6)])
        answers(engine, *[ask("When?", sample=n) for n in range(8)])
        assert engine.capabilities.n
        assert [body.get("n") for body in server.bodies] == [6, 2, 4, 4]


def test_draws_that_only_repeat_are_noticed() -> None:
    requests = [ask(f"Who {n // 2}?", sample=n % 2) for n in range(18)]
    with opened(switches={"sampling": False}) as (_, engine):
        answers(engine, *requests[:14])
        assert engine.capabilities.draws_vary is None  # seven prompts are not enough
        answers(engine, *requests[14:])
        assert engine.capabilities.draws_vary is False
        assert any("repeat" in notice for notice in engine.notices)
    with opened() as (_, engine):
        answers(engine, *[ask(f"Who {n}?") for n in range(18)])
        assert engine.capabilities.draws_vary is None  # one draw each says nothing


def test_a_greedy_answer_is_no_draw() -> None:
    with opened() as (_, engine):
        answers(engine, *[ask(f"Who {n // 2}?", temperature=0, sample=n) for n in range(40)])
        assert engine.capabilities.draws_vary is None


def test_refused_parameters_are_dropped_and_said() -> None:
    refuses = ("top_k", "min_p", "repetition_penalty", "seed")
    with opened(switches={"refuses": refuses}) as (server, engine):
        (first,) = answers(engine, ask("Who?"))
        said = ("seed: not sent", "top_k: not sent", "min_p: not sent")
        assert first.overrides == (*said, "repetition_penalty: not sent")
        before = server.number
        (second,) = answers(engine, ask("When?"))
        assert server.number == before + 1  # learned once
        assert second.overrides == first.overrides
        assert engine.capabilities.seed is False
        assert any("top_k" in notice for notice in engine.notices)


def test_temperature_zero_refused_is_the_providers_default() -> None:
    with opened(switches={"refuses": ("temperature=0",)}) as (server, engine):
        (greedy,) = answers(engine, ask("Who?", temperature=0))
        assert greedy.overrides == ("temperature: provider default",)
        assert "temperature" not in server.bodies[-1]
        (drawn,) = answers(engine, ask("Who?", temperature=1))
        assert drawn.overrides == ()
        assert server.bodies[-1]["temperature"] == 1


def test_the_other_name_of_the_limit_is_learned() -> None:
    with opened(switches={"refuses": ("max_tokens",)}) as (server, engine):
        (found,) = answers(engine, ask("Who?", max_tokens=7))
        assert server.bodies[-1]["max_completion_tokens"] == 7
        assert found.finish == "length"
        assert found.overrides == ()


def test_refused_logprobs_are_no_logprobs() -> None:
    with opened(switches={"refuses": ("logprobs",)}) as (_, engine):
        (found,) = answers(engine, ask("Who?"))
        assert found.logprobs is None
        assert found.logprob_kind is None
        assert not engine.capabilities.logprobs


def test_logprobs_say_whose_they_are() -> None:
    with opened() as (_, engine):
        (found,) = answers(engine, ask("Who?"))
        assert engine.capabilities.logprobs
        assert not engine.capabilities.alternatives
        assert found.logprob_kind == "endpoint"
        # p(1st) - p(2nd) = exp(-0.5) - exp(-1.5) = 0.6065307 - 0.2231302, rounded
        assert found.margins is not None
        assert set(found.margins) == {0.3834}
        assert found.token_ids is found.alternatives is found.entropies is None
        at = (found.offsets or ())[1]
        assert found.text[at:].startswith(" word")


@pytest.mark.parametrize("thought", ["field", "inline"])
def test_a_thought_is_read_apart_from_the_answer(thought: str) -> None:
    with opened(switches={"thought": thought}) as (_, engine):
        (found,) = answers(engine, ask("Who?"))
        assert found.thinking == "let me see"
        assert found.thinking_tokens == 3
        assert "think" not in found.text
        assert found.logprob_kind == "endpoint_after_thought"
        assert len(found.logprobs or ()) == 34


@pytest.mark.parametrize(
    ("message", "thought"),
    [
        ('{"content": null, "reasoning_content": "let me"}', "let me"),
        ('{"content": "", "reasoning": "let me"}', "let me"),
        ('{"role": "assistant"}', None),  # as Gemini, whose thought is not shown
        ('{"content": ""}', None),
    ],
)
def test_a_limit_inside_the_thought_is_truncated(message: str, thought: str | None) -> None:
    reply = f'choices={{"message": {message}, "finish_reason": "length"}}'
    with opened(lambda n, b: reply) as (_, engine):
        (found,) = answers(engine, ask("Who?"))
        assert (found.problem, found.text, found.thinking) == ("truncated", "", thought)


def test_template_settings_are_sent() -> None:
    with opened() as (server, engine):
        settings = [("enable_thinking", False), ("reasoning_effort", "low")]
        answers(engine, ask("Who?", chat_template_kwargs=settings))
        assert server.bodies[0]["chat_template_kwargs"] == dict(settings)
        assert server.bodies[0]["reasoning_effort"] == "low"


def test_a_prefill_is_gone_on_from_or_the_request_fails() -> None:
    with opened() as (server, engine):
        answers(engine, ask("Who?", prefill="It was"))
        assert server.bodies[0]["messages"][-1] == {"role": "assistant", "content": "It was"}
        assert server.bodies[0]["continue_final_message"] is True
        assert server.bodies[0]["add_generation_prompt"] is False
    with opened(switches={"refuses": ("continue_final_message",)}) as (_, engine):
        (found,) = answers(engine, ask("Who?", prefill="It was"))
        assert (found.problem or "").startswith("failed: status 400")


def test_a_schema_is_asked_and_whether_it_holds_is_learned() -> None:
    schema = '{"name": "v", "schema": {"type": "object", "required": ["label"]}}'
    with opened() as (server, engine):
        (found,) = answers(engine, ask("Who?", response_format=schema))
        assert server.bodies[0]["response_format"]["json_schema"]["name"] == "v"
        assert found.overrides == ()
        assert engine.capabilities.json_schema
    with opened(switches={"schema": False}) as (server, engine):
        for n in range(3):
            (found,) = answers(engine, ask(f"Who {n}?", response_format=schema))
            assert any(said.startswith("response_format") for said in found.overrides)
        assert "response_format" not in server.bodies[-1]
        assert engine.notices == ["replies do not keep to a JSON schema: it is not sent"]
        assert not engine.capabilities.json_schema


def test_openai_is_sent_what_it_knows_and_the_rest_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with BadServer(key="sk-official") as server:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-official")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        engine = open_model("openai:gpt-4o-mini", concurrency=2)
        settings = [("reasoning_effort", "low"), ("enable_thinking", False)]
        (found,) = answers(engine, ask("Who?", top_k=5, chat_template_kwargs=settings))  # type: ignore[arg-type]
        engine.close()
    body = server.bodies[0]
    assert not {"top_k", "min_p", "repetition_penalty", "chat_template_kwargs"} & set(body)
    assert body["reasoning_effort"] == "low"
    assert body["max_completion_tokens"] == 256
    assert found.overrides == ("enable_thinking: not sent", "top_k: not sent")
    assert "does not know enable_thinking, top_k: not sent" in engine.notices[0]
    # 1 prompt token and 34 out at 0.15 and 0.60 dollars a million
    assert found.usage.dollars == pytest.approx((1 * 0.15 + 34 * 0.60) / 1e6)
    assert engine.identity == "api:gpt-4o-mini"


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_word_names_a_provider(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = PROVIDERS[name]
    monkeypatch.delenv(provider.key, raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(InputError, match=f"needs a key: set the variable {provider.key}"):
        open_model(f"{name}:some/model")
    with BadServer(key="key-of-theirs-1") as server:
        assert urlsplit(provider.url).scheme == "https"
        monkeypatch.setitem(PROVIDERS, name, provider._replace(url=server.url))
        monkeypatch.setenv(provider.key, "key-of-theirs-1")
        monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Own: own-secret")
        engine = open_model(f"{name}:some/model")
        (found,) = answers(engine, ask("Who?"))
        engine.close()
        sent = server.headers[0]
    assert found.problem is None
    assert server.bodies[0]["model"] == "some/model"
    assert sent["authorization"] == "Bearer key-of-theirs-1"
    assert ("x-own" in sent) == (name == "openai")
    assert is_endpoint(f"{name}:m")


def test_anthropic_gets_one_choice_a_call_and_what_it_ignores_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with BadServer() as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-theirs-1")
        provider = PROVIDERS["anthropic"]._replace(url=server.url)
        monkeypatch.setitem(PROVIDERS, "anthropic", provider)
        engine = open_model("anthropic:claude-haiku-4-5")
        requests = [ask("Who?", temperature=1.5, sample=n) for n in range(3)]
        found = answers(engine, *requests)
        engine.close()
    assert [b.get("n") for b in server.bodies] == [None] * 3
    ignored = {"seed", "logprobs", "top_logprobs", "n"}
    assert not any(ignored & b.keys() for b in server.bodies)
    assert {b["temperature"] for b in server.bodies} == {1.0}
    assert all("temperature: 1, the highest there" in g.overrides for g in found)
    assert all("seed: not sent" in g.overrides for g in found)
    said = " ".join(engine.notices)
    assert "does not take" in said
    assert "seed" in said
    assert "logprobs" in said


def test_an_unknown_price_stays_unknown() -> None:
    with opened() as (_, engine):
        (found,) = answers(engine, ask("Who?"))
        assert engine.price is None
        assert found.usage.dollars is None
    with opened(price="1,2") as (_, engine):
        (found,) = answers(engine, ask("Who is it?"))
        # 3 words in, 1 of them cached at the full price, 34 out
        assert found.usage.cached_tokens == 1
        assert found.usage.dollars == pytest.approx((3 * 1 + 34 * 2) / 1e6)


def test_what_the_environment_holds_for_openai_stays_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-official")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-admin")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-secret")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Own: own-secret\nAuthorization: Bearer mine")
    with opened() as (server, engine):
        answers(engine, ask("Who?"))
        sent = str(server.headers)
    assert "authorization" not in server.headers[0]
    assert not [s for s in ("sk-", "secret", "Bearer") if s in sent]


def test_the_key_of_a_host_goes_to_that_host(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SAYSO_API_KEY", "SAYSO_API_KEY_127_0_0_1"):
        monkeypatch.delenv(name, raising=False)
    with opened() as (server, engine):
        answers(engine, ask("Who?"))
        assert "authorization" not in server.headers[0]
    monkeypatch.setenv("SAYSO_API_KEY", "general")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer mine")
    with opened() as (server, engine):
        answers(engine, ask("Who?"))
        assert server.headers[0]["authorization"] == "Bearer general"
    monkeypatch.setenv("SAYSO_API_KEY_127_0_0_1", "special")
    with opened() as (server, engine):
        answers(engine, ask("Who?"))
        assert server.headers[0]["authorization"] == "Bearer special"


def test_requests_without_an_answer_to_ask_for() -> None:
    with opened() as (server, engine):
        none, wrong, broken = answers(
            engine,
            ask("Who?", max_tokens=0),
            ask("Who?", temperature=-1),
            ask("Who?", response_format="not json"),
        )
        assert (none.problem, none.finish, none.text) == (None, "length", "")
        assert (wrong.problem or "").startswith("failed: temperature")
        assert (broken.problem or "").startswith("failed: response_format")
        assert server.number == 0
        assert engine.counts.failed == 2


def test_two_streams_may_run_inside_each_other() -> None:
    with opened() as (_, engine):
        outer = engine.complete(ask(f"Who {n}?") for n in range(40))
        inner = 0
        for _, answer in outer:
            inner += len(answers(engine, ask(f"Judge {answer.text[:20]}")))
        assert inner == 40
