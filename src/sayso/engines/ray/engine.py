"""An engine whose requests Ray's actors answer, each with a model of its own.

Ray Data hands rows to actors and repeats what is lost; what was answered is kept by us
(:mod:`sayso.engines.ray.worker`). A row is one prompt with all its draws, so that they share its
prefix, and draws depend on their own seed only: it does not matter which actor gives them. Starting
takes seconds, so this engine wants everything that is to be asked at once (``asks_ahead``).
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import socket
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa

from sayso.engines.engine import Capabilities, Counts, Engine, EngineWrapper
from sayso.engines.ray.worker import (
    ActorReport,
    ActorTask,
    Ledger,
    Worker,
    describe_failure,
    replies_in,
)
from sayso.records import Generation, InputError, Request, request_key
from sayso.storage.atomic import make_private, one_writer, place_inside
from sayso.storage.cache import StoredReply
from sayso.version import __version__

#: requests in a batch, and batches that each actor should at least get
BATCH, ROUNDS = 256, 2
#: bytes that Ray may keep in shared memory on this machine
OBJECTS = 256_000_000


class RaySettings(NamedTuple):
    """Where actors run and how many there are.

    ``address``: "" is RAY_ADDRESS, else a Ray of this command's own on this machine. ``actors``:
    ``None`` is one for each GPU, else one for each machine. ``folder`` holds the shards: on a
    cluster one that all machines see, or what a killed command had not fetched is asked again.
    """

    folder: Path
    address: str = ""
    actors: int | None = None


class RayEngine(EngineWrapper):
    """A model in Ray's actors (see :class:`sayso.engines.engine.Engine`).

    It is around the same model here, without weights, which says what the model is: the cache does
    not know who answered. ``tell`` is told what is taken over from a command that was stopped.
    """

    asks_ahead = True

    def __init__(
        self, engine: Engine, model: str, options: Mapping[str, object], settings: RaySettings
    ) -> None:
        super().__init__(engine)
        self.base_name = str(getattr(engine, "base_name", ""))
        self.base_run = str(getattr(engine, "base_run", ""))
        self.model = model
        self.options = dict(options)
        self.settings = settings
        self._counts = Counts()
        self.actors = 0
        self.started = False
        self._open = contextlib.ExitStack()
        self._folder: Path | None = None
        self._whole = True
        self._left: dict[Path, set[bytes]] = {}
        self._held = False
        self._told: dict[str, tuple[str, ...]] = {}
        self._taken_over = 0
        #: answers that stopped commands left are used if they were given since then
        self.since: float | None = None
        #: when the newest answer was given; ``None``: just now
        self.given: float | None = None
        self._draws_vary: bool | None = None
        self.tell: Callable[[str], None] = lambda text: None

    @property
    def counts(self) -> Counts:
        """What the actors did."""
        return self._counts

    @property
    def capabilities(self) -> Capabilities:
        """What the model can do; hidden states are not brought here."""
        known = self.engine.capabilities
        vary = known.draws_vary if self._draws_vary is None else self._draws_vary
        return msgspec.structs.replace(known, hidden=False, draws_vary=vary)

    @property
    def device(self) -> str:
        """Where it computes."""
        where = self.settings.address or os.environ.get("RAY_ADDRESS") or "this machine"
        return f"Ray, {self.actors} actors, {where}" if self.actors else f"Ray, {where}"

    @property
    def card(self) -> str:
        """What a file of the model says of it."""
        return str(getattr(self.engine, "card", ""))

    @property
    def notices(self) -> list[str]:
        """What the model has to say, here and in the actors."""
        own = [str(text) for text in getattr(self.engine, "notices", ())]
        several = len(self._told) > 1
        for number, told in enumerate(self._told.values(), 1):
            for text in told:
                everywhere = all(text in other for other in self._told.values())
                own.append(text if everywhere or not several else f"{text} (actor {number})")
        if self._taken_over:
            own.append(f"{self._taken_over:,} answers reused from a command that was stopped")
        return list(dict.fromkeys(own))

    def hold(self) -> int:
        """Take no further batches; what actors have begun is in their shards."""
        self._held = True
        return 0

    def complete(self, requests: Iterable[Request]) -> Iterator[tuple[int, Generation]]:
        """Answer requests, all in one data set, in order of completion."""
        wanted = list(requests)
        self.counts.requests += len(wanted)
        keys = [request_key(request, self.identity) for request in wanted]
        found = self._leftovers(keys)
        if found:
            self._taken_over += len(found)
            self.tell(
                f"{len(found):,} of {len(set(keys)):,} answers are reused from a command that was "
                "stopped"
            )
        for index, key in enumerate(keys):
            if key in found:
                reply, origin = found[key]
                self.given = origin.given if origin else None
                yield index, msgspec.structs.replace(reply, request=wanted[index])
        self.given = None
        for left in self._left.values():
            left.difference_update(found)  # whoever took them has them now
        rows: dict[Request, list[int]] = {}
        for index, request in enumerate(wanted):
            if keys[index] not in found:
                rows.setdefault(msgspec.structs.replace(request, sample=0), []).append(index)
        places = list(rows.values())
        tasks = [ActorTask(tuple(wanted[index] for index in some)) for some in places]
        yield from self._answered(tasks, places)

    def force(
        self, items: Sequence[tuple[Request, str | Sequence[int]]], want: Sequence[str]
    ) -> Iterator[tuple[int, Generation]]:
        """Read given continuations, all in one data set; those of a prompt stand in one row."""
        rows: dict[Request, list[int]] = {}
        for index, (request, _) in enumerate(items):
            rows.setdefault(msgspec.structs.replace(request, sample=0), []).append(index)
        places = list(rows.values())
        tasks = [
            ActorTask(
                tuple(items[index][0] for index in some),
                tuple(
                    given if isinstance(given := items[index][1], str) else tuple(map(int, given))
                    for index in some
                ),
                tuple(want),
            )
            for some in places
        ]
        yield from self._answered(tasks, places)

    def _answered(
        self, tasks: Sequence[ActorTask], places: Sequence[Sequence[int]]
    ) -> Iterator[tuple[int, Generation]]:
        """Yield the replies of each task at its places."""
        for row, replies in self._run(tasks):
            requests = tasks[row].requests
            for index, request, reply in zip(places[row], requests, replies, strict=True):
                yield index, msgspec.structs.replace(reply, request=request)

    def _run(self, tasks: Sequence[ActorTask]) -> Iterator[tuple[int, list[Generation]]]:
        """Run a data set of rows; yield each row's number and replies as they come."""
        if not tasks:
            return
        import ray
        import ray.data

        self._start()
        share = self._share(ray)
        data = pa.table(
            {
                "row": pa.array(range(len(tasks)), pa.int64()),
                "task": pa.array([msgspec.json.encode(task) for task in tasks], pa.binary()),
            }
        )
        draws = max(1, sum(len(task.requests) for task in tasks) // len(tasks))
        size = max(1, min(BATCH // draws, -(-len(tasks) // (self.actors * ROUNDS))))
        parts = [data.slice(at, size) for at in range(0, len(tasks), size)]
        answered = ray.data.from_arrow(parts).map_batches(
            Worker,
            fn_constructor_args=(
                self.model, {**self.options, **share.options}, self.identity, str(self._folder),
                __version__,
            ),
            batch_size=size,
            batch_format="pyarrow",
            compute=ray.data.ActorPoolStrategy(size=min(self.actors, len(parts))),
            num_cpus=share.cpus,
            num_gpus=share.gpus,
        )  # fmt: skip
        self._whole = False
        try:
            for batch in answered.iter_batches(batch_size=None, batch_format="pyarrow"):
                yield from self._rows(batch)
                if self._held:
                    return  # the shards stay
        except ray.exceptions.RayError as error:
            raise InputError(
                f"Ray ended before all requests were answered ({describe_failure(error)}); what "
                "was answered "
                "is kept; run the same command to resume"
            ) from None
        self._whole = True

    def _rows(self, batch: pa.Table) -> Iterator[tuple[int, list[Generation]]]:
        """Yield the rows of a batch. Raises InputError for what would be so in every batch."""
        for row, replies, told, problem in zip(
            *(batch.column(name).to_pylist() for name in ("row", "replies", "told", "problem")),
            strict=True,
        ):
            if problem:
                raise InputError(problem)
            if told:
                self._learn(msgspec.json.decode(told, type=ActorReport))
            yield row, replies_in(replies)

    def _learn(self, told: ActorReport) -> None:
        """Add up what an actor did, and keep what it had to say."""
        for name in Counts.__struct_fields__:
            if name != "requests":  # counted here already
                before = getattr(self.counts, name)
                setattr(self.counts, name, before + getattr(told.counts, name))
        self._told[told.actor] = told.notices
        if told.draws_vary is not None:
            self._draws_vary = self._draws_vary or told.draws_vary

    # ---- Ray itself

    def _start(self) -> None:
        """Connect to Ray, or start one here, and make the folder of shards.

        The folder is this command's, and locked as long as it lives.
        """
        if self._folder is None:
            folder = self._shards / uuid.uuid4().hex[:12]
            make_private(self._shards)
            self._open.enter_context(one_writer(folder, "sayso --set engine=ray"))
            self._folder = folder
        self.started |= connect_ray(self.settings.address)

    def _share(self, ray: Any) -> ActorShare:
        """Return what each actor gets of the cluster."""
        here = self.options.get("device") == "cpu" or self.identity.startswith("api:")
        threads = not self.identity.startswith(("api:", "vllm|"))
        share = actor_share(ray, self.settings.actors, gpus=not here, threads=threads)
        self.actors = share.actors
        return share

    # ---- folders of shards

    @property
    def _shards(self) -> Path:
        return place_inside(self.settings.folder, "ray")

    def _leftovers(self, keys: Sequence[bytes]) -> dict[bytes, StoredReply]:
        """Return replies that commands left that were killed, of this model or of others."""
        found: dict[bytes, StoredReply] = {}
        for folder in sorted(self._shards.glob("*/")):
            left = [key for key in keys if key not in found]
            if folder == self._folder or folder.is_symlink() or not left:
                continue
            try:
                with (
                    one_writer(folder, "sayso --set engine=ray"),
                    contextlib.closing(Ledger(folder)) as ledger,
                ):
                    some = ledger.stored(left, self.since)
                    self._left.setdefault(folder, ledger.keys())
            except InputError:  # its command is still running
                continue
            found |= some
        return found

    def close(self) -> None:
        """End the actors, and Ray if it was started here; drop shards that were fetched whole."""
        self.engine.close()
        if self.started:
            import ray

            ray.shutdown()
            self.started = False
        fetched = [folder for folder, left in self._left.items() if not left]
        if self._folder is not None and self._whole:
            fetched.append(self._folder)
        for folder in fetched:
            shutil.rmtree(folder, ignore_errors=True)
        self._open.close()
        self._folder, self._left = None, {}


def connect_ray(address: str) -> bool:
    """Connect to Ray, or start one here; return whether that was still to be done. InputError."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nobody is told what is run
    import ray
    import ray.data

    address = address or os.environ.get("RAY_ADDRESS", "")
    new = not ray.is_initialized()
    if new:
        check_listening(address)
        how: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
        if not address:
            how |= {"include_dashboard": False, "object_store_memory": OBJECTS}
        try:
            ray.init(address=address or "local", **how)
        except Exception as error:  # of an address, a version, a port: Ray raises all sorts
            raise InputError(
                f"Ray cannot be reached at {address or 'this machine'}: "
                f"{describe_failure(error)}; expected the address of a running head, HOST:6379 "
                "or ray://HOST:10001, with the same versions of Ray and Python; if it asks for a "
                "token, set RAY_AUTH_MODE=token here too (docs/scaling.md)"
            ) from None
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    return new


class ActorShare(NamedTuple):
    """How many actors there are, what each gets of the machines, and options that follow."""

    actors: int
    cpus: float
    gpus: float
    options: dict[str, object]


def actor_share(ray: Any, wanted: int | None, *, gpus: bool, threads: bool) -> ActorShare:
    """Return what each actor gets of the cluster, where ``wanted`` is none one for each GPU.

    ``gpus``: the model may use them; ``threads``: it takes a number of threads on CPUs. Raises
    InputError where so many actors find no place.
    """
    has = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    found = sum(node.get("GPU", 0.0) for node in has) if gpus else 0.0
    useful = [node for node in has if node.get("GPU")] if found else has
    actors = wanted or int(found) or max(1, len(useful))
    cpus = sum(node.get("CPU", 0.0) for node in useful)
    each = -(-actors // max(1, len(useful)))  # actors that meet on one machine
    mine = min((node.get("CPU", 0.0) / each for node in useful), default=0.0)
    mine = float(int(mine)) if mine >= 1 else round(mine - 0.005, 2)
    if mine < 0.1:
        raise InputError(
            f"{actors} actors do not fit: Ray has {cpus:g} CPUs on {len(useful)} "
            "machines, and an actor needs a tenth of one; start fewer (--set ray_actors=N)"
        )
    options: dict[str, object] = {"threads": max(1, int(mine))} if threads and not found else {}
    return ActorShare(actors, mine, min(1.0, found / actors), options)


def check_listening(address: str) -> None:
    """Refuse the address of a cluster where nobody listens: Ray would wait for ever. InputError."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if not (colon and host and port.isdecimal()):
        return  # "auto", or none
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise InputError(
            f"nothing answers at {address} ({error}): expected the address of a running Ray head, "
            "as `ray start --head` prints it (--set ray_address=HOST:6379, or RAY_ADDRESS)"
        ) from None


def open_ray(
    engine: Engine, model: str, options: Mapping[str, object], settings: RaySettings
) -> RayEngine:
    """Return a model in Ray's actors, which open it by the name ``model`` with ``options``.

    ``engine`` is the same one here, without weights. Raises InputError where Ray is not installed.
    """
    try:
        import ray.data  # noqa: F401
    except ModuleNotFoundError as error:
        raise InputError(
            f"--set engine=ray needs {error.name}, which is not installed: pip install 'sayso[ray]'"
        ) from None
    return RayEngine(engine, model, options, settings)
