"""Do two answers to one question contradict each other, or say the same? Offline, or by a model.

Offline, the sentence that answers is looked for in both: one with a value of the kind asked for,
whose odds of speaking of the question (a small learned model) are best. Its value is read: a date,
a number, names, yes or no, an option that the question offers, else the words that are new to the
question. There is no entailment. A coarser date, a longer name, a list that holds the other answer
and any addition are no contradiction; an answer without a value has nothing that could contradict,
and none that agrees.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from sayso.engines.engine import Engine
from sayso.judges.english.dates import Date, agree, find_dates
from sayso.judges.english.families import PLACE, keys, meanings, slip
from sayso.judges.english.language import is_english
from sayso.judges.english.lexicon import (
    alternatives,
    lexicon_groups,
    lexicon_rows,
    lexicon_words,
)
from sayso.judges.english.numbers import MONTH_NAMES
from sayso.judges.english.other_languages import silent_elsewhere
from sayso.judges.english.quantities import (
    FRACTION,
    WrittenQuantity,
    find_amounts,
    find_quantities,
    ordinal,
    same_amount,
)
from sayso.judges.english.questions import Expected, asks_for_a_name, expected
from sayso.judges.english.sentences import split_sentences
from sayso.judges.english.tokens import STOP, Token, fold, tokens
from sayso.judges.english.wrapping import unwrapped
from sayso.judges.judge import WITHHELD
from sayso.judges.model.numbered import JudgeTask, NumberedReader, numbered_blocks
from sayso.judges.patterns import regex
from sayso.judges.rules.judge import judge_rules
from sayso.judges.rules.names import GENERATIONS, PARTICLES, compare_names
from sayso.judges.rules.polarity import polarity
from sayso.judges.rules.reading import holds_cue
from sayso.prompts.fence import Field

#: Characters of one text that are read.
_LONGEST = 4000

#: Two answers as readings of one question: their values are the same, exclude each other, or are
#: neither ("open": one says more, or something else); ``None`` where one has no value.
Relation = Literal["same", "apart", "open"]


def contradicts(question: str, a: str, b: str) -> bool | None:
    """Return whether answers ``a`` and ``b`` to ``question`` cannot both be right.

    ``None`` where one is missing: it is empty, refuses, does not know, evades, speaks of something
    else, or is not English. Symmetric; never raises. Neutral answers (one says more, or something
    else of the same thing) are ``False``. Thoughts ("<think>...</think>") are no part of an answer,
    and an answer in JSON is its value.

    Only the first 4,000 characters of the question and of each answer are read.

    Limits: no world knowledge, so two names of one thing that share no word, initials or listed
    short form count as different; of explanations only the words are compared.
    """
    relation = relate(question, a, b)
    return None if relation is None else relation == "apart"


def answers(question: str, answer: str) -> bool:
    """Return whether an answer gives a value; in another language any text but a set phrase does.

    Its first 4,000 characters are read, without thoughts.
    """
    text = _said(answer)
    if not is_english(text):
        return not silent_elsewhere(text)
    return read_short_answer(question[:_LONGEST], text) is not None


def relate(question: str, a: str, b: str) -> Relation | None:
    """Return how the values of two answers relate, ``None`` where one has none."""
    if not (isinstance(question, str) and isinstance(a, str) and isinstance(b, str)):
        return None
    return _relate(question[:_LONGEST], *sorted((_said(a), _said(b))))


@lru_cache(maxsize=1024)
def _said(answer: str) -> str:
    return unwrapped(answer).split.text.strip()[:_LONGEST]


@lru_cache(maxsize=16384)
def _relate(question: str, a: str, b: str) -> Relation | None:
    one, two = read_short_answer(question, a), read_short_answer(question, b)
    if one is None or two is None:
        return None
    if a.casefold() == b.casefold():
        return "same"
    kind = question_kind(question)
    if kind == "yes_no":
        return "same" if _affirms(question, one) == _affirms(question, two) else "apart"
    return _by_denial(one, two, _by_value(question, kind, one, two))


def _by_value(
    question: str, kind: Kind, one: AnsweringSentence, two: AnsweringSentence
) -> Relation:
    if kind == "choice":
        options = (chosen_option(question, one), chosen_option(question, two))
        if all(options):
            return "same" if options[0] == options[1] else "apart"
    measured = kind in ("any", "choice") and one.only_values and two.only_values
    relation = _by_dates(one, two) if measured or kind == "when" else None
    if relation is None and (measured or kind == "count"):
        relation = _by_numbers(one, two)
    if relation is not None:
        return relation
    if bool(one.names) != bool(two.names) and (one.of_a_kind or two.of_a_kind):
        return "open"  # "in a library" and "in Oslo"
    # many words and no name: two such may both be right
    explains = (len(x.new) > _SHORT and not (x.bare or x.names) for x in (one, two))
    if kind == "any" and all(explains):
        return "same" if _by_words(one, two) == "same" else "open"
    return _by_names(one, two) or _by_words(one, two)


# ---- what a question asks for

Kind = Literal["when", "count", "yes_no", "choice", "who", "where", "any"]

_KINDS: dict[Expected, Kind] = {
    "date": "when", "place": "where", "person": "who", "number": "any", "any": "any",
}  # fmt: skip
_COUNT = regex(
    rf"\bhow\s+(?:{alternatives(lexicon_words('measures', 'contradiction.how'))})\b|"
    r"\b(?:what|which)(?:['’]s|\s+(?:is|was|are|were))?\s+(?:the\s+)?(?:\w+\s+){0,2}"
    rf"(?:{alternatives(lexicon_words('measures', 'contradiction.number'))})\b",
    re.I,
)
_YES_NO = regex(
    r"^\W*(?:(?:and|but|so|then)\s+)?"
    rf"(?:{alternatives(lexicon_words('auxiliaries', 'contradiction'))})(?:n't)?\b",
    re.I,
)
_ASKING = regex(rf"\b(?:{alternatives(lexicon_words('questions', 'contradiction'))})\b", re.I)
_OR = regex(r"(?<!['’])\bor\b")
#: "in which city, town or village", "who or what": names for one thing, not a choice
_NO_CHOICE = regex(
    r"\([a-z\s-]+\sor\s[a-z\s-]+\)|\b(?:which|what|whose)\s(?:[a-z-]+\sof\s)?(?:[a-z-]+,\s){0,4}"
    rf"(?!(?:{alternatives(lexicon_words('auxiliaries', 'contradiction'))})\b)[a-z-]+,?\sor\s"
    r"(?:(?:(?:at|by|for|from|in|of|on|to|under|with)\s)?(?:which|what)\s)?[a-z-]+\b(?!\s*\?)|"
    r"\b(?:who|whom|what|where|when|how)\sor\s(?:(?:at|by|from|in|on)\s)?"
    r"(?:who|whom|what|where|when|which|how)\b"
)
_CAPITAL = regex(r"\bcapital\s+(?:city\s+)?of\b", re.I)


@lru_cache(maxsize=1024)
def question_kind(question: str) -> Kind:
    """Read from the question's form what its answers must agree on."""
    if _OR.search(_NO_CHOICE.sub("", question[:1].lower() + question[1:])):
        return "choice"
    if _YES_NO.match(question):
        return "yes_no"
    asks = list(_ASKING.finditer(question))
    head = question[: asks[1].start()] if len(asks) > 1 else question  # "Who ruled when it fell?"
    kind: Kind = "where" if _CAPITAL.search(head) else _KINDS[expected(head)]
    return "count" if kind == "any" and _COUNT.search(head) else kind


