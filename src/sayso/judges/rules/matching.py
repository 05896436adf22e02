"""Whether an answer agrees with the gold: the content half of the offline judge.

``match`` compares by kind: dates by what both sides state, quantities with units and rounding, and
everything else by its words. Every place where the answer says a gold is a candidate; candidates
that are denied, only echo the question or belong to another event are dropped. ``asserted`` finds
where in a clause the asserted value stands, by the kind of answer expected: it places wrong values
(right ones are placed by the gold match) and shows whether a clause holds any value of that kind.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, islice, pairwise
from math import log, log1p
from typing import NamedTuple

from rapidfuzz.distance import OSA

from sayso.judges.english.dates import Date, agree, find_dates, gold_dates, value_dates
from sayso.judges.english.families import country_names, family_stem, keys
from sayso.judges.english.lexicon import alternatives, lexicon_groups, lexicon_words
from sayso.judges.english.numbers import MONTHS
from sayso.judges.english.quantities import (
    FRACTION,
    WrittenQuantity,
    find_amounts,
    find_quantities,
    gold_quantity,
    ordinal,
    same_amount,
)
from sayso.judges.english.questions import Expected
from sayso.judges.english.sentences import AUXILIARY, PAST, Span
from sayso.judges.english.tokens import (
    CHANGERS,
    HYPHENATED,
    NUMERALS,
    STOP,
    Token,
    content,
    fold,
    plain_plural,
    tokens,
)
from sayso.judges.patterns import regex
from sayso.judges.rules.names import CLASSES, PARTICLES, compare_names, person_parts, stands_alone
from sayso.judges.rules.polarity import gold_polarity, polarity
from sayso.judges.rules.slots import Place, only_mentioned
from sayso.records import Content, Gold

# ---- the ways to read one gold: whole, and without what its writer only added for clarity

ARTICLES = frozenset({"a", "an", "the"})
# These read a value whose words stand one space apart.
_PARENTHESES = regex(r" ?[(\[{]([^()\[\]{}]*+)[)\]}]?")
_DATED = regex(r" (?:in|of|from|since) (?:the )?\d{3,4}s?$")
_ORIGIN = regex(r" (?:of|from|in) (?:the )?[A-Z][\w.]*+(?: [A-Z][\w.]*+)*+$")
_EITHER = regex(r" or ", re.IGNORECASE)
LISTED = regex(r"\band\b|&|;|\bor\b", re.IGNORECASE)
_LEADING = regex(r"^(?:to|of|by|in|on|at|from|as|with|for|about|over)\s+", re.IGNORECASE)
# Kinds that a gold names for clarity: "drama film" is well named by "drama".
_KINDS = lexicon_words("things", "matching.clear")
# What a gold says of its value, which may name another: "A, who beat B".
_SAID_OF = regex(
    r"(?<=\w), (?:who|which|not|replacing|defeating|succeeding|beating)"
    r"(?=.{0,80} [A-Z]|(?: \S{1,40}){4}).*"
)
# Not the comma inside "2,430".
_COMMA = regex(r",(?!\d)")
_ONES = regex(r"(?<=[a-z]\s)(?:l{1,3}|1{2,3})$")


class GoldForm(NamedTuple):
    """A gold phrase taken apart: tokens without articles, content tokens, glued letters.

    ``whole`` is False for a reading that leaves a part of the gold out.
    """

    value: str
    tokens: tuple[Token, ...]
    content: tuple[Token, ...]
    glued: str
    person: tuple[Token, ...] | None
    whole: bool


def _form(value: str, whole: bool) -> GoldForm | None:
    items = tuple(tokens(value))
    items = tuple(t for t in items if t.text not in ARTICLES) or items
    if not items:
        return None
    parts = person_parts(items) if not re.search(r"[(),;/]", value) else None
    return GoldForm(
        value,
        items,
        tuple(content(items)),
        "".join(t.text for t in items),
        tuple(parts) if parts else None,
        whole,
    )


def _capital_run(value: str) -> str | None:
    """Return the name that lower case introduces: the end of "Swedish botanist Carl Linnaeus"."""
    words = value.split()
    at = len(words)
    while at and words[at - 1][:1].isupper():
        at -= 1
    described = 0 < at < len(words) and words[at - 1].isalpha() and words[at - 1].islower()
    if not described or words[at - 1] in STOP | PARTICLES:
        return None
    return " ".join(words[at:])


@lru_cache(maxsize=8192)
def readings(value: str) -> tuple[GoldForm, ...]:
    """Return the ways to read a gold, the whole one first.

    Left out may be: parentheses, what follows a comma (unless the gold is a list), a year or place
    at the end, lower-case words before a name. "A or B" is both.
    """
    value = _SAID_OF.sub("", " ".join(value.split()))
    if value.isalpha():
        return tuple(filter(None, [_form(value, True)]))
    bare = " ".join(_PARENTHESES.sub(" ", value).split()).strip(" ,") or value
    whole = [value, bare]
    inside = _PARENTHESES.search(value)
    if inside and bare != value and re.fullmatch(r"[A-Z]{2,6}", inside[1].strip()):
        whole.append(inside[1].strip())
    whole.append(_ONES.sub(lambda m: "I" * len(m[0]), bare))
    if "," not in bare:
        whole.extend(half for half in _EITHER.split(bare) if re.search(r"\w{2}", half))
    short: list[str] = []
    for one in (value, bare):
        head, *comma = _COMMA.split(one, maxsplit=1)
        if comma and not LISTED.search(one):
            short.append(head)
        first, _, last = one.rpartition(" ")
        if last in _KINDS:
            short.append(first)
        short += [_LEADING.sub("", one), _DATED.sub("", one)]
        rest = _ORIGIN.sub("", one)
        if len([t for t in tokens(rest) if t.text not in STOP]) >= 2:
            short.append(rest)
        names = filter(None, map(_capital_run, (one, head)))
        short.extend(part for name in names for part in (name, _ORIGIN.sub("", name)))
    found = [_form(v, True) for v in dict.fromkeys(whole)]
    found += [_form(v, False) for v in dict.fromkeys(short) if v and v not in whole]
    return tuple(f for f in found if f is not None)


# ---- a phrase in a text: in the same words, glued, reordered, inflected, as a name variant

_SMALL_WORDS = STOP | lexicon_words("talk", "matching.short")


class Hit(NamedTuple):
    """A match: token indices in the text, inclusive, and the rule that found it."""

    first: int
    last: int
    why: str


class MatchedText:
    """A text taken apart once: tokens without articles, and where each form of a word stands.

    ``glued`` are its letters without spaces, ``starts`` where in them each token begins.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tuple(t for t in tokens(text) if t.text not in ARTICLES)
        self.places: dict[str, list[int]] = {}
        self._located: dict[str, tuple[int, ...]] = {}
        places = self.places
        for i, t in enumerate(self.tokens):
            for key in keys(t.text, t.stem):
                places.setdefault(key, []).append(i)
            if t.raw.isupper():
                # What reads as a Roman numeral in capitals may be a word in capitals, and "Henry V"
                # is Henry the Fifth, though a single letter may also be an initial.
                if t.number:
                    places.setdefault(t.raw.casefold(), []).append(i)
                if t.raw in NUMERALS and i and self.tokens[i - 1].capital:
                    places.setdefault(NUMERALS[t.raw], []).append(i)

    @cached_property
    def glued(self) -> str:
        return "".join(t.text for t in self.tokens)

    @cached_property
    def starts(self) -> list[int]:
        return list(accumulate((len(t.text) for t in self.tokens), initial=0))

    @cached_property
    def at(self) -> list[int]:
        """Where in the text each token begins."""
        return [t.start for t in self.tokens]

    @cached_property
    def words(self) -> frozenset[str]:
        """The words as they are compared."""
        return frozenset(t.text for t in self.tokens)

    @cached_property
    def bare(self) -> str:
        """The text without blanks and marks around it, ``folded`` as words are compared."""
        return _bare(self.text)

    @cached_property
    def folded(self) -> str | None:
        return fold(self.bare) if len(self.bare) < 200 else None  # a long text is no gold

    @cached_property
    def names(self) -> list[Hit]:
        """What is written with capitals, a run for each."""
        found: list[Hit] = []
        for at, t in enumerate(self.tokens):
            if t.capital and (not found or at > found[-1].last):
                found.append(Hit(*_run(self, Hit(at, at, "name")), "name"))
        return found

    @cached_property
    def initials(self) -> frozenset[str]:
        """The first letters of the words of all names."""
        named = (self.tokens[name.first : name.last + 1] for name in self.names)
        return frozenset(t.text[0] for words in named for t in words)

    def written(self, hit: Hit) -> str:
        """Return a hit as it is written."""
        return self.text[self.tokens[hit.first].start : self.tokens[hit.last].end]

    def locate(self, word: Token) -> tuple[int, ...]:
        """Return where a word of a gold stands: itself, inflected, or its family."""
        known = self._located.get(word.text)
        if known is None:
            found = {
                i
                for key in keys(word.text, word.stem)
                for i in self.places.get(key, ())
                if _inflected(word, self.tokens[i], key)
            }
            for key in _other_keys(word):
                found.update(self.places.get(key, ()))
            known = self._located[word.text] = tuple(sorted(found))
        return known


