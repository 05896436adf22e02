"""Golds that are themselves declining: found, told, and matched by answers that decline."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sayso import cli
from sayso.datasets.own_table import load_own_table
from sayso.judges.rules.judge import declines, judge_rules
from sayso.records import InputError, Verdict
from sayso.storage.run_folder import RunFolder
from support.tables import tabled

TOLD = "2 questions whose gold itself declines to answer: if nobody can, write false in a column"
ROWS = [
    {"question": "How long is the warranty in Peru?", "gold": "The handbook does not mention it."},
    {"question": "Who audited the club in 1931?", "gold": "Not enough information."},
    {"question": "Who founded the club?", "gold": "Mara Lind"},
]


def table_of(folder: Path, rows: list[dict[str, object]]) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@tabled
def test_which_golds_decline(gold: str, question: str, silent: bool) -> None:
    assert declines(question, [gold]) is silent


def test_an_answer_that_declines_agrees_with_a_gold_that_does() -> None:
    question, gold = str(ROWS[0]["question"]), str(ROWS[0]["gold"])
    silent = judge_rules(question, gold, "I could not find that in the handbook.")
    assert (silent.stance, silent.content) == ("abstained", "correct")
    assert judge_rules(question, gold, "Two years.").content == "incorrect"
    # one gold with a value, and to decline is right no more
    assert judge_rules(question, [gold, "Two years"], "I don't know.").content == "none"


def test_check_run_and_score_tell_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = ["The handbook says nothing about it.", "I don't know.", "Mara Lind"]
    rows = [{**row, "answer": text} for row, text in zip(ROWS, answers, strict=True)]
    path = table_of(tmp_path, rows)
    assert cli.execute(["data", "check", f"file:{path}"]) == 0
    found = capsys.readouterr().out
    assert "declining gold: 2 (" in found
    assert "How long is the warranty in Peru?: 'The handbook does not mention it.'" in found
    assert cli.execute(["run", "selective", "--answers", str(path), "--out", f"{path}.run"]) == 0
    assert TOLD in " ".join(capsys.readouterr().err.split())
    verdicts = RunFolder.open(Path(f"{path}.run")).read("verdicts/short", Verdict)
    assert [v.content for v in verdicts] == ["correct"] * 3
    out = ["--nli", "rules", "--out", str(tmp_path / "scored.jsonl")]
    assert cli.execute(["score", str(path), *out]) == 0
    assert TOLD in " ".join(capsys.readouterr().err.split())


def test_only_the_user_says_that_a_question_cannot_be_answered(tmp_path: Path) -> None:
    bare = load_own_table(table_of(tmp_path, ROWS))
    assert [q.answerable for q in bare.questions] == [True] * 3
    said = load_own_table(table_of(tmp_path, [{**ROWS[0], "answerable": False}]))
    assert (said.questions[0].answerable, said.questions[0].golds) == (False, None)
    with pytest.raises(InputError, match="it has a gold, and answerable is false"):
        load_own_table(table_of(tmp_path, [{**ROWS[2], "answerable": False}]))
