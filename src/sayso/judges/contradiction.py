"""Do two answers to one question contradict each other? Offline by values, or by a language model.

Offline, dates, numbers with units, yes and no, options that the question offers, names and other
short values are compared as far as both answers say them; there is no entailment. A coarser date, a
longer name, a list that holds the other answer and any addition are no contradiction.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from sayso.engines.engine import Engine
from sayso.judges.decisiveness import analyze
from sayso.judges.model.numbered import NumberedReader, Task, blocks_of
from sayso.judges.patterns import regex
from sayso.judges.rules.dates import Date, agree, find_dates
from sayso.judges.rules.matching import match
from sayso.judges.rules.quantities import Quantity, find_quantities, ordinal, same_amount
from sayso.judges.rules.text import (
    STOP,
    SUFFIXES,
    TITLES,
    Token,
    is_english,
    keys,
    person_parts,
    same_given,
    slip,
    tokens,
    word_list,
    word_set,
)
from sayso.prompts.fence import Field
from sayso.records import Gold

_LONGEST = 4000
_WHEN = regex(
    r"\bwhen\b|\b(?:what|which|in what|on what)\s+(?:\w+\s+)?(?:year|date|day|month|decade|century|"
    r"period|time)\b|\bhow long ago\b|\bborn on\b|\bdate of\b|\byear of\b",
    re.I,
)
_COUNT = regex(
    r"\bhow\s+(?:many|much|long|tall|high|far|big|large|old|deep|wide|heavy|fast|hot|cold|often)\b|"
    r"\b(?:number|population|percentage|height|length|weight|distance|age|amount|temperature)\b",
    re.I,
)
_YES_NO = regex(
    r"^\W*(?:(?:and|but|so|then)\s+)?(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|"
    r"would|should|may|might|must)(?:n't)?\b",
    re.I,
)
_OR = regex(r"\bor\b", re.I)


class Kind(NamedTuple):
    """What a question asks for."""

    when: bool
    counts: bool
    yes_no: bool
    choice: bool


@lru_cache(maxsize=1024)
def kind_of(question: str) -> Kind:
    """Read from the question's form what its answers must agree on."""
    choice = bool(_OR.search(question))
    yes_no = bool(_YES_NO.match(question)) and not choice
    return Kind(bool(_WHEN.search(question)), bool(_COUNT.search(question)), yes_no, choice)


def contradicts(question: str, a: str, b: str) -> bool | None:
    """Return whether answers ``a`` and ``b`` to ``question`` cannot both be right.

    ``None`` where nothing can be said: one of them asserts nothing (empty, a refusal, "I don't
    know") or nothing comparable, or is not English. Symmetric; never raises. Neutral answers (one
    says more, or something else of the same thing) are ``False``.

    Limits: no world knowledge, so two names of one thing that share no word, initials or listed
    short form count as different; of explanations only the words are compared.
    """
    if not all(isinstance(x, str) for x in (question, a, b)):
        return None
    first, second = sorted((a[:_LONGEST].strip(), b[:_LONGEST].strip()))
    return _contradicts(question[:_LONGEST], first, second)


@lru_cache(maxsize=8192)
def _contradicts(question: str, a: str, b: str) -> bool | None:
    one, two = read_answer(question, a), read_answer(question, b)
    if one is None or two is None:
        return None
    if a.casefold() == b.casefold():
        return False
    if not (is_english(a) and is_english(b)):
        return None
    kind = kind_of(question)
    if kind.yes_no:
        return _by_polarity(one, two)
    differ = _by_value(question, kind, one, two)
    return by_denial(one, two, differ) if differ is not None else None


def _by_value(question: str, kind: Kind, one: Answer, two: Answer) -> bool | None:
    if kind.choice:
        options = (chosen(question, one), chosen(question, two))
        if options[0] and options[1]:
            return options[0] != options[1]
    for wanted, differ in ((kind.when, dates_differ), (kind.counts, numbers_differ)):
        differing = differ(one, two) if wanted else None
        if differing is not None:
            return differing
    return _by_words(question, kind, one, two)


def _by_polarity(one: Answer, two: Answer) -> bool | None:
    first, second = polarity(one), polarity(two)
    if first is None or second is None:
        return None
    return first != second


def _by_words(question: str, kind: Kind, one: Answer, two: Answer) -> bool | None:
    values = dates_differ(one, two) if not kind.counts else None
    if values is None and not kind.when:
        values = numbers_differ(one, two)
    words = words_differ(question, one, two)
    if words is None:
        return values
    if only_values(one) and only_values(two) and values is not None:
        return values
    return words


