"""Write ``sayso/keywords.py``: the options of a run as keywords that a type checker knows.

``cd tests && ../.venv/bin/python -m support.keywords``
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from sayso import options

PLACE = Path(options.__file__).with_name("keywords.py")
HEAD = '''"""Options of a run as keywords that a type checker knows, made from ``sayso/options.py``.

A changed option is written here by ``cd tests && ../.venv/bin/python -m support.keywords``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TypedDict

from sayso.options import Batch, Labels, Mode, PromptSet, Scalar
'''
#: what Python takes besides: a path as a text, one name for a list of one, a number for a level
WIDER = {
    "cache": "str | PathLike[str] | None",
    "domains": "str | Sequence[str]",
    "tiers": "str | Sequence[str]",
    "thinking": "str | int",
    "system": "str | PathLike[str]",
}


def _rows(*kinds: type) -> str:
    fields = [field for kind in kinds for field in dataclasses.fields(kind)]
    return "".join(f"    {f.name}: {WIDER.get(f.name, _plain(str(f.type)))}\n" for f in fields)


def _plain(hint: str) -> str:
    """Return a type without its limits, which no type checker reads."""
    _, annotated, rest = hint.partition("Annotated[")
    return hint if not annotated else rest.partition(",")[0] + rest.rpartition("]")[2]


def text() -> str:
    """Return the module."""
    first, *others = options.OPTIONS
    return (
        f"{HEAD}\n\n"
        "class ModelKeywords(TypedDict, total=False):\n"
        f'    """Keywords for how a model is opened."""\n\n{_rows(first)}\n\n'
        "class RunKeywords(ModelKeywords, total=False):\n"
        f'    """Keywords of :func:`sayso.run` for all options."""\n\n{_rows(*others)}'
    )


if __name__ == "__main__":
    PLACE.write_text(text(), encoding="utf-8")
