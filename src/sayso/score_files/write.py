"""Writing scored rows in the form in which they came: JSONL, Parquet, or CSV.

A file is written beside its name and takes it at the end, so that an interrupted run leaves what
was there. Parquet keeps the columns of the input as they are and gains ours.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.datasets.answer_rows import AnswerRow
from sayso.datasets.columns import COLUMNS
from sayso.datasets.tables import stem_of, suffix_of
from sayso.records import InputError
from sayso.scores import SCORES
from sayso.scores.p_ik import P_IK
from sayso.storage.atomic import disk_errors, replacing
from sayso.storage.outputs import any_length, check_output, export_cell, harmless, separator_of

#: the column that says why a row lacks a score; every row has it, and a file is known as ours by it
PROBLEMS = "score_problems"

#: rows of one Parquet row group.
ROW_GROUP = 4096

_JSON = msgspec.json.Encoder()

#: the new values of a row
New = Mapping[str, object]
#: takes what :func:`encoded` returns, one block after the other, in the order of the input
Put = Callable[[bytes], None]


class OutputForm(NamedTuple):
    """How rows are written: the file's ending, and the columns that every row has.

    Those of a CSV are all, of a Parquet file the new ones; JSONL has none that every row has.
    """

    ending: str
    columns: tuple[str, ...] = ()


def output_of(path: Path, out: Path | None, *, force: bool = False) -> Path:
    """Return where to write: ``out``, else ``<name>.scored<ending>`` beside the input.

    Nothing is made or changed. Raises InputError for the input itself, for an ending that does not
    fit, for a folder that cannot be written into, and for a file that :func:`writing` did not write
    (that one is allowed with ``force``).
    """
    suffix = suffix_of(path)
    if suffix in (".eval", ".json", ".ndjson", ".jsonl.gz"):
        suffix = ".jsonl"
    place = out if out is not None else path.with_name(f"{stem_of(path)}.scored{suffix}")
    ending = place.suffix.lower()
    if ending not in ADDERS:
        raise InputError(f"--out {place}: expected a name ending in {', '.join(ADDERS)}")
    if ending == ".parquet" and path.suffix.lower() != ".parquet":
        raise InputError(f"--out {place}: rows of {path.name} are written as .jsonl or .csv")
    if ending != ".parquet" and path.suffix.lower() == ".parquet":
        raise InputError(f"--out {place}: rows of a Parquet file are written as .parquet")
    if place.exists() and place.samefile(path):
        raise InputError(f"--out {place} is the input itself: give another name")
    check_output(place, mark=PROBLEMS, command="sayso score", force=force, name=f"--out {place}")
    return place


#: what may grade answers without a name of its own (``llm:MODEL``, ``file:COLUMN``)
GRADERS = (*("rules", "exact_match", "contains", "rouge_l", "squad_f1", "squad_em", "bert_score"),)


def kept_columns(own: Mapping[str, object]) -> Mapping[str, object]:
    """Return a row without the scores of an earlier ``sayso score``, which may be stale."""
    if PROBLEMS not in own:
        return own
    return {name: value for name, value in own.items() if not _is_score(name)}


def check_kept(own: Mapping[str, object], new: Iterable[str]) -> None:
    """Refuse to replace a column of the user's by one of ours. Raises InputError."""
    taken = next((name for name in new if name in own and name not in COLUMNS), None)
    if taken is not None and PROBLEMS not in own:
        raise InputError(
            f"your column {taken!r} would be replaced by sayso's column of this name: rename "
            "yours, or name other scores (--methods) or another --gold-metric"
        )


def _is_score(name: str) -> bool:
    if name in SCORES or name in (P_IK, PROBLEMS):
        return True
    grader = name.removeprefix("correct_")
    return grader != name and (grader in GRADERS or ":" in grader)


