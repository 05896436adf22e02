"""What must be read before any number of the faithfulness protocol."""

from __future__ import annotations

from collections.abc import Iterable

from sayso.records import Estimate


def cautions(estimates: Iterable[Estimate], draws_vary: bool | None = None) -> list[str]:
    """Return what falls away: draws that never differ, readings that are missing, no spread."""
    found = list(estimates)
    lines = []
    alike = next((e.value for e in found if e.name == "draws_alike"), None)
    if draws_vary is False or alike == 1:
        lines.append(
            "The draws never vary: every confidence is 1 whatever the model knows, and nothing "
            "here says how faithful it is. Check that the endpoint samples at T > 0."
        )
    return lines + [
        f"{e.where}: {e.missing:,} readings are missing beside {e.n:,} that entered; missing ones "
        "are in no mean."
        for e in found
        if e.name == "cmfg" and e.missing > 0.05 * (e.missing + e.n)
    ]
