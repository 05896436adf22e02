"""Reading a judge's reply: a verdict only where number, question, label and code all stand.

The code is made for each request and does not occur in the data (``fence``), so whatever a judge
quotes from an answer, a gold or a question is never a label. What is not read is missing, with the
reason; nothing here raises on any text.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import islice
from typing import NamedTuple

from sayso.annotate.fence import clean
from sayso.annotate.llm_labels import Vocabulary

#: Questions are compared up to this length; from this likeness on they count as repeated.
LONGEST_ECHO = 400
ALIKE = 0.85
#: Characters of a line that may open a block: a question has at most 2,000 of them.
LONGEST_HEAD = 5000
#: Characters of a long question that tell it from others.
ENOUGH = 100


class Entry(NamedTuple):
    """One block or JSON entry: the number and question it names, its label (valid or ``None``)."""

    number: int
    question: str
    label: str | None
    raw: str


class Read(NamedTuple):
    """What a reply says: label and own text of each part that was read, the problem of others."""

    labels: dict[int, str]
    raw: dict[int, str]
    problems: dict[int, str]


_NAMES = r"(?:think|thinking|thought|reasoning)"
_THOUGHT = re.compile(rf"^[ \t]*<{_NAMES}>.*?</{_NAMES}>", re.I | re.S | re.M)
_OPEN = re.compile(rf"^[ \t]*<{_NAMES}>", re.I | re.M)
_CLOSE = re.compile(rf"^[ \t]*</{_NAMES}>", re.I | re.M)


def strip_thinking(text: str) -> tuple[str, bool]:
    """Return a reply without its thinking, and whether all thinking was closed.

    Tags count at the beginning of a line. What stands before a closing tag alone is thinking too
    (some templates open it in the prompt); what follows an opening one alone is, to the end.
    """
    text = _THOUGHT.sub("", text)
    closing = _CLOSE.search(text)
    opening = _OPEN.search(text)
    if closing and (opening is None or closing.start() < opening.start()):
        text = text[closing.end() :]
        opening = _OPEN.search(text)
    if opening:
        return text[: opening.start()], False
    return text, True


_REFUSAL = re.compile(
    r"^\W*(?:I['’]?m\s+(?:very\s+)?sorry|sorry|I\s+apologi[sz]e|unfortunately|as\s+an?\s+(?:AI|language)|"
    r"I\s+(?:can(?:not|['’]?t)|won['’]?t|will\s+not|am\s+(?:not\s+able|unable)|must\s+decline|decline))\b",
    re.I,
)


def refuses(text: str) -> bool:
    """Whether a reply that holds no verdict is the judge declining to give one."""
    return bool(_REFUSAL.match(text[:300]))


def read_reply(
    text: str,
    output: str,
    code: str,
    questions: Sequence[str],
    labels: Vocabulary,
    *,
    cut: bool = False,
) -> Read:
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
    kept: dict[int, dict[str | None, str]] = {}
    problems = dict.fromkeys(range(len(questions)), "unread")
    keys = [_key(clean(q)) for q in questions]
    for entry in entries:
        part = entry.number - 1
        if not 0 <= part < len(questions):
            continue
        if not _repeats(entry.question, part, keys):
            problems[part] = "mismatch"
            continue
        kept.setdefault(part, {})[entry.label] = entry.raw
    found: dict[int, str] = {}
    raw: dict[int, str] = {}
    for part, said in kept.items():
        valid = {label: own for label, own in said.items() if label is not None}
        if len(valid) != 1:
            problems[part] = "unread"
            continue
        ((found[part], raw[part]),) = valid.items()
        del problems[part]
    return Read(found, raw, problems)


#: Data have no such line: cleaning leaves one ``#`` of several.
_HEADING = re.compile(r"[\s>*_]*#{2,}")


def _block_entries(text: str, code: str, labels: Vocabulary, cut: bool) -> Iterator[Entry]:
    """Blocks ``### 1 code question``, each with the last valid ``$label code$`` at a line's end."""
    head = re.compile(
        rf"^[\s>*_]*#{{1,6}}[\s*_]*(?:question\s+)?(\d{{1,4}})[\s.:|)*_-]*{code}\b[\s.:|)*_-]*(.*)$",
        re.I,
    )
    label = re.compile(rf"\$\s*([A-Za-z][A-Za-z_/,:+ -]{{0,40}}?)\s*{code}\s*\$[\s*_`.]*$", re.I)
    number, question, said, lines = 0, "", None, list[str]()
    unsaid = False  # something was written after the label
    for line in text.split("\n"):
        line = line.rstrip()
        if len(line) <= LONGEST_HEAD and (opening := head.match(line)):
            if number:
                yield Entry(number, question, said, "\n".join(lines))
            number, question = int(opening[1]), opening[2].strip(" *_`")
            said, lines = None, [line]
            continue
        if number and _HEADING.match(line):
            # A head that went wrong: what follows belongs to another question.
            yield Entry(number, question, said, "\n".join(lines))
            number = 0
        lines.append(line)
        if (found := label.search(line[-200:])) and (valid := labels.read(found[1])):
            said, unsaid = valid, False
        else:
            unsaid = unsaid or bool(line)
    if cut and unsaid:  # an analysis may name a label before the one it would have come to
        said = None
    if number:
        yield Entry(number, question, said, "\n".join(lines))