def form_of(out: Path, columns: Sequence[str], first: AnswerRow | None) -> OutputForm:
    """Return how the rows of a file are written.

    ``columns`` are the names that every row of a table gets (JSONL takes what comes); ``first`` is
    the first row, whose own columns stand before them.
    """
    ending = out.suffix.lower()
    if ending == ".jsonl":
        return OutputForm(ending)
    if ending == ".parquet":
        return OutputForm(ending, tuple(columns))
    own = kept_columns(first.own) if first is not None else {}
    return OutputForm(ending, (*map(str, own), *(name for name in columns if name not in own)))


def encoded(form: OutputForm, rows: Sequence[AnswerRow], new: Sequence[New]) -> bytes:
    """Return rows with their new values as bytes of the file, those of Parquet as Arrow."""
    if form.ending == ".jsonl":
        return _lines(rows, new)
    if form.ending == ".parquet":
        return _arrow_stream(form.columns, new)
    return _table(form.columns, separator_of(Path(f"rows{form.ending}")), rows, new)


def _lines(rows: Sequence[AnswerRow], new: Sequence[New]) -> bytes:
    whole = [{**kept_columns(row.own), **values} for row, values in zip(rows, new, strict=True)]
    try:
        return _JSON.encode_lines(whole)
    except (TypeError, UnicodeEncodeError):  # half of a surrogate pair
        return b"".join(_line(row) + b"\n" for row in whole)


def _line(row: Mapping[str, object]) -> bytes:
    """Return a row as JSON; half of a surrogate pair becomes a question mark."""
    text = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def _table(
    header: Sequence[str], separator: str, rows: Sequence[AnswerRow], new: Sequence[New]
) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=separator)
    for row, values in zip(rows, new, strict=True):
        cells = {**kept_columns(row.own), **values}
        writer.writerow([export_cell(cells.get(name)) for name in header])
    return text.getvalue().encode("utf-8", "replace")


def _arrow_stream(columns: Sequence[str], new: Sequence[New]) -> bytes:
    import pyarrow as pa

    fields = _fields(columns)
    arrays = [_column(field, new) for field in fields]
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, pa.schema(fields)) as file:
        file.write_batch(pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields)))
    return bytes(stream.getvalue())


@contextlib.contextmanager
def writing(source: Path, out: Path, form: OutputForm) -> Iterator[Put]:
    """Give a function that writes what :func:`encoded` makes, in order."""
    if form.ending == ".parquet":
        with _parquet(source, out, form.columns) as put:
            yield put
        return
    with replacing(out) as file:

        def put(block: bytes) -> None:
            with disk_errors(out):
                file.write(block)

        if form.columns:
            text = io.StringIO(newline="")
            header = [harmless(name) for name in form.columns]
            csv.writer(text, delimiter=separator_of(out)).writerow(header)
            put(text.getvalue().encode("utf-8", "replace"))
        yield put


@contextlib.contextmanager
def _parquet(source: Path, out: Path, columns: Sequence[str]) -> Iterator[Put]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    waiting: list[Any] = []
    with source.open("rb") as stream, pq.ParquetFile(stream) as original, replacing(out) as file:
        old = original.schema_arrow
        scored = PROBLEMS in old.names
        kept = [f for f in old if f.name not in columns and not (scored and _is_score(f.name))]
        schema = pa.schema([*kept, *_fields(columns)])
        batches = original.iter_batches(batch_size=ROW_GROUP)
        with disk_errors(out):
            table = pq.ParquetWriter(file, schema, compression="zstd")
        batch = next(batches, None)

        def put(block: bytes) -> None:
            nonlocal batch
            with pa.ipc.open_stream(block) as added:
                waiting.append(added.read_all())
            while batch is not None and sum(map(len, waiting)) >= batch.num_rows:
                new = pa.concat_tables(waiting)
                waiting[:] = [new.slice(batch.num_rows)]
                part = new.slice(0, batch.num_rows).combine_chunks().to_batches()[0]
                arrays = [*(batch.column(field.name) for field in kept), *part.columns]
                with disk_errors(out):
                    table.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
                batch = next(batches, None)

        try:
            yield put
        finally:
            with disk_errors(out):
                table.close()


