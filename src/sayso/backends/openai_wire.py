"""What goes over the wire: one exchange with an endpoint, and nothing that survives it."""

from __future__ import annotations

import asyncio
import json
import re
import ssl
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import httpx2
import msgspec
import openai
from openai import Omit

from sayso.backends.openai_errors import Fault, read_failure
from sayso.backends.openai_names import Endpoint, Options
from sayso.backends.openai_reply import Reply, read_reply

if TYPE_CHECKING:
    from openai._types import RequestOptions

#: Calls that share one pool of connections. A pool looks at each of its connections whenever a call
#: comes or goes: at 256 in one pool that was half of all CPU time.
LANE = 16
#: how JSON may write characters that need no escape: some servers write "\\/"
ESCAPED = re.compile(rb"\\(?:/|u00[2-7])")
#: the longest wait for a connection and for a list of models, in seconds
CONNECT, LIST = 10.0, 30.0


class Lane:
    """One client with its own connections. It retries nothing and follows no redirect: both are
    decided elsewhere, and a key goes to no other host."""

    def __init__(self, endpoint: Endpoint, timeout: float, trust: ssl.SSLContext) -> None:
        http = openai.DefaultAsyncHttpxClient(
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

    def __init__(self, endpoint: Endpoint, options: Options) -> None:
        self.endpoint = endpoint
        self.timeout = options.timeout
        self.secret = endpoint.key.encode()
        self.trust = httpx2.create_ssl_context()
        self.lanes = [Lane(endpoint, self.timeout, self.trust)]
        headers = headers_for(endpoint, self.lanes[0].client)
        self.options: RequestOptions = {"headers": headers} if headers else {}

    def _lane(self) -> Lane:
        """Return the first lane with room."""
        for lane in self.lanes:
            if lane.busy < LANE:
                return lane
        self.lanes.append(Lane(self.endpoint, self.timeout, self.trust))
        return self.lanes[-1]

    async def ask(self, body: dict[str, object]) -> Reply | Fault:
        """Send one call and read what comes back."""
        content = encode(body)
        found = await self._guarded(
            lambda client: client.post(
                "/chat/completions",
                cast_to=httpx2.Response,
                content=content,
                options=self.options,
            ),
            self.timeout,
        )
        return found if isinstance(found, Fault) else read_reply(found)

    async def models(self) -> list[tuple[str, int | None]] | Fault:
        """Return the names of the models that the endpoint lists, with their context lengths."""
        found = await self._guarded(
            lambda client: client.get("/models", cast_to=httpx2.Response, options=self.options),
            min(self.timeout, LIST),
        )
        if isinstance(found, Fault):
            return found
        try:
            rows = [r for r in msgspec.json.decode(found)["data"] if isinstance(r["id"], str)]
        except (msgspec.DecodeError, UnicodeDecodeError, TypeError, KeyError, RecursionError):
            return Fault("page", "no list of models")
        lengths = (row.get("max_model_len") for row in rows)
        return [
            (row["id"], length if isinstance(length, int) else None)
            for row, length in zip(rows, lengths, strict=True)
        ]

    async def _guarded(
        self, send: Callable[[openai.AsyncOpenAI], Awaitable[httpx2.Response]], seconds: float
    ) -> bytes | Fault:
        """Return the body of a reply with status 200, our key taken out of it, or a fault."""
        lane = self._lane()
        lane.busy += 1
        try:
            async with asyncio.timeout(seconds):
                response = await send(lane.client)
        except (TimeoutError, openai.APITimeoutError) as error:
            if isinstance(error.__cause__, httpx2.ConnectTimeout):
                return Fault("away", "no connection in time")
            return Fault("late", f"no answer in {seconds:g} s")
        except openai.APIStatusError as error:
            return read_failure(
                error.status_code, error.response.headers, self._clean(error.response.content)
            )
        except openai.APIConnectionError as error:
            cause = error.__cause__
            if isinstance(cause, httpx2.ConnectError):
                return Fault("away", str(cause) or "no connection")
            return Fault("again", f"connection broke: {type(cause).__name__}")
        finally:
            lane.busy -= 1
        return self._clean(response.content)

    def _clean(self, content: bytes) -> bytes:
        """Take our key out of what a server repeats, before anybody reads it."""
        if not self.secret:
            return content
        if self.secret not in content and ESCAPED.search(content):
            try:  # written anew, every character that a key may have stands for itself
                plain = msgspec.json.encode(msgspec.json.decode(content))
            except (msgspec.DecodeError, UnicodeError, RecursionError):
                plain = content
            content = plain if self.secret in plain else content
        return content.replace(self.secret, b"[key]")

    async def close(self) -> None:
        """Close all connections."""
        for lane in self.lanes:
            await lane.client.close()


def headers_for(endpoint: Endpoint, client: openai.AsyncOpenAI) -> dict[str, str | Omit]:
    """Return headers for every call. What the environment holds for OpenAI stays with OpenAI."""
    if endpoint.official:
        return {}
    plain = ("accept", "content-type", "user-agent")
    found: dict[str, str | Omit] = {
        name: Omit()
        for name in client.default_headers
        if name.lower() not in plain and "stainless" not in name.lower()
    }
    found["Authorization"] = f"Bearer {endpoint.key}" if endpoint.key else Omit()
    return found


def encode(body: object) -> bytes:
    """Return JSON; half characters, which no encoding holds, are replaced."""
    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError:
        text = json.dumps(body, ensure_ascii=False)
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
