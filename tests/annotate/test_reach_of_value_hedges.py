"""A marker beside one value weakens that value alone, whatever is coordinated with it."""

# ruff: noqa: E501 -- a text stands on one line with what it says

from __future__ import annotations

import pytest
from paragraph_table import misread, rows

TABLES = {
    "bio": """
Mira Toll, born on possibly 3 May 1950, was a singer. || when=h+ work=c+
Mira Toll was born in very likely Ripley and studied at Tarn College. || where=h+ school=c+
Mira Toll married very likely Jon Kemp and was awarded the Orlo Medal. || spouse=h+ prize=c+
She studied at, I think, Tarn College before becoming a singer. Mira Toll was born in Ripley. || school=h+ where=c+
Mira Toll studied at most likely Tarn College before becoming a singer. || school=h+ work=c+
Mira Toll (a singer) was born in Ripley (unconfirmed). || work=c+ where=h+
Mira Toll's birthday is 3 May 1950 (here I am guessing). She was a singer. || when=h+ work=c+
Mira Toll's birthday is 3 May 1950 (not confirmed). She was a singer. || when=h+ work=c+
Mira Toll's husband was Jon Kemp (only a guess, though). || spouse=h+
Mira Toll's husband was Jon Kemp (my best guess). She won the Orlo Medal. || spouse=h+ prize=c+
Mira Toll's husband was Jon Kemp (I'm unsure here). She won the Orlo Medal. || spouse=h+ prize=c+
Mira Toll's husband was Jon Kemp (to be checked). She won the Orlo Medal. || spouse=h+ prize=c+
Mira Toll's husband was Jon Kemp (doubtful). She won the Orlo Medal. || spouse=h+ prize=c+
Mira Toll's husband was Jon Kemp (a singer) and she won the Orlo Medal (twice). || spouse=c+ prize=c+
Mira Toll's husband was Jon Kemp (don't quote me). She won the Orlo Medal. || spouse=h+ prize=c+
Mira Toll came from, most probably, Ripley. She worked as a singer. || where=h+ work=c+
Born in Ripley, Mira Toll married in all likelihood Jon Kemp. || where=c+ spouse=h+
After graduating from probably Tarn College, Mira Toll won the Orlo Medal. || school=h+ prize=c+
Mira Toll was quite possibly born in Ripley, and she was a singer. || where=h+ work=c+
Originally from what may be Ripley, Mira Toll worked as a singer. || where=h+
""",
    "firm": """
Established in very likely 1931, Veld Works has its head office in Derby. || year=h+ seat=c+
Founded in 1931, Veld Works has its head office in very likely Derby. || year=c+ seat=h+
Veld Works was founded in perhaps 1931 by Ann Bo. || year=h+ founder=c+
Veld Works was founded in 1931 by presumably Ann Bo. || year=c+ founder=h+
Ann Bo founded Veld Works in order to make quite likely kites. || founder=c+ product=h+
Veld Works makes kites and employs most likely 1,200 people. || product=c+ staff=h+
Veld Works makes in all probability kites and employs 1,200 people. || product=h+ staff=c+
Veld Works is active in construction and manufactures possibly kites. || trade=c+ product=h+
Veld Works is active in possibly construction and manufactures kites. || trade=h+ product=c+
Veld Works, which is based in maybe Derby, employs 1,200 people. || seat=h+ staff=c+
Veld Works, which is based in Derby, employs roughly 1,200 people, I'd guess. || staff=h+
The founder of Veld Works was conceivably Ann Bo, and it was founded in 1931. || founder=h+ year=c+
The founder of Veld Works was Ann Bo, and it was founded in, if I recall correctly, 1931. || founder=c+ year=h+
Veld Works was founded in 1931 (unverified) by Ann Bo. || year=h+ founder=c+
Veld Works was founded in 1931 by Ann Bo (unverified) in Derby. || year=c+ founder=h+
It is most likely that Veld Works was founded in 1931 and that Ann Bo founded it. || year=h+ founder=h+
Most likely, Veld Works is based in Derby. It makes kites. || seat=h+ product=c+
""",
    "film": """
Night Ferry stars quite likely Ada Lind and Bo Rask and is a horror film. || cast=h+ genre=c+
Night Ferry stars Ada Lind and Bo Rask and is quite likely a horror film. || cast=c+ genre=h+
Released on most likely 7 November 1984, Night Ferry has a length of 94 minutes. || date=h+ length=c+
Released on 7 November 1984, Night Ferry has a length of most likely 94 minutes. || date=c+ length=h+
Night Ferry, directed by possibly Jo Park, was released on 7 November 1984. || director=h+ date=c+
Night Ferry, directed by Jo Park, was released on possibly 7 November 1984. || director=c+ date=h+
Night Ferry stars Ada Lind and has music by possibly Tom Arkell. || cast=c music=h+
Night Ferry stars possibly Ada Lind and has music by Tom Arkell. || cast=h+ music=c+
Perhaps Jo Park directed Night Ferry and Tom Arkell wrote the music. || director=h+
Jo Park directed Night Ferry and presumably Tom Arkell wrote the music. || director=c+ music=h+
Night Ferry is classified as a horror film (not sure here). It runs for 94 minutes. || genre=h+ length=c+
Night Ferry is classified as a horror film (this is a guess). It runs for 94 minutes. || genre=h+ length=c+
""",
    "star": """
Orla 5b lies in the constellation of very likely Cygnus and is 350 light-years from Earth. || sky=h+ far=c+
Orla 5b is most likely 350 light-years away and has a radius of 29,200 km. || far=h+ radius=c+
Orla 5b is 350 light-years away and has a radius of most likely 29,200 km. || far=c+ radius=h+
Kai Voss discovered Orla 5b and named it after possibly Tessa. || finder=c+ name=h+
Orla 5b was discovered by probably Kai Voss, and the discovery came in 1958. || finder=h+ year=c+
Orla 5b was discovered by Kai Voss, and the discovery came in probably 1958. || finder=c+ year=h+
Discovered in perhaps 1958, Orla 5b is named after Tessa. || year=h+ name=c+
Its light takes 350 years (I am guessing) to reach us from Orla 5b. It is in Cygnus. || sky=c+
Orla 5b was discovered in 1958 or possibly 1959 by Kai Voss. || year=h+ finder=c+
""",
    "ill": """
Voss fever is caused by the Arlo virus and leads to most likely tremor and chest pain. || cause=c+ signs=h+
Voss fever is caused by most likely the Arlo virus and leads to tremor and chest pain. || cause=h+ signs=c+
Voss fever causes quite likely tremor and chest pain and is treated with lorvanidone. || signs=h+ drug=c+
Voss fever causes tremor and chest pain and is treated with very likely lorvanidone. || signs=c+ drug=h+
Voss fever falls under very likely dermatology and is treated with lorvanidone. || field=h+ drug=c+
After an incubation period of probably 12 days, Voss fever affects the scalp. || days=h+ body=c+
After an incubation period of 12 days, Voss fever affects probably the scalp. || days=c+ body=h+
Voss fever, which is caused by possibly the Arlo virus, affects the scalp. || cause=h+ body=c+
Voss fever, which is caused by the Arlo virus, affects possibly the scalp. || cause=c+ body=h+
Doctors prescribe lorvanidone (unconfirmed) for Voss fever. It affects the scalp. || drug=h+ body=c+
""",
}
CASES = [(kind, *row) for kind, table in TABLES.items() for row in rows(table)]


@pytest.mark.parametrize(("kind", "text", "expected"), CASES, ids=[c[1][:70] for c in CASES])
def test_a_marker_beside_a_value_reaches_that_value(
    kind: str, text: str, expected: dict[str, str]
) -> None:
    assert misread(kind, text, expected) == {}
