"""Loaders of SimpleQA, SelfAware, TruthfulQA and others: files, golds, and what is refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso import datasets
from sayso.datasets import dataset, long_texts, short_answers
from sayso.records import Gold, InputError


def lines(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("answer", "forms"),
    [
        ("Paris", ["Paris"]),
        ("120k (acceptable range: anything between 118k and 122k)", ["120k", "118k to 122k"]),
        ("1,200 (Acceptable Range: between 1,150 and 1,250).", ["1,200", "1,150 to 1,250"]),
        ("(acceptable range: between 1 and 2)", ["1 to 2"]),
        ("1998 (the year)", ["1998 (the year)"]),
    ],
)
def test_a_range_that_is_accepted_writes_the_number_too(answer: str, forms: list[str]) -> None:
    assert short_answers.ways(answer) == forms


@pytest.mark.parametrize(
    ("row", "topic"),
    [
        ({"metadata": "{'topic': 'Art', 'urls': ['x']}"}, "Art"),
        ({"metadata": "__import__('os').system('true')"}, ""),  # read as data, never run
        ({"metadata": "{'topic': "}, ""),
        ({"metadata": "(" * 5000}, ""),
        ({"topic": "Sports\n1"}, "Sports 1"),
        ({"topic": None}, ""),
    ],
)
def test_the_topic_of_simpleqa(row: dict[str, Any], topic: str) -> None:
    assert short_answers.topic(row) == topic


def test_simpleqa_from_its_csv(tmp_path: Path) -> None:
    file = tmp_path / "s.csv"
    file.write_text("metadata,problem,answer\n\"{'topic': 'Art'}\",Who?,\"Ann, B.\"\n")
    (question,) = datasets.load(f"simpleqa:{file}").questions
    assert question.golds == (Gold("Ann, B."),)
    assert (question.domain, question.dataset) == ("Art", "simpleqa")
    assert datasets.load(f"simpleqa_verified:{file}").name == "simpleqa_verified"


def test_an_unanswerable_question_has_no_gold(tmp_path: Path) -> None:
    rows = [
        {"question_id": 3, "question": "Which dog?", "answer": ["cane corso"], "answerable": True},
        {"question_id": 9, "question": "Where are they?", "answer": None, "answerable": False},
    ]
    document = tmp_path / "SelfAware.json"
    document.write_text(json.dumps({"quantity": 2, "example": rows}), encoding="utf-8")
    for file in (document, lines(tmp_path / "s.jsonl", *rows)):
        data = datasets.load(f"selfaware:{file}")
        asked, open_one = data.questions
        assert asked.golds == (Gold("cane corso"),)
        assert asked.answerable is True
        assert open_one.golds is None
        assert open_one.answerable is False
        assert [q.domain for q in data.questions] == ["answerable", "unanswerable"]
        assert "1 cannot be answered: whoever abstains is right" in data.notes


@pytest.mark.parametrize("cell", ["['cane corso', 'Cane']", '["cane corso", "Cane"]'])
def test_a_list_in_a_cell_of_csv_is_a_list(cell: str, tmp_path: Path) -> None:
    """As pandas and spreadsheets keep the hub's rows: not one answer with brackets."""
    file = tmp_path / "s.csv"
    with file.open("w", newline="") as out:
        rows = [["question", "answer", "answerable"], ["Q?", cell, "True"], ["R?", "", "False"]]
        csv.writer(out).writerows(rows)
    for name in ("selfaware", "nq_open", "triviaqa", "simpleqa"):
        if name != "selfaware":
            file.write_text(file.read_text().replace("R?,,False\n", "").replace("R?,,False", ""))
        first = datasets.load(f"{name}:{file}").questions[0]
        assert first.golds == (Gold("cane corso", ("Cane",)),), name


@pytest.mark.parametrize("name", ["squad", "squad_v2", "triviaqa"])
def test_an_object_in_a_cell_of_csv_is_no_answer(name: str, tmp_path: Path) -> None:
    file = tmp_path / "s.csv"
    with file.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["question", "context", "answers" if "squad" in name else "answer"])
        writer.writerow(["Q?", "C", "{'text': ['Rome'], 'answer_start': [3]}"])
    with pytest.raises(InputError, match=r"line 2: the answer is an object .* JSONL or Parquet"):
        datasets.load(f"{name}:{file}")


