"""Questions give nothing away, twins know nothing of their originals, and mistakes are told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sayso import cli
from sayso.datasets import load_dataset
from sayso.wikidata.aspects import AspectReview, ReviewedAspect, read_review, write_aspects
from sayso.wikidata.excerpt import Excerpt
from sayso.wikidata.plan import Domain, DomainPlan
from sayso.wikidata.questions import invented
from sayso.wikidata.templates import load_templates, texts, wrong_question
from support.wikidata_world import (
    DOMAINS,
    FIRST,
    WORDS,
    amount,
    dump,
    entity,
    item,
    statement,
    when,
)


def place(id: str, name: str, *statements: dict[str, object], **more: object) -> dict[str, object]:
    return entity(id, name, item("P31", "Q515"), *statements, **more)


def build(
    folder: Path, rows: list[dict[str, object]] | None, *flags: str, plan: str = ""
) -> dict[str, dict[str, list[Any]]]:
    """Build cities; return split -> entity -> [(question, golds and aliases)]."""
    (folder / "d.yaml").write_text(plan or "domains: {cities: {classes: [Q515], least: 1}}")
    (folder / "dump-20240401.json").write_bytes(dump(rows))
    words = ["build", str(folder / "dump-20240401.json"), "--domains", str(folder / "d.yaml")]
    assert cli.execute([*words, "--out", str(folder / "out"), "--no-review", *flags]) == 0
    made: dict[str, dict[str, list[Any]]] = {}
    for split in ("questions", "twins"):
        file = folder / "out" / f"{split}.jsonl"
        for line in file.read_text().splitlines() if file.exists() else ():
            record = json.loads(line)
            parts = made.setdefault(split, {}).setdefault(record["entity"], [])
            for part in record["individual_qa"]:
                golds = [(g["value"], *g.get("aliases", ())) for g in part["answer"]]
                parts.append((part["question"], golds))
    return made


def test_a_name_that_tells_the_year_costs_the_aspect(tmp_path: Path) -> None:
    rows = [
        place("Q1", "Ro", when("P571", "1916-01-01"), amount("P2046", "+9"),
              description="town (1916-1918)"),
        place("Q2", "Ro", when("P571", "1800-01-01"), amount("P2046", "+7"), description="port"),
    ]  # fmt: skip
    made = build(tmp_path, rows)["questions"]
    assert sorted(q for q, _ in made["Ro (port)"]) == [
        "How large is the area of Ro (port)?",
        "When was Ro (port) founded or created?",
    ]
    (only,) = made["Ro (town (1916-1918))"]
    assert only[0].startswith("How large")
    card = json.loads((tmp_path / "out" / "card.json").read_text())
    assert card["left"]["facts (the question contains the gold)"] == 1


def test_aliases_that_repeat_the_question_are_dropped_and_those_in_a_name_give_it_away(
    tmp_path: Path,
) -> None:
    rows = [
        place("Q1", "Ruria", item("P36", "Q10"), item("P38", "Q11"), amount("P2046", "+9")),
        entity("Q10", "Ostia", aliases=["capital of Ruria", "Osty"]),
        entity("Q11", "denar", aliases=["Ruria"]),
    ]
    made = build(tmp_path, rows)["questions"]["Ruria"]
    assert ("What is the capital of Ruria?", [("Ostia", "Osty")]) in made
    assert not any("currency" in question for question, _ in made)


def test_twins_hold_no_name_of_their_originals(tmp_path: Path) -> None:
    rows = [
        place("Q1", "Microsoft", item("P355", "Q10"), item("P112", "Q11"), amount("P2046", "+9")),
        place("Q2", "Kelpworks", item("P355", "Q11"), amount("P2046", "+7")),
        place("Q3", "Ambersons", item("P355", "Q11"), amount("P2046", "+7")),
        entity("Q10", "Microsoft (France)"),
        entity("Q11", "Ilva", aliases=["the founder of Microsoft"]),
    ]
    made = build(tmp_path, rows, "--twins", "9")
    assert len(made["questions"]["Microsoft"]) == 3
    assert len(made["twins"]) == 3
    assert set(made["twins"]).isdisjoint(made["questions"])
    twins = [json.loads(line) for line in (tmp_path / "out" / "twins.jsonl").open()]
    (twin,) = (row for row in twins if row["twin_of"] == "Microsoft")
    assert "Microsoft" not in json.dumps(twin["individual_qa"])
    assert len(twin["individual_qa"]) == 1


def test_a_short_name_is_put_in_where_the_name_stands_and_nowhere_else(tmp_path: Path) -> None:
    # "When was Wa founded or created?" holds no other "Wa", but "was" begins like one
    rows = [
        place("Q1", "When", amount("P2046", "+9"), when("P571", "1901-01-01")),
        place("Q2", "Kelpworks", amount("P2046", "+7")),
        place("Q3", "Ambersons", amount("P2046", "+7")),
    ]
    made = build(tmp_path, rows, "--twins", "9")
    twins = [json.loads(line) for line in (tmp_path / "out" / "twins.jsonl").open()]
    (twin,) = (row for row in twins if row["twin_of"] == "When")
    assert sorted(p["question"] for p in twin["individual_qa"]) == [
        f"How large is the area of {twin['entity']}?",
        f"When was {twin['entity']} founded or created?",
    ]
    assert len(made["questions"]) == 3


@given(
    st.lists(st.sampled_from([*(w.title() for w in WORDS), *FIRST, "of", "Bo"]), max_size=4),
    st.integers(0, 50),
)
def test_no_word_of_an_invented_name_is_a_real_one(words: list[str], seed: int) -> None:
    pool = [f"{f} {w.title()}son" for f, w in zip(FIRST, WORDS, strict=True)] + [" ".join(words)]
    name = invented(pool, " ".join(words), seed, set())
    long = [word for word in words if len(word) > 3]
    if name is None:
        return
    assert long
    assert len(name.split()) == len(words)
    real = {word for one in pool for word in one.split() if len(word) > 3}
    assert real.isdisjoint(name.split())


def test_a_name_keeps_its_first_letter_behind_a_day() -> None:
    form = texts(load_templates(), "en")
    asked = form.question("{entity} has how many?", "McBain", "x", "2019")
    assert asked == "As of 2019, McBain has how many?"
    assert form.question("", "McBain", "age", "2019") == "As of 2019, what is the age of McBain?"
    dated = form.question("", "McBain", "age", "2019-06", "How old was {entity} in {day}?")
    assert dated == "How old was McBain in June 2019?"


def test_a_users_question_is_not_answered_by_our_dated_one(tmp_path: Path) -> None:
    file = tmp_path / "t.yaml"
    file.write_text("languages: {en: {properties: {P1082: {question: 'Population of {entity}?'}}}}")
    wording = load_templates(file).wording("en", "cities", "P1082")
    assert (wording.question, wording.dated) == ("Population of {entity}?", "")
    assert wording.description == "population"


def test_the_table_that_ships_is_sound() -> None:
    for code, language in load_templates().languages.items():
        rows = {**language.properties}
        for own in language.domains.values():
            rows.update(own)
        assert len(language.properties) > 40, code
        names = [wording.description for wording in language.properties.values()]
        assert len(set(names)) == len(names), code
        for property, wording in rows.items():
            assert wrong_question(wording.question, wording.dated) is None, (code, property)
            assert wording.question.endswith("?"), (code, property)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "among the 0 entities that were read"),
        (b"hello\nworld\n", "the first of 2 problems: dump.json line 1 is not a JSON object"),
        (dump(), "expected cities: instance of Q999999 (and subclasses), P17 among Q1)"),
    ],
)
def test_a_source_without_an_entity_is_told_before_a_review(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], data: bytes, told: str
) -> None:
    (tmp_path / "dump.json").write_bytes(data)
    (tmp_path / "d.yaml").write_text("domains: {cities: {classes: [Q999999], where: {P17: [Q1]}}}")
    words = ["build", str(tmp_path / "dump.json"), "--domains", str(tmp_path / "d.yaml")]
    assert cli.execute([*words, "--out", str(tmp_path / "out")]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "out" / "aspects.yaml").exists()


def test_a_domain_without_an_entity_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [place("Q1", "Ro", amount("P2046", "+9"))]
    plan = "domains: {cities: {classes: [Q515], least: 1}, lakes: {classes: [Q23397]}}"
    build(tmp_path, rows, plan=plan)
    told = capsys.readouterr()
    assert "note: lakes: no entity was found (instance of Q23397 (and subclasses))" in told.err
    assert "lakes (main): 0 entities" in told.out


def test_nothing_to_ask_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "dump.json").write_bytes(
        dump([place("Q1", "Ro", statement("P9999", "string", "x"), item("P8888", "Q2"))])
    )
    (tmp_path / "d.yaml").write_text("domains: {cities: {classes: [Q515]}}")
    words = ["build", str(tmp_path / "dump.json"), "--domains", str(tmp_path / "d.yaml")]
    assert cli.execute([*words, "--out", str(tmp_path / "out"), "--no-review"]) == 2
    error = capsys.readouterr().err
    assert "cities: 1 entities, 0 aspects kept; of others: its name is not known (2)" in error


def test_a_deleted_review_is_proposed_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dump.json").write_bytes(dump())
    (tmp_path / "d.yaml").write_text(DOMAINS)
    out = tmp_path / "out"
    words = ["build", str(tmp_path / "dump.json"), "--domains", str(tmp_path / "d.yaml")]
    assert cli.execute([*words, "--out", str(out)]) == 0
    first = (out / "aspects.yaml").read_bytes()
    (out / "aspects.yaml").unlink()
    assert cli.execute(["build", str(out)]) == 0
    assert (out / "aspects.yaml").read_bytes() == first
    assert "review it" in capsys.readouterr().out
    assert not (out / "questions.jsonl").exists()


@pytest.mark.parametrize(
    ("flag", "value"), [("--languages", "de"), ("--seed", "3"), ("--workers", "2"), ("--out", "x")]
)
def test_what_is_for_a_source_is_refused_for_a_built_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flag: str, value: str
) -> None:
    build(tmp_path, None, plan=DOMAINS)
    assert cli.execute(["build", str(tmp_path / "out"), flag, value]) == 2
    assert f"{flag} applies only to a dump or a service" in capsys.readouterr().err


def test_a_review_of_another_plan_is_refused_before_the_source_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build(tmp_path, None, plan=DOMAINS)
    (tmp_path / "other.yaml").write_text("domains: {cats: {classes: [Q146]}}")
    words = ["build", str(tmp_path / "dump-20240401.json"), "--out", str(tmp_path / "out")]
    before = sorted((tmp_path / "out" / "scan").rglob("*"))
    assert cli.execute([*words, "--domains", str(tmp_path / "other.yaml")]) == 2
    assert "there is no domain 'films' (there are cats)" in capsys.readouterr().err
    assert cli.execute([*words, "--domains", str(tmp_path / "d.yaml"), "--languages", "de"]) == 2
    assert "the questions there are in 'en' and 'de' is asked for" in capsys.readouterr().err
    assert sorted((tmp_path / "out" / "scan").rglob("*")) == before


def test_a_users_table_holds_for_the_second_step_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [place("Q1", "Ro", amount("P2046", "+9"), item("P36", "Q10", end="1990-01-01"),
                  item("P36", "Q11")), entity("Q10", "Old"), entity("Q11", "New")]  # fmt: skip
    (tmp_path / "t.yaml").write_text("ever: [P36]")
    (tmp_path / "dump.json").write_bytes(dump(rows))
    (tmp_path / "d.yaml").write_text("domains: {cities: {classes: [Q515], least: 1}}")
    words = ["build", str(tmp_path / "dump.json"), "--domains", str(tmp_path / "d.yaml")]
    table = ["--templates", str(tmp_path / "t.yaml")]
    assert cli.execute([*words, "--out", str(tmp_path / "out"), *table]) == 0
    assert cli.execute(["build", str(tmp_path / "out"), "--questions", "builtin"]) == 0
    made = (tmp_path / "out" / "questions.jsonl").read_text()
    assert [name in made for name in ("Old", "New")] == [True, True]
    assert "builtin writes none; delete the file for new ones" in capsys.readouterr().err


@given(st.text(max_size=8), st.text(max_size=8))
def test_any_name_survives_the_review_file(tmp_path_factory: Any, name: str, label: str) -> None:
    folder = tmp_path_factory.mktemp("review")
    found = Excerpt(
        source="x", plan=DomainPlan({name: Domain(("Q5",))}), seed=0, entities={},
        population={name: [3]}, properties={name: {"P1": 3}}, kinds={}, names={}, namesakes={},
    )  # fmt: skip
    question = f"{label.replace('{', '').replace('}', '')} {{entity}}?"
    row = ReviewedAspect(True, 3, description=f"x{label}", question=question)
    write_aspects(folder, found, AspectReview({name: {"P1": row}}, language="en"))
    assert read_review(folder, found).domains == {name: {"P1": row}}


def test_the_review_file_reads_well_in_other_languages(tmp_path: Path) -> None:
    rows = [place("Q1", "Ro", when("P571", "1901-01-01"))]
    rows[0]["labels"] = {"de": {"value": "Ro"}}
    plan = "languages: [de]\ndomains: {Städte 🏙: {classes: [Q515], least: 1}}"
    build(tmp_path, rows, plan=plan)
    review = (tmp_path / "out" / "aspects.yaml").read_text(encoding="utf-8")
    assert '"Städte 🏙":' in review
    assert 'description: "Gründung"' in review


def test_what_a_person_keeps_is_asked_though_it_was_not_proposed(tmp_path: Path) -> None:
    rows = [place("Q1", "Ro", amount("P2046", "+9"), item("P31", "Q515"),
                  statement("P281", "string", "4711"))]  # fmt: skip
    build(tmp_path, rows)
    out = tmp_path / "out"
    review = yaml.safe_load((out / "aspects.yaml").read_text())
    own = review["domains"]["cities"]["P281"]
    assert own["why"] == "its name is not known"
    own.update(keep=True, description="postal code")  # the plain question does
    (out / "aspects.yaml").write_text(yaml.safe_dump(review, sort_keys=False))
    assert cli.execute(["build", str(out)]) == 0
    (record,) = (json.loads(line) for line in (out / "questions.jsonl").open())
    asked = {part["question"]: part["answer"] for part in record["individual_qa"]}
    assert asked["What is the postal code of Ro?"] == [{"value": "4711"}]


def test_the_card_counts_what_the_files_hold(tmp_path: Path) -> None:
    build(tmp_path, None, plan=DOMAINS)
    card = json.loads((tmp_path / "out" / "card.json").read_text())
    for row in card["counts"]:
        name = "questions" if row["split"] == "main" else row["split"]
        file = tmp_path / "out" / f"{name}.jsonl"
        rows = [json.loads(line) for line in file.open()] if file.exists() else []
        own = [one for one in rows if one["domain"] == row["domain"]]
        parts = [part for one in own for part in one["individual_qa"]]
        assert row["prompts"] == len(own)
        assert row["entities"] == len({one["entity"] for one in own})
        assert row["aspects"] == len(parts)
        assert row["golds"] == sum(len(part["answer"]) for part in parts)


def many_aspects() -> list[dict[str, object]]:
    """Cities with seven facts each, and one with two."""
    names = ("Kelpworks", "Ambersons", "Irisford", "Larkmoor", "Nettlegate", "Duneholm")
    rows = [
        place(
            f"Q{n}", name, when("P571", f"19{n}0-01-01"), amount("P2046", f"+{n}"),
            item("P36", "Q90"), item("P38", "Q91"), amount("P1082", f"+{n}00"), item("P37", "Q92"),
            item("P6", "Q93"), item("P138", "Q93"),
        )
        for n, name in enumerate(names, 1)
    ]  # fmt: skip
    rows.append(place("Q9", "Emberlund", amount("P2046", "+9"), when("P571", "1901-01-01")))
    return [*rows, *(entity(f"Q{90 + n}", name) for n, name in enumerate(FIRST[:4]))]


def prompts_of(folder: Path) -> dict[str, list[list[str]]]:
    """Entity -> the properties that each of its prompts asks for."""
    made: dict[str, list[list[str]]] = {}
    for line in (folder / "out" / "questions.jsonl").read_text().splitlines():
        record = json.loads(line)
        asked = [part["property_id"] for part in record["individual_qa"]]
        made.setdefault(record["entity"], []).append(asked)
    return made


CITIES = "domains: {cities: {classes: [Q515], type: city, least: 2}}"


def test_several_prompts_an_entity_cover_every_aspect_once(tmp_path: Path) -> None:
    for name in ("one", "three", "again"):
        (tmp_path / name).mkdir()
    build(tmp_path / "one", many_aspects(), plan=CITIES)
    build(tmp_path / "three", many_aspects(), "--prompts", "3", plan=CITIES)
    one, three = prompts_of(tmp_path / "one"), prompts_of(tmp_path / "three")
    assert all(len(prompts) == 1 for prompts in one.values())
    assert len(one["Kelpworks"][0]) == 7
    for name, prompts in three.items():
        (whole,) = one[name]
        assert sorted(p for prompt in prompts for p in prompt) == sorted(whole)
        # 7 aspects in three prompts of 2, 2 and 3; two aspects, of which a prompt needs two: one
        assert sorted(map(len, prompts)) == ([2] if name == "Emberlund" else [2, 2, 3])
        assert all(prompt == [p for p in whole if p in prompt] for prompt in prompts)
    # which aspects stand together differs from entity to entity
    drawn = {tuple(map(tuple, prompts)) for name, prompts in three.items() if name != "Emberlund"}
    assert len(drawn) > 1
    card = json.loads((tmp_path / "three" / "out" / "card.json").read_text())
    assert card["prompts"] == 3
    (main,) = (row for row in card["counts"] if row["split"] == "main")
    assert (main["entities"], main["prompts"], main["aspects"]) == (7, 19, 44)
    card_text = (tmp_path / "three" / "out" / "card.md").read_text()
    assert "at least 2 aspects each, in up to 3 prompts for each entity" in card_text
    build(tmp_path / "again", many_aspects(), "--prompts", "3", plan=CITIES)
    files = [tmp_path / name / "out" / "questions.jsonl" for name in ("three", "again")]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_the_number_of_prompts_belongs_to_the_second_step(tmp_path: Path) -> None:
    build(tmp_path, many_aspects(), plan=CITIES)
    assert cli.execute(["build", str(tmp_path / "out"), "--prompts", "3", "--no-review"]) == 0
    assert len(prompts_of(tmp_path)["Kelpworks"]) == 3
    data = load_dataset(str(tmp_path / "out" / "questions.jsonl"))
    assert len(data.long) == 19
    assert len(data.short) == 44
    assert cli.execute(["build", str(tmp_path / "out"), "--prompts", "0", "--no-review"]) == 2
