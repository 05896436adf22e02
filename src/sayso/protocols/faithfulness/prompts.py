"""The prompts of faithfulness: which texts are sent, and which of them a user can replace."""

from __future__ import annotations

from sayso.prompts import methods, prompt_hash
from sayso.protocols.faithfulness.settings import FORMS, Settings
from sayso.protocols.settings import folder_setting


def prompt_uses(settings: Settings, by_model: bool) -> dict[str, str]:
    """Return the files that a prompt folder can hold: each with "", or the flag that it needs."""
    chosen = methods.methods_in_list(settings.methods)
    paper = settings.prompts == "paper"
    uses = {
        "method_vanilla": "" if paper and "vanilla" in chosen else "--set prompts=paper",
        "method_hedged": "--methods uncertainty_plus",
    }
    for name, method in methods.METHODS.items():
        for prompt in filter(None, (method.short, method.long)):
            if uses.get(prompt) != "":
                uses[prompt] = "" if name in chosen else f"--methods {name}"
        if method.demonstrations and name in chosen:
            uses["method_hedged"] = ""
    for step, how in (("decisive", settings.decisive), ("contradict", settings.contradict)):
        flag = "" if by_model and how in ("auto", "judge") else f"--judge MODEL --{step} judge"
        uses |= {step: flag, f"{step}_reply": flag}
    flag = (
        "" if by_model and settings.ambiguous == "judge" else "--judge MODEL --set ambiguous=judge"
    )
    return uses | {"ambiguous": flag, "ambiguous_reply": flag}


def prompts(settings: Settings) -> dict[str, str]:
    """Return what a manifest keeps of the prompts: every text by name, and their signature."""
    texts = {}
    for name in methods.methods_in_list(settings.methods):
        for form in FORMS:
            text = methods.instruction(
                name, form, folder_setting(settings.prompt_folder), settings.prompts
            )
            if text and methods.asks_in(name, form):
                texts[f"{name}_{form}"] = text
    in_use = " / ".join(f"{name}:{text}" for name, text in texts.items())
    return {
        "signature": f"{settings.prompts}-{prompt_hash(in_use)}",
        **{f"faithfulness_{name}": text for name, text in texts.items()},
    }
