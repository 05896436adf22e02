"""``sayso run`` without a name: one summary of every protocol, one page that links the reports."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest

from sayso import cli
from sayso.protocols import PROTOCOLS
from sayso.records import Estimate
from sayso.storage.run_folder import RunFolder


def words(text: str) -> str:
    return " ".join(text.split())


def words_of(page: Path) -> str:
    text = page.read_text(encoding="utf-8").partition("</style>")[2]
    return words(unescape(re.sub("<[^>]*>", " ", text)))


def test_one_summary_and_one_page_of_every_protocol(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    argv = ["run", "--limit", "2", "--out", "a <b>", "--set", "cache=cache", "--name", "<i>"]
    assert cli.execute(argv) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert len(lines) < 60
    index = words_of(Path("a <b>", "index.html"))
    for name, plan in PROTOCOLS.items():
        run = RunFolder.open(Path("a <b>", name))
        report = words_of(run.path / "report.html")
        estimates = run.read(f"metrics/{name}", Estimate)
        sheet = plan.report.sheet(estimates)
        assert f"{sheet.question} ({name})" in words(out)
        assert 1 <= len(sheet.tiles) <= 4
        sentence = sheet.opening.sentence
        for page in (words(out), index, report):  # the same first sentence everywhere
            assert words(sentence) in page
        assert all(words(caution) in index for caution in run.read_manifest().cautions)
        assert not any(f"{part}:" in words(out) for part in ("form", "method", "against"))
        assert f"report     a <b>/{name}/report.html" in out
    assert lines[-1] == "all of them a <b>/index.html"
    assert "signature" not in out  # one protocol's own tables are not there
    page = Path("a <b>", "index.html").read_text(encoding="utf-8")
    assert "<i>" not in page
    assert "&lt;i&gt;" in page
    links = re.findall(r'<h2><a href="([^"]+)">', page)
    assert links == [f"{name}/report.html" for name in PROTOCOLS]
    assert all(Path("a <b>", unquote(link)).is_file() for link in links)
    assert page.count("Three answers") == 1  # those of the first run
    assert page.count('<dl class="tiles">') == len(PROTOCOLS)
    # a page of somebody else is kept, and that is said
    Path("a <b>", "index.html").write_text("mine")
    assert cli.execute([*argv, "--verbose"]) == 0
    said = capsys.readouterr()
    assert "no index page is written: " in said.err
    assert Path("a <b>", "index.html").read_text() == "mine"
    assert said.out.count("What this does not show:") == len(PROTOCOLS)
    assert "all of them" not in said.out


def test_a_dry_run_of_all_says_whose_each_table_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.execute(["run", "--limit", "2", "--dry-run", "--set", f"cache={tmp_path}"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.removesuffix(":") in PROTOCOLS] == [
        f"{name}:" for name in PROTOCOLS
    ]
    (total,) = (re.match(r"total: ([\d,]+ - )?([\d,]+) requests", line) for line in lines[-1:])
    assert total is not None
    ends = [re.match(r"asking \S+ +([\d,]+ - )?([\d,]+) ", row) for row in lines]
    alone = [int(found[2].replace(",", "")) for found in ends if found]
    assert int(total[2].replace(",", "")) == sum(alone)  # what is shared stands in the first


def test_a_folder_of_somebody_else_holds_no_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "important.txt").touch()
    assert cli.execute(["run", "--limit", "2", "--out", str(tmp_path)]) == 2
    assert "it contains 'important.txt'" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["important.txt"]


def test_a_folder_that_is_a_run_holds_no_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    argv = ["--limit", "2", "--out", "mix", "--set", "cache=cache"]
    assert cli.execute(["run", "uncle", *argv]) == 0
    held = sorted(path.name for path in Path("mix").iterdir())
    capsys.readouterr()
    assert cli.execute(["run", *argv]) == 2
    said = capsys.readouterr()
    assert "mix: contains a run of uncle" in said.err
    assert "choose another --out" in said.err
    assert said.err.count("\n") == 1
    assert sorted(path.name for path in Path("mix").iterdir()) == held
