"""What ``sayso study`` does: call, then print. Its flags stand in :mod:`sayso.cli.run`."""

from __future__ import annotations

import dataclasses
import json
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console

from sayso.cli.flags import StudyFlags, StudyKeys
from sayso.cli.printing import (
    PILOT,
    exit_code,
    note_figures,
    print_note,
    wants_pilot,
)
from sayso.cli.progress import Bars
from sayso.options import fields_of, read_value
from sayso.records import InputError, content_id
from sayso.report.formats import Wanted, write_files
from sayso.report.number_tables import NumberTable, grid, json_rows, render_table
from sayso.report.numbers import json_text
from sayso.runs.dry_run import RunEstimate, between, money, reads_text, total_text
from sayso.runs.result import lost_answers
from sayso.storage.run_folder import FIGURES
from sayso.storage.yaml_file import read_yaml
from sayso.studies.grid import LISTS, REPEATED, Grid, GridCell, read_grid
from sayso.studies.report import (
    TABLES,
    check_layouts,
    check_possible,
    layout_tables,
    layouts,
    render_study,
    study_figures,
    warn,
    write_study,
)
from sayso.studies.results import Study, of_folders, of_grid
from sayso.studies.run import STATE, CellOutcome, CellReport, StudyPrice, price_grid, run_grid

YAML = (".yaml", ".yml")


def study(sources: Sequence[Path], flags: StudyFlags, settings: Mapping[str, Any]) -> int:
    """Make or open a study, and show it; return the exit code.

    ``settings`` are the keys of the study (:class:`StudyKeys`) as they were typed.
    """
    keys = {
        f.name: read_value(f.name, f.hint, settings[f.name], typed=True)
        for f in fields_of(StudyKeys)
        if f.name in settings
    }
    if flags.layouts:
        _list_layouts()
        return 0
    layout = tuple(name for names in flags.layout for name in names.split(",") if name)
    flags = dataclasses.replace(flags, layout=layout)
    check_layouts(flags.layout)
    files = flags.files
    counting = {name: getattr(flags, name) for name in ("resamples", "allow", "raw")}
    counting["seed"] = keys.get("seed", 0)
    grid = _grid(sources, flags, keys)
    if grid is not None:
        check_possible(grid, flags.layout)
    if grid is None:
        own = [s for s in sources if (s / STATE).is_file()]
        other = Path("studies") / content_id(sorted(map(str, sources)))[:8]
        out = keys.get("out") or (own[0] if len(sources) == len(own) == 1 else other)
        found = of_folders(sources, **counting)
    elif flags.dry_run or flags.pilot:
        price = _price(grid, flags)
        if wants_pilot(price.total.dollars, flags):
            _price(grid, dataclasses.replace(flags, pilot=PILOT))
        return 0
    else:
        out = grid.out
        with Bars() as bars:
            outcomes = run_grid(grid, bars, CellReport(_begin, _end))
        _note_left_out(outcomes)
        if kept := sum(outcome.status == "kept" for outcome in outcomes):
            print_note(f"{kept} of {len(outcomes)} cells were finished already")
        found = of_grid(grid, outcomes, **counting)
        if not found.runs:
            raise InputError(f"no cell of the study is finished: {_first_reason(outcomes)}")
    _show(found, out, flags, files)
    bad = [o for o in found.outcomes if o.status in ("failed", "waiting")]
    if bad:
        raise InputError(
            f"{len(bad)} of {len(found.outcomes)} cells are not finished: {_first_reason(bad)}; "
            "run the same command to try them again"
        )
    return exit_code(list(_lost(found))) if grid is not None else 0


def _lost(found: Study) -> Iterator[str]:
    """Yield what to do about each cell most of whose answers are lost."""
    for run in found.runs:
        again = f"; to ask for the rest, remove {run.path} and run the same command"
        if few := lost_answers(run.manifest, run.results.all, again):
            yield f"{run.protocol} · {run.model} · {run.data}: {few}"


def _first_reason(outcomes: Sequence[CellOutcome]) -> str:
    one = outcomes[0]
    return f"{one.protocol} · {one.model} · {one.data}: {one.reason}"


def _grid(sources: Sequence[Path], flags: StudyFlags, keys: Mapping[str, Any]) -> Grid | None:
    """Return the grid of a file or of flags; ``None`` for folders of runs."""
    files = [s for s in sources if s.suffix.lower() in YAML]
    command = shlex.join(["sayso", *sys.argv[1:]])
    spec = {n: list(v) if n in (*LISTS, *REPEATED, "answers") else v for n, v in keys.items()}
    if not sources:
        if not spec.get("models") and not spec.get("answers"):
            raise InputError(
                "expected a YAML file, folders of runs, or --models or --answers (sayso study "
                "--help)"
            )
        return read_grid(spec, "--models" if spec.get("models") else "--answers", command)
    if not files:
        making = [name for name in (*LISTS, "answers", *REPEATED) if spec.get(name)]
        if making or flags.dry_run or flags.pilot:
            raise InputError(
                "folders of runs already have models, data and protocols: leave "
                f"{(making or ['--dry-run'])[0]} out"
            )
        return None
    if len(sources) > 1:
        raise InputError(f"{len(sources)} files or folders; expected one YAML file, or folders")
    read_in = {k.replace("-", "_"): v for k, v in read_yaml(files[0], str(files[0])).items()}
    return read_grid({**read_in, **spec}, str(files[0]), command)


