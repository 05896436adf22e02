"""``sayso agreement``: judge against people, people among themselves, and how many labels more."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import numpy as np
import pytest

import sayso
from sayso import metrics
from sayso.cli import execute
from sayso.people.agreement import (
    MAIN,
    UNWEIGHTED,
    KindAgreement,
    RunAgreement,
    agreement,
    agreement_text,
    grade,
)
from sayso.people.corrected import more_labels
from sayso.people.labels import LabeledItem, LabelStore, PersonLabel, verdict_of_person
from sayso.records import InputError, Verdict
from sayso.storage.run_folder import RunFolder
from support.label_runs import answers_run, as_judge, claims_run, label_run, pairs_run


def only(result: RunAgreement, kind: str = "answer") -> KindAgreement:
    return next(one for one in result.kinds if one.kind == kind)


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
    assert kind.agreed.value == pytest.approx(same / total)
    assert kind.error.value == pytest.approx(error / total)
    assert kind.split.value == pytest.approx(split / total)
    assert kind.undecided == sum(len({o.verdict.value for o in g}) == 2 for g in by_item.values())
    assert 0 < kind.undecided < 20
    assert kind.weighted
    # the three shares are all there is
    parts = (kind.agreed, kind.error, kind.split)
    assert sum(e.value or 0 for e in parts) == pytest.approx(1)
    assert all(e.low is not None and e.low <= e.value <= e.high for e in parts)  # type: ignore[operator]


def test_people_among_themselves_are_compared_on_what_they_share(labeled: Path) -> None:
    verdict, stance = only(agreement(labeled, resamples=200)).readings
    assert (verdict.name, stance.name) == ("verdict", "stance")
    assert verdict.people.n == stance.people.n == 20
    assert verdict.judge.n == 60
    # counts of the matrix are of items, whatever they weigh
    assert sum(map(sum, verdict.confusion)) == verdict.judge.n
    uncertain = verdict.labels.index("uncertain")
    # people see doubt where the judge does not, never the other way round
    assert sum(verdict.confusion[uncertain][:uncertain]) > 0
    assert all(row[uncertain] == 0 for row in verdict.confusion[:uncertain])
    kind = only(agreement(labeled, resamples=50))
    assert kind.doubt_found is not None
    assert kind.doubt_found.value < 1  # type: ignore[operator]
    assert kind.doubt_invented is not None
    assert kind.doubt_invented.value == 0


def test_parts_are_strata_lengths_and_annotators(labeled: Path) -> None:
    kind = only(agreement(labeled, resamples=50))
    by = {part.by for part in kind.parts}
    assert by == {"stratum", "words", "annotator"}
    strata = [part for part in kind.parts if part.by == "stratum"]
    assert {part.name for part in strata} == {
        "known, correct", "known, uncertain", "unknown, incorrect", "unknown, uncertain",
    }  # fmt: skip
    assert sum(part.agreed.n for part in strata) == kind.readings[0].judge.n
    words = [part for part in kind.parts if part.by == "words"]
    least = [int(part.name.split()[0]) for part in words]
    assert least == sorted(least)
    assert sum(part.agreed.n for part in words) == kind.readings[0].judge.n
    # B reads more items otherwise than A does
    own = {part.name: part.agreed.value for part in kind.parts if part.by == "annotator"}
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
    assert kind.error.value == pytest.approx(len(rare) / 400)
    labels = sum(part.agreed.n for part in kind.parts if "uncertain" in part.name)
    assert labels / kind.items > 2 * len(rare) / 400


# ---- layouts of papers


def test_the_matrix_has_people_judge_and_metrics(labeled: Path) -> None:
    kind = only(agreement(labeled, resamples=50))
    names = {pair.first for pair in kind.matrix} | {pair.second for pair in kind.matrix}
    assert names == {"A", "B", "judge", "rouge_l", "squad_f1", "exact_match", "contains"}
    assert kind.others == {}  # of two people nobody has a majority
    pair = next(p for p in kind.matrix if (p.first, p.second) == ("rouge_l", "contains"))
    assert pair.same.n == 60
    assert agreement_text(agreement(labeled, resamples=50)).head[1].startswith("short answers: 60")


def test_three_people_have_a_majority_of_others(tmp_path: Path) -> None:
    def says(number: int, read: Verdict, name: str) -> dict[str, object]:
        wrong = name == "C" and number % 2 == 0
        return {"stance": "committed", "content": "incorrect" if wrong else "correct"}

    run = answers_run(tmp_path / "run", 40)
    label_run(run, "ABC", says, n=20, shared=20)
    kind = only(agreement(run, resamples=50))
    assert kind.others["A"].value == kind.others["B"].value == 1
    assert kind.others["C"].value == pytest.approx(0.5)
    assert kind.undecided == 0
    text = agreement_text(agreement(run, resamples=50))
    matrix = next(table for table in text.tables if "alike" in table.title)
    assert matrix.columns[-1] == "other people"


def test_grades_of_every_kind() -> None:
    hedged = Verdict("t", "q", "j", stance="hedged", content="correct")
    assert grade("answer", hedged) == 1
    assert np.isnan(grade("aspect", Verdict("t", "q", "j", stance="abstained", content="none")))
    assert grade("claim", Verdict("t", "q", "j", label="IR")) == 0
    assert grade("pair", Verdict("t", "q", "j", label="c")) == 1
    assert np.isnan(grade("pair", Verdict("t", "q", "j", label="p")))
    assert np.isnan(grade("claim", None))


# ---- other kinds


def test_claims_and_pairs(tmp_path: Path) -> None:
    claims = claims_run(tmp_path / "claims", 20)

    def off(number: int, read: Verdict, name: str) -> dict[str, object]:
        return {"label": "IR"} if number < 4 else {"label": read.label}

    label_run(claims, "A", off, "claim", n=20)
    kind = only(agreement(claims, resamples=50), "claim")
    assert kind.agreed.value == pytest.approx(0.8)
    assert kind.agreed.low is None  # one text: its claims may all move together
    assert kind.readings[0].confusion[2][:2] != (0, 0)
    assert any("single cluster" in text for text in agreement_text(agreement(claims)).bad)
    pairs = pairs_run(tmp_path / "pairs", 12)
    label_run(pairs, "A", as_judge, "pair", n=24)
    kind = only(agreement(pairs, resamples=50), "pair")
    assert kind.items == 24
    assert kind.agreed.value == 1
    assert kind.readings[0].labels == ("contradicts", "does not contradict", "no answer")
    assert [row[place] for place, row in enumerate(kind.readings[0].confusion)] == [12, 12, 0]


def test_sureness_has_correlations(tmp_path: Path) -> None:
    run = pairs_run(tmp_path / "run", 30)

    def says(number: int, read: Verdict, name: str) -> dict[str, object]:
        shift = {"A": 0.1, "B": 0.0}[name] * (-1) ** number
        return {"number": min(1.0, max(0.0, (read.number or 0.0) + shift))}

    label_run(run, "AB", says, "sureness", n=30, shared=30)
    kind = only(agreement(run, resamples=200), "sureness")
    assert kind.sureness is not None
    with LabelStore.open(run) as store:
        labels = store.labels("sureness")
    read = {
        v.target: v.number for v in RunFolder.open(run).iter("verdicts/short-decisive", Verdict)
    }
    items = sorted({one.item for one in labels})
    mean = [np.mean([o.verdict.number for o in labels if o.item == item]) for item in items]
    judge = [read[item.target] for item in items]
    weights = [1 / next(o.probability for o in labels if o.item == item) for item in items]  # type: ignore[operator]
    found = kind.sureness
    assert found.pearson.value == pytest.approx(metrics.pearson(judge, mean, weights))
    assert found.spearman.value == pytest.approx(metrics.spearman(judge, mean, weights))
    assert found.pearson.low < found.pearson.value < found.pearson.high  # type: ignore[operator]
    assert found.people.value is not None
    assert 0.8 < found.people.value < 1
    assert kind.undecided == 0
    assert kind.agreed.value == 1


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
    assert [reading.name for reading in kind.readings] == ["stance"]
    assert kind.agreed.value == 1


def test_one_annotator_says_nothing_of_people(tmp_path: Path) -> None:
    run = answers_run(tmp_path / "run", 40)
    label_run(run, "A", as_judge, n=20)
    people = only(agreement(run, resamples=50)).readings[0].people
    assert people.n == 0
    for e in (people.same, people.alpha, people.ac1, people.kappa):
        assert e.value is None
        assert e.problem


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
        return as_judge(number, read, name) if read.stance else {"stance": "abstained"}

    label_run(run, "A", says, n=40)
    kind = only(agreement(run, resamples=50))
    assert (kind.skipped, kind.unread) == (1, 2)
    assert kind.items == 39
    assert kind.agreed.n == 37


def test_what_one_reading_leaves_out_is_said(tmp_path: Path) -> None:
    run = answers_run(tmp_path / "run", 40)

    def says(number: int, read: Verdict, name: str) -> dict[str, object]:
        doubtful = number == 4 and name == "B"
        return {"stance": "committed"} if doubtful else as_judge(number, read, name)

    label_run(run, "AB", says, n=20, shared=20)
    result = agreement(run, resamples=50)
    verdict, stance = only(result).readings
    assert (verdict.people.n, stance.people.n) == (19, 20)
    assert (
        "short answers, verdict, people among themselves: 1 item is left out, because somebody "
        "could not tell whether the answer is right"
    ) in agreement_text(result).tail


def test_labels_from_no_draw_count_alike_and_it_is_said(tmp_path: Path) -> None:
    run = answers_run(tmp_path / "run", 20)
    with LabelStore.open(run) as store:
        for i in range(8):
            item = LabeledItem("answer", "short", f"s{i}", f"q{i}")
            said = verdict_of_person(item, "A", {"stance": "abstained"})
            store.add(PersonLabel(said, item.kind, item.stage))
    result = agreement(run, resamples=50)
    assert not only(result).weighted
    assert only(result).agreed.value == pytest.approx(4 / 8)  # hedged and abstained are uncertain
    assert UNWEIGHTED in agreement_text(result).bad[0]


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


def test_the_last_line_says_how_many_labels_would_halve_the_main_interval(tmp_path: Path) -> None:
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
    assert agreement_text(result).tail[-1] == more_labels(run)


# ---- commands, Python


def test_the_command_prints_tables_and_json(
    labeled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["agreement", str(labeled), "--examples", "2"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    for part in ("confirm", "Krippendorff's alpha", "judge: uncertain", "rouge_l"):
        assert part in text
    assert execute(["agreement", str(labeled), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["kinds"][0]["items"] == 60
    assert execute(["agreement", str(labeled), str(labeled)]) == 0
    assert "by model" in capsys.readouterr().out


def test_a_negative_number_of_examples_is_one_line(
    labeled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["agreement", str(labeled), "--examples", "-1"]) == 2
    assert "--examples -1: expected 0 or more" in capsys.readouterr().err


def test_python_has_a_table_a_frame_and_a_chart(labeled: Path) -> None:
    result = sayso.agreement(labeled, resamples=50)
    assert repr(result).startswith("<Agreement: judge ")
    rows = result.table()
    assert rows[0]["what"] == "people confirm the judge"
    assert len(result.to_pandas()) == len(rows) > 20
    assert result.plots == ["agreement"]
    assert "annotator" in result.plot().chart().to_json()
    assert MAIN["answer"] == "short"
