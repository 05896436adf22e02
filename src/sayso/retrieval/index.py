"""The index of a knowledge source: a folder of tantivy, and the search in it.

**The folder.** A passage is a document of tantivy: the stems of its title and text, the three forms
of its title, the file that it came from, and what a search returns. What has been read of each file
is a document too, so that one commit holds passages and how far their files have been read.

**The search.** BM25 over the whole source is tantivy's:

score(passage) = sum over the distinct words of the query of
    ln(1 + (N - n + 0.5) / (n + 0.5)) * f * (k1 + 1) / (f + k1 * (1 - b + b * length / mean length))

(Robertson and Zaragoza 2009, with the logarithm that is never negative; k1 = 1.2, b = 0.75), where
f is how often the word occurs in title and text of the passage, n the number of passages that have
it, and N the number of all passages. tantivy rounds lengths above 40 words to one byte. Within a
title, N and n count the passages of that title, as FActScore does (arXiv 2305.14251), so these few
passages are scored here. Words are compared by their stems, without case and diacritics.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import os
import re
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from sayso.records import InputError, Passage, content_id
from sayso.retrieval.passages import LONGEST_TITLE, clean_passage, key, plain_title
from sayso.storage.atomic import (
    NO_LINK,
    full_disk_line,
    make_private,
    place_inside,
    sync_folder,
    system_reason,
    wait_for_lock,
)
from sayso.storage.cache import default_cache_folder

if TYPE_CHECKING:
    import tantivy

VERSION = 2
#: fields of a document of tantivy; KEPT is stored, and names the folder as ours
WORDS, TITLE, FILE, STATE, KEPT = "words", "title", "file", "state", "sayso"
#: bytes of a longer word that is not indexed
LONGEST_WORD = 100
#: the state of the whole index, and of every file
WHOLE, EVERY = "index", "every"
#: an SQLite file of version 0.2, by its first bytes and its application id ("sayi")
OLD = (b"SQLite format 3\0", (0x73617969).to_bytes(4, "big"))
AGAIN = "delete it and run `sayso index SOURCE` again"


class IndexState(msgspec.Struct, frozen=True):
    """What an index says about itself."""

    source: str
    tokens: int
    ready: bool = False
    version: int = VERSION


class FileState(msgspec.Struct, frozen=True):
    """How far a file has been read, and what was in it; ``problems`` has (line, what is wrong)."""

    name: str
    size: int
    stamp: int
    done: bool = False
    row: int = 1
    offset: int = 0
    documents: int = 0
    passages: int = 0
    skipped: int = 0
    cleaned: int = 0
    problems: tuple[tuple[int, str], ...] = ()


# ---- opening the folder


@functools.cache
def analyzer() -> tantivy.TextAnalyzer:
    """Return what splits texts and queries into stems."""
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

    made = TextAnalyzerBuilder(Tokenizer.simple())
    for one in (
        Filter.remove_long(LONGEST_WORD), Filter.lowercase(), Filter.ascii_fold(),
        Filter.stemmer("english"),
    ):  # fmt: skip
        made = made.filter(one)
    return made.build()


def open_tantivy(path: Path, *, create: bool = False) -> tantivy.Index:
    """Open the folder of an index, or make it. Raises InputError for one of another version."""
    import tantivy

    if path.is_file():
        raise InputError(f"the index {path} is of sayso 0.2: {AGAIN}")
    if create:
        make_private(path)
        schema = tantivy.SchemaBuilder()
        schema.add_text_field(WORDS, tokenizer_name="stems", index_option="freq")
        for name in (TITLE, FILE, STATE):
            schema.add_text_field(name, tokenizer_name="raw", index_option="basic")
        schema.add_bytes_field(KEPT, stored=True)
        opened = tantivy.Index(schema.build(), path=str(path))
    else:
        opened = tantivy.Index.open(str(path))
    opened.register_tokenizer("stems", analyzer())
    return opened


def states_of(opened: tantivy.Index, path: Path) -> tuple[IndexState | None, list[FileState]]:
    """Return the state of an index, ``None`` before its first commit, and those of its files."""
    found = _kept(opened.searcher(), _term(opened, STATE, WHOLE))
    if not found:
        return None, []
    whole = msgspec.msgpack.decode(found[0], type=IndexState)
    if whole.version != VERSION:
        raise InputError(
            f"the index {path} has format {whole.version}, this sayso reads {VERSION}: {AGAIN}"
        )
    files = _kept(opened.searcher(), _term(opened, STATE, EVERY))
    return whole, sorted(
        (msgspec.msgpack.decode(one, type=FileState) for one in files), key=lambda one: one.name
    )


def _term(opened: tantivy.Index, field: str, value: str) -> tantivy.Query:
    from tantivy import Query

    return Query.term_query(opened.schema, field, value, "basic")


def _kept(searcher: tantivy.Searcher, query: tantivy.Query) -> list[bytes]:
    """Return what is stored of every document that a query finds."""
    number = searcher.search(query, 1).count  # type: ignore[attr-defined]
    hits = searcher.search(query, number, count=False).hits if number else []
    return [_kept_of(searcher, address) for _, address in hits]


def _kept_of(searcher: tantivy.Searcher, address: tantivy.DocAddress) -> bytes:
    return bytes(searcher.doc(address)[KEPT][0])


def is_index(path: Path) -> bool:
    """Tell whether a path is one of our indexes, also one of version 0.2."""
    try:
        with (path if path.is_file() else path / "meta.json").open("rb") as file:
            head = file.read(1 << 20)
    except OSError:
        return False
    old = head.startswith(OLD[0]) and head[68:72] == OLD[1]
    return old or re.search(rb'"name":\s*"%b"' % KEPT.encode(), head) is not None


@contextlib.contextmanager
def index_errors(path: Path) -> Iterator[None]:
    """Turn the errors of tantivy and of the system into one line for the user."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot use the index {path}: {system_reason(error)}") from error
    except BaseException as error:
        panicked = type(error).__name__ == "PanicException"
        garbled = isinstance(error, UnicodeDecodeError | msgspec.DecodeError)
        if not panicked and not garbled and type(error) is not ValueError:
            raise
        why = " ".join(str(error).split())[:200]
        if "os error 28" in why or "No space left" in why:
            raise full_disk_line(path) from error
        if "LockBusy" in why:
            raise InputError(f"the index {path} is being written by another process") from error
        raise InputError(f"the index {path} is damaged or not an index ({why}): {AGAIN}") from error


