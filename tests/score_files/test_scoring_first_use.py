"""What a first-time user of ``sayso score`` meets: reasons, missing columns, tiny files, reprs."""

from __future__ import annotations

import csv
import io
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from rich.console import Console

import sayso
from sayso.cli import execute
from sayso.records import InputError
from sayso.score_files.leaderboard import Board
from sayso.score_files.page import board_sheet, render_board
from sayso.score_files.score import score, score_file
from support.scripted import ScriptedEngine
from support.tables import tabled


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAYSO_CACHE", str(tmp_path / "cache"))


def written(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def made(count: int, *, people: bool = False) -> list[dict[str, Any]]:
    """Rows of which every third is wrong; ``rouge_l`` refuses the longest right ones."""
    rng = np.random.default_rng(5)
    rows = []
    for n in range(count):
        right = n % 3 != 0
        name = f"Ada King {n}" if right else f"Bob Ray {n}"
        said = f"{name}{' as far as anybody here can tell' * (n % 2)}"
        row = {
            "question": f"Who is number {n}?",
            "answer": said,
            "gold": f"Ada King {n}",
            "token_logprobs": (-np.abs(rng.normal(0.3 if right else 1.2, 0.6, 4))).tolist(),
        }
        rows.append({**row, "human": right} if people else row)
    return rows


def shown(found: Board, **more: Any) -> str:
    out = io.StringIO()
    render_board(found, Console(file=out, width=90), **more)
    return " ".join(out.getvalue().split())


# ---- score_problems


def test_every_row_has_the_key_of_its_problems(tmp_path: Path) -> None:
    full = {"answer": "a", "token_logprobs": [-1.0]}
    rows = [full, {**full, "token_logprobs": [None]}, full]
    scored = score(rows)
    assert [row["score_problems"] for row in scored[::2]] == [{}, {}]
    assert "perplexity" in scored[1]["score_problems"]
    back = score_file(written(tmp_path, rows)).path.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["score_problems"] == {} for line in back] == [True, False, True]
    with (tmp_path / "b.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([["answer"], ["a"], ["b"]])
    with score_file(tmp_path / "b.csv").path.open(encoding="utf-8", newline="") as file:
        assert [row["score_problems"] for row in csv.DictReader(file)] == ["{}", "{}"]
    polars = pytest.importorskip("polars", reason="polars is not installed")
    polars.DataFrame(rows).write_parquet(tmp_path / "c.parquet")
    table = pq.read_table(score_file(tmp_path / "c.parquet").path)
    assert table.column("score_problems").null_count == 0


# ---- reasons


@tabled
def test_a_reason_names_the_column_that_is_missing(method: str, reason: str) -> None:
    row = {"answer": "a", "samples": ["a", "b"], "sample_token_logprobs": [[-1.0], None]}
    problems = score([row], method)[0]["score_problems"]
    assert problems[method] == f"{reason}: in the file, or from --model"


@pytest.mark.parametrize("method", ["probability_margin", "self_certainty", "fisher_rao"])
def test_what_no_column_holds_is_not_asked_of_the_file(method: str) -> None:
    row = {"answer": "a", "token_logprobs": [-1.0]}
    problems = score([row], method)[0]["score_problems"]
    assert problems[method] == "needs the probabilities of all tokens: --model"


def test_a_row_without_an_answer_lacks_the_answer() -> None:
    names = ["cocoa_perplexity", "entailment_consistency", "exact_match_rate", "perplexity"]
    row = {"answer": None, "samples": ["a", "b", "c", "d", "e"], "token_logprobs": [-1.0]}
    problems = score([row], names, nli="rules")[0]["score_problems"]
    assert {problems[name] for name in names} == {"no answer"}
    engine = ScriptedEngine(lambda r: None, logprob=-0.25)
    problems = score([row], "perplexity", model=engine)[0]["score_problems"]
    assert problems["perplexity"] == "no answer"


def test_an_empty_answer_is_no_reason_for_scores_of_the_samples() -> None:
    row = {"answer": " ", "samples": ["a", "b"]}
    problems = score([row], ["naive_entropy", "exact_match_rate"])[0]["score_problems"]
    assert problems["naive_entropy"].startswith("needs sample_token_logprobs")
    assert problems["exact_match_rate"] == "the answer is empty"


def test_one_sample_is_too_few_and_said_so() -> None:
    row = {"answer": "a", "samples": ["a"]}
    problems = score([row], "lexical_similarity")[0]["score_problems"]
    assert problems["lexical_similarity"] == "needs at least 2 samples, got 1"


def test_an_empty_sample_counts_and_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {"question": "Who?", "answer": "Ada", "samples": ["Ada", "", "Ada", " "]}
    scored = score([row], "num_sets", nli="rules")[0]
    assert scored["num_sets"] == 2.0
    told = "empty samples: 2 of 4 (a meaning of its own in sayso score, left out in a run)"
    assert scored["score_problems"]["row"] == told
    assert execute(["score", str(written(tmp_path, [row])), "--nli", "rules"]) == 0
    assert f"line 1: {told}" in capsys.readouterr().err


# ---- columns that are missing


def test_a_missing_answer_column_is_told_with_the_likely_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"question": "Who?", "response": "Ada", "samples": ["Ada", "Bob"]}]
    assert execute(["score", str(written(tmp_path, rows)), "--nli", "rules"]) == 0
    err = " ".join(capsys.readouterr().err.split())
    assert "no column 'answer', so only the samples are scored" in err
    assert "did you mean 'response'? --columns answer=response" in err
    with pytest.warns(UserWarning, match="columns={'answer': 'response'}"):
        score(rows, nli="rules")
    with pytest.raises(InputError, match="did you mean --columns answer=response"):
        score_file(written(tmp_path, [{"question": "Who?", "response": "Ada"}]))
    with pytest.raises(InputError, match=r"did you mean columns=\{'answer': 'response'\}"):
        score([{"question": "Who?", "response": "Ada"}])


