"""Demonstrations of Uncertainty+: the model's own certain and uncertain answers.

The paper takes them from TriviaQA, never from the set that is measured, and does not give the
cut-offs. Here they come from another set, or from entities that the run does not measure. A certain
answer is shown as it is, an uncertain one hedged.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import NamedTuple

from sayso import datasets
from sayso.prompts.methods import Demonstration, hedged_wording
from sayso.protocols.faithfulness.settings import AUTO, HELD_OUT, Settings, demonstrates, dropped
from sayso.protocols.faithfulness.verdicts import Draws, ReadsContradiction
from sayso.protocols.pool import clusters_of, said_by
from sayso.protocols.settings import folder_setting
from sayso.protocols.thoughts import ReadsWording
from sayso.records import InputError, Question, Verdict, content_id

#: the table of a run that holds the questions in which examples were searched
TABLE = "demos/questions"
#: names shorter than this stand in many questions by chance
SHORTEST_NAME = 4


# ---- the questions


def other_questions(questions: Sequence[Question], settings: Settings) -> list[Question]:
    """Return the questions of ``demos.data`` in which examples are searched, in a fixed order.

    Left out are measured questions and entities, questions that name a measured entity, and
    questions without an answer or with a passage. Empty for held-out entities, and if no method
    shows examples. Raises InputError for a set that cannot be read.
    """
    name = settings.demos.data
    if name in (AUTO, HELD_OUT) or not demonstrates(settings):
        return []
    # of the invented world, all splits: a run may measure the whole of one
    split = "all" if name == datasets.INVENTED else "test"
    try:
        short = datasets.load_dataset(name, split=split, limit=0).short
    except InputError as error:
        raise InputError(
            f"demos.data {name}: {error}. Name another set for the examples, or pass --set "
            f"demos.data={HELD_OUT}"
        ) from None
    usable = [q for q in short if not q.context and q.answerable is not False]
    if not usable:
        raise InputError(
            f"demos.data {name}: it has no question that can be asked alone and has an answer; "
            f"name another set for the examples, or pass --set demos.data={HELD_OUT}"
        )
    asked = {said_by(q) for q in questions}
    entities = {_words(q.entity) for q in questions} - {""}
    named = [f" {entity} " for entity in entities if len(entity) >= SHORTEST_NAME]
    found: list[Question] = []
    for q in sorted(usable, key=lambda q: content_id(["demonstrations", q.text])):
        text = f" {_words(q.text)} "
        if said_by(q) in asked or _words(q.entity) in entities or any(n in text for n in named):
            continue
        found.append(q)
        if len(found) == settings.demos.questions:
            break
    out = dropped(found, settings)
    return [q for q in found if q.id not in out]


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def held_out(questions: Sequence[Question], settings: Settings) -> list[str]:
    """Return ids of the short questions set apart for demonstrations.

    They are all questions about some entities; none if no method shows demonstrations, or if these
    come from another set.
    """
    if not demonstrates(settings) or settings.demos.data not in (AUTO, HELD_OUT):
        return []
    short = [q for q in questions if not q.parts]
    clusters = clusters_of(questions)
    entities = {clusters[q.id] for q in short}
    most = min(settings.demos.entities, len(entities) // 5)
    apart = sorted(entities, key=lambda e: content_id(["demonstrations", *e]))[:most]
    return [q.id for q in short if clusters[q.id] in apart]


def held_out_notice(questions: Sequence[Question], settings: Settings) -> list[str]:
    """Return the sentence of the manifest on entities that supply examples, if there are any."""
    if not (held := held_out(questions, settings)):
        return []
    clusters = clusters_of(questions)
    apart, every = len({clusters[id] for id in held}), len(set(clusters.values()))
    return [f"{apart:,} of {every:,} entities only supply examples for prompts; not measured."]


def searched(
    questions: Sequence[Question], settings: Settings, read: Sequence[Verdict] = ()
) -> list[Question]:
    """Return the short questions in which examples are searched, of another set or held out.

    ``read`` are a model's verdicts on which of the measured questions are ambiguous.
    """
    held = set(held_out(questions, settings)) - dropped(questions, settings, read)
    return [q for q in questions if q.id in held] or other_questions(questions, settings)


# ---- the answers


def stand_ins(searched: Sequence[Question], settings: Settings) -> list[list[Demonstration]]:
    """Return demonstrations of the usual size, for a dry run that has no answers yet."""
    examples = searched[: 2 * settings.demos.m]
    return [
        [Demonstration(q.text, f"an answer of the usual length, {number}") for q in examples]
        for number in range(settings.demos.choices if examples else 0)
    ]


def to_raise(settings: Settings) -> str:
    """Return the options that give more questions in which examples are searched."""
    own = settings.demos.data in (AUTO, HELD_OUT)
    return "demos.entities or --limit" if own else "demos.questions"


class Examples(NamedTuple):
    """Answers that can be shown, and the number of questions in which they were searched."""

    certain: list[Demonstration]
    uncertain: list[Demonstration]
    searched: int

    def choices(self, settings: Settings, seed: int) -> list[list[Demonstration]]:
        """Return ``choices`` lists of m certain and m uncertain answers; none if too few."""
        m = settings.demos.m
        if len(self.certain) < m or len(self.uncertain) < m:
            return []
        choices = []
        for number in range(settings.demos.choices):
            generator = random.Random(content_id(["demonstrations", seed, number]))
            choice = [*generator.sample(self.certain, m), *generator.sample(self.uncertain, m)]
            generator.shuffle(choice)
            choices.append(choice)
        return choices

    def notice(self, settings: Settings) -> str:
        """Return the sentence that says why there are no demonstrations, and what to do."""
        demos = settings.demos
        own = demos.data in (AUTO, HELD_OUT)
        of = "the entities held out" if own else f"demos.data {demos.data}"
        return (
            f"Uncertainty+ was not asked. Of {self.searched:,} questions of {of}, the model "
            f"answered {len(self.certain):,} with a confidence of at least {demos.certain:g} and "
            f"{len(self.uncertain):,} with at most {demos.uncertain:g}; it needs {demos.m} of "
            f"each. Raise {to_raise(settings)}, or name another set with --set demos.data=NAME."
        )


def certain_and_uncertain(
    questions: Sequence[Question],
    draws: Draws,
    wording: ReadsWording,
    contradiction: ReadsContradiction,
    settings: Settings,
) -> Examples:
    """Return the certain answers and the uncertain ones, hedged.

    The first draw of a question is its answer, and the other draws say how certain it is.
    """
    texts = [
        (q, [text for text in draws.get((q.id, "plain"), ()) if text is not None])
        for q in questions
    ]
    triples = [(q.text, own[0], other) for q, own in texts for other in own[1:]]
    letter = contradiction.read(triples)
    readings = wording.read([(question, answer) for question, answer, _ in triples])
    certain, uncertain = [], []
    for q, own in texts:
        if len(own) <= settings.least or not readings[q.text, own[0]].assertions:
            continue
        letters = [letter[q.text, own[0], other] for other in own[1:]]
        letters = [one for one in letters if one != "?"]
        if len(letters) < settings.least:
            continue
        confidence = 1 - letters.count("c") / len(letters)
        if confidence >= settings.demos.certain:
            certain.append(Demonstration(q.text, own[0].strip()))
        elif confidence <= settings.demos.uncertain:
            hedged = hedged_wording(own[0], folder_setting(settings.prompt_folder))
            uncertain.append(Demonstration(q.text, hedged))
    return Examples(certain, uncertain, len(questions))
