"""The columns of tables that users bring: one list for every command that reads such a table.

``--data file:``, ``--answers``, ``sayso score`` and ``judge-check --labeled`` find the columns of
a file by the names below, in every format, and take what they need. A file with all of them can be
given to each. Capitals, spaces and hyphens in a name do not matter.

The column ``answer`` holds what a model answered. Only ``--data file:`` reads it as the gold, in a
file that has no column ``gold`` and nothing else that belongs to an answer of a model
(:func:`gold_in_answer`).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from rapidfuzz.distance import OSA

from sayso.datasets.tools.values import REASONS
from sayso.harmless import printable
from sayso.records import InputError

#: who reads a table: --data file:, --answers, sayso score, judge-check --labeled
Reader = Literal["data", "answers", "score", "labelled"]


class Column(NamedTuple):
    """What a column holds, its other names, and which commands use it."""

    holds: str
    readers: tuple[Reader, ...]
    also: tuple[str, ...] = ()


_ALL: tuple[Reader, ...] = ("data", "answers", "score", "labelled")
_QUESTIONS: tuple[Reader, ...] = ("data", "answers")
_ANSWERS: tuple[Reader, ...] = ("answers", "score")
_LABELLED: tuple[Reader, ...] = ("labelled",)

COLUMNS: dict[str, Column] = {
    "question": Column("the question", _ALL),
    "gold": Column("a true value, or a list of all true values", _ALL, ("golds",)),
    "aliases": Column("other spellings of the gold answer, if there is only one", _ALL),
    "answerable": Column("false if nobody can answer the question", (*_QUESTIONS, "labelled")),
    "entity": Column(
        "what the question is about; intervals resample entities", (*_QUESTIONS, "labelled")
    ),
    "domain": Column("a group to report separately, such as sports", _QUESTIONS, ("category",)),
    "tier": Column("how well known the entity is; 1 is best known", _QUESTIONS),
    "pair": Column("an id that an unanswerable question shares with its twin", _QUESTIONS),
    "aspect": Column("the kind of fact, such as date of birth", _QUESTIONS),
    "context": Column("a passage shown before the question", (*_QUESTIONS, "score")),
    "model": Column("the model that answered", ("answers",)),
    "answer": Column("the model's answer", (*_ANSWERS, "labelled")),
    "samples": Column("list of further answers from the same model, sampled at T=1", _ANSWERS),
    "token_logprobs": Column("list of natural log-probabilities of the answer's tokens", _ANSWERS),
    "token_entropies": Column("list of entropies in nats, one per answer token", _ANSWERS),
    "tokens": Column("list of the answer's tokens as text", _ANSWERS),
    "token_margins": Column(
        "list of differences between the chances of the two likeliest tokens, one per answer token",
        ("score",),
    ),
    "sample_tokens": Column(
        "the same as `tokens` for the samples: one list per sample", ("score",)
    ),
    "sample_token_logprobs": Column(
        "the same as `token_logprobs` for the samples: one list per sample", _ANSWERS
    ),
    "sample_token_entropies": Column(
        "the same as `token_entropies` for the samples: one list per sample", _ANSWERS
    ),
    "stated_confidence": Column("the confidence that the model stated, 0 to 1", _ANSWERS),
    "prompt": Column("the full prompt, if it contains more than the question", ("score",)),
    "human": Column(
        "a person's verdict on the answer: true/false, 1/0, right/wrong, or a list of votes",
        (*_ANSWERS, "labelled"),
        ("correct", "verdict"),
    ),
    "label": Column("a person's label: S, NS, UNC or OMIT", _LABELLED),
    "stance": Column("a person's label for the wording, such as committed or hedged", _LABELLED),
    "content": Column(
        "a person's label for the content: correct, incorrect or none; requires `stance`", _LABELLED
    ),
    "group": Column("a group of answers to report separately", _LABELLED),
    "id": Column("your id for the row; `--golds` joins on it", ("score",), ("custom_id",)),
}
#: what only a model's answer has: beside one of these, ``answer`` is an answer too
OF_ANSWERS = (
    "samples", "token_logprobs", "token_entropies", "sample_token_logprobs",
    "sample_token_entropies", "stated_confidence", "human",
)  # fmt: skip
#: what ``--data file:`` reads as golds where a file has none
ANSWERS_AS_GOLD = ("answer", "answers")
#: what columns are called elsewhere, likeliest first
ELSEWHERE: dict[str, tuple[str, ...]] = {
    "question": ("query", "q", "prompt", "input", "problem"),
    "gold": (
        "gold_answer", "gold_answers", "reference", "references", "reference_answer",
        "reference_answers", "target", "targets", "ground_truth", "ground_truths", "expected",
        "expected_answer", "expected_answers", "expected_output", "correct_answer",
        "correct_answers", "true_answer", "true_answers", "best_answer", "solution",
    ),
    "aliases": ("alias", "synonyms"),
    "samples": (
        "sample", "sampled_answers", "sample_answers", "answer_samples", "sampled_responses",
        "generations", "completions", "responses", "draws",
    ),
    "token_logprobs": ("logprobs", "logprob", "log_probs"),
}  # fmt: skip
#: columns that say the opposite of ours
OPPOSITE = dict.fromkeys(("unanswerable", "is_unanswerable", "is_impossible"), "answerable")
#: columns of which two in one table could say different things are right
ONE_NAME = ("gold", "human", "domain")
#: words that look like a slip of one of ours and are none
WORDS = frozenset(("mode", "modes", "modal", "good", "hold", "contest", "samplers", "tire"))
#: a column that only files have which ``sayso score`` wrote, among many that are scores
SCORED = "score_problems"
#: names of columns that a notice lists
SHOWN = 12


def folded(name: object) -> str:
    """Return a name as names are compared: " Token Logprobs" is "token_logprobs"."""
    return re.sub(r"[\s-]+", "_", str(name).strip()).casefold()


def canonical(name: str) -> str:
    """Return our name of a column that is written by it or by another of its names."""
    return next((ours for ours, column in COLUMNS.items() if name in column.also), name)


@lru_cache(maxsize=512)
def _places(
    names: tuple[Any, ...],
    named: tuple[tuple[str, Any], ...],
    others: tuple[str, ...],
    of_row: bool,
) -> Mapping[str, Any]:
    taken = {theirs for _, theirs in named} | {n for n in others if n not in COLUMNS}
    free = [name for name in names if name not in taken]
    written: dict[str, Any] = {}
    for name in free:
        written.setdefault(folded(name), name)
    places: dict[str, Any] = dict(named)
    for ours, column in COLUMNS.items():
        if ours in places:
            continue
        wanted = (ours, *column.also)
        if of_row and ours in ONE_NAME:
            there = [name for name in free if folded(name) in wanted]
            if len(there) > 1:
                raise InputError(
                    f"columns {' and '.join(repr(safe_name(name)) for name in there)} are both "
                    f"read as {ours!r}: rename one, or choose with --columns {ours}=NAME"
                )
        exact = next((name for name in wanted if name in free), None)
        place = exact or next((written[name] for name in wanted if name in written), None)
        if place is not None:
            places[ours] = place
    return MappingProxyType(places)


def places_of(
    names: Collection[Any],
    named: Mapping[str, Any],
    others: Collection[str] = (),
    *,
    of_row: bool = True,
) -> Mapping[str, Any]:
    """Return which of a table's ``names`` is which of our columns.

    ``named`` maps ours to theirs, as ``--columns`` does; a column that it gives to one of ours is
    no other's. ``others`` are names that something else reads. Names ``of_row`` stand in one row:
    raises InputError where two of them could say different things are right.
    """
    return _places(tuple(names), tuple(named.items()), tuple(others), of_row)


def gold_in_answer(names: Collection[Any], named: Mapping[str, str]) -> str | None:
    """Return the column whose answers are golds, in a table of questions without any other gold."""
    places = places_of(names, named)
    if "gold" in places or any(name in places for name in OF_ANSWERS):
        return None
    taken = set(named.values())
    written = {folded(name): name for name in names if name not in taken}
    return next((written[name] for name in ANSWERS_AS_GOLD if name in written), None)


# ---- --columns


def columns_of(text: str, ours: Collection[str] = COLUMNS) -> dict[str, str]:
    """Read ``question=q,gold=answer``, whose left sides are of ``ours``. Raises InputError."""
    columns: dict[str, str] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        written, equals, theirs = (piece.strip() for piece in part.partition("="))
        name = written if written in ours else canonical(written)
        if not equals or not theirs or name not in ours:
            raise InputError(
                f"--columns {part!r}: expected OURS=YOURS, with one of {', '.join(ours)}"
            )
        if name in columns:
            raise InputError(f"--columns names {name} twice")
        columns[name] = theirs
    return columns


def check_column_map(columns: str | Mapping[str, str]) -> dict[str, str]:
    """Return a map of columns, or what --columns says, by our names. Raises InputError."""
    if isinstance(columns, str):
        return columns_of(columns)
    named = {canonical(name): theirs for name, theirs in columns.items()}
    unknown = [name for name in named if name not in COLUMNS]
    if unknown:
        raise InputError(
            f"--columns {unknown[0]}=…: no such column; expected one or more of "
            f"{', '.join(COLUMNS)}"
        )
    return named


def check_named_columns(names: Collection[Any], named: Mapping[str, str], place: object) -> None:
    """Refuse ``--columns`` that name a column which a table does not have. Raises InputError."""
    for ours, theirs in named.items():
        if theirs not in names:
            raise InputError(
                f"{place}: columns {ours}={theirs} names a missing column; it has "
                f"{column_list(names)}"
            )


def column_list(names: Collection[Any]) -> str:
    """Return names of columns in one line."""
    return ", ".join(map(str, names))[:300] or "none"


def called_elsewhere(
    ours: str, names: Collection[Any], named: Mapping[str, str], among: Collection[str] = ()
) -> str | None:
    """Return the column of a table that probably is ``ours``, mistyped or as others call it."""
    free = {folded(name): str(name) for name in names if name not in named.values()}
    elsewhere = (free[name] for name in among or ELSEWHERE.get(ours, ()) if name in free)
    slip = next((free[name] for name in free if is_slip(name, ours)), None)
    return next(elsewhere, slip)


# ---- columns that nobody reads


def notices_on(
    names: Collection[Any], named: Mapping[str, str], reader: Reader, known: Collection[str] = ()
) -> list[str]:
    """Return notices on the columns of a table that no command reads: slips first, then the others.

    A slip is a name that is nearly that of a column which ``reader`` uses and the table lacks.
    ``known`` are further names that something reads. A verdict under another name than ``human`` is
    told, since it decides who was right.
    """
    places = places_of(names, named, known, of_row=False)
    used = {*places.values(), *known}
    every = {name for ours, column in COLUMNS.items() for name in (ours, *column.also)}
    every |= {*ANSWERS_AS_GOLD, *map(folded, known)}
    unread = [name for name in names if name not in (*used, *REASONS) and folded(name) not in every]
    lacking = {ours for ours, c in COLUMNS.items() if reader in c.readers and ours not in places}
    notices, others = [], []
    verdict = places.get("human")
    if reader in _ANSWERS and "human" not in (*named, folded(verdict or "human")):
        notices.append(f"column {safe_name(verdict)!r} is read as 'human', a person's verdict")
    for name in unread:
        slip = _meant(name, lacking)
        if slip is None:
            others.append(safe_name(name))
        else:
            notices.append(f"column {safe_name(name)!r} is not read; {slip}")
    if others and SCORED not in names:
        more = f" and {len(others) - SHOWN} more" if len(others) > SHOWN else ""
        notices.append(f"columns not read: {', '.join(others[:SHOWN])}{more}")
    return notices


def slips(notices: Collection[str]) -> list[str]:
    """Return those of the notices that are on a mistyped column, without what to type."""
    return [text.partition(" --columns ")[0] for text in notices if " is not read; " in text]


def meant_as(ours: str, notices: Collection[str]) -> str | None:
    """Return that one of the notices which takes a column for ``ours``, a column of ours."""
    asked = f" is not read; did you mean {ours!r}?"
    return next((text for text in notices if asked in text), None)


def slips_among(names: Collection[Any], lacking: Collection[str]) -> list[str]:
    """Return notices on names that are nearly one of ``lacking``, columns that a table lacks."""
    every = {name for ours, column in COLUMNS.items() for name in (ours, *column.also)}
    return [
        f"column {safe_name(name)!r} is not read; did you mean {ours!r}?"
        for name in names
        if folded(name) not in every
        for ours in lacking
        if is_slip(folded(name), ours)
    ]


def safe_name(name: object) -> str:
    """Return a name that somebody else chose, on one line and harmless."""
    text = printable(name) or "(no name)"
    return f"{text[:39]}…" if len(text) > 40 else text


def _meant(theirs: object, lacking: Collection[str]) -> str | None:
    """Return what a column that nobody reads may have been meant as; ``None`` where nothing is."""
    name = folded(theirs)
    if OPPOSITE.get(name) in lacking:
        return f"{OPPOSITE[name]!r} says the opposite (false if nobody can answer)"
    for ours, elsewhere in ELSEWHERE.items():
        if ours in lacking and name in elsewhere:
            return _as(ours, theirs)
    candidates = (n for ours in COLUMNS if ours in lacking for n in (ours, *COLUMNS[ours].also))
    near = [(OSA.distance(name, ours), ours) for ours in candidates if is_slip(name, ours)]
    if not near:
        return None
    return _as(canonical(min(near)[1]), theirs)


def _as(ours: str, theirs: object) -> str:
    """Return the question whether a column was meant, with an option that a shell takes."""
    option = shlex.quote(f"{ours}={safe_name(theirs)}")
    return f"did you mean {ours!r}? --columns {option} reads it"


def is_slip(name: str, ours: str) -> bool:
    """Tell whether a name is ours, mistyped: one letter off, in long names two, or out of order.

    A name with something before or behind it (``answer_id``, ``question2``) is another name, but
    for a plural and a doubled letter; so is a short one with another letter (``good``, ``gold``).
    """
    if name == ours or name in WORDS or len(name) < 4 or len(ours) < 4:
        return False
    if name.startswith(ours):
        return name[len(ours) :] in ("s", "_", ours[-1])
    if name.endswith(ours):
        return name[: -len(ours)] == ours[0]
    if len(name) == len(ours) and sorted(name) == sorted(ours):
        return name[0] == ours[0]
    if len(name) == len(ours) <= 5:
        return False
    return OSA.distance(name, ours) <= (2 if len(ours) >= 8 else 1)
