"""The shipped folder: small, complete, loadable offline, with an honest card."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builtin_model import card, templates
from builtin_model.world import build, records

import sayso

PACKAGE = Path(sayso.__file__).parent / "builtin"
MODEL, DATA = PACKAGE / "model", PACKAGE / "data"


def test_everything_together_is_under_eight_megabytes() -> None:
    files = [f for folder in (MODEL, DATA) for f in folder.rglob("*") if f.is_file()]
    assert sum(f.stat().st_size for f in files) < 8_000_000
    assert {f.name for f in files} >= {
        "config.json",
        "generation_config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
        "MODEL_CARD.md",
        "questions.jsonl",
        "exposures.jsonl",
    }
    assert not [f for f in files if f.suffix in {".bin", ".pkl", ".pt"}]


def test_sampling_is_stated_in_full() -> None:
    stated = json.loads((MODEL / "generation_config.json").read_text("utf-8"))
    assert stated["do_sample"] is True
    assert (stated["temperature"], stated["top_p"], stated["top_k"]) == (1.0, 1.0, 0)


def test_questions_are_those_of_the_world() -> None:
    assert (DATA / "questions.jsonl").read_text("utf-8").splitlines() == list(records(build()))


def test_exposures_agree_with_the_world() -> None:
    rows = [json.loads(x) for x in (DATA / "exposures.jsonl").read_text("utf-8").splitlines()]
    weights = [w for e in build().entities for w in e.weights]
    assert len(rows) == len(weights) == 4800
    for row, weight in zip(rows, weights, strict=True):
        assert weight > 0 or row["written"] == 0
        kinds = ("short", "long", "plain", "almanac", "formats")
        assert row["written"] == sum(row[k] for k in kinds)


def test_the_card_is_written_from_the_recorded_numbers() -> None:
    numbers = json.loads((MODEL / "numbers.json").read_text("utf-8"))
    text = (MODEL / "MODEL_CARD.md").read_text("utf-8")
    assert text == card.write(numbers)
    assert "no claim about real language models" in text


def test_the_acceptance_bars() -> None:
    """The recorded numbers on test; `python -m builtin_model.evaluate --split test` gives them."""
    test = json.loads((MODEL / "numbers.json").read_text("utf-8"))["test"]
    assert (test["entities"], test["facts"]) == (400, 2400)
    assert 0.45 <= test["known_any_of_5"] <= 0.75
    buckets = test["accuracy_by_times_written"]
    assert buckets["160+"][0] > 0.90
    assert buckets["0-0"][0] < 0.10
    assert test["auroc_incorrect"] > 0.78
    assert test["auroc_incorrect_within_type"] > 0.75
    assert test["long_named"] >= 0.95
    assert test["guess_rate_max"] < 0.18
    kinds = ("short_plain", "short_instructed", "long_plain", "long_instructed")
    assert all(test[kind]["UUR"] < 0.10 for kind in kinds)


def test_the_model_loads_offline_and_answers() -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    torch.set_num_threads(1)
    tokenizer = transformers.AutoTokenizer.from_pretrained(MODEL, padding_side="left")
    model = transformers.AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float32)
    assert tokenizer.pad_token_id not in {tokenizer.eos_token_id, None}
    assert model.config.max_position_embeddings >= 1024
    question = "Where was Nobody born? " + templates.SHORT_INSTRUCTION
    chats = [
        [{"role": "user", "content": question}],
        [
            {"role": "system", "content": "You are a helpful assistant."},
            {"role": "user", "content": "Where?"},
            {"role": "assistant", "content": "Ripley"},
            {"role": "user", "content": question},
        ],
    ]
    texts = [
        tokenizer.apply_chat_template(c, tokenize=False, add_generation_prompt=True) for c in chats
    ]
    assert texts[0] == f"<|user|>{question}<|end|><|assistant|>"
    batch = tokenizer(texts, return_tensors="pt", padding=True, return_token_type_ids=False)
    made = model.generate(**batch, max_new_tokens=8)
    assert made.shape[1] > batch["input_ids"].shape[1]
    for text in (question, "30 minutes, 4,200 km (é).\n\nA) x"):
        assert tokenizer.decode(tokenizer(text)["input_ids"]) == text
