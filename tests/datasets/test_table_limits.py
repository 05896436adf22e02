"""Tables that no reader of answers could have written: one line says so, before memory is full."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sayso.datasets import load_dataset, tables
from sayso.datasets.answer_files import open_answer_file
from sayso.datasets.answer_rows import with_golds
from sayso.records import InputError
from sayso.storage.outputs import export_cell


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_a_line_that_never_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(tables, "LONGEST_LINE", 1000)
    text = b'{"answer": "a"}\n{"answer": "' + 2000 * b"b" + b'"}\n'
    path = tmp_path / name
    path.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    with pytest.raises(InputError, match=r"line 2 has more than 0\.001 MB.*on each line"):
        list(tables.read_table(path))
    monkeypatch.setattr(tables, "LONGEST_LINE", 3000)
    assert [number for number, _ in tables.read_table(path)] == [1, 2]


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_a_table_of_too_many_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(tables, "MOST_COLUMNS", 10)
    path = tmp_path / name

    def write(columns: int) -> None:
        names = [f"c{n}" for n in range(columns)]
        if name.endswith("csv"):
            path.write_text(f"{','.join(names)}\n{','.join('1' for _ in names)}\n")
        else:
            pq.write_table(pa.table({column: ["1"] for column in names}), path)

    write(tables.MOST_COLUMNS)
    assert len(list(tables.read_table(path))) == 1
    write(tables.MOST_COLUMNS + 1)
    with pytest.raises(InputError, match=r"11 columns, more than 10: expected one row"):
        list(tables.read_table(path))


def test_a_parquet_file_that_unpacks_to_far_more_than_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.storage.tables.FEW_ROWS", 10_000)
    bomb = tmp_path / "bomb.parquet"
    rows = pa.table({"question": ["q?"] * 100_000, "gold": ["a"] * 100_000})
    pq.write_table(rows, bomb, compression="zstd")
    with pytest.raises(InputError, match=r"would unpack [\d,]+ bytes to 100,000 rows .*: refused"):
        next(iter(tables.read_table(bomb)))
    long = tmp_path / "long.parquet"
    monkeypatch.setattr("sayso.storage.tables.FEW_BYTES", 1_000_000)
    pq.write_table(pa.table({"question": ["q" * 30_000_000]}), long, compression="zstd")
    with pytest.raises(InputError, match="rows with 30,0"):
        next(iter(tables.read_table(long)))
    monkeypatch.undo()
    own = [f"Who is {n}?" for n in range(100_000)]
    pq.write_table(pa.table({"question": own}), long, compression="zstd")
    assert sum(1 for _ in tables.read_table(long)) == 100_000


def test_two_columns_that_are_the_gold_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "two.csv"
    file.write_text('question,answer,gold,Golds\nq1?,Lyon,Paris,"[""Paris"", ""Lyon""]"\n')
    with pytest.raises(InputError, match="columns 'gold' and 'Golds' are both read as 'gold'"):
        load_dataset(f"file:{file}")
    assert load_dataset(f"file:{file}#gold=Golds").questions


@pytest.mark.parametrize(("one", "other"), [("human", "correct"), ("verdict", "correct")])
def test_two_columns_that_are_a_persons_verdict_are_refused(
    tmp_path: Path, one: str, other: str
) -> None:
    file = tmp_path / "two.csv"
    file.write_text(f"question,answer,gold,{one},{other}\nq1?,Lyon,Paris,1,0\n")
    with pytest.raises(InputError, match=f"columns '{one}' and '{other}' are both read as 'human'"):
        list(open_answer_file(file).rows)


def test_golds_under_two_ids_are_refused(tmp_path: Path) -> None:
    golds, answers = tmp_path / "golds.jsonl", tmp_path / "answers.jsonl"
    golds.write_text('{"id": 1, "custom_id": 2, "gold": "Paris"}\n')
    answers.write_text('{"id": 1, "question": "q?", "answer": "Paris"}\n')
    with pytest.raises(InputError, match="has both custom_id and id"):
        list(with_golds(iter(open_answer_file(answers).rows), golds, []))


def test_the_quote_before_a_formula_is_taken_off_again(tmp_path: Path) -> None:
    file = tmp_path / "out.csv"
    texts = ["=1+1", "+Paris", "@x", "-5", "'quoted'", "'-5", "plain"]
    with file.open("w", newline="") as out:
        csv.writer(out).writerows([["answer"], *([export_cell(text)] for text in texts)])
    assert [row["answer"] for _, row in tables.read_table(file)] == texts