def _fields(names: Sequence[str]) -> list[Any]:
    """Return the Arrow fields of our columns: a score is a float."""
    import pyarrow as pa

    kinds = {PROBLEMS: pa.map_(pa.string(), pa.string()), "tokens": pa.list_(pa.string())}
    lists = {"token_logprobs": pa.list_(pa.float64()), "token_entropies": pa.list_(pa.float64())}
    return [pa.field(name, {**kinds, **lists}.get(name, pa.float64())) for name in names]


def _column(field: Any, rows: Sequence[Mapping[str, object]]) -> Any:
    import pyarrow as pa

    values = (row.get(field.name) for row in rows)
    pairs = [list(one.items()) if isinstance(one, dict) else one for one in values]
    return pa.array(pairs, type=field.type)


def frame_with_columns(
    frame: Any, names: Sequence[str], rows: Sequence[Mapping[str, object]]
) -> Any:
    """Return a data frame with our columns, as a Parquet file has them, at its end.

    ``frame`` is what :func:`sayso.datasets.tables.as_frame` returns; its own columns, and the index
    of pandas, stay as they are. ``rows`` hold the new values.
    """
    import pyarrow as pa

    fields = _fields(names)
    new = pa.Table.from_arrays([_column(f, rows) for f in fields], schema=pa.schema(fields))
    if hasattr(frame, "iloc"):  # pandas
        added = new.to_pandas(maps_as_pydicts="strict")
        added.index = frame.index
        return frame.drop(columns=[*names], errors="ignore").assign(**added)
    if hasattr(frame, "with_columns"):  # polars
        return frame.drop(*names, strict=False).with_columns(*type(frame)(new))
    table = frame.drop_columns([name for name in frame.column_names if name in names])
    for field in fields:
        table = table.append_column(field, new.column(field.name))
    return table


def add_column(
    path: Path, name: str, values: Sequence[float | None], reasons: Mapping[int, str]
) -> None:
    """Put a column that was found out last into a file that :func:`writing` wrote.

    ``values`` by row, ``reasons`` why a row has none. A table has the column already, JSONL gets
    it where there is a value. The file is replaced in one piece, and read row by row.
    """
    ADDERS[path.suffix.lower()](path, name, values, reasons)


def _add_to_lines(
    path: Path, name: str, values: Sequence[float | None], reasons: Mapping[int, str]
) -> None:
    known = json.dumps(name).encode()
    with path.open("rb") as lines, replacing(path) as file:
        for number, (text, value) in enumerate(zip(lines, values, strict=True)):
            line = text.rstrip(b"\n")
            if known in line or number in reasons:
                row = json.loads(line)
                if value is not None or name in row:
                    row[name] = value
                if number in reasons:
                    row[PROBLEMS] = {**(row.get(PROBLEMS) or {}), name: reasons[number]}
                line = _line(row)
            elif value is not None:
                comma = b"," if line != b"{}" else b""
                line = line[:-1] + comma + known + b":" + json.dumps(value).encode() + b"}"
            with disk_errors(path):
                file.write(line + b"\n")


def _add_to_table(
    path: Path, name: str, values: Sequence[float | None], reasons: Mapping[int, str]
) -> None:
    separator = separator_of(path)
    with path.open(encoding="utf-8", newline="") as lines, replacing(path) as file, any_length():
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        writer: Any = csv.writer(text, delimiter=separator)
        reader = csv.reader(lines, delimiter=separator)
        header = next(reader)
        writer.writerow(header)
        at, why = header.index(name), header.index(PROBLEMS)
        for number, (cells, value) in enumerate(zip(reader, values, strict=True)):
            cells[at] = "" if value is None else repr(value)
            if number in reasons:
                held = json.loads(cells[why] or "{}")
                cells[why] = json.dumps({**held, name: reasons[number]}, ensure_ascii=False)
            with disk_errors(path):
                writer.writerow(cells)
        with disk_errors(path):
            text.flush()
        text.detach()  # the file is not ours to close


