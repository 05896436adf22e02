"""Teachings beside each other: what one recipe gains on another, on the same entities and probes.

Every teaching counts by its last stage. Two models were measured with the same frozen probes, so
that differences are paired by entity; training seeds are resampled too.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from sayso.pipeline.running import load_run
from sayso.pipeline.teaching_measure import Stored
from sayso.pipeline.teaching_sides import Side, frame_of, side_of
from sayso.pipeline.teaching_table import table
from sayso.records import Estimate, InputError
from sayso.taught import FILE, Cell, Change, Method, Teaching, read_teaching

#: what two teachings must share: settings of the run, not of the training
SHARED = ("model_identity", "data", "judge")


def differences(
    a: str | Path, b: str | Path, resamples: int = 2000, seed: int = 0
) -> tuple[list[Estimate], list[str]]:
    """Return B - A of two teachings and what a reader must know. Raises InputError."""
    _, changes = beside({"A": a, "B": b}, resamples, seed)
    found = [msgspec.structs.replace(one.difference, where=f"form:{one.form}") for one in changes]
    stages = [read_teaching(place) for place in (a, b)]
    notes = [
        f"{name} = {told.settings['recipe']}, {told.methods[-1].title}, {_seeds(told)}"
        for name, told in zip("AB", stages, strict=True)
    ]
    notes += _differing(*stages)
    if min(len(told.seeds) for told in stages) == 1:
        notes.append("with one seed, the ranges say nothing about what another seed would give")
    left = [one for one in changes if one.p_holm is not None and one.p_holm < 0.05]
    notes.append(
        f"after Holm's correction over all {len(changes)} differences, {len(left)} stay clear"
        + (": " if left else "")
        + ", ".join(f"{one.difference.name} ({one.form})" for one in left)
    )
    return found, notes


def _differing(a: Teaching, b: Teaching) -> list[str]:
    """Return the settings in which two teachings differ; what is one recipe's alone is not."""
    apart = ("recipe", "seeds", "seed", "stages", "methods", "resamples")
    named = [
        f"{name} ({a.settings[name]} and {b.settings[name]})"
        for name in a.settings
        if name in b.settings and name not in apart and a.settings[name] != b.settings[name]
    ]
    return [f"settings that differ: {', '.join(named)}"] if named else []


def _seeds(told: Teaching) -> str:
    return "1 seed" if len(told.seeds) == 1 else f"{len(told.seeds)} seeds"


def beside(
    folders: dict[str, str | Path], resamples: int = 2000, seed: int = 0
) -> tuple[list[Cell], list[Change]]:
    """Return the numbers of several teachings by name, and what each gains on the first.

    Differences are Holm-corrected over all of them. Raises InputError for teachings that are not
    finished, or that measured other models, data or entities.
    """
    held = {name: _finished(Path(place)) for name, place in folders.items()}
    first = next(iter(held))
    for name, told in held.items():
        _check_same(held[first], told, str(folders[first]), str(folders[name]))
    base = _base(Path(folders[first]), held[first])
    measured = _runs(Path(folders[first]), held[first])[0]
    frame = frame_of(base, load_run(measured)[0].questions)
    sides: dict[str, list[Side]] = {}
    methods = []
    for name, told in held.items():
        place = Path(folders[name])
        sides[name] = [side_of(frame, run, _forced(place, run.name)) for run in _runs(place, told)]
        methods.append(Method(name, name, "teaching", told.seeds))
    signature = "|".join(["beside", *(told.signature.partition("|")[0] for told in held.values())])
    return table(
        frame, methods, sides, against=first, signature=signature, resamples=resamples, seed=seed
    )


def _finished(place: Path) -> Teaching:
    if not (place / FILE).is_file():
        raise InputError(f"{place} holds no teaching (no {FILE}): expected a folder of sayso train")
    told = read_teaching(place)
    if told.finished is None:
        raise InputError(f"{place} is not finished: `{told.command}` goes on with it")
    if not told.methods or told.methods[-1].kind != "trained":
        raise InputError(
            f"{place} measured no taught model (rows were exported): nothing to compare"
        )
    return told


def _check_same(one: Teaching, other: Teaching, first: str, second: str) -> None:
    pairs: list[tuple[str, object, object]] = [
        (name, getattr(one, name), getattr(other, name)) for name in SHARED
    ]
    pairs.append(("base run", Path(one.base_run).name, Path(other.base_run).name))
    mine, yours = (told.settings.get("measured") for told in (one, other))
    pairs.append(("measured entities", mine, yours))
    for name, mine, yours in pairs:
        if mine != yours:
            raise InputError(
                f"{first} and {second} differ in their {name.replace('_', ' ')} ({mine} and "
                f"{yours}): expected teachings of one base run, measured on the same entities"
            )


def _base(place: Path, told: Teaching) -> Path:
    for found in (Path(told.base_run), place.parent / Path(told.base_run).name):
        if found.is_dir():
            return found
    raise InputError(f"{place} was taught from {told.base_run}, which is not there any more")


def _runs(place: Path, told: Teaching) -> list[Path]:
    """Return the runs of a teaching's last stage, a seed each."""
    stage = told.methods[-1]
    return [place / "runs" / f"{stage.name}-{seed}" for seed in stage.seeds]


def _forced(place: Path, name: str) -> dict[str, bool]:
    file = place / "forced" / f"{name}.json"
    if not file.is_file():
        return {}
    try:
        return msgspec.json.decode(file.read_bytes(), type=Stored).right
    except msgspec.DecodeError as error:
        raise InputError(f"{file} cannot be read ({error}): delete it, and teach again") from None
