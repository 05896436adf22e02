"""A judge of two: the offline rules where they are certain, a model where they are not.

The rules are nearly always right when they *accept* an answer that says a gold word for word in a
plain sentence, and when they find that a short answer withholds a value; their errors are answers
that they call wrong, and wordings of doubt, of which they say how sure they are.
``benchmarks/judges/cheap_judge.py`` measures what the cascade saves and what it costs. It saves
little where most answers are wrong, since every wrong one goes to the model.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from sayso.judges.english.tokens import ALPHANUMERIC, unaccented
from sayso.judges.judge import WITHHELD, Item, Judge
from sayso.judges.model.judge import LlmJudge
from sayso.judges.model.replies import JudgeCounts
from sayso.records import Gold, Question, Verdict, is_blank, year_of

#: Changes when ``certain`` decides otherwise.
VERSION = "3"
#: From this probability of its stance on, a verdict of the rules may stand.
SURE = 0.8
#: A text of at most so many words is plain, and so is a sentence that says the value.
PLAIN_TEXT = 80
PLAIN_SENTENCE = 40
#: A short answer of at most so many words says little besides its value.
BARE_ANSWER = 12


def certain(item: Item, question: Question, verdict: Verdict) -> bool:
    """Whether the rules' verdict on a question can stand without a model's.

    It can for a generation with a problem; an empty answer; and, where the stance is at least
    ``SURE``, a committed and correct answer whose sentence says a gold word for word (or that has
    at most twelve words), and a short answer of at most forty words that withholds a value and
    names no gold. A hedged answer always goes to the model: what is measured is not left to the
    rules alone.
    """
    text = item.generation.text
    if item.generation.problem is not None or is_blank(text):
        return True
    if verdict.problem is not None or verdict.stance is None:
        return False
    if verdict.certainty is None or verdict.certainty < SURE:
        return False
    golds = question.golds or ()
    long = item.generation.form == "long" or len(item.questions) != 1
    length = len(text.split())
    sentence = text if verdict.start is None else text[verdict.start : verdict.end]
    if verdict.stance == "committed" and verdict.content == "correct":
        plain = len(sentence.split()) <= PLAIN_SENTENCE if long else length <= PLAIN_TEXT
        exact = _says(sentence, golds) or (not long and length <= BARE_ANSWER)
        return plain and exact
    if verdict.stance in WITHHELD:
        return not long and length <= PLAIN_SENTENCE and not _says(text, golds)
    return False


def left_to_model(items: Sequence[Item], verdicts: Sequence[Verdict]) -> list[bool]:
    """Return for each of the rules' verdicts whether a model decides in its place."""
    pairs = [(item, question) for item in items for question in item.questions]
    return [not certain(*pair, verdict) for pair, verdict in zip(pairs, verdicts, strict=True)]


class CascadeJudge:
    """``rules`` first, then ``llm`` for what they are not certain of; a Judge like both.

    Of ``graded`` verdicts the model was asked for ``requested`` and gave ``received`` that could
    be read. One that it does not give is missing: the rules' uncertain verdict is no stand-in.
    """

    def __init__(self, rules: Judge, llm: LlmJudge) -> None:
        self.rules = rules
        self.llm = llm
        self.name = f"{rules.name}+{llm.name}"
        self.signature = f"{rules.signature}+c{VERSION}+{llm.signature}"
        self.graded = 0
        self.requested = 0
        self.received = 0

    @property
    def counts(self) -> JudgeCounts:
        """The counts of the model."""
        return self.llm.counts

    @property
    def notices(self) -> list[str]:
        """What a reader must know: the model's notices, and its share of the verdicts."""
        notices = list(self.llm.notices)
        if self.graded:
            notices.append(
                f"judge {self.name}: the model was asked for {self.requested:,} of {self.graded:,} "
                f"verdicts and gave {self.received:,} that could be read; the rules decided those "
                "of which they are certain"
            )
        return notices

    def grade(self, items: Sequence[Item]) -> list[Verdict]:
        """Return one verdict for each (item, question), in order."""
        verdicts = self.rules.grade(items)
        undecided: list[Item] = []
        places: list[int] = []
        left = enumerate(left_to_model(items, verdicts))
        for item in items:
            questions = []
            for question in item.questions:
                place, to_model = next(left)
                if to_model:
                    questions.append(question)
                    places.append(place)
            if questions:
                answer = item.generation
                if len(item.questions) != 1 and answer.form != "long":
                    # a paragraph stays one when only one of its questions is left
                    answer = msgspec.structs.replace(answer, form="long")
                undecided.append(Item(answer, tuple(questions)))
        for at, verdict in zip(places, self.llm.grade(undecided), strict=True):
            verdicts[at] = verdict
            self.received += verdict.problem is None
        self.graded += len(verdicts)
        self.requested += len(places)
        return [msgspec.structs.replace(v, by=self.signature) for v in verdicts]


def _says(text: str, golds: Sequence[Gold]) -> bool:
    """Whether a text says a gold word for word; of a time the year, as the rules compared more."""
    words = _words(text)
    for name in (name for gold in golds for name in gold.names):
        wanted = _words(year_of(name) or name)
        if wanted.strip() and wanted in words:
            return True
    return False


def _words(text: str) -> str:
    """Return lower-case words without diacritics, each with one space on either side."""
    return f" {' '.join(ALPHANUMERIC.findall(unaccented(text.casefold())))} "