@lru_cache(maxsize=128)
def matched_text(text: str) -> MatchedText:
    """Take a text apart (cached, as a text is compared with several golds)."""
    return MatchedText(text)


@lru_cache(maxsize=512)
def matched_question(question: str) -> MatchedText:
    """Take a question apart (cached, as it has many answers, and others between them)."""
    return MatchedText(question)


def _other_keys(word: Token) -> Iterator[str]:
    """Yield what a numeral of a gold is also looked up by: as a word, and as a number."""
    if word.number and word.raw.isalpha():
        yield word.raw.casefold()
    if word.raw in NUMERALS:
        yield NUMERALS[word.raw]


def _inflected(word: Token, said: Token, key: str) -> bool:
    """Tell whether a word may be a form of a gold's: short names have a plural and nothing else.

    "Nice" is not "nicely", and a "journalist" is not the "Journal of Physics".
    """
    if word.text == said.text or key[0] in "@&" or word.number:
        return True
    short = word.raw.istitle() and len(key) < 7
    if short or (said.capital and not word.capital and key not in (word.text, word.stem)):
        return plain_plural(word.text) == plain_plural(said.text)
    return True


def phrase(form: GoldForm, text: MatchedText) -> list[Hit]:
    """The gold's words, one after the other (articles apart), up to inflection."""
    first, *rest = form.tokens
    starts = text.locate(first)
    if not rest and first.raw.isupper() and 2 <= len(first.raw) <= 4 and len(text.tokens) > 3:
        # "US" is not the pronoun "us", "WHO" not the question word.
        starts = tuple(i for i in starts if text.tokens[i].raw not in _SMALL_WORDS)
    if not starts or not rest:
        return [Hit(i, i, "phrase") for i in starts]
    others = [frozenset(text.locate(w)) for w in rest]
    return [
        Hit(i, i + len(rest), "phrase")
        for i in starts
        if all(i + k + 1 in where for k, where in enumerate(others))
    ]


def is_ambiguous_name(form: GoldForm, said: Token) -> bool:
    """Tell whether a short name among many may be another word in a text.

    "He" for helium is mostly a pronoun, "CA" is not calcium's "Ca" and "it" not Italy's "IT".
    """
    word = form.tokens[0]
    if len(form.tokens) > 1 or len(word.raw) > 3:
        return False
    if word.text in _SMALL_WORDS:
        return True
    return (word.raw.isupper() or len(word.raw) < 3) and said.raw != word.raw


def glued(form: GoldForm, text: MatchedText) -> list[Hit]:
    """The gold's letters, wherever the spaces went; inside longer words only if it is long."""
    size = len(form.glued)
    found: list[Hit] = []
    if size < 2:
        return found
    at = text.glued.find(form.glued)
    tries = 0
    while at >= 0 and tries < 50:
        first = bisect_right(text.starts, at) - 1
        last = bisect_right(text.starts, at + size - 1) - 1
        clean = text.starts[first] == at
        end = text.starts[last] + len(text.tokens[last].text) == at + size
        before = text.glued[text.starts[first] : at]
        after = text.glued[at + size : text.starts[last] + len(text.tokens[last].text)]
        # What hangs on to it must be a word that lost its space: "isSmith", not "Smithson".
        # A word taken apart at its capital has lost more spaces: "bandAcein".
        apart = first and text.tokens[first - 1].end == text.tokens[first].start
        long = size >= (3 if apart and clean and len(after) > 1 else 8)
        long = long and all(not rest or rest in STOP | ARTICLES for rest in (before, after))
        said = text.tokens[first].raw
        # One word for one word is what phrase() looks for; "us" is not "U.S.".
        initials = len(form.tokens) == 1 or (said in _SMALL_WORDS and form.tokens[0].capital)
        if first == last and clean and end and initials:
            pass
        elif (clean and end) or long:
            found.append(Hit(first, last, "glued"))
        at = text.glued.find(form.glued, at + 1)
        tries += 1
    return found


def binomial(form: GoldForm, text: MatchedText) -> list[Hit]:
    """A species with its genus shortened: "P. falciparum"."""
    if len(form.tokens) != 2 or not form.tokens[0].raw.istitle() or form.tokens[1].capital:
        return []
    genus, species = form.tokens
    return [
        Hit(i - 1, i, "initial")
        for i in text.locate(species)
        if i and len(species.text) > 3 and text.tokens[i - 1].raw == genus.raw[0]
    ]


def surname(form: GoldForm, text: MatchedText) -> list[Hit]:
    """The family name alone, unless the same text also gives it another given name."""
    if form.person is None or len(form.person[-1].text) < 4:
        return []
    family = form.person[-1]
    where = [i for i in text.locate(family) if text.tokens[i].text == family.text]
    if not all(stands_alone(text.tokens, i) for i in where):
        return []
    return [Hit(i, i, "surname") for i in where if text.tokens[i].capital]


def window(words: Collection[Token], text: MatchedText, width: int, least: int) -> Hit | None:
    """The shortest stretch of at most ``width`` tokens that holds ``least`` different words."""
    places = sorted({(i, n) for n, w in enumerate(words) for i in text.locate(w)})
    count: dict[int, int] = {}
    left = 0
    best: Hit | None = None
    for i, n in places:
        count[n] = count.get(n, 0) + 1
        while i - places[left][0] > width or count[places[left][1]] > 1:
            gone = places[left][1]
            count[gone] -= 1
            if not count[gone]:
                del count[gone]
            left += 1
        if len(count) >= least and (best is None or i - places[left][0] < best.last - best.first):
            best = Hit(places[left][0], i, "words")
    return best


def spread_words(
    form: GoldForm, new: Sequence[Token], text: MatchedText, asked: MatchedText
) -> list[Hit]:
    """The gold's content words that the question did not say, close together, in any order."""
    different = tuple({t.stem: t for t in new}.values())
    if len(form.content) == 1 or not different or _is_mixed(form, text):
        return []
    if len(different) == 1:
        return _rest(different[0], form, text, asked)
    hit = window(different, text, 6 + 3 * len(different), len(different))
    return [] if hit is None else [hit]


def _is_mixed(form: GoldForm, text: MatchedText) -> bool:
    """Whether a gold of several numbers is said in another order: "2-3" is not "3-2"."""
    if len(form.content) == 1 or not all(t.number for t in form.content):
        return False
    at = -1
    for word in form.content:
        at = next((i for i in text.locate(word) if i > at), len(text.tokens))
    return at == len(text.tokens)


def _rest(word: Token, form: GoldForm, text: MatchedText, asked: MatchedText) -> list[Hit]:
    """The one word that the question left to say: "1.3" or "version 1.3" for "TLS 1.3".

    It must be that word itself, and no other may qualify it: "Luna 2" is not "Mars 2".
    """
    if word.text in CHANGERS or word.text in CLASSES:
        return []
    known = {t.stem for t in form.tokens} | STOP
    found = []
    for i in text.locate(word):
        before = text.tokens[i - 1] if i else None
        free = before is None or before.stem in known or before.text in known
        if before is not None and word.capital and not before.capital:
            free = True  # "his cousin Elsa"
        same = text.tokens[i].stem == word.stem and ordinal(text.tokens[i].raw) == ordinal(word.raw)
        if same and (free or (before and asked.locate(before))):
            found.append(Hit(i, i, "words"))
    return found


# ---- a value that is no answer: denied, repeated from the question, of another event, or one of
# several of which some are wrong

_NEGATORS = lexicon_words("negations", "matching")
_NOT_DENYING = ("only", "until", "just", "merely", "before", "later", "as")
_BE = lexicon_words("auxiliaries", "matching.be")
_RESTART = lexicon_words("turns", "matching")
_SENTENCE_END = regex(r"[.!?](?=\s|$)|[\n;]")
_BREAK = regex(r"[,;:.!?\n](?=\s|$)")
_PREDICATE = lexicon_words("auxiliaries", "matching.predicate")
_EVENT = {word: n for n, group in enumerate(lexicon_groups("events")) for word in group}
#: what people are called by what they do: a name behind it may do something else, too
_ROLES = lexicon_words("people", "matching.role")
_BEGUN, _ENDED = _EVENT["began"], {_EVENT["completed"], _EVENT["dissolved"]}


