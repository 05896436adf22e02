"""A claim of a frequent kind as a question in natural words, by rules of word order.

A claim is cut into its subject, its verb and the words after it. The kind of verb and the
preposition say what can be asked ("studied at Uppsala": where), the auxiliary moves before the
subject ("Where did Mira Toll study?"), and the tense stays. The answer is a span of the claim.
Claims of no known form have no such question; words and verbs are in ``judges/data/lexicon.txt``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from sayso.judges.english.dates import Date, find_dates
from sayso.judges.english.families import PLACE
from sayso.judges.english.lexicon import lexicon_groups, lexicon_words
from sayso.judges.english.numbers import TENS, UNITS
from sayso.judges.patterns import regex


class AskedSpan(NamedTuple):
    """A question, and where in the claim its answer stands."""

    question: str
    start: int
    end: int


class _Word(NamedTuple):
    text: str
    start: int
    end: int
    quoted: bool


class _Parts(NamedTuple):
    """A claim in parts. ``kind``: "be", "passive" or "verb"; ``lookup``: its base or participle."""

    text: str
    subject: str
    described: bool
    aux: str
    verb: str
    kind: str
    lookup: str
    words: tuple[_Word, ...]


_WORDS = regex(r"\S+")
_QUOTED = regex(r'["\u201c][^"\u201c\u201d]*+["\u201d]')
_NUMBER = regex(r"\d{1,3}(?:,\d{3})++|(?!1\d{3}$|20\d\d$)\d{1,9}")
#: a topic that can stand for "he" or "she"
_NAMED = regex(r"[^\W_a-z][^?!:;\n]{0,60}")
_DEMONYM = regex(r"[A-Z]\w+(?:an|ish|ese|ch|i|ss|er|ian)")
_DESCENT = frozenset({"descent", "origin", "heritage", "ancestry", "nationality"})
_PEOPLE = frozenset({"people", "children", "men", "women"})
_IS = frozenset({"is", "are", "was", "were"})
_HAS = frozenset({"has", "have", "had"})
_PREPOSITIONS = frozenset(
    {"in", "on", "at", "for", "with", "from", "to", "by", "as", "of", "under", "against", "into"}
    | {"during", "over", "after", "between", "including", "through", "until", "since", "about"}
    | {"throughout", "across", "among", "around", "along", "alongside", "without", "despite"}
)
_TIMES = frozenset({"in", "on", "since", "until", "from", "during", "by"})
_PARTS = ("early", "mid", "late", "beginning", "end")
_COUNTED = frozenset((*UNITS[2:], *TENS))
_ARTICLES = frozenset({"a", "an", "the"})
LONGEST_ANSWER = 8
LONGEST_MIDDLE = 6
LONGEST_SUBJECT = 9


def natural_question(topic: str, claim: str) -> AskedSpan | None:
    """Return a claim's question in natural words; ``None`` where no rule holds."""
    clause = _clause(topic, claim)
    if clause is None:
        return None
    rules: tuple[Callable[[_Parts], AskedSpan | None], ...] = (_time, _age, _count)
    found = next(filter(None, (rule(clause) for rule in rules)), None)
    if found is not None:
        return found
    if clause.kind != "be" and any(d.end == clause.words[-1].end for d in _dates(clause)):
        return None
    return {"be": _be, "passive": _passive, "verb": _verb}[clause.kind](clause)


# ---- a claim in parts


def _asked(name: str) -> frozenset[str]:
    return lexicon_words("asked", name)


@cache
def _forms() -> dict[str, tuple[str, str]]:
    """Return the base of each past or third-person form, with the auxiliary of its question."""
    irregular = {base: past for base, past, _ in lexicon_groups("irregular")}
    names = ("what", "who", "where", "whither", "what.in", "who.with", "who.for", "what.for")
    more = ("what.as", "what.on", "what.from", "what.of", "what.to", "regular")
    bases = frozenset().union(*map(_asked, names + more)) | irregular.keys()
    found: dict[str, tuple[str, str]] = {}
    for base in sorted(bases):
        for past in _pasts(base) if base not in irregular else (irregular[base],):
            found[past] = base, "did"
        ending = base[:-1] + "ies" if base[-1] == "y" and base[-2] not in "aeou" else base + "s"
        if base.endswith(("s", "sh", "ch", "x", "go")):
            ending = base + "es"
        found.setdefault(ending, (base, "does"))
    return found


