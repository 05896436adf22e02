"""A run folder: the only reader and writer of what a run leaves behind.

A table is written to a temporary file, forced to disk and renamed into place; nothing is ever
appended. A run that is killed leaves whole tables and at most a temporary file, which the next
writing of that table removes.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import platform
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.addresses import redact
from sayso.records import Estimate, InputError
from sayso.storage.atomic import disk_errors, is_link, real_path, refuse_links, replacing
from sayso.storage.renamed import under_todays_name
from sayso.storage.tables import count_rows, read_parquet, write_parquet

Half = NDArray[np.float16]


class ArrayHead(msgspec.Struct, frozen=True):
    """Whose rows an array holds. ``source`` is a hash of all that the rows were made of."""

    source: str
    ids: tuple[str, ...]


#: the format of run folders: 2 since slices and signatures of metrics are pairs
FORMAT = 2
KINDS = (
    "generations", "verdicts", "sentences", "claims", "asked", "passages", "scores", "metrics",
    "demos",
)  # fmt: skip
#: the table of numbers that people's labels correct, and the file of these labels
CORRECTED, LABELS = "corrected", "labels.sqlite"
#: tables that are one file
ALONE = ("questions", "answers", CORRECTED)
#: tables whose rows a manifest counts
COUNTED = ("questions", "generations", "verdicts", "scores")
#: runs of a folder that a message names
MOST_NAMED = 4
STAGE = re.compile(r"[a-z0-9_][a-z0-9_.-]{0,99}")
#: the folder of a run's figures
FIGURES = "figures"
#: the pages of answers that a report writes (:func:`sayso.report.page.with_answers`)
PAGE = re.compile(r"answers-\d{3,}\.html")
#: fields of a manifest in which the address of an endpoint may stand
ADDRESSED = ("command", "model", "model_base", "model_signature", "model_title", "judge")
FILE = re.compile(r"report\.html|answers/[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
#: the tables, pages and labels of a run: no other file takes their places
OWN = re.compile(
    rf"manifest\.json|{re.escape(LABELS)}|report\.html|answers/{PAGE.pattern}|"
    rf"({'|'.join(ALONE)}|({'|'.join(KINDS)})/[^/]{{1,200}})\.parquet"
)
LIBRARIES = (
    "msgspec", "numpy", "pyarrow", "torch", "transformers", "tokenizers", "datasets",
    "huggingface-hub", "safetensors", "altair", "vl-convert-python",
)  # fmt: skip
Record = TypeVar("Record", bound=msgspec.Struct)


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a run was: everything needed to repeat it and to read its numbers.

    ``chosen`` are the flags that decide which questions are asked; ``None`` and "": left out.
    ``model_title`` is the user's name for the model, which identifies nothing.
    ``finished`` is ``None`` until the run is complete. ``prompts`` maps names to hashes.
    ``timings`` are CPU and wall seconds by stage, ``tokens`` counts of requests and tokens
    (``judge_…``: the judge's). ``dollars`` is what the answers cost, whenever they were paid for,
    and ``judge_dollars`` what the verdicts cost; ``None`` = unknown, or no judge that could cost.
    ``rows`` are the rows of each table of a finished run (none in runs of before that was kept).
    ``cached`` says how many answers came from the cache, when they were given and by which
    addresses, and how many of them were asked again and came back different.
    ``judge_check`` says how well this judge did when it was checked; ``cautions`` are what must be
    read before any number, ``notices`` what else the run had to say.
    """

    format: int = FORMAT
    sayso: str = ""
    created: str = ""
    finished: str | None = None
    command: str = ""
    protocols: tuple[str, ...] = ()
    settings: dict[str, str | int | float | bool | None] = msgspec.field(default_factory=dict)
    data: str = ""
    data_hash: str = ""
    chosen: dict[str, str | int | None] = msgspec.field(default_factory=dict)
    #: all questions, and how many of them ask for a paragraph (0 in runs of before that was kept)
    n_questions: int = 0
    n_long: int = 0
    prompts: dict[str, str] = msgspec.field(default_factory=dict)
    model: str = ""
    model_identity: str = ""
    model_base: str = ""
    model_signature: str = ""
    model_title: str = ""
    judge: str = ""
    judge_signature: str = ""
    versions: dict[str, str] = msgspec.field(default_factory=dict)
    machine: dict[str, str | int] = msgspec.field(default_factory=dict)
    timings: dict[str, float] = msgspec.field(default_factory=dict)
    tokens: dict[str, int] = msgspec.field(default_factory=dict)
    notices: tuple[str, ...] = ()
    dollars: float | None = None
    judge_dollars: float | None = None
    judge_check: dict[str, str | int | float | None] = msgspec.field(default_factory=dict)
    cautions: tuple[str, ...] = ()
    cached: dict[str, str | int] = msgspec.field(default_factory=dict)
    rows: dict[str, int] = msgspec.field(default_factory=dict)

    @property
    def shown_model(self) -> str:
        """What pages and tables call the model."""
        return self.model_title or self.model_signature or self.model


