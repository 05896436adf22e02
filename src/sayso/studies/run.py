"""Running a study: the cells that are missing, one after the other; or what they would cost."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal, NamedTuple

import msgspec

from sayso import datasets
from sayso.engines import check_model_name
from sayso.engines.absent import check_here
from sayso.engines.engine import Engine
from sayso.engines.named import NotHere
from sayso.options import ModelOptions, for_others, part
from sayso.progress import Progress
from sayso.protocols.protocol import Unsuited
from sayso.records import InputError
from sayso.report import write as write_page
from sayso.runs.costs import BudgetSpent, Meter, is_local, open_priced
from sayso.runs.dry_run import RunEstimate, Total, price_job, total_of
from sayso.runs.job import Job, check, one_period
from sayso.runs.judge import judging_model
from sayso.runs.run import check_finished, execute_job
from sayso.storage.atomic import one_writer, place_inside, replacing
from sayso.storage.run_folder import RunFolder
from sayso.studies.grid import About, Grid, GridCell, Variant

Status = Literal["done", "kept", "left out", "failed", "waiting"]
#: what a study was and how each cell ended, in its folder
STATE = "study.json"


class CellOutcome(msgspec.Struct, frozen=True):
    """How a cell ended: ``kept`` was there before; ``reason`` says why it is left out or failed."""

    model: str
    data: str
    protocol: str
    path: str
    status: Status
    reason: str = ""
    seconds: float = 0.0


class StudyState(msgspec.Struct, frozen=True):
    """The file :data:`STATE`: every cell, its path within the study's folder."""

    cells: tuple[CellOutcome, ...]
    systems: dict[str, About] = {}
    variants: dict[str, Variant] = {}


class CellReport(NamedTuple):
    """Where a study reports each cell: before it begins, with its number, and when it ended."""

    begin: Callable[[int, int, GridCell], None]
    end: Callable[[int, int, CellOutcome], None]


def check_grid(grid: Grid, *, plan: bool = False) -> None:
    """Refuse what can be seen to be wrong in any cell, before anything is asked.

    To ``plan``, models' files need not be on this machine. Data that do not suit a protocol are no
    mistake of a grid: such cells are left out. Raises InputError, which has every mistake once.
    """
    checks: dict[object, tuple[str, Callable[[], object]]] = {}
    for cell in grid.cells:
        job, on_record = cell.job, cell.job.texts is not None
        on_record |= job.recorded is not None
        if isinstance(job.model, str) and job.model and not _is_there(cell):
            checks["model", job.model, job.revision] = "", partial(_check_model, job, plan)
        if not on_record and not cell.lacking:
            checks["data", job.data_set] = "", partial(datasets.check_data_name, job.data_set)
        checks[cell.path] = f"{cell.title}: ", partial(_check_cell, cell)
    problems: dict[str, str] = {}
    for place, check_one in checks.values():
        try:
            check_one()
        except Unsuited:
            continue
        except InputError as error:
            problems.setdefault(str(error), place)
    if problems:
        raise InputError("; ".join(f"{place}{text}" for text, place in problems.items()))


def _check_cell(cell: GridCell) -> None:
    """Refuse a job that is wrong. Raises Unsuited where the files of answers lack something."""
    if cell.lacking:
        raise Unsuited(cell.lacking)
    check(cell.job)


def _is_there(cell: GridCell) -> bool:
    with contextlib.suppress(InputError):  # a folder that cannot be read fails its cell alone
        return is_finished(cell)
    return True


def _check_model(job: Job, plan: bool) -> None:
    """Refuse a model that is not there; of one in this process its files, without weights."""
    name = str(job.model)
    check_model_name(name)
    if is_local(name):
        engine, _ = open_priced(name, opening=ModelOptions(revision=job.revision), weights=False)
        if not plan:
            check_here(engine)
        engine.close()


