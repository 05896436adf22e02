"""What decides the training rows of a teaching, and which settings fit together."""

from __future__ import annotations

import dataclasses
from typing import Literal, get_args

from sayso.records import InputError
from sayso.train.pairs_known import WORDS
from sayso.train.pairs_logu import VARIANTS, Veracity
from sayso.train.rewards import NAMES, Name

Recipe = Literal["short", "long", "mix", "calibrated", "rl"]
RECIPES: tuple[str, ...] = get_args(Recipe)
STYLES = ("paper", "known", "fut")
VERACITIES: tuple[str, ...] = get_args(Veracity)


@dataclasses.dataclass(frozen=True)
class Making:
    """What decides the rows. ``low`` None: unknown is all below theta (the papers' rule).

    ``cut`` "all" re-words every wrong fact of a paragraph, "cutoff2" LoGU's sample of them;
    ``variants`` is how often each paragraph is re-worded. ``each`` and ``each_unknown`` are rows of
    a short fact. In rows of style "known" ``words`` hedge, and ``against`` is how many pairs
    against a hedge stand beside one for it (None: all). ``plain`` is how many of the model's own
    plain answers stand beside the SFT rows, as a share of them, and ``plain_pairs`` the same for
    DPO, as a share of the pairs that prefer a hedge. ``reward``, ``cost`` and ``choose`` are of
    reinforcement learning: what is rewarded, what a wrong answer costs, and which questions are
    asked (``extremes``: those whose draws agree most and least).
    """

    style: Literal["paper", "known", "fut"] = "paper"
    k: int = 10
    paragraphs: int = 0
    theta: float = 1.0
    low: float | None = None
    xi: float = 0.7
    veracity: Veracity = "gold"
    cut: Literal["all", "cutoff2"] = "cutoff2"
    variants: int = VARIANTS
    each: int = 1
    each_unknown: int | None = None
    words: tuple[str, ...] = WORDS
    against: float | None = None
    plain: float = 0.5
    plain_pairs: float = 0.0
    plain_from: float = 1.0
    refuse_below: float = 0.0
    reward: Name = "ternary"
    cost: float = 1.0
    choose: Literal["any", "extremes"] = "any"


def check_making(made: Making) -> None:
    """Refuse settings of which no rows can come. Raises InputError."""
    for name, value, low, high in (
        ("theta", made.theta, 0, 1),
        ("low", made.low or 0.0, 0, 1),
        ("xi", made.xi, 0, 1),
        ("plain", made.plain, 0, 1),
        ("variants", made.variants, 1, 100),
        ("each", made.each, 1, 100),
        ("paragraphs", made.paragraphs, 0, 100),
        ("cost", made.cost, 0, 100),
        ("plain_from", made.plain_from, 0, 1),
        ("against", 1.0 if made.against is None else made.against, 0, 100),
    ):
        if not low <= value <= high:
            raise InputError(f"{name} is {value:g}; expected {low} to {high}")
    if not made.theta:
        raise InputError("theta is 0; expected more than 0, up to 1: every fact would be known")
    if made.low is not None and made.low >= made.theta:
        raise InputError(
            f"low is {made.low:g} and theta {made.theta:g}; expected low below theta: a fact is "
            "unknown up to low and known from theta"
        )
    for name, chosen, known in (
        ("style", made.style, STYLES),
        ("veracity", made.veracity, VERACITIES),
        ("reward", made.reward, NAMES),
    ):
        if chosen not in known:
            raise InputError(f"{name} {chosen!r}: expected one of {', '.join(known)}")


def check_name(recipe: str) -> None:
    """Refuse what is no recipe; of a style, say the command that takes it. Raises InputError."""
    if recipe in STYLES:
        told = "--recipe short --style fut --stages sft" if recipe == "fut" else f"--style {recipe}"
        raise InputError(f"recipe {recipe!r} is a style of rows: sayso train RUN {told}")
    if recipe not in RECIPES:
        raise InputError(f"recipe {recipe!r}: expected one of {', '.join(RECIPES)}")


def check_recipe(recipe: str, made: Making) -> None:
    """Refuse settings that a recipe would leave unread. Raises InputError."""
    check_name(recipe)
    if made.veracity != "gold" and (made.style != "paper" or recipe in ("short", "calibrated")):
        raise InputError(
            f"veracity {made.veracity} says which sentences of a paragraph are wrong in rows of "
            "style paper: add --style paper, with --recipe mix, long or rl"
        )
    if made.style == "fut" and recipe not in ("short", "rl"):
        raise InputError(
            f"style fut makes rows of short questions: --recipe short (or rl), not {recipe}"
        )