class RunFolder:
    """The tables, the manifest and the pages of one run. Use ``create`` or ``open``.

    Tables are ``questions``, ``answers``, ``generations/<stage>``, ``verdicts/<stage>``,
    ``sentences/<stage>``, ``claims/<stage>``, ``asked/<stage>``, ``passages/<stage>``,
    ``scores/<stage>``, ``metrics/<protocol>`` and ``demos/questions``; hidden states are
    ``arrays/<name>.npy``. Every mistake and every full disk raises :class:`InputError` with one
    line.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @staticmethod
    def exists(path: Path | str) -> bool:
        """Tell whether a run was begun here."""
        return Path(path, "manifest.json").is_file()

    @classmethod
    def create(cls, path: Path | str) -> RunFolder:
        """Make a run folder, or open it if it is one; other people's folders are left alone."""
        place = Path(path)
        if cls.exists(place):
            return cls.open(place)
        with disk_errors(place):
            place.mkdir(parents=True, exist_ok=True)
            # Left by a run that was killed before it wrote its manifest: not somebody else's.
            known = re.compile(
                rf"(\.writer|{'|'.join(KINDS)}|answers|arrays|{FIGURES}|report\.html|manifest\.json"
                rf"|({'|'.join(ALONE)})\.parquet)(\.tmp-\d+)?"
            )
            strange = [entry.name for entry in place.iterdir() if not known.fullmatch(entry.name)]
        if strange:
            raise InputError(
                f"{place} is not empty and is not a run folder (it contains {min(strange)!r}): "
                "choose another --out"
            )
        refuse_links(place)
        return cls(place)

    @classmethod
    def open(cls, path: Path | str) -> RunFolder:
        """Open a run folder of a format that can be read."""
        folder = cls(Path(path))
        if not folder.path.exists():
            raise InputError(f"{folder.path} does not exist: expected a run folder")
        if not cls.exists(folder.path):
            raise InputError(f"{folder.path} is not a run folder{_its_runs(folder.path)}")
        refuse_links(folder.path)
        folder.read_manifest()
        return folder

    def write(self, table: str, records: Iterable[Record], type: type[Record]) -> int:
        """Write a table in one piece, streaming, and return its number of rows.

        Corrected numbers are made of the run's numbers, so they go before new ones are written.
        """
        place = self._place(table)
        if table.startswith("metrics/"):
            self.drop(CORRECTED)
        with replacing(place) as file:
            return write_parquet(file, place, records, type)

    def iter(self, table: str, type: type[Record]) -> Iterator[Record]:
        """Yield the records of a table, one row group in memory at a time."""
        place = self._place(table)
        if not place.is_file():
            raise InputError(
                f"{self.path} has no table {table!r}: the run is not finished; repeat its command"
            )
        if type is not Estimate:
            return read_parquet(place, type)
        return cast(Iterator[Record], map(under_todays_name, read_parquet(place, Estimate)))

    def read(self, table: str, type: type[Record]) -> list[Record]:
        """Return the records of a table."""
        return list(self.iter(table, type))

    def has(self, table: str) -> bool:
        """Tell whether a table is there."""
        return self._place(table).is_file()

    def drop(self, table: str) -> None:
        """Delete a table, if it is there."""
        place = self._place(table)
        with disk_errors(place):
            place.unlink(missing_ok=True)

    def tables(self, kind: str) -> list[str]:
        """Return the sorted names of the tables of a kind, such as ``generations/probe``."""
        if kind == "questions":
            return [kind] if self.has(kind) else []
        if kind not in KINDS:
            raise InputError(f"no tables are called {kind!r}: expected one of {', '.join(KINDS)}")
        names = (file.name.removesuffix(".parquet") for file in self.path.glob(f"{kind}/*.parquet"))
        return sorted(f"{kind}/{name}" for name in names if STAGE.fullmatch(name))

    def rows(self) -> dict[str, int]:
        """Return the number of rows of each table that numbers are made of."""
        tables = [one for kind in COUNTED for one in self.tables(kind)]
        return {table: count_rows(self._place(table)) for table in tables}

    def write_manifest(self, manifest: Manifest) -> None:
        """Write ``manifest.json``, sorted and indented for people."""
        manifest = _redacted(manifest)
        try:
            text = msgspec.json.encode(manifest, order="sorted")
        except UnicodeEncodeError:  # a command line may hold bytes that are no text
            plain = json.dumps(msgspec.to_builtins(manifest), sort_keys=True, ensure_ascii=False)
            text = plain.encode("utf-8", "replace")
        self._write_file("manifest.json", msgspec.json.format(text, indent=2) + b"\n")

    def read_manifest(self) -> Manifest:
        """Read ``manifest.json``; another format or a damaged file raises InputError."""
        place = self.path / "manifest.json"
        try:
            with disk_errors(place, "read"):
                data = place.read_bytes()
            head = msgspec.json.decode(data, type=ManifestHead)
            if head.format != FORMAT:
                raise InputError(
                    f"{self.path} was written by sayso {head.sayso} (format {head.format}), this "
                    f"one reads format {FORMAT}: use that version, or "
                    "run again into another --out"
                )
            return _redacted(msgspec.json.decode(data, type=Manifest))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(
                f"{place} is not a manifest of a run ({error}): run again into another --out"
            ) from error

    def write_array(
        self, name: str, head: ArrayHead, blocks: Iterable[NDArray[np.float16]]
    ) -> None:
        """Write ``arrays/<name>.npy``, a row for each id, streaming; its ids stand beside it.

        ``blocks`` are rows (m, d) in the order of ``head.ids``, all of them together. They stay
        unread where the rows that are there were made of the same ``head.source``.
        """
        before = self.array_head(name)
        if before is None or before.source != head.source:
            write_array(self._array(name), head, blocks)

    def array_head(self, name: str) -> ArrayHead | None:
        """Return what ``arrays/<name>.npy`` holds; ``None`` where it is not there whole."""
        return read_head(self._array(name))

    def read_array(self, name: str) -> tuple[ArrayHead, NDArray[np.float16]] | None:
        """Return what an array holds and its rows (n, d) as a memory map: read when looked at."""
        return read_array(self._array(name))

    def _array(self, name: str) -> Path:
        if not STAGE.fullmatch(name):
            raise InputError(f"{name!r} is not an array of a run folder")
        return self.path / "arrays" / f"{name}.npy"

    def write_text(self, name: str, text: str) -> Path:
        """Write ``report.html`` or a file under ``answers/`` in one piece; return its path."""
        return self._write_file(self._file(name), text.encode("utf-8", "replace"))

    def clear_pages(self) -> None:
        """Delete our pages of ``answers/``: none of an older report stays beside a new one."""
        with disk_errors(self.path):
            for page in self.path.glob("answers/*.html"):
                if PAGE.fullmatch(page.name):
                    page.unlink()

    def read_text(self, name: str) -> str:
        """Return the text of ``report.html`` or of a file under ``answers/``."""
        place = self.path / self._file(name)
        with disk_errors(place, "read"):
            return place.read_text(encoding="utf-8", errors="replace")

    def _write_file(self, name: str, data: bytes) -> Path:
        place = self.path / name
        with replacing(place) as file, disk_errors(place):
            file.write(data)
        return place

    def _file(self, name: str) -> str:
        if not FILE.fullmatch(name):
            raise InputError(f"{name!r} is not a file of a run folder")
        return name

    def _place(self, table: str) -> Path:
        kind, _, stage = table.partition("/")
        if table not in ALONE and not (kind in KINDS and STAGE.fullmatch(stage)):
            raise InputError(
                f"{table!r} is not a table of a run folder: expected one of {', '.join(ALONE)}, or "
                f"one of {', '.join(KINDS)} with a name of a-z, 0-9, '_', '.', '-' after a '/'"
            )
        return self.path / f"{table}.parquet"


