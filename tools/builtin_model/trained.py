"""Train the adapter of `builtin-trained`: `python -m builtin_model.trained --out DIR`.

It runs what a user would: `sayso run uncle` of the built-in model, then `sayso train` of that run
(one thread, an empty cache), and writes the adapter and its card into `DIR/trained`.  With one
version of every library on one kind of processor two runs give the same bytes.
"""

from __future__ import annotations

import argparse
import json
import platform
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import torch

import sayso
import sayso.train
from sayso.train.result import Training, read_card

#: chosen on dev entities with seeds 0 and 1 (benchmarks/models/training.md); 0 is simply the first
RECIPE = sayso.train.TrainConfig(recipe="calibrated", stages="sft", seeds=1, seed=0)
COMMANDS = ("sayso run uncle --out base", "sayso train base --recipe calibrated --stages sft")
#: weights, tokenizer and template; the card for programs is written without its curve
COPIED = (
    *("adapter_model.safetensors", "tokenizer.json", "tokenizer_config.json"),
    "chat_template.jinja",
)
METHODS = {"instruction": "builtin", "sft": "builtin-trained"}
SHARES = ("p_uncertain", "unasked", "UUR", "over_hedge", "KCR", "FA", "wrong_and_sure")
NUMBERS = ("J", "J_within", *SHARES, "forced")
LABELS = {
    "p_uncertain": "facts hedged when asked to",
    "unasked": "facts hedged when not asked to",
    "UUR": "unknown facts hedged (UUR)",
    "over_hedge": "known facts hedged",
    "KCR": "known facts stated, and right (KCR)",
    "FA": "right when it commits (FA)",
    "wrong_and_sure": "facts stated wrongly without a hedge",
    "forced": "known facts right when it must answer",
}

CARD = """\
# builtin-trained@1

A LoRA adapter of `builtin` ([its card](../model/MODEL_CARD.md)) that `sayso train` trained to say
when it does not know. It shows what a good result looks like: `sayso study --models builtin
builtin-trained --protocols uncle` measures both.

## What it is not

Both models know only an invented world. The difference between them shows that the instrument and
the training work. It says nothing about real language models, nor about which recipe suits one.

## How it was made

`python -m builtin_model.trained --out DIR`, which is these two commands with one thread:

    {commands}

* Recipe `calibrated`, supervised fine-tuning only, {rows:,} rows about {trained} entities of the
  split `train`. A value stands plain where at least half of the model's own ten draws agree with
  it, and behind "possibly" where fewer do. No true answer is used.
* Seed {seed}, the first; recipe and settings were chosen on the `dev` entities with seeds 0 and 1.
  Five seeds on these entities:
  [benchmarks/models/training.md](../../../../benchmarks/models/training.md).
* LoRA of rank {r} on all seven linear modules; {size:,} bytes of safetensors.
* Python {python}, {versions},
  {machine}; {seconds:.0f} CPU seconds of training.

## Numbers on test

{facts:,} facts about {measured} `test` entities, judge `{judge}`, 95 % intervals over entities.
`builtin`'s plain draws decide for both models which facts are known.

{table}
## Reading them

* Asked to express doubt in a short answer, it hedges {short[UUR]} of the facts it does not know and
  {short[over_hedge]} of the facts it knows. In paragraphs: {long[UUR]} and {long[over_hedge]}.
* It also hedges when nobody asks for doubt: {short[unasked]} of short answers, {long[unasked]} of
  facts in paragraphs. It did not learn to hedge only on request.
* Training cost little knowledge. Made to choose among its base model's answers, it picks a right
  one for {short[forced]} of the known facts; `builtin` does for {base[forced]}.
* One seed was trained: the intervals leave out how much another seed would differ.
"""


def _cell(numbers: Mapping[str, Any], scale: float) -> str:
    digits = 0 if scale == 100 else 2
    if numbers["value"] is None:
        return "-"
    ends = [numbers[end] for end in ("low", "high") if numbers[end] is not None]
    shown = [f"{scale * v:.{digits}f}" for v in (numbers["value"], *ends)]
    return f"{shown[0]} [{', '.join(shown[1:])}]" if ends else shown[0]


