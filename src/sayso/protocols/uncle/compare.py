"""Two UNCLE runs on the same aspects: differences of rates with paired intervals."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sayso.metrics.intervals import bootstrap_difference
from sayso.metrics.uncle_known import bootstrap_cells_difference, cluster_cells
from sayso.metrics.uncle_rates import MISSING
from sayso.metrics.within_type import j_within
from sayso.protocols.protocol import Comparison, Run, Side, difference_signature, told
from sayso.protocols.uncle.measure import spread, wording_labels, wording_rates
from sayso.protocols.uncle.rows import Context, load, probes_hash
from sayso.records import Estimate, InputError, Slice, slice_of
from sayso.storage.run_folder import Manifest

RATES = ("FA", "UA", "UUR", "KCR", "EA", "J", "over_hedge", "p_known", "p_uncertain")
#: settings that may differ without being asked: the thing compared, whose probes decide, and
#: checks on which no compared number rests
FREE = ("model", "known_from", "data", "propensity", "wordings", "methods")

Ints = NDArray[np.int64]


class _Side(NamedTuple):
    run: Run
    manifest: Manifest
    context: Context


def compare(runs: tuple[Side, Side], allow: Sequence[str], resamples: int, seed: int) -> Comparison:
    """Return B - A for every rate on the aspects that both runs asked about. Raises InputError."""
    a, b = (side.name for side in runs)
    sides = _open(runs[0], resamples, seed), _open(runs[1], resamples, seed)
    rows = _common(sides)
    if not len(rows[0]):
        raise InputError(f"{a} and {b} have no aspect in common; compare runs on the same data")
    notes = _check(sides, rows, (a, b), allow)
    total = max(side.context.aspects.size for side in sides)
    if len(rows[0]) < total:
        notes.append(f"{len(rows[0])} of {total} aspects are in both runs; the rest is left out")
    found = [
        estimate
        for form in ("short", "long")
        for estimate in _differences(sides, rows, form, resamples, seed)
    ]
    return Comparison(found, [*notes, *_smaller_than_wordings(sides, rows, found)])


def _open(side: Side, resamples: int, seed: int) -> _Side:
    chosen = dataclasses.replace(side.settings, ci="entity", resamples=resamples, ci_seed=seed)
    context: Context = load(side.run, chosen, guesses=False)
    return _Side(side.run, side.manifest, context)


def _parts(side: _Side) -> dict[str, str]:
    """Return the settings of a run's numbers as a mapping."""
    return dict(side.context.signed(Estimate("x")).signature[1:])


def _check(
    sides: tuple[_Side, _Side],
    rows: tuple[Ints, Ints],
    names: tuple[str, str],
    allow: Sequence[str],
) -> list[str]:
    first, second = (_parts(side) for side in sides)
    either = list({**first, **second})
    unknown = [key for key in allow if key not in either]
    if unknown:
        raise InputError(f"allow {unknown[0]!r}: no such setting; known: {', '.join(either)}")
    differ = [key for key in either if first.get(key) != second.get(key)]
    refused = [key for key in differ if key not in (*FREE, *allow)]
    against: list[str] = []
    if refused:
        what = ", ".join(f"{k} ({told(first.get(k))} and {told(second.get(k))})" for k in refused)
        against.append(
            f"{names[0]} and {names[1]} differ in {what}; their difference would not be the "
            "model's. Repeat one with the other's settings, or say "
            f"--allow {' --allow '.join(refused)}"
        )
    golds = [{q.id: q.golds for q in side.run.questions} for side in sides]
    if any(golds[0][q] != golds[1][q] for q in golds[0].keys() & golds[1].keys()):
        against.append(f"{names[0]} and {names[1]} hold different golds for the same question")
    notes = [f"differs as allowed: {key}" for key in differ if key in allow]
    first_said, second_said = (
        probes_hash(side.context.aspects, chosen) for side, chosen in zip(sides, rows, strict=True)
    )
    if sides[0].manifest.model_base == sides[1].manifest.model_base:
        if first_said != second_said:
            against.append(
                f"{names[0]} and {names[1]} are of one base model but were probed apart: a model "
                "that hedges its probes looks ignorant. Run the second with "
                f"--known-from {names[0]}"
            )
    elif any(_parts(side)["known_from"] != "self" for side in sides):
        notes.append(
            "two base models, of which one was measured with another run's probes: see known_from "
            "in the signature, and do not read the difference as the models'"
        )
    else:
        shares = [_share_known(side, chosen) for side, chosen in zip(sides, rows, strict=True)]
        notes.append(
            f"two base models, each with its own probe: A knows {shares[0]}, "
            f"B {shares[1]}; read J first, and the rows on facts that both or neither know"
        )
    if against:
        raise InputError("; besides, ".join(against))
    return notes


