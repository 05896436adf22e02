"""A loopback server with batch files, besides what :mod:`bad_server` does."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from bad_server import BadServer, Body, _asked, _error, _json


class BatchServer(BadServer):
    """Takes files and batches. A batch is done after ``looks`` looks at it; ``fates`` names what
    becomes of a batch (``"completed"``, ``"expired"`` after half of it, ``"failed"``), and
    ``wrong`` what becomes of the lines whose question holds a word.
    """

    def __init__(self, plan: Any = None, **switches: Any) -> None:
        self.looks = 1
        self.fates: list[str] = []
        self.wrong: dict[str, Body] = {}
        self.batchless = False
        #: what it says of every file instead, and how often it was asked
        self.babble: Body | None = None
        self.uploads = 0
        self.refused = False
        #: how many lines come back twice
        self.twice = 0
        #: what is lost on its way back: "create" breaks off the reply to the next batch
        self.lost = ""
        #: the batches and files that it has no longer
        self.gone: set[str] = set()
        super().__init__(plan, **switches)
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, Body] = {}
        self.billed: list[str] = []
        self.billed_bodies: Counter[str] = Counter()

    def reply(self, method: str, path: str, headers: dict[str, str], raw: bytes) -> tuple[Any, ...]:
        place = path.removeprefix("/v1/").partition("?")[0]
        if place.split("/")[0] not in ("files", "batches"):
            return super().reply(method, path, headers, raw)
        if self.key and headers.get("authorization") != f"Bearer {self.key}":
            return 0, 401, {}, _error("Incorrect API key provided", "invalid_api_key"), ""
        if self.batchless:
            return 0, 404, {}, _json({"detail": "Not Found"}), ""
        if place.partition("/")[2].partition("/")[0] in self.gone:
            return 0, 404, {}, _error("No such object", "invalid_request_error"), ""
        if (method, place) == ("POST", "files"):
            self.uploads += 1
            if self.babble is not None:
                return 0, 200, {}, _json(self.babble), ""
            return 0, 200, {}, _json({"id": self.keep(_part(headers, raw)), "object": "file"}), ""
        if place.startswith("files/"):
            return 0, 200, {}, self.files[place.split("/")[1]], ""
        if (method, place) == ("POST", "batches"):
            if self.refused:
                return 0, 400, {}, _error("Billing limit", "billing_hard_limit_reached"), ""
            batch = self.begin(json.loads(raw))
            lost, self.lost = self.lost, ""
            return 0, 200, {}, _json(batch), "cut" if lost == "create" else ""
        if place == "batches":
            rows = list(self.batches.values())[::-1]
            return 0, 200, {}, _json({"data": rows, "has_more": False}), ""
        return 0, 200, {}, _json(self.looked_at(place.split("/")[1])), ""

    def keep(self, content: bytes) -> str:
        self.files[f"file-{len(self.files)}"] = content
        return f"file-{len(self.files) - 1}"

    def begin(self, told: Body) -> Body:
        name = f"batch_{len(self.batches)}"
        lines = [json.loads(line) for line in self.files[told["input_file_id"]].splitlines()]
        assert told["endpoint"] == "/v1/chat/completions"
        assert len({line["custom_id"] for line in lines}) == len(lines)
        assert {(line["method"], line["url"]) for line in lines} == {("POST", told["endpoint"])}
        self.batches[name] = {
            **told, "id": name, "object": "batch", "status": "validating", "looks": 0,
            "fate": self.fates.pop(0) if self.fates else "completed",
            "request_counts": {"total": len(lines), "completed": 0, "failed": 0},
        }  # fmt: skip
        return self.batches[name]

    def looked_at(self, name: str) -> Body:
        batch = self.batches[name]
        batch["looks"] += 1
        if batch["status"] in ("validating", "in_progress"):
            batch["status"] = "in_progress"
            if batch["looks"] > self.looks:
                self.finish(batch)
        return batch

    def finish(self, batch: Body) -> None:
        batch["status"] = batch["fate"]
        if batch["fate"] == "failed":
            batch["errors"] = {"data": [{"message": "Enqueued token limit reached"}]}
            return
        lines = [json.loads(li) for li in self.files[batch["input_file_id"]].splitlines()]
        good: list[Body] = []
        bad: list[Body] = []
        for number, line in enumerate(lines):
            row: Body = {"id": f"r{number}", "custom_id": line["custom_id"], "error": None}
            if batch["fate"] == "expired" and number >= len(lines) // 2:
                error = {"code": "batch_expired", "message": "This request could not be executed"}
                bad.append({**row, "response": None, "error": error})
                continue
            question = line["body"]["messages"][-1]["content"]
            wrong = next((r for word, r in self.wrong.items() if word in question), None)
            if wrong is not None:
                bad.append({**row, "response": wrong, "error": wrong.get("beside")})
                continue
            self.billed.append(line["custom_id"])
            self.billed_bodies[_asked(line["body"])] += 1
            words = len(question.split())
            body = json.loads(self.good(line["body"], words, 10**6, "ok"))
            good.append({**row, "response": {"status_code": 200, "body": body}})
        good += good[: self.twice]
        good.reverse()  # in any order
        for rows, name in ((good, "output_file_id"), (bad, "error_file_id")):
            if rows:
                batch[name] = self.keep(b"\n".join(map(_json, rows)) + b"\n")
        batch["request_counts"] |= {"completed": len(good), "failed": len(bad)}


def _part(headers: dict[str, str], raw: bytes) -> bytes:
    """Return the file of a form."""
    found = re.search(r'boundary="?([^";]+)', headers["content-type"])
    assert found is not None
    for part in raw.split(b"--" + found[1].encode()):
        head, _, content = part.partition(b"\r\n\r\n")
        if b'name="file"' in head:
            return content.removesuffix(b"\r\n")
    raise AssertionError("no file")
