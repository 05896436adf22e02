"""What the selective protocol writes into its prompts: our texts, examples, context, question.

With ``paper`` the prompt is a text to be completed, as base models need it (PROTOCOLS 3.A, step 2).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sayso.prompts import load_prompt, prompt_hash
from sayso.protocols.selective_settings import Settings, shots
from sayso.protocols.uncle_wordings import load_wordings
from sayso.records import Question, content_id


def instructions(settings: Settings) -> dict[str, str]:
    """Return the texts of ours that stand in the prompts."""
    folder = Path(settings.prompt_folder) if settings.prompt_folder else None
    if settings.prompts == "paper":
        return {settings.mode: load_prompt(f"selective_{settings.mode}", folder)}
    (first,) = load_wordings(1, settings.prompt_folder)
    return {"short": first.short, "long": first.long} if settings.words else {}


def prompts_signature(settings: Settings) -> str:
    """Return a short name of the pool and of the texts in use."""
    mode = f"-{settings.mode}-{shots(settings)}" if settings.prompts == "paper" else ""
    texts = prompt_hash(" / ".join(instructions(settings).values()))
    return f"{settings.prompts}{mode}-{texts}"


def examples_of(questions: Sequence[Question], settings: Settings) -> list[Question]:
    """Return the questions that serve as examples, chosen by a hash of their ids."""
    held = [q for q in questions if not q.parts and q.golds]
    return sorted(held, key=lambda q: content_id(["example", q.id]))[: shots(settings)]


def head_of(questions: Sequence[Question], settings: Settings) -> str:
    """Return what stands before the question: the instruction, and answered examples."""
    (text,) = instructions(settings).values()
    shown = [
        f"{block_of(q)} {q.golds[0].value}" for q in examples_of(questions, settings) if q.golds
    ]
    return "\n\n".join([text, *shown]) + ("\n\n" if shown else "\n")


def block_of(question: Question) -> str:
    """Return context and question as a text that an answer completes."""
    context = f"Context: {question.context}\n" if question.context else ""
    return f"{context}Question: {question.text}\nAnswer:"
