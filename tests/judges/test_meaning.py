"""Clustering by meaning: order, laziness, unreadable relations, label order, batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.judges import meaning
from sayso.judges.meaning import (
    ModelMeaning,
    Relations,
    RulesMeaning,
    cluster,
    equivalent,
    label_columns,
    rules_entails,
)
from sayso.records import InputError
from support.tables import tabled

LABELS = ("contradiction", "neutral", "entailment")


class Fake:
    """A classifier that knows its relations, and remembers what it was asked."""

    def __init__(
        self,
        relation: Callable[[str, str], str],
        labels: Sequence[str] = LABELS,
        names: Sequence[str] = LABELS,
    ) -> None:
        self.identity = "fake"
        self.labels = tuple(labels)
        self._names = tuple(names)
        self._relation = relation
        self.calls: list[list[tuple[str, str]]] = []

    def classify(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        self.calls.append(list(pairs))
        found = np.full((len(pairs), len(self.labels)), 0.1)
        for row, pair in enumerate(pairs):
            relation = self._relation(*pair)
            found[row] = np.nan if relation == "unreadable" else 0.1
            if relation != "unreadable":
                found[row, self._names.index(relation)] = 0.8
        return found

    @property
    def asked(self) -> list[tuple[str, str]]:
        return [pair for call in self.calls for pair in call]


def first_letter(a: str, b: str) -> str:
    return "entailment" if a[0] == b[0] else "contradiction"


def chain(a: str, b: str) -> bool:
    """A ~ B and B ~ C, but not A ~ C."""
    return {a, b} != {"A", "C"}


def test_order_decides_where_entailment_is_not_transitive() -> None:
    assert meaning.cluster("ABC", chain) == [0, 0, 1]
    assert meaning.cluster("BAC", chain) == [0, 0, 0]
    assert meaning.cluster("ACB", chain) == [0, 1, 0]
    assert meaning.cluster("ACB", chain, overwrite=True) == [0, 1, 1]


def test_one_direction_is_not_enough() -> None:
    # The fault: clustering on either direction puts the general under the particular.
    def narrower(a: str, b: str) -> bool:
        return a.startswith(b)

    assert meaning.cluster(["Paris", "Paris, France"], narrower) == [0, 1]


def test_equal_strings_are_equal_by_definition_and_never_asked_about() -> None:
    # The fault: asking whether a string entails itself. This model denies everything.
    asked = []

    def never(a: str, b: str) -> bool:
        asked.append((a, b))
        return False

    assert meaning.cluster(["x", "y", "x", " x "], never) == [0, 1, 0, 0]
    assert asked == [("x", "y")]


def test_the_backward_direction_only_after_the_forward_one() -> None:
    asked = []

    def entails(a: str, b: str) -> bool:
        asked.append((a, b))
        return a[0] == b[0]

    meaning.cluster(["a1", "b1", "a2"], entails)
    assert asked == [("a1", "b1"), ("a1", "a2"), ("a2", "a1")]


def test_every_item_is_in_one_cluster_and_stays_there() -> None:
    # The faults: items in two clusters, and items moved out of the cluster they are in.
    rng = np.random.default_rng(0)
    texts = [f"t{i}" for i in range(12)]
    yes = {(a, b): bool(rng.random() < 0.5) for a in texts for b in texts}
    ids = meaning.cluster(texts, lambda a, b: yes[a, b])
    assert len(ids) == 12
    assert sorted(set(ids)) == list(range(max(ids) + 1))
    for i, number in enumerate(ids):
        leader = ids.index(number)
        assert i == leader or (yes[texts[leader], texts[i]] and yes[texts[i], texts[leader]])
        # No earlier leader would have taken it.
        for other in range(number):
            first = texts[ids.index(other)]
            assert not (yes[first, texts[i]] and yes[texts[i], first])


def test_empty_answers_are_a_cluster_of_their_own() -> None:
    asked: list[tuple[str, str]] = []
    ids = meaning.cluster(["", "x", "  ", "y"], lambda a, b: bool(asked.append((a, b)) or True))
    assert ids == [0, 1, 0, 1]
    assert all(a and b for a, b in asked)
    assert meaning.cluster([], lambda a, b: True) == []


def test_an_answer_that_nobody_could_read_is_not_no() -> None:
    with pytest.raises(InputError, match="cannot cluster"):
        meaning.cluster(["a", "b"], lambda a, b: None)


@pytest.mark.parametrize("order", list(permutations(LABELS)))
def test_the_order_of_labels_is_the_model_s(order: tuple[str, ...]) -> None:
    fake = Fake(first_letter, [label.upper() for label in order], order)
    (found,) = meaning.cluster_many([["a1", "a2", "b1"]], Relations(fake))
    assert found.ids == (0, 0, 1)


def test_label_names() -> None:
    assert label_columns(["ENTAILMENT", "not_entailment"]) == {"entailment": 0, "neutral": 1}
    for labels in (["LABEL_0", "LABEL_1", "LABEL_2"], ["entailment"], ["entails", "entailed"], []):
        with pytest.raises(InputError, match="label"):
            label_columns(labels)


def test_the_shorter_text_is_the_premise_first() -> None:
    # It seldom entails the longer one, and then the other direction is not needed. All pairs here
    # hold one way only, from the longer text: one question each, whoever leads.
    def holds(a: str, b: str) -> str:
        return "entailment" if b in a else "neutral"

    for group in (["abc", "ab", "a"], ["a", "ab", "abc"], ["ab", "abc", "a"]):
        fake = Fake(holds)
        assert meaning.cluster_many([group], Relations(fake))[0].ids == (0, 1, 2)
        assert sorted(fake.asked) == [("a", "ab"), ("a", "abc"), ("ab", "abc")]


def test_calls_are_few_and_pairs_at_the_floor() -> None:
    rng = np.random.default_rng(1)
    groups = [
        [f"{g}:{rng.integers(0, 4)}{rng.integers(0, 9)}" for _ in range(10)] for g in range(50)
    ]

    def same_digit(a: str, b: str) -> str:
        return "entailment" if a.split(":")[1][0] == b.split(":")[1][0] else "neutral"

    fake = Fake(same_digit)
    relations = Relations(fake)
    found = meaning.cluster_many(groups, relations)
    floor = upper = 0
    for group, one in zip(groups, found, strict=True):
        assert one.ids is not None
        distinct, classes = len(set(group)), len(set(one.ids))
        floor += classes * (classes - 1) // 2 + 2 * (distinct - classes)
        upper += distinct * (distinct - 1)
    assert floor <= relations.requested < 0.75 * upper
    assert relations.calls <= relations.requested / 5
    assert relations.calls <= 8


def test_batches_equal_one_by_one() -> None:
    rng = np.random.default_rng(2)
    names = [f"t{i}" for i in range(6)]
    table = {(a, b): LABELS[rng.integers(0, 3)] for a in names for b in names}
    groups = [[names[i] for i in rng.integers(0, 6, 9)] for _ in range(40)]
    for overwrite in (False, True):
        fake = Fake(lambda a, b: table[a, b])
        found = meaning.cluster_many(groups, Relations(fake, batch=3), overwrite=overwrite)
        for group, one in zip(groups, found, strict=True):
            alone = meaning.cluster(
                group, lambda a, b: table[a, b] == "entailment", overwrite=overwrite
            )
            assert list(one.ids or ()) == alone
        assert max(len(call) for call in fake.calls) <= 3


def test_strict_and_lax() -> None:
    relation = {("a", "b"): "entailment", ("b", "a"): "neutral", ("a", "c"): "neutral"}
    relation |= {("c", "a"): "neutral", ("a", "d"): "neutral", ("d", "a"): "entailment"}
    relation |= {("a", "e"): "contradiction", ("e", "a"): "entailment"}

    def known(a: str, b: str) -> str:
        return relation.get((a, b), "contradiction")

    strict, lax = (
        meaning.cluster_many([list("abcde")], Relations(Fake(known)), strict=s)[0].ids
        for s in (True, False)
    )
    assert strict == (0, 1, 2, 3, 4)
    # Lax: one-way entailment joins (b, d), neutral both ways (c) and a contradiction (e) do not.
    assert lax == (0, 0, 1, 0, 2)
    two = Fake(first_letter, ("entailment", "not_entailment"), ("entailment", "contradiction"))
    with pytest.raises(InputError, match="lax"):
        meaning.cluster_many([["a", "b"]], Relations(two), strict=False)


def test_unreadable_relations_leave_the_question_without_clusters() -> None:
    # The fault: unreadable entailment counted as neutral.
    fake = Fake(lambda a, b: "unreadable" if "?" in a + b else first_letter(a, b))
    relations = Relations(fake)
    bad, good = meaning.cluster_many([["a", "x?", "b"], ["a1", "a2"]], relations)
    assert bad.ids is None
    assert "readable" in (bad.problem or "")
    assert good.ids == (0, 0)
    assert relations.unread == 1


def test_questions_stand_before_both_texts() -> None:
    fake = Fake(lambda a, b: "entailment")
    meaning.cluster_many([["x", "y"]], Relations(fake), questions=["Who?"])
    assert fake.asked == [("Who? x", "Who? y"), ("Who? y", "Who? x")]
    with pytest.raises(InputError, match="questions"):
        meaning.cluster_many([["x"]], Relations(fake), questions=[])


def test_a_wrong_shape_is_refused() -> None:
    fake = Fake(first_letter)
    fake.classify = lambda pairs: np.zeros((1, 2))  # type: ignore[method-assign]
    with pytest.raises(InputError, match="shape"):
        meaning.cluster_many([["a", "b", "c"]], Relations(fake))


@tabled
def test_the_same_in_other_words(question: str, a: str, b: str) -> None:
    assert equivalent(question, a, b)
    assert equivalent(question, b, a)


@tabled
def test_not_the_same(question: str, a: str, b: str) -> None:
    assert not equivalent(question, a, b)
    assert not equivalent(question, b, a)


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_is_compared_and_both_ways_alike(a: str, b: str) -> None:
    entails = rules_entails("Who is it?")
    assert entails(a, a)
    assert entails(a, b) == entails(b, a)


@pytest.mark.parametrize(
    "text", ["1 " * 50_000, "Paris 1946 " * 9_000, "東京" * 50_000, "a" * 100_000]
)
def test_endless_answers_are_compared_by_their_words(text: str) -> None:
    assert equivalent("Who?", text, text.upper())
    assert not equivalent("Who?", text, text + " London")
    assert not equivalent("Who?", text, "Paris")


@pytest.mark.parametrize("blank", ["-", "—", "...", " \n", "?"])
def test_what_says_nothing_is_one_cluster_with_the_empty_answer(blank: str) -> None:
    assert equivalent("Where?", blank, "")
    assert not equivalent("Where?", blank, "Paris")
    (found,) = RulesMeaning().clusters(["Where?"], [["", blank, "Paris", "-"]])
    assert found.ids == (0, 0, 1, 0)
    assert cluster([blank, "Paris", ""], lambda a, b: False) == [0, 1, 0]


def test_thoughts_are_no_part_of_a_text() -> None:
    thought = "<think>Lyon or Paris?</think> Paris"
    assert equivalent("Where?", thought, "paris")
    assert cluster([thought, "Paris", "<think>Lyon"], lambda a, b: False) == [0, 0, 1]
    fake = Fake(first_letter)
    table = ModelMeaning(fake, "fake").table(
        [("Where?", thought, "Paris"), ("Where?", thought, "x")]
    )
    assert table[0].tolist() == [1.0, 0.0]
    assert fake.asked == [("Where? Paris", "Where? x")]


def test_only_the_beginning_of_an_endless_text_is_compared() -> None:
    text = "Paris " * 5_000
    assert RulesMeaning().clusters(["Where?"], [[text, text + "London"]])[0].ids == (0, 0)
    assert RulesMeaning().table([("Where?", text, text + "London")])[0, 0] == 1
