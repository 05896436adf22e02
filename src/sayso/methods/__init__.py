"""Ways to ask a model for its doubt: one dictionary, for every protocol.

A method is an instruction that goes with a question; the text of each is a prompt file that a user
can override. ``vanilla`` adds nothing in the shared pool. Where a method needs demonstrations, they
are the model's own answers to questions that are not measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from sayso.prompts import load_prompt
from sayso.records import InputError

Form = Literal["short", "long"]
Style = Literal["shared", "paper"]


class Method(NamedTuple):
    """One way to ask. ``short`` and ``long`` name the prompt of each form ("" = none)."""

    about: str
    short: str
    long: str
    demonstrations: bool = False


#: name -> method. The first four are those of Yona et al. (arXiv 2405.16908, section 4), in our
#: words; the texts of ``uncle`` are those of that protocol.
METHODS: dict[str, Method] = {
    "vanilla": Method("the plain question", "", ""),
    "granularity": Method(
        "answer as precisely as your knowledge allows, no more",
        "method_granularity",
        "method_granularity",
    ),
    "uncertainty": Method(
        "hedge, and only where you are not sure", "method_uncertainty", "method_uncertainty"
    ),
    "uncertainty_plus": Method(
        "the same with the model's own certain and uncertain answers as examples",
        "method_uncertainty",
        "",
        demonstrations=True,
    ),
    "metacognitive": Method(
        "ask yourself first whether you would say the same again (in the manner of MetaFaith)",
        "method_metacognitive",
        "method_metacognitive",
    ),
    "uncle": Method(
        "express uncertainty (UNCLE)", "uncle_short_instruction", "uncle_long_instruction"
    ),
}


class Shown(NamedTuple):
    """A demonstration: a question and the answer that is to be imitated."""

    question: str
    answer: str


def chosen(names: str) -> tuple[str, ...]:
    """Return the methods of a list separated by commas, "all" for all. Raises InputError."""
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    if wanted == ["all"]:
        return tuple(METHODS)
    unknown = [name for name in wanted if name not in METHODS]
    if unknown or not wanted:
        raise InputError(
            f"methods {names!r}: expected all, or some of {', '.join(METHODS)}, separated by commas"
        )
    return tuple(dict.fromkeys(wanted))


def instruction(name: str, form: Form, folder: Path | None = None, style: Style = "shared") -> str:
    """Return the text of a method for a form, "" where it has none.

    In the paper's style the plain question has an instruction too: a full answer in a sentence.
    """
    prompt = METHODS[name].long if form == "long" else METHODS[name].short
    if not prompt and style == "paper" and name == "vanilla":
        prompt = "method_vanilla"
    return load_prompt(prompt, folder) if prompt else ""


def asks_in(name: str, form: Form) -> bool:
    """Tell whether a method exists in this form: demonstrations are short answers."""
    return form == "short" or not METHODS[name].demonstrations


def prompted(
    name: str,
    question: str,
    *,
    form: Form = "short",
    context: str | None = None,
    style: Style = "shared",
    folder: Path | None = None,
    shown: Sequence[Shown] = (),
) -> str:
    """Return what is asked. ``shared``: the question, then the instruction; ``paper``: the
    instruction, then ``Question: ... Answer:`` (as always where answers are shown before it)."""
    told = instruction(name, form, folder, style)
    if style == "shared" and not shown:
        text = f"{context}\n\n{question}" if context else question
        return f"{text} {told}" if told else text
    blocks = [f"Question: {one.question}\nAnswer: {one.answer}" for one in shown]
    before = f"Context: {context}\n" if context else ""
    head = [told] if told else []
    return "\n\n".join([*head, *blocks, f"{before}Question: {question}\nAnswer:"])


def hedged(answer: str, folder: Path | None = None) -> str:
    """Return an answer in words that commit to little: how an uncertain answer is demonstrated."""
    text = load_prompt("method_hedged", folder)
    if "{answer}" not in text:
        raise InputError(f"{folder}/method_hedged.txt: has no {{answer}}; write it where it goes")
    return text.replace("{answer}", answer.strip())
