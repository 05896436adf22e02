"""A table of one's own: ``--data file:mine.csv --columns question=q,gold=answer``.

JSONL, JSON, Parquet, CSV and TSV, a short question in each row, with the columns of
:mod:`sayso.datasets.columns`. ``--columns`` says what the file calls them; it becomes part of the
name, which can also be written in full: ``file:mine.csv#question=q,gold=answer``. Several golds are
all true values; other ways to write a single gold stand under ``aliases``, or in
``{"value": "…", "aliases": ["…"]}``. In CSV a list is written as JSON or Python writes it,
``["…", "…"]``. A question without an answer has ``answerable`` false and no gold.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec

from sayso.datasets.answer_rows import KEYWORD, OPTION
from sayso.datasets.columns import (
    COLUMNS,
    called_elsewhere,
    check_column_map,
    check_named_columns,
    column_list,
    columns_of,
    gold_in_answer,
    notices_on,
    places_of,
    safe_name,
)
from sayso.datasets.dataset import DENIES, Dataset, questions_hash, truth_of
from sayso.datasets.tables import (
    SUFFIXES,
    WRITTEN_OUT,
    as_frame,
    golds_in,
    is_text_table,
    notes_on_cells,
    plain_cell,
    read_list_cell,
    read_table,
    rows_in_memory,
    stem_of,
    suffix_of,
    whole,
)
from sayso.records import Aspect, InputError, Question, content_id, question_id, tier_of

PREFIX = "file:"
#: the name of questions that no file holds
IN_MEMORY = "rows in memory"


def name_with_columns(data: str, columns: str) -> str:
    """Return the name of a data set with a map of columns in it. Raises InputError."""
    if not columns.strip():
        return data
    columns_of(columns)
    name = data if data.startswith(PREFIX) else f"{PREFIX}{data}"
    if suffix_of(Path(name.removeprefix(PREFIX))) not in SUFFIXES:
        got = f"got --data {data}" if data else "name it: --data file:FILE"
        raise InputError(
            f"--columns is for your own table, file:FILE ({', '.join(SUFFIXES)}); {got}"
        )
    return f"{name}#{columns.strip()}"


def given_data(data: Any, columns: str | Mapping[str, str]) -> str | Dataset:
    """Return data as a caller gives them: a name or a file with its columns, or rows in memory.

    Raises InputError.
    """
    named = check_column_map(columns)
    if isinstance(data, str | PathLike):
        return name_with_columns(
            os.fspath(data), ",".join(f"{ours}={theirs}" for ours, theirs in named.items())
        )
    return load_rows(data, named)


def load_rows(rows: Any, named: Mapping[str, str], name: str = IN_MEMORY) -> Dataset:
    """Return the questions of a list of dicts, a dict of columns or a data frame.

    They are read as those of a file; ``name`` is the set's. Raises InputError naming the row.
    """
    what = "data" if name == IN_MEMORY else f"data {name!r}"
    table = [
        whole({column: plain_cell(cell) for column, cell in row.items()}, f"{name} line {number}")
        for number, row in enumerate(rows_in_memory(rows, what), 1)
    ]
    if not table:
        raise InputError(f"{what} has no rows: expected at least one question")
    data = from_rows(enumerate(table, 1), named, name, name, loose=as_frame(rows) is not None)
    return msgspec.structs.replace(data, kind=PREFIX[:-1])


def load_own_table(path: Path) -> Dataset:
    """Load a table; ``FILE#question=q`` maps its columns. Raises InputError naming the line."""
    place, _, columns = str(path).rpartition("#")
    if not place or os.path.exists(path):  # a file may have such a name
        place, columns = str(path), ""
    file, named = Path(place), columns_of(columns)
    if file.is_dir():
        raise InputError(f"{file} is a folder: name one file in it")
    if suffix_of(file) not in SUFFIXES:
        raise InputError(
            f"{file}: expected a file ending in {', '.join(SUFFIXES)}; unpack it, or save it in "
            "one of these formats"
        )
    name = stem_of(file).encode("utf-8", "replace").decode()
    data = from_rows(read_table(file), named, name, place, loose=is_text_table(file))
    return msgspec.structs.replace(data, notes=(*data.notes, *notes_on_cells(file)))