def run_grid(
    grid: Grid, progress: Progress | None = None, told: CellReport | None = None
) -> list[CellOutcome]:
    """Run every cell that is not finished, and return how each ended.

    A cell that fails does not stop the others; the money of the study does, and what is left then
    waits for the same command. Cells share one cache and one limit on money. A model in this
    process is opened once for all its cells. Raises InputError for a grid that is wrong.
    """
    check_grid(grid)
    for cell in grid.cells:
        place_inside(grid.out, *cell.path.relative_to(grid.out).parts)
    grid.out.mkdir(parents=True, exist_ok=True)
    meter = Meter(grid.max_cost)
    outcomes: list[CellOutcome] = []
    stopped = ""
    with (
        one_writer(grid.out, "sayso study"),
        _Opened() as opened,
        one_period([cell.job for cell in grid.cells], progress) as jobs,
    ):
        cells = [cell._replace(job=job) for cell, job in zip(grid.cells, jobs, strict=True)]
        for number, cell in enumerate(cells):
            began, new, waits = time.perf_counter(), True, bool(stopped)
            status: Status
            try:
                if waits:
                    raise BudgetSpent(stopped)
                new = not is_finished(cell)
                if told is not None and new:
                    told.begin(number, len(cells), cell)
                status, reason = _run_cell(cell, opened, meter, progress), ""
            except Unsuited as error:
                status, reason = "left out", str(error)
            except BudgetSpent as error:
                status, reason = "waiting", str(error)
                stopped = reason
            except InputError as error:
                status, reason = "failed", str(error)
            place = cell.path.relative_to(grid.out).as_posix()
            seconds = round(time.perf_counter() - began, 1)
            outcomes.append(
                CellOutcome(cell.model, cell.data, cell.protocol, place, status, reason, seconds)
            )
            if told is not None and not waits and (new or status != "kept"):
                told.end(number, len(cells), outcomes[number])
            write_study_state(grid, outcomes)
    return outcomes


def write_study_state(grid: Grid, outcomes: Sequence[CellOutcome]) -> None:
    """Write how the cells ended, for people and programs; what counts are their folders."""
    state = StudyState(tuple(outcomes), dict(grid.systems), dict(grid.variants))
    with replacing(place_inside(grid.out, STATE)) as file:
        file.write(msgspec.json.format(msgspec.json.encode(state), indent=1))


def _run_cell(
    cell: GridCell, opened: _Opened, meter: Meter, progress: Progress | None
) -> Literal["done", "kept"]:
    """Run a cell unless its folder holds the finished run. Raises InputError."""
    _check_cell(cell)
    if is_finished(cell):
        check_finished(cell.job)
        if not (cell.path / "report.html").is_file():  # it was stopped before its page was written
            write_page(cell.path)
        return "kept"
    write_page(execute_job(opened.job(cell.job), progress, meter))
    return "done"


def is_finished(cell: GridCell) -> bool:
    """Tell whether the folder of a cell holds a finished run."""
    if not RunFolder.exists(cell.path):
        return False
    return RunFolder.open(cell.path).read_manifest().finished is not None


class _Opened(contextlib.ExitStack):
    """The model in this process that the last cell asked: the next cell may ask it too."""

    _key: object = None
    _engine: Engine | None = None

    def job(self, job: Job) -> Job:
        """Return a job that asks an open model. Endpoints are opened by each cell for itself."""
        if not isinstance(job.model, str) or not is_local(job.model) or job.engine:
            self.close()
            self._key = None
            return job
        opening = dataclasses.replace(part(ModelOptions, job), model_version=None)  # endpoints'
        key = (job.model, opening)
        if key != self._key or self._engine is None:
            self.close()
            self._engine, _ = open_priced(job.model, job.max_cost, price=job.price, opening=opening)
            self.callback(self._engine.close)
            self._key = key
        # what is left may be meant for the judge
        kept = for_others(opening)
        if not is_local(judging_model(job.judge)):
            kept = dataclasses.replace(kept, device=None)
        return dataclasses.replace(job, model=self._engine, **dataclasses.asdict(kept))


# ---- what it would cost


class StudyPrice(NamedTuple):
    """What the unfinished cells of a study would ask, all together.

    ``plans`` are by the number of the cell; requests that several cells share count in the first.
    ``left_out`` has reasons by number.
    """

    plans: dict[int, RunEstimate]
    left_out: dict[int, str]
    finished: int
    total: Total


def price_grid(grid: Grid, pilot: int = 0) -> StudyPrice:
    """Return what a grid would ask and cost. Asks nothing, needs no key, makes no folder.

    With ``pilot`` so many entities of each cell are asked first. Raises InputError for a grid that
    is wrong.
    """
    check_grid(grid, plan=True)
    seen: set[bytes] = set()
    plans: dict[int, RunEstimate] = {}
    left_out: dict[int, str] = {}
    finished = 0
    later = [cell.path for cell in grid.cells if not RunFolder.exists(cell.path)]
    with one_period([cell.job for cell in grid.cells], asks=False) as jobs:
        for number, cell in enumerate(
            cell._replace(job=job) for cell, job in zip(grid.cells, jobs, strict=True)
        ):
            try:
                _check_cell(cell)
                if is_finished(cell):
                    with contextlib.suppress(NotHere):
                        check_finished(cell.job)
                    finished += 1
                else:
                    plans[number] = price_job(cell.job, pilot, seen, later=later)
            except Unsuited as reason:
                left_out[number] = str(reason)
            except InputError as error:
                raise InputError(f"{cell.title}: {error}") from None
    return StudyPrice(plans, left_out, finished, total_of(plans.values()))