def only_values(answer: Answer) -> bool:
    """Whether an answer is little more than a date or a number."""
    plain = [t for t in answer.new if not t.number and t.text not in _AROUND]
    return len(plain) <= 1 and bool(answer.dates or answer.numbers)


_AROUND: Sequence[str] = word_list(
    "january february march april may june july august september october november december"
    " year years century about around approximately million billion thousand hundred percent"
)


# ---- what an answer says that its question does not


class Answer(NamedTuple):
    """An answer without what asserts nothing: its text, the words new to the question, values."""

    whole: str
    text: str
    items: tuple[Token, ...]
    new: tuple[Token, ...]
    dates: tuple[Date, ...]
    numbers: tuple[Quantity, ...]


#: A short answer is all value.
_SHORT = 6
_FRAME = word_set(
    "answer answers question correct true called named known name is was were are be been has"
    " have had do does did will would could may might can also however according likely"
    " probably possibly perhaps think believe say said sure guess maybe yes no not so as it he"
    " she they there"
)


@lru_cache(maxsize=512)
def _of_question(question: str) -> tuple[frozenset[str], frozenset[tuple[int | None, int | None]]]:
    words = frozenset(t.stem for t in tokens(question))
    years = frozenset((d.year, d.month) for d in find_dates(question))
    return words, years


@lru_cache(maxsize=8192)
def read_answer(question: str, answer: str) -> Answer | None:
    """Return what an answer asserts, ``None`` for nothing: empty, a refusal, "I don't know"."""
    if not any(c.isalnum() for c in answer):
        return None
    statements = analyze(answer)
    if not statements:
        return None
    text = " ".join(answer[one.start : one.end] for one in statements)
    items = tokens(text)
    known, years = _of_question(question)
    new = tuple(
        t for t in items if t.text not in STOP and t.stem not in known and t.text not in _FRAME
    )
    if not new and len(items) <= _SHORT:
        # "240" where the question offers it: the whole answer is its value.
        new = tuple(t for t in items if t.text not in STOP) or tuple(items)
        years = frozenset()
    dates = tuple(d for d in find_dates(text) if (d.year, d.month) not in years)
    dates = of_the_event(question, text, dates)
    shares = shares_of(text)
    counted = [
        in_degrees(question, text, q)
        for q in find_quantities(text)
        if not any(s.start < q.end and q.start < s.end for s in shares)
    ]
    counted = [
        q
        for q in counted
        if not any(d.start < q.end and q.start < d.end for d in find_dates(text) if d.month)
        and not ordinal(text[q.start : q.end])
        and (len(items) <= _SHORT or not _in_question(question, q))
    ]
    numbers = tuple(sorted([*shares, *counted], key=lambda q: q.start))
    return Answer(answer, text, tuple(items), new, dates, numbers)


def _in_question(question: str, number: Quantity) -> bool:
    return any(
        q.value == number.value and (not q.unit or not number.unit or q.unit == number.unit)
        for q in find_quantities(question)
    )


# ---- dates and numbers

#: Values further on belong to explanations more often than to the answer.
_FIRST = 2


def dates_differ(one: Answer, two: Answer) -> bool | None:
    """Whether two answers date the thing differently; ``None`` where one has no date."""
    if not one.dates or not two.dates:
        return None
    first, second = one.dates[:_FIRST], two.dates[:_FIRST]
    return not any(
        agree(x, y)
        or agree(y, x)
        or _dates_within(one.text, x, two.text, y)
        or roughly_same(one.text, x, two.text, y)
        for x in first
        for y in second
    )


#: words before a value that leave one side of it open
_FROM = regex(r"\b(?:after|since|no\s+earlier\s+than|not\s+before)\s+$", re.I)
_UNTIL = regex(r"\b(?:before|no\s+later\s+than|prior\s+to)\s+$", re.I)
_LEAST = regex(r"\b(?:at\s+least|more\s+than|over|no\s+(?:fewer|less)\s+than)\s+$", re.I)
_MOST = regex(r"\b(?:at\s+most|less\s+than|fewer\s+than|under|up\s+to|no\s+more\s+than)\s+$", re.I)


def _open(words: str, at: int, above: re.Pattern[str], below: re.Pattern[str]) -> int:
    """Which side of a value its words leave open: 1 above, -1 below, 0 neither."""
    before = words[max(0, at - 20) : at]
    return 1 if above.search(before) else -1 if below.search(before) else 0


