"""Rows of answers, from files or from Python: what each has under our columns, its problems."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import msgspec

from sayso.datasets.columns import (
    COLUMNS,
    called_elsewhere,
    check_column_map,
    check_named_columns,
    column_list,
    places_of,
)
from sayso.datasets.tables import (
    ANSWER_KEYS,
    as_frame,
    as_text,
    cell_value,
    golds_in,
    is_text_table,
    list_in,
    plain_cell,
    read_list_cell,
    read_table,
    rows_in_memory,
    truth_value,
)
from sayso.datasets.tools.values import (
    ReplyText,
    ending_in,
    is_spoken,
    reason_in,
    spoken_text,
    token_texts,
)
from sayso.harmless import json_kind
from sayso.prompts.thoughts import split_thoughts
from sayso.records import UNKNOWN_LOGPROB, Gold, InputError, is_blank

#: Log-probabilities this far above 0 are rounding, more is a mistake.
ABOVE_ZERO = 1e-4
#: columns that hold one text, whatever it looks like
TEXTS = (
    "question", "answer", "context", "prompt", "id", "model", "entity", "domain", "tier", "pair",
    "aspect",
)  # fmt: skip
#: columns that may hold a message or a whole chat, and whose last turn is read
SPOKEN = {"question": "user", "answer": "assistant"}
Floats = tuple[float, ...]


class AnswerRow(msgspec.Struct, frozen=True):
    """One answer as a user has it. ``place`` is its place in the file.

    NaN in a list of log-probabilities marks a value that was missing or not finite. ``human`` is
    1 = correct, 0 = not; ``votes`` are those of several people, NaN for one without a vote.
    ``recorded`` holds verdicts of other graders that came with the file, ``problems`` what could
    not be used, ``own`` the row as it was read. ``gold`` are all texts that are right; ``golds``
    are the true values where one has aliases or is no text. ``finish`` is how an answer ended that
    may not be whole.
    """

    place: str
    question: str = ""
    answer: str | None = None
    samples: tuple[str, ...] = ()
    logprobs: Floats | None = None
    entropies: Floats | None = None
    margins: Floats | None = None
    tokens: tuple[str, ...] | None = None
    sample_tokens: tuple[tuple[str, ...] | None, ...] | None = None
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
    model: str | None = None
    answerable: bool | None = None
    entity: str | None = None
    domain: str | None = None
    tier: str | None = None
    pair: str | None = None
    aspect: str | None = None
    golds: tuple[Gold, ...] | None = None
    finish: str | None = None

    @property
    def offsets(self) -> tuple[int, ...] | None:
        """Where each token of the answer begins; ``None`` where its tokens do not spell it."""
        return starts_of(self.tokens, self.answer)


def starts_of(tokens: Sequence[str] | None, text: str | None) -> tuple[int, ...] | None:
    """Return where each token of a text begins; ``None`` where the tokens do not spell it."""
    if tokens is None or "".join(tokens) != text:
        return None
    return tuple(accumulate(map(len, tokens), initial=0))[:-1]


One = TypeVar("One")
#: what answers are called elsewhere, likeliest first
ANSWER_NAMES = (
    "answers", "response", "model_answer", "model_response", "output", "model_output", "prediction",
    "predicted_answer", "predicted", "generation", "generated_text", "generated_answer",
    "completion", "reply", "text",
)  # fmt: skip
#: what becomes of an empty sample
EMPTY = "a meaning of its own in sayso score, left out in a run"
#: problems of a row in whose texts a model thought
THOUGHT = "the {} contained reasoning, which is left out"
UNENDED = "the {} was cut off during its reasoning: there is no complete one"
NO_TEXT = "neither an answer nor a sample"
STOPPED = "the {} contained tokens of a chat template, which are left out"
TOKENS_TOO = "the values of its tokens are left out with it"


def row_without_thoughts(row: AnswerRow) -> AnswerRow:
    """Return a row without thoughts and tokens of a template in its texts; ``own`` keeps them.

    An answer that is all thought is none, a sample of that kind is empty. What is known of the
    tokens belongs to the whole text, and goes with the thought.
    """
    texts = [row.answer or "", *row.samples]
    splits = [split_thoughts(text) for text in texts]
    left = [
        text if split.text == text else split.text.strip() if split.closed else ""
        for text, split in zip(texts, splits, strict=True)
    ]
    if left == texts:
        return row
    problems = []
    for number, split in enumerate(splits):
        told = THOUGHT if split.closed else UNENDED
        if split.text != texts[number]:
            told = told if split.thoughts else STOPPED
            problems.append(told.format("sample" if number else "answer"))
    changed: dict[str, Any] = {"samples": tuple(left[1:])}
    if left[0] != texts[0]:
        changed["answer"] = left[0] if splits[0].closed else None
    if splits[0].thoughts:
        changed |= dict.fromkeys(("logprobs", "entropies", "margins", "tokens"))
        problems += [TOKENS_TOO] * (row.logprobs is not None or row.entropies is not None)
    for name in ("sample_tokens", "sample_logprobs", "sample_entropies"):
        if (values := getattr(row, name)) is not None:
            pairs = zip(splits[1:], values, strict=True)
            changed[name] = tuple(None if split.thoughts else value for split, value in pairs)
    return msgspec.structs.replace(
        row, problems=(*row.problems, *dict.fromkeys(problems)), **changed
    )


def with_checked_texts(row: AnswerRow) -> AnswerRow:
    """Return a row without the thoughts in its texts.

    Empty samples are a problem, and stay; so is an answer that its row says was cut off.
    """
    ended = ending_in(row.own)
    if ended.finish is not None:
        told = tuple(ended.problems())
        row = msgspec.structs.replace(row, finish=ended.finish, problems=(*row.problems, *told))
    empty = sum(map(is_blank, row.samples))
    if empty:
        why = f"empty samples: {empty} of {len(row.samples)} ({EMPTY})"
        row = msgspec.structs.replace(row, problems=(*row.problems, why))
    return row_without_thoughts(row)


def is_empty(value: Any) -> bool:
    """Tell whether a cell holds nothing."""
    value = plain_cell(value)
    return value is None or (isinstance(value, str) and is_blank(value))


def recorded(row: AnswerRow, name: str) -> float | None:
    """Return a verdict that came with the file, 1 or 0: a grader's, or that of a column."""
    if name in row.recorded:
        return row.recorded[name]
    return person_verdict(plain_cell(row.own.get(name)), [])


