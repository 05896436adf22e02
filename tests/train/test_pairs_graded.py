"""Graded rows: a word of doubt at each value of which the draws are not sure."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.judges.decisiveness import decisiveness
from sayso.records import InputError
from sayso.train.config import RowSettings
from sayso.train.recipes.calibrated import graded_rows, nearest_word
from sayso.train.rows import REFUSALS, Fact
from support.pair_records import ASPECTS, paragraph, short_fact

HALF = RowSettings(plain_from=0.5, words=("possibly",))
VALUES = ["Lyon", "1950", "poet"]


def world(*draws: str, values: list[str] = VALUES) -> list[Fact]:
    """A paragraph of ``values`` and the short facts of its aspects, whose golds are VALUES."""
    labels = "".join("S" if a == b else "N" for a, b in zip(values, VALUES, strict=True))
    long, _ = paragraph(labels, values=values)
    return [
        long,
        *(
            short_fact(some, aspect, greedy=gold, gold=gold)
            for aspect, gold, some in zip(ASPECTS, VALUES, draws, strict=False)
        ),
    ]


def test_doubt_follows_the_draws_and_stands_at_the_value() -> None:
    # 8, 4 and 5 of 10 draws agree with what is said
    facts = world("c" * 8 + "ww", "cccc" + "w" * 6, "c" * 5 + "w" * 5)
    rows = graded_rows(facts, HALF)
    short = {
        r.questions[0].split("/")[1]: (r.chosen, r.rejected) for r in rows if r.form == "short"
    }
    assert short == {
        "place of birth": ("Lyon", "Possibly Lyon"),
        "date of birth": ("Possibly 1950", "1950"),
        "occupation": ("poet", "Possibly poet"),
    }
    (long,) = [r for r in rows if r.form == "long"]
    assert long.chosen == "He was born in Lyon. He was born on possibly 1950. He worked as a poet."
    assert long.rejected == (
        "He was born in possibly Lyon. He was born on 1950. He worked as a possibly poet."
    )


def test_the_label_is_that_of_the_value_said_not_of_its_fact() -> None:
    """Every draw says Lyon; the paragraph says Metz, with which none agrees."""
    facts = world("c" * 10, "c" * 10, "c" * 10, values=["Metz", "1950", "poet"])
    (long,) = [r for r in graded_rows(facts, HALF, want="sft") if r.form == "long"]
    assert long.chosen.startswith("He was born in possibly Metz. He was born on 1950.")


def test_no_truth_enters_but_luck() -> None:
    (wrong,) = graded_rows([short_fact("W" * 8 + "cc", greedy="Paris")], HALF)
    assert wrong.chosen == "Paris"  # sure of it, and wrong
    (luck,) = graded_rows([short_fact("W" + "w" * 9, greedy="Lyon")], HALF)
    assert luck.chosen in REFUSALS


def test_a_lucky_paragraph_holds_no_value() -> None:
    facts = world("W" * 10, "c" * 10, "c" * 10)
    (long,) = [r for r in graded_rows(facts, HALF, want="sft") if r.form == "long"]
    assert "Lyon" not in long.chosen
    assert "born on 1950" in long.chosen


def test_among_several_words_the_nearest_in_decisiveness_is_taken() -> None:
    levels = {w: decisiveness(f"{w.capitalize()} Lyon") for w in ("probably", "possibly")}
    assert levels["probably"] > levels["possibly"]
    # 6 and 4 of 10 agree: .6 is nearer to probably (.71) than to possibly (.48), .4 is not
    facts = [
        short_fact("c" * 6 + "w" * 4, "place of birth"),
        short_fact("c" * 4 + "w" * 6, "date of birth"),
    ]
    rows = graded_rows(facts, RowSettings(plain_from=0.8, words=("probably", "possibly")))
    assert {r.questions[0].split("/")[1]: r.chosen for r in rows} == {
        "place of birth": "Probably Lyon",
        "date of birth": "Possibly Lyon",
    }


def test_pairs_can_be_balanced() -> None:
    sure = [short_fact("c" * 10, entity=f"S{i}") for i in range(30)]
    unsure_ = [short_fact("c" + "w" * 9, entity=f"U{i}") for i in range(10)]
    rows = graded_rows([*sure, *unsure_], replace(HALF, against=1.5))
    assert sum(r.chosen == "Lyon" for r in rows) == 15
    assert sum(r.rejected == "Lyon" for r in rows) == 10
    facts = world("c" * 10, "c" * 10, "c" + "w" * 9)
    (long,) = [r for r in graded_rows(facts, replace(HALF, against=1.0)) if r.form == "long"]
    assert long.chosen.endswith("as a possibly poet.")
    assert len(re.findall("possibly", long.rejected or "")) == 1
    # supervised rows are never thinned out
    assert len(graded_rows([*sure, *unsure_], replace(HALF, against=1.0), want="sft")) == 40


def test_what_is_open_is_counted_and_left_out() -> None:
    notes: list[str] = []
    facts = world("a" * 10, "c" * 10, "c" * 10)  # nothing can be compared with Lyon
    rows = graded_rows(facts, HALF, notes=notes)
    assert {r.form for r in rows} == {"short"}
    assert "2 answers left out" in notes[0]  # the short fact and the paragraph


@pytest.mark.parametrize("words", [(), ("Lyon",), ("certainly",)])
def test_words_that_do_not_hedge_are_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="hedge"):
        graded_rows([short_fact("c" * 10)], RowSettings(words=words))


def test_few_draws_are_refused() -> None:
    with pytest.raises(InputError, match=r"--set probe\.k=10"):
        graded_rows([short_fact("ccccc")])


@given(st.randoms(use_true_random=False), st.integers(0, 3))
def test_order_decides_nothing(chance, seed: int) -> None:
    facts = world("c" * 8 + "ww", "cccc" + "w" * 6, "c" * 5 + "w" * 5)
    facts += [short_fact("c" * i + "w" * (10 - i), entity=f"E{i}") for i in range(10)]
    rows = graded_rows(facts, replace(HALF, against=1.0), seed=seed)
    chance.shuffle(facts)
    assert graded_rows(facts, replace(HALF, against=1.0), seed=seed) == rows


def test_ties_between_words_are_drawn() -> None:

    said = {nearest_word(0.3, ("possibly", "Possibly"), random.Random(i)) for i in range(20)}
    assert said == {"possibly", "Possibly"}
