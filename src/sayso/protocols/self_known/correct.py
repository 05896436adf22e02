"""Factuality and self-knowledge, corrected for the checker of claims by people's labels of claims.

Claims are what the run took from its texts, and what the model said of them stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sayso.metrics.arrays import Floats
from sayso.metrics.correction import corrected_sums
from sayso.metrics.factuality import judged
from sayso.protocols.labeled import CorrectedPlace, PeopleLabels, drawn_rows
from sayso.protocols.protocol import Run
from sayso.protocols.self_known.measure import OwnAnswers, own_answers
from sayso.protocols.self_known.rows import (
    LABELS,
    PEOPLE,
    SUPPORT,
    SUPPORTED,
    UNSUPPORTED,
    LongAnswers,
    load_long_answers,
)
from sayso.protocols.self_known.settings import Settings
from sayso.records import slice_of

#: numbers that are means of claims that count 1 or 0
SHARES = ("factuality_micro", "irrelevant_share", "SK", "SU")


def corrected(run: Run, labels: PeopleLabels, settings: Settings) -> Iterator[CorrectedPlace]:
    """Yield the share of claims that are supported, and SK, SU and Equation 3, by method.

    None where people labeled the claims before the run was measured: then nothing is left of the
    checker in them. FActScore is a mean over texts of shares, for which whole texts would have to
    be labeled; the share over claims is corrected.
    """
    if run.has(f"verdicts/{PEOPLE}") or not run.has(f"verdicts/{SUPPORT}"):
        return
    asked = {v.target: v.asked for v in run.verdicts(SUPPORT)}
    pairs = zip(load_long_answers(run), load_long_answers(labels.read(run)), strict=True)
    for texts, said in pairs:
        places = [(c.id, asked[c.id]) if c.id in asked else None for c in texts.claims]
        drawn = drawn_rows(labels, SUPPORT, places, said.label >= 0, texts.cluster)
        if drawn is None:
            continue
        where = slice_of(method=texts.method)
        rows, at, labeled = drawn.inside, drawn.at, drawn.labeled
        judge, people = _rated(texts)[rows], _rated(said)[at]
        for name, number in corrected_sums(
            _factuality, judge, people, labeled, shares=SHARES
        ).items():
            yield CorrectedPlace(name, where, number, SUPPORT)
        for own in own_answers(run, texts):
            judge, people = (_known(own, one, settings) for one in (texts, said))
            found = corrected_sums(_self_known, judge[rows], people[at], labeled, shares=SHARES)
            for name, number in found.items():
                yield CorrectedPlace(name, where + slice_of(mode=own.mode), number, SUPPORT)


def _rated(texts: LongAnswers) -> Floats:
    same = texts.label[:, None] == np.arange(len(LABELS))
    return np.asarray(same, dtype=np.float64)


def _factuality(sums: Floats) -> dict[str, Any]:
    S, NS, IR = np.moveaxis(sums, -1, 0)
    return {"factuality_micro": S / (S + NS), "irrelevant_share": IR / (S + NS + IR)}


def _known(own: OwnAnswers, texts: LongAnswers, settings: Settings) -> Floats:
    """Return (c, 4): supported, of these accepted, unsupported, of these rejected."""
    accepted, rejected = judged(own.labels, settings.noa)
    read = ~np.isnan(accepted)
    yes, no = read & (texts.label == SUPPORTED), read & (texts.label == UNSUPPORTED)
    columns = (yes, yes & (accepted == 1), no, no & (rejected == 1))
    return np.stack(columns, axis=1).astype(np.float64)


def _self_known(sums: Floats) -> dict[str, Any]:
    yes, accepted, no, rejected = np.moveaxis(sums, -1, 0)
    SK, SU = accepted / yes, rejected / no
    return {"SK": SK, "SU": SU, "equation3_in_sample": (1 - SU) / (2 - SU - SK)}
