"""Shared fixtures. The labelled data that some checks need is found through SAYSO_TEST_DATA."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings

# The first example may compile patterns or import a library: time says nothing about a property.
settings.register_profile("sayso", deadline=None)
settings.load_profile("sayso")

# Workers share the processors: a thread of each for every core would only wait for the others.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

DEFAULT_DATA = Path(__file__).parent.parent.parent / "shared" / "data"


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder of labelled data, or a skip that says how to get it."""
    folder = Path(os.environ.get("SAYSO_TEST_DATA", DEFAULT_DATA))
    if not folder.is_dir():
        pytest.skip("labelled data not found: set SAYSO_TEST_DATA to its folder")
    return folder


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or fills the user's cache."""
    monkeypatch.setenv("SAYSO_CACHE", str(tmp_path_factory.mktemp("cache")))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print which engines the contract suite ran over: a skipped engine must not look tested."""
    ran: dict[str, Counter[str]] = {}
    for outcome in ("passed", "failed", "skipped", "error"):
        for report in terminalreporter.stats.get(outcome, []):
            path, _, test = getattr(report, "nodeid", "").partition("::")
            if path.endswith("test_contract.py") and "[" in test:
                engine = test.partition("[")[2].rstrip("]")
                ran.setdefault(engine, Counter())[outcome] += 1
    for engine, counts in sorted(ran.items()):
        told = ", ".join(f"{number} {outcome}" for outcome, number in counts.items())
        terminalreporter.write_line(f"engine contract over {engine}: {told}")
