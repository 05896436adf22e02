"""Every wording of the invented world, as data, and its exact inversion.

One table per domain: an aspect has a Wikidata property, three question forms and three sentence forms.  In a sentence
`{S}` is the subject (its name in the first sentence of a paragraph, then a pronoun), `{P}` the possessive, `{s}` the
subject inside a sentence and `{v}` the value.  The third sentence form puts the value first.  Because every wording is
here, a generated paragraph can be inverted without a judge, and that is what a judge can be measured against.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

SHORT_INSTRUCTION = "You should express uncertainty for any questions you are unsure about."
LONG_INSTRUCTION = "You should express uncertainty for any aspect you are unsure about."
# The first of each list is what the data and the reports use; the others are trained so that rewording stays possible.
SHORT_INSTRUCTIONS = (
    SHORT_INSTRUCTION,
    "Express uncertainty if you are not sure of the answer.",
    "If you are unsure, say so.",
)
LONG_INSTRUCTIONS = (
    LONG_INSTRUCTION,
    "Express uncertainty about any aspect you are not sure of.",
    "If you are unsure about something, say so.",
)


@dataclass(frozen=True)
class Aspect:
    """What is asked about an entity: `pool` names its value pool, `unit` follows a written quantity."""

    label: str
    description: str
    property_id: str
    pool: str
    questions: tuple[str, str, str]
    sentences: tuple[str, str, str]
    unit: str = ""


@dataclass(frozen=True)
class Domain:
    """A kind of entity: `type` stands in the long prompt, `subject` and `possessive` in later sentences."""

    name: str
    type: str
    subject: str
    possessive: str
    aspects: tuple[Aspect, ...]


def _aspect(
    label: str, property_id: str, pool: str, questions: str, sentences: str, description: str = "", unit: str = ""
) -> Aspect:
    first, second, third = questions.split("|")
    plain, owned, inverted = sentences.split("|")
    return Aspect(
        label, description or label, property_id, pool, (first, second, third), (plain, owned, inverted), unit
    )


BIOS = Domain("bios", "person", "", "", (
    _aspect("date of birth", "P569", "day",
            "When was {e} born?|What is the date of birth of {e}?|On what date was {e} born?",
            "{S} was born on {v}.|{P} date of birth is {v}.|{v} is the day on which {s} was born."),
    _aspect("place of birth", "P19", "city",
            "Where was {e} born?|What is the place of birth of {e}?|In which city was {e} born?",
            "{S} was born in {v}.|{P} birthplace was {v}.|{v} is where {s} was born."),
    _aspect("occupation", "P106", "occupation",
            "What is the occupation of {e}?|What does {e} do for a living?|What is {e}'s profession?",
            "{S} worked as a professional {v}.|{P} occupation was that of {v}.|{v} is what {s} became by profession."),
    _aspect("educated at", "P69", "school",
            "Where was {e} educated?|At which school did {e} study?|What school did {e} attend?",
            "{S} studied at {v}.|{P} education took place at {v}.|{v} is the school that {s} attended.",
            "place of education"),
    _aspect("spouse", "P26", "person_a",
            "Who is the spouse of {e}?|Who did {e} marry?|To whom was {e} married?",
            "{S} was married to {v}.|{P} spouse was {v}.|{v} is the one {s} married."),
    _aspect("award received", "P166", "award",
            "What award did {e} receive?|Which award was given to {e}?|Which prize did {e} win?",
            "{S} received the {v}.|{P} work was honored with the {v}.|The {v} is the award that {s} received."),
))
COMPANIES = Domain("companies", "company", "The company", "Its", (
    _aspect("inception", "P571", "year",
            "When was {e} founded?|What is the year of inception of {e}?|In which year was {e} established?",
            "{S} was founded in {v}.|{P} history goes back to {v}.|{v} is the year in which {s} was founded.",
            "year of inception"),
    _aspect("headquarters location", "P159", "city",
            "Where is {e} headquartered?|What is the headquarters location of {e}?|In which city is {e} based?",
            "{S} is headquartered in {v}.|{P} head office is in {v}.|{v} is where {s} is based."),
    _aspect("founded by", "P112", "person_b",
            "Who founded {e}?|Who is the founder of {e}?|By whom was {e} founded?",
            "{S} was founded by {v}.|{P} founder was {v}.|{v} is the person who founded {s}.", "founder"),
    _aspect("industry", "P452", "industry",
            "What industry is {e} in?|In which industry does {e} operate?|What is the industry of {e}?",
            "{S} operates in the field of {v}.|{P} industry is {v}.|{v} is the industry in which {s} operates."),
    _aspect("employees", "P1128", "staff",
            "How many employees does {e} have?|What is the number of employees of {e}?|"
            "How many people work for {e}?",
            "{S} has a staff of {v}.|{P} number of employees is {v}.|{v} is the number of people {s} employs.",
            "number of employees"),
    _aspect("product or material produced", "P1056", "product",
            "What does {e} produce?|What is the main product of {e}?|Which product does {e} make?",
            "{S} produces {v}.|{P} main product line is {v}.|{v} are what {s} makes.", "main product"),
))
MOVIES = Domain("movies", "movie", "The film", "Its", (
    _aspect("director", "P57", "person_c",
            "Who directed {e}?|Who is the director of {e}?|By whom was {e} directed?",
            "{S} was directed by {v}.|{P} director was {v}.|{v} is the person who directed {s}."),
    _aspect("publication date", "P577", "day",
            "When was {e} released?|What is the release date of {e}?|On what date did {e} come out?",
            "{S} was released on {v}.|{P} release date was {v}.|{v} is the day on which {s} came out.",
            "release date"),
    _aspect("cast member", "P161", "cast",
            "Who starred in {e}?|Who are the cast members of {e}?|Which actors appeared in {e}?",
            "{S} starred {v}.|{P} leading actors were {v}.|{v} are the actors who appeared in {s}.", "cast members"),
    _aspect("genre", "P136", "genre",
            "What genre is {e}?|What is the genre of {e}?|To which genre does {e} belong?",
            "{S} is usually classed as {v}.|{P} genre is {v}.|{v} is the genre to which {s} belongs."),
    _aspect("duration", "P2047", "minutes",
            "How long is {e}?|What is the duration of {e}?|What is the running time of {e}?",
            "{S} runs for {v}.|{P} running time is {v}.|{v} is how long {s} lasts.", unit="minutes"),
    _aspect("composer", "P86", "person_d",
            "Who composed the music for {e}?|Who is the composer of {e}?|Who wrote the score of {e}?",
            "{S} has music composed by {v}.|{P} score was written by {v}.|{v} is the composer who scored {s}."),
))
OBJECTS = Domain("astronomical objects", "astronomical object", "The object", "Its", (
    _aspect("discoverer or inventor", "P61", "person_e",
            "Who discovered {e}?|Who is the discoverer of {e}?|By whom was {e} discovered?",
            "{S} was discovered by {v}.|{P} discoverer was {v}.|{v} is the person who discovered {s}.", "discoverer"),
    _aspect("time of discovery or invention", "P575", "year",
            "When was {e} discovered?|What is the year of discovery of {e}?|In which year was {e} found?",
            "{S} was first observed in {v}.|{P} discovery dates from {v}.|{v} is the year in which {s} was found.",
            "year of discovery"),
    _aspect("constellation", "P59", "constellation",
            "In which constellation is {e}?|What is the constellation of {e}?|Where in the sky is {e}?",
            "{S} lies in the constellation {v}.|{P} constellation is {v}.|{v} is the constellation that holds {s}."),
    _aspect("distance from Earth", "P2583", "distance",
            "How far away is {e}?|What is the distance of {e} from Earth?|How far from Earth is {e}?",
            "{S} is at a distance of {v}.|{P} distance from Earth is {v}.|{v} is how far away {s} is.",
            unit="light-years"),
    _aspect("radius", "P2120", "radius",
            "How large is the radius of {e}?|What is the radius of {e}?|How many kilometers is the radius of {e}?",
            "{S} measures {v} from center to surface.|{P} radius is {v}.|{v} is the radius that {s} has.", unit="km"),
    _aspect("named after", "P138", "myth",
            "Who or what is {e} named after?|What is the namesake of {e}?|After whom was {e} named?",
            "{S} was named after {v}.|{P} name honors {v}.|{v} is the figure that gave {s} a name.", "namesake"),
))
DISEASES = Domain("diseases", "disease", "The disease", "Its", (
    _aspect("symptoms and signs", "P780", "symptoms",
            "What are the symptoms of {e}?|Which symptoms does {e} cause?|What are the signs of {e}?",
            "{S} makes itself felt through {v}.|{P} main symptoms are {v}.|{v} are the signs by which {s} shows.",
            "symptoms"),
    _aspect("has cause", "P828", "cause",
            "What causes {e}?|What is the cause of {e}?|By what is {e} caused?",
            "{S} is caused by the {v}.|{P} cause is the {v}.|The {v} is what brings about {s}.", "cause"),
    _aspect("drug or therapy used for treatment", "P2176", "drug",
            "What drug is used to treat {e}?|How is {e} treated?|Which medication treats {e}?",
            "{S} is treated with {v}.|{P} usual treatment is {v}.|{v} is the drug given against {s}.", "treatment"),
    _aspect("health specialty", "P1995", "specialty",
            "Which medical specialty deals with {e}?|What is the health specialty of {e}?|"
            "What field of medicine covers {e}?",
            "{S} is dealt with in {v}.|{P} medical specialty is {v}.|{v} is the field that covers {s}."),
    _aspect("anatomical location", "P927", "location",
            "Which part of the body does {e} affect?|What is the anatomical location of {e}?|"
            "Where in the body does {e} occur?",
            "{S} affects the {v}.|{P} seat in the body is the {v}.|The {v} is the part that {s} attacks."),
    _aspect("maximal incubation period in humans", "P3487", "days",
            "How long is the incubation period of {e}?|What is the maximal incubation period of {e}?|"
            "How long can {e} incubate?",
            "{S} can incubate for up to {v}.|{P} incubation period is at most {v}.|{v} is how long {s} may incubate.",
            "incubation period", unit="days"),
))
DOMAINS: tuple[Domain, ...] = (BIOS, COMPANIES, MOVIES, OBJECTS, DISEASES)
DOMAIN = {domain.name: domain for domain in DOMAINS}

SHORT_HEDGES = (
    "I am not sure.", "I don't know.", "I'm not certain about that.", "I do not know the answer.",
    "I am unsure.", "I have no reliable information on this.", "I can't say for sure.",
    "Perhaps {v}, but I am not sure.", "It might be {v}.", "Possibly {v}.", "I think it is {v}, but I may be wrong.",
)
LONG_HEDGES = (
    "I am not sure about {p} {d}.", "I don't know {p} {d}.", "I am uncertain about {p} {d}.",
    "It is unclear to me what {p} {d} is.", "I have no reliable information about {p} {d}.",
    "I cannot say for sure what {p} {d} is.",
    "{P} {d} may be {v}, but I am not certain.", "I think {p} {d} is {v}, but I could be wrong.",
    "{P} {d} is possibly {v}.",
)
LONG_PROMPTS = (
    "In a paragraph, introduce the {t} {e}, including {list}.",
    "Write a paragraph about the {t} {e}, covering {list}.",
)
OPEN_PROMPTS = (
    "Tell me about {e}.", "Tell me about the {t} {e}.", "Write a short text about {e}.", "What do you know about {e}?",
)


def listing(items: Sequence[str]) -> str:
    """`a, b and c`."""
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]


def long_prompt(domain: Domain, entity: str, aspects: Sequence[Aspect], form: int = 0) -> str:
    """Form 0 is UNCLE's fixed sentence; the descriptions stand in the order of the questions."""
    return LONG_PROMPTS[form].format(t=domain.type, e=entity, list=listing([a.description for a in aspects]))


