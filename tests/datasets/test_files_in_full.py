"""Nothing that another tool or a spreadsheet wrote is dropped without a word."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sayso import cli, datasets
from sayso.datasets.answer_files import OpenAnswers, open_answer_file
from sayso.datasets.answer_rows import AnswerRow, answer_row
from sayso.datasets.recorded import read_recorded
from sayso.datasets.tables import ANSWER_KEYS, list_in, solved, truth_value
from sayso.judges.english.lexicon import lexicon_rows
from sayso.judges.rules.judge import declines, judge_rules
from sayso.records import Gold, InputError
from sayso.runs.recorded import open_answers
from support.tables import tabled


def lines(path: Path, rows: Sequence[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def document(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def read(path: Path, **options: Any) -> tuple[list[AnswerRow], list[str]]:
    opened: OpenAnswers = open_answer_file(path, **options)
    return list(opened.rows), opened.notices


# ---- batch output


def sent(name: str, body: dict[str, Any]) -> dict[str, Any]:
    return {"custom_id": name, "response": {"status_code": 200, "body": body}, "error": None}


def chat(content: str | None, reason: str = "stop", **message: Any) -> dict[str, Any]:
    given = {"role": "assistant", "content": content, **message}
    return {"choices": [{"index": 0, "message": given, "finish_reason": reason}]}


@tabled
def test_a_reply_of_a_batch(
    body: dict[str, Any], answer: str | None, finish: str | None, told: str, tmp_path: Path
) -> None:
    ((row,), _) = read(lines(tmp_path / "out.jsonl", [sent("a", body)]))
    assert (row.answer, row.finish) == (answer, finish)
    assert told in "; ".join(row.problems)
    assert bool(row.problems) is bool(told)


def test_refusals_of_a_batch_decline_and_cut_answers_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        sent("a", chat("Tallinn")),
        sent("b", chat(None, refusal="I'm sorry, but I can't help you with this.")),
        sent("c", chat("Ljub", "length")),
        sent("d", chat("Sara", "length")),
    ]
    golds = [{"custom_id": n, "gold": g} for n, g in zip("abcd", ("Tallinn", "Rome", "Ljubljana",
             "Sarajevo"), strict=True)]  # fmt: skip
    out = lines(tmp_path / "out.jsonl", rows)
    given = ["--golds", str(lines(tmp_path / "golds.jsonl", golds)), "--nli", "rules"]
    assert cli.execute(["score", str(out), *given, "--out", str(tmp_path / "o.jsonl")]) == 0
    printed = capsys.readouterr()
    assert "2 rows, such as line 3: the answer was cut off at the token limit (length)" in (
        printed.out + printed.err
    )
    scored = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines()]
    assert [row["correct_rules"] for row in scored] == [1.0, None, 0.0, 0.0]


def test_a_run_of_batch_output_says_how_to_read_it(tmp_path: Path) -> None:
    out = lines(tmp_path / "out.jsonl", [sent("a", chat("Tallinn"))])
    with pytest.raises(
        InputError, match=r"contains no questions: sayso score .*--set requests=INPUT"
    ):
        read_recorded([out])


# ---- Inspect

OPTIONS = ["Lisbon", "Warsaw", "the Danube", "Lake Ohrid"]


def sample(number: int, text: Any, target: Any, reason: str = "stop", **more: Any) -> Any:
    choice = {"message": {"role": "assistant", "content": text}, "stop_reason": reason}
    return {
        "id": number, "epoch": 1, "input": f"Which one is it, number {number}?", "target": target,
        "output": {"choices": [choice]}, "scores": {}, **more,
    }  # fmt: skip


def logged(path: Path, *samples: Any) -> Path:
    return document(path, {"plan": {}, "eval": {"model": "m"}, "samples": list(samples)})


@tabled
def test_options_stand_behind_their_letters(text: str, read_as: str, tmp_path: Path) -> None:
    ((row,), _) = read(logged(tmp_path / "log.json", sample(1, text, "A", choices=OPTIONS)))
    assert row.answer == read_as
    assert row.own["answer"] == text
    assert row.question.splitlines()[1:] == [
        "A) Lisbon", "B) Warsaw", "C) the Danube", "D) Lake Ohrid",
    ]  # fmt: skip
    assert row.golds == (Gold("Lisbon", aliases=("A",)),)


@pytest.mark.parametrize("target", ["A", "B", "C", "D"])
@pytest.mark.parametrize(
    "said",
    [
        "{}", "ANSWER: {}", "Answer: {}", "({})", "{}.", "The answer is {}.", "**Answer: {}**",
        "It took me a while, but I would say:\n\nANSWER: {}",
    ],
)  # fmt: skip
def test_a_letter_is_right_or_wrong_as_its_option_is(
    said: str, target: str, tmp_path: Path
) -> None:
    for letter in "ABCD":
        one = sample(1, said.format(letter), target, choices=OPTIONS)
        ((row,), _) = read(logged(tmp_path / "log.json", one))
        content = judge_rules(row.question, row.gold or (), row.answer or "").content
        assert content == ("correct" if letter == target else "incorrect"), (letter, row.answer)


def test_several_right_options_are_told(tmp_path: Path) -> None:
    one = sample(1, "ANSWER: C", ["A", "C"], choices=OPTIONS)
    ((row,), _) = read(logged(tmp_path / "log.json", one))
    assert row.golds == (Gold("Lisbon and the Danube", aliases=("AC",)),)
    assert "2 options are right" in row.problems[0]


def test_what_ended_an_answer_of_inspect_is_told_and_kept(tmp_path: Path) -> None:
    thought = [{"type": "reasoning", "reasoning": "Is it 1861? Is it 1861?"}]
    path = logged(
        tmp_path / "log.json",
        sample(1, "1861", "1861"),
        sample(2, thought, "1862", "max_tokens"),
        sample(3, "18", "1863", "max_tokens"),
        sample(4, "", "1864", "content_filter"),
        sample(5, "1865", "1865", "model_length"),
    )
    rows, _ = read(path)
    assert [row.answer for row in rows] == ["1861", "", "18", "", "1865"]
    assert [row.finish for row in rows] == [
        None, "length", "length", "other: content_filter", "length",
    ]  # fmt: skip
    (model,) = open_answers(path)
    notices = "\n".join(model.notices)
    assert "2 rows: the answer was cut off at the token limit (max_tokens)" in notices
    assert "1 row: a content filter ended the answer (content_filter)" in notices


def test_turns_and_images_beside_a_question_are_told(tmp_path: Path) -> None:
    turns = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Who?"}]
    picture = [{"type": "text", "text": "Who is it?"}, {"type": "image", "image": "data:,"}]
    more = [*turns, {"role": "assistant", "content": "Ann"}, {"role": "user", "content": "When?"}]
    told = "the question is the user's last text: what stands beside it is not read"
    for given, asked, problems in (
        (turns, "Who?", ()),
        (more, "When?", (told,)),
        ([{"role": "user", "content": picture}], "Who is it?", (told,)),
    ):
        one = {**sample(1, "1861", "1861"), "input": given}
        ((row,), _) = read(logged(tmp_path / "log.json", one))
        assert (row.question, row.problems) == (asked, problems)


# ---- lm-evaluation-harness


def harness(number: int, name: str, verdict: float, **more: Any) -> dict[str, Any]:
    solution = f"Each has {number} legs.\nAll have {number}*4 legs.\n#### {number * 4}"
    return {
        "doc_id": number, "doc": {"question": f"How many legs have {number} cows?"},
        "target": solution, "arguments": {}, "resps": [[f"They have {number * 4} legs."]],
        "filtered_resps": ["[invalid]"], "filter": name, "exact_match": verdict, **more,
    }  # fmt: skip


def test_filters_that_differ_are_told_and_can_be_chosen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = [harness(n, "strict", 0.0) for n in (1, 2)] + [
        harness(n, "loose", float(n == 2)) for n in (1, 2)
    ]
    path = lines(tmp_path / "samples_cows.jsonl", log)
    rows, notices = read(path)
    assert [row.recorded for row in rows] == [
        {"exact_match,strict": 0.0, "exact_match,loose": value} for value in (0.0, 1.0)
    ]
    assert "of 2 answers are right 0 by exact_match,strict, 1 by exact_match,loose" in notices[1]
    out = ["--out", str(tmp_path / "o.jsonl"), "--nli", "rules"]
    assert cli.execute(["score", str(path), "--gold-metric", "file:exact_match", *out]) == 2
    error = capsys.readouterr().err
    assert "choose --gold-metric file:exact_match,strict or" in error
    assert error.count("\n") == 1
    chosen = ["score", str(path), "--gold-metric", "file:exact_match,loose", *out]
    assert cli.execute(chosen) == 0
    assert "1 wrong" in capsys.readouterr().out


def test_filters_that_agree_are_one(tmp_path: Path) -> None:
    log = [harness(n, name, 1.0) for name in ("strict", "loose") for n in (1, 2)]
    rows, notices = read(lines(tmp_path / "samples_cows.jsonl", log))
    assert [row.recorded for row in rows] == [{"exact_match": 1.0}] * 2
    assert notices == ["2 rows of filters other than 'strict' repeat the same answers"]


@pytest.mark.parametrize("choices", [OPTIONS, {"text": OPTIONS, "label": list("ABCD")}])
def test_options_of_the_harness(choices: Any, tmp_path: Path) -> None:
    one = harness(1, "none", 1.0, target="(B)", resps=[["The answer is (B)."]])
    one["doc"]["choices"] = choices
    ((row,), _) = read(lines(tmp_path / "samples_cities.jsonl", [one]))
    assert row.golds == (Gold("Warsaw", aliases=("B",)),)
    assert row.answer == "The answer is (B) Warsaw)."
    assert judge_rules(row.question, row.gold or (), row.answer).content == "correct"


@tabled
def test_a_worked_solution_ends_with_its_value(text: str, value: str) -> None:
    assert solved(text) == value


def test_golds_that_are_worked_solutions(tmp_path: Path) -> None:
    solution = "Two and two make four.\n#### 4"
    ((row,), _) = read(lines(tmp_path / "samples_cows.jsonl", [harness(3, "none", 1.0)]))
    assert row.gold == ("12",)
    assert answer_row({"answer": "4", "gold": solution}).gold == ("4",)
    table = lines(tmp_path / "sums.jsonl", [{"question": "How much?", "gold": solution}])
    assert datasets.load_dataset(f"file:{table}").questions[0].golds == (Gold("4"),)


# ---- promptfoo and DeepEval


def result(output: Any, gold: Any = None, kind: str = "equals", **more: Any) -> dict[str, Any]:
    asserted = [{"type": kind, "value": gold}] if gold is not None else []
    response = more.pop("response", {"output": output})
    return {
        "provider": {"id": "p"}, "vars": {"question": "Which?"}, "prompt": {"raw": "Which?"},
        "response": response, "testCase": {"assert": asserted}, **more,
    }  # fmt: skip


def promptfoo(path: Path, *results: Any) -> Path:
    return document(path, {"results": {"results": list(results)}})


@tabled
def test_an_output_of_promptfoo(
    response: dict[str, Any], answer: str | None, told: str, tmp_path: Path
) -> None:
    path = promptfoo(tmp_path / "r.json", result(None, "x", response=response))
    ((row,), _) = read(path)
    assert row.answer == answer
    assert told in "; ".join(row.problems)
    assert bool(row.problems) is bool(told)
    assert "problems" not in row.own


def test_golds_of_promptfoo_that_are_no_texts_and_asserts_that_are_no_golds(
    tmp_path: Path,
) -> None:
    path = promptfoo(
        tmp_path / "r.json",
        result(7, 7), result("true", True), result("b", "b", "icontains"),
        result("c", "{{ unknown }}"), result("d", "The answer is d.", "llm-rubric"),
        result("e", error="Expected output \"f\" to equal \"e\""),
    )  # fmt: skip
    rows, notices = read(path)
    assert [row.gold for row in rows] == [("7",), ("true",), None, None, None, None]
    assert [row.problems for row in rows] == [()] * 6
    assert notices == [
        "assertions that hold no gold that can be read: icontains (1), equals (1), llm-rubric (1)"
    ]


def test_a_chat_prompt_of_promptfoo_is_the_users_turn(tmp_path: Path) -> None:
    turns = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": [{"type": "text", "text": "Where is Uppsala?"}]},
    ]
    raw = json.dumps(turns)
    path = promptfoo(tmp_path / "r.json", result("In Sweden", vars={}, prompt={"raw": raw}))
    ((row,), _) = read(path)
    assert (row.question, row.prompt) == ("Where is Uppsala?", raw)


def test_what_of_deepeval_is_not_read_is_counted(tmp_path: Path) -> None:
    case = {"input": "How many?", "actualOutput": 3, "expectedOutput": 3, "metricsData": []}
    run = {"testCases": [case], "conversationalTestCases": [{"turns": []}, {"turns": []}]}
    ((row,), notices) = read(document(tmp_path / "d.json", run))
    assert (row.answer, row.gold) == ("3", ("3",))
    assert notices == ["conversational test cases that are not read: 2"]


# ---- cells that are messages

ASKED = [
    {"role": "user", "content": "Who painted it?"},
    {"role": "assistant", "content": "Vermeer"},
    {"role": "user", "content": "When did he die?"},
]
SAID = {"role": "assistant", "content": "In 1675."}


@pytest.mark.parametrize("kind", ["jsonl", "csv", "tsv", "parquet"])
def test_cells_that_are_messages(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"t.{kind}"
    row = {"question": ASKED, "answer": SAID, "gold": "1675"}
    if kind == "jsonl":
        lines(path, [row])
    elif kind == "parquet":
        pq.write_table(pa.Table.from_pylist([row]), path)
    else:
        sign = "," if kind == "csv" else "\t"
        quoted = ('"{}"'.format(json.dumps(v).replace('"', '""')) for v in (ASKED, SAID))
        path.write_text(sign.join(row) + "\n" + sign.join([*quoted, "1675"]) + "\n")
    ((found,), _) = read(path)
    assert (found.question, found.answer) == ("When did he die?", "In 1675.")
    assert found.problems == (
        "the question is a message or a chat: its last text is read",
        "the answer is a message or a chat: its last text is read",
    )


@tabled
def test_what_an_answers_cell_says(
    value: Any, answer: str | None, told: str, tmp_path: Path
) -> None:
    ((row,), _) = read(lines(tmp_path / "a.jsonl", [{"question": "Q?", "answer": value}]))
    assert row.answer == answer
    assert told in "; ".join(row.problems)


def test_golds_with_aliases_in_a_cell(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    written = '{""value"": ""Oslo"", ""aliases"": [""Christiania""]}'
    path.write_text(f'question\tanswer\tgold\nWhere?\tOslo\t"{written}"\n', encoding="utf-8")
    ((row,), _) = read(path)
    gold = Gold("Oslo", aliases=("Christiania",))
    assert (row.gold, row.golds) == (("Oslo", "Christiania"), (gold,))
    assert datasets.load_dataset(f"file:{path}").questions[0].golds == (gold,)
    text = answer_row({"answer": "a", "gold": '{"answer": 4}'}, loose=True)
    assert text.gold == ('{"answer": 4}',)


def test_words_about_messages_are_no_messages() -> None:
    asked = 'What does {"role": "user", "content": "hi"} do?'
    row = answer_row({"question": asked, "answer": '[{"role": "king"}]'})
    assert (row.question, row.answer, row.problems) == (asked, '[{"role": "king"}]', ())


@pytest.mark.parametrize("name", ["finish_reason", "finishReason", "stop_reason", "done_reason"])
def test_how_answers_of_ones_own_ended(name: str, tmp_path: Path) -> None:
    given = [{"question": "Q?", "answer": "a", name: end} for end in ("length", "SAFETY", "stop")]
    rows, notices = read(lines(tmp_path / "a.jsonl", given))
    assert [row.finish for row in rows] == ["length", "other: SAFETY", None]
    assert [row.problems for row in rows] == [
        ("the answer was cut off at the token limit (length)",),
        ("a content filter ended the answer (SAFETY)",),
        (),
    ]
    assert notices == []


# ---- spreadsheets


@tabled
def test_truth_in_other_languages(true: str, false: str) -> None:
    for word, value in ((true, True), (false, False)):
        for written in (word, word.upper(), f" {word.capitalize()} "):
            assert truth_value(written) is value
            row = answer_row({"answer": "a", "human": written, "answerable": written})
            assert (row.human, row.answerable, row.problems) == (float(value), value, ())


@pytest.mark.parametrize("word", ["", "vielleicht", "N", "P", "nan", "2", "0.7"])
def test_other_words_are_no_truth(word: str) -> None:
    assert truth_value(word) is None


@pytest.mark.parametrize(("name", "sign"), [("t.csv", ";"), ("t.tsv", "\t"), ("u.csv", "\t")])
def test_decimal_commas_are_told(name: str, sign: str, tmp_path: Path) -> None:
    table = [
        ("question", "answer", "gold", "stated_confidence"),
        ("How tall?", "It is 1.8 m", "1,8 m", "0,75"),
        ("How many?", "3000.25", "3.000,25", "1"),
    ]
    path = tmp_path / name
    path.write_text("\n".join(map(sign.join, table)) + "\n", encoding="utf-8")
    rows, notices = read(path)
    assert [row.gold for row in rows] == [("1,8 m",), ("3.000,25",)]
    assert [row.stated for row in rows] == [0.75, 1.0]
    for row in rows:
        assert judge_rules(row.question, row.gold or (), row.answer or "").content == "correct"
    told = [f"numbers such as {n}: three digits behind a comma are read as thousands, all others "
            "behind a comma or point as decimals"
            for n in ("1,8 in gold", "0,75 in stated_confidence")]  # fmt: skip
    assert notices == told
    assert set(told) <= {*datasets.load_dataset(f"file:{path}").notes}


def test_commas_separate_cells_without_a_note(tmp_path: Path) -> None:
    plain = tmp_path / "u.csv"
    plain.write_text('question,answer,gold\nA?,x,"1,500"\n')
    rows, notices = read(plain)
    assert rows[0].gold == ("1,500",)
    assert notices == []


# ---- cells and files as they are written


@tabled
def test_a_cell_in_every_way_of_writing(cell: str, value: Any) -> None:
    assert list_in(cell) == value


@tabled
def test_golds_of_squad(gold: Any, right: list[str] | None, tmp_path: Path) -> None:
    path = lines(tmp_path / "t.jsonl", [{"question": "Where?", "answer": "a", "gold": gold}])
    ((row,), _) = read(path)
    assert row.gold == (tuple(right) if right else None)
    assert row.problems == ()
    golds = datasets.load_dataset(f"file:{path}#question=question,gold=gold").questions[0].golds
    assert golds == (tuple(map(Gold, right)) if right else None)


@pytest.mark.parametrize("cell", ["['Riga' 'Riga City']", "[in the north]"])
def test_a_list_is_read_or_refused_in_every_command(cell: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f'question,answer,gold\nWhere?,Riga,"{cell}"\n', encoding="utf-8")
    ((row,), _) = read(path)
    if cell.startswith("['"):
        assert row.gold == ("Riga", "Riga City")
        golds = datasets.load_dataset(f"file:{path}").questions[0].golds
        assert golds == (Gold("Riga"), Gold("Riga City"))
    else:
        assert "looks like a list and cannot be read" in row.problems[0]
        assert row.gold is None
        with pytest.raises(InputError, match="looks like a list and cannot be read"):
            datasets.load_dataset(f"file:{path}")


@tabled
def test_which_options_an_answer_names(
    target: str, text: str, content: str, tmp_path: Path
) -> None:
    log = logged(tmp_path / "log.json", sample(1, text, target, choices=OPTIONS))
    ((row,), _) = read(log)
    assert judge_rules(row.question, row.gold or (), row.answer or "").content == content
    one = harness(1, "none", 1.0, target=target, resps=[[text]])
    one["doc"]["choices"] = OPTIONS
    ((row,), _) = read(lines(tmp_path / "samples_cities.jsonl", [one]))
    assert judge_rules(row.question, row.gold or (), row.answer or "").content == content


def test_choices_that_no_target_names_are_told(tmp_path: Path) -> None:
    ((row,), _) = read(logged(tmp_path / "log.json", sample(1, "E", "E", choices=OPTIONS)))
    assert row.problems == ("the choices are left out, since the target names none of them",)
    scores = {"choice": {"value": "C"}}
    one = sample(1, "A", ["A", "B"], choices=OPTIONS, scores=scores)
    ((row,), _) = read(logged(tmp_path / "log.json", one))
    assert row.problems[0].endswith("its own verdict: --gold-metric file:choice")


def test_limits_and_errors_are_told(tmp_path: Path) -> None:
    limited = sample(1, "Riga", "Riga", limit={"type": "token", "limit": 900})
    ((row,), _) = read(logged(tmp_path / "log.json", limited))
    assert row.problems == ("the sample was ended by a limit: token 900",)
    case = {"input": "Where?", "actualOutput": None, "expectedOutput": "x", "error": "too slow"}
    ((row,), _) = read(document(tmp_path / "d.json", {"testCases": [case]}))
    assert row.problems == ("failed: too slow",)


@tabled
def test_what_an_object_answers(cell: str, answer: str | None, tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", [{"question": "Q?", "answer": cell, "gold": "Warsaw"}])
    ((row,), _) = read(path)
    assert row.answer == answer
    assert bool(row.problems) is (answer != cell)


def test_keys_of_answers_are_those_of_the_judge() -> None:
    names = {name for row in lexicon_rows("answer keys") for name in row.split()}
    assert names == ANSWER_KEYS


def semicolons(path: Path, cells: Sequence[Sequence[str]]) -> Path:
    rows = [f"Question {n}?;" + ";".join(row) for n, row in enumerate(cells)]
    path.write_text("question;answer;gold\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


@tabled
def test_numbers_of_a_file_with_semicolons(
    cells: list[list[str]], contents: list[str], told: list[str], tmp_path: Path
) -> None:
    rows, notices = read(semicolons(tmp_path / "t.csv", cells))
    found = [judge_rules("How high?", row.gold or (), row.answer or "").content for row in rows]
    assert found == contents
    for place in told:
        assert any(note.startswith(f"numbers such as {place}:") for note in notices)
    assert bool(notices) is bool(told)


@tabled
def test_truth_of_other_languages_as_golds(
    cells: list[list[str]], contents: list[str], tmp_path: Path
) -> None:
    rows, notices = read(semicolons(tmp_path / "t.csv", cells))
    found = [judge_rules("Is it so?", row.gold or (), row.answer or "").content for row in rows]
    assert found == contents
    assert "words of truth are read as yes and no in: gold" in notices


def test_a_word_of_truth_among_others_stays(tmp_path: Path) -> None:
    for golds in (["Sand", "Lehm"], ["Sand", "vrai"], ["true", "false"]):
        rows, notices = read(semicolons(tmp_path / "t.csv", [["x", gold] for gold in golds]))
        assert ([row.gold for row in rows], notices) == ([(gold,) for gold in golds], [])


def test_what_spreadsheets_write_around_a_table(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("\ufeffsep=;\nquestion;answer;gold;;\nWhere?;Riga;Riga;;\n;;;;\n")
    rows, notices = read(path)
    assert ([row.answer for row in rows], notices) == (["Riga"], [])
    path.write_text("question;answer;;;gold\nWhere?;Riga;;;Riga\n")
    with pytest.raises(InputError, match="line 1: two columns have no name; name them"):
        read(path)


def test_a_quote_that_swallows_rows_is_told(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text('question\tanswer\tgold\nA?\t"Emma, a novel\tx\nB?\ty\ty\nC?\tz"\tz\n')
    _, notices = read(path)
    assert notices == ["lines 2 to 4: one quoted cell holds whole rows; is a quote not closed?"]
    path.write_text('question\tanswer\tgold\nA?\t"one\ntwo\tparts\nthree"\tx\n')
    assert read(path)[1] == []


def test_a_list_inside_an_object_is_named(tmp_path: Path) -> None:
    path = document(tmp_path / "t.json", {"version": 1, "data": [{"question": "Q?"}]})
    with pytest.raises(InputError, match="save what is under 'data' as a file of its own"):
        read(path)


@pytest.mark.parametrize("gold", ["N/A", "NA", "None", "CANNOTANSWER", "null"])
def test_golds_that_say_there_is_no_answer_in_one_word(gold: str, tmp_path: Path) -> None:
    assert declines("Where is the key?", [gold])
    assert judge_rules("Where is the key?", [gold], "The text does not say.").content == "correct"
    assert judge_rules("Where is the key?", [gold], "In Berlin.").content == "incorrect"
    row = {"question": "Where is the key?", "gold": gold, "answerable": False}
    path = lines(tmp_path / "t.jsonl", [row])
    assert datasets.load_dataset(f"file:{path}").questions[0].golds is None


def test_a_symbol_is_no_missing_value() -> None:
    assert not declines("What is the symbol of sodium?", ["Na"])
