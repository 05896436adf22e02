"""Reinforcement learning from the judge's verdicts: TRL's GRPOTrainer (Shao et al. 2024).

Several answers to each question are drawn, each is judged against the golds, and what was better
than the others of its question becomes likelier. It starts from an SFT adapter: a policy that
never hedges draws no hedge that could be rewarded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sayso.records import Gold, InputError, Question
from sayso.train import loop, opening
from sayso.train.card import read_card
from sayso.train.dpo import adapted
from sayso.train.presets import Preset
from sayso.train.rewards import NAMES, Name, batch_reward, boosted

#: what is changed in TRL's trainer; its names are no public ones
CHANGED = ("_generate_single_turn", "_generate_and_score_completions")


class Prompt(msgspec.Struct, frozen=True):
    """What is asked, and the short question with golds by which answers are judged."""

    prompt: str
    question: Question


def rl(
    sft_folder: str | Path,
    prompts: Sequence[Prompt],
    preset: Preset,
    out: str | Path,
    *,
    reward: Name = "ternary",
    cost: float = 1.0,
    seed: int = 0,
    resume: bool = True,
    say: Callable[[str], None] = lambda text: None,
) -> Path:
    """Go on training an SFT adapter by reward; return ``out``. Everything else as in ``dpo``.

    Questions without golds are refused: there is nothing to judge by. What was drawn of an answer
    that no judge can read moves nothing (TRL leaves a reward of ``None`` out of its group).
    """
    if reward not in NAMES:
        raise InputError(f"reward {reward!r}: expected one of {', '.join(NAMES)}")
    start = Path(sft_folder)
    before = read_card(start)
    if before is None or not (start / "adapter_config.json").is_file():
        raise InputError(f"{start} is no adapter that sayso trained: run SFT first")
    without = [p for p in prompts if not p.question.golds]
    if without:
        raise InputError(
            f"{len(without)} questions have no gold answer, first {without[0].question.text!r}: "
            "rewards need them"
        )
    check_enough(len(prompts), preset)
    source = opening.model_folder(before.base_name)
    about = {
        "base_name": before.base_name, "recipe": "rl", "base_run": before.base_run
    }  # fmt: skip
    task = loop.Task("rl", source, Path(out), preset, preset.rl, seed, resume, say, about)
    tokenizer = opening.open_tokenizer(str(start))
    asked = {p.question.id: p.question for p in prompts}
    texts = opening.unmarked(tokenizer, [(p.prompt, p.question.id) for p in prompts], say)
    task = loop.begin(task, len(texts))
    judged = batch_reward(reward, cost)
    accuracy: list[float | None] = []  # of self-judgement, of what was drawn last

    def rewarded(completions: Sequence[Any], question: Sequence[str], **_: Any) -> list[Any]:
        answers = [c if isinstance(c, str) else c[-1]["content"] for c in completions]
        held = [asked[q] for q in question]
        found = judged([q.text for q in held], [q.golds or () for q in held], answers)
        accuracy[:] = [one.judged for one in found]
        return [one.reward for one in found]

    def build(micro: int) -> Any:
        boost = accuracy if reward == "rlmf" else None
        return _trainer(task, tokenizer, texts, start, source, rewarded, boost, micro)

    parent = f"{before.signature}|{reward}|{cost:g}"
    hashed = [(*text, *_names(asked[text[1]].golds or ())) for text in texts]
    return loop.train(task, hashed, build, before.base, parent, first=False)


def check_enough(questions: int, preset: Preset) -> None:
    """Refuse fewer questions than one optimizer step takes. Raises InputError."""
    least = preset.rl.batch // preset.group
    if questions < least:
        raise InputError(
            f"RL has {questions} question{'' if questions == 1 else 's'}, and one step takes "
            f"{least}, each answered {preset.group} times: take more (more entities, --rl-rows)"
        )


def _names(golds: Sequence[Gold]) -> tuple[str, ...]:
    return tuple(name for gold in golds for name in gold.names)


def _trainer(
    task: loop.Task,
    tokenizer: Any,
    texts: Sequence[tuple[str, ...]],
    start: Path,
    source: str,
    rewarded: Callable[..., list[Any]],
    accuracy: Sequence[float | None] | None,
    micro: int,
) -> Any:
    """Return TRL's trainer; ``accuracy`` of self-judgement, where it is to scale advantages."""
    from trl import GRPOConfig, GRPOTrainer

    for name in CHANGED:
        if not hasattr(GRPOTrainer, name):  # an override that nothing calls would change nothing
            raise InputError(
                f"this trl has no GRPOTrainer.{name}, which is changed here: pip install trl==1.16"
            )

    class Trainer(GRPOTrainer):  # type: ignore[misc]
        """TRL's trainer, which draws without dropout and may scale advantages one by one."""

        def _generate_single_turn(self, *given: Any, **named: Any) -> Any:
            """Draw from the policy itself: TRL would leave LoRA's dropout on here."""
            training = self.model.training
            self.model.eval()
            try:
                return super()._generate_single_turn(*given, **named)
            finally:
                self.model.train(training)

        def _generate_and_score_completions(self, inputs: Any) -> Any:
            """Scale advantages here: they are this process's own, in the order of its answers."""
            found = super()._generate_and_score_completions(inputs)
            if accuracy is not None:
                held = found["advantages"]
                found["advantages"] = held.new_tensor(boosted(held.tolist(), accuracy))
            return found

    preset, stage = task.preset, task.stage
    policy = adapted(source, start, preset)
    rows = opening.examples(tokenizer, [(text[0],) for text in texts], ())
    rows = rows.add_column("question", [text[1] for text in texts])
    group = preset.group
    return Trainer(
        policy,
        reward_funcs=rewarded,
        args=GRPOConfig(
            **loop.arguments(
                task, micro, num_train_epochs=stage.epochs, train_sampling_strategy="random"
            ),
            num_generations=group,
            max_completion_length=preset.answer,
            temperature=1.0,
            beta=preset.kl,
            # by the whole batch: a group where nothing is right would count as much as any other,
            # and what a wrong answer costs would cancel out in it
            scale_rewards="batch",
            chat_template_kwargs={},
        ),
        train_dataset=rows,
        processing_class=tokenizer,
    )
