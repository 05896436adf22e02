"""``sayso agreement``: judge against people, people among themselves, and how many labels more."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import msgspec
import numpy as np
import pytest

import sayso
from sayso import metrics
from sayso.cli import execute
from sayso.people.agreement import (
    JUDGE,
    MAIN,
    UNWEIGHTED,
    KindAgreement,
    RunAgreement,
    agreement,
    agreement_sheet,
)
from sayso.people.choices import LabelChoices
from sayso.people.corrected import more_labels
from sayso.people.labeling import open_labeling
from sayso.people.labels import LabeledItem, LabelStore, PersonLabel, verdict_of_person
from sayso.records import InputError, Results, Verdict, part_of
from sayso.report.number_tables import notes_of
from sayso.storage.run_folder import LABELS, RunFolder
from support.label_runs import answers_run, as_judge, claims_run, label_run, pairs_run


def only(result: RunAgreement, kind: str = "answer") -> KindAgreement:
    return next(one for one in result.kinds if one.kind == kind)


def compared_on(kind: KindAgreement) -> list[str]:
    """What people and judge are compared on."""
    return list(dict.fromkeys(part_of(e.where, "of") for e in kind.numbers if e.name == "items"))


def confusion(kind: KindAgreement, of: str) -> dict[tuple[str, str], float | None]:
    """Counts of items by what people and what the judge said."""
    return {
        (part_of(e.where, "people"), part_of(e.where, "judge")): e.value
        for e in Results(kind.numbers).each("items", of=of)
    }


@pytest.fixture(scope="module")
def labeled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 80 answers with two annotators, who share 20 items and read some otherwise.

    A says of every fourth item in the draw that it is hedged, B of every fourth and third.
    """

    def says(number: int, read: Verdict, name: str) -> dict[str, object]:
        if number % 4 == 0 or (name == "B" and number % 3 == 0):
            return {"stance": "hedged", "content": "correct"}
        return as_judge(number, read, name)

    run = answers_run(tmp_path_factory.mktemp("people") / "run", 80)
    label_run(run, "AB", says, n=40, shared=20)
    return run


# ---- what is compared


def test_shares_are_those_that_one_counts(labeled: Path) -> None:
    kind = only(agreement(labeled, resamples=200))
    with LabelStore.open(labeled) as store:
        labels = store.labels()
    read = {(v.target, v.asked): v for v in RunFolder.open(labeled).iter("verdicts/short", Verdict)}
    by_item: dict[LabeledItem, list[PersonLabel]] = {}
    for one in labels:
        by_item.setdefault(one.item, []).append(one)
    same = error = split = total = 0.0
    for item, given in by_item.items():
        weight = 1 / (given[0].probability or 0)
        values = {one.verdict.value for one in given}
        judge = read[item.target, item.asked].value
        total += weight
        same += weight * (values == {judge})
        error += weight * (len(values) == 1 and values != {judge})
        split += weight * (len(values) == 2)
    assert kind.items == len(by_item) == 60
    assert dict(kind.annotators) == {"A": 40, "B": 40}
    assert kind.get("agreed").value == pytest.approx(same / total)
    assert kind.get("error").value == pytest.approx(error / total)
    assert kind.get("split").value == pytest.approx(split / total)
    assert kind.undecided == sum(len({o.verdict.value for o in g}) == 2 for g in by_item.values())
    assert 0 < kind.undecided < 20
    assert kind.weighted
    # the three shares are all there is
    parts = (kind.get("agreed"), kind.get("error"), kind.get("split"))
    assert sum(e.value or 0 for e in parts) == pytest.approx(1)
    assert all(e.low is not None and e.low <= e.value <= e.high for e in parts)  # type: ignore[operator]


