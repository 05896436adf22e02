"""The page on which people label: a server on this machine, for this machine alone.

It listens on the loopback address. Its address holds a random token, made anew at each start. Every
request must name this host and the token; what changes anything must also come from the page itself
(``Origin``). Texts of the run travel as JSON, and the page writes them as text, never as HTML.
A write has a name that the page makes up: sent twice, it counts once. What is refused for
good is 400, with the reason; 409 (of another annotator) and 503 (the store cannot be used now) the
page keeps and sends again; after another refusal it offers the label as a file to import. A write
on an item whose label is another by now is 409 with ``changed``: the page shows that label.

starlette and uvicorn are imported here and nowhere else (``pip install 'sayso[label]'``).
"""

from __future__ import annotations

import hmac
import re
import secrets
import socket
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any, NamedTuple

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from sayso.harmless import line
from sayso.people.guide import GUIDES, REASONS
from sayso.people.labeling import Labeling
from sayso.people.labels import (
    SAID,
    ChangedLabelError,
    LabelStoreError,
    PersonLabel,
    check_annotator,
)
from sayso.records import InputError

HOST = "127.0.0.1"
#: where the page is served, and how many further ports are tried where that one is taken: a page
#: that stays open finds a server that was started again, since its browser keeps what is unsaved
PORT, MOST_PORTS = 8740, 20
#: bytes of a request, and characters of the name of a write
LONGEST_BODY, LONGEST_WRITE = 16_384, 80
KINDS_OF_FILE = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class LabelWrite(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the page sends: a label (``said``), or ``undo``.

    ``on`` names the write by which the item has the label that the page shows, "" if it has none.
    """

    annotator: str
    place: int
    name: str
    on: str = ""
    said: dict[str, str | float] | None = None
    undo: bool = False
    seconds: float | None = None


class LabelServer(NamedTuple):
    """The application, its socket and its address."""

    app: Starlette
    socket: socket.socket
    address: str


def label_server(labeling: Labeling, annotator: str, listening: socket.socket) -> LabelServer:
    """Return a server on a socket of :func:`listen`."""
    number = listening.getsockname()[1]
    token = secrets.token_urlsafe(24)
    app = label_app(labeling, token, number, annotator)
    return LabelServer(app, listening, f"http://{HOST}:{number}/{token}/")


class _Announced(uvicorn.Server):
    """A server that says when it answers, and can be interrupted."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()


def serve(server: LabelServer, ready: Callable[[], None]) -> None:
    """Answer until the process is interrupted, which raises KeyboardInterrupt.

    ``ready`` is called once, when the server answers.
    """
    config = uvicorn.Config(
        server.app,
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=2,
    )
    _Announced(config, ready).run(sockets=[server.socket])


def listen(port: int | None = None) -> socket.socket:
    """Return a socket that listens. Raises InputError for a port that is taken, or is none."""
    wanted = [port] if port is not None else range(PORT, PORT + MOST_PORTS)
    for number in wanted:
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((HOST, number))
            listening.listen(64)
        except (OSError, OverflowError) as error:
            listening.close()
            reason = getattr(error, "strerror", None) or error
        else:
            return listening
    raise InputError(f"--port {wanted[0]}: cannot listen there ({reason}); name another port")


# ---- the application


def label_app(labeling: Labeling, token: str, port: int, annotator: str = "") -> Starlette:
    """Return the application; with ``annotator`` only this person can label."""
    api = _Api(labeling, annotator)
    routes = [
        Route("/{token}/", _file("label.html")),
        *(Route(f"/{{token}}/{name}", _file(name)) for name in ("label.css", "label.js")),
        Route("/{token}/report.css", _file("report.css", "sayso.report", "static")),
        Route("/{token}/api/start", api.start),
        Route("/{token}/api/work", api.work, methods=["POST"]),
        Route("/{token}/api/write", api.write, methods=["POST"]),
    ]
    hosts = {f"{HOST}:{port}", f"localhost:{port}"}

    async def guard(request: Request, call: Callable[[Request], Awaitable[Response]]) -> Response:
        try:
            response = _refused(request, token, hosts) or await call(request)
        except (InputError, msgspec.DecodeError, UnicodeDecodeError, ClientDisconnect) as error:
            response = _told(error)
        response.headers.update(HEADERS)
        return response

    return Starlette(routes=routes, middleware=[Middleware(BaseHTTPMiddleware, dispatch=guard)])


def _refused(request: Request, token: str, hosts: set[str]) -> Response | None:
    """Return the refusal of a request that another page or another host has sent."""
    host = request.headers.get("host", "")
    if host not in hosts or len(request.headers.getlist("host")) > 1:
        return Response("this server answers for its own address only", 403)
    given = request.url.path.split("/")[1] if request.url.path.count("/") > 1 else ""
    if not hmac.compare_digest(given.encode(), token.encode()):
        return Response("unknown address: open the one that sayso label printed", 403)
    site = request.headers.get("sec-fetch-site", "none")
    if request.method in ("GET", "HEAD"):
        embedded = request.headers.get("sec-fetch-mode") in ("no-cors", "cors", "websocket")
        if site in ("cross-site", "same-site") and embedded:
            return Response("only the page itself may read this", 403)
        return None
    if request.headers.get("origin") != f"http://{host}" or site not in ("none", "same-origin"):
        return Response("only the page itself may write", 403)
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    length = request.headers.get("content-length", "")
    short = re.fullmatch(r"[0-9]{1,5}", length) and int(length) <= LONGEST_BODY
    if "transfer-encoding" in request.headers or not length:  # then no length is what it says
        return Response("expected a body with a Content-Length, and no Transfer-Encoding", 411)
    if kind != "application/json" or not short:
        return Response(f"expected JSON of at most {LONGEST_BODY:,} bytes", 415)
    return None


def _file(
    name: str, package: str = "sayso.people", folder: str = "page"
) -> Callable[[Request], Awaitable[Response]]:
    text = (files(package) / folder / name).read_text(encoding="utf-8")
    kind = KINDS_OF_FILE[name.rpartition(".")[2]]

    async def send(request: Request) -> Response:
        return Response(text, media_type=kind)

    return send


class AnotherAnnotatorError(InputError):
    """Somebody labels on a page that is for somebody else."""


class _Api:
    """What the page asks, one request after the other; the application tells what they raise."""

    def __init__(self, labeling: Labeling, annotator: str) -> None:
        self._labeling, self._annotator = labeling, annotator

    async def start(self, request: Request) -> Response:
        """Return the guide, and who labels."""
        labeling = self._labeling
        return _json(
            {
                "design": labeling.design.id,
                "kind": labeling.kind,
                "guide": GUIDES[labeling.kind],
                "reasons": REASONS,
                "annotator": self._annotator,
                "annotators": [] if self._annotator else labeling.store.annotators(),
            }
        )

    async def work(self, request: Request) -> Response:
        """Return the items of an annotator, and what was said of them."""
        body = msgspec.json.decode(await request.body(), type=_Who)
        name = self._allowed(body.annotator)
        items = self._labeling.work(name)
        names = self._labeling.store.names(name)  # first: what it does not name yet is newer
        said = self._labeling.said(name)
        return _json(
            {
                "annotator": name,
                "items": [
                    {
                        "place": one.place,
                        "item": one.item._asdict() | {"shown": one.shown.of},
                        "shown": one.shown,
                    }
                    for one in items
                ],
                "said": [
                    _said(place, one) | {"name": names.get(one.item, "")} for place, one in said
                ],
            }
        )

    async def write(self, request: Request) -> Response:
        """Store a label, or take one back."""
        body = msgspec.json.decode(await request.body(), type=LabelWrite)
        name = self._allowed(body.annotator)
        if not 0 < len(body.name) <= LONGEST_WRITE:
            raise InputError("a write needs a name")
        if body.undo:
            new = self._labeling.undo(name, body.place, body.name, body.on)
        else:
            new = self._labeling.label(
                name, body.place, body.said or {}, seconds=body.seconds, name=body.name,
                on=body.on,
            )  # fmt: skip
        return _json({"stored": True, "new": new})

    def _allowed(self, annotator: str) -> str:
        known = [self._annotator] if self._annotator else self._labeling.store.annotators()
        name = check_annotator(annotator, known)
        if self._annotator not in ("", name):
            raise AnotherAnnotatorError(
                f"this page is for {self._annotator}; start another for {name}"
            )
        return name


class _Who(msgspec.Struct, frozen=True):
    annotator: str


def _said(place: int, label: PersonLabel) -> dict[str, Any]:
    verdict = label.verdict
    content = verdict.content if label.verdict.stance else None
    values = (verdict.stance, content, verdict.label, verdict.number, label.skipped)
    said = {name: one for name, one in zip(SAID, values, strict=True) if one not in (None, "")}
    return {"place": place, "said": said, "seconds": label.seconds}


def _told(error: Exception) -> Response:
    """Return an error, with the status by which the page knows whether to keep what it sent."""
    if isinstance(error, ChangedLabelError):
        return _json({"error": str(error), "changed": True}, 409)
    status = 409 if isinstance(error, AnotherAnnotatorError) else 400
    status = 503 if isinstance(error, LabelStoreError) else status
    return _json({"error": line(str(error), 300)}, status)


def _json(value: object, status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status, media_type="application/json")
