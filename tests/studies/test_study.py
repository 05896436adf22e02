"""Studies: a grid of runs, resumed, priced, compared jointly, shown on one page."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import mean
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest
from rich.console import Console

import sayso
from sayso import cli, report
from sayso.checks.judge import judge_check
from sayso.judges.reliability import stored
from sayso.judges.rules.judge import SIGNATURE
from sayso.metrics import auroc
from sayso.protocols.selective.rows import load_rows
from sayso.records import Estimate, Generation, InputError, Request
from sayso.report.number_tables import INTERVALS, NumberTable, value_text
from sayso.report.page import GENERATOR
from sayso.runs.measure import load_run
from sayso.scores.p_ik import fit_p_ik
from sayso.storage.run_folder import RunFolder
from sayso.studies.grid import read_grid
from sayso.studies.report import (
    check_possible,
    every_table,
    layout_tables,
    layouts,
    render_study,
    study_sheet,
    write_study,
    write_tables,
)
from sayso.studies.results import Study, of_folders, of_grid
from sayso.studies.run import check_grid, price_grid, run_grid
from support.frozen import copied
from support.latex import latex_rows, typeset
from support.pages import blocks, commands, walk
from support.papers import CONTENT, check_content
from support.scripted import ScriptedEngine
from support.scripted_world import Mind, chance, facts, records, write
from support.tables import tabled

WORLD = facts(12)
KNOWS = Mind(
    WORLD,
    lambda f: 0.9 * (chance(f.question) < 0.8),
    hedges=lambda f, i: i and chance(f.question) >= 0.8,
)
GUESSES = Mind(WORLD, lambda f: 0.9 * (chance(f.question) < 0.3))
HOSTILE = "<script>alert(1)</script>"


def spec(folder: Path, **changes: Any) -> dict[str, Any]:
    """Return a study of two scripted models on two halves of the world."""
    whole = records(WORLD)
    half = len(whole) // 2
    for name, part in (("one", whole[:half]), ("two", whole[half:])):
        if not (folder / f"{name}.jsonl").exists():
            write(folder / f"{name}.jsonl", part)
    return {
        "out": str(folder / "study"),
        "cache": str(folder / "cache"),
        "models": [
            {"model": KNOWS.engine("knows"), "name": "=knows"},
            {"model": GUESSES.engine("guesses"), "name": HOSTILE},
        ],
        "data": [
            {"data": str(folder / "one.jsonl"), "name": "one"},
            {"data": str(folder / "two.jsonl"), "name": "two"},
        ],
        "protocols": [{"uncle": {"resamples": 100, "probe": {"k": 3}}}],
        **changes,
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("study")


@pytest.fixture(scope="module")
def found(folder: Path) -> Study:
    return sayso.study(spec(folder), resamples=300)


@pytest.fixture
def without_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the page of each run, which takes most of the time."""
    monkeypatch.setattr("sayso.studies.run.write_page", lambda result: None)


class Counting:
    """An engine that counts what it is asked, and stops the program where it is told to."""

    def __init__(self, inner: Any, stop_after: int = 10**9) -> None:
        self.inner, self.left, self.asked = inner, stop_after, []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def complete(self, requests: Iterable[Request]) -> Iterator[tuple[int, Generation]]:
        batch = list(requests)
        for number, request in enumerate(batch):
            if not self.left:
                raise KeyboardInterrupt
            self.left -= 1
            self.asked.append(request)
            ((_, reply),) = self.inner.complete([request])
            yield number, reply


def test_every_wrong_name_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    subject = Counting(KNOWS.engine("knows"))
    wrong = {
        "models": [{"model": subject, "name": "mine"}, "bultin", "hf:no/such/folder"],
        "data": ["builtin", "triviqa", "file:missing.jsonl"],
        "judge": "rule",
        "protocols": ["selective"],
    }
    with pytest.raises(InputError) as told:
        sayso.study(spec(tmp_path, **wrong))
    text = str(told.value)
    assert "\n" not in text
    for name in ("'bultin'", "no/such/folder", "'triviqa'", "missing.jsonl", "'rule'"):
        assert text.count(name) == 1, (name, text)
    assert "expected .builtin" in text.replace("'", ".")
    assert not subject.asked
    assert not (tmp_path / "study").exists()


def test_a_large_table_is_csv_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    third = Estimate("J", value=1 / 3, low=0.1, high=None)
    table = NumberTable("p/t", "c", ("a",), ("J",), [((str(n),), (third,)) for n in range(20)])
    write_tables([table], tmp_path)
    assert {f.suffix for f in (tmp_path / "p").iterdir()} == {".csv", ".md", ".tex", ".json"}
    whole = (tmp_path / "p/t.csv").read_text()
    monkeypatch.setattr("sayso.studies.report.LARGE", 20)
    write_tables([table], tmp_path)
    assert [f.name for f in (tmp_path / "p").iterdir()] == ["t.csv"]
    assert (tmp_path / "p/t.csv").read_text() == whole


