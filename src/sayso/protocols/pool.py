"""The wordings in which UNCLE's questions and its instruction can be put.

The first is the paper's: the bare question, and one sentence that asks for uncertainty. The others
are ours: a frame around the same question, and the same instruction in other words.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from sayso.prompts import load_prompt, prompt_hash
from sayso.records import InputError, Question


def entity_of(question: Question) -> tuple[str, str]:
    """Return what is resampled and set apart: the entity, or the question where there is none."""
    return (question.domain, question.entity) if question.entity else ("", question.id)


MOST_WORDINGS = 4
PLACE = "{question}"


class Wording(NamedTuple):
    """One way to ask: a frame around the question, and the instruction of each form."""

    frame: str
    short: str
    long: str

    def ask(self, question: str, context: str | None, form: str = "") -> str:
        """Return the prompt, with the instruction of ``form`` if one is named.

        A context stands before the frame, as it stands before the bare question.
        """
        text = self.frame.replace(PLACE, question)
        if context:
            text = f"{context}\n\n{text}"
        return f"{text} {self.short if form == 'short' else self.long}" if form else text


def load_wordings(count: int, prompt_folder: str) -> list[Wording]:
    """Return the first ``count`` wordings. Raises InputError for a frame without its question."""
    texts = load_texts(count, prompt_folder)
    folder = Path(prompt_folder) if prompt_folder else None
    first = (load_prompt(f"uncle_{form}_instruction", folder) for form in ("short", "long"))
    return [
        Wording(PLACE, *first),
        *(
            Wording(
                texts[f"uncle_frame_{number}"],
                texts[f"uncle_short_instruction_{number}"],
                texts[f"uncle_long_instruction_{number}"],
            )
            for number in range(2, count + 1)
        ),
    ]


def load_texts(count: int, prompt_folder: str) -> dict[str, str]:
    """Return the prompts of the second and every later wording by name: none for one wording."""
    folder = Path(prompt_folder) if prompt_folder else None
    found = {}
    for number in range(2, count + 1):
        for part in ("frame", "short_instruction", "long_instruction"):
            name = f"uncle_{part}_{number}"
            found[name] = load_prompt(name, folder)
        frame = found[f"uncle_frame_{number}"]
        if PLACE not in frame:
            raise InputError(
                f"prompt uncle_frame_{number} of {prompt_folder}: {frame[:60]!r} has no {PLACE}; "
                "write it where the question belongs"
            )
    return found


def wording_signatures(count: int, prompt_folder: str, *, probes: bool) -> dict[str, str]:
    """Return what the wordings add to a run's signature: nothing for one wording.

    Two runs probed in the same frames share ``probe_wordings`` whatever their instructions were.
    """
    if count == 1:
        return {}
    texts = load_texts(count, prompt_folder)
    frames = [text for name, text in texts.items() if "frame" in name]
    found = {"wordings": f"{count}-{prompt_hash(' / '.join(texts.values()))}"}
    if probes:
        found["probe_wordings"] = f"{count}-{prompt_hash(' / '.join(frames))}"
    return found
