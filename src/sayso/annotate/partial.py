"""When a part of the gold is enough: short answers, wider places, head nouns, most words."""

from __future__ import annotations

import re

from sayso.annotate.normalize import STOP, Token, word_set
from sayso.annotate.phrases import Hit, Text, locate, window
from sayso.annotate.readings import LISTED, Form
from sayso.annotate.words import PLACE

# Words that make another thing of what they stand before: without them the answer is not the gold.
CHANGERS = word_set(
    "new north south east west upper lower northern southern eastern western great little saint non"
    " anti vice former deputy co not no half pre post ex sub semi inter under over pseudo mini step"
    " first second third last de san santa los las el la port fort mount lake cape los"
)
# What a country does, its state does: "the Russian army" is well named by "Russia".
_STATE = word_set(
    "army armies force forces government people empire troop troops republic kingdom navy military"
    " state nation power powers regime soldiers"
)
_TAIL = re.compile(r"^([^,()]+),\s*([A-Z][^,()]*?)(?:,\s*[A-Z][^,]*)?$")


def _drops_too_much(form: Form, kept: set[str]) -> bool:
    missing = [t for t in form.content if t.stem not in kept]
    return any(t.number or t.text in CHANGERS for t in missing)


def _only_of(form: Form, kept: set[str]) -> bool:
    """Tell whether "University" alone is left of "University of Oxford"."""
    if len(form.tokens) < 3 or form.tokens[1].text != "of":
        return False
    return form.tokens[0].stem in kept and not any(t.stem in kept for t in form.tokens[2:])


def bare(form: Form, text: Text) -> list[Hit]:
    """A short answer that says nothing but words of the gold: "Belshazzar" for "king Belshazzar".

    What is left out may not be a number or a word that makes another thing ("New York", "York").
    """
    words = [t for t in text.tokens if t.text not in STOP]
    if not 1 <= len(words) <= 4 or len(text.tokens) > 7:
        return []
    said = {i: t for i, t in enumerate(text.tokens) if t.text not in STOP}
    kept: set[str] = set()
    covered: set[int] = set()
    for t in form.tokens:
        places = set(locate(t, text)) & said.keys()
        if places:
            kept.add(t.stem)
            covered |= places
    if covered != said.keys() or _drops_too_much(form, kept) or _only_of(form, kept):
        return []
    named = any(t.capital for t in form.content)
    if not named and form.content[-1].stem not in kept and not form.content[0].number:
        return []  # "hydrogen" is not "hydrogen peroxide"
    if form.person is not None and len(form.person) > 2 and form.person[-1].stem not in kept:
        return []
    if all(t.number for t in said.values()) and len(form.content) > 3:
        return []
    return [Hit(min(said), max(said), "bare part")]


def _replaced(form: Form, where: dict[int, int], text: Text) -> bool:
    """Tell whether another content word stands in the place of a missing one.

    ``where`` maps positions in the gold's content words to the tokens that matched them.
    """
    taken = set(where.values())

    def other(i: int) -> bool:
        return 0 <= i < len(text.tokens) and i not in taken and text.tokens[i].text not in STOP

    for k in range(len(form.content)):
        if k in where:
            continue
        left, right = where.get(k - 1), where.get(k + 1)
        if left is not None and right is not None:
            if any(other(i) for i in range(left + 1, right)):
                return True
        else:
            before = right is not None and other(right - 1) and _adjacent(text, right - 1)
            after = left is not None and other(left + 1) and _adjacent(text, left)
            if before or after:
                return True
    return False


def _adjacent(text: Text, i: int) -> bool:
    return text.tokens[i + 1].start - text.tokens[i].end <= 1


def most(form: Form, new: list[Token], text: Text) -> list[Hit]:
    """Two thirds of at least three content words that the question did not say, close together.

    What was written with a capital in the gold must be so in the text; no number may be missing
    and no other word may stand where the missing one would ("a bright blue scarf").
    """
    different = tuple({t.stem: t for t in new}.values())
    n = len(different)
    if n < 3 or form.person is not None or LISTED.search(form.value) or "," in form.value:
        return []
    hit = window(different, text, 2 + 2 * n, -(-2 * n // 3))
    if hit is None:
        return []
    where: dict[int, int] = {}
    for k, t in enumerate(form.content):
        for i in locate(t, text):
            if hit.first <= i <= hit.last and (text.tokens[i].capital or not t.capital):
                where[k] = i
    found = [t for k, t in enumerate(form.content) if k in where and t in different]
    missing = [t for k, t in enumerate(form.content) if k not in where and t in different]
    if 3 * len(found) < 2 * n or any(t.number or t.text in CHANGERS for t in missing):
        return []
    return [] if _replaced(form, where, text) else [Hit(hit.first, hit.last, "most words")]


def head(form: Form, new: list[Token], text: Text) -> list[Hit]:
    """The noun of "red-billed hornbill" alone, if nothing else is said to specify it."""
    if not len(form.tokens) == len(form.content) in (2, 3) or form.value.endswith(")"):
        return []
    if any(t.capital or t.number for t in form.content):
        return []
    noun = form.content[-1]
    if noun not in new or len(noun.text) < 5 or any(t.text in CHANGERS for t in form.content):
        return []
    found = []
    for i in locate(noun, text):
        before = text.tokens[i - 1] if i else None
        if before is None or before.text in STOP:
            found.append(Hit(i, i, "head noun"))
    return found


def state(form: Form, text: Text) -> list[Hit]:
    """A country for its army or government."""
    if (
        len(form.content) != 2
        or form.content[1].text not in _STATE
        or form.content[0].text not in PLACE
    ):
        return []
    return [Hit(i, i, "state") for i in locate(form.content[0], text)]


def continued(text: str, said: Text, last: int, gold: Form) -> bool:
    """Tell whether a place goes on otherwise than its gold: "Plymouth, England", "Texas Bowl".

    ``last`` is the last token that matched; a capitalized word that is not the gold's follows it,
    after a space or a comma.
    """
    if last + 1 >= len(said.tokens):
        return False
    after = said.tokens[last + 1]
    gap = text[said.tokens[last].end : after.start].strip()
    foreign = after.capital and not after.number and after.text not in STOP
    return foreign and gap in ("", ",") and not any(t.stem == after.stem for t in gold.tokens)


def wider_place(form: Form, new: list[Token], text: Text, where: bool) -> list[Hit]:
    """The wider place of "Covington, Kentucky", if no other place inside it is named."""
    m = _TAIL.match(form.value)
    if not where or m is None:
        return []
    wider = [t for t in form.tokens if m.start(2) <= t.start < m.end(2)]
    if not wider or not any(t in new for t in wider):
        return []
    found = []
    for i in locate(wider[0], text):
        if text.tokens[i].text != wider[0].text:
            continue
        last = i + len(wider) - 1
        if last >= len(text.tokens) or any(
            text.tokens[i + k].text != w.text for k, w in enumerate(wider)
        ):
            continue
        before = text.tokens[max(0, i - 4) : i]
        after = text.tokens[last + 1] if last + 1 < len(text.tokens) else None
        longer = after is not None and after.capital and _adjacent(text, last)
        if not longer and not any(t.capital and t.text not in STOP for t in before[-2:]):
            found.append(Hit(i, last, "wider place"))
    return found