def _pasts(base: str) -> tuple[str, ...]:
    if base.endswith("e"):
        return (base + "d",)
    if base[-1] == "y" and base[-2] not in "aeou":
        return (base[:-1] + "ied",)
    return base + "ed", base + base[-1] + "ed"


@cache
def _participles() -> dict[str, str]:
    """Return the base of each participle that is known."""
    pairs = {past: base for past, (base, aux) in _forms().items() if aux == "did"}
    irregular = {participle: base for base, _, participle in lexicon_groups("irregular")}
    own = {base: past for base, past, _ in lexicon_groups("irregular")}
    return {p: b for p, b in pairs.items() if b not in own} | irregular


def _participle(word: str) -> bool:
    regular = word.endswith("ed") and len(word) > 4 and word.islower()
    return regular or word in _participles()


def _split(text: str) -> list[_Word]:
    end = len(text.rstrip(".! "))
    quoted = [m.span() for m in _QUOTED.finditer(text)]
    return [
        _Word(m[0], *m.span(), any(a <= m.start() < b for a, b in quoted))
        for m in _WORDS.finditer(text, 0, end)
    ]


def _clause(topic: str, text: str) -> _Parts | None:
    words = _split(text)
    known = _asked("relative") | _asked("negation")
    at = next((i for i in range(1, len(words)) if _is_verb(words, i)), 0)
    if not 0 < at <= LONGEST_SUBJECT or any(w.text.lower() in known for w in words[1:]):
        return None
    if any(c in w.text for w in words for c in ";:()[]") or not _one_clause(words[at + 1 :]):
        return None
    adverbs = [words[at - 1].text] if at > 1 and words[at - 1].text in _asked("adverb") else []
    subject = _subject(topic, words[: at - len(adverbs)])
    if subject is None:
        return None
    described = words[0].text.lower() in _asked("determiner") or "'s " in text[: words[at].start]
    described &= words[0].text.lower() not in ("he", "she", "it", "they")
    found = _verb_parts(words[at:])
    if found is None:
        return None
    aux, inner, verb, kind, lookup, used = found
    rest = tuple(words[at + used :])
    full = " ".join([a for a in (*adverbs, *inner) if a != "also"] + ([verb] if verb else []))
    return _Parts(text, subject, described, aux, full, kind, lookup, rest) if rest else None


def _is_verb(words: Sequence[_Word], at: int) -> bool:
    word, before = words[at].text, words[at - 1].text
    if words[at].quoted:
        return False
    if word in _IS | _HAS:
        return True
    form = _forms().get(word)
    if form is None or before.lower() in _ARTICLES | {"his", "her", "their", "its", "and", "of"}:
        return False
    if at + 1 < len(words) and words[at + 1].text in _IS | _HAS:
        return False
    named = before[0].isupper() and before.lower() not in _asked("determiner")
    return form[1] == "did" or named or before in ("He", "She", "It")


def _one_clause(words: Sequence[_Word]) -> bool:
    """Whether no second verb follows "and" or "that"."""
    for one, after in pairwise(words):
        verb = after.text in _IS | _HAS or (after.text in _forms() and after.text.islower())
        if (one.text == "and" or one.text.endswith(",")) and verb and not after.quoted:
            return False
    return not any(w.text in ("that", "did", "would", "could", "was", "were", "is") for w in words)


def _subject(topic: str, words: Sequence[_Word]) -> str | None:
    """Return the subject as it stands within a question."""
    first = words[0].text
    if first.lower() in _asked("opener") or any(w.text[-1] in "," for w in words):
        return None
    if any(_participle(w.text) and not w.quoted for w in words[1:]) and len(words) > 3:
        return None
    rest = [w.text for w in words[1:]]
    if first.lower() in ("he", "she", "his", "her") and topic and _NAMED.fullmatch(topic):
        if first.lower() in ("he", "she") and not rest:
            return topic
        if first.lower() in ("his", "her") and rest and not topic.endswith(")"):
            return " ".join([f"{topic}'s", *rest])
    if first.lower() in _asked("determiner") and not (rest and rest[-1][0].isupper()):
        first = first.lower()
    return " ".join([first, *rest])


