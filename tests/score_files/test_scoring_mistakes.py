"""What users get wrong about their files is told in words that help, before work is done."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from sayso.cli import execute
from sayso.datasets.answer_files import open_answer_file
from sayso.records import InputError
from sayso.score_files.page import render_scores
from sayso.score_files.score import score
from sayso.scores import choose

ROW = {"question": "Who wrote Emma?", "answer": "Jane Austen", "gold": "Jane Austen"}


def _file(folder: Path, *rows: dict[str, object]) -> Path:
    path = folder / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", ["harness", "batch"])
def test_a_format_that_the_file_is_not(tmp_path: Path, kind: str) -> None:
    with pytest.raises(InputError, match=f"--format {kind}, but its first row has question"):
        open_answer_file(_file(tmp_path, ROW), kind=kind)


def test_other_signs_between_cells(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("question;answer;gold\nwho, then;me;me\n", encoding="utf-8")  # spreadsheets
    (row,) = open_answer_file(path).rows
    assert (row.question, row.answer, row.gold) == ("who, then", "me", ("me",))
    path.write_text("question|answer|gold\nwho|me|me\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"expected a column 'answer'.* got question\|answer"):
        open_answer_file(path)


def test_scores_that_miss_on_as_many_rows_share_a_line() -> None:
    out = io.StringIO()
    values = {"a": 59, "b": 60, "c": 59, "d": 1}
    render_scores(Console(file=out, width=200), 60, values, {}, verbose=True)
    assert out.getvalue().splitlines() == [
        "4 scores of 60 rows", "on all rows: b", "on 59 rows: a, c", "on 1 row: d",
    ]  # fmt: skip


def test_the_file_of_a_published_set_without_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _file(tmp_path, {"question": "who", "answer": ["me"]})
    assert execute(["run", "selective", "--data", str(path), "--dry-run"]) == 2
    said = capsys.readouterr().err
    assert "--data nq_open:FILE" in said
    assert "--data file:FILE" in said  # a table of one's own looks the same


def test_one_malformed_list_is_no_reason_for_other_scores(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {**ROW, "samples": ["Austen", "Eliot"], "token_logprobs": [-0.5, -0.7]}
    path = _file(tmp_path, {**row, "sample_token_logprobs": [[-1.0]]})
    assert execute(["score", str(path), "--nli", "rules", "--verbose"]) == 0
    said = capsys.readouterr()
    scored = json.loads((tmp_path / "answers.scored.jsonl").read_text(encoding="utf-8"))
    assert scored["sequence_probability"] == pytest.approx(1.2)
    assert scored["num_sets"] == 2
    problem = "1 lists in sample_token_logprobs for 2 samples"
    assert scored["score_problems"]["semantic_entropy"] == problem
    assert "verbalized" not in scored["score_problems"]  # no list of the row would have held it
    assert f"not computed ({problem})" in said.out
    assert "#" not in said.out + said.err  # the words of the first row, with their numbers


def test_a_text_where_samples_belong_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(_file(tmp_path, {**ROW, "samples": "Austen"}))
    assert execute(["score", file]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "not computed (samples is a text, expected a list of" in said
    assert execute(["score", file, "--verbose"]) == 0
    said = capsys.readouterr().out
    assert "not computed (samples is a text, expected a list of texts): naive_entropy" in said


def test_names_of_scores() -> None:
    assert [*choose("perplexity, num_sets")] == ["perplexity", "num_sets"]
    with pytest.raises(InputError, match="did you mean semantic_entropy"):
        choose("semantic_entropi")


def test_a_verdict_that_the_file_does_not_hold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _file(tmp_path, ROW)
    assert execute(["score", str(path), "--gold-metric", "file:nope"]) == 2
    assert "no such verdict; it has none (a person's verdict is" in capsys.readouterr().err
    log = {
        "doc_id": 0, "doc": {"question": "q"}, "target": "a", "arguments": [["q", {}]],
        "resps": [["a"]], "filtered_resps": ["a"], "exact_match": 1.0,
    }  # fmt: skip
    assert execute(["score", str(_file(tmp_path, log)), "--gold-metric", "file:exact"]) == 2
    assert "no such verdict; it has exact_match" in capsys.readouterr().err
    assert not (tmp_path / "answers.scored.jsonl").exists()


@pytest.mark.parametrize("taken", ["perplexity", "correct_rules", "p_ik"])
def test_a_column_of_the_user_is_not_replaced(
    tmp_path: Path, taken: str, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {**ROW, "token_logprobs": [-0.5, -0.7]}
    file = str(_file(tmp_path, {**row, taken: "mine"}))
    assert execute(["score", file, *["--methods=p_ik"] * (taken == "p_ik")]) == 2
    assert f"your column {taken!r} would be replaced" in capsys.readouterr().err
    assert not (tmp_path / "answers.scored.jsonl").exists()


def test_a_column_of_a_frame_is_not_replaced() -> None:
    row = {**ROW, "token_logprobs": [-0.5, -0.7], "perplexity": "mine"}
    with pytest.raises(InputError, match="your column 'perplexity' would be replaced"):
        score([row])
    scored = score([row], "length_words")
    assert scored[0]["perplexity"] == "mine"
    assert score([{**scored[0], "perplexity": 3.0}])[0]["perplexity"] < 2  # a file of sayso
