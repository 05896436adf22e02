"""The invented world and its documents: deterministic, split as said, silent on unwritten facts."""

from __future__ import annotations

import hashlib
import json
from collections import Counter

import numpy as np
import pytest
from builtin_model import formats, templates
from builtin_model.documents import HEDGE, HEDGE_INSTRUCTED, Corpus, Document, Writer
from builtin_model.formats import FORMATS
from builtin_model.inversion import invert_paragraph, invert_short
from builtin_model.wording import DOMAINS, listing, long_prompt
from builtin_model.world import Entity, World, build, records

from sayso.prompts import load_prompt

RECORDS = "cca8b9419a1947b5e250899458621bef8fe1009fafd88d7aed4f9eab086c64da"


@pytest.fixture(scope="module")
def world() -> World:
    return build()


@pytest.fixture(scope="module")
def named(world: World) -> dict[str, Entity]:
    return {e.name: e for e in world.entities}


@pytest.fixture(scope="module")
def stream(world: World) -> list[Document]:
    corpus = Corpus(Writer(world, np.random.default_rng(3)), FORMATS)
    return [next(corpus) for _ in range(20_000)]


def test_the_world_is_a_function_of_its_seed(world: World) -> None:
    """A changed world would move every number: then the model must be made again."""
    text = "\n".join(records(world))
    assert hashlib.sha256(text.encode()).hexdigest() == RECORDS
    assert text != "\n".join(records(build(seed=22)))


def test_splits_are_disjoint_sized_and_spread_over_popularity(world: World) -> None:
    names = [e.name for e in world.entities]
    assert len(set(names)) == 800
    assert Counter(e.split for e in world.entities) == {"test": 400, "dev": 150, "train": 250}
    for domain in DOMAINS:
        for block in range(0, 160, 16):
            inside = [
                e.split
                for e in world.entities
                if e.domain == domain.name and block <= e.rank < block + 16
            ]
            assert Counter(inside) == {"test": 8, "dev": 3, "train": 5}


def test_records_follow_the_format_of_uncle(world: World) -> None:
    for line in records(world):
        record = json.loads(line)
        described = [q["description"] for q in record["individual_qa"]]
        assert record["prompt"].endswith(f"covering {listing(described)}.")
        assert record["prompt"].startswith("Write a paragraph about the ")
        assert len(described) == 6
        for question in record["individual_qa"]:
            assert record["entity"] in question["question"]
            assert question["answer"]
            assert all(isinstance(a, str) and a for a in question["answer"])
            assert question["property_id"].startswith("P")


def test_golds_exercise_a_judge(world: World) -> None:
    golds = [v.golds for e in world.entities for v in e.values]
    assert any(g[0].endswith("-01-01T00:00:00Z") for g in golds)  # year precision
    assert any("T00:00:00Z" in g[0] and "-01-01" not in g[0] for g in golds)  # days
    assert any(len(g) > 1 for g in golds)  # several true values
    assert any(g[0].isdigit() for g in golds)  # quantities without a unit


def test_a_fact_of_weight_zero_is_never_written(
    stream: list[Document], named: dict[str, Entity]
) -> None:
    unwritten = [
        (e.name, v.accepted)
        for e in named.values()
        for w, v in zip(e.weights, e.values, strict=True)
        if w == 0
    ]
    assert 0.22 < len(unwritten) / 4800 < 0.28
    for document in stream:
        for name, aspect in document.facts:
            assert named[name].weights[aspect] > 0
    for document in (d for d in stream[::4] if d.kind in {"short", "long"}):
        prompt, answer = document.turns[-2][1], document.turns[-1][1]
        for name in {n for n, _ in document.facts}:
            entity = named[name]
            if document.kind == "long":
                for reading, weight in zip(
                    invert_paragraph(entity.domain, name, answer), entity.weights, strict=True
                ):
                    assert weight > 0 or reading.stance == "omitted", (prompt, answer)


