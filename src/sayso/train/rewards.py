"""Rewards for reinforcement learning: pure functions of an answer's words and its golds.

    ternary   right and sure +1, in doubt 0, wrong and sure -cost
    brier     1 - (c - r)^2: proper, so stating what one believes is best (Brier 1950)

r is 1 for a right value, also a hedged one, and c the stated confidence: the percentage that an
answer closes with, else the decisiveness of its words. Under ``ternary`` answering pays from
p = cost / (1 + cost) on. A reward is ``None`` where the judge cannot read the answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

from sayso.judges.claims import has_verb
from sayso.judges.decisiveness import decisiveness
from sayso.judges.rules.judge import judge_rules
from sayso.records import Gold, Verdict

Name = Literal["ternary", "brier"]
NAMES: tuple[str, ...] = get_args(Name)
_PERCENT = re.compile(r"(?<![\d.,])(\d{1,3}(?:\.\d+)?)\s*(?:%|percent\b|per cent\b)")
_LAST = re.compile(
    rf"(?P<gap>[\s(,;.:\-]*)(?P<word>confidence[\s:]*)?{_PERCENT.pattern}[^\w%]*$", re.I
)
#: characters at the end of an answer in which its closing percentage stands
_TAIL = 60


class StatedConfidence(NamedTuple):
    """An answer without the percentage that it closes with, and that percentage as a share."""

    text: str
    share: float | None


def ternary(verdict: Verdict, cost: float = 1.0) -> float | None:
    """Return +1 for right, 0 for doubt, -cost for wrong or empty; ``None`` for an unread answer."""
    if verdict.value is None:
        return None
    return {"correct": 1.0, "uncertain": 0.0, "incorrect": -cost, "omitted": -cost}[verdict.value]


def brier_reward(confidence: float | None, right: bool) -> float | None:
    """Return 1 - (c - r)^2, within 0..1; ``None`` without a confidence."""
    return None if confidence is None else 1.0 - (confidence - float(right)) ** 2


def stated_percentage(answer: str) -> StatedConfidence:
    """Take the closing percentage from an answer: "Paris (80%)", "Paris. Confidence: 80 percent".

    "80%" alone, and the one that closes a sentence ("it holds 80%"), is a value and stays.
    """
    start = max(0, len(answer) - _TAIL)
    closing = _LAST.search(answer, start)
    if closing is None or (start and closing.start() == start):
        return StatedConfidence(answer, None)
    text = answer[: closing.start()].strip()
    apart = closing["word"] or closing["gap"].strip()
    if not any(c.isalnum() for c in text) or not (apart or not has_verb(text)):
        return StatedConfidence(answer, None)
    share = float(closing[3]) / 100
    return StatedConfidence(text, share) if share <= 1 else StatedConfidence(answer, None)


def confidence_of(answer: str) -> float | None:
    """Return the confidence 0..1 that an answer states: its closing percentage, else its words'.

    Several percentages that differ state none, unless all but the last are the value ("80% (90%)").
    ``None`` too for a refusal, which asserts nothing.
    """
    text, share = stated_percentage(answer)
    if share is None:
        if any(float(number) > 100 for number in _PERCENT.findall(answer)):
            return None
        return decisiveness(answer)
    others = {float(number) / 100 for number in _PERCENT.findall(text)} - {share}
    return None if others and not _PERCENT.fullmatch(text) else share


def reward(
    name: Name, question: str, golds: Sequence[str | Gold], answer: str, cost: float = 1.0
) -> float | None:
    """Return the reward of a short answer, judged by the rules; ``None`` where they cannot read it.

    A refusal has no confidence: under ``brier`` it is worth what confidence one half is, 0.75, so
    that it pays exactly where nothing is believed. An empty answer is worth 0.
    """
    verdict = judge_rules(question, golds, answer)
    if name == "ternary":
        return ternary(verdict, cost)
    if verdict.value is None:
        return None
    if verdict.value == "omitted":
        return 0.0
    value = stated_percentage(answer)
    if value.share is not None:
        verdict = judge_rules(question, golds, value.text)
    confidence = confidence_of(answer)
    return brier_reward(0.5 if confidence is None else confidence, verdict.content == "correct")