# ---- what an answer says that its question does not


_PLACE = regex(r"\b(?:in|at|on|near|from|by)\s(?:an?\s|the\s)((?:[a-z-]{2,20}\s){0,3}[a-z-]{3,20})")


class AnsweringSentence(msgspec.Struct, frozen=True, dict=True):
    """The sentence of an answer that answers: its words, those new to the question, its values.

    ``bare``: it is little more than its value. ``alone``: the answer says nothing else. It is
    compared with many others, so what all comparisons ask of it is found once.
    """

    whole: str
    text: str
    items: tuple[Token, ...]
    new: tuple[Token, ...]
    names: tuple[str, ...]
    dates: tuple[Date, ...]
    numbers: tuple[WrittenQuantity, ...]
    bare: bool
    alone: bool

    def value(self, kind: Kind) -> Sequence[object]:
        """Return what can answer a question of this kind."""
        if kind == "when":
            return self.dates
        if kind == "count":
            return self.numbers
        if kind == "where":
            starts = [t.start for t in self.new]
            places = [n for n in self.names if PLACE.get(fold(n), fold(n)) == fold(n)]
            return places or [
                hit
                for hit in _PLACE.finditer(self.text)
                if any(hit.start(1) <= start < hit.end(1) for start in starts)
            ]
        return self.names if kind == "who" else self.new

    @cached_property
    def only_values(self) -> bool:
        """Whether it is little more than a date or a number."""
        plain = [t for t in self.new if not t.number and t.text not in _AROUND]
        return len(plain) <= 1 and bool(self.dates or self.numbers)

    @cached_property
    def of_a_kind(self) -> bool:
        """Whether it gives a kind of thing in the stead of a name: "in a library"."""
        return _A_KIND.match(self.text) is not None

    @cached_property
    def denies(self) -> bool:
        """Whether it only says what it was not."""
        if len(self.items) > 3 * _SHORT:
            return False
        text = _FLAT_NO.sub("", self.text)  # "No, she was born in Granada"
        return bool(_DENIED.search(text)) and not _STILL.search(text)

    @cached_property
    def forms(self) -> tuple[frozenset[str | int], ...]:
        """What each of its first new words is looked up by; words that share something are one."""
        return tuple(map(_forms, self.new[:_LONGEST_VALUE]))

    @cached_property
    def every_form(self) -> frozenset[str | int]:
        """What any of its first new words is looked up by."""
        return frozenset[str | int]().union(*self.forms)

    @cached_property
    def by_letter(self) -> Mapping[str, Sequence[str]]:
        """Its first new words by their first letters."""
        found: dict[str, list[str]] = {}
        for word in self.new[:_LONGEST_VALUE]:
            found.setdefault(word.text[0], []).append(word.text)
        return found


