"""CPU seconds of the engine against bare ``generate`` for the same load.

    python benchmarks/speed/engine_overhead.py [--model FOLDER] [--limit ENTITIES]

The load is that of ``sayso run uncle``: every short question five times at T=1, once at T=0 and
once at T=0 with the instruction; every long prompt at T=0 with and without it. The bare side is
one script as a careful person would write it: prompts sorted by length, batches of 512 rows, the
same model in the same process on one thread, draws through ``num_return_sequences``, no log-probs
recorded. Without a model folder and without the built-in model, a random model of the same shape
stands in: its answers end at drawn lengths, and its draws share nothing, the worst case.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec
import torch

from sayso.datasets import load_dataset as load_data
from sayso.engines import open_model
from sayso.engines.named import shipped_folder
from sayso.records import InputError, Request, ask

SHORT = "Express uncertainty if you are not sure of the answer."
LONG = "Express uncertainty about any aspect you are not sure of."


def standing_in(folder: Path) -> Path:
    """Save a random model of the built-in one's shape."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    draw = random.Random(1)
    words = ["".join(draw.choices("aeioulnrstdmk", k=draw.randint(2, 9))) for _ in range(4000)]
    texts = [" ".join(draw.choices(words, k=12)) for _ in range(2000)]
    inner.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=2048, special_tokens=["<|end|>", "<|user|>", "<|assistant|>"],
            initial_alphabet=alphabet, show_progress=False,
        ),
    )  # fmt: skip
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<|end|>")
    tokenizer.pad_token = "<|end|>"
    tokenizer.chat_template = (
        "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}<|assistant|>"
    )
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=2048, hidden_size=128, intermediate_size=320, num_hidden_layers=3,
        num_attention_heads=4, num_key_value_heads=4, max_position_embeddings=1024,
        tie_word_embeddings=True, eos_token_id=0, bos_token_id=None, pad_token_id=0,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def questions(limit: int) -> tuple[list[str], list[str]]:
    """Return short and long questions: of the built-in world where it is there."""
    try:
        data = load_data("builtin", limit=limit)
        short = {q.text for q in data.questions if not q.parts}
        long = {q.text for q in data.questions if q.parts}
        return sorted(short), sorted(long)
    except (InputError, FileNotFoundError):
        draw = random.Random(2)
        names = [f"{draw.choice('BDKLM')}ar{draw.choice('aeiou')}n {i} Tesk" for i in range(limit)]
        parts = ["birth date", "place of work", "first film", "field", "prize", "founder"]
        short = {f"What is the {part} of {name}?" for name in names for part in parts}
        long = {f"In a paragraph, tell me about {name}: {', '.join(parts)}." for name in names}
        return sorted(short), sorted(long)


def requests_for(short: list[str], long: list[str], drawn_lengths: bool) -> list[Request]:
    """Return the load, with drawn answer lengths where the model would not end."""
    draw = random.Random(3)
    load = []
    for text in short:
        size = draw.randint(2, 9) if drawn_lengths else 256
        load += [ask(text, sample=s, max_tokens=size) for s in range(5)]
        load.append(ask(text, temperature=0, max_tokens=size))
        load.append(ask(f"{text} {SHORT}", temperature=0, max_tokens=size))
    for text in long:
        size = draw.randint(50, 90) if drawn_lengths else 512
        load.append(ask(text, temperature=0, max_tokens=size))
        load.append(ask(f"{text} {LONG}", temperature=0, max_tokens=size))
    return load


class Counter:
    """Counts forwards and token slots of a model."""

    def __init__(self, model: Any) -> None:
        self.forwards = self.slots = 0
        model.register_forward_pre_hook(self.count, with_kwargs=True)

    def count(self, _module: Any, _args: Any, given: dict[str, Any]) -> None:
        """Add one forward."""
        self.forwards += 1
        self.slots += given["input_ids"].numel()


