"""The English of the offline readers: cues of doubt, families of words, what a question asks for.

The words are data (``judges/data/stance_lexicon.txt``). Classes of cues name what a phrase may mean
(doubt, ignorance, policy); whether it means that where it stands, the learned reader decides.
"""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.resources import files

#: A phrase as words, and its class.
Cue = tuple[tuple[str, ...], str]

_CONTRACTED = {
    "can't": "can not", "cannot": "can not", "won't": "will not", "shan't": "shall not",
    "ain't": "is not", "let's": "let us", "dont": "do not", "cant": "can not", "im": "i am",
    "ive": "i have", "didnt": "did not", "doesnt": "does not", "isnt": "is not",
    "wasnt": "was not", "couldnt": "could not", "wouldnt": "would not",
    "it's": "it is", "he's": "he is", "she's": "she is", "that's": "that is",
    "there's": "there is", "what's": "what is", "who's": "who is",
}  # fmt: skip
_ENDINGS = {"n't": "not", "'ve": "have", "'d": "would", "'ll": "will", "'re": "are", "'m": "am"}


def judge_data(name: str) -> bytes:
    """Return a file of ``judges/data``."""
    return (files("sayso.judges") / "data" / name).read_bytes()


@cache
def lexicon_sections() -> dict[str, list[str]]:
    """Return the lines of each section of the lexicon; an indented line goes on the one before."""
    text = judge_data("stance_lexicon.txt").decode("utf-8")
    parts: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("["):
            current = parts.setdefault(line.strip("[]"), [])
        elif line.startswith("  "):
            current[-1] += " " + line.strip()
        elif line and not line.startswith("#"):
            current.append(line)
    return parts


@cache
def lexicon_words(section: str) -> frozenset[str]:
    """Return the words of a section."""
    return frozenset(word for line in lexicon_sections()[section] for word in line.split())


@lru_cache(maxsize=65536)
def written_out(word: str) -> tuple[str, ...]:
    """Return a lower-case word as the words that it contracts: "don't" as "do", "not"."""
    word = word.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    if word in _CONTRACTED:
        return tuple(_CONTRACTED[word].split())
    for ending, whole in _ENDINGS.items():
        if word.endswith(ending) and len(word) > len(ending):
            return (word.removesuffix(ending), whole)
    return (word.removesuffix("'s"),)


@cache
def phrases(section: str) -> dict[str, dict[str, list[Cue]]]:
    """Return the phrases of a section, each with its class, by their first and second words.

    The second is "" for a single word.
    """
    table: dict[str, dict[str, list[Cue]]] = {}
    for line in lexicon_sections()[section]:
        name, _, rest = line.partition(": ")
        for phrase in rest.split(" | "):
            spelled = tuple(part for word in phrase.split() for part in written_out(word))
            second = spelled[1] if len(spelled) > 1 else ""
            table.setdefault(spelled[0], {}).setdefault(second, []).append((spelled, name))
    return table