def test_people_among_themselves_are_compared_on_what_they_share(labeled: Path) -> None:
    kind = only(agreement(labeled, resamples=200))
    assert compared_on(kind) == ["verdict", "stance"]
    for of in ("verdict", "stance"):
        assert kind.get("agreement", of=of, between="people").n == 20
    assert kind.get("agreement", of="verdict", between=JUDGE).n == 60
    # counts of the matrix are of items, whatever they weigh
    counts = confusion(kind, "verdict")
    assert sum(counts.values()) == 60
    # people see doubt where the judge does not, never the other way round
    doubtful = [pair for pair in counts if "uncertain" in pair]
    assert ("uncertain", "uncertain") in doubtful
    assert len(doubtful) > 1
    assert all(said == "uncertain" for said, _ in doubtful)
    assert kind.get("doubt_found").value < 1  # type: ignore[operator]
    assert kind.get("doubt_invented").value == 0


def test_parts_are_strata_lengths_and_annotators(labeled: Path) -> None:
    kind = only(agreement(labeled, resamples=50))
    strata = dict(Results(kind.numbers).by("stratum", "agreed"))
    assert strata.keys() == {
        "known, correct", "known, uncertain", "unknown, incorrect", "unknown, uncertain",
    }  # fmt: skip
    assert sum(e.n for e in strata.values()) == 60
    words = dict(Results(kind.numbers).by("words", "agreed"))
    least = [int(name.split()[0]) for name in words]
    assert len(least) > 1
    assert least == sorted(least)
    assert sum(e.n for e in words.values()) == 60
    # B reads more items otherwise than A does
    own = {name: e.value for name, e in Results(kind.numbers).by("annotator", "agreed")}
    assert own["B"] < own["A"] < 1  # type: ignore[operator]


def test_a_rare_stratum_counts_as_often_as_the_run_has_it(tmp_path: Path) -> None:
    """The judge errs on one stratum only, of which half the labels are but a twentieth is."""
    run = answers_run(tmp_path / "run", 400)
    folder = RunFolder.open(run)
    verdicts = folder.read("verdicts/short", Verdict)
    rare = {v.target for v in verdicts[:40] if v.target.startswith("s") and v.stance == "abstained"}
    changed = [
        v if v.target in rare else msgspec.structs.replace(v, stance="committed", content="correct")
        for v in verdicts
    ]
    folder.write("verdicts/short", changed, Verdict)

    def says(number: int, read: Verdict, name: str) -> dict[str, object]:
        if read.stance == "abstained":
            return {"stance": "committed", "content": "incorrect"}
        return {"stance": "committed", "content": "correct"}

    label_run(run, "A", says, n=40)
    kind = only(agreement(run, resamples=50))
    assert kind.get("error").value == pytest.approx(len(rare) / 400)
    strata = Results(kind.numbers).by("stratum", "agreed")
    labels = sum(e.n for name, e in strata if "uncertain" in name)
    assert labels / kind.items > 2 * len(rare) / 400


# ---- other kinds


def test_claims_and_pairs(tmp_path: Path) -> None:
    claims = claims_run(tmp_path / "claims", 20)

    def off(number: int, read: Verdict, name: str) -> dict[str, object]:
        return {"label": "IR"} if number < 4 else {"label": read.label}

    label_run(claims, "A", off, "claim", n=20)
    kind = only(agreement(claims, resamples=50), "claim")
    assert kind.get("agreed").value == pytest.approx(0.8)
    assert kind.get("agreed").low is None  # one text: its claims may all move together
    assert any(said == "irrelevant" != read for said, read in confusion(kind, "support"))
    main = agreement_sheet([agreement(claims)]).main
    assert main is not None
    assert any("single cluster" in text for text in notes_of(main))
    pairs = pairs_run(tmp_path / "pairs", 12)
    label_run(pairs, "A", as_judge, "pair", n=24)
    kind = only(agreement(pairs, resamples=50), "pair")
    assert kind.items == 24
    assert kind.get("agreed").value == 1
    assert confusion(kind, "contradiction") == {
        ("contradicts", "contradicts"): 12,
        ("does not contradict", "does not contradict"): 12,
    }


