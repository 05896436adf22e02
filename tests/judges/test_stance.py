"""Stances of one-line answers: one for each class of wording, and the known traps.

More of each class stand in ``benchmarks/data/wordings_short.jsonl`` and are read in
``test_wordings``. None of the sentences comes from labeled data.
"""

from __future__ import annotations

import pytest

from sayso.judges.rules.judge import judge_rules
from sayso.judges.rules.reading import (
    aspect_of,
    load_weights,
    sentences_of,
    stance_chances,
    stance_features,
)
from support.tables import tabled


@tabled
def test_stance(asked: tuple[str, list[str]], answer: str, stance: str, content: str) -> None:
    verdict = judge_rules(asked[0], asked[1], answer)
    assert (verdict.stance, verdict.content, verdict.problem) == (stance, content, None)


@tabled
def test_what_its_writer_knows_of(
    question: str, gold: str, text: str, stance: str, content: str
) -> None:
    verdict = judge_rules(question, [gold], text)
    assert (verdict.stance, verdict.content) == (stance, content)


@tabled
def test_only_who_speaks_of_himself_or_of_little_else_declines(text: str, refused: bool) -> None:
    for question in ("What was it about?", "Where does Mira Toll live?"):
        verdict = judge_rules(question, ["Ripley"], text)
        assert (verdict.stance == "refused_by_policy") is refused


@tabled
@pytest.mark.parametrize("question", ["Where was Ada Bo born?", "When did it open?", "What is it?"])
def test_answers_that_look_alike_have_the_chances_of_their_features(
    question: str, answer: str
) -> None:
    rows, aspect = sentences_of(answer), aspect_of(question)
    features = stance_features(rows, aspect) | {"short": 1.0}
    (expected,) = load_weights("stance").of_each([features])
    assert stance_chances(rows, aspect).tolist() == expected.tolist()
    changed = stance_chances(rows, aspect)
    changed[:] = 0.0  # whoever gets them may change them
    assert stance_chances(rows, aspect).tolist() == expected.tolist()