def _verb_parts(words: Sequence[_Word]) -> tuple[str, list[str], str, str, str, int] | None:
    """Return auxiliary, adverbs, verb as asked, kind, what is looked up, and the words used."""
    first = words[0].text
    at = 1
    while at < len(words) and words[at].text in _asked("adverb"):
        at += 1
    adverbs = [w.text for w in words[1:at]]
    after = words[at].text if at < len(words) else ""
    following = words[at + 1].text if at + 1 < len(words) else ""
    if first in _IS:
        if _participle(after):
            return first, adverbs, after, "passive", after, at + 1
        return first, adverbs, "", "be", "", at
    if first in _HAS:
        if after == "been":
            if _participle(following):
                return first, adverbs, f"been {following}", "passive", following, at + 2
            return (first, adverbs, "been", "be", "", at + 1) if following in _ARTICLES else None
        if _participle(after):
            return first, adverbs, after, "verb", _participles().get(after, ""), at + 1
        aux = {"has": "does", "have": "do", "had": "did"}[first]
        return aux, adverbs, "have", "verb", "have", at
    base, aux = _forms()[first]
    return aux, [], base, "verb", base, 1


# ---- questions


def _ask(
    clause: _Parts, wh: str, middle: Sequence[_Word], value: Sequence[_Word], strand: str = ""
) -> AskedSpan | None:
    """Return the question with ``value`` taken out, or ``None`` where it is no phrase."""
    if len(middle) > LONGEST_MIDDLE or not 0 < len(value) <= LONGEST_ANSWER:
        return None
    whole = value
    if value[0].text in _ARTICLES and len(value) > 1:
        value = value[1:]
    start, end = value[0].start, value[-1].end
    while start < end and clause.text[start] in "\"'\u201c\u2018 ":
        start += 1
    while end > start and clause.text[end - 1] in "\"'\u201d\u2019., ":
        end -= 1
    return _question(clause, wh, middle, start, end, strand) if _phrase(whole) else None


def _question(
    clause: _Parts, wh: str, middle: Sequence[_Word], start: int, end: int, strand: str = ""
) -> AskedSpan | None:
    kept = [w.text for w in middle]
    if any(a.endswith(",") and not b[:1].isdigit() for a, b in pairwise([*kept, ""])):
        return None
    parts = (wh, clause.aux, clause.subject, clause.verb, *kept, strand)
    question = " ".join(part for part in parts if part).rstrip(" .,")
    return AskedSpan(f"{question}?", start, end) if start < end else None


def _phrase(words: Sequence[_Word]) -> bool:
    """Whether words are a phrase: its commas are those of a list or of a place."""
    bare = words[1:] if words[0].text in _ARTICLES else words
    if not bare or {bare[0].text, words[-1].text} & _PREPOSITIONS:
        return False
    if words[0].text.islower() and words[0].text.endswith("ing"):
        return False
    commas = any(w.text.endswith(",") for w in words)
    listed = any(w.text in ("and", "or") for w in words)
    return not commas or listed or all(w.text[0].isupper() or w.text[0].isdigit() for w in words)


def _name(words: Sequence[_Word]) -> bool:
    """Whether words begin as a name does."""
    own = words[1:] if words and words[0].text.lower() in _ARTICLES else words
    return bool(own) and (own[0].text[0].isupper() or own[0].quoted)


def _dates(clause: _Parts) -> list[Date]:
    first, end = clause.words[0].start, clause.words[-1].end
    dates = find_dates(clause.text)
    return [d for d in dates if d.start >= first and len(clause.text[d.end : end].strip(". ")) == 0]


def _time(clause: _Parts) -> AskedSpan | None:
    """Ask for the date with which a claim ends."""
    date = next(iter(_dates(clause)), None)
    if date is None:
        return None
    before = [w for w in clause.words if w.end <= date.start]
    if before and before[-1].text == "the":
        before.pop()
    if not before or before[-1].text not in _TIMES:
        return None
    preposition, middle = before[-1].text, before[:-1]
    if middle and (_participle(middle[-1].text) or len(middle) > 2 * LONGEST_MIDDLE):
        return None
    present = clause.kind == "be" and clause.aux in ("is", "are")
    if present and preposition not in ("since", "until"):
        return None
    written = clause.text[date.start : date.end].lower()
    wh = f"{preposition.capitalize()} {_which(written, date)}"
    if wh == "From what years":
        wh = "From what year to what year"
    if written.startswith(_PARTS):
        if preposition not in ("in", "during"):
            return None
        wh = "When"
    return _question(clause, wh, middle, date.start, min(date.end, clause.words[-1].end))


