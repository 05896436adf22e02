"""``sayso export``: the answers of a run as a table for a spreadsheet or another program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from sayso.cli.printing import print_note, safe_one_line
from sayso.runs.export import export as export_run


def export(
    run: Annotated[Path, Parameter(help="a run folder")],
    out: Annotated[
        Path,
        Parameter(help="output file: .csv, .tsv, .xlsx, .jsonl or .parquet"),
    ],
    /,
    *,
    force: Annotated[
        bool, Parameter(help="overwrite a file that sayso export did not write", negative="")
    ] = False,
) -> None:
    """Write a run's answers as a table with a row for each short answer and aspect of a text.

    With what was asked, the golds, what the judge read, and the draws that say what is known.
    """
    done = export_run(run, out, force=force)
    if done.cut:
        cells = "1 cell was" if done.cut == 1 else f"{done.cut:,} cells were"
        print_note(
            f"{cells} cut: an .xlsx cell holds at most 32,767 characters; .csv, .jsonl and "
            ".parquet have no limit"
        )
    print(safe_one_line(f"{done.rows:,} rows written to {done.path}"))
