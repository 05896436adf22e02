"""The numbers that a change of the code's structure must not move, as lines of text.

``python -m support.frozen OUT`` (in ``tests/``) writes the lines that moved anew, which only a
change that means to move numbers may do, with **[numbers]** in the changelog. Nothing is rounded:
:func:`differences` compares numbers with a small tolerance, since log-probabilities differ in their
last digits between processors.
"""

from __future__ import annotations

import contextlib
import csv
import difflib
import hashlib
import html
import io
import itertools
import json
import math
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq

import sayso
from sayso import cli, report
from sayso.guard.guard import Guard
from sayso.judges.rules.judge import SIGNATURE
from sayso.people.labeling import import_labels
from sayso.people.labels import LabelStore
from sayso.protocols.uncle.prompts import instructions
from sayso.records import Estimate, InputError, signature_text, slice_text
from sayso.report.number_tables import json_rows
from sayso.storage.run_folder import RunFolder
from sayso.studies.report import TABLES, layout_tables, layouts
from sayso.studies.results import Study
from sayso.train.base import halves, open_base_run
from sayso.train.config import TrainConfig
from sayso.train.draws import facts_in
from sayso.train.export import export as export_rows
from sayso.train.proof import prove
from sayso.train.recipes import make, row_counts
from sayso.train.report import write_training_page
from sayso.train.result import Training, read_training, write_training
from sayso.train.training import begin_result
from support import wikidata_world
from support.scripted import ScriptedEngine
from support.urn import Urn

PROTOCOLS = ("uncle", "selective", "faithfulness", "self_known")
ENTITIES = 20
#: in float32 one draw in some thousands is another on another processor
DTYPE = "float64"
#: by which numbers differ between processors, relatively
TOLERANCE = 1e-5
FIELDS = (
    "value", "low", "high", "numerator", "denominator", "n", "missing", "bound_low", "bound_high",
)  # fmt: skip


#: fields that name a part of the leaderboard; two where one is of another
NAMES = ("method", "name", "judge", "score", "a", "b")


def estimates(rows: Iterable[Estimate]) -> Iterator[str]:
    """Yield a line for each number, with a mark of its signature, then the signatures by mark.

    A mark is a hash: a new number in the middle moves no other line.
    """
    signatures: dict[str, str] = {}
    for row in rows:
        signature = signature_text(row.signature)
        mark = signatures.setdefault(signature, hashlib.sha256(signature.encode()).hexdigest()[:8])
        numbers = [_written(getattr(row, field)) for field in FIELDS]
        where, problem = slice_text(row.where), row.problem or "-"
        yield "\t".join([row.name, where, *numbers, problem, f"#{mark}"])
    yield from (f"#{mark}\t{signature}" for signature, mark in signatures.items())


def _written(value: object) -> str:
    return "-" if value is None else repr(value)


def tables(folder: Path) -> Iterator[str]:
    """Yield a line for each file of a run folder, with what its columns hold."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.suffix == ".parquet" and not name.startswith("metrics/"):
            yield name
            table = pq.read_table(path)
            for column in table.column_names:
                yield f"  {column}\t{_digest(table.column(column).to_pylist())}"
        elif path.is_file():
            yield name


def _digest(values: Sequence[object]) -> str:
    """Return a hash of everything but floats, and the sum of the floats."""
    floats: list[float] = []

    def rest(value: object) -> object:
        if isinstance(value, float):
            floats.append(value if math.isfinite(value) else 0.0)
            return "float"
        if isinstance(value, dict):
            return {str(k): rest(v) for k, v in value.items()}
        return [rest(v) for v in value] if isinstance(value, list | tuple) else str(value)

    text = json.dumps([rest(v) for v in values], sort_keys=True)
    return f"{hashlib.sha256(text.encode()).hexdigest()[:16]} {math.fsum(floats)!r}"


def page(path: Path) -> Iterator[str]:
    """Yield the numbers in the tables of a page, a line for each row that has some."""
    text = path.read_text(encoding="utf-8").partition('<section id="made">')[0]  # dates, seconds
    for row in re.findall(r"<tr.*?</tr>", text, re.DOTALL):
        cells = re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL)
        words = html.unescape(re.sub(r"<[^>]*>", " ", " | ".join(cells)))
        numbers = re.findall(r"[-−+]?\d*\.?\d+", words)
        if numbers:
            yield " ".join(numbers)


def run(protocol: str, folder: Path) -> dict[str, list[str]]:
    """Run a protocol on the built-in model and return its numbers, tables and page."""
    result = sayso.run(protocol, limit=ENTITIES, out=folder, dtype=DTYPE, report=False)
    written = report.write(folder)  # what a run writes at its end
    again = sayso.measure(folder)
    assert list(estimates(again.estimates)) == list(estimates(result.estimates))
    return {
        "estimates": list(estimates(result.estimates)),
        "tables": list(tables(folder)),
        "page": list(page(written)),
    }


def compared(a: Path, b: Path) -> list[str]:
    """Return the differences of two runs of other entities' draws."""
    return list(estimates(sayso.compare(a, b, allow=("seed",)).estimates))


