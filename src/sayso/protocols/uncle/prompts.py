"""The prompts of UNCLE: which texts are sent, and which of them a user can replace."""

from __future__ import annotations

from sayso.prompts import methods, prompt_hash
from sayso.protocols.pool import PLAIN, load_wording, reworded_question
from sayso.protocols.settings import folder_setting
from sayso.protocols.uncle.settings import ASKED_ALREADY, FORMS, Settings, names_of

#: what a signature calls the prompt of paragraphs that are made of short questions, and its file
PARAGRAPH = "uncle_paragraph"


def prompts(settings: Settings) -> dict[str, str]:
    """Return what a manifest keeps of the prompts: every text by name, and their signature.

    Further methods add their own entries; the default settings have none.
    """
    texts, plain = instructions(settings), reworded_question(settings.prompt_folder)
    further = method_texts(settings)
    named = " / ".join(f"{name}:{text}" for name, text in further.items())
    own = prompt_hash(" / ".join([*texts.values(), *plain.values()]))
    return {
        "signature": f"{settings.prompts}-{own}",
        **({"methods": prompt_hash(named)} if further else {}),
        **{f"uncle_{form}_instruction": text for form, text in texts.items()},
        **plain,
        **further,
    }


def prompt_uses(settings: Settings, by_model: bool) -> dict[str, str]:
    """Return the files that a prompt folder can hold: each with "", or the flag that it needs."""
    forms = FORMS[:1] if settings.short_only else FORMS
    uses = {f"uncle_{form}_instruction": "" if form in forms else LONG for form in FORMS}
    uses[PLAIN] = ""
    uses[PARAGRAPH] = "" if "long" in forms else LONG
    chosen = names_of(settings)
    for name, method in methods.METHODS.items():
        if name not in ASKED_ALREADY and not method.demonstrations:
            for form, prompt in zip(FORMS, (method.short, method.long), strict=True):
                needs = "" if form in forms else LONG
                flag = needs if name in chosen else f"--methods {name}"
                uses[prompt] = "" if uses.get(prompt) == "" else flag
    return uses


#: what a hint says of prompts of paragraphs
LONG = "paragraphs: leave short_only out"


def instructions(settings: Settings) -> dict[methods.Form, str]:
    """Return the instruction to express uncertainty (section 4) for each form, in our words."""
    wording = load_wording(settings.prompt_folder)
    return {"short": wording.short, "long": wording.long}


def method_texts(settings: Settings) -> dict[str, str]:
    """Return the prompts of the further methods in use by name."""
    folder = folder_setting(settings.prompt_folder)
    return {
        f"{name}_{form}": methods.instruction(name, form, folder)
        for name in names_of(settings)
        for form in FORMS
    }
