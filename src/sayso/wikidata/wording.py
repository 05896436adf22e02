"""Questions worded by a model, one for each aspect, each checked by a round trip.

The model writes a question with a place for the name. It is kept where, put to the same model with
the names of three entities and all aspects of the domain, it leads back to its aspect each time,
and where it names the entity once and no gold. A person still reviews it: a model that misreads
its own question in the same way twice passes this check.
"""

from __future__ import annotations

import re
from pathlib import Path

from sayso.models import Engine
from sayso.prompts import load_prompt
from sayso.records import Gold, ask
from sayso.wikidata.aspects import Aspect, Aspects
from sayso.wikidata.found import Found
from sayso.wikidata.questions import stands_in, told_name
from sayso.wikidata.templates import Templates, filled
from sayso.wikidata.values import answer

#: entities that a question is tried on; characters of a question
TRIED, LONGEST = 3, 300


class Worder:
    """Words aspects: call it with (domain, property, aspect).

    ``kept`` and ``refused`` count questions, ``failed`` requests without an answer; ``failure`` is
    the reason of the last.
    """

    def __init__(
        self, engine: Engine, found: Found, templates: Templates, prompts: Path | None = None
    ) -> None:
        self.engine, self.found, self.templates = engine, found, templates
        self.write = load_prompt("build_question", prompts)
        self.check = load_prompt("build_question_check", prompts)
        self.aspects: Aspects | None = None
        self.kept = self.refused = self.failed = 0
        self.failure = ""

    def __call__(self, domain: str, property: str, aspect: Aspect) -> str | None:
        """Return a question that came back to its aspect, ``None`` where none did."""
        known = self._golds(domain, property)
        if not known:
            return None
        told = self._ask(
            self.write,
            language=self.found.plan.languages[0],
            type=self.found.plan.domains[domain].type or "thing",
            aspect=aspect.description,
            example=known[0][1][0].value,
        )
        question = " ".join(told.strip().strip('"').split())
        fit = (
            question.count("{entity}") == 1
            and len(question) <= LONGEST
            and question.endswith(("?", "？", "؟", ";"))
            and question.isprintable()
            and "{" not in question.replace("{entity}", "")
        )
        if fit and all(self._returns(domain, property, question, *one) for one in known):
            self.kept += 1
            return question
        self.refused += 1
        return None

    def _returns(
        self, domain: str, property: str, question: str, name: str, golds: tuple[Gold, ...]
    ) -> bool:
        """Tell whether a question leads back to its aspect for one entity."""
        asked = question.replace("{entity}", name)
        if any(stands_in(gold, asked) for gold in golds):
            return False
        rows = self.aspects.kept(domain) if self.aspects else {}
        options = "\n".join(f"{n}. {row.description}" for n, row in enumerate(rows.values(), 1))
        told = self._ask(self.check, question=asked, options=options)
        number = re.fullmatch(r"\D{0,20}(\d{1,4})\D{0,20}", told.strip())
        wanted = list(rows).index(property) + 1 if property in rows else -1
        return number is not None and int(number[1]) == wanted

    def _golds(self, domain: str, property: str) -> list[tuple[str, tuple[Gold, ...]]]:
        """Return names and golds of the first entities that have any."""
        found = []
        for entity in (e for stratum in self.found.entities[domain] for e in stratum):
            golds = answer(entity, property, self.found, self.templates).golds
            if golds:
                found.append((told_name(entity, self.found) or entity.id, golds))
            if len(found) == TRIED:
                break
        return found

    def _ask(self, template: str, **values: str) -> str:
        request = ask(filled(template, **values), temperature=0.0, max_tokens=200)
        for _, generation in self.engine.complete([request]):
            if not generation.problem:
                return generation.text
            self.failed, self.failure = self.failed + 1, generation.problem
        return ""


__all__ = ["Worder"]