# ---- running


def test_every_cell_is_a_run_of_its_own(found: Study, folder: Path) -> None:
    assert [o.status for o in found.outcomes] == ["done"] * 4
    assert found.models == ["=knows", HOSTILE]
    assert found.data == ["one", "two"]
    for run in found.runs:
        manifest = RunFolder.open(run.path).read_manifest()
        assert manifest.finished
        assert manifest.settings["probe.k"] == 3
        assert (run.path / "report.html").is_file()
    alone = sayso.run(
        "uncle", model=KNOWS.engine("knows"), data=folder / "one.jsonl", out=folder / "alone",
        cache=folder / "cache", settings={"resamples": 100, "probe.k": 3}, report=False,
    )  # fmt: skip
    run = found.find("uncle", "=knows", "one")
    assert run is not None
    assert run.results.all == alone.estimates


def test_a_study_that_is_done_asks_nothing(folder: Path, found: Study) -> None:
    engine = Counting(KNOWS.engine("knows"))
    given = spec(folder)
    given["models"][0]["model"] = engine
    again = sayso.study(given, resamples=300)
    assert [o.status for o in again.outcomes] == ["kept"] * 4
    assert engine.asked == []
    assert again.table() == found.table()


@pytest.mark.usefixtures("without_pages")
def test_stopped_at_any_moment_it_goes_on_and_asks_nothing_twice(tmp_path: Path) -> None:
    asked: list[Request] = []
    for stop in (3, 40, 7, 90, 10**9):
        engine = Counting(KNOWS.engine("knows"), stop)
        given = spec(tmp_path, models=[{"model": engine, "name": "m"}])
        try:
            done = run_grid(read_grid(given))
        except KeyboardInterrupt:
            asked += engine.asked
            continue
        asked += engine.asked
        assert {o.status for o in done} <= {"done", "kept"}
    assert len(asked) == len(set(asked))


@pytest.mark.usefixtures("without_pages")
def test_a_cell_that_fails_stops_no_other(tmp_path: Path) -> None:
    given = spec(tmp_path)
    (tmp_path / "none.jsonl").write_text("{")  # it is there, and is no data
    given["data"].append({"data": str(tmp_path / "none.jsonl"), "name": "none"})
    done = run_grid(read_grid(given))
    status = {(o.model, o.data): o.status for o in done}
    assert status["=knows", "one"] == status[HOSTILE, "two"] == "done"
    assert status["=knows", "none"] == "failed"
    assert "none.jsonl" in next(o.reason for o in done if o.status == "failed")
    state = json.loads((tmp_path / "study" / "study.json").read_text())
    assert [cell["status"] for cell in state["cells"]] == [o.status for o in done]
    with pytest.warns(UserWarning, match=r"knows is not in the study: .*none\.jsonl"):
        sayso.study(given, resamples=100)


def test_data_that_do_not_suit_a_protocol_are_left_out(tmp_path: Path) -> None:
    short = tmp_path / "short.jsonl"
    short.write_text('{"question": "Who wrote Zorb?", "answerable": false}\n')
    given = spec(tmp_path, data=[f"file:{short}"], protocols=["uncle"])
    outcomes = run_grid(read_grid(given))
    assert {o.status for o in outcomes} == {"left out"}
    assert "has no golds" in outcomes[0].reason


@pytest.mark.usefixtures("without_pages")
def test_another_study_in_the_same_folder_does_not_pass_for_this_one(
    tmp_path: Path, folder: Path
) -> None:
    run_grid(read_grid(spec(tmp_path)))
    for change, said in (({"limit": 2}, "--limit unset, not 2"), ({"seed": 3}, "seed 0, not 3")):
        given = read_grid(spec(tmp_path, **change))
        outcomes = run_grid(given)
        assert {o.status for o in outcomes} == {"failed"}
        assert said in outcomes[0].reason
        assert of_grid(given, outcomes).runs == []  # nothing of another study is shown
        with pytest.raises(InputError, match=said):
            price_grid(given)
    other = [{"model": KNOWS.engine("third"), "name": "=knows"}]
    assert {o.status for o in run_grid(read_grid(spec(tmp_path, models=other)))} == {"failed"}
    changed = spec(tmp_path, protocols=[{"uncle": {"resamples": 100, "probe": {"k": 4}}}])
    outcomes = run_grid(read_grid(changed))
    assert {o.status for o in outcomes} == {"failed"}
    assert "probe.k 3, not 4" in outcomes[0].reason


