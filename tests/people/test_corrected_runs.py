"""Numbers of runs, corrected by people's labels: against a run that people judged as a whole."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import sayso
from sayso.metrics import at_level
from sayso.people.corrected import corrected_numbers, said_of
from sayso.people.items import items_of, label_source
from sayso.people.labels import (
    LabeledItem,
    LabelStore,
    PersonLabel,
    verdict_of_person,
)
from sayso.people.sampling import draw_design
from sayso.records import CorrectedNumber, Estimate, Verdict, slice_of
from sayso.storage.run_folder import RunFolder
from support.label_runs import answers_run

ANSWERED = {"stance": "committed", "content": "correct"}


def label(
    item: LabeledItem, annotator: str = "ann", design: str = "", **said: object
) -> PersonLabel:
    verdict = verdict_of_person(item, annotator, said)
    skipped = str(said.get("skipped") or "")
    return PersonLabel(verdict, item.kind, item.stage, design=design, skipped=skipped)


def true_verdict(item: LabeledItem) -> dict[str, object]:
    """Return what people say of an answer of the made run, which its judge reads otherwise."""
    number = int(item.asked[1:])
    said = (
        {"stance": "committed", "content": "correct"},
        {"stance": "committed", "content": "incorrect"},
        {"stance": "hedged", "content": "correct"},
        {"stance": "abstained"},
    )[number % 4]
    # of every fifth answer they say that it hedges, of every seventh that it is wrong
    if number % 5 == 0:
        return {"stance": "hedged", "content": "correct"}
    return {"stance": "committed", "content": "incorrect"} if number % 7 == 0 else said


def measured(folder: Path, n: int = 80) -> Path:
    run = answers_run(folder, n)
    sayso.measure(run)
    return run


def write_labels(run: Path, n: int, design: str = "stratified") -> None:
    source = label_source(run)
    _, items = items_of(source, "answer")
    drawn, places = draw_design(items, design, n, 0, 1)
    with LabelStore.open(run) as store:
        store.put_design(drawn, places)
        for at in store.assign(drawn, "ann", n):
            item = places[at].item
            store.add(label(item, design=drawn.id, **true_verdict(item)))


def by_name(numbers: list[CorrectedNumber], form: str = "short") -> dict[str, CorrectedNumber]:
    where = set(slice_of(form=form))
    return {one.raw.name: one for one in numbers if set(one.raw.where) == where}


def test_nobody_labeled_anything(tmp_path: Path) -> None:
    run = measured(tmp_path / "run")
    assert corrected_numbers(run) == []
    assert not (run / "labels.sqlite").exists()
    # labels that were all skipped, or of an answer that the run does not have, correct nothing
    item = LabeledItem("answer", "short", "s0", "q0")
    with LabelStore.open(run) as store:
        store.add(label(item, skipped="cannot tell"))
        store.add(label(LabeledItem("answer", "short", "other", "q0"), **ANSWERED))
    assert corrected_numbers(run) == []


def test_all_labeled_is_the_run_that_people_judged(tmp_path: Path) -> None:
    """Every rate equals that of a run whose verdicts are people's."""
    run = measured(tmp_path / "run")
    write_labels(run, 80)
    found = by_name(corrected_numbers(run))
    other = tmp_path / "other"
    shutil.copytree(run, other)
    (other / "labels.sqlite").unlink()
    folder = RunFolder.open(other)
    verdicts = [
        verdict_of_person(
            item := LabeledItem("answer", "short", v.target, v.asked), "ann", true_verdict(item)
        )
        if v.target.startswith("s")
        else v
        for v in folder.read("verdicts/short", Verdict)
    ]
    folder.write("verdicts/short", verdicts, Verdict)
    truth = {
        e.name: e for e in sayso.measure(other).estimates if set(e.where) == {("form", "short")}
    }
    assert {"FA", "UA", "UUR", "KCR", "EA", "J", "F1_uncertain", "accuracy"} <= set(found)
    for name, number in found.items():
        assert number.corrected.value == pytest.approx(truth[name].value), name
        assert number.alone.value == pytest.approx(truth[name].value), name
        assert (number.labels, number.rows, number.annotators) == (80, 80, ("ann",))
    assert found["FA"].raw.value != pytest.approx(found["FA"].corrected.value)


def test_part_labeled(tmp_path: Path) -> None:
    run = measured(tmp_path / "run", 240)
    write_labels(run, 80)
    numbers = corrected_numbers(run)
    found = by_name(numbers)
    stored = RunFolder.open(run).read("metrics/uncle", Estimate)
    for name in ("FA", "J", "accuracy"):
        one = found[name]
        assert one.raw in stored
        assert one.labels == 80
        assert one.rows == 240
        assert one.disagreements > 2
        assert one.corrected.name == one.alone.name == name
        assert one.corrected.where == one.raw.where
        assert ("corrected", "ppi@1") in one.corrected.signature
        assert one.corrected.low is not None
    # the truth of all 240, which the judge misses
    truth = sum(
        true_verdict(LabeledItem("answer", "short", "", f"q{i}")).get("content") == "correct"
        and true_verdict(LabeledItem("answer", "short", "", f"q{i}"))["stance"] == "committed"
        for i in range(240)
    )
    accuracy = found["accuracy"].corrected
    assert accuracy.low is not None
    assert accuracy.high is not None
    assert accuracy.low < truth / 240 < accuracy.high
    # another level gives another interval
    with at_level(0.5):
        narrow = by_name(corrected_numbers(run))["accuracy"].corrected
    assert narrow.low is not None
    assert narrow.low > accuracy.low
    # nobody labeled paragraphs, or answers without the instruction
    assert not by_name(numbers, "long")
    assert {part for one in numbers for part in one.raw.where} == {("form", "short")}


def test_what_several_people_say_of_one_answer() -> None:
    item = LabeledItem("answer", "short", "s1", "q1")
    right = [label(item, name, **ANSWERED) for name in ("ann", "bo")]
    hedged = label(item, "cy", stance="hedged", content="correct")
    assert said_of([hedged, *right]).stance == "committed"
    # two who differ: one of them, the same each time
    one = said_of([right[0], hedged])
    assert one in (right[0].verdict, hedged.verdict)
    assert said_of([hedged, right[0]]) == one
    picked = {
        said_of(
            [
                label(other, "ann", **ANSWERED),
                label(other, "cy", stance="hedged", content="correct"),
            ]
        ).stance
        for other in (LabeledItem("answer", "short", f"s{i}", f"q{i}") for i in range(20))
    }
    assert picked == {"committed", "hedged"}
    sure = LabeledItem("sureness", "short-decisive", "s1#0", "q1")
    assert said_of([label(sure, "ann", number=0.2), label(sure, "bo", number=0.6)]).number == (
        pytest.approx(0.4)
    )
