"""The words of one sentence that say how likely it is, each with a level (log odds).

Every mark is composed: a head (an adjective, noun or verb of likelihood, knowledge or evidence),
what strengthens, weakens or denies it, and the frame it stands in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from sayso.annotate import decisive_words as w
from sayso.annotate.decisive_tokens import BE, NEGATIVE, SELF, Word, before, denied_after

#: How a mark reaches: what it stands in ("modal", "adverb"), what follows it ("matrix").
Reach = Literal["matrix", "modal", "adverb"]


class Mark(NamedTuple):
    """Words ``first..last`` (indices, inclusive) put a statement at ``level``.

    ``polar``: they deny it ("unlikely", "I doubt"), so more hedges pull towards even odds.
    ``denial``: the index of the "not" that is part of it, else -1. ``doubt``: they speak of the
    speaker's own certainty ("not sure") and may be a remark on a neighboring statement.
    """

    first: int
    last: int
    level: float
    reach: Reach
    polar: bool = False
    denial: int = -1
    doubt: bool = False
    #: further words of the mark, apart from it: "the chances that ... are *slight*"
    apart: tuple[int, ...] = ()
    #: "I think", "it seems": says little where the statement itself says how likely it is
    wraps: bool = False


def text_at(items: Sequence[Word], i: int) -> str:
    """Return word ``i``, "" outside."""
    return items[i].text if 0 <= i < len(items) else ""


def _scaled(level: float, scale: float, extreme: float, near: bool) -> float:
    if near:
        return max(-2.8, min(2.8, level)) if abs(level) > 2.5 else level * 0.9
    if abs(level) > 2.0:
        # An extreme has no room above; what weakens it leaves the direction.
        return level * extreme if extreme < 1 else level + 0.4 * (extreme - 1)
    return level * scale


def scales(items: Sequence[Word], i: int) -> Mark | None:
    """Adverbs and adjectives: "most likely", "not impossible", "almost certainly not"."""
    word = items[i].text
    entry = w.lookup(word, "scale")
    hearsay = w.lookup(word, "hearsay") if word.endswith("ly") else None
    if entry is None and hearsay is None:
        return None
    level = entry.level if entry else hearsay.level if hearsay else 0.0
    ahead = before(items, i)
    previous, following = text_at(items, i - 1), text_at(items, i + 1)
    if (entry and previous == "as") or previous in ("if", "where", "whenever", "when", "wherever"):
        return None
    if word in ("certain", "obvious", "evident", "clear") and not (
        ahead.copula or ahead.nearly or following in ("that", "")
    ):
        return None
    if word in ("truly", "indeed", "surely", "certain") and ahead.mine:
        return None
    compared = next((k for k in (i - 1, i - 2) if text_at(items, k) in ("more", "less")), None)
    first = ahead.first if ahead.copula or ahead.scale != 1 or ahead.negated else i
    if compared is not None and w.lookup(word, "scale") is not None:
        return _comparison(items, i, compared, level)
    if ahead.negated:
        if level < -2.5:
            level = -0.5
        elif level < -0.3:
            level = 0.35
        elif word.startswith("necessar"):
            level = 0.3
        elif level > 2:
            level = 0.5 if ahead.full or ahead.strengthened else 0.1
        elif level > 0.3:
            level = -(level + w.NOT) * (1.1 if ahead.strengthened else 1.0)
        else:
            level = -3.4
        return Mark(first, i, level, "matrix" if ahead.copula else "adverb", level < -0.3)
    level = _scaled(level, ahead.scale, ahead.extreme, ahead.nearly)
    if ahead.hardly:
        level = -abs(level) - w.NOT
    denial = denied_after(items, i) if ahead.copula is False or word.endswith("ly") else None
    if denial is not None and level > 0.3:
        return Mark(first, denial, -(level + w.NOT), "adverb", True, denial)
    kind: Reach = "matrix" if following in ("that", "to") and ahead.copula else "adverb"
    if text_at(items, i) == "possible" and previous == "the":
        level = max(level, 0.3)
    return Mark(first, i, level, kind, level < -0.9)


def _comparison(items: Sequence[Word], i: int, at: int, level: float) -> Mark | None:
    """ "More likely than not", "more likely Lyon"; "more likely to smoke" compares groups."""
    tail = [text_at(items, k) for k in range(i + 1, i + 4)]
    sign = 1.0 if items[at].text == "more" else -1.0
    if level < -0.3:
        sign = -sign
    if tail[:2] == ["than", "not"] or text_at(items, at - 2) == "than":
        return Mark(at, min(i + 2, len(items) - 1), 0.4 * sign, "matrix", sign < 0)
    if tail[0] == "to" or "than" in [x.text for x in items[i + 1 :]]:
        return None
    strong = text_at(items, at - 1) in ("much", "far", "significantly", "considerably")
    return Mark(at, i, sign * (1.3 if strong else 0.8), "adverb", sign < 0)


def chances(items: Sequence[Word], i: int) -> Mark | None:
    """Amounts of chance: "a very good chance", "almost no chance", "the chances are slim"."""
    word = items[i].text
    entry = w.lookup(word, "noun") or _framed(items, i)
    if entry is None or text_at(items, i - 1) in ("by", "second", "last", "another"):
        return None
    ahead = before(items, i, 4)
    own = entry.level if entry.level > 1.5 else None
    best = _amount_before(items, i)
    predicate = _amount_after(items, i) if best is None else None
    if best is not None:
        level, first = best
        last = i
    elif predicate is not None:
        level, far = predicate
        apart = tuple(range(max(i + 1, far - 3), far + 1))
        return Mark(i, i, level, "matrix", level < -0.9, apart=apart)
    elif text_at(items, i - 1) == "all" and text_at(items, i - 2) == "in":
        return Mark(i - 2, i, 1.4, "adverb")
    elif word in ("chances", "odds") and text_at(items, i + 1) in BE:
        return Mark(i, i + 1, 0.9, "matrix")
    elif text_at(items, i - 1) in w.left_out() and w.lookup(word, "noun") is None:
        level, first, last = entry.level, i - 1, i
    elif own is not None and text_at(items, i - 1) in ("with", "absolute", "complete", "full"):
        level, first, last = own + 0.6, i - 1, i
    elif text_at(items, i - 1) in ("a", "the", "any") and (
        {"there", "have", "has", "is", "raises"} & {x.text for x in items[max(0, i - 5) : i]}
    ):
        level, first, last = entry.level if entry.level < 0.5 else 0.0, i - 1, i
    else:
        return None
    if own is not None:
        level = own if level > 3 else level + 0.6 if level >= 0.3 else level * 0.45
    if ahead.negated and text_at(items, i - 1) not in NEGATIVE and level > -4:
        level, first = -(abs(level) + w.NOT), min(first, ahead.first)
    return Mark(first, last, level, "matrix", level < -0.9)


def _framed(items: Sequence[Word], i: int) -> w.Entry | None:
    """Read an unlisted noun in the frame of a chance: "there is a good ... that"."""
    if items[i].text not in w.left_out() or text_at(items, i + 1) not in (
        "that", "of", "is", "are", "it", "he", "she", "they", "the", ".", "",
    ):  # fmt: skip
        return None
    near = {x.text for x in items[max(0, i - 6) : i]}
    if "there" in near or "the" in near or "have" in near or "stands" in near or "has" in near:
        return w.Entry("noun", -0.4)
    return w.Entry("noun", -0.4) if text_at(items, i + 1) in ("is", "are") else None


def _amount_before(items: Sequence[Word], i: int) -> tuple[float, int] | None:
    """The level of the amount before noun ``i`` and where it begins."""
    for k in range(i - 1, max(-1, i - 4), -1):
        word = items[k].text
        if word == "than" and text_at(items, k - 1) in ("better", "more", "less", "worse"):
            return (-0.35 if items[k - 1].text in ("less", "worse") else 0.35), k - 1
        level = w.amount(word)
        if word == "even" and text_at(items, k - 1) == "than":
            continue
        if level is None:
            if k == i - 1 and word not in w.left_out():
                return None
            if word in w.left_out() and text_at(items, k - 1) in ("about", "roughly"):
                return 0.0, k - 1
            continue
        if word == "little" and text_at(items, k - 1) == "a":
            return -0.8, k - 1
        ahead = before(items, k, 3)
        softened = text_at(items, k - 1) in ("next", "to") or text_at(items, k - 1) in w.left_out()
        if level < -4 and (ahead.nearly or softened):
            return -3.6, ahead.first
        if ahead.strengthened or text_at(items, k - 1) in w.left_out():
            level *= 1.5 if level > 0 else 1.3
        elif ahead.extreme < 1:
            level *= 0.9
        if ahead.negated and level > 0.3:
            return -1.1, ahead.first
        return level, min(ahead.first, k)
    return None


def _amount_after(items: Sequence[Word], i: int) -> tuple[float, int] | None:
    """ "The chances are slight", "the odds that it rains are better than even"."""
    for k in range(i + 1, min(i + 16, len(items))):
        if items[k].text in ("is", "are", "was", "were", "seem", "seems", "remain"):
            found = _predicate(items, k)
            if found is not None:
                return found
        if items[k].text in (",", ";", ".", "but", "and"):
            return None
    return None


_BETWEEN = frozenset(
    "about roughly around very quite only not pretty rather extremely fairly better more less "
    "worse just in your at best somewhat really that so better relatively exactly".split()
)


def _predicate(items: Sequence[Word], k: int) -> tuple[float, int] | None:
    """The amount that the verb ``k`` gives: "are (very) slight", "are better than even"."""
    seen: list[str] = []
    for j in range(k + 1, min(k + 6, len(items))):
        word = items[j].text
        if word == "than" and seen:
            worse = seen[-1] in ("less", "worse", "lower")
            return (-0.35 if worse else 0.35), min(j + 1, len(items) - 1)
        if word in ("against", "favor", "favour"):
            return (-0.9 if word == "against" else 0.9), j
        level = w.amount(word)
        if level is not None and word not in ("no", "some", "any", "every"):
            ahead = before(items, j, 3)
            if ahead.strengthened or (seen and seen[-1] in w.left_out()):
                level *= 1.4 if level > 0 else 1.3
            return (-1.1 if ahead.negated and level > 0.3 else level), j
        if word in w.left_out() and text_at(items, j + 1) in ("that", ".", "", ","):
            # An unknown amount: in the middle where it is called "about", else a small one.
            return (0.0 if seen and seen[-1] in ("about", "roughly") else -0.4), j
        if word not in _BETWEEN and word not in w.left_out():
            return None
        seen.append(word)
    return None


def doubts(items: Sequence[Word], i: int) -> Mark | None:
    """The noun and verb of doubt: "no doubt", "beyond question", "I seriously doubt"."""
    word = items[i].text
    entry = w.lookup(word, "doubt")
    if entry is None:
        return None
    ahead = before(items, i, 6)
    near = [x.text for x in items[max(0, i - 5) : i]]
    previous = text_at(items, i - 1)
    bare = previous in ("no", "without", "beyond") or (
        set(near[-3:]) & {"without", "beyond"} and previous not in (",", ".")
    )
    if bare or "slightest" in near or "shadow" in near:
        almost = bool({"almost", "nearly", "practically"} & set(near))
        start = next((k for k in range(max(0, i - 5), i) if items[k].text in
                      ("no", "without", "beyond", "not", "there")), i)  # fmt: skip
        return Mark(start, i, 2.8 if almost else 3.9, "matrix" if previous == "no" else "adverb")
    if word in ("question", "uncertainty") and previous not in ("some", "much", "little", "the"):
        return None
    verb = {"i", "we", "they", "would", "do", "to", "not", "experts", "historians"}
    degrees = ahead.scale != 1 or ahead.full or previous in w.left_out()
    subject = previous in verb or (degrees and set(near[-3:]) & verb)
    if word.startswith("doubt") and not word.endswith("s") and subject:
        if ahead.negated:
            return Mark(ahead.first, i, 2.4, "matrix", doubt=True)
        level = entry.level if entry.level < -1 else -1.5
        level = max(-2.4, level * (ahead.scale if degrees else 1.0))
        return Mark(min(ahead.first, i), i, level, "matrix", True)
    if previous in ("question", "questions"):
        return None
    levels = {"little": 2.1, "hardly": 2.4, "some": -0.1, "a": -0.1, "my": -0.3, "much": -1.0}
    level = next((levels[x] for x in reversed(near[-3:]) if x in levels), -0.3)
    if {"serious", "considerable", "great", "strong", "grave", "significant"} & set(near[-3:]):
        level = -1.2
    if level < 0 and "not" in near:
        level = 2.0
    return Mark(max(0, i - 2), i, level, "matrix", level < -0.9, doubt=level < 1)


def states(items: Sequence[Word], i: int) -> Mark | None:
    """The speaker's certainty: "I'm fairly confident", "not entirely sure", "for sure"."""
    word = items[i].text
    negative = word in ("unsure", "uncertain", "unclear", "hesitant", "undecided")
    entry = w.Entry("state", -0.3, -1) if negative else w.lookup(word, "state")
    if entry is None:
        return None
    ahead = before(items, i, 8)
    previous = text_at(items, i - 1)
    near = [x.text for x in items[max(0, i - 7) : i]]
    if previous in ("for", "make", "to", "makes", "making"):
        if previous != "for":
            return None
        denied = set(near) & (NEGATIVE | {"hard", "difficult", "impossible"})
        return Mark(i - 1, i, 0.4 if denied else 3.9, "adverb", doubt=bool(denied))
    modified = ahead.scale != 1 or ahead.full or ahead.nearly or ahead.small or ahead.negated
    if not (ahead.mine or modified or (negative and ahead.copula)) and not (
        ahead.first == 0 and text_at(items, i + 1) in ("it", "that", "about", "but", "of", "this")
    ):
        return None
    if word == "certain" and not ahead.mine and not ahead.negated and not ahead.hardly:
        return None
    if word == "positive" and not ahead.mine:
        return None
    if ahead.negated and not negative:
        if "at all" in " ".join(near) or "really" in near:
            level = -0.6
        elif ahead.full or "percent" in near or "%" in near:
            level = 0.6
        else:
            level = 0.1 if not ahead.strengthened else -0.2
        if entry.level < 1:
            level = 0.6 if entry.level < 0 else -0.8
        return Mark(ahead.first, i, level, "matrix", doubt=True)
    if ahead.hardly:
        return Mark(ahead.first, i, -0.8, "matrix", doubt=True)
    level = entry.level
    if negative:
        level = 0.2 if ahead.small else level * (2.0 if ahead.strengthened else 1.0)
        if ahead.negated:
            level = 1.0
    else:
        level = _scaled(level, ahead.scale, ahead.extreme, ahead.nearly)
        if ahead.small or (abs(entry.level) > 2 and ahead.extreme < 0.5):
            level = max(level, 0.5)
        if ahead.full or (ahead.strengthened and level > 2):
            level = min(4.4, level + 0.3)
    return Mark(ahead.first, i, level, "matrix", level < -0.9, doubt=level < 3)


