"""The paper's tables and figures of self_known: content by number, on real runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sayso
from sayso import cli
from sayso.protocols.self_known.layouts import FACTUALITY, FIGURE4, OPINIONS
from sayso.records import Estimate, Generation, InputError, Question
from sayso.report.number_tables import NumberTable
from sayso.storage.run_folder import RunFolder
from sayso.studies.report import layout_tables
from sayso.studies.results import Study, of_folders

PARTS = ("1/5", "2/5", "3/5", "4/5", "5/5")


@pytest.fixture(scope="module")
def retrieved(tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder = tmp_path_factory.mktemp("layouts") / "run"
    sayso.run("self_known", limit=4, out=folder, report=False, settings={"retrieval": True})
    return of_folders([folder], resamples=100)


def entry(table: NumberTable, row: int, column: int) -> float:
    e = table.rows[row][1][column]
    assert isinstance(e, Estimate)
    assert e.value is not None
    return e.value


def whats(table: NumberTable) -> list[str]:
    return [labels[-1] for labels, _ in table.rows]


def test_a_panel_is_of_the_texts_without_passages_in_bold_and_dashes(retrieved: Study) -> None:
    (panel,) = layout_tables(retrieved, "self-known-figure4")
    assert whats(panel) == list(FIGURE4.series)
    assert panel.columns == PARTS
    results = retrieved.runs[0].results
    plain = results.get("factuality", method="plain", part="5/5")
    assert entry(panel, 0, 4) == plain.value
    assert panel.chart is not None
    drawing = panel.chart(700)
    assert drawing is not None
    spec = drawing.to_dict()
    lines = [layer for layer in spec["layer"] if layer["mark"]["type"] == "line"]
    thick, thin = sorted(lines, key=lambda layer: -layer["mark"]["strokeWidth"])
    assert thick["mark"]["strokeWidth"] > 2 * thin["mark"]["strokeWidth"]
    assert {row["series"] for row in spec["datasets"][thick["data"]["name"]]} == {FACTUALITY}
    scale = thin["encoding"]["strokeDash"]["scale"]
    dashes = dict(zip(scale["domain"], scale["range"], strict=True))
    assert [name for name, dash in dashes.items() if dash[1]] == [*OPINIONS.values()]


def test_retrieval_is_shown_beside_the_texts_without_passages(retrieved: Study) -> None:
    panel, numbers = layout_tables(retrieved, "self-known-figure6")
    assert whats(panel) == [FACTUALITY, *OPINIONS.values()]
    results = retrieved.runs[0].results
    assert entry(panel, 0, 4) == results.get("factuality", method="retrieval", part="5/5").value
    for row, method in enumerate(("plain", "retrieval")):
        own = results.get("unsupported_per_sentence", method=method, part="5/5")
        assert entry(numbers, row, 4) == own.value
    (first, *_) = layout_tables(retrieved, "self-known-figure1")
    assert len(first.rows) == 3  # of the texts that were written plainly


def test_an_example_has_a_claim_of_each_text_and_passages_of_the_prompt(retrieved: Study) -> None:
    (table,) = layout_tables(retrieved, "self-known-table2")
    (first, said), (second, corrected), *passages = table.rows
    assert (first[0], second[0]) == ("claim without passages", "claim with passages")
    assert (said[0], corrected[0]) == ("no", "yes")
    written = RunFolder.open(retrieved.runs[0].path).read("generations/long", Generation)
    prompts = [g.request.messages[-1].content for g in written if g.method == "retrieval"]
    assert passages
    texts = [labels[1] for labels, _ in passages]
    assert any(all(text in " ".join(prompt.split()) for text in texts) for prompt in prompts)


def test_without_retrieval_or_another_system_a_line_says_what_is_missing(tmp_path: Path) -> None:
    sayso.run("self_known", limit=2, out=tmp_path / "run", report=False)
    study = of_folders([tmp_path / "run"], resamples=100)
    for name, needs in (
        ("figure6", "with --set retrieval=true"), ("table2", "with --set retrieval=true"),
        ("figure7", "labeled by people"), ("figure8", "two models"), ("figure9", "two models"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=needs):
            layout_tables(study, f"self-known-{name}")


def labeled_and_bare(folder: Path) -> tuple[Path, Path]:
    """Write texts with two made-up labels a sentence, and the same texts without labels."""
    sayso.run("self_known", limit=3, out=folder / "own", report=False, settings={"modes": "none"})
    own = RunFolder.open(folder / "own")
    entities = {q.id: q.entity for q in own.read("questions", Question)}
    files = folder / "people.jsonl", folder / "bare.jsonl"
    rows: list[dict[str, object]] = []
    for g in own.read("generations/long", Generation):
        sentences = [
            {
                "text": f"{part.strip()}.",
                "is-relevant": True,
                "human-atomic-facts": [
                    {"text": f"{part.strip()}.", "label": "S"},
                    {"text": f"{entities[g.question]} is old.", "label": "NS"},
                ],
            }
            for part in g.text.split(". ")
            if part.strip()
        ]
        rows.append({"topic": entities[g.question], "input": "?", "output": g.text,
                     "annotations": sentences})  # fmt: skip
    files[0].write_text("".join(json.dumps(row) + "\n" for row in rows))
    files[1].write_text(
        "".join(json.dumps({"topic": r["topic"], "output": r["output"]}) + "\n" for r in rows)
    )
    return files


def test_people_stand_beside_claims_that_sayso_finds_in_the_same_texts(tmp_path: Path) -> None:
    for file, source in zip(labeled_and_bare(tmp_path), ("none", "builtin"), strict=True):
        out = ["--out", str(tmp_path / "runs" / file.stem)]
        given = ["--answers", str(file), "--knowledge", source, "--set", "modes=none"]
        assert cli.execute(["run", "self_known", *given, *out]) == 0
    folders = [tmp_path / "runs" / name for name in ("people", "bare")]
    study = of_folders(folders, resamples=100)
    numbers, shares = layout_tables(study, "self-known-figure7")
    assert whats(numbers)[0] == "people"
    assert len({*whats(numbers)}) == len(numbers.rows) == len(shares.rows) == 2
    assert "3 of 3 texts" in numbers.notes[0]
    assert entry(shares, 0, 4) == pytest.approx(0.5)
    for row, folder in enumerate(folders):
        results = next(r.results for r in study.runs if r.path == folder)
        (own,) = (e for e in results.each("factuality", part="5/5") if len(e.where) == 2)
        assert entry(shares, row, 4) == own.value
    assert all(e is None or e.value != 0 for _, entries in numbers.rows for e in entries)  # type: ignore[union-attr]