#: how a column is named on the command line, and in Python
OPTION, KEYWORD = "--columns {0}={1}", "columns={{{0!r}: {1!r}}}"


def only_samples(
    names: Collection[object], columns: Mapping[str, str], place: object, naming: str
) -> list[str]:
    """Return the note on a table with samples and no answers.

    ``naming`` is how to name a column: OPTION or KEYWORD. Raises InputError for a table without
    samples too, and for one without a column that ``columns`` names.
    """
    check_named_columns(names, columns, place)
    there = {"answer", "samples"} & places_of(names, columns).keys()
    ours, likely = "answer", called_elsewhere("answer", names, columns, ANSWER_NAMES)
    if not there and likely is None and (several := called_elsewhere("samples", names, columns)):
        ours, likely = "samples", several
    hint = naming.format(ours, likely or "COLUMN")
    if not there:
        raise InputError(
            f"{place}: expected a column 'answer' (or 'samples'), got {column_list(names)}; "
            f"{'did you mean' if likely else 'name it with'} {hint}"
        )
    meant = f"did you mean {likely!r}? {hint}" if likely else f"{hint} names another"
    return [f"no column 'answer', so only the samples are scored; {meant}"] * (
        "answer" not in there
    )


#: what ``sayso export`` calls our columns, and a column that only its tables have
EXPORTED = MappingProxyType({"samples": "draws", "gold": "golds"})
EXPORT_MARK = "draw_labels"
ON_EXPORT = (
    "a table of sayso export: draws are read as samples, golds as gold, and in a paragraph the "
    "sentence about a fact as the answer"
)