def _participle(word: str) -> bool:
    """Whether "cannot be ..." speaks of what can be done, not of what is."""
    return word.endswith(("ed", "wn", "ught", "ound", "ept", "ade", "one", "sure", "certain"))


def modals(items: Sequence[Word], i: int) -> Mark | None:
    """ "May", "might", "could", and "must", "should", "would" before "be" or "have"."""
    word = items[i].text
    entry = w.lookup(word, "modal")
    if entry is None and word not in ("can", "would"):
        return None
    following = text_at(items, i + 1)
    denied = following in ("not", "never")
    verb = text_at(items, i + 2) if denied else following
    passive = verb == "be" and _participle(text_at(items, i + 3))
    if entry is None:
        if word == "can" and denied and verb in ("be", "have") and not passive:
            return Mark(i, i + 1, -3.3, "modal", True, i + 1)
        if word == "would" and verb in ("be", "have") and text_at(items, i - 1) not in SELF:
            return Mark(i, i, 2.2, "modal")
        return None
    if following == "as" and text_at(items, i + 2) == "well":
        return None
    if entry.level > 0.5 and (denied or verb not in ("be", "have")):
        return None
    if word == "could" and denied:
        strict = verb in ("be", "have") and not passive
        return Mark(i, i + 1, -3.0, "modal", True, i + 1) if strict else None
    if denied:
        return Mark(i, i + 1, -entry.level, "modal", False, i + 1)
    return Mark(i, i, entry.level, "modal")


def alternatives(items: Sequence[Word]) -> Iterator[tuple[int, int, int]]:
    """Yield (first, last, how many) of choices: "either A or B", "A, B or C" of names or numbers."""
    for i, item in enumerate(items):
        if item.text != "or" or i == 0 or i + 1 >= len(items):
            continue
        k = i - 1
        commas = 0
        while k >= 0 and i - k <= 14 and items[k].text not in ("either", "whether", ".", ";"):
            commas += items[k].text == ","
            k -= 1
        if k >= 0 and items[k].text == "either" and text_at(items, i + 1) != "not":
            yield k, i + 1, 2 + min(commas, 4)
