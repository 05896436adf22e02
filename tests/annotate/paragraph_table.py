"""A table of paragraphs: one text a line, then what it says of each aspect of its entity."""

from __future__ import annotations

from sayso.judges.rules.judge import judge_rules_long
from sayso.records import Verdict

LETTERS = {
    "c": "committed",
    "h": "hedged",
    "a": "abstained",
    "r": "refused_by_policy",
    "q": "asked_back",
    "o": "omitted",
}

#: The aspects of each kind of entity: short name, question and golds.
PARTS: dict[str, dict[str, tuple[str, list[str]]]] = {
    "bio": {
        "when": ("When was Mira Toll born?", ["1950-05-03T00:00:00Z"]),
        "where": ("Where was Mira Toll born?", ["Ripley"]),
        "work": ("What was Mira Toll's occupation?", ["singer"]),
        "school": ("Where was Mira Toll educated?", ["Tarn College"]),
        "spouse": ("Who was Mira Toll's spouse?", ["Jon Kemp"]),
        "prize": ("What award did Mira Toll receive?", ["Orlo Medal"]),
    },
    "firm": {
        "year": ("When was Veld Works founded?", ["1931-01-01T00:00:00Z"]),
        "founder": ("Who founded Veld Works?", ["Ann Bo"]),
        "seat": ("Where is Veld Works headquartered?", ["Derby"]),
        "trade": ("What industry is Veld Works in?", ["construction"]),
        "product": ("What is the main product of Veld Works?", ["kites"]),
        "staff": ("How many employees does Veld Works have?", ["1200"]),
    },
    "film": {
        "director": ("Who directed Night Ferry?", ["Jo Park"]),
        "date": ("When was Night Ferry released?", ["1984-11-07T00:00:00Z"]),
        "cast": ("Who starred in Night Ferry?", ["Ada Lind", "Bo Rask"]),
        "music": ("Who composed the music for Night Ferry?", ["Tom Arkell"]),
        "genre": ("What is the genre of Night Ferry?", ["horror film"]),
        "length": ("How long is Night Ferry in minutes?", ["94"]),
    },
    "star": {
        "finder": ("Who discovered Orla 5b?", ["Kai Voss"]),
        "year": ("When was Orla 5b discovered?", ["1958-01-01T00:00:00Z"]),
        "sky": ("In which constellation is Orla 5b?", ["Cygnus"]),
        "far": ("How far is Orla 5b from Earth in light-years?", ["350"]),
        "radius": ("What is the radius of Orla 5b in kilometers?", ["29200"]),
        "name": ("Who or what is Orla 5b named after?", ["Tessa"]),
    },
    "ill": {
        "cause": ("What causes Voss fever?", ["Arlo virus"]),
        "signs": ("What are the symptoms of Voss fever?", ["tremor", "chest pain"]),
        "drug": ("What drug is used to treat Voss fever?", ["lorvanidone"]),
        "field": ("Which medical specialty deals with Voss fever?", ["dermatology"]),
        "body": ("Which part of the body does Voss fever affect?", ["scalp"]),
        "days": ("How long is the incubation period of Voss fever in days?", ["12"]),
    },
}


def rows(table: str) -> list[tuple[str, dict[str, str]]]:
    """Return each line's text and what is expected of the aspects named on it."""
    found = []
    for line in table.strip().splitlines():
        text, _, expected = line.strip().rpartition(" || ")
        found.append((text, dict(pair.split("=") for pair in expected.split())))
    return found


def read(kind: str, text: str) -> dict[str, Verdict]:
    """Judge a text for every aspect of its kind."""
    parts = PARTS[kind]
    return dict(zip(parts, judge_rules_long(list(parts.values()), text), strict=True))


def misread(kind: str, text: str, expected: dict[str, str]) -> dict[str, str]:
    """Return the aspects read otherwise than expected; "c+" also wants the content correct."""
    verdicts = read(kind, text)
    wrong = {}
    for name, letters in expected.items():
        verdict = verdicts[name]
        content = {"+": "correct", "-": "incorrect"}.get(letters[1:], verdict.content)
        if verdict.stance != LETTERS[letters[0]] or verdict.content != content:
            wrong[name] = f"{verdict.stance} {verdict.content}"
    return wrong
