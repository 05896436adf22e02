"""One row of a user's file: what it says under each of our columns, and what is wrong with it."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sayso.datasets.tables import is_text_table, list_in, read_table
from sayso.records import InputError

#: The columns that are read, and what each holds.
COLUMNS: dict[str, str] = {
    "question": "what was asked",
    "answer": "the answer to score",
    "samples": "list of other answers to the same question, drawn at T=1",
    "token_logprobs": "list of natural-log probabilities of the answer's tokens",
    "token_entropies": "list of entropies (nats) at the answer's tokens",
    "tokens": "list of the answer's tokens as text",
    "sample_token_logprobs": "list of such lists, one for each sample",
    "sample_token_entropies": "list of such lists, one for each sample",
    "gold": "a true value or a list of them",
    "human": "a person's verdict on the answer: true/false, 1/0, or a list of votes",
    "stated_confidence": "confidence that the model stated with its answer, 0..1",
    "context": "text the question is about",
    "prompt": "the whole prompt the model saw, where it was more than the question",
    "id": "your name for the row",
}
#: Log-probabilities this far above 0 are rounding, more is a mistake.
ABOVE_ZERO = 1e-4
_YES = {"true", "yes", "correct", "right", "1", "1.0", "c"}
_NO = {"false", "no", "incorrect", "wrong", "0", "0.0", "i"}
Floats = tuple[float, ...]


class AnswerRow(msgspec.Struct, frozen=True):
    """One answer as a user has it. ``place`` says where it stands in the file.

    NaN in a list of log-probabilities marks a value that was missing or not finite. ``human`` is
    1 = correct, 0 = not; ``votes`` those of a list of people, NaN where one gave none.
    ``recorded`` holds verdicts of other graders that came with the file. ``problems`` says what
    could not be used. ``own`` is the row as it was read.
    """

    place: str
    question: str = ""
    answer: str | None = None
    samples: tuple[str, ...] = ()
    logprobs: Floats | None = None
    entropies: Floats | None = None
    tokens: tuple[str, ...] | None = None
    sample_logprobs: tuple[Floats | None, ...] | None = None
    sample_entropies: tuple[Floats | None, ...] | None = None
    gold: tuple[str, ...] | None = None
    human: float | None = None
    votes: tuple[float, ...] = ()
    stated: float | None = None
    context: str | None = None
    prompt: str | None = None
    id: str | None = None
    recorded: Mapping[str, float] = msgspec.field(default_factory=dict)
    problems: tuple[str, ...] = ()
    own: Mapping[str, object] = msgspec.field(default_factory=dict)


def check_columns(columns: Mapping[str, str]) -> None:
    """Refuse a map of columns that names none of ours."""
    unknown = [name for name in columns if name not in COLUMNS]
    if unknown:
        raise InputError(
            f"--columns {unknown[0]}=…: no such column; expected some of {', '.join(COLUMNS)}"
        )


def row_of(
    row: Mapping[str, object],
    columns: Mapping[str, str] | None = None,
    place: str = "",
    *,
    loose: bool = False,
) -> AnswerRow:
    """Return what a row says. ``loose``: lists may be written as JSON text (CSV has no lists).

    Nothing in a row raises: what cannot be read stands in ``problems``.
    """
    problems: list[str] = []
    named = columns or {}
    taken = set(named.values())  # a column that was given to one of ours is no other's
    given = {n: row.get(named.get(n, n)) if n in named or n not in taken else None for n in COLUMNS}
    if loose:
        given = {n: _rows_listed(n, v) for n, v in given.items()}
    samples = _texts("samples", given["samples"], problems)
    found = AnswerRow(
        place=place,
        question=_text("question", given["question"], problems) or "",
        answer=_text("answer", given["answer"], problems),
        samples=samples or (),
        logprobs=numbers("token_logprobs", given["token_logprobs"], problems),
        entropies=numbers("token_entropies", given["token_entropies"], problems),
        tokens=_texts("tokens", given["tokens"], problems),
        sample_logprobs=_nested("sample_token_logprobs", given, samples, problems),
        sample_entropies=_nested("sample_token_entropies", given, samples, problems),
        gold=_gold(given["gold"], problems),
        human=verdict(given["human"], problems),
        votes=_votes(given["human"]),
        stated=_share("stated_confidence", given["stated_confidence"], problems),
        context=_text("context", given["context"], problems),
        prompt=_text("prompt", given["prompt"], problems),
        id=_text("id", given["id"], problems),
        own=row,
    )
    for name, ours in (("token_entropies", "entropies"), ("tokens", "tokens")):
        values, beside = getattr(found, ours), found.logprobs
        if values is not None and beside is not None and len(values) != len(beside):
            # of which tokens they are nobody knows
            problems.append(f"{len(values)} {name} for {len(beside)} token_logprobs: left out")
            found = msgspec.structs.replace(found, **{ours: None})
    above = sum(value > ABOVE_ZERO for value in found.logprobs or ())
    if above:
        problems.append(
            f"{above} of {len(found.logprobs or ())} token_logprobs are above 0: expected natural "
            "logarithms of probabilities"
        )
    if found.answer is not None and not found.answer.strip():
        problems.append("the answer is empty")
    if found.answer is None and not found.samples and not any(map(_about_texts, problems)):
        problems.append("neither an answer nor a sample")
    return msgspec.structs.replace(found, problems=tuple(problems)) if problems else found


def _about_texts(problem: str) -> bool:
    """Whether a problem already says what became of the answer or the samples."""
    return problem.startswith(("answer", "samples")) or problem.endswith("samples are no texts")


def _rows_listed(name: str, value: object) -> object:
    """A cell of a CSV file: empty is nothing, a list is JSON or as Python writes it."""
    if not isinstance(value, str) or not value.strip():
        return value if name == "answer" else None
    if name in ("question", "answer", "context", "prompt", "id") or value.lstrip()[:1] != "[":
        return value
    found = list_in(value)
    return value if found is None else found  # a text is told below where a list was expected


def _text(name: str, value: object, problems: list[str]) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return str(value)
    problems.append(f"{name} is {_kind(value)}, expected text")
    return None


def _texts(name: str, value: object, problems: list[str]) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        problems.append(f"{name} is {_kind(value)}, expected a list of texts")
        return None
    found = [_text(name, item, []) for item in value]
    missing = sum(item is None for item in found)
    if missing:
        problems.append(f"{missing} of {len(found)} {name} are no texts")
        return None
    return tuple(item for item in found if item is not None)


def numbers(name: str, value: object, problems: list[str]) -> Floats | None:
    """Return a list of numbers; what is none of them, or not finite, becomes NaN and is told."""
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        problems.append(f"{name} is {_kind(value)}, expected a list of numbers")
        return None
    found = tuple(_number(item) for item in value)
    bad = sum(not math.isfinite(item) for item in found)
    if bad:
        problems.append(f"{bad} of {len(found)} {name} are missing or not finite")
    return found


def _number(value: object) -> float:
    """A number; of ``{"token": …, "logprob": …}`` as endpoints give it the log-probability."""
    if isinstance(value, dict):
        value = value.get("logprob")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    try:
        return float(value) if math.isfinite(value) else math.nan
    except OverflowError:
        return math.nan


def _share(name: str, value: object, problems: list[str]) -> float | None:
    """A share, 0..1; CSV has it as text."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    found = math.nan
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            found = float(value)
    else:
        found = _number(value)
    if 0 <= found <= 1:
        return found
    problems.append(f"{name} is {str(value)[:40]!r}, expected a number from 0 to 1")
    return None


