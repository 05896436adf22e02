"""Prompting methods, ways to ask a model for its doubt: one dictionary, for every protocol.

A method is an instruction that goes with a question; the text of each is a prompt file that a user
can override. ``vanilla`` adds nothing in the shared pool. Where a method needs demonstrations, they
are the model's own answers to questions that are not measured; ``unc_few`` and ``pair_few`` show
examples about invented things, and ``self_refine`` asks twice: for a draft, and to revise it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from sayso.prompts import load_prompt
from sayso.records import InputError, Message

Form = Literal["short", "long"]
Style = Literal["shared", "paper"]


class PromptMethod(NamedTuple):
    """One prompting method. ``short`` and ``long`` name the prompt of each form ("" = none).

    ``kind`` "instruction": the prompt goes with the question; "examples": it holds examples, and
    the question's place; "revision": it follows the answer to the plain question. Only the first
    kind is in "all": the others cost many tokens or a second request, and are used by name.
    """

    about: str
    short: str
    long: str
    demonstrations: bool = False
    kind: Literal["instruction", "examples", "revision"] = "instruction"


#: where the question stands in a prompt with examples
PLACE = "{question}"

#: name -> method. The first four are those of Yona et al. (arXiv 2405.16908, section 4), in our
#: words; the texts of ``uncle`` are those of that protocol, and the last three are its methods
#: (arXiv 2505.16922, section 6), in our words.
METHODS: dict[str, PromptMethod] = {
    "vanilla": PromptMethod("the plain question", "", ""),
    "granularity": PromptMethod(
        "answer as precisely as your knowledge allows, no more",
        "method_granularity",
        "method_granularity",
    ),
    "uncertainty": PromptMethod(
        "hedge, and only where you are not sure", "method_uncertainty", "method_uncertainty"
    ),
    "uncertainty_plus": PromptMethod(
        "the same with the model's own certain and uncertain answers as examples",
        "method_uncertainty",
        "",
        demonstrations=True,
    ),
    "metacognitive": PromptMethod(
        "ask yourself first whether you would say the same again (in the manner of MetaFaith)",
        "method_metacognitive",
        "method_metacognitive",
    ),
    "uncle": PromptMethod(
        "express uncertainty (UNCLE)", "uncle_short_instruction", "uncle_long_instruction"
    ),
    "unc_few": PromptMethod(
        "ten examples whose answers voice doubt",
        "method_unc_few",
        "method_unc_few_long",
        kind="examples",
    ),
    "pair_few": PromptMethod(
        "ten examples, each answered with certainty and with doubt",
        "method_pair_few",
        "method_pair_few_long",
        kind="examples",
    ),
    "self_refine": PromptMethod(
        "a draft, then its revision, which hedges what is unsure and leaves the rest",
        "method_self_refine",
        "method_self_refine",
        kind="revision",
    ),
}


#: name -> how reports call it
METHOD_LABELS = {
    "vanilla": "Vanilla",
    "granularity": "Granularity",
    "uncertainty": "Uncertainty",
    "uncertainty_plus": "Uncertainty+",
    "metacognitive": "Metacognitive",
    "uncle": "UNCLE",
    "unc_few": "Unc-Few",
    "pair_few": "Pair-Few",
    "self_refine": "Self-Refine",
}


class Demonstration(NamedTuple):
    """A demonstration: a question and the answer to imitate."""

    question: str
    answer: str


def methods_in_list(names: str) -> tuple[str, ...]:
    """Return the methods of a list separated by commas; "all": those that are an instruction.

    Raises InputError.
    """
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    every = [name for name, method in METHODS.items() if method.kind == "instruction"]
    wanted = [one for name in wanted for one in (every if name == "all" else [name])]
    unknown = [name for name in wanted if name not in METHODS]
    if unknown or not wanted:
        raise InputError(
            f"methods {names!r}: expected all, or some of {', '.join(METHODS)}, separated by commas"
        )
    return tuple(dict.fromkeys(wanted))


def instruction(name: str, form: Form, folder: Path | None = None, style: Style = "shared") -> str:
    """Return the text of a method for a form, "" if it has none.

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
    shown: Sequence[Demonstration] = (),
) -> str:
    """Return the prompt of a question.

    ``shared``: the question, then the instruction; ``paper``: the instruction, then
    ``Question: ... Answer:``, which is also the form after demonstrations. An instruction of a
    user's that has the question's place is the whole prompt. For a method that revises: the prompt
    of the draft, which is the question alone.
    """
    text = instruction(name, form, folder, style)
    bare = f"{context}\n\n{question}" if context else question
    kind = METHODS[name].kind
    if kind == "revision":
        return bare
    if kind == "examples":
        examples, _, after = text.rpartition(PLACE)
        return f"{examples}{bare}{after}"
    if style == "shared" and not shown and PLACE not in text:
        return f"{bare} {text}" if text else bare
    blocks = [f"Question: {one.question}\nAnswer: {one.answer}" for one in shown]
    if PLACE in text:
        return "\n\n".join([*blocks, text.replace(PLACE, bare)])
    before = f"Context: {context}\n" if context else ""
    head = [text] if text else []
    return "\n\n".join([*head, *blocks, f"{before}Question: {question}\nAnswer:"])


def stop(name: str, form: Form, folder: Path | None = None) -> tuple[str, ...]:
    """Return what ends an answer: after examples, the words that begin the next question's line.

    A model continues a list of examples with one of its own.
    """
    if METHODS[name].kind != "examples":
        return ()
    before, _, _ = instruction(name, form, folder).rpartition(PLACE)
    heading = before.rpartition("\n")[2].strip()
    return (f"\n{heading}",) if heading else ()


def revision_chat(
    name: str, prompt: str, draft: str, form: Form, folder: Path | None = None
) -> tuple[Message, ...]:
    """Return the chat that asks a model to revise its own draft of an answer to ``prompt``.

    The draft stands in the model's own turn, so that nothing in it can pass for a request.
    """
    text = instruction(name, form, folder)
    return (Message("user", prompt), Message("assistant", draft), Message("user", text))


def hedged_wording(answer: str, folder: Path | None = None) -> str:
    """Return an answer in words that commit to little: how an uncertain answer is demonstrated."""
    return load_prompt("method_hedged", folder).replace("{answer}", answer.strip())
