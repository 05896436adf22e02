"""Long answers: which sentence speaks of which aspect, and what is its stance there."""

from __future__ import annotations

from itertools import pairwise

import pytest

from sayso.judges.english.sentences import split_sentences
from sayso.judges.english.tokens import forget_texts
from sayso.judges.rules.alignment import AlignedParagraph
from sayso.judges.rules.judge import judge_rules_long
from sayso.judges.rules.reading import aspect_of, load_weights
from support.tables import rows_of, tabled

BORN = ("Where was Mira Toll born?", ["Ripley"])
BIRTH = ("When was Mira Toll born?", ["1950-05-03T00:00:00Z"])
DIED = ("When did Mira Toll die?", ["1999"])
DIED_AT = ("Where did Mira Toll die?", ["Derby"])
WORK = ("What was Mira Toll's occupation?", ["singer"])
STUDY = ("Where was Mira Toll educated?", ["Exeter College"])
SPOUSE = ("Who was Mira Toll married to?", ["Jon Kemp"])
PRIZE = ("Which award did Mira Toll receive?", ["Brandt Prize"])

S, H, A, R, OMIT, Q = (
    "committed",
    "hedged",
    "abstained",
    "refused_by_policy",
    "omitted",
    "asked_back",
)


@tabled
def test_aspects(
    paragraph: str, expected: list[tuple[tuple[str, list[str]], str, str, str]]
) -> None:
    verdicts = judge_rules_long([row[0] for row in expected], paragraph)
    found = [
        [
            v.stance,
            v.content,
            None if v.answer_start is None else paragraph[v.answer_start : v.answer_end],
        ]
        for v in verdicts
    ]
    assert found == [row[1:] for row in expected]


def test_the_verdict_points_at_its_sentence() -> None:
    text = "Mira Toll was a singer. She was born in Ripley. I don't know when she died."
    born, died = judge_rules_long([BORN, DIED], text)
    assert text[born.start : born.end] == "She was born in Ripley."
    assert text[died.start : died.end] == "I don't know when she died."


def test_order_of_the_questions_does_not_matter() -> None:
    text = "She was born in Ripley in 1950, I think; she died in Derby. I don't know when."
    forward = judge_rules_long([BORN, BIRTH, DIED_AT, DIED], text)
    backward = judge_rules_long([DIED, DIED_AT, BIRTH, BORN], text)
    assert forward == backward[::-1]


@tabled
def test_sentences(text: str, count: int) -> None:
    assert len(split_sentences(text)) == count


@tabled
def test_new_wordings(text: str, expected: list[tuple[tuple[str, list[str]], str]]) -> None:
    found = judge_rules_long([part for part, _ in expected], text)
    assert [v.stance for v in found] == [stance for _, stance in expected]


ALL = [BORN, BIRTH, DIED, DIED_AT, WORK, STUDY, SPOUSE, PRIZE]
TEXTS = [row["paragraph"] for row in rows_of(test_aspects) if row["paragraph"]]


@pytest.mark.parametrize("text", TEXTS)
def test_fits_are_those_of_the_features_that_were_learned(text: str) -> None:
    paragraph = AlignedParagraph(text, [aspect_of(question) for question, _ in ALL])
    clauses = range(len(paragraph.clauses))
    pairs = [[paragraph.pair(i, j) for i in clauses] for j in range(len(ALL))]
    paragraph.align()
    for fits, of_aspect in zip(paragraph.fits.tolist(), pairs, strict=True):
        assert fits == load_weights("alignment").of_each(of_aspect)[:, 0].tolist()


@pytest.mark.parametrize("text", TEXTS)
def test_a_paragraph_is_read_the_same_whatever_golds_came_before(text: str) -> None:
    borrowed = [(question, golds) for (question, _), (_, golds) in pairwise(ALL)]
    own = ALL[: len(borrowed)]
    forget_texts()
    first = judge_rules_long(own, text)
    second = judge_rules_long(borrowed, text)
    forget_texts()
    assert judge_rules_long(borrowed, text) == second
    assert judge_rules_long(own, text) == first


def test_a_paragraph_of_no_words_or_asked_for_nothing() -> None:
    assert [v.stance for v in judge_rules_long([BORN, DIED], "®")] == [OMIT, OMIT]
    assert judge_rules_long([], "She was born in Ripley.") == []
