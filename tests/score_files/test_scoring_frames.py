"""Data frames are scored as their Parquet file would be, and come back as what they were."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sayso
from sayso.records import InputError
from sayso.score_files.score import score_file

ROWS: list[dict[str, Any]] = [
    {
        "question": "Who wrote Emma?",
        "answer": "Jane Austen",
        "samples": ["Austen", "Jane Austen", "Charlotte Brontë"],
        "token_logprobs": [-0.1, -0.4],
        "gold": "Jane Austen",
        "note": 1,
    },
    {
        "question": "Who wrote Middlemarch?",
        "answer": "Charlotte Brontë",
        "samples": ["George Eliot", "Jane Austen"],
        "token_logprobs": None,
        "gold": "George Eliot",
        "note": 2,
    },
    {
        "question": "Who wrote Ulysses?",
        "answer": "-",
        "samples": None,
        "token_logprobs": [-0.5, float("nan")],
        "gold": None,
        "note": 3,
    },
]
TABLE = pa.Table.from_pylist(ROWS)
CHOICES: list[dict[str, Any]] = [
    {},
    {"methods": ["perplexity", "num_sets"]},
    {"methods": "perplexity", "token_level": True},
]


def of_pandas(table: pa.Table) -> Any:
    pytest.importorskip("pandas")
    frame = table.to_pandas()
    frame.index = [f"row {n}" for n in range(len(frame))]
    return frame


def of_polars(table: pa.Table) -> Any:
    return pytest.importorskip("polars").DataFrame(table)


def of_pyarrow(table: pa.Table) -> Any:
    return table


KINDS = [of_pandas, of_polars, of_pyarrow]
Make = Callable[[pa.Table], Any]
each_kind = pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)


def rows_of(frame: Any) -> list[dict[str, Any]]:
    """Return the rows of any data frame in the same types: NaN and null are None, maps dicts."""
    if hasattr(frame, "to_pylist"):
        rows = frame.to_pylist(maps_as_pydicts="strict")
    else:
        rows = frame.to_dicts() if hasattr(frame, "to_dicts") else frame.to_dict("records")
    return [{name: plain(value) for name, value in row.items()} for row in rows]


def plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return None if isinstance(value, float) and value != value else value


@each_kind
@pytest.mark.parametrize("chosen", CHOICES, ids=["all", "named", "tokens"])
def test_a_frame_is_scored_as_its_parquet_file(
    make: Make, chosen: dict[str, Any], tmp_path: Path
) -> None:
    pq.write_table(TABLE, tmp_path / "a.parquet")
    score_file(tmp_path / "a.parquet", tmp_path / "b.parquet", nli="rules", **chosen)
    read = pq.read_table(tmp_path / "b.parquet")
    expected = rows_of(read.drop_columns(["correct_rules"]))
    for row in expected:  # the file says why an answer was not graded, too
        row["score_problems"].pop("correct_rules", None)
    frame = make(TABLE)
    scored = sayso.score(frame, nli="rules", **chosen)
    assert type(scored) is type(frame)
    found = rows_of(scored)
    assert found == expected
    assert list(found[0]) == list(expected[0])


@each_kind
def test_its_own_columns_stay_as_they_are(make: Make) -> None:
    frame = make(TABLE.append_column("kind", pa.array(["a", "b", "a"]).dictionary_encode()))
    before = rows_of(frame)
    scored = sayso.score(frame, methods="length_words")
    assert rows_of(frame) == before
    assert "length_words" not in before[0]
    assert [{n: row[n] for n in before[0]} for row in rows_of(scored)] == before
    assert [row["length_words"] for row in rows_of(scored)] == [2.0, 2.0, None]
    if make is of_pandas:
        assert list(scored.index) == ["row 0", "row 1", "row 2"]
        assert (scored.dtypes[list(frame.columns)] == frame.dtypes).all()
    if make is of_polars:
        assert {n: scored.schema[n] for n in frame.columns} == dict(frame.schema)
    again = sayso.score(scored, methods="length_words")  # its own column is written anew
    assert rows_of(again) == rows_of(scored)


@each_kind
def test_the_leaderboard_takes_frames(make: Make) -> None:
    frame, chosen = make(TABLE), ["length_words", "num_sets"]
    board = sayso.leaderboard(sayso.score(frame, methods=chosen, nli="rules"))
    plain_rows = sayso.score(ROWS, methods=chosen, nli="rules")
    assert board == sayso.leaderboard(plain_rows)


@each_kind
def test_lists_may_be_texts_as_in_csv(make: Make) -> None:
    texts = [{"answer": r["answer"], "samples": json.dumps(r["samples"] or "")} for r in ROWS]
    texts[2]["samples"] = ""
    lists = [{"answer": r["answer"], "samples": r["samples"]} for r in ROWS]
    found = sayso.score(make(pa.Table.from_pylist(texts)), methods="num_sets", nli="rules")
    expected = sayso.score(lists, methods="num_sets", nli="rules")
    assert [row["num_sets"] for row in rows_of(found)] == [row["num_sets"] for row in expected]


@each_kind
def test_names_of_columns(make: Make) -> None:
    renamed = make(TABLE.rename_columns(["q", "reply", *TABLE.column_names[2:]]))
    scored = sayso.score(renamed, methods="length_words", columns={"answer": "reply"})
    assert [row["length_words"] for row in rows_of(scored)] == [2.0, 2.0, None]
    with pytest.raises(InputError, match=r"expected a column 'answer' .or 'samples'., got q"):
        sayso.score(make(pa.table({"q": ["a"]})))
    with pytest.raises(InputError, match="answer=nothing names a missing column"):
        sayso.score(renamed, columns={"answer": "nothing"})


@each_kind
def test_a_frame_without_rows_has_the_columns(make: Make) -> None:
    scored = sayso.score(make(TABLE.slice(0, 0)), methods=["perplexity"])
    assert type(scored) is type(make(TABLE))
    names = scored.column_names if make is of_pyarrow else list(scored.columns)
    assert names == [*TABLE.column_names, "perplexity", "score_problems"]
    assert len(scored) == 0


def test_whatever_else_speaks_arrow_becomes_a_table() -> None:
    reader = pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches())
    scored = sayso.score(reader, methods="length_words")
    assert isinstance(scored, pa.Table)
    assert scored.column("length_words").to_pylist() == [2.0, 2.0, None]


def test_what_is_no_table_of_answers_is_one_line() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = polars.DataFrame(TABLE)
    for rows, words in [
        (frame.lazy(), r"lazy frame: give rows.collect\(\)"),
        (frame["answer"], r"rows is one column \(Series\): give the data frame"),
        (pandas.Series(["a"]), r"rows is one column \(Series\): give the data frame"),
        (pa.chunked_array([["a"]]), r"one column \(ChunkedArray\)"),
        (pandas.DataFrame({"answer": ["a", 1]}), "column answer .* give columns of one type each"),
        (pandas.DataFrame([["a", "b"]], columns=["answer"] * 2), "two columns called 'answer'"),
        (pa.table([["a"], ["b"]], names=["answer"] * 2), "two columns called 'answer'"),
    ]:
        with pytest.raises(InputError, match=words) as caught:
            sayso.score(rows)
        assert "\n" not in str(caught.value)


def test_neither_library_is_needed() -> None:
    code = """
import sys

class Absent:
    def find_spec(self, name, *rest):
        if name.partition(".")[0] in ("pandas", "polars"):
            raise ImportError(name)

sys.meta_path.insert(0, Absent())
import pyarrow as pa, sayso

table = pa.table({"answer": ["a b"]})
print(sayso.score(table, methods="length_words").column("length_words").to_pylist())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[2.0]\n"
