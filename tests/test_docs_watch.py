"""The section on ``sayso watch`` is true: its commands run as printed, on its own log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sayso import cli
from sayso.guard.guard import Guard, written_guard
from sayso.guard.log_answers import RATES
from sayso.metrics.alarms import rise_bound, smallest_rise
from support.guards import guard_file
from support.pages import blocks, commands

PAGE = (Path(__file__).parent.parent / "docs" / "deploying.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## A watch: sayso watch")[2].partition("\n## ")[0]


def test_the_commands_of_the_watch_run_in_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (log,) = blocks(SECTION, "json")
    Path("log.jsonl").write_text(log, encoding="utf-8")
    typed = commands(SECTION)
    assert [words[1] for words in typed] == ["run", "watch", "watch"]
    for words in typed:
        assert cli.execute(words[1:]) == 0, (words, capsys.readouterr().err)
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (summary["answers"], summary["bad_lines"]) == (3, 0)
    assert summary["rates"]["declining"]["count"] == summary["rates"]["hedging"]["count"] == 1
    assert Path("watch.html").exists()
    # the next job finds nothing new
    assert cli.execute(typed[-1][1:]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["answers"] == 3
    Path("runs/first/guard.json").write_bytes(written_guard(guard_file()))
    Path("log.jsonl").write_text('{"stance": "abstained"}\n' * 60, encoding="utf-8")
    assert cli.execute(typed[1][1:]) == 1
    assert not Guard.load("runs/first/guard.json").withdraw("again")  # the alarm did it


def test_the_table_has_every_rate() -> None:
    rows = [line.split("|") for line in SECTION.splitlines() if line.startswith("| `")]
    told = {row[1].strip(" `"): row[3].strip().split(" or ") for row in rows}
    assert told == {name: [f"{c}s" for c in kind.changes] for name, kind in RATES.items()}


def test_what_cannot_be_seen_is_as_the_page_says() -> None:
    alpha = 0.05 / 3 / 2  # declining may rise and fall, hedging only rise
    bound = rise_bound(8, 300, alpha)
    assert bound is not None
    seen = smallest_rise(bound, alpha, 1000)
    assert seen is not None
    assert f"a rise to {seen:.1%}".replace("%", " %") in SECTION
