"""SFT: the same weights after a kill, fewer rows where memory ends, one line for a full disk."""

from __future__ import annotations

import dataclasses
import errno
import json
from collections import Counter
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
from sayso.train.config import PAPER, TrainingStage, preset_for
from sayso.train.result import ModelCard, card_signature, read_card, readme
from sayso.train.rows import TrainingRow
from sayso.train.trainers import sft
from support.tiny_training import PRESET, counted_steps, dropouts, rows


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "adapter_model.safetensors")


def same(a: Path, b: Path) -> bool:
    left, right = weights(a), weights(b)
    return left.keys() == right.keys() and all(torch.equal(left[k], right[k]) for k in left)


def kill_at(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """End a training as a kill would: nothing of ours runs after this step."""
    whole = trainers.mark

    class Killer(transformers.TrainerCallback):  # type: ignore[misc]
        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if state.global_step == step:
                raise KeyboardInterrupt

    def both() -> Any:
        marks, killer = whole(), Killer()
        killer.on_save = marks.on_save  # type: ignore[method-assign]
        return killer

    monkeypatch.setattr(trainers, "mark", both)


def test_a_killed_training_ends_with_the_weights_of_one_that_was_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = sft("builtin", rows(24), PRESET, tmp_path / "whole", seed=3)
    with monkeypatch.context() as patch:
        kill_at(patch, 3)  # after the checkpoint of step 2
        with pytest.raises(KeyboardInterrupt):
            sft("builtin", rows(24), PRESET, tmp_path / "killed", seed=3)
    left = tmp_path / "killed" / "checkpoints"
    assert [p.name for p in left.glob("checkpoint-*")] == ["checkpoint-2"]
    steps = counted_steps(monkeypatch)
    killed = sft("builtin", rows(24), PRESET, tmp_path / "killed", seed=3)
    assert steps == [3, 4, 5, 6]  # those of before stand
    assert same(whole, killed)
    assert not same(whole, sft("builtin", rows(24), PRESET, tmp_path / "other", seed=4))
    cards = [read_card(folder) for folder in (whole, killed)]
    assert cards[0] is not None
    assert cards[1] is not None
    assert cards[0].first_loss == cards[1].first_loss
    for folder in (whole, killed):  # in the order of no process
        targets = json.loads((folder / "adapter_config.json").read_text())["target_modules"]
        assert targets == sorted(targets)
    assert [s.step for s in cards[0].curve] == [1, 2, 3, 4, 5, 6]  # 24 rows, 4 a step
    assert not left.exists()


def test_a_training_that_diverged_is_no_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train = trl.SFTTrainer.train

    def diverge(self: Any, *args: Any, **kwargs: Any) -> Any:
        done = train(self, *args, **kwargs)
        weight = next(w for w in self.model.parameters() if w.requires_grad)
        weight.data[0, 0] = float("nan")
        return done

    monkeypatch.setattr(trl.SFTTrainer, "train", diverge)
    with pytest.raises(InputError, match=r"^SFT into \S+ diverged.*lower rate than 0\.003"):
        sft("builtin", rows(8), PRESET, tmp_path / "x")
    assert read_card(tmp_path / "x") is None


def test_a_half_written_checkpoint_is_not_gone_on_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        kill_at(patch, 5)
        with pytest.raises(KeyboardInterrupt):
            sft("builtin", rows(24), PRESET, tmp_path / "x")
    (tmp_path / "x" / "checkpoints" / "checkpoint-4" / trainers.WHOLE).unlink()
    done = sft("builtin", rows(24), PRESET, tmp_path / "x")
    assert same(done, sft("builtin", rows(24), PRESET, tmp_path / "y"))


def test_a_finished_training_is_left_and_another_one_refused(tmp_path: Path) -> None:
    done = sft("builtin", rows(8), PRESET, tmp_path / "x")
    written = (done / "adapter_model.safetensors").stat().st_mtime_ns
    (done / "checkpoints" / "checkpoint-2").mkdir(parents=True)  # as a kill at the end leaves it
    sft("builtin", rows(8), PRESET, tmp_path / "x")
    assert (done / "adapter_model.safetensors").stat().st_mtime_ns == written
    assert not (done / "checkpoints").exists()
    with pytest.raises(InputError, match="contains another training"):
        sft("builtin", rows(9), PRESET, tmp_path / "x")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").touch()
    with pytest.raises(InputError, match="not empty and is not a training"):
        sft("builtin", rows(8), PRESET, tmp_path / "full")
    assert (tmp_path / "full" / "thesis.tex").exists()


def test_where_memory_runs_out_half_as_many_rows_are_computed_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, int]] = []
    original = trl.SFTTrainer.compute_loss

    def small(self: Any, model: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        seen.append((len(inputs["input_ids"]), self.args.gradient_accumulation_steps))
        if len(inputs["input_ids"]) > 1:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return original(self, model, inputs, *args, **kwargs)

    monkeypatch.setattr(trl.SFTTrainer, "compute_loss", small)
    said: list[str] = []
    done = sft("builtin", rows(8), PRESET, tmp_path / "x", say=said.append)
    assert said[1:] == ["memory ran out: continuing with 1 rows at once and 4 accumulated"]
    assert seen[0] == (2, 2)
    assert set(seen[1:]) == {(1, 4)}  # the batch of 4 is kept
    card = read_card(done)
    assert card is not None
    assert card.notices == tuple(said)


@pytest.mark.parametrize(
    ("batch", "most", "micro"), [(32, 8, 8), (20, 8, 5), (20, 2, 2), (7, 4, 1), (4, 9, 4)]
)
def test_what_is_computed_at_once_divides_the_batch(batch: int, most: int, micro: int) -> None:
    """8 of 20 at once, twice, would be steps of 16 rows."""
    assert trainers.divisor(batch, most) == micro


def test_a_step_has_as_many_rows_as_the_preset_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    original = trl.SFTTrainer.compute_loss

    def counted(self: Any, model: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        if model.training:
            seen.append(len(inputs["input_ids"]))
        return original(self, model, inputs, *args, **kwargs)

    monkeypatch.setattr(trl.SFTTrainer, "compute_loss", counted)
    odd = dataclasses.replace(PRESET, sft=dataclasses.replace(PRESET.sft, batch=6, micro=4))
    card = read_card(sft("builtin", rows(12), odd, tmp_path / "x"))
    assert seen == [3, 3, 3, 3]
    assert card is not None
    assert [step.step for step in card.curve] == [1, 2]


def test_several_gpus_and_processes_are_refused_with_the_way_to_use_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("WORLD_SIZE", "2")
        with pytest.raises(InputError, match=r"is one process.*--export trl or llama-factory"):
            sft("builtin", rows(4), PRESET, tmp_path / "x")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(InputError, match=r"2 GPUs are visible.*CUDA_VISIBLE_DEVICES=0; --export"):
        sft("builtin", rows(4), PRESET, tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_lora_dropout_is_on_while_training_as_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: set[tuple[float, bool]] = set()
    original = trl.SFTTrainer.compute_loss

    def look(self: Any, model: Any, *args: Any, **kwargs: Any) -> Any:
        if torch.is_grad_enabled():  # not where the first loss is noted
            seen.update(dropouts(model))
        return original(self, model, *args, **kwargs)

    monkeypatch.setattr(trl.SFTTrainer, "compute_loss", look)
    sft("builtin", rows(8), dataclasses.replace(PRESET, dropout=0.25), tmp_path / "x")
    assert seen == {(0.25, True)}


def test_where_not_one_row_fits_it_is_one_line_and_other_errors_are_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")

    def broken(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("shapes do not match")

    with monkeypatch.context() as patch:
        patch.setattr(trl.SFTTrainer, "compute_loss", none)
        with pytest.raises(InputError, match=r"^memory ran out with one row at a time: use a sm"):
            sft("builtin", rows(8), PRESET, tmp_path / "x")
    monkeypatch.setattr(trl.SFTTrainer, "compute_loss", broken)
    with pytest.raises(RuntimeError, match="shapes do not match") as told:
        sft("builtin", rows(8), PRESET, tmp_path / "x")
    assert told.value.__cause__ is None


def test_a_full_disk_is_one_line_and_costs_no_whole_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = transformers.Trainer._save_optimizer_and_scheduler

    def full(self: Any, folder: str) -> None:
        if folder.endswith("-4"):
            raise OSError(errno.ENOSPC, "No space left on device")
        original(self, folder)

    with monkeypatch.context() as patch:
        patch.setattr(transformers.Trainer, "_save_optimizer_and_scheduler", full)
        with pytest.raises(
            InputError, match=r"^disk is full while training into \S+; free"
        ) as told:
            sft("builtin", rows(24), PRESET, tmp_path / "x")
    assert "\n" not in str(told.value)
    done = sft("builtin", rows(24), PRESET, tmp_path / "x")
    assert same(done, sft("builtin", rows(24), PRESET, tmp_path / "y"))


def test_a_model_without_the_modules_says_which_it_has(tmp_path: Path) -> None:
    wrong = dataclasses.replace(PRESET, targets=("q_proj", "c_attn"))
    with pytest.raises(InputError, match=r"no module c_attn; its linear modules are down_proj, ga"):
        sft("builtin", rows(8), wrong, tmp_path / "x")


def test_a_model_without_q_proj_says_which_modules_it_has(tmp_path: Path) -> None:
    """GPT-2 has c_attn, c_fc and c_proj, in a class that is no linear layer of torch."""
    folder = tmp_path / "gpt2"
    tokenizer = trainers.open_tokenizer(trainers.model_folder("builtin"))
    tokenizer.save_pretrained(folder)
    config = transformers.GPT2Config(
        n_embd=8, n_layer=1, n_head=2, vocab_size=len(tokenizer), n_positions=64,
        bos_token_id=None, eos_token_id=None,
    )  # fmt: skip
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    told = r"GPT2LMHeadModel has no module q_proj, v_proj; its linear modules are c_attn, c_fc, c_p"
    with pytest.raises(InputError, match=told):
        sft(folder, rows(8), PAPER, tmp_path / "x")
    with pytest.raises(InputError, match=told):
        trainers.check_trainable_targets(str(folder), PAPER.targets)
    fitting = dataclasses.replace(PRESET, targets=("c_attn",), cutoff=64)
    assert (sft(folder, rows(8), fitting, tmp_path / "y") / "adapter_model.safetensors").is_file()


def test_rows_with_the_tokenizers_marks_are_left_out_and_no_row_is_refused(tmp_path: Path) -> None:
    tokenizer = trainers.open_tokenizer(trainers.model_folder("builtin"))
    said: list[str] = []
    kept = trainers.unmarked(
        tokenizer, [("a", "b"), ("a<|end|>", "b"), ("a", "<|user|>")], said.append
    )
    assert kept == [("a", "b")]
    assert said == ["2 rows contain marks of the tokenizer and were left out"]
    with pytest.raises(InputError, match="no row"):
        sft("builtin", [], PRESET, tmp_path / "x")


def test_only_answers_bear_loss_in_the_models_own_template() -> None:
    tokenizer = trainers.open_tokenizer(trainers.model_folder("builtin"))
    made = trainers.training_examples(tokenizer, [("Who?", "Me.")], ("completion",))
    assert made[0] == {
        "prompt": [{"role": "user", "content": "Who?"}],
        "completion": [{"role": "assistant", "content": "Me."}],
    }
    tokenizer.chat_template = None
    made = trainers.training_examples(tokenizer, [("Who?", "Me.")], ("completion",))
    assert made[0] == {"prompt": "Question: Who?\nAnswer:", "completion": " Me."}


def test_the_order_holds_every_epoch_and_pads_little() -> None:
    texts = [("p" * (i % 17), "a") for i in range(101)]
    order = trainers.arranged(texts, TrainingStage(rate=1, batch=16, epochs=2, rows=1, micro=4), 5)
    assert Counter(order) == Counter(texts * 2)
    assert Counter(order[:101]) == Counter(texts)
    assert order == trainers.arranged(
        texts, TrainingStage(rate=1, batch=16, epochs=2, rows=1, micro=4), 5
    )
    assert order != trainers.arranged(
        texts, TrainingStage(rate=1, batch=16, epochs=2, rows=1, micro=4), 6
    )
    lengths = [len(a + b) for a, b in order]
    padded = sum(max(lengths[i : i + 4]) * 4 for i in range(0, 100, 4))
    assert padded < 1.2 * sum(lengths[:100])
    part = trainers.arranged(texts, TrainingStage(rate=1, batch=16, epochs=0.5, rows=1, micro=4), 5)
    assert len(part) == 50


def test_the_papers_preset_is_table_6() -> None:
    assert (PAPER.r, PAPER.alpha, PAPER.dropout) == (8, 16, 0.05)
    assert PAPER.targets == ("q_proj", "v_proj")
    assert (PAPER.sft.rate, PAPER.sft.batch, PAPER.dpo.rate, PAPER.dpo.batch) == (
        5e-5,
        32,
        1e-5,
        64,
    )
    assert (PAPER.sft.epochs, PAPER.dpo.epochs, PAPER.cutoff) == (3, 3, 1024)
    assert (PAPER.betas, PAPER.epsilon, PAPER.warmup) == ((0.9, 0.98), 1e-8, 0.1)
    assert (PAPER.sft.rows, PAPER.dpo.rows, PAPER.xi) == (40_000, 20_000, 0.7)


@pytest.mark.parametrize("name", ["r", "dropout", "warmup", "xi", "targets"])
def test_settings_that_train_nothing_are_refused(name: str) -> None:
    wrong: Any = {"targets": ()}.get(name, -1)
    with pytest.raises(InputError, match=name):
        dataclasses.replace(PAPER, **{name: wrong}).check()
    with pytest.raises(InputError, match="expected auto, paper, builtin"):
        preset_for("mine", "builtin")


def test_trainers_get_what_the_preset_says(tmp_path: Path) -> None:
    task = trainers.TrainingTask("sft", "m", tmp_path, PAPER, PAPER.sft, 7, print, {})
    given = trainers.arguments(task, 8)
    assert given["per_device_train_batch_size"] * given["gradient_accumulation_steps"] == 32
    assert (given["adam_beta1"], given["adam_beta2"], given["weight_decay"]) == (0.9, 0.98, 0.0)
    assert (given["warmup_steps"], given["learning_rate"], given["seed"]) == (0.1, 5e-5, 7)


def test_the_signature_changes_with_all_that_makes_the_weights() -> None:
    card = ModelCard(kind="sft", base="b", base_name="n", rows=3, settings={"r": 8, "sft.micro": 4})
    own = card_signature(card)
    for changed in (
        {"kind": "dpo"}, {"base": "c"}, {"rows_hash": "x"}, {"seed": 1}, {"parent": "p"},
        {"settings": {"r": 9, "sft.micro": 4}}, {"recipe": "mix"},
    ):  # fmt: skip
        import msgspec

        assert card_signature(msgspec.structs.replace(card, **changed)) != own
    smaller = ModelCard(
        kind="sft", base="b", base_name="n", rows=3, settings={"r": 8, "sft.micro": 1}
    )
    assert card_signature(smaller) == own


def test_a_card_cannot_break_out_of_its_page(tmp_path: Path) -> None:
    card = ModelCard(kind="sft", base="b`\n# x", base_name='a"\n---\nevil: 1', base_run="r\n\n| x")
    page = readme(card)
    front = page.split("---\n")[1]
    assert [line.split(":")[0] for line in front.splitlines()] == [
        "library_name",
        "base_model",
        "tags",
    ]
    assert json.loads(front.splitlines()[1].split(": ", 1)[1]) == card.base_name
    assert "\n# x" not in page
    (tmp_path / "sayso.json").write_text("{")
    with pytest.raises(InputError, match="cannot be read"):
        read_card(tmp_path)


def test_rows_that_are_trained_are_the_chosen_ones(tmp_path: Path) -> None:
    """Training one answer makes it likelier: the loss falls from the first batch to the last."""
    row = TrainingRow("What is it?", "Possibly a zebra", None, "short", "it", ("q",), "test")
    chosen = dataclasses.replace(PRESET, sft=dataclasses.replace(PRESET.sft, epochs=3, rate=1e-2))
    card = read_card(sft("builtin", [row] * 16, chosen, tmp_path / "x"))
    assert card is not None
    assert card.first_loss is not None
    assert card.curve[-1].loss < 0.5 * card.first_loss
    assert card.curve[-1].epoch == pytest.approx(3)
