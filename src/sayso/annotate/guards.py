"""A value that is said is not always the answer: denied, only repeated from the question, of
another event, or one of several of which some are wrong."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable

from sayso.annotate.dates import MONTHS
from sayso.annotate.normalize import STOP, Token, word_set
from sayso.annotate.phrases import Text, locate

_NEGATORS = word_set(
    "not never isnt wasnt arent werent didnt doesnt dont cannot cant neither nor except unlike"
    " confused mistaken opposed misattributed wrongly incorrectly mistakenly hasnt hadnt wont"
)
_AFTER_DENIAL = word_set("isnt wasnt arent werent didnt doesnt")
_BE = word_set("is was are were did does")
_RESTART = word_set("but although though however because")
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|[\n;]")
_BREAK = re.compile(r"[,;:.!?\n](?=\s|$)")
_PREDICATE = word_set(
    "is are was were be been being called named known as by to in at on has have had of from"
)

_EVENTS = """
born birth birthplace birthdate birthday|died die dies death dead killed assassinated passed
deceased buried|founded founder founding established incorporated
|dissolved closed defunct ended disbanded|discovered discovery discoverer
|released release premiered premiere published aired debuted written wrote writer screenplay
screenwriter author composed composer score|married marriage wed spouse
|studied graduated attended educated|directed director directs|produced producer
|starred starring stars cast"""
_EVENT: dict[str, int] = {
    word: n
    for n, group in enumerate(_EVENTS.replace("\n", " ").split("|"))
    for word in group.split()
}


def sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span of the sentence around a span; abbreviations may end it early."""
    before = [m.end() for m in _SENTENCE_END.finditer(text, max(0, start - 400), start)]
    after = _SENTENCE_END.search(text, end, end + 400)
    return (before[-1] if before else max(0, start - 400)), (after.start() if after else end + 400)


def span_tokens(said: Text, start: int, end: int) -> tuple[int, int]:
    """Return the indices of the first token in a character span and the first one after it."""
    starts = said.at
    return bisect_left(starts, start), bisect_left(starts, end)


def denied(text: str, said: Text, start: int, end: int) -> bool:
    """Tell whether a value is denied: "not X", "rather than X", "X is not"."""
    first, after = span_tokens(said, start, end)
    words = said.tokens
    for k in range(first - 1, max(-1, first - 6), -1):
        word = words[k].text
        if word in _RESTART or _BREAK.search(text, words[k].end, words[k + 1].start):
            break
        following = words[k + 1].text
        if word == "not" and following in ("only", "until", "just", "merely", "before", "later"):
            break
        close = first - k <= 4
        if close and (
            word in _NEGATORS or (word, following) in (("rather", "than"), ("instead", "of"))
        ):
            return True
    if after < len(words) and not _BREAK.search(text, end, words[after].start):
        if words[after].text in _AFTER_DENIAL:
            return True
        if words[after].text in _BE and after + 1 < len(words) and words[after + 1].text == "not":
            return after + 2 >= len(words) or words[after + 2].text not in ("only", "just")
    return False


def compared(said: Text, start: int, end: int) -> bool:
    """Tell whether a value is what the answer is measured by: "Muse has more members than X"."""
    first, _ = span_tokens(said, start, end)
    return bool(first) and said.tokens[first - 1].text == "than"


def denies(tokens: Iterable[Token]) -> bool:
    """Tell whether a question itself is about what is not the case."""
    return any(t.text in _NEGATORS for t in tokens)


def echoed(text: str, said: Text, asked: Text, start: int, end: int) -> bool:
    """Tell whether a value is only the question's own words, said again before something new.

    True for a subject that the question named, when the sentence goes on to say something else.
    """
    first, after = span_tokens(said, start, end)
    inside = [t for t in said.tokens[first:after] if t.text not in STOP]
    if not inside or not all(t.text in asked.places for t in inside):
        return False
    low, high = sentence(text, start, end)
    low_token, high_token = span_tokens(said, low, high)
    for t in said.tokens[low_token:first]:
        if t.text in _PREDICATE or (t.text not in STOP and not locate(t, asked)):
            return False
    return any(t.text not in STOP and not locate(t, asked) for t in said.tokens[after:high_token])