def has_labels_file(run: Path) -> bool:
    """Tell whether a run has a file of labels. Raises InputError for anything else of its name."""
    place = run / LABELS
    with disk_errors(place, "read"):
        try:
            info = place.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return False
    if stat.S_ISLNK(info.st_mode):
        raise is_link(place)
    if not stat.S_ISREG(info.st_mode) or not info.st_size:
        what = "empty" if stat.S_ISREG(info.st_mode) else "no file"
        raise InputError(
            f"{place} is {what}: put the labels of this run there, or remove it if nobody labeled"
        )
    return True


def _its_runs(path: Path) -> str:
    """Return, after "is not a run folder", the runs inside it that may be meant."""
    names = ("runs/*/manifest.json", "*/manifest.json")  # a training has both: draws and its runs
    found = ([file.parent for file in path.glob(name) if file.is_file()] for name in names)
    runs = sorted(next(filter(None, found), []))
    if not runs:
        return ": it has no manifest.json"
    more = f" or one of {len(runs) - MOST_NAMED} more" if len(runs) > MOST_NAMED else ""
    return f" but contains runs: did you mean {' or '.join(map(str, runs[:MOST_NAMED]))}{more}?"


def _redacted(manifest: Manifest) -> Manifest:
    """Return a manifest without logins and keys of addresses, which earlier versions let in."""
    texts = {name: redact(getattr(manifest, name)) for name in ADDRESSED}
    told = {name: tuple(map(redact, getattr(manifest, name))) for name in ("notices", "cautions")}
    return msgspec.structs.replace(manifest, **texts, **told)


