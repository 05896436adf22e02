"""What a short question asks for: its cue words and the kind of answer it expects, as data.

General English only: words of one family ("born", "birth", "birthplace") count as one cue.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from sayso.annotate.idioms import families

Expected = Literal["date", "place", "number", "person", "any"]


_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")

#: Families of words that answer each other; the first word names the family.
_FAMILIES = """
birth born birthday birthplace birthdate native
death die dies died dead deceased passed killed demise deathplace
marriage married marry marries wife husband spouse wed wedding partner
education educated studied study studies student attended alma mater graduated graduate
    university college school degree schooling
occupation profession job career worked work vocation
employer employed employs worked works hired
founding founded founder founders found inception established establishment started formation
    formed created set-up incorporated
location located headquarters headquartered based lies situated seat hq sits
direction director directed directing directs helmed
writing writer wrote written author authored authors screenwriter screenplay penned novelist
    scripted
production producer produced produces producers
music composer composed composition score scored soundtrack
cast starring starred stars star actor actress actors featured lead played role
release released publisher publishing came premiered premiere publication published debuted debut
    came-out launched launch
discovery described discovered discoverer discovers detected found identified
award awards prize prizes won received honor honour honored medal honours
citizenship citizen nationality national country
owner owned owns parent subsidiary belongs acquired
chief ceo executive chairman chairperson president led leader leads leadership manager
industry sector field business operates
product products produce makes made manufactures produces sells offers
employees staff workforce workers employs people
symptom symptoms sign signs signal presents
treatment treated treat drug drugs medication therapy medicine cure
cause caused causes causing pathogen agent due
specialty speciality medical branch specialist
transmission transmitted spread spreads
genre style type kind category
duration long runtime minutes running length runs lasts long
distance far away light-years parsecs
radius radii
diameter across wide size
mass massive weighs weigh weight weighed solar
magnitude brightness bright apparent
temperature hot kelvin warm
period orbital orbits takes revolution year-long orbit completes
constellation
spectral class
language languages spoken speaks filmed
religion religious faith
sport sports plays
team club plays
instrument instruments
influence influenced influences
notable famous known best-known remembered
child children son daughter kids
father mother parent parents
sibling brother sister siblings
character characters protagonist
illustrator illustrated illustrations drawings
incubation incubate
prevalence incidence common
affect affects affected affecting attacks
gene genetic mutation
eponym named namesake
income revenue earnings turnover sales
budget cost
stock exchange listed traded ticker
position held office served
political party member
buried burial interred grave cemetery
teacher taught teach teaches teachers tutor mentor pupil
residence live lives lived residing reside resides address home house moved relocated emigrated
    settled
moon moons satellite satellites
restoration restored remastered
visit visited visits
sequel sequels prequel
festival
adaptation adapted
photography photographed cinematography cinematographer photographs
distribution distributed distributor
vaccine vaccines vaccination
sale sold bought
illness diagnosed diagnosis ill health
retire retired retirement
climb climbed ascent summit ascended climbers
kept hangs housed displayed hang exhibited holds
composition metallic rocky icy carbonaceous material
win wins winner winning champion championship title
voice voiced
opened opening inaugurated open opens
dissolution dissolved closed ended ends defunct disbanded ceased folded
built building construction constructed erected builder
architect designed designer design architects
engineer engineered engineering
population inhabitants residents
height tall rises elevation stands metres meters
depth deep
area covers square
capital
currency
nickname dubbed
hobby hobbies
salary earns paid
rank ranked ranking
flag colours colors
editor edited edits
narrator narrated narrates narrate narration
crossing cross crosses crossed spans span spanned bridges
transportation carries carry carried
coach coached coaches
captain captained
score scoreline result
species genus
habitat forests
diet feed feeds eats eat
lifespan live-for
"""
_STOP_WORDS = """a an the of in on at by for to from with and or is was are were be been do does
    did has have had
    what which who whom whose when where why how that this these those it its he she his her they
    their
    him them as into about than there can could would should will may might s many much name
    called also one first some any current main primary major specific exact if please tell
    give me you i am my we us our your not no date year day month century place city town number
    amount time state value following receive receives used deal deals after part body based
    what's who's large big"""
STOP = frozenset(_STOP_WORDS.split())
#: "Medicine" that is a field and no drug.
_FIELD = re.compile(
    r"\b(?:(?:branch|field|department|area|kind|part)(?:e?s)?\s+of|sleep|family|internal|emergency|"
    r"sports?|nuclear|tropical|travel|intensive\s+care|palliative|occupational|general|"
    r"addiction|preventive|reproductive|pain|rehabilitation)\s+medicine\b",
    re.I,
)
_LIVING = re.compile(
    r"\bopen(?:s|ed)?\s+for\s+business\b|"
    r"\b(?:makes?|made|making|earns?|earned)\s+(?:its|his|her|their|a)\s+(?:money|living|name)\b",
    re.I,
)
_SUFFIX = re.compile(r"(?:ations?|ings?|ers?|ors?|ments?|ions?|ed|es|s|e)$")


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return a crude stem of a lower-case word, or the name of its family."""
    word = word.removesuffix("'s")
    if word in _FAMILY:
        return _FAMILY[word]
    return _crude(word)