#: A short answer is all value.
_SHORT = 6
#: Characters of a sentence that say something by themselves before it turns to talk.
_SAID = 40
#: "It might be Paris, but [I am not sure]": a clause that ends before the talk says something too.
_CLAUSE = regex(r"\w[,;]\s(?:but\s|though\s|although\s)?$", re.I)
#: Who rambles has answered by then, or does not answer.
_SENTENCES = 8
_FRAME = lexicon_words("talk", "contradiction")
_PRONOUNS = lexicon_words("pronouns", "contradiction")
#: words before the subject of a sentence
_NO_SUBJECT = _FRAME - _PRONOUNS
_POINTS = lexicon_words("pronouns", "contradiction.points")
_DOUBTS = lexicon_words("talk", "contradiction.doubts")
#: So many stand one behind the other.
_OPENERS = 2
#: "I think it is Oslo", "It is likely that it is Oslo" say Oslo, "I am happy to help" nothing.
_OPENER = regex(
    r"(?:(?!\bnot\b|n['’]t)[^,;:!?]){1,60}\sthat\s(?=(?:it|he|she|they)['’\s])|"
    r"(?:(?:as\sof|according\sto|based\son|from|to|in)\smy\s[\w\s-]{1,40}|"
    r"as\sfar\sas\sI\s[\w\s-]{1,20}|if\s(?:I|you)\s[\w\s-]{1,40}|based\son\s[^,.]{1,60}),\s|"
    r"as\sof\smy\s(?:\w+\s){0,2}(?:update|cut-?off|knowledge|training)(?:\sin\s\w+(?:\s\d+)?)?,?\s|"
    r"my\s(?:\w{3,12}\s)?(?:guess|answer)\s(?:is|was|would\sbe)\s(?:that\s)?|"
    r"(?:(?:well|so|but|and|no|yes|hmm|oh|however|although|though)\b[\s,.!-]{1,3}){0,2}"
    r"I(?:['’][md])?,?\s(?:(?:am|was|not|really|quite|entirely|fairly|pretty|very|100%|completely|"
    r"absolutely|almost|would|do|don['’]t|cannot|can['’]t|could|must|have\sto|also|still|can|may)\s){0,3}"
    r"(?:sure|certain|positive|confident|think|believe|guess|say|suppose|recall|remember|assume|"
    r"suspect|bet|know|[a-z]{3,12}(?:\syou)?(?=\sthat\s))\b[\s,;]{1,3}"
    r"(?!(?:if|whether|who|whom|whose|what|when|where|which|how|why)\b)"
    r"(?:that\s|but\s|about\sit,\sbut\s|it\swould\sbe\s){0,2}",
    re.I,
)
_TALK = regex(
    r"\bI(?:['’]|\s(?!of\b)[a-z])|\b(?:me|my|My|myself|you|You|your|Your|[Pp]lease|[Ss]orry|assistant|"
    r"chatbot|AI|hesitate|[Ff]eel free|[Ll]et['’]s)\b"
)
#: a form that was not filled in: "born in [city]"
_BLANK = regex(r"\[[a-z][a-z ]{1,30}\]|__", re.I)
#: a kind of thing or place in the stead of its name: "in a library"
_A_KIND = regex(r"(?:(?:in|at|on|near|from|by)\s)?an?\s(?=[a-z])", re.I)
#: an opener that denies, and what it may be followed by: "I'm not sure it was Austen"
_UNSURE = regex(r"\b(?:not|never|unsure|uncertain|cannot)\b|n['’]t\b", re.I)
_CLAIM = regex(r"[A-Z0-9\"“]|(?:it|he|she|they|there|this|that|but|an?|the\s\w+\s(?:is|was))\b")
#: a clause that says nothing by itself: "To tell who it was, [I would need to look]"
_ASIDE = regex(
    r"(?:\d+[.)]\s)?(?:to|if|without|while|since|as|although|though|because|given|for)\s[^,]+,",
    re.I,
)
#: behind it a sentence may say what it first said that it does not know
_TURN = regex(
    r"[\s,;:(—–-]{1,4}(?:but|however|though|although|nevertheless|nonetheless)\b,?\s+", re.I
)
_QUOTED = regex(r"[\"“][^\"“”]{1,80}[\"”]")


class Asked(NamedTuple):
    """The words of a question: stems, the meanings of each that tells what is asked, and years.

    ``relation``: words that no name has, all where there is no name; ``subject``: the others.
    """

    stems: frozenset[str]
    relation: tuple[frozenset[str], ...]
    subject: tuple[frozenset[str], ...]
    years: frozenset[tuple[int | None, int | None]]


@lru_cache(maxsize=512)
def _asked(question: str) -> Asked:
    items = tokens(question)
    proper = {t.text for t in items[1:] if t.capital or t.number}
    words = [t for t in items if t.text not in STOP and t.text not in _ASKS]
    return Asked(
        frozenset(t.stem for t in items),
        tuple(_meanings(t) for t in words if not proper or t.text not in proper),
        tuple(_meanings(t) for t in words if t.text in proper),
        frozenset((d.year, d.month) for d in find_dates(question)),
    )


def _meanings(token: Token) -> frozenset[str]:
    """Return the stem of a word and its families: "wrote" is of the family of "author"."""
    return _meant(token.text, token.stem)


@lru_cache(maxsize=16384)
def _meant(text: str, stem: str) -> frozenset[str]:
    return frozenset((stem, *meanings(text), *(("name",) if text in _NAMING else ())))


_NAMING = lexicon_words("talk", "contradiction.naming")
_ASKS = lexicon_words("questions", "contradiction.kind")


@lru_cache(maxsize=16384)
def read_short_answer(question: str, answer: str) -> AnsweringSentence | None:
    """Return what an answer says, ``None`` for nothing: no answer to this question, or not English.

    Of the sentences that may answer, the one with the best odds; "It was not Eliot" only where
    none says what it was. Nothing counts behind a statement that the value is not known.
    """
    if not any(c.isalnum() for c in answer) or answer.strip() == "null" or not is_english(answer):
        return None  # "null" is how JSON says that there is no answer
    kind = question_kind(question)
    best = denial = None
    most = _LEAST
    for said, before in read_statements(question, answer):
        odds = _odds(question, kind, said, before)
        if odds > _LEAST and kind != "yes_no" and said.denies:
            denial = denial or said
        elif odds > most:
            best, most = said, odds
    return best or denial


def read_statements(
    question: str, answer: str
) -> Iterator[tuple[AnsweringSentence, AnsweringSentence | None]]:
    """Yield what each sentence of an answer says, with what the one before said.

    They end at a statement that what is asked is not known.
    """
    kind = question_kind(question)
    before = None
    for text, alone in _statements(question, answer):
        said = _read(question, answer, text, alone)
        if before and said.items[0].text in _POINTS and not said.value(kind):
            # "Ada Bo is a writer. She founded it."
            said = _read(question, answer, f"{before.text} {text}")
        if not (kind in ("when", "count") and said.value(kind)) and _ignorant(text):
            # "The date remains unclear", "Her name is unknown, but it may have been Ada"
            turn = _TURN.search(text)
            if turn is None or not tokens(text[turn.end() :]) or _ignorant(text[turn.end() :]):
                return
            before, said = said, _read(question, answer, text[turn.end() :])
        yield said, before
        before = said if said.new else before


def _ignorant(text: str) -> bool:
    """Whether a text says that something is not known."""
    return holds_cue(text[:400], "ignorant")