def test_a_column_of_answers_is_not_asked_for(tmp_path: Path) -> None:
    rows = [{"response": "Ada", "samples": ["Ada", "Bob"]}]
    found = score_file(written(tmp_path, rows), columns={"answer": "response"}, nli="rules")
    assert not any("answer=" in notice for notice in found.notices)


def test_why_answers_are_left_out_is_counted(tmp_path: Path) -> None:
    rows = made(30)
    for row in rows[:3]:
        row["answer"] = "I don't know."
    del rows[3]["gold"], rows[4]["gold"]
    rows[5]["answer"] = ""
    rows[6]["answer"] = "Das ist nicht die Stadt, in der er mit seiner Frau und den Kindern war."
    found = score_file(written(tmp_path, rows)).board
    assert found is not None
    counted = {
        "without a gold": 2,
        "empty": 1,
        "giving no value": 3,
        "unread": 1,
    }
    assert found.left_out_by == counted
    assert found.left_out == 7
    said = shown(found)
    assert "eft out: 3 giving no value, 2 without a gold, 1 empty, 1 unread (of 30" in said


def test_rows_without_a_persons_verdict_are_counted_as_such(tmp_path: Path) -> None:
    rows = made(30, people=True)
    del rows[0]["human"]
    found = score_file(written(tmp_path, rows)).board
    assert found is not None
    assert found.left_out_by == {"without a person's verdict": 1}


# ---- small files and what says nothing


def test_below_five_of_a_kind_no_table_is_printed(tmp_path: Path) -> None:
    found = score_file(written(tmp_path, made(8))).board
    assert found is not None
    text = shown(found, verbose=True)
    assert "3 wrong of 8 answers" in text
    for part in ("AUROC", "PRR", "same verdict", "most others"):
        assert part not in text


def test_graders_of_a_few_answers_are_not_compared(tmp_path: Path) -> None:
    found = score_file(written(tmp_path, made(18))).board or pytest.fail("no board")
    (graders,) = (s for s in board_sheet(found).sections if s.id == "graders")
    assert not graders.held


