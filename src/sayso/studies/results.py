"""A study: the finished runs of a grid or of folders, with the tables and charts of their page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, overload

import msgspec

from sayso.protocols import PROTOCOLS
from sayso.protocols.answer_table import AnswersOf, RunAnswer, answers_of_runs
from sayso.records import Estimate, InputError, Results
from sayso.report.figures import Figure
from sayso.report.formats import format_named
from sayso.report.notebook import AnswerTable, Plotted, data_frame, short_repr
from sayso.report.number_tables import NumberTable
from sayso.runs.result import table_row
from sayso.storage.atomic import real_path
from sayso.storage.run_folder import RunFolder
from sayso.studies.grid import Grid
from sayso.studies.joined import FinishedRun, StudyNumbers
from sayso.studies.report import allowed_layouts, every_table, study_figures
from sayso.studies.run import STATE, CellOutcome, StudyState


class Study(StudyNumbers, Plotted):
    """Finished runs by model, data set and protocol, with what their page shows."""

    @overload
    def table(self, name: None = None) -> list[dict[str, object]]: ...
    @overload
    def table(self, name: str) -> NumberTable: ...

    def table(self, name: str | None = None) -> list[dict[str, object]] | NumberTable:
        """Return every number of every model on every data set, a dict for each.

        With a name from :attr:`tables`, return that table of the page: ``to_latex()``,
        ``to_markdown()`` and ``to_pandas()`` write it, and a notebook shows it. "headline" is
        enough for "uncle/headline" where one protocol has such a table. Raises InputError for
        another name.

        Keys are ``protocol``, ``model``, ``data`` ("mean" over all), ``name``, ``meaning``, the
        parts of the slice, ``value``, ``low``, ``high``, ``n``, ``problem``, ``rank_best`` and
        ``rank_worst`` of the mean, and ``corrected``: whether value and ranks are corrected by
        labels of people.
        """
        if name is None:
            return [row for protocol in self.protocols for row in self._rows(protocol)]
        tables = every_table(self)
        alike = [table for table in tables if table.name.partition("/")[2] == name]
        return alike[0] if len(alike) == 1 else format_named(tables, name, "table")

    @property
    def tables(self) -> list[str]:
        """The names of the tables of the page, and of those of papers that these runs allow."""
        return [table.name for table in every_table(self)]

    @property
    def answers(self) -> AnswerTable[RunAnswer]:
        """The answers of all runs; ``run`` is the folder, ``model`` and ``data`` as in tables.

        They are read from the folders when they are looked at. Raises InputError for a run that has
        no table of its answers.
        """
        runs = [AnswersOf(r.path, str(r.path), r.protocol, r.model, r.data) for r in self.runs]
        return answers_of_runs(runs, self._what())

    def _figures(self) -> list[Figure]:
        """Return the charts of the page, then papers' figures and a board, if allowed."""
        return study_figures(self, allowed_layouts(self))

    def _rows(self, protocol: str) -> Iterator[dict[str, object]]:
        models, data = self.of(protocol)
        for number in self.numbers(protocol):
            for m, model in enumerate(models):
                best, worst = number.ranking.ranks[m] or (None, None)
                for where, e in (
                    ("mean", number.means[m]),
                    *zip(data, number.cells[m], strict=True),
                ):
                    named = msgspec.structs.replace(e, name=number.name, where=number.where)
                    yield {
                        "protocol": protocol, "model": model, "data": where,
                        **table_row(PROTOCOLS[protocol], named),
                        "rank_best": best if where == "mean" else None,
                        "rank_worst": worst if where == "mean" else None,
                        "corrected": number.corrected,
                    }  # fmt: skip

    def to_pandas(self) -> Any:
        """Return :meth:`table` as a ``pandas.DataFrame``. Raises InputError without pandas."""
        return data_frame(self.table())

    def __repr__(self) -> str:
        return short_repr("Study", (self._what(),))

    def _what(self) -> str:
        sizes = (f"{len(self.models)} models", f"{len(self.data)} data sets")
        return "; ".join((*sizes, ", ".join(self.protocols), f"{len(self.runs)} runs"))


# ---- which runs there are


def of_grid(grid: Grid, outcomes: Sequence[CellOutcome], **options: Any) -> Study:
    """Return the study of a grid's finished cells."""
    runs = [
        run
        for cell, outcome in zip(grid.cells, outcomes, strict=True)
        if outcome.status in ("done", "kept")
        and (run := _open(cell.path, cell.model, cell.data)) is not None
    ]
    return Study(runs, outcomes, systems=grid.systems, variants=grid.variants, **options)