def is_exported(row: Mapping[str, object]) -> bool:
    """Tell whether a row is of a table that ``sayso export`` wrote."""
    return EXPORT_MARK in row and row.keys() >= set(EXPORTED.values())


#: samples of a row beyond which pairs of them would take minutes: 500 make 125,000 pairs
MOST_SAMPLES = 500
#: columns with an entry for each sample
OF_SAMPLES = ("samples", "sample_tokens", "sample_token_logprobs", "sample_token_entropies")


def _bounded(given: Mapping[str, object], problems: list[str]) -> dict[str, object]:
    """Return the columns of samples that have more than can be compared, cut, and say so."""
    long = {
        name: value
        for name in OF_SAMPLES
        if isinstance(value := given[name], list | tuple) and len(value) > MOST_SAMPLES
    }
    if long:
        count = max(map(len, long.values()))
        problems.append(f"{count:,} samples: the first {MOST_SAMPLES} are used")
    return {name: value[:MOST_SAMPLES] for name, value in long.items()}


def _without_failed(given: Mapping[str, object]) -> dict[str, object]:
    """Return the columns of an export's draws without the draws that failed, which are null."""
    draws = given["samples"]
    if not isinstance(draws, list | tuple) or None not in draws:
        return {}
    return {
        name: [one for one, text in zip(value, draws, strict=True) if text is not None]
        for name in OF_SAMPLES
        if isinstance(value := given[name], list | tuple) and len(value) == len(draws)
    }


def columns_in(row: Mapping[str, object], columns: Mapping[str, str]) -> Mapping[str, str]:
    """Return which column of a row is which of ours: ``columns``, and those of an export."""
    if not is_exported(row):
        return columns
    sentence = {"answer": "sentence"} if row.get("form") == "long" else {}
    return {**EXPORTED, **sentence, **columns}


def answer_row(
    row: Mapping[str, object],
    columns: Mapping[str, str] | None = None,
    place: str = "",
    *,
    loose: bool = False,
    others: Collection[str] = (),
) -> AnswerRow:
    """Return what a row says. ``loose``: lists may be written as JSON text (CSV has no lists).

    ``others`` are columns that something else reads. Nothing in a row raises: what cannot be read
    stands in ``problems``; an ``error`` explains a row without an answer.
    """
    problems: list[str] = []
    places = places_of(row, columns or {}, others)
    given = dict.fromkeys(COLUMNS) | {ours: row.get(theirs) for ours, theirs in places.items()}
    if loose:
        given = {n: _cell(n, v, problems) for n, v in given.items()}
    if is_exported(row):
        given |= _without_failed(given)
    given |= _bounded(given, problems)
    gold, golds = _gold(given["gold"], given["aliases"], problems)
    texts: dict[str, Any] = {name: _text(name, given[name], problems) for name in TEXTS}
    samples = _texts("samples", given["samples"], problems)
    answer = AnswerRow(
        place=place,
        **texts | {"question": texts["question"] or ""},
        samples=samples or (),
        logprobs=finite_numbers("token_logprobs", given["token_logprobs"], problems),
        entropies=finite_numbers("token_entropies", given["token_entropies"], problems),
        margins=finite_numbers("token_margins", given["token_margins"], problems),
        tokens=_texts("tokens", given["tokens"], problems),
        sample_tokens=_nested("sample_tokens", given, samples, problems, _texts),
        sample_logprobs=_nested("sample_token_logprobs", given, samples, problems, finite_numbers),
        sample_entropies=_nested(
            "sample_token_entropies", given, samples, problems, finite_numbers
        ),
        gold=gold,
        human=person_verdict(given["human"], problems, places.get("human", "human")),
        votes=_votes(given["human"]),
        stated=_share("stated_confidence", given["stated_confidence"], problems),
        own=row,
        answerable=_truth("answerable", given["answerable"], problems),
        golds=golds,
    )
    answer = _of_the_same_tokens(answer, problems)
    above = sum(value > ABOVE_ZERO for value in answer.logprobs or ())
    if above:
        problems.append(
            f"{above} of {len(answer.logprobs or ())} token_logprobs are above 0: expected natural "
            "logarithms of probabilities"
        )
    if answer.answer is not None and is_blank(answer.answer):
        problems.append("the answer is empty")
    ends = "samples are not texts"
    told = any(p.startswith(("answer", "samples")) or p.endswith(ends) for p in problems)
    if answer.answer is None and not answer.samples and not told:
        failed = row.get("error")
        problems.append(f"failed: {reason_in(failed)}" if failed else NO_TEXT)
    return msgspec.structs.replace(answer, problems=tuple(problems)) if problems else answer


