"""From the bytes that an endpoint sends to a reply or a fault, and from a reply to records.

All of it is pure, and made for servers that send anything at all: whatever the bytes are, the
outcome is a :class:`Reply` or a :class:`Fault`, and no other exception.
"""

from __future__ import annotations

import codecs
import json
import math
import re
import zlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal, NamedTuple

import msgspec

from sayso.engines.engine import FINISHES, cut_at_stop, entropy_floor
from sayso.engines.openai.request import keeps_schema
from sayso.engines.prices import Price
from sayso.harmless import json_kind, printable
from sayso.prompts.thoughts import split_thoughts
from sayso.records import (
    EMPTY_TEXT,
    ENDPOINT,
    OTHER_END,
    UNKNOWN_LOGPROB,
    Alternative,
    Generation,
    Request,
    Usage,
)

# ---- bytes, as many as anyone should take

#: the longest reply, in bytes after decompression
LARGEST_REPLY = 10_000_000
#: bytes that are decompressed at a time
STEP = 65_536
#: how a member of gzip begins
GZIP = b"\x1f\x8b"
#: compressions that are asked for
ACCEPTED = "gzip, deflate"


class UnreadableError(Exception):
    """A body that cannot be read; ``fault`` says why."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.reason)
        self.fault = fault


class Body:
    """The body of a reply, put together as it comes, never more than ``LARGEST_REPLY`` of it.

    A megabyte of gzip may hold a gigabyte: it is decompressed in steps, and the rest is left off.
    Several gzip members, one after the other, are one body (RFC 1952, section 2.2).
    """

    def __init__(self, encoding: str) -> None:
        names = [name.strip().lower() for name in encoding.split(",")]
        layers = [name for name in names if name not in ("", "identity")]
        if layers and layers not in (["gzip"], ["x-gzip"], ["deflate"]):
            reason = f"the reply is compressed as {encoding!r}, which was not asked for"
            raise UnreadableError(Fault("failed", reason))
        self.deflate = layers == ["deflate"]
        self.inflater = zlib.decompressobj(zlib.MAX_WBITS | 32) if layers else None
        self.taken = bytearray()
        self.came = 0
        self.held = b""

    @property
    def full(self) -> bool:
        """Whether more came than is taken."""
        return max(self.came, len(self.taken)) > LARGEST_REPLY

    def add(self, data: bytes) -> None:
        """Take what came; nothing once it is full."""
        self.came += len(data)
        if self.inflater is None:
            self.taken += data
            return
        data, self.held = self.held + data, b""
        if self.came < 2:  # the first two bytes tell how it is compressed
            self.held = data
            return
        try:
            step = STEP
            while (data or step == STEP) and not self.full:  # a whole step may not be all of it
                if self.inflater.eof and not self._begins(data):
                    return
                part = self._inflate(data)
                self.taken += part
                ended = self.inflater.eof
                data = self.inflater.unused_data if ended else self.inflater.unconsumed_tail
                step = len(part)
        except zlib.error:
            raise UnreadableError(Fault("again", "the reply cannot be decompressed")) from None

    def _begins(self, data: bytes) -> bool:
        """Tell whether another gzip member begins, and make ready for it; the rest is padding."""
        if self.deflate or not data.startswith(GZIP):
            self.held = data if data == GZIP[:1] and not self.deflate else b""
            return False
        self.inflater = zlib.decompressobj(zlib.MAX_WBITS | 32)
        return True

    def _inflate(self, data: bytes) -> bytes:
        assert self.inflater is not None
        try:
            return self.inflater.decompress(data, STEP)
        except zlib.error:
            if not self.deflate or self.taken:
                raise
        # "deflate" without its header, as some servers write it
        self.inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        return self.inflater.decompress(data, STEP)

    def content(self) -> bytes:
        """Return what came, up to the limit."""
        return bytes(self.taken[:LARGEST_REPLY])


def too_long() -> UnreadableError:
    """Return the error of a reply that is left off."""
    limit = f"{LARGEST_REPLY / 1e6:g} MB"
    reason = f"the reply is longer than {limit} (counted after decompression)"
    return UnreadableError(Fault("failed", reason))


# ---- reading JSON that may hold anything


def decode_body(body: bytes) -> Any:
    """Return the JSON value of a body; raises ValueError where it is none."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:  # NaN, lone surrogates: what other writers of JSON let through
        return json.loads(body.decode("utf-8", "replace"))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def mapping(value: object) -> Mapping[str, Any]:
    """Return a JSON object, or an empty one in place of anything else."""
    return value if isinstance(value, Mapping) else {}


