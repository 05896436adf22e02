"""A real model's answers: CPU seconds against plain batched ``generate``, equal texts, memory.

    python benchmarks/speed/smollm2.py [--limit QUESTIONS] [--tokens N] [--rows N] [--fewer N]
        [--model NAME] [--dtype DTYPE]

SmolLM2-135M-Instruct (``--model smollm2``) answers the short questions of ``--data world-50``, at
T=0 and in five draws at T=1, on one thread. The plain side is what a careful person would write:
the same model in the same process, chat template, prompts sorted by length, batches padded on the
left, draws through ``num_return_sequences``, nothing recorded, the same dtype. Both sides decode as
many rows at a time: as many as the engine did, or ``--rows``. The ratio of these two is the one to
quote. ``--fewer N`` also times ``generate`` with N rows, which flatters the engine. The engine
records log-probabilities and entropies. Greedy texts are compared; memory is the process's peak.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from typing import Any

import torch

from sayso.datasets import load_dataset
from sayso.engines import open_model
from sayso.records import Request, ask

DRAWS = 5


def plain(engine: Any, questions: list[str], tokens: int, rows: int, draws: int) -> list[str]:
    """Answer with ``generate``; ``draws`` 0 is greedy. Texts are in the order of the questions."""
    tokenizer, model = engine.tokenizer, engine.runner.model
    tokenizer.padding_side = "left"
    if tokenizer.pad_token is None:  # some versions of transformers read none from a GGUF file
        tokenizer.pad_token = tokenizer.eos_token
    prompts = [
        tokenizer.apply_chat_template(
            [{"role": "user", "content": text}], add_generation_prompt=True, tokenize=False
        )
        for text in questions
    ]
    order = sorted(range(len(prompts)), key=lambda n: len(prompts[n]))
    texts = [""] * len(prompts) * max(1, draws)
    size = max(1, rows // max(1, draws))
    how: dict[str, Any] = {"do_sample": False}
    if draws:
        how = {"do_sample": True, "temperature": 1.0, "top_k": 0, "top_p": 1.0}
        how["num_return_sequences"] = draws
    for at in range(0, len(order), size):
        part = order[at : at + size]
        batch = tokenizer([prompts[n] for n in part], return_tensors="pt", padding=True)
        with torch.inference_mode():
            ids = model.generate(**batch, max_new_tokens=tokens, **how)
        new = tokenizer.batch_decode(
            ids[:, batch["input_ids"].shape[1] :], skip_special_tokens=True
        )
        for place, text in enumerate(new):
            number, draw = divmod(place, max(1, draws))
            texts[part[number] * max(1, draws) + draw] = text
    return texts


def ours(engine: Any, questions: list[str], tokens: int, draws: int) -> list[str]:
    """Answer with the engine, all in one call."""
    requests: list[Request] = [
        ask(text, max_tokens=tokens, temperature=1.0 if draws else 0.0, sample=sample)
        for text in questions
        for sample in range(max(1, draws))
    ]
    texts = [""] * len(requests)
    for index, answer in engine.complete(requests):
        texts[index] = answer.text
    return texts


class Widest:
    """Remembers the most rows that a model decoded at a time."""

    def __init__(self, model: Any) -> None:
        self.rows = 0
        model.register_forward_pre_hook(self.look, with_kwargs=True)

    def look(self, _model: Any, _args: Any, given: dict[str, Any]) -> None:
        """Look at one forward."""
        ids = given["input_ids"]
        if ids.shape[1] == 1:  # one more token of each row
            self.rows = max(self.rows, ids.shape[0])


def timed(work: Callable[[], list[str]]) -> tuple[float, list[str]]:
    """Return CPU seconds and texts."""
    before = time.process_time()
    texts = work()
    return time.process_time() - before, texts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=int, default=50)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--rows", type=int, default=0)
    parser.add_argument("--fewer", type=int, default=0)
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--dtype", default="auto")
    args = parser.parse_args()
    torch.set_num_threads(1)
    options = {"batch_size": args.rows} if args.rows else {}
    engine: Any = open_model(
        args.model, threads=1, device="cpu", dtype=args.dtype, end_loops=True, **options
    )
    widest = Widest(engine.runner.model)
    questions = [q.text for q in load_dataset("world-50").questions if not q.parts][: args.limit]
    ours(engine, questions[:2], 2, 0)  # weights are read from the disk when they are first used
    print(f"{len(questions)} questions, at most {args.tokens} tokens; {engine.card or args.model}")
    for name, draws in (("greedy", 0), (f"{DRAWS} draws", DRAWS)):
        widest.rows = 0
        mine, texts = timed(lambda draws=draws: ours(engine, questions, args.tokens, draws))
        rows = widest.rows
        bare, other = timed(
            lambda draws=draws, rows=rows: plain(engine, questions, args.tokens, rows, draws)
        )
        line = f"{name}: engine {mine:.1f} CPU s, generate {bare:.1f}, ratio {mine / bare:.2f}"
        line += f", {rows} rows at a time in both"
        if args.fewer:
            slow, _ = timed(
                lambda draws=draws: plain(engine, questions, args.tokens, args.fewer, draws)
            )
            line += f"; {mine / slow:.2f} with {args.fewer} rows in generate"
        if not draws:
            same = sum(a.strip() == b.strip() for a, b in zip(texts, other, strict=True))
            line += f"; {same} of {len(texts)} greedy texts equal"
        print(line, flush=True)
        if not draws:
            for question, a, b in zip(questions, texts, other, strict=True):
                if a.strip() != b.strip():
                    print(f"  {question}\n    engine   {a!r}\n    generate {b!r}")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