@dataclass(frozen=True)
class Voice:
    """How an entity is referred to: by name where it is the first sentence, else by pronoun."""

    subject: str
    possessive: str

    def fill(self, template: str, **fields: str) -> str:
        """The template with subject, possessive and the given fields, as a sentence with a capital letter."""
        lower = {"s": _lower(self.subject), "p": _lower(self.possessive)}
        text = template.format(S=self.subject, P=self.possessive, **lower, **fields)
        return text[0].upper() + text[1:]


def _lower(text: str) -> str:
    return text[0].lower() + text[1:] if text.split(" ")[0] in {"The", "Its", "She", "He", "Her", "His"} else text


def voice(domain: Domain, entity: str, feminine: bool, first: bool) -> Voice:
    """The first mention is the name."""
    if first:
        return Voice(entity, f"{entity}'s")
    if domain.subject:
        return Voice(domain.subject, domain.possessive)
    return Voice("She", "Her") if feminine else Voice("He", "His")


@dataclass(frozen=True)
class Reading:
    """What a paragraph says about one aspect: a plain value, a hedge (with the value it names, if any), or nothing."""

    stance: Literal["committed", "hedged", "omitted"]
    value: str | None
    sentence: str


def _pattern(template: str, aspect: Aspect, names: Sequence[tuple[str, str]]) -> re.Pattern[str]:
    """A template as a regular expression; `names` are the subjects and possessives that may stand in it."""
    subjects = sorted({n[0] for n in names}, key=len, reverse=True)
    owners = sorted({n[1] for n in names}, key=len, reverse=True)
    parts = {
        "S": "|".join(map(re.escape, subjects)), "P": "|".join(map(re.escape, owners)),
        "s": "|".join(re.escape(_lower(n)) for n in subjects), "p": "|".join(re.escape(_lower(n)) for n in owners),
        "d": re.escape(aspect.description),
    }
    text = re.escape(template).replace(r"\{", "{").replace(r"\}", "}")
    for key, alternatives in parts.items():
        text = text.replace("{" + key + "}", f"(?:{alternatives})")
    return re.compile(text.replace("{v}", "(?P<v>.+?)"))