def token_count(value: object) -> int | None:
    """Return a count of tokens; ``None`` for anything else."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value < 2**40 else None  # type: ignore[operator,return-value]


def _string(value: object) -> str | None:
    return _clean(value) if isinstance(value, str) and value else None


def _clean(text: str) -> str:
    """Replace half characters, which no file could hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


# ---- faults

#: * again: repeat this call; late: the same, with fewer calls at once
#: * busy: slow down; away: nothing listens
#: * refused: a parameter, or the whole request, is not accepted
#: * context, filter: the prompt is too long, or filtered
#: * everyone: no request can succeed; first, page: the same, if none has succeeded so far
#: * unable: as first, else this call cannot succeed; failed: this call cannot succeed
FaultKind = Literal[
    "again", "late", "busy", "away", "refused", "context", "filter", "everyone", "first", "unable",
    "page", "failed",
]  # fmt: skip
#: the longest pause that an endpoint may ask for, in seconds
LONGEST_PAUSE = 120.0
OVER_CONTEXT = re.compile(
    r"context.?length|maximum context|context.?window|prompt is too long|too many (input )?tokens"
    r"|max_model_len|exceeds? the (model|maximum)|longer than the maximum|input is too long",
    re.IGNORECASE,
)
CONTEXT_LENGTH = re.compile(r"(?:context|max_model_len)[^.\d]{0,40}?(\d[\d,]{2,9})", re.IGNORECASE)
#: an option that is not accepted, whatever the status: some servers answer 500 for it
REFUSES_OPTION = re.compile(
    r"validation error|input should be|extra inputs|extra_forbidden|literal_error"
    r"|unrecognized request|unsupported (?:parameter|value|argument|option)"
    r"|unexpected keyword argument|is not supported (?:for|with|by|in|when)"
    r"|(?:unknown|unexpected|invalid) (?:parameter|argument|field|option)",
    re.IGNORECASE,
)
FILTERED = re.compile(
    r"content.?filter|content management policy|responsibleai|content_policy|moderation",
    re.IGNORECASE,
)


class Fault(NamedTuple):
    """Why there is no answer. ``reason`` still holds what the server said, unscrubbed.

    ``page``: the server sent a web page or a redirect, as gateways in front of an endpoint do.
    ``odd`` is a Retry-After that cannot be kept to; ``error`` is what the caller is to get instead.
    """

    kind: FaultKind
    reason: str
    wait: float | None = None
    page: bool = False
    odd: str = ""
    error: BaseException | None = None


def read_failure(status: int, headers: Mapping[str, str], body: bytes) -> Fault:
    """Read a reply whose status says that there is no answer."""
    if 300 <= status < 400:
        place = headers.get("location", "")
        reason = f"status {status}: a redirect{f' to {place}' if place else ''}"
        return Fault("again", reason, retry_after(headers), page=True, odd=_odd_wait(headers))
    try:
        return read_error(status, headers, error_text(decode_body(body)))
    except ValueError:
        page = is_page(body)
    text = "a web page" if page else beginning_of(body)
    return read_error(status, headers, text)._replace(page=page)


#: how encodings other than UTF-8 mark the beginning of a text; the longer mark first
MARKS = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32",
         codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}  # fmt: skip


def beginning_of(body: bytes) -> str:
    """Return the beginning of a text, decoded: a key is not found between zero bytes."""
    encoding = next((name for mark, name in MARKS.items() if body.startswith(mark)), "utf-8-sig")
    text = body[:2000].decode(encoding, "replace")[:500]
    return "a text that cannot be read" if "\0" in text else text


def is_page(body: bytes) -> bool:
    """Tell a web page (or XML) from what else is no JSON."""
    return body.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<"


