"""Questions that a model words are kept only where they lead back to their aspect."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sayso.records import InputError, Request
from sayso.wikidata.build import aspects_step
from sayso.wikidata.dump import read_dump
from sayso.wikidata.excerpt import Excerpt
from sayso.wikidata.plan import load_plan
from sayso.wikidata.questions import Worder
from sayso.wikidata.templates import Templates, load_templates, texts
from support.scripted import ScriptedEngine
from support.wikidata_world import DOMAINS, FIRST, WORDS, dump


@pytest.fixture
def excerpt(tmp_path: Path) -> Excerpt:
    (tmp_path / "d.yaml").write_text(DOMAINS)
    (tmp_path / "dump.json").write_bytes(dump())
    plan = load_plan(tmp_path / "d.yaml")
    return read_dump(tmp_path / "dump.json", plan, tmp_path / "work", load_templates())


class Model:
    """Words questions by aspect, and reads them by a word that each of them holds."""

    def __init__(self, questions: dict[str, str], read: dict[str, str]) -> None:
        self.questions, self.read = questions, read

    def __call__(self, request: Request) -> str:
        text = request.messages[-1].content
        if "Which one of these facts" in text:
            asked = text.split("\n")[2]
            options = dict(re.findall(r"(\d+)\. (.+)", text))
            numbers = {told: number for number, told in options.items()}
            for word, aspect in self.read.items():
                if word in asked:
                    return f"{numbers.get(aspect, 0)}."
            return "0"
        for aspect, question in self.questions.items():
            if f"namely: {aspect}." in text:
                return question
        return "I cannot do that."


def test_only_what_leads_back_is_kept(excerpt: Excerpt, tmp_path: Path) -> None:
    model = Model(
        {
            "director": "Whose film was {entity}?",
            "date of release": "In which year came {entity} out?",  # read as another aspect
            "length": "Is {entity} long, {entity}?",  # names it twice
            "date of birth": "When did {entity} come into the world? {x}",
        },
        {"Whose": "director", "year": "length", "world": "date of birth"},
    )
    worder = Worder(ScriptedEngine(model), excerpt, load_templates())
    aspects = aspects_step(tmp_path / "out", excerpt, load_templates(), worder)
    films, people = aspects.kept("films"), aspects.kept("people")
    assert films["P57"].question == "Whose film was {entity}?"
    assert films["P577"].question == "When was {entity} released?"
    assert films["P2047"].question == "How long does {entity} last?"
    assert people["P569"].question == "When was {entity} born?"
    assert people["P19"].question == "Where was {entity} born?"
    assert (worder.kept, worder.refused) == (1, 4)


def test_a_question_with_a_gold_in_it_is_refused(excerpt: Excerpt, tmp_path: Path) -> None:
    everybody = ", ".join(
        f"{first} {word.title()}son" for first, word in zip(FIRST, WORDS, strict=True)
    )
    model = Model({"director": f"Did {everybody} make {{entity}}?"}, {"Did": "director"})
    worder = Worder(ScriptedEngine(model), excerpt, load_templates())
    aspects = aspects_step(tmp_path / "out", excerpt, load_templates(), worder)
    assert aspects.kept("films")["P57"].question == "Who directed {entity}?"
    harmless = Model({"director": "Did somebody make {entity}?"}, {"Did": "director"})
    worder = Worder(ScriptedEngine(harmless), excerpt, load_templates())
    aspects = aspects_step(tmp_path / "other", excerpt, load_templates(), worder)
    assert aspects.kept("films")["P57"].question == "Did somebody make {entity}?"


def test_a_model_that_does_not_answer_is_not_called_wrong(excerpt: Excerpt, tmp_path: Path) -> None:
    worder = Worder(ScriptedEngine({}), excerpt, load_templates())
    aspects_step(tmp_path / "out", excerpt, load_templates(), worder)
    assert (worder.kept, worder.failed) == (0, 5)
    assert worder.failure.startswith("failed")


def test_a_users_table_lies_over_ours(tmp_path: Path) -> None:
    file = tmp_path / "t.yaml"
    file.write_text(
        "drop: {P57: boring}\nlanguages:\n  en:\n    properties:\n"
        "      P19: {question: 'Birthplace of {entity}?'}\n"
        "  xx: {question: '{entity} {aspect}?', prompt: '{type} {entity} {aspects}', "
        "untyped: '{entity} {aspects}', and: ' + '}\n"
    )
    table: Templates = load_templates(file)
    assert table.dropped("P57", "wikibase-item") == "boring"
    assert table.dropped("P31", "wikibase-item")
    wording = table.wording("en", "people", "P19")
    assert (wording.description, wording.question) == ("place of birth", "Birthplace of {entity}?")
    form = texts(table, "xx")
    german = texts(table, "de").question("", "Oslo", "Fläche", "2024-04-01")
    assert german == "Was ist bei Oslo die richtige Angabe zu „Fläche“? (Stand: 2024-04)"
    assert form.prompt("", "A", [("b", ""), ("c", "")]) == "A b + c"
    # what is put in may itself look like a place to fill
    assert form.question("", "{aspect}", "{entity}", "") == "{aspect} {entity}?"
    file.write_text("languages: {en: {properties: {P1: {question: Who}}}}")
    with pytest.raises(InputError, match="does not name"):
        load_templates(file)
    with pytest.raises(InputError, match="language 'yy'"):
        texts(table, "yy")
