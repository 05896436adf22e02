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
from sayso.report.number_tables import page_rows
from sayso.report.numbers import DASH, interval, p_text, percent, shown_value, signed_number


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
    assert [p_text(p) for p in (0.0004, 0.0346, 1.0, None)] == ["< .001", ".035", "1.000", DASH]
    assert signed_number(-0.001) == "0.00"
    assert signed_number(-0.02) == "−0.02"
    assert shown_value(Estimate("FA")) == "–"
    assert interval(Estimate("UUR", value=0.5, low=0.25, high=0.75)) == "[25.0, 75.0]"


def test_a_fact_that_is_left_out_is_not_called_stated() -> None:
    form = slice_of(form="long")
    cells = {"kc": 9, "ki": 3, "ku": 1, "uc": 1, "ui": 6, "uu": 0}
    numbers = [Estimate(f"cell_{name}", form, value) for name, value in cells.items()]
    for rule, wrong in (("NS", "stated wrong or left out"), ("separate", "stated wrong")):
        fa = Estimate("FA", form, 10 / 19, signature=(("", "FA"), ("omit", rule)))
        results = Results([*numbers, fa])
        table = report.matrix_table(results)
        assert table.columns == ("stated right", wrong, "hedged")
        assert [[value for value, _ in row] for _, row in page_rows(table)] == [
            ["9", "3", "1"], ["1", "6", "0"],
        ]  # fmt: skip
        assert len(report.rates_table(results).notes) == (rule == "NS")
