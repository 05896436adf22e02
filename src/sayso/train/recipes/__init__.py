"""Which training rows a recipe makes of a run's facts, for SFT and for DPO.

    short       rows of the short questions
    long        rows of the paragraphs
    mix         both, a share ``xi`` of them long
    calibrated  ours: a word of doubt before values with which few draws agree (graded rows)

The first three are Idk rows and UNCLE's pairs of paragraphs (``style`` "paper"; LoGU's with
``pairs`` "logu"), or rows of which one label a fact decides the wording in both forms (``style``
"known", ours).

Rows ask for doubt as the evaluation does (the instruction behind the prompt). Beside them stand the
model's own answers to plain prompts (``plain``), so that training it to hedge when asked to does
not train it to hedge always.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from sayso.datasets.catalogue import is_topic
from sayso.records import InputError, Question, content_id
from sayso.storage.atomic import replacing
from sayso.train.config import RowSettings
from sayso.train.recipes.by_model import Author, rows_by_model
from sayso.train.recipes.calibrated import graded_rows, is_plain
from sayso.train.recipes.idk import idk, known_state
from sayso.train.recipes.known import known_rows, plain_rows
from sayso.train.recipes.logu import logu, uncle_pairs
from sayso.train.rows import (
    Fact,
    Form,
    TrainingRow,
    Want,
    chance,
    check_apart,
    in_order,
    instructed,
)

# ---- mix rows: short and long form in one training set of a fixed size (UNCLE, section 6)
#
# xi is the share of long-form rows, .7 in the paper. Every xi gives the same number of rows, or
# the sets could not be compared: too few rows of a form are refused, never repeated.


def form_shares(xi: float, size: int) -> tuple[int, int]:
    """Return (short, long) rows of a set. Raises InputError for a share outside 0..1."""
    if not 0 <= xi <= 1:
        raise InputError(f"xi is {xi:g}; expected the share of long-form rows, 0 to 1")
    if size < 1:
        raise InputError(f"size is {size}; expected at least 1 row")
    long = round(xi * size)
    return size - long, long


def largest(short: int, long: int, xis: Sequence[float]) -> int:
    """Return the largest size that ``short`` and ``long`` rows allow for every xi."""
    size = short + long
    while size and any(s > short or g > long for s, g in (form_shares(xi, size) for xi in xis)):
        size -= 1
    return size


def mix(
    short: Sequence[TrainingRow], long: Sequence[TrainingRow], xi: float, size: int, seed: int = 0
) -> list[TrainingRow]:
    """Return ``size`` distinct rows of which round(xi * size) are long. Raises InputError.

    A larger share holds the long rows of every smaller one, so that sets differ by as little as
    they must.
    """
    wanted = form_shares(xi, size)
    rows: list[TrainingRow] = []
    for form, given, number in (("short", short, wanted[0]), ("long", long, wanted[1])):
        strange = next((r for r in given if r.form != form), None)
        if strange is not None:
            raise InputError(f"mix: a {strange.form} row among the {form} ones: {strange.prompt!r}")
        distinct = sorted(set(given), key=content_id)
        if len(distinct) < number:
            raise InputError(
                f"mix: xi {xi:g} of {size} rows takes {number} {form} ones, and there are "
                f"{len(distinct)}; a size of {largest(len(set(short)), len(set(long)), [xi])} "
                "would do, or a run over more entities"
            )
        chance("mix", seed, form).shuffle(distinct)
        rows += distinct[:number]
    return in_order(rows, seed)


#: a model that is ignorant (or sure) of fewer training facts than this has nothing to learn
LEAST = 10


class RowSet(NamedTuple):
    """The rows of one seed, and what was left out and why."""

    sft: list[TrainingRow]
    dpo: list[TrainingRow]
    notes: list[str]


def check_known_and_unknown(facts: Sequence[Fact], settings: RowSettings) -> tuple[int, int]:
    """Return how many short facts are known and unknown; refuse too few of either. InputError."""
    short = [f for f in facts if f.form == "short"]

    def split(theta: float) -> tuple[int, int]:
        states = [known_state(f.right[: settings.k], theta, settings.low) for f in short]
        return states.count(True), states.count(False)

    known, unknown = split(settings.theta)
    shares = [hits / settings.k for hits in range(settings.k, 0, -1)]
    enough = [t for t in shares if t > (settings.low or 0) and min(split(t)) >= LEAST]
    for word, number, data in (("unknown", unknown, "harder"), ("known", known, "easier")):
        if number < LEAST:
            # the one nearest to what was wanted
            near = min(enough, key=lambda theta: abs(theta - settings.theta), default=None)
            other = (
                ""
                if near is None
                else ", --theta {:g} ({} known, {} unknown)".format(near, *split(near))
            )
            raise InputError(
                f"only {number} of {len(short)} training facts are {word} "
                f"({known} known, {unknown} unknown, {len(short) - known - unknown} between or "
                f"unread, theta {settings.theta:g}): training needs at least {LEAST}; take more "
                f"entities (--train-limit){other}, or {data} data"
            )
    return known, unknown


def check_worded(rows: Sequence[TrainingRow], settings: RowSettings) -> None:
    """Refuse rows of recipe calibrated that hedge nearly all answers, or nearly none. InputError.

    What is right does not enter there, so ``theta`` says nothing about it.
    """
    plain = sum(is_plain(row.chosen) for row in rows)
    for number, how, change in (
        (plain, "without a hedge", "a lower"),
        (len(rows) - plain, "with one", "a higher"),
    ):
        if number < LEAST:
            raise InputError(
                f"recipe calibrated words only {number} of {len(rows)} rows {how}: training needs "
                f"at least {LEAST}; take more entities (--train-limit), or {change} plain_from "
                f"(it is {settings.plain_from:g})"
            )


def check_forms(
    recipe: str, questions: Sequence[Question], settings: RowSettings, *, by_model: bool = False
) -> None:
    """Refuse questions of which a recipe can make no rows, before they are asked. InputError.

    ``by_model``: a model makes the rows of paragraphs.
    """
    has = {
        "short": any(not (q.parts or is_topic(q)) for q in questions),
        "long": any(q.parts or is_topic(q) for q in questions),
    }
    needed = {"short": "short questions", "long": "paragraphs"}
    for form, what in needed.items():
        if recipe not in ("calibrated", "long" if form == "short" else "short") and not has[form]:
            raise InputError(
                f"recipe {recipe} makes rows of {what}, and the training data have none: use "
                "another --recipe, or add a set that has them with --train-data"
            )
    ways = ("evidence", "consistency") if by_model else ("evidence",)
    useful = settings.style == "paper" and settings.veracity in ways
    if recipe != "short" and not useful and any(map(is_topic, questions)):
        raise InputError(
            "topics have no golds: their paragraphs make rows with --style paper and --veracity "
            "evidence (and --knowledge SOURCE), or with --rows-by MODEL and --veracity consistency"
        )


def make(
    recipe: str,
    facts: Sequence[Fact],
    settings: RowSettings,
    instructions: Mapping[Form, str],
    size: tuple[int, int],
    seed: int,
    author: Author | None = None,
    equal: Sequence[float] = (),
) -> RowSet:
    """Return the rows of a recipe, at most ``size`` for (SFT, DPO). Raises InputError.

    An ``author`` makes the rows of paragraphs in the rules' place. ``equal`` are shares of long
    rows (short: 0, long: 1): each stage has as many rows as a mix of every one of them can have.
    """
    if equal:
        xi = {"short": 0.0, "long": 1.0}.get(recipe, settings.xi)
        recipe, settings = "mix", dataclasses.replace(settings, xi=xi)
    settings.check(recipe)
    # by truth are labeled: paragraphs sentence by sentence, answers of recipe calibrated never
    if recipe != "calibrated" and (recipe != "long" or settings.style != "paper"):
        check_known_and_unknown(facts, settings)
    notes: list[str] = []
    sides: dict[Want, list[TrainingRow]] = {}
    plain: dict[Want, int | None] = {}
    wants: tuple[Want, ...] = ("sft", "dpo")
    for want, most in zip(wants, size, strict=True):
        if not most:
            sides[want] = []
            continue
        remarks: list[str] = []
        wanted = _WantedRows(recipe, want, most, seed, remarks, author, equal)
        rows, plain[want] = _rows(facts, settings, wanted)
        if not rows:
            raise InputError(
                f"recipe {recipe} makes no {want.upper()} row of {len(facts)} facts: "
                f"{'; '.join(remarks) or 'no fact has what it needs'}"
            )
        if recipe == "calibrated" and want == "sft":
            check_worded(rows, settings)
        notes += [f"{want.upper()}: {note}" for note in dict.fromkeys(remarks)]
        sides[want] = instructed(rows, instructions, 1.0, seed)
    for want in wants:
        kept = in_order(_plain(sides[want], facts, settings, want, seed), seed)[: plain.get(want)]
        sides[want] = in_order([*sides[want], *kept], seed)
    return RowSet(sides["sft"], sides["dpo"], notes)


class _WantedRows(NamedTuple):
    """Which rows are made; ``notes`` is filled with what was left out and why."""

    recipe: str
    want: Want
    most: int
    seed: int
    notes: list[str]
    author: Author | None
    equal: Sequence[float]


def _rows(
    facts: Sequence[Fact], settings: RowSettings, wanted: _WantedRows
) -> tuple[list[TrainingRow], int | None]:
    """Return a recipe's rows of one sort, without the instruction, and the most plain ones."""
    recipe, want, most, seed, notes, _, equal = wanted
    if recipe == "calibrated":
        rows = graded_rows(facts, settings, want=want, seed=seed, notes=notes)
        return in_order(rows, seed)[:most], None
    short, long = _both(facts, settings, wanted)
    if recipe == "mix":
        shares = equal or (settings.xi,)
        total = min(most, largest(len(set(short)), len(set(long)), shares))
        named = ", ".join(f"{xi:g}" for xi in shares)
        if not total:
            reasons = "; ".join(dict.fromkeys(notes))
            other = "" if long or not short else ", or --recipe short"
            raise InputError(
                f"mix: {len(short)} short and {len(long)} long rows give no set with xi "
                f"{named}{f' ({reasons})' if reasons else ''}: take more entities "
                f"(--train-limit){other}"
            )
        sets = {xi: mix(short, long, xi, total, seed) for xi in shares}
        plain = min(len(set(_plain(some, facts, settings, want, seed))) for some in sets.values())
        if equal:
            notes.append(f"equal rows: {total:,} and {plain:,} plain ones for each xi of {named}")
        elif total < most:
            notes.append(_fewer("mix", total, most, f"all that xi {named} allows"))
        return sets[settings.xi], plain
    rows = in_order(short or long, seed)[:most]
    if len(rows) < most:
        notes.append(_fewer(recipe, len(rows), most, "all there are"))
    return rows, None


