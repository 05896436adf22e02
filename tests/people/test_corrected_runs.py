"""Numbers of runs, corrected by people's labels: against a run that people judged as a whole."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import sayso
from sayso.metrics import at_level
from sayso.people.agreement import agreement
from sayso.people.corrected import corrected_numbers
from sayso.people.items import items_of, label_source, of_other_texts, shown_items
from sayso.people.labels import (
    OLD_TEXT,
    Kind,
    LabeledItem,
    LabelStore,
    PersonLabel,
    pair_of,
    verdict_of_person,
)
from sayso.people.sampling import draw_design
from sayso.records import (
    CorrectedNumber,
    Estimate,
    Generation,
    Gold,
    InputError,
    Question,
    Score,
    Slice,
    Verdict,
    slice_of,
)
from sayso.storage.run_folder import LABELS, RunFolder
from support.label_runs import answers_run, claims_run, pairs_run

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


def write_labels(run: Path, n: int, design: str = "stratified", seed: int = 1) -> None:
    """Label the first items of a draw, but for those that were labeled before."""
    source = label_source(run)
    _, items = items_of(source, "answer")
    drawn, places = draw_design(items, design, n, 0, seed)
    with LabelStore.open(run) as store:
        before = {one.item for one in store.labels()}
        store.put_design(drawn, places)
        for at in store.assign(drawn, "ann", n):
            item = places[at].item
            if item not in before:
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


@pytest.mark.parametrize("before", [None, "stratified", "certainty"])
def test_all_labeled_is_the_run_that_people_judged(tmp_path: Path, before: str | None) -> None:
    """Every rate equals that of a run whose verdicts are people's, also after two draws."""
    run = measured(tmp_path / "run")
    if before:
        write_labels(run, 30, before, 2)
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
    assert {"FA", "UA", "UUR", "KCR", "EA", "J", "lift_UA", "accuracy"} <= set(found)
    for name, number in found.items():
        assert number.corrected.value == pytest.approx(truth[name].value), name
        assert number.alone.value == pytest.approx(truth[name].value), name
        assert (number.labels, number.rows, number.annotators) == (80, 80, ("ann",))
    assert found["FA"].raw.value != pytest.approx(found["FA"].corrected.value)


def test_labels_of_two_draws_weigh_by_the_groups_of_both(tmp_path: Path) -> None:
    run = measured(tmp_path / "run", 240)
    write_labels(run, 80)
    write_labels(run, 80, seed=2)
    with LabelStore.read(run) as store:
        labels, designs = store.labels(), store.designs()
        stratum = {one.item: one.stratum for one in store.places(designs[0].id)}
    assert len(designs) == len({one.design for one in labels}) == 2
    right: dict[str, list[bool]] = {}
    for one in labels:
        right.setdefault(stratum[one.item], []).append(one.verdict.value == "correct")
    sizes = {one.name: one.size for one in designs[0].strata}
    assert sizes.keys() == right.keys()
    share = sum(sizes[name] * np.mean(some) for name, some in right.items()) / 240
    number = by_name(corrected_numbers(run))["accuracy"]
    assert number.alone.value == pytest.approx(share)
    assert number.labels == len(labels) > 100
    # without the groups of one of the draws, nobody can tell how its labels weigh
    with sqlite3.connect(run / LABELS) as db:
        for table, column in (("designs", "id"), ("places", "design"), ("assigned", "design")):
            db.execute(f"DELETE FROM {table} WHERE {column}=?", (designs[0].id,))
    with LabelStore.open(run) as store:
        lost = [one for one in labels if one.design == designs[0].id]
        store.add_all(lost)  # as an import stores them, with the probability of their draw
    found = corrected_numbers(run)
    assert {one.corrected.value for one in found} == {one.alone.value for one in found} == {None}
    assert all("several draws" in str(one.corrected.problem) for one in found)
    (decided,) = sayso.check_assertions(run, "accuracy[short] >= .01")
    assert decided.verdict == "cannot say yet"


