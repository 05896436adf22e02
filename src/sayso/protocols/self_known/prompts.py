"""The prompts of self_known: which texts are sent, and which of them a user can replace."""

from __future__ import annotations

from sayso.prompts import load_prompt, prompt_hash
from sayso.protocols.self_known.settings import Settings, asks_model, modes_of
from sayso.protocols.settings import folder_setting


def _own_prompts(settings: Settings) -> dict[str, str]:
    """Return the prompts of this protocol: each with "", or the flag that it needs."""
    modes = modes_of(settings)
    return {
        "self_direct": "" if "direct" in modes else "--set modes=direct",
        "self_qa": "" if {"qa", "qa_none"} & {*modes} else "--set modes=qa",
        "self_open": "--set ask=open" if settings.ask == "item" else "",
        "self_retrieval": "" if settings.retrieval else "--set retrieval=true",
        "self_revise": "" if settings.remedy == "revise" else "--set remedy=revise",
    }


def instructions(settings: Settings) -> dict[str, str]:
    """Return the prompts in use by name."""
    names = [name for name, flag in _own_prompts(settings).items() if not flag]
    return {name: load_prompt(name, folder_setting(settings.prompt_folder)) for name in names}


def prompt_uses(settings: Settings, by_model: bool) -> dict[str, str]:
    """Return the files that a prompt folder can hold: each with "", or the flag that it needs."""
    uses = _own_prompts(settings)
    asked_back = not uses["self_qa"]
    for prompt, name in (("claims",) * 2, ("support",) * 2, ("claim_question", "questions")):
        asked = asks_model(getattr(settings, name), by_model)
        flag = "" if asked else f"--judge MODEL --{name} judge"
        if prompt == "claim_question" and not asked_back:
            flag = "--set modes=qa"
        uses |= {prompt: flag, f"{prompt}_reply": flag}
    return uses


def prompts_signature(settings: Settings) -> str:
    """Return a short name of the texts in use."""
    texts = instructions(settings)
    return prompt_hash(" / ".join(f"{name}:{text}" for name, text in texts.items()))


def prompts(settings: Settings) -> dict[str, str]:
    """Return what a manifest keeps of the prompts: every text by name, and their signature."""
    return {
        "signature": prompts_signature(settings),
        **{f"self_known_{name}": text for name, text in instructions(settings).items()},
    }