def _which(written: str, date: Date) -> str:
    if date.day is not None:
        return "what date"
    if date.month is not None:
        return "what month and year" if date.year is not None else "what month"
    if date.kind == "period":
        return "what century" if "centur" in written else "what decade"
    return "what years" if date.kind == "span" else "what year"


def _age(clause: _Parts) -> AskedSpan | None:
    """Ask for the age with which a claim ends."""
    texts = [w.text for w in clause.words]
    for tail in (["at", "the", "age", "of"], ["at", "age"]):
        number = clause.words[-1]
        if texts[-len(tail) - 1 : -1] == tail and _is_number(number.text):
            middle = clause.words[: -len(tail) - 1]
            return _ask(clause, "At what age", middle, [number])
    return None


def _is_number(word: str) -> bool:
    return word.lower() in _COUNTED or _NUMBER.fullmatch(word) is not None


def _count(clause: _Parts) -> AskedSpan | None:
    """Ask how many, where a number and a plural follow the verb or its preposition."""
    words = clause.words
    if clause.kind == "be":
        return None
    at = 1 if words[0].text in _PREPOSITIONS else 0
    if len(words) > 3 and words[-3].text == "for" and _is_number(words[-2].text):
        at = len(words) - 2
    if len(words) > 2 and words[-1].text == "times" and _is_number(words[-2].text):
        return _ask(clause, "How many times", words[:-2], [words[-2]])
    if at + 1 >= len(words) or not _is_number(words[at].text):
        return None
    stops = _PREPOSITIONS - {"of"} | {"and", "each", "that", "this"}
    end = next((i for i in range(at + 1, len(words)) if words[i].text in stops), len(words))
    counted, rest = words[at + 1 : end], words[end:]
    if not counted or counted[0].text == "of" or any(w.text == "and" for w in rest):
        return None
    last = next((w for w, after in pairwise(counted) if after.text == "of"), counted[-1])
    if not last.text.rstrip('".,').endswith("s") and last.text not in _PEOPLE:
        return None
    asked = " ".join(w.text for w in counted)
    wh = f"{words[at - 1].text.capitalize()} how many {asked}" if at else f"How many {asked}"
    return _ask(clause, wh, [*words[: max(at - 1, 0)], *rest], [words[at]])


def _be(clause: _Parts) -> AskedSpan | None:
    words = clause.words
    texts = [w.text for w in words]
    if texts[-1] in _DESCENT and texts[0] == "of":
        return _ask(clause, f"Of what {texts[-1]}", [], words[1:-1])
    own = words[1:] if texts[0] in _ARTICLES else words
    if len(own) == 1 and own[0].text.lower() in PLACE and _DEMONYM.fullmatch(own[0].text):
        return _ask(clause, "What nationality", [], own) if not clause.verb else None
    if texts[0] in _ARTICLES:
        return _noun(clause)
    if texts[0] == "from" and _name(words[1:]):
        return _ask(clause, "Where", [], words[1:], "from")
    if texts[0] == "in" and _name(words[1:]):
        country = " ".join(w for w in texts[1:] if w != "the").lower() in PLACE
        present = clause.aux in ("is", "are") and not clause.described
        return _ask(clause, "Where", [], words[1:]) if country or present else None
    if texts[:2] == ["part", "of"] and _name(words[2:]):
        return _ask(clause, "What", words[:1], words[2:], "of")
    if texts[1:2] == ["for"] and texts[0] in ("famous", "notable", "responsible"):
        return _ask(clause, "What", words[:1], words[2:], "for")
    if clause.described and (_name(words) or texts[0] in ("his", "her", "their")):
        head = clause.subject.partition(" of ")[0].split()[-1].lower().removesuffix("s")
        return _ask(clause, "Who" if head in _asked("kin") else "What", [], words)
    return None


def _noun(clause: _Parts) -> AskedSpan | None:
    """Ask what something is, or of what or where it is that."""
    words = clause.words
    for at, word in enumerate(words[2:6], 2):
        if word.text in ("of", "at") and _name(words[at + 1 :]):
            if word.text == "at":
                return _ask(clause, "Where", words[:at], words[at + 1 :])
            wh = "Who" if words[at - 1].text in _asked("family") else "What"
            return _ask(clause, wh, words[:at], words[at + 1 :], "of")
        if word.text in _PREPOSITIONS:
            break
    return _ask(clause, "What", [], words)