def sentence_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span of the sentence around a span; abbreviations may end it early."""
    before = [m.end() for m in _SENTENCE_END.finditer(text, max(0, start - 400), start)]
    after = _SENTENCE_END.search(text, end, end + 400)
    return (before[-1] if before else max(0, start - 400)), (after.start() if after else end + 400)


def span_tokens(said: MatchedText, start: int, end: int) -> tuple[int, int]:
    """Return the indices of the first token in a character span and the first one after it."""
    starts = said.at
    return bisect_left(starts, start), bisect_left(starts, end)


def denied(said: MatchedText, start: int, end: int) -> bool:
    """Tell whether a value is denied: "not X", "X is not"."""
    first, after = span_tokens(said, start, end)
    words = said.tokens
    for k in range(first - 1, max(-1, first - 6), -1):
        word = words[k].text
        if word in _RESTART or _BREAK.search(said.text, words[k].end, words[k + 1].start):
            break
        following = words[k + 1].text
        if word == "not" and following in _NOT_DENYING:
            break
        if word == "not" and k and words[k - 1].text == "if":
            break  # "who if not X"
        if first - k <= 4 and word in _NEGATORS:
            return True
    behind = [t.text for t in words[after : after + 3]]
    if behind[1:2] != ["not"] or behind[0] not in _BE or behind[2:] in (["only"], ["just"]):
        return False
    return not _BREAK.search(said.text, end, words[after + 1].start)


def denies(tokens: Iterable[Token]) -> bool:
    """Tell whether a question itself is about what is not the case."""
    return any(t.text in _NEGATORS for t in tokens)


def echoed(said: MatchedText, asked: MatchedText, start: int, end: int) -> bool:
    """Tell whether a value is only the question's own words, said again before something new.

    True for a subject that the question named, when the sentence goes on to say something else.
    """
    first, after = span_tokens(said, start, end)
    inside = [t for t in said.tokens[first:after] if t.text not in STOP]
    if not inside or not all(t.text in asked.places for t in inside):
        return False
    low, high = sentence_span(said.text, start, end)
    low_token, high_token = span_tokens(said, low, high)
    for t in said.tokens[low_token:first]:
        if t.text in _PREDICATE or (t.text not in STOP and not asked.locate(t)):
            return False
    return any(t.text not in STOP and not asked.locate(t) for t in said.tokens[after:high_token])


def other_event(said: MatchedText, asked: MatchedText, start: int, end: int) -> bool:
    """Tell whether a value belongs to another event than the one asked about.

    "Born in Ripley and died in Paris" says nothing of Paris as a birthplace. The word for the event
    must stand before the value with only function words, numbers and months between, and the
    event that was asked about must be in the text too. What a person is called does not count where
    the text says that this person did what is asked about: "written by the director X".
    """
    wanted = {_EVENT[t.text] for t in asked.tokens if t.text in _EVENT}
    if len(wanted) != 1 or not any(w in said.places for w, n in _EVENT.items() if n in wanted):
        return False
    first, after = span_tokens(said, start, end)
    role = False
    for k in range(first - 1, max(-1, first - 12), -1):
        word = said.tokens[k].text
        if word in _EVENT:
            pair = wanted | {_EVENT[word]}
            if len(pair) > 1 and word in _ROLES:
                role = True  # "written by the director X"
                continue
            return len(pair) > 1 and (_BEGUN not in pair or bool(pair & _ENDED))
        if role and (word in _ROLES or word == "and"):
            continue
        if word in ("and", "but") or not (word in STOP or word[0].isdigit() or word in MONTHS):
            break
        if role and word not in ("by", "the", "a", "an"):
            break  # "directed it for the producer X"
    # "the director X wrote it", not "the director X"
    return role and not _does(said, after, wanted)


def _does(said: MatchedText, at: int, wanted: set[int]) -> bool:
    """Tell whether an event that is asked about follows a name, with only small words between."""
    for word in said.tokens[at : at + 4]:
        if word.text in _EVENT:
            return _EVENT[word.text] in wanted and word.text not in _ROLES
        if word.text not in STOP:
            return False
    return False


_HALVES = lexicon_words("namesakes", "matching.half")


def other_place(said: MatchedText, start: int, end: int) -> bool:
    """Tell whether "New" or a compass point makes another place of the value ("New York")."""
    first, after = span_tokens(said, start, end)
    if after != first + 1 or not first or said.tokens[first - 1].end + 1 != start:
        return False
    before, place = said.tokens[first - 1], said.tokens[first]
    compass = before.text in lexicon_words("namesakes", "matching.compass")
    new = before.text == "new" and place.capital
    return before.capital and (new or (compass and place.text in _HALVES))


_LINK = r"(?P<link>,\s*+(?:and|or|&)\s|,\s|;\s|and\s|or\s|&\s)"
#: What stands between two items: a word or a comma, or a line break among other white space.
_GAP = rf"(?:\s*+{_LINK}|[^\S\n]*+\n)\s*+"
_CAPITAL = r"[A-Z0-9][\w.'\u2019-]*"
_NAME = rf"(?:(?:the|a|an)\s+)?{_CAPITAL}(?:\s+(?:(?:of|the|de|von|van|la)\s+)?{_CAPITAL}){{0,4}}"
_NOUN = r"(?:(?:the|a|an)\s+)?[a-z][\w'\u2019-]*(?:\s+[a-z][\w'\u2019-]*){0,2}?"
_STOPS = r"(?=\s*(?:[,;.!?()&\n]|(?:and|or|in|at|on|for|from|with|who|as|to|during)\s|$))"
_RIGHT = {
    True: regex(rf"{_GAP}(?P<item>{_NAME}){_STOPS}"),
    False: regex(rf"{_GAP}(?P<item>{_NOUN}){_STOPS}"),
}
_LEFT = {
    True: regex(rf"(?P<item>{_NAME}){_GAP}(?:(?:the|a|an)\s++)?$"),
    False: regex(rf"(?P<item>(?:^|(?<=\s))[a-z][\w'\u2019-]*){_GAP}(?:(?:the|a|an)\s++)?$"),
}
_TRAILING = regex(r"(?<![.,'\u2019])[.,'\u2019]++$")


def list_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the spans of the other items of the list that a value stands in.

    A list is what commas and at least one "and", "or" or "&" (or line breaks) join to the value:
    short items, all written with a capital or all without.
    """
    capital = text[start : start + 1].isupper()
    found: list[tuple[int, int]] = []
    joined = False

    def item(m: re.Match[str], low: int) -> int:
        nonlocal joined
        joined = joined or (m["link"] or "and").strip() not in (",", ";")
        first = low + m.start("item")
        found.append((first, first + len(_TRAILING.sub("", m["item"]))))
        return first

    at = end
    while len(found) < 40 and (m := _RIGHT[capital].match(text, at, at + 120)):
        item(m, 0)
        at = m.end()
    at = start
    while len(found) < 80 and (m := _LEFT[capital].search(text[max(0, at - 80) : at])):
        at = item(m, max(0, at - 80))
    return found if joined else []


# ---- when a part of the gold is enough in a short answer, and when a place goes on otherwise

# What stands before "of" in a name that is often left out: "(the University of) Oxford".
_INSTITUTION = lexicon_words("things", "matching.institution")


def _clips(form: GoldForm, kept: set[str]) -> bool:
    """Tell whether what is left out makes another thing of the gold.

    A number, a word that changes what follows it, the family name of three names, the thing itself
    of "walls of the heart", and the noun of "Boston suburbs" or "hydrogen peroxide" may not be.
    """
    missing = [t for t in form.content if t.stem not in kept]
    if any(t.number or t.text in CHANGERS for t in missing):
        return True
    if form.person is not None and len(form.person) > 2 and form.person[-1].stem not in kept:
        return True
    if len(form.tokens) > 2 and form.tokens[1].text == "of":
        thing = form.tokens[0]
        if kept == {thing.stem} or not (thing.stem in kept or thing.text in _INSTITUTION):
            return True
    if all(t.number for t in form.content if t.stem in kept):
        named = any(t.capital for t in missing)  # "III" is not "Henry III"
        return named or not (form.content[0].number or form.content[-1].number)
    last = form.content[-1]
    counted = form.content[0].number and form.content[0].stem in kept
    return last.stem not in kept and not last.capital and not counted


#: words of an answer that may be nothing but a part of a gold
LONGEST_BARE = 7