def _statements(question: str, answer: str) -> Iterator[tuple[str, bool]]:
    """Yield what is said of the world, and whether nothing but talk stands around it.

    No questions, and no talk of the speaker: of "As an AI I cannot check it, but it opened in 1961"
    the last clause is left. A short answer is not cut at "No." or an initial.
    """
    short = len(answer) <= 40 and len(tokens(answer)) <= _SHORT and not set(answer) & set("!?;\n")
    spans = [] if short else split_sentences(answer)[:_SENTENCES]
    sentences = [answer] if short else [answer[s.start : s.end].strip() for s in spans]
    for sentence in sentences:
        if sentence.endswith("?") or _BLANK.search(sentence):
            continue
        text = _without_talk(question, sentence)
        if tokens(text):
            whole = len(sentences) == 1 and text != sentence
            yield text, whole or len(text) + 2 >= len(answer)


def _without_talk(question: str, text: str) -> str:
    """Return the first clauses of a sentence that do not speak of the speaker, without openers."""
    while text:
        for _ in range(_OPENERS):  # "I'm not sure, but I think 1815."
            opener = _OPENER.match(text)
            if opener is None:
                break
            text = text[opener.end() :]
            turn = _TURN.search(text)
            turned = opener[0].rstrip().endswith("but")
            if _UNSURE.search(opener[0]) and not turned and (turn or not _CLAIM.match(text)):
                # "I don't know the exact year, but it was 1815", "I am not sure of it"
                text = text[turn.end() :] if turn else ""
        talk = _talk(question, text[:400])
        said = text[:talk].rstrip()
        if talk is None:
            return said
        if (talk >= _SAID or _CLAUSE.search(text[:talk])) and not _ASIDE.fullmatch(said):
            return said
        turn = _TURN.search(text, talk)
        text = text[turn.end() :] if turn else ""
    return ""


def _talk(question: str, text: str) -> int | None:
    """Return where a sentence begins to talk of the speaker.

    Quotations, words of the question and "World War I" are no such talk.
    """
    asked = set(question.casefold().split())
    for hit in _TALK.finditer(_QUOTED.sub(lambda quoted: " " * len(quoted[0]), text)):
        before = text[: hit.start()].split()[-1:]
        name = hit[0][0] == "I" and any(w.istitle() and w.casefold() not in _FRAME for w in before)
        if hit[0].casefold() not in asked and not name:
            return hit.start()
    return None


def _read(question: str, whole: str, text: str, whole_text: bool = False) -> AnsweringSentence:
    items = tokens(text)
    known, years = _asked(question).stems, _asked(question).years
    short = len(items) <= _SHORT
    new = [t for t in items if t.text not in STOP and t.stem not in known and t.text not in _FRAME]
    predicate = [] if new else _predicate(items)
    if predicate:
        new = predicate  # "The capital of Tindouf Province is Tindouf."
    elif not new and short and whole_text:
        # "240" where the question offers it: the whole answer is its value.
        new, years = [t for t in items if t.text not in STOP] or items, frozenset()
    every = find_dates(text)
    dates = of_the_event(question, text, [d for d in every if (d.year, d.month) not in years])
    shares = shares_of(text)
    counted = [
        q
        for q in find_quantities(text)
        if not any(s.start < q.end and q.start < s.end for s in shares)
        and not any(d.start < q.end and q.start < d.end for d in every if d.month)
        and not ordinal(text[q.start : q.end])
        and not _CODE.search(text[max(0, q.start - 3) : q.start])
        and not any(
            a.value == q.value and (not a.unit or not q.unit or a.unit == q.unit)
            for a in (() if short else find_quantities(question))
        )
    ]
    numbers = tuple(sorted([*shares, *counted], key=lambda q: q.start))
    names = tuple(_names(text, items, new, every, known))
    if (
        whole_text
        and names
        and len(new) == len(items) <= _SHORT
        and (len(names) == 1 or ": " in text)
    ):
        names = (text.strip(" ."),)  # "Mission: Impossible 2"
    if names and _ASKS_COUNTRY.search(question):
        names = _countries(names) or names
    bare = short and (whole_text or not text.endswith("!"))
    return AnsweringSentence(
        whole, text, tuple(items), tuple(new), names, dates, numbers, bare, whole_text
    )


_ASKS_COUNTRY = regex(r"\b(?:what|which)\s(?:\w+\s)?country\b", re.I)


def _predicate(items: Sequence[Token]) -> list[Token]:
    """Return the capitalized words that a sentence ends with behind a form of *be*."""
    forms = [i for i, t in enumerate(items) if t.text in _BE]
    last = list(items[forms[-1] + 1 :]) if forms and forms[-1] else []
    return last if 0 < len(last) <= _SHORT and all(t.capital for t in last) else []


_BE = frozenset({"is", "was", "are", "were"})
#: what stands before the number of a name: "F-16"
_CODE = regex(r"[^\W\d_]-$")


#: log-odds that the sentence that answers exceeds: chosen by folds of labeled pairs
_LEAST = 0.4


def _odds(
    question: str, kind: Kind, said: AnsweringSentence, before: AnsweringSentence | None
) -> float:
    """Return the log-odds that a sentence answers; 0 without a value of the kind asked for.

    ``before``: the statement before it, ``None`` for the first.
    """
    if kind == "yes_no":
        return float(before is None or _share_said(question, said, before) > 0)
    if said.bare and said.alone and all(t.text in _DOUBTS for t in said.new):
        return 0.0  # "Uncertain."
    if said.bare and said.alone:
        return float(bool(said.new) and (len(said.items) <= _SHORT / 2 or bool(said.value(kind))))
    if not (chosen_option(question, said) if kind == "choice" else said.value(kind)):
        return 0.0
    if kind == "any" and asks_for_a_name(question) and not said.names and not said.bare:
        return 0.0
    if _ANSWER_IS.match(said.text):
        return 2.0
    subject = next((t.text for t in said.items if t.text not in _NO_SUBJECT), "")
    opens = before is None or (before.bare and not before.value(kind) and not before.names)
    if opens and subject in _PRONOUNS and (kind != "any" or said.bare):
        return 2.0  # "Perhaps it opened in 1961": of what was asked about
    features = subject_features(question, kind, said, before)
    odds = _log_odds(features)
    if odds <= _LEAST:
        return odds  # a sentence that withholds would only have less
    return _log_odds(features | {"withheld": withheld(question, said.whole)})


