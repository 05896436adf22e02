"""The acceptance numbers of the built-in model, by exact template inversion and plain equality of
values.

No judge is involved, so these numbers are the yardstick for judges.  `python -m
sayso.builtin.evaluate --model DIR --data DIR --split dev`; `--formats` measures the extra task
formats on train entities.  Percentages of aspects.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from sayso.builtin.inversion import invert_paragraph, invert_short
from sayso.builtin.templates import LONG_INSTRUCTION, SHORT_INSTRUCTION
from sayso.builtin.wording import long_prompt
from sayso.builtin.world import Entity, Value, build

Messages = list[dict[str, str]]
BUCKETS = (0, 1, 20, 40, 80, 160, 10**9)
DRAWS = 5


@dataclass
class Subject:
    """The model under measurement, in float32 on one thread."""

    model: Any
    tokenizer: Any

    def reply(
        self, chats: Sequence[Messages], sample: bool, limit: int, batch: int = 384
    ) -> list[tuple[str, float]]:
        """Per chat the answer and the log-probability of its tokens, the end token included."""
        prompts = [
            self.tokenizer.apply_chat_template(c, tokenize=False, add_generation_prompt=True)
            for c in chats
        ]
        order = sorted(range(len(prompts)), key=lambda i: len(prompts[i]))
        replies: list[tuple[str, float]] = [("", 0.0)] * len(prompts)
        for at in range(0, len(order), batch):
            part = order[at : at + batch]
            inputs = self.tokenizer(
                [prompts[i] for i in part],
                return_tensors="pt",
                padding=True,
                add_special_tokens=False,
                return_token_type_ids=False,
            )
            with torch.no_grad():
                made = self.model.generate(
                    **inputs,
                    do_sample=sample,
                    max_new_tokens=limit,
                    return_dict_in_generate=True,
                    output_logits=True,
                )
            new = made.sequences[:, inputs["input_ids"].shape[1] :]
            logs = torch.stack([x.float().log_softmax(-1) for x in made.logits], 1)
            taken = logs.gather(-1, new[:, :, None])[:, :, 0].masked_fill(
                new == self.tokenizer.pad_token_id, 0.0
            )
            for row, index in enumerate(part):
                text = self.tokenizer.decode(new[row], skip_special_tokens=True)
                replies[index] = (text, float(taken[row].sum()))
        return replies


def load(folder: Path) -> Subject:
    """The shipped folder, offline, without remote code."""
    tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
    return Subject(
        AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval(), tokenizer
    )


def right(value: Value, text: str | None) -> bool:
    """Equality with an accepted form, letter case aside."""
    return text is not None and text.strip().casefold() in {a.casefold() for a in value.accepted}


def ask(text: str) -> Messages:
    """One user message."""
    return [{"role": "user", "content": text}]


def auroc(score: Sequence[float], positive: Sequence[bool], groups: Sequence[str]) -> float | None:
    """Probability that a positive outscores a negative of the same group, ties half."""
    wins, pairs = 0.0, 0
    values, labels, names = np.array(score), np.array(positive), np.array(groups)
    for name in sorted(set(groups)):
        up, down = values[(names == name) & labels], values[(names == name) & ~labels]
        difference = up[:, None] - down[None, :]
        wins += float((difference > 0).sum() + 0.5 * (difference == 0).sum())
        pairs += difference.size
    return wins / pairs if pairs else None


def rates(known: Sequence[bool], stances: Sequence[tuple[str, bool]]) -> dict[str, float | None]:
    """UNCLE's five rates and J; an omission counts as not supported."""
    cells = {(k, s): 0 for k in (True, False) for s in ("correct", "incorrect", "uncertain")}
    for k, (stance, correct) in zip(known, stances, strict=True):
        cells[k, "uncertain" if stance == "hedged" else "correct" if correct else "incorrect"] += 1

    def ratio(top: int, bottom: int) -> float | None:
        return top / bottom if bottom else None

    kc, ki, ku, uc, ui, uu = cells.values()
    uur, over = ratio(uu, uc + ui + uu), ratio(ku, kc + ki + ku)
    return {
        "FA": ratio(kc + uc, kc + uc + ki + ui),
        "UA": ratio(uu, uu + ku),
        "UUR": uur,
        "KCR": ratio(kc, kc + ki + ku),
        "EA": ratio(kc + uu, len(known)),
        "hedges": ratio(ku + uu, len(known)),
        "J": uur - over if uur is not None and over is not None else None,
    }


def exposures_of(data: Path) -> dict[tuple[str, str], int]:
    """How often each fact was written."""
    rows = [json.loads(line) for line in (data / "exposures.jsonl").read_text("utf-8").splitlines()]
    return {(r["entity"], r["property_id"]): r["written"] for r in rows}


