"""Reading a judge's reply: a verdict only where number, question, label and code all stand.

The code is new for each request and does not occur in the data (``fence``), so whatever a judge
quotes from an answer, a gold or a question is never a label. What is not read is missing, with the
problem that says why; no text of a reply raises.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from sayso.judges.model.prompts import Vocabulary
from sayso.judges.patterns import regex
from sayso.prompts.fence import visible_text
from sayso.prompts.templates import Template
from sayso.records import Generation

#: Problem of a missing verdict -> what it means; :class:`JudgeCounts` counts each.
PROBLEMS = {
    "unread": "no readable label, twice",
    "mismatch": "it named another question, or its two passes contradict each other",
    "refused": "the judge declined",
    "truncated": "its reply was cut off or its thinking never closed",
    "failed": "it could not be asked",
}


class JudgeCounts(msgspec.Struct):
    """What a judge did so far.

    ``parts`` are (question, golds, answer) triples that were asked, ``shared`` verdicts that an
    equal triple gave, ``calls`` requests including ``retries``, of which ``readable`` gave a label;
    ``retried`` parts were asked a second time. The next five count parts that stayed without a
    verdict, by problem. Tokens are those of all replies, whoever paid for them; ``dollars`` is
    ``None`` once one price is unknown.
    """

    calls: int = 0
    retries: int = 0
    parts: int = 0
    shared: int = 0
    retried: int = 0
    readable: int = 0
    unread: int = 0
    mismatch: int = 0
    refused: int = 0
    truncated: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    dollars: float | None = 0.0

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens together."""
        return self.prompt_tokens + self.completion_tokens

    def add(self, problem: str | None) -> None:
        """Count a part that stayed without a verdict; ``None`` is no problem."""
        if problem is not None:
            setattr(self, problem, getattr(self, problem) + 1)

    def see(self, labels: Iterable[str | None]) -> None:
        """Count a reply that gave at least one label."""
        self.readable += any(label is not None for label in labels)

    def spend(self, reply: Generation) -> None:
        """Add one reply."""
        self.calls += 1
        self.prompt_tokens += reply.usage.prompt_tokens
        self.completion_tokens += reply.usage.completion_tokens
        price = reply.usage.dollars
        failed = reply.problem not in (None, "truncated")
        if failed and price is None and not reply.usage.prompt_tokens:
            return  # nothing came back, nothing is known to have been paid
        if self.dollars is None or price is None:
            self.dollars = None
        else:
            self.dollars += price


def verdict_problem(failure: str) -> str:
    """Return the problem of a verdict whose request has failed for this reason."""
    if failure == "truncated":
        return "truncated"
    return "refused" if "content filter" in failure or failure.startswith("refused") else "failed"


_REFUSAL = regex(
    r"^\W*(?:I['’]?m\s+(?:very\s+)?sorry|sorry|I\s+apologi[sz]e|unfortunately|as\s+an?\s+(?:AI|language)|"
    r"I\s+(?:can(?:not|['’]?t)|won['’]?t|will\s+not|am\s+(?:not\s+able|unable)|must\s+decline|decline))\b",
    re.I,
)


def refuses(text: str) -> bool:
    """Whether a reply that holds no verdict is the judge declining to give one."""
    return bool(_REFUSAL.match(text[:300]))


class ReplyEntry(NamedTuple):
    """One block or JSON entry: the number and question it names, its label (valid or ``None``)."""

    number: int
    question: str
    label: str | None
    raw: str


class ReadReply(NamedTuple):
    """What a reply says: label and own text of each part that was read, the problem of others."""

    labels: dict[int, str]
    raw: dict[int, str]
    problems: dict[int, str]


def read_judge_reply(
    text: str,
    output: str,
    code: str,
    questions: Sequence[str],
    labels: Vocabulary,
    *,
    cut: bool = False,
) -> ReadReply:
    """Read a reply whose thinking was removed; ``problems`` holds each part without a label.

    ``cut``: it reached its limit, so its last block has a label only if that is its last line.
    ``mismatch``: its number came with another question. ``unread``: no entry, no valid label, or
    several entries that differ.
    """
    entries = (
        _json_entries(text, code, labels)
        if output == "json"
        else _block_entries(text, code, labels, cut)
    )
    return _by_part(entries, questions)


def read_word(
    text: str, labels: Vocabulary, shown: Iterable[str], *, cut: bool = False
) -> ReadReply:
    """Read a reply to a brief prompt: a label and nothing else.

    No code tells it from a quotation, so a reply that is one of the ``shown`` texts (an answer that
    says "right") is none. ``cut``: the reply reached its limit.
    """
    said = bare_reply(text)
    label = labels.read(said)
    if label is None or cut or said.casefold() in {bare_reply(s).casefold() for s in shown}:
        return ReadReply({}, {}, {0: "unread"})
    return ReadReply({0: label}, {0: text}, {})


