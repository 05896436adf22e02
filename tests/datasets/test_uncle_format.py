"""UNCLE's record format: joins, shared questions, types, and every way a file can be wrong."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso import datasets
from sayso.datasets import uncle
from sayso.records import InputError
from support.tables import tabled


def part(question: str = "When was Ada born?", answer: Any = None, **more: Any) -> dict[str, Any]:
    return {
        "question": question,
        "answer": ["1815-12-10T00:00:00Z"] if answer is None else answer,
        "label": "date of birth",
        "description": "birth date",
        "property_id": "P569",
        **more,
    }


def record(**more: Any) -> dict[str, Any]:
    return {
        "entity": "Ada",
        "prompt": "Write about Ada, covering birth date.",
        "domain": "bios",
        "individual_qa": [part()],
        **more,
    }


def load(*rows: Any) -> datasets.Dataset:
    return uncle.from_records(enumerate(rows, 1), name="mine", source="mine.jsonl")


def test_a_record_becomes_a_long_question_and_its_parts() -> None:
    data = load(record())
    (short,), (long,) = data.short, data.long
    assert long.parts == (short.id,)
    assert short.golds is not None
    assert (short.golds[0].kind, short.golds[0].value) == ("date", "1815-12-10T00:00:00Z")
    assert short.type == "bios/P569"
    assert short.entity == long.entity == "Ada"


def test_the_type_is_the_description_where_there_is_no_property() -> None:
    data = load(record(individual_qa=[part(property_id="")]))
    assert data.short[0].type == "bios/birth date"


def test_a_question_shared_by_two_prompts_is_one_question_in_two_aspects() -> None:
    data = load(record(), record(prompt="Tell me about Ada: birth date."))
    assert (len(data.short), len(data.long)) == (1, 2)
    assert [q.parts for q in data.long] == [(data.short[0].id,)] * 2


def test_golds_are_numbers_too() -> None:
    (short,) = load(record(individual_qa=[part(answer=[6, 2.0, None, "six"])])).short
    assert [gold.value for gold in short.golds or ()] == ["6", "2", "six"]


def test_ids_depend_on_what_is_asked_not_on_order_or_golds() -> None:
    one = load(record(), record(entity="Bob", prompt="Write about Bob."))
    two = load(
        record(entity="Bob", prompt="Write about Bob."),
        record(individual_qa=[part(answer=["1816"])]),
    )
    assert {q.id for q in one.questions} == {q.id for q in two.questions}
    assert one.hash != two.hash  # golds differ


@tabled
def test_what_is_wrong_is_said_with_its_place(rows: list[Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        load(*rows)
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda x: st.lists(x, max_size=3) | st.dictionaries(st.text(max_size=8), x, max_size=3),
    max_leaves=8,
)


@given(
    st.lists(
        JSON
        | st.fixed_dictionaries(
            {
                "entity": st.text(max_size=4),
                "prompt": st.text(max_size=4),
                "individual_qa": st.lists(
                    st.fixed_dictionaries(
                        {
                            "question": st.text(max_size=4),
                            "answer": st.lists(st.text(max_size=3), max_size=2) | JSON,
                            "description": st.text(max_size=3),
                        }
                    ),
                    max_size=3,
                ),
            }
        ),
        max_size=4,
    )
)
def test_any_rows_load_or_are_refused_in_one_line(rows: list[Any]) -> None:
    try:
        data = load(*rows)
    except InputError as error:
        said = str(error)
    else:
        said = ""
    assert len(said.splitlines()) < 2
    if said:
        return
    ids = {q.id for q in data.short}
    assert all(part in ids for q in data.long for part in q.parts)


def test_the_published_set_is_taken_as_it_is_and_what_is_left_out_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No hub here: a stand-in for the library returns two splits, one row faulty, one repeated."""
    rows = {
        "train": [record(), record()],
        "more": [record(prompt="B", individual_qa=[part(answer=[])])],
    }
    fake = SimpleNamespace(
        load_dataset=lambda name, config, split: rows,
        exceptions=SimpleNamespace(DatasetsError=KeyError),
    )
    monkeypatch.setitem(sys.modules, "datasets", fake)
    data = uncle.load_uncle()
    assert (data.rows, len(data.long)) == (3, 1)
    assert "1 left out: duplicate prompt" in data.notes
    assert "1 left out: empty answer list" in data.notes
    assert any("3 rows, not the 1066 or 3932" in note for note in data.notes)


