"""Asking a model about numbered texts of one question: what readers of claims and wording share.

A reply counts where its code, the number of an entry and the first words of that text all stand, as
in :mod:`sayso.judges.model.replies`; several entries that differ say nothing. What is missing is
asked for once more; what is missing then stays so, with its problem. No text of a reply raises.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import msgspec

from sayso.engines.engine import Engine
from sayso.judges.model.prompts import material, short_line
from sayso.judges.model.replies import (
    PROBLEMS,
    JudgeCounts,
    coded_entries,
    read_number,
    read_own,
    read_pair,
    read_scored,
    refuses,
    verdict_problem,
)
from sayso.prompts import load_prompt, prompt_hash
from sayso.prompts.fence import Field, fence, visible_text
from sayso.prompts.templates import Template, fill, read_template
from sayso.prompts.thoughts import strip_thinking
from sayso.records import NOT_ASKED, Generation, Message, Request

#: Texts in one call, and their characters together.
MOST_TEXTS = 12
MOST_CHARACTERS = 24_000
TOKENS_PER_CALL = 128
#: Words of a text that a reply must repeat.
ECHO = 5


class JudgeTask(NamedTuple):
    """What a model is asked about each text: prompts, the field's name, how an entry is read.

    ``read`` returns ``None`` for an entry that says nothing valid; its results can be compared.
    ``own`` makes such a result of a text and what a user's prompt with a header says of it (the
    meaning of a label, a number, its assertions with numbers, or a question and its answer); in
    it the question stands as ``about``.
    """

    prompt: str
    reply: str
    field: str
    tokens: int
    read: Callable[[dict[str, Any]], Any]
    own: Callable[[str, Any], Any] | None = None
    about: str = "question"


class NumberedPrompts(NamedTuple):
    """The prompts in use and a hash of them all."""

    task: str
    reply: str
    fence: str
    material: str
    retry: str
    hash: str
    own: Template | None = None


class TextBlock(NamedTuple):
    """Texts about one question, in one call. ``head``: a field before them, such as the claim."""

    question: str
    head: tuple[Field, ...]
    texts: tuple[str, ...]


class TextOutcome(NamedTuple):
    """What was read about one text, or why nothing was."""

    value: Any
    problem: str | None = None


class NumberedReader:
    """A model that does one ``task``. ``counts`` and ``notices`` say what could not be read."""

    task: ClassVar[JudgeTask]
    #: What its readings are of, in a notice.
    subject: ClassVar[str]

    def __init__(self, engine: Engine, folder: Path | None = None) -> None:
        self.engine = engine
        self.prompts = load_numbered_prompts(self.task, folder)
        self.signature = f"{engine.signature}#p{self.prompts.hash[:4]}"
        self.counts = JudgeCounts()

    @property
    def notices(self) -> list[str]:
        """One sentence for each reason why readings are missing."""
        return [
            f"{self.subject} by {self.signature}: {number} of {self.counts.parts} readings are "
            f"missing ({problem})"
            for problem in PROBLEMS
            if (number := getattr(self.counts, problem))
        ]

    def ask(self, blocks: Sequence[TextBlock]) -> list[dict[str, TextOutcome]]:
        """Ask about every block, and once more about what is missing: an outcome for every text."""
        outcomes = [dict[str, TextOutcome]() for _ in blocks]
        open_blocks = list(enumerate(blocks))
        if self.prompts.own is not None:  # a reply of one word, or a number, is about one text
            open_blocks = [
                (at, b._replace(texts=(text,))) for at, b in open_blocks for text in b.texts
            ]
        for retry in (False, True):
            sent = [
                (at, block, *numbered_request(self.task, self.prompts, block, retry=retry))
                for at, block in open_blocks
            ]
            open_blocks = []
            for (at, block, _, code), reply in zip(sent, self._replies(sent), strict=True):
                read = _read(self.task, self.prompts.own, block.texts, code, reply)
                outcomes[at].update(read)
                missing = [text for text, outcome in read.items() if outcome.problem]
                if missing and not retry and not (reply and reply.problem == NOT_ASKED):
                    alone = reply is None or reply.problem is not None or reply.finish == "length"
                    groups = [(text,) for text in missing] if alone else [tuple(missing)]
                    open_blocks += [(at, block._replace(texts=group)) for group in groups]
                    self.counts.retried += len(missing)
                    self.counts.retries += len(groups)
        for of_block in outcomes:
            self.counts.parts += len(of_block)
            for outcome in of_block.values():
                self.counts.add(outcome.problem)
        return outcomes

    def _replies(
        self, sent: Sequence[tuple[int, TextBlock, Request, str]]
    ) -> list[Generation | None]:
        """Send requests; return their replies in order, ``None`` where none came."""
        replies: list[Generation | None] = [None] * len(sent)
        if sent:
            for index, reply in self.engine.complete(request for _, _, request, _ in sent):
                replies[index] = reply
                self.counts.spend(reply)
        return replies


def load_numbered_prompts(task: JudgeTask, folder: Path | None) -> NumberedPrompts:
    """Load the prompts. Raises InputError for an override that cannot be read or used."""
    file = f"{folder}/{task.prompt}.txt"
    own = read_template(task.prompt, load_prompt(task.prompt, folder), file)
    again = "judge_retry" if own is None else "judge_again"
    names = (task.prompt, task.reply, "judge_fence", "judge_material", again)
    texts = [load_prompt(name, folder) for name in names]
    prompt, reply, border, shown, retry = texts
    return NumberedPrompts(prompt, reply, border, shown, retry, prompt_hash("\0".join(texts)), own)


def numbered_blocks(
    question: str, head: tuple[Field, ...], texts: Sequence[str]
) -> list[TextBlock]:
    """Cut the texts of one question into calls of bounded size."""
    groups: list[list[str]] = []
    size = 0
    for text in dict.fromkeys(texts):
        if not groups or len(groups[-1]) >= MOST_TEXTS or size + len(text) > MOST_CHARACTERS:
            groups.append([])
            size = 0
        groups[-1].append(text)
        size += len(text)
    return [TextBlock(question, head, tuple(group)) for group in groups]


def numbered_request(
    task: JudgeTask, prompts: NumberedPrompts, block: TextBlock, *, retry: bool = False
) -> tuple[Request, str]:
    """Return the request about one block, and the code that its reply must repeat."""
    if prompts.own is not None:
        return _compose_own(task, prompts, prompts.own, block, retry=retry)
    fields = [Field("question", short_line(block.question)), *block.head]
    fields += [Field(f"{n} {task.field}", text) for n, text in enumerate(block.texts, 1)]
    data = fence(fields)

    def fill(text: str) -> str:
        text = text.replace("{marker}", data.marker).replace("{code}", data.code)
        return text.replace("{count}", str(len(block.texts)))

    shown = material(prompts.material, data, len(block.texts))
    pieces = [prompts.task, fill(prompts.reply), fill(prompts.fence), shown]
    if retry:
        pieces.append(prompts.retry)
    request = Request(
        (Message("user", "\n\n".join(pieces)),),
        temperature=0.0,
        max_tokens=TOKENS_PER_CALL + task.tokens * len(block.texts),
    )
    return request, data.code


def _compose_own(
    task: JudgeTask, prompts: NumberedPrompts, own: Template, block: TextBlock, *, retry: bool
) -> tuple[Request, str]:
    """Return the request of a user's prompt that is taken whole: only data is fenced.

    A field of the head stands in the place of its first word: ``passage p1`` in ``{passages}``.
    """
    (text,) = block.texts
    places: dict[str, list[Field]] = {
        task.about: [Field(task.about, short_line(block.question))],
        task.field: [Field(task.field, text)],
    }
    for field in block.head:
        kind = field.name.split()[0]
        places.setdefault(f"{kind}s" if kind != field.name else kind, []).append(field)
    filled, data = fill(own, {}, [places])
    pieces = [prompts.fence.replace("{marker}", data.marker), filled]
    if retry:
        pieces.append(prompts.retry)
    message = Message("user", "\n\n".join(pieces))
    request = Request((message,), temperature=0.0, max_tokens=TOKENS_PER_CALL + task.tokens)
    return request, data.code


# ---- reading a reply


def _read(
    task: JudgeTask, own: Template | None, texts: Sequence[str], code: str, reply: Generation | None
) -> dict[str, TextOutcome]:
    """Return an outcome for each text of one call."""
    if reply is None or reply.problem is not None:
        problem = "failed" if reply is None else verdict_problem(reply.problem or "")
        return dict.fromkeys(texts, TextOutcome(None, problem))
    text, closed = strip_thinking(reply.text)
    cut = not closed or reply.finish == "length"
    if own is not None:
        values, problems = _read_own(task, own, texts[0], text, cut)
    else:
        values, problems = read_numbered(text, code, texts, task.read)
    declined = not values and refuses(text.strip())
    return {
        one: TextOutcome(values[n])
        if n in values
        else TextOutcome(None, "truncated" if cut else "refused" if declined else problems[n])
        for n, one in enumerate(texts)
    }


def _read_own(
    task: JudgeTask, own: Template, text: str, reply: str, cut: bool
) -> tuple[dict[int, Any], dict[int, str]]:
    """Return what a reply in the format of a user's own prompt says of its one text."""
    said: Any = None
    if own.reply == "word":
        labels = read_own(reply, own, [text], cut=cut).labels
        said = own.labels[labels[0].casefold()][1] if labels else None
    elif not cut and own.reply == "number":
        said = read_number(reply, own)
    elif not cut and own.reply == "assertions":
        said = read_scored(reply, own)
    elif not cut:
        said = read_pair(reply, text)
    value = None if said is None or task.own is None else task.own(text, said)
    return ({0: value}, {}) if value is not None else ({}, {0: "unread"})


def read_numbered(
    text: str, code: str, texts: Sequence[str], read: Callable[[dict[str, Any]], Any]
) -> tuple[dict[int, Any], dict[int, str]]:
    """Return what a reply says of each text by its place, and the problem of the others.

    ``mismatch``: a number came with the beginning of another text. ``unread``: no entry, none
    that is valid, or several that differ.
    """
    problems = dict.fromkeys(range(len(texts)), "unread")
    readings: dict[int, list[Any]] = {}
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
        readings.setdefault(number - 1, []).append(read(entry))
    values = {}
    for place, several in readings.items():
        distinct = {msgspec.json.encode(value) for value in several}
        if len(distinct) == 1 and several[0] is not None:
            values[place] = several[0]
            del problems[place]
        else:
            problems[place] = "unread"
    return values, problems


def begins_so(echo: str, text: str) -> bool:
    """Whether an echo is the beginning of a text, of three words at least; only words count."""
    echoed, whole = _words(visible_text(echo)), _words(visible_text(text))
    if not whole:
        return True  # nothing that could be repeated
    return len(echoed) >= min(ECHO - 2, len(whole)) and whole[: len(echoed)] == echoed


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text[:2000].casefold())