def _of_the_same_tokens(answer: AnswerRow, problems: list[str]) -> AnswerRow:
    """Return a row without values that are of other tokens than its log-probabilities."""
    for name, ours in (
        ("token_entropies", "entropies"), ("token_margins", "margins"), ("tokens", "tokens")
    ):  # fmt: skip
        values, logprobs = getattr(answer, ours), answer.logprobs
        if values is not None and logprobs is not None and len(values) != len(logprobs):
            problems.append(f"{len(values)} {name} for {len(logprobs)} token_logprobs: left out")
            answer = msgspec.structs.replace(answer, **{ours: None})
    return answer


def _cell(name: str, value: object, problems: list[str]) -> object:
    """Return the value of a text cell: empty is nothing, a list is JSON or as Python writes it."""
    if not isinstance(value, str):
        return value
    if not value.strip():
        return value if name == "answer" else None
    if name in ("gold", "aliases"):
        try:
            return read_list_cell(value)
        except InputError as error:
            problems.append(str(error))
            return None
    if name in TEXTS or value.lstrip()[:1] not in ("[", "{"):
        return value
    values = list_in(value)
    return value if values is None else values  # a text where a list belongs becomes a problem


def _text(name: str, value: object, problems: list[str]) -> str | None:
    if name in SPOKEN:
        held = cell_value(value) if isinstance(value, str) else None
        if is_spoken(held) or (name == "answer" and _is_unclear(held)):
            value = held
        if not isinstance(value, str) and (said := spoken_text(value, SPOKEN[name])):
            problems.append(f"the {name} is a message or a chat: its last text is read")
            return said
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return str(value)
    text = as_text(value)
    if isinstance(text, str):
        return text
    problems.append(f"{name} is {json_kind(value)}, expected text")
    return None


def _is_unclear(value: object) -> bool:
    """Tell whether an object that is an answer does not say which part of it answers."""
    if not isinstance(value, dict):
        return False
    names = {"".join(filter(str.isalnum, name.casefold())) for name in value}
    several = sum(not isinstance(part, int | float) for part in value.values()) > 1
    return "error" in names or (several and ANSWER_KEYS.isdisjoint(names))


def _texts(name: str, value: object, problems: list[str]) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        problems.append(f"{name} is {json_kind(value)}, expected a list of texts")
        return None
    texts = [_text(name, item, []) for item in value]
    missing = sum(item is None for item in texts)
    if missing:
        problems.append(f"{missing} of {len(texts)} {name} are not texts")
        return None
    return tuple(item for item in texts if item is not None)


def finite_numbers(name: str, value: object, problems: list[str]) -> Floats | None:
    """Return a list of numbers; all that is none, or not finite, becomes NaN and a problem."""
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        problems.append(f"{name} is {json_kind(value)}, expected a list of numbers")
        return None
    if (
        set(map(type, value)) == {float}
        and min(value) > UNKNOWN_LOGPROB
        and all(map(math.isfinite, value))
    ):
        return tuple(value)
    values = tuple(_number(item) for item in value)
    bad = sum(not math.isfinite(item) for item in values)
    if bad:
        problems.append(f"{bad} of {len(values)} {name} are missing or not finite")
    return values


