"""What must be known before a number is quoted: missing verdicts, few cases, luck."""

from __future__ import annotations

from sayso.report.clean import line
from sayso.report.numbers import GUESSABLE, Numbers, bounds, counts, sparse
from sayso.report.words import FORMS, METRICS
from sayso.store import Manifest


def first(manifest: Manifest | None) -> list[str]:
    """Return what must be read before any number: results that fall away, and why."""
    return [line(text, 1_000) for text in manifest.cautions] if manifest is not None else []


def missing_lines(numbers: Numbers) -> list[str]:
    """Return one sentence for each form that has verdicts nobody could read, with bounds."""
    lines = []
    for form in numbers.forms:
        estimates = [numbers.get(name, form) for name in METRICS]
        worst = max(estimates, key=lambda e: e.missing)
        if not worst.missing:
            continue
        held = [(e.name, bounds(e, 0)) for e in estimates if bounds(e, 0)]
        within = "; ".join(f"{name} {text}" for name, text in held)
        lines.append(
            f"{FORMS[form].capitalize()}: {worst.missing:,} of {worst.missing + worst.n:,} facts "
            f"have no readable verdict; whatever they were, {within or 'no bound is known'}."
        )
    return lines


def warnings(numbers: Numbers) -> list[str]:
    """Return what a reader must know before quoting a number of this run."""
    lines = []
    rates = [(name, e) for name, e in numbers.slices("guess_rate", "", "type")]
    high = [name for name, e in rates if e.value is not None and e.value > GUESSABLE]
    if high:
        lines.append(
            f"{len(high)} of {len(rates)} fact types can be met by guessing more than "
            f"{GUESSABLE:.0%} of the time: 'known' is too kind there.".replace("%", " %")
        )
    few = []
    for form in numbers.forms:
        for name in METRICS:
            estimate = numbers.get(name, form)
            if estimate.value is not None and sparse(estimate):
                few.append(f"{name} of {FORMS[form]} ({counts(estimate)})")
    if few:
        lines.append(f"Few cases, read the counts: {', '.join(few)}.")
    return lines