def test_labels_of_texts_that_came_back_are_no_sample_of_all(tmp_path: Path) -> None:
    run = measured(tmp_path / "run")
    source = label_source(run)
    _, items = items_of(source, "answer")
    drawn, places = draw_design(items, "random", 60, 0, 1)

    def say(store: LabelStore, wanted: list[LabeledItem]) -> None:
        shown = shown_items(source, wanted)
        for item, one in zip(wanted, shown, strict=True):
            said = label(item, design=drawn.id, **true_verdict(item))
            store.add(msgspec.structs.replace(said, shown=one.of))

    with LabelStore.open(run) as store:
        store.put_design(drawn, places)
        given = [places[at].item for at in store.assign(drawn, "ann", 60)]
        say(store, given)
    assert by_name(corrected_numbers(run))["FA"].corrected.low is not None
    folder = RunFolder.open(run)
    answers = folder.read("generations/short", Generation)
    other = {item.target for item in given[:20]}
    changed = [
        msgspec.structs.replace(g, text="Something else.") if g.id in other else g for g in answers
    ]
    folder.write("generations/short", changed, Generation)

    def check_none() -> None:
        found = by_name(corrected_numbers(run))["FA"]
        assert (found.corrected.value, found.corrected.low, found.alone.value) == (None,) * 3
        assert "20 of the labels are of other texts" in (found.corrected.problem or "")

    check_none()
    with LabelStore.open(run) as store:  # as the page does that shows these items again
        for number, item in enumerate(given[:20]):
            store.withdraw(item, "ann", f"{OLD_TEXT}{number}")
        assert {one.item for one in store.of_old_texts()} == {*given[:20]}
    check_none()
    with LabelStore.open(run) as store:
        say(store, given[:20])
    assert by_name(corrected_numbers(run))["FA"].corrected.low is not None


def test_labels_beside_another_gold_do_not_count(tmp_path: Path) -> None:
    run = measured(tmp_path / "run")
    source = label_source(run)
    _, items = items_of(source, "answer")
    item = items[0].item
    (before,) = shown_items(source, [item])
    older, _, golds = before.of.partition("g")
    said = msgspec.structs.replace(label(item, **ANSWERED), shown=before.of)
    as_before = msgspec.structs.replace(said, shown=older)  # of a version without a hash of golds
    assert golds
    assert of_other_texts(source, [said, as_before, label(item, **ANSWERED)]) == []
    folder = RunFolder.open(run)
    questions = folder.read("questions", Question)
    other = [msgspec.structs.replace(q, golds=(Gold("another"),)) for q in questions]
    folder.write("questions", other, Question)
    assert of_other_texts(source, [said, as_before]) == [said]


@pytest.mark.parametrize(
    ("drawn_from", "told"),
    [(40, "40 items, and this run has 80"), (76, "76 items, and this run has 80"), (80, "")],
)
def test_labels_of_a_run_about_less_are_no_sample_of_all(
    drawn_from: int, told: str, tmp_path: Path
) -> None:
    run = measured(tmp_path / "run")
    less = measured(tmp_path / "less", drawn_from)
    write_labels(less, 30, "random")
    with LabelStore.read(less) as theirs, LabelStore.open(run) as store:
        store.add_all(theirs.labels())
    for _ in range(2):
        found = by_name(corrected_numbers(run))["FA"].corrected
        assert (found.low is None) == bool(told)
        assert told in (found.problem or "")
        assert agreement(run, resamples=10).kinds[0].weighted != bool(told)
        shutil.copy(less / "labels.sqlite", run)  # with the draw itself


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
    wanted = {"cmfg", "mfg", "cmfg_aspects", "mean_decisiveness"}
    check_all_labeled(run, tmp_path / "other", "short-decisive", wanted)


def comparing_run(folder: Path, raw: list[str], settings: dict[str, Any]) -> Path:
    """A run whose answers are compared with three draws each, as these letters say."""
    run = pairs_run(folder, len(raw))
    stored = RunFolder.open(run)
    pairs = stored.read("verdicts/short-contradict", Verdict)
    compared = [msgspec.structs.replace(v, raw=own) for v, own in zip(pairs, raw, strict=True)]
    stored.write("verdicts/short-contradict", compared, Verdict)
    manifest = stored.read_manifest()
    chosen = {"seed": 0, "draws.k": len(raw[0]), "least": 1, **settings}
    stored.write_manifest(msgspec.structs.replace(manifest, settings=chosen))
    sayso.measure(run)
    return run