def _add_to_parquet(
    path: Path, name: str, values: Sequence[float | None], reasons: Mapping[int, str]
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with path.open("rb") as stream, pq.ParquetFile(stream) as old, replacing(path) as file:
        schema = old.schema_arrow
        at, why = schema.get_field_index(name), schema.get_field_index(PROBLEMS)
        first = 0
        with pq.ParquetWriter(file, schema, compression="zstd") as table:
            for batch in old.iter_batches(batch_size=ROW_GROUP):
                last = first + batch.num_rows
                columns = list(batch.columns)
                columns[at] = pa.array(values[first:last], type=schema.field(at).type)
                here = {n - first: reasons[n] for n in range(first, last) if n in reasons}
                if here:
                    held = columns[why].to_pylist()
                    for n, reason in here.items():
                        held[n] = [*(held[n] or []), (name, reason)]
                    columns[why] = pa.array(held, type=schema.field(why).type)
                with disk_errors(path):
                    table.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
                first = last


ADDERS: dict[str, Callable[[Path, str, Sequence[float | None], Mapping[int, str]], None]] = {
    ".jsonl": _add_to_lines,
    ".parquet": _add_to_parquet,
    ".csv": _add_to_table,
    ".tsv": _add_to_table,
}


# ---- numbers of many rows, on disk while they come

Floats = NDArray[np.float64]


#: rows of :class:`FloatColumns` that are turned into columns at a time
CHUNK = 16_384


def number_rows(names: Sequence[str], rows: Sequence[Mapping[str, float]]) -> Floats:
    """Return rows as numbers, (rows, names), NaN for what a row does not have."""
    places = {name: n for n, name in enumerate(names)}
    numbers = np.full((len(rows), len(names)), np.nan)
    for row, values in zip(numbers, rows, strict=True):
        row[[places[name] for name in values]] = list(values.values())
    return numbers


class FloatColumns:
    """A table of floats in a temporary file: memory does not grow with its rows.

    Rows come first, then columns are read. A missing value is NaN.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(dict.fromkeys(names))
        self._place = {name: n for n, name in enumerate(self.names)}
        # opened for as long as the object lives, and gone from the disk with it
        self._file = tempfile.TemporaryFile(prefix="sayso-columns-")  # noqa: SIM115
        self._turned = 0
        self.rows = 0
        self._later: dict[str, Floats] = {}

    def put(self, name: str, values: Floats) -> None:
        """Add a whole column (rows,) that was found out when all rows were there."""
        self._later[name] = values

    def __contains__(self, name: str) -> bool:
        return name in self._place or name in self._later

    def add(self, numbers: Floats) -> None:
        """Add rows (n, names)."""
        assert not self._turned, "rows come before columns are read"
        self._file.seek(0, 2)
        self._file.write(np.ascontiguousarray(numbers).tobytes())
        self.rows += len(numbers)

    def column(self, name: str) -> Floats:
        """Return one column (rows,)."""
        if name in self._later:
            return self._later[name]
        if self._turned != self.rows:
            self._turn()
        self._file.seek(8 * self.rows * self._place[name])
        return np.frombuffer(self._file.read(8 * self.rows), dtype=np.float64)

    def _turn(self) -> None:
        """Lay the numbers out by column: a column is then one read."""
        turned = tempfile.TemporaryFile(prefix="sayso-columns-")  # noqa: SIM115
        self._file.seek(0)
        for first in range(0, self.rows, CHUNK):
            part = np.frombuffer(self._file.read(8 * CHUNK * len(self.names)), dtype=np.float64)
            for place, values in enumerate(part.reshape(-1, len(self.names)).T):
                turned.seek(8 * (self.rows * place + first))
                turned.write(values.tobytes())
        self._file.close()
        self._file, self._turned = turned, self.rows

    def __enter__(self) -> FloatColumns:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()


#: the column of a row's question, as a number.
QUESTION_NUMBER = "question:number"


def question_number(row: AnswerRow) -> float:
    """Return a number for a row's question (its prompt or place where it names none)."""
    text = " ".join(row.question.split()).casefold() or row.prompt or row.place
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return float(int.from_bytes(digest, "big") >> 12)  # 52 bits, which a float holds exactly