def test_a_page_that_was_not_written_is_written_the_next_time(folder: Path, found: Study) -> None:
    page = found.runs[0].path / "report.html"
    page.unlink()
    sayso.study(spec(folder), resamples=100)
    assert page.is_file()


@pytest.mark.usefixtures("without_pages")
def test_a_folder_that_cannot_be_read_stops_no_other(tmp_path: Path) -> None:
    grid = read_grid(spec(tmp_path))
    run_grid(grid)
    (grid.cells[0].path / "manifest.json").write_text("{")
    assert [o.status for o in run_grid(grid)] == ["failed", "kept", "kept", "kept"]


def test_a_limit_on_money_that_cannot_be_kept_is_refused(tmp_path: Path) -> None:
    given = spec(tmp_path, models=["http://localhost:9/v1#nobody"], max_cost=1.0)
    with pytest.raises(InputError, match=r"cannot be enforced: the price of .* is unknown"):
        price_grid(read_grid(given))
    outcomes = run_grid(read_grid(given))
    assert {o.status for o in outcomes} == {"failed"}
    assert "cannot be enforced" in outcomes[0].reason


@pytest.mark.usefixtures("without_pages")
def test_another_model_under_the_same_name_does_not_pass_for_this_one(tmp_path: Path) -> None:
    given: dict[str, Any] = {"out": str(tmp_path / "out"), "cache": str(tmp_path), "limit": 1,
                             "protocols": ["uncle"]}  # fmt: skip
    named = {"model": "builtin", "name": "[/m]"}
    assert run_grid(read_grid({**given, "models": [named]}))[0].status == "done"
    assert run_grid(read_grid({**given, "models": [named]}))[0].status == "kept"
    (other,) = run_grid(read_grid({**given, "models": [{**named, "dtype": "bfloat16"}]}))
    assert other.status == "failed"
    (ended,) = run_grid(read_grid({**given, "models": [{**named, "end_loops": True}]}))
    assert ended.status == "failed"
    assert "end_loops" in ended.reason
    own = {"model": "builtin", "name": "ended", "end_loops": True}
    assert run_grid(read_grid({**given, "models": [own]}))[0].status == "done"
    assert ") with model " in other.reason


# ---- pricing


@pytest.mark.usefixtures("without_pages")
def test_a_dry_run_counts_what_cells_share_once(tmp_path: Path) -> None:
    given = spec(tmp_path, models=[{"model": KNOWS.engine("knows"), "name": "m"}])
    alone = price_grid(read_grid(given))
    twin = {"model": KNOWS.engine("knows"), "name": "twin"}
    both = price_grid(read_grid({**given, "models": [*given["models"], twin]}))
    assert alone.total.requests.high > 0
    assert both.total == alone.total
    assert not (tmp_path / "study").exists()
    run_grid(read_grid(given))
    after = price_grid(read_grid(given))
    assert (after.finished, after.total.requests.high) == (2, 0)


# ---- numbers


def test_values_are_those_of_the_runs_and_means_are_theirs(found: Study) -> None:
    for number in found.numbers("uncle"):
        for m, model in enumerate(found.models):
            own = [
                found.find("uncle", model, data).results.get(number.name, **dict(number.where))  # type: ignore[union-attr]
                for data in found.data
            ]
            for cell, estimate in zip(number.cells[m], own, strict=True):
                assert cell.value == pytest.approx(estimate.value, abs=1e-12), number.name
                assert (cell.low, cell.high) == (estimate.low, estimate.high)
            values = [e.value for e in own]
            if None in values:
                assert number.means[m].value is None
            else:
                assert number.means[m].value == pytest.approx(
                    mean(v for v in values if v is not None)
                )


def test_the_better_model_ranks_first(found: Study) -> None:
    short = (("form", "short"),)
    (fa,) = (n for n in found.numbers("uncle") if (n.name, n.where) == ("FA", short))
    assert fa.ranking.ranks[0] == (1, 1)
    assert fa.ranking.ranks[1] == (2, 2)


def test_a_study_is_the_same_from_its_folders(found: Study, folder: Path) -> None:
    again = of_folders([folder / "study"], resamples=300)
    assert (again.models, again.data) == (found.models, found.data)
    assert again.table() == found.table()
    singly = of_folders([run.path for run in found.runs], resamples=300)
    assert len(singly.table()) == len(found.table())


