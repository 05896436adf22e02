"""A training from its first draw to its table, in one folder that can be stopped and gone on in.

Draws, rows, training, measuring and the table are steps; the same call goes on where it was
stopped. One process at a time works in a folder::

    draws/            answers of the base model about what is trained on (a run folder)
    rows/             sft-SEED.jsonl, dpo-SEED.jsonl
    adapters/         sft-SEED, dpo-SEED, each with its card
    runs/             uncle runs of the trained models, with the base run's frozen probes
    training.json     every setting, the table, differences, curves, samples
"""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec

from sayso.datasets.dataset import Dataset
from sayso.engines.engine import Engine, check_engine
from sayso.progress import Progress
from sayso.prompts import check_folder
from sayso.protocols.uncle.prompts import instructions
from sayso.records import Generation, InputError, Verdict, content_id, signature_of
from sayso.runs.asking import CachedEngine
from sayso.runs.costs import dollars, is_local, open_priced
from sayso.runs.draws import knowledge_of
from sayso.runs.job import Job
from sayso.runs.measure import entities_of
from sayso.runs.stages import now, timed
from sayso.runs.tools import KnowledgeSources
from sayso.storage.atomic import WRITER, one_writer, refuse_links, replacing
from sayso.storage.cache import FILE_NAME, Cache
from sayso.storage.run_folder import RunFolder
from sayso.train import trainers
from sayso.train.base import Base, Halves, check_still, halves, open_base_run
from sayso.train.config import GONE, Preset, RowSettings, TrainConfig, stages_of
from sayso.train.draws import draw_facts, job_of_draws
from sayso.train.export import STYLES, Format, export, write_configuration
from sayso.train.proof import prove
from sayso.train.recipes import RowSet, check_forms, keep_rows, row_counts
from sayso.train.recipes import make as make_rows
from sayso.train.recipes.by_model import Author, Search
from sayso.train.result import (
    FILE,
    FORMS,
    SOURCES,
    Curve,
    Point,
    SweepPoint,
    Training,
    is_training,
    read_card,
    read_training,
    write_card,
    write_training,
)  # fmt: skip
from sayso.train.rows import Fact
from sayso.train.trainers import Say
from sayso.version import __version__

#: settings that may change when a training goes on: they decide what is counted, not what is made
COUNTED = ("methods", "resamples")
#: settings that are hashes: what they stand for
HASHES = {"trained": "about other entities", "measured": "measured on other entities"}
#: passages that a claim is checked against
PASSAGES = 5
#: settings that say which seeds are trained; further ones may be added
SEEDS = ("seeds", "seed")
#: what a training writes before anything is trained
PREPARED = (FILE, "draws", "rows")
#: everything that a training writes; other names are somebody else's
OURS = (*PREPARED, "adapters", "runs", "forced", "export", "report.html")


def begin_result(
    base: Base,
    parts: Halves,
    config: TrainConfig,
    preset: Preset,
    rows: RowSettings,
    command: str,
    xis: Sequence[float] = (),
) -> Training:
    """Return what a training is before it has begun; its settings decide whether it may go on."""
    settings: dict[str, object] = {
        "recipe": config.recipe,
        "stages": config.stages,
        "seeds": config.seeds,
        "seed": config.seed,
        "methods": config.methods or "",
        "resamples": config.resamples,
        "trained": parts.trained.hash,
        "measured": parts.measured.hash,
        **config.sources,
        **({"xis": list(xis)} if xis else {}),
        **_flat("rows", dataclasses.asdict(rows)),
        **_flat("training", dataclasses.asdict(preset)),
    }
    manifest = base.manifest
    key = _key(settings, manifest.model_identity, manifest.judge_signature)
    signature = signature_of(
        f"training#{key}",
        (
            ("recipe", config.recipe),
            ("data", f"{manifest.data}-{parts.measured.hash[:4]}"),
            ("judge", manifest.judge_signature),
            ("known_from", manifest.model_signature),
            ("seeds", str(config.seeds)),
            ("ci", f"seeds-entities-{config.resamples}-s0"),
            ("v", __version__),
        ),
    )
    return Training(
        sayso=__version__,
        created=now(),
        command=command,
        base_run=str(base.path),
        model=manifest.model,
        model_identity=manifest.model_identity,
        data=manifest.data,
        judge=manifest.judge_signature,
        settings=settings,
        seeds=tuple(range(config.seed, config.seed + config.seeds)),
        entities={
            "trained": entities_of(parts.trained.questions),
            "measured": entities_of(parts.measured.questions),
        },
        notes=parts.notes,
        signature=signature,
    )


