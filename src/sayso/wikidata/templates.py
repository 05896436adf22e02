"""The wording of questions: our table, a user's additions, a plain form for other properties."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import msgspec

from sayso.records import InputError
from sayso.wikidata.plan import ValueLines, parse_yaml_as, read_yaml_as

#: datatypes that no short answer fits, and why
UNASKABLE = {
    "external-id": "an identifier",
    "url": "an address on the web",
    "commonsMedia": "a picture or a sound",
    "geo-shape": "a shape on a map",
    "tabular-data": "a table",
    "globe-coordinate": "coordinates",
    "math": "a formula",
    "musical-notation": "music",
    "entity-schema": "a schema",
    "wikibase-property": "a property",
    "wikibase-lexeme": "a lexeme",
    "wikibase-form": "a lexeme",
    "wikibase-sense": "a lexeme",
}
#: times and quantities read alike in every language; in words only these are written
MONTHS_EN = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)


#: a place in a question that something is put into
_PLACE = re.compile(r"\{([^{}]*)\}")


class PropertyWording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How one property is named in a prompt, and asked for; "" leaves it to the plain form.

    ``dated`` is the question where the answer holds as of a day, for what the plain question says
    in the present tense.
    """

    description: str = ""
    question: str = ""
    dated: str = ""


class Language(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The plain forms of one language, and its wordings by property and by domain."""

    question: str = ""
    prompt: str = ""
    untyped: str = ""
    joint: str = msgspec.field(default="", name="and")
    dated_question: str = ""
    dated_aspect: str = ""
    properties: dict[str, PropertyWording] = {}
    domains: dict[str, dict[str, PropertyWording]] = {}


class Templates(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table: what is dropped, true only once, changing, names of units, and the languages.

    ``ever`` are properties whose question asks for what was true at any time.
    """

    drop: dict[str, str] = {}
    once: tuple[str, ...] = ()
    changing: tuple[str, ...] = ()
    ever: tuple[str, ...] = ()
    units: dict[str, str] = {}
    languages: dict[str, Language] = {}

    def dropped(self, property: str, kind: str) -> str | None:
        """Return why a property is not asked for, ``None`` where it may be."""
        return UNASKABLE.get(kind) or self.drop.get(property)

    def wording(self, language: str, domain: str, property: str) -> PropertyWording:
        """Return what the table says about a property in a domain, "" where it says nothing."""
        table = self.languages.get(language, Language())
        own = table.domains.get(domain, {}).get(property, PropertyWording())
        common = table.properties.get(property, PropertyWording())
        return PropertyWording(
            own.description or common.description,
            own.question or common.question,
            own.dated or ("" if own.question else common.dated),
        )


class LanguageTexts(NamedTuple):
    """Everything that is written in one language."""

    language: Language
    code: str = "en"

    def question(
        self, template: str, entity: str, aspect: str, day: str = "", dated: str = ""
    ) -> str:
        """Return a short question; with a day it says as of when, as ``dated`` has it."""
        form = template or self.language.question
        if day and not dated:
            outer = self.language.dated_question
            # the first letter of a name stays as it is
            inner = outer.startswith("{question}") or form.startswith("{")
            dated = filled_template(outer, question=form if inner else form[:1].lower() + form[1:])
        values = {"entity": entity, "aspect": aspect, "day": month_and_year(day, self.code)}
        return filled_template(dated if day else form, **values)

    def prompt(self, kind: str, entity: str, aspects: Iterable[tuple[str, str]]) -> str:
        """Return the prompt for a paragraph; aspects are (description, day or "")."""
        named = [
            filled_template(
                self.language.dated_aspect, aspect=aspect, day=month_and_year(day, self.code)
            )
            if day
            else aspect
            for aspect, day in aspects
        ]
        listed = ", ".join(named[:-1]) + self.language.joint + named[-1] if named[1:] else named[0]
        form = self.language.prompt if kind else self.language.untyped
        return filled_template(form, type=kind, entity=entity, aspects=listed)


def filled_template(template: str, **values: str) -> str:
    """Put values into {places}, each once: a value may itself hold braces."""
    for name in values:
        template = template.replace("{" + name + "}", f"\0{name}\0")
    for name, value in values.items():
        template = template.replace(f"\0{name}\0", value)
    return template


def month_and_year(day: str, code: str = "en") -> str:
    """Return month and year of 2019-04-02: "April 2019", or 2019-04 in other languages."""
    year, _, rest = day.partition("-")
    month = rest[:2]
    if not (month.isdecimal() and 0 < int(month) < 13):
        return year
    return f"{MONTHS_EN[int(month) - 1]} {year}" if code == "en" else f"{year}-{month}"


def load_templates(path: Path | None = None) -> Templates:
    """Return our table with a user's entries put over it. InputError for a wrong file."""
    hint = "expected languages: {en: {properties: {P19: {question: …}}}}"
    ours = _shipped_templates(hint)
    if path is None:
        return ours
    theirs, lines = read_yaml_as(path, Templates, hint)
    _check(theirs, lines)
    merged = _over(msgspec.to_builtins(ours), msgspec.to_builtins(theirs))
    return msgspec.convert(merged, Templates)


@functools.cache
def _shipped_templates(hint: str) -> Templates:
    text = resources.files(__package__).joinpath("templates.yaml").read_text("utf-8")
    return parse_yaml_as(text, "the table that ships with sayso", Templates, hint)[0]


def _over(below: object, above: object) -> object:
    """Put one table over another; what is empty above leaves what is below."""
    if isinstance(below, dict) and isinstance(above, dict):
        if "dated" in below and above.get("question") and not above.get("dated"):
            below = {**below, "dated": ""}  # it belongs to our question
        return {key: _over(below.get(key), above.get(key)) for key in {**below, **above}}
    if isinstance(below, list | tuple) and isinstance(above, list | tuple):
        return [*below, *above]
    return below if above in (None, "") else above


def _check(table: Templates, lines: ValueLines) -> None:
    for code, language in table.languages.items():
        places: list[tuple[tuple[str, ...], dict[str, PropertyWording]]]
        places = [(("properties",), language.properties)]
        places += [(("domains", name), rows) for name, rows in language.domains.items()]
        for keys, rows in places:
            for property, wording in rows.items():
                if fault := wrong_question(wording.question, wording.dated):
                    at = lines.at("languages", code, *keys, property)
                    raise InputError(f"{at}: {code} {property}: {fault}")


def wrong_question(question: str, dated: str = "") -> str | None:
    """Return what is wrong with the question of an aspect, ``None`` where nothing is."""
    for text, places in ((question, {"entity", "aspect"}), (dated, {"entity", "aspect", "day"})):
        if not text:
            continue
        named = set(_PLACE.findall(text))
        for other in sorted(named - places):
            return f"the question {text!r} has a placeholder {{{other}}} that is never filled"
        if "entity" not in named:
            return f"the question {text!r} does not name {{entity}}"
    if dated and "{day}" not in dated:
        return f"the question {dated!r} does not name {{day}}"
    return None


def texts(templates: Templates, language: str) -> LanguageTexts:
    """Return the texts of a language; one without plain forms is refused."""
    plain = templates.languages.get(language)
    if plain is None or not (plain.question and plain.prompt and plain.untyped and plain.joint):
        known = [code for code, one in templates.languages.items() if one.question]
        raise InputError(
            f"language {language!r}: the table has no question, prompt, untyped and 'and' for it "
            f"(it has them for {', '.join(known)}): give them with --templates FILE"
        )
    return LanguageTexts(plain, language)
