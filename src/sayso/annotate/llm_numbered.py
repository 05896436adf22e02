"""Asking a model about numbered texts of one question: what readers of wording and pairs share.

A reply counts where code, number and the first words of the text all stand, as in ``llm_parse``;
several entries that differ say nothing. What is missing is asked once more; then it is missing,
with the reason. Nothing here raises on any text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from sayso.annotate.fence import Field, clean, fence
from sayso.annotate.llm_asking import JudgeCounts
from sayso.annotate.llm_parse import coded_entries, refuses, strip_thinking
from sayso.annotate.llm_prompts import one_line
from sayso.models import Engine
from sayso.prompts import load_prompt, prompt_hash
from sayso.records import InputError, Message, Request

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
