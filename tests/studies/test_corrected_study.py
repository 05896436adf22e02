"""Studies of runs that people labeled: whose numbers are ranked, and what tables say."""

from __future__ import annotations

import csv
import json
import math
import shutil
from pathlib import Path

import msgspec
import pytest

import sayso
from sayso import cli
from sayso.metrics.joint import JointNumber
from sayso.people.labels import LabelStore
from sayso.records import CorrectedNumber, Estimate, Question, Verdict
from sayso.report.charts import WIDE
from sayso.storage.run_folder import RunFolder
from sayso.studies.report import OF_THE_JUDGE, every_table, study_sheet, write_study
from sayso.studies.results import Study
from support.label_runs import READ, answers_run, as_judge, label_run

MODELS, DATA = ("plain", "honest"), ("one", "two")
SHORT = (("form", "short"),)


def honest(number: int, read: Verdict, name: str) -> dict[str, object]:
    """What somebody says who hears doubt where the model does not know, with few exceptions."""
    at = int(read.asked[1:])
    hears = at % 16 in (0, 1) if at % 2 == 0 else at % 16 != 5
    content = "incorrect" if at % 2 else "correct"
    return {"stance": "hedged" if hears else "committed", "content": content}


def plain(number: int, read: Verdict, name: str) -> dict[str, object]:
    """What somebody says who hears a little more doubt than the judge, in known and unknown."""
    if int(read.asked[1:]) % 5 == 0:
        return {"stance": "hedged", "content": "correct"}
    return as_judge(number, read, name)


def make_runs(folder: Path, n: int = 120) -> None:
    """Make runs of two models, which the judge reads alike, on two data sets."""
    for model in MODELS:
        for data in DATA:
            path = folder / model / data
            answers_run(path, n, hostile="" if data == "one" else " (two)", model=model)
            run = RunFolder.open(path)
            manifest = run.read_manifest()
            run.write_manifest(msgspec.structs.replace(manifest, data=data, data_hash=data))
            named = [
                msgspec.structs.replace(q, entity=f"{q.id} of {data}")
                for q in run.read("questions", Question)
            ]
            run.write("questions", named, Question)
            # the judge never hears doubt in the answers of the second data set
            if data == "two":
                flat = [
                    msgspec.structs.replace(v, **READ[0]) if v.stance == "hedged" else v
                    for v in run.read("verdicts/short", Verdict)
                ]
                run.write("verdicts/short", flat, Verdict)
            sayso.measure(path)


@pytest.fixture(scope="module")
def labeled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("labeled")
    make_runs(folder)
    for model, says in zip(MODELS, (plain, honest), strict=True):
        for data in DATA:
            label_run(folder / model / data, "A", says, n=60, design="random")
    return folder


@pytest.fixture(scope="module")
def found(labeled: Path) -> Study:
    return sayso.study([labeled], resamples=200)


def number(study: Study, name: str = "J", *, judged: bool = False) -> JointNumber:
    every = study.judged("uncle") if judged else study.numbers("uncle")
    return next(n for n in every if n.name == name and n.where == SHORT)


def of_run(path: Path, name: str = "J") -> CorrectedNumber:
    return next(n for n in sayso.correct(path) if n.raw.name == name and n.raw.where == SHORT)


def test_means_and_ranks_are_of_corrected_numbers_where_all_runs_have_them(
    labeled: Path, found: Study
) -> None:
    one = number(found)
    assert one.corrected
    assert found.models == [*MODELS] or found.models == [*reversed(MODELS)]
    for m, model in enumerate(found.models):
        own = [of_run(labeled / model / data).corrected for data in found.data]
        assert one.cells[m] == own
        mean = one.means[m]
        assert mean.value == pytest.approx((own[0].value + own[1].value) / 2)
        below = math.hypot(*(e.value - e.low for e in own)) / 2
        above = math.hypot(*(e.high - e.value for e in own)) / 2
        assert mean.low == pytest.approx(mean.value - below)
        assert mean.high == pytest.approx(mean.value + above)
        assert mean.n == 120
    # the judge sees no difference between the two; people do
    before = number(found, judged=True)
    assert [set(before.ranking.ranks)] == [{(1, 2)}]
    ranks = dict(zip(found.models, one.ranking.ranks, strict=True))
    assert ranks == {"honest": (1, 1), "plain": (2, 2)}
    (pair,) = one.ranking.pairs
    assert pair.clear
    assert pair.low is not None
    assert pair.high is not None
    assert not pair.low <= 0 <= pair.high
    # labels of short answers say nothing of paragraphs
    assert not any(n.corrected for n in found.numbers("uncle") if dict(n.where)["form"] == "long")
    assert found.notes("uncle") == found._of("uncle").notes


