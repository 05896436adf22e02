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
    first.locator("summary").first.focus()
    page.keyboard.press("Enter")
    tips = first.locator(".tip")
    assert tips.count() == 3  # a stretch for each sentence, with two claims on it
    assert not tips.first.is_visible()
    page.keyboard.press("Tab")
    assert tips.first.is_visible()
    assert not tips.nth(1).is_visible()
    said = tips.first.inner_text()
    assert "1✓ supported" in said
    assert "2✗ not supported" in said
    assert "was born." in said  # the passage
    assert "sure .90" in said
    assert "or none? yes (.81)" in said
    assert first.locator(".claims").first.get_attribute("aria-label") == "claims 1, 2"
    page.keyboard.press("Tab")
    assert not tips.first.is_visible()
    assert "3○ irrelevant" in tips.nth(1).inner_text()
    assert "4? no label" in tips.nth(1).inner_text()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")  # on to the list of claims
    assert not any(tips.nth(n).is_visible() for n in range(3))
    page.keyboard.press("Enter")
    listed = first.locator(".claim-list > li")
    assert listed.count() == 6
    assert "evidence: About Entity" in listed.first.inner_text()
    assert "unretrieved" in listed.nth(3).inner_text()
    assert page.said == []


def test_evidence_is_read_by_pointing_and_stays_while_one_reads(
    browser: sync_api.Browser, folder: Path
) -> None:
    page = opened(browser, folder, viewport={"width": 1280, "height": 900})
    page.locator("#texts-list summary").first.click()
    stretch = page.locator(".claims").first
    tip = stretch.locator(".tip")
    stretch.locator(".line-1").first.hover()
    assert tip.is_visible()
    tip.hover()  # the pointer is moved into it
    assert tip.is_visible()
    page.mouse.move(5, 5)
    assert not tip.is_visible()


def test_verdicts_are_told_by_line_style_one_below_the_other(
    browser: sync_api.Browser, folder: Path
) -> None:
    page = opened(browser, folder)
    page.locator("#texts-list summary").first.click()
    lines = page.locator(".claims").first.locator("[class*=line-]")
    found = lines.evaluate_all(
        "all => all.map(e => [getComputedStyle(e).textDecorationStyle, "
        "getComputedStyle(e).textUnderlineOffset])"
    )
    assert [style for style, _ in found] == ["solid", "wavy"]
    offsets = [float(offset.removesuffix("px")) for _, offset in found]
    assert offsets[1] > offsets[0] + 2
    styles = page.locator(".marks .line-1").evaluate_all(
        "all => all.map(e => getComputedStyle(e).textDecorationStyle)"
    )
    assert styles == ["solid", "wavy", "dotted", "dashed"]


def test_texts_are_filtered(browser: sync_api.Browser, folder: Path) -> None:
    page = opened(browser, folder)
    shown = page.locator("form[data-list] + .shown")
    sync_api.expect(shown).to_have_text("Showing 8 of 8 answers.")
    page.select_option("[data-by=method]", "retrieval")
    sync_api.expect(shown).to_have_text("Showing 4 of 8 answers.")
    page.select_option("[data-by=errors]", "none")
    sync_api.expect(shown).to_have_text("Showing 0 of 8 answers.")
    page.get_by_role("button", name="Clear").click()
    page.fill("[data-by=text]", "entity 3 painted")
    sync_api.expect(shown).to_have_text("Showing 2 of 8 answers.")


def test_hostile_texts_do_nothing(browser: sync_api.Browser, hostile: Path) -> None:
    page = opened(browser, hostile)
    page.get_by_role("button", name="Open all").click()
    page.locator(".claims").first.focus()
    assert "<script>alert(1)" in page.locator(".tip:visible").first.inner_text()
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
    for place in range(page.locator(".claims").count()):
        page.locator(".claims").nth(place).focus()
        box = page.locator(".tip:visible").first.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
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
    ink, back = page.locator(".tip:visible").first.evaluate(colors)
    bright = [sum(map(int, c[4:-1].split(","))) for c in (back, ink)]
    assert (bright[0] > bright[1]) == (scheme == "light")