def is_bare_gold(form: GoldForm, text: MatchedText) -> list[Hit]:
    """A short answer that says nothing but words of the gold: "Belshazzar" for "king Belshazzar".

    One word of several common ones is too little: "basalts" is not "high-titanium basalts".
    """
    said = {i: t for i, t in enumerate(text.tokens) if t.text not in STOP}
    if not 1 <= len(said) <= 4 or len(text.tokens) > LONGEST_BARE or LISTED.search(form.value):
        return []
    if _is_mixed(form, text):
        return []
    kept: set[str] = set()
    covered: set[int] = set()
    for t in form.tokens:
        places = set(text.locate(t)) & said.keys()
        if places:
            kept.add(t.stem)
            covered |= places
    if covered != said.keys() or _clips(form, kept):
        return []
    counted = form.content[0].number and form.content[0].stem in kept
    if 2 * len(kept) < len({t.stem for t in form.content}) and not counted:
        return []
    common = not any((t.capital or t.number) and t.stem in kept for t in form.content)
    if common and len(kept) == 1 < len(form.content):
        return []
    return [Hit(min(said), max(said), "bare part")]


def continued(said: MatchedText, hit: Hit, gold: GoldForm) -> bool:
    """Tell whether a place goes on otherwise than its gold: "Plymouth, England", "Texas Bowl".

    A capitalized word that is not the gold's follows it, after a space or a comma (in a text
    without capitals any word after a comma), or stands before it ("Ann Plymouth").
    """

    def foreign(i: int, capital: bool) -> bool:
        t = said.tokens[i]
        if not capital or t.text in STOP or (t.number and t.raw.isdigit()):
            return False
        return not any(t.stem == g.stem for g in gold.tokens)

    first, last = hit.first, hit.last
    if last + 1 < len(said.tokens):
        after = said.tokens[last + 1]
        gap = said.text[said.tokens[last].end : after.start].strip()
        lower = gap == "," and said.text.islower()
        if gap in ("", ",") and foreign(last + 1, after.capital or lower):
            return True
    if first:
        before = said.tokens[first - 1]
        touching = not said.text[before.end : said.tokens[first].start].strip()
        return touching and foreign(first - 1, before.capital)
    return False


# ---- which dates of an answer count: birth or death, a year or both ends of a span

_BOTH_ENDS = regex(
    r"\b(?:and|to) (?:\w+ ){0,2}(?:end|finish|complete|stop|close)"
    r"|from when|between (?:what|which)|how long",
    re.IGNORECASE,
)
_BIRTH = regex(r"\b(?:born|birth)", re.IGNORECASE)
_DEATH = regex(r"\b(?:die[sd]?\b|death|dead\b)", re.IGNORECASE)


_WHEN_DASH = regex(r"\s*[-\u2013\u2014]\s*")


def _living(question: str, text: str, said: Sequence[Date]) -> list[Date]:
    """Keep one date of "(1946-1990)" or "(15 May 1946 - 3 May 1990)" for a birth or a death."""
    keep = [d for d in (_BIRTH, _DEATH) if d.search(question)]
    if not keep:
        return list(said)
    birth = keep[0] is _BIRTH
    found = list(said)
    for a, b in pairwise([*said, *said[-1:]]):
        if text[a.start - 1 : a.start] != "(":
            continue
        if a.kind == "span":
            year = a.year if birth else a.last
            one = a._replace(year=year, last=year, kind="point")
            found = [one if d == a else d for d in found]
        elif _WHEN_DASH.fullmatch(text, a.end, max(a.end, b.start)):
            gone = b.start if birth else a.start
            found = [d for d in found if d.start != gone]
    return found


def _contradicted(said: Date, exact: list[Date]) -> bool:
    """Tell whether the day or month that is said is none of those known for its year."""
    same = [d for d in exact if d.kind == "point" and d.year == said.year and d.month]
    return bool(said.month and same) and not any(agree(d, said) for d in same)


def date_spans(
    question: str, text: str, want: tuple[Date, ...], names: Iterable[tuple[Date, ...]] = ()
) -> list[tuple[int, int]]:
    """Return the spans of the dates in an answer that agree with a gold's dates.

    ``names`` are the dates of all names of the gold: beside "2006" and "30 March 2006" the answer
    "14 May 2006" is wrong, although it says the year. Of a gold with several dates each must be
    said, or nothing agrees. A question for how long, or start and end, needs both ends of a span.
    """
    said = _living(question, text, value_dates(text, question))
    if len({d.start for d in want}) > 1:
        ends = [s for s in said if s.kind == "span"]
        said = [s for s in said if s.kind != "span"]
        said += [s._replace(last=s.year, kind="point") for s in ends]
        said += [s._replace(year=s.last, kind="point") for s in ends]
    exact = [d for name in names if len(name) == 1 for d in name]
    said = [s for s in said if not _contradicted(s, exact)]
    found: list[tuple[int, int]] = []
    for place in dict.fromkeys(d.start for d in want):
        either = [d for d in want if d.start == place]
        # A year that the question gave says nothing of the month that it asked for.
        given = {d.year for d in find_dates(question)} if either[0].month else set()
        hits = [
            s for s in said if any(agree(d, s) for d in either) and (s.month or s.year not in given)
        ]
        if either[0].kind == "span" and _BOTH_ENDS.search(question):
            years = {y for s in said for y in (s.year, s.last)}
            hits = [s for s in hits if {either[0].year, either[0].last} <= years]
        if not hits:
            return []
        found.extend((h.start, h.end) for h in hits)
    return found


def misdated(case: MatchedCase, value: str, end: int) -> bool:
    """Tell whether an answer says other dates than ``value[:end]``, or ``value`` if asked when."""
    timed = _TIMED.search(case.question)
    gold = [date for date in find_dates(value) if timed or date.start < end]
    said = value_dates(case.text, case.question) if gold else ()
    exact = [s for s in said if s.month or not all(g.month for g in gold)]
    return bool(exact) and not any(agree(g, s) for g in gold for s in exact)


#: Places in one answer that are looked at for one name of a gold.
MOST_CANDIDATES = 200
#: Places in one answer where one name of a gold is looked for in other shapes.
MOST_NAMES = 50
#: What stands in lower case inside names.
NAME_WORDS = PARTICLES | ARTICLES | {"of", "for", "and", "in"}
#: Of a gold with more names than these only the first is also recognized by a part of it.
MOST_ALIASES = 5


class Match(NamedTuple):
    """What was compared: the content, its span in the text, and the rule that decided."""

    content: Content
    start: int | None
    end: int | None
    why: str


class Candidate(NamedTuple):
    """A place in the answer that says the gold, and the rule that found it."""

    start: int
    end: int
    why: str


class MatchedCase:
    """One question and answer, taken apart once for all golds."""

    def __init__(self, question: str, text: str, golds: Sequence[Gold] = ()) -> None:
        self.question, self.text, self.golds = question, text, golds
        self.asked, self.said = matched_question(question), matched_text(text)
        self.choice = "or" in self.asked.places  # the question itself offers the answers

        self._regions: dict[str, tuple[int, int]] = {}

    @cached_property
    def known(self) -> frozenset[str]:
        """What the words of the question and of the golds are looked up by, and their families."""
        golds = (matched_text(name) for gold in self.golds for name in gold.names)
        families = (family_stem(t.text) for t in self.asked.tokens if t.text not in STOP)
        return frozenset(self.asked.places).union(families, *(gold.words for gold in golds))

    @cached_property
    def told(self) -> list[Token]:
        """The content words of the answer."""
        return [t for t in self.said.tokens if t.text not in STOP]

    def region(self, comparison: GoldComparison) -> tuple[int, int]:
        """Return the part of the text in which an answer of a gold's kind stands."""
        kind = comparison.kind
        if kind not in self._regions:
            self._regions[kind] = region(self, comparison.other, kind)
        return self._regions[kind]


_TIMED = regex(
    rf"\bwhen\b|\b(?:{alternatives(lexicon_words('measures', 'matching.date'))})s?\b", re.IGNORECASE
)
_COUNTED = regex(r"\bhow (?:many|much)\b|\bnumbers? of\b|\bpopulation\b", re.IGNORECASE)

OTHER_NAME = "another name"
_NAME_GAP = regex(r"[ \u00a0]|[-\u2010\u2011'\u2019]|\. ?")


#: words to either side beyond which nothing is part of a name
LONGEST_NAME = 50


