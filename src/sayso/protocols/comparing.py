"""Runs of one protocol beside each other: two, B minus A, or several models on several data sets.

What is compared are the numbers that the protocol declares (:mod:`sayso.protocols.declared`), of
runs whose signatures name the same settings.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from functools import cache, partial

import msgspec

from sayso.metric import FORMS
from sayso.protocols.declared import Declared, differences, joint_number
from sayso.protocols.probes import PROBES
from sayso.protocols.protocol import (
    Beside,
    ComparedRun,
    Comparison,
    Numbers,
    Protocol,
    Sides,
    run_pairs,
    signed_difference,
    unlike,
)
from sayso.records import InputError, part_of

#: parts of slices and signatures that say which answers a number is of
ANSWERS = ("form", "prompt", "method")
#: the numbers of two runs
Two = tuple[list[Declared], list[Declared]]


def compare(
    plan: Protocol, runs: tuple[ComparedRun, ComparedRun], allow: Sequence[str], n: int, seed: int
) -> Comparison:
    """Return B - A of every number that two runs have, with ``n`` resamples, and notes.

    Raises InputError for runs that differ in more than the model, or have nothing in common.
    """
    if "ci" not in runs[0].settings.FREE:  # then a difference is signed with its own resamples
        again = {"resamples": n, "ci_seed": seed}
        settings = [dataclasses.replace(one.settings, **again) for one in runs]
        runs = runs[0]._replace(settings=settings[0]), runs[1]._replace(settings=settings[1])
    both = _shared(plan, runs[0], Beside(runs)), _shared(plan, runs[1], Beside(runs))
    allowed, notes = _check(plan, runs, both, allow)
    notes = [*allowed, *notes, *_in_common(both, (runs[0].name, runs[1].name))]
    alike = cache(partial(same_answers, *runs))

    def same(d: Declared) -> bool:
        form, score = (part_of(d.where, key) for key in ("form", "score"))
        return alike(form, scored=bool(score))

    def given(d: Declared) -> bool:
        return d.name == "p_known" and alike(part_of(d.where, "form"), known=True)

    found = [
        signed_difference(gap, one.where, one.signature, two.signature)
        for one, two, gap in differences(*both, n, seed, same, given)
    ]
    return Comparison(found, notes)


class StoredRow(msgspec.Struct, frozen=True):
    """What a row of answers, verdicts or scores is of, and what it says."""

    id: str = ""
    target: str = ""
    question: str = ""
    asked: str = ""
    by: str = ""
    text: str = ""
    thinking: str | None = None
    stance: str | None = None
    content: str | None = None
    label: str | None = None
    number: float | None = None
    value: float | None = None
    problem: str | None = None


def same_answers(
    base: ComparedRun, new: ComparedRun, form: str, *, scored: bool = False, known: bool = False
) -> bool:
    """Tell whether two runs have the same answers of a form ("": all) by nature, read alike.

    By nature: a model of one identity, which is more than a name, was asked the same, or the probes
    of one run say what is ``known`` in both, which is a matter of these alone. That answers are
    alike by chance says less.
    """
    borrowed = getattr(new.settings, "known_from", "self") not in ("", "self")
    models = {one.manifest.model_identity for one in (base, new)}
    if not (known and borrowed) and (len(models) > 1 or min(models).startswith("api:")):
        return False
    others = {*FORMS} - {form} if form else set()
    kinds = ("generations", "verdicts", "scores") if scored else ("generations", "verdicts")
    runs = [one.run.folder for one in (base, new)]
    for table in {one for run in runs for kind in kinds for one in run.tables(kind)}:
        stage = table.partition("/")[2]
        if (known and stage != PROBES) or others & {*stage.split("-")}:
            continue
        rows = [[*run.iter(table, StoredRow)] for run in runs if run.has(table)]
        shared = set.intersection(*({one.question or one.asked for one in own} for own in rows))
        both = [[one for one in own if (one.question or one.asked) in shared] for own in rows]
        if both[0] != both[-1] or len(rows) < 2 or (any(rows) and not shared):
            return False
    return True


def study_numbers(
    plan: Protocol, sides: Sides, allow: Sequence[str]
) -> tuple[list[list[Numbers]], list[str]]:
    """Return the numbers of each run as functions of the weights of its entities, and notes.

    ``sides`` are models (rows) on data sets (columns). Raises InputError for runs on one data set
    that differ in more than the model.
    """
    columns = [[one for one in column if one] for column in zip(*sides, strict=True)]
    shared = {
        one.name: _shared(plan, one, Beside(models, [other for other in row if other]))
        for row in sides
        for one, models in zip(row, columns, strict=True)
        if one
    }

    notes: dict[str, None] = {}
    keys = {name: {key for key, _ in own[0].signature} for name, own in shared.items()}
    for one, other in run_pairs(sides):  # what both lack, and others have, need not be allowed
        lacking = set().union(*keys.values()) - keys[one.name] - keys[other.name]
        allowed = [key for key in allow if key not in lacking]
        numbers_of = shared[one.name], shared[other.name]
        notes |= dict.fromkeys(_check(plan, (one, other), numbers_of, allowed)[0])
    rows = [[shared[one.name] if one else [] for one in row] for row in sides]
    numbers: list[list[Numbers]] = [
        [{(d.name, d.where): joint_number(d) for d in own if "study" in d.uses} for own in row]
        for row in rows
    ]
    return numbers, [*notes, *plan.study_notes(columns)]


def _shared(plan: Protocol, one: ComparedRun, beside: Beside) -> list[Declared]:
    """Return the numbers that a run shares with those beside it. Raises InputError."""
    found = plan.numbers(one.run, one.settings, None, beside)
    if not found:
        raise InputError(f"{one.name} has no answers to compare")
    return [d for d in found if d.uses & {"pair", "study"}]


def _check(
    plan: Protocol, pair: tuple[ComparedRun, ComparedRun], numbers: Two, allow: Sequence[str]
) -> tuple[list[str], Sequence[str]]:
    """Return notes on differences that are allowed, and those of the protocol. InputError."""
    first, second = (
        {key: value for key, value in own[0].signature if key not in ANSWERS} for own in numbers
    )
    golds = [{q.id: q.golds for q in one.run.questions} for one in pair]
    free = pair[0].settings.FREE
    reasons, notes = unlike([one.name for one in pair], (first, second), golds, free, allow)
    further, more = plan.check_pair(*pair)
    if reasons or further:
        raise InputError("; besides, ".join([*reasons, *further]))
    return notes, more


def _in_common(numbers: Two, names: tuple[str, str]) -> Iterator[str]:
    """Yield which answers, and how many rows, only one of two runs has. Raises InputError."""
    first, second = (
        {" ".join(part for key, part in d.where if key in ANSWERS): d.of.rows for d in own}
        for own in numbers
    )
    yield from (f"{part}: only in one of the runs" for part in first if part not in second)
    keys = [(set(first[part].keys), set(second[part].keys)) for part in first if part in second]
    called = numbers[0][0].of.rows.called
    if not any(ours & theirs for ours, theirs in keys):
        raise InputError(
            f"{names[0]} and {names[1]} have no {called} in common; compare runs on the same data"
        )
    for shared, total in sorted({(len(one & two), len(one | two)) for one, two in keys}):
        if 0 < shared < total:
            yield f"{shared} of {total} {called}s are in both runs; the others are left out"