def half_built(path: Path) -> InputError:
    """Return the error for an index whose build did not end."""
    return InputError(f"the index {path} is half built: run `sayso index SOURCE` again to resume")


# ---- where an index lives, and who builds it


def default_path(source: str, tokens: int, folder: Path | None = None) -> Path:
    """Return where the index of a source lives in a cache folder; ``None`` is the user's."""
    name = f"{content_id(['knowledge', VERSION, source, tokens])}.index"
    for suffix in (".part", ".lock"):
        place_inside(folder or default_cache_folder(), "knowledge", f"{name}{suffix}")
    return place_inside(folder or default_cache_folder(), "knowledge", name)


def unfinished_path(path: Path) -> Path:
    """Return where an index is built for the first time, before it takes its name."""
    return path.with_name(path.name + ".part")


def publish(built: Path, path: Path) -> None:
    """Let a folder that was built take its name."""
    built.rename(path)
    sync_folder(path.parent)


def check_replaceable(path: Path) -> None:
    """Refuse to build an index over something else, or in a folder of somebody else."""
    there = path if path.exists() else unfinished_path(path)
    # all that a build leaves that was killed before its index was there begins with a point
    killed = there != path and there.is_dir() and not any(there.glob("[!.]*"))
    if there.exists() and not killed and not is_index(there):
        raise InputError(f"--out {there} exists and is not an index of sayso: choose another name")


@contextlib.contextmanager
def build_lock(path: Path, wait: float) -> Iterator[None]:
    """Keep other builders of an index away; wait so many seconds for one that is at work."""
    if os.name == "nt":  # tantivy's own lock has to do
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
    ``removed`` (documents of files that are new, changed or gone) and ``seconds`` are of the build
    that returned this, else 0.
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


def info_of(whole: IndexState, files: Sequence[FileState], path: Path) -> IndexInfo:
    """Return what an index holds."""
    problems = (f"{f.name} line {line}: {what}" for f in files for line, what in f.problems)
    return IndexInfo(
        path=str(path),
        source=whole.source,
        tokens=whole.tokens,
        files=len(files),
        documents=sum(file.documents for file in files),
        passages=sum(file.passages for file in files),
        skipped=sum(file.skipped for file in files),
        cleaned=sum(file.cleaned for file in files),
        bytes=sum(one.stat().st_size for one in path.iterdir()),
        problems=tuple(itertools.islice(problems, SHOWN)),
    )


# ---- the search

K1, B = 1.2, 0.75
#: characters and distinct words of a query that are looked at
LONGEST_QUERY, MOST_WORDS = 10_000, 64
#: passages that are looked at beyond the wanted ones, at first and at most, so that equal scores
#: are ordered by id
TIES, MOST_TIES = 3, 10_000
#: passages of one title above which tantivy scores them, by the frequencies of the whole source
MANY = 1000


def open_index(path: str | Path) -> Index:
    """Open an index for reading; any number of processes can. Raises InputError."""
    path = Path(path).expanduser()
    if not path.exists() and unfinished_path(path).exists():
        raise half_built(path)
    if not path.exists():
        raise InputError(f"index {path}: does not exist; make it with `sayso index SOURCE`")
    if not is_index(path):
        raise InputError(f"{path} is not an index of sayso: make one with `sayso index SOURCE`")
    with index_errors(path):
        return Index(path)


class _Found(NamedTuple):
    """A passage that a query found: its score, its place in the source, and the passage."""

    score: float
    place: tuple[str, int]
    passage: Passage