def reply_columns(replies: Sequence[ReplyText], problems: list[str]) -> dict[str, Any]:
    """Return what replies tell of a row: the first is its answer, the others are samples."""
    if not replies:
        return {}
    logprobs = [finite_numbers("log-probabilities", one.tokens, problems) for one in replies]
    return {
        "answer": replies[0].text,
        "samples": tuple(reply.text or "" for reply in replies[1:]),
        "finish": replies[0].finish,
        "logprobs": logprobs[0],
        "tokens": token_texts(replies[0].tokens),
        "sample_logprobs": tuple(logprobs[1:]) if any(logprobs[1:]) else None,
    }


def _number(value: object) -> float:
    """Return a number; of ``{"token": …, "logprob": …}``, an endpoint's form, its logprob.

    The -9999 of servers for a log-probability that they do not know is none.
    """
    if isinstance(value, dict):
        value = value.get("logprob")
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return math.nan
    try:
        return float(value) if math.isfinite(value) and value > UNKNOWN_LOGPROB else math.nan
    except OverflowError:
        return math.nan


def _share(name: str, value: object, problems: list[str]) -> float | None:
    """Return a share, 0..1; CSV has it as text."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    number = math.nan
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            number = float(value.replace(",", "."))
    else:
        number = _number(value)
    if 0 <= number <= 1:
        return number
    problems.append(f"{name} is {str(value)[:40]!r}, expected a number from 0 to 1")
    return None


def _nested(
    name: str,
    given: Mapping[str, object],
    samples: Sequence[str] | None,
    problems: list[str],
    read: Callable[[str, object, list[str]], tuple[One, ...] | None],
) -> tuple[tuple[One, ...] | None, ...] | None:
    value = given[name]
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        problems.append(f"{name} is {json_kind(value)}, expected a list of lists")
        return None
    if len(value) != len(samples or ()):
        problems.append(f"{len(value)} lists in {name} for {len(samples or ())} samples")
        return None
    return tuple(read(name, item, problems) for item in value)


def _gold(
    value: object, aliases: object, problems: list[str]
) -> tuple[tuple[str, ...] | None, tuple[Gold, ...] | None]:
    """Return all texts that are right, and the true values where they are more than texts.

    An empty list is no gold. ``aliases`` are other ways to write a single gold.
    """
    try:
        golds = golds_in(value, aliases)
    except InputError as error:
        problems.append(str(error))
        return (None, None) if aliases is None else _gold(value, None, problems)
    right = tuple(dict.fromkeys(name for gold in golds for name in gold.names))
    return right or None, golds if golds and any(g != Gold(g.value) for g in golds) else None


def _votes(value: object) -> Floats:
    """Return the verdicts of several people, each at its place; none for a single verdict."""
    if not isinstance(value, list | tuple):
        return ()
    votes = (person_verdict(vote, []) for vote in value)
    return tuple(math.nan if vote is None else vote for vote in votes)


def person_verdict(value: object, problems: list[str], name: object = "human") -> float | None:
    """Return a person's verdict: 1 correct, 0 not, ``None`` without one; a tie of votes is none.

    ``name`` is that of its column.
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, list | tuple):
        votes = [person_verdict(item, []) for item in value]
        cast = [vote for vote in votes if vote is not None]
        share = sum(cast) / len(cast) if cast else 0.5
        if share == 0.5:
            problems.append(f"{name}: the votes are tied or unreadable")
            return None
        return float(share > 0.5)
    known = truth_value(value)
    if known is not None:
        return float(known)
    problems.append(f"{name} is {str(value)[:40]!r}, expected true or false")
    return None


