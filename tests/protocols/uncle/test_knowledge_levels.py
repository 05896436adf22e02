"""SliCK's levels of knowledge: few-shot prompts, their answers counted by hand, levels by form."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import sayso
from sayso.metrics.uncle_known import SLICK_LEVELS, slick_levels
from sayso.protocols import uncle
from sayso.protocols.probes import SHOTS, SLICK_SAMPLES, count_right, few_shot_prompts
from sayso.protocols.settings import replace
from sayso.records import (
    Aspect,
    Estimate,
    Generation,
    Gold,
    InputError,
    Question,
    Request,
    ask,
    signature_text,
    slice_of,
)
from sayso.runs.result import Result
from support.told_world import aspect_of, run_told

LEVELS = {name: code for code, name in enumerate(SLICK_LEVELS)}


def question(entity: str, gold: Gold | None = None, relation: str = "born") -> Question:
    return Question(
        id=f"{relation}-{entity}",
        dataset="d",
        text=f"When was {entity} {relation}?",
        golds=(gold or Gold(f"value of {entity}"),),
        entity=entity,
        domain="people",
        aspect=Aspect(relation, relation, relation),
    )


def test_levels_by_hand() -> None:
    """Gekhman et al. 2024, section 3, of ten prompts and 160 samples."""
    cases = [
        # greedy right, read, sampled right, read -> level
        (10, 10, 0, 160, "highly_known"),
        (9, 10, 160, 160, "maybe_known"),
        (1, 10, 0, 160, "maybe_known"),
        (0, 10, 1, 160, "weakly_known"),
        (0, 10, 0, 160, "unknown"),
        (9, 9, 160, 160, None),  # the tenth may be right or wrong
        (1, 2, 0, 0, "maybe_known"),  # whatever the rest says
        (0, 9, 3, 160, None),  # known maybe, or weakly
        (0, 10, 1, 5, "weakly_known"),
        (0, 10, 0, 159, None),
        (0, 0, 0, 0, None),
    ]
    columns = [np.array(column) for column in zip(*(case[:4] for case in cases), strict=True)]
    found = slick_levels(columns[0], columns[1], 10, columns[2], columns[3], 160)
    assert [SLICK_LEVELS[c] if c >= 0 else None for c in found] == [case[4] for case in cases]
    assert slick_levels([0], [0], 0, [0], [0], 0).tolist() == [-1]
    assert slick_levels([], [], 10, [], [], 160).tolist() == []


def test_exemplars_are_of_the_same_relation_and_other_entities() -> None:
    people = [question(f"P{n}") for n in range(6)]
    others = [question(f"P{n}", relation="married") for n in range(6)]
    prompts = few_shot_prompts([*people, *others], 10, seed=3)
    assert set(prompts) == {q.id for q in (*people, *others)}
    for target in people:
        texts = prompts[target.id]
        assert len(set(texts)) == 10
        for text in texts:
            *shown, last = text.split("\n\n")
            assert last == f"Question: {target.text}\nAnswer:"
            assert len(shown) == SHOTS == len(set(shown))
            for block in shown:
                made = re.fullmatch(r"Question: When was (P\d) born\?\nAnswer: value of \1", block)
                assert made is not None
                assert made[1] != target.entity
    assert prompts == few_shot_prompts([*people, *others], 10, seed=3)
    assert prompts != few_shot_prompts([*people, *others], 10, seed=4)


def test_too_few_entities_give_no_prompts_and_four_give_all_that_are_asked() -> None:
    assert few_shot_prompts([question(f"P{n}") for n in range(4)], 10, 0) == {}
    twice = [question("P1"), msgspec.structs.replace(question("P1"), id="x")]
    assert few_shot_prompts([*(question(f"P{n}") for n in range(4)), *twice], 10, 0) == {}
    five = few_shot_prompts([question(f"P{n}") for n in range(5)], 24, 0)
    assert all(len(set(texts)) == 24 for texts in five.values())  # each order of four


def test_exemplars_state_their_golds_as_far_as_they_are_meant() -> None:
    golds = [
        Gold("1815-12-10T00:00:00Z", kind="date"),
        Gold("1815-01-01T00:00:00Z", kind="date"),
        Gold("1815-03-01T00:00:00Z", kind="date", precision="month"),
        Gold("20.5", kind="quantity", unit="km"),
    ]
    known = [question(f"P{n}", gold) for n, gold in enumerate(golds)]
    (text,) = few_shot_prompts([*known, question("P9")], 1, 0)["born-P9"]
    answers = re.findall(r"^Answer: (.+)$", text, flags=re.MULTILINE)
    assert sorted(answers) == ["1815", "1815-03", "1815-12-10", "20.5 km"]


def test_answers_are_counted_by_the_offline_matcher() -> None:
    asked = question("P1", Gold("London"))
    greedy, hot = ask("?", temperature=0.0), ask("?", temperature=0.5)

    def answer(request: Request, text: str, problem: str | None = None) -> Generation:
        return Generation(request, question=asked.id, text=text, problem=problem)

    answers = [
        answer(greedy, "London"),
        answer(greedy, "Paris"),
        answer(hot, "It was London."),
        answer(hot, "", "failed"),
    ]
    assert count_right([asked], answers)[asked.id] == (1, 2, 1, 1, 4)
    assert count_right([asked], [])[asked.id] == (0, 0, 0, 0, 0)


def test_all_of_it_is_asked_only_where_wanted_and_never_of_a_judge() -> None:
    people = [question(f"P{n}") for n in range(6)]
    off = uncle.collect.requests(people, uncle.Settings(), seed=0)
    assert not [a for a in off if a.stage == "slick"]
    on = replace(uncle.Settings(), {"probe.slick": 10})
    asks = [a for a in uncle.collect.requests(people, on, seed=0) if a.stage == "slick"]
    assert len(asks) == 6 * 10 * (1 + SLICK_SAMPLES)
    assert len({sayso.records.request_key(a.request, "m") for a in asks}) == len(asks)
    assert {a.request.temperature for a in asks} == {0.0, 0.5}
    assert {a.request.stop for a in asks} == {("\nQuestion:",)}
    assert not any(uncle.UNCLE.is_judged(a, on) for a in asks)
    assert uncle.UNCLE.is_judged(off[0], on)
    with pytest.raises(InputError, match=r"probe.slick is 25; expected 0 to 24"):
        uncle.settings.check(replace(uncle.Settings(), {"probe.slick": 25}))


# ---- a run


def value(result: Result, name: str, **where: str) -> Estimate:
    (found,) = (e for e in result.estimates if e.name == name and e.where == slice_of(**where))
    return found


def levels_run(folder: Path, **fields: Any) -> Result:
    """Six entities with one fact each: e0 highly, e1 maybe, e2 weakly known, e3, e4, e5 unknown.

    Told to doubt, it hedges e2, e3 and e4. Every gold is "x".
    """

    def reply(request: Request) -> str:
        text = request.messages[0].content
        if "\nAnswer:" not in text:
            told = "ncertainty" in text
            entity = int(re.findall(r"\b[eq](\d)\.", text)[0])
            return "u" if told and entity in (2, 3, 4) else "c"
        entity = int(re.findall(r"q(\d)\.", text)[-1])
        if request.greedy:  # of the prompts that show e5 first, or of all of them
            return "x" if entity == 0 or (entity == 1 and "q5." in text.split("?")[0]) else "y"
        return "x" if entity == 2 and request.sample == 7 else "y"

    return run_told(folder, reply, 1, entities=6, **fields)


def test_a_run_by_hand(tmp_path: Path) -> None:
    result = levels_run(tmp_path, **{"probe.slick": 10})
    shares = {"highly_known": 1, "maybe_known": 1, "weakly_known": 1, "unknown": 3}
    for level, count in shares.items():
        share = value(result, "level_share", level=level)
        assert (share.numerator, share.denominator, share.missing) == (count, 6, 0)
        for form in ("short", "long"):
            hedged = value(result, "UUR", form=form, level=level)
            told = value(result, "KCR", form=form, level=level)
            expected = {"weakly_known": 1.0, "unknown": 2 / 3}.get(level, 0.0)
            assert hedged.value == pytest.approx(expected)
            assert told.value == pytest.approx(1 - expected)
            assert hedged.denominator == count
    assert value(result, "no_exemplars").value == 0
    assert "|slick:10x4shot+16@T0.5|" in signature_text(value(result, "J", form="short").signature)
    (tmp_path / "off").mkdir()
    assert not [e for e in levels_run(tmp_path / "off").estimates if "level" in dict(e.where)]
    again = sayso.measure(result.path)
    assert [e for e in again.estimates if "level" in dict(e.where)] == [
        e for e in result.estimates if "level" in dict(e.where)
    ]


def test_what_has_no_exemplars_is_said(tmp_path: Path) -> None:
    def reply(request: Request) -> str:
        aspect = aspect_of(request.messages[0].content)
        return "ccc" if aspect is None else "c"

    result = run_told(tmp_path, reply, 3, **{"probe.slick": 10})  # one entity
    found = value(result, "no_exemplars")
    assert found.value == 1
    assert "fewer than 4 other entities have a fact of its type" in str(found.problem)
    assert value(result, "level_share", level="unknown").value is None
    assert any("3 of 3 questions get no few-shot prompt" in n for n in result.manifest.notices)


def test_a_trained_models_levels_are_the_base_models(tmp_path: Path) -> None:
    base = levels_run(tmp_path, **{"probe.slick": 10})
    (tmp_path / "b").mkdir()
    taught = levels_run(tmp_path / "b", **{"probe.slick": 10, "known_from": str(base.path)})
    assert value(taught, "level_share", level="unknown").numerator == 3
    (tmp_path / "c").mkdir()
    with pytest.raises(InputError, match="it has 10 few-shot prompts per question, not 5"):
        levels_run(tmp_path / "c", **{"probe.slick": 5, "known_from": str(base.path)})