def test_sureness_has_correlations(tmp_path: Path) -> None:
    run = pairs_run(tmp_path / "run", 30)

    def says(number: int, read: Verdict, name: str) -> dict[str, object]:
        shift = {"A": 0.1, "B": 0.0}[name] * (-1) ** number
        return {"number": min(1.0, max(0.0, (read.number or 0.0) + shift))}

    label_run(run, "AB", says, "sureness", n=30, shared=30)
    kind = only(agreement(run, resamples=200), "sureness")
    with LabelStore.open(run) as store:
        labels = store.labels("sureness")
    read = {
        v.target: v.number for v in RunFolder.open(run).iter("verdicts/short-decisive", Verdict)
    }
    items = sorted({one.item for one in labels})
    mean = [np.mean([o.verdict.number for o in labels if o.item == item]) for item in items]
    judge = [read[item.target] for item in items]
    weights = [1 / next(o.probability for o in labels if o.item == item) for item in items]  # type: ignore[operator]
    linear, ranked, gap = (
        kind.get(name, of="sureness", between=JUDGE)
        for name in ("pearson", "spearman", "difference")
    )
    assert linear.value == pytest.approx(metrics.pearson(judge, mean, weights))
    assert ranked.value == pytest.approx(metrics.spearman(judge, mean, weights))
    assert linear.low < linear.value < linear.high  # type: ignore[operator]
    assert gap.value == pytest.approx(np.average(np.subtract(judge, mean), weights=weights))
    people = kind.get("alpha", of="sureness", between="people")
    assert 0.8 < people.value < 1  # type: ignore[operator]
    assert kind.undecided == 0
    assert kind.get("agreed").value == 1


def test_an_example_of_an_aspect_is_the_sentence_that_the_judge_read(tmp_path: Path) -> None:
    run = answers_run(tmp_path / "run", 20)
    folder = RunFolder.open(run)
    said = "Person 0 was born in 1800."
    placed = [
        msgspec.structs.replace(v, content="correct", start=0, end=len(said))
        if v.asked == "q0"
        else v
        for v in folder.read("verdicts/long", Verdict)
    ]
    folder.write("verdicts/long", placed, Verdict)
    label_run(run, "A", lambda *_: {"stance": "abstained"}, "aspect", n=6)
    worst = only(agreement(run, resamples=50), "aspect").worst
    texts = {one.question: one.text for one in worst}
    assert texts["When was person 0 born?"] == said
    assert len(texts["When was person 1 born?"]) > len(said)


# ---- what cannot be compared


def test_a_run_without_golds_has_no_verdicts_of_right_and_wrong(tmp_path: Path) -> None:
    run = answers_run(tmp_path / "run", 40)
    folder = RunFolder.open(run)
    bare = [
        msgspec.structs.replace(v, content=None if v.stance in ("committed", "hedged") else "none")
        for v in folder.read("verdicts/short", Verdict)
    ]
    folder.write("verdicts/short", bare, Verdict)

    def says(number: int, read: Verdict, name: str) -> dict[str, object]:
        return {"stance": read.stance}

    label_run(run, "A", says, n=20)
    kind = only(agreement(run, resamples=50))
    assert compared_on(kind) == ["stance"]
    assert kind.get("agreed").value == 1


def test_one_annotator_says_nothing_of_people(tmp_path: Path) -> None:
    run = answers_run(tmp_path / "run", 40)
    label_run(run, "A", as_judge, n=20)
    result = agreement(run, resamples=50)
    kind = only(result)
    for name in ("agreement", "cohen_kappa", "alpha", "ac1"):
        e = kind.get(name, of="verdict", between="people")
        assert e.value is None
        assert e.problem
    table = agreement_sheet([result]).sections[0].tables[0]
    assert table.columns == (JUDGE,)


