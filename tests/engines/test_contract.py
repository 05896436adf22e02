"""What every engine promises, tested on all of them by one suite."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import fake_vllm
import pytest
from bad_server import BadServer, mixture
from device import DEVICE
from fake_ollama import FakeOllama
from serving import builtin_folder

from sayso.engines.engine import Engine
from sayso.records import Generation, InputError, Request, ask

ENGINES = [
    "scripted", "hf-llama", "hf-gpt2", "hf-mistral", "hf-mamba", "builtin",
    "gguf", "gguf-state",  # llama.cpp; as it treats architectures that keep a running state
    "bad-server",  # ours: three calls in ten go wrong, in all ways there are
    "inspect",  # Inspect's own client in front of ours
    "ollama",  # a stand-in for its server, from its documentation
    "vllm",  # a fake with vLLM's documented types
    "real-server",  # `transformers serve` with the built-in model
]  # fmt: skip
ENDPOINTS = ("http://", "https://", "inspect:", "ollama:", "openai:")


def reply(request: Request) -> str:
    """A text that depends on the draw, long enough to be cut."""
    salt = 0 if request.greedy else request.seed * 7 + request.sample + 1
    return " ".join(f"word{(salt * 5 + n * n) % 11}" for n in range(40))


@pytest.fixture(params=ENGINES, scope="module")
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    name = request.param
    if name == "scripted":
        from support.scripted import ScriptedEngine

        yield ScriptedEngine(reply, logprob=-0.5, context=256)
        return
    from sayso.engines import open_model

    if name == "bad-server":
        with BadServer(mixture(0.3, seed=1), context=256) as server:
            opened = open_model(server.url)
            opened.asker.pace.base = 0.01  # type: ignore[attr-defined]
            yield opened
            opened.close()
        return
    if name == "inspect":
        pytest.importorskip("inspect_ai")
        with BadServer(context=256) as server, pytest.MonkeyPatch.context() as patch:
            patch.setenv("LOOP_BASE_URL", server.url)
            patch.setenv("LOOP_API_KEY", "key-of-loop-1")
            opened = open_model("inspect:openai-api/loop/bad")
            yield opened
            opened.close()
        return
    if name == "ollama":
        with FakeOllama(context=256) as server, pytest.MonkeyPatch.context() as patch:
            patch.setenv("OLLAMA_HOST", server.host)
            opened = open_model("ollama:llama3")
            yield opened
            opened.close()
        return
    if name == "real-server":
        served: Callable[..., str] = request.getfixturevalue("serve")
        opened = open_model(served(builtin_folder()))
        yield opened
        opened.close()
        return
    if name in ("gguf", "gguf-state"):
        pytest.importorskip("xllamacpp")
        pytest.importorskip("torch")  # for the folder that the file is written from
        opened = open_model(f"gguf:{request.getfixturevalue('gguf_of_llama')}")
        if name == "gguf-state":
            opened._keeps_state = lambda: True  # type: ignore[attr-defined]
        yield opened
        opened.close()
        return
    pytest.importorskip("torch")
    if name == "vllm":
        with pytest.MonkeyPatch.context() as patch:
            if not os.environ.get("SAYSO_REAL_VLLM"):  # on a machine with a GPU: the real one
                for module in ("vllm", "vllm.platforms"):
                    patch.setitem(sys.modules, module, fake_vllm)
            opened = open_model(f"vllm:{builtin_folder()}")
        yield opened
        opened.close()
        return
    if name == "builtin":
        builtin_folder()
        opened = open_model("builtin", device=DEVICE)
    else:
        make: Callable[..., Any] = request.getfixturevalue("make_folder")
        opened = open_model(f"hf:{make(name.removeprefix('hf-'))}", device=DEVICE)
    yield opened
    opened.close()


def is_endpoint(engine: Engine) -> bool:
    return engine.name.startswith(ENDPOINTS)


def skip_unless_forcing(engine: Engine) -> None:
    """An engine that cannot read given text must refuse in one line."""
    if engine.capabilities.force:
        return
    with pytest.raises(InputError, match="cannot read logprobs"):
        list(engine.force([(ask("Who?"), " a painter")], ["logprobs"]))
    pytest.skip("this engine cannot read given text, and says so")


def answers(engine: Engine, requests: list[Request]) -> list[Generation]:
    found = dict(engine.complete(requests))
    assert sorted(found) == list(range(len(requests)))
    return [found[index] for index in range(len(requests))]


def test_it_says_what_it_is(engine: Engine) -> None:
    assert engine.name
    assert engine.identity
    assert engine.base
    assert engine.signature
    assert len(engine.signature) < 60


def test_no_requests_no_answers(engine: Engine) -> None:
    assert list(engine.complete([])) == []


def test_every_request_is_answered_once_with_its_index(engine: Engine) -> None:
    requests = [ask(f"Question {n}?", sample=n % 3, max_tokens=4 + n % 3) for n in range(30)]
    assert [g.request for g in answers(engine, requests)] == requests


def test_requests_are_taken_lazily(engine: Engine) -> None:
    taken = 0

    def endless() -> Iterator[Request]:
        nonlocal taken
        while True:
            taken += 1
            yield ask(f"Question {taken}?", max_tokens=1)

    stream = engine.complete(endless())
    assert isinstance(next(iter(stream))[1], Generation)
    assert taken <= 5000


def test_greedy_answers_do_not_depend_on_the_seed(engine: Engine) -> None:
    requests = [
        ask("Who?", temperature=0, seed=s, sample=s, max_tokens=12, top_p=0.9) for s in range(4)
    ]
    assert len({g.text for g in answers(engine, requests)}) == 1


def test_draws_repeat_and_differ_by_sample_and_seed(engine: Engine) -> None:
    if is_endpoint(engine) and "builtin/model" in engine.name:
        pytest.skip("transformers serve shares one random generator between all requests")
    requests = [
        ask("Who?", sample=s, seed=seed, max_tokens=16) for s in range(5) for seed in (0, 1)
    ]
    once, again = answers(engine, requests), answers(engine, requests[::-1])[::-1]
    assert [g.text for g in once] == [g.text for g in again]
    assert len({g.text for g in once}) > 1


def test_arrays_cover_the_text(engine: Engine) -> None:
    found = answers(engine, [ask(f"Who {n}?", sample=n, max_tokens=15) for n in range(12)])
    if not engine.capabilities.logprobs:
        assert all(g.logprobs is g.entropies is g.logprob_kind is None for g in found)
        pytest.skip("this engine gives no log-probabilities, and its records hold none")
    for g in found:
        assert g.problem is None
        assert g.logprob_kind == ("endpoint" if is_endpoint(engine) else "model")
        arrays = (g.offsets, g.logprobs, *((g.token_ids, g.entropies) if g.entropies else ()))
        assert len({len(a or ()) for a in arrays}) == 1
        offsets = g.offsets or ()
        assert list(offsets) == sorted(offsets)
        assert all(0 <= at <= len(g.text) for at in offsets)
        assert bool(g.text) <= bool(offsets)
        assert all(p <= 0 for p in g.logprobs or ())
        assert all(h >= 0 for h in g.entropies or ())
    assert engine.capabilities.entropies == any(g.entropies for g in found)


def test_usage_counts_tokens(engine: Engine) -> None:
    before = engine.counts.requests
    found = answers(engine, [ask(f"Who {n}?", max_tokens=5) for n in range(6)])
    assert engine.counts.requests == before + 6
    for g in found:
        assert g.usage.prompt_tokens > 0
        # an end-of-text token counts as completed but is in no array
        assert len(g.token_ids or ()) <= g.usage.completion_tokens <= 5


def test_one_token_answers_stay_one_token(engine: Engine) -> None:
    for g in answers(engine, [ask(f"Who {n}?", max_tokens=1) for n in range(6)]):
        assert len(g.token_ids or ()) <= 1
        assert g.finish in ("length", "stop")


def test_the_limit_is_named(engine: Engine) -> None:
    found = answers(engine, [ask(f"Question {n}?", max_tokens=2, sample=n) for n in range(20)])
    assert "length" in {g.finish for g in found}


def test_a_stop_string_ends_the_text_before_it(engine: Engine) -> None:
    heat = 0.0 if is_endpoint(engine) else 1.0  # a server's draws need not come again
    free = answers(
        engine, [ask(f"Who {n}?", max_tokens=20, sample=n, temperature=heat) for n in range(10)]
    )
    stops = [g.text[1:3] for g in free if len(g.text) > 3]
    asked = [
        ask(f"Who {n}?", max_tokens=20, sample=n, temperature=heat, stop=[g.text[1:3]])
        for n, g in enumerate(free)
        if len(g.text) > 3
    ]
    assert asked
    for g, stop in zip(answers(engine, asked), stops, strict=True):
        assert stop not in g.text
        # an endpoint that cuts the stop string off itself does not tell the two apart
        assert g.finish in (("stop_string", "stop") if is_endpoint(engine) else ("stop_string",))
        assert len(g.offsets or ()) == len(g.logprobs or ())


def test_over_the_context_is_a_problem_and_the_others_go_on(engine: Engine) -> None:
    context = engine.capabilities.context
    if context is None:
        pytest.skip("this engine has no limit, or none that it tells")
    found = answers(
        engine, [ask("Hello?", max_tokens=3), ask("Hello?", max_tokens=context), ask("Who?" * 9)]
    )
    assert found[1].problem == "context"
    assert found[1].text == ""
    assert found[0].problem is None


def test_forced_text_has_arrays_over_the_continuation_only(engine: Engine) -> None:
    skip_unless_forcing(engine)
    request = ask("Who painted the ceiling?")
    items = [(request, " a painter"), (request, " b"), (ask("When?"), " It was 1902 and then")]
    found = dict(engine.force(items, ["logprobs", "entropies"]))
    assert sorted(found) == [0, 1, 2]
    for index, (_, text) in enumerate(items):
        g = found[index]
        assert g.text.strip() == text.strip()
        assert len(g.token_ids or ()) == len(g.logprobs or ()) == len(g.entropies or ()) > 0


def test_forced_ids_give_the_answers_own_logprobs(engine: Engine) -> None:
    skip_unless_forcing(engine)
    (answer,) = answers(engine, [ask("Who?", max_tokens=9)])
    (_, forced) = next(iter(engine.force([(answer.request, answer.token_ids or ())], ["logprobs"])))
    assert forced.logprobs == pytest.approx(answer.logprobs, abs=5e-3)
    assert forced.entropies is None


def test_unknown_arrays_are_refused(engine: Engine) -> None:
    with pytest.raises(InputError, match="nonsense"):
        list(engine.force([(ask("Who?"), "a")], ["nonsense"]))
