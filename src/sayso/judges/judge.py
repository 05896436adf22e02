"""What every judge shares: items, the protocol, model families, questions without an answer.

Questions that nobody can answer have no gold, and without one no judge could say what an answer is
worth. Both judges therefore compare a stated value with a gold that says there is none, and an
answer that withholds a value (abstains, refuses, asks back) has content "correct". The rules take
every stated value as wrong; a model may accept an answer that explains why there is none ("the
story does not say").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import msgspec

from sayso.engines.engine import Engine
from sayso.records import Generation, Gold, Question, Stance, Verdict


class Item(NamedTuple):
    """One answer to judge: ``questions`` has one entry for a short answer, the short questions of
    its aspects in order for a long one."""

    generation: Generation
    questions: tuple[Question, ...]


class Judge(Protocol):
    """Whoever reads answers: the offline rules, or a model with a prompt and a parser."""

    name: str
    signature: str

    def grade(self, items: Sequence[Item]) -> list[Verdict]:
        """Return one verdict for each (item, question), in order; unread ones carry a problem."""


def engine_of(judge: object) -> Engine | None:
    """Return the engine that a judge sends requests to, ``None`` for a judge without one."""
    for holder in (judge, getattr(judge, "llm", None)):
        engine: Engine | None = getattr(holder, "engine", None)
        if engine is not None:
            return engine
    return None


# ---- questions that nobody can answer

#: Stances that state no value.
WITHHELD: tuple[Stance, ...] = ("abstained", "refused_by_policy", "asked_back")
#: The gold of an unanswerable question: for rules a value that no answer states, for a model words.
NO_VALUE = (Gold("Zzyqxthorp"),)
NO_VALUE_IN_WORDS = (
    Gold("none: this question cannot be answered, so every definite answer to it is wrong"),
)


def golds_to_compare(question: Question, stand_in: tuple[Gold, ...] = NO_VALUE) -> tuple[Gold, ...]:
    """Return the golds to compare an answer with; ``stand_in`` for an unanswerable question."""
    return question.golds or (stand_in if question.answerable is False else ())


def credit_withholding(question: Question, verdict: Verdict) -> Verdict:
    """Return the verdict; withholding a value is correct where the question is unanswerable."""
    if question.answerable is not False or verdict.stance not in WITHHELD:
        return verdict
    return msgspec.structs.replace(verdict, content="correct")


# ---- families of models: a judge may favor the answers of its own family

#: Family -> what its models are called; a fine-tune belongs to the family of its weights.
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
_PREFIX = re.compile(r"^(?:(?:hf|gguf|ollama|openai|api|vllm|scripted):)+")


def family(name: str) -> str:
    """Return the family of a model's name: ``qwen`` for ``hf:Qwen/Qwen3-4B``.

    Where a name holds several families the last one counts: it names the weights
    (``DeepSeek-R1-Distill-Qwen-7B``). A name of no listed family is a family of its own, so a
    model is always related to itself.
    """
    plain = name.strip().lower()
    if plain.startswith(("http://", "https://", "@")):  # several have one model, named each time
        plain = plain.rpartition("#")[2] or plain
    plain = _PREFIX.sub("", plain)
    matches = [
        (match.end(), relatives)
        for relatives, pattern in _FAMILIES.items()
        for match in re.finditer(pattern, plain)
    ]
    return max(matches)[1] if matches else plain.rstrip("/")
