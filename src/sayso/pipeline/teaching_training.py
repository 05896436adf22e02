"""The trainings of a teaching: SFT, then DPO or RL, for each seed; every one resumes by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from sayso.pipeline.teaching_base import Base
from sayso.pipeline.teaching_rows import Made
from sayso.records import InputError
from sayso.taught import Curve, Point
from sayso.train.card import read_card
from sayso.train.presets import PRESETS, Preset

Say = Callable[[str], None]
#: stages that ``--stages`` can end at
STAGES = ("sft", "dpo")
#: what a point of a curve is not a value of
_PLACES = ("step", "epoch")


def preset_for(name: str, model: object) -> Preset:
    """Return a preset; "auto" is ``builtin`` for the built-in model and ``paper`` for others."""
    if name == "auto":
        name = "builtin" if model == "builtin" else "paper"
    if name not in PRESETS:
        raise InputError(f"preset {name!r} is not known: expected auto, {', '.join(PRESETS)}")
    return PRESETS[name]


def stages_of(recipe: str, last: str) -> tuple[str, ...]:
    """Return the stages of a recipe up to ``last``. Raises InputError."""
    if last not in STAGES:
        raise InputError(f"stages {last!r}: expected sft, or dpo (which comes after SFT)")
    second = "rl" if recipe == "rl" else "dpo"
    return ("sft",) if last == "sft" else ("sft", second)


def check_trainable(base: Base, preset: Preset) -> None:
    """Refuse what could not be trained, before anything is asked. Raises InputError."""
    name = _named(base)
    try:
        import peft  # noqa: F401
        import trl  # noqa: F401

        from sayso.train import limits, opening
    except ModuleNotFoundError as error:
        raise _needs(error) from None
    limits.one_process()
    opening.check_trainable(opening.model_folder(name), preset.targets)


def _named(base: Base) -> str:
    """Return the name of a model whose weights are here."""
    name = base.model if isinstance(base.model, str) else ""
    if not (name == "builtin" or name.startswith("hf:")):
        raise InputError(
            f"model {base.manifest.model} cannot be trained here: expected builtin or hf:…; "
            "--export writes its rows for other trainers"
        )
    return name


def train(
    base: Base,
    made: Made,
    preset: Preset,
    out: Path,
    *,
    recipe: str,
    stages: Sequence[str],
    seed: int,
    say: Say,
) -> dict[str, Path]:
    """Train the stages of one seed and return their folders. Raises InputError.

    A finished training is left as it is, a killed one goes on from its last checkpoint.
    """
    from sayso.train.dpo import dpo
    from sayso.train.rl import check_enough
    from sayso.train.sft import sft

    name = _named(base)
    if "rl" in stages:
        check_enough(len(made.asked), preset)
    about = {"recipe": recipe, "base_run": str(base.path), "base_name": name}
    found = {stage: out / f"{stage}-{seed}" for stage in stages}
    on = {"sft": "rows", "dpo": "pairs", "rl": "questions"}
    size = {"sft": len(made.sft), "dpo": len(made.dpo), "rl": len(made.asked)}
    for stage, place in found.items():
        known = "" if read_card(place) is None else " (finished)"
        say(f"seed {seed}: {stage.upper()} on {size[stage]} {on[stage]}{known}")
        if stage == "sft":
            sft(
                name, made.sft, preset, place, seed=seed,
                base=base.manifest.model_identity, about=about, say=say,
            )  # fmt: skip
        elif stage == "dpo":
            dpo(found["sft"], made.dpo, preset, place, seed=seed, say=say)
        else:
            _rl(found["sft"], made, preset, place, seed, say)
    return found


def _rl(start: Path, made: Made, preset: Preset, out: Path, seed: int, say: Say) -> None:
    from sayso.train.rl import Prompt, rl

    rl(
        start, [Prompt(*one) for one in made.asked], preset, out, reward=made.reward,
        cost=made.cost, seed=seed, say=say,
    )  # fmt: skip


def _needs(error: ModuleNotFoundError) -> InputError:
    return InputError(
        f"training needs {error.name}, which is not installed: pip install 'sayso[train]' "
        "(--export needs none of it)"
    )


def curve_of(stage: str, seed: int, folder: Path) -> Curve:
    """Return the course of a training from the card of its folder."""
    card = read_card(folder)
    if card is None:
        raise InputError(f"{folder} holds no card of a training")
    points = []
    for step in card.curve:
        told: Mapping[str, object] = msgspec.to_builtins(step)
        values: dict[str, float] = {}
        for key, value in told.items():
            if isinstance(value, dict):
                values |= {k: float(v) for k, v in value.items() if isinstance(v, int | float)}
            elif isinstance(value, int | float) and key not in _PLACES:
                values[key] = float(value)
        points.append(Point(step.step, values))
    return Curve(stage, seed, card.first_loss, tuple(points), card.notices)
