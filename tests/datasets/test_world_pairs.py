"""The pairs of ``world``: a question that nobody can answer, and one of the same form."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections import Counter
from importlib import resources
from statistics import mean
from typing import Any

import pytest

import sayso
from sayso import datasets
from sayso.records import Question

DATA = datasets.load_dataset("world")
FILE = resources.files("sayso").joinpath("datasets", "data", "world_pairs.jsonl")
ROWS: list[dict[str, Any]] = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
PAIRED = [q for q in DATA.short if q.pair]
NOBODY = {q.pair: q for q in PAIRED if q.answerable is False}
TWINS = {q.pair: q for q in PAIRED if q.answerable}
PAIRS = sorted(NOBODY)


def test_a_hundred_pairs_a_third_of_each_kind() -> None:
    assert len(PAIRED) == 200
    assert set(NOBODY) == set(TWINS)
    assert Counter(q.domain for q in NOBODY.values()) == {"things": 34, "events": 33, "lives": 33}
    assert not any(q.golds for q in NOBODY.values())
    assert all(q.golds for q in TWINS.values())
    assert set(Counter(q.text for q in DATA.questions).values()) == {1}
    assert "100 cannot be answered: abstaining is right" in DATA.notices


def test_the_catalogue_counts_what_the_set_holds() -> None:
    facts = [q for q in DATA.short if not q.pair]
    size = f"{len(DATA.long)} entities, {len(facts)} facts, {len(PAIRS)} pairs"
    assert datasets.CATALOGUE["world"].size == size


def test_no_entity_of_a_pair_is_one_of_the_facts() -> None:
    """What is resampled and drawn is apart, and ``sayso data check world`` finds one name once."""
    assert not {q.entity for q in PAIRED} & {q.entity for q in DATA.long}


def test_twins_are_of_every_tier_and_of_no_paragraph() -> None:
    tiers = Counter(q.tier for q in TWINS.values())
    assert set(tiers) == {"1", "2", "3", "4"}
    assert min(tiers.values()) >= 15
    assert not any(q.tier for q in NOBODY.values())
    asked = {part for q in DATA.long for part in q.parts}
    assert not asked & {q.id for q in PAIRED}


def test_every_gold_has_a_source_and_every_unanswerable_question_the_day_it_was_written() -> None:
    for row in ROWS:
        if row["answerable"]:
            assert row["source"]
            assert "as_of" not in row
        else:
            assert re.fullmatch(r"\d{4}-\d\d-\d\d", row["as_of"])


@pytest.mark.parametrize("pair", PAIRS)
def test_the_questions_of_a_pair_have_one_form(pair: str) -> None:
    nobody, twin = NOBODY[pair], TWINS[pair]
    assert (nobody.type, nobody.domain) == (twin.type, twin.domain)
    first, second = nobody.text.split(), twin.text.split()
    assert first[:2] == second[:2]
    assert abs(len(first) - len(second)) <= 2
    assert abs(len(nobody.text) - len(twin.text)) <= 20


def test_length_tells_nothing_over_all_pairs() -> None:
    for unit in (len, lambda text: len(text.split())):
        lengths = [mean(unit(q.text) for q in side.values()) for side in (NOBODY, TWINS)]
        assert abs(lengths[0] - lengths[1]) < 0.03 * lengths[1]


def test_events_without_an_answer_are_decades_away() -> None:
    for pair in (p for p in PAIRS if p.startswith("events")):
        ahead, past = NOBODY[pair], TWINS[pair]
        if years := [int(year) for year in re.findall(r"\b\d{4}\b", ahead.text)]:
            assert min(years) >= 2050
            assert max(map(int, re.findall(r"\b\d{4}\b", past.text))) <= 2012
        else:
            assert (ahead.entity, past.entity) == ("Super Bowl XC", "Super Bowl XX")  # 2056, 1986
        frame = re.sub(r"\d{4}|X[XC]", "…", ahead.text)
        assert frame == re.sub(r"\d{4}|X[XC]", "…", past.text)


#: a quotation without marks, which the offline reader takes for a hedge
MISREAD = {
    "It is That's one small step for man, one giant leap for mankind.",
    "It is That's one small step for a man, one giant leap for mankind.",
}


@pytest.mark.parametrize("question", TWINS.values(), ids=lambda q: q.text)
def test_every_way_to_write_a_gold_is_right_and_that_of_another_is_not(question: Question) -> None:
    assert question.golds
    for name in (name for gold in question.golds for name in gold.names):
        for answer in (name, f"It is {name}.", f"The answer is {name}."):
            verdict = sayso.judge_rules(question.text, question.golds, answer)
            assert verdict.content == "correct", answer
            if answer not in MISREAD:
                assert verdict.stance == "committed", answer
    others = [q for q in TWINS.values() if q.type == question.type and q.golds != question.golds]
    for other in others:
        assert other.golds
        answer = other.golds[0].value
        verdict = sayso.judge_rules(question.text, question.golds, answer)
        assert verdict.content == "incorrect", answer


def surface(text: str) -> set[str]:
    """Words and pairs of neighboring words, digits alike."""
    words = re.findall(r"[a-z0']+", re.sub(r"\d", "0", text.lower()))
    return {*words, *(f"{a} {b}" for a, b in itertools.pairwise(words))}


@pytest.mark.parametrize("domain", ["things", "events", "lives"])
def test_words_that_the_other_pairs_have_do_not_tell_which_question_has_an_answer(
    domain: str,
) -> None:
    """Naive Bayes of the other pairs' words ranks the questions of a pair no better than chance."""
    pairs = [p for p in PAIRS if p.startswith(domain)]
    counts = {
        side: Counter(word for p in pairs for word in surface(questions[p].text))
        for side, questions in (("no", NOBODY), ("yes", TWINS))
    }
    right = 0.0
    for pair in pairs:
        no, yes = surface(NOBODY[pair].text), surface(TWINS[pair].text)

        def belief(words: set[str], no: set[str] = no, yes: set[str] = yes) -> float:
            held = ((counts["yes"][w] - (w in yes), counts["no"][w] - (w in no)) for w in words)
            return sum(math.log((1 + a) / (1 + b)) for a, b in held)

        right += (belief(yes) > belief(no)) + (belief(yes) == belief(no)) / 2
    assert 0.3 < right / len(pairs) < 0.65