def test_truthfulqa_from_its_csv(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text(
        "Type,Category,Question,Best Answer,Correct Answers,Incorrect Answers,Source\n"
        "Adversarial,Law,What if?,Nothing,Little; Nothing; ,You die,x\n"
    )
    (question,) = datasets.load(f"truthfulqa:{file}").questions
    assert question.golds == (Gold("Nothing"), Gold("Little"))
    assert question.domain == "Law"


def test_no_comment_is_no_value_of_truthfulqa(tmp_path: Path) -> None:
    """An answer that abstains is told by its stance; with nothing else, abstaining is right."""
    rows = [
        {"question": "Q1?", "best_answer": "I have no comment", "correct_answers": ["A", "B"]},
        {"question": "Q2?", "best_answer": "A", "correct_answers": ["A", "I have no comment."]},
        {"question": "Q3?", "best_answer": "I have no comment", "correct_answers": []},
    ]
    data = datasets.load(f"truthfulqa:{lines(tmp_path / 't.jsonl', *rows)}")
    found = {q.text: (q.answerable, q.golds) for q in data.questions}
    assert found == {
        "Q1?": (True, (Gold("A"), Gold("B"))),
        "Q2?": (True, (Gold("A"),)),
        "Q3?": (False, None),
    }


def test_abstentionbench_takes_exported_rows(tmp_path: Path) -> None:
    rows = [
        {"question": "Q1?", "reference_answers": ["A", "B"], "should_abstain": False},
        {"question": "Q2?", "reference_answers": None, "should_abstain": True},
        {"question": "Q3?", "reference_answers": [], "should_abstain": False},  # nothing to check
        {"question": "Q4?", "reference_answers": ["C"], "should_abstain": True, "dataset": "KUQ"},
    ]
    data = datasets.load(f"abstentionbench:{lines(tmp_path / 'a.jsonl', *rows)}")
    found = {q.text: (q.answerable, q.golds, q.domain) for q in data.questions}
    assert found == {
        "Q1?": (True, (Gold("A", ("B",)),), "answerable"),
        "Q2?": (False, None, "unanswerable"),
        "Q4?": (False, None, "KUQ"),
    }
    assert "1 left out: to be answered, but no reference answer" in data.notes


def test_longfact_from_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "longfact-objects_gpt4"
    folder.mkdir()
    lines(folder / "longfact-objects_20th-century-events.jsonl", {"prompt": "P?", "canary": "c"})
    lines(folder / "longfact-concepts_virology.jsonl", {"prompt": "R?", "canary": "c"})
    found = {q.text: q.domain for q in datasets.load(f"longfact:{tmp_path}").questions}
    assert found == {"P?": "objects, 20th century events", "R?": "concepts, virology"}
    empty = tmp_path / "none"
    empty.mkdir()
    with pytest.raises(InputError, match=r"no \.jsonl file"):
        datasets.load(f"longfact:{empty}")
    bad = lines(folder / "x.jsonl", {"text": "P"})
    with pytest.raises(InputError, match=r"x\.jsonl line 1: expected a text under prompt"):
        datasets.load(f"longfact:{bad}")


def test_factscore_people_and_labeled_files(tmp_path: Path) -> None:
    people = tmp_path / "prompt_entities.txt"
    people.write_text("Ann Veld\nMira Toll\n")
    assert [q.text for q in datasets.load(f"factscore:{people}").questions] == [
        "Tell me about Ann Veld.",
        "Tell me about Mira Toll.",
    ]
    row = {"topic": "Ann", "cat": ["rare", "Europe"], "output": "x", "annotations": None}
    file = lines(tmp_path / "l.jsonl", row)
    assert datasets.load(f"factscore:{file}").questions[0].domain == "rare, Europe"
    # topics: keeps its one slice
    assert datasets.load(f"topics:{file}").questions[0].domain == "rare"


@pytest.mark.parametrize(
    ("kind", "row", "said"),
    [
        ("simpleqa", {"answer": "A"}, "line 1: expected a text under problem or question"),
        ("simpleqa", {"problem": "Q?"}, "line 1: expected answers"),
        ("simpleqa", {"problem": "Q?", "answer": " "}, "line 1: the answer is empty"),
        ("selfaware", {"question": "Q?", "answer": ["A"]}, "answerable is None; expected true"),
        ("selfaware", {"question": "Q?", "answerable": True}, "line 1: expected answers"),
        ("selfaware", {"question": "Q?", "answerable": 3}, "answerable is 3"),
        ("truthfulqa", {"question": "Q?", "best_answer": ""}, "line 1: the answer is empty"),
        ("truthfulqa", {"best_answer": "A"}, "line 1: expected a text under question"),
        ("abstentionbench", {"question": "Q?"}, "should_abstain is None"),
        ("wildhallucinations", {"category": "x"}, "line 1: expected a text under entity"),
        ("longfact", {"prompt": " "}, "line 1: expected a text under prompt"),
    ],
)
def test_what_is_no_such_set_is_refused_with_its_place(
    kind: str, row: dict[str, Any], said: str, tmp_path: Path
) -> None:
    file = lines(tmp_path / "x.jsonl", row)
    with pytest.raises(InputError, match=said) as error:
        datasets.load(f"{kind}:{file}")
    assert "\n" not in str(error.value)
    assert str(file) in str(error.value)


def test_a_document_of_another_shape_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    for content, said in (('{"example": 3}', "expected a list"), ('{"example": [3]}', "line 1")):
        file.write_text(content, encoding="utf-8")
        with pytest.raises(InputError, match=said):
            datasets.load(f"selfaware:{file}")


VALUES = st.recursive(
    st.none() | st.text() | st.integers() | st.booleans(),
    lambda x: st.lists(x) | st.dictionaries(st.text(), x),
    max_leaves=6,
)
NAMES = st.sampled_from(
    ["question", "problem", "answer", "aliases", "answerable", "metadata", "topic", "category",
     "best_answer", "correct_answers", "reference_answers", "should_abstain", "entity", "wiki"]
)  # fmt: skip


@given(st.dictionaries(NAMES, VALUES))
def test_any_rows_are_questions_or_an_input_error(row: dict[str, Any]) -> None:
    left: list[int] = []
    readers = (
        lambda rows: short_answers.simpleqa_items(rows, "x"),
        lambda rows: short_answers.selfaware_items(rows, "x"),
        lambda rows: short_answers.truthfulqa_items(rows, "x"),
        lambda rows: short_answers.abstentionbench_items(rows, "x", left),
    )
    for items in readers:
        try:
            data = dataset.dataset_of(items([(1, row)]), name="x", source="x")
        except InputError:
            continue
        (question,) = data.questions
        assert bool(question.golds) is (question.answerable is True)
    try:
        assert list(long_texts.rows_of([(1, row)], "x"))
    except InputError:
        pass
    else:
        assert isinstance(row["entity"], str)


def test_popqa_as_others_keep_it(tmp_path: Path) -> None:
    """Rows without relation and subject are read by the wording of their question."""
    rows = [
        {"question": "Who was the director of Orm?", "answer": "Veld", "aliases": ["A. Veld"]},
        {"question": "What sport does Orm play?", "answer": "chess", "aliases": []},
    ]
    data = datasets.load(f"popqa:{lines(tmp_path / 'p.jsonl', *rows)}", limit=0)
    (question,) = data.questions
    assert (question.entity, question.domain) == ("Orm", "popularity not told")
    assert question.golds == (Gold("Veld", ("A. Veld",)),)
    counted = {"question": "Who is the author of Orm?", "possible_answers": ["Veld"], "s_pop": 50}
    (question,) = datasets.load(f"popqa:{lines(tmp_path / 'q.jsonl', counted)}").questions
    assert (question.domain, question.type) == ("obscure", "obscure/author")


def test_the_catalogue_describes_every_name() -> None:
    assert set(datasets.CATALOGUE) == set(datasets.LOADERS) | set(datasets.FORMATS)
    for name, entry in datasets.CATALOGUE.items():
        assert bool(entry.file) is (name in datasets.FORMATS), name
        assert entry.suits
        assert entry.license


@pytest.mark.data
def test_published_files_are_read_whole(test_data: Path) -> None:
    counts = {
        "simpleqa": ("simpleqa/simpleqa.jsonl", 3009),
        "selfaware": ("selfaware/SelfAware.jsonl", 1760),
        "factscore": ("factscore/ChatGPT.jsonl", 88),
        "nq_open": ("nq_open/NQ-open.dev.jsonl", 1781),
        "triviaqa": ("uqnlg/triviaqa_20_samples.jsonl", 257),
        "xquad": ("squad/xquad.en.json", 1185),  # five are asked twice of one passage
        "squad": ("squad/xquad.en.json", 1185),  # v1.1 and v2 have the same shape
        "squad_v2": ("squad/xquad.en.json", 1185),
        "svamp": ("svamp/SVAMP.jsonl", 506),
        "topics": ("factscore/PerplexityAI.jsonl", 88),
        "file": ("nq_open/NQ-open.efficientqa.test.1.1.jsonl", 894),
        "popqa": ("popqa/popqa_1k_popularity.jsonl", 683),
    }
    for kind, (file, number) in counts.items():
        data = datasets.load(f"{kind}:{test_data / file}", limit=0)
        assert len(data.questions) == number, kind
        assert all(q.text and q.entity for q in data.questions)
        assert all(bool(q.golds) is (q.answerable is True) for q in data.questions)
        in_prompt = kind in ("squad", "squad_v2", "xquad", "svamp")
        assert all((q.context is not None) is in_prompt for q in data.questions), kind
    data = datasets.load(f"selfaware:{test_data / counts['selfaware'][0]}", limit=0)
    assert sum(q.answerable is False for q in data.questions) == 527
    two = datasets.load(f"popqa:{test_data / 'popqa/popqa_2k_all_props_with_pop.jsonl'}", limit=0)
    whole = datasets.load(f"popqa:{test_data / 'popqa/popqa_14k.jsonl'}", limit=0)
    assert (len(two.questions), len(whole.questions)) == (806, 5097)
    table = test_data / "nq_open/NQ-open.efficientqa.test.1.1.jsonl"
    assert len(datasets.load(f"file:{table}", limit=0).questions) == 894
