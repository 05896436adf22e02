"""Which runs may be compared: alike in everything but the model, and its own token limits."""

from __future__ import annotations

import pytest

from sayso.protocols.protocol import unlike

NAMES = ("a", "b")


def parts(model: str, answer: str) -> dict[str, str]:
    return {"model": model, "answer": answer, "seed": "0"}


@pytest.mark.parametrize("limits", [("T0/128/256", "T0/256/1024"), ("ask-T0/128", "ask-T0/256")])
def test_two_models_may_have_their_own_token_limits_and_that_is_told(
    limits: tuple[str, str],
) -> None:
    both = parts("smollm2@1", limits[0]), parts("builtin@1", limits[1])
    reasons, (note,) = unlike(NAMES, both, ({}, {}), ("model",), ())
    assert reasons == []
    assert limits[0] in note
    assert limits[1] in note
    assert "cut off" in note


@pytest.mark.parametrize(
    "both",
    [
        (parts("m@1", "T0/128/256"), parts("m@1", "T0/256/1024")),  # one model: a setting differs
        (parts("m@1", "T0/128/256"), parts("n@1", "T0.7/128/256")),
        (parts("m@1", "T0/p0.9/128/256"), parts("n@1", "T0/256/1024")),
        (parts("m@1", "T0/50+stop"), parts("n@1", "T0/256")),
    ],
)
def test_any_other_difference_in_answers_is_refused(
    both: tuple[dict[str, str], dict[str, str]],
) -> None:
    (reason,), notes = unlike(NAMES, both, ({}, {}), ("model",), ())
    assert "--allow answer" in reason
    assert notes == []
    assert unlike(NAMES, both, ({}, {}), ("model",), ("answer",)) == (
        [],
        ["differs as allowed: answer"],
    )
