"""Records to Parquet columns and back, exactly; the Arrow schema comes from the type annotations.

| annotation | column |
|---|---|
| ``str``, ``Literal`` | string |
| ``int``, ``float``, ``bool`` | int64, float64, bool |
| ``X | None`` | the same, nullable |
| ``tuple[X, ...]`` | list |
| ``tuple[tuple[str, str], ...]`` | map of string to string: pairs in their order, keys may repeat |
| a Struct | struct |
| anything else (mixed unions, dicts) | JSON in a string |

Floats are 8 bytes, because a log-probability that changes in its eighth digit is another number.
Columns are built and read whole: that is several times faster than row by row. Strings that are
not Unicode text (lone surrogates, which UTF-8 cannot hold) are stored with U+FFFD in their place.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import types
import typing
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, Union

import msgspec
import numpy as np

from sayso.records import InputError
from sayso.storage.atomic import disk_errors

if TYPE_CHECKING:
    import pyarrow as pa

#: a file whose rows, or unpacked bytes, are more than these and this many times its bytes is a bomb
FEW_ROWS, FEW_BYTES, RATIO = 1_000_000, 100_000_000, 1_000
ROWS = 2000  # rows of a row group ...
ITEMS = 2_000_000  # ... or entries of their arrays, so that long answers do not fill the memory
#: integers below are floats without loss
EXACT = 2**53
Record = TypeVar("Record", bound=msgspec.Struct)


class Shape(NamedTuple):
    """What a type annotation means as a column."""

    kind: Literal["text", "int", "float", "bool", "json", "list", "pairs", "struct"]
    annotation: Any
    optional: bool = False
    choices: frozenset[str] | None = None
    names: tuple[str, ...] = ()
    inner: tuple[Shape, ...] = ()
    defaults: tuple[object, ...] = ()  # msgspec.NODEFAULT where a value is required


PLAIN: dict[object, Literal["text", "int", "float", "bool"]] = {
    str: "text", int: "int", float: "float", bool: "bool",
}  # fmt: skip
PAIRS = tuple[tuple[str, str], ...]


@functools.cache
def shape_of(annotation: Any) -> Shape:
    """Return the shape of a type annotation; a Struct type gives the columns of a table."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (Union, types.UnionType):
        rest = [one for one in arguments if one is not type(None)]
        optional = len(rest) < len(arguments)
        shape = shape_of(rest[0]) if len(rest) == 1 else Shape("json", annotation)
        return shape._replace(optional=optional)
    if annotation in PLAIN:
        return Shape(PLAIN[annotation], annotation)
    if origin is Literal and all(isinstance(one, str) for one in arguments):
        return Shape("text", annotation, choices=frozenset(arguments))
    if annotation == PAIRS:
        return Shape("pairs", annotation)
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        inner = shape_of(arguments[0])
        return Shape("json" if inner.kind == "json" else "list", annotation, inner=(inner,))
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        hints = typing.get_type_hints(annotation)
        fields = msgspec.structs.fields(annotation)
        return Shape(
            "struct",
            annotation,
            names=tuple(field.name for field in fields),
            inner=tuple(shape_of(hints[field.name]) for field in fields),
            defaults=tuple(
                field.default
                if field.default_factory is msgspec.NODEFAULT
                else field.default_factory()
                for field in fields
            ),
        )
    return Shape("json", annotation)


def arrow_type(shape: Shape) -> pa.DataType:
    """Return the Arrow type of a column."""
    import pyarrow as pa

    if shape.kind == "list":
        return pa.list_(pa.field("element", arrow_type(shape.inner[0])))
    if shape.kind == "struct":
        columns = zip(shape.names, shape.inner, strict=True)
        return pa.struct([pa.field(name, arrow_type(one)) for name, one in columns])
    return {
        "text": pa.string(), "json": pa.string(), "int": pa.int64(), "float": pa.float64(),
        "bool": pa.bool_(), "pairs": pa.map_(pa.string(), pa.string()),
    }[shape.kind]  # fmt: skip