def _flat(prefix: str, settings: Mapping[str, Any]) -> dict[str, object]:
    """Return nested settings with dotted names, as JSON values."""
    flat: dict[str, object] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping):
            flat |= _flat(f"{prefix}.{name}", value)
        else:
            flat[f"{prefix}.{name}"] = list(value) if isinstance(value, tuple) else value
    return flat


def _key(settings: Mapping[str, object], *rest: str) -> str:
    """Return the hash of a training's settings, model and judge, as version 0.2 made it."""
    return content_id([_with_gone(settings), *rest])[:8]


def _with_gone(settings: Mapping[str, object]) -> dict[str, object]:
    """Return settings with those that are gone, as version 0.2 stored them."""
    return {**GONE.get(str(settings["training.name"]), {}), **settings}


def training_folder(base: Base, begun: Training) -> Path:
    """Return the folder beside the run that a training gets without a name.

    The same for more seeds or another way of counting: those go on in it.
    """
    kept = {k: v for k, v in begun.settings.items() if k not in (*COUNTED, "seeds")}
    key = _key(kept, begun.model_identity, begun.judge)
    return base.path.parent / f"training-{base.path.name}-{kept['recipe']}-{key}"


def open_training(folder: Path, begun: Training, base: Base, *, export: bool = False) -> Training:
    """Begin in a folder, or go on in one that was begun with the same settings.

    A finished training may get further seeds; until they are finished its findings stand. An
    ``export`` writes no findings and so goes into no folder that has some. Where ``base`` lies
    elsewhere now, what the folder holds is made to point there. Returns ``begun`` with what the
    folder says of its beginning and of the time spent. Raises InputError.
    """
    if not is_training(folder):
        names = {path.name for path in folder.iterdir()} - {WRITER} if folder.is_dir() else set()
        if names - set(OURS) or (names and "draws" not in names):
            raise InputError(f"{folder} is not empty and is not a training: choose another --out")
        repoint(folder, base)
        write_training(folder, begun)
        return begun
    before = _read(folder)
    _check_same(folder, before, begun)
    if before.cells:
        if export:
            raise InputError(
                f"{folder} contains a finished training (its rows are in {folder / 'rows'}): "
                "choose "
                "another --out for the export"
            )
        if left := sorted(set(before.seeds) - set(begun.seeds)):
            raise InputError(
                f"{folder} contains a training with seeds {_listed(before.seeds)}, and "
                f"{_listed(begun.seeds)} would leave out {_listed(left)}: pass at least "
                f"--seed {min(before.seeds)} --seeds {max(before.seeds) - min(before.seeds) + 1}, "
                "or choose another --out"
            )
    repoint(folder, base)
    if not before.cells:
        write_training(folder, begun)
    return msgspec.structs.replace(begun, created=before.created, timings=before.timings)


def _read(folder: Path) -> Training:
    """Read a training to go on with. Raises InputError that says what to do with a damaged one."""
    again = (
        f"remove {folder / FILE} and run the same command again: what the folder holds of draws, "
        "adapters and runs in the folder are used again"
    )
    try:
        training = read_training(folder)
    except InputError as error:
        raise InputError(f"{error}; {again}") from None
    if not (training.model_identity and training.judge and training.settings):
        raise InputError(
            f"{folder / FILE} is damaged: it names no model or settings. To repair it, {again}"
        )
    return training


