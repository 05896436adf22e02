"""A fake engine for tests: it answers from a script and remembers every request."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from sayso.engines.engine import Capabilities, Counts, cut_at_stop
from sayso.records import Generation, InputError, Request, Usage

#: A script answers with a text, a text for each draw, or a whole record.
Reply = str | Sequence[str] | Generation
Script = Callable[[Request], Reply] | Mapping[str, Reply]


class ScriptedEngine:
    """Answers requests from ``reply``: a function, or a mapping from the last message's text.

    A list of texts is indexed by the sample (draw 7 of three texts is the second). A text is split
    into tokens word by word; with ``logprob`` each token has that log-probability and ``-logprob``
    as its entropy. ``requests`` holds every request in order, ``forced`` every forced pair.
    ``kill_after=n`` raises KeyboardInterrupt instead of answer n+1, as Ctrl-C in the middle of a
    run does. ``backwards`` answers in reverse order, which nobody may rely on. A request without a
    scripted answer has problem "failed: ...".
    """

    def __init__(
        self,
        reply: Script,
        name: str = "scripted",
        *,
        logprob: float | None = None,
        kill_after: int | None = None,
        backwards: bool = False,
        context: int | None = None,
        base: str | None = None,
    ) -> None:
        self.reply = reply
        self.name = name
        self.identity = f"scripted:{name}"
        self.base = base or self.identity
        self.signature = name
        self.capabilities = Capabilities(
            logprobs=logprob is not None,
            entropies=logprob is not None,
            force=logprob is not None,
            context=context,
        )
        self.counts = Counts()
        self.notices: list[str] = []
        self.requests: list[Request] = []
        self.forced: list[tuple[Request, str | Sequence[int]]] = []
        self.logprob = logprob
        self.kill_after = kill_after
        self.backwards = backwards
        self.closed = False
        self.words: dict[int, str] = {}

    def complete(self, requests: Iterable[Request]) -> Iterator[tuple[int, Generation]]:
        """Answer requests one by one, or all in reverse order."""
        numbered: Iterable[tuple[int, Request]] = enumerate(requests)
        if self.backwards:
            numbered = reversed(list(numbered))
        for index, request in numbered:
            if self.kill_after is not None and self.counts.requests >= self.kill_after:
                raise KeyboardInterrupt
            self.requests.append(request)
            self.counts.requests += 1
            generation = self._answer(request)
            self.counts.prompt_tokens += generation.usage.prompt_tokens
            self.counts.completion_tokens += generation.usage.completion_tokens
            yield index, generation

    def _answer(self, request: Request) -> Generation:
        prompt = " ".join(m.content for m in request.messages)
        words = len(prompt.split())
        rendered = hashlib.sha256(prompt.encode()).hexdigest()[:16]
        context = self.capabilities.context
        if context is not None and words + request.max_tokens > context:
            return Generation(request, rendered_hash=rendered, problem="context")
        if isinstance(self.reply, Mapping):
            reply = self.reply.get(request.messages[-1].content if request.messages else "")
        else:
            reply = self.reply(request)
        if reply is None:
            problem = f"failed: nothing scripted for {prompt[:80]!r}"
            return Generation(request, rendered_hash=rendered, problem=problem)
        if isinstance(reply, Generation):
            return msgspec.structs.replace(reply, request=request)
        if not isinstance(reply, str):
            reply = reply[0 if request.greedy else request.sample % len(reply)]
        return self._generate(request, rendered, reply, words)

    def _generate(self, request: Request, rendered: str, text: str, words: int) -> Generation:
        """Cut a text as a model would be cut: at stop strings and at the token limit."""
        text, stopped = cut_at_stop(text, request.stop)
        finish = "stop_string" if stopped else "stop"
        starts = word_starts(text)
        if len(starts) > request.max_tokens:
            text, finish = text[: starts[request.max_tokens]], "length"
            starts = starts[: request.max_tokens]
        generation = Generation(
            request,
            rendered_hash=rendered,
            text=text,
            finish=finish,
            usage=Usage(prompt_tokens=words, completion_tokens=len(starts)),
        )
        return generation if self.logprob is None else self._with_arrays(generation, starts)

    def _with_arrays(self, generation: Generation, starts: Sequence[int]) -> Generation:
        """Add token arrays of constant values."""
        value = self.logprob or 0.0
        ends = [*starts[1:], len(generation.text)]
        words = [generation.text[a:b] for a, b in zip(starts, ends, strict=True)]
        self.words.update((word_id(word), word) for word in words)
        return msgspec.structs.replace(
            generation,
            logprob_kind="model",
            token_ids=tuple(word_id(word) for word in words),
            offsets=tuple(starts),
            logprobs=tuple(value for _ in starts),
            entropies=tuple(-value for _ in starts),
        )

    def force(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], want: Sequence[str]
    ) -> Iterator[tuple[int, Generation]]:
        """Read given texts with the scripted log-probability."""
        if self.logprob is None or set(want) - {"logprobs", "entropies"}:
            raise InputError(f"the scripted engine has no {', '.join(sorted(want))}")
        for index, (request, continuation) in enumerate(items):
            self.forced.append((request, continuation))
            if isinstance(continuation, str):
                text = continuation
                starts = word_starts(text)
            else:
                words = [self.words.get(token, " ?") for token in continuation]
                text = "".join(words)
                starts = [sum(map(len, words[:place])) for place in range(len(words))]
            self.counts.forced_tokens += len(starts)
            generation = self._with_arrays(Generation(request, text=text), starts)
            unwanted = {name: None for name in ("logprobs", "entropies") if name not in want}
            yield index, msgspec.structs.replace(generation, **unwanted)

    def close(self) -> None:
        """Remember that the engine was closed."""
        self.closed = True


def word_starts(text: str) -> list[int]:
    """Return where each scripted token begins: a word with the white space before it."""
    starts = [0] if text else []
    starts += [n for n in range(1, len(text)) if text[n].isspace() and not text[n - 1].isspace()]
    if len(starts) > 1 and text[starts[-1] :].isspace():
        starts.pop()
    return starts


def word_id(word: str) -> int:
    """Return a token id that depends on the word alone."""
    return int.from_bytes(hashlib.sha256(word.encode()).digest()[:3], "little")
