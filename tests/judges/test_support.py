"""Do passages support a claim? By rules and by an NLI model: values by hand, and any text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.judges.english.tokens import tokens
from sayso.judges.meaning import ModelMeaning, RulesMeaning
from sayso.judges.support import (
    DISTINCT,
    FILLERS,
    RELATED,
    NliSupport,
    RulesSupport,
    Supported,
    lives,
)
from sayso.records import Passage
from support.nli_models import ORDERS, make_nli
from support.tables import tabled

TOPIC = "Mira Toll"
PROSE = (
    "Mira Toll (born 4 May 1951 in Uppsala) is a Swedish writer. Her first novel, The Ice, "
    "appeared in 1981. She won the Prix Femina in 1990."
)
FACTS = (
    "place of birth: Ripley; Ripley, Ohio.\ndate of birth: 1946-08-15T00:00:00Z.\n"
    "genre: film noir.\nnumber of employees: 12000.\noccupation: painter; poet."
)


def read(claim: str, *texts: str, topic: str = TOPIC) -> Supported:
    passages = tuple(Passage(f"p{n}", topic, text) for n, text in enumerate(texts, 1))
    (found,) = RulesSupport().read([(topic, claim, passages)])
    return found


@tabled
def test_prose_by_hand(claim: str, label: str) -> None:
    assert read(claim, PROSE).label == label


@tabled
def test_a_table_of_facts_by_hand(claim: str, label: str) -> None:
    assert read(claim, FACTS).label == label


def test_what_was_not_looked_up_is_no_verdict() -> None:
    assert read("Mira Toll is a writer.") == Supported(None, (), "unretrieved")
    assert read("Мира Толль родилась в Уппсале.", PROSE) == Supported(None, (), "language")
    for nothing in ("", "  ", "...", "\x00"):
        assert read(nothing, PROSE) == Supported(None, (), "unread")


def test_the_passage_that_says_it_is_cited_and_all_that_were_read_otherwise() -> None:
    found = read("Mira Toll won the Prix Femina.", "Mira Toll is tall.", PROSE)
    assert found == Supported("S", ("p2",))
    assert read("Mira Toll is a judge.", "A.", "B.") == Supported("NS", ("p1", "p2"))


def test_the_title_of_a_passage_is_given() -> None:
    (found,) = RulesSupport().read(
        [("", "Mira Toll wrote The Ice.", (Passage("p", TOPIC, "She wrote The Ice."),))]
    )
    assert found.label == "S"


def test_words_of_groups_are_those_that_texts_have() -> None:
    # "genre" becomes "gener" when a text is read: a group with another spelling matched nothing
    assert RELATED["gener"] == RELATED["class"]
    assert not FILLERS & RELATED.keys()
    assert {RELATED[t.stem] for t in tokens("died dead born")} <= DISTINCT


words = st.text(max_size=80) | st.sampled_from(
    ["born 4 May 1951", "not", "12,000 km", "1946-08-15T00:00:00Z", "a: b; c.", ":: ;;", "\ud800"]
)


@given(st.lists(words, max_size=3), words, words)
def test_any_text_is_read_without_raising(texts: list[str], claim: str, topic: str) -> None:
    found = read(claim, *texts, topic=topic)
    assert (found.label is None) == (found.problem is not None)
    assert found.label in (None, "S", "NS")
    assert set(found.evidence) <= {f"p{n}" for n in range(1, len(texts) + 1)}


# --- an NLI model ---


class Relations:
    """A meaning that entails where the hypothesis' first word stands in the premise."""

    name = signature = "nli:told"
    three = True

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str]] = []

    def table(self, triples: Sequence[tuple[str, str, str]]) -> np.ndarray:
        self.asked += triples
        rows = []
        for _, premise, hypothesis in triples:
            if "unreadable" in premise:
                rows.append([np.nan, np.nan])
            else:
                share = 0.9 if hypothesis.split()[0] in premise else 0.2
                rows.append([share, 0.0])
        return np.array(rows).reshape(-1, 2)

    def clusters(self, questions: Sequence[str], groups: Sequence[Sequence[str]]) -> list:
        raise AssertionError


def test_nli_supports_by_the_likeliest_passage_and_asks_each_pair_once() -> None:
    meaning = Relations()
    one, two = Passage("a", "T", "red"), Passage("b", "T", "blue")
    bad = Passage("c", "T", "unreadable")
    items = [
        ("T", "blue it is", (one, two)),
        ("T", "blue it is", (one, two)),
        ("T", "green it is", (one, two)),
        ("T", "red it is", (bad,)),
        ("T", "red it is", (bad, one)),
        ("T", "red it is", ()),
    ]
    found = NliSupport(meaning).read(items)
    assert [f.label for f in found] == ["S", "S", "NS", None, "S", None]
    assert [f.problem for f in found] == [None, None, None, "unread", None, "unretrieved"]
    assert found[0].evidence == ("b",)
    assert found[4].evidence == ("a",)
    assert len(meaning.asked) == len(set(meaning.asked)) == 6
    assert meaning.asked[0] == ("", "T: red", "blue it is")  # the passage is the premise


def test_nli_with_real_models_does_not_depend_on_the_order_of_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("transformers")
    # these models have random weights, and none of them entails with more than .15
    monkeypatch.setattr("sayso.judges.support.ENTAILS", 0.05)
    from sayso.engines.hf.encoders import open_nli

    items = [
        ("T", claim, (Passage("a", "T", text),))
        for claim in ("x", "a b", "Paris is far", "zz", "Q", "the end", "12", "why so")
        for text in ("x y", "Paris", "one two three", "", "zzz", "a!", "0 1 2", "Lyon and on")
    ]
    found = []
    for number, order in enumerate(ORDERS):
        classifier = open_nli(str(make_nli(tmp_path / str(number), order)))
        found.append(NliSupport(ModelMeaning(classifier, "m")).read(items))
    assert found[0] == found[1] == found[2]
    assert {f.label for f in found[0]} == {"S", "NS"}  # a model that says one thing is no test


def test_rules_for_meanings_are_no_nli_model() -> None:
    from sayso.protocols.self_known.claims import nli_checker
    from sayso.records import InputError
    from sayso.scores.collect import Tools

    with pytest.raises(InputError, match="--nli"):
        nli_checker(Tools(None, RulesMeaning(), None))


# ---- when somebody lived, read from the brackets with which encyclopedias open

OPENING = "Mira Ann Toll, Lady Bask (4 May 1901 – 2 June 1970), was a poet. She lived in Orm."


@tabled
def test_lives_by_hand(text: str, expected: list[str] | None) -> None:
    assert [list(life.dates) for life in lives(text)] == ([expected] if expected else [])


@tabled
def test_brackets_bear_out_birth_and_death(claim: str, label: str) -> None:
    (found,) = RulesSupport().read([("Mira Toll", claim, (Passage("p", "Mira Toll", OPENING),))])
    assert found.label == label


@tabled
def test_when_in_brackets_and_where_in_a_later_sentence(claim: str, label: str) -> None:
    text = (
        "Mira Toll (10 July 1856 – 7 January 1943) was an engineer. She was born in Smiljan in the "
        "Austrian Empire. She wrote plays. She died in Orm."
    )
    assert read(claim, text).label == label


def test_brackets_of_another_name_say_nothing_of_the_topic() -> None:
    other = Passage("p", "Mira Toll", "Jane Bask (4 May 1901 – 2 June 1970) knew the poet well.")
    (found,) = RulesSupport().read([("Mira Toll", "Mira Toll was born in 1901", (other,))])
    assert found.label == "NS"