@pytest.mark.usefixtures("without_pages")
def test_runs_that_differ_in_more_than_the_model_are_refused(tmp_path: Path) -> None:
    places = []
    for k, name in ((3, "knows"), (4, "guesses")):
        mind = KNOWS if name == "knows" else GUESSES
        given = spec(
            tmp_path, out=str(tmp_path / name), models=[{"model": mind.engine(name), "name": name}],
            protocols=[{"uncle": {"resamples": 100, "probe": {"k": k}}}],
        )  # fmt: skip
        run_grid(read_grid(given))
        places.append(tmp_path / name)
    with pytest.raises(InputError, match="differ in known"):
        of_folders(places).numbers("uncle")
    assert of_folders(places, allow=["known"]).notes("uncle") == ["differs as allowed: known"]


# ---- the page, the tables


def test_the_page_holds_everything_and_nothing_hostile(found: Study, folder: Path) -> None:
    page = (folder / "study" / "index.html").read_text(encoding="utf-8")
    assert GENERATOR in page
    assert HOSTILE not in page.partition("</style>")[2].partition("<script>")[0]
    assert "&lt;script&gt;alert(1)" in page
    assert page.count("report.html") == 4
    rows = list(csv.reader(io.StringIO((folder / "study/tables/uncle/short.csv").read_text())))
    ranked = ["facts that it knows", "J", "rank by facts that it knows", "rank by J"]
    assert [head for head in rows[0] if head in ranked] == ranked
    assert rows[0][:2] == ["model", ranked[0]]
    assert rows[1][0] == "'=knows"  # no spreadsheet runs it
    assert "\\$" not in (folder / "study/tables/uncle/short.tex").read_text()
    assert r"\textless{}script" in (folder / "study/tables/uncle/short.tex").read_text()
    assert r"\<script\>" in (folder / "study/tables/uncle/short.md").read_text()
    data = json.loads((folder / "study/tables/uncle/numbers.json").read_text())
    assert {row["model"] for row in data["rows"]} == {"=knows", HOSTILE}


def test_the_headline_numbers_are_open_and_all_else_is_folded(found: Study, folder: Path) -> None:
    page = (folder / "study" / "index.html").read_text(encoding="utf-8")
    parts = re.findall(r'<details class="part" id="([\w-]+)"( open)?>', page)
    assert [name for name, is_open in parts if is_open] == ["numbers"]
    assert {"clear", "all", "data", "runs", "made", "reading"} <= dict(parts).keys()
    (target,) = re.findall(r'class="skip" href="#([\w-]+)"', page)
    assert f'id="{target}"' in page
    # the terminal is the beginning of the page, on one screen
    out = io.StringIO()
    render_study(found, Console(file=out, width=80))
    assert len(out.getvalue().splitlines()) <= 40
    sheet = study_sheet(found)
    assert "KCR" not in out.getvalue()
    assert "KCR" in page
    assert sheet.main is not None
    assert all(model in [labels[0] for labels, _ in sheet.main.rows] for model in found.models)


def test_models_that_rules_alone_compare_are_compared_with_a_warning(
    found: Study, folder: Path
) -> None:
    warning = "errs more with some models than with others"
    page = (folder / "study" / "index.html").read_text(encoding="utf-8")
    assert page.count(warning) == 1
    assert "sayso label RUN" in page
    assert "--judge rules+MODEL" in page
    out = io.StringIO()
    render_study(found, Console(file=out, width=10_000))
    assert out.getvalue().count(warning) == 1
    (table,) = layout_tables(found, "uncle-table3")
    assert any(warning in note for note in table.notes)


def test_somebody_elses_tables_stay(found: Study, tmp_path: Path) -> None:
    mine = tmp_path / "tables" / "uncle" / "short.csv"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    with pytest.raises(InputError, match="without a page"):
        write_study(found, tmp_path)
    assert mine.read_text() == "mine"


