"""The vLLM engine on a fake with vLLM's documented types; the contract suite runs on it too."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator

import fake_vllm
import pytest
from serving import builtin_folder

from sayso.engines import open_model
from sayso.engines.openai.reply import read_tokens
from sayso.engines.vllm import SEEDS, VllmEngine, step_arrays
from sayso.records import InputError, ask


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", fake_vllm)
    monkeypatch.setitem(sys.modules, "vllm.platforms", fake_vllm)


@pytest.fixture
def engine(fake: None) -> Iterator[VllmEngine]:
    opened = open_model(f"vllm:{builtin_folder()}")
    assert isinstance(opened, VllmEngine)
    yield opened
    opened.close()


#: the chances of all tokens at a place
CHANCES = [0.4, 0.2, 0.1, 0.1, 0.1, 0.05, 0.04, 0.01]


@pytest.mark.parametrize(
    ("own", "rest"),
    [
        (0, 0.1 * math.log(10)),  # .1 is left, in tokens of at most .1 each
        (7, 0.01 * math.log(100) - 0.09 * math.log(0.09)),  # one of .01 was taken: others are more
    ],
)
def test_entropy_of_the_likeliest_tokens_is_a_lower_bound_by_hand(own: int, rest: float) -> None:
    shown = {n: math.log(CHANCES[n]) for n in (own, *range(5))}
    arrays = step_arrays([own], [{n: fake_vllm.Logprob(value) for n, value in shown.items()}])
    floor = 0.4 * math.log(2.5) + 0.2 * math.log(5) + 0.3 * math.log(10) + rest
    assert arrays == {
        "logprobs": [shown[own]],
        "entropies": [pytest.approx(floor)],
    }
    assert floor < math.fsum(-p * math.log(p) for p in CHANCES)
    # a server tells the same of the same tokens
    tops = [{"token": str(n), "logprob": value} for n, value in shown.items()]
    told = {"token": "a", "logprob": shown[own], "top_logprobs": tops}
    served = read_tokens([told], "a", False)
    assert served is not None
    assert served.entropies == pytest.approx([floor], abs=1e-5)


def test_a_certain_token_has_no_entropy() -> None:
    assert step_arrays([7], [{7: fake_vllm.Logprob(0.0)}])["entropies"] == [0.0]
    assert step_arrays([], []) == {"logprobs": [], "entropies": []}


def test_greedy_answers_are_those_of_transformers(engine: VllmEngine) -> None:
    requests = [ask(f"Where was person {n} born?", temperature=0, max_tokens=8) for n in range(4)]
    here = open_model(f"hf:{builtin_folder()}", device="cpu")
    ours, theirs = dict(here.complete(requests)), dict(engine.complete(requests))
    here.close()
    for n in range(4):
        assert theirs[n].text == ours[n].text
        assert theirs[n].token_ids == ours[n].token_ids
        assert theirs[n].logprobs == pytest.approx(ours[n].logprobs, abs=1e-4)
        bounds = theirs[n].entropies or ()
        assert all(b <= h + 1e-4 for b, h in zip(bounds, ours[n].entropies or (), strict=True))
        assert any("lower bounds" in override for override in theirs[n].overrides)


def test_draws_of_a_prompt_are_one_request_and_extend_each_other(engine: VllmEngine) -> None:
    five = [ask("Where was she born?", max_tokens=6, sample=n) for n in range(5)]
    draws = dict(engine.complete(five))
    (params,) = engine._llm.calls
    assert (params.n, params.seed) == (5, 0)
    later = [ask("Where was she born?", max_tokens=6, sample=n) for n in (3, 4)]
    again = dict(engine.complete(later))
    assert engine._llm.calls[-1].seed == 3
    assert [again[0].text, again[1].text] == [draws[3].text, draws[4].text]
    other = ask("Where was she born?", max_tokens=6, seed=2, sample=1)
    list(engine.complete([other]))
    assert engine._llm.calls[-1].seed == 2 * SEEDS + 1


def test_exact_reads_each_answer_once_more(fake: None) -> None:
    exact = open_model(f"vllm:{builtin_folder()}", exact=True)
    here = open_model(f"hf:{builtin_folder()}", device="cpu")
    request = ask("Where was she born?", temperature=0, max_tokens=8)
    ((_, ours),), ((_, theirs),) = here.complete([request]), exact.complete([request])
    assert theirs.entropies == pytest.approx(ours.entropies, abs=1e-4)
    assert not any("lower bounds" in override for override in theirs.overrides)
    here.close()
    exact.close()


def test_its_draws_are_never_taken_for_those_of_transformers(engine: VllmEngine) -> None:
    here = open_model(f"hf:{builtin_folder()}", weights=False)
    assert engine.identity == f"vllm|{here.identity}"
    here.close()


def test_every_setting_is_said_to_it(engine: VllmEngine) -> None:
    list(engine.complete([ask("Who?", max_tokens=3, top_k=5, top_p=0.9, stop=["x"])]))
    params = engine._llm.calls[-1]
    assert (params.top_k, params.top_p, params.stop) == (5, 0.9, ["x"])
    assert params.stop_token_ids == sorted(engine._inner.ends)
    assert fake_vllm.LLM.made[-1]["generation_config"] == "vllm"
    assert fake_vllm.LLM.made[-1]["enable_chunked_prefill"] is False  # on a CPU
    engine._llm.ends = "EngineCore encountered an issue"
    with pytest.raises(InputError, match=r"vLLM ended .*an issue.* run the same command"):
        list(engine.complete([ask("Who?")]))


def test_without_vllm_the_line_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(InputError, match=r"pip install 'sayso\[vllm\]'"):
        open_model(f"vllm:{builtin_folder()}")


def test_a_device_that_is_not_vllms_is_refused(fake: None) -> None:
    with pytest.raises(InputError, match="leave it out"):
        open_model(f"vllm:{builtin_folder()}", device="mps")
