"""Trainings compared: what one recipe gains on another, on the same entities and probes.

Every training counts by its last stage, or by the one that is chosen. Two models were
measured with the same frozen probes, so that differences are paired by entity; training
seeds are resampled too.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import msgspec

from sayso.protocols.probes import draws_by_question
from sayso.protocols.uncle import UNCLE
from sayso.records import InputError, signature_of, slice_of
from sayso.runs.compare import ShownComparison, check_resampling
from sayso.runs.compare import compare as compare_runs
from sayso.runs.measure import load_run, run_path
from sayso.storage.run_folder import RunFolder
from sayso.train.proof import Frame, SeedSide, StoredForced, cells_and_changes, frame_of, side_of
from sayso.train.result import (
    FILE,
    SOURCES,
    Change,
    MeasuredMethod,
    MethodNumber,
    Training,
    is_training,
    read_training,
)

#: what two trainings must share: settings of the run, not of the training
SHARED = ("model_identity", "data", "judge")


def compare(
    a: str | PathLike[str],
    b: str | PathLike[str],
    *,
    allow: str | Sequence[str] = (),
    resamples: int = 2000,
    seed: int = 0,
    stage: str = "",
    base: str | Path | None = None,
) -> ShownComparison:
    """Return B - A of two runs (:func:`sayso.runs.compare.compare`), or of two trainings.

    Runs may be given by their results, too. A notebook shows the differences as a table.
    Two trainings are compared by the last stage of each, or by ``stage``; ``base`` is where their
    base run is now. Raises InputError.
    """
    a, b = run_path(a), run_path(b)
    trainings = [is_training(place) for place in (a, b)]
    if not any(trainings):
        if stage or base is not None:
            raise InputError(
                f"{a} is a run: stage and base are chosen for trainings (folders of sayso train)"
            )
        return compare_runs(a, b, allow=allow, resamples=resamples, seed=seed)
    check_resampling(resamples, seed)
    if not all(trainings):
        run = (a, b)[trainings.index(True)]
        raise InputError(
            f"{run} is a training and the other folder is not: compare two runs, "
            f"or two trainings; the runs of a training are in {run}/runs"
        )
    return training_differences(str(a), str(b), resamples, seed, stage=stage, base=base)


def training_differences(
    a: str | Path,
    b: str | Path,
    resamples: int = 2000,
    seed: int = 0,
    *,
    stage: str = "",
    base: str | Path | None = None,
) -> ShownComparison:
    """Return B - A of two trainings and what a reader must know. Raises InputError.

    ``stage`` ("sft", "dpo", "rl") is compared instead of the last; ``base`` is the base run where
    it is now.
    """
    _, changes = side_by_side({"A": a, "B": b}, resamples, seed, stage=stage, base=base)
    estimates = [
        msgspec.structs.replace(one.difference, where=slice_of(form=one.form)) for one in changes
    ]
    both = [read_training(place) for place in (a, b)]
    stages = [_stage(lines, stage, str(place)) for lines, place in zip(both, (a, b), strict=True)]
    lines = [
        f"{name} = {one.settings['recipe']}, {method.title}, {len(method.seeds)} "
        f"seed{'s' * (len(method.seeds) != 1)}"
        for name, one, method in zip("AB", both, stages, strict=True)
    ]
    lines += differing(*both)
    tested = sum(one.p is not None for one in changes)
    left = [one for one in changes if one.p_holm is not None and one.p_holm < 0.05]
    lines.append(
        f"after Holm's correction over the {tested} differences tested, {len(left)} "
        + ("differs from 0" if len(left) == 1 else "differ from 0")
        + (": " if left else "")
        + ", ".join(f"{one.difference.name} ({one.form})" for one in left)
    )
    tests = [(one.p, one.p_holm) for one in changes]
    return ShownComparison(
        estimates, _warnings(both, stages), lines, tests, UNCLE.name, (str(a), str(b))
    )


def _warnings(both: list[Training], stages: list[MeasuredMethod]) -> list[str]:
    """Return what may mislead: unlike stages, and single seeds."""
    notes = []
    first, second = stages
    if first.name != second.name:
        text = (
            f"the first ends with {first.title}, the second with {second.title}, so more than the "
            "recipe differs"
        )
        own = [
            {m.name: m.title for m in training.methods if m.kind == "trained"} for training in both
        ]
        common = [name for name in own[0] if name in own[1]]
        if common:
            text += f"; use --stage {common[-1]} to compare both after {own[0][common[-1]]}"
        notes.append(text)
    if min(len(method.seeds) for method in stages) == 1:
        notes.append("with one seed, the intervals do not cover what another seed would give")
    return notes


def differing(a: Training, b: Training) -> list[str]:
    """Return the settings in which two trainings differ; what is one recipe's alone is not."""
    apart = ("recipe", "seeds", "seed", "stages", "methods", "resamples")
    names = [name for name in a.settings if name in b.settings]
    names += [name for name in SOURCES if (name in a.settings) != (name in b.settings)]
    named = [
        f"{name} ({a.settings.get(name, 'none')} and {b.settings.get(name, 'none')})"
        for name in names
        if name not in apart and a.settings.get(name) != b.settings.get(name)
    ]
    return [f"settings that differ: {', '.join(named)}"] if named else []


