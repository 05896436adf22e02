"""Estimates to something a person reads: a table in the terminal, a page in the browser.

``write(run)`` makes ``report.html``, ``render`` prints a run and ``render_compare`` a comparison.
Each loads its libraries when it is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from sayso.records import Estimate
    from sayso.store import Manifest, RunFolder
    from sayso.taught import Teaching

__all__ = [
    "render", "render_compare", "render_sweep", "render_teaching", "write", "write_sweep",
    "write_teaching",
]  # fmt: skip


def write(run: str | Path | RunFolder, beside: Sequence[str | Path | RunFolder] = ()) -> Path:
    """Write ``report.html`` (and ``answers/`` beside it) into a run folder; return its path.

    ``beside`` are further runs of ``faithfulness``, columns of its tables of methods by models.
    """
    from sayso.report.html import write as write_page

    return write_page(run, beside)


def render(
    estimates: Sequence[Estimate],
    console: Console,
    manifest: Manifest | None = None,
    page: Path | None = None,
    *,
    entities: int | None = None,
) -> None:
    """Print the table of a run; see :func:`sayso.report.terminal.render`."""
    if manifest is not None and "selective" in manifest.protocols:
        from sayso.report.selective import render as render_board

        render_board(estimates, console, manifest, page)
        return
    if manifest is not None and "faithfulness" in manifest.protocols:
        from sayso.report.faithfulness import render as render_methods

        render_methods(estimates, console, manifest, page)
        return
    if manifest is not None and "self_known" in manifest.protocols:
        from sayso.report.self_known import render as render_parts

        render_parts(estimates, console, manifest, page)
        return
    from sayso.report.terminal import render as render_table

    render_table(estimates, console, manifest, page, entities=entities)


def render_compare(
    differences: Sequence[Estimate],
    console: Console,
    first: str = "A",
    second: str = "B",
    notes: Sequence[str] = (),
    told: Sequence[str] = (),
) -> None:
    """Print differences of two runs; see :func:`sayso.report.compare.render_compare`."""
    from sayso.report.compare import render_compare as render_table

    render_table(differences, console, first, second, notes, told)


def render_teaching(taught: Teaching, console: Console, page: Path | None = None) -> None:
    """Print what a teaching found; see :func:`sayso.report.teaching.render`."""
    from sayso.report.teaching import render as render_table

    render_table(taught, console, page)


def write_teaching(folder: str | Path) -> Path:
    """Write ``report.html`` into the folder of a finished teaching; return its path."""
    from sayso.report.teaching_page import write as write_page

    return write_page(folder)


def render_sweep(taught: Teaching, console: Console, page: Path | None = None) -> None:
    """Print the values of a sweep; see :func:`sayso.report.teaching_sweep.render`."""
    from sayso.report.teaching_sweep import render as render_table

    render_table(taught, console, page)


def write_sweep(folder: str | Path, taught: Teaching) -> Path:
    """Write ``report.html`` into the folder of a sweep; return its path."""
    from sayso.report.teaching_sweep import write as write_page

    return write_page(folder, taught)
