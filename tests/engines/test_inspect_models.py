"""``inspect:PROVIDER/MODEL``: Inspect's own clients, in front of a server that we control."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from bad_server import BadServer, Plan
from batch_server import BatchServer

from sayso import cli
from sayso.engines import open_model
from sayso.engines.prices import LOCAL, price_of
from sayso.records import Generation, InputError, Request, ask
from support.endpoint import endpoint
from support.scripted_world import Mind, chance, facts, records, write

pytest.importorskip("inspect_ai")

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ContentReasoning,
    ContentText,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.model._providers.util import batch

from sayso.engines.inspect_models import ModelEngine
from sayso.engines.openai.endpoint import EndpointOptions
from sayso.inspect_ai_tools.reading import in_thread

KEY = "key-of-loop-0123456789"
NAME = "inspect:openai-api/loop/bad"
Open = Callable[..., tuple[BadServer, ModelEngine]]


@pytest.fixture
def looped(monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Opens a server of these switches, and a model of Inspect that asks it."""
    closing: list[Callable[[], object]] = []

    def start(plan: Plan | None = None, **switches: Any) -> tuple[BadServer, ModelEngine]:
        options, name = switches.pop("options", {}), switches.pop("name", NAME)
        server = BadServer(plan, **switches)
        server.__enter__()
        closing.append(lambda: server.__exit__())
        for maker in ("LOOP", "OPENAI"):
            monkeypatch.setenv(f"{maker}_BASE_URL", server.url)
            monkeypatch.setenv(f"{maker}_API_KEY", KEY)
        engine: Any = open_model(name, **options)
        engine.asker.pace.base = 0.005
        closing.append(engine.close)
        return server, engine

    yield start
    for close in reversed(closing):
        close()


def answers(engine: ModelEngine, *requests: Request) -> list[Generation]:
    found = dict(engine.complete(requests))
    assert sorted(found) == list(range(len(requests)))
    return [found[place] for place in range(len(requests))]


def test_every_setting_goes_out_and_everything_comes_back(looped: Open) -> None:
    server, engine = looped(thought="field", echo=True, key=KEY)
    system = {"role": "system", "content": "Be short."}
    user = {"role": "user", "content": "Who?"}
    request = ask("", messages=[system, user], temperature=0.7, top_p=0.9, max_tokens=200)
    request = Request(
        request.messages, temperature=0.7, top_p=0.9, max_tokens=200, stop=("§",), seed=3, top_k=5,
        chat_template_kwargs=(("reasoning_effort", "low"), ("enable_thinking", False)),
    )  # fmt: skip
    (found,) = answers(engine, request)
    body = server.bodies[0]
    assert 0 < body.pop("seed") < 2**31
    assert body == {
        "model": "bad", "messages": [system, user], "temperature": 0.7, "top_p": 0.9,
        "max_tokens": 200, "stop": ["§"], "logprobs": True, "top_logprobs": 10,
        "reasoning_effort": "low",
    }  # fmt: skip
    assert set(found.overrides) == {"top_k: not sent", "enable_thinking: not sent"}
    assert "does not know enable_thinking, top_k: not sent" in engine.notices[0]
    assert found.thinking == "let me see"
    assert (found.thinking_tokens, found.usage.cached_tokens) == (3, 1)
    assert found.usage.prompt_tokens == 3
    assert "authorization" in found.text  # the server repeats all headers
    assert KEY not in repr(found)


def test_draws_log_probabilities_and_a_schema(looped: Open) -> None:
    server, engine = looped()
    draws = [ask("Who?", sample=n, max_tokens=9) for n in range(5)]
    found = answers(engine, *draws)
    assert [b.get("n") for b in server.bodies] == [5]
    assert len({g.text for g in found}) == 5
    assert all(set(g.logprobs or ()) == {-0.5} and set(g.margins or ()) == {0.3834} for g in found)
    properties = {"label": {"type": "string"}}
    schema = json.dumps({"name": "v", "schema": {"type": "object", "properties": properties}})
    answers(engine, ask("Which?", temperature=0, response_format=schema))
    sent = server.bodies[-1]["response_format"]["json_schema"]
    assert sent["schema"]["properties"]["label"]["type"] == "string"


