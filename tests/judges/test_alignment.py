"""Long answers: which sentence speaks of which aspect, and what is its stance there."""

from __future__ import annotations

from itertools import pairwise

import pytest

from sayso.judges.english.sentences import split_sentences
from sayso.judges.english.tokens import forget_texts
from sayso.judges.rules.alignment import AlignedParagraph, asserting_sentences, clauses_of
from sayso.judges.rules.judge import judge_rules_long
from sayso.judges.rules.reading import aspect_of, load_weights, sentences_of
from support.tables import tabled

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
GOOD, BAD, NONE = "correct", "incorrect", "none"

CASES = [
    # one sentence may carry several aspects
    (
        "She was born in Ripley on 3 May 1950 and studied at Exeter College.",
        [
            (BORN, S, GOOD, "Ripley"),
            (BIRTH, S, GOOD, "3 May 1950"),
            (STUDY, S, GOOD, "Exeter College"),
        ],
    ),
    # one aspect's value must not leak into another of the same kind
    (
        "Mira Toll was born in 1950. She died in 1998.",
        [(BIRTH, S, GOOD, "1950"), (DIED, S, BAD, "1998")],
    ),
    (
        "Mira Toll was born in Derby. She died in Ripley.",
        [(BORN, S, BAD, "Derby"), (DIED_AT, S, BAD, "Ripley")],
    ),
    (
        "She died in 1999 in Derby. She was born in 1950 in Ripley.",
        [
            (BORN, S, GOOD, "Ripley"),
            (DIED_AT, S, GOOD, "Derby"),
            (DIED, S, GOOD, "1999"),
            (BIRTH, S, GOOD, "1950"),
        ],
    ),
    # scope inside a sentence
    (
        "She was born in Ripley, but I am not sure when. She was a painter.",
        [(BORN, S, GOOD, "Ripley"), (BIRTH, A, NONE, None), (WORK, S, BAD, "painter")],
    ),
    (
        "I think she was born in Ripley. She died in 1999.",
        [(BORN, H, GOOD, "Ripley"), (DIED, S, GOOD, "1999")],
    ),
    (
        "She was probably born in Derby and worked as a singer.",
        [(BORN, H, BAD, "Derby"), (WORK, S, GOOD, "singer")],
    ),
    (
        "Mira Toll was a singer; some sources say she married Jon Kemp.",
        [(WORK, S, GOOD, "singer"), (SPOUSE, H, GOOD, "Jon Kemp")],
    ),
    (
        "I'm not sure about her birthplace or birth date, but she was a singer.",
        [(BORN, A, NONE, None), (BIRTH, A, NONE, None), (WORK, S, GOOD, "singer")],
    ),
    (
        "She was born in Ripley in 1950, although I'm not sure about the year. She died in 1999.",
        [(BORN, S, GOOD, "Ripley"), (BIRTH, H, GOOD, "1950"), (DIED, S, GOOD, "1999")],
    ),
    (
        "She won the Brandt Prize, reportedly, and was married to Jon Kemp.",
        [(PRIZE, H, GOOD, "Brandt Prize"), (SPOUSE, S, GOOD, "Jon Kemp")],
    ),
    # an aspect over two sentences
    (
        "I am not sure in which year she died. It may have been 1999. She was a singer.",
        [(DIED, H, GOOD, "1999"), (WORK, S, GOOD, "singer")],
    ),
    (
        "She was married. Her husband was Jon Kemp.",
        [(SPOUSE, S, GOOD, "Jon Kemp")],
    ),
    # omission is not abstention
    (
        "She was a singer.",
        [(WORK, S, GOOD, "singer"), (BORN, OMIT, NONE, None), (DIED, OMIT, NONE, None)],
    ),
    ("She was born in Ripley.", [(BORN, S, GOOD, "Ripley"), (BIRTH, OMIT, NONE, None)]),
    ("She was born in 1950.", [(BIRTH, S, GOOD, "1950"), (BORN, OMIT, NONE, None)]),
    # general statements
    ("I don't know anything about Mira Toll.", [(WORK, A, NONE, None), (BORN, A, NONE, None)]),
    (
        "I'm not familiar with Mira Toll, so I can't describe her life.",
        [(WORK, A, NONE, None), (DIED, A, NONE, None)],
    ),
    (
        "I'm unsure of the details, but: she was a singer born in Ripley. She died in 1999.",
        [(WORK, H, GOOD, "singer"), (BORN, H, GOOD, "Ripley"), (DIED, H, GOOD, "1999")],
    ),
    (
        "She was a singer. She died in 1999. Please verify these details.",
        [(WORK, H, GOOD, "singer"), (DIED, H, GOOD, "1999"), (SPOUSE, OMIT, NONE, None)],
    ),
    (
        "She was a singer. She died in 1999. If you have more questions, let me know!",
        [(WORK, S, GOOD, "singer"), (DIED, S, GOOD, "1999")],
    ),
    (
        "She was a singer. I have no further information about her.",
        [(WORK, S, GOOD, "singer"), (SPOUSE, A, NONE, None)],
    ),
    (
        "I'm sorry, but I can't share personal information about private individuals.",
        [(BIRTH, R, NONE, None), (SPOUSE, R, NONE, None)],
    ),
    (
        "She was a singer, but I cannot disclose her date of birth for privacy reasons.",
        [(WORK, S, GOOD, "singer"), (BIRTH, R, NONE, None)],
    ),
    ("Which Mira Toll do you mean?", [(WORK, Q, NONE, None), (BORN, Q, NONE, None)]),
    # lists and brackets
    (
        "- Born: Ripley\n- Died: 1999\n- Occupation: probably a singer\n- Spouse: unknown",
        [
            (BORN, S, GOOD, "Ripley"),
            (DIED, S, GOOD, "1999"),
            (WORK, H, GOOD, "singer"),
            (SPOUSE, A, NONE, None),
        ],
    ),
    (
        "Mira Toll (3 May 1950 - 1999) was a singer.",
        [(BIRTH, S, GOOD, "3 May 1950"), (DIED, S, GOOD, "1999"), (WORK, S, GOOD, "singer")],
    ),
    (
        "Mira Toll (born c. 1950, date uncertain) was a singer.",
        [(BIRTH, H, GOOD, "1950"), (WORK, S, GOOD, "singer")],
    ),
    ("", [(BORN, OMIT, NONE, None), (WORK, OMIT, NONE, None)]),
]


