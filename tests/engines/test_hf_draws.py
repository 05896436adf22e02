"""A draw depends on weights, prompt, parameters, seed and sample; never on its neighbors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
from device import DEVICE  # noqa: E402

from sayso.engines import open_model  # noqa: E402
from sayso.records import Generation, Request, ask  # noqa: E402

LLAMA_AND_GPT2 = pytest.mark.parametrize("kind", ["llama", "gpt2"])
ALL_KINDS = pytest.mark.parametrize("kind", ["llama", "gpt2", "mistral", "mamba"])


def mixed_requests() -> list[Request]:
    """Prompts of mixed lengths with greedy rows, draws and truncated draws, 96 in all."""
    settings: list[dict[str, object]] = [
        {"temperature": 0},
        {"sample": 0},
        {"sample": 1},
        {"sample": 2, "seed": 11},
        {"sample": 0, "temperature": 0.3, "top_p": 0.5},
        {"sample": 1, "temperature": 1.4, "top_k": 5},
        {"sample": 3, "min_p": 0.1, "repetition_penalty": 1.3},
        {"sample": 4, "stop": ["e"]},
    ]
    sentence = "Who painted the ceiling of the old bridge and when was it repaired"
    words = sentence.split()
    prompts = [" ".join(words[: 1 + n]) + f" {n}?" for n in range(12)]
    return [ask(p, max_tokens=5 + n % 7, **s) for n, p in enumerate(prompts) for s in settings]


class Flaky:
    """A model that runs out of memory at some of its calls."""

    def __init__(self, model: Any, fails: Sequence[int], error: Exception) -> None:
        self.model, self.fails, self.error, self.calls = model, fails, error, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def __call__(self, **given: Any) -> Any:
        self.calls += 1
        if self.calls in self.fails:
            raise self.error
        return self.model(**given)


def answers(engine: Any, requests: Sequence[Request]) -> list[Generation]:
    """Return the answers in the order of the requests."""
    found = dict(engine.complete(requests))
    assert sorted(found) == list(range(len(requests)))
    return [found[index] for index in range(len(requests))]


def assert_same(one: Sequence[Generation], other: Sequence[Generation]) -> None:
    """Draws are equal, numbers within 1e-4."""
    for a, b in zip(one, other, strict=True):
        assert (a.token_ids, a.text, a.finish) == (b.token_ids, b.text, b.finish), a.request
        assert a.logprobs == pytest.approx(b.logprobs, abs=1e-4)
        assert a.entropies == pytest.approx(b.entropies, abs=1e-4)


def opened(folder: Path, **options: object) -> Any:
    return open_model(f"hf:{folder}", device=DEVICE, **options)


@cache
def mixed_answers(folder: Path) -> list[Generation]:
    """Return the answers to the mixed requests, all in one batch."""
    return answers(opened(folder), mixed_requests())


@LLAMA_AND_GPT2
@pytest.mark.parametrize("rows", [1, 7, 64])
def test_batch_size_and_order_change_nothing(make_folder: Any, kind: str, rows: int) -> None:
    requests = mixed_requests()
    expected = mixed_answers(make_folder(kind))
    engine = opened(make_folder(kind), batch_size=rows)
    assert_same(answers(engine, requests), expected)
    if rows > 1:  # one row at a time has no order
        assert_same(answers(engine, requests[::-1])[::-1], expected)


@LLAMA_AND_GPT2
@pytest.mark.parametrize(
    "error",
    [torch.OutOfMemoryError("CUDA out of memory."), RuntimeError("not enough memory: you tried")],
)
def test_running_out_of_memory_halves_and_changes_nothing(
    make_folder: Any, kind: str, error: Exception
) -> None:
    requests = mixed_requests()
    expected = mixed_answers(make_folder(kind))
    engine = opened(make_folder(kind), batch_size=64)
    engine.runner.model = Flaky(engine.runner.model, (5, 30), error)
    assert_same(answers(engine, requests), expected)
    assert engine.limits.rows == 16
    assert engine.counts.out_of_memory == 2
    assert any("memory ran out 2 times" in notice for notice in engine.notices)
    assert "batches of up to 16 answers" in engine.plan


def test_a_request_that_never_fits_fails_alone(make_folder: Any) -> None:
    engine = opened(make_folder(), batch_size=1)
    error = torch.OutOfMemoryError("out of memory")
    engine.runner.model = Flaky(engine.runner.model, (1,), error)
    found = answers(engine, [ask("One?", max_tokens=3), ask("Two?", max_tokens=3)])
    problems = [g.problem for g in found]
    assert sorted(problems, key=str) == [None, "failed: out of memory"]


def test_a_given_text_that_never_fits_fails_alone(make_folder: Any) -> None:
    engine = opened(make_folder(), batch_size=1)
    error = torch.OutOfMemoryError("out of memory")
    engine.runner.model = Flaky(engine.runner.model, (1,), error)
    items = [(ask("One?"), "Ada"), (ask("Two?"), "Ada, I think")]
    found = dict(engine.force(items, ["logprobs"]))
    assert found[0].problem is None
    assert found[1].problem == "failed: out of memory"
    engine.runner.model = Flaky(engine.runner.model, (1,), RuntimeError("shapes do not match"))
    with pytest.raises(RuntimeError, match="shapes"):
        dict(engine.force(items, ["logprobs"]))


def test_another_error_is_not_swallowed(make_folder: Any) -> None:
    engine = opened(make_folder())
    engine.runner.model = Flaky(engine.runner.model, (1,), RuntimeError("shapes do not match"))
    with pytest.raises(RuntimeError, match="shapes"):
        answers(engine, [ask("One?", max_tokens=3)])


@LLAMA_AND_GPT2
def test_growing_over_the_budget_draws_again_the_same(make_folder: Any, kind: str) -> None:
    requests = [ask(f"Who painted it {n}?", sample=n % 3, max_tokens=80) for n in range(12)]
    expected = answers(opened(make_folder(kind)), requests)
    assert_same(answers(opened(make_folder(kind), token_slots=300), requests), expected)


@ALL_KINDS
def test_logprobs_are_those_of_a_forced_pass(make_folder: Any, kind: str) -> None:
    """Also at T=.3 with top_p=.5: what is stored is the distribution at T=1."""
    engine = opened(make_folder(kind))
    requests = mixed_requests()
    found = answers(engine, requests)
    assert any(g.request.temperature == 0.3 and g.token_ids for g in found)
    pairs = [(g.request, g.token_ids or ()) for g in found]
    forced = dict(engine.force(pairs, ["logprobs", "entropies"]))
    tolerance = 1e-4 if kind != "mamba" else 5e-3  # its scan and its single steps round apart
    for index, answer in enumerate(found):
        assert forced[index].token_ids == answer.token_ids
        assert forced[index].logprobs == pytest.approx(answer.logprobs, abs=tolerance)
        assert forced[index].entropies == pytest.approx(answer.entropies, abs=tolerance)


@ALL_KINDS
def test_logprobs_are_those_of_the_bare_model(make_folder: Any, kind: str) -> None:
    """The same numbers from transformers alone, without cache, padding or anything of ours."""
    engine = opened(make_folder(kind))
    request = ask("When was the bridge built?", max_tokens=12, sample=2)
    answer = answers(engine, [ask("Hm?", max_tokens=4), request, ask("Who? " * 9)])[1]
    prompt = list(engine.render(request).ids)
    given = torch.tensor([[*prompt, *(answer.token_ids or ())]], device=engine.runner.device)
    with torch.no_grad():
        logits = engine.runner.model(input_ids=given).logits[0, len(prompt) - 1 : -1]
    plain = logits.double().log_softmax(-1)
    picked = plain.gather(1, given[0, len(prompt) :, None])[:, 0].tolist()
    tolerance = 1e-4 if kind != "mamba" else 5e-3
    assert answer.logprobs == pytest.approx(picked, abs=tolerance)
    entropies = (-(plain.exp() * plain).sum(-1)).tolist()
    assert answer.entropies == pytest.approx(entropies, abs=tolerance)


@ALL_KINDS
def test_without_any_cache_the_answers_are_the_same(make_folder: Any, kind: str) -> None:
    requests = [ask("Who " * n + "?", max_tokens=5, sample=n % 2) for n in (1, 3, 3, 6)]
    requests += [ask("Who Who Who?", max_tokens=5, temperature=0)]
    expected = answers(opened(make_folder(kind)), requests)
    engine = opened(make_folder(kind), batch_size=3)
    engine.runner.memory = "none"
    for a, b in zip(answers(engine, requests), expected, strict=True):
        assert a.token_ids == b.token_ids


def test_draws_share_their_prefill_and_equal_beginnings_a_row(make_folder: Any) -> None:
    engine = opened(make_folder())
    request = ask("Who painted the ceiling?", max_tokens=8, temperature=0)
    answers(engine, [request])
    alone = engine.counts.slots
    answers(engine, [request] * 20)  # twenty rows that never part cost what one costs
    assert engine.counts.slots == 2 * alone


def test_a_finished_row_that_is_computed_along_never_outgrows_the_context(make_folder: Any) -> None:
    """GPT-2 has 256 positions: a row that ended at 240 may not be carried on to 300."""
    engine = opened(make_folder("gpt2"))
    long = ask("Who painted it? " * 48, max_tokens=2, temperature=0)
    assert 180 < len(engine.render(long).ids) < 254
    requests = [long, *(ask(f"When {n}?", max_tokens=90, temperature=0) for n in range(9))]
    assert_same(answers(engine, requests), [answers(engine, [request])[0] for request in requests])


def test_samples_extend_each_other(make_folder: Any) -> None:
    engine = opened(make_folder())
    few = answers(engine, [ask("Who?", sample=s, max_tokens=9) for s in range(5)])
    many = answers(engine, [ask("Who?", sample=s, max_tokens=9) for s in range(20)])
    assert_same(few, many[:5])
    assert len({g.text for g in many}) > 10


def test_frequencies_follow_the_distribution(make_folder: Any) -> None:
    """The first token of 600 draws against the model's own probabilities."""
    engine = opened(make_folder(), record=["logprobs", "alternatives"])
    drawn = answers(engine, [ask("It was", sample=s, max_tokens=1) for s in range(600)])
    first = next(g for g in drawn if g.alternatives)
    counted = {g.token_ids[0]: 0 for g in drawn if g.token_ids}
    for g in drawn:
        if g.token_ids:
            counted[g.token_ids[0]] += 1
    for alternative in (first.alternatives or ())[0][:5]:
        p = 2.718281828**alternative.logprob
        # five standard errors
        spread = 5 * (p * (1 - p) / 600) ** 0.5
        assert abs(counted.get(alternative.token, 0) / 600 - p) < spread + 1e-9


