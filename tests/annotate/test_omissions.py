"""Which aspect a sentence speaks of, and that a sentence on something else speaks of none."""

# ruff: noqa: E501 -- a text stands on one line with what it says

from __future__ import annotations

import pytest
from paragraph_table import misread, rows

from sayso.judges.rules.align import asked
from sayso.judges.rules.judge import judge_rules_long
from sayso.records import Gold

TABLES = {
    "bio": """
Mira Toll was a singer. The public took an interest in her work for decades. || work=c+ where=o when=o school=o spouse=o prize=o
Mira Toll was born in Ripley. Admirers followed her career closely for years. || where=c+ work=o school=o prize=o
Mira Toll was born in Ripley. Several books discuss her life and work. || where=c+ work=o school=o prize=o spouse=o
Mira Toll was born in Ripley. Colleagues praised her patience. || where=c+ work=o school=o prize=o spouse=o
Mira Toll was born in Ripley. Throughout her working life she kept bees. || where=c+ school=o prize=o spouse=o
3 May 1950 is the date on which Mira Toll was born. || when=c+ work=o where=o prize=o
Ripley is the town where Mira Toll was born. || where=c+ work=o school=o spouse=o
Mira Toll is a native of Ripley. || where=c+ work=o school=o
Tarn College is the institution where Mira Toll studied. || school=c+ work=o where=o
It is an established fact that the person Mira Toll married was Jon Kemp. || spouse=c+ work=o prize=o
It is well known that Mira Toll won the Orlo Medal. || prize=c+ work=o spouse=o
Mira Toll died in Derby in 1999. Her funeral drew a large crowd. || where=o when=o work=o spouse=o prize=o
Mira Toll's sister Ada lives in Derby. || spouse=o where=o work=o school=o
Mira Toll had three children. Her eldest son, Kai, became a doctor. || spouse=o prize=o school=o
Mira Toll moved to Derby in 1980. She owned a large house there. || where=o when=o spouse=o
Mira Toll spoke German and French. In 1971 she met Paul Orr in Vienna. || spouse=o prize=o
Mira Toll, born on 3 May 1950, was a singer. || when=c+ work=c+ where=o
Mira Toll, born on 3 May 1950, was possibly a singer. || when=c+ work=h+
Mira Toll was born in Ripley, and the date of birth was possibly 3 May 1950. || where=c+ when=h+
Mira Toll married Jon Kemp, and the year of her birth was perhaps 1950. || spouse=c+ when=h+
After graduating from Tarn College or possibly Orr School, Mira Toll went on to receive the Orlo Medal. || school=h+ prize=c+
After studying at Tarn College, Mira Toll became a singer. || school=c+ work=c+
Having studied at Tarn College, Mira Toll became possibly a singer. || school=c+ work=h+
Before she won the Orlo Medal, Mira Toll worked as a singer. || prize=c+ work=c+
Originally from Ripley, Mira Toll worked as possibly a singer. || where=c+ work=h+
A singer by trade, Mira Toll came from Ripley. || work=c+ where=c+
Mira Toll shared her life with Jon Kemp and sang for a living. || spouse=c+
Mira Toll learned her craft at Tarn College. Jon Kemp was at her side as her husband. || school=c+ spouse=c+
""",
    "firm": """
Veld Works was founded in 1931. Over the decades it has expanded into new markets. || year=c+ product=o trade=o seat=o founder=o staff=o
Veld Works makes kites. The company has survived several crises. || product=c+ trade=o seat=o founder=o
Veld Works makes kites. Its customers like the brand. || product=c+ trade=o seat=o founder=o staff=o
Ann Bo is the founder of the company Veld Works. || founder=c+ trade=o product=o year=o
It is an established fact that Veld Works has a staff of 1,200 people. || staff=c+ trade=o founder=o year=o
Veld Works has been in business since 1931. || year=c+ trade=o product=o
Established in 1931, Veld Works has its head office in Derby. || year=c+ seat=c+ founder=o
Veld Works, with its head office in Derby, was established in 1931. || year=c+ seat=c+ founder=o
Founded by Ann Bo, Veld Works has its head office in Derby. || founder=c+ seat=c+ year=o
Veld Works was started in Derby by Ann Bo. Its kites fly well. || founder=c+
Veld Works sponsors a local football club. It runs a foundation for children. || founder=o trade=o product=o seat=o
Veld Works was sold to the Orr Group in 2004. || founder=o year=o seat=o product=o
Veld Works opened a branch in Leeds in 1988. || seat=o year=o founder=o
The logo of Veld Works was redrawn by Paul Orr in 1990. || founder=o year=o seat=o
Every week some 1,200 people turn up for work at Veld Works. || staff=c+ trade=o
Whoever buys from Veld Works buys kites. || product=c+
Construction is what Veld Works lives on. || trade=c+
""",
    "film": """
Night Ferry features music by Tom Arkell. || music=c+ cast=o director=o
The music of Night Ferry is by Tom Arkell. Reviewers praised the photography. || music=c+ cast=o director=o genre=o
Night Ferry stars Ada Lind. The story follows a family over one long winter. || cast=c length=o genre=o director=o
Night Ferry was produced by Sam Orr. The script came from Lena Voss. || director=o music=o cast=o
Night Ferry's release date is 7 November 1984. || date=c+ genre=o length=o
There is a good chance that Night Ferry features Ada Lind and Bo Rask. || cast=h+ genre=o
The photography of Night Ferry was in the hands of Sam Orr. || director=o cast=o music=o
Night Ferry won two awards in 1986. || date=o genre=o length=o
Night Ferry is based on a novel by Lena Voss and cost 3 million dollars. || director=o length=o music=o
Night Ferry was restored in 2010 and shown at a festival in Leeds. || date=o genre=o director=o
You need 94 minutes to see the whole of Night Ferry. || length=c+
Jo Park made Night Ferry with Ada Lind and Bo Rask in the main parts. || cast=c+
Among horror films Night Ferry holds a special place. || genre=c+
Night Ferry was seen for the first time on 7 November 1984. || date=c+
Behind the camera of Night Ferry stood Jo Park, in front of it Ada Lind. || director=c+ cast=c
""",
    "star": """
Orla 5b is in Cygnus. Amateur astronomers occasionally photograph it. || sky=c+ finder=o name=o
Orla 5b is in Cygnus. Future telescopes are expected to observe it in more detail. || sky=c+ finder=o name=o year=o
Orla 5b is in Cygnus. Modern instruments can resolve it. || sky=c+ finder=o name=o
Cygnus is the constellation in which Orla 5b is found. || sky=c+ finder=o name=o
Quite likely Cygnus is the constellation in which Orla 5b is found. || sky=h+ finder=o name=o
Discovered in the year 1958, Orla 5b is named after Tessa. || year=c+ name=c+ finder=o
The radius of Orla 5b comes to 29,200 kilometres. || radius=c+ far=o
Orla 5b was found by Kai Voss in the year 1958. 350 light-years separate it from Earth, I think. || finder=c+ year=c+ far=h+
Tessa gave Orla 5b its name. || name=c+ finder=o sky=o
Orla 5b has two moons, Ano and Belo. Its mass is 4 times that of Jupiter. || finder=o name=o sky=o radius=o far=o
The surface of Orla 5b reaches 900 kelvin. It was visited by the probe Hermes in 2011. || year=o radius=o far=o finder=o
Whoever looks for Orla 5b should point a telescope at Cygnus. || sky=c+
It takes light 350 years to come to us from Orla 5b. || radius=o year=o
Kai Voss was the first to see Orla 5b. || finder=c+ name=o
""",
    "ill": """
Voss fever causes tremor and chest pain. || signs=c+ cause=o drug=o
Voss fever causes tremor. I am unable to tell you what affects the patients most. || cause=o
It is an established fact that Voss fever causes tremor and chest pain. || signs=c+ cause=o
The Arlo virus causes Voss fever. || cause=c+ signs=o
The agent that causes Voss fever is the Arlo virus. I do not know what symptoms it causes. || cause=c+ signs=a
Voss fever is treated with lorvanidone. I do not know what symptoms Voss fever causes. || drug=c+ signs=a cause=o
The Arlo virus causes Voss fever, but I do not know what symptoms the disease causes. || cause=c+ signs=a
Voss fever affects the scalp. Public health campaigns have raised awareness of it. || body=c+ cause=o field=o signs=o
Voss fever affects the scalp. Most patients recover fully with proper care. || body=c+ cause=o drug=o signs=o
It takes 12 days for Voss fever to develop. || days=c+ signs=o drug=o
The first signs of Voss fever appear 12 days after infection. || days=c+ signs=o cause=o
Specialists in dermatology treat Voss fever. || field=c+ drug=o
Lorvanidone treats Voss fever. || drug=c+ field=o
Voss fever was first described in 1902 by Paul Orr. About 3,000 people have it. || cause=o days=o field=o
Children are at greater risk of Voss fever. Early diagnosis improves the outlook. || signs=o cause=o field=o drug=o
After an incubation period of 12 days or possibly 14 days, Voss fever affects the scalp. || days=h+ body=c+
Voss fever leads to tremor as well as chest pain, and one takes lorvanidone for it. || signs=c+ drug=c+
People with Voss fever shake and have chest pain. || signs=c cause=o
""",
}
CASES = [(kind, *row) for kind, table in TABLES.items() for row in rows(table)]


@pytest.mark.parametrize(("kind", "text", "expected"), CASES, ids=[c[1][-70:] for c in CASES])
def test_what_is_spoken_of_and_what_is_not(kind: str, text: str, expected: dict[str, str]) -> None:
    assert misread(kind, text, expected) == {}


def test_a_cast_is_asked_for_even_where_a_hint_names_it_otherwise() -> None:
    """The aspect "cast members" keeps its cue although a star is also a kind of entity."""
    aspect = asked(
        "Who starred in Tides of Raldunt?", (Gold(value="Ann Bo"),), "cast members cast member"
    )
    assert "cast" in aspect.cues


def test_a_star_asked_about_did_not_star() -> None:
    assert "cast" not in asked("How far away is the star Lorm?", (Gold(value="40"),)).cues


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