def _crude(word: str) -> str:
    base = word.removesuffix("'s")
    cut = _SUFFIX.sub("", base)
    if len(cut) < 4:
        cut = base
    cut = cut.rstrip("iy") or cut
    return cut[:-1] if len(cut) > 4 and cut[-1] == cut[-2] else cut


_FAMILY: dict[str, str] = {}
for _line in _FAMILIES.split("\n"):
    for _word in _line.split():
        _FAMILY.setdefault(_word, _line.split()[0])


#: The names of all families: what people commonly ask of persons, works, firms and things.
FAMILIES = frozenset(_FAMILY.values())


def settled(text: str) -> str:
    """Return ``text`` with the phrases whose words mean another aspect when read one by one."""
    return _LIVING.sub(" livelihood ", _FIELD.sub(" specialty ", text))


def stems(text: str) -> frozenset[str]:
    """Return the stems of the content words of ``text``."""
    text = settled(text)
    return frozenset(stem(w) for w in map(str.lower, _WORD.findall(text)) if w not in STOP)


@lru_cache(maxsize=16384)
def topics(text: str, wanted: frozenset[str]) -> frozenset[str]:
    """Return the stems of ``text``, and the ``wanted`` families that its phrases speak of."""
    return stems(text) | frozenset(families(_FIELD.sub(" department ", text), wanted))


_NUMBER = re.compile(
    r"\bhow\s+(?:many|much|long|far|old|tall|high|large|big|deep|wide|heavy|fast|hot|massive|"
    r"bright)\b|"
    r"\b(?:number|amount|percentage|population|mass|radius|diameter|distance|length|duration|"
    r"height|weight|"
    r"temperature|budget|box\s+office|revenue|runtime|running\s+time|magnitude|area|speed|"
    r"elevation|"
    r"(?:orbital|incubation|rotation)\s+period|income|profit|density|age)\b",
    re.I,
)
_DATE = re.compile(
    r"^\W*(?:\w+\s+){0,2}when\b|\b(?:what|which)\s+(?:\w+\s+)?(?:year|date|day|month|century|"
    r"decade)\b|"
    r"\bdate\s+of\b|\b(?:birth|death|release|publication)\s+date\b|\binception\b|"
    r"\byear\s+of\b|\bsince\s+when\b",
    re.I,
)
_PLACE = re.compile(
    r"\bwhere\b|\b(?:what|which)\s+(?:\w+\s+)?(?:city|town|country|place|village|state|"
    r"location|region|continent|county|municipality)\b|"
    r"\bplace\s+of\b|\bbirthplace\b|\bheadquarters?\s+location\b",
    re.I,
)
_PERSON = re.compile(r"\bwho(?:m|se)?\b", re.I)


@lru_cache(maxsize=8192)
def expected(question: str, hint: str = "") -> Expected:
    """Return the kind of answer that a question expects; ``hint`` is the aspect's description."""
    for text in (question, hint):
        if _DATE.search(text):
            return "date"
        if _PLACE.search(text):
            return "place"
        if _PERSON.search(text):
            return "person"
        if _NUMBER.search(text):
            return "number"
    return "any"


_KIND_WORDS: tuple[tuple[Expected, re.Pattern[str]], ...] = (
    (
        "date",
        re.compile(
            r"\b(?:when(?!\s+it\s+comes)|dates?|year|years|day|month|(?<!running\s)time\s+of|timeline|century|decade|"
            r"birthday|timing)\b",
            re.I,
        ),
    ),
    (
        "place",
        re.compile(
            r"\b(?:where|places?|location|city|town|country|village|birthplace|site|whereabouts)\b",
            re.I,
        ),
    ),
    (
        "person",
        re.compile(
            r"\b(?:who|whom|whose|publisher|author|director|founder|discoverer|composer|teacher|"
            r"owner|editor|writer|screenwriter|producer|spouse|husband|wife|ceo|chief\s+executive|"
            r"inventor|architect|engineer|designer|creator|illustrator|narrator|builder)s?\b",
            re.I,
        ),
    ),
    (
        "number",
        re.compile(
            r"\b(?:how\s+(?:many|much|long|far|big|large|old|tall|high|heavy)|number|figures?|"
            r"amount|size|count|total|percentage|numbers|value|measurement|length|quantity)\b",
            re.I,
        ),
    ),
)


def kinds_named(text: str) -> frozenset[Expected]:
    """Return the kinds of answer that a statement of ignorance names ("not sure when")."""
    return frozenset(kind for kind, pattern in _KIND_WORDS if pattern.search(text))