def _log_odds(features: Mapping[str, float]) -> float:
    return sum(WEIGHTS.get(name, 0.0) * x for name, x in features.items())


_ANSWER_IS = regex(
    r"^\W*(?:(?:so|thus|therefore|hence),?\s)?(?:the|my)\s(?:\w{3,12}\s)?answer\s(?:is|was|would\sbe)\b",
    re.I,
)

#: Log-odds that a sentence with a value of the kind asked for answers the question: a logistic
#: regression on 229 draws of SmolLM2-135M-Instruct, 3,000 answers that people called right
#: (QA-Eval), and answers to other questions (``tools/readers/contradiction.py``).
WEIGHTS = {
    "bias": -2.7, "share": 3.7, "relation": 1.9, "no relation": -0.4, "nothing shared": -0.9,
    "near": 0.6, "bare": 2.5, "first": 2.1, "opens with": 0.6, "withheld": -5.4, "no name": 0.7,
    "long": -0.7, "long alone": -0.7, "any": -0.6, "choice": -2.5, "count": 0.9, "when": 0.6,
    "where": -0.8, "who": -0.3,
}  # fmt: skip


def subject_features(
    question: str, kind: Kind, said: AnsweringSentence, before: AnsweringSentence | None
) -> dict[str, float]:
    """Return what tells whether a sentence speaks of the question, but for :func:`withheld`.

    ``share``: of the question's words that it says, ``relation`` of those that no name has; a
    pronoun stands for the sentence before. ``opens with``: one of its first words is asked with.
    ``near``: such a word stands close to the value. ``withheld`` is 0.
    """
    asked = _asked(question)
    meant = [_meanings(t) for t in said.items]
    own = frozenset[str]().union(*meant)
    relation = sum(not own.isdisjoint(word) for word in asked.relation)
    words = (*asked.relation, *asked.subject)
    share = _share_said(question, said, before)
    opening = [t for t in said.items if t.text not in STOP][:_OPENING]
    value = _first_value(said, kind)
    near = any(
        not meaning.isdisjoint(word)
        for t, meaning in zip(said.items, meant, strict=True)
        for word in asked.relation
        if value is not None and abs(t.start - value) <= _NEAR
    )
    return {
        "bias": 1.0,
        "share": share,
        "relation": relation / max(1, len(asked.relation)),
        "no relation": float(relation == 0 and bool(asked.relation)),
        "nothing shared": float(share == 0),
        "bare": float(said.bare),
        "withheld": 0.0,
        "first": float(before is None),
        "opens with": float(any(not _meanings(t).isdisjoint(w) for t in opening for w in words)),
        "near": float(near),
        "no name": float(kind == "any" and not said.names),
        "long": float(len(said.items) > _LONG),
        "long alone": float(said.alone and len(said.items) > _LONG),
        kind: 1.0,
    }


def _share_said(question: str, said: AnsweringSentence, before: AnsweringSentence | None) -> float:
    """Return the share of the question's words that a sentence says."""
    every = frozenset[str]().union(*map(_meanings, said.items))
    if before is not None and said.items[0].text in _POINTS:
        every = every.union(*map(_meanings, before.items))
    words = (*_asked(question).relation, *_asked(question).subject)
    return sum(not every.isdisjoint(word) for word in words) / max(1, len(words))


@lru_cache(maxsize=4096)
def withheld(question: str, answer: str) -> float:
    """Return how surely the reader of stance takes an answer for one that gives no value."""
    verdict = judge_rules(question, (), answer)
    return float(verdict.certainty or 0.0) if verdict.stance in WITHHELD else 0.0


def _first_value(said: AnsweringSentence, kind: Kind) -> int | None:
    """Return where the first value of a sentence begins."""
    if kind == "when":
        return said.dates[0].start if said.dates else None
    if kind == "count":
        return said.numbers[0].start if said.numbers else None
    if said.names:
        return said.text.find(said.names[0])
    return said.new[0].start if said.new else None


#: characters between a value and a word that the question asks with
_NEAR = 30
_OPENING, _LONG = 4, 20


# ---- names

_NOBODY = frozenset({"no", "nobody", "none", "nothing"})
_JOINS = PARTICLES | {"of", "the"}
_SPELLED = lexicon_words("namesakes", "contradiction.spelled")
_PEOPLE = regex(r"(?:an|ish|ese|ch|ic|sh|ean|i)$")
#: Names further on belong to explanations more often than to the answer.
_FIRST_NAMES = 4


def _names(
    text: str,
    items: Sequence[Token],
    new: Sequence[Token],
    dates: Sequence[Date],
    asked: frozenset[str],
) -> Iterator[str]:
    """Yield the runs of words with capitals that have a word new to the question."""
    fresh = {t.start for t in new}
    i = 0
    while i < len(items):
        ranked = i + 1 < len(items) and items[i + 1].capital and ordinal(items[i].raw)
        if not (items[i].capital or ranked) or (items[i].text in STOP and len(items[i].raw) > 1):
            i += 1
            continue
        end, k = i, i + 1
        while k < len(items) and k - i < 12:
            titled = i > 0 and items[k - 1].start in fresh
            if not _goes_on(text, items[k - 1], items[k], titled):
                break
            if items[k].text not in _JOINS or text[items[k].start - 1] == "-":
                end = k
            elif k - end > 2:
                break
            k += 1
        run = items[i : end + 1]
        if run[0].text in _NOBODY:
            i = end + 1
            continue  # "No one knows"
        dated = any(d.start <= run[0].start < d.end for d in dates)
        if any(t.start in fresh for t in run) and not (
            dated or _adjective(text, items, i, end, asked)
        ):
            yield text[run[0].start : run[-1].end]
        i = end + 1


