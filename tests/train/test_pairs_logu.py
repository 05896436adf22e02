"""LoGU rows: the counts of its data, worked by hand."""

from __future__ import annotations

import random
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.judges.rules.judge import judge_rules_long
from sayso.records import InputError, Question
from sayso.train.config import RowSettings
from sayso.train.recipes.logu import Cutoffs, logu, swapped_right, uncle_pairs, wrong_counts
from sayso.train.rows import CheckedClaim, Fact, TrainingParagraph, clause_of, noun_of, unsure
from support.pair_records import paragraph, question, short_fact
from support.tables import tabled

UNSURE = re.compile(r"not sure|not certain|do not know|cannot say|unsure|unclear|no reliable")


def unsure_in(text: str) -> int:
    return len(UNSURE.findall(text))


@pytest.mark.parametrize(
    ("right", "wrong", "expected"),
    [
        (6, 0, (1, 0)),
        (8, 2, (1, 2)),  # 2/10 = .2: all of them
        (4, 2, (4, 1)),  # 1/3 wrong, min(5, 4) variants, round(1.0) = 1
        (6, 3, (5, 2)),  # round(1.5) = 2: halves go to even
        (10, 6, (5, 2)),  # round(2.5) = 2
        (14, 9, (5, 4)),  # round(3.5) = 4
        (3, 2, (0, 0)),  # fewer than 4 right: none
    ],
)
def test_cutoff_2(right: int, wrong: int, expected: tuple[int, int]) -> None:
    assert wrong_counts(right, wrong, "cutoff2") == expected


@tabled
def test_an_amateur_swaps_so_many(right: int, wrong: int, expected: int) -> None:
    assert swapped_right(right, wrong) == expected


def test_right_sentences_stay_word_for_word_in_their_order() -> None:
    fact, made = paragraph("SSNSSU", lead="# Ann Bell\n")
    (row,) = logu([fact], want="sft")  # 1 of 5 wrong: one variant, told
    assert row.kind == "logu-refined"
    before, after = made.text.split("He worked as a Value2.")
    assert row.chosen.startswith(before)
    assert row.chosen.endswith(after.strip())
    assert "Value2" not in row.chosen
    assert unsure_in(row.chosen) == 1
    assert "I think he was educated at Value5." in row.chosen  # unsure already: left alone


def test_uncle_makes_one_pair_of_all_that_is_right_and_wrong() -> None:
    fact, _ = paragraph("SNSNSU")
    (row,) = uncle_pairs([fact])
    assert row.kind == "uncle"
    told = {n: f"Value{n}" for n in range(6)}
    # chosen: right (0, 2, 4) as stated, both wrong ones in doubt; rejected: the other way round
    assert [n for n, value in told.items() if value in row.chosen] == [0, 2, 4, 5]
    assert unsure_in(row.chosen) == 2
    assert [n for n, value in told.items() if value in (row.rejected or "")] == [1, 3, 5]
    assert unsure_in(row.rejected or "") == 3
    (sft,) = uncle_pairs([fact], want="sft")
    assert (sft.chosen, sft.rejected) == (row.chosen, None)
    # however much is wrong, and where nothing is
    (all_wrong,) = uncle_pairs([paragraph("NNNNN")[0]])
    assert unsure_in(all_wrong.chosen) == 5
    (all_right,) = uncle_pairs([paragraph("SSSSS")[0]])
    assert all_right.chosen == paragraph("SSSSS")[1].text
    assert unsure_in(all_right.rejected or "") == 5


def test_uncle_leaves_out_what_cannot_be_read_and_says_so() -> None:
    notes: list[str] = []
    facts = [paragraph(labels)[0] for labels in ("SS?NS", "UUUUU", "OOOOO", "SN")]
    assert len(uncle_pairs(facts, notes=notes)) == 1
    assert notes == [
        "uncle (gold): 1 rows of 4 prompts; 1 left out for a verdict that is missing or a sentence "
        "that is right and wrong, 2 for stating nothing that is right or wrong"
    ]


