"""Studies: several models on several data sets by several protocols, and one page of them all.

Each cell of the grid is an ordinary run folder. :mod:`sayso.studies.grid` says which cells there
are, :mod:`sayso.studies.run` makes those that are missing, :mod:`sayso.studies.joined` computes
what takes several runs, :mod:`sayso.studies.report` shows it, and :mod:`sayso.studies.results` is
what Python gives back.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from sayso.progress import Progress
from sayso.records import InputError
from sayso.storage.yaml_file import read_yaml
from sayso.studies.grid import read_grid
from sayso.studies.report import check_layouts, check_possible, write_study
from sayso.studies.results import Study, of_folders, of_grid
from sayso.studies.run import run_grid

__all__ = ["Study", "study"]


def study(
    source: str | PathLike[str] | Mapping[str, Any] | Sequence[str | PathLike[str]],
    *,
    out: str | PathLike[str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    allow: str | Sequence[str] = (),
    raw: bool = False,
    layout: str | Sequence[str] = (),
    progress: Progress | None = None,
) -> Study:
    """Run the cells of a study that are missing, and return all of them with joint intervals.

    ``source`` is a YAML file or the mapping that it would hold (:mod:`sayso.studies.grid`), or a
    list of folders of finished runs, of which nothing is asked. ``out`` is where page and tables go
    (a study's own folder if left out; nowhere for folders of runs). ``allow`` names settings that
    runs may differ in besides the model. Numbers that labels of people correct in all runs are
    compared as corrected, unless ``raw``. ``layout`` names tables of papers that stand on the page
    too. How each cell ended is in ``outcomes``.
    Raises InputError.
    """
    allow = (allow,) if isinstance(allow, str) else tuple(allow)
    layout = (layout,) if isinstance(layout, str) else tuple(layout)
    check_layouts(layout)
    options: dict[str, Any] = {
        "resamples": resamples,
        "seed": seed,
        "allow": allow,
        "raw": raw,
    }
    if isinstance(source, str | PathLike) and Path(source).suffix.lower() in (".yaml", ".yml"):
        source = read_yaml(Path(source), str(source))
    if isinstance(source, Mapping):
        place = {"out": str(out)} if out is not None else {}
        grid = read_grid({**source, **place}, "study", "sayso.study")
        check_possible(grid, layout)
        found = of_grid(grid, run_grid(grid, progress), **options)
        if not found.runs:
            reasons = "; ".join(o.reason for o in found.outcomes if o.reason)
            raise InputError(f"no cell of the study is finished: {reasons[:300]}")
        for one in found.outcomes:
            if one.status in ("failed", "waiting"):
                warnings.warn(f"{one.model} is not in the study: {one.reason}", stacklevel=2)
        write_study(found, grid.out, layout)
        return found
    if layout and out is None:
        raise InputError(
            "layout: tables and pages are written to files; pass out, the folder for them"
        )
    folders = [source] if isinstance(source, str | PathLike) else list(source)
    found = of_folders(folders, **options)
    if out is not None:
        write_study(found, Path(out), layout)
    return found