def test_windows_change_nothing(make_folder: Any) -> None:
    requests = mixed_requests()[:40]
    expected = answers(opened(make_folder()), requests)
    assert_same(answers(opened(make_folder(), window=7), requests), expected)


def test_settings_that_make_no_sense_are_a_problem(make_folder: Any) -> None:
    found = answers(
        opened(make_folder()),
        [ask("Who?", temperature=-1, max_tokens=3), ask("Who?", max_tokens=0)],
    )
    assert (found[0].problem or "").startswith("failed: temperature")
    assert (found[1].text, found[1].finish, found[1].problem) == ("", "length", None)


def test_further_arrays_only_when_asked_for(make_folder: Any) -> None:
    names = ["margins", "self_certainty", "renyi", "alternatives"]
    requests = [ask("Who?", max_tokens=6, sample=s) for s in range(3)]
    plain = answers(opened(make_folder()), requests)[0]
    assert all(getattr(plain, name) is None for name in names)
    engine = opened(make_folder(), record=[*names, "logprobs"])
    full = answers(engine, requests)
    forced = dict(engine.force([(g.request, g.token_ids or ()) for g in full], names))
    for index, g in enumerate(full):
        assert g.entropies is None
        for name in names[:3]:
            assert getattr(g, name) == pytest.approx(getattr(forced[index], name), abs=1e-4)
            assert len(getattr(g, name)) == len(g.token_ids or ())
        for here, there in zip(g.alternatives or (), forced[index].alternatives or (), strict=True):
            assert len(here) == 10
            assert [a.logprob for a in here] == pytest.approx([a.logprob for a in there], abs=1e-4)
            assert list(here) == sorted(here, key=lambda a: -a.logprob)


def test_thoughts_are_separated_on_the_way(make_folder: Any) -> None:
    """A template that opens a thought: without its end there is no answer, and it is said."""
    template = "{{ messages[0].content }}<think>"
    engine = opened(make_folder("llama", template))
    for g in answers(engine, [ask("Who?", max_tokens=8, sample=s) for s in range(4)]):
        assert g.problem == "truncated"
        assert g.text == ""
        assert g.thinking is not None
        assert g.logprob_kind == "model_after_thought"
        assert g.token_ids == g.logprobs == ()
