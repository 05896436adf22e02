"""``sayso label`` and ``sayso agreement``: what people say of a run's answers, and of its judge."""

from __future__ import annotations

import contextlib
import dataclasses
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from sayso.cli.commands import with_options
from sayso.later import Later
from sayso.options import flag
from sayso.people.choices import LabelChoices
from sayso.records import InputError

if TYPE_CHECKING:
    from sayso.cli import printing
    from sayso.people import agreement as agreements
    from sayso.people import labeling as labelings
    from sayso.people import labels as stores
    from sayso.people import server as servers
    from sayso.report import sheet
else:  # loaded when somebody labels
    printing = Later("sayso.cli.printing")
    agreements = Later("sayso.people.agreement")
    labelings = Later("sayso.people.labeling")
    stores = Later("sayso.people.labels")
    servers = Later("sayso.people.server")
    sheet = Later("sayso.report.sheet")


@dataclasses.dataclass(frozen=True, kw_only=True)
class LabelFlags(LabelChoices):
    """The flags of ``sayso label``."""

    annotator: str = flag("", "name of the person who labels; default: the page asks")
    port: int | None = flag(None, "port of the page on this machine; default: from 8740")
    export: Path | None = flag(None, "write all labels to a .jsonl, .csv or .tsv file, and end")
    import_: Path | None = flag(
        None, "store the labels of such a file or of a sheet, and end", flag="--import"
    )
    sheet: Path | None = flag(
        None,
        "write the items of --annotator to a file to label in a spreadsheet, and end",
    )


@with_options
def label(
    run: Annotated[Path, Parameter(help="folder of a finished run")],
    /,
    *,
    flags: LabelFlags,
) -> int:
    """Label answers of a run on a page on this machine, to check its judge.

    You see neither what the judge said nor which model answered. Labels are stored in the run
    folder (labels.sqlite) as you go: stop at any time, and the same command resumes.
    """
    modes = [name for name in ("export", "import_", "sheet") if getattr(flags, name) is not None]
    if len(modes) > 1:
        raise InputError("--export, --import and --sheet: pass one of them at a time")
    annotator = stores.check_annotator(flags.annotator) if flags.annotator else ""
    if flags.export is not None:
        number = labelings.export_labels(run, flags.export, force=flags.force)
        printing.tell(f"{flags.export}: {number:,} rows")
        return 0
    with labelings.open_store(run) as store:
        if annotator:
            annotator = stores.check_annotator(annotator, store.annotators())
        if flags.import_ is not None:
            read, merged = labelings.import_labels(run, store, flags.import_, annotator)
            printing.tell(labelings.imported_text(flags.import_, read, merged))
            if note := labelings.draw_note(store, read):
                printing.print_note(note)
        else:
            _label(run, store, annotator, flags)
    return 0


def _label(
    run: Path,
    store: stores.LabelStore,
    annotator: str,
    flags: LabelFlags,
) -> None:
    """Write a sheet, or serve the page until somebody ends it. What is refused draws nothing."""
    if flags.sheet is not None:
        if not annotator:
            raise InputError("--sheet needs --annotator NAME: whose items are written?")
        stores.check_place(flags.sheet, flag="--sheet", force=flags.force)
        opened = _opened(run, store, annotator, flags)
        number = labelings.write_sheet_of(opened, annotator, flags.sheet, force=flags.force)
        command = f"sayso label {shlex.quote(str(run))} --import {shlex.quote(str(flags.sheet))}"
        columns = labelings.columns_text(opened.kind)
        printing.tell(f"{flags.sheet}: {number:,} items to label. {columns}; then run: {command}")
        return
    try:
        listening = servers.listen(flags.port)
    except ModuleNotFoundError as error:
        raise InputError(
            f"the page needs {error.name}, which is not installed: pip install 'sayso[label]'; "
            "--sheet FILE labels in a spreadsheet without it"
        ) from None
    with listening:
        opened = _opened(run, store, annotator, flags)
        server = servers.label_server(opened, annotator, listening)
        who = f" as {annotator}" if annotator else ""

        def ready() -> None:
            print(f"Label {opened.title} of {run}{who} on this page: {server.address}", flush=True)
            print(
                "Every label is saved at once. Ctrl+C ends; the same command resumes.", flush=True
            )

        with contextlib.suppress(KeyboardInterrupt):
            servers.serve(server, ready)
    printing.tell(labelings.progress_text(opened))


def _opened(
    run: Path, store: stores.LabelStore, annotator: str, flags: LabelFlags
) -> labelings.Labeling:
    """Return the items to label, drawn where they are not yet; print what is to be told of them."""
    opened = labelings.open_labeling(run, store, flags)
    for notice in opened.notices:
        printing.print_note(notice)
    if annotator:  # so that what cannot be shown is said before the address
        opened.work(annotator)
        for notice in opened.notes(annotator):
            printing.print_note(notice)
    return opened


@dataclasses.dataclass(frozen=True, kw_only=True)
class AgreementFlags:
    """The flags of ``sayso agreement``."""

    examples: int = flag(10, "number of items to show on which judge and people differ")
    json: bool = flag(False, "print the result as JSON")


@with_options
def agreement(
    *runs: Annotated[Path, Parameter(help="folders of labeled runs; several are compared")],
    flags: AgreementFlags,
) -> int:
    """Show how far a run's judge agrees with the people who labeled it, and they with each other.

    It also says how many labels would halve the interval of the first number that they correct.
    """
    if not runs:
        raise InputError("agreement needs a labeled run; to label one: sayso label RUN")
    if flags.examples < 0:
        raise InputError(f"--examples {flags.examples}: expected 0 or more")
    results = [agreements.agreement(run, examples=flags.examples) for run in runs]
    if flags.json:
        printing.print_json(results[0] if len(results) == 1 else results)
        return 0
    sheet.render_sheet(agreements.agreement_sheet(results), printing.terminal(), verbose=True)
    return 0