def _json_entries(text: str, code: str, labels: Vocabulary) -> Iterator[Entry]:
    """Entries of the last object of the reply that carries the code, complete or cut off."""
    for entry in coded_entries(text, code):
        if not isinstance(entry, dict):
            continue
        number, question, said = (entry.get(k) for k in ("number", "question", "label"))
        if type(number) is int and isinstance(question, str) and isinstance(said, str):
            raw = json.dumps(entry, ensure_ascii=False)
            yield Entry(number, question, labels.read(said), raw)


def coded_entries(text: str, code: str) -> list[object]:
    """Return ``verdicts`` of the last object ``{"code": …, "verdicts": […]}`` with this code.

    Complete entries of an object that breaks off count; an object with a key given twice does not.
    """
    found: list[object] = []
    end = 0
    for opening in islice(_OBJECT.finditer(text), MOST_OBJECTS):
        if opening.start(1) >= end:
            verdicts, end = _verdicts(text, opening.start(1), code)
            found = found if verdicts is None else verdicts
    return found


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
    opened = beginning.match(text, start)
    if opened is None:
        return None
    found: list[object] = []
    at = opened.end()
    while True:
        between = _BETWEEN.match(text, at)
        try:
            entry, at = _JSON.raw_decode(text, between.end() if between else at)
        except (ValueError, RecursionError):
            # Another key behind a list that ended: a second list or code, so neither counts.
            return None if _GOES_ON.match(text, at) else found
        found.append(entry)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A JSON object; a key given twice says two things, so it says nothing."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is given twice")
    return found


_JSON = json.JSONDecoder(object_pairs_hook=_unique)
_OBJECT = re.compile(r"^[ \t]*(?:```\w*[ \t]*)?(\{)", re.M)
_BETWEEN = re.compile(r"[\s,]*")
_GOES_ON = re.compile(r"\s*\]\s*,")
#: Beginnings of an object that are tried in one reply.
MOST_OBJECTS = 100


def _key(text: str) -> str:
    """What of a question must be repeated: its letters and digits, as plain as can be."""
    plain = unicodedata.normalize("NFKD", text[: 4 * LONGEST_ECHO]).casefold()
    return " ".join(re.findall(r"[^\W_]+", plain))[:LONGEST_ECHO]


def _repeats(echo: str, part: int, keys: Sequence[str]) -> bool:
    """Whether an echo is of this question, up to small slips, and of no other one more."""
    said = _key(clean(echo[: 4 * LONGEST_ECHO]))
    wanted = keys[part]
    if said == wanted:
        return True
    if not said or not wanted:
        return False
    if len(said) >= ENOUGH:  # the beginning of a long question, if no other one begins so
        begun = [key.startswith(said) for key in keys]
        if sum(begun) == 1:
            return begun[part]
    likeness = [SequenceMatcher(None, said, key, autojunk=False).ratio() for key in keys]
    return likeness[part] >= ALIKE and likeness[part] == max(likeness)
