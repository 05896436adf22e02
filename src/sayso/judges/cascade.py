"""The offline rules where they are certain, a model where they are not.

The rules judge is nearly always right when it *accepts* an answer that says a gold word for word
in a plain sentence, and when a short answer withholds one; its errors are answers that it calls
wrong, and wordings of doubt. ``certain`` was decided on the open half of EVOUNA and on nothing
else; ``benchmarks/cheap_judge.py`` says what it saves and what it costs. It saves little where
most answers are wrong, since every wrong one goes to the model.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import msgspec

from sayso.judges.judge import Item, Judge
from sayso.judges.model.judge import LlmJudge
from sayso.judges.model.replies import JudgeCounts
from sayso.records import Generation, Gold, Question, Verdict

#: Changes when ``certain`` decides otherwise.
VERSION = "1"
#: Words up to which a text, and the sentence that says the value, is plain.
PLAIN_TEXT = 80
PLAIN_SENTENCE = 40
#: A short answer of so few words says little else than its value.
FEW = 12

#: Any of these beside a value, and the model decides how firm it is.
_DOUBT = re.compile(
    r"\b(?:think|thought|believe|guess|suppos\w+|assum\w+|suspect|probab\w+|possib\w+|perhaps|maybe|may|might|"
    r"could|likely|apparent\w*|seem\w*|appear\w*|presumabl\w*|alleged\w*|report\w*|rumou?r\w*|"
    r"unsure|uncertain\w*|unclear|unknown|unconfirmed|sure|certain|confiden\w+|doubt\w*|wrong|"
    r"verify|recall|remember|said\s+to|either|sources?|actually|sorry|correction|not|never|cannot)\b"
    r"|\?|n['’]t\b",
    re.I,
)
_MAY = re.compile(r"(?<=\d\s)May\b|\bMay(?=\s+\d)")
_WORD = re.compile(r"[^\W_]+")
_ISO = re.compile(r"^(\d{4})-\d\d-\d\dT")


def certain(item: Item, question: Question, verdict: Verdict) -> bool:
    """Whether a verdict of the rules on this question can stand without asking a model.

    Yes: a problem of the generation itself; an empty answer; a committed and correct one whose
    sentence has a gold word for word (or that has at most twelve words) and no word of doubt; a
    short answer of at most forty words that withholds a value and names no gold. A hedged one
    never: what is measured is not left to cue words alone.
    """
    text = item.generation.text
    if item.generation.problem is not None or not text.strip():
        return True
    if verdict.problem is not None or verdict.stance is None:
        return False
    golds = question.golds or ()
    long = item.generation.form == "long" or len(item.questions) != 1
    length = len(text.split())
    spoken = text if verdict.start is None else text[verdict.start : verdict.end]
    if verdict.stance == "committed" and verdict.content == "correct":
        plain = len(spoken.split()) <= PLAIN_SENTENCE if long else length <= PLAIN_TEXT
        exact = _says(spoken, golds) or (not long and length <= FEW)
        return plain and exact and not _DOUBT.search(_without(spoken, golds))
    if verdict.stance in ("abstained", "refused_by_policy", "asked_back"):
        return not long and length <= PLAIN_SENTENCE and not _says(text, golds)
    return False


class CascadeJudge:
    """``rules`` first, then ``llm`` for what they are not certain of; a Judge like both.

    A verdict that the model does not give is missing: the rules' uncertain one is no stand-in.
    """

    def __init__(self, rules: Judge, llm: LlmJudge) -> None:
        self.rules = rules
        self.llm = llm
        self.name = f"{rules.name}+{llm.name}"
        self.signature = f"{rules.signature}+c{VERSION}+{llm.signature}"
        self.graded = 0
        self.asked = 0
        self.answered = 0

    @property
    def counts(self) -> JudgeCounts:
        """What the model did."""
        return self.llm.counts

    @property
    def notices(self) -> list[str]:
        """What a reader must know: the model's notices, and how much it was asked."""
        found = list(self.llm.notices)
        if self.graded:
            found.append(
                f"judge {self.name}: the model was asked for {self.asked:,} of {self.graded:,} "
                f"verdicts and gave {self.answered:,} that could be read; the rules decided those "
                "of which they are certain"
            )
        return found

    def grade(self, items: Sequence[Item]) -> list[Verdict]:
        """Return one verdict for each (item, question), in order."""
        verdicts = self.rules.grade(items)
        asked: list[Item] = []
        places: list[int] = []
        place = 0
        for item in items:
            open_questions = []
            for question in item.questions:
                if not certain(item, question, verdicts[place]):
                    open_questions.append(question)
                    places.append(place)
                place += 1
            if open_questions:
                asked.append(Item(_as_it_was(item), tuple(open_questions)))
        for at, verdict in zip(places, self.llm.grade(asked), strict=True):
            verdicts[at] = verdict
            self.answered += verdict.problem is None
        self.graded += len(verdicts)
        self.asked += len(places)
        return [msgspec.structs.replace(v, by=self.signature) for v in verdicts]


def _as_it_was(item: Item) -> Generation:
    """The generation; a paragraph stays one when only one of its questions is left to ask."""
    if len(item.questions) == 1 or item.generation.form == "long":
        return item.generation
    return msgspec.structs.replace(item.generation, form="long")


def _plain(text: str) -> str:
    """Lower-case words without diacritics, with one space on both sides of each."""
    bare = unicodedata.normalize("NFKD", text.casefold())
    words = _WORD.findall("".join(c for c in bare if not unicodedata.combining(c)))
    return f" {' '.join(words)} "


def _names(golds: Sequence[Gold]) -> list[str]:
    """The golds as words; of a time only the year, which the rules have compared further."""
    names = [name for gold in golds for name in gold.names]
    plain = [_plain(m[1] if (m := _ISO.match(name)) else name) for name in names]
    return [name for name in plain if name.strip()]


def _says(text: str, golds: Sequence[Gold]) -> bool:
    plain = _plain(text)
    return any(name in plain for name in _names(golds))


def _without(text: str, golds: Sequence[Gold]) -> str:
    """The text without golds written as they are and without the month: "May" may be a name."""
    for name in sorted({n for gold in golds for n in gold.names if n}, key=len, reverse=True):
        text = text.replace(name, " ")
    return _MAY.sub(" ", text)
