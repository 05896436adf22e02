"""A small invented world and models with known properties, for controls and pipeline tests.

Every draw is a pure function of (seed, what is asked, sample), so a control is the same on every
machine and in every order.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from sayso.records import Generation, Request
from support.scripted import ScriptedEngine

DOMAINS = {
    "people": ("birthplace", "occupation", "instrument"),
    "rivers": ("source", "color", "guardian"),
}
SYLLABLES = ("bra", "ko", "mil", "tes", "vun", "dor", "sha", "pel", "zig", "lam", "fer", "ost")
HEDGE = "I am not sure."


class Fact(NamedTuple):
    """One aspect of one entity."""

    entity: str
    domain: str
    aspect: str
    value: str

    @property
    def question(self) -> str:
        """The short question."""
        return f"What is the {self.aspect} of {self.entity}?"

    @property
    def type(self) -> tuple[str, str]:
        """The aspect's type."""
        return self.domain, self.aspect


def chance(*parts: object) -> float:
    """Return a uniform number that depends on the parts alone."""
    return random.Random(repr(parts)).random()


def word(*parts: object, n: int = 3) -> str:
    """Return an invented name."""
    return _word(repr(("word", *parts)), n)


@cache
def _word(seed: str, n: int) -> str:
    generator = random.Random(seed)
    return "".join(generator.choice(SYLLABLES) for _ in range(n)).capitalize()


@cache
def pool(kind: tuple[str, str], size: int = 12) -> tuple[str, ...]:
    """Return the values of a type: distinct words."""
    return tuple(dict.fromkeys(word(kind, i) for i in range(4 * size)))[:size]


def prior(kind: tuple[str, str], *parts: object) -> str:
    """Draw a value from the type's skewed prior: value i has a weight of 0.7 ** i."""
    values = pool(kind)
    weights = [0.7**i for i in range(len(values))]
    return random.Random(repr(("prior", kind, *parts))).choices(values, weights)[0]


def facts(entities: int = 60, seed: int = 0, name: str = "") -> list[Fact]:
    """Return three facts for each entity; half of the entities are in each domain."""
    return [
        Fact(f"{word(seed, name, i, n=4)} {word(seed, name, -i - 1)}", domain, aspect, value)
        for i in range(entities)
        for domain in [list(DOMAINS)[i % 2]]
        for aspect in DOMAINS[domain]
        for value in [prior((domain, aspect), "truth", seed, i)]
    ]


def records(world: list[Fact], golds: Callable[[Fact], str] = lambda f: f.value) -> list[dict]:
    """Return UNCLE records of a world."""
    rows: dict[str, dict] = {}
    for fact in world:
        row = rows.setdefault(
            fact.entity, {"entity": fact.entity, "domain": fact.domain, "individual_qa": []}
        )
        row["individual_qa"].append(
            {
                "question": fact.question,
                "answer": [golds(fact)],
                "label": fact.aspect,
                "description": fact.aspect,
                "property_id": f"P-{fact.aspect}",
            }
        )
    for row in rows.values():
        aspects = ", ".join(part["description"] for part in row["individual_qa"])
        row["prompt"] = f"Write a paragraph about {row['entity']}, covering {aspects}."
    return list(rows.values())


def write(path: Path, rows: list[dict]) -> Path:
    """Write records as JSONL."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


class Mind:
    """A model of which everything is known.

    ``knows(fact)`` is the chance that one answer is right, ``hedges(fact, instructed)`` whether
    the answer at T=0 is a hedge, ``certain(fact, value)`` the log-probability of a value.
    """

    def __init__(
        self,
        world: list[Fact],
        knows: Callable[[Fact], float],
        hedges: Callable[[Fact, bool], bool] = lambda fact, instructed: False,
        certain: Callable[[Fact, str], float] | None = None,
        guess: Callable[[Fact, object], str] | None = None,
    ) -> None:
        self.by_question = {f.question: f for f in world}
        self.by_entity: dict[str, list[Fact]] = {}
        for fact in world:
            self.by_entity.setdefault(fact.entity, []).append(fact)
        self.knows, self.hedges = knows, hedges
        self.certain = certain or (lambda fact, value: -0.1 if knows(fact) > 0.5 else -1.5)
        self.guess = guess or (lambda fact, draw: prior(fact.type, "guess", fact.question, draw))

    def value(self, fact: Fact, draw: object) -> str:
        """Return what the model says when it says a value."""
        if chance("right", fact.question, draw) < self.knows(fact):
            return fact.value
        return self.guess(fact, draw)

    def __call__(self, request: Request) -> Generation:
        text = request.messages[-1].content
        instructed = "ncertainty" in text
        draw = "greedy" if request.greedy else request.sample
        for question, fact in self.by_question.items():
            if text.startswith(question):
                hedge = request.greedy and self.hedges(fact, instructed)
                said = HEDGE if hedge else self.value(fact, draw)
                return self._reply(request, [(said, self.certain(fact, said))])
        entity = next(e for e in self.by_entity if f"about {e}," in text)
        sentences = []
        for fact in self.by_entity[entity]:
            said = self.value(fact, draw)
            if self.hedges(fact, instructed):
                sentences.append((f"I am not sure what the {fact.aspect} of {entity} is.", -0.3))
            else:
                sentences.append(
                    (f"The {fact.aspect} of {entity} is {said}.", self.certain(fact, said))
                )
        return self._reply(request, sentences)

    @staticmethod
    def _reply(request: Request, sentences: list[tuple[str, float]]) -> Generation:
        """Build a reply whose tokens are words, with their sentence's log-probability."""
        text = " ".join(s for s, _ in sentences)
        offsets, logprobs, at = [], [], 0
        for sentence, logprob in sentences:
            for piece in sentence.split():
                offsets.append(at)
                logprobs.append(logprob)
                at += len(piece) + 1
        return Generation(
            request,
            text=text,
            offsets=tuple(offsets),
            logprobs=tuple(logprobs),
            entropies=tuple(-x for x in logprobs),
            token_ids=tuple(range(len(offsets))),
            finish="stop",
        )

    def engine(self, name: str = "mind") -> ScriptedEngine:
        """Return an engine that answers like this mind."""
        return ScriptedEngine(self, name=name, logprob=-0.5)
