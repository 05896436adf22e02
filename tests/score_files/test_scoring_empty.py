"""No cell of a table is empty without a reason, and no column is empty that nothing could fill."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from sayso.cli import execute
from sayso.score_files.score import score, score_file
from sayso.scores import SCORES

#: the first row has everything, the others lack samples, probabilities, and one sample of two
ROWS = [
    {
        "question": "Who wrote Emma?",
        "answer": "Jane Austen",
        "samples": ["Jane Austen", "Austen", "Mary Shelley"],
        "token_logprobs": [-0.1, -0.4],
        "sample_token_logprobs": [[-0.1, -0.2], [-0.3], [-0.9, -1.1]],
    },
    {"question": "Who wrote Ulysses?", "answer": "James Joyce", "token_logprobs": [-0.2]},
    {"question": "Who wrote Ida?", "answer": "Gertrude Stein", "samples": ["Stein", "Gertrude"]},
    {"question": "Who wrote She?", "answer": "Haggard", "samples": ["Rider Haggard"]},
]
#: what no rule says of two texts
UNTOLD = {
    "eigv_contradiction", "degree_contradiction", "eccentricity_contradiction", "luq_draws",
    "noncontradiction", "kernel_language_entropy", "semantic_density", "selfcheck_nli", "luq",
}  # fmt: skip


def scored(folder: Path, ending: str) -> list[dict[str, object]]:
    path, out = folder / f"answers{ending}", folder / f"out{ending}"
    if ending == ".parquet":
        pd.DataFrame(ROWS).to_parquet(path)
    else:
        with path.open("w", newline="") as file:
            table = csv.DictWriter(file, ROWS[0])
            table.writeheader()
            for row in ROWS:
                table.writerow(
                    {k: v if isinstance(v, str) else json.dumps(v) for k, v in row.items()}
                )
    score_file(path, out, nli="rules")
    if ending == ".parquet":
        rows = pq.read_table(out).to_pylist()
        return [{**row, "score_problems": dict(row["score_problems"])} for row in rows]
    with out.open(newline="") as file:
        rows = [{k: v or None for k, v in row.items()} for row in csv.DictReader(file)]
    return [{**row, "score_problems": json.loads(row["score_problems"])} for row in rows]


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_an_empty_cell_has_its_reason_and_no_column_is_empty(tmp_path: Path, ending: str) -> None:
    rows = scored(tmp_path, ending)
    held = [name for name in rows[0] if name in SCORES]
    assert {"semantic_entropy", "perplexity", "eigv_entailment", "lexical_similarity"} <= {*held}
    assert not UNTOLD & {*held}
    for row in rows:
        empty = {name for name in held if row[name] is None}
        assert empty == {name for name in row["score_problems"] if name in SCORES}
    for name in held:
        assert any(row[name] is not None for row in rows), name
    assert rows[0]["score_problems"] == {}
    assert rows[1]["score_problems"]["semantic_entropy"] == "no samples"
    assert rows[2]["score_problems"]["perplexity"].startswith("needs token_logprobs")
    assert rows[3]["score_problems"]["eigv_entailment"] == "needs at least 2 samples, got 1"


def test_the_same_holds_of_a_data_frame() -> None:
    frame = score(pd.DataFrame(ROWS), nli="rules")
    held = [name for name in frame.columns if name in SCORES]
    assert not UNTOLD & {*held}
    for _, row in frame.iterrows():
        empty = {name for name in held if pd.isna(row[name])}
        assert empty == {name for name in row["score_problems"] if name in SCORES}


def test_why_a_column_is_not_there_is_told_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scored(tmp_path, ".csv")
    out = tmp_path / "again.csv"
    assert execute(
        ["score", str(tmp_path / "answers.csv"), "--nli", "rules", "--out", str(out), "--verbose"]
    ) == 0  # fmt: skip
    told = " ".join(capsys.readouterr().out.split())
    assert told.count("noncontradiction") == 1
    assert "not computed (--nli rules does not detect contradiction: use a model): " in told


def test_a_named_score_that_nothing_can_fill_says_so_in_every_row(tmp_path: Path) -> None:
    scored(tmp_path, ".csv")
    out = tmp_path / "named.csv"
    score_file(tmp_path / "answers.csv", out, ["luq_draws"], nli="rules")
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    told = [json.loads(row["score_problems"])["luq_draws"] for row in rows]
    assert {row["luq_draws"] for row in rows} == {""}
    assert told[0] == told[2] == "--nli rules does not detect contradiction: use a model"
    assert told[1] == "no samples"
