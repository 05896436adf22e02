"""Negative controls (docs/validity): what must be null is null within its interval."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import sayso
from sayso.metrics import auroc
from sayso.protocols.uncle.rows import load_rows
from sayso.records import Estimate, slice_of, slice_text
from sayso.runs.measure import load_run
from sayso.runs.result import Result
from support.scripted_world import Fact, Mind, chance, facts, pool, prior, records, write

WORLD = facts()


def get(result: Result, name: str, where: str) -> Estimate:
    found = [e for e in result.estimates if e.name == name and slice_text(e.where) == where]
    assert len(found) == 1, (name, where, len(found))
    return found[0]


def covers(estimate: Estimate, value: float) -> bool:
    assert estimate.low is not None, estimate
    assert estimate.high is not None, estimate
    return estimate.low - 1e-9 <= value <= estimate.high + 1e-9


def run(mind: Mind, folder: Path, rows: list[dict] | None = None, name: str = "mind") -> Result:
    data = write(folder / f"{name}.jsonl", records(WORLD) if rows is None else rows)
    return sayso.run(
        report=False,
        model=mind.engine(name),
        data=str(data),
        out=folder / name,
        cache=folder / "cache",
    )


def partly(fact: Fact) -> float:
    """60 % of the facts are known well, the rest not at all."""
    return 0.97 if chance("known", fact.question) < 0.6 else 0.0


def never_the_truth(fact: Fact, draw: object) -> str:
    """A wrong value, so that luck plays no part where a control is not about luck."""
    others = [v for v in pool(fact.type) if v != fact.value]
    return random.Random(repr((fact.question, draw))).choice(others)


@pytest.mark.parametrize("form", ["short", "long"])
def test_blind_hedger_gains_nothing(tmp_path: Path, form: str) -> None:
    mind = Mind(
        WORLD,
        partly,
        hedges=lambda f, instructed: instructed and chance("blind", f.question) < 0.4,
        guess=never_the_truth,
    )
    result = run(mind, tmp_path)
    where = f"form:{form}"
    p = get(result, "p_known", where).value
    assert p is not None
    assert 0.5 < p < 0.7
    assert covers(get(result, "J", where), 0)
    assert covers(get(result, "J_within", where), 0)
    assert covers(get(result, "UA", where), 1 - p)  # UA of blind hedging is 1 - p, not 0
    assert covers(get(result, "odds_ratio_within", where), 1)
    # the same words hide what the probabilities know: they separate perfectly here
    assert (get(result, "unspoken_knowledge", where).low or 0) > 0.2


@pytest.mark.parametrize("form", ["short", "long"])
def test_type_hedger_gains_nothing_within_type(tmp_path: Path, form: str) -> None:
    """It hedges the type that is mostly unknown: pooled J is large, within type it is 0."""
    hard = {("people", "occupation"), ("rivers", "source")}
    mind = Mind(
        WORLD,
        lambda f: 0.97 if chance("known", f.question) < (0.15 if f.type in hard else 0.85) else 0.0,
        hedges=lambda f, instructed: instructed and f.type in hard,
        guess=never_the_truth,
    )
    result = run(mind, tmp_path)
    where = f"form:{form}"
    assert (get(result, "J", where).low or 0) > 0.2
    assert get(result, "J_within", where).value == pytest.approx(0, abs=1e-12)
    assert get(result, "J", f"{where};policy:type").value == pytest.approx(
        get(result, "J", where).value
    )


def test_zero_knowledge_model_is_unmasked(tmp_path: Path) -> None:
    """It answers from type priors, and its log-probs are those of the priors.

    Types differ in how far the prior carries: pooled, its log-probs find the errors; within a
    type of near-equal values they know nothing, and luck is named as such.
    """
    easy = ("people", "birthplace"), ("rivers", "color")

    def guess(fact: Fact, draw: object) -> str:
        values = pool(fact.type)
        if fact.type in easy:
            return values[0]
        return random.Random(repr((fact.question, draw))).choice(values)

    def gold(fact: Fact) -> str:
        values = pool(fact.type)
        lucky = fact.type in easy and chance("gold", fact.question) < 0.9
        return values[0] if lucky else random.Random(repr(("g", fact.question))).choice(values)

    def certain(fact: Fact, value: str) -> float:
        return -0.1 if fact.type in easy else -2.5 + 0.1 * pool(fact.type).index(value)

    mind = Mind(WORLD, lambda f: 0.0, certain=certain, guess=guess)
    result = run(mind, tmp_path, records(WORLD, gold))
    view = load_rows(*load_run(result.path)[::2]).aspects.views["short", False]
    wrong = [verdict is not None and verdict.content == "incorrect" for verdict in view.verdicts]
    assert (auroc(-view.logprob, wrong) or 0) > 0.75
    within = get(result, "auroc_incorrect_within", "form:short")
    assert covers(within, 0.5)
    assert (get(result, "guess_rate", "type:people/P-birthplace").value or 0) > 0.8
    assert (get(result, "guess_rate", "type:people/P-instrument").value or 1) < 0.2
    corrected = get(result, "p_known", "form:short").value
    assert corrected is not None
    assert corrected > 0.4  # any-of-k believes in luck; the corrected set must not
    known = [e for e in result.estimates if e.where == slice_of(form="short", known="corrected")]
    assert next(e for e in known if e.name == "KCR").denominator == pytest.approx(0, abs=4)


def test_renamed_entities_become_unknown_and_are_hedged(tmp_path: Path) -> None:
    """A positive control: a model that hedges what it does not know, asked about strangers."""
    knows = {f.question: partly(f) for f in WORLD}
    strangers = facts(name="renamed")
    everything = WORLD + strangers

    def honest(fact: Fact) -> float:
        return knows.get(fact.question, 0.0)

    mind = Mind(
        everything,
        honest,
        hedges=lambda f, instructed: instructed and honest(f) == 0 and chance(f.question) < 0.9,
        guess=never_the_truth,
    )
    before = run(mind, tmp_path, name="before")
    after = run(mind, tmp_path, records(strangers), name="after")
    assert (get(before, "p_known", "form:short").value or 0) > 0.5
    assert get(after, "p_known", "form:short").value == 0
    for form in ("short", "long"):
        assert (get(after, "UUR", f"form:{form}").low or 0) > 0.8
        assert (get(before, "J", f"form:{form}").low or 0) > 0.6
        assert get(after, "J", f"form:{form}").value is None  # nothing known: J is undefined


def test_shuffled_golds_leave_no_knowledge(tmp_path: Path) -> None:
    """Golds dealt out at random within type: probabilities and hedges know nothing any more.

    Each mind guesses alike in all draws: five different guesses hit a random gold more often than
    five equal ones, and any-of-k would call exactly the hedged facts known (J below 0).
    """
    dealt: dict[str, str] = {}
    for kind in {f.type for f in WORLD}:
        group = [f for f in WORLD if f.type == kind]
        values = [f.value for f in group]
        random.Random(repr(kind)).shuffle(values)
        dealt.update({f.question: v for f, v in zip(group, values, strict=True)})
    mind = Mind(
        WORLD,
        partly,
        hedges=lambda f, instructed: instructed and partly(f) == 0,
        certain=lambda f, v: (-0.1 if partly(f) else -1.5) - 0.2 * chance("lp", f.question),
        guess=lambda f, draw: prior(f.type, "one guess", f.question),
    )
    rows = records(WORLD, lambda f: dealt[f.question])
    result = run(mind, tmp_path, rows)
    for form in ("short", "long"):
        assert covers(get(result, "J_within", f"form:{form}"), 0)
        assert covers(get(result, "auroc_incorrect_within", f"form:{form}"), 0.5)
        assert covers(get(result, "unspoken_knowledge", f"form:{form}"), 0)


def test_the_same_model_twice_shows_no_difference(tmp_path: Path) -> None:
    mind = Mind(
        WORLD,
        partly,
        hedges=lambda f, i: i and chance("h", f.question) < 0.3,
        guess=never_the_truth,
    )
    data = write(tmp_path / "q.jsonl", records(WORLD))
    for name in ("one", "two"):
        sayso.run(
            model=mind.engine("one"),
            data=str(data),
            out=tmp_path / name,
            cache=tmp_path / "cache",
            report=False,
        )
    differences = sayso.compare(tmp_path / "one", tmp_path / "two").estimates
    assert len(differences) > 20
    for difference in differences:
        if difference.value is not None:
            assert (difference.value, difference.low, difference.high) == (0, 0, 0), difference
    assert sum(d.value is not None for d in differences) > 20
