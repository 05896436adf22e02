"""How what Python gives back shows itself: a short repr, a table in a notebook, a data frame.

Everything that a model, a file or a person wrote is data here: it is escaped, on one line and cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import import_module
from typing import Any

import msgspec

from sayso.harmless import line
from sayso.records import Estimate, InputError, signature_text

#: most characters of a repr, and of a reason why there is no value
LONGEST, REASON = 300, 400
#: columns of numbers that may be undefined
FLOATS = ("value", "low", "high", "numerator", "denominator", "bound_low", "bound_high")


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


def estimates_frame(
    estimates: Sequence[Estimate], more: Sequence[Mapping[str, object]] = ()
) -> Any:
    """Return numbers as a data frame, a row for each; ``more`` has further columns of each.

    The columns are ``name``, one for each part that any slice has, and the fields of an Estimate.
    """
    parts = dict.fromkeys(key for e in estimates for key, _ in e.where)
    rest = [field for field in Estimate.__struct_fields__ if field not in ("name", "where")]
    further = more or [{} for _ in estimates]
    rows = [
        {
            **dict(e.where),
            **msgspec.structs.asdict(e),
            "signature": signature_text(e.signature),
            **own,
        }
        for e, own in zip(estimates, further, strict=True)
    ]
    added = dict.fromkeys(key for own in further for key in own)
    frame = data_frame(rows, ["name", *parts, *rest, *added])
    return frame.astype(dict.fromkeys((*FLOATS, *added), "float64"))
