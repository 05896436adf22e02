"""Loaders of TriviaQA, NQ-open, SQuAD, XQuAD and SVAMP: formats, golds, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso import datasets
from sayso.datasets import dataset, short_answers
from sayso.records import Gold, InputError


def lines(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def names(data: datasets.Dataset, place: int = 0) -> tuple[str, ...]:
    (gold,) = data.questions[place].golds or ()
    return gold.names


def test_triviaqa_in_three_formats(tmp_path: Path) -> None:
    hub = {
        "question": "Who wrote  Emma?",
        "question_id": "tc_1",
        "answer": {"value": "Jane Austen", "aliases": ["Austen", "Jane Austen"]},
    }
    own = {"question": "Who wrote Emma?", "answer": "Jane Austen"}
    first = short_answers.load_triviaqa_file(lines(tmp_path / "a.jsonl", hub))
    assert first.questions[0].text == "Who wrote Emma?"
    assert names(first) == ("Jane Austen", "Austen")  # one value and its aliases, not two values
    assert first.questions[0].entity == "tc_1"
    assert names(short_answers.load_triviaqa_file(lines(tmp_path / "b.jsonl", own))) == (
        "Jane Austen",
    )
    published_file = tmp_path / "c.json"
    row = {"Question": "Who?", "QuestionId": "q", "Answer": {"Value": "A", "Aliases": ["B"]}}
    published_file.write_text(json.dumps({"Data": [row]}), encoding="utf-8")
    assert names(short_answers.load_triviaqa_file(published_file)) == ("A", "B")


def test_nq_open_gets_its_question_mark(tmp_path: Path) -> None:
    data = short_answers.load_nq_open_file(
        lines(tmp_path / "n.jsonl", {"question": "who sang it", "answer": ["A", "B", "A"]})
    )
    assert data.questions[0].text == "who sang it?"
    assert names(data) == ("A", "B")


def test_squad_puts_the_passage_before_the_question(tmp_path: Path) -> None:
    """Of v2's file, ``squad`` takes the questions that the passage answers."""

    def asked(text: str, *answers: str, impossible: bool = False) -> dict[str, Any]:
        return {
            "question": text,
            "answers": [{"text": a, "answer_start": 0} for a in answers],
            "is_impossible": impossible,
        }

    paragraph = {
        "context": "Ann met Bob in Rome.",
        "qas": [
            asked("Where?", "Rome", "in Rome"),
            asked("When?", impossible=True),
            asked("Who?", "Ann"),
        ],
    }
    file = tmp_path / "s.json"
    file.write_text(
        json.dumps({"data": [{"title": "T", "paragraphs": [paragraph]}]}), encoding="utf-8"
    )
    data = datasets.load(f"squad:{file}")
    assert [q.text for q in data.questions] == ["Where?", "Who?"]
    assert data.questions[0].context == "Ann met Bob in Rome."
    assert names(data) == ("Rome", "in Rome")
    # questions about one passage are resampled together
    assert len({q.entity for q in data.questions}) == 1
    assert "1 left out: no answer in the passage (squad_v2 keeps them)" in data.notes
    row = {"context": "C", "question": "Q?", "answers": {"text": ["A"], "answer_start": [0]}}
    assert names(short_answers.load_squad_file(lines(tmp_path / "rows.jsonl", row))) == ("A",)


#: as the authors publish them: dev-v1.1.json and dev-v2.0.json, cut short
V1 = {
    "version": "1.1",
    "data": [{
        "title": "Normans",
        "paragraphs": [{
            "context": "The Normans gave their name to Normandy, a region in France.",
            "qas": [{
                "id": "56ddde6b9a695914005b9628",
                "question": "In what country is Normandy located?",
                "answers": [
                    {"answer_start": 53, "text": "France"},
                    {"answer_start": 53, "text": "France"},
                    {"answer_start": 50, "text": "in France"},
                ],
            }],
        }],
    }],
}  # fmt: skip
V2 = json.loads(json.dumps(V1).replace('"1.1"', '"v2.0"'))
V2["data"][0]["paragraphs"][0]["qas"][0]["is_impossible"] = False
V2["data"][0]["paragraphs"][0]["qas"].append(
    {
        "id": "5ad39d53604f3c001a3fe8d1",
        "question": "Who gave their name to Normandy in the 1000's?",
        "answers": [],
        "plausible_answers": [{"text": "Normans", "answer_start": 4}],
        "is_impossible": True,
    }
)


