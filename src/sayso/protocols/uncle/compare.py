"""Two UNCLE runs on the same aspects: differences of rates with paired intervals."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.metrics.arrays import Floats, or_none
from sayso.metrics.joint import Number
from sayso.metrics.uncle_known import (
    bootstrap_cells_difference,
    bootstrap_within_difference,
    cluster_cells,
)
from sayso.metrics.uncle_rates import MISSING, cell_rates
from sayso.metrics.within_type import j_within
from sayso.protocols.pool import cluster_names
from sayso.protocols.protocol import (
    ComparedRun,
    Comparison,
    Numbers,
    Run,
    Sides,
    check_run_pairs,
    signed_difference,
    unlike,
)
from sayso.protocols.uncle.numbers import COMPARED, NUMBERS
from sayso.protocols.uncle.rows import Context, Ints, Pair, load_rows, probes_hash, question_pairs
from sayso.protocols.uncle.settings import FORMS, PARAGRAPHS
from sayso.records import Estimate, InputError, Slice, slice_of
from sayso.storage.run_folder import Manifest

#: settings that may differ without ``allow``: what is compared, whose probes decide, and checks
#: on which no compared number rests; a paragraph of another prompt is another question
FREE = ("model", "known_from", "data", "methods", PARAGRAPHS)


class _UncleSide(NamedTuple):
    run: Run
    manifest: Manifest
    context: Context


def compare(
    runs: tuple[ComparedRun, ComparedRun], allow: Sequence[str], resamples: int, seed: int
) -> Comparison:
    """Return B - A for every rate on the aspects that both runs asked about. Raises InputError."""
    a, b = (side.name for side in runs)
    sides = _open(runs[0], resamples, seed), _open(runs[1], resamples, seed)
    rows = _common(sides)
    if not len(rows[0]):
        raise InputError(f"{a} and {b} have no aspect in common; compare runs on the same data")
    notes = _check(sides, rows, (a, b), allow)
    total = max(side.context.aspects.size for side in sides)
    if len(rows[0]) < total:
        notes.append(f"{len(rows[0])} of {total} aspects are in both runs; the others are left out")
    differences = [
        estimate
        for form in _forms(sides)
        for estimate in _differences(sides, rows, form, resamples, seed)
    ]
    return Comparison(differences, notes)


def numbers(sides: Sides, allow: Sequence[str]) -> tuple[list[list[Numbers]], list[str]]:
    """Return the rates of each run as functions of the weights of its entities, and notes.

    Raises InputError for runs on one data set that differ in more than the model.
    """
    opened = {side.name: _open(side, 100, 0) for row in sides for side in row if side is not None}

    def check(one: ComparedRun, other: ComparedRun) -> list[str]:
        pair = opened[one.name], opened[other.name]
        notes = _check(pair, _common(pair), (one.name, other.name), allow)
        return [note for note in notes if note.startswith("differs as allowed")]

    notes = check_run_pairs(sides, check)
    known = [
        _KnownOf([opened[side.name] for side in column if side is not None])
        for column in zip(*sides, strict=True)
    ]
    notes += dict.fromkeys(note for one in known if (note := one.note()))
    taken = all(one.same for one in known)
    table = [[_numbers(opened[side.name], taken) if side else {} for side in row] for row in sides]
    return table, notes


class _KnownOf:
    """Whose knowledge runs on one data set are judged by."""

    def __init__(self, sides: Sequence[_UncleSide]) -> None:
        own = {_probes(side): _short(side) for side in sides if not _borrows(side)}
        self._borrowers: dict[str, list[str]] = {}
        for side in filter(_borrows, sides):
            base = own.get(_probes(side), side.manifest.model_base or "their base model")
            self._borrowers.setdefault(base, []).append(_short(side))
        #: the share known is the same for all of them by construction
        self.same = bool(self._borrowers) and len({_probes(side) for side in sides}) == 1

    def note(self) -> str:
        """Return who is judged by the facts that another model knows; empty where nobody is."""
        parts = [
            f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} judged by the facts that "
            f"{base} knows, so they know the same share by construction"
            for base, names in self._borrowers.items()
        ]
        return "; ".join(parts)


def _short(side: _UncleSide) -> str:
    """Return the name of a run's model without its version."""
    return side.manifest.shown_model.partition("@")[0]


