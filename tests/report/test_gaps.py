"""J and the abstention gap are printed with their interval, and not at all where they have none."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console

import sayso
from sayso.protocols import PROTOCOLS, selective
from sayso.protocols.protocol import Comparison
from sayso.records import Estimate, Request
from sayso.report.number_tables import (
    NumberTable,
    latex_text,
    markdown_text,
    notes_of,
    page_rows,
    render_table,
)
from sayso.report.numbers import is_bare, is_gap
from sayso.report.page import run_pages
from sayso.report.sheet import render_sheet
from sayso.runs.result import Result, shown_run
from sayso.storage.run_folder import RunFolder
from support.scripted import ScriptedEngine
from support.scripted_world import Mind, chance, facts, records, write

WORLD = facts(4)
MIND = Mind(WORLD, lambda f: 0.9 * (chance(f.question) < 0.6))
NONE = "I don't know."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gaps")


@pytest.fixture(scope="module")
def uncle(folder: Path) -> Result:
    data = write(folder / "q.jsonl", records(WORLD, lambda f: f.value))
    few = {"resamples": 100}
    return sayso.run(
        model=MIND.engine("base"), data=str(data), cache=folder / "c", report=False,
        out=folder / "uncle", settings=few,
    )  # fmt: skip


@pytest.fixture(scope="module")
def gaps(folder: Path) -> Result:
    text = "question,gold,answerable,entity\n" + "".join(
        f"Where was {n} born?,{'Rome' if n % 2 else ''},{bool(n % 2)},{n}\n" for n in range(12)
    )
    (folder / "g.csv").write_text(text)

    def reply(request: Request) -> str:
        return NONE if chance(request.messages[-1].content) < 0.5 else "Rome"

    bare = selective.Settings(
        draws=selective.SelectiveDraws(k=0), known_k=0, words=False, resamples=100
    )
    return sayso.run(
        "selective", model=ScriptedEngine(reply, name="s"), data=f"file:{folder / 'g.csv'}",
        options=bare, out=folder / "gaps", cache=folder / "c2", report=False,
    )  # fmt: skip


def shown(result: Result, estimates: list[Estimate]) -> str:
    """Return all that a run shows of these numbers: terminal, page, notebook, repr, summary."""
    report = PROTOCOLS[result.manifest.protocols[0]].report
    out = io.StringIO()
    folder = RunFolder.open(result.path)
    sheet = report.sheet(estimates, result.manifest, folder)
    render_sheet(sheet, Console(file=out, width=120), result.manifest, verbose=True)
    answers = report.read_answers(folder, result.manifest, estimates)
    page = run_pages(sheet, answers, result.manifest)["report.html"]
    changed = Result(result.path, estimates, result.manifest, result.entities)
    tiles = str([tile.shown for tile in shown_run(changed).sheet.tiles])
    return "\n".join((out.getvalue(), page, changed._repr_html_(), repr(changed), tiles))


def with_gaps(estimates: Iterable[Estimate], change: Callable[[Estimate], Estimate]) -> list[Any]:
    return [change(e) if is_gap(e.name) and e.value is not None else e for e in estimates]


def set_to(value: float | None, low: float | None = None, high: float | None = None) -> Any:
    problem = None if low is not None else "no interval: made up"
    return lambda e: msgspec.structs.replace(e, value=value, low=low, high=high, problem=problem)


def unused(text: str, count: int = 3) -> list[str]:
    """Return decimals that a text does not hold, as .43."""
    return [f".{n}" for n in range(31, 69) if f".{n}" not in text][:count]


@pytest.mark.parametrize("name", ["uncle", "gaps"])
def test_no_gap_without_an_interval_is_shown(name: str, request: pytest.FixtureRequest) -> None:
    result: Result = request.getfixturevalue(name)
    held = [e for e in result.estimates if is_gap(e.name) and e.value is not None]
    assert held
    own = {"uncle": "J", "gaps": "abstention_gap"}[name]
    assert any(e.name == own and e.low is not None for e in held)
    sign, *_ = unused(shown(result, with_gaps(result.estimates, set_to(None))))
    text = shown(result, with_gaps(result.estimates, set_to(float(f"0{sign}"))))
    places = [
        text[max(0, at - 60) : at + 30] for at in range(len(text)) if text.startswith(sign, at)
    ]
    assert not places


@pytest.mark.parametrize("name", ["uncle", "gaps"])
def test_every_gap_is_shown_with_its_interval(name: str, request: pytest.FixtureRequest) -> None:
    result: Result = request.getfixturevalue(name)
    nothing = shown(result, with_gaps(result.estimates, set_to(None)))
    low, value, high = unused(nothing)
    ends = (float(f"0{part}") for part in (value, low, high))
    text = shown(result, with_gaps(result.estimates, set_to(*ends)))
    assert text.count(value) >= 3
    assert text.count(value) <= text.count(low)
    assert text.count(value) <= text.count(high)


def test_policies_that_do_not_look_at_a_fact_have_exact_gaps(uncle: Result) -> None:
    for policy in ("never", "always", "random"):
        j = uncle.get("J", form="short", policy=policy)
        assert (j.value, j.low, j.high) == (0.0, 0.0, 0.0)
    for policy in ("own_logprob", "length", "type"):
        for form in ("short", "long"):
            j = uncle.get("J", form=form, policy=policy)
            assert j.value is None or (j.low is not None and j.low <= j.value <= (j.high or 0.0))


def test_tables_for_papers_show_a_dash_and_the_reason() -> None:
    bare = Estimate("J", value=0.43, problem="no interval: a single entity")
    share = Estimate("FA", value=0.61, problem="no interval: a single entity")
    assert is_bare(bare)
    assert not is_bare(share)
    table = NumberTable("p/t", "c", ("a",), ("J", "FA"), [(("x",), (bare, share))])
    out = io.StringIO()
    render_table(table, Console(file=out, width=100))
    for text in (
        out.getvalue(),
        markdown_text(table),
        latex_text(table),
        str([page_rows(table), notes_of(table)]),
    ):
        assert "43" not in text
        assert "61" in text
        assert "a single entity" in text


def test_differences_of_j_without_an_interval_are_dashes() -> None:
    bare = Estimate("J", (("form", "short"),), 0.43, problem="no interval: a single entity")
    found = Comparison([bare], [], protocol="uncle")
    from sayso.runs.compare import ShownComparison as Shown

    result = Shown(*found)
    assert "43" not in repr(result)
    assert "43" not in result._repr_html_()
