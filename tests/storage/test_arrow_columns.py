"""Columns of a table: what pyarrow itself makes of the values, without loading pandas."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from typing import Any

import msgspec
import pyarrow as pa
import pytest

from sayso.storage.tables import arrow_type, column_of, shape_of, unbuild


class Inner(msgspec.Struct, frozen=True):
    number: int = 0
    share: float | None = None
    parts: tuple[float, ...] = ()


class Wide(msgspec.Struct, frozen=True):
    """A column of each kind, with and without nulls."""

    text: str
    whole: int
    real: float
    sure: bool
    some_text: str | None = None
    some_whole: int | None = None
    some_real: float | None = None
    some_sure: bool | None = None
    numbers: tuple[int, ...] = ()
    texts: tuple[str, ...] | None = None
    flags: tuple[bool, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    inner: Inner | None = None
    inners: tuple[Inner, ...] = ()
    nested: tuple[tuple[float, ...], ...] = ()


def made(rng: random.Random) -> Wide:
    def some(value: Any) -> Any:
        return None if rng.random() < 0.3 else value

    def inner() -> Inner:
        return Inner(rng.randrange(9), some(rng.random()), tuple(range(rng.randrange(3))))

    def few(make: Any) -> tuple[Any, ...]:
        return tuple(make() for _ in range(rng.randrange(4)))

    def text() -> str:
        return "".join(rng.choice("aé東\0😀") for _ in range(rng.randrange(5)))

    return Wide(
        text(), rng.randrange(-(2**63), 2**63), rng.choice([1, 2.5, -0.0, math.inf]),
        rng.random() < 0.5, some(text()), some(5), some(rng.random()), some(True),
        few(lambda: rng.randrange(9)), some(few(text)), few(lambda: rng.random() < 0.5),
        few(lambda: (text(), text())), some(inner()), few(inner), few(lambda: few(rng.random)),
    )  # fmt: skip


@pytest.mark.parametrize("rows", [0, 1, 2, 9, 400])
def test_columns_are_those_of_pyarrow(rows: int) -> None:
    rng = random.Random(rows)
    records = [made(rng) for _ in range(rows)]
    shape = shape_of(Wide)
    for name, one in zip(shape.names, shape.inner, strict=True):
        values = [getattr(record, name) for record in records]
        column = column_of(one, values)
        column.validate(full=True)
        plain = msgspec.to_builtins(values) if name.startswith("inner") else values
        expected = pa.array(plain, arrow_type(one))
        assert column.type == expected.type
        assert column.equals(expected), name
        assert unbuild(one, column.slice(rows // 2)) == values[rows // 2 :], name


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("text", 3, pa.ArrowException),
        ("whole", 2**63, OverflowError),
        ("whole", "3", pa.ArrowException),
        ("sure", "yes", pa.ArrowException),
        ("real", "2.5", pa.ArrowException),
    ],
)
def test_a_value_of_another_kind_is_refused_as_pyarrow_does(
    name: str, value: Any, error: type[Exception]
) -> None:
    shape = shape_of(Wide)
    (one,) = (s for n, s in zip(shape.names, shape.inner, strict=True) if n == name)
    for values in ([value], [value, value]):
        with pytest.raises(error):
            pa.array(values, arrow_type(one))
        with pytest.raises(error):
            column_of(one, values)


def test_whole_numbers_are_floats_where_floats_are_wanted() -> None:
    shape = shape_of(Wide)._replace(optional=False)
    (one,) = (s for n, s in zip(shape.names, shape.inner, strict=True) if n == "some_real")
    assert column_of(one, [1, 2, None]).to_pylist() == [1.0, 2.0, None]
    assert column_of(one, [None, None]).to_pylist() == [None, None]


def test_values_that_would_be_rounded_are_refused() -> None:
    shape = shape_of(Wide)._replace(optional=False)
    kinds = dict(zip(shape.names, shape.inner, strict=True))
    for name, values in (("some_real", [None, 2**53 + 1]), ("some_real", [0.5, 2**53 + 1]),
                         ("whole", [1, True])):  # fmt: skip
        with pytest.raises(pa.ArrowException):
            column_of(kinds[name], values)
    assert column_of(kinds["some_real"], [1, 0.5, None]).to_pylist() == [1.0, 0.5, None]


def test_writing_and_reading_a_table_loads_no_pandas(tmp_path: Any) -> None:
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from sayso.records import Estimate, Generation, Message, Request\n"
        "from sayso.storage.tables import read_parquet, write_parquet\n"
        "one = Generation(Request((Message('user', 'Who?'),)), token_ids=(1,), logprobs=(-.5,))\n"
        "rows = [one, Generation(Request(()))], [Estimate('J', value=.5), Estimate('K')]\n"
        "for some in rows:\n"
        "    with open(sys.argv[1], 'wb') as file:\n"
        "        write_parquet(file, Path(sys.argv[1]), some, type(some[0]))\n"
        "    assert list(read_parquet(Path(sys.argv[1]), type(some[0]))) == some\n"
        "print('pandas' in sys.modules)"
    )
    told = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "t.parquet")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert told.stdout.strip() == "False"
