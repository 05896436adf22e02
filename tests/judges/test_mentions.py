"""Doubt that an answer mentions, gaps in other words, and what is left to opinion.

The labeled answers of ``benchmarks/data/silence_written.jsonl`` come in twos that look alike; the
pairs here are new. ``benchmarks/readers/doubt.py --written`` prints what is misread of the file.
"""

from __future__ import annotations

import hashlib
import json
from itertools import count
from pathlib import Path

import pytest

from sayso.judges.judge import WITHHELD
from sayso.judges.rules.judge import judge_rules
from support.effort import check_growth
from support.tables import tabled

FILE = Path(__file__).parents[2] / "benchmarks" / "data" / "silence_written.jsonl"
LENT = ("Who lent the boat to Ivo Marsh?", "Ada Bo")
AREA = ("What is the area of the Tarn estate?", "40 hectares")
SONG = ("Which song did Rita Marsh sing last?", "Unknown")
SAID = ("What did the captain say to the jury?", "that he did not know")
SURVEY = ("Is the tax fair?\n(A). Yes\n(B). No, not that I know of\n(C). Refused\nAnswer:", "(B)")


def test_written_answers_are_read() -> None:
    """At most 9 of the half that the reader was mended on are misread, 14 of the other half."""
    wrong = {True: 0, False: 0}
    for row in map(json.loads, FILE.read_text(encoding="utf-8").splitlines()):
        even = int(hashlib.sha256(row["question"].encode()).hexdigest(), 16) % 2 == 0
        verdict = judge_rules(row["question"], row["gold"], row["answer"])
        silent = row["expected"] != "answers"
        content = row.get("content", verdict.content)
        wrong[even] += (verdict.stance in WITHHELD) != silent or verdict.content != content
    assert wrong[True] <= 9
    assert wrong[False] <= 14


@pytest.mark.parametrize(
    ("asked", "silent", "told"),
    [
        # words for a gap that stand for nothing else
        (AREA, "You've got me there.", "40 hectares. The map got me there."),
        (AREA, "That isn't a figure we keep.", "That isn't 30 hectares; it is 40 hectares."),
        # what is left to whoever is asked
        (SURVEY, "This depends on the person's own views.", "(B). No, not that I know of"),
        (SURVEY, "(C). Refused", "(A). Yes. It depends on the person, of course."),
        (AREA, "It depends on whom you ask.", "40 hectares, depending on whom you ask."),
        # values of other facts
        (
            LENT,
            "Ivo Marsh sailed to Oslo in her. The one who lent her is not on record.",
            "Ada Bo lent her. The one who built her is not on record.",
        ),
        (
            ("When was the second mill built?", "1926"),
            "The first mill dates from 1871; I have no date for the second.",
            "The second mill dates from 1926; I have no date for the first.",
        ),
        # the question, denied in its own words
        (SONG, "Rita Marsh did not sing any song.", "Rita Marsh sang no song but Unknown."),
        # a quotation, a name, a report
        (SONG, "The song is unknown.", 'She sang "Unknown" last.'),
        (SONG, "I don't know the song.", "The last one was called Unknown."),
        (SAID, "I don't know what he said.", "He said that he did not know."),
        (SAID, "No record of what he said.", "He told them, 'I cannot remember.'"),
        (
            ("Who found the wreck?", "Omar Seif"),
            "The navy said that it did not know.",
            "Omar Seif found it; the navy said that it did not know.",
        ),
        # a request
        (
            ("What does the memo say?", "that rents rise"),
            "I see no memo here; attach it, please.",
            "It says that rents rise; the plans are attached to it.",
        ),
    ],
)  # fmt: skip
def test_silence_and_its_neighbor(asked: tuple[str, str], silent: str, told: str) -> None:
    assert judge_rules(asked[0], "?", silent).stance in WITHHELD
    assert judge_rules(asked[0], "?", told).stance in ("committed", "hedged")


MAYOR = "What did the mayor say?"


@tabled
def test_only_what_somebody_did_say_is_a_report(silent: str, told: str) -> None:
    assert judge_rules(MAYOR, "?", silent).stance in WITHHELD
    assert judge_rules(MAYOR, "?", told).stance in ("committed", "hedged")


def test_what_the_text_asked_about_says_is_told() -> None:
    answer = "The article says that it is not known."
    asked = "What does the article say about the fee?"
    assert judge_rules(asked, "?", answer).stance in ("committed", "hedged")
    assert judge_rules(MAYOR, "?", answer).stance in WITHHELD


@tabled
def test_what_something_depends_on_is_told(question: str, told: str, silent: str) -> None:
    assert judge_rules(question, "?", told).stance in ("committed", "hedged")
    assert judge_rules(question, "?", silent).stance in WITHHELD


@tabled
def test_what_is_left_to_opinion_is_withheld(question: str, silent: str) -> None:
    assert judge_rules(question, "?", silent).stance in WITHHELD


@tabled
def test_what_a_person_is_called_is_no_other_event(
    question: str, answer: str, content: str
) -> None:
    assert judge_rules(question, "Ivo Marsh", answer).content == content


@pytest.mark.parametrize(
    "part",
    ['"I cannot say", ', "but it depends, ", "he said he did not know, ", "'no idea' *unknown* ",
     "please send me ", "lost, ", "what he said ", "he did not say that "],
)  # fmt: skip
def test_long_answers_are_read_in_proportion(part: str) -> None:
    new = count()  # no answer comes from a cache

    def read(length: int) -> None:
        judge_rules(SAID[0], "?", f"{part * (length // len(part))}{next(new)}")

    check_growth(read, 2_000, 18_000, most=2.0)
