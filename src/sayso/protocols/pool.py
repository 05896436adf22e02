"""The shared pool: the entities that are resampled, the wording of a question, items to judge.

The wording is UNCLE's: the bare question, and one sentence that asks for uncertainty. A folder of
prompts may have both in other words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from sayso.later import Later
from sayso.prompts import load_prompt
from sayso.protocols.settings import folder_setting
from sayso.records import Generation, Question

if TYPE_CHECKING:
    from sayso.judges import judge as judges
    from sayso.judges.judge import Item
else:
    judges = Later("sayso.judges.judge")

PLACE = "{question}"


#: what is resampled and set apart as a whole: its name is that of one of its members
Cluster = tuple[str, str]


def clusters_of(questions: Iterable[Question]) -> dict[str, Cluster]:
    """Return the cluster of each question by its id: all that share an entity or a pair.

    They share it directly or through others, in whatever domain; a question with neither stands
    alone. The name of a cluster is the first of (domain, entity), ("pair", pair) or ("", id) of its
    questions in sorted order, so it does not depend on the order of the questions.
    """
    first: dict[tuple[str, str], str] = {}
    joined: dict[str, str] = {}

    def root(id: str) -> str:
        while joined[id] != id:
            joined[id] = id = joined[joined[id]]
        return id

    names: dict[str, Cluster] = {}
    for q in questions:
        joined[q.id] = q.id
        names[q.id] = _own_name(q)
        for tie in (("entity", q.entity), ("pair", q.pair)):
            if tie[1]:
                joined[root(first.setdefault(tie, q.id))] = root(q.id)
    named: dict[str, Cluster] = {}
    for id, name in names.items():
        named[root(id)] = min(name, named.get(root(id), name))
    return {id: named[root(id)] for id in names}


def cluster_name(cluster: Cluster) -> str:
    """Return the name of a cluster as one text, the same in every run."""
    return "\t".join(cluster)


def cluster_names(questions: Iterable[Question]) -> dict[str, str]:
    """Return the name of the cluster of each question by its id."""
    return {id: cluster_name(cluster) for id, cluster in clusters_of(questions).items()}


def joined_names(asked: Iterable[Sequence[Question]]) -> dict[str, str]:
    """Return one name for all clusters of several runs that ask the same questions.

    By the name of each cluster of a run; questions are the same whose words and context are,
    whatever else the runs know of them. A name that needs no other one stands for itself.
    """
    first: dict[tuple[str, str], str] = {}
    joined: dict[str, str] = {}

    def root(name: str) -> str:
        while joined.setdefault(name, name) != name:
            name = joined[name]
        return name

    for questions in asked:
        clusters = clusters_of(questions)
        for q in questions:
            name = cluster_name(clusters[q.id])
            one, other = sorted((root(name), root(first.setdefault(said_by(q), name))))
            joined[other] = one
    return {name: root(name) for name in joined}


def said_by(question: Question) -> tuple[str, str]:
    """Return the words of a question and its context, without their spacing and case."""
    words = re.findall(r"\w+|[^\w\s]", question.text.casefold())
    return " ".join(words), question.context or ""


def _own_name(question: Question) -> Cluster:
    if question.pair:
        return ("pair", question.pair)
    return (question.domain, question.entity) if question.entity else ("", question.id)


def item_of(generation: Generation, by_id: Mapping[str, Question]) -> Item:
    """Return an answer with what it is judged on: the parts of a paragraph, or its own question."""
    question = by_id[generation.question]
    return judges.Item(generation, tuple(by_id[part] for part in question.parts) or (question,))


def tokens_between(generation: Generation, start: int, end: int) -> list[int]:
    """Return the positions of the tokens that overlap the characters ``start:end`` of a text."""
    offsets = generation.offsets or ()
    ends = (*offsets[1:], len(generation.text))
    spans = enumerate(zip(offsets, ends, strict=False))
    return [place for place, (first, last) in spans if first < end and last > start]


class PromptWording(NamedTuple):
    """One way to ask: a frame around the question, and the instruction of each form."""

    frame: str
    short: str
    long: str

    def ask(self, question: str, context: str | None, form: str = "") -> str:
        """Return the prompt, with the instruction of ``form`` if one is named.

        A context stands before the frame, as it stands before the bare question. An instruction
        of a user's that has the question's place is the whole prompt.
        """
        text = self.frame.replace(PLACE, question)
        if context:
            text = f"{context}\n\n{text}"
        instruction = self.short if form == "short" else self.long
        if form and PLACE in instruction:
            return instruction.replace(PLACE, text)
        return f"{text} {instruction}" if form else text


#: the prompt of the plain question
PLAIN = "plain_question"


def load_wording(prompt_folder: str) -> PromptWording:
    """Return the wording of a run. Raises InputError for a text that cannot be used."""
    folder = folder_setting(prompt_folder)
    short, long = (load_prompt(f"uncle_{form}_instruction", folder) for form in ("short", "long"))
    return PromptWording(load_prompt(PLAIN, folder), short, long)


def reworded_question(prompt_folder: str) -> dict[str, str]:
    """Return the prompt of the plain question by its name; nothing for the bare question."""
    text = load_prompt(PLAIN, folder_setting(prompt_folder))
    return {} if text == PLACE else {PLAIN: text}