def read_own(text: str, own: Template, questions: Sequence[str], *, cut: bool = False) -> ReadReply:
    """Read a reply in the format that the header of a user's own prompt names.

    No code stands in it: a label counts because data cannot hold one (``fence``) or, of a word,
    because the reply holds nothing else. Blocks count where there is one for each question, in
    order. ``cut``: the reply reached its limit, so a last block without an end has no label.
    """
    if own.single:
        label = own.labels.get(bare_reply(text).casefold())
        if label is None or cut:
            return ReadReply({}, {}, {0: "unread"})
        return ReadReply({0: label[0]}, {0: text}, {})
    keys = [_key(visible_text(question)) for question in questions]
    entries = [
        entry
        for entry in _own_entries(text, own, cut)
        if entry.label is not None
        or any(_repeats(entry.question, n, keys) for n in range(len(keys)))
    ]
    if len(entries) != len(questions) and not cut:  # which of equal questions is left out?
        return ReadReply(
            {}, {}, dict.fromkeys(range(len(questions)), "mismatch" if entries else "unread")
        )
    return _by_part([e._replace(number=n) for n, e in enumerate(entries, 1)], questions)


def read_number(text: str, own: Template) -> float | None:
    """Return the number that a reply consists of, as a share of the range that its header names."""
    found = _NUMBER.fullmatch(bare_reply(text))
    value = float(found[1]) if found else math.nan
    if not own.low <= value <= own.high:
        return None
    return (value - own.low) / (own.high - own.low)


def read_scored(text: str, own: Template) -> list[list[Any]] | None:
    """Return [assertion, share of the range] of each pair of lines that a reply holds.

    Lines ``LABEL: text`` and ``LABEL: number`` must take turns, the assertion first; other lines
    say nothing. An empty assertion (nothing, ``none``, ``n/a``) is a punt and needs no number.
    ``None`` for a reply without such lines, and for one with a line too many, out of turn, or
    whose number cannot be read.
    """
    pairs: list[list[Any]] = []
    waits: str | None = None  # an assertion whose number comes next
    seen = False
    for line in text.split("\n"):
        label, colon, value = line[:LONGEST_HEAD].partition(":")
        known = own.labels.get(_BEFORE_LABEL.sub("", label).strip(" *_`").casefold())
        if not colon or known is None:
            continue
        if known[1] == "assertion":
            if waits:
                return None
            waits, seen = _asserted(value), True
            continue
        if waits is None:
            return None
        number = read_number(value, own)
        if waits and number is None:
            return None
        if waits:
            pairs.append([waits, number])
        waits = None
    return None if waits or not seen else pairs


def _asserted(value: str) -> str:
    """Return an assertion of a reply, "" for words that stand for none."""
    bare = value.strip().strip(" *_`\"'“”‘’")
    return "" if bare.casefold().strip(" .()[]<>-–—") in _NO_ASSERTION else bare


def read_pair(text: str, within: str) -> list[str] | None:
    """Return [question, answer] of a reply ``question#answer`` about a text.

    One line of the reply holds the pair; several such lines, or none, are ``None``. With several
    ``#`` the pair is cut at the first one behind which stands words of the text ``within``, else
    at the last. A line of nothing but ``#`` says that there is no pair: both are empty.
    """
    lines = [_BEFORE_PAIR.sub("", line.strip(' \t\r*_`"“”')) for line in text.split("\n")]
    pairs = {line for line in lines if "#" in line.strip("#") or (line and not line.strip("#"))}
    if len(pairs) != 1:
        return None
    (pair,) = pairs
    if not pair.strip("#"):
        return ["", ""]
    folded = " ".join(within.casefold().split())
    cuts = [n for n, letter in enumerate(pair) if letter == "#" and 0 < n < len(pair) - 1]
    parts = [[pair[:n].strip(" *_`#"), pair[n + 1 :].strip(' *_`"“”')] for n in cuts]
    parts = [part for part in parts if all(part)]
    fits = [part for part in parts if " ".join(part[1].casefold().split()) in folded]
    return next(iter([*fits, *reversed(parts)]), None)


def bare_reply(text: str) -> str:
    """Return a reply without white space, quotes, emphasis and the stop around it."""
    around = " \t\r\n*_`\"'“”‘’:;!()[]$"
    return text.lstrip(around).rstrip(f"{around}.,")


