"""Idk rows (Cheng et al. 2024, as UNCLE's section 6 uses them): short answers, known or refused.

    accuracy of K=10 draws < theta    chosen a refusal, rejected one of its wrong answers
    accuracy >= theta                 chosen a correct draw, rejected a refusal

theta = 1 is the papers'. ``low`` beside it drops the middle: unknown up to ``low``, known from
``theta`` on. A draw without a verdict is not wrong: where it could decide, the fact is
left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from sayso.records import InputError
from sayso.train.config import RowSettings
from sayso.train.rows import REFUSALS, Fact, TrainingRow, Want, chance, check_draws, in_order


def known_state(
    right: Sequence[bool | None], theta: float = 1.0, low: float | None = None
) -> bool | None:
    """Tell whether draws say known (True), unknown (False), or neither (None).

    Known from ``theta`` on; unknown below it, or up to ``low`` where that is given. Neither:
    between the two, or left open by missing verdicts.
    """
    k = len(right)
    if not k:
        return None
    certain = sum(r is True for r in right)
    possible = certain + sum(r is None for r in right)
    if certain / k >= theta:
        return True
    unknown = possible / k < theta if low is None else possible / k <= low
    return False if unknown else None


def idk(
    facts: Sequence[Fact],
    settings: RowSettings = RowSettings(),  # noqa: B008 - immutable
    *,
    refusals: Sequence[str] = REFUSALS,
    want: Want = "dpo",
    seed: int = 0,
    notes: list[str] | None = None,
) -> list[TrainingRow]:
    """Return rows of the short facts, up to ``settings.each`` per fact.

    For ``want="sft"`` the chosen sides alone; then an unknown fact without a wrong answer (every
    draw hedged) has a row too. ``notes`` gets lines on what was left out. Raises InputError for
    few draws.
    """
    settings.check_thresholds()
    if not refusals:
        raise InputError("no refusals: give at least one wording")
    short = [f for f in facts if f.form == "short"]
    check_draws(short, settings.k)
    rows: list[TrainingRow] = []
    middle = empty = 0
    for fact in short:
        known = known_state(fact.right[: settings.k], settings.theta, settings.low)
        if known is None:
            middle += 1
            continue
        pool = _answers(fact, known, settings.k)
        if not pool and (known or want == "dpo"):
            empty += 1
            continue
        generator = chance("idk", seed, fact.question.id)
        own = generator.sample(pool, min(settings.each, len(pool))) or [""]
        if not known and want == "sft":
            own = own[:1]  # the refusal is what is learned, not which wrong answer it replaces
        for text in own:
            refusal = generator.choice(list(refusals))
            chosen, rejected = (text, refusal) if known else (refusal, text)
            if chosen == rejected:  # a model may be right in the words of a refusal
                continue
            other = rejected if want == "dpo" else None
            kind = "idk-known" if known else "idk-unknown"
            ids = (fact.question.id,)
            rows.append(TrainingRow(fact.prompt, chosen, other, "short", fact.entity, ids, kind))
    if notes is not None:
        notes.append(
            f"idk: {len(rows)} rows of {len(short)} facts; {middle} between the thresholds or left "
            f"open by missing verdicts, {empty} without an answer to take"
        )
    return in_order(rows, seed)


def _answers(fact: Fact, known: bool, k: int) -> list[str]:
    """Return the distinct draws that a row may hold: right ones, or committed wrong ones."""
    draws = zip(fact.draws[:k], fact.right[:k], fact.stances[:k], strict=True)
    texts = (
        text.strip()
        for text, right, stance in draws
        if (right if known else right is False and stance == "committed")
    )
    return sorted({text for text in texts if text})
