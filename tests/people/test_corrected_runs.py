"""Numbers of runs, corrected by people's labels: against a run that people judged as a whole."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import sayso
from sayso.metrics import at_level
from sayso.people.corrected import corrected_numbers
from sayso.people.items import items_of, label_source
from sayso.people.labels import (
    Kind,
    LabeledItem,
    LabelStore,
    PersonLabel,
    verdict_of_person,
)
from sayso.people.sampling import draw_design
from sayso.records import (
    CorrectedNumber,
    Estimate,
    Generation,
    InputError,
    Question,
    Score,
    Slice,
    Verdict,
    slice_of,
)
from sayso.report.corrected import stored_corrected
from sayso.storage.run_folder import RunFolder
from support.label_runs import MODEL, answers_run, claims_run, pairs_run

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


# ---- the other protocols


def label_all(run: Path, kind: Kind, said: Callable[[LabeledItem], dict[str, object]]) -> None:
    """Write a label of every item of a kind."""
    _, items = items_of(label_source(run), kind)
    with LabelStore.open(run) as store:
        store.add_all([label(one.item, **said(one.item)) for one in items])


def as_judged_by_people(run: Path, other: Path, stage: str) -> dict[tuple[str, Slice], Estimate]:
    """Return the numbers of a copy of a run in which people's labels are the judge's verdicts."""
    with LabelStore.open(run) as store:
        said = {(one.item.target, one.item.asked): one.verdict for one in store.labels()}
    shutil.copytree(run, other)
    (other / "labels.sqlite").unlink()
    folder = RunFolder.open(other)
    stored = folder.read(f"verdicts/{stage}", Verdict)
    folder.write(f"verdicts/{stage}", [said.get((v.target, v.asked), v) for v in stored], Verdict)
    return {(e.name, e.where): e for e in sayso.measure(other).estimates}


def check_all_labeled(run: Path, other: Path, stage: str, wanted: set[str]) -> None:
    truth = as_judged_by_people(run, other, stage)
    found = corrected_numbers(run)
    assert wanted <= {one.raw.name for one in found}
    moved = 0
    for one in found:
        expected = truth[one.raw.name, one.raw.where].value
        assert one.corrected.value == pytest.approx(expected), (one.raw.name, one.raw.where)
        assert one.alone.value == pytest.approx(expected)
        moved += one.raw.value != pytest.approx(expected)
    assert moved


def hears_more(item: LabeledItem) -> dict[str, object]:
    """Say what the judge says, except of every fifth answer, which hedges."""
    number = int(item.asked[1:])
    if number % 5 == 0:
        return {"stance": "hedged", "content": "correct"}
    stance, content = (
        ("committed", "correct"),
        ("committed", "incorrect"),
        ("hedged", "correct"),
        ("abstained", ""),
    )[number % 4]
    return {"stance": stance, "content": content}


def test_labels_of_another_run(tmp_path: Path) -> None:
    """Where the judge errs on both alike, its confusion matrix leads to what people say."""
    other = measured(tmp_path / "other")
    run = tmp_path / "run"
    shutil.copytree(other, run)
    label_all(other, "answer", hears_more)
    truth = by_name(corrected_numbers(other))
    assert corrected_numbers(run) == []
    found = by_name(sayso.correct(run, labels=other))
    assert {"FA", "UA", "UUR", "KCR", "EA", "J", "accuracy"} <= set(found)
    for name, number in found.items():
        assert number.corrected.value == pytest.approx(truth[name].corrected.value), name
        assert number.alone.value is None
        assert number.gain is None
        assert number.labels_of == f"{other} ({MODEL})"
        assert ("corrected", "confusion@1") in number.corrected.signature
    assert found["J"].corrected.low < found["J"].corrected.value < found["J"].corrected.high
    assert found["UUR"].raw.value != pytest.approx(found["UUR"].corrected.value)
    # they are used where somebody asks for them, and nowhere else
    assert not stored_corrected(RunFolder.open(run))
    assert sayso.correct(run) == []


def test_labels_of_another_run_must_fit(tmp_path: Path) -> None:
    run, other = measured(tmp_path / "run"), measured(tmp_path / "other")
    with pytest.raises(InputError, match=r"other: nobody labeled this run; see `sayso label"):
        sayso.correct(run, labels=other)
    write_labels(other, 80)
    folder = RunFolder.open(other)
    numbers = [
        msgspec.structs.replace(
            e, signature=tuple((k, "other@1" if k == "judge" else v) for k, v in e.signature)
        )
        for e in folder.read("metrics/uncle", Estimate)
    ]
    folder.write("metrics/uncle", numbers, Estimate)
    with pytest.raises(InputError, match=r"other: judged by other@1, but .*run by "):
        sayso.correct(run, labels=other)
    write_labels(run, 80)
    with pytest.raises(InputError, match="people labeled this run, so labels of another one add"):
        sayso.correct(run, labels=other)
    claims = claims_run(tmp_path / "claims")
    with pytest.raises(InputError, match="other: a run of uncle; expected one of self_known"):
        sayso.correct(claims, labels=other)


def check_taught(run: Path, bare: Path, wanted: set[str]) -> None:
    """The labels of all answers of a run lead to the same numbers of its copy without labels."""
    shutil.copytree(run, bare)
    (bare / "labels.sqlite").unlink()
    own = {(one.raw.name, one.raw.where): one for one in corrected_numbers(run)}
    found = sayso.correct(bare, labels=run)
    assert wanted == {one.raw.name for one in found}
    for one in found:
        expected = own[one.raw.name, one.raw.where].corrected.value
        assert one.corrected.value == pytest.approx(expected), (one.raw.name, one.raw.where)


def test_claims_of_another_run(tmp_path: Path) -> None:
    run = claims_run(tmp_path / "run")
    folder = RunFolder.open(run)
    own = [Verdict(f"c{i}", "t0", "model", label=("yes", "no", "yes")[i % 3]) for i in range(12)]
    folder.write("verdicts/self-qa", own, Verdict)
    sayso.measure(run)
    # the checker, which says S and NS in turn, errs on the fourth claim and on the fifth
    said = {4: "NS", 5: "S"}
    turn = ("S", "NS")
    label_all(
        run,
        "claim",
        lambda item: {
            "label": said.get(n := int(item.target[1:]), turn[n % 2]),
        },
    )
    wanted = {"factuality_micro", "irrelevant_share", "SK", "SU", "equation3_in_sample"}
    check_taught(run, tmp_path / "bare", wanted)


def test_claims_that_people_labeled(tmp_path: Path) -> None:
    run = claims_run(tmp_path / "run")
    folder = RunFolder.open(run)
    own = [
        Verdict(f"c{i}", "t0", "model", label=("yes", "no", "yes")[i % 3], number=0.9)
        for i in range(12)
    ]
    folder.write("verdicts/self-qa", own, Verdict)
    sayso.measure(run)
    label_all(run, "claim", lambda item: {"label": ("S", "NS", "IR")[int(item.target[1:]) % 3]})
    wanted = {"factuality_micro", "SK", "SU"}
    check_all_labeled(run, tmp_path / "other", "long-support", wanted)
    assert all(one.corrected.low is None for one in corrected_numbers(run))  # a single entity


def test_sentences_that_people_rated(tmp_path: Path) -> None:
    run = pairs_run(tmp_path / "run", 24)
    folder = RunFolder.open(run)
    manifest = folder.read_manifest()
    settings = {"seed": 0, "draws.k": 3, "least": 1}
    folder.write_manifest(msgspec.structs.replace(manifest, settings=settings))
    sayso.measure(run)
    label_all(run, "sureness", lambda item: {"number": 0.1 * (int(item.asked[1:]) % 10)})
    wanted = {"cmfg", "mfg", "cmfg_aspects", "mfg_aspects", "mean_decisiveness"}
    check_all_labeled(run, tmp_path / "other", "short-decisive", wanted)


def test_answers_whose_errors_are_ranked(tmp_path: Path) -> None:
    run = answers_run(tmp_path / "run", 80)
    folder = RunFolder.open(run)
    manifest = folder.read_manifest()
    folder.write_manifest(
        msgspec.structs.replace(
            manifest, protocols=("selective",), settings={"seed": 0, "draws.k": 0}
        )
    )
    questions = [
        msgspec.structs.replace(q, answerable=int(q.id[1:]) % 3 > 0) if q.id != "w" else q
        for q in folder.read("questions", Question)
        if q.id != "w"
    ]
    folder.write("questions", questions, Question)
    for stage in ("draws", "long"):
        folder.write(f"generations/{stage}", [], Generation)
        folder.write(f"verdicts/{stage}", [], Verdict)
    folder.write("verdicts/short-rules", folder.read("verdicts/short", Verdict), Verdict)
    scores = [Score(f"p{i}", "perplexity", float((7 * i) % 13)) for i in range(80)]
    folder.write("scores/short", scores, Score)
    sayso.measure(run)
    label_all(run, "answer", true_verdict)
    wanted = {"error_rate", "auroc", "abstention_gap", "abstains_unanswerable"}
    check_all_labeled(run, tmp_path / "other", "short", wanted)
    wanted = {"error_rate", "abstention_gap", "abstains_unanswerable", "abstains_answerable"}
    check_taught(run, tmp_path / "bare", wanted)