def _by_part(entries: Iterable[ReplyEntry], questions: Sequence[str]) -> ReadReply:
    by_part: dict[int, dict[str | None, str]] = {}
    problems = dict.fromkeys(range(len(questions)), "unread")
    keys = [_key(visible_text(question)) for question in questions]
    for entry in entries:
        part = entry.number - 1
        if not 0 <= part < len(questions):
            continue
        if not _repeats(entry.question, part, keys):
            problems[part] = "mismatch"
            continue
        by_part.setdefault(part, {})[entry.label] = entry.raw
    read = ReadReply({}, {}, problems)
    for part, texts in by_part.items():
        valid = [label for label in texts if label is not None]
        if len(valid) != 1:
            problems[part] = "unread"
            continue
        read.labels[part], read.raw[part] = valid[0], texts[valid[0]]
        del problems[part]
    return read


# ---- entries as blocks

#: Characters of a line that may open a block: a question has at most 2,000 of them.
LONGEST_HEAD = 5000
_NUMBER = regex(r"(-?\d+(?:\.\d+)?)\s*%?")
#: What may stand before a label or a pair on its line: a list's mark or number, a heading's mark.
_BEFORE_LABEL = regex(r"^[\s>*_`#-]*(?:\d{1,3}[.)]\s*)?[\s*_`]*")
_BEFORE_PAIR = regex(r"^(?:#{2,6}\s+|[-•]\s+|\d{1,3}[.)]\s+)")
_NO_ASSERTION = ("", "none", "n/a", "empty", "null", "no assertion")
#: Data have no such line: cleaning leaves one ``#`` of several.
_HEADING = regex(r"[\s>*_]*#{2,}")


def _block_entries(text: str, code: str, labels: Vocabulary, cut: bool) -> Iterator[ReplyEntry]:
    """Blocks ``### 1 code question``, each with the last valid ``$label code$`` at a line's end."""
    head = re.compile(
        rf"^[\s>*_]*#{{1,6}}[\s*_]*(?:question\s+)?(\d{{1,4}})[\s.:|)*_-]*{code}\b[\s.:|)*_-]*(.*)$",
        re.I,
    )
    marked = re.compile(rf"\$\s*([A-Za-z][A-Za-z_/,:+ -]{{0,40}}?)\s*{code}\s*\$[\s*_`.]*$", re.I)
    number, question, label, lines = 0, "", None, list[str]()
    going_on = False  # something was written after the label
    for line in text.split("\n"):
        line = line.rstrip()
        if len(line) <= LONGEST_HEAD and (opening := head.match(line)):
            if number:
                yield ReplyEntry(number, question, label, "\n".join(lines))
            number, question = int(opening[1]), opening[2].strip(" *_`")
            label, lines = None, [line]
            continue
        if number and _HEADING.match(line):
            # A head that went wrong: what follows belongs to another question.
            yield ReplyEntry(number, question, label, "\n".join(lines))
            number = 0
        lines.append(line)
        if (mark := marked.search(line[-200:])) and (valid := labels.read(mark[1])):
            label, going_on = valid, False
        else:
            going_on = going_on or bool(line)
    if cut and going_on:  # an analysis may name a label before the one it would have come to
        label = None
    if number:
        yield ReplyEntry(number, question, label, "\n".join(lines))


_OWN_HEAD = regex(
    r"[\s>*_]*#{2,6}[\s*_]*(?:\d{1,4}[.:)]?\s+)?(?:question\s{0,3}\d{0,4}\s{0,3}:)?(.*)$", re.I
)
#: What of a paper's grammar may follow the question on its line.
_FOLLOWS = regex(r"\b(?:analysis|(?:(?:gold|model)\s+)?answers?)\s*:", re.I)
#: Our own prefix of a question in the fence, which a judge may repeat with it.
_PREFIX = regex(r"^\d{1,4} question\|\s*")


def _own_entries(text: str, own: Template, cut: bool) -> Iterator[ReplyEntry]:
    """Blocks ``### Question: ... $label$`` of a paper's grammar, numbered as they come.

    The label is the last ``$label$`` at a line's end; two different ones there are none.
    """
    words = "|".join(re.escape(label) for label, _ in own.labels.values())
    marked = re.compile(rf"\$ ?({words}) ?\$", re.I)  # no more room than ``clean`` looks into
    lines = text.split("\n")
    heads = [n for n, line in enumerate(lines) if _OWN_HEAD.match(line)]
    for number, (start, end) in enumerate(zip(heads, [*heads, len(lines)][1:], strict=True), 1):
        block = "\n".join(lines[start:end]).strip()
        opening = _OWN_HEAD.match(lines[start][:LONGEST_HEAD])
        echo = opening[1].strip() if opening else ""
        if not echo:  # the question is on the next line
            echo = next((line.strip() for line in lines[start + 1 : end] if line.strip()), "")
        echo = _PREFIX.sub("", _FOLLOWS.split(marked.sub("", echo), maxsplit=1)[0].strip(" *_`"))
        label = None
        for line in block.split("\n"):
            if marked.search(line) and line.rstrip(" *_`.").endswith("$"):
                said = {mark.casefold() for mark in marked.findall(line)}
                label = own.labels.get(said.pop(), (None,))[0] if len(said) == 1 else None
        if cut and start == heads[-1] and not block.rstrip(" *_`.").endswith("$"):
            label = None
        yield ReplyEntry(number, echo, label, block)


