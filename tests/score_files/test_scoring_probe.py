"""P(IK) of a user's file: states read in blocks, a probe across questions, why there is none."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from sayso.records import InputError, Request
from sayso.score_files.score import StatePlace, score_file
from sayso.score_files.write import FloatColumns, add_column, number_rows
from sayso.scores.p_ik import cross_fit_stored, fit_p_ik
from support.scripted import ScriptedEngine


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAYSO_CACHE", str(tmp_path / "cache"))


class Showing(ScriptedEngine):
    """An engine whose states say in one dimension of four whether an answer is wrong."""

    def __init__(self, tells: float, width: int = 4) -> None:
        super().__init__({}, logprob=-1.0)
        self.tells, self.width = tells, width
        self.capabilities = msgspec.structs.replace(self.capabilities, hidden=True)
        self.largest = 0
        self.places: set[tuple[int, str]] = set()

    def hidden(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], layer: int, position: str
    ) -> NDArray[np.float16]:
        self.largest = max(self.largest, len(items))
        self.places.add((layer, position))
        rows = np.zeros((len(items), self.width), dtype=np.float16)
        for n, (_, text) in enumerate(items):
            number = int(str(text).split()[1])
            rng = np.random.default_rng(number)
            rows[n] = rng.normal(size=self.width)
            rows[n, 0] += self.tells * str(text).startswith("town")
            if number == 7:
                rows[n] = np.nan
        return rows


def _rows(count: int, wrong: float = 0.4) -> list[dict[str, Any]]:
    rng = np.random.default_rng(5)
    bad = rng.random(count) < wrong
    return [
        {
            "question": f"Where was person {n} born?",
            "answer": f"town {n}" if bad[n] else f"place {n}",
            "gold": f"place {n}",
        }
        for n in range(count)
    ]


def _lines(path: Path, rows: Sequence[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _back(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_states_that_tell_give_a_column_and_a_row_of_the_leaderboard(tmp_path: Path) -> None:
    engine = Showing(4.0)
    place = StatePlace(2, "last_prompt")
    found = score_file(_lines(tmp_path / "a.jsonl", _rows(300)), model=engine, place=place)
    back = _back(found.path)
    assert found.values["p_ik"] == 299
    assert engine.largest <= 128  # a block, not the file
    assert engine.places == {(2, "last_prompt")}
    # a row without a state has no value and says why
    assert "p_ik" not in back[7]
    assert "no hidden state" in back[7]["score_problems"]["p_ik"]
    assert all(0 <= row["p_ik"] <= 1 for n, row in enumerate(back) if n != 7)
    assert found.board is not None
    entry = next(e for e in found.board.entries if e.method == "p_ik")
    assert entry.auroc.value is not None
    assert entry.auroc.value > 0.95
    assert entry.brier is not None
    assert entry.brier < 0.1
    assert found.probe is not None
    assert (found.probe.converged, found.probe.folds, found.probe.rows) == (5, 5, 299)
    assert "all 5 fits converged" in found.probe.sentence()


def test_states_that_say_nothing_are_blind(tmp_path: Path) -> None:
    found = score_file(
        _lines(tmp_path / "a.jsonl", _rows(600)), methods=["p_ik"], model=Showing(0.0)
    )
    assert found.board is not None
    entry = next(e for e in found.board.entries if e.method == "p_ik")
    assert entry.auroc.low is not None
    assert entry.auroc.high is not None
    # over all pairs of folds chance alone would rank them the wrong way around (VALIDITY)
    assert entry.auroc.low < 0.5 < entry.auroc.high


def test_a_question_that_comes_twice_is_not_learned_from_itself(tmp_path: Path) -> None:
    # states are noise but the same for equal texts: a probe that saw the twin would know the answer
    rows = [row for row in _rows(100) for _ in range(3)]
    engine = Showing(0.0, width=200)  # wide enough to know every text by heart
    found = score_file(_lines(tmp_path / "a.jsonl", rows), methods=["p_ik"], model=engine)
    assert found.board is not None
    entry = next(e for e in found.board.entries if e.method == "p_ik")
    assert entry.auroc.value is not None
    assert 0.35 < entry.auroc.value < 0.65


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (_rows(12), "needs 20 judged ones with 5 of each kind, got"),
        (_rows(60, wrong=0.0), "got 59 right and 0 wrong"),
        ([{**row, "question": "Where?"} for row in _rows(60)], "all judged answers are to one"),
        ([{"question": r["question"], "answer": r["answer"]} for r in _rows(60)], "needs gold or"),
    ],
)
def test_why_there_is_none(tmp_path: Path, rows: list[dict[str, Any]], told: str) -> None:
    found = score_file(_lines(tmp_path / "a.jsonl", rows), model=Showing(4.0))
    assert told in found.missing["p_ik"]
    assert found.probe is None
    assert "p_ik" not in _back(found.path)[0]


def test_without_a_model_or_with_an_endpoint_it_is_listed(tmp_path: Path) -> None:
    path = _lines(tmp_path / "a.jsonl", _rows(30))
    assert "--model" in score_file(path).missing["p_ik"]
    told = score_file(path, model=ScriptedEngine({})).missing["p_ik"]
    assert "scripted does not return hidden states" in told
    # not named, not asked for
    assert "p_ik" not in score_file(path, methods=["length_words"], model=Showing(1.0)).missing
    named = score_file(path, methods="length_words, p_ik")
    assert named.values == {"length_words": 30}
    assert _back(named.path)[0]["p_ik"] is None
    with pytest.raises(InputError, match="no score is called 'p_il'"):
        score_file(path, methods=["p_il"])


def test_tables_get_the_column_too(tmp_path: Path) -> None:
    rows = _rows(60)
    with (tmp_path / "a.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["question", "answer", "gold", "note"])
        writer.writeheader()
        writer.writerows({**row, "note": "=1+1\n" + "x" * 200_000} for row in rows)
    found = score_file(tmp_path / "a.csv", model=Showing(4.0))
    limit = csv.field_size_limit(10_000_000)
    with found.path.open(newline="", encoding="utf-8") as file:
        back = list(csv.DictReader(file))
    csv.field_size_limit(limit)
    assert [row["p_ik"] == "" for row in back] == [n == 7 for n in range(60)]
    assert json.loads(back[7]["score_problems"])["p_ik"].startswith("no hidden state")
    assert back[0]["note"] == "'=1+1\n" + "x" * 200_000  # made harmless once
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "b.parquet", row_group_size=25)
    found = score_file(tmp_path / "b.parquet", model=Showing(4.0))
    table = pq.read_table(found.path).to_pylist()
    assert [row["p_ik"] is None for row in table] == [n == 7 for n in range(60)]
    assert dict(table[7]["score_problems"])["p_ik"].startswith("no hidden state")
    assert table[0]["p_ik"] == pytest.approx(float(back[0]["p_ik"]), abs=1e-9)


def test_a_column_that_the_rows_have_already_is_replaced(tmp_path: Path) -> None:
    path = _lines(tmp_path / "a.jsonl", [{"p_ik": 9, "a": '"p_ik"'}, {}, {"b": 1}, {"p_ik": 9}])
    add_column(path, "p_ik", [0.25, 0.5, None, None], {2: "why"})
    assert _back(path) == [
        {"p_ik": 0.25, "a": '"p_ik"'},
        {"p_ik": 0.5},
        {"b": 1, "score_problems": {"p_ik": "why"}},
        {"p_ik": None},
    ]


def test_stored_features_give_equal_values_and_no_more_than_fit_are_held() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(900, 6)).astype(np.float16)
    y = (X[:, 0] + rng.normal(size=900) > 0).astype(float)
    y[:50] = np.nan
    fold = rng.integers(0, 5, 900)
    expected = np.empty(900)
    for k in range(5):
        expected[fold == k] = fit_p_ik(X[fold != k], y[fold != k])(X[fold == k])
    found, probes = cross_fit_stored(X, y, fold, rng)
    assert np.allclose(found, expected, atol=1e-12)
    assert not np.isnan(found).any()  # rows without an outcome are predicted too
    drawn, few = cross_fit_stored(X, y, fold, rng, held=1)
    assert {probe.n for probe in few} == {500}  # the least that one fit takes
    assert np.corrcoef(found, drawn)[0, 1] > 0.9
    assert len(probes) == 5


def test_a_column_that_comes_later() -> None:
    with FloatColumns(["a"]) as table:
        table.add(number_rows(table.names, [{"a": 1.0}]))
        assert "b" not in table
        table.put("b", np.array([2.0]))
        assert "b" in table
        assert table.column("b").tolist() == [2.0]


def test_the_built_in_model_shows_its_states(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    found = score_file(_lines(tmp_path / "a.jsonl", _rows(40)), methods=["p_ik"], model="builtin")
    assert found.values == {"p_ik": 40}
    with pytest.raises(InputError, match="layer"):
        score_file(tmp_path / "a.jsonl", methods=["p_ik"], model="builtin", place=StatePlace(99))


def test_probabilities_entropies_and_states_take_one_pass(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from sayso.engines import open_model

    forwards, given = [], _lines(tmp_path / "a.jsonl", _rows(40))
    for number, methods in enumerate(
        (["perplexity", "mean_token_entropy"], ["perplexity", "mean_token_entropy", "p_ik"])
    ):
        engine = open_model("builtin")
        found = score_file(
            given, tmp_path / f"{number}.jsonl", methods, model=engine, cache=tmp_path / str(number)
        )
        assert found.values == dict.fromkeys(methods, 40)
        forwards.append(engine.counts.forwards)
        engine.close()
    assert forwards[0] == forwards[1] > 0
    # where the probabilities are known from before, the states alone are read
    found = score_file(
        given, tmp_path / "again.jsonl", methods, model="builtin", cache=tmp_path / "1"
    )
    assert found.values == dict.fromkeys(methods, 40)
    first, again = _back(tmp_path / "1.jsonl"), _back(tmp_path / "again.jsonl")
    assert [row["p_ik"] for row in again] == pytest.approx([row["p_ik"] for row in first], abs=0.01)
