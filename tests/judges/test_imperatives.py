"""Which sentences tell a reader to do something. Judged by hand."""

from __future__ import annotations

from sayso.judges.english.imperatives import is_instruction
from support.tables import tabled


@tabled
def test_instructions(text: str) -> None:
    assert is_instruction(text)


@tabled
def test_statements(text: str) -> None:
    assert not is_instruction(text)
    assert not is_instruction(text, among=True)


def test_an_unknown_verb_counts_among_instructions_only() -> None:
    assert is_instruction("Julienne the carrots.", among=True)
    assert not is_instruction("Julienne the carrots.")