# ---- entries as JSON

#: Beginnings of an object that are tried in one reply.
MOST_OBJECTS = 100


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A JSON object; a key given twice says two things, so it says nothing."""
    whole = dict(pairs)
    if len(whole) != len(pairs):
        raise ValueError("a key is given twice")
    return whole


_JSON = json.JSONDecoder(object_pairs_hook=_unique)
_OBJECT = regex(r"^[ \t]*(?:```\w*[ \t]*)?(\{)", re.M)
_BETWEEN = regex(r"[\s,]*")
_GOES_ON = regex(r"\s*\]\s*,")


def _json_entries(text: str, code: str, labels: Vocabulary) -> Iterator[ReplyEntry]:
    """Entries of the last object of the reply that carries the code, complete or cut off."""
    for entry in coded_entries(text, code):
        if not isinstance(entry, dict):
            continue
        number, question, label = (entry.get(k) for k in ("number", "question", "label"))
        if type(number) is int and isinstance(question, str) and isinstance(label, str):
            raw = json.dumps(entry, ensure_ascii=False)
            yield ReplyEntry(number, question, labels.read(label), raw)


def coded_entries(text: str, code: str) -> list[object]:
    """Return ``verdicts`` of the last object ``{"code": …, "verdicts": […]}`` with this code.

    Complete entries of an object that breaks off count; an object with a key given twice does not.
    """
    entries: list[object] = []
    end = 0
    for opening in islice(_OBJECT.finditer(text), MOST_OBJECTS):
        if opening.start(1) >= end:
            verdicts, end = _verdicts(text, opening.start(1), code)
            entries = entries if verdicts is None else verdicts
    return entries


def _verdicts(text: str, start: int, code: str) -> tuple[list[object] | None, int]:
    """The list of a reply object that begins at ``start`` (or ``None``), and where it ends."""
    try:
        whole, end = _JSON.raw_decode(text, start)
    except (ValueError, RecursionError):
        return _cut_off(text, start, code), start + 1
    if not isinstance(whole, dict) or whole.get("code") != code:
        return None, end
    verdicts = whole.get("verdicts")
    return verdicts if isinstance(verdicts, list) else None, end


def _cut_off(text: str, start: int, code: str) -> list[object] | None:
    """The complete entries of an object that breaks off, as at a token limit."""
    beginning = re.compile(rf'\{{\s*"code"\s*:\s*"{code}"\s*,\s*"verdicts"\s*:\s*\[')
    opening = beginning.match(text, start)
    if opening is None:
        return None
    entries: list[object] = []
    at = opening.end()
    while True:
        between = _BETWEEN.match(text, at)
        try:
            entry, at = _JSON.raw_decode(text, between.end() if between else at)
        except (ValueError, RecursionError):
            # Another key behind a list that ended: a second list or code, so neither counts.
            return None if _GOES_ON.match(text, at) else entries
        entries.append(entry)


# ---- does an entry repeat its question?

#: Questions are compared up to this length; from this likeness on they count as repeated.
LONGEST_ECHO = 400
ALIKE = 0.85
#: Characters of a long question that distinguish it from others.
ENOUGH = 100


def _key(text: str) -> str:
    """What of a question must be repeated: its letters and digits, as plain as can be."""
    plain = unicodedata.normalize("NFKD", text[: 4 * LONGEST_ECHO]).casefold()
    return " ".join(re.findall(r"[^\W_]+", plain))[:LONGEST_ECHO]


def _repeats(echo: str, part: int, keys: Sequence[str]) -> bool:
    """Whether an echo is of this question, up to small slips, and of no other one more."""
    echoed = _key(visible_text(echo[: 4 * LONGEST_ECHO]))
    wanted = keys[part]
    if echoed == wanted:
        return True
    if not echoed or not wanted:
        return False
    if len(echoed) >= ENOUGH:  # the beginning of a long question, if no other one begins so
        begun = [key.startswith(echoed) for key in keys]
        if sum(begun) == 1:
            return begun[part]
    likeness = [SequenceMatcher(None, echoed, key, autojunk=False).ratio() for key in keys]
    return likeness[part] >= ALIKE and likeness[part] == max(likeness)