def _passive(clause: _Parts) -> AskedSpan | None:
    words, participle = clause.words, clause.lookup
    first, value = words[0].text, words[1:]
    place = _last_place(words)
    if participle in _asked("where.passive") and place is not None:
        return _ask(clause, "Where", words[:place], words[place + 1 :])
    if first == "by":
        return _ask(clause, "Who", [], value, "by") if _name(value) else None
    for wh in ("what", "who"):
        name = f"{wh}.passive.{first}"
        if name in _PASSIVE and participle in _asked(name):
            return _ask(clause, wh.capitalize(), [], value, first)
    if participle in _asked("what.passive") and first not in _PREPOSITIONS:
        return _ask(clause, "What", [], words)
    return None


_PASSIVE = frozenset(
    f"what.passive.{preposition}" for preposition in ("for", "to", "as", "in", "into", "with", "on")
) | {"who.passive.to", "who.passive.after"}
_ACTIVE = frozenset(
    {"what.in", "who.with", "who.for", "what.for", "what.as", "what.on", "what.from", "what.of"}
    | {"what.to", "who.under", "who.against"}
)


def _last_place(words: Sequence[_Word], prepositions: tuple[str, ...] = ("in", "at")) -> int | None:
    """Return where the preposition of a named place at the end stands."""
    found = [i for i, w in enumerate(words) if w.text in prepositions]
    named = len(found) == 1 and _name(words[found[0] + 1 :])
    later = any(w.text in _PREPOSITIONS - {"of"} for w in words[found[0] + 1 :]) if found else True
    return found[0] if named and not later else None


def _verb(clause: _Parts) -> AskedSpan | None:
    words, base = clause.words, clause.lookup
    first, value = words[0].text, words[1:]
    for name, prepositions in (("where", ("in", "at")), ("whither", ("to",))):
        place = _last_place(words, prepositions)
        if base in _asked(name) and place is not None:
            return _ask(clause, "Where", words[:place], words[place + 1 :])
    if first == "from" and base == "graduate":
        return _ask(clause, "Which institution", [], value, "from") if _name(value) else None
    for wh in ("what", "who"):
        name = f"{wh}.{first}"
        if name in _ACTIVE and base in _asked(name):
            named = (wh == "what" and first in ("as", "of", "on", "to", "for")) or _name(value)
            return _ask(clause, wh.capitalize(), [], value, first) if named else None
    degree = _degree(clause)
    if degree is not None or base in ("begin", "start", "make"):
        return degree or _career(clause)
    if first in _PREPOSITIONS or first in ("up", "out", "off", "away", "alongside"):
        return None
    if base == "become" and first not in _ARTICLES and not _name(words):
        return None
    if base in _asked("who"):
        return _ask(clause, "Who", [], words) if _name(words) else None
    return _ask(clause, _what(base, words), [], words) if base in _asked("what") else None


def _degree(clause: _Parts) -> AskedSpan | None:
    """Ask where a degree is from."""
    words = clause.words
    at = next((i for i, w in enumerate(words) if i and w.text in ("from", "at")), 0)
    if not at or not {w.text.lower() for w in words[:at]} & _asked("degree"):
        return None
    wh = f"{words[at].text.capitalize()} which institution"
    return _ask(clause, wh, words[:at], words[at + 1 :]) if _name(words[at + 1 :]) else None


def _career(clause: _Parts) -> AskedSpan | None:
    """Ask what a career began as, or where a debut was."""
    words = clause.words
    for at, word in enumerate(words[1:5], 1):
        if word.text in ("as", "in", "with") and words[at - 1].text in _asked("career"):
            named = word.text == "as" or _name(words[at + 1 :])
            wh = "Who" if word.text == "with" else "What"
            asked = named and wh == "What"
            return _ask(clause, wh, words[:at], words[at + 1 :], word.text) if asked else None
    return None


def _what(base: str, words: Sequence[_Word]) -> str:
    """Return "Which award" or "Which institution" where the answer says that it is one."""
    held = {w.text.lower().strip('".,') for w in words}
    if base == "attend" and held & _asked("school"):
        return "Which institution"
    return "Which award" if base in ("win", "receive") and held & _asked("award") else "What"
