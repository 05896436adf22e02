"""Which items people get: every one has a known, positive probability."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from sayso.people.items import RunItem, items_of, label_source
from sayso.people.labels import LabeledItem
from sayso.people.sampling import DESIGNS, draw_design
from sayso.records import InputError
from support.label_runs import answers_run


def population(sizes: dict[str, int], certain: float | None = 0.9) -> list[RunItem]:
    return [
        RunItem(LabeledItem("answer", "short", f"{name}{n}", "q"), name, certain)
        for name, size in sizes.items()
        for n in range(size)
    ]


SIZES = {"known, correct": 120, "known, uncertain": 6, "unknown, incorrect": 60, "unknown, x": 30}


@pytest.mark.parametrize("name", ["stratified", "random"])
def test_simulated_frequencies_are_the_inclusion_probabilities(name: str) -> None:
    items, n, draws = population(SIZES), 40, 1500
    counts: Counter[LabeledItem] = Counter()
    for seed in range(draws):
        design, places = draw_design(items, name, n, 0, seed)
        counts.update(place.item for place in places[:n])
    drawn = Counter(place.stratum for place in places[:n])
    assert sum(drawn.values()) == n
    assert len(places) == len(items) == len({place.item for place in places})
    stratum = {place.item: place.stratum for place in places}
    size = {one.name: one.size for one in design.strata}
    expected = {item: drawn[stratum[item]] / size[stratum[item]] for item in stratum}
    # over all items, inclusion probabilities add up to the number of items that are drawn
    assert sum(expected.values()) == pytest.approx(n)
    assert all(0 < p <= 1 for p in expected.values())
    z = [
        (counts[item] / draws - p) / max(np.sqrt(p * (1 - p) / draws), 1e-9)
        for item, p in expected.items()
        if p < 1
    ]
    assert np.abs(z).max() < 4.5
    assert 0.8 < np.std(z) < 1.2
    assert all(counts[item] == draws for item, p in expected.items() if p == 1)


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("n", [1, 3, 7, 24, 60, 400])
def test_every_stratum_has_a_share_and_gets_labels(name: str, n: int) -> None:
    items = [
        *population(SIZES),
        *population({"odd": 1, "unread": 2}, 0.3),
        *population({"none": 4}, None),
    ]
    design, places = draw_design(items, name, n, 0, 1)
    assert sum(one.share for one in design.strata) == pytest.approx(1)
    assert sum(one.size for one in design.strata) == len(items) == design.items
    assert all(one.share > 0 for one in design.strata)
    first = Counter(place.stratum for place in places[:n])
    assert set(first) == {one.name for one in design.strata}
    assert len(places) == len(items)


def test_any_part_of_the_order_is_a_sample_of_each_stratum() -> None:
    """Whoever stops early has labeled a random part of each stratum, in about its share."""
    items = population(SIZES)
    design, places = draw_design(items, "stratified", 60, 0, 3)
    for m in (10, 20, 30, 50, 60, 100):
        got = Counter(place.stratum for place in places[:m])
        for one in design.strata:
            if one.size > got[one.name]:
                assert abs(got[one.name] - m * one.share) < 10
    # turns tell no stratum: no stratum comes at equal distances
    turns = [number for number, place in enumerate(places[:60]) if place.stratum == "unknown, x"]
    assert len(set(np.diff(turns).tolist())) > 3


def test_uncertain_verdicts_are_drawn_more_often_and_sure_ones_too() -> None:
    items = [*population({"a": 300}, 0.99), *population({"b": 100}, 0.4)]
    design, _ = draw_design(items, "certainty", 60, 0, 0)
    shares = {one.name: one.share for one in design.strata}
    assert set(shares) == {"certainty below 0.6", "certainty from 0.95"}
    assert shares["certainty below 0.6"] > 0.6  # of 400 items, 100
    assert shares["certainty from 0.95"] > 0.25
    with pytest.raises(InputError, match="--design certainty: the judge of this run"):
        draw_design(population({"a": 9}, None), "certainty", 5, 0, 0)


def test_a_design_is_the_same_for_the_same_seed_only() -> None:
    items = population(SIZES)
    again = [draw_design(list(reversed(items)), "stratified", 30, 0, 5)[1] for _ in range(2)]
    assert again[0] == again[1] == draw_design(items, "stratified", 30, 0, 5)[1]
    assert again[0] != draw_design(items, "stratified", 30, 0, 6)[1]
    one = draw_design(items, "stratified", 30, 0, 5)[0]
    judged_anew = [items[0]._replace(read="unknown, x"), *items[1:]]
    assert draw_design(judged_anew, "stratified", 30, 0, 5)[0].population != one.population


def test_a_weighted_mean_of_a_drawn_sample_is_unbiased() -> None:
    """The reason for all this: 1 / probability makes any design estimate the whole run."""
    items = population(SIZES)
    truth = {one.item: float(one.reading.startswith("unknown")) for one in items}
    means = []
    for seed in range(300):
        design, places = draw_design(items, "stratified", 30, 0, seed)
        part = places[: 17 + seed % 10]  # stopped early
        got = Counter(place.stratum for place in part)
        size = {one.name: one.size for one in design.strata}
        weight = [size[place.stratum] / got[place.stratum] for place in part]
        means.append(sum(w * truth[p.item] for w, p in zip(weight, part, strict=True)) / len(items))
    assert np.mean(means) == pytest.approx(90 / 216, abs=0.005)


def test_wrong_numbers_and_names_are_one_line() -> None:
    items = population({"a": 5})
    with pytest.raises(InputError, match="--design 'worst': expected one of stratified"):
        draw_design(items, "worst", 5, 0, 0)
    with pytest.raises(InputError, match="--n 0"):
        draw_design(items, "random", 0, 0, 0)


def test_strata_of_a_run_are_known_by_verdict(tmp_path: Path) -> None:
    run = answers_run(tmp_path / "run", 80)
    stage, items = items_of(label_source(run), "answer")
    assert stage == "short"
    assert Counter(one.reading for one in items) == {
        "known, correct": 20,
        "known, uncertain": 20,
        "unknown, incorrect": 20,
        "unknown, uncertain": 20,
    }
    # of the method that the main numbers are of, unless another is asked for
    assert {one.item.target[0] for one in items} == {"s"}
    plain = items_of(label_source(run, "plain"), "answer")[1]
    assert {one.item.target[0] for one in plain} == {"p"}
    every = items_of(label_source(run, "all"), "answer")[1]
    assert len(every) == 160
    assert {one.reading.partition(", ")[0] for one in every} == {"instructed", "plain"}
