"""Texts that exist already, with labels of people or without; and pieces found in their source."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.datasets.long_texts import GivenClaim, GivenSentence, Squeezed, read_texts
from sayso.records import InputError
from sayso.runs.texts import texts_by_model
from support.tables import tabled


def one(folder: Path, row: Any) -> Any:
    place = folder / "t.jsonl"
    place.write_text(json.dumps(row) + "\n", encoding="utf-8")
    (found,) = read_texts(place)
    return found


def test_factscore_by_hand(tmp_path: Path) -> None:
    text = "Mira is a poet. Mira is a poet.\nI hope this helps."
    row = {
        "topic": "Mira",
        "input": "Question: Tell me a bio of Mira.",
        "output": text,
        "cat": ["rare", "Europe"],
        "annotations": [
            {
                "text": "Mira is a poet.",
                "is-relevant": True,
                "human-atomic-facts": [
                    {"text": "Mira is a poet.", "label": "S"},
                    {"text": "Mira is.", "label": "IR"},
                ],
            },
            {
                "text": "Mira is a poet.",
                "is-relevant": True,
                "human-atomic-facts": [{"text": "Mira is a poet.", "label": "NS"}],
            },
            {"text": "I hope this helps.", "is-relevant": False, "human-atomic-facts": None},
        ],
    }
    found = one(tmp_path, row)
    assert (found.topic, found.domain, found.abstained, found.unplaced) == (
        "Mira",
        "rare",
        False,
        0,
    )
    # equal sentences are two: 0-15 and 16-31; the third stands after the line break
    assert found.sentences == (
        GivenSentence(0, 15, True),
        GivenSentence(16, 31, True),
        GivenSentence(32, 50, False),
    )
    assert [(c.sentence, c.label) for c in found.claims] == [(1, "S"), (1, "IR"), (2, "NS")]


def test_a_thought_is_left_out(tmp_path: Path) -> None:
    found = one(tmp_path, {"text": "<think>Hm.</think> Mira sang.", "topic": "Mira"})
    assert (found.text, found.thinking, found.unended) == ("Mira sang.", "Hm.", False)
    found = one(tmp_path, {"text": "<think>Hm.", "topic": "Mira"})
    assert (found.text, found.thinking, found.unended) == ("", "Hm.", True)


def test_null_annotations_are_an_abstention(tmp_path: Path) -> None:
    found = one(tmp_path, {"topic": "M", "output": "I don't know.", "annotations": None})
    assert found.abstained
    assert (found.sentences, found.claims) == ((), ())


def test_a_sentence_that_is_not_in_the_text_is_counted(tmp_path: Path) -> None:
    row = {
        "topic": "M",
        "output": "One. Three.",
        "annotations": [{"text": "One."}, {"text": "Two."}, {"text": "Three."}],
    }
    found = one(tmp_path, row)
    assert found.unplaced == 1
    # it lies where the one before it ended, without width, so that the count of sentences stays
    assert [s[:2] for s in found.sentences] == [(0, 4), (4, 4), (5, 11)]


@tabled
def test_labels_by_hand(tmp_path: Path, label: object, expected: str | None) -> None:
    found = one(tmp_path, {"text": "x", "claims": [{"text": "c", "label": label, "sentence": 2}]})
    problem = None if expected else "unlabeled"
    assert found.claims == (GivenClaim("c", expected, 2, problem),)


def test_own_rows(tmp_path: Path) -> None:
    bare = one(tmp_path, {"entity": "M", "response": "A text.", "prompt": "Why?", "category": "d"})
    assert (bare.topic, bare.text, bare.prompt, bare.domain) == ("M", "A text.", "Why?", "d")
    assert bare.claims is None
    listed = one(tmp_path, {"text": "x", "claims": ["a", "b"], "claim_labels": [True, "unknown"]})
    assert [(c.text, c.label) for c in listed.claims] == [("a", "S"), ("b", None)]
    empty = one(tmp_path, {"text": "x", "claims": []})
    assert empty.claims == ()  # people looked, and it claims nothing
    words = one(tmp_path, {"text": "x", "claims": ["a"]})
    assert words.claims == (GivenClaim("a", None, None, "unlabeled"),)


@tabled
def test_bad_rows_are_told_with_their_line(tmp_path: Path, row: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as told:
        one(tmp_path, row)
    assert "line 1" in str(told.value)
    assert "\n" not in str(told.value)


def test_a_prompt_is_no_topic(tmp_path: Path) -> None:
    for row in ({"output": "A.", "annotations": []}, {"text": "A."}):
        read = one(tmp_path, {"prompt": "Who is Mira Toll?", **row})
        assert (read.topic, read.prompt) == ("", "Who is Mira Toll?")


def test_an_empty_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "e.jsonl").write_text("")
    with pytest.raises(InputError, match="is empty"):
        list(read_texts(tmp_path / "e.jsonl"))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
fields = st.sampled_from(
    ["text", "output", "topic", "claims", "claim_labels", "annotations", "label", "sentence", "cat"]
)


@given(st.dictionaries(fields, json_values | st.lists(st.dictionaries(fields, json_values))))
def test_any_row_is_a_text_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, row: dict[str, Any]
) -> None:
    try:
        found = one(tmp_path_factory.getbasetemp(), row)
    except InputError:
        return
    for c in found.claims or ():
        assert (c.label is None) == (c.problem is not None)


# --- locating ---


def test_pieces_are_found_in_order_whatever_the_space_and_marks() -> None:
    text = "He  won.[1]\n\nHe won. He left[2][31]."
    source = Squeezed(text)
    found = [source.find(piece) for piece in ("He won.", "He won.", "He won.", "He left.")]
    # 0-8 without the mark; the second at 13-20; there is no third; the last reaches its full stop
    assert found == [(0, 8), (13, 20), None, (21, 36)]
    assert text[21:36] == "He left[2][31]."
    assert Squeezed("").find("x") is None
    assert Squeezed("x").find("") is None
    assert Squeezed("x").find(" [3] ") is None


@given(st.lists(st.text(alphabet="ab .[1]\n", max_size=8), max_size=6), st.text(max_size=8))
def test_spans_lie_in_the_text_in_order(pieces: list[str], other: str) -> None:
    text = " ".join(pieces)
    source = Squeezed(text)
    last = 0
    for piece in [*pieces, other]:
        span = source.find(piece)
        if span is not None:
            assert last <= span[0] < span[1] <= len(text)
            last = span[1]
            assert Squeezed(piece).find(text[span[0] : span[1]]) is not None


def test_texts_in_csv_with_the_columns_of_short_answers(tmp_path: Path) -> None:
    claims = [{"text": "She was born in 1815.", "label": "S"}]
    cells = json.dumps(claims).replace('"', '""')
    file = tmp_path / "texts.csv"
    file.write_text(
        f'model,question,entity,answer,claims\nm,Who was Ada?,Ada,She was.,"{cells}"\n'
        "m,Who was Bob?,Bob,He was.,\n"
    )
    first, second = read_texts(file)
    assert (first.text, first.topic, first.prompt, first.model) == (
        "She was.", "Ada", "Who was Ada?", "m",
    )  # fmt: skip
    assert first.claims is not None
    assert [claim.label for claim in first.claims] == ["S"]
    assert second.claims is None
    by_name = tmp_path / "named.csv"
    by_name.write_text("who,said,asked\nAda,She was.,Who was Ada?\n")
    (own,) = texts_by_model([by_name], "entity=who,answer=said,question=asked")
    assert [text.topic for text in own.system.texts] == ["Ada"]


def test_a_mistyped_column_of_texts_is_told(tmp_path: Path) -> None:
    file = tmp_path / "texts.jsonl"
    file.write_text(json.dumps({"topic": "Ada", "text": "She was.", "clams": [], "url": "x"}))
    (own,) = texts_by_model([file])
    assert "column 'clams' is not read; did you mean 'claims'?" in own.system.notices
    assert not [note for note in own.system.notices if "url" in note]
