"""The index of a knowledge source: an SQLite file, and the search in it.

**The file.** A document's id is the id of its first passage, and its other passages follow: neither
a column nor a join is needed to know which passages a document has. The full-text table is
contentless, without positions and sizes: it only yields candidates, whose scores are computed from
their texts. A passage is indexed by its title and its text.

**The search.** BM25 over the passages of a title, or over the whole source:

score(passage) = sum over the distinct words of the query of
    ln(1 + (N - n + 0.5) / (n + 0.5)) * f * (k1 + 1) / (f + k1 * (1 - b + b * length / mean length))

(Robertson and Zaragoza 2009, with the logarithm that is never negative; k1 = 1.2, b = 0.75), where
f is how often the word occurs in title and text of the passage, n the number of passages that have
it, and N the number of all passages. Within a title, N and n count the passages of that title, as
FActScore does (arXiv 2305.14251). Words are compared by their stems, without case and diacritics.

In the whole source the rarest words come first: passages that have them are gathered until
:data:`POSTINGS` have been looked at, and the :data:`CANDIDATES` passages with the weightiest words
are scored with all words. A passage that shares only common words with a long query can so be
missed; benchmarks/speed/index_speed.md measures what that costs.
"""

from __future__ import annotations

import bisect
import contextlib
import heapq
import itertools
import math
import os
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from sayso.records import InputError, Passage, content_id
from sayso.retrieval.passages import LONGEST_TITLE, clean_passage, count_tokens, key, plain_title
from sayso.storage.atomic import (
    NO_LINK,
    make_private,
    place_inside,
    sync_folder,
    system_reason,
    wait_for_lock,
)
from sayso.storage.cache import default_cache_folder

# ---- the tables

APPLICATION = 0x73617969  # "sayi"
VERSION = 1
PAGE = 16384
TOKENIZER = "porter unicode61 remove_diacritics 2"
SCHEMA = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID",
    # state: new (its first reading goes on from row and offset), again (read once more), done
    "CREATE TABLE files (id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, size INTEGER NOT NULL, "
    "stamp INTEGER NOT NULL, state TEXT NOT NULL, turn INTEGER NOT NULL, row INTEGER NOT NULL, "
    "offset INTEGER NOT NULL, skipped INTEGER NOT NULL, cleaned INTEGER NOT NULL)",
    "CREATE TABLE documents (id INTEGER PRIMARY KEY, file INTEGER NOT NULL, turn INTEGER NOT NULL, "
    "count INTEGER NOT NULL, words INTEGER NOT NULL, digest INTEGER NOT NULL, "
    "title TEXT NOT NULL, key TEXT NOT NULL)",
    "CREATE TABLE passages (id INTEGER PRIMARY KEY, text TEXT NOT NULL)",
    "CREATE TABLE problems (file INTEGER NOT NULL, line INTEGER NOT NULL, what TEXT NOT NULL)",
    # in a large index, the stems of more than COMMON passages with the number of these; a search
    # counts the passages of other stems itself
    "CREATE TABLE common (term TEXT PRIMARY KEY, passages INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE VIRTUAL TABLE words USING fts5(text, content='', detail=none, columnsize=0, "
    f"tokenize='{TOKENIZER}')",
)
COMMON = 1000
#: full-text settings: postings gathered in memory (what fits a processor's cache is fastest), page
#: of an index, no merging until the end
TUNING = (("hashsize", 1 << 20), ("pgsz", 16000), ("automerge", 0), ("crisismerge", 1999))
SQLITE_HEAD = b"SQLite format 3\0"


def create_tables(db: sqlite3.Connection, source: str, tokens: int) -> None:
    """Make the tables in an empty file."""
    db.execute(f"PRAGMA page_size={PAGE}")
    db.execute("BEGIN IMMEDIATE")
    for statement in SCHEMA:
        db.execute(statement)
    db.executemany("INSERT INTO words(words, rank) VALUES(?, ?)", TUNING)
    db.execute(f"PRAGMA application_id={APPLICATION}")
    db.execute(f"PRAGMA user_version={VERSION}")
    write_index_state(db, source=source, tokens=tokens, ready=0)
    db.execute("COMMIT")


class IndexState(NamedTuple):
    """What an index says about itself."""

    source: str
    tokens: int
    ready: bool
    passages: int
    documents: int
    words: int
    skipped: int
    cleaned: int


