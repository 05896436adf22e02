"""What decides a teaching: its settings, and its manifest before it has begun."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import sayso
from sayso.pipeline.manifests import now
from sayso.pipeline.running import entities_of
from sayso.pipeline.teaching_base import Base, Halves
from sayso.pipeline.teaching_making import Making, check_making, check_name, check_recipe
from sayso.pipeline.teaching_rows import MAKINGS
from sayso.pipeline.teaching_training import preset_for, stages_of
from sayso.pipeline.teaching_unread import check_read
from sayso.records import InputError, content_id
from sayso.taught import Teaching
from sayso.train.presets import Preset
from sayso.train.presets import check as check_preset


@dataclasses.dataclass(frozen=True, kw_only=True)
class Lesson:
    """Everything that decides a teaching. ``None`` in ``making``'s place: the preset's own."""

    recipe: str = "mix"
    preset: str = "auto"
    seeds: int = 1
    seed: int = 0
    stages: str = "dpo"
    limit: int | None = None
    train_limit: int | None = None
    methods: str = ""
    resamples: int = 2000
    making: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    training: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def check(self) -> None:
        """Refuse what can be seen to be wrong without opening anything. Raises InputError."""
        check_name(self.recipe)
        stages_of(self.recipe, self.stages)
        for name, value, low, high in (
            ("seeds", self.seeds, 1, 100),
            ("seed", self.seed, 0, 2**31),
            ("resamples", self.resamples, 100, 1_000_000),
        ):
            if not low <= value <= high:
                raise InputError(f"{name} is {value}; expected {low} to {high}")

    def resolved(self, model: object, *, export: bool = False) -> tuple[Preset, Making]:
        """Return the preset and how rows are made, for a model. Raises InputError.

        What was given and would be left unread, also by an ``export``, is refused.
        """
        preset = preset_for(self.preset, model)
        known = {f.name for f in dataclasses.fields(Making)}
        unknown = [name for name in self.making if name not in known]
        if unknown:
            raise InputError(f"{unknown[0]!r} is no setting of rows; known: {', '.join(known)}")
        given = {k: v for k, v in self.making.items() if v is not None}
        made = dataclasses.replace(MAKINGS[preset.name], **({"xi": preset.xi} | given))
        check_making(made)
        check_recipe(self.recipe, made)
        if made.style == "fut" and self.recipe != "rl" and self.stages != "sft":
            raise InputError("style fut makes rows for SFT and no pairs: say --stages sft")
        given |= self.training
        check_read(self.recipe, self.stages, made, given, export=export)
        chosen = _trained(preset, self.training)
        check_preset(chosen)
        return chosen, made


def _trained(preset: Preset, changed: Mapping[str, Any]) -> Preset:
    """Return a preset with some settings changed; nested ones are dotted."""
    for name, value in changed.items():
        if value is None:
            continue
        part, dot, last = name.partition(".")
        try:
            own = dataclasses.replace(getattr(preset, part), **{last: value}) if dot else value
            preset = dataclasses.replace(preset, **{part: own})
        except (AttributeError, TypeError):
            raise InputError(f"{name!r} is no setting of a preset") from None
    return preset


def begin(
    base: Base, parts: Halves, lesson: Lesson, preset: Preset, making: Making, command: str
) -> Teaching:
    """Return what a teaching is before it has begun; its settings decide whether it may go on."""
    settings: dict[str, object] = {
        "recipe": lesson.recipe,
        "stages": lesson.stages,
        "seeds": lesson.seeds,
        "seed": lesson.seed,
        "methods": lesson.methods,
        "resamples": lesson.resamples,
        "taught": parts.taught.hash,
        "measured": parts.measured.hash,
        **_flat("rows", dataclasses.asdict(making)),
        **_flat("training", dataclasses.asdict(preset)),
    }
    manifest = base.manifest
    key = content_id([settings, manifest.model_identity, manifest.judge_signature])[:8]
    signature = "|".join(
        [
            f"taught#{key}",
            f"recipe:{lesson.recipe}",
            f"data:{manifest.data}-{parts.measured.hash[:4]}",
            f"judge:{manifest.judge_signature}",
            f"known_from:{manifest.model_signature}",
            f"seeds:{lesson.seeds}",
            f"ci:seeds-entities-{lesson.resamples}-s0",
            f"v:{sayso.__version__}",
        ]
    )
    return Teaching(
        sayso=sayso.__version__,
        created=now(),
        command=command,
        base_run=str(base.path),
        model=manifest.model,
        model_identity=manifest.model_identity,
        data=manifest.data,
        judge=manifest.judge_signature,
        settings=settings,
        seeds=tuple(range(lesson.seed, lesson.seed + lesson.seeds)),
        entities={
            "taught": entities_of(parts.taught.questions),
            "measured": entities_of(parts.measured.questions),
        },
        notes=parts.notes,
        signature=signature,
    )


def _flat(prefix: str, settings: Mapping[str, Any]) -> dict[str, object]:
    """Return nested settings with dotted names, as JSON values."""
    found: dict[str, object] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping):
            found |= _flat(f"{prefix}.{name}", value)
        else:
            found[f"{prefix}.{name}"] = list(value) if isinstance(value, tuple) else value
    return found