def repoint(folder: Path, base: Base) -> None:
    """Let runs and adapters of a training name the base run where it lies now.

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
    texts = [
        {g.id: g.text for g in run.iter("generations/probe", Generation)} for run in (held, base)
    ]
    read = [
        {v.target: (v.stance, v.value) for v in run.iter("verdicts/probe", Verdict)}
        for run in (held, base)
    ]
    return all(own.items() <= other.items() for own, other in (texts, read))


def withdraw(folder: Path, *, drawn: bool = False) -> None:
    """Take back a training in which nothing was trained: what it has begun, and its empty folders.

    One in which something was drawn is kept, unless ``drawn``: what was paid for is in the cache
    of replies all the same.
    """
    if not drawn and (folder / "draws" / "generations").exists():
        return
    if {path.name for path in folder.iterdir()} - {WRITER, *PREPARED}:
        return  # trained, measured or exported, or somebody else's
    (folder / FILE).unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # something else is in it: it stays
        for part in ("draws", "rows"):
            if drawn and (folder / part).is_dir():
                shutil.rmtree(folder / part)
            elif (folder / part).exists():
                (folder / part).rmdir()
        (folder / WRITER).unlink(missing_ok=True)
        folder.rmdir()


def _check_same(folder: Path, before: Training, begun: Training) -> None:
    """Refuse to go on with other settings, another model or another judge. Raises InputError.

    Settings that are younger than the folder are left to the signatures of what it holds.
    """
    old = {**before.settings, "model": before.model_identity, "judge": before.judge}
    new = {**_with_gone(begun.settings), "model": begun.model_identity, "judge": begun.judge}
    plain = msgspec.to_builtins(new)
    for name in dict.fromkeys((*old, *SOURCES)):
        if name in (*COUNTED, *SEEDS) or old.get(name) == plain.get(name):
            continue
        if name in HASHES:
            raise InputError(f"{folder} contains a training {HASHES[name]}; choose another --out")
        had = f"with {name} {old[name]!r}" if name in old else f"without {name}"
        raise InputError(
            f"{folder} contains a training {had}, not {plain.get(name)!r}; choose another --out"
        )


def _listed(seeds: Sequence[int]) -> str:
    return ", ".join(map(str, seeds))


# ---- the training of one seed: SFT, then DPO; every stage resumes by itself


class TrainingPlan(NamedTuple):
    """A training with everything that decides it, and where it is told how far it is."""

    base: Base
    parts: Halves
    config: TrainConfig
    preset: Preset
    settings: RowSettings
    folder: Path
    export: str
    timings: dict[str, float]
    progress: Progress | None
    say: Say
    rows_by: Engine | None = None
    xis: Sequence[float] = ()

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages that are trained."""
        return stages_of(self.config.stages)


def check_before_training(base: Base, preset: Preset) -> None:
    """Refuse what could not be trained, before anything is asked. Raises InputError."""
    name = _weights_of(base)
    try:
        import peft  # noqa: F401
        import trl  # noqa: F401
    except ModuleNotFoundError as error:
        raise InputError(
            f"training needs {error.name}, which is not installed: pip install 'sayso[train]' "
            "(--export does not need it)"
        ) from None
    trainers.check_one_process()
    trainers.check_trainable_targets(trainers.model_folder(name), preset.targets)


def _has_weights(name: str) -> bool:
    """Tell whether a model is one that sayso or a package brings along, or transformers opens."""
    return name.startswith("hf:") or (is_local(name) and ":" not in name)


def _weights_of(base: Base) -> str:
    """Return the name of a model whose weights are here. Raises InputError for another."""
    name = base.model if isinstance(base.model, str) else ""
    if not _has_weights(name):
        raise InputError(
            f"model {base.manifest.model} cannot be trained here: expected builtin, smollm2 or "
            "hf:…; --export writes its rows for other trainers"
        )
    return name


def train_seed(plan: TrainingPlan, rows: RowSet, seed: int) -> dict[str, Path]:
    """Train the stages of one seed and return their folders. Raises InputError.

    A finished stage is left as it is, a killed one goes on from its last checkpoint.
    """
    base, preset, say = plan.base, plan.preset, plan.say
    name = _weights_of(base)
    about = {
        "recipe": plan.config.recipe, "base_run": str(base.path), "base_name": name,
        "base": base.manifest.model_identity,
    }  # fmt: skip
    folders = {stage: plan.folder / "adapters" / f"{stage}-{seed}" for stage in plan.stages}
    sizes = {"sft": f"{len(rows.sft)} rows", "dpo": f"{len(rows.dpo)} pairs"}
    for stage, out in folders.items():
        finished = "" if read_card(out) is None else " (finished)"
        say(f"seed {seed}: {stage.upper()} on {sizes[stage]}{finished}")
        if stage == "sft":
            trainers.sft(name, rows.sft, preset, out, seed=seed, about=about, say=say)
        else:
            trainers.dpo(folders["sft"], rows.dpo, preset, out, seed=seed, say=say)
    return folders