def test_what_is_refused_is_named_and_left_out(looped: Open) -> None:
    server, engine = looped(refuses=("logprobs", "seed", "response_format"), choices=1)
    schema = '{"name": "v", "schema": {"type": "object"}}'
    found = answers(engine, *(ask("Who?", sample=n, response_format=schema) for n in range(3)))
    assert [g.problem for g in found] == [None] * 3
    assert len({g.text for g in found}) >= 1
    assert not {"logprobs", "seed", "response_format"} & server.bodies[-1].keys()
    told = " ".join(engine.notices)
    assert "logprobs" in told
    assert "seed" in told
    assert engine.capabilities.seed is False


@pytest.mark.parametrize(
    ("what", "problem"),
    [("filter", "failed: content filter"), ("filter-400", "failed: content filter"),
     ("overflow", "context"), ("400", "makes no sense"), ("500", None), ("429", None)],
)  # fmt: skip
def test_how_answers_end(looped: Open, what: str, problem: str | None) -> None:
    server, engine = looped(lambda n, body: what if n == 2 else "ok")
    asked = [ask(f"Who {n}?", temperature=0, max_tokens=9) for n in range(2)]
    engine.asker.pace.limit = 1.0
    found = answers(engine, *asked)
    problems = [g.problem for g in found if g.problem]
    assert len(problems) == (problem is not None)
    assert problem is None or problem in problems[0]
    assert server.did["ok"] == 2 - (problem is not None)


@pytest.mark.parametrize(
    ("switches", "words"),
    [({"key": "another-key-000"}, ("refuses the key in LOOP_API_KEY",)),
     ({"plan": lambda n, body: "404-model"}, ("does not have the model 'bad'",)),
     ({"name": "inspect:openai/bad"},
      ("OpenAI's Responses API; inspect:openai-api/",)),
     ({"die": True}, ("nothing answers at Inspect's openai-api",))],
)  # fmt: skip
def test_what_would_fail_every_request_is_one_line(
    looped: Open, switches: dict[str, Any], words: tuple[str, ...]
) -> None:
    die = switches.pop("die", False)
    server, engine = looped(**switches)
    if die:
        server.die()
    with pytest.raises(InputError) as caught:
        list(engine.complete([ask("Who?")]))
    assert all(word in str(caught.value) for word in words)
    assert KEY not in str(caught.value)


def mocked(
    *parts: Any, stop: Any = "stop", name: str = "inspect:mockllm/model", **fields: Any
) -> Any:
    message = ChatMessageAssistant(content=list(parts))
    usage = ModelUsage(
        input_tokens=7, output_tokens=30, total_tokens=40, input_tokens_cache_read=2,
        input_tokens_cache_write=1, reasoning_tokens=20,
    )  # fmt: skip
    choice = ChatCompletionChoice(message=message, stop_reason=stop)
    output = ModelOutput(model="mockllm/model", choices=[choice], usage=usage, **fields)
    model = get_model("mockllm/model", custom_outputs=lambda *_: output, memoize=False)
    return ModelEngine(name, model, EndpointOptions())


def test_thoughts_are_kept_apart_and_one_that_is_cut_off_is_no_answer() -> None:
    thought = ContentReasoning(reasoning="Hm, 1815?")
    hidden = ContentReasoning(reasoning="gAAAAB", redacted=True, summary="A short summary.")
    engine = mocked(hidden, thought, ContentText(text="In 1815."))
    (found,) = answers(engine, ask("When?"))
    assert (found.text, found.thinking) == ("In 1815.", "A short summary.\n\nHm, 1815?")
    assert (found.usage.prompt_tokens, found.usage.cached_tokens) == (10, 2)
    assert (found.usage.completion_tokens, found.thinking_tokens) == (30, 20)
    assert any("seed" in notice and "does not pass it on" in notice for notice in engine.notices)
    assert engine.price == LOCAL
    engine.close()
    for stop in ("max_tokens", "model_length"):
        engine = mocked(thought, stop=stop)
        (found,) = answers(engine, ask("When?"))
        assert (found.text, found.problem) == ("", "truncated")
        engine.close()


