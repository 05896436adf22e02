"""Numbers as people read them.

A number that is undefined is written as a dash; the reason stands in its ``problem``.
"""

from __future__ import annotations

from typing import Any

import msgspec

from sayso.harmless import line, plain_json
from sayso.metric import NOTATIONS, Notation
from sayso.metrics.length_audit import LengthAudit
from sayso.metrics.uncle_rates import EMPTY
from sayso.records import Estimate, signature_text

DASH = "–"
MINUS = "\N{MINUS SIGN}"
#: below this many in the denominator a ratio rests on too little to be read as a percentage
SPARSE = 10
#: types whose gold is met by chance more often than this are marked
GUESSABLE = 0.3


def notation_of(name: str) -> Notation:
    """Return how the values of a number are written; one that no protocol declares is a share."""
    return NOTATIONS.get(name, "percent")


def is_gap(name: str) -> bool:
    """Tell whether a number is a difference of two shares: it is not shown without its interval."""
    return notation_of(name) == "gap"


def is_bare(estimate: Estimate) -> bool:
    """Tell whether a number is a difference of two shares that has no interval."""
    bare = estimate.low is None or estimate.high is None
    return is_gap(estimate.name) and estimate.value is not None and bare


def many(number: int, one: str, more: str = "") -> str:
    """Return a number of things, such as "1 run" and "2 runs"; ``more`` is an odd plural."""
    return f"{number:,} {one if number == 1 else more or f'{one}s'}"


def shown_value(estimate: Estimate, decimals: int = 1) -> str:
    """Return the value as a reader wants it: 61.3 %, +0.03, 2.4, 17, or a dash."""
    return DASH if is_bare(estimate) else metric_value(estimate.name, estimate.value, decimals)


def is_exact(estimate: Estimate) -> bool:
    """Tell whether a number is what it is by definition."""
    return estimate.value is not None and estimate.low == estimate.high == estimate.value


def shown_whole(estimate: Estimate, decimals: int = 1) -> str:
    """Return the value with its interval in brackets; a value that is exact stands alone."""
    if is_exact(estimate):
        return shown_value(estimate, decimals)
    return f"{shown_value(estimate, decimals)} {interval(estimate, decimals)}".strip()


def metric_value(name: str, value: float | None, decimals: int = 1) -> str:
    """Return a value of the metric ``name`` in its own notation; a dash where there is none."""
    if value is None or value != value:
        return DASH
    notation = notation_of(name)
    if notation in ("signed", "gap"):
        return signed_number(value)
    if notation == "count":
        return f"{value:.0f}"
    if notation == "plain":
        return f"{value:.2f}" if abs(value) < 100 else f"{value:.0f}"
    if notation == "fraction":
        return f"{value:.2f}"
    return percent(value, decimals)


def percent(value: float | None, decimals: int = 1) -> str:
    """Return a share as a percentage. What is not 0 or 1 is never rounded to 0 % or 100 %."""
    if value is None or value != value:
        return DASH
    text = f"{round(100 * value, 9):.{decimals}f}"  # .975 and .9749999999999999 are one number
    step = 10.0**-decimals
    if value > 0 and float(text) == 0:
        return f"<{step:g} %"
    if value < 1 and float(text) == 100:
        return f">{100 - step:g} %"
    return f"{text} %".replace("-", MINUS)


def percentage_points(value: float) -> str:
    """Return a difference of two shares in percentage points, with its sign."""
    text = f"{100 * value:+.1f}"
    return f"{'0.0' if float(text) == 0 else text.replace('-', MINUS)} pp"


def signed_number(value: float | None) -> str:
    """Return a number in -1..1 with its sign; a rounded zero has none; a dash where undefined."""
    if value is None or value != value:
        return DASH
    text = f"{value:+.2f}"
    return "0.00" if float(text) == 0 else text.replace("-", MINUS)