def _goes_on(text: str, before: Token, token: Token, titled: bool) -> bool:
    """Whether a name goes on with a word; ``titled``: behind a colon too."""
    between = text[before.end : token.start]
    if between == ": " and titled:
        return token.capital  # "It is Mission: Impossible"
    if between in ("-", "‑", "–") or between in ("'", "’"):
        return True
    if between.strip(" ") and not (between in (".", ". ") and len(before.raw) <= 2):
        return False
    spelled = token.text in _SPELLED and (len(before.raw) == 1 or before.text in _SPELLED)
    return token.capital or token.number or spelled or token.text in _JOINS | GENERATIONS.keys()


def _adjective(text: str, items: Sequence[Token], i: int, end: int, asked: frozenset[str]) -> bool:
    """Whether a lone word with a capital only says whose: "a German composer", or opens."""
    after = items[end + 1] if end + 1 < len(items) else None
    if i != end or after is None or text[items[end].end : after.start] != " ":
        return False
    if items[i].start == 0 and items[i].text.endswith("ing"):
        return True
    if not after.raw.islower() or after.text in STOP | _FRAME:
        return False
    if items[i].start == 0:
        return after.stem not in asked  # "Austen wrote it" opens with a name
    return bool(_PEOPLE.search(items[i].text))


def _by_names(one: AnsweringSentence, two: AnsweringSentence) -> Relation | None:
    """Compare what is named: the first name of each with the first few of the other."""
    first, second = one.names[:_FIRST_NAMES], two.names[:_FIRST_NAMES]
    if not first or not second:
        return None
    head = compare_names(first[0], second[0])
    if head == "different" and _same_words(first[0], second[0]):
        return "same"  # "Muslim" and "Islam"
    if head != "different":
        if _lie_apart(_qualifier(one), _qualifier(two)):
            return "apart"  # "Paris, Texas" and "Paris, France"
        lists = len(first) > 1 and len(second) > 1 and one.bare and two.bare
        return "open" if lists and first[1:] != second[1:] else "same"
    crossed = [(first[0], n) for n in second[1:]] + [(n, second[0]) for n in first[1:]]
    within = _lies_in(first[0], second[0]) or _lies_in(second[0], first[0])
    near = within or any(compare_names(a, b) != "different" for a, b in crossed)
    return "open" if near else "apart"


def _same_words(a: str, b: str) -> bool:
    """Whether two names are written with the same words: "Dutch" and "the Netherlands"."""
    x, y = tokens(a), tokens(b)
    # a shared stem, root, country or row of synonyms
    return 0 < len(x) == len(y) and not any(
        map(frozenset.isdisjoint, map(_forms, x), map(_forms, y))
    )


def _qualifier(answer: AnsweringSentence) -> str:
    """Return the name that stands behind the first one and a comma: "Paris, Texas"."""
    if len(answer.names) < 2:
        return ""
    joined = f"{answer.names[0]}, {answer.names[1]}"
    return answer.names[1] if joined in answer.text else ""


def _written(name: str) -> str:
    return fold(name.removeprefix("the "))


#: no countries among what gives peoples their names, and one that is a state as well
_NO_COUNTRIES = lexicon_words("places", "contradiction.none")
#: the name of each country by every way to write it
_COUNTRY = {name: name for name in set(PLACE.values()) - _NO_COUNTRIES} | {
    _written(name): _written(row.split("/")[0])
    for kind in ("countries", "regions")
    for row in lexicon_rows(kind)
    for name in (row.split("/") if kind == "countries" else row.split("/")[:1])
}
#: the country of each of its parts
_REGION = {
    _written(region.strip()): _written(row.split("/")[0])
    for row in lexicon_rows("regions")
    for region in row.split("/")[1:]
}


def _lies_in(region: str, country: str) -> bool:
    """Whether a place is a part of a country: "Texas", "England"."""
    home = _REGION.get(_written(region))
    return home is not None and home == _COUNTRY.get(_written(country))


def _lie_apart(one: str, two: str) -> bool:
    """Whether two places are countries, or parts of them, of which none holds the other."""
    x, y = _written(one), _written(two)
    homes = [_REGION.get(name) or _COUNTRY.get(name) for name in (x, y)]
    if None in homes or x == y:
        return False
    return homes[0] != homes[1] or (x in _REGION and y in _REGION)


def _countries(names: Sequence[str]) -> tuple[str, ...]:
    """Return the countries among names: of "Atlas Mountains of Tanzania" the last words."""
    parts = [name.rpartition(" of ")[2] for name in names]
    return tuple(p for p in parts if _written(p) in _COUNTRY or _lies_in(p, "United Kingdom"))


def _forms(token: Token) -> frozenset[str | int]:
    """Return what a word is looked up by: forms, stem, root, country, rows of synonyms."""
    return _forms_of(token.text, token.stem)


@lru_cache(maxsize=16384)
def _forms_of(text: str, stem: str) -> frozenset[str | int]:
    if text[:1].isdigit():
        return frozenset((text,))
    rows = _synonym_rows()
    return frozenset((*keys(text, stem), *(rows.get(text) or rows.get(stem) or ())))


@cache
def _synonym_rows() -> dict[str, frozenset[int]]:
    rows: dict[str, frozenset[int]] = {}
    for i, words in enumerate(lexicon_groups("synonyms")):
        for token in (t for word in words for t in tokens(word)):
            for form in {token.text, token.stem}:
                rows[form] = rows.get(form, frozenset()) | {i}
    return rows


#: What explanations share, of the words of the shorter one, to be taken as compatible.
_SHARED = 0.6
_LONGEST_VALUE = 40


def _by_words(one: AnsweringSentence, two: AnsweringSentence) -> Relation:
    """Compare the words that are new: too few in common is something else."""
    if not one.new or not two.new:
        return "open"
    (there, a), (back, b) = _shared_words(one, two), _shared_words(two, one)
    if there == a and back == b:
        return "same"
    share = max(there / a, back / b)
    if share < (_SHARED if min(a, b) <= _SHORT else _SHARED / 2):
        return "apart"
    return "same" if share == 1 and one.bare != two.bare else "open"


