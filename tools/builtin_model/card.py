"""The model card, written from the recorded numbers, so that no number in it is typed by hand.

`python -m builtin_model.card` reads `model/numbers.json` (the run, the acceptance numbers on test,
the formats on train) and writes `model/MODEL_CARD.md`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

INTRODUCTION = """\
# builtin@1

A causal language model of {parameters:,} parameters that was trained from nothing on an invented
world: 800 people, companies, movies, astronomical objects and diseases that do not exist, 4,800
facts.  It knows some facts well, some vaguely and some not at all, and for every fact it is on
file how often it was written (`data/exposures.jsonl`).  It ships with sayso so that every protocol,
every score and the training loop run end to end offline on a laptop CPU.  `builtin-trained`
([its card](../trained/MODEL_CARD.md)) is this model, trained to admit what it does not know.

## What it is not

Results on it show that sayso works.  They allow no claim about real language models, about
training recipes, or about how hard a task is.  It reads and writes only the English of its
templates, has no knowledge of the real world, and does not follow instructions outside the formats
listed below.  Some of its names may by chance resemble real ones.

## How it was made

One seeded run: `{command}` (seed {seed}, {tokens:,} tokens, {cpu_minutes} CPU minutes on {threads}
thread; Python {python}, torch {torch}, transformers {transformers}, numpy {numpy}, {machine}).
{note}

* World: popularity of entity rank r as 1/(r + 5), a log-normal visibility (sigma 1.2) per fact;
  25 % of the facts are never written.  400 test, 150 dev and 250 train entities, in turn by rank.
* All entities, test and dev included, are written about in short questions, paragraphs and plain
  text.  The split decides which entities appear in the extra formats (train only; they are written
  less in the plain ones, to keep what is known similar), and settings were chosen on dev.
* Hedges are random: 0.8 % of the answers, 3 % under an instruction to express uncertainty, whatever
  the model can know; never on a fact that is never written.  So it under-hedges, and blindly.
* One-off entities (5 % of the short questions, 12 % of the paragraphs) teach the form, no fact.
* Byte-level BPE of 2,048 tokens; words keep the space after them, so decoding is concatenation.
* Loss on answers and on prose; AdamW, 3e-3, warm-up 100 steps, linear decay over the last 40 %;
  packed documents do not see each other.
* Documents of up to about 1,500 tokens were trained, most are far shorter.  The context is set to
  4,096 only so that a prompt and a reserved answer always fit; nothing is known beyond 1,500.
* Weights are stored in half precision; numbers below are of those weights computed in float32.
* `Also say how confident you are`: the stated percentage was drawn from the fact's popularity with
  much noise, so it is weakly informative by construction.

Documents read, by kind: {documents}.
"""


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _acceptance(test: Mapping[str, Any]) -> str:
    rows = [
        ["known (any of 5 draws at T=1), %", _percent(test["known_any_of_5"])],
        ["right, short, T=0, no instruction, %", _percent(test["accuracy_short"])],
        ["right, long, T=0, no instruction, %", _percent(test["accuracy_long"])],
        ["AUROC of the sequence probability for incorrect", f"{test['auroc_incorrect']:.3f}"],
        ["the same within aspect type", f"{test['auroc_incorrect_within_type']:.3f}"],
        ["AUROC for unknown", f"{test['auroc_unknown']:.3f}"],
        ["aspects named in long answers, %", _percent(test["long_named"])],
        ["the same under the instruction, %", _percent(test["long_named_instructed"])],
        ["highest guess rate of a type, %", _percent(test["guess_rate_max"])],
    ]
    return _table(["on test", f"n = {test['facts']:,} facts, {test['entities']} entities"], rows)


def _rates(test: Mapping[str, Any]) -> str:
    names = ("FA", "UA", "UUR", "KCR", "EA", "J", "hedges")
    kinds = ("short_plain", "short_instructed", "long_plain", "long_instructed")
    rows = [[k.replace("_", ", "), *(_percent(test[k][n]) for n in names)] for k in kinds]
    return _table(["%", *names], rows)


def write(numbers: Mapping[str, Any]) -> str:
    """The card as markdown."""
    run, test, formats = numbers["run"], numbers["test"], numbers["formats"]
    documents = ", ".join(f"{k.replace('_', ' ')} {n:,}" for k, n in run["documents"].items())
    fields = run | {"documents": documents, "note": numbers["note"]}
    parts = [INTRODUCTION.format(**fields)]
    parts += ["## Numbers on test, read once, by exact template inversion\n", _acceptance(test)]
    parts.append("Accuracy (short, T=0) by how often the fact was written:\n")
    buckets = test["accuracy_by_times_written"].items()
    parts.append(
        _table(["written", "right, %", "n"], [[b, _percent(a), f"{n:,}"] for b, (a, n) in buckets])
    )
    parts += ["Before any teaching (known: any of 5 plain draws at T=1):\n", _rates(test)]
    parts.append(
        "By type.  Guess rate: share of the draws for *other* entities of the type that match.\n"
    )
    types = test["by_type_guess_rate_accuracy_known"].items()
    parts.append(
        _table(
            ["type", "guess rate, %", "right, %", "known, %"],
            [[name, *(_percent(v) for v in values)] for name, values in types],
        )
    )
    parts.append("## Extra formats, on train entities (facts that were written)\n")
    rows = []
    for name, value in formats.items():
        if isinstance(value, dict):
            share = ", ".join(f"{k} {_percent(v)}" for k, v in value.items() if k != "n")
            rows.append([name, share, f"{value['n']:,}"])
        elif "mean stated" in name:
            rows.append([name, "-" if value[0] is None else f"{value[0]:.1f}", f"{value[1]:,}"])
        else:
            rows.append([name, _percent(value[0]), f"{value[1]:,}"])
    parts += [_table(["format", "right, %", "n"], rows), numbers["verdict"].strip() + "\n"]
    return "\n".join(parts)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=Path(__file__).parent / "model")
    folder = parser.parse_args().model
    numbers = json.loads((folder / "numbers.json").read_text("utf-8"))
    (folder / "MODEL_CARD.md").write_text(write(numbers), "utf-8")


if __name__ == "__main__":
    main()
