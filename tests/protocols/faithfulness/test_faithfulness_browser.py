"""The page of faithfulness in a real browser: draws to read, phones, hostile answers."""

from __future__ import annotations

from pathlib import Path

import pytest

import sayso
from sayso import report
from sayso.protocols import faithfulness
from sayso.protocols.settings import replace
from sayso.records import Request
from support.browsers import opened
from support.scripted import ScriptedEngine
from support.scripted_world import chance, facts, records, write

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = [pytest.mark.browser, pytest.mark.slow]
ATTACK = "</script><script>alert(1)</script><img src=x onerror=alert(2)> \x1b[31m\u202e"


def answer(request: Request) -> str:
    """Half the draws Sarn, half Tolm; asked for doubt, it hedges what it always says."""
    text = request.messages[-1].content
    place = "Sarn" if chance(text, request.sample) < 0.5 else "Tolm"
    lead = "It is" if "likely" not in text else "Perhaps it is"
    return f"{lead} {place}. {ATTACK}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("faithfulness")
    data = write(here / "q.jsonl", records(facts(12)))
    chosen = replace(
        faithfulness.Settings(),
        {"resamples": 100, "methods": "vanilla,uncertainty", "draws.k": 6},
    )
    made = sayso.run(
        "faithfulness", model=ScriptedEngine(answer, name="m"), data=str(data), out=here / "run",
        cache=here / "c", options=chosen,
    )  # fmt: skip
    report.write(made.path)
    return made.path


def test_the_draws_of_the_worst_answers_are_read(browser: sync_api.Browser, folder: Path) -> None:
    page = opened(browser, folder)
    assert page.locator("#f-verdict").count() == 1
    assert page.locator("#f-known").count() == 0  # nobody asked whether it knows a fact
    page.locator("#worst > summary").click()
    items = page.locator("#worst details")
    assert items.count() == 8
    first = items.first
    assert not first.locator("ol").is_visible()
    first.locator("summary").click()
    draws = first.locator("ol > li")
    assert draws.count() == 6
    told = [draws.nth(i).inner_text() for i in range(6)]
    marked = [("contradicts" in t) != ("does not contradict" in t) for t in told]
    assert all(marked)
    # the sentence above the draws counts what they show
    agree = sum("does not contradict" in t for t in told)
    assert f"{agree} of 6 samples do not contradict it" in first.inner_text()
    # a draw that names the answer's own place is no contradiction
    said = "Sarn" if "Sarn" in first.locator(".said").inner_text() else "Tolm"
    assert all((said in t) == ("does not contradict" in t) for t in told)
    assert page.said == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_cut_at_any_width(
    browser: sync_api.Browser, folder: Path, width: int, scheme: str
) -> None:
    page = opened(browser, folder, viewport={"width": width, "height": 844}, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    cut = page.evaluate(
        """() => [...document.querySelectorAll('table')].filter(t => {
            const box = t.closest('.scroll');
            return !box || !['auto', 'scroll'].includes(getComputedStyle(box).overflowX);
        }).length"""
    )
    assert cut == 0
    wide = page.evaluate(
        "[...document.querySelectorAll('caption span')].filter("
        "s => s.getBoundingClientRect().width > innerWidth).length"
    )
    assert wide == 0
    # what is written in a chart has the ink of the scheme, neither the renderer's nor the file's
    inks = page.evaluate(
        "[...document.querySelectorAll('svg text')].map(t => getComputedStyle(t).fill)"
    )
    assert inks
    assert not {"rgb(0, 0, 0)", "rgb(17, 17, 17)", "rgb(102, 102, 102)"} & set(inks)
    assert page.said == []


def test_charts_name_their_axes_and_methods(browser: sync_api.Browser, folder: Path) -> None:
    page = opened(browser, folder)
    first = page.locator("header svg.wide").text_content() or ""
    for name in ("Vanilla", "Uncertainty", "skill of its words (0 = none, 1 = perfect)"):
        assert name in first
    written = " ".join(page.locator("#bins svg.wide").all_text_contents())
    for name in ("confidence: share of samples that agree", "decisiveness of the words"):
        assert name in written
