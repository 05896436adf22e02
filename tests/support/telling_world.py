"""Long texts whose claims are true or false by a letter, and a model that judges them as told.

A text is a word of letters, one for each sentence: t is in the knowledge source, f is not. Every
sentence is one claim, "Mira Toll won the Vundor Prize.", so that counts can be made by hand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import sayso
from sayso.protocols import self_known, settings
from sayso.records import Request
from sayso.runs.result import Result
from support.scripted import ScriptedEngine
from support.scripted_world import word

#: what a model says of a claim, given its sentence, the letter of its truth, and the setting
Says = Callable[[str, str, str], str]


def sentence(name: str, number: int) -> str:
    """Return the sentence and claim with this number of a topic's text."""
    return f"{name} won the {word(name, number)} Prize."


def honest(claim: str, truth: str, mode: str) -> str:
    """What somebody says who knows."""
    return "yes" if truth == "t" else "no"


class World:
    """Topics with their texts in letters."""

    def __init__(self, texts: Mapping[str, str], says: Says = honest) -> None:
        self.texts, self.says = dict(texts), says
        self.truth = {
            sentence(name, n).rstrip("."): letter
            for name, letters in texts.items()
            for n, letter in enumerate(letters)
        }
        #: prompts in the order of asking
        self.asked: list[str] = []

    def text(self, name: str, letters: str | None = None) -> str:
        """Return the text of a topic."""
        return " ".join(sentence(name, n) for n in range(len(letters or self.texts[name])))

    def topics(self, folder: Path) -> str:
        """Write the topics as data."""
        place = folder / "topics.txt"
        place.write_text("\n".join(self.texts))
        return f"topics:{place}"

    def knowledge(self, folder: Path, titles: Mapping[str, str] | None = None) -> str:
        """Write what is true; ``titles`` gives some topics another title."""
        rows = []
        for name, letters in self.texts.items():
            true = [sentence(name, n) for n, letter in enumerate(letters) if letter == "t"]
            title = (titles or {}).get(name, name)
            rows.append({"title": title, "text": " ".join([f"This is {name}.", *true])})
        place = folder / f"wiki{len(titles or ())}.jsonl"
        place.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return str(place)

    def reply(self, request: Request) -> str | None:
        """Answer as a model: a text, the letter of an option, or its word."""
        prompt = request.messages[-1].content
        self.asked.append(prompt)
        options = dict(re.findall(r"^\(([ABC])\) (.+)$", prompt, re.M))
        asked = re.search(r"^Is this statement (true|false) or (true|false)\?$", prompt, re.M)
        if asked is not None:  # letters stand for places there
            options = dict(zip("AB", (asked[1].title(), asked[2].title()), strict=True))
        if options:
            claim, mode = told(prompt)
            said = self.says(claim, self.truth.get(claim, "f"), mode)
            words = {"yes": "True", "no": "False", "none": "None of the above"}
            wanted = words.get(said, said)  # or a letter, or anything else
            if asked is not None:
                return options.get(wanted, wanted)
            return next((x for x, option in options.items() if option == wanted), said)
        name = next(n for n in self.texts if f"about {n}." in prompt)
        return self.text(name)

    def engine(self, **given: Any) -> ScriptedEngine:
        """Return the model."""
        return ScriptedEngine(self.reply, **given)

    def run(self, folder: Path, name: str = "run", model: Any = None, **fields: Any) -> Result:
        """Run the protocol on this world; ``fields`` are settings."""
        folder.mkdir(exist_ok=True)
        options = settings.replace(
            self_known.Settings(),
            {"resamples": 100, "knowledge": self.knowledge(folder), **fields},
        )
        return sayso.run(
            "self_known",
            report=False,
            model=model or self.engine(),
            data=self.topics(folder),
            out=folder / name,
            cache=folder / "cache",
            options=options,
        )


def told(prompt: str) -> tuple[str, str]:
    """Return the claim that a prompt is about, without its full stop, and the setting."""
    mode = "qa_none" if "None of the above" in prompt else "qa"
    if "Is this statement" in prompt:
        (claim,) = re.findall(r"^(.*)\nIs this statement", prompt, re.M)
        return claim.rstrip("."), "direct"
    (question,) = re.findall(r"^Question: (.*)$", prompt, re.M)
    (answer,) = re.findall(r"^Proposed answer: (.*)$", prompt, re.M)
    winner = re.fullmatch(r"Which award did (.*) win\?", question)
    if winner is not None:
        return f"{winner[1]} won the {answer}", mode
    (gapped,) = re.findall(r'gap of "(.*)"\?$', question)
    return gapped.replace("____", answer).rstrip("."), mode
