"""Long files: scored in blocks by several processes, the same whoever does it."""

from __future__ import annotations

import csv
import json
import os
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sayso.records import InputError
from sayso.score_files import score as scoring
from sayso.score_files.score import FileScores, score_file

NAMES = ("Ripley", "Derby", "Oslo", "Lima")
#: a few blocks: small ones, so that the test is short
ROWS, PART = 250, 32
METHODS = ("num_sets", "semantic_entropy", "perplexity", "length_words", "exact_match_rate")


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "PART", PART)


def rows_of(count: int) -> list[dict[str, Any]]:
    draw = random.Random(0)
    rows = []
    for number in range(count):
        true, said, *draws = draw.choices(NAMES, k=5)
        row: dict[str, Any] = {
            "question": f"Where was person {number} born?",
            "answer": f"In {said}.",
            "samples": [f"Born in {name}." for name in draws],
            "token_logprobs": [round(-draw.random(), 3) for _ in range(4)],
            "sample_token_logprobs": [[round(-draw.random(), 3)] * 3 for _ in draws],
            "gold": true,
        }
        if number % 50 == 7:  # a row with problems of its own
            row |= {"token_logprobs": [0.5, "x"], "samples": draws[:1]}
        rows.append(row)
    return rows


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif path.suffix == ".csv":
        with path.open("w", newline="") as file:
            table = csv.writer(file)
            table.writerow(rows[0])
            for row in rows:
                table.writerow([v if isinstance(v, str) else json.dumps(v) for v in row.values()])
    else:
        for row in rows:  # a column has one type
            row["token_logprobs"] = [v for v in row["token_logprobs"] if v != "x"]
        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=75)
    return path


def scored(path: Path, name: str, **options: Any) -> FileScores:
    out = path.with_name(name + path.suffix)
    options = {"methods": METHODS, "nli": "rules", "cache": path.parent / "cache", **options}
    return score_file(path, out, **options)


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".parquet"])
def test_two_processes_give_what_one_gives(tmp_path: Path, ending: str) -> None:
    path = written(tmp_path / f"a{ending}", rows_of(ROWS))
    told: list[int] = []
    one = scored(path, "one", jobs=1)
    two = scored(path, "two", jobs=2, tell=told.append)
    assert two.path.read_bytes() == one.path.read_bytes()
    assert two._replace(path=one.path) == one
    assert told == [*range(PART, ROWS, PART), ROWS]
    assert one.rows == ROWS
    assert one.board is not None
    assert sorted(p.name for p in tmp_path.iterdir() if p.name != "cache") == sorted(
        [f"a{ending}", f"one{ending}", f"two{ending}"]
    )


def test_blocks_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "a.jsonl", rows_of(ROWS))
    parts = scored(path, "parts", jobs=1)
    monkeypatch.setattr(scoring, "PART", 10 * ROWS)
    whole = scored(path, "whole", jobs=1)
    assert whole.path.read_bytes() == parts.path.read_bytes()
    assert whole._replace(path=parts.path) == parts


def test_functions_of_the_users_own_stay_in_this_process(tmp_path: Path) -> None:
    from sayso.scores import Method

    path = written(tmp_path / "a.jsonl", rows_of(ROWS))
    mine = {"mine": Method(lambda samples: float(os.getpid()), ("answer",))}
    found = scored(path, "out", methods=mine, jobs=2)
    assert found.values == {"mine": ROWS}
    assert json.loads(found.path.read_text().splitlines()[0])["mine"] == os.getpid()


def test_jobs_are_one_or_more(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", rows_of(3))
    with pytest.raises(InputError, match="jobs is 0; expected 1 or more"):
        scored(path, "out", jobs=0)
