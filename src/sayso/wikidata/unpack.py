"""The parts of a dump, unpacked in blocks and read line by line, from any place on.

Memory is bounded by a block and the longest line. A packed part can be entered only where one of
its streams begins (bz2 and zstd writers often make many): a resumed reading starts at the last such
place and unpacks, without looking, up to where it was.
"""

from __future__ import annotations

import bz2
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple, Protocol

import msgspec

from sayso.records import InputError

# ---- the parts of a dump

ENDINGS = (".json", ".jsonl", ".ndjson", ".json.gz", ".json.bz2", ".json.zst")
PACKED = (".gz", ".bz2", ".zst")


class DumpPart(NamedTuple):
    """One file of a dump: its name in the dump, where it is, its bytes on disk, its stamp (ns)."""

    name: str
    path: Path
    size: int
    stamp: int


def find_parts(source: Path) -> list[DumpPart]:
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
                raise InputError(
                    f"{source}: contains {path.name} and {other.name}; keep one of them"
                )
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
        parts.append(DumpPart(name, path, state.st_size, state.st_mtime_ns))
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


# ---- their lines

#: bytes of the longest line that is read
LONGEST = 10_000_000
_OPEN = ord("{")


class LinePlace(msgspec.Struct, frozen=True, array_like=True):
    """A place between two lines of a part.

    ``line`` is the number of the next line, ``offset`` its first unpacked byte. ``packed`` and
    ``unpacked`` are a beginning of a stream at or before it: bytes in the file, unpacked bytes.
    """

    line: int = 1
    offset: int = 0
    packed: int = 0
    unpacked: int = 0


class WholeLines(NamedTuple):
    """Whole lines of a part, in order, as they lie in one piece of it, so that none is copied.

    ``spans`` are the beginning and end of each in ``text``, without what :func:`read_dump_lines`
    takes off; ``problem``: what is left out here.
    """

    first: int
    text: bytes
    spans: list[tuple[int, int]]
    after: LinePlace
    problem: str | None = None

    def data(self) -> list[bytes]:
        """Return a copy of every line."""
        return [self.text[start:end] for start, end in self.spans]


def read_dump_lines(part: DumpPart, start: LinePlace | None = None) -> Iterator[WholeLines]:
    """Yield the lines of a part from a place on, about a megabyte at once.

    Line ends, surrounding white space and a comma at the end are taken off. A line above
    :data:`LONGEST` bytes and an archive that breaks off are given as a problem.
    """
    start = start or LinePlace()
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
                offset += held + 1
                yield _left_out(line, _place(line + 1, offset, stream), held)
                line += 1
                begin = end + 1
            elif pending:
                block = b"".join([*pending, block])
            pending, held, too_long = ([tail] if tail else []), len(tail), False
            spans = _spans(block, begin, len(block) - held)
            if spans:
                offset += len(block) - held - begin
                yield WholeLines(line, block, spans, _place(line + len(spans), offset, stream))
                line += len(spans)
    except _broken() as error:
        why = " ".join(str(getattr(error, "strerror", None) or error).split())[:150]
        problem = f"and all after it: {part.name} cannot be read from here on: {why}"
        yield WholeLines(line, b"", [], _place(line, offset, stream), problem)
        return
    if held:
        offset += held
        if too_long:
            yield _left_out(line, _place(line + 1, offset, stream), held)
        else:
            text = b"".join(pending)
            spans = [_cleaned(text, 0, len(text))]
            yield WholeLines(line, text, spans, _place(line + 1, offset, stream))


def _left_out(line: int, after: LinePlace, size: int) -> WholeLines:
    problem = f"is {size:,} bytes long, above {LONGEST:,}: not read"
    return WholeLines(line, b"", [], after, problem)


def _place(line: int, offset: int, stream: tuple[int, int]) -> LinePlace:
    packed, unpacked_before = stream
    # a stream that begins after this place (its last line went on into it) is no help
    if unpacked_before > offset:
        return LinePlace(line, offset, 0, 0)
    return LinePlace(line, offset, packed, unpacked_before)


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


# ---- unpacking

#: bytes read from disk, and unpacked, at once
SIZE, BLOCK = 1 << 16, 1 << 20
_GZIP = type(zlib.decompressobj())


class _Unpacker(Protocol):
    """What the three libraries agree on."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


def _unpacked(path: Path, start: LinePlace) -> Iterator[tuple[bytes, int, int]]:
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
    """Unpack no more than a block at once where the library has a limit for it."""
    if isinstance(unpacker, bz2.BZ2Decompressor):
        while True:
            block = unpacker.decompress(data, BLOCK)
            data = b""
            if block:
                yield block
            if unpacker.eof or (unpacker.needs_input and not block):
                return
    while data and not unpacker.eof:
        if isinstance(unpacker, _GZIP):
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
