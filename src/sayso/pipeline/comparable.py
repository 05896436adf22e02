"""May two runs be subtracted? What every protocol's comparison asks before it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sayso.pipeline.manifests import told
from sayso.records import InputError


def check_alike(
    names: tuple[str, str],
    parts: tuple[Mapping[str, str], Mapping[str, str]],
    golds: tuple[Mapping[str, object], Mapping[str, object]],
    free: Sequence[str],
    allow: Sequence[str],
) -> list[str]:
    """Refuse runs that differ in more than ``free`` and ``allow``; return notes on what may.

    ``parts`` are the parts of each run's signature, ``golds`` its golds by question. Raises
    InputError for an ``allow`` that is no part, for other differences, and for other golds.
    """
    first, second = parts
    either = list({**first, **second})
    unknown = [key for key in allow if key not in either]
    if unknown:
        raise InputError(f"allow {unknown[0]!r}: no such setting; known: {', '.join(either)}")
    differ = [key for key in either if first.get(key) != second.get(key)]
    refused = [key for key in differ if key not in (*free, *allow)]
    if refused:
        what = ", ".join(f"{k} ({told(first.get(k))} and {told(second.get(k))})" for k in refused)
        raise InputError(
            f"{names[0]} and {names[1]} differ in {what}; their difference would not be the "
            "model's. Repeat one with the other's settings, or say "
            f"--allow {' --allow '.join(refused)}"
        )
    if any(golds[0][q] != golds[1][q] for q in golds[0].keys() & golds[1].keys()):
        raise InputError(f"{names[0]} and {names[1]} hold different golds for the same question")
    return [f"differs as allowed: {key}" for key in differ if key in allow]