@pytest.mark.parametrize(
    ("name", "effort", "sends"),
    [("gpt-5", None, False), ("gpt-5.2", None, True), ("gpt-5.2", "none", True),
     ("gpt-5.2", "low", False), ("gpt-5.5", None, False)],
)  # fmt: skip
def test_sampling_that_inspect_keeps_from_models_that_reason_is_told(
    monkeypatch: pytest.MonkeyPatch, name: str, effort: str | None, sends: bool
) -> None:
    bodies: list[dict[str, Any]] = []
    with endpoint(lambda body: bodies.append(body) or "Oslo") as url:  # type: ignore[func-returns-value]
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        engine: Any = open_model(f"inspect:openai/{name}")
        kwargs = (("reasoning_effort", effort),) if effort else ()
        request = Request(ask("Who?").messages, temperature=0.0, chat_template_kwargs=kwargs)
        (found,) = answers(engine, request)
        told = " ".join(engine.notices)
        engine.close()
    names = ("temperature", "top_p", "top_logprobs")
    assert (
        {n in bodies[-1] for n in names}
        == {sends}
        == {f"{n} is not" not in told for n in names[:2]}
    )
    assert ("temperature: provider default" in found.overrides) is not sends
    assert bodies[-1]["reasoning"].get("effort") == effort
    assert (found.text, found.thinking, found.thinking_tokens) == ("Oslo", "Hm.", 16)
    asked = [body for body in bodies if "hello, world" not in json.dumps(body)]  # Inspect's own
    assert len(asked) == 1  # what is kept back is known before anything is paid


def test_claude_gets_no_temperature_and_that_is_told() -> None:
    engine = mocked(ContentText(text="In 1815."), name="inspect:anthropic/claude-opus-5")
    (found,) = answers(engine, ask("When?", temperature=0))
    assert {"temperature: provider default", "top_p: provider default"} <= {*found.overrides}
    engine.close()


def test_inside_inspect_its_own_loop_asks_and_its_own_errors_are_raised() -> None:
    seen: list[Any] = []

    async def output(*_: Any) -> ModelOutput:
        seen.append(anyio.get_current_task().id)
        if len(seen) > 3:
            raise LookupError("the sample's limit")
        usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        choice = ChatCompletionChoice(message=ChatMessageAssistant(content="1815"))
        return ModelOutput(model="m", choices=[choice], usage=usage)

    model = get_model("mockllm/model", custom_outputs=output, memoize=False)
    engine = ModelEngine("mockllm/model", model, EndpointOptions())

    async def score(number: int) -> list[str]:
        requests = [ask(f"Who {n}?") for n in range(number)]
        return [g.text for g in await in_thread(lambda: answers(engine, *requests))]

    assert anyio.run(score, 3) == ["1815"] * 3
    with pytest.raises(LookupError, match="the sample's limit"):  # in another loop, as Inspect has
        anyio.run(score, 1)
    engine.close()