def label_pairs(run: Path, people: list[str]) -> None:
    """Let people say of the draws of each answer what these letters say."""
    _, items = items_of(label_source(run), "pair")
    with LabelStore.open(run) as store:
        for one in items:
            target, sample = pair_of(one.item.target)
            number = int(target[1:].partition("#")[0])
            store.add(label(one.item, label=people[number][sample]))


def confidence(run: Path) -> CorrectedNumber:
    (one,) = [one for one in corrected_numbers(run) if one.raw.name == "mean_confidence"]
    return one


@pytest.mark.parametrize("punt", ["drop", "literal", "contradiction"])
def test_pairs_that_people_labeled_correct_confidence(tmp_path: Path, punt: str) -> None:
    """All pairs labeled: mean confidence is that of a run whose comparisons are people's."""
    judge = ["ccn", "cne", "nnn", "epn", "cc?", "npc", "eee", "ncp", "ccc", "nec"] * 2
    people = ["cnn", "cnn", "ccn", "npn", "ccn", "npc", "nnc", "ccp", "nnn", "nnn"] * 2
    if punt == "drop":  # people and judge count the same draws
        judge[4] = judge[14] = "ccn"
    else:  # an answer that the judge does not see is one draw more
        people[0] = people[10] = "pnn"
        judge[4] = judge[14] = "ccn"
    settings = {"sample_punt": punt}
    run = comparing_run(tmp_path / "run", judge, settings)
    truth = comparing_run(tmp_path / "other", people, settings)
    label_pairs(run, people)
    expected = next(e for e in sayso.measure(truth).estimates if e.name == "mean_confidence")
    one = confidence(run)
    assert one.raw.value != pytest.approx(expected.value)
    assert one.corrected.value == pytest.approx(expected.value)
    assert one.alone.value == pytest.approx(expected.value)
    assert (one.labels, one.rows) == (60, 60)
    # labels of pairs say nothing of wording, and none is lost
    assert {one.raw.name for one in corrected_numbers(run)} == {"mean_confidence"}
    assert one.elsewhere == 0


def test_a_draw_that_only_one_of_both_counts_adds_what_the_others_say(tmp_path: Path) -> None:
    """By hand: a draw that people do not count adds c, one that only they count what it says."""
    judge = ["cnnn", "cpnn"] + ["nncc"] * 8
    people = ["cpnn", "ccnn"] + ["nncc"] * 8
    run = comparing_run(tmp_path / "run", judge, {})
    label_pairs(run, people)
    one = confidence(run)
    # of the first c = 3/4 and k = 4: (0 + 3/4 + 1 + 1) / 4; exactly it is 2/3
    first = (0 + 0.75 + 1 + 1) / 4
    # of the second c = 2/3 and k = 3: (0 + (0 - 2/3) + 1 + 1) / 3; exactly it is 1/2
    second = (0 - 2 / 3 + 1 + 1) / 3
    assert one.corrected.value == pytest.approx((first + second + 8 * 0.5) / 10)
    exact = (2 / 3 + 1 / 2 + 8 * 0.5) / 10
    assert one.corrected.value == pytest.approx(exact, abs=0.01)


def test_some_pairs_labeled(tmp_path: Path) -> None:
    """A judge that misses contradictions: the interval has the truth, and the raw one has not."""
    rng = np.random.default_rng(5)
    people, judge = [], []
    for _ in range(150):
        share = rng.choice([0.1, 0.5, 0.9])
        said = rng.random(6) < share
        missed = rng.random(6) < 0.4
        people.append("".join("nc"[int(c)] for c in said))
        judge.append("".join("nc"[int(c and not m)] for c, m in zip(said, missed, strict=True)))
    run = comparing_run(tmp_path / "run", judge, {})
    truth = sum(own.count("n") for own in people) / (6 * 150)
    read = {}
    with LabelStore.open(run) as store:
        _, items = items_of(label_source(run), "pair")
        drawn, places = draw_design(items, "stratified", 120, 0, 0)
        store.put_design(drawn, places)
        for at in store.assign(drawn, "ann", 120):
            item = places[at].item
            target, sample = pair_of(item.target)
            read[item] = people[int(target[1:].partition("#")[0])][sample]
            store.add(label(item, design=drawn.id, label=read[item]))
    one = confidence(run)
    assert (one.labels, one.rows) == (120, 900)
    for e, holds in ((one.corrected, True), (one.alone, True), (one.raw, False)):
        assert e.low is not None
        assert e.high is not None
        assert (e.low <= truth <= e.high) == holds
    assert one.effect is not None
    assert one.effect.low is not None
    assert one.effect.low > 0  # the judge made it higher