def write_index_state(db: sqlite3.Connection, **values: str | int) -> None:
    """Set fields of :class:`IndexState`."""
    db.executemany("INSERT OR REPLACE INTO meta VALUES(?, ?)", values.items())


def read_index_state(db: sqlite3.Connection) -> IndexState:
    """Return what the index says about itself; numbers that are not known yet are 0."""
    meta = dict(db.execute("SELECT name, value FROM meta"))
    numbers = [int(meta.get(name, 0)) for name in IndexState._fields[3:]]
    return IndexState(str(meta["source"]), int(meta["tokens"]), bool(meta["ready"]), *numbers)


# ---- opening the file


def open_writer(path: Path) -> sqlite3.Connection:
    """Open a file for the one process that builds it. A killed one leaves its last commit."""
    db = sqlite3.connect(path, timeout=30, isolation_level=None)
    db.execute("PRAGMA trusted_schema=OFF")
    # a rollback journal: appended pages are written once, and readers need no shared memory
    db.execute("PRAGMA journal_mode=DELETE")
    db.execute("PRAGMA synchronous=NORMAL")
    db.execute("PRAGMA secure_delete=OFF")
    db.execute("PRAGMA cache_size=-32768")
    return db


def open_reader(path: Path) -> sqlite3.Connection:
    """Open a file for reading only; any number of processes can."""
    db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=30,
                         isolation_level=None, check_same_thread=False)  # fmt: skip
    db.execute("PRAGMA trusted_schema=OFF")
    db.execute("PRAGMA cache_size=-16384")
    return db


def is_index(path: Path) -> bool:
    """Tell whether a file is one of our indexes, of whatever version."""
    try:
        with path.open("rb") as file:
            head = file.read(100)
    except OSError:
        return False
    return head.startswith(SQLITE_HEAD) and head[68:72] == APPLICATION.to_bytes(4, "big")


def has_tables(db: sqlite3.Connection, path: Path) -> bool:
    """Tell whether a file is an index of this version; False for an empty file.

    Raises InputError for the file of another program, or of another version.
    """
    application = db.execute("PRAGMA application_id").fetchone()[0]
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if application == APPLICATION:
        if version != VERSION:
            raise InputError(
                f"the index {path} has format {version}, this sayso reads {VERSION}: delete it and "
                "run `sayso index SOURCE` again"
            )
        return True
    if application or version or db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
        raise InputError(f"{path} is an SQLite file of another program, not an index of sayso")
    return False


@contextlib.contextmanager
def index_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's and the system's errors into one line for the user."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)
        if code is None:  # a mistake in this program, not in the file
            raise
        raise InputError(_error_message(path, code, str(error))) from error
    except OSError as error:
        raise InputError(f"cannot use the index {path}: {system_reason(error)}") from error


def _error_message(path: Path, code: int, why: str) -> str:
    primary = code & 0xFF
    if primary == sqlite3.SQLITE_FULL:
        return (
            f"disk is full while writing {path}: free some space and run again; everything "
            "committed so far is kept"
        )
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return f"the index {path} is being written by another process: wait for it to end"
    if code == sqlite3.SQLITE_READONLY_ROLLBACK or primary == sqlite3.SQLITE_CANTOPEN:
        return _half_built(path)
    if primary in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR):
        return (
            f"the index {path} is damaged or not an index ({why}): delete it and run "
            "`sayso index SOURCE` again"
        )
    return f"cannot use the index {path}: {why}"


def _half_built(path: Path) -> str:
    return f"the index {path} is half built: run `sayso index SOURCE` again to resume"


# ---- where an index lives, and who builds it


def default_path(source: str, tokens: int, folder: Path | None = None) -> Path:
    """Return where the index of a source lives in a cache folder; ``None`` is the user's."""
    name = f"{content_id(['knowledge', VERSION, source, tokens])}.sqlite"
    for suffix in (".part", ".whole", ".lock", "-wal", "-shm", "-journal"):
        place_inside(folder or default_cache_folder(), "knowledge", f"{name}{suffix}")
    return place_inside(folder or default_cache_folder(), "knowledge", name)


def unfinished_path(path: Path) -> Path:
    """Return where an index is built for the first time, before it takes its name."""
    return path.with_name(path.name + ".part")