def _borrows(side: _UncleSide) -> bool:
    """Tell whether another model's probes decide: not those of the same model, asked otherwise."""
    same = side.manifest.model_identity.startswith(side.manifest.model_base or "\0")
    return side.context.settings.known_from != "self" and not same


def _probes(side: _UncleSide) -> str:
    """Return what tells apart the draws that decide what is known."""
    return probes_hash(side.context.aspects)


def _numbers(side: _UncleSide, taken: bool) -> Numbers:
    """Return the numbers of a run; of those ``taken`` from one base model, none knows more."""
    aspects, known = side.context.aspects, side.context.known["any"]
    clusters = cluster_names(side.run.questions)
    names = np.array([clusters[q.id] for q in aspects.questions], dtype=str)
    found: Numbers = {}
    for form in side.context.forms:
        label = side.context.labels(form)
        cells = cluster_cells(known, label, names)
        for name, metric in NUMBERS.studied.items():
            better = None if taken and name == "p_known" else metric.higher
            found[name, slice_of(form=form)] = Number(
                partial(_rate, name), (cells,), np.unique(names).tolist(), metric.limits, better
            )
        found["J_within", slice_of(form=form)] = Number(
            j_within, (known, label, aspects.type), names.tolist(), (-1.0, 1.0), True
        )
    return found


def _rate(name: str, cells: Floats, weights: Floats | None = None) -> Any:
    """Return a rate of entities' matrices (C, 6): one number, or (B,) of weights (B, C)."""
    if weights is None:
        return or_none(cell_rates(cells.sum(axis=0))[name])
    return cell_rates(weights @ cells)[name]


def _open(side: ComparedRun, resamples: int, seed: int) -> _UncleSide:
    chosen = dataclasses.replace(side.settings, resamples=resamples, ci_seed=seed)
    return _UncleSide(side.run, side.manifest, load_rows(side.run, chosen, guesses=False))


def _parts(side: _UncleSide) -> dict[str, str]:
    """Return the settings of a run's numbers as a mapping."""
    return dict(side.context.signed(Estimate("x")).signature[1:])


def _check(
    sides: tuple[_UncleSide, _UncleSide],
    rows: tuple[Ints, Ints],
    names: tuple[str, str],
    allow: Sequence[str],
) -> list[str]:
    parts = _parts(sides[0]), _parts(sides[1])
    golds = [{q.id: q.golds for q in side.run.questions} for side in sides]
    reasons, notes = unlike(names, parts, (golds[0], golds[1]), FREE, allow)
    probes = [probes_hash(s.context.aspects, chosen) for s, chosen in zip(sides, rows, strict=True)]
    if sides[0].manifest.model_base == sides[1].manifest.model_base:
        if probes[0] != probes[1]:
            reasons.append(
                f"{names[0]} and {names[1]} share a base model but were probed separately: a model "
                "that hedges its probes looks ignorant. Run the second with "
                f"--known-from {names[0]}"
            )
    elif any(part["known_from"] != "self" for part in parts):
        notes.append(
            "These are two base models, and one was measured with another run's probes (see "
            "known_from in the signature). The difference is not due to the models alone."
        )
    else:
        shares = [_share_known(side, chosen) for side, chosen in zip(sides, rows, strict=True)]
        notes.append(
            f"These are two base models, each with its own probes: the first knows {shares[0]}, "
            f"the second {shares[1]}. Read J first, and the rows on facts that both models know or "
            "neither knows."
        )
    if reasons:
        raise InputError("; besides, ".join(reasons))
    return notes


