"""A judge that reads its verdicts from the answers, and a world of aspects that are letters.

Numbers can then be counted by hand: c correct, i incorrect, u hedged, o omitted, r refused,
? a verdict that could not be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import sayso
from sayso.judges.judge import Item
from sayso.protocols import settings, uncle
from sayso.records import Estimate, Request, Verdict, slice_text
from sayso.runs.result import Result
from support.scripted import ScriptedEngine
from support.scripted_world import write


class Told:
    """A judge that reads the verdict from the answer: one letter for each question."""

    name = "told"
    signature = "told@1"

    def grade(self, items: Sequence[Item]) -> list[Verdict]:
        found = []
        for item in items:
            for question, letter in zip(item.questions, item.generation.text, strict=True):
                target, asked = item.generation.id, question.id
                if letter == "?":
                    found.append(Verdict(target, asked, "told", problem="unread"))
                    continue
                stance: Any = {"u": "hedged", "o": "omitted", "r": "refused_by_policy"}.get(
                    letter, "committed"
                )
                content: Any = {"c": "correct", "i": "incorrect"}.get(letter, "none")
                found.append(Verdict(target, asked, "told", stance=stance, content=content))
        return found


def world(folder: Path, aspects: int, entities: int = 1) -> str:
    rows = [
        {
            "entity": f"e{e}",
            "prompt": f"Long e{e}.",
            "domain": "d",
            "individual_qa": [
                {"question": f"q{e}.{i}?", "answer": ["x"], "description": f"a{i}"}
                for i in range(aspects)
            ],
        }
        for e in range(entities)
    ]
    return str(write(folder / "q.jsonl", rows))


def run(
    folder: Path,
    probes: Sequence[str],
    short: str,
    long: str,
    plain: str | None = None,
    **fields: Any,
) -> Result:
    """One entity; ``probes[i]`` holds the letters of aspect i's draws."""

    def reply(request: Request) -> str:
        text = request.messages[-1].content
        instructed = "ncertainty" in text
        aspect = aspect_of(text)
        if aspect is None:
            return long if instructed else (plain or long)
        if not request.greedy and request.sample < uncle.settings.ANSWER_SAMPLE:
            return probes[aspect][request.sample]
        return short[aspect] if instructed else (plain or short)[aspect]

    return run_told(folder, reply, len(probes), **fields)


def aspect_of(text: str) -> int | None:
    """Return which aspect a short question asks about; None for a long one."""
    found = re.search(r"q\d+\.(\d+)\?", text)
    return int(found[1]) if found else None


def run_told(
    folder: Path,
    reply: Callable[[Request], str],
    aspects: int,
    entities: int = 1,
    name: str = "run",
    **fields: Any,
) -> Result:
    """Run the world of letters; ``fields`` are settings."""
    options = settings.replace(uncle.Settings(), {"resamples": 200, **fields})
    return sayso.run(
        report=False,
        model=ScriptedEngine(reply),
        judge=Told(),
        data=world(folder, aspects, entities),
        out=folder / name,
        cache=folder / "cache",
        options=options,
    )


def value(result: Result | Sequence[Estimate], name: str, where: str) -> float | None:
    return estimate(result, name, where).value


def estimate(result: Result | Sequence[Estimate], name: str, where: str) -> Estimate:
    estimates = result.estimates if isinstance(result, Result) else result
    (found,) = [e for e in estimates if e.name == name and slice_text(e.where) == where]
    return found


#  known: aspects 0-3 (any of five); unknown: 4-7
PROBES = ["ccccc", "iiiic", "ciiii", "uuuuc", "iiiii", "iiiii", "uuiii", "uuuii"]