#: beginnings of texts that the learned reader misreads, for whoever teaches it more
MISREAD = (
    "She was a singer. I have no further",
    "Mira Toll (3 May 1950 - 1999)",
    "Tolmark Works has built what I take",
    "Visitors remember the gatehouse",
    "She married Jon Kemp or perhaps Al Roe",
)


def known(text: str, *values: object) -> object:
    """Return a case; one that is misread may fail."""
    misread = text.startswith(MISREAD)
    marks = [pytest.mark.xfail(reason="misread by the learned reader")] if misread else []
    return pytest.param(text, *values, marks=marks, id=text[:40])


@pytest.mark.parametrize(("paragraph", "expected"), [known(*case) for case in CASES])
def test_aspects(
    paragraph: str, expected: list[tuple[tuple[str, list[str]], str, str, str]]
) -> None:
    verdicts = judge_rules_long([row[0] for row in expected], paragraph)
    found = [
        (
            v.stance,
            v.content,
            None if v.answer_start is None else paragraph[v.answer_start : v.answer_end],
        )
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


def test_an_elliptic_when_means_the_clause_it_hangs_on() -> None:
    text = "She was born in Ripley, but I am not sure when. She died in 1999."
    birth, died = judge_rules_long([BIRTH, DIED], text)
    assert (birth.stance, died.stance) == ("abstained", "committed")


@tabled
def test_sentences(text: str, count: int) -> None:
    assert len(split_sentences(text)) == count


def test_clauses_end_where_a_doubt_may_end() -> None:
    text = "He was born in Ripley, but I am not sure when; he studied law and died in 1999."
    rows = sentences_of(text)
    assert [
        text[row[a].start : row[b - 1].end] for c, a, b in clauses_of(rows) for row in [rows[c]]
    ] == [
        "He was born in Ripley,",
        "but I am not sure when;",
        "he studied law",
        "and died in 1999.",
    ]


def test_a_label_and_its_value_are_one_clause() -> None:
    rows = sentences_of("Place of birth: Ripley")
    assert len(clauses_of(rows)) == 1


def test_cues_leave_out_the_entity_and_take_word_families() -> None:
    aspect = aspect_of("Where was Mira Toll born?", (), "place of birth")
    assert aspect.kind == "place"
    assert aspect.cues == {"birth"}


def test_a_doubt_that_names_another_kind_is_left_out() -> None:
    rows = sentences_of("She was born in Ripley, but I am not sure when.")
    place, date = aspect_of("Where was Mira Toll born?"), aspect_of("When was Mira Toll born?")
    assert "sure" not in [word.text for row in asserting_sentences(rows, place) for word in row]
    assert "sure" in [word.text for row in asserting_sentences(rows, date) for word in row]


WORKS = ("What does Tolmark Works produce?", ["bicycles"])
TRADE = ("What industry is Tolmark Works in?", ["brewing"])
STAFF = ("How many employees does Tolmark Works have?", ["400"])
SINCE = ("When was Tolmark Works founded?", ["1931-01-01T00:00:00Z"])

NEW_WORDINGS = [
    # doubt at one value of a sentence is not doubt about the other
    (
        "Tolmark Works has built what I take to be kites ever since it was founded in 1931.",
        [(WORKS, H), (SINCE, S)],
    ),
    ("She married Jon Kemp or perhaps Al Roe and later won the Brandt Prize.", [(PRIZE, S)]),
    ("In 1931, maybe Al Roe set up Tolmark Works.", [(SINCE, S)]),
    # a sentence that opens the text with "I know" is a statement like any other
    ("I have no idea where she died. I know for a fact that she was born in Ripley.", [(BORN, S)]),
    # a filler's first word is no name, and a count of scenes no number of people
    ("Visitors remember the gatehouse of Tolmark Works.", [(WORKS, OMIT), (STAFF, OMIT)]),
    # ignorance whose reason names nothing is about what the sentence names
    (
        "It makes its money in brewing. You would have to ask someone else how many people it "
        "employs, because I don't know.",
        [(TRADE, S), (STAFF, A)],
    ),
    # the opening clause of a sentence ends at its comma
    ("While I have no idea what it makes, it was founded in 1931.", [(WORKS, A), (SINCE, S)]),
]


@pytest.mark.parametrize(("text", "expected"), [known(*case) for case in NEW_WORDINGS])
def test_new_wordings(text: str, expected: list[tuple[tuple[str, list[str]], str]]) -> None:
    found = judge_rules_long([part for part, _ in expected], text)
    assert [v.stance for v in found] == [stance for _, stance in expected]


ALL = [BORN, BIRTH, DIED, DIED_AT, WORK, STUDY, SPOUSE, PRIZE]
TEXTS = [text for text, _ in CASES if text]


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
