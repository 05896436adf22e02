"""A loopback server that speaks chat completions and misbehaves on purpose.

In a test: ``with BadServer(plan) as server: open_model(server.url)``. ``plan(number, body)`` names
what happens to the call with that number: ``"ok"``, one of ``FAULTS``, or what :meth:`bad` knows
besides (``choices=JSON``, ``after=RETRY-AFTER``, ``encoded=STATUS,ENCODING``). By itself:
``python bad_server.py --faulty 0.3 --seed 0`` prints its address, answers ``GET /stats`` with what
it did and ``GET /answered`` with how often it answered what, and ends when its standard input
closes.

Answers depend on the messages, the seed and the choice alone, so that draws repeat with their
seed. ``answered`` counts good answers by what was asked.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import random
import sys
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable
from email.utils import formatdate
from functools import cache
from typing import Any

Body = dict[str, Any]
Plan = Callable[[int, Body], str]

#: what can go wrong, and how often in a mixture
FAULTS = {
    "429": 6, "429-ms": 4, "429-seconds": 1, "429-date": 1, "500": 5, "503": 2, "reset": 3,
    "cut-body": 3, "cut-json": 2, "not-json": 2, "html": 2, "empty-body": 1, "no-choices": 1,
    "error-200": 2, "slow": 5, "502-html": 2, "finish-error": 1,
}  # fmt: skip


def mixture(share: float, seed: int) -> Plan:
    """Return a plan that spoils a share of the calls, whatever they ask."""
    source = random.Random(seed)
    names, weights = list(FAULTS), list(FAULTS.values())

    def plan(number: int, body: Body) -> str:
        return source.choices(names, weights)[0] if source.random() < share else "ok"

    return plan


class BadServer:
    """The server. Switches: ``choices`` (how many it gives at most), ``logprobs``, ``schema``
    (replies keep to a schema), ``thought`` ("", "field" or "inline"), ``thinks`` (the tokens of a
    body's thought, which count to its limit), ``sampling`` (False repeats
    one text), ``refuses`` (parameters answered with 400), ``key`` (wanted), ``models``,
    ``says_model``, ``limit`` (calls at once, beyond which it answers 429), ``delay`` in seconds.
    """

    def __init__(self, plan: Plan | None = None, **switches: Any) -> None:
        self.plan = plan or (lambda number, body: "ok")
        self.choices = 64
        self.logprobs = True
        self.schema = True
        self.thought = ""
        self.thinks: Callable[[Body], int] | None = None
        self.sampling = True
        self.refuses: tuple[str, ...] = ()
        self.key = ""
        self.models = ["bad"]
        self.says_model = ""
        self.limit = 10**9
        self.delay = 0.0
        self.context = 4096
        self.echo = False
        self.keep_bodies = True
        self.encoding = "identity"
        for name, value in switches.items():
            assert hasattr(self, name), name
            setattr(self, name, value)
        self.number = 0
        self.busy = self.most_busy = 0
        self.did: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.bodies: list[Body] = []
        self.headers: list[dict[str, str]] = []
        self.loop = asyncio.new_event_loop()
        self.server: asyncio.Server | None = None
        self.port = 0
        self.open: set[asyncio.Transport] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> BadServer:
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        asyncio.run_coroutine_threadsafe(self.listen(), self.loop).result(10)
        return self

    def __exit__(self, *error: object) -> None:
        asyncio.run_coroutine_threadsafe(self.stop(), self.loop).result(10)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
        self.loop.close()

    def die(self) -> None:
        """Stop listening and break all connections."""
        asyncio.run_coroutine_threadsafe(self.stop(), self.loop).result(10)

    def rise(self) -> None:
        """Listen again at the same address."""
        asyncio.run_coroutine_threadsafe(self.listen(), self.loop).result(10)

    async def listen(self) -> None:
        loop = asyncio.get_running_loop()
        self.server = await loop.create_server(
            lambda: _Connection(self), "127.0.0.1", self.port, backlog=1024
        )
        self.port = self.server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        if self.server is not None:
            self.server.close()
        for transport in list(self.open):
            transport.abort()
        await asyncio.sleep(0)

    def reply(self, method: str, path: str, headers: dict[str, str], raw: bytes) -> tuple[Any, ...]:
        """Return (seconds to wait, status, headers, body, how the body ends)."""
        if self.key and headers.get("authorization") != f"Bearer {self.key}":
            got = headers.get("authorization", "nothing")
            return 0, 401, {}, _error(f"Incorrect API key provided: {got}", "invalid_api_key"), ""
        if path == "/v1/models":
            data = [
                {"id": m, "object": "model", "max_model_len": self.context} for m in self.models
            ]
            return 0, 200, {}, _json({"object": "list", "data": data}), ""
        if path == "/stats":
            return 0, 200, {}, _json(self.stats()), ""
        if path == "/answered":
            return 0, 200, {}, _json(self.answered), ""
        if path != "/v1/chat/completions" or method != "POST":
            return 0, 404, {}, _json({"detail": "Not Found"}), ""
        body = json.loads(raw)
        if self.keep_bodies:
            self.bodies.append(body)
            self.headers.append(headers)
        self.number += 1
        self.most_busy = max(self.most_busy, self.busy)
        what = "429" if self.busy > self.limit else self.plan(self.number, body)
        if what == "ok" or what == "slow":
            refused = [name for name in self.refuses if _refused(name, body)]
            if refused:
                what = "refused"
                self.did[what] += 1
                status = 403 if refused[0] == "logprobs" else 400
                return 0, status, {}, _refusal(refused[0], body), ""
        self.did[what] += 1
        return self.bad(what, body)

    def bad(self, what: str, body: Body) -> tuple[Any, ...]:
        """Return one reply, spoilt in the way that ``what`` names."""
        failed = _error("something broke", "server_error")
        slow_down = _error("Rate limit reached", "rate_limit_exceeded")
        now = time.time()
        dates = {"date": formatdate(now - 7200, usegmt=True),
                 "retry-after": formatdate(now - 7200, usegmt=True)}  # fmt: skip
        page = b"<html><body>Bad gateway</body></html>"
        plain: dict[str, tuple[Any, ...]] = {
            "429": (0, 429, {}, slow_down, ""),
            "429-ms": (0, 429, {"retry-after-ms": "20"}, slow_down, ""),
            "429-seconds": (0, 429, {"retry-after": "0.05"}, slow_down, ""),
            "429-date": (0, 429, dates, slow_down, ""),
            "quota": (0, 429, {}, _error("You exceeded your quota", "insufficient_quota"), ""),
            "500": (0, 500, {}, failed, ""),
            "503": (0, 503, {}, failed, ""),
            "502-html": (0, 502, {"content-type": "text/html"}, page, ""),
            "html": (0, 200, {"content-type": "text/html"}, page, ""),
            "not-json": (0, 200, {}, b'{"choices": [}', ""),
            "empty-body": (0, 200, {}, b"", ""),
            "no-choices": (0, 200, {}, _json({"id": "x", "choices": []}), ""),
            "error-200": (0, 200, {}, _error("upstream broke", "server_error"), ""),
            "overflow": (0, 400, {}, _error(
                "This model's maximum context length is 4096 tokens. However, you requested 5000 "
                "tokens. Please reduce the length.", "context_length_exceeded"), ""),
            "filter-400": (0, 400, {}, _error(
                "The response was filtered due to the prompt triggering the content management "
                "policy.", "content_filter"), ""),
            "400": (0, 400, {}, _error("the request makes no sense", "bad"), ""),
            "404-model": (0, 404, {}, _error(
                f"The model {body.get('model')!r} does not exist", "model_not_found"), ""),
            "403": (0, 403, {}, _error("not for you", "forbidden"), ""),
            "redirect": (0, 307, {"location": "http://127.0.0.1:1/v1"}, b"", ""),
            "501": (0, 501, {}, _error("Unsupported method ('POST')", "not_implemented"), ""),
            "405": (0, 405, {}, _json({"detail": "Method Not Allowed"}), ""),
            "501-html": (0, 501, {"content-type": "text/html"}, page, ""),
            "500-html": (0, 500, {"content-type": "text/html"}, page, ""),
            "503-html": (0, 503, {"content-type": "text/html"}, page, ""),
            "503-html-wait": (0, 503, {"retry-after": "0.01"}, page, ""),
            "400-html": (0, 400, {"content-type": "text/html"}, page, ""),
            "hang": (3600, 200, {}, b"", ""),
            "reset": (0, 200, {}, b"", "reset"),
            "encoded-wrongly": (0, 200, {"content-encoding": "gzip"}, b'{"choices": []}', ""),
        }  # fmt: skip
        if what in plain:
            return plain[what]
        name, found, value = what.partition("=")
        if found and name == "choices":  # as they stand, in place of good ones
            reply = f'{{"choices": [{value}], "usage": {{"completion_tokens": 7}}}}'
            return 0, 200, {}, reply.encode(), ""
        if found and name == "raw":  # a body as it stands
            return 0, 200, {}, value.encode("utf-8", "surrogateescape"), ""
        if found and name == "after":
            return 0, 429, {"retry-after": value}, slow_down, ""
        if found and name == "encoded":  # a reply whose content is as long as ``LONG``
            status, encoding = value.split(",", 1)
            return 0, int(status), {"content-encoding": encoding}, long_reply(encoding), ""
        words = sum(len(m["content"].split()) for m in body["messages"])
        limit = body.get("max_tokens") or body.get("max_completion_tokens") or 10**6
        if words + limit > self.context and limit < 10**6:
            return plain["overflow"]
        reply = self.good(body, words, limit, what)
        if what == "cut-json":
            return self.delay, 200, {}, reply[: len(reply) // 2], ""
        if what == "cut-body":
            return self.delay, 200, {}, reply, "cut"
        if what != "finish-error":
            self.answered[_asked(body)] += 1
        extra = {"content-encoding": self.encoding.replace("raw", "deflate")}
        reply = _compressed(reply, self.encoding.lower())
        return self.delay + (0.2 if what == "slow" else 0.0), 200, extra, reply, ""

    def good(self, body: Body, words: int, limit: int, what: str) -> bytes:
        """Return a proper reply."""
        choices = []
        tokens_of_all = thoughts = 0
        for index in range(min(body.get("n", 1), self.choices)):
            seed = body.get("seed", 0) * 1000 + index if body.get("temperature") else 0
            told = [body["messages"], seed if self.sampling else 0, body.get("stop")]
            text = _text(json.dumps(told))
            if body.get("response_format") and self.schema:
                text = '{"label": "correct"}'
            if what == "empty":
                text = ""
            if self.echo:
                text = json.dumps(self.headers[-1:])
            long = self.thinks({**body, "draw": seed}) if self.thinks is not None else 0
            thought = "hm " * min(long, limit) or "let me see"
            tokens, left = _tokens(text), max(0, limit - long)
            finish = "length" if len(tokens) > left else "stop"
            tokens = tokens[:left]
            thoughts += min(long, limit)
            text = "".join(tokens)
            for stop in body.get("stop") or ():
                if stop in text:
                    text, finish = text[: text.index(stop)], "stop"
                    tokens = _tokens(text)
            tokens_of_all += len(tokens)
            choices.append(self.choice(index, text, tokens, finish, body, what, thought))
        return _json({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1,
            "model": self.says_model or body.get("model"),
            "system_fingerprint": "fp_1", "choices": choices,
            "usage": {
                "prompt_tokens": words, "completion_tokens": tokens_of_all + thoughts,
                "total_tokens": words + tokens_of_all + thoughts,
                "prompt_tokens_details": {"cached_tokens": words // 2},
                "completion_tokens_details": {
                    "reasoning_tokens": thoughts or (3 if self.thought else 0)
                },
            },
        })  # fmt: skip

    def choice(
        self, index: int, text: str, tokens: list[str], finish: str, body: Body, what: str,
        thought: str,
    ) -> Body:  # fmt: skip
        message: Body = {"role": "assistant", "content": text}
        if self.thought == "field":
            message["reasoning_content"] = thought
        elif self.thought == "inline":
            cut = finish == "length" and not text
            message["content"] = f"<think>{thought}" + ("" if cut else f"</think>\n\n{text}")
        if what == "filter":
            message["content"], finish = text[:3], "content_filter"
        elif what == "finish-error":
            finish = "error"
        found: Body = {"index": index, "message": message, "finish_reason": finish}
        if body.get("logprobs") and self.logprobs:
            found["logprobs"] = {"content": [
                {"token": t, "bytes": list(t.encode()), "logprob": -0.5, "top_logprobs": [
                    {"token": t, "bytes": list(t.encode()), "logprob": -0.5},
                    {"token": "?", "bytes": [63], "logprob": -1.5}]}
                for t in tokens]}  # fmt: skip
        return found

    def stats(self) -> Body:
        return {
            "calls": self.number,
            "did": dict(self.did),
            "answered": sum(self.answered.values()),
            "distinct": len(self.answered),
            "most_busy": self.most_busy,
        }


class LlamaServer(BadServer):
    """A stand-in for `llama_cpp.server` (llama-cpp-python 0.3.36): every option that its own types
    do not take is status 500 with one line for each; others, and ``n``, are ignored in silence.
    A JSON schema is read from `json_object` only; ``logits`` false refuses log-probabilities.
    """

    def __init__(self, plan: Plan | None = None, **switches: Any) -> None:
        self.logits = True
        super().__init__(plan, **{"choices": 1, "context": 2048, **switches})

    def bad(self, what: str, body: Body) -> tuple[Any, ...]:
        wrong = _wrong(body)
        message = f"{len(wrong)} validation error{'s'[: len(wrong) > 1]}:\n  " + "\n  ".join(wrong)
        message += '\n\n  File "llama_cpp/server/app.py", line 376, in create_chat_completion'
        if not wrong and body.get("logprobs") and not self.logits:
            wrong = ["logprobs"]
            message = "logprobs is not supported for models created with logits_all=False"
        if wrong and what in ("ok", "slow"):
            error = {
                "message": message,
                "type": "internal_server_error",
                "param": None,
                "code": None,
            }
            return 0, 500, {}, _json({"error": error}), ""
        return super().bad(what, body)


def _wrong(body: Body) -> list[str]:
    """Return a line for each option that llama-cpp-python's types do not take."""
    wrong = [
        f"{{'type': 'greater_than_equal', 'loc': ('body', '{name}'), 'msg': 'Input should be "
        f"greater than or equal to 0', 'input': {body[name]}, 'ctx': {{'ge': 0}}}}"
        for name in ("min_p", "top_k", "repeat_penalty", "top_logprobs")
        if body.get(name, 0) < 0
    ]
    form = body.get("response_format", {}).get("type", "text")
    if form not in ("text", "json_object"):
        wrong.append(
            "{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': \"Input "
            f"should be 'text' or 'json_object'\", 'input': '{form}'}}"
        )
    return wrong


