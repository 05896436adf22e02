"""Long files: scored in blocks by several processes, kept in parts, the same whoever does it."""

from __future__ import annotations

import csv
import json
import os
import random
import signal
import subprocess
import sys
import time
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sayso.datasets.answer_rows import answer_row
from sayso.records import InputError
from sayso.score_files import score as scoring
from sayso.score_files.score import FileScores, ScorePlan, digest_of, read_part, score_file
from sayso.score_files.write import OutputForm

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


def test_what_was_scored_before_an_interruption_is_not_scored_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "a.jsonl", rows_of(ROWS))
    want = scored(path, "want", jobs=1)
    graded: list[int] = []
    rows_scored = scoring.score_rows

    def counted(rows: Any, *others: Any) -> Any:
        graded.append(len(rows))
        if len(graded) == 4:
            raise KeyboardInterrupt
        return rows_scored(rows, *others)

    monkeypatch.setattr(scoring, "score_rows", counted)
    with pytest.raises(KeyboardInterrupt):
        scored(path, "out", jobs=1)
    folder = tmp_path / "out.jsonl.parts"
    kept = sorted(folder.glob("*.part"))
    assert len(kept) == 3
    assert not (tmp_path / "out.jsonl").exists()
    # one of them was damaged: it is scored again, and nothing else
    kept[0].write_bytes(kept[0].read_bytes()[:-1] + b"?")
    graded[:] = [0] * 10
    found = scored(path, "out", jobs=1)
    assert sum(graded) == ROWS - 2 * PART
    assert found.path.read_bytes() == want.path.read_bytes()
    assert found._replace(path=want.path) == want
    assert not folder.exists()


def test_another_metric_or_row_is_another_part(tmp_path: Path) -> None:
    rows = rows_of(ROWS)
    path = written(tmp_path / "a.jsonl", rows)
    for gold_metric in ("rules", "exact_match"):
        with pytest.raises(InputError, match="no such"):  # after all rows
            scored(path, "out", jobs=1, gold_metric=gold_metric, tell=_no_more)
    first = {p.name for p in (tmp_path / "out.jsonl.parts").glob("*.part")}
    assert len(first) == 2 * -(-ROWS // PART)
    rows[0]["answer"] = "In Quito."
    with pytest.raises(InputError, match="no such"):
        scored(written(path, rows), "out", jobs=1, tell=_no_more)
    second = {p.name for p in (tmp_path / "out.jsonl.parts").glob("*.part")}
    assert len(second - first) == 1


def _no_more(rows: int) -> None:
    if rows == ROWS:
        raise InputError("no such disk")


def test_hostile_parts_are_not_read(tmp_path: Path) -> None:
    place = tmp_path / "x.part"
    for content in (b"", b"short", b"0" * 16 + b"more", b"\x80\x04." * 20):
        place.write_bytes(content)
        assert read_part(place) is None
    assert read_part(tmp_path / "none.part") is None


def test_the_same_file_is_not_scored_twice_at_once(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", rows_of(ROWS))

    def meanwhile(rows: int) -> None:
        with pytest.raises(InputError, match="is writing here"):
            scored(path, "out", jobs=1)

    assert scored(path, "out", jobs=1, tell=meanwhile).rows == ROWS


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


SCRIPT = """
import sys
from pathlib import Path
from sayso.score_files import score as scoring
scoring.PART = PART
done = scoring.score_file(sys.argv[1], sys.argv[2], METHODS, nli="rules", cache=sys.argv[3],
                          jobs=2, tell=lambda rows: print(rows, flush=True))
"""


@pytest.mark.slow
def test_a_command_that_is_killed_goes_on(tmp_path: Path) -> None:
    """Killed again and again at other moments; each block that was finished is scored once."""
    path = written(tmp_path / "a.jsonl", rows_of(ROWS))
    want = scored(path, "want", jobs=1)
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace("METHODS", repr(METHODS)).replace("= PART", f"= {PART}"))
    out = tmp_path / "out.jsonl"
    command = [sys.executable, str(script), str(path), str(out), str(tmp_path / "cache")]
    folder = tmp_path / "out.jsonl.parts"
    made: dict[str, int] = {}
    for blocks in (1, 3):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for _ in range(blocks):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        time.sleep(0.5)  # workers end with their parent
        assert not out.exists()
        now = {p.name: p.stat().st_mtime_ns for p in folder.glob("*.part")}
        assert len(now) >= blocks
        assert {name: now[name] for name in made} == made
        made = now
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert out.read_bytes() == want.path.read_bytes()
    assert not folder.exists()
    assert not list(tmp_path.glob("*.tmp-*"))


def test_the_digest_of_a_part_is_that_of_its_content() -> None:
    """Not of how Python holds it; and the order of columns counts, since it is written."""
    by = ("1", ScorePlan(("a",), "rules", (), (), False, False), OutputForm(".csv", ("question",)))
    rows = [answer_row({"question": "q", "answer": "a", "big": 10**30, "day": date(2020, 1, 1)})]
    name = digest_of(by, rows)
    assert name == "a538696e0e3fe0380b8bf3d85c5963ce"
    turned = dict(reversed(rows[0].own.items()))
    assert digest_of(by, [answer_row(turned)]) != name
    assert digest_of((*by[:2], OutputForm(".tsv", ("question",))), rows) != name
    assert digest_of(by, [*rows, *rows]) != name
    halves = [answer_row({"question": "q", "answer": half}) for half in ("\ud800", "\ud801")]
    assert digest_of(by, halves[:1]) != digest_of(by, halves[1:])
    noted = [answer_row({"answer": "a", "note": note}) for note in (float("nan"), None)]
    assert digest_of(by, noted[:1]) != digest_of(by, noted[1:])


def test_no_part_is_pickled(tmp_path: Path) -> None:
    """A part is read by whoever finds it beside the output: data, never code."""
    source = Path(scoring.__file__).read_text()
    assert "pickle" not in source
