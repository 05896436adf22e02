"""Which sentences tell a reader to do something. Judged by hand."""

from __future__ import annotations

import pytest

from sayso.judges.english.imperatives import is_instruction


@pytest.mark.parametrize(
    "text",
    [
        "Heat up a pan over medium heat.",
        "Crack the eggs into the pan, and cook until the whites are set.",
        "Season with salt to taste.",
        "Optional: Serve with toast.",
        "Next, add the onion.",
        "If it is dry, add water.",
        "Do not touch the pan.",
        "Let's call it n.",
        "Stop.",
        "Set the oven to 200 degrees.",
        "Start by defining the terms.",
    ],
)
def test_instructions(text: str) -> None:
    assert is_instruction(text)


@pytest.mark.parametrize(
    "text",
    [
        "Research shows that it works.",
        "Rest helps.",
        "Water exhibits a strange phenomenon.",
        "Set in Orm, the film follows a boy.",
        "Stand by Me is a film.",
        "Throughout the 1990s, he toured.",
        "Alexander the Great conquered Persia.",
        "Mark Twain once said, so it goes.",
        "Focus released an album in 1990.",
        "Practice: Writing is a skill.",
        "Before the war, he taught.",
        "Return of the King",
    ],
)
def test_statements(text: str) -> None:
    assert not is_instruction(text)
    assert not is_instruction(text, among=True)


def test_an_unknown_verb_counts_among_instructions_only() -> None:
    assert is_instruction("Julienne the carrots.", among=True)
    assert not is_instruction("Julienne the carrots.")
