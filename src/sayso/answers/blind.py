"""A language model as an answer metric that never sees the question (Santilli et al. 2025).

It is shown the golds and the answer and says 1 or 0. Golds and answer stand fenced, and a reply
counts only behind the fence's code, so that an answer sets no verdict of its own. A reply that
cannot be read is asked for once more and then missing, never 0. An answer that names no value is
not right: only who sees the question could tell why it does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from sayso.engines.engine import Engine
from sayso.prompts import load_prompt, prompt_hash
from sayso.prompts.fence import LONGEST, Field, fence
from sayso.prompts.thoughts import strip_thinking
from sayso.records import Message, Request

#: tokens of a reply: a thought may come before it
REPLY = 256


class BlindGrade(NamedTuple):
    """Whether an answer says what a gold says: 1, 0, or ``None`` and the problem."""

    correct: float | None
    problem: str | None = None


class BlindGrader:
    """Asks an engine whether answers say what their golds say."""

    def __init__(self, engine: Engine, prompts: Path | None = None) -> None:
        self.engine = engine
        self.template = load_prompt("blind", prompts)

    @cached_property
    def signature(self) -> str:
        """The engine, and a hash of the prompt in four digits."""
        return f"blind:{self.engine.signature}#p{prompt_hash(self.template)[:4]}"

    def grade(self, golds: Sequence[Sequence[str]], answers: Sequence[str]) -> list[BlindGrade]:
        """Return a grade of each answer, in order; equal pairs are asked about once."""
        pairs = [(tuple(some), answer) for some, answer in zip(golds, answers, strict=True)]
        grades: dict[tuple[tuple[str, ...], str], BlindGrade] = {}
        for attempt in range(2):
            todo = [p for p in dict.fromkeys(pairs) if grades.get(p, UNREAD) == UNREAD]
            fitting = [p for p in todo if len(p[1]) <= LONGEST]
            grades |= {p: BlindGrade(None, "budget") for p in todo if len(p[1]) > LONGEST}
            asked = [blind_request(self.template, *pair, attempt) for pair in fitting]
            for index, reply in self.engine.complete([request for request, _ in asked]):
                value = verdict_in(reply.text, asked[index][1])
                failed = reply.problem is not None
                grades[fitting[index]] = (
                    FAILED if failed else UNREAD if value is None else BlindGrade(value)
                )
        return [grades[pair] for pair in pairs]


UNREAD, FAILED = BlindGrade(None, "unread"), BlindGrade(None, "failed")


def blind_request(
    template: str, golds: Iterable[str], answer: str, attempt: int = 0
) -> tuple[Request, str]:
    """Return the request about one answer, and the code that the reply must repeat."""
    data = fence([*(Field("gold", gold) for gold in golds), Field("answer", answer)])
    message = Message("user", data.in_template(template))
    return Request((message,), temperature=0.0, max_tokens=REPLY, sample=attempt), data.code


def verdict_in(text: str, code: str) -> float | None:
    """Return the 1 or 0 that a reply says behind its code; ``None`` for neither or both."""
    reply, _ = strip_thinking(text)
    values = set(re.findall(rf"\b{re.escape(code)}\b\W{{0,5}}([01])(?![\w.,]\w)\b", reply))
    return float(values.pop()) if len(values) == 1 else None