def scored(selective: Path, folder: Path) -> list[str]:
    """Return scores and leaderboard of 100 answers of a selective run."""
    source, target = folder / "answers.jsonl", folder / "scored.jsonl"
    source.write_text("".join(f"{json.dumps(row)}\n" for row in _answers(selective)))
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        assert cli.execute(["score", str(source), "--out", str(target), "--json"]) == 0
    found = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    names = sorted({name for row in found for name in row})
    columns = {name: [row.get(name) for row in found] for name in names}
    lines = [f"{name}\t{_digest(values)}" for name, values in columns.items()]
    return [*lines, *_flat(json.loads(said.getvalue())["board"])]


def _flat(value: object, place: str = "board") -> Iterator[str]:
    """Yield a line for each number of a JSON document, with its place.

    What has a name is in the place of its name, not of its rank.
    """
    if isinstance(value, dict | list):
        items = list(value.items() if isinstance(value, dict) else enumerate(value))
        names = [_name_in(part) for part in value] if isinstance(value, list) else []
        if names and all(names) and len(set(names)) == len(names):
            items = sorted(zip(names, value, strict=True))
        for name, part in items:
            yield from _flat(part, f"{place}.{name}")
    elif isinstance(value, float | int):
        yield f"{place}\t{value!r}"


def _name_in(value: object) -> str:
    """Return what a part of a document is called; "" where it has no name of its own."""
    names = [value.get(key) for key in NAMES] if isinstance(value, dict) else []
    return " ".join(name for name in names if isinstance(name, str))


def _answers(selective: Path) -> Iterator[dict[str, object]]:
    def rows(name: str) -> list[dict[str, object]]:
        return pq.read_table(selective / name).to_pylist()  # type: ignore[no-any-return]

    questions = {q["id"]: q for q in rows("questions.parquet")}
    drawn: dict[object, list[dict[str, object]]] = {}
    for draw in rows("generations/draws.parquet"):
        drawn.setdefault(draw["question"], []).append(draw)
    plain = (a for a in rows("generations/short.parquet") if not a["instructed"])
    for answer in itertools.islice(plain, 100):
        draws, question = drawn[answer["question"]][:5], questions[answer["question"]]
        yield {
            "question": question["text"],
            "answer": answer["text"],
            "samples": [d["text"] for d in draws],
            "token_logprobs": answer["logprobs"],
            "sample_token_logprobs": [d["logprobs"] for d in draws],
            "gold": [gold["value"] for gold in question["golds"] or ()],  # type: ignore[attr-defined]
        }


def training_base(folder: Path) -> Path:
    """Run uncle in float32, as trainings open a model on a CPU; return the run's folder."""
    sayso.run("uncle", limit=ENTITIES, out=folder / "base", report=False)
    return folder / "base"


def exported(base: Path, folder: Path, recipe: str) -> list[str]:
    """Return what is in the rows that a recipe makes of a run, for another trainer."""
    command = ["train", str(base), "--recipe", recipe, "--export", "trl", "--train-limit", "20"]
    with contextlib.redirect_stdout(io.StringIO()):
        assert cli.execute([*command, "--out", str(folder)]) == 0
    return list(_exported(folder / "export"))


# ---- runs that version 0.2.0 made, stored: labels of people, a guard with its log, a training

RUNS = Path(__file__).parents[1] / "golden" / "runs"
#: files that other tools wrote
TOOLS = RUNS.parent / "tools"


def copied(folder: Path, *names: str) -> list[Path]:
    """Copy stored runs into a folder, under their own names, and return where they are."""
    return [Path(shutil.copytree(RUNS / name, folder / name)) for name in names]


