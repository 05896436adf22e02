"""The first sentence of a run in which nothing can be ranked says why."""

from __future__ import annotations

import pytest

from sayso.protocols.selective.report import SelectiveResults, headline
from sayso.records import Estimate, slice_of


def _rate(value: float | None) -> SelectiveResults:
    return SelectiveResults(
        [
            Estimate("error_rate", slice_of(form="short", against="rules"), value, n=40),
            Estimate("auroc", slice_of(form="short", against="rules", score="perplexity"), None),
        ]
    )


@pytest.mark.parametrize(("value", "share"), [(1.0, "100 %"), (0.0, "0 %")])
def test_only_wrong_or_only_right_answers(value: float, share: str) -> None:
    text = headline(_rate(value), "short")
    assert f"of 40 judged answers {share} are wrong by rules" in text
    assert "no pair of a right and a wrong answer" in text


def test_other_reasons() -> None:
    assert "no score could be ranked" in headline(_rate(0.5), "short")
    assert "no answer has a verdict" in headline(_rate(None), "short")


@pytest.mark.parametrize(("scores", "said"), [(1, False), (3, True)])
def test_the_best_of_many_is_called_that(scores: int, said: bool) -> None:
    found = [Estimate("error_rate", slice_of(form="short", against="rules"), 0.4, n=40)]
    names = [*["perplexity", "semantic_entropy", "num_sets"][:scores], "length_words"]
    found += [
        Estimate(
            "auroc",
            slice_of(form="short", against="rules", score=name),
            0.9 - 0.1 * n,
            0.4,
            0.95,
            n=40,
        )
        for n, name in enumerate(names)
    ]
    text = headline(SelectiveResults(found), "short")
    assert "Perplexity" in text
    assert ("the best of 3 scores on these answers" in text) == said
