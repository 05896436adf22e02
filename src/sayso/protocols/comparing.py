"""Runs of one protocol beside each other: two, B minus A, or several models on several data sets.

What is compared are the numbers that the protocol declares (:mod:`sayso.protocols.declared`), of
runs whose signatures name the same settings.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence

from sayso.protocols.declared import Declared, Rows, differences, joint_number
from sayso.protocols.protocol import (
    Beside,
    ComparedRun,
    Comparison,
    Numbers,
    Protocol,
    Sides,
    check_run_pairs,
    signed_difference,
    unlike,
)
from sayso.records import InputError

#: parts of slices and signatures that say which answers a number is of
ANSWERS = ("form", "prompt", "method")


def compare(
    plan: Protocol, runs: tuple[ComparedRun, ComparedRun], allow: Sequence[str], n: int, seed: int
) -> Comparison:
    """Return B - A of every number that two runs have, with ``n`` resamples, and notes.

    Raises InputError for runs that differ in more than the model, or have nothing in common.
    """
    if "ci" not in plan.free:  # then a difference is signed with its own resamples
        again = {"resamples": n, "ci_seed": seed}
        settings = [dataclasses.replace(one.settings, **again) for one in runs]
        runs = runs[0]._replace(settings=settings[0]), runs[1]._replace(settings=settings[1])
    a, b = runs
    first, second = (_declared(plan, one, Beside(runs, (one,))) for one in runs)
    notes = [text for some in _check(plan, (a, b), (first, second), allow) for text in some]
    notes += _in_common(first, second, (a.name, b.name))
    found = [
        signed_difference(gap, one.where, one.signature, two.signature)
        for one, two, gap in differences(first, second, n, seed)
    ]
    return Comparison(found, notes)


def study_numbers(
    plan: Protocol, sides: Sides, allow: Sequence[str]
) -> tuple[list[list[Numbers]], list[str]]:
    """Return the numbers of each run as functions of the weights of its entities, and notes.

    ``sides`` are models (rows) on data sets (columns). Raises InputError for runs on one data set
    that differ in more than the model.
    """
    columns = [[one for one in column if one] for column in zip(*sides, strict=True)]
    declared: dict[str, list[Declared]] = {}
    for row in sides:
        for one, models in zip(row, columns, strict=True):
            if one:
                data = [other for other in row if other]
                declared[one.name] = _declared(plan, one, Beside(models, data))

    def check(one: ComparedRun, other: ComparedRun) -> list[str]:
        pair = declared[one.name], declared[other.name]
        return _check(plan, (one, other), pair, allow)[0]

    def numbers(one: ComparedRun | None) -> Numbers:
        own = [d for d in declared[one.name] if "study" in d.uses] if one else []
        places = list(dict.fromkeys(d.where for d in own))
        own.sort(key=lambda d: (places.index(d.where), plan.metrics[d.name].study or math.inf))
        return {(d.name, d.where): joint_number(d) for d in own}

    notes = [*check_run_pairs(sides, check), *plan.study_notes(columns)]
    return [[numbers(one) for one in row] for row in sides], notes


def _declared(plan: Protocol, one: ComparedRun, beside: Beside) -> list[Declared]:
    """Return the numbers that a run shares with those beside it. Raises InputError."""
    assert plan.numbers is not None
    found = plan.numbers(one.run, one.settings, None, beside)
    if not found:
        raise InputError(f"{one.name} has no answers to compare")
    return [d for d in found if d.uses & {"pair", "study"}]


def _check(
    plan: Protocol,
    pair: tuple[ComparedRun, ComparedRun],
    numbers: tuple[Sequence[Declared], Sequence[Declared]],
    allow: Sequence[str],
) -> tuple[list[str], list[str]]:
    """Return notes on differences that are allowed, and those of the protocol. InputError."""
    a, b = pair
    first, second = (
        {key: value for key, value in own[0].signature if key not in ANSWERS} for own in numbers
    )
    golds = [{q.id: q.golds for q in one.run.questions} for one in pair]
    names = a.name, b.name
    reasons, notes = unlike(names, (first, second), (golds[0], golds[1]), plan.free, allow)
    further, more = plan.check_pair(a, b)
    if reasons or further:
        raise InputError("; besides, ".join([*reasons, *further]))
    return notes, more


def _in_common(
    first: Sequence[Declared], second: Sequence[Declared], names: tuple[str, str]
) -> Iterator[str]:
    """Yield which answers, and how many rows, only one of two runs has. Raises InputError."""
    rows: list[dict[str, Rows]] = [{}, {}]
    for found, numbers in zip(rows, (first, second), strict=True):
        for d in numbers:
            part = " ".join(value for key, value in d.where if key in ANSWERS)
            found.setdefault(part, d.of.rows)
    yield from (f"{part}: only in one of the runs" for part in rows[0] if part not in rows[1])
    sizes: dict[tuple[int, int], list[str]] = {}
    for part, own in rows[0].items():
        ours, theirs = set(rows[1][part].keys if part in rows[1] else ()), set(own.keys)
        sizes.setdefault((len(ours & theirs), len(ours | theirs)), []).append(part)
    called = next(iter(rows[0].values())).called
    if not any(shared for shared, _ in sizes):
        raise InputError(
            f"{names[0]} and {names[1]} have no {called} in common; compare runs on the same data"
        )
    for (shared, total), parts in sizes.items():
        if 0 < shared < total:
            where = f"{', '.join(parts)}: " if len(sizes) > 1 else ""
            yield f"{where}{shared} of {total} {called}s are in both runs; the others are left out"
