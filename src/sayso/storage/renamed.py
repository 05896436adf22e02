"""Names that numbers and settings had in runs of earlier versions; they are read under today's."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from sayso.records import Estimate, InputError

#: since J compares known with unknown facts only
TODAY = MappingProxyType(
    {
        "abstention_J": "abstention_gap",
        "abstention_J_within": "abstention_gap_within",
        "passage_J": "passage_gap",
    }
)


class Gone(NamedTuple):
    """A setting that runs of version 0.2 store and that no longer exists."""

    default: object  # with this value it changed nothing, and is ignored
    instead: str  # what to do where a run has another value, as an imperative
    asks: bool = False  # whether it changed what was asked


#: what measures how much hangs on one prompt and one sample
STUDY = (
    "sayso study --prompt-folders wording-1 wording-2 --set sampling_seeds=0,1 with the setting "
    "answer.temperature above 0"
)
#: what a run costs that only counts otherwise
CACHED = " (answers come from the cache)"
#: settings of protocols that are gone, by dotted name; one that a protocol still has is kept
GONE: Mapping[str, Gone] = MappingProxyType(
    {
        "probe.slick": Gone(
            0, "run its command again without --probe.slick, and see probe.at_least", True
        ),
        "propensity": Gone(0, f"run its command again without --propensity, or {STUDY}", True),
        "wordings": Gone(1, f"run its command again without --wordings, or {STUDY}", True),
        "probe_wordings": Gone(
            False, f"run its command again without --probe-wordings, or {STUDY}", True
        ),
        "ci": Gone("entity", f"run its command again without --ci{CACHED}"),
        "alpha": Gone(0.1, f"run its command again without --alpha{CACHED}"),
        "closed": Gone("right", f"run its command again without closed{CACHED}"),
        "levels": Gone(False, f"run its command again without --levels{CACHED}"),
        "known_by": Gone("draws", f"run its command again without --known-by{CACHED}"),
    }
)


def under_todays_name(estimate: Estimate) -> Estimate:
    """Return a stored number under the name that it has now, also in its signature."""
    name = TODAY.get(estimate.name)
    if name is None:
        return estimate
    signature = tuple((key, TODAY.get(value, value)) for key, value in estimate.signature)
    return msgspec.structs.replace(estimate, name=name, signature=signature)


def under_todays_settings(stored: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """Return a run's settings under the names that they have now; ``known`` are those names.

    Raises InputError for a setting that is gone and did not have its default.
    """
    found = dict(stored)
    again = found.pop("without_passage", None)
    if again is not None:
        found["context"] = "without" if again else "given"
    for name in GONE.keys() & found.keys() - set(known):
        value, gone = found.pop(name), GONE[name]
        if value != gone.default:
            raise InputError(
                f"the run was made with {name}={value}, a setting that is gone: {gone.instead}"
            )
    return found


def gone_and_asked(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a run that are gone, changed what was asked, and have no default."""
    return {
        name: stored[name]
        for name, gone in GONE.items()
        if gone.asks and stored.get(name, gone.default) != gone.default
    }
