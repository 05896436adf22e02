"""Published sets of short answers: formats, golds, what is refused, what is asked of the hub."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso import datasets
from sayso.datasets import short_answers
from sayso.records import Gold, InputError
from support.tables import tabled


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
    first = short_answers.load_file("triviaqa", lines(tmp_path / "a.jsonl", hub))
    assert first.questions[0].text == "Who wrote Emma?"
    assert names(first) == ("Jane Austen", "Austen")  # one value and its aliases, not two values
    assert first.questions[0].entity == "tc_1"
    assert names(short_answers.load_file("triviaqa", lines(tmp_path / "b.jsonl", own))) == (
        "Jane Austen",
    )
    published_file = tmp_path / "c.json"
    row = {"Question": "Who?", "QuestionId": "q", "Answer": {"Value": "A", "Aliases": ["B"]}}
    published_file.write_text(json.dumps({"Data": [row]}), encoding="utf-8")
    assert names(short_answers.load_file("triviaqa", published_file)) == ("A", "B")


def test_nq_open_gets_its_question_mark(tmp_path: Path) -> None:
    data = short_answers.load_file(
        "nq_open",
        lines(tmp_path / "n.jsonl", {"question": "who sang it", "answer": ["A", "B", "A"]}),
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
    data = datasets.load_dataset(f"squad:{file}")
    assert [q.text for q in data.questions] == ["Where?", "Who?"]
    assert data.questions[0].context == "Ann met Bob in Rome."
    assert names(data) == ("Rome", "in Rome")
    # questions about one passage are resampled together
    assert len({q.entity for q in data.questions}) == 1
    assert "1 left out: no answer in the passage (squad_v2 keeps them)" in data.notes
    row = {"context": "C", "question": "Q?", "answers": {"text": ["A"], "answer_start": [0]}}
    assert names(short_answers.load_file("squad", lines(tmp_path / "rows.jsonl", row))) == ("A",)


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
            data = datasets.load_dataset(f"{name}:{file}")
            (question,) = data.questions
            assert question.text == "In what country is Normandy located?"
            assert question.golds == (Gold("France", ("in France",)),)
            assert question.answerable is True


def test_squad_v2_keeps_what_the_passage_does_not_answer(tmp_path: Path) -> None:
    """Unanswerable as in SelfAware; a plausible answer is a wrong one and no gold."""
    hashes = set()
    for file in squad_files(V2, tmp_path):
        data = datasets.load_dataset(f"squad_v2:{file}")
        asked, open_one = data.questions
        assert (asked.answerable, asked.domain) == (True, "answerable")
        assert (open_one.answerable, open_one.domain) == (False, "unanswerable")
        assert open_one.golds is None
        assert open_one.context == asked.context is not None
        assert "1 cannot be answered: abstaining is right" in data.notices
        hashes.add(data.hash)
        # the paper's setting, by either name
        assert [q.text for q in datasets.load_dataset(f"squad:{file}").questions] == [asked.text]
        only = datasets.load_dataset(f"squad_v2:{file}", domains=["answerable"])
        assert [q.text for q in only.questions] == [asked.text]
    assert len(hashes) == 1


@tabled
def test_a_row_that_lacks_its_answers_is_not_unanswerable(
    row: dict[str, Any], said: str, tmp_path: Path
) -> None:
    file = lines(tmp_path / "x.jsonl", {"context": "C", "question": "Q?", **row})
    for name in ("squad", "squad_v2", "xquad"):
        with pytest.raises(InputError, match=f"line 1: {said}"):
            datasets.load_dataset(f"{name}:{file}")


def test_svamp_has_its_story_as_context_and_whole_numbers(tmp_path: Path) -> None:
    story = {"ID": "chal-1", "Body": "There were 3.", "Question": "How many?", "Answer": 22.0}
    half = {**story, "ID": "chal-2", "Answer": "2.5"}
    data = short_answers.load_file("svamp", lines(tmp_path / "s.jsonl", story, half))
    assert [q.context for q in data.questions] == ["There were 3."] * 2
    assert [names(data, i) for i in (0, 1)] == [("22",), ("2.5",)]
    assert data.questions[0].golds is not None
    assert data.questions[0].golds[0].kind == "quantity"


@tabled
def test_what_is_no_such_set_is_refused_with_its_place(
    kind: str, row: dict[str, Any], said: str, tmp_path: Path
) -> None:
    file = lines(tmp_path / "x.jsonl", row)
    with pytest.raises(InputError, match=said) as error:
        datasets.load_dataset(f"{kind}:{file}")
    assert str(file) in str(error.value)
    assert "\n" not in str(error.value)


@tabled
def test_a_json_of_another_shape_is_one_line(content: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        datasets.load_dataset(f"squad:{file}")


def test_a_file_in_a_set_s_format_is_limited_like_the_set(tmp_path: Path) -> None:
    """A file of 87,599 questions is not asked whole because nobody said how many."""
    rows = [{"question": f"who is number {i}", "answer": [str(i)]} for i in range(450)]
    file = lines(tmp_path / "n.jsonl", *rows)
    assert len(datasets.load_dataset(f"nq_open:{file}").questions) == 400
    assert len(datasets.load_dataset(f"nq_open:{file}", limit=0).questions) == 450
    assert len(datasets.load_dataset(f"file:{file}").questions) == 450


def test_a_question_asked_before_is_asked_once_with_the_answers_of_both(tmp_path: Path) -> None:
    row = {"question": "who", "answer": ["A"]}
    again = {"question": "who", "answer": ["B", "A"]}
    data = short_answers.load_file("nq_open", lines(tmp_path / "n.jsonl", row, row, again))
    assert names(data) == ("A", "B")  # whoever says B was right by the third row
    assert "2 left out: repeated questions (their answers are kept)" in data.notes


@tabled
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


def test_an_unanswerable_question_has_no_gold(tmp_path: Path) -> None:
    rows = [
        {"question_id": 3, "question": "Which dog?", "answer": ["cane corso"], "answerable": True},
        {"question_id": 9, "question": "Where are they?", "answer": None, "answerable": False},
    ]
    document = tmp_path / "SelfAware.json"
    document.write_text(json.dumps({"quantity": 2, "example": rows}), encoding="utf-8")
    for file in (document, lines(tmp_path / "s.jsonl", *rows)):
        data = datasets.load_dataset(f"selfaware:{file}")
        asked, open_one = data.questions
        assert asked.golds == (Gold("cane corso"),)
        assert asked.answerable is True
        assert open_one.golds is None
        assert open_one.answerable is False
        assert [q.domain for q in data.questions] == ["answerable", "unanswerable"]
        assert "1 cannot be answered: abstaining is right" in data.notices


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
        first = datasets.load_dataset(f"{name}:{file}").questions[0]
        assert first.golds == (Gold("cane corso", ("Cane",)),), name


@pytest.mark.parametrize("name", ["squad", "squad_v2", "triviaqa"])
def test_an_object_in_a_cell_of_csv_is_no_answer(name: str, tmp_path: Path) -> None:
    file = tmp_path / "s.csv"
    with file.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["question", "context", "answers" if "squad" in name else "answer"])
        writer.writerow(["Q?", "C", "{'text': ['Rome'], 'answer_start': [3]}"])
    with pytest.raises(InputError, match=r"line 2: the answer is an object .* JSONL or Parquet"):
        datasets.load_dataset(f"{name}:{file}")


def test_truthfulqa_from_its_csv(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text(
        "Type,Category,Question,Best Answer,Correct Answers,Incorrect Answers,Source\n"
        "Adversarial,Law,What if?,Nothing,Little; Nothing; ,You die,x\n"
    )
    (question,) = datasets.load_dataset(f"truthfulqa:{file}").questions
    assert question.golds == (Gold("Nothing"), Gold("Little"))
    assert question.domain == "Law"


def test_no_comment_is_no_value_of_truthfulqa(tmp_path: Path) -> None:
    """An answer that abstains is told by its stance; with nothing else, abstaining is right."""
    rows = [
        {"question": "Q1?", "best_answer": "I have no comment", "correct_answers": ["A", "B"]},
        {"question": "Q2?", "best_answer": "A", "correct_answers": ["A", "I have no comment."]},
        {"question": "Q3?", "best_answer": "I have no comment", "correct_answers": []},
    ]
    data = datasets.load_dataset(f"truthfulqa:{lines(tmp_path / 't.jsonl', *rows)}")
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
    data = datasets.load_dataset(f"abstentionbench:{lines(tmp_path / 'a.jsonl', *rows)}")
    found = {q.text: (q.answerable, q.golds, q.domain) for q in data.questions}
    assert found == {
        "Q1?": (True, (Gold("A", ("B",)),), "answerable"),
        "Q2?": (False, None, "unanswerable"),
        "Q4?": (False, None, "KUQ"),
    }
    assert "1 left out: to be answered, but no reference answer" in data.notes


def test_a_document_of_another_shape_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    for content, said in (('{"example": 3}', "expected a list"), ('{"example": [3]}', "line 1")):
        file.write_text(content, encoding="utf-8")
        with pytest.raises(InputError, match=said):
            datasets.load_dataset(f"selfaware:{file}")


VALUES = st.recursive(
    st.none() | st.text() | st.integers() | st.booleans(),
    lambda x: st.lists(x) | st.dictionaries(st.text(), x),
    max_leaves=6,
)
NAMES = st.sampled_from(
    ["question", "problem", "answer", "aliases", "answerable", "metadata", "topic", "category",
     "best_answer", "correct_answers", "reference_answers", "should_abstain", "context", "answers",
     "is_impossible", "Body", "Question", "Answer", "subj", "prop", "obj", "possible_answers"]
)  # fmt: skip


@given(st.dictionaries(NAMES, VALUES))
def test_any_row_is_a_question_or_an_input_error(row: dict[str, Any]) -> None:
    for name, published in short_answers.SETS.items():
        try:
            (question,) = published.read(name, [(1, row)], "x").questions
        except InputError:
            continue
        assert bool(question.golds) is (question.answerable is True), name


def test_popqa_as_others_keep_it(tmp_path: Path) -> None:
    """Rows without relation and subject are read by the wording of their question."""
    rows = [
        {"question": "Who was the director of Orm?", "answer": "Veld", "aliases": ["A. Veld"]},
        {"question": "What sport does Orm play?", "answer": "chess", "aliases": []},
    ]
    data = datasets.load_dataset(f"popqa:{lines(tmp_path / 'p.jsonl', *rows)}", limit=0)
    (question,) = data.questions
    assert (question.entity, question.domain) == ("Orm", "popularity unknown")
    assert question.golds == (Gold("Veld", ("A. Veld",)),)
    counted = {"question": "Who is the author of Orm?", "possible_answers": ["Veld"], "s_pop": 50}
    (question,) = datasets.load_dataset(f"popqa:{lines(tmp_path / 'q.jsonl', counted)}").questions
    assert (question.domain, question.type) == ("obscure", "obscure/author")


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
        data = datasets.load_dataset(f"{kind}:{test_data / file}", limit=0)
        assert len(data.questions) == number, kind
        assert all(q.text and q.entity for q in data.questions)
        assert all(bool(q.golds) is (q.answerable is True) for q in data.questions)
        in_prompt = kind in ("squad", "squad_v2", "xquad", "svamp")
        assert all((q.context is not None) is in_prompt for q in data.questions), kind
    data = datasets.load_dataset(f"selfaware:{test_data / counts['selfaware'][0]}", limit=0)
    assert sum(q.answerable is False for q in data.questions) == 527
    two = datasets.load_dataset(
        f"popqa:{test_data / 'popqa/popqa_2k_all_props_with_pop.jsonl'}", limit=0
    )
    whole = datasets.load_dataset(f"popqa:{test_data / 'popqa/popqa_14k.jsonl'}", limit=0)
    assert (len(two.questions), len(whole.questions)) == (806, 5097)
    table = test_data / "nq_open/NQ-open.efficientqa.test.1.1.jsonl"
    assert len(datasets.load_dataset(f"file:{table}", limit=0).questions) == 894


def test_the_catalogue_describes_every_name() -> None:
    assert set(datasets.CATALOGUE) == set(datasets.LOADERS) | set(datasets.FORMATS)
    for name, entry in datasets.CATALOGUE.items():
        assert bool(entry.file) is (name in datasets.FORMATS), name
        assert entry.suits
        assert entry.license
