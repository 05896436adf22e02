"""What decides a teaching, and the folder that it may begin or go on in."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

import sayso
from sayso.pipeline.manifests import now
from sayso.pipeline.running import entities_of
from sayso.pipeline.teaching_base import Base, Halves
from sayso.pipeline.teaching_making import RECIPES, Making, check_making, check_recipe
from sayso.pipeline.teaching_rows import MAKINGS
from sayso.pipeline.teaching_training import preset_for, stages_of
from sayso.records import InputError, content_id
from sayso.taught import FILE, Teaching, read_teaching, write_teaching
from sayso.train.presets import Preset
from sayso.train.presets import check as check_preset

#: settings that may change when a teaching goes on: they decide what is counted, not what is made
COUNTED = ("methods", "resamples")
#: settings that are hashes: what they stand for
HASHES = {"taught": "about other entities", "measured": "measured on other entities"}
#: settings that say which trainings there are; further ones may be added to a teaching
SEEDS = ("seeds", "seed")


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
        if self.recipe not in RECIPES:
            raise InputError(f"recipe {self.recipe!r}: expected one of {', '.join(RECIPES)}")
        stages_of(self.recipe, self.stages)
        for name, value, low, high in (
            ("seeds", self.seeds, 1, 100),
            ("seed", self.seed, 0, 2**31),
            ("resamples", self.resamples, 100, 1_000_000),
        ):
            if not low <= value <= high:
                raise InputError(f"{name} is {value}; expected {low} to {high}")

    def resolved(self, model: object) -> tuple[Preset, Making]:
        """Return the preset and how rows are made, for a model. Raises InputError."""
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


def folder_of(base: Base, begun: Teaching) -> Path:
    """Return the folder beside the run that a teaching gets without a name.

    The same for more seeds or another way of counting: those go on in it.
    """
    made = {k: v for k, v in begun.settings.items() if k not in (*COUNTED, "seeds")}
    key = content_id([made, begun.model_identity, begun.judge])[:8]
    return base.path.parent / f"taught-{base.path.name}-{made['recipe']}-{key}"


def open_teaching(folder: Path, begun: Teaching, *, export: bool = False) -> Teaching:
    """Begin in a folder, or go on in one that was begun with the same settings.

    A finished teaching may get further seeds; until they are finished its findings stand. An
    ``export`` writes no findings and so goes into no folder that has some. Returns ``begun`` with
    what the folder says of its beginning and of the time spent. Raises InputError.
    """
    if not (folder / FILE).is_file():
        if folder.is_dir() and any(folder.iterdir()):
            raise InputError(f"{folder} is not empty and no teaching: choose another --out")
        write_teaching(folder, begun)
        return begun
    before = read_teaching(folder)
    _check_same(folder, before, begun)
    if before.cells:
        if export:
            raise InputError(
                f"{folder} holds a finished teaching (its rows are in {folder / 'rows'}): choose "
                "another --out for the export"
            )
        if left := sorted(set(before.seeds) - set(begun.seeds)):
            raise InputError(
                f"{folder} holds a teaching with seeds {_listed(before.seeds)}, and "
                f"{_listed(begun.seeds)} would leave out {_listed(left)}: say at least "
                f"{_asking(before.seeds)}, or choose another --out"
            )
    else:
        write_teaching(folder, begun)
    return msgspec.structs.replace(begun, created=before.created, timings=before.timings)


def withdraw(folder: Path) -> None:
    """Take back a teaching in which nothing was asked: what it has begun, and its empty folders."""
    if (folder / "draws" / "generations").exists():
        return
    (folder / FILE).unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # something else is in it: it stays
        for place in (folder / "draws", folder):
            if place.exists():
                place.rmdir()


def _check_same(folder: Path, before: Teaching, begun: Teaching) -> None:
    """Refuse to go on with other settings, another model or another judge. Raises InputError.

    Settings that are younger than the folder are left to the signatures of what it holds.
    """
    old, new = (
        {**told.settings, "model": told.model_identity, "judge": told.judge}
        for told in (before, begun)
    )
    plain = msgspec.to_builtins(new)
    for name in old:
        if name in (*COUNTED, *SEEDS) or old.get(name) == plain.get(name):
            continue
        if name in HASHES:
            raise InputError(f"{folder} holds a teaching {HASHES[name]}; choose another --out")
        raise InputError(
            f"{folder} holds a teaching with {name} {old.get(name)!r}, not "
            f"{plain.get(name)!r}; choose another --out"
        )


def _listed(seeds: Sequence[int]) -> str:
    return ", ".join(map(str, seeds))


def _asking(seeds: Sequence[int]) -> str:
    return f"--seed {min(seeds)} --seeds {max(seeds) - min(seeds) + 1}"