def _fewer(recipe: str, number: int, most: int, why: str) -> str:
    """Return what is said where a recipe gives fewer rows than are wanted.

    UNCLE's Short, Long and Mix have the same number of rows.
    """
    return (
        f"{recipe}: {number:,} of {most:,} rows, {why}: for as many rows by short, long and mix, "
        "train each with --set equal_rows=true"
    )


def _both(
    facts: Sequence[Fact], settings: RowSettings, wanted: _WantedRows
) -> tuple[list[TrainingRow], list[TrainingRow]]:
    """Return short and long rows of a style; none of a form that the recipe does not take."""
    recipe, want, _, seed, notes, author, _ = wanted
    if settings.style == "known":
        rows = known_rows(facts, settings, want=want, seed=seed, notes=notes)
        short, long = ([r for r in rows if r.form == form] for form in ("short", "long"))
        return [] if recipe == "long" else short, [] if recipe == "short" else long
    short = long = []
    if recipe != "long":
        short = idk(alone(facts), settings, want=want, seed=seed, notes=notes)
    if recipe != "short" and author is not None:
        long = rows_by_model(facts, settings, author, want=want, seed=seed, notes=notes)
    elif recipe != "short":
        of_paragraphs = uncle_pairs if settings.pairs == "uncle" else logu
        long = of_paragraphs(facts, settings, want=want, seed=seed, notes=notes)
    return short, long


