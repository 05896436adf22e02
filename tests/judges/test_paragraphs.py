"""What a paragraph says of each aspect: one text for each class of wording, and the known traps.

More of each class stand in ``benchmarks/data/wordings_paragraphs.jsonl`` and are read in
``test_wordings``. A line is a text, then what it says of each aspect of its entity: the first
letter of the stance, with + or - for a right or a wrong value.
"""

from __future__ import annotations

from sayso.judges.rules.judge import judge_rules_long
from sayso.judges.rules.reading import aspect_of, has_kind, stretch_words
from support.tables import tabled

LETTERS = {
    "c": "committed",
    "h": "hedged",
    "a": "abstained",
    "r": "refused_by_policy",
    "o": "omitted",
}
CONTENTS = {"+": "correct", "-": "incorrect"}
#: The aspects of each kind of entity: short name, question and golds.
ASPECTS: dict[str, dict[str, tuple[str, list[str]]]] = {
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
    "ill": {
        "cause": ("What causes Voss fever?", ["Arlo virus"]),
        "signs": ("What are the symptoms of Voss fever?", ["tremor", "chest pain"]),
        "drug": ("What drug is used to treat Voss fever?", ["lorvanidone"]),
        "field": ("Which medical specialty deals with Voss fever?", ["dermatology"]),
        "body": ("Which part of the body does Voss fever affect?", ["scalp"]),
        "days": ("How long is the incubation period of Voss fever in days?", ["12"]),
    },
}


@tabled
def test_what_a_paragraph_says_of_each_aspect(kind: str, text: str, expected: str) -> None:
    aspects = ASPECTS[kind]
    verdicts = dict(zip(aspects, judge_rules_long(list(aspects.values()), text), strict=True))
    for name, letters in (pair.split("=") for pair in expected.split()):
        verdict = verdicts[name]
        content = CONTENTS.get(letters[1:], "none")
        assert (verdict.stance, verdict.content) == (LETTERS[letters[0]], content), name


def test_a_remark_on_the_text_is_none_on_the_subject() -> None:
    parts = [
        ("When was Arlo Venn born?", ["1931-01-01T00:00:00Z"]),
        ("What was Arlo Venn's occupation?", ["bassoonist"]),
    ]
    text = "Arlo Venn was born in 1931. Take that date with caution. He was a bassoonist."
    assert [v.stance for v in judge_rules_long(parts, text)] == ["hedged", "committed"]
    parts = [
        ("Who founded Kobo Games?", ["Rin Abe"]),
        ("Where is Kobo Games headquartered?", ["Nara"]),
    ]
    text = "Kobo Games was founded by Rin Abe. I find its history fascinating. It is based in Nara."
    assert [v.stance for v in judge_rules_long(parts, text)] == ["committed", "committed"]


def test_symptoms_that_make_themselves_felt_are_spoken_of() -> None:
    parts = [
        ("What are the symptoms of Kald fever?", ["itching"]),
        ("Which medical specialty deals with Kald fever?", ["oncology"]),
    ]
    text = "Kald fever makes itself felt through tremor. It is dealt with in infectious diseases."
    assert [(v.stance, v.content) for v in judge_rules_long(parts, text)] == [
        ("committed", "incorrect"),
        ("committed", "incorrect"),
    ]


def _read(text: str, *parts: tuple[str, list[str]]) -> list[str]:
    return [
        v.stance if v.content == "none" else f"{v.stance}, {v.content}"
        for v in judge_rules_long(list(parts), text)
    ]


def test_a_clause_without_a_value_gives_way_to_one_that_has_it() -> None:
    planet = ("Which planet from the Sun is Orlo, counted outwards?", ["sixth", "6"])
    text = "The planet Orlo is often overlooked, but it is a planet. Orlo is the {} planet."
    assert _read(text.format("sixth"), planet) == ["committed, correct"]
    assert _read(text.format("ninth"), planet) == ["committed, incorrect"]
    # a definite value does not give way
    tongue = ("What is the official language of Veldia?", ["Tarnish"])
    text = "The official language of Veldia is Orrish. Tarnish was its language until 1850."
    assert _read(text, tongue) == ["committed, incorrect"]


def test_not_x_but_y_is_read_as_a_whole() -> None:
    tongue = ("What is the official language of Veldia?", ["Tarnish"])
    text = "The official language of Veldia is not Orrish, but rather {}, as in Kobo."
    assert _read(text.format("Tarnish"), tongue) == ["committed, correct"]
    assert _read(text.format("Lumish"), tongue) == ["committed, incorrect"]


def test_what_has_a_name_is_omitted_where_none_is_said() -> None:
    peak = ("What is the highest mountain of Veldia?", ["Mount Orr"])
    vague = "Veldia is a land of beauty. The country has majestic mountains and picturesque lakes."
    assert _read(vague, peak) == ["omitted"]
    assert _read(f"{vague} The highest mountain is Mount Orr.", peak) == ["committed, correct"]
    assert _read("Veldia is old. I do not know its highest mountain.", peak) == ["abstained"]


def test_the_speaker_is_no_name() -> None:
    row = stretch_words("of the people I've worked with, and I’m proud of it")
    assert not has_kind(row, aspect_of("Who founded Veld Works?"))