def schema_of(kind: type[msgspec.Struct]) -> pa.Schema:
    """Return the Arrow schema of a record type."""
    import pyarrow as pa

    shape = shape_of(kind)
    return pa.schema(
        [
            pa.field(name, arrow_type(one), nullable=one.optional)
            for name, one in zip(shape.names, shape.inner, strict=True)
        ]
    )


def column_of(shape: Shape, values: list[Any]) -> pa.Array:
    """Return the column of ``values``; ``None`` becomes null."""
    import pyarrow as pa

    kind = arrow_type(shape)
    if shape.kind == "json":
        values = [
            None if value is None else json.dumps(msgspec.to_builtins(value)) for value in values
        ]
    if shape.kind == "struct":
        empty = [value is None for value in values]
        columns = []
        for name, one in zip(shape.names, shape.inner, strict=True):
            get = attrgetter(name)
            if any(empty):
                columns.append(column_of(one, [None if v is None else get(v) for v in values]))
            else:
                columns.append(column_of(one, list(map(get, values))))
        mask = _plain_column(pa.bool_(), empty)
        return pa.StructArray.from_arrays(columns, fields=list(kind), mask=mask)
    if shape.kind == "list":
        flat = list(itertools.chain.from_iterable(value for value in values if value))
        buffers, inner = [_holds(values), _ends(values)], column_of(shape.inner[0], flat)
        return pa.Array.from_buffers(kind, len(values), buffers, children=[inner])
    if shape.kind == "pairs":
        flat = list(itertools.chain.from_iterable(value for value in values if value))
        columns = [_plain_column(pa.string(), [pair[place] for pair in flat]) for place in (0, 1)]
        pairs = pa.StructArray.from_arrays(columns, fields=[kind.key_field, kind.item_field])
        buffers = [_holds(values), _ends(values)]
        return pa.Array.from_buffers(kind, len(values), buffers, children=[pairs])
    return _plain_column(kind, values)


def _ends(values: Sequence[Any]) -> pa.Buffer:
    """Return where each text or list of a column begins, and the end of the last."""
    import pyarrow as pa

    ends = np.cumsum([0, *(0 if value is None else len(value) for value in values)])
    if ends[-1] > np.iinfo(np.int32).max:
        raise pa.ArrowInvalid(f"its texts are too long together: {ends[-1]:,} bytes")
    return pa.py_buffer(ends.astype(np.int32))


def _holds(values: list[Any]) -> pa.Buffer | None:
    """Return which values there are, as bits; ``None``: all."""
    import pyarrow as pa

    if not any(value is None for value in values):
        return None
    return pa.py_buffer(np.packbits([value is not None for value in values], bitorder="little"))


def _plain_column(kind: pa.DataType, values: list[Any]) -> pa.Array:
    """Return ``pa.array(values, kind)``, without what that does first: import pandas.

    Values that are not of the kind are left to it.
    """
    import pyarrow as pa

    if pa.types.is_string(kind):
        try:
            texts = [b"" if text is None else text.encode() for text in values]
        except UnicodeEncodeError:
            texts = [b"" if text is None else readable(text).encode() for text in values]
        except AttributeError:
            return pa.array(values, kind)
        held = [_ends(texts), pa.py_buffer(b"".join(texts))]
    elif pa.types.is_boolean(kind):
        bits = np.array([False if value is None else value for value in values], dtype=object)
        if not all(isinstance(bit, bool) for bit in bits):
            return pa.array(values, kind)
        held = [pa.py_buffer(np.packbits(bits.astype(bool), bitorder="little"))]
    else:
        real = pa.types.is_floating(kind)
        wide = np.float64 if real else np.int64
        kinds = set(map(type, values)) - {type(None)}
        numbers = np.array([(0.0 if real else 0) if value is None else value for value in values])
        if real and int in kinds and kinds <= {int, float} and numbers.dtype.kind in "if":
            kinds = {float} if (abs(numbers) < EXACT).all() else kinds  # else one would be rounded
        if not kinds or (real and kinds == {float}):
            numbers = numbers.astype(wide)
        if numbers.dtype != wide or bool in kinds or (real and int in kinds):
            return pa.array(values, kind)
        held = [pa.py_buffer(numbers)]
    return pa.Array.from_buffers(kind, len(values), [_holds(values), *held])


