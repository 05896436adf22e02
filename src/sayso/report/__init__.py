"""Estimates to something a person reads: a table in the terminal, a page in the browser.

``write(run)`` makes ``report.html`` and ``render_run`` prints it; what they show is the protocol's.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from sayso.records import Estimate, InputError
from sayso.report.figures import figures_in
from sayso.report.formats import Wanted, write_files
from sayso.report.page import run_pages
from sayso.report.sheet import render_sheet
from sayso.storage.atomic import WAIT, one_writer
from sayso.storage.run_folder import FIGURES, Manifest, RunFolder

if TYPE_CHECKING:
    from rich.console import Console

    from sayso.report.figures import Figure


def write(run: str | PathLike[str] | RunFolder) -> Path:
    """Write ``report.html``, and ``answers/`` where a run has many; return the page's path.

    Raises :class:`~sayso.records.InputError` for a folder that is no run or holds no numbers yet.
    """
    from sayso.protocols import protocol_of

    folder, manifest, estimates = _opened(run)
    plan = protocol_of(manifest)
    sheet = plan.report.sheet(estimates, manifest, folder)
    written = run_pages(sheet, plan.report.read_answers(folder, manifest, estimates), manifest)
    with one_writer(folder.path, "sayso report", WAIT):
        folder.clear_pages()
        for name, text in written.items():
            folder.write_text(name, text)
    return folder.path / "report.html"


def write_figures(run: str | PathLike[str] | RunFolder, files: Wanted) -> list[Path]:
    """Write every chart of a run's page into ``RUN/figures/``; return the paths of the files.

    Raises :class:`~sayso.records.InputError` as :func:`write` does.
    """
    folder, manifest, estimates = _opened(run)
    with one_writer(folder.path, "sayso report", WAIT):
        return write_files(figures_of(folder, manifest, estimates), folder.path / FIGURES, files)


def figures_of(
    folder: RunFolder, manifest: Manifest, estimates: Sequence[Estimate]
) -> list[Figure]:
    """Return the charts of a run's page, each with a name of its own."""
    from sayso.protocols import protocol_of

    plan = protocol_of(manifest)
    sheet = plan.report.sheet(estimates, manifest, folder)
    stored = plan.report.read_answers(folder, manifest, estimates)
    charts = [*sheet.charts, *(chart for s in stored.sections for chart in s.charts)]
    return figures_in([chart.figure for chart in charts])


def _opened(
    run: str | PathLike[str] | RunFolder,
) -> tuple[RunFolder, Manifest, list[Estimate]]:
    """Return a run's folder, manifest and numbers. Raises InputError where there are none yet."""
    folder = run if isinstance(run, RunFolder) else RunFolder.open(Path(run))
    manifest = folder.read_manifest()
    measured = folder.tables("metrics")
    if not measured:
        raise InputError(
            f"{folder.path} has no numbers yet: the run is not finished; repeat its command: "
            f"{manifest.command}"
        )
    return folder, manifest, [e for table in measured for e in folder.read(table, Estimate)]


def render_run(
    estimates: Sequence[Estimate],
    console: Console,
    manifest: Manifest,
    page: Path | None = None,
    *,
    verbose: bool = False,
    run: RunFolder | None = None,
) -> None:
    """Print what a run found, as its protocol shows it; ``run`` is the folder, if there is one.

    ``verbose``: every table of the page.
    """
    from sayso.protocols import protocol_of

    sheet = protocol_of(manifest).report.sheet(estimates, manifest, run)
    render_sheet(sheet, console, manifest, page, verbose=verbose)