def alone(facts: Sequence[Fact]) -> Sequence[Fact]:
    """Return the short facts of sets without paragraphs, or all facts where there is no such set.

    UNCLE makes its Idk rows from TriviaQA and its LoGU rows from biographies.
    """
    paragraphs = {f.question.dataset for f in facts if f.form == "long"}
    apart = [f for f in facts if f.form == "short" and f.question.dataset not in paragraphs]
    return apart if paragraphs and apart else facts


def _plain(
    others: Sequence[TrainingRow],
    facts: Sequence[Fact],
    settings: RowSettings,
    want: Want,
    seed: int,
) -> list[TrainingRow]:
    """Return rows that keep plain prompts answered as they were: a share of each form's.

    Pairs: a share of those that prefer a hedge.
    """
    share = settings.plain if want == "sft" else settings.plain_pairs
    rows: list[TrainingRow] = []
    forms: tuple[Form, ...] = ("short", "long")
    for form in forms:
        own = [row for row in others if row.form == form]
        if want == "dpo" and form == "short":
            own = [row for row in own if not is_plain(row.chosen)]
        number = round(share * len(own))
        rows += plain_rows(facts, form, number, words=settings.words, want=want, seed=seed)
    return rows


def row_counts(row_set: RowSet) -> dict[str, int]:
    """Return how many rows there are by "stage form kind"."""
    counted: Counter[str] = Counter()
    for stage, rows in (("sft", row_set.sft), ("dpo", row_set.dpo)):
        counted.update(f"{stage} {row.form} {row.kind}" for row in rows)
    return dict(sorted(counted.items()))


def keep_rows(row_set: RowSet, folder: Path, seed: int, measured: Sequence[str | Question]) -> None:
    """Write the rows of a seed, after a check that none is about what is measured. InputError.

    Questions tell more than names: see ``check_apart``.
    """
    check_apart([*row_set.sft, *row_set.dpo], measured)
    for stage, rows in (("sft", row_set.sft), ("dpo", row_set.dpo)):
        with replacing(folder / f"{stage}-{seed}.jsonl") as file:
            file.writelines(msgspec.json.encode(row) + b"\n" for row in rows)