def from_rows(
    rows: Iterable[tuple[int, Mapping[str, Any]]],
    named: Mapping[str, str],
    name: str,
    source: str,
    *,
    loose: bool = False,
) -> Dataset:
    """Turn rows into questions. ``loose``: cells are texts, also where they hold lists."""
    table = list(rows)
    names = dict.fromkeys(name for _, row in table for name in row)
    if table:
        _check_first(table[0][1], named, source)
    notes = [f"{len(table):,} row{'s' * (len(table) != 1)} read from {source}"]
    own = {**named}
    if (answers := gold_in_answer(names, named)) is not None:
        own["gold"] = answers
        notes.append(f"no column 'gold': {safe_name(answers)!r} is read as the gold")
    unique: dict[str, tuple[int, Question]] = {}
    for line, row in table:
        place = f"{source} line {line}"
        question = _question(_cells(row, own, place, loose=loose), name, source, line)
        first, known = unique.setdefault(question.id, (line, question))
        if known != question:
            raise InputError(
                f"{place}: question asked on line {first} with different answers: "
                f"{question.text[:60]!r}; a question with several true values is one row"
            )
    questions = tuple(question for _, question in unique.values())
    values = [gold.value for question in questions for gold in question.golds or ()]
    if len(unique) < len(table):
        notes.append(f"{len(table) - len(unique):,} left out: repeated questions")
    for what, number in (
        (
            "have no gold: their answers count neither as right nor as wrong; if nobody can "
            "answer, write false in a column answerable",
            sum(q.answerable is None and not q.golds for q in questions),
        ),
        (
            "golds are NaN, None, null or N/A: leave the cell empty if there is no gold",
            sum(value in WRITTEN_OUT for value in values),
        ),
    ):
        notes += [f"{number:,} {what}"] if number else []
    notes += notices_on(names, own, "data")
    return Dataset(name, questions, questions_hash(questions), len(table), tuple(notes))


def _check_first(row: Mapping[str, Any], named: Mapping[str, str], source: str) -> None:
    check_named_columns(row, named, source)
    if "question" not in places_of(row, named):
        likely = called_elsewhere("question", row, named)
        hint = "did you mean" if likely else "name it with"
        naming = (KEYWORD if source == IN_MEMORY else OPTION).format("question", likely or "COLUMN")
        uncle = " (records in UNCLE's format: --data FILE, without file:)"
        raise InputError(
            f"{source}: expected a column 'question', got {column_list(row)}; {hint} {naming}"
            f"{uncle * (source != IN_MEMORY)}"
        )


def _cells(
    row: Mapping[str, Any], named: Mapping[str, str], place: str, *, loose: bool
) -> dict[str, Any]:
    """Return what a row has under our names."""
    places = places_of(row, named)
    cells: dict[str, Any] = {}
    for ours in COLUMNS:
        value = row.get(places[ours]) if ours in places else None
        if loose and ours in ("gold", "aliases") and isinstance(value, str):
            value = read_list_cell(value, place)
        cells[ours] = None if isinstance(value, str) and not value.strip() else value
    return cells


def _question(cells: Mapping[str, Any], name: str, source: str, line: int) -> Question:
    place = f"{source} line {line}"

    def text(column: str) -> str:
        value = cells[column]
        if value is None or isinstance(value, str):
            return " ".join((value or "").split()) if column != "context" else (value or "").strip()
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        raise InputError(f"{place}: {column} is {value!r:.40}; expected a text")

    wording = text("question")
    if not wording:
        raise InputError(f"{place}: the question is empty; every row needs one")
    golds = golds_in(cells["gold"], cells["aliases"], place)
    answerable: bool | None = True if golds else None
    if cells["answerable"] is not None:
        answerable = truth_of(cells, "answerable", source, line)
    if answerable is False and all(
        gold.value in WRITTEN_OUT or DENIES.search(gold.value) for gold in golds
    ):
        golds = ()  # the gold says so too
    if answerable is False and golds:
        raise InputError(f"{place}: it has a gold, and answerable is false; remove one of them")
    entity = text("entity") or f"question {content_id(wording)[:8]}"
    context, aspect = text("context") or None, text("aspect")
    return Question(
        id=question_id(name, entity, wording, context),
        dataset=name,
        text=wording,
        golds=golds or None,
        answerable=answerable,
        entity=entity,
        domain=text("domain"),
        tier=tier_of(text("tier")),
        pair=text("pair"),
        aspect=Aspect(aspect) if aspect else None,
        context=context,
    )
