"""A claim as a question and its answer, so that a model can be asked whether it knows it.

Tu et al., arXiv 2411.15993, section 4 (setting b): the answer is a phrase of the claim. Offline,
claims of frequent kinds are asked about in natural words (``judges/rules/natural_questions.py``).
In all others the last value is taken out and asked for as a gap. A language model writes questions
about any claim (the prompt is ours). A question must not hold its answer, and must name what it is
about; a pair that fails is kept with its problem.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sayso.engines.engine import Engine
from sayso.judges.english.dates import find_dates
from sayso.judges.english.language import is_english
from sayso.judges.english.quantities import find_quantities
from sayso.judges.english.sentences import Span
from sayso.judges.english.tokens import STOP, tokens
from sayso.judges.model.numbered import JudgeTask, NumberedReader, TextOutcome, numbered_blocks
from sayso.judges.patterns import regex
from sayso.judges.rules.matching import names
from sayso.judges.rules.natural_questions import natural_question


class QuestionAnswer(NamedTuple):
    """A question and its answer; both empty with a ``problem``: no value, leak, language, ..."""

    question: str
    answer: str
    problem: str | None = None


def check_pair(topic: str, question: str, answer: str) -> QuestionAnswer:
    """Return the pair, or its problem: a question that holds the answer, or lacks the topic."""
    if not question.strip() or not answer.strip():
        return QuestionAnswer("", "", "no value")
    if leaks(question, answer):
        return QuestionAnswer("", "", "leak")
    if topic and not _shares_word(topic, question):
        return QuestionAnswer("", "", "no context")
    return QuestionAnswer(question, answer)


def leaks(question: str, answer: str) -> bool:
    """Whether every content word of the answer occurs in the question."""
    wanted = {t.stem for t in tokens(answer) if t.text not in STOP}
    return bool(wanted) and wanted <= {t.stem for t in tokens(question)}


def _shares_word(topic: str, text: str) -> bool:
    """Whether a content word of the topic occurs in a text; true for a topic without any."""
    wanted = {t.stem for t in tokens(topic) if t.text not in STOP}
    return not wanted or bool(wanted & {t.stem for t in tokens(text)})


# ---- offline: in natural words, else the last value as a gap

GAP = "____"
#: The tail of "X was a Dutch painter", "X works as a diplomat".
_TAIL = regex(
    r"\b(?:is|was|are|were|became|as|of|in|for|at|by|to|from|with|named|called|including)\s++"
    r"(?:an?\s++|the\s++)?(?=[^\W\d_])"
)
_NO_TAIL = ",;:()"
LONGEST_TAIL = 6
#: characters beyond which a claim is none, and is not read
LONGEST_CLAIM = 4_000
#: Words of a claim whose last word can be asked for.
SHORTEST = 3


class GapQuestions:
    """The offline author of questions."""

    signature = "gap@2"

    def read(self, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], QuestionAnswer]:
        """Return question and answer of each (topic, claim)."""
        return {pair: gap_question(*pair) for pair in dict.fromkeys(pairs)}


def gap_question(topic: str, claim: str) -> QuestionAnswer:
    """Return a claim's question in natural words, else the claim with a gap, and the answer."""
    text = claim.strip()
    if not text:
        return QuestionAnswer("", "", "no value")
    if len(text) > LONGEST_CLAIM:
        return QuestionAnswer("", "", "budget")
    if not is_english(text):
        return QuestionAnswer("", "", "language")
    asked = natural_question(topic, text)
    if asked is not None:
        question = f"{_about(topic, asked.question)}{asked.question}"
        made = check_pair(topic, question, text[asked.start : asked.end])
        if made.problem is None:
            return made
    span = _value(topic, text)
    if span is None:
        return QuestionAnswer("", "", "no value")
    answer = text[span.start : span.end].strip()
    gapped = f"{text[: span.start]}{GAP}{text[span.end :]}".strip()
    question = f'{_about(topic, gapped)}Which words belong in the gap of "{gapped}"?'
    return check_pair(topic, question, answer)


def _about(topic: str, text: str) -> str:
    """Return the words that tell the topic, for a text that does not name it."""
    return f"About {topic}: " if topic and not _shares_word(topic, text) else ""


def named_values(topic: str, text: str) -> list[Span]:
    """Return the dates, numbers and names of a text that are not the topic's."""
    known = frozenset(t.text for t in tokens(topic))
    values = [Span(d.start, d.end) for d in find_dates(text)]
    values += [Span(q.start, q.end) for q in find_quantities(text)]
    values += list(names(text, 0, len(text), known))
    return [s for s in values if text[s.start : s.end].strip()]


def _value(topic: str, text: str) -> Span | None:
    """Return the last date, number or name that is not the topic's, else how the claim ends."""
    known = frozenset(t.text for t in tokens(topic))
    values = [s for s in named_values(topic, text) if s.start > 0]
    if values:
        return max(values, key=lambda s: (s.end, s.end - s.start))
    end = len(text[:-1].rstrip()) if text[-1] in ".!" else len(text)
    tail = _TAIL.search(text, max(text.rfind(mark, 0, end) for mark in _NO_TAIL) + 1, end)
    if tail is not None and len(text[tail.end() : end].split()) <= LONGEST_TAIL:
        return Span(tail.end(), end)
    words = tokens(text)
    last = words[-1] if len(words) >= SHORTEST else None
    if last is None or last.text in STOP or last.text in known:
        return None
    return Span(last.start, last.end)


# ---- by a model: claims of one topic share a call

#: Longer questions and answers are not read.
LONGEST = 600


def read_question(entry: dict[str, Any]) -> list[str] | None:
    """Return [question, answer] of an entry, both empty where the model has none; ``None`` if it
    is not valid."""
    question, answer = entry.get("question"), entry.get("answer")
    if not isinstance(question, str) or not isinstance(answer, str):
        return None
    if len(question) > LONGEST or len(answer) > LONGEST:
        return None
    return [" ".join(question.split()), " ".join(answer.split())]


class LlmQuestions(NumberedReader):
    """A model that writes questions."""

    task = JudgeTask(
        "claim_question", "claim_question_reply", "claim", 64, read_question,
        own=lambda _, pair: read_question({"question": pair[0], "answer": pair[1]}),
        about="topic",
    )  # fmt: skip
    subject = "questions of claims"

    def __init__(self, engine: Engine, folder: Path | None = None) -> None:
        super().__init__(engine, folder)
        self._known: dict[tuple[str, str], QuestionAnswer] = {}

    def read(self, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], QuestionAnswer]:
        """Return question and answer of each (topic, claim); each is asked once."""
        new: dict[str, list[str]] = {}
        for topic, claim in dict.fromkeys(pairs):
            if (topic, claim) not in self._known:
                new.setdefault(topic, []).append(claim)
        blocks = [b for topic, claims in new.items() for b in numbered_blocks(topic, (), claims)]
        for block, outcomes in zip(blocks, self.ask(blocks), strict=True):
            for claim, outcome in outcomes.items():
                self._known[block.question, claim] = _pair(block.question, claim, outcome)
        return {pair: self._known[pair] for pair in pairs}


def _pair(topic: str, claim: str, outcome: TextOutcome) -> QuestionAnswer:
    if outcome.problem is not None:
        return QuestionAnswer("", "", outcome.problem)
    question, answer = outcome.value
    if answer and " ".join(answer.casefold().split()) not in " ".join(claim.casefold().split()):
        return QuestionAnswer("", "", "not in claim")
    return check_pair(topic, question, answer)