def test_no_corrected_number_stands_under_a_heading_that_does_not_say_so(
    labeled: Path, found: Study, tmp_path: Path
) -> None:
    write_study(found, tmp_path, ["uncle-table3"])
    one = number(found)
    corrected = {e.value for n in found.numbers("uncle") if n.corrected for e in n.means}
    of_cells = [n.cells for n in found.numbers("uncle") if n.corrected]
    corrected |= {e.value for cells in of_cells for row in cells for e in row}
    corrected -= {e.value for n in found.judged("uncle") for e in n.means}
    corrected -= {e.value for n in found.judged("uncle") for r in n.cells for e in r}
    assert {e.value for e in one.means} <= corrected
    seen = 0
    for table in every_table(found):
        for labels, entries in table.rows:
            for head, entry in zip(table.columns, entries, strict=True):
                if isinstance(entry, Estimate) and entry.value in corrected:
                    assert "corrected" in head or any("corrected" in text for text in labels), (
                        table.name, head, labels,
                    )  # fmt: skip
                    assert "sampling error only" not in table.caption
                    seen += 1
    assert seen > 20
    headline = tmp_path / "tables" / "uncle" / "headline.csv"
    (row, *_) = csv.DictReader(headline.read_text(encoding="utf-8").splitlines())
    assert float(row["J, short answers, corrected"]) in {e.value for e in one.means}
    assert row["rank by J, short answers, corrected"] in ("1", "2")
    latex = (tmp_path / "tables" / "uncle" / "headline.tex").read_text(encoding="utf-8")
    assert "also the errors of the judge" in latex
    assert "sampling error only" not in latex
    # layouts of papers and the table of all numbers have the judge's
    layout = found.table("uncle-table3")
    assert OF_THE_JUDGE in layout.notes
    rows = [labels for labels, _ in found.table("uncle/numbers").rows]
    both = [labels for labels in rows if labels[0] == "J" and labels[1].startswith("short answers")]
    assert len(both) == 4
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "Labels of people correct J for the judge" in page
    assert "intervals of differences are usually too wide" in page
    # the chart of J has a point for each model, and says whose number it is
    sheet = study_sheet(found)
    assert sheet.charts[0].name == "uncle J, corrected"
    drawn = sheet.charts[0].make(WIDE).to_dict()  # type: ignore[union-attr]
    rows = [row for rows in drawn["datasets"].values() for row in rows if row.get("row") in MODELS]
    assert rows
    assert {row["value"] for row in rows} <= corrected
    drawn, judged = (
        next(str(f.wide) for f in study._figures() if f.name.startswith("uncle-j"))
        for study in (found, sayso.study([labeled], raw=True, resamples=200))
    )
    assert drawn.count("<path") == judged.count("<path")
    assert {row["corrected"] for row in found.table() if row["name"] == "J"} == {True, False}


def test_a_run_without_labels_leaves_all_models_to_the_judge(
    labeled: Path, found: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(labeled, tmp_path / "runs")
    lacking = tmp_path / "runs" / "plain" / "two"
    (lacking / "labels.sqlite").unlink()
    study = sayso.study([tmp_path / "runs"], resamples=200)
    assert not any(n.corrected for n in study.numbers("uncle"))
    assert number(study).means == number(found, judged=True).means
    (note,) = [text for text in study.notes("uncle") if "labels of people" in text]
    assert f"do not correct these of plain on two ({lacking})." in note
    assert "sayso label RUN" in note
    assert "honest" not in note
    assert "corrected" not in study.table("uncle/headline").columns[0]
    capsys.readouterr()
    cli.execute(["study", str(tmp_path / "runs"), "--out", str(tmp_path / "view")])
    out = " ".join(capsys.readouterr().out.split())
    assert "the judge's numbers count for all models" in out
    # few labels give no interval: that number alone stays the judge's
    label_run(lacking, "A", as_judge, n=4, design="random")
    study = sayso.study([tmp_path / "runs"], resamples=200)
    assert not number(study).corrected


def test_raw_numbers_can_be_asked_for(
    labeled: Path, found: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = sayso.study([labeled], raw=True, resamples=200)
    assert study.numbers("uncle") == study.judged("uncle")
    assert number(study).means == number(found, judged=True).means
    assert not any(row["corrected"] for row in study.table())
    capsys.readouterr()
    words = ["study", str(labeled), "--out", str(tmp_path), "--set", "resamples=200", "--json"]
    for flags, expected in (([], True), (["--raw"], False)):
        cli.execute([*words, *flags])
        rows = json.loads(capsys.readouterr().out)
        assert any(row["corrected"] for row in rows) == expected


def test_a_number_that_is_compared_on_shared_data_stays_the_judges(
    labeled: Path, found: Study
) -> None:
    """Labels correct a run's own number, not one of the part that all models have in common."""
    study = sayso.study([labeled], resamples=200)
    run = study.runs[0]
    own = study.corrected(run)
    moved = [
        msgspec.structs.replace(one, raw=msgspec.structs.replace(one.raw, value=0.123))
        if one.raw.name == "J"
        else one
        for one in own
    ]
    study._corrected[run.path] = moved
    assert not number(study).corrected
    assert number(study, "KCR").corrected == number(found, "KCR").corrected
    (note,) = [text for text in study.notes("uncle") if "labels of people" in text]
    assert note.startswith("J: the judge's numbers count for all models, because they are compared")


def test_sections_of_one_labeled_run(labeled: Path) -> None:
    study = sayso.study([labeled / "honest" / "one"], resamples=200)
    one = number(study)
    assert one.means == [of_run(labeled / "honest" / "one").corrected]
    sheet = study_sheet(study)
    assert any("corrected" in head for head in sheet.main.columns)
    with LabelStore.read(labeled / "honest" / "one") as store:
        assert len(store.labels()) == 60


def test_labels_that_cannot_be_read_do_not_stop_a_study_of_the_judges_numbers(
    labeled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = tmp_path / "runs"
    shutil.copytree(labeled, runs)
    (runs / "plain" / "one" / "labels.sqlite").write_bytes(b"no database" * 99)
    words = ["study", str(runs), "--out", str(tmp_path / "out"), "--set", "resamples=100"]
    assert cli.execute(words) == 2
    assert "labels.sqlite" in capsys.readouterr().err
    assert cli.execute([*words, "--raw"]) == 0
