"""Tiny models built on the spot: two architectures, one tokenizer, seeded random weights."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from serving import Served, builtin_folder, missing

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

CHAT = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
MARKS = ["<|end|>", "<|pad|>", "<|system|>", "<|user|>", "<|assistant|>"]
TRAINING = [
    "Who painted the ceiling? I am not sure, but it may have been a painter from the north.",
    "When was the bridge built? It was built in 1871, and it was repaired in 1902 and 1954.",
    "Zoë ate a crêpe in Łódź; naïve façade — 東京 and Київ.",
]


def make_tokenizer(template: str | None = CHAT, marks: tuple[str, ...] = ()) -> Any:
    """Return a byte-level BPE tokenizer that can write any text."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=380,
        special_tokens=[*MARKS, *marks],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    inner.train_from_iterator(TRAINING, trainer)
    made = transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, eos_token="<|end|>", pad_token="<|pad|>"
    )
    made.chat_template = template
    return made


def make_model(kind: str, vocabulary: int, ends: int) -> Any:
    """Return a seeded random model whose answers are varied and end now and then."""
    torch.manual_seed(7)
    if kind == "llama":
        config = transformers.LlamaConfig(
            vocab_size=vocabulary, hidden_size=32, intermediate_size=48, num_hidden_layers=2,
            num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=256,
            eos_token_id=ends, bos_token_id=None, pad_token_id=1,
        )  # fmt: skip
        model = transformers.LlamaForCausalLM(config)
    elif kind == "gpt2":
        config = transformers.GPT2Config(
            vocab_size=vocabulary, n_embd=32, n_layer=2, n_head=4, n_positions=256,
            eos_token_id=ends, bos_token_id=None, pad_token_id=1,
        )  # fmt: skip
        model = transformers.GPT2LMHeadModel(config)
    elif kind == "mistral":
        config = transformers.MistralConfig(
            vocab_size=vocabulary, hidden_size=32, intermediate_size=48, num_hidden_layers=2,
            num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=256,
            sliding_window=24, eos_token_id=ends, bos_token_id=None, pad_token_id=1,
        )  # fmt: skip
        model = transformers.MistralForCausalLM(config)
    else:
        config = transformers.MambaConfig(
            vocab_size=vocabulary, hidden_size=32, state_size=4, num_hidden_layers=2,
            eos_token_id=ends, bos_token_id=None, pad_token_id=1,
        )  # fmt: skip
        model = transformers.MambaForCausalLM(config)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.mul_(6.0)
    return model.eval()


Maker = Callable[..., Path]


@pytest.fixture(scope="session")
def make_folder(tmp_path_factory: pytest.TempPathFactory) -> Maker:
    """Return a function that saves a tiny model once and gives its folder."""
    made: dict[tuple[object, ...], Path] = {}

    def make(kind: str = "llama", template: str | None = CHAT, marks: tuple[str, ...] = ()) -> Path:
        key = (kind, template, marks)
        if key not in made:
            folder = tmp_path_factory.mktemp(kind) / "model"
            tokenizer = make_tokenizer(template, marks)
            model = make_model(kind, len(tokenizer), tokenizer.eos_token_id)
            # A model folder that would truncate draws in silence if anybody read it
            model.generation_config.do_sample = True
            model.generation_config.temperature = 0.1
            model.generation_config.top_k = 1
            model.save_pretrained(folder)
            tokenizer.save_pretrained(folder)
            made[key] = folder
        return made[key]

    return make


@pytest.fixture(scope="session")
def greedy_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the built-in model's folder with settings that turn sampling off."""
    folder = tmp_path_factory.mktemp("greedy") / "model"
    shutil.copytree(builtin_folder(), folder)
    settings = folder / "generation_config.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "do_sample": False}))
    return folder


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Path], str]]:
    """Return a function that serves a model folder with ``transformers serve`` on loopback."""
    started: dict[Path, Served] = {}
    log = tmp_path_factory.mktemp("serve")

    def start(folder: Path) -> str:
        if folder not in started:
            reason = missing()
            if reason:
                pytest.skip(reason)
            started[folder] = Served(folder, log / f"{len(started)}.log")
        return started[folder].name

    yield start
    for served in started.values():
        served.stop()


@pytest.fixture(scope="session")
def gguf_of_llama(
    make_folder: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The tiny Llama model as a GGUF file of float32 weights."""
    pytest.importorskip("gguf")
    from gguf_files import write_gguf

    return write_gguf(make_folder(), tmp_path_factory.mktemp("gguf") / "tiny.gguf")
