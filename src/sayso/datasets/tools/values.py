"""Values of unknown type in the JSON of other tools, and the replies of models in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from sayso.datasets.tables import cell_value
from sayso.engines.engine import FINISHES
from sayso.harmless import line
from sayso.records import OTHER_END


def object_in(value: object) -> dict[str, Any]:
    """Return an object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def objects_in(value: object) -> list[dict[str, Any]]:
    """Return the objects in a list; none for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text_in(value: object) -> str | None:
    """Return a text; ``None`` for anything else."""
    return value if isinstance(value, str) else None


def token_texts(value: object) -> tuple[str, ...] | None:
    """Return the texts of tokens with log-probabilities; ``None`` if one lacks its text."""
    tokens = [item.get("token") for item in objects_in(value)]
    return tuple(map(str, tokens)) if tokens and None not in tokens else None


def reason_in(error: object) -> str:
    """Return why something failed, in one line: an error is a text, or an object with a message."""
    inner = error.get("error", error) if isinstance(error, dict) else error
    message = inner.get("message") or inner.get("code") if isinstance(inner, dict) else inner
    return line(str(message or "no response"), 200)


# ---- what a model said, as the APIs write it

#: fields that say why an answer ended
REASONS = ("finish_reason", "finishReason", "stop_reason", "done_reason")
#: parts of a message that call a tool, and the reasons that say so
CALLS = ("function", "function_call", "tool_call", "tool_calls", "tool_use")
CALLED = "the model called a tool instead of answering"
#: what is told of an answer by how it ended
ENDED = {
    "length": "the {} was cut off at the token limit ({})",
    "filter": "a content filter ended the {} ({})",
    "": "the {} ended with {}: it may not be whole",
    **dict.fromkeys(CALLS, CALLED),
}


class ReplyText(NamedTuple):
    """One reply: its text, ``None`` where there is none; its tokens with log-probabilities, unread;
    and the server's word for why it ended."""

    text: str | None
    tokens: object
    reason: str

    @property
    def finish(self) -> str | None:
        """How it ended, as in a Generation; ``None`` for a whole one."""
        kind = FINISHES.get(self.reason.lower(), self.reason)
        if kind in ("", "stop", "unknown") or (kind in CALLS and self.text):
            return None
        return kind if kind == "length" else f"{OTHER_END}{self.reason}"

    def problems(self, what: str = "answer") -> list[str]:
        """Return what is to be told of how it ended."""
        told = ENDED.get(FINISHES.get(self.reason.lower(), self.reason), ENDED[""])
        return [told.format(what, self.reason)] if self.finish else []


def reply_texts(body: dict[str, Any], whole: Callable[[str], str] = str) -> list[ReplyText]:
    """Return the replies in an API's JSON, those without a text too.

    Read are the choices of a chat or completion, a response, one message, Anthropic's message and
    Gemini's candidates. ``whole`` returns a text that stands elsewhere.
    """
    several = objects_in(body.get("choices")) or objects_in(body.get("candidates"))
    return [_reply(one, whole) for one in several or [body]]


def _reply(one: dict[str, Any], whole: Callable[[str], str]) -> ReplyText:
    message = object_in(one.get("message") or one.get("content")) or one
    output = [item for item in objects_in(one.get("output")) if item.get("type") == "message"]
    parts = [part for item in output for part in objects_in(item.get("content"))]
    content = parts or message.get("content", message.get("parts", message.get("text")))
    text = content_text(content, whole)
    if not text and isinstance(refusal := message.get("refusal"), str):
        text = refusal
    logprobs = object_in(one.get("logprobs"))
    tokens = [token for part in parts for token in objects_in(part.get("logprobs"))]
    listed = logprobs.get("content", logprobs.get("token_logprobs"))
    details = object_in(one.get("incomplete_details"))
    called = [item["type"] for item in objects_in(one.get("output")) if item.get("type") in CALLS]
    ended = [details.get("reason"), *map(one.get, REASONS), *([] if text else called)]
    reason = next(filter(None, ended), "")
    return ReplyText(text, tokens or listed, line(str(reason), 40))


def ending_in(row: Mapping[str, object]) -> ReplyText:
    """Return what a row of one's own says of how its answer ended, where that cut it off."""
    reason = next((line(str(row[name]), 40) for name in REASONS if row.get(name)), "")
    return ReplyText("", None, reason if FINISHES.get(reason.lower()) in ENDED else "")


def content_text(content: object, whole: Callable[[str], str] = str) -> str | None:
    """Return the text of a message's content, without thoughts and images.

    It is empty where a message has nothing else; ``None`` is what is no content.
    """
    if isinstance(content, str):
        return whole(content)
    parts = objects_in(content)
    told = (p.get("text", p.get("refusal")) for p in parts if not p.get("thought"))
    return "".join(whole(text) for text in told if isinstance(text, str)) if parts else None


#: who speaks in a chat
ROLES = ("user", "assistant", "system", "developer", "tool", "model")


def is_spoken(value: object) -> bool:
    """Tell whether a value is a chat, a message, its parts, or a reply of an API."""
    one = object_in(value[0] if isinstance(value, list) and value else value)
    return one.get("role") in ROLES or one.get("type") == "text" or "choices" in one


def spoken_text(value: object, role: str = "user", whole: Callable[[str], str] = str) -> str | None:
    """Return a text, or that of a chat, a message or its parts, or a reply; also written as JSON.

    Of a chat that is the last turn of ``role``. ``None`` for anything else.
    """
    if isinstance(value, str) and (held := cell_value(value)) is not None:
        value = held
    chat = objects_in(object_in(value).get("messages", value))
    turns = [one.get("content") for one in chat if one.get("role") == role]
    if isinstance(value, dict) and not turns:
        return reply_texts(value, whole)[0].text
    return content_text(turns[-1] if turns else value, whole)
