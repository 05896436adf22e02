"""A server that we did not write: `transformers serve` on the built-in model, on loopback.

It ignores ``n``, log-probabilities and JSON schemas with status 200, refuses top_k, min_p and
repetition_penalty with 422, and takes a folder's generation_config over the request's sampling.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from serving import builtin_folder

from sayso.engines import open_model
from sayso.records import ask

Serve = Callable[[Path], str]
pytestmark = pytest.mark.slow  # one server is in the contract of engines


def questions(count: int) -> list[str]:
    from sayso.datasets.shipped import load_builtin as load

    return [q.text for q in load().questions if not q.parts][:count]


@pytest.fixture(scope="module")
def served(serve: Serve) -> Any:
    engine = open_model(serve(builtin_folder()))
    yield engine
    engine.close()


def test_greedy_answers_are_those_of_the_hf_backend(served: Any) -> None:
    requests = [ask(text, temperature=0, max_tokens=64) for text in questions(20)]
    there = dict(served.complete(requests))
    local = open_model("builtin", device="cpu")
    here = dict(local.complete(requests))
    local.close()
    assert [there[n].text for n in range(20)] == [here[n].text for n in range(20)]
    assert len({g.text for g in there.values()}) > 10
    # the prompt was rendered the same way: as many tokens went in and came out
    for n in range(20):
        assert there[n].usage.prompt_tokens == here[n].usage.prompt_tokens
        assert there[n].usage.completion_tokens == here[n].usage.completion_tokens
        assert there[n].finish == here[n].finish


def test_a_whole_run_has_the_greedy_answers_of_the_hf_backend(serve: Serve, tmp_path: Path) -> None:
    import sayso
    from sayso.records import Generation
    from sayso.storage.run_folder import RunFolder

    texts = {}
    for model in (serve(builtin_folder()), "builtin"):
        folder = tmp_path / model[:7]
        sayso.run(
            model=model, data="builtin", limit=2, out=folder, cache=tmp_path / "cache", report=False
        )
        texts[model] = {
            (g.question, g.stage, g.method): (g.text, g.finish)
            for stage in ("short", "long")
            for g in RunFolder.open(folder).read(f"generations/{stage}", Generation)
            if g.request.greedy
        }
    there, here = texts.values()
    assert len(there) >= 14  # 12 short questions and 2 paragraphs
    assert there == here


def test_what_it_ignores_in_silence_is_learned(served: Any) -> None:
    texts = questions(4)
    found = dict(served.complete(ask(t, max_tokens=32, sample=s) for t in texts for s in range(5)))
    assert sorted(found) == list(range(20))
    assert [g.problem for g in found.values() if g.problem] == []
    schema = '{"name": "v", "schema": {"type": "object", "required": ["label"]}}'
    said = dict(
        served.complete(ask(t, temperature=0, max_tokens=32, response_format=schema) for t in texts)
    )
    assert all(any("response_format" in o for o in g.overrides) for g in said.values())
    can = served.capabilities
    assert (can.n, can.logprobs, can.json_schema) == (False, False, False)
    assert can.draws_vary is True


def test_what_it_refuses_is_said(served: Any) -> None:
    (_, found), *_ = served.complete([ask(questions(1)[0], max_tokens=8, sample=99)])
    said = ("top_k: not sent", "min_p: not sent", "repetition_penalty: not sent")
    assert found.overrides == said
    assert any("top_k" in notice and "422" in notice for notice in served.notices)


def test_a_folder_that_does_not_sample_repeats_itself_and_is_noticed(
    serve: Serve, greedy_folder: Path
) -> None:
    engine = open_model(serve(greedy_folder))
    requests = [ask(t, max_tokens=32, sample=s) for t in questions(10) for s in range(3)]
    found = dict(engine.complete(requests))
    assert len({g.text for g in found.values()}) > 5
    assert engine.capabilities.draws_vary is False
    assert any("repeat" in notice for notice in engine.notices)  # type: ignore[attr-defined]
    engine.close()
