"""How what Python gives back shows itself: a short repr, a table, a data frame, a chart, answers.

Everything that a model, a file or a person wrote is data here: it is escaped, on one line and cut.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from sayso.harmless import line
from sayso.records import Content, Estimate, InputError, Stance, signature_text
from sayso.report.formats import format_named

if TYPE_CHECKING:
    from sayso.report.figures import Figure

#: most characters of a repr, and of a reason why there is no value
LONGEST, REASON = 300, 400
#: columns of numbers that may be undefined
FLOATS = ("value", "low", "high", "numerator", "denominator", "bound_low", "bound_high")
#: answers that a notebook shows, and characters of a cell of them
FEW_ANSWERS, CELL = 8, 120
#: the values that fields of answers can have, where these are few
VOCABULARY: dict[str, tuple[object, ...]] = {
    "form": ("short", "long"),
    "stance": typing.get_args(Stance),
    "content": typing.get_args(Content),
}
Row = TypeVar("Row", bound=msgspec.Struct)


def short_repr(kind: str, parts: Iterable[str]) -> str:
    """Return ``<kind: part; part>`` on one line."""
    return line(f"<{kind}: {'; '.join(parts)}>", LONGEST)


def html_table(
    title: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    cautions: Iterable[str] = (),
    notes: Iterable[str] = (),
    last: str = "",
    nothing: str = "no numbers",
) -> str:
    """Return what a notebook shows: a title, what must be read first, the table, and what follows.

    Without rows, ``nothing`` stands in place of the table.
    """
    table = _row("th", heads) + "".join(_row("td", cells) for cells in rows)
    return "".join(
        (
            f"<div><p>{escape(line(title, LONGEST))}</p>",
            *(f"<p><b>! {escape(line(text, 1_000))}</b></p>" for text in cautions),
            f"<table>{table}</table>" if rows else f"<p>{escape(nothing)}</p>",
            *(f"<p>{escape(line(text, 1_000))}</p>" for text in notes),
            f"<p><code>{escape(line(last, 300))}</code></p>" if last else "",
            "</div>",
        )
    )


def _row(tag: str, cells: Iterable[object]) -> str:
    texts = (escape(shortened_line(str(cell))) for cell in cells)
    return f"<tr>{''.join(f'<{tag}>{text}</{tag}>' for text in texts)}</tr>"


def shortened_line(text: str, limit: int = REASON) -> str:
    """Return a text on one line; one that is too long ends with a whole word and an ellipsis."""
    flat = line(text, limit)
    if len(text) <= limit:
        return flat
    words = flat[:-1].rpartition(" ")[0]
    return f"{words} …" if len(words) > limit // 2 else flat


def data_frame(rows: Sequence[Mapping[str, object]], columns: Sequence[str] | None = None) -> Any:
    """Return rows as a ``pandas.DataFrame``. Raises InputError where pandas is not installed."""
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise InputError("to_pandas needs pandas: pip install pandas") from None
    return pandas.DataFrame(rows, columns=columns)


def estimates_frame(estimates: Sequence[Estimate]) -> Any:
    """Return numbers as a data frame, a row for each.

    The columns are ``name``, one for each part that any slice has, and the fields of an Estimate. A
    part that is called as a field is has the column ``slice PART``.
    """
    rest = [field for field in Estimate.__struct_fields__ if field not in ("name", "where")]
    keys = dict.fromkeys(key for e in estimates for key, _ in e.where)
    parts = {key: f"slice {key}" if key in rest else key for key in keys}
    rows = [
        {
            **{parts[key]: value for key, value in e.where},
            **msgspec.structs.asdict(e),
            "signature": signature_text(e.signature),
        }
        for e in estimates
    ]
    frame = data_frame(rows, ["name", *parts.values(), *rest])
    return frame.astype(dict.fromkeys(FLOATS, "float64"))


class Plotted:
    """A result with charts by name and answers; one that overrides nothing has none of them."""

    __slots__ = ()

    def _figures(self) -> Sequence[Figure]:
        return ()

    @property
    def plots(self) -> list[str]:
        """The names of the charts, the main one first."""
        return [figure.name for figure in self._figures()]

    @property
    def answers(self) -> AnswerTable[Any]:
        """The answers behind the result; raises InputError where it keeps none."""
        raise InputError(f"a {type(self).__name__} keeps no answers")

    def plot(self, name: str | None = None) -> Figure:
        """Return the main chart, or the one of a name from :attr:`plots`.

        A notebook shows it; ``save("x.pdf", width="column")`` writes a file, ``chart()`` is the
        Altair chart. Raises InputError, which lists the names, for another one, and where there is
        nothing to draw.
        """
        return format_named(self._figures(), name)


@dataclasses.dataclass(frozen=True, repr=False)
class AnswerTable(Generic[Row]):
    """The answers behind a result, read from its folder each time that they are looked at.

    ``for answer in result.answers`` yields frozen records of ``kind``; a notebook shows the first
    few. ``what`` says whose answers they are, ``shown`` which fields a notebook shows, ``read``
    opens them. ``chosen`` are fields with the value that every answer has (:meth:`where`).
    """

    what: str
    kind: type[Row]
    shown: tuple[str, ...]
    read: Callable[[], Iterable[Row]]
    chosen: tuple[tuple[str, object], ...] = ()

    def where(self, **fields: object) -> AnswerTable[Row]:
        """Return the answers with these values: ``answers.where(form="short", known=False)``.

        The fields are those of the records. Raises InputError for another field, and for a value
        that the field cannot have.
        """
        names = self.kind.__struct_fields__
        for name, value in fields.items():
            if name not in names:
                raise InputError(
                    f"answers have no field {line(name, 60)!r}; expected {', '.join(names)}"
                )
            values = VOCABULARY.get(name, ())
            if values and value is not None and value not in values:
                raise InputError(
                    f"{name} is {line(repr(value), 60)}; expected {', '.join(map(repr, values))}, "
                    "or None"
                )
        return dataclasses.replace(self, chosen=(*self.chosen, *fields.items()))

    def __iter__(self) -> Iterator[Row]:
        """Yield the answers, a block of them in memory at a time."""
        for row in self.read():
            if all(getattr(row, name) == value for name, value in self.chosen):
                yield row

    def __len__(self) -> int:
        """Return the number of answers: all are read, none is kept."""
        return sum(1 for _ in self)

    def to_pandas(self) -> Any:
        """Return the answers as a ``pandas.DataFrame``, a row for each.

        The columns are the fields of the records. Raises InputError where pandas is not installed.
        """
        names = self.kind.__struct_fields__
        return data_frame([msgspec.structs.asdict(row) for row in self], names)

    def __repr__(self) -> str:
        return short_repr("Answers", (self._where(), self.what) if self.chosen else (self.what,))

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the first answers, and how to get the others."""
        few = list(islice(self, FEW_ANSWERS + 1))
        rows = [[_cell(getattr(row, name)) for name in self.shown] for row in few[:FEW_ANSWERS]]
        more = f"The first {FEW_ANSWERS} answers; iterate, or to_pandas(), for all."
        return html_table(
            "; ".join((f"Answers of {self.what}", *([self._where()] if self.chosen else []))),
            self.shown,
            rows,
            notes=[more] if len(few) > FEW_ANSWERS else [],
            nothing="no answers",
        )

    def _where(self) -> str:
        return ", ".join(f"{name}={line(repr(value), 60)}" for name, value in self.chosen)


def _cell(value: object) -> str:
    """Return a field of an answer in a few characters; nothing for ``None``."""
    if isinstance(value, tuple):
        value = "; ".join(map(str, value))
    return "" if value is None else shortened_line(str(value), CELL)
