"""Functions of a caller as scores: what they get, what they may return, and how they may fail."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sayso
from sayso.records import InputError
from sayso.score_files.score import score_file
from sayso.scores import SCORES, Method, NoEvidence, Samples

ROWS: list[dict[str, Any]] = [
    {
        "question": "Who?",
        "answer": "Ann!",
        "token_logprobs": [-0.5, -1.5],
        "samples": ["Bo", "Ann"],
    },
    {"question": "When?", "answer": ""},
]


def shouting(samples: Samples) -> float:
    """How loud it is."""
    assert samples.answer is not None
    return samples.answer.text.count("!") / len(samples.question)


def test_a_function_gets_what_the_row_holds() -> None:
    seen: list[Samples] = []

    def mine(samples: Samples) -> float:
        seen.append(samples)
        return float(-sum(samples.answer.logprobs)) if samples.answer else 0.0

    first, second = sayso.score(ROWS, {"mine": mine, "shouting": shouting})
    assert (first["mine"], first["shouting"]) == (2.0, 0.25)
    (one,) = seen  # a row without an answer has no score of the answer
    assert (one.question, [draw.text for draw in one.draws]) == ("Who?", ["Bo", "Ann"])
    assert second["mine"] is None
    assert "empty" in second["score_problems"]["mine"]


def test_a_function_stands_among_the_others() -> None:
    both = {"shouting": shouting, "length_words": SCORES["length_words"]}
    assert sayso.score(ROWS, both)[0]["length_words"] == 1
    everything = sayso.score(ROWS, {**SCORES, "shouting": shouting}, nli="rules")
    assert everything[0]["shouting"] == 0.25
    assert everything[0]["perplexity"] == pytest.approx(math.e)


def samples_in(text: str) -> int:
    raise TypeError(text)


def no_evidence(samples: Samples) -> float:
    raise NoEvidence("no moon tonight")


@pytest.mark.parametrize(
    ("function", "value", "reason"),
    [
        (lambda s: np.float32(0.25), 0.25, None),
        (lambda s: np.int64(3), 3.0, None),
        (lambda s: 7, 7.0, None),
        (lambda s: None, None, "returned None"),
        (lambda s: math.nan, None, "the value is nan"),
        (lambda s: -math.inf, None, "the value is -inf"),
        (lambda s: 10**400, None, "the value is inf"),
        (lambda s: math.exp(1e4), None, "the value is inf"),
        (no_evidence, None, "no moon tonight"),
    ],
)
def test_what_a_function_returns(
    function: Callable[[Samples], float | None], value: float | None, reason: str | None
) -> None:
    row = sayso.score(ROWS[:1], {"mine": function})[0]
    assert row["mine"] == value
    assert row["score_problems"].get("mine") == reason or reason in row["score_problems"]["mine"]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda s: 1 / 0, "score 'mine' failed on row 1: ZeroDivisionError: division by zero"),
        (lambda s: [][samples_in("a\nb")], r"failed on row 1: TypeError: a b"),
        (lambda s: s.anser, "score 'mine' failed on row 1: AttributeError: .*anser"),
        (lambda: 1.0, "score 'mine' failed on row 1: TypeError"),
        (lambda s: True, r"score 'mine' returned True \(bool\) for row 1; expected a number"),
        (lambda s: np.bool_(False), r"returned .*False.* \(bool"),
        (lambda s: "0.5", r"returned '0.5' \(str\)"),
        (lambda s: [0.5], "returned .0.5. .list"),
        (lambda s: np.array([0.5, 1]), "returned array"),
        (lambda s: 1j, "returned 1j"),
        (lambda s: Decimal(1), "Decimal"),
    ],
)
def test_a_function_that_fails_is_named_in_one_line(function: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as refused:
        sayso.score(ROWS[:1], {"mine": function})
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({"mine": 0.5}, "score 'mine' is of type float; expected a function"),
        ({"mine": "perplexity"}, "score 'mine' is of type str; expected a function"),
        ({"mine": Method(shouting, ("logprob",))}, "score 'mine' needs 'logprob'; expected some"),
        ({"mine": Method(shouting, "logprob")}, "score 'mine' needs 'logprob'; expected some"),
        (["perplexity", shouting], "scores are chosen by name; give functions in a mapping"),
        (shouting, "scores are chosen by name; give functions in a mapping"),
        ({"perplexity": shouting}, "sayso has a score 'perplexity' of its own"),
        ({"p_ik": shouting}, "sayso has a score 'p_ik' of its own"),
        ({"text_only": shouting}, "sayso has a score 'text_only' of its own"),
        ({"words": shouting}, "sayso has a score 'words' of its own"),
        ({"answer": shouting}, "score 'answer' has the name of a column"),
        ({"score_problems": shouting}, "'score_problems' has the name of a column"),
    ],
)
def test_what_is_no_score_of_ones_own(methods: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        sayso.score(ROWS, methods)


def test_an_error_in_a_score_of_ours_is_no_mistake_of_the_user(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(samples: Samples) -> float:
        raise ZeroDivisionError

    monkeypatch.setitem(SCORES, "perplexity", Method(broken, ("logprobs",)))
    with pytest.raises(ZeroDivisionError):
        sayso.score(ROWS, "perplexity")


def test_a_function_may_score_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"question": "Who?", "answer": "Ann!"}\n', encoding="utf-8")
    assert score_file(path, methods={"shouting": shouting}).values == {"shouting": 1}


def test_all_stands_for_the_scores_of_sayso() -> None:
    named = sayso.score(ROWS, "all,perplexity", nli="rules")
    assert SCORES.keys() <= named[0].keys()
    assert named[0]["selfcheck_prompt"] is None  # asks of each sentence only where it is named
