"""Short answers made from cues, values and places: how sure a text is does not depend on its value.

A text of real models teaches which words voice doubt, but also which values happen to stand beside
them: hedges before full dates are rare, and were read as assertions. Here every cue meets every
kind of value, before it, within its sentence, behind it and in a sentence of its own, and there are
as many firm texts as hedged ones. The reader of stance learns from them
(``stance.py``); ``benchmarks/readers/doubt.py`` measures how often it sees the same doubt beside
each kind of value.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple


class MadeText(NamedTuple):
    """A short answer to a question, with the stance that follows from how it was made."""

    question: str
    gold: str
    text: str
    stance: str
    kind: str
    place: str


#: kind of value -> question, the sentence that states a value, that sentence without a subject to
#: put a cue into, values
VALUES: dict[str, tuple[tuple[str, str, str, tuple[str, ...]], ...]] = {
    "place": (
        ("Where was {n} born?", "{s} was born in {v}.", "{s} was{m} born in {v}.",
         ("Lindau", "Vigo, Spain", "the village of Ask", "New Harrow", "Tarn")),
        ("Where is the head office of {n}?", "The head office is in {v}.",
         "The head office is{m} in {v}.", ("Port Anselm", "Oslo, Norway", "Graz", "St. Ives")),
        ("Which river flows through {n}?", "The river is the {v}.", "The river is{m} the {v}.",
         ("Ommerlin", "Upper Tarn", "Vessel")),
    ),
    "person": (
        ("Who designed {n}?", "{v} designed it.", "It was{m} designed by {v}.",
         ("Nora Quill", "Petra Vann and Otto Lind", "Ivo Marsh, Sr.", "J. R. Hale")),
        ("Who was the mother of {n}?", "Her mother was {v}.", "Her mother was{m} {v}.",
         ("Maria Skaalen", "Countess Ilse of Bern", "Anna Louisa de Vries")),
    ),
    "year": (
        ("In what year was {n} founded?", "{s} was founded in {v}.", "{s} was{m} founded in {v}.",
         ("1871", "1911", "2004", "1799", "846")),
        ("When did {n} end?", "It ended in {v}.", "It{m} ended in {v}.",
         ("1648", "1958", "the 1920s")),
    ),
    "date": (
        ("When was {n} born?", "{s} was born on {v}.", "{s} was{m} born on {v}.",
         ("December 21, 1911", "21 December 1911", "the 21st of December, 1911", "4 June 1802")),
        ("On what date did {n} open?", "It opened on {v}.", "It{m} opened on {v}.",
         ("August 2, 1944", "2 August 1944", "2019-08-02", "July 1977", "10/11/1987")),
    ),
    "quantity": (
        ("How many people live in {n}?", "{n} has {v} inhabitants.", "{n}{m} has {v} inhabitants.",
         ("18,250", "about 900", "3 million", "twelve")),
        ("How heavy is {n}?", "It weighs {v}.", "It{m} weighs {v}.",
         ("3.2 kg", "5,109 pounds", "some 40 tons")),
        ("What share of {n} is water?", "The share is {v}.", "The share is{m} {v}.",
         ("2.61 %", "70 percent", "a third")),
    ),
    "list": (
        ("Which countries border {n}?", "It borders {v}.", "It{m} borders {v}.",
         ("Spain, France, and Andorra", "Austria and Hungary", "Chad, Niger, Mali and Togo")),
        ("Which prizes did {n} win?", "{s} won {v}.", "{s}{m} won {v}.",
         ("the Lumen Medal and the Orm Prize", "a silver medal, a cup and a scholarship")),
    ),
    "thing": (
        ("What was the occupation of {n}?", "{s} was {v}.", "{s} was{m} {v}.",
         ("a weaver", "a painter and teacher", "a sea captain", "an engineer")),
        ("What is {n} made of?", "It is made of {v}.", "It is{m} made of {v}.",
         ("oak", "iron and glass", "red brick", "limestone")),
        ("What sport does {n} play?", "{s} plays {v}.", "{s}{m} plays {v}.",
         ("football", "ice hockey", "table tennis")),
    ),
    "title": (
        ("What is the best-known work of {n}?", "The work is {v}.", "The work is{m} {v}.",
         ('"The Salt Heiress"', '"A Child Shall Lead," a novel', "The Night Ferry", '"1911"')),
        ("Which university did {n} attend?", "{s} attended {v}.", "{s}{m} attended {v}.",
         ("the University of Illinois at Urbana–Champaign",
         "Islamia College of Science and Commerce",
          "Harrow Polytechnic")),
    ),
}  # fmt: skip

NAMES = (
    ("Ada Holm", "She"), ("Ilmar Oss", "He"), ("the Tollgrave Bridge", "It"), ("Brackwater", "It"),
    ("Raissa Tamm", "She"), ("the Meridian Lamp Company", "It"), ("Silas Orr", "He"),
    ("the Orm War", "It"), ("Velmoria", "It"), ("Kacey Lunt", "She"),
)  # fmt: skip

#: ``{answer}`` is a whole sentence without its full stop, or the value alone
HEDGED_BEFORE = (
    "Maybe {a}.", "Perhaps {a}.", "Possibly {a}.", "Probably {a}.", "I think {a}.",
    "I believe {a}.",
    "I guess {a}.", "I would guess that {a}.", "My guess is that {a}.", "I suspect that {a}.",
    "I'm not sure, but {a}.", "I'm not entirely certain, but I think {a}.",
    "I'm not at all confident, but {a}.", "I'm very unsure about this, but {a}.",
    "It's possible that {a}.", "It is likely that {a}.", "It seems that {a}.",
    "It appears that {a}.", "It might be that {a}.", "It may be that {a}.", "It could be that {a}.",
    "There's a chance that {a}.", "There's a good chance {a}.", "As far as I know, {a}.",
    "As far as I can tell, {a}.", "If I recall correctly, {a}.", "If I remember right, {a}.",
    "If my information is correct, {a}.", "If I'm not mistaken, {a}.", "To my knowledge, {a}.",
    "From what little I can gather, {a}.", "From what I understand, {a}.",
    "I honestly have no idea, but I'll say {a}.", "I don't know for sure, but {a}.",
    "It's a total guess on my part, but {a}.", "It's a long shot, but {a}.",
    "I'm just throwing this out there, but {a}.", "I could be wrong, but {a}.",
    "I may be mistaken, but {a}.", "Don't quote me on this, but {a}.", "My best guess: {a}.",
    "With significant doubt, I might say {a}.", "I vaguely recall that {a}.",
    "I have a feeling that {a}.", "My initial thought is that {a}.", "I'm fairly sure that {a}.",
    "I'm pretty sure {a}.", "I'm reasonably confident that {a}.", "I'm leaning towards {a}.",
    "It's plausible that {a}.", "Apparently, {a}.", "Presumably {a}.", "Supposedly {a}.",
    "Reportedly, {a}.", "Some sources say that {a}.", "It is thought that {a}.",
    "It is said that {a}.", "I would say {a}, though with little confidence.", "Well, perhaps {a}.",
    "Off the top of my head, {a}.", "Hmm, I want to say {a}.", "I can't say for certain, but {a}.",
    "I'm not certain about this; {a}, I think.", "This is uncertain, but {a}.",
    "I do not have exact data, but {a}, perhaps.", "Not sure, {a}?", "{a}?", "Was it that {a}?",
)  # fmt: skip
#: into the place of ``{m}``
HEDGED_WITHIN = (
    " probably", " possibly", " perhaps", " likely", " most likely", " apparently", " reportedly",
    " presumably", " supposedly", ", I think,", ", I believe,", ", as far as I know,",
    ", if I recall correctly,", " maybe", ", if I'm not mistaken,", " quite possibly",
    ", to the best of my knowledge,", " allegedly", ", I would guess,", " potentially",
)  # fmt: skip
#: behind a text without its full stop
HEDGED_BEHIND = (
    ", I think.", ", I believe.", ", I guess.", ", perhaps.", ", maybe.", ", possibly.",
    ", probably.", ", but I'm not sure.", ", but I am not certain.", ", though I could be wrong.",
    ", but I wouldn't stake much on it.", ", if I remember correctly.", ", as far as I know.",
    " (not sure).", " (uncertain).", " (I think).", ", or so I've read.",
    ", although I have doubts.",
    ", but don't quote me.", ", but that's just a guess.", ", but this may not be accurate.",
    " rings a bell, but I'm not sure.", ", though I can't confirm that.", "? I'm not sure.",
    ", but I'd double-check that.", ", but I'm not completely sure about it.",
)  # fmt: skip
#: a sentence of its own
HEDGED_APART = (
    "I'm not sure, though.", "But I am not certain.",
    "However, there is some uncertainty about this.",
    "However, I could be mistaken.", "Please verify.", "Please verify this with a reliable source.",
    "Note: I am not certain.", "But this is only a guess.", "I might be wrong.",
    "Take this with a grain of salt.", "I am not completely confident in this answer.",
    "However, this is not certain.", "However, I am unsure whether this is right.",
    "Confidence: low.", "There is some doubt about this, however.", "I can't be sure.",
    "I would recommend checking this, as I may be wrong.", "But don't quote me on that.",
    "My confidence in this is low.", "I'd say about 60% sure.",
)  # fmt: skip
FIRM_BEFORE = (
    "{a}.", "Certainly, {a}.", "Indeed, {a}.", "In fact, {a}.", "I am sure that {a}.",
    "I know that {a}.", "Without a doubt, {a}.", "The answer is: {a}.", "Of course, {a}.",
    "It is well known that {a}.", "According to official records, {a}.", "Sure! {a}.",
    "It is a fact that {a}.", "There is no doubt that {a}.", "I can confirm that {a}.",
    "As of my last update, {a}.", "Historically, {a}.", "According to the census, {a}.",
    "I am 100% certain that {a}.", "Answer: {a}.", "Yes, {a}.",
    "There's no question about it—{a}.", "Beyond question, {a}.", "All sources agree that {a}.",
    "Nobody doubts that {a}.", "It is beyond doubt that {a}.",
)  # fmt: skip
FIRM_WITHIN = ("", " indeed", " certainly", " actually", " definitely", " famously", " originally")
FIRM_BEHIND = (
    ".", ", without a doubt.", ", of course.", ", according to official records.", " (confirmed).",
    ", as is well known.", ", and I am sure of it.", ", and nobody disputes it.",
)  # fmt: skip
FIRM_APART = (
    "I am sure of it.", "This is well documented.", "It is a popular destination.",
    "Let me know if you need more details.", "That is certain.", "I hope this helps!",
    "There is no doubt about it.", "Many people visit every year.", "This is confirmed.",
)  # fmt: skip

#: the thing asked for is itself said to be unknown or in doubt: nothing is claimed
DOUBTED = (
    "{t} is uncertain.", "{t} is unknown.", "{t} is unclear.", "{t} is not known.",
    "{t} is disputed.", "{t} is not certain.", "{t} remains a mystery.", "{t} is undetermined.",
    "{t} is a matter of debate.", "{t} is not definitively known.", "{t} has not been confirmed.",
    "There is some uncertainty about {l}.", "It is uncertain what {l} is.",
    "There is no reliable information about {l}.", "No one knows {l}.", "{t} is not recorded.",
    "{t} is not publicly known.", "I have no reliable information about {l}.",
)  # fmt: skip
#: the thing asked for, as a phrase
ASKED_FOR = {
    "place": ("the birthplace of {n}", "Where was {n} born?", "Lindau"),
    "person": ("the designer of {n}", "Who designed {n}?", "Nora Quill"),
    "year": ("the founding year of {n}", "In what year was {n} founded?", "1871"),
    "date": ("the opening date of {n}", "On what date did {n} open?", "August 2, 1944"),
    "quantity": ("the population of {n}", "How many people live in {n}?", "18,250"),
    "thing": ("the occupation of {n}", "What was the occupation of {n}?", "a weaver"),
    "title": ("the best-known work of {n}", "What is the best-known work of {n}?",
    "The Night Ferry"),
    "list": ("the official languages of {n}", "What are the official languages of {n}?",
    "Low Ostric"),
}  # fmt: skip
#: doubt, and then what is accepted all the same
DOUBTED_YET = (
    "{t} is not known for certain, but it is widely accepted that {a}.",
    "{t} is disputed, though most people believe that {a}.",
    "There is some uncertainty about {l}, but it may be that {a}.",
    "{t} is unclear; it is possibly {v}.", "{t} is not certain. It might be {v}.",
)  # fmt: skip

PLACES = ("before", "within", "behind", "apart")


def _lowered(sentence: str) -> str:
    """Return a sentence as it goes on behind a cue: no full stop, its pronoun in lower case."""
    first, _, rest = sentence.removesuffix(".").partition(" ")
    return (
        f"{first.lower()} {rest}"
        if first in ("She", "He", "It", "Her", "The")
        else f"{first} {rest}"
    )


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def said(kind: str, place: str, cue: str, rng: random.Random) -> tuple[str, str, str]:
    """Return (question, value, text): a cue at a place beside a value of a kind."""
    question, whole, within, values = rng.choice(VALUES[kind])
    name, subject = rng.choice(NAMES)
    value = rng.choice(values)
    sentence = whole.format(n=name, s=subject, v=value)
    bare = rng.random() < 0.4
    if place == "within":
        text = within.format(n=name, s=subject, v=value, m=cue)
    elif place == "before":
        text = cue.format(a=value if bare else _lowered(sentence))
    elif place == "behind":
        text = f"{value if bare else sentence.removesuffix('.')}{cue}"
    else:
        text = f"{value}. {cue}" if bare else f"{sentence} {cue}"
    return question.format(n=name), value, _upper(text).replace("..", ".")


CUES = {
    "hedged": dict(zip(PLACES, (HEDGED_BEFORE, HEDGED_WITHIN, HEDGED_BEHIND, HEDGED_APART),
    strict=True)),
    "committed": dict(zip(PLACES, (FIRM_BEFORE, FIRM_WITHIN, FIRM_BEHIND, FIRM_APART),
    strict=True)),
}  # fmt: skip


def _framed(text: str, rng: random.Random) -> str:
    """Return a text in one of the manners of assistants: most often as it is."""
    return rng.choice(
        (*["{t}"] * 9, "**{t}**", "**Answer:** {t}", "- {t}", '{{"answer": "{q}"}}', "Answer: {t}")
    ).format(t=text, q=text.replace('"', "'"))


def made_texts(seed: int = 0, times: int = 1) -> Iterator[MadeText]:
    """Yield every cue with every kind of value, ``times`` each, and doubt as a predicate."""
    rng = random.Random(seed)
    for stance, places in CUES.items():
        for place, cues in places.items():
            # as many firm texts as hedged ones
            again = times if stance == "hedged" else times * len(CUES["hedged"][place]) // len(cues)
            for cue in cues:
                for kind in VALUES:
                    for _ in range(again):
                        question, value, text = said(kind, place, cue, rng)
                        yield MadeText(question, value, _framed(text, rng), stance, kind, place)
    for kind, (thing, question, value) in ASKED_FOR.items():
        for cue in DOUBTED:
            name, _ = rng.choice(NAMES)
            phrase = thing.format(n=name)
            text = cue.format(t=_upper(phrase), l=phrase)
            yield MadeText(question.format(n=name), value, text, "abstained", kind, "predicate")
        for cue in DOUBTED_YET:
            name, _ = rng.choice(NAMES)
            phrase = thing.format(n=name)
            sentence = f"{'it' if kind != 'person' else 'that'} is {value}"
            text = cue.format(t=_upper(phrase), l=phrase, a=sentence, v=value)
            yield MadeText(question.format(n=name), value, text, "hedged", kind, "predicate")
