"""Searching: the formula, titles, hostile texts, order, and several readers."""

from __future__ import annotations

import json
import math
import multiprocessing
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso import retrieval
from sayso.records import InputError, Passage, content_id
from sayso.retrieval import index as searching
from sayso.retrieval.index import Index

WORDS = [f"q{n}z" for n in range(40)]  # no stem differs from its word


def made(folder: Path, values: list[tuple[str, str]]) -> Path:
    source = folder / "a.jsonl"
    source.write_text("".join(json.dumps({"title": t, "text": x}) + "\n" for t, x in values))
    return Path(retrieval.build_index(source, folder / "a.index").path)


def corpus(number: int = 300) -> list[tuple[str, str]]:
    draw = random.Random(0)
    return [
        (f"t{n % 40}", " ".join(draw.choices(WORDS, [1 / (r + 1) for r in range(40)], k=30)))
        for n in range(number)
    ]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with retrieval.open_index(made(tmp_path_factory.mktemp("index"), corpus())) as found:
        yield found


def reference(values: list[tuple[str, str]], query: str, k: int, *, every: bool) -> list[str]:
    """BM25 by the formula, over all passages; the ids of the best."""
    bags = [Counter(re.findall(r"\w+", f"{title} {text}".lower())) for title, text in values]
    mean = sum(sum(bag.values()) for bag in bags) / len(bags)
    scored = []
    for number, (bag, value) in enumerate(zip(bags, values, strict=True)):
        score = 0.0
        for word in set(query.lower().split()):
            n = sum(word in other for other in bags)
            if n and bag[word]:
                length = 1 - 0.75 + 0.75 * sum(bag.values()) / mean
                score += (
                    math.log(1 + (len(bags) - n + 0.5) / (n + 0.5))
                    * bag[word] * 2.2 / (bag[word] + 1.2 * length)
                )  # fmt: skip
        if score or every:
            key = content_id(["passage", *value])
            scored.append((-round(score, 9), key if score else "", number, key))
    return [key for *_, key in sorted(scored)][:k]


@pytest.mark.parametrize("query", ["q39z", "q38z q0z", "q1z q20z q33z q20z", "q0z q1z q2z t7"])
def test_the_score_is_the_formula(query: str, index: Index) -> None:
    found = [passage.id for passage in index.search(query, 10)]
    assert found == reference(corpus(), query, 10, every=False)


def test_within_a_title_all_its_passages_are_ranked_among_themselves(index: Index) -> None:
    values = [value for value in corpus() if value[0] == "t7"]
    assert len(values) == 8
    for query in ("q1z q20z", "q39z", "nothing of it"):
        found = [passage.id for passage in index.search(query, 20, "t7")]
        assert found == reference(values, query, 20, every=True)