def _shared_words(one: AnsweringSentence, two: AnsweringSentence) -> tuple[int, int]:
    """Return how many of the first new words of one are words of the other, and how many it has.

    Two words are one by spelling, inflection, a people and its country, a slip.
    """
    said, every, others = one.new[:_LONGEST_VALUE], two.every_form, two.by_letter
    shared = sum(
        not forms.isdisjoint(every)
        or any(slip(word.text, other) for other in others.get(word.text[0], ()))
        for word, forms in zip(said, one.forms, strict=True)
    )
    return shared, len(said)


# ---- dates and numbers

#: Values further on belong to explanations more often than to the answer.
_FIRST = 2


_AROUND = MONTH_NAMES | lexicon_words("nearly", "contradiction.around")


def _by_dates(one: AnsweringSentence, two: AnsweringSentence) -> Relation | None:
    """Compare the dates of two answers; ``None`` where one has none."""
    pairs = list(product(one.dates[:_FIRST], two.dates[:_FIRST]))
    if any(agree(x, y) and agree(y, x) for x, y in pairs):
        return "same"
    near = (
        agree(x, y)
        or agree(y, x)
        or _within(one.text, x.start, x.year, two.text, y.start, y.year)
        or roughly_same(one.text, x, two.text, y)
        for x, y in pairs
    )
    return _any(pairs, near)


def _by_numbers(one: AnsweringSentence, two: AnsweringSentence) -> Relation | None:
    """Compare the numbers of two answers; ``None`` where one has none."""
    pairs = list(product(one.numbers[:_FIRST], two.numbers[:_FIRST]))
    if any(same_amount(x, y) or same_amount(y, x) or _nearly(x, y) for x, y in pairs):
        return "same"
    return _any(pairs, (_compatible(one.text, x, two.text, y) for x, y in pairs))


def _any(pairs: Sequence[object], open_: Iterable[bool]) -> Relation | None:
    return None if not pairs else "open" if any(open_) else "apart"


#: How far apart, as a share, two measured numbers may be: 687.8 and 687.9, 8,848 and 8,849.
_MEASURED = 0.0015


def _nearly(x: WrittenQuantity, y: WrittenQuantity) -> bool:
    """Whether two numbers, written with four digits or more, differ by less than matters."""
    if (x.unit and y.unit and x.unit != y.unit) or x.high is not None or y.high is not None:
        return False
    most = max(abs(x.value), abs(y.value))
    exact = float(x.value).is_integer() and float(y.value).is_integer() and most < 1000
    return not exact and abs(x.value - y.value) <= _MEASURED * most


#: words before a value that leave one side of it open
_ABOVE, _BELOW = (
    regex(rf"\b(?:{alternatives(words)})\s+$".replace(r"\-", r"\s+"), re.I)
    for words in (
        lexicon_words("open sides", "contradiction.above"),
        lexicon_words("open sides", "contradiction.below"),
    )
)


def _within(one: str, x: int, value: float | None, two: str, y: int, other: float | None) -> bool:
    """Whether one value lies on the side that the other leaves open: 1961 and "before 1970"."""
    if value is None or other is None:
        return False
    return _side(one, x) * (other - value) > 0 or _side(two, y) * (value - other) > 0


def _side(words: str, at: int) -> int:
    before = words[max(0, at - 20) : at]
    return 1 if _ABOVE.search(before) else -1 if _BELOW.search(before) else 0


_ABOUT = regex(
    rf"(?:\b(?:{alternatives(lexicon_words('nearly', 'contradiction'))}|ca\.?)|"
    r"\bc\.)\s*(?:the\s+year\s+)?$",
    re.I,
)


def _compatible(text: str, x: WrittenQuantity, other: str, y: WrittenQuantity) -> bool:
    """Whether two numbers can both be right; "about 2 million" covers what rounds to it."""
    if x.unit and y.unit and x.unit != y.unit:
        return False
    if _within(text, x.start, x.value, other, y.start, y.value):
        return True
    room = 0.0
    for words, q in ((text, x), (other, y)):
        third = q.unit == "percent" and not words[q.start].isdigit()
        if third or _ABOUT.search(words[max(0, q.start - 24) : q.start]):
            room = max(room, q.slack)
    return abs(x.value - y.value) <= min(room, 0.25 * max(abs(x.value), abs(y.value)))


# ---- values as people write them: "half" for 50 %, "about 1961", "born 1815, died 1852"

_BIRTH = regex(r"\b(?:born|birth(?:day|date)?|birthplace)\b", re.I)
_DEATH = regex(r"\b(?:die[ds]?|dying|death|dead|deceased|passed\s+away|killed)\b", re.I)
_EVENT = regex(rf"(?P<birth>{_BIRTH.pattern})|(?P<death>{_DEATH.pattern})", re.I)


def shares_of(text: str) -> list[WrittenQuantity]:
    """Return the fractions that are shares, in percent: "two thirds of the vote"."""
    parts = (q for q in find_amounts(text) if q.unit == FRACTION and 0 < q.value <= 1)
    # "a third" is 33 % and 33.3 %; half and a quarter are what they are
    return [
        q._replace(
            value=100 * q.value,
            unit="percent",
            slack=0.0 if abs(100 * q.value - round(100 * q.value)) < 1e-9 else 0.5,
        )
        for q in parts
    ]


def roughly_same(text: str, x: Date, other: str, y: Date) -> bool:
    """Tell whether two years can be one where one of them is said roughly: "about 1961" and 1962.

    The room is 2 years, 5 for a year that ends in 0 or 5, and 10 for one that ends in 00.
    """
    if x.kind != "point" or y.kind != "point" or x.year is None or y.year is None:
        return False
    room = 0
    for words, date in ((text, x), (other, y)):
        if date.month is None and _ABOUT.search(words[max(0, date.start - 24) : date.start]):
            year = abs(date.year or 0)
            room = max(room, 10 if year % 100 == 0 else 5 if year % 5 == 0 else 2)
    return 0 < room >= abs(x.year - y.year)


