"""Room for thoughts: how many tokens an answer gets in addition to its limit, learned as they come.

A request keeps its limit and its key in the cache; the reply says what room it had (``room_of``).
So answers stay in use whatever room others had, and a run that goes on begins with that of its own.
"""

from __future__ import annotations

import re
from collections import Counter

import msgspec

from sayso.engines.engine import Engine
from sayso.records import ROOM, Generation, Request, room_of

#: the least room that is given to a model that thinks, and the most
LEAST, MOST = 512, 16_384
#: whole answers of each limit that a model which thinks gives before the others are asked
FIRST = 4
#: the share of requests that may be paid twice
TWICE = 0.1
#: names of models that think unless they are told not to
THINKS = re.compile(
    r"gpt-5|gpt-oss|\bo[134]\b|deepseek-(?:r1|reasoner)|qwq|qwen3(?!.{0,40}(?:instruct|coder))|thinking|"
    r"reasoning|magistral|gemini-(?:2\.5|3)|grok-4|glm-4\.[5-9]|minimax-m|smollm3",
    re.IGNORECASE,
)
#: how the mark of a room ends that a model's context does not let grow
FULL = ", all that fits"


class ThoughtRoom:
    """The room of one model: at least twice the longest thought of its first answers, and of those
    that were cut off later, in powers of two. A budget of the user's is left alone.

    ``tokens`` is what a request gets now.
    """

    def __init__(self, engine: Engine) -> None:
        template = getattr(getattr(engine, "tokenizer", None), "chat_template", None)
        self.tokens = self._told = 0
        self._may_think = engine.identity.startswith("api:") or "think" in str(template).lower()
        self._thinks, self._most = False, MOST
        self._whole: Counter[int] = Counter()
        self._twice: set[bytes] = set()

    def lacking(self, request: Request) -> int:
        """Return how many more whole answers of this limit tell what room it takes."""
        settled = bool(self._whole) and not self._thinks
        if not self._may_think or _fixed(request) or settled:
            return 0
        return max(0, FIRST - self._whole[request.max_tokens])

    def waits(self, request: Request, sent: Counter[int]) -> bool:
        """Tell whether a request waits for those that were ``sent``, by their limits: for a first
        one, then for a few of its own limit."""
        left = self.lacking(request)
        return 0 < left <= sent[request.max_tokens] or bool(left and sent and not self._whole)

    def raised(self, request: Request) -> Request:
        """Return a request with the room of now."""
        room = 0 if _fixed(request) else self.tokens
        return msgspec.structs.replace(request, max_tokens=request.max_tokens + room)

    def marked(self, reply: Generation, room: int) -> Generation:
        """Return a reply that says which room it had."""
        told = f"{ROOM}{room:,} tokens{FULL * (self._most < MOST)}"
        return msgspec.structs.replace(reply, overrides=(*reply.overrides, *[told] * (room > 0)))

    def learn(self, reply: Generation, request: Request) -> None:
        """Learn from an answer, which may be from the cache."""
        room, early, cut = room_of(reply), self.lacking(request), can_grow(reply, request)
        if reply.problem == "context" and room:
            self._most = room // 2 if room > LEAST else 0
        elif not cut:
            self._whole[request.max_tokens] += 1
        thought = max(thought_tokens(reply), request.max_tokens + room if cut else 0)
        self._thinks = self._thinks or thought > 0
        if thought and (early or cut):
            room = max(room, LEAST, 1 << (2 * thought - 1).bit_length())
        self.tokens = min(self._most, max(self.tokens, room))

    def asks_again(self, key: bytes, reply: Generation, request: Request, asked: int) -> bool:
        """Tell whether one of so many requests, which was just paid, is asked again."""
        if reply.problem == "context":
            return room_of(reply) > 0
        if not can_grow(reply, request) or self.tokens <= room_of(reply):
            return False
        if key in self._twice or len(self._twice) < max(FIRST, TWICE * asked):
            self._twice.add(key)
        return key in self._twice

    def line(self, request: Request) -> str:
        """Return what to tell of the room once others than the first are asked; "" if told."""
        if self.tokens == self._told or self.lacking(request):
            return ""
        self._told = self.tokens
        return (
            f"the model thinks: each answer may take {self.tokens:,} tokens more than its limit "
            f"(at most {MOST:,}; --thinking with a number of tokens fixes it)"
        )


def _fixed(request: Request) -> bool:
    return "thinking_budget" in dict(request.chat_template_kwargs)


def thought_tokens(reply: Generation) -> int:
    """Return how many tokens a thought took, as reported or by its share of the characters."""
    if reply.thinking_tokens or not reply.thinking:
        return reply.thinking_tokens or 0
    thought, text = len(reply.thinking), len(reply.text)
    total = reply.usage.completion_tokens or (thought + text) // 4
    return max(1, total * thought // (thought + text))


def is_cut(reply: Generation) -> bool:
    """Tell whether a thought was cut off, or left its answer less than the answer's own limit."""
    ate = reply.finish == "length" and thought_tokens(reply) > room_of(reply)
    return reply.problem == "truncated" or (ate and reply.problem is None)


def can_grow(reply: Generation, request: Request) -> bool:
    """Tell whether an answer was cut off that more room could make whole."""
    full = any(told.startswith(ROOM) and told.endswith(FULL) for told in reply.overrides)
    return is_cut(reply) and not full and room_of(reply) < MOST and not _fixed(request)
