"""``sayso.measure``: every number again, offline, from stored answers and verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from sayso.pipeline.running import Result, load_run
from sayso.protocols import protocol, settings
from sayso.records import Estimate, InputError


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
    module = protocol(manifest.protocols[0])
    module.check(chosen)
    old = settings.as_dict(stored)
    for name, value, stage in settings.flatten(chosen):
        if stage == "measure" or value == old[name]:
            continue
        had = old[name]
        if (
            name in getattr(module, "FEWER", ("probe.k",))
            and isinstance(had, int)
            and isinstance(value, int)
            and 0 < value < had
        ):
            continue
        raise InputError(
            f"setting {name} decides what is asked: this run has {old[name]!r}, and {value!r} "
            "needs a new `sayso run`"
        )
    estimates = module.measure(job, chosen)
    if chosen == stored:
        job.folder.write(f"metrics/{manifest.protocols[0]}", estimates, Estimate)
    entities = len({(q.domain, q.entity) for q in job.questions})
    return Result(Path(run), estimates, manifest, entities, saved=chosen == stored)


def stored_settings(run: str | Path) -> dict[str, object]:
    """Return a run's settings as nested keys: the defaults of ``sayso measure``."""
    _, _, chosen = load_run(run)
    return msgspec.to_builtins(chosen)  # type: ignore[no-any-return]


def settings_kind(run: str | Path) -> type:
    """Return the dataclass of a run's settings: that of its protocol."""
    _, _, chosen = load_run(run)
    return type(chosen)
