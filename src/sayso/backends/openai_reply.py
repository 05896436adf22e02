"""From the bytes of a reply to choices. Pure, and made for servers that answer anything at all.

Whatever JSON comes in, the result is a :class:`Reply` or a :class:`Fault`; no other exception.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sayso.backends.openai_errors import Fault, count, decode, error_reply, is_page, mapping

#: marks of a thought inside the answer, by the tag's name
TAGS = ("think", "thinking", "thought", "reasoning")
FINISHES = {
    "stop": "stop", "eos": "stop", "eos_token": "stop", "end_turn": "stop", "stop_sequence": "stop",
    "length": "length", "max_tokens": "length",
}  # fmt: skip


class Choice(NamedTuple):
    """One answer. ``finish`` is "stop", "stop_string", "length", "filter", "error", "tool" or
    ``None``; ``tokens`` is the reply's own list of token log-probabilities, unread."""

    text: str
    thinking: str | None
    finish: str | None
    tokens: Sequence[Any] | None
    unclosed: bool = False
    implicit: bool = False


class Reply(NamedTuple):
    """A whole reply; token counts are those of all choices together, ``None`` where not told."""

    choices: tuple[Choice, ...]
    model: str | None
    fingerprint: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int
    thinking_tokens: int | None


def read_reply(body: bytes) -> Reply | Fault:
    """Read the body of a reply with status 200."""
    try:
        data = decode(body)
    except ValueError:
        if is_page(body):
            return Fault("page", "a web page instead of JSON", page=True)
        return Fault("again", "empty reply" if not body.strip() else "invalid or truncated JSON")
    if not isinstance(data, Mapping):
        return Fault("again", f"JSON that is no reply: {str(data)[:80]}")
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices:
        if data.get("error"):
            return error_reply(data)
        return Fault("again", "a reply without choices")
    read = [_choice(c) for c in sorted(choices, key=_index) if isinstance(c, Mapping)]
    if not read:
        return Fault("again", "choices that are none")
    usage = mapping(data.get("usage"))
    cached = count(mapping(usage.get("prompt_tokens_details")).get("cached_tokens"))
    if cached is None:
        cached = count(usage.get("prompt_cache_hit_tokens")) or 0
    return Reply(
        choices=tuple(read),
        model=_string(data.get("model")),
        fingerprint=_string(data.get("system_fingerprint")),
        prompt_tokens=count(usage.get("prompt_tokens")),
        completion_tokens=count(usage.get("completion_tokens")),
        cached_tokens=cached,
        thinking_tokens=count(
            mapping(usage.get("completion_tokens_details")).get("reasoning_tokens")
        ),
    )


def _index(choice: object) -> int:
    index = choice.get("index") if isinstance(choice, Mapping) else None
    return index if isinstance(index, int) else 0


def _string(value: object) -> str | None:
    return _clean(value) if isinstance(value, str) and value else None


def _clean(text: str) -> str:
    """Replace half characters, which no file could hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _choice(choice: Mapping[str, Any]) -> Choice:
    """Read one choice: the answer, the thought apart from it, and why it ended."""
    message = mapping(choice.get("message"))
    text, thinking = _content(message.get("content"))
    for name in ("reasoning_content", "reasoning"):
        said = message.get(name)
        if thinking is None and isinstance(said, str) and said:
            thinking = said
    refusal = message.get("refusal")
    if not text and isinstance(refusal, str):
        text = refusal
    finish = choice.get("finish_reason")
    ended = FINISHES.get(finish) if isinstance(finish, str) else None
    if finish in ("content_filter", "safety"):
        ended = "filter"
    elif finish == "error":
        ended = "error"
    elif not text and finish in ("tool_calls", "function_call"):
        ended = "tool"
    elif ended is None and finish is not None:
        ended = "stop"
    if ended == "stop" and isinstance(choice.get("stop_reason"), str):
        ended = "stop_string"
    tokens = mapping(choice.get("logprobs")).get("content")
    unclosed = implicit = False
    if thinking is None:
        text, thinking, unclosed, implicit = split_thought(text)
    elif not text and ended == "length":
        unclosed = True
    return Choice(
        _clean(text),
        None if thinking is None else _clean(thinking),
        ended,
        tokens if isinstance(tokens, list) else None,
        unclosed,
        implicit,
    )


def _content(content: object) -> tuple[str, str | None]:
    """Return text and thought of a message's content: a string, or a list of parts."""
    if isinstance(content, str):
        return content, None
    texts: list[str] = []
    thoughts: list[str] = []
    for part in content if isinstance(content, list) else ():
        if not isinstance(part, Mapping):
            continue
        if isinstance(part.get("text"), str):
            texts.append(part["text"])
        thought = part.get("thinking")
        if isinstance(thought, str):
            thoughts.append(thought)
        elif isinstance(thought, list):
            thoughts += [t["text"] for t in map(mapping, thought) if isinstance(t.get("text"), str)]
    return "".join(texts), "".join(thoughts) or None


def split_thought(text: str) -> tuple[str, str | None, bool, bool]:
    """Return answer, thought, whether the thought never ended, and whether its beginning was
    missing (a template that opens the thought itself)."""
    if "<" not in text:
        return text, None, False, False
    start = text.lstrip()
    for tag in TAGS:
        opening, closing = f"<{tag}>", f"</{tag}>"
        if start.startswith(opening):
            thought, closed, answer = start.removeprefix(opening).partition(closing)
            return answer.lstrip() if closed else "", thought.strip(), not closed, False
        if closing in text and opening not in text:
            thought, _, answer = text.partition(closing)
            return answer.lstrip(), thought.strip(), False, True
    return text, None, False, False
