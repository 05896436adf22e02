"""Labelled answers to check a judge with: a small set of ours, and any file of the user's."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import msgspec

from sayso.annotate import Item
from sayso.records import (
    LABELS,
    Content,
    Generation,
    InputError,
    Message,
    Question,
    Request,
    Stance,
    Verdict,
    content_id,
    golds_of,
    question_id,
)

OURS = "our labels"
#: a line longer than this is no labelled answer
LONGEST = 1_000_000
EXPECTED = (
    "expected question, golds, answer and one of verdict (right, wrong), label (S, NS, UNC, OMIT) "
    "or stance (with content)"
)


class Label(NamedTuple):
    """What people said of one aspect: a verdict's two parts, or only one of them, or a letter."""

    stance: Stance | None = None
    content: Content | None = None
    letter: str | None = None
    right: bool | None = None

    def agrees(self, verdict: Verdict) -> bool:
        """Tell whether a verdict that could be read says the same.

        Two parts are compared by UNCLE's projection. "NS" covers an aspect that is not spoken of,
        as in the paper. "right" is content: an answer can be right and hedged.
        """
        if self.right is not None:
            return (verdict.content == "correct") == self.right
        value = verdict.value
        if self.letter is not None:
            said = "" if value is None else LABELS[value]
            return said == self.letter or (self.letter == "NS" and said == "OMIT")
        if self.content is None:
            return verdict.stance == self.stance
        return value == Verdict("", "", "", stance=self.stance, content=self.content).value


class Labelled(NamedTuple):
    """An answer to judge, and the label of each of its questions."""

    item: Item
    labels: tuple[Label, ...]
    group: str


class _Aspect(msgspec.Struct, forbid_unknown_fields=True):
    question: str
    golds: list[str]
    stance: Stance
    content: Content


class _Ours(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    group: str
    form: Literal["short", "long"]
    text: str
    aspects: list[_Aspect]
    entity: str = ""
    origin: str = msgspec.field(default="", name="from")


class _Line(msgspec.Struct):
    """A line of a user's file; other keys are left alone."""

    question: str
    answer: str
    golds: list[str]
    verdict: Literal["right", "wrong"] | None = None
    label: Literal["S", "NS", "UNC", "OMIT"] | None = None
    stance: Stance | None = None
    content: Content | None = None
    entity: str = ""
    group: str = "all"


def our_set() -> tuple[list[Labelled], str]:
    """Return the shipped answers and the hash of their file (annotate/check_set.md)."""
    raw = (resources.files("sayso") / "annotate" / "check_set.jsonl").read_bytes()
    rows = [msgspec.json.decode(line, type=_Ours) for line in raw.splitlines() if line.strip()]
    found = []
    for row in rows:
        labels = tuple(Label(a.stance, a.content) for a in row.aspects)
        asked = [(a.question, a.golds) for a in row.aspects]
        found.append(Labelled(make_item(asked, row.text, row.form, row.entity), labels, row.group))
    return found, content_id(raw.decode())[:8]


def make_item(
    asked: Sequence[tuple[str, Sequence[str]]], text: str, form: str = "short", entity: str = ""
) -> Item:
    """Return an answer as a run would hand it to a judge; ``asked`` are questions with golds."""
    questions = tuple(
        Question(
            question_id("judge-check", entity, question),
            "judge-check",
            question,
            golds=golds_of(golds),
            entity=entity,
        )
        for question, golds in asked
    )
    request = Request((Message("user", asked[0][0]),), temperature=0.0)
    made = Generation(
        request,
        id=content_id(["judge-check", [q.id for q in questions], text]),
        question=questions[0].id,
        stage=form,
        form=form,
        text=text,
        finish="stop",
    )
    return Item(made, questions)


def read_labelled(path: Path) -> list[Labelled]:
    """Read a JSONL file of labelled answers; raises InputError with file and line.

    A line: ``{"question": …, "golds": […], "answer": …}`` and one of ``"verdict": "right"``,
    ``"label": "UNC"``, or ``"stance": "hedged"`` (and ``"content": "correct"``). ``entity`` lets
    answers about one thing share a call, as in a run; ``group`` is shown apart.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"--labelled {path}: cannot be read ({error.strerror or error}); {EXPECTED}"
        ) from None
    found = [
        _read_line(line, f"--labelled {path}, line {number}")
        for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1)
        if line.strip()
    ]
    if not found:
        raise InputError(f"--labelled {path}: no labelled answer in it; {EXPECTED} on each line")
    return found


def _read_line(line: bytes, where: str) -> Labelled:
    if len(line) > LONGEST:
        raise InputError(f"{where}: {len(line):,} bytes are too many for one answer")
    try:
        row = msgspec.json.decode(line, type=_Line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{where}: {error}; {EXPECTED}") from None
    said = [name for name in ("verdict", "label", "stance") if getattr(row, name) is not None]
    if len(said) != 1:
        what = " and ".join(said) or "no label"
        raise InputError(f"{where}: it has {what}; {EXPECTED}")
    if row.content is not None and row.stance is None:
        raise InputError(f"{where}: content {row.content!r} without a stance; {EXPECTED}")
    valued = row.stance in ("committed", "hedged")
    if row.content in ("correct", "incorrect") and not valued:
        raise InputError(
            f"{where}: stance {row.stance!r} has no value, so its content is 'none', not "
            f"{row.content!r}"
        )
    if not row.question.strip() or not [g for g in row.golds if g.strip()]:
        raise InputError(f"{where}: an empty question or no gold answer; {EXPECTED}")
    label = Label(
        row.stance, row.content, row.label,
        None if row.verdict is None else row.verdict == "right",
    )  # fmt: skip
    item = make_item([(row.question, row.golds)], row.answer, "short", row.entity)
    return Labelled(item, (label,), row.group)


def spread(rows: Sequence[Labelled], limit: int | None) -> list[Labelled]:
    """Return at most ``limit`` of the rows, evenly spread over them; 0 or ``None``: all."""
    if not limit or limit >= len(rows):
        return list(rows)
    return [rows[number * len(rows) // limit] for number in range(limit)]


STANCES: tuple[Stance, ...] = get_args(Stance)
