"""What a report says of the judge: how well it did when it was checked, or that it never was."""

from __future__ import annotations

import shlex

from sayso.report.clean import line
from sayso.store import Manifest

#: words of a judge's signature -> the flags of ``sayso judge-check`` that say the same
FLAGS = {
    "uncle": "--judge-labels uncle",
    "entity": "--judge-batch entity",
    "aspect": "--judge-batch aspect",
    "two_pass": "--judge-mode two_pass",
}


def cited(manifest: Manifest | None) -> list[str]:
    """Return how the judge did when it was checked, as sentences; nothing if it was not."""
    if manifest is None or not manifest.judge_check or "problem" in manifest.judge_check:
        return []
    found = manifest.judge_check
    said = (
        f"The judge {line(manifest.judge_signature, 60)} agreed with our labels on "
        f"{_counts(manifest, '')}"
    )
    kappa = found.get("kappa")
    if isinstance(kappa, int | float):
        said += f", kappa of the stance {kappa:.2f}"
    unread = _number(manifest, "unread")
    if unread:
        said += f"; {unread} of {_number(manifest, 'aspects')} verdicts were unreadable"
    tried = _number(manifest, "injections")
    changed = _number(manifest, "injections_changed")
    said += f"; {changed} of {tried} injections changed its verdict" if tried else ""
    lines = [f"{said}. Checked on {line(str(found.get('checked', ''))[:10])}."]
    if "labelled" in found:
        name = line(str(found["labelled"]), 60)
        lines.append(f"With the labels of {name} it agreed on {_counts(manifest, 'labelled_')}.")
    return lines


def warned(manifest: Manifest | None) -> list[str]:
    """Return what must be known of the judge before a number is quoted."""
    if manifest is None or not manifest.judge or manifest.judge == "rules":
        return _fooled(manifest)
    command = line(f"sayso judge-check {manifest.judge}{_flags(manifest)}", 200)
    if not manifest.judge_check:
        return [f"This judge was never checked: {command}"]
    if "problem" in manifest.judge_check:
        problem = line(str(manifest.judge_check["problem"]), 200)
        return [f"Nobody knows how good this judge is, {problem}: {command}"]
    return _fooled(manifest)


def _flags(manifest: Manifest) -> str:
    """Return what has to be said so that the check is of this judge: its settings, as flags.

    Read from the end of the signature, where every setting stands that is not the default.
    """
    said = manifest.judge_signature.rpartition("#p")[2].split("+")[1:]
    found = [f" {flag}" for word, flag in FLAGS.items() if word in said]
    prompts = manifest.settings.get("prompt_folder")
    if prompts:
        found.append(f" --prompt-folder {shlex.quote(str(prompts))}")
    return "".join(found)


def _fooled(manifest: Manifest | None) -> list[str]:
    changed = _number(manifest, "injections_changed") if manifest is not None else 0
    if manifest is None or not changed:
        return []
    return [
        f"When it was checked, {changed} of {_number(manifest, 'injections')} instructions inside "
        "answers changed this judge's verdict, "
        f"{_number(manifest, 'injections_obeyed')} of them to what they asked for."
    ]


def _number(manifest: Manifest, name: str) -> int:
    found = manifest.judge_check.get(name)
    return found if isinstance(found, int) else 0


def _counts(manifest: Manifest, part: str) -> str:
    """Return "112 of 120 (93 %, 95 % range 87–97 %)"; no share of nothing."""
    agreed, of = _number(manifest, f"{part}agreed"), _number(manifest, f"{part}of")
    if not of:
        return "none, since no verdict could be read"
    said = f"{agreed:,} of {of:,} answers ({agreed / of:.0%}".replace("%", " %")
    low, high = (manifest.judge_check.get(f"{part}{end}") for end in ("low", "high"))
    if isinstance(low, float) and isinstance(high, float):
        said += f", 95 % range {100 * low:.0f}–{100 * high:.0f} %"
    return said + ")"