def squad_rows(document: dict[str, Any], *, listed: bool = False) -> list[dict[str, Any]]:
    """The same questions as the hub's rows; ``listed``: spans as a list of objects."""
    (paragraph,) = document["data"][0]["paragraphs"]
    return [
        {
            "id": asked["id"],
            "title": "Normans",
            "context": paragraph["context"],
            "question": asked["question"],
            "answers": asked["answers"]
            if listed
            else {key: [a[key] for a in asked["answers"]] for key in ("text", "answer_start")},
        }
        for asked in paragraph["qas"]
    ]


def squad_files(document: dict[str, Any], folder: Path) -> list[Path]:
    published_file = folder / "dev.json"
    published_file.write_text(json.dumps(document), encoding="utf-8")
    listed = folder / "listed.json"
    listed.write_text(json.dumps(squad_rows(document, listed=True)), encoding="utf-8")
    files = [published_file, listed, lines(folder / "rows.jsonl", *squad_rows(document))]
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.Table.from_pylist(squad_rows(document)), folder / "rows.parquet")
    return [*files, folder / "rows.parquet"]


def test_squad_v1_as_published_and_as_the_hub_keeps_it(tmp_path: Path) -> None:
    for file in squad_files(V1, tmp_path):
        for name in ("squad", "squad_v2", "xquad"):
            data = datasets.load(f"{name}:{file}")
            (question,) = data.questions
            assert question.text == "In what country is Normandy located?"
            assert question.golds == (Gold("France", ("in France",)),)
            assert question.answerable is True


def test_squad_v2_keeps_what_the_passage_does_not_answer(tmp_path: Path) -> None:
    """Unanswerable as in SelfAware; a plausible answer is a wrong one and no gold."""
    hashes = set()
    for file in squad_files(V2, tmp_path):
        data = datasets.load(f"squad_v2:{file}")
        asked, open_one = data.questions
        assert (asked.answerable, asked.domain) == (True, "answerable")
        assert (open_one.answerable, open_one.domain) == (False, "unanswerable")
        assert open_one.golds is None
        assert open_one.context == asked.context is not None
        assert "1 cannot be answered: whoever abstains is right" in data.notes
        hashes.add(data.hash)
        # the paper's setting, by either name
        assert [q.text for q in datasets.load(f"squad:{file}").questions] == [asked.text]
        only = datasets.load(f"squad_v2:{file}", domains=["answerable"])
        assert [q.text for q in only.questions] == [asked.text]
    assert len(hashes) == 1


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({}, "expected answers as a text or a list"),
        ({"answers": None}, "expected answers as a text or a list"),
        ({"answers": {"answer_start": []}}, "expected answers as a text or a list"),
        ({"answers": [], "is_impossible": False}, "no answer, though is_impossible is false"),
        ({"answers": [{"start": 3}]}, "expected answers as a text or a list"),
    ],
)
def test_a_row_that_lacks_its_answers_is_not_unanswerable(
    row: dict[str, Any], said: str, tmp_path: Path
) -> None:
    file = lines(tmp_path / "x.jsonl", {"context": "C", "question": "Q?", **row})
    for name in ("squad", "squad_v2", "xquad"):
        with pytest.raises(InputError, match=f"line 1: {said}"):
            datasets.load(f"{name}:{file}")


def test_svamp_has_its_story_as_context_and_whole_numbers(tmp_path: Path) -> None:
    story = {"ID": "chal-1", "Body": "There were 3.", "Question": "How many?", "Answer": 22.0}
    half = {**story, "ID": "chal-2", "Answer": "2.5"}
    data = short_answers.load_svamp_file(lines(tmp_path / "s.jsonl", story, half))
    assert [q.context for q in data.questions] == ["There were 3."] * 2
    assert [names(data, i) for i in (0, 1)] == [("22",), ("2.5",)]
    assert data.questions[0].golds is not None
    assert data.questions[0].golds[0].kind == "quantity"


