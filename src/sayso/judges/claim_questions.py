"""A claim as a question and its answer, so that a model can be asked whether it knows it.

Tu et al., arXiv 2411.15993, section 4 (setting b): the answer is a phrase of the claim. The
claim's last value is taken out and asked for as a gap, which no grammar can get wrong; a language
model (:mod:`sayso.judges.claim_questions`) asks in better words. Either way the question
must not hold its answer, and must name what it is about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sayso.engines.engine import Engine
from sayso.judges.decisiveness import lost
from sayso.judges.model.replies import JudgeCounts, Kind, ask_blocks, blocks_of, load
from sayso.judges.rules.dates import find_dates
from sayso.judges.rules.matching import names
from sayso.judges.rules.quantities import find_quantities
from sayso.judges.rules.sentences import Span
from sayso.judges.rules.text import STOP, is_english, tokens

GAP = "____"
#: the tail of "X was a Dutch painter", "X works as a diplomat"
_TAIL = re.compile(
    r"\b(?:is|was|are|were|became|as|of|in|for|at|by|to|from|with|named|called|including)\s+"
    r"(?:an?\s+|the\s+)?(?P<tail>[^\W\d_][^,;:()]*?)\s*[.!]?\s*$"
)
LONGEST_TAIL = 6
#: words of a claim whose last word can be asked for
SHORTEST = 3


class Made(NamedTuple):
    """A question and its answer; both empty with a ``problem``: no value, leak, language, ..."""

    question: str
    answer: str
    problem: str | None = None


def gap_question(topic: str, claim: str) -> Made:
    """Return the claim with its last value as a gap, and the value."""
    text = claim.strip()
    if not text:
        return Made("", "", "no value")
    if not is_english(text):
        return Made("", "", "language")
    span = _value(topic, text)
    if span is None:
        return Made("", "", "no value")
    answer = text[span.start : span.end].strip()
    gapped = f"{text[: span.start]}{GAP}{text[span.end :]}".strip()
    about = f"About {topic}: " if topic and not _shared(topic, gapped) else ""
    question = f'{about}Which words belong in the gap of "{gapped}"?'
    return checked(topic, question, answer)


def checked(topic: str, question: str, answer: str) -> Made:
    """Return the pair, or why it cannot be asked: the answer stands in the question, or the
    question does not say what it is about."""
    if not question.strip() or not answer.strip():
        return Made("", "", "no value")
    if leaks(question, answer):
        return Made("", "", "leak")
    if topic and not _shared(topic, question):
        return Made("", "", "no context")
    return Made(question, answer)


def leaks(question: str, answer: str) -> bool:
    """Whether every content word of the answer stands in the question."""
    wanted = {t.stem for t in tokens(answer) if t.text not in STOP}
    return bool(wanted) and wanted <= {t.stem for t in tokens(question)}


def _shared(topic: str, text: str) -> bool:
    """Whether a content word of the topic stands in a text; true for a topic without any."""
    wanted = {t.stem for t in tokens(topic) if t.text not in STOP}
    return not wanted or bool(wanted & {t.stem for t in tokens(text)})


def _value(topic: str, text: str) -> Span | None:
    """Return the last date, number or name that is not the topic's, else how the claim ends."""
    known = frozenset(t.text for t in tokens(topic))
    found = [Span(d.start, d.end) for d in find_dates(text)]
    found += [Span(q.start, q.end) for q in find_quantities(text)]
    found += list(names(text, 0, len(text), known))
    found = [s for s in found if s.start > 0 and text[s.start : s.end].strip()]
    if found:
        return max(found, key=lambda s: (s.end, s.end - s.start))
    tail = _TAIL.search(text)
    if tail is not None and len(tail["tail"].split()) <= LONGEST_TAIL:
        return Span(*tail.span("tail"))
    words = tokens(text)
    last = words[-1] if len(words) >= SHORTEST else None
    if last is None or last.text in STOP or last.text in known:
        return None
    return Span(last.start, last.end)


class GapQuestions:
    """The offline question-maker."""

    signature = "gap@1"

    def read(self, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Made]:
        """Return question and answer of each (topic, claim)."""
        return {pair: gap_question(*pair) for pair in dict.fromkeys(pairs)}


# Claims turned into questions by a language model: Tu et al., arXiv 2411.15993, section 4.
#
# The prompt is ours. Claims of one topic stand in one call. The answer must be a phrase of the
# claim
# and must not stand in the question; what fails is kept with its reason.

LONGEST = 600


def read_question(entry: dict[str, Any]) -> list[str] | None:
    """Return [question, answer] of an entry, empty where it found none; ``None`` if not valid."""
    question, answer = entry.get("question"), entry.get("answer")
    if not isinstance(question, str) or not isinstance(answer, str):
        return None
    if len(question) > LONGEST or len(answer) > LONGEST:
        return None
    return [" ".join(question.split()), " ".join(answer.split())]


KIND = Kind("claim_question", "claim_question_reply", "claim", 64, read_question)


class LlmQuestions:
    """A model that makes questions. ``counts`` and ``notices`` tell what could not be read."""

    def __init__(self, engine: Engine, folder: Path | None = None) -> None:
        self.engine = engine
        self.texts = load(KIND, folder)
        self.signature = f"{engine.signature}#p{self.texts.hash[:4]}"
        self.counts = JudgeCounts()
        self._known: dict[tuple[str, str], Made] = {}

    def read(self, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Made]:
        """Return question and answer of each (topic, claim); each is asked once."""
        asked: dict[str, list[str]] = {}
        for topic, claim in dict.fromkeys(pairs):
            if (topic, claim) not in self._known:
                asked.setdefault(topic, []).append(claim)
        blocks = [b for topic, claims in asked.items() for b in blocks_of(topic, (), claims)]
        replies = ask_blocks(self.engine, KIND, self.texts, blocks, self.counts)
        for block, outcomes in zip(blocks, replies, strict=True):
            for claim, outcome in outcomes.items():
                self._known[block.question, claim] = _made(block.question, claim, outcome)
        return {pair: self._known[pair] for pair in pairs}

    @property
    def notices(self) -> list[str]:
        """What a reader of the numbers must know."""
        return lost(self.counts, "questions of claims", self.signature)


def _made(topic: str, claim: str, outcome: Any) -> Made:
    if outcome.problem is not None:
        return Made("", "", outcome.problem)
    question, answer = outcome.value
    if answer and " ".join(answer.casefold().split()) not in " ".join(claim.casefold().split()):
        return Made("", "", "not in claim")
    return checked(topic, question, answer)