def readable(text: str) -> str:
    """Return the text with lone surrogates replaced; paired ones become their character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def unbuild(shape: Shape, column: pa.Array, *, strict: bool = True) -> list[Any]:
    """Return the values of a column.

    Raises ValueError when the column does not hold what ``shape`` says; nulls are refused where
    nothing is optional, unless ``strict`` is off (entries of a struct that is itself null).
    """
    import pyarrow as pa

    if strict and not shape.optional and column.null_count:
        raise ValueError("a value is missing")
    if shape.kind == "list":
        if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)):
            raise ValueError(f"expected a list, got {column.type}")
        offsets = column.offsets.to_pylist()
        first, last = (offsets[0], offsets[-1]) if offsets else (0, 0)
        flat = unbuild(shape.inner[0], column.values.slice(first, last - first))
        pairs = itertools.pairwise(offset - first for offset in offsets)
        return hide([tuple(flat[start:end]) for start, end in pairs], column)
    if shape.kind == "struct":
        if not pa.types.is_struct(column.type):
            raise ValueError(f"expected a struct, got {column.type}")
        places = {field.name: position for position, field in enumerate(column.type)}
        columns = [
            unbuild(one, column.field(places[name]), strict=not column.null_count)
            if name in places
            else repeat_default(name, default, len(column))
            for name, one, default in zip(shape.names, shape.inner, shape.defaults, strict=True)
        ]
        return hide(list(map(shape.annotation, *columns)), column)
    if shape.kind == "pairs":
        if not pa.types.is_map(column.type):
            raise ValueError(f"expected a map, got {column.type}")
        return [None if pairs is None else tuple(pairs) for pairs in column.to_pylist()]
    kind = arrow_type(shape)
    if column.type != kind:
        column = column.cast(kind)
    if shape.kind in ("int", "float", "bool") and not column.null_count:
        # to_numpy would import pandas, too
        plain: list[Any] = (
            column.to_pylist() if shape.kind == "bool" else np.from_dlpack(column).tolist()
        )
        return plain
    values: list[Any] = column.to_pylist()
    if pa.types.is_string(kind):  # stages, judges and labels repeat: a text is one object
        same: dict[str | None, str | None] = {}
        values = [same.setdefault(value, value) for value in values]
    if shape.choices is not None and (odd := set(values) - shape.choices - {None}):
        raise ValueError(f"unexpected value {min(odd)!r}")
    if shape.kind == "json":
        kind = shape.annotation
        known = {t: msgspec.convert(json.loads(t), kind) for t in set(values) if t is not None}
        return [None if text is None else known[text] for text in values]
    return values


def hide(values: list[Any], column: pa.Array) -> list[Any]:
    """Put ``None`` where the column is null."""
    if not column.null_count:
        return values
    valid = column.is_valid().to_pylist()
    return [value if ok else None for value, ok in zip(values, valid, strict=True)]


def repeat_default(name: str, default: object, count: int) -> list[object]:
    """Return the column of a field that an older file lacks."""
    if default is msgspec.NODEFAULT:
        raise ValueError(f"column {name!r} is missing")
    return [default] * count


def write_parquet(
    file: IO[bytes], path: Path, records: Iterable[Record], kind: type[Record]
) -> int:
    """Write records to an open file in row groups, as they come; return how many there were.

    ``path`` is the name for messages. Raises :class:`InputError` for a full disk and for an
    integer that does not fit in 64 bits; errors of ``records`` pass through.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema, shape = schema_of(kind), shape_of(kind)
    # Only what touches the disk is watched: an OSError of the records is somebody else's.
    with disk_errors(path):
        writer = pq.ParquetWriter(file, schema, compression="zstd", write_page_checksum=True)
    count = 0
    try:
        for rows in row_groups(records, shape):
            try:
                columns = [
                    column_of(one, list(map(attrgetter(name), rows)))
                    for name, one in zip(shape.names, shape.inner, strict=True)
                ]
            except (OverflowError, pa.ArrowInvalid) as error:
                raise InputError(f"a {kind.__name__} cannot be stored: {error}") from error
            batch = pa.RecordBatch.from_arrays(columns, schema=schema)
            with disk_errors(path):
                writer.write_batch(batch)
            count += len(rows)
    except BaseException:
        # Closing writes a footer, which fails again on a full disk; the file is given up anyway.
        with contextlib.suppress(OSError, pa.ArrowException):
            writer.close()
        raise
    with disk_errors(path):
        writer.close()
    return count


