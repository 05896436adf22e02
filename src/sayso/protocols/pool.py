"""The shared pool: the entities that are resampled, the wordings of a question, items to judge.

The first wording is UNCLE's: the bare question, and one sentence that asks for uncertainty. The
others are ours: a frame around the same question, and the same instruction in other words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from sayso.later import Later
from sayso.prompts import load_prompt, prompt_hash
from sayso.protocols.settings import folder_setting
from sayso.records import Generation, Question

if TYPE_CHECKING:
    from sayso.judges import judge as judges
    from sayso.judges.judge import Item
else:
    judges = Later("sayso.judges.judge")

MOST_WORDINGS = 4
PLACE = "{question}"


def entity_of(question: Question) -> tuple[str, str]:
    """Return what is resampled and set apart: the pair, the entity, or else the question."""
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


def load_wordings(count: int, prompt_folder: str) -> list[PromptWording]:
    """Return the first ``count`` wordings. Raises InputError for a text that cannot be used."""
    texts = load_wording_texts(count, prompt_folder)
    folder = folder_setting(prompt_folder)
    first = (load_prompt(f"uncle_{form}_instruction", folder) for form in ("short", "long"))
    return [
        PromptWording(PLACE, *first),
        *(
            PromptWording(
                texts[f"uncle_frame_{number}"],
                texts[f"uncle_short_instruction_{number}"],
                texts[f"uncle_long_instruction_{number}"],
            )
            for number in range(2, count + 1)
        ),
    ]


def load_wording_texts(count: int, prompt_folder: str) -> dict[str, str]:
    """Return the prompts of the second and every later wording by name: none for one wording."""
    folder = folder_setting(prompt_folder)
    texts = {}
    for number in range(2, count + 1):
        for part in ("frame", "short_instruction", "long_instruction"):
            name = f"uncle_{part}_{number}"
            texts[name] = load_prompt(name, folder)
    return texts


def wording_signatures(count: int, prompt_folder: str, *, probes: bool) -> dict[str, str]:
    """Return what the wordings add to a run's signature: nothing for one wording.

    Two runs probed in the same frames share ``probe_wordings`` whatever their instructions were.
    """
    if count == 1:
        return {}
    texts = load_wording_texts(count, prompt_folder)
    frames = [text for name, text in texts.items() if "frame" in name]
    parts = {"wordings": f"{count}-{prompt_hash(' / '.join(texts.values()))}"}
    if probes:
        parts["probe_wordings"] = f"{count}-{prompt_hash(' / '.join(frames))}"
    return parts
