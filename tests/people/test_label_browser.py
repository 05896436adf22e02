"""The page in a real browser: sixty items by keyboard alone, with everything that can go wrong."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from sayso.cli import execute
from sayso.people.labels import LabelStore
from sayso.records import Gold, Question
from sayso.storage.run_folder import RunFolder
from support.label_pages import label_page
from support.label_runs import JUDGE, MODEL, answers_run, claims_run, pairs_run

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("uvicorn", reason="the extra label is not installed")
pytestmark = pytest.mark.browser
#: what a killed server and a refused request leave in the console; anything else fails a test
EXPECTED = ("ERR_CONNECTION", "status of 4", "status of 503", "ERR_EMPTY_RESPONSE", "ERR_SOCKET")


class Person:
    """Somebody at a keyboard, in a browser of their own; counts the keys that they press."""

    def __init__(self, browser: sync_api.Browser, **window: object) -> None:
        window = {"viewport": {"width": 1280, "height": 900}} | window
        self.context = browser.new_context(**window)
        self.page = self.context.new_page()
        self.keys = 0
        self.said: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.said.append(dialog.message), dialog.dismiss()))
        self.page.on("request", lambda r: self.asked(r.url))

    def asked(self, url: str) -> None:
        if not url.startswith(("http://127.0.0.1:", "data:")):
            self.said.append(url)

    def open(self, address: str) -> None:
        self.page.goto(address)
        self.page.wait_for_selector("main:not([hidden])")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.keys += 1

    def count(self) -> str:
        return str(self.page.inner_text("#count"))

    def saved(self) -> None:
        """Wait until the page says that everything is stored."""
        saved = sync_api.expect(self.page.locator("#saved"))
        saved.to_have_text("All labels saved", timeout=30_000)

    def answer(self) -> None:
        """Label the item that is shown by what it says, as an attentive person would."""
        boxes = self.page.locator("#texts .block p").all_inner_texts()
        answer, gold = boxes[1], boxes[2]
        if "do not know" in answer:
            self.press("3")
        elif answer.startswith("Perhaps"):
            self.press("2", "1" if gold in answer else "2")
        else:
            self.press("1", "1" if gold in answer else "2")

    def close(self) -> list[str]:
        self.context.close()
        return [one for one in self.said if not any(word in one for word in EXPECTED)]


def barriers(page: sync_api.Page) -> list[object]:
    """Return what axe-core calls serious or critical."""
    axe = pytest.importorskip("axe_playwright_python", reason="axe-core is not installed")
    page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    run = "axe.run().then(r => r.violations.map(v => [v.impact, v.id, v.nodes.length]))"
    found = page.evaluate(run)
    return [one for one in found if one[0] in ("serious", "critical")]


@pytest.mark.slow
def test_sixty_items_by_keyboard_and_nothing_is_lost(
    browser: sync_api.Browser, tmp_path: Path
) -> None:
    """With undo, a reload, a second annotator, and a server that is killed in between."""
    run = answers_run(tmp_path / "run", 160)
    flags = ("--kind", "answer", "--n", "60", "--shared", "20")
    ada, bo = Person(browser), Person(browser)
    with label_page(run, *flags, "--annotator", "Ada", "--port", "0") as page:
        ada.open(page.address)
        for _ in range(20):
            ada.answer()
        ada.press("2")
        question = ada.page.locator("#question")
        assert question.inner_text() == "Hedges. Is the answer right?"
        ada.press("u")  # back to the first step of this item
        assert question.inner_text() == "How does it speak?"
        # a slip, taken back; a look back and forth; one that is skipped with a reason
        ada.press("5", "u")
        assert ada.count() == "20 of 60 labeled · Ada"
        ada.press("ArrowLeft", "ArrowRight")
        ada.press("s", "2")
        assert ada.count() == "20 of 60 labeled, 1 skipped · Ada"
        ada.saved()
        ada.page.reload()
        ada.page.wait_for_selector("#work:not([hidden])")
        assert ada.count() == "20 of 60 labeled, 1 skipped · Ada"
        # a second annotator, on a page of his own, at the same time
        with label_page(run, *flags, "--port", "0") as other:
            bo.open(other.address)
            assert barriers(bo.page) == []
            bo.page.keyboard.type("Bo")
            bo.press("Enter")
            bo.page.wait_for_selector("#work:not([hidden])")
            for _ in range(25):
                bo.answer()
            bo.saved()
        for _ in range(10):
            ada.answer()
        ada.saved()
        page.kill()
        for _ in range(5):  # nobody stops for that
            ada.answer()
        assert ada.count().startswith("35 of 60 labeled, 1 skipped")
        assert "not saved yet" in ada.page.inner_text("#saved")
        port = str(page.port)
    with label_page(run, *flags, "--annotator", "Ada", "--port", port) as page:
        ada.open(page.address)
        ada.page.wait_for_selector("#work:not([hidden])")
        assert ada.count().startswith("35 of 60 labeled, 1 skipped")
        for _ in range(24):
            ada.answer()
        ada.page.wait_for_selector("#done:not([hidden])")
        assert ada.page.inner_text("#tally") == "59 labeled, 1 skipped."
        ada.saved()
        assert page.end() == (0, page_end())
    print(f"{ada.keys} keys")
    assert ada.keys <= 200
    assert ada.close() == bo.close() == []
    with LabelStore.open(run) as store:
        labels = {name: store.labels(annotator=name) for name in ("Ada", "Bo")}
        right = {v.target: v.value for v in _read(run)}
    assert len(labels["Ada"]) == 60
    assert len(labels["Bo"]) == 25
    assert len({one.item for one in labels["Ada"]} & {one.item for one in labels["Bo"]}) == 20
    # what was stored is what was on the page: these answers are read alike by judge and person
    for one in [*labels["Ada"], *labels["Bo"]]:
        if not one.skipped:
            assert one.verdict.value == right[one.verdict.target]
    assert sum(one.skipped == "the text is unreadable or cut off" for one in labels["Ada"]) == 1
    assert all(one.seconds is not None for one in labels["Ada"])


def page_end() -> str:
    return "sayso: short answers: Ada: 59 of 60 labeled, 1 skipped; Bo: 25 of 60 labeled\n"


def _read(run: Path):  # type: ignore[no-untyped-def]
    from sayso.records import Verdict
    from sayso.storage.run_folder import RunFolder

    return RunFolder.open(run).read("verdicts/short", Verdict)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (answers_run, "answer"),
        (answers_run, "aspect"),
        (claims_run, "claim"),
        (pairs_run, "pair"),
        (pairs_run, "sureness"),
    ],
)
def test_every_kind_is_labeled_without_a_barrier(  # type: ignore[no-untyped-def]
    browser: sync_api.Browser, tmp_path: Path, make, kind: str
) -> None:
    run = make(tmp_path / "run")
    with label_page(run, "--kind", kind, "--n", "3", "--annotator", "Ada", "--port", "0") as page:
        people = [
            Person(browser, color_scheme="light"),
            Person(browser, color_scheme="dark"),
            Person(browser, viewport={"width": 400, "height": 800}),
        ]
        for one in people:
            one.open(page.address)
            assert barriers(one.page) == []
            one.press("s")
            assert barriers(one.page) == []
            one.press("Escape")
            wide = one.page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert wide <= 0
            body = one.page.content()
            assert JUDGE not in body
            assert MODEL not in body
        person = people[0]
        keys = {"answer": "31", "aspect": "66", "claim": "12", "pair": "21", "sureness": "45"}[kind]
        for key in (keys[0], keys[1], keys[0]):
            person.press(key)
            if kind == "sureness":
                person.press("ArrowUp", "Enter")
            elif kind == "answer" and key == "1":
                person.press("3")
        person.page.wait_for_selector("#done:not([hidden])")
        person.saved()
        assert barriers(person.page) == []
        assert [one.close() for one in people] == [[], [], []]
    with LabelStore.open(run) as store:
        given = [
            one.verdict.stance or one.verdict.label if kind != "sureness" else one.verdict.number
            for one in store.labels()
        ]
    assert (
        given
        == {
            "answer": ["abstained", "committed", "abstained"],
            "aspect": ["omitted"] * 3,
            "claim": ["S", "NS", "S"],
            "pair": ["c", "n", "c"],
            "sureness": [0.8, 1.0, 0.8],
        }[kind]
    )


def test_a_double_click_and_two_tabs_label_once(browser: sync_api.Browser, tmp_path: Path) -> None:
    """Another tab, which hears of it, and another browser, which does not."""
    run = answers_run(tmp_path / "run", 40)
    with label_page(
        run, "--kind", "answer", "--n", "4", "--annotator", "Ada", "--port", "0"
    ) as page:
        first = Person(browser)
        first.open(page.address)
        second = first.context.new_page()
        second.goto(page.address)
        second.wait_for_selector("#work:not([hidden])")
        far = Person(browser)
        far.open(page.address)
        far.page.wait_for_selector("#work:not([hidden])")
        second.keyboard.press("2")  # half a label
        button = first.page.locator("#choices button").nth(2)
        button.dblclick()
        first.saved()
        assert first.count().startswith("1 of 4")  # and not the next item too
        labeled = "Item 1 was labeled elsewhere, such as in another tab: does not know."
        sync_api.expect(second.locator("#problem")).to_have_text(labeled)
        sync_api.expect(second.locator("#now")).to_have_text("Your label: does not know")
        sync_api.expect(second.locator("#question")).to_have_text("How does it speak?")
        problem = sync_api.expect(far.page.locator("#problem"))
        with LabelStore.open(run) as store:

            def stances() -> list[str | None]:
                return [one.verdict.stance for one in store.labels()]

            far.press("4")
            problem.to_have_text(
                f"{labeled} Your label here (asks back) is not stored; to change it, go back to "
                "the item."
            )
            far.saved()
            assert stances() == ["abstained"]
            assert far.page.inner_text("#item") == "Item 2 of 4"
            assert far.count().startswith("1 of 4")
            # who has seen it may change it; the other, who has not, cannot take it back then
            far.press("ArrowLeft", "5")
            far.saved()
            problem.to_be_hidden()
            assert stances() == ["refused_by_policy"]
            first.press("u")
            sync_api.expect(first.page.locator("#problem")).to_have_text(
                "Item 1 was labeled elsewhere, such as in another tab: refuses. It is not taken "
                "back."
            )
            first.saved()
            assert stances() == ["refused_by_policy"]
            sync_api.expect(first.page.locator("#now")).to_have_text("Your label: refuses")
            first.press("u")
            sync_api.expect(first.page.locator("#saved")).to_have_text("")
            assert stances() == []
        assert first.close() == far.close() == []


@pytest.mark.slow
def test_a_killed_server_and_another_browser_replace_nothing(
    browser: sync_api.Browser, tmp_path: Path
) -> None:
    run = answers_run(tmp_path / "run", 40)
    flags = ("--kind", "answer", "--n", "4", "--annotator", "Ada")
    ada, far = Person(browser), Person(browser)
    with label_page(run, *flags, "--port", "0") as page:
        ada.open(page.address)
        ada.page.wait_for_selector("#work:not([hidden])")
        page.kill()
        ada.press("3", "4", "u", "5")  # kept: two items, one of them changed
        port = ("--port", str(page.port))
    with label_page(run, *flags, *port) as page:
        far.open(page.address)
        far.page.wait_for_selector("#work:not([hidden])")
        far.press("4")  # the first item, meanwhile
        far.saved()
        ada.open(page.address)
        ada.saved()
        sync_api.expect(ada.page.locator("#problem")).to_have_text(
            "Item 1 was labeled elsewhere, such as in another tab: asks back. Your label here "
            "(does not know) is not stored; to change it, go back to the item."
        )
        assert ada.page.inner_text("#item") == "Item 3 of 4"
    with LabelStore.open(run) as store:
        assert [one.verdict.stance for one in store.labels()] == [
            "asked_back", "refused_by_policy",
        ]  # fmt: skip
    assert ada.close() == far.close() == []


@pytest.mark.slow
def test_what_was_said_is_seen_again_and_choices_are_in_sight(
    browser: sync_api.Browser, tmp_path: Path
) -> None:
    run = answers_run(tmp_path / "run", 8)
    folder = RunFolder.open(run)
    names = tuple(f"another name {number}" for number in range(11))
    questions = [
        msgspec.structs.replace(q, golds=(Gold("first", names),), context="A long line. " * 900)
        for q in folder.read("questions", Question)
    ]
    folder.write("questions", questions, Question)
    with label_page(run, "--kind", "answer", "--n", "3", "--port", "0") as page:
        person = Person(browser, viewport={"width": 1366, "height": 650})
        person.open(page.address)
        person.page.fill("#name", "A" * 81)
        person.press("Enter")
        sync_api.expect(person.page.locator("#problem")).to_contain_text("at most 80 characters")
        person.page.fill("#name", "Ada")
        person.press("Enter")
        person.page.wait_for_selector("#work:not([hidden])")
        last = person.page.locator("#choices button").last
        sync_api.expect(last).to_be_in_viewport(ratio=1)
        sync_api.expect(person.page.get_by_text("another name 10")).to_be_hidden()
        person.page.click("summary")
        sync_api.expect(person.page.get_by_text("another name 10")).to_be_visible()
        assert barriers(person.page) == []
        person.press("2", "3", "ArrowLeft")
        pressed = person.page.locator("#choices [aria-pressed=true]")
        assert pressed.inner_text() == "2Hedges"
        then = sync_api.expect(person.page.locator("#then"))
        then.to_have_text("Is the answer right? Your label: Cannot tell")
        person.press("2")
        assert pressed.inner_text() == "3Cannot tell"
        then.to_be_hidden()
        person.press("s", "5")
        person.saved()
        assert person.close() == []
    with LabelStore.open(run) as store:
        assert [one.skipped for one in store.labels()] == ["the question is ambiguous"]


def refusing(page: sync_api.Page, status: int, error: str) -> None:
    """Let writes be answered in this way."""
    body = json.dumps({"error": error})
    page.route("**/api/write", lambda route: route.fulfill(status=status, body=body))


@pytest.mark.slow
def test_what_cannot_be_stored_now_is_kept_and_what_is_refused_is_taken_back(
    browser: sync_api.Browser, tmp_path: Path
) -> None:
    run = answers_run(tmp_path / "run", 40)
    flags = ("--kind", "answer", "--n", "3", "--annotator", "Ada", "--port", "0")
    with label_page(run, *flags) as served, LabelStore.open(run) as store:
        ada = Person(browser)
        page = ada.page
        problem = sync_api.expect(page.locator("#problem"))
        ada.open(served.address)
        refusing(page, 503, "the disk is full")
        ada.press("3")
        problem.to_contain_text("the disk is full")
        problem.to_contain_text("kept in this browser")
        assert ada.count().startswith("1 of 3")
        assert page.inner_text("#saved") == "1 not saved yet"
        page.evaluate("window.dispatchEvent(new Event('focus'))")
        problem.to_contain_text("the disk is full")
        page.unroute("**/api/write")
        ada.saved()
        problem.to_be_hidden()
        assert len(store.labels()) == 1
        # a label that is refused for good is no label
        refusing(page, 400, "no such item")
        ada.press("3")
        problem.to_have_text("A label was refused: no such item.")
        sync_api.expect(page.locator("#count")).to_contain_text("1 of 3")
        page.unroute("**/api/write")
        ada.press("3")
        ada.saved()
        problem.to_have_text("A label was refused: no such item.")  # it was not that one
        assert len(store.labels()) == 2
        sync_api.expect(page.locator("#work")).to_be_visible()
        ada.press("3")
        page.wait_for_selector("#done:not([hidden])")
        ada.saved()
        problem.to_be_hidden()
        assert page.inner_text("#tally") == "3 labeled, 0 skipped."
        assert len(store.labels()) == 3
        # a change that is refused: what was said before counts
        refusing(page, 400, "not now")
        page.click("#again")
        ada.press("5")
        problem.to_have_text("A label was refused: not now.")
        assert {one.verdict.stance for one in store.labels()} == {"abstained"}
        assert page.inner_text("#tally") == "3 labeled, 0 skipped."
        assert ada.close() == []


@pytest.mark.slow
def test_labels_of_another_annotator_wait_for_a_page_of_theirs(
    browser: sync_api.Browser, tmp_path: Path
) -> None:
    run = answers_run(tmp_path / "run", 40)
    flags = ("--kind", "answer", "--n", "3")
    person = Person(browser)
    problem = sync_api.expect(person.page.locator("#problem"))
    with label_page(run, *flags, "--annotator", "Ada", "--port", "0") as served:
        person.open(served.address)
        served.kill()
        person.press("3")
        problem.to_contain_text("does not answer")
        port = ("--port", str(served.port))
    with label_page(run, *flags, "--annotator", "Bo", *port) as served:
        person.open(served.address)
        problem.to_contain_text(
            "Labels of Ada that are not stored yet are kept in this browser (1)"
        )
        person.page.wait_for_selector("#work:not([hidden])")
        assert person.count() == "0 of 3 labeled · Bo"
        person.press("4")
        sync_api.expect(person.page.locator("#saved")).to_have_text("1 not saved yet")
        with LabelStore.open(run) as store:
            assert [one.annotator for one in store.labels()] == ["Bo"]
        problem.to_contain_text("Labels of Ada")
        served.kill()
    with label_page(run, *flags, "--annotator", "Ada", *port) as served:
        person.open(served.address)
        person.saved()
        problem.to_be_hidden()
        with LabelStore.open(run) as store:
            assert {one.annotator: one.verdict.stance for one in store.labels()} == {
                "Ada": "abstained",
                "Bo": "asked_back",
            }
    assert person.close() == []


@pytest.mark.slow
def test_markup_in_an_answer_is_text(browser: sync_api.Browser, tmp_path: Path) -> None:
    hostile = "</p><img src=x onerror=\"document.title='owned'\"><script>alert(1)</script>"
    run = answers_run(tmp_path / "run", 8, hostile=hostile)
    with label_page(
        run, "--kind", "answer", "--n", "2", "--annotator", "Ada", "--port", "0"
    ) as page:
        person = Person(browser)
        person.open(page.address)
        assert hostile in person.page.inner_text("#texts")
        assert person.page.locator("#texts img, #texts script").count() == 0
        assert "owned" not in person.page.title()
        assert person.close() == []


@pytest.mark.slow
def test_the_passage_that_the_model_was_shown_stands_beside_the_answer(
    browser: sync_api.Browser, tmp_path: Path
) -> None:
    run = answers_run(tmp_path / "run", 8)
    folder = RunFolder.open(run)
    hostile = "<img src=x> The register of births.\n" + "A long line of it. " * 200
    questions = [
        msgspec.structs.replace(q, context=hostile) for q in folder.read("questions", Question)
    ]
    folder.write("questions", questions, Question)
    with label_page(
        run, "--kind", "answer", "--n", "2", "--annotator", "Ada", "--port", "0"
    ) as page:
        person = Person(browser)
        person.open(page.address)
        passage = person.page.locator("#texts .block").last
        assert "Passage that was shown with the question" in passage.inner_text()
        assert "<img src=x> The register of births." in passage.inner_text()
        assert "“The passage does not say” is “Does not know”" in passage.inner_text()
        assert person.page.locator("#texts img").count() == 0
        assert barriers(person.page) == []
        person.press("3")
        person.saved()
        assert person.close() == []


@pytest.mark.slow
def test_a_refusal_that_cannot_change_is_said_once_and_the_labels_can_be_downloaded(
    browser: sync_api.Browser, tmp_path: Path
) -> None:
    run = answers_run(tmp_path / "run", 40)
    flags = ("--kind", "answer", "--n", "4", "--annotator", "Ada", "--port", "0")
    with label_page(run, *flags) as served:
        ada = Person(browser)
        page = ada.page
        sent: list[str] = []
        ada.open(served.address)

        def refuse(route: sync_api.Route) -> None:
            sent.append(route.request.post_data or "")
            route.fulfill(status=415, body="expected JSON")

        page.route("**/api/write", refuse)
        ada.press("3")
        problem = sync_api.expect(page.locator("#problem"))
        problem.to_contain_text("The server refuses a label (error 415), and would again.")
        ada.press("1", "2", "u", "4")  # one that is changed
        problem.to_contain_text("The server refuses 4 labels (error 415)")
        page.wait_for_timeout(1200)
        assert len(sent) == 4  # each once, and no more
        assert barriers(page) == []
        assert page.inner_text("#saved") == "4 not saved yet"
        with page.expect_download() as waited:
            page.click("#download")
        file = tmp_path / waited.value.suggested_filename
        waited.value.save_as(file)
        # what follows is stored all the same
        page.unroute("**/api/write")
        with page.expect_response("**/api/write") as answer:
            ada.press("5")
        assert answer.value.ok
        assert page.inner_text("#saved") == "4 not saved yet"
        assert ada.close() == []
    assert execute(["label", str(run), "--import", str(file)]) == 0
    with LabelStore.read(run) as store:
        labels = store.labels()
    assert [one.verdict.stance for one in labels] == [
        "refused_by_policy", "abstained", "asked_back",
    ]  # fmt: skip
    assert all(one.probability and one.annotator == "Ada" for one in labels)
