"""What is resampled as a whole: questions that share an entity or a pair, in one or many runs."""

from __future__ import annotations

import random

from sayso.protocols.pool import clusters_of, joined_names
from sayso.records import Question, golds_of


def question(
    n: int, text: str = "", entity: str = "", domain: str = "", pair: str = ""
) -> Question:
    return Question(
        f"q{n}",
        "s",
        text or f"What is {n}?",
        golds_of(["x"]),
        entity=entity,
        domain=domain,
        pair=pair,
    )


def groups(questions: list[Question]) -> list[set[str]]:
    clusters = clusters_of(questions)
    return [
        {id for id, own in clusters.items() if own == name}
        for name in dict.fromkeys(clusters.values())
    ]


def test_an_entity_in_two_domains_is_one() -> None:
    some = [question(1, entity="Ada", domain="birth"), question(2, entity="Ada", domain="death")]
    assert groups([*some, question(3, entity="Bo", domain="birth")]) == [{"q1", "q2"}, {"q3"}]


def test_pairs_of_one_entity_are_one_and_so_are_entities_that_a_pair_joins() -> None:
    some = [
        question(1, entity="Ada", pair="p1"), question(2, entity="Ada", pair="p2"),
        question(3, entity="Bo", pair="p2"), question(4, entity="Bo"), question(5), question(6),
    ]  # fmt: skip
    assert groups(some) == [{"q1", "q2", "q3", "q4"}, {"q5"}, {"q6"}]


def test_clusters_and_their_names_do_not_depend_on_the_order() -> None:
    some = [
        question(n, entity=f"e{n % 7}" if n % 3 else "", domain=f"d{n % 2}", pair=f"p{n // 4}")
        for n in range(40)
    ]
    want = clusters_of(some)
    for seed in range(5):
        random.Random(seed).shuffle(some)
        assert clusters_of(some) == want


def test_a_long_chain_is_one_cluster() -> None:
    some = [question(n, entity=f"e{n // 2}", pair=f"p{(n + 1) // 2}") for n in range(5000)]
    assert len(groups(some)) == 1


def test_the_same_questions_are_one_cluster_whatever_a_run_knows_of_them() -> None:
    bare = [question(1, "Which town?"), question(2, "Which river?")]
    named = [question(11, "which town ?", entity="Ada", domain="d"), question(12, "Which sea?")]
    names = joined_names([bare, named])
    assert names["\tq1"] == names["d\tAda"]
    assert len({names[n] for n in ("\tq1", "\tq2", "\tq12")}) == 3
