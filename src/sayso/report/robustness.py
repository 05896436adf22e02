"""What further draws and other wordings of the prompt say, in runs that asked for them."""

from __future__ import annotations

from collections.abc import Iterator

from sayso.report.numbers import Numbers, interval, show
from sayso.report.words import FORMS

#: numbers in the order in which they are shown
ROBUST: dict[str, tuple[str, str]] = {
    "propensity_known": (
        "hedging draws, known facts",
        "How often further draws hedge a known fact, on average; the count is of facts.",
    ),
    "propensity_unknown": ("hedging draws, unknown facts", "The same for unknown facts."),
    "propensity_difference": (
        "hedging draws, unknown minus known",
        "J of how often it hedges, instead of whether one answer did.",
    ),
    "propensity_retest": (
        "agreement of two draws",
        "Whether two draws about one fact both hedge or both do not (kappa; 1 = always alike, "
        "0 = as any two).",
    ),
    "J_wordings": ("J, mean over wordings", "The same questions and request in other words."),
    "J_wordings_spread": ("J, spread", "Standard deviation between the wordings."),
    "J_wordings_lowest": ("J, lowest wording", ""),
    "J_wordings_highest": ("J, highest wording", ""),
    "UUR_wordings": ("UUR, mean over wordings", ""),
    "UUR_wordings_spread": ("UUR, spread", ""),
    "over_hedge_wordings": ("known, yet hedged, mean over wordings", ""),
    "over_hedge_wordings_spread": ("known, yet hedged, spread", ""),
    "KCR_wordings": ("KCR, mean over wordings", ""),
    "KCR_wordings_spread": ("KCR, spread", ""),
}


def lines(numbers: Numbers) -> Iterator[str]:
    """Yield one sentence for each form and check; nothing where a run has neither."""
    for form in numbers.forms:
        if numbers.has("propensity_retest", form):
            known, unknown, retest = (
                numbers.get(f"propensity_{name}", form) for name in ("known", "unknown", "retest")
            )
            span = f" {interval(retest)}" if interval(retest) else ""
            yield (
                f"Drawn again, {FORMS[form]} hedge a fact it did not know {show(unknown, 0)} of "
                f"the time, a known one {show(known, 0)}; agreement of two draws (kappa) "
                f"{show(retest)}{span}."
            )
        if numbers.has("J_wordings", form):
            mean, spread, low, high = (
                show(numbers.get(f"J_wordings{part}", form))
                for part in ("", "_spread", "_lowest", "_highest")
            )
            yield (
                f"Asked in other words, J of {FORMS[form]} is {mean} on average, spread {spread}, "
                f"from {low} to {high}: differences below the spread say little."
            )
