"""The folder of a teaching: begun once, gone on in by one process at a time, left clean."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sayso.protocols.uncle import UNCLE
from sayso.protocols.uncle.collect import instructions
from sayso.records import Generation, InputError, Verdict, content_id
from sayso.runs.measure import entities_of
from sayso.runs.progress import Progress
from sayso.runs.stages import now, timed
from sayso.storage.atomic import disk_errors
from sayso.storage.run_folder import RunFolder
from sayso.train import trainers
from sayso.train.base import Base, Halves, check_still, halves, open_base
from sayso.train.config import Lesson, Making, begin, stages_of
from sayso.train.draws import draw
from sayso.train.export import STYLES, export, read_card, write_card
from sayso.train.presets import Preset
from sayso.train.proof import prove
from sayso.train.recipes import Made, counts
from sayso.train.recipes import keep as keep_rows
from sayso.train.recipes import make as make_rows
from sayso.train.result import FILE, Curve, Point, Teaching, read_teaching, write_teaching
from sayso.train.rows import Fact, Form
from sayso.train.trainers import Prompt, check_enough, dpo, rl, sft

#: settings that may change when a teaching goes on: they decide what is counted, not what is made
COUNTED = ("methods", "resamples")
#: settings that are hashes: what they stand for
HASHES = {"taught": "about other entities", "measured": "measured on other entities"}
#: settings that say which trainings there are; further ones may be added to a teaching
SEEDS = ("seeds", "seed")
#: what a teaching writes before anything is trained
PREPARED = (FILE, "draws", "rows")
#: everything that a teaching writes; other names are somebody else's
OURS = (*PREPARED, "adapters", "runs", "forced", "export", "export-sharegpt", "report.html")


def folder_of(base: Base, begun: Teaching) -> Path:
    """Return the folder beside the run that a teaching gets without a name.

    The same for more seeds or another way of counting: those go on in it.
    """
    made = {k: v for k, v in begun.settings.items() if k not in (*COUNTED, "seeds")}
    key = content_id([made, begun.model_identity, begun.judge])[:8]
    return base.path.parent / f"taught-{base.path.name}-{made['recipe']}-{key}"


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[bool]:
    """Keep other processes out of a folder; tell whether it is new. Raises InputError.

    The lock is on the folder itself and ends with the process, however that ends. New folders
    in which nothing was left are removed again.
    """
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    handle = _locked(folder)
    try:
        yield bool(made)
    finally:
        for place in made:
            with contextlib.suppress(OSError):  # it holds something, or is gone already
                place.rmdir()
        if handle is not None:
            os.close(handle)


def _locked(folder: Path) -> int | None:
    """Lock a folder and return the handle; ``None`` where there are no such locks."""
    try:
        import fcntl
    except ImportError:  # Windows
        return None
    with disk_errors(folder, "open"):
        handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise InputError(
            f"{folder}: another sayso train is at work in this folder; let it finish, or choose "
            "another --out"
        ) from None
    except OSError:  # a file system without locks
        os.close(handle)
        return None
    return handle


def open_teaching(folder: Path, begun: Teaching, base: Base, *, export: bool = False) -> Teaching:
    """Begin in a folder, or go on in one that was begun with the same settings.

    A finished teaching may get further seeds; until they are finished its findings stand. An
    ``export`` writes no findings and so goes into no folder that has some. Where ``base`` lies
    elsewhere now, what the folder holds is made to point there. Returns ``begun`` with what the
    folder says of its beginning and of the time spent. Raises InputError.
    """
    if not (folder / FILE).is_file():
        found = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
        if found - set(OURS) or (found and "draws" not in found):
            raise InputError(f"{folder} is not empty and no teaching: choose another --out")
        repoint(folder, base)
        write_teaching(folder, begun)
        return begun
    before = _read(folder)
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
    repoint(folder, base)
    if not before.cells:
        write_teaching(folder, begun)
    return msgspec.structs.replace(begun, created=before.created, timings=before.timings)


def _read(folder: Path) -> Teaching:
    """Read a teaching to go on with. Raises InputError that says what to do with a damaged one."""
    again = (
        f"remove {folder / FILE} and say the same command again: what the folder holds of draws, "
        "adapters and runs is used again"
    )
    try:
        found = read_teaching(folder)
    except InputError as error:
        raise InputError(f"{error}; {again}") from None
    if not (found.model_identity and found.judge and found.settings):
        raise InputError(f"{folder / FILE} is damaged, it names no model or settings: {again}")
    return found


def repoint(folder: Path, base: Base) -> None:
    """Let runs and adapters of a teaching name the base run where it lies now.

    A run is identified by what its probes said, not by its path. Raises InputError for runs that
    were measured with other probes.
    """
    for place in sorted((folder / "runs").glob("*")):
        if not RunFolder.exists(place):
            continue
        held = RunFolder.open(place)
        manifest = held.read_manifest()
        if manifest.settings.get("known_from") == str(base.path):
            continue
        if not _same_probes(held, RunFolder.open(base.path)):
            raise InputError(
                f"{place} was measured with the probes of {manifest.settings.get('known_from')}, "
                f"which are not those of {base.path}: choose another --out"
            )
        changed = {**manifest.settings, "known_from": str(base.path)}
        held.write_manifest(msgspec.structs.replace(manifest, settings=changed))
    for place in sorted((folder / "adapters").glob("*")):
        card = read_card(place)
        if card is not None and card.base_run != str(base.path):
            write_card(place, msgspec.structs.replace(card, base_run=str(base.path)))


def _same_probes(held: RunFolder, base: RunFolder) -> bool:
    """Tell whether the frozen probes of a run, if it has any yet, are those of a base run."""
    if not held.has("generations/probe") or not held.has("verdicts/probe"):
        return True
    said = [
        {g.id: g.text for g in run.iter("generations/probe", Generation)} for run in (held, base)
    ]
    read = [
        {v.target: (v.stance, v.value) for v in run.iter("verdicts/probe", Verdict)}
        for run in (held, base)
    ]
    return all(own.items() <= other.items() for own, other in (said, read))


def withdraw(folder: Path, *, drawn: bool = False) -> None:
    """Take back a teaching in which nothing was trained: what it has begun, and its empty folders.

    One in which something was drawn is kept, unless ``drawn``: what was paid for is in the cache
    of replies all the same.
    """
    if not drawn and (folder / "draws" / "generations").exists():
        return
    if {path.name for path in folder.iterdir()} - set(PREPARED):
        return  # trained, measured or exported, or somebody else's
    (folder / FILE).unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # something else is in it: it stays
        for part in ("draws", "rows"):
            if drawn and (folder / part).is_dir():
                shutil.rmtree(folder / part)
            elif (folder / part).exists():
                (folder / part).rmdir()
        folder.rmdir()


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


# The trainings of a teaching: SFT, then DPO or RL, for each seed; every one resumes by itself.

Say = Callable[[str], None]
#: what a point of a curve is not a value of
_PLACES = ("step", "epoch")


def check_trainable(base: Base, preset: Preset) -> None:
    """Refuse what could not be trained, before anything is asked. Raises InputError."""
    name = _named(base)
    try:
        import peft  # noqa: F401
        import trl  # noqa: F401
    except ModuleNotFoundError as error:
        raise _needs(error) from None
    trainers.one_process()
    trainers.check_trainable(trainers.model_folder(name), preset.targets)


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


# Teaching: from a run to a model that says what it does not know, and the proof of it.
#
# Draws, rows, trainings, measuring and the table are steps that can each be stopped: the same
# call
# goes on. Everything lies in one folder::
#
#     draws/            answers of the base model about what is taught (a run folder)
#     rows/             sft-SEED.jsonl, dpo-SEED.jsonl
#     adapters/         sft-SEED, dpo-SEED (or rl-SEED), each with its card
#     runs/             uncle runs of the taught models, with the base run's frozen probes
#     teaching.json     every setting, the table, differences, curves, samples


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
    UNCLE.check(dataclasses.replace(base.settings, methods=chosen.methods))
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
    texts = instructions(base.settings)
    asked: dict[Form, str] = {"short": texts["short"], "long": texts["long"]}
    size = (
        preset.sft.rows,
        preset.dpo.rows if "dpo" in stages else 0,
        preset.rl.rows if "rl" in stages else 0,
    )
    found: dict[int, Made] = {}
    for seed in seeds:
        found[seed] = make_rows(recipe, facts, making, asked, size, seed)
        keep_rows(found[seed], folder / "rows", seed, parts.measured.questions)
    return found


def _exported(begun: Teaching, made: Made, folder: Path, style: str) -> Teaching:
    """Write the rows for another trainer and return the teaching with their counts."""
    name = "export-sharegpt" if style.endswith("sharegpt") else "export"  # files of equal names
    written = export([*made.sft, *made.dpo], folder / name, style)  # type: ignore[arg-type]
    notes = (*begun.notes, *(f"{file}: {n} rows" for file, n in written.rows.items()))
    return msgspec.structs.replace(begun, notes=notes, folders={"export": name})
