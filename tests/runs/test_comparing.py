"""What ``compare`` lets pass, what it refuses, and what it says with the difference."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import sayso
from sayso.judges.judge import Item
from sayso.judges.rules.judge import RulesJudge
from sayso.protocols import uncle
from sayso.records import InputError, Verdict, slice_of
from sayso.runs.result import Result
from support.scripted_world import Mind, chance, facts, records, write
from support.tables import tabled

WORLD = facts(12)
MIND = Mind(WORLD, lambda f: 0.9 * (chance(f.question) < 0.6), hedges=lambda f, i: i)


READ: Any = {"stance": "abstained", "content": "none"}


class Blind:
    """A judge that can read no short answer, under the other's signature."""

    name, signature = "blind", RulesJudge().signature

    def grade(self, items: Sequence[Item]) -> list[Verdict]:
        return [
            Verdict(item.generation.id, question.id, "blind", **said)
            for item in items
            for question in item.questions
            for said in [READ if item.generation.form == "long" else {"problem": "unread"}]
        ]


class Some(Blind):
    """A judge that reads two answers of three as the rules do, and cannot read the third."""

    def grade(self, items: Sequence[Item]) -> list[Verdict]:
        read = RulesJudge(1).grade(items)
        lost = [Verdict(one.target, one.asked, one.by, problem="unread") for one in read]
        return [lost[n] if n % 3 == 0 else one for n, one in enumerate(read)]


def run(folder: Path, name: str, model: str = "base", **options: Any) -> Result:
    """Run the small world; ``options`` are settings or arguments of ``sayso.run``."""
    arguments = {key: options.pop(key) for key in ("limit", "judge") if key in options}
    return sayso.run(
        report=False,
        model=MIND.engine(model),
        data=str(write(folder / "q.jsonl", records(WORLD))),
        out=folder / name,
        cache=folder / "cache",
        options=uncle.Settings(resamples=100, **options),
        **arguments,
    )


def test_runs_of_one_base_model_are_compared_on_what_both_asked(tmp_path: Path) -> None:
    """A base run of all entities and a taught one of some, with its probes, belong together."""
    base = run(tmp_path, "a")
    part = run(tmp_path, "b", limit=6, known_from=str(base.path))
    found = sayso.compare(base.path, part.path, resamples=100)
    assert any("18 of 36 facts are in both runs" in note for note in found.notes)
    assert {e.value for e in found.estimates if e.name == "KCR"} == {0.0}
    # what is known is given, also where no verdict says how it was answered
    unread = run(tmp_path, "c", model="other", judge=Some(), known_from=str(base.path))
    found = sayso.compare(base.path, unread.path, resamples=100)
    known = [e for e in found.estimates if e.name == "p_known"]
    assert {(e.value, e.low, e.high) for e in known} == {(0.0, 0.0, 0.0)}
    assert any(e.missing for e in known)


def test_the_signature_names_the_resampling_and_both_sides(tmp_path: Path) -> None:
    a, b = run(tmp_path, "a"), run(tmp_path, "b", model="other")
    found = sayso.compare(a.path, b.path, resamples=120, seed=7).estimates[0].signature
    assert ("ci", "entity-120-s7") in found
    assert ("model", "other") in found
    assert found[-1] == ("minus", "model:base")
    # runs that differ in nothing but their own resampling can be compared
    c = run(tmp_path, "c", ci_seed=3)
    assert sayso.compare(a.path, c.path, resamples=120).estimates


def test_what_cannot_be_told_is_listed_with_its_reason(tmp_path: Path) -> None:
    a, b = run(tmp_path, "a"), run(tmp_path, "b", model="other", judge=Blind())
    found = sayso.compare(a.path, b.path, resamples=100)
    rates = [
        e for e in found.estimates if e.where == slice_of(form="short") and e.name in ("FA", "KCR")
    ]
    assert len(rates) == 2
    for estimate in rates:
        assert estimate.value is None
        assert estimate.problem
        assert estimate.missing == 36
    assert any("the second nothing that could be read" in note for note in found.notes)


@tabled
def test_a_mistake_is_said(tmp_path: Path, options: dict[str, Any], said: str) -> None:
    a = run(tmp_path, "a")
    with pytest.raises(InputError, match=said):
        sayso.compare(a.path, a.path, **options)