def curve_of(stage: str, seed: int, folder: Path) -> Curve:
    """Return the course of a stage from the card of its folder."""
    card = read_card(folder)
    if card is None:
        raise InputError(f"{folder} contains no card of a training")
    points = []
    for step in card.curve:
        fields: Mapping[str, object] = msgspec.to_builtins(step)
        values: dict[str, float] = {}
        for key, value in fields.items():
            if isinstance(value, dict):
                values |= {k: float(v) for k, v in value.items() if isinstance(v, int | float)}
            elif isinstance(value, int | float) and key not in ("step", "epoch"):
                values[key] = float(value)
        points.append(Point(step.step, values))
    return Curve(stage, seed, card.first_loss, tuple(points), card.notices)


# ---- a whole training: draws, rows, training, measuring, the table


def _prepared(
    run: str | Path, config: TrainConfig, export: str, **given: Any
) -> tuple[Base, Halves, Preset, RowSettings]:
    """Open the base run and check a configuration against it, before anything is asked.

    ``given`` is what replaces the run's model, data, judge or cache. Raises InputError.
    """
    if export and export not in STYLES:
        raise InputError(f"export {export!r}: expected one of {', '.join(STYLES)}")
    if export and config.seeds > 1:
        raise InputError(
            f"export writes the rows of one seed, not of {config.seeds}: leave --seeds out, and "
            "pass --seed for another"
        )
    base = open_base_run(run, **given)
    dataclasses.replace(base.settings, methods=config.methods or "").check()
    preset, settings = config.resolved(base.model)
    parts = halves(base, config.limit, config.train_limit, config.train_data)
    check_forms(config.rows_of, parts.trained.questions, settings, by_model=bool(config.rows_by))
    if not export:
        check_before_training(base, preset)
    if config.prompt_folder:
        check_folder(Path(config.prompt_folder))
    return base, parts, preset, settings


def fit(
    run: str | Path,
    out: str | Path | None = None,
    config: TrainConfig | None = None,
    *,
    export: str = "",
    model: Any = None,
    data: str | None = None,
    judge: Any = None,
    cache: str | Path | None = None,
    rows_by: Engine | None = None,
    xis: Sequence[float] = (),
    progress: Progress | None = None,
    say: Say = lambda text: None,
    command: str = "",
) -> tuple[Path, Training]:
    """Train the model of a finished uncle run, measure it; return the folder and the numbers.

    ``export`` writes rows only, for another trainer ("trl", "llama-factory"). ``model``, ``data``,
    ``judge`` and ``cache`` replace what the run's manifest says; ``rows_by`` is an engine of your
    own in the place of the configuration's. ``xis`` are values of xi with all of which a mix must
    have as many rows. Raises InputError.
    """
    config = config or TrainConfig()
    config.check()
    if rows_by is not None:
        check_engine(rows_by, "rows_by")
        config = dataclasses.replace(config, rows_by=rows_by.name)
    base, parts, preset, settings = _prepared(
        run, config, export, model=model, data=data, judge=judge, cache=cache
    )
    check_still(base, progress)
    begun = begin_result(base, parts, config, preset, settings, command, xis)
    folder = Path(out) if out else training_folder(base, begun)
    with one_writer(folder, command or "sayso train") as new:
        refuse_links(folder)
        begun = open_training(folder, begun, base, export=bool(export))
        plan = TrainingPlan(
            base, parts, config, preset, settings, folder, export, dict(begun.timings), progress,
            say, rows_by, xis,
        )  # fmt: skip
        done = _fit(plan, begun, new)
        done = msgspec.structs.replace(done, finished=now(), timings=plan.timings)
        write_training(folder, done)
    return folder, done


def planned_draws(
    run: str | Path,
    config: TrainConfig | None = None,
    *,
    export: str = "",
    command: str = "",
    **given: Any,
) -> tuple[Job, Dataset, int, str]:
    """Return what :func:`fit` would draw for its rows.

    That is the job, its questions, the draws of each paragraph, and what claims are checked with.

    What another model asks that makes the rows (``rows_by``) is not in it; ``command`` changes
    nothing. ``given`` is what replaces the run's model, data, judge or cache. Raises InputError.
    """
    config = config or TrainConfig()
    config.check()
    base, parts, _, settings = _prepared(run, config, export, **given)
    check_still(base)
    evidence = _evidence(config, settings)
    return job_of_draws(base, settings.k), parts.trained, settings.paragraphs, evidence


