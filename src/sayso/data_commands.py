"""``sayso data``: what question sets hold, and what is wrong with them."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated

import cyclopts
import msgspec
from cyclopts import Parameter

from sayso.records import Generation, InputError, Verdict

data_app = cyclopts.App(name="data", help="Look at question sets before a model is asked.")
data_app.command(
    "sayso.data_showing:list_sets",
    name="list",
    help="List the question sets: what each holds, its license, what it suits, its hub id.",
)
data_app.command(
    "sayso.data_showing:show",
    name="show",
    help="Show the first questions of a set with their golds, as a run would ask them.",
)

SHOWN = 5


@data_app.command(name="check")
def check(
    data: Annotated[
        str, Parameter(help="a set by name, or a file: everything that --data of sayso run takes")
    ],
    /,
    *,
    runs: Annotated[
        list[Path] | None,
        Parameter(
            help="runs of sayso run uncle on this set, of unrelated models: golds that they agree "
            "against are listed",
            consume_multiple=True,
        ),
    ] = None,
    all: Annotated[bool, Parameter(help="print all findings, not five of a kind")] = False,
    columns: Annotated[
        str, Parameter(help="names of your columns: question=q,gold=answer (for file:FILE)")
    ] = "",
    split: Annotated[str, Parameter(help="part of the set: test, dev or train")] = "test",
    json: Annotated[bool, Parameter(help="print every finding as JSON", negative="")] = False,
) -> None:
    """Find duplicates, golds in questions, ambiguous entities, empty strata, disputed golds."""
    from sayso import datasets
    from sayso.annotate.contradict import contradicts
    from sayso.datasets.own import with_columns
    from sayso.report.clean import line
    from sayso.rows import read_rows
    from sayso.wikidata.quality import KINDS, card_beside, findings

    data = with_columns(data, columns)
    loaded = datasets.load(data, split=split, limit=0)
    path = Path(data.partition(":")[2] if not Path(data).exists() else data)
    rows = []
    if path.is_file() and path.suffix in (".jsonl", ".ndjson", ".json", ".parquet"):
        try:
            rows = [row for _, row in read_rows(path)]
        except InputError:  # a published set's own format: its loader has read it
            rows = []
    found = findings(
        loaded.questions,
        rows,
        card_beside(path) if rows else None,
        [_wrong(run) for run in runs or ()],
        (lambda question, a, b: contradicts(question, a, b) is False) if runs else None,
    )
    if json:
        from sayso.report.clean import plain_json

        print(plain_json(msgspec.json.format(msgspec.json.encode(found)).decode()))
        return
    sizes = {"question": loaded.short, "prompt": loaded.long, "finding": found}
    told = (f"{len(many):,} {what}{'s' * (len(many) != 1)}" for what, many in sizes.items())
    print(f"{line(loaded.name)}: {', '.join(told)}")
    counts = Counter(one.kind for one in found)
    for kind, what in KINDS.items():
        print(f"{kind}: {counts[kind]:,} ({what})")
        own = [one for one in found if one.kind == kind]
        for one in own if all else own[:SHOWN]:
            print(f"   {line(' | '.join(one.about))}: {line(one.why)}")
    for note in loaded.notes:
        print("note:", line(note), file=sys.stderr)


def _wrong(run: Path) -> tuple[str, dict[str, str]]:
    """Return a run's base model and its short answers that were committed and judged wrong."""
    from sayso.store import RunFolder

    folder = RunFolder.open(run)
    manifest = folder.read_manifest()
    if not (folder.has("generations/short") and folder.has("verdicts/short")):
        raise InputError(f"{run}: has no short answers; expected a run of sayso run uncle")
    wrong = {v.target for v in folder.iter("verdicts/short", Verdict) if v.value == "incorrect"}
    answers = folder.iter("generations/short", Generation)
    base = manifest.model_base or manifest.model_identity or manifest.model
    return base, {one.question: one.text for one in answers if one.id in wrong}


__all__ = ["check", "data_app"]
