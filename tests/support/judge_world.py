"""A judge model for tests and studies: it reads its prompt as a model would, and follows it.

It knows nothing of sayso's parts: marker, code, form and fields are taken from the prompt's text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import NamedTuple

from sayso.engines.engine import Capabilities
from sayso.records import Request
from support.scripted import ScriptedEngine


class Shown(NamedTuple):
    """What a prompt shows: its code, the allowed labels, and the lines of each field, joined."""

    code: str
    labels: tuple[str, ...]
    json: bool
    fields: dict[str, str]
    outside: str

    @property
    def numbers(self) -> list[int]:
        """The numbers of the questions."""
        return sorted(int(n.split()[0]) for n in self.fields if n.endswith(" question"))

    def question(self, number: int) -> str:
        return self.fields[f"{number} question"]

    def golds(self, number: int) -> list[str]:
        return self.fields.get(f"{number} gold", "").split("\n")

    def text(self, number: int) -> str:
        """The answer, or the paragraph that all questions share."""
        return self.fields.get(f"{number} answer", self.fields.get("paragraph", ""))


def shown(request: Request) -> Shown:
    """Read a judge's prompt. Fails loudly if it has not one fence with one marker."""
    (message,) = request.messages
    (marker,) = set(re.findall(r"the line <<<(\w+)", message.content))
    before, _, rest = message.content.partition(f"\n<<<{marker}\n")
    data, _, after = rest.partition(f"\n>>>{marker}\n")
    fields: dict[str, list[str]] = {}
    for line in data.split("\n"):
        name, _, text = line.partition("| ")
        fields.setdefault(name, []).append(text)
    outside = f"{before}\n{after}"
    as_json = '"verdicts"' in outside
    codes = set(re.findall(r"code(?: is)? (k[0-9a-f]{16})", outside))
    labels = re.search(r"label is one of: ([^.]+)\.", outside)
    assert len(codes) == 1, outside
    assert labels, outside
    return Shown(
        codes.pop(),
        tuple(labels[1].split(", ")),
        as_json,
        {name: "\n".join(lines) for name, lines in fields.items()},
        outside,
    )


class Block(NamedTuple):
    """One verdict as the judge writes it."""

    number: int
    question: str
    analysis: str
    label: str


def written(seen: Shown, blocks: list[Block]) -> str:
    """Write verdicts in the form the prompt asks for."""
    if seen.json:
        return json.dumps({"code": seen.code, "verdicts": [b._asdict() for b in blocks]})
    return "\n\n".join(
        f"### {b.number} {seen.code} {b.question}\nAnalysis: {b.analysis}\n${b.label} {seen.code}$"
        for b in blocks
    )


Decide = Callable[[Shown, int], str]


def judge_engine(
    decide: Decide,
    name: str = "judge-1",
    *,
    json_schema: bool = False,
    write: Callable[[Shown, list[Block], Request], str] | None = None,
    analysis: str = "It says so.",
) -> ScriptedEngine:
    """Return an engine whose model labels each question with ``decide(seen, number)``.

    ``write`` replaces how the reply is written, for judges that misbehave.
    """

    def reply(request: Request) -> str:
        if '"begins"' in request.messages[0].content:
            return "I only grade."  # asked about wording or contradiction, not about right or wrong
        seen = shown(request)
        blocks = [Block(n, seen.question(n), analysis, decide(seen, n)) for n in seen.numbers]
        return write(seen, blocks, request) if write else written(seen, blocks)

    engine = ScriptedEngine(reply, name)
    engine.capabilities = Capabilities(json_schema=json_schema)
    return engine


def truthful(seen: Shown, number: int) -> str:
    """A judge that is right about short plain sentences: doubt by a word, value by containment."""
    text = seen.text(number).casefold()
    hedged = "i think" in text
    right = any(gold.casefold() in text for gold in seen.golds(number) if gold)
    if "don't know" in text:
        stance, content = "abstained", "none"
    else:
        stance = "hedged" if hedged else "committed"
        content = "correct" if right else "incorrect"
    said = {
        f"{stance}-{content}",
        stance,
        content,
        {"committed": {"correct": "S", "incorrect": "NS"}.get(content, ""), "hedged": "UNC"}.get(
            stance, "UNC"
        ),
        "certain" if stance == "committed" else "UNC",
    }
    return next(label for label in seen.labels if label in said)
