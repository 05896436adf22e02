"""What runs inside Ray's actors: a model of ours, and the shard that keeps its replies.

Ray repeats a batch whose actor died, without end: a batch runs at least once. So an actor writes
each reply under its content key into a shard of its own as it comes, looks into all shards before
it asks anything, and notes which rows it is working on. A row that stands in the notes of three
actors that died is not tried again.
"""

from __future__ import annotations

import contextlib
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from sayso.engines import open_model
from sayso.engines.engine import Counts, Engine
from sayso.records import Generation, InputError, Request, request_key
from sayso.storage.cache import Cache, ReplyOrigin, StoredReply, decode_reply, encode_reply, unbind
from sayso.version import __version__

#: so many actors may die over a row
DEATHS = 3
GIVEN_UP = f"failed: {DEATHS} workers ended while they answered it"


class ActorTask(msgspec.Struct, frozen=True, omit_defaults=True):
    """One row: a prompt with its draws; or given texts to read, with the arrays wanted of them."""

    requests: tuple[Request, ...]
    given: tuple[str | tuple[int, ...], ...] = ()
    want: tuple[str, ...] = ()


class ActorReport(msgspec.Struct, frozen=True):
    """What an actor's model did for a batch, and what it has to say by now."""

    actor: str
    counts: Counts
    notices: tuple[str, ...] = ()
    draws_vary: bool | None = None