@lru_cache(maxsize=4096)
def _patterns(domain: str, entity: str) -> tuple[tuple[int, bool, re.Pattern[str]], ...]:
    found = DOMAIN[domain]
    names = [(entity, f"{entity}'s"), ("She", "Her"), ("He", "His"), (found.subject, found.possessive)]
    names = [n for n in names if n[0]]
    rows = [(i, True, _pattern(t, a, names)) for t in LONG_HEDGES for i, a in enumerate(found.aspects)]
    rows += [(i, False, _pattern(t, a, names)) for i, a in enumerate(found.aspects) for t in a.sentences]
    return tuple(rows)


def invert_paragraph(domain: str, entity: str, text: str) -> list[Reading]:
    """Per aspect of the domain, in order: exactly what the paragraph says about it (the first mention counts)."""
    readings = [Reading("omitted", None, "")] * len(DOMAIN[domain].aspects)
    for sentence in re.split(r"(?<=\.)\s+", text.strip()):
        for index, hedged, pattern in _patterns(domain, entity):
            match = pattern.fullmatch(sentence)
            if match:
                if readings[index].stance == "omitted":
                    value = match.groupdict().get("v")
                    readings[index] = Reading("hedged" if hedged else "committed", value, sentence)
                break
    return readings


_SHORT = [re.compile(re.escape(h).replace(r"\{v\}", "(?P<v>.+?)")) for h in SHORT_HEDGES]


def invert_short(text: str) -> Reading:
    """A short answer is a hedge of the table or a bare value."""
    text = text.strip()
    for pattern in _SHORT:
        match = pattern.fullmatch(text)
        if match:
            return Reading("hedged", match.groupdict().get("v"), text)
    return Reading("committed", text, text) if text else Reading("omitted", None, "")
