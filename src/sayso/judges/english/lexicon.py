"""The words of the offline readers: one table, kept as data (``judges/data/lexicon.txt``).

A section is a kind of word (negations, pronouns, verbs, hedges). In most sections a row names the
readers that take its words: what a reader knows of a kind is :func:`lexicon_words`, and where two
readers differ can be read in the table. Classes of hedges name what a phrase may mean (doubt,
ignorance, policy); whether it means that where it stands, the learned reader decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files

#: A phrase as words, and its class.
Cue = tuple[tuple[str, ...], str]


def judge_data(name: str) -> bytes:
    """Return a file of ``judges/data``."""
    return (files("sayso.judges") / "data" / name).read_bytes()


@cache
def _sections() -> dict[str, list[str]]:
    """Return the rows of each section; an indented line goes on the one before."""
    sections: dict[str, list[str]] = {}
    for line in judge_data("lexicon.txt").decode("utf-8").splitlines():
        if line.startswith("["):
            rows = sections.setdefault(line.strip("[]"), [])
        elif line.startswith("  "):
            rows[-1] += " " + line.strip()
        elif line and not line.startswith("#"):
            rows.append(line)
    return sections


def lexicon_rows(kind: str) -> list[str]:
    """Return the rows of a section as they are written."""
    return _sections()[kind]


@cache
def lexicon_words(kind: str, reader: str) -> frozenset[str]:
    """Return the words of a kind that a reader takes. Raises KeyError where it has none."""
    columns = [row.partition(": ") for row in lexicon_rows(kind)]
    taken = [words.split() for readers, _, words in columns if reader in readers.split()]
    if not taken:
        raise KeyError(f"{reader} takes no word of [{kind}]")
    return frozenset(word for words in taken for word in words)


def lexicon_groups(kind: str) -> list[list[str]]:
    """Return the words of each row of a section without readers."""
    return [row.split() for row in lexicon_rows(kind)]


def first_of_group(kind: str) -> dict[str, str]:
    """Return the first word of its row for every word of a section; the last row counts."""
    return {word: group[0] for group in lexicon_groups(kind) for word in group}


def alternatives(words: Iterable[str]) -> str:
    """Return a pattern that matches any of some words, longer ones first."""
    return "|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word))))


# ---- contractions

_ENDINGS = {"ve": "have", "d": "would", "ll": "will", "re": "are", "m": "am"}


@cache
def contractions(reader: str) -> dict[str, tuple[str, ...]]:
    """Return what a reader writes out, and how: "cannot" as "can", "not"."""
    columns = [row.partition(": ") for row in lexicon_rows("contractions")]
    rows = [row for readers, _, row in columns if reader in readers.split()]
    pairs = [pair.split(" = ") for row in rows for pair in row.split(" | ")]
    return {short: tuple(whole.split()) for short, whole in pairs}


@lru_cache(maxsize=65536)
def written_out(word: str, reader: str = "stance") -> tuple[str, ...]:
    """Return a lower-case word as the words that it contracts: "don't" as "do", "not".

    Readers differ in what "'s" is short for "is" after ([pronouns], ``READER.contracted``), and in
    what they know without its apostrophe; a possessive is taken off.
    """
    word = word.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    listed = contractions(reader)
    if word in listed:
        return listed[word]
    head, mark, tail = word.rpartition("'")
    if mark and head:
        if tail == "t" and head.endswith("n") and len(head) > 1:
            return head[:-1], "not"
        if tail in _ENDINGS:
            return head, _ENDINGS[tail]
        if tail == "s" and head in lexicon_words("pronouns", f"{reader}.contracted"):
            return head, "is"
    return (word.removesuffix("'s"),)


# ---- phrases and their classes


def hedge_phrases(reader: str) -> list[tuple[str, str]]:
    """Return (class, phrase) of the hedges of "stance" or "decisiveness", class by class."""
    (order,) = (r.split(": ")[1] for r in lexicon_rows("classes") if r.startswith(f"{reader}: "))
    by_class: dict[str, list[str]] = {name: [] for name in order.split()}
    for row in lexicon_rows("hedges"):
        names, _, phrases = row.partition(": ")
        stance, _, decisiveness = names.partition(" / ")
        for name in (stance if reader == "stance" else decisiveness).split():
            if name != "-":
                by_class[name] += phrases.split(" | ")
    return [(name, phrase) for name, phrases in by_class.items() for phrase in phrases]


@cache
def phrases(section: str) -> dict[str, dict[str, list[Cue]]]:
    """Return the phrases of stance, each with its class, by their first and second words.

    ``section`` is "hedges", or "phrases" for those that tell a family's aspect. The second word is
    "" for a single word.
    """
    named = hedge_phrases("stance")
    if section == "phrases":
        rows = (row.partition(": ") for row in lexicon_rows(section))
        named = [(name, phrase) for name, _, rest in rows for phrase in rest.split(" | ")]
    table: dict[str, dict[str, list[Cue]]] = {}
    for name, phrase in named:
        spelled = tuple(part for word in phrase.split() for part in written_out(word))
        second = spelled[1] if len(spelled) > 1 else ""
        table.setdefault(spelled[0], {}).setdefault(second, []).append((spelled, name))
    return table
