"""How many steps a training takes, that the first of few counts, and what is said meanwhile."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from sayso.train.config import BUILTIN, PAPER, TrainingStage
from sayso.train.trainers import WARM, ProgressPace, paced, steps_of, steps_text
from support.tiny_training import PRESET, rows


@pytest.mark.parametrize(
    ("kind", "number", "steps"),
    [
        ("sft", 3000, 282),  # 3 x 3000 rows / 32 = 281.25
        ("dpo", 128, 4),  # 1 x 128 pairs / 32
        ("dpo", 129, 5),  # a last batch that is not full is a step
    ],
)
def test_steps_are_counted(kind: str, number: int, steps: int) -> None:
    assert steps_of(kind, number, BUILTIN) == steps


def test_only_few_steps_lose_their_warm_up() -> None:
    assert paced("dpo", 32 * (WARM - 1), BUILTIN).warmup == 0
    assert paced("dpo", 32 * WARM, BUILTIN) is BUILTIN
    assert paced("sft", 40_000, PAPER) is PAPER


def test_too_few_steps_are_told_with_what_to_do() -> None:
    assert steps_text("sft", 282) == "SFT takes 282 optimizer steps"
    few = steps_text("dpo", 4)
    assert few.startswith("DPO takes 4 optimizer steps: too few to train anything")
    assert "dpo_epochs" in few
    assert "1 optimizer step:" in steps_text("sft", 1)


def lines(seconds: float, total: int, first: int = 0) -> list[str]:
    """Return the lines of a training whose steps take so long each."""
    now = [0.0]
    pace = ProgressPace("sft", lambda: now[0])
    pace.begin(first)
    found = []
    for step in range(first + 1, total + 1):
        now[0] += seconds
        pace.loss = 1.5
        found.append(pace.at(step, total))
    return [line for line in found if line]


def test_progress_is_a_line_every_tenth_part_or_fifteen_seconds() -> None:
    assert lines(0.001, 100) == []  # over at once
    # 1 s a step: every tenth step, 10 to 90
    assert len(lines(1, 100)) == 9
    assert lines(1, 100)[0] == "SFT step 10 of 100, loss 1.500, 90 s left"
    # 10 s a step, 100 steps: every 20 s (15 are not over after one), 2 to 98, and every tenth
    assert lines(10, 100)[0] == "SFT step 2 of 100, loss 1.500, 16 min left"
    # an hour a step
    assert len(lines(3600, 20)) == 19
    # 100 h: every five minutes at the latest, which is every 8.3 of 10,000 steps
    assert 1000 < len(lines(36, 10_000)) < 1200
    # resumed at step 50: time is counted from there
    assert lines(1, 100, first=50)[0] == "SFT step 60 of 100, loss 1.500, 40 s left"


def test_one_step_trains(tmp_path: Path) -> None:
    """The first step of a linear warm-up has rate 0: a training of one step was none."""
    pytest.importorskip("trl")
    from safetensors.torch import load_file

    from sayso.train.result import read_card
    from sayso.train.trainers import dpo, sft

    start = sft("builtin", rows(4), PRESET, tmp_path / "sft")
    said: list[str] = []
    done = dpo(start, rows(4, rejected=True), PRESET, tmp_path / "dpo", say=said.append)
    before, after = (load_file(f / "adapter_model.safetensors") for f in (start, done))
    assert any(not before[name].equal(after[name]) for name in before)
    card = read_card(done)
    assert card is not None
    assert [(s.step, s.rate) for s in card.curve] == [(1, PRESET.dpo.rate)]
    assert card.settings["warmup"] == 0
    assert said == list(card.notices)
    assert said[0].startswith("DPO takes 1 optimizer step: too few")
    sft_card = read_card(start)  # lora_B starts at 0: what was not trained would still be 0
    assert sft_card is not None
    assert any(bool(w.any()) for name, w in before.items() if "lora_B" in name)


def test_counted_steps_are_those_that_are_taken(tmp_path: Path) -> None:
    pytest.importorskip("trl")
    from sayso.train.result import read_card
    from sayso.train.trainers import sft

    stage = TrainingStage(rate=3e-3, batch=4, epochs=1.5, rows=24, micro=2)
    preset = dataclasses.replace(PRESET, sft=stage, save=1)
    card = read_card(sft("builtin", rows(7), preset, tmp_path / "sft"))
    assert card is not None
    assert card.curve[-1].step == steps_of("sft", 7, preset)
    assert card.curve[0].rate
