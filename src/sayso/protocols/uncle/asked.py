"""Which questions UNCLE asks: those with a true answer, and paragraphs about their entities."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from sayso.datasets.dataset import Dataset
from sayso.prompts import load_prompt, prompt_hash
from sayso.protocols.settings import folder_setting
from sayso.protocols.uncle.prompts import PARAGRAPH
from sayso.protocols.uncle.settings import PARAGRAPHS, Settings
from sayso.records import Question, question_id

#: the places of the prompt of paragraphs
_PLACE = re.compile(r"\{(entity|questions)\}")
#: the entry of the catalogue whose rows name the entities that they are about
OWN_TABLE = "file"
#: questions that one paragraph is asked to answer at most
MOST_TOGETHER = 10


def asked(data: Dataset, settings: Settings) -> Dataset:
    """Return the questions that have a true answer, and the paragraphs about them.

    In a table of one's own, questions about one entity make a paragraph. ``short_only`` leaves all
    paragraphs out.
    """
    answered = [q for q in data.short if q.golds and q.answerable is not False]
    short = tuple(q for q in answered if not q.pair)
    long = () if settings.short_only else data.long
    notes, texts = list(data.notes), {}
    if left := len(data.short) - len(short):
        bare, twins = len(data.short) - len(answered), len(answered) - len(short)
        counterparts = f"{twins:,} answerable counterpart{'s' * (twins != 1)}"
        paired = f" and {counterparts} (similar questions with a true answer)" if twins else ""
        notes.append(
            f"{bare:,} question{'s' * (bare != 1)} without a true answer{paired} {_are(left)} not "
            "asked; `sayso run selective` asks them too"
        )
    if data.kind == OWN_TABLE and not settings.short_only:
        prompt = load_prompt(PARAGRAPH, folder_setting(settings.prompt_folder))
        long = tuple(_paragraphs(short, prompt))
    if data.kind == OWN_TABLE and long:
        texts = {PARAGRAPHS: prompt_hash(prompt), PARAGRAPH: prompt}
        notes.append(
            f"{len(long):,} paragraph{'s' * (len(long) != 1)} {_are(len(long))} asked for, each "
            "covering the questions about one entity; --set short_only=true leaves paragraphs out"
        )
    kept = data.replaced((*short, *long))
    return msgspec.structs.replace(kept, notes=tuple(notes), prompts=texts)


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _paragraphs(questions: Sequence[Question], prompt: str) -> Iterator[Question]:
    """Yield a long question for each entity with at least two short ones, for many several.

    A question about a text that goes before it stays alone.
    """
    groups: dict[tuple[str, str], list[Question]] = {}
    for question in questions:
        if question.entity and not question.context:
            groups.setdefault((question.domain, question.entity), []).append(question)
    for (domain, entity), group in groups.items():
        count = -(-len(group) // MOST_TOGETHER)
        for number in range(count if len(group) > 1 else 0):
            some = group[number::count]
            places = {"entity": entity, "questions": "\n".join(f"- {q.text}" for q in some)}
            text = _PLACE.sub(lambda place: places[place[1]], prompt)  # noqa: B023 - used at once
            yield Question(
                id=question_id(some[0].dataset, entity, text),
                dataset=some[0].dataset,
                text=text,
                entity=entity,
                domain=domain,
                parts=tuple(q.id for q in some),
            )
