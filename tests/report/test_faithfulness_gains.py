"""Gains of several methods in words: what holds after the correction, and under which names."""

from __future__ import annotations

import pytest

from sayso.prompts.methods import METHOD_LABELS
from sayso.prompts.methods import METHODS as WAYS
from sayso.protocols.faithfulness.report import FaithfulnessResults, sentences
from sayso.records import Estimate, slice_of

OTHER = slice_of(form="short", method="self_refine")


def found(p: float | None, tested: int = 3) -> str:
    estimates = [
        Estimate("skill", slice_of(form="short", method="vanilla"), 0.0, low=-0.1, high=0.1, n=9),
        Estimate("skill", OTHER, 0.2, low=0.1, high=0.3, n=9),
        Estimate("skill_gain", OTHER, 0.3, low=0.02, high=0.58, n=9),
    ]
    if p is not None:
        estimates.append(Estimate("skill_gain_p", OTHER, p, n=tested))
    return " ".join(sentences(FaithfulnessResults(estimates), "short"))


def test_a_gain_that_the_correction_takes_away_is_not_told() -> None:
    told = found(0.09)
    assert "more skill than Vanilla" not in told
    assert "No method's skill differs from Vanilla's clearly" in told


@pytest.mark.parametrize(("p", "said"), [(0.012, "p = .01"), (0.0004, "p < .001")])
def test_a_gain_that_holds_says_what_it_was_corrected_for(p: float, said: str) -> None:
    told = found(p)
    assert "Self-Refine: more skill than Vanilla by .30 [.02, .58]" in told
    assert f"({said}, corrected over 3 methods)" in told


def test_one_comparison_needs_no_correction_and_an_older_run_has_none() -> None:
    for told in (found(0.03, tested=1), found(None)):
        assert "more skill than Vanilla by .30" in told
        assert "corrected" not in told


def test_every_way_to_ask_has_a_name() -> None:
    assert set(WAYS) <= set(METHOD_LABELS)