def test_three_kinds_of_pairs() -> None:
    fact, made = paragraph("SSSNSN")  # 4 right, 2 wrong: 4 variants, 1 wrong told, 1 right swapped
    rows = logu([fact], RowSettings(paragraphs=1))
    assert Counter(row.kind for row in rows) == {
        "logu-original-amateur": len({r.rejected for r in rows if "original-am" in r.kind}),
        "logu-refined-amateur": 4,
        "logu-refined-original": 4,
    }
    for row in rows:
        if row.kind != "logu-original-amateur":
            assert unsure_in(row.chosen) == 1
            assert (
                sum(f"Value{n}" in row.chosen for n in (3, 5)) == 0
            )  # one re-worded, one left out
            assert all(f"Value{n}" in row.chosen for n in (0, 1, 2, 4))
        else:
            assert row.chosen == made.text
        if row.kind.endswith("amateur"):
            assert row.rejected is not None
            assert unsure_in(row.rejected) == 1
            assert "Value3" in row.rejected  # wrong, and said as if it were certain
            assert "Value5" in row.rejected
        else:
            assert row.rejected == made.text


def test_every_variant_draws_afresh() -> None:
    facts = [paragraph("SSSSNN", f"E{i}")[0] for i in range(30)]
    rows = logu(facts, RowSettings(paragraphs=1), want="sft")
    texts = {r.entity: [x.chosen for x in rows if x.entity == r.entity] for r in rows}
    assert len(texts) == 30
    both = [e for e, some in texts.items() if len({t.count("award") for t in some}) > 1]
    assert len(both) > 15  # which wrong fact is told differs between variants of one paragraph


def test_all_wrong_ones_can_be_told() -> None:
    fact, _ = paragraph("SNNNSN")
    assert logu([fact], want="sft") == []  # two right: cutoff 2 gives none
    rows = logu([fact], RowSettings(cut="all", variants=3), want="sft")
    assert len(rows) == 3
    assert all(unsure_in(r.chosen) == 4 for r in rows)


@pytest.mark.parametrize(
    ("labels", "note"),
    [
        ("S?SSSS", "1 paragraphs left out for a verdict that is missing"),
        ("NNNNNN", "1 for being wrong in 90% or more"),
        ("OOOOOO", "1 for being wrong in 90% or more"),
    ],
)
def test_what_gives_no_rows(labels: str, note: str) -> None:
    notes: list[str] = []
    assert logu([paragraph(labels)[0]], notes=notes) == []
    assert note in notes[0]


def test_the_share_of_wrong_facts_is_an_option() -> None:
    fact, _ = paragraph("SNNNNN")  # 5/6 = .83
    assert logu([fact], RowSettings(cut="all"))
    assert logu([fact], RowSettings(cut="all"), cutoffs=Cutoffs(most_wrong=0.8)) == []


def test_a_prompt_gives_no_more_than_its_cap() -> None:
    one, made = paragraph("SSSSNN")
    more = tuple(
        TrainingParagraph(made.text.replace("Value0", f"Other{i}"), made.mentions) for i in range(9)
    )
    fact = Fact(one.question, "long", one.prompt, one.greedy, paragraphs=(made, *more))
    rows = logu([fact], cutoffs=Cutoffs(cap=3))
    assert set(Counter(row.kind for row in rows).values()) == {3}


def sentence_of_two() -> Fact:
    first = question("place of birth")
    fact, _ = paragraph("SS")
    text = "Ann Bell was born in Lyon, and she married Tom Reed. She is a poet."
    told = fact.paragraphs[0].mentions
    spouse = question("spouse")
    made = TrainingParagraph(
        text,
        (
            type(told[0])(first, "committed", True, 0, 52, "Lyon"),
            type(told[0])(spouse, "committed", False, 0, 52, "Tom Reed"),
        ),
    )
    return Fact(fact.question, "long", fact.prompt, text, paragraphs=(made,))


def test_a_sentence_that_is_right_and_wrong_is_taken_apart() -> None:
    (row,) = logu([sentence_of_two()], RowSettings(cut="all", variants=1), want="sft")
    assert "Ann Bell was born in Lyon." in row.chosen
    assert "Tom Reed" not in row.chosen
    assert unsure_in(row.chosen) == 1
    assert row.chosen.endswith("She is a poet.")


def test_consistency_needs_no_truth() -> None:
    fact, _ = paragraph("NN", values=["Lyon", "1950"])  # the judge is not asked
    sure = short_fact("c" * 10)
    unsure_fact = short_fact("wwwwwwwwww", "date of birth", gold="1950")
    rows = logu(
        [fact, sure, unsure_fact],
        RowSettings(veracity="consistency", cut="all"),
        cutoffs=Cutoffs(below=0.5),
        want="sft",
    )
    assert rows
    assert all("He was born in Lyon." in r.chosen and "1950" not in r.chosen for r in rows)
    # LoGU's rule: strictly under the 10th percentile of all scores. Of 0 and 1 that is .1
    again = logu(
        [fact, sure, unsure_fact], RowSettings(veracity="consistency", cut="all"), want="sft"
    )
    assert again == rows


