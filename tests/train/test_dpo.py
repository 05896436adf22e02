"""DPO: the reference is the SFT policy, LoRA's dropout is what was asked, a kill costs nothing."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")

import torch
import transformers
import trl
from safetensors.torch import load_file

from sayso.records import InputError
from sayso.train import trainers
from sayso.train.result import read_card
from sayso.train.trainers import dpo, sft
from sayso.train.training import curve_of
from support.tiny_training import PRESET, counted_steps, dropouts, rows


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    chosen = dataclasses.replace(PRESET, sft=dataclasses.replace(PRESET.sft, rate=1e-2))
    return sft("builtin", rows(24), chosen, tmp_path_factory.mktemp("dpo") / "sft")


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_the_first_loss_is_ln_2_and_the_reference_the_sft_policy(
    start: Path, tmp_path: Path
) -> None:
    """Before the first step policy and reference agree: -log sigmoid(0) = ln 2 = 0.693147.

    With a reference that is not the SFT policy (the base model, or the policy with dropout on)
    the log-ratios of this adapter are far from 0.
    """
    heavy = dataclasses.replace(PRESET, dropout=0.5)
    card = read_card(dpo(start, rows(24, True), heavy, tmp_path / "dpo"))
    assert card is not None
    assert card.first_loss == pytest.approx(math.log(2), abs=1e-5)
    before = read_card(start)
    assert before is not None
    assert card.parent == before.signature


def test_the_card_holds_how_preferences_were_learned(start: Path, tmp_path: Path) -> None:
    chosen = dataclasses.replace(PRESET, dpo=dataclasses.replace(PRESET.dpo, epochs=3, rate=3e-3))
    card = read_card(dpo(start, rows(24, True), chosen, tmp_path / "dpo"))
    assert card is not None
    assert all(set(step.values) == {"reward accuracy", "reward margin"} for step in card.curve)
    first, last = card.curve[0].values, card.curve[-1].values
    # "I am not sure." is rejected in every pair: preferring anything else is learned in a few steps
    assert last["reward accuracy"] == 1
    assert last["reward margin"] > max(0.05, first["reward margin"])
    drawn = curve_of("dpo", 0, tmp_path / "dpo")
    assert drawn.points[-1].values.keys() == {"loss", "rate", "reward accuracy", "reward margin"}


def test_the_likelihood_of_the_chosen_answer_is_added_where_asked(
    start: Path, tmp_path: Path
) -> None:
    plain = read_card(dpo(start, rows(8, True), PRESET, tmp_path / "plain"))
    both = dataclasses.replace(PRESET, nll=0.5)
    more = read_card(dpo(start, rows(8, True), both, tmp_path / "more"))
    assert plain is not None
    assert more is not None
    assert plain.first_loss is not None
    assert more.first_loss is not None
    assert more.first_loss > plain.first_loss + 0.01


def test_lora_dropout_is_on_while_training_as_asked_and_off_in_the_reference(
    start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, set[tuple[float, bool]]] = {"train": set(), "reference": set()}

    loss, reference = trl.DPOTrainer._compute_loss, trl.DPOTrainer.compute_ref_log_probs

    def compute_loss(self: Any, model: Any, *args: Any, **kwargs: Any) -> Any:
        if torch.is_grad_enabled():  # not where the first loss is noted
            seen["train"] |= dropouts(model)
        return loss(self, model, *args, **kwargs)

    def compute_ref_log_probs(self: Any, model: Any, inputs: Any) -> Any:
        seen["reference"] |= dropouts(model)
        return reference(self, model, inputs)

    monkeypatch.setattr(trl.DPOTrainer, "_compute_loss", compute_loss)
    monkeypatch.setattr(trl.DPOTrainer, "compute_ref_log_probs", compute_ref_log_probs)
    chosen = dataclasses.replace(PRESET, dropout=0.25)
    dpo(start, rows(8, True), chosen, tmp_path / "dpo")
    assert seen["train"] == {(0.25, True)}
    assert {training for _, training in seen["reference"]} == {False}


def test_a_killed_training_ends_with_the_weights_of_one_that_was_not(
    start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = dpo(start, rows(24, True), PRESET, tmp_path / "whole", seed=2)
    mark = trainers.mark

    class Killer(transformers.TrainerCallback):  # type: ignore[misc]
        def __init__(self) -> None:
            self.on_save = mark().on_save  # type: ignore[method-assign]

        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if state.global_step == 3:
                raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(trainers, "mark", Killer)
        with pytest.raises(KeyboardInterrupt):
            dpo(start, rows(24, True), PRESET, tmp_path / "killed", seed=2)
    steps = counted_steps(monkeypatch)
    killed = dpo(start, rows(24, True), PRESET, tmp_path / "killed", seed=2)
    assert steps == [3, 4, 5, 6]  # those of before stand
    left, right = (load_file(f / "adapter_model.safetensors") for f in (whole, killed))
    assert all("ref" not in name.split(".") for name in left)
    assert left.keys() == right.keys()
    for name in left:
        assert torch.equal(left[name], right[name]), name


def test_where_memory_runs_out_half_as_many_pairs_are_computed_at_once(
    start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it runs out while the reference is read, before the first step."""
    reference = trl.DPOTrainer.compute_ref_log_probs
    trained: list[tuple[int, int]] = []
    loss = trl.DPOTrainer._compute_loss

    def small(self: Any, model: Any, inputs: Any) -> Any:
        if len(inputs["input_ids"]) > 2:  # a pair is two texts
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return reference(self, model, inputs)

    def compute_loss(self: Any, model: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        trained.append((len(inputs["input_ids"]) // 2, self.args.gradient_accumulation_steps))
        return loss(self, model, inputs, *args, **kwargs)

    monkeypatch.setattr(trl.DPOTrainer, "compute_ref_log_probs", small)
    monkeypatch.setattr(trl.DPOTrainer, "_compute_loss", compute_loss)
    said: list[str] = []
    card = read_card(dpo(start, rows(8, True), PRESET, tmp_path / "x", say=said.append))
    assert said[1:] == ["memory ran out: continuing with 1 rows at once and 4 accumulated"]
    assert set(trained) == {(1, 4)}
    assert card is not None
    assert card.notices == tuple(said)
    assert card.first_loss == pytest.approx(math.log(2), abs=1e-5)


def test_pairs_without_a_rejected_answer_and_folders_without_a_card_are_refused(
    start: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="needs a rejected answer in every row"):
        dpo(start, rows(4), PRESET, tmp_path / "x")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="run SFT first"):
        dpo(tmp_path / "empty", rows(4, True), PRESET, tmp_path / "x")