def _evidence(config: TrainConfig, settings: RowSettings) -> str:
    """Return what the judge checks claims with; "" where it checks none, or a model makes rows."""
    by_judge = settings.veracity == "evidence" and not config.rows_by
    return (config.knowledge or "auto") if by_judge else ""


def _fit(plan: TrainingPlan, begun: Training, new: bool) -> Training:
    """Draw, make rows, and export them or train and measure."""
    facts = _draw(plan, new)
    rows, told = _make_rows(plan, facts, begun.seeds)
    first = rows[plan.config.seed]
    notices = RunFolder.open(plan.folder / "draws").read_manifest().notices
    begun = msgspec.structs.replace(
        begun,
        rows=row_counts(first),
        notes=(*begun.notes, *notices, *(f"rows: {note}" for note in first.notes), *told),
        timings=plan.timings,
    )
    also = f", {len(first.dpo)} pairs" if first.dpo else ""
    plan.say(f"rows: {len(first.sft)} for SFT{also}")
    if plan.export:
        return _exported(plan, begun, first)
    with timed(plan.timings, "training"):
        adapters = {seed: train_seed(plan, rows[seed], seed) for seed in begun.seeds}
    curves = [
        curve_of(stage, seed, adapters[seed][stage])
        for stage in plan.stages
        for seed in begun.seeds
    ]
    with timed(plan.timings, "measuring"):
        return prove(
            plan.base, plan.parts,
            {s: [f"hf:{adapters[seed][s]}" for seed in begun.seeds] for s in plan.stages},
            plan.folder, msgspec.structs.replace(begun, curves=tuple(curves)),
            progress=plan.progress, say=plan.say,
        )  # fmt: skip


def _draw(plan: TrainingPlan, new: bool) -> list[Fact]:
    """Return the facts that rows are made of; a start that fails leaves nothing to clean up."""
    settings, data = plan.settings, plan.parts.trained
    for note in plan.parts.notes:
        plan.say(note)
    with timed(plan.timings, "draws"):
        plan.say(
            f"draws: {settings.k} of each question about {entities_of(data.questions)} entities"
        )
        try:
            with _searching(plan):  # a source that cannot be read is refused before anything else
                pass
            return draw_facts(
                plan.base, data, plan.folder / "draws", k=settings.k,
                paragraphs=settings.paragraphs,
                evidence=_evidence(plan.config, settings),
                progress=plan.progress,
            )  # fmt: skip
        except BaseException as error:
            if new:
                withdraw(plan.folder, drawn=isinstance(error, InputError))
            raise


@contextlib.contextmanager
def _searching(plan: TrainingPlan) -> Iterator[tuple[Search | None, KnowledgeSources | None]]:
    """Open the knowledge source of ``veracity`` "evidence" for a model that makes rows."""
    if plan.settings.veracity != "evidence":
        yield None, None
        return
    questions, source = knowledge_of(plan.parts.trained, plan.config.knowledge or "auto")
    with contextlib.closing(KnowledgeSources(questions, plan.base.cache)) as sources:
        sources.search(source, (), PASSAGES)
        yield lambda pairs: sources.search(source, pairs, PASSAGES), sources


@contextlib.contextmanager
def _author(plan: TrainingPlan) -> Iterator[tuple[Author | None, list[str]]]:
    """Open the model that makes rows, if one is to; the list tells at the end what it did."""
    told: list[str] = []
    config = plan.config
    if not config.rows_by:
        yield None, told
        return
    with contextlib.ExitStack() as stack:
        cache = stack.enter_context(Cache(plan.base.cache / FILE_NAME))
        opened, price = plan.rows_by, None
        if opened is None:
            opened, price = open_priced(config.rows_by)
            stack.callback(opened.close)
        asked = CachedEngine(opened, cache, who="rows", price=price, progress=plan.progress)
        search, sources = stack.enter_context(_searching(plan))
        prompts = Path(config.prompt_folder) if config.prompt_folder else None
        author = Author(asked, prompts, search)
        yield author, told
        tally = asked.tally
        tokens = tally.prompt_tokens + tally.completion_tokens
        told.append(
            f"rows by {author.signature}: {tally.requests:,} requests, {tally.cached:,} of them in "
            f"the cache, {tokens:,} tokens, price {dollars(asked.dollars)}"
        )
        told += [*author.notices, *(sources.notices if sources else ())]


