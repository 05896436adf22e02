"""Settings that were asked for and would change nothing: told, not left unread.

A setting that is taken from a preset may stay unread; one that somebody said may not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sayso.pipeline.teaching_making import Making
from sayso.records import InputError

#: recipes whose rows are of one label a fact, known or unknown
LABELED = ("short", "long", "mix", "rl")
#: what only a training reads
TRAINED = ("sft.epochs", "sft.rate", "dpo.epochs", "dpo.rate", "targets")
#: what only reinforcement learning reads
REWARDED = ("reward", "choose", "cost", "rl.rows", "rl.rate")
#: rewards in which a wrong answer costs something
COSTING = ("ternary", "rlmf")


def check_read(
    recipe: str,
    stages: str,
    made: Making,
    given: Mapping[str, Any],
    *,
    export: bool = False,
) -> None:
    """Refuse a given setting (``given``: dotted for trainings) that nothing reads. InputError.

    ``export``: rows are made for another trainer, who takes pairs of every recipe.
    """
    for name, value in given.items():
        why = value is not None and _why(name, value, recipe, stages, made, export)
        if why:
            raise InputError(_line(name, value, why))


def check_exported(methods: str, given: Mapping[str, Any]) -> None:
    """Refuse what ``--export`` leaves unread: it trains and measures nothing. InputError."""
    if methods:
        raise InputError(_line("methods", methods, "--export writes rows and measures nothing"))
    for name, value in given.items():
        if value is not None and name in (*TRAINED, *REWARDED):
            raise InputError(_line(name, value, "--export writes rows and trains nothing"))


def _line(name: str, value: object, why: str) -> str:
    shown = ",".join(map(str, value)) if isinstance(value, tuple) else value
    flag = name.replace("_", "-").replace(".", "-")
    return f"--{flag} {shown} would change nothing: {why}; leave it out"


def _why(
    name: str, value: object, recipe: str, stages: str, made: Making, export: bool
) -> str | None:
    """Return why nothing reads a setting; ``None`` if something does."""
    if name in REWARDED and (recipe != "rl" or stages == "sft"):
        return "it is of reinforcement learning (--recipe rl, not with --stages sft)"
    if name == "cost" and made.reward not in COSTING:
        return f"reward {made.reward} has no cost (--reward ternary or rlmf has)"
    if name in ("against", "dpo.rows", "dpo.epochs", "dpo.rate"):
        if stages == "sft":
            return "--stages sft ends before DPO"
        if recipe == "rl" and not export:
            return "--recipe rl goes on from SFT without DPO"
    if name == "against" and made.style != "known":
        return f"style {made.style} does not read it (--style known does)"
    if made.style == "fut" and name in ("theta", "low", "xi", "plain_from", "refuse_below"):
        return "style fut hedges every draw as its consistency says"
    if name == "xi" and recipe not in ("mix", "rl"):
        return f"--recipe {recipe} mixes no forms by a share (--recipe mix and rl do)"
    if name in ("plain_from", "refuse_below") and recipe != "calibrated":
        return f"--recipe {recipe} does not read it (--recipe calibrated does)"
    if name in ("theta", "low"):
        if recipe not in LABELED:
            return f"--recipe {recipe} grades by agreement of the draws (see --plain-from)"
        if recipe == "long" and made.style == "paper":
            return "paragraphs of style paper are labeled fact by fact (see --veracity)"
    if name == "paragraphs" and value and (recipe == "short" or made.style == "fut"):
        return "rows of short questions take no paragraph"
    return None