def _run(said: MatchedText, hit: Hit) -> tuple[int, int]:
    """Return the first and last token of the name that a hit stands in: "Theo van [Gogh]"."""

    def joins(i: int, k: int) -> bool:
        gap = said.text[said.tokens[i].end : said.tokens[k].start]
        short = len(said.tokens[i].raw) <= 3
        return bool(_NAME_GAP.fullmatch(gap)) and ("." not in gap or short)

    def named(i: int) -> bool:
        t = said.tokens[i]
        return t.capital and (len(t.raw) == 1 or t.text not in STOP)

    first, last = hit.first, hit.last
    k = first - 1
    while k >= 0 and first - k <= 3 and hit.first - k < LONGEST_NAME and joins(k, k + 1):
        if named(k):
            first = k
        elif said.tokens[k].text not in PARTICLES and said.tokens[k].text != "of":
            break
        k -= 1
    k = last + 1
    most = min(len(said.tokens), hit.last + LONGEST_NAME)
    while k < most and k - last <= 2 and joins(k - 1, k):
        joined = said.text[said.tokens[k].start - 1] in "-\u2010\u2011" and last == k - 1
        if named(k) or joined or _numbered(said, k):
            last = k
        elif said.tokens[k].text not in PARTICLES and said.tokens[k].text != "of":
            break
        k += 1
    return first, last


def _numbered(said: MatchedText, i: int) -> bool:
    """Tell whether a token is the number of a thing or ruler: "Toy Story 3", "Henry VIII"."""
    t = said.tokens[i]
    if not t.number or "." in t.text or said.text[t.start - 1] != " ":
        return t.raw in NUMERALS and t.raw != "I"
    if t.raw.isalpha():
        return t.raw.isupper()
    return len(t.raw) < 3


def _initials(form: GoldForm) -> frozenset[str] | None:
    """Return letters, with one of which a word begins wherever a name is written otherwise.

    ``None``: with any. That is so of countries and single names alone.
    """
    if len(form.tokens) == 1 or country_names(form.value):
        return None
    return frozenset(t.text[0] for t in form.tokens)


def _same_name(said: MatchedText, asked: MatchedText, form: GoldForm) -> list[Hit]:
    """Return where the same name is written in another shape: "JFK", "Ninth Symphony"."""
    if not said.names or "," in form.value or LISTED.search(form.value):
        return []
    named = all(t.capital or t.number or t.text in NAME_WORDS for t in form.tokens)
    initials = _initials(form)
    found: list[Hit] = []
    for name in said.names[:MOST_NAMES]:
        words = said.tokens[name.first : name.last + 1]
        if initials is not None and initials.isdisjoint(t.text[0] for t in words):
            continue
        if not named and (len(words) > 1 or not words[0].raw.isupper()):
            continue
        new = any(t.text not in asked.places for t in words)
        if new and compare_names(form.value, said.written(name)) == "same":
            found.append(name)
    return found


#: a formula that a digit makes another of: "H2O" in "H2O2"
_FORMULA = regex(r"CO|NO|SO|(?=\D*\d)(?:[A-Z][a-z]?[0-9]*)+")
_ANOTHER = regex(r"[0-9\u2080-\u2089](?!\d)")


def _candidate(case: MatchedCase, form: GoldForm, hit: Hit, why: str) -> Candidate:
    """Return a hit as a candidate; where it is part of another name, that name with its reason."""
    said = case.said
    start, end = said.tokens[hit.first].start, said.tokens[hit.last].end
    known = {t.text for t in form.tokens}
    inside = said.tokens[hit.first : hit.last + 1]
    if _ANOTHER.match(said.text, end) and _FORMULA.fullmatch(form.value):
        return Candidate(start, end, OTHER_NAME)
    named = form.value[:1].isupper() and not ("," in form.value or LISTED.search(form.value))
    if not named or not any(t.capital and t.text in known for t in inside):
        return Candidate(start, end, why)
    if hit.why in ("phrase", "glued"):
        if hit.last + 1 == len(said.tokens) or not _numbered(said, hit.last + 1):
            return Candidate(start, end, why)
        name = hit._replace(last=hit.last + 1)
    else:
        name = Hit(*_run(said, hit), why)
    first, last = said.tokens[name.first], said.tokens[name.last]
    part = first is last and first.text in known and len(known) > 1
    if part or compare_names(form.value, said.written(name)) != "different":
        return Candidate(start, end, why)
    return Candidate(first.start, last.end, OTHER_NAME)


#: two things are asked, of which what stands before a gold's comma is one
_TWO = regex(r",? and (?:who|whom|what|which|when|where|how) ", re.IGNORECASE)


class AskedForm(NamedTuple):
    """A reading of a gold and a question: the words that the question does not say.

    ``keys`` are what its words are looked up by. A text with none of them holds no word of it.
    """

    form: GoldForm
    new: tuple[Token, ...]
    keys: frozenset[str]


@lru_cache(maxsize=4096)
def _asked_forms(question: str, value: str, part: bool) -> tuple[AskedForm, ...]:
    """Return the readings of a gold's name that count for a question."""
    asked, found = matched_question(question), []
    for form in readings(value):
        new = tuple(t for t in form.content if not asked.locate(t))
        dated = gold_dates(form.value) or all(t.text in MONTHS for t in form.content)
        if form.whole or (part and new and not dated):
            words = (key for t in form.tokens for key in (*keys(t.text, t.stem), *_other_keys(t)))
            found.append(AskedForm(form, new, frozenset(words)))
    return tuple(found)


def _words(case: MatchedCase, value: str, part: bool, few: bool) -> Iterator[Candidate]:
    """Yield where a text gold is said; with ``part``, also by a part of it."""
    said, asked = case.said, case.asked.words
    every, here = _asked_forms(case.question, value, part), said.places.keys()
    forms = [one for one in every if not misdated(case, value, len(one.form.value))]
    for form, new, known in forms:
        silent = here.isdisjoint(known)  # none of its words stands here
        hits = (not silent and phrase(form, said)) or glued(form, said)
        if hits and not part and len(said.tokens) > 3:
            hits = [hit for hit in hits if not is_ambiguous_name(form, said.tokens[hit.first])]
        if not silent:
            hits = [*hits, *binomial(form, said)]
            if part or len(new) > 1:
                hits = [*hits, *spread_words(form, new, said, case.asked)]
        placed = bool(hits) and value.startswith(form.value + ",")
        if placed and _TWO.search(case.question):
            rest = tokens(value[len(form.value) :])
            hits = hits if all(said.locate(t) for t in rest if t.capital) else []
        for hit in hits:
            if placed and continued(said, hit, every[0].form):
                continue
            inside = said.tokens[hit.first : hit.last + 1]
            family = not {t.stem for t in inside} & {t.stem for t in form.tokens}
            if family and all(t.text in asked for t in inside):
                continue  # of "Poland" in the question nobody learns that it is "Polish"
            yield _candidate(case, form, hit, hit.why + " of a part" * (not form.whole))
    if not part:
        return
    for form, new, known in forms:
        if form.whole:
            silent = here.isdisjoint(known)
            # "Darwin" alone, of whom the question speaks, is no answer for "Emma Darwin"
            told = not silent and (not (form.person and new) or any(said.locate(t) for t in new))
            hits = is_bare_gold(form, said) if told else []
            hits = hits or (_same_name(said, case.asked, form) if few else [])
            if not silent and form.person and form.person[-1] in new:
                hits = [*hits, *surname(form, said)]
            for hit in hits:
                yield _candidate(case, form, hit, hit.why)


def _few(gold: Gold) -> bool:
    return len(gold.names) <= MOST_ALIASES


def _partly(gold: Gold, value: str) -> bool:
    """Tell whether a part of a gold's name is looked for too.

    Many names already hold the short ones; a part of one of them is something else.
    """
    return _few(gold) or value == gold.value


class GoldComparison(NamedTuple):
    """Where a gold is said, and where something else of its kind is."""

    found: Iterator[Candidate]
    other: list[tuple[int, int]]
    kind: str


@lru_cache(maxsize=4096)
def _wanted(
    question: str, gold: Gold, value: str, part: bool
) -> tuple[tuple[Date, ...], WrittenQuantity | None]:
    """Return the dates that a gold's name stands for, else its amount; neither for plain words."""
    if gold.kind != "text" or gold.unit:
        counts = gold.kind != "date"
    else:
        counts = bool(_COUNTED.search(question)) or not _TIMED.search(question)
    if not (value.strip().isdigit() and counts):  # bare digits are a number rather than a year
        want = gold_dates(value, gold.precision, gold.kind)
        if want:
            return want, None
    forms = [form for form in readings(value) if form.whole or part]
    parts = (gold_quantity(form.value, gold.unit, gold.kind) for form in forms)
    return (), next((p for p in parts if p is not None), None)


#: asks for a year that needs no era in its answer
_BEFORE_ERA = regex(r"\bb\.?\s?c\b|\bbefore christ", re.IGNORECASE)


