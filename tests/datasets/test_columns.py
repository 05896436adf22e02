"""One list of columns: names, aliases, mistyped names, and one file for all four commands."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sayso import cli, datasets, score
from sayso.checks.judge import read_labelled
from sayso.datasets import columns
from sayso.datasets.answer_files import open_answer_file
from sayso.datasets.columns import columns_of, gold_in_answer, is_slip, notices_on, places_of
from sayso.datasets.recorded import read_recorded
from sayso.records import Aspect, Gold, InputError
from sayso.score_files.score import score_file
from support.tables import tabled

#: what a file may hold, under our own names
ROWS: list[dict[str, Any]] = [
    {
        "question": "Who wrote Emma?", "gold": "Jane Austen", "aliases": ["Austen", "J. Austen"],
        "answer": "Austen", "samples": ["Jane Austen", "Brontë"], "model": "small",
        "human": True, "answerable": True, "entity": "Emma", "domain": "books",
        "aspect": "author", "tier": "1",
        "context": "A novel of 1815.", "token_logprobs": [-0.5, -1.5],
        "sample_token_logprobs": [[-0.1, -0.25], [-1.5]],
        "stated_confidence": 0.9, "id": "a",
    },
    {
        "question": "Who wrote Ulysses?", "gold": "James Joyce", "aliases": ["Joyce"],
        "answer": "Oscar Wilde", "samples": ["Joyce", "Wilde"], "model": "small",
        "human": False, "answerable": True, "entity": "Ulysses", "domain": "books",
        "aspect": "author", "tier": "2",
        "context": "A novel of 1922.", "token_logprobs": [-0.1],
        "stated_confidence": 0.2, "id": "b",
    },
    {
        "question": "Who wrote Zorb?", "gold": None, "aliases": None,
        "answer": "I don't know.", "samples": ["No idea.", "Ann Zorb"], "model": "small",
        "human": True, "answerable": False, "entity": "Zorb", "domain": "books",
        "aspect": "author", "tier": "4",
        "context": None, "token_logprobs": [-0.3], "stated_confidence": 0.1,
        "id": "c",
    },
]  # fmt: skip
#: the same columns under their other names, as people write them
OTHER_NAMES = {
    "gold": "Golds", "human": "correct", "domain": "Category", "id": "custom_id",
    "question": " Question", "token_logprobs": "Token-Logprobs", "samples": "SAMPLES",
}  # fmt: skip
#: names of nobody, which --columns has to map
FOREIGN = {name: f"x_{name}_y" for name in ROWS[0]}


def renamed(names: dict[str, str]) -> list[dict[str, Any]]:
    return [{names.get(n, n): value for n, value in row.items()} for row in ROWS]


def write_jsonl(place: Path, rows: list[dict[str, Any]]) -> None:
    place.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_json(place: Path, rows: list[dict[str, Any]]) -> None:
    place.write_text(json.dumps(rows), encoding="utf-8")


def write_parquet(place: Path, rows: list[dict[str, Any]]) -> None:
    pq.write_table(pa.Table.from_pylist(rows), place)


def write_text(place: Path, rows: list[dict[str, Any]]) -> None:
    with place.open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, list(rows[0]), delimiter="\t" if place.suffix == ".tsv" else ",")
        out.writeheader()
        for row in rows:
            cells = {k: json.dumps(v) if isinstance(v, list) else v for k, v in row.items()}
            out.writerow(cells)


WRITERS: dict[str, Callable[[Path, list[dict[str, Any]]], None]] = {
    ".jsonl": write_jsonl, ".json": write_json, ".parquet": write_parquet, ".csv": write_text,
    ".tsv": write_text,
}  # fmt: skip
NAMES = {"ours": {}, "other": OTHER_NAMES, "foreign": FOREIGN}


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_one_file_is_read_alike_by_all_four(
    ending: str, names: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / f"mine{ending}"
    WRITERS[ending](file, renamed(names))
    mapped = ",".join(f"{ours}={theirs}" for ours, theirs in names.items())
    mapped = mapped if names is FOREIGN else ""
    emma = Gold("Jane Austen", ("Austen", "J. Austen"))

    asked = datasets.load_dataset(f"file:{file}{'#' if mapped else ''}{mapped}")
    recorded = read_recorded([file], columns_of(mapped))
    for questions in (asked.questions, recorded.data.questions):
        assert [q.text for q in questions] == [row["question"] for row in ROWS]
        assert questions[0].golds == (emma,)
        assert [q.answerable for q in questions] == [True, True, False]
        assert questions[2].golds is None
        assert {(q.entity, q.domain) for q in questions[:1]} == {("Emma", "books")}
        assert questions[1].aspect == Aspect("author")
        assert [q.tier for q in questions] == ["1", "2", "4"]
        assert questions[0].context == "A novel of 1815."
    (model,) = recorded.models
    assert (model.name, model.draws) == ("small", 2)
    assert sum(row.human is not None for row in model.rows.values()) == 3
    said = list(model.rows.values())
    assert [row.answer for row in said] == ["Austen", "Oscar Wilde", "I don't know."]
    assert said[0].logprobs == (-0.5, -1.5)
    assert said[0].sample_logprobs == ((-0.1, -0.25), (-1.5,))
    assert said[0].stated == 0.9

    labelled = read_labelled(file, columns_of(mapped))
    assert [row.item.generation.text for row in labelled.rows] == ["Austen", "Oscar Wilde"]
    assert [row.labels[0].right for row in labelled.rows] == [True, False]
    assert labelled.rows[0].item.questions[0].golds == (emma,)
    assert labelled.notices == ["1 row of --labeled left out: nobody can answer the question"]

    out = tmp_path / f"out{ending if ending == '.parquet' else '.jsonl'}"
    scored = score_file(
        file, out, ["length_words", "perplexity"], nli="rules",
        columns=columns_of(mapped),
    )  # fmt: skip
    assert scored.rows == 3
    assert scored.values == {"length_words": 3, "perplexity": 3}
    if ending == ".parquet":
        written = pq.read_table(out).to_pylist()
    else:
        written = [json.loads(line) for line in out.read_text().splitlines()]
    # "Austen" is an alias of the gold
    assert [row.get("correct_rules") for row in written[:2]] == [1, 0]
    for notices in (asked.notes, labelled.notices, scored.notices, model.notices):
        assert not [n for n in notices if "not read" in n], notices


def test_the_commands_take_one_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.csv"
    write_text(file, renamed({"answerable": "answerble", "human": "correct", "id": "source"}))
    typed = [
        ["data", "show", f"file:{file}"],
        ["score", str(file), "--nli", "rules", "--out", str(tmp_path / "s.csv")],
        ["run", "selective", "--answers", str(file), "--out", str(tmp_path / "run")],
        ["judge-check", "rules", "--labeled", str(file), "--set", f"cache={tmp_path / 'cache'}"],
    ]
    for words in typed:
        assert cli.execute([*words]) == 0, capsys.readouterr().err
        out = capsys.readouterr()
        told = " ".join((out.out + out.err).split())
        if words[0] != "score":  # it does not use the column, so no typing error is its business
            assert "column 'answerble' is not read; did you mean 'answerable'?" in told, words
            assert "columns not read: source" in told, words
        else:
            assert "columns not read: answerble, source" in told
            assert "column 'correct' is read as 'human', a person's verdict" in told


def test_an_answer_is_the_gold_only_where_nothing_else_is(tmp_path: Path) -> None:
    def load(*rows: dict[str, Any]) -> Any:
        file = tmp_path / "t.jsonl"
        write_jsonl(file, list(rows))
        return datasets.load_dataset(f"file:{file}")

    alone = load({"question": "Q?", "answer": "A"})
    assert alone.questions[0].golds == (Gold("A"),)
    assert "no column 'gold': 'answer' is read as the gold" in alone.notes
    both = load({"question": "Q?", "answer": "B", "gold": "A"}, {"question": "R?", "answer": "C"})
    assert [q.golds for q in both.questions] == [(Gold("A"),), None]
    assert not [n for n in both.notes if "read as the gold" in n]
    # a model's answer, since it was drawn from and judged
    for more in ({"samples": ["B"]}, {"human": True}, {"token_logprobs": [-1.0]}):
        given = load({"question": "Q?", "answer": "B", **more})
        assert given.questions[0].golds is None
    assert gold_in_answer(["question", "answer"], {"answer": "answer"}) is None
    assert gold_in_answer(["question", "Answers"], {}) == "Answers"


@tabled
def test_slips(name: str, ours: str) -> None:
    assert is_slip(columns.folded(name), ours)


@tabled
def test_what_is_no_slip(name: str) -> None:
    assert not [ours for ours in columns.COLUMNS if is_slip(name, ours)]


def test_notices_say_what_nobody_reads() -> None:
    def told(*names: str, reader: Any = "answers", **named: str) -> list[str]:
        return notices_on(["question", *names], named, reader)

    assert told("gold", "answerable", "model", "id", "prompt", "stance", "group") == []
    assert told("gold", "answerble") == [
        "column 'answerble' is not read; did you mean 'answerable'? --columns "
        "answerable=answerble reads it"
    ]
    # the column is there: nothing was mistyped
    assert told("gold", "answer", "anwser") == ["columns not read: anwser"]
    # what a command does not use is no slip there
    assert told("gold", "stnce") == ["columns not read: stnce"]
    assert told("gold", "stnce", reader="labelled")[0].endswith(
        "did you mean 'stance'? --columns stance=stnce reads it"
    )
    assert told("reference") == [
        "column 'reference' is not read; did you mean 'gold'? --columns gold=reference reads it"
    ]
    assert told("reference", gold="reference") == []
    assert told("gold", "unanswerable") == [
        "column 'unanswerable' is not read; 'answerable' says the opposite (false if nobody can "
        "answer)"
    ]
    assert told("gold", "source", "url") == ["columns not read: source, url"]
    many = told("gold", *(f"c{n}" for n in range(20)))
    assert many == [f"columns not read: {', '.join(f'c{n}' for n in range(12))} and 8 more"]
    assert told("gold", "score_problems", "words", "sequence_probability") == []
    (hostile,) = told("gold", "x\x1b[2J\u202e\n" + "y" * 200)
    assert hostile.isprintable()
    assert len(hostile) < 80
    assert told("verdict", "gold") == ["column 'verdict' is read as 'human', a person's verdict"]


@pytest.mark.parametrize("name", ["correct_answer", "glod", "goldd", "reference_answers"])
def test_a_protocol_that_finds_no_golds_names_the_likely_column(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "quiz.csv"
    file.write_text(f"question,{name}\nWho wrote Emma?,Jane Austen\n", encoding="utf-8")
    out = ["--dry-run", "--out", str(tmp_path / "run")]
    assert cli.execute(["run", "uncle", "--data", f"file:{file}", *out]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "quiz has no golds; column" in told
    assert f"did you mean 'gold'? --columns gold={name} reads it" in told
    columns = ["--columns", f"gold={name}"]
    assert cli.execute(["run", "uncle", "--data", f"file:{file}", *columns, *out]) == 0
    file.write_text(f"question,answer,{name}\nWho wrote Emma?,Jane,Jane\n", encoding="utf-8")
    assert cli.execute(["run", "selective", "--answers", str(file), *out]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert f"did you mean 'gold'? --columns gold={name} reads it" in told


def test_a_verdict_that_a_metric_is_made_of_is_no_persons(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    write_jsonl(file, [{"question": "Q?", "answer": f"A{n}", "correct": n % 2} for n in range(4)])
    people = open_answer_file(file)
    assert [row.human for row in people.rows] == [0, 1, 0, 1]
    metric = open_answer_file(file, known=["correct"])
    assert [row.human for row in metric.rows] == [None] * 4
    assert metric.notices == []
    found = score_file(
        file, tmp_path / "out.jsonl", ["length_words"], nli="rules", gold_metric="file:correct"
    )
    assert found.board is None or found.board.against == "file:correct"


def test_python_is_told_of_slips_alone() -> None:
    rows = [{"answer": "a b", "qestion": "Q?", "source": "x"}]
    with pytest.warns(UserWarning, match="'qestion' is not read; did you mean 'question'") as told:
        score(rows, ["length_words"])
    assert not [w for w in told if "columns not read" in str(w.message)]


def test_maps_of_columns() -> None:
    assert columns_of("golds=ref, verdict=ok") == {"gold": "ref", "human": "ok"}
    with pytest.raises(InputError, match="expected OURS=YOURS, with one of question, gold"):
        columns_of("golden=ref")
    with pytest.raises(InputError, match="names gold twice"):
        columns_of("golds=a,gold=b")
    # a column that was given to one of ours is no other's
    assert "answer" not in places_of(["question", "answer"], {"question": "answer"})


def test_a_row_in_which_a_gold_cannot_be_used_says_so() -> None:
    read = open_rows({"answer": "a", "gold": ["A", "B"], "aliases": ["C"]})
    assert read.gold == ("A", "B")
    assert "aliases are other ways to write a single gold, but there are 2" in read.problems
    assert open_rows({"answer": "a", "gold": [{"value": "A", "aliases": ["B"]}]}).gold == ("A", "B")
    assert open_rows({"answer": "a", "gold": 1815.0}).gold == ("1815",)


def open_rows(row: dict[str, Any]) -> Any:
    from sayso.datasets.answer_rows import answer_row

    return answer_row(row)


def test_an_option_for_a_column_of_two_words_can_be_pasted_into_a_shell() -> None:
    (told,) = notices_on(["Question", "Correct Answer"], {}, "data")
    assert "--columns 'gold=Correct Answer' reads it" in told
