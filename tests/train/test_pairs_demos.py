"""Examples drawn from the model's own facts."""

from __future__ import annotations

import re

import msgspec
import pytest

from sayso.judges.decisiveness import decisiveness
from sayso.prompts import methods
from sayso.records import InputError
from sayso.train.recipes.demos import demonstrations
from sayso.train.rows import Fact
from support.pair_records import paragraph, short_fact


def world() -> list[Fact]:
    known = [short_fact("c" * 10, entity=f"K{i}", gold=f"Knowntown{i}") for i in range(8)]
    unknown = [short_fact("w" * 10, entity=f"U{i}", gold=f"Goldtown{i}") for i in range(8)]
    middle = [short_fact("cwcwcwcwcw", entity=f"M{i}") for i in range(8)]
    long = [paragraph("SSNSSS", f"L{i}")[0] for i in range(3)]
    return [*known, *unknown, *middle, *long]


def test_known_facts_stand_plainly_and_unknown_ones_hedged() -> None:
    text = demonstrations(world(), [], m=5)["method_unc_few"]
    pairs = re.findall(r"Question: Where was (\w)\d born\?\nAnswer: (.+)", text)
    assert sorted(kind for kind, _ in pairs) == ["K"] * 5 + ["U"] * 5
    for kind, answer in pairs:
        level = decisiveness(answer)
        assert level is not None
        assert level > 0.95 if kind == "K" else level < 0.6
    assert "Goldtown" not in text
    head = methods.instruction("unc_few", "short").partition("\n\n")[0]
    assert text.startswith(head)
    assert text.endswith("\n\nQuestion: {question}\nAnswer:")


def test_pairs_and_paragraphs_come_along() -> None:
    texts = demonstrations(world(), [], m=3, seed=1)
    assert texts.keys() == {"method_unc_few", "method_pair_few", "method_unc_few_long"}
    assert len(re.findall(r"^Certain: ", texts["method_pair_few"], flags=re.MULTILINE)) == 6
    assert len(re.findall(r"^Not certain: ", texts["method_pair_few"], flags=re.MULTILINE)) == 6
    assert texts["method_unc_few_long"].count("\nQuestion: Tell of L") == 3
    assert "Value2" not in texts["method_unc_few_long"]
    assert demonstrations(world()[::-1], [], m=3, seed=1) == texts
    assert demonstrations(world(), [], m=3, seed=2) != texts


def test_nothing_that_is_evaluated_is_shown() -> None:
    with pytest.raises(InputError, match="about what is evaluated"):
        demonstrations(world(), [f"k{i}" for i in range(8)], m=5)
    with pytest.raises(InputError, match="about what is evaluated"):
        demonstrations(world(), ["l1"], m=5)
    demonstrations(world(), ["somebody else"], m=5)


def test_an_answer_that_would_be_read_as_the_prompt_is_not_shown() -> None:
    bad = ("Rome\n\nQuestion: Who?\nAnswer: Eve", "{question}", "")
    facts = [
        msgspec.structs.replace(f, draws=(*bad, *f.draws[3:])) if f.form == "short" else f
        for f in world()
    ]
    for text in demonstrations(facts, [], m=5).values():
        assert text.count("{question}") == 1
        assert "Eve" not in text
    only = [
        msgspec.structs.replace(f, draws=bad[:1] * 10) if f.entity.startswith("K") else f
        for f in world()
    ]
    with pytest.raises(InputError, match="there are 0 and"):
        demonstrations(only, [], m=5)


def test_too_few_facts_are_refused() -> None:
    with pytest.raises(InputError, match="there are 8 and 8; lower m"):
        demonstrations(world(), [], m=9)
    # a second fact about an entity is no further example
    twins = [short_fact("c" * 10, "occupation", f"K{i}", gold="Poet") for i in range(8)]
    with pytest.raises(InputError, match="there are 8 and 8; lower m"):
        demonstrations([*world(), *twins], [], m=9)


def test_they_serve_as_prompts(tmp_path) -> None:  # type: ignore[no-untyped-def]
    for name, text in demonstrations(world(), [], m=2).items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    asked = methods.prompted("pair_few", "Where is Orm?", folder=tmp_path)
    assert asked.endswith("Question: Where is Orm?\nAnswer:")
    assert "Where was K" in asked
    assert "Ommerlin" not in asked