def _amounts(text: str, count: bool, asked: str = "BC") -> list[WrittenQuantity]:
    """Return the amounts of a text: no part of a date, nor a rank when "how many" is asked.

    "79 BC" is not 79, unless a year BC was ``asked`` for.
    """
    values, era = value_dates(text), not _BEFORE_ERA.search(asked)
    dates = [
        # "AD 336" stays, of "25 December AD 336" too
        (d.start, text.rfind(str(d.year), d.start, d.end) if 0 < (d.year or 0) < 1000 else d.end)
        for d in find_dates(text)
        if d.month or d not in values or (era and (d.year or 0) < 0)
    ]
    found = list(find_amounts(text))
    shares = {q.start for q in found if " of " in text[q.start : q.end]}
    if shares:  # "ten of the thirty" is a third, and ten
        found += [q for q in find_quantities(text) if q.start in shares]
    if count:
        found = [q for q in found if q.unit == FRACTION or not ordinal(text[q.start : q.end])]

    def dated(q: WrittenQuantity) -> bool:
        near = bisect_left(dates, (q.end, 0))
        return any(q.start < end for _, end in dates[max(0, near - 2) : near])

    return [q for q in found if not dated(q)] if dates else found


_NONE = regex(
    rf"(?:(?<!to )\b(?:{alternatives(lexicon_words('negations', 'matching.none'))})\b"
    rf"|\b(?:{alternatives(lexicon_words('negations', 'matching.no'))})\s++([^\W\d_]++))"
    r"(?=[\s)]*+(?:[.,;!]|$))",
    re.IGNORECASE,
)


def _nothing(case: MatchedCase) -> list[WrittenQuantity]:
    """Return where an answer says that there is none of what is counted: "none", "no moons"."""
    return [
        WrittenQuantity(0.0, "", 0.0, *m.span())
        for m in _NONE.finditer(case.text)
        if not m[1] or any(case.asked.locate(t) for t in tokens(m[1]) if t.text not in STOP)
    ]


def _repeats(case: MatchedCase, said: WrittenQuantity, gold: WrittenQuantity, value: str) -> bool:
    """Tell whether an amount is the question's, of which the answer is another form: "1/4"."""
    written = case.text[said.start : said.end]
    other = said.unit != gold.unit or ("/" in written and written != value)
    asked = find_amounts(case.question) if other else ()
    return any((q.value, q.unit) == (said.value, said.unit) for q in asked)


def _compare(case: MatchedCase, gold: Gold, value: str, part: bool) -> GoldComparison:
    want, amount = _wanted(case.question, gold, value, part)
    if want:
        dates = _living(case.question, case.text, value_dates(case.text, case.question))
        other = [(d.start, d.end) for d in dates]
        names = (gold_dates(name, gold.precision, gold.kind) for name in gold.names)
        spans = date_spans(case.question, case.text, want, names)
        found = (Candidate(*s, "date") for s in spans)
        return GoldComparison(found, other, "date")
    if amount is not None:
        count = "how many" in case.question.casefold()
        said = _amounts(case.text, count, case.question)
        said = said or (_nothing(case) if count and not amount.value else [])
        # A number that could be a year is not rounded: 1946 is not "about 1950".
        year = 1000 <= amount.value < 2200 and not (gold.unit or amount.unit)
        exact = year and (value.strip().isdigit() or not _COUNTED.search(case.question))
        found = (
            Candidate(q.start, q.end, "quantity")
            for q in said
            if same_amount(amount, q)
            and (not exact or q.unit or q.value == amount.value)
            and not _repeats(case, q, amount, value)
        )
        other = [(q.start, q.end) for q in said]
        return GoldComparison(found, other, "quantity")
    return GoldComparison(_words(case, value, part, _few(gold)), [], "words")


_ANSWER = regex(
    r"\b(?:the|my|final|correct) answer (?:is|would be|should be)\b|\banswer ?[:=]|####|</think>"
    r"|\\boxed\{",
    re.IGNORECASE,
)
#: what every plain text with such a conclusion holds
_CONCLUDES = regex(r"answer|####|</think>|\\boxed")
_EQUATION = regex(r"[-+*/x\u00d7\u00f7\u2212] {0,2}[$\u20ac\u00a3]?\d[^=\n]{0,40}=")


def concluded(text: str, numeric: bool) -> int:
    """Return where the answer of a chain of thought starts; 0 for a text that only answers.

    That is after the last "the answer is"; for numbers also after the last equals sign of a sum.
    """
    at = 0
    if not text.isascii() or _CONCLUDES.search(text.lower()):
        at = max((m.end() for m in _ANSWER.finditer(text)), default=0)
    if not at and numeric and "=" in text:
        at = max((m.end() for m in _EQUATION.finditer(text)), default=0)
    return at


_CHOICE = regex(r"\s*[*($]*(?P<letter>[A-H])[*).}$]*\s*\Z")
_OPTION = regex(r"(?<!\S)[*(]*(?P<letter>[A-H])[).:]\**\s+.*?(?=\s+[*(]*[A-H][).:]\**\s|\n|\Z)")


def _passed_over(case: MatchedCase, one: Candidate) -> bool:
    """Tell whether a place is in a list of options of which another is chosen by its letter."""
    choice = _CHOICE.match(case.text, concluded(case.text, numeric=False))
    options = list(_OPTION.finditer(case.text, 0, choice.start())) if choice else []
    letters = "".join(option["letter"] for option in options)
    if not choice or choice["letter"] not in letters or not "ABCDEFGH".startswith(letters):
        return False
    return any(
        option.start() <= one.start < option.end() and option["letter"] != choice["letter"]
        for option in options
    )


_COPULAS = lexicon_words("auxiliaries", "matching.copula")
_ASKING = lexicon_words("questions", "matching")


def direct(case: MatchedCase) -> int:
    """Return where a first sentence ends that repeats the question and gives a value; else 0.

    "The capital of Australia is Sydney." is the answer, whatever is said later.
    """
    if case.said.words.isdisjoint(_COPULAS):
        return 0
    start = len(case.text) - len(case.text.lstrip())
    end = sentence_span(case.text, start, start)[1]
    items = case.said.tokens[: span_tokens(case.said, 0, end)[1]]
    k = next((i for i, t in enumerate(items) if t.text in _COPULAS), None)
    if k is None or k + 1 >= len(items) or end >= len(case.text.rstrip()) or denies(items):
        return 0
    subject = {t.stem for t in items[:k] if t.text not in STOP}
    asked = {t.stem for t in case.asked.tokens if t.text not in STOP | _ASKING}
    value = items[k + 1]
    named = value.number or (value.capital and all(t.text != value.text for t in case.asked.tokens))
    described = case.text[items[k].end : value.start].split() in (["a"], ["an"])
    return end if subject == asked and named and not described else 0


def region(case: MatchedCase, values: Sequence[tuple[int, int]], kind: str) -> tuple[int, int]:
    """Return the part of a text in which the answer stands: the end of a chain, or all of it.

    ``values`` are the values of the gold's kind; a conclusion without any concludes nothing.
    """
    everything = (0, len(case.text))
    low = concluded(case.text, kind == "quantity")
    if not low:
        return 0, direct(case) or len(case.text)
    if kind != "words":
        first = next((v for v in values if v[1] > low), None)
        return everything if first is None else (low, sentence_span(case.text, *first)[1])
    rest = case.said.tokens[span_tokens(case.said, low, low)[0] :]
    said = any(len(t.text) > 1 and t.text not in STOP for t in rest if not case.asked.locate(t))
    return (low, len(case.text)) if said else everything


def _rejected(case: MatchedCase, one: Candidate, comparison: GoldComparison) -> str | None:
    """Return why a candidate is not the answer, or None when nothing speaks against it."""
    if one.why == OTHER_NAME:
        return one.why
    kind = comparison.kind
    low, high = case.region(comparison)
    if not low <= one.start < high or _passed_over(case, one):
        return "in passing"
    if not denies(case.asked.tokens) and denied(case.said, one.start, one.end):
        return "denied"
    if kind != "quantity" and not case.choice and echoed(case.said, case.asked, one.start, one.end):
        return "echo of the question"
    if kind == "words" and other_place(case.said, one.start, one.end):
        return "another place"
    if other_event(case.said, case.asked, one.start, one.end):
        return "another event"
    return "only mentioned" if one.why != "part" and _mentioned(case, one, kind) else None


def _mentioned(case: MatchedCase, one: Candidate, kind: str) -> bool:
    """Tell whether a candidate stands where another value is the answer."""
    said = case.said
    first, after = span_tokens(said, one.start, one.end)
    low = span_tokens(said, *sentence_span(said.text, one.start, one.end))[0]
    return only_mentioned(Place(said.text, said.tokens, first, after, low, kind, case.known))