def _dates_within(text: str, x: Date, other: str, y: Date) -> bool:
    """Whether one date lies on the side that the other leaves open: 1961 is "before 1970"."""
    if x.year is None or y.year is None or x.year == y.year:
        return False
    side, back = (_open(t, d.start, _FROM, _UNTIL) for t, d in ((text, x), (other, y)))
    return side * (y.year - x.year) > 0 or back * (x.year - y.year) > 0


def _numbers_within(text: str, x: Quantity, other: str, y: Quantity) -> bool:
    """Whether one number lies on the side that the other leaves open: 7 is "at least 5"."""
    if x.unit and y.unit and x.unit != y.unit:
        return False
    side, back = (_open(t, q.start, _LEAST, _MOST) for t, q in ((text, x), (other, y)))
    return side * (y.value - x.value) > 0 or back * (x.value - y.value) > 0


def numbers_differ(one: Answer, two: Answer) -> bool | None:
    """Whether two answers count differently; ``None`` where one has no number."""
    if not one.numbers or not two.numbers:
        return None
    first, second = one.numbers[:_FIRST], two.numbers[:_FIRST]
    return not any(_same(one.text, x, two.text, y) for x in first for y in second)


_ABOUT = regex(
    r"\b(?:about|approximately|around|roughly|nearly|over|almost|some|estimated|circa)\s+$", re.I
)


def _same(text: str, x: Quantity, other: str, y: Quantity) -> bool:
    """Whether two numbers can both be right; "about 2 million" covers what rounds to it."""
    if same_amount(x, y) or same_amount(y, x) or _numbers_within(text, x, other, y):
        return True
    room = 0.0
    for words, q in ((text, x), (other, y)):
        if _ABOUT.search(words[max(0, q.start - 16) : q.start]):
            room = max(room, q.slack)
    units = not x.unit or not y.unit or x.unit == y.unit
    return units and abs(x.value - y.value) <= min(room, 0.25 * max(abs(x.value), abs(y.value)))


# ---- values as people write them: "half" for 50 %, "100 C", "about 1961", "born 1815, died 1852"