def test_an_auroc_is_written_in_one_form(tmp_path: Path) -> None:
    found = score_file(written(tmp_path, made(60, people=True))).board
    assert found is not None
    assert "[0." not in shown(found, verbose=True)


def test_an_audit_has_the_interval_of_the_leaderboard(tmp_path: Path) -> None:
    rows = made(60, people=True)
    for row in rows[:4]:
        row["human"] = not row["human"]
    found = score_file(written(tmp_path, rows)).board
    assert found is not None
    assert found.audits
    entries = {entry.method: entry for entry in found.entries}
    for method, by in found.audits.items():
        for audit in by.values():
            truth = audit.against_truth
            assert truth is not None
            own = entries[method].auroc
            assert (truth.value, truth.low, truth.high) == (own.value, own.low, own.high)


def test_all_broken_lines_are_named_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.jsonl"
    good = '{"answer": "a"}'
    path.write_text("\n".join([good, "{", good, "[1]", good, "nope"]), encoding="utf-8")
    assert execute(["score", str(path)]) == 2
    err = capsys.readouterr().err
    assert "line 2, column 2: wrong JSON" in err
    assert err.rstrip().endswith("; also wrong: line 4, 6")
    path.write_text("\n".join([good] + ["{"] * 40), encoding="utf-8")
    assert execute(["score", str(path)]) == 2
    assert (
        capsys.readouterr()
        .err.rstrip()
        .endswith("line 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, …")
    )


# ---- a leaderboard in Python


def test_a_board_shows_itself_briefly() -> None:
    found = sayso.leaderboard(score(made(60)))
    assert len(repr(found)) <= 300
    assert "20 not right" in repr(found)
    html = found._repr_html_()
    assert html.count("<tr>") == len(found.entries) + 1
    assert "<script" not in html
    rows = found.table()
    assert [row["score"] for row in rows] == [entry.method for entry in found.entries]
    assert rows[0]["auroc"] == found.entries[0].auroc.value
    assert {"low", "high", "pairs", "fixed", "length", "prr", "accuracy"} <= rows[0].keys()


def test_a_board_draws_its_scores() -> None:
    found = sayso.leaderboard(score(made(60)))
    assert found.plots == ["auroc"]
    assert "<svg" in found.plot()._repr_svg_()
    assert found.plot("auroc").label == "AUROC of scores."
    all_right = [row for row in made(60) if row["answer"].startswith("Ada")]
    one_class = sayso.leaderboard(score(all_right))
    assert one_class.problem
    assert one_class.plots == []
    with pytest.raises(InputError, match="there is no figure"):
        one_class.plot()


def test_a_board_becomes_a_data_frame() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    found = sayso.leaderboard(score(made(60)))
    frame = found.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert len(frame) == len(found.entries)
    assert frame.loc[0, "aurac"] == found.entries[0].aurac.value
    assert frame["ece"].dtype == "float64"


def test_names_of_others_do_not_run_in_a_notebook() -> None:
    evil = "<img src=x onerror=alert(1)>"
    rows = [{**row, evil: float(n)} for n, row in enumerate(made(30))]
    html = sayso.leaderboard(rows, [evil])._repr_html_()
    assert "<img" not in html
    assert "&lt;img" in html


def test_a_board_prints_without_a_console(capsys: pytest.CaptureFixture[str]) -> None:
    render_board(sayso.leaderboard(score(made(60))))
    assert "plain length (words)" in capsys.readouterr().out


# ---- notices and verdicts of the file


def test_notices_reach_python_as_warnings() -> None:
    row = {"question": "Who?", "answer": "Ada", "samples": ["Ada", "Bob"]}
    with pytest.warns(UserWarning, match="meanings compared by rules") as told:
        score([row, row])
    assert len(told) == 1
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score([row], nli="rules")