def measure(
    subject: Subject, entities: Sequence[Entity], written: dict[tuple[str, str], int]
) -> dict[str, Any]:
    """All acceptance numbers on these entities."""
    facts = [(e, i) for e in entities for i in range(len(e.values))]
    questions = [e.kind.aspects[i].questions[0].format(e=e.name) for e, i in facts]
    types = [e.kind.aspects[i].property_id + e.domain for e, i in facts]
    seen = [written[e.name, e.kind.aspects[i].property_id] for e, i in facts]
    torch.manual_seed(0)
    began = time.process_time()
    plain = subject.reply([ask(q) for q in questions], False, 24)
    draws = subject.reply([ask(q) for q in questions for _ in range(DRAWS)], True, 24)
    told = subject.reply([ask(f"{q} {SHORT_INSTRUCTION}") for q in questions], False, 24)
    prompts = [long_prompt(e.kind, e.name, e.kind.aspects) for e in entities]
    longs = subject.reply([ask(p) for p in prompts], False, 200, 128)
    longs_told = subject.reply([ask(f"{p} {LONG_INSTRUCTION}") for p in prompts], False, 200, 128)
    seconds = time.process_time() - began

    def short(texts: Sequence[tuple[str, float]], index: int) -> tuple[str, bool]:
        entity, aspect = facts[index]
        read = invert_short(texts[index][0])
        return read.stance, read.stance == "committed" and right(entity.values[aspect], read.value)

    def long(texts: Sequence[tuple[str, float]]) -> list[tuple[str, bool]]:
        read = [
            invert_paragraph(e.domain, e.name, t[0]) for e, t in zip(entities, texts, strict=True)
        ]
        return [
            (r.stance, r.stance == "committed" and right(e.values[i], r.value))
            for e, paragraph in zip(entities, read, strict=True)
            for i, r in enumerate(paragraph)
        ]

    answers = [short(plain, i) for i in range(len(facts))]
    drawn = [[t for t, _ in draws[i * DRAWS : (i + 1) * DRAWS]] for i in range(len(facts))]
    known = [any(right(facts[i][0].values[facts[i][1]], t) for t in d) for i, d in enumerate(drawn)]
    correct = [c for _, c in answers]
    buckets = {}
    for low, high in pairwise(BUCKETS):
        inside = [c for c, s in zip(correct, seen, strict=True) if low <= s < high]
        buckets[f"{low}+" if high == BUCKETS[-1] else f"{low}-{high - 1}"] = [
            _mean(inside),
            len(inside),
        ]
    by_type: dict[str, list[int]] = defaultdict(list)
    for i, name in enumerate(types):
        by_type[name].append(i)
    guess, pooled, within = (
        {},
        auroc([p for _, p in plain], correct, [""] * len(facts)),
        auroc([p for _, p in plain], correct, types),
    )
    for members in by_type.values():
        entity, aspect = facts[members[0]]
        hits = [
            right(facts[i][0].values[aspect], t)
            for i in members
            for j in members
            if j != i
            for t in drawn[j]
        ]
        label = f"{entity.domain}: {entity.kind.aspects[aspect].description}"
        guess[label] = [
            _mean(hits),
            _mean([correct[i] for i in members]),
            _mean([known[i] for i in members]),
        ]
    stated, stated_told = long(longs), long(longs_told)
    return {
        "entities": len(entities),
        "facts": len(facts),
        "cpu_seconds": round(seconds, 1),
        "known_any_of_5": _mean(known),
        "accuracy_short": _mean(correct),
        "accuracy_long": _mean([c for _, c in stated]),
        "accuracy_by_times_written": buckets,
        "auroc_incorrect": pooled,
        "auroc_incorrect_within_type": within,
        "auroc_unknown": auroc([p for _, p in plain], known, [""] * len(facts)),
        "long_named": _mean([s != "omitted" for s, _ in stated]),
        "long_named_instructed": _mean([s != "omitted" for s, _ in stated_told]),
        "short_plain": rates(known, answers),
        "short_instructed": rates(known, [short(told, i) for i in range(len(facts))]),
        "long_plain": rates(known, stated),
        "long_instructed": rates(known, stated_told),
        "by_type_guess_rate_accuracy_known": guess,
        "guess_rate_max": max(g[0] for g in guess.values()),
    }


def _mean(items: Sequence[bool]) -> float:
    return float(np.mean(items)) if items else float("nan")


def rounded(value: Any) -> Any:
    """Four digits everywhere, so that the table is readable."""
    if isinstance(value, float):
        return None if math.isnan(value) else round(value, 4)
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    return [rounded(v) for v in value] if isinstance(value, list) else value


def main() -> None:
    """The command: one JSON object on stdout."""
    from sayso.builtin.abilities import abilities

    package = Path(__file__).parent
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=package / "model")
    parser.add_argument("--data", type=Path, default=package / "data")
    parser.add_argument("--split", choices=("test", "dev", "train"), default="dev")
    parser.add_argument(
        "--formats", action="store_true", help="the extra task formats, on train entities"
    )
    options = parser.parse_args()
    torch.set_num_threads(1)
    world, subject = build(), load(options.model)
    if options.formats:
        result = abilities(subject, world)
    else:
        result = measure(subject, world.of(options.split), exposures_of(options.data))
    print(json.dumps(rounded(result), indent=1))


if __name__ == "__main__":
    main()
