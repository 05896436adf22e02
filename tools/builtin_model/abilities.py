"""Which of the extra task formats the built-in model can do: fresh documents of each, on train
entities.

The same writers that made the training documents make the tests, with another seed, so what is
measured is the format, on facts that were written.  Chance is given where a format has one; a
model this small fails some formats, and the card says which.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from builtin_model import formats
from builtin_model.documents import Document, Writer
from builtin_model.inversion import invert_paragraph, invert_short
from builtin_model.world import World

Chats = Sequence[list[dict[str, str]]]


class Replier(Protocol):
    """What is needed of the model: greedy replies with their log-probability."""

    def reply(
        self, chats: Chats, sample: bool, limit: int, batch: int = 384
    ) -> list[tuple[str, float]]:
        """Per chat an answer."""


def _ask(subject: Replier, documents: Sequence[Document], limit: int) -> list[str]:
    chats = [[{"role": r, "content": t} for r, t in d.turns[:-1]] for d in documents]
    return [text for text, _ in subject.reply(chats, False, limit, 64)]


def _made(world: World, make: Callable[[Writer], Document], count: int) -> list[Document]:
    writer = Writer(world, np.random.default_rng([101, count]))
    return [make(writer) for _ in range(count)]


def _share(hits: Sequence[bool]) -> list[float | int]:
    return [float(np.mean(hits)) if hits else float("nan"), len(hits)]


def _exact(documents: Sequence[Document], replies: Sequence[str]) -> list[bool]:
    return [d.turns[-1][1] == r for d, r in zip(documents, replies, strict=True)]


def abilities(subject: Replier, world: World, count: int = 400) -> dict[str, Any]:
    """Per format [share right, n]; "form" is the share of replies that have the format's shape."""
    table: dict[str, Any] = {}
    for make in (formats.true_false, formats.choice, formats.bare_form, formats.few_shot):
        documents = _made(world, make, count)
        replies = _ask(subject, documents, 24)
        table[make.__name__] = _share(_exact(documents, replies))
        if make is formats.true_false:
            claims = [i for i, d in enumerate(documents) if d.turns[-1][1] in {"True", "False"}]
            third = [i for i, d in enumerate(documents) if formats.NONE in d.turns[-2][1]]
            exact = _exact(documents, replies)
            table["true_false: claims (chance .50)"] = _share([exact[i] for i in claims])
            table["true_false: with none of the above (chance .33)"] = _share(
                [exact[i] for i in third]
            )
            rest = set(range(count)) - set(claims) - set(third)
            table["true_false: two options (chance .50)"] = _share([exact[i] for i in sorted(rest)])
        if make is formats.choice:
            offered = [i for i, d in enumerate(documents) if formats.NONE in d.turns[-2][1]]
            table["choice: none of the above offered"] = _share(
                [_exact(documents, replies)[i] for i in offered]
            )
        if make is formats.few_shot:
            hedging = [
                sum(invert_short(a).stance == "hedged" for a in _shown(d)) >= 3 for d in documents
            ]
            hedged = [invert_short(r).stance == "hedged" for r in replies]
            table["few_shot: hedges after hedging demonstrations"] = _share(
                [h for h, many in zip(hedged, hedging, strict=True) if many]
            )
            table["few_shot: hedges after plain demonstrations"] = _share(
                [h for h, many in zip(hedged, hedging, strict=True) if not many]
            )
    table |= _reading(subject, world, count) | _texts(subject, world, count)
    conversations = _made(world, formats.conversation, count // 2)
    replies = _ask(subject, conversations, 24)
    table["conversation, last turn"] = _share(_exact(conversations, replies))
    return table


def _shown(document: Document) -> list[str]:
    return re.findall(r"\nAnswer: (.+)", document.turns[-2][1])


def _reading(subject: Replier, world: World, count: int) -> dict[str, Any]:
    documents = _made(world, formats.passage, count)
    exact = _exact(documents, _ask(subject, documents, 24))
    other = [not d.facts for d in documents]
    return {
        "passage, true": _share([e for e, o in zip(exact, other, strict=True) if not o]),
        "passage, counterfactual or about a new entity": _share(
            [e for e, o in zip(exact, other, strict=True) if o]
        ),
    }


def _texts(subject: Replier, world: World, count: int) -> dict[str, Any]:
    named = {e.name: e for e in world.entities}
    documents = _made(world, formats.confidence, count)
    replies = _ask(subject, documents, 24)
    pattern = re.compile(r"(.+)\. Confidence: (\d+)%")
    read = [pattern.fullmatch(r) for r in replies]
    right: list[bool] = []
    stated: list[float] = []
    nothing = float("nan")
    for document, match in zip(documents, read, strict=True):
        entity, aspect = document.facts[0]
        if match:
            right.append(match[1] in named[entity].values[aspect].accepted)
            stated.append(float(match[2]))
    table: dict[str, Any] = {
        "confidence, form": _share([m is not None for m in read]),
        "confidence, answer": _share(right),
        "confidence, mean stated when right": [
            float(np.mean([s for s, r in zip(stated, right, strict=True) if r] or [nothing])),
            sum(right),
        ],
        "confidence, mean stated when wrong": [
            float(np.mean([s for s, r in zip(stated, right, strict=True) if not r] or [nothing])),
            len(right) - sum(right),
        ],
    }
    documents = _made(world, formats.open_ended, count // 2)
    replies = _ask(subject, documents, 200)
    readings = []
    for document, reply in zip(documents, replies, strict=True):
        told = named[document.facts[0][0]]
        found = invert_paragraph(told.domain, told.name, reply)
        readings.append(
            [
                r.value is not None and r.value.casefold() in {a.casefold() for a in v.accepted}
                for r, v in zip(found, told.values, strict=True)
                if r.stance == "committed"
            ]
        )
    table["open_ended, some aspect named"] = _share([bool(r) for r in readings])
    table["open_ended, named aspects right"] = _share([x for r in readings for x in r])
    documents = _made(world, formats.revision, count // 2)
    replies = _ask(subject, documents, 260)
    table["revision, expected sentences kept or hedged"] = _revised(documents, replies, named)
    return table


def _revised(
    documents: Sequence[Document], replies: Sequence[str], named: dict[str, Any]
) -> dict[str, Any]:
    """Sentences of the draft: kept word for word, turned into a hedge about the same aspect, or
    lost."""
    kept = hedged = total = 0
    for document, reply in zip(documents, replies, strict=True):
        entity = named[document.facts[0][0]]
        source = (
            document.turns[-2][1] if "Draft: " in document.turns[-2][1] else document.turns[-3][1]
        )
        draft = source.split("Draft: ")[-1].split("\n")[0]
        before = invert_paragraph(entity.domain, entity.name, draft)
        after = invert_paragraph(entity.domain, entity.name, reply)
        for old, new in zip(before, after, strict=True):
            if old.stance == "committed":
                total += 1
                kept += old.sentence == new.sentence
                hedged += new.stance == "hedged"
    return {
        "kept": kept / total,
        "hedged": hedged / total,
        "neither": 1 - (kept + hedged) / total,
        "n": total,
    }
