"""Batch files: requests go out in a file and come back within a day, at half the price.

What was sent stands in a small state file before the endpoint is told to begin: a run that is
killed, or stopped for days, finds its batches again, waits for them and pays for nothing twice.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

import httpx2
import msgspec
import openai

from sayso.engines import check_proxies
from sayso.engines.openai.calls import PATIENCE, Asker
from sayso.engines.openai.endpoint import Endpoint, EndpointOptions, safe_line
from sayso.engines.openai.reply import (
    ACCEPTED,
    LARGEST_REPLY,
    Fault,
    Reply,
    UnreadableError,
    choice_records,
    decode_body,
    empty_record,
    error_text,
    mapping,
    read_completion,
    read_error,
)
from sayso.engines.openai.request import request_body
from sayso.engines.openai.wire import PlainClient, encode_body, headers_for, without_key
from sayso.keys import hide_key
from sayso.records import Generation, InputError, Request, content_id, request_key
from sayso.storage.atomic import disk_errors, one_writer, place_inside, refuse_links, replacing

#: what one file may hold: OpenAI's limits, in requests and in bytes, with some room
MOST_LINES, MOST_BYTES = 50_000, 190_000_000
#: bytes of a file that are read when it comes back
LARGEST_FILE = 20_000_000_000
#: bytes a second, below which a file that comes back is given up
SLOWEST = 1_000
#: seconds between two looks at a batch: the first, doubled each time up to the last
FIRST_LOOK, LAST_LOOK = 2.0, 60.0
#: how often an unreadable reply is asked for again: a server without batch files may send such
NONSENSE = 3
#: seconds after which a batch that goes on is told of again
TELL = 600.0
#: seconds that another process may take to send its files
SENDING = 900.0
#: the path of a chat completion, in files
CHAT = "/v1/chat/completions"
#: endpoints keep the files of a batch for 30 days
KEPT = 30 * 86_400.0
#: states of a batch in which it goes no further
ENDED = ("completed", "failed", "expired", "cancelled")
NO_BATCHES = (404, 405, 501)
#: a redirect, which is not followed
REDIRECTS = range(300, 400)


class RefusedError(InputError):
    """The endpoint answered, with ``status``, that it will not do something."""

    def __init__(self, line: str, doing: str, status: int) -> None:
        super().__init__(line)
        self.doing = doing
        self.status = status


class BatchLine(msgspec.Struct, frozen=True, array_like=True):
    """A line of a batch file: its ``custom_id``, the cache keys of its draws, and the place of its
    overrides among those of the batch. A draw that has no answer keeps its place, with key ``""``.
    """

    name: str
    keys: list[str]
    overrides: int


class Batch(msgspec.Struct):
    """A batch as its state file holds it. ``id`` is ``None`` until the endpoint gave it one.

    ``overrides`` are the different ones of its lines.
    """

    digest: str
    begun: float
    lines: list[BatchLine] = []
    overrides: list[list[str]] = []
    file: str | None = None
    id: str | None = None


class BatchStatus(NamedTuple):
    """What a batch is known to be doing."""

    status: str
    counts: tuple[int, int]
    output: str | None
    errors: str | None
    reason: str


class Box:
    """The state files of the batches of one model at one endpoint."""

    def __init__(self, folder: Path, url: str, identity: str) -> None:
        self.folder = place_inside(folder.parent, folder.name, content_id([url, identity])[:16])
        if self.folder.is_dir():
            refuse_links(self.folder)

    def batches(self) -> list[Batch]:
        """Return the batches, without those whose files the endpoint keeps no longer."""
        found = []
        for path in sorted(self.folder.glob("*.json")):
            try:
                batch = msgspec.json.decode(path.read_bytes(), type=Batch)
            except (OSError, msgspec.DecodeError):
                continue  # not ours, or gone meanwhile
            if time.time() - batch.begun > KEPT:
                path.unlink(missing_ok=True)
            else:
                found.append(batch)
        return found

    def save(self, batch: Batch) -> None:
        """Write a batch down; remove one without lines."""
        path = self.folder / f"{batch.digest}.json"
        if not batch.lines:
            path.unlink(missing_ok=True)
            return
        with replacing(path, private=True) as file:
            file.write(msgspec.json.encode(batch))


class Office:
    """The calls about files and batches. Broken ones are repeated; raises InputError."""

    def __init__(self, endpoint: Endpoint, options: EndpointOptions) -> None:
        self.endpoint = endpoint
        self.timeout, self.patience = options.timeout, options.patience or PATIENCE
        check_proxies()
        http = PlainClient(
            headers={"Accept-Encoding": ACCEPTED},
            timeout=httpx2.Timeout(options.timeout, connect=min(options.timeout, 10.0)),
            follow_redirects=False,
        )
        self.client = openai.OpenAI(
            api_key=endpoint.key or "none", base_url=endpoint.url, http_client=http, max_retries=0
        )
        self.headers: Any = headers_for(endpoint, self.client)
        self.secret = endpoint.secret
        self.stop = threading.Event()

    def _patiently(self, do: Callable[[], Any], doing: str) -> Any:
        """Do something as often as needed; what the endpoint refuses is not repeated.

        A reply that says nothing of what was asked for is asked for again ``NONSENSE`` times.
        Raises RefusedError for that, another InputError where nobody knows whether it was done.
        """
        begun, wait, nonsense = time.monotonic(), 0.5, 0
        while True:
            status = 0
            try:
                return do()
            except openai.APIStatusError as error:
                fault = self._fault(error)
                final = error.status_code in (*NO_BATCHES, *REDIRECTS)
                again = fault.kind in ("again", "busy") and not final
                status = 0 if again else error.status_code
            except UnreadableError as error:
                fault, again = error.fault, error.fault.kind == "again"
            except ValueError as error:
                nonsense += 1
                fault, again = Fault("away", f"unreadable reply: {error}"), nonsense <= NONSENSE
            except (openai.APIConnectionError, httpx2.HTTPError) as error:
                cause = error.__cause__ or error
                fault, again = Fault("away", f"{type(cause).__name__}: {cause}"), True
            if status:
                raise RefusedError(self._refusal(fault, doing), doing, status)
            if not again or time.monotonic() - begun + wait > self.patience or self.stop.is_set():
                raise InputError(self._refusal(fault, doing))
            self.stop.wait(max(wait, fault.wait or 0.0))
            wait = min(wait * 2, LAST_LOOK)

    def _fault(self, error: openai.APIStatusError) -> Fault:
        with contextlib.suppress(httpx2.HTTPError):
            error.response.read()
        try:
            content = without_key(error.response.content, self.secret)
            text = error_text(decode_body(content))
        except (ValueError, httpx2.HTTPError):
            text = "no JSON"
        return read_error(error.status_code, error.response.headers, text)

    def _refusal(self, fault: Fault, doing: str) -> str:
        reason = safe_line(fault.reason, self.endpoint.secrets)
        where = f"model {self.endpoint.name!r}: {self.endpoint.url}"
        if fault.reason.removeprefix("status ")[:3] in map(str, NO_BATCHES) and doing == "take":
            return f"{where} does not support batch files ({reason}): leave batch_files out"
        return f"{where} does not {doing} a batch file ({reason}); run the same command again"

    def upload(self, path: Path) -> str:
        """Send a file; return its id."""

        def send() -> str:
            with path.open("rb") as content:
                file = self.client.files.create(
                    file=(path.name, content), purpose="batch", extra_headers=self.headers
                )
            return hide_key(_text(file.id), self.secret)

        return str(self._patiently(send, "take"))

    def begin(self, file: str, digest: str) -> str:
        """Have the endpoint begin with a file; return the id of the batch."""
        body = {
            "input_file_id": file, "endpoint": CHAT,
            "completion_window": "24h", "metadata": {"sayso": digest},
        }  # fmt: skip

        tried = False

        def send() -> str:
            nonlocal tried
            # where a reply was lost, the endpoint may have begun
            if tried and (found := self.find(digest, file)):
                return found
            tried = True
            return _text(self._json("post", "/batches", content=encode_body(body)).get("id"))

        return str(self._patiently(send, "begin"))

    def find(self, digest: str, file: str | None) -> str | None:
        """Return the id of a batch that was begun by a process that did not live to note it."""
        after = ""
        for _ in range(10):
            path = f"/batches?limit=100{after}"
            page = self._patiently(partial(self._json, "get", path), "find")
            rows = [row for row in page.get("data") or [] if isinstance(row, Mapping)]
            for row in rows:
                ours = mapping(row.get("metadata")).get("sayso") == digest
                if ours or (file is not None and row.get("input_file_id") == file):
                    return _text(row.get("id"))
            if not page.get("has_more") or not rows:
                return None
            after = f"&after={_text(rows[-1].get('id'))}"
        return None

    def look(self, batch: str) -> BatchStatus:
        """Return what a batch is doing."""
        row = self._patiently(lambda: self._json("get", f"/batches/{batch}"), "find")
        counts = mapping(row.get("request_counts"))
        done = [n if isinstance(n := counts.get(k), int) else 0 for k in ("completed", "failed")]
        told = mapping(row.get("errors")).get("data")
        first = mapping(told[0]) if isinstance(told, list) and told else {}
        ids = [x if isinstance(x := row.get(k), str) and x else None for k in FILES]
        reason = safe_line(str(first.get("message") or ""), self.endpoint.secrets)
        return BatchStatus(str(row.get("status")), (done[0], done[1]), ids[0], ids[1], reason)

    @contextlib.contextmanager
    def fetched(self, file: str, folder: Path) -> Iterator[tuple[IO[bytes], bool]]:
        """Give a file of the endpoint, and whether more came than is read.

        It has no name in ``folder``, so it is nobody else's and ends with this process.
        """

        def fetch() -> bool:
            copy.seek(0)
            copy.truncate()
            begun = time.monotonic()
            with self.client.files.with_streaming_response.content(
                file, extra_headers=self.headers
            ) as response:
                for part in response.iter_bytes():
                    copy.write(part[: LARGEST_FILE - copy.tell()])
                    seconds = time.monotonic() - begun
                    if seconds > max(self.timeout, copy.tell() / SLOWEST):
                        raise httpx2.ReadTimeout(f"{copy.tell():,} bytes in {seconds:.0f} s")
                    if copy.tell() >= LARGEST_FILE:
                        return True
            return False

        with disk_errors(folder), tempfile.TemporaryFile(dir=folder) as copy:
            more = self._patiently(fetch, "return")
            copy.seek(0)
            yield copy, more

    def _json(self, method: str, path: str, content: bytes | None = None) -> Mapping[str, Any]:
        call: Any = getattr(self.client, method)
        more = {} if content is None else {"content": content}
        response = call(path, cast_to=httpx2.Response, options={"headers": self.headers}, **more)
        value = decode_body(without_key(response.content, self.secret))
        if not isinstance(value, Mapping):
            raise ValueError("JSON that is not a reply")
        return value

    def close(self) -> None:
        """Close the connection."""
        self.client.close()


FILES = ("output_file_id", "error_file_id")


def lines_of(file: IO[bytes], longest: int) -> Iterator[tuple[bytes, bool]]:
    """Yield the lines of a file, of one that is longer its beginning, and whether that is all."""
    while line := file.readline(longest):
        whole = len(line) < longest or line.endswith(b"\n")
        yield line, whole
        rest = b"" if whole else line
        while rest and not rest.endswith(b"\n"):
            rest = file.readline(longest)


def _text(value: object) -> str:
    """Return an id that can stand in an address. Raises ValueError."""
    if isinstance(value, str) and value and all(c.isalnum() or c in "-_." for c in value):
        return value
    raise ValueError("a reply without an id")


# ---- what is sent


def key_of(request: Request, identity: str) -> str:
    """Return the key of a request in the cache, as text."""
    return request_key(request, identity).hex()


class Files:
    """Requests in batch files at one endpoint: sent once, found again, read when they come back.

    The asker's ``tell`` is told how batches go.
    """

    def __init__(self, asker: Asker, identity: str) -> None:
        self.asker = asker
        self.identity = identity
        self.price = None if asker.price is None else asker.price.halved
        self.office = Office(asker.endpoint, asker.options)
        self.box = Box(Path(asker.options.batches or ""), asker.endpoint.url, identity)
        self.told: dict[str, tuple[object, float]] = {}
        self.answered = 0
        #: batches that were begun before are left alone
        self.since = 0.0
        #: when the batch was begun whose answers come now
        self.given: float | None = None
        #: what was sent by this process, and what is to be told of batches that are gone
        self.fresh: set[str] = set()
        self.gone: list[str] = []

    def alone(self) -> contextlib.AbstractContextManager[bool]:
        """Keep other processes from sending the same requests meanwhile."""
        return one_writer(self.box.folder, "sayso: sending batch files", wait=SENDING)

    def recalled(self, keys: Iterable[str]) -> list[Batch]:
        """Return the batches that were sent before and hold some of these keys."""
        wanted, found = set(keys), []
        for batch in self.box.batches():
            if batch.begun < self.since:
                continue
            if not any(key in wanted for line in batch.lines for key in line.keys):
                continue
            if batch.id is None:  # who sent it did not live to note whether the endpoint began
                batch.id = self.office.find(batch.digest, batch.file)
                batch.lines = batch.lines if batch.id else []
                self.box.save(batch)
            if batch.id is not None:
                found.append(batch)
        return found

    def send(self, groups: Iterable[Sequence[tuple[int, Request]]]) -> list[Batch]:
        """Send groups of requests, a group a line, in as many files as it takes."""
        sent, left, more = [], iter(groups), True
        while more and not self.office.stop.is_set():
            batch = Batch(content_id([time.time_ns(), self.identity])[:16], time.time())
            path = self.box.folder / f"{batch.digest}.jsonl"
            with replacing(path, private=True) as file:
                more = self._fill(batch, file, left)
            try:
                if batch.lines and not self.office.stop.is_set():
                    self._begin(batch, path)
                    sent.append(batch)
            finally:
                path.unlink(missing_ok=True)
        return sent

    def _fill(
        self, batch: Batch, file: IO[bytes], groups: Iterator[Sequence[tuple[int, Request]]]
    ) -> bool:
        """Write lines until the file is full, which is ``True``, or nothing is left."""
        places: dict[tuple[str, ...], int] = {}
        size, full = 0, False
        for group in groups:
            requests = [request for _, request in group]
            body, overrides = request_body(
                self.asker.endpoint.model, requests[0], len(requests), self.asker.learned
            )
            keys = [key_of(request, self.identity) for request in requests]
            row = {"custom_id": keys[0], "method": "POST", "url": CHAT, "body": body}
            size += file.write(encode_body(row) + b"\n")
            place = places.setdefault(overrides, len(places))
            batch.lines.append(BatchLine(keys[0], keys, place))
            full = len(batch.lines) >= MOST_LINES or size >= MOST_BYTES
            if full:
                break
        batch.overrides = [list(overrides) for overrides in places]
        return full

    def _begin(self, batch: Batch, path: Path) -> None:
        """Send a file and have the endpoint begin; each step is noted before the next.

        The note stays where nobody knows whether the endpoint began: :meth:`recalled` finds out.
        """
        self.fresh.add(batch.digest)
        begins = False
        try:
            self.box.save(batch)
            batch.file = self.office.upload(path)
            self.box.save(batch)
            begins = True
            batch.id = self.office.begin(batch.file, batch.digest)
        except InputError as error:
            refused = isinstance(error, RefusedError) and error.doing == "begin"
            if refused or not begins:
                batch.lines = []
                self.box.save(batch)
            raise
        self.box.save(batch)
        self.asker.tell(f"batch {batch.id}: {len(batch.lines):,} calls were sent in a file")

    # ---- what comes back

    def answers(
        self, batches: Sequence[Batch], wanted: Mapping[str, Request]
    ) -> Iterator[list[Generation]]:
        """Wait for batches and yield the wanted answers of each line together.

        Ends early when it is stopped; the batches go on.
        """
        waiting, pause = list(batches), FIRST_LOOK
        while waiting:
            for batch in list(waiting):
                assert batch.id is not None
                try:
                    sent = self.office.look(batch.id)
                except RefusedError as error:
                    self._lose(batch, error)
                    waiting.remove(batch)
                    batch.lines = []
                    self.box.save(batch)
                    continue
                self._tell(batch, sent)
                if sent.status in ENDED:
                    waiting.remove(batch)
                    self.given = batch.begun
                    yield from self._read(batch, sent, wanted)
            if waiting and self.office.stop.wait(pause):
                names = ", ".join(str(batch.id) for batch in waiting)
                self.asker.tell(
                    f"batch {names} is still running; run the same command later to collect "
                    "its answers"
                )
                return
            pause = min(2 * pause, LAST_LOOK)

    def _lose(self, batch: Batch, error: RefusedError) -> None:
        """Tell of a batch that is gone; one that was sent just now is an error, or it would be
        paid again and again."""
        if error.status != 404 or batch.digest in self.fresh:
            raise error
        name = f"batch {batch.id}"
        self.gone.append(
            f"the endpoint no longer has {name} or its answers: its calls are sent again"
        )
        self.asker.tell(self.gone[-1])

    def _tell(self, batch: Batch, sent: BatchStatus) -> None:
        """Tell a change of state at once, and counts now and then."""
        now, (done, failed) = time.monotonic(), sent.counts
        before, when = self.told.get(batch.digest, (None, -TELL))
        if sent.status != before or now - when >= TELL:
            self.told[batch.digest] = sent.status, now
            reason = f" ({sent.reason})" if sent.reason else ""
            hours = (time.time() - batch.begun) / 3600
            self.asker.tell(
                f"batch {batch.id}: {safe_line(sent.status, (), 20)}, {done:,} of "
                f"{len(batch.lines):,} calls answered, {failed:,} failed, {hours:.1f} hours "
                f"since it was sent{reason}"
            )

    def _read(
        self, batch: Batch, sent: BatchStatus, wanted: Mapping[str, Request]
    ) -> Iterator[list[Generation]]:
        """Yield the wanted answers of a batch that has ended; keep on record what was answered."""
        open_ = {line.name: line for line in batch.lines}
        kept: list[BatchLine] = []
        longest = LARGEST_REPLY * max((len(line.keys) for line in batch.lines), default=1)
        why = f"{sent.status}: {sent.reason}" if sent.reason else sent.status
        lost, settled, again = False, set[str](), 0
        for file in filter(None, (sent.output, sent.errors)):
            try:
                with self.office.fetched(file, self.box.folder) as (copy, more):
                    why += "; its file is too long to read" if more else ""
                    for raw, whole in lines_of(copy, longest):
                        name, reply = (
                            _returned(raw, self.office.secret) if whole else _cut(raw, longest)
                        )
                        line = open_.pop(name, None)
                        again += name in settled
                        if line is not None:
                            settled.add(name)
                            requests = [wanted.get(key) for key in line.keys]
                            replies = self._settled(line, batch.overrides, requests, reply)
                            kept += _kept(line, reply, replies)
                            yield [r for r in replies if r is not None]
            except RefusedError as error:
                self._lose(batch, error)
                lost = True
        if again:
            self.gone.append(
                f"{again:,} lines of batch {batch.id} answer a request again: the first counts"
            )
            self.asker.tell(self.gone[-1])
        for line in () if lost else open_.values():
            reason = Fault("failed", f"no answer in batch {batch.id} ({why})")
            requests = [wanted.get(key) for key in line.keys]
            replies = self._settled(line, batch.overrides, requests, reason)
            yield [r for r in replies if r is not None]
        batch.lines = kept  # the rest is asked again by whoever wants it
        self.box.save(batch)

    def _settled(
        self,
        line: BatchLine,
        overrides: Sequence[Sequence[str]],
        requests: Sequence[Request | None],
        reply: Reply | Fault,
    ) -> list[Generation | None]:
        """Return the records of a line's draws, ``None`` for those that nobody wants now."""
        one = next((request for request in requests if request is not None), None)
        if one is None:
            return [None] * len(requests)
        if isinstance(reply, Reply) and any(choice.finish == "error" for choice in reply.choices):
            reply = Fault("failed", "the endpoint broke off the answer")
        found: list[Generation] = []
        told = tuple(overrides[line.overrides])
        if isinstance(reply, Reply):
            reply = reply._replace(choices=reply.choices[: len(requests)])
            found = choice_records(
                [request or one for request in requests],
                reply,
                told,
                self.price,
                implicit_thought=self.asker.implicit_thought,
            )
            self.asker.learn_model(reply)
        problem = "failed: the reply contains fewer answers than were asked for"
        if isinstance(reply, Fault):
            problem = self.asker.problem(reply)
        settled: list[Generation | None] = []
        for place, request in enumerate(requests):
            if request is None:
                settled.append(None)
            elif place < len(found):
                self.asker.learn(found[place], told)
                self.answered += 1
                settled.append(found[place])
            else:
                self.asker.counts.failed += 1
                settled.append(empty_record(request, problem))
        return settled