def test_skipped_and_unread_items_are_counted_and_compared_with_nothing(tmp_path: Path) -> None:
    run = answers_run(tmp_path / "run", 40)
    folder = RunFolder.open(run)
    verdicts = folder.read("verdicts/short", Verdict)
    lost = [
        Verdict(v.target, v.asked, v.by, problem="unread") if v.target in ("s0", "s4") else v
        for v in verdicts
    ]
    folder.write("verdicts/short", lost, Verdict)

    def says(number: int, read: Verdict, name: str) -> dict[str, object]:
        if number == 7 and read.stance is not None:
            return {"skipped": "unclear"}
        if number == 8:
            return {"stance": "committed"}
        return as_judge(number, read, name) if read.stance else {"stance": "abstained"}

    label_run(run, "A", says, n=40)
    kind = only(agreement(run, resamples=50))
    assert (kind.skipped, kind.unread, kind.cannot_tell) == (1, 2, 1)
    assert kind.items == 39
    assert kind.get("agreed").n == 36


def test_what_one_reading_leaves_out_is_said(tmp_path: Path) -> None:
    run = answers_run(tmp_path / "run", 40)

    def says(number: int, read: Verdict, name: str) -> dict[str, object]:
        doubtful = number == 4 and name == "B"
        return {"stance": "committed"} if doubtful else as_judge(number, read, name)

    label_run(run, "AB", says, n=20, shared=20)
    result = agreement(run, resamples=50)
    notes = agreement_sheet([result]).sections[0].tables[0].notes
    assert "verdict, people: 19 items" in notes
    assert "stance, people: 20 items" in notes


def test_labels_of_two_draws_count_by_the_groups_of_both(tmp_path: Path) -> None:
    """An item of both draws, or that two people labeled, is one item."""

    def says(number: int, read: Verdict, name: str) -> dict[str, object]:
        return {"stance": "abstained"} if number % 3 else as_judge(number, read, name)

    run = answers_run(tmp_path / "run", 80)
    label_run(run, "A", says, n=24)
    with LabelStore.open(run) as store:
        choices = LabelChoices(kind="answer", n=30, seed=2, design="random", force=True)
        labeling = open_labeling(run, store, choices)
        for work in labeling.work("B"):
            labeling.label("B", work.place, {"stance": "abstained"})
        labels, designs = store.labels(), [store.places(one.id) for one in store.designs()]
    groups = [{one.item: one.stratum for one in places} for places in designs]
    both = {item: (group, groups[1][item]) for item, group in groups[0].items()}
    items = {one.item for one in labels}
    assert len(labels) == 54 > len(items)
    sizes, reached = Counter(both.values()), Counter(both[item] for item in items)
    read = {(v.target, v.asked): v for v in RunFolder.open(run).iter("verdicts/short", Verdict)}
    same = total = 0.0
    for one in labels:
        if one.annotator == "A":
            weight = sizes[both[one.item]] / reached[both[one.item]]
            total += weight
            same += weight * (one.verdict.value == read[one.item.target, one.item.asked].value)
    kind = only(agreement(run, resamples=50))
    assert (kind.items, dict(kind.annotators)) == (len(items), {"A": 24, "B": 30})
    assert kind.get("agreed", annotator="A").value == pytest.approx(same / total)
    assert kind.weighted
    # without the groups of one of the draws, nobody can tell how its labels weigh
    with sqlite3.connect(run / LABELS) as db:
        for table, column in (("designs", "id"), ("places", "design"), ("assigned", "design")):
            db.execute(f"DELETE FROM {table} WHERE {column}=?", (labeling.design.id,))
    result = agreement(run, resamples=50)
    assert UNWEIGHTED in agreement_sheet([result]).cautions[0]


def test_labels_from_no_draw_count_alike_and_it_is_said(tmp_path: Path) -> None:
    run = answers_run(tmp_path / "run", 20)
    with LabelStore.open(run) as store:
        for i in range(8):
            item = LabeledItem("answer", "short", f"s{i}", f"q{i}")
            said = verdict_of_person(item, "A", {"stance": "abstained"})
            store.add(PersonLabel(said, item.kind, item.stage))
    result = agreement(run, resamples=50)
    assert not only(result).weighted
    assert only(result).get("agreed").value == pytest.approx(
        4 / 8
    )  # hedged and abstained are uncertain
    assert UNWEIGHTED in agreement_sheet([result]).cautions[0]