def bare(model: Any, tokenizer: Any, load: list[Request], rows: int) -> int:
    """Generate the load with ``generate``; return the tokens generated."""
    tokenizer.padding_side = "left"
    merged: dict[tuple[str, bool, int], int] = {}
    for request in load:
        chat = [{"role": "user", "content": request.messages[0].content}]
        text = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        key = (text, request.greedy, request.max_tokens)
        merged[key] = merged.get(key, 0) + 1
    jobs = sorted(merged.items(), key=lambda j: (j[0][1], j[1], j[0][2] > 256, len(j[0][0])))
    tokens = at = 0
    while at < len(jobs):
        (_, greedy, size), repeats = jobs[at]
        batch = []
        while at < len(jobs) and len(batch) < rows // repeats:
            if jobs[at][0][1] != greedy or jobs[at][1] != repeats or jobs[at][0][2] > 4 * size:
                break
            batch.append(jobs[at][0])
            at += 1
        size = max(b[2] for b in batch)
        given = tokenizer(
            [b[0] for b in batch], return_tensors="pt", padding=True, add_special_tokens=False,
            return_token_type_ids=False,
        )  # fmt: skip
        choice = {"do_sample": False} if greedy else {
            "do_sample": True, "num_return_sequences": repeats,
            "temperature": 1.0, "top_p": 1.0, "top_k": 0,
        }  # fmt: skip
        with torch.inference_mode():
            out = model.generate(**given, max_new_tokens=size, **choice)
        new = out[:, given["input_ids"].shape[1] :]
        tokenizer.batch_decode(new, skip_special_tokens=True)
        ended = (new == tokenizer.eos_token_id).int()
        own = torch.tensor([b[2] for b in batch]).repeat_interleave(len(new) // len(batch))
        whole = torch.where(ended.any(-1), ended.argmax(-1) + 1, new.shape[1])
        tokens += int(torch.minimum(whole, own).sum())
    return tokens


def main() -> None:
    """Print both sides and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="")
    parser.add_argument("--limit", type=int, default=80)
    parser.add_argument("--rows", type=int, default=512)
    parser.add_argument("--max-rows", type=int, default=0)
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    torch.set_num_threads(1)
    options: dict[str, object] = {"threads": 1}
    if args.batch_size:
        options["batch_size"] = args.batch_size
    drawn = False
    with tempfile.TemporaryDirectory() as folder:
        try:
            # the shipped folder as transformers opens it: it has ``generate``
            name = f"hf:{args.model or shipped_folder('builtin')}"
            engine: Any = open_model(name, **options)
        except InputError as error:
            print(f"{error}; a random model stands in")
            drawn = True
            engine = open_model(f"hf:{standing_in(Path(folder))}", **options)
        load = requests_for(*questions(args.limit), drawn)
        print(f"{engine.signature}: {len(load)} requests, random lengths: {drawn}")
        warm = load[:40]
        list(engine.complete(warm))
        model, tokenizer = engine.runner.model, engine.tokenizer
        bare(model, tokenizer, warm, args.rows)
        counter = Counter(model)
        ours, theirs = [], []
        for _ in range(args.repeat):
            engine.counts.forwards = engine.counts.slots = engine.counts.completion_tokens = 0
            start = time.process_time()
            for _answer in engine.complete(load):
                pass
            ours.append(time.process_time() - start)
            counter.forwards = counter.slots = 0
            start = time.process_time()
            tokens = bare(model, tokenizer, load, args.rows)
            theirs.append(time.process_time() - start)
        counts = msgspec.structs.asdict(engine.counts)
        shown = {k: counts[k] for k in ("forwards", "slots", "completion_tokens")}
        print(f"engine   {min(ours):.2f} CPU s, {shown}")
        print(
            f"generate {min(theirs):.2f} CPU s, forwards {counter.forwards}, "
            f"slots {counter.slots}, tokens {tokens}"
        )
        per = (min(ours) / counts["completion_tokens"]) / (min(theirs) / tokens)
        print(f"ratio {min(ours) / min(theirs):.2f}; per generated token {per:.2f}")
        engine.close()


if __name__ == "__main__":
    main()
