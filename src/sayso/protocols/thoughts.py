"""How surely a thought ends, beside how surely its answer speaks.

``verdicts/<stage>-thought`` holds the decisiveness of each short answer's last thought.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from sayso.judges.decisiveness import Asserted, decisiveness, subject_stems
from sayso.judges.english.language import is_english
from sayso.judges.english.other_languages import silent_elsewhere
from sayso.judges.english.sentences import split_sentences
from sayso.judges.judge import Item
from sayso.metric import DOUBTS, FORMS
from sayso.protocols.protocol import Run, rows_if_any
from sayso.records import Results, Verdict, is_blank
from sayso.report.number_tables import NumberTable, grid

Pair = tuple[str, str]  # question, answer
#: a text that speaks less surely doubts
SURE = 0.5


class ReadsWording(Protocol):
    """Whoever reads how surely answers speak."""

    signature: str

    def read(self, pairs: Sequence[Pair]) -> dict[Pair, Asserted]:
        """Return the assertions of each answer with their scores, or why there are none."""


class RulesWording:
    """:func:`sayso.decisiveness`: the whole answer is one assertion."""

    signature = "rules@6"

    def read(self, pairs: Sequence[Pair]) -> dict[Pair, Asserted]:
        """Return one assertion, none for a punt, a problem for another language."""
        return {pair: _by_rules(pair[1]) for pair in dict.fromkeys(pairs)}


def _by_rules(text: str) -> Asserted:
    if is_blank(text):
        return Asserted(())
    if not is_english(text):
        return Asserted((), None if silent_elsewhere(text) else "language")
    score = decisiveness(text)
    return Asserted(() if score is None else ((text.strip(), score),))


#: characters of a thought, from its end, in which its last assertion is looked for
LONGEST_THOUGHT = 4000


class ThoughtJudge:
    """Decisiveness of what a model thought last, whether or not its answer says so.

    The last assertion is the last sentence with a word of the answer, and what follows it ("... But
    I am not sure."); where none has one, the last sentence.
    """

    def __init__(self, wording: ReadsWording) -> None:
        self.wording, self.name, self.signature = wording, wording.signature, wording.signature

    def grade(self, items: Sequence[Item]) -> list[Verdict]:
        """Return the score of each thought's last assertion, or why there is none."""
        last = {}
        for g, questions in items:
            if g.thinking and len(questions) == 1 and g.problem is None:
                q = questions[0]
                if text := ending(g.thinking, g.text, q.text):
                    last[g.id] = (q, g.text, text)
        readings = self.wording.read([(q.text, text) for q, _, text in last.values()])
        verdicts = []
        for target, (q, answer, text) in last.items():
            reading, score = readings[q.text, text], None
            if reading.assertions:
                score = nearest_assertion(reading.assertions, answer)
                # of a hedged answer ("not sure") it would read the opposite
                firm = isinstance(self.wording, RulesWording) and (decisiveness(answer) or 0) > SURE
                own = decisiveness(text, answer) if firm else None
                score = score if own is None else own
            verdict = Verdict(target, q.id, self.signature, problem=reading.problem)
            if reading.problem is None:
                label, raw = ("punt", None) if score is None else ("assertion", text)
                verdict = replace(verdict, label=label, number=score, raw=raw)
            verdicts.append(verdict)
        return verdicts


def ending(thought: str, answer: str, question: str) -> str:
    """Return a thought from its last sentence on that has a word of the answer.

    Words of the question do not count. "" for a thought without a sentence.
    """
    tail = thought[-LONGEST_THOUGHT:]
    spans = split_sentences(tail)
    if not spans:
        return ""
    wanted = subject_stems(answer)[0] - subject_stems(question)[0]
    for span in reversed(spans):
        if subject_stems(tail[span.start : span.end])[0] & wanted:
            return tail[span.start : spans[-1].end]
    return tail[spans[-1].start : spans[-1].end]


def nearest_assertion(assertions: Sequence[tuple[str, float]], answer: str) -> float:
    """Return the score of the assertion that shares most words with the answer; the last of equals.

    A thought that weighs several values asserts several.
    """
    wanted = subject_stems(answer)[0]
    scored = [(len(subject_stems(text)[0] & wanted), score) for text, score in assertions]
    most = max(shared for shared, _ in scored)
    return next(score for shared, score in reversed(scored) if shared == most)


# ---- doubts of thoughts, for protocols that count answers


def grade_thoughts(run: Run, stage: str, items: Sequence[Item], wording: ReadsWording) -> None:
    """Store how surely the thoughts before answers end, if there are any."""
    if any(item.generation.thinking for item in items):
        run.grade(f"{stage}-thought", items, ThoughtJudge(wording))


def thought_scores(run: Run, stage: str) -> dict[str, float]:
    """Return how surely the thought of each answer ends, where one asserts something."""
    ends = rows_if_any(run, f"verdicts/{stage}-thought", Verdict)
    return {v.target: v.number for v in ends if v.number is not None}


def doubt_shares(
    thought: NDArray[np.float64], stance: NDArray[np.str_]
) -> dict[str, tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """Return (hit, of) of answers (n,): thoughts that doubt, and answers that withhold a doubt.

    NaN: no thought that asserts something; a ``stance`` of "": nobody read the answer.
    """
    doubts = (thought < SURE) & (stance != "")
    return {
        "doubt_in_thought": (doubts, ~np.isnan(thought) & (stance != "")),
        "doubt_withheld": (stance == "committed", doubts),
    }


def doubts_table(numbers: Results) -> NumberTable:
    """Return doubts of thoughts and those that answers withhold, by what the model knows."""
    parts = {"all answers": {}, "known": {"given": "known"}, "unknown": {"given": "unknown"}}
    rows = {(FORMS[f], told): (f, own) for f in numbers.forms for told, own in parts.items()}
    return grid(
        "Doubts in its reasoning, and in its answers",
        rows,
        {metric.label: metric.name for metric in DOUBTS},
        lambda row, name: numbers.find(name, form=row[0], **row[1]),
        labels=("", "facts"),
    )