def of_folders(folders: Sequence[str | PathLike[str]], **options: Any) -> Study:
    """Return the study of finished runs, or of folders that hold them.

    Two runs of one protocol, model and data are told apart by their folders. Raises InputError
    where there are none.
    """
    places: dict[Path, None] = {}
    states: dict[Path, StudyState] = {}
    for folder in map(Path, folders):
        held = [folder] if RunFolder.exists(folder) else _runs_in(folder)
        if not held:
            raise InputError(
                f"{folder}: contains no run; expected run folders, or a folder of them"
            )
        places |= dict.fromkeys(held)
        if (state := _state(folder)) is not None:
            states[folder] = state
    titles = {
        real_path(folder / cell.path): (cell.model, cell.data)
        for folder, state in states.items()
        for cell in state.cells
    }
    opened = [run for p in places if (run := _open(p, *titles.get(real_path(p), ()))) is not None]
    if not opened:
        raise InputError(f"{', '.join(map(str, folders))[:200]}: no run there is finished")
    systems = {name: about for state in states.values() for name, about in state.systems.items()}
    variants = {name: own for state in states.values() for name, own in state.variants.items()}
    joined, notes = _same_data(opened)
    return Study(_told_apart(joined), systems=systems, variants=variants, notes=notes, **options)


def _same_data(runs: Sequence[FinishedRun]) -> tuple[list[FinishedRun], list[str]]:
    """Return runs of the same questions and golds under one name, and notes on what was joined.

    Where one model has two names for the same questions, as in other words, they stay apart.
    """
    names: dict[str, dict[str, None]] = {}
    of_model: dict[tuple[str, str, str], set[str]] = {}
    for run in runs:
        key = run.manifest.data_hash
        names.setdefault(key, {})[run.data] = None
        of_model.setdefault((key, run.protocol, run.model), set()).add(run.data)
    apart = {"", *(key for (key, *_), own in of_model.items() if len(own) > 1)}
    same = {key: list(own) for key, own in names.items() if len(own) > 1 and key not in apart}
    notes = [
        f"{', '.join(own[:-1])} and {own[-1]} have the same questions and gold answers, so they "
        f"count as one data set, called {own[0]}"
        for own in same.values()
    ]
    named = [run._replace(data=same.get(run.manifest.data_hash, [run.data])[0]) for run in runs]
    return named, notes


def _state(folder: Path) -> StudyState | None:
    """Return what the folder of a study says of its cells; ``None`` for another folder."""
    state = folder / STATE
    if not state.is_file():
        return None
    try:
        return msgspec.json.decode(state.read_bytes(), type=StudyState)
    except msgspec.DecodeError as error:
        raise InputError(f"{state}: is not a list of cells ({error}); remove it") from None


#: folders below a given one in which runs are looked for: a study's lie three deep
DEEPEST = 3


def _runs_in(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise InputError(f"{folder}: does not exist; expected a run folder, or a folder of them")
    found = [
        manifest.parent
        for depth in range(1, DEEPEST + 1)
        for manifest in sorted(folder.glob("/".join(["*"] * depth) + "/manifest.json"))
    ]
    return [place for place in found if RunFolder.exists(place)]


def _open(path: Path, model: str = "", data: str = "") -> FinishedRun | None:
    """Return a finished run of one protocol; ``None`` for one that is not."""
    folder = RunFolder.open(path)
    manifest = folder.read_manifest()
    if manifest.finished is None or len(manifest.protocols) != 1:
        return None
    (name,) = manifest.protocols
    if name not in PROTOCOLS or not folder.has(f"metrics/{name}"):
        return None
    estimates = Results(folder.read(f"metrics/{name}", Estimate))
    shown = data or Path(manifest.data).name or manifest.data
    return FinishedRun(model or manifest.shown_model, shown, name, path, manifest, estimates)


def _told_apart(runs: Sequence[FinishedRun]) -> list[FinishedRun]:
    """Return runs of which no two stand in one cell: by hash of the data, then by folder."""
    hashes: dict[tuple[str, str], set[str]] = {}
    for run in runs:
        hashes.setdefault((run.protocol, run.data), set()).add(run.manifest.data_hash)
    named = [
        run._replace(data=f"{run.data} ({run.manifest.data_hash[:6]})")
        if len(hashes[run.protocol, run.data]) > 1
        else run
        for run in runs
    ]
    cells = Counter((run.protocol, run.model, run.data) for run in named)
    twice = {(protocol, model) for (protocol, model, _), number in cells.items() if number > 1}
    return [
        run._replace(model=f"{run.model} ({run.path.name})")
        if (run.protocol, run.model) in twice
        else run
        for run in named
    ]
