"""Every number that a run yields is declared in its protocol's table, and shown as declared there.

A number that nobody declares would be called by its name and written as a percentage.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import sayso
from sayso import report
from sayso.protocols import PROTOCOLS
from sayso.records import Estimate
from sayso.report.numbers import notation_of
from support.declared import only_declared, written_names

FROZEN = Path(__file__).parents[1] / "golden" / "frozen"
#: settings that make the numbers that a run makes only when asked to, and one of these numbers
WIDE: dict[str, tuple[dict[str, Any], str]] = {
    "uncle": (
        {
            "limit": 3,
            "settings": {"methods": "unc_few"},
        },
        "wrong_and_sure",
    ),
    "selective": ({"limit": 5, "data": "world-50"}, "abstention_gap"),
    "faithfulness": ({"limit": 3, "settings": {"draws.k": 5}}, "draws_alike"),
    "self_known": (
        {
            "limit": 3,
            "settings": {
                "retrieval": True, "remedy": "revise", "ask": "open", "average": "micro",
                "draws.k": 1,
            },
        },
        "factscore_minus_plain",
    ),
}  # fmt: skip


def frozen_names(protocol: str) -> set[str]:
    lines = (FROZEN / f"{protocol}.estimates.txt").read_text(encoding="utf-8").splitlines()
    return {line.split("\t")[0] for line in lines if not line.startswith("#")}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_number_of_the_frozen_runs_is_declared(protocol: str) -> None:
    names = frozen_names(protocol)
    assert len(names) > 20
    assert names - set(PROTOCOLS[protocol].metrics) == set()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_name_that_stands_in_the_code_is_declared(protocol: str) -> None:
    names = set(written_names(protocol))
    assert len(names) >= 5
    assert names - set(PROTOCOLS[protocol].metrics) == set()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_page_terminal_and_tables_never_fall_back_to_a_name(
    protocol: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    only_declared(monkeypatch)
    job, wider = WIDE[protocol]
    result = sayso.run(protocol, out=tmp_path / "run", report=False, **job)
    names = {e.name for e in result.estimates}
    assert wider in names
    assert names - set(PROTOCOLS[protocol].metrics) == set()
    assert report.write(result.path).is_file()
    printed = io.StringIO()
    for verbose in (False, True):
        report.render_run(result.estimates, Console(file=printed), result.manifest, verbose=verbose)
    assert printed.getvalue().strip()
    assert "what it means" in result._repr_html_()
    assert {row["name"] for row in result.table()} <= names
    assert sayso.compare(result, result).table()


def test_a_fallback_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    metrics = PROTOCOLS["uncle"].metrics
    assert metrics.named("made_up").label == "made up"
    assert notation_of("made_up") == "percent"
    only_declared(monkeypatch)
    assert metrics.named("J").symbol == "J"
    assert report.numbers.shown_value(Estimate("")) == report.numbers.DASH
    with pytest.raises(KeyError, match="made_up"):
        metrics.named("made_up")
    with pytest.raises(KeyError, match="made_up"):
        notation_of("made_up")
