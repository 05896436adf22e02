"""The parts of the page that are pure: cleaning, cutting, drawing lots, wording."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from sayso.harmless import block, line
from sayso.protocols.uncle import report
from sayso.records import Estimate, Results, Verdict, slice_of
from sayso.report.answers import (
    SHOWN_CHARACTERS,
    QuestionCard,
    ShownAnswer,
    ShownFact,
    ShownVerdict,
    paginate,
    pieces,
    split_cards,
)
from sayso.report.numbers import interval, percent, shown_value, signed_number


@given(st.text(st.characters(), max_size=200))
def test_cleaned_text_holds_nothing_invisible(text: str) -> None:
    for sign in line(text):
        assert unicodedata.category(sign) not in ("Cc", "Cs")
        assert sign not in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f"
    assert "\n" not in line(text)
    assert len(line(text, 20)) <= 20


@given(st.text(max_size=120), st.lists(st.tuples(st.integers(-5, 130), st.integers(-5, 130))))
def test_pieces_join_to_the_whole_answer(text: str, spans: list[tuple[int, int]]) -> None:
    verdicts = [
        Verdict("t", str(n), "rules@1", "committed", "correct", start=a, end=b, answer_start=a)
        for n, (a, b) in enumerate(spans)
    ]
    found, cut = pieces(text, verdicts)
    assert "".join(piece.text for piece in found) == block(text)
    assert cut == 0


def test_two_facts_in_one_sentence_are_mixed_when_they_differ() -> None:
    text = "Born in Ripley in 1950."
    verdicts = [
        Verdict(
            "t", "a", "r", "committed", "correct", start=0, end=23, answer_start=8, answer_end=14
        ),
        Verdict("t", "b", "r", "hedged", "none", start=0, end=23),
    ]  # fmt: skip
    found, _ = pieces(text, verdicts)
    assert [(p.text, p.kind, p.value) for p in found] == [
        ("Born in ", "mixed", False),
        ("Ripley", "mixed", True),
        (" in 1950.", "mixed", False),
    ]
    assert found[-1].tags == ((1, "correct"), (2, "uncertain"))


def test_long_answers_are_cut() -> None:
    found, cut = pieces("x" * (SHOWN_CHARACTERS + 7), [])
    assert cut == 7
    assert len(found[0].text) == SHOWN_CHARACTERS


def card(number: int, kind: str = "correct") -> QuestionCard:
    answer = ShownAnswer([], 0, ())
    reading = ShownVerdict(kind, "", "")
    fact = ShownFact(1, "q", "", "", "known", "", answer, reading, None, None, None)
    return QuestionCard(f"card-{number}", "", "bios", "", None, None, [fact])


def test_rare_kinds_are_drawn_and_nothing_is_lost() -> None:
    # 1,000 answers of which two are hedged: both are among the 300 on the page
    made = [card(n, "uncertain" if n in (500, 900) else "correct") for n in range(1000)]
    inline, rest = split_cards(made, lambda c: 100, seed=1)
    assert len(inline) == 300
    assert {"card-500", "card-900"} <= {c.id for c in inline}
    assert sorted([*inline, *rest], key=lambda c: c.id) == sorted(made, key=lambda c: c.id)
    assert split_cards(made, lambda c: 100, seed=1) == (inline, rest)
    assert split_cards(made, lambda c: 100, seed=2) != (inline, rest)
    assert [len(page) for page in paginate(rest, lambda c: 100)] == [300, 300, 100]


def test_heavy_cards_move_beside_the_page() -> None:
    made = [card(n) for n in range(10)]
    inline, rest = split_cards(made, lambda c: 200_000, seed=0)
    assert (len(inline), len(rest)) == (4, 6)
    assert [len(page) for page in paginate(rest, lambda c: 200_000)] == [4, 2]


def test_notation() -> None:
    assert percent(0.0004) == "<0.1 %"
    assert percent(0.9999, 0) == ">99 %"
    assert percent(1.0) == "100.0 %"
    assert signed_number(-0.001) == "0.00"
    assert signed_number(-0.02) == "−0.02"
    assert shown_value(Estimate("FA")) == "–"
    assert interval(Estimate("UUR", value=0.5, low=0.25, high=0.75)) == "[25.0, 75.0]"


def said(
    j: float,
    low: float,
    high: float,
    uur: float,
    over: float,
    hedges: float | None = None,
    wide: float = 0.05,
) -> str:
    return " ".join(
        report.headline(
            Results(
                [
                    Estimate("UA", slice_of(form="short"), 0.5, denominator=hedges),
                    Estimate("p_known", slice_of(form="short"), 0.5, denominator=10),
                    Estimate("UUR", slice_of(form="short"), uur, 0.0, uur + wide),
                    Estimate("over_hedge", slice_of(form="short"), over, 0.0, over + wide),
                    Estimate("J", slice_of(form="short"), j, low, high),
                ]
            )
        )
    )


def test_the_headline_claims_no_more_than_the_interval() -> None:
    assert "its hedging looks random" in said(0.02, -0.01, 0.05, 0.04, 0.02)
    assert "its hedging looks random" not in said(0.02, -0.01, 0.05, 0.04, 0.02, wide=0.07)
    assert "indistinguishable from random hedging" in said(0.1, -0.05, 0.3, 0.6, 0.5)
    assert "It never hedges." in said(0.0, 0.0, 0.0, 0.0, 0.0)
    assert "slightly better than random" in said(0.05, 0.01, 0.09, 0.3, 0.25)
    assert "to some degree" in said(0.3, 0.2, 0.4, 0.5, 0.2)
    assert "facts well." in said(0.5, 0.4, 0.6, 0.7, 0.2)
    assert "very well" in said(0.8, 0.7, 0.9, 0.9, 0.1)
    assert "misleads" in said(-0.2, -0.3, -0.1, 0.2, 0.4)


def test_too_few_hedges_are_not_called_random() -> None:
    assert "It hedged 1 fact, too few to say whether" in said(0.02, -0.01, 0.05, 0.04, 0, 1)
    assert "It hedged 4 facts, too few to say" in said(0.1, -0.05, 0.3, 0.6, 0.5, 4)
    assert "its hedging looks random" in said(0.02, -0.01, 0.05, 0.04, 0.02, 5)
    assert "to some degree" in said(0.3, 0.2, 0.4, 0.5, 0.2, 4)  # its interval is clear of 0


def matrix(omitted: float, rule: str = "NS") -> tuple[list[str], list[str]]:
    form = slice_of(form="long")
    cells = {"kc": 9, "ki": 3, "ku": 1, "uc": 1, "ui": 6, "uu": 0}
    numbers = [Estimate(f"cell_{name}", form, value) for name, value in cells.items()]
    fa = Estimate("FA", form, 10 / 19, signature=(("", "FA"), ("omit", rule)))
    left = Estimate("omission", form, omitted / 20, numerator=omitted, denominator=20)
    table = report.matrix_table(Results([*numbers, fa, left]), "long")
    return table.head, table.notes


def test_a_fact_that_is_left_out_is_not_called_stated() -> None:
    head, notes = matrix(1)
    assert head == ["", "stated right", "stated wrong or left out", "hedged"]
    assert notes == ["The paragraphs leave out 1 of 20 facts, which counts as stated wrong."]
    assert matrix(3)[1] == ["The paragraphs leave out 3 of 20 facts, which count as stated wrong."]
    # none is left out, or those that are count nowhere
    for found in (matrix(0), matrix(2, "separate")):
        assert found == (["", "stated right", "stated wrong", "hedged"], [])
    assert report.definitions(Results([]))["FA"].meaning.endswith(report.LEFT_OUT)