def publish(built: Path, path: Path) -> None:
    """Let a file that was built take its name, without the pages that merging left empty."""
    whole = path.with_name(path.name + ".whole")
    whole.unlink(missing_ok=True)
    db = open_writer(built)
    try:
        db.execute("VACUUM INTO ?", (str(whole),))
    finally:
        db.close()
    handle = os.open(whole, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    whole.replace(path)
    sync_folder(path.parent)
    built.unlink()


def check_replaceable(path: Path) -> None:
    """Refuse to build an index over a file that is something else."""
    if path.is_dir():
        raise InputError(f"--out {path} is a folder: give the name of a file in it")
    if path.exists() and path.stat().st_size and not is_index(path):
        raise InputError(f"--out {path} exists and is not an index of sayso: choose another name")


@contextlib.contextmanager
def build_lock(path: Path, wait: float) -> Iterator[None]:
    """Keep other builders of an index away; wait so many seconds for one that is at work."""
    if os.name == "nt":  # SQLite's own lock has to do
        yield
        return
    with index_errors(path):
        make_private(path.parent)
        handle = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | NO_LINK, 0o600)
    try:
        if wait_for_lock(handle, wait) is False:
            raise InputError(
                f"another process is building {path}: wait for it to end, then run again"
            )
        yield
    finally:
        os.close(handle)


# ---- what an index holds

#: problems that are named
SHOWN = 20


class IndexInfo(msgspec.Struct, frozen=True):
    """An index: what it was made of, and what the last build changed.

    ``skipped`` counts rows that were left out, ``problems`` names the first of them by file and
    line; ``cleaned`` counts documents that lost control characters or broken ones. ``added``,
    ``removed`` (documents) and ``seconds`` are of the build that returned this, else 0.
    """

    path: str
    source: str
    tokens: int
    files: int
    documents: int
    passages: int
    skipped: int
    cleaned: int
    bytes: int
    problems: tuple[str, ...] = ()
    added: int = 0
    removed: int = 0
    ignored: int = 0
    seconds: float = 0.0


def read_info(db: sqlite3.Connection, path: Path) -> IndexInfo:
    """Return what an open index holds."""
    state = read_index_state(db)
    problems = db.execute(
        "SELECT name, line, what FROM problems JOIN files ON files.id = file "
        "ORDER BY name, line, what LIMIT ?",
        (SHOWN,),
    )
    return IndexInfo(
        path=str(path),
        source=state.source,
        tokens=state.tokens,
        files=db.execute("SELECT count(*) FROM files").fetchone()[0],
        documents=state.documents,
        passages=state.passages,
        skipped=state.skipped,
        cleaned=state.cleaned,
        bytes=path.stat().st_size,
        problems=tuple(f"{name} line {line}: {what}" for name, line, what in problems),
    )


# ---- the search

K1, B = 1.2, 0.75
#: characters and distinct words of a query that are looked at
LONGEST_QUERY, WORDS = 10_000, 64
POSTINGS, CANDIDATES = 30_000, 100
#: passages of one title above which its candidates are chosen by the index
MANY = 1000


def open_index(path: str | Path) -> Index:
    """Open an index for reading; any number of processes can. Raises InputError."""
    path = Path(path).expanduser()
    if not path.exists() and unfinished_path(path).exists():
        raise InputError(_half_built(path))
    if not path.is_file():
        raise InputError(f"index {path}: does not exist; make it with `sayso index SOURCE`")
    if not is_index(path):
        raise InputError(f"{path} is not an index of sayso: make one with `sayso index SOURCE`")
    with index_errors(path):
        return Index(path)


class _PassageTexts(NamedTuple):
    """Passages to score, the lengths of title and text in words, and the mean of these."""

    passages: list[Passage]
    lengths: list[int]
    mean: float


