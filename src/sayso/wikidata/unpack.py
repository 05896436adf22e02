"""The parts of a dump, unpacked in blocks and given out line by line, from any place on.

Memory is bounded by a block and the longest line. A packed part cannot be entered in the middle,
but at the beginning of each of its streams (bz2 and zstd writers often make many): a resumed
reading starts at the last such place and unpacks, without looking, up to where it was.
"""

from __future__ import annotations

import bz2
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cache
from pathlib import Path
from typing import IO, NamedTuple, Protocol

import msgspec
import numpy as np

from sayso.records import InputError

# Which lines of a dump can matter, found in their bytes before anything is parsed.
#
# A line is taken too often rather than too seldom. An id stands near the name of its property:
# both
# are fields of one snak, which has a bounded size whatever the order of its fields and however
# it is
# spaced. Where nothing is found near, everything counts as found.

Spans = Sequence[tuple[int, int]]

#: bytes on both sides of ``"P31"`` in which its snak's value stands; a snak takes 200 to 300
NEAR = 500
_ID = re.compile(rb'\{\s*(?:"\w+"\s*:\s*(?:"[^"\\]*"|\d+)\s*,\s*)*?"id"\s*:\s*"([QPLE]\d+)"')
_LIST = re.compile(rb'"P\d+"\s*:\s*(?=\[\s*\{\s*"mainsnak")')
_LISTS_END = re.compile(
    rb'\}\s*\](?=\s*(?:,\s*"P\d+"\s*:\s*\[\s*\{\s*"mainsnak"|\}\s*,\s*"sitelinks"))'
)
_TARGET = re.compile(rb'"(?:id"\s*:\s*"Q|numeric-id"\s*:\s*)(\d{1,18})')
_ITEM = re.compile(r"Q[0-9]{1,18}")
#: bytes that are checked for UTF-8 at once: most of a line is ASCII, which is quick
PIECE = 1 << 12
#: an entity's own id stands at the beginning, before labels
HEAD = 400


def own_id(text: bytes, start: int = 0, end: int | None = None) -> bytes | None:
    """Return the id of a line's entity from its first bytes, or ``None`` where it is not there."""
    found = _ID.match(text, start, min(start + HEAD, len(text) if end is None else end))
    return found[1] if found else None


def places(text: bytes, property: bytes) -> list[int]:
    """Return where ``"P31"`` stands in a text, in order; a property's id has three bytes or more.

    Four bytes of the name are compared with every four bytes of the text, many at once, and the
    rest only where they are found: three times as fast as ``bytes.find``.
    """
    name = b'"' + property + b'"'
    if len(text) < len(name):
        return []
    count = (len(text) - 3) // 4
    skip = len(name) - 5
    (wanted,) = np.frombuffer(name, np.uint32, 1, skip)
    hits = np.frombuffer(text, np.uint32, count) == wanted
    for shift in (1, 2, 3):
        hits |= np.frombuffer(text, np.uint32, count, shift) == wanted
    # the last bytes, which no four words cover, are looked at in any case
    groups = [*np.flatnonzero(hits).tolist(), count]
    starts = (4 * group - skip for group in groups)
    found = (text.find(name, max(at, 0), at + 3 + len(name)) for at in starts)
    return [at for at in found if at >= 0]


def by_line(found: Iterable[int], spans: Spans) -> dict[int, list[int]]:
    """Sort places in a text, in order, by the index of the line in which they lie."""
    lines: dict[int, list[int]] = {}
    line = 0
    for at in found:
        while line < len(spans) and at >= spans[line][1]:
            line += 1
        if line < len(spans) and at >= spans[line][0]:
            lines.setdefault(line, []).append(at)
    return lines


def pointing(text: bytes, spans: Spans, property: bytes, items: Set[int]) -> list[int]:
    """Return indexes of the lines in which a property may point to one of these items."""
    value = _value(property)
    found = []
    for line, starts in by_line(places(text, property), spans).items():
        start, end = spans[line]
        seen = 0
        for at in starts:
            if at < seen:
                continue
            if exact := value.match(text, at, end):
                seen = exact.end()
                hit = int(exact[1]) in items
            else:
                near = _TARGET.findall(text, max(start, at - NEAR), min(end, at + NEAR))
                hit = not near or not items.isdisjoint(map(int, near))
            if hit:
                found.append(line)
                break
    return found


