"""Two runs on the same questions, B minus A, with paired intervals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sayso.protocols import protocol_of
from sayso.protocols.protocol import Comparison, Side
from sayso.records import InputError
from sayso.runs.measure import load_run
from sayso.storage.run_folder import RunFolder


def compare(
    a: str | Path,
    b: str | Path,
    *,
    allow: Sequence[str] = (),
    resamples: int = 2000,
    seed: int = 0,
) -> Comparison:
    """Return B - A for every headline number on what both runs were asked.

    Entities are resampled jointly. Runs that differ in more than the model are refused, unless
    ``allow`` names the settings; runs of one base model must share its probes (``known_from``),
    because a model that learned to hedge also hedges its probes. Raises InputError.
    """
    check_resampling(resamples, seed)
    kinds = [RunFolder.open(Path(place)).read_manifest().protocols for place in (a, b)]
    if kinds[0] != kinds[1]:
        names = " and ".join("+".join(kind) or "no protocol" for kind in kinds)
        raise InputError(f"{a} and {b} are runs of {names}; compare runs of one protocol")
    sides = Side(str(a), *load_run(a)), Side(str(b), *load_run(b))
    plan = protocol_of(sides[0].manifest)
    return plan.compare(sides, allow, resamples, seed)._replace(protocol=plan.name)


def check_resampling(resamples: int, seed: int) -> None:
    """Refuse numbers of resamples and seeds that cannot be meant. Raises InputError."""
    limits = (("resamples", resamples, 100, 1_000_000), ("seed", seed, 0, 2**63))
    for name, value, low, high in limits:
        if not low <= value <= high:
            raise InputError(f"{name} is {value}; expected {low} to {high:g}")
