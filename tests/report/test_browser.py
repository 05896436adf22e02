"""The page in a real browser: filters, keyboard, no console message, dark and narrow windows."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest

from sayso.report import write
from sayso.report.number_tables import NumberTable
from sayso.report.page import environment
from support.browsers import opened
from support.report_folders import make_run

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.browser


@pytest.fixture
def page(browser: sync_api.Browser) -> Iterator[sync_api.Page]:
    """A page that fails its test for any console message, script error or request to anywhere."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    said: list[str] = []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    opened.on("request", lambda r: said.append(r.url) if not r.url.startswith("file:") else None)
    yield opened
    context.close()
    assert said == []


def address(path: Path, part: str = "answers") -> str:
    """Return the address of a part of a page: a link to a folded part opens it."""
    return f"{path.resolve().as_uri()}#{part}"


def test_a_filter_is_clicked_and_a_verdict_read(page: sync_api.Page, tmp_path: Path) -> None:
    page.goto(address(write(make_run(tmp_path / "run"))))
    shown = page.locator("#shown")
    assert shown.inner_text() == "Showing 36 of 36 facts, in 12 of 12 items."
    page.select_option("#f-verdict", "incorrect")
    page.select_option("#f-form", "long")
    page.select_option("#f-domain", "companies")
    # facts judged by (entity + place) mod 7 in {1, 5}; companies are entities 1, 4, 7, 10
    sync_api.expect(shown).to_have_text("Showing 4 of 36 facts, in 4 of 12 items.")
    fact = page.locator(".facts > li:visible").first
    assert "✗ wrong" in fact.inner_text()
    assert page.locator(".short-form:visible").count() == 0
    assert page.locator("mark.v-incorrect:visible").count() >= 1
    page.fill("#f-text", "Entity 7 ")
    sync_api.expect(shown).to_have_text("Showing 1 of 36 facts, in 1 of 12 items.")
    page.get_by_role("button", name="Clear").click()
    sync_api.expect(shown).to_have_text("Showing 36 of 36 facts, in 12 of 12 items.")
    sync_api.expect(page.locator(".card[open]")).to_have_count(3)  # as at first


@pytest.mark.slow
def test_the_keyboard_reaches_and_works_the_filters(page: sync_api.Page, tmp_path: Path) -> None:
    page.goto(address(write(make_run(tmp_path / "run")), ""))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.wait_for_function("document.getElementById('answers').open")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")  # behind the heading, which folds the part
    assert page.evaluate("document.activeElement.id") == "f-text"
    page.keyboard.type("entity 3")
    sync_api.expect(page.locator("#shown")).to_have_text("Showing 3 of 36 facts, in 1 of 12 items.")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "f-domain"


@pytest.mark.slow
def test_without_script_every_answer_is_there(browser: sync_api.Browser, tmp_path: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address(write(make_run(tmp_path / "run"))))
    assert page.locator(".card").count() == 12
    assert not page.locator("#filters").is_visible()
    assert page.locator("svg.wide").first.is_visible()
    page.locator("#answers > summary").click()
    page.locator(".card > summary").first.click()
    assert "✓ right" in page.locator(".card").first.inner_text()
    context.close()


@pytest.mark.slow
def test_hostile_answers_do_nothing(page: sync_api.Page, tmp_path: Path) -> None:
    attack = "</script><script>alert(1)</script><img src=x onerror=alert(2)><svg onload=alert(3)>"
    page.goto(address(write(make_run(tmp_path / "run", hostile=attack))))
    page.get_by_role("button", name="Open all").click()
    assert page.locator("img").count() == 0
    assert "<script>alert(1)" in page.locator(".card").first.inner_text()


@pytest.mark.slow
def test_pages_of_answers_link_both_ways(page: sync_api.Page, tmp_path: Path) -> None:
    page.goto(address(write(make_run(tmp_path / "run", 160, plain=False))))
    page.get_by_role("link", name="answers-002.html").click()
    assert page.locator("#cards > .card").count() == 10
    page.select_option("#f-verdict", "correct")
    page.get_by_role("link", name="Back to the report").click()
    assert "report.html" in page.url


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_phone_and_dark(browser: sync_api.Browser, tmp_path: Path, scheme: str) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 844},
        color_scheme=scheme,  # type: ignore[arg-type]
    )
    page = context.new_page()
    page.goto(address(write(make_run(tmp_path / "run"))))
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.locator("svg.narrow").first.is_visible()
    assert not page.locator("svg.wide").first.is_visible()
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    ink = page.evaluate("getComputedStyle(document.body).color")
    bright = [sum(map(int, c[4:-1].split(","))) for c in (back, ink)]
    assert (bright[0] > bright[1]) == (scheme == "light")
    context.close()


