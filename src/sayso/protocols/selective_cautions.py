"""What must be read before any number of the selective protocol: results that fall away."""

from __future__ import annotations

from collections.abc import Iterable

from sayso.records import Estimate


def cautions(estimates: Iterable[Estimate], draws_vary: bool | None = None) -> list[str]:
    """Return what falls away in a run without log-probabilities, or whose draws never differ."""
    found = list(estimates)
    lines = []
    if draws_vary is False:
        lines.append(
            "The draws never vary: the model was seen to repeat the same text at a temperature "
            "above 0. Every score that compares draws says nothing here."
        )
    missing = [e for e in found if e.name == "auroc" and e.problem and "token prob" in e.problem]
    if missing:
        lines.append(
            f"{len(missing)} scores have no value, because the model gave no log-probabilities."
        )
    return lines