def statements(text: bytes, at: int, end: int) -> bytes | None:
    """Return the list of statements of which a property's name at ``at`` is the key.

    ``None`` where that cannot be told from the bytes. What follows the list may be left at its end:
    whoever reads it will notice.
    """
    begin = _LIST.match(text, at, end)
    stop = _LISTS_END.search(text, begin.end(), end) if begin else None
    return text[begin.end() : stop.end()] if begin and stop else None


@cache
def _value(property: bytes) -> re.Pattern[bytes]:
    """A property and its item as Wikidata writes them, from the name of the property on.

    It may stand there twice, as the key of its first statement and in that.
    """
    name = b'"' + property + b'"'
    twice = (b"(?:", b":", rb"\[", rb"\{", b'"mainsnak"', b":", rb"\{", b'"snaktype"', b":",
             b'"value"', b",", b'"property"', b":", name, b")?")  # fmt: skip
    hash = (b"(?:,", b'"hash"', b":", rb'"\w*"', b")?")
    item = (b",", b'"datavalue"', b":", rb"\{", b'"value"', b":", rb"\{", b'"entity-type"', b":",
            b'"item"', b",", b'"numeric-id"', b":", rb"(\d{1,18})", b",", b'"id"', b":",
            rb'"Q\1"')  # fmt: skip
    return re.compile(rb"\s*".join((name, *twice, *hash, *item)))


def item_number(id: str) -> int | None:
    """Return 42 for "Q42", ``None`` for whatever is no item's id."""
    return int(id[1:]) if _ITEM.fullmatch(id) else None


def cut(data: bytes) -> str | None:
    """Return what is wrong with a line from outside; ``None`` for a whole one or a bracket."""
    if data[:1] == b"{" and data[-1:] == b"}":
        return None
    if data in (b"", b"[", b"]"):
        return None
    return "is cut off" if data[:1] == b"{" else "is no JSON object"


def no_text(data: bytes) -> str | None:
    """Return what is wrong with a line that is no UTF-8, ``None`` for text."""
    if data.isascii():
        return None
    at = 0
    while at < len(data):
        end = at + PIECE
        while end < min(at + PIECE + 3, len(data)) and data[end] & 0xC0 == 0x80:
            end += 1  # a character of up to four bytes is not cut in two
        piece = data[at:end]
        try:
            piece.isascii() or piece.decode()
        except UnicodeDecodeError as error:
            return f"is no UTF-8 at its byte {at + error.start + 1}"
        at = end
    return None


#: bytes read from disk and unpacked at once; bytes of the longest line that is read
SIZE, BLOCK = 1 << 16, 1 << 20
LONGEST = 10_000_000
ENDINGS = (".json", ".jsonl", ".ndjson", ".json.gz", ".json.bz2", ".json.zst")
GZIP = type(zlib.decompressobj())
PACKED = (".gz", ".bz2", ".zst")
_OPEN = ord("{")


class Part(NamedTuple):
    """One file of a dump: its name in the dump, where it is, its bytes on disk, its stamp (ns)."""

    name: str
    path: Path
    size: int
    stamp: int


class Place(msgspec.Struct, frozen=True, array_like=True):
    """A place between two lines of a part.

    ``line`` is the number of the next line, ``offset`` its first unpacked byte. ``packed`` and
    ``unpacked`` are a beginning of a stream at or before it: bytes in the file, unpacked bytes.
    """

    line: int = 1
    offset: int = 0
    packed: int = 0
    unpacked: int = 0


