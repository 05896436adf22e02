"""Golds that are no texts: a Decimal, a day, a timestamp, a time, numbers of numpy, bytes."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sayso
from sayso import cli
from sayso.answers.lexical import with_days
from sayso.datasets.answer_rows import answer_rows
from sayso.datasets.tables import gold_in, read_rows
from sayso.records import Gold, InputError

DAY, MOMENT = dt.date(1969, 7, 20), dt.datetime(1969, 7, 20, 20, 17)
DAY_GOLD = Gold("1969-07-20T00:00:00Z", kind="date")


@pytest.mark.parametrize(
    ("value", "gold"),
    [
        (Decimal("12.50"), Gold("12.50")),
        (Decimal("1E+3"), Gold("1000")),
        (12, Gold("12")),
        (12.0, Gold("12")),
        (0.1, Gold("0.1")),
        (DAY, DAY_GOLD),
        (MOMENT, Gold("1969-07-20T20:17:00Z", kind="date")),
        (MOMENT.replace(tzinfo=dt.UTC), Gold("1969-07-20T20:17:00Z", kind="date")),
        (pd.Timestamp("1969-07-20"), DAY_GOLD),
        ("1969-07-20 00:00:00", DAY_GOLD),
        (dt.time(20, 17), Gold("20:17")),
        (dt.time(0, 0, 5), Gold("00:00:05")),
        (b"Austen", Gold("Austen")),
    ],
)
def test_a_gold_is_read_by_its_own_format(value: object, gold: Gold) -> None:
    assert gold_in(value) == gold
    (row,) = answer_rows([{"question": "When?", "answer": "x", "gold": value}])
    assert row.problems == ()
    assert (row.golds or (gold_in((row.gold or ("",))[0]),)) == (gold,)


@pytest.mark.parametrize(
    "value", [np.int64(12), np.float64(12), np.float32(12), np.str_("12"), Decimal(12), [12], (12,)]
)
def test_numbers_of_numpy_are_numbers(value: object) -> None:
    (row,) = answer_rows([{"question": "How many?", "answer": value, "gold": value, "id": 1}])
    assert row.gold == ("12",)


@pytest.mark.parametrize("value", [None, pd.NaT, pd.NA, np.nan, Decimal("NaN"), float("nan")])
def test_what_is_missing_is_no_gold(value: object) -> None:
    (row,) = answer_rows([{"question": "When?", "answer": "x", "gold": value}])
    assert (row.gold, row.problems) == (None, ())


@pytest.mark.parametrize("value", [b"\xff", 1 + 2j, {"a"}, Decimal("Infinity"), {"x": 1}])
def test_what_is_no_gold_is_told(value: object) -> None:
    with pytest.raises(InputError, match="expected a text, a number"):
        gold_in(value)
    (row,) = answer_rows([{"question": "When?", "answer": "x", "gold": value}])
    assert row.gold is None
    assert row.problems[0].startswith("gold ")


@pytest.mark.parametrize(
    ("kind", "values", "answers"),
    [
        (pa.decimal128(10, 2), [Decimal("12.50"), Decimal("3")], ["12.5", "3"]),
        (pa.date32(), [DAY, DAY], ["20 July 1969", "1969-07-20"]),
        (pa.timestamp("us"), [MOMENT, MOMENT], ["July 20, 1969", "20 July 1969"]),
        (pa.timestamp("ns", "UTC"), [MOMENT, MOMENT], ["20 July 1969", "20 July 1969"]),
        (pa.time64("us"), [dt.time(20, 17), dt.time(9, 5)], ["20:17", "at 09:05"]),
        (pa.float32(), [0.1, 12.0], ["0.1", "12"]),
        (pa.binary(), [b"Austen", b"Woolf"], ["Austen", "Woolf"]),
        (pa.list_(pa.date32()), [[DAY], [DAY]], ["20 July 1969", "20 July 1969"]),
    ],
)
def test_columns_of_parquet_have_verdicts(
    kind: Any, values: list[Any], answers: list[str], tmp_path: Path
) -> None:
    table = pa.table(
        {
            "question": ["When or how much is it?"] * 4,
            "answer": [*answers, "30 August 1911", "30 August 1911"],
            "gold": pa.array(values * 2, kind),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    out = tmp_path / "out.parquet"
    assert cli.execute(["score", str(tmp_path / "a.parquet"), "--out", str(out)]) == 0
    assert pq.read_table(out)["correct_rules"].to_pylist() == [1, 1, 0, 0]


def test_truth_values_of_parquet_are_golds(tmp_path: Path) -> None:
    answers = ["It is.", "It isn't.", "No.", "Yes"]
    golds = pa.array([True, False, True, False])
    table = pa.table({"question": ["Is the mill open?"] * 4, "answer": answers, "gold": golds})
    pq.write_table(table, tmp_path / "a.parquet")
    out = tmp_path / "out.parquet"
    assert cli.execute(["score", str(tmp_path / "a.parquet"), "--out", str(out)]) == 0
    assert pq.read_table(out)["correct_rules"].to_pylist() == [1, 1, 0, 0]


def test_metrics_of_words_compare_days_as_people_write_them() -> None:
    assert with_days(["1969-07-20T20:17:00Z", "Apollo"]) == [
        "20 July 1969", "July 20, 1969", "1969-07-20", "Apollo",
    ]  # fmt: skip
    rows = [{"question": "When?", "answer": "20 July 1969", "gold": DAY}] * 3
    rows += [{"question": "When?", "answer": "21 July 1969", "gold": DAY}] * 3
    board = sayso.leaderboard([{**r, "s": n} for n, r in enumerate(rows)], ["s"],
                              gold_metric="exact_match")  # fmt: skip
    assert "3 right, 3 not right" in str(board)


def test_verdicts_of_other_types_count() -> None:
    for value in (Decimal(1), np.int64(1), np.True_, np.float32(1), "1.0"):
        (row,) = answer_rows([{"question": "q", "answer": "x", "human": value}])
        assert row.human == 1


def test_numbers_of_32_bits_are_what_was_written(tmp_path: Path) -> None:
    values = pa.array([0.1, None, 1e-30, float("nan")], pa.float32())
    pq.write_table(pa.table({"answer": ["x"] * 4, "gold": values}), tmp_path / "a.parquet")
    rows = [row["gold"] for _, row in read_rows(tmp_path / "a.parquet")]
    assert rows == [0.1, None, 1e-30, None]
