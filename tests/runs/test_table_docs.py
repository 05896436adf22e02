"""docs/data.md names every column of every table of a run folder, with its type."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from sayso.protocols.answer_table import AnswerRecord
from sayso.records import (
    Alternative,
    Aspect,
    Claim,
    ClaimQuestion,
    CorrectedNumber,
    Estimate,
    Generation,
    Gold,
    Message,
    Passage,
    Question,
    Request,
    Score,
    Sentence,
    Usage,
    Verdict,
)
from sayso.storage.run_folder import ALONE, KINDS
from sayso.storage.tables import Shape, shape_of

DOCUMENT = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")
_, _, PART = DOCUMENT.partition("<!-- tables: kept equal to the code by a test -->\n")
PART, _, _ = PART.partition("<!-- end of tables -->")
TABLES: dict[str, type[msgspec.Struct]] = {
    "answers": AnswerRecord,
    "questions": Question,
    "generations": Generation,
    "verdicts": Verdict,
    "sentences": Sentence,
    "claims": Claim,
    "asked": ClaimQuestion,
    "passages": Passage,
    "scores": Score,
    "metrics": Estimate,
    "corrected": CorrectedNumber,
    "demos": Question,
}
#: tables that have the columns of another one, which the page names
ALIKE = {"demos": "questions"}
INSIDE = (Gold, Aspect, Request, Message, Usage, Alternative)
NAMES = {
    "text": "text", "int": "int", "float": "float", "bool": "bool", "pairs": "pairs of text",
    "json": "JSON",
}  # fmt: skip


def type_name(shape: Shape) -> str:
    if shape.kind == "list":
        inner = type_name(shape.inner[0])
        name = f"list of ({inner})" if shape.inner[0].optional else f"list of {inner}"
    else:
        name = shape.annotation.__name__ if shape.kind == "struct" else NAMES[shape.kind]
    return f"{name} or null" if shape.optional else name


def columns(kind: type[msgspec.Struct]) -> list[tuple[str, str]]:
    shape = shape_of(kind)
    return [(n, type_name(one)) for n, one in zip(shape.names, shape.inner, strict=True)]


def test_every_table_is_there() -> None:
    assert set(TABLES) == {*ALONE, *KINDS}
    heads = re.findall(r"^### `(\w+)[./]", PART, flags=re.MULTILINE)
    assert heads == list(TABLES)


@pytest.mark.parametrize("table", TABLES)
def test_the_columns_of_a_table(table: str) -> None:
    _, _, section = PART.partition(f"\n### `{table}") if table != "answers" else ("", "", PART)
    section = section.partition("\n### ")[0]
    if table in ALIKE:
        assert TABLES[table] is TABLES[ALIKE[table]]
        assert f"The columns are those of `{ALIKE[table]}.parquet`." in section
        return
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+) \|$", section, flags=re.MULTILINE)
    assert [row[:2] for row in rows] == columns(TABLES[table])
    assert all(what.strip() for _, _, what in rows)


def test_the_records_inside_columns() -> None:
    for kind in INSIDE:
        fields = ", ".join(f"`{name}` {what}" for name, what in columns(kind))
        assert f"| {kind.__name__} | {fields} |" in PART
    named = {k for kind in (*TABLES.values(), *INSIDE) for k in inner(shape_of(kind))}
    assert named <= {*TABLES.values(), *INSIDE}  # none is left out


def inner(shape: Shape) -> list[object]:
    own = [shape.annotation] if shape.kind == "struct" else []
    return own + [kind for one in shape.inner for kind in inner(one)]
