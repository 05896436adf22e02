"""``--figures``: the charts of a page as files, with a run and later, and from Python."""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import sayso
from sayso import cli

ARGV = ["--model", "builtin", "--data", "builtin", "--limit", "4"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("figures")
    out = folder / "run"
    argv = ["run", "uncle", *ARGV, "--out", str(out), "--set", f"cache={folder / 'cache'}"]
    assert cli.execute([*argv, "--figures", "svg"]) == 0
    return out


def test_every_chart_of_the_page_is_a_file(made: Path) -> None:
    page = (made / "report.html").read_text(encoding="utf-8")
    labels = re.findall(r'<svg[^>]*class="chart wide"[^>]*aria-label="([^"]*)"', page)
    files = sorted((made / "figures").iterdir())
    assert len(files) == len(labels) > 1
    told = {ET.parse(file).getroot()[0].text for file in files}
    assert told == {html.unescape(label) for label in labels}
    assert {"metrics.svg", "short-against-long.svg"} <= {file.name for file in files}


def test_they_can_be_written_later_in_another_width(
    made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["report", str(made), "--figures", "pdf,png", "--set", "figure_width=column"]
    assert cli.execute(argv) == 0
    told = capsys.readouterr()
    assert told.out.strip() == str(made / "report.html")
    assert f"figures (pdf, png) in {made / 'figures'}" in told.err
    pdf = (made / "figures" / "metrics.pdf").read_bytes()
    box = re.search(rb"/MediaBox ?\[0 0 ([\d.]+)", pdf)
    assert box is not None
    assert float(box[1]) == pytest.approx(239.76, abs=0.1)
    # a run with figures can go on
    assert cli.execute(["report", str(made)]) == 0


def test_a_result_gives_its_charts(made: Path, tmp_path: Path) -> None:
    result = sayso.measure(made)
    assert result.plots[0] == "metrics"
    assert len(result.plots) == len(list((made / "figures").glob("*.svg")))
    figure = result.plot("metrics")
    assert result.plot().name == "metrics"  # the main one
    assert figure._repr_svg_().startswith("<?xml")
    assert figure.chart().to_dict()["background"] == "white"
    assert figure.save(tmp_path / "m.pdf", "column").read_bytes().startswith(b"%PDF")
    with pytest.raises(sayso.InputError, match="no figure is called 'metric'; expected "):
        result.plot("metric")


def test_a_study_gives_its_charts_and_tables(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = sayso.study([made], resamples=100)
    assert "uncle-table3" in study.tables
    assert study.plots
    assert study.plot().name == study.plots[0] == "uncle-j"
    assert all("<svg" in study.plot(name)._repr_svg_() for name in study.plots)
    table = study.table("uncle-table3")
    assert r"\multicolumn{5}{c}{long form}" in table.to_latex(intervals="none")
    assert r"FA & UA & UUR & KCR & EA" in table.to_latex(intervals="none")  # as in the paper
    assert "| model |" in table.to_markdown()
    assert len(table.to_pandas()) == 1
    assert isinstance(study.table(), list)
    with pytest.raises(sayso.InputError, match="no table is called 'uncle-table9'; expected "):
        study.table("uncle-table9")
    argv = ["study", str(made), "--out", str(tmp_path / "s"), "--set", "resamples=100"]
    assert cli.execute([*argv, "--layout", "uncle-table3", "--set", "intervals=plusminus"]) == 0
    text = (tmp_path / "s" / "tables" / "uncle-table3.tex").read_text()
    assert r"$\pm$" in text


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["run", "uncle", *ARGV, "--figures", "gif"], "--figures gif: expected a format"),
        (["run", *ARGV, "--figures", "gif"], "--figures gif: expected a format"),
        (["run", "uncle", *ARGV, "--set", "figure_width=page"], "add --figures svg,pdf"),
        (["study", "--models", "builtin", "--figures", "bmp"], "--figures bmp: expected"),
        (["score", "x.jsonl", "--figures", "svg", "--set", "figure_width=x"], "figure width 'x'"),
    ],
)
def test_a_mistake_is_told_before_anything_is_asked(
    argv: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.jsonl").write_text('{"question": "a?", "answer": "b", "gold": "b"}\n')
    argv = [str(tmp_path / "x.jsonl") if part == "x.jsonl" else part for part in argv]
    where = [] if argv[0] == "score" else ["--out", str(tmp_path / "out")]
    assert cli.execute([*argv, *where]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_score_writes_its_figures_beside_the_scored_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        f'{{"question": "q{n}?", "answer": "{"right" if n % 3 else "wrong"} {"word " * (n % 5)}", '
        f'"token_logprobs": [-{n % 7}.5, -0.{n % 9}], "human": {int(n % 3 > 0)}}}'
        for n in range(60)
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(rows) + "\n")
    assert cli.execute(["score", str(tmp_path / "a.jsonl"), "--figures", "svg"]) == 0
    folder = tmp_path / "a.scored.figures"
    names = {file.name for file in folder.iterdir()}
    assert "auroc.svg" in names
    assert f"1 figure (svg) in {folder}" in capsys.readouterr().err