class Index:
    """An index that is open for reading. Use as a context, or ``close`` it."""

    def __init__(self, path: Path) -> None:
        self._opened = open_tantivy(path)
        whole, files = states_of(self._opened, path)
        if whole is None or not whole.ready:
            raise half_built(path)
        self.path = path
        self.info: IndexInfo = info_of(whole, files, path)
        self._searcher = self._opened.searcher()
        self._lock = threading.Lock()
        #: the title whose passages were read last, with these and their stems
        self._loaded: tuple[str, list[_Found], list[Counter[str]]] | None = None

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of what was read."""
        self._loaded = None

    def has_title(self, title: str) -> bool:
        """Tell whether the source has something under this title, or under one nearly the same."""
        with self._lock, index_errors(self.path):
            return self._under_title(title) is not None

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
        k = min(k, max(1, self.info.passages))
        hits: dict[tuple[str, str], list[Passage]] = {}
        with self._lock, index_errors(self.path):
            for query in sorted(set(queries)):  # the passages of a title are read once
                hits[query] = self._search(*query, k)
        return [hits[query] for query in queries]

    def _search(self, title: str, text: str, k: int) -> list[Passage]:
        stems = self._stems(text)
        under = self._under_title(title) if title else None
        if not stems or (title and under is None):
            return []
        if under is not None and under[1] <= MANY:
            found = self._within(under[0], stems)
        else:
            found = self._everywhere(stems, k, under[0] if under else "")
        found.sort(key=lambda one: (-round(one.score, 5), one.passage.id if one.score else "",
                                    one.place))  # fmt: skip
        distinct = {one.passage.id: one.passage for one in found}
        return list(itertools.islice(distinct.values(), k))

    def _stems(self, text: str) -> list[str]:
        """Return the distinct stems of a query; of more than :data:`MOST_WORDS` the rarest."""
        cleaned = clean_passage(text[:LONGEST_QUERY])[0]
        stems = dict.fromkeys(analyzer().analyze(cleaned))
        if len(stems) <= MOST_WORDS:
            return list(stems)
        known = [(self._searcher.doc_freq(WORDS, stem) or math.inf, stem) for stem in stems]
        return [stem for _, stem in sorted(known)][:MOST_WORDS]

    def _under_title(self, title: str) -> tuple[str, int] | None:
        """Return the form of a title under which there are passages, and how many these are."""
        for form in title_forms(clean_passage(title.strip()[:LONGEST_TITLE])[0]):
            query = _term(self._opened, TITLE, form)
            if number := self._searcher.search(query, 1).count:  # type: ignore[attr-defined]
                return form, number
        return None

    def _within(self, title: str, stems: Sequence[str]) -> list[_Found]:
        """Score all passages of a title by the formula, with N and n of these passages."""
        if self._loaded is None or self._loaded[0] != title:
            query = _term(self._opened, TITLE, title)
            passages = [_passage(kept) for kept in _kept(self._searcher, query)]
            texts = [f"{one.passage.title}\n{one.passage.text}" for one in passages]
            self._loaded = title, passages, [Counter(analyzer().analyze(text)) for text in texts]
        _, passages, bags = self._loaded
        lengths = [bag.total() for bag in bags]
        mean = sum(lengths) / len(lengths) or 1.0
        scores = [0.0] * len(bags)
        for stem in stems:
            n = sum(stem in bag for bag in bags)
            weight = math.log1p((len(bags) - n + 0.5) / (n + 0.5))
            for at, bag in enumerate(bags):
                f = bag[stem]
                scores[at] += weight * f * (K1 + 1) / (f + K1 * (1 - B + B * lengths[at] / mean))
        return [p._replace(score=s) for p, s in zip(passages, scores, strict=True)]

    def _everywhere(self, stems: Sequence[str], k: int, title: str) -> list[_Found]:
        """Have tantivy score the passages of the source, or of a title with many passages."""
        from tantivy import Occur, Query

        schema = self._opened.schema
        clauses = [(Occur.Should, Query.term_query(schema, WORDS, stem, "freq")) for stem in stems]
        if title:
            of_title = Query.const_score_query(_term(self._opened, TITLE, title), 0.0)
            clauses.append((Occur.Must, of_title))
        query, most = Query.boolean_query(clauses), k + TIES
        while True:
            hits = self._searcher.search(query, most, count=False).hits
            found: dict[str, _Found] = {}  # equal passages once
            for score, address in hits:
                if len(found) >= k and score < next(reversed(found.values())).score:
                    return list(found.values())
                one = _passage(_kept_of(self._searcher, address))
                found.setdefault(one.passage.id, one._replace(score=score))
            if len(hits) < most or most > MOST_TIES:
                return list(found.values())
            most *= 4


def title_forms(title: str) -> tuple[str, str, str]:
    """Return a title as it is, without case and diacritics, and without a tail in parentheses."""
    return f"={title}", f"~{plain_title(title)}", f"?{key(title)}"


def _passage(kept: bytes) -> _Found:
    title, text, file, number = msgspec.msgpack.decode(kept, type=tuple[str, str, str, int])
    passage = Passage(content_id(["passage", title, text]), title, text, file)
    return _Found(0.0, (file, number), passage)
