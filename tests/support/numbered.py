"""A model that reads numbered texts as it is asked: what it is shown, and a good reply."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from support.scripted import ScriptedEngine

#: what a good entry says of a text, besides its number and its first words
Says = Callable[[str], dict[str, Any]]


def shown(prompt: str, field: str) -> tuple[str, list[str]]:
    """Return the code and the numbered texts of a prompt, as a model would read them."""
    code = re.search(r"The code is (k\w+)", prompt)
    assert code is not None
    found: dict[int, list[str]] = {}
    for number, text in re.findall(rf"^(\d+) {field}\| (.*)$", prompt, re.M):
        found.setdefault(int(number), []).append(text)
    return code[1], ["\n".join(found[n]) for n in sorted(found)]


def good(prompt: str, field: str, says: Says) -> dict[str, Any]:
    """Return the reply that a prompt asks for."""
    code, texts = shown(prompt, field)
    entries = [
        {"number": n, "begins": " ".join(text.split()[:5]), **says(text)}
        for n, text in enumerate(texts, 1)
    ]
    return {"code": code, "verdicts": entries}


def model(reply: Callable[[str], Any]) -> ScriptedEngine:
    """Return an engine that makes its reply of the prompt's text."""
    return ScriptedEngine(lambda request: reply(request.messages[-1].content), name="reader")
