"""Questions that nobody can answer: whoever abstains is right, whoever states a value is wrong.

Such a question has no gold, and without one no judge could say what an answer is worth. So both
judges compare a stated value with a gold that says there is none, and an answer that withholds one
(abstains, refuses, asks back) has content "correct". The rules take every stated value as wrong; a
model may find an answer right that explains why there is none ("the story does not say").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

from sayso.engines.engine import Engine
from sayso.records import Generation, Gold, Question, Stance, Verdict

# Reading answers: replies of a model become verdicts and evidence.


class Item(NamedTuple):
    """One answer to judge: ``questions`` has one entry for a short answer, the parts in order
    for a long one."""

    generation: Generation
    questions: tuple[Question, ...]


class Judge(Protocol):
    """Whoever reads answers: the offline rules, or a model with a prompt and a parser."""

    name: str
    signature: str

    def grade(self, items: Sequence[Item]) -> list[Verdict]:
        """Return one verdict for each (item, question), in order; unread ones carry a problem."""


# Which models are relatives? A judge may favor the answers of its own family (VALIDITY 5).

#: family -> how its models are called; a fine-tune belongs to the family of its weights
_FAMILIES = {
    "gpt": r"gpt|\bo[134](?=\b|-)|davinci",
    "claude": r"claude",
    "gemini": r"gemini|gemma|palm-?2",
    "llama": r"llama|vicuna|alpaca",
    "qwen": r"qwen|qwq|qvq",
    "mistral": r"mi[sx]tral|ministral|codestral|magistral|devstral|zephyr",
    "deepseek": r"deepseek",
    "phi": r"\bphi-?\d",
    "grok": r"grok",
    "command": r"\bcommand(?=-|\b)|c4ai|\baya\b",
    "glm": r"glm-?\d",
    "yi": r"\byi-\d",
    "olmo": r"olmo",
    "kimi": r"kimi|moonshot|moonlight",
    "minimax": r"minimax",
    "internlm": r"internlm",
    "falcon": r"falcon",
    "granite": r"granite",
    "smollm": r"smollm",
    "ernie": r"ernie",
    "hunyuan": r"hunyuan",
    "nova": r"\bnova-",
    "jamba": r"jamba",
}
_KNOWN = {name: re.compile(pattern) for name, pattern in _FAMILIES.items()}
_PREFIX = re.compile(r"^(?:hf|openai|api|vllm|scripted):")


def family(name: str) -> str:
    """Return the family of a model's name: ``qwen`` for ``hf:Qwen/Qwen3-4B``.

    Of several families in one name the last counts, which is the one of the weights
    (``DeepSeek-R1-Distill-Qwen-7B``). A name of no family that is listed is a family of its own,
    so that a model is at least related to itself.
    """
    plain = name.strip().lower()
    if plain.startswith(("http://", "https://")):
        plain = plain.partition("#")[2] or plain
    plain = _PREFIX.sub("", plain)
    found = [
        (match.end(), relatives)
        for relatives, pattern in _KNOWN.items()
        for match in pattern.finditer(plain)
    ]
    return max(found)[1] if found else plain.rstrip("/")


WITHHELD: tuple[Stance, ...] = ("abstained", "refused_by_policy", "asked_back")
#: a value that no answer states
NOBODY = (Gold("Zzyqxthorp"),)
#: what a model is told to compare with
TOLD = (Gold("none: this question cannot be answered, so every definite answer to it is wrong"),)


def compared(question: Question, without: tuple[Gold, ...] = NOBODY) -> tuple[Gold, ...]:
    """Return the golds to compare an answer with; ``without`` where there can be none."""
    return question.golds or (without if question.answerable is False else ())


def settled(question: Question, verdict: Verdict) -> Verdict:
    """Return the verdict; an unanswerable question makes withholding an answer right."""
    if question.answerable is not False or verdict.stance not in WITHHELD:
        return verdict
    return msgspec.structs.replace(verdict, content="correct")


def engine_of(judge: Any) -> Engine | None:
    """Return the model that a judge asks, ``None`` for one without."""
    for holder in (judge, getattr(judge, "llm", None)):
        engine = getattr(holder, "engine", None)
        if engine is not None:
            return engine  # type: ignore[no-any-return]
    return None