class Ledger:
    """What the actors of one data set have answered, and what they are working on, in a folder.

    Each actor has a shard, ``NAME.sqlite``, and while it works on a batch a note of the rows in it,
    ``NAME.rows``. A note that nobody removed is that of an actor that died.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = uuid.uuid4().hex[:12]
        self.own: Cache | None = None
        self.shards: dict[Path, Cache] = {}

    @property
    def _note(self) -> Path:
        return self.folder / f"{self.name}.rows"

    def known(self, keys: Sequence[bytes]) -> dict[bytes, Generation]:
        """Return the replies that any actor has stored."""
        return {key: stored.reply for key, stored in self.stored(keys).items()}

    def stored(self, keys: Sequence[bytes], since: float | None = None) -> dict[bytes, StoredReply]:
        """Return the replies that any actor has stored, since a time if one is given."""
        found: dict[bytes, StoredReply] = {}
        for path in sorted(self.folder.glob("*.sqlite")):
            left = [key for key in keys if key not in found]
            if not left:
                break
            some = self._shard(path).get_stored(left)
            found |= {key: one for key, one in some.items() if not one.before(since)}
        return found

    def keys(self) -> set[bytes]:
        """Return the keys of all replies that are stored."""
        found: set[bytes] = set()
        for path in self.folder.glob("*.sqlite"):
            found.update(self._shard(path).keys())
        return found

    def _shard(self, path: Path) -> Cache:
        if path.stem == self.name and self.own is not None:
            return self.own
        if path not in self.shards:
            self.shards[path] = Cache(path)
        return self.shards[path]

    def keep(self, replies: Mapping[bytes, Generation]) -> None:
        """Store replies, all of them or none."""
        if self.own is None:
            self.own = Cache(self.folder / f"{self.name}.sqlite")
        self.own.put_together(replies, ReplyOrigin(time.time()))

    def deaths(self) -> Counter[str]:
        """Return how many other actors have each row in their notes."""
        found: Counter[str] = Counter()
        for path in self.folder.glob("*.rows"):
            if path != self._note:
                with contextlib.suppress(OSError):  # its batch has just ended
                    found.update(set(path.read_text(encoding="ascii").split()))
        return found

    @contextlib.contextmanager
    def working_on(self, rows: Sequence[str]) -> Iterator[None]:
        """Note the rows that are worked on; commit their replies at the end."""
        self._note.write_text("\n".join(rows), encoding="ascii")
        yield
        if self.own is not None:
            self.own.commit()
        self._note.unlink(missing_ok=True)

    def close(self) -> None:
        """Close all shards."""
        for shard in (self.own, *self.shards.values()):
            if shard is not None:
                shard.close()


class Worker:
    """An actor's model: answers batches of rows, each a :class:`ActorTask`.

    ``identity`` is what the model must be. What is wrong with the model is no exception, which Ray
    would wrap in pages: it stands in the batches.
    """

    def __init__(
        self,
        model: str,
        options: Mapping[str, object],
        identity: str,
        folder: str,
        version: str = __version__,
    ) -> None:
        self.ledger = Ledger(Path(folder))
        self.problem = other_version(version)
        self.counted = Counts()
        if self.problem:
            return
        try:
            self.engine: Engine = open_model(model, **options)
        except InputError as error:
            self.problem = str(error)
            return
        if self.engine.identity != identity:
            self.problem = (
                f"{model} is a different model on Ray's machines ({self.engine.identity[:40]}) "
                f"than here ({identity[:40]}): give all machines the same files, --device and "
                "--set dtype=NAME"
            )

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Answer the rows of a table with columns ``row`` and ``task``.

        Returns ``row``, ``replies`` (a list of stored replies), ``told`` (once a batch,
        :class:`ActorReport`) and ``problem`` (why nothing was done).
        """
        rows = batch.column("row").to_pylist()
        tasks = [
            msgspec.json.decode(data, type=ActorTask) for data in batch.column("task").to_pylist()
        ]
        replies: list[list[Generation]] = [[] for _ in tasks]
        if not self.problem:
            try:
                replies = self.answer(tasks)
            except InputError as error:
                self.problem = str(error)
        told = [msgspec.json.encode(self._told()), *[b""] * (len(rows) - 1)]
        stored = [
            msgspec.msgpack.encode([encode_reply(unbind(r)) for r in some]) for some in replies
        ]
        return pa.table(
            {
                "row": pa.array(rows, pa.int64()),
                "replies": pa.array(stored, pa.binary()),
                "told": pa.array(told, pa.binary()),
                "problem": pa.array([self.problem] * len(rows), pa.string()),
            }
        )

    def _told(self) -> ActorReport:
        """Return what the model did since the last batch."""
        if not hasattr(self, "engine"):
            return ActorReport(self.ledger.name, Counts())
        now = msgspec.structs.replace(self.engine.counts)
        fields = Counts.__struct_fields__
        new = Counts(**{name: getattr(now, name) - getattr(self.counted, name) for name in fields})
        self.counted = now
        notices = tuple(str(text) for text in getattr(self.engine, "notices", ()))
        return ActorReport(self.ledger.name, new, notices, self.engine.capabilities.draws_vary)

    def answer(self, tasks: Sequence[ActorTask]) -> list[list[Generation]]:
        """Return the replies of each task: what is in a shard, and the model's own.

        Rows over which an actor died run alone, so that only the one that did it dies of it again.
        """
        keys = [[request_key(r, self.engine.identity) for r in task.requests] for task in tasks]
        asked = [
            key for task, some in zip(tasks, keys, strict=True) if not task.given for key in some
        ]
        known = self.ledger.known(asked)
        deaths = self.ledger.deaths()
        names = [row_name(task, self.engine.identity) for task in tasks]
        open_ = [
            n for n, task in enumerate(tasks) if task.given or any(k not in known for k in keys[n])
        ]
        alone = [n for n in open_ if 0 < deaths[names[n]] < DEATHS]
        together = [n for n in open_ if not deaths[names[n]]]
        done: dict[int, list[Generation]] = {}
        for group in ([together] if together else []) + [[n] for n in alone]:
            with self.ledger.working_on([names[n] for n in group]):
                done |= self._run({n: tasks[n] for n in group}, keys, known)
        return [
            done.get(n)
            or [
                known.get(key) or Generation(request, problem=GIVEN_UP)
                for key, request in zip(keys[n], task.requests, strict=True)
            ]
            for n, task in enumerate(tasks)
        ]

    def _run(
        self,
        tasks: Mapping[int, ActorTask],
        keys: Sequence[Sequence[bytes]],
        known: Mapping[bytes, Generation],
    ) -> dict[int, list[Generation]]:
        """Answer or read what some tasks lack, by their numbers.

        Draws that came in one call are stored together: an endpoint gives others where only some of
        them are asked for again.
        """
        found: dict[int, dict[int, Generation]] = {n: {} for n in tasks}
        todo: list[tuple[int, int, Request]] = []
        wanted: dict[tuple[str, ...], list[tuple[int, int]]] = {}
        for n, task in tasks.items():
            for at, request in enumerate(task.requests):
                if task.given:
                    wanted.setdefault(task.want, []).append((n, at))
                elif keys[n][at] in known:
                    found[n][at] = known[keys[n][at]]
                else:
                    todo.append((n, at, request))
        fresh: dict[bytes, Generation] = {}
        for index, reply in self.engine.complete(request for _, _, request in todo):
            n, at, _ = todo[index]
            found[n][at] = fresh[keys[n][at]] = reply
            if getattr(self.engine, "whole", True):
                self.ledger.keep(fresh)
                fresh.clear()
        for want, places in wanted.items():
            items = [(tasks[n].requests[at], tasks[n].given[at]) for n, at in places]
            for index, reply in self.engine.force(items, want):
                n, at = places[index]
                found[n][at] = reply
        missing = "failed: no answer"
        return {
            n: [
                found[n].get(at) or Generation(request, problem=missing)
                for at, request in enumerate(tasks[n].requests)
            ]
            for n in tasks
        }

    def __del__(self) -> None:
        """Store what waits, where Ray ends an actor in order."""
        with contextlib.suppress(Exception):
            self.ledger.close()


def other_version(version: str) -> str:
    """Return why an actor cannot work for a command of another version; "" for the same one."""
    if version == __version__:
        return ""
    return (
        f"a machine of the cluster has sayso {__version__}, and this one {version}: install the "
        "same everywhere"
    )


def row_name(task: ActorTask, identity: str) -> str:
    """Return the name of a row in notes: that of its first request, and of what is read."""
    first = request_key(task.requests[0], identity).hex()
    return f"{first}{'-read' if task.given else ''}"


def replies_in(data: bytes) -> list[Generation]:
    """Return the replies of a row. Raises InputError for what is none."""
    found = [decode_reply(item) for item in msgspec.msgpack.decode(data, type=list[bytes])]
    if any(reply is None for reply in found):
        raise InputError("a worker's reply was damaged; run the same command to ask again")
    return [reply for reply in found if reply is not None]


def describe_failure(error: Any) -> str:
    """Return one line of Ray's pages."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1] if lines else ''}"[:300]
