"""The acceptance numbers of the built-in model, by exact template inversion and plain equality of
values.

No judge is involved, so these numbers are the yardstick for judges.  `python -m
builtin_model.evaluate --model DIR --data DIR --split dev`; `--formats` measures the extra task
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
from builtin_model.inversion import invert_paragraph, invert_short
from builtin_model.templates import LONG_INSTRUCTION, SHORT_INSTRUCTION
from builtin_model.wording import long_prompt
from builtin_model.world import Entity, Value, build
from transformers import AutoModelForCausalLM, AutoTokenizer

Messages = list[dict[str, str]]
Stance = tuple[str, bool]
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


@dataclass(frozen=True)
class Answers:
    """Everything asked: one entry per fact (or five draws per fact), one per entity for long."""

    facts: list[tuple[Entity, int]]
    plain: list[tuple[str, float]]
    told: list[tuple[str, float]]
    draws: list[list[str]]
    long: list[tuple[str, float]]
    long_told: list[tuple[str, float]]

    def known(self) -> list[bool]:
        """Any of the draws is right."""
        pairs = zip(self.facts, self.draws, strict=True)
        return [any(right(e.values[i], t) for t in drawn) for (e, i), drawn in pairs]


def collect(subject: Subject, entities: Sequence[Entity]) -> Answers:
    """Ask everything: plain, drawn and instructed, short and long."""
    facts = [(e, i) for e in entities for i in range(len(e.values))]
    questions = [e.kind.aspects[i].questions[0].format(e=e.name) for e, i in facts]
    prompts = [long_prompt(e.kind, e.name, e.kind.aspects) for e in entities]
    torch.manual_seed(0)
    plain = subject.reply([ask(q) for q in questions], False, 24)
    drawn = subject.reply([ask(q) for q in questions for _ in range(DRAWS)], True, 24)
    told = subject.reply([ask(f"{q} {SHORT_INSTRUCTION}") for q in questions], False, 24)
    long = subject.reply([ask(p) for p in prompts], False, 200, 128)
    long_told = subject.reply([ask(f"{p} {LONG_INSTRUCTION}") for p in prompts], False, 200, 128)
    draws = [[t for t, _ in drawn[i : i + DRAWS]] for i in range(0, len(drawn), DRAWS)]
    return Answers(facts, plain, told, draws, long, long_told)


def _short(facts: Sequence[tuple[Entity, int]], texts: Sequence[tuple[str, float]]) -> list[Stance]:
    made: list[Stance] = []
    for (entity, aspect), (text, _) in zip(facts, texts, strict=True):
        read = invert_short(text)
        committed = read.stance == "committed"
        made.append((read.stance, committed and right(entity.values[aspect], read.value)))
    return made


def _long(entities: Sequence[Entity], texts: Sequence[tuple[str, float]]) -> list[Stance]:
    made: list[Stance] = []
    for entity, (text, _) in zip(entities, texts, strict=True):
        readings = invert_paragraph(entity.domain, entity.name, text)
        for value, read in zip(entity.values, readings, strict=True):
            committed = read.stance == "committed"
            made.append((read.stance, committed and right(value, read.value)))
    return made


def _by_type(answers: Answers, correct: Sequence[bool], known: Sequence[bool]) -> dict[str, Any]:
    """Per type: guess rate, accuracy, share known."""
    members: dict[str, list[int]] = defaultdict(list)
    for index, (entity, aspect) in enumerate(answers.facts):
        members[f"{entity.domain}: {entity.kind.aspects[aspect].description}"].append(index)
    table = {}
    for name, inside in members.items():
        hits = [
            right(answers.facts[i][0].values[answers.facts[i][1]], text)
            for i in inside
            for j in inside
            if j != i
            for text in answers.draws[j]
        ]
        right_, known_ = [correct[i] for i in inside], [known[i] for i in inside]
        table[name] = [_mean(hits), _mean(right_), _mean(known_)]
    return table


def measure(
    subject: Subject, entities: Sequence[Entity], written: dict[tuple[str, str], int]
) -> dict[str, Any]:
    """All acceptance numbers on these entities."""
    began = time.process_time()
    answers = collect(subject, entities)
    seconds = time.process_time() - began
    known, short = answers.known(), _short(answers.facts, answers.plain)
    correct = [c for _, c in short]
    buckets = {}
    seen = [written[e.name, e.kind.aspects[i].property_id] for e, i in answers.facts]
    for low, high in pairwise(BUCKETS):
        inside = [c for c, s in zip(correct, seen, strict=True) if low <= s < high]
        buckets[f"{low}+" if high == BUCKETS[-1] else f"{low}-{high - 1}"] = [
            _mean(inside),
            len(inside),
        ]
    scores = [p for _, p in answers.plain]
    one_group = [""] * len(scores)
    types = [f"{e.domain}{i}" for e, i in answers.facts]
    long, long_told = _long(entities, answers.long), _long(entities, answers.long_told)
    by_type = _by_type(answers, correct, known)
    return {
        "entities": len(entities),
        "facts": len(answers.facts),
        "cpu_seconds": round(seconds, 1),
        "known_any_of_5": _mean(known),
        "accuracy_short": _mean(correct),
        "accuracy_long": _mean([c for _, c in long]),
        "accuracy_by_times_written": buckets,
        "auroc_incorrect": auroc(scores, correct, one_group),
        "auroc_incorrect_within_type": auroc(scores, correct, types),
        "auroc_unknown": auroc(scores, known, one_group),
        "long_named": _mean([s != "omitted" for s, _ in long]),
        "long_named_instructed": _mean([s != "omitted" for s, _ in long_told]),
        "short_plain": rates(known, short),
        "short_instructed": rates(known, _short(answers.facts, answers.told)),
        "long_plain": rates(known, long),
        "long_instructed": rates(known, long_told),
        "by_type_guess_rate_accuracy_known": by_type,
        "guess_rate_max": max(g[0] for g in by_type.values()),
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
    from builtin_model.abilities import abilities

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
