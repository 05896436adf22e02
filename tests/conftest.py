"""Shared fixtures. The labeled data that some checks need is found through SAYSO_TEST_DATA."""

from __future__ import annotations

import gc
import itertools
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# The first example may compile patterns or import a library: time says nothing about a property.
settings.register_profile("sayso", deadline=None, max_examples=50)
settings.register_profile("thorough", deadline=None, max_examples=300)  # make test-all
settings.load_profile("sayso")

# Workers and the processes that tests start would each compile the tests or the package anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Workers share the processors: a thread of each for every core would only wait for the others.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

DEFAULT_DATA = Path(__file__).parent.parent.parent / "shared" / "data"


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder of labeled data, or a skip that says how to get it."""
    folder = Path(os.environ.get("SAYSO_TEST_DATA", DEFAULT_DATA))
    if not folder.is_dir():
        pytest.skip("labeled data not found: set SAYSO_TEST_DATA to its folder")
    return folder


@pytest.fixture(scope="session")
def caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return new folders without end: ``mktemp`` would list the thousands before each."""
    place = tmp_path_factory.mktemp("caches")
    return (place / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def own_cache(caches: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or fills the user's cache."""
    cache = next(caches)
    cache.mkdir()
    monkeypatch.setenv("SAYSO_CACHE", str(cache))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A Chromium, which a module shares; a skip where there is none."""
    from support.browsers import started

    yield from started()


@pytest.fixture(scope="session", autouse=True)
def charts_drawn_once() -> Iterator[None]:
    """Keep what the chart library drew: it takes half the time of a page, and charts recur."""
    import vl_convert

    draw = vl_convert.vegalite_to_svg
    kept: dict[str, str] = {}

    def drawn(specification: dict[str, Any]) -> str:
        key = json.dumps(specification)
        if key not in kept:
            kept[key] = draw(specification)
        return kept[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vl_convert, "vegalite_to_svg", drawn)
        yield


@pytest.fixture(scope="session", autouse=True)
def read_once() -> Iterator[None]:
    """Keep what never changes: certificates, and the questions that sayso ships."""
    import httpx2

    from sayso.datasets import LOADERS, shipped

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpx2, "create_ssl_context", cache(httpx2.create_ssl_context))
        for name, load in LOADERS.items():
            if load.__module__ == shipped.__name__:
                patch.setitem(LOADERS, name, cache(load))
        yield


def pytest_collection_finish() -> None:
    """Look for cycles among what tests make, not in all that was loaded: a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 10)


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