@pytest.mark.parametrize(
    ("kind", "row", "said"),
    [
        ("triviaqa", {"question": "Who?"}, "line 1: expected answers"),
        ("triviaqa", {"question": "Who?", "answer": {"value": 3}}, "line 1: expected answers"),
        ("triviaqa", {"question": "Who?", "answer": ""}, "line 1: the answer is empty"),
        ("nq_open", {"answer": ["A"]}, "line 1: expected a text under question"),
        ("nq_open", {"question": " ", "answer": ["A"]}, "line 1: the question is empty"),
        ("squad", {"question": "Q?", "answers": {"text": ["A"]}}, "expected a text under context"),
        ("squad", {"question": "Q?", "context": "C", "answers": {"text": []}}, "no question with"),
        ("svamp", {"Body": "B", "Question": "Q?", "Answer": "many"}, "expected a number"),
        ("svamp", {"Question": "Q?", "Answer": 1}, "expected a text under Body"),
    ],
)
def test_what_is_no_such_set_is_refused_with_its_place(
    kind: str, row: dict[str, Any], said: str, tmp_path: Path
) -> None:
    file = lines(tmp_path / "x.jsonl", row)
    with pytest.raises(InputError, match=said) as error:
        datasets.load(f"{kind}:{file}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"data": 3}', "expected data"),
        ('{"data": [{"paragraphs": [{"qas": [{}]}]}]}', "after question 1: expected data"),
        ("{", "is no JSON"),
        ('{"Data": 3}', "expected data"),
    ],
)
def test_a_json_of_another_shape_is_one_line(content: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        datasets.load(f"squad:{file}")


@given(
    st.recursive(
        st.none() | st.text() | st.integers(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
        max_leaves=8,
    )
)
def test_any_rows_are_questions_or_an_input_error(row: Any) -> None:
    for items in (
        short_answers.triviaqa_items,
        short_answers.nq_open_items,
        short_answers.svamp_items,
    ):
        if not isinstance(row, dict):
            continue
        try:
            dataset.dataset_of(items([(1, row)], "x"), name="x", source="x")
        except InputError:
            pass
        else:
            assert row


def test_a_file_in_a_set_s_format_is_limited_like_the_set(tmp_path: Path) -> None:
    """A file of 87,599 questions is not asked whole because nobody said how many."""
    rows = [{"question": f"who is number {i}", "answer": [str(i)]} for i in range(450)]
    file = lines(tmp_path / "n.jsonl", *rows)
    assert len(datasets.load(f"nq_open:{file}").questions) == 400
    assert len(datasets.load(f"nq_open:{file}", limit=0).questions) == 450
    assert len(datasets.load(f"file:{file}").questions) == 450


def test_a_question_asked_before_is_asked_once_with_the_answers_of_both(tmp_path: Path) -> None:
    row = {"question": "who", "answer": ["A"]}
    again = {"question": "who", "answer": ["B", "A"]}
    data = short_answers.load_nq_open_file(lines(tmp_path / "n.jsonl", row, row, again))
    assert names(data) == ("A", "B")  # whoever says B was right by the third row
    assert "2 left out: asked before (their answers are kept)" in data.notes


def test_sets_from_the_hub_are_asked_for_by_name_and_split(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = pytest.importorskip("datasets")
    asked: list[tuple[str, str | None, str]] = []

    def load_dataset(repository: str, config: str | None, split: str) -> list[dict[str, Any]]:
        asked.append((repository, config, split))
        return [
            {
                "question": "Q?", "answer": ["A"], "context": "C", "answers": {"text": ["A"]},
                "Body": "B", "Question": "Q?", "Answer": 1,
            }
        ]  # fmt: skip

    monkeypatch.setattr(hub, "load_dataset", load_dataset)
    for name in ("triviaqa", "nq_open", "squad", "squad_v2", "xquad", "svamp"):
        assert len(datasets.load(name).questions) == 1
    datasets.load("squad", split="train")
    assert asked == [
        ("mandarjoshi/trivia_qa", "rc.nocontext", "validation"),
        ("google-research-datasets/nq_open", None, "validation"),
        ("rajpurkar/squad", None, "validation"),
        ("rajpurkar/squad_v2", None, "validation"),
        ("google/xquad", "xquad.en", "validation"),
        ("ChilleD/SVAMP", None, "test"),
        ("rajpurkar/squad", None, "train"),
    ]
    with pytest.raises(InputError, match="split 'train': google/xquad has test, dev"):
        datasets.load("xquad", split="train")
