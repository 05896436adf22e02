"""Reading a judge's reply: a verdict only where number, question, label and code all stand.

The code is made for each request and does not occur in the data (``fence``), so whatever a judge
quotes from an answer, a gold or a question is never a label. What is not read is missing, with the
reason; nothing here raises on any text.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from sayso.engines.engine import Engine
from sayso.judges.model.prompts import Vocabulary, one_line
from sayso.prompts import load_prompt, prompt_hash
from sayso.prompts.fence import Field, clean, fence, strip_thinking
from sayso.records import Generation, InputError, Message, Request


class JudgeCounts(msgspec.Struct):
    """What a judge did so far.

    ``parts`` are (question, golds, answer) triples that were asked, ``shared`` verdicts that an
    equal triple gave, ``calls`` requests including ``retries``; ``retried`` parts were asked a
    second time. The next five count parts that stayed without a verdict, by problem. Tokens are
    those of all replies, whoever paid for them; ``dollars`` is ``None`` once one price is unknown.
    """

    calls: int = 0
    retries: int = 0
    parts: int = 0
    shared: int = 0
    retried: int = 0
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


# Asking a model about numbered texts of one question: what readers of wording and pairs share.
#
# A reply counts where code, number and the first words of the text all stand, as in
# ``llm_parse``;
# several entries that differ say nothing. What is missing is asked once more; then it is
# missing,
# with the reason. Nothing here raises on any text.

#: texts in one call, and their characters together
MOST_PARTS = 12
MOST_CHARACTERS = 24_000
TOKENS_PER_CALL = 128
#: words of a text that a reply must repeat
ECHO = 5


class Block(NamedTuple):
    """Texts about one question, in one call. ``head``: a field before them, such as the claim."""

    question: str
    head: tuple[Field, ...]
    texts: tuple[str, ...]


class Sent(NamedTuple):
    """A request and what its reply is held against."""

    request: Request
    block: Block
    code: str


class Kind(NamedTuple):
    """What is asked of each text: prompts, the field's name, how an entry is read.

    ``read`` returns ``None`` for an entry that says nothing valid; its results can be compared.
    """

    task: str
    reply: str
    field: str
    tokens: int
    read: Callable[[dict[str, Any]], Any]


class Texts(NamedTuple):
    """The prompts in use and a hash of them all."""

    task: str
    fence: str
    reply: str
    retry: str
    hash: str


def load(kind: Kind, folder: Path | None) -> Texts:
    """Load the prompts. Raises InputError for an override without its placeholders."""
    names = (kind.task, "judge_fence", kind.reply, "judge_retry")
    texts = [load_prompt(name, folder) for name in names]
    for name, text, needed in ((names[1], texts[1], "{marker}"), (names[2], texts[2], "{code}")):
        if needed not in text:
            raise InputError(f"{folder}/{name}.txt: must contain {needed}; no reply could be read")
    task, border, reply, retry = texts
    return Texts(task, border, reply, retry, prompt_hash("\0".join(texts)))


def blocks_of(question: str, head: tuple[Field, ...], texts: Sequence[str]) -> list[Block]:
    """Cut the texts of one question into calls of bounded size."""
    found: list[list[str]] = []
    size = 0
    for text in dict.fromkeys(texts):
        if not found or len(found[-1]) >= MOST_PARTS or size + len(text) > MOST_CHARACTERS:
            found.append([])
            size = 0
        found[-1].append(text)
        size += len(text)
    return [Block(question, head, tuple(part)) for part in found]


def compose(kind: Kind, texts: Texts, block: Block, *, retry: bool = False) -> Sent:
    """Return the request about one block."""
    fields = [Field("question", one_line(block.question)), *block.head]
    fields += [Field(f"{n} {kind.field}", text) for n, text in enumerate(block.texts, 1)]
    data = fence(fields)

    def fill(text: str) -> str:
        text = text.replace("{marker}", data.marker).replace("{code}", data.code)
        return text.replace("{count}", str(len(block.texts)))

    pieces = [texts.task, fill(texts.fence), data.text, fill(texts.reply)]
    if retry:
        pieces.append(texts.retry)
    request = Request(
        (Message("user", "\n\n".join(pieces)),),
        temperature=0.0,
        max_tokens=TOKENS_PER_CALL + kind.tokens * len(block.texts),
    )
    return Sent(request, block, data.code)


class Outcome(NamedTuple):
    """What was read about one text, or why nothing was."""

    value: Any
    problem: str | None = None


def ask_blocks(
    engine: Engine, kind: Kind, texts: Texts, blocks: Sequence[Block], counts: JudgeCounts
) -> list[dict[str, Outcome]]:
    """Ask about every block, and once more about what is missing: an outcome for every text."""
    found = [dict[str, Outcome]() for _ in blocks]
    todo = list(enumerate(blocks))
    for retry in (False, True):
        sent = [(place, compose(kind, texts, block, retry=retry)) for place, block in todo]
        todo = []
        if not sent:
            break
        replies: list[Any] = [None] * len(sent)
        for index, reply in engine.complete(one.request for _, one in sent):
            replies[index] = reply
            counts.spend(reply)
        for (place, one), reply in zip(sent, replies, strict=True):
            outcomes = _outcomes(kind, one, reply)
            found[place].update(zip(one.block.texts, outcomes, strict=True))
            lost = [t for t, o in zip(one.block.texts, outcomes, strict=True) if o.problem]
            if lost and not retry:
                alone = reply is None or reply.problem is not None or reply.finish == "length"
                groups = [(text,) for text in lost] if alone else [tuple(lost)]
                todo += [(place, one.block._replace(texts=group)) for group in groups]
                counts.retried += len(lost)
                counts.retries += len(groups)
    for outcomes_of in found:
        counts.parts += len(outcomes_of)
        for outcome in outcomes_of.values():
            if outcome.problem is not None:
                setattr(counts, outcome.problem, getattr(counts, outcome.problem) + 1)
    return found


def _outcomes(kind: Kind, sent: Sent, reply: Any) -> list[Outcome]:
    texts = sent.block.texts
    if reply is None or reply.problem is not None:
        reason = "" if reply is None else reply.problem
        refused = "content filter" in reason or reason.startswith("refused")
        problem = "truncated" if reason == "truncated" else "refused" if refused else "failed"
        return [Outcome(None, problem)] * len(texts)
    text, closed = strip_thinking(reply.text)
    values, problems = read_numbered(text, sent.code, texts, kind.read)
    cut = not closed or reply.finish == "length"
    declined = not values and refuses(text.strip())
    return [
        Outcome(values[n])
        if n in values
        else Outcome(None, "truncated" if cut else "refused" if declined else problems[n])
        for n in range(len(texts))
    ]


def read_numbered(
    text: str, code: str, texts: Sequence[str], read: Callable[[dict[str, Any]], Any]
) -> tuple[dict[int, Any], dict[int, str]]:
    """Return what a reply says of each text by its place, and the problem of the others.

    ``mismatch``: a number came with the beginning of another text. ``unread``: no entry, none
    that is valid, or several that differ.
    """
    problems = dict.fromkeys(range(len(texts)), "unread")
    said: dict[int, list[Any]] = {}
    for entry in coded_entries(text, code):
        if not isinstance(entry, dict):
            continue
        number, begins = entry.get("number"), entry.get("begins")
        if type(number) is not int or not isinstance(begins, str):
            continue
        if not 1 <= number <= len(texts):
            continue
        if not begins_so(begins, texts[number - 1]):
            problems[number - 1] = "mismatch"
            continue
        said.setdefault(number - 1, []).append(read(entry))
    values = {}
    for place, found in said.items():
        distinct = {msgspec.json.encode(v): v for v in found if v is not None}
        if len(distinct) == 1 and len(found) == sum(v is not None for v in found):
            (values[place],) = distinct.values()
            del problems[place]
        else:
            problems[place] = "unread"
    return values, problems


def begins_so(echo: str, text: str) -> bool:
    """Whether an echo is the beginning of a text, as far as it goes and with at least its
    first words; letters and digits count."""
    said, whole = _words(clean(echo)), _words(clean(text))
    if not whole:
        return True  # nothing that could be repeated
    return bool(said) and len(said) >= min(ECHO - 2, len(whole)) and whole[: len(said)] == said


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text[:2000].casefold())
