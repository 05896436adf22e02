"""Negative controls of the selective protocol: what must not look like a signal does not."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

import sayso
from sayso.protocols import selective
from sayso.records import Estimate, Generation, Request, Results, slice_text
from support.scripted_world import Fact, Mind, chance, facts, records, write

CHOSEN = selective.Settings(
    draws=selective.SelectiveDraws(k=5),
    resamples=300,
    scores="length_words,sequence_probability,perplexity,semantic_entropy,num_sets",
)
#: share of the commonest value, by aspect: a model that knows this knows nothing of an entity
COMMON = {
    "birthplace": 0.95,
    "occupation": 0.8,
    "instrument": 0.6,
    "source": 0.4,
    "color": 0.2,
    "guardian": 0.05,
}


class Speaker(Mind):
    """A mind whose log-probabilities say of which distribution they are."""

    @staticmethod
    def _reply(request: Request, sentences: list[tuple[str, float]]) -> Generation:
        import msgspec

        return msgspec.structs.replace(Mind._reply(request, sentences), logprob_kind="model")


def run(path: Path, world: list[Fact], mind: Mind) -> list[Estimate]:
    data = write(path / "w.jsonl", records(world))
    return sayso.run(
        "selective",
        model=mind.engine(),
        data=str(data),
        out=path / "r",
        options=CHOSEN,
        report=False,
    ).estimates


def one(
    found: list[Estimate], name: str, score: str, by: str = "rules", form: str = "short"
) -> Estimate:
    where = f"form:{form};against:{by};score:{score}"
    (estimate,) = [e for e in found if e.name == name and slice_text(e.where) == where]
    return estimate


def holds(estimate: Estimate, value: float) -> bool:
    """Tell whether the interval holds a value; a constant score has no interval but its value."""
    if estimate.low is None or estimate.high is None:
        return estimate.value == value
    return estimate.low <= value <= estimate.high


def typed_world(seed: int = 0) -> list[Fact]:
    """A world in which each type has a commonest value, and nothing else to be known."""
    return [
        f._replace(
            value="Common" if chance("common", seed, f.question) < COMMON[f.aspect] else f.value
        )
        for f in facts(100)
    ]


def test_zero_knowledge_is_blind_within_type(tmp_path: Path) -> None:
    world = typed_world()

    def guess(fact: Fact, draw: object) -> str:
        if draw == "greedy" or chance("says", fact.question, draw) < COMMON[fact.aspect]:
            return "Common"
        return f"Rare{random.Random(repr((fact.question, draw))).randrange(9)}"

    def certain(fact: Fact, said: str) -> float:
        return math.log(COMMON[fact.aspect]) - 0.01 * chance("noise", fact.question)

    found = run(tmp_path, world, Speaker(world, lambda f: 0.0, certain=certain, guess=guess))
    for score in ("sequence_probability", "perplexity"):
        pooled, within = one(found, "auroc", score), one(found, "auroc_within", score)
        assert pooled.low is not None
        assert pooled.low > 0.7  # the trap
        assert holds(within, 0.5), within
    for score in ("semantic_entropy", "num_sets"):
        pooled = one(found, "auroc", score).value
        assert pooled is not None
        assert pooled > 0.7
        assert holds(one(found, "auroc_within", score), 0.5)


def padded(fact: Fact, said: str, draw: object) -> str:
    """Return a value in a sentence of a length that says nothing about being right."""
    words = int(8 * chance("length", fact.question, draw))
    return f"{said} {' '.join(['indeed'] * words)}".strip()


class Padding(Speaker):
    """A mind that talks at any length, each word as likely as any other."""

    def __call__(self, request: Request) -> Generation:
        text = request.messages[-1].content
        draw = "greedy" if request.greedy else request.sample
        fact = next((f for q, f in self.by_question.items() if text.startswith(q)), None)
        if fact is None:
            return super().__call__(request)
        return self._reply(request, [(padded(fact, self.value(fact, draw), draw), -0.5)])


@pytest.fixture(scope="module")
def length_only(tmp_path_factory: pytest.TempPathFactory) -> list[Estimate]:
    world = facts(100)
    mind = Padding(world, lambda f: float(chance("knows", f.question) < 0.7))
    return run(tmp_path_factory.mktemp("length"), world, mind)


def test_a_score_that_is_length_is_blind_against_the_truth(length_only: list[Estimate]) -> None:
    for score in ("sequence_probability", "length_words"):
        assert holds(one(length_only, "auroc_within", score), 0.5)
        assert holds(one(length_only, "auroc", score), 0.5)
        fooled = one(length_only, "auroc", score, "rouge_l")
        assert fooled.low is not None
        assert fooled.low > 0.7  # ROUGE-L refuses long right answers
    assert holds(one(length_only, "auroc", "perplexity", "rouge_l"), 0.5)


def test_the_audit_says_where_that_comes_from(length_only: list[Estimate]) -> None:
    parts = {
        name: one(length_only, f"audit_{name}", "sequence_probability", "rouge_l")
        for name in ("difference", "from_length", "unexplained")
    }
    whole, length, rest = (parts[n].value for n in ("difference", "from_length", "unexplained"))
    assert whole is not None
    assert length is not None
    assert rest is not None
    assert whole > 0.2
    assert length > 0.8 * whole
    assert whole == pytest.approx(length + rest)
    found = Results(length_only)
    fifths = found.each("false_negatives_fifth", form="short", against="rouge_l")
    shortest, *_, longest = (e.value or 0 for e in fifths)
    assert longest - shortest > 0.4
    # it looks for the value, whatever stands around it
    assert found.get("false_negatives", form="short", against="contains").value == 0


def test_shuffled_golds_leave_nothing(tmp_path: Path) -> None:
    world = facts(100)
    mind = Speaker(world, lambda f: float(chance("knows", f.question) < 0.6))
    generator = random.Random(1)
    golds: dict[str, str] = {}
    for kind in sorted({f.type for f in world}):  # one order, so one shuffle
        mine = [f for f in world if f.type == kind]
        turned = [f.value for f in mine]
        generator.shuffle(turned)
        golds |= {f.question: v for f, v in zip(mine, turned, strict=True)}
    true = run(tmp_path, world, mind)
    real = one(true, "auroc_within", "sequence_probability")
    assert real.low is not None
    assert real.low > 0.8
    data = write(tmp_path / "s.jsonl", records(world, golds=lambda f: golds[f.question]))
    found = sayso.run(
        "selective",
        model=mind.engine(),
        data=str(data),
        out=tmp_path / "s",
        options=CHOSEN,
        report=False,
    ).estimates
    for form in ("short", "long"):
        for score in ("sequence_probability", "semantic_entropy", "num_sets", "length_words"):
            estimate = one(found, "auroc_within", score, form=form)
            assert holds(estimate, 0.5), (form, estimate)