def _make_rows(
    plan: TrainingPlan, facts: Sequence[Fact], seeds: Sequence[int]
) -> tuple[dict[int, RowSet], list[str]]:
    """Make and keep the rows of every seed; none for a stage that is not trained.

    Returns them with what a model that made them has to say.
    """
    wording = instructions(plan.base.settings)
    size = plan.preset.sft.rows, plan.preset.dpo.rows if "dpo" in plan.stages else 0
    ends = (0.0, plan.settings.xi, 1.0) if plan.config.equal_rows else ()
    equal = sorted({*ends, *plan.xis})
    rows: dict[int, RowSet] = {}
    try:
        with timed(plan.timings, "rows"), _author(plan) as (author, told):
            for seed in seeds:
                rows[seed] = make_rows(
                    plan.config.recipe, facts, plan.settings, wording, size, seed, author, equal
                )
                keep_rows(rows[seed], plan.folder / "rows", seed, plan.parts.measured.questions)
    except InputError:
        withdraw(plan.folder, drawn=True)
        raise
    return rows, told


def _exported(plan: TrainingPlan, begun: Training, rows: RowSet) -> Training:
    """Write the rows for another trainer and return the training with their counts."""
    place, style = plan.folder / "export", cast(Format, plan.export)
    written = export([*rows.sft, *rows.dpo], place, style)
    here = _has_weights(begun.model)
    model = trainers.model_folder(begun.model) if here else begun.model
    files = write_configuration(place, style, plan.preset, plan.stages, model, plan.config.seed)
    told = f"settings for the trainer: {', '.join(file.name for file in files)}"
    told += f"; replace {model} in them by weights to train" * (not here)
    notes = (*begun.notes, *(f"{file}: {n} rows" for file, n in written.rows.items()), told)
    return msgspec.structs.replace(begun, notes=notes, folders={"export": place.name})


# ---- a sweep of xi, the share of long rows: each value is trained and measured (UNCLE, Figure 4)

#: the values that are taken without others
VALUES = tuple(n / 10 for n in range(1, 10))
#: what is kept of every value
SHOWN = (
    "FA", "UA", "UUR", "KCR", "EA", "J", "J_within", "unspoken_knowledge", "forced", "skill",
    "wrong_and_sure",
)  # fmt: skip


def sweep(
    run: str | Path,
    out: str | Path | None = None,
    config: TrainConfig | None = None,
    *,
    values: Sequence[float] = (),
    **options: Any,
) -> tuple[Path, Training]:
    """Train once for each value of xi; return the folder and the last one with all points.

    Every value is a training in a folder of its own and resumes by itself. In each stage, each is
    on the largest number of rows that all values allow. ``options`` is what :func:`fit` takes
    besides. Raises InputError.
    """
    config = config or TrainConfig()
    wanted = sweep_values(values, config)
    folder = Path(out) if out else Path(f"{Path(run)}-sweep-xi-{config.recipe}")
    say: Say = options.get("say", lambda text: None)
    points: list[SweepPoint] = []
    for xi in wanted:
        say(f"xi {xi:g}")
        own = dataclasses.replace(config, xi=xi)
        _, last = fit(run, folder / f"xi-{xi:g}", own, xis=wanted, **options)
        stage = last.methods[-1].name
        own_numbers = {
            f"{form} {name}": last.get(stage, form, name) for form in FORMS for name in SHOWN
        }
        points.append(SweepPoint("xi", xi, own_numbers))
    swept = msgspec.structs.replace(last, sweep=tuple(points))
    with replacing(folder / "sweep.json") as file:
        file.write(msgspec.json.format(msgspec.json.encode(swept), indent=1) + b"\n")
    return folder, swept


def sweep_values(values: Sequence[float], config: TrainConfig) -> list[float]:
    """Return the values of a sweep in order. Raises InputError."""
    if config.recipe != "mix":
        raise InputError(f"recipe {config.recipe} does not read xi: sweep it with --recipe mix")
    if "xi" in config.given():
        raise InputError("xi is the swept setting: give its values with --values instead")
    wanted = sorted(set(values or VALUES))
    if len(wanted) < 2 or not all(0 <= value <= 1 for value in wanted):
        raise InputError(
            f"values {', '.join(f'{v:g}' for v in wanted)} of xi: expected at least two within 0 "
            "and 1"
        )
    return wanted
