"""The folder of a teaching: begun once, gone on in by one process at a time, left clean."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from sayso.atomic import disk_errors
from sayso.pipeline.teaching_base import Base
from sayso.records import Generation, InputError, Verdict, content_id
from sayso.store import RunFolder
from sayso.taught import FILE, Teaching, read_teaching, write_teaching
from sayso.train.card import read_card, write_card

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