@pytest.mark.parametrize(("yes", "no"), [(1, 0), (True, False), ("true", "false"), ("1", "0")])
def test_a_column_of_verdicts_can_decide(yes: object, no: object, tmp_path: Path) -> None:
    rows = [{**row, "ok": yes if n % 2 else no} for n, row in enumerate(made(20))]
    found = score_file(written(tmp_path, rows), gold_metric="file:ok")
    assert found.board is not None
    assert (found.board.judged, found.board.wrong) == (20, 10)
    assert sayso.leaderboard(score(rows), gold_metric="file:ok").wrong == 10


def test_a_column_that_holds_no_verdicts_is_refused(tmp_path: Path) -> None:
    rows = [{**row, "ok": 0.3} for row in made(8)]
    with pytest.raises(InputError, match=r"'ok' contains 0\.3: a verdict is 1 or 0, true or false"):
        score_file(written(tmp_path, rows), gold_metric="file:ok")
    with pytest.raises(InputError, match="no such verdict; it has none"):
        score_file(written(tmp_path, rows), gold_metric="file:nope")
    rows[0]["ok"] = 1
    found = score_file(written(tmp_path, rows), gold_metric="file:ok").board
    assert found is not None
    assert found.unread == ("file:ok has no verdict on 7 answers (7 not 1 or 0, true or false)",)


# ---- what a file lacks, and what it pools


def test_a_file_without_golds_and_samples_says_what_that_leaves_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"question": f"Q{n}?", "answer": "a b", "gold_answer": "a", "sampled_answers": ["a", "b"]}
        for n in range(4)
    ]
    path = written(tmp_path, rows)
    assert execute(["score", str(path), "--nli", "rules"]) == 0
    first, second, *others = capsys.readouterr().err.splitlines()
    assert "no gold answers and no human verdicts, so no score is ranked" in first
    assert "no samples" in second
    assert "not computed (sentence_sar, sar, " in second or "not computed (naive_entropy" in second
    told = " ".join(others)
    assert "did you mean 'gold'? --columns gold=gold_answer reads it" in told
    assert "did you mean 'samples'? --columns samples=sampled_answers reads it" in told
    named = ["--columns", "gold=gold_answer,samples=sampled_answers"]
    assert execute(["score", str(path), "--nli", "rules", *named]) == 0
    told = capsys.readouterr().err
    assert "no golds" not in told
    assert "no samples" not in told


def test_only_the_scores_that_were_asked_for_are_missed(tmp_path: Path) -> None:
    path = written(tmp_path, [{"question": "Q?", "answer": "a", "human": 1}] * 2)
    assert score_file(path, methods=["length_words"], nli="rules").notices == []
    (told,) = score_file(path, methods=["lexical_similarity"], nli="rules").notices
    assert "scores that compare samples are not computed (lexical_similarity); name" in told


def test_a_file_of_samples_under_another_name_is_told_which(tmp_path: Path) -> None:
    path = written(tmp_path, [{"question": "Q?", "sampled_answers": ["a", "b"]}])
    with pytest.raises(InputError, match="did you mean --columns samples=sampled_answers"):
        score_file(path)


def test_several_models_in_one_file_are_told(tmp_path: Path) -> None:
    rows = [{**row, "model": f"m{n % 3}"} for n, row in enumerate(made(30))]
    told = [n for n in score_file(written(tmp_path, rows)).notices if n.startswith("column 'model")]
    assert told == [
        "column 'model': 3 models are ranked together (m0, m1, m2); for a result per model, split "
        "the file by model, or run `sayso study --answers FILE`"
    ]
    rows = [{**row, "model": "m0"} for row in made(30)]
    assert not [n for n in score_file(written(tmp_path, rows)).notices if "'model'" in n]
    bare = [{"answer": "a", "model": f"m{n}\x1b[2J"} for n in range(9)]
    told = [n for n in score_file(written(tmp_path, bare)).notices if n.startswith("column 'model")]
    assert "9 models are scored together (m0" in told[0]
    assert ", …)" in told[0]
    assert told[0].isprintable()