def _nested(
    name: str, given: Mapping[str, object], samples: Sequence[str] | None, problems: list[str]
) -> tuple[Floats | None, ...] | None:
    value = given[name]
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        problems.append(f"{name} is {_kind(value)}, expected a list of lists")
        return None
    if len(value) != len(samples or ()):
        problems.append(f"{len(value)} lists in {name} for {len(samples or ())} samples")
        return None
    return tuple(numbers(name, item, problems) for item in value)


def _gold(value: object, problems: list[str]) -> tuple[str, ...] | None:
    """A true value or several; an empty list is no gold."""
    if isinstance(value, list | tuple):
        found = _texts("gold", value, problems)
    else:
        one = _text("gold", value, problems)
        found = None if one is None else (one,)
    return tuple(text for text in found if text.strip()) or None if found else None


def _votes(value: object) -> Floats:
    """Return the verdicts of several people, each at its place; none for a single verdict."""
    if not isinstance(value, list | tuple):
        return ()
    read = (verdict(vote, []) for vote in value)
    return tuple(math.nan if vote is None else vote for vote in read)


def verdict(value: object, problems: list[str]) -> float | None:
    """Return a person's verdict: 1 correct, 0 not, ``None`` without one; a tie of votes is none."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, list | tuple):
        votes = [verdict(item, []) for item in value]
        cast = [vote for vote in votes if vote is not None]
        share = sum(cast) / len(cast) if cast else 0.5
        if share == 0.5:
            problems.append("human: the votes are tied or unreadable")
            return None
        return float(share > 0.5)
    if isinstance(value, bool | int | float) and value in (0, 1):
        return float(value)
    if isinstance(value, str):
        name = value.strip().casefold()
        if name in _YES or name in _NO:
            return float(name in _YES)
    problems.append(f"human is {str(value)[:40]!r}, expected true or false")
    return None


def _kind(value: object) -> str:
    names = {str: "a text", bool: "a boolean", int: "a number", float: "a number", list: "a list"}
    return names.get(type(value), "an object" if isinstance(value, dict) else type(value).__name__)


# Golds that lie in a file of their own: joined to answers by id, as a batch's output needs it.

#: columns that may name a row, in this order
IDS = ("custom_id", "id")
#: what is taken from the file of golds
TAKEN = ("gold", "human", "question", "context")
Row = Mapping[str, object]


def with_golds(rows: Iterator[AnswerRow], path: Path, notices: list[str]) -> Iterator[AnswerRow]:
    """Yield rows with the golds (or verdicts of people) that stand under their id in a file.

    The file (JSONL, JSON, Parquet, CSV, TSV) has ``custom_id`` or ``id``, and ``gold`` or
    ``human``; a question or context is taken where the row has none. It is read whole, the rows are
    not. What has no partner is told in ``notices``. Raises InputError for a file without these
    columns and for one id with two golds.
    """
    known = _read(path)
    used: set[str] = set()
    lost = 0
    for row in rows:
        found = known.get(row.id or "")
        if found is None:
            lost += 1
            yield row
            continue
        used.add(row.id or "")
        yield msgspec.structs.replace(
            row,
            gold=found.gold if found.gold is not None else row.gold,
            human=found.human if found.human is not None else row.human,
            votes=found.votes or row.votes,
            question=row.question or found.question,
            context=row.context if row.context is not None else found.context,
            problems=(*row.problems, *found.problems),
        )
    if lost:
        notices.append(f"{lost:,} answers have no gold of their id in {path}")
    if len(used) < len(known):
        notices.append(f"{len(known) - len(used):,} golds of {path} belong to no answer")


def _read(path: Path) -> dict[str, AnswerRow]:
    loose = is_text_table(path)
    found: dict[str, AnswerRow] = {}
    for number, row in read_table(path):
        name = next((n for n in IDS if n in row), None)
        if name is None or not {"gold", "human"} & row.keys():
            raise InputError(
                f"{path}, row {number}: expected {' or '.join(IDS)}, and gold or human; it has "
                f"{', '.join(map(str, row))[:200]}"
            )
        key = str(row[name])
        taken: Row = {n: row[n] for n in TAKEN if n in row}
        one = row_of(taken, place=f"{path.name} row {number}", loose=loose)
        # "no answer" is no problem of a row that holds none by design
        one = msgspec.structs.replace(
            one, place="", own={}, problems=tuple(p for p in one.problems if _of_taken(p))
        )
        if key in found and found[key] != one:
            raise InputError(f"{path}, row {number}: {name} {key[:60]!r} has two different golds")
        found[key] = one
    return found


def _of_taken(problem: str) -> bool:
    return any(name in problem for name in TAKEN)


# Rows of answers that come from Python, with what data frames and arrays put into them.


def rows_of(
    rows: Iterable[Mapping[str, object]], columns: Mapping[str, str] | None = None
) -> Iterator[AnswerRow]:
    """Yield what each row says; ``own`` stays the row as it was given.

    Arrays and numbers of numpy are read as lists and numbers, NaN in a cell as nothing, as data
    frames write it. Raises :class:`InputError` before the first row is scored: for what is no
    sequence of mappings, and where no row has an answer or samples under the names given.
    """
    chosen = dict(columns or {})
    check_columns(chosen)
    if hasattr(rows, "to_dict"):
        raise InputError("rows is a data frame: give rows.to_dict('records')")
    if isinstance(rows, str | bytes | Mapping):
        what = "one row" if isinstance(rows, Mapping) else "a text"
        raise InputError(
            f"rows is {what}: expected a list of mappings; for a file: sayso score FILE"
        )
    held = list(rows)
    for number, row in enumerate(held, 1):
        if not isinstance(row, Mapping):
            raise InputError(
                f"row {number} is a {type(row).__name__}: expected a mapping with some of "
                f"{', '.join(COLUMNS)}"
            )
    names = dict.fromkeys(name for row in held for name in row)
    absent = [f"{ours}={theirs}" for ours, theirs in chosen.items() if theirs not in names]
    taken = set(chosen.values())
    free = any(n in chosen or (n in names and n not in taken) for n in ("answer", "samples"))
    there = ", ".join(map(str, names))[:300] or "nothing"
    if held and absent:
        raise InputError(f"columns: {absent[0]} names what no row has; the rows have {there}")
    if held and not free:
        raise InputError(
            f"no row has 'answer' or 'samples': the rows have {there}; name it with "
            "columns={'answer': 'YOURS'}"
        )
    for number, row in enumerate(held, 1):
        plain = {name: _plain(value) for name, value in row.items()}
        yield msgspec.structs.replace(row_of(plain, chosen, f"row {number}"), own=row)


def _plain(value: Any) -> object:
    """A value without arrays in it; NaN alone is nothing, in a list it marks its place."""
    value = _listed(value)
    return None if isinstance(value, float) and value != value else value


def _listed(value: Any) -> object:
    if hasattr(value, "tolist"):  # arrays, series, and single numbers of numpy
        value = value.tolist()
    return [_listed(item) for item in value] if isinstance(value, list | tuple) else value
