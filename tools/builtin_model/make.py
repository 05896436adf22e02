"""Make the built-in model from nothing: `python -m builtin_model.make --out DIR`.

One seeded run: world, corpus, tokenizer, training, export.  `--quick` makes a toy in well under
a minute to show that every step works; it knows nothing.  The numbers of the card come from
`builtin_model.evaluate` afterwards.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
import transformers
from builtin_model.documents import Corpus, Document, Writer
from builtin_model.formats import FORMATS
from builtin_model.packing import (
    BEGIN,
    CHAT_TEMPLATE,
    END,
    PAD,
    SPECIAL,
    Recipe,
    batches,
    render,
    train_tokenizer,
)
from builtin_model.training import new_model, restore, train
from builtin_model.world import World, build, records
from tokenizers import Tokenizer
from transformers import GenerationConfig, LlamaForCausalLM, PreTrainedTokenizerFast

QUICK = replace(Recipe(), tokens=60_000, hidden=32, layers=1, heads=2, feed_forward=64, warmup=5)
MAIN_KINDS = ("short", "long", "plain", "almanac")
Exposures = Counter[tuple[str, int, str]]


def corpus(world: World, *seed: int) -> Corpus:
    """The stream of a seed."""
    return Corpus(Writer(world, np.random.default_rng(seed)), FORMATS)


def tokenizer_of(world: World, recipe: Recipe, documents: int = 80_000) -> Tokenizer:
    """Trained on a stream of its own."""
    stream = corpus(world, recipe.seed, 2)
    return train_tokenizer((render(next(stream)) for _ in range(documents)), recipe.vocabulary)


def count(exposures: Exposures, document: Document) -> None:
    """Add what a document teaches, by kind."""
    kind = document.kind if document.kind in MAIN_KINDS else "formats"
    exposures.update((name, aspect, kind) for name, aspect in document.facts)


def write_data(world: World, exposures: Exposures, folder: Path) -> None:
    """The questions, and how often each fact was written in the corpus."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "questions.jsonl").write_text("".join(f"{r}\n" for r in records(world)), "utf-8")
    with (folder / "exposures.jsonl").open("w", encoding="utf-8") as file:
        for entity in world.entities:
            for index, aspect in enumerate(entity.kind.aspects):
                by_kind = {k: exposures[entity.name, index, k] for k in (*MAIN_KINDS, "formats")}
                row = {
                    "entity": entity.name,
                    "property_id": aspect.property_id,
                    "written": sum(by_kind.values()),
                }
                file.write(json.dumps(row | by_kind, ensure_ascii=False) + "\n")


def export(model: LlamaForCausalLM, tokenizer: Tokenizer, folder: Path) -> None:
    """A folder that `AutoModelForCausalLM` and `AutoTokenizer` open; weights in half precision."""
    folder.mkdir(parents=True, exist_ok=True)
    model.generation_config = GenerationConfig(
        do_sample=True,
        temperature=1.0,
        top_p=1.0,
        top_k=0,
        bos_token_id=model.config.bos_token_id,
        eos_token_id=model.config.eos_token_id,
        pad_token_id=model.config.pad_token_id,
    )
    model.to(torch.float16).save_pretrained(folder)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=BEGIN,
        eos_token=END,
        pad_token=PAD,
        additional_special_tokens=SPECIAL[3:],
        padding_side="left",
        clean_up_tokenization_spaces=False,
        model_max_length=model.config.max_position_embeddings,
    )
    fast.chat_template = CHAT_TEMPLATE
    fast.save_pretrained(folder)
    portable(folder)
    for file in folder.iterdir():
        file.chmod(0o644)


def portable(folder: Path) -> None:
    """Name the tokenizer class and its extra tokens so that transformers 4 opens them as well."""
    path = folder / "tokenizer_config.json"
    stated = json.loads(path.read_text("utf-8")) | {"tokenizer_class": "PreTrainedTokenizerFast"}
    stated["additional_special_tokens"] = stated.pop("extra_special_tokens", SPECIAL[3:])
    path.write_text(json.dumps(stated, indent=2) + "\n", "utf-8")


def provenance(
    recipe: Recipe, parameters: int, seconds: float, documents: Mapping[str, int]
) -> dict[str, object]:
    """What the card says about the run."""
    return {
        "command": "python -m builtin_model.make --out DIR",
        "seed": recipe.seed,
        "tokens": recipe.tokens,
        "parameters": parameters,
        "cpu_minutes": round(seconds / 60, 1),
        "threads": torch.get_num_threads(),
        "documents": dict(sorted(documents.items())),
        "python": platform.python_version(),
        "torch": torch.__version__.split("+")[0],
        "transformers": transformers.__version__,
        "numpy": np.__version__,
        "machine": platform.machine(),
    }


def make(out: Path, recipe: Recipe, sample: int) -> dict[str, object]:
    """Run everything; `out` gets model/, data/ and run.json."""
    torch.set_num_threads(1)  # for matrices this small a second thread costs more than it gives
    world = build()
    tokenizer = tokenizer_of(world, recipe, sample)
    model = new_model(recipe, tokenizer)
    exposures: Exposures = Counter()
    kinds: Counter[str] = Counter()

    def seen(document: Document) -> None:
        count(exposures, document)
        kinds[document.kind] += 1

    out.mkdir(parents=True, exist_ok=True)
    stream = batches(corpus(world, recipe.seed, 3), tokenizer, recipe, seen)
    checkpoint = out / "checkpoint.safetensors"
    seconds = train(
        model, stream, recipe, checkpoint, lambda line: print(line, file=sys.stderr, flush=True)
    )
    export(model, tokenizer, out / "model")
    write_data(world, exposures, out / "data")
    notes = provenance(recipe, model.num_parameters(), seconds, kinds)
    (out / "run.json").write_text(json.dumps(notes, indent=1) + "\n", "utf-8")
    checkpoint.unlink(missing_ok=True)
    return notes


def snapshot(out: Path, recipe: Recipe, sample: int) -> None:
    """Export the weights of a running run's checkpoint, to look at it on dev while it trains."""
    tokenizer = tokenizer_of(build(), recipe, sample)
    model = new_model(recipe, tokenizer)
    restore(model, out / "checkpoint.safetensors")
    export(model, tokenizer, out / "snapshot")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--quick", action="store_true", help="a toy, in under a minute")
    parser.add_argument("--tokens", type=int, help="another length of training")
    parser.add_argument(
        "--snapshot", action="store_true", help="export the checkpoint in DIR instead of training"
    )
    options = parser.parse_args()
    recipe = QUICK if options.quick else Recipe()
    recipe = replace(recipe, tokens=options.tokens) if options.tokens else recipe
    sample = 4_000 if options.quick else 80_000
    began = time.monotonic()
    if options.snapshot:
        snapshot(options.out, recipe, sample)
    else:
        print(json.dumps(make(options.out, recipe, sample)))
        print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
