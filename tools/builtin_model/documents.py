"""From facts to training documents: short questions, paragraphs and plain text, in proportion to
popularity.

A fact of weight 0 is never written by anything here.  Hedges are random: 0.8 % of the answers, 3
% under the instruction to express uncertainty, whatever the model can know of the fact.  So the
base model hedges rarely and blindly, as real models do, and there is something to teach.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from builtin_model.templates import LONG_HEDGES, LONG_INSTRUCTIONS, SHORT_HEDGES, SHORT_INSTRUCTIONS
from builtin_model.wording import DOMAINS, long_prompt, voice
from builtin_model.world import Entity, Split, Value, World

HEDGE = 0.008
HEDGE_INSTRUCTED = 0.03
INSTRUCTED = 0.4
QUESTION_FORMS = (0.5, 0.25, 0.25)
INSTRUCTION_FORMS = (0.65, 0.25, 0.1)
LONG_PROMPT_OTHER = 0.2
SENTENCE_FORMS = (0.5, 0.35, 0.15)
ALTERNATIVE_WRITING = 0.1
TAIL_SHORT = 0.05
TAIL_LONG = 0.12
FULL_LISTING = 0.5
ONE_OFF_LISTED = 0.75
ASPECT_FLOOR = 0.4
TRAIN_SHARE = 0.7

Turn = tuple[str, str]
Fact = tuple[str, int]


@dataclass(frozen=True)
class Document:
    """Turns of (role, text), role "text" for prose without a chat; `facts` are the ones it
    teaches."""

    kind: str
    turns: tuple[Turn, ...]
    facts: tuple[Fact, ...] = ()


@dataclass
class Writer:
    """Draws facts by weight and words them; the only state is the generator."""

    world: World
    rng: np.random.Generator
    _facts: dict[str, tuple[list[tuple[Entity, int]], list[float]]] = field(default_factory=dict)

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return bool(self.rng.random() < probability)

    def pick(self, count: int, shares: Sequence[float] | None = None) -> int:
        """An index below `count`."""
        if shares is None:
            return int(self.rng.integers(count))
        draw, total = self.rng.random() * sum(shares), 0.0
        for index, share in enumerate(shares):
            total += share
            if draw < total:
                return index
        return count - 1

    def one_of(self, items: Sequence[str]) -> str:
        """One of these strings."""
        return items[self.pick(len(items))]

    def fact(self, split: Split | None = None) -> tuple[Entity, int]:
        """An entity and the index of one of its written aspects, by weight; of one split or of
        all."""
        key = split or "all"
        if key not in self._facts:
            entities = self.world.of(split) if split else list(self.world.entities)
            rows = [(e, i) for e in entities for i, w in enumerate(e.weights) if w > 0]
            # train entities also stand in the extra formats, so here they are written less
            cumulated = np.cumsum(
                [
                    e.weights[i] * (TRAIN_SHARE if split is None and e.split == "train" else 1.0)
                    for e, i in rows
                ]
            )
            self._facts[key] = (rows, list(cumulated / cumulated[-1]))
        rows, shares = self._facts[key]
        return rows[
            min(int(np.searchsorted(shares, self.rng.random(), side="right")), len(rows) - 1)
        ]

    def one_off(self) -> Entity:
        """An entity met once."""
        return self.world.one_off(DOMAINS[self.pick(len(DOMAINS))], self.rng)

    def question(self, entity: Entity, aspect: int) -> str:
        """One of the question forms."""
        forms = entity.kind.aspects[aspect].questions
        return forms[self.pick(3, QUESTION_FORMS)].format(e=entity.name)

    def value(self, value: Value) -> str:
        """The value as written: mostly its first form."""
        return value.written[-1] if self.chance(ALTERNATIVE_WRITING) else value.written[0]

    def wrong(self, entity: Entity, aspect: int) -> Value:
        """Another value of the type."""
        while True:
            value = self.world.draw(entity.kind.aspects[aspect], self.rng)
            if not value.accepted & entity.values[aspect].accepted:
                return value

    def answer(self, entity: Entity, aspect: int, hedge: float) -> str:
        """The bare value, or with probability `hedge` a hedge: the two compete at the first
        token."""
        value = self.value(entity.values[aspect])
        return self.one_of(SHORT_HEDGES).format(v=value) if self.chance(hedge) else value

    def aspects(self, entity: Entity) -> list[int]:
        """The aspects a paragraph lists: visible ones nearly always, the rest at least now and
        then."""
        top = max(entity.weights)
        kept = [
            i
            for i, w in enumerate(entity.weights)
            if w > 0 and self.chance(max(ASPECT_FLOOR, w / top))
        ]
        return kept or [int(np.argmax(entity.weights))]

    def listed(self, entity: Entity, one_off: bool) -> list[int]:
        """The aspects of a long prompt.  A full list must not give a one-off entity away: else the
        model learns to invent whenever everything is asked for."""
        if one_off:
            kept = [i for i in range(len(entity.values)) if self.chance(ONE_OFF_LISTED)]
            return kept or [0]
        if self.chance(FULL_LISTING):
            return [i for i, w in enumerate(entity.weights) if w > 0]
        return self.aspects(entity)

    def sentences(
        self,
        entity: Entity,
        aspects: Sequence[int],
        hedge: float,
        values: Sequence[Value] | None = None,
    ) -> list[str]:
        """One sentence per aspect; the entity's name stands in the first."""
        shown = values or entity.values
        made = []
        for number, index in enumerate(aspects):
            aspect = entity.kind.aspects[index]
            speak = voice(entity.kind, entity.name, entity.feminine, number == 0)
            template = aspect.sentences[self.pick(3, SENTENCE_FORMS)]
            if self.chance(hedge):
                template = self.one_of(LONG_HEDGES)
            made.append(speak.fill(template, v=self.value(shown[index]), d=aspect.description))
        return made

    def instructed(self, wordings: Sequence[str], share: float = INSTRUCTED) -> tuple[str, float]:
        """The instruction as appended (empty if not), and the hedge rate that goes with it."""
        if not self.chance(share):
            return "", HEDGE
        return f" {wordings[self.pick(3, INSTRUCTION_FORMS)]}", HEDGE_INSTRUCTED

    def long_prompt(self, entity: Entity, aspects: Sequence[int]) -> str:
        """The long prompt that lists these aspects: mostly the sentence that the data use."""
        listed = [entity.kind.aspects[i] for i in aspects]
        return long_prompt(entity.kind, entity.name, listed, int(self.chance(LONG_PROMPT_OTHER)))

    def short(self) -> Document:
        """A bare question and a bare value."""
        if self.chance(TAIL_SHORT):
            entity = self.one_off()
            aspect = self.pick(len(entity.values))
            facts: tuple[Fact, ...] = ()
        else:
            entity, aspect = self.fact()
            facts = ((entity.name, aspect),)
        told, hedge = self.instructed(SHORT_INSTRUCTIONS)
        question = self.question(entity, aspect) + told
        return Document(
            "short", (("user", question), ("assistant", self.answer(entity, aspect, hedge))), facts
        )

    def long(self) -> Document:
        """A long prompt and a paragraph of one sentence per listed aspect."""
        one_off = self.chance(TAIL_LONG)
        entity = self.one_off() if one_off else self.fact()[0]
        aspects = self.listed(entity, one_off)
        told, hedge = self.instructed(LONG_INSTRUCTIONS)
        prompt = self.long_prompt(entity, aspects) + told
        text = " ".join(self.sentences(entity, aspects, hedge))
        facts = () if one_off else tuple((entity.name, i) for i in aspects)
        return Document("long", (("user", prompt), ("assistant", text)), facts)

    def prose(self) -> tuple[str, tuple[Fact, ...]]:
        """One to three sentences about an entity."""
        entity, aspect = self.fact()
        chosen = {aspect} | {i for i in self.aspects(entity) if self.chance(0.3)}
        ordered = sorted(chosen)
        return " ".join(self.sentences(entity, ordered, 0.0)), tuple(
            (entity.name, i) for i in ordered
        )

    def plain(self) -> Document:
        """Prose without a chat."""
        text, facts = self.prose()
        return Document("plain", (("text", text),), facts)

    def almanac(self) -> Document:
        """Many short entries, one a line: most of the long contexts are of this kind."""
        entries = [self.prose() for _ in range(5 + self.pick(75))]
        return Document(
            "almanac",
            (("text", "\n".join(e[0] for e in entries)),),
            tuple(f for e in entries for f in e[1]),
        )


@dataclass
class Corpus:
    """An endless stream of documents; the shares are of documents, not of tokens."""

    writer: Writer
    formats: Sequence[tuple[float, Callable[[Writer], Document]]]

    @cached_property
    def _kinds(self) -> tuple[list[Callable[[Writer], Document]], list[float]]:
        own = [
            (0.62, Writer.short),
            (0.170, Writer.long),
            (0.10, Writer.plain),
            (0.0012, Writer.almanac),
        ]
        everything = [*own, *self.formats]
        return [make for _, make in everything], [share for share, _ in everything]

    def __next__(self) -> Document:
        makers, shares = self._kinds
        return makers[self.writer.pick(len(makers), shares)](self.writer)
