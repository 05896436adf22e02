"""A teaching in words: a verdict that does not oversell, and facts before and after."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from sayso.metrics.rates import CORRECT, INCORRECT, UNCERTAIN
from sayso.pipeline.teaching_sides import FORMS, Frame, Side
from sayso.records import Estimate, content_id
from sayso.taught import Change, Method, Sample, Teaching

VALUES = {CORRECT: "correct", INCORRECT: "incorrect", UNCERTAIN: "uncertain"}
#: facts shown of each kind and form
SHOWN = 6
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
MINUS = "\N{MINUS SIGN}"
BUILTIN = (
    "The built-in model shows that the instrument works; it says nothing about what a recipe does "
    "to a language model of real size."
)


def verdict(taught: Teaching, against: str) -> Iterator[str]:
    """Yield what heads the table: each form, then knowledge, then what is not shown."""
    trained = [m for m in taught.methods if m.kind == "trained"]
    if not trained:
        return
    last = trained[-1]
    for form in FORMS:
        yield _hedging(taught, last, form, against)
    yield from _unasked(taught, last, against)
    yield from _knowledge(taught, last, against)
    if len(last.seeds) < 2:
        yield "One training seed: the intervals say nothing about what another seed would give."
    measured = taught.entities.get("measured", FEW_ENTITIES)
    if measured < FEW_ENTITIES:
        each = "1 entity was" if measured == 1 else f"{measured} entities were"
        yield f"Only {each} measured: too few for intervals and tests to be more than rough."
    if taught.model == "builtin":
        yield BUILTIN


def _hedging(taught: Teaching, method: Method, form: str, against: str) -> str:
    uur, over, allowed, j = (
        taught.get(method.name, form, name) for name in ("UUR", "over_hedge", "policy_UUR", "J")
    )
    who = f"{method.title}, {form} form"
    if uur.value is None and over.value is None:
        return f"{who}: no fact of which it could be said whether it was known."
    if uur.value is None:
        return f"{who}: hedges {_percent(over)} of known facts; there was no unknown one to hedge."
    if over.value is None:
        return f"{who}: hedges {_percent(uur)} of unknown facts; there was no known one."
    text = f"{who}: hedges {_percent(uur)} of unknown and {_percent(over)} of known facts"
    hedged, facts = _hedged(taught, method, form)
    nothing = hedged < max(FEW_HEDGES, FEW_SHARE * facts)
    if nothing:
        count = f"{hedged:.0f}" if float(hedged).is_integer() else f"{hedged:.1f}"
        text += f"; it hedges almost nothing: {count} of {facts:,.0f} facts"
    if allowed.value is not None and hedged >= FEW_HEDGES:
        text += (
            "; hedging as often within each type, but by its own probabilities, it would reach "
            f"{_percent(allowed)} of the unknown"
        )
    text += f". J {_number(j)}"
    before = taught.get(against, form, "J")
    if before.value is not None:
        text += f", with the instruction alone {_number(before)}"
    return f"{text}{_gain(taught.change(method.name, against, form, 'J'))}{_blind(j, nothing)}."


def _hedged(taught: Teaching, method: Method, form: str) -> tuple[float, float]:
    """Return how many facts are hedged (the mean over seeds) of how many."""
    found = taught.get(method.name, form, "p_uncertain")
    if found.numerator is None or found.denominator is None:
        return inf, inf  # a table without counts: nothing is said of them
    return found.numerator, found.denominator


def _unasked(taught: Teaching, method: Method, against: str) -> Iterator[str]:
    """Yield how much is hedged where nobody asks for doubt, beside where somebody does."""
    parts: list[str] = []
    alike: list[str] = []
    base: list[str] = []
    for form in FORMS:
        own, asked, before = (
            taught.get(name, form, number)
            for name, number in (
                (method.name, "unasked"), (method.name, "p_uncertain"), (against, "unasked"),
            )
        )  # fmt: skip
        if own.value is None or asked.value is None:
            continue
        told = "" if parts else " of facts"
        parts.append(f"{_percent(own)}{told} in {PLACES[form]} (asked: {_percent(asked)})")
        base.append(_percent(before))
        hedged, facts = _hedged(taught, method, form)
        if own.value >= AS_OFTEN * asked.value and hedged >= max(FEW_HEDGES, FEW_SHARE * facts):
            alike.append(PLACES[form])
    if parts:
        text = f"Unasked it hedges {' and '.join(parts)}, the base model {' and '.join(base)}."
        if alike:
            text += f" In {' and '.join(alike)} it hedges about as often unasked as asked."
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
        return "; J is below 0: it hedges what was known more than what was not"
    if j.low <= 0:
        return "; J's interval holds 0, as it does for a model that hedges blindly"
    return ""


def _knowledge(taught: Teaching, method: Method, against: str) -> Iterator[str]:
    after, before = (taught.get(m, "short", "forced") for m in (method.name, against))
    if after.value is None or before.value is None:
        known = taught.get(against, "short", "KCR").value is not None
        why = "this model cannot be forced to answer" if known else "no fact was known before"
        yield f"Whether knowledge was lost is not known: {why}."
        return
    text = (
        f"Forced to answer, it is right on {_percent(after)} of the facts that the base model "
        f"knew (the base model itself: {_percent(before)}"
    )
    change = taught.change(method.name, against, "short", "forced")
    gap = change.difference if change is not None else Estimate("forced")
    if gap.value is not None and gap.low is not None and gap.high is not None:
        text += (
            f"; difference {_points(gap.value)} [{_points(gap.low)}, {_points(gap.high)}] points"
        )
    text += ")"
    several = [taught.get(m, "short", "forced_several") for m in (method.name, against)]
    if all(e.value is not None for e in several):
        own, base = (_percent(e) for e in several)
        text += f"; of those to which the base model gave several answers, on {own} ({base})"
    if change is not None and change.p_holm is not None and change.p_holm < CLEAR:
        lost = (change.difference.value or 0.0) < 0
        text += ": knowledge was lost" if lost else ": it got better at it"
    yield f"{text}."


def _points(value: float) -> str:
    text = f"{100 * value:+.1f}"
    return "0.0" if float(text) == 0 else text.replace("-", MINUS)


def _percent(estimate: Estimate) -> str:
    if estimate.value is None:
        return "an unknown share"
    return "<1 %" if 0 < estimate.value < 0.005 else f"{100 * estimate.value:.0f} %"


def _number(estimate: Estimate) -> str:
    if estimate.value is None:
        return "undefined"
    if estimate.low is None or estimate.high is None:
        return _two(estimate.value)
    return f"{_two(estimate.value)} [{_two(estimate.low)}, {_two(estimate.high)}]"


def _two(value: float) -> str:
    text = f"{value:.2f}"
    return "0.00" if float(text) == 0 else text.replace("-", MINUS)


def samples(frame: Frame, before: Side, after: Side, seed: int = 0) -> Iterator[Sample]:
    """Yield facts of every kind (known or not, hedged after or not), drawn by a hash."""
    for form in FORMS:
        one, two = before.answers[form], after.answers[form]
        groups: dict[tuple[bool, bool], list[int]] = {}
        for row in range(len(frame.pairs)):
            if frame.known[row] >= 0 and one.label[row] >= 0 and two.label[row] >= 0:
                key = bool(frame.known[row]), bool(two.label[row] == UNCERTAIN)
                groups.setdefault(key, []).append(row)
        for key in sorted(groups):
            rows = sorted(groups[key], key=lambda r: content_id([seed, form, *frame.pairs[r]]))
            for row in rows[:SHOWN]:
                question = frame.questions[row]
                yield Sample(
                    form,
                    question.entity,
                    question.text,
                    tuple(gold.value for gold in question.golds or ()),
                    key[0],
                    one.texts[row],
                    two.texts[row],
                    VALUES[int(one.label[row])],
                    VALUES[int(two.label[row])],
                )
