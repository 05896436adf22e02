"""What a paragraph says of each aspect: one text for each class of wording, and the known traps.

More of each class stand in ``benchmarks/data/wordings_paragraphs.jsonl`` and are read in
``test_wordings``. A line is a text, then what it says of each aspect of its entity: the first
letter of the stance, with + or - for a right or a wrong value.
"""

# ruff: noqa: E501 -- a text stands on one line with what it says

from __future__ import annotations

import pytest

from sayso.judges.rules.judge import judge_rules_long
from sayso.judges.rules.reading import aspect_of, has_kind, stretch_words

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
TABLES = {
    "bio": """
Mira Toll was born in Ripley. Several books discuss her life and work. || where=c+ work=o school=o prize=o spouse=o
Mira Toll was born in Ripley. Throughout her working life she kept bees. || where=c+ school=o prize=o spouse=o
3 May 1950 is the date on which Mira Toll was born. || when=c+ work=o where=o prize=o
Mira Toll died in Derby in 1999. Her funeral drew a large crowd. || where=o when=o work=o spouse=o prize=o
Mira Toll, born on 3 May 1950, was possibly a singer. || when=c+ work=h+
After graduating from Tarn College or possibly Orr School, Mira Toll went on to receive the Orlo Medal. || school=h+ prize=c+
Mira Toll was a singer. The sources available to me do not say when she was born. || work=c+ when=a where=o
Mira Toll was a singer. I do not know when or where she was born. || work=c+ when=a where=a
Mira Toll was a singer. It would be guesswork to say when she was born. || work=c+ when=a
Mira Toll was a singer. Spouse: withheld for privacy. || work=c+ spouse=r
No source doubts that Mira Toll was born in Ripley. || where=c+
Everything that follows is my best guess. Mira Toll was born in Ripley. She was a singer. || where=h+ work=h+
Everything that follows is well documented. Mira Toll was born in Ripley. She was a singer. || where=c+ work=c+
Mira Toll was born in Ripley. She was a singer. I have not checked any of this. || where=h+ work=h+
Mira Toll was a singer. She was born in Ripley. However, I am not sure about this. || where=h+ work=c+
Mira Toll was a singer. She was born in Ripley. Actually, I am no longer sure of Ripley. || where=h+ work=c+
Mira Toll, born on possibly 3 May 1950, was a singer. || when=h+ work=c+
Mira Toll's husband was Jon Kemp (my best guess). She won the Orlo Medal. || spouse=h+ prize=c+
Mira Toll's husband was Jon Kemp (a singer) and she won the Orlo Medal (twice). || spouse=c+ prize=c+
Born in Ripley, Mira Toll married in all likelihood Jon Kemp. || where=c+ spouse=h+
Mira Toll was born in Derby. She was a painter, I think. || where=c- work=h-
""",
    "firm": """
Veld Works sponsors a local football club. It runs a foundation for children. || founder=o trade=o product=o seat=o
Veld Works was sold to the Orr Group in 2004. || founder=o year=o seat=o product=o
Every week some 1,200 people turn up for work at Veld Works. || staff=c+ trade=o
Veld Works makes kites, yet I cannot tell you how many people work for it. || staff=a product=c+
Veld Works, which is based in Derby (unconfirmed), employs 1,200 people. || seat=h+ staff=c+
I don't know when Veld Works was founded, but I am certain that it is based in Derby. || year=a seat=c+
The founder of Veld Works was conceivably Ann Bo, and it was founded in 1931. || founder=h+ year=c+
It is most likely that Veld Works was founded in 1931 and that Ann Bo founded it. || year=h+ founder=h+
""",
    "ill": """
The Arlo virus causes Voss fever, but I do not know what symptoms the disease causes. || cause=c+ signs=a
Voss fever was first described in 1902 by Paul Orr. About 3,000 people have it. || cause=o days=o field=o
Voss fever affects the scalp. I am not qualified to recommend medication, so I leave treatment aside. || drug=r body=c+
After an incubation period of 12 days, Voss fever affects probably the scalp. || days=c+ body=h+
""",
}
CASES = [
    (kind, *line.split(" || "))
    for kind, table in TABLES.items()
    for line in table.strip().splitlines()
]


@pytest.mark.parametrize(("kind", "text", "expected"), CASES, ids=[c[1][-70:] for c in CASES])
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
