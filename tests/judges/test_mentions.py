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
SAID = ("What did the captain say to the jury?", "that he did not know")


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


@tabled
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
