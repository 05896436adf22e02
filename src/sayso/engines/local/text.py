"""Between texts and token ids: the exact ids that a model reads for a request, and the thought and
the answer in the ids that it generates."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import jinja2
import numpy as np

from sayso.engines.engine import cut_at_stop
from sayso.engines.local.watch import TooSlowError, in_time
from sayso.prompts.thoughts import THOUGHTS
from sayso.records import InputError, Message, Request

# ---- from a request to token ids

#: Templates that print today's date print this one, so that a prompt is the same every day.
PINNED_DATE = datetime(2024, 7, 26)
NOW = re.compile(r"""strftime_now\(\s*+(['"])([^'"]*+)\1\s*+\)""")
#: Tokens of a vocabulary that mean something to a template without being called special.
MARKUP = re.compile(r"<[^<>\s]+>|\[[^\[\]\s]+\]")
#: seconds that a chat template may take for one prompt: they take milliseconds
RENDER_SECONDS = 20
#: A base model goes on asking itself questions; its answer ends here.
PLAIN_STOP = "\nQuestion:"
PromptKey = tuple[tuple[Message, ...], tuple[tuple[str, str | int | float | bool], ...], str | None]


class Rendered(NamedTuple):
    """A prompt as the model sees it. ``thought`` are the marks of a thought that it leaves open."""

    text: str
    ids: tuple[int, ...]
    hash: str
    key: int
    overrides: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    thought: tuple[str, str] | None = None
    problem: str | None = None


def renderer(tokenizer: Any) -> Callable[[Request], Rendered]:
    """Return :func:`render_prompt` with a memory, since draws share their prompt."""
    memory: dict[PromptKey, Rendered] = {}

    def remembered(request: Request) -> Rendered:
        key = request.messages, request.chat_template_kwargs, request.prefill
        if key not in memory:
            memory[key] = render_prompt(tokenizer, request)
        return memory[key]

    return remembered


def render_prompt(tokenizer: Any, request: Request) -> Rendered:
    """Render one prompt; a template that refuses it is a problem, not an exception."""
    overrides: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    plain = not tokenizer.chat_template
    messages, sign = _without_marks(tokenizer, request.messages)
    if plain:
        text = plain_prompt(messages)
        stop = (PLAIN_STOP,)
        overrides = (f"no chat template: plain prompt, stops at {PLAIN_STOP!r}",)
    else:
        try:
            text, overrides = in_time(RENDER_SECONDS, lambda: _chat(tokenizer, request, messages))
        except TooSlowError:
            raise InputError(
                f"the chat template of {tokenizer.name_or_path} takes more than {RENDER_SECONDS} "
                f"seconds for {messages[-1].content[:60]!r}; use a folder of another source"
            ) from None
        except (jinja2.exceptions.TemplateError, ValueError, TypeError, KeyError) as error:
            return _refused(f"failed: chat template: {error}")
    prefill = request.prefill or ""
    thought = _open_thought(text, prefill)
    text += prefill
    ids, token_overrides = _encode(tokenizer, text, plain, sign)
    overrides += token_overrides
    if sign:
        text = text.replace(sign, "")
        overrides += ("special tokens inside the prompt's text were read as plain text",)
    if not ids:
        return _refused("failed: empty prompt, and the tokenizer has no token to begin with")
    digest = hashlib.sha256(np.array(ids, dtype="<i8").tobytes()).digest()
    return Rendered(
        text=text,
        ids=tuple(ids),
        hash=digest.hex()[:16],
        key=int.from_bytes(digest[:8], "little"),
        overrides=overrides,
        stop=stop,
        thought=thought,
    )


def _without_marks(
    tokenizer: Any, messages: Sequence[Message]
) -> tuple[tuple[Message, ...], str | None]:
    """Break up what a tokenizer would read as its own special tokens inside the messages.

    Returns the messages with a sign after the first character of each mark, and the sign: a prompt
    is cut there before it is tokenized. Without marks nothing changes and there is no sign. The
    beginning of an answer, which the model is to continue, is ours and stays as it is.
    """
    added = getattr(tokenizer, "added_tokens_decoder", {}).values()
    names = {str(token) for token in tokenizer.all_special_tokens}
    names |= {t.content for t in added if t.special or MARKUP.fullmatch(t.content)}
    kept = len(messages) - 1 if messages and messages[-1].role == "assistant" else -1
    content = "\0".join(m.content for n, m in enumerate(messages) if n != kept)
    marks = sorted((name for name in names if len(name) > 1 and name in content), key=len)
    if not marks:
        return tuple(messages), None
    sign = next(c for c in map(chr, range(0xE000, 0xF8FF)) if c not in content)
    broken = []
    for place, message in enumerate(messages):
        text = message.content
        if place != kept:
            for mark in marks:
                text = text.replace(mark, f"{mark[0]}{sign}{mark[1:]}")
        broken.append(Message(message.role, text))
    return tuple(broken), sign


def plain_prompt(messages: Sequence[Message]) -> str:
    """Write a conversation for a model that has no chat template.

    Questions and answers are labeled, instructions come first, and the model continues after
    "Answer:".
    """
    parts = []
    for message in messages:
        if message.role == "system":
            parts.append(message.content)
        else:
            label = "Question" if message.role == "user" else "Answer"
            parts.append(f"{label}: {message.content}")
    joined = "\n\n".join(parts)
    if messages and messages[-1].role == "assistant":
        return joined
    return f"{joined}\nAnswer:"


def _chat(
    tokenizer: Any, request: Request, messages: Sequence[Message]
) -> tuple[str, tuple[str, ...]]:
    """Apply the chat template; a system message that it refuses or drops joins the user's."""
    turns = [{"role": m.role, "content": m.content} for m in messages]
    given: dict[str, Any] = dict(request.chat_template_kwargs)
    template, overrides = _pin_date(tokenizer.get_chat_template())
    if overrides and "date_string" not in given:
        given["date_string"] = PINNED_DATE.strftime("%d %b %Y")
    ends_open = bool(turns) and turns[-1]["role"] == "assistant"
    given |= {
        "chat_template": template,
        "tokenize": False,
        "add_generation_prompt": not ends_open,
        "continue_final_message": ends_open,
    }
    joins = [turn["role"] for turn in turns[:2]] == ["system", "user"]
    try:
        text = str(tokenizer.apply_chat_template(turns, **given))
        if not joins or "".join(turns[0]["content"].split()) in "".join(text.split()):
            return text, overrides
    except jinja2.exceptions.TemplateError:
        if not joins:
            raise
    first = {"role": "user", "content": f"{turns[0]['content']}\n\n{turns[1]['content']}"}
    text = str(tokenizer.apply_chat_template([first, *turns[2:]], **given))
    return text, (*overrides, "system message joined to the user's: the template takes none")


def _pin_date(template: str) -> tuple[str, tuple[str, ...]]:
    """Write the pinned date into a template that prints today's; return it with the override."""
    pinned = NOW.sub(lambda match: f"'{PINNED_DATE.strftime(match[2])}'", template)
    if "strftime_now" in pinned:
        return pinned, ("the template prints a date that could not be pinned",)
    if pinned != template or "date_string" in template:
        return pinned, (f"date in the template pinned to {PINNED_DATE:%Y-%m-%d}",)
    return template, ()


def _refused(problem: str) -> Rendered:
    return Rendered("", (), "", 0, problem=problem)


def _open_thought(text: str, prefill: str) -> tuple[str, str] | None:
    """Return the marks of the thought in which prompt and prefill leave the model."""
    for opening, closing in THOUGHTS:
        opened = opening in prefill or text.rstrip().endswith(opening)
        if opened and closing not in prefill.rpartition(opening)[2]:
            return opening, closing
    return None


def _encode(
    tokenizer: Any, text: str, plain: bool, sign: str | None
) -> tuple[list[int], tuple[str, ...]]:
    """Tokenize a rendered prompt, cut at ``sign``. A chat template writes its special tokens."""
    text, *rest = text.split(sign) if sign else [text]
    ids = list(tokenizer(text, add_special_tokens=plain)["input_ids"])
    ended = ids[-1:] == [tokenizer.eos_token_id] and not text.endswith(str(tokenizer.eos_token))
    if plain and ended:
        ids.pop()  # a tokenizer that ends every text would end the answer before it begins
    for piece in rest:
        ids += tokenizer(piece, add_special_tokens=False)["input_ids"]
    beginning = tokenizer.bos_token_id
    if beginning is not None and ids[:2] == [beginning, beginning]:
        return ids[1:], ("doubled beginning-of-text token removed",)
    if not ids and beginning is not None:
        ids = [beginning]
    return ids, ()


def prompt_notices(overrides: Mapping[str, int]) -> list[str]:
    """Return one notice for each override, with the number of prompts that have it."""
    return [f"{override} ({count} prompts)" for override, count in sorted(overrides.items())]


def ends_of_text(model: Any, tokenizer: Any) -> frozenset[int]:
    """Return every token that ends an answer: the tokenizer's and the model folder's.

    Nothing else is read from generation_config: its sampling settings must never apply silently.
    Raises InputError for a value that is no token.
    """
    ends: set[int] = set()
    for source in (
        tokenizer, model.generation_config, model.config.get_text_config(decoder=True)
    ):  # fmt: skip
        value = getattr(source, "eos_token_id", None)
        values = value if isinstance(value, list | tuple) else () if value is None else (value,)
        for one in values:
            if not isinstance(one, int):
                raise InputError(
                    f"the model's folder has eos_token_id {value!r:.80}: expected the number of a "
                    "token, or a list of such numbers; correct generation_config.json"
                )
            ends.add(one)
    return frozenset(ends)


# ---- from generated token ids to text, offsets, thought and answer

BROKEN = "\ufffd"
#: A thought opens within this many tokens, or there is none.
HEAD = 48
#: How a text ends whose last sentence is complete.
SENTENCE_END = re.compile(r"""(?:[.!?…]["'”’)\]*_]*|\n) *\Z""")


class DecodedAnswer(NamedTuple):
    """What the generated tokens say. Tokens ``first:last`` are those of ``text``."""

    text: str
    first: int
    last: int
    offsets: tuple[int, ...]
    thinking: str | None
    thinking_tokens: int | None
    unclosed: bool
    stopped: bool


class Detokenizer:
    """Turns ids into text and finds the character at which each token begins."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.special = frozenset(tokenizer.all_special_ids)
        self.heads: dict[int, str] = {}
        self.tails: dict[int, str] = {}
        anchor = tokenizer("a", add_special_tokens=False)["input_ids"]
        self.anchor = list(anchor[-1:])
        self.anchor_text = self.decode(self.anchor)

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids, special tokens left out and spaces as they are."""
        return str(
            self.tokenizer.decode(
                list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
        )

    def offsets(self, ids: Sequence[int], text: str) -> list[int]:
        """Return the character position in ``text`` at which each token begins.

        A token that carries only part of a character begins where that character does.
        """
        pieces = [self._piece(token, place == 0) for place, token in enumerate(ids)]
        starts, at = [], 0
        if "".join(pieces) == text:
            for piece in pieces:
                starts.append(at)
                at += len(piece)
            return starts
        for place in range(len(ids)):
            whole = self.decode(ids[:place]).rstrip(BROKEN)
            at = max(at, min(len(whole), len(text)))
            starts.append(at)
        return starts

    def _piece(self, token: int, first: bool) -> str:
        """Return what one token adds, at the beginning of a text or inside it."""
        known = self.heads if first else self.tails
        if token not in known:
            if first:
                known[token] = self.decode([token])
            else:
                known[token] = self.decode([*self.anchor, token])[len(self.anchor_text) :]
        return known[token]


def stops_here(
    detokenizer: Detokenizer,
    ids: Sequence[int],
    stops: Sequence[str],
    opened: tuple[str, str] | None,
) -> bool:
    """Return True as soon as the answer holds a stop string.

    The newest token completes it, so the end of the text is looked at first: a character has at
    most four bytes and a token at least one, unless it is special. Only then is the thought
    separated from the answer.
    """
    end = ids[-(4 * max(map(len, stops), default=0) + 8) :]
    text = detokenizer.decode(ids if detokenizer.special.intersection(end) else end)
    if not any(stop in text for stop in stops if stop):
        return False
    return thought_and_answer(detokenizer, ids, stops, opened).stopped


def thought_and_answer(
    detokenizer: Detokenizer,
    ids: Sequence[int],
    stops: Sequence[str],
    opened: tuple[str, str] | None,
) -> DecodedAnswer:
    """Return thought and answer of generated ids (end-of-text token left out).

    The text ends before the first stop string; stop strings count in the answer only, not in a
    thought. A token that begins before the cut and reaches over it is kept whole in the arrays.
    """
    parts = separate(detokenizer, ids, opened)
    answer = list(ids[parts.first :])
    whole = detokenizer.decode(answer)
    offsets = [max(0, start - parts.cut) for start in detokenizer.offsets(answer, whole)]
    text, stopped = cut_at_stop(whole[parts.cut :], stops)
    if stopped:
        offsets = offsets[: sum(1 for start in offsets if start < len(text))]
    return DecodedAnswer(
        text, parts.first, parts.first + len(offsets), tuple(offsets), parts.thinking,
        parts.tokens, parts.unclosed, stopped,
    )  # fmt: skip


def said_once(detokenizer: Detokenizer, ids: Sequence[int], repeated: int) -> int:
    """Return how many tokens of an answer that ends in a loop to keep.

    Those before its last ``repeated``, which only repeat, and more of them up to the end of a
    sentence: a sentence without its end would be read as one that breaks off.
    """
    first = len(ids) - repeated
    ends = {end: detokenizer.decode(ids[max(0, end - 8) : end]) for end in range(first, len(ids))}
    whole = [end for end, text in ends.items() if not text.endswith(BROKEN)]
    return next((end for end in whole if SENTENCE_END.search(ends[end])), (whole or [first])[0])


class Separation(NamedTuple):
    """Where the answer begins: at token ``first``, ``cut`` characters into what it says."""

    first: int = 0
    cut: int = 0
    thinking: str | None = None
    tokens: int | None = None
    unclosed: bool = False


def separate(
    detokenizer: Detokenizer, ids: Sequence[int], opened: tuple[str, str] | None
) -> Separation:
    """Find the thought at the beginning of generated tokens.

    ``opened`` are the marks of a thought that the prompt opened. Marks and the white space behind
    them belong to neither. A text that does not begin with a thought has none.
    """
    hidden = opened is not None or detokenizer.special.intersection(ids)
    if not hidden and _find_marks(detokenizer.decode(ids[:HEAD]), None) is None:
        return Separation()
    text, starts = _marked_text(detokenizer, ids)
    marks = _find_marks(text, opened)
    if marks is None:
        return Separation()
    opening, closing = marks
    lead = len(text) - len(text.lstrip())
    begin = lead + len(opening) if text.startswith(opening, lead) else 0
    end = text.find(closing, begin)
    after = end + len(closing)
    while end >= 0 and (marks := _find_marks(text[after:], None)) is not None:
        end = text.find(marks[1], after)  # a thought behind a thought
        after = end + len(marks[1])
    tokens = sum(1 for start in starts if begin <= start and (end < 0 or start < end))
    if end < 0:
        return Separation(len(ids), 0, text[begin:].strip(), tokens, unclosed=True)
    answer = text[after:].lstrip()
    place = len(text) - len(answer)
    ends = [*starts[1:], len(text)]
    first = sum(1 for a, b in zip(starts, ends, strict=True) if a < place and b <= place)
    rest = detokenizer.decode(ids[first:])
    spare = len(rest) - (len(answer) if rest.endswith(answer) else len(rest.lstrip()))
    return Separation(first, spare, text[begin:end].strip(), tokens)


def _find_marks(text: str, opened: tuple[str, str] | None) -> tuple[str, str] | None:
    """Return the marks of a thought that the prompt or the text itself opened."""
    if opened is not None:
        return opened
    start = text.lstrip()
    for marks in THOUGHTS:
        if start.startswith(marks[0]):
            return marks
    return None


def _marked_text(detokenizer: Detokenizer, ids: Sequence[int]) -> tuple[str, list[int]]:
    """Return text and offsets with special tokens written out, since marks may be special."""
    text = detokenizer.decode(ids)
    if not detokenizer.special.intersection(ids):
        return text, detokenizer.offsets(ids, text)
    pieces: list[str] = []
    starts: list[int] = []
    at = 0
    run: list[int] = []
    for token in [*ids, None]:
        if token is not None and token not in detokenizer.special:
            run.append(token)
            continue
        piece = detokenizer.decode(run)
        starts.extend(at + start for start in detokenizer.offsets(run, piece))
        pieces.append(piece)
        at += len(piece)
        run = []
        if token is not None:
            name = str(detokenizer.tokenizer.convert_ids_to_tokens(token))
            starts.append(at)
            pieces.append(name)
            at += len(name)
    return "".join(pieces), starts