def test_pairs_correct_nothing_where_all_but_entailment_lowers_confidence(tmp_path: Path) -> None:
    run = comparing_run(tmp_path / "run", ["cnn"] * 10, {"relation": "contradiction"})
    label_pairs(run, ["ccn"] * 10)
    assert confidence(run).corrected.value == pytest.approx(1 / 3)
    folder = RunFolder.open(run)
    manifest = folder.read_manifest()
    strict = {**manifest.settings, "relation": "inconsistency", "contradict": "nli", "nli": "some"}
    folder.write_manifest(msgspec.structs.replace(manifest, settings=strict))
    with pytest.raises(InputError, match="sayso measure"):  # what is stored is of other settings
        corrected_numbers(run)
    sayso.measure(run)
    assert corrected_numbers(run) == []


def test_a_run_that_contradicts_itself_is_not_corrected(tmp_path: Path) -> None:
    run = measured(tmp_path / "run")
    write_labels(run, 40)
    folder = RunFolder.open(run)
    verdicts = folder.read("verdicts/short", Verdict)
    other = msgspec.structs.replace(verdicts[0], stance="committed", content="incorrect")
    folder.write("verdicts/short", [*verdicts, other], Verdict)
    for read in (corrected_numbers, sayso.agreement, label_of_run):
        with pytest.raises(InputError, match="1 rows a second time"):
            read(run)
    folder.write("verdicts/short", verdicts, Verdict)
    questions = folder.read("questions", Question)
    folder.write("questions", questions * 2, Question)  # labels would count twice
    with pytest.raises(InputError, match="a second time"):
        corrected_numbers(run)
    folder.write("questions", questions, Question)
    folder.write("verdicts/short", [other, *verdicts[1:]], Verdict)  # of a file that was edited
    with pytest.raises(InputError, match="sayso measure"):
        corrected_numbers(run)
    sayso.measure(run)
    assert corrected_numbers(run)
    ((data,),) = draws(run, "SELECT design FROM designs")
    drawn = msgspec.json.decode(data)
    strata = drawn["strata"]
    for other in (  # of a draw that was edited
        {"items": 400},
        {"strata": [strata[0] | {"size": strata[0]["size"] - 1}, *strata[1:]]},
        {"strata": [strata[0] | {"name": "x"}, *strata[1:]]},
    ):
        edited = msgspec.json.encode(drawn | other)
        draws(run, "UPDATE designs SET design=?", edited)
        with pytest.raises(InputError, match="is damaged"):
            corrected_numbers(run)
    draws(run, "UPDATE designs SET design=?", data)
    assert corrected_numbers(run)
    draws(run, "DELETE FROM places WHERE place > 10")
    with pytest.raises(InputError, match="is damaged"):
        corrected_numbers(run)


def draws(run: Path, statement: str, *values: object) -> list[tuple[Any, ...]]:
    """Change or read what a run stores of its draws."""
    with contextlib.closing(sqlite3.connect(run / LABELS)) as db, db:
        return db.execute(statement, values).fetchall()


def label_of_run(run: Path) -> object:
    return items_of(label_source(run), "answer")


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


def test_a_letter_that_sayso_never_writes_counts_as_unread(tmp_path: Path) -> None:
    """Somebody else's labels may hold anything."""
    found = []
    for letter in ("?", "Z"):
        run = comparing_run(tmp_path / letter.strip("?"), ["cn"] * 8, {})
        label_pairs(run, ["cn"] * 8)
        with sqlite3.connect(run / LABELS) as base:
            for number, stored in base.execute("SELECT number, label FROM events").fetchall():
                one = json.loads(stored)
                if one["verdict"]["label"] == "c":
                    one["verdict"]["label"] = letter
                    made = json.dumps(one).encode()
                    base.execute("UPDATE events SET label = ? WHERE number = ?", (made, number))
        found.append([one.corrected for one in corrected_numbers(run)])
    assert found[0] == found[1]
