"""A model that makes training rows as it is told, and notes what it was asked."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection

from sayso.records import Generation, Request
from support.scripted import ScriptedEngine

_LINE = re.compile(r"^(?P<name>[^|\n]+)\| ?(?P<text>.*)$")
#: the key of each step's reply
STEPS = {"facts": "facts", "verdict": "check", "sentence": "unsure", "paragraph": "merge"}


def fields_of(text: str) -> dict[str, str]:
    """Return the fenced fields of a request by name; lines of one field are joined."""
    fields: dict[str, str] = {}
    inside = False
    for line in text.split("\n"):
        if line.startswith("<<<"):
            inside = True
        elif line.startswith(">>>"):
            inside = False
        elif inside and (hit := _LINE.match(line)):
            held = fields.get(hit["name"])
            fields[hit["name"]] = hit["text"] if held is None else f"{held}\n{hit['text']}"
    return fields


class RowAuthor:
    """Splits sentences at "; ", calls facts wrong that hold a word of ``wrong``, and merges.

    Without ``wrong`` a fact is right that holds a gold. Facts behind "Maybe " are unsure, those
    with a word of ``untold`` have no gold. ``garbles`` says which (step, text) replies are of no
    use; ``steps`` counts requests.
    """

    def __init__(
        self,
        wrong: Collection[str] | None = (),
        untold: Collection[str] = (),
        garbles: Callable[[str, str], bool] = lambda step, text: False,
    ) -> None:
        self.wrong, self.untold, self.garbles = wrong, untold, garbles
        self.steps: Counter[str] = Counter()
        self.texts: list[str] = []

    def __call__(self, request: Request) -> Generation:
        text = request.messages[-1].content
        self.texts.append(text)
        fields = fields_of(text)
        code = re.findall(r"The code is (k[0-9a-f]{16})", text)[-1]
        key = next(key for key in STEPS if f'"{key}"' in text.partition("\n<<<")[0])
        step = "support" if "passage p1" in fields else STEPS[key]
        self.steps[step] += 1
        entries = []
        for name, value in fields.items():
            if not (hit := re.match(r"^(\d+) (?:sentence|fact|claim|statements)$", name)):
                continue
            entry = {"number": int(hit[1]), "begins": " ".join(value.split()[:5])}
            if self.garbles(step, value):
                entry["number"] = 99
            elif step == "support":
                held = any(p.startswith("passage") and value in v for p, v in fields.items())
                entry |= {"verdict": "supported" if held else "not supported", "passage": "p1"}
            else:
                entry[key] = self._said(step, value)
                if step == "check" and self.wrong is None:
                    golds = [v.rpartition("? ")[2] for n, v in fields.items() if "gold" in n]
                    entry[key] = "right" if any(gold in value for gold in golds) else "wrong"
            entries.append(entry)
        return Generation(request, text=json.dumps({"code": code, "verdicts": entries}))

    def _said(self, step: str, text: str) -> object:
        if step == "facts":
            parts = [part.strip().rstrip(".") for part in text.split("; ")]
            return [
                {"text": f"{part.removeprefix('Maybe ')}.", "unsure": part.startswith("Maybe ")}
                for part in parts
            ]
        if step == "check":
            if any(word in text for word in self.untold):
                return "not told"
            return "wrong" if any(word in text for word in self.wrong or ()) else "right"
        if step == "unsure":
            return f"I am not sure about this: {' '.join(text.split()[:3])}."
        return " ".join(text.split("\n"))

    def engine(self, name: str = "author") -> ScriptedEngine:
        """Return an engine that answers so."""
        return ScriptedEngine(self, name=name)
