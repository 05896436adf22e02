"""From a run's tables to facts, and the rows that training reads: records and what they share.

A *fact* is one short question, or one paragraph's prompt, with what the model answered and what
the judge made of it. A *row* is one training example. The recipes are beside this file:
``pairs_idk`` (Cheng et al. 2024, as UNCLE uses it), ``pairs_logu`` (paragraphs), ``pairs_mix``,
and ours, ``pairs_calibrated`` and ``pairs_aligned``. All are pure functions: chance is drawn from
hashes of (seed, question), so that the order of the records moves no row, and another fact only
where rows are counted against each other.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from sayso.records import (
    Claim,
    Generation,
    InputError,
    Question,
    Stance,
    Verdict,
    content_id,
)

Form = Literal["short", "long"]
Want = Literal["sft", "dpo"]

#: stages that hold draws of the plain short question
DRAWS = ("probe", "draws")
#: the stage of further paragraphs at T > 0, where a run has one
PARAGRAPHS = "draws-long"
_ARTICLE = re.compile(r"^(?:the|an?)\s+(?=\S)")
_ADDED = re.compile(r"(?<=\S)\s*\([^()]*\)\s*$")
#: letters that no normal form takes apart
_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h"}
)
#: how the draws are got that a recipe lacks
MORE_DRAWS = "ask for them with `sayso run uncle --split train --probe.k {k}`"


class Told(msgspec.Struct, frozen=True):
    """What a paragraph says of one aspect.

    ``start:end`` is the sentence, ``value`` the text inside it that states a value, found without
    a look at the truth. ``right`` is None where the verdict is missing or the stance is not
    committed; ``start`` is None for an aspect that is left out.
    """

    question: Question
    stance: Stance | None
    right: bool | None
    start: int | None = None
    end: int | None = None
    value: str | None = None


class Checked(msgspec.Struct, frozen=True):
    """One claim of a paragraph and its label by evidence: S, NS, IR or None (unread)."""

    start: int
    end: int
    text: str
    label: str | None


class Paragraph(msgspec.Struct, frozen=True):
    """One long answer with its aspects, and with its claims where a run has checked them."""

    text: str
    told: tuple[Told, ...] = ()
    claims: tuple[Checked, ...] = ()


class Fact(msgspec.Struct, frozen=True):
    """One question with the model's own answers to it.

    ``prompt`` is what was asked, ``greedy`` the answer at T=0 ("" where there is none), ``draws``
    those at T=1 in order of their index ("" where one failed or was cut off). ``right`` says of
    each draw whether it is committed and correct, None where its verdict is missing; ``stances``
    how it is voiced. A long fact has no draws but ``paragraphs``, the greedy one first.
    """

    question: Question
    form: Form
    prompt: str
    greedy: str = ""
    greedy_right: bool | None = None
    draws: tuple[str, ...] = ()
    right: tuple[bool | None, ...] = ()
    stances: tuple[Stance | None, ...] = ()
    paragraphs: tuple[Paragraph, ...] = ()

    @property
    def entity(self) -> str:
        """The name of what is asked about; the question's text where it has none."""
        return self.question.entity or self.question.text


class Row(msgspec.Struct, frozen=True):
    """One training example; ``rejected`` is None in rows for supervised fine-tuning.

    ``questions`` are the ids of what it is about, ``kind`` says which rule made it.
    """

    prompt: str
    chosen: str
    rejected: str | None
    form: Form
    entity: str
    questions: tuple[str, ...]
    kind: str


def facts_of(
    questions: Sequence[Question],
    generations: Mapping[str, Iterable[Generation]],
    verdicts: Mapping[str, Iterable[Verdict]],
    *,
    claims: Iterable[Claim] = (),
    labels: Iterable[Verdict] = (),
) -> list[Fact]:
    """Return the facts of a run, short and long, in the order of its questions.

    ``generations`` and ``verdicts`` are the run's tables by stage; only answers to the plain
    prompt are taken. ``claims`` are those of its paragraphs and ``labels`` their verdicts by
    evidence. Questions that were never asked plainly are left out.
    """
    by_id = {q.id: q for q in questions}
    read = {stage: {(v.target, v.asked): v for v in rows} for stage, rows in verdicts.items()}
    drawn: dict[str, dict[int, tuple[Generation, Verdict | None]]] = defaultdict(dict)
    for stage in DRAWS:
        for g in generations.get(stage, ()):
            if g.instructed or g.method not in ("plain", ""):
                continue
            verdict = read.get(stage, {}).get((g.id, g.question)) if g.problem is None else None
            held = drawn[g.question].get(g.request.sample)
            if held is None or held[1] is None:
                drawn[g.question][g.request.sample] = g, verdict
    greedy: dict[tuple[str, str], Generation] = {}
    for form in ("short", "long"):
        for g in generations.get(form, ()):
            if g.method in ("plain", "") and not g.instructed and g.problem is None:
                greedy[form, g.question] = g
    more: dict[str, list[Generation]] = defaultdict(list)
    for g in generations.get(PARAGRAPHS, ()):
        if g.problem is None and not g.instructed:
            more[g.question].append(g)
    checked = _checked(claims, labels)
    found = []
    for question in questions:
        if question.parts:
            parts = [by_id[p] for p in question.parts]
            plain = greedy.get(("long", question.id))
            texts = [("long", plain)] if plain else []
            extra = sorted(more[question.id], key=lambda g: g.request.sample)
            texts += [(PARAGRAPHS, g) for g in extra]
            if not texts:
                continue
            paragraphs = tuple(
                Paragraph(g.text, _told(g, parts, stage, read), checked.get(g.id, ()))
                for stage, g in texts
            )
            prompt = texts[0][1].request.messages[-1].content
            said = plain.text if plain else ""
            found.append(Fact(question, "long", prompt, said, paragraphs=paragraphs))
            continue
        held_all = sorted(drawn.get(question.id, {}).items())
        one = greedy.get(("short", question.id))
        if not held_all and one is None:
            continue
        asked = one if one is not None else held_all[0][1][0]
        judged = read.get("short", {}).get((one.id, question.id)) if one else None
        found.append(
            Fact(
                question,
                "short",
                asked.request.messages[-1].content,
                one.text if one else "",
                _right(judged),
                tuple(g.text if g.problem is None else "" for _, (g, _) in held_all),
                tuple(_right(v) for _, (_, v) in held_all),
                tuple(v.stance if v else None for _, (_, v) in held_all),
            )
        )
    return found


