"""``sayso.measure``: every number again, offline, from stored answers and verdicts."""

from __future__ import annotations

from pathlib import Path

import msgspec

from sayso.pipeline.running import Result, load_run
from sayso.protocols import settings, uncle
from sayso.records import Estimate, InputError


def measure(
    run: str | Path, options: uncle.Settings | None = None, **changes: settings.Value
) -> Result:
    """Recompute a run's numbers, with other settings if given: ``measure(run, **{"probe.k": 3})``.

    ``options`` replaces all settings at once. Settings that decide what was asked are refused,
    except fewer probe draws. The run's own table is rewritten only when no setting was changed.
    Raises InputError.
    """
    job, manifest, stored = load_run(run)
    try:
        chosen: uncle.Settings = settings.replace(options or stored, changes)
    except KeyError as error:
        known = ", ".join(settings.as_dict(stored))
        raise InputError(f"setting {error} is unknown; known: {known}") from None
    except TypeError as error:
        raise InputError(str(error)) from None
    uncle.check(chosen)
    old = settings.as_dict(stored)
    for name, value, stage in settings.flatten(chosen):
        if stage == "measure" or value == old[name]:
            continue
        if name == "probe.k" and 0 < chosen.probe.k < stored.probe.k:
            continue
        raise InputError(
            f"setting {name} decides what is asked: this run has {old[name]!r}, and {value!r} "
            "needs a new `sayso run`"
        )
    estimates = uncle.measure(job, chosen)
    if chosen == stored:
        job.folder.write("metrics/uncle", estimates, Estimate)
    entities = len({(q.domain, q.entity) for q in job.questions})
    return Result(Path(run), estimates, manifest, entities, saved=chosen == stored)


def stored_settings(run: str | Path) -> dict[str, object]:
    """Return a run's settings as nested keys: the defaults of ``sayso measure``."""
    _, _, chosen = load_run(run)
    return msgspec.to_builtins(chosen)  # type: ignore[no-any-return]
