"""An endpoint on loopback whose replies a test writes."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@contextmanager
def endpoint(
    say: Callable[[dict[str, Any]], str | tuple[dict[str, str], dict[str, int]]],
    logprob: Callable[[dict[str, Any]], float] | None = None,
    others: Sequence[tuple[str, float]] = (),
) -> Iterator[str]:
    """Serve a model that answers with ``say`` of a request's body, and return its address.

    What it says is a text, or the fields of a message and its usage. With ``logprob`` each word of
    the answer is a token of the log-probability that it returns, at the place of which ``others``
    are the likeliest tokens. It knows OpenAI's Responses API too, where a text is all it says.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            said = say(body)
            if self.path.endswith("/responses"):
                self._send(_response(body, said))
                return
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            fields, usage = ({"content": said}, usage) if isinstance(said, str) else said
            message = {"role": "assistant", **fields}
            choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": "stop"}
            if logprob is not None and body.get("logprobs"):
                words = re.findall(r"\s*\S+", message["content"])
                value = logprob(body)
                tops = [
                    {"token": t, "logprob": p} for t, p in others[: body.get("top_logprobs", 0)]
                ]
                tokens = [{"token": word, "logprob": value, "top_logprobs": tops} for word in words]
                choice["logprobs"] = {"content": tokens}
            self._send(
                {"id": "1", "object": "chat.completion", "created": 0, "model": "m",
                 "choices": [choice], "usage": usage}
            )  # fmt: skip

        def _send(self, value: object) -> None:
            sent = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: object) -> None:
            pass

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=running.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{running.server_port}/v1"
    finally:
        running.shutdown()
        running.server_close()
        thread.join()


def _response(body: dict[str, Any], text: object) -> dict[str, Any]:
    """Return an answer of OpenAI's Responses API, after a thought that it sums up."""
    written = {"type": "output_text", "text": text, "annotations": []}
    return {
        "id": "r", "object": "response", "created_at": 0, "model": body["model"], "tools": [],
        "status": "completed", "parallel_tool_calls": False, "tool_choice": "auto",
        "output": [
            {"type": "reasoning", "id": "t", "summary": [{"type": "summary_text", "text": "Hm."}]},
            {"type": "message", "id": "m", "role": "assistant", "status": "completed",
             "content": [written]},
        ],
        "usage": {
            "input_tokens": 5, "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 20, "output_tokens_details": {"reasoning_tokens": 16},
            "total_tokens": 25,
        },
    }  # fmt: skip
