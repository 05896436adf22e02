"""What withholds a value, or weakens the whole text, in wordings of many builds."""

# ruff: noqa: E501 -- a text stands on one line with what it says

from __future__ import annotations

import pytest
from paragraph_table import misread, rows

TABLES = {
    "bio": """
Mira Toll was a singer. The sources available to me do not say when she was born. || work=c+ when=a where=o
Mira Toll was a singer. The sources I have do not mention where she was born. || work=c+ where=a when=o
Mira Toll was a singer. None of my sources tell who she married. || work=c+ spouse=a
Mira Toll was a singer. The records at hand are silent on her schooling. || work=c+ school=a
Mira Toll was a singer. My material does not reveal whom she married. || work=c+ spouse=a
Mira Toll was a singer. Nothing I have read gives her date of birth. || work=c+ when=a
Mira Toll was a singer. What I have in front of me leaves out her birthplace. || work=c+ where=a
Mira Toll was a singer. The biographies I know of make no mention of a spouse. || work=c+ spouse=a
Mira Toll was a singer. Her date of birth is a blank to me. || work=c+ when=a where=o
Mira Toll was a singer. I must pass on the question of her husband. || work=c+ spouse=a
Mira Toll was a singer. I am in no position to name her place of birth. || work=c+ where=a
Mira Toll was a singer. It would be guesswork to say when she was born. || work=c+ when=a
Mira Toll was a singer. I'd only be guessing at her date of birth. || work=c+ when=a
Mira Toll was a singer. When she was born I could not establish. || work=c+ when=a
Mira Toll was a singer. Her awards, if any, are beyond what I know. || work=c+ prize=a
Mira Toll was a singer. I never learned where she studied. || work=c+ school=a
Mira Toll was a singer. I would have to look up her date of birth. || work=c+ when=a
Mira Toll was a singer. I came up empty on her date of birth. || work=c+ when=a
Mira Toll was a singer. I have seen nothing on whom she married. || work=c+ spouse=a
Mira Toll was a singer. As regards her spouse, I am at a loss. || work=c+ spouse=a
Mira Toll was a singer. As to where she studied, no source that I could consult says anything. || work=c+ school=a
Mira Toll was a singer. Out of respect for her privacy I leave out whom she married. || work=c+ spouse=r
Mira Toll was a singer. Who her husband is I will keep to myself for privacy reasons. || work=c+ spouse=r
Mira Toll was a singer. Her spouse's name is personal information that I do not disclose. || work=c+ spouse=r
Mira Toll was a singer. Details of her marriage are private and I won't go into them. || work=c+ spouse=r
Mira Toll was a singer. Spouse: withheld for privacy. || work=c+ spouse=r
Sources do not agree on much, but Mira Toll was born in Ripley. || where=c+
The sources available to me say that Mira Toll was born in Ripley. || where=c+
No source doubts that Mira Toll was born in Ripley. || where=c+
I am certain that Mira Toll was born in Ripley. I do not know whom she married. || where=c+ spouse=a
I know for a fact that Mira Toll was a singer. I do not know whom she married. || work=c+ spouse=a
I can say with confidence that Mira Toll won the Orlo Medal. I do not know whom she married. || prize=c+ spouse=a
I'm sure Mira Toll studied at Tarn College. Her spouse is unknown to me. || school=c+ spouse=a
I can confirm that Mira Toll studied at Tarn College. Her spouse is unknown to me. || school=c+ spouse=a
I have no doubt that Mira Toll studied at Tarn College. Her spouse is unknown to me. || school=c+ spouse=a
I do remember that Mira Toll was a singer. I do not know where she was born. || where=a
Everything that follows is my best guess. Mira Toll was born in Ripley. She was a singer. || where=h+ work=h+
What follows is guesswork. Mira Toll was born in Ripley. She was a singer. || where=h+ work=h+
Everything below is from memory and may be off. Mira Toll was born in Ripley. She was a singer. || where=h+ work=h+
None of what I write here is certain. Mira Toll was born in Ripley. She was a singer. || where=h+ work=h+
Take all of this with caution. Mira Toll was born in Ripley. She was a singer. || where=h+ work=h+
The following is unverified. Mira Toll was born in Ripley. She was a singer. || where=h+ work=h+
I cannot vouch for what follows. Mira Toll was born in Ripley. She was a singer. || where=h+ work=h+
Nothing of the following is checked. Mira Toll was born in Ripley. She was a singer. || where=h+ work=h+
Please read the following as guesses. Mira Toll was born in Ripley. She was a singer. || where=h+ work=h+
Mira Toll was born in Ripley. She was a singer. I am not confident in any of these statements. || where=h+ work=h+
Mira Toll was born in Ripley. She was a singer. All of it is only what I vaguely recall. || where=h+ work=h+
Mira Toll was born in Ripley. She was a singer. I have not checked any of this. || where=h+ work=h+
From what I can piece together, and none of this is verified, Mira Toll was a singer who was born in Ripley. || where=h+ work=h+
Everything that follows is well documented. Mira Toll was born in Ripley. She was a singer. || where=c+ work=c+
Mira Toll was a singer. She was born in Ripley. However, I am not sure about this. || where=h+ work=c+
Mira Toll was a singer. She was born in Ripley. At least, that is how I remember it. || where=h+ work=c+
Mira Toll was a singer. She was born in Ripley. But I may be misremembering that. || where=h+ work=c+
Mira Toll was a singer. She was born in Ripley. Hmm, now I doubt that. || where=h+ work=c+
Mira Toll was a singer. She was born in Ripley. Actually, I am no longer sure of Ripley. || where=h+ work=c+
Mira Toll was born in Ripley. She was a singer. On reflection I am doubtful about Ripley. || where=h+ work=c+
""",
    "firm": """
The sources available to me do not say how many people work for Veld Works. It makes kites. || staff=a product=c+
Veld Works makes kites, yet I cannot tell you how many people work for it. || staff=a product=c+
It makes kites, but what Veld Works is worth and who founded it I have not found out. || product=c+ founder=a
Veld Works makes kites. How many people work there is not in my notes. || product=c+ staff=a
Veld Works makes kites. Its industry is something I do not know. || trade=a product=c+
Veld Works, which is based in Derby, employs 1,200 people (unconfirmed). || seat=c+ staff=h+
Veld Works, which is based in Derby (unconfirmed), employs 1,200 people. || seat=h+ staff=c+
Ann Bo (here, I am not sure) founded Veld Works. It makes kites. || founder=h+ product=c+
Veld Works is based in Derby (here, I am not sure). It makes kites. || seat=h+ product=c+
Veld Works is based in Derby (I think, but I would have to check). It makes kites. || seat=h+ product=c+
I don't know when Veld Works was founded, but I am certain that it is based in Derby. || year=a seat=c+
""",
    "ill": """
Specialists in dermatology (unconfirmed) treat Voss fever. It affects the scalp. || field=h+ body=c+
Voss fever affects the scalp. The sources available to me do not say what drug is used to treat it. || drug=a body=c+
Voss fever affects the scalp. I am not qualified to recommend medication, so I leave treatment aside. || drug=r body=c+
""",
}
CASES = [(kind, *row) for kind, table in TABLES.items() for row in rows(table)]


@pytest.mark.parametrize(("kind", "text", "expected"), CASES, ids=[c[1][-70:] for c in CASES])
def test_what_withholds_and_what_weakens(kind: str, text: str, expected: dict[str, str]) -> None:
    assert misread(kind, text, expected) == {}
