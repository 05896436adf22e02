"""Values in answers: for each rule an answer it must accept and a near miss it must refuse.

Each row is (question, golds, answer, expected content). A gold written "a|b|c" is one value with
aliases; several entries are several true values. More rows of each class stand in
``benchmarks/data/wordings_matching.jsonl`` and are read in ``test_wordings``.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from sayso.datasets import load_dataset
from sayso.judges.rules.matching import MatchedText, agreeing, match
from sayso.records import Gold, Question
from sayso.records import golds_of as golds_of_question
from support.tables import tabled

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "readers" / "judge_rules.py"
WORDINGS = SCRIPT.parents[1] / "data" / "wordings_matching.jsonl"

C, W, N = "correct", "incorrect", "none"

WHEN = "When was Ada Quill born?"


def golds_of(written: list[str]) -> list[Gold]:
    parts = [w.split("|") for w in written]
    return [Gold(p[0], aliases=tuple(p[1:])) for p in parts]


@tabled
def test_hand_worked(question: str, golds: list[str], answer: str, expected: str) -> None:
    found = match(question, golds_of(golds), answer)
    assert found.content == expected, found
    if found.start is not None:
        assert found.end is not None
        assert 0 <= found.start < found.end <= len(answer)


@tabled
def test_kind_precision_and_unit_of_a_gold(gold: Gold, answer: str, expected: str) -> None:
    assert match("What is known of it?", [gold], answer).content == expected


def test_the_quick_look_at_many_texts_finds_what_the_matcher_finds() -> None:
    rows = [json.loads(line) for line in WORDINGS.read_text(encoding="utf-8").splitlines()]
    texts = [*dict.fromkeys(row["text"] for row in rows), "", "...", "+", "\ud800"]
    read = {text: MatchedText(text) for text in texts}
    agreed = 0
    for at, row in enumerate(rows):
        golds = tuple(Gold(names[0], tuple(names[1:])) for names in map(_names, row["gold"]))
        some = [row["text"], *texts[at % 7 :: 7]]
        found = agreeing(row["question"], golds, [read[text] for text in some])
        assert found == [match(row["question"], golds, text).content == C for text in some], row
        agreed += sum(found)
    assert agreed > len(rows) / 3
    golds = (Gold("+"), Gold("1946-08-15T00:00:00Z"), Gold("5 km", kind="quantity"), Gold("JFK"))
    said = ["a + b", "-", "in 1946", "5,000 m", "6 km", "John Fitzgerald Kennedy", "John Bo"]
    assert agreeing(WHEN, golds, [MatchedText(text) for text in said]) == [
        match(WHEN, golds, text).content == C for text in said
    ]


@tabled
def test_a_part_of_a_long_gold(question: str, golds: list[str], answer: str, expected: str) -> None:
    found = match(question, golds_of(golds), answer)
    assert found.content == expected, found
    quick = agreeing(question, golds_of(golds), [MatchedText(answer)])
    assert quick == [expected == C]


@tabled
def test_a_date_in_a_gold_that_is_a_sentence(
    question: str, gold: str, answer: str, expected: str
) -> None:
    assert match(question, golds_of([gold]), answer).content == expected


@pytest.mark.parametrize("model_world", ["builtin", "world"])
def test_no_part_makes_another_value_of_a_type_right(model_world: str) -> None:
    by_type: dict[str, list[Question]] = {}
    for question in load_dataset(model_world).questions:
        if question.golds and not question.parts:
            by_type.setdefault(question.type, []).append(question)
    compared = 0
    for questions in by_type.values():
        for question, other in pairwise(questions[:60]):
            value = golds_of_question(other.golds)[0].value
            text = (
                f"As far as most sources tell us of {question.entity}, it was {value}, at the time."
            )
            compared += 1
            found = match(question.text, golds_of_question(question.golds), text)
            assert found.why != "part", (question.text, text)
    assert compared > 300


def _names(value: str) -> list[str]:
    return value.split("|")


@pytest.mark.data
def test_agrees_with_people(test_data: Path) -> None:
    """The matcher against people's labels on the open half of EVOUNA: the bar holds."""
    spec = importlib.util.spec_from_file_location("judge_rules_benchmark", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    bench = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = bench
    spec.loader.exec_module(bench)
    rows = [r for r in bench.rows(test_data) if not bench.set_aside(r.dataset, r.question)]
    cells = bench.measure(rows)[0]["all", "all"]
    assert sum(cells) > 6000
    assert cells.agreement >= 0.92
    assert cells.accepted_wrong <= 0.05
