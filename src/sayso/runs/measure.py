"""``sayso.measure``: every number again, offline, from stored answers and verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from sayso.protocols import protocol_of, settings
from sayso.records import Estimate, InputError, Question, Results, slice_of, slice_text
from sayso.runs.asking import REQUEST_SETTINGS
from sayso.runs.stages import FolderRun
from sayso.storage.run_folder import Manifest, RunFolder


class Result(NamedTuple):
    """A finished run: its folder, its numbers, its manifest, and its number of entities."""

    path: Path
    estimates: list[Estimate]
    manifest: Manifest
    entities: int
    saved: bool = True

    def get(self, name: str, where: str | None = None, **parts: str) -> Estimate:
        """Return one number, e.g. ``result.get("J", form="long")``. Raises KeyError.

        The slice as text, ``result.get("J", "form:long")``, is understood for one more release.
        """
        wanted = slice_text(slice_of(**parts)) if where is None else where
        for estimate in self.estimates:
            if estimate.name != name:
                continue
            if where is None and set(estimate.where) == set(parts.items()):
                return estimate
            if where is not None and slice_text(estimate.where) == where:
                return estimate
        raise KeyError(f"{name} {wanted}")

    def each(self, name: str, **parts: str) -> Iterator[Estimate]:
        """Yield every number of this name whose slice has these parts, whatever else it has."""
        yield from Results(self.estimates).each(name, **parts)


def entities_of(questions: Sequence[Question]) -> int:
    """Return the number of entities of some questions."""
    return len({(q.domain, q.entity) for q in questions})


def load_run(path: str | Path) -> tuple[FolderRun, Manifest, Any]:
    """Open a finished run for measuring: no cache, no model."""
    folder = RunFolder.open(Path(path))
    manifest = folder.read_manifest()
    if manifest.finished is None:
        raise InputError(
            f"{path}: this run is not finished; repeat its command: {manifest.command}"
        )
    if "seed" not in manifest.settings or "signature" not in manifest.prompts:
        raise InputError(f"{path}: its manifest.json is incomplete; run again into another --out")
    try:
        plan = protocol_of(manifest)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    shared = ("seed", *REQUEST_SETTINGS)
    stored = {k: v for k, v in manifest.settings.items() if k not in shared}
    try:
        chosen = settings.replace(plan.Settings(), stored)
    except (KeyError, TypeError) as error:
        raise InputError(
            f"{path}: made by sayso {manifest.sayso}, whose setting {error} this one does not know"
        ) from None
    plan.check(chosen)
    questions = folder.read("questions", Question)
    return FolderRun(folder, questions, manifest), manifest, chosen


def measure(run: str | Path, options: Any = None, **changes: settings.Value) -> Result:
    """Recompute a run's numbers, with other settings if given: ``measure(run, **{"probe.k": 3})``.

    ``options`` replaces all settings at once. Settings that decide what was asked are refused,
    except fewer probe draws. The run's own table is rewritten only when no setting was changed.
    Raises InputError.
    """
    job, manifest, stored = load_run(run)
    try:
        chosen: Any = settings.replace(options or stored, changes)
    except KeyError as error:
        known = ", ".join(settings.as_dict(stored))
        raise InputError(f"setting {error} is unknown; known: {known}") from None
    except TypeError as error:
        raise InputError(str(error)) from None
    plan = protocol_of(manifest)
    plan.check(chosen)
    before = settings.as_dict(stored)
    for name, value, stage in settings.flatten(chosen):
        old = before[name]
        numbers = isinstance(old, int) and isinstance(value, int)
        smaller = name in plan.may_shrink and numbers and 0 < value < old  # type: ignore[operator]
        if stage != "measure" and value != old and not smaller:
            raise InputError(
                f"setting {name} decides what is asked: this run has {old!r}, and {value!r} "
                "needs a new `sayso run`"
            )
    estimates = plan.measure(job, chosen)
    if chosen == stored:
        job.folder.write(f"metrics/{plan.name}", estimates, Estimate)
    entities = entities_of(job.questions)
    return Result(Path(run), estimates, manifest, entities, saved=chosen == stored)


def stored_settings(run: str | Path) -> dict[str, object]:
    """Return a run's settings as nested keys: the defaults of ``sayso measure``."""
    _, _, chosen = load_run(run)
    return msgspec.to_builtins(chosen)  # type: ignore[no-any-return]


def settings_kind(run: str | Path) -> type:
    """Return the dataclass of a run's settings: that of its protocol."""
    _, _, chosen = load_run(run)
    return type(chosen)