def row_groups(records: Iterable[Record], shape: Shape) -> Iterator[list[Record]]:
    """Yield records in row groups."""
    lists = [name for name, one in zip(shape.names, shape.inner, strict=True) if one.kind == "list"]
    rows: list[Record] = []
    items = 0
    for record in records:
        rows.append(record)
        for name in lists:
            value = getattr(record, name)
            # Nested lists count tenfold: the ten alternatives of a token.
            items += 0 if not value else len(value) * (10 if isinstance(value[0], tuple) else 1)
        if len(rows) >= ROWS or items >= ITEMS:
            yield rows
            rows, items = [], 0
    if rows:
        yield rows


def check_unpacked(source: Any, path: Path) -> None:
    """Refuse a Parquet file that would unpack to far more than it is. Raises InputError."""
    size, footer = path.stat().st_size, source.metadata
    unpacked = sum(footer.row_group(n).total_byte_size for n in range(footer.num_row_groups))
    if footer.num_rows > max(FEW_ROWS, size) or unpacked > max(FEW_BYTES, RATIO * size):
        raise InputError(
            f"{path} would unpack {size:,} bytes to {footer.num_rows:,} rows with {unpacked:,} "
            "bytes: refused"
        )


def count_rows(path: Path) -> int:
    """Return how many rows a file says that it has."""
    import pyarrow.parquet as pq

    with path.open("rb") as file:
        return int(pq.read_metadata(file).num_rows)


def read_parquet(path: Path, kind: type[Record]) -> Iterator[Record]:
    """Yield the records of a file, one row group in memory at a time.

    A column that the file lacks gets its field's default; a column that no field knows is ignored.
    Raises :class:`InputError` for a file that cannot be read as records of this kind.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    shape = shape_of(kind)._replace(optional=False)
    try:
        with (
            path.open("rb") as file,  # the library opens no path that is not UTF-8
            pq.ParquetFile(file, page_checksum_verification=True) as source,
        ):
            check_unpacked(source, path)
            columns = source.schema_arrow.names
            if len(set(columns)) < len(columns):
                raise ValueError("two of its columns have one name")
            names = [name for name in shape.names if name in columns]
            if not names:
                raise ValueError("it has none of the columns")
            read = 0
            for batch in source.iter_batches(batch_size=ROWS, columns=names):
                read += batch.num_rows
                yield from unbuild(shape, batch.to_struct_array())
            if read != source.metadata.num_rows:  # damage that the library passes over
                raise ValueError(f"{read:,} of its {source.metadata.num_rows:,} rows can be read")
    except (
        pa.ArrowException, OSError, ValueError, TypeError, OverflowError, MemoryError
    ) as error:  # fmt: skip
        why = " ".join(str(error).split())[:200]
        if isinstance(error, MemoryError) or getattr(error, "errno", None):
            raise InputError(
                f"the table {path} cannot be read now ({why or 'no memory'}), which does not mean "
                "that it is damaged: keep it, and run again with more memory"
            ) from error
        raise InputError(
            f"the table {path} cannot be read as {kind.__name__} records ({why}): delete it and "
            "run again, it is rebuilt from the cache"
        ) from error