def _extra(case: MatchedCase, golds: Sequence[Gold], one: Candidate) -> tuple[int, int] | None:
    """Return the first other item of the candidate's list that no gold names."""
    names = [n for g in golds for n in g.names]
    for start, end in list_spans(case.text, one.start, one.end):
        words = [t for t in matched_text(case.text[start:end]).tokens if t.text not in STOP]
        new = [t for t in words if not case.asked.locate(t)]
        if new and not any(matched_text(n).locate(t) for t in words for n in names):
            return start, end
    return None


def _asserted(case: MatchedCase, comparison: GoldComparison) -> tuple[int, int] | None:
    """Return the span of the wrong value: the first of the gold's kind, else a short answer."""
    low, high = case.region(comparison) if comparison.other else (0, 0)
    other = [o for o in comparison.other if low <= o[0] < high] or comparison.other
    for start, end in other:
        if case.text[start:end].casefold() not in case.question.casefold():
            return start, end
    if other:
        return other[0]
    if 1 <= len(case.said.tokens) <= 8:
        return case.said.tokens[0].start, case.said.tokens[-1].end
    return None


# ---- a part of a gold that people accept, where no rule finds one

#: Weights of the features of ``said_part``, fitted by ``tools/readers/part_of_gold.py``.
PART_WEIGHTS = {
    "always": -1.71,
    "spelled": 5.58,
    "names missing": -0.49,
    "names told": -0.28,
    "late": -0.35,
    "two words": -0.66,
}
#: the probability from which a part is enough
PART_ENOUGH = 0.6
#: words of an answer among which a misspelled one is looked for
_MOST_WORDS = 250
_SPELLED_ALIKE = 0.7


def _spelling(word: Token, words: Sequence[str]) -> float:
    """Return how alike the most similar of other words is spelled, from 0 to 1."""
    size = len(word.text)
    if size < 4 or word.number:
        return 0.0
    near = (w for w in words if w[0] == word.text[0] and len(w) > 3 and abs(len(w) - size) <= 2)
    alike = max((OSA.normalized_similarity(w, word.text) for w in near), default=0.0)
    return alike if alike >= _SPELLED_ALIKE else 0.0


def _replaced(case: MatchedCase, form: GoldForm, word: Token) -> bool:
    """Tell whether another word makes something else of a gold's word wherever it is said.

    It stands right before it ("weight loss" for "hair loss"), or right behind it where the gold
    goes on ("Nusket fungus" for "Nusket virus", "loss of smell" for "loss of appetite").
    """
    said, own = case.said.tokens, {t.stem for t in form.tokens}
    goes_on = word.stem != form.tokens[-1].stem

    def other(i: int, step: int) -> bool:
        k = i + step
        if step > 0 and k < len(said) and said[k].text == "of":
            k += 1
        if not 0 <= k < len(said):
            return False
        first, last = sorted((i, k))
        between = case.said.text[said[first].end : said[last].start]
        joined = between in (" ", "-") or between.split()[:1] == ["of"]
        t = said[k]
        return joined and not (t.text in STOP or t.stem in own or case.asked.locate(t))

    return all(other(i, -1) or (goes_on and other(i, 1)) for i in case.said.locate(word))


class Part(NamedTuple):
    """A part of a gold that an answer says: where it stands, and how much it is."""

    place: Candidate
    features: dict[str, float]


def said_part(case: MatchedCase, value: str) -> Part | None:
    """Return which of a gold's words, beyond the question's, an answer says; None for none.

    Persons, short answers and a single word that the question leaves have rules of their own.
    Without a number of the gold or a name that it lists, or with another word where one of the
    gold's stands, the rest is something else.
    """
    said, asked = case.said, case.asked
    form = next(iter(readings(value)), None)
    if form is None or form.person is not None or len(said.tokens) <= LONGEST_BARE:
        return None
    new = [t for t in {t.stem: t for t in form.content}.values() if not asked.locate(t)]
    places = [said.locate(t) for t in new]
    found = [t for t, where in zip(new, places, strict=True) if where]
    if not found or len(new) == 1 or any(t.number and t not in found for t in new):
        return None
    if any(_replaced(case, form, t) for t in found):
        return None
    first = min(where[0] for where in places if where)
    together = window(found, said, 6 + 3 * len(found), len(found))
    place = _candidate(case, form, together or Hit(first, first, ""), "part")
    told = [t for t in case.told if not asked.locate(t)]
    words = list(dict.fromkeys(t.text for t in told))[:_MOST_WORDS]
    spelled = [1.0 if t in found else _spelling(t, words) for t in new]
    missing = sum(t.capital and not alike for t, alike in zip(new, spelled, strict=True))
    if missing and LISTED.search(form.value):
        return None
    features = {
        "always": 1.0,
        "spelled": sum(spelled) / len(new),
        "names missing": float(min(missing, 3)),
        "names told": log1p(sum(t.capital for t in told)),
        "late": first / len(said.tokens),
        "two words": float(len(form.content) < 3),
    }
    return Part(place, features)


def near_part(case: MatchedCase, golds: Sequence[Gold]) -> Part | None:
    """Return the largest part of any gold in words that nothing speaks against."""
    comparison = GoldComparison(iter(()), [], "words")
    largest: Part | None = None
    for gold in golds:
        for value in gold.names:
            if not _partly(gold, value) or any(_wanted(case.question, gold, value, part=True)):
                continue
            part = None if misdated(case, value, len(value)) else said_part(case, value)
            if part is None or _rejected(case, part.place, comparison) is not None:
                continue
            if largest is None or part.features["spelled"] > largest.features["spelled"]:
                largest = part
    return largest


def _enough(part: Part) -> bool:
    score = sum(PART_WEIGHTS[name] * value for name, value in part.features.items())
    return score > log(PART_ENOUGH / (1 - PART_ENOUGH))


_EDGES = " \t\r\n.!,;\"'\u2018\u2019\u201c\u201d"


def _bare(text: str) -> str:
    return text.strip(_EDGES) or text.strip()


def _literal(value: str, text: str, said: str) -> Match | None:
    """Match what needs no reading: the gold as the whole answer, or a gold of symbols alone.

    ``said`` is the text without blanks and marks around it.
    """
    bare = _bare(value)
    if not said or not bare:
        return None
    whole = said == bare or (len(said) < 200 and fold(said) == fold(bare))
    if whole or (bare in text and not any(c.isalnum() for c in bare)):
        shown = said if whole else bare
        return Match("correct", text.index(shown), text.index(shown) + len(shown), "same text")
    return None


def match(question: str, golds: Sequence[Gold], text: str) -> Match:
    """Compare an answer with the golds of its question.

    Aliases of one gold are alternatives; of several golds (all true values) any suffices, as long
    as the list it stands in names nothing else. ``content`` is "none" for a text that asserts
    nothing: empty, or only the question's own words. The span indexes ``text``: the value that
    agreed, or the wrong value where it can be told. Never raises, whatever the text. Of golds that
    are yes or no the answer's ``polarity`` counts.
    """
    said = _bare(text)
    for name in (name for gold in golds for name in gold.names):
        if (literal := _literal(name, text, said)) is not None:
            return literal
    if (wanted := gold_polarity(question, golds)) is not None:
        told = polarity(question, text, concluded(text, False)) or polarity(question, text)
        start, end = told.where if told else (None, None)
        right = told is not None and told.yes == wanted
        return Match("correct" if right else "incorrect", start, end, "yes or no")
    case = MatchedCase(question, text, golds)
    rejected: Match | None = None
    wrong: tuple[int, int] | None = None
    kind = "words"
    for gold in golds:
        for value in gold.names:
            comparison = _compare(case, gold, value, _partly(gold, value))
            for one in islice(comparison.found, MOST_CANDIDATES):
                against = _rejected(case, one, comparison)
                if against is None:
                    extra = _extra(case, golds, one) if len(golds) > 1 else None
                    if extra is None:
                        return Match("correct", one.start, one.end, one.why)
                    rejected = Match("incorrect", *extra, "extra item")
                    break
                rejected = rejected or Match("incorrect", one.start, one.end, against)
            if wrong is None and (found := _asserted(case, comparison)):
                wrong, kind = found, comparison.kind
    if rejected is not None:
        return rejected
    content = [t for t in case.said.tokens if t.text not in STOP]
    if not content or (not case.choice and all(case.asked.locate(t) for t in content)):
        return Match("none", None, None, "nothing said")
    if wrong and kind != "words":
        return Match("incorrect", *wrong, "differs")
    part = near_part(case, golds)
    if part and _enough(part) and not (len(golds) > 1 and _extra(case, golds, part.place)):
        return Match("correct", part.place.start, part.place.end, part.place.why)
    start, end = wrong or (None, None)
    return Match("incorrect", start, end, "not found")