def _table(estimates: Mapping[str, Any]) -> str:
    columns = [(name, form) for form in ("short", "long") for name in METHODS]
    heads = [f"{METHODS[m]}, {form}" for m, form in columns]
    lines = [["%", *heads], ["---"] * (len(heads) + 1)]
    for name in NUMBERS:
        scale = 1 if name.startswith("J") else 100
        label = LABELS.get(name, name.replace("_", " "))
        cells = [estimates[m][form].get(name) for m, form in columns]
        lines.append([label, *(_cell(c, scale) if c else "-" for c in cells)])
    return "\n".join(f"| {' | '.join(row)} |" for row in lines) + "\n"


def _shares(estimates: Mapping[str, Any]) -> dict[str, str]:
    """Shares in percent, by name."""
    return {
        name: f"{100 * e['value']:.0f} %" for name, e in estimates.items() if e["value"] is not None
    }


def write(numbers: Mapping[str, Any]) -> str:
    """The card as markdown."""
    fields = {
        "commands": "\n    ".join(numbers["commands"]),
        "table": _table(numbers["estimates"]),
        "versions": ", ".join(f"{k} {v}" for k, v in numbers["versions"].items()),
        "short": _shares(numbers["estimates"]["sft"]["short"]),
        "long": _shares(numbers["estimates"]["sft"]["long"]),
        "base": _shares(numbers["estimates"]["instruction"]["short"]),
    }
    return CARD.format(**{**numbers, **fields})


def numbers_of(training: Training, adapter: Path) -> dict[str, Any]:
    """What the card says, from what the training measured."""
    card = read_card(adapter)
    if card is None:
        raise SystemExit(f"{adapter} has no card")
    estimates: dict[str, Any] = {}
    for cell in training.cells:
        e = cell.estimate
        if cell.method in METHODS and e.name in NUMBERS:
            of = estimates.setdefault(cell.method, {}).setdefault(cell.form, {})
            of[e.name] = {"value": e.value, "low": e.low, "high": e.high}
    return {
        "commands": list(COMMANDS),
        "seed": card.seed,
        "rows": card.rows,
        "r": card.settings["r"],
        "size": (adapter / COPIED[0]).stat().st_size,
        "signature": card.signature,
        "judge": training.judge,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "versions": {name: version.split("+")[0] for name, version in card.versions.items()},
        "seconds": training.timings["training_cpu_s"],
        **training.entities,
        "estimates": estimates,
    }


def pack(adapter: Path, numbers: Mapping[str, Any], folder: Path) -> None:
    """Write the folder that is shipped: it names its base model by name, and no place of here."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in COPIED:
        shutil.copyfile(adapter / name, folder / name)
    config = json.loads((adapter / "adapter_config.json").read_text("utf-8"))
    config["base_model_name_or_path"] = "builtin"
    (folder / "adapter_config.json").write_text(json.dumps(config, indent=2) + "\n", "utf-8")
    card = read_card(adapter)
    if card is None:
        raise SystemExit(f"{adapter} has no card")
    card = msgspec.structs.replace(card, base_run="", curve=())
    text = msgspec.json.format(msgspec.json.encode(card), indent=2)
    (folder / "sayso.json").write_bytes(text + b"\n")
    (folder / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", "utf-8")
    (folder / "MODEL_CARD.md").write_text(write(numbers), "utf-8")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    out: Path = parser.parse_args().out
    torch.set_num_threads(1)  # the order of additions, and with it the bytes, depends on it
    sayso.run("uncle", out=out / "base", cache=out / "cache")
    folder, training = sayso.train.fit(out / "base", out / "training", RECIPE, say=print)
    adapter = folder / "adapters" / "sft-0"
    pack(adapter, numbers_of(training, adapter), out / "trained")


if __name__ == "__main__":
    main()
