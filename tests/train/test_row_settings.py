"""Settings of training rows: the order of facts, evidence, and refusals."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import sayso
from sayso.protocols.uncle.prompts import instructions
from sayso.protocols.uncle.settings import Settings
from sayso.records import InputError, Verdict
from sayso.storage.run_folder import RunFolder
from sayso.train.base import Base, halves, open_base_run
from sayso.train.config import ROWS, RowSettings
from sayso.train.draws import draw_facts, facts_in
from sayso.train.recipes import RowSet, check_known_and_unknown, check_worded, make
from sayso.train.rows import Fact as Known
from support.scripted_world import Fact, Mind, chance, facts, records, write
from support.tables import tabled

QUICK = Settings(resamples=200)
SAID = instructions(QUICK)
BUILTIN = ROWS["builtin"]
PAPER = dataclasses.replace(BUILTIN, style="paper")


def half_known(fact: Fact) -> float:
    """A third is known surely, a third half the time, a third never."""
    return (0.0, 0.5, 1.0)[int(3 * chance("knows", fact.question))]


def wrong(fact: Fact, draw_: object) -> str:
    return f"Zz{chance('wrong', fact.question, draw_):.6f}".replace(".", "q")


@pytest.fixture(scope="module")
def world() -> list[Fact]:
    return facts(60)


@pytest.fixture(scope="module")
def base(world: list[Fact], tmp_path_factory: pytest.TempPathFactory) -> Base:
    place = tmp_path_factory.mktemp("base")
    file = write(place / "mine.jsonl", records(world))
    engine = Mind(world, half_known, guess=wrong).engine("base")  # type: ignore[arg-type]
    sayso.run(
        "uncle", model=engine, data=str(file), out=place / "run", limit=20,
        cache=place / "cache", options=QUICK, report=False,
        command=f"sayso run uncle --data {file}",
    )  # fmt: skip
    return open_base_run(place / "run", model=engine, cache=place / "cache")


@pytest.fixture(scope="module")
def drawn(base: Base, tmp_path_factory: pytest.TempPathFactory) -> list[Known]:
    place = tmp_path_factory.mktemp("draws")
    return draw_facts(base, halves(base).trained, place / "d", paragraphs=1, evidence="auto")


def made(
    recipe: str, drawn: list[Known], settings: RowSettings, size: int = 400, seed: int = 0
) -> RowSet:
    return make(recipe, drawn, settings, SAID, (size, size), seed)  # type: ignore[arg-type]


@pytest.mark.parametrize("recipe", ["short", "long", "mix", "calibrated"])
@pytest.mark.parametrize("style", ["paper", "known"])
def test_the_order_of_facts_moves_no_row(recipe: str, style: str, drawn: list[Known]) -> None:
    settings = dataclasses.replace(BUILTIN, style=style)  # type: ignore[arg-type]
    expected = made(recipe, drawn, settings, 60)
    mixed = list(drawn)
    random.Random(1).shuffle(mixed)
    assert made(recipe, mixed, settings, 60) == expected
    for row in [*expected.sft, *expected.dpo]:
        assert row.chosen.strip()
        assert row.chosen != row.rejected


@tabled
def test_settings_that_would_be_left_unread_are_refused(
    recipe: str, changed: dict, said: str, drawn: list[Known]
) -> None:
    with pytest.raises(InputError, match=said):
        made(recipe, drawn, dataclasses.replace(BUILTIN, **changed))


def test_a_mix_that_is_smaller_than_asked_says_so(drawn: list[Known]) -> None:
    notes = made("mix", drawn, BUILTIN, 4000).notes
    (note,) = [n for n in notes if n.startswith("SFT: mix")]
    assert "of 4,000 rows, all that xi" in note
    assert [n.partition(":")[0] for n in notes].count("DPO") >= 1  # each note says of what it is
    assert not [n for n in made("mix", drawn, BUILTIN, 20).notes if "rows, all that" in n]


def test_evidence_labels_the_claims_of_every_paragraph(drawn: list[Known]) -> None:
    paragraphs = [p for f in drawn for p in f.paragraphs]
    assert len(paragraphs) == 80  # 40 entities, one at T=0 and one drawn
    claims = [c for p in paragraphs for c in p.claims]
    assert {c.label for c in claims} == {"S", "NS"}
    # as the judge, which knows the golds too, says of the same sentences
    agree = [
        c.label == ("S" if t.right else "NS")
        for p in paragraphs
        for t in p.mentions
        for c in p.claims
        if t.right is not None and t.value and t.value in c.text
    ]
    assert len(agree) > 150
    assert sum(agree) / len(agree) > 0.95
    found = made("long", drawn, dataclasses.replace(PAPER, veracity="evidence"))
    assert found.sft
    assert found.dpo
    assert any("uncle (evidence)" in note for note in found.notes)
    assert any("long: " in note and "of 400 rows, all there are" in note for note in found.notes)


def test_evidence_is_looked_for_once_and_added_to_draws_that_lack_it(
    base: Base, tmp_path: Path
) -> None:
    data = halves(base, train_limit=6).trained
    without = draw_facts(base, data, tmp_path / "d")
    assert not any(p.claims for f in without for p in f.paragraphs)
    folder = RunFolder.open(tmp_path / "d")
    asked = len(base.model.requests)
    found = draw_facts(base, data, tmp_path / "d", evidence="auto")
    assert any(p.claims for f in found for p in f.paragraphs)
    assert len(base.model.requests) == asked
    first = folder.read("verdicts/long-support", Verdict)
    assert draw_facts(base, data, tmp_path / "d", evidence="auto") == found == facts_in(folder)
    assert folder.read("verdicts/long-support", Verdict) == first
    assert any(n.startswith("knowledge golds") for n in folder.read_manifest().notices)


def right_in(hits: int, number: int) -> list[Any]:
    """Return so many short facts of which ``hits`` of ten draws were right."""
    return [SimpleNamespace(form="short", right=(True,) * hits + (False,) * (10 - hits))] * number


def test_too_few_known_facts_name_the_theta_that_would_do() -> None:
    facts = right_in(10, 3) + right_in(4, 9) + right_in(0, 20)
    with pytest.raises(InputError, match=r"only 3 of 32 .*, --theta 0\.4 \(12 known, 20 unknown\)"):
        check_known_and_unknown(facts, RowSettings(theta=1.0))
    assert check_known_and_unknown(facts, RowSettings(theta=0.4)) == (12, 20)
    with pytest.raises(InputError) as told:  # no theta makes ten of three known
        check_known_and_unknown(right_in(10, 3) + right_in(0, 20), RowSettings(theta=1.0))
    assert "--theta" not in str(told.value)
    with pytest.raises(InputError, match=r"only 3 of 32 .* are unknown.*--theta 0\.5 \("):
        check_known_and_unknown(
            right_in(10, 20) + right_in(4, 9) + right_in(0, 3), RowSettings(theta=0.1)
        )


def test_calibrated_rows_are_refused_by_their_wording_not_by_what_is_right() -> None:
    words = ["Paris", "I doubt it, but it could be Paris"]
    plain, hedged = ([SimpleNamespace(chosen=word)] * 12 for word in words)
    settings = RowSettings(plain_from=0.8)
    check_worded([*plain, *hedged], settings)  # type: ignore[list-item]
    few = r"only {} of {} rows {}: .* {} plain_from \(it is 0\.8\)"
    with pytest.raises(InputError, match=few.format(3, 15, "without a hedge", "a lower")):
        check_worded([*plain[:3], *hedged], settings)  # type: ignore[list-item]
    with pytest.raises(InputError, match=few.format(0, 12, "with one", "a higher")):
        check_worded(plain, settings)  # type: ignore[arg-type]
