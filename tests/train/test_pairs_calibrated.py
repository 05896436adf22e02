"""Calibrated rows: words as decisive as the model is sure."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import settings as trials
from hypothesis import strategies as st

from sayso.judges.decisiveness import decisiveness
from sayso.records import InputError
from sayso.train.config import RowSettings
from sayso.train.recipes.calibrated import (
    WordingLimits,
    calibrated,
    far_off,
    is_sentence,
    ladder,
    nearest_wording,
)
from sayso.train.rows import REFUSALS, Fact
from support.pair_records import ASPECTS, paragraph, short_fact

PLAIN = ladder(False)[0].level


@pytest.mark.parametrize("sentence", [False, True])
def test_the_ladder_reaches_from_certain_to_doubtful(sentence: bool) -> None:
    rungs = ladder(sentence)
    levels = [r.level for r in rungs]
    assert rungs[0].wording == "{answer}"
    assert levels == sorted(levels, reverse=True)
    assert levels[0] > 0.95
    assert levels[-1] < 0.25
    # a confidence of k = 10 draws is never far from a rung
    assert all(min(abs(level - c / 10) for level in levels) <= 0.11 for c in range(2, 11))


@pytest.mark.parametrize("sentence", [False, True])
def test_a_rung_says_of_any_answer_what_it_says_of_the_neutral_one(sentence: bool) -> None:
    values = ["Paris", "25 January 1960", "21,400", "Corvunt Selvet and Kaldith Krostane"]
    sentences = ["She was born in Paris.", "The company has a staff of 21,400.", "Ann is a poet."]
    for rung in ladder(sentence):
        for answer in sentences if sentence else values:
            assert is_sentence(answer) == sentence
            assert decisiveness(rung.say(answer)) == pytest.approx(rung.level, abs=0.02), rung.say(
                answer
            )


def test_pronouns_lose_their_capital_and_names_keep_it() -> None:
    think = next(r for r in ladder(True) if r.wording == "I think {answer}")
    assert think.say("She was born in Paris.") == "I think she was born in Paris."
    assert think.say("Ann was born in Paris.") == "I think Ann was born in Paris."
    assert ladder(True)[0].say("She was born.") == "She was born."


@given(st.floats(0, 1), st.integers(0, 99))
def test_wordings_are_near_or_far_as_asked(level: float, seed: int) -> None:
    best = min(abs(r.level - level) for r in ladder(False))
    assert abs(nearest_wording("Paris", level, random.Random(seed)).level - level) <= best + 0.02
    off = far_off("Paris", level, 0.35, random.Random(seed))
    assert off is not None
    assert abs(off.level - level) >= 0.35 - 1e-9


def test_a_sure_fact_is_said_plainly_and_hedging_it_is_rejected() -> None:
    facts = [short_fact("c" * 10, entity=f"E{i}") for i in range(40)]
    rows = calibrated(facts)
    assert {r.chosen for r in rows} == {"Lyon"}
    rejected = [r.rejected or "" for r in rows]
    assert all(r in REFUSALS or (decisiveness(r) or 1) <= 0.75 for r in rejected)
    assert 5 < sum(r in REFUSALS for r in rejected) < 35


def test_confidence_is_agreement_with_the_answer_not_its_truth() -> None:
    # the answer Paris is wrong, and 8 of 10 draws agree with it
    (row,) = calibrated([short_fact("WWWWWWWWcc", greedy="Paris")])
    assert row.chosen.endswith("Paris")
    assert decisiveness(row.chosen) == pytest.approx(0.8, abs=0.04)
    # the answer Lyon is right, and 2 of 10 do
    (row,) = calibrated([short_fact("WWWWWWWWcc", greedy="Lyon")])
    assert row.chosen.endswith("Lyon")
    assert decisiveness(row.chosen) == pytest.approx(0.2, abs=0.04)


def test_rejected_is_far_off_in_either_direction() -> None:
    facts = [short_fact("WWWWWccccc", greedy="Paris", entity=f"E{i}") for i in range(60)]
    found = [(decisiveness(r.chosen), decisiveness(r.rejected or "")) for r in calibrated(facts)]
    assert len(found) == 60
    above = sum((b or 0) >= (a or 0) + 0.2 for a, b in found)
    below = sum((b or 1) <= (a or 0) - 0.2 for a, b in found)
    assert above + below == 60
    assert min(above, below) > 15


def test_limits_say_plainly_above_and_nothing_below() -> None:
    settings = RowSettings(plain_from=0.8, refuse_below=0.3)
    (row,) = calibrated([short_fact("WWWWWWWWcc", greedy="Paris")], settings)
    assert row.chosen == "Paris"
    (row,) = calibrated([short_fact("WWWWWWWWcc", greedy="Lyon")], settings)
    assert (row.chosen in REFUSALS, row.rejected) == (True, "Lyon")


def test_luck_is_not_trained() -> None:
    """No draw is right and the greedy answer is: chosen holds no value."""
    (row,) = calibrated([short_fact("WwwwwwwwwW", greedy="Lyon")])
    assert (row.chosen in REFUSALS, row.rejected) == (True, "Lyon")


def test_what_has_no_confidence_has_no_row() -> None:
    notes: list[str] = []
    silent = short_fact("a" * 10)
    hedged = short_fact("c" * 10, entity="Bo", greedy="Perhaps Lyon")
    assert calibrated([silent, hedged], notes=notes) == []
    assert "2 left out" in notes[0]


@pytest.mark.parametrize(
    "limits",
    [WordingLimits(0.3, 0.5), WordingLimits(1.2), WordingLimits(1.0, -0.1), WordingLimits(far=0.9)],
)
def test_limits_that_contradict_each_other_are_refused(limits: WordingLimits) -> None:
    with pytest.raises(InputError, match="expected"):
        calibrated(
            [short_fact("c" * 10)],
            RowSettings(plain_from=limits.plain_from, refuse_below=limits.refuse_below),
            far=limits.far,
        )


def test_few_draws_are_refused() -> None:
    with pytest.raises(InputError, match=r"--probe\.k 10"):
        calibrated([short_fact("ccccc")])


def told(letters: dict[str, str]) -> list[Fact]:
    """A paragraph that says Lyon, Value1, Value2 of the first three aspects, and their facts."""
    long, _ = paragraph("SSS", values=["Lyon", "1950", "poet"])
    golds = dict(zip(ASPECTS, ["Lyon", "1950", "poet"], strict=False))
    return [
        long,
        *(
            short_fact(some, aspect, gold=golds[aspect], greedy=golds[aspect])
            for aspect, some in letters.items()
        ),
    ]


MIXED = {"place of birth": "c" * 10, "date of birth": "wwwcwwcwww", "occupation": "cccccWWWWW"}


def test_each_sentence_is_worded_at_the_confidence_of_its_aspect() -> None:
    for seed in range(10):
        (row,) = [r for r in calibrated(told(MIXED), seed=seed) if r.form == "long"]
        assert row.chosen.startswith("He was born in Lyon. ")
        said = row.chosen.split(". ", 1)[1]
        assert decisiveness(said, "he was born on 1950") == pytest.approx(0.2, abs=0.08)
        assert decisiveness(said, "he worked as a poet") == pytest.approx(0.5, abs=0.08)
        assert row.rejected != row.chosen
        assert row.questions[0] == "Ann Bell/long"


@trials(max_examples=60, deadline=None)
@given(
    st.lists(st.text("cwWha?", min_size=10, max_size=10), min_size=3, max_size=3),
    st.integers(0, 10**6),
    st.sampled_from(["sft", "dpo"]),
)
def test_gold_is_never_chosen_for_what_is_not_known(
    letters: list[str], seed: int, want: str
) -> None:
    facts = told(dict(zip(MIXED, letters, strict=True)))
    rows = calibrated(facts, want=want, seed=seed)  # type: ignore[arg-type]
    mixed = list(facts)
    random.Random(seed).shuffle(mixed)
    assert calibrated(mixed, want=want, seed=seed) == rows  # type: ignore[arg-type]
    for fact in facts[1:]:
        read = [r for r in fact.right if r is not None]
        if not read or any(read):
            continue
        for row in rows:
            if fact.question.id in row.questions:
                assert fact.greedy not in row.chosen
