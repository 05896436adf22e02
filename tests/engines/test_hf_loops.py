"""Answers that end where they only repeat themselves: an option, off unless asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from device import DEVICE  # noqa: E402
from test_hf_draws import answers, assert_same  # noqa: E402

from sayso.engines import open_model  # noqa: E402
from sayso.engines.local.decode import Loop  # noqa: E402
from sayso.engines.local.text import Detokenizer, said_once  # noqa: E402
from sayso.records import Generation, Request, ask  # noqa: E402


def opened(folder: Path, **options: object) -> Any:
    return open_model(f"hf:{folder}", device=DEVICE, **options)


def first_loop(ids: list[int], most: int = 200) -> tuple[int, int] | None:
    """Return how many tokens were read when a loop was seen, and how many of them repeat."""
    loop = Loop(most)
    for place, token in enumerate(ids, 1):
        if repeated := loop.add(token):
            return place, repeated
    return None


def by_definition(ids: list[int]) -> tuple[int, int] | None:
    """The same by looking at every end and every block: three copies, 24 tokens at least."""
    for end in range(24, len(ids) + 1):
        for size in range(1, end // 3 + 1):
            tail = ids[end - max(3 * size, 24) : end]
            if all(a == b for a, b in zip(tail, tail[size:], strict=False)):
                start = end - len(tail)
                while start > 0 and ids[start - 1] == ids[start - 1 + size]:
                    start -= 1
                return end, end - start - size
    return None


def test_a_loop_by_hand() -> None:
    block = [1, 2, 3, 4, 5, 6, 7, 8]
    # 24 tokens, three copies of eight: the last 16 repeat what stands before them
    assert first_loop(block * 3) == (24, 16)
    assert first_loop([9, 9, *block * 5]) == (26, 16)
    # ten tokens: three copies are thirty tokens
    assert first_loop([*range(10)] * 4) == (30, 20)
    # one token: 24 of them, of which 23 repeat
    assert first_loop([7] * 30) == (24, 23)
    # three copies of four are twelve tokens, and six copies 24
    assert first_loop([1, 2, 3, 4] * 5) is None
    assert first_loop([1, 2, 3, 4] * 6) == (24, 20)
    # what stands before ends as the block does: its copy begins one token earlier
    assert first_loop([0, 8, *block * 3]) == (25, 16)


def test_what_is_no_loop() -> None:
    assert first_loop([]) is None
    assert first_loop([7] * 23) is None
    assert first_loop([*range(40)] * 2) is None  # twice, as a refrain
    counted = [n for number in range(40) for n in (50 + number, 1, 2, 3, 4, 5, 6, 7)]
    assert first_loop(counted, 400) is None  # a list whose items differ by their number
    # a block that is longer than a third of what is allowed cannot come three times
    assert first_loop([*range(10)] * 4, most=29) is None
    assert first_loop([1], most=1) is None


def greedy(tokens: int = 150) -> list[Request]:
    return [
        ask(f"Who painted the bridge {n}?", max_tokens=tokens, temperature=t, sample=n % 2)
        for n in range(10)
        for t in (0.0, 0.0 if n % 3 else 1.0)
    ]


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_an_answer_ends_at_its_own_loop_whoever_is_beside(make_folder: Any, kind: str) -> None:
    folder = make_folder(kind)
    plain = answers(opened(folder), greedy())
    ended = answers(opened(folder, end_loops=True), greedy())
    loops = 0
    for before, after in zip(plain, ended, strict=True):
        ids = list(before.token_ids or ())
        seen = by_definition(ids)
        if seen is None:
            assert_same([after], [before])
            continue
        loops += 1
        end, repeated = seen
        assert after.finish == "loop"
        assert after.problem is None
        kept = len(after.token_ids or ())
        assert end - repeated <= kept <= end  # what was said once, to the end of its sentence
        assert list(after.token_ids or ()) == ids[:kept]
        assert len(after.logprobs or ()) == len(after.entropies or ()) == kept
        assert len(after.offsets or ()) == kept
        assert before.text.startswith(after.text)
        assert after.usage.completion_tokens == end  # what was computed
    assert 0 < loops < len(plain)
    for rows in (1, 7):
        again = answers(opened(folder, end_loops=True, batch_size=rows), greedy())
        assert_same(again, ended)


def test_another_model_for_the_cache_and_the_same_base(make_folder: Any) -> None:
    one, other = opened(make_folder()), opened(make_folder(), end_loops=True)
    assert other.identity != one.identity
    assert other.identity.startswith(one.identity)
    assert other.base == one.base == one.identity
    assert other.signature == f"{one.signature}+end_loops"
    off = opened(make_folder(), end_loops=False)
    assert (off.identity, off.signature) == (one.identity, one.signature)
    empty = opened(make_folder(), end_loops="true", weights=False)
    assert (empty.identity, empty.signature) == (other.identity, other.signature)
    named: Any = open_model("builtin", device=DEVICE, dtype="float32", end_loops=True)
    assert named.signature == "builtin@1+end_loops"


def test_the_sentence_is_kept_whole(make_folder: Any) -> None:
    engine = opened(make_folder())
    texts = Detokenizer(engine.tokenizer)

    def kept(before: str, block: str) -> str:
        return kept_of([*encode(before), *encode(block) * 30])

    def kept_of(ids: list[int]) -> str:
        found = first_loop(ids)
        assert found is not None
        end, repeated = found
        return texts.decode(ids[: said_once(texts, ids[:end], repeated)])

    def encode(text: str) -> list[int]:
        return list(engine.tokenizer(text, add_special_tokens=False)["input_ids"])

    # the full stop before the block makes the copies begin at one: the sentence's own is kept
    assert kept("So.", " It was built. It was repaired.") == "So. It was built. It was repaired."
    assert kept("The first", "\n- a bridge") == "The first\n- a bridge\n"
    assert kept("", " so it is") == " so it is"  # no sentence ends
    # a block that ends inside a character: the character is kept whole
    parts = encode("語")
    assert len(parts) == 3
    assert kept_of([*parts[1:], *parts * 30]).endswith("語")


def test_a_short_answer_is_left_alone(make_folder: Any) -> None:
    requests = greedy(23)
    plain = answers(opened(make_folder()), requests)
    found: list[Generation] = answers(opened(make_folder(), end_loops=True), requests)
    assert_same(found, plain)