#: a fraction that stands for a share: of something, or alone
_FRACTION = regex(
    r"(?<![\w-])(?:(?P<half>(?:(?:a|one)[\s-])?half)|(?P<n>a|one|two|three|four)[\s-]"
    r"(?P<part>third|quarter|fourth|fifth|tenth)s?)(?=\s*(?:[.,;:!?)]|$)|\s+(?:of|the|all)\b)",
    re.I,
)
#: "the first half of 1961" is a stretch of time
_NO_SHARE = regex(
    r"\b(?:first|second|other|latter|last|better|front|back|top|bottom|and|\d)\s+(?:a\s+)?$", re.I
)
_TIMES = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4}
_PARTS = {"third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "tenth": 10}
_WARMTH = regex(
    r"\b(?:temperatures?|degrees?|boil\w*|melt\w*|freez\w*|hot|cold|warm|celsius|fahrenheit|kelvin)"
    r"\b",
    re.I,
)
_SCALE = regex(r"\s?([CFK])(?![\w'’&/])")
_SCALES = {"C": "celsius", "F": "fahrenheit", "K": "kelvin"}
_ROUGHLY = regex(
    r"(?:\b(?:about|approximately|around|roughly|circa|ca\.?|near)|\bc\.)\s*(?:the\s+year\s+)?$",
    re.I,
)
_BIRTH = regex(r"\b(?:born|birth(?:day|date)?|birthplace)\b", re.I)
_DEATH = regex(r"\b(?:die[ds]?|dying|death|dead|deceased|passed\s+away|killed)\b", re.I)
_EVENT = regex(rf"(?P<birth>{_BIRTH.pattern})|(?P<death>{_DEATH.pattern})", re.I)


def shares_of(text: str) -> list[Quantity]:
    """Return the fractions in words that are shares, in percent: "two thirds of the vote"."""
    shares = []
    for hit in _FRACTION.finditer(text):
        if _NO_SHARE.search(text, max(0, hit.start() - 12), hit.start()):
            continue
        half = hit["half"] is not None
        share = 0.5 if half else _TIMES[hit["n"].lower()] / _PARTS[hit["part"].lower()]
        # "a third" is 33 % and 33.3 %; half and a quarter are what they are
        slack = 0.0 if abs(100 * share - round(100 * share)) < 1e-9 else 0.5
        if share <= 1:
            shares.append(Quantity(100 * share, "percent", slack, *hit.span()))
    return shares


def in_degrees(question: str, text: str, number: Quantity) -> Quantity:
    """Return a number with the scale that follows it ("100 C") where temperatures are asked for."""
    if number.unit or not _WARMTH.search(question):
        return number
    scale = _SCALE.match(text, number.end)
    return number if scale is None else number._replace(unit=_SCALES[scale[1]], end=scale.end())


def roughly_same(text: str, x: Date, other: str, y: Date) -> bool:
    """Tell whether two years can be one where one of them is said roughly: "about 1961" and 1962.

    The room is 2 years, 5 for a year that ends in 0 or 5, and 10 for one that ends in 00.
    """
    if x.kind != "point" or y.kind != "point" or x.year is None or y.year is None:
        return False
    room = 0
    for words, date in ((text, x), (other, y)):
        if date.month is None and _ROUGHLY.search(words, max(0, date.start - 24), date.start):
            year = abs(date.year or 0)
            room = max(room, 10 if year % 100 == 0 else 5 if year % 5 == 0 else 2)
    return 0 < room >= abs(x.year - y.year)


def of_the_event(question: str, text: str, dates: Sequence[Date]) -> tuple[Date, ...]:
    """Return the dates of the birth, or of the death, where the question asks for one of them.

    A date belongs to the last of the two that its sentence names before it; one without either is
    kept, and all are where none would be left.
    """
    birth, death = bool(_BIRTH.search(question)), bool(_DEATH.search(question))
    if birth == death:
        return tuple(dates)
    wanted = "birth" if birth else "death"
    kept = tuple(d for d in dates if _event_before(text, d.start) in (None, wanted))
    return kept or tuple(dates)


def _event_before(text: str, at: int) -> str | None:
    start = max(text.rfind(". ", 0, at), text.rfind("; ", 0, at)) + 1
    events = [hit.lastgroup for hit in _EVENT.finditer(text, start, at)]
    return events[-1] if events else None


# ---- names, options and polarity

_YES = regex(r"^\W*(?:yes|yeah|yep|correct|true|indeed|absolutely|certainly|of course)\b", re.I)
_NO = regex(r"^\W*(?:no|nope|incorrect|false|not)\b", re.I)
#: "not until 1961", "not Eliot but Austen" tell what it was
_STILL = regex(
    r"\bnot\s+(?:until|before|only|just|merely|later|earlier|more|less|fewer|far|long)\b|"
    r"\b(?:but|rather|instead|however)\b",
    re.I,
)
_LONGEST_VALUE = 8


def polarity(answer: Answer) -> bool | None:
    """Whether an answer to a yes-or-no question affirms; ``None`` without a statement."""
    if _YES.match(answer.whole):
        return True
    if _NO.match(answer.whole):
        return False
    statements = analyze(answer.text)
    if not statements:
        return None
    first = statements[0]
    words = answer.text[first.start : first.end].casefold()
    denied = first.denied or bool(re.search(r"\b(?:no|neither|none|never|nor)\b", words))
    return not denied


def by_denial(one: Answer, two: Answer, differ: bool) -> bool:
    """Whether two answers exclude each other, one or both of which may say what it was not.

    ``differ``: whether the values that they name differ. "Not Austen" excludes "Jane Austen", and
    neither "Eliot" nor "not Eliot"; "not on 3 May" does not exclude "in May".
    """
    denied = (_denies(one), _denies(two))
    if not any(denied):
        return differ
    if all(denied):
        return False
    denial, other = (one, two) if denied[0] else (two, one)
    names = {t.stem for t in denial.new}
    return not differ and bool(names) and names <= {t.stem for t in other.new}


def _denies(answer: Answer) -> bool:
    """Whether an answer only says what it was not."""
    statements = analyze(answer.whole)
    short = len(answer.items) <= 2 * _LONGEST_VALUE
    return (
        short and len(statements) == 1 and statements[0].denied and not _STILL.search(answer.whole)
    )


def chosen(question: str, answer: Answer) -> frozenset[str]:
    """Which of the question's options an answer names first; empty where that cannot be told."""
    options = _options(question)
    if not options:
        return frozenset()
    first = answer.text.split(". ")[0]
    if re.search(r"\bneither\b", first, re.I):
        return frozenset({"neither"})
    if re.search(r"\bboth\b", first, re.I):
        return frozenset({"both"})
    stems = [t.stem for t in tokens(first)]
    places = [min((stems.index(s) for s in option if s in stems), default=-1) for option in options]
    named = [(place, i) for i, place in enumerate(places) if place >= 0]
    if not named:
        return frozenset()
    return options[min(named)[1]]


def _options(question: str) -> tuple[frozenset[str], ...]:
    """The stems that tell the two sides of "A or B" apart."""
    sides = re.split(r",?\s+or\s+", question, maxsplit=1, flags=re.I)
    if len(sides) != 2:
        return ()
    left = tokens(sides[0])[-6:]
    right = tokens(sides[1])[:6]
    one = [t for t in left if t.capital and t.text not in STOP] or left[-1:]
    two = [t for t in right if t.capital and t.text not in STOP] or right[:1]
    a, b = {t.stem for t in one}, {t.stem for t in two}
    return (frozenset(a - b), frozenset(b - a)) if a - b and b - a else ()


def words_differ(question: str, one: Answer, two: Answer) -> bool | None:
    """Whether the new words of two answers name different things; ``None`` without words."""
    first, second = _value(one), _value(two)
    if not first or not second:
        return None
    if _persons_differ(first, second):
        return True
    if _matches(question, first, one, two) or _matches(question, second, two, one):
        return False
    return _apart(first, second, one.new, two.new)


def _value(answer: Answer) -> tuple[Token, ...]:
    """The words that an answer adds: its names and numbers, else all; the first sentence's."""
    stop = answer.text.find(". ")
    near = [t for t in answer.new if stop < 0 or t.start < stop] or list(answer.new)
    salient = [t for t in near if (t.capital or t.number) and not _opens(answer, t)]
    if len(answer.items) <= _LONGEST_VALUE or not salient:
        return tuple(near)
    return tuple(salient)


def _opens(answer: Answer, token: Token) -> bool:
    """Whether a word has its capital letter only from the sentence it opens."""
    return token.start == 0 and len(answer.items) > 4 and answer.items[1].raw.islower()


def _matches(question: str, value: Sequence[Token], one: Answer, two: Answer) -> bool:
    """Whether the value of one answer is said by the other, by the rules for golds."""
    if len(value) > 6:
        return False
    text = one.text[value[0].start : value[-1].end]
    if len(text) > 80:
        return False
    return match(question, [Gold(value=text)], two.text).content == "correct"


def same_word(a: Token, b: Token) -> bool:
    """Whether two words are one: spelling, inflection, a people and its country, a slip."""
    if a.number or b.number:
        return a.text == b.text
    if set(keys(a.text, a.stem)) & set(keys(b.text, b.stem)):
        return True
    if slip(a.text, b.text) or slip(a.stem, b.stem):
        return True
    return a.capital and b.capital and same_given(a.text, b.text)


def _apart(
    first: Sequence[Token], second: Sequence[Token], more: Sequence[Token], other: Sequence[Token]
) -> bool:
    """Whether neither value is within the other, and too little is shared to be one thing."""
    a = [t for t in first if t.text not in TITLES | SUFFIXES] or list(first)
    b = [t for t in second if t.text not in TITLES | SUFFIXES] or list(second)
    there = sum(any(same_word(t, u) for u in other) for t in a)
    back = sum(any(same_word(t, u) for u in more) for t in b)
    persons = _persons_differ(a, b)
    if persons is not None:
        return persons
    if there == len(a) or back == len(b):
        return False
    if there == 0 and back == 0:
        return True
    share = max(there / len(a), back / len(b))
    return share < 0.5


def _persons_differ(a: Sequence[Token], b: Sequence[Token]) -> bool | None:
    """Whether two names of people are two people's: another family name, or another given name.

    ``None`` where one is no name of two or more words, or names more than one person.
    """
    first, second = _person(a), _person(b)
    if first is None or second is None:
        return None
    one, two = first[-1], second[-1]
    if same_word(one, two):
        return not any(same_given(x.text, y.text) for x in first[:-1] for y in second[:-1])
    # "Francis Drake" and "Drake Francis", a double name: a family name found elsewhere decides not.
    crossed = any(same_word(one, t) for t in second) or any(same_word(two, t) for t in first)
    return None if crossed else True


def _person(items: Sequence[Token]) -> Sequence[Token] | None:
    """The parts of a name that stands alone: two or three words in a row with capitals."""
    parts = person_parts(items) if 2 <= len(items) <= 3 else None
    if parts is None or len(parts) < 2:
        return None
    together = all(y.start - x.end <= 3 for x, y in pairwise(parts))
    return parts if together else None


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

    task = Task("contradict", "contradict_reply", "sample", 48, read_reply_to_pair)
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
            for block in blocks_of(question, (Field("claim", claim),), samples)
        ]
        replies = self.ask([block for _, block in blocks])
        for (claim, block), outcomes in zip(blocks, replies, strict=True):
            for sample, outcome in outcomes.items():
                letter = "?" if outcome.problem is not None else str(outcome.value)
                self._known[block.question, claim, sample] = letter
        return {triple: self._known[triple] for triple in triples}
