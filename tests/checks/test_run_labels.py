"""``sayso judge-check --from RUN``: the sheet that people label, and what their labels say."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from sayso.checks.run_labels import (
    AnswerKind,
    JudgedAnswer,
    draw_answers,
    judged_answers,
    run_labels,
    run_labels_text,
    weighted_shares,
    write_sheet,
)
from sayso.cli import execute
from sayso.records import Generation, InputError, Question
from sayso.storage.run_folder import RunFolder
from support.report_folders import make_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    make_run(tmp_path / "run", 12, hostile="=1+1")
    return tmp_path / "run"


def judged(run: Path) -> list[JudgedAnswer]:
    opened = RunFolder.open(run)
    return judged_answers(opened, opened.read_manifest())


def rows_of(sheet: Path) -> list[dict[str, str]]:
    with sheet.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def write_rows(sheet: Path, rows: list[dict[str, str]]) -> None:
    with sheet.open("w", encoding="utf-8", newline="") as lines:
        table = csv.DictWriter(lines, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def test_the_sheet_is_blind_and_runs_nowhere(run: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "labels.csv"
    assert write_sheet(run, sheet, 20) == 20
    rows = rows_of(sheet)
    assert len(rows) == 20
    assert list(rows[0]) == ["question", "gold", "answer", "stance", "content", "run_row"]
    for row in rows:
        assert row["stance"] == row["content"] == ""
        assert not any(cell.startswith("=") for cell in row.values())
    verdicts = {a.row: a.kind for a in judged(run)}
    assert not set(verdicts[rows[0]["run_row"]]) & set(rows[0].values())
    # of the same seed the same sheet, of another another
    again, other = tmp_path / "again.csv", tmp_path / "other.csv"
    write_sheet(run, again, 20)
    write_sheet(run, other, 20, 1)
    assert again.read_bytes() == sheet.read_bytes() != other.read_bytes()


def test_a_cell_that_begins_a_formula_is_quoted(tmp_path: Path) -> None:
    make_run(tmp_path / "run", 2)
    folder = RunFolder.open(tmp_path / "run")
    questions = [
        Question(q.id, q.dataset, "=HYPERLINK(1)", q.golds, parts=q.parts)
        for q in folder.read("questions", Question)
    ]
    folder.write("questions", questions, Question)
    sheet = tmp_path / "labels.csv"
    write_sheet(tmp_path / "run", sheet, 3)
    assert {row["question"] for row in rows_of(sheet)} == {"'=HYPERLINK(1)"}


def test_every_kind_of_answer_is_drawn_alike() -> None:
    def kind(verdict: str, number: int) -> list[JudgedAnswer]:
        kind = AnswerKind("short", "known", verdict)
        question = Question("q", "d", "?")
        return [JudgedAnswer(f"{verdict}{n}", question, "", kind) for n in range(number)]

    answers = [*kind("correct", 500), *kind("incorrect", 300), *kind("doubt", 4)]
    drawn = draw_answers(answers, 60, 0)
    counts = Counter(a.kind.verdict for a in drawn)
    assert counts == {"correct": 28, "incorrect": 28, "doubt": 4}
    order = [a.kind.verdict for a in drawn]
    assert order != sorted(order)
    assert order != sorted(order, reverse=True)
    assert len(draw_answers(answers, 10_000, 0)) == 804


def test_only_answers_of_the_main_numbers_are_drawn(run: Path) -> None:
    opened = RunFolder.open(run)
    every = judged(run)
    assert {a.kind.form for a in every} == {"short", "long"}
    assert {a.kind.known for a in every} >= {"known"}
    assert len({a.row for a in every}) == len(every)
    for form in ("short", "long"):
        given = {g.id: g.instructed for g in opened.iter(f"generations/{form}", Generation)}
        assert set(given.values()) == {True, False}
        assert all(given[a.row.split("/")[1]] for a in every if a.kind.form == form)


def test_labels_that_agree_with_the_judge_see_everything(run: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "labels.csv"
    write_sheet(run, sheet, 200)
    kinds = {a.row: a.kind.verdict for a in judged(run)}
    rows = rows_of(sheet)
    for row in rows:
        row["stance"] = "hedged" if kinds[row["run_row"]] == "doubt" else "committed"
    write_rows(sheet, rows)
    for form in run_labels(run, sheet).forms:
        assert form.labelled == form.judged
        assert (form.found.value, form.invented.value) == (1.0, 0.0)
        # the whole run is labelled: nothing is left to chance
        assert (form.found.low, form.invented.high) == (1.0, 0.0)
    # the judge is wrong about every other doubt that it missed
    for row in rows[::2]:
        row["stance"] = "abstained"
    write_rows(sheet, rows)
    for form in run_labels(run, sheet).forms:
        assert form.found.value is not None
        assert 0 < form.found.value < 1


def test_shares_are_weighted_by_the_answers_of_the_run() -> None:
    # 100 read as doubt, 8 of 10 rightly; 900 read as assertions, 1 of 10 voices doubt:
    # 80 + 90 answers voice doubt, of which 80 are seen; 20 of 830 others are taken for doubt
    kinds = [(True, 100, 10, 8), (False, 900, 10, 1)]
    found, invented = weighted_shares(kinds)
    assert found.value == pytest.approx(80 / 170)
    assert invented.value == pytest.approx(20 / 830)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.3 < 0.8 < found.high
    assert weighted_shares(kinds) == (found, invented)
    # no doubt among ten of 900 does not mean that none was missed
    found, _ = weighted_shares([(True, 100, 10, 8), (False, 900, 10, 0)])
    assert found.value == 1
    assert found.low is not None
    assert found.low < 0.7


def test_intervals_hold() -> None:
    rng, held = np.random.default_rng(3), 0
    sizes, shares = (60, 240), (0.9, 0.12)
    true = 60 * 0.9 / (60 * 0.9 + 240 * 0.12)
    for turn in range(200):
        kinds = []
        for read, size, share in zip((True, False), sizes, shares, strict=True):
            doubts = rng.hypergeometric(round(size * share), round(size * (1 - share)), 25)
            kinds.append((read, size, 25, int(doubts)))
        found, _ = weighted_shares(kinds, turn)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= true <= found.high
    assert held >= 184  # 95 % of 200, and chance


def test_what_cannot_be_known_is_undefined() -> None:
    found, invented = weighted_shares([(True, 10, 0, 0), (False, 20, 5, 1)])
    assert found.value is invented.value is None
    assert "labelled" in (found.problem or "")
    found, invented = weighted_shares([(True, 10, 5, 0), (False, 20, 5, 0)])
    assert found.value is None
    assert invented.value == pytest.approx(10 / 30)


def test_the_command_writes_the_sheet_and_reads_the_labels(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet = tmp_path / "mine.jsonl"
    assert execute(["judge-check", "--from", str(run), "--out", str(sheet), "--n", "12"]) == 0
    assert "12 answers to label" in capsys.readouterr().err
    rows = [json.loads(text) for text in sheet.read_text("utf-8").splitlines()]
    for row in rows[:10]:
        row["stance"] = "committed"
    sheet.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    # labels are not overwritten
    assert execute(["judge-check", "--from", str(run), "--out", str(sheet)]) == 2
    assert "may hold labels" in capsys.readouterr().err
    assert execute(["judge-check", "--from", str(run), "--labelled", str(sheet)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "2 rows of the sheet have no label" in text
    assert execute(["judge-check", "--from", str(run), "--labelled", str(sheet), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unlabelled"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "needs a judge"),
        (["rules", "--from", "RUN"], "leave 'rules' out"),
        (["--from", "RUN", "--limit", "3"], "--n says how many"),
        (["--from", "RUN", "--n", "0"], "expected 1 or more"),
        (["--from", "RUN", "--out", "labels.xls"], "expected a name ending in"),
        (["--from", "nowhere"], "does not exist"),
    ],
)
def test_mistakes_are_one_line(
    run: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [str(run) if word == "RUN" else word for word in arguments]
    assert execute(["judge-check", *given]) == 2
    error = capsys.readouterr().err.strip()
    assert message in error
    assert "Traceback" not in error


def test_a_sheet_of_another_run_is_refused(run: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "labels.csv"
    write_sheet(run, sheet, 5)
    rows = rows_of(sheet)
    with pytest.raises(InputError, match="no row has a label"):
        run_labels(run, sheet)
    rows[0]["stance"] = "sure"
    write_rows(sheet, rows)
    with pytest.raises(InputError, match="line 2: stance is 'sure'"):
        run_labels(run, sheet)
    rows[0] |= {"stance": "hedged", "run_row": "short/x/y"}
    write_rows(sheet, rows)
    with pytest.raises(InputError, match="no judged answer of"):
        run_labels(run, sheet)


def test_the_text_says_what_the_labels_mean(run: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "labels.csv"
    write_sheet(run, sheet, 40)
    rows = rows_of(sheet)
    for row in rows:
        row["stance"] = "hedged"
    write_rows(sheet, rows)
    text = " ".join(run_labels_text(run_labels(run, sheet)).head)
    assert "an unknown share (every labelled answer does)" in text