def test_a_large_title_is_searched_through_the_index(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = index.search("q39z", 3, "t7")
    monkeypatch.setattr(searching, "MANY", 5)
    assert index.search("q39z", 3, "t7")[0] == small[0]
    assert {passage.title for passage in index.search("q0z q39z", 8, "t7")} == {"t7"}
    assert len(index.search("nothing of it", 20, "t7")) == 8


def test_titles(tmp_path: Path) -> None:
    values = [
        ("Ajax", "The club."), ("Ajax (play)", "A tragedy."), ("AJAX", "Programs."),
        ("Émile Zola", "He wrote."), ("Michael Collins (soldier)", "One."),
        ("Michael Collins (pilot)", "Two."), ("", "No title."),
    ]  # fmt: skip
    with retrieval.open_index(made(tmp_path, values)) as index:

        def titles(title: str) -> list[str]:
            assert index.has_title(title) == bool(index.search("x", 9, title))
            return [passage.title for passage in index.search("x", 9, title)]

        assert titles("Ajax") == ["Ajax"]
        assert titles("ajax") == ["Ajax", "AJAX"]
        assert titles("Ajax_(play)") == ["Ajax (play)"]
        assert titles("Ajax (river)") == ["Ajax", "Ajax (play)", "AJAX"]
        assert titles("emile_zola") == titles(" Émile Zola ") == ["Émile Zola"]
        assert titles("Michael Collins") == ["Michael Collins (soldier)", "Michael Collins (pilot)"]
        assert titles("Nobody") == titles("%") == titles("\ud800'\"") == []
        assert index.search("title", 3)[0].text == "No title."
        assert index.search("zola")[0].title == "Émile Zola"  # the title is searched too


def test_stems_case_and_diacritics_do_not_matter(tmp_path: Path) -> None:
    with retrieval.open_index(made(tmp_path, [("x", "Müller WINS prizes."), ("y", "z")])) as index:
        for query in ("muller", "won? MÜLLER", "winning", "prize"):
            assert [passage.title for passage in index.search(query)] == ["x"], query


HOSTILE = [
    '"', '""', "'", "a OR b", 'NEAR("a" "b", 2)', "text:x", "-x", "^x", "x*", "(", "){}[]", "*", "",
    " ", "\0", "q1z\0q2z", "\ud800", "; DROP TABLE passages; --", "NOT", "AND AND AND", "a AND",
    "\u202e", "٣", "日本", "𝔘nicode", "x" * 100_000, "q1z " * 50_000, "\n\t", "%s {} \\",
]  # fmt: skip


@pytest.mark.parametrize("query", HOSTILE)
def test_hostile_texts_are_only_words(query: str, index: Index) -> None:
    for title in ("", "t7", query):
        found = index.search(query, 3, title)
        assert len(found) <= 3
        assert all(isinstance(passage, Passage) for passage in found)
    assert index.search("q1z", 1)  # nothing is broken by it


@given(st.text(), st.text(max_size=8))
def test_any_text_can_be_searched(index: Index, query: str, title: str) -> None:
    assert index.search(query, 2, title) == index.search(query, 2, title)
    assert index.search(query + " q39z", 2)


def test_an_empty_query_and_an_unknown_word_find_nothing(index: Index) -> None:
    assert index.search("") == index.search("... !?") == index.search("unknownword") == []
    assert index.search("?!", title="t7") == []
    with pytest.raises(InputError, match="-k 0"):
        index.search("x", 0)


def test_more_passages_than_there_are_can_be_asked_for(index: Index) -> None:
    for title in ("", "t7"):  # memory for 10 ** 10 of them ended the process
        found = [index.search(WORDS[0], k, title) for k in (10**6, 10**10, 10**30)]
        assert found[0]
        assert found[0] == found[1] == found[2]


def test_long_queries_are_bounded_to_their_rarest_words(index: Index) -> None:
    many = " ".join([f"unknown{n}" for n in range(500)] + WORDS)
    assert [p.id for p in index.search(many, 3)] == [p.id for p in index.search(" ".join(WORDS), 3)]
    assert index.search("x" * 9_994 + " q39z q38z", 3) == index.search("q39z", 3)


def test_equal_passages_are_returned_once_and_ties_are_ordered_by_id(tmp_path: Path) -> None:
    values = [("a", "same word")] * 3 + [(f"b{n}", "same word") for n in range(5)]
    with retrieval.open_index(made(tmp_path, values)) as index:
        found = index.search("same", 10)
        assert len(found) == 6
        assert [p.id for p in found] == sorted(p.id for p in found)
        assert index.search("same", 4) == found[:4]


def test_many_queries_are_asked_once_each(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    real = Index._search

    def counted(self: Index, title: str, text: str, k: int) -> list[Passage]:
        asked.append((title, text))
        return real(self, title, text, k)

    monkeypatch.setattr(Index, "_search", counted)
    queries = [("t7", "q1z"), ("", "q1z"), ("t7", "q1z"), ("t8", "q1z"), ("t7", "q2z")]
    found = index.search_many(queries, 3)
    assert len(asked) == 4
    assert found == [index.search(text, 3, title) for title, text in queries]
    assert index.search_many([]) == []


def _reads(path: str) -> list[str]:
    with retrieval.open_index(path) as index:
        return [passage.id for n in range(10) for passage in index.search(f"q{n}z q{n + 20}z")]


def test_several_processes_read_one_index(index: Index) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        one, two, three = pool.map(_reads, [str(index.path)] * 3)
    assert one == two == three == _reads(str(index.path))


def test_an_index_is_opened_for_reading_only(index: Index) -> None:
    def contents() -> dict[str, bytes]:
        return {file.name: file.read_bytes() for file in index.path.iterdir()}

    before = contents()
    assert _reads(str(index.path))
    assert contents() == before