def _right(verdict: Verdict | None) -> bool | None:
    """Whether an answer is committed and correct; None where its verdict is missing."""
    if verdict is None or verdict.value is None:
        return None
    return verdict.value == "correct"


def _told(
    g: Generation,
    parts: Sequence[Question],
    stage: str,
    read: Mapping[str, Mapping[tuple[str, str], Verdict]],
) -> tuple[Told, ...]:
    found = []
    for part in parts:
        verdict = read.get(stage, {}).get((g.id, part.id))
        place = read.get(f"{stage}-spans", {}).get((g.id, part.id))
        value = None
        if place is not None and place.answer_start is not None:
            value = g.text[place.answer_start : place.answer_end]
        stance = verdict.stance if verdict else None
        right = _right(verdict) if stance == "committed" else None
        span = (verdict.start, verdict.end) if verdict else (None, None)
        found.append(Told(part, stance, right, *span, value))
    return tuple(found)


def _checked(claims: Iterable[Claim], labels: Iterable[Verdict]) -> dict[str, tuple[Checked, ...]]:
    label = {v.target: v.label for v in labels}
    found: dict[str, list[Checked]] = defaultdict(list)
    for claim in sorted(claims, key=lambda c: (c.generation, c.start, c.end, c.id)):
        found[claim.generation].append(
            Checked(claim.start, claim.end, claim.text, label.get(claim.id))
        )
    return {generation: tuple(some) for generation, some in found.items()}


def check_draws(facts: Iterable[Fact], k: int) -> None:
    """Refuse short facts with fewer than ``k`` draws, saying how to get them. InputError."""
    some = [f for f in facts if f.form == "short"]
    lacking = [f for f in some if len(f.draws) < k]
    if lacking:
        first = min(lacking, key=lambda f: (len(f.draws), f.question.text))
        raise InputError(
            f"{len(lacking)} of {len(some)} questions have fewer than {k} draws, first "
            f"{first.question.text!r} with {len(first.draws)}: {MORE_DRAWS.format(k=k)}"
        )


def normal_name(name: str) -> str:
    """Return a name without what writing varies in: case, diacritics, width, spaces, marks.

    An article before it and a note in brackets behind it go too ("Orm (film)"): better two things
    of one name kept apart from an evaluation of either than one thing missed.
    """
    plain = unicodedata.normalize("NFKD", name).casefold().translate(_LETTERS)
    short = _ARTICLE.sub("", _ADDED.sub("", plain.strip()))
    letters = (c for c in short if not unicodedata.combining(c))
    return "".join(c for c in letters if c.isalnum()) or plain.strip()


def check_apart(rows: Iterable[Row], evaluated: Iterable[str | Question]) -> None:
    """Refuse rows about anything that is to be evaluated, with the names. Raises InputError.

    Names are compared as ``normal_name`` leaves them. Questions may be given in the names' place;
    then rows about the same question are refused too, also where a row names no entity.
    """
    names: dict[str, str] = {}
    ids: dict[str, str] = {}
    for one in evaluated:
        title = one if isinstance(one, str) else one.entity or one.text
        names.setdefault(normal_name(title), title)
        if not isinstance(one, str):
            ids.setdefault(one.id, title)
    shared: dict[str, int] = {}
    for row in rows:
        hit = names.get(normal_name(row.entity))
        found = [hit] if hit is not None else [ids[q] for q in row.questions if q in ids][:1]
        for name in found:
            shared[name] = shared.get(name, 0) + 1
    if shared:
        first = ", ".join(repr(name) for name in sorted(shared)[:5])
        more = f" and {len(shared) - 5} more" if len(shared) > 5 else ""
        raise InputError(
            f"{sum(shared.values())} training rows are about what is evaluated: {first}{more}; "
            "make them from another split, or leave these entities out of the evaluation"
        )


def chance(*parts: object) -> random.Random:
    """Return a generator that depends on the parts alone, the same on every machine."""
    return random.Random(content_id(["pairs", *map(str, parts)]))


def in_order(rows: Iterable[Row], seed: int, *, distinct: bool = True) -> list[Row]:
    """Return (distinct) rows in an order that depends on the seed and the rows alone."""
    return sorted(set(rows) if distinct else rows, key=lambda row: content_id([seed, row]))


def instructed(
    rows: Iterable[Row], instructions: Mapping[Form, str], share: float = 1.0, seed: int = 0
) -> list[Row]:
    """Return rows of which a ``share`` asks for doubt: the form's instruction behind the prompt."""
    found = []
    for row in rows:
        told = instructions.get(row.form, "")
        if (
            told
            and chance("instructed", seed, row.questions, row.kind, row.chosen).random() < share
        ):
            row = msgspec.structs.replace(row, prompt=f"{row.prompt} {told}")
        found.append(row)
    return found
