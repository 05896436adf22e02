"""The one table of words: every column is read by somebody, every reader has its words."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

import sayso
from sayso.judges.english import lexicon
from sayso.judges.english.lexicon import (
    alternatives,
    first_of_group,
    lexicon_groups,
    lexicon_rows,
    lexicon_words,
    written_out,
)
from sayso.judges.english.numbers import MONTH_NAMES, MONTHS, NUMBER_WORDS
from sayso.judges.patterns import regex
from sayso.judges.rules import slots
from support.tables import tabled

JUDGES = Path(sayso.__file__).parent / "judges"
#: sections whose rows begin with the readers that take their words
TABLES = (
    "function words", "talk", "negations", "pronouns", "turns", "questions", "auxiliaries", "verbs",
    "places", "measures", "openers", "abbreviations", "nearly", "things", "people", "namesakes",
    "endings", "headings", "mentions", "knowledge", "open sides",
)  # fmt: skip
#: columns whose names are put together where they are read
COMPOSED = {
    *(("questions", f"alignment.{kind}") for kind in ("date", "place", "person", "number", "any")),
    *(("talk", f"decisiveness.{use}") for use in ("glue", "talk", "personal")),
    *(("classes", f"decisiveness.{use}") for use in ("hedges", "modifiers")),
    *(("mentions", f"slots.{name}") for name in slots.CLASSES),
    *(("pronouns", f"{reader}.contracted") for reader in ("stance", "decisiveness")),
}


def columns(kind: str) -> set[str]:
    return {reader for row in lexicon_rows(kind) for reader in row.partition(": ")[0].split()}


def columns_read() -> set[tuple[str, str]]:
    """Return (kind, reader) of every call of lexicon_words in the judges."""
    found = set(COMPOSED)
    for path in JUDGES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "lexicon_words":
                kind, reader = node.args
                if isinstance(kind, ast.Constant) and isinstance(reader, ast.Constant):
                    found.add((str(kind.value), str(reader.value)))
    return found


def test_every_column_is_read_and_every_reader_has_its_words() -> None:
    written = {(kind, reader) for kind in TABLES for reader in columns(kind)}
    read = {one for one in columns_read() if one[0] in TABLES}
    assert written == read
    for kind, reader in columns_read():
        assert lexicon_words(kind, reader)


def test_where_readers_differ() -> None:
    turns = {"but", "though", "although", "while", "whereas"}
    assert lexicon_words("turns", "stance") == turns
    assert lexicon_words("turns", "alignment") == turns | {"yet"}
    assert lexicon_words("turns", "decisiveness") == turns | {"yet", "however"}
    assert lexicon_words("negations", "decisiveness") == {"not", "never"}
    assert lexicon_words("negations", "judge") == {"not", "never", "no"}
    assert lexicon_words("negations", "support") == {"not", "never", "without", "nor", "neither"}


def test_a_word_stands_once_in_its_kind() -> None:
    for kind in TABLES:
        words = Counter(w for row in lexicon_rows(kind) for w in row.partition(": ")[2].split())
        assert max(words.values()) == 1, (kind, words.most_common(1))


def test_a_hedge_stands_once_with_classes_that_are_listed() -> None:
    rows = [row.partition(": ") for row in lexicon_rows("hedges")]
    listed = Counter(phrase for _, _, row in rows for phrase in row.split(" | "))
    assert max(listed.values()) == 1, listed.most_common(1)
    assert len({names for names, _, _ in rows}) == len(rows)
    order = {row.split(": ")[0]: row.split(": ")[1].split() for row in lexicon_rows("classes")}
    for names, _, _ in rows:
        stance, decisiveness = (part.split() for part in names.split(" / "))
        assert set(stance) <= {"-", *order["stance"]}, names
        assert set(decisiveness) <= {"-", *order["decisiveness"]}, names
    assert {*order["decisiveness.hedges"], *order["decisiveness.modifiers"]} <= {
        *order["decisiveness"]
    }


def test_a_reader_that_takes_no_word_of_a_kind_is_a_mistake() -> None:
    with pytest.raises(KeyError, match="nobody takes no word"):
        lexicon_words("negations", "nobody")
    with pytest.raises(KeyError):
        lexicon_rows("verbes")


def test_an_indented_line_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    table = b"# [x]: note\n[x]\na b: one two\n  three\nb: four\n[y]\nred crimson\nblue\n"
    monkeypatch.setattr(lexicon, "judge_data", lambda name: table)
    for memory in (lexicon._sections, lexicon_words):
        memory.cache_clear()
    try:
        assert lexicon_words("x", "a") == {"one", "two", "three"}
        assert lexicon_words("x", "b") == {"one", "two", "three", "four"}
        assert lexicon_groups("y") == [["red", "crimson"], ["blue"]]
        assert first_of_group("y") == {"red": "red", "crimson": "red", "blue": "blue"}
    finally:
        for memory in (lexicon._sections, lexicon_words):
            memory.cache_clear()


@tabled
def test_contractions(word: str, stance: list[str], decisiveness: list[str]) -> None:
    assert list(written_out(word)) == stance
    assert list(written_out(word, "decisiveness")) == decisiveness


def test_numbers_and_months() -> None:
    assert (NUMBER_WORDS["nineteenth"], NUMBER_WORDS["ninety"], NUMBER_WORDS["zero"]) == (19, 90, 0)
    assert NUMBER_WORDS["fortieth"] == 40
    assert (MONTHS["sept"], MONTHS["september"], MONTHS["may"]) == (9, 9, 5)
    assert len(MONTH_NAMES) == 12


def test_alternatives_are_whole_words_of_any_order() -> None:
    one = regex(rf"(?:{alternatives(['no', 'none', 'Ph.D'])})")
    assert one.match("none of it")[0] == "none"  # type: ignore[index]
    assert one.match("PhxD") is None
