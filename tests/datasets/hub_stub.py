"""A stand-in for the hub on the loopback: repositories of files, served as the hub serves them."""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import PurePosixPath
from urllib.parse import parse_qs, unquote, urlparse

COMMIT = "0123456789abcdef0123456789abcdef01234567"
DAY = "2024-01-02T03:04:05.000Z"

#: repository -> path -> bytes
Repositories = Mapping[str, Mapping[str, bytes]]


def _entry(path: str, data: bytes) -> dict[str, object]:
    return {"type": "file", "path": path, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}


def _folder(path: str) -> dict[str, object]:
    return {"type": "directory", "path": path, "size": 0, "oid": "0" * 40}


def _tree(files: Mapping[str, bytes], under: str, *, deep: bool) -> list[dict[str, object]]:
    found: dict[str, dict[str, object]] = {}
    for path, data in files.items():
        parts = PurePosixPath(path).parts
        for depth in range(1, len(parts) + 1):
            name = "/".join(parts[:depth])
            inside = name.startswith(f"{under}/") if under else True
            near = deep or "/".join(parts[: depth - 1]) == under
            if inside and near:
                found[name] = _entry(path, data) if depth == len(parts) else _folder(name)
    return list(found.values())


@contextlib.contextmanager
def serving(repositories: Repositories) -> Iterator[tuple[str, list[str]]]:
    """Serve repositories; yields the address and the list of what was asked for, which grows."""
    asked: list[str] = []

    class Hub(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _send(self, status: int, body: bytes, **headers: str) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def _json(self, value: object, status: int = 200) -> None:
            self._send(status, json.dumps(value).encode(), Content_Type="application/json")

        def _answer(self) -> None:
            url = urlparse(self.path)
            asked.append(f"{self.command} {url.path}")
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length)
            parts = [unquote(p) for p in url.path.strip("/").split("/")]
            if parts[:2] == ["api", "datasets"]:
                repository, rest = "/".join(parts[2:4]), parts[4:]
            elif parts[0] == "datasets":
                repository, rest = "/".join(parts[1:3]), parts[3:]
            else:
                return self._json({"error": "Not Found"}, 404)
            known = {name.lower(): files for name, files in repositories.items()}
            files = known.get(repository.lower())
            if files is None:
                return self._send(401, b"{}", X_Error_Code="RepoNotFound")
            kind, rest = (rest[0] if rest else "revision"), rest[1:]
            if kind == "revision":
                siblings = [{"rfilename": path} for path in files]
                return self._json(
                    {
                        "id": repository, "sha": COMMIT, "private": False, "gated": False,
                        "disabled": False, "downloads": 0, "likes": 0, "tags": [],
                        "lastModified": DAY, "siblings": siblings,
                    }
                )  # fmt: skip
            if kind == "paths-info":
                wanted = parse_qs(body.decode()).get("paths") or json.loads(body or "{}")
                paths = wanted if isinstance(wanted, list) else wanted.get("paths", [])
                everything = _tree(files, "", deep=True)
                return self._json([e for e in everything if e["path"] in paths])
            if kind == "tree":
                deep = parse_qs(url.query).get("recursive", ["false"])[0].lower() in ("true", "1")
                return self._json(_tree(files, "/".join(rest[1:]), deep=deep))
            data = files.get("/".join(rest[1:])) if kind == "resolve" else None
            if data is None:
                return self._send(404, b"{}", X_Error_Code="EntryNotFound")
            return self._send(
                200, data, ETag=f'"{hashlib.sha1(data).hexdigest()}"', X_Repo_Commit=COMMIT,
                Content_Type="application/octet-stream",
            )  # fmt: skip

        do_GET = do_HEAD = do_POST = _answer  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