def test_somebody_elses_page_stays(found: Study, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("mine")
    with pytest.raises(InputError, match=r"by sayso: give another folder with --out$"):
        write_study(found, tmp_path)
    assert (tmp_path / "index.html").read_text() == "mine"
    assert [file.name for file in tmp_path.iterdir()] == ["index.html"]  # and nothing joins it


def test_layouts_of_a_protocol_without_runs_say_what_they_need(found: Study) -> None:
    assert layout_tables(found, "uncle-table3")[0].rows
    with pytest.raises(
        InputError, match="shows runs of faithfulness, and none of them is finished here"
    ):
        layout_tables(found, "faithfulness-table1")
    with pytest.raises(InputError, match="layout 'x' is unknown; expected uncle-table3"):
        layout_tables(found, "x")


# ---- mistakes


@tabled
def test_a_mistake_is_one_line_before_anything_is_asked(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message) as refused:
        check_grid(read_grid({**spec(tmp_path), **changes}))
    assert "\n" not in str(refused.value)


@pytest.mark.usefixtures("without_pages")
def test_probes_of_another_model_of_the_study_are_used(tmp_path: Path) -> None:
    base = KNOWS.engine("base")
    tuned = ScriptedEngine(KNOWS, name="tuned", base="base", logprob=-0.5)
    tuned.base_name = "base"  # type: ignore[attr-defined]
    engines = [
        {"model": base, "name": "base"},
        {"model": tuned, "name": "tuned", "known_from": "base"},
    ]
    total = price_grid(read_grid(spec(tmp_path, models=engines))).total.requests
    study = sayso.study(spec(tmp_path, models=engines), resamples=100)
    assert [o.status for o in study.outcomes] == ["done"] * 4
    # the plan knew that the probes of the run before would be there
    assert {*total} == {len(base.requests) + len(tuned.requests)}
    run = study.find("uncle", "tuned", "one")
    assert run is not None
    assert run.manifest.settings["known_from"].endswith("base/one/uncle")  # type: ignore[union-attr]
    # what both know is one model's knowledge: it is said, and no finding is made of it
    assert study.notes("uncle") == [
        "tuned is judged by the facts that base knows, so they know the same share by construction"
    ]
    sheet = study_sheet(study)
    assert "how many facts they know" not in sheet.opening.sentence
    assert "how reliably they admit" in sheet.opening.sentence
    heads = study.table("headline").columns
    assert heads[0] == "facts that it knows"
    assert [head for head in heads if "rank" in head] == ["rank by J"]


def test_the_headline_table_is_written_and_fits_a_page(found: Study, folder: Path) -> None:
    table = found.table("headline")
    assert table.name == "uncle/headline"
    assert table.columns[0] == "facts that it knows"
    assert any(head.startswith("J") for head in table.columns)
    written = table.to_latex()
    stored = (folder / "study/tables/uncle/headline.tex").read_text(encoding="utf-8")
    assert re.sub(r"[\d.,]", "", stored) == re.sub(r"[\d.,]", "", written)  # other resamples
    assert "J: share of unknown facts that are hedged" in written
    assert "FA:" not in written  # it has no such column
    rows = [row for row in latex_rows(written) if row[0].startswith("=knows")]
    first = found.numbers("uncle")[0].means[0]
    assert first.name == "p_known"
    assert rows[0][1].startswith(rf"\textbf{{{value_text(first)}}} \scriptsize {{[}}")
    for suffix in ("md", "csv", "json"):
        assert (folder / f"study/tables/uncle/headline.{suffix}").is_file()


def test_every_latex_table_fits_a_page(built: Path, tmp_path: Path) -> None:
    study = of_folders([built / "study"], resamples=100)
    tables = [table._replace(rows=table.rows[:40]) for table in every_table(study)]  # as high, too
    texts = [table.to_latex(kind) for table in tables for kind in INTERVALS]
    assert len(texts) > 60
    assert all(map(latex_rows, texts))
    assert typeset("\\clearpage\n".join(texts), tmp_path) == []


# ---- the command line, on the built-in model


DOCS = Path(__file__).parents[2] / "docs"


def written(name: str, limit: int = 2) -> tuple[str, list[list[str]]]:
    """Return a page's study, made small, and its commands."""
    text = (DOCS / name).read_text(encoding="utf-8")
    return re.sub(r"limit: \d+", f"limit: {limit}", blocks(text, "yaml")[0]), commands(text)


def of_one_model(result: Any) -> None:
    """Write the pages of one model on one data set alone: they take a third of the time."""
    if result.path.parts[-3:-1] == ("builtin", "builtin"):
        report.write(result)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where the study of docs/papers.md would be: the stored one, with passages searched."""
    place = tmp_path_factory.mktemp("papers")
    (study,) = copied(place, "study")
    shutil.rmtree(study / "guesser")
    for part in study.glob("*/diseases"):
        shutil.rmtree(part)
    for model in ("builtin", "builtin-trained"):
        texts = study / model / "people" / "self_known"
        shutil.rmtree(texts)
        sayso.run(
            "self_known", model=model, limit=2, out=texts, cache=place / "cache", report=False,
            settings={"retrieval": True, "resamples": 100},
        )  # fmt: skip
    judge_check("rules", cache=place / "cache")
    for path in study.glob("*/*/uncle"):
        run = RunFolder.open(path)
        manifest = run.read_manifest()
        checked = stored(SIGNATURE, str(place / "cache"))  # runs of 0.2.0 name an older reader
        assert checked is not None
        run.write_manifest(msgspec.structs.replace(manifest, judge_check=checked))
    return place


def test_the_commands_of_the_papers_page_run(
    built: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(built)
    content, (checked, study, *rest) = written("papers.md")
    Path("papers.yaml").write_text(content, encoding="utf-8")
    assert len(rest) == 4
    walk([checked, [*study, "--dry-run"], *rest], capsys)


def test_every_layout_stands_on_the_papers_page() -> None:
    text = (DOCS / "papers.md").read_text(encoding="utf-8")
    for name in layouts():
        assert f"`--layout {name}" in text or f" {name}" in text, name
    for _, layout in layouts().values():
        assert layout.title
        assert "arXiv" in layout.reference


def test_every_layout_shows_numbers(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = of_folders([built / "study"], resamples=200)
    empty = []
    for name in layouts():
        try:
            tables = layout_tables(study, name)
        except InputError as error:
            empty.append(str(error))
            continue
        assert all(table.rows for table in tables), name
        assert all("Layout:" in table.source for table in tables)
        if name in CONTENT:
            check_content(name, tables)
        every = [e for t in tables for _, row in t.rows for e in row]
        assert any(getattr(e, "value", None) is not None or str(e).isdigit() for e in every), name
    # no question is without an answer, no BERTScore, nobody labeled claims
    named = {text.split()[1] for text in empty}
    assert named == {"board", "selective-abstention", "selective-figure5", "self-known-figure7"}
    assert cli.execute(["study", "--layouts"]) == 0
    assert "uncle-table3" in capsys.readouterr().out


def test_a_study_of_four_protocols_is_one_screen(built: Path, tmp_path: Path) -> None:
    study = of_folders([built / "study"], resamples=100)
    assert len(study.protocols) == 4
    out = io.StringIO()
    render_study(study, Console(file=out, width=80))
    assert len(out.getvalue().splitlines()) <= 37  # and three that name page and tables
    sheet = study_sheet(study)
    assert sheet.main is not None
    assert len(sheet.main.columns) == 4
    assert [s.id for s in sheet.parts][1:5] == study.protocols
    assert sheet.opening.sentence.count("no difference is visible") == 1
    page = write_study(study, tmp_path).read_text(encoding="utf-8")
    assert page.count("errs more with some models") == 1


def test_what_one_model_did_stands_with_the_numbers_of_each_protocol(built: Path) -> None:
    every = of_folders([built / "study"], resamples=100)
    own = every.models[0], every.data[0]
    runs = [run.path for run in every.runs if (run.model, run.data) == own]
    study = of_folders(runs, resamples=100)
    sheet = study_sheet(study)
    told = {s.id: s.text for s in sheet.sections if s.id in study.protocols}
    assert [len(text) for text in told.values()] == [1] * 4
    assert sheet.opening.sentence == f"{told[study.protocols[0]][0]} 3 more below."


def test_a_layout_is_printed_and_written(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(built / "view")
    argv = [
        "study",
        str(built / "study"),
        "--out",
        out,
        "--layout",
        "uncle-table3,uncle-figure3",
        "uncle-table4",
    ]
    assert cli.execute(argv) == 0
    assert "UUR" in capsys.readouterr().out
    assert (built / "view/tables/uncle-table3.tex").is_file()
    page = (built / "view/index.html").read_text()
    assert "Layout: UNCLE" in page
    assert page.count("<svg") >= 2


def test_the_commands_of_the_studies_page_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sayso.studies.run.write_page", of_one_model)
    content, typed = written("studies.md")
    Path("first.yaml").write_text(content, encoding="utf-8")
    assert len(typed) == 7
    walk(typed, capsys)
    pages = {page.parent.name for page in Path("studies/first").rglob("report.html")}
    assert pages == {"uncle", "selective"}


def test_flags_are_a_study_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["study", "--models", "builtin", "--protocols", "uncle", "--limit", "2", "--out",
            str(tmp_path / "flags"), "--set", f"cache={tmp_path / 'cache'}"]  # fmt: skip
    assert cli.execute([*argv, "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert "requests still to ask" in told
    assert "total: 0 requests" not in told
    assert not (tmp_path / "flags").exists()
    assert cli.execute(argv) == 0
    told = capsys.readouterr().out
    assert "Does the model admit what it does not know?" in told
    assert "facts that it knows" in told
    assert cli.execute([*argv, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {(r["protocol"], r["model"]) for r in rows} == {("uncle", "builtin")}


def test_flags_say_where_every_cell_computes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    priced: list[Any] = []
    unpaid = SimpleNamespace(total=SimpleNamespace(dollars=None))
    monkeypatch.setattr(
        "sayso.cli.studying._price", lambda grid, flags: priced.append(grid) or unpaid
    )
    (tmp_path / "one.yaml").write_text("models: [builtin]\nprotocols: [uncle]\njobs: 3\n")
    argv = ["study", str(tmp_path / "one.yaml"), "--dry-run"]
    more = [
        "--set",
        "engine=ray",
        "--set",
        "ray_address=head:6379",
        "--set",
        "ray_actors=2",
        "--set",
        "jobs=1",
    ]
    assert cli.execute([*argv, *more]) == 0
    assert cli.execute(argv) == 0
    argv = ["study", "--models", "http://h/v1#m", "--dry-run", "--set", "batch_files=true"]
    assert cli.execute(argv) == 0
    spread, plain, batches = (grid.cells[0].job for grid in priced)
    named = ("engine", "ray_address", "ray_actors", "jobs", "batch_files")
    assert [getattr(spread, n) for n in named] == ["ray", "head:6379", 2, 1, False]
    assert [getattr(plain, n) for n in named] == ["", "", None, 3, False]
    assert [getattr(batches, n) for n in named] == ["", "", None, None, True]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "expected a YAML file, folders of runs, or --models"),
        (("none",), "none: does not exist"),
        (("none.yaml",), "none.yaml: does not exist"),
        (("a.yaml", "b.yaml"), "expected one YAML file, or folders"),
        ((".", "--models", "builtin"), "leave models out"),
        ((".", "--set", "sampling_seeds=1,2"), "leave sampling_seeds out"),
        (("--answers", "a", "--prompt-folders", "wording-1"), "leave prompt_folders out"),
        (("--models", "builtin", "--layout", "x", "--dry-run"), "layout 'x' is unknown"),
        (
            ("--models", "builtin", "--protocols", "uncle", "--layout", "selective-figure1"),
            "shows runs of selective, and this study has none",
        ),
        (
            ("--models", "builtin", "--protocols", "selective", "--layout", "board"),
            "layout board needs answerable and unanswerable questions",
        ),
    ],
)
def test_mistakes_of_the_command_are_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.execute(["study", *words]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_layouts_that_no_run_can_fill_are_refused_before_anything_is_asked(tmp_path: Path) -> None:
    engine = KNOWS.engine("knows")
    given = spec(tmp_path, models=[{"model": engine, "name": "knows"}])
    short: dict[str, Any] = given | {"protocols": [{"uncle": {"short_only": True}}]}
    bare: dict[str, Any] = given | {"protocols": [{"self_known": {"modes": "none"}}]}
    for study, layout, needs in (
        (short, "uncle-figure3", "runs of uncle with paragraphs"),
        (bare, "self-known-figure2", "claims that the model was asked about"),
        (
            given | {"protocols": ["selective"]},
            "selective-abstention",
            "answerable and unanswerable questions",
        ),
    ):
        with pytest.raises(InputError, match=f"layout {layout} needs {needs}"):
            sayso.study(study, layout=layout)
    assert not engine.requests
    assert not (tmp_path / "study").exists()
    both = {"models": ["builtin"], "data": ["world-50"], "protocols": ["selective"]}
    check_possible(read_grid(both), ["board", "selective-figure1"])


def test_compare_of_several_runs_is_a_study(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = sorted(str(p.parent) for p in (built / "study").glob("*/*/uncle/manifest.json"))
    assert len(runs) == 2
    assert cli.execute(["compare", *runs, runs[0]]) == 0
    assert "rank" in capsys.readouterr().out


@pytest.mark.usefixtures("without_pages")
def test_p_ik_learns_from_the_other_data_sets(tmp_path: Path) -> None:
    given = {
        "out": str(tmp_path / "out"), "cache": str(tmp_path / "cache"), "limit": 12,
        "models": ["builtin"],
        "data": [{"data": "builtin", "name": str(n), "seed": n} for n in range(2)],
        "protocols": [{"selective": {"resamples": 100, "draws": {"k": 2}, "known-k": 0,
                                     "scores": "p_ik,sequence_probability", "words": False}}],
    }  # fmt: skip
    study = sayso.study(given, resamples=100)
    found = {
        dict(n.where)["score"]: n
        for n in study.numbers("selective")
        if n.name == "auroc" and dict(n.where)["form"] == "short"
    }
    elsewhere = found["p_ik_other_data"]
    assert [cell.value is not None for cell in elsewhere.cells[0]] == [True, True]
    # by hand: fitted on the other set's entities, none of which the set itself asks about
    sides = [load_run(run.path) for run in study.runs]
    rows = [load_rows(run, chosen, "rules")["short"] for run, _, chosen in sides]
    names = [
        np.array([by[q] for _, q in r.facts])
        for r, (run, _, _) in zip(rows, sides, strict=True)
        for by in [{q.id: q.entity for q in run.questions}]
    ]
    learn = ~np.isin(names[0], names[1])
    probe = fit_p_ik(rows[0].states[learn], rows[0].wrong["rules"][learn])
    by_hand = auroc(probe(rows[1].states), rows[1].wrong["rules"])
    assert elsewhere.cells[0][1].value == pytest.approx(by_hand)


#: numbers that are compared on what all models have in common: bins of confidence
SHARED = ("skill", "cmfg", "cmfg_aspects")


def test_numbers_of_every_protocol_are_those_of_its_runs(built: Path) -> None:
    study = of_folders([built / "study"], resamples=200)
    for protocol in study.protocols:
        models, data = study.of(protocol)
        compared = 0
        for number in study.numbers(protocol):
            for m, model in enumerate(models):
                run = study.find(protocol, model, data[0])
                assert run is not None
                own = run.results.find(number.name, **dict(number.where))
                if own is None or own.value is None or number.name in SHARED:
                    continue
                if (number.name, ("form", "long")) == ("accuracy", number.where[0]):
                    continue  # 0.2.0, which made these runs, left omitted facts out
                compared += 1
                assert number.cells[m][0].value == pytest.approx(own.value, abs=1e-9), number[:2]
        assert compared > 5, protocol


def answers_file(path: Path, questions: Iterable[int], declined: Iterable[int]) -> Path:
    """Write answers of one model: some questions cannot be answered, some are declined."""
    declined = set(declined)
    rows = [
        {
            "model": "alpha",
            "question": f"Who wrote book {n}?",
            "answer": "I do not know." if n in declined else f"Name {n}",
            "gold": f"Name {n}" if n % 4 else None,
            "answerable": bool(n % 4),
        }
        for n in questions
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_one_model_on_several_data_sets_is_told_of_each(tmp_path: Path) -> None:
    """The first data set alone told the opposite of the second."""
    some = answers_file(tmp_path / "some.jsonl", range(40), [1, 2, 3, 4])
    more = answers_file(tmp_path / "more.jsonl", range(100, 140), range(100, 140, 4))
    for name, file in (("a", some), ("b", more)):
        argv = ["run", "selective", "--nli", "rules", "--answers", str(file)]
        assert cli.execute([*argv, "--out", str(tmp_path / name)]) == 0
    study = of_folders([tmp_path / "a", tmp_path / "b"], resamples=100)
    sheet = study_sheet(study)
    told = sheet.opening.sentence
    first, second = (run.data for run in study.runs)
    assert told.startswith(f"{first}: ")
    assert f" {second}: " in told
    again = of_folders([tmp_path / "b", tmp_path / "a"], resamples=100)
    parts = told.split(f" {second}: ")
    sheet = study_sheet(again)
    assert parts[1] in sheet.opening.sentence


def test_data_sets_that_share_questions_are_no_more_evidence(tmp_path: Path) -> None:
    whole = answers_file(tmp_path / "whole.jsonl", range(40), [0, 1, 2, 4, 8, 12])
    grown = answers_file(tmp_path / "grown.jsonl", range(42), [0, 1, 2, 4, 8, 12])
    for name, file in (("a", whole), ("b", grown)):
        argv = ["run", "selective", "--nli", "rules", "--answers", str(file)]
        assert cli.execute([*argv, "--out", str(tmp_path / name)]) == 0
    alone = of_folders([tmp_path / "a"], resamples=400)
    both = of_folders([tmp_path / "a", tmp_path / "b"], resamples=400)

    def width(study: Study) -> float:
        (gap,) = (n for n in study.numbers("selective") if n.name == "abstention_gap")
        assert gap.means[0].low is not None
        assert gap.means[0].high is not None
        return gap.means[0].high - gap.means[0].low

    assert width(both) > 0.8 * width(alone)  # drawn apart it was .71
    assert any("share 40 questions" in note for note in both.notes("selective"))


def test_numbers_do_not_depend_on_the_order_of_the_questions(tmp_path: Path) -> None:
    found = []
    for folder, numbers in (("x", range(80)), ("y", reversed(range(80)))):
        (tmp_path / folder).mkdir()
        file = answers_file(tmp_path / folder / "q.jsonl", numbers, range(0, 80, 5))
        argv = ["run", "selective", "--nli", "rules", "--answers", str(file)]
        assert cli.execute([*argv, "--out", str(tmp_path / folder / "run")]) == 0
        estimates = load_estimates(tmp_path / folder / "run")
        found.append({(e.name, e.where): (e.value, e.low, e.high) for e in estimates})
    assert found[0] == found[1]


def load_estimates(path: Path) -> list[Estimate]:
    return list(RunFolder.open(path).read("metrics/selective", Estimate))
