"""Contradiction by an NLI model: its own names for its outputs, and neutral is no contradiction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import sayso
from sayso.judges.meaning import ModelMeaning, RulesMeaning
from sayso.protocols import faithfulness
from sayso.protocols.faithfulness.verdicts import NliContradiction
from sayso.protocols.settings import replace
from sayso.records import Generation, InputError, Verdict, signature_text
from sayso.runs.measure import load_run, measure
from sayso.runs.result import Result
from support.nli_models import ORDERS, make_nli
from support.scripted import ScriptedEngine
from support.scripted_world import facts, records, word, write

Q = "Where is Orm?"


class Table:
    """A classifier whose probabilities (entailment, neutral, contradiction) are given by text."""

    signature = "table"

    def __init__(self, labels: Sequence[str], rows: dict[tuple[str, str], Sequence[float]]) -> None:
        self.labels, self._rows = tuple(labels), rows

    def classify(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        names = ("entailment", "neutral", "contradiction")
        found = []
        for premise, hypothesis in pairs:
            row = self._rows[premise.removeprefix(f"{Q} "), hypothesis.removeprefix(f"{Q} ")]
            said = dict(zip(names, row, strict=True))
            found.append([said[label.lower()] for label in self.labels])
        return np.array(found)


CLAIM = "Sarn"
#: sample: (entailment, neutral, contradiction) of the claim by it, and the letter
BY_HAND = {
    "In Sarn, in the north.": ((0.8, 0.15, 0.05), "e"),
    "Tolm": ((0.05, 0.15, 0.8), "c"),
    "In the north.": ((0.1, 0.5, 0.4), "n"),  # more neutral than contradictory
    "It rains there.": ((0.02, 0.97, 0.01), "n"),
    "Somewhere.": ((0.3, 0.35, 0.35), "n"),  # as neutral as contradictory
    "Not Tolm.": ((0.4, 0.2, 0.4), "n"),  # as likely as its denial: neither is said
}


@pytest.mark.parametrize("order", ORDERS)
def test_the_likeliest_relation_by_hand_whatever_the_order_of_labels(order: Sequence[str]) -> None:
    rows = {(sample, CLAIM): row for sample, (row, _) in BY_HAND.items()}
    reader = NliContradiction(ModelMeaning(Table(order, rows), "table"))
    found = reader.read([(Q, CLAIM, sample) for sample in BY_HAND])
    expected = {(Q, CLAIM, s): letter for s, (_, letter) in BY_HAND.items()}
    assert found == expected


def test_the_sample_is_the_premise() -> None:
    """ "Sarn, north" bears "Sarn" out; "Sarn" alone does not bear out "Sarn, north"."""
    rows = {("Sarn, north", "Sarn"): (0.9, 0.1, 0.0), ("Sarn", "Sarn, north"): (0.1, 0.9, 0.0)}
    reader = NliContradiction(ModelMeaning(Table(ORDERS[0], rows), "table"))
    found = reader.read([(Q, "Sarn", "Sarn, north"), (Q, "Sarn, north", "Sarn"), (Q, "Ab", "Ab")])
    assert list(found.values()) == ["e", "n", "e"]  # equal texts are not asked


def test_values_that_are_none_are_no_reading() -> None:
    rows = {("Tolm", "Sarn"): (float("nan"),) * 3}
    reader = NliContradiction(ModelMeaning(Table(ORDERS[0], rows), "table"))
    assert reader.read([(Q, "Sarn", "Tolm")]) == {(Q, "Sarn", "Tolm"): "?"}


def test_who_tells_no_contradiction_from_neutral_is_refused() -> None:
    for meaning in (
        RulesMeaning(),
        ModelMeaning(Table(("entailment", "not_entailment"), {}), "two"),
    ):
        with pytest.raises(InputError, match="does not distinguish contradiction from neutral"):
            NliContradiction(meaning)


# --- a real model, tiny and random ----------------------------------------------------------------

WORLD = facts(2)  # 6 facts
BY_QUESTION = {f.question: f for f in WORLD}


def subject(request: object) -> str:
    text = request.messages[-1].content  # type: ignore[attr-defined]
    fact = next((f for q, f in BY_QUESTION.items() if text.startswith(q)), None)
    if fact is None:
        return "Nothing."
    greedy, sample = request.greedy, request.sample  # type: ignore[attr-defined]
    return f"It is {fact.value if greedy else word('draw', fact.question, sample)}."


def run(folder: Path, nli: Path, name: str) -> Result:
    return sayso.run(
        "faithfulness",
        model=ScriptedEngine(subject, name="one", logprob=-0.5),
        data=str(write(folder / "q.jsonl", records(WORLD))),
        out=folder / name,
        cache=folder / "cache",
        options=replace(
            faithfulness.Settings(),
            {"methods": "vanilla", "resamples": 100, "contradict": "nli", "nli": str(nli)},
        ),
        report=False,
    )


def leveled(folder: Path, order: Sequence[str]) -> Path:
    """A model that says each of its relations of some pairs: random weights alone say one."""
    import torch
    import transformers

    from sayso.engines.hf.encoders import open_nli

    make_nli(folder, order, positions=256)
    pairs = [
        (f"{f.question} It is {word('draw', f.question, n)}.", f"{f.question} It is {f.value}.")
        for f in WORLD
        for n in range(20)
    ]
    usual = np.median(np.log(open_nli(str(folder)).classify(pairs)), axis=0)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    with torch.no_grad():
        model.classifier.bias.copy_(torch.tensor(-usual))
    model.save_pretrained(folder)
    return folder


def test_a_run_with_a_model_reads_its_outputs_by_their_names(tmp_path: Path) -> None:
    """The same weights with outputs in three orders: the same letters, and all three of them."""
    pytest.importorskip("transformers")
    from sayso.engines.hf.encoders import open_nli
    from sayso.judges.meaning import label_columns

    found, results = [], []
    for n, order in enumerate(ORDERS):
        folder = leveled(tmp_path / f"m{n}", order)
        results.append(run(tmp_path, folder, f"run{n}"))
        verdicts = load_run(results[-1].path)[0].folder.read("verdicts/short-contradict", Verdict)
        found.append({v.asked: v.raw or "" for v in verdicts})
    assert found[0] == found[1] == found[2]
    letters = Counter("".join(found[0].values()))
    assert min(letters[letter] for letter in "cne") > 10
    assert sum(letters.values()) == len(WORLD) * 20
    # against the model itself: the largest of its probabilities, sample before claim
    job = load_run(results[0].path)[0]
    classifier = open_nli(str(tmp_path / "m0"))
    columns = label_columns(classifier.labels)
    names = {columns["entailment"]: "e", columns["neutral"]: "n", columns["contradiction"]: "c"}
    question = job.questions[0]
    draws = sorted(
        (g for g in job.folder.read("generations/draws", Generation) if g.question == question.id),
        key=lambda g: g.request.sample,
    )
    (claim,) = [
        g.text
        for g in job.folder.read("generations/short", Generation)
        if g.question == question.id
    ]
    pairs = [(f"{question.text} {g.text}", f"{question.text} {claim}") for g in draws]
    likeliest = classifier.classify(pairs).argmax(axis=1)
    assert found[0][question.id] == "".join(names[int(i)] for i in likeliest)
    # neutral lowers confidence only where it is told to
    where = "form:short;method:vanilla"
    share = results[0].get("mean_confidence", where)
    assert share.value == pytest.approx(1 - letters["c"] / 120)
    strict = measure(results[0].path, relation="inconsistency").get("mean_confidence", where)
    assert strict.value == pytest.approx(letters["e"] / 120)
    assert "|con:nli:" in signature_text(share.signature)
    assert any(n.startswith("answers were compared by nli:") for n in results[0].manifest.notices)
