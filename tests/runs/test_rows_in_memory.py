"""Questions from memory: a list of dicts, a dict of columns and data frames are asked as a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sayso
from sayso.datasets.own_table import IN_MEMORY, load_rows
from sayso.storage.run_folder import RunFolder
from support.scripted_world import Mind, facts

WORLD = facts(4)
MIND = Mind(WORLD, lambda f: 0.5)
ROWS: list[dict[str, Any]] = [
    {"question": f.question, "gold": [f.value], "entity": f.entity, "domain": f.domain}
    for f in WORLD
]
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}
NOTHING_ASKED = {"draws.k": 2, "known_k": 0, "words": False, "resamples": 100}


def of_pandas() -> Any:
    return pytest.importorskip("pandas").DataFrame(ROWS)


def of_polars() -> Any:
    return pytest.importorskip("polars").DataFrame(ROWS)


def arrays() -> Any:
    return {**COLUMNS, "gold": np.array([[f.value] for f in WORLD])}


SHAPES: list[Callable[[], Any]] = [
    lambda: (row for row in ROWS),
    lambda: COLUMNS,
    arrays,
    lambda: pa.Table.from_pylist(ROWS),
    of_pandas,
    of_polars,
]


def asked(folder: Path, data: Any, **more: Any) -> tuple[sayso.runs.result.Result, int]:
    """Run some rows; return the result and how many requests were sent."""
    engine = MIND.engine("base")
    result = sayso.run(
        "selective", data=data, model=engine, cache=folder / "cache", report=False,
        settings=NOTHING_ASKED, **more,
    )  # fmt: skip
    return result, len(engine.requests)


def test_the_same_rows_are_the_same_run_in_every_shape(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first, sent = asked(tmp_path, ROWS)
    assert sent
    assert first.manifest.data == IN_MEMORY
    for shape in SHAPES:
        again, sent = asked(tmp_path, shape())
        assert (again.path, sent) == (first.path, 0)
    assert [folder.name for folder in (tmp_path / "runs").iterdir()] == [first.path.name]
    other, _ = asked(tmp_path, ROWS[:-1])
    assert other.path != first.path


def test_rows_are_asked_as_their_file_is(tmp_path: Path) -> None:
    path = tmp_path / "q.parquet"
    pa.parquet.write_table(pa.Table.from_pylist(ROWS), path)
    of_rows, sent = asked(tmp_path, ROWS, out=tmp_path / "rows", limit=3)
    of_file, none = asked(tmp_path, f"file:{path}", out=tmp_path / "file", limit=3)
    assert sent > none == 0  # the same prompts
    numbers = [
        [(e.name, e.where, e.value, e.low, e.high, e.n) for e in result.estimates]
        for result in (of_rows, of_file)
    ]
    assert numbers[0] == numbers[1]
    page = sayso.report.write(of_rows).read_text(encoding="utf-8")
    assert IN_MEMORY in page


def test_columns_are_named_as_those_of_a_file(tmp_path: Path) -> None:
    theirs = [{"q": row["question"], "a": row["gold"]} for row in ROWS]
    for columns in ({"question": "q", "golds": "a"}, "question=q,gold=a"):
        result, _ = asked(tmp_path, theirs, columns=columns, out=tmp_path / "out")
        kept = RunFolder.open(result.path).read("questions", sayso.records.Question)
        assert [q.golds[0].value for q in kept if q.golds] == [f.value for f in WORLD]


def test_what_is_missing_in_a_frame_is_missing() -> None:
    pandas = pytest.importorskip("pandas")
    rows = [{"question": "a", "gold": "x"}, {"question": "b", "answerable": False}]
    frame = load_rows(pandas.DataFrame(rows), {})
    assert frame == load_rows(rows, {})
    assert [q.answerable for q in frame.questions] == [True, False]
    numbers = load_rows([{"question": "How many?", "gold": np.int64(3)}, {"question": "?"}], {})
    assert numbers.questions[0].golds == (sayso.records.Gold("3"),)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (5, "data is of type int: expected a list of dicts"),
        ([], "data has no rows"),
        ({}, "data has no rows"),
        (["Who?"], "data: row 1 is of type str: expected a dict"),
        ({"question": "Who?"}, "data is one row, or 'question' is no list"),
        ({"question": ["a", "b"], "gold": ["x"]}, r"differ in length \(question 2, gold 1\)"),
        ([{"q": "Who?"}], r"expected a column 'question', got q; .*columns=\{'question': 'q'\}"),
        ([{"question": " "}], "rows in memory line 1: the question is empty"),
        ([{"question": "a", "gold": "x"}, {"question": "a", "gold": "y"}], "line 2: .*line 1"),
        ([{"question": "a", "gold": {"x": 1}}], "line 1: gold"),
        ([{"question": "a", "gold": object()}], "line 1: gold"),
        ([{"question": object()}], "line 1: question is"),
    ],
)
def test_mistakes_are_one_line(tmp_path: Path, data: Any, message: str) -> None:
    with pytest.raises(sayso.InputError, match=message) as refused:
        asked(tmp_path, data, out=tmp_path / "out")
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "out").exists()


def test_a_column_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(sayso.InputError, match="question=nope names a missing column"):
        asked(tmp_path, ROWS, columns={"question": "nope"})
    with pytest.raises(sayso.InputError, match="nope=…: no such column"):
        asked(tmp_path, ROWS, columns={"nope": "question"})


def test_a_name_of_such_questions_says_that_they_are_gone(tmp_path: Path) -> None:
    with pytest.raises(sayso.InputError, match="which are gone"):
        asked(tmp_path, IN_MEMORY)


def test_answers_may_be_columns_too() -> None:
    rows = [{"answer": "It is Rome"}, {"answer": "No"}]
    columns = {"answer": [row["answer"] for row in rows]}
    assert sayso.score(columns, "length_words") == sayso.score(rows, "length_words")
    with pytest.raises(sayso.InputError, match="rows is one row"):
        sayso.score({"answer": "It is Rome"})
