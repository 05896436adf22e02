"""Which files of figures are wanted: their formats, and how wide they are on paper."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from sayso.harmless import line
from sayso.records import InputError

FORMATS = ("svg", "pdf", "png", "json")
#: inches of a column, and of both columns, of a paper in two columns
WIDTHS = {"column": 3.33, "page": 6.75}
DEFAULT_WIDTH = "page"
#: inches in a unit of a width, and the narrowest and the widest that is drawn
_UNITS = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27}
_LENGTH = re.compile(r"(\d+(?:\.\d+)?) ?(in|cm|mm|pt)")
NARROWEST, WIDEST = 2.0, 20.0


class Named(Protocol):
    """Something that has a name, which is that of its files."""

    @property
    def name(self) -> str:
        """Its name."""


class Savable(Named, Protocol):
    """What a figure is here (:class:`sayso.report.figures.Figure`)."""

    def save(self, path: str | Path, width: str = DEFAULT_WIDTH) -> Path:
        """Write a file by its ending."""


One = TypeVar("One", bound=Named)


class Wanted(NamedTuple):
    """The files of figures that were asked for: their formats and their width."""

    formats: tuple[str, ...] = ()
    width: str = DEFAULT_WIDTH


def wanted(formats: str | Sequence[str], width: str = "") -> Wanted:
    """Return which files are wanted, from "svg,pdf" or a sequence. Raises InputError."""
    parts = formats.split(",") if isinstance(formats, str) else formats
    given = {part.strip().lower().removeprefix("."): part.strip() for part in parts}
    names = tuple(name for name in given if name)
    for name in names:
        check_format(name, f"--figures {line(given[name], 20)}")
    if width and not names:
        raise InputError(
            f"figure_width {line(width, 20)} applies only to figures: add --figures svg,pdf"
        )
    inches(width or DEFAULT_WIDTH)
    return Wanted(names, width or DEFAULT_WIDTH)


def check_format(suffix: str, of: str) -> None:
    """Refuse what is no format of figures; ``of`` says where it came from. Raises InputError."""
    if suffix not in FORMATS:
        raise InputError(
            f"{line(of, 200)}: expected a format of figures: {', '.join(FORMATS[:-1])}, or "
            f"{FORMATS[-1]} for the Vega-Lite specification"
        )


def inches(width: str) -> float:
    """Return the inches of a width: "column", "page", or a length. Raises InputError."""
    if width in WIDTHS:
        return WIDTHS[width]
    length = _LENGTH.fullmatch(width)
    if length is None:
        raise InputError(
            f"figure width {line(str(width), 20)!r}: expected column, page, or a length such as "
            "8.4cm, 3.25in or 240pt"
        )
    found = round(float(length[1]) * _UNITS[length[2]], 6)
    if not NARROWEST <= found <= WIDEST:
        raise InputError(
            f"figure width {width}: expected {NARROWEST:g}in to {WIDEST:g}in "
            f"({NARROWEST * 2.54:.0f}cm to {WIDEST * 2.54:.0f}cm)"
        )
    return found


def write_files(figures: Sequence[Savable], folder: Path, files: Wanted) -> list[Path]:
    """Write the files of figures into a folder; return their paths."""
    return [
        figure.save(folder / f"{figure.name}.{suffix}", files.width)
        for figure in figures
        for suffix in files.formats
    ]


def format_named(things: Sequence[One], name: str | None, kind: str = "figure") -> One:
    """Return the one of a name, or the first for ``None``; ``kind`` says what it is.

    Raises InputError, which lists the names, where there is no such one.
    """
    for one in things:
        if name is None or one.name == name:
            return one
    names = [line(one.name, 80) for one in things]
    if not names:
        raise InputError(f"there is no {kind}: these numbers have nothing to draw")
    raise InputError(f"no {kind} is called {line(str(name), 60)!r}; expected {', '.join(names)}")