def of_the_event(question: str, text: str, dates: Sequence[Date]) -> tuple[Date, ...]:
    """Return the dates of the birth, or of the death, where the question asks for one of them.

    A date belongs to the last of the two that its sentence names before it; one without either is
    kept, and all are where none would be left.
    """
    if len(dates) < 2:
        return tuple(dates)
    birth, death = bool(_BIRTH.search(question)), bool(_DEATH.search(question))
    if birth == death:
        return tuple(dates)
    wanted = "birth" if birth else "death"
    kept = []
    for date in dates:
        start = max(text.rfind(". ", 0, date.start), text.rfind("; ", 0, date.start)) + 1
        events = [hit.lastgroup for hit in _EVENT.finditer(text, start, date.start)]
        if not events or events[-1] == wanted:
            kept.append(date)
    return tuple(kept or dates)


# ---- options, yes and no

_DENIED = regex(
    rf"\b(?:{alternatives(lexicon_words('negations', 'contradiction'))}|no(?!\.?\s?\d))\b|n['’]t\b",
    re.I,
)
#: "not until 1961", "not Eliot but Austen" tell what it was
_STILL = regex(
    r"\bnot\s+(?:until|before|only|just|merely|later|earlier|more|less|fewer|far|long|sure|certain)"
    r"\b|\b(?:but|rather|instead|however)\b",
    re.I,
)


_FLAT_NO = regex(r"^\W{0,8}(?:no|nope)\b[,.!\s]{1,8}(?=\S{1,60}\s\S{1,60}\s\S)", re.I)


def _affirms(question: str, answer: AnsweringSentence) -> bool:
    """Whether an answer to a yes-or-no question affirms."""
    told = polarity(question, answer.whole)
    return not _DENIED.search(answer.text) if told is None else told.yes


def _by_denial(one: AnsweringSentence, two: AnsweringSentence, relation: Relation) -> Relation:
    """Relate two answers, one or both of which may say what it was not.

    "Not Austen" excludes "Jane Austen", and neither "Eliot" nor "not Eliot"; "not on 3 May" does
    not exclude "in May".
    """
    denied = (one.denies, two.denies)
    if not any(denied):
        return relation
    if all(denied):
        return "same" if relation == "same" else "open"
    denial, other = (one, two) if denied[0] else (two, one)
    names = {t.stem for t in denial.new}
    inside = bool(names) and names <= {t.stem for t in other.new}
    return "apart" if relation != "apart" and inside else "open"


def chosen_option(question: str, answer: AnsweringSentence) -> frozenset[str]:
    """Which of the question's options an answer names first; empty where that cannot be told."""
    options = _options(question)
    words = [t.text for t in answer.items]
    for both in ("neither", "both"):
        if options and both in words:
            return frozenset({both})
    stems = [t.stem for t in answer.items]
    places = [min((stems.index(s) for s in option if s in stems), default=-1) for option in options]
    named = [(place, i) for i, place in enumerate(places) if place >= 0]
    return options[min(named)[1]] if named else frozenset()


@lru_cache(maxsize=512)
def _options(question: str) -> tuple[frozenset[str], ...]:
    """The stems that tell the two sides of "A or B" apart."""
    either = _OR.search(question)
    if either is None:
        return ()
    left = tokens(question[: either.start()])[-6:]
    right = tokens(question[either.end() :])[:6]
    one = [t for t in left if t.capital and t.text not in STOP] or left[-1:]
    two = [t for t in right if t.capital and t.text not in STOP] or right[:1]
    a, b = {t.stem for t in one}, {t.stem for t in two}
    return (frozenset(a - b), frozenset(b - a)) if a - b and b - a else ()


# ---- by a language model

Triple = tuple[str, str, str]


def read_reply_to_pair(entry: dict[str, Any]) -> str | None:
    """Return "c" or "n" of an entry; ``None`` if it says neither yes nor no."""
    answer = entry.get("contradicts")
    if isinstance(answer, bool):
        return "c" if answer else "n"
    word = answer.strip().casefold().rstrip(".") if isinstance(answer, str) else ""
    return {"yes": "c", "no": "n"}.get(word)


class LlmContradict(NumberedReader):
    """A model that compares an assertion with samples; neutral is no contradiction.

    The few-shot prompt P_c of Yona et al. (arXiv 2405.16908, section 3) in our words. All samples
    of one assertion share a call, each with a number and an answer of its own.
    """

    task = JudgeTask(
        "contradict", "contradict_reply", "sample", 48, read_reply_to_pair,
        own=lambda _, word: read_reply_to_pair({"contradicts": word}),
    )  # fmt: skip
    subject = "contradiction"

    def __init__(self, engine: Engine, folder: Path | None = None) -> None:
        super().__init__(engine, folder)
        self._known: dict[Triple, str] = {}

    def read(self, triples: Sequence[Triple]) -> dict[Triple, str]:
        """Return c (contradicts), n, e (equal texts, never asked) or ? (not read) for each."""
        new: dict[tuple[str, str], list[str]] = {}
        for question, claim, sample in dict.fromkeys(triples):
            if claim.strip().casefold() == sample.strip().casefold():
                self._known[question, claim, sample] = "e"
            elif (question, claim, sample) not in self._known:
                new.setdefault((question, claim), []).append(sample)
        blocks = [
            (claim, block)
            for (question, claim), samples in new.items()
            for block in numbered_blocks(question, (Field("claim", claim),), samples)
        ]
        replies = self.ask([block for _, block in blocks])
        for (claim, block), outcomes in zip(blocks, replies, strict=True):
            for sample, outcome in outcomes.items():
                letter = "?" if outcome.problem is not None else str(outcome.value)
                self._known[block.question, claim, sample] = letter
        return {triple: self._known[triple] for triple in triples}
