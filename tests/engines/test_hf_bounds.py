"""What an hf engine reserves: so many bytes, and no more than answers are expected to need."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from test_hf_draws import answers, assert_same, mixed_requests  # noqa: E402

from sayso.engines import open_model  # noqa: E402
from sayso.engines.hf import kv_cache, load, sampling  # noqa: E402
from sayso.engines.hf.load import HfOptions  # noqa: E402
from sayso.records import Request, ask  # noqa: E402

#: The tiny Llama: keys and values of 2 layers, 2 heads of 8 numbers of 4 bytes.
PLACE = 2 * 2 * 2 * 8 * 4


def opened(folder: Path, **options: object) -> Any:
    return open_model(f"hf:{folder}", device="cpu", **options)


@pytest.fixture
def reserved(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Return a list to which every new buffer adds its rows and columns."""
    found: list[tuple[int, int]] = []
    before = kv_cache.SlotCache._reserve

    def noted(self: Any, rows: int, *columns: int) -> None:
        last = self.capacity
        before(self, rows, *columns)
        if self.capacity != last:
            found.append(self.capacity)

    monkeypatch.setattr(kv_cache.SlotCache, "_reserve", noted)
    return found


def test_on_a_cpu_the_cache_takes_so_many_bytes_whatever_is_free(
    make_folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = opened(make_folder()).runner
    monkeypatch.setattr(load, "main_memory", lambda: 1 << 40)
    limits = load.first_limits(runner, HfOptions())
    assert limits.slots * PLACE == 128 << 20
    # a batch that begins with a small model
    assert limits.first * PLACE == 128 << 20
    # where answers grow longer than expected
    assert limits.most * PLACE == 3 * (128 << 20)
    assert limits.rows == 512
    # a small machine: a quarter of what the weights leave
    weights = sum(p.numel() * 4 for p in runner.model.parameters())
    monkeypatch.setattr(load, "main_memory", lambda: (4 << 20) + weights)
    assert load.first_limits(runner, HfOptions()).slots * PLACE == 1 << 20
    monkeypatch.setattr(load, "main_memory", lambda: 1 << 40)
    # a batch that begins with a larger one: three quarters of its weights
    before = sum(p.numel() for p in runner.model.parameters())
    middling = torch.nn.Parameter(torch.empty(100_000_000, device="meta"))
    runner.model.register_parameter("heavy", middling)
    larger = load.first_limits(runner, HfOptions())
    assert larger.first == int(0.75 * (before + 100_000_000) * 4) // PLACE
    assert larger.slots < larger.first < larger.most
    # weights that take more than 128 MB anyway: two fifths of them
    heavy = torch.nn.Parameter(torch.empty(1 << 30, device="meta"))
    runner.model.register_parameter("heavy", heavy)
    heavier = load.first_limits(runner, HfOptions())
    assert heavier.slots == heavier.most == int(0.4 * (before + (1 << 30)) * 4) // PLACE
    assert heavier.first == heavier.most


def test_the_plan_does_not_depend_on_what_is_free(
    make_folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = opened(make_folder()).runner
    before = load.first_limits(runner, HfOptions())
    known = load.os.sysconf

    def nothing_free(name: str) -> int:
        return 1 if name == "SC_AVPHYS_PAGES" else known(name)

    monkeypatch.setattr(load.os, "sysconf", nothing_free)
    assert load.first_limits(runner, HfOptions()) == before


def test_the_limit_of_a_container_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(load, "CONTAINER", (tmp_path / "none", limit))
    whole = load.main_memory()
    limit.write_text("max\n")
    assert load.main_memory() == whole > 1 << 28
    limit.write_text("123456789\n")
    assert load.main_memory() == 123456789


def test_long_answers_are_not_begun_again_for_the_sake_of_the_budget(
    make_folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "CACHE", 1024 * PLACE)
    engine = opened(make_folder())
    assert engine.limits.slots == 1024
    requests = [ask(f"When {n}?", max_tokens=150, temperature=0) for n in range(12)]
    found = answers(engine, requests)
    assert sum(g.token_ids is not None and len(g.token_ids) > 100 for g in found) > 3
    # every token is computed once: prompts, and answers but their last token
    real = sum(len(engine.render(g.request).ids) + len(g.token_ids or ()) for g in found)
    assert engine.counts.slots < 1.25 * real


def test_a_wide_vocabulary_leaves_fewer_rows(make_folder: Any) -> None:
    runner = opened(make_folder()).runner
    runner.vocabulary = 32_000
    # 20 x 1,048,576 bytes / (32,000 x 4 bytes) = 163.8
    assert load.first_limits(runner, HfOptions()).rows == 163
    runner.vocabulary = 152_000
    assert load.first_limits(runner, HfOptions()).rows == 64
    assert load.first_limits(runner, HfOptions(batch_size=200)).rows == 200


def test_a_pass_over_prompts_takes_so_many_bytes(
    make_folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert opened(make_folder()).runner.place == PLACE
    assert opened(make_folder()).runner.prefill_slots == 4096
    requests = mixed_requests()
    names = ["logprobs", "entropies"]
    expected = answers(opened(make_folder()), requests)
    pairs = [(g.request, g.token_ids or ()) for g in expected]
    forced = dict(opened(make_folder()).force(pairs, names))
    monkeypatch.setattr(load, "PREFILL", 300 * PLACE)
    engine = opened(make_folder())
    assert engine.runner.prefill_slots == 300
    assert_same(answers(engine, requests), expected)
    again = dict(engine.force(pairs, names))
    assert [again[n].token_ids for n in forced] == [forced[n].token_ids for n in forced]
    for n, other in forced.items():
        assert again[n].logprobs == pytest.approx(other.logprobs, abs=1e-5)


def test_a_few_prompts_do_not_join_rows_that_take_many_columns(make_folder: Any) -> None:
    """They would take as many columns each, and be prefilled by ones."""
    engine = opened(make_folder(), token_slots=1500, batch_size=40)
    engine.limits = engine.limits._replace(first=100_000, most=100_000)
    joined: list[tuple[int, int]] = []
    before = kv_cache.SlotCache.prefill

    def noted(self: Any, prompts: Any, *sizes: int) -> Any:
        joined.append((len(prompts), len(self.lengths)))
        return before(self, prompts, *sizes)

    requests = [ask(f"Who painted it {n}?", sample=0, max_tokens=120) for n in range(60)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kv_cache.SlotCache, "prefill", noted)
        found = answers(engine, requests)
    assert_same(found, answers(opened(make_folder()), requests))
    assert joined[0] == (40, 0)
    assert [new for new, live in joined[1:-1] if live and new < 10] == []


def drawn(prompts: int) -> list[Request]:
    """Return ten draws of 32 tokens for each of some prompts of nearly one length."""
    return [
        ask(f"Who painted it {n:02}?", max_tokens=32, sample=s)
        for n in range(prompts)
        for s in range(10)
    ]


def test_a_batch_reserves_what_it_is_expected_to_need(
    make_folder: Any, reserved: list[tuple[int, int]]
) -> None:
    engine = opened(make_folder(), batch_size=30)
    requests = drawn(12)
    longest = max(len(engine.render(r).ids) for r in requests)
    answers(engine, requests)
    assert reserved
    for rows, columns in reserved:
        assert rows <= 30 + 30 // 16
        assert columns <= longest + 32 + max(kv_cache.AHEAD, (longest + 32) // 8)


def test_a_batch_begins_with_as_many_rows_as_are_expected_to_fit(make_folder: Any) -> None:
    engine = opened(make_folder())
    requests = drawn(5)
    longest = max(len(engine.render(r).ids) for r in requests)
    engine.limits = engine.limits._replace(first=20 * (longest + 32 + kv_cache.AHEAD))
    sizes: list[int] = []
    before = kv_cache.SlotCache.prefill

    def noted(self: Any, prompts: Any, rows: int, until: int) -> Any:
        sizes.append(rows)
        return before(self, prompts, rows, until)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kv_cache.SlotCache, "prefill", noted)
        found = answers(engine, requests)
    assert sizes[0] == 20
    assert_same(found, answers(opened(make_folder()), requests))


def test_later_batches_use_the_first_ones_room(
    make_folder: Any, reserved: list[tuple[int, int]]
) -> None:
    """A buffer that is made again costs its memory twice while it is copied."""
    answers(opened(make_folder(), batch_size=30), drawn(30))
    assert len(reserved) == 1


def test_the_cache_stays_within_its_places(
    make_folder: Any, reserved: list[tuple[int, int]]
) -> None:
    engine = opened(make_folder(), token_slots=2000)
    answers(engine, drawn(20))
    for rows, columns in reserved:
        assert rows * columns <= 2000 * 17 / 16


def test_reading_a_row_at_a_time_changes_nothing(
    make_folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = mixed_requests()
    names = ["logprobs", "entropies", "margins", "alternatives"]
    expected = answers(opened(make_folder(), record=names), requests)
    forced = dict(
        opened(make_folder()).force([(g.request, g.token_ids or ()) for g in expected], names)
    )
    monkeypatch.setattr(sampling, "READ", {"cpu": 1})
    engine = opened(make_folder(), record=names)
    found = answers(engine, requests)
    assert_same(found, expected)
    for one, other in zip(found, expected, strict=True):
        assert one.margins == pytest.approx(other.margins, abs=1e-5)
        assert len(one.alternatives or ()) == len(other.alternatives or ())
    again = dict(engine.force([(g.request, g.token_ids or ()) for g in expected], names))
    for n, other in forced.items():
        assert again[n].logprobs == pytest.approx(other.logprobs, abs=1e-5)
        assert again[n].margins == pytest.approx(other.margins, abs=1e-5)
