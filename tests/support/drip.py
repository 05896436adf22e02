"""A server whose replies never end: headers, then a blank now and then."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def dripping(pause: float = 0.05) -> Iterator[str]:
    """Yield the address of a server that answers every request like this."""
    ended = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "9000000")
            self.end_headers()
            try:
                while not ended.is_set():
                    self.wfile.write(b" ")
                    self.wfile.flush()
                    ended.wait(pause)  # a test may have taken the time out of sleep
            except OSError:
                pass

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        ended.set()
        server.shutdown()
        server.server_close()
