"""The page of self_known in a real browser: evidence by focus and pointer, phones, hostile text."""

from __future__ import annotations

from pathlib import Path

import pytest

from sayso import report
from support.browsers import opened as opened_page
from support.long_texts import make_long_run

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = [pytest.mark.browser, pytest.mark.slow]
ATTACK = "</script><script>alert(1)</script><img src=x onerror=alert(2)> \x1b[31m\u202e"


def opened(browser: sync_api.Browser, folder: Path, **options: object) -> sync_api.Page:
    """The page with the part of its texts unfolded."""
    page: sync_api.Page = opened_page(browser, folder, **options)
    page.locator("#answers > summary").press("Enter")
    return page


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = make_long_run(tmp_path_factory.mktemp("long") / "run", 4, claims=2)
    report.write(run)
    return run.path


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = make_long_run(tmp_path_factory.mktemp("hostile") / "run", 2, hostile=ATTACK)
    report.write(run)
    return run.path


@pytest.mark.parametrize("script", [True, False])
def test_a_text_is_opened_and_its_evidence_read_by_keyboard(
    browser: sync_api.Browser, folder: Path, script: bool
) -> None:
    page = opened(browser, folder, java_script_enabled=script)
    first = page.locator("#texts-list > details").first
    listed = first.locator(".claim-list > li")
    assert not listed.first.is_visible()
    first.locator("summary").first.focus()
    page.keyboard.press("Enter")
    assert listed.count() == 6
    said = listed.first.inner_text()
    for part in (
        "✓ supported",
        "its words .90",
        "or none of these? yes (.81)",
        "evidence: About Entity",
    ):
        assert part in said
    assert "unretrieved" in listed.nth(3).inner_text()
    assert "was born." in first.locator(".note").last.inner_text()  # the passage
    marks = first.locator(".marked sup").all_inner_texts()
    assert [mark[:2] + mark[-2:] for mark in marks] == ["1✓2✗", "3○4?", "5✓6✗"]
    assert page.said == []


def test_verdicts_are_told_by_line_style_one_below_the_other(
    browser: sync_api.Browser, folder: Path
) -> None:
    page = opened(browser, folder)
    page.locator("#texts-list summary").first.click()
    lines = page.locator(".marked").first.locator("[class*=line-]")
    found = lines.evaluate_all(
        "all => all.map(e => [getComputedStyle(e).textDecorationStyle, "
        "getComputedStyle(e).textUnderlineOffset])"
    )
    assert [style for style, _ in found[:2]] == ["solid", "wavy"]
    offsets = [float(offset.removesuffix("px")) for _, offset in found[:2]]
    assert offsets[1] > offsets[0] + 2
    styles = page.locator(".marks .line-1").evaluate_all(
        "all => all.map(e => getComputedStyle(e).textDecorationStyle)"
    )
    assert styles == ["solid", "wavy", "dotted", "dashed"]


def test_hostile_texts_do_nothing(browser: sync_api.Browser, hostile: Path) -> None:
    page = opened(browser, hostile)
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
    assert "<script>alert(1)" in page.locator(".claim-list").first.inner_text()
    assert page.locator("img").count() == 0
    assert "\u202e" not in page.content()
    assert page.said == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_cut_at_any_width(
    browser: sync_api.Browser, hostile: Path, width: int, scheme: str
) -> None:
    page = opened(browser, hostile, viewport={"width": width, "height": 844}, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    beyond = page.evaluate(
        """() => [...document.querySelectorAll('main *')].filter(e => {
            const box = e.getBoundingClientRect();
            return box.width && box.right > innerWidth + 1 && !e.closest('.scroll')
                && !e.closest('svg') && !e.closest('.quiet') && !e.closest('.sections');
        }).map(e => e.outerHTML.slice(0, 80))"""
    )
    assert beyond == []
    colors = "e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]"
    ink, back = page.locator("body").evaluate(colors)
    bright = [sum(map(int, c[4:-1].split(","))) for c in (back, ink)]
    assert (bright[0] > bright[1]) == (scheme == "light")
