"""How wordings are put together: domains and aspects, prompts, names and pronouns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from builtin_model.templates import LONG_PROMPTS, TABLE


@dataclass(frozen=True)
class Aspect:
    """What is asked about an entity: `pool` names its value pool, `unit` follows a written
    quantity."""

    label: str
    description: str
    property_id: str
    pool: str
    questions: tuple[str, str, str]
    sentences: tuple[str, str, str]
    unit: str = ""


@dataclass(frozen=True)
class Domain:
    """A kind of entity: `type` stands in the long prompt, `subject` and `possessive` in later
    sentences."""

    name: str
    type: str
    subject: str
    possessive: str
    aspects: tuple[Aspect, ...]


def _parse(table: str) -> tuple[Domain, ...]:
    domains = []
    for section in table.split("# ")[1:]:
        head, *lines = section.splitlines()
        aspects = []
        for at in range(0, len(lines), 7):
            label, description, number, pool, *unit = lines[at].split(" = ")
            first, second, third, plain, owned, inverted = lines[at + 1 : at + 7]
            questions, sentences = (first, second, third), (plain, owned, inverted)
            aspects.append(
                Aspect(label, description, number, pool, questions, sentences, "".join(unit))
            )
        name, kind, subject, possessive = [*head.split(" = "), "", ""][:4]
        domains.append(Domain(name, kind, subject, possessive, tuple(aspects)))
    return tuple(domains)


DOMAINS = _parse(TABLE)
DOMAIN = {domain.name: domain for domain in DOMAINS}


def listing(items: Sequence[str]) -> str:
    """`a, b and c`."""
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]


def long_prompt(domain: Domain, entity: str, aspects: Sequence[Aspect], form: int = 0) -> str:
    """Form 0 is what the data use; the descriptions stand in the order of the questions."""
    return LONG_PROMPTS[form].format(
        t=domain.type, e=entity, list=listing([a.description for a in aspects])
    )


@dataclass(frozen=True)
class Voice:
    """How an entity is referred to: by name where it is the first sentence, else by pronoun."""

    subject: str
    possessive: str

    def fill(self, template: str, **fields: str) -> str:
        """The template with subject, possessive and the given fields, as a sentence with a
        capital letter."""
        lower = {"s": lowered(self.subject), "p": lowered(self.possessive)}
        text = template.format(S=self.subject, P=self.possessive, **lower, **fields)
        return text[0].upper() + text[1:]


def lowered(text: str) -> str:
    """A subject or possessive as it stands inside a sentence: names keep their case."""
    return (
        text[0].lower() + text[1:]
        if text.split(" ")[0] in {"The", "Its", "She", "He", "Her", "His"}
        else text
    )


def voice(domain: Domain, entity: str, feminine: bool, first: bool) -> Voice:
    """The first mention is the name."""
    if first:
        return Voice(entity, f"{entity}'s")
    if domain.subject:
        return Voice(domain.subject, domain.possessive)
    return Voice("She", "Her") if feminine else Voice("He", "His")