class Index:
    """An index that is open for reading. Use as a context, or ``close`` it."""

    def __init__(self, path: Path) -> None:
        self._db = open_reader(path)
        try:
            self._open(path)
        except BaseException:
            self._db.close()
            raise

    def _open(self, path: Path) -> None:
        if not has_tables(self._db, path) or not read_index_state(self._db).ready:
            raise InputError(_half_built(path))
        self.path = path
        self.info: IndexInfo = read_info(self._db, path)
        state = read_index_state(self._db)
        self._passages, self._mean = state.passages, state.words / max(state.passages, 1)
        self._db.execute("CREATE VIRTUAL TABLE temp.stems USING fts5vocab(main, words, row)")
        self._db.execute("CREATE VIRTUAL TABLE temp.spots USING fts5vocab(main, words, instance)")
        # SQLite itself splits and stems what is compared, so that both sides are treated alike
        self._memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        for name in ("query", "texts"):
            self._memory.execute(
                f"CREATE VIRTUAL TABLE {name} USING fts5(text, content='', columnsize=0, "
                f"tokenize='{TOKENIZER}')"
            )
            self._memory.execute(f"CREATE VIRTUAL TABLE {name}_v USING fts5vocab({name}, instance)")
        self._files = dict(self._db.execute("SELECT id, name FROM files"))
        self._loaded: tuple[list[range], _PassageTexts] | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()
        self._memory.close()

    def has_title(self, title: str) -> bool:
        """Tell whether the source has something under this title, or under one nearly the same."""
        with self._lock, index_errors(self.path):
            return bool(self._under_title(title))

    def search(self, text: str, k: int = 5, title: str = "") -> list[Passage]:
        """Return the ``k`` best passages for a text, best first.

        With a title only passages under it are searched: under exactly this title, else under
        titles that differ in case, diacritics and underscores, else in a tail in parentheses as
        well. All of them are ranked; those without a word of the text come last, in the order of
        the source. Without a title a passage needs a word of the text. A text without any word and
        a title that the source does not have yield nothing. Equal scores are ordered by id.
        """
        return self.search_many([(title, text)], k)[0]

    def search_many(self, queries: Sequence[tuple[str, str]], k: int = 5) -> list[list[Passage]]:
        """Search for many (title, text), each distinct one once; a list for each, in order."""
        if k < 1:
            raise InputError(f"-k {k}: expected at least 1")
        hits: dict[tuple[str, str], list[Passage]] = {}
        with self._lock, index_errors(self.path):
            for query in sorted(set(queries)):  # the texts of a title are loaded once
                hits[query] = self._search(*query, k)
        return [hits[query] for query in queries]

    def _search(self, title: str, text: str, k: int) -> list[Passage]:
        stems = self._stems(text)
        ranges = self._under_title(title) if title else []
        if not stems or (title and not ranges):
            return []
        total = sum(map(len, ranges))
        if 0 < total <= MANY:
            if self._loaded is None or self._loaded[0] != ranges:
                self._loaded = ranges, self._load([n for part in ranges for n in part])
            return self._best(self._loaded[1], dict.fromkeys(stems[:WORDS]), total, k, every=True)
        self._loaded = None
        frequencies = self._frequencies(stems)
        candidates = self._candidates(frequencies, ranges)
        if ranges and len(candidates) < k:
            rest = itertools.islice(itertools.chain(*ranges), k + len(candidates))
            candidates = list(dict.fromkeys([*candidates, *rest]))
        texts = self._load(candidates)._replace(mean=self._mean)
        return self._best(texts, frequencies, self._passages, k, every=bool(ranges))

    def _stems(self, text: str) -> list[str]:
        """Return the distinct stems of a query, in order of the alphabet."""
        self._memory.execute("INSERT INTO query(query) VALUES('delete-all')")
        cleaned = clean_passage(text[:LONGEST_QUERY])[0]
        self._memory.execute("INSERT INTO query(rowid, text) VALUES(1, ?)", (cleaned,))
        return [
            row[0] for row in self._memory.execute("SELECT DISTINCT term FROM query_v ORDER BY 1")
        ]

    def _under_title(self, title: str) -> list[range]:
        """Return the passages under a title, in order, in as few ranges as possible."""
        wanted, _ = clean_passage(title.strip()[:LONGEST_TITLE])
        rows = self._db.execute(
            "SELECT title, id, count FROM documents WHERE key=? ORDER BY id", (key(wanted),)
        ).fetchall()
        exact = [row for row in rows if row[0] == wanted]
        near = exact or [row for row in rows if plain_title(row[0]) == plain_title(wanted)]
        ranges: list[range] = []
        for _, first, number in near or rows:
            if ranges and ranges[-1].stop == first:
                ranges[-1] = range(ranges[-1].start, first + number)
            else:
                ranges.append(range(first, first + number))
        return ranges

    def _frequencies(self, stems: list[str]) -> dict[str, int | None]:
        """Return how many passages have each stem that any has, the rarest first."""
        frequencies: list[tuple[int, str]] = []
        for stem in stems:
            row = self._db.execute("SELECT passages FROM common WHERE term=?", (stem,)).fetchone()
            if row is None:
                row = self._db.execute(
                    "SELECT doc FROM temp.stems WHERE term=?", (stem,)
                ).fetchone()
            if row is not None:
                frequencies.append((row[0], stem))
        return {stem: number for number, stem in sorted(frequencies)[:WORDS]}

    def _candidates(self, frequencies: dict[str, int | None], ranges: list[range]) -> list[int]:
        """Return the passages (of a title) with the weightiest words, at most so many."""
        first, last = (ranges[0][0], ranges[-1][-1]) if ranges else (0, 1 << 62)
        starts = [part[0] for part in ranges]
        weights: defaultdict[int, float] = defaultdict(float)
        left = POSTINGS
        for stem, number in frequencies.items():
            if left < POSTINGS and (number or 0) > left and not ranges:
                break
            weight = _weight(self._passages, number or 0)
            rows = self._db.execute(
                "SELECT doc FROM temp.spots WHERE term=? AND doc BETWEEN ? AND ? LIMIT ?",
                (stem, first, last, left),
            ).fetchall()
            for (passage,) in rows:
                if len(starts) < 2 or passage in ranges[bisect.bisect(starts, passage) - 1]:
                    weights[passage] += weight
                    left -= 1
            if left <= 0:
                break
        return heapq.nsmallest(
            CANDIDATES, weights, key=lambda passage: (-weights[passage], passage)
        )

    def _load(self, ids: list[int]) -> _PassageTexts:
        """Fetch passages and let SQLite split them into stems."""
        rows = []
        for start in range(0, len(ids), 500):
            some = ids[start : start + 500]
            rows += self._db.execute(
                "SELECT p.id, d.title, p.text, d.file FROM passages p JOIN documents d ON d.id = "
                "(SELECT max(id) FROM documents WHERE id <= p.id) "
                f"WHERE p.id IN ({','.join('?' * len(some))}) ORDER BY p.id",
                some,
            ).fetchall()
        passages = [
            Passage(content_id(["passage", title, text]), title, text, self._files[file])
            for _, title, text, file in rows
        ]
        self._memory.execute("BEGIN")
        self._memory.execute("INSERT INTO texts(texts) VALUES('delete-all')")
        self._memory.executemany(
            "INSERT INTO texts(rowid, text) VALUES(?, ?)",
            [(n, f"{passage.title}\n{passage.text}") for n, passage in enumerate(passages)],
        )
        self._memory.execute("COMMIT")
        lengths = [
            count_tokens(passage.title).words + count_tokens(passage.text).words
            for passage in passages
        ]
        return _PassageTexts(passages, lengths, sum(lengths) / max(len(lengths), 1))

    def _best(
        self,
        texts: _PassageTexts,
        frequencies: dict[str, int | None],
        total: int,
        k: int,
        *,
        every: bool,
    ) -> list[Passage]:
        """Score the texts that were loaded last; ``every``: those without a word too.

        A frequency of ``None`` is counted among these texts.
        """
        scores = [0.0] * len(texts.passages)
        for stem, number in frequencies.items():
            rows = self._memory.execute(
                "SELECT doc, count(*) FROM texts_v WHERE term=? GROUP BY doc", (stem,)
            ).fetchall()
            weight = _weight(total, len(rows) if number is None else number)
            for n, times in rows:
                length = K1 * (1 - B + B * texts.lengths[n] / texts.mean)
                scores[n] += weight * times * (K1 + 1) / (times + length)
        order = sorted(
            (-round(score, 9), texts.passages[n].id if score else "", n)
            for n, score in enumerate(scores)
            if score or every
        )
        distinct = {texts.passages[n].id: texts.passages[n] for _, _, n in order}
        return list(itertools.islice(distinct.values(), k))


def _weight(total: int, number: int) -> float:
    """Return the weight of a word that ``number`` of ``total`` passages have."""
    return math.log1p((total - number + 0.5) / (number + 0.5))