def test_no_labels_and_labels_of_another_run_are_one_line(tmp_path: Path) -> None:
    run = answers_run(tmp_path / "run", 20)
    with pytest.raises(InputError, match=r"has no labels of people; .*sayso label"):
        agreement(run)
    assert not (run / "labels.sqlite").exists()  # asking makes no file
    with LabelStore.open(run) as store:
        item = LabeledItem("answer", "../../elsewhere", "s0", "q0")
        said = verdict_of_person(item, "A", {"stance": "abstained"})
        store.add(PersonLabel(said, item.kind, item.stage))
    with pytest.raises(InputError, match="no such table of verdicts"):
        agreement(run)


def test_texts_of_others_are_harmless(tmp_path: Path) -> None:
    run = answers_run(tmp_path / "run", 20, hostile="\x1b[31m\u202e<b>")
    label_run(run, "A", lambda *_: {"stance": "abstained"}, n=20)
    kind = only(agreement(run, resamples=50))
    assert kind.worst
    for one in kind.worst:
        for text in (one.question, one.text):
            assert "\x1b" not in text
            assert "\u202e" not in text
    certainties = [one.certainty for one in kind.worst]
    assert certainties == sorted(certainties, reverse=True)  # type: ignore[type-var]
    assert certainties[0] == pytest.approx(0.99)
    page = agreement(run, resamples=50)._repr_html_()
    assert "<b><" not in page


# ---- how many labels


def test_a_note_says_how_many_labels_would_halve_the_main_interval(tmp_path: Path) -> None:
    def by_chance(number: int, read: Verdict, name: str) -> dict[str, object]:
        return ({"stance": "abstained"}, {"stance": "committed", "content": "correct"})[number % 2]

    run = answers_run(tmp_path / "run", 400)
    label_run(run, "A", by_chance, n=30)
    assert more_labels(run) == ""  # nothing is measured
    sayso.measure(run)
    numbers = sayso.correct(run)
    halved = [one for one in numbers if one.halved_by is not None]
    assert halved
    for one in halved:
        assert 2 * one.labels < one.halved_by <= one.rows  # type: ignore[operator]
    result = agreement(run, resamples=50)
    assert "halve" in more_labels(run)
    main = agreement_sheet([result]).main
    assert main is not None
    assert main.notes[-1] == more_labels(run)


# ---- commands, Python


def test_the_command_prints_tables_and_json(
    labeled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["agreement", str(labeled), "--examples", "2"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    for part in ("confirm", "Krippendorff's alpha", "judge: uncertain", "annotator: B"):
        assert part in text
    assert execute(["agreement", str(labeled), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["kinds"][0]["items"] == 60


def test_a_closed_pipe_is_no_failure(labeled: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "sayso", "agreement", str(labeled)]
    try:
        assert subprocess.run(command, stdout=write).returncode == 0
    finally:
        os.close(write)


def test_two_runs_of_one_model_are_told_apart_by_their_folders(
    labeled: Path, tmp_path: Path
) -> None:
    place = shutil.copytree(labeled, tmp_path / "elsewhere")
    one, two = (agreement(run, resamples=50) for run in (labeled, place))
    renamed = msgspec.structs.replace(two, model="other")
    for second, name in ((two, "elsewhere: short answers"), (renamed, "other: short answers")):
        main = agreement_sheet([one, second]).main
        assert main is not None
        assert [labels[0][-len(name) :] for labels, _ in main.rows][1] == name


def test_a_negative_number_of_examples_is_one_line(
    labeled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["agreement", str(labeled), "--examples", "-1"]) == 2
    assert "--examples -1: expected 0 or more" in capsys.readouterr().err


def test_python_has_every_number_as_a_frame(labeled: Path) -> None:
    result = sayso.agreement(labeled, resamples=50)
    assert repr(result).startswith("<Agreement: judge ")
    frame = result.to_pandas()
    assert list(frame["name"])[:3] == ["agreed", "error", "split"]
    assert len(frame) == len(only(result).numbers) > 20
    assert result.plots == []
    assert MAIN["answer"] == "short"