def test_evidence_takes_the_labels_of_claims() -> None:
    fact, made = paragraph("NN", values=["Lyon", "1950"])
    claims = (
        CheckedClaim(0, 20, "Ann Bell was born in Lyon", "S"),
        CheckedClaim(21, len(made.text), "Ann Bell was born on 1950", "NS"),
    )
    checked = Fact(
        fact.question,
        "long",
        fact.prompt,
        fact.greedy,
        paragraphs=(TrainingParagraph(made.text, made.mentions, claims),),
    )
    rows = logu([checked], RowSettings(veracity="evidence", cut="all", variants=1), want="sft")
    assert [r.chosen.startswith("He was born in Lyon. ") for r in rows] == [True]
    assert unsure_in(rows[0].chosen) or "whether" in rows[0].chosen
    with pytest.raises(InputError, match="no paragraph has checked claims"):
        logu([fact], RowSettings(veracity="evidence"))
    unread = (claims[0], CheckedClaim(21, 30, "x", None))
    held = TrainingParagraph(made.text, made.mentions, unread)
    open_ = Fact(fact.question, "long", fact.prompt, fact.greedy, paragraphs=(held,))
    assert logu([open_], RowSettings(veracity="evidence", cut="all")) == []


def test_luck_is_not_trained() -> None:
    """The paragraph says Lyon rightly, and no draw of the short question does."""
    fact, made = paragraph("SSSSN", values=["Lyon", "1950", "poet", "Bo", "Prize"])
    for letters, kept in (("wwwwwwwwww", False), ("wwwwwwwwwc", True)):
        short = short_fact(letters)
        rows = logu([fact, short], RowSettings(cut="all"))
        assert all(("Lyon" in r.chosen) == kept for r in rows)
        assert bool([r for r in rows if r.chosen == made.text]) == kept


@tabled
def test_questions_become_indirect_ones(aspect: str, clause: str | None, noun: str) -> None:
    assert (clause_of(question(aspect)), noun_of(question(aspect))) == (clause, noun)


@tabled
def test_without_an_entity_only_safe_questions_are_turned(text: str, clause: str | None) -> None:
    asked = Question("i", "d", text)
    assert clause_of(asked) == clause
    said = unsure(asked, random.Random(0))
    assert clause is not None or said == (f"I am not sure of the answer to the question: {text}")


@given(st.text(max_size=80), st.text(max_size=20))
def test_any_question_can_be_doubted(text: str, entity: str) -> None:
    said = unsure(Question("i", "d", text, entity=entity), random.Random(0))
    assert UNSURE.search(said)


@given(
    st.text("SNUO", min_size=1, max_size=6),
    st.integers(0, 10**6),
    st.sampled_from(["all", "cutoff2"]),
)
def test_wrong_values_are_never_preferred_as_certain(labels: str, seed: int, cut: str) -> None:
    fact, made = paragraph(labels)
    rows = logu([fact], RowSettings(cut=cut), seed=seed)  # type: ignore[arg-type]
    assert logu([fact], RowSettings(cut=cut), seed=seed) == rows  # type: ignore[arg-type]
    for row in rows:
        assert row.chosen != row.rejected
        for number, label in enumerate(labels):
            if "refined" in row.kind:
                assert (f"Value{number}" in row.chosen) == (label in "SU")
            else:
                assert row.chosen == made.text
    for row in logu([fact], RowSettings(cut="all"), seed=seed, want="sft"):
        parts = [t.question for t in made.mentions]
        read = judge_rules_long([(p.text, p.golds or ()) for p in parts], row.chosen)
        for label, verdict in zip(labels, read, strict=True):
            if label == "N":  # and a judge takes it for no statement
                assert verdict.stance in ("hedged", "abstained", "omitted"), (verdict, row.chosen)


def test_wordings_vary() -> None:
    said = {unsure(question("place of birth"), random.Random(i)) for i in range(200)}
    assert len(said) == 11
    assert all(unsure_in(s) == 1 for s in said)