def _truth(name: str, value: object, problems: list[str]) -> bool | None:
    """Return whether something holds; CSV has it as text."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    read = None if isinstance(value, list | tuple) else person_verdict(value, [])
    if read is None:
        problems.append(f"{name} is {str(value)[:40]!r}, expected true or false")
        return None
    return bool(read)


# ---- golds in a file of their own, joined by id, as the output of a batch needs it

#: columns that may name a row
IDS = ("custom_id", "id")
#: columns that are read in a file of golds
JOINED = ("gold", "aliases", "human", "question", "context")


def with_golds(rows: Iterator[AnswerRow], path: Path, notices: list[str]) -> Iterator[AnswerRow]:
    """Yield rows with the golds (or verdicts of people) that stand under their id in a file.

    The file (JSONL, JSON, Parquet, CSV, TSV) has ``custom_id`` or ``id``, and ``gold`` or
    ``human``; a question or context fills in for a row that has none. It is read whole, the rows
    are not. ``notices`` count what has no partner. Raises InputError for a file without these
    columns and for one id with two golds.
    """
    known = _golds_by_id(path)
    used: set[str] = set()
    lost = 0
    for row in rows:
        partner = known.get(row.id or "")
        if partner is None:
            lost += 1
            yield row
            continue
        used.add(row.id or "")
        yield msgspec.structs.replace(
            row,
            gold=partner.gold if partner.gold is not None else row.gold,
            golds=partner.golds if partner.gold is not None else row.golds,
            human=partner.human if partner.human is not None else row.human,
            votes=partner.votes or row.votes,
            question=row.question or partner.question,
            context=row.context if row.context is not None else partner.context,
            problems=(*row.problems, *partner.problems),
        )
    if lost:
        notices.append(f"{lost:,} answers have no gold under their id in {path}")
    if len(used) < len(known):
        notices.append(f"{len(known) - len(used):,} golds of {path} match no answer")


def _golds_by_id(path: Path) -> dict[str, AnswerRow]:
    loose = is_text_table(path)
    golds: dict[str, AnswerRow] = {}
    for number, row in read_table(path):
        places = places_of(row, {})
        if all(n in row for n in IDS):
            raise InputError(
                f"{path} has both {' and '.join(IDS)}: delete or rename the one that the answers "
                "do not have"
            )
        name = next((n for n in IDS if n in row), places.get("id"))
        if name is None or not {"gold", "human"} & places.keys():
            raise InputError(
                f"{path}, row {number}: expected {' or '.join(IDS)}, and gold or human; it has "
                f"{', '.join(map(str, row))[:200]}"
            )
        key = str(row[name])
        joined = {n: row[places[n]] for n in JOINED if n in places}
        gold = answer_row(joined, place=f"{path.name} row {number}", loose=loose)
        # "no answer" is no problem of a row that holds none by design
        problems = tuple(p for p in gold.problems if any(n in p for n in JOINED))
        gold = msgspec.structs.replace(gold, place="", own={}, problems=problems)
        if golds.setdefault(key, gold) != gold:
            raise InputError(f"{path}, row {number}: {name} {key[:60]!r} has two different golds")
    return golds


# ---- rows from Python, with what data frames and arrays put into them


def answer_rows(rows: Any, columns: Mapping[str, str] | None = None) -> Iterator[AnswerRow]:
    """Yield what each row says; ``own`` stays the row as it was given.

    ``rows`` are mappings, a mapping of columns, or a table of pandas, polars or pyarrow, in which
    lists may be written as text, as in CSV. Arrays and numbers of numpy are read as lists and
    numbers, NaN in a cell as nothing, as data frames write it. Raises :class:`InputError` before
    the first row is scored: for rows that are neither, or without an answer or samples under the
    given names.
    """
    named = check_column_map(columns or {})
    loose = as_frame(rows) is not None
    rows = rows_in_memory(rows)
    names = dict.fromkeys(name for row in rows for name in row)
    if rows:
        only_samples(names, named, "rows", KEYWORD)
    for number, row in enumerate(rows, 1):
        cells = {name: plain_cell(value) for name, value in row.items()}
        read = with_checked_texts(
            answer_row(cells, columns_in(cells, named), f"row {number}", loose=loose)
        )
        yield msgspec.structs.replace(read, own=row)
