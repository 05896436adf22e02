"""Negative controls of self_known: where there is nothing, nothing is found."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from sayso.protocols.self_known.report import sheet
from sayso.records import Estimate, slice_of
from sayso.runs.result import Result
from support.scripted_world import chance, word
from support.telling_world import World

NAMES = [f"{word('control', n, n=4)} {word('family', n)}" for n in range(40)]


def random_texts(seed: int, share: float = 0.5) -> dict[str, str]:
    """Texts of 5 to 9 sentences whose labels do not depend on their place."""
    rng = random.Random(seed)
    return {
        name: "".join("tf"[rng.random() > share] for _ in range(rng.randint(5, 9)))
        for name in NAMES
    }


def test_shuffled_labels_have_no_trend_and_one_by_place_has(tmp_path: Path) -> None:
    world = World(random_texts(3))
    result = world.run(tmp_path / "null", modes="none")
    trend = result.get("trend", "method:plain")
    assert trend.low is not None
    assert trend.high is not None
    assert trend.low <= 0 <= trend.high
    # the positive control: true at the beginning, false at the end
    falling = World({name: "tttt" + "f" * (len(text) - 4) for name, text in world.texts.items()})
    found = falling.run(tmp_path / "falling", modes="none")
    slope = found.get("trend", "method:plain")
    assert slope.high is not None
    assert slope.high < 0


@pytest.mark.parametrize("rate", [0.3, 0.8])
def test_a_judge_blind_to_truth_gives_back_its_accept_rate(tmp_path: Path, rate: float) -> None:
    """SU = 1 - SK = 1 - q: Equation 3 gives q whatever the factuality is (here .5), and the
    accept rate says nothing (VALIDITY: it is no quality score)."""

    def says(claim: str, truth: str, mode: str) -> str:
        return "yes" if chance("blind", claim) < rate else "no"

    result = World(random_texts(4), says).run(tmp_path, modes="qa_none")
    where = "method:plain;mode:qa_none"
    accepts = result.get("accept_rate", where).value
    assert accepts == pytest.approx(rate, abs=0.08)
    known, unknown = result.get("SK", where).value, result.get("SU", where).value
    assert known is not None
    assert unknown is not None
    assert known + unknown == pytest.approx(1, abs=0.12)
    assert result.get("equation3", where).value == pytest.approx(accepts, abs=0.06)
    assert result.get("labeled_factuality", where).value == pytest.approx(0.5, abs=0.08)


def test_a_judge_that_accepts_all_is_cautioned(tmp_path: Path) -> None:
    result = World(random_texts(5), lambda claim, truth, mode: "yes").run(tmp_path, modes="qa")
    where = "method:plain;mode:qa"
    assert result.get("SK", where).value == 1.0
    assert result.get("SU", where).value == 0.0
    assert any("accepts 100 % of its claims" in c for c in result.manifest.cautions)
    # where every claim is accepted, its refusals cannot find the unsupported ones
    made = [e for e in result.estimates if e.where == slice_of(method="plain", score="p_true")]
    assert all(e.value in (None, 0.5) for e in made if e.name == "auroc")


def test_a_source_with_shuffled_titles_supports_nothing(tmp_path: Path) -> None:
    world = World(random_texts(6, share=0.8))
    turned = dict(zip(NAMES, NAMES[1:] + NAMES[:1], strict=True))
    right = world.run(tmp_path / "right", modes="none")
    assert (right.get("factuality_micro", "method:plain").value or 0) > 0.7
    wiki = world.knowledge(tmp_path, turned)
    wrong = world.run(tmp_path / "wrong", modes="none", knowledge=wiki)
    found = wrong.get("factuality_micro", "method:plain")
    # the passages looked up are about somebody else: nothing of a text stands in them, but for
    # three invented names that two topics have by chance
    assert found.numerator == 3.0
    assert (found.value or 0) < 0.02
    # and a source that has none of the topics is a miss, not an error of the model
    wiki = world.knowledge(tmp_path, {name: f"Other {n}" for n, name in enumerate(NAMES)})
    other = world.run(tmp_path / "other", modes="none", knowledge=wiki)
    lost = other.get("claims_without_label", "method:plain;problem:unretrieved")
    assert lost.value == 1.0
    assert other.get("factuality_micro", "method:plain").value is None
    assert any(
        "have no label (unretrieved: the knowledge source has" in c for c in other.manifest.cautions
    )


def test_scores_of_a_judge_by_lot_find_nothing(tmp_path: Path) -> None:
    def says(claim: str, truth: str, mode: str) -> str:
        return "yes" if chance("lot", claim, mode) < 0.5 else "no"

    result = World(random_texts(7), says).run(tmp_path, modes="direct")
    found = result.get("auroc", "method:plain;score:p_true")
    assert found.low is not None
    assert found.high is not None
    assert found.low <= 0.5 <= found.high
    knows = World(random_texts(7)).run(tmp_path / "knows", modes="direct")
    assert knows.get("auroc", "method:plain;score:p_true").value == 1.0


def of_part(result: Result, part: str) -> Estimate:
    return result.get("auroc", method="plain", score="p_true", part=part)


def test_scores_have_an_auroc_in_each_part_of_the_text(tmp_path: Path) -> None:
    texts = {name: text[:5].ljust(5, "t") for name, text in random_texts(8).items()}
    world = World(texts)
    result = world.run(tmp_path / "all", modes="direct")
    parts = [of_part(result, f"{n}/5") for n in range(1, 6)]
    assert [e.value for e in parts] == [1.0] * 5
    assert sum(e.n or 0 for e in parts) == result.get("auroc", "method:plain;score:p_true").n
    assert all(e.low is not None for e in parts)
    # of one class in the first part
    sided = {name: "t" + text[1:] for name, text in texts.items()}
    result = World(sided).run(tmp_path / "sided", modes="direct")
    first = of_part(result, "1/5")
    assert first.value is None
    assert first.problem
    assert of_part(result, "2/5").value == 1.0
    # too few topics for an interval by part
    few = World(dict(list(texts.items())[:8])).run(tmp_path / "few", modes="direct")
    one = of_part(few, "3/5")
    assert (one.value, one.low, one.high) == (1.0, None, None)
    tables = [table for part in sheet(result.estimates).parts for table in part.tables]
    found = [dict(table.rows)[("p_true",)] for table in tables if ("p_true",) in dict(table.rows)]
    by_part, whole = found
    assert whole == (result.get("auroc", method="plain", score="p_true"),)
    assert by_part[:2] == (first, of_part(result, "2/5"))