class ProxyError(Exception):
    """An error that descends from none of Python's own, as those of HTTP clients do."""


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConnectionError("no route\nto host"), "no route"),
        (ProxyError("403 Forbidden"), "403 Forbidden"),
        (AttributeError("'list' object has no attribute 'get'"), "something other than"),
    ],
)
def test_a_hub_that_cannot_be_reached_is_one_line(
    monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    def refuse(*asked: object, **more: object) -> None:
        raise error

    told = SimpleNamespace(DatasetsError=KeyError)
    hub = SimpleNamespace(load_dataset=refuse, exceptions=told)
    monkeypatch.setitem(sys.modules, "datasets", hub)
    with pytest.raises(InputError, match="could not be loaded from the hub") as caught:
        uncle.load_uncle()
    assert "--data uncle:FILE" in str(caught.value)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def world(tmp_path: Path) -> Path:
    rows = [
        record(entity=f"{domain}{i}", prompt=f"About {domain}{i}.", domain=domain)
        for domain, size in (("bios", 30), ("films", 10))
        for i in range(size)
    ]
    path = tmp_path / "world.jsonl"
    path.write_text("\n".join(json.dumps(r) for r in rows), encoding="utf-8")
    return path


def test_a_limit_takes_whole_entities_in_proportion_and_by_seed(tmp_path: Path) -> None:
    path = str(world(tmp_path))
    some = datasets.load_dataset(path, limit=8, seed=1)
    counted = [q.domain for q in some.long]
    assert (counted.count("bios"), counted.count("films")) == (6, 2)
    assert some.hash == datasets.load_dataset(path, limit=8, seed=1).hash
    assert some.hash != datasets.load_dataset(path, limit=8, seed=2).hash
    parts = {p for q in some.long for p in q.parts}
    assert parts == {q.id for q in some.short}
    # a larger limit keeps what a smaller one took: answers already paid for stay in use
    more = datasets.load_dataset(path, limit=12, seed=1)
    assert {q.id for q in some.questions} <= {q.id for q in more.questions}


def test_domains_are_chosen_by_name(tmp_path: Path) -> None:
    path = str(world(tmp_path))
    assert {q.domain for q in datasets.load_dataset(path, domains=["films"]).questions} == {"films"}
    with pytest.raises(InputError, match="'books' is not in world; it has bios, films"):
        datasets.load_dataset(path, domains=["books"])


def test_a_record_of_listing_1_names_its_parts_by_label_or_not_at_all() -> None:
    """The paper's Listing 1 has plain answers and no description."""

    def row(**more: str) -> dict[str, Any]:
        asks = {"question": "When was Ada born?", "answer": ["1931"], **more}
        return {
            "entity": "Ada",
            "prompt": "In a paragraph, introduce Ada.",
            "individual_qa": [asks],
        }

    named = uncle.from_records([(1, row(label="birth date"))], name="n", source="s")
    bare = uncle.from_records([(1, row())], name="n", source="s")
    assert [q.aspect and q.aspect.description for q in named.short] == ["birth date"]
    assert [q.aspect and q.aspect.description for q in bare.short] == [""]
    assert any("1 aspects are not named" in note for note in named.notes)
    assert not any("not named" in note for note in bare.notes)


def test_the_builtin_world_has_disjoint_splits() -> None:
    names = {
        split: {q.entity for q in datasets.load_dataset("builtin", split=split, limit=0).questions}
        for split in ("test", "dev", "train")
    }
    assert len(names["test"]) >= 400
    assert len(names["dev"]) >= 150
    assert not names["test"] & names["dev"]
    assert not names["train"] & (names["test"] | names["dev"])
    assert len({q.entity for q in datasets.load_dataset("builtin").questions}) == 200


def test_a_question_that_only_a_left_out_row_asks_is_not_asked() -> None:
    def row(question: str) -> dict[str, Any]:
        part = {"question": question, "answer": ["x"], "description": "a"}
        return {"entity": "e", "prompt": "The same.", "domain": "d", "individual_qa": [part]}

    rows = [(1, row("q1?")), (2, row("q2?"))]
    data = uncle.from_records(rows, name="n", source="s", strict=False)
    assert [q.text for q in data.short] == ["q1?"]
    assert "1 left out: duplicate prompt" in data.notes


def test_white_space_makes_no_other_question() -> None:
    """What is asked is the stripped text, so the id is the stripped text's."""
    padded = load(record(individual_qa=[part(" When was Ada born? ")]))
    plain = load(record(individual_qa=[part("When was Ada born?")]))
    assert [q.id for q in padded.short] == [q.id for q in plain.short]
    with pytest.raises(InputError, match="question twice in one prompt"):
        load(record(individual_qa=[part("When was Ada born?"), part("When was Ada born? ")]))


def test_a_prompt_that_is_a_question_would_share_its_id() -> None:
    asks = part("Who is Ada?")
    with pytest.raises(InputError, match="line 1: question that is also a prompt"):
        load(record(prompt="Who is Ada?", individual_qa=[asks]))
    first, second = record(individual_qa=[asks]), record(prompt="Who is Ada?")
    with pytest.raises(InputError, match="line 2: prompt that is also a question"):
        load(first, second)
    with pytest.raises(InputError, match="line 2: question that is also a prompt"):
        load(second, first)


def test_a_gold_without_text_is_none() -> None:
    with pytest.raises(InputError, match="empty answer list"):
        load(record(individual_qa=[part(answer=[{"value": " "}])]))
