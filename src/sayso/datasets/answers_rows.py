"""One row of a user's file: what it says under each of our columns, and what is wrong with it."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence

import msgspec

from sayso.datasets.cells import list_in
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
        given = {n: _listed(n, v) for n, v in given.items()}
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


def _listed(name: str, value: object) -> object:
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
