"""P(IK) in the selective protocol: learned across entities, blind where nothing can be learned."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest

import sayso
from sayso.protocols import selective, settings
from sayso.protocols.selective import rows as selective_rows
from sayso.protocols.selective.rows import FormRows, fit_probe
from sayso.protocols.selective.scoring import until
from sayso.records import (
    Estimate,
    Generation,
    InputError,
    Message,
    Request,
    signature_text,
    slice_text,
)
from sayso.scores.p_ik import fold_ranks
from sayso.storage.run_folder import RunFolder
from support.scripted_world import Fact, Mind, chance, facts, records, write

CHOSEN = selective.Settings(
    draws=selective.SelectiveDraws(k=2),
    known_k=2,
    resamples=300,
    scores="length_words,p_ik",
    words=False,
)
WHERE = "form:short;against:rules;score:"
State = Callable[[Fact, str], np.ndarray]


def noise(*what: object) -> np.ndarray:
    """Eight numbers that are about a text and nothing else."""
    seed = int.from_bytes(hashlib.sha256(repr(what).encode()).digest()[:8], "little")
    return np.random.default_rng(seed).normal(size=8)


def subject(world: list[Fact], mind: Mind, state: State) -> Any:
    """An engine of this mind whose hidden states are ours; ``read`` counts the texts."""
    engine = mind.engine()
    by_question = {f.question: f for f in world}
    engine.capabilities = msgspec.structs.replace(engine.capabilities, hidden=True)
    engine.read = 0

    def hidden(items: Any, layer: int, position: str) -> np.ndarray:
        engine.read += len(items)
        if layer != -1:
            raise InputError(f"layer {layer} is not in the model")
        if not items:
            return np.empty((0, 0), dtype=np.float16)
        rows = [
            state(about(r.messages[-1].content, t), t if isinstance(t, str) else repr(t))
            for r, t in items
        ]
        return np.asarray(rows, dtype=np.float16).reshape(len(items), -1)

    def about(prompt: str, text: Any) -> Fact:
        short = next((f for q, f in by_question.items() if prompt.startswith(q)), None)
        if short is not None:
            return short
        # each sentence, "The source of Two Words is Value.", has seven tokens
        entity = next(e for e in mind.by_entity if f"about {e}," in prompt)
        return mind.by_entity[entity][(len(text) - 1) // 7]

    engine.hidden = hidden
    return engine


def world_file(path: Path, world: list[Fact]) -> str:
    return str(write(path / "w.jsonl", records(world)))


def one(found: list[Estimate], name: str, where: str) -> Estimate:
    (estimate,) = [e for e in found if e.name == name and slice_text(e.where) == where]
    return estimate


def knows(fact: Fact) -> float:
    return float(chance("knows", fact.question) < 0.6)


def test_a_state_that_knows_is_found_and_every_choice_is_told(tmp_path: Path) -> None:
    world = facts(60)

    def state(fact: Fact, text: str) -> np.ndarray:
        return noise(fact.question) + 2 * knows(fact)

    engine = subject(world, Mind(world, knows), state)
    place = {"data": world_file(tmp_path, world), "out": tmp_path / "r", "options": CHOSEN}
    result = sayso.run("selective", model=engine, **place, report=False)
    found = one(result.estimates, "auroc_within", f"{WHERE}p_ik")
    assert found.low is not None
    assert found.low > 0.7
    assert "p_ik:second_last_answer@-1/scaled/5fold" in signature_text(found.signature)
    assert found.problem is None  # all five fits converged
    # stored once, one row for each short answer, and read again only by looking
    stored = RunFolder.open(result.path).read_array("hidden--1-second_last_answer")
    assert stored is not None
    assert stored[1].shape == (len(world), 8)
    held = RunFolder.open(result.path).read_array("hidden--1-second_last_answer-long")
    assert held is not None
    assert engine.read == len(world) + len(held[0].ids)
    # a fact inside a paragraph is read where its value stands: elsewhere is another fact's state
    inside = one(result.estimates, "auroc_within", "form:long;against:rules;score:p_ik")
    assert inside.low is not None
    assert inside.low > 0.7
    assert inside.n == len(held[0].ids)
    assert inside.n > 0.9 * len(world)
    again = subject(world, Mind(world, knows), state)
    assert sayso.run("selective", model=again, **place, report=False).estimates == result.estimates
    assert again.read == 0
    assert sayso.measure(tmp_path / "r").estimates == result.estimates
    same = sayso.compare(tmp_path / "r", tmp_path / "r", resamples=100).estimates
    assert any("p_ik" in slice_text(e.where) and e.value == 0 for e in same)


@pytest.mark.parametrize("seed", range(4))
def test_states_that_say_nothing_are_blind(tmp_path: Path, seed: int) -> None:
    """Also where a type is mostly right or wrong: its rate in other folds runs against it."""
    world = facts(60)
    rate = {"birthplace": 0.9, "occupation": 0.7, "instrument": 0.5, "source": 0.3, "color": 0.1}

    def lucky(fact: Fact) -> float:
        return float(chance("luck", seed, fact.question) < rate.get(fact.aspect, 0.5))

    def state(fact: Fact, text: str) -> np.ndarray:
        kind = np.array([float(fact.aspect == aspect) for aspect in rate])
        return np.concatenate([kind, noise(seed, fact.question)])

    engine = subject(world, Mind(world, lucky), state)
    found = sayso.run(
        "selective", model=engine, data=world_file(tmp_path, world), out=tmp_path / "r",
        options=CHOSEN, report=False,
    ).estimates  # fmt: skip
    within = one(found, "auroc_within", f"{WHERE}p_ik")
    assert within.low is not None
    assert within.high is not None
    assert within.low <= 0.5 <= within.high, within
    pooled = one(found, "auroc", f"{WHERE}p_ik").value
    assert pooled is not None
    assert pooled > 0.6  # it does learn the types: the trap that the row within type is for


def test_a_mark_of_the_entity_is_no_leak(tmp_path: Path) -> None:
    """All facts of an entity are known or none: its mark would tell, had its fold been seen."""
    world = facts(60)

    def known(fact: Fact) -> float:
        return float(chance("entity", fact.entity) < 0.5)

    def mark(fact: Fact, text: str) -> np.ndarray:
        return np.concatenate([noise(fact.entity, i) for i in range(8)])

    found = sayso.run(
        "selective", model=subject(world, Mind(world, known), mark),
        data=world_file(tmp_path, world), out=tmp_path / "r", options=CHOSEN, report=False,
    ).estimates  # fmt: skip
    estimate = one(found, "auroc", f"{WHERE}p_ik")
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.low <= 0.5 <= estimate.high


def test_reasons_instead_of_numbers(tmp_path: Path) -> None:
    world = facts(6)
    data = world_file(tmp_path, world)
    where = "form:short;against:rules;score:"

    def run(name: str, model: Any, **changes: Any) -> list[Estimate]:
        options = settings.replace(CHOSEN, changes)
        return sayso.run(
            "selective", model=model, data=data, out=tmp_path / name, options=options,
            cache=tmp_path / f"{name}-cache", report=False,
        ).estimates  # fmt: skip

    nothing = run("none", Mind(world, knows).engine())
    assert "hidden states" in (one(nothing, "auroc", f"{where}p_ik").problem or "")
    right = run("right", subject(world, Mind(world, lambda f: 1.0), lambda f, t: noise(t)))
    assert "right and wrong" in (one(right, "auroc", f"{where}p_ik").problem or "")
    with pytest.raises(InputError):
        settings.replace(CHOSEN, {"p_ik.folds": 1}).check()
    with pytest.raises(InputError, match="position"):
        settings.replace(CHOSEN, {"p_ik.position": "middle"}).check()


def test_a_layer_that_the_model_lacks_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    world = facts(4)
    engine = subject(world, Mind(world, knows), lambda f, t: noise(t))
    chosen = settings.replace(CHOSEN, {"p_ik.layer": 99})
    with pytest.raises(InputError, match="layer 99 is not in the model"):
        sayso.run(
            "selective", model=engine, data=world_file(tmp_path, world), out=tmp_path / "r",
            options=chosen, report=False,
        )  # fmt: skip
    assert engine.requests == []
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("position", "ids", "text"),
    [
        # tokens of "It is Oslo now" start at 0, 3, 6, 11; the value is [6, 10)
        ("second_last_answer", (7, 8, 9), "It is Oslo"),
        ("last_answer", (7, 8, 9), "It is Oslo"),
        ("last_prompt", (7, 8), "It is "),
    ],
)
def test_a_paragraph_is_read_until_the_value(
    position: str, ids: tuple[int, ...], text: str
) -> None:
    said = Generation(
        Request((Message("user", "?"),)), text="It is Oslo now", token_ids=(7, 8, 9, 5),
        offsets=(0, 3, 6, 11), form="long",
    )  # fmt: skip
    found = until(said, (6, 10), "t", position)
    assert (found.id, found.token_ids, found.text) == ("t", ids, text)
    # without tokens the text itself is read anew
    bare = until(
        msgspec.structs.replace(said, token_ids=None, offsets=None), (6, 10), "t", position
    )
    assert (bare.token_ids, bare.text) == (None, text)
    # a value that opens the paragraph has nothing before it
    first = until(said, (0, 2), "t", "last_prompt")
    assert (first.token_ids or first.text) == ""


def test_fits_that_did_not_converge_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    n, none = 60, np.full(60, np.nan)
    probes = [SimpleNamespace(converged=converged) for converged in (True, False, True)]
    monkeypatch.setattr(selective_rows, "cross_fit_splits", lambda *_, **__: (none, probes))
    wrong = {"rules": np.arange(n) % 2.0}
    rows = FormRows(
        "short", "rules", [("q", "q")] * n, np.arange(n), np.full(n, "t"), {}, {}, wrong, {},
        np.ones(n), 0, {}, {},
    )  # fmt: skip
    found = fit_probe(rows, np.ones((n, 1)), CHOSEN)
    assert found.notes == {"p_ik": "1 of 3 fits did not converge"}


def test_ranks_within_folds() -> None:
    value = np.array([0.9, 0.1, 0.5, 0.2, np.nan])
    fold = np.array([0, 0, 1, 1, 1])
    # two of each fold: the lower at 1/4, the higher at 3/4
    assert fold_ranks(value, fold)[:4].tolist() == [0.75, 0.25, 0.75, 0.25]
    assert np.isnan(fold_ranks(value, fold)[4])
