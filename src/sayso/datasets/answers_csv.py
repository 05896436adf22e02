"""Rows of a CSV or TSV file, read strictly: what does not fit its header is told by its line."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sayso.records import InputError
from sayso.store import decode


@contextmanager
def any_length() -> Iterator[None]:
    """Let cells be as long as they are."""
    limit = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def read_csv(path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield (line, row) of a CSV or TSV file with a header; cells are texts.

    A .csv whose header has no comma may separate by semicolons or tabs, as spreadsheets do where
    the comma is the decimal sign. Rows without a single character are skipped, white space around
    names of columns is dropped. Raises InputError with the line: not UTF-8, no header, a name
    twice, a row of another length.
    """
    line = 0
    try:
        with any_length(), path.open(encoding="utf-8-sig", newline="") as file:
            separator = "\t" if path.suffix.lower() == ".tsv" else _separator(file.readline())
            file.seek(0)
            reader = csv.reader(file, delimiter=separator, strict=True)
            header = [name.strip() for name in next(reader, [])]
            _check_header(path, header)
            empty = True
            for cells in reader:
                line = reader.line_num
                if not any(cell.strip() for cell in cells):
                    continue
                if len(cells) != len(header):
                    raise InputError(
                        f"{path} line {line}: {len(cells)} cells, but the header names "
                        f"{len(header)}; quote cells that hold a separator"
                    )
                empty = False
                yield line, dict(zip(header, cells, strict=True))
        if empty:
            raise InputError(f"{path} has a header and no rows: expected at least one")
    except FileNotFoundError:
        raise InputError(f"{path} does not exist: check the name") from None
    except UnicodeDecodeError:
        decode(path.read_bytes(), path, 1, first=True)  # says where: files are decoded in blocks
        raise
    except csv.Error as error:
        raise InputError(f"{path} after line {line}: wrong CSV ({error})") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error


def _separator(header: str) -> str:
    """Return what separates the cells of a header: a comma, unless it has none."""
    bare = re.sub(r'"[^"]*"', "", header)
    return next((sign for sign in ",;\t" if sign in bare), ",")


def _check_header(path: Path, header: Sequence[str]) -> None:
    if not any(header):
        raise InputError(f"{path} is empty: expected a header and at least one row")
    twice = [name for name in dict.fromkeys(header) if header.count(name) > 1]
    if twice:
        raise InputError(f"{path} line 1: two columns are called {twice[0]!r}; rename one")