def test_batches_are_inspects_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(batch, "DEFAULT_SEND_DELAY", 0.3)
    monkeypatch.setattr(batch, "DEFAULT_BATCH_TICK", 0.2)
    with BatchServer(key=KEY) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        model = get_model("openai/bad", responses_api=False, memoize=False)
        options = EndpointOptions(batches=str(tmp_path / "b"))
        engine = ModelEngine("inspect:openai/bad", model, options)
        assert engine.asks_ahead
        asked = [ask(f"Who {n}?", temperature=0, max_tokens=9) for n in range(40)]
        found = answers(engine, *asked)
        engine.close()
    assert len({g.text for g in found}) == 40
    assert all(g.problem is None and g.usage.completion_tokens for g in found)
    assert (server.uploads, len(server.batches)) == (1, 1)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [("inspect:openai-api/loop/bad", {}, "LOOP_API_KEY"),
     ("inspect:claude-opus-5", {}, "expected inspect:PROVIDER/MODEL"),
     ("inspect:nobody/claude-opus-5", {}, "'inspect:nobody/claude-opus-5' is not one that Inspect"),
     ("inspect:mockllm/model", {"batches": "b"}, "no batches for mockllm, but for openai")],
)  # fmt: skip
def test_what_cannot_be_opened_is_one_line(
    monkeypatch: pytest.MonkeyPatch, name: str, options: dict[str, Any], words: str
) -> None:
    monkeypatch.delenv("LOOP_API_KEY", raising=False)
    with pytest.raises(InputError) as caught:
        open_model(name, **options)
    assert words in str(caught.value)
    assert "[bold]" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_inspect_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [m for m in sys.modules if m.split(".")[0] == "inspect_ai"]:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "sayso.engines.inspect_models")
    with pytest.raises(InputError, match=r"pip install 'sayso\[inspect\]'"):
        open_model(NAME)


def test_prices_are_the_companys() -> None:
    assert price_of("inspect:anthropic/claude-haiku-4-5") == price_of("anthropic:claude-haiku-4-5")
    assert price_of("inspect:grok/grok-4") == price_of("xai:grok-4") is not None
    assert price_of("inspect:openai-api/loop/bad") is None
    assert price_of("inspect:openai-api/loop/bad", "1,2") is not None


def test_a_dry_run_needs_no_key_and_a_run_leaves_none(
    looped: Open,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server, _ = looped(key=KEY, echo=True)
    data = str(write(tmp_path / "q.jsonl", records(facts(1))))
    command = ["run", "uncle", "--model", NAME, "--data", data, "--set", "resamples=100",
               "--out", str(tmp_path / "run"), "--set", f"cache={tmp_path / 'cache'}"]  # fmt: skip
    monkeypatch.delenv("LOOP_API_KEY")
    assert cli.execute([*command, "--dry-run"]) == 0
    assert not server.bodies
    assert cli.execute(command) == 2
    assert "LOOP_API_KEY" in capsys.readouterr().err
    monkeypatch.setenv("LOOP_API_KEY", KEY)
    assert cli.execute(command) == 0
    assert server.bodies
    for file in (f for f in tmp_path.rglob("*") if f.is_file()):
        assert KEY.encode() not in file.read_bytes(), file


def test_training_rows_are_exported_and_want_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    world = facts(16)
    mind = Mind(world, lambda fact: float(chance("known", fact.question) < 0.5))

    def say(body: dict[str, Any]) -> str:
        text, drawn = body["messages"][-1]["content"], body.get("seed") or 0
        return mind(ask(text, temperature=body["temperature"], sample=drawn)).text

    own = ["--set", f"cache={tmp_path / 'cache'}", "--set", "resamples=100"]
    data = str(write(tmp_path / "q.jsonl", records(world)))
    command = ["run", "uncle", "--model", NAME, "--data", data, "--limit", "4"]
    with endpoint(say) as url:
        monkeypatch.setenv("LOOP_BASE_URL", url)
        monkeypatch.setenv("LOOP_API_KEY", KEY)
        assert cli.execute([*command, "--out", str(tmp_path / "run"), *own]) == 0
        command = ["train", str(tmp_path / "run"), "--export", "trl", "--set", f"data={data}"]
        out = ["--out", str(tmp_path / "rows"), *own]
        assert cli.execute([*command, *out]) == 0, capsys.readouterr().err
    export = tmp_path / "rows" / "export"
    rows = [json.loads(line) for line in (export / "sayso_dpo.jsonl").read_text().splitlines()]
    assert rows
    assert {turn["role"] for row in rows for turn in row["prompt"]} == {"user"}
    assert all(row["chosen"] != row["rejected"] for row in rows)
    assert json.loads((export / "sayso_train.json").read_text())["model"] == NAME
    told = " ".join(capsys.readouterr().out.split())
    assert f"replace {NAME} in them by weights to train" in told