def _begin(number: int, total: int, cell: GridCell) -> None:
    if not cell.lacking:
        print_note(f"cell {number + 1} of {total}: {cell.title}")


def _end(number: int, total: int, outcome: CellOutcome) -> None:
    if outcome.status == "done":
        print_note(f"cell {number + 1} of {total}: done in {outcome.seconds:g} s")
    elif outcome.status != "left out":  # those are told together
        print_note(f"cell {number + 1} of {total}: {outcome.status}: {outcome.reason}")


def _note_left_out(outcomes: Sequence[CellOutcome]) -> None:
    """Print each reason for which cells were left out once, with the models that it is about."""
    models: dict[tuple[str, str], dict[str, None]] = {}
    for one in outcomes:
        if one.status == "left out":
            models.setdefault((one.protocol, one.reason), {})[one.model] = None
    for (protocol, reason), named in models.items():
        some = ", ".join(list(named)[:MOST_NAMED])
        more = f" and {len(named) - MOST_NAMED:,} more" if len(named) > MOST_NAMED else ""
        print_note(f"left out: {protocol} of {some}{more}: {reason}")


#: models that a note names
MOST_NAMED = 5


def _list_layouts() -> None:
    rows = {name: layout for name, (_, layout) in layouts().items()}
    shown = {"shows": "title", "of": "reference"}
    table = grid("", rows, shown, lambda one, field: getattr(one, field), labels=("layout",))
    render_table(table, Console())


def _show(found: Study, out: Path, flags: StudyFlags, files: Wanted) -> None:
    """Write page and tables, and print them."""
    console = Console()
    tables, named = _tables(found, flags.layout)
    page = write_study(found, out, named, flags.intervals)
    if files.formats:
        folder = out / FIGURES
        note_figures(write_files(study_figures(found, named), folder, files), folder)
    if flags.json and tables:
        print(json_text([json.loads(json_rows(table)) for table in tables]))
        return
    if flags.json:
        print(json_text(found.table()))
        return
    if tables:
        warn(found, named, console)
        for table in tables:
            render_table(table, console, compact=True)
            console.print()
    else:
        render_study(found, console, verbose=flags.verbose)
    console.print()
    console.print(f"page       {page}", soft_wrap=True, highlight=False, markup=False)
    console.print(f"tables     {out / TABLES}", soft_wrap=True, highlight=False, markup=False)


def _tables(found: Study, names: Sequence[str]) -> tuple[list[NumberTable], list[str]]:
    """Return the tables of layouts, and the names of those that the runs allow.

    Raises InputError where they allow none.
    """
    tables: list[NumberTable] = []
    named: list[str] = []
    for name in names:
        try:
            tables += layout_tables(found, name)
            named.append(name)
        except InputError as error:
            if len(names) == 1:
                raise
            print_note(str(error))
    if names and not named:
        raise InputError("no such layout fits these runs")
    return tables, named


def _sum_of(plan: RunEstimate, kind: str) -> str:
    return between([sum(getattr(s, kind)[end] for s in plan.stages) for end in (0, 1)])


def _price_of(plan: RunEstimate) -> str:
    local = all(label == "local, no price" for label in plan.prices.values())
    return "none" if local else money(plan.dollars)


def _price(study: Grid, flags: StudyFlags) -> StudyPrice:
    """Print what the cells of a grid would ask, and return it."""
    price = price_grid(study, flags.pilot or 0)
    if flags.json:
        print(json_text(msgspec.to_builtins(_as_json(study, price))))
        return price
    for text in dict.fromkeys(c for plan in price.plans.values() for c in plan.cautions):
        print(f"! {text}")
    columns: dict[str, Callable[[RunEstimate], str]] = {
        "requests": lambda plan: _sum_of(plan, "requests"),
        "in the cache": lambda plan: f"{sum(s.cached for s in plan.stages):,}",
        "prompt tokens": lambda plan: _sum_of(plan, "prompt_tokens"),
        "answer tokens": lambda plan: _sum_of(plan, "completion_tokens"),
        "price": _price_of,
    }
    without = {
        n: "left out" if n in price.left_out else "finished" for n in range(len(study.cells))
    }

    def found(number: int, of: str) -> str:
        plan = price.plans.get(number)
        if plan is None:
            return without[number] if of == "requests" else ""
        return columns[of](plan)

    rows = {(cell.title,): number for number, cell in enumerate(study.cells)}
    shown = grid("", rows, {head: head for head in columns}, found, labels=("cell",))
    render_table(shown, Console())
    print(total_text(price.total))
    print("Requests that several cells share are paid for once and counted for the first of them.")
    for text in reads_text([one for plan in price.plans.values() for one in plan.reads]):
        print(text)
    left_out = [(study.cells[n], reason) for n, reason in price.left_out.items()]
    _note_left_out(
        [CellOutcome(c.model, c.data, c.protocol, "", "left out", r) for c, r in left_out]
    )
    return price


def _as_json(grid: Grid, price: StudyPrice) -> dict[str, object]:
    cells = [
        {"protocol": c.protocol, "model": c.model, "data": c.data, "plan": price.plans.get(n),
         "left_out": price.left_out.get(n)}
        for n, c in enumerate(grid.cells)
    ]  # fmt: skip
    return {"cells": cells, "finished": price.finished, **price.total._asdict()}
