"""One exchange with an endpoint: a body goes out, and a reply or a fault comes back."""

from __future__ import annotations

import asyncio
import json
import math
import re
import ssl
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import httpx2
import msgspec
import openai
from openai import Omit

from sayso.engines.openai.endpoint import Endpoint, EndpointOptions
from sayso.engines.openai.reply import (
    ACCEPTED,
    Body,
    Fault,
    Reply,
    UnreadableError,
    decode_body,
    read_completion,
    read_failure,
    too_long,
)
from sayso.keys import hide_key

if TYPE_CHECKING:
    from openai._types import RequestOptions

#: Calls that share one pool of connections. A pool looks at each of its connections whenever a call
#: comes or goes: with 256 in one pool that took half of all CPU time.
LANE = 16
#: what may be a character of a key in another spelling than its own: JSON's ("\\/", "\\u002f"), an
#: address's (%2F), a web page's (&#47;)
SPELLED = re.compile(
    rb"\\(?:/|u00[2-7]|\\(?:u00|[\"/\\]))|%[2-7][0-9A-Fa-f]|&(?:#|quot;|amp;|lt;|gt;|apos;)"
)
#: the longest wait for a connection and for a list of models, in seconds
CONNECT, LIST = 10.0, 30.0


class PlainClient(openai.DefaultHttpxClient):
    """An HTTP client that leaves off what is too long, for callers outside the loop.

    A file, which is streamed, is bounded by whoever reads it.
    """

    def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request; see :meth:`BoundedClient.send`. A whole reply has the time of a part."""
        response = super().send(request, **{**options, "stream": True})
        if options.get("stream") and response.is_success:
            return response
        seconds = (request.extensions.get("timeout") or {}).get("read") or math.inf
        begun = time.monotonic()
        try:
            body = Body(response.headers.get("content-encoding", ""))
            for data in response.iter_raw():
                body.add(data)
                if time.monotonic() - begun > seconds:
                    raise httpx2.ReadTimeout(f"no whole reply in {seconds:g} s", request=request)
                if body.full:
                    break
            content = body.content()
            if body.full and response.is_success:
                raise too_long()
        except UnreadableError:
            if response.is_success:
                raise
            content = b""
        finally:
            response.close()
        return _whole(response, content)


class BoundedClient(openai.DefaultAsyncHttpxClient):
    """An HTTP client that takes a reply as it comes, and leaves off what is too long."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request and return its whole reply, decompressed.

        Raises UnreadableError. An error that is too long is read in part, and one that cannot be
        read has its status still.
        """
        response = await super().send(request, **{**options, "stream": True})
        try:
            content = await _taken(response)
        except UnreadableError:
            if response.is_success:
                raise
            content = b""
        finally:
            await response.aclose()
        return _whole(response, content)


def _whole(response: httpx2.Response, content: bytes) -> httpx2.Response:
    """Return a response with the content that was read of it."""
    plain = [
        (name, value)
        for name, value in response.headers.multi_items()
        if name not in ("content-encoding", "content-length", "transfer-encoding")
    ]
    return httpx2.Response(
        response.status_code,
        headers=plain,
        content=content,
        request=response.request,
        extensions=response.extensions,
    )


async def _taken(response: httpx2.Response) -> bytes:
    """Return the body of a reply as it comes, of an error at most the beginning."""
    body = Body(response.headers.get("content-encoding", ""))
    async for data in response.aiter_raw():
        body.add(data)
        if body.full and response.is_success:
            raise too_long()
        if body.full:
            break
    return body.content()


class ClientLane:
    """One client with its own connections. It retries nothing and follows no redirect: both are
    decided elsewhere, and a key goes to no other host."""

    def __init__(self, endpoint: Endpoint, timeout: float, trust: ssl.SSLContext) -> None:
        http = BoundedClient(
            headers={"Accept-Encoding": ACCEPTED},
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=LANE),
            timeout=httpx2.Timeout(timeout, connect=min(timeout, CONNECT)),
            follow_redirects=False,
            verify=trust,
        )
        self.client = openai.AsyncOpenAI(
            api_key=endpoint.key or "none", base_url=endpoint.url, http_client=http, max_retries=0
        )
        self.busy = 0


class Wire:
    """All connections to one endpoint, in lanes that are opened as they are needed."""

    def __init__(self, endpoint: Endpoint, options: EndpointOptions) -> None:
        self.endpoint = endpoint
        self.timeout = options.timeout
        self.secret = endpoint.secret
        self.trust = httpx2.create_ssl_context()
        self.lanes = [ClientLane(endpoint, self.timeout, self.trust)]
        headers = headers_for(endpoint, self.lanes[0].client)
        self.options: RequestOptions = {"headers": headers} if headers else {}

    async def ask(self, body: dict[str, object]) -> Reply | Fault:
        """Send one call and read what comes back."""
        content = encode_body(body)
        result = await self._guarded(
            lambda client: client.post(
                "/chat/completions", cast_to=httpx2.Response, content=content, options=self.options
            ),
            self.timeout,
        )
        return result if isinstance(result, Fault) else read_completion(result)

    async def models(self, seconds: float = LIST) -> list[tuple[str, int | None]] | Fault:
        """Return the names of the models that the endpoint lists, with their context lengths."""
        result = await self.get("/models", seconds)
        if isinstance(result, Fault):
            return result
        try:
            rows = [r for r in decode_body(result)["data"] if isinstance(r["id"], str)]
        except (ValueError, TypeError, KeyError):
            return Fault("page", "no list of models")
        lengths = (row.get("max_model_len") for row in rows)
        return [
            (row["id"], length if isinstance(length, int) else None)
            for row, length in zip(rows, lengths, strict=True)
        ]

    async def get(self, address: str, seconds: float = LIST) -> bytes | Fault:
        """Return what the server has at an address, a whole one or the end of the endpoint's."""
        return await self._guarded(
            lambda client: client.get(address, cast_to=httpx2.Response, options=self.options),
            min(self.timeout, seconds),
        )

    async def _guarded(
        self, send: Callable[[openai.AsyncOpenAI], Awaitable[httpx2.Response]], seconds: float
    ) -> bytes | Fault:
        """Return the body of a reply with status 200, our key removed from it, or a fault."""
        lane = self._free_lane()
        lane.busy += 1
        try:
            async with asyncio.timeout(seconds):
                response = await send(lane.client)
        except (TimeoutError, openai.APITimeoutError) as error:
            if isinstance(error.__cause__, httpx2.ConnectTimeout):
                return Fault("away", "no connection in time")
            return Fault("late", f"no answer in {seconds:g} s")
        except openai.APIStatusError as error:
            content = without_key(error.response.content, self.secret)
            return self._clean(read_failure(error.status_code, error.response.headers, content))
        except openai.APIConnectionError as error:
            cause = error.__cause__
            if isinstance(cause, httpx2.ConnectError):
                return Fault("away", str(cause) or "no connection")
            return Fault("again", f"connection broke: {type(cause).__name__}")
        except UnreadableError as error:
            return self._clean(error.fault)
        finally:
            lane.busy -= 1
        return without_key(response.content, self.secret)

    def _clean(self, fault: Fault) -> Fault:
        """Return a fault without our key in what the server said, also in headers."""
        return fault._replace(
            reason=hide_key(fault.reason, self.secret), odd=hide_key(fault.odd, self.secret)
        )

    def _free_lane(self) -> ClientLane:
        for lane in self.lanes:
            if lane.busy < LANE:
                return lane
        self.lanes.append(ClientLane(self.endpoint, self.timeout, self.trust))
        return self.lanes[-1]

    async def close(self) -> None:
        """Close all connections."""
        for lane in self.lanes:
            await lane.client.close()


