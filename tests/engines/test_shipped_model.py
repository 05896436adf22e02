"""The model that sayso ships, read by sayso alone and by transformers: the same to the last bit."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import msgspec
import numpy as np
import pytest
from serving import builtin_folder

from sayso.engines import open_model
from sayso.engines.engine import POSITIONS
from sayso.records import Generation, Message, Request

ARRAYS = frozenset({"logprobs", "entropies", "alternatives"})
QUESTIONS = (
    "Who directed The Silver Lighthouse?",
    "When was Zoë Łódź born? 東京",
    "Tell me what you know about the river, in a paragraph. " * 6,
    "<|end|> is a mark, <|assistant|> another; who wrote it?",
    "?",
)


def ask(text: str, *more: Message, **given: Any) -> Request:
    return Request(messages=(*more, Message("user", text)), **{"max_tokens": 40, **given})


REQUESTS = [
    *(ask(q, temperature=0) for q in QUESTIONS),
    *(ask(q, temperature=1, sample=n) for q in QUESTIONS for n in range(5)),
    *(ask(q, temperature=0.7, top_p=0.9, stop=("\n", " the")) for q in QUESTIONS),
    ask(QUESTIONS[0], Message("system", "Say so when you are not sure."), temperature=0),
    ask(QUESTIONS[0], prefill="I think that ", temperature=0),
    ask(QUESTIONS[1], chat_template_kwargs=(("enable_thinking", False),), temperature=0),
    Request(
        messages=(Message("user", QUESTIONS[0]), Message("assistant", "It was directed by ")),
        temperature=0,
        max_tokens=20,
    ),
]


@pytest.fixture(scope="module", params=["float32", "bfloat16"])
def both(request: pytest.FixtureRequest) -> Any:
    """The model under its name, and its folder, which transformers opens."""
    given: dict[str, Any] = {"device": "cpu", "dtype": request.param, "threads": 1}
    given |= {"record": ARRAYS}
    engines = open_model("builtin", **given), open_model(f"hf:{builtin_folder()}", **given)
    yield engines
    for engine in engines:
        engine.close()


def test_transformers_is_one_of_the_two(both: Any) -> None:
    modules = [type(engine.runner.model).__module__.split(".")[0] for engine in both]
    assert modules == ["sayso", "transformers"]


def test_they_are_one_model(both: Any) -> None:
    ours, theirs = both
    for name in ("identity", "base", "ends", "capabilities", "limits", "plan", "device"):
        assert getattr(ours, name) == getattr(theirs, name), name
    here, there = (dict(e.runner.model.named_parameters()) for e in both)
    assert here.keys() == there.keys()
    assert all((here[name] == there[name]).all() for name in here)
    assert ours.tokenizer.all_special_ids == theirs.tokenizer.all_special_ids


def test_prompts_are_the_same_tokens(both: Any) -> None:
    ours, theirs = both
    for request in REQUESTS:
        assert ours.render(request) == theirs.render(request)


def test_answers_and_their_arrays_are_equal(both: Any) -> None:
    found = [dict(engine.complete(REQUESTS)) for engine in both]
    for number, request in enumerate(REQUESTS):
        ours, theirs = (answers[number] for answers in found)
        assert msgspec.to_builtins(ours) == msgspec.to_builtins(theirs), request
    assert len({answer.text for answer in found[0].values()}) > len(QUESTIONS)


def test_given_texts_are_read_equally(both: Any) -> None:
    texts = ["It was directed by Ana Petrova.", "I do not know.", [17, 300, 5]]
    items = [(request, text) for request in REQUESTS[:5] for text in texts]
    found: list[dict[int, Generation]] = [dict(e.force(items, sorted(ARRAYS))) for e in both]
    for number in range(len(items)):
        ours, theirs = (answers[number] for answers in found)
        assert msgspec.to_builtins(ours) == msgspec.to_builtins(theirs)


@pytest.mark.parametrize("position", POSITIONS)
def test_hidden_states_are_equal(both: Any, position: str) -> None:
    items = [(request, "It was directed by Ana Petrova.") for request in REQUESTS[:5]]
    for layer in (0, 1, -1):
        ours, theirs = (engine.hidden(items, layer, position) for engine in both)
        assert np.array_equal(ours, theirs), layer


def test_without_weights_it_takes_no_memory_and_has_the_same_identity(both: Any) -> None:
    dtype = str(both[0].runner.model.dtype).removeprefix("torch.")
    empty: Any = open_model("builtin", device="cpu", dtype=dtype, weights=False)
    assert empty.identity == both[0].identity
    assert all(weights.is_meta for weights in empty.runner.model.parameters())


def test_another_template_is_left_to_transformers() -> None:
    engine: Any = open_model("builtin", device="cpu", chat_template="{{ messages[0]['content'] }}")
    assert engine.render(ask("Who?")).text == "Who?"
    engine.close()


def test_a_run_of_it_imports_no_transformers() -> None:
    code = (
        "import sys, sayso\n"
        "from sayso.engines import open_model\n"
        "from sayso.records import Message, Request\n"
        "engine = open_model('builtin', device='cpu')\n"
        "(_, answer), = engine.complete([Request((Message('user', 'Who?'),), max_tokens=5)])\n"
        "assert answer.problem is None\n"
        "print(*{'transformers', 'torch._dynamo', 'torch.distributed.tensor'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
