"""Names that numbers and settings had in runs of earlier versions; they are read under today's.

This reader goes one release after it came.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from sayso.records import Estimate

#: since J compares known with unknown facts only
TODAY = MappingProxyType(
    {
        "abstention_J": "abstention_gap",
        "abstention_J_within": "abstention_gap_within",
        "passage_J": "passage_gap",
    }
)


def under_todays_name(estimate: Estimate) -> Estimate:
    """Return a stored number under the name that it has now, also in its signature."""
    name = TODAY.get(estimate.name)
    if name is None:
        return estimate
    signature = tuple((key, TODAY.get(value, value)) for key, value in estimate.signature)
    return msgspec.structs.replace(estimate, name=name, signature=signature)


def under_todays_settings(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a run under the names that they have now."""
    found = dict(stored)
    again = found.pop("without_passage", None)
    if again is not None:
        found["context"] = "without" if again else "given"
    return found
