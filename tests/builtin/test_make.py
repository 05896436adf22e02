"""The recipe runs end to end, resumes to the same weights, and what it exports is a plain Llama."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
from builtin_model import (  # noqa: E402
    make,
    packing,
    training,
)
from builtin_model.documents import Document  # noqa: E402
from builtin_model.world import build  # noqa: E402

TINY = replace(make.QUICK, tokens=2048 * 12)


def _train(folder: Path, steps_before_stop: int | None = None) -> dict[str, torch.Tensor]:
    world = build()
    tokenizer = make.tokenizer_of(world, TINY, 1500)
    model = training.new_model(TINY, tokenizer)
    stream = packing.batches(make.corpus(world, 1), tokenizer, TINY, lambda document: None)
    if steps_before_stop is not None:
        seen = stream

        def stopping() -> training.Iterator[packing.Batch]:
            for number, batch in enumerate(seen):
                if number == steps_before_stop:
                    raise KeyboardInterrupt
                yield batch

        stream = stopping()
    checkpoint = folder / "checkpoint.safetensors"
    training.train(model, stream, TINY, checkpoint, lambda line: None, every=5)
    return {k: v.detach().clone() for k, v in model.state_dict().items()}


def test_quick_make_exports_a_model_that_loads(tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    notes = make.make(tmp_path, make.QUICK, 3000)
    assert notes["tokens"] == make.QUICK.tokens
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "model")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "model")
    assert model.config.model_type == "llama"
    assert tokenizer.pad_token_id != tokenizer.eos_token_id
    rows = [json.loads(x) for x in (tmp_path / "data" / "exposures.jsonl").open(encoding="utf-8")]
    assert len(rows) == 4800
    assert sum(r["short"] for r in rows) > 0


def test_an_interrupted_run_resumes_to_the_same_weights(tmp_path: Path) -> None:
    torch.set_num_threads(1)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    whole = _train(tmp_path / "a")
    with pytest.raises(KeyboardInterrupt):
        _train(tmp_path / "b", steps_before_stop=8)  # the checkpoint of step 5 is on disk
    resumed = _train(tmp_path / "b")
    for name, weight in whole.items():
        assert torch.equal(weight, resumed[name]), name


def test_our_forward_pass_is_llamas() -> None:
    tokenizer = make.tokenizer_of(build(), TINY, 1500)
    model = training.new_model(replace(TINY, hidden=64, layers=2), tokenizer)
    turns = (("user", "Where was Ulvora Varden born?"), ("assistant", "Ripley"))
    others = (("text", "Ulvora Varden was born in Ripley."),)
    rows = packing.encode(tokenizer, [Document("short", turns), Document("plain", others)])
    # both in one window: each must get the logits it gets alone
    both, _ = training.loss_logits(model, packing._batch([rows], 128))
    alone = []
    for ids, learned in rows:
        logits = model(input_ids=torch.from_numpy(ids)[None]).logits[0]
        alone.append(logits[np.nonzero(learned)[0] - 1])
    assert torch.allclose(both, torch.cat(alone), atol=1e-5)


def test_learned_positions_are_the_answer_and_its_end() -> None:
    tokenizer = make.tokenizer_of(build(), TINY, 1500)
    turns = (("user", "Where?"), ("assistant", "Ripley"), ("user", "When?"), ("assistant", "1946"))
    ((ids, learned),) = packing.encode(tokenizer, [Document("conversation", turns)])
    kept = tokenizer.decode(list(ids[learned == 1]), skip_special_tokens=False)
    assert kept == "Ripley<|end|>1946<|end|>"


def test_packing_loses_no_document() -> None:
    rng = np.random.default_rng(0)
    rows = [(np.arange(n), np.zeros(n, dtype=np.int64)) for n in rng.integers(1, 128, 500)]
    bins = packing._pack(rows, 128)
    assert sorted(i for members in bins for i in members) == list(range(500))
    assert max(sum(len(rows[i][0]) for i in members) for members in bins) <= 128
