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

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from sayso.pipeline.asking import Progress
from sayso.pipeline.manifests import now
from sayso.pipeline.running import entities_of
from sayso.pipeline.teaching_base import check_still, halves, open_base
from sayso.pipeline.teaching_draws import draw
from sayso.pipeline.teaching_lesson import Lesson, begin, folder_of, open_teaching, withdraw
from sayso.pipeline.teaching_proof import prove
from sayso.pipeline.teaching_rows import Made, counts
from sayso.pipeline.teaching_rows import keep as keep_rows
from sayso.pipeline.teaching_rows import make as make_rows
from sayso.pipeline.teaching_training import check_trainable, curve_of, stages_of, train
from sayso.protocols import uncle
from sayso.records import InputError
from sayso.store import RunFolder
from sayso.taught import Teaching, write_teaching
from sayso.train.export import STYLES, Exported, export
from sayso.train.pairs import Form

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
    preset, making = chosen.resolved(base.model)
    parts = halves(base, chosen.limit, chosen.train_limit)
    if not style:
        check_trainable(base, preset)
    check_still(base, progress)
    begun = begin(base, parts, chosen, preset, making, command)
    folder = Path(out) if out else folder_of(base, begun)
    new = not folder.exists()
    begun = open_teaching(folder, begun, export=bool(style))
    clock = _Clock(begun.timings)
    with clock.timed("draws"):
        taught = entities_of(parts.taught.questions)
        say(f"draws: {making.k} of each question about {taught} entities")
        try:
            facts = draw(
                base, parts.taught, folder / "draws", k=making.k, paragraphs=making.paragraphs,
                evidence=making.veracity == "evidence", progress=progress,
            )  # fmt: skip
        except BaseException:
            if new:
                withdraw(folder)  # a start that failed leaves nothing to clean up
            raise
    seeds = begun.seeds
    rows: dict[int, Made] = {}
    with clock.timed("rows"):
        said = uncle.instructions(base.settings)
        instructions: dict[Form, str] = {"short": said["short"], "long": said["long"]}
        for seed in seeds:
            size = preset.sft.rows, preset.dpo.rows, preset.rl.rows
            rows[seed] = make_rows(chosen.recipe, facts, making, instructions, size, seed)
            keep_rows(rows[seed], folder / "rows", seed, parts.measured.questions)
    first = rows[chosen.seed]
    told = RunFolder.open(folder / "draws").read_manifest().notices
    begun = msgspec.structs.replace(
        begun,
        rows=counts(first),
        notes=(*begun.notes, *told, *(f"rows: {note}" for note in first.notes)),
        timings=clock.spent,
    )
    say(f"rows: {len(first.sft)} for SFT, {len(first.dpo)} pairs")
    if style:
        exported = _export(first, folder, style)
        done = msgspec.structs.replace(
            begun,
            finished=now(),
            notes=(*begun.notes, *(f"{name}: {n} rows" for name, n in exported.rows.items())),
            folders={"export": str((folder / "export").relative_to(folder))},
        )
        write_teaching(folder, done)
        return folder, done
    stages = stages_of(chosen.recipe, chosen.stages)
    models: dict[str, list[Path]] = {stage: [] for stage in stages}
    for seed in seeds:
        with clock.timed("training"):
            made = train(
                base, rows[seed], preset, folder / "adapters", recipe=chosen.recipe, stages=stages,
                seed=seed, say=say,
            )  # fmt: skip
        for stage in stages:
            models[stage].append(made[stage])
    curves = tuple(
        curve_of(stage, seed, place)
        for stage in stages
        for seed, place in zip(seeds, models[stage], strict=True)
    )
    begun = msgspec.structs.replace(begun, curves=curves)
    with clock.timed("measuring"):
        trained = {stage: [f"hf:{place}" for place in places] for stage, places in models.items()}
        done = prove(
            base, parts, trained, folder, begun, list(seeds), methods=chosen.methods,
            resamples=chosen.resamples, progress=progress, say=say,
        )  # fmt: skip
    done = msgspec.structs.replace(done, finished=now(), timings=clock.spent)
    write_teaching(folder, done)
    return folder, done


def _export(made: Made, folder: Path, style: str) -> Exported:
    return export([*made.sft, *made.dpo], folder / "export", style)  # type: ignore[arg-type]


class _Clock:
    """Wall and CPU seconds by step, beside those that earlier calls spent."""

    def __init__(self, before: Mapping[str, float]) -> None:
        self.spent: dict[str, float] = dict(before)

    @contextlib.contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """Add the seconds of a block to its step."""
        cpu, wall = time.process_time(), time.perf_counter()
        try:
            yield
        finally:
            for unit, spent in (
                ("cpu", time.process_time() - cpu),
                ("wall", time.perf_counter() - wall),
            ):
                key = f"{what}_{unit}_s"
                self.spent[key] = round(self.spent.get(key, 0.0) + spent, 2)