#: characters of an answer that nobody should take
LONG = 200_000_000
WINDOWS = {"gzip": 31, "deflate": 15, "raw": -15}


@cache
def long_reply(encoding: str) -> bytes:
    """Return a reply whose answer has ``LONG`` characters, compressed as often as named; one that
    is not compressed has a tenth of them."""
    head, tail = b'{"choices": [{"message": {"content": "', b'"}}]}'
    first, *further = encoding.split(", ")
    if first not in WINDOWS:
        return head + b"a" * (LONG // 10) + tail
    squeeze = zlib.compressobj(1, wbits=WINDOWS[first])
    parts = [squeeze.compress(head)]
    parts += [squeeze.compress(b"a" * (LONG // 100)) for _ in range(100)]
    body = b"".join([*parts, squeeze.compress(tail), squeeze.flush()])
    for name in further:
        body = _compressed(body, name)
    return body


def _compressed(body: bytes, encoding: str) -> bytes:
    if encoding not in WINDOWS:
        return body
    squeeze = zlib.compressobj(wbits=WINDOWS[encoding])
    return squeeze.compress(body) + squeeze.flush()


def _text(salt: str) -> str:
    digest = hashlib.sha256(salt.encode()).digest()
    return " ".join(f"word{byte % 23}" for byte in digest) + " Zoë 東京."


def _tokens(text: str) -> list[str]:
    words = text.split(" ")
    return [w if place == 0 else f" {w}" for place, w in enumerate(words)] if text else []


def _asked(body: Body) -> str:
    asked = [body["messages"], body.get("temperature"), body.get("seed")]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


def _error(message: str, code: str) -> bytes:
    return _json({"error": {"message": message, "type": "error", "param": None, "code": code}})


def _refused(name: str, body: Body) -> bool:
    """``temperature=0`` refuses a value, ``top_k`` a parameter."""
    key, _, value = name.partition("=")
    return key in body and (not value or str(float(value)) == str(float(body[key])))


def _refusal(name: str, body: Body) -> bytes:
    key, _, value = name.partition("=")
    if value:
        return _error(
            f"Unsupported value: '{key}' does not support {value} with this model. Only the "
            "default (1) value is supported.", "unsupported_value")  # fmt: skip
    if key == "logprobs":  # as OpenAI's models that reason
        return _error("You are not allowed to request logprobs from this model", "forbidden")
    if key == "max_tokens":
        return _error(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' instead.", "unsupported_parameter")  # fmt: skip
    return _error(f"Unrecognized request argument supplied: {key}", "invalid_request_error")


class _Connection(asyncio.Protocol):
    """HTTP/1.1 as far as a test needs it: one request after the other on a connection."""

    def __init__(self, server: BadServer) -> None:
        self.server = server
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport
        self.server.open.add(self.transport)

    def connection_lost(self, error: Exception | None) -> None:
        self.server.open.discard(self.transport)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, found, rest = self.buffer.partition(b"\r\n\r\n")
        if not found:
            return
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {k.strip().lower(): v.strip() for k, _, v in (li.partition(":") for li in lines)}
        length = int(headers.get("content-length", 0))
        if len(rest) < length:
            return
        self.buffer = rest[length:]
        method, path, _ = first.split(" ", 2)
        self.server.busy += 1
        wait, status, extra, body, ending = self.server.reply(method, path, headers, rest[:length])
        if wait:
            asyncio.get_running_loop().call_later(wait, self.send, status, extra, body, ending)
        else:
            self.send(status, extra, body, ending)

    def send(self, status: int, extra: dict[str, str], body: bytes, ending: str) -> None:
        self.server.busy -= 1
        if self.transport.is_closing():
            return
        if ending == "reset":
            self.transport.abort()
            return
        headers = {"content-type": "application/json", "content-length": str(len(body)), **extra}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        whole = f"HTTP/1.1 {status} X\r\n{lines}\r\n".encode() + body
        if ending == "cut":
            self.transport.write(whole[: len(whole) - len(body) // 2])
            self.transport.close()
        else:
            self.transport.write(whole)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--faulty", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--limit", type=int, default=10**9)
    parser.add_argument("--choices", type=int, default=64, help="most answers to one call")
    given = parser.parse_args()
    plan = mixture(given.faulty, given.seed)
    with BadServer(
        plan, delay=given.delay, limit=given.limit, choices=given.choices, keep_bodies=False
    ) as server:
        print(server.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
