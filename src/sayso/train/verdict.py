"""The verdict of a training in words: what heads its table, each sentence read from its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from sayso.records import Estimate
from sayso.report.numbers import MINUS, percentage_points
from sayso.train.result import FORMS, Change, MeasuredMethod, Training

#: a corrected p below which a change is called one
CLEAR = 0.05
#: hedged facts below which nothing is said of where hedges stand, and of all facts the share below
#: which a model is said to hedge almost nothing
FEW_HEDGES, FEW_SHARE = 5, 0.01
#: entities below which a verdict says that they are few: t quantiles and exact intervals are rough
FEW_ENTITIES = 30
#: of what it hedges when asked, the share from which it is said to hedge as much unasked
AS_OFTEN = 0.75
PLACES = {"short": "short answers", "long": "paragraphs"}


def training_sentence(training: Training) -> str:
    """Say in one sentence whether training changed how reliably the model admits ignorance.

    Of short answers where they were measured, by the corrected p of the change of J.
    """
    trained = [m for m in training.methods if m.kind == "trained"]
    if not trained:
        return "Nothing was measured yet." if not training.finished else "Nothing was measured."
    last = trained[-1]
    change = next(
        (c for c in training.changes if c.method == last.name and c.difference.name == "J"), None
    )
    against = change.against if change is not None else "instruction"
    measured = (f for f in FORMS if training.get(last.name, f, "UUR").value is not None)
    form = next(measured, FORMS[0])
    after, before, known, known_before = (
        training.get(name, form, number)
        for number in ("UUR", "over_hedge")
        for name in (last.name, against)
    )
    if after.value is None or known.value is None:
        return (
            "This training does not show whether it learned to admit what it does not know: it "
            "needs both facts that it knew and facts that it did not know."
        )
    change = training.change(last.name, against, form, "J")
    return (
        f"{_learned(change)}: in {PLACES[form]}, it hedges {_percent(after)} of the facts that it "
        f"did not know (before: {_percent(before)}) and {_percent(known)} of those that it knew "
        f"(before: {_percent(known_before)})."
    )


def _learned(change: Change | None) -> str:
    """Return what the change of J allows to say."""
    if change is None or change.difference.value is None or change.p_holm is None:
        return "Whether it admits more reliably what it does not know could not be tested"
    if change.p_holm >= CLEAR:
        return "Training made no visible difference to how reliably it admits what it does not know"
    more = "more" if change.difference.value > 0 else "less"
    return f"After training, it admits {more} reliably what it does not know"


def verdict_sentences(training: Training, against: str) -> Iterator[str]:
    """Yield what heads the table: each form, then knowledge, then what is not shown."""
    trained = [m for m in training.methods if m.kind == "trained"]
    if not trained:
        return
    last = trained[-1]
    for form in FORMS:
        yield _hedging(training, last, form, against)
    yield from _unasked(training, last, against)
    yield from _knowledge(training, last, against)
    if len(last.seeds) < 2:
        yield "With one training seed, the intervals do not cover what another seed would give."
    measured = training.entities.get("measured", FEW_ENTITIES)
    if measured < FEW_ENTITIES:
        each = "1 entity was" if measured == 1 else f"{measured} entities were"
        yield f"Only {each} measured, so intervals and tests are rough."


def _hedging(training: Training, method: MeasuredMethod, form: str, against: str) -> str:
    uur, over, allowed, j = (
        training.get(method.name, form, name) for name in ("UUR", "over_hedge", "policy_UUR", "J")
    )
    who = f"{method.title}, {form} form"
    if uur.value is None and over.value is None:
        return f"{who}: for no fact could it be determined whether the model knew it."
    if uur.value is None:
        return f"{who}: it hedges {_percent(over)} of known facts; no fact was unknown."
    if over.value is None:
        return f"{who}: it hedges {_percent(uur)} of unknown facts; no fact was known."
    text = f"{who}: it hedges {_percent(uur)} of unknown and {_percent(over)} of known facts"
    hedged, facts = _hedged(training, method, form)
    nothing = hedged < max(FEW_HEDGES, FEW_SHARE * facts)
    if nothing:
        count = f"{hedged:.0f}" if float(hedged).is_integer() else f"{hedged:.1f}"
        text += f"; it hedges almost nothing: {count} of {facts:,.0f} facts"
    if allowed.value is not None and hedged >= FEW_HEDGES:
        text += (
            "; hedging its least probable answers instead, equally often within each type, it "
            f"would hedge {_percent(allowed)} of the unknown facts"
        )
    text += f". J {_number(j)}"
    before = training.get(against, form, "J")
    if before.value is not None and before.low is not None:
        text += f" (with the instruction alone: {_number(before)})"
    return f"{text}{_gain(training.change(method.name, against, form, 'J'))}{_blind(j, nothing)}."


def _hedged(training: Training, method: MeasuredMethod, form: str) -> tuple[float, float]:
    """Return how many facts are hedged (the mean over seeds) of how many."""
    share = training.get(method.name, form, "p_uncertain")
    if share.numerator is None or share.denominator is None:
        return inf, inf  # a table without counts: nothing is said of them
    return share.numerator, share.denominator


def _unasked(training: Training, method: MeasuredMethod, against: str) -> Iterator[str]:
    """Yield how much is hedged where nobody asks for doubt, beside where somebody does."""
    parts: list[str] = []
    alike: list[str] = []
    base: list[str] = []
    for form in FORMS:
        own, instructed, before = (
            training.get(name, form, number)
            for name, number in (
                (method.name, "unasked"), (method.name, "p_uncertain"), (against, "unasked"),
            )
        )  # fmt: skip
        if own.value is None or instructed.value is None:
            continue
        of_facts = "" if parts else " of facts"
        parts.append(
            f"{_percent(own)}{of_facts} in {PLACES[form]} (told to: {_percent(instructed)})"
        )
        base.append(_percent(before))
        hedged, facts = _hedged(training, method, form)
        if own.value >= AS_OFTEN * instructed.value and hedged >= max(
            FEW_HEDGES, FEW_SHARE * facts
        ):
            alike.append(PLACES[form])
    if parts:
        text = (
            f"Under the plain prompt it hedges {' and '.join(parts)}; the base model, "
            f"{' and '.join(base)}."
        )
        if alike:
            text += f" In {' and '.join(alike)}, it hedges about as often without being told to."
        yield text


def _gain(change: Change | None) -> str:
    """Return what a change of J is called; nothing where it could not be tested."""
    if change is None or change.difference.value is None or change.p_holm is None:
        return ""
    if change.p_holm >= CLEAR:
        return ": no difference beyond chance"
    return ": a gain" if change.difference.value > 0 else ": a loss"


def _blind(j: Estimate, nothing: bool) -> str:
    """Return what J itself does not show. ``nothing``: almost nothing is hedged, blindly or not."""
    if nothing or j.low is None or j.high is None:
        return ""
    if j.high < 0:
        return "; J is below 0: it hedges known facts more often than unknown ones"
    if j.low <= 0:
        return "; the interval of J includes 0, as for a model that hedges blindly"
    return ""


def _knowledge(training: Training, method: MeasuredMethod, against: str) -> Iterator[str]:
    after, before = (training.get(m, "short", "forced") for m in (method.name, against))
    if after.value is None or before.value is None:
        known = training.get(against, "short", "KCR").value is not None
        why = "this model cannot be forced to answer" if known else "no fact was known before"
        yield f"It is unknown whether knowledge was lost: {why}."
        return
    text = (
        f"Forced to answer, it is right on {_percent(after)} of the facts that the base model "
        f"knew (the base model itself: {_percent(before)}"
    )
    change = training.change(method.name, against, "short", "forced")
    gap = change.difference if change is not None else Estimate("forced")
    if gap.value is not None and gap.low is not None and gap.high is not None:
        text += (
            f"; difference {_points(gap.value)} [{_points(gap.low)}, {_points(gap.high)}] points"
        )
    text += ")"
    several = [training.get(m, "short", "forced_several") for m in (method.name, against)]
    if all(e.value is not None for e in several):
        own, base = (_percent(e) for e in several)
        text += f"; where the base model gave several answers, on {own} ({base})"
    if change is not None and change.p_holm is not None and change.p_holm < CLEAR:
        lost = (change.difference.value or 0.0) < 0
        text += ": knowledge was lost" if lost else ": it improved"
    yield f"{text}."


def _points(value: float) -> str:
    return percentage_points(value).removesuffix(" pp")


def _percent(estimate: Estimate) -> str:
    if estimate.value is None:
        return "an unknown share"
    return "<1 %" if 0 < estimate.value < 0.005 else f"{100 * estimate.value:.0f} %"


def _number(estimate: Estimate) -> str:
    if estimate.value is None:
        return "undefined"
    if estimate.low is None or estimate.high is None:
        return "not given, because it has no interval"
    return f"{_two(estimate.value)} [{_two(estimate.low)}, {_two(estimate.high)}]"


def _two(value: float) -> str:
    text = f"{value:.2f}"
    return "0.00" if float(text) == 0 else text.replace("-", MINUS)
