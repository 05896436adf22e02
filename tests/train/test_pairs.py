"""Facts from a run's tables, and rows that share nothing with the evaluation."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.records import Claim, InputError, Question, Verdict
from sayso.train.rows import (
    TrainingRow,
    check_apart,
    check_draws,
    facts_of,
    instructed,
    normal_name,
)
from support.pair_records import answer, question, short_fact, verdict

BIRTH = question("place of birth")
JOB = question("occupation", gold="poet")
LONG = Question("l", "made", "Tell of Ann Bell.", entity="Ann Bell", parts=(BIRTH.id, JOB.id))


def tables() -> tuple[dict, dict]:
    draws = [answer(BIRTH, f"T{i}", "probe", i, heat=1.0) for i in range(3)]
    told = answer(BIRTH, "perhaps Lyon", "short", told=True)
    plain = answer(BIRTH, "Lyon", "short")
    text = "She was born in Lyon. She is a nurse."
    paragraph = answer(LONG, text, "long")
    hedged = answer(LONG, "told", "long", told=True)
    generations = {"probe": draws, "short": [told, plain], "long": [hedged, paragraph]}
    verdicts = {
        "probe": [verdict(g, BIRTH, x) for g, x in zip(draws, "c?u", strict=True)],
        "short": [verdict(plain, BIRTH, "c"), verdict(told, BIRTH, "u")],
        "long": [
            verdict(paragraph, BIRTH, "c", start=0, end=21),
            verdict(paragraph, JOB, "i", start=22, end=37),
        ],
        "long-spans": [
            verdict(paragraph, BIRTH, "i", answer_start=16, answer_end=20),
            verdict(paragraph, JOB, "i", answer_start=31, answer_end=36),
        ],
    }
    return generations, verdicts


def test_facts_hold_the_plain_answers_alone() -> None:
    short, long = facts_of([BIRTH, JOB, LONG], *tables())  # nobody asked for JOB alone
    assert (short.prompt, short.greedy, short.greedy_right) == (BIRTH.text, "Lyon", True)
    assert short.draws == ("T0", "T1", "T2")
    assert short.right == (True, None, False)  # an unread verdict is not wrong
    assert short.stances == ("committed", None, "hedged")
    (paragraph,) = long.paragraphs
    assert [(t.right, t.value, paragraph.text[t.start : t.end]) for t in paragraph.mentions] == [
        (True, "Lyon", "She was born in Lyon."),
        (False, "nurse", "She is a nurse."),
    ]


def test_the_order_of_tables_moves_nothing() -> None:
    generations, verdicts = tables()
    expected = facts_of([BIRTH, JOB, LONG], generations, verdicts)
    for seed in range(5):
        for table in (generations, verdicts):
            for rows in table.values():
                random.Random(seed).shuffle(rows)
        assert facts_of([BIRTH, JOB, LONG], generations, verdicts) == expected


def test_draws_of_two_stages_extend_each_other_and_judged_ones_win() -> None:
    probe = [answer(BIRTH, f"T{i}", "probe", i, heat=1.0) for i in range(2)]
    more = [answer(BIRTH, f"D{i}", "draws", i, heat=1.0) for i in range(4)]
    held = {"probe": [verdict(g, BIRTH, "c") for g in probe]}
    (fact,) = facts_of([BIRTH], {"probe": probe, "draws": more}, held)
    assert fact.draws == ("T0", "T1", "D2", "D3")
    assert fact.right == (True, True, None, None)


def test_of_a_draw_stored_twice_the_one_with_a_verdict_counts() -> None:
    unread = answer(BIRTH, "Lyon", "probe", 0, heat=1.0)
    read = answer(BIRTH, "Lyon", "draws", 0, heat=1.0)
    held = {"draws": [verdict(read, BIRTH, "c")]}
    (fact,) = facts_of([BIRTH], {"probe": [unread], "draws": [read]}, held)
    assert fact.right == (True,)


def test_claims_with_their_labels_come_along() -> None:
    generations, verdicts = tables()
    (g,) = [g for g in generations["long"] if not g.instructed]
    claims = [Claim("b", g.id, 2, 22, 37, "Ann is a nurse."), Claim("a", g.id, 1, 0, 21, "Born.")]
    labels = [Verdict("a", "l", "e", label="S"), Verdict("b", "l", "e", problem="unread")]
    facts = facts_of([BIRTH, JOB, LONG], generations, verdicts, claims=claims, labels=labels)
    assert [(c.text, c.label) for c in facts[1].paragraphs[0].claims] == [
        ("Born.", "S"),
        ("Ann is a nurse.", None),
    ]


def test_further_paragraphs_come_behind_the_greedy_one() -> None:
    generations, verdicts = tables()
    more = [answer(LONG, f"Text {i}.", "draws-long", i, heat=1.0) for i in (1, 0)]
    generations["draws-long"] = more
    verdicts["draws-long"] = [verdict(more[0], BIRTH, "i", start=0, end=7)]
    long = facts_of([BIRTH, JOB, LONG], generations, verdicts)[-1]
    assert [p.text for p in long.paragraphs[1:]] == ["Text 0.", "Text 1."]
    assert [t.right for t in long.paragraphs[2].mentions] == [False, None]
    assert long.greedy == long.paragraphs[0].text
    del generations["long"]  # and without a greedy one they stand alone
    alone = facts_of([BIRTH, JOB, LONG], generations, verdicts)[-1]
    assert (alone.greedy, len(alone.paragraphs), alone.prompt) == ("", 2, LONG.text)


def test_too_few_draws_say_how_to_get_more() -> None:
    check_draws([short_fact("c" * 10)], 10)
    with pytest.raises(InputError) as told:
        check_draws([short_fact("c" * 10), short_fact("ccccc", entity="Bo")], 10)
    assert str(told.value) == (
        "1 of 2 questions have fewer than 10 draws, first 'Where was Bo born?' with 5: ask for "
        "them with `sayso run uncle --set split=train --set probe.k=10`"
    )


def row(entity: str, *questions: str) -> TrainingRow:
    return TrainingRow("p", "c", None, "short", entity, questions, "k")


@pytest.mark.parametrize("name", ["ann bell", "ANN  BELL", "Ánn Bell", "Ann-Bell", "Ａnn Bell"])
def test_a_shared_entity_is_refused_with_its_name(name: str) -> None:
    with pytest.raises(InputError, match=r"2 training rows are about .*: 'Ann Bell'; make them"):
        check_apart([row(name), row("Bo"), row(name)], ["Ann Bell", "Cy"])


def test_other_entities_pass_and_long_lists_are_counted() -> None:
    check_apart([row("Ann Bello"), row("Bell Ann")], ["Ann Bell"])
    check_apart([], ["Ann Bell"])
    with pytest.raises(InputError, match="'e0', 'e1', 'e2', 'e3', 'e4' and 2 more"):
        check_apart([row(f"E{i}") for i in range(7)], [f"e{i}" for i in range(7)])


def test_questions_without_an_entity_are_told_by_their_id() -> None:
    asked = Question("q9", "made", "Is it so?")
    with pytest.raises(InputError, match="'Is it so\\?'"):
        check_apart([row("another name", "q9")], [asked])
    with pytest.raises(InputError, match="'Is it so\\?'"):
        check_apart([row("is it so")], [asked])


@given(st.text(max_size=30))
def test_names_are_compared_without_case_and_marks(name: str) -> None:
    once = normal_name(name)
    assert normal_name(once) == once
    if name.isascii():
        assert normal_name(name.upper()) == normal_name(name.lower()) == once


def test_a_share_of_rows_asks_for_doubt() -> None:
    rows = [TrainingRow("p?", str(i), None, "short", "e", (str(i),), "k") for i in range(400)]
    long = TrainingRow("tell", "x", None, "long", "e", ("l",), "k")
    told = instructed([*rows, long], {"short": "Say so."}, share=0.4, seed=1)
    number = sum(r.prompt == "p? Say so." for r in told)
    assert 120 < number < 200
    assert told[-1] == long  # no text for its form
    assert instructed(rows, {"short": "Say so."}, share=0.0) == rows
    assert all(r.prompt.endswith("so.") for r in instructed(rows, {"short": "Say so."}))