def _kept(
    line: BatchLine, reply: Reply | Fault, replies: Sequence[Generation | None]
) -> list[BatchLine]:
    """Return a line, if any, with the keys of the draws that it answers, each in its place."""
    good = [r is None or r.problem in (None, "truncated") for r in replies]
    keys = [key if ok else "" for key, ok in zip(line.keys, good, strict=True)]
    some = isinstance(reply, Reply) and any(keys)
    return [msgspec.structs.replace(line, keys=keys)] if some else []


class _Response(msgspec.Struct):
    status_code: int = 200
    body: msgspec.Raw = msgspec.Raw(b"null")


class _Out(msgspec.Struct):
    """A line of a file that comes back."""

    custom_id: str
    response: _Response | None = None
    error: msgspec.Raw = msgspec.Raw(b"null")


#: where a line that is not read whole names its request
NAMED = re.compile(rb'"custom_id": ?"(\w{1,200})"')


def _cut(raw: bytes, longest: int) -> tuple[str, Fault]:
    """Return the ``custom_id`` of a line that is too long, and that it has no answer."""
    named = NAMED.search(raw[:2000])
    fault = Fault("failed", f"the line that came back is longer than {longest / 1e6:g} MB")
    return named[1].decode() if named else "", fault


def _returned(raw: bytes, secret: str) -> tuple[str, Reply | Fault]:
    """Read a line that came back: its ``custom_id``, empty for what is no line, and the answer.

    Our key is removed from the answer alone, as a short one may stand in a ``custom_id``.
    """
    try:
        line = msgspec.json.decode(raw, type=_Out)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return "", Fault("failed", "no JSON")
    if line.response is None or bytes(line.error) != b"null":  # a reply beside an error is none
        return line.custom_id, Fault("failed", _error(without_key(bytes(line.error), secret)))
    body = without_key(bytes(line.response.body), secret)
    if 200 <= line.response.status_code < 300:
        return line.custom_id, read_completion(body)
    return line.custom_id, read_error(line.response.status_code, {}, _error(body))


def _error(body: bytes) -> str:
    try:
        return error_text(decode_body(body))
    except ValueError:
        return "no JSON"
