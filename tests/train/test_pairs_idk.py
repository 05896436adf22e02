"""Idk rows, counted by hand."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.records import InputError
from sayso.train.config import RowSettings
from sayso.train.recipes.idk import idk, known_state
from sayso.train.rows import REFUSALS, Fact
from support.pair_records import short_fact
from support.tables import tabled


def test_theta_one_refuses_what_is_not_always_right() -> None:
    (row,) = idk([short_fact("cccccccccw")])  # 9 of 10
    assert (row.chosen in REFUSALS, row.rejected, row.kind) == (True, "Town9", "idk-unknown")
    (row,) = idk([short_fact("c" * 10)])
    assert (row.chosen, row.rejected in REFUSALS, row.kind) == ("Lyon", True, "idk-known")
    assert row.entity == "Ann Bell"
    assert row.prompt == "Where was Ann Bell born?"
    assert row.questions == ("Ann Bell/place of birth",)


@tabled
def test_the_thresholds(letters: str, theta: float, low: float | None, known: bool | None) -> None:
    assert known_state(short_fact(letters).right, theta, low) is known


def test_only_committed_wrong_answers_are_rejected() -> None:
    (row,) = idk([short_fact("hhhhWhhhaa")])
    assert row.rejected == "Paris"
    notes: list[str] = []
    assert idk([short_fact("hhhhhhaaaa")], notes=notes) == []
    assert notes == [
        "idk: 0 rows of 1 facts; 0 between the thresholds or left open by missing verdicts, 1 "
        "without an answer to take"
    ]
    (row,) = idk([short_fact("hhhhhhaaaa")], want="sft")  # a refusal can still be trained
    assert (row.chosen in REFUSALS, row.rejected) == (True, None)


def test_an_unread_answer_is_never_the_wrong_one() -> None:
    (row,) = idk([short_fact("W????wwwww")], RowSettings(theta=0.9))
    for seed in range(20):
        (row,) = idk([short_fact("W????wwwww")], RowSettings(theta=0.9), seed=seed)
        assert row.rejected != "Kiel"


def test_several_rows_of_a_fact_hold_several_answers() -> None:
    rows = idk([short_fact("cWWWwwwwww")], RowSettings(each=3))
    assert len({r.rejected for r in rows}) == 3
    # there is but one right answer
    assert len(idk([short_fact("c" * 10)], RowSettings(each=3))) == 1


def test_refusals_vary_with_the_seed_and_can_be_given() -> None:
    facts = [short_fact("w" * 10, entity=f"E{i}") for i in range(60)]
    assert len({r.chosen for r in idk(facts)}) == len(REFUSALS)
    assert idk(facts, seed=1) == idk(facts, seed=1)
    assert idk(facts, seed=1) != idk(facts, seed=2)
    assert {r.chosen for r in idk(facts, refusals=["Pass."])} == {"Pass."}


@tabled
def test_what_cannot_be_is_refused(settings: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        idk([short_fact("c" * 10)], RowSettings(**settings))


def test_no_refusals_are_refused() -> None:
    with pytest.raises(InputError, match="at least one wording"):
        idk([short_fact("c" * 10)], refusals=())


def fact_of(number: int, letters: str) -> Fact:
    gold = f"Goldtown{number}"
    greedy = gold if number % 2 else "Paris"
    return short_fact(letters, entity=f"E{number}", gold=gold, greedy=greedy)


FACTS = st.lists(st.text("cwWha?", min_size=10, max_size=10), min_size=1, max_size=12).map(
    lambda some: [fact_of(i, letters) for i, letters in enumerate(some)]
)


@settings(deadline=None)
@given(FACTS, st.integers(0, 5), st.sampled_from(["sft", "dpo"]), st.floats(0.05, 1))
def test_rows_never_train_a_fact_that_is_not_known(
    facts: list[Fact], seed: int, want: str, theta: float
) -> None:
    rows = idk(facts, RowSettings(theta=theta), want=want, seed=seed)  # type: ignore[arg-type]
    by_id = {f.question.id: f for f in facts}
    for row in rows:
        fact = by_id[row.questions[0]]
        gold = fact.question.golds[0].value  # type: ignore[index]
        if row.kind == "idk-unknown":
            assert gold not in row.chosen
            assert sum(r is True for r in fact.right) / 10 < theta
            assert row.rejected != gold
        else:
            assert row.chosen == gold
        assert (row.rejected is None) == (want == "sft")
    shuffled = list(facts)
    random.Random(seed).shuffle(shuffled)
    assert idk(shuffled, RowSettings(theta=theta), want=want, seed=seed) == rows  # type: ignore[arg-type]
    one = facts[0]  # and no fact moves another's row
    own = [r for r in rows if r.questions[0] == one.question.id]
    assert idk([one], RowSettings(theta=theta), want=want, seed=seed) == own  # type: ignore[arg-type]
