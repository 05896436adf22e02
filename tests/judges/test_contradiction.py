"""Contradiction of two answers to one question, offline.

More of each class stand in ``benchmarks/data/wordings_contradiction.jsonl``: ``test_wordings``.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sayso
from sayso.judges import contradiction
from sayso.judges.contradiction import answers, contradicts, question_kind, read_short_answer
from sayso.judges.english.families import keys, slip
from sayso.judges.meaning import RulesMeaning
from support.effort import check_growth, seconds
from support.tables import tabled

#: without synonyms: inflected, of one root, a people and its country, slips, numbers
WORDS = (
    "gardens", "garden", "gardening", "hieroglyph", "hieroglyphics", "Dutch", "Netherlands",
    "windmills", "windmlils", "7", "70", "seventh", "tarn", "turn",
)  # fmt: skip


@tabled
def test_cases(question: str, a: str, b: str, expected: bool | None) -> None:
    assert contradicts(question, a, b) is expected
    assert contradicts(question, b, a) is expected
    assert contradicts(question, a, a) in (False, None)
    assert contradicts(question, b, b) in (False, None)


ANY = st.one_of(
    st.text(max_size=120),
    st.lists(
        st.sampled_from(
            str.split("no yes Ann Bo 1950 2 km or not in May 12/13/1950 0 1e999 , . the 5% €")
        ),
        max_size=12,
    ).map(" ".join),
)


@given(ANY, ANY, ANY)
def test_any_text(question: str, a: str, b: str) -> None:
    value = contradicts(question, a, b)
    assert value in (True, False, None)
    assert contradicts(question, b, a) is value
    assert contradicts(question, a, a) is not True


@tabled
def test_a_denial_excludes_what_it_denies(question: str, a: str, b: str, wanted: bool) -> None:
    assert sayso.contradicts(question, a, b) is wanted
    assert sayso.contradicts(question, b, a) is wanted


@tabled
def test_a_value_that_leaves_one_side_open(question: str, a: str, b: str, wanted: bool) -> None:
    assert sayso.contradicts(question, a, b) is wanted
    assert sayso.contradicts(question, b, a) is wanted


@tabled
def test_a_draw_without_an_answer_is_missing(draw: str) -> None:
    for question, answer in (("When was Ada Bo born?", "1815"), ("Who wrote Emma?", "Jane Austen")):
        assert contradicts(question, answer, draw) is None
        assert not answers(question, draw)


@tabled
def test_a_hedge_of_two_parts_hides_no_answer(hedged: str) -> None:
    assert contradicts("When was Emma published?", hedged, "1815") is False
    assert contradicts("When was Emma published?", hedged, "1816") is True


def test_an_answer_is_read_behind_talk() -> None:
    draw = "I'm happy to help! As far as I know, Emma was written by Jane Austen. Anything else?"
    assert contradicts("Who wrote Emma?", draw, "Jane Austen") is False
    assert contradicts("Who wrote Emma?", draw, "George Eliot") is True


@tabled
def test_values_and_names(question: str, a: str, b: str, wanted: bool) -> None:
    assert contradicts(question, a, b) is wanted
    assert contradicts(question, b, a) is wanted
    same = RulesMeaning().clusters([question], [[a, b]])[0].ids == (0, 0)
    assert not (same and wanted)


@tabled
def test_a_draw_about_something_else_is_missing(question: str, draw: str, answer: str) -> None:
    assert contradicts(question, draw, answer) is None


@tabled
def test_the_sentence_that_answers_is_found(question: str, answer: str, other: str) -> None:
    assert contradicts(question, answer, other) is True
    assert contradicts(question, answer, answer) is False


def test_a_kind_of_place_and_a_named_place_can_both_be_right() -> None:
    assert contradicts("Where was Ada Bo born?", "In a library.", "In Oslo.") is False
    assert contradicts("Where was Ada Bo born?", "In Graz.", "In Oslo.") is True


@tabled
def test_whole_names_are_compared(a: str, b: str, wanted: bool) -> None:
    assert contradicts("What is its name?", a, b) is wanted


def test_thoughts_are_no_part_of_an_answer() -> None:
    answer = "<think>Eliot? No.</think>Jane Austen"
    assert contradicts("Who wrote Emma?", answer, "Jane Austen") is False
    assert contradicts("Who wrote Emma?", answer, "Eliot") is True
    assert contradicts("Who wrote Emma?", "<think>It was Jane Austen", "Eliot") is None
    assert not answers("Who wrote Emma?", "<think>It was Jane Austen")


@tabled
def test_time_grows_with_the_length(piece: str) -> None:
    def read(length: int) -> None:
        text = (piece * length)[:length] + " Jane Austen"
        contradicts("Who wrote Emma?", text, "1815 Jane")

    check_growth(read, 2_000, 16_000, 0.1)
    assert seconds(lambda: read(50_000), enough=0.1) < 0.1


@tabled
def test_a_value_behind_talk_is_an_answer(text: str) -> None:
    question = "When did the bridge open?"
    assert contradicts(question, text.format(1961), "It opened in 1935.") is True
    assert contradicts(question, text.format(1961), "It opened in 1961.") is False


@tabled
def test_talk_alone_is_no_answer(question: str, answer: str) -> None:
    assert not answers(question, answer)


@tabled
def test_two_names_for_what_is_asked_are_no_choice(question: str) -> None:
    assert question_kind(question) != "choice"


@tabled
def test_a_choice_is_one(question: str) -> None:
    assert question_kind(question) == "choice"


@tabled
def test_values_are_compared(question: str, a: str, b: str, wanted: bool) -> None:
    assert contradicts(question, a, b) is wanted
    assert contradicts(question, b, a) is wanted


def test_the_stance_is_read_only_where_it_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def withheld(_: str, text: str) -> float:
        asked.append(text)
        return 0.0

    monkeypatch.setattr(contradiction, "withheld", withheld)
    for text in ("Mona Tarn.", "It is Mona Tarn.", "Mona Tarn, I think.", "I like these gardens."):
        read_short_answer("Who wrote Tarn Water?", text)
    assert asked == []
    told = (
        "Most people who have looked into it say that Tarn Water was written by Mona Tarn in 1961."
    )
    assert read_short_answer("Who wrote Tarn Water?", told) is not None
    assert asked == [told]


def test_a_long_answer_that_withholds_gives_no_value() -> None:
    told = (
        "There is no record that would tell who wrote Tarn Water, which Mona Tarn printed, "
        "so nobody can say it."
    )
    assert read_short_answer("Who wrote Tarn Water?", told) is None


@given(*[st.lists(st.sampled_from(WORDS), min_size=1, max_size=8)] * 2)
def test_shared_words_are_those_of_each_pair(a: list[str], b: list[str]) -> None:
    one, two = (read_short_answer("Why is it?", " ".join(["because", *words])) for words in (a, b))
    if one is None or two is None:
        return
    shared = [
        any(
            t.text == u.text
            if t.number or u.number
            else {*keys(t.text, t.stem)} & {*keys(u.text, u.stem)} or slip(t.text, u.text)
            for u in two.new
        )
        for t in one.new
    ]
    assert contradiction._shared_words(one, two) == (sum(shared), len(one.new))
