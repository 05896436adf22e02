"""UNCLE's five rates and their companions, from the 2x3 matrix of known/unknown by label.

Cells, always in this order on the last axis of an array (UNCLE, arXiv 2505.16922):

    kc  known, answered correctly       uc  unknown, answered correctly
    ki  known, answered incorrectly     ui  unknown, answered incorrectly
    ku  known, labeled uncertain        uu  unknown, labeled uncertain

Rates are fractions (0..1). A rate with a zero denominator is undefined: NaN in arrays, ``None`` in
dictionaries, never 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sayso.metrics.arrays import Floats, Result, divide, float_or_rows, or_none
from sayso.records import InputError, Value

__all__ = [
    "CELLS", "RATES", "cell_rates", "count_cells", "expression_rates", "expression_rates_3row",
    "hedge_precision", "label_codes", "rate_counts", "solve_cells", "utility",
]  # fmt: skip

Rule = Literal["unknown", "dropped_official", "excluded", "notebook"]

CELLS = ("kc", "ki", "ku", "uc", "ui", "uu")
CORRECT, INCORRECT, UNCERTAIN, MISSING = 0, 1, 2, -1

#: Every rate that is one ratio: the cells of its numerator and of its denominator.
RATIOS: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "FA": ((1, 0, 0, 1, 0, 0), (1, 1, 0, 1, 1, 0)),  # factual accuracy of what was committed to
    "UA": ((0, 0, 0, 0, 0, 1), (0, 0, 1, 0, 0, 1)),  # uncertain accuracy: hedges well placed
    "UUR": ((0, 0, 0, 0, 0, 1), (0, 0, 0, 1, 1, 1)),  # unknown aspects that were hedged
    "KCR": ((1, 0, 0, 0, 0, 0), (1, 1, 1, 0, 0, 0)),  # known aspects answered correctly
    "EA": ((1, 0, 0, 0, 0, 1), (1, 1, 1, 1, 1, 1)),  # expression accuracy
    "p_known": ((1, 1, 1, 0, 0, 0), (1, 1, 1, 1, 1, 1)),
    "p_uncertain": ((0, 0, 1, 0, 0, 1), (1, 1, 1, 1, 1, 1)),
    "over_hedge": ((0, 0, 1, 0, 0, 0), (1, 1, 1, 0, 0, 0)),  # known aspects that were hedged
    "unknown_but_correct": ((0, 0, 0, 1, 0, 0), (0, 0, 0, 1, 1, 1)),  # quality of the probe
    "F1": ((0, 0, 0, 0, 0, 2), (0, 0, 1, 1, 1, 2)),  # harmonic mean of UA and UUR
}
#: Those of which a fact says 1, 0 or nothing, and which are the mean of these.
SHARES = tuple(name for name in RATIOS if name != "F1")
#: Rates made of several ratios: J = UUR - over_hedge, balanced_EA = (KCR + UUR)/2,
#: lift_UA = UA/(1 - p_known), how much better than blind hedging a hedge points at the unknown.
#: Each names its ratios, with what these are shares of.
COMPOSED = {
    "J": {"UUR": "unknown facts", "over_hedge": "known facts"},
    "balanced_EA": {"KCR": "known facts", "UUR": "unknown facts"},
    "lift_UA": {"UA": "hedged answers", "p_known": "facts"},
}
RATES = (*RATIOS, *COMPOSED)

_NUMERATORS = np.array([pair[0] for pair in RATIOS.values()], dtype=np.float64)
_DENOMINATORS = np.array([pair[1] for pair in RATIOS.values()], dtype=np.float64)


def cell_rates(cells: ArrayLike) -> dict[str, Floats]:
    """Return every rate of :data:`RATES` for cells of shape (..., 6): arrays of shape (...).

    Counts, fractions and negative cells (solved from a printed table row) are all accepted; NaN
    where undefined. 2,000 resamples are one call.
    """
    table = np.asarray(cells, dtype=np.float64)
    if table.ndim == 0 or table.shape[-1] != 6:
        raise InputError(f"cells need a last axis of 6 ({' '.join(CELLS)}), got {table.shape}")
    ratios = divide(table @ _NUMERATORS.T, table @ _DENOMINATORS.T)
    rates: dict[str, Floats] = {name: ratios[..., i] for i, name in enumerate(RATIOS)}
    rates["J"] = rates["UUR"] - rates["over_hedge"]
    rates["balanced_EA"] = (rates["KCR"] + rates["UUR"]) / 2
    rates["lift_UA"] = divide(rates["UA"], 1 - rates["p_known"])
    return rates


def expression_rates(
    kc: float, ki: float, ku: float, uc: float, ui: float, uu: float
) -> dict[str, float | None]:
    """Return UNCLE's rates of one 2x3 matrix, ``None`` where undefined.

    FA = (kc+uc)/(kc+uc+ki+ui), UA = uu/(ku+uu), UUR = uu/(uc+ui+uu), KCR = kc/(kc+ki+ku),
    EA = (kc+uu)/N, J = UUR - ku/(kc+ki+ku), p_known, p_uncertain, and the companions over_hedge,
    unknown_but_correct, F1 (of UA and UUR), balanced_EA, lift_UA.
    """
    rates = cell_rates(np.array([kc, ki, ku, uc, ui, uu], dtype=np.float64))
    return {name: or_none(value) for name, value in rates.items()}


def rate_counts(cells: ArrayLike) -> dict[str, tuple[float, float]]:
    """Return numerator and denominator of each plain ratio for one matrix of shape (6,)."""
    table = np.asarray(cells, dtype=np.float64)
    return {
        name: (float(table @ top), float(table @ bottom))
        for name, top, bottom in zip(RATIOS, _NUMERATORS, _DENOMINATORS, strict=True)
    }


def rate_sizes(cells: ArrayLike) -> dict[str, Floats]:
    """Return the denominator of each plain ratio for every matrix of (..., 6): arrays (...)."""
    sizes = np.asarray(cells, dtype=np.float64) @ _DENOMINATORS.T
    return {name: sizes[..., i] for i, name in enumerate(RATIOS)}


def label_codes(values: Iterable[Value | None]) -> NDArray[np.int8]:
    """Return label codes for verdict values: 0 correct, 1 incorrect, 2 uncertain, -1 missing.

    An omitted aspect counts as incorrect, as in UNCLE's long form; ``None`` is missing.
    """
    codes: dict[Value | None, int] = {
        "correct": CORRECT,
        "incorrect": INCORRECT,
        "omitted": INCORRECT,
        "uncertain": UNCERTAIN,
        None: MISSING,
    }
    return np.array([codes[value] for value in values], dtype=np.int8)


def cell_index(known: ArrayLike, label: ArrayLike) -> NDArray[np.int64]:
    """Return the cell (0..5, in the order of :data:`CELLS`) of each aspect, -1 where undecided.

    ``known``: 1 known, 0 unknown, -1 probe missing (booleans are accepted); ``label``: as from
    :func:`label_codes`. An aspect with a missing probe or verdict belongs to no cell.
    """
    row = np.asarray(known).astype(np.int64)
    column = np.asarray(label).astype(np.int64)
    index = np.where(row == 1, 0, 3) + column
    return np.where((row < 0) | (column < 0), -1, index)


def count_cells(known: ArrayLike, label: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """Return the 2x3 matrix as (6,), or (B, 6) for weights of shape (B, n).

    Aspects with a missing probe or verdict (code -1) are left out; report how many.
    """
    index = cell_index(known, label)
    membership = (index[:, None] == np.arange(6)).astype(np.float64)
    if weights is None:
        return np.asarray(membership.sum(axis=0), dtype=np.float64)
    return np.asarray(np.asarray(weights, dtype=np.float64) @ membership, dtype=np.float64)


def solve_cells(FA: float, UA: float, UUR: float, KCR: float, EA: float) -> dict[str, float | None]:
    """Return the 2x3 matrix (fractions of 1) that a printed row of five rates implies.

    Rates are fractions. p = (EA-UUR)/(KCR-UUR), kc = p KCR, uu = (1-p) UUR,
    ku = uu (1-UA)/UA, ki = p-kc-ku, uc = FA (1-ku-uu) - kc, ui = (1-p)-uc-uu. Cells may come out
    negative: then no matrix gives this row. All ``None`` where UA = 0, UUR = 0 or KCR = UUR, which
    leave the matrix undetermined.
    """
    if UA == 0 or UUR == 0 or KCR == UUR:
        return dict.fromkeys(CELLS)
    p = (EA - UUR) / (KCR - UUR)
    kc, uu = p * KCR, (1 - p) * UUR
    ku = uu * (1 - UA) / UA
    uc = FA * (1 - ku - uu) - kc
    return {"kc": kc, "ki": p - kc - ku, "ku": ku, "uc": uc, "ui": (1 - p) - uc - uu, "uu": uu}


def expression_rates_3row(
    matrix: Sequence[Sequence[float]] | Floats, rule: Rule = "unknown"
) -> dict[str, float | None]:
    """Return the rates of a 3x3 matrix: probe S, NS, UNC (rows) by answer S, NS, UNC (columns).

    ``rule`` says what an aspect is whose *probe* was hedged or refused:

    * ``unknown`` (the paper): unknown, as not correct.
    * ``excluded``: left out everywhere.
    * ``dropped_official`` (the released script): FA, p_uncertain and UA's denominator over all
      three rows; KCR over row S, UUR over row NS, EA and p_known over rows S and NS.
    * ``notebook`` (the released notebook): as the script, but UA ignores row UNC.
    """
    table = np.asarray(matrix, dtype=np.float64)
    if table.shape != (3, 3):
        raise InputError(f"expression_rates_3row needs a 3x3 matrix, got shape {table.shape}")
    if rule == "unknown":
        return expression_rates(*table[0], *(table[1] + table[2]))
    rates = expression_rates(*table[0], *table[1])
    if rule == "excluded":
        return rates
    if rule not in ("dropped_official", "notebook"):
        raise InputError(
            f"rule {rule!r} is not one of unknown, dropped_official, excluded, notebook"
        )
    column = table.sum(axis=0)
    rates["FA"] = or_none(divide(column[0], column[0] + column[1]))
    rates["p_uncertain"] = or_none(divide(column[2], column.sum()))
    if rule == "dropped_official":
        rates["UA"] = or_none(divide(table[1, 2], column[2]))
        rates["F1"] = or_none(divide(2 * table[1, 2], column[2] + table[1].sum()))
        ua, p = rates["UA"], rates["p_known"]
        rates["lift_UA"] = None if ua is None or p is None or p == 1 else ua / (1 - p)
    return rates


@overload
def hedge_precision(
    uncertain: ArrayLike, plain_incorrect: ArrayLike, weights: None = None
) -> float | None: ...
@overload
def hedge_precision(
    uncertain: ArrayLike, plain_incorrect: ArrayLike, weights: ArrayLike
) -> Result: ...
def hedge_precision(
    uncertain: ArrayLike, plain_incorrect: ArrayLike, weights: ArrayLike | None = None
) -> Result:
    """Return the share of hedged aspects whose un-instructed answer is wrong.

    It needs no probe. ``uncertain`` is 1 where the aspect was labeled uncertain;
    ``plain_incorrect`` is 1 wrong, 0 right, NaN or -1 where the plain answer has no verdict or is
    itself hedged (left out). ``None`` (NaN for weights (B, n)) when nothing is left.
    """
    hedged = np.asarray(uncertain).astype(bool)
    wrong = np.asarray(plain_incorrect, dtype=np.float64)
    use = hedged & (wrong >= 0)
    ones = np.ones(len(use)) if weights is None else np.asarray(weights, dtype=np.float64)
    share = divide(ones @ (use & (wrong > 0)).astype(np.float64), ones @ use.astype(np.float64))
    return float_or_rows(share)


def utility(
    cells: Mapping[str, float] | ArrayLike, cost: float, never: ArrayLike | None = None
) -> dict[str, float | None]:
    """Return the expected utility per aspect: +1 for right, 0 for uncertain, -cost for wrong.

    ``never`` are the cells of the same model answering without hedging (its un-instructed
    answers; their uncertain cells pay 0 too). Keys: ``utility``; ``zero_cost`` = right/wrong, the
    cost above which always hedging (utility 0) is better; and, given ``never``,
    ``utility_never`` and ``break_even`` = (right_never - right)/(wrong_never - wrong), the cost
    above which this policy beats never hedging (``None`` when it does not reduce wrong answers).
    """
    right, wrong = _right_wrong(cells)
    result: dict[str, float | None] = {
        "utility": or_none(right - cost * wrong),
        "zero_cost": or_none(divide(right, wrong)),
    }
    if never is not None:
        right_never, wrong_never = _right_wrong(never)
        saved = wrong_never - wrong
        result["utility_never"] = or_none(right_never - cost * wrong_never)
        result["break_even"] = (right_never - right) / saved if saved > 0 else None
    return result


def _right_wrong(cells: Mapping[str, float] | ArrayLike) -> tuple[float, float]:
    values = [cells[name] for name in CELLS] if isinstance(cells, Mapping) else cells
    table = np.asarray(values, dtype=np.float64)
    share = divide(table, table.sum())
    return float(share[0] + share[3]), float(share[1] + share[4])


#: Why a number does not exist: name of a metric -> what is missing on rows where it is undefined
EMPTY = {
    "FA": "every fact was hedged",
    "UA": "no fact was hedged",
    "UUR": "no fact is unknown",
    "KCR": "no fact is known",
    "over_hedge": "no fact is known",
    "J": "it needs both known and unknown facts",
    "J_within": "it needs a type of fact with known and unknown facts",
    "J_within_entity": "it needs an entity with known and unknown facts",
    "J_within_tier": "it needs a tier with known and unknown facts",
    "odds_ratio_within": "0 or infinite: too few hedges in each type, known and unknown",
    "log_odds_within": "0 or infinite: too few hedges in each type, known and unknown",
    "balanced_EA": "it needs both known and unknown facts",
    "lift_UA": "no fact was hedged",
    "F1_uncertain": "no fact was hedged and none is unknown",
    "hedge_precision": "no fact was hedged",
    "hedge_recall": "nothing was wrong without the instruction",
    "hedged_and_correct": "no fact was hedged",
    "unknown_but_correct": "no fact is unknown",
    "kappa": "one of the forms never hedged, or always did",
}


def undefined(name: str) -> str:
    """Return why a metric of this name has no value on rows where it was computed."""
    return EMPTY.get(name, "undefined on these rows")