def interval(estimate: Estimate, decimals: int = 1) -> str:
    """Return ``[low, high]`` in the notation of the value, empty where there is no interval."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return ""
    return pair(estimate.name, estimate.low, estimate.high, decimals)


def bounds(estimate: Estimate, decimals: int = 1) -> str:
    """Return the range over all readings of the missing verdicts, empty where none is missing."""
    if estimate.bound_low is None or estimate.bound_high is None or not estimate.missing:
        return ""
    return pair(estimate.name, estimate.bound_low, estimate.bound_high, decimals)


def pair(name: str, low: float, high: float, decimals: int) -> str:
    """Return two values of a metric in brackets, the unit left to the value before them."""
    texts = [metric_value(name, end, decimals).replace(" %", "") for end in (low, high)]
    return f"[{texts[0]}, {texts[1]}]"


def ratio_counts(estimate: Estimate) -> str:
    """Return ``numerator/denominator`` of a ratio, empty where it is none."""
    if estimate.numerator is None or estimate.denominator is None:
        return ""
    return "/".join(
        f"{count:.0f}" if float(count).is_integer() else f"{count:.1f}"
        for count in (estimate.numerator, estimate.denominator)
    )


def sparse(estimate: Estimate) -> bool:
    """Return True for a ratio with fewer than 10 in its denominator."""
    return estimate.denominator is not None and estimate.denominator < SPARSE


def reach(estimate: Estimate, percent: bool) -> str:
    """Return an interval in as few signs as there are, "−.06, .97" or "12, 88"; or nothing."""
    if estimate.low is None or estimate.high is None:
        return ""
    low, high = estimate.low, estimate.high
    if percent:
        return f"{100 * low:.0f}, {100 * high:.0f}".replace("-", MINUS)
    return ", ".join(compact_number(end) for end in (low, high))


def compact_number(value: float) -> str:
    """Return about two decimals without the zero before the point: −.06, .97, 10.3, 224."""
    size = abs(value)
    text = f"{size:.2f}" if size < 10 else f"{size:.1f}" if size < 100 else f"{size:.0f}"
    sign = MINUS if value < 0 and float(text) else ""
    return sign + (text[1:] if text.startswith("0.") else text)


def number(estimate: Estimate, decimals: int = 2) -> str:
    """Return the value without its leading zero, .89 or -.03; a dash where there is none."""
    return DASH if is_bare(estimate) else plain_number(estimate.value, decimals)


def plain_number(value: float | None, decimals: int = 2) -> str:
    """Return a number in -1..1 without its leading zero; a dash where there is none."""
    if value is None or value != value:
        return DASH
    text = f"{abs(value):.{decimals}f}"
    sign = MINUS if value < 0 and float(text) else ""
    return sign + (text[1:] if text.startswith("0") else text)


def range_of(estimate: Estimate, decimals: int = 2) -> str:
    """Return the interval in brackets; nothing where there is none."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return ""
    return f"[{plain_number(estimate.low, decimals)}, {plain_number(estimate.high, decimals)}]"


def with_interval(estimate: Estimate, decimals: int = 2) -> str:
    """Return value and interval."""
    return f"{number(estimate, decimals)} {range_of(estimate, decimals)}".strip()


def p_text(p: float | None) -> str:
    """Return a p value in three decimals, .034, or as < .001; a dash where there is none."""
    if p is None or p != p:
        return DASH
    return "< .001" if p < 0.001 else plain_number(p, 3)


def covers(estimate: Estimate, value: float) -> bool:
    """Tell whether the interval holds a value; ``False`` without an interval."""
    low, high = estimate.low, estimate.high
    return low is not None and high is not None and low <= value <= high


def json_text(value: object) -> str:
    """Return a value as JSON to be printed: slices as objects, signatures as text."""
    return plain_json(msgspec.json.format(msgspec.json.encode(_spelled_out(value))).decode())


def _spelled_out(value: object) -> object:

    def rest(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [rest(one) for one in value]
        if not isinstance(value, dict):
            return value
        plain = {key: rest(one) for key, one in value.items()}
        if isinstance(value.get("where"), list | tuple):
            plain["where"] = dict(value["where"])
        if isinstance(value.get("signature"), list | tuple):
            plain["signature"] = signature_text(value["signature"])
        return plain

    return rest(msgspec.to_builtins(value, str_keys=True, enc_hook=LengthAudit.numbers))


def capital(text: str) -> str:
    """Return a text that can begin a sentence."""
    return text[:1].upper() + text[1:]


def tight(text: str) -> str:
    """Keep a text, such as an interval, on one line."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def why_undefined(estimate: Estimate) -> str:
    """Return why a number does not exist, as the end of a sentence."""
    if is_bare(estimate):
        return (estimate.problem or "no interval").rstrip(".")
    why, problem = EMPTY.get(estimate.name), estimate.problem or ""
    empty = estimate.denominator == 0 or problem.startswith("undefined") or problem == why
    if empty and why:
        return f"{why} among those with verdicts" if estimate.missing else why
    if estimate.problem:
        return estimate.problem.rstrip(".")
    return "nothing to count" if empty else "not computed in this run"


#: what tiers are, below a table of them
TIERS = (
    "A tier says how widely known the subject of a question is. Tier 1 has the best-known subjects."
)


def tier_label(tier: str) -> str:
    """Return a tier in words: "tier 1"; names of other kinds stay as they are."""
    return f"tier {tier}" if tier.isdecimal() else line(tier, 60)


def shown_difference(name: str, value: float | None) -> str:
    """Return a difference with its sign, shares in percentage points (pp)."""
    if value is None or notation_of(name) != "percent":
        return signed_number(value)
    return percentage_points(value)


def difference_value(e: Estimate) -> str:
    """Return a difference with its sign; a dash for one of J that has no interval."""
    return shown_difference(e.name, None if is_bare(e) else e.value)


def difference_range(e: Estimate) -> str:
    """Return the interval of a difference in brackets; empty where there is none."""
    if e.value is None or e.low is None or e.high is None:
        return ""
    ends = [shown_difference(e.name, end).removesuffix(" pp") for end in (e.low, e.high)]
    return f"[{ends[0]}, {ends[1]}]"


def with_interval_only(estimate: Estimate) -> Estimate:
    """Return an estimate without its value where it has no interval: it would mislead alone."""
    if estimate.value is None or estimate.low is not None:
        return estimate
    return msgspec.structs.replace(estimate, value=None)