def other_event(text: str, said: Text, asked: Text, start: int, end: int) -> bool:
    """Tell whether a value belongs to another event than the one asked about.

    "Born in Ripley and died in Paris" says nothing of Paris as a birthplace. The word for the event
    must stand before the value with only function words, numbers and months between, and the
    event that was asked about must be in the text too.
    """
    wanted = {_EVENT[t.text] for t in asked.tokens if t.text in _EVENT}
    if len(wanted) != 1 or not any(_EVENT.get(t.text) in wanted for t in said.tokens):
        return False
    first, _ = span_tokens(said, start, end)
    for k in range(first - 1, max(-1, first - 12), -1):
        word = said.tokens[k].text
        if word in _EVENT:
            return _EVENT[word] not in wanted
        if word in ("and", "but") or not (word in STOP or word[0].isdigit() or word in MONTHS):
            return False
    return False


_HALVES = word_set(
    "korea carolina dakota sudan virginia yemen vietnam africa america timor ireland macedonia"
    " guinea germany wales"
)


def other_place(said: Text, start: int, end: int) -> bool:
    """Tell whether "New" or a compass point makes another place of the value ("New York")."""
    first, after = span_tokens(said, start, end)
    if after != first + 1 or not first or said.tokens[first - 1].end + 1 != start:
        return False
    before = said.tokens[first - 1]
    compass = before.text in ("north", "south", "east", "west", "northern")
    return before.capital and (
        (before.text == "new" and said.tokens[first].capital)
        or (compass and said.tokens[first].text in _HALVES)
    )


_LINK = r"(?P<link>,\s*(?:and|or|&)\s|,\s|;\s|and\s|or\s|&\s|\n)"
_CAPITAL = r"[A-Z0-9][\w.'\u2019-]*"
_NAME = rf"(?:(?:the|a|an)\s+)?{_CAPITAL}(?:\s+(?:(?:of|the|de|von|van|la)\s+)?{_CAPITAL}){{0,4}}"
_NOUN = r"(?:(?:the|a|an)\s+)?[a-z][\w'\u2019-]*(?:\s+[a-z][\w'\u2019-]*){0,2}?"
_STOPS = r"(?=\s*(?:[,;.!?()&\n]|(?:and|or|in|at|on|for|from|with|who|as|to|during)\s|$))"
_RIGHT = {
    True: re.compile(rf"\s*{_LINK}\s*(?P<item>{_NAME}){_STOPS}"),
    False: re.compile(rf"\s*{_LINK}\s*(?P<item>{_NOUN}){_STOPS}"),
}
_LEFT = {
    True: re.compile(rf"(?P<item>{_NAME})\s*{_LINK}\s*(?:(?:the|a|an)\s+)?$"),
    False: re.compile(
        rf"(?P<item>(?:^|(?<=\s))[a-z][\w'\u2019-]*)\s*{_LINK}\s*(?:(?:the|a|an)\s+)?$"
    ),
}
_TRAILING = re.compile(r"[.,'\u2019]+$")


def listed(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the spans of the other items of the list that a value stands in.

    A list is what commas and at least one "and", "or" or "&" (or line breaks) join to the value:
    short items, all written with a capital or all without.
    """
    capital = text[start : start + 1].isupper()
    found: list[tuple[int, int]] = []
    joined = False
    at = end
    for _ in range(40):
        m = _RIGHT[capital].match(text, at, at + 120)
        if m is None:
            break
        found.append((m.start("item"), m.start("item") + len(_TRAILING.sub("", m["item"]))))
        joined = joined or m["link"].strip() not in (",", ";")
        at = m.end()
    at = start
    for _ in range(40):
        low = max(0, at - 80)
        m = _LEFT[capital].search(text[low:at])
        if m is None:
            break
        found.append((low + m.start("item"), low + m.end("item")))
        joined = joined or m["link"].strip() not in (",", ";")
        at = low + m.start("item")
    return found if joined else []