class ManifestHead(msgspec.Struct):
    """The fields of a manifest that say whether the others can be read."""

    format: int
    sayso: str = "of an unknown version"


def versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that can move a number."""
    numbers = {"python": platform.python_version()}
    for name in LIBRARIES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            numbers[name] = importlib.metadata.version(name)
    return numbers


def machine() -> dict[str, str | int]:
    """Return the kind of machine, without names of people or computers."""
    kind: dict[str, str | int] = {
        "system": platform.system(),
        "architecture": platform.machine(),
        "cpus": os.cpu_count() or 0,
    }
    with contextlib.suppress(OSError, AttributeError):
        kind["cpus_allowed"] = len(os.sched_getaffinity(0))
    with contextlib.suppress(OSError, ValueError, AttributeError):
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        kind["memory_gib"] = round(memory / 2**30)
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        model = next(line for line in lines if line.startswith("model name"))
        kind["processor"] = model.partition(":")[2].strip()
    return kind


# ---- arrays: one float16 row for each id, mapped from the disk
#
# Two files: ``<name>.npy`` and ``<name>.ids.json``, which says whose rows they are. The ids are
# removed before a new array takes its place and written after it, so that ids always belong to a
# whole array, whenever a writer was killed.


def _ids(place: Path) -> Path:
    return place.with_suffix(".ids.json")


def write_array(place: Path, head: ArrayHead, blocks: Iterable[Half]) -> None:
    """Write rows in one piece, streaming, then their ids.

    Raises :class:`InputError` for another number of rows than ids, or of rows of unequal width.
    """
    with disk_errors(place):
        _ids(place).unlink(missing_ok=True)
    count, width = 0, None
    with replacing(place) as file, disk_errors(place):
        for block in blocks:
            rows = np.ascontiguousarray(block, dtype="<f2")
            if width is None:
                width = rows.shape[1]
                _begin(file, len(head.ids), width)
            if rows.ndim != 2 or rows.shape[1] != width:
                raise InputError(f"{place}: rows of shape {rows.shape} beside rows of {width}")
            count += len(rows)
            file.write(rows.tobytes())
        if width is None:
            _begin(file, 0, 0)
        if count != len(head.ids):
            raise InputError(f"{place}: {count} rows for {len(head.ids)} ids")
    with replacing(_ids(place)) as file, disk_errors(place):
        file.write(msgspec.json.encode(head))


def _begin(file: object, rows: int, width: int) -> None:
    shape = {"descr": "<f2", "fortran_order": False, "shape": (rows, width)}
    np.lib.format.write_array_header_1_0(file, shape)  # type: ignore[arg-type]


def read_head(place: Path) -> ArrayHead | None:
    """Return whose rows an array holds; ``None`` where there is none that is whole."""
    if not _ids(place).is_file() or not place.is_file():
        return None
    try:
        with disk_errors(place, "read"):
            return msgspec.json.decode(_ids(place).read_bytes(), type=ArrayHead)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{_ids(place)} is damaged ({error}): delete it and run again") from error


def read_array(place: Path) -> tuple[ArrayHead, Half] | None:
    """Return ids and rows (n, d), mapped from the file; ``None`` where there is none.

    Raises :class:`InputError` for a file that is no such array.
    """
    head = read_head(place)
    if head is None:
        return None
    try:
        with disk_errors(place, "read"):
            rows = np.load(place, mmap_mode="r" if head.ids else None, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise InputError(f"{place} is damaged ({error}): delete it and run again") from error
    if not isinstance(rows, np.ndarray) or rows.dtype != np.float16 or rows.ndim != 2:
        raise InputError(f"{place} contains no float16 rows: delete it and run again")
    if len(rows) != len(head.ids):
        raise InputError(f"{place} has {len(rows)} rows for {len(head.ids)} ids: run again")
    return head, rows


def is_of_run(place: Path) -> bool:
    """Tell whether a file, or where a link leads, is a table or a page that a run needs."""
    place = real_path(place)
    folder = place.parent.parent if place.parent.name in (*KINDS, "answers") else place.parent
    name = place.relative_to(folder).as_posix()
    if not OWN.fullmatch(name) or not RunFolder.exists(folder):
        return False
    try:
        RunFolder(folder).read_manifest()
    except InputError:  # another program's file of this name
        return False
    return True
