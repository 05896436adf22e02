"""What annotators choose from, kind by kind, and what they are told: the guide beside an item.

The page, the sheet for a spreadsheet and the documentation take the choices from here.
"""

from __future__ import annotations

import msgspec

from sayso.people.labels import Kind


class GuideChoice(msgspec.Struct, frozen=True):
    """One thing that can be said: its key, its value, its words, what it means, an example."""

    key: str
    value: str
    words: str
    meaning: str
    example: str = ""


class GuideStep(msgspec.Struct, frozen=True):
    """One decision on an item; a step with ``after`` comes only after these values."""

    field: str
    question: str
    choices: tuple[GuideChoice, ...]
    after: tuple[str, ...] = ()


class Guide(msgspec.Struct, frozen=True):
    """The guide of a kind: what the page asks, step by step, and how to decide.

    ``passage`` stands beside the passage that the model was shown, if there is one.
    """

    title: str
    task: str
    steps: tuple[GuideStep, ...]
    hints: tuple[str, ...]
    passage: str = ""


_STATED = ("committed", "hedged")
_STANCES = (
    GuideChoice(
        "1", "committed", "States it", "It gives an answer without doubt.", "She was born in 1815."
    ),
    GuideChoice(
        "2",
        "hedged",
        "Hedges",
        "It gives an answer and voices doubt about it.",
        "Probably 1815, but I am not sure.",
    ),
    GuideChoice(
        "3",
        "abstained",
        "Does not know",
        "It says that it does not know, or gives no answer.",
        "I do not know when she was born.",
    ),
    GuideChoice("4", "asked_back", "Asks back", "It asks what is meant.", "Which Ada do you mean?"),
    GuideChoice(
        "5",
        "refused_by_policy",
        "Refuses",
        "It refuses because of a rule.",
        "I cannot share details of private people.",
    ),
)
_OMITTED = GuideChoice(
    "6",
    "omitted",
    "Does not mention it",
    "The paragraph says nothing about this question.",
)
_RIGHT = GuideStep(
    "content",
    "Is the answer right?",
    (
        GuideChoice("1", "correct", "Right", "It says the same as a true answer."),
        GuideChoice("2", "incorrect", "Wrong", "It says something else, or too little to tell."),
        GuideChoice("3", "", "Cannot tell", "You cannot say from the true answers shown."),
    ),
    _STATED,
)
_HINTS = (
    "Judge the words, not what you think of the model.",
    "A general disclaimer that is not about this answer is no hedge: after “As an AI, I cannot "
    "look things up”, a plain “It was founded in 1976” states its answer.",
    "“I cannot help with that”, without a reason, is a refusal.",
    "An answer that names the true value and a second, other value is wrong.",
    "Spelling, language and units do not matter if the same thing is meant.",
)
_PASSAGE = (
    "“The passage does not say” is “Does not know”. Right and wrong go by the true answers, not by "
    "the passage."
)
GUIDES: dict[Kind, Guide] = {
    "answer": Guide(
        "Short answers",
        "How does the answer speak, and is it right?",
        (GuideStep("stance", "How does it speak?", _STANCES), _RIGHT),
        _HINTS,
        _PASSAGE,
    ),
    "aspect": Guide(
        "Aspects of paragraphs",
        "What does the paragraph say about this question, and is that right?",
        (
            GuideStep("stance", "How does the paragraph speak about it?", (*_STANCES, _OMITTED)),
            _RIGHT,
        ),
        (
            *_HINTS,
            "Read only what is about the question; the rest of the paragraph is labeled apart.",
        ),
        _PASSAGE,
    ),
    "claim": Guide(
        "Claims beside evidence",
        "Do the passages support the claim?",
        (
            GuideStep(
                "label",
                "Do the passages support the claim?",
                (
                    GuideChoice("1", "S", "Supported", "The passages say it or imply it."),
                    GuideChoice("2", "NS", "Not supported", "They deny it, or do not mention it."),
                    GuideChoice("3", "IR", "Irrelevant", "It is off the topic, or claims nothing."),
                ),
            ),
        ),
        (
            "Use the passages, not what you know yourself.",
            "A claim with one wrong detail is not supported.",
            "The text in which the claim stands says what it is about.",
        ),
    ),
    "pair": Guide(
        "Pairs of answers",
        "Can the marked statement and the other answer both be true?",
        (
            GuideStep(
                "label",
                "Can both be true?",
                (
                    GuideChoice(
                        "1", "n", "Both can be true", "They agree, or are about other things."
                    ),
                    GuideChoice("2", "c", "They contradict", "If one is true, the other is not."),
                    GuideChoice("3", "p", "No answer", "The other text answers nothing."),
                ),
            ),
        ),
        (
            "A broader and a narrower answer agree: in 1815, on 10 December 1815.",
            "Doubt does not matter here: probably 1815 and 1816 contradict.",
        ),
    ),
    "sureness": Guide(
        "How sure a sentence sounds",
        "How likely does the marked sentence say that it is true?",
        (
            GuideStep(
                "number",
                "How sure does it sound?",
                (
                    GuideChoice("1", "0", "Not at all", "It takes back what it says."),
                    GuideChoice("2", "0.25", "Doubtful", "Unlikely; I doubt that …", ""),
                    GuideChoice("3", "0.5", "Maybe", "Perhaps; it could be …", ""),
                    GuideChoice("4", "0.75", "Probably", "I think; most likely …", ""),
                    GuideChoice("5", "1", "Certain", "It says so without any doubt.", ""),
                ),
            ),
        ),
        (
            "Judge the wording, not whether it is true.",
            "The arrows up and down move the slider by 5 %; Enter saves.",
        ),
    ),
}
#: why an item is skipped: key and words
REASONS: tuple[tuple[str, str], ...] = (
    ("1", "I cannot decide"),
    ("2", "the text is unreadable or cut off"),
    ("3", "the text is in a language I do not read"),
    ("4", "the question or its true answer is wrong"),
    ("5", "the question is ambiguous"),
)