def side_by_side(
    folders: dict[str, str | Path],
    resamples: int = 2000,
    seed: int = 0,
    *,
    stage: str = "",
    base: str | Path | None = None,
) -> tuple[list[MethodNumber], list[Change]]:
    """Return the numbers of several trainings by name, and what each gains on the first.

    Differences are Holm-corrected over all of them. ``stage`` and ``base`` as above. Raises
    InputError for trainings that are not finished, or that measured other models, data or entities.
    """
    held = {name: _finished(Path(place)) for name, place in folders.items()}
    first = next(iter(held))
    for name, training in held.items():
        _check_same(held[first], training, str(folders[first]), str(folders[name]))
    stages = {name: _stage(training, stage, str(folders[name])) for name, training in held.items()}
    known = _base(Path(folders[first]), held[first], base)
    frame = frame_of(known, load_run(_runs(Path(folders[first]), stages[first])[0])[0].questions)
    for name in held:
        _check_probes(frame, known, _runs(Path(folders[name]), stages[name])[0])
    sides: dict[str, list[SeedSide]] = {}
    methods = []
    for name in held:
        place = Path(folders[name])
        sides[name] = [
            side_of(frame, run, _forced(place, run.name)) for run in _runs(place, stages[name])
        ]
        methods.append(MeasuredMethod(name, name, "training", stages[name].seeds))
    signature = signature_of(
        "beside", tuple(pair for t in held.values() for pair in t.signature[:1])
    )
    return cells_and_changes(
        frame, methods, sides, against=first, signature=signature, resamples=resamples, seed=seed
    )


def _finished(place: Path) -> Training:
    if not (place / FILE).is_file():
        raise InputError(
            f"{place} contains no training (no {FILE}): expected a folder of sayso train"
        )
    training = read_training(place)
    if training.finished is None:
        command = (
            f"`{training.command}`" if training.command else "the same call of sayso.train.fit"
        )
        raise InputError(f"{place} is not finished: {command} resumes it")
    if not training.methods or training.methods[-1].kind != "trained":
        raise InputError(
            f"{place} measured no trained model (rows were exported): nothing to compare"
        )
    return training


def _check_same(one: Training, other: Training, first: str, second: str) -> None:
    pairs: list[tuple[str, object, object]] = [
        (name, getattr(one, name), getattr(other, name)) for name in SHARED
    ]
    mine, yours = (training.settings.get("measured") for training in (one, other))
    pairs.append(("measured entities", mine, yours))
    for name, mine, yours in pairs:
        if mine != yours:
            raise InputError(
                f"{first} and {second} differ in their {name.replace('_', ' ')} ({mine} and "
                f"{yours}): expected trainings of one base run, measured on the same entities"
            )


def _stage(training: Training, stage: str, place: str) -> MeasuredMethod:
    """Return the trained method that counts: the last one, or the one named. InputError."""
    trained = {method.name: method for method in training.methods if method.kind == "trained"}
    if not stage:
        return training.methods[-1]
    if stage not in trained:
        raise InputError(f"stage {stage!r}: {place} trained {', '.join(trained)}")
    return trained[stage]


def _base(place: Path, training: Training, base: str | Path | None) -> Path:
    """Return the base run of a training: as given, as it was, or beside the folder. InputError."""
    name = Path(training.base_run).name
    places = (Path(training.base_run), place.parent / name, place.resolve().parent / name)
    for run in (Path(base),) if base is not None else places:
        if RunFolder.exists(run):
            return run
    if base is not None:
        raise InputError(f"base {base} is not a run folder: expected the run that was trained from")
    raise InputError(
        f"{place} was trained from {training.base_run}, which no longer exists there: pass its "
        "new location with --base RUN"
    )


def _check_probes(frame: Frame, base: Path, measured: Path) -> None:
    """Refuse a run that was measured with other probes than a base run's. InputError.

    A base run is what its probes said, wherever it lies: one of the same name may be another.
    """
    job, _, chosen = load_run(measured)
    frozen = draws_by_question(job.generations("probe"), chosen.probe.k)
    own = {q: [g.text.strip() for g in frozen.get(q, [])] for q in frame.probes}
    if own != frame.probes:
        raise InputError(
            f"{base} contains other probes than those that {measured} was measured with: expected "
            "trainings of one base run, which --base RUN names if it moved"
        )


def _runs(place: Path, stage: MeasuredMethod) -> list[Path]:
    """Return the runs of a training's stage, a seed each."""
    return [place / "runs" / f"{stage.name}-{seed}" for seed in stage.seeds]


def _forced(place: Path, name: str) -> dict[str, bool]:
    file = place / "forced" / f"{name}.json"
    if not file.is_file():
        return {}
    try:
        return msgspec.json.decode(file.read_bytes(), type=StoredForced).right
    except msgspec.DecodeError as error:
        raise InputError(f"{file} cannot be read ({error}): delete it, and train again") from None
