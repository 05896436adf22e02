"""Known answers recomputed from the papers' tables and notebooks, through the public names.

`tests/golden/vectors.json` says the source of each. The five rates of `uncle_*` are percentages as
printed; all else are fractions; `tol` is in the vector's own unit.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sayso import answers, metrics, scores
from sayso.judges import meaning

Vector = dict[str, Any]
VECTORS: list[Vector] = json.loads(
    (Path(__file__).parent / "golden" / "vectors.json").read_text(encoding="utf-8")
)["vectors"]
PERCENT = ("FA", "UA", "UUR", "KCR", "EA")
CELLS = ("kc", "ki", "ku", "uc", "ui", "uu")


def vectors(*kinds: str) -> list[Any]:
    chosen = [pytest.param(v, id=v["id"]) for v in VECTORS if v["kind"] in kinds]
    assert chosen, f"no vector of kind {kinds}"
    return chosen


def check_rates(vector: Vector, rates: dict[str, float | None], unit: float) -> None:
    for name, expected in vector["expected"].items():
        value = rates[name]
        if expected is None:
            assert value is None, name
            continue
        assert value is not None, name
        scale = unit if name in PERCENT else 1.0
        assert value * scale == pytest.approx(expected, rel=0, abs=vector["tol"]), name


@pytest.mark.parametrize("vector", vectors("uncle_roundtrip", "uncle_algebra"))
def test_rates_of_fractions(vector: Vector) -> None:
    cells = vector["input"]["cells_fraction"]
    check_rates(vector, metrics.expression_rates(**cells), 100)


@pytest.mark.parametrize("vector", vectors("uncle_roundtrip", "uncle_algebra"))
def test_cells_from_the_printed_row(vector: Vector) -> None:
    row = {name: vector["expected"][name] / 100 for name in PERCENT}
    solved = metrics.solve_cells(**row)
    for name, expected in vector["input"]["cells_fraction"].items():
        assert solved[name] == pytest.approx(expected, rel=0, abs=1e-9), name


@pytest.mark.parametrize("vector", vectors("uncle_counts"))
def test_rates_of_counts(vector: Vector) -> None:
    check_rates(vector, metrics.expression_rates(**vector["input"]), 100)


@pytest.mark.parametrize("vector", vectors("confusion3x3"))
def test_three_rows(vector: Vector) -> None:
    # The vector's "paper" is our "unknown": a hedged probe answer is not correct.
    rule = {"paper": "unknown"}.get(vector["input"]["rule"], vector["input"]["rule"])
    check_rates(vector, metrics.expression_rates_3row(vector["input"]["matrix"], rule), 1)


@pytest.mark.parametrize("vector", vectors("alignment2x2"))
def test_alignment(vector: Vector) -> None:
    found = metrics.alignment(vector["input"]["matrix"])
    # The other keys describe data outside the matrix.
    names = {
        "normalised",
        "retained",
        "micro_short_retained",
        "micro_long_retained",
        "cohen_kappa",
    } & set(vector["expected"])
    assert len(names) == 5
    for name in names:
        expected = vector["expected"][name]
        value = found[name]
        if name == "normalised":
            flat = [x for row in value for x in row]
            assert flat == pytest.approx([x for row in expected for x in row], abs=vector["tol"])
        else:
            assert value == pytest.approx(expected, rel=0, abs=vector["tol"]), name


@pytest.mark.parametrize("vector", vectors("auroc"))
def test_auroc(vector: Vector) -> None:
    value = metrics.auroc(vector["input"]["s"], vector["input"]["y"])
    expected = vector["expected"]["auroc"]
    if expected is None:
        assert value is None
    else:
        assert value == pytest.approx(expected, rel=0, abs=vector["tol"])


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("uncle.T4.Llama3-8B/Long-DPO.short", 0.343),
        ("uncle.T4.Llama3-8B/Long-DPO.long", 0.235),
        ("uncle.T4.Llama3-8B/Mix-DPO.long", 0.175),
        ("uncle.T4.Llama3-8B/Unc-Few.long", 0.081),
        ("uncle.T4.Mistral-7B/Long-DPO.long", 0.194),
    ],
)
def test_j_of_printed_rows(row: str, expected: float) -> None:
    printed = next(v for v in VECTORS if v["id"] == row)["expected"]
    solved = metrics.solve_cells(**{name: printed[name] / 100 for name in PERCENT})
    cells = {name: value for name, value in solved.items() if value is not None}
    assert metrics.expression_rates(**cells)["J"] == pytest.approx(expected, abs=0.001)


@pytest.mark.parametrize("vector", vectors("aurac"))
def test_aurac_of_perfect_answers(vector: Vector) -> None:
    assert vector["input"]["accuracy"] == "all 1"
    for kind, expected in vector["expected"].items():
        value = metrics.aurac(range(50), [0] * 50, kind)
        assert value == pytest.approx(expected, rel=0, abs=vector["tol"])


@pytest.mark.parametrize("vector", vectors("rougeL_f1"))
def test_rouge_l(vector: Vector) -> None:
    reference, answer = vector["input"]["ref"], vector["input"]["hyp"]
    for name, expected in vector["expected"].items():
        for stem in {"f1": (False, True), "f1_stem": (True,), "f1_nostem": (False,)}[name]:
            if stem:
                pytest.importorskip("nltk", reason="nltk is not installed")
            value = answers.rouge_l(reference, answer, stem=stem)
            assert value == pytest.approx(expected, rel=0, abs=vector["tol"]), name


@pytest.mark.parametrize("vector", vectors("semantic_entropy"))
def test_entropies_of_draws(vector: Vector) -> None:
    ids, texts = vector["input"]["semantic_ids"], vector["input"]["texts"]
    rows = vector["input"]["token_logprobs"]
    entropy, naive = scores.semantic_entropy, scores.naive_entropy
    found = {
        "se_official_lennorm_rao": entropy(ids, rows),
        "se_rao_sum": entropy(ids, rows, length_norm=False),
        "se_rao_sum_unique_texts": entropy(ids, rows, length_norm=False, texts=texts),
        "se_mc_sum": entropy(ids, rows, "mc", False),
        "dse": scores.discrete_semantic_entropy(ids),
        "naive_official": naive(rows),
        "naive_mc_sum": naive(rows, "mc_sum"),
        "naive_eq4": naive(rows, "eq4"),
        "num_sets": scores.num_sets(ids),
    }
    assert found == pytest.approx(vector["expected"], rel=0, abs=vector["tol"])


@pytest.mark.parametrize("vector", vectors("dse"))
def test_discrete_semantic_entropy(vector: Vector) -> None:
    value = scores.discrete_semantic_entropy(vector["input"]["ids"])
    assert value == pytest.approx(vector["expected"]["dse"], rel=0, abs=vector["tol"])


@pytest.mark.parametrize("vector", vectors("clusters"))
def test_clusters(vector: Vector) -> None:
    def entails(a: str, b: str) -> bool:
        return {a, b} != {"A", "C"}

    for name, expected in vector["expected"].items():
        order, _, way = name.partition("_")
        assert order in vector["input"]["orders"]
        assert meaning.cluster(order, entails, overwrite="official" in way) == expected, name


@pytest.mark.parametrize("vector", vectors("length_auroc"))
def test_length_inflation(vector: Vector) -> None:
    found = metrics.length_inflation(**vector["input"])
    for name, expected in vector["expected"].items():
        assert found[name] == pytest.approx(expected, rel=0, abs=vector["tol"]), name


@pytest.mark.parametrize("vector", vectors("length_sim"))
def test_length_bias_by_simulation(vector: Vector) -> None:
    given = vector["input"]
    assert given["threshold"] == ">0.5"
    found: dict[str, list[float]] = {name: [] for name in vector["expected"]}
    for seed in range(10):
        rng = np.random.default_rng(seed)
        n = 20_000
        length = np.maximum(2, np.round(rng.lognormal(*given["lognormal"], n)))
        wrong = rng.random(n) >= given["p_correct"]
        rate = rng.lognormal(0, 0.3, n)  # one for each answer
        # A whole reference of m words in N: ROUGE-L 2m/(m + N), above .5 below N = 3m.
        refused = wrong | (length >= 3 * given["ref_words"])
        for name, score, truth in (
            ("nll_true", length * rate, wrong),
            ("nll_rouge", length * rate, refused),
            ("ppl_rouge", rate, refused),
            ("length_rouge", length, refused),
        ):
            found[name].append(metrics.auroc(score, truth) or 0.0)
    for name, (mean, tolerance) in vector["expected"].items():
        assert np.mean(found[name]) == pytest.approx(mean, rel=0, abs=tolerance), name


def _metafaith(dec: float, confidence: list[float], bins: int) -> float:
    """The follow-up's rule, here only to show what it does: confidence 1.0 falls out of the bins,
    and edge values sit one bin low by rounding: which ones, depends on how they came about."""
    index = np.digitize(confidence, np.linspace(0, 1, bins + 1)) - 1
    f = 1 - np.abs(dec - np.array(confidence))
    return float(
        np.mean([f[index == b].mean() if (index == b).any() else 0.0 for b in range(bins)])
    )


@pytest.mark.parametrize("vector", vectors("cmfg_bins"))
def test_cmfg_bins(vector: Vector) -> None:
    given, expected = vector["input"], vector["expected"]["cMFG"]
    j = given["conf_twentieths"]
    dec = np.full(len(j), given["dec"])
    if given["rule"] == "metafaith":
        drawn = _metafaith(given["dec"], [1 - (20 - x) * 0.05 for x in j], given["n_bins"])
        assert drawn == pytest.approx(expected, rel=0, abs=vector["tol"])
        return
    value = metrics.cmfg(dec, j, 20, bins=given["n_bins"], closed=given["rule"])
    assert value == pytest.approx(expected, rel=0, abs=vector["tol"])


@pytest.mark.parametrize("vector", vectors("cmfg_range"))
@pytest.mark.parametrize("closed", ["left", "right"])
def test_cmfg_range(vector: Vector, closed: Any) -> None:
    low, high = vector["expected"][closed]
    groups = [
        [j for j in range(21) if metrics.confidence_bin(j, 20, 10, closed) == b] for b in range(10)
    ]
    for pick, end in ((min, low), (max, high)):
        j = [pick(levels) for levels in groups]
        value = metrics.cmfg(np.full(10, vector["input"]["dec"]), j, 20, bins=10, closed=closed)
        assert value == pytest.approx(end, rel=0, abs=vector["tol"])


@pytest.mark.parametrize("vector", vectors("cmfg_continuous"))
def test_cmfg_continuous(vector: Vector) -> None:
    # A grid of 100,000 levels stands for the continuum; 1,000 bins leave edges of .0005.
    rng = np.random.default_rng(0)
    k, n = 100_000, 200_000
    j = rng.integers(0, k + 1, n)
    dec = vector["input"]["dec"]
    if isinstance(dec, str):
        d = rng.random(n) if dec.startswith("U") else (rng.random(n) < 0.3).astype(float)
    else:
        d = np.full(n, float(dec))
    value = metrics.cmfg(d, j, k, bins=20)
    assert value == pytest.approx(vector["expected"]["cMFG"], rel=0, abs=0.005)


@pytest.mark.parametrize("vector", vectors("faithfulness"))
def test_faithfulness(vector: Vector) -> None:
    value = metrics.faithfulness(vector["input"]["dec"], vector["input"]["conf"])
    assert value == pytest.approx(vector["expected"]["faithfulness"], rel=0, abs=vector["tol"])


@pytest.mark.parametrize("vector", vectors("confidence"))
def test_confidence(vector: Vector) -> None:
    value = metrics.confidence(vector["input"]["contradictions"], vector["input"]["k"])
    assert value == pytest.approx(vector["expected"]["conf"], rel=0, abs=vector["tol"])


@pytest.mark.parametrize("vector", vectors("eq3"))
def test_equation_three(vector: Vector) -> None:
    value = metrics.self_knowledge_factuality(vector["input"]["SK"], vector["input"]["SU"])
    expected = vector["expected"]["F"]
    assert (value is None) == (expected is None)
    if expected is not None:
        assert value == pytest.approx(expected, rel=0, abs=vector["tol"])


@pytest.mark.parametrize("vector", vectors("position_bins"))
def test_position_bins(vector: Vector) -> None:
    n = vector["input"]["n"]
    assert [metrics.position_bin(i, n) for i in range(1, n + 1)] == vector["expected"]["bins"]


@pytest.mark.parametrize("vector", vectors("position_fractions"))
def test_position_fractions(vector: Vector) -> None:
    found = metrics.position_fractions(vector["input"]["sentences"])
    for name, expected in vector["expected"]["bin0"].items():
        assert found[0][name] == pytest.approx(expected, rel=0, abs=vector["tol"]), name


@pytest.mark.parametrize("vector", vectors("length_penalty"))
def test_length_penalty(vector: Vector) -> None:
    found = metrics.length_penalty(vector["input"]["n"], vector["input"]["gamma"])
    assert found == pytest.approx(vector["expected"]["penalty"], rel=0, abs=vector["tol"])


@pytest.mark.parametrize("vector", vectors("f1_at_k"))
def test_f1_at_k(vector: Vector) -> None:
    given = vector["input"]
    value = metrics.f1_at_k(given["S"], given["NS"], given["K"])
    assert value == pytest.approx(vector["expected"]["f1"], rel=0, abs=vector["tol"])
