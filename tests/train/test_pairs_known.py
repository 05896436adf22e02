"""Known rows: one label per fact words both forms."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from sayso.records import InputError
from sayso.train.recipes.known import KNOWN, known_rows
from sayso.train.rows import REFUSALS, WORDS, Fact
from support.pair_records import ASPECTS, paragraph, short_fact

HEDGE = re.compile(rf"\b(?:{'|'.join(WORDS)})\b", re.IGNORECASE)
VALUES = ["Lyon", "1950", "poet"]


def world(letters: str, *draws: str, entity: str = "Ann Bell") -> list[Fact]:
    """A paragraph of VALUES and, for each value, its short fact with these draws."""
    long, _ = paragraph(letters, entity, values=VALUES)
    return [
        long,
        *(
            short_fact(some, aspect, entity, greedy=value, gold=value)
            for aspect, value, some in zip(ASPECTS, VALUES, draws, strict=False)
        ),
    ]


def test_both_forms_follow_one_label_and_differ_in_one_word_a_value() -> None:
    facts = world("SSN", "c" * 10, "cccwwwwwww", "w" * 10)
    rows = known_rows(facts)
    short = {r.questions[0].split("/")[1]: r for r in rows if r.form == "short"}
    assert short["place of birth"].chosen == "Lyon"
    assert short["date of birth"].chosen == "1950"  # 3 of 10 are right
    hedged = short["occupation"]
    assert HEDGE.match(hedged.chosen)
    assert hedged.chosen.split()[-1] == hedged.rejected
    (long,) = [r for r in rows if r.form == "long"]
    bare = "He was born in Lyon. He was born on 1950. He worked as a poet."
    assert re.fullmatch(
        rf"He was born in Lyon\. He was born on 1950\. He worked as a ({HEDGE.pattern}) poet\.",
        long.chosen,
    )
    assert long.rejected is not None
    assert HEDGE.sub("", long.rejected).replace("  ", " ") == bare
    assert len(HEDGE.findall(long.rejected)) == 2
    assert long.rejected.endswith("He worked as a poet.")


def test_a_known_fact_that_came_out_wrong_is_mended_by_its_own_draws() -> None:
    long, _ = paragraph("N", values=["Rome"])
    facts = [long, short_fact("ccccwwWWWW")]
    (row,) = [r for r in known_rows(facts) if r.form == "long"]
    assert row.chosen == "He was born in Lyon."


def test_between_the_thresholds_the_paragraph_goes_by_its_own_verdict() -> None:
    for letter, hedged in (("S", False), ("N", True)):
        facts = world(letter, "cwwwwwwwww")  # 1 of 10
        rows = known_rows(facts)
        assert [r.form for r in rows] == ["long"]
        assert bool(HEDGE.search(rows[0].chosen)) == hedged


def test_luck_has_no_value_on_the_chosen_side() -> None:
    facts = world("S", "w" * 10)
    (row,) = [r for r in known_rows(facts) if r.form == "long"]
    assert "Lyon" not in row.chosen
    assert row.rejected == "He was born in Lyon."


def test_what_cannot_be_placed_is_left_out_and_counted() -> None:
    long, _ = paragraph("N", values=["Rome"])
    told = long.paragraphs[0].mentions[0]
    lost = type(told)(told.question, told.stance, told.right, told.start, told.end, None)
    held = type(long.paragraphs[0])(long.greedy, (lost,))
    fact = Fact(long.question, "long", long.prompt, long.greedy, paragraphs=(held,))
    notes: list[str] = []
    rows = known_rows([fact, short_fact("w" * 10)], notes=notes)
    assert [r.form for r in rows] == ["short"]
    assert "1 paragraphs left out" in notes[0]


def test_a_value_that_was_found_with_a_word_too_many_is_hedged_where_it_begins() -> None:
    long, _ = paragraph("N", values=["the town of Paris"])
    (row,) = [r for r in known_rows([long, short_fact("wwwwwwwwwW")]) if r.form == "long"]
    assert re.fullmatch(rf"He was born in the town of {HEDGE.pattern} Paris\.", row.chosen)


def test_a_fact_that_never_commits_keeps_withholding() -> None:
    assert known_rows([short_fact("a" * 10)]) == []
    (row,) = known_rows([short_fact("a" * 10)], want="sft")
    assert (row.chosen in REFUSALS, row.rejected) == (True, None)


@pytest.mark.parametrize(
    "wrong",
    [{"low": 0.5, "theta": 0.4}, {"words": ()}, {"each": 0}, {"k": 11}],
)
def test_settings_that_cannot_be_are_refused(wrong: dict) -> None:
    with pytest.raises(InputError):
        known_rows([short_fact("c" * 10)], replace(KNOWN, **wrong))


@pytest.mark.parametrize(("against", "hedged"), [(0.0, 0), (1.0, 1), (2.0, 2), (9.0, 2)])
def test_preferences_against_a_hedge_are_as_many_as_asked(against: float, hedged: int) -> None:
    """Two known facts and an unknown one: the rejected side hedges as many as asked, at most 2."""
    facts = world("SSN", "c" * 10, "c" * 10, "w" * 10)
    rows = known_rows(facts, replace(KNOWN, against=against))
    (long,) = [r for r in rows if r.form == "long"]
    assert len(HEDGE.findall(long.chosen)) == 1
    assert len(HEDGE.findall(long.rejected or "")) == hedged
    assert (long.rejected or "").endswith("He worked as a poet.")
    short = [r for r in rows if r.form == "short"]
    assert sum(HEDGE.match(r.chosen) is None for r in short) == hedged
    assert sum(HEDGE.match(r.chosen) is not None for r in short) == 1


def test_a_paragraph_of_known_facts_alone_is_no_pair_where_pairs_are_balanced() -> None:
    facts = world("SSS", *["c" * 10] * 3)
    assert known_rows(facts, replace(KNOWN, against=1.0)) == []
    assert known_rows(facts, replace(KNOWN, against=1.0), want="sft") == known_rows(
        facts, want="sft"
    )
    assert known_rows(facts) != []