def keys(value: object, place: str = "") -> Iterator[str]:
    """Yield a line for each name that a JSON document uses, once."""
    found: dict[str, None] = {}

    def look(part: object, place: str) -> None:
        if isinstance(part, dict):
            for name, inner in part.items():
                found.setdefault(f"key\t{place}{name}")
                look(inner, f"{place}{name}.")
        elif isinstance(part, list):
            for inner in part:
                look(inner, place)

    look(value, f"{place}." if place else "")
    yield from found


def printed(*command: str | Path, code: int = 0) -> list[object]:
    """Return the JSON documents, a line or the whole, that a command prints."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        assert cli.execute([str(word) for word in command]) == code
    text = said.getvalue()
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines()]


def labelled(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield what people's labels make of two runs, what of a page, and what an assertion says."""
    uncle, selective, after = copied(folder, "uncle", "selective", "training/runs/dpo-0")
    with LabelStore.open(selective) as store:
        import_labels(selective, store, RUNS / "selective-labels.jsonl")
    for run in (uncle, selective):
        measured = printed("measure", run, "--json")
        agreed = printed("agreement", run, "--json")
        yield (
            f"labelled.{run.name}",
            [
                *corrected(run),
                *_agreement(run),
                *keys(measured, "measure"),
                *keys(agreed, "agreement"),
            ],
        )
    yield "labelled.page", list(page(report.write(uncle)))
    sayso.export(uncle, folder / "answers.csv")
    columns = (folder / "answers.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    both = printed("compare", uncle, after, "--json")
    yield (
        "labelled.compared",
        [
            *estimates(sayso.compare(uncle, after).estimates),
            *keys(both, "compare"),
            *(f"column\t{name}" for name in columns),
            *_asserted(uncle, ("FA[short] >= .2", "KCR[short] >= .9", "J[short] >= .1")),
        ],
    )


def corrected(run: Path) -> Iterator[str]:
    """Yield the numbers of a run that labels correct, the labels alone, and what they rest on."""
    numbers = sayso.correct(run)
    for kind in ("corrected", "alone"):
        yield from (f"{kind}\t{line}" for line in estimates(getattr(one, kind) for one in numbers))
    for one in numbers:
        counts = (one.labels, one.rows, one.disagreements, one.gain, one.power)
        where = slice_text(one.raw.where)
        yield "\t".join(["labels", one.raw.name, where, *map(_written, counts)])


def _agreement(run: Path) -> Iterator[str]:
    for kind in sayso.agreement(run).kinds:
        place = f"agreement\t{kind.kind}\t{kind.stage}"
        yield from (f"{place}\t{line}" for line in estimates(kind.numbers))


def _asserted(run: Path, texts: Sequence[str]) -> Iterator[str]:
    """Yield what is said of assertions, by the judge's numbers and by the corrected ones."""
    for raw in (True, False):
        for text in texts:
            (one,) = sayso.check_assertions(run, text, raw=raw)
            yield f"assert\t{text}\t{raw}\t{one.verdict}"


#: scores around the limits of the stored guards
ASKED = (0.0, 0.3, 0.613, 0.614, 0.725, 0.8, 0.976, 0.98, None)


def guarded(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield what a guard is fitted to, what it decides, and what a watch sees in a log."""
    selective, guards = copied(folder, "selective", "guard")
    with LabelStore.open(selective) as store:
        import_labels(selective, store, RUNS / "selective-labels.jsonl")
    of_run = ("--score", "perplexity", "--max-error", ".6", "--confidence", ".6")
    of_file = ("--score", "risk", "--max-error", ".1", "--confidence", ".9")
    lines: list[str] = []
    for source, flags in ((selective, of_run), (guards / "earlier.jsonl", of_file)):
        fitted = printed("guard", "fit", source, *flags, "--json", "--out", folder / "new.json")
        lines += [*_flat(fitted[0], source.stem), *keys(fitted[0], source.stem)]
    for name in ("guard", "guard-costs"):
        guard = Guard.load(guards / f"{name}.json")
        decided = (guard("When?", "In 1815.", score=score) for score in ASKED)
        lines += [f"{name}\t{d.score}\t{d.action}\t{d.limit}" for d in decided]
    yield "guard", lines
    yield "watch", list(_watched(guards))
    yield "watch.page", list(page(guards / "watch.html"))


def as_read_today(path: Path) -> None:
    """Let a file of version 0.2.0 name today's reader: what another one read is not continued."""
    path.write_text(path.read_text("utf-8").replace("rules@10", SIGNATURE), "utf-8")


def _watched(folder: Path) -> Iterator[str]:
    """Yield the events and the states of a watch of a whole log, and of one that goes on."""
    guard = folder / "guard.json"
    as_read_today(folder / "watch.json")
    command = (
        "watch",
        folder / "log.jsonl",
        "--against",
        folder / "earlier.jsonl",
        "--set",
        "once=true",
    )
    for state, flags in (
        ("new.json", ("--every", "50", "--page", folder / "watch.html", "--keep-guard")),
        (
            "watch.json",
            (
                "--every",
                "0",
            ),
        ),
    ):
        flags = ("--guard", guard, "--state", folder / state, *flags)
        events = printed(*command, *flags, code=1)
        for number, event in enumerate(events):
            yield from _flat(event, f"{state}.{number}")
        yield from keys(events, state)
        for name, value in json.loads((folder / state).read_bytes()).items():
            if name not in ("about", "place"):  # where the files lie
                yield f"{state}\t{name}\t{_digest([value])}"
        decided = Guard.load(guard)("When?", "In 1815.", score=0.0)
        yield f"{state}\tguard\t{decided.action}"


#: how the stored training was made
TRAINED = TrainConfig(
    recipe="mix", preset="builtin", train_limit=14, sft_rows=160, dpo_rows=80, sft_epochs=6,
    dpo_epochs=2,
)  # fmt: skip


def trained(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield rows, table and page of a training, from what it stored: nothing is trained."""
    with contextlib.chdir(folder):  # the runs name each other
        copied(Path("runs"), "uncle")
        copied(Path(), "training")
        for manifest in Path().rglob("manifest.json"):
            as_read_today(manifest)
        done = _trained(Path("training"))
    write_training(folder / "training", done)
    yield "training", [
        *(f"rows\t{kind}\t{number}" for kind, number in done.rows.items()),
        *_exported(folder / "training" / "export"),
        *_table(done),
        *(f"sample\t{sample.form}\t{_digest([sample.before, sample.after])}"
          for sample in done.samples),
        *(f"points\t{curve.stage}\t{len(curve.points)}" for curve in done.curves),
    ]  # fmt: skip
    yield "training.page", list(page(write_training_page(folder / "training")))


def _trained(folder: Path) -> Training:
    """Make rows and table of the stored training anew."""
    base = open_base_run("runs/uncle", model=_asked(Path("runs/uncle")), cache="cache")
    preset, settings = TRAINED.resolved("builtin")
    parts = halves(base, TRAINED.limit, TRAINED.train_limit)
    wording, size = instructions(base.settings), (preset.sft.rows, preset.dpo.rows)
    facts = facts_in(RunFolder.open(folder / "draws"))
    rows = make(TRAINED.recipe, facts, settings, wording, size, 0)  # type: ignore[arg-type]
    export_rows([*rows.sft, *rows.dpo], folder / "export", "trl")
    begun = begin_result(base, parts, TRAINED, preset, settings, "")
    begun = msgspec.structs.replace(
        begun, rows=row_counts(rows), curves=read_training(folder).curves
    )
    return prove(base, parts, {"dpo": [_asked(folder / "runs" / "dpo-0")]}, folder, begun)


def _asked(run: Path) -> ScriptedEngine:
    """Return an engine that passes for the model of a run and answers nothing."""
    manifest = RunFolder.open(run).read_manifest()
    engine = ScriptedEngine({}, name=manifest.model)
    engine.identity, engine.base = manifest.model_identity, manifest.model_base
    engine.signature = manifest.model_signature
    return engine


def _table(done: Training) -> Iterator[str]:
    """Yield the cells and the differences of a training."""
    for cell in done.cells:
        numbers = (_written(getattr(cell.estimate, field)) for field in FIELDS)
        problem = cell.estimate.problem or "-"
        yield "\t".join(["cell", cell.method, cell.form, cell.estimate.name, *numbers, problem])
    for change in done.changes:
        e = change.difference
        numbers = (_written(n) for n in (e.value, e.low, e.high, change.p, change.p_holm))
        yield "\t".join(["change", change.method, change.form, e.name, *numbers])


def _exported(folder: Path) -> Iterator[str]:
    """Yield a line for each file of rows."""
    for path in sorted(folder.glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        yield f"{path.name}\t{len(rows)}\t{_digest(rows)}"


# ---- a study that version 0.2.0 made, stored: measured, compared, asserted and scored again

#: bootstrap resamples of the stored study
FEW = 200
#: assertions about runs of the study; those of pairs after it
ASSERTED = {
    "builtin/people/uncle": (
        "J[short] >= 0", "FA[short] >= .5", "UUR[long] >= .9", "KCR[short] >= .5", "missing <= 2%",
        "UUR[long] <= .99", "entities >= 6",
    ),
    "guesser/people/selective": (
        "error_rate[short, rules] <= .2", "auroc[short, rules, semantic_entropy] >= .5",
    ),
}  # fmt: skip
COMPARED = {
    ("builtin/people/uncle", "guesser/people/uncle"): (
        "p_known[short] >= 0", "UUR[short] not worse by .1", "J[short] >= -.1", "FA[long] >= .6",
    ),
    ("builtin/people/selective", "builtin-trained/people/selective"): (
        "error_rate[short] not worse by .9", "error_rate[short] not worse by .05",
    ),
}  # fmt: skip


def studied(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the numbers of a stored study, its tables as CSV, and the layouts of papers."""
    (study,) = copied(folder, "study")
    rows: Any = printed("study", study, "--set", f"resamples={FEW}", "--json")[0]
    assert (study / "index.html").is_file()
    for protocol in PROTOCOLS:
        yield (
            f"study.{protocol}",
            list(_study_rows([row for row in rows if row["protocol"] == protocol])),
        )
    files = sorted((study / TABLES).rglob("*.csv"))
    yield "study.csv", [line for file in files for line in _csv(file, study)]
    yield "study.layouts", list(_layouts(sayso.study([study], resamples=FEW)))


def _layouts(study: Study) -> Iterator[str]:
    """Yield the tables in the layout of a paper that a study allows."""
    for name in layouts():
        with contextlib.suppress(InputError):  # these runs do not allow it
            for table in layout_tables(study, name):
                document = json.loads(json_rows(table))
                yield from (f"{table.name}.{key}" for key in document)
                yield from _cells(table.name, document["rows"], SHOWN)


def _study_rows(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the columns of a study's rows, a line for each row, then the problems by their mark."""
    yield "\t".join(dict.fromkeys(name for row in rows for name in row))
    without = [{k: v for k, v in row.items() if k != "meaning"} for row in rows]
    yield from _cells("", without, (*SHOWN, "rank_best", "rank_worst", "corrected"))


def _cells(place: str, rows: Iterable[dict[str, Any]], last: Sequence[str]) -> Iterator[str]:
    """Yield a line for each row of a table: its names, then its numbers and a mark for its problem.

    The problems follow by their marks.
    """
    problems: dict[str, str] = {}
    for row in rows:
        why = row.get("problem")
        mark = hashlib.sha256(why.encode()).hexdigest()[:8] if isinstance(why, str) else "-"
        if isinstance(why, str):
            problems[mark] = why
        names = [f"{k}={v}" if k not in NAMED else f"{v}" for k, v in row.items() if k not in last]
        numbers = [_written(row.get(name)) for name in last if name != "problem"]
        yield "\t".join([place, *names, *numbers, f"#{mark}"]).strip()
    yield from (f"#{mark}\t{why}" for mark, why in problems.items())


#: columns whose values say what they are; those of a number
NAMED = ("protocol", "model", "data", "name")
SHOWN = ("value", "low", "high", "n", "problem")


def _csv(path: Path, folder: Path) -> Iterator[str]:
    """Yield the name of a CSV file, then each of its columns with what it holds."""
    with path.open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    yield f"{path.relative_to(folder).as_posix()}\t{len(rows)}"
    for number, name in enumerate(head):
        cells = [row[number] for row in rows]
        values = [float(cell) if "." in cell and _is_number(cell) else cell for cell in cells]
        yield f"  {name}\t{_digest(values)}"


def asserted(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield what is decided of assertions about runs and pairs of runs of a stored study."""
    (study,) = copied(folder, "study")
    lines: list[str] = []
    files = ("--junit", study / "decided.xml", "--markdown", study / "decided.md", "--json")
    for run, texts in ASSERTED.items():
        found = printed("assert", study / run, *texts, *files, code=1)[0]
        lines += _decided(run, found)
    for (a, b), texts in COMPARED.items():
        flags = [word for text in texts for word in ("--assert", text)]
        flags += ["--set", f"resamples={FEW}"]
        code = 1 if "FA[long] >= .6" in texts else 3
        found = printed("compare", study / a, study / b, *flags, *files, code=code)[0]
        lines += _decided(f"{b} minus {a}", found)
    assert {line.split("\t")[2] for line in lines if "\t" in line} >= {
        "holds", "does not", "cannot say yet",
    }  # fmt: skip
    yield "study.asserted", lines


def _decided(place: str, found: Any) -> Iterator[str]:
    """Yield what is decided of each assertion; how many entities would settle it, apart."""
    fields = (
        "verdict", "protocol", "name", "value", "low", "high", "level", "error", "n", "missing",
        "entities", "difference", "labels",
    )  # fmt: skip
    yield " ".join([place, *found, found["verdict"], str(found["exit_code"])])
    yield " ".join([place, *found["decided"][0]])
    for one in found["decided"]:
        yield "\t".join([place, one["assertion"], *(str(one[name]) for name in fields)])
        if one["needed"] is not None:
            yield f"{place} needed {one['assertion']} {one['needed']}"


def audited(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield scores and leaderboard of answers of a stored study that three people labeled."""
    (study,) = copied(folder, "study")
    source, target = folder / "labeled.csv", folder / "scored.csv"
    rows = [
        row
        for model in ("builtin", "guesser")
        for data in ("people", "diseases")
        for row in _labeled_answers(study / model / data / "selective")
    ]
    with source.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(
            {k: v if isinstance(v, str) else json.dumps(v) for k, v in row.items()} for row in rows
        )
    written = folder / "scored.html"
    found: Any = printed("score", source, "--out", target, "--report", written, "--json")[0]
    assert written.is_file()
    fields = (f"column {name}" for name in found)
    yield "study.scored", [*_csv(target, folder), *fields, *_flat(found["board"])]


def _labeled_answers(selective: Path) -> Iterator[dict[str, object]]:
    """Yield answers with the verdicts of three people: the judge's, two of them with slips."""
    verdicts = pq.read_table(selective / "verdicts" / "short.parquet").to_pylist()
    right = {row["target"]: int(row["content"] == "correct") for row in verdicts}
    drawn = pq.read_table(selective / "generations" / "short.parquet").to_pylist()
    plain = [right[row["id"]] for row in drawn if not row["instructed"]]
    for number, (row, verdict) in enumerate(zip(_answers(selective), plain, strict=True)):
        second = 1 - verdict if number % 7 == 3 else verdict
        third = None if number % 5 == 2 else 1 - verdict if number % 11 == 6 else verdict
        yield {**row, "human": [verdict, second, third]}


# ---- what no run reaches: checks, files of other tools, a benchmark from a dump


def checked(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the findings on a scripted model and on the offline judge."""
    found = sayso.check(Urn(top_k=9))
    yield "check.model", [f"{one.what}\t{one.answer}" for one in found.findings]
    judge = printed("judge-check", "rules", "--labeled", "silence", "--json")
    yield "check.judge", [n for n in _flat(judge, "judge") if "seconds" not in n]


def imported(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the numbers of answers in files of other tools, and of a run exported for Inspect."""
    lines = []
    for number, file in enumerate(sorted(TOOLS.iterdir())):
        out = folder / str(number)
        settings = ("--set", "draws.k=0", "--set", "known_k=0", "--set", "resamples=200")
        with contextlib.suppress(json.JSONDecodeError):
            printed("run", "selective", "--answers", file, "--out", out, "--json", *settings)
        for manifest in sorted(out.rglob("manifest.json")):
            numbers = RunFolder.open(manifest.parent).read("metrics/selective", Estimate)
            lines += [f"{file.name}\t{line}" for line in estimates(numbers)]
    yield "imported", lines


def built(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the questions that are built from a small dump, and what a check of them finds."""
    (folder / "dump.json").write_bytes(wikidata_world.dump())
    (folder / "domains.yaml").write_text(wikidata_world.DOMAINS, encoding="utf-8")
    place = folder / "mine"
    for words in (("dump.json", "--domains", "domains.yaml", "--out", "mine"), ("mine",)):
        with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
            assert cli.execute(["build", *words]) == 0
    rows = (place / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    findings = printed("data", "check", place / "questions.jsonl", "--json")
    yield "built", [*rows, *_flat(findings, "check")]


def measured(run: Path) -> tuple[list[str], list[str]]:
    """Return the numbers of a stored run when it was made, and today, those that still exist."""
    stored = RunFolder.open(run).read(f"metrics/{run.name}", Estimate)
    today = sayso.measure(run).estimates
    still = {(one.name, one.where) for one in today}
    return (
        list(estimates(one for one in stored if (one.name, one.where) in still)),
        list(estimates(today)),
    )


def differences(frozen: Sequence[str], found: Sequence[str]) -> list[str]:
    """Return the lines that moved, came or went; numbers may differ by ``TOLERANCE``."""
    wrong, number = [], 0
    for a, b in aligned(frozen, found):
        number += a is not None
        if a is None:
            wrong.append(f"after line {number}: new {b!r}")
        elif b is None:
            wrong.append(f"line {number}: frozen {a!r}, now gone")
        elif not _alike(a.split(), b.split(), TOLERANCE):
            wrong.append(f"line {number}: frozen {a!r}, now {b!r}")
    return wrong


def aligned(
    frozen: Sequence[str], found: Sequence[str], key: Callable[[str], str] = str
) -> Iterator[tuple[str | None, str | None]]:
    """Yield the pairs of lines that belong together: equal ones, then ones with equal words."""
    keys = [key(line) for line in frozen], [key(line) for line in found]
    matcher = difflib.SequenceMatcher(None, *keys, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal" or (kind == "replace" and key is not str and b - a == d - c):
            yield from zip(frozen[a:b], found[c:d], strict=True)
        elif kind == "replace" and key is str:
            yield from aligned(frozen[a:b], found[c:d], _words)
        else:
            yield from ((line, None) for line in frozen[a:b])
            yield from ((None, line) for line in found[c:d])


def _words(line: str) -> str:
    return " ".join(word for word in line.split() if not _is_number(word))


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _alike(a: Sequence[str], b: Sequence[str], tolerance: float) -> bool:
    def same(x: str, y: str) -> bool:
        try:
            return x == y or math.isclose(float(x), float(y), rel_tol=tolerance, abs_tol=1e-7)
        except ValueError:
            return False

    return len(a) == len(b) and all(map(same, a, b))


def updated(frozen: Sequence[str], found: Sequence[str]) -> list[str]:
    """Return what was found, but the frozen line wherever it differs by no more than rounding."""
    return [
        a if a is not None and _alike(a.split(), b.split(), TOLERANCE) else b
        for a, b in aligned(frozen, found)
        if b is not None
    ]


#: what is frozen of stored runs: each yields names of files and their lines
STORED: dict[str, Callable[[Path], Iterator[tuple[str, list[str]]]]] = {
    "labelled": labelled,
    "guarded": guarded,
    "trained": trained,
    "studied": studied,
    "asserted": asserted,
    "audited": audited,
    "checked": checked,
    "imported": imported,
    "built": built,
}


def everything(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and the lines of every frozen file."""
    for protocol in PROTOCOLS:
        # a cache of its own: answers that are there already change what is batched together, and
        # with it the last digits of log-probabilities, on which a draw may hang
        os.environ["SAYSO_CACHE"] = str(folder / f"cache-{protocol}")
        for kind, lines in run(protocol, folder / protocol).items():
            yield f"{protocol}.{kind}", lines
    os.environ["SAYSO_CACHE"] = str(folder / "cache-selective")
    sayso.run("selective", limit=ENTITIES, seed=1, out=folder / "other", dtype=DTYPE, report=False)
    yield "selective.compared", compared(folder / "selective", folder / "other")
    yield "score", scored(folder / "selective", folder)
    os.environ["SAYSO_CACHE"] = str(folder / "cache-uncle")
    base = training_base(folder)
    for recipe in ("mix", "calibrated"):
        yield f"train.{recipe}", exported(base, folder / recipe, recipe)
    yield from stored(folder)


def stored(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and the lines of every frozen file of stored runs."""
    for name, lines_of in STORED.items():
        place = folder / "stored" / name
        place.mkdir(parents=True)
        yield from lines_of(place)


if __name__ == "__main__":
    import tempfile

    out = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        for stem, lines in everything(Path(name)):
            path = out / f"{stem}.txt"
            before = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
            kept = updated(before, lines)
            path.write_text("\n".join(kept) + "\n", encoding="utf-8")
            print(f"{stem}: {len(kept)} lines, {len(differences(before, kept))} differ")