class Lines(NamedTuple):
    """Whole lines of a part, in order, as they lie in one piece of it, so that none is copied.

    ``spans`` are the beginning and end of each in ``text``, without what :func:`read_lines` takes
    off; ``problem``: what is left out here.
    """

    first: int
    text: bytes
    spans: list[tuple[int, int]]
    after: Place
    problem: str | None = None

    def data(self) -> list[bytes]:
        """Return a copy of every line."""
        return [self.text[start:end] for start, end in self.spans]


class _Unpacker(Protocol):
    """What the three libraries agree on."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


def find_parts(source: Path) -> list[Part]:
    """Return the parts of a dump in order of name. Raises InputError where there is none."""
    if "\0" in str(source) or not source.exists():
        raise InputError(
            f"{source}: does not exist; expected a Wikidata JSON dump ({', '.join(ENDINGS)}) or a "
            "folder of its parts"
        )
    if source.is_dir():
        paths = sorted(p for p in source.iterdir() if _is_part(p) and p.is_file())
        if not paths:
            raise InputError(f"{source}: no file in it ends in {', '.join(ENDINGS)}")
        plain = {_unpacked_name(path): path for path in paths}
        for path in paths:  # every entity would count twice, and be its own namesake
            if (other := plain[_unpacked_name(path)]) != path:
                raise InputError(f"{source}: holds {path.name} and {other.name}; keep one of them")
    elif _is_part(source):
        paths = [source]
    else:
        raise InputError(f"{source}: expected a file ending in {', '.join(ENDINGS)}")
    if any(path.suffix == ".zst" for path in paths):
        _need_zstandard(paths[0])
    parts = []
    for path in paths:
        state = path.stat()
        name = path.name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        parts.append(Part(name, path, state.st_size, state.st_mtime_ns))
    return parts


def _is_part(path: Path) -> bool:
    name = path.name.lower()
    return name.endswith(ENDINGS) and not name.startswith(".")


def _unpacked_name(path: Path) -> str:
    return path.name.removesuffix(path.suffix) if path.suffix in PACKED else path.name


def _need_zstandard(path: Path) -> None:
    try:
        import zstandard  # noqa: F401
    except ModuleNotFoundError:
        raise InputError(
            f'{path}: .zst needs zstandard, which is not installed: pip install "sayso[wikidata]"'
        ) from None


def _unpacked(path: Path, start: Place) -> Iterator[tuple[bytes, int, int]]:
    """Yield unpacked blocks from the stream that ``start`` names on, with that of each.

    (block, file position of its stream's beginning, unpacked bytes before that stream).
    """
    with path.open("rb") as file:
        if path.suffix.lower() not in PACKED:
            if start.offset:
                file.seek(start.offset)
            at = start.offset
            while block := file.read(BLOCK):
                yield block, at, at
                at += len(block)
            return
        file.seek(start.packed)
        yield from _streams(file, path, start.packed, start.unpacked)


def _streams(
    file: IO[bytes], path: Path, packed: int, done: int
) -> Iterator[tuple[bytes, int, int]]:
    begun = packed, done
    unpacker: _Unpacker | None = None
    rest = b""
    while data := rest or file.read(SIZE):
        rest = b""
        if unpacker is None:
            if not data.strip(b"\0"):  # padding behind the last stream
                packed += len(data)
                continue
            begun = packed, done
            unpacker = _unpacker(path)
        packed += len(data)
        for block in _blocks(unpacker, data):
            done += len(block)
            yield block, *begun
        if unpacker.eof:
            rest = unpacker.unused_data
            packed -= len(rest)
            unpacker = None
    if unpacker is not None:
        raise EOFError("the archive breaks off")


def _blocks(unpacker: _Unpacker, data: bytes) -> Iterator[bytes]:
    """Unpack no more than a block at once where the library can be told so."""
    if isinstance(unpacker, bz2.BZ2Decompressor):
        while True:
            block = unpacker.decompress(data, BLOCK)
            data = b""
            if block:
                yield block
            if unpacker.eof or (unpacker.needs_input and not block):
                return
    while data and not unpacker.eof:
        if isinstance(unpacker, GZIP):
            block = unpacker.decompress(data, BLOCK)
            data = unpacker.unconsumed_tail
        else:
            block, data = unpacker.decompress(data), b""
        for at in range(0, len(block), BLOCK):
            yield block[at : at + BLOCK]


def _unpacker(path: Path) -> _Unpacker:
    ending = path.suffix.lower()
    if ending == ".gz":
        return zlib.decompressobj(wbits=31)
    if ending == ".bz2":
        return bz2.BZ2Decompressor()
    import zstandard

    return zstandard.ZstdDecompressor().decompressobj()


def _broken() -> tuple[type[BaseException], ...]:
    """Return what an archive that cannot be unpacked raises."""
    try:
        import zstandard
    except ModuleNotFoundError:
        return (OSError, EOFError, zlib.error, ValueError)
    return (OSError, EOFError, zlib.error, ValueError, zstandard.ZstdError)


def read_lines(part: Part, start: Place | None = None) -> Iterator[Lines]:
    """Yield the lines of a part from a place on, about a megabyte at once.

    Ends of lines, white space around and a comma at the end are taken off. A line above
    :data:`LONGEST` bytes and an archive that breaks off are given as a problem.
    """
    start = start or Place()
    line, offset = start.line, start.offset
    skip = offset - start.unpacked if part.path.suffix.lower() in PACKED else 0
    pending: list[bytes] = []
    held = 0
    too_long = False
    stream = start.packed, start.unpacked
    try:
        for block, *begun in _unpacked(part.path, start):
            stream = begun[0], begun[1]
            if skip >= len(block):
                skip -= len(block)
                continue
            if skip:
                block, skip = block[skip:], 0
            last = block.rfind(b"\n")
            if last < 0:  # a line that goes on
                held += len(block)
                too_long = too_long or held > LONGEST
                pending = [] if too_long else [*pending, block]
                continue
            tail, begin = block[last + 1 :], 0
            end = block.find(b"\n")
            held += end
            if too_long or held > LONGEST:
                told = f"is {held:,} bytes long, above {LONGEST:,}: not read"
                offset += held + 1
                yield Lines(line, b"", [], _place(line + 1, offset, stream), told)
                line += 1
                begin = end + 1
            elif pending:
                block = b"".join([*pending, block])
            pending, held, too_long = ([tail] if tail else []), len(tail), False
            spans = _spans(block, begin, len(block) - held)
            if spans:
                offset += len(block) - held - begin
                yield Lines(line, block, spans, _place(line + len(spans), offset, stream))
                line += len(spans)
    except _broken() as error:
        why = " ".join(str(getattr(error, "strerror", None) or error).split())[:150]
        told = f"and all after it: {part.name} cannot be read from here on: {why}"
        yield Lines(line, b"", [], _place(line, offset, stream), told)
        return
    if held:
        offset += held
        if too_long:
            told = f"is {held:,} bytes long, above {LONGEST:,}: not read"
            yield Lines(line, b"", [], _place(line + 1, offset, stream), told)
        else:
            text = b"".join(pending)
            spans = [_cleaned(text, 0, len(text))]
            yield Lines(line, text, spans, _place(line + 1, offset, stream))


def _place(line: int, offset: int, stream: tuple[int, int]) -> Place:
    packed, unpacked_before = stream
    # a stream that begins after this place (its last line went on into it) is no help
    if unpacked_before > offset:
        return Place(line, offset, 0, 0)
    return Place(line, offset, packed, unpacked_before)


def _spans(text: bytes, at: int, stop: int) -> list[tuple[int, int]]:
    """Return where lines begin and end in whole lines between two places."""
    spans = []
    while at < stop:
        end = text.index(b"\n", at)
        # an entity as Wikidata writes it, without a look at what else could stand at its ends
        if text[at] == _OPEN and text[end - 2 : end] == b"},":
            spans.append((at, end - 1))
        else:
            spans.append(_cleaned(text, at, end))
        at = end + 1
    return spans


def _cleaned(text: bytes, at: int, end: int) -> tuple[int, int]:
    data = text[at:end].lstrip()
    start = end - len(data)
    return start, start + len(data.rstrip().removesuffix(b",").rstrip())
