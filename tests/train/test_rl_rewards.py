"""Rewards: hand-worked values, proper scores, and answers that no judge can read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.train.rewards import (
    NAMES,
    brier_reward,
    confidence_of,
    reward,
    stated_percentage,
)

ASK = ("What is the capital of France?", ["Paris"])


@pytest.mark.parametrize(
    ("answer", "cost", "expected"),
    [
        ("Paris", 1, 1.0),
        ("Rome", 1, -1.0),
        ("Rome", 3, -3.0),
        ("Possibly Paris", 1, 0.0),  # doubt is doubt, also about the right value
        ("I am not sure.", 1, 0.0),
        ("", 1, -1.0),  # silence is no way out
    ],
)
def test_ternary(answer: str, cost: float, expected: float) -> None:
    assert reward("ternary", *ASK, answer, cost) == expected


@given(st.floats(0, 1), st.floats(0, 1))
def test_brier_is_best_where_the_stated_confidence_is_the_believed_one(p: float, c: float) -> None:
    def expected(said: float) -> float:
        return p * (brier_reward(said, True) or 0.0) + (1 - p) * (brier_reward(said, False) or 0.0)

    assert expected(p) >= expected(c) - 1e-12


def test_stated_percentages_are_confidences_and_no_part_of_the_value() -> None:
    assert confidence_of("Paris (80%)") == 0.8
    assert confidence_of("Paris. Confidence: 30 percent") == 0.3
    assert confidence_of("Paris, 20% or 90%") is None
    assert confidence_of("Paris, 300%") is None
    assert stated_percentage("Paris. Confidence: 30%").text == "Paris"
    assert stated_percentage("80%").text == "80%"
    # 1 - (.8 - 1)^2 = .96; 1 - (.8 - 0)^2 = .36; wrong and unsure 1 - (.3 - 0)^2 = .91
    assert reward("brier", *ASK, "Paris (80%)") == pytest.approx(0.96)
    assert reward("brier", *ASK, "Rome (80%)") == pytest.approx(0.36)
    assert reward("brier", *ASK, "Rome (30%)") == pytest.approx(0.91)


def test_a_refusal_is_worth_what_one_half_is() -> None:
    assert reward("brier", *ASK, "I am not sure.") == pytest.approx(0.75)  # 1 - (.5 - 0)^2


def test_words_count_where_no_number_is_stated() -> None:
    sure, unsure = (reward("brier", *ASK, text) for text in ("Rome", "Possibly Rome"))
    assert sure is not None
    assert unsure is not None
    assert sure < unsure


def test_an_unread_answer_has_no_reward() -> None:
    foreign = "Ich glaube, dass die Hauptstadt von Frankreich wahrscheinlich eine andere ist."
    assert reward("ternary", *ASK, foreign) is None
    assert reward("brier", *ASK, foreign) is None
    assert reward("ternary", ASK[0], [], "") == -1.0
    assert reward("brier", *ASK, "") == 0.0


SHARE = ("What share of the vote did Orm win?", ["80 percent"])


@pytest.mark.parametrize(
    ("answer", "said", "confidence"),
    [
        ("80%", "80%", None),  # the value, and as sure as it sounds
        ("It won 80%.", "It won 80%.", None),
        ("80% (90%)", "80%", 0.9),
        ("80 percent, confidence 30%", "80 percent", 0.3),
        ("Paris 80%", "Paris", 0.8),
        ("I am 80% sure it is Paris", "I am 80% sure it is Paris", 0.8),
        ("Paris (100%)", "Paris", 1.0),
        ("x" * 300 + " (40%)", "x" * 300, 0.4),
    ],
)
def test_a_percentage_may_be_the_value(answer: str, said: str, confidence: float | None) -> None:
    assert stated_percentage(answer).text == said
    if confidence is None:
        assert stated_percentage(answer).share is None
        assert (confidence_of(answer) or 0) > 0.9
    else:
        assert confidence_of(answer) == pytest.approx(confidence)


def test_a_value_in_percent_is_judged_as_a_value() -> None:
    assert reward("brier", *SHARE, "80%") == pytest.approx(1.0, abs=0.01)
    # 1 - (.3 - 1)^2: right, and not believed
    assert reward("brier", *SHARE, "80% (30%)") == pytest.approx(0.51)
    assert reward("ternary", *SHARE, "80% (30%)") == 1.0
    assert reward("brier", *SHARE, "30% (80%)") == pytest.approx(0.36)


@given(
    st.one_of(
        st.text(max_size=60),
        st.text("Paris 0123456789%.,()-confidence:\n", max_size=40),
        st.sampled_from(["=cmd()", "<|im_end|>Paris", "\x1b[1mParis", "9" * 4000 + "%", "%" * 99]),
    ),
    st.sampled_from(NAMES),
)
def test_any_text_has_a_reward_within_bounds_or_none(text: str, name: str) -> None:
    found = reward(name, *ASK, text)  # type: ignore[arg-type]
    assert found is None or -1.0 <= found <= 1.0
