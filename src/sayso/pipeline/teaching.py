"""Teaching: from a run to a model that says what it does not know, and the proof of it.

Draws, rows, trainings, measuring and the table are steps that can each be stopped: the same call
goes on. Everything lies in one folder::

    draws/            answers of the base model about what is taught (a run folder)
    rows/             sft-SEED.jsonl, dpo-SEED.jsonl
    adapters/         sft-SEED, dpo-SEED (or rl-SEED), each with its card
    runs/             uncle runs of the taught models, with the base run's frozen probes
    teaching.json     every setting, the table, differences, curves, samples
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sayso.pipeline.asking import Progress
from sayso.pipeline.folder_run import timed
from sayso.pipeline.manifests import now
from sayso.pipeline.running import entities_of
from sayso.pipeline.teaching_base import Base, Halves, check_still, halves, open_base
from sayso.pipeline.teaching_draws import draw
from sayso.pipeline.teaching_folder import alone, folder_of, open_teaching, withdraw
from sayso.pipeline.teaching_lesson import Lesson, begin
from sayso.pipeline.teaching_making import Making
from sayso.pipeline.teaching_proof import prove
from sayso.pipeline.teaching_rows import Made, counts
from sayso.pipeline.teaching_rows import keep as keep_rows
from sayso.pipeline.teaching_rows import make as make_rows
from sayso.pipeline.teaching_training import check_trainable, curve_of, stages_of, train
from sayso.protocols import uncle
from sayso.records import InputError
from sayso.store import RunFolder
from sayso.taught import Teaching, write_teaching
from sayso.train.export import STYLES, export
from sayso.train.pairs import Fact, Form
from sayso.train.presets import Preset
from sayso.train.rl import check_enough

__all__ = ["Lesson", "teach"]

Say = Callable[[str], None]


def teach(
    run: str | Path,
    out: str | Path | None = None,
    *,
    lesson: Lesson | None = None,
    style: str = "",
    model: Any = None,
    data: str | None = None,
    judge: Any = None,
    cache: str | Path | None = None,
    progress: Progress | None = None,
    say: Say = lambda text: None,
    command: str = "",
) -> tuple[Path, Teaching]:
    """Teach the model of a finished uncle run, measure it, and return the folder and the findings.

    ``style`` writes rows only, for another trainer ("trl", "llama-factory"). ``model``, ``data``,
    ``judge`` and ``cache`` replace what the run's manifest says. Raises InputError.
    """
    chosen = lesson or Lesson()
    chosen.check()
    if style and style not in STYLES:
        raise InputError(f"export {style!r}: expected one of {', '.join(STYLES)}")
    if style and chosen.seeds > 1:
        raise InputError(
            f"export writes the rows of one seed, not of {chosen.seeds}: leave --seeds out, and "
            "say --seed for another"
        )
    base = open_base(run, model=model, data=data, judge=judge, cache=cache)
    uncle.check(dataclasses.replace(base.settings, methods=chosen.methods))
    preset, making = chosen.resolved(base.model, export=bool(style))
    parts = halves(base, chosen.limit, chosen.train_limit)
    if not style:
        check_trainable(base, preset)
    check_still(base, progress)
    begun = begin(base, parts, chosen, preset, making, command)
    folder = Path(out) if out else folder_of(base, begun)
    with alone(folder) as new:
        begun = open_teaching(folder, begun, base, export=bool(style))
        spent = dict(begun.timings)
        done = _taught(
            base, parts, chosen, preset, making, begun, folder, spent, style=style, new=new,
            progress=progress, say=say,
        )  # fmt: skip
        done = msgspec.structs.replace(done, finished=now(), timings=spent)
        write_teaching(folder, done)
    return folder, done


def _taught(
    base: Base,
    parts: Halves,
    chosen: Lesson,
    preset: Preset,
    making: Making,
    begun: Teaching,
    folder: Path,
    spent: dict[str, float],
    *,
    style: str,
    new: bool,
    progress: Progress | None,
    say: Say,
) -> Teaching:
    """Draw, make rows, and export them or train and measure; return what was found."""
    stages = stages_of(chosen.recipe, chosen.stages)
    wanted = ("sft", "dpo") if style and "rl" in stages else stages
    with timed(spent, "draws"):
        taught = entities_of(parts.taught.questions)
        say(f"draws: {making.k} of each question about {taught} entities")
        try:
            facts = draw(
                base, parts.taught, folder / "draws", k=making.k, paragraphs=making.paragraphs,
                evidence=making.veracity == "evidence", progress=progress,
            )  # fmt: skip
        except BaseException as error:
            if new:  # a start that failed leaves nothing to clean up
                withdraw(folder, drawn=isinstance(error, InputError))
            raise
    try:
        with timed(spent, "rows"):
            rows = _rows(
                base, parts, chosen.recipe, facts, making, preset, wanted, begun.seeds, folder
            )
            if "rl" in stages and not style:
                check_enough(min(len(made.asked) for made in rows.values()), preset)
    except InputError:
        withdraw(folder, drawn=True)
        raise
    first = rows[chosen.seed]
    told = RunFolder.open(folder / "draws").read_manifest().notices
    begun = msgspec.structs.replace(
        begun,
        rows=counts(first),
        notes=(*begun.notes, *told, *(f"rows: {note}" for note in first.notes)),
        timings=spent,
    )
    more = ((len(first.dpo), "pairs"), (len(first.asked), "questions for RL"))
    also = "".join(f", {number} {what}" for number, what in more if number)
    say(f"rows: {len(first.sft)} for SFT{also}")
    if style:
        return _exported(begun, first, folder, style)
    with timed(spent, "training"):
        models = {
            seed: train(
                base, rows[seed], preset, folder / "adapters", recipe=chosen.recipe,
                stages=stages, seed=seed, say=say,
            )
            for seed in begun.seeds
        }  # fmt: skip
    trained = {stage: [made[stage] for made in models.values()] for stage in stages}
    curves = tuple(
        curve_of(stage, seed, place)
        for stage, places in trained.items()
        for seed, place in zip(models, places, strict=True)
    )
    with timed(spent, "measuring"):
        return prove(
            base, parts, {s: [f"hf:{place}" for place in p] for s, p in trained.items()},
            folder, msgspec.structs.replace(begun, curves=curves), list(models),
            methods=chosen.methods, resamples=chosen.resamples, progress=progress, say=say,
        )  # fmt: skip


def _rows(
    base: Base,
    parts: Halves,
    recipe: str,
    facts: Sequence[Fact],
    making: Making,
    preset: Preset,
    stages: Sequence[str],
    seeds: Sequence[int],
    folder: Path,
) -> dict[int, Made]:
    """Make and keep the rows of every seed; none for a stage that is not trained."""
    said = uncle.instructions(base.settings)
    instructions: dict[Form, str] = {"short": said["short"], "long": said["long"]}
    size = (
        preset.sft.rows,
        preset.dpo.rows if "dpo" in stages else 0,
        preset.rl.rows if "rl" in stages else 0,
    )
    found: dict[int, Made] = {}
    for seed in seeds:
        found[seed] = make_rows(recipe, facts, making, instructions, size, seed)
        keep_rows(found[seed], folder / "rows", seed, parts.measured.questions)
    return found


def _exported(begun: Teaching, made: Made, folder: Path, style: str) -> Teaching:
    """Write the rows for another trainer and return the teaching with their counts."""
    name = "export-sharegpt" if style.endswith("sharegpt") else "export"  # files of equal names
    written = export([*made.sft, *made.dpo], folder / name, style)  # type: ignore[arg-type]
    notes = (*begun.notes, *(f"{file}: {n} rows" for file, n in written.rows.items()))
    return msgspec.structs.replace(begun, notes=notes, folders={"export": name})
