"""Topics to write about, from a list of names or a table, good and bad."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sayso
from sayso import datasets
from sayso.datasets import topics
from sayso.protocols import self_known
from sayso.records import InputError
from support.scripted import ScriptedEngine
from support.tables import tabled


def lines(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write(folder: Path, name: str, text: str) -> Path:
    place = folder / name
    place.write_text(text, encoding="utf-8")
    return place


def test_a_topic_a_line(tmp_path: Path) -> None:
    place = write(tmp_path, "people.txt", "\ufeffMira Toll\n\n  Orm\tBask \r\nMira Toll\n")
    data = datasets.load_dataset(f"topics:{place}")
    assert [q.entity for q in data.questions] == ["Mira Toll", "Orm Bask"]
    assert [q.text for q in data.questions] == [
        "Tell me about Mira Toll.",
        "Tell me about Orm Bask.",
    ]
    assert data.notes[1] == "1 left out: repeated topics"
    assert not data.long
    assert data.questions[0].golds is None


def test_rows_of_every_shape(tmp_path: Path) -> None:
    rows = [
        {"topic": "Mira Toll", "cat": ["rare", "Europe"]},  # FActScore
        {"prompt": "What is the Orm treaty?", "category": "law"},  # LongFact
        {"Entity": "Bask", "prompt": "Tell me a bio of Bask.", "domain": "d", "frequency": 12},
    ]
    place = write(tmp_path, "t.jsonl", "".join(json.dumps(r) + "\n" for r in rows))
    found = datasets.load_dataset(f"topics:{place}").questions
    assert [(q.entity, q.text, q.domain) for q in found] == [
        ("Mira Toll", "Tell me about Mira Toll.", "rare"),
        ("", "What is the Orm treaty?", "law"),  # a prompt is no title
        ("Bask", "Tell me a bio of Bask.", "d, 12"),
    ]


def test_prompts_are_drawn_one_by_one(tmp_path: Path) -> None:
    rows = [{"prompt": f"What is number {n}?"} for n in range(9)]
    place = lines(tmp_path / "t.jsonl", *rows)
    assert len(datasets.load_dataset(f"topics:{place}", limit=4).questions) == 4


def test_csv_and_json(tmp_path: Path) -> None:
    table = write(tmp_path, "t.csv", 'name,domain\n"Toll, Mira",people\nOrm,\n')
    found = datasets.load_dataset(f"topics:{table}").questions
    assert [(q.entity, q.domain) for q in found] == [("Toll, Mira", "people"), ("Orm", "")]
    listed = write(tmp_path, "t.json", '[{"title": "Orm"}]')
    assert datasets.load_dataset(f"topics:{listed}").questions[0].entity == "Orm"


def test_factscore_entities_of_the_labeled_files(test_data: Path) -> None:
    data = datasets.load_dataset(f"topics:{test_data / 'factscore' / 'ChatGPT.jsonl'}", limit=10)
    assert len(data.questions) == 10
    assert len({q.domain for q in data.questions}) > 1  # spread over the rarities


@tabled
def test_bad_files_are_told_in_one_line(tmp_path: Path, name: str, text: str, message: str) -> None:
    place = write(tmp_path, name, text)
    with pytest.raises(InputError, match=message) as told:
        datasets.load_dataset(f"topics:{place}")
    assert "\n" not in str(told.value)


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_bytes(b"Mira\xff")
    for name, message in (("no.txt", "does not exist"), ("b.txt", "not UTF-8"), ("", "folder")):
        with pytest.raises(InputError, match=message):
            datasets.load_dataset(f"topics:{tmp_path / name}")


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.text(max_size=100))
def test_any_text_is_topics_or_an_error(tmp_path: Path, text: str) -> None:
    place = tmp_path / "any.txt"
    place.write_text(text, encoding="utf-8", errors="replace", newline="")
    try:
        found = datasets.load_dataset(f"topics:{place}").questions
    except InputError as error:
        if "UTF-16" in str(error) or "UTF-32" in str(error):
            assert "\0" in text[:4]
            return
        assert not "".join(c if c.isprintable() else " " for c in text).strip()
        return
    assert all(q.entity.isprintable() and q.entity.strip() == q.entity for q in found)


def test_a_run_on_topics_is_checked_against_passages(tmp_path: Path) -> None:
    place = write(tmp_path, "people.txt", "Mira Toll\nNobody Known\n")
    wiki = write(
        tmp_path,
        "wiki.jsonl",
        json.dumps({"title": "Mira Toll", "text": "Mira Toll was born in Ripley. She is a poet."}),
    )
    asked = []

    def reply(request: object) -> str:
        text = request.messages[-1].content  # type: ignore[attr-defined]
        asked.append(text)
        name = text.removeprefix("Tell me about ").rstrip(".")
        return f"{name} was born in Ripley. {name} is a judge."

    result = sayso.run(
        "self_known",
        model=ScriptedEngine(reply),
        data=f"topics:{place}",
        out=tmp_path / "run",
        cache=tmp_path / "cache",
        options=self_known.Settings(knowledge=str(wiki), modes="none", resamples=100),
        report=False,
    )
    assert sorted(asked) == ["Tell me about Mira Toll.", "Tell me about Nobody Known."]
    # Mira Toll: born S, judge NS. Nobody Known: the source has no such title
    got = result.get("factuality_micro", "method:plain")
    assert (got.numerator, got.denominator) == (1.0, 2.0)
    lost = result.get("claims_without_label", "method:plain;problem:unretrieved")
    assert lost.value == 0.5


def test_longfact_from_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "longfact-objects_gpt4"
    folder.mkdir()
    lines(folder / "longfact-objects_20th-century-events.jsonl", {"prompt": "P?", "canary": "c"})
    lines(folder / "longfact-concepts_virology.jsonl", {"prompt": "R?", "canary": "c"})
    found = {q.text: q.domain for q in datasets.load_dataset(f"longfact:{tmp_path}").questions}
    assert found == {"P?": "objects, 20th century events", "R?": "concepts, virology"}
    empty = tmp_path / "none"
    empty.mkdir()
    with pytest.raises(InputError, match=r"no \.jsonl file"):
        datasets.load_dataset(f"longfact:{empty}")
    bad = lines(folder / "x.jsonl", {"text": "P"})
    with pytest.raises(InputError, match=r"x\.jsonl line 1: expected a text under prompt"):
        datasets.load_dataset(f"longfact:{bad}")


def test_factscore_people_and_labeled_files(tmp_path: Path) -> None:
    people = tmp_path / "prompt_entities.txt"
    people.write_text("Ann Veld\nMira Toll\n")
    assert [q.text for q in datasets.load_dataset(f"factscore:{people}").questions] == [
        "Tell me about Ann Veld.",
        "Tell me about Mira Toll.",
    ]
    row = {"topic": "Ann", "cat": ["rare", "Europe"], "output": "x", "annotations": None}
    file = lines(tmp_path / "l.jsonl", row)
    assert datasets.load_dataset(f"factscore:{file}").questions[0].domain == "rare, Europe"
    # topics: keeps its one slice
    assert datasets.load_dataset(f"topics:{file}").questions[0].domain == "rare"


@given(
    st.dictionaries(
        st.sampled_from(["entity", "wiki", "category"]),
        st.none() | st.text() | st.integers() | st.booleans() | st.lists(st.text()),
    )
)
def test_any_row_of_wildhallucinations_is_a_topic_or_an_input_error(row: dict[str, Any]) -> None:
    try:
        assert list(topics.wild_topics([(1, row)], "x"))
    except InputError:
        pass
    else:
        assert isinstance(row["entity"], str)