def read_error(status: int, headers: Mapping[str, str], text: str) -> Fault:
    """Return the fault that an error of this status and text is."""
    wait = retry_after(headers)
    fault = _read_status(status, wait, text)
    return fault._replace(odd=_odd_wait(headers))


def _read_status(status: int, wait: float | None, text: str) -> Fault:
    reason = f"status {status}: {text}"
    if status == 429:
        return Fault("everyone" if "insufficient_quota" in text else "busy", reason, wait)
    if status in (401, 402):
        return Fault("everyone", reason)
    if status == 501:
        return Fault("unable", reason)
    option = REFUSES_OPTION.search(text) is not None
    if (status in (408, 409, 425) or status >= 500) and not option:
        overloaded = wait is not None or status in (503, 529)
        return Fault("busy" if overloaded else "again", reason, wait)
    if FILTERED.search(text):
        return Fault("filter", reason)
    if status == 413 or OVER_CONTEXT.search(text):
        return Fault("context", reason)
    if status in (403, 404, 405):
        return Fault("first", reason)
    return Fault("again" if status < 300 and not option else "refused", reason)


def broken_inside(fault: Fault) -> bool:
    """Tell an error inside a server, which an option may have caused, from other faults."""
    return fault.reason.startswith("status 500") and not fault.page


def retry_after(
    headers: Mapping[str, str], now: datetime | None = None, longest: float = LONGEST_PAUSE
) -> float | None:
    """Return the seconds that a reply says to wait, 0 to ``longest``; ``None`` if it does not say.

    Read from ``retry-after-ms`` or ``Retry-After``, in seconds or as a date. A date is compared
    with the server's own ``Date``, because its clock need not agree with ours.
    """
    seconds = _stated_wait(headers, now)
    return None if seconds is None else min(max(seconds, 0.0), longest)