def test_extra_formats_are_about_train_entities_only(
    stream: list[Document], named: dict[str, Entity]
) -> None:
    plain = {"short", "long", "plain", "almanac"}
    others = [d for d in stream if d.kind not in plain]
    assert {d.kind for d in others} >= {"true_false", "choice", "few_shot", "passage", "revision"}
    for document in others:
        assert {named[n].split for n, _ in document.facts} <= {"train"}


def test_hedges_are_rare_and_more_frequent_under_the_instruction(stream: list[Document]) -> None:
    told = {True: [0, 0], False: [0, 0]}
    for document in stream:
        if document.kind == "short":
            prompt, answer = document.turns[0][1], document.turns[1][1]
            row = told[prompt.split("?")[1] != ""]
            row[0] += invert_short(answer).stance == "hedged"
            row[1] += 1
    # about 5,500 instructed and 8,000 plain answers: four standard errors
    assert abs(told[False][0] / told[False][1] - HEDGE) < 0.004
    assert abs(told[True][0] / told[True][1] - HEDGE_INSTRUCTED) < 0.0095
    assert 0.37 < told[True][1] / (told[True][1] + told[False][1]) < 0.43


def test_true_false_is_balanced_and_options_carry_no_answer(world: World) -> None:
    writer = Writer(world, np.random.default_rng(4))
    answers = Counter(formats.true_false(writer).turns[-1][1] for _ in range(3000))
    assert abs(answers["True"] / (answers["True"] + answers["False"]) - 0.5) < 0.06
    assert abs(answers["(A)"] / (answers["(A)"] + answers["(B)"]) - 0.5) < 0.06
    letters = Counter(formats.choice(writer).turns[-1][1].strip("()") for _ in range(3000))
    assert max(letters["A"], letters["B"], letters["C"]) < 1.25 * min(
        letters["A"], letters["B"], letters["C"]
    )
    assert letters["D"] > 300


def test_a_revision_keeps_the_other_sentences_word_for_word(
    world: World, named: dict[str, Entity]
) -> None:
    writer = Writer(world, np.random.default_rng(5))
    changed = 0
    for _ in range(200):
        document = formats.revision(writer)
        source = document.turns[-2 if "Draft: " in document.turns[-2][1] else -3][1]
        draft = source.split("Draft: ")[-1].split("\n")[0]
        entity = named[document.facts[0][0]]
        before = invert_paragraph(entity.domain, entity.name, draft)
        after = invert_paragraph(entity.domain, entity.name, document.turns[-1][1])
        for old, new in zip(before, after, strict=True):
            assert old.sentence == new.sentence or new.stance == "hedged"
            changed += old.sentence != new.sentence
    assert changed > 50


def test_paragraphs_invert_exactly(world: World) -> None:
    """Every sentence form and every hedge comes back as the aspect and value it was made from."""
    writer = Writer(world, np.random.default_rng(6))
    for entity in world.entities[::7]:
        for hedge in (0.0, 0.5):
            text = " ".join(writer.sentences(entity, range(6), hedge))
            for value, reading in zip(
                entity.values, invert_paragraph(entity.domain, entity.name, text), strict=True
            ):
                assert reading.stance == "committed" if hedge == 0 else reading.stance != "omitted"
                if reading.value is not None:
                    accepted = {a.casefold() for a in value.accepted}
                    assert reading.value.casefold() in accepted, (text, reading)
    entity = world.entities[0]
    assert [r.stance for r in invert_paragraph(entity.domain, entity.name, "")] == ["omitted"] * 6


def test_short_answers_invert_exactly() -> None:
    for hedge in templates.SHORT_HEDGES:
        reading = invert_short(hedge.format(v="Ripley"))
        assert reading.stance == "hedged"
        assert reading.value == ("Ripley" if "{v}" in hedge else None)
    assert invert_short("Ripley").stance == "committed"


def test_the_model_was_trained_on_the_instructions_that_sayso_sends() -> None:
    first = DOMAINS[0]
    assert long_prompt(first, "X", first.aspects[:2]) == (
        "Write a paragraph about the person X, covering date of birth and place of birth."
    )
    assert load_prompt("uncle_short_instruction") == templates.SHORT_INSTRUCTION
    assert load_prompt("uncle_long_instruction") == templates.LONG_INSTRUCTION