def _share_known(side: _Side, rows: Ints) -> str:
    """Return the known share of the common aspects whose probe was read, in percent."""
    known = side.context.known["any"][rows]
    told = known[known >= 0]
    return f"{told.mean():.0%}" if len(told) else "nothing that could be read"


def _common(sides: tuple[_Side, _Side]) -> tuple[Ints, Ints]:
    """Return the rows of the aspects in both runs, in one order: joined by ids."""
    places = []
    for side in sides:
        pairs = [(q.id, part) for q in side.run.questions for part in q.parts]
        places.append({pair: row for row, pair in enumerate(pairs)})
    shared = [pair for pair in places[0] if pair in places[1]]
    first, second = (np.array([p[pair] for pair in shared], dtype=np.int64) for p in places)
    return first, second


def _differences(
    sides: tuple[_Side, _Side], rows: tuple[Ints, Ints], form: str, resamples: int, seed: int
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
        made = bootstrap_cells_difference(cells[1], cells[0], resamples, seed)
        for name in names:
            yield _placed(sides, made[name], where, form, missing)

    yield from paired(RATES, slice_of(form=form), usable)
    both = usable & (known[0] == 1) & (known[1] == 1)
    yield from paired(("KCR", "over_hedge"), slice_of(form=form, given="known"), both)
    neither = usable & (known[0] == 0) & (known[1] == 0)
    yield from paired(("UUR",), slice_of(form=form, given="unknown"), neither)
    masked = [np.where(usable, k, -1) for k in known]
    within = bootstrap_difference(
        j_within,
        (masked[1], label[1], kinds),
        (masked[0], label[0], kinds),
        clusters=entity,
        n=resamples,
        seed=seed,
        name="J_within",
    )
    yield _placed(sides, within, slice_of(form=form), form, missing)


def _smaller_than_wordings(
    sides: tuple[_Side, _Side], rows: tuple[Ints, Ints], found: Sequence[Estimate]
) -> Iterator[str]:
    """Yield which differences are smaller than a run's own spread over wordings of the prompt."""
    for form in ("short", "long"):
        spreads: dict[str, float] = {}
        for side, chosen in zip(sides, rows, strict=True):
            known = side.context.known["any"][chosen]
            labels = wording_labels(side.context, form)[chosen]
            for name, values in wording_rates(known, labels).items():
                spreads[name] = max(spreads.get(name, 0.0), spread(values) or 0.0)
        small = [
            f"{e.name} {e.value:+.3f} (wordings: {spreads[e.name]:.3f})"
            for e in found
            if e.where == slice_of(form=form) and e.value is not None
            if abs(e.value) < spreads.get(e.name, 0.0)
        ]
        if small:
            yield (
                f"{form} form: smaller than the spread of one run over wordings of its prompt: "
                f"{', '.join(small)}"
            )


def _placed(
    sides: tuple[_Side, _Side], estimate: Estimate, where: Slice, form: str, missing: int
) -> Estimate:
    """Return a difference with its place; its signature names B's settings and what A's were."""
    other, signed = (side.context.signed(estimate, where, form) for side in sides)
    signature = difference_signature(signed.name, signed.signature[1:], other.signature[1:])
    return msgspec.structs.replace(signed, missing=missing, signature=signature)