@pytest.mark.slow
@pytest.mark.parametrize("script", [True, False])
def test_a_table_that_goes_on_shows_it_at_its_edge(
    browser: sync_api.Browser, tmp_path: Path, script: bool
) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, java_script_enabled=script
    )
    page = context.new_page()
    page.goto(address(write(make_run(tmp_path / "run")), ""))
    page.evaluate("for (const part of document.querySelectorAll('.part')) part.open = true")
    tables = page.locator(".scroll:visible")
    wide = [tables.nth(n) for n in range(tables.count())]
    wide = [one for one in wide if one.evaluate("e => e.scrollWidth > e.clientWidth + 20")]
    assert wide
    edge = "e => getComputedStyle(e).backgroundAttachment"
    assert all("local, local, scroll, scroll" in one.evaluate(edge) for one in wide)
    # the names of rows stay where they are while the numbers move below them
    name = wide[0].locator("tbody th").first
    before = name.bounding_box()
    wide[0].evaluate("e => { e.scrollLeft = 120 }")
    assert name.bounding_box() == before
    context.close()


def test_numbers_of_a_narrow_table_stay_with_their_row_and_column(
    browser: sync_api.Browser, tmp_path: Path
) -> None:
    named = [NumberTable("", "c", labels, ("first", "second"), [(("row",), ("1", "2"))])
             for labels in (("score",), ("",))]  # fmt: skip
    long = NumberTable("", "c", ("fact", "form"), tuple("abcdefghi"),
                       [(("a fact", "short"), ("0.123 [0.1, 0.2]",) * 9)])  # fmt: skip
    macros = environment().get_template("macros.html.j2").module
    style = resources.files("sayso.report").joinpath("static", "report.css").read_text()
    body = "".join(macros.table(one) for one in (*named, long))
    (tmp_path / "report.html").write_text(f"<meta charset=utf-8><style>{style}</style>{body}")
    page = opened(browser, tmp_path, viewport={"width": 390, "height": 844})
    for stacked in page.locator(".stack").all():
        left = "all => all.map(one => one.getBoundingClientRect().left)"
        heads = stacked.locator("thead tr > :visible")
        assert heads.all_inner_texts() == ["first", "second"]
        assert heads.evaluate_all(left) == stacked.locator("td:visible").evaluate_all(left)
    scrolled = page.locator(".scroll").last
    scrolled.evaluate("one => { one.scrollLeft = 250 }")
    box = scrolled.locator("tbody th").first.bounding_box()
    top = "at => document.elementFromPoint(at.x + 9, at.y + 9).textContent"
    assert page.evaluate(top, box) == "a fact"


@pytest.mark.slow
def test_tiles_break_no_interval_and_the_way_up_covers_nothing_on_a_phone(
    browser: sync_api.Browser, tmp_path: Path
) -> None:
    page = browser.new_page(viewport={"width": 320, "height": 700})
    page.goto(address(write(make_run(tmp_path / "run")), ""))
    ranges = page.locator(".tiles .range").all()
    assert ranges
    assert all(one.evaluate("e => e.getClientRects().length") == 1 for one in ranges)
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    up = page.get_by_role("link", name="Top").bounding_box()
    text = page.locator("main").bounding_box()
    assert up["y"] >= text["y"] + text["height"]
    page.close()


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_the_first_part_is_open_the_others_open_and_the_way_up_is_at_hand(
    browser: sync_api.Browser, tmp_path: Path, width: int
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 800}, java_script_enabled=False
    )
    page = context.new_page()
    page.goto(address(write(make_run(tmp_path / "run")), ""))
    assert page.evaluate("document.documentElement.scrollHeight") < 6_000
    opened = page.locator("details.part[open]")
    assert [part.get_attribute("id") for part in opened.all()] == ["numbers"]
    up = page.get_by_role("link", name="Top")
    sync_api.expect(up).not_to_be_in_viewport()
    page.locator("#reading > summary").focus()
    page.keyboard.press("Enter")
    sync_api.expect(page.locator("#reading li").first).to_be_visible()
    if width == 1280:
        sync_api.expect(up).to_be_in_viewport(ratio=1)
    up.click()
    sync_api.expect(page.locator("h1")).to_be_in_viewport()
    context.close()
