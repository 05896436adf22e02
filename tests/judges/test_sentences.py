"""Sentences of long answers: what ends one, and what is none. Worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.judges.english.markup import parts
from support.tables import tabled


def cut(text: str) -> list[str]:
    return [text[p.start : p.end] for p in parts(text)]


@tabled
def test_where_sentences_end(sentences: list[str]) -> None:
    assert cut(" ".join(sentences)) == sentences


def test_a_lost_space_is_a_sentence_end() -> None:
    assert cut("He was born in Sarn.Another one followed.") == [
        "He was born in Sarn.",
        "Another one followed.",
    ]
    assert cut("He wrote for example.com and Node.js today.") == [
        "He wrote for example.com and Node.js today."
    ]


@pytest.mark.parametrize(
    "text",
    ["", " \n\t", "???", "---", "#", "# Life", "**Early life**", "1.", "- ", "...", "| - | - |",
     "|---|---|", "```\n```", "* * *", "\x00\x01", "Life\n===="],
)  # fmt: skip
def test_texts_without_sentences_have_none(text: str) -> None:
    assert parts(text) == ()


def test_headings_and_markers_are_no_sentences() -> None:
    text = (
        "## Early Life\nShe was born in Ripley. She left.\n\nCareer\nShe sang in 1950.\n"
        "**Roles**\n\nHer roles include:\n- Sandy in Grease\n2. A nurse in *Taxi*\n\n---\nThe end."
    )
    assert cut(text) == [
        "She was born in Ripley.",
        "She left.",
        "She sang in 1950.",
        "Her roles include:",
        "Sandy in Grease",
        "A nurse in *Taxi",  # emphasis at an edge is dropped
        "The end.",
    ]
    found = parts(text)
    assert [p.item for p in found] == [False, False, False, False, True, True, False]
    assert [p.lead for p in found] == [None, None, None, None, 3, 3, None]


def test_a_line_of_spaces_is_no_rule_under_a_heading() -> None:
    assert cut("She sang.\n   \nShe left.") == ["She sang.", "She left."]


def test_table_rows_are_sentences_and_its_head_is_not() -> None:
    text = "| what | when |\n|---|---|\n| Born | 1942 |\n| Died | 1999 |\n\nHe sang."
    assert cut(text) == ["Born | 1942", "Died | 1999", "He sang."]


def test_a_wrapped_line_is_one_sentence() -> None:
    assert cut("Mira Toll was born\nin the town of Sarn. She\nleft it.") == [
        "Mira Toll was born\nin the town of Sarn.",
        "She\nleft it.",
    ]


def test_two_hundred_sentences() -> None:
    text = " ".join(f"She won prize {n} in 19{n % 90 + 10} and left." for n in range(200))
    assert len(parts(text)) == 200


@given(st.text(alphabet=st.sampled_from("aB1 .!?\n\r\t#*-|[]()\"':;,\x00\x01…–é中"), max_size=200))
def test_spans_lie_in_the_text_and_ascend(text: str) -> None:
    end = 0
    for place, part in enumerate(parts(text)):
        assert end <= part.start < part.end <= len(text)
        assert any(c.isalnum() for c in text[part.start : part.end])
        assert part.lead is None or part.lead < place
        end = part.end


def test_ends_of_people(test_data: Path) -> None:
    """FActScore's annotators on InstructGPT, whose errors were read when the rules were made."""
    found = wanted = 0
    for line in (test_data / "factscore" / "InstructGPT.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        ours = {p.end for p in parts(row["output"])}
        at = 0
        for annotation in row["annotations"] or ():
            at = row["output"].index(annotation["text"], at) + len(annotation["text"])
            wanted += 1
            found += at in ours
    assert wanted > 400
    assert found / wanted >= 0.99
