"""Idk rows (Cheng et al. 2024, as UNCLE's section 6 uses them): short answers, known or refused.

    accuracy of K=10 draws < theta    chosen a refusal, rejected one of its wrong answers
    accuracy >= theta                 chosen a correct draw, rejected a refusal

theta = 1 is the papers'. ``low`` and ``high`` in its place drop the middle: unknown up to ``low``,
known from ``high`` on. A draw without a verdict is not wrong: where it could decide, the fact is
left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from sayso.records import InputError
from sayso.train.rows import REFUSALS, Fact, Row, Want, chance, check_draws, in_order


def known_state(
    right: Sequence[bool | None],
    theta: float = 1.0,
    low: float | None = None,
    high: float | None = None,
) -> bool | None:
    """Tell whether draws say known (True), unknown (False), or neither (None).

    Neither: between ``low`` and ``high``, or left open by missing verdicts.
    """
    k = len(right)
    if not k:
        return None
    certain = sum(r is True for r in right)
    possible = certain + sum(r is None for r in right)
    if low is None or high is None:
        if certain / k >= theta:
            return True
        return False if possible / k < theta else None
    if certain / k >= high:
        return True
    return False if possible / k <= low else None


def check_thresholds(theta: float, low: float | None, high: float | None) -> None:
    """Refuse thresholds that split nothing. Raises InputError."""
    if not 0 < theta <= 1:
        raise InputError(f"theta is {theta:g}; expected more than 0, up to 1")
    if (low is None) != (high is None):
        raise InputError("low and high go together: unknown up to low, known from high on")
    if low is not None and high is not None and not 0 <= low < high <= 1:
        raise InputError(f"low {low:g} and high {high:g}: expected 0 <= low < high <= 1")


def idk(
    facts: Sequence[Fact],
    *,
    theta: float = 1.0,
    low: float | None = None,
    high: float | None = None,
    k: int = 10,
    each: int = 1,
    want: Want = "dpo",
    refusals: Sequence[str] = REFUSALS,
    seed: int = 0,
    notes: list[str] | None = None,
) -> list[Row]:
    """Return rows of the short facts, up to ``each`` per fact. Raises InputError for few draws.

    For ``want="sft"`` the chosen sides alone; then an unknown fact without a wrong answer (every
    draw hedged) has a row too. ``notes`` gets lines on what was left out.
    """
    check_thresholds(theta, low, high)
    if not refusals:
        raise InputError("no refusals: give at least one wording")
    short = [f for f in facts if f.form == "short"]
    check_draws(short, k)
    rows: list[Row] = []
    middle = empty = 0
    for fact in short:
        right = fact.right[:k]
        known = known_state(right, theta, low, high)
        if known is None:
            middle += 1
            continue
        draws = list(zip(fact.draws[:k], right, fact.stances[:k], strict=True))
        if known:
            pool = [text.strip() for text, r, _ in draws if r]
        else:
            pool = [text.strip() for text, r, s in draws if r is False and s == "committed"]
        pool = sorted(dict.fromkeys(text for text in pool if text))
        generator = chance("idk", seed, fact.question.id)
        if not pool and (known or want == "dpo"):
            empty += 1
            continue
        own = generator.sample(pool, min(each, len(pool))) or [""]
        if not known and want == "sft":
            own = own[:1]  # the refusal is what is learned, not which wrong answer it replaces
        for text in own:
            refusal = generator.choice(list(refusals))
            chosen, rejected = (text, refusal) if known else (refusal, text)
            if chosen == rejected:  # a model may be right in the words of a refusal
                continue
            rows.append(
                Row(
                    fact.prompt,
                    chosen,
                    rejected if want == "dpo" else None,
                    "short",
                    fact.entity,
                    (fact.question.id,),
                    "idk-known" if known else "idk-unknown",
                )
            )
    if notes is not None:
        notes.append(
            f"idk: {len(rows)} rows of {len(short)} facts; {middle} between the thresholds or left "
            f"open by missing verdicts, {empty} without an answer to take"
        )
    return in_order(rows, seed)