def without_key(content: bytes, key: str) -> bytes:
    """Remove our key from what a server repeats, before anyone reads it.

    It is looked for in every text of JSON, as whoever reads the reply will see it.
    """
    if not key:
        return content
    # a quotation mark and a backslash are never written plainly
    plain = (rf"\{mark}".encode() in content for mark in '"\\' if mark in key)
    if key.encode() not in content and not any(plain) and SPELLED.search(content) is None:
        return content
    try:
        value = decode_body(content)
        texts = "\0".join(_texts(value))  # no key holds a zero byte
        return (
            json.dumps(_cleaned(value, key)).encode() if hide_key(texts, key) != texts else content
        )
    except RecursionError:  # it can be read, but not written again
        return b"null"
    except ValueError:  # no JSON: a sentence, the page of a gateway
        text = content.decode("utf-8", "surrogateescape")
        return hide_key(text, key).encode("utf-8", "surrogateescape")


def _texts(value: Any) -> list[str]:
    """Return every text of a value of JSON, names of members too."""
    texts: list[str] = []
    todo = [value]
    while todo:
        one = todo.pop()
        if isinstance(one, str):
            texts.append(one)
        elif isinstance(one, dict):
            texts += one
            todo += one.values()
        elif isinstance(one, list):
            todo += one
    return texts


def _cleaned(value: Any, key: str) -> Any:
    """Return a value of JSON without a key in any of its texts."""
    if isinstance(value, str):
        return hide_key(value, key)
    if isinstance(value, dict):
        return {hide_key(name, key): _cleaned(one, key) for name, one in value.items()}
    return [_cleaned(one, key) for one in value] if isinstance(value, list) else value


def headers_for(
    endpoint: Endpoint, client: openai.AsyncOpenAI | openai.OpenAI
) -> dict[str, str | Omit]:
    """Return headers for every call. What the environment holds for OpenAI stays with OpenAI."""
    if endpoint.provider.official:
        return {}
    plain = ("accept", "content-type", "user-agent")
    headers: dict[str, str | Omit] = {
        name: Omit()
        for name in client.default_headers
        if name.lower() not in plain and "stainless" not in name.lower()
    }
    headers["Authorization"] = f"Bearer {endpoint.key}" if endpoint.key else Omit()
    return headers


def encode_body(body: object) -> bytes:
    """Return JSON; half characters, which no encoding holds, are replaced."""
    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError:
        text = json.dumps(body, ensure_ascii=False)
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