# ---- one question's golds in many texts, most of which say nothing of them


class _Trace(NamedTuple):
    """What a text must hold of one name of a gold, or :func:`match` does not find it there.

    ``words`` are what its words are looked up by, ``shapes`` the readings that may be written in
    another shape and the letters that :func:`_initials` gives. ``symbols``: no letter or digit.
    """

    bare: str
    folded: str
    symbols: bool
    dates: tuple[Date, ...]
    amount: WrittenQuantity | None
    words: frozenset[str]
    glued: tuple[str, ...]
    shapes: tuple[tuple[GoldForm, frozenset[str] | None], ...]


def _trace(question: str, gold: Gold, value: str) -> _Trace:
    bare, part = _bare(value), _partly(gold, value)
    dates, amount = _wanted(question, gold, value, part)
    forms = [] if dates or amount else [f for f in readings(value) if f.whole or part]
    told = {t for f in forms for i, t in enumerate(f.tokens) if not i or t.text not in STOP}
    words = {key for t in told for key in (*keys(t.text, t.stem), *_other_keys(t))}
    other = [f for f in forms if f.whole] if _few(gold) else []
    return _Trace(
        bare,
        fold(bare),
        not any(c.isalnum() for c in bare),
        dates,
        amount,
        frozenset(words),
        tuple(f.glued for f in forms),
        tuple((f, _initials(f)) for f in other),
    )


def _traced(trace: _Trace, said: MatchedText, asked: MatchedText) -> bool:
    """Tell whether a text holds anything of a gold, which :func:`match` must then look at."""
    if said.bare and (said.bare == trace.bare or said.folded == trace.folded):
        return True
    if trace.symbols and trace.bare in said.text:
        return True
    if trace.dates:
        return any(_overlap(gold, one) for one in find_dates(said.text) for gold in trace.dates)
    if trace.amount is not None:
        return not trace.amount.value or any(
            same_amount(trace.amount, one) for one in find_amounts(said.text)
        )
    if not said.places.keys().isdisjoint(trace.words):
        return True
    for letters in trace.glued:
        if letters in said.glued:
            return True
    for form, initials in trace.shapes:
        near = initials is None or not initials.isdisjoint(said.initials)
        if near and _same_name(said, asked, form):
            return True
    return False


def _overlap(gold: Date, said: Date) -> bool:
    """Tell whether two dates may agree by their years; a span may stand for either of its ends."""
    if gold.year is None or said.year is None or gold.last is None or said.last is None:
        return True
    return gold.year <= said.last and said.year <= gold.last


def agreeing(question: str, golds: Sequence[Gold], texts: Sequence[MatchedText]) -> list[bool]:
    """Tell in which texts :func:`match` finds a gold, comparing only those that hold a part of it.

    For many texts about something else, of which next to none agrees.
    """
    traces = [_trace(question, gold, value) for gold in golds for value in gold.names]
    asked, polar = matched_question(question), gold_polarity(question, golds) is not None
    return [
        (polar or any(_traced(trace, said, asked) for trace in traces))
        and match(question, golds, said.text).content == "correct"
        for said in texts
    ]


# ---- where in a clause the asserted value stands

_NAME_WORD = (
    r"(?:(?:[^\W\d_a-z]\.){2,6}+(?:[^\W\d_a-z][\w-]*+)?"
    r"|[^\W\d_a-z\u00df-\u00ff][\w'\u2019&-]*+(?:\.(?=\s?[^\W\d_a-z]))?)"
)
_NAMES = regex(
    rf"{_NAME_WORD}(?:(?:\s|,\s(?=[^\W\d_a-z]))(?:(?:of|the|and|de|van|von|der|la|le|du|di|da"
    rf"|(?:for|in)(?=\s[^\W\d]))\s){{0,2}}(?:{_NAME_WORD}|\d++)){{0,12}}+"
)
_LINKS = regex(
    r"\b(?:is|was|are|were|be|been|being|as|by|became|include[sd]?|including|called|named|won|received|"
    r"studied|causes?|wrote|makes?|produces?|of|in|at|for|to|from|with|on|within|into)\b|:",
    re.IGNORECASE,
)
_NOT_A_NAME = STOP | lexicon_words("talk", "matching.name") | MONTHS.keys()
_APOSTROPHE = regex("['\u2019]")
_IN = regex(r"\b(?:in|at|near|into|within)\s+(?:the\s+)?$", re.IGNORECASE)
_BY = regex(r"\b(?:by|with|named)\s+$", re.IGNORECASE)
_NEXT_WORD = regex(r"\s([a-z]+)")
_AFTER_NAME = regex(
    rf"(?:{AUXILIARY}|{PAST}|(?:and|or|in|at|on|of|from|who|which|with|by|as|also|gave|lent|then|soon"
    rf"|later|first|once|never|now|both|to|for|\w{{1,30}}ly|treats|hosts|houses|heads|directs|sees)\b)"
)


def typed(text: str, start: int, end: int, kind: Expected, known: frozenset[str]) -> Iterator[Span]:
    """Yield the values of a kind in ``text[start:end]``: dates, numbers, or capitalized names.

    ``known`` are lower-case words of the question and the entity, which are no values. For the
    kind "any" nothing can be recognized by form, so nothing is yielded.
    """
    part = text[start:end]
    if kind == "date":
        for d in find_dates(part):
            yield Span(start + d.start, start + d.start + len(part[d.start : d.end].rstrip(".")))
    elif kind == "number":
        for q in _amounts(part, count=False):
            if part[q.start : q.end].lower() in known | {"one"}:
                continue
            yield Span(start + q.start, start + q.end)
    elif kind in ("place", "person"):
        # "In Derby" is nobody, "by Ann Bo" is nowhere.
        strange = _IN if kind == "person" else _BY
        for name in names(text, start, end, known):
            if not strange.search(text, max(0, name.start - 12), name.start):
                yield name


def names(text: str, start: int, end: int, known: frozenset[str]) -> Iterator[Span]:
    """Yield runs of capitalized words that are neither ``known`` nor sentence openers."""

    def out(word: str) -> bool:
        first = _APOSTROPHE.split(word.lower())[0]
        return first in _NOT_A_NAME or first in known

    for hit in _NAMES.finditer(text, start, end):
        words = list(HYPHENATED.finditer(hit[0]))
        if len(words) > 1 and _opens(text, hit.start(), hit.start() + words[0].end(), start):
            words.pop(0)
        while words and (words[0][0][0].isdigit() or out(words[0][0])):
            words.pop(0)
        while words and out(words[-1][0]):
            words.pop()
        if not words:
            continue
        at, close = hit.start() + words[0].start(), hit.start() + words[-1].end()
        if len(words) > 1 or not _opens(text, at, close, start):
            yield Span(at, close)


def _opens(text: str, at: int, end: int, low: int) -> bool:
    """Whether a capitalized word is only the first word of its sentence: a name has a verb next."""
    before = text[low:at].rstrip(" \"'(")
    if before and before[-1] not in ".!?:":
        return False
    follows = _NEXT_WORD.match(text, end)
    return follows is not None and not _AFTER_NAME.match(text, follows.start(1))


#: Where plain words cannot go on as a value.
_PHRASE_EDGE = regex(
    r"[,;]?\s(?:and\s(?:shows?|leads?|has|is|was|its?|later|then|takes|can)\b|after\b|ever\b"
    r"|(?:while|although|though|but|because|which|who|where)\b)"
)
_FILLERS = lexicon_words("talk", "matching.filler")


def asserted(
    text: str, start: int, end: int, kind: Expected, known: frozenset[str], cues: frozenset[str]
) -> Span | None:
    """Return the value that ``text[start:end]`` most likely asserts, or ``None``.

    First a value of the expected kind, nearest after a cue word; else, where the kind says
    nothing, a name or the words after the next verb or preposition.
    """
    after = start
    for word in HYPHENATED.finditer(text, start, end):
        if family_stem(word[0].lower()) in cues:
            after = word.end()
            break
    spans = list(typed(text, start, end, kind, known))
    if spans:
        return min(spans, key=lambda s: (s.start < after, abs(s.start - after)))
    if kind != "any":
        return None
    for name in names(text, start, end, known):
        if name.start >= after:
            return name
    link = _LINKS.search(text, after if after < end else start, end)
    words = list(islice(HYPHENATED.finditer(text, link.end(), end), 40)) if link else []
    while words and words[0][0].lower() in _FILLERS:
        words.pop(0)
    if not words:
        return None
    edge = _PHRASE_EDGE.search(text, words[0].end(), words[-1].end())
    return Span(words[0].start(), edge.start() if edge else words[-1].end())