def _share_known(side: _UncleSide, rows: Ints) -> str:
    """Return the known share of the common aspects whose probe was read, in percent."""
    known = side.context.known["any"][rows]
    read = known[known >= 0]
    if not len(read):
        return "nothing that could be read"
    return f"{read.mean():.0%} of the facts".replace("%", " %")


def _common(sides: tuple[_UncleSide, _UncleSide]) -> tuple[Ints, Ints]:
    """Return the rows of the aspects in both runs, in one order: joined by ids.

    Runs without a paragraph in common are joined by their short questions alone.
    """
    pairs = [question_pairs(side.run) for side in sides]
    together = _has_paragraphs(pairs[0], pairs[1])
    places: list[dict[tuple[str, str], int]] = []
    for some in pairs:
        place: dict[tuple[str, str], int] = {}
        for row, (long, short) in enumerate(some):
            place.setdefault((long.id if long and together else "", short.id), row)
        places.append(place)
    shared = [pair for pair in places[0] if pair in places[1]]
    first, second = (np.array([p[pair] for pair in shared], dtype=np.int64) for p in places)
    return first, second


def _has_paragraphs(first: Sequence[Pair], second: Sequence[Pair]) -> bool:
    """Tell whether two runs ask for a paragraph that is the same in both."""
    ids = [{long.id for long, _ in pairs if long} for pairs in (first, second)]
    return not ids[0].isdisjoint(ids[1])


def _forms(sides: tuple[_UncleSide, _UncleSide]) -> tuple[str, ...]:
    """Return the forms that two runs are compared in: long only with paragraphs in common."""
    shared = _has_paragraphs(*(question_pairs(side.run) for side in sides))
    return FORMS if shared else FORMS[:1]


def _differences(
    sides: tuple[_UncleSide, _UncleSide],
    rows: tuple[Ints, Ints],
    form: str,
    resamples: int,
    seed: int,
) -> Iterator[Estimate]:
    """Yield B - A of the rates, then of the parts on facts known to both and unknown to both."""
    known, label = [], []
    for side, chosen in zip(sides, rows, strict=True):
        known.append(side.context.known["any"][chosen])
        label.append(side.context.labels(form)[chosen])
    aspects = sides[0].context.aspects
    entity, kinds = aspects.entity[rows[0]], aspects.type[rows[0]]
    usable = (known[0] >= 0) & (known[1] >= 0) & (label[0] >= 0) & (label[1] >= 0)
    lost = [(k == MISSING) | (lab == MISSING) for k, lab in zip(known, label, strict=True)]
    missing = int((lost[0] | lost[1]).sum())

    def paired(names: tuple[str, ...], where: Slice, use: NDArray[np.bool_]) -> Iterator[Estimate]:
        cells = [
            cluster_cells(np.where(use, k, -1), lab, entity)
            for k, lab in zip(known, label, strict=True)
        ]
        rates = bootstrap_cells_difference(cells[1], cells[0], resamples, seed)
        for name in names:
            yield _signed(sides, rates[name], where, form, missing)

    yield from paired(COMPARED, slice_of(form=form), usable)
    both = usable & (known[0] == 1) & (known[1] == 1)
    yield from paired(("KCR", "over_hedge"), slice_of(form=form, given="known"), both)
    neither = usable & (known[0] == 0) & (known[1] == 0)
    yield from paired(("UUR",), slice_of(form=form, given="unknown"), neither)
    tables = [
        cluster_cells(np.where(usable, k, -1), lab, entity, kinds)
        for k, lab in zip(known, label, strict=True)
    ]
    within = bootstrap_within_difference(tables[1], tables[0], resamples, seed)
    yield _signed(sides, within, slice_of(form=form), form, missing)


def _signed(
    sides: tuple[_UncleSide, _UncleSide], estimate: Estimate, where: Slice, form: str, missing: int
) -> Estimate:
    """Return a difference with its slice; its signature has B's settings and what A's were."""
    theirs, ours = (side.context.signed(estimate, where, form) for side in sides)
    difference = msgspec.structs.replace(estimate, missing=missing)
    return signed_difference(difference, where, theirs.signature[1:], ours.signature[1:])
