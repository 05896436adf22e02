"""The prompts of selective: which texts are sent, and which of them a user can replace."""

from __future__ import annotations

from sayso.prompts import load_prompt, prompt_hash
from sayso.protocols.pool import PLAIN, load_wording, reworded_question
from sayso.protocols.selective.settings import BLIND, Settings, further_metrics, shots
from sayso.protocols.settings import folder_setting
from sayso.scores.collect import SAID_TRUE, SUPPORTED


def prompts(settings: Settings) -> dict[str, str]:
    """Return what a manifest keeps of the prompts: every text by name, and their signature."""
    return {
        "signature": prompts_signature(settings),
        **{f"selective_{name}": text for name, text in instructions(settings).items()},
        **question_prompt(settings),
        **questions_about_answers(settings),
    }


def prompt_uses(settings: Settings, by_model: bool) -> dict[str, str]:
    """Return the files that a prompt folder can hold: each with "", or the flag that it needs."""
    paper = settings.prompts == "paper"
    uses = {
        f"selective_{mode}": ""
        if paper and settings.mode == mode
        else f"--set prompts=paper --set mode={mode}"
        for mode in ("sentence", "short")
    }
    words = "" if settings.words and not paper else "--set words=true --set prompts=shared"
    uses |= {f"uncle_{form}_instruction": words for form in ("short", "long")}
    uses[PLAIN] = "--set prompts=shared" if paper else ""
    uses |= dict.fromkeys(("confidence", "confidence_reasoned"), "--set elicit=true")
    uses |= {
        SAID_TRUE: "--set elicit=true",
        SUPPORTED: "--set elicit=true",
        "blind": f"--set answer_metrics={BLIND}:MODEL",
    }
    return uses | dict.fromkeys(questions_about_answers(settings), "")


def questions_about_answers(settings: Settings) -> dict[str, str]:
    """Return the texts of what is asked about answers, by the names of their files."""
    names = ["blind"] * any(name.startswith(BLIND) for name in further_metrics(settings))
    names += ["confidence", "confidence_reasoned", SUPPORTED] * settings.elicit
    names += [SAID_TRUE] * bool(settings.elicit or settings.panel)
    folder = folder_setting(settings.prompt_folder)
    return {name: load_prompt(name, folder) for name in names}


def instructions(settings: Settings) -> dict[str, str]:
    """Return the texts of ours that stand in the prompts."""
    folder = folder_setting(settings.prompt_folder)
    if settings.prompts == "paper":
        return {settings.mode: load_prompt(f"selective_{settings.mode}", folder)}
    wording = load_wording(settings.prompt_folder)
    return {"short": wording.short, "long": wording.long} if settings.words else {}


def question_prompt(settings: Settings) -> dict[str, str]:
    """Return the prompt of the plain question, if it is another than the bare question."""
    return reworded_question(settings.prompt_folder) if settings.prompts == "shared" else {}


def prompts_signature(settings: Settings) -> str:
    """Return a short name of the pool and of the texts in use."""
    mode = f"-{settings.mode}-{shots(settings)}" if settings.prompts == "paper" else ""
    every = {
        **instructions(settings),
        **question_prompt(settings),
        **questions_about_answers(settings),
    }
    texts = prompt_hash(" / ".join(every.values()))
    return f"{settings.prompts}{mode}-{texts}"
