"""Different prompts share the reading of a long beginning, and nothing that is measured moves."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pytest

torch = pytest.importorskip("torch")
from test_hf_draws import ALL_KINDS, LLAMA_AND_GPT2, Flaky, answers, opened  # noqa: E402

from sayso.engines.hf import kv_cache  # noqa: E402
from sayso.engines.hf.kv_cache import shared_sizes  # noqa: E402
from sayso.records import Generation, Request, ask  # noqa: E402

INSTRUCTION = "Who built the bridge, and when was it repaired? Say what it was built of. "
OTHER = "The painter came from the north, and nobody is sure when the ceiling was painted. "


def judged(count: int = 9, **settings: object) -> list[Request]:
    """Requests of two kinds whose prompts begin with one instruction each, of mixed lengths."""
    return [
        ask(f"{begin}{'It was repaired. ' * (n % 4)}Number {n}?", max_tokens=6 + n % 3, **settings)
        for n in range(count)
        for begin in (INSTRUCTION, OTHER)
    ]


def both(
    make_folder: Any, kind: str, monkeypatch: pytest.MonkeyPatch, **options: object
) -> tuple[Any, Any]:
    """An engine that shares what it can, and one that shares nothing, both in float64."""
    sharing = opened(make_folder(kind), dtype="float64", **options)
    alone = opened(make_folder(kind), dtype="float64", **options)
    monkeypatch.setattr(kv_cache, "PASS", 1)
    complete, force = alone.complete, alone.force

    def unshared(call: Any) -> Any:
        def run(*args: Any) -> list[Any]:
            with monkeypatch.context() as patched:
                patched.setattr(kv_cache, "SHORTEST", 1_000_000)
                return list(call(*args))

        return run

    alone.complete, alone.force = unshared(complete), unshared(force)
    return sharing, alone


def assert_equal(one: Sequence[Generation], other: Sequence[Generation]) -> None:
    for a, b in zip(one, other, strict=True):
        assert (a.token_ids, a.text, a.finish) == (b.token_ids, b.text, b.finish), a.request
        for array in ("logprobs", "entropies", "margins"):
            assert getattr(a, array) == pytest.approx(getattr(b, array), abs=2e-6), array


# ---- which beginnings


def cost(sizes: dict[tuple[int, ...], int]) -> int:
    """Tokens that are read, and what the passes of their own are worth."""
    beginnings = {prompt[:size] for prompt, size in sizes.items() if size}
    own = sum(len(prompt) - size for prompt, size in sizes.items())
    return own + sum(len(beginning) + kv_cache.PASS for beginning in beginnings)


def least(prompts: tuple[tuple[int, ...], ...]) -> int:
    """The least cost over all ways to group prompts by a beginning."""
    if not prompts:
        return 0
    first, rest = prompts[0], prompts[1:]
    found = [len(first) + least(rest)]
    for size in range(kv_cache.SHORTEST, len(first)):
        others = [p for p in rest if p[:size] == first[:size] and len(p) > size]
        for count in range(1, len(others) + 1):
            for group in combinations(others, count):
                own = sum(len(p) - size for p in (first, *group))
                left = tuple(p for p in rest if p not in group)
                found.append(size + kv_cache.PASS + own + least(left))
    return min(found)


def test_no_other_choice_of_beginnings_reads_less(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kv_cache, "SHORTEST", 2)
    monkeypatch.setattr(kv_cache, "PASS", 3)
    draw = random.Random(1)
    shared = 0
    for _ in range(150):
        prompts = [
            tuple(draw.choice((0, 1)) if n > draw.choice((0, 3, 5)) else 1 for n in range(size))
            for size in draw.choices(range(1, 10), k=draw.randint(1, 6))
        ]
        sizes = shared_sizes(prompts)
        assert sizes.keys() == set(prompts)
        assert all(size < len(prompt) for prompt, size in sizes.items())
        assert cost(sizes) == least(tuple(sizes))
        shared += any(sizes.values())
    assert shared > 30


def test_a_beginning_has_to_be_worth_a_pass() -> None:
    head = tuple(range(100))
    assert set(shared_sizes([(*head, 1), (*head, 2)]).values()) == {0}  # saves 100 tokens
    assert set(shared_sizes([(*head, n) for n in range(9)]).values()) == {100}
    assert set(shared_sizes([(*head[:15], n) for n in range(900)]).values()) == {0}  # too short
    # one prompt is the beginning of all others: it keeps a token of its own
    assert shared_sizes([head, *((*head, n) for n in range(9))])[head] == 99
    assert shared_sizes([]) == {}


# ---- what is computed


@ALL_KINDS
@pytest.mark.parametrize("rows", [3, 64])
def test_nothing_that_is_measured_moves(
    make_folder: Any, kind: str, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = {"record": frozenset({"logprobs", "entropies", "margins"})}
    sharing, alone = both(make_folder, kind, monkeypatch, batch_size=rows, **record)
    for requests in (
        judged(temperature=0),
        [r for s in range(3) for r in judged(5, sample=s)],
        [*judged(4, temperature=0), *(ask(f"When {n}?", max_tokens=5) for n in range(6))],
    ):
        assert_equal(answers(sharing, requests), answers(alone, requests))
    if kind in ("llama", "gpt2"):
        assert sharing.counts.slots < 0.75 * alone.counts.slots
    else:  # neither a sliding window nor a running state can be shared in this way
        assert sharing.counts.slots == alone.counts.slots


@LLAMA_AND_GPT2
def test_each_beginning_is_read_once(
    make_folder: Any, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sharing, alone = both(make_folder, kind, monkeypatch)
    monkeypatch.setattr(kv_cache, "PASS", 40)
    sharing.runner.prefill_slots = alone.runner.prefill_slots = 150  # one prompt in a pass or two
    requests = [
        ask(r.messages[0].content, temperature=0, max_tokens=1) for r in judged(8, temperature=0)
    ]
    prompts = {sharing.render(r).ids for r in requests}
    sizes = shared_sizes(prompts)
    assert len({prompt[:size] for prompt, size in sizes.items()}) == 2  # one of each kind
    assert all(sizes.values())
    answers(sharing, requests)
    longest = max(len(p) for p in prompts)
    expected = sum({prompt[:size]: size for prompt, size in sizes.items()}.values())
    expected += sum(len(prompt) - size for prompt, size in sizes.items())
    # padding: passes hold two prompts at most, which differ by some tokens
    assert expected <= sharing.counts.slots <= expected + 16 * longest // 4
    answers(alone, requests)
    assert alone.counts.slots >= sum(map(len, prompts))


@LLAMA_AND_GPT2
def test_given_texts_behind_different_prompts_share_them_too(
    make_folder: Any, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sharing, alone = both(make_folder, kind, monkeypatch, batch_size=5)
    items = [(r, text) for r in judged(6) for text in (" a", " it was in 1902.")]
    want = ["logprobs", "entropies", "margins"]
    sharing.watch(-1, "last_answer")
    shared, plain = dict(sharing.force(items, want)), dict(alone.force(items, want))
    assert_equal([shared[n] for n in range(len(items))], [plain[n] for n in range(len(items))])
    assert sharing.counts.slots < 0.75 * alone.counts.slots
    # states that went by are those of a pass of their own
    before = sharing.counts.forwards
    states = sharing.hidden(items, -1, "last_answer")
    assert sharing.counts.forwards == before
    assert states == pytest.approx(alone.hidden(items, -1, "last_answer"), abs=1e-2)


def test_memory_that_runs_out_while_they_are_shared_changes_nothing(
    make_folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sharing, alone = both(make_folder, "llama", monkeypatch)
    expected = answers(alone, judged(temperature=0))
    for fails in ((1,), (2, 4), (7,)):
        engine = opened(make_folder(), dtype="float64")
        engine.record = sharing.record
        engine.runner.model = Flaky(
            engine.runner.model, fails, torch.OutOfMemoryError("out of memory")
        )
        found = answers(engine, judged(temperature=0))
        assert [g.token_ids for g in found] == [g.token_ids for g in expected]
        assert engine.counts.out_of_memory == len(fails)


def test_what_is_kept_of_beginnings_is_bounded(
    make_folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sharing, alone = both(make_folder, "llama", monkeypatch)
    requests = judged(6, temperature=0)
    expected = answers(alone, requests)
    monkeypatch.setattr(kv_cache, "KEPT", 1)  # never more than the one in use
    assert_equal(answers(sharing, requests), expected)
    beginnings = kv_cache.Beginnings(sharing.runner, [sharing.render(r).ids for r in requests])
    for prompt in (sharing.render(r).ids for r in requests):
        beginnings.states(beginnings.of(prompt))
        assert len(beginnings._kept) == 1