def _stated_wait(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds that a reply says to wait, whatever they are."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        if not math.isnan(seconds):
            return seconds
    until = _date(headers.get("retry-after", ""))
    if until is None:
        return None
    clock = _date(headers.get("date", "")) or now or datetime.now(UTC)
    # one that has passed is no mistake: it came late, or the clocks differ
    return max((until - clock).total_seconds(), 0.0)


def _odd_wait(headers: Mapping[str, str]) -> str:
    """Say how a Retry-After is read that cannot be kept to; empty for any other, and for none."""
    given = headers.get("retry-after-ms") or headers.get("retry-after") or ""
    seconds = _stated_wait(headers)
    if not given or (seconds is not None and 0.0 <= seconds <= LONGEST_PAUSE):
        return ""
    taken = retry_after(headers)
    read = "is no time, so pauses are our own" if taken is None else f"is taken as {taken:g} s"
    return f"the endpoint's Retry-After {read} (0 to {LONGEST_PAUSE:g} s are respected): {given}"


def _date(text: str) -> datetime | None:
    """Read an HTTP date."""
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def error_text(data: object) -> str:
    """Return all that the body of an error says, as one text; code and parameter first."""
    error = data.get("error", data) if isinstance(data, Mapping) else data
    if isinstance(error, Mapping):
        values = [error.get(key) for key in ("code", "param", "type", "message", "detail")]
        given = [value for value in values if value not in (None, "", [], {})]
        if given:
            return ": ".join(v if isinstance(v, str) else _dump(v) for v in given)
    return error if isinstance(error, str) else _dump(error)


def _dump(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)[:4000]
    except (ValueError, RecursionError):
        return "an error that cannot be shown"


def stated_context(text: str) -> int | None:
    """Return the context length that an error message states, in tokens."""
    match = CONTEXT_LENGTH.search(text)
    return int(match[1].replace(",", "")) if match else None


# ---- reading a reply

#: what is said of an answer that ended for another reason
ODD_END = "finish_reason {}: sayso does not know whether the answer is whole"


class Choice(NamedTuple):
    """One answer. ``finish`` is "stop", "stop_string", "length", "filter", "error", "tool",
    ``OTHER_END`` and the server's own word, or ``None``; ``tokens`` is the reply's own list of
    token log-probabilities, unread. ``unclosed``: it ends inside its thought; ``implicit``: the
    prompt opened the thought; ``problem``: why there is no answer in it, which an empty string
    would be."""

    text: str
    thinking: str | None
    finish: str | None
    tokens: Sequence[Any] | None
    unclosed: bool = False
    implicit: bool = False
    problem: str | None = None


class Reply(NamedTuple):
    """A whole reply; token counts are those of all choices together, ``None`` if not reported."""

    choices: tuple[Choice, ...]
    model: str | None
    fingerprint: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int
    thinking_tokens: int | None


def read_completion(body: bytes) -> Reply | Fault:
    """Read the body of a reply with status 200."""
    try:
        data = decode_body(body)
    except ValueError:
        if is_page(body):
            return Fault("page", "a web page instead of JSON", page=True)
        return Fault("again", "empty reply" if not body.strip() else "invalid or truncated JSON")
    if not isinstance(data, Mapping):
        return Fault("again", f"JSON that is not a reply: {str(data)[:80]}")
    listed = data.get("choices")
    if data.get("error"):  # what stands beside it in choices is no whole answer
        return _error_reply(data)
    if not isinstance(listed, list) or not listed:
        return Fault("again", "a reply without choices")
    choices = [_choice(c) for c in sorted(listed, key=_index) if isinstance(c, Mapping)]
    if not choices:
        return Fault("again", "choices that are none")
    usage = mapping(data.get("usage"))
    cached = token_count(mapping(usage.get("prompt_tokens_details")).get("cached_tokens"))
    if cached is None:
        cached = token_count(usage.get("prompt_cache_hit_tokens")) or 0
    details = mapping(usage.get("completion_tokens_details"))
    return Reply(
        choices=tuple(choices),
        model=_string(data.get("model")),
        fingerprint=_string(data.get("system_fingerprint")),
        prompt_tokens=token_count(usage.get("prompt_tokens")),
        completion_tokens=token_count(usage.get("completion_tokens")),
        cached_tokens=cached,
        thinking_tokens=token_count(details.get("reasoning_tokens")),
    )


def _error_reply(data: Mapping[str, Any]) -> Fault:
    """Read an error that came with status 200; gateways put the true status into ``code``."""
    error = mapping(data["error"])
    codes = (token_count(error.get("code")), token_count(error.get("status")))
    status = next((code for code in codes if code is not None and 400 <= code < 600), 200)
    return read_error(status, {}, error_text(data))


def _index(choice: object) -> int:
    index = choice.get("index") if isinstance(choice, Mapping) else None
    return index if isinstance(index, int) else 0


def _choice(choice: Mapping[str, Any]) -> Choice:
    """Read one choice: the answer, the thought apart from it, and why it ended."""
    message = mapping(choice.get("message"))
    answer, thinking = _content(message.get("content"))
    for name in ("reasoning_content", "reasoning"):
        thought = message.get(name)
        if thinking is None and isinstance(thought, str) and thought:
            thinking = thought
    refusal = message.get("refusal")
    if not answer and isinstance(refusal, str) and refusal:
        answer = refusal
    text = answer or ""
    reason = choice.get("finish_reason")
    finish = "error" if choice.get("error") else _finish(reason)
    called = reason in ("tool_calls", "function_call") or any(
        message.get(name) for name in ("tool_calls", "function_call")
    )
    if called and finish != "error":
        finish = "stop" if text else "tool"
    if finish == "stop" and isinstance(choice.get("stop_reason"), str):
        finish = "stop_string"
    tokens = mapping(choice.get("logprobs")).get("content")
    unclosed = implicit = False
    if thinking is None:
        text, thinking, unclosed, implicit = split_thought(text)
    elif not text and finish == "length":
        unclosed = True
    return Choice(
        _clean(text),
        None if thinking is None else _clean(thinking),
        finish,
        tokens if isinstance(tokens, list) else None,
        unclosed,
        implicit,
        _lacking(choice) if answer is None else None,
    )


def _finish(reason: object) -> str | None:
    """Return how an answer ended; ``None`` where a server does not say."""
    if reason is None or reason == "":
        return None
    if not isinstance(reason, str):
        return f"{OTHER_END}{json_kind(reason)}"
    name = printable(reason, 40)
    return FINISHES.get(reason.lower()) or f"{OTHER_END}{name}"


def _lacking(choice: Mapping[str, Any]) -> str:
    """Say what a choice has in place of a text."""
    owner, holder, name = "the choice", choice, "message"
    if isinstance(choice.get("message"), Mapping):
        owner, holder, name = "the message", choice["message"], "content"
    if name not in holder:
        instead = next((other for other in ("text", "delta") if holder.get(other)), None)
        return f"{owner} has no {name}" + (f", but {instead!r}" if instead else "")
    value = holder[name]
    if name == "content" and isinstance(value, list):
        return "the message's content is a list without text"
    kind = json_kind(value)
    if name == "message":
        return f"the message is {kind}, no object"
    return f"the message's content is {kind}, no text"


def _content(content: object) -> tuple[str | None, str | None]:
    """Return text and thought of a message's content: a string, or a list of parts.

    The text is ``None`` where there is none: an empty string is an answer, anything else is not.
    """
    if isinstance(content, str):
        return content, None
    texts: list[str] = []
    thoughts: list[str] = []
    parts = content if isinstance(content, list) else []
    whole = True  # a part that is left out would make another answer of the rest
    for part in map(mapping, parts):
        text = part.get("text")
        if isinstance(text, str):
            texts.append(text)
        elif text is not None or not part:
            whole = False
        thought = part.get("thinking")
        if isinstance(thought, str):
            thoughts.append(thought)
        elif isinstance(thought, list):
            thoughts += [t["text"] for t in map(mapping, thought) if isinstance(t.get("text"), str)]
    return "".join(texts) if texts and whole else None, "".join(thoughts) or None


def split_thought(text: str) -> tuple[str, str | None, bool, bool]:
    """Return the answer, its thought, whether the thought never ended, and whether its opening tag
    is missing (a template that opens the thought itself)."""
    split = split_thoughts(text)
    if not split.thoughts:
        return text, None, False, False
    return split.text.lstrip(), "\n\n".join(split.thoughts), not split.closed, split.implicit


# ---- token log-probabilities


class Arrays(NamedTuple):
    """Arrays over the tokens of a text, each ``None`` where one of its values is not known.

    ``margins`` are p(1st) - p(2nd), where two alternatives were given; ``entropies`` lower bounds,
    where there were at least :data:`LEAST_SHOWN`.
    """

    offsets: tuple[int, ...]
    logprobs: tuple[float, ...] | None
    margins: tuple[float, ...] | None
    entropies: tuple[float, ...] | None


#: alternatives of a token that bound its entropy; of fewer, the bound is of little worth
LEAST_SHOWN = 5


def read_tokens(tokens: Sequence[Any], text: str, after_thought: bool) -> Arrays | None:
    """Return the log-probabilities of ``text``; ``None`` unless the tokens spell exactly it.

    After a thought only the tokens of the answer count; an end-of-text token and what follows a
    stop string are left off.
    """
    entries = [t for t in tokens if isinstance(t, Mapping)]
    spelled = [_spelling(t) for t in entries]
    if len(entries) < len(tokens) or None in spelled:
        return None
    target = text.encode()
    parts = [s for s in spelled if s is not None]
    whole = b"".join(parts)
    first = 0
    if not whole.startswith(target) or (after_thought and len(whole) > len(target)):
        first = _suffix(parts, target)
        if first < 0:
            return None
    offsets: list[int] = []
    at = 0
    for part in parts[first:]:
        if at >= len(target):
            break
        offsets.append(at)
        at += len(part)
    kept = entries[first : first + len(offsets)]
    logprobs = [_logprob(t.get("logprob")) for t in kept]
    known = tuple(p for p in logprobs if p is not None)
    shown = [sorted((value for value, _ in _alternatives(t)), reverse=True) for t in kept]
    fewest = min(map(len, shown), default=0)
    if len(known) < len(logprobs) and fewest < 2:
        return None
    return Arrays(
        _character_offsets(text, target, offsets),
        known if len(known) == len(logprobs) else None,
        tuple(round(math.exp(a) - math.exp(b), 6) for a, b, *_ in shown) if fewest > 1 else None,
        tuple(round(entropy_floor(t, own), 6) for t, own in zip(shown, logprobs, strict=True))
        if fewest >= LEAST_SHOWN
        else None,
    )


def _suffix(parts: Sequence[bytes], target: bytes) -> int:
    """Return the token from which on the parts spell the text, up to one end-of-text token; or
    -1."""
    for dropped in (0, 1):
        left = len(target)
        end = len(parts) - dropped
        if b"".join(parts[:end]).endswith(target):
            while left > 0 and end > 0:
                end -= 1
                left -= len(parts[end])
            if left == 0:
                return end
    return -1


def _spelling(token: Mapping[str, Any]) -> bytes | None:
    """Return the bytes of a token as listed, else those of its text."""
    listed = token.get("bytes")
    if isinstance(listed, list):
        try:
            return bytes(listed)
        except (ValueError, TypeError):
            return None
    text = token.get("token")
    try:
        return text.encode() if isinstance(text, str) else None
    except UnicodeEncodeError:
        return None


def _character_offsets(text: str, target: bytes, offsets: Sequence[int]) -> tuple[int, ...]:
    """Turn positions of bytes into positions of the characters that hold them."""
    if len(text) == len(target):
        return tuple(offsets)
    places: list[int] = []
    for place, character in enumerate(text):
        places += [place] * len(character.encode())
    return tuple(places[offset] for offset in offsets)


def _logprob(value: object) -> float | None:
    """Return a log-probability, rounded as everywhere; ``None`` for anything else.

    Servers write -9999 for one that they do not know.
    """
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None  # NaN and what no float holds are in no range
    return round(min(float(value), 0.0), 6) + 0.0 if UNKNOWN_LOGPROB < value < 1e-3 else None


def _alternatives(token: Mapping[str, Any]) -> list[tuple[float, object]]:
    """Return log-probability and text of the likeliest tokens at the place of one, where known."""
    top = token.get("top_logprobs")
    listed = [mapping(one) for one in top] if isinstance(top, list) else []
    pairs = [(_logprob(one.get("logprob")), one.get("token")) for one in listed]
    return [(value, text) for value, text in pairs if value is not None]


# ---- records


def choice_records(
    requests: Sequence[Request],
    reply: Reply,
    overrides: tuple[str, ...],
    price: Price | None,
    *,
    implicit_thought: bool = False,
) -> list[Generation]:
    """Return one record for each choice; there are at most as many choices as requests.

    ``overrides`` lists what was not sent as requested. ``implicit_thought``: this model's template
    opens the thought, so that a cut answer without a closing tag is all thought.
    """
    usages = usage_shares(reply, price)
    return [
        _record(request, choice, usage, reply, overrides, implicit_thought)
        for request, choice, usage in zip(requests, reply.choices, usages, strict=False)
    ]


def usage_shares(reply: Reply, price: Price | None) -> list[Usage]:
    """Split the usage of a call over its choices, so that the sums are what is billed.

    The prompt is computed once and counts for the first choice. A server reports only the total of
    the answers' tokens: it is split by the number of listed tokens, else by length of text.
    """
    listed = [len(c.tokens or ()) for c in reply.choices]
    weights = [len(c.text) + len(c.thinking or "") + 1 for c in reply.choices]
    if all(listed):
        weights = listed
    total = reply.completion_tokens or 0
    reported = reply.prompt_tokens is not None and reply.completion_tokens is not None
    usages: list[Usage] = []
    begin = weight_so_far = 0
    for weight in weights:
        weight_so_far += weight
        end = round(total * weight_so_far / sum(weights))
        usage = Usage(
            prompt_tokens=0 if usages else reply.prompt_tokens or 0,
            completion_tokens=end - begin,
            cached_tokens=0 if usages else reply.cached_tokens,
        )
        if price is not None and reported:
            usage = msgspec.structs.replace(usage, dollars=price.of(usage))
        usages.append(usage)
        begin = end
    return usages


def _record(
    request: Request,
    choice: Choice,
    usage: Usage,
    reply: Reply,
    overrides: tuple[str, ...],
    implicit_thought: bool,
) -> Generation:
    """Return the record of one choice."""
    problem = None
    text, thinking, finish = choice.text, choice.thinking, choice.finish
    if choice.unclosed:
        problem = "truncated"
    elif implicit_thought and thinking is None and finish == "length" and not choice.problem:
        text, thinking, problem = "", text, "truncated"
    elif finish == "length" and not text:
        problem = "truncated"  # while it thought, also where the thought is not shown
    elif finish == "filter":
        text, problem = "", "failed: content filter"
    elif finish == "tool":
        problem = "failed: the model called a tool instead of answering"
    elif choice.problem is not None:
        finish, problem = None, f"failed: {choice.problem}"
    text, echo = without_prompt(request, text)
    overrides = (*overrides, *echo)
    # some servers leave the stop string in, some ignore it
    text, stopped = cut_at_stop(text, request.stop)
    if (
        request.response_format is not None
        and problem is None
        and not any(override.startswith("response_format") for override in overrides)
        and not keeps_schema(text, request.response_format)
    ):
        overrides = (*overrides, "response_format: the reply does not keep to it")
    arrays = None
    if choice.tokens is not None and problem is None:
        arrays = read_tokens(choice.tokens, text, thinking is not None)
    if not text and problem is None:
        overrides = (*overrides, EMPTY_TEXT)
    other = finish is not None and finish.startswith(OTHER_END)
    if finish is not None and other and problem is None:
        overrides = (*overrides, ODD_END.format(finish.removeprefix(OTHER_END)))
    kind = ENDPOINT if thinking is None else f"{ENDPOINT}_after_thought"
    finished = finish if other or finish in ("stop", "stop_string", "length") else None
    return Generation(
        request,
        text=text,
        thinking=thinking,
        thinking_tokens=reply.thinking_tokens if len(reply.choices) == 1 else None,
        logprob_kind=kind if arrays and arrays.logprobs is not None else None,
        fingerprint=reply.fingerprint,
        overrides=overrides,
        **(arrays._asdict() if arrays else {}),
        alternatives=_options(request, choice),
        finish="stop_string" if stopped else finished,
        usage=usage,
        problem=problem,
    )


def _options(request: Request, choice: Choice) -> tuple[tuple[Alternative, ...]] | None:
    """Return the likeliest first tokens of an answer of one token."""
    if request.max_tokens != 1 or not choice.tokens:
        return None
    first = _alternatives(mapping(choice.tokens[0]))
    return (tuple(Alternative(-1, p, text) for p, text in first if isinstance(text, str)),)


#: characters of a prompt that nobody repeats word for word before an answer
LONG_PROMPT = 200
BEGINS_WITH_PROMPT = "the answer begins with its prompt"
PROMPT_CUT = "the prompt was repeated before the answer and was cut off"
#: what may stand before a prompt and behind it: names of roles
ROLES = re.compile(r"\W*(?:(?:system|user|human|question|assistant|answer|model)\b\W*)*", re.I)


def without_prompt(request: Request, text: str) -> tuple[str, tuple[str, ...]]:
    """Return an answer and what to say of it where the server repeats the prompt before it.

    A long prompt is cut off, with all messages before it. A short one stays: a model may well
    repeat a question and then answer it.
    """
    prompts = [m.content.strip() for m in request.messages if m.role != "assistant"]
    if not prompts or not prompts[-1] or request.prefill is not None:
        return text, ()
    at = 0
    for prompt in prompts:
        opening = ROLES.match(text, at)
        at = opening.end() if opening and not text.startswith(prompt, at) else at
        if not text.startswith(prompt, at):
            return text, ()
        at += len(prompt)
    answer = text[at:].strip()
    if len(prompts[-1]) < LONG_PROMPT or not answer:
        return text, (BEGINS_WITH_PROMPT,)
    return answer, (PROMPT_CUT,)


def empty_record(request: Request, problem: str | None, finish: str | None = None) -> Generation:
    """Return the record of a request that has no answer."""
    return Generation(request, finish=finish, problem=problem)
